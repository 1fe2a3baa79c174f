"""A folder of skill-contamination runs, read with all faults at once, with the patterns of each response."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from audit.errors import TableError
from audit.pattern_search import PatternKind, search_pattern
from audit.sources.score_columns import FaultList
from audit.sources.skill_study_records import ARMS, DIMENSIONS, HIGHEST, LOWEST, Note, PatternSource
from registry.codec.canonical_documents import Json
from registry.codec.file_io import parse_document, read_text
from registry.errors import Fault, InputError, suggest

# One JSON file of a skill-contamination run, read step by step. Each fault is reported with its path, and reading goes
# on, so that one import shows them all.

Value = TypeVar("Value")

_LARGEST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPlace:
    """A value in a document, and the path that leads there. What is missing is a place whose value is None."""

    value: Json
    where: str
    faults: FaultList

    def fault(self, code: str, text: str, advice: str | None = None) -> None:
        """Report that something is wrong here, once however often the place is looked at."""
        fault = Fault(code, self.where, text, advice=advice)
        # A place may be read several times, and its fault is one.
        if fault not in self.faults.faults:
            self.faults.add(fault)

    def has(self, name: str) -> bool:
        """Whether *name* is here and is not null."""
        return isinstance(self.value, dict) and self.value.get(name) is not None

    def at(self, name: str) -> "DocumentPlace":
        """Return the place *name* of an object; its value is None when it is not there."""
        self.expect(dict, "an object")
        value = self.value.get(name) if isinstance(self.value, dict) else None
        return DocumentPlace(value=value, where=self._join(name), faults=self.faults)

    def items(self, name: str) -> Iterator["DocumentPlace"]:
        """Give the places of the list *name*."""
        here = self.at(name)
        here.expect(list, "a list", required=isinstance(self.value, dict))
        for position, value in enumerate(here.value if isinstance(here.value, list) else ()):
            document_place = DocumentPlace(value=value, where=f"{here.where}[{position}]", faults=self.faults)
            if document_place.expect(dict, "an object", required=True):
                yield document_place

    def entries(self) -> Iterator[tuple[str, "DocumentPlace"]]:
        """Give the places of an object with their names."""
        self.expect(dict, "an object")
        for name in self.value if isinstance(self.value, dict) else ():
            yield str(name), self.at(str(name))

    def text(self, name: str, *, default: str | None = None) -> str:
        """Return the text *name*; *default* where it is null or missing, a fault without one."""
        here = self.at(name)
        if here.value is None and default is not None:
            return default
        return here.value if isinstance(here.value, str) else here.refuse("a text", "")

    def texts(self, name: str) -> list[str]:
        """Return the texts of the list *name*; empty when it is not there."""
        here = self.at(name)
        here.expect(list, "a list")
        values = here.value if isinstance(here.value, list) else []
        return [value for value in values if isinstance(value, str)]

    def whole(self, name: str, *, required: bool = True) -> int | None:
        """Return the whole number *name*, 0 or above; None when it is not there."""
        here = self.at(name)
        if isinstance(here.value, int) and not isinstance(here.value, bool) and here.value >= 0:
            return here.value
        return None if here.value is None and not required else here.refuse("a whole number, 0 or above", None)

    def number(self, name: str, *, low: float, high: float) -> float:
        """Return the number *name*, which has to lie in [low, high]; NaN after a fault."""
        here = self.at(name)
        if isinstance(here.value, bool) or not isinstance(here.value, int | float):
            here.fault("score-not-number", f"expected a number from {low:g} to {high:g}, found {_show(here.value)}")
            return math.nan
        if not low <= here.value <= high:
            here.fault("score-out-of-range", f"{_show(here.value)} lies outside [{low:g}, {high:g}]")
            return math.nan
        return float(here.value)

    def flag(self, name: str) -> bool | None:
        """Return whether *name* is true; None when it is not there."""
        here = self.at(name)
        return here.value if here.value is None or isinstance(here.value, bool) else here.refuse("true or false", None)

    def refuse_unknown(self, texts: Iterable[str], *, code: str, what: str) -> None:
        """Report every key that is none of *texts*."""
        names = list(texts)
        for name in self.value if isinstance(self.value, dict) else ():
            if name not in names:
                advice = suggest(name, names) or f"the {what}s are: {', '.join(names[1:])}"
                self.faults.add(Fault(code, self._join(name), f"no {what} is called {name!r}", advice=advice))

    def _join(self, name: str) -> str:
        # A comma after the file name, a point inside the document.
        return f"{self.where}{'.' if ', ' in self.where else ', '}{name}"

    def expect(self, kind: type, name: str, *, required: bool = False) -> bool:
        """Return whether the value is of *kind*, telling a fault if not; null passes for "not there" unless *required*."""
        if isinstance(self.value, kind):
            return True
        if self.value is not None or required:
            self.refuse(name, None)
        return False

    def refuse(self, expected: str, instead: Value) -> Value:
        """Report that something else is here, and return *instead*."""
        self.fault("not-valid", f"expected {expected}, found {_show(self.value)}")
        return instead


def open_json(path: Path, *, name: str, faults: FaultList, files: dict[str, str]) -> DocumentPlace | None:
    """Return the whole document in *path*, noting its SHA-256 in *files*; None when it is no JSON object, and then *faults* says why."""
    try:
        text = read_text(path, largest=_LARGEST_BYTES)
        document = _parse_object(text, name)
    except InputError as error:
        for fault in error.faults:
            # These files are JSON only. Broken ones may look like YAML to the shared parser, and its message would
            # mislead.
            faults.add(replace(fault, code="not-json") if fault.code == "not-yaml" else fault)
        return None
    files[name] = hashlib.sha256(text.encode()).hexdigest()
    return DocumentPlace(value=document, where=name, faults=faults)


def _parse_object(text: str, name: str) -> Json:
    """What does not begin like an object would be read as YAML."""
    if text.lstrip()[:1] != "{":
        raise InputError(Fault("not-json", name, f"expected a JSON object, found {_show(text.strip()[:40])}"))
    return parse_document(text, where=name)


def _show(value: object) -> str:
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# The patterns of one response: as its file records them, and matched anew against its text. Own matches are preferred,
# since they can be checked.

Patterns = tuple[tuple[bool, ...], tuple[bool, ...]]
"""Whether each expected pattern, and each anti-pattern, was found in the response."""

PatternTexts = tuple[tuple[str, ...], tuple[str, ...]]
"""The expected patterns and the anti-patterns themselves."""

KINDS: tuple[PatternKind, PatternKind] = ("expected", "anti")
MATCH_LIMIT_S = 1.0
"""Longest search for one pattern in one response."""

NO_TEXT = "the text of the response is not there"
NO_RESULT = "the study records no patterns for the response"
NOT_NAMED = "the study does not name the patterns that it matched"
TOO_SLOW = f"a pattern took longer than {MATCH_LIMIT_S:g} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternMatching:
    """What is known of the patterns of one response."""

    patterns: Patterns | None
    """As they match the text where that could be tried, else as the file records them; None where the file records nothing."""
    recorded: Patterns | None
    """As the file records them."""
    texts: PatternTexts | None
    """The patterns; None where the file does not name them."""
    unmatched: str | None
    """Why they were not matched here; None where they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPatterns:
    """The patterns that tasks/ gives a task."""

    texts: PatternTexts | None
    """None where the file gives none."""
    sources: tuple[PatternSource, ...]


