"""A folder of skill-contamination runs as rows of a score table: conditions are arms."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from audit.errors import TableError
from audit.records.model_response import ImportedFile, ImportedLog
from audit.sources.log_rows import FileCounts, LogOptions, LogRow, choose_score
from audit.sources.skill_run_folder import SkillResponse, SkillRuns, StudyRecording, read_recording
from audit.sources.skill_study_records import ARMS, DIMENSIONS
from registry.errors import Fault
from registry.records.replay_run import Provenance

FORMAT = "skill-contamination"

Scored = tuple[float | None, str | None]
"""A score, or why there is none."""


def read_skill_runs(paths: Sequence[Path], reading: LogOptions) -> tuple[list[LogRow], ImportedLog]:
    """Return one row for each response of each condition, arms A, B, C and D, and the accounts, one file per skill.

    A task is called SKILL/TASK, and a condition is the one context of its arm. The property is chosen with `--scorer`: `composite` or
    one of the judge's four dimensions, from 1 to 5; `expected_hit_rate`, the share of expected patterns found, `anti_hit_rate`, that of
    the anti-patterns, and `any_anti`, 1 where one was found, from 0 to 1.

    Raises:
        TableError: the folder is no such recording, the property is not chosen or not there, or *reading* asks for what it has not.
    """
    rows: list[LogRow] = []
    files: list[ImportedFile] = []
    provenance = Provenance()
    for folder in paths:
        # An option without effect here is refused, because its user believes that it chose something.
        _refuse_fields(folder, reading)
        name = choose_score(reading.scorer, SCORERS, where=str(folder), option="--scorer", what="property")
        recording = read_recording(folder)
        for skill, file in zip(recording.skills, sorted(name for name in recording.files if name.startswith("scores/")), strict=True):
            of_skill, accounts = _read_skill(skill, (str(folder), file), recording, name)
            rows += of_skill
            files.append(accounts)
        provenance = _build_provenance(recording, name)
    return rows, ImportedLog(files=tuple(files), provenance=provenance)


def _refuse_fields(folder: Path, reading: LogOptions) -> None:
    options = {
        "--key": reading.key,
        "--score-values": reading.values,
        "--arm-field": reading.arm_field,
        "--context-field": reading.context_field,
        "--task-field": reading.task_field,
        "--family-field": reading.family_field,
    }
    useless = [option for option, value in options.items() if value]
    if useless:
        problem = f"{', '.join(useless)} has no meaning here: arms are the conditions A, B, C and D, tasks are those of each skill"
        raise TableError(Fault("option-for-logs", str(folder), problem))


def _read_skill(skill: SkillRuns, place: tuple[str, str], recording: StudyRecording, scorer: str) -> tuple[list[LogRow], ImportedFile]:
    """Rows and accounts of one skill, whose file is given as folder and path below it."""
    file = "/".join(place)
    tally = FileCounts()
    rows = []
    for response in skill.responses:
        score, reason = SCORERS[scorer](response)
        where = f"task {response.task_id}, run {response.run}, {ARMS[response.arm]}"
        tally.add(where, reason)
        rows.append(
            LogRow(
                task_id=f"{skill.name}/{response.task_id}",
                arm=response.arm,
                # The recording has one context for each condition, so nothing can be said about other contexts of the
                # same kind.
                context_id=ARMS[response.arm],
                sample=str(response.run),
                score=score,
                excluded_reason=reason,
                extras=_list_extras(skill, response),
                file=file,
                place=where,
            )
        )
    accounts = ImportedFile(
        name=file,
        sha256=recording.files[place[1]],
        format=FORMAT,
        arm=None,
        declared=None,
        found=tally.found,
        scored=tally.scored,
        excluded=tally.list_excluded(),
        notes=(f"property {scorer}", *_list_notes(skill, place[1], recording)),
    )
    return rows, accounts


def _list_extras(skill: SkillRuns, skill_response: SkillResponse) -> Mapping[str, str | float | None]:
    expected, anti = skill_response.patterns if skill_response.patterns is not None else ((), ())
    known = skill_response.patterns is not None
    return {
        "skill": skill.name,
        "risk_level": skill.risk_level or None,
        "test_category": skill.test_category or None,
        "expected_found": float(sum(expected)) if known else None,
        "expected_patterns": float(len(expected)) if known else None,
        "anti_found": float(sum(anti)) if known else None,
        "anti_patterns": float(len(anti)) if known else None,
        "chars": None if skill_response.chars is None else float(skill_response.chars),
        "output_tokens": None if skill_response.output_tokens is None else float(skill_response.output_tokens),
    }


def _list_notes(skill: SkillRuns, file: str, recording: StudyRecording) -> Iterator[str]:
    if skill.excluded is not None:
        # A skill that was excluded after its result is taken all the same: leaving it out again would repeat the
        # choice.
        yield f"the study left it out of its aggregates ({skill.excluded}); it is taken here"
    visible = recording.facts.visible_chars
    # Responses longer than what the judge saw may have been rated as truncated although they are complete.
    cut = sum(response.chars is not None and visible is not None and response.chars > visible for response in skill.responses)
    if cut:
        yield f"the judge was shown the first {visible} characters; {cut} responses are longer"
    yield from (f"{note.kind}: {note.message}" for note in recording.notes if note.where in (skill.name, file))


def _build_provenance(recording: StudyRecording, scorer: str) -> Provenance:
    """When the responses were made is not stated: the files date their scores alone."""
    judges = sorted({skill.judge for skill in recording.skills if skill.judge})
    models = sorted({skill.generator for skill in recording.skills if skill.generator})
    is_judged = scorer in ("composite", *DIMENSIONS)
    limit = recording.facts.token_limit
    return Provenance(
        model_requested=", ".join(models) or None,
        models_returned=tuple(models),
        unnamed_responses=sum(len(skill.responses) for skill in recording.skills if not skill.generator),
        sampling=None if limit is None else f"max_tokens {limit}; nothing else is recorded",
        judge=f"{scorer} by {', '.join(judges) or 'a judge that is not named'}, 1 to 5" if is_judged else f"{scorer}: regular expressions",
        scorer=scorer,
        other_scorers=tuple(sorted(set(SCORERS) - {scorer})),
    )


def _read_dimension(name: str) -> Callable[[SkillResponse], Scored]:
    def read(skill_response: SkillResponse) -> Scored:
        score = skill_response.dimensions.get(name)
        return (score, None) if score is not None else (None, skill_response.excluded or f"the judge omitted {name}")

    return read


def _read_composite(skill_response: SkillResponse) -> Scored:
    return skill_response.composite, skill_response.excluded


def _read_patterns(kind: int, absent: str, measure: Callable[[Sequence[bool]], float]) -> Callable[[SkillResponse], Scored]:
    def read(skill_response: SkillResponse) -> Scored:
        if skill_response.patterns is None:
            # A task without patterns has no rate. A rate of 0 would say that none was found.
            return None, skill_response.excluded or "no patterns were looked for"
        return (measure(skill_response.patterns[kind]), None) if skill_response.patterns[kind] else (None, absent)

    return read


def _share(matches: Sequence[bool]) -> float:
    return sum(matches) / len(matches)


def _any(matches: Sequence[bool]) -> float:
    return float(any(matches))


SCORERS: Mapping[str, Callable[[SkillResponse], Scored]] = MappingProxyType(
    {
        "composite": _read_composite,
        **{name: _read_dimension(name) for name in DIMENSIONS},
        "expected_hit_rate": _read_patterns(0, "the task has no expected patterns", _share),
        "anti_hit_rate": _read_patterns(1, "the task has no anti-patterns", _share),
        "any_anti": _read_patterns(1, "the task has no anti-patterns", _any),
    }
)
"""The properties of a response, by the name that `--scorer` takes."""
