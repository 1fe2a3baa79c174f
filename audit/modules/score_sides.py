"""Arms of a score table as sides over the same tasks: responses, weights, clusters, and one table for each judge."""

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Concatenate, ParamSpec

import numpy as np
import numpy.typing as npt

from audit.errors import DesignError, find_range_fault
from audit.records.contrast_result import ArmSummary, Contrast, ContrastKind, ContrastRequest
from audit.statistics.contrast_intervals import find_tasks_of_all
from audit.statistics.design_remarks import ENOUGH_TASKS, find_shared_context, find_shared_template, looks_nested, remark_contexts
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.missing_responses import ResponseSide, count_truncated
from audit.statistics.responses import SCORED, Floats, ScoreTable, TextColumn, average_repeats, find_relative_weights
from audit.statistics.side_moments import (
    INDEPENDENT,
    Cells,
    Clusters,
    average_tasks,
    compute_task_means,
    connect_units,
    count_contexts,
    find_common_tasks,
)
from registry.errors import CaveatError, Fault, suggest
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Estimate, EstimateWarning, Truncation

# Several judges in one table: each gives its own estimate, and all are reported (statistics.md section
# 3).

P = ParamSpec("P")


def for_each_judge(estimate: Callable[Concatenate[ScoreTable, P], Estimate]) -> Callable[Concatenate[ScoreTable, P], Estimate]:
    """Return *estimate* for tables of one or several judges; repeats by one judge of one response are averaged first.

    With several judges, specifications come judge by judge in the order of their names, each with the name of its judge. Faults of all
    judges are raised at once.
    """

    @functools.wraps(estimate)
    def estimate_each(table: ScoreTable, /, *args: P.args, **kwargs: P.kwargs) -> Estimate:
        estimates: list[tuple[str | None, Estimate]] = []
        faults: list[Fault] = []
        for judge, scores in split_judges(table):
            try:
                # Repeats are averaged within a judge before anything is estimated: scores of several
                # judges are never mixed.
                estimates.append((judge, estimate(average_repeats(scores), *args, **kwargs)))
            except CaveatError as error:
                faults.extend(fault if judge is None else replace(fault, where=f"{fault.where}, judge {judge}") for fault in error.faults)
        if faults:
            raise DesignError(faults)
        return estimates[0][1] if len(estimates) == 1 else _join(estimates)

    return estimate_each


def split_judges(table: ScoreTable) -> Iterator[tuple[str | None, ScoreTable]]:
    """Yield the scores of each judge with its name, in the order of names; one judge, or none named, is yielded without a name.

    Raises:
        DesignError: some rows name their judge and others do not.
    """
    if table.judge is None:
        yield None, table
        return
    unnamed = int(np.count_nonzero(table.judge.codes < 0))
    # Rows without a judge among named ones could belong to any of them.
    if unnamed:
        problem = f"{unnamed} of {table.rows} rows name no judge, the others do"
        where = f"{table.files[0].name}, column judge"
        raise DesignError(Fault("judge-missing", where, problem))
    if len(table.judge.labels) == 1:
        yield None, table
        return
    for code, name in enumerate(table.judge.labels):
        yield name, table.keep(table.judge.codes == code)


def _join(estimates: list[tuple[str | None, Estimate]]) -> Estimate:
    specs = tuple(replace(spec, judge=judge) for judge, estimate in estimates for spec in estimate.specs)
    warnings = tuple(replace(warning, judge=judge) for judge, estimate in estimates for warning in estimate.warnings)
    return replace(estimates[0][1], specs=specs, warnings=warnings)


# The columns `family` and `template` of a score table become clusters, with warnings for the reader.
#
# Labels that meet in one task, or in one context, name one cluster: a contradiction can only widen an
# interval.

Places = npt.NDArray[np.intp]

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClusterKind:
    """A cluster column and the unit that it groups."""

    column: str
    unit: str
    plural: str


_FAMILY = _ClusterKind(column="family", unit="task", plural="families")
_TEMPLATE = _ClusterKind(column="template", unit="context", plural="templates")


def find_clusters(table: ScoreTable) -> Clusters:
    """Return which tasks and contexts of *table* depend on each other; what names no family, or template, is independent."""
    if table.family is None and table.template is None:
        return INDEPENDENT
    return Clusters(family=_join_texts(table.task, table.family), template=_join_texts(table.context, table.template))


