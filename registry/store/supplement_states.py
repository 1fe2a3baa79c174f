"""The state of each claim's and card's supplement as one digest: it shows what changed without assembling any."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from registry.records.claim_status import Family, Status
from registry.records.model_version import ModelRef
from registry.store.claim_listing import list_heads
from registry.store.claim_staleness import ClaimHead, Reference
from registry.store.database_tables import body, content, entry
from registry.store.dossiers import OF_AUDIT, OF_CARD, OF_CLAIM, OF_OBJECTION, OF_SPEC, Concern, find_concerns, group_concerns
from registry.store.kinds.audit_kinds import AUDITS, RIVALS, lock
from registry.store.kinds.claim_kinds import CARD_REVISIONS, PASSAGE_MATCHES, card_revision, claim_revision
from registry.store.kinds.definition_kinds import DISPUTES, SPEC_VERSIONS
from registry.store.log_reader import CHUNK, KEYS, LogReader, has_text, seen
from registry.store.statement_kind import split_reference
from registry.store.status_derivation import FactFinder
from registry.store.version_lineage import EndpointIndex

_STRETCH = 4 * CHUNK
# Part of each digest, so that a change of the rules below makes every supplement due once.
_VERSION = "caveat/state/1"


def find_states(view: LogReader, names: Collection[str] | None = None, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a digest (SHA-256, hexadecimal) for each revision of each claim and card, `CLM-…@n` and `CRD-…@n`, by its name.

    Args:
        names: only these; what is not registered is excluded. None for all.
        known: digests of claims that are the same as at an earlier entry: the digest of a card needs those of its claims.
    """
    # Decision of 2026-11-22: a supplement is due if its state differs. The state is a digest of the
    # entries it depends on and of the status, for all claims in one pass, without assembling any.
    # Tested on random registries: another record has another state. The cost: it reports a change
    # where an entry belongs to a claim but is not printed.
    return _States(view).find(None if names is None else frozenset(names), known or {})


