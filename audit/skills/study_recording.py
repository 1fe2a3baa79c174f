"""A study's run folder as a recording to analyse, and how far the study has got."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from audit.records.model_response import ReplayCell, Response
from audit.replay.replay_provenance import CONTEXTS
from audit.replay.run_store import RunStore, Score, list_versions
from audit.score.scorers import digest_scorer
from audit.skills.study_file import LANGUAGE, PATTERNS, SKILL, TASK_REFERENCES, TYPE, StudyFile, list_deviations
from audit.sources.skill_run_folder import (
    NO_TEXT,
    NOT_SCORED,
    Patterns,
    PatternTexts,
    SkillRuns,
    SkillSetFacts,
    SkillTaskRun,
    StudyRecording,
)
from audit.sources.skill_run_folder import SkillResponse as Scored
from audit.sources.skill_study_records import ARMS, Note
from registry.codec.canonical_documents import from_document
from registry.records.replay_run import Task as Asked
from registry.records.specification import ContextSpec
from registry.registration.context_specification import list_names

# A study's run folder as a recording: the same analysis then reads it as reads a published study.

NOT_MADE = "the generation failed: the call was not made yet"
NOT_JUDGED = "not judged: not yet"
NOT_MATCHED = "the patterns were not matched yet, or one took too long"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOutcome:
    """What there is of one cell."""

    cell: ReplayCell
    response: Response | None
    """None before the call."""
    verdicts: tuple[Score, ...]
    """Of the judge, one for each repeat."""
    patterns: Score | None

    @property
    def dimensions(self) -> dict[str, float]:
        """The judge's ratings, the mean of its repeats; empty without a verdict."""
        rated = [verdict.dimensions for verdict in self.verdicts if verdict.score is not None and verdict.dimensions]
        return {name: sum(ratings[name] for ratings in rated) / len(rated) for name in rated[0]} if rated else {}

    @property
    def excluded(self) -> str | None:
        """Why there is no composite score; None when there is one."""
        if self.response is None:
            return NOT_MADE
        if self.response.failure is not None:
            return f"the generation failed: {self.response.failure.code}: {self.response.failure.message}"
        if self.dimensions:
            return None
        reasons = dict.fromkeys(verdict.excluded_reason for verdict in self.verdicts if verdict.excluded_reason)
        return f"not judged: {', '.join(reasons)}" if reasons else NOT_JUDGED

    @property
    def judges(self) -> set[str]:
        """The models that judged, as they were returned."""
        return {verdict.judge for verdict in self.verdicts if verdict.judge is not None}


def list_outcomes(store: RunStore, file: StudyFile) -> dict[str, list[CellOutcome]]:
    """Return by skill, for those with a cell in the run folder, what there is of each cell, in the order of names."""
    judge = None if file.judge is None else digest_scorer(file.judge)
    patterns = digest_scorer(PATTERNS)
    outcomes: dict[str, list[CellOutcome]] = defaultdict(list)
    for cell, key in store.list_cells(by_name=True):
        matched = store.find_scores(patterns, key)
        outcomes[cell.task_id.partition("/")[0]].append(
            CellOutcome(
                cell=cell,
                response=store.find_response(key),
                verdicts=() if judge is None else tuple(store.find_scores(judge, key)),
                patterns=matched[0] if matched else None,
            )
        )
    return {name: outcomes[name] for name in file.study.skills if name in outcomes}


def build_recording(store: RunStore, file: StudyFile) -> StudyRecording:
    """Return the run folder as a recording, without anything published; what was not made, not answered or not judged is an exclusion.

    The judge of a study sees a response whole unless its file says `longest_chars`.
    """
    outcomes = list_outcomes(store, file)
    limit = None if file.judge is None else file.judge.longest_chars
    facts = SkillSetFacts(
        visible_chars=limit,
        is_seen_whole=file.judge is not None and limit is None,
        token_limit=file.study.policy.max_tokens,
        excluded=tuple(name for name, entry in file.study.skills.items() if entry.excluded is not None),
    )
    return StudyRecording(
        skills=tuple(_build_skill(file, name, cell_outcomes) for name, cell_outcomes in sorted(outcomes.items())),
        earlier={},
        facts=facts,
        published=None,
        notes=(*_note(file, outcomes), *_note_conditions(store, file)),
        files=dict(sorted(file.sources.items())),
    )


