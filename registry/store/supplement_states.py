"""The state of each claim's and card's supplement as one digest: it shows what changed without assembling any."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Table, select

from registry.records.claim_status import Family, Status
from registry.records.model_version import ModelRef
from registry.store.claim_listing import list_heads
from registry.store.claim_staleness import ClaimHead, Reference
from registry.store.database_tables import (
    audit,
    audit_rival,
    body,
    card_revision,
    claim_event,
    claim_relation,
    claim_revision,
    content,
    contestation,
    contestation_event,
    deviation,
    entry,
    evidence,
    exploration,
    finding,
    lock,
    omission,
    restriction,
    result,
    reveal,
    run,
    run_end,
    run_start,
    sighting,
    spec_version,
    staleness_review,
    survey,
)
from registry.store.log_reader import CHUNK, LogReader, has_text
from registry.store.statement_rows import split_reference
from registry.store.status_derivation import FactFinder
from registry.store.version_lineage import EndpointIndex, read_lineage

_OF_AUDIT = (lock, run, result, evidence, finding, restriction, deviation, exploration, run_start, run_end)
_STRETCH = 4 * CHUNK
# Part of each digest, so that a change of the rules below makes every supplement due once.
_VERSION = "caveat/state/1"


def find_states(view: LogReader, names: Collection[str] | None = None) -> dict[str, str]:
    """Return a digest (SHA-256, hexadecimal) for each revision of each claim and card, `CLM-…@n` and `CRD-…@n`, by its name.

    Args:
        names: only these; what is not registered is left out. None for all.
    """
    # Decision of 2026-11-22: a supplement is due if its state differs. The state is a digest of the
    # entries it depends on and of the status, for all claims in one pass, without assembling any.
    # Tested on random registries: another record has another state. The cost: it reports a change
    # where an entry belongs to a claim but is not printed.
    return _States(view).find(None if names is None else frozenset(names))


class _States:
    """One reading of the log: each table once, whatever is asked."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._origin = reader.log_origin
        self._marks = _read_marks(reader)
        self._own = _gather_own(reader)
        self._sightings = self._group(sighting, lambda row: (row[1], row[2]), sighting.c.claim, sighting.c.revision)
        self._specs = self._group(spec_version, lambda row: row[1], spec_version.c.spec, spec_version.c.version, is_whole=True)
        self._cards = self._group(card_revision, lambda row: row[1], card_revision.c.card, card_revision.c.revision, is_whole=True)
        self._reveals = self._group(reveal, lambda row: (row[1], row[2]), reveal.c.spec, reveal.c.version)
        self._disputes = _Disputes(reader)
        self._locked = _read_locked(reader)
        self._lineage = read_lineage(reader)
        self._endpoints = EndpointIndex(reader)
        self._shared: dict[tuple[str, Any], bytes] = {}

    def find(self, names: frozenset[str] | None) -> dict[str, str]:
        """Return the digests that are asked for."""
        cards = {name for name in names or () if name.startswith("CRD-")}
        heads = list_heads(self._reader)
        last = {head.claim: head for head in heads}
        # A card supplement lists its claims, so the current revisions of all claims that quote the
        # card are needed too.
        quoting = {name.partition("@")[0] for name in cards}
        wanted = [
            head
            for head in heads
            if names is None
            or f"{head.claim}@{head.revision}" in names
            or (head.card is not None and head.card[0] in quoting and last[head.claim] is head)
        ]
        seen = _list_models(heads) if any(head.revision > 1 for head in wanted) else {}
        digests = self._digest_claims(wanted, seen)
        of_cards = self._digest_cards(cards if names is not None else None, last.values(), digests)
        kept = digests if names is None else {name: digest for name, digest in digests.items() if name in names}
        return {name: found.hex() for name, found in (*kept.items(), *of_cards)}

    def _digest_claims(self, heads: Sequence[ClaimHead], seen: dict[Reference, tuple[ModelRef, ...]]) -> dict[str, bytes]:
        finder = FactFinder(self._reader)
        found: dict[str, bytes] = {}
        # In stretches, so that memory does not grow with the registry.
        for start in range(0, len(heads), _STRETCH):
            stretch = heads[start : start + _STRETCH]
            contexts = finder.find_specs(stretch)
            families = finder.find_families(stretch)
            for head, specs, status, family in zip(stretch, contexts, finder.statuses(stretch), families, strict=True):
                name = f"{head.claim}@{head.revision}"
                models = seen.get((head.claim, head.revision), (head.model,))
                found[name] = self._digest_claim(head, specs, (status, family), models)
        return found

    def _digest_claim(
        self, head: ClaimHead, specs: Sequence[Reference], state: tuple[Status, Family], models: tuple[ModelRef, ...]
    ) -> bytes:
        here = (head.claim, head.revision)
        # Definitions of the claim and of its locks. A supplement prints both.
        named = tuple(dict.fromkeys((*specs, *self._locked.get(here, ()))))
        # Objections against the claim, and those under whose rival its audits replay.
        disputed = dict.fromkeys((*self._disputes.of_claim.get(head.claim, ()), *self._disputes.rivals_of.get(head.claim, ())))
        parts = [
            self._share("specs", named, self._list_specs(named)),
            self._share("card", head.card, self._list_card(head.card)),
            self._share("models", models, self._list_models(models)),
            *(self._share("contestation", one, self._disputes.entries.get(one, ())) for one in disputed),
        ]
        named_by = self._endpoints.list_entries(head.model, head.claim)
        numbers = (*self._own.get(head.claim, ()), *self._sightings.get(here, ()), *named_by)
        return _digest(self._origin, "claim", *here, _tell(state[0]), _list_family(state[1]), self._mark(numbers), *parts)

    def _share(self, kind: str, key: Any, numbers: Iterable[int]) -> bytes:
        """Return the digest of entries that many claims depend on, made once for each *key*."""
        # Claims of one card share card, model and definitions, so their digests are computed once.
        found = self._shared.get((kind, key))
        if found is None:
            found = self._shared[kind, key] = _digest(kind, self._mark(numbers))
        return found

    def _list_specs(self, references: tuple[Reference, ...]) -> Iterator[int]:
        for name, version in references:
            # Newer versions count too: the supplement says that they exist.
            yield from (seq for seq, _, number in self._specs.get(name, ()) if number >= version)
            yield from self._reveals.get((name, version), ())
            for one in self._disputes.of_spec.get((name, version), ()):
                yield from self._disputes.entries.get(one, ())

    def _list_card(self, card: Reference | None) -> Iterator[int]:
        if card is not None:
            yield from (seq for seq, _, number in self._cards.get(card[0], ()) if number >= card[1])

    def _list_models(self, models: tuple[ModelRef, ...]) -> Iterator[int]:
        for model in models:
            for one in (model, *self._lineage.successors(model)):
                if (registered := self._lineage.registration(one)) is not None:
                    yield registered
        yield from self._lineage.list_entries(models)

    def _digest_cards(
        self, names: Collection[str] | None, last: Iterable[ClaimHead], claims: dict[str, bytes]
    ) -> Iterator[tuple[str, bytes]]:
        quoting: dict[str, list[bytes]] = defaultdict(list)
        for head in last:
            if head.card is not None and (claim := claims.get(f"{head.claim}@{head.revision}")) is not None:
                quoting[head.card[0]].append(claim)
        surveys = self._group(survey, lambda row: row[1], survey.c.card, survey.c.revision, is_whole=True)
        omissions = self._group(omission, lambda row: row[1], omission.c.card)
        table = card_revision
        # A card whose text was deleted is rendered without it, so the presence of the text belongs
        # to the state.
        has_content = content.c.sha256.is_not(None)
        columns = (table.c.card, table.c.revision, table.c.seq, has_content)
        rows = select(*columns).outerjoin(content, content.c.sha256 == table.c.text).where(self._reader.visible(table))
        for card, revision, seq, is_there in self._reader.plain_rows(rows):
            if names is not None and f"{card}@{revision}" not in names:
                continue
            said = [number for number, _, of in surveys.get(card, ()) if of == revision or self._is_erased(number)]
            numbers = self._mark((seq, *self._list_card((card, revision)), *said, *omissions.get(card, ())))
            yield f"{card}@{revision}", _digest(self._origin, "card", card, revision, bool(is_there), numbers, *quoting.get(card, ()))

    def _mark(self, numbers: Iterable[int]) -> bytes:
        """Return what identifies the entries *numbers*, and whether each still has its text."""
        return b"".join(self._marks[seq] for seq in sorted(set(numbers)))

    def _is_erased(self, seq: int) -> bool:
        return self._marks[seq][-1] == 0

    def _group(self, table: Table, key: Callable[[Any], Any], *columns: Any, is_whole: bool = False) -> dict[Any, list[Any]]:
        """Return the entries of *table*, or its rows if *is_whole*, by *key*, in log order."""
        found: dict[Any, list[Any]] = defaultdict(list)
        wanted = select(table.c.seq, *columns).where(self._reader.visible(table)).order_by(table.c.seq)
        for row in self._reader.plain_rows(wanted):
            found[key(row)].append(tuple(row) if is_whole else row[0])
        return found


