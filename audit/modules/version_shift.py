"""How far Φ_test, Φ_deploy and ED moved between two replays of one design: model version against model version."""

from collections.abc import Iterator, Mapping, Sequence
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
    find_clusters,
    name_files,
    split_judges,
    warn_of_clusters,
)
from audit.statistics.design_remarks import ENOUGH_TASKS, describe_sample_worth, remark_contexts
from audit.statistics.estimate_intervals import METHOD, ScoreScale, explain_tasks
from audit.statistics.missing_responses import ResponseSide
from audit.statistics.responses import Floats, ScoreTable, average_repeats, find_relative_weights
from audit.statistics.side_moments import ENOUGH_CONTEXTS, Cells, Clusters, find_common_tasks, merge_clusters
from audit.statistics.version_differences import (
    DoubleDifference,
    VersionDifference,
    compute_edit,
    double_difference_interval,
    edit_interval,
    have_common_contexts,
    pair_cells,
)
from registry.errors import CaveatError, Fault
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.estimates import BoundedEstimate, Differential
from registry.records.model_version import ModelRef
from registry.records.module_findings import Shift, SpecShift

_WHICH = ("earlier", "later")
_SIDES = ("test", "deployment")
_SAME = 1e-9
"""Weights of tasks whose ratios agree to this count as the same."""


# How far did ED move? Where the scores of both replays are available, the comparison is by task: the
# task is one cluster over four means, contexts are paired where they are the same, and the interval is
# the hull of ± h and MOVER. Tasks that one replay lacks are excluded, so ΔED need not equal the
# difference of the two reported ED.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Replay:
    """One replay by one judge: both sides against each specification, with the codes of tasks and contexts that both replays share."""

    files: str
    pairs: Mapping[str, SidePair]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Compared:
    """One side in both replays."""

    before: Cells
    after: Cells
    shared: bool
    """Whether any context id stands in both."""
    unpaired: int
    """Cells, task and context, that only one replay has although they share contexts."""
    binary: bool


