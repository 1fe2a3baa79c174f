"""How the benchmark of proposals finds coded claims and compares proposals with them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.proposal_gold import CodedFigure, GoldCard, GoldClaim, digest_quote, group_by_card, locate_claims, read_lines
from benchmarks.proposal_scoring import (
    Judgement,
    Tally,
    find_best,
    fold_model,
    is_reading_right,
    is_same_figure,
    judge_proposal,
    list_levels,
    list_own_models,
    score_proposals,
)
from benchmarks.proposals import ROWS, describe_tallies, print_table
from registry.records.claim import Direction, Form, PropertyClass, Relation, Reported
from registry.records.claim_draft import Confidence, Proposal
from registry.records.specification import PropertySpec
from registry.records.system_card import CardText
from tests.gold import SHARED, needs_shared
from tests.propose.made import MODEL, propose, read_example

ROOT = Path(__file__).parents[2]
SENTENCE = "Example Assistant 1.5B answered 57.3 % ± 13.3 % of the questions correctly (55 of 96 responses)."
BOUND = "When the format of the answer was left open, Example Assistant 1.5B answered at least 66.7 % of the questions correctly"
CODED = sorted((ROOT / "benchmarks" / "proposals_gold").glob("*.jsonl"))
RATING = PropertySpec(name="rating", class_=PropertyClass.CAPABILITY, range=(0, 4000), direction=Direction.NOT_SAFETY)
SHARE = PropertySpec(name="share", class_=PropertyClass.CAPABILITY, range=(0, 1), direction=Direction.NOT_SAFETY)
POINTS = PropertySpec(name="points", class_=PropertyClass.CAPABILITY, range=(0, 100), direction=Direction.NOT_SAFETY)


@pytest.fixture(scope="module")
def card() -> CardText:
    """The example card."""
    return read_example()


def code_claim(card: CardText, quote: str = SENTENCE, **fields: Any) -> GoldClaim:
    """Return a coded claim of the example card: 57.3 % of the questions answered correctly."""
    start = card.text.index(quote[:30])
    default: dict[str, Any] = {
        "id": "c1",
        "start": start,
        "stop": start + len(quote),
        "models": (MODEL,),
        "form": "prevalence",
        "theta": None,
        "reported": CodedFigure(57.3, "%"),
        "is_range": False,
        "classes": ("capability",),
        "directions": ("not_safety",),
        "is_quantitative": True,
    }
    return GoldClaim(**{**default, **fields})


def code_card(card: CardText, *claims: GoldClaim) -> GoldCard:
    """Return the example card as coded throughout."""
    return GoldCard(claims, ((0, len(card.text)),), ())


def propose_figure(card: CardText, value: float | None = 0.573, **fields: Any) -> Proposal:
    """Return a proposal of the coded sentence."""
    return propose(card, SENTENCE, reported=None if value is None else Reported(value=value), **fields)


def test_a_proposal_with_the_coded_model_figure_class_and_direction_is_right(card: CardText) -> None:
    assert judge_proposal(propose_figure(card), code_card(card, code_claim(card))) is Judgement.RIGHT


@pytest.mark.parametrize(
    ("changes", "judgement"),
    [
        ({"value": 0.44}, Judgement.WRONG),
        ({"value": 0.25}, Judgement.FOREIGN),
        ({"value": None}, Judgement.UNREAD),
        ({"model": None}, Judgement.UNREAD),
        ({"model": "Other Model 2"}, Judgement.OTHER_MODEL),
        ({"property": replace(SHARE, direction=Direction.LOWER_IS_SAFER)}, Judgement.PARTLY),
        ({"property": replace(SHARE, class_=PropertyClass.COMPLIANCE_REFUSAL)}, Judgement.PARTLY),
    ],
)
def test_a_proposal_that_differs_in_a_field_is_not_right(card: CardText, changes: dict[str, Any], judgement: Judgement) -> None:
    claim = code_claim(card, comparisons=(CodedFigure(25, "%"),))
    assert judge_proposal(propose_figure(card, **changes), code_card(card, claim)) is judgement


def test_a_figure_of_a_sister_model_in_the_same_row_is_another_models_figure(card: CardText) -> None:
    larger = code_claim(card, models=("Example Assistant 7B",), reported=CodedFigure(81, "%"))
    assert judge_proposal(propose_figure(card, 0.81), code_card(card, code_claim(card), larger)) is Judgement.FOREIGN
    assert (
        judge_proposal(propose_figure(card, 0.81, model="Example Assistant 7B"), code_card(card, code_claim(card), larger))
        is Judgement.RIGHT
    )


def test_a_trap_given_as_the_cards_own_figure_is_a_false_attribution(card: CardText) -> None:
    trap = code_claim(card, models=("Rival 3",), is_foreign=True)
    elsewhere = code_claim(card, BOUND)
    assert judge_proposal(propose_figure(card), code_card(card, trap, elsewhere)) is Judgement.FOREIGN
    assert judge_proposal(propose_figure(card, model="Rival 3"), code_card(card, trap, elsewhere)) is Judgement.OTHER_MODEL


def test_a_proposal_of_words_that_are_not_coded_is_no_claim(card: CardText) -> None:
    gold = code_card(card, code_claim(card, BOUND))
    assert judge_proposal(propose_figure(card), gold) is Judgement.NO_CLAIM_FIGURE
    assert judge_proposal(propose_figure(card, None), gold) is Judgement.NO_CLAIM


def test_no_case_seen_may_be_given_as_zero_or_in_words(card: CardText) -> None:
    gold = code_card(card, code_claim(card, reported=CodedFigure(0, "cases"), is_quantitative=False))
    assert judge_proposal(propose_figure(card, None), gold) is Judgement.RIGHT
    assert judge_proposal(propose_figure(card, 0.0), gold) is Judgement.RIGHT
    assert judge_proposal(propose_figure(card, 0.02), gold) is Judgement.WRONG


def test_a_figure_for_a_claim_in_words_is_wrong(card: CardText) -> None:
    gold = code_card(card, code_claim(card, reported=None, is_quantitative=False))
    assert judge_proposal(propose_figure(card), gold) is Judgement.WRONG
    assert judge_proposal(propose_figure(card, None), gold) is Judgement.RIGHT


@pytest.mark.parametrize(
    ("coded", "given", "spec"),
    [
        (CodedFigure(57.3, "%"), 0.573, SHARE),
        (CodedFigure(57.3, "%"), 57.3, POINTS),
        (CodedFigure(85.7, "score"), 0.857, SHARE),
        (CodedFigure(85.7, "score"), 85.7, POINTS),
        (CodedFigure(2056, "rating"), 2056, RATING),
        (CodedFigure(15, "of 32"), 15 / 32, SHARE),
        (CodedFigure(235, "billion parameters"), 235e9, replace(RATING, range=(0, 1e12))),
    ],
)
def test_figures_are_the_same_in_the_unit_of_the_property(card: CardText, coded: CodedFigure, given: float, spec: PropertySpec) -> None:
    assert is_same_figure(coded, given, propose_figure(card, property=spec))


@pytest.mark.parametrize(
    ("coded", "given", "spec"),
    [
        (CodedFigure(0.5, "%"), 0.5, SHARE),
        (CodedFigure(0.5, "%"), 0.005, POINTS),
        (CodedFigure(2056, "rating"), 20.56, RATING),
        (CodedFigure(6, "candidates"), 0.06, SHARE),
    ],
)
def test_a_figure_on_another_scale_is_another_figure(card: CardText, coded: CodedFigure, given: float, spec: PropertySpec) -> None:
    assert not is_same_figure(coded, given, propose_figure(card, property=spec))


def test_the_names_of_snapshots_and_settings_are_put_aside() -> None:
    assert fold_model("early snapshots of Claude Sonnet 4.5") == fold_model("Claude Sonnet 4.5 (helpful-only)") == "claudesonnet45"
    assert fold_model("Qwen3-14B") != fold_model("Qwen3-4B")
    assert fold_model("GPT-5.3-Codex with Safety Reasoner") == fold_model("near-final GPT-5.3-Codex")


def test_a_claim_of_all_models_may_be_given_for_the_cards_own(card: CardText) -> None:
    gold = code_card(card, code_claim(card, models=("all models tested",)), code_claim(card, BOUND))
    assert judge_proposal(propose_figure(card), gold) is Judgement.RIGHT


def test_form_and_bound_must_be_the_coders(card: CardText) -> None:
    claim = code_claim(card, BOUND, form="lower_bound", theta=CodedFigure(66.7, "%"), reported=None)
    bound = propose(card, BOUND, form=Form.LOWER_BOUND, relation=Relation.AT_LEAST, theta=0.667)
    assert is_reading_right(claim, bound)
    assert not is_reading_right(claim, replace(bound, theta=0.5))
    assert not is_reading_right(claim, propose(card, BOUND, reported=Reported(value=0.667)))


def test_the_best_proposal_on_the_words_of_a_claim_counts(card: CardText) -> None:
    claim, right = code_claim(card), propose_figure(card)
    wrong = propose_figure(card, 0.44)
    assert find_best(claim, [wrong, right, wrong], list_own_models(code_card(card, claim))) == right
    assert find_best(claim, [propose(card, BOUND)], frozenset()) is None


def test_arguable_claims_do_not_count_for_recall_and_proposals_outside_windows_are_not_judged(card: CardText) -> None:
    arguable = code_claim(card, BOUND, is_arguable=True)
    claim = code_claim(card)
    gold = replace(code_card(card, claim, arguable), windows=((claim.start, claim.stop),))
    tally = score_proposals(gold, [propose_figure(card), propose(card, BOUND)], [1, 0], pages=4)
    assert (tally.figures, tally.figures_met, tally.figures_right) == (1, 1, 1)
    assert tally.judgements == {Judgement.RIGHT: 1}
    assert tally.top[20] == (1, 1)


def test_the_first_proposals_are_those_of_the_ranking(card: CardText) -> None:
    right, wrong = propose_figure(card), propose_figure(card, 0.44)
    proposals = [wrong] * 25 + [right] * 20
    gold = code_card(card, code_claim(card))
    assert score_proposals(gold, proposals, range(45), pages=1).top == {20: (0, 20), 40: (15, 40)}
    assert score_proposals(gold, proposals, range(44, -1, -1), pages=1).top == {20: (20, 20), 40: (20, 40)}


def test_each_level_of_confidence_has_its_share_with_an_interval(card: CardText) -> None:
    proposals = [propose_figure(card)] * 9 + [propose_figure(card, 0.44), propose_figure(card, None, confidence=Confidence.LOW)]
    tally = score_proposals(code_card(card, code_claim(card)), proposals, range(11), pages=1)
    high, low = list_levels(tally)
    assert (high.level, high.judged, high.right, high.false) == (Confidence.HIGH, 10, 9, 1)
    assert high.low < 0.9 < high.high
    assert (low.level, low.judged, low.right, low.false) == (Confidence.LOW, 1, 0, 0)


def test_the_counts_of_several_cards_add_up(card: CardText) -> None:
    gold = code_card(card, code_claim(card))
    first = score_proposals(gold, [propose_figure(card)], [0], pages=3)
    second = score_proposals(gold, [propose_figure(card, 0.44)], [0], pages=4)
    whole = Tally()
    whole.add(first)
    whole.add(second)
    assert (whole.pages, whole.proposals, whole.figures, whole.judged, whole.top[20]) == (7, 2, 2, 2, (1, 2))
    assert first.judgements == {Judgement.RIGHT: 1}


def test_a_goal_that_is_missed_is_named_and_an_unknown_figure_is_no_zero(card: CardText, capsys: pytest.CaptureFixture[str]) -> None:
    gold = replace(code_card(card, code_claim(card)), windows=())
    tally = score_proposals(gold, [], [], pages=1)
    assert not print_table({"card.md": tally})
    written = capsys.readouterr().out
    recall = next(line for line in written.splitlines() if line.startswith("span recall, claims with figures"))
    assert recall.split() == ["span", "recall,", "claims", "with", "figures", "0/1", "0%", "0/1", "0%", "≥", "92%", "NOT", "MET"]
    assert "fully right" not in written
    rows = describe_tallies({"card.md": tally})["all"]["rows"]
    assert rows["fully right (model, value, class, direction)"] is None
    assert set(rows) == {row.label.strip() for row in ROWS}


def write_line(card: CardText, quote: str, shift: int = 0) -> dict[str, Any]:
    """Return a line of coded claims without the quotation."""
    start = card.text.index(quote) + shift
    words = {"id": "c1", "char_start": start, "letters": len("".join(quote.split())), "quote_sha256": digest_quote(quote)}
    fields = {"subject_model": MODEL, "property_class": "agency_meta", "logical_form": "prevalence", "safety_direction": "not_safety"}
    return {"kind": "claim", "card": "card.md", **words, **fields, "quantitative": True, "reported": {"value": 57.3, "unit": "%"}}


def test_a_claim_is_found_by_its_digest_where_the_text_is_laid_out_otherwise(card: CardText) -> None:
    line, window = write_line(card, SENTENCE), {"kind": "window", "char_start": 0, "char_end": 9999}
    spread = replace(card, text="New title\n\n" + card.text.replace(" ", "  \t"))
    found = locate_claims([window, line], spread)
    (claim,) = found.claims
    assert "".join(spread.text[claim.start : claim.stop].split()) == "".join(SENTENCE.split())
    assert claim.classes == ("agency_meta_task",)
    assert found.windows[0][0] == claim.start - line["char_start"]


def test_a_claim_whose_words_have_changed_is_named_as_missing(card: CardText) -> None:
    changed = replace(card, text=card.text.replace("57.3 %", "75.3 %"))
    assert locate_claims([write_line(card, SENTENCE)], changed) == GoldCard((), (), ("c1",))


def test_the_committed_claims_have_no_words_of_the_cards() -> None:
    assert len(CODED) == 4
    for path in CODED:
        lines = read_lines(path)
        windows = [(line["char_start"], line["char_end"]) for line in lines if line["kind"] == "window"]
        claims = [line for line in lines if line["kind"] != "window"]
        assert len({line["id"] for line in lines}) == len(lines)
        for line in claims:
            assert "quote" not in line
            assert len(line["quote_sha256"]) == len(line["text_sha256"]) == 64
            assert any(start <= line["char_start"] < stop for start, stop in windows)


@needs_shared
def test_each_committed_claim_of_a_text_card_is_in_its_text() -> None:
    from registry.intake.card_reader import read_card

    ((path, lines),) = group_by_card(
        read_lines(ROOT / "benchmarks/proposals_gold/anthropic-claude-sonnet-4.5.jsonl"), SHARED / "cards-dev"
    ).items()
    found = locate_claims(lines, read_card(path))
    assert not found.missing
    assert len(found.claims) + len(found.windows) == len(lines)
    assert json.dumps(found.windows) == json.dumps([[line["char_start"], line["char_end"]] for line in lines if line["kind"] == "window"])
