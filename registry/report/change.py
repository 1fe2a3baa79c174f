"""One claim before and after: two readings of what a registry knows of it become a change with its reasons. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from registry.codec.statement_encoding import list_entries
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.estimates import Estimate
from registry.records.statement import Entry
from registry.records.supplement import ClaimChange, ClaimState
from registry.records.verdict import ClaimClass, Restriction
from registry.report.beside import find_first_spec
from registry.report.drift import build_steps
from registry.report.leading import find_leading
from registry.report.why import tell_why


def build_change(before: Dossier | None, after: Dossier, *, since: int, others: Sequence[Entry] = ()) -> ClaimChange:
    """Return how the claim of *after* changed since *before*, each as read then.

    Args:
        before: None where the claim was not registered.
        after: has at least one revision.
        since: entries of the log that *before* was read from.
        others: entries in between that concern it and that no part of *after* names.
    """
    known = before if before is not None and before.revisions else None
    then, now = build_state(known) if known else None, build_state(after)
    entries = _sort_entries([*list_entries(after).values(), *others], since=since)
    return ClaimChange(
        claim=after.claim,
        before=then,
        after=now,
        why=tell_why(known, after, entries, since=since),
        entries=entries,
        steps=build_steps(known, after) if known else (),
        newly_inverted=is_newly_inverted(then, now),
    )


def build_state(dossier: Dossier) -> ClaimState:
    """Return where the claim of *dossier* stands; it has at least one revision."""
    claim = dossier.current.payload
    file, outcome = find_leading(dossier)
    primary = outcome.payload.classification.primary if outcome else None
    first, specs = find_first_spec(file, outcome.payload) if file and outcome else (None, 0)
    estimate = _find_estimate(file, outcome) if first else None
    return ClaimState(
        identifier=f"{claim.reference}#{dossier.current.entry.leaf[:16]}",
        claim_entry=dossier.current.entry,
        model=claim.model,
        quote=claim.quote,
        quote_status=claim.quote_status,
        form=claim.form,
        relation=claim.relation,
        card=claim.card,
        status=dossier.status,
        class_=primary.class_ if primary else None,
        standing=primary.standing if primary else None,
        mode=primary.mode if primary else None,
        point_class=primary.printed_point_class if primary else None,
        verdict=outcome.payload.text.verdict if outcome else None,
        restricted=outcome.payload.text.restricted if outcome else None,
        audit=outcome.payload.audit if outcome else None,
        outcome_entry=outcome.entry if outcome else None,
        estimate=None if first is None else replace(first, pointwise=None),
        specs=specs,
        theta=claim.theta,
        level=estimate.level if estimate else None,
        margin=estimate.margin if estimate else None,
        range=estimate.range if estimate else None,
    )


def is_newly_inverted(before: ClaimState | None, after: ClaimState) -> bool:
    """Return whether a claim is inverted, and was not."""
    return after.class_ is ClaimClass.INVERTED and (before is None or before.class_ is not ClaimClass.INVERTED)


def has_changed_class(change: ClaimChange) -> bool:
    """Return whether its class is another one; having none before, or none now, is one too."""
    return change.after.class_ is not (change.before.class_ if change.before else None)


def list_other(change: ClaimChange) -> tuple[str, ...]:
    """Return what of `standing`, `mode` and `point_class` is another for a claim of the same class, registered before; else nothing."""
    if change.before is None or has_changed_class(change):
        return ()
    return tuple(name for name in ("standing", "mode", "point_class") if getattr(change.before, name) is not getattr(change.after, name))


def rank_change(change: ClaimChange) -> tuple[int, str]:
    """Return where *change* stands in a report.

    Newly inverted, other changes of class, of how far it reaches within its class, of model, status or text, the rest; by identifier.
    """
    if change.newly_inverted:
        return 0, change.claim
    if has_changed_class(change):
        return 1, change.claim
    if list_other(change):
        return 2, change.claim
    return 3 if _has_changed_status(change) else 4, change.claim


def _has_changed_status(change: ClaimChange) -> bool:
    """Whether a reader has to take it for another than it was: its model, a status, what is left of it."""
    if change.before is None:
        return True
    before, after = change.before, change.after
    axes = ("lifecycle", "dispute", "staleness", "restriction")
    if any(getattr(before.status, axis) is not getattr(after.status, axis) for axis in axes):
        return True
    return (before.model, before.restricted) != (after.model, after.restricted)


def _find_estimate(file: AuditFile | None, outcome: Recorded[Restriction] | None) -> Estimate | None:
    if file is None or outcome is None:
        return None
    return next((one.payload.estimate for one in file.results if one.entry.seq == outcome.payload.result), outcome.payload.estimate)


def _sort_entries(entries: Iterable[Entry], *, since: int) -> tuple[Entry, ...]:
    each = {one.seq: one for one in entries if one.seq > since}
    return tuple(each[seq] for seq in sorted(each))
