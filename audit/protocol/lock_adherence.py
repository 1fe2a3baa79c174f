"""Whether a replay, and the scores that came of it, are as their lock says; deviations are named, never judged."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from audit.modules.score_sides import name_families
from audit.replay.replay_file import SIDES, digest_tasks
from audit.statistics.mean_intervals import order_tasks
from audit.statistics.responses import ScoreTable, TextColumn
from registry.records.analysis_plan import DECISIVE, ContextDesign, Deviation, IntervalMethod, Lock, LockedItem, LockedSpec
from registry.records.estimates import DEVIATIONS, Estimate
from registry.records.replay_run import Provenance
from registry.records.specification import ContextSpec

# Deviations are found and named here. What they do to an outcome is decided in `audit.protocol.evidence_basis`.
#
# The tasks of each side are compared, and that every task has a row in every context unless contexts are nested,
# because leaving rows out is choosing scores. Cost: a deliberately sparse design is `reported` unless its replay is
# locked.
_PARTS = {
    "policy": LockedItem.MODEL,
    "test": LockedItem.TEST_CONTEXTS,
    "deploy": LockedItem.DEPLOY_CONTEXTS,
    "tasks": LockedItem.TASKS,
    "scoring": LockedItem.SCORING,
    "cues": LockedItem.CUES,
    "budget": LockedItem.BUDGET,
}
_LIMIT = re.compile(r"(?<![\d.,'’])(?<!\d\s)(\d[\d,]*)\s+(calls|input tokens|output tokens)\b")
"""A number with commas between its thousands, or none; of `1 500 calls` and `1.500 calls` nothing is read, rather than 500."""
_MOST_NAMED = 5
Rows = NDArray[np.bool_]
_TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockDeviation:
    """One thing that is not as the lock says."""

    item: LockedItem
    planned: str
    done: str

    @property
    def is_decisive(self) -> bool:
        """Whether the scores are then not those that were planned."""
        return self.item in DECISIVE


def describe_items(deviations: Collection[LockDeviation]) -> str | None:
    """Return the items of *deviations* in words, each once; None without any."""
    return ", ".join(dict.fromkeys(departure.item.words for departure in deviations)) or None


def is_on_record(departure: LockDeviation, deviations: Collection[Deviation]) -> bool:
    """Return whether *departure* is among the recorded *deviations* already."""
    return (departure.item, departure.planned, departure.done) in {deviation.departure for deviation in deviations}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReplay:
    """What a replay is about to ask, as far as a lock fixes it."""

    tasks: tuple[str, ...]
    sides: Mapping[str, Collection[str]]
    """By name of the P_deploy specification the digests of its contexts; those of the test side under an empty name."""
    model: str
    calls: int
    """The most calls that it may make: its own limit, else all it plans."""
    parts: Mapping[str, str]
    sealed: Collection[str] = ()
    """Those of the digests that are commitments to sealed contexts."""


def compare_replay(lock: Lock, planned_replay: PlannedReplay) -> tuple[LockDeviation, ...]:
    """Return in what a replay departs from *lock* before its first call; what the lock leaves open cannot be departed from."""
    # Only what the lock fixes is compared. What it leaves open is named on page one instead.
    deviations = [
        *_compare_tasks(lock, set(planned_replay.tasks), may_stop=False),
        *_compare_digests(lock, planned_replay.sides, planned_replay.sealed),
        *_compare_model((*lock.endpoint_names, *filter(None, [lock.model])), (planned_replay.model,)),
        *_compare_limit(lock.budget, {"calls": planned_replay.calls}, "the replay may take"),
    ]
    return _merge(deviations, _compare_parts(lock, planned_replay.parts))


def compare_scores(
    lock: Lock,
    table: ScoreTable,
    provenance: Provenance,
    estimate: Estimate | None,
    specs: Mapping[str, ContextSpec],
) -> tuple[LockDeviation, ...]:
    """Return in what scores, and what is reported of how they were made, depart from *lock*.

    Args:
        table: with the arms `test` and `deploy`.
        provenance: what a run folder or a person says of them; what it does not say is not compared.
        estimate: of the same table under the lock's plan.
        specs: by reference, what the lock's specifications say, as far as they can be read.
    """
    replayed = provenance.replayed
    stopped = list(_list_stops(lock, estimate))
    split = _split_sides(lock, table)
    deviations = [*_compare_sides(lock, split, table, apart=replayed is None), *_compare_families(lock, table)]
    deviations += _compare_weights(table, is_locked=replayed is not None and lock.replay is not None)
    # An early stop shows in the estimate and in the list of tasks. It is reported once, as the estimate words it.
    deviations = [deviation for deviation in deviations if deviation.item is not LockedItem.STOPPING_RULE or not stopped]
    returned = provenance.models_returned or tuple(filter(None, (provenance.model_returned or "").split("; ")))
    # Names that endpoints return for the version were fixed with the lock, since an alias may be asked and a dated name
    # returned.
    names = lock.endpoint_names or tuple(filter(None, [lock.model]))
    deviations += [*stopped, *_compare_model(names, returned), *_compare_limit(lock.budget, read_limits(provenance.budget_spent), "spent")]
    # With a run folder, contexts are compared by digest and parts by the replay itself. Without it only the names of
    # contexts in the table can be compared, and nothing shows that they have the locked texts.
    if replayed is not None:
        sides = {"": {contexts.digest for contexts in replayed.list_contexts(SIDES[0])}}
        by_name = {context.name: context.digest for context in replayed.contexts}
        for arm in replayed.arms:
            if arm.arm == SIDES[1] and arm.contexts in by_name:
                sides.setdefault(arm.spec or "default", set()).add(by_name[arm.contexts])
        deviations += _compare_digests(lock, sides, {contexts.digest for contexts in replayed.contexts if contexts.is_sealed})
        return _merge(deviations, _compare_parts(lock, replayed.parts or {}))
    deviations += _compare_scorer(lock, provenance)
    deviations += [*_compare_contexts(lock, table, specs), *_find_missing_cells(lock, split, table)]
    return _merge(deviations, _list_unshown(lock))


def read_limits(text: str | None) -> dict[str, int]:
    """Return the numbers of calls and tokens that a budget in words names; judge and probe come after the first semicolon."""
    clause = (text or "").partition(";")[0]
    return {unit: int(number.replace(",", "")) for number, unit in _LIMIT.findall(clause)}


def _merge(lock_deviations: list[LockDeviation], more: Iterator[LockDeviation]) -> tuple[LockDeviation, ...]:
    """An item that was compared by itself is not told again as a part of the replay."""
    items = {lock_deviation.item for lock_deviation in lock_deviations}
    return tuple(
        dict.fromkeys(
            [*lock_deviations, *(deviation for deviation in more if deviation.item not in items or deviation.item is LockedItem.OTHER)]
        )
    )


def _compare_tasks(lock: Lock, ids: set[str], *, may_stop: bool) -> Iterator[LockDeviation]:
    """Give other tasks than were locked; the first ones of the plan's order alone are an early stop, and other tasks otherwise."""
    if lock.tasks is None or (len(ids), digest_tasks(ids)) == (lock.tasks.count, lock.tasks.sha256):
        return
    planned, locked = f"the {lock.tasks.count} tasks of the list with SHA-256 {lock.tasks.sha256}", list(lock.tasks.ids)
    added, excluded = sorted(ids - set(locked)), sorted(set(locked) - ids)
    families = [family or task for task, family in zip(locked, lock.tasks.families, strict=True)] if lock.tasks.families else None
    # The lock holds task identifiers and a seed, so the first tasks of the seeded order can be told apart from tasks
    # that were chosen later.
    first = {locked[place] for place in order_tasks(locked, seed=lock.plan.seed, families=families)[: len(ids)]}
    if may_stop and locked and ids == first:
        if lock.plan.interval is not IntervalMethod.ANYTIME:
            yield LockDeviation(item=LockedItem.STOPPING_RULE, planned=planned, done=f"{len(ids)} tasks, the first in the plan's order")
        return
    differences = [f"not in the list: {_name(added)}"] if added else []
    differences += [f"excluded: {_name(excluded)}"] if excluded else []
    yield LockDeviation(item=LockedItem.TASKS, planned=planned, done=f"{len(ids)} tasks; {'; '.join(differences) or 'another list'}")


