"""Sentences that said more than is so stay away from pages, help texts and docstrings."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASSUMPTIONS = "docs/method.md#assumptions-of-intervals"


def _list_texts() -> Iterator[tuple[str, str]]:
    """Give each page and each module by its path below the project, with all white space as one blank."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for path in (*pages, *(ROOT / "registry").rglob("*.py"), *(ROOT / "audit").rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), " ".join(path.read_text(encoding="utf-8").split())


def test_no_text_says_that_an_interval_covers_exactly_as_often_as_its_level() -> None:
    """Intervals cover at least as often as stated, and only under assumptions."""
    assert [name for name, text in _list_texts() if re.search(r"covers? as often", text)] == []


def test_what_is_said_of_coverage_leads_to_its_assumptions() -> None:
    """README and method give the coverage that was simulated, no promise, with a link to the list of assumptions."""
    texts = dict(_list_texts())

    assert f"This needs the [assumptions listed]({ASSUMPTIONS})." in texts["README.md"]
    assert "for a size fixed in advance, under the [assumptions](#assumptions-of-intervals)" in texts["docs/method.md"]
    assert [name for name, text in texts.items() if name.endswith(".md") and "at least as often as stated" in text] == []
    assert "### Assumptions of intervals" in texts["docs/method.md"]


def test_property_classes_are_cited_where_the_paper_has_them() -> None:
    """The five property classes stand in section 3.1 of the paper."""
    cited = {name: set(re.findall(r"property classes of the paper, section (\d+\.\d+)", text)) for name, text in _list_texts()}

    assert {name: sections for name, sections in cited.items() if sections} == {
        "docs/files.md": {"3.1"},
        "docs/record.md": {"3.1"},
        "registry/records/claim.py": {"3.1"},
    }
