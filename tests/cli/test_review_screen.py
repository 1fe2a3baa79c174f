"""The screen that docs/proposing.md shows is the one that the review draws."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Caveat
from tests.cli.terminal import Terminal

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "proposing.md"
SCREEN = re.compile(r"(?<=<!-- review screen -->\n```text\n)(?:.*\n)*?(?=```)")


def test_the_page_shows_the_screen_of_a_review(caveat: Caveat, tmp_path: Path, open_terminal: Callable[..., Terminal]) -> None:
    """A reader knows what to expect: the example card, in a terminal 80 columns wide."""
    assert caveat("init", "--code", "EXAMPLE").code == 0
    card = ROOT / "examples" / "card" / "card.md"
    assert caveat("card", "add", card, "--title", "Example Assistant 1.5B", "--publisher", "Example Lab").code == 0
    given = ("--model", "Example Lab/Example Assistant 1.5B/1.0")
    with open_terminal(tmp_path, "claim", "propose", "CRD-EXAMPLE-2026-0001-J", *given, "--review", "claims.yaml") as terminal:
        terminal.wait_for("Any key goes on")
        terminal.press(" ", "q leave")
        screen = terminal.press("/57.3 % ± 13.3 % of the questions\n", "Across the four contexts")

    lines = "".join(f"{line.rstrip()}\n" for line in screen.rstrip().split("\n"))
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("CAVEAT_UPDATE_DOCS") and SCREEN.findall(page) != [lines]:
        PAGE.write_text(SCREEN.sub(lambda _: lines, page), encoding="utf-8")

    assert SCREEN.findall(PAGE.read_text(encoding="utf-8")) == [lines]
