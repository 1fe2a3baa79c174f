"""What changed between two entries of the log, and what superseded a supplement."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from registry.codec.statement_encoding import list_entries
from registry.errors import Fault, InputError, NotFoundError
from registry.records.claim import ClaimRevision
from registry.records.dossier import Dossier, EntrySupersession, Recorded
from registry.records.record import Identifier, Kind, Payload, parse_identifier
from registry.records.statement import Entry, Publication
from registry.records.supplement import ChangeReport, ClaimChange, Occasion, name_report
from registry.records.system_card import Card
from registry.report.claim_change import build_change, describe_change_reasons, describe_revision, find_occasions, quote, rank_change
from registry.store.changed_claims import find_changed
from registry.store.claim_listing import list_heads
from registry.store.log_integrity import RowCheck
from registry.store.log_seals import prove
from registry.store.registry_view import View
from registry.store.supplement_states import find_states

# A change report, at a cost in proportion to what changed. It is about no single claim or card, so
# its name is that of its two entries. It is signed, but not recorded as a publication, which needs
# an identifier (decision of 2026-11-22). A card revision that touches no claim is not reported.

_AT_ONCE = 100
"""Claims whose dossiers are held together, before and after."""


def collect_changes(before: View, after: View, *, claims: Sequence[str] | None = None, scope: str | None = None) -> ChangeReport:
    """Return what changed of each claim from *before* to *after*, two readings of one log.

    Whether a claim changed is recognised by the state of its newest revision (`registry.store.supplement_states`); only those that did are
    read. What is
    printed is decoded, and what is current or stale is read off rows, so rows are compared with their statements.

    Args:
        claims: `CLM-…`, the only ones that are in it; None for every one of the registry.
        scope: what *claims* are, in words; None where they are all.

    Raises:
        InputError: *before* sees more entries than *after*, or another log.
        NotFoundError: the registry is empty, or one of *claims* is not registered.
        AlteredError: a row was edited by hand.
    """
    _refuse_other(before, after)
    _refuse_unknown(claims, after)
    gathered = _ChangedDossiers()
    # Only claims whose state differs are read.
    changed, unchanged = find_changed(before, after, claims)
    rows = RowCheck(after)
    # In portions, so that two dossiers of every claim are never in memory together.
    for start in range(0, len(changed), _AT_ONCE):
        _gather(gathered, before, after, changed[start : start + _AT_ONCE], rows)
    return _build_report(before, after, gathered, claims=claims, scope=scope, unchanged=unchanged)


def list_changed(before: View, after: View, *, claims: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the claims, `CLM-…` ascending, with a newest revision that is another in *after*, or has another status."""
    return tuple(find_changed(before, after, claims)[0])


@dataclass(slots=True)
class _ChangedDossiers:
    """What was found so far."""

    changes: list[ClaimChange] = field(default_factory=list)
    occasions: dict[int, Occasion] = field(default_factory=dict)
    erased: list[str] = field(default_factory=list)


def _gather(gathered: _ChangedDossiers, before: View, after: View, claims: Sequence[str], rows: RowCheck) -> None:
    earlier = {dossier.claim: dossier for dossier in _read(before, [claim for claim in claims if before.claim_exists(claim)])}
    later = {dossier.claim: dossier for dossier in _read(after, claims)}
    # Both sides must be readable: half a comparison would look like a change.
    comparable = [claim for claim in claims if claim in later and (claim in earlier or not before.claim_exists(claim))]
    gathered.erased += sorted({*claims}.difference(comparable))
    read = [side[claim] for side in (earlier, later) for claim in comparable if claim in side]
    # What is printed is decoded; what is current or stale is read off rows, so these are compared.
    rows.check({seq for dossier in read for seq in list_entries(dossier)}, comparable)
    for claim in comparable:
        now = later[claim]
        others = _find_others(after, now)
        gathered.changes.append(build_change(earlier.get(claim), now, since=before.log_size, others=others))
        for occasion in find_occasions(now, since=before.log_size, others=others):
            # One occasion can concern many claims; it is printed once.
            gathered.occasions.setdefault(occasion.entry.seq, occasion)


