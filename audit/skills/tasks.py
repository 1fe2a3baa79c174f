"""The tasks of a study: one SKILL.json per skill, in the layout of the published studies."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from registry.codec.documents import from_document
from registry.codec.files import read_document
from registry.errors import Fault, InputError
from registry.records.replay import Task
from registry.records.skills import PatternSource, SkillTask, SkillTasks
from registry.registration.context_file import digest_file, find_beside

LARGEST_BYTES = 50_000_000
SKILL, TYPE, LANGUAGE, REFERENCES, CODEBASE = "skill", "task_type", "target_language", "references", "codebase"
"""Fields of a task by which blocks and arms select. REFERENCES is the skill, with the references that the task names where it names some;
CODEBASE is the task's variant of a code base, and its language without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    """The tasks of one skill."""

    skill: str
    tasks: tuple[Task, ...]
    """Called SKILL/ID, so that they are unique over a study."""
    path: Path
    sha256: str
    references: Mapping[str, tuple[str, ...]]
    """By task, the references that are loaded for it; a task that names none loads all, and is not here."""
    pattern_sources: Mapping[str, tuple[PatternSource, ...]]
    """By task, where its patterns come from, as the file says."""


def read_task_files(folder: Path, name: str, skills: Sequence[str], *, where: str) -> list[TaskFile]:
    """Return the tasks of *skills*, from the folder *name* beside a study in *folder*, in the order of *skills*.

    Args:
        where: the place in the study that names the folder.

    Raises:
        InputError: with every fault: the folder is not there, a skill has no file or no task, a file is of no skill, or does not fit.
    """
    place = find_beside(folder, name, where=where)
    if not place.is_dir():
        found = f"there is no folder {name!r}"
        raise InputError(
            Fault(code="tasks-not-found", where=where, found=found, advice="name the folder that holds SKILL.json of each skill")
        )
    files = {path.stem: path for path in sorted(place.glob("*.json"))}
    faults = list(_compare_names(skills, list(files), where))
    read: list[TaskFile] = []
    for skill in skills:
        if skill in files:
            try:
                read.append(read_task_file(files[skill], skill))
            except InputError as error:
                faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    return read


def read_task_file(path: Path, skill: str) -> TaskFile:
    """Return the tasks of *skill* in *path*; raises InputError with every fault."""
    found = from_document(SkillTasks, read_document(path, largest=LARGEST_BYTES), where=str(path))
    faults = list(_check(found, skill, path))
    if faults:
        raise InputError(faults)
    tasks = {f"{skill}/{task.id}": task for task in found.tasks}
    return TaskFile(
        skill=skill,
        tasks=tuple(_build_task(skill, task) for task in found.tasks),
        path=path,
        sha256=digest_file(path),
        references={name: task.reference_files for name, task in tasks.items() if task.reference_files},
        pattern_sources={name: task.pattern_sources for name, task in tasks.items()},
    )


def _compare_names(skills: Sequence[str], files: Sequence[str], where: str) -> Iterator[Fault]:
    for skill in skills:
        if skill not in files:
            close = difflib.get_close_matches(skill, files, n=1, cutoff=0.6)
            advice = f"did you mean {close[0]}?" if close else "write its tasks, or take the skill out of the study"
            yield Fault(
                code="tasks-not-found", where=where, found=f"the skill {skill!r} has no tasks: there is no {skill}.json", advice=advice
            )
    for file in files:
        if file not in skills:
            found = f"{file}.json has tasks of a skill that the study does not name"
            yield Fault(
                code="skill-not-listed", where=where, found=found, advice="add the skill, with left_out: REASON if it is not to count"
            )


def _check(found: SkillTasks, skill: str, path: Path) -> Iterator[Fault]:
    if found.skill_name != skill:
        said = f"the file is called {skill}.json, and says skill_name {found.skill_name!r}"
        yield Fault(code="not-valid", where=f"{path}, skill_name", found=said, advice="make the two agree")
    if not found.tasks:
        yield Fault(code="tasks-not-found", where=f"{path}, tasks", found="the skill has no tasks", advice="write at least one")
    for place, one in enumerate(found.tasks):
        where = f"{path}, tasks[{place}]"
        if one.id in {other.id for other in found.tasks[:place]}:
            yield Fault(code="task-twice", where=where, found=f"the id {one.id!r} stands twice", advice="give each task an id of its own")
        if not one.id.strip() or one.id != one.id.strip():
            yield Fault(code="id-padded", where=where, found=f"the id {one.id!r} is empty, or begins or ends with white space")
        if not one.prompt.strip():
            yield Fault(code="not-valid", where=where, found=f"task {one.id!r} has no prompt", advice="write down what is asked")


def _build_task(skill: str, one: SkillTask) -> Task:
    fields = {
        SKILL: skill,
        TYPE: one.type,
        LANGUAGE: one.target_language,
        REFERENCES: f"{skill}: {', '.join(one.reference_files)}" if one.reference_files else skill,
        CODEBASE: one.codebase_variant or one.target_language,
    }
    return Task(
        id=f"{skill}/{one.id}",
        prompt=one.prompt,
        fields=fields,
        expected=one.expected_patterns,
        anti=one.anti_patterns,
        note=one.notes,
    )
