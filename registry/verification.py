"""Whether a supplement says what its record says: drawn again from what it carries, and compared."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from registry.codec.canonical import Json, canonical_bytes
from registry.codec.documents import to_document
from registry.errors import InputError, NotFoundError, UnavailableError
from registry.publishing import collect_supplements, parse_subject
from registry.records.identifier import Identifier
from registry.records.publication import OutputFormat
from registry.records.supplement import CardSupplement, Supplement
from registry.report.read import find_record, read_supplement
from registry.report.workers import Job, Made, render_many
from registry.store.ledger import Ledger

_LATER = frozenset(
    {
        "claim_entry",
        "completeness",
        "contestation",
        "coverage",
        "cues",
        "deploy",
        "deviations",
        "elicitation",
        "explorations",
        "grader",
        "inclusion",
        "model",
        "omitted",
        "openings",
        "outcome_entry",
        "property",
        "readable",
        "relation",
        "reported",
        "replay",
        "replays",
        "reveal",
        "scoring",
        "sightings",
        "tasks",
        "test",
        "to",
        "undetermined",
        "unsigned",
    }
)
"""Fields that records of supplements got after files had been given out. All that such a file has is compared; what it lacks is named."""


class Answer(StrEnum):
    """What one check came to."""

    YES = "yes"
    NO = "no"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question put to a file."""

    name: str
    answer: Answer
    note: str
    """What was compared, or why it could not be."""


def verify_supplements(
    files: Sequence[tuple[str, bytes]],
    *,
    ledger: Ledger | None,
    time_limit_s: float,
    workers: int,
    progress: Callable[[int], None] | None = None,
) -> list[Sequence[Check]]:
    """Return the checks of each of *files*, its name and its bytes, in their order.

    Args:
        ledger: a registry to compare with; None to do without.
        time_limit_s: seconds that drawing one of them may take.
        workers: how many processes draw at once.
        progress: told how many more files are checked.

    Raises:
        InputError: one of them is no supplement, or cannot be drawn.
    """
    carried = [_read(data, where) for where, data in files]
    jobs = [Job(key=str(at), supplement=one.supplement, format=one.format) for at, one in enumerate(carried)]
    checks: dict[int, Sequence[Check]] = {}
    for made in render_many(jobs, workers=workers, time_limit_s=time_limit_s):
        at = int(made.key)
        one, data = carried[at], files[at][1]
        record = Check(name="record", answer=Answer.YES, note=f"carries the record of {one.supplement.identifier}")
        registry = _check_registry(one.supplement, one.document, one.named, ledger)
        checks[at] = (record, _check_bytes(data, one, made), registry)
        if progress is not None:
            progress(1)
    return [checks[at] for at in range(len(files))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carried:
    """What a file carries."""

    supplement: Supplement | CardSupplement
    document: Json
    named: Identifier
    format: OutputFormat


def _read(data: bytes, where: str) -> _Carried:
    supplement = read_supplement(data, where=where)
    named = replace(parse_subject(supplement, where=where), digest=None)
    document = json.loads(find_record(data, where=where))
    return _Carried(supplement=supplement, document=document, named=named, format=_tell_format(data))


def _tell_format(data: bytes) -> OutputFormat:
    if data.startswith(b"%PDF-"):
        return OutputFormat.PDF
    return OutputFormat.JSON if data.lstrip()[:1] == b"{" else OutputFormat.HTML


def _check_bytes(data: bytes, carried: _Carried, made: Made) -> Check:
    if isinstance(made.error, UnavailableError):
        return Check(name="bytes", answer=Answer.NOT_CHECKED, note=made.error.faults[0].found)
    if made.error is not None:
        raise made.error
    if made.data == data:
        return Check(name="bytes", answer=Answer.YES, note=f"drawn again from its record: the same {len(data):,} bytes")
    if carried.format is OutputFormat.JSON and canonical_bytes(carried.document) == data:
        older, lacks = _take_later(to_document(carried.supplement), carried.document)
        if older == carried.document:
            return Check(name="bytes", answer=Answer.NOT_CHECKED, note=f"written again it is the same{_tell_later(lacks)}")
    note = "drawn again from its record it is another file: it was altered, or drawn by another version of Caveat"
    return Check(name="bytes", answer=Answer.NO, note=note)


def _check_registry(supplement: Supplement | CardSupplement, document: Json, named: Identifier, ledger: Ledger | None) -> Check:
    """Assemble the supplement anew from the registry as of the entry that it names, and compare the two."""
    if ledger is None:
        note = "no registry here; give one with --registry to compare what it says"
        return Check(name="registry", answer=Answer.NOT_CHECKED, note=note)
    with ledger.view() as now:
        if now.log_origin != supplement.log_origin:
            note = f"the registry here is {now.log_origin}, the supplement is of {supplement.log_origin}"
            return Check(name="registry", answer=Answer.NOT_CHECKED, note=note)
        if now.log_size < supplement.log_size:
            note = f"the supplement is of entry {supplement.log_size}, the registry has only {now.log_size}"
            return Check(name="registry", answer=Answer.NO, note=note)
        later = now.log_size - supplement.log_size
    try:
        with ledger.view(supplement.log_size) as then:
            (subject,) = collect_supplements(then, [named])
    except (NotFoundError, InputError) as error:
        note = f"as of entry {supplement.log_size} the registry has no {named}: {error.faults[0].found}"
        return Check(name="registry", answer=Answer.NO, note=note)
    return _compare(to_document(subject.supplement), document, size=supplement.log_size, later=later)


def _compare(now: Json, then: Json, *, size: int, later: int) -> Check:
    older, lacks = _take_later(now, then)
    if older != then:
        note = f"as of entry {size} the registry says something else: "
        note += "the record was altered, or composed by another version of Caveat"
        return Check(name="registry", answer=Answer.NO, note=note)
    note = f"as of entry {size} the registry says the same, word for word{_tell_later(lacks)}"
    note += f"; it has {later:,} later {'entry' if later == 1 else 'entries'}" if later else ""
    return Check(name="registry", answer=Answer.NOT_CHECKED if lacks else Answer.YES, note=note)


def _take_later(now: Json, then: Json) -> tuple[Json, frozenset[str]]:
    """Return *now* without the fields of `_LATER` that *then* lacks, and their names: all else must be there to be the same."""
    if isinstance(now, dict) and isinstance(then, dict):
        lacks = frozenset(name for name in now if name in _LATER and name not in then)
        parts = {name: _take_later(value, then.get(name)) for name, value in now.items() if name not in lacks}
        return {name: part for name, (part, _) in parts.items()}, lacks.union(*(names for _, names in parts.values()))
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        pairs = [_take_later(one, other) for one, other in zip(now, then, strict=True)]
        return [part for part, _ in pairs], frozenset().union(*(names for _, names in pairs))
    return now, frozenset()


def _tell_later(lacks: frozenset[str]) -> str:
    return (
        f", but for what it lacks: {', '.join(sorted(lacks))}; it was made before Caveat told these, or they were taken out"
        if lacks
        else ""
    )