def _read(view: View, claims: Sequence[str]) -> Iterator[Dossier]:
    """Yield what is known of each of *claims*, but for those of which a statement was erased: halves are asked until they are found."""
    try:
        yield from list(view.dossiers(claims))
    except NotFoundError as error:
        if error.code != "body-erased":
            raise
        # As in `supplement_publishing`: the error does not name the claim.
        middle = len(claims) // 2
        if middle:
            yield from _read(view, claims[:middle])
            yield from _read(view, claims[middle:])


def _find_others(view: View, dossier: Dossier) -> tuple[Entry, ...]:
    """Return the entries that the claim's causes to be stale number and that no part of its dossier names."""
    entries = list_entries(dossier)
    # A cause may number the entry of a method, which no dossier contains.
    others = (view.find_entry(seq) for seq in sorted({cause.entry for cause in dossier.status.causes} - entries.keys()))
    return tuple(entry for entry in others if entry is not None)


def _build_report(
    before: View, after: View, gathered: _ChangedDossiers, *, claims: Sequence[str] | None, scope: str | None, unchanged: int
) -> ChangeReport:
    first, last = before.find_entry(before.log_size), after.find_entry(after.log_size)
    if last is None:
        raise NotFoundError(Fault("empty-registry", "registry", "nothing is recorded yet"))
    named = None if claims is None else tuple(sorted(set(claims)))
    report = ChangeReport(
        identifier=name_report(before.log_size, after.log_size, named),
        made_at=last.at,
        log_origin=after.log_origin,
        since=before.log_size,
        since_at=first.at if first else None,
        log_size=after.log_size,
        scope=scope,
        occasions=tuple(gathered.occasions[seq] for seq in sorted(gathered.occasions)),
        # `change_report_page` relies on this order.
        changes=tuple(sorted(gathered.changes, key=rank_change)),
        unchanged=unchanged,
        claims=named,
        erased=tuple(gathered.erased),
    )
    # Every entry that the report names is proven, as in a supplement.
    return replace(report, inclusion=prove(after, list_entries(report)))


def _refuse_other(before: View, after: View) -> None:
    # Sizes of two logs cannot be compared.
    if before.log_id != after.log_id:
        raise InputError(Fault("wrong-log", before.log_origin, f"is compared with {after.log_origin}, another log"))
    if before.log_size > after.log_size:
        problem = f"it begins after entry {before.log_size}, and ends with entry {after.log_size}"
        raise InputError(Fault("bad-option", "change report", problem, advice="name an earlier entry or date as its beginning"))


def _refuse_unknown(claims: Sequence[str] | None, view: View) -> None:
    known = {head.claim for head in list_heads(view, claims)} if claims else set()
    faults = [
        Fault("not-registered", claim, "no such claim has a text here", advice=view.suggest(claim) or "caveat claim list")
        for claim in dict.fromkeys(claims or ())
        if claim not in known
    ]
    if faults:
        raise NotFoundError(faults)


# What superseded a supplement. The notice stands outside the record digest, as openings do: a
# registry can confirm it; a file alone cannot, and says so (decision of 2026-11-22).

_MOST_LISTED = 6
_MOST_NAMED = 3

SupersessionNotice = tuple[list[Entry], list[str]]
"""Entries since that concern a subject, and why it says something else, a sentence each."""


def find_superseded(then: View, now: View, subject: str) -> EntrySupersession | None:
    """Return what superseded the supplement of *subject* as it is rendered of *then*; None where the registry still says the same.

    An older revision is superseded by the newest, also where *then* and *now* see the same entries.

    Args:
        then: what the supplement is rendered of.
        now: the same log, with as many entries or more.
        subject: `CLM-…@n` or `CRD-…@n`; without `@n` the newest revision in *then*.

    Raises:
        NotFoundError: *then* has no such claim or card, or a statement was erased (`body-erased`).
        AlteredError: a row was edited by hand.
    """
    return Supersession(then, now, [subject]).find(subject)


