"""Whether a registry says what a supplement says: assembled again, as of its entry and as of now."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from registry.codec.canonical_documents import to_document
from registry.codec.statement_encoding import public_record
from registry.errors import CaveatError, NotFoundError, UnavailableError
from registry.folder.supplement_changes import collect_changes, find_superseded, list_changed
from registry.folder.supplement_publishing import collect_supplements
from registry.records.supplement import AnySupplement, CardSupplement, ChangeReport
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from registry.verify.proof_checks import Check, CheckName, no, not_checked, yes
from registry.verify.record_checks import SupplementInFile
from registry.verify.verification_keys import LogPlace, find_log

_MOST_LISTED = 6


def check_registry(embedded: SupplementInFile, ledger: Ledger | None) -> Check:
    """Return whether the registry says the same as of the entry that the supplement names, word for word."""
    if ledger is None:
        return not_checked(CheckName.REGISTRY, "no registry here; give one with --registry to compare what it says")
    supplement = embedded.supplement
    place = find_log(ledger, supplement.log_origin)
    # Texts of cards are not part of a log that was taken over, and a card supplement quotes them.
    if place is None or (place.log is not None and isinstance(supplement, CardSupplement)):
        return not_checked(
            CheckName.REGISTRY, f"the registry here {_describe_lack(place)} {supplement.log_origin}, which the supplement is of"
        )
    with ledger.view(log=place.log) as now:
        size = now.log_size
    # The registry's own log must have all entries. A log taken over from elsewhere may simply be
    # older.
    if size < supplement.log_size:
        note = f"the supplement is of entry {supplement.log_size}, the registry has only {size}"
        return no(CheckName.REGISTRY, note) if place.log is None else not_checked(CheckName.REGISTRY, f"{note} of this log")
    try:
        made = _make_again(embedded, ledger, place)
    # A registry that cannot be reached is no answer about the file.
    except UnavailableError:
        raise
    # The registry has the entry, and not the claim.
    except NotFoundError as error:
        note = f"as of entry {supplement.log_size} the registry has no {embedded.name}: {error.faults[0].found}"
        return no(CheckName.REGISTRY, note)
    except CaveatError as error:
        note = f"the registry is not as it was recorded: {error.faults[0].where}: {error.faults[0].found}"
        return no(CheckName.REGISTRY, note)
    # Composed anew and compared word for word: this also covers what no statement says.
    return _compare(embedded, made, later=size - supplement.log_size, notice=_check_notice(embedded, ledger, place, size))


def check_current(embedded: SupplementInFile, ledger: Ledger | None) -> Check:
    """Return whether the registry has recorded nothing since that concerns the claim or card; what there is, in words."""
    if ledger is None:
        return not_checked(CheckName.CURRENT, "no registry here: what was recorded since cannot be known from a file")
    supplement = embedded.supplement
    place = find_log(ledger, supplement.log_origin)
    if place is None:
        return not_checked(CheckName.CURRENT, f"the registry here has no log {supplement.log_origin}")
    with ledger.view(log=place.log) as now:
        # Newer than the registry here: nothing can be said.
        if now.log_size < supplement.log_size:
            return not_checked(CheckName.CURRENT, f"the registry here has only {now.log_size} entries of its log")
        try:
            # Both views are of the same log, the earlier one as of the supplement's entry.
            with ledger.view(supplement.log_size, log=place.log) as then:
                texts = list(_list_since(then, now, embedded))
        except UnavailableError:
            raise
        except CaveatError as error:
            return not_checked(CheckName.CURRENT, f"the registry cannot be read: {error.faults[0].where}: {error.faults[0].found}")
        last = now.find_entry(now.log_size)
    if not texts:
        return yes(
            CheckName.CURRENT, f"nothing that concerns it was recorded up to entry {now.log_size}{_describe_day(last.at if last else None)}"
        )
    left = f"; and {len(texts) - _MOST_LISTED} more" if len(texts) > _MOST_LISTED else ""
    since = f"since entry {supplement.log_size}: " if isinstance(supplement, ChangeReport) else ""
    return no(CheckName.CURRENT, f"{since}{'; '.join(texts[:_MOST_LISTED])}{left}")


def _make_again(embedded: SupplementInFile, ledger: Ledger, place: LogPlace) -> AnySupplement:
    """Return what the registry says as of the entries that the file names."""
    supplement = embedded.supplement
    # As of the entry that the file names, since later entries change what is said.
    with ledger.view(supplement.log_size, log=place.log) as then:
        if isinstance(supplement, ChangeReport):
            with ledger.view(supplement.since, log=place.log) as before:
                return collect_changes(before, then, claims=supplement.claims, scope=supplement.scope)
        (subject,) = collect_supplements(then, [embedded.named])
        # Without openings and notice, which a rendering adds.
        return public_record(subject.supplement)


def _check_notice(embedded: SupplementInFile, ledger: Ledger, place: LogPlace, size: int) -> str | None:
    """Return in what the notice that the supplement is superseded is not what the registry says; None where it is, or there is none."""
    supersession = None if isinstance(embedded.supplement, ChangeReport) else embedded.supplement.superseded
    if supersession is None:
        return None
    # A notice as of an entry beyond the log, or before the supplement, cannot be confirmed.
    if not embedded.supplement.log_size <= supersession.log_size <= size:
        return f"it is said to be known as of entry {supersession.log_size}, the registry has {size}"
    with ledger.view(embedded.supplement.log_size, log=place.log) as then, ledger.view(supersession.log_size, log=place.log) as now:
        superseded = find_superseded(then, now, embedded.name)
    if superseded is None:
        return f"as of entry {supersession.log_size} nothing superseded it"
    same = (superseded.name, superseded.entry, superseded.why) == (supersession.name, supersession.entry, supersession.why)
    return (
        None
        if same
        else f"as of entry {supersession.log_size} it is {superseded.name}, entry {superseded.entry.seq}: {' '.join(superseded.why)}"
    )


def _compare(embedded: SupplementInFile, now: AnySupplement, *, later: int, notice: str | None) -> Check:
    size = embedded.supplement.log_size
    # The document is compared, so that an unknown field counts as a difference.
    if to_document(now) != embedded.public:
        note = f"as of entry {size} the registry says something else: "
        note += "the record was altered, or composed by another version of Caveat"
        return no(CheckName.REGISTRY, note)
    if notice is not None:
        return no(CheckName.REGISTRY, f"the notice that it is superseded is not what the registry says: {notice}")
    note = f"as of entry {size} the registry says the same, word for word"
    note += f"; it has {later:,} later {'entry' if later == 1 else 'entries'}" if later else ""
    return yes(CheckName.REGISTRY, note)


def _describe_lack(place: LogPlace | None) -> str:
    return "has no log" if place is None else "keeps no card texts of"


def _list_since(then: View, now: View, embedded: SupplementInFile) -> Iterator[str]:
    """Give what superseded the supplement, as a file rendered at its entry says it; of a change report, the claims that changed since."""
    if isinstance(embedded.supplement, ChangeReport):
        yield from (f"{claim} changed" for claim in list_changed(then, now, claims=embedded.supplement.claims))
        return
    # Assembling checks the rows; the result is not needed.
    for _ in collect_supplements(now, [replace(embedded.named, revision=None)]):
        pass  # whose rows are compared with their statements: states are read off rows
    superseded = find_superseded(then, now, embedded.name)
    if superseded is not None:
        what = "it says something else" if superseded.name == embedded.name else f"{superseded.name} is in its place"
        yield f"{what}, first changed by entry {superseded.entry.seq}{_describe_day(superseded.entry.at)}: {' '.join(superseded.why)}"


def _describe_day(at: datetime | None) -> str:
    return "" if at is None else f" of {at:%Y-%m-%d}"
