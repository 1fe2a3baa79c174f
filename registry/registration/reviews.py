"""What people decide of changes that claims may not have survived."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from registry.errors import Fault, InputError, NotFoundError
from registry.records.dossier import Recorded
from registry.records.staleness import ReviewedCause, StalenessReview, StalenessVerdict
from registry.records.status import CauseKind, StaleCause
from registry.registration.lineage import get_head
from registry.store.view import View
from registry.store.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCause:
    """Causes as a person names them."""

    kind: CauseKind
    what: str | None = None
    """None means: all of the kind."""

    def __str__(self) -> str:
        return self.kind.value if self.what is None else f"{self.kind.value}:{self.what}"


def review_claim(
    writer: Writer, claim: str, verdict: StalenessVerdict, *, why: str, causes: Sequence[NamedCause] | None = None
) -> Recorded[StalenessReview] | None:
    """Record a person's decision on causes for the current revision of *claim*, `CLM-…`, to be stale; None where it is on record.

    Args:
        why: what the decision rests on.
        causes: those that are decided; None means all that the claim has.

    Raises:
        InputError: no such claim, or it has no text; `nothing-to-review`, it has no cause; `cause-unknown`, it has none that is called so;
            *why* is blank.
    """
    return review_claims(writer, [claim], verdict, why=why, causes=causes)[0]


def review_claims(
    writer: Writer, claims: Iterable[str], verdict: StalenessVerdict, *, why: str, causes: Sequence[NamedCause] | None = None
) -> list[Recorded[StalenessReview] | None]:
    """Record a decision on each of *claims*, as `review_claim` does; all or none.

    Raises:
        CaveatError: as `review_claim`, with the faults of all claims.
    """
    names = list(dict.fromkeys(claims))
    there = writer.find_causes(names)
    built: list[StalenessReview | None] = []
    faults: list[Fault] = []
    for claim in names:
        try:
            built.append(_build_review(writer, claim, there.get(claim, ()), verdict, why=why, causes=causes))
        except (InputError, NotFoundError) as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    entries = iter(writer.append_many([said for said in built if said is not None]))
    return [None if said is None else Recorded(entry=next(entries), payload=said) for said in built]


def name_cause(cause: StaleCause | ReviewedCause) -> str:
    """Return what `--cause` takes for *cause*."""
    return f"{cause.kind.value}:{cause.what}"


def _build_review(
    view: View, claim: str, there: Iterable[StaleCause], verdict: StalenessVerdict, *, why: str, causes: Sequence[NamedCause] | None
) -> StalenessReview | None:
    """Return what is to be recorded of *claim*, whose causes are *there*; None where it is on record."""
    head = get_head(view, claim).payload
    if not why.strip():
        raise InputError(Fault(code="why-missing", where=head.reference, found="a decision needs its reason", advice='--why "…"'))
    decided = _find_decided(there, view.list_reviews(head.reference))
    if causes is None:
        chosen = [one for one, said in decided.items() if said is not StalenessVerdict.DISMISSED]
    else:
        chosen = _choose(head.reference, decided, causes)
    pending = tuple(one for one in chosen if decided[one] is not verdict)
    if pending:
        return StalenessReview(claim=head.reference, verdict=verdict, causes=pending, why=why.strip())
    if not chosen and verdict not in decided.values():
        found, advice = "nothing is on record that it may not have survived", f"caveat claim show {head.claim}"
        raise InputError(Fault(code="nothing-to-review", where=head.reference, found=found, advice=advice))
    return None


def _find_decided(
    causes: Iterable[StaleCause], reviews: Iterable[Recorded[StalenessReview]]
) -> dict[ReviewedCause, StalenessVerdict | None]:
    """Return the last decision on each of *causes*; None without one after the entry that recorded the cause."""
    last = {cause: one for one in reviews for cause in one.payload.causes}
    found: dict[ReviewedCause, StalenessVerdict | None] = {}
    for one in causes:
        cause = ReviewedCause(kind=one.kind, what=one.what)
        said = last.get(cause)
        found[cause] = said.payload.verdict if said is not None and said.entry.seq > one.entry else None
    return found


def _choose(claim: str, there: Collection[ReviewedCause], named: Sequence[NamedCause]) -> list[ReviewedCause]:
    """Return those of *there* that are *named*; raises InputError with every name that is none of them."""
    chosen: dict[ReviewedCause, None] = {}
    faults = []
    for one in named:
        found = [cause for cause in there if cause.kind is one.kind and one.what in (None, cause.what)]
        chosen |= dict.fromkeys(found)
        if not found:
            known = "; ".join(map(name_cause, there)) or "none"
            faults.append(Fault(code="cause-unknown", where=claim, found=f"{one} is no cause of it", advice=f"its causes: {known}"))
    if faults:
        raise InputError(faults)
    return list(chosen)
