"""The file of a skill study with everything it names: skill texts, tasks and conditions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.score.answer_extraction import check_patterns
from audit.score.scorers import read_scorer
from audit.sources.skill_study_records import ARMS, DIMENSIONS, HIGHEST, LOWEST, Note, PatternSource, SkillStudy, SkillTask, SkillTasks
from registry.codec.canonical_documents import from_document, json_schema
from registry.codec.file_io import read_document, read_text
from registry.configuration import find_resource
from registry.errors import Fault, InputError, suggest
from registry.records.replay_run import Task
from registry.records.specification import ContextBlock, ContextItem, ContextSpec, JudgeScorer, Parts, PatternScorer, TurnRole, Variants
from registry.registration.context_specification import LARGEST_TEXT_BYTES, digest_file, find_beside, list_names, read_context_spec

# The text of a skill, as an agent would load it: SKILL.md and what lies in references/.

MAIN, REFERENCES_FOLDER = "SKILL.md", "references"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText:
    """What a skill says."""

    main: str
    references: Mapping[str, str]
    """By path below references/, the text of each file, in the order of paths."""
    digests: dict[str, str]
    """By name of the file, seen from the study's folder, its SHA-256."""

    @property
    def chars(self) -> int:
        """Length of both."""
        return len(self.main) + len(self.join_references(None))

    def join_references(self, names: Sequence[str] | None) -> str:
        """Return the references called *names*, each under a line with its name; all of them where *names* is None or empty."""
        chosen = names or tuple(self.references)
        return "\n\n".join(f"---\n\n# Reference: {name}\n\n{self.references[name].strip()}" for name in chosen)


def read_skill_text(folder: Path, name: str, *, where: str) -> SkillText:
    """Return the text of the skill in the folder *name* next to a study in *folder*.

    Args:
        where: the place in the study that names the folder.

    Raises:
        InputError: with every fault: the folder leads out of the study's, SKILL.md is missing or empty, a file is no text.
    """
    place = find_beside(folder, name, where=where)
    if not place.is_dir():
        problem = f"there is no folder {name!r}"
        raise InputError(Fault("skill-not-found", where, problem, advice="name the folder that holds the skill's SKILL.md"))
    if not (place / MAIN).is_file():
        problem = f"the folder {name!r} has no {MAIN}"
        raise InputError(Fault("skill-not-found", where, problem, advice=f"a skill is a folder with {MAIN} in it"))
    faults: list[Fault] = []
    texts: dict[str, str] = {}
    digests: dict[str, str] = {}
    for path in (place / MAIN, *_list_references(place)):
        file = path.relative_to(folder).as_posix()
        try:
            find_beside(folder, file, where=where)
            texts[path.relative_to(place).as_posix()] = _read(path)
            digests[file] = digest_file(path)
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    main = texts.pop(MAIN)
    references = {file.removeprefix(f"{REFERENCES_FOLDER}/"): text for file, text in texts.items()}
    return SkillText(main=main, references=references, digests=digests)


def _list_references(place: Path) -> Iterator[Path]:
    """Give the files of references/; those whose name begins with a point are left to whoever put them there."""
    for path in sorted((place / REFERENCES_FOLDER).rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(place).parts):
            yield path


def _read(path: Path) -> str:
    text = read_text(path, largest=LARGEST_TEXT_BYTES)
    if "\0" in text:
        raise InputError(Fault("not-valid", str(path), "has U+0000, which no record can hold", advice="remove it"))
    if not text.strip():
        raise InputError(Fault("not-valid", str(path), "the file is empty, so nothing would be loaded"))
    return text


# The tasks of a study: one SKILL.json per skill, in the layout of the published studies.

LARGEST_BYTES = 50_000_000
SKILL, TYPE, LANGUAGE, TASK_REFERENCES, CODEBASE = "skill", "task_type", "target_language", "references", "codebase"
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
    """Return the tasks of *skills*, from the folder *name* next to a study in *folder*, in the order of *skills*.

    Args:
        where: the place in the study that names the folder.

    Raises:
        InputError: with every fault: the folder is not there, a skill has no file or no task, a file is of no skill, or does not fit.
    """
    place = find_beside(folder, name, where=where)
    if not place.is_dir():
        problem = f"there is no folder {name!r}"
        raise InputError(Fault("tasks-not-found", where, problem, advice="name the folder that holds SKILL.json of each skill"))
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
    skill_tasks = from_document(SkillTasks, read_document(path, largest=LARGEST_BYTES), where=str(path))
    faults = list(_check(skill_tasks, skill, path))
    if faults:
        raise InputError(faults)
    tasks = {f"{skill}/{task.id}": task for task in skill_tasks.tasks}
    return TaskFile(
        skill=skill,
        tasks=tuple(_build_task(skill, task) for task in skill_tasks.tasks),
        path=path,
        sha256=digest_file(path),
        references={name: task.reference_files for name, task in tasks.items() if task.reference_files},
        pattern_sources={name: task.pattern_sources for name, task in tasks.items()},
    )