class _Disputes:
    """Contestations, with what they are against and the entries of each."""

    def __init__(self, reader: LogReader) -> None:
        self.of_claim: dict[str, list[str]] = defaultdict(list)
        self.of_spec: dict[Reference, list[str]] = defaultdict(list)
        self.rivals_of: dict[str, list[str]] = defaultdict(list)
        """By claim: the contestations under whose rival audits of it replay."""
        self.entries: dict[str, list[int]] = defaultdict(list)
        """Of the contestation, of its steps, and of the audits that replay under its rival."""
        table = contestation
        columns = (table.c.seq, table.c.contestation, table.c.claim, table.c.spec, table.c.version)
        for seq, name, claim, spec, version in reader.plain_rows(select(*columns).where(reader.visible(table))):
            self.entries[name].append(seq)
            if claim is None:
                self.of_spec[spec, version].append(name)
            else:
                self.of_claim[claim].append(name)
        steps = select(contestation_event.c.seq, contestation_event.c.contestation).where(reader.visible(contestation_event))
        for seq, name in reader.plain_rows(steps):
            self.entries[name].append(seq)
        same = (audit.c.log == audit_rival.c.log) & (audit.c.audit == audit_rival.c.audit)
        rivals = select(audit.c.seq, audit.c.claim, audit_rival.c.contestation).join(audit_rival, same)
        for seq, claim, name in reader.plain_rows(rivals.where(reader.visible(audit), reader.visible(audit_rival))):
            self.entries[name].append(seq)
            self.rivals_of[claim].append(name)


