"""A skill study as an ordinary replay, a part of it, and the copy of its file that the run folder keeps."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audit.errors import DesignError
from audit.records.model_response import Purpose, ReplayCell, Response
from audit.replay.replay_design import build_design
from audit.replay.replay_file import ReplayFile
from audit.replay.run_store import PlannedCall, RunStore, list_versions, put_version
from audit.skills.study_file import CONDITIONS, PATTERNS, SKILL, StudyFile
from audit.sources.skill_study_records import ARMS
from registry.codec.canonical_documents import to_document
from registry.errors import ConflictError, Fault, InputError, suggest
from registry.records.replay_run import Arm, Replay
from registry.records.specification import ContextSpec

# A study as an ordinary replay: arms A to E are its conditions, and its calls are those of the design.


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySelection:
    """A part of a study; empty: all of it."""

    skills: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """SKILL/ID, or ID alone."""
    arms: tuple[str, ...] = ()

    def holds(self, cell: ReplayCell) -> bool:
        """Whether *cell* belongs to the part."""
        skill, _, task = cell.task_id.partition("/")
        return (
            (not self.skills or skill in self.skills)
            and (not self.tasks or cell.task_id in self.tasks or task in self.tasks)
            and (not self.arms or cell.arm in self.arms)
        )


def select_part(
    file: StudyFile, *, skills: Sequence[str] = (), tasks: Sequence[str] = (), conditions: Sequence[str] = ()
) -> StudySelection:
    """Return the part of the study that is asked for.

    Args:
        conditions: letters of arms, or names of conditions.

    Raises:
        InputError: with every name that the study does not have.
    """
    arms = tuple(dict.fromkeys(CONDITIONS.get(condition, condition.upper()) for condition in conditions))
    known = [task.id for task in file.list_tasks()]
    faults = [
        *_name_unknown(skills, list(file.study.skills), "unknown-name", "--skill", "skill"),
        *_name_unknown(tasks, [*known, *(name.partition("/")[2] for name in known)], "unknown-name", "--task", "task"),
        *_name_unknown(arms, [CONDITIONS[item.id] for item in file.spec.contexts], "unknown-name", "--condition", "condition"),
    ]
    if faults:
        raise InputError(faults)
    return StudySelection(skills=tuple(skills), tasks=tuple(tasks), arms=arms)


def build_replay(file: StudyFile, *, samples: int | None = None) -> ReplayFile:
    """Return the whole study as a replay with its tasks and contexts; each condition is a context specification of one context.

    Args:
        samples: instead of the study's.
    """
    study = file.study
    arms = tuple(
        Arm(arm=arm, context=condition, where=where)
        for arm, condition in ARMS.items()
        if any(item.id == condition for item in file.spec.contexts) and (where := _list_where(file, arm)) != {SKILL: ()}
    )
    replay = Replay(
        name=study.name,
        tasks=study.tasks,
        policy=study.policy,
        arms=arms,
        samples=study.samples if samples is None else samples,
        scoring=PATTERNS if file.judge is None else file.judge,
        budget=study.budget,
        seed=study.seed,
    )
    contexts = {arm.context: _take(file.spec, arm.context) for arm in arms}
    return ReplayFile(replay=replay, tasks=tuple(file.list_tasks()), contexts=contexts, sources=file.sources, references={})


def plan_calls(file: StudyFile, replay: ReplayFile, selection: StudySelection) -> tuple[PlannedCall, ...]:
    """Return the calls of *selection* in the order in which they are to be made: conditions and skills mixed, by the seed.

    Each skill is a design of its own. Two skills may ask the same without them: their baselines are then the same calls, made once.

    Raises:
        DesignError: with every fault of every skill: a block without a text for a task, two conditions that send the same.
    """
    planned: list[PlannedCall] = []
    faults: list[Fault] = []
    for skill, tasks in file.tasks.items():
        arms = tuple(replace(arm, where=None) for arm in replay.replay.arms if arm.where is None or skill in arm.where[SKILL])
        try:
            planned += build_design(replace(replay.replay, arms=arms), tasks.tasks, replay.contexts)
        except DesignError as error:
            faults.extend(error.faults)
    if faults:
        raise DesignError(list(dict.fromkeys(faults)))
    chosen = [call for call in planned if selection.holds(call.cell)]
    if not chosen:
        problem = "the study has no call of this skill, task and condition together"
        raise InputError(Fault("nothing-selected", str(file.path), problem, advice=f"caveat analyze skills list {file.path}"))
    return tuple(sorted(chosen, key=lambda call: hashlib.sha256(f"{replay.replay.seed}:{call.call.key}".encode()).digest()))


def _list_where(file: StudyFile, arm: str) -> dict[str, tuple[str, ...]] | None:
    """Condition C is for skills with references that hide something."""
    if arm != "C":
        return None
    return {SKILL: tuple(name for name, entry in file.study.skills.items() if entry.hidden_references)}


def _take(spec: ContextSpec, condition: str) -> ContextSpec:
    (item,) = (context for context in spec.contexts if context.id == condition)
    return replace(spec, name=f"{spec.name}: {condition}", contexts=(item,), edits=())


def _name_unknown(names: Sequence[str], texts: Sequence[str], code: str, where: str, noun: str) -> Iterator[Fault]:
    for name in dict.fromkeys(names):
        if name not in texts:
            advice = suggest(name, texts) or f"there is {', '.join(dict.fromkeys(texts[:20]))}"
            yield Fault(code, where, f"no {noun} is called {name!r}", advice=advice)


# A run folder seen through a part of its design.


class PartStore(RunStore):
    """The same store; of the design and the replay's responses, it gives only those of a selection."""

    def __init__(self, store: RunStore, selection: StudySelection) -> None:
        super().__init__(store._connection, store.path)  # noqa: SLF001 (one connection: the whole store and its part see the same)
        self._selection = selection
        self._keys = {key for _, key in self.list_cells()}

    def list_cells(self, *, by_name: bool = False) -> Iterator[tuple[ReplayCell, str]]:
        """Give the selected cells with the keys of their calls, in the order of planning or of names."""
        return (cell for cell in super().list_cells(by_name=by_name) if self._selection.holds(cell[0]))

    def count_cells(self) -> int:
        """Return the number of selected cells."""
        return sum(1 for _ in self.list_cells())

    def list_responses(self, purpose: Purpose) -> Iterator[Response]:
        """Give the latest outcome of every call made for *purpose*, of the replay's only the selected ones."""
        for response in super().list_responses(purpose):
            if purpose is not Purpose.REPLAY or response.key in self._keys:
                yield response


