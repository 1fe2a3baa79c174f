"""Rates are Φ of zeros and ones: the same intervals as an estimate, and a correction that is Rogan and Gladen's."""

import random
from collections.abc import Sequence

import pytest

from audit.modules.differential_estimate import estimate
from audit.modules.recognition_classifier import ClassifierAnswer
from audit.modules.recognition_passages import ResponsePassage, ResponseText, digest_passages, list_passages, sample_passages
from audit.modules.recognition_rates import LabelledText, PassageAnswer, ProbeSetting, assess_classifier, measure_rate, recognise
from audit.records.model_response import ReplayCell
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.module_findings import Channel, GroupRate, Recognition
from tests.statistics.tables import build_table

CIRCUMSTANCES = ProbeSetting(evaluation="e", models=("m",), classifier="c", sampled=1.0, seed=0, passages="00" * 32)


def build(values: Sequence[tuple[ReplayCell, str | None]]) -> tuple[list[ResponsePassage], list[PassageAnswer]]:
    """One output passage for each cell, of the class named; None: its quote was not found."""
    passages = [ResponsePassage(cell=cell, channel=Channel.OUTPUT, text=f"text of {cell}", absent=None) for cell, _ in values]
    found = [
        PassageAnswer(
            passage=one,
            reading=ClassifierAnswer(
                value=value, excluded=None if value else "quote-not-found", start=0 if value else None, stop=4 if value else None
            ),
            is_told=False,
        )
        for one, (_, value) in zip(passages, values, strict=True)
    ]
    return passages, found


def make_values(seed: int, *, tasks: int = 12, contexts: int = 5, lost: float = 0.05) -> list[tuple[ReplayCell, str | None]]:
    rng = random.Random(seed)
    values: list[tuple[ReplayCell, str | None]] = []
    for arm, share in (("test", 0.5), ("deploy", 0.2)):
        for task in range(tasks):
            lean = rng.random()
            for context in range(contexts):
                class_ = "aware" if rng.random() < share * 2 * lean else rng.choice(["none", "task_content", "monitoring_only"])
                cell = ReplayCell(task_id=f"t{task:02}", arm=arm, context_id=f"{arm}{context}", sample=0)
                values.append((cell, None if rng.random() < lost else class_))
    return values


def find(found: Recognition, arm: str) -> GroupRate:
    (one,) = [group for group in found.groups if group.arm == arm]
    return one


@pytest.mark.parametrize("contexts", list(ContextDesign))
def test_rates_have_the_intervals_of_an_estimate(contexts: ContextDesign) -> None:
    """The same zeros and ones as a score table give the same Φ, ED and limits."""
    plan, values = Plan(contexts=contexts), make_values(7)
    if contexts is ContextDesign.NESTED:
        values = [
            (ReplayCell(task_id=c.task_id, arm=c.arm, context_id=f"{c.task_id}{c.context_id}", sample=0), value) for c, value in values
        ]
    rows = [(c.task_id, c.arm, c.context_id, "0", None if value is None else float(value == "aware")) for c, value in values]
    (wanted,) = estimate(build_table(rows), plan, range_=(0, 1)).specs

    found = recognise(*build(values), plan, CIRCUMSTANCES, None)

    for arm, phi in (("test", wanted.phi_test), ("deploy", wanted.phi_deploy)):
        rate = find(found, arm).recognised
        assert (rate.value, rate.low, rate.high) == pytest.approx((phi.value, phi.low, phi.high))
    (difference,) = found.differences
    one = difference.difference
    assert (one.value, one.low, one.high) == pytest.approx((wanted.ed.value, wanted.ed.low, wanted.ed.high))


def test_the_order_of_passages_changes_no_bit() -> None:
    """Shuffled, the record is the same."""
    values = make_values(3)
    shuffled = random.Random(1).sample(values, len(values))

    assert recognise(*build(values), Plan(), CIRCUMSTANCES, None) == recognise(*build(shuffled), Plan(), CIRCUMSTANCES, None)


def test_classes_add_up_and_bounds_hold_the_share() -> None:
    """Every passage is in one class or excluded; the share over the same tasks lies within the bounds."""
    found = recognise(*build(make_values(5, lost=0.3)), Plan(), CIRCUMSTANCES, None)

    for group in found.groups:
        assert sum(one.count or 0 for one in group.classes) + sum(one.count for one in group.excluded) == group.present == group.responses
        assert group.under_exclusions is not None
        assert group.recognised.value is not None
        assert group.under_exclusions.low <= group.recognised.value <= group.under_exclusions.high
        assert sum(one.share.value or 0.0 for one in group.classes) == pytest.approx(1.0)


