"""Station 5: a score table becomes the Evaluation Differential ED (method sections 1 and 4)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.errors import DesignError
from audit.modules.score_sides import (
    SidePair,
    build_pairs,
    check_contexts,
    check_range,
    drop_ablations,
    find_arm,
    for_each_judge,
    name_files,
    warn_of_clusters,
)
from audit.statistics.bootstrap import ScoredSide, build_bootstrap
from audit.statistics.design_remarks import DesignCounts, DesignRemark, has_equal_cells, looks_nested, remark_design, remark_size
from audit.statistics.detectable_effect import detectable_floor
from audit.statistics.estimate_intervals import ScoreScale, build_intervals, build_variance
from audit.statistics.intervals import IntervalBasis
from audit.statistics.mean_intervals import build_sequence, order_tasks
from audit.statistics.missing_responses import exclusion_bounds
from audit.statistics.responses import Floats, ScoreTable, find_relative_weights, normalise, pooled_deviation, sum_all
from audit.statistics.side_moments import Cells, Moments, compute_moments, compute_task_means, find_units
from audit.statistics.subset_regression import estimate_from_subset
from registry.errors import CaveatError, Fault
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.estimates import (
    DOUBTFUL,
    Bootstrap,
    ConfidenceSequences,
    Estimate,
    EstimateCounts,
    EstimateWarning,
    NormalisedDifferential,
    Regression,
    ScoreRange,
    SpecEstimate,
    TaskDifferential,
)


@for_each_judge
def estimate(
    table: ScoreTable,
    plan: Plan,
    *,
    range_: tuple[float, float],
    test: str = "test",
    deploy: str = "deploy",
    pointwise: bool = False,
) -> Estimate:
    """Return the estimate of *table* against every specification of P_deploy in it.

    Rows of the test arm are shared by all specifications; specifications come in the order of their names, the bits of the
    result do not depend on the order of the rows. Rows of other arms, and rows with a cue taken out of the context, are excluded,
    with a warning.

    Args:
        table: checked scores.
        plan: margin, level, ε, what contexts are and how intervals are made; None in it means the default for *range_*.
        range_: lowest and highest possible score.
        test: name of the test-like arm.
        deploy: name of the deployment-continuous arm.
        pointwise: whether ED(τ) of every common task is given too.

    Raises:
        DesignError: a side is missing, the sides share no task, weights are no weights, or the contexts contradict the plan.
    """
    table, ablated = drop_ablations(table)
    # All statistics work in [0, 1]; the range of the score is applied when the record is built.
    scale = ScoreScale(low=float(range_[0]), high=float(range_[1]))
    check_range(table, scale)
    test_rows = find_arm(table, test, deploy)
    pairs = build_pairs(table, scale, test_rows, test=test, deploy=deploy)
    # A declared design that the table contradicts would give intervals for another question, so it is
    # refused.
    check_contexts(table, pairs, plan, test=test, deploy=deploy)
    _check_method(table, pairs, plan)
    # Defaults are filled in once, so that the record states what was used: ε 1 % and margin 5 % of the
    # range.
    epsilon, margin = plan.epsilon_on(scale.width), plan.margin_on(scale.width)
    filled = replace(plan, margin=margin, epsilon=epsilon)
    results = [_estimate_spec(pair, filled, scale, pointwise=pointwise) for pair in pairs]
    # A conclusion for fixed contexts holds for these contexts only, so the record names them.
    named = _name_contexts(table, pairs) if plan.contexts is ContextDesign.FIXED else [()] * len(pairs)
    return Estimate(
        margin=margin,
        level=plan.level,
        epsilon=epsilon,
        range=(scale.low, scale.high),
        seed=plan.seed,
        contexts=plan.contexts.value,
        interval=plan.interval.value,
        replicates=plan.replicates,
        specs=tuple(replace(result, fixed_contexts=names) for (result, _), names in zip(results, named, strict=True)),
        warnings=(
            *_warn_other_rows(table, test, deploy, ablated=ablated),
            *warn_of_clusters(table, (test, deploy)),
            *(warning for _, warnings in results for warning in warnings),
        ),
    )


def _estimate_spec(pair: SidePair, plan: Plan, scale: ScoreScale, *, pointwise: bool) -> tuple[SpecEstimate, list[EstimateWarning]]:
    scored_test, scored_deploy = pair.test.scored().score, pair.deploy.scored().score
    moments = compute_moments(
        pair.test_cells,
        pair.deploy_cells,
        pair.common,
        random=plan.contexts is ContextDesign.RANDOM,
        binary=_is_binary(scored_test) and _is_binary(scored_deploy),
        weights=pair.weights,
    )
    tally = _count(pair, scored_test=len(scored_test), scored_deploy=len(scored_deploy))
    # With equal cells the pooled ED over responses is the same number and is not repeated.
    is_repeated = all(has_equal_cells(cells, dropped=tally.dropped) for cells in (pair.test_cells, pair.deploy_cells))
    pooled = None if is_repeated else _pool(pair.test_cells, pair) - _pool(pair.deploy_cells, pair)
    deviation = pooled_deviation(scored_test, scored_deploy)
    ned = _normalise(moments.difference, deviation, epsilon=plan.epsilon_on(scale.width) / scale.width)
    # Bounds over all responses, because excluding failures must not hide them.
    bounds = exclusion_bounds(pair.test, pair.deploy, tasks=len(pair.labels), weights=pair.weights)
    # The last state of the sequence is enough to compute any level without the table.
    sequence = _build_sequence(pair, plan) if plan.interval is IntervalMethod.ANYTIME else None
    grounds = IntervalBasis(moments=moments, method=plan.interval, sequence=sequence)
    intervals = build_intervals(grounds, scale, level=plan.level, margin=plan.margin_on(scale.width), contexts=plan.contexts)
    result = SpecEstimate(
        spec=pair.spec,
        phi_test=intervals.phi_test,
        phi_deploy=intervals.phi_deploy,
        ed=intervals.ed,
        ned=ned,
        sigma_pool=None if deviation is None else scale.stretch_difference(deviation),
        equivalence=intervals.equivalence,
        minimum_detectable_ed=intervals.minimum_detectable,
        detectable_floor=_find_floor(pair, moments, plan, scale),
        n=EstimateCounts(
            tasks=tally.tasks,
            families=moments.test.tasks if moments.test.families else None,
            contexts_test=_count_contexts(pair.test_cells, pair),
            contexts_deploy=_count_contexts(pair.deploy_cells, pair),
            templates_test=moments.test.contexts if moments.test.templates else None,
            templates_deploy=moments.deploy.contexts if moments.deploy.templates else None,
            unnamed=pair.unnamed,
            responses_test=moments.test.responses,
            responses_deploy=moments.deploy.responses,
            excluded_test=tally.excluded_test,
            excluded_deploy=tally.excluded_deploy,
            effective_tasks=moments.test.kish,
        ),
        ed_under_exclusions=ScoreRange(low=intervals.ed.value, high=intervals.ed.value) if bounds is None else scale.stretch_limits(bounds),
        pooled_ed=None if pooled is None else scale.stretch_difference(pooled),
        p_ed=intervals.p_ed,
        undefined=intervals.undefined,
        pointwise=_build_pointwise(pair, scale) if pointwise else None,
        variance=build_variance(moments, scale),
        bootstrap=_resample(pair, moments, plan, scale, ned=None if ned.reason else ned.value),
        regression=_regress(pair, plan, scale) if plan.random_subset else None,
        sequence=sequence,
        truncation=pair.truncation,
    )
    result = replace(result, ned=_bound_ned(result, plan.contexts), scores=_find_extent(scored_test, scored_deploy, scale))
    remarks = [*remark_size(plan, tally), *remark_design(moments, tally), *_remark_spec(pair, plan, scale, result)]
    return result, [EstimateWarning(code=remark.code, message=remark.message, spec=pair.spec) for remark in remarks]


def _name_contexts(table: ScoreTable, pairs: Iterable[SidePair]) -> list[tuple[str, ...]]:
    """The names of each pair's deployment contexts, in order."""
    return [tuple(table.context.labels[code] for code in np.unique(pair.deploy.context).tolist()) for pair in pairs]


