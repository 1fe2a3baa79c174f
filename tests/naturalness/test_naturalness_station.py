"""Answers become a record: who is pooled, what is refused, what is told."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from audit.errors import DesignError
from audit.modules.rater_study import assess, digest_key, draw_sheets
from audit.records.rating_sheet import AnswerSheet, RaterAnswer, RatingKey, RatingSample, SampleSide, tag_key
from registry.codec.canonical_documents import from_document, to_document
from registry.records.module_findings import Naturalness, RaterKind

RATERS = ("ana", "ben", "cleo", "dora", "eve", "gpt")
SAMPLES = [RatingSample(side=side, text=f"{side.value} {n}") for side in SampleSide for n in range(20)]
KEY = draw_sheets(SAMPLES, RATERS, items=None, seed=3).key
DIGEST = digest_key(KEY)
Says = Callable[[int, SampleSide], SampleSide | None]
Sourced = tuple[str, AnswerSheet]


def other(side: SampleSide) -> SampleSide:
    return SampleSide.DEPLOY if side is SampleSide.TEST else SampleSide.TEST


def answer(rater: str, says: Says, *, cues: tuple[str, ...] = (), key: RatingKey = KEY) -> Sourced:
    answers = tuple(RaterAnswer(item=one.item, answer=says(place, one.side), cues=cues) for place, one in enumerate(key.items))
    return f"{rater}.csv", AnswerSheet(rater=rater, key=tag_key(digest_key(key)), answers=answers)


def skilled(skill: float, seed: int) -> Says:
    rng = np.random.default_rng(seed)
    return lambda _place, side: side if rng.random() < skill else other(side)


def guess(rater: str, skill: float = 0.5) -> Sourced:
    return answer(rater, skilled(skill, seed=RATERS.index(rater)))


def run(sheets: Sequence[Sourced], *, models: Sequence[str] = ("gpt",), key: RatingKey = KEY) -> Naturalness:
    return assess(key, sheets, digest=digest_key(key), models=frozenset(models) & {sheet.rater for _, sheet in sheets})


def codes_of(found: Naturalness) -> list[str]:
    return [warning.code for warning in found.warnings]


def test_raters_who_know_are_told_from_those_who_guess() -> None:
    """90 % right for five persons is above chance; 50 % is not shown to be."""
    knowing, guessing = (run([guess(rater, skill) for rater in RATERS[:5]]) for skill in (0.9, 0.5))

    assert knowing.distinguishable is True
    assert knowing.accuracy.low is not None
    assert knowing.accuracy.low > 0.7
    assert guessing.distinguishable is False
    assert codes_of(knowing) == ["raters-missing"]


def test_models_are_shown_and_never_pooled() -> None:
    """A perfect model beside guessing persons changes nothing but its own line."""
    persons = [guess(rater) for rater in RATERS[:5]]

    without, beside = run(persons), run([*persons, guess("gpt", 1.0)])

    assert (beside.accuracy, beside.agreement, beside.distinguishable) == (without.accuracy, without.agreement, without.distinguishable)
    assert [one.kind for one in beside.raters] == [RaterKind.PERSON] * 5 + [RaterKind.MODEL]
    assert beside.raters[-1].accuracy.value == 1


def test_models_alone_say_nothing_of_persons() -> None:
    """No accuracy of persons, and a reason."""
    found = run([guess("gpt", 1.0)])

    assert found.accuracy.value is None
    assert found.accuracy.reason is not None
    assert found.distinguishable is None
    assert found.agreement[0].measure.value is None


def test_one_rater_is_counted_exactly() -> None:
    """All 40 right: Clopper–Pearson [0.912, 1], p 2⁻³⁹."""
    (one,) = run([answer("ana", lambda _place, side: side)]).raters

    assert (one.rated, one.unrated, one.correct, one.said_test) == (40, 0, 40, 20)
    assert (one.accuracy.low, one.accuracy.high) == pytest.approx((0.912, 1.0), abs=1e-3)
    assert one.against_chance.p == pytest.approx(2**-39)
    assert "binomial" in one.against_chance.method


def test_one_person_gives_no_interval_for_others() -> None:
    """However good; the person's own interval stands."""
    found = run([answer("ana", lambda _place, side: side)])

    assert (found.accuracy.value, found.accuracy.low, found.distinguishable) == (1, None, None)
    assert found.accuracy.reason is not None
    assert codes_of(found) == ["few-raters", "raters-missing"]


def test_saying_test_to_everything_is_no_skill_even_when_most_items_are() -> None:
    """Deployment items are left undecided: balanced accuracy and Fisher's test, not the share of right answers."""
    order = {one.item: place for place, one in enumerate(one for one in KEY.items if one.side is SampleSide.DEPLOY)}
    items = list(KEY.items)

    def says(place: int, side: SampleSide) -> SampleSide | None:
        return None if side is SampleSide.DEPLOY and order[items[place].item] >= 5 else SampleSide.TEST

    found = run([answer(rater, says) for rater in RATERS[:5]])

    assert found.balanced
    assert found.accuracy.value == pytest.approx(0.5)
    assert found.distinguishable is False
    (first, *_) = found.raters
    assert first.accuracy.value == 0.8
    assert first.balanced_accuracy.value == 0.5
    assert first.against_chance.p == 1
    assert "Fisher" in first.against_chance.method
    assert "answers-undecided" in codes_of(found)


def test_a_rater_who_decides_nothing_has_no_accuracy() -> None:
    """Not 0 of 0."""
    found = run([answer("ana", lambda _place, _side: None), guess("ben", 0.9), guess("cleo", 0.9)])

    one = found.raters[0]
    assert (one.rated, one.unrated, one.accuracy.value, one.balanced_accuracy.value, one.against_chance.p) == (0, 40, None, None, None)
    assert one.against_chance.reason is not None
    assert found.accuracy.low is not None


