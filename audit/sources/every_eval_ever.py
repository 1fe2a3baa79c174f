"""Samples in the form of Every Eval Ever: `UUID_samples.jsonl`, with the aggregate `UUID.json` beside it."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit.errors import TableError
from audit.records.model_response import ImportedFile, ImportedLog
from audit.sources.log_rows import (
    FileCounts,
    LogLine,
    LogLines,
    LogOptions,
    LogRow,
    as_text,
    choose_score,
    find_unread,
    find_value,
    merge_accounts,
    read_companion,
    read_lines,
    read_score,
)
from registry.errors import Fault
from registry.records.replay_run import Provenance

_REQUIRED = ("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "evaluation")
_HEAVY = ("input", "output", "messages", "answer_attribution", "token_usage", "performance")
_KNOWN = ("0.2", "0.3")
"""Versions of the schema whose fields were compared with what is read here."""
_UNKNOWN_LEVEL = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _EveryEvalLog:
    """One file of samples with what stands beside it."""

    lines: LogLines
    aggregate: Mapping[str, Any] | None
    """None: no aggregate is there, and nothing states counts, range or date."""
    metric: str
    metrics: Collection[str]
    chosen: tuple[LogLine, ...]
    key: str | None
    """The entry of each evaluation that was chosen; None: its score."""

    @property
    def scorer(self) -> str:
        """The metric, with its entry where one was chosen."""
        return self.metric if self.key is None else f"{self.metric}, {self.key}"

    @property
    def other_scorers(self) -> tuple[str, ...]:
        """The other metrics, and the score itself where another entry was chosen."""
        return tuple(sorted(set(self.metrics) - {self.scorer}))

    @property
    def version(self) -> str:
        """Of the schema, as the first line states it."""
        return as_text(self.lines.lines[0].fields.get("schema_version")) or "unknown"

    @property
    def result(self) -> Mapping[str, Any]:
        """What the aggregate states of the chosen metric; empty where it states nothing."""
        stated = find_value(self.aggregate or {}, "evaluation_results")
        results = [item for item in stated if isinstance(item, Mapping)] if isinstance(stated, list) else []
        return next(
            (result for result in results if self.metric in (result.get("evaluation_result_id"), result.get("evaluation_name"))), {}
        )


def read_every_eval(paths: Sequence[Path], reading: LogOptions) -> tuple[list[LogRow], ImportedLog]:
    """Return one row for each sample, scored by the metric that was chosen, and the accounts.

    The metric is `--scorer`: an `evaluation_result_id`, or an `evaluation_name`; `--key is_correct` takes that entry of the evaluation
    in place of its score. A task is called EVALUATION_NAME/SAMPLE_ID unless `--task-field` says differently, a context by the file, and a
    repeated sample by `metadata.epoch` or in the order of the file.

    Raises:
        TableError: a line lacks what the schema requires, the metric is not chosen or not there, a field that was asked for is missing,
            or the aggregate states another number of lines or another digest and *reading* does not allow it.
    """
    rows: list[LogRow] = []
    parts: list[ImportedLog] = []
    for path in paths:
        of_file, part = _read_log(_open(path, reading), reading, arm=reading.find_arm(path))
        rows += of_file
        parts.append(part)
    return rows, merge_accounts(parts)


def _open(path: Path, reading: LogOptions) -> _EveryEvalLog:
    fields = (reading.arm_field, reading.context_field, reading.task_field, reading.family_field)
    lines = read_lines(path, without=find_unread(_HEAVY, *fields))
    faults = [
        Fault("not-valid", f"{path}, line {line.number}", f"expected a sample with {name}, found none")
        for line in lines.lines
        for name in _REQUIRED
        if as_text(line.fields.get(name)) is None and not (name == "evaluation" and isinstance(line.fields.get(name), Mapping))
    ]
    if faults:
        raise TableError(faults[:20])
    # One file may have several metrics for each sample. They are told apart by the result's identifier, else by the
    # evaluation's name.
    chosen = {line.number for line in lines.lines if reading.scorer in (_find_metric(line), line.fields["evaluation_name"])}
    named = [line for line in lines.lines if line.number in chosen] if chosen else list(lines.lines)
    metrics = {_find_metric(line) for line in named}
    wanted = None if chosen and reading.scorer not in metrics else reading.scorer
    metric = choose_score(wanted, metrics, where=str(path), option="--scorer", what="metric")
    return _EveryEvalLog(
        lines=lines,
        aggregate=read_companion(path.with_name(f"{path.stem.removesuffix('_samples')}.json")),
        metric=metric,
        metrics={_find_metric(line) for line in lines.lines},
        chosen=tuple(line for line in named if _find_metric(line) == metric),
        key=reading.key,
    )


def _find_metric(line: LogLine) -> str:
    return as_text(line.fields.get("evaluation_result_id")) or as_text(line.fields["evaluation_name"]) or ""


def _read_log(log: _EveryEvalLog, reading: LogOptions, *, arm: str | None) -> tuple[list[LogRow], ImportedLog]:
    warnings = _reconcile(log, reading)
    tally = FileCounts()
    rows: list[LogRow] = []
    faults: list[Fault] = []
    seen: Counter[str] = Counter()
    for line in log.chosen:
        try:
            row = _read_line(line, log, reading, arm=arm, seen=seen)
        except TableError as error:
            faults.extend(error.faults)
            continue
        tally.add(_locate(line), row.excluded_reason)
        rows.append(row)
    if faults:
        raise TableError(faults[:20])
    file = ImportedFile(
        name=log.lines.name,
        sha256=log.lines.sha256,
        format=f"every-eval-ever/{log.version}",
        arm=arm,
        declared=_find_declared(log),
        found=tally.found,
        scored=tally.scored,
        excluded=tally.list_excluded(),
        warnings=tuple(warnings),
        notes=tuple(_list_notes(log)),
    )
    # `evaluation_timestamp` may be the beginning or the end. Only a stated beginning can prove that a lock came first,
    # so a locked audit needs `--run-date`.
    return rows, ImportedLog(files=(file,), provenance=_build_provenance(log))


def _read_line(line: LogLine, log: _EveryEvalLog, reading: LogOptions, *, arm: str | None, seen: Counter[str]) -> LogRow:
    fields = line.fields
    sample = as_text(fields["sample_id"])
    place = f"sample {sample} (line {line.number})"
    option_fields = {"--arm-field": reading.arm_field, "--context-field": reading.context_field, "--task-field": reading.task_field}
    values = {option: _find(line, log, name) for option, name in option_fields.items() if name is not None}
    family = None if reading.family_field is None else _find(line, log, reading.family_field)
    missing = [
        Fault(
            "unknown-name",
            f"{log.lines.name}, {place}",
            f"has nothing at {option_fields[option]}, in the sample or in the aggregate",
            advice=f"name another field with {option}, such as metadata.NAME",
        )
        for option, value in values.items()
        if value is None
    ]
    if missing:
        raise TableError(missing)
    score, reason = _read_score(line, log, reading)
    task = values.get("--task-field") or f"{as_text(fields['evaluation_name'])}/{sample}"
    seen[task] += 1
    return LogRow(
        task_id=task,
        arm=values.get("--arm-field") or arm or "",
        context_id=values.get("--context-field") or Path(log.lines.name).stem.removesuffix("_samples"),
        family=family,
        sample=as_text(find_value(fields, "metadata.epoch")) or str(seen[task]),
        score=score,
        excluded_reason=reason,
        stop_reason=as_text(find_value(fields, "metadata.stop_reason")),
        extras={
            "scorer": log.metric,
            "model": as_text(fields["model_id"]),
            "sample_hash": as_text(fields.get("sample_hash")),
        },
        file=log.lines.name,
        place=place,
    )


def _locate(line: LogLine) -> str:
    """The sample, and what its error was: as an example of what was left out, for every error is worded otherwise."""
    error = line.fields.get("error")
    detail = f": {' '.join((as_text(error) or json.dumps(error)).split())[:80]}" if error else ""
    return f"sample {as_text(line.fields['sample_id'])}{detail}"


def _find(line: LogLine, log: _EveryEvalLog, name: str) -> str | None:
    return as_text(find_value(line.fields, name)) or as_text(find_value(log.aggregate or {}, name))


def _read_score(line: LogLine, log: _EveryEvalLog, reading: LogOptions) -> tuple[float | None, str | None]:
    """A sample with an error has a score in the file all the same, for the schema requires one; it is no observation."""
    evaluation = line.fields["evaluation"]
    error = line.fields.get("error")
    if error:
        return None, "the log states an error"
    if (reading.key or "score") not in evaluation:
        there = ", ".join(sorted(evaluation))
        problem = f"the evaluation has no entry {reading.key or 'score'!r}; there are: {there}"
        where = f"{log.lines.name}, line {line.number}"
        raise TableError(Fault("unknown-name", where, problem))
    value = evaluation[reading.key or "score"]
    # The schema writes −1 for an unknown level; as a number it would be a score below the range.
    if find_value(log.result, "metric_config.has_unknown_level") is True and value == _UNKNOWN_LEVEL and not isinstance(value, bool):
        return None, "the scorer's level is unknown"
    return read_score(value, reading.values, where=f"{log.lines.name}, line {line.number}")


def _find_declared(log: _EveryEvalLog) -> int | None:
    """Return how many samples of the chosen metric there should be: the aggregate counts lines, which several metrics share."""
    lines = find_value(log.aggregate or {}, "detailed_evaluation_results.total_rows")
    samples = find_value(log.result, "score_details.uncertainty.num_samples")
    # The aggregate's number of lines counts each sample once for every metric.
    if _is_count(samples):
        return int(samples)
    return int(lines) if _is_count(lines) and len(log.metrics) == 1 else None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _list_notes(log: _EveryEvalLog) -> list[str]:
    notes = [f"metric {log.metric}"]
    if len(log.metrics) > 1:
        notes.append(f"samples also by {', '.join(sorted(set(log.metrics) - {log.metric}))}, which was not taken")
    if not log.version.startswith(_KNOWN):
        notes.append(f"schema {log.version} is none of those that were compared: {', '.join(f'{name}.x' for name in _KNOWN)}")
    config = find_value(log.result, "metric_config")
    # Only the claim says which way is safe: on a dangerous task, a higher score may be better and less safe.
    if isinstance(better := find_value(config, "lower_is_better"), bool):
        notes.append(f"a {'lower' if better else 'higher'} score is better, as the aggregate states")
    ends = [find_value(config, "min_score"), find_value(config, "max_score")]
    if all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        notes.append(f"scores from {ends[0]:g} to {ends[1]:g}, as the aggregate states")
    if log.aggregate is None:
        notes.append("no aggregate is next to it, so nothing states how many there should be")
    return notes


def _reconcile(log: _EveryEvalLog, reading: LogOptions) -> list[str]:
    """Return what the aggregate states differently of the file.

    Raises:
        TableError: it states other lines than there are, and *reading* does not allow it.
    """
    lines = find_value(log.aggregate or {}, "detailed_evaluation_results.total_rows")
    counts = [("lines", lines, len(log.lines.lines)), (f"samples of {log.metric}", _find_declared(log), len(log.chosen))]
    differing = [f"{stated} {what}, the file has {there}" for what, stated, there in counts if _is_count(stated) and stated != there]
    checksum = as_text(find_value(log.aggregate or {}, "detailed_evaluation_results.checksum"))
    is_sha256 = (as_text(find_value(log.aggregate or {}, "detailed_evaluation_results.hash_algorithm")) or "").lower() in (
        "sha256",
        "sha-256",
    )
    if checksum and is_sha256 and checksum.lower() != log.lines.sha256:
        differing.append(f"the digest {checksum[:12]}…, the file has {log.lines.sha256[:12]}…")
    if differing and not reading.unfinished:
        raise TableError(Fault("samples-missing", log.lines.name, f"its aggregate file states {'; '.join(differing)}"))
    return [f"the aggregate states {name}" for name in differing]


def _build_provenance(log: _EveryEvalLog) -> Provenance:
    aggregate = log.aggregate or {}
    models = sorted({as_text(line.fields["model_id"]) or "" for line in log.chosen})
    library = " ".join(
        filter(None, (as_text(find_value(aggregate, "eval_library.name")), as_text(find_value(aggregate, "eval_library.version"))))
    )
    arguments = find_value(log.result, "generation_config.generation_args")
    settings = (
        [f"{name} {value}" for name, value in arguments.items() if isinstance(value, int | float)] if isinstance(arguments, Mapping) else []
    )
    judges = find_value(log.result, "metric_config.llm_scoring.judges")
    judged = f", judged by {len(judges)} models" if isinstance(judges, list) and judges else ""
    return Provenance(
        endpoint=as_text(find_value(aggregate, "model_info.inference_platform")),
        model_requested=", ".join(models),
        models_returned=tuple(filter(None, models)),
        unnamed_responses=sum(not as_text(line.fields["model_id"]) for line in log.chosen),
        accessed=_describe_moment(as_text(aggregate.get("evaluation_timestamp"))),
        sampling=f"as configured, not as sent: {', '.join(settings)}" if settings else None,
        judge=f"{log.metric}{f', {library}' if library else ''}{judged}",
        scorer=log.scorer,
        other_scorers=log.other_scorers,
    )


def _describe_moment(text: str | None) -> str | None:
    """A moment may be written as ISO 8601 or as seconds since 1970."""
    try:
        return f"{datetime.fromtimestamp(float(text or 'nan'), tz=UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return text
