"""What must be known of a log of Inspect before its scores are believed: counts that disagree, edits, limits, what was not sent."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from audit.sources.inspect_header import Header, as_count, as_list, as_number, as_object, as_text
from audit.sources.inspect_sample import Sample
from audit.sources.inspect_sent import Sampling
from audit.sources.port import Row
from registry.errors import Fault

_SHOWN = 5
_LONGEST = 60
_SECRET = re.compile(r"key|token|secret|passw|auth|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many responses a log has, by each place in it that states or holds some."""

    listed: int
    """Samples in the archive's directory (or in the JSON document), those that a later one replaces left out."""
    superseded: int
    """Samples that a later one of the same name replaces."""
    summarised: int | None
    """Entries of the summaries; None where the log has none."""


def count_declared(header: Header) -> int | None:
    """Return how many responses the log says there should be: its results' total, else identifiers × epochs; None where it says neither."""
    total = as_count(header.results.get("total_samples"))
    if total is not None:
        return total
    dataset = as_object(header.spec.get("dataset"))
    samples = len(as_list(dataset.get("sample_ids"))) or as_count(dataset.get("samples"))
    return samples * count_epochs(header) if samples else None


def count_epochs(header: Header) -> int:
    """Return how often each task was asked, as configured."""
    return as_count(as_object(header.spec.get("config")).get("epochs")) or 1


def find_lacking(header: Header, samples: Sequence[Sample], counts: Counts, *, where: str) -> Fault | None:
    """Return what is wrong where the log holds another number of samples than it states; None where they agree or it states none."""
    found = next(_note_declared(header, samples, counts), None)
    if found is None:
        return None
    advice = "look for the whole log, or take what is there with --unfinished; the accounts then say so"
    return Fault(code="samples-missing", where=where, found=found, advice=advice)


def list_warnings(header: Header, samples: Sequence[Sample], rows: Sequence[Row], counts: Counts, scorer: str | None) -> tuple[str, ...]:
    """Return one sentence for each thing that makes the log doubtful, without a full stop."""
    return (
        *_note_status(header),
        *_note_totals(header, samples, counts),
        *_note_metric(header, rows, scorer),
        *_note_edits(samples, scorer),
        *_note_models(samples),
    )


def list_notes(header: Header, samples: Sequence[Sample], counts: Counts, scorer: str | None) -> tuple[str, ...]:
    """Return one sentence for each other thing that a reader must know, without a full stop."""
    return (
        *_note_counts(header, samples, counts),
        *_note_epochs(header),
        *_note_scores(samples, scorer),
        *_note_responses(header, samples),
        *_note_origin(header),
    )


def note_sampling(sampling: Sampling) -> tuple[str, ...]:
    """Return what was configured and not sent, one sentence each."""
    return tuple(sampling.notes())


def _note_status(header: Header) -> Iterator[str]:
    if header.status != "success":
        yield f"the log's status is {header.status}" + (f": {header.error[:200]}" if header.error else "")
    if header.updates:
        yield f"tags or metadata were edited {header.updates} times after the run"


def _note_counts(header: Header, samples: Sequence[Sample], counts: Counts) -> Iterator[str]:
    yield from _note_declared(header, samples, counts)
    if counts.superseded:
        yield f"{counts.superseded} samples were logged again; the last record of each is taken, as Inspect does"


def _note_totals(header: Header, samples: Sequence[Sample], counts: Counts) -> Iterator[str]:
    completed = as_count(header.results.get("completed_samples"))
    errors = sum(sample.error is not None for sample in samples)
    if completed is not None and completed != counts.listed - errors:
        yield f"the header states {completed} samples completed and the log holds {counts.listed - errors} without an error"
    if counts.summarised is not None and counts.summarised != counts.listed:
        yield f"the log's summaries list {counts.summarised} samples and it holds {counts.listed}"


def _note_declared(header: Header, samples: Sequence[Sample], counts: Counts) -> Iterator[str]:
    declared = count_declared(header)
    if declared is not None and declared != counts.listed:
        missing = list(islice(_list_missing(header, samples), _SHOWN + 1))
        named = f" (not there: {', '.join(missing[:_SHOWN])}{' …' if len(missing) > _SHOWN else ''})" if missing else ""
        yield f"the header states {declared} samples and the log holds {counts.listed}{named}"


def _list_missing(header: Header, samples: Sequence[Sample]) -> Iterator[str]:
    """Give the samples that the header names and that are not there; only where the samples' own identifiers are the tasks."""
    epochs = range(1, count_epochs(header) + 1)
    named = [text for one in as_list(as_object(header.spec.get("dataset")).get("sample_ids")) if (text := as_text(one)) is not None]
    there = {sample.key for sample in samples}
    if {sample.task_id for sample in samples} <= set(named):
        yield from (f"{task} epoch {epoch}" for task in named for epoch in epochs if (task, str(epoch)) not in there)