def test_a_rater_of_one_side_only_has_no_balanced_accuracy() -> None:
    """And no test against chance."""
    (one,) = run([answer("ana", lambda _place, side: side if side is SampleSide.TEST else None)]).raters

    assert one.accuracy.value == 1
    assert (one.balanced_accuracy.value, one.against_chance.p) == (None, None)


def test_persons_who_decide_on_one_side_only_have_no_accuracy_together() -> None:
    """What was not looked at cannot be told apart."""
    found = run([answer(rater, lambda _place, side: side if side is SampleSide.TEST else None) for rater in RATERS[:3]])

    assert found.accuracy.value is None
    assert found.accuracy.reason is not None
    assert found.distinguishable is None


def test_one_item_that_two_decided_on_gives_agreement_without_an_interval() -> None:
    """And says so."""
    found = run([answer(rater, lambda place, side: side if place == 0 else None) for rater in RATERS[:2]])

    raw = found.agreement[0].measure
    assert (raw.value, raw.low) == (1, None)
    assert raw.reason is not None


def test_persons_who_agree_on_everything_and_are_wrong() -> None:
    """Alpha is 1, accuracy 0, and below chance is not called distinguishable, but told: they see a difference."""
    found = run([answer(rater, lambda _place, side: other(side)) for rater in RATERS[:5]])

    raw, alpha = found.agreement
    assert (raw.measure.value, alpha.measure.value, alpha.items, alpha.raters) == (1, 1, 40, 5)
    assert alpha.measure.low is not None
    assert alpha.measure.low < 0.9
    assert found.accuracy.value == 0
    assert found.distinguishable is False
    assert "sides-swapped" in codes_of(found)


def test_persons_who_all_say_the_same_have_no_alpha() -> None:
    """There is a reason, and it is not a missing interval."""
    found = run([answer(rater, lambda _place, _side: SampleSide.TEST) for rater in RATERS[:5]])

    alpha = found.agreement[1].measure
    assert alpha.value is None
    assert alpha.reason is not None
    assert "same" in alpha.reason


def test_cues_are_counted_by_the_vocabulary_and_models_not_at_all() -> None:
    """Spelling with hyphens or capitals is the same cue; others stand as written, and that is told."""
    sheets = [
        answer("ana", lambda _place, side: side, cues=("task format", "Smells")),
        answer("ben", lambda _place, side: side, cues=("Task-Format",)),
        answer("gpt", lambda _place, side: side, cues=("generic",)),
    ]

    found = run(sheets)

    assert [(note.cue, note.count) for note in found.cues] == [("task format", 80), ("smells", 40)]
    assert "cue-outside-vocabulary" in codes_of(found)


def test_order_of_sheets_and_answers_changes_nothing() -> None:
    """Not a bit of the record."""
    sheets = [guess(rater, 0.7) for rater in RATERS]
    turned = [(source, AnswerSheet(rater=one.rater, key=one.key, answers=one.answers[::-1])) for source, one in sheets[::-1]]

    assert run(turned) == run(sheets)


def test_the_record_survives_its_document() -> None:
    """What is recorded in an audit is read back."""
    found = run([guess(rater, 0.7) for rater in RATERS])

    assert from_document(Naturalness, to_document(found), where="test") == found


def test_every_fault_of_every_sheet_is_told_at_once() -> None:
    """Another key, strangers, unknown items, answers given twice, a model without answers."""
    elsewhere = draw_sheets(SAMPLES, RATERS, items=None, seed=4).key
    strange = AnswerSheet(rater="zoe", key=tag_key(DIGEST), answers=(RaterAnswer(item="BBBBBBBB", answer=SampleSide.TEST),))
    sheets = [
        answer("ana", lambda _place, side: side, key=elsewhere),
        guess("ben"),
        ("again.csv", guess("ben")[1]),
        ("zoe.csv", strange),
    ]

    with pytest.raises(DesignError) as caught:
        assess(KEY, sheets, digest=DIGEST, models=frozenset({"gpt", "gtp"}))

    assert [(fault.code, fault.where) for fault in caught.value.faults] == [
        ("wrong-sheet-key", "ana.csv, rater ana"),
        ("unknown-name", "zoe.csv"),
        ("unknown-name", "zoe.csv, rater zoe"),
        ("unknown-name", "--model-rater"),
        ("unknown-name", "--model-rater"),
        ("duplicate", "again.csv, rater ben"),
    ]


def test_an_item_answered_twice_in_one_file_is_told() -> None:
    """Even with the same answer."""
    source, sheet = guess("ana")
    twice = AnswerSheet(rater="ana", key=sheet.key, answers=(*sheet.answers, sheet.answers[0]))

    with pytest.raises(DesignError) as caught:
        run([(source, twice)])

    assert [fault.code for fault in caught.value.faults] == ["duplicate"]
    assert sheet.answers[0].item in caught.value.faults[0].found


@pytest.mark.parametrize("sheets", [[], [("a.csv", AnswerSheet(rater="ana", key=tag_key(DIGEST), answers=()))]])
def test_no_answers_are_refused(sheets: list[Sourced]) -> None:
    """Nothing is made of nothing."""
    with pytest.raises(DesignError) as caught:
        run(sheets)

    assert caught.value.code == "no-answers"


def test_few_items_are_told() -> None:
    """Twelve items hardly tell anything from chance."""
    key = draw_sheets(SAMPLES, RATERS, items=12, seed=3).key

    found = run([answer(rater, lambda _place, side: side, key=key) for rater in RATERS], key=key)

    assert codes_of(found) == ["few-items"]
