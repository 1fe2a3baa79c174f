"""A study's file, read together with everything that it names: skills, tasks, conditions, judge."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.score.patterns import check_patterns
from audit.score.scorers import read_scorer
from audit.skills.conditions import check_conditions, fill_conditions, find_conditions
from audit.skills.tasks import TaskFile, read_task_files
from audit.skills.texts import SkillText, read_skill_text
from registry.codec.documents import from_document, json_schema
from registry.codec.files import read_document
from registry.errors import Fault, InputError
from registry.records.contamination import DIMENSIONS, HIGHEST, LOWEST
from registry.records.replay import Task
from registry.records.scorer import JudgeScorer, PatternScorer
from registry.records.skills import SkillStudy
from registry.records.spec import ContextSpec
from registry.registration.context_file import digest_file, find_beside, read_context_spec

PATTERNS = PatternScorer(kind="pattern")
"""The patterns of every study: hit rate of the expected ones, each reported one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFile:
    """A study with everything that it is made of."""

    path: Path
    study: SkillStudy
    texts: Mapping[str, SkillText]
    """By skill."""
    tasks: Mapping[str, TaskFile]
    """By skill."""
    spec: ContextSpec
    """The conditions, with the skills' texts in them."""
    judge: JudgeScorer | None
    sources: Mapping[str, str]
    """What it was read from: by the name of a file, seen from the study's folder, its SHA-256."""

    def list_tasks(self) -> list[Task]:
        """Return the tasks of all skills."""
        return [task for file in self.tasks.values() for task in file.tasks]


def read_study(path: Path) -> StudyFile:
    """Return the study in *path* with its skills, tasks, conditions and judge.

    Raises:
        InputError: with every fault of the file itself; else of everything that it names, together.
    """
    study = from_document(SkillStudy, read_document(path), where=str(path))
    faults: list[Fault] = []
    sources = {path.name: digest_file(path)}
    texts: dict[str, SkillText] = {}
    for name, entry in study.skills.items():
        try:
            texts[name] = read_skill_text(path.parent, entry.path, where=f"{path}, skills.{name}.path")
            sources |= texts[name].digests
            faults.extend(_check_references(path, study, name, texts[name]))
        except InputError as error:
            faults.extend(error.faults)
    tasks: list[TaskFile] = []
    try:
        tasks = read_task_files(path.parent, study.tasks, list(study.skills), where=f"{path}, tasks")
        faults.extend(fault for file in tasks if file.skill in texts for fault in _check_task_references(file, texts[file.skill]))
        faults.extend(check_patterns(PATTERNS, [task for file in tasks for task in file.tasks]))
        sources |= {f"{study.tasks.rstrip('/')}/{file.path.name}": file.sha256 for file in tasks}
    except InputError as error:
        faults.extend(error.faults)
    spec, judge = _read_conditions(path, study, sources, faults), _read_judge(path, study, sources, faults)
    if faults or spec is None:
        raise InputError(faults)
    return StudyFile(
        path=path,
        study=study,
        texts=texts,
        tasks={file.skill: file for file in tasks},
        spec=fill_conditions(spec, texts, {file.skill: file for file in tasks}),
        judge=judge,
        sources=sources,
    )


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study's file."""
    return json_schema(SkillStudy)


def _check_references(path: Path, study: SkillStudy, name: str, text: SkillText) -> Iterator[Fault]:
    if study.skills[name].hidden_references and not text.references:
        found = "is to be tried without its references, and there is no file in references/"
        advice = "leave hidden_references out: both conditions would send the same"
        yield Fault(code="skill-not-found", where=f"{path}, skills.{name}", found=found, advice=advice)


def _check_task_references(file: TaskFile, text: SkillText) -> Iterator[Fault]:
    for task, names in file.references.items():
        for name in names:
            if name not in text.references:
                close = difflib.get_close_matches(name, text.references, n=1, cutoff=0.6)
                advice = f"did you mean {close[0]}?" if close else f"the skill has {', '.join(text.references) or 'no references'}"
                found = f"the task {task!r} loads the reference {name!r}, and the skill has no such file in references/"
                yield Fault(code="reference-not-found", where=f"{file.path}, reference_files", found=found, advice=advice)


def _read_conditions(path: Path, study: SkillStudy, sources: dict[str, str], faults: list[Fault]) -> ContextSpec | None:
    try:
        file = find_conditions() if study.conditions is None else find_beside(path.parent, study.conditions, where=f"{path}, conditions")
        spec, digests = read_context_spec(file)
    except InputError as error:
        faults.extend(error.faults)
        return None
    folder = Path(study.conditions or file.name).parent
    sources[study.conditions or file.name] = digest_file(file)
    sources.update({(folder / name).as_posix(): digest for name, digest in digests.items()})
    faults.extend(check_conditions(spec, str(file)))
    return spec


def _read_judge(path: Path, study: SkillStudy, sources: dict[str, str], faults: list[Fault]) -> JudgeScorer | None:
    """Return the judge, which has to rate what the study compares."""
    if study.judge is None:
        return None
    try:
        file = find_beside(path.parent, study.judge, where=f"{path}, judge")
        scorer = read_scorer(read_document(file), where=str(file))
        sources[study.judge] = digest_file(file)
    except InputError as error:
        faults.extend(error.faults)
        return None
    if not isinstance(scorer, JudgeScorer):
        faults.append(Fault(code="not-valid", where=str(file), found=f"is no judge, but a scorer of the kind {scorer.kind}"))
        return None
    rated = {(one.name, float(one.low), float(one.high)) for one in scorer.dimensions}
    if rated != {(name, LOWEST, HIGHEST) for name in DIMENSIONS} or scorer.score != "mean":
        found = "a study's judge rates four dimensions from 1 to 5, and the score is their mean"
        advice = f"name them {', '.join(DIMENSIONS)}; examples/rubrics/code-quality.yaml has them"
        faults.append(Fault(code="not-valid", where=f"{file}, dimensions", found=found, advice=advice))
    return scorer