def count_unnamed(table: ScoreTable, rows: Places) -> int:
    """Return how many tasks and contexts of *rows* no row of the table gives a family, or a template, where others have one."""
    pairs = ((table.task, table.family), (table.context, table.template))
    return sum(int(_find_blank(units, labels)[np.unique(units.codes[rows])].sum()) for units, labels in pairs if labels is not None)


def _find_blank(units: TextColumn, labels: TextColumn) -> npt.NDArray[np.bool_]:
    """By the code of the unit: whether no row of it has a label."""
    blank = np.ones(len(units.labels), dtype=bool)
    blank[units.codes[labels.codes >= 0]] = False
    return blank


def name_families(table: ScoreTable) -> tuple[str, ...] | None:
    """Return the name of each task's family by the code of the task, its own id where it has none; None without the column.

    Where several names meet in one task, the first in the order of texts is used for all.
    """
    # The lowest code of a cluster represents it, whatever the order of the rows.
    lowest = _join_texts(table.task, table.family)
    if lowest is None or table.family is None:
        return None
    names = list(table.task.labels)
    named = table.family.codes >= 0
    pairs = np.unique(np.stack([lowest[table.task.codes[named]], table.family.codes[named]]), axis=1)
    # Backwards, so that the first name remains.
    for code, label in pairs[:, ::-1].T.tolist():
        names[code] = table.family.labels[label]
    return tuple(names[code] for code in lowest.tolist())


def warn_of_clusters(table: ScoreTable, arms: tuple[str, ...]) -> Iterator[EstimateWarning]:
    """Yield what is contradictory, missing or without effect in the columns `family` and `template`, in the rows of *arms*."""
    codes = [code for code in map(table.arm.find, arms) if code is not None]
    kept = table.keep(np.isin(table.arm.codes, codes))
    for kind, units, labels in ((_FAMILY, kept.task, kept.family), (_TEMPLATE, kept.context, kept.template)):
        if labels is not None:
            yield from _describe(kind, kept, units, labels)


def _join_texts(units: TextColumn, labels: TextColumn | None) -> Places | None:
    """By the code of the unit: the lowest code in its cluster; None without the column."""
    if labels is None:
        return None
    named = labels.codes >= 0
    return connect_units(units.codes[named].astype(np.intp), labels.codes[named].astype(np.intp), size=len(units.labels))


def _describe(kind: _ClusterKind, table: ScoreTable, units: TextColumn, labels: TextColumn) -> Iterator[EstimateWarning]:
    is_family, clusters = kind is _FAMILY, _join_texts(units, labels)
    pairs = np.unique(np.stack([units.codes, labels.codes])[:, labels.codes >= 0], axis=1)
    counts = np.bincount(pairs[0], minlength=len(units.labels))
    if (counts > 1).any():
        code = int(np.flatnonzero(counts > 1)[0])
        names = ", ".join(labels.labels[label] for label in pairs[1][pairs[0] == code].tolist()[:_SHOWN])
        more = _count_more(int(np.count_nonzero(counts > 1)))
        message = f"{kind.unit.capitalize()} {units.labels[code]} is in several {kind.plural} ({names}){more}: they count as one."
        yield EstimateWarning(code="families-merged" if is_family else "templates-merged", message=message)
    blank = _find_blank(units, labels)
    if blank.any():
        names = ", ".join(units.labels[code] for code in np.flatnonzero(blank)[:_SHOWN].tolist())
        number = int(np.count_nonzero(blank))
        fix = f"write a {kind.column} in every row, a name of its own for a {kind.unit} that belongs to no group"
        message = f"{number} {kind.unit}s name no {kind.column} ({names}), others do: each counts as independent of the rest; {fix}."
        yield EstimateWarning(code="family-blank" if is_family else "template-blank", message=message)
    if is_family:
        yield from _describe_sides(table, labels)
    if clusters is not None and len(np.unique(clusters)) == len(clusters) and not blank.all():
        message = f"Each {kind.column} holds one {kind.unit}: the intervals are those without the column."
        yield EstimateWarning(code="families-single" if is_family else "templates-single", message=message)


