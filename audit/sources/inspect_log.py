"""Inspect logs become rows with accounts and provenance; the one door to `inspect_ai`, for remote logs alone."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from audit.errors import TableError
from audit.records.model_response import ImportedFile, ImportedLog
from audit.sources.inspect_archive import (
    LARGEST_MEMBER,
    EvalArchive,
    LogHeader,
    Object,
    as_count,
    as_line,
    as_list,
    as_number,
    as_object,
    as_text,
    parse_header,
)
from audit.sources.inspect_samples import (
    LogSample,
    RowFrame,
    SampleFields,
    SamplingCounts,
    ScoreConverter,
    build_rows,
    build_sample,
    build_sampling,
    choose_scorer,
    list_other_scorers,
    name_scorer,
    parse_json,
)
from audit.sources.log_rows import FileCounts, LogOptions, LogRow, merge_accounts
from audit.sources.score_columns import FaultList
from registry.errors import Fault, UnavailableError
from registry.records.replay_run import Provenance

# Warnings and notes about an Inspect log: counts that disagree, edits, limits, and parameters that were not sent. They
# are recorded with the outcome.

_SHOWN = 5
NO_ANSWER = "N"
"""Inspect's own letter for a response without an answer."""
MOST_UNANSWERED = 0.05
"""Share of the scores that may stand for no answer: as many as may be truncated or excluded without a further check."""
_LONGEST = 60
_SECRET = re.compile(r"key|token|secret|passw|auth|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseCounts:
    """How many responses a log has, by each place in it that states or holds some."""

    listed: int
    """Samples in the archive's directory (or in the JSON document), those that a later one replaces left out."""
    superseded: int
    """Samples that a later one of the same name replaces."""
    summarised: int | None
    """Entries of the summaries; None where the log has none."""


def count_declared(header: LogHeader) -> int | None:
    """Return how many responses the log says there should be: its results' total, else identifiers × epochs; None where it says neither."""
    # The results count what was run. The configuration only states what was intended, before limits.
    total = as_count(header.results.get("total_samples"))
    if total is not None:
        return total
    dataset = as_object(header.spec.get("dataset"))
    samples = len(as_list(dataset.get("sample_ids"))) or as_count(dataset.get("samples"))
    return samples * count_epochs(header) if samples else None


def count_epochs(header: LogHeader) -> int:
    """Return how often each task was asked, as configured."""
    return as_count(as_object(header.spec.get("config")).get("epochs")) or 1


def find_lacking(header: LogHeader, samples: Sequence[LogSample], counts: ResponseCounts, *, where: str) -> Fault | None:
    """Return what is wrong where the log holds another number of samples than it states; None where they agree or it states none."""
    problem = next(_note_declared(header, samples, counts), None)
    if problem is None:
        return None
    return Fault("samples-missing", where, problem)


def list_warnings(
    header: LogHeader, samples: Sequence[LogSample], rows: Sequence[LogRow], counts: ResponseCounts, scorer: str | None
) -> tuple[str, ...]:
    """Return one sentence for each thing that makes the log doubtful, without a full stop."""
    return (
        *_note_status(header),
        *_note_totals(header, samples, counts),
        *_note_metric(header, rows, scorer),
        *_note_edits(samples, scorer),
        *_note_unanswered(samples, scorer, are_many=True),
        *_note_models(samples),
    )


def list_notes(header: LogHeader, samples: Sequence[LogSample], counts: ResponseCounts, scorer: str | None) -> tuple[str, ...]:
    """Return one sentence for each other thing that a reader must know, without a full stop."""
    return (
        *_note_counts(header, samples, counts),
        *_note_epochs(header),
        *_note_scores(samples, scorer),
        *_note_unanswered(samples, scorer, are_many=False),
        *_note_responses(header, samples),
        *_note_origin(header),
    )


def note_sampling(sampling: SamplingCounts) -> tuple[str, ...]:
    """Return what was configured and not sent, one sentence each."""
    return tuple(sampling.notes())


def _note_status(header: LogHeader) -> Iterator[str]:
    if header.status != "success":
        yield f"the log's status is {header.status}" + (f": {header.error[:200]}" if header.error else "")
    if header.updates:
        yield f"tags or metadata were edited {header.updates} times after the run"


def _note_counts(header: LogHeader, samples: Sequence[LogSample], counts: ResponseCounts) -> Iterator[str]:
    yield from _note_declared(header, samples, counts)
    if counts.superseded:
        yield f"{counts.superseded} samples were logged again; the last record of each is taken, as Inspect does"


def _note_totals(header: LogHeader, samples: Sequence[LogSample], counts: ResponseCounts) -> Iterator[str]:
    completed = as_count(header.results.get("completed_samples"))
    errors = sum(sample.error is not None for sample in samples)
    if completed is not None and completed != counts.listed - errors:
        yield f"the header states {completed} samples completed and the log holds {counts.listed - errors} without an error"
    if counts.summarised is not None and counts.summarised != counts.listed:
        yield f"the log's summaries list {counts.summarised} samples and it holds {counts.listed}"


def _note_declared(header: LogHeader, samples: Sequence[LogSample], counts: ResponseCounts) -> Iterator[str]:
    declared = count_declared(header)
    if declared is not None and declared != counts.listed:
        missing = list(islice(_list_missing(header, samples), _SHOWN + 1))
        named = f" (not there: {', '.join(missing[:_SHOWN])}{' …' if len(missing) > _SHOWN else ''})" if missing else ""
        yield f"the header states {declared} samples and the log holds {counts.listed}{named}"


def _list_missing(header: LogHeader, samples: Sequence[LogSample]) -> Iterator[str]:
    """Give the samples that the header names and that are not there; only where the samples' own identifiers are the tasks."""
    epochs = range(1, count_epochs(header) + 1)
    named = [text for item in as_list(as_object(header.spec.get("dataset")).get("sample_ids")) if (text := as_text(item)) is not None]
    there = {sample.key for sample in samples}
    # If `--task-field` renamed the tasks, the header's names say nothing about what is missing.
    if {sample.task_id for sample in samples} <= set(named):
        yield from (f"{task} epoch {epoch}" for task in named for epoch in epochs if (task, str(epoch)) not in there)


def _note_metric(header: LogHeader, rows: Sequence[LogRow], scorer: str | None) -> Iterator[str]:
    """The log's own mean beside that of the rows: two programs must agree, or say why not."""
    scores = [row.score for row in rows if row.score is not None]
    for result in map(as_object, as_list(header.results.get("scores"))):
        if result.get("name") != scorer or result.get("reducer") not in (None, "mean"):
            continue
        for name, metric in as_object(result.get("metrics")).items():
            value = as_number(as_object(metric).get("value"))
            if name in ("accuracy", "mean") and value is not None and scores:
                mean = math.fsum(scores) / len(scores)
                # A difference has a reason that the reader must know, such as excluded samples or another reducer.
                if not math.isclose(mean, value, rel_tol=1e-9, abs_tol=1e-12):
                    yield f"the log states {name} {value:g} for {scorer} and the mean of the scored rows is {mean:g}"


def _note_epochs(header: LogHeader) -> Iterator[str]:
    if (epochs := count_epochs(header)) > 1:
        reducers = ", ".join(str(item) for item in as_list(as_object(header.spec.get("config")).get("epochs_reducer"))) or "mean"
        yield f"{epochs} epochs, which the log's own results reduce by {reducers}; here each epoch is a sample of its own"


def _note_edits(samples: Sequence[LogSample], scorer: str | None) -> Iterator[str]:
    chosen = [scored for sample in samples if (scored := sample.scores.get(scorer or "")) is not None]
    edited = [scored.edits for scored in chosen if scored.edits]
    if edited:
        yield (
            f"{len(edited)} scores of {scorer} were edited after scoring, one of them {max(edited)} times"
            if max(edited) > 1
            else (f"{len(edited)} scores of {scorer} were edited after scoring")
        )


def _note_scores(samples: Sequence[LogSample], scorer: str | None) -> Iterator[str]:
    chosen = [scored for sample in samples if (scored := sample.scores.get(scorer or "")) is not None]
    reasons = Counter(scored.reason for scored in chosen if scored.reason)
    yield from (f"{count} scores of {scorer} are marked {reason}" for reason, count in sorted(reasons.items()))
    others = sorted({name for sample in samples for name in sample.scores} - {scorer})
    if others:
        yield f"samples also scored by {', '.join(others[:_SHOWN])}{' …' if len(others) > _SHOWN else ''}, which was not taken"
    broken = sum(sample.error is not None and (scorer or "") in sample.scores for sample in samples)
    if broken:
        yield f"{broken} samples that ended with an error were scored nevertheless; they are excluded here"


def _note_unanswered(samples: Sequence[LogSample], scorer: str | None, *, are_many: bool) -> Iterator[str]:
    """Say how many scores stand for no answer. Many that count as the lowest score can keep a limit that no answer kept."""
    chosen = [scored for sample in samples if (scored := sample.scores.get(scorer or "")) is not None]
    unanswered = sum(scored.value == NO_ANSWER for scored in chosen)
    if unanswered and (unanswered > MOST_UNANSWERED * len(chosen)) is are_many:
        yield f"{unanswered:,} of {len(chosen):,} scores of {scorer} are {NO_ANSWER}, no answer, and count like an answer"


def _note_responses(header: LogHeader, samples: Sequence[LogSample]) -> Iterator[str]:
    for limit, count in sorted(Counter(sample.limit for sample in samples if sample.limit).items()):
        yield f"limit: {limit} – {count} responses were ended by it and are scored as they are"
    authors = sorted({sample.invalidated_by for sample in samples if sample.invalidated_by})
    if authors:
        yield f"samples were declared invalid by {', '.join(authors[:_SHOWN])}"
    if retried := sum(sample.retries > 0 for sample in samples):
        yield f"{retried} samples were run again after an error"
    if timelines := sum(sample.has_timelines for sample in samples):
        yield f"{timelines} samples have timelines (as Petri's do): the target's transcript is there and not in the sample's messages"
    if header.spec.get("model_base_url") is None:
        yield "the endpoint is not recorded: the log has no base URL, so it was the provider's own or came from the environment"


def _describe_arguments(header: LogHeader) -> str:
    """The first few arguments of the task: they tell contexts apart. One that may be a secret is left out."""
    # Arguments of a task may hold keys and tokens, and the record is public.
    named = ((name, as_text(value)) for name, value in as_object(header.spec.get("task_args")).items() if not _SECRET.search(name))
    arguments = [f"{name[:_LONGEST]} {text[:_LONGEST]}" for name, text in named if text is not None][:_SHOWN]
    return f" ({', '.join(arguments)})" if arguments else ""


def _describe_dataset(header: LogHeader) -> str:
    """Name and size of the log's own data set, which need not be that of the evaluation a card reports."""
    dataset = as_object(header.spec.get("dataset"))
    name, samples = as_text(dataset.get("name")), as_count(dataset.get("samples"))
    if name is None:
        return ""
    return f", its data set {name[:_LONGEST]}" + (f" of {samples} samples" if samples is not None else "")


def _describe_tags(header: LogHeader) -> str:
    tags = ", ".join(tag[:_LONGEST] for tag in header.tags[:_SHOWN])
    return f", its tags {tags}" if tags else ""


def _note_models(samples: Sequence[LogSample]) -> Iterator[str]:
    for model, count in sorted(Counter(model for sample in samples for model in set(sample.fallbacks)).items()):
        yield f"in {count} samples another model answered in place of the one asked for: {model}"


def _note_origin(header: LogHeader) -> Iterator[str]:
    task = as_text(header.spec.get("task"))
    if task is not None:
        parts = (f"the log's task is {task[:_LONGEST]}", _describe_arguments(header), _describe_dataset(header), _describe_tags(header))
        yield "".join(parts)
    packages = as_object(header.spec.get("packages"))
    if packages:
        yield "made with " + ", ".join(f"{name} {version}" for name, version in packages.items())
    revision = as_object(header.spec.get("revision"))
    if revision:
        dirty = ", with changes that were not committed" if revision.get("dirty") else ""
        yield f"source revision {revision.get('commit')} of {revision.get('origin')}{dirty}"


# Provenance from an Inspect log. What the log does not state stays None.


def build_provenance(
    header: LogHeader, samples: Sequence[LogSample], sampling: SamplingCounts, *, sha256: str, scorer: str | None, key: str | None = None
) -> Provenance:
    """Return the provenance of one log, with a file of the digest *sha256*, by *scorer* and the entry *key* of its scores."""
    moments = [moment for sample in samples if (moment := parse_moment(sample.started_at)) is not None]
    returned = sorted({name for sample in samples for name in (sample.model, *sample.fallbacks) if name})
    return Provenance(
        endpoint=as_text(header.spec.get("model_base_url")),
        model_requested=as_text(header.spec.get("model")),
        model_returned=_join(returned),
        models_returned=tuple(returned),
        unnamed_responses=sum(bool(sample.scores) and not sample.model for sample in samples),
        accessed=_show_span(moments) or find_start(header, samples),
        sampling=sampling.describe() or _describe_configured(header),
        tools=_describe_tools(header, samples),
        budget_spent=_describe_usage(header),
        system_prompts=_describe_systems(samples),
        judge=_describe_judge(header, scorer),
        scorer=name_scorer(scorer, key),
        other_scorers=list_other_scorers(samples, scorer, key),
        transcripts=sha256,
    )


def find_start(header: LogHeader, samples: Sequence[LogSample]) -> str | None:
    """Return when the first sample began, ISO 8601 in UTC; None where the log says nothing.

    Where a sample does not say it, the beginning of the run (or when the log was made) counts too: it may have been the first.
    """
    stated = [parse_moment(sample.started_at) for sample in samples]
    known = [moment for moment in stated if moment is not None]
    # Only what a log states as a beginning counts. If one sample does not say when it began, it may have been the
    # first, so the start of the run counts too.
    if len(known) < len(stated) or not stated:
        of_run = (parse_moment(as_text(value)) for value in (header.stats.get("started_at"), header.spec.get("created")))
        known += [moment for moment in of_run if moment is not None][:1]
    return min(known).isoformat() if known else None


def parse_moment(text: str | None) -> datetime | None:
    """Return *text* as a moment in UTC; None where it is no ISO 8601 time. Inspect means UTC where it writes no zone."""
    try:
        moment = datetime.fromisoformat(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        # A zone can move a time out of the years that `datetime` represents.
        return None


def _show_span(moments: Sequence[datetime]) -> str | None:
    if not moments:
        return None
    first, last = (moment.replace(microsecond=0).isoformat() for moment in (min(moments), max(moments)))
    return first if first == last else f"{first} to {last}"


def _describe_tools(header: LogHeader, samples: Sequence[LogSample]) -> str | None:
    calls = [sample.asked for sample in samples if sample.asked is not None]
    steps = [text for step in as_list(header.plan.get("steps")) if (text := as_text(as_object(step).get("solver"))) is not None]
    parts = [f"solver {', '.join(steps)}"] if steps else []
    if calls:
        parts.append(f"tools of the first call: {_join(sorted({tool for call in calls for tool in call.tools})) or 'none'}")
    if sandbox := as_text(as_object(header.spec.get("sandbox")).get("type")):
        parts.append(f"sandbox {sandbox}")
    return "; ".join(parts) or None


def _describe_usage(header: LogHeader) -> str | None:
    parts = []
    for model, usage in as_object(header.stats.get("model_usage")).items():
        counts = as_object(usage)
        cost = as_number(counts.get("total_cost"))
        spent = ", ".join(
            f"{int(number):,} {word} tokens"
            for word, key in (("input", "input_tokens"), ("cached input", "input_tokens_cache_read"), ("output", "output_tokens"))
            if (number := as_number(counts.get(key))) is not None
        )
        if spent:
            parts.append(f"{model}: {spent}" + (f", {cost:g} USD" if cost is not None else ""))
    return "; ".join(parts) or None


def _describe_systems(samples: Sequence[LogSample]) -> str | None:
    if not samples:
        return None
    digests = sorted({sample.system_sha256 for sample in samples if sample.system_sha256})
    without = sum(sample.system_sha256 is None for sample in samples)
    if not digests:
        return "no system message in any transcript of the log"
    shown = ", ".join(f"{digest[:12]}…" for digest in digests[:_SHOWN]) + (" …" if len(digests) > _SHOWN else "")
    text = f"in the log's transcripts: {len(digests)} distinct (SHA-256 {shown})"
    return text + (f"; {without} samples without one" if without else "")


def _describe_configured(header: LogHeader) -> str | None:
    """What the log's header configures, where no call is in the log; None where it configures nothing."""
    config = as_object(header.spec.get("model_generate_config"))
    values = ", ".join(f"{name} {value}" for name, value in sorted(config.items()) if value is not None)
    return f"configured: {values}; requests are not in the log" if values else None


def _describe_judge(header: LogHeader, scorer: str | None) -> str | None:
    if scorer is None:
        return None
    parts = [f"Inspect scorer {scorer}"]
    for role, models in as_object(header.spec.get("model_roles")).items():
        several = models if isinstance(models, list) else [models]
        named = [text for item in several if (text := as_text(as_object(item).get("model")) or as_text(item)) is not None]
        parts.append(f"model in the role {role}: {_join(named) or 'not named'}")
    return "; ".join(parts)


def _join(names: Iterable[str]) -> str | None:
    return ", ".join(names) or None


def digest_parts(parts: Iterable[bytes]) -> str:
    """Return the SHA-256 of *parts* one after the other, each with its length before it."""
    digest = hashlib.sha256()
    for part in parts:
        # With the length before each part, moving text from one part to the next changes the digest.
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


# Inspect logs become rows with accounts. Files are read by our own reader, about 15 times faster than Inspect's API.
# `inspect_ai` serves remote logs, and a contract test compares the two.

_HEADER, _START, _SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
_SAMPLES = "samples/"
_LARGEST_SUMMARIES = 1 << 24
_ZIP = b"PK"
_REMOTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _InspectLog:
    """One log, taken apart."""

    name: str
    sha256: str
    kind: str
    header: LogHeader
    samples: Sequence[LogSample]
    counts: ResponseCounts
    superseded: Sequence[str]
    notes: tuple[str, ...] = ()


def read_inspect(paths: Sequence[Path], reading: LogOptions) -> tuple[list[LogRow], ImportedLog]:
    """Return a row for each sample and epoch of the logs at *paths*, and the accounts of each log.

    Samples are read one after the other; of each only scores and provenance are kept. A path with a scheme (`s3://…`) is read by
    `inspect_ai`, which must be installed.

    Raises:
        TableError: a log that is damaged, not safe to read, of a later format or not finished, a scorer, entry or field that was not
            chosen or is not there, values that are no numbers: every fault of every log.
        UnavailableError: a remote log, and `inspect_ai` is not installed.
    """
    arms = {str(Path(path)): arm for path, arm in reading.arms.items()}
    rows: list[LogRow] = []
    parts: list[ImportedLog] = []
    faults = FaultList()
    for path in paths:
        try:
            of_file, part = _read_one(path, reading, arms.get(str(path)))
        except TableError as error:
            for fault in error.faults:
                faults.add(fault)
            continue
        rows += of_file
        parts.append(part)
    if faults.faults:
        raise TableError(faults.all(where=", ".join(str(path) for path in paths[:3])))
    return rows, merge_accounts(parts)


def find_remote(path: Path) -> str | None:
    """Return the address that *path* is, with both slashes that `Path` makes one of; None where it is a path on this computer."""
    match = _REMOTE.fullmatch(str(path))
    return f"{match[1]}://{match[2]}" if match else None


def _read_one(path: Path, reading: LogOptions, arm: str | None) -> tuple[list[LogRow], ImportedLog]:
    fields = SampleFields(
        arm=None if arm else reading.arm_field, context=reading.context_field, task=reading.task_field, family=reading.family_field
    )
    log = _open_log(path, fields, unfinished=reading.unfinished)
    lacking = find_lacking(log.header, log.samples, log.counts, where=log.name)
    # Fewer samples than stated are refused: those that are missing may be missing for a reason that has to do with
    # their scores.
    if lacking is not None and not reading.unfinished:
        raise TableError(lacking)
    faults, tally = FaultList(), FileCounts()
    scorer = choose_scorer(log.samples, reading, where=log.name)
    numbers = ScoreConverter(reading=reading, where=f"{log.name}, scorer {scorer}")
    frame = RowFrame(
        name=log.name, scorer=scorer, arm=arm, arm_field=fields.arm, context=path.stem.strip() or path.name, context_field=fields.context
    )
    rows = build_rows(log.samples, frame, numbers, tally, faults)
    numbers.report(faults)
    if faults.faults:
        raise TableError(faults.all(where=log.name))
    # A sample that Inspect ran again replaces the earlier one. The accounts show that it existed.
    for member in log.superseded:
        tally.add(member, "superseded", is_row=False)
    sampling = build_sampling(sample.asked for sample in log.samples if sample.asked is not None)
    warnings = list_warnings(log.header, log.samples, rows, log.counts, scorer)
    notes = list_notes(log.header, log.samples, log.counts, scorer)
    file = ImportedFile(
        name=log.name,
        sha256=log.sha256,
        format=f"{log.kind}/{log.header.version}",
        arm=arm,
        declared=count_declared(log.header),
        found=tally.found,
        scored=tally.scored,
        excluded=tally.list_excluded(),
        warnings=tuple(map(as_line, warnings)),
        notes=tuple(map(as_line, (*log.notes, *note_sampling(sampling), *notes))),
    )
    provenance = build_provenance(log.header, log.samples, sampling, sha256=log.sha256, scorer=scorer, key=reading.key)
    return rows, ImportedLog(files=(file,), provenance=provenance, started_at=find_start(log.header, log.samples))


def _open_log(path: Path, fields: SampleFields, *, unfinished: bool) -> _InspectLog:
    address = find_remote(path)
    if address is not None:
        return _read_remote(address, fields, unfinished=unfinished)
    name = str(path)
    try:
        with path.open("rb") as file:
            start = file.read(len(_ZIP))
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TableError(Fault("file-not-readable", name, f"the file cannot be opened: {error.strerror or error}")) from error
    if start == _ZIP or path.suffix.casefold() == ".eval":
        return _read_archive(path, fields, sha256, unfinished=unfinished)
    return _read_document(path, fields, sha256, unfinished=unfinished)


def _read_archive(path: Path, fields: SampleFields, sha256: str, *, unfinished: bool) -> _InspectLog:
    name = str(path)
    with EvalArchive(path, name) as archive:
        names = archive.names
        first = next((member for member in (_HEADER, _START) if member in names), None)
        if first is None:
            problem = f"the archive has neither {_HEADER} nor {_START}, as a log of Inspect has"
            raise TableError(Fault("file-not-readable", name, problem, advice="give a log of Inspect (.eval or .json)"))
        header = parse_header(parse_json(archive.read(first), f"{name}, member {first}"), name=name)
        # Before the samples are read: a refused log may hold gigabytes of them.
        _check_finished(header, name, unfinished=unfinished)
        members = [member for member in names if member.startswith(_SAMPLES) and member.endswith(".json")]
        documents = ((member, parse_json(archive.read(member), f"{name}, member {member}")) for member in members)
        samples = _build_samples(documents, header, fields, name)
        superseded = [member for member in archive.superseded if member.startswith(_SAMPLES)]
        summarised = _count_summaries(archive, name)
    counts = ResponseCounts(listed=len(members), superseded=len(superseded), summarised=summarised)
    return _InspectLog(name=name, sha256=sha256, kind="inspect-eval", header=header, samples=samples, counts=counts, superseded=superseded)


def _count_summaries(archive: EvalArchive, name: str) -> int | None:
    """Return how many samples the summaries list; None where there are none, or so many that counting them is not worth their memory."""
    size = archive.find_size(_SUMMARIES)
    if size is None or size > _LARGEST_SUMMARIES:
        return None
    wrapped = parse_json(b'{"summaries":' + archive.read(_SUMMARIES) + b"}", f"{name}, member {_SUMMARIES}")
    return len({(str(summary.get("id")), summary.get("epoch")) for summary in map(as_object, as_list(wrapped["summaries"]))})


def _read_document(path: Path, fields: SampleFields, sha256: str, *, unfinished: bool) -> _InspectLog:
    name = str(path)
    if path.stat().st_size > LARGEST_MEMBER:
        problem = f"a JSON log is read as a whole, and this one has more than {LARGEST_MEMBER:,} bytes"
        raise TableError(Fault("log-not-safe", name, problem, advice="write it as .eval: inspect log convert --to eval"))
    document = dict(parse_json(path.read_bytes(), name))
    header = parse_header(document, name=name)
    _check_finished(header, name, unfinished=unfinished)
    listed = as_list(document.pop("samples", None))
    samples = _build_samples(_drain(listed), header, fields, name)
    counts = ResponseCounts(listed=len(samples), superseded=0, summarised=None)
    return _InspectLog(name=name, sha256=sha256, kind="inspect-json", header=header, samples=samples, counts=counts, superseded=())


def _drain(samples: list[Object]) -> Iterator[tuple[str, Object]]:
    """Give the samples from the first to the last, each let go when the next is taken."""
    # Popping from the end of a reversed list frees each sample when it has been read. The document of a JSON log may be
    # larger than the rest of the process.
    samples.reverse()
    place = 0
    while samples:
        yield f"samples[{place}]", as_object(samples.pop())
        place += 1


def _build_samples(documents: Iterator[tuple[str, Object]], header: LogHeader, fields: SampleFields, name: str) -> list[LogSample]:
    """Return the samples in the order of their names, which is that of no archive: rows do not depend on when a sample ended."""
    samples, faults = list[LogSample](), FaultList()
    places: dict[tuple[str, str], str] = {}
    for place, document in documents:
        try:
            sample = build_sample(document, header, fields, where=f"{name}, {place}")
        except TableError as error:
            faults.add(error.faults[0])
            continue
        if fields.task is None and sample.key in places:
            both = f"{places[sample.key]} and {place} are both sample {sample.task_id}, epoch {sample.epoch}"
            faults.add(Fault("duplicate-row", name, both))
        places[sample.key] = place
        samples.append(sample)
    if faults.faults:
        raise TableError(faults.all(where=name))
    if not samples:
        raise TableError(Fault("table-empty", name, "the log holds no samples"))
    # Archives list samples in the order in which they ended, which differs from run to run.
    return sorted(samples, key=lambda sample: (sample.task_id, sample.epoch.zfill(6)))


def _check_finished(header: LogHeader, name: str, *, unfinished: bool) -> None:
    if header.status == "success" or unfinished:
        return
    why = f": {as_line(header.error[:200])}" if header.error else ""
    problem = f"the log's status is {header.status}{why}; samples may be missing for a reason that has to do with the scores"
    raise TableError(Fault("log-not-finished", name, problem))


def _read_remote(address: str, fields: SampleFields, *, unfinished: bool) -> _InspectLog:
    """Read by `inspect_ai` what lies elsewhere; its log goes through the same steps as a file."""
    try:
        from inspect_ai.log import read_eval_log  # noqa: PLC0415  # heavy, optional, and for remote logs alone
    except ImportError as error:
        problem = "a log that is not on this computer is read by inspect_ai, which is not installed"
        raise UnavailableError(Fault("reader-missing", address, problem)) from error
    try:
        log = read_eval_log(address)
    except Exception as error:
        # Every remote file system has its own errors, and `inspect_ai` passes them through.
        problem = f"inspect_ai cannot read it: {type(error).__name__}: {str(error)[:300]}"
        raise TableError(Fault("file-not-readable", address, problem, advice="fetch the log and give the file")) from error
    # Written as JSON and read again, so that a remote log passes the same steps and checks as a file.
    whole = log.model_copy(update={"samples": None, "reductions": None}).model_dump_json()
    header = parse_header(parse_json(whole, address), name=address)
    _check_finished(header, address, unfinished=unfinished)
    texts = [sample.model_dump_json().encode() for sample in log.samples or []]
    documents = ((f"samples[{place}]", parse_json(text, address)) for place, text in enumerate(texts))
    samples = _build_samples(documents, header, fields, address)
    counts = ResponseCounts(listed=len(samples), superseded=0, summarised=None)
    return _InspectLog(
        name=address,
        sha256=digest_parts([whole.encode(), *texts]),
        kind="inspect-api",
        header=header,
        samples=samples,
        counts=counts,
        superseded=(),
        notes=("read by inspect_ai: the digest is of the log as it gives it, not of the file",),
    )
