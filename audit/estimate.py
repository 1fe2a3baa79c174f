"""Station 5: a score table becomes the Evaluation Differential ED = Φ_test − Φ_deploy (method sections 1 and 4).

A mean over one side never becomes an ED (arXiv:2605.11496, Proposition 1): such a table is refused.
"""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.errors import DesignError
from audit.statistics.cells import Cells
from audit.statistics.design import Remark, Tally, find_shared_context, has_equal_cells, looks_nested, remark_design
from audit.statistics.exclusions import Side, exclusion_bounds
from audit.statistics.moments import Moments, compute_moments, compute_task_means, find_common_tasks
from audit.statistics.normalised import normalise, pooled_deviation
from audit.statistics.reading import Scale, build_intervals, build_variance
from audit.statistics.scores import SCORED, Floats, ScoreTable
from audit.statistics.sums import sum_many
from registry.errors import Fault
from registry.records.estimate import (
    Counts,
    Estimate,
    EstimateWarning,
    Normalised,
    Range,
    SpecEstimate,
    TaskDifferential,
)
from registry.records.plan import ContextDesign, Plan

DEFAULT_SPEC = "default"
"""Name of the one P_deploy specification of a table that names none."""

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pair:
    """The responses of both sides for one P_deploy specification, with scores in [0, 1]."""

    spec: str
    test: Side
    deploy: Side
    test_cells: Cells
    deploy_cells: Cells
    common: npt.NDArray[np.bool_]
    """By task code: scored on both sides."""

    labels: tuple[str, ...]
    """Task ids by code."""


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
    result do not depend on the order of the rows. Rows of other arms are left out, with a warning.

    Args:
        table: checked scores.
        plan: margin, level, ε and what contexts are; None in it means the default for *range_*.
        range_: lowest and highest possible score.
        test: name of the test-like arm.
        deploy: name of the deployment-continuous arm.
        pointwise: whether ED(τ) of every common task is given too.

    Raises:
        DesignError: a side is missing, the sides share no task, or the contexts contradict the plan.
    """
    scale = Scale(low=float(range_[0]), high=float(range_[1]))
    _check_range(table, scale)
    test_rows = _find_arm(table, test, deploy)
    pairs = _build_pairs(table, scale, test_rows, test=test, deploy=deploy)
    _check_contexts(table, pairs, plan, test=test, deploy=deploy)
    epsilon = 0.01 * scale.width if plan.epsilon is None else plan.epsilon
    margin = 0.05 * scale.width if plan.margin is None else plan.margin
    filled = Plan(margin=margin, level=plan.level, epsilon=epsilon, contexts=plan.contexts, seed=plan.seed, replicates=plan.replicates)
    results = [_estimate_spec(pair, filled, scale, pointwise=pointwise) for pair in pairs]
    return Estimate(
        margin=margin,
        level=plan.level,
        epsilon=epsilon,
        range=(scale.low, scale.high),
        seed=plan.seed,
        contexts=plan.contexts.value,
        specs=tuple(result for result, _ in results),
        warnings=(*_warn_other_arms(table, test, deploy), *(warning for _, warnings in results for warning in warnings)),
    )


def _check_range(table: ScoreTable, scale: Scale) -> None:
    """The table was checked against its own range; a narrower one here would map scores outside [0, 1]."""
    if not (np.isfinite(scale.low) and np.isfinite(scale.high) and scale.low < scale.high):
        raise DesignError(Fault(code="bad-range", where="range", found=f"expected low < high, found {scale.low:g} and {scale.high:g}"))
    scored = table.score[table.excluded.codes == SCORED]
    outside = int(np.count_nonzero((scored < scale.low) | (scored > scale.high)))
    if outside:
        found = f"{outside} scores lie outside [{scale.low:g}, {scale.high:g}]"
        advice = "give the range of the scoring function"
        raise DesignError(Fault(code="score-out-of-range", where=_name(table), found=found, advice=advice))


def _find_arm(table: ScoreTable, test: str, deploy: str) -> Rows:
    """Return the rows of the test arm, after checking that both arms are there and differ."""
    arms = table.arm.labels
    if test == deploy:
        found = f"test and deployment arm are both {test!r}; they must differ"
        raise DesignError(Fault(code="same-arm", where="arms", found=found, advice="name two with --test and --deploy"))
    if len(arms) < 2:
        found = f"every row is of arm {arms[0]!r}; a mean over one side never becomes a differential (Proposition 1)"
        raise DesignError(Fault(code="one-sided", where=_name(table), found=found, advice="add the scores of the other side"))
    missing = [arm for arm in (test, deploy) if arm not in arms]
    if missing:
        raise DesignError(_tell_unknown_arm(arm, table) for arm in missing)
    return np.flatnonzero(table.arm.codes == table.arm.find(test))


def _tell_unknown_arm(arm: str, table: ScoreTable) -> Fault:
    close = difflib.get_close_matches(arm, table.arm.labels, n=1, cutoff=0.5)
    known = ", ".join(table.arm.labels[:10]) + (" …" if len(table.arm.labels) > 10 else "")
    advice = f"did you mean {close[0]}?" if close else "name the arms that are the two sides (--test, --deploy)"
    return Fault(code="unknown-arm", where=_name(table), found=f"no row is of arm {arm!r}; the arms are: {known}", advice=advice)


def _build_pairs(table: ScoreTable, scale: Scale, test_rows: Rows, *, test: str, deploy: str) -> list[_Pair]:
    """Return one pair per specification in the order of names; raises with all faults at once."""
    specs = _find_specs(table, test_rows, test=test, deploy=deploy)
    side = _build_side(table, scale, test_rows)
    cells = side.scored().cells(fill=0.0)
    pairs, faults = [], []
    if not len(cells.task):
        faults.append(_tell_unscored(table, test))
    for spec, rows in specs:
        other = _build_side(table, scale, rows)
        other_cells = other.scored().cells(fill=0.0)
        common = find_common_tasks(cells, other_cells, tasks=len(table.task.labels))
        if not len(other_cells.task):
            faults.append(_tell_unscored(table, f"{deploy}, specification {spec}"))
        elif len(cells.task) and not common.any():
            faults.append(_tell_disjoint(table, spec, cells, other_cells))
        labels = table.task.labels
        pairs.append(_Pair(spec=spec, test=side, deploy=other, test_cells=cells, deploy_cells=other_cells, common=common, labels=labels))
    if faults:
        raise DesignError(faults)
    return pairs


def _find_specs(table: ScoreTable, test_rows: Rows, *, test: str, deploy: str) -> list[tuple[str, Rows]]:
    """Return name and rows of each specification of the deployment arm.

    Test rows belong to every specification. One that names the only specification there is says nothing new; naming one of
    several is refused, because it could mean a test side of its own or a slip.
    """
    rows = np.flatnonzero(table.arm.codes == table.arm.find(deploy))
    if not table.spec.labels:
        return [(DEFAULT_SPEC, rows)]
    codes = table.spec.codes[rows]
    named = np.unique(codes[codes != SCORED])
    faults = []
    if len(named) and (codes == SCORED).any():
        found = f"{np.count_nonzero(codes == SCORED)} rows of arm {deploy} name no specification, others do"
        faults.append(Fault(code="spec-missing", where=f"{_name(table)}, column spec", found=found, advice="name one in every such row"))
    on_test = np.unique(table.spec.codes[test_rows])
    on_test = on_test[on_test != SCORED]
    if len(on_test) and not np.array_equal(on_test, named):
        found = f"rows of arm {test} name {table.spec.labels[on_test[0]]!r}; test rows are shared by all specifications"
        faults.append(Fault(code="spec-on-test", where=f"{_name(table)}, column spec", found=found, advice="leave spec empty in test rows"))
    elif len(on_test) > 1:
        found = f"rows of arm {test} name {len(on_test)} specifications; test rows are shared by all of them"
        faults.append(Fault(code="spec-on-test", where=f"{_name(table)}, column spec", found=found, advice="leave spec empty in test rows"))
    if faults:
        raise DesignError(faults)
    if not len(named):
        return [(DEFAULT_SPEC, rows)]
    return [(table.spec.labels[code], rows[codes == code]) for code in named]


def _build_side(table: ScoreTable, scale: Scale, rows: Rows) -> Side:
    return Side(task=table.task.codes[rows], context=table.context.codes[rows], score=scale.shrink(table.score[rows]))


def _tell_unscored(table: ScoreTable, arm: str) -> Fault:
    found, advice = "every response of this side was excluded", "add responses of this side that have a score"
    return Fault(code="no-scores", where=f"{_name(table)}, arm {arm}", found=found, advice=advice)


def _tell_disjoint(table: ScoreTable, spec: str, test: Cells, deploy: Cells) -> Fault:
    first, second = table.task.labels[test.task[0]], table.task.labels[deploy.task[0]]
    found = f"the sides share no task: one has for example {first!r}, the other {second!r}"
    advice = "use the same task_id for the same task on both sides"
    return Fault(code="no-common-task", where=f"{_name(table)}, specification {spec}", found=found, advice=advice)


def _check_contexts(table: ScoreTable, pairs: Iterable[_Pair], plan: Plan, *, test: str, deploy: str) -> None:
    """Refuse contexts that are shared by tasks where the plan says that each task has its own."""
    if plan.contexts is not ContextDesign.NESTED:
        return
    faults = []
    for pair in pairs:
        for arm, cells in ((test, pair.test_cells), (f"{deploy}, specification {pair.spec}", pair.deploy_cells)):
            shared = find_shared_context(cells)
            if shared is not None:
                found = f"context {table.context.labels[shared[0]]!r} is used for {shared[1]} tasks; nested contexts belong to one each"
                advice = "declare contexts random or fixed, or give each task context ids of its own"
                faults.append(Fault(code="contexts-shared", where=f"{_name(table)}, arm {arm}", found=found, advice=advice))
    if faults:
        raise DesignError(dict.fromkeys(faults))


def _estimate_spec(pair: _Pair, plan: Plan, scale: Scale, *, pointwise: bool) -> tuple[SpecEstimate, list[EstimateWarning]]:
    scored_test, scored_deploy = pair.test.scored().score, pair.deploy.scored().score
    moments = compute_moments(
        pair.test_cells,
        pair.deploy_cells,
        pair.common,
        random=plan.contexts is ContextDesign.RANDOM,
        binary=_is_binary(scored_test) and _is_binary(scored_deploy),
    )
    tally = _count(pair, moments, scored_test=len(scored_test), scored_deploy=len(scored_deploy))
    pooled = None if _has_equal_cells(pair, tally) else _mean(scored_test) - _mean(scored_deploy)
    deviation = pooled_deviation(scored_test, scored_deploy)
    ned = _normalise(moments.difference, deviation, epsilon=(plan.epsilon or 0.0) / scale.width)
    bounds = exclusion_bounds(pair.test, pair.deploy, tasks=len(pair.labels))
    intervals = build_intervals(moments, scale, level=plan.level, margin=plan.margin or 0.0, contexts=plan.contexts)
    result = SpecEstimate(
        spec=pair.spec,
        phi_test=intervals.phi_test,
        phi_deploy=intervals.phi_deploy,
        ed=intervals.ed,
        ned=ned,
        sigma_pool=None if deviation is None else scale.stretch_difference(deviation),
        equivalence=intervals.equivalence,
        minimum_detectable_ed=intervals.minimum_detectable,
        n=Counts(
            tasks=moments.test.tasks,
            contexts_test=moments.test.contexts,
            contexts_deploy=moments.deploy.contexts,
            responses_test=moments.test.responses,
            responses_deploy=moments.deploy.responses,
            excluded_test=tally.excluded_test,
            excluded_deploy=tally.excluded_deploy,
        ),
        ed_under_exclusions=Range(low=intervals.ed.value, high=intervals.ed.value) if bounds is None else scale.stretch_limits(bounds),
        pooled_ed=None if pooled is None else scale.stretch_difference(pooled),
        p_ed=intervals.p_ed,
        pointwise=_build_pointwise(pair, scale) if pointwise else None,
        variance=build_variance(moments, scale),
    )
    remarks = [*remark_design(moments, tally), *_remark_spec(pair, plan, result)]
    return result, [EstimateWarning(code=remark.code, message=remark.message, spec=pair.spec) for remark in remarks]


def _mean(scores: Floats) -> float:
    return sum_many(scores) / len(scores)


def _is_binary(scores: Floats) -> bool:
    return bool(((scores == 0.0) | (scores == 1.0)).all())


def _count(pair: _Pair, moments: Moments, *, scored_test: int, scored_deploy: int) -> Tally:
    seen = np.zeros(len(pair.labels), dtype=bool)
    seen[pair.test.task] = True
    seen[pair.deploy.task] = True
    return Tally(
        dropped=int(np.count_nonzero(seen)) - moments.test.tasks,
        scored_test=scored_test,
        scored_deploy=scored_deploy,
        excluded_test=len(pair.test.score) - scored_test,
        excluded_deploy=len(pair.deploy.score) - scored_deploy,
    )


def _has_equal_cells(pair: _Pair, tally: Tally) -> bool:
    return all(has_equal_cells(cells, dropped=tally.dropped) for cells in (pair.test_cells, pair.deploy_cells))


def _normalise(difference: float, deviation: float | None, *, epsilon: float) -> Normalised:
    value = normalise(difference, deviation, epsilon=epsilon)
    if value is not None:
        return Normalised(value=value)
    if deviation is None:
        return Normalised(value=None, reason="a side has fewer than two scored responses")
    return Normalised(value=None, reason="not defined: the scores do not vary within the sides and yet the sides differ")


def _build_pointwise(pair: _Pair, scale: Scale) -> tuple[TaskDifferential, ...]:
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


def _remark_spec(pair: _Pair, plan: Plan, result: SpecEstimate) -> Iterator[Remark]:
    """Yield what only the whole estimate shows."""
    if plan.contexts is ContextDesign.RANDOM and (looks_nested(pair.test_cells) or looks_nested(pair.deploy_cells)):
        message = "No two tasks share a context on one of the sides: the design looks nested, and random contexts are declared."
        yield Remark(code="looks-nested", message=message)
    if result.pooled_ed is not None and result.pooled_ed * result.ed.value < 0:
        message = (
            f"Cells are unequal, and the pooled ED over responses ({result.pooled_ed:.4g}) "
            f"has the other sign than ED over tasks ({result.ed.value:.4g})."
        )
        yield Remark(code="unequal-cells", message=message)
    epsilon = plan.epsilon or 0.0
    if result.ned.value and result.sigma_pool is not None and result.sigma_pool < 10 * epsilon:
        message = f"nED leans on ε: the pooled deviation {result.sigma_pool:.4g} is below 10 ε = {10 * epsilon:.4g}."
        yield Remark(code="ned-unstable", message=message)


def _warn_other_arms(table: ScoreTable, test: str, deploy: str) -> Iterator[EstimateWarning]:
    others = [arm for arm in table.arm.labels if arm not in (test, deploy)]
    if others:
        names = ", ".join(others[:5]) + (" …" if len(others) > 5 else "")
        yield EstimateWarning(code="other-arms", message=f"Rows of {len(others)} other arms are left out: {names}.")


def _name(table: ScoreTable) -> str:
    """The file or files, for a message."""
    names = [file.name for file in table.files]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
