"""Claims that need review: which, in what order, what resolves each cause, and what people decided."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from registry.errors import Fault, InputError, NotFoundError
from registry.records.claim_status import CauseKind, Lifecycle, ReviewedCause, StaleCause, Staleness, StalenessReview, StalenessVerdict
from registry.records.dossier import Dossier, Recorded
from registry.records.estimates import SpecEstimate
from registry.records.model_version import ModelRef
from registry.records.specification import PropertySpec
from registry.records.system_card import MatchResult
from registry.records.verdict import ReadingVerdict, RestrictionStatus, lower_reading
from registry.registration.model_lineage import get_head, write_model
from registry.report.claim_outcome import find_counted_standing, find_leading
from registry.store.claim_listing import ClaimSummary
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Stale claims: which may no longer be supported by their evidence, which matter most, and what
# resolves each cause.

# The order of the list: a supported claim that becomes stale misleads more readers than an
# unaudited one.
_WEIGHT = {
    RestrictionStatus.SUPPORTED: 0,
    RestrictionStatus.NARROWED: 0,
    RestrictionStatus.SUSPENDED: 1,
    RestrictionStatus.NOT_SUPPORTED: 1,
    RestrictionStatus.NOT_RESOLVED: 1,
    RestrictionStatus.EXISTENCE_ONLY: 1,
    RestrictionStatus.UNAUDITED: 2,
}
"""How much is lost when the evidence is: an outcome that people rely on, one that warns them, none at all."""


_AUDIT_NEW, _AUDIT_RENEW = "caveat audit new {} > audit.yaml", "caveat stale renew {} --ask NAME -o DIR"


class Remedy(StrEnum):
    """What settles a cause for a claim to be stale."""

    AUDIT = "audit"
    """A new audit, without anybody's decision."""
    REVISION = "revision"
    """A new revision of the claim, with its reason."""
    PERSON = "person"
    """Nothing but a person's decision."""


# A new audit can cover a new definition or method. A successor needs a revision of the claim. A
# deprecation or a changed card needs a judgement.
REMEDIES = {
    CauseKind.SUCCESSOR: Remedy.REVISION,
    CauseKind.DEPRECATION: Remedy.PERSON,
    CauseKind.CARD: Remedy.PERSON,
    CauseKind.SPEC: Remedy.AUDIT,
    CauseKind.METHOD: Remedy.AUDIT,
    CauseKind.OBJECTION: Remedy.AUDIT,
    CauseKind.EXPIRY: Remedy.AUDIT,
    CauseKind.MONITOR: Remedy.AUDIT,
    CauseKind.REVISION: Remedy.AUDIT,
}
"""What settles each kind of cause beside a person's decision, which settles any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemedyStep:
    """One cause of one claim, and what to do about it."""

    cause: StaleCause
    remedy: Remedy
    commands: tuple[str, ...]
    """What settles it, each as it is typed; of several one is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleClaims:
    """The claims that are stale or may be, those that matter most first; without those at their end, on which nothing rests."""

    claims: tuple[ClaimSummary, ...]

    @property
    def confirmed(self) -> int:
        """How many are stale because a person said so."""
        return sum(claim.status.staleness is Staleness.STALE for claim in self.claims)

    def count_kinds(self) -> dict[CauseKind, int]:
        """Return how many claims have a cause of each kind; kinds that none has are excluded."""
        counter = Counter(kind for claim in self.claims for kind in {cause.kind for cause in claim.status.causes})
        return {kind: counter[kind] for kind in CauseKind if counter[kind]}

    def count_remedies(self) -> dict[Remedy, int]:
        """Return how many claims each remedy by itself would settle, as far as any does."""
        # Only claims whose causes all have the same remedy. For the others no single step is
        # enough.
        counter = Counter(REMEDIES[next(iter(kinds))] for kinds in map(_kinds, self.claims) if len({REMEDIES[kind] for kind in kinds}) == 1)
        return {remedy: counter[remedy] for remedy in Remedy if counter[remedy]}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownOutcome:
    """What is on record of a claim that may no longer stand."""

    claim: ClaimSummary
    verdict: ReadingVerdict | None
    """The outcome that counts; None without one."""
    estimates: tuple[SpecEstimate, ...] = ()
    """What that rests on; empty without numbers."""


def find_stale(view: View, *, model: ModelRef | None = None, card: str | None = None) -> StaleClaims:
    """Return the claims that are stale or may be: about *model* only, or of the card *card* only, where these are given.

    First the claims with an outcome that people rely on (supported, narrowed), then those with another outcome, then unaudited ones; among
    these published before others, confirmed before potential, more causes before fewer, then in log order.
    """
    summaries = [summary for summary in view.list_stale(model=model) if card is None or _is_of(summary, card)]
    return StaleClaims(claims=tuple(sorted(summaries, key=_weigh)))


