"""What the rules find in three small cards of our own, labelled by hand."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from audit.propose.card_models import CardSource
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim_draft import Proposal
from registry.records.system_card import CardText
from tests.intake.pdf_files import build_pdf
from tests.propose.labelled import CARDS, Coded, LabelledCard

RECALL, RIGHT = 0.9, 0.85
"""Floors over all three cards: claims that are proposed, and of those the ones with form and numbers as labelled."""


@cache
def read(labelled: LabelledCard) -> tuple[CardText, tuple[Proposal, ...]]:
    """Read the card as its kind of file and propose from it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / labelled.name
        path.write_bytes(build_pdf([labelled.text]) if path.suffix == ".pdf" else labelled.text.encode())
        card = read_card(path)
    return card, propose_by_rules(
        card, read_outline(card), CardSource(title=labelled.name.replace("-", " "), publisher="Pellinor Labs", card=None)
    ).proposals


def find(labelled: LabelledCard, coded: Coded) -> list[Proposal]:
    """Return the proposals whose quote holds the labelled words, white space folded."""
    _, proposals = read(labelled)
    return [one for one in proposals if fold(coded.words) in fold(one.quote)]


def fold(text: str) -> str:
    return " ".join(text.replace("&lt;", "<").split())


def is_right(coded: Coded, one: Proposal) -> bool:
    if (one.form, one.relation) != (coded.form, coded.relation) or not is_same(coded.theta, one.theta, one):
        return False
    return is_same(coded.value, one.reported.value if one.reported else None, one)


def is_same(coded: float | None, given: float | None, one: Proposal) -> bool:
    if coded is None or given is None:
        return coded is given
    return given == pytest.approx(coded, abs=1e-6) or (one.property.range[1] == 100 and given == pytest.approx(100 * coded))


def test_most_labelled_claims_are_proposed_and_read_as_labelled() -> None:
    """A floor on recall, and on form, θ and value among those found."""
    found = [(card, coded, find(card, coded)) for card in CARDS for coded in card.claims]
    proposed = [one for one in found if one[2]]
    right = [one for one in proposed if any(is_right(one[1], each) for each in one[2])]
    missed = [coded.words for _, coded, here in found if not here]
    wrong = [
        (coded, [(each.form, each.theta, each.reported) for each in here]) for _, coded, here in proposed if (_, coded, here) not in right
    ]

    assert len(proposed) >= RECALL * len(found), missed
    assert len(right) >= RIGHT * len(proposed), wrong


@pytest.mark.parametrize("labelled", CARDS, ids=lambda card: card.name)
def test_no_claim_is_read_into_what_makes_none(labelled: LabelledCard) -> None:
    """Training, settings, prices, references and methods are not proposed."""
    _, proposals = read(labelled)

    assert [words for words in labelled.no_claims if any(fold(words) in fold(one.quote) for one in proposals)] == []


@pytest.mark.parametrize("labelled", CARDS, ids=lambda card: card.name)
def test_a_quote_is_the_cards_own_text(labelled: LabelledCard) -> None:
    """Every quote is what stands at its anchor, and proposals come in the order of the card."""
    card, proposals = read(labelled)

    assert all(one.quote == card.text[one.anchor.start : one.anchor.stop] == one.anchor.exact for one in proposals)
    assert [one.anchor.start for one in proposals] == sorted(one.anchor.start for one in proposals)


@pytest.mark.parametrize("labelled", CARDS, ids=lambda card: card.name)
def test_each_claim_of_a_passage_can_be_registered_beside_the_others(labelled: LabelledCard) -> None:
    """Property, form, model and quote together are unique: they are what identifies a claim in a file."""
    _, proposals = read(labelled)
    keys = [(one.slug, one.form, one.model, one.quote, one.anchor.start) for one in proposals]

    assert len(set(keys)) == len(keys)
