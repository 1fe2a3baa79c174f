"""Whether a registry says what a supplement says: assembled again as of the entry that it names, and as the registry stands now."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from registry.changes import collect_changes, list_changed
from registry.codec.documents import to_document
from registry.errors import CaveatError, NotFoundError, UnavailableError
from registry.publishing import collect_supplements
from registry.records.change import AnySupplement, ChangeReport
from registry.records.dossier import ContestationFile, Recorded
from registry.records.publication import Publication
from registry.records.statement import KINDS, Payload
from registry.records.status import Status
from registry.records.supplement import CardSupplement, Supplement
from registry.store.ledger import Ledger
from registry.store.view import View
from registry.verification.carried import Carried, take_later, tell_later
from registry.verification.check import Check, Name, no, not_checked, yes
from registry.verification.means import Place, find_log

_MOST_TOLD = 6


def check_registry(carried: Carried, ledger: Ledger | None) -> Check:
    """Return whether the registry says the same as of the entry that the supplement names, word for word."""
    if ledger is None:
        return not_checked(Name.REGISTRY, "no registry here; give one with --registry to compare what it says")
    supplement = carried.supplement
    place = find_log(ledger, supplement.log_origin)
    if place is None or (place.log is not None and isinstance(supplement, CardSupplement)):
        return not_checked(Name.REGISTRY, f"the registry here {_tell_lack(place)} {supplement.log_origin}, which the supplement is of")
    with ledger.view(log=place.log) as now:
        size = now.log_size
    if size < supplement.log_size:
        note = f"the supplement is of entry {supplement.log_size}, the registry has only {size}"
        return no(Name.REGISTRY, note) if place.log is None else not_checked(Name.REGISTRY, f"{note} of this log")
    try:
        made = _make_again(carried, ledger, place)
    except UnavailableError:
        raise
    except NotFoundError as error:
        note = f"as of entry {supplement.log_size} the registry has no {carried.name}: {error.faults[0].found}"
        return no(Name.REGISTRY, note)
    except CaveatError as error:
        note = f"the registry does not stand as it was recorded: {error.faults[0].where}: {error.faults[0].found}"
        return no(Name.REGISTRY, note)
    return _compare(carried, made, later=size - supplement.log_size)


def check_current(carried: Carried, ledger: Ledger | None) -> Check:
    """Return whether the registry has recorded nothing since that concerns the claim or card; what there is, in words."""
    if ledger is None:
        return not_checked(Name.CURRENT, "no registry here: what was recorded since cannot be known from a file")
    supplement = carried.supplement
    place = find_log(ledger, supplement.log_origin)
    if place is None:
        return not_checked(Name.CURRENT, f"the registry here has no log {supplement.log_origin}")
    with ledger.view(log=place.log) as now:
        if now.log_size < supplement.log_size:
            return not_checked(Name.CURRENT, f"the registry here has only {now.log_size} entries of its log")
        try:
            found = list(_list_since(now, carried))
        except UnavailableError:
            raise
        except CaveatError as error:
            return not_checked(Name.CURRENT, f"the registry cannot be read: {error.faults[0].where}: {error.faults[0].found}")
        last = now.find_entry(now.log_size)
    if not found:
        return yes(Name.CURRENT, f"nothing that concerns it was recorded up to entry {now.log_size}{_tell_day(last.at if last else None)}")
    left = f"; and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
    return no(Name.CURRENT, f"since entry {supplement.log_size}: {'; '.join(found[:_MOST_TOLD])}{left}")


def _make_again(carried: Carried, ledger: Ledger, place: Place) -> AnySupplement:
    """Return what the registry says as of the entries that the file names."""
    said = carried.supplement
    with ledger.view(said.log_size, log=place.log) as then:
        if isinstance(said, ChangeReport):
            with ledger.view(said.since, log=place.log) as before:
                return collect_changes(before, then, claims=said.claims, scope=said.scope)
        (subject,) = collect_supplements(then, [carried.named])
        return subject.supplement


def _compare(carried: Carried, now: AnySupplement, *, later: int) -> Check:
    older, lacks = take_later(to_document(now), carried.public)
    size = carried.supplement.log_size
    if older != carried.public:
        note = f"as of entry {size} the registry says something else: "
        note += "the record was altered, or composed by another version of Caveat"
        return no(Name.REGISTRY, note)
    note = f"as of entry {size} the registry says the same, word for word{tell_later(lacks)}"
    note += f"; it has {later:,} later {'entry' if later == 1 else 'entries'}" if later else ""
    return not_checked(Name.REGISTRY, note) if lacks else yes(Name.REGISTRY, note)


def _tell_lack(place: Place | None) -> str:
    return "has no log" if place is None else "keeps no card texts of"


def _list_since(now: View, carried: Carried) -> Iterator[str]:
    """Give what was recorded after the supplement and speaks of its subject, in log order, then what follows from other entries."""
    then = carried.supplement
    if isinstance(then, ChangeReport):
        yield from _list_changed(now, then)
        return
    (subject,) = collect_supplements(now, [replace(carried.named, revision=None)])
    for one in now.history(carried.named.bare):
        if one.entry.seq > then.log_size and not isinstance(one.payload, Publication):
            yield _describe(one)
    if isinstance(then, Supplement) and isinstance(subject.supplement, Supplement):
        yield from _compare_claims(then, subject.supplement)
    elif isinstance(then, CardSupplement) and isinstance(subject.supplement, CardSupplement):
        yield from _compare_cards(then, subject.supplement)


def _list_changed(now: View, report: ChangeReport) -> Iterator[str]:
    """Give the claims that changed after what the report tells, of those that it is about."""
    then = now.ask(lambda connection: View(connection, limit=report.log_size, log_id=now.log_id))
    yield from (f"{claim} changed" for claim in list_changed(then, now, claims=report.claims))


def _compare_claims(then: Supplement, now: Supplement) -> Iterator[str]:
    """Give what follows from entries that are not the claim's own: models, cards and specifications that went on, objections to them."""
    yield from _compare_status(then.status, now.status)
    if then.card and now.card and now.card.newer is not None and now.card.newer != then.card.newer:
        yield f"{now.card.card}@{now.card.revision} was followed by revision {now.card.newer}"
    parts = {part.reference: part for part in then.specs}
    for part in now.specs:
        before = parts.get(part.reference)
        if before is None:
            continue
        if part.newer is not None and part.newer != before.newer:
            yield f"{part.reference} was followed by version {part.newer}"
        if part.reveal is not None and before.reveal is None:
            yield f"the sealed {part.reference} was revealed in entry {part.reveal.entry.seq}"
    yield from _list_objections((one for part in now.specs for one in part.contestations), since=then.log_size)


