"""Module 2 beside ED: where the model mentioned a test, is ED another than where it did not (method section 5)?

An association, not a cause. The responses of the test side are split by what they say; each part is set against all deployment responses
of the same tasks, and both parts against each other over the tasks that have both. Means, variances and intervals are those of contrasts.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from audit.contrast import contrast
from audit.errors import DesignError
from audit.panel import split_judges
from audit.records.contrast_result import ContrastKind, ContrastRequest
from audit.sides import DEFAULT_SPEC, check_range, drop_ablations, find_arm
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.responses import SCORED, Floats, ScoreTable, TextColumn, average_repeats
from registry.errors import CaveatError, Fault
from registry.records.analysis_plan import IntervalMethod, Plan
from registry.records.estimates import EstimateWarning, Measure
from registry.records.module_findings import LinkGroup, RecognitionLink, RecognitionLinks

FEWEST_TASKS = 5
"""Below so many tasks a group, or the tasks of both, give no number [ours]: a few tasks are a few anecdotes."""

_MENTIONED, _NOT, _DEPLOY = "mentioned", "not mentioned", "deployment"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mentions:
    """What is known of each response."""

    values: Floats
    """By row of the table: 1 where the response mentions a test, 0 where it does not, NaN where that is not known."""
    source: str
    """The column or file that they come from."""


def link(
    table: ScoreTable, mentions: Mentions, plan: Plan, *, range_: tuple[float, float], test: str = "test", deploy: str = "deploy"
) -> RecognitionLinks:
    """Return ED where a test was mentioned and where it was not, for each specification of P_deploy and each judge.

    Args:
        table: checked scores; rows of edited contexts are left out.
        mentions: row for row of *table*.
        plan: margin, level and what contexts are.
        range_: lowest and highest possible score.

    Raises:
        DesignError: an arm is missing, or of no test-side response it is known whether it mentions a test.
    """
    scale = ScoreScale(low=float(range_[0]), high=float(range_[1]))
    check_range(table, scale)
    kept = np.flatnonzero(table.cue_removed.codes < 0) if table.cue_removed is not None else np.arange(table.rows)
    plain, ablated = drop_ablations(table)
    values = mentions.values[kept]
    plain = replace(plain, cue_removed=None)
    find_arm(plain, test, deploy)
    is_test = plain.arm.codes == plain.arm.find(test)
    _check_known(values[is_test], mentions.source)
    margin = 0.05 * scale.width if plan.margin is None else plan.margin
    filled = replace(plan, margin=margin, interval=IntervalMethod.CLOSED_FORM)
    links = [
        _link_one(plain, values, filled, scale, spec=spec, judge=judge, sides=(test, deploy))
        for judge in _list_judges(plain)
        for spec in _list_specs(plain, deploy)
    ]
    return RecognitionLinks(
        level=plan.level,
        margin=margin,
        range=(scale.low, scale.high),
        contexts=plan.contexts.value,
        source=mentions.source,
        mentions=_digest(plain, values),
        links=tuple(links),
        scores=table.content,
        warnings=tuple(_warn(links, ablated)),
    )


def _check_known(values: Floats, source: str) -> None:
    if not len(values) or np.isnan(values).all():
        found = "of no response of the test side it is known whether it mentions a test"
        advice = "classify the responses first: caveat probe RUN --judge MODEL --mentions FILE"
        raise DesignError(Fault(code="mentions-missing", where=source, found=found, advice=advice))


def _list_judges(table: ScoreTable) -> list[str | None]:
    return [judge for judge, _ in split_judges(table)]


def _list_specs(table: ScoreTable, deploy: str) -> list[str | None]:
    """The specifications of P_deploy that the deployment rows name; None alone where they name none."""
    codes = table.spec.codes[table.arm.codes == table.arm.find(deploy)]
    return [table.spec.labels[code] for code in np.unique(codes[codes != SCORED]).tolist()] or [None]


def _link_one(
    table: ScoreTable,
    values: Floats,
    plan: Plan,
    scale: ScoreScale,
    *,
    spec: str | None,
    judge: str | None,
    sides: tuple[str, str],
) -> RecognitionLink:
    rows = np.ones(table.rows, dtype=bool)
    if judge is not None and table.judge is not None:
        rows &= table.judge.codes == table.judge.find(judge)
    is_test, is_deploy = (table.arm.codes == table.arm.find(side) for side in sides)
    if spec is not None:
        is_deploy = is_deploy & (table.spec.codes == table.spec.find(spec))
    scored = table.excluded.codes == SCORED
    arm = np.full(table.rows, SCORED, dtype=np.int32)
    arm[is_deploy], arm[is_test & (values == 1)], arm[is_test & (values == 0)] = range(3)
    chosen = rows & (arm != SCORED)
    nothing = TextColumn(codes=np.full(table.rows, SCORED, dtype=np.int32), labels=())
    relabelled = replace(table, arm=TextColumn(codes=arm, labels=(_DEPLOY, _MENTIONED, _NOT)), spec=nothing, judge=None).keep(chosen)
    study = _Study(table=average_repeats(relabelled), plan=plan, scale=scale)
    difference, tasks = study.compare(_MENTIONED, _NOT)
    return RecognitionLink(
        spec=spec or DEFAULT_SPEC,
        judge=judge,
        mentioned=study.build_group(_MENTIONED),
        not_mentioned=study.build_group(_NOT),
        unknown=int(np.count_nonzero(rows & is_test & scored & np.isnan(values))),
        difference=difference,
        tasks=tasks,
        deploy_mentioned=int(np.count_nonzero(rows & is_deploy & scored & (values == 1))),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Study:
    """One judge's scores against one specification, with the test side split in two arms."""

    table: ScoreTable
    plan: Plan
    scale: ScoreScale

    def build_group(self, name: str) -> LinkGroup:
        rows = self._find_scored(name)
        ed, tasks = self.compare(name, _DEPLOY)
        contexts = len(np.unique(self.table.context.codes[rows]))
        return LinkGroup(responses=len(rows), tasks=tasks, contexts=contexts, ed=ed)

    def compare(self, first: str, second: str) -> tuple[Measure, int]:
        """Return Φ of *first* less that of *second* over the tasks that both have, or the reason why there is none, and these tasks."""
        empty = next((name for name in (first, second) if not len(self._find_scored(name))), None)
        if empty is not None:
            group = "deployment" if empty == _DEPLOY else "test-side"
            which = "" if empty == _DEPLOY else f" in which a test was {empty}"
            return Measure(value=None, reason=f"no {group} response{which} has a score"), 0
        codes = [self.table.task.codes[self._find_scored(name)] for name in (first, second)]
        tasks = len(np.intersect1d(codes[0], codes[1]))
        if tasks < FEWEST_TASKS:
            return Measure(value=None, reason=f"{tasks} tasks have both: a number needs at least {FEWEST_TASKS}"), tasks
        asked = ContrastRequest(kind=ContrastKind.DIFFERENCE, arms=(first, second))
        try:
            found = contrast(self.table, self.plan, [asked], range_=(self.scale.low, self.scale.high)).contrasts[0]
        except CaveatError as error:
            return Measure(value=None, reason=error.faults[0].found), tasks
        return found.measure, found.tasks

    def _find_scored(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        code = self.table.arm.find(name)
        is_arm = np.zeros(self.table.rows, dtype=bool) if code is None else self.table.arm.codes == code
        return np.flatnonzero(is_arm & (self.table.excluded.codes == SCORED))


def _digest(table: ScoreTable, values: Floats) -> str:
    """SHA-256 of cells and mentions; the order of rows does not count."""
    columns = (table.task, table.arm, table.spec, table.context, table.sample)
    lines = sorted(
        "\t".join([*("" if column.codes[row] < 0 else column.labels[column.codes[row]] for column in columns), str(value)])
        for row, value in enumerate(values.tolist())
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _warn(links: list[RecognitionLink], ablated: int) -> Iterator[EstimateWarning]:
    if ablated:
        yield EstimateWarning(code="ablation-rows", message=f"{ablated} responses have a cue taken out of their context and are left out.")
    unknown = sum(one.unknown for one in links)
    if unknown:
        message = f"Of {unknown} scored test-side responses it is not known whether they mention a test: they are in neither group."
        yield EstimateWarning(code="mentions-unknown", message=message)