def _describe_sides(table: ScoreTable, labels: TextColumn) -> Iterator[EstimateWarning]:
    """Tasks whose family is named in the rows of one arm only, although both have rows of them."""
    arms = range(len(table.arm.labels))
    there = np.zeros((len(arms), len(table.task.labels)), dtype=bool)
    named = there.copy()
    there[table.arm.codes, table.task.codes] = True
    rows = labels.codes >= 0
    named[table.arm.codes[rows], table.task.codes[rows]] = True
    # A family named on one side only still binds its tasks on both, since the task is the same.
    part = named.any(axis=0) & (there & ~named).any(axis=0)
    if part.any():
        silent = ", ".join(table.arm.labels[arm] for arm in arms if (there & ~named)[arm, part].any())
        number = int(np.count_nonzero(part))
        message = f"The rows of {number} tasks name a family in some arms and none in {silent}: the one that is named counts for all."
        yield EstimateWarning(code="family-one-side", message=message)


def _count_more(number: int) -> str:
    return f", and so are {number - 1} others" if number > 1 else ""


# Two arms of a score table become two sides over the same tasks, once for each specification of
# P_deploy.
#
# Tables that cannot form a pair of sides are refused here: one arm alone, arms without a common task,
# contexts that contradict the plan. Test rows are shared by all specifications of P_deploy. Naming one
# of several on a test row is refused, because there is no separate test side for each.

DEFAULT_SPEC = "default"
"""Name of the one P_deploy specification of a table that names none."""