def measure_shift(
    before: ScoreTable,
    after: ScoreTable,
    plan: Plan,
    *,
    range_: tuple[float, float],
    models: tuple[ModelRef, ModelRef],
    audit: str,
    arms: tuple[str, str] = ("test", "deploy"),
) -> Shift:
    """Return how far both sides and ED moved from *before* to *after*, against every specification of P_deploy that both have.

    Intervals are closed-form ones at the plan's level, whatever method the plan names for ED. Several judges are compared one by one,
    each with itself. The bits of the result do not depend on the order of rows in either table.

    Args:
        before: checked scores of the earlier replay; rows with a cue taken out are excluded, with a warning.
        after: those of the later one.
        plan: level and what contexts are.
        range_: lowest and highest possible score, of both.
        models: the earlier and the later model version.
        audit: `AUD-…` of the earlier replay.
        arms: names of the test-like and the deployment-continuous arm, in both.

    Raises:
        DesignError: a side is missing or has no scores, the replays share no specification, no judge or no task, a task weighs
            else, or contexts contradict the plan; the faults of both tables at once.
    """
    scale = ScoreScale(low=float(range_[0]), high=float(range_[1]))
    # A judge is compared with itself: a different judge could cause the whole shift.
    judged = _match_judges(*(_by_judge(table, which, scale) for table, which in zip((before, after), _WHICH, strict=True)))
    shifts, notes = [], [*_warn_of_plan(plan, before, after)]
    for judge, tables in judged.pairs.items():
        replays = _build_replays(tables, plan, scale, arms)
        names = _match_specs(*replays)
        notes.extend(_warn_unmatched("specification of P_deploy", *(tuple(replay.pairs) for replay in replays)))
        # Each specification is its own comparison, since a change of P_deploy is not a change of the
        # model.
        for name in names:
            shift, warnings = _compare(replays[0], replays[1], name, plan, scale)
            shifts.append(replace(shift, judge=judge if judged.several else None))
            text = ", ".join(filter(None, (name if len(names) > 1 else "", f"judge {judge}" if judged.several else "")))
            notes.extend(f"{text}: {warning}" if text else warning for warning in warnings)
    return Shift(
        before=models[0],
        after=models[1],
        before_audit=audit,
        before_scores=before.content,
        after_scores=after.content,
        level=plan.level,
        specs=tuple(shifts),
        warnings=tuple(dict.fromkeys((*judged.warnings, *notes))),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Judged:
    """Which judges both replays have, each with its scores in both."""

    pairs: Mapping[str | None, tuple[ScoreTable, ScoreTable]]
    several: bool
    warnings: tuple[str, ...]


def _by_judge(table: ScoreTable, which: str, scale: ScoreScale) -> dict[str | None, ScoreTable]:
    """Return the scores of each judge by its name, None where none is named; repeats are averaged and ablations left out."""
    try:
        check_range(table, scale)
        kept, _ = drop_ablations(table)
        # A single named judge keeps its name, so that two replays by different judges are refused.
        only = kept.judge.labels[0] if kept.judge is not None and kept.judge.labels else None
        return {judge or only: average_repeats(scores) for judge, scores in split_judges(kept)}
    except CaveatError as error:
        raise DesignError(_name(which, error.faults)) from error


def _name(which: str, faults: Sequence[Fault]) -> list[Fault]:
    return [replace(fault, where=f"{which} replay, {fault.where}") for fault in faults]


def _match_judges(before: dict[str | None, ScoreTable], after: dict[str | None, ScoreTable]) -> _Judged:
    """Return the judges of both; one that is named stands beside one that is not, where there are no others."""
    common = [judge for judge in before if judge in after]
    # One named and one unnamed judge may be the same. The comparison is made with a warning.
    if not common and len(before) == len(after) == 1 and None in (*before, *after):
        named = next(judge for judge in (*before, *after) if judge is not None)
        warning = f"Only one of the replays names its judge ({named}): nothing says that the same judge scored both."
        tables = next(iter(before.values())), next(iter(after.values()))
        return _Judged(pairs={None: tables}, several=False, warnings=(warning,))
    if not common:
        names = (", ".join(str(judge or "a judge that is not named") for judge in score_tables) for score_tables in (before, after))
        problem = "the earlier replay was scored by {}, the later one by {}: a change could be the judge's".format(*names)
        raise DesignError(Fault("judges-differ", "column judge", problem))
    warnings = _warn_unmatched("judge", *(tuple(map(str, score_tables)) for score_tables in (before, after)))
    return _Judged(pairs={judge: (before[judge], after[judge]) for judge in common}, several=len(common) > 1, warnings=tuple(warnings))


def _match_specs(before: _Replay, after: _Replay) -> list[str]:
    names = [name for name in before.pairs if name in after.pairs]
    if not names:
        problem = f"the earlier replay names {', '.join(before.pairs)}, the later one {', '.join(after.pairs)}: no specification is in both"
        raise DesignError(Fault("no-common-spec", f"{before.files} and {after.files}, column spec", problem))
    return names


def _warn_unmatched(what: str, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for texts, other, which in ((before, after, "earlier"), (after, before, "later")):
        if alone := [name for name in texts if name not in other]:
            yield f"Only the {which} replay has the {what} {', '.join(alone[:5])}, which is excluded."


def _build_replays(tables: tuple[ScoreTable, ScoreTable], plan: Plan, scale: ScoreScale, arms: tuple[str, str]) -> tuple[_Replay, _Replay]:
    """Return both replays in common codes; raises with the faults of both."""
    # Common codes for both replays, so that tasks and contexts can be paired by code.
    tasks = sorted({label for table in tables for label in table.task.labels})
    contexts = sorted({label for table in tables for label in table.context.labels})
    codes = [(_recode(table.task.labels, tasks), _recode(table.context.labels, contexts)) for table in tables]
    size = len(tasks), len(contexts)
    # Units that depend on each other in one replay do so in both.
    clusters = merge_clusters(
        *(find_clusters(table).recode(tasks=code[0], contexts=code[1], size=size) for table, code in zip(tables, codes, strict=True))
    )
    replays, faults = [], []
    for table, own, which in zip(tables, codes, _WHICH, strict=True):
        try:
            pairs = build_pairs(table, scale, find_arm(table, *arms), test=arms[0], deploy=arms[1])
            check_contexts(table, pairs, plan, test=arms[0], deploy=arms[1])
        except CaveatError as error:
            faults.extend(_name(which, error.faults))
            continue
        recoded = {pair.spec: _recode_pair(pair, tuple(tasks), own, clusters) for pair in pairs}
        replays.append(_Replay(files=name_files(table), pairs=recoded))
    if faults:
        raise DesignError(faults)
    return replays[0], replays[1]


Places = npt.NDArray[np.intp]


def _recode(labels: Sequence[str], union: Sequence[str]) -> Places:
    """Return the place of each label in the sorted *union*."""
    places = {label: place for place, label in enumerate(union)}
    return np.array([places[label] for label in labels], dtype=np.intp)


def _recode_pair(pair: SidePair, labels: tuple[str, ...], codes: tuple[Places, Places], clusters: Clusters) -> SidePair:
    """Return *pair* with the *codes* of tasks (places in *labels*) and of contexts in place of its own."""
    tasks, contexts = codes

    def side(response_side: ResponseSide) -> ResponseSide:
        return replace(
            response_side,
            task=tasks[response_side.task].astype(np.int32),
            context=contexts[response_side.context].astype(np.int32),
            clusters=clusters,
        )

    test, deploy = side(pair.test), side(pair.deploy)
    test_cells, deploy_cells = test.scored().cells(fill=0.0), deploy.scored().cells(fill=0.0)
    weights: Floats | None = None
    if pair.weights is not None:
        # Tasks of the other replay have no weight here; NaN would surface if one were used.
        weights = np.full(len(labels), np.nan)
        weights[tasks] = pair.weights
    return SidePair(
        spec=pair.spec,
        test=test,
        deploy=deploy,
        test_cells=test_cells,
        deploy_cells=deploy_cells,
        common=find_common_tasks(test_cells, deploy_cells, tasks=len(labels)),
        labels=labels,
        weights=weights,
    )


def _compare(before: _Replay, after: _Replay, spec: str, plan: Plan, scale: ScoreScale) -> tuple[SpecShift, list[str]]:
    """Return the movement against one specification, with what a reader must know of it."""
    old, new = before.pairs[spec], after.pairs[spec]
    sides = (
        _pair_side(old.test, new.test, old.test_cells, new.test_cells),
        _pair_side(old.deploy, new.deploy, old.deploy_cells, new.deploy_cells),
    )
    common = np.ones(len(old.labels), dtype=bool)
    for side in sides:
        # A task must be scored on both sides of both replays: it is one cluster over all four means.
        common &= find_common_tasks(side.before, side.after, tasks=len(common))
    where = f"{before.files} and {after.files}, specification {spec}"
    if not common.any():
        raise DesignError(Fault("no-common-task", where, "no task has scores on both sides of both replays, in contexts that both share"))
    weights = _match_weights(old, new, common, where)
    test, deploy = (_compute(side, common, plan, weights) for side in sides)
    double = DoubleDifference(first=test, second=deploy)
    result = SpecShift(
        spec=spec,
        phi_test=_bound(test, scale, "test", plan),
        phi_deploy=_bound(deploy, scale, "deployment", plan),
        ed=_differ(double, scale, plan),
        tasks=int(np.count_nonzero(common)),
        families=test.moments.test.tasks if test.moments.test.families else None,
    )
    return result, [*_warn_of_tasks(old, new, test, common), *_warn_of_sides(sides, (test, deploy), plan), *_warn_of_exclusions(old, new)]


def _pair_side(before: ResponseSide, after: ResponseSide, old: Cells, new: Cells) -> _Compared:
    shared = have_common_contexts(old, new)
    both = len(old.task) + len(new.task)
    # Shared contexts pair cell by cell, which removes what a context does to both replays alike.
    if shared:
        old, new = pair_cells(old, new)
    binary = all(bool(((side.scored().score == 0.0) | (side.scored().score == 1.0)).all()) for side in (before, after))
    return _Compared(before=old, after=new, shared=shared, unpaired=both - len(old.task) - len(new.task), binary=binary)


def _match_weights(old: SidePair, new: SidePair, common: npt.NDArray[np.bool_], where: str) -> Floats | None:
    """Return the weights of tasks, which must stand in the same ratios in both replays."""
    first, second = (find_relative_weights(pair.weights, common) for pair in (old, new))
    if first is None and second is None:
        return None
    # Weights belong to the design. Different weights would show a shift without any change of
    # behaviour.
    if first is None or second is None or not np.allclose(first, second, rtol=_SAME, atol=0.0):
        problem = "the tasks that both replays have do not weigh the same in both"
        raise DesignError(Fault("weights-differ", f"{where}, column weight", problem))
    return new.weights


def _compute(side: _Compared, common: npt.NDArray[np.bool_], plan: Plan, weights: Floats | None) -> VersionDifference:
    """After − before on one side; the tasks in common are there on both."""
    first, second = side.after.keep(common), side.before.keep(common)
    random = plan.contexts is ContextDesign.RANDOM
    edit = compute_edit(first, second, tasks=len(common), random=random, binary=side.binary, weights=weights)
    if edit is None:
        raise ValueError("a task that all four means have is missing in one")
    return edit


def _bound(edit: VersionDifference, scale: ScoreScale, side: str, plan: Plan) -> BoundedEstimate:
    value, limits = scale.stretch_difference(edit.moments.difference), edit_interval(edit, level=plan.level)
    if limits is None:
        return BoundedEstimate(value=value, low=None, high=None, reason=_explain(edit, side))
    band = scale.stretch_limits(limits)
    return BoundedEstimate(value=value, low=band.low, high=band.high)


def _differ(double: DoubleDifference, scale: ScoreScale, plan: Plan) -> Differential:
    value, limits = scale.stretch_difference(double.value), double_difference_interval(double, level=plan.level)
    method = _name_method(double, plan)
    if limits is None:
        thin = next((edit, side) for edit, side in zip((double.first, double.second), _SIDES, strict=True) if edit.moments.parts() is None)
        return Differential(value=value, low=None, high=None, method=method, reason=_explain(*thin))
    band = scale.stretch_limits(limits)
    return Differential(value=value, low=band.low, high=band.high, method=method)


def _explain(edit: VersionDifference, side: str) -> str:
    thin = explain_tasks(edit.moments.test)
    return thin if thin is not None else f"one context on the {side} side: nothing says how contexts vary"


def _name_method(double: DoubleDifference, plan: Plan) -> str:
    base = f"{METHOD}: difference in differences, paired by task"
    match plan.contexts:
        case ContextDesign.RANDOM:
            paired = [edit.moments.paired for edit in (double.first, double.second)]
            ways = [f"{side} contexts {'paired' if is_paired else 'independent'}" for side, is_paired in zip(_SIDES, paired, strict=True)]
            form = "Banerjee" if double.banerjee else "Satterthwaite"
            return f"{base}; {', '.join(ways)}; {form} t, MOVER interval"
        case ContextDesign.FIXED:
            return f"{base}, conditional on these contexts; t, MOVER interval"
        case ContextDesign.NESTED:
            return f"{base}, contexts nested in tasks; t, MOVER interval"


def _warn_of_plan(plan: Plan, before: ScoreTable, after: ScoreTable) -> Iterator[str]:
    # Equal scores can come from one run recorded twice.
    if before.content == after.content:
        yield "Both replays have exactly the same scores: the scores by themselves do not show that the later model was asked."
    for table, which in zip((before, after), _WHICH, strict=True):
        ablated = drop_ablations(table)[1]
        if ablated:
            yield f"{ablated} rows of the {which} replay have a cue taken out of their context and are excluded."
        yield from (f"The {which} replay: {warning.message}" for warning in warn_of_clusters(table, table.arm.labels))
    # The shift uses closed-form intervals whatever the plan names, and those do not allow early
    # stopping.
    if plan.interval is IntervalMethod.ANYTIME:
        yield "The plan's intervals hold at any look; those of the shift are for a size fixed before: stopping early makes them too narrow."


def _warn_of_tasks(old: SidePair, new: SidePair, edit: VersionDifference, common: npt.NDArray[np.bool_]) -> Iterator[str]:
    tasks, side = int(np.count_nonzero(common)), edit.moments.test
    lost = [int(np.count_nonzero(np.bincount(np.concatenate((pair.test.task, pair.deploy.task))))) - tasks for pair in (old, new)]
    if any(lost):
        parts = [f"{count} of the {which} replay" for count, which in zip(lost, _WHICH, strict=True) if count]
        yield f"Tasks without scores on both sides of both replays are excluded: {' and '.join(parts)} ({tasks} remain)."
    if side.tasks < ENOUGH_TASKS and not side.families:
        yield f"Only {tasks} {'task is' if tasks == 1 else 'tasks are'} compared; a verdict needs at least {ENOUGH_TASKS}."
    elif side.effective_tasks < ENOUGH_TASKS:
        yield describe_sample_worth(side, tasks)


def _warn_of_sides(sides: Sequence[_Compared], edits: Sequence[VersionDifference], plan: Plan) -> Iterator[str]:
    for name, side, edit in zip(_SIDES, sides, edits, strict=True):
        if side.unpaired:
            yield f"{side.unpaired} cells of task and context on the {name} side are in only one of the replays and are excluded."
        if plan.contexts is ContextDesign.RANDOM:
            fewest = min(edit.moments.test.contexts, edit.moments.deploy.contexts)
            if fewest < ENOUGH_CONTEXTS:
                yield from (
                    remark.message
                    for remark in remark_contexts(f"The {name} side of one replay", fewest, templates=edit.moments.test.templates)
                )
            if not side.shared:
                yield f"The replays share no context id on the {name} side: contexts count as independent draws, and the interval is wider."
        elif plan.contexts is ContextDesign.FIXED and not side.shared:
            yield f"The replays share no context id on the {name} side, and fixed contexts are what is asked about: two questions."


def _warn_of_exclusions(old: SidePair, new: SidePair) -> Iterator[str]:
    for name, response_side, other in (("test", old.test, new.test), ("deployment", old.deploy, new.deploy)):
        # Cross-multiplied, so that equal rates compare as equal.
        if response_side.excluded * len(other.score) != other.excluded * len(response_side.score):
            counts = [f"{side.excluded} of {len(side.score)}" for side in (response_side, other)]
            yield f"The {name} side lost responses at different rates: {counts[0]} before, {counts[1]} after."
