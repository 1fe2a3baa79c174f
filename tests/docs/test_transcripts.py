"""What the pages show is what the commands print."""

import difflib
import os
from pathlib import Path

import pytest

from tests.docs.transcripts import hide_what_varies, run_page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("getting-started.md", "supplement.md", "verifying.md"),
        ("cards.md",),
        ("revisions.md",),
        ("coverage.md",),
        ("registry.md",),
        ("getting-started.md", "exchanging.md"),
        ("judge.md",),
        ("keys.md",),
        ("log.md",),
        ("logs.md",),
        ("contesting.md",),
        ("contexts.md",),
        ("replay.md",),
        ("sealing.md",),
        ("probe.md",),
        ("rating.md",),
        ("proposing.md",),
        ("preregistration.md",),
        ("updating.md",),
    ],
    ids=" then ".join,
)
def test_the_commands_of_a_page_print_what_it_shows(names: tuple[str, ...], tmp_path: Path) -> None:
    """A reader who follows the pages from an empty folder sees on the screen what stands on them."""
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    shown = {name: (DOCS / name).read_text(encoding="utf-8") for name in names}

    printed = {name: run_page(page, tmp_path) for name, page in shown.items()}
    assert "internal-error" not in "".join(printed.values())
    for name, page in printed.items():
        if os.environ.get("CAVEAT_UPDATE_DOCS") and hide_what_varies(page) != hide_what_varies(shown[name]):
            (DOCS / name).write_text(page, encoding="utf-8")
            shown[name] = page

    assert "".join(_list_changes(name, shown[name], page) for name, page in printed.items()) == ""


def _list_changes(name: str, shown: str, printed: str) -> str:
    """Return the lines that differ alone: a report of whole pages gets cut before it comes to them."""
    before, after = (hide_what_varies(page).splitlines() for page in (shown, printed))
    return "\n".join(difflib.unified_diff(before, after, f"{name}, as shown", f"{name}, as printed", n=1, lineterm=""))