def _compare_names(skills: Sequence[str], files: Sequence[str], where: str) -> Iterator[Fault]:
    for skill in skills:
        if skill not in files:
            advice = suggest(skill, files) or "write its tasks, or take the skill out of the study"
            yield Fault("tasks-not-found", where, f"the skill {skill!r} has no tasks: there is no {skill}.json", advice=advice)
    for file in files:
        if file not in skills:
            yield Fault("skill-not-listed", where, f"{file}.json has tasks of a skill that the study does not name")


def _check(skill_tasks: SkillTasks, skill: str, path: Path) -> Iterator[Fault]:
    if skill_tasks.skill_name != skill:
        text = f"the file is called {skill}.json, and says skill_name {skill_tasks.skill_name!r}"
        yield Fault("not-valid", f"{path}, skill_name", text, advice="make the two agree")
    if not skill_tasks.tasks:
        yield Fault("tasks-not-found", f"{path}, tasks", "the skill has no tasks", advice="write at least one")
    for place, task in enumerate(skill_tasks.tasks):
        where = f"{path}, tasks[{place}]"
        if task.id in {other.id for other in skill_tasks.tasks[:place]}:
            yield Fault("duplicate", where, f"the id {task.id!r} occurs twice")
        if not task.id.strip() or task.id != task.id.strip():
            yield Fault("bad-name", where, f"the id {task.id!r} is empty, or begins or ends with white space")
        if not task.prompt.strip():
            yield Fault("not-valid", where, f"task {task.id!r} has no prompt", advice="write down what is asked")


def _build_task(skill: str, skill_task: SkillTask) -> Task:
    fields = {
        SKILL: skill,
        TYPE: skill_task.type,
        LANGUAGE: skill_task.target_language,
        TASK_REFERENCES: f"{skill}: {', '.join(skill_task.reference_files)}" if skill_task.reference_files else skill,
        CODEBASE: skill_task.codebase_variant or skill_task.target_language,
    }
    return Task(
        id=f"{skill}/{skill_task.id}",
        prompt=skill_task.prompt,
        fields=fields,
        expected=skill_task.expected_patterns,
        anti=skill_task.anti_patterns,
        note=skill_task.notes,
    )


# The conditions of a study: contexts with fixed names, the skill's texts filled in, and where they differ from the published study.

CONDITIONS: Mapping[str, str] = {condition: arm for arm, condition in ARMS.items()}
"""Arm by condition, which is the context's id."""

_NEEDED = ("baseline", "with_skill")
_WITHOUT = {"baseline": (SKILL, TASK_REFERENCES), "realistic_baseline": (SKILL, TASK_REFERENCES), "skill_md_only": (TASK_REFERENCES,)}
"""Blocks that a condition must not hold, or it would not be that condition."""
_WITH = {"with_skill": (SKILL, TASK_REFERENCES), "skill_md_only": (SKILL,), "realistic": (SKILL, TASK_REFERENCES)}
_PLAIN: Mapping[str, tuple[str, ...]] = {"baseline": (), "with_skill": (SKILL, TASK_REFERENCES), "skill_md_only": (SKILL,)}
"""What the system prompt of a condition consists of in the published study."""


def find_conditions() -> Path:
    """Return the file with the conditions that come with Caveat."""
    return find_resource("examples") / "skills" / "conditions.yaml"


def check_conditions(spec: ContextSpec, where: str) -> Iterator[Fault]:
    """Give every fault of *spec* as the conditions of a study: names, needed ones, and the blocks that make each what it is called."""
    for name in (SKILL, TASK_REFERENCES):
        block = (spec.blocks or {}).get(name)
        if block is None or block.by is None or block.by.field != name or block.by.texts or block.by.fallback is not None:
            problem = f"the study cannot fill the block {name!r}"
            yield Fault("not-valid", f"{where}, blocks.{name}", problem, advice=f"write by: {{field: {name}, texts: {{}}}}")
    held = {item.id: set(list_names(item)) for item in spec.contexts}
    for name in _NEEDED:
        if name not in held:
            problem = f"no context is called {name!r}, and nothing can be compared without it"
            yield Fault("condition-missing", f"{where}, contexts", problem, advice=f"the conditions are {', '.join(CONDITIONS)}")
    for name, blocks in held.items():
        if name not in CONDITIONS:
            problem = f"no condition is called {name!r}"
            yield Fault("unknown-name", f"{where}, contexts", problem, advice=f"the conditions are {', '.join(CONDITIONS)}")
        wrong = [f"holds {block}" for block in _WITHOUT.get(name, ()) if block in blocks]
        wrong += [f"does not hold {block}" for block in _WITH.get(name, ()) if block not in blocks]
        if wrong:
            yield Fault("not-valid", f"{where}, contexts[{name}]", f"the condition {' and '.join(wrong)}")


