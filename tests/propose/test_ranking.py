"""Which proposals come first."""

from audit.propose.proposal_ranking import rank_proposals, select_top
from registry.records.claim import Form, Relation, Reported
from registry.records.claim_draft import Confidence
from registry.records.system_card import PassageKind
from tests.propose.made import ACCURACY, CAUTIONS, propose, read_example

_QUOTE = "the contexts ask for the letter of the answer"


def test_a_bound_on_a_safety_property_comes_before_a_figure_of_capability() -> None:
    card = read_example()
    capability = propose(card, _QUOTE, reported=Reported(value=0.9), property=ACCURACY)
    words = propose(card, _QUOTE, property=CAUTIONS, confidence=Confidence.LOW)
    bound = propose(card, _QUOTE, form=Form.LOWER_BOUND, relation=Relation.AT_LEAST, theta=0.5, property=CAUTIONS)
    assert rank_proposals([capability, words, bound]) == [2, 1, 0]


def test_further_rows_of_a_table_of_capabilities_come_last() -> None:
    card = read_example()
    rows = [
        propose(card, _QUOTE, passage=PassageKind.ROW, reported=Reported(value=value), confidence=Confidence.HIGH) for value in (0.1, 0.2)
    ]
    doubtful = propose(card, _QUOTE, confidence=Confidence.LOW)
    assert rank_proposals([*rows, doubtful]) == [0, 2, 1]


def test_what_is_kept_stays_in_the_order_of_the_card() -> None:
    card = read_example()
    proposals = [propose(card, _QUOTE, confidence=confidence) for confidence in (Confidence.LOW, Confidence.HIGH, Confidence.MEDIUM)]
    assert select_top(proposals, 2) == (proposals[1], proposals[2])