def _compare_families(lock: Lock, table: ScoreTable) -> Iterator[LockDeviation]:
    """Give tasks whose family is not the locked one: families that are chosen after the scores were seen move every interval."""
    if lock.tasks is None or not lock.tasks.families:
        return
    named = dict(zip(table.task.labels, name_families(table) or table.task.labels, strict=True))
    locked = {task: family or task for task, family in zip(lock.tasks.ids, lock.tasks.families, strict=True)}
    differing = sorted(task for task, family in named.items() if locked.get(task, family) != family)
    if differing:
        planned = f"the {len(set(locked.values()))} families of the list"
        yield LockDeviation(item=LockedItem.TASKS, planned=planned, done=f"{len(differing)} tasks in another family: {_name(differing)}")


def _compare_weights(table: ScoreTable, *, is_locked: bool) -> Iterator[LockDeviation]:
    """Give weights that no lock fixes: chosen after the scores were seen, they let the tasks that fail count for nothing.

    Args:
        is_locked: whether the scores are of a locked replay, whose tasks have the weights of its lock.
    """
    if table.weight is None or is_locked:
        return
    weights = sorted({float(table.weight.labels[code]) for code in set(table.weight.codes.tolist()) if code >= 0})
    if len(weights) > 1:
        done = f"tasks with weights from {weights[0]:g} to {weights[-1]:g}, which the lock does not fix"
        yield LockDeviation(item=LockedItem.TASKS, planned="tasks that weigh the same", done=done)


