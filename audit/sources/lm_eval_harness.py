"""Samples of lm-evaluation-harness: `samples_TASK_DATE.jsonl`, with the `results_DATE.json` beside them."""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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

FORMAT = "lm-evaluation-harness"

_LOADED = frozenset({"hf", "hf-auto", "hf-multimodal", "huggingface", "sglang", "vllm", "vllm-vlm"})
"""Kinds of model whose weights the harness loads itself."""
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d{2}-\d{2}T[\d.:-]+)\.jsonl", re.ASCII)
_OWN = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()  # noqa: SIM905  # as its source lists them
)
_HEAVY = ("doc", "arguments", "resps", "filtered_resps")
_CLOSE = 1e-6
"""The results file states a mean as the samples give it, but for rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _HarnessLog:
    """One file of samples with what stands beside it."""

    lines: LogLines
    task: str
    run: str
    """What the files of one run share in their names."""
    results: Mapping[str, Any] | None
    """None: no results file is there, and nothing states counts, model or date."""
    metric: str
    filter_: str
    filters: Mapping[str, int]
    """By filter, how many documents it scored."""
    metrics: Collection[str]
    """All metrics of the file."""

    @property
    def scorer(self) -> str:
        """Metric and filter, as the harness itself writes them."""
        return f"{self.metric},{self.filter_}"

    @property
    def other_scorers(self) -> tuple[str, ...]:
        """The other pairs of metric and filter."""
        return tuple(sorted({f"{metric},{name}" for metric in self.metrics for name in self.filters} - {self.scorer}))


def read_harness(paths: Sequence[Path], reading: LogOptions) -> tuple[list[LogRow], ImportedLog]:
    """Return one row for each document, scored by the metric and filter that were chosen, and the accounts.

    The metric is `--scorer`, the filter `--key`; a task is called TASK/DOC_ID unless `--task-field` says differently, a context by the
    run that the files of one call of the harness share.

    Raises:
        TableError: a file is broken, the metric or filter is not chosen or not there, a document lacks a field that was asked for, or
            there are fewer documents than the results state and *reading* does not allow it.
    """
    rows: list[LogRow] = []
    parts: list[ImportedLog] = []
    for path in paths:
        log = _open(path, reading)
        of_file, part = _read_log(log, reading, arm=reading.find_arm(path))
        rows += of_file
        parts.append(part)
    return rows, merge_accounts(parts)


def _open(path: Path, reading: LogOptions) -> _HarnessLog:
    fields = (reading.arm_field, reading.context_field, reading.task_field, reading.family_field)
    lines = read_lines(path, without=find_unread(_HEAVY, *fields))
    _check_form(lines)
    named = _NAME.fullmatch(path.name)
    task, run = (named["task"], named["date"]) if named else (path.stem.removeprefix("samples_"), path.stem)
    filters = Counter(map(_find_filter, lines.lines))
    metrics = {name for line in lines.lines for name in _list_metrics(line)}
    return _HarnessLog(
        lines=lines,
        task=task,
        run=run,
        # The results file is found by the date in the name. Only it states counts, model and time.
        results=read_companion(path.with_name(f"results_{named['date']}.json")) if named else None,
        metric=choose_score(reading.scorer, metrics, where=str(path), option="--scorer", what="metric"),
        filter_=choose_score(reading.key, filters, where=str(path), option="--key", what="filter"),
        filters=filters,
        metrics=metrics,
    )


def _check_form(lines: LogLines) -> None:
    """Every line must be a sample: a file of something else could begin with one."""
    faults = [
        Fault("not-valid", f"{lines.name}, line {line.number}", "expected a sample with doc_id, found none")
        for line in lines.lines
        if as_text(line.fields.get("doc_id")) is None
    ]
    if faults:
        raise TableError(faults[:20])


def _find_filter(line: LogLine) -> str:
    # Releases before 0.4.5 wrote neither the filter nor the names of the metrics, so both are inferred.
    return as_text(line.fields.get("filter")) or "none"


def _list_metrics(line: LogLine) -> list[str]:
    named = line.fields.get("metrics")
    if isinstance(named, list):
        return [name for name in named if isinstance(name, str)]
    return [name for name, value in line.fields.items() if name not in _OWN and isinstance(value, int | float)]


def _read_log(log: _HarnessLog, reading: LogOptions, *, arm: str | None) -> tuple[list[LogRow], ImportedLog]:
    tally = FileCounts()
    rows: list[LogRow] = []
    faults: list[Fault] = []
    for line in log.lines.lines:
        # Each document occurs once for every filter; counting all would repeat responses.
        if _find_filter(line) != log.filter_:
            continue
        try:
            row = _read_line(line, log, reading, arm=arm)
        except TableError as error:
            faults.extend(error.faults)
            continue
        tally.add(f"document {as_text(line.fields['doc_id'])}", row.excluded_reason)
        rows.append(row)
    if faults:
        raise TableError(faults[:20])
    _check_filters(log, reading)
    declared, notes = _reconcile(log, rows, reading)
    mean = _compare_mean(log, rows)
    file = ImportedFile(
        name=log.lines.name,
        sha256=log.lines.sha256,
        format=FORMAT,
        arm=arm,
        declared=declared,
        found=tally.found,
        scored=tally.scored,
        excluded=tally.list_excluded(),
        warnings=() if mean is None or mean.agrees else (mean.text,),
        notes=(*notes, *([mean.text] if mean is not None and mean.agrees else [])),
    )
    date = (log.results or {}).get("date")
    begun = datetime.fromtimestamp(date, tz=UTC) if isinstance(date, int | float) and 0 < date < 2**33 else None
    started_at = f"{begun:%Y-%m-%dT%H:%M:%S.%fZ}" if begun else None
    return rows, ImportedLog(files=(file,), provenance=_build_provenance(log, begun), started_at=started_at)


def _read_line(line: LogLine, log: _HarnessLog, reading: LogOptions, *, arm: str | None) -> LogRow:
    place = f"document {as_text(line.fields['doc_id'])} (line {line.number})"
    score, reason = read_score(line.fields.get(log.metric), reading.values, where=f"{log.lines.name}, {place}")
    option_fields = {"--arm-field": reading.arm_field, "--context-field": reading.context_field, "--task-field": reading.task_field}
    values = {option: _find(line, log, name) for option, name in option_fields.items() if name is not None}
    family = None if reading.family_field is None else _find(line, log, reading.family_field)
    missing = [
        Fault(
            "unknown-name",
            f"{log.lines.name}, {place}",
            f"has nothing at {option_fields[option]}, in the sample or in the results",
            advice=f"name another field with {option}, such as doc_hash or doc.id",
        )
        for option, value in values.items()
        if value is None
    ]
    if missing:
        raise TableError(missing)
    return LogRow(
        task_id=values.get("--task-field") or f"{log.task}/{as_text(line.fields['doc_id'])}",
        arm=values.get("--arm-field") or arm or "",
        context_id=values.get("--context-field") or log.run,
        family=family,
        sample="1",
        score=score,
        excluded_reason=reason,
        extras={
            "scorer": log.scorer,
            **{name: as_text(line.fields.get(name)) for name in ("doc_hash", "prompt_hash", "target_hash")},
        },
        file=log.lines.name,
        place=place,
    )


def _find(line: LogLine, log: _HarnessLog, name: str) -> str | None:
    return as_text(find_value(line.fields, name)) or as_text(find_value(log.results or {}, name))


def _check_filters(log: _HarnessLog, reading: LogOptions) -> None:
    """The harness scores each document by every filter: a filter with fewer lines means that lines are gone."""
    if len(set(log.filters.values())) > 1 and not reading.unfinished:
        there = ", ".join(f"{name} {count}" for name, count in sorted(log.filters.items()))
        raise TableError(Fault("samples-missing", log.lines.name, f"expected as many documents for each filter, found: {there}"))


def _reconcile(log: _HarnessLog, rows: Sequence[LogRow], reading: LogOptions) -> tuple[int | None, list[str]]:
    """Return how many documents the results state, and what they say differently of the samples.

    Raises:
        TableError: the results state another number and *reading* does not allow it.
    """
    notes = [f"metric {log.metric}, filter {log.filter_}"]
    if len(log.filters) > 1:
        others = ", ".join(f"{name} ({count} documents)" for name, count in sorted(log.filters.items()) if name != log.filter_)
        notes.append(f"also scored by the filters {others}, which were not taken")
    if log.results is None:
        return None, [*notes, "no results file is next to it, so nothing states how many there should be"]
    better = find_value(_get(find_value(log.results, "higher_is_better"), log.task), log.metric)
    if isinstance(better, bool):
        # Only the claim says which way is safe: on a dangerous task, a higher score may be better and less safe.
        notes.append(f"a {'higher' if better else 'lower'} score is better, as the results state")
    counts = find_value(log.results, "n-samples") or {}
    stated = _get(counts, log.task)
    declared = _read_count(find_value(stated, "effective"))
    if declared is None:
        return None, [*notes, "the results file states no count for this task"]
    # Documents that are missing may be missing for a reason that has to do with their scores.
    if declared != len(rows) and not reading.unfinished:
        problem = f"its results file states {declared} documents, the file has {len(rows)} for the filter {log.filter_}"
        raise TableError(Fault("samples-missing", log.lines.name, problem))
    if declared != len(rows):
        notes.append(
            f"{declared - len(rows)} documents that the results state are not there" if declared > len(rows) else "more than stated"
        )
    original = _read_count(find_value(stated, "original"))
    if original is not None and original != declared:
        notes.append(f"{declared} of the task's {original} documents were evaluated")
    return declared, notes


def _get(by_task: object, task: str) -> Any:
    """What stands under the name of a task, dots and all; None where nothing does."""
    return by_task.get(task) if isinstance(by_task, Mapping) else None


def _read_count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _MeanComparison:
    """The mean of the samples beside that of the results."""

    agrees: bool
    text: str


def _compare_mean(log: _HarnessLog, rows: Sequence[LogRow]) -> _MeanComparison | None:
    """Most metrics are means; where the results state another number, the reader is text, for some are not."""
    of_task = find_value(log.results or {}, "results")
    stated = find_value(_get(of_task, log.task), f"{log.metric},{log.filter_}")
    scores = [row.score for row in rows if row.score is not None]
    if isinstance(stated, bool) or not isinstance(stated, int | float) or not scores:
        return None
    mean = math.fsum(scores) / len(scores)
    # A metric need not be a mean, so a difference is a warning and no error.
    if math.isclose(mean, stated, rel_tol=_CLOSE, abs_tol=_CLOSE):
        return _MeanComparison(agrees=True, text=f"mean {mean:.4g}, as the results state")
    return _MeanComparison(agrees=False, text=f"the results state {stated:.4g}, the mean of the samples is {mean:.4g}")


def _build_provenance(log: _HarnessLog, begun: datetime | None) -> Provenance:
    """Return what the results state. Of the model's arguments only name and address are taken: they may hold a key."""
    if log.results is None:
        return Provenance(scorer=log.scorer, other_scorers=log.other_scorers)
    results = log.results
    name = " ".join(filter(None, (as_text(results.get("model_source")), as_text(results.get("model_name")))))
    version = as_text(results.get("lm_eval_version")) or "of unknown version"
    return Provenance(
        endpoint=_find_endpoint(find_value(results, "config.model_args")),
        model_requested=name or None,
        models_returned=_list_loaded(results),
        accessed=_describe_access(begun, as_text(results.get("total_evaluation_time_seconds"))),
        sampling=_describe_sampling(log),
        system_prompts=_describe_prompt(results),
        judge=f"{log.metric} of {log.task} {as_text(_get(results.get('versions'), log.task)) or ''}".strip()
        + f", filter {log.filter_}, lm-evaluation-harness {version}",
        scorer=log.scorer,
        other_scorers=log.other_scorers,
    )