def find_so_far(view: View, claims: Sequence[ClaimSummary]) -> list[KnownOutcome]:
    """Return what is on record of each of *claims*, in their order."""
    # All dossiers in one call, so that shared cards and definitions are read once.
    dossiers = view.dossiers([claim.claim for claim in claims])
    return [_read_so_far(summary, dossier) for summary, dossier in zip(claims, dossiers, strict=True)]


def count_classes(view: View, claims: Iterable[ClaimSummary]) -> dict[str, int]:
    """Return how many of *claims* are of each property class, most first; `sealed` for a property that cannot be read."""
    counted = Counter(claim.property for claim in claims)
    classes: Counter[str] = Counter()
    for reference, number in counted.items():
        body = view.find_opened(reference)
        classes[body.class_.value if isinstance(body, PropertySpec) else "sealed"] += number
    return dict(classes.most_common())


def count_cards(claims: Iterable[ClaimSummary]) -> dict[str, int]:
    """Return how many of *claims* quote each card, `CRD-…`, most first; `none` for claims that are known from elsewhere."""
    return dict(Counter(claim.card.partition("@")[0] if claim.card else "none" for claim in claims).most_common())


@dataclass(slots=True)
class RemedyPlanner:
    """Says for the causes of claims what settles them; lineage and passage matches are read once."""

    view: View
    _match_results: dict[str, dict[str, MatchResult]] = field(default_factory=dict)
    _locked: frozenset[str] | None = None
    _targets: dict[tuple[ModelRef, str], tuple[ModelRef, ...]] = field(default_factory=dict)

    def find(self, claim: ClaimSummary) -> tuple[RemedyStep, ...]:
        """Return what to do about each cause of *claim*, in their order."""
        return tuple(
            RemedyStep(cause=cause, remedy=REMEDIES[cause.kind], commands=self._find_commands(claim, cause))
            for cause in claim.status.causes
        )

    def _find_commands(self, claim: ClaimSummary, cause: StaleCause) -> tuple[str, ...]:
        match cause.kind:
            case CauseKind.SUCCESSOR:
                return tuple(
                    f'caveat stale apply {claim.claim} --to {write_model(target)} --reason "…"'
                    for target in self._find_targets(claim, cause)
                )
            case CauseKind.CARD:
                return self._find_card_commands(claim, cause)
            case CauseKind.DEPRECATION:
                return _decide(claim, cause)
            case CauseKind.SPEC:
                return (_AUDIT_NEW.format(claim.claim),)
            case CauseKind.METHOD | CauseKind.OBJECTION | CauseKind.EXPIRY | CauseKind.MONITOR | CauseKind.REVISION:
                return ((_AUDIT_RENEW if self._is_locked(claim) else _AUDIT_NEW).format(claim.claim),)

    def _is_locked(self, claim: ClaimSummary) -> bool:
        """Whether there is a locked plan that could be carried out again."""
        if self._locked is None:
            self._locked = self.view.list_locked_claims()
        return claim.claim in self._locked

    def _find_targets(self, claim: ClaimSummary, cause: StaleCause) -> tuple[ModelRef, ...]:
        """Return the newest versions that come from the one that *cause* names; of a lineage that branches, those on its branch."""
        key = (claim.model, cause.what)
        if key not in self._targets:
            self._targets[key] = self._list_targets(claim, cause)
        return self._targets[key]

    def _list_targets(self, claim: ClaimSummary, cause: StaleCause) -> tuple[ModelRef, ...]:
        lineage = self.view.lineage()
        named = next((ref for ref in lineage.successors(claim.model) if str(ref) == cause.what), None)
        # The end of the lineage, not the direct successor: otherwise a claim would be moved step by
        # step.
        newest = lineage.newest(claim.model)
        return tuple(ref for ref in newest if named is None or ref == named or lineage.find_path(named, ref)) or newest

    def _find_card_commands(self, claim: ClaimSummary, cause: StaleCause) -> tuple[str, ...]:
        card = cause.what.partition("@")[0]
        match self._find_match_result(claim, cause.what):
            case MatchResult.REWORDED:
                return (f"caveat claim reword {claim.claim}",)
            case MatchResult.GONE:
                return (f'caveat claim withdraw {claim.claim} --reason "…"', f'caveat claim reword {claim.claim} --quote "…"')
            case None if self._has_passage(claim):
                return (f"caveat card diff {card} --record",)
            case _:
                return _decide(claim, cause)

    def _has_passage(self, claim: ClaimSummary) -> bool:
        """Whether the claim quotes its card, so that its passage can be looked up in a newer revision."""
        revision = self.view.find_claim(claim.claim) if claim.quote is not None else None
        return revision is not None and revision.payload.anchor is not None

    def _find_match_result(self, claim: ClaimSummary, card: str) -> MatchResult | None:
        if card not in self._match_results:
            self._match_results[card] = {
                passage_match.payload.claim: passage_match.payload.match_result
                for passage_match in self.view.list_passage_matches(card=card)
            }
        return self._match_results[card].get(f"{claim.claim}@{claim.revision}")