def _compare_sides(lock: Lock, split: Mapping[str, Rows], table: ScoreTable, *, apart: bool) -> Iterator[LockDeviation]:
    """Give other tasks than were locked: of the whole table, then of each side, so that none is left out of one side alone.

    Of a random subset, the tasks of the test side are more by design, and the deployment side has those that are replayed.

    Args:
        apart: also by side; of a run folder the replay says which tasks each side has.
    """
    sides = {words: set(_list_tasks(table, rows)) for words, rows in split.items()}
    if lock.plan.random_subset:
        del sides[_TEST]
    yield from (whole := list(_compare_tasks(lock, set().union(*sides.values()), may_stop=True)))
    if apart and not whole:
        for words, ids in sides.items():
            yield from (replace(task, done=f"{words}: {task.done}") for task in _compare_tasks(lock, ids, may_stop=True))


def _find_missing_cells(lock: Lock, split: Mapping[str, Rows], table: ScoreTable) -> Iterator[LockDeviation]:
    """Give how many pairs of a task and a context have no row in a crossed table, or fewer than others: either would be choosing scores.

    An excluded response has its row, with the reason; it is told in its own section.
    """
    # Nested contexts belong to single tasks by design, so pairs without a row are expected.
    if lock.plan.contexts is ContextDesign.NESTED:
        return
    # Edited contexts are a part of the ablation, which may use fewer tasks.
    as_is = True if table.cue_removed is None else table.cue_removed.codes == -1
    for words, rows in split.items():
        tasks, contexts = table.task.codes[rows & as_is], table.context.codes[rows & as_is]
        whole = len(set(tasks.tolist())) * len(set(contexts.tolist()))
        # Several judges, or scorings, of one response are one response.
        responses = set(zip(tasks.tolist(), contexts.tolist(), table.sample.codes[rows & as_is].tolist(), strict=True))
        counts = Counter((task, context) for task, context, _ in responses)
        if len(counts) < whole:
            done = f"{words}: {whole - len(counts):,} of {whole:,} pairs of task and context have no row, not even an excluded one"
            yield LockDeviation(item=LockedItem.TASKS, planned="each task in each context of its side", done=done)
        # Asking again only where a score was bad makes it better.
        most: dict[int, int] = {}
        for (_, context), count in counts.items():
            most[context] = max(count, most.get(context, 0))
        if fewer := sum(count < most[context] for (_, context), count in counts.items()):
            done = f"{words}: {fewer:,} of {whole:,} pairs of task and context have fewer responses than another task in the same context"
            yield LockDeviation(item=LockedItem.TASKS, planned="as many responses of each task in a context", done=done)


