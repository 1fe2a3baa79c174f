"""What a reader must know about a design before believing its numbers (statistics.md section 3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from audit.statistics.cells import Cells
from audit.statistics.halfwidth import ZERO_VARIANCE, total_variance
from audit.statistics.moments import ENOUGH_CONTEXTS, Moments, SideMoments
from registry.records.plan import IntervalMethod, Plan

ENOUGH_TASKS = 20
"""A verdict needs this many tasks on both sides, and with random contexts `ENOUGH_CONTEXTS` a side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One plain sentence with its numbers."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts that the moments do not hold."""

    tasks: int
    """Tasks with a scored response on both sides, each counted whatever family it is in."""

    dropped: int
    """Tasks without a scored response on one of the sides."""

    scored_test: int
    scored_deploy: int
    excluded_test: int
    excluded_deploy: int


def remark_design(moments: Moments, tally: Tally) -> Iterator[Remark]:
    """Yield what is thin, lost or uneven in a design."""
    yield from _remark_tasks(moments.test, tally)
    if moments.random:
        yield from remark_contexts("The test side", moments.test.contexts, templates=moments.test.templates)
        yield from remark_contexts("The deployment side", moments.deploy.contexts, templates=moments.deploy.templates)
    yield from _remark_exclusions(tally)
    yield from _remark_variance("test", moments.test, random=moments.random)
    yield from _remark_variance("deployment", moments.deploy, random=moments.random)


def looks_nested(cells: Cells) -> bool:
    """Tell whether no two tasks share a context although there are several tasks."""
    several = int(np.count_nonzero(np.bincount(cells.task))) > 1
    return several and int(np.bincount(cells.context).max()) == 1


def find_shared_context(cells: Cells) -> tuple[int, int] | None:
    """Return the code of the context used by most tasks, and by how many, if any is used by more than one."""
    uses = np.bincount(cells.context)
    most = int(np.argmax(uses))
    return (most, int(uses[most])) if uses[most] > 1 else None


def find_shared_template(cells: Cells) -> tuple[int, int, str] | None:
    """Return a context of the template that most clusters of tasks use, by how many, and what they are; None if none is used by several."""
    pairs = np.unique(np.stack([cells.clusters.of_contexts(cells.context), cells.clusters.of_tasks(cells.task)]), axis=1)
    uses = np.bincount(pairs[0])
    most = int(np.argmax(uses))
    kind = "tasks" if cells.clusters.family is None else "families of tasks"
    return None if cells.clusters.template is None or uses[most] < 2 else (most, int(uses[most]), kind)


def has_equal_cells(cells: Cells, *, dropped: int) -> bool:
    """Tell whether every response weighs the same in the mean, so that the pooled mean is the same by design."""
    per_task = np.bincount(cells.task)
    weights = cells.count * per_task[cells.task]
    return dropped == 0 and bool((weights == weights[0]).all())


def remark_size(plan: Plan, tally: Tally) -> Iterator[Remark]:
    """Yield how the number of tasks departs from the plan."""
    tasks, planned = tally.tasks, plan.tasks
    if planned is None or tasks == planned:
        return
    begun = f", {tasks + tally.dropped} were begun" if tally.dropped and not plan.random_subset else ""
    counted = f"{tasks} of {planned} planned tasks are scored on both sides{begun}"
    fixed = "intervals are for a size fixed before"
    if tasks > planned:
        holds = "anytime intervals hold all the same" if plan.interval is IntervalMethod.ANYTIME else fixed
        more = f"{tasks - planned} more than the {planned} planned"
        yield Remark(code="tasks-added", message=f"Deviation: {tasks} tasks are scored on both sides, {more}; {holds}.")
    elif plan.interval is not IntervalMethod.ANYTIME:
        message = f"Deviation: only {counted}; {fixed}, and stopping on what was seen makes them too narrow."
        yield Remark(code="stopped-early", message=message)


def describe_worth(side: SideMoments, tasks: int) -> str:
    """Return that weights, or families, leave *tasks* worth fewer independent ones than a verdict needs."""
    effective = side.effective_tasks
    if not side.families:
        return f"Weights leave the {tasks} tasks worth {effective:.1f} of equal weight; a verdict needs at least {ENOUGH_TASKS}."
    worth = "" if side.kish is None else f", worth {effective:.1f} of equal weight"
    families = "1 family" if side.tasks == 1 else f"{side.tasks} families"
    return f"The {tasks} tasks are in {families}{worth}; a verdict needs at least {ENOUGH_TASKS} families."


def _remark_tasks(side: SideMoments, tally: Tally) -> Iterator[Remark]:
    tasks, dropped = tally.tasks, tally.dropped
    if side.families and side.effective_tasks < ENOUGH_TASKS:
        yield Remark(code="few-families", message=describe_worth(side, tasks))
    elif tasks == 1:
        yield Remark(code="one-task", message="Only 1 task is scored on both sides, so nothing says how other tasks would differ.")
    elif tasks < ENOUGH_TASKS:
        yield Remark(code="few-tasks", message=f"Only {tasks} tasks are scored on both sides; a verdict needs at least {ENOUGH_TASKS}.")
    elif side.effective_tasks < ENOUGH_TASKS:
        yield Remark(code="few-tasks", message=describe_worth(side, tasks))
    if dropped:
        noun = "task is" if dropped == 1 else "tasks are"
        message = f"{dropped} {noun} not scored on both sides and left out of ED ({tasks} remain)."
        yield Remark(code="tasks-dropped", message=message)


def remark_contexts(subject: str, contexts: int, *, templates: bool = False) -> Iterator[Remark]:
    """Yield that *subject*, such as `The test side`, has too few contexts for a verdict that takes them as a sample.

    With *templates* it is these that are counted.
    """
    unit = "template" if templates else "context"
    if contexts == 1:
        message = f"{subject} has only 1 {unit}, so nothing says how others of its kind would differ."
        yield Remark(code="one-template" if templates else "one-context", message=message)
    elif contexts < ENOUGH_CONTEXTS:
        vacuous = "; with 2 the interval is nearly vacuous" if contexts == 2 else ""
        drawn = "contexts from random templates" if templates else "random contexts"
        message = f"{subject} has only {contexts} {unit}s; a verdict with {drawn} needs at least {ENOUGH_CONTEXTS}{vacuous}."
        yield Remark(code="few-templates" if templates else "few-contexts", message=message)


def _remark_exclusions(tally: Tally) -> Iterator[Remark]:
    all_test, all_deploy = tally.scored_test + tally.excluded_test, tally.scored_deploy + tally.excluded_deploy
    # Cross-multiplied: equal rates are equal exactly.
    if tally.excluded_test * all_deploy != tally.excluded_deploy * all_test:
        message = (
            f"The sides lost responses at different rates: {tally.excluded_test} of {all_test} on the test side, "
            f"{tally.excluded_deploy} of {all_deploy} on the deployment side."
        )
        yield Remark(code="unequal-exclusions", message=message)


def _remark_variance(name: str, side: SideMoments, *, random: bool) -> Iterator[Remark]:
    parts = side.parts(random=random)
    if parts is not None and total_variance(parts) <= ZERO_VARIANCE:
        unit = "families" if side.families else "tasks"
        message = f"The {name} side shows no variation over its {side.tasks} {unit}; its interval counts {unit}, not responses."
        yield Remark(code="zero-variance", message=message)
