"""Identifiers and their check character."""

import pytest
from hypothesis import given
from hypothesis.strategies import integers, sampled_from

from registry.records.record import Identifier, Kind, check_character, format_identifier, parse_identifier

NUMBERS = integers(1, 10**6)


def test_check_character_is_that_of_the_standard() -> None:
    """The Global Release Identifier standard (ISO 7064 MOD 37,36) prints A1-2425G-ABC1234002-M as its example."""
    assert check_character("A1-2425G-ABC1234002") == "M"


@given(sampled_from(Kind), NUMBERS)
def test_written_and_parsed_is_the_same(kind: Kind, number: int) -> None:
    """Parsing undoes formatting, with and without revision and digest."""
    text = format_identifier(kind, "AISI", 2026, number)

    assert parse_identifier(text) == Identifier(kind=kind, authority="AISI", year=2026, number=number)
    assert str(parse_identifier(f"{text}@3#9f2c41d07ab3e518")) == f"{text}@3#9f2c41d07ab3e518"


@given(NUMBERS, integers(0, 20), sampled_from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
def test_every_single_wrong_character_is_caught(number: int, position: int, other: str) -> None:
    """MOD 37,36 catches every single-character error."""
    text = format_identifier(Kind.CLAIM, "AISI", 2026, number)
    place = position % len(text)
    if text[place] in ("-", other):
        return

    with pytest.raises(ValueError, match="check character|not an identifier|begins with"):
        parse_identifier(text[:place] + other + text[place + 1 :])


def test_a_transposition_is_refused() -> None:
    """Digits swapped by hand do not match the check character."""
    right = format_identifier(Kind.CLAIM, "AISI", 2026, 42)
    wrong = right.replace("0042", "0024")

    with pytest.raises(ValueError, match="check character"):
        parse_identifier(wrong)


def test_lower_case_is_refused() -> None:
    """Identifiers are capitals; a lower-case one is refused, and the form is shown."""
    right = format_identifier(Kind.CARD, "LAB", 2026, 7)

    with pytest.raises(ValueError, match="is not an identifier; an identifier looks like CLM-"):
        parse_identifier(right.lower())


def test_a_missing_check_character_is_refused() -> None:
    """An identifier without its last letter is refused, and the message says what is missing."""
    with pytest.raises(ValueError, match="has no check character"):
        parse_identifier("CLM-AISI-2026-0042")


def test_another_kind_is_refused() -> None:
    """A card where a claim is expected is refused, saying both."""
    with pytest.raises(ValueError, match="names a card, expected CLM"):
        parse_identifier(format_identifier(Kind.CARD, "LAB", 2026, 7), Kind.CLAIM)