def _list_loaded(results: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the model that the harness loaded itself; of an endpoint it keeps what was asked for, and not what was returned."""
    name = as_text(results.get("model_name"))
    # Weights that the harness loaded are known to be the model that answered. For an endpoint only the requested name
    # is known.
    is_loaded = as_text(results.get("model_source")) in _LOADED and _find_endpoint(find_value(results, "config.model_args")) is None
    return (name,) if name and is_loaded else ()


def _find_endpoint(arguments: object) -> str | None:
    url = arguments.get("base_url") if isinstance(arguments, Mapping) else None
    if isinstance(arguments, str):
        url = next((part.partition("=")[2] for part in arguments.split(",") if part.startswith("base_url=")), None)
    if not isinstance(url, str):
        return None
    parts = urlsplit(url)
    # User, password and query of an address may be secrets, and the record is public.
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}" if parts.hostname else None


def _describe_access(begun: datetime | None, seconds: str | None) -> str | None:
    if begun is None:
        return None
    try:
        ended = begun + timedelta(seconds=float(seconds or "nan"))
    except (ValueError, OverflowError):
        return f"{begun:%Y-%m-%dT%H:%M:%SZ}"
    return f"{begun:%Y-%m-%dT%H:%M:%SZ} to {ended:%Y-%m-%dT%H:%M:%SZ}"


def _describe_sampling(log: _HarnessLog) -> str | None:
    """As it was configured: the harness does not record what was sent."""
    of_task = find_value(log.results or {}, "configs")
    configured = find_value(_get(of_task, log.task), "generation_kwargs")
    overrides = find_value(log.results or {}, "config.gen_kwargs")
    settings = {**(configured if isinstance(configured, Mapping) else {}), **(overrides if isinstance(overrides, Mapping) else {})}
    return f"as configured, not as sent: {json.dumps(settings, sort_keys=True)[:400]}" if settings else None


def _describe_prompt(results: Mapping[str, Any]) -> str | None:
    digest = as_text(results.get("system_instruction_sha"))
    return f"system_instruction in the results file, SHA-256 {digest}" if digest else None
