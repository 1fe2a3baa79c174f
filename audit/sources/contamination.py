"""A skill-contamination run as it lies in a folder: scores/, generations/, tasks/, skills.json, behavioral-eval.json, history/.

Each skill was tried on a few tasks under up to four conditions, several runs each; a judge scored every response on four dimensions
from 1 to 5, and patterns were looked for. Only scores/ is needed; what else is missing is told, and never taken for zero.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from audit.errors import TableError
from audit.sources.contamination_files import Place, open_json
from audit.sources.contamination_patterns import Patterns, PatternTexts, PlannedPatterns, match_patterns, read_planned
from audit.sources.raw import FaultList
from registry.errors import Fault
from registry.records.contamination import ARMS, DIMENSIONS, HIGHEST, LOWEST, Note
from registry.records.skills import PatternSource

NOT_SCORED = "no response of this condition was scored"
NO_JUDGMENT = "the judge gave no usable answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One response under one condition, with what is known of it."""

    task_id: str
    run: int
    arm: str
    """A baseline, B with the skill, C the skill without its references, D the skill in a realistic context, E that context alone."""

    dimensions: Mapping[str, float]
    """The judge's scores, 1 to 5; a dimension that the judge left out is not there."""

    excluded: str | None
    """Why there is no composite score; None when all four dimensions are there."""

    patterns: Patterns | None
    """As they match the text where it is there, else as the file says; None where nobody looked for them."""

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
        """Whether `patterns` were matched here, against the text; otherwise they are a copy of what the file says."""
        return self.patterns is not None and self.unmatched is None

    @property
    def composite(self) -> float | None:
        """Mean of the four dimensions, 1 to 5; None when the response is excluded."""
        return None if self.excluded is not None else sum(self.dimensions.values()) / len(self.dimensions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task that was run."""

    task_id: str
    type_: str
    language: str
    pattern_file: str | None = None
    """The file that names the patterns as they were matched, by its path below the folder; None where none names any."""
    pattern_sources: tuple[PatternSource, ...] = ()
    """Where the patterns come from, as tasks/ says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill with all responses, in the order of its file."""

    name: str
    structural_score: float
    """The structural contamination score of the skill's text, from 0 to 1."""

    risk_level: str
    test_category: str
    generator: str
    judge: str
    scored_at: str
    tasks: tuple[Task, ...]
    responses: tuple[Response, ...]
    hidden: bool = False
    """Whether the study asked for its references apart from the rest (condition C)."""

    left_out: str | None = None
    """Why the study left it out of its aggregates; None when it did not."""

    def find(self, arm: str) -> tuple[Response, ...]:
        """Return the responses of *arm*, excluded ones too; empty when the skill was not tried under it."""
        return tuple(one for one in self.responses if one.arm == arm)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What skills.json says of the study as a whole."""

    visible_chars: int | None = None
    """How many characters of a response the judge was shown; None when nobody says, and when it was shown all."""

    is_seen_whole: bool = False
    """Whether it says that the judge was shown every response to its end."""

    token_limit: int | None = None
    left_out: tuple[str, ...] = ()
    skills: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """By skill: `hidden_contamination` and `experimental`."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    """By skill that was left out, why, where the file says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Everything that was read."""

    skills: tuple[Skill, ...]
    """In the order of the names of their files."""

    earlier: Mapping[str, tuple[Skill, ...]]
    """By folder of history/, what it holds."""

    facts: Facts
    published: Mapping[str, object] | None
    """behavioral-eval.json as it is; None when it is not there."""

    notes: tuple[Note, ...]
    files: Mapping[str, str]
    """By path below the folder, the SHA-256 of each file that was read."""


def read_recording(folder: Path) -> Recording:
    """Return the recording in *folder*.

    Raises:
        TableError: scores/ is missing or empty, a file cannot be read, a score is no number or outside 1 to 5, a run names a
            condition that does not exist, a task or run stands twice; all of these at once.
    """
    reader = _Reader(folder)
    facts = reader.read_facts()
    skills = reader.read_skills(folder / "scores", facts)
    if not skills and not reader.faults.faults:
        found = "expected a folder scores/ with one .json file per skill, found none"
        reader.faults.add(Fault(code="no-recording", where=str(folder), found=found, advice="name the folder that holds scores/"))
    earlier = {one.name: tuple(reader.read_skills(one / "scores", facts)) for one in reader.list_earlier()}
    published = reader.read_published()
    if reader.faults.faults:
        raise TableError(reader.faults.all(where=str(folder)))
    reader.note_absent(skills, facts)
    return Recording(
        skills=tuple(skills),
        earlier=earlier,
        facts=facts,
        published=published,
        notes=tuple(reader.notes),
        files=dict(sorted(reader.files.items())),
    )


class _Reader:
    """One reading of a folder: collects faults and notes on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults = FaultList()
        self.notes: list[Note] = []
        self.files: dict[str, str] = {}
        self.planned: dict[str, dict[str, PlannedPatterns]] = {}
        """By skill and task, the patterns that tasks/ gives; a skill without a file in tasks/ is not here."""

    def _open(self, path: Path) -> Place | None:
        name = path.relative_to(self.folder).as_posix()
        return open_json(path, name=name, faults=self.faults, files=self.files)

    def _note(self, kind: str, where: str, message: str) -> None:
        self.notes.append(Note(kind=kind, where=where, message=message))

    def read_facts(self) -> Facts:
        path = self.folder / "skills.json"
        place = self._open(path) if path.is_file() else None
        if place is None:
            return Facts()
        constants = place.at("constants")
        known = {name: one.at("config") for name, one in place.at("skills").entries()}
        reasons = {name: config.text("left_out", default="") for name, config in known.items()}
        return Facts(
            visible_chars=place.whole("judge_visible_chars", required=False),
            is_seen_whole=_says_whole(place),
            token_limit=constants.whole("MAX_GENERATION_TOKENS", required=False),
            left_out=tuple(place.texts("excluded_from_aggregates")),
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
        return sorted(one for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []

    def read_skills(self, folder: Path, facts: Facts) -> list[Skill]:
        skills: dict[str, Skill] = {}
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            place = self._open(path)
            if place is None:
                continue
            skill = self._read_skill(place, path, facts)
            if skill.name in skills:
                place.fault("row-repeated", f"the skill {skill.name!r} stands in two files", "remove one of them")
            skills[skill.name] = skill
        return list(skills.values())

    def _read_skill(self, place: Place, path: Path, facts: Facts) -> Skill:
        name = place.text("skill_name")
        texts = self._read_generations(path.parent.parent / "generations" / path.name)
        if texts is None and path.parent.parent == self.folder:
            self._note("no-generations", place.where, "its texts are not there: nobody can say how long the responses are")
        tasks: dict[str, Task] = {}
        responses: list[Response] = []
        planned = self._read_planned(name) if path.parent.parent == self.folder else {}
        for one in place.items("tasks"):
            task_id = one.text("task_id")
            if task_id in tasks:
                one.fault("row-repeated", f"the task {task_id!r} stands twice", "keep one of them")
            runs = self._read_runs(one, task_id, texts)
            tasks[task_id] = self._build_task(one, runs, planned.get(task_id), skill=name)
            responses += runs
        flags = facts.skills.get(name, {})
        return Skill(
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
            left_out=_name_reason(name, facts) if name in facts.left_out else None,
        )

    @staticmethod
    def _drop_absent(responses: list[Response]) -> list[Response]:
        """A condition without one response in the whole skill was not tried; one with some has gaps, and these stay."""
        tried = {one.arm for one in responses if one.excluded != NOT_SCORED}
        return [one for one in responses if one.arm in tried]

    def _read_planned(self, skill: str) -> dict[str, PlannedPatterns]:
        path = self.folder / "tasks" / f"{skill}.json"
        place = self._open(path) if path.is_file() else None
        if place is not None:
            self.planned[skill] = {task.text("id"): read_planned(task) for task in place.items("tasks")}
        return self.planned.get(skill, {})

    def _build_task(self, place: Place, runs: list[Response], planned: PlannedPatterns | None, *, skill: str) -> Task:
        task_id = place.text("task_id")
        matched = {response.pattern_texts for response in runs if response.pattern_texts is not None}
        given = None if planned is None else planned.texts
        scores = place.where.split(", ")[0]
        if matched and given is not None and matched != {given}:
            message = f"tasks/ gives {task_id} other patterns than the study records matches of; those that were recorded are matched here"
            self._note("patterns-changed", skill, message)
        is_planned = given is not None and matched <= {given}
        return Task(
            task_id=task_id,
            type_=place.text("task_type", default=""),
            language=place.text("target_language", default=""),
            pattern_file=f"tasks/{skill}.json" if is_planned else scores if matched else None,
            pattern_sources=() if planned is None else planned.sources,
        )

    def _read_runs(self, place: Place, task_id: str, texts: Mapping[tuple[str, int, str], Place] | None) -> list[Response]:
        found: list[Response] = []
        seen: set[int] = set()
        for one in place.items("runs"):
            run = one.whole("run_index") or 0
            if run in seen:
                one.fault("row-repeated", f"run {run} of task {task_id!r} stands twice", "number the runs of a task apart")
            seen.add(run)
            one.refuse_unknown(("run_index", *ARMS.values()), code="unknown-condition", what="condition")
            found += [_read_response(one.at(condition), (task_id, run, arm), texts) for arm, condition in ARMS.items()]
        return found

    def _read_generations(self, path: Path) -> dict[tuple[str, int, str], Place] | None:
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

    def note_absent(self, skills: list[Skill], facts: Facts) -> None:
        """Tell what the parts of the folder say differently of each other."""
        for skill in skills:
            self._note_tasks(skill)
            counts = {arm: len(skill.find(arm)) for arm in ARMS}
            uneven = {arm: count for arm, count in counts.items() if count and count != max(counts.values())}
            silent = sum(one.chars is None and not one.failed for one in skill.responses)
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

    def _note_patterns(self, skill: Skill) -> None:
        differ = [one for one in skill.responses if one.is_matched and one.recorded is not None and one.patterns != one.recorded]
        if differ:
            first = f"first task {differ[0].task_id}, run {differ[0].run}, arm {differ[0].arm}"
            message = f"responses that patterns match otherwise than the file says: {len(differ)} ({first}); the match made here is taken"
            self._note("patterns-differ", skill.name, message)

    def _note_tasks(self, skill: Skill) -> None:
        if skill.name not in self.planned:
            return
        planned = list(self.planned[skill.name])
        run = {task.task_id for task in skill.tasks}
        if absent := [name for name in planned if name not in run]:
            self._note("task-not-run", skill.name, f"{len(absent)} of {len(planned)} planned tasks have no run: {', '.join(absent)}")
        if unplanned := sorted(run - set(planned)):
            self._note("task-not-planned", skill.name, f"tasks/ does not know: {', '.join(unplanned)}")


def _name_reason(name: str, facts: Facts) -> str:
    """Return why a skill was left out: as the file says, else as the published study called it."""
    published = "experimental" if facts.skills.get(name, {}).get("experimental") else "behavioral_override"
    return facts.reasons.get(name, published)


def _says_whole(place: Place) -> bool:
    """A null that stands there says something; a key that does not, says nothing."""
    return isinstance(place.value, dict) and place.value.get("judge_visible_chars", 0) is None


def _read_response(place: Place, cell: tuple[str, int, str], texts: Mapping[tuple[str, int, str], Place] | None) -> Response:
    task_id, run, arm = cell
    text = None if texts is None else texts.get((task_id, run, ARMS[arm]))
    judge = place.at("judge")
    scores = {name: judge.number(name, low=LOWEST, high=HIGHEST) for name in DIMENSIONS if judge.has(name)}
    # A call that failed may have an empty text written for it, which is no response of length 0; one that was never made has nothing.
    failed = texts is not None and (place.value is None if text is None else text.has("error") and not text.text("output", default=""))
    output = text.text("output", default="") if text is not None and not failed else None
    matching = match_patterns(place.at("patterns"), output)
    return Response(
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


def _explain_exclusion(place: Place, judge: Place, scores: Mapping[str, float], text: Place | None) -> str | None:
    """Return why a response has no composite score; None when it has one."""
    if len(scores) == len(DIMENSIONS):
        return None
    failed = text.text("error", default="") if text is not None else ""
    if failed:
        return f"the generation failed: {failed}"
    if place.value is None:
        return NOT_SCORED if text is None else "the response was not scored"
    if judge.value is None:
        said = place.text("error", default="")
        return f"not judged: {said}" if said else NO_JUDGMENT
    return "the judge left out " + ", ".join(name for name in DIMENSIONS if name not in scores)
