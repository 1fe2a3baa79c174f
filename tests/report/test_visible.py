"""Text made visible: nothing hides, nothing turns the line around, and what a font lacks is said."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis.strategies import characters, text

from registry.report.font_subset import FACES
from registry.report.pdf_rendering import find_font, is_covered
from registry.report.quoted_text import find_replaced, is_hidden, show_text


@given(shown=text())
def test_nothing_hidden_remains(shown: str) -> None:
    """No control, format or unassigned character is left in what is printed."""
    assert not any(is_hidden(character) for character in show_text(shown))


@given(shown=text(characters(exclude_categories=["Cs"])))
def test_everything_printed_is_in_the_fonts(shown: str) -> None:
    """With the bundled fonts in hand, no character is left that would print as a box."""
    assert all(is_covered(character) or character == " " for character in show_text(shown, covers=is_covered))


@given(shown=text())
def test_making_visible_twice_changes_nothing(shown: str) -> None:
    """It is idempotent, so a text that passes two filters is not mangled."""
    once = show_text(shown, covers=is_covered)

    assert show_text(once, covers=is_covered) == once


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("a\u202eb", "a[U+202E]b"),
        ("zero\u200bwidth", "zero[U+200B]width"),
        ("\x1b[31m", "[U+001B][31m"),
        ("line\nbreak", "line break"),
        ("soft\u00adhyphen", "soft[U+00AD]hyphen"),
        ("plain é Φ ≤", "plain é Φ ≤"),
    ],
)
def test_known_characters(given_text: str, expected: str) -> None:
    """The classic tricks are spelled out."""
    assert show_text(given_text) == expected


def test_a_run_that_no_font_has_is_told_with_its_length() -> None:
    """Six letters in another script are one bracket, not six."""
    assert show_text("so 模型从不说谎 ok", covers=is_covered) == "so [U+6A21 … U+8C0E, 6 characters not in the fonts] ok"


def test_what_was_replaced_is_counted() -> None:
    """The list at the end of a PDF names every character that the fonts lack, and how often."""
    assert find_replaced({"a": ["模模", "x"], "b": "说\u202e"}, covers=is_covered) == {"U+6A21": 2, "U+8BF4": 1}


def test_every_face_of_a_family_has_the_same_characters() -> None:
    """One set of characters may stand for all weights."""
    from fontTools.ttLib import TTFont

    sets = {}
    for family, file, _, _ in FACES:
        with TTFont(find_font(f"{file}.ttf"), lazy=True) as font:
            sets.setdefault(family, []).append(set(font.getBestCmap()))

    assert all(one == known[0] for known in sets.values() for one in known)


def test_the_symbols_of_the_templates_are_in_the_fonts() -> None:
    """The signs that a supplement is written with are there."""
    assert all(is_covered(sign) for sign in "ΔθτΦφδεσ≤≥−✓✗■○☐●◆▼§⁄×⁰¹²³⁴⁵⁶⁷⁸⁹⁻“”’…–·\u00a0\u202f")


def test_only_the_bundled_fonts_are_found() -> None:
    """A name with a path in it leads nowhere."""
    with pytest.raises(FileNotFoundError):
        find_font("../../pyproject.toml")


def test_letters_of_all_living_categories_stay() -> None:
    """Making visible removes no letter, mark or number."""
    kept = "".join(
        chr(point) for point in range(0x20, 0x2000) if unicodedata.category(chr(point))[0] in "LMN" and not is_hidden(chr(point))
    )

    assert show_text(kept) == kept