def _check_method(table: ScoreTable, pairs: Iterable[SidePair], plan: Plan) -> None:
    """Refuse weights, and families of several sizes, under anytime intervals.

    A confidence sequence is for draws that all have the mean that is asked for.
    """
    # The confidence sequence needs draws with one common mean. Weighted tasks have none.
    weighted = any(find_relative_weights(pair.weights, pair.common) is not None for pair in pairs)
    if weighted and plan.interval is IntervalMethod.ANYTIME:
        problem = "tasks have different weights; anytime intervals are for tasks that weigh the same"
        advice = "take closed_form or guaranteed intervals, or remove the column"
        raise DesignError(Fault("interval-not-available", f"{name_files(table)}, column weight", problem, advice=advice))
    sizes = [_find_sizes(pair, plan) for pair in pairs] if plan.interval is IntervalMethod.ANYTIME else []
    if any(len(set(size)) > 1 for size in sizes):
        most, least = max(map(max, sizes)), min(map(min, sizes))
        problem = f"families have {least} to {most} tasks; anytime intervals are for families of one size"
        advice = "take closed_form or guaranteed intervals, or families of the same number of tasks"
        raise DesignError(Fault("interval-not-available", f"{name_files(table)}, column family", problem, advice=advice))


def _find_sizes(pair: SidePair, plan: Plan) -> list[int]:
    """How many tasks each family has that were begun; the last in the plan's order, which may not be complete yet, is left out."""
    if pair.families is None:
        return []
    begun = np.unique(np.concatenate([pair.test.task, pair.deploy.task]))
    ordered = [pair.families[code] for code in begun[_order(pair, begun, plan)].tolist()]
    sizes = Counter(ordered)
    # A replay that stopped early may have cut the last family. Counting it would refuse every such
    # replay.
    complete = [size for name, size in sizes.items() if name != ordered[-1]]
    return [*complete, *([sizes[ordered[-1]]] if complete and sizes[ordered[-1]] > max(complete) else [])]


