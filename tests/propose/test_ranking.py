"""Which proposals come first, and which fold."""

from dataclasses import replace

from audit.propose.proposal_ranking import find_folded, rank_proposals, select_top
from registry.records.claim import Form, Relation, Reported
from registry.records.claim_draft import Confidence, FieldEvidence
from registry.records.system_card import PassageKind
from tests.propose.made import ACCURACY, CAUTIONS, propose, read_example

_QUOTE = "the contexts ask for the letter of the answer"


def test_a_bound_on_a_safety_property_comes_before_a_figure_of_capability() -> None:
    card = read_example()
    capability = propose(card, _QUOTE, reported=Reported(value=0.9), property=ACCURACY)
    words = propose(card, _QUOTE, property=CAUTIONS, confidence=Confidence.LOW)
    bound = propose(card, _QUOTE, form=Form.LOWER_BOUND, relation=Relation.AT_LEAST, theta=0.5, property=CAUTIONS)
    assert rank_proposals([capability, words, bound])[0] == 2


def test_a_claim_about_another_model_comes_after_the_card_s_own() -> None:
    card = read_example()
    other, own = (propose(card, _QUOTE, reported=Reported(value=0.9), property=CAUTIONS, is_own=is_own) for is_own in (False, True))
    assert rank_proposals([other, own]) == [1, 0]


def test_a_passage_that_names_its_model_comes_before_one_that_leaves_it_out() -> None:
    card = read_example()
    places = {"card title": 0.75, "sentence": 0.95}
    elided, named = (
        propose(card, _QUOTE, property=CAUTIONS, evidence=(FieldEvidence(field="model", words="M", place=place, certainty=certainty),))
        for place, certainty in places.items()
    )
    assert rank_proposals([elided, named]) == [1, 0]


def test_further_rows_of_a_table_of_capabilities_fold_into_the_first() -> None:
    card = read_example()
    row = propose(card, _QUOTE, passage=PassageKind.ROW, reported=Reported(value=0.1), confidence=Confidence.HIGH, table="1 · scores")
    rows = [replace(row, reported=Reported(value=value)) for value in (0.1, 0.2, 0.3)]
    doubtful = propose(card, _QUOTE, confidence=Confidence.LOW)

    assert rank_proposals([*rows, doubtful]) == [0, 3, 1, 2]
    assert find_folded([*rows, doubtful]) == {0: (1, 2)}
    assert select_top([*rows, doubtful], 1) == (rows[0],)
    assert select_top([*rows, doubtful], 1, with_rows=True) == tuple(rows)


def test_what_is_kept_stays_in_the_order_of_the_card() -> None:
    card = read_example()
    proposals = [
        propose(card, _QUOTE, confidence=confidence, slug=confidence.value)
        for confidence in (Confidence.LOW, Confidence.HIGH, Confidence.MEDIUM)
    ]
    assert select_top(proposals, 2) == (proposals[1], proposals[2])