def _split_sides(lock: Lock, table: ScoreTable) -> dict[str, Rows]:
    """Return which rows are of the test side, and of the deployment side of each specification, by what a sentence calls it."""
    test, deploy = (table.arm.codes == _find_code(table.arm, name) for name in SIDES)
    # With one specification the column `spec` need not be filled.
    if len(lock.deploy_specs) == 1:
        return {_TEST: test, "deployment": deploy}
    named = {f"deployment {name}": deploy & (table.spec.codes == _find_code(table.spec, name)) for name in lock.deploy_specs}
    return {_TEST: test, **named}


def _name(ids: list[str]) -> str:
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return ", ".join(ids[:_MOST_NAMED]) + more


def _list_locked(lock: Lock) -> list[tuple[LockedItem, str, LockedSpec]]:
    """Return the locked context specifications with the side that each is for: the test side has an empty name."""
    test = [(LockedItem.TEST_CONTEXTS, "", lock.test)] if lock.test else []
    return [*test, *((LockedItem.DEPLOY_CONTEXTS, spec.name, spec) for spec in lock.deploy)]


def _compare_digests(lock: Lock, sides: Mapping[str, Collection[str]], sealed: Collection[str]) -> Iterator[LockDeviation]:
    for item, name, spec in _list_locked(lock):
        side = set(sides.get(name, ()))
        # A plain text can be compared with a commitment only by who has the salt. Two commitments can be compared by
        # everyone.
        if side != {spec.sha256} and (not spec.is_sealed or side & set(sealed)):
            done = ", ".join(f"contexts with SHA-256 {digest}" for digest in sorted(side)) or "none"
            yield LockDeviation(item=item, planned=f"{spec.spec}, SHA-256 {spec.sha256}", done=f"{name}: {done}" if name else done)


def _compare_contexts(lock: Lock, table: ScoreTable, specs: Mapping[str, ContextSpec]) -> Iterator[LockDeviation]:
    """Give contexts of a score table by whose identifiers they are not those that the locked specification lists."""
    for item, name, spec in _list_locked(lock):
        listed = {context.id for context in specs[spec.spec].contexts} if spec.spec in specs else set()
        used = set(_list_contexts(table, name, alone=len(lock.deploy_specs) == 1))
        if listed and used != listed:
            differences = ([f"not in it: {_name(sorted(used - listed))}"] if used - listed else []) + (
                [f"missing: {_name(sorted(listed - used))}"] if listed - used else []
            )
            planned = f"{spec.spec} with the contexts {_name(sorted(listed))}"
            yield LockDeviation(
                item=item, planned=planned, done=f"{name + ': ' if name else ''}{len(used)} contexts; {'; '.join(differences)}"
            )


def _list_tasks(table: ScoreTable, rows: Rows) -> Iterator[str]:
    """Give the tasks of *rows*, also those without any score."""
    for code in set(table.task.codes[rows].tolist()):
        yield table.task.labels[code]