class Supersession:
    """What superseded supplements that are rendered of one view, as another one knows: `find_superseded` for many."""

    def __init__(self, then: View, now: View, subjects: Collection[str] | None = None) -> None:
        """Prepare to look from *then* to *now*.

        Args:
            subjects: names with `@n` whose states are found with the first that is asked for; None for those of the whole registry.
        """
        self._then, self._now = then, now
        self._subjects = subjects
        self._is_later = now.log_size > then.log_size
        self._rows = RowCheck(now)
        self._before: dict[str, str] = {}
        self._after: dict[str, str] = {}

    def find(self, subject: str) -> EntrySupersession | None:
        """Return what superseded the supplement of *subject*, as `find_superseded`."""
        named = parse_identifier(subject, Kind.CLAIM, Kind.CARD)
        newest_then = _find_newest_entry(self._then, named)
        newest = _find_newest_entry(self._now, named) if self._is_later else newest_then
        number = named.revision or newest_then
        if newest == newest_then and not self._has_changed(f"{named.bare}@{number}"):
            # No newer entries, but newer revisions in the same log.
            return self._describe_plain(named, number) if number < newest else None
        entries, why = (self._compare_claim if named.kind is Kind.CLAIM else self._compare_card)(named, number)
        # Without a known entry the last one is named: by then it had changed.
        first = min(entries, key=lambda entry: entry.seq, default=None) or self._now.find_entry(self._now.log_size)
        if first is None:
            raise _not_found(named)
        return EntrySupersession(name=f"{named.bare}@{newest}", entry=first, log_size=self._now.log_size, why=_shorten(why))

    def _has_changed(self, name: str) -> bool:
        if not self._is_later:
            return False
        if name not in self._before:
            # The states of all subjects are found with the first, since one pass serves all.
            wanted = None if self._subjects is None else {name, *self._subjects}
            self._before |= {name: ""} | find_states(self._then, wanted)
            self._after |= find_states(self._now, wanted)
        # A subject without a state was erased, which is a change.
        return self._before[name] != self._after.get(name)

    def _describe_plain(self, named: Identifier, number: int) -> EntrySupersession:
        """Return that a revision has newer ones, which the log it is rendered of holds already."""
        later = list(_list_revisions(self._then, named, after=number))
        name = f"{named.bare}@{number + len(later)}"
        # Newest reason first.
        return EntrySupersession(
            name=name, entry=later[0][0], log_size=self._then.log_size, why=_shorten([reason for _, reason in reversed(later)])
        )

    def _compare_claim(self, named: Identifier, number: int) -> SupersessionNotice:
        since = self._then.log_size
        before, after = self._then.dossier(f"{named.bare}@{number}"), self._now.dossier(named.bare)
        entries = self._list_later(after)
        change_reasons = list(describe_change_reasons(before, after, entries, since=since))
        known = [name for place, name in _list_revisions(self._then, named, after=number) if place.seq <= since]
        return entries, [*change_reasons, *reversed(known)]

    def _compare_card(self, named: Identifier, number: int) -> SupersessionNotice:
        """Return what came of the card itself, then of each of its claims."""
        since = self._then.log_size
        # A publication changes nothing that a supplement says.
        history = [
            payload
            for payload in self._now.history(named.bare)
            if payload.entry.seq > since and not isinstance(payload.payload, Publication)
        ]
        entries = [payload.entry for payload in history]
        reasons = [name for _, name in reversed(list(_list_revisions(self._now, named, after=number)))]
        reasons += _count_kinds(payload.payload for payload in history if not isinstance(payload.payload, Card))
        same: dict[str, list[str]] = {}
        for claim in [summary.claim for summary in self._now.list_claims(card=named.bare)]:
            later, why = self._compare_claim_of_card(claim)
            entries += later
            for name in why:
                # One event often changes many claims of a card; it is printed once with their names.
                same.setdefault(name, []).append(claim)
        # What concerns the most claims first.
        reasons += [f"{_name_some(claims)}: {name}" for name, claims in sorted(same.items(), key=lambda group: -len(group[1]))]
        return entries, reasons or ["An earlier version of Caveat described its sources differently; no entry of its own was added since."]

    def _compare_claim_of_card(self, claim: str) -> SupersessionNotice:
        """Return the most important of what came of one claim; nothing where a statement was erased, as the card's supplement tells."""
        try:
            after = self._now.dossier(claim)
            before = None if self._then.find_claim(claim) is None else self._then.dossier(claim)
        except NotFoundError as error:
            if error.code != "body-erased":
                raise
            # The card's own supplement lists claims whose text was erased.
            return [], []
        entries = self._list_later(after)
        return entries, list(describe_change_reasons(before, after, entries, since=self._then.log_size)[:1]) if entries else []

    def _list_later(self, after: Dossier) -> list[Entry]:
        """Return the entries since that *after* is made of or that its causes to be stale number, in log order; their rows are checked."""
        since = self._then.log_size
        entries = {seq: entry for seq, entry in list_entries(after).items() if seq > since}
        # Causes can number entries that are no part of the dossier.
        numbered = {cause.entry for cause in after.status.causes if cause.entry > since} - entries.keys()
        entries |= {later_entry.seq: later_entry for seq in numbered if (later_entry := self._now.find_entry(seq)) is not None}
        # Statuses are read off rows, so these rows must match their statements.
        self._rows.check(entries, {after.claim})
        return [entries[seq] for seq in sorted(entries)]


