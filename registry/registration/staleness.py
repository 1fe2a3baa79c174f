"""Which claims may no longer stand on evidence, which of them matter most, and what settles each cause."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from registry.records.classification import ReadingVerdict, RestrictionStatus
from registry.records.dossier import Dossier
from registry.records.estimate import SpecEstimate
from registry.records.model import ModelRef
from registry.records.spec import PropertySpec
from registry.records.status import CauseKind, Lifecycle, StaleCause, Staleness
from registry.records.survey import Fate
from registry.registration.carrying import write_model
from registry.report.leading import find_leading
from registry.store.summary import ClaimSummary
from registry.store.view import View

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


_AUDIT_NEW, _AUDIT_RENEW = "caveat audit new {} > audit.yaml", "caveat audit renew {} --ask NAME -o DIR"


class Remedy(StrEnum):
    """What settles a cause for a claim to be stale."""

    AUDIT = "audit"
    """A new audit, without anybody's decision."""
    REVISION = "revision"
    """A new revision of the claim, with its reason."""
    PERSON = "person"
    """Nothing but a person's decision."""


REMEDIES = {
    CauseKind.SUCCESSOR: Remedy.REVISION,
    CauseKind.DEPRECATION: Remedy.PERSON,
    CauseKind.CARD: Remedy.PERSON,
    CauseKind.SPEC: Remedy.AUDIT,
    CauseKind.METHOD: Remedy.AUDIT,
    CauseKind.CONTESTATION: Remedy.AUDIT,
    CauseKind.EXPIRY: Remedy.AUDIT,
    CauseKind.REVISION: Remedy.AUDIT,
}
"""What settles each kind of cause beside a person's decision, which settles any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
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
        return sum(one.status.staleness is Staleness.STALE for one in self.claims)

    def count_kinds(self) -> dict[CauseKind, int]:
        """Return how many claims have a cause of each kind; kinds that none has are left out."""
        found = Counter(kind for one in self.claims for kind in {cause.kind for cause in one.status.causes})
        return {kind: found[kind] for kind in CauseKind if found[kind]}

    def count_remedies(self) -> dict[Remedy, int]:
        """Return how many claims each remedy alone would settle, as far as any does."""
        found = Counter(REMEDIES[next(iter(one))] for one in map(_kinds, self.claims) if len({REMEDIES[kind] for kind in one}) == 1)
        return {remedy: found[remedy] for remedy in Remedy if found[remedy]}


@dataclass(frozen=True, slots=True, kw_only=True)
class SoFar:
    """What is on record of a claim that may no longer stand."""

    claim: ClaimSummary
    verdict: ReadingVerdict | None
    """The outcome that counts; None without one."""
    estimates: tuple[SpecEstimate, ...] = ()
    """What that rests on; empty without numbers."""


def find_stale(view: View, *, model: ModelRef | None = None, card: str | None = None) -> StaleClaims:
    """Return the claims that are stale or may be: about *model* alone, or of the card *card* alone, where these are given.

    First the claims whose outcome people rely on (supported, narrowed), then those with another outcome, then unaudited ones; among
    these published before others, confirmed before potential, more causes before fewer, then in log order.
    """
    found = [one for one in view.list_stale(model=model) if card is None or _is_of(one, card)]
    return StaleClaims(claims=tuple(sorted(found, key=_weigh)))


def find_so_far(view: View, claims: Sequence[ClaimSummary]) -> list[SoFar]:
    """Return what is on record of each of *claims*, in their order."""
    dossiers = view.dossiers([one.claim for one in claims])
    return [_read_so_far(one, dossier) for one, dossier in zip(claims, dossiers, strict=True)]


def count_classes(view: View, claims: Iterable[ClaimSummary]) -> dict[str, int]:
    """Return how many of *claims* are of each property class, most first; `sealed` for a property that cannot be read."""
    counted = Counter(one.property for one in claims)
    classes: Counter[str] = Counter()
    for reference, number in counted.items():
        body = view.find_opened(reference)
        classes[body.class_.value if isinstance(body, PropertySpec) else "sealed"] += number
    return dict(classes.most_common())


def count_cards(claims: Iterable[ClaimSummary]) -> dict[str, int]:
    """Return how many of *claims* quote each card, `CRD-…`, most first; `none` for claims that are known from elsewhere."""
    return dict(Counter(one.card.partition("@")[0] if one.card else "none" for one in claims).most_common())


@dataclass(slots=True)
class Steps:
    """Says for the causes of claims what settles them; lineage and sightings are read once."""

    view: View
    _fates: dict[str, dict[str, Fate]] = field(default_factory=dict)
    _locked: frozenset[str] | None = None

    def find(self, claim: ClaimSummary) -> tuple[Step, ...]:
        """Return what to do about each cause of *claim*, in their order."""
        return tuple(
            Step(cause=cause, remedy=REMEDIES[cause.kind], commands=self._find_commands(claim, cause)) for cause in claim.status.causes
        )

    def _find_commands(self, claim: ClaimSummary, cause: StaleCause) -> tuple[str, ...]:
        match cause.kind:
            case CauseKind.SUCCESSOR:
                return tuple(
                    f'caveat claim carry {claim.claim} --to {write_model(one)} --why "…"' for one in self._find_targets(claim, cause)
                )
            case CauseKind.CARD:
                return self._find_card_commands(claim, cause)
            case CauseKind.DEPRECATION:
                return _decide(claim, cause)
            case CauseKind.SPEC:
                return (_AUDIT_NEW.format(claim.claim),)
            case CauseKind.METHOD | CauseKind.CONTESTATION | CauseKind.EXPIRY | CauseKind.REVISION:
                return ((_AUDIT_RENEW if self._is_locked(claim) else _AUDIT_NEW).format(claim.claim),)

    def _is_locked(self, claim: ClaimSummary) -> bool:
        """Whether there is a locked plan that could be carried out again."""
        if self._locked is None:
            self._locked = self.view.list_locked_claims()
        return claim.claim in self._locked

    def _find_targets(self, claim: ClaimSummary, cause: StaleCause) -> tuple[ModelRef, ...]:
        """Return the newest versions that come from the one that *cause* names; of a lineage that branches, those on its branch."""
        lineage = self.view.lineage()
        named = next((one for one in lineage.successors(claim.model) if str(one) == cause.what), None)
        newest = lineage.newest(claim.model)
        return tuple(one for one in newest if named is None or one == named or lineage.find_path(named, one)) or newest

    def _find_card_commands(self, claim: ClaimSummary, cause: StaleCause) -> tuple[str, ...]:
        card = cause.what.partition("@")[0]
        match self._find_fate(claim, cause.what):
            case Fate.REWORDED:
                return (f"caveat claim reword {claim.claim}",)
            case Fate.GONE:
                return (f'caveat claim withdraw {claim.claim} --reason "…"', f'caveat claim reword {claim.claim} --quote "…"')
            case None if self._has_passage(claim):
                return (f"caveat card diff {card} --record",)
            case _:
                return _decide(claim, cause)

    def _has_passage(self, claim: ClaimSummary) -> bool:
        """Whether the claim quotes its card, so that its passage can be looked up in a newer revision."""
        found = self.view.find_claim(claim.claim) if claim.quote is not None else None
        return found is not None and found.payload.anchor is not None

    def _find_fate(self, claim: ClaimSummary, card: str) -> Fate | None:
        if card not in self._fates:
            self._fates[card] = {one.payload.claim: one.payload.fate for one in self.view.list_sightings(card=card)}
        return self._fates[card].get(f"{claim.claim}@{claim.revision}")


def _decide(claim: ClaimSummary, cause: StaleCause) -> tuple[str, ...]:
    return tuple(f'caveat claim {verb} {claim.claim} --cause {cause.kind.value} --why "…"' for verb in ("dismiss", "confirm"))


def _kinds(claim: ClaimSummary) -> set[CauseKind]:
    return {one.kind for one in claim.status.causes}


def _is_of(claim: ClaimSummary, card: str) -> bool:
    return claim.card is not None and card in (claim.card, claim.card.partition("@")[0])


def _weigh(claim: ClaimSummary) -> tuple[int, bool, bool, int, int]:
    status = claim.status
    is_published, is_confirmed = status.lifecycle is Lifecycle.PUBLISHED, status.staleness is Staleness.STALE
    return _WEIGHT[status.restriction], not is_published, not is_confirmed, -len(status.causes), claim.seq


def _read_so_far(claim: ClaimSummary, dossier: Dossier) -> SoFar:
    file, outcome = find_leading(dossier) if dossier.revisions else (None, None)
    if file is None or outcome is None:
        return SoFar(claim=claim, verdict=None)
    said = outcome.payload
    by_entry = {one.entry.seq: one.payload.estimate for one in file.results}
    estimate = said.estimate if said.result is None else by_entry.get(said.result)
    return SoFar(claim=claim, verdict=said.classification.primary, estimates=estimate.specs if estimate else ())
