"""Moments become the intervals of an estimate's record, and the record's numbers become moments again."""

from dataclasses import dataclass, replace

import numpy as np

from audit.statistics.intervals import (
    IntervalBasis,
    find_detectable,
    find_difference,
    find_equivalence_p,
    find_sides,
    find_zero_p,
)
from audit.statistics.mean_intervals import ConfidenceLimits, is_equivalent
from audit.statistics.responses import Floats
from audit.statistics.side_moments import Moments, SideMoments
from registry.records.analysis_plan import ContextDesign, IntervalMethod
from registry.records.estimates import BoundedEstimate, Differential, Equivalence, Estimate, ScoreRange, SpecEstimate, Variance

METHOD = "closed-form/3"
"""Name and version of the interval design of statistics.md section 2."""

GUARANTEED = "guaranteed/2"
"""Name and version of the guaranteed mode (`audit.statistics.mean_intervals`)."""

ANYTIME = "anytime/1"
"""Name and version of the confidence sequence (`audit.statistics.mean_intervals`)."""

_FLAT = "no variance: the difference is the same in all tasks and contexts, so no test statistic exists"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreScale:
    """The range of a score, and the way to [0, 1] and back; [0, 1] itself is mapped without rounding."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Highest less lowest score."""
        return self.high - self.low

    def shrink(self, scores: Floats) -> Floats:
        """Return scores mapped to [0, 1]; NaN stays."""
        # Rounding may put the highest score slightly above 1.
        return np.clip((scores - self.low) / self.width, 0.0, 1.0)

    def shrink_one(self, score: float) -> float:
        """Return one value mapped; values outside the range are allowed."""
        return (score - self.low) / self.width

    def stretch(self, mean: float) -> float:
        """Return a mean in [0, 1] in the unit of the score."""
        # Rounding may put the highest mean slightly beyond the range.
        return min(self.high, self.low + self.width * mean)

    def stretch_difference(self, difference: float) -> float:
        """Return a difference or a spread in the unit of the score."""
        return self.width * difference

    def stretch_limits(self, limits: ConfidenceLimits) -> ScoreRange:
        """Return the limits of a difference in the unit of the score."""
        return ScoreRange(low=self.stretch_difference(limits.low), high=self.stretch_difference(limits.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateIntervals:
    """Everything of a specification's estimate that depends on the level."""

    phi_test: BoundedEstimate
    phi_deploy: BoundedEstimate
    ed: Differential
    equivalence: Equivalence
    minimum_detectable: float | None
    p_ed: float | None
    undefined: str | None
    """Why a p or the minimum detectable ED is None; None when all are given."""


def build_intervals(
    grounds: IntervalBasis, scale: ScoreScale, *, level: float, margin: float, contexts: ContextDesign
) -> EstimateIntervals:
    """Return means, ED and what is tested about it, in the unit of the score."""
    moments = grounds.moments
    test, deploy = find_sides(grounds, level=level)
    interval = find_difference(grounds, level=level)
    detectable = find_detectable(grounds, level=level)
    band = None if interval is None else scale.stretch_limits(interval)
    # `equivalent` is read off the reported interval and not off p: the hull is the wider statement.
    tested = find_equivalence_p(grounds, margin=margin / scale.width), find_zero_p(grounds)
    absent = detectable is None or None in tested
    return EstimateIntervals(
        phi_test=_bound(moments.test, test, scale, random=moments.random),
        phi_deploy=_bound(moments.deploy, deploy, scale, random=moments.random),
        ed=Differential(
            value=scale.stretch_difference(moments.difference),
            low=None if band is None else band.low,
            high=None if band is None else band.high,
            method=_name_method(grounds, contexts),
            reason=None if band is not None else _explain(moments),
        ),
        equivalence=Equivalence(
            p=tested[0],
            equivalent=band is not None and is_equivalent(ConfidenceLimits(low=band.low, high=band.high), margin=margin),
        ),
        minimum_detectable=None if detectable is None else scale.stretch_difference(detectable),
        p_ed=tested[1],
        undefined=(_explain(moments) if band is None else _FLAT) if absent else None,
    )


def build_variance(moments: Moments, scale: ScoreScale) -> Variance:
    """Return the parts of the variance in squared units of the score."""
    unit = scale.width**2

    def stretch(variance: float | None) -> float | None:
        return None if variance is None else variance * unit

    # The parts are recorded so that other levels (Holm), p-values and sample sizes need no score table.
    # That costs seven more numbers per specification.
    return Variance(
        difference_task=stretch(moments.difference_variance),
        covariance_task=stretch(moments.covariance),
        test_task=stretch(moments.test.task_variance),
        deploy_task=stretch(moments.deploy.task_variance),
        test_context=stretch(moments.test.context_variance),
        deploy_context=stretch(moments.deploy.context_variance),
        binary=moments.binary,
        test_spread=stretch(moments.test.spread),
        deploy_spread=stretch(moments.deploy.spread),
        test_residual=moments.test.residual_variance * unit,
        deploy_residual=moments.deploy.residual_variance * unit,
    )


def parse_moments(estimate: Estimate, spec: SpecEstimate) -> Moments:
    """Return the moments, scores mapped to [0, 1], that *spec* of *estimate* was made from.

    Raises:
        ValueError: the record has no variance, so it was not made from a score table.
    """
    variance = spec.variance
    if variance is None:
        raise ValueError(f"the estimate for specification {spec.spec!r} carries no variance")
    scale = ScoreScale(low=estimate.range[0], high=estimate.range[1])
    # Records hold the unit of the score; all methods work in [0, 1].
    unit = scale.width**2

    def shrink(part: float | None) -> float | None:
        return None if part is None else part / unit

    def side(phi: BoundedEstimate, *, contexts: int, responses: int, variances: tuple[float | None, ...], residual: float) -> SideMoments:
        task, context, spread = map(shrink, variances)
        return SideMoments(
            mean=scale.shrink_one(phi.value),
            tasks=spec.n.task_clusters,
            families=spec.n.families is not None,
            templates=spec.n.templates_deploy is not None,
            kish=spec.n.effective_tasks,
            contexts=contexts,
            responses=responses,
            task_variance=task,
            context_variance=context,
            residual_variance=residual / unit,
            spread=spread,
        )

    n, v = spec.n, variance
    test, deploy = (v.test_task, v.test_context, v.test_spread), (v.deploy_task, v.deploy_context, v.deploy_spread)
    return Moments(
        test=side(spec.phi_test, contexts=n.test_clusters, responses=n.responses_test, variances=test, residual=v.test_residual),
        deploy=side(
            spec.phi_deploy, contexts=n.deploy_clusters, responses=n.responses_deploy, variances=deploy, residual=v.deploy_residual
        ),
        random=ContextDesign(estimate.contexts) is ContextDesign.RANDOM,
        binary=v.binary,
        difference_variance=shrink(v.difference_task),
        covariance=shrink(v.covariance_task),
    )


def parse_grounds(estimate: Estimate, spec: SpecEstimate) -> IntervalBasis:
    """Return what the intervals of *spec* of *estimate* were made from.

    Raises:
        ValueError: the record has no variance.
    """
    return IntervalBasis(moments=parse_moments(estimate, spec), method=IntervalMethod(estimate.interval), sequence=spec.sequence)


def relevel(estimate: Estimate, spec: SpecEstimate, *, level: float) -> SpecEstimate:
    """Return *spec* of *estimate* with all intervals, `equivalent` and the minimum detectable ED at another level.

    Raises:
        ValueError: the record has no variance, or *level* does not lie between 0 and 1.
    """
    grounds = parse_grounds(estimate, spec)
    scale = ScoreScale(low=estimate.range[0], high=estimate.range[1])
    intervals = build_intervals(grounds, scale, level=level, margin=estimate.margin, contexts=ContextDesign(estimate.contexts))
    # Point estimates are copied, because mapping to [0, 1] and back may change the last bit.
    return replace(
        spec,
        phi_test=replace(intervals.phi_test, value=spec.phi_test.value),
        phi_deploy=replace(intervals.phi_deploy, value=spec.phi_deploy.value),
        ed=replace(intervals.ed, value=spec.ed.value),
        equivalence=intervals.equivalence,
        minimum_detectable_ed=intervals.minimum_detectable,
        # The floor needs the score table, so it exists only at the estimate's own level.
        detectable_floor=spec.detectable_floor if level == estimate.level else None,
    )


def _bound(side: SideMoments, interval: ConfidenceLimits | None, scale: ScoreScale, *, random: bool) -> BoundedEstimate:
    value = scale.stretch(side.mean)
    if interval is None:
        # A value without an interval always carries the reason.
        return BoundedEstimate(value=value, low=None, high=None, reason=_explain_side(side, random=random))
    return BoundedEstimate(value=value, low=scale.stretch(interval.low), high=scale.stretch(interval.high))


def _explain_side(side: SideMoments, *, random: bool) -> str:
    thin = explain_tasks(side)
    if thin is not None:
        return thin
    return explain_contexts(side) if random and side.contexts < 2 else "no variance"


def explain_contexts(side: SideMoments, place: str = "") -> str:
    """Return why the one context, or template, of a side does not say how others vary; *place* is such as ` on the test side`."""
    unit = "template" if side.templates else "context"
    return f"one {unit}{place}: nothing says how {unit}s vary"


def explain_tasks(side: SideMoments) -> str | None:
    """Return why the tasks do not say how tasks vary; None when they do."""
    if side.tasks < 2:
        return "one family of tasks: nothing says how families vary" if side.families else "one task: nothing says how tasks vary"
    # With a Kish number below 2 the linearised variance has less than one degree of freedom.
    if side.effective_tasks < 2:
        text, units = ("sizes of the families", "families") if side.families else ("weights", "tasks")
        return f"the {text} leave {side.effective_tasks:.2f} effective {units}: nothing says how {units} vary"
    return None


def _explain(moments: Moments) -> str:
    # Tasks come first: without a task part no context would help.
    thin = explain_tasks(moments.test)
    if thin is not None:
        return thin
    side, name = (moments.test, "test") if moments.test.contexts < 2 else (moments.deploy, "deployment")
    return explain_contexts(side, f" on the {name} side")


def _name_method(grounds: IntervalBasis, contexts: ContextDesign) -> str:
    match grounds.method:
        case IntervalMethod.CLOSED_FORM:
            return _name_closed_form(grounds.moments, contexts)
        case IntervalMethod.GUARANTEED:
            tasks, drawn = name_units(grounds.moments)
            clusters = f"min({tasks}, {drawn})" if contexts is ContextDesign.RANDOM else tasks
            conditional = ", conditional on these contexts" if contexts is ContextDesign.FIXED else ""
            return f"{GUARANTEED}: exact limits at {clusters} a side{conditional}, joined by Bonferroni's inequality, hull with t"
        case IntervalMethod.ANYTIME:
            tasks, _ = name_units(grounds.moments)
            return f"{ANYTIME}: empirical-Bernstein confidence sequence over {tasks} in the seeded order; may be stopped at any look"


def name_units(moments: Moments) -> tuple[str, str]:
    """Return what counts as independent, of tasks and of contexts, in the plural."""
    return "families" if moments.test.families else "tasks", "templates" if moments.test.templates else "contexts"


def _name_closed_form(moments: Moments, contexts: ContextDesign) -> str:
    tasks, drawn = name_units(moments)
    if contexts is ContextDesign.RANDOM:
        form = "Banerjee" if moments.banerjee else "Satterthwaite"
        return f"{METHOD}: {tasks} and random {drawn} crossed, {form} t, MOVER interval"
    what = "conditional on these contexts" if contexts is ContextDesign.FIXED else f"contexts nested in {tasks}"
    return f"{METHOD}: {tasks}, {what}, t, MOVER interval"
