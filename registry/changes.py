"""What changed in a registry between two of its entries: two readings become a change report, at a cost in proportion to what changed."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from registry.codec.inclusion import list_entries
from registry.errors import Fault, InputError, NotFoundError
from registry.records.dossier import Dossier
from registry.records.record import Kind
from registry.records.statement import Entry
from registry.records.supplement import ChangeReport, ClaimChange, Occasion, name_report
from registry.report.change import build_change, rank_change
from registry.report.occasions import find_occasions
from registry.store.derived import RowCheck
from registry.store.seals import prove
from registry.store.states import find_states
from registry.store.view import View

_AT_ONCE = 100
"""Claims whose dossiers are held together, before and after."""


def collect_changes(before: View, after: View, *, claims: Sequence[str] | None = None, scope: str | None = None) -> ChangeReport:
    """Return what changed of each claim from *before* to *after*, two readings of one log.

    Whether a claim changed is told by the state of its newest revision (`registry.store.states`); only those that did are read. What is
    printed is decoded, and what is current or stale is read off rows, so rows are compared with their statements.

    Args:
        claims: `CLM-…`, the only ones that are told of; None for every one of the registry.
        scope: what *claims* are, in words; None where they are all.

    Raises:
        InputError: *before* sees more entries than *after*, or another log.
        NotFoundError: the registry is empty, or one of *claims* is not registered.
        AlteredError: a row was edited by hand.
    """
    _refuse_other(before, after)
    then, now = _find_newest(before, claims), _find_newest(after, claims)
    _refuse_unknown(now, claims, after)
    gathered = _Gathered()
    changed = sorted(claim for claim, state in now.items() if then.get(claim) != state)
    rows = RowCheck(after)
    for start in range(0, len(changed), _AT_ONCE):
        _gather(gathered, before, after, changed[start : start + _AT_ONCE], rows)
    return _build_report(before, after, gathered, claims=claims, scope=scope, unchanged=len(now) - len(changed))


def list_changed(before: View, after: View, *, claims: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the claims, `CLM-…` ascending, whose newest revision is another in *after*, or stands otherwise."""
    then, now = _find_newest(before, claims), _find_newest(after, claims)
    return tuple(sorted(claim for claim, state in now.items() if then.get(claim) != state))


@dataclass(slots=True)
class _Gathered:
    """What was found so far."""

    changes: list[ClaimChange] = field(default_factory=list)
    occasions: dict[int, Occasion] = field(default_factory=dict)
    erased: list[str] = field(default_factory=list)


def _find_newest(view: View, claims: Collection[str] | None) -> dict[str, tuple[int, str]]:
    """Return the newest revision of each claim that has one, with its state."""
    newest: dict[str, tuple[int, str]] = {}
    wanted = None if claims is None else frozenset(claims)
    for name, state in find_states(view).items():
        claim, _, revision = name.partition("@")
        is_wanted = claim.startswith(f"{Kind.CLAIM}-") and (wanted is None or claim in wanted)
        if is_wanted and int(revision) > newest.get(claim, (0, ""))[0]:
            newest[claim] = (int(revision), state)
    return newest


def _gather(gathered: _Gathered, before: View, after: View, claims: Sequence[str], rows: RowCheck) -> None:
    earlier = {one.claim: one for one in _read(before, [claim for claim in claims if before.claim_exists(claim)])}
    later = {one.claim: one for one in _read(after, claims)}
    told = [claim for claim in claims if claim in later and (claim in earlier or not before.claim_exists(claim))]
    gathered.erased += sorted({*claims}.difference(told))
    read = [side[claim] for side in (earlier, later) for claim in told if claim in side]
    rows.check({seq for one in read for seq in list_entries(one)}, told)
    for claim in told:
        now = later[claim]
        others = _find_others(after, now)
        gathered.changes.append(build_change(earlier.get(claim), now, since=before.log_size, others=others))
        for one in find_occasions(now, since=before.log_size, others=others):
            gathered.occasions.setdefault(one.entry.seq, one)


def _read(view: View, claims: Sequence[str]) -> Iterator[Dossier]:
    """Yield what is known of each of *claims*, but for those of which a statement was erased: halves are asked until they are found."""
    try:
        yield from list(view.dossiers(claims))
    except NotFoundError as error:
        if error.code != "body-erased":
            raise
        middle = len(claims) // 2
        if middle:
            yield from _read(view, claims[:middle])
            yield from _read(view, claims[middle:])


def _find_others(view: View, dossier: Dossier) -> tuple[Entry, ...]:
    """Return the entries that the claim's causes to be stale number and that no part of its dossier names."""
    known = list_entries(dossier)
    found = (view.find_entry(seq) for seq in sorted({one.entry for one in dossier.status.causes} - known.keys()))
    return tuple(one for one in found if one is not None)


def _build_report(
    before: View, after: View, gathered: _Gathered, *, claims: Sequence[str] | None, scope: str | None, unchanged: int
) -> ChangeReport:
    first, last = before.find_entry(before.log_size), after.find_entry(after.log_size)
    if last is None:
        raise NotFoundError(Fault(code="empty-registry", where="registry", found="nothing is recorded yet", advice="caveat card add FILE"))
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
        changes=tuple(sorted(gathered.changes, key=rank_change)),
        unchanged=unchanged,
        claims=named,
        erased=tuple(gathered.erased),
    )
    return replace(report, inclusion=prove(after, list_entries(report)))


def _refuse_other(before: View, after: View) -> None:
    if before.log_id != after.log_id:
        raise InputError(Fault(code="other-log", where=before.log_origin, found=f"is compared with {after.log_origin}, another log"))
    if before.log_size > after.log_size:
        found = f"it begins after entry {before.log_size}, and ends with entry {after.log_size}"
        raise InputError(
            Fault(code="since-after-end", where="change report", found=found, advice="name an earlier entry or date as its beginning")
        )


def _refuse_unknown(known: Collection[str], claims: Iterable[str] | None, view: View) -> None:
    faults = [
        Fault(
            code="not-registered",
            where=claim,
            found="no such claim has a text here",
            advice=", ".join(view.suggest(claim)) or "caveat claim list",
        )
        for claim in dict.fromkeys(claims or ())
        if claim not in known
    ]
    if faults:
        raise NotFoundError(faults)
