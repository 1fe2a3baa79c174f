"""Claims read in bulk: current revisions, their summaries, and searching them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, or_, select

from registry.records.claim import Form, QuoteStatus
from registry.records.claim_status import Staleness, Status
from registry.records.model_version import ModelRef
from registry.records.record import Record
from registry.store.claim_staleness import ClaimHead, Reference
from registry.store.kinds.claim_kinds import claim_revision as revisions
from registry.store.kinds.claim_kinds import claim_text
from registry.store.kinds.definition_kinds import spec_version
from registry.store.log_reader import CHUNK, KEYS, LogReader, seen
from registry.store.status_derivation import TERMINAL, FactFinder


# Not frozen, as records are elsewhere: a list makes a hundred thousand, and a frozen one takes twice as long to make.
@dataclass(slots=True, unsafe_hash=True)
class ClaimSummary(Record):
    """The current revision of a claim, and its outcome. Nothing changes it after it was made."""

    claim: str
    """The identifier, `CLM-…`."""
    revision: int
    quote: str | None
    """The claim's words; None when its text was erased."""
    form: Form
    property: str
    """`PRP-…@n`."""
    model: ModelRef
    card: str | None
    """`CRD-…@n`; None for a claim that is known from elsewhere."""
    status: Status
    seq: int
    """The entry that recorded this revision."""


SharedParts = dict[tuple[Any, ...], tuple[ModelRef, Reference | None, tuple[Reference, ...], bool]]
"""Model, card and definitions of claims and whether they quote their card, by the columns that say so."""


class SharedSummary(NamedTuple):
    """What the summaries of many claims have in common."""

    model: ModelRef
    card: str | None
    property: str
    status: Status
    """Of those claims to which nothing happened."""


# Queries over many claims. The current revision is found by "no next revision is visible" instead
# of max(): the condition uses the unique index and works for any last entry.

_VERBATIM = QuoteStatus.VERBATIM.value
_later = revisions.alias("later")


def is_current(reader: LogReader) -> ColumnElement[bool]:
    """Return the condition that a claim revision is seen, and none after it is."""
    newer = exists().where(
        _later.c.log == revisions.c.log,
        _later.c.claim == revisions.c.claim,
        _later.c.revision == revisions.c.revision + 1,
        _later.c.seq <= reader.log_size,
    )
    return and_(reader.visible(revisions), ~newer)


def find_current_entry(reader: LogReader, claim: str) -> int | None:
    """Return the entry of the latest revision of *claim*; None when it has none."""
    seq: int | None = reader.one_value(_CURRENT, claim=claim)
    return seq


def list_summaries(
    reader: LogReader, narrowed: Sequence[ColumnElement[bool]] = (), limit: int | None = None, after: int = 0
) -> Iterator[ClaimSummary]:
    """Yield summaries of revisions after the entry *after* in log order, asking the database for one stretch at a time."""
    finder = FactFinder(reader)
    parts: SharedParts = {}
    shared: dict[tuple[Any, ...], SharedSummary] = {}
    for rows in _read_stretches(reader, narrowed, limit, after):
        # Emptied instead of growing without a limit, where every claim has its own definitions.
        if len(shared) > CHUNK:
            shared.clear()
            parts.clear()
        # Claims of one card follow one another in a log. They are grouped by the columns that they
        # share, because a look-up for each claim takes as long as the query.
        groups = [(columns, list(members)) for columns, members in groupby(rows, _SHARED_COLUMNS)]
        new = {columns: head_of(members[0], parts) for columns, members in groups if columns not in shared}
        statuses = finder.find_usual([*new.values()]) if new else []
        shared |= {columns: _share(head, status) for (columns, head), status in zip(new.items(), statuses, strict=True)}
        apart = finder.find_apart([row[0] for row in rows], [row[1] for row in rows])
        heads = [head_of(row, parts) for row in rows if row[0] in apart] if apart else []
        own = {head.seq: status for head, status in zip(heads, finder.statuses(heads), strict=True)}
        for columns, members in groups:
            model, card, property_, usual = shared[columns]
            for row in members:
                seq = row[0]
                yield ClaimSummary(row[1], row[2], row[16], _FORMS[row[15]], property_, model, card, own.get(seq, usual), seq)


