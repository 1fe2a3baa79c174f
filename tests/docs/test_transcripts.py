"""What the pages show is what the commands print: the pages a reader begins with. The others stand in test_transcripts_further.py.

Two files, because a file is run by one worker: `make test` has two.
"""

from pathlib import Path

import pytest

from tests.docs.transcripts import INSTALLED, check_pages


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ("getting-started.md", "supplement.md", "verifying.md", "for-regulators.md"),
        ("cards.md",),
        ("revisions.md",),
        ("registry.md",),
        ("getting-started.md", "exchanging.md"),
        ("keys.md",),
        ("log.md",),
    ],
    ids=" then ".join,
)
def test_the_commands_of_a_page_print_what_it_shows(names: tuple[str, ...], tmp_path: Path, forked_commands: Path) -> None:
    """A reader who follows the pages from an empty folder sees on the screen what stands on them."""
    check_pages(names, tmp_path, forked_commands)


@pytest.mark.slow
def test_a_page_in_real_processes_prints_the_same(tmp_path: Path) -> None:
    """The installed `caveat`, started anew for each command, prints what coverage.md shows: the other pages save its start."""
    check_pages(("coverage.md",), tmp_path, INSTALLED)
