"""The sections that docs/supplement.md sends a reader to are those of a supplement."""

import re
from pathlib import Path

from registry.report.supplement_wording import TITLES

PAGE = (Path(__file__).parents[2] / "docs" / "supplement.md").read_text(encoding="utf-8")


def test_the_page_names_sections_by_their_titles() -> None:
    """A section that is renamed is renamed on the page too."""
    table = PAGE.partition("## Questions and sections")[2].partition("\n## ")[0]
    named = re.findall(r"^\|[^|]+\| \*([^*]+)\*", table, re.MULTILINE)

    assert len(named) >= 8
    assert [title for title in named if title not in TITLES.values()] == []