def match_patterns(place: DocumentPlace, text: str | None) -> PatternMatching:
    """Return the patterns that *place* records of a response, matched anew against its *text* where there is one."""
    if place.value is None:
        return PatternMatching(patterns=None, recorded=None, texts=None, unmatched=NO_RESULT)
    expected, anti = (tuple(result.flag("matched") is True for result in place.items(f"{kind}_results")) for kind in KINDS)
    recorded = expected, anti
    texts = _read_texts(place)
    if text is None or texts is None:
        return PatternMatching(patterns=recorded, recorded=recorded, texts=texts, unmatched=NOT_NAMED if texts is None else NO_TEXT)
    matches = _search(texts, text)
    return PatternMatching(patterns=matches or recorded, recorded=recorded, texts=texts, unmatched=None if matches else TOO_SLOW)


def read_planned(task: DocumentPlace) -> PlannedPatterns:
    """Return the patterns of one task of tasks/, with the sources that the file gives for them."""
    named = task.has("expected_patterns") or task.has("anti_patterns")
    expected, anti = (tuple(task.texts(f"{kind}_patterns")) for kind in KINDS)
    sources = tuple(
        PatternSource(url=source.text("url"), description=source.text("description", default="") or None)
        for source in (task.items("pattern_sources") if task.has("pattern_sources") else ())
    )
    return PlannedPatterns(texts=(expected, anti) if named else None, sources=sources)