def _compare_cards(then: CardSupplement, now: CardSupplement) -> Iterator[str]:
    """Give the claims that were added since, and those whose status is another now."""
    before = {row.identifier.partition("@")[0]: row for row in then.claims}
    for row in now.claims:
        name = row.identifier.partition("@")[0]
        if name not in before:
            yield f"{name} was registered"
        elif row.identifier != before[name].identifier:
            yield f"{name} was revised"
        else:
            yield from (f"{name}: {one}" for one in _compare_status(before[name].status, row.status))
    yield from _list_objections(now.contestations, since=then.log_size)


def _list_objections(files: Iterable[ContestationFile], *, since: int) -> Iterator[str]:
    """Give each contestation, step and replay under a rival that was recorded after entry *since*, once."""
    said: dict[int, str] = {}
    for file in files:
        entries = (file.contestation.entry, *(one.entry for one in file.events), *(one.entry for one in file.replays))
        objection = file.contestation.payload
        later = (one.seq for one in entries if one.seq > since)
        said |= {seq: f"{objection.contestation} of {objection.target} in entry {seq}" for seq in later}
    yield from said.values()


def _compare_status(then: Status, now: Status) -> Iterator[str]:
    for axis in ("lifecycle", "dispute", "staleness", "restriction"):
        if getattr(then, axis) != getattr(now, axis):
            yield f"{axis} was {_word(getattr(then, axis))} and is {_word(getattr(now, axis))}"
    yield from (one for one in now.stale_because if one not in then.stale_because)
    if now.superseded_by is not None and now.superseded_by != then.superseded_by:
        yield f"superseded by {now.superseded_by}"


def _describe(one: Recorded[Payload]) -> str:
    what = KINDS[type(one.payload)].value.replace("_", " ")
    return f"{what} in entry {one.entry.seq}{_tell_day(one.entry.at)}"


def _tell_day(at: datetime | None) -> str:
    return "" if at is None else f" of {at:%Y-%m-%d}"


def _word(value: object) -> str:
    return str(value).replace("_", " ")
