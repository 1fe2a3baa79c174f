"""A study as an ordinary replay: arms A to E are its conditions, and its calls are those of the design."""

import difflib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from audit.errors import DesignError
from audit.replay.design import build_design
from audit.replay.read import ReplayFile
from audit.replay.store import Planned
from audit.skills.conditions import CONDITIONS
from audit.skills.study import PATTERNS, StudyFile
from audit.skills.tasks import SKILL
from registry.errors import Fault, InputError
from registry.records.contamination import ARMS
from registry.records.replay import Arm, Replay
from registry.records.response import Cell
from registry.records.scorer import JudgeScorer, PatternScorer
from registry.records.spec import ContextSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A part of a study; empty: all of it."""

    skills: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """SKILL/ID, or ID alone."""
    arms: tuple[str, ...] = ()

    def holds(self, cell: Cell) -> bool:
        """Whether *cell* belongs to the part."""
        skill, _, task = cell.task_id.partition("/")
        return (
            (not self.skills or skill in self.skills)
            and (not self.tasks or cell.task_id in self.tasks or task in self.tasks)
            and (not self.arms or cell.arm in self.arms)
        )


def choose(file: StudyFile, *, skills: Sequence[str] = (), tasks: Sequence[str] = (), conditions: Sequence[str] = ()) -> Selection:
    """Return the part of the study that is asked for.

    Args:
        conditions: letters of arms, or names of conditions.

    Raises:
        InputError: with every name that the study does not have.
    """
    arms = tuple(dict.fromkeys(CONDITIONS.get(one, one.upper()) for one in conditions))
    known = [task.id for task in file.list_tasks()]
    faults = [
        *_name_unknown(skills, list(file.study.skills), "unknown-skill", "--skill", "skill"),
        *_name_unknown(tasks, [*known, *(one.partition("/")[2] for one in known)], "unknown-task", "--task", "task"),
        *_name_unknown(arms, [CONDITIONS[item.id] for item in file.spec.contexts], "unknown-condition", "--condition", "condition"),
    ]
    if faults:
        raise InputError(faults)
    return Selection(skills=tuple(skills), tasks=tuple(tasks), arms=arms)


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
        scoring=_choose_scoring(file.judge),
        budget=study.budget,
        seed=study.seed,
    )
    contexts = {arm.context: _take(file.spec, arm.context) for arm in arms}
    return ReplayFile(replay=replay, tasks=tuple(file.list_tasks()), contexts=contexts, sources=file.sources, references={})


def plan_calls(file: StudyFile, replay: ReplayFile, selection: Selection) -> tuple[Planned, ...]:
    """Return the calls of *selection* in the order in which they are to be made: conditions and skills mixed, by the seed.

    Each skill is a design of its own. Two skills may ask the same without them: their baselines are then the same calls, made once.

    Raises:
        DesignError: with every fault of every skill: a block without a text for a task, two conditions that send the same.
    """
    planned: list[Planned] = []
    faults: list[Fault] = []
    for skill, tasks in file.tasks.items():
        arms = tuple(replace(arm, where=None) for arm in replay.replay.arms if arm.where is None or skill in arm.where[SKILL])
        try:
            planned += build_design(replace(replay.replay, arms=arms), tasks.tasks, replay.contexts)
        except DesignError as error:
            faults.extend(error.faults)
    if faults:
        raise DesignError(list(dict.fromkeys(faults)))
    chosen = [one for one in planned if selection.holds(one.cell)]
    if not chosen:
        found = "the study has no call of this skill, task and condition together"
        raise InputError(Fault(code="nothing-selected", where=str(file.path), found=found, advice=f"caveat skills list {file.path}"))
    return tuple(sorted(chosen, key=lambda one: hashlib.sha256(f"{replay.replay.seed}:{one.call.key}".encode()).digest()))


def _list_where(file: StudyFile, arm: str) -> dict[str, tuple[str, ...]] | None:
    """Condition C is for skills with references that hide something."""
    if arm != "C":
        return None
    return {SKILL: tuple(name for name, entry in file.study.skills.items() if entry.hidden_references)}


def _take(spec: ContextSpec, condition: str) -> ContextSpec:
    (item,) = (one for one in spec.contexts if one.id == condition)
    return replace(spec, name=f"{spec.name}: {condition}", contexts=(item,), edits=())


def _choose_scoring(judge: JudgeScorer | None) -> JudgeScorer | PatternScorer:
    return PATTERNS if judge is None else judge


def _name_unknown(names: Sequence[str], known: Sequence[str], code: str, where: str, noun: str) -> Iterator[Fault]:
    for name in dict.fromkeys(names):
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            advice = f"did you mean {close[0]}?" if close else f"there is {', '.join(dict.fromkeys(known[:20]))}"
            yield Fault(code=code, where=where, found=f"no {noun} is called {name!r}", advice=advice)