def _build_skill(file: StudyFile, name: str, cell_outcomes: Sequence[CellOutcome]) -> SkillRuns:
    entry = file.study.skills[name]
    task_ids = {outcome.cell.task_id for outcome in cell_outcomes}
    tasks = [task for task in file.tasks[name].tasks if task.id in task_ids]
    returned = {
        cell_outcome.response.model_returned
        for cell_outcome in cell_outcomes
        if cell_outcome.response is not None and cell_outcome.response.model_returned
    }
    return SkillRuns(
        name=name,
        structural_score=entry.structural_score,
        risk_level=entry.risk_level.value,
        test_category=entry.test_category,
        generator=", ".join(sorted(returned)) or file.study.policy.model,
        judge=", ".join(sorted({judge for outcome in cell_outcomes for judge in outcome.judges})),
        scored_at="",
        tasks=tuple(_build_task(file, name, task) for task in tasks),
        responses=tuple(_list_responses(tasks, cell_outcomes)),
        hidden=entry.hidden_references,
        excluded=entry.excluded,
    )


def _build_task(file: StudyFile, skill: str, task: Asked) -> SkillTaskRun:
    fields = task.fields or {}
    return SkillTaskRun(
        task_id=task.id.partition("/")[2],
        type_=fields[TYPE],
        language=fields[LANGUAGE],
        pattern_file=f"{file.study.tasks.rstrip('/')}/{file.tasks[skill].path.name}",
        pattern_sources=file.tasks[skill].pattern_sources[task.id],
    )


def _list_responses(tasks: Sequence[Asked], cell_outcomes: Sequence[CellOutcome]) -> Iterator[Scored]:
    """Give every run of every task under every condition that was tried; a gap that was never planned is one too."""
    by_place = {
        (cell_outcome.cell.task_id, cell_outcome.cell.sample, cell_outcome.cell.arm): cell_outcome for cell_outcome in cell_outcomes
    }
    tried = [arm for arm in ARMS if any(cell_outcome.cell.arm == arm for cell_outcome in cell_outcomes)]
    for task in tasks:
        for run in sorted({cell_outcome.cell.sample for cell_outcome in cell_outcomes if cell_outcome.cell.task_id == task.id}):
            for arm in tried:
                outcome = by_place.get((task.id, run, arm))
                yield _build_gap(task.id, run, arm) if outcome is None else _build_response(outcome, (task.expected, task.anti))


def _build_gap(task_id: str, run: int, arm: str) -> Scored:
    return Scored(
        task_id=task_id.partition("/")[2],
        run=run,
        arm=arm,
        dimensions={},
        excluded=NOT_SCORED,
        patterns=None,
        chars=None,
        digest=None,
        output_tokens=None,
        cached=False,
        judge_cached=None,
        failed=True,
        unmatched=NO_TEXT,
    )


def _build_response(cell_outcome: CellOutcome, texts: PatternTexts) -> Scored:
    gap = replace(
        _build_gap(cell_outcome.cell.task_id, cell_outcome.cell.sample, cell_outcome.cell.arm),
        excluded=cell_outcome.excluded,
        dimensions=cell_outcome.dimensions,
    )
    response = cell_outcome.response
    if response is None or response.text is None:
        return gap
    patterns = read_patterns(cell_outcome.patterns)
    return replace(
        gap,
        patterns=patterns,
        chars=len(response.text),
        digest=hashlib.sha256(response.text.encode("utf-8", "surrogatepass")).hexdigest(),
        output_tokens=response.usage.output_tokens,
        failed=False,
        unmatched=None if patterns is not None else NOT_MATCHED,
        pattern_texts=texts,
        judge_cached=False if cell_outcome.dimensions else None,
    )


def list_pattern_outcomes(score: Score | None) -> list[Mapping[str, object]]:
    """Return the outcome of each pattern; empty before the scoring, and where a pattern ran out of time."""
    listed = (score.detail or {}).get("patterns") if score is not None and score.score is not None else None
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list | tuple) else []


def read_patterns(score: Score | None) -> Patterns | None:
    """Return whether each expected pattern, and each anti-pattern, matched; None where they were not looked for to the end."""
    patterns = list_pattern_outcomes(score)
    if not patterns:
        return None
    expected, anti = (tuple(pattern["matched"] is True for pattern in patterns if pattern["kind"] == kind) for kind in ("expected", "anti"))
    return expected, anti