def _read_stretches(
    reader: LogReader, narrowed: Sequence[ColumnElement[bool]], limit: int | None, after: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of current revisions in log order, one stretch at a time."""
    left = limit
    while left is None or left > 0:
        # Paging by the last entry number keeps memory flat and costs the same for every page.
        step = 4 * CHUNK if left is None else min(4 * CHUNK, left)
        rows = reader.plain_rows(_stretch(reader).where(revisions.c.seq > after, *narrowed).limit(step))
        yield rows
        if len(rows) < step:
            return
        after = rows[-1][0]
        left = None if left is None else left - step


def list_stale(reader: LogReader, narrowed: Sequence[ColumnElement[bool]] = ()) -> Iterator[ClaimSummary]:
    """Yield summaries of claims that are stale, or may be, in log order; without those at their end: no one has to do anything."""
    # Claims at their end are excluded: no one can revise them, so there is nothing to decide.
    for summary in list_summaries(reader, narrowed):
        if summary.status.staleness is not Staleness.CURRENT and summary.status.lifecycle not in TERMINAL:
            yield summary


def get_head(reader: LogReader, seq: int) -> ClaimHead:
    """Return what the revision recorded by entry *seq* refers to."""
    return get_heads(reader, [seq])[0]


def get_heads(reader: LogReader, numbers: Sequence[int]) -> list[ClaimHead]:
    """Return what the revisions recorded by the entries *numbers* refer to, in log order; at most as many as one query may ask for."""
    shared: SharedParts = {}
    return [head_of(row, shared) for row in reader.plain_rows(_HEADS_OF_ENTRIES, keys=numbers)]


def list_heads(reader: LogReader, claims: Collection[str] | None = None) -> list[ClaimHead]:
    """Return what every revision of every claim (of *claims*, where given) refers to, in log order."""
    shared: SharedParts = {}
    rows = reader.plain_rows(_HEADS) if claims is None else reader.rows_by(_HEADS_OF_CLAIMS, claims)
    return sorted((head_of(row, shared) for row in rows), key=lambda head: head.seq)


def find_heads(reader: LogReader, names: Sequence[str]) -> Iterator[list[ClaimHead]]:
    """Yield the current revisions of the claims *names*, `CLM-…`, in chunks, each in log order; claims without a revision are excluded."""
    for start in range(0, len(names), CHUNK):
        chunk = names[start : start + CHUNK]
        yield get_heads(reader, [row[0] for row in reader.rows(_CURRENT_OF_CLAIMS, keys=chunk)])


def head_of(row: tuple[Any, ...], shared: SharedParts) -> ClaimHead:
    """Return the head in *row*; what it shares with other claims is kept once in *shared*."""
    # Shared objects, because lists hold a hundred thousand heads.
    parts = shared.get(columns := _SHARED_COLUMNS(row))
    if parts is None:
        developer, name, version, card, card_revision, phi, phi_version, scoring, scored, test, tested, quote_status = columns
        specs: tuple[Reference, ...] = ((phi, phi_version),)
        if scoring:
            specs += ((scoring, scored),)
        if test:
            specs += ((test, tested),)
        parts = shared[columns] = (
            _name_model(developer, name, version),
            (card, card_revision) if card else None,
            specs,
            quote_status == _VERBATIM,
        )
    seq, claim, revision = row[:3]
    return ClaimHead(seq, claim, revision, *parts)


@lru_cache(maxsize=10_000)
def _name_model(developer: str, name: str, version: str) -> ModelRef:
    return ModelRef(developer=developer, name=name, version=version)


def narrow(*, card: str | None, model: ModelRef | None, property_: str | None) -> list[ColumnElement[bool]]:
    """Return the conditions for claims of a card or specification, with or without `@n`, and of a model version."""
    elements: list[ColumnElement[bool]] = []
    for text, name, number in (
        (card, revisions.c.card, revisions.c.card_revision),
        (property_, revisions.c.property, revisions.c.property_version),
    ):
        if text is not None:
            bare, _, version = text.partition("@")
            elements.append(name == bare)
            elements += [number == int(version)] if version else []
    if model is not None:
        elements += [
            revisions.c.developer == model.developer,
            revisions.c.model == model.name,
            revisions.c.model_version == model.version,
        ]
    return elements


def match_words(text: str) -> list[ColumnElement[bool]]:
    """Return the condition that every word of *text* is in the quote, note, model, identifier or property, in any case."""
    elements: list[ColumnElement[bool]] = []
    for word in text.split():
        # The user's text is not a pattern: backslash, percent and underscore are escaped.
        pattern = "%" + word.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        places = (claim_text.c.quote, claim_text.c.note, revisions.c.model, revisions.c.model_version, revisions.c.developer)
        # A property is searched in its registered version, since a claim only stores its
        # identifier.
        named = exists().where(
            spec_version.c.log == revisions.c.log,
            spec_version.c.spec == revisions.c.property,
            spec_version.c.version == revisions.c.property_version,
            func.lower(spec_version.c.body).like(pattern, escape="\\"),
        )
        inside = [func.lower(place).like(pattern, escape="\\") for place in (*places, revisions.c.claim, revisions.c.property)]
        elements.append(or_(*inside, named))
    return elements


_HEAD_COLUMNS = (
    revisions.c.seq,
    revisions.c.claim,
    revisions.c.revision,
    revisions.c.developer,
    revisions.c.model,
    revisions.c.model_version,
    revisions.c.card,
    revisions.c.card_revision,
    revisions.c.property,
    revisions.c.property_version,
    revisions.c.scoring,
    revisions.c.scoring_version,
    revisions.c.test_context,
    revisions.c.test_context_version,
    revisions.c.quote_status,
)
_SHARED_COLUMNS = itemgetter(slice(3, 15))
"""Takes the columns from a row that most claims share with the claim before."""


_CURRENT = select(func.max(revisions.c.seq)).where(seen(revisions), revisions.c.claim == bindparam("claim"))
_CURRENT_OF_CLAIMS = select(func.max(revisions.c.seq)).where(seen(revisions), revisions.c.claim.in_(KEYS)).group_by(revisions.c.claim)
_HEADS = select(*_HEAD_COLUMNS).where(seen(revisions)).order_by(revisions.c.seq)
_HEADS_OF_CLAIMS = _HEADS.where(revisions.c.claim.in_(KEYS))
_HEADS_OF_ENTRIES = _HEADS.where(revisions.c.seq.in_(KEYS))


def _stretch_columns() -> Select[Any]:
    joined = revisions.outerjoin(claim_text, and_(claim_text.c.log == revisions.c.log, claim_text.c.seq == revisions.c.seq))
    return select(*_HEAD_COLUMNS, revisions.c.form, claim_text.c.quote).select_from(joined)


def _stretch(reader: LogReader) -> Select[Any]:
    return _stretch_columns().where(is_current(reader)).order_by(revisions.c.seq)


_FORMS = {form.value: form for form in Form}


def _share(head: ClaimHead, status: Status) -> SharedSummary:
    card = f"{head.card[0]}@{head.card[1]}" if head.card else None
    return SharedSummary(head.model, card, f"{head.specs[0][0]}@{head.specs[0][1]}", status)
