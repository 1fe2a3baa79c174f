"""Two arms of a score table become two sides over the same tasks, once for each specification of P_deploy.

What cannot be a pair of sides is refused here: one arm alone, arms without a common task, contexts that contradict the plan.
"""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.errors import DesignError, find_range_fault
from audit.families import count_unnamed, find_clusters, name_families
from audit.statistics.design_remarks import find_shared_context, find_shared_template
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.missing_responses import ResponseSide, count_truncated
from audit.statistics.responses import SCORED, Floats, ScoreTable
from audit.statistics.side_moments import Cells, find_common_tasks
from registry.errors import Fault
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Truncation

DEFAULT_SPEC = "default"
"""Name of the one P_deploy specification of a table that names none."""

_WEIGHT = re.compile(r"[+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LISTED = 20

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
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
        found = f"{outside} scores lie outside [{scale.low:g}, {scale.high:g}]"
        advice = "give the range of the scoring function"
        raise DesignError(Fault(code="score-out-of-range", where=name_files(table), found=found, advice=advice))


def find_arm(table: ScoreTable, test: str, deploy: str) -> Rows:
    """Return the rows of the test arm, after checking that both arms are there and differ."""
    arms = table.arm.labels
    if test == deploy:
        found = f"test and deployment arm are both {test!r}; they must differ"
        raise DesignError(Fault(code="same-arm", where="arms", found=found, advice="name two with --test and --deploy"))
    if len(arms) < 2:
        only = f"every row is of arm {arms[0]!r}" if arms else "no row has its context as it is, a cue was taken out of every one"
        found = f"{only}; a mean over one side never becomes a differential (Proposition 1)"
        raise DesignError(Fault(code="one-sided", where=name_files(table), found=found, advice="add the scores of the other side"))
    missing = [arm for arm in (test, deploy) if arm not in arms]
    if missing:
        raise DesignError(_tell_unknown_arm(arm, table) for arm in missing)
    return np.flatnonzero(table.arm.codes == table.arm.find(test))


def _tell_unknown_arm(arm: str, table: ScoreTable) -> Fault:
    close = difflib.get_close_matches(arm, table.arm.labels, n=1, cutoff=0.5)
    known = ", ".join(table.arm.labels[:10]) + (" …" if len(table.arm.labels) > 10 else "")
    advice = f"did you mean {close[0]}?" if close else "name the arms that are the two sides (--test, --deploy)"
    return Fault(code="unknown-arm", where=name_files(table), found=f"no row is of arm {arm!r}; the arms are: {known}", advice=advice)


def build_pairs(table: ScoreTable, scale: ScoreScale, test_rows: Rows, *, test: str, deploy: str) -> list[Pair]:
    """Return one pair per specification in the order of names; raises with all faults at once."""
    specs = _find_specs(table, test_rows, test=test, deploy=deploy)
    weights, families = find_weights(table), name_families(table)
    side = build_side(table, scale, test_rows)
    cells = side.scored().cells(fill=0.0)
    pairs, faults = [], []
    if not len(cells.task):
        faults.append(_tell_unscored(table, test))
    for spec, rows in specs:
        other = build_side(table, scale, rows)
        other_cells = other.scored().cells(fill=0.0)
        common = find_common_tasks(cells, other_cells, tasks=len(table.task.labels))
        if not len(other_cells.task):
            faults.append(_tell_unscored(table, f"{deploy}, specification {spec}"))
        elif len(cells.task) and not common.any():
            faults.append(_tell_disjoint(table, spec, cells, other_cells))
        pairs.append(
            Pair(
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
        DesignError: a row has no weight, one that is no number above 0, or another than the rest of its task.
    """
    column = table.weight
    if column is None:
        return None
    numbers = np.array([*(_parse_weight(label) for label in column.labels), math.nan])
    by_row = numbers[column.codes]
    faults = [
        _tell_weight(table, row, "weight-not-positive", f"expected a number above 0, found {_show_weight(table, row)}")
        for row in np.flatnonzero(np.isnan(by_row))[:_LISTED].tolist()
    ]
    weights = np.full(len(table.task.labels), math.nan)
    weights[table.task.codes[::-1]] = by_row[::-1]
    first = weights[table.task.codes]
    differs = np.flatnonzero(~np.isnan(by_row) & ~np.isnan(first) & (by_row != first))
    _, at = np.unique(table.task.codes[differs], return_index=True)
    for row in differs[np.sort(at)][:_LISTED].tolist():
        found = f"the task has the weight {first[row]:g} in another row, here {_show_weight(table, row)}; a task has one weight"
        faults.append(_tell_weight(table, row, "weights-differ", found))
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


def _tell_weight(table: ScoreTable, row: int, code: str, found: str) -> Fault:
    columns = (("task", table.task), ("arm", table.arm), ("context", table.context), ("sample", table.sample))
    key = ", ".join(f"{name} {column.labels[column.codes[row]]!r}" for name, column in columns)
    advice = "write one number above 0 in every row of the task, or remove the column"
    return Fault(code=code, where=f"{name_files(table)}, column weight, row of {key}", found=found, advice=advice)


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
        found = f"{unnamed} rows of arm {deploy} name no specification, others do"
        faults.append(Fault(code="spec-missing", where=where, found=found, advice="name one in every such row"))
    on_test = np.unique(table.spec.codes[test_rows])
    on_test = on_test[on_test != SCORED]
    advice = "leave spec empty in test rows"
    if len(on_test) and not np.array_equal(on_test, named):
        found = f"rows of arm {test} name {table.spec.labels[on_test[0]]!r}; test rows are shared by all specifications"
        faults.append(Fault(code="spec-on-test", where=where, found=found, advice=advice))
    elif len(on_test) > 1:
        found = f"rows of arm {test} name {len(on_test)} specifications; test rows are shared by all of them"
        faults.append(Fault(code="spec-on-test", where=where, found=found, advice=advice))
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


def _tell_unscored(table: ScoreTable, arm: str) -> Fault:
    found, advice = "every response of this side was excluded", "add responses of this side that have a score"
    return Fault(code="no-scores", where=f"{name_files(table)}, arm {arm}", found=found, advice=advice)


def _tell_disjoint(table: ScoreTable, spec: str, test: Cells, deploy: Cells) -> Fault:
    first, second = table.task.labels[test.task[0]], table.task.labels[deploy.task[0]]
    found = f"the sides share no task: one has for example {first!r}, the other {second!r}"
    advice = "use the same task_id for the same task on both sides"
    return Fault(code="no-common-task", where=f"{name_files(table)}, specification {spec}", found=found, advice=advice)


def check_contexts(table: ScoreTable, pairs: Iterable[Pair], plan: Plan, *, test: str, deploy: str) -> None:
    """Refuse contexts that are shared by tasks where the plan says that each task has its own."""
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
        found = f"context {table.context.labels[shared[0]]!r} is used for {shared[1]} tasks; nested contexts belong to one each"
        advice = "declare contexts random or fixed, or give each task context ids of its own"
        return Fault(code="contexts-shared", where=where, found=found, advice=advice)
    template = find_shared_template(cells)
    if template is None:
        return None
    found = f"the template of context {table.context.labels[template[0]]!r} is used for {template[1]} {template[2]}"
    advice = "declare contexts random: contexts of one template are not nested in a task"
    return Fault(code="contexts-shared", where=where, found=found, advice=advice)


def name_files(table: ScoreTable) -> str:
    """The file or files, for a message."""
    names = [file.name for file in table.files]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
