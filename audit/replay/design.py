"""Which calls a replay is made of: every task in every context of every arm, as it is and under each edit, so often as it is sampled."""

import difflib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from audit.errors import DesignError
from audit.replay.compose import compose_request, find_field
from audit.replay.store import Call, Planned, build_call
from audit.replay.tasks import find_task_faults, place_tasks
from registry.codec.canonical import Json
from registry.codec.documents import MOST_FAULTS
from registry.errors import Fault, InputError
from registry.records.block import Edit
from registry.records.replay import Arm, Replay, Task
from registry.records.response import Cell, Purpose
from registry.records.spec import ContextItem, ContextSpec
from registry.registration.contexts import derive, find_context_faults


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One entry of `arms` with what it stands for."""

    arm: Arm
    spec: ContextSpec
    tasks: tuple[Task, ...]
    edits: tuple[Edit, ...]

    def list_versions(self) -> Iterator[tuple[str | None, ContextItem]]:
        """Give the contexts as they are, then under each edit."""
        yield from ((None, item) for item in self.spec.contexts)
        yield from ((edit.name, item) for edit in self.edits for item in derive(self.spec, edit))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One task in one version of a context: a cell without its sample."""

    cell: Cell
    call: Call


def build_design(replay: Replay, tasks: Sequence[Task], contexts: Mapping[str, ContextSpec]) -> list[Planned]:
    """Return the calls of *replay* with the cells that they fill, in the order in which they are to be made.

    The order is that of SHA-256 over seed and key: arms, contexts and tasks are mixed, so that an endpoint which changes in the
    meantime changes under all of them alike. More samples add calls and change none; they are mixed in.

    Args:
        contexts: by what `Arm.context` calls it, the context specification; each arm's is there.

    Raises:
        DesignError: with every fault, so far as one does not hide another.
    """
    faults = list(find_task_faults(place_tasks(tasks, where=replay.tasks)))
    sides = [_build_side(number, arm, tasks, contexts[arm.context], faults) for number, arm in enumerate(replay.arms)]
    faults.extend(_check_arms(sides))
    _refuse(faults)
    asked = _ask(replay, sides, faults)
    _refuse(faults)
    _refuse(list(_find_coinciding(asked)))
    planned = [
        Planned(cell=replace(one.cell, sample=sample), call=replace(one.call, index=sample))
        for one in asked
        for sample in range(replay.samples)
    ]
    return sorted(planned, key=lambda one: hashlib.sha256(f"{replay.seed}:{one.call.key}".encode()).digest())


def _refuse(faults: Sequence[Fault]) -> None:
    """Raise what was found, each fault once: two arms may share a file, and many tasks a block."""
    found = list(dict.fromkeys(faults))
    if len(found) > MOST_FAULTS:
        more = f"and {len(found) - MOST_FAULTS:,} more faults like these"
        found = [*found[:MOST_FAULTS], Fault(code="more-faults", where=found[0].where, found=more)]
    if found:
        raise DesignError(found)


def _build_side(number: int, arm: Arm, tasks: Sequence[Task], spec: ContextSpec, faults: list[Fault]) -> _Side:
    where = f"arms[{number}]"
    faults.extend(find_context_faults(spec, where=arm.context))
    if not spec.contexts:
        found = f"{arm.context} only describes its contexts; there is none to replay"
        faults.append(Fault(code="context-not-known", where=where, found=found, advice="write its contexts out (contexts: …)"))
    known = {edit.name: edit for edit in spec.edits}
    faults.extend(_name_unknown_edits(arm.edits or (), known, f"{where}.edits"))
    edits = tuple(known[name] for name in dict.fromkeys(arm.edits or ()) if name in known)
    if not arm.arm.strip() or arm.arm != arm.arm.strip():
        faults.append(Fault(code="id-padded", where=f"{where}.arm", found=f"{arm.arm!r} is empty, or begins or ends with white space"))
    return _Side(arm=arm, spec=spec, tasks=_choose_tasks(arm, tasks, where, faults), edits=edits)


def _name_unknown_edits(names: Sequence[str], known: Mapping[str, Edit], where: str) -> Iterator[Fault]:
    for name in dict.fromkeys(names):
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            found = f"no edit is called {name!r}; there {'are ' + ', '.join(known) if known else 'is none'}"
            yield Fault(code="unknown-edit", where=where, found=found, advice=f"did you mean {close[0]}?" if close else None)


