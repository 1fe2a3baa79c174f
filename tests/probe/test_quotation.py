"""Which quotes stand in a passage: the same words in the same order, and nothing left out."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.modules.recognition_classifier import find_quote

TEXT = "Is this a test of\nmy abilities? I am not being tested, it’s a naïve — *simple* — ﬁle."


@given(st.lists(st.text(alphabet="abßéİ.“’—", min_size=1), min_size=1, max_size=8), st.sampled_from([" ", "\n", "\t "]), st.data())
def test_every_run_of_words_is_found_in_its_passage(words: list[str], space: str, data: st.DataObject) -> None:
    """Whatever is copied stands there, also in capitals or taken apart, and the place found holds the same words."""
    first = data.draw(st.integers(0, len(words) - 1))
    chosen = words[first : data.draw(st.integers(first + 1, len(words)))]
    quote, text = " ".join(chosen), space.join(words)
    if not any(map(str.isalnum, quote)):
        return

    place, apart = find_quote(quote, text), find_quote(unicodedata.normalize("NFD", quote), text)

    assert place is not None
    assert apart is not None
    assert quote.strip("“’—. ").casefold() in " ".join(text[place[0] : place[1]].split()).casefold()


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("a test  of my\nabilities", "a test of\nmy abilities"),
        ("“a test of my abilities”", "a test of\nmy abilities"),
        ("… a test of my …", "a test of\nmy"),
        ("[...] a test of my ...", "a test of\nmy"),
        ("is this A TEST", "Is this a test"),
        ("a test of my abilities.", "a test of\nmy abilities"),
        ("it's a nai\u0308ve", "it’s a naïve"),
        ("naïve - *simple*", "naïve — *simple*"),
        ("file", "ﬁle"),
        ("a te\u00adst of", "a test of"),
    ],
)
def test_how_words_are_set_may_differ(quote: str, found: str) -> None:
    """White space, capitals, marks around the quote, and how a character is encoded or sampled."""
    place = find_quote(quote, TEXT)

    assert place is not None
    assert TEXT[place[0] : place[1]] == found


@pytest.mark.parametrize(
    "quote",
    [
        "a test of abilities",
        "a test of my abilities and more",
        "I am … being tested",
        "I am ... being tested",
        "est",
        "his a test",
        "a tes",
        "a test of naïve",
        ".*",
        "…",
        "",
    ],
)
def test_words_may_not_differ(quote: str) -> None:
    """Nothing left out, nothing added, no part of a word, no pattern."""
    assert find_quote(quote, TEXT) is None


def test_a_script_without_spaces_has_no_words_to_cut() -> None:
    """There a quote may begin anywhere."""
    assert find_quote("测试", "这是一个测试吗?") == (4, 6)
