"""Moments become the intervals of a record, and a record's numbers become moments again.

So an estimate can be read at another level (Holm), against another threshold, or for a larger design, without its table.
"""

from dataclasses import dataclass, replace

import numpy as np

from audit.statistics.difference import difference_interval, find_side_intervals
from audit.statistics.equivalence import difference_p, equivalence_p, is_equivalent
from audit.statistics.moments import Moments, SideMoments
from audit.statistics.power import Extra, minimum_detectable, sample_size_to_resolve
from audit.statistics.proportion import Limits, SideInterval, side_interval
from audit.statistics.scores import Floats
from registry.records.estimate import Bounded, Differential, Equivalence, Estimate, Range, SpecEstimate, Variance
from registry.records.plan import ContextDesign

METHOD = "closed-form/1"
"""Name and version of the interval design of statistics.md section 2."""

_HALVINGS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The range of a score, and the way to [0, 1] and back; [0, 1] itself is mapped without rounding."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Highest less lowest score."""
        return self.high - self.low

    def shrink(self, scores: Floats) -> Floats:
        """Return scores mapped to [0, 1]; NaN stays."""
        # Rounding may put the highest score a bit beyond 1.
        return np.clip((scores - self.low) / self.width, 0.0, 1.0)

    def shrink_one(self, score: float) -> float:
        """Return one value mapped; values outside the range are allowed."""
        return (score - self.low) / self.width

    def stretch(self, mean: float) -> float:
        """Return a mean in [0, 1] in the unit of the score."""
        # Rounding may put the highest mean a bit beyond the range.
        return min(self.high, self.low + self.width * mean)

    def stretch_difference(self, difference: float) -> float:
        """Return a difference or a spread in the unit of the score."""
        return self.width * difference

    def stretch_limits(self, limits: Limits) -> Range:
        """Return the limits of a difference in the unit of the score."""
        return Range(low=self.stretch_difference(limits.low), high=self.stretch_difference(limits.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Everything of a specification's estimate that depends on the level."""

    phi_test: Bounded
    phi_deploy: Bounded
    ed: Differential
    equivalence: Equivalence
    minimum_detectable: float | None
    p_ed: float | None


def build_intervals(moments: Moments, scale: Scale, *, level: float, margin: float, contexts: ContextDesign) -> Intervals:
    """Return means, ED and what is tested about it, in the unit of the score."""
    test, deploy = find_side_intervals(moments, level=level)
    interval = difference_interval(moments, level=level)
    parts = moments.parts()
    detectable = None if parts is None else minimum_detectable(parts, level=level, banerjee=moments.banerjee)
    band = None if interval is None else scale.stretch_limits(interval)
    sides = moments.random
    return Intervals(
        phi_test=_bound(moments.test, test, scale, random=sides),
        phi_deploy=_bound(moments.deploy, deploy, scale, random=sides),
        ed=Differential(
            value=scale.stretch_difference(moments.difference),
            low=None if band is None else band.low,
            high=None if band is None else band.high,
            method=_name_method(moments, contexts),
            reason=None if band is not None else _explain(moments),
        ),
        equivalence=Equivalence(
            p=equivalence_p(moments, margin=margin / scale.width),
            equivalent=band is not None and is_equivalent(Limits(low=band.low, high=band.high), margin=margin),
        ),
        minimum_detectable=None if detectable is None else scale.stretch_difference(detectable),
        p_ed=difference_p(moments),
    )


def build_variance(moments: Moments, scale: Scale) -> Variance:
    """Return the parts of the variance in squared units of the score."""
    unit = scale.width**2

    def stretch(variance: float | None) -> float | None:
        return None if variance is None else variance * unit

    return Variance(
        difference_task=stretch(moments.difference_variance),
        covariance_task=stretch(moments.covariance),
        test_task=stretch(moments.test.task_variance),
        deploy_task=stretch(moments.deploy.task_variance),
        test_context=stretch(moments.test.context_variance),
        deploy_context=stretch(moments.deploy.context_variance),
        binary=moments.binary,
    )


def parse_moments(estimate: Estimate, spec: SpecEstimate) -> Moments:
    """Return the moments, scores mapped to [0, 1], that *spec* of *estimate* was made from.

    Raises:
        ValueError: the record has no variance, so it was not made from a score table.
    """
    variance = spec.variance
    if variance is None:
        raise ValueError(f"the estimate for specification {spec.spec!r} carries no variance")
    scale = Scale(low=estimate.range[0], high=estimate.range[1])
    unit = scale.width**2

    def shrink(part: float | None) -> float | None:
        return None if part is None else part / unit

    def side(phi: Bounded, *, contexts: int, responses: int, task: float | None, context: float | None) -> SideMoments:
        return SideMoments(
            mean=scale.shrink_one(phi.value),
            tasks=spec.n.tasks,
            contexts=contexts,
            responses=responses,
            task_variance=shrink(task),
            context_variance=shrink(context),
        )

    n, v = spec.n, variance
    return Moments(
        test=side(spec.phi_test, contexts=n.contexts_test, responses=n.responses_test, task=v.test_task, context=v.test_context),
        deploy=side(
            spec.phi_deploy, contexts=n.contexts_deploy, responses=n.responses_deploy, task=v.deploy_task, context=v.deploy_context
        ),
        random=ContextDesign(estimate.contexts) is ContextDesign.RANDOM,
        binary=v.binary,
        difference_variance=shrink(v.difference_task),
        covariance=shrink(v.covariance_task),
    )


def relevel(estimate: Estimate, spec: SpecEstimate, *, level: float) -> SpecEstimate:
    """Return *spec* of *estimate* with all intervals, `equivalent` and the minimum detectable ED at another level.

    Raises:
        ValueError: the record has no variance, or *level* does not lie between 0 and 1.
    """
    moments = parse_moments(estimate, spec)
    scale = Scale(low=estimate.range[0], high=estimate.range[1])
    intervals = build_intervals(moments, scale, level=level, margin=estimate.margin, contexts=ContextDesign(estimate.contexts))
    # Points stay as they are: mapping there and back may cost a bit.
    return replace(
        spec,
        phi_test=replace(intervals.phi_test, value=spec.phi_test.value),
        phi_deploy=replace(intervals.phi_deploy, value=spec.phi_deploy.value),
        ed=replace(intervals.ed, value=spec.ed.value),
        equivalence=intervals.equivalence,
        minimum_detectable_ed=intervals.minimum_detectable,
    )


def deploy_p(estimate: Estimate, spec: SpecEstimate, *, theta: float, above: bool) -> float | None:
    """Return the one-sided p of "Φ_deploy lies above θ" (below, if not *above*), by inversion of Φ_deploy's own interval.

    It is the p at which the reported interval just leaves θ: below (1 − level)/2 exactly when the interval at *level* lies beyond θ.
    0.5 or more is returned as 1.0: the point itself is not beyond θ. None when Φ_deploy has no interval.

    Raises:
        ValueError: the record has no variance.
    """
    moments = parse_moments(estimate, spec)
    goal = Scale(low=estimate.range[0], high=estimate.range[1]).shrink_one(theta)

    def find(level: float) -> SideInterval | None:
        return side_interval(moments.deploy, random=moments.random, banerjee=moments.banerjee, binary=moments.binary, level=level)

    if find(0.5) is None:
        return None

    def excludes(p: float) -> bool:
        interval = find(1 - 2 * p)
        return interval is not None and (interval.hull.low > goal if above else interval.hull.high < goal)

    low, high = np.log(1e-15), np.log(0.499)
    if not excludes(float(np.exp(high))):
        return 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if excludes(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))


def resolve_difference(estimate: Estimate, spec: SpecEstimate, *, boundary: float) -> Extra | None:
    """Return the contexts and tasks that would keep the interval of ED off *boundary*, if the point stays; None if none would.

    Raises:
        ValueError: the record has no variance.
    """
    moments = parse_moments(estimate, spec)
    parts = moments.parts()
    if parts is None or spec.ed.low is None or spec.ed.high is None:
        return None
    width = Scale(low=estimate.range[0], high=estimate.range[1]).width
    now = spec.ed.high - spec.ed.value if boundary > spec.ed.value else spec.ed.value - spec.ed.low
    return sample_size_to_resolve(
        parts[0],
        parts[1:],
        half_width_now=now / width,
        half_width_needed=abs(boundary - spec.ed.value) / width,
        level=estimate.level,
    )


def resolve_deploy(estimate: Estimate, spec: SpecEstimate, *, theta: float) -> Extra | None:
    """Return the contexts and tasks that would keep the interval of Φ_deploy off *theta*, if the point stays; None if none would.

    Raises:
        ValueError: the record has no variance.
    """
    moments = parse_moments(estimate, spec)
    parts, phi = moments.deploy.parts(random=moments.random), spec.phi_deploy
    if parts is None or phi.low is None or phi.high is None:
        return None
    width = Scale(low=estimate.range[0], high=estimate.range[1]).width
    now = phi.high - phi.value if theta > phi.value else phi.value - phi.low
    return sample_size_to_resolve(
        parts[0], parts[1:], half_width_now=now / width, half_width_needed=abs(theta - phi.value) / width, level=estimate.level
    )


def _bound(side: SideMoments, interval: SideInterval | None, scale: Scale, *, random: bool) -> Bounded:
    value = scale.stretch(side.mean)
    if interval is None:
        return Bounded(value=value, low=None, high=None, reason=_explain_side(side, random=random))
    return Bounded(value=value, low=scale.stretch(interval.hull.low), high=scale.stretch(interval.hull.high))


def _explain_side(side: SideMoments, *, random: bool) -> str:
    if side.tasks < 2:
        return "one task: nothing says how tasks vary"
    return "one context: nothing says how contexts vary" if random and side.contexts < 2 else "no variance"


def _explain(moments: Moments) -> str:
    if moments.test.tasks < 2:
        return "one task: nothing says how tasks vary"
    side = "test" if moments.test.contexts < 2 else "deployment"
    return f"one context on the {side} side: nothing says how contexts vary"


def _name_method(moments: Moments, contexts: ContextDesign) -> str:
    if contexts is ContextDesign.RANDOM:
        form = "Banerjee" if moments.banerjee else "Satterthwaite"
        return f"{METHOD}: tasks and random contexts crossed, {form} t, hull with MOVER"
    what = "conditional on these contexts" if contexts is ContextDesign.FIXED else "contexts nested in tasks"
    return f"{METHOD}: tasks, {what}, t, hull with MOVER"
