"""Where sentences end, in the English of cards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.intake.outline.passage_sentences import split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:stop] for start, stop in split_sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Kestrel 2 refused 97.5% of requests, vs. 91% for Kestrel 1.",
        "We follow Smith et al. (2024) and use their grader.",
        "As Fig. 3 shows, the rate falls, i.e. fewer answers harm.",
        "See § 4.1. for the wording.",
        "The model (see the appendix. It is long.) was not changed.",
        "It wrote “I cannot. Please stop.” in every run.",
        "Dr. A. B. Miller led the review with J. Doe.",
        "Results are in No. 7 of the series.",
        "The U.S. government tested it.",
        "Version 4.5 of the model scored 0.88 (max 1.00).",
        "1. The first point of a list.",
    ],
)
def test_a_stop_that_ends_nothing_splits_nothing(text: str) -> None:
    """Abbreviations, decimals, versions, numbers of a list, and what stands in brackets or quotation marks."""
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It failed. We stopped.", ["It failed.", "We stopped."]),
        ("Did it fail? Yes! It did.", ["Did it fail?", "Yes!", "It did."]),
        ("It beats Kestrel 1.5. We checked.", ["It beats Kestrel 1.5.", "We checked."]),
        ("It said “no.” No one asked.", ["It said “no.”", "No one asked."]),
        ("We test agents, tools, etc. The rest follows.", ["We test agents, tools, etc.", "The rest follows."]),
        ("It is faster. gpt-5.2 is slower.", ["It is faster.", "gpt-5.2 is slower."]),
        ("See Appendix A. We list all.", ["See Appendix A.", "We list all."]),
        ("We ask for help.1 It came.", ["We ask for help.1", "It came."]),
        ("The answer was No. We repeated it.", ["The answer was No.", "We repeated it."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    """At a stop, a question mark or an exclamation mark before what may begin a sentence."""
    assert sentences(text) == expected


@given(st.text(alphabet="Aab1 .,!?()“”\"'", max_size=200))
def test_nothing_is_lost_between_sentences(text: str) -> None:
    """What lies between two sentences is white space, and they are in order."""
    folded = " ".join(text.split())
    at = 0
    for start, stop in split_sentences(folded):
        assert not folded[at:start].strip()
        assert start < stop
        at = stop

    assert not folded[at:].strip()
