"""What "high" confidence means: right in at least 95 % of examples of our own, in the style of system cards."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from audit.propose.card_models import CardSource
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim_draft import Confidence, Proposal

HERE = Path(__file__).parent
RIGHT_WHEN_HIGH, FALSE_ATTRIBUTIONS, RECALL = 0.95, 0.05, 0.9
DIRECTIONS = {"higher": "higher_is_safer", "lower": "lower_is_safer", "neither": "not_safety"}
CARDS = ("calibration_card", "calibration_report")


@cache
def propose(name: str) -> tuple[Proposal, ...]:
    """Return what the rules propose from one of the cards."""
    path = HERE / f"{name}.md"
    card = read_card(path)
    return propose_by_rules(card, read_outline(card), CardSource(title=path.stem, publisher=None, card=None)).proposals


@cache
def read_labels(name: str) -> tuple[tuple[str, float | None, str, str], ...]:
    """Return words, figure, model and direction of each coded claim."""
    lines = (HERE / f"{name.replace('card', 'claims').replace('report', 'report_claims')}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return tuple((words, float(value) if value else None, model, DIRECTIONS[direction]) for words, value, model, direction in rows)


def find_label(name: str, proposal: Proposal) -> tuple[str, float | None, str, str] | None:
    """Return the coded claim of the figure of *proposal*, None where no claim was coded."""
    quote = " ".join(proposal.quote.split())
    figure = proposal.reported.value if proposal.reported else proposal.theta
    for label in read_labels(name):
        if label[0] in quote and (label[1] is None) == (figure is None) and (figure is None or figure == pytest.approx(label[1], abs=1e-6)):
            return label
    return None


def is_right(name: str, proposal: Proposal) -> bool:
    """Whether figure, model and direction are as coded."""
    label = find_label(name, proposal)
    return (
        label is not None and label[2] == (proposal.model or "-") and label[3] == proposal.property.direction.value and not proposal.unknown
    )


def list_all() -> list[tuple[str, Proposal]]:
    return [(name, proposal) for name in CARDS for proposal in propose(name)]


def test_the_examples_are_many() -> None:
    """At least 120 coded claims."""
    assert sum(len(read_labels(name)) for name in CARDS) >= 120


def test_high_confidence_is_right_in_95_per_cent() -> None:
    """The figure, its model and the safer direction; and high confidence is not rare."""
    high = [(name, proposal) for name, proposal in list_all() if proposal.confidence is Confidence.HIGH]
    wrong = [
        (proposal.quote, proposal.written, proposal.model, proposal.property) for name, proposal in high if not is_right(name, proposal)
    ]

    assert len(high) >= 60
    assert len(wrong) <= (1 - RIGHT_WHEN_HIGH) * len(high), wrong


def test_confidence_is_an_order_of_how_often_proposals_are_right() -> None:
    """High is right more often than medium, and medium more often than low."""
    totals: Counter[Confidence] = Counter()
    right: Counter[Confidence] = Counter()
    for name, proposal in list_all():
        totals[proposal.confidence] += 1
        right[proposal.confidence] += is_right(name, proposal)
    shares = [right[level] / max(1, totals[level]) for level in (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)]

    assert shares == sorted(shares, reverse=True)


def test_hardly_any_figure_of_another_model_is_given_as_the_card_s_own() -> None:
    """False attributions, at whatever confidence: a figure that no claim of the card's model has."""
    own = [(name, proposal) for name, proposal in list_all() if proposal.is_own and proposal.reported is not None]
    false = [(proposal.quote, proposal.written) for name, proposal in own if find_label(name, proposal) is None]

    assert len(false) <= FALSE_ATTRIBUTIONS * len(own), false


def test_most_coded_claims_are_proposed() -> None:
    """Recall on the examples."""
    missed = []
    for name in CARDS:
        found = {id(label) for proposal in propose(name) if (label := find_label(name, proposal)) is not None}
        missed += [label for label in read_labels(name) if id(label) not in found]

    assert len(missed) <= (1 - RECALL) * sum(len(read_labels(name)) for name in CARDS), missed