def _count_passed_over(pair: SidePair, plan: Plan) -> int:
    """Tasks that lack any response, scored or excluded, on one side, and stand before the last common task in the plan's order."""
    # Excluded responses count as begun: a task whose responses failed was not passed over.
    begun = [np.isin(np.arange(len(pair.labels)), side.task) for side in (pair.test, pair.deploy)]
    seen = np.flatnonzero(begun[0] | begun[1])
    order = seen[_order(pair, seen, plan)]
    last = int(np.flatnonzero(pair.common[order])[-1])
    return int(np.count_nonzero(~(begun[0] & begun[1])[order[:last]]))


def _order(pair: SidePair, codes: npt.NDArray[np.intp], plan: Plan) -> list[int]:
    """Return the places of the tasks *codes* in the plan's order, the tasks of a family one after the other."""
    families = None if pair.families is None else [pair.families[code] for code in codes.tolist()]
    return order_tasks([pair.labels[code] for code in codes.tolist()], seed=plan.seed, families=families)


def _build_sequence(pair: SidePair, plan: Plan) -> ConfidenceSequences:
    """Walk over the common tasks, or over their families, in the plan's order."""
    units = find_units(pair.test.clusters, pair.common, None)
    test, deploy = (units.average(compute_task_means(cells, pair.common)) for cells in (pair.test_cells, pair.deploy_cells))
    names = pair.labels if pair.families is None else pair.families
    # Families enter as units in the order of their names' hashes, like tasks.
    order = order_tasks([names[code] for code in units.code.tolist()], seed=plan.seed)
    return ConfidenceSequences(
        phi_test=build_sequence(test[order], level=plan.level),
        phi_deploy=build_sequence(deploy[order], level=plan.level),
        # The sequence is defined for values in [0, 1]; differences lie in [−1, 1].
        ed=build_sequence((test[order] - deploy[order] + 1) / 2, level=plan.level),
    )


def _regress(pair: SidePair, plan: Plan, scale: ScoreScale) -> Regression:
    random = plan.contexts is ContextDesign.RANDOM
    from_subset = estimate_from_subset(pair.test_cells, pair.deploy_cells, pair.common, random=random, level=plan.level)
    value, limits, reason = from_subset.value, from_subset.limits, from_subset.reason
    if find_relative_weights(pair.weights, pair.common) is not None:
        # The regression estimator is derived for equal weights.
        value, limits, reason = None, None, "tasks have weights; the regression is for tasks that weigh the same"
    elif plan.interval is IntervalMethod.ANYTIME:
        limits, reason = None, reason or "the interval of the regression does not hold whenever the replay is stopped"
    band = None if limits is None else scale.stretch_limits(limits)
    return Regression(
        value=None if value is None else scale.stretch_difference(value),
        low=None if band is None else band.low,
        high=None if band is None else band.high,
        slope=None if value is None else from_subset.slope,
        tasks_all=from_subset.tasks_all,
        tasks_replayed=from_subset.tasks_replayed,
        reason=reason,
    )