def _read_marks(reader: LogReader) -> dict[int, bytes]:
    """Return what identifies each entry: its number, its leaf, and whether its text is there."""
    # Number and leaf identify an entry. The last byte tells whether its text is present, since an
    # erasure changes what is printed.
    there = select(entry.c.seq, entry.c.leaf, body.c.seq).outerjoin(body, has_text(entry)).where(reader.visible(entry))
    rows = reader.plain_rows(there)
    return {seq: seq.to_bytes(8, "big") + bytes(leaf) + (b"\0" if text is None else b"\1") for seq, leaf, text in rows}


def _gather_own(reader: LogReader) -> dict[str, list[int]]:
    """Return the entries that belong to each claim, in any of its revisions: what its history tells, and all of its audits."""
    found: dict[str, list[int]] = defaultdict(list)
    for table, column in (
        (claim_revision, claim_revision.c.claim),
        (claim_event, claim_event.c.claim),
        (claim_relation, claim_relation.c.claim),
        (claim_relation, claim_relation.c.other),
        (staleness_review, staleness_review.c.claim),
        (audit, audit.c.claim),
    ):
        for seq, claim in reader.plain_rows(select(table.c.seq, column).where(reader.visible(table))):
            found[claim].append(seq)
    claims = dict(reader.plain_rows(select(audit.c.audit, audit.c.claim).where(reader.visible(audit))))
    for table in _OF_AUDIT if claims else ():
        for seq, name in reader.plain_rows(select(table.c.seq, table.c.audit).where(reader.visible(table))):
            found[claims[name]].append(seq)
    return found


def _read_locked(reader: LogReader) -> dict[Reference, list[Reference]]:
    """Return the definitions that locks fix, by claim revision; not decoded: whoever draws a supplement checks locks by their leaves."""
    found: dict[Reference, list[Reference]] = defaultdict(list)
    wanted = select(lock.c.claim, lock.c.revision, body.c.json).join(body, has_text(lock)).where(reader.visible(lock))
    for claim, revision, text in reader.plain_rows(wanted.order_by(lock.c.seq)):
        # Plain JSON instead of full decoding: this runs for every lock, and the texts are verified
        # when the supplement is rendered.
        said = json.loads(text)["payload"]
        fixed = (said.get("test"), *(said.get("deploy") or ()), said.get("scoring"), *(said.get("cues") or ()))
        found[claim, revision] += [split_reference(one["spec"]) for one in fixed if one]
    return found


def _list_models(heads: Sequence[ClaimHead]) -> dict[Reference, tuple[ModelRef, ...]]:
    """Return the models that each claim revision and those before it are about, in order."""
    found: dict[Reference, tuple[ModelRef, ...]] = {}
    for head in heads:
        before = found.get((head.claim, head.revision - 1), ())
        found[head.claim, head.revision] = tuple(dict.fromkeys((*before, head.model)))
    return found


def _tell(status: Status) -> list[Any]:
    causes = [[cause.kind.value, cause.what, cause.entry, cause.text] for cause in status.causes]
    axes = (status.lifecycle, status.dispute, status.staleness, status.restriction)
    return [*(axis.value for axis in axes), status.superseded_by, causes]


def _list_family(family: Family) -> list[Any]:
    outcomes = [[one.log, one.claim, one.audit, one.seq, one.other_words] for one in (*family.outcomes, *family.others)]
    return [*family.members, *outcomes]


def _digest(*parts: Any) -> bytes:
    """Return the SHA-256 of *parts*, each told apart from the next."""
    # The lengths of byte parts go into the JSON prefix, so that parts cannot be shifted against
    # each other with the same result.
    plain = [len(part) if isinstance(part, bytes) else part for part in parts]
    digest = hashlib.sha256(json.dumps([_VERSION, *plain]).encode())
    for one in parts:
        if isinstance(one, bytes):
            digest.update(one)
    return digest.digest()
