"""Laws of the search: what was taken from a text is found in it again, and every form leads back to the text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InputError
from registry.intake.quote_anchor import find_quote
from registry.intake.text_normalisation import apply_edits, build_form
from registry.records.system_card import MatchLevel
from tests.intake.test_anchor import card_of

WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyzäöüßéñ", min_size=4, max_size=9), min_size=12, max_size=40, unique=True)
"""Words of a card; each once, so that a passage stands in one place only."""
ANY_TEXT = st.text(
    st.characters(codec="utf-8") | st.sampled_from(list(" \n\f\t*_|`<>[]()-–—“”’…×\u00ad\u200b0123456789.%ﬁ½²")), max_size=200
)


@st.composite
def passages(draw: st.DrawFn) -> tuple[list[str], int, int]:
    """Words, and the bounds of a passage of at least three of them."""
    words = draw(WORDS)
    start = draw(st.integers(0, len(words) - 3))
    return words, start, draw(st.integers(start + 3, len(words)))


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_any_substring_is_found_at_level_zero(before: str, inside: str, after: str) -> None:
    """What is copied from the text, whatever stands in it, is found without any normalisation."""
    quote = f"abc{inside}xyz"

    anchor = find_quote(card_of(f"{before}{quote}{after}"), quote)

    assert anchor.level is MatchLevel.N0
    assert anchor.exact == quote


@given(passages(), st.sampled_from([("\n", "N1"), ("  \r\n", "N1"), ("\u00a0", "N2"), (" \u200b", "N2"), ("** **", "N4"), ("<br/>", "N4")]))
def test_a_passage_wrapped_otherwise_is_found(passage: tuple[list[str], int, int], gap: tuple[str, str]) -> None:
    """Whatever stands between the words, the words of the passage are found at the declared level or below, and map back."""
    words, start, stop = passage
    between, level = gap
    text = between.join(words)

    anchor = find_quote(card_of(text), " ".join(words[start:stop]))

    assert anchor.level <= level
    assert anchor.exact == text[anchor.start : anchor.stop] == between.join(words[start:stop])


@given(passages(), st.data())
def test_a_hyphenated_passage_is_found(passage: tuple[list[str], int, int], data: st.DataObject) -> None:
    """Words broken at line ends, here and there, are found unbroken."""
    words, start, stop = passage
    broken = [f"{word[:2]}-\n{word[2:]}" if data.draw(st.booleans()) else word for word in words]
    text = " ".join(broken)

    anchor = find_quote(card_of(text), " ".join(words[start:stop]))

    assert anchor.level <= MatchLevel.N3
    assert anchor.exact == " ".join(broken[start:stop])


@given(passages(), st.sampled_from(["“{}”", "‘{}’", "«{}»"]))
def test_a_passage_in_other_quotation_marks_is_found(passage: tuple[list[str], int, int], marks: str) -> None:
    """Typographic marks in the card are plain ones in the quotation."""
    words, start, stop = passage
    marked = [*words[:start], marks.format(words[start]), *words[start + 1 :]]
    plain = "'" if "‘" in marks else '"'
    quote = " ".join([f"{plain}{words[start]}{plain}", *words[start + 1 : stop]])

    anchor = find_quote(card_of(" ".join(marked)), quote)

    assert anchor.level is MatchLevel.N2
    assert anchor.exact == " ".join(marked[start:stop])


@given(passages(), st.data())
def test_a_passage_with_another_word_is_not_found(passage: tuple[list[str], int, int], data: st.DataObject) -> None:
    """One word that is not the card's, in the midst of it, and no level finds it."""
    words, start, stop = passage
    changed = list(words[start:stop])
    changed[data.draw(st.integers(0, len(changed) - 1))] = "QUUX"

    with pytest.raises(InputError) as caught:
        find_quote(card_of(" ".join(words)), " ".join(changed))

    assert caught.value.code == "quotation-not-found"


@given(ANY_TEXT, st.sampled_from(MatchLevel))
def test_the_way_back_is_monotone(text: str, level: MatchLevel) -> None:
    """Characters of a form come from places of the text that never go backwards, and lie inside it."""
    form = build_form(text, level)

    spans = [form.map_span(at, at + 1) for at in range(len(form.text))]
    assert all(0 <= start < stop <= len(text) for start, stop in spans)
    assert all(one[0] <= other[0] and one[1] <= other[1] for one, other in pairwise(spans))


@given(ANY_TEXT)
def test_folding_white_space_twice_changes_nothing(text: str) -> None:
    """The first level is idempotent."""
    once = build_form(text, MatchLevel.N1).text

    assert build_form(once, MatchLevel.N1).text == once


@given(ANY_TEXT, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 9), st.text(max_size=3)), max_size=8))
def test_untouched_characters_map_to_themselves(text: str, wanted: list[tuple[int, int, str]]) -> None:
    """A character that no edit touched stands at the place it is mapped to."""
    edits: list[tuple[int, int, str]] = []
    for start, length, replacement in sorted(wanted):
        if (not edits or start >= edits[-1][1]) and start + length <= len(text) and length:
            edits.append((start, start + length, replacement))

    new, layer = apply_edits(text, edits)

    touched = {place for start, stop, _ in edits for place in range(start, stop)}
    for at, character in enumerate(new):
        start, stop = layer.map_span(at, at + 1)
        assert start in touched or text[start:stop] == character


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "\n",
        " ",
        "\t",
        "- ",
        "-",
        "|",
        "[",
        "](",
        "<a ",
        "*",
        "_",
        "`",
        "a-\n",
        "a b ",
        "&",
        "9\n",
        "\f",
        "\n \f 1",
        "a1 ",
        "é",
        "e\u0301",
        "<sup>",
    ],
)
@pytest.mark.timeout(120)
def test_no_text_makes_a_form_slow(piece: str) -> None:
    """A hundred thousand characters of the worst kind take less than a second at every level; squared, they would take hours."""
    text = f"begin {piece * (100_000 // len(piece))} end"
    for level in MatchLevel:
        assert build_form(text, level).text.strip()