# What a study's run folder remembers of its file, so that nothing of it is decided after a result could be seen.

_NAME = "skills"
_FIXED = ("excluded", "risk_level", "test_category", "structural_score", "hidden_references")


def keep_study(store: RunStore, file: StudyFile) -> None:
    """Keep the skills of *file* in the run folder, each as it was when its calls were first planned.

    A study may grow: a skill more is no change of the others.

    Raises:
        ConflictError: a skill that was planned before is gone, or is now said to be another: excluded, of another risk or category.
    """
    known = _find_known(store)
    faults = list(_compare(known, file))
    if faults:
        raise ConflictError(faults)
    put_version(store, _NAME, {name: to_document(entry) for name, entry in file.study.skills.items()})


def check_study(store: RunStore, file: StudyFile) -> None:
    """Refuse a study that is not the one of the run folder; raises ConflictError as `keep_study` does, and where there is none."""
    known = _find_known(store)
    if not known:
        problem = "was not made by a skill study"
        advice = f"caveat analyze skills generate {file.path} --run {store.path.parent}"
        raise ConflictError(Fault("run-differs", str(store.path.parent), problem, advice=advice))
    faults = list(_compare(known, file))
    if faults:
        raise ConflictError(faults)


def _find_known(store: RunStore) -> dict[str, Any]:
    versions = list_versions(store, _NAME)
    return versions[-1] if versions else {}


def _compare(known: dict[str, Any], file: StudyFile) -> Iterator[Fault]:
    for name, before in known.items():
        where = f"{file.path}, skills.{name}"
        entry = file.study.skills.get(name)
        if entry is None:
            problem = "the skill was planned in this run folder, and the study does not name it any more"
            yield Fault("skill-changed", where, problem, advice="put it back: a skill that was run is shown, also if it is excluded")
            continue
        now = to_document(entry)
        for key in _FIXED:
            if now[key] != before[key]:
                problem = f"{key} was {before[key]!r} when its calls were planned, and is {now[key]!r} now"
                advice = "put it back; another decision needs a run folder of its own (--run DIR)"
                yield Fault("skill-changed", f"{where}.{key}", problem, advice=advice)