def _find_floor(pair: SidePair, moments: Moments, plan: Plan, scale: ScoreScale) -> float | None:
    # The floor follows from the closed-form half-width; the other methods have no such form.
    if not moments.random or moments.parts() is None or plan.interval is not IntervalMethod.CLOSED_FORM:
        return None
    sides = pair.test_cells.keep(pair.common), pair.deploy_cells.keep(pair.common)
    floor = detectable_floor(sides, level=plan.level, banerjee=moments.banerjee)
    return None if floor is None else scale.stretch_difference(floor)


def _bound_ned(spec: SpecEstimate, contexts: ContextDesign) -> NormalisedDifferential:
    """Return nED with its approximate interval: the band over tasks and contexts, or over tasks where contexts are not sampled."""
    bands = None if spec.bootstrap is None else spec.bootstrap.ned
    # nED has no closed-form interval; the bootstrap band is the only approximation.
    band = None if bands is None else bands.two_way if contexts is ContextDesign.RANDOM else bands.task
    return spec.ned if band is None else replace(spec.ned, low=band.low, high=band.high)


def _resample(pair: SidePair, moments: Moments, plan: Plan, scale: ScoreScale, *, ned: float | None) -> Bootstrap | None:
    sides = ScoredSide(responses=pair.test, cells=pair.test_cells), ScoredSide(responses=pair.deploy, cells=pair.deploy_cells)
    return build_bootstrap(sides, moments, plan, scale, ned=ned, weights=pair.weights)


def _pool(cells: Cells, pair: SidePair) -> float:
    """The mean over responses, each with the weight of its task."""
    weights = cells.count if pair.weights is None else cells.count * (pair.weights / pair.weights.max())[cells.task]
    return sum_all(cells.mean * weights) / sum_all(weights.astype(np.float64))


def _find_extent(test: Floats, deploy: Floats, scale: ScoreScale) -> ScoreRange | None:
    """The lowest and the highest score of both sides, in the unit of the property; they lie in [0, 1]."""
    if not len(test) or not len(deploy):
        return None
    ends = min(test.min(), deploy.min()), max(test.max(), deploy.max())
    return ScoreRange(low=scale.stretch(float(ends[0])), high=scale.stretch(float(ends[1])))


def _is_binary(scores: Floats) -> bool:
    return bool(((scores == 0.0) | (scores == 1.0)).all())


def _count_contexts(cells: Cells, pair: SidePair) -> int:
    return len(np.unique(cells.keep(pair.common).context))


def _count(pair: SidePair, *, scored_test: int, scored_deploy: int) -> DesignCounts:
    seen = np.zeros(len(pair.labels), dtype=bool)
    seen[pair.test.task] = True
    seen[pair.deploy.task] = True
    tasks = int(np.count_nonzero(pair.common))
    return DesignCounts(
        tasks=tasks,
        dropped=int(np.count_nonzero(seen)) - tasks,
        scored_test=scored_test,
        scored_deploy=scored_deploy,
        excluded_test=len(pair.test.score) - scored_test,
        excluded_deploy=len(pair.deploy.score) - scored_deploy,
    )


def _normalise(difference: float, deviation: float | None, *, epsilon: float) -> NormalisedDifferential:
    value = normalise(difference, deviation, epsilon=epsilon)
    if value is not None:
        return NormalisedDifferential(value=value)
    if deviation is None:
        return NormalisedDifferential(value=None, reason="a side has fewer than two scored responses")
    if not epsilon:
        return NormalisedDifferential(value=None, reason="not defined: both sides deterministic, and ε is 0")
    # Deterministic sides have no spread, so nED is a multiple of ε. The reason and a warning say so.
    return NormalisedDifferential(value=difference / epsilon, reason="both sides deterministic: ED/ε")


def _build_pointwise(pair: SidePair, scale: ScoreScale) -> tuple[TaskDifferential, ...]:
    """ED(τ) of every common task, in the order of the task ids."""
    test = compute_task_means(pair.test_cells, pair.common).tolist()
    deploy = compute_task_means(pair.deploy_cells, pair.common).tolist()
    return tuple(
        TaskDifferential(
            task_id=pair.labels[code],
            phi_test=scale.stretch(first),
            phi_deploy=scale.stretch(second),
            ed=scale.stretch_difference(first - second),
        )
        for code, first, second in zip(np.flatnonzero(pair.common).tolist(), test, deploy, strict=True)
    )


