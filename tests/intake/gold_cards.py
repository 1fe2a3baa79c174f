"""The cards of the gold set, each read once for all tests."""

from functools import cache
from pathlib import Path

from registry.intake.card_reader import read_card
from registry.records.system_card import CardText


@cache
def read_gold_card(path: Path) -> CardText:
    """Return the card as read from its source file."""
    return read_card(path)
