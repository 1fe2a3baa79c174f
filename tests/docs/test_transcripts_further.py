"""What the pages show is what the commands print: the pages that test_transcripts.py leaves to the other worker."""

from pathlib import Path

import pytest

from tests.docs.transcripts import check_pages


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("judge.md",),
        ("logs.md",),
        ("tables.md",),
        ("for-labs.md",),
        ("for-auditors.md",),
        ("contesting.md", "web.md"),
        ("contexts.md",),
        ("replay.md",),
        ("sealing.md",),
        ("probe.md",),
        ("rating.md",),
        ("proposing.md",),
        ("preregistration.md",),
        ("updating.md",),
        ("tutorial-real-model.md",),
        ("monitoring-example.md",),
    ],
    ids=" then ".join,
)
def test_the_commands_of_a_page_print_what_it_shows(names: tuple[str, ...], tmp_path: Path, forked_commands: Path) -> None:
    """A reader who follows the pages from an empty folder sees on the screen what stands on them."""
    check_pages(names, tmp_path, forked_commands)