def _find_newest_entry(view: View, named: Identifier) -> int:
    if named.kind is Kind.CARD:
        card = view.find_card(named.bare)
        number = card.payload.revision if card else None
    else:
        claim = view.find_claim(named.bare)
        number = claim.payload.revision if claim else None
    if number is None:
        raise _not_found(named)
    return number


def _list_revisions(view: View, named: Identifier, *, after: int) -> Iterator[tuple[Entry, str]]:
    """Yield each revision from *after* on, not itself, with a sentence on why it was made, in order."""
    if named.kind is Kind.CARD:
        for number in range(after + 1, _find_newest_entry(view, named) + 1):
            if (card := view.find_card(named.bare, number)) is not None:
                why = f": {quote(card.payload.why)}" if card.payload.why else ""
                yield card.entry, f"Revision {number} of the card was registered{why} (entry {card.entry.seq})."
        return
    claim_revisions = [view.find_revision(named.bare, number) for number in range(after, _find_newest_entry(view, named) + 1)]
    revisions: list[Recorded[ClaimRevision]] = [revision for revision in claim_revisions if revision is not None]
    for before, later in pairwise(revisions):
        yield later.entry, f"{describe_revision(before.payload, later, is_brief=True)} (entry {later.entry.seq})."


def _name_some(claims: Sequence[str]) -> str:
    named = ", ".join(claims[:_MOST_NAMED])
    return named if len(claims) <= _MOST_NAMED else f"{named} and {len(claims) - _MOST_NAMED} more"


def _count_kinds(payloads: Iterable[Payload]) -> list[str]:
    """Return what was recorded of a card beside its revisions, by kind; nothing where nothing was."""
    kinds = Counter(payload.KIND.replace("_", " ") for payload in payloads)
    listed = ", ".join(f"{count} × {kind}" for kind, count in sorted(kinds.items()))
    return [f"Recorded of the card since: {listed}."] if listed else []


def _shorten(texts: Sequence[str]) -> tuple[str, ...]:
    more = len(texts) - _MOST_LISTED
    return tuple(texts) if more <= 0 else (*texts[:_MOST_LISTED], f"And {more} more.")


def _not_found(named: Identifier) -> NotFoundError:
    return NotFoundError(Fault("not-registered", str(named), f"no such {named.kind.name.lower()} is registered"))
