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
    assert "Whether other passages of this card make claims was not recorded." in words(plain)


@pytest.mark.parametrize(
    ("count", "sentence"),
    [(0, "No claim of this card is registered"), (1, "The one registered claim of this card has not been audited.")],
)
def test_one_claim_and_none_are_told_in_their_own_sentence(card_supplement: CardSupplement, count: int, sentence: str) -> None:
    """Numbers that need no number."""
    few = replace(card_supplement, claims=card_supplement.unaudited[:count])

    assert sentence in words(few)


def test_a_listed_quote_is_readable_and_the_told_one_exact(card_supplement: CardSupplement) -> None:
    """The table closes the hyphen at the line end; claim by claim the words are the file's."""
    row = replace(card_supplement.unaudited[0], quote="It did so in 5 of 90 re-\nsponses.", readable="It did so in 5 of 90 responses.")
    text = words(replace(card_supplement, claims=(row,)))

    assert text.count("It did so in 5 of 90 responses.") == 1
    assert text.count("It did so in 5 of 90 re- sponses.") == 1


def test_a_claim_that_no_longer_stands_says_so_in_the_table(card_supplement: CardSupplement) -> None:
    """It is counted, and a reader sees its outcome."""
    row = card_supplement.unaudited[0]
    ended = replace(row, status=replace(row.status, lifecycle=Lifecycle.WITHDRAWN))
    before, after = (words(replace(card_supplement, claims=(one,))).count('tag-paraphrase">withdrawn') for one in (row, ended))

    assert (before, after) == (0, 1)


def test_of_many_claims_only_those_with_an_outcome_are_told_one_by_one(card_supplement: CardSupplement) -> None:
    """Forty times that no one has audited is read by no one."""
    row = card_supplement.unaudited[0]
    many = replace(card_supplement, claims=tuple(replace(row, identifier=f"CLM-X-{number}#0") for number in range(41)))

    assert "Not audited: whether the claim holds in deployment is not known" not in words(many)
    assert "Not audited: whether the claim holds in deployment is not known" in words(replace(many, claims=many.claims[:40]))