def _list_contexts(table: ScoreTable, name: str, *, alone: bool) -> Iterator[str]:
    """Give the contexts of the test side (an empty *name*) or of one P_deploy specification, as they are, without edits."""
    rows = table.arm.codes == _find_code(table.arm, SIDES[1 if name else 0])
    rows = rows if table.cue_removed is None else rows & (table.cue_removed.codes == -1)
    rows = rows & (table.spec.codes == _find_code(table.spec, name)) if name and not alone else rows
    for code in set(table.context.codes[rows].tolist()):
        yield table.context.labels[code]


def _find_code(column: TextColumn, label: str) -> int:
    """Return the code of *label*; one that no row has where it is not there."""
    return next((code for code, name in enumerate(column.labels) if name == label), -2)


def _compare_model(locked: Collection[str], names: Collection[str]) -> Iterator[LockDeviation]:
    """Give names that are none of the locked ones; where none is locked, nothing can differ."""
    if locked and not set(names) <= set(locked):
        yield LockDeviation(item=LockedItem.MODEL, planned="; ".join(dict.fromkeys(locked)), done="; ".join(sorted(set(names))))


def _compare_scorer(lock: Lock, provenance: Provenance) -> Iterator[LockDeviation]:
    """Give scores of another scorer than the lock names, or of one among several: whoever chooses later has seen the scores."""
    taken, others = provenance.scorer, provenance.other_scorers
    if lock.scorer is not None and taken != lock.scorer:
        done = "scores that name no scorer" if taken is None else f"scores of {taken}"
        yield LockDeviation(item=LockedItem.SCORING, planned=f"scores of {lock.scorer}", done=done)
    elif lock.scorer is None and taken is not None and others:
        done = f"scores of {taken}; the files also have scores of {_name(list(others))}"
        yield LockDeviation(item=LockedItem.SCORING, planned="no scorer named", done=done)


def _compare_limit(budget: str | None, taken: Mapping[str, int], verb: str) -> Iterator[LockDeviation]:
    for unit, most in read_limits(budget).items():
        if taken.get(unit, 0) > most:
            yield LockDeviation(item=LockedItem.BUDGET, planned=f"{most:,} {unit}", done=f"{verb} {taken[unit]:,} {unit}")


def _compare_parts(lock: Lock, parts: Mapping[str, str]) -> Iterator[LockDeviation]:
    """Give each part of a replay that is not what the locked one has there."""
    locked = lock.replay_parts or {}
    # A part that only one of the two has counts as well: an added part changes what was asked.
    for name in dict.fromkeys((*locked, *parts)) if locked and parts else ():
        if locked.get(name) != parts.get(name):
            item = _PARTS.get(name, LockedItem.OTHER)
            yield LockDeviation(item=item, planned=f"{name}: {locked.get(name, 'none')}", done=f"{name}: {parts.get(name, 'none')}")


def _list_unshown(lock: Lock) -> Iterator[LockDeviation]:
    """Without its run folder, nothing shows that a table is of the locked replay: its contexts count as others."""
    if lock.replay is not None:
        for item, side in ((LockedItem.TEST_CONTEXTS, "test"), (LockedItem.DEPLOY_CONTEXTS, "deployment")):
            done = f"a table without its run folder: nothing shows which {side} contexts its responses were given in"
            yield LockDeviation(item=item, planned=f"{side} contexts of the replay with SHA-256 {lock.replay}", done=done)


def _list_stops(lock: Lock, estimate: Estimate | None) -> Iterator[LockDeviation]:
    """Give what the estimate warns of: another number of tasks than planned, or another order."""
    planned = f"{lock.plan.tasks} tasks" if lock.plan.tasks is not None else f"tasks in the order of seed {lock.plan.seed}"
    messages = dict.fromkeys(warning.message for warning in (estimate.warnings if estimate else ()) if warning.code in DEVIATIONS)
    for message in messages:
        yield LockDeviation(item=LockedItem.STOPPING_RULE, planned=planned, done=message)