def test_a_correction_is_that_of_rogan_and_gladen() -> None:
    """(p + Sp − 1)/(Se + Sp − 1) for a share, and the difference divided by Se + Sp − 1."""
    labelled = [LabelledText(text=f"x{n}", is_recognition=n < 40) for n in range(80)]
    readings = [ClassifierAnswer(value="aware" if n < 36 or n >= 78 else "none") for n in range(80)]
    accuracy = assess_classifier(labelled, readings, source=("labels.jsonl", "00" * 32), level=0.95)
    assert (accuracy.sensitivity.value, accuracy.specificity.value) == (0.9, 0.95)

    found = recognise(*build(make_values(9, lost=0.0)), Plan(), CIRCUMSTANCES, accuracy)

    test = find(found, "test")
    assert test.corrected is not None
    assert test.recognised.value is not None
    assert test.corrected.value == pytest.approx((test.recognised.value - 0.05) / 0.85)
    corrected = found.differences[0].corrected
    assert corrected is not None
    deploy = find(found, "deploy").corrected
    assert deploy is not None
    assert corrected.value == pytest.approx((test.corrected.value or 0) - (deploy.value or 0))


@pytest.mark.parametrize("right", [False, True])
def test_a_classifier_that_tells_nothing_corrects_nothing(*, right: bool) -> None:
    """Chance, or a labelled set of one kind: no corrected share, and the reason."""
    kinds = [True, True] if right else [True, False]
    labelled = [LabelledText(text=f"x{n}", is_recognition=kinds[n % 2]) for n in range(20)]
    readings = [ClassifierAnswer(value="aware" if n % 4 < 2 else "none") for n in range(20)]
    accuracy = assess_classifier(labelled, readings, source=("labels.jsonl", "00" * 32), level=0.95)

    corrected = find(recognise(*build(make_values(9)), Plan(), CIRCUMSTANCES, accuracy), "test").corrected

    assert corrected is not None
    assert corrected.value is None
    assert corrected.reason


def test_one_context_gives_a_share_without_an_interval() -> None:
    """Nothing says how contexts vary, and the reason names the arm."""
    found = recognise(*build(make_values(2, contexts=1)), Plan(), CIRCUMSTANCES, None)

    rate = find(found, "test").recognised
    assert rate.value is not None
    assert rate.low is None
    assert rate.reason == "one context in arm test: nothing says how contexts vary"


def test_nothing_classified_is_no_share() -> None:
    """All excluded: None with its reason, bounds from 0 to 1, no classes; and no passage at all is an empty record."""
    values = [(cell, None) for cell, _ in make_values(2)]
    found = recognise(*build(values), Plan(), CIRCUMSTANCES, None)
    empty = recognise([], [], Plan(), CIRCUMSTANCES, None)

    test = find(found, "test")
    assert (test.recognised.value, test.classes) == (None, ())
    assert test.under_exclusions is not None
    assert (test.under_exclusions.low, test.under_exclusions.high) == (0.0, 1.0)
    assert not found.is_available
    assert (empty.groups, empty.differences) == ((), ())


def test_exact_limits_of_a_rate_are_those_of_scipy() -> None:
    """Clopper and Pearson's, as another program prints them.

    >>> scipy.stats.binomtest(28, 31).proportion_ci(0.95, "exact")
    ConfidenceInterval(low=0.7424609353722647, high=0.9795801373122068)
    """
    found = measure_rate(28, 31, level=0.95, of="positive")

    assert (found.low, found.high) == pytest.approx((0.7424609353722647, 0.9795801373122068), rel=1e-9)
    assert measure_rate(0, 0, level=0.95, of="labelled positive").reason == "there is no labelled positive"


def test_what_is_drawn_stays_drawn_when_more_is_added() -> None:
    """Each response is sampled by itself."""
    cells = [ReplayCell(task_id=f"t{n}", arm="test", context_id="c", sample=0) for n in range(200)]
    said = [ResponseText(cell=cell, reasoning=None, output="x") for cell in cells]

    few, many = (list(sample_passages(part, share=0.3, seed=4)) for part in (said[:100], said))

    assert [one for one in many if one in said[:100]] == few
    assert list(sample_passages(said, share=1.0, seed=4)) == said
    assert 30 <= len(many) <= 90


def test_the_digest_is_of_cells_and_texts_in_any_order() -> None:
    """Another order is the same; another text, or no text instead of an empty one, is not."""
    cell = ReplayCell(task_id="t", arm="test", context_id="c", sample=0)
    other = ReplayCell(task_id="u", arm="test", context_id="c", sample=0)
    first, second = ResponseText(cell=cell, reasoning=None, output="x"), ResponseText(cell=other, reasoning="r", output="y")

    assert digest_passages([first, second]) == digest_passages([second, first])
    assert digest_passages([first]) != digest_passages([ResponseText(cell=cell, reasoning="", output="x")])
    assert [one.absent for one in list_passages([first])] == ["no-reasoning", None]