def _remark_spec(pair: SidePair, plan: Plan, scale: ScoreScale, result: SpecEstimate) -> Iterator[DesignRemark]:
    """Yield what only the whole estimate shows."""
    if plan.contexts is ContextDesign.RANDOM and (looks_nested(pair.test_cells) or looks_nested(pair.deploy_cells)):
        message = "No two tasks share a context on one of the sides: the design looks nested, and random contexts are declared."
        yield DesignRemark(code="looks-nested", message=message)
    passed = _count_passed_over(pair, plan) if plan.interval is IntervalMethod.ANYTIME else 0
    if passed:
        message = (
            f"Deviation: in the plan's order (seed {plan.seed}) {passed} tasks without any response on one of the sides come before tasks "
            "that have both: anytime intervals hold for tasks taken in that order, which caveat audit order prints."
        )
        yield DesignRemark(code="order-not-followed", message=message)
    # Opposite signs mean that the number of responses per cell decides the direction (Simpson's
    # paradox).
    if result.pooled_ed is not None and result.pooled_ed * result.ed.value < 0:
        message = (
            f"Cells are unequal, and the pooled ED over responses ({result.pooled_ed:.4g}) "
            f"has the other sign than ED over tasks ({result.ed.value:.4g})."
        )
        yield DesignRemark(code="unequal-cells", message=message)
    epsilon = plan.epsilon_on(scale.width)
    if result.ned.value and result.ned.reason:
        yield DesignRemark(code="ned-unstable", message="Both sides deterministic: scores do not vary within the sides, and nED is ED/ε.")
    # Below 10 ε the choice of ε changes nED by about a tenth or more.
    elif result.ned.value and result.sigma_pool is not None and result.sigma_pool < 10 * epsilon:
        message = f"nED leans on ε: the pooled deviation {result.sigma_pool:.4g} is below 10 ε = {10 * epsilon:.4g}."
        yield DesignRemark(code="ned-unstable", message=message)


def _warn_other_rows(table: ScoreTable, test: str, deploy: str, *, ablated: int) -> Iterator[EstimateWarning]:
    if ablated:
        message = f"{ablated} responses have a cue taken out of their context and are excluded; the cue ablation uses them."
        yield EstimateWarning(code="ablation-rows", message=message)
    yield from (EstimateWarning(code=DOUBTFUL, message=f"{doubt}.") for doubt in table.doubts)
    others = [arm for arm in table.arm.labels if arm not in (test, deploy)]
    if others:
        names = ", ".join(others[:5]) + (" …" if len(others) > 5 else "")
        yield EstimateWarning(code="other-arms", message=f"Rows of {len(others)} other arms are excluded: {names}.")


# Estimates of many tables, each by itself: one that fails stops no other.


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRequest:
    """One table to be estimated from."""

    label: str
    """What people call it."""
    table: ScoreTable
    plan: Plan
    range: tuple[float, float]
    test: str
    deploy: str
    pointwise: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateOutcome:
    """The estimate of one table, or why there is none."""

    position: int
    """Of the request, from 0."""
    result: Estimate | CaveatError


EstimateAll = Callable[[Iterable[EstimateRequest]], Iterable[EstimateOutcome]]
"""Gives the outcome of each request, in any order: `estimate_here`, or the workers of a fleet."""


def estimate_here(requests: Iterable[EstimateRequest]) -> Iterator[EstimateOutcome]:
    """Give the outcome of each of *requests*, in their order."""
    for position, request in enumerate(requests):
        try:
            yield EstimateOutcome(position=position, result=estimate_request(request))
        except CaveatError as error:
            yield EstimateOutcome(position=position, result=error)


def get_estimate(outcome: EstimateOutcome) -> Estimate:
    """Return the estimate of *outcome*; raises the CaveatError that it has instead."""
    if isinstance(outcome.result, CaveatError):
        raise outcome.result
    return outcome.result


def estimate_request(request: EstimateRequest) -> Estimate:
    """Return the estimate of *request*; raises CaveatError as `estimate`."""
    return estimate(
        request.table, request.plan, range_=request.range, test=request.test, deploy=request.deploy, pointwise=request.pointwise
    )