def _decide(claim: ClaimSummary, cause: StaleCause) -> tuple[str, ...]:
    return tuple(f'caveat stale {verb} {claim.claim} --cause {cause.kind.value} --reason "…"' for verb in ("dismiss", "confirm"))


def _kinds(claim: ClaimSummary) -> set[CauseKind]:
    return {cause.kind for cause in claim.status.causes}


def _is_of(claim: ClaimSummary, card: str) -> bool:
    return claim.card is not None and card in (claim.card, claim.card.partition("@")[0])


def _weigh(claim: ClaimSummary) -> tuple[int, bool, bool, int, int]:
    # A negated count sorts more causes first within an ascending key.
    status = claim.status
    is_published, is_confirmed = status.lifecycle is Lifecycle.PUBLISHED, status.staleness is Staleness.STALE
    return _WEIGHT[status.restriction], not is_published, not is_confirmed, -len(status.causes), claim.seq


def _read_so_far(claim: ClaimSummary, dossier: Dossier) -> KnownOutcome:
    file, outcome = find_leading(dossier) if dossier.revisions else (None, None)
    if file is None or outcome is None:
        return KnownOutcome(claim=claim, verdict=None)
    payload = outcome.payload
    by_entry = {result.entry.seq: result.payload.estimate for result in file.results}
    # A reported outcome carries its own estimate. One from a replay refers to its result entry.
    estimate = payload.estimate if payload.result is None else by_entry.get(payload.result)
    reading = lower_reading(payload.classification.primary, find_counted_standing(dossier, outcome))
    return KnownOutcome(claim=claim, verdict=reading, estimates=estimate.specs if estimate else ())


# Reviews: what people decide about changes that may affect a claim.


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
        InputError: no such claim, or it has no text; `nothing-to-review`, it has no cause; `unknown-name`, it has none that is called so;
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
    # Causes of all claims in one pass, before any review is recorded.
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
    entries = iter(writer.append_many([review for review in built if review is not None]))
    return [None if review is None else Recorded(entry=next(entries), payload=review) for review in built]


def name_cause(cause: StaleCause | ReviewedCause) -> str:
    """Return what `--cause` takes for *cause*."""
    return f"{cause.kind.value}:{cause.what}"


def _build_review(
    view: View, claim: str, stale_causes: Iterable[StaleCause], verdict: StalenessVerdict, *, why: str, causes: Sequence[NamedCause] | None
) -> StalenessReview | None:
    """Return what is to be recorded of *claim*, whose causes are *there*; None where it is on record."""
    head = get_head(view, claim).payload
    if not why.strip():
        raise InputError(Fault("reason-missing", head.reference, "a decision needs its reason", advice='--reason "…"'))
    decided = _find_decided(stale_causes, view.list_reviews(head.reference))
    # "All causes" means those still open. A dismissed one is only reviewed again by name.
    if causes is None:
        chosen = [cause for cause, staleness_verdict in decided.items() if staleness_verdict is not StalenessVerdict.DISMISSED]
    else:
        chosen = _choose(head.reference, decided, causes)
    # A repeated decision records nothing.
    pending = tuple(cause for cause in chosen if decided[cause] is not verdict)
    if pending:
        return StalenessReview(claim=head.reference, verdict=verdict, causes=pending, why=why.strip())
    if not chosen and verdict not in decided.values():
        problem, advice = "nothing is on record that it may not have survived", f"caveat claim show {head.claim}"
        raise InputError(Fault("nothing-to-review", head.reference, problem, advice=advice))
    return None


def _find_decided(
    causes: Iterable[StaleCause], reviews: Iterable[Recorded[StalenessReview]]
) -> dict[ReviewedCause, StalenessVerdict | None]:
    """Return the last decision on each of *causes*; None without one after the entry that recorded the cause."""
    # Reviews come in log order, so the last decision on each cause remains.
    last = {cause: review for review in reviews for cause in review.payload.causes}
    verdicts: dict[ReviewedCause, StalenessVerdict | None] = {}
    for stale_cause in causes:
        cause = ReviewedCause(kind=stale_cause.kind, what=stale_cause.what)
        staleness_review = last.get(cause)
        verdicts[cause] = (
            staleness_review.payload.verdict if staleness_review is not None and staleness_review.entry.seq > stale_cause.entry else None
        )
    return verdicts


def _choose(claim: str, reviewed_causes: Collection[ReviewedCause], named: Sequence[NamedCause]) -> list[ReviewedCause]:
    """Return those of *there* that are *named*; raises InputError with every name that is none of them."""
    chosen: dict[ReviewedCause, None] = {}
    faults = []
    for named_cause in named:
        causes = [cause for cause in reviewed_causes if cause.kind is named_cause.kind and named_cause.what in (None, cause.what)]
        chosen |= dict.fromkeys(causes)
        if not causes:
            known = "; ".join(map(name_cause, reviewed_causes)) or "none"
            faults.append(Fault("unknown-name", claim, f"{named_cause} is not a cause of it", advice=f"its causes: {known}"))
    if faults:
        raise InputError(faults)
    return list(chosen)
