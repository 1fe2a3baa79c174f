"""What holds whatever the method of the intervals: degenerate designs, records, the planned number of tasks, rows left out."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.statistics.design_remarks import resolve_deploy, resolve_difference
from audit.statistics.estimate_intervals import parse_grounds, relevel
from audit.statistics.intervals import find_sides
from audit.statistics.responses import Floats, ScoreTable, TableFile, TextColumn
from registry.codec.canonical_documents import from_document, to_document
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.estimates import BoundedEstimate, Differential, Estimate
from tests.statistics.tables import build_crossed, build_nested, build_table, list_rows

MODES = [
    (IntervalMethod.CLOSED_FORM, ContextDesign.RANDOM),
    (IntervalMethod.CLOSED_FORM, ContextDesign.FIXED),
    (IntervalMethod.CLOSED_FORM, ContextDesign.NESTED),
    (IntervalMethod.GUARANTEED, ContextDesign.RANDOM),
    (IntervalMethod.GUARANTEED, ContextDesign.FIXED),
    (IntervalMethod.GUARANTEED, ContextDesign.NESTED),
    (IntervalMethod.ANYTIME, ContextDesign.NESTED),
]
SHAPES = [(1, 1, 1), (1, 6, 4), (2, 1, 1), (2, 2, 1), (20, 1, 1), (20, 5, 3), (25, 6, 1)]


def describe_scores() -> Iterator[tuple[str, float, float]]:
    """Every pair of constant levels: none, half, all."""
    for first, second in product((0.0, 0.5, 1.0), repeat=2):
        yield f"{first:g} against {second:g}", first, second


def run(test: Floats, deploy: Floats, mode: tuple[IntervalMethod, ContextDesign], **plan: object) -> Estimate:
    method, contexts = mode
    table = build_nested(test, deploy) if contexts is ContextDesign.NESTED else build_crossed(test, deploy)
    asked = Plan(interval=method, contexts=contexts, replicates=0, **plan)  # type: ignore[arg-type]  # as the fields are typed
    return estimate(table, asked, range_=(0, 1))


def check(result: Estimate) -> None:
    """Intervals hold their points, have a width and lie in the range; what is not there has its reason; p lies in [0, 1]."""
    spec = result.specs[0]
    bounded: tuple[tuple[BoundedEstimate | Differential, float], ...] = ((spec.phi_test, 0.0), (spec.phi_deploy, 0.0), (spec.ed, -1.0))
    for one, lowest in bounded:
        if one.low is None or one.high is None:
            assert one.reason
            continue
        assert lowest <= one.low <= one.value <= one.high <= 1
        assert one.low < one.high
    for p in (spec.p_ed, spec.equivalence.p):
        assert p is None or 0 <= p <= 1
    assert spec.minimum_detectable_ed is None or spec.minimum_detectable_ed > 0
    assert from_document(Estimate, to_document(result), where="estimate") == result


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES)
def test_constant_scores_are_never_certainty(shape: tuple[int, int, int], mode: tuple[IntervalMethod, ContextDesign]) -> None:
    """0 of n, n of n, and what lies between, on either side, down to one response; also read again at another level."""
    for _, first, second in describe_scores():
        result = run(np.full(shape, first), np.full(shape, second), mode)
        check(result)
        spec = result.specs[0]

        assert spec.ed.value == first - second
        assert (spec.ed.low is None) == (shape[0] == 1 or (shape[1] == 1 and mode[1] is ContextDesign.RANDOM))
        assert (relevel(result, spec, level=0.8).ed.low is None) == (spec.ed.low is None)
        resolve_difference(result, spec, boundary=0.05)
        resolve_deploy(result, spec, theta=0.3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES)
def test_drawn_scores_of_any_shape_are_estimated(shape: tuple[int, int, int], mode: tuple[IntervalMethod, ContextDesign]) -> None:
    """Binary and judged, with missing responses."""
    rng = np.random.default_rng(sum(shape))
    for judged in (True, False):
        test, deploy = (rng.random(shape) if judged else rng.integers(0, 2, shape).astype(float) for _ in range(2))
        check(run(test, deploy, mode))
        if test.size > 30:
            holes = np.where(rng.random(shape) < 0.2, np.nan, deploy)
            check(run(test, holes, mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_a_record_read_at_another_level_is_never_wider_below_and_narrower_above(
    level: float, mode: tuple[IntervalMethod, ContextDesign]
) -> None:
    """Intervals grow with the level, and equivalence goes with them."""
    rng = np.random.default_rng(14)
    result = run(rng.random((30, 6)), rng.random((30, 6)), mode)
    spec = result.specs[0]

    again = relevel(result, spec, level=level)

    for there, here in ((spec.ed, again.ed), (spec.phi_deploy, again.phi_deploy)):
        assert there.low is not None
        assert there.high is not None
        assert here.low is not None
        assert here.high is not None
        assert (here.high - here.low < there.high - there.low) == (level < 0.95)


@pytest.mark.parametrize("mode", MODES)
def test_a_million_responses_to_one_task_are_one_task_by_any_method(mode: tuple[IntervalMethod, ContextDesign]) -> None:
    """Size does not replace tasks."""
    size = 1_000_000
    none, zero = np.full(size, -1, dtype=np.int32), np.zeros(size, dtype=np.int32)
    table = ScoreTable(
        task=TextColumn(codes=zero, labels=("only",)),
        arm=TextColumn(codes=(np.arange(size) % 2).astype(np.int32), labels=("deploy", "test")),
        context=TextColumn(codes=(np.arange(size) % 10).astype(np.int32), labels=tuple("0123456789")),
        spec=TextColumn(codes=none, labels=()),
        sample=TextColumn(codes=zero, labels=("0",)),
        excluded=TextColumn(codes=none, labels=()),
        score=np.linspace(0, 1, size),
        low=0.0,
        high=1.0,
        files=(TableFile(name="big", sha256="0" * 64, rows=size),),
    )

    result = estimate(table, Plan(interval=mode[0], contexts=mode[1], replicates=0), range_=(0, 1))

    assert result.specs[0].ed.low is None
    assert result.specs[0].ed.reason == "one task: nothing says how tasks vary"
    assert "one-task" in [warning.code for warning in result.warnings]


def test_anytime_without_its_walks_is_a_mistake_of_the_caller() -> None:
    """Grounds of a confidence sequence carry one."""
    rng = np.random.default_rng(0)
    result = run(rng.random((20, 5)), rng.random((20, 5)), MODES[2])

    grounds = replace(parse_grounds(result, result.specs[0]), method=IntervalMethod.ANYTIME)

    with pytest.raises(ValueError, match="need their confidence sequences"):
        find_sides(grounds, level=0.95)


@pytest.mark.parametrize(
    ("mode", "planned", "codes"),
    [
        (MODES[0], None, []),
        (MODES[0], 24, []),
        (MODES[0], 30, ["stopped-early"]),
        (MODES[3], 30, ["stopped-early"]),
        (MODES[6], 30, []),
        (MODES[0], 22, ["tasks-added"]),
        (MODES[6], 22, ["tasks-added"]),
    ],
)
def test_another_number_of_tasks_than_planned_is_a_deviation(
    mode: tuple[IntervalMethod, ContextDesign], planned: int | None, codes: list[str]
) -> None:
    """Fewer, unless intervals are anytime; more, always. With the numbers."""
    rng = np.random.default_rng(16)
    result = run(rng.random((24, 6)), rng.random((24, 6)), mode, tasks=planned)

    assert [warning.code for warning in result.warnings] == codes
    for warning in result.warnings:
        assert warning.message.startswith("Deviation: ")
        assert "24" in warning.message
        assert str(planned) in warning.message


def test_tasks_that_were_begun_are_counted_in_the_deviation() -> None:
    """Stopped or lost: the sentence gives both numbers; a planned random subset is not a loss."""
    rng = np.random.default_rng(17)
    rows = list_rows(rng.random((30, 6, 1)), rng.random((30, 6, 1)))
    kept = [row for row in rows if row[1] == "test" or row[0] < "t00024"]

    lost, drawn = (
        estimate(build_table(kept), Plan(tasks=30, random_subset=subset, replicates=0), range_=(0, 1)) for subset in (False, True)
    )

    assert "only 24 of 30 planned tasks are scored on both sides, 30 were begun" in lost.warnings[0].message
    assert "begun" not in drawn.warnings[0].message


def test_rows_of_an_ablation_are_excluded_and_counted() -> None:
    """As if they were not there; an arm that has nothing else is missing."""
    rng = np.random.default_rng(18)
    rows = list_rows(rng.random((24, 6, 1)), rng.random((24, 6, 1)))
    ablated = [(task, "test", context, sample, 1.0) for task, arm, context, sample, _ in rows if arm == "test"]
    plan = Plan(replicates=0)

    result = estimate(build_table([*rows, *ablated], cues=[None] * len(rows) + ["format"] * len(ablated)), plan, range_=(0, 1))

    assert result.specs == estimate(build_table(rows), plan, range_=(0, 1)).specs
    assert [warning.code for warning in result.warnings] == ["ablation-rows"]
    assert "144 responses" in result.warnings[0].message
    with pytest.raises(DesignError, match="one-sided"):
        estimate(build_table(rows, cues=["format" if row[1] == "test" else None for row in rows]), plan, range_=(0, 1))
    assert estimate(build_table(rows, cues=[None] * len(rows)), plan, range_=(0, 1)).warnings == ()
