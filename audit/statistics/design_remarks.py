"""What a reader must know about a design, and how much more of it would settle what an interval leaves open."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from audit.statistics.detectable_effect import ExtraSample, find_first, sample_size_to_resolve
from audit.statistics.estimate_intervals import ScoreScale, parse_grounds
from audit.statistics.intervals import IntervalBasis, find_difference, find_sides
from audit.statistics.mean_intervals import ConfidenceLimits, count_clusters, extend_sequence, sequence_limits
from audit.statistics.responses import Floats
from audit.statistics.side_moments import (
    ENOUGH_CONTEXTS,
    ZERO_VARIANCE,
    Cells,
    Moments,
    SideMoments,
    VariancePart,
    satterthwaite_df,
    total_variance,
)
from registry.records.analysis_plan import IntervalMethod, Plan
from registry.records.estimates import BoundedEstimate, ConfidenceSequence, Differential, Estimate, SpecEstimate

# Remarks on a design that limit what its numbers show (statistics.md section 3).

ENOUGH_TASKS = 20
"""A verdict needs this many tasks on both sides, and with random contexts `ENOUGH_CONTEXTS` a side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRemark:
    """One plain sentence with its numbers."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignCounts:
    """Counts that the moments do not hold."""

    tasks: int
    """Tasks with a scored response on both sides, each counted whatever family it is in."""

    dropped: int
    """Tasks without a scored response on one of the sides."""

    scored_test: int
    scored_deploy: int
    excluded_test: int
    excluded_deploy: int


def remark_design(moments: Moments, tally: DesignCounts) -> Iterator[DesignRemark]:
    """Yield what is thin, lost or uneven in a design."""
    yield from _remark_tasks(moments.test, tally)
    if moments.random:
        # Fixed and nested contexts are not a sample, so their number limits no verdict.
        yield from remark_contexts("The test side", moments.test.contexts, templates=moments.test.templates)
        yield from remark_contexts("The deployment side", moments.deploy.contexts, templates=moments.deploy.templates)
    yield from _remark_exclusions(tally)
    yield from _remark_variance("test", moments.test, random=moments.random)
    yield from _remark_variance("deployment", moments.deploy, random=moments.random)


def looks_nested(cells: Cells) -> bool:
    """Return whether no two tasks share a context although there are several tasks."""
    several = int(np.count_nonzero(np.bincount(cells.task))) > 1
    return several and int(np.bincount(cells.context).max()) == 1


def find_shared_context(cells: Cells) -> tuple[int, int] | None:
    """Return the code of the context used by most tasks, and by how many, if any is used by more than one."""
    uses = np.bincount(cells.context)
    most = int(np.argmax(uses))
    return (most, int(uses[most])) if uses[most] > 1 else None


def find_shared_template(cells: Cells) -> tuple[int, int, str] | None:
    """Return a context of the template that most clusters of tasks use, by how many, and what they are; None if none is used by several."""
    pairs = np.unique(np.stack([cells.clusters.of_contexts(cells.context), cells.clusters.of_tasks(cells.task)]), axis=1)
    uses = np.bincount(pairs[0])
    most = int(np.argmax(uses))
    kind = "tasks" if cells.clusters.family is None else "families of tasks"
    return None if cells.clusters.template is None or uses[most] < 2 else (most, int(uses[most]), kind)


def has_equal_cells(cells: Cells, *, dropped: int) -> bool:
    """Return whether every response weighs the same in the mean, so that the pooled mean is the same by design."""
    per_task = np.bincount(cells.task)
    weights = cells.count * per_task[cells.task]
    return dropped == 0 and bool((weights == weights[0]).all())


def remark_size(plan: Plan, tally: DesignCounts) -> Iterator[DesignRemark]:
    """Yield how the number of tasks departs from the plan."""
    # With closed-form and guaranteed intervals any other number of tasks than planned is a protocol
    # deviation, printed on page one.
    tasks, planned = tally.tasks, plan.tasks
    if planned is None or tasks == planned:
        return
    begun = f", {tasks + tally.dropped} were begun" if tally.dropped and not plan.random_subset else ""
    counted = f"{tasks} of {planned} planned tasks are scored on both sides{begun}"
    fixed = "intervals are for a size fixed before"
    if tasks > planned:
        holds = "anytime intervals hold all the same" if plan.interval is IntervalMethod.ANYTIME else fixed
        more = f"{tasks - planned} more than the {planned} planned"
        yield DesignRemark(code="tasks-added", message=f"Deviation: {tasks} tasks are scored on both sides, {more}; {holds}.")
    # Only an anytime interval stays valid if the number of tasks depends on the scores seen so far.
    elif plan.interval is not IntervalMethod.ANYTIME:
        message = f"Deviation: only {counted}; {fixed}, and stopping on what was seen makes them too narrow."
        yield DesignRemark(code="stopped-early", message=message)


def describe_sample_worth(side: SideMoments, tasks: int) -> str:
    """Return that weights, or families, leave *tasks* worth fewer independent ones than a verdict needs."""
    effective = side.effective_tasks
    if not side.families:
        return f"Weights leave the {tasks} tasks worth {effective:.1f} of equal weight; a verdict needs at least {ENOUGH_TASKS}."
    worth = "" if side.kish is None else f", worth {effective:.1f} of equal weight"
    families = "1 family" if side.tasks == 1 else f"{side.tasks} families"
    return f"The {tasks} tasks are in {families}{worth}; a verdict needs at least {ENOUGH_TASKS} families."


def _remark_tasks(side: SideMoments, tally: DesignCounts) -> Iterator[DesignRemark]:
    tasks, dropped = tally.tasks, tally.dropped
    if side.families and side.effective_tasks < ENOUGH_TASKS:
        yield DesignRemark(code="few-families", message=describe_sample_worth(side, tasks))
    elif tasks == 1:
        yield DesignRemark(code="one-task", message="Only 1 task is scored on both sides, so nothing says how other tasks would differ.")
    elif tasks < ENOUGH_TASKS:
        yield DesignRemark(
            code="few-tasks", message=f"Only {tasks} tasks are scored on both sides; a verdict needs at least {ENOUGH_TASKS}."
        )
    elif side.effective_tasks < ENOUGH_TASKS:
        yield DesignRemark(code="few-tasks", message=describe_sample_worth(side, tasks))
    if dropped:
        noun = "task is" if dropped == 1 else "tasks are"
        message = f"{dropped} {noun} not scored on both sides and excluded from ED ({tasks} remain)."
        yield DesignRemark(code="tasks-dropped", message=message)


def remark_contexts(subject: str, contexts: int, *, templates: bool = False) -> Iterator[DesignRemark]:
    """Yield that *subject*, such as `The test side`, has too few contexts for a verdict that takes them as a sample.

    With *templates* it is these that are counted.
    """
    unit = "template" if templates else "context"
    if contexts == 1:
        message = f"{subject} has only 1 {unit}, so nothing says how others of its kind would differ."
        yield DesignRemark(code="one-template" if templates else "one-context", message=message)
    elif contexts < ENOUGH_CONTEXTS:
        vacuous = "; with 2 the interval is nearly vacuous" if contexts == 2 else ""
        drawn = "contexts from random templates" if templates else "random contexts"
        message = f"{subject} has only {contexts} {unit}s; a verdict with {drawn} needs at least {ENOUGH_CONTEXTS}{vacuous}."
        yield DesignRemark(code="few-templates" if templates else "few-contexts", message=message)


def _remark_exclusions(tally: DesignCounts) -> Iterator[DesignRemark]:
    all_test, all_deploy = tally.scored_test + tally.excluded_test, tally.scored_deploy + tally.excluded_deploy
    # Cross-multiplied: equal rates are equal exactly.
    if tally.excluded_test * all_deploy != tally.excluded_deploy * all_test:
        message = (
            f"The sides lost responses at different rates: {tally.excluded_test} of {all_test} on the test side, "
            f"{tally.excluded_deploy} of {all_deploy} on the deployment side."
        )
        yield DesignRemark(code="unequal-exclusions", message=message)


def _remark_variance(name: str, side: SideMoments, *, random: bool) -> Iterator[DesignRemark]:
    parts = side.parts(random=random)
    if parts is not None and total_variance(parts) <= ZERO_VARIANCE:
        unit = "families" if side.families else "tasks"
        message = f"The {name} side shows no variation over its {side.tasks} {unit}; its interval counts {unit}, not responses."
        yield DesignRemark(code="zero-variance", message=message)


# How much more data would resolve an inconclusive interval, computed from the record of an estimate
# without its score table.
#
# Closed-form intervals use `audit.statistics.detectable_effect`. Guaranteed intervals are computed
# again at the larger size. A confidence sequence is extended. These sizes suffice if the point
# estimates stay where they are; since they will move, `predict_chance` says how often a size would
# suffice. All of it assumes that new tasks and contexts vary as the present ones do.

_MOST_CLUSTERS = 10_000
_MOST_STEPS = 1_000_000

LIKELY = 2 / 3
"""The chance that the larger of two sizes is chosen for."""
_DRAWS, _SEED, _HALVINGS, _NARROWEST = 20_000, 2611, 20, 1 / 64


def resolve_difference(estimate: Estimate, spec: SpecEstimate, *, boundary: float) -> ExtraSample | None:
    """Return the contexts and tasks that would keep the interval of ED off *boundary*, if the point stays; None if none would.

    Raises:
        ValueError: the record has no variance.
    """
    grounds = parse_grounds(estimate, spec)
    width = ScoreScale(low=estimate.range[0], high=estimate.range[1]).width
    moments, goal = grounds.moments, boundary / width
    match grounds.method:
        case IntervalMethod.CLOSED_FORM:
            parts = _merge_overlap(moments.parts(), (moments.test, moments.deploy))
            extra = _shrink(parts, spec.ed, boundary=boundary, width=width, level=estimate.level)
            return None if extra is None else _count_tasks(extra, moments.test)
        case IntervalMethod.GUARANTEED:
            return _grow(grounds, lambda larger: find_difference(larger, level=estimate.level), goal=goal)
        case IntervalMethod.ANYTIME:
            # The sequence runs over (d + 1)/2 instead of d, so its variance is a quarter of that of d.
            variance = None if moments.difference_variance is None else moments.difference_variance * moments.test.tasks / 4
            course = _SequenceForecast(
                tasks=moments.test.tasks, point=(moments.difference + 1) / 2, variance=variance, level=estimate.level
            )
            return _extend(grounds.sequences.ed, course, goal=(goal + 1) / 2)


def resolve_deploy(estimate: Estimate, spec: SpecEstimate, *, theta: float) -> ExtraSample | None:
    """Return the contexts and tasks that would keep the interval of Φ_deploy off *theta*, if the point stays; None if none would.

    Raises:
        ValueError: the record has no variance.
    """
    grounds = parse_grounds(estimate, spec)
    scale = ScoreScale(low=estimate.range[0], high=estimate.range[1])
    moments, goal = grounds.moments, scale.shrink_one(theta)
    side = moments.deploy
    match grounds.method:
        case IntervalMethod.CLOSED_FORM:
            parts = _merge_overlap(side.parts(random=moments.random), (side,))
            extra = _shrink(parts, spec.phi_deploy, boundary=theta, width=scale.width, level=estimate.level)
            return None if extra is None else _count_tasks(extra, side)
        case IntervalMethod.GUARANTEED:
            return _grow(grounds, lambda larger: find_sides(larger, level=estimate.level)[1], goal=goal)
        case IntervalMethod.ANYTIME:
            variance = None if side.task_variance is None else side.task_variance * side.tasks
            course = _SequenceForecast(tasks=side.tasks, point=side.mean, variance=variance, level=estimate.level)
            return _extend(grounds.sequences.phi_deploy, course, goal=goal)


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentPrecision:
    """The quantity that is to be resolved, as it is now, in the unit of the score."""

    point: float
    error: float
    """Standard error."""
    df: float


def find_present(estimate: Estimate, spec: SpecEstimate, *, difference: bool) -> PresentPrecision | None:
    """Return ED, or Φ_deploy, with its standard error; None where it has none.

    Raises:
        ValueError: the record has no variance.
    """
    moments = parse_grounds(estimate, spec).moments
    parts = moments.parts() if difference else moments.deploy.parts(random=moments.random)
    if parts is None or total_variance(parts) <= 0:
        return None
    width = ScoreScale(low=estimate.range[0], high=estimate.range[1]).width
    point = spec.ed.value if difference else spec.phi_deploy.value
    return PresentPrecision(point=point, error=width * math.sqrt(total_variance(parts)), df=satterthwaite_df(parts))


def predict_chance(present: PresentPrecision, boundaries: Sequence[float], *, half_width: float) -> float:
    """Return the share of new replays with an interval of this half-width that excludes every boundary; by simulation, seeded.

    The truth is sampled about the present point (t, present standard error), the new point about the truth (normal, half the half-width).
    """
    away, chance = _draw(present.df)
    truth = present.point + present.error * away
    point = truth + half_width / 2 * chance
    return float(np.mean(np.all([np.abs(point - boundary) > half_width for boundary in boundaries], axis=0)))


@lru_cache(maxsize=8)
def _draw(df: float) -> tuple[Floats, Floats]:
    """Draw from t and from the normal distribution, in units of their scales."""
    # A search over half-widths uses one df many times, and drawing takes most of the time.
    rng = np.random.default_rng(_SEED)
    drawn = rng.standard_t(df, _DRAWS), rng.standard_normal(_DRAWS)
    for numbers in drawn:
        # The cache returns the same arrays to every caller.
        numbers.setflags(write=False)
    return drawn


def find_likely_half_width(present: PresentPrecision, boundaries: Sequence[float]) -> float | None:
    """Return the half-width with which `LIKELY` of new replays leave out every boundary; None where it would be tiny."""
    high = min(abs(boundary - present.point) for boundary in boundaries)
    # 1/64 of the distance to the boundary needs about 4,000 times the data. No size is reported beyond
    # it.
    low = high * _NARROWEST
    if not high:
        return None
    # At `high` the interval reaches the nearest boundary from the present point; a wider one cannot
    # exclude it.
    if predict_chance(present, boundaries, half_width=high) >= LIKELY:
        return high
    if predict_chance(present, boundaries, half_width=low) < LIKELY:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if predict_chance(present, boundaries, half_width=middle) >= LIKELY else (low, middle)
    return low


def _merge_overlap(parts: Sequence[VariancePart] | None, sides: Sequence[SideMoments]) -> tuple[VariancePart, ...] | None:
    """Subtract what tasks and contexts both contain from the contexts, so that each part falls with its own number."""
    if parts is None:
        return None
    contexts = [
        replace(part, variance=max(0.0, part.variance - side.residual_variance)) for part, side in zip(parts[1:], sides, strict=False)
    ]
    return (parts[0], *contexts)


def _shrink(
    parts: Sequence[VariancePart] | None, now: BoundedEstimate | Differential, *, boundary: float, width: float, level: float
) -> ExtraSample | None:
    if parts is None or now.low is None or now.high is None:
        return None
    reach = now.high - now.value if boundary > now.value else now.value - now.low
    needed = abs(boundary - now.value) / width
    return sample_size_to_resolve(parts[0], parts[1:], half_width_now=reach / width, half_width_needed=needed, level=level)


def _count_tasks(extra: ExtraSample, side: SideMoments) -> ExtraSample:
    """Effective tasks as tasks whose weights are like the present ones."""
    return extra if side.kish is None else replace(extra, tasks=math.ceil(extra.tasks * side.tasks / side.kish))


def _grow(grounds: IntervalBasis, find: Callable[[IntervalBasis], ConfidenceLimits | None], *, goal: float) -> ExtraSample | None:
    """So many tasks and contexts that each side has n clusters, for the smallest n that suffices."""
    moments = grounds.moments
    sides = (moments.test, moments.deploy)
    if find(grounds) is None:
        return None
    # The exact limits of a guaranteed interval depend on the number of clusters through no formula that
    # could be solved, so the smallest sufficient number is searched.
    first = math.floor(min(count_clusters(side, random=moments.random) for side in sides))

    def excludes(more: int) -> bool:
        limits = find(_enlarge(grounds, first + more))
        return limits is not None and not limits.low <= goal <= limits.high

    more = find_first(excludes, _MOST_CLUSTERS)
    if more is None:
        return None
    larger = _enlarge(grounds, first + more).moments
    contexts = max(larger.test.contexts - moments.test.contexts, larger.deploy.contexts - moments.deploy.contexts)
    return ExtraSample(contexts=contexts, tasks=larger.test.tasks - moments.test.tasks)


def _enlarge(grounds: IntervalBasis, clusters: int) -> IntervalBasis:
    """The same with at least so many clusters on each side, each part of the variance falling as the number it rests on grows."""
    moments = grounds.moments
    test, deploy = (_enlarge_side(side, clusters, random=moments.random) for side in (moments.test, moments.deploy))
    share = moments.test.tasks / test.tasks
    difference, covariance = (None if part is None else part * share for part in (moments.difference_variance, moments.covariance))
    return replace(grounds, moments=replace(moments, test=test, deploy=deploy, difference_variance=difference, covariance=covariance))


def _enlarge_side(side: SideMoments, clusters: int, *, random: bool) -> SideMoments:
    tasks = max(side.tasks, math.ceil(clusters * side.tasks / side.effective_tasks))
    contexts = max(side.contexts, clusters) if random else side.contexts
    return replace(
        side,
        tasks=tasks,
        contexts=contexts,
        responses=math.ceil(side.responses * tasks / side.tasks * contexts / side.contexts),
        kish=None if side.kish is None else side.kish * tasks / side.tasks,
        task_variance=None if side.task_variance is None else side.task_variance * side.tasks / tasks,
        context_variance=None if side.context_variance is None else side.context_variance * side.contexts / contexts,
        residual_variance=side.residual_variance * side.tasks / tasks * side.contexts / contexts,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SequenceForecast:
    """How a sequence is taken to go on: values of this variance about the point."""

    tasks: int
    point: float
    variance: float | None
    level: float


def _extend(sequence: ConfidenceSequence, course: _SequenceForecast, *, goal: float) -> ExtraSample | None:
    variance = course.variance
    if variance is None:
        return None

    def excludes(more: int) -> bool:
        longer = extend_sequence(sequence, taken=course.tasks, more=more, point=course.point, variance=variance, level=course.level)
        limits = sequence_limits(longer, level=course.level)
        return not min(limits.low, course.point) <= goal <= max(limits.high, course.point)

    more = find_first(excludes, _MOST_STEPS)
    return None if more is None else ExtraSample(contexts=0, tasks=more)
