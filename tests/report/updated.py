"""What models, cards and people did after a claim was audited: stale, carried and superseded claims."""

from dataclasses import replace
from datetime import date

from registry.records.claim_status import CauseKind, ReviewedCause, StaleCause, Staleness, StalenessReview, StalenessVerdict, Status
from registry.records.dossier import Dossier, EntrySupersession, Recorded
from registry.records.model_version import Descent, ModelEvent, ModelEventKind, ModelRef, ModelVersion
from registry.records.supplement import CardSupplement, Supplement
from registry.records.system_card import Card
from registry.records.verdict import RestrictionStatus
from registry.report.supplement_assembly import assemble_card, assemble_claim
from tests.report.builders import CLAIM, MADE_AT, MODEL, ORIGIN, Log, card
from tests.report.covered import full
from tests.report.dossiers import degraded, inverted, unaudited

NEXT = ModelRef(developer="Example Lab", name="Sparrow", version="2.2-2026-11-02")
WHY_STALE = "The suite of 2.2 was rewritten; the 5 % are of a model that is no longer offered."
WHY_CARRIED = "The lab claims the same of 2.2 in its release notes; the suite is unchanged."
WHY_DISMISSED = "Only a table of contents was added."
FIRST, SECOND = f"{CLAIM}@1", f"{CLAIM}@2"


class Update:
    """What was recorded after the audit of `inverted`, and the claim as it stands then."""

    def __init__(self, *, why: str | None = None) -> None:
        """Say everything; *why* in place of each reason that a person gives."""
        self.log = Log()
        self.log.size = 60
        self.base = inverted()
        self.version = self.log.say(ModelVersion(model=NEXT, predecessor=None, released=date(2026, 11, 2)))
        self.follow = self.log.say(ModelEvent(model=NEXT, event=ModelEventKind.FOLLOW, predecessor=MODEL, descent=Descent.SUCCESSOR))
        self.end = self.log.say(
            ModelEvent(model=MODEL, event=ModelEventKind.DEPRECATE, on=date(2027, 1, 31), reason=why or "replaced by 2.2")
        )
        changed = ReviewedCause(kind=CauseKind.CARD, what="CRD-EXAMPLE-2026-0007-7@2")
        self.dismissed = self._review(StalenessVerdict.DISMISSED, changed, why or WHY_DISMISSED)
        followed = ReviewedCause(kind=CauseKind.SUCCESSOR, what=str(NEXT))
        self.confirmed = self._review(StalenessVerdict.CONFIRMED, followed, why or WHY_STALE)
        claim = replace(self.base.current.payload, revision=2, model=NEXT, why=why or WHY_CARRIED)
        self.carrying = self.log.say(claim, "INST")

    def potential(self) -> Dossier:
        """No one has looked at what followed; a newer card was dismissed."""
        causes = (self.cause(CauseKind.SUCCESSOR), self.cause(CauseKind.DEPRECATION))
        return self._told(Staleness.NEEDS_REVIEW, causes, reviews=(self.dismissed,))

    def stale(self) -> Dossier:
        """A person confirmed that the successor took away what it rests on; the deprecation waits."""
        causes = (self.cause(CauseKind.DEPRECATION), self.cause(CauseKind.SUCCESSOR))
        return self._told(Staleness.STALE, causes, reviews=(self.dismissed, self.confirmed))

    def carried(self) -> Dossier:
        """A second revision is about the next version."""
        revised = StaleCause(kind=CauseKind.REVISION, what=SECOND, entry=self.carrying.entry.seq, text="the claim was revised to @2")
        told = self._told(Staleness.NEEDS_REVIEW, (revised,), reviews=(self.dismissed, self.confirmed))
        status = replace(told.status, restriction=RestrictionStatus.UNAUDITED)
        return replace(told, revisions=(*self.base.revisions, self.carrying), status=status, model=self.version, successors=())

    def cause(self, kind: CauseKind) -> StaleCause:
        """A cause of *kind*: successor or deprecation."""
        if kind is CauseKind.SUCCESSOR:
            return StaleCause(kind=kind, what=str(NEXT), entry=self.follow.entry.seq, text=f"{MODEL} was followed by {NEXT}")
        return StaleCause(kind=kind, what=str(MODEL), entry=self.end.entry.seq, text=f"{MODEL} was deprecated")

    def superseded(self) -> EntrySupersession:
        """That the second revision took the place of the first."""
        why = ("Revision 2 carries it to another version.", f"{MODEL} was followed by {NEXT}.")
        return EntrySupersession(name=SECOND, entry=self.carrying.entry, log_size=80, why=why)

    def _review(self, verdict: StalenessVerdict, cause: ReviewedCause, why: str) -> Recorded[StalenessReview]:
        return self.log.say(StalenessReview(claim=FIRST, verdict=verdict, causes=(cause,), why=why), "INST")

    def _told(self, staleness: Staleness, causes: tuple[StaleCause, ...], *, reviews: tuple[Recorded[StalenessReview], ...]) -> Dossier:
        old = self.base.status
        status = Status(
            lifecycle=old.lifecycle,
            dispute=old.dispute,
            staleness=staleness,
            restriction=old.restriction,
            stale_because=tuple(one.text for one in causes),
            causes=causes,
        )
        events = (self.follow, self.end)
        size = self.log.size
        return replace(self.base, log_size=size, status=status, model_events=events, reviews=reviews, successors=(self.version,))


def draw(dossier: Dossier, *entries: Recorded[ModelEvent]) -> Supplement:
    """The supplement of *dossier*, which names *entries* for its causes."""
    return replace(assemble_claim(dossier, made_at=MADE_AT), cause_entries=tuple(one.entry for one in entries))


def draw_card(*dossiers: Dossier, revision: int = 3) -> CardSupplement:
    """The supplement of a card of *dossiers*."""
    source: Recorded[Card] = card(Log(), revision)
    return assemble_card(list(dossiers), source, coverage=full(), log_origin=ORIGIN, log_size=70, made_at=MADE_AT)


def list_updated() -> dict[str, Supplement | CardSupplement]:
    """One supplement of each kind, by what it shows."""
    update = Update()
    potential = draw(update.potential(), update.follow, update.end)
    several = draw_card(update.stale(), degraded(), unaudited(), update.potential())
    return {
        "needs-review": potential,
        "stale": draw(update.stale(), update.follow, update.end),
        "carried": draw(update.carried()),
        "superseded": replace(potential, superseded=update.superseded()),
        "card-stale": several,
        "card-superseded": replace(several, superseded=replace(update.superseded(), name="CRD-EXAMPLE-2026-0007-7@4")),
    }
