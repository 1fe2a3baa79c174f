"""The anchor of a span whose place is known."""

import hashlib

import pytest

from registry.intake.card_reader import split_pages
from registry.intake.quote_anchor import AnchoredText
from registry.records.system_card import CardText, MatchLevel, MediaType

TEXT = "The model refused 12% of them.\nThe model refused 12% of them."


def make_text() -> AnchoredText:
    return AnchoredText(
        CardText(
            sha256=hashlib.sha256(TEXT.encode()).hexdigest(),
            size_bytes=len(TEXT),
            media_type=MediaType.PLAIN,
            text=TEXT,
            pages=split_pages(TEXT),
            extractor="none",
        )
    )


def test_a_known_span_gives_the_anchor_that_a_search_would() -> None:
    """The second of two equal sentences is meant, and both are counted."""
    anchored = make_text()

    assert anchored.at(31, len(TEXT)) == anchored.find(TEXT[31:], near=31)
    assert (anchored.at(31, len(TEXT)).occurrences, anchored.at(31, len(TEXT)).level) == (2, MatchLevel.N0)


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (4, 4), (5, 4), (0, len(TEXT) + 1)])
def test_a_span_outside_the_text_is_refused(start: int, stop: int) -> None:
    """There is nothing to anchor."""
    with pytest.raises(ValueError, match="expected 0 <= start < stop"):
        make_text().at(start, stop)