def _read_texts(place: DocumentPlace) -> PatternTexts | None:
    written = {kind: [result.at("pattern").value for result in place.items(f"{kind}_results")] for kind in KINDS}
    expected, anti = (tuple(pattern for pattern in written[kind] if isinstance(pattern, str)) for kind in KINDS)
    # If one pattern is not named, matching the others would give rates over another set than the recorded ones.
    return None if (len(expected), len(anti)) != (len(written["expected"]), len(written["anti"])) else (expected, anti)


def _search(texts: PatternTexts, text: str) -> Patterns | None:
    """Return what *text* matches; None where a pattern takes too long."""
    try:
        expected, anti = (
            tuple(search_pattern(pattern, text, kind=kind, time_limit_s=MATCH_LIMIT_S).matched for pattern in patterns)
            for kind, patterns in zip(KINDS, texts, strict=True)
        )
    except TimeoutError:
        return None
    return expected, anti


# A skill-contamination run in a folder: scores/, generations/, tasks/, skills.json, behavioral-eval.json, history/.
#
# Each skill was tried on a few tasks under up to four conditions, with several runs each. A judge scored every response
# on four dimensions from 1 to 5, and patterns were looked for. Only scores/ is needed; what else is missing is reported
# and never taken for zero.

NOT_SCORED = "no response of this condition was scored"
NO_JUDGMENT = "the judge gave no usable answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillResponse:
    """One response under one condition, with what is known of it."""

    task_id: str
    run: int
    arm: str
    """A baseline, B with the skill, C the skill without its references, D the skill in a realistic context, E that context alone."""

    dimensions: Mapping[str, float]
    """The judge's scores, 1 to 5; a dimension that the judge omitted is not there."""

    excluded: str | None
    """Why there is no composite score; None when all four dimensions are there."""

    patterns: Patterns | None
    """As they match the text where it is there, else as the file says; None if they were not looked for."""

    chars: int | None
    """Length of the response; None without its text."""

    digest: str | None
    """SHA-256 of the text; None without it."""

    output_tokens: int | None
    cached: bool | None
    judge_cached: bool | None
    failed: bool = False
    """Whether the call had no answer, or was never made: then there is no text; its length and digest are None."""

    recorded: Patterns | None = None
    """What the file says of the patterns; None where it says nothing, and for runs of our own."""

    pattern_texts: PatternTexts | None = None
    """The patterns that were looked for; None where nothing names them."""

    unmatched: str | None = None
    """Why `patterns` were not matched here against the text, but copied from the file or not known; None where they were."""

    @property
    def is_matched(self) -> bool:
        """Whether `patterns` were matched here, against the text; else they are a copy of what the file says."""
        return self.patterns is not None and self.unmatched is None

    @property
    def composite(self) -> float | None:
        """Mean of the four dimensions, 1 to 5; None when the response is excluded."""
        return None if self.excluded is not None else sum(self.dimensions.values()) / len(self.dimensions)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTaskRun:
    """One task that was run."""

    task_id: str
    type_: str
    language: str
    pattern_file: str | None = None
    """The file that names the patterns as they were matched, by its path below the folder; None where none names any."""
    pattern_sources: tuple[PatternSource, ...] = ()
    """Where the patterns come from, as tasks/ says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRuns:
    """One skill with all responses, in the order of its file."""

    name: str
    structural_score: float
    """The structural contamination score of the skill's text, from 0 to 1."""

    risk_level: str
    test_category: str
    generator: str
    judge: str
    scored_at: str
    tasks: tuple[SkillTaskRun, ...]
    responses: tuple[SkillResponse, ...]
    hidden: bool = False
    """Whether the study asked for its references apart from the rest (condition C)."""

    excluded: str | None = None
    """Why the study left it out of its aggregates; None when it did not."""

    def find(self, arm: str) -> tuple[SkillResponse, ...]:
        """Return the responses of *arm*, excluded ones too; empty when the skill was not tried under it."""
        return tuple(response for response in self.responses if response.arm == arm)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSetFacts:
    """What skills.json says of the study as a whole."""

    visible_chars: int | None = None
    """How many characters of a response the judge was shown; None if it is not stated, and when it was shown all."""

    is_seen_whole: bool = False
    """Whether it says that the judge was shown every response to its end."""

    token_limit: int | None = None
    excluded: tuple[str, ...] = ()
    skills: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """By skill: `hidden_contamination` and `experimental`."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    """By skill that was left out, why, where the file says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRecording:
    """Everything that was read."""

    skills: tuple[SkillRuns, ...]
    """In the order of the names of their files."""

    earlier: Mapping[str, tuple[SkillRuns, ...]]
    """By folder of history/, what it holds."""

    facts: SkillSetFacts
    published: Mapping[str, object] | None
    """behavioral-eval.json as it is; None when it is not there."""

    notes: tuple[Note, ...]
    files: Mapping[str, str]
    """By path below the folder, the SHA-256 of each file that was read."""


