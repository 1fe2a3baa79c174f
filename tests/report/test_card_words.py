"""What a card supplement says in words: true of one claim and of none, of cards without pages, of readable quotes and of exact ones."""

from dataclasses import replace

import pytest

from registry.records.claim_status import Lifecycle
from registry.records.supplement import CardSupplement
from registry.report.html_rendering import render_html


def words(supplement: CardSupplement) -> str:
    """The page without the record and the styles that it carries."""
    html = render_html(supplement).decode()
    return " ".join(html[html.index("<main") : html.index("</main>")].split())


def test_a_card_without_pages_is_not_told_by_pages(card_supplement: CardSupplement) -> None:
    """Claims of an HTML or Markdown card have no page, and that is no page without claims."""
    plain = replace(card_supplement, pages=1, coverage=None)

    assert "of 1 pages" not in words(plain)
    assert "of the 1 pages" not in words(plain)
    assert "how many of its passages make claims is unknown" in words(plain)


@pytest.mark.parametrize(
    ("count", "sentence"),
    [(0, "No claim of this card is registered"), (1, "1 claim: 0 supported, 0 inconclusive, 1 not audited.")],
)
def test_one_claim_and_none_are_told_in_their_own_sentence(card_supplement: CardSupplement, count: int, sentence: str) -> None:
    """Numbers that need no number."""
    few = replace(card_supplement, claims=card_supplement.unaudited[:count])

    assert sentence in words(few)


def test_a_listed_quote_is_readable(card_supplement: CardSupplement) -> None:
    """The table closes the hyphen at the line end; the claim's own supplement has the words of the file."""
    row = replace(card_supplement.unaudited[0], quote="It did so in 5 of 90 re-\nsponses.", readable="It did so in 5 of 90 responses.")
    text = words(replace(card_supplement, claims=(row,)))

    assert text.count("It did so in 5 of 90 responses.") == 1
    assert "re- sponses" not in text


def test_a_claim_that_no_longer_stands_says_so_in_the_table(card_supplement: CardSupplement) -> None:
    """It is counted, and a reader sees its outcome."""
    row = card_supplement.unaudited[0]
    ended = replace(row, status=replace(row.status, lifecycle=Lifecycle.WITHDRAWN))
    before, after = (words(replace(card_supplement, claims=(one,))).count('tag-paraphrase">withdrawn') for one in (row, ended))

    assert (before, after) == (0, 1)