_WEIGHT = re.compile(r"[+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LISTED = 20

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SidePair:
    """The responses of both sides for one P_deploy specification, with scores in [0, 1]."""

    spec: str
    test: ResponseSide
    deploy: ResponseSide
    test_cells: Cells
    deploy_cells: Cells
    common: npt.NDArray[np.bool_]
    """By task code: scored on both sides."""

    labels: tuple[str, ...]
    """Task ids by code."""

    weights: Floats | None = None
    """Weight of each task by its code, above 0; None without the column: all tasks weigh the same."""

    families: tuple[str, ...] | None = None
    """Name of each task's family by the code of the task; None without the column."""

    unnamed: int = 0
    """Tasks without a family, and contexts without a template, where others have one."""

    truncation: Truncation | None = None
    """Truncated responses of both sides; None where the table does not state them."""


def check_range(table: ScoreTable, scale: ScoreScale) -> None:
    """The table was checked against its own range; a narrower one here would map scores outside [0, 1]."""
    if fault := find_range_fault(scale.low, scale.high):
        raise DesignError(fault)
    scored = table.score[table.excluded.codes == SCORED]
    outside = int(np.count_nonzero((scored < scale.low) | (scored > scale.high)))
    if outside:
        raise DesignError(Fault("score-out-of-range", name_files(table), f"{outside} scores lie outside [{scale.low:g}, {scale.high:g}]"))


def find_arm(table: ScoreTable, test: str, deploy: str) -> Rows:
    """Return the rows of the test arm, after checking that both arms are there and differ."""
    arms = table.arm.labels
    if test == deploy:
        raise DesignError(Fault("same-arm", "arms", f"test and deployment arm are both {test!r}; they must differ"))
    # Proposition 1 of the method: no mean over one side, however precise, gives a differential.
    if len(arms) < 2:
        only = f"every row is of arm {arms[0]!r}" if arms else "no row has its context as it is, a cue was taken out of every one"
        problem = f"{only}; a mean over one side never becomes a differential (Proposition 1)"
        raise DesignError(Fault("one-sided", name_files(table), problem, advice="add the scores of the other side"))
    missing = [arm for arm in (test, deploy) if arm not in arms]
    if missing:
        raise DesignError(_describe_unknown_arm(arm, table) for arm in missing)
    return np.flatnonzero(table.arm.codes == table.arm.find(test))


def _describe_unknown_arm(arm: str, table: ScoreTable) -> Fault:
    known = ", ".join(table.arm.labels[:10]) + (" …" if len(table.arm.labels) > 10 else "")
    advice = suggest(arm, table.arm.labels) or "name the arms that are the two sides (--test, --deploy)"
    return Fault("unknown-name", name_files(table), f"no row is of arm {arm!r}; the arms are: {known}", advice=advice)


def build_pairs(table: ScoreTable, scale: ScoreScale, test_rows: Rows, *, test: str, deploy: str) -> list[SidePair]:
    """Return one pair per specification in the order of names; raises with all faults at once."""
    specs = _find_specs(table, test_rows, test=test, deploy=deploy)
    weights, families = find_weights(table), name_families(table)
    side = build_side(table, scale, test_rows)
    cells = side.scored().cells(fill=0.0)
    pairs, faults = [], []
    if not len(cells.task):
        faults.append(_describe_unscored(table, test))
    for spec, rows in specs:
        other = build_side(table, scale, rows)
        other_cells = other.scored().cells(fill=0.0)
        common = find_common_tasks(cells, other_cells, tasks=len(table.task.labels))
        if not len(other_cells.task):
            faults.append(_describe_unscored(table, f"{deploy}, specification {spec}"))
        elif len(cells.task) and not common.any():
            faults.append(_describe_disjoint(table, spec, cells, other_cells))
        pairs.append(
            SidePair(
                spec=spec,
                test=side,
                deploy=other,
                test_cells=cells,
                deploy_cells=other_cells,
                common=common,
                labels=table.task.labels,
                weights=weights,
                families=families,
                unnamed=count_unnamed(table, np.concatenate([test_rows, rows])),
                truncation=count_truncated(table, test_rows, rows),
            )
        )
    if faults:
        raise DesignError(faults)
    return pairs


def drop_ablations(table: ScoreTable) -> tuple[ScoreTable, int]:
    """Return the table without the rows in which a cue was taken out of its context (or put into it), and how many those were."""
    if table.cue_removed is None:
        return table, 0
    ablated = table.cue_removed.codes >= 0
    return (table.keep(~ablated), int(np.count_nonzero(ablated))) if ablated.any() else (table, 0)


def find_weights(table: ScoreTable) -> Floats | None:
    """Return the weight of each task by its code; None without the column.

    Raises:
        DesignError: a row has no weight, one that is not a number above 0, or another than the rest of its task.
    """
    column = table.weight
    if column is None:
        return None
    numbers = np.array([*(_parse_weight(label) for label in column.labels), math.nan])
    by_row = numbers[column.codes]
    faults = [
        _describe_weight(table, row, "weight-not-positive", f"expected a number above 0, found {_show_weight(table, row)}")
        for row in np.flatnonzero(np.isnan(by_row))[:_LISTED].tolist()
    ]
    weights = np.full(len(table.task.labels), math.nan)
    # Written backwards, so that the first row of each task defines its weight.
    weights[table.task.codes[::-1]] = by_row[::-1]
    first = weights[table.task.codes]
    differs = np.flatnonzero(~np.isnan(by_row) & ~np.isnan(first) & (by_row != first))
    # One fault per task is enough.
    _, at = np.unique(table.task.codes[differs], return_index=True)
    for row in differs[np.sort(at)][:_LISTED].tolist():
        text = f"the task has the weight {first[row]:g} in another row, here {_show_weight(table, row)}; a task has one weight"
        faults.append(_describe_weight(table, row, "weights-differ", text))
    if faults:
        raise DesignError(faults)
    return weights


def _parse_weight(text: str) -> float:
    """NaN where *text* is no finite number above 0."""
    number = float(text) if _WEIGHT.fullmatch(text) else math.nan
    return number if 0 < number < math.inf else math.nan


def _show_weight(table: ScoreTable, row: int) -> str:
    code = -1 if table.weight is None else int(table.weight.codes[row])
    return "none" if table.weight is None or code < 0 else repr(table.weight.labels[code][:40])


def _describe_weight(table: ScoreTable, row: int, code: str, text: str) -> Fault:
    columns = (("task", table.task), ("arm", table.arm), ("context", table.context), ("sample", table.sample))
    key = ", ".join(f"{name} {column.labels[column.codes[row]]!r}" for name, column in columns)
    advice = "write one number above 0 in every row of the task, or remove the column"
    return Fault(code, f"{name_files(table)}, column weight, row of {key}", text, advice=advice)


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
    where, unnamed = f"{name_files(table)}, column spec", int(np.count_nonzero(codes == SCORED))
    faults = []
    if len(named) and unnamed:
        problem = f"{unnamed} rows of arm {deploy} name no specification, others do"
        faults.append(Fault("spec-missing", where, problem))
    on_test = np.unique(table.spec.codes[test_rows])
    on_test = on_test[on_test != SCORED]
    # The same names on both sides say nothing new. Any other name could mean a test side of its own.
    if len(on_test) and not np.array_equal(on_test, named):
        problem = f"rows of arm {test} name {table.spec.labels[on_test[0]]!r}; test rows are shared by all specifications"
        faults.append(Fault("spec-on-test", where, problem))
    elif len(on_test) > 1:
        problem = f"rows of arm {test} name {len(on_test)} specifications; test rows are shared by all of them"
        faults.append(Fault("spec-on-test", where, problem))
    if faults:
        raise DesignError(faults)
    if not len(named):
        return [(DEFAULT_SPEC, rows)]
    return [(table.spec.labels[code], rows[codes == code]) for code in named]


def build_side(table: ScoreTable, scale: ScoreScale, rows: Rows) -> ResponseSide:
    """Return the responses in *rows*, scores mapped to [0, 1]."""
    return ResponseSide(
        task=table.task.codes[rows],
        context=table.context.codes[rows],
        score=scale.shrink(table.score[rows]),
        clusters=find_clusters(table),
    )


def _describe_unscored(table: ScoreTable, arm: str) -> Fault:
    problem, advice = "every response of this side was excluded", "add responses of this side that have a score"
    return Fault("no-scores", f"{name_files(table)}, arm {arm}", problem, advice=advice)


def _describe_disjoint(table: ScoreTable, spec: str, test: Cells, deploy: Cells) -> Fault:
    first, second = table.task.labels[test.task[0]], table.task.labels[deploy.task[0]]
    problem = f"the sides share no task: one has for example {first!r}, the other {second!r}"
    return Fault("no-common-task", f"{name_files(table)}, specification {spec}", problem)


def check_contexts(table: ScoreTable, pairs: Iterable[SidePair], plan: Plan, *, test: str, deploy: str) -> None:
    """Refuse contexts that are shared by tasks where the plan says that each task has its own."""
    # Only nesting can be contradicted by a table. Random and fixed contexts may or may not be shared.
    if plan.contexts is not ContextDesign.NESTED:
        return
    faults = []
    for pair in pairs:
        for arm, cells in ((test, pair.test_cells), (f"{deploy}, specification {pair.spec}", pair.deploy_cells)):
            if fault := find_shared_fault(table, cells, where=f"{name_files(table)}, arm {arm}"):
                faults.append(fault)
    if faults:
        raise DesignError(dict.fromkeys(faults))


def find_shared_fault(table: ScoreTable, cells: Cells, *, where: str) -> Fault | None:
    """Return the fault of nested contexts, or templates, that several tasks use; None where none is."""
    shared = find_shared_context(cells)
    if shared is not None:
        problem = f"context {table.context.labels[shared[0]]!r} is used for {shared[1]} tasks; nested contexts belong to one each"
        return Fault("contexts-shared", where, problem, advice="declare contexts random or fixed, or give each task context ids of its own")
    template = find_shared_template(cells)
    # Contexts of one template are dependent, so a shared template breaks nesting too.
    if template is None:
        return None
    problem = f"the template of context {table.context.labels[template[0]]!r} is used for {template[1]} {template[2]}"
    return Fault("contexts-shared", where, problem, advice="declare contexts random: contexts of one template are not nested in a task")


def name_files(table: ScoreTable) -> str:
    """The file or files, for a message."""
    names = [file.name for file in table.files]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


# The arms of a score table for contrasts: their responses, their faults, and warnings for the reader.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredArm:
    """The responses of one arm, with scores in [0, 1]."""

    side: ResponseSide
    cells: Cells
    """Of the scored responses."""

    @property
    def is_binary(self) -> bool:
        """Whether every score is the lowest or the highest possible."""
        score = self.side.scored().score
        return bool(((score == 0.0) | (score == 1.0)).all())


def check_contrast_requests(table: ScoreTable, contrast_requests: Sequence[ContrastRequest]) -> None:
    """Refuse contrasts that no scores could answer, all at once.

    Raises:
        DesignError: nothing is asked, an arm is unknown or is compared with itself, or it has several specifications.
    """
    if not contrast_requests:
        raise DesignError(Fault("no-contrast", "contrasts", "expected at least one contrast, found none"))
    names = list(dict.fromkeys(name for contrast_request in contrast_requests for name in contrast_request.arms))
    faults = [_describe_unknown_contrast_arm(name, table) for name in names if name not in table.arm.labels]
    # A contrast of an arm with itself is 0 or 1 by construction and would take a place in Holm's
    # family.
    faults.extend(fault for contrast_request in contrast_requests for fault in _find_same(contrast_request))
    faults.extend(fault for name in names for fault in _find_arm_specs(table, name))
    if faults:
        raise DesignError(dict.fromkeys(faults))


def build_arms(table: ScoreTable, scale: ScoreScale, names: Iterable[str], *, nested: bool) -> dict[str, ScoredArm]:
    """Return the arms called *names*, in that order.

    Raises:
        DesignError: an arm has no scores, or with *nested* contexts two of its tasks share one.
    """
    arms, faults = {}, []
    for name in names:
        side = build_side(table, scale, np.flatnonzero(table.arm.codes == table.arm.find(name)))
        cells = side.scored().cells(fill=0.0)
        where = f"{name_files(table)}, arm {name}"
        if not len(cells.task):
            problem, advice = "every response of this arm was excluded", "add responses of this arm that have a score"
            faults.append(Fault("no-scores", where, problem, advice=advice))
        elif nested and (fault := find_shared_fault(table, cells, where=where)):
            faults.append(fault)
        arms[name] = ScoredArm(side=side, cells=cells)
    if faults:
        raise DesignError(faults)
    return arms


def build_arm_summaries(arms: Mapping[str, ScoredArm], scale: ScoreScale, weights: Floats | None, *, tasks: int) -> tuple[ArmSummary, ...]:
    """Return each arm by itself, over all its tasks, in the order of names."""
    summaries = []
    for name in sorted(arms):
        cells = arms[name].cells
        own = find_tasks_of_all([cells], tasks=tasks)
        mean = average_tasks(compute_task_means(cells, own), find_relative_weights(weights, own))
        summaries.append(
            ArmSummary(
                arm=name,
                mean=scale.stretch(mean),
                tasks=int(np.count_nonzero(own)),
                contexts=len(np.unique(cells.context)),
                responses=int(cells.count.sum()),
                excluded=arms[name].side.excluded,
            )
        )
    return tuple(summaries)


def warn_of_rows(table: ScoreTable, contrast_requests: Sequence[ContrastRequest], *, ablated: int) -> Iterator[EstimateWarning]:
    """Yield which rows were excluded."""
    if ablated:
        message = f"{ablated} responses have a cue taken out of their context and are excluded; the cue ablation uses them."
        yield EstimateWarning(code="ablation-rows", message=message)
    named = {name for contrast_request in contrast_requests for name in contrast_request.arms}
    others = [arm for arm in table.arm.labels if arm not in named]
    if others:
        names = ", ".join(others[:5]) + (" …" if len(others) > 5 else "")
        yield EstimateWarning(code="other-arms", message=f"Rows of {len(others)} other arms are excluded: {names}.")


def warn_of_arms(arms: Mapping[str, ScoredArm], contexts: ContextDesign) -> Iterator[EstimateWarning]:
    """Yield what is thin or uneven in the arms by themselves."""
    for name, arm in arms.items() if contexts is ContextDesign.RANDOM else ():
        for remark in remark_contexts(f"Arm {name}", count_contexts(arm.cells), templates=arm.cells.clusters.template is not None):
            yield EstimateWarning(code=remark.code, message=remark.message)
        if looks_nested(arm.cells):
            message = f"No two tasks share a context in arm {name}: the design looks nested, and random contexts are declared."
            yield EstimateWarning(code="looks-nested", message=message)
    lost = {name: (arm.side.excluded, len(arm.side.score)) for name, arm in arms.items()}
    # Cross-multiplied, so that equal rates compare as equal.
    # Equal rates everywhere means that all equal the first.
    first = next(iter(lost.values()))
    if any(excluded * first[1] != first[0] * rows for excluded, rows in lost.values()):
        rates = ", ".join(f"{excluded} of {rows} in {name}" for name, (excluded, rows) in lost.items())
        yield EstimateWarning(code="unequal-exclusions", message=f"The arms lost responses at different rates: {rates}.")


def warn_of_contrast(contrast: Contrast, *, dropped: int) -> Iterator[EstimateWarning]:
    """Yield what is thin, lost or turned in one contrast; *dropped* counts tasks that only some of its arms have."""
    counted = contrast.tasks if contrast.families is None else contrast.families
    effective = counted if contrast.effective_tasks is None else contrast.effective_tasks
    if contrast.families is not None and effective < ENOUGH_TASKS:
        worth = "" if contrast.effective_tasks is None else f", worth {effective:.3g} of equal weight"
        families = "1 family" if counted == 1 else f"{counted} families"
        message = f"{contrast.name}: the {contrast.tasks} tasks are in {families}{worth}; a verdict needs at least {ENOUGH_TASKS} families."
        yield EstimateWarning(code="few-families", message=message)
    elif contrast.tasks == 1:
        message = f"{contrast.name}: only 1 task is scored in all arms, so nothing says how other tasks would differ."
        yield EstimateWarning(code="one-task", message=message)
    elif effective < ENOUGH_TASKS:
        worth = "" if contrast.effective_tasks is None else f", worth {effective:.3g} of equal weight,"
        message = f"{contrast.name}: only {contrast.tasks} tasks{worth} are scored in all arms; a verdict needs at least {ENOUGH_TASKS}."
        yield EstimateWarning(code="few-tasks", message=message)
    if dropped:
        noun = "task is" if dropped == 1 else "tasks are"
        message = f"{contrast.name}: {dropped} {noun} not scored in all arms and excluded ({contrast.tasks} remain)."
        yield EstimateWarning(code="tasks-dropped", message=message)
    value = contrast.measure.value
    if value is not None and contrast.pooled is not None and (contrast.pooled - contrast.null) * (value - contrast.null) < 0:
        message = (
            f"{contrast.name}: cells are unequal, and the pooled value over responses ({contrast.pooled:.4g}) "
            f"lies on the other side of {contrast.null:g} than the value over tasks ({value:.4g})."
        )
        yield EstimateWarning(code="unequal-cells", message=message)


def _describe_unknown_contrast_arm(arm: str, table: ScoreTable) -> Fault:
    known = ", ".join(table.arm.labels[:10]) + (" …" if len(table.arm.labels) > 10 else "")
    advice = suggest(arm, table.arm.labels) or "name arms of the table"
    return Fault("unknown-name", name_files(table), f"no row is of arm {arm!r}; the arms are: {known}", advice=advice)


def _find_same(request: ContrastRequest) -> Iterator[Fault]:
    """Yield the arms that stand against themselves: the answer would be 0, or 1, whatever the scores are."""
    against: list[tuple[str, str]]
    match request.kind:
        case ContrastKind.DIFFERENCE | ContrastKind.RATIO:
            against = [(request.arms[0], request.arms[1])]
        case ContrastKind.DIFFERENCE_IN_DIFFERENCES:
            name, two, three, four = request.arms
            against = [(name, two), (three, four), (f"{name} − {two}", f"{three} − {four}")]
        case ContrastKind.MITIGATION:
            treated, effect, baseline = request.arms[:3]
            against = [(treated, effect), (effect, baseline), (treated, request.arms[-1])]
    for first, second in against:
        if first == second:
            problem = f"{first!r} is compared with itself in a {request.kind.value.replace('_', ' ')} of {', '.join(request.arms)}"
            yield Fault("same-arm", "contrasts", problem)


def _find_arm_specs(table: ScoreTable, name: str) -> Iterator[Fault]:
    """Yield a fault where the rows of an arm belong to several specifications of P_deploy, which are several things."""
    if not table.spec.labels or name not in table.arm.labels:
        return
    codes = np.unique(table.spec.codes[table.arm.codes == table.arm.find(name)])
    if len(codes) > 1:
        names = ", ".join("none" if code == SCORED else table.spec.labels[code] for code in codes.tolist())
        problem = f"rows of this arm belong to {len(codes)} specifications ({names})"
        yield Fault("arm-of-several-specs", f"{name_files(table)}, arm {name}", problem)