class _States:
    """One reading of the log: for all claims each table once, for some what concerns them."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._origin = reader.log_origin
        self._finder = FactFinder(reader)
        self._lineage = self._finder.lineage
        self._marks: dict[int, bytes] = {}
        self._own: dict[str, list[int]] = defaultdict(list)
        """By claim, in any of its revisions: what its history tells, and all of its audits."""
        self._passage_matches: dict[Reference, list[int]] = defaultdict(list)
        self._disputed: dict[str, dict[str, None]] = defaultdict(dict)
        """By claim: the objections of it, then those under whose rival audits of it replay."""
        self._locked: dict[Reference, list[Reference]] = {}
        self._specs: dict[str, list[Concern]] = {}
        self._cards: dict[str, list[Concern]] = {}
        self._objections: dict[str, list[Concern]] = {}
        self._shared: dict[tuple[str, Any], bytes] = {}

    def find(self, names: frozenset[str] | None, known: Mapping[str, str]) -> dict[str, str]:
        """Return the digests that are asked for."""
        cards = {name.partition("@")[0] for name in names or () if name.startswith("CRD-")}
        claims = None if names is None else {name.partition("@")[0] for name in names} - cards
        # A card supplement lists its claims, so the current revisions of all claims that quote the
        # card are needed too.
        if claims is not None and cards:
            quoted = self._reader.rows_in(
                select(claim_revision.c.claim).where(self._reader.visible(claim_revision)), claim_revision.c.card, cards
            )
            claims |= {row.claim for row in quoted}
        heads = list_heads(self._reader, claims)
        last = {head.claim: head for head in heads}
        wanted = [
            head
            for head in heads
            if names is None
            or (name := f"{head.claim}@{head.revision}") in names
            or (name not in known and head.card is not None and head.card[0] in cards and last[head.claim] is head)
        ]
        named = None if names is None else {head.claim for head in wanted}
        self._read_marks(None if names is None else ())
        self._endpoints = EndpointIndex(self._reader, named)
        if wanted:
            self._gather(named)
        seen = _list_models(heads) if any(head.revision > 1 for head in wanted) else {}
        digests = self._digest_claims(wanted, seen)
        every = {name: bytes.fromhex(known[name]) for head in last.values() if (name := f"{head.claim}@{head.revision}") in known} | digests
        of_cards = self._digest_cards(cards if names is not None else None, names, last.values(), every)
        kept = digests if names is None else {name: digest for name, digest in digests.items() if name in names}
        return {name: digest.hex() for name, digest in (*kept.items(), *of_cards)}

    def _gather(self, claims: set[str] | None) -> None:
        """Read what concerns *claims* (all when None) and their audits."""
        audits: dict[str, str] = {}
        for concern in find_concerns(self._reader, OF_CLAIM, claims):
            match concern.table:
                case PASSAGE_MATCHES.table:
                    self._passage_matches[concern.name, concern.revision].append(concern.seq)
                case DISPUTES.table:
                    self._disputed[concern.name][concern.own or ""] = None
                case _:
                    self._own[concern.name].append(concern.seq)
                    if concern.table == AUDITS.table and concern.own is not None:
                        audits[concern.own] = concern.name
        if not audits:
            return
        for concern in find_concerns(self._reader, OF_AUDIT, None if claims is None else audits):
            claim = audits[concern.name]
            if concern.table == RIVALS.table:
                self._disputed[claim][concern.own or ""] = None
            else:
                self._own[claim].append(concern.seq)
        self._locked = _read_locked(self._reader, None if claims is None else audits)

    def _digest_claims(self, heads: Sequence[ClaimHead], seen: dict[Reference, tuple[ModelRef, ...]]) -> dict[str, bytes]:
        digests: dict[str, bytes] = {}
        # In stretches, so that memory does not grow with the registry.
        for start in range(0, len(heads), _STRETCH):
            stretch = heads[start : start + _STRETCH]
            # Definitions of the claim and of its locks. A supplement prints both.
            named = [
                tuple(dict.fromkeys((*specs, *self._locked.get((head.claim, head.revision), ()))))
                for head, specs in zip(stretch, self._finder.find_specs(stretch), strict=True)
            ]
            self._gather_shared(stretch, named)
            families = self._finder.find_families(stretch)
            statuses = self._finder.statuses(stretch, families)
            self._read_marks({seq for head in stretch for seq in self._own.get(head.claim, ())})
            for head, specs, status, family in zip(stretch, named, statuses, families, strict=True):
                models = seen.get((head.claim, head.revision), (head.model,))
                digests[f"{head.claim}@{head.revision}"] = self._digest_claim(head, specs, (status, family), models)
        return digests

    def _gather_shared(self, heads: Sequence[ClaimHead], named: Sequence[tuple[Reference, ...]]) -> None:
        """Read what concerns the definitions, cards and objections of *heads*, where that was not read for others."""
        specs = {name for references in named for name, _ in references} - self._specs.keys()
        self._specs |= group_concerns(find_concerns(self._reader, OF_SPEC, specs), specs)
        cards = {head.card[0] for head in heads if head.card} - self._cards.keys()
        self._cards |= group_concerns(find_concerns(self._reader, (CARD_REVISIONS,), cards), cards)
        disputes = {objection for head in heads for objection in self._disputed.get(head.claim, ())}
        disputes |= {concern.own for name in specs for concern in self._specs[name] if concern.own is not None}
        disputes -= self._objections.keys()
        self._objections |= group_concerns(find_concerns(self._reader, OF_OBJECTION, disputes), disputes)

    def _digest_claim(
        self, head: ClaimHead, specs: tuple[Reference, ...], state: tuple[Status, Family], models: tuple[ModelRef, ...]
    ) -> bytes:
        here = (head.claim, head.revision)
        shared: list[tuple[str, Any, Iterable[int]]] = [
            ("specs", specs, self._list_specs(specs)),
            ("card", head.card, self._list_card(head.card)),
            ("models", models, self._list_models(models)),
            *(("objection", name, self._list_objection(name)) for name in self._disputed.get(head.claim, ())),
        ]
        # Claims of one card share card, model and definitions, so their digests are computed once.
        new = [(kind, key, list(numbers)) for kind, key, numbers in shared if (kind, key) not in self._shared]
        named_by = self._endpoints.list_entries(head.model, head.claim)
        own = (*self._own.get(head.claim, ()), *self._passage_matches.get(here, ()), *named_by)
        self._read_marks({*own, *(seq for _, _, numbers in new for seq in numbers)})
        self._shared |= {(kind, key): _digest(kind, self._mark(numbers)) for kind, key, numbers in new}
        parts = [self._shared[kind, key] for kind, key, _ in shared]
        return _digest(self._origin, "claim", *here, _describe(state[0]), _list_family(state[1]), self._mark(own), *parts)

    def _list_specs(self, references: tuple[Reference, ...]) -> Iterator[int]:
        for name, version in references:
            for concern in self._specs[name]:
                # Newer versions count too: the supplement says that they exist.
                if concern.revision == version or (concern.table == SPEC_VERSIONS.table and concern.revision > version):
                    yield from (concern.seq,) if concern.own is None else self._list_objection(concern.own)

    def _list_card(self, card: Reference | None) -> Iterator[int]:
        if card is not None:
            yield from (concern.seq for concern in self._cards[card[0]] if concern.revision >= card[1])

    def _list_objection(self, name: str) -> Iterator[int]:
        yield from (concern.seq for concern in self._objections.get(name, ()))

    def _list_models(self, models: tuple[ModelRef, ...]) -> Iterator[int]:
        for model in models:
            for ref in (model, *self._lineage.successors(model)):
                if (registered := self._lineage.registration(ref)) is not None:
                    yield registered
        yield from self._lineage.list_entries(models)

    def _digest_cards(
        self, cards: set[str] | None, names: Collection[str] | None, last: Iterable[ClaimHead], claims: dict[str, bytes]
    ) -> Iterator[tuple[str, bytes]]:
        if cards is not None and not cards:
            return
        quoting: dict[str, list[bytes]] = defaultdict(list)
        for head in last:
            if head.card is not None and (claim := claims.get(f"{head.claim}@{head.revision}")) is not None:
                quoting[head.card[0]].append(claim)
        self._cards = group_concerns(find_concerns(self._reader, OF_CARD, cards))
        self._read_marks({concern.seq for concerns in self._cards.values() for concern in concerns})
        there = self._find_texts(cards)
        for card, concerns in self._cards.items():
            revisions = [concern for concern in concerns if concern.table == CARD_REVISIONS.table]
            for place in revisions:
                name = f"{card}@{place.revision}"
                if names is not None and name not in names:
                    continue
                # Omissions count in every revision, and surveys also where they were erased.
                statements = [
                    concern.seq
                    for concern in concerns
                    if (concern.table == "survey" and (concern.revision == place.revision or self._is_erased(concern.seq)))
                    or concern.table == "omission"
                    or (concern in revisions and concern.revision >= place.revision)
                ]
                yield (
                    name,
                    _digest(self._origin, "card", card, place.revision, place.seq in there, self._mark(statements), *quoting.get(card, ())),
                )

    def _find_texts(self, cards: set[str] | None) -> set[int]:
        """Return the entries of card revisions whose text is kept: a card without it is rendered without it."""
        table = card_revision
        wanted = select(table.c.seq).join(content, content.c.sha256 == table.c.text).where(self._reader.visible(table))
        rows = self._reader.rows(wanted) if cards is None else self._reader.rows_in(wanted, table.c.card, cards)
        return {row.seq for row in rows}

    def _read_marks(self, numbers: Collection[int] | None) -> None:
        """Read what identifies the entries *numbers* (all when None): its number, its leaf, and whether its text is there."""
        # Number and leaf identify an entry. The last byte tells whether its text is present, since an
        # erasure changes what is printed.
        # A difference from the keys of a dictionary would go through all of them.
        new = None if numbers is None else [number for number in set(numbers) if number not in self._marks]
        rows = self._reader.plain_rows(_MARKS) if new is None else self._reader.rows_by(_SOME_MARKS, new)
        self._marks |= {seq: seq.to_bytes(8, "big") + bytes(leaf) + (b"\0" if text is None else b"\1") for seq, leaf, text in rows}

    def _mark(self, numbers: Iterable[int]) -> bytes:
        """Return what identifies the entries *numbers*, and whether each still has its text."""
        return b"".join(self._marks[seq] for seq in sorted(set(numbers)))

    def _is_erased(self, seq: int) -> bool:
        return self._marks[seq][-1] == 0


_MARKS = select(entry.c.seq, entry.c.leaf, body.c.seq).outerjoin(body, has_text(entry)).where(seen(entry))
_SOME_MARKS = _MARKS.where(entry.c.seq.in_(KEYS))


def _read_locked(reader: LogReader, audits: Collection[str] | None) -> dict[Reference, list[Reference]]:
    """Return the definitions that locks fix, by claim revision; not decoded: whoever draws a supplement checks locks by their leaves."""
    specs: dict[Reference, list[Reference]] = defaultdict(list)
    wanted = select(lock.c.claim, lock.c.revision, body.c.json).join(body, has_text(lock)).where(reader.visible(lock))
    ordered = wanted.order_by(lock.c.seq)
    for claim, revision, text in reader.plain_rows(ordered) if audits is None else reader.rows_in(ordered, lock.c.audit, audits):
        # Plain JSON instead of full decoding: this runs for every lock, and the texts are verified
        # when the supplement is rendered.
        payload = json.loads(text)["payload"]
        fixed = (payload.get("test"), *(payload.get("deploy") or ()), payload.get("scoring"), *(payload.get("cues") or ()))
        specs[claim, revision] += [split_reference(item["spec"]) for item in fixed if item]
    return specs


def _list_models(heads: Sequence[ClaimHead]) -> dict[Reference, tuple[ModelRef, ...]]:
    """Return the models that each claim revision and those before it are about, in order."""
    refs: dict[Reference, tuple[ModelRef, ...]] = {}
    for head in heads:
        before = refs.get((head.claim, head.revision - 1), ())
        refs[head.claim, head.revision] = tuple(dict.fromkeys((*before, head.model)))
    return refs


def _describe(status: Status) -> list[Any]:
    causes = [[cause.kind.value, cause.what, cause.entry, cause.text] for cause in status.causes]
    axes = (status.lifecycle, status.dispute, status.staleness, status.restriction)
    return [*(axis.value for axis in axes), status.superseded_by, causes]


def _list_family(family: Family) -> list[Any]:
    outcomes = [
        [outcome.log, outcome.claim, outcome.audit, outcome.seq, outcome.other_words, outcome.is_withdrawn]
        for outcome in (*family.outcomes, *family.others)
    ]
    return [*family.members, *outcomes]


def _digest(*parts: Any) -> bytes:
    """Return the SHA-256 of *parts*, each told apart from the next."""
    # The lengths of byte parts go into the JSON prefix, so that parts cannot be shifted against
    # each other with the same result.
    plain = [len(part) if isinstance(part, bytes) else part for part in parts]
    digest = hashlib.sha256(json.dumps([_VERSION, *plain]).encode())
    for item in parts:
        if isinstance(item, bytes):
            digest.update(item)
    return digest.digest()
