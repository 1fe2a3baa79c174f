"""How much more would settle what an interval leaves open, read from the record of an estimate alone.

In closed form after `audit.statistics.power`; guaranteed intervals are computed anew at the larger size; a confidence sequence is
walked on. These sizes suffice if the points stay where they are. `predict_chance` says how often they would suffice, since the points
will move. Always: new tasks and contexts vary as the present ones do.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from audit.statistics.guaranteed import count_clusters
from audit.statistics.halfwidth import Part, satterthwaite_df, total_variance
from audit.statistics.intervals import Grounds, find_difference, find_sides
from audit.statistics.moments import SideMoments
from audit.statistics.power import Extra, find_first, sample_size_to_resolve
from audit.statistics.proportion import Limits
from audit.statistics.reading import Scale, parse_grounds
from audit.statistics.scores import Floats
from audit.statistics.sequence import extend_walk, walk_limits
from registry.records.estimate import Bounded, Differential, Estimate, SpecEstimate, Walk
from registry.records.plan import IntervalMethod

_MOST_CLUSTERS = 10_000
_MOST_STEPS = 1_000_000

LIKELY = 2 / 3
"""The chance that the larger of two sizes is chosen for."""
_DRAWS, _SEED, _HALVINGS, _NARROWEST = 20_000, 2611, 20, 1 / 64


def resolve_difference(estimate: Estimate, spec: SpecEstimate, *, boundary: float) -> Extra | None:
    """Return the contexts and tasks that would keep the interval of ED off *boundary*, if the point stays; None if none would.

    Raises:
        ValueError: the record has no variance.
    """
    grounds = parse_grounds(estimate, spec)
    width = Scale(low=estimate.range[0], high=estimate.range[1]).width
    moments, goal = grounds.moments, boundary / width
    match grounds.method:
        case IntervalMethod.CLOSED_FORM:
            parts = _merge_overlap(moments.parts(), (moments.test, moments.deploy))
            extra = _shrink(parts, spec.ed, boundary=boundary, width=width, level=estimate.level)
            return None if extra is None else _count_tasks(extra, moments.test)
        case IntervalMethod.GUARANTEED:
            return _grow(grounds, lambda larger: find_difference(larger, level=estimate.level), goal=goal)
        case IntervalMethod.ANYTIME:
            # A step of the walk is (d + 1)/2, so its variance is a quarter of that of d.
            variance = None if moments.difference_variance is None else moments.difference_variance * moments.test.tasks / 4
            course = _Course(tasks=moments.test.tasks, point=(moments.difference + 1) / 2, variance=variance, level=estimate.level)
            return _walk_on(grounds.walks.ed, course, goal=(goal + 1) / 2)


def resolve_deploy(estimate: Estimate, spec: SpecEstimate, *, theta: float) -> Extra | None:
    """Return the contexts and tasks that would keep the interval of Φ_deploy off *theta*, if the point stays; None if none would.

    Raises:
        ValueError: the record has no variance.
    """
    grounds = parse_grounds(estimate, spec)
    scale = Scale(low=estimate.range[0], high=estimate.range[1])
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
            course = _Course(tasks=side.tasks, point=side.mean, variance=variance, level=estimate.level)
            return _walk_on(grounds.walks.phi_deploy, course, goal=goal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """The quantity that is to be resolved, as it is now, in the unit of the score."""

    point: float
    error: float
    """Standard error."""
    df: float


def find_present(estimate: Estimate, spec: SpecEstimate, *, difference: bool) -> Present | None:
    """Return ED, or Φ_deploy, with its standard error; None where it has none.

    Raises:
        ValueError: the record has no variance.
    """
    moments = parse_grounds(estimate, spec).moments
    parts = moments.parts() if difference else moments.deploy.parts(random=moments.random)
    if parts is None or total_variance(parts) <= 0:
        return None
    width = Scale(low=estimate.range[0], high=estimate.range[1]).width
    point = spec.ed.value if difference else spec.phi_deploy.value
    return Present(point=point, error=width * math.sqrt(total_variance(parts)), df=satterthwaite_df(parts))


def predict_chance(present: Present, boundaries: Sequence[float], *, half_width: float) -> float:
    """Return the share of new replays whose interval, of this half-width, leaves out every boundary; by simulation, seeded.

    The truth is drawn about the present point (t, present standard error), the new point about the truth (normal, half the half-width).
    """
    away, chance = _draw(present.df)
    truth = present.point + present.error * away
    point = truth + half_width / 2 * chance
    return float(np.mean(np.all([np.abs(point - boundary) > half_width for boundary in boundaries], axis=0)))


@lru_cache(maxsize=8)
def _draw(df: float) -> tuple[Floats, Floats]:
    """Draw from t and from the normal distribution, in units of their scales; a search over half-widths asks again and again for one df."""
    rng = np.random.default_rng(_SEED)
    drawn = rng.standard_t(df, _DRAWS), rng.standard_normal(_DRAWS)
    for numbers in drawn:
        numbers.setflags(write=False)
    return drawn


def find_likely_half_width(present: Present, boundaries: Sequence[float]) -> float | None:
    """Return the half-width with which `LIKELY` of new replays leave out every boundary; None where it would be tiny."""
    high = min(abs(boundary - present.point) for boundary in boundaries)
    low = high * _NARROWEST
    if not high:
        return None
    if predict_chance(present, boundaries, half_width=high) >= LIKELY:
        return high
    if predict_chance(present, boundaries, half_width=low) < LIKELY:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if predict_chance(present, boundaries, half_width=middle) >= LIKELY else (low, middle)
    return low


def _merge_overlap(parts: Sequence[Part] | None, sides: Sequence[SideMoments]) -> tuple[Part, ...] | None:
    """Subtract what tasks and contexts both contain from the contexts, so that each part falls with its own number."""
    if parts is None:
        return None
    contexts = [
        replace(part, variance=max(0.0, part.variance - side.residual_variance)) for part, side in zip(parts[1:], sides, strict=False)
    ]
    return (parts[0], *contexts)


def _shrink(parts: Sequence[Part] | None, now: Bounded | Differential, *, boundary: float, width: float, level: float) -> Extra | None:
    if parts is None or now.low is None or now.high is None:
        return None
    reach = now.high - now.value if boundary > now.value else now.value - now.low
    needed = abs(boundary - now.value) / width
    return sample_size_to_resolve(parts[0], parts[1:], half_width_now=reach / width, half_width_needed=needed, level=level)


def _count_tasks(extra: Extra, side: SideMoments) -> Extra:
    """Effective tasks as tasks whose weights are like the present ones."""
    return extra if side.kish is None else replace(extra, tasks=math.ceil(extra.tasks * side.tasks / side.kish))


def _grow(grounds: Grounds, find: Callable[[Grounds], Limits | None], *, goal: float) -> Extra | None:
    """So many tasks and contexts that each side has n clusters, for the smallest n that suffices."""
    moments = grounds.moments
    sides = (moments.test, moments.deploy)
    if find(grounds) is None:
        return None
    first = math.floor(min(count_clusters(side, random=moments.random) for side in sides))

    def excludes(more: int) -> bool:
        limits = find(_enlarge(grounds, first + more))
        return limits is not None and not limits.low <= goal <= limits.high

    more = find_first(excludes, _MOST_CLUSTERS)
    if more is None:
        return None
    larger = _enlarge(grounds, first + more).moments
    contexts = max(larger.test.contexts - moments.test.contexts, larger.deploy.contexts - moments.deploy.contexts)
    return Extra(contexts=contexts, tasks=larger.test.tasks - moments.test.tasks)


def _enlarge(grounds: Grounds, clusters: int) -> Grounds:
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
class _Course:
    """How a walk is taken to go on: values of this variance about the point."""

    tasks: int
    point: float
    variance: float | None
    level: float


def _walk_on(walk: Walk, course: _Course, *, goal: float) -> Extra | None:
    variance = course.variance
    if variance is None:
        return None

    def excludes(more: int) -> bool:
        longer = extend_walk(walk, taken=course.tasks, more=more, point=course.point, variance=variance, level=course.level)
        limits = walk_limits(longer, level=course.level)
        return not min(limits.low, course.point) <= goal <= max(limits.high, course.point)

    more = find_first(excludes, _MOST_STEPS)
    return None if more is None else Extra(contexts=0, tasks=more)
