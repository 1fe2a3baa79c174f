"""The tables of docs/cards.md hold for the real search."""

import re
from pathlib import Path

import pytest

from registry.errors import InputError
from registry.intake.card_reader import read_card
from registry.intake.quote_anchor import find_quote
from registry.records.system_card import Anchor, MatchLevel

PAGE = (Path(__file__).parents[2] / "docs" / "cards.md").read_text(encoding="utf-8")
CELLS = r"\| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$"
FOUND = re.findall(rf"^\| (N\d) {CELLS}", PAGE, re.MULTILINE)
REFUSED = re.findall(rf"^{CELLS}", PAGE, re.MULTILINE)


def find_in(card: str, quote: str, folder: Path) -> Anchor:
    """Return the anchor of *quote* in a plain text card, in which the page's signs for line and page ends are real ones."""
    path = folder / "card.txt"
    path.write_text(card.replace("↵", "\n").replace("␌", "\f"), encoding="utf-8")
    return find_quote(read_card(path), quote)


@pytest.mark.parametrize(("level", "card", "quote"), FOUND)
def test_a_quote_is_found_at_the_level_that_the_page_gives(level: str, card: str, quote: str, tmp_path: Path) -> None:
    """The example of a level needs that level, no lower one and no higher one."""
    assert find_in(card, quote, tmp_path).level.value == level


@pytest.mark.parametrize(("card", "quote"), REFUSED)
def test_what_the_page_calls_never_tolerated_is_refused(card: str, quote: str, tmp_path: Path) -> None:
    """No level makes another statement of it."""
    with pytest.raises(InputError) as caught:
        find_in(card, quote, tmp_path)

    assert caught.value.code == "quotation-not-found"


def test_every_level_has_an_example() -> None:
    """A level that is added gets its line."""
    assert {level for level, _, _ in FOUND} == {level.value for level in MatchLevel}
    assert len(REFUSED) >= 5