def read_recording(folder: Path) -> StudyRecording:
    """Return the recording in *folder*.

    Raises:
        TableError: scores/ is missing or empty, a file cannot be read, a score is not a number or outside 1 to 5, a run names a
            condition that does not exist, a task or run occurs twice; all of these at once.
    """
    reader = _FolderReader(folder)
    facts = reader.read_facts()
    skills = reader.read_skills(folder / "scores", facts)
    if not skills and not reader.faults.faults:
        problem = "expected a folder scores/ with one .json file per skill, found none"
        reader.faults.add(Fault("unknown-format", str(folder), problem, advice="name the folder that holds scores/"))
    earlier = {path.name: tuple(reader.read_skills(path / "scores", facts)) for path in reader.list_earlier()}
    published = reader.read_published()
    if reader.faults.faults:
        raise TableError(reader.faults.all(where=str(folder)))
    reader.note_absent(skills, facts)
    return StudyRecording(
        skills=tuple(skills),
        earlier=earlier,
        facts=facts,
        published=published,
        notes=tuple(reader.notes),
        files=dict(sorted(reader.files.items())),
    )


class _FolderReader:
    """One reading of a folder: collects faults and notes on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults = FaultList()
        self.notes: list[Note] = []
        self.files: dict[str, str] = {}
        self.planned: dict[str, dict[str, PlannedPatterns]] = {}
        """By skill and task, the patterns that tasks/ gives; a skill without a file in tasks/ is not here."""

    def _open(self, path: Path) -> DocumentPlace | None:
        name = path.relative_to(self.folder).as_posix()
        return open_json(path, name=name, faults=self.faults, files=self.files)

    def _note(self, kind: str, where: str, message: str) -> None:
        self.notes.append(Note(kind=kind, where=where, message=message))

    def read_facts(self) -> SkillSetFacts:
        path = self.folder / "skills.json"
        place = self._open(path) if path.is_file() else None
        if place is None:
            return SkillSetFacts()
        constants = place.at("constants")
        known = {name: document_place.at("config") for name, document_place in place.at("skills").entries()}
        reasons = {name: config.text("excluded", default="") for name, config in known.items()}
        return SkillSetFacts(
            visible_chars=place.whole("judge_visible_chars", required=False),
            is_seen_whole=_says_whole(place),
            token_limit=constants.whole("MAX_GENERATION_TOKENS", required=False),
            excluded=tuple(place.texts("excluded_from_aggregates")),
            skills={
                name: {flag: config.flag(flag) is True for flag in ("hidden_contamination", "experimental")}
                for name, config in known.items()
            },
            reasons={name: reason for name, reason in reasons.items() if reason},
        )

    def read_published(self) -> Mapping[str, object] | None:
        path = self.folder / "behavioral-eval.json"
        place = self._open(path) if path.is_file() else None
        return place.value if place is not None and isinstance(place.value, dict) else None

    def list_earlier(self) -> list[Path]:
        folder = self.folder / "history"
        return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def read_skills(self, folder: Path, facts: SkillSetFacts) -> list[SkillRuns]:
        skills: dict[str, SkillRuns] = {}
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            place = self._open(path)
            if place is None:
                continue
            skill = self._read_skill(place, path, facts)
            if skill.name in skills:
                place.fault("duplicate-row", f"the skill {skill.name!r} is in two files")
            skills[skill.name] = skill
        return list(skills.values())

    def _read_skill(self, place: DocumentPlace, path: Path, facts: SkillSetFacts) -> SkillRuns:
        name = place.text("skill_name")
        texts = self._read_generations(path.parent.parent / "generations" / path.name)
        if texts is None and path.parent.parent == self.folder:
            self._note("no-generations", place.where, "its texts are not there: the length of the responses is unknown")
        tasks: dict[str, SkillTaskRun] = {}
        responses: list[SkillResponse] = []
        planned = self._read_planned(name) if path.parent.parent == self.folder else {}
        for document_place in place.items("tasks"):
            task_id = document_place.text("task_id")
            if task_id in tasks:
                document_place.fault("duplicate-row", f"the task {task_id!r} occurs twice")
            runs = self._read_runs(document_place, task_id, texts)
            tasks[task_id] = self._build_task(document_place, runs, planned.get(task_id), skill=name)
            responses += runs
        flags = facts.skills.get(name, {})
        return SkillRuns(
            name=name,
            structural_score=place.number("contamination_score", low=0, high=1),
            risk_level=place.text("risk_level", default=""),
            test_category=place.text("test_category", default=""),
            generator=place.text("model_generation", default=""),
            judge=place.text("model_judge", default=""),
            scored_at=place.text("scored_at", default=""),
            tasks=tuple(tasks.values()),
            responses=tuple(self._drop_absent(responses)),
            hidden=flags.get("hidden_contamination", False),
            excluded=_name_reason(name, facts) if name in facts.excluded else None,
        )

    @staticmethod
    def _drop_absent(responses: list[SkillResponse]) -> list[SkillResponse]:
        """A condition without one response in the whole skill was not tried; one with some has gaps, and these stay."""
        # A condition that was never tried is absent. A condition with gaps keeps them, since dropping the gaps would
        # change the sample.
        tried = {response.arm for response in responses if response.excluded != NOT_SCORED}
        return [skill_response for skill_response in responses if skill_response.arm in tried]

    def _read_planned(self, skill: str) -> dict[str, PlannedPatterns]:
        path = self.folder / "tasks" / f"{skill}.json"
        place = self._open(path) if path.is_file() else None
        if place is not None:
            self.planned[skill] = {task.text("id"): read_planned(task) for task in place.items("tasks")}
        return self.planned.get(skill, {})

    def _build_task(self, place: DocumentPlace, runs: list[SkillResponse], planned: PlannedPatterns | None, *, skill: str) -> SkillTaskRun:
        task_id = place.text("task_id")
        matched = {response.pattern_texts for response in runs if response.pattern_texts is not None}
        plan_texts = None if planned is None else planned.texts
        scores = place.where.split(", ")[0]
        # The recorded matches are of the recorded patterns. Comparing them with patterns that were changed later would
        # report differences that come from the change.
        if matched and plan_texts is not None and matched != {plan_texts}:
            message = f"tasks/ gives {task_id} other patterns than the study records matches of; those that were recorded are matched here"
            self._note("patterns-changed", skill, message)
        is_planned = plan_texts is not None and matched <= {plan_texts}
        return SkillTaskRun(
            task_id=task_id,
            type_=place.text("task_type", default=""),
            language=place.text("target_language", default=""),
            pattern_file=f"tasks/{skill}.json" if is_planned else scores if matched else None,
            pattern_sources=() if planned is None else planned.sources,
        )

    def _read_runs(
        self, place: DocumentPlace, task_id: str, texts: Mapping[tuple[str, int, str], DocumentPlace] | None
    ) -> list[SkillResponse]:
        responses: list[SkillResponse] = []
        seen: set[int] = set()
        for document_place in place.items("runs"):
            run = document_place.whole("run_index") or 0
            if run in seen:
                document_place.fault("duplicate-row", f"run {run} of task {task_id!r} occurs twice")
            seen.add(run)
            # A misspelt condition would be left out, and the arm would look as if it had not been run.
            document_place.refuse_unknown(("run_index", *ARMS.values()), code="unknown-name", what="condition")
            responses += [_read_response(document_place.at(condition), (task_id, run, arm), texts) for arm, condition in ARMS.items()]
        return responses

    def _read_generations(self, path: Path) -> dict[tuple[str, int, str], DocumentPlace] | None:
        place = self._open(path) if path.is_file() else None
        if place is None:
            return None
        return {
            (task.text("task_id"), run.whole("run_index") or 0, condition): run.at(condition)
            for task in place.items("tasks")
            for run in task.items("runs")
            for condition in ARMS.values()
            if isinstance(run.at(condition).value, dict)
        }

    def note_absent(self, skills: list[SkillRuns], facts: SkillSetFacts) -> None:
        """Report what the parts of the folder say differently of each other."""
        for skill in skills:
            self._note_tasks(skill)
            counts = {arm: len(skill.find(arm)) for arm in ARMS}
            uneven = {arm: count for arm, count in counts.items() if count and count != max(counts.values())}
            silent = sum(response.chars is None and not response.failed for response in skill.responses)
            if 0 < silent < len(skill.responses):
                self._note("text-missing", skill.name, f"{silent} of {len(skill.responses)} responses have no text in generations/")
            self._note_patterns(skill)
            if uneven:
                self._note("unequal-runs", skill.name, f"responses per condition differ: {counts}")
        missing = sorted(set(facts.skills) - {skill.name for skill in skills})
        for name in missing:
            self._note("skill-without-scores", name, "skills.json names it, and scores/ has nothing of it")
        if facts.skills:
            for skill in skills:
                if skill.name not in facts.skills:
                    self._note("skill-not-listed", skill.name, "skills.json does not name it")

    def _note_patterns(self, skill: SkillRuns) -> None:
        differ = [
            response
            for response in skill.responses
            if response.is_matched and response.recorded is not None and response.patterns != response.recorded
        ]
        if differ:
            first = f"first task {differ[0].task_id}, run {differ[0].run}, arm {differ[0].arm}"
            message = (
                f"responses in which patterns match differently than the file says: {len(differ)} ({first}); the match made here is taken"
            )
            self._note("patterns-differ", skill.name, message)

    def _note_tasks(self, skill: SkillRuns) -> None:
        if skill.name not in self.planned:
            return
        planned = list(self.planned[skill.name])
        run = {task.task_id for task in skill.tasks}
        if absent := [name for name in planned if name not in run]:
            self._note("task-not-run", skill.name, f"{len(absent)} of {len(planned)} planned tasks have no run: {', '.join(absent)}")
        if unplanned := sorted(run - set(planned)):
            self._note("task-not-planned", skill.name, f"tasks/ does not know: {', '.join(unplanned)}")


def _name_reason(name: str, facts: SkillSetFacts) -> str:
    """Return why a skill was left out: as the file says, else as the published study called it."""
    published = "experimental" if facts.skills.get(name, {}).get("experimental") else "behavioral_override"
    return facts.reasons.get(name, published)


def _says_whole(place: DocumentPlace) -> bool:
    """A null that stands there says something; a key that does not, says nothing."""
    return isinstance(place.value, dict) and place.value.get("judge_visible_chars", 0) is None


def _read_response(
    place: DocumentPlace, cell: tuple[str, int, str], texts: Mapping[tuple[str, int, str], DocumentPlace] | None
) -> SkillResponse:
    task_id, run, arm = cell
    text = None if texts is None else texts.get((task_id, run, ARMS[arm]))
    judge = place.at("judge")
    scores = {name: judge.number(name, low=LOWEST, high=HIGHEST) for name in DIMENSIONS if judge.has(name)}
    # A failed call may have an empty text written for it. That is no response of length 0, so its length is unknown.
    failed = texts is not None and (place.value is None if text is None else text.has("error") and not text.text("output", default=""))
    output = text.text("output", default="") if text is not None and not failed else None
    matching = match_patterns(place.at("patterns"), output)
    return SkillResponse(
        task_id=task_id,
        run=run,
        arm=arm,
        dimensions=scores,
        excluded=_explain_exclusion(place, judge, scores, text),
        patterns=matching.patterns,
        chars=None if output is None else len(output),
        digest=None if output is None else hashlib.sha256(output.encode("utf-8", "surrogatepass")).hexdigest(),
        output_tokens=None if text is None else text.whole("output_tokens", required=False),
        cached=(False if failed else None) if text is None else text.flag("cached"),
        judge_cached=judge.flag("cached"),
        failed=failed,
        recorded=matching.recorded,
        pattern_texts=matching.texts,
        unmatched=matching.unmatched,
    )


def _explain_exclusion(place: DocumentPlace, judge: DocumentPlace, scores: Mapping[str, float], text: DocumentPlace | None) -> str | None:
    """Return why a response has no composite score; None when it has one."""
    if len(scores) == len(DIMENSIONS):
        return None
    failed = text.text("error", default="") if text is not None else ""
    # The reasons go from the earliest cause to the latest: generation, scoring, judging.
    if failed:
        return f"the generation failed: {failed}"
    if place.value is None:
        return NOT_SCORED if text is None else "the response was not scored"
    if judge.value is None:
        error = place.text("error", default="")
        return f"not judged: {error}" if error else NO_JUDGMENT
    return "the judge omitted " + ", ".join(name for name in DIMENSIONS if name not in scores)
