"""The arms of a score table that contrasts are asked between: their responses, what is wrong with them, what a reader must know."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audit.errors import DesignError
from audit.records.contrast_result import ArmSummary, Contrast, ContrastKind, ContrastRequest
from audit.sides import build_side, find_shared_fault, name_files
from audit.statistics.contrast_intervals import find_tasks_of_all
from audit.statistics.design_remarks import ENOUGH_TASKS, looks_nested, remark_contexts
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.missing_responses import ResponseSide
from audit.statistics.responses import SCORED, Floats, ScoreTable, find_relative_weights
from audit.statistics.side_moments import Cells, average_tasks, compute_task_means, count_contexts
from registry.errors import Fault
from registry.records.analysis_plan import ContextDesign
from registry.records.estimates import EstimateWarning


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arm:
    """The responses of one arm, with scores in [0, 1]."""

    side: ResponseSide
    cells: Cells
    """Of the scored responses."""

    @property
    def is_binary(self) -> bool:
        """Whether every score is the lowest or the highest possible."""
        score = self.side.scored().score
        return bool(((score == 0.0) | (score == 1.0)).all())


def check_asked(table: ScoreTable, asked: Sequence[ContrastRequest]) -> None:
    """Refuse contrasts that no scores could answer, all at once.

    Raises:
        DesignError: nothing is asked, an arm is unknown or stands against itself, or it has several specifications.
    """
    if not asked:
        found = "expected at least one contrast, found none"
        raise DesignError(Fault(code="no-contrast", where="contrasts", found=found, advice="name two arms with --contrast"))
    names = list(dict.fromkeys(name for one in asked for name in one.arms))
    faults = [_tell_unknown_arm(name, table) for name in names if name not in table.arm.labels]
    faults.extend(fault for one in asked for fault in _find_same(one))
    faults.extend(fault for name in names for fault in _find_specs(table, name))
    if faults:
        raise DesignError(dict.fromkeys(faults))


def build_arms(table: ScoreTable, scale: ScoreScale, names: Iterable[str], *, nested: bool) -> dict[str, Arm]:
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
            found, advice = "every response of this arm was excluded", "add responses of this arm that have a score"
            faults.append(Fault(code="no-scores", where=where, found=found, advice=advice))
        elif nested and (fault := find_shared_fault(table, cells, where=where)):
            faults.append(fault)
        arms[name] = Arm(side=side, cells=cells)
    if faults:
        raise DesignError(faults)
    return arms


def summarise_arms(arms: Mapping[str, Arm], scale: ScoreScale, weights: Floats | None, *, tasks: int) -> tuple[ArmSummary, ...]:
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


def warn_of_rows(table: ScoreTable, asked: Sequence[ContrastRequest], *, ablated: int) -> Iterator[EstimateWarning]:
    """Yield which rows were left out."""
    if ablated:
        message = f"{ablated} rows have a cue taken out of their context (cue_removed) and are left out; caveat ablation is for them."
        yield EstimateWarning(code="ablation-rows", message=message)
    named = {name for one in asked for name in one.arms}
    others = [arm for arm in table.arm.labels if arm not in named]
    if others:
        names = ", ".join(others[:5]) + (" …" if len(others) > 5 else "")
        yield EstimateWarning(code="other-arms", message=f"Rows of {len(others)} other arms are left out: {names}.")


def warn_of_arms(arms: Mapping[str, Arm], contexts: ContextDesign) -> Iterator[EstimateWarning]:
    """Yield what is thin or uneven in the arms by themselves."""
    for name, arm in arms.items() if contexts is ContextDesign.RANDOM else ():
        for one in remark_contexts(f"Arm {name}", count_contexts(arm.cells), templates=arm.cells.clusters.template is not None):
            yield EstimateWarning(code=one.code, message=one.message)
        if looks_nested(arm.cells):
            message = f"No two tasks share a context in arm {name}: the design looks nested, and random contexts are declared."
            yield EstimateWarning(code="looks-nested", message=message)
    lost = {name: (arm.side.excluded, len(arm.side.score)) for name, arm in arms.items()}
    # Cross-multiplied: equal rates are equal exactly.
    first = next(iter(lost.values()))
    if any(excluded * first[1] != first[0] * rows for excluded, rows in lost.values()):
        rates = ", ".join(f"{excluded} of {rows} in {name}" for name, (excluded, rows) in lost.items())
        yield EstimateWarning(code="unequal-exclusions", message=f"The arms lost responses at different rates: {rates}.")


def warn_of_contrast(found: Contrast, *, dropped: int) -> Iterator[EstimateWarning]:
    """Yield what is thin, lost or turned in one contrast; *dropped* counts tasks that only some of its arms have."""
    counted = found.tasks if found.families is None else found.families
    effective = counted if found.effective_tasks is None else found.effective_tasks
    if found.families is not None and effective < ENOUGH_TASKS:
        worth = "" if found.effective_tasks is None else f", worth {effective:.3g} of equal weight"
        families = "1 family" if counted == 1 else f"{counted} families"
        message = f"{found.name}: the {found.tasks} tasks are in {families}{worth}; a verdict needs at least {ENOUGH_TASKS} families."
        yield EstimateWarning(code="few-families", message=message)
    elif found.tasks == 1:
        message = f"{found.name}: only 1 task is scored in all arms, so nothing says how other tasks would differ."
        yield EstimateWarning(code="one-task", message=message)
    elif effective < ENOUGH_TASKS:
        worth = "" if found.effective_tasks is None else f", worth {effective:.3g} of equal weight,"
        message = f"{found.name}: only {found.tasks} tasks{worth} are scored in all arms; a verdict needs at least {ENOUGH_TASKS}."
        yield EstimateWarning(code="few-tasks", message=message)
    if dropped:
        noun = "task is" if dropped == 1 else "tasks are"
        message = f"{found.name}: {dropped} {noun} not scored in all arms and left out ({found.tasks} remain)."
        yield EstimateWarning(code="tasks-dropped", message=message)
    value = found.measure.value
    if value is not None and found.pooled is not None and (found.pooled - found.null) * (value - found.null) < 0:
        message = (
            f"{found.name}: cells are unequal, and the pooled value over responses ({found.pooled:.4g}) "
            f"lies on the other side of {found.null:g} than the value over tasks ({value:.4g})."
        )
        yield EstimateWarning(code="unequal-cells", message=message)


def _tell_unknown_arm(arm: str, table: ScoreTable) -> Fault:
    close = difflib.get_close_matches(arm, table.arm.labels, n=1, cutoff=0.5)
    known = ", ".join(table.arm.labels[:10]) + (" …" if len(table.arm.labels) > 10 else "")
    advice = f"did you mean {close[0]}?" if close else "name arms of the table"
    return Fault(code="unknown-arm", where=name_files(table), found=f"no row is of arm {arm!r}; the arms are: {known}", advice=advice)


def _find_same(asked: ContrastRequest) -> Iterator[Fault]:
    """Yield the arms that stand against themselves: the answer would be 0, or 1, whatever the scores are."""
    against: list[tuple[str, str]]
    match asked.kind:
        case ContrastKind.DIFFERENCE | ContrastKind.RATIO:
            against = [(asked.arms[0], asked.arms[1])]
        case ContrastKind.DIFFERENCE_IN_DIFFERENCES:
            one, two, three, four = asked.arms
            against = [(one, two), (three, four), (f"{one} − {two}", f"{three} − {four}")]
        case ContrastKind.MITIGATION:
            treated, effect, baseline = asked.arms[:3]
            against = [(treated, effect), (effect, baseline), (treated, asked.arms[-1])]
    for first, second in against:
        if first == second:
            found = f"{first!r} stands against itself in a {asked.kind.value.replace('_', ' ')} of {', '.join(asked.arms)}"
            yield Fault(code="same-arm", where="contrasts", found=found, advice="name arms that differ")


def _find_specs(table: ScoreTable, name: str) -> Iterator[Fault]:
    """Yield a fault where the rows of an arm belong to several specifications of P_deploy, which are several things."""
    if not table.spec.labels or name not in table.arm.labels:
        return
    codes = np.unique(table.spec.codes[table.arm.codes == table.arm.find(name)])
    if len(codes) > 1:
        names = ", ".join("none" if code == SCORED else table.spec.labels[code] for code in codes.tolist())
        found = f"rows of this arm belong to {len(codes)} specifications ({names})"
        advice = "keep those of one with --where spec=NAME, or make each an arm of its own"
        yield Fault(code="arm-of-several-specs", where=f"{name_files(table)}, arm {name}", found=found, advice=advice)
