"""Every relative link of the documentation leads somewhere, and every command it names exists."""

import re
from pathlib import Path

import pytest

from tests.docs.commands import list_commands

ROOT = Path(__file__).parents[2]
PAGES = [*(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md")), *sorted((ROOT / "docs").glob("*.md"))]
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`[^`\n]*`")
_CALL = re.compile(r"^\$? *caveat ((?:[a-z]+ ?)+)", re.MULTILINE)


def list_anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the usual renderers of Markdown make them."""
    titles = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_resolves(page: Path) -> None:
    """The file is there, and so is the heading where one is named."""
    text = _SPAN.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    broken = []
    for target, anchor in _LINK.findall(text):
        found = (page.parent / target).resolve() if target else page
        if not found.exists() or (anchor and anchor not in list_anchors(found)):
            broken.append(f"{target}#{anchor}" if anchor else target)

    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_calls_exists(page: Path) -> None:
    """A renamed command does not live on in the documentation."""
    text = page.read_text(encoding="utf-8")
    known = set(list_commands())
    groups = {path[:-1] for path in known if path}
    calls = [*_CALL.findall(text), *_CALL.findall("\n".join(span.strip("`") for span in _SPAN.findall(text)))]
    paths = [tuple(call.split())[: 2 if tuple(call.split()[:1]) in groups else 1] for call in calls]

    assert [path for path in paths if path not in known] == []