def fill_conditions(spec: ContextSpec, texts: Mapping[str, SkillText], tasks: Mapping[str, TaskFile]) -> ContextSpec:
    """Return *spec* with the skills' texts in the blocks that are left for them: SKILL.md by skill, references as each task loads them."""
    main = {name: text.main for name, text in texts.items()}
    references = {
        task.fields[TASK_REFERENCES]: texts[name].join_references(file.references.get(task.id))
        for name, file in tasks.items()
        for task in file.tasks
        if task.fields is not None
    }
    blocks = spec.blocks or {}
    filled = {
        name: ContextBlock(
            by=Variants(field=name, texts=by_value),
            source=_list_sources(texts, is_main=name == SKILL),
            description=blocks[name].description,
            cue=blocks[name].cue,
        )
        for name, by_value in ((SKILL, main), (TASK_REFERENCES, references))
    }
    return replace(spec, blocks={**blocks, **filled})


def _list_sources(texts: Mapping[str, SkillText], *, is_main: bool) -> str | None:
    files = (
        f"{file}, sha256 {digest}"
        for text in texts.values()
        for place, (file, digest) in enumerate(text.digests.items())
        if (place == 0) is is_main
    )
    return "; ".join(files) or None


def list_deviations(items: Sequence[ContextItem]) -> Iterator[Note]:
    """Give a note for each condition that is not built as in the published study; what a run says of it holds for the run's own only."""
    for item in items:
        if item.id in _PLAIN:
            wanted = _PLAIN[item.id]
            if _name_blocks(item.system) != wanted or item.messages:
                expected = "only the task's prompt" if not wanted else f"{' and '.join(wanted)} as system prompt, then the task's prompt"
                yield _describe_departure(item, expected)
        elif [turn.role for turn in item.messages] != [TurnRole.USER, TurnRole.ASSISTANT]:
            yield _describe_departure(item, "a request and a report with a file read, then the task's prompt")


def _describe_departure(item: ContextItem, expected: str) -> Note:
    message = f"the published study sends {expected}; this run's condition is another"
    return Note(kind="condition-differs", where=f"{CONDITIONS.get(item.id, '?')} {item.id}", message=message)


def _name_blocks(parts: Parts | None) -> tuple[str, ...] | None:
    """Return the names of the blocks; None where a text is written out."""
    if not parts:
        return ()
    return None if isinstance(parts, str) else tuple(parts)


# A study's file, read together with everything that it names: skills, tasks, conditions, judge.

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
        problem = "is to be tried without its references, and there is no file in references/"
        advice = "leave hidden_references out: both conditions would send the same"
        yield Fault("skill-not-found", f"{path}, skills.{name}", problem, advice=advice)


def _check_task_references(file: TaskFile, text: SkillText) -> Iterator[Fault]:
    for task, names in file.references.items():
        for name in names:
            if name not in text.references:
                advice = suggest(name, text.references) or f"the skill has {', '.join(text.references) or 'no references'}"
                problem = f"the task {task!r} loads the reference {name!r}, and the skill has no such file in references/"
                yield Fault("unknown-name", f"{file.path}, reference_files", problem, advice=advice)


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
        faults.append(Fault("not-valid", str(file), f"is not a judge, but a scorer of the kind {scorer.kind}"))
        return None
    rated = {(dimension.name, float(dimension.low), float(dimension.high)) for dimension in scorer.dimensions}
    if rated != {(name, LOWEST, HIGHEST) for name in DIMENSIONS} or scorer.score != "mean":
        problem = "a study's judge rates four dimensions from 1 to 5, and the score is their mean"
        advice = f"name them {', '.join(DIMENSIONS)}; examples/rubrics/code-quality.yaml has them"
        faults.append(Fault("not-valid", f"{file}, dimensions", problem, advice=advice))
    return scorer