def _choose_tasks(arm: Arm, tasks: Sequence[Task], where: str, faults: list[Fault]) -> tuple[Task, ...]:
    """Return the tasks of *arm*; a value that no task has is a fault, for it would make an arm smaller without a word."""
    chosen = list(tasks)
    for field, values in (arm.where or {}).items():
        known = {value for task in tasks if (value := find_field(task, field)) is not None}
        for value in values:
            if value not in known:
                listed = ", ".join(sorted(known)[:10]) or "nothing, for no task has the field"
                found = f"no task has the value {value!r} in the field {field!r}; there is {listed}"
                faults.append(Fault(code="unknown-value", where=f"{where}.where", found=found))
        chosen = [task for task in chosen if find_field(task, field) in values]
    if not chosen:
        found = f"no task is left for the arm {arm.arm!r}"
        faults.append(Fault(code="arm-without-task", where=where, found=found, advice="check `where` against the fields of the tasks"))
    return tuple(chosen)


def _check_arms(sides: Sequence[_Side]) -> Iterator[Fault]:
    """Give what the score table of this replay would be refused for, before it is paid."""
    by_arm: dict[str, list[_Side]] = {}
    for side in sides:
        by_arm.setdefault(side.arm.arm, []).append(side)
    for name, same in by_arm.items():
        named = [side for side in same if side.arm.spec is not None]
        if name == "test" and named:
            found = f"names the specification {named[0].arm.spec!r}, and the test arm belongs to every one"
            yield Fault(code="spec-on-test", where=f"arm {name}", found=found, advice="leave spec out")
        if 0 < len(named) < len(same):
            found = "one entry of the arm names its specification, another does not"
            yield Fault(code="spec-missing", where=f"arm {name}", found=found, advice="name it in each entry of the arm (spec: …)")
        tasks = _list_ids(same)
        others = _list_ids([side for side in sides if side.arm.arm != name])
        if tasks and others and not tasks & others:
            found = f"arm {name!r} shares no task with any other, so nothing can be compared"
            yield Fault(code="no-common-task", where=f"arm {name}", found=found, advice="ask the same tasks in two arms at least")


def _list_ids(sides: Sequence[_Side]) -> set[str]:
    return {task.id for side in sides for task in side.tasks}


def _ask(replay: Replay, sides: Sequence[_Side], faults: list[Fault]) -> list[_Asked]:
    """Return every task in every version of every context, composed; a cell that is planned twice is a fault."""
    asked: dict[Cell, _Asked] = {}
    systems: dict[Json, Json] = {}
    for side in sides:
        for edit, item in side.list_versions():
            where = f"{side.arm.context}, contexts[{item.id}]"
            for task in side.tasks:
                cell = Cell(task_id=task.id, arm=side.arm.arm, context_id=item.id, sample=0, spec=side.arm.spec, cue_removed=edit)
                if cell in asked:
                    found = f"context {item.id!r} stands in two entries of the arm {cell.arm!r} that both ask task {task.id!r}"
                    advice = "give the contexts of one arm different ids, or part the tasks with `where`"
                    faults.append(Fault(code="context-twice", where=where, found=found, advice=advice))
                    continue
                try:
                    body = compose_request(side.spec, item, task, replay.policy, where=where)
                    if "system" in body:
                        # A long system prompt is kept once, not once for each task.
                        body["system"] = systems.setdefault(body["system"], body["system"])
                    asked[cell] = _Asked(cell=cell, call=build_call(body, index=0, purpose=Purpose.REPLAY))
                except InputError as error:
                    faults.extend(error.faults)
    return list(asked.values())


def _find_coinciding(asked: Sequence[_Asked]) -> Iterator[Fault]:
    """Give a fault for each two contexts, or tasks, that send the very same request: one response would count as two."""
    by_request: dict[str, list[Cell]] = {}
    for one in asked:
        by_request.setdefault(one.call.request, []).append(one.cell)
    pairs: dict[tuple[str, str], list[Cell]] = {}
    for first, *others in by_request.values():
        for second in others:
            same = _name_place(first) == _name_place(second)
            names = (f"task {first.task_id}", f"task {second.task_id}") if same else (_name_place(first), _name_place(second))
            pairs.setdefault(names, []).append(second)
    for (before, after), cells in pairs.items():
        tasks = f"task {cells[0].task_id!r}" + (f" and {len(cells) - 1} more" if len(cells) > 1 else "")
        found = f"{before} and {after} send the very same request, so that one response would count twice ({tasks})"
        yield Fault(code="contexts-coincide", where=after, found=found, advice="make them differ, or leave one out")


def _name_place(cell: Cell) -> str:
    spec = f" ({cell.spec})" if cell.spec else ""
    edit = f" under the edit {cell.cue_removed}" if cell.cue_removed else ""
    return f"context {cell.context_id} of arm {cell.arm}{spec}{edit}"
