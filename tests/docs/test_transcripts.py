"""What the pages show is what the commands print."""

import os
from pathlib import Path

import pytest

from tests.docs.transcripts import hide_what_varies, run_page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["getting-started.md", "cards.md", "registry.md"])
def test_the_commands_of_a_page_print_what_it_shows(name: str, tmp_path: Path) -> None:
    """A reader who follows the page from an empty folder sees on the screen what stands on the page."""
    page = (DOCS / name).read_text(encoding="utf-8")

    now = run_page(page, tmp_path)
    if os.environ.get("CAVEAT_UPDATE_DOCS") and hide_what_varies(now) != hide_what_varies(page):
        (DOCS / name).write_text(now, encoding="utf-8")
        page = now

    assert hide_what_varies(now) == hide_what_varies(page)