def _note(file: StudyFile, outcomes: Mapping[str, Sequence[CellOutcome]]) -> Iterator[Note]:
    for name in file.study.skills:
        outcome = outcomes.get(name)
        if outcome is None:
            yield Note(kind="skill-not-run", where=name, message="nothing of it was planned in this run folder yet")
            continue
        planned = {cell_outcome.cell.task_id for cell_outcome in outcome}
        absent = [task.id for task in file.tasks[name].tasks if task.id not in planned]
        if absent:
            yield Note(kind="task-not-run", where=name, message=f"{len(absent)} tasks have no run: {', '.join(absent)}")
        waiting = sum(cell_outcome.response is None for cell_outcome in outcome)
        if waiting:
            yield Note(kind="unfinished", where=name, message=f"{waiting} of {len(outcome)} planned calls were not made yet")
    yield from _note_shared(outcomes)


def _note_conditions(store: RunStore, file: StudyFile) -> Iterator[Note]:
    """The run's own conditions count, not those that the file names today."""
    kept = list_versions(store, CONTEXTS)
    if not kept:
        return
    specs = {name: from_document(ContextSpec, document, where=f"{store.path}, contexts") for name, document in kept[-1].items()}
    yield from list_deviations([item for spec in specs.values() for item in spec.contexts])
    present = {item.id: item for item in file.spec.contexts}
    changed = [name for name, spec in specs.items() if name in present and _show_condition(spec, name) != _show_condition(file.spec, name)]
    if changed:
        message = "the run was made with other conditions than the study names now; what follows is of those in the run folder"
        yield Note(kind="conditions-changed", where=", ".join(changed), message=message)


def _show_condition(spec: ContextSpec, name: str) -> tuple[object, ...]:
    """Return what a condition is made of; the texts of skills are compared elsewhere, for a study may grow."""
    (item,) = (item for item in spec.contexts if item.id == name)
    blocks = {block: (spec.blocks or {})[block] for block in list_names(item) if block not in (SKILL, TASK_REFERENCES)}
    return item, blocks


def _note_shared(outcomes: Mapping[str, Iterable[CellOutcome]]) -> Iterator[Note]:
    """Skills with the same tasks have the same baseline, so their contrasts are not independent of each other."""
    owners: dict[str, set[str]] = defaultdict(set)
    for name, outcome in outcomes.items():
        for cell_outcome in outcome:
            if cell_outcome.response is not None:
                owners[cell_outcome.response.key].add(name)
    shared = {tuple(sorted(names)) for names in owners.values() if len(names) > 1}
    for names in sorted(shared):
        message = "they ask the same without a skill, and share those responses: their contrasts are not independent of each other"
        yield Note(kind="shared-baseline", where=", ".join(names), message=message)


# How far a study is: what was planned, answered and scored, by skill and condition.


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionProgress:
    """The cells of one condition of one skill that are in a run folder."""

    arm: str
    planned: int
    answered: int
    failed: int
    matched: int
    """With their patterns looked for."""
    judged: int
    """With a verdict."""

    @property
    def open(self) -> int:
        """Calls that were not made yet."""
        return self.planned - self.answered - self.failed


def count_stages(outcomes: Mapping[str, Iterable[CellOutcome]]) -> dict[str, list[ConditionProgress]]:
    """Return the stages by skill, in the order of arms."""
    progresses: dict[str, list[ConditionProgress]] = {}
    for name, outcome in outcomes.items():
        by_arm: dict[str, list[CellOutcome]] = {}
        for cell_outcome in outcome:
            by_arm.setdefault(cell_outcome.cell.arm, []).append(cell_outcome)
        progresses[name] = [_count(arm, by_arm[arm]) for arm in sorted(by_arm)]
    return progresses


def _count(arm: str, outcomes: Sequence[CellOutcome]) -> ConditionProgress:
    responses = [outcome.response for outcome in outcomes if outcome.response is not None]
    failed = sum(response.failure is not None for response in responses)
    return ConditionProgress(
        arm=arm,
        planned=len(outcomes),
        answered=len(responses) - failed,
        failed=failed,
        matched=sum(cell_outcome.patterns is not None for cell_outcome in outcomes),
        judged=sum(cell_outcome.excluded is None for cell_outcome in outcomes),
    )