def _note_metric(header: Header, rows: Sequence[Row], scorer: str | None) -> Iterator[str]:
    """The log's own mean beside that of the rows: two programs must agree, or say why not."""
    scores = [row.score for row in rows if row.score is not None]
    for result in map(as_object, as_list(header.results.get("scores"))):
        if result.get("name") != scorer or result.get("reducer") not in (None, "mean"):
            continue
        for name, metric in as_object(result.get("metrics")).items():
            value = as_number(as_object(metric).get("value"))
            if name in ("accuracy", "mean") and value is not None and scores:
                mean = math.fsum(scores) / len(scores)
                if not math.isclose(mean, value, rel_tol=1e-9, abs_tol=1e-12):
                    yield f"the log states {name} {value:g} for {scorer} and the mean of the scored rows is {mean:g}"


def _note_epochs(header: Header) -> Iterator[str]:
    if (epochs := count_epochs(header)) > 1:
        reducers = ", ".join(str(one) for one in as_list(as_object(header.spec.get("config")).get("epochs_reducer"))) or "mean"
        yield f"{epochs} epochs, which the log's own results reduce by {reducers}; here each epoch is a sample of its own"


def _note_edits(samples: Sequence[Sample], scorer: str | None) -> Iterator[str]:
    chosen = [scored for sample in samples if (scored := sample.scores.get(scorer or "")) is not None]
    edited = [scored.edits for scored in chosen if scored.edits]
    if edited:
        yield (
            f"{len(edited)} scores of {scorer} were edited after scoring, one of them {max(edited)} times"
            if max(edited) > 1
            else (f"{len(edited)} scores of {scorer} were edited after scoring")
        )


def _note_scores(samples: Sequence[Sample], scorer: str | None) -> Iterator[str]:
    chosen = [scored for sample in samples if (scored := sample.scores.get(scorer or "")) is not None]
    reasons = Counter(scored.reason for scored in chosen if scored.reason)
    yield from (f"{count} scores of {scorer} are marked {reason}" for reason, count in sorted(reasons.items()))
    broken = sum(sample.error is not None and (scorer or "") in sample.scores for sample in samples)
    if broken:
        yield f"{broken} samples that ended with an error were scored nevertheless; they are excluded here"


def _note_responses(header: Header, samples: Sequence[Sample]) -> Iterator[str]:
    for limit, count in sorted(Counter(sample.limit for sample in samples if sample.limit).items()):
        yield f"limit: {limit} – {count} responses were ended by it and are scored as they stand"
    authors = sorted({sample.invalidated_by for sample in samples if sample.invalidated_by})
    if authors:
        yield f"samples were declared invalid by {', '.join(authors[:_SHOWN])}"
    if retried := sum(sample.retries > 0 for sample in samples):
        yield f"{retried} samples were run again after an error"
    if timelines := sum(sample.has_timelines for sample in samples):
        yield f"{timelines} samples have timelines (as Petri's do): the target's transcript is there and not in the sample's messages"
    if header.spec.get("model_base_url") is None:
        yield "the endpoint is not recorded: the log has no base URL, so it was the provider's own or came from the environment"


def _tell_arguments(header: Header) -> str:
    """The first few arguments of the task: they tell contexts apart. One that may be a secret is left out."""
    named = ((name, as_text(value)) for name, value in as_object(header.spec.get("task_args")).items() if not _SECRET.search(name))
    told = [f"{name[:_LONGEST]} {text[:_LONGEST]}" for name, text in named if text is not None][:_SHOWN]
    return f" ({', '.join(told)})" if told else ""


def _tell_dataset(header: Header) -> str:
    """Name and size of the log's own data set, which need not be that of the evaluation a card reports."""
    dataset = as_object(header.spec.get("dataset"))
    name, samples = as_text(dataset.get("name")), as_count(dataset.get("samples"))
    if name is None:
        return ""
    return f", its data set {name[:_LONGEST]}" + (f" of {samples} samples" if samples is not None else "")


def _tell_tags(header: Header) -> str:
    tags = ", ".join(tag[:_LONGEST] for tag in header.tags[:_SHOWN])
    return f", its tags {tags}" if tags else ""


def _note_models(samples: Sequence[Sample]) -> Iterator[str]:
    for model, count in sorted(Counter(model for sample in samples for model in set(sample.fallbacks)).items()):
        yield f"in {count} samples another model answered in place of the one asked for: {model}"
    returned = sorted({sample.model for sample in samples if sample.model})
    if len(returned) > 1:
        yield f"{len(returned)} model names were returned: {', '.join(returned[:_SHOWN])}"


def _note_origin(header: Header) -> Iterator[str]:
    task = as_text(header.spec.get("task"))
    if task is not None:
        parts = (f"the log's task is {task[:_LONGEST]}", _tell_arguments(header), _tell_dataset(header), _tell_tags(header))
        yield "".join(parts)
    packages = as_object(header.spec.get("packages"))
    if packages:
        yield "made with " + ", ".join(f"{name} {version}" for name, version in packages.items())
    revision = as_object(header.spec.get("revision"))
    if revision:
        dirty = ", with changes that were not committed" if revision.get("dirty") else ""
        yield f"source revision {revision.get('commit')} of {revision.get('origin')}{dirty}"
