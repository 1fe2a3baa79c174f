"""A study's file, read together with everything that it names: skills, tasks, conditions, judge."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.score.patterns import check_patterns
from audit.score.scorers import read_scorer
from audit.skills.tasks import TaskFile, read_task_files
from audit.skills.texts import SkillText, read_skill_text
from registry.codec.documents import from_document, json_schema
from registry.codec.files import read_document
from registry.errors import Fault, InputError
from registry.records.block import Block, Variants
from registry.records.contamination import ARMS, DIMENSIONS, HIGHEST, LOWEST
from registry.records.replay import Task
from registry.records.scorer import JudgeScorer, PatternScorer
from registry.records.skills import SkillStudy
from registry.records.spec import ContextSpec
from registry.registration.context_file import digest_file, find_beside, read_context_spec
from registry.registration.contexts import list_names
from registry.resources import find_resource

SKILL, REFERENCES = "skill", "references"
"""Blocks of the conditions that the study fills, by the task's skill."""
CONDITIONS: Mapping[str, str] = {condition: arm for arm, condition in ARMS.items()}
"""Arm by condition, which is the context's id."""

PATTERNS = PatternScorer(kind="pattern")
"""The patterns of every study: hit rate of the expected ones, each reported one by one."""

_NEEDED = ("baseline", "with_skill")
_WITHOUT = {"baseline": (SKILL, REFERENCES), "realistic_baseline": (SKILL, REFERENCES), "skill_md_only": (REFERENCES,)}
"""Blocks that a condition must not hold, or it would not be that condition."""
_WITH = {"with_skill": (SKILL, REFERENCES), "skill_md_only": (SKILL,), "realistic": (SKILL, REFERENCES)}


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
        spec=_fill(spec, texts),
        judge=judge,
        sources=sources,
    )


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study's file."""
    return json_schema(SkillStudy)


def find_conditions() -> Path:
    """Return the file with the conditions that come with Caveat."""
    return find_resource("examples") / "skills" / "conditions.yaml"


def _check_references(path: Path, study: SkillStudy, name: str, text: SkillText) -> Iterator[Fault]:
    if study.skills[name].hidden_references and not text.references:
        found = "is to be tried without its references, and there is no file in references/"
        advice = "leave hidden_references out: both conditions would send the same"
        yield Fault(code="skill-not-found", where=f"{path}, skills.{name}", found=found, advice=advice)


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
    faults.extend(_check_conditions(spec, str(file)))
    return spec


def _check_conditions(spec: ContextSpec, where: str) -> Iterator[Fault]:
    for name in (SKILL, REFERENCES):
        block = (spec.blocks or {}).get(name)
        if block is None or block.by is None or block.by.field != SKILL or block.by.texts or block.by.fallback is not None:
            found = f"the block {name!r} is not left for the study to fill"
            yield Fault(code="not-valid", where=f"{where}, blocks.{name}", found=found, advice="write by: {field: skill, texts: {}}")
    held = {item.id: set(list_names(item)) for item in spec.contexts}
    for name in _NEEDED:
        if name not in held:
            found = f"no context is called {name!r}, and nothing can be compared without it"
            yield Fault(
                code="condition-missing", where=f"{where}, contexts", found=found, advice=f"the conditions are {', '.join(CONDITIONS)}"
            )
    for name, blocks in held.items():
        if name not in CONDITIONS:
            found = f"no condition is called {name!r}"
            yield Fault(
                code="unknown-condition", where=f"{where}, contexts", found=found, advice=f"the conditions are {', '.join(CONDITIONS)}"
            )
        wrong = [f"holds {one}" for one in _WITHOUT.get(name, ()) if one in blocks]
        wrong += [f"does not hold {one}" for one in _WITH.get(name, ()) if one not in blocks]
        if wrong:
            yield Fault(code="not-valid", where=f"{where}, contexts[{name}]", found=f"the condition {' and '.join(wrong)}")


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


def _fill(spec: ContextSpec, texts: Mapping[str, SkillText]) -> ContextSpec:
    """Return *spec* with the texts of the skills in the blocks that are left for them."""
    main = _build_block({name: text.main for name, text in texts.items()}, texts, is_main=True)
    references = _build_block({name: text.references for name, text in texts.items()}, texts, is_main=False)
    known = spec.blocks or {}
    filled = {
        SKILL: replace(main, description=known[SKILL].description, cue=known[SKILL].cue),
        REFERENCES: replace(references, description=known[REFERENCES].description, cue=known[REFERENCES].cue),
    }
    return replace(spec, blocks={**known, **filled})


def _build_block(by_skill: Mapping[str, str], texts: Mapping[str, SkillText], *, is_main: bool) -> Block:
    files = (
        f"{file}, sha256 {digest}"
        for text in texts.values()
        for place, (file, digest) in enumerate(text.digests.items())
        if (place == 0) is is_main
    )
    return Block(by=Variants(field=SKILL, texts=dict(by_skill)), source="; ".join(files) or None)
