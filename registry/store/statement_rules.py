"""What may follow what is recorded: rules for cards, claims, audits, runs and verdicts, before the database refuses."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Table, func, select

from registry.errors import CaveatError, Fault
from registry.records.analysis_plan import Deviation, Exploration, Lock, list_plan_differences
from registry.records.audit_case import Audit, EvidenceStatement, Result
from registry.records.claim import ClaimEvent, ClaimEventKind, ClaimRelation, ClaimRevision, Form, Origin, QuoteStatus
from registry.records.claim_status import Contestation, ContestationEvent, ContestationStep, StalenessReview
from registry.records.log_seal import Equivocation, Erasure, KeyEvent, LogImport, Witnessing
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelVersion
from registry.records.module_findings import Finding
from registry.records.record import Authority, Kind, parse_identifier
from registry.records.replay_run import Run, RunEnd, RunStart
from registry.records.specification import Reveal, SpecKind, SpecVersion
from registry.records.statement import Payload, Publication
from registry.records.system_card import Anchor, Card, Omission, PassageMatch, Survey
from registry.records.verdict import Basis, ClaimClass, Restriction, Standing, VerdictStanding
from registry.store.database_tables import (
    authority,
    claim_origin,
    claim_relation,
    claim_revision,
    entry,
    lock,
    log,
    log_import,
    omission,
    run,
    run_start,
    sighting,
    spec_version,
)
from registry.store.database_tables import result as results
from registry.store.log_reader import LogReader
from registry.store.model_and_trust_rules import Lineage, LineageRules, Trust, TrustRules, find_endpoint_faults
from registry.store.registry_view import View
from registry.store.statement_rows import split_reference
from registry.store.status_derivation import TERMINAL, FactFinder, derive_lifecycle

# Rules for card passages: surveys, exclusions, and matches in another revision.
#
# All rules run before the database constraints. They report what is wrong in terms of the user's
# statement, all faults at once; the constraints report only the first, in terms of columns.


class CardRules:
    """The rules, applied inside one transaction; a card that was found is remembered, for nothing ever goes away."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._cards: dict[str, Card] = {}

    def survey(self, said: Survey) -> Iterator[Fault]:
        """Yield what keeps a survey from being recorded: the card, a passage outside of it, nothing that is new."""
        card = self._find_card(said.card)
        if card is None:
            yield _card_unknown(said.card, "survey")
            return
        for start, stop in said.passages:
            yield from _check_span(card, start, stop)
        before = [survey for survey in self._view.list_surveys(said.card) if survey.payload.by == said.by]
        # A repeated survey adds an entry without content. One with at least one new passage is
        # recorded.
        if before and {span for one in before for span in one.payload.passages}.issuperset(said.passages):
            found = f"entry {before[0].entry.seq} and later ones record all that {said.by} proposed here"
            yield Fault("already-recorded", said.card, found)

    def omission(self, said: Omission) -> Iterator[Fault]:
        """Yield what keeps an omission from being recorded: the card, a passage of another file or outside the text, the same passage."""
        card = self._find_card(said.card)
        if card is None:
            yield _card_unknown(said.card, "omission")
            return
        yield from _check_anchor(card, said.anchor)
        name, revision = split_reference(said.card)
        place = (omission.c.start == said.anchor.start) & (omission.c.stop == said.anchor.stop)
        if seq := self._find(omission, (omission.c.card == name) & (omission.c.revision == revision) & place):
            found = f"entry {seq} records characters {said.anchor.start} to {said.anchor.stop} as left out"
            yield Fault("already-recorded", said.card, found)

    def sighting(self, passage_match: PassageMatch) -> Iterator[Fault]:
        """Yield what keeps a sighting from being recorded: claim or card, a passage that is no quotation, not another revision."""
        claim, revision = split_reference(passage_match.claim)
        table = claim_revision
        same_claim = (table.c.claim == claim) & (table.c.revision == revision)
        quoted = select(table.c.quote_status, table.c.card, table.c.card_revision).where(self._view.visible(table), same_claim)
        rows = self._view.rows(quoted)
        card = self._find_card(passage_match.card)
        if not rows:
            found = f"{passage_match.claim} is not a registered revision of a claim"
            yield Fault("not-registered", "sighting", found, advice=f"run: caveat claim show {claim}")
        if card is None:
            yield _card_unknown(passage_match.card, "sighting")
        if not rows or card is None:
            return
        # Only a verbatim quotation has a passage whose position can be looked up again.
        yield from _check_quoted(passage_match.claim, card, *rows[0])
        if passage_match.anchor is not None:
            yield from _check_anchor(card, passage_match.anchor)
        same = (sighting.c.claim == claim) & (sighting.c.revision == revision) & (sighting.c.card == card.card)
        if seq := self._find(sighting, same & (sighting.c.card_revision == card.revision)):
            found = f"entry {seq} records the match of its passage in {passage_match.card}"
            yield Fault("already-recorded", passage_match.claim, found)

    def _find_card(self, reference: str) -> Card | None:
        if reference not in self._cards:
            name, _, revision = reference.partition("@")
            recorded = self._view.find_card(name, int(revision)) if revision.isdigit() else None
            if recorded is None:
                return None
            self._cards[reference] = recorded.payload
        return self._cards[reference]

    def _find(self, table: Table, same: ColumnElement[bool]) -> int | None:
        found: int | None = self._view.one_value(select(table.c.seq).where(self._view.visible(table), same))
        return found


def _check_quoted(claim: str, card: Card, quote_status: str, name: str | None, revision: int | None) -> Iterator[Fault]:
    if name is None or quote_status != QuoteStatus.VERBATIM:
        found = "it is not quoted from a card word for word, so it has no passage to find again"
        yield Fault("wrong-document", claim, found)
    elif name != card.card or revision == card.revision:
        found = f"it is quoted from {name}@{revision}; {card.card}@{card.revision} is no other revision of that card"
        yield Fault("wrong-document", claim, found)


def _check_anchor(card: Card, anchor: Anchor) -> Iterator[Fault]:
    # Character positions are only valid in the text of one file.
    if anchor.document != card.document:
        found = f"its passage is from the file {anchor.document[:16]}…, the card's file is {card.document[:16]}…"
        yield Fault("wrong-document", f"{card.card}@{card.revision}", found)
        return
    yield from _check_span(card, anchor.start, anchor.stop)


def _check_span(card: Card, start: int, stop: int) -> Iterator[Fault]:
    end = card.pages[-1].stop
    if not 0 <= start < stop <= end:
        found = f"characters {start} to {stop} are not a passage of a text of {end:,} characters"
        yield Fault("not-in-text", f"{card.card}@{card.revision}", found)


def _card_unknown(reference: str, where: str) -> Fault:
    return Fault("not-registered", where, f"{reference} is not a registered revision of a card")


# Rules for objections: which rival specification is valid, and which step may follow.


def find_rival_faults(view: View, target: str, rival: str) -> Iterator[Fault]:
    """Yield why *rival* cannot take the place of *target*: it is another specification of the same kind; for a claim it can be any."""
    # Version 2 may be the rival of version 1 of the same specification, so full references are
    # compared.
    if rival == target:
        yield Fault("bad-rival", rival, "is what is contested; a rival is another specification, or another version")
    elif not target.startswith(f"{Kind.CLAIM}-"):
        # The rival replaces the target in a replay, and a replay needs the same kind of
        # specification in that place.
        kinds = [spec.payload.kind for one in (target, rival) if (spec := view.find_spec(one)) is not None]
        if len(set(kinds)) > 1:
            contested, offered = (kind.value.replace("_", " ") for kind in kinds)
            wrong = f"is a {offered}, and {target} is a {contested}: it cannot take its place"
            yield Fault("bad-rival", rival, wrong, advice=f"caveat spec list --kind {kinds[0].value}")


def find_step_faults(view: View, contestation_event: ContestationEvent) -> Iterator[Fault]:
    """Yield why *said* cannot follow: what another than the owner decided is settled; only an escalation names an authority."""
    contestation = view.find_contestation(contestation_event.contestation)
    # Decision of 2026-11-22: anyone except the objector may decide, and a party may give way. A
    # rejection by the owner is shown as the owner's and resolves nothing, so `is_settled` does not
    # count it. The cost: in a registry with one authority, that authority can only give way.
    if contestation is not None and contestation.is_settled:
        last = contestation.events[-1].entry
        found = f"it was {contestation.state.value} by {last.actor} on {last.at:%Y-%m-%d}, entry {last.seq}; nothing follows that"
        advice = f"contest anew: caveat contest open {contestation.contestation.payload.target} --reason …"
        yield Fault("objection-closed", contestation_event.contestation, found, advice=advice)
    if contestation_event.to is not None and view.find_authority(contestation_event.to) is None:
        found = f"{contestation_event.to} is not registered, so it could never decide"
        yield Fault(
            "authority-not-registered",
            contestation_event.contestation,
            found,
            advice=f"run: caveat init --code {contestation_event.to} --join",
        )
    if contestation_event.to is not None and contestation_event.step is not ContestationStep.ESCALATED:
        found = f"only an escalation names an authority; this step is {contestation_event.step.value}"
        yield Fault("bad-escalation", contestation_event.contestation, found)


# Rules for a claim adopted from another registry's log: it must agree with the entry of that log as
# stored here.

_SAME = ("quote", "form", "relation", "theta", "model", "reported", "direction")
"""What an adopted claim has in common with its original; property and scoring are copies under an identifier of their own."""


def find_origin_faults(reader: LogReader, claim: ClaimRevision) -> Iterator[Fault]:
    """Yield what keeps *claim* from standing for its original: not taken over, another entry hash, other words."""
    origin = claim.origin
    if origin is None:
        return
    where = f"{origin.claim} in the log {origin.log}"
    # Only entries up to the last recorded import count. Entries beyond it were not covered by a
    # verified checkpoint at this point of the log.
    taken = reader.one_value(select(func.max(log_import.c.size)).where(reader.visible(log_import), log_import.c.origin == origin.log))
    row = select(entry.c.leaf, log.c.id).join(log, log.c.id == entry.c.log).where(log.c.origin == origin.log, entry.c.seq == origin.seq)
    found = reader.rows(row)
    if not found or taken is None or origin.seq > taken:
        missing = f"entry {origin.seq} of that log is not kept here"
        yield Fault("origin-unknown", where, missing)
        return
    # The reference contains the entry hash, so an adopted claim stays tied to exact words.
    if bytes(found[0].leaf).hex() != origin.leaf:
        kept = f"the entry kept here has the hash {bytes(found[0].leaf).hex()}, expected {origin.leaf}"
        yield Fault("origin-altered", where, kept)
        return
    try:
        # Reading through a LogReader checks the text against its leaf.
        kept_reader = reader.ask(lambda connection: LogReader(connection, limit=taken, log_id=found[0].id))
        original = kept_reader.recorded((origin.seq,))[0].payload
    except CaveatError as error:
        yield from error.faults
        return
    if not isinstance(original, ClaimRevision) or original.reference != origin.claim:
        yield Fault("origin-altered", where, f"entry {origin.seq} does not record this claim revision")
        return
    differing = [name for name in _SAME if getattr(original, name) != getattr(claim, name)]
    if differing:
        yield Fault("origin-differs", where, f"an adopted claim says what its original says; differs in {', '.join(differing)}")


def find_adopted(reader: LogReader, origin: Origin) -> list[tuple[int, bool]]:
    """Return the entries of claims adopted from the same claim as *origin*, in log order, and whether of the same revision."""
    name, _, revision = origin.claim.partition("@")
    table = claim_origin
    wanted = select(table.c.seq, table.c.revision).where(reader.visible(table), table.c.origin == origin.log, table.c.claim == name)
    return [(seq, number == int(revision)) for seq, number in reader.rows(wanted.order_by(table.c.seq))]


# Rules for an audit that renews another one. The locks are compared when the new one is recorded,
# so "repeats the plan" is true by rule, also in imported logs (decision of 2026-11-22). The cost:
# two more reads for each renewed lock.


def find_renewal_faults(view: View, audit: Audit) -> Iterator[Fault]:
    """Yield why *said* cannot renew the audit that it names: that is one of the same claim, with a lock."""
    if audit.renews is None:
        return
    there = view.find_audit(audit.renews)
    claim = audit.claim.partition("@")[0]
    if there is None:
        found = f"renews {audit.renews}, and no audit has this identifier here"
        yield Fault("not-registered", audit.audit, found, advice="caveat audit list")
    elif there.audit.payload.claim.partition("@")[0] != claim:
        found = f"renews {audit.renews}, which is of {there.audit.payload.claim}"
        yield Fault("wrong-claim", audit.audit, found, advice="leave renews out: a plan is of one claim")
    elif there.lock is None:
        found = f"renews {audit.renews}, which has no lock: there is no plan to repeat"
        yield Fault("not-locked", audit.audit, found, advice="leave renews out")


def find_plan_faults(view: View, said: Lock) -> Iterator[Fault]:
    """Yield in what *said*, the lock of an audit that renews another, is not the lock of that one."""
    audit = view.find_audit(said.audit)
    renews = audit.audit.payload.renews if audit else None
    old = view.find_audit(renews) if renews else None
    # The audit was checked when it was opened. Without an old lock there is nothing to compare.
    if old is None or old.lock is None:
        return
    if differing := list_plan_differences(old.lock.payload, said):
        found = f"renews {renews}, and its plan differs in {', '.join(differing)}"
        yield Fault("renewal-differs", said.audit, found, advice="leave renews out: another plan is an audit of its own")


# Rules for runs under a lock: a run starts once and before the outcome, and an end names its start.
#
# A run is recorded before its first call. A lab that repeats runs until one fits therefore leaves
# the starts of the others in the log.


def find_run_faults(view: View, said: RunStart | RunEnd) -> Iterator[Fault]:
    """Yield everything that keeps *said* from being recorded now."""
    file = view.find_audit(said.audit)
    if file is None:
        advice = view.suggest(said.audit) or "caveat audit list shows the audits"
        yield Fault("not-registered", said.audit, "no audit has this identifier here", advice=advice)
        return
    # An end has no further conditions: a run that was started must be able to end, even after the
    # outcome.
    if isinstance(said, RunEnd):
        yield from find_start_faults(view, said)
        return
    if file.lock is None:
        found = "there is no lock, so no run can be started under it"
        yield Fault("not-locked", said.audit, found)
    if any(start.payload.run == said.run for start in file.starts):
        yield Fault("already-recorded", said.audit, "this run is in the log already")
    # A lock is for one outcome (decision of 2026-11-21).
    if file.restrictions:
        found = f"has its outcome, entry {file.restrictions[0].entry.seq}; no run under its lock is started after that"
        advice = "lock another audit, or leave audit out of the replay"
        yield Fault("audit-concluded", said.audit, found, advice=advice)


def find_start_faults(view: View, said: RunEnd | Run) -> Iterator[Fault]:
    """Yield why the entry that *said* names is no start of a run of its audit."""
    own = (run_start.c.audit == said.audit) & (run_start.c.seq == said.start)
    if said.start is not None and not view.rows(select(run_start.c.seq).where(view.visible(run_start), own)):
        yield Fault(
            "not-registered",
            said.audit,
            f"entry {said.start} starts no run of this audit",
            advice=f"caveat audit show {said.audit} lists its runs",
        )


# Rules for estimates and verdicts that hold for any audit.

_WITH_THETA = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)


def find_interval_faults(said: Result) -> Iterator[Fault]:
    """Yield each ED that lies outside of its interval, or has half of one."""
    for spec in said.estimate.specs:
        # Half an interval, or an estimate outside its interval, would still be printed as a figure
        # with limits.
        low, high = spec.ed.low, spec.ed.high
        if (low is None) != (high is None) or (low is not None and high is not None and not low <= spec.ed.value <= high):
            yield Fault("verdict-inconsistent", f"{said.audit}, {spec.spec}", f"ED {spec.ed.value} lies outside {low} to {high}")


def find_verdict_faults(view: View, restriction: Restriction) -> Iterator[Fault]:
    """Yield where readings do not fit the claim's form, or claim more than their basis gives."""
    claim, _, revision = restriction.claim.partition("@")
    about = view.find_revision(claim, int(revision)) if revision.isdigit() else None
    primary = restriction.classification.primary.form
    if about and about.payload.form is not primary:
        yield Fault("verdict-inconsistent", restriction.claim, f"the claim is of form {about.payload.form}; the first reading is {primary}")
    for position, reading in enumerate(restriction.classification.readings):
        where = f"{restriction.audit}, readings[{position}]"
        inverted = reading.class_ is ClaimClass.INVERTED
        # Only a form with a limit θ has a side to fall on.
        if inverted and reading.form not in _WITH_THETA:
            yield Fault("verdict-inconsistent", where, f"{reading.form} cannot be inverted; only thresholds and bounds can")
        if inverted and reading.standing is Standing.ESTABLISHED and reading.basis is not Basis.REPLAY:
            yield Fault("verdict-inconsistent", where, "an established inversion needs a replay")
        # "Established" promises that the plan was fixed before the scores. Reported scores cannot
        # show that.
        if reading.verdict_standing is VerdictStanding.ESTABLISHED and reading.basis is not Basis.REPLAY:
            yield Fault("verdict-inconsistent", where, "an established verdict needs a replay under a lock")
        if reading.basis is Basis.REPLAY and restriction.result is None:
            yield Fault("verdict-inconsistent", where, "a verdict from a replay names its result")


# Rules for everything else. A rule yields the faults of one payload and reads inside the
# transaction that would record it.

KIND_OF_SPEC = {
    SpecKind.PROPERTY: Kind.PROPERTY,
    SpecKind.SCORING: Kind.SCORING,
    SpecKind.TEST_CONTEXT: Kind.CONTEXT,
    SpecKind.DEPLOY_CONTEXT: Kind.CONTEXT,
    SpecKind.CUE_INVENTORY: Kind.CUES,
    SpecKind.METHOD: Kind.METHOD,
}
"""The prefix that the identifiers of a kind of specification have."""


class StatementRules:
    """The rules, applied inside one transaction; what was found to exist is remembered, for nothing ever goes away."""

    def __init__(self, view: View, allocated: Collection[str], *, actor: str) -> None:
        self._view = view
        self._actor = actor
        self._allocated = allocated
        self._of_cards = CardRules(view)
        self._of_trust = TrustRules(view)
        self._of_lineage = LineageRules(view)
        # Positive answers are cached: references never disappear from a log. Negative ones are not,
        # since the next statement of the same file may register the reference.
        self._specs: set[tuple[str, SpecKind]] = set()
        self._cards: set[str] = set()
        self._authorities: set[str] = set()

    def find_faults(self, payload: Payload) -> list[Fault]:
        """Return everything that keeps *payload* from being recorded now; empty when nothing does."""
        # Any other statement can change what is stale, so cached causes are dropped. A run of
        # reviews keeps them.
        if not isinstance(payload, StalenessReview):
            self._of_lineage.forget()
        return list(_RULES[type(payload)](self, payload))

    def knows_authority(self, code: str) -> bool:
        """Whether *code* is registered."""
        if code not in self._authorities:
            known = select(authority.c.code).where(self._view.visible(authority), authority.c.code == code)
            self._authorities |= {row.code for row in self._view.rows(known)}
        return code in self._authorities

    def is_new(self, name: str) -> bool:
        """Whether *name* was allocated here and nothing has used it yet."""
        return name in self._allocated

    def authority(self, said: Authority) -> Iterator[Fault]:
        """A code is never reused or renamed."""
        if there := self._view.find_authority(said.code):
            found = f"the code is registered as {there.payload.name!r}; a code is never renamed or reused"
            yield Fault("authority-exists", said.code, found)

    def model(self, model_version: ModelVersion) -> Iterator[Fault]:
        """As `registry.store.model_and_trust_rules` has it."""
        yield from self._of_lineage.version(model_version)

    def spec(self, said: SpecVersion) -> Iterator[Fault]:
        """Versions are contiguous and keep kind, slug and owner."""
        yield from self._authority_known(said.owner, said.spec)
        if not said.spec.startswith(f"{KIND_OF_SPEC[said.kind]}-"):
            yield Fault("wrong-kind", said.spec, f"a {said.kind} has an identifier {KIND_OF_SPEC[said.kind]}-…")
        before = self._view.find_spec(said.spec)
        yield from self._number(said.spec, said.version, before.payload.version if before else 0, "version")
        # Claims refer to a specification by identifier and version. A change of kind, slug or owner
        # would change the meaning of old references.
        if before and (before.payload.kind, before.payload.slug, before.payload.owner) != (said.kind, said.slug, said.owner):
            was = f"{before.payload.kind} {before.payload.slug!r} of {before.payload.owner}"
            yield Fault("spec-differs", said.spec, f"kind, slug and owner stay; it is the {was}")
        if said.version == 1 and (taken := self._view.find_spec_by_slug(said.owner, said.kind, said.slug)):
            yield Fault("slug-taken", said.spec, f"{said.owner} calls {taken.payload.spec} {said.slug!r}")

    def card(self, card: Card) -> Iterator[Fault]:
        """Revisions are contiguous; a file is registered once; its text is kept."""
        before = self._view.find_card(card.card)
        yield from self._number(card.card, card.revision, before.payload.revision if before else 0, "revision")
        if card.revision > 1 and not (card.why and card.why.strip()):
            yield Fault("reason-missing", card.card, "a revision after the first needs its reason (why)")
        if there := self._view.find_card_by_document(card.document):
            yield Fault("already-recorded", card.card, f"the file is registered as {there.payload.card}@{there.payload.revision}")
        # The text is stored first, in the same transaction, so a card without text cannot be
        # committed.
        if not self._view.has_content(card.text):
            yield Fault("content-missing", card.card, f"the text {card.text} was not stored")

    def claim(self, said: ClaimRevision) -> Iterator[Fault]:
        """Revisions are contiguous, no claim comes back from its end, and what it refers to exists and is of the right kind."""
        # A first revision under a fresh identifier has nothing before it. This skips two queries
        # for each claim of a bulk import.
        if not (said.revision == 1 and self.is_new(said.claim)):
            head = self._view.one_value(
                select(claim_revision.c.revision)
                .where(self._view.visible(claim_revision), claim_revision.c.claim == said.claim)
                .order_by(claim_revision.c.revision.desc())
            )
            yield from self._number(said.claim, said.revision, head or 0, "revision")
            yield from self._not_ended(said.claim, "takes no new revision")
        # The model need not be registered. But a name that differs only in spelling from a
        # registered one would silently have no lineage.
        yield from self._of_lineage.named(said.model, said.claim)
        for reference, kind in (
            (said.property, SpecKind.PROPERTY),
            (said.scoring, SpecKind.SCORING),
            (said.test_context, SpecKind.TEST_CONTEXT),
            *((context, SpecKind.DEPLOY_CONTEXT) for context in said.deploy_contexts),
        ):
            if reference is not None and (reference, kind) not in self._specs:
                yield from self._spec_known(reference, kind, said.claim)
        if said.card is not None and said.card not in self._cards:
            yield from self._card_known(said.card, said.claim)
        yield from find_origin_faults(self._view, said)

    def event(self, claim_event: ClaimEvent) -> Iterator[Fault]:
        """A claim is reserved once and first; after its end nothing follows."""
        # Reserving is the only event that comes before the claim exists.
        if claim_event.event is ClaimEventKind.RESERVE:
            yield from self._number(claim_event.claim, 1, 1 if self._view.is_used(claim_event.claim) else 0, "reservation")
            return
        if not self._view.claim_exists(claim_event.claim):
            yield self._unknown("claim", claim_event.claim)
            return
        yield from self._not_ended(claim_event.claim, f"cannot be {_DONE[claim_event.event]}")
        if claim_event.event in (ClaimEventKind.PUBLISH, ClaimEventKind.SUPERSEDE) and self._view.is_reserved(claim_event.claim):
            yield Fault("identifier-reserved", claim_event.claim, f"it has no revision yet and cannot be {_DONE[claim_event.event]}")
        if claim_event.successor == claim_event.claim:
            yield Fault("self-reference", claim_event.claim, "a claim cannot take its own place")
        elif claim_event.successor and not self._view.claim_exists(claim_event.successor):
            yield self._unknown("claim", claim_event.successor)

    def relation(self, said: ClaimRelation) -> Iterator[Fault]:
        """Both claims exist, and no one said it before."""
        for name in (said.claim, said.other):
            if not self._view.claim_exists(name):
                yield self._unknown("claim", name)
        table = claim_relation
        same = (table.c.claim == said.claim) & (table.c.relation == said.relation.value) & (table.c.other == said.other)
        if self._view.rows(select(table.c.seq).where(self._view.visible(table), same)):
            yield Fault("already-recorded", said.claim, f"it is recorded that it {said.relation.value} {said.other}")

    def audit(self, audit: Audit) -> Iterator[Fault]:
        """An audit is of one revision that exists, by a registered auditor; what it renews is a locked one of the same claim."""
        yield from self._number(audit.audit, 1, 1 if self._view.is_used(audit.audit) else 0, "audit")
        yield from self._authority_known(audit.auditor, audit.audit)
        yield from self._revision_known(audit.claim, audit.audit)
        yield from find_renewal_faults(self._view, audit)

    def lock(self, said: Lock) -> Iterator[Fault]:
        """One lock, of the revision that is audited; where that renews another audit, of the same plan."""
        yield from self._audit_fits(said.audit, said.claim)
        yield from find_plan_faults(self._view, said)
        if self._lock_of(said.audit):
            yield Fault("already-locked", said.audit, "its plan is locked; a lock is never changed")

    def run(self, said: Run) -> Iterator[Fault]:
        """A run follows its lock."""
        if self._view.find_audit(said.audit) is None:
            yield self._unknown("audit", said.audit)
        elif (locked := self._lock_of(said.audit)) is None:
            found = "there is no lock, so no run can follow it"
            yield Fault("not-locked", said.audit, found, advice=f"lock the plan before the runs: caveat audit lock {said.audit}")
        elif said.started_at.tzinfo is None:
            yield Fault("bad-date", said.audit, "started_at needs its time zone")
        # Compared in whole seconds, as both are stored.
        elif int(said.started_at.timestamp()) < locked[1]:
            yield Fault(
                "run-before-lock",
                said.audit,
                f"the run started at {said.started_at.isoformat()}, before the plan was locked",
                advice="its scores can enter a restriction as reported, not as replay",
            )
        else:
            yield from find_start_faults(self._view, said)

    def run_entry(self, said: RunStart | RunEnd) -> Iterator[Fault]:
        """As `registry.store.statement_rules` has it."""
        yield from find_run_faults(self._view, said)

    def result(self, said: Result) -> Iterator[Fault]:
        """A result rests on a run of its audit."""
        if self._view.find_audit(said.audit) is None:
            yield self._unknown("audit", said.audit)
            return
        own = (run.c.audit == said.audit) & (run.c.seq == said.run)
        if not self._view.rows(select(run.c.seq).where(self._view.visible(run), own)):
            yield Fault("not-registered", said.audit, f"entry {said.run} is not a run of this audit")
        yield from find_interval_faults(said)

    def evidence(self, evidence_statement: EvidenceStatement) -> Iterator[Fault]:
        """Evidence belongs to an audit of the same revision."""
        yield from self._audit_fits(evidence_statement.audit, evidence_statement.claim)

    def finding(self, finding: Finding) -> Iterator[Fault]:
        """A finding belongs to an audit of the same revision, and enters it before its outcome: an outcome takes it into account."""
        yield from self._audit_fits(finding.audit, finding.claim)
        audit = self._view.find_audit(finding.audit)
        if audit is not None and audit.restrictions:
            found = f"has its outcome, entry {audit.restrictions[0].entry.seq}, which knew nothing of this {finding.kind.value} finding"
            advice = "contest the scoring, or open another audit: caveat audit new " + finding.claim.partition("@")[0]
            yield Fault("audit-concluded", finding.audit, found, advice=advice)

    def restriction(self, restriction: Restriction) -> Iterator[Fault]:
        """A verdict fits the audit, the claim's form, and what it rests on."""
        yield from self._audit_fits(restriction.audit, restriction.claim)
        if restriction.result is not None:
            own = (results.c.audit == restriction.audit) & (results.c.seq == restriction.result)
            if not self._view.rows(select(results.c.seq).where(self._view.visible(results), own)):
                yield Fault("verdict-inconsistent", restriction.audit, f"entry {restriction.result} is not a result of this audit")
        yield from find_verdict_faults(self._view, restriction)

    def contestation(self, contestation: Contestation) -> Iterator[Fault]:
        """Its target and its rival exist."""
        yield from self._number(contestation.contestation, 1, 1 if self._view.is_used(contestation.contestation) else 0, "contestation")
        yield from self._authority_known(contestation.by, contestation.contestation)
        about, is_claim = contestation.contestation, contestation.target.startswith(f"{Kind.CLAIM}-")
        yield from self._revision_known(contestation.target, about) if is_claim else self._spec_known(contestation.target, None, about)
        if contestation.rival is not None:
            yield from (
                *self._spec_known(contestation.rival, None, about),
                *find_rival_faults(self._view, contestation.target, contestation.rival),
            )

    def contestation_event(self, contestation_event: ContestationEvent) -> Iterator[Fault]:
        """A step follows its contestation, until that is settled."""
        if self._view.find_contestation(contestation_event.contestation) is None:
            yield self._unknown("contestation", contestation_event.contestation)
        yield from find_step_faults(self._view, contestation_event)

    def publication(self, publication: Publication) -> Iterator[Fault]:
        """A publication is about something registered, and made of entries that exist."""
        if publication.subject.startswith(f"{Kind.CLAIM}-"):
            yield from self._revision_known(publication.subject, "publication")
        else:
            yield from self._card_known(publication.subject, "publication")
        if publication.audit is not None and self._view.find_audit(publication.audit) is None:
            yield self._unknown("audit", publication.audit)
        # A file cannot be rendered from entries that do not exist yet.
        if publication.log_size > self._view.log_size:
            yield Fault(
                "entry-not-found", publication.subject, f"made of {publication.log_size} entries; the log has {self._view.log_size}"
            )

    def survey(self, survey: Survey) -> Iterator[Fault]:
        """A survey adds to what its engine proposed before."""
        yield from self._of_cards.survey(survey)

    def omission(self, said: Omission) -> Iterator[Fault]:
        """A passage is left out once, with one reason."""
        yield from self._of_cards.omission(said)

    def sighting(self, passage_match: PassageMatch) -> Iterator[Fault]:
        """A passage is looked up once in each other revision of its card."""
        yield from self._of_cards.sighting(passage_match)

    def lineage(self, lineage: Lineage) -> Iterator[Fault]:
        """As `registry.store.model_and_trust_rules` has it."""
        yield from self._of_lineage.find_faults(lineage)

    def endpoint(self, model_endpoint: ModelEndpoint) -> Iterator[Fault]:
        """As `registry.store.model_and_trust_rules` has it."""
        yield from find_endpoint_faults(self._view, model_endpoint, actor=self._actor)

    def trust(self, trust: Trust) -> Iterator[Fault]:
        """What is said of keys, other logs, seals and departures."""
        yield from self._of_trust.find_faults(trust)

    def _number(self, name: str, number: int, last: int, word: str) -> Iterator[Fault]:
        # Two people who revise the same claim produce the same number. The second one is told to
        # read again instead of overwriting.
        if number != last + 1 and last:
            found = f"{word} {number} cannot follow {last}" if word in ("revision", "version") else f"this {word} exists already"
            yield Fault("changed-meanwhile", name, found)
        elif number != 1 and not last:
            yield Fault("changed-meanwhile", name, f"the first {word} is 1, found {number}")
        elif not last and not self.is_new(name) and not self._view.is_used(name):
            yield from self._not_allocated(name)

    def _not_allocated(self, name: str) -> Iterator[Fault]:
        try:
            parse_identifier(name)
        except ValueError as error:
            yield Fault("bad-identifier", name, str(error))
        else:
            yield Fault("identifier-not-reserved", name, "the identifier was not allocated")

    def _not_ended(self, claim: str, what: str) -> Iterator[Fault]:
        state = derive_lifecycle(has_revision=True, events=FactFinder(self._view).events_of(claim))
        if state in TERMINAL:
            yield Fault("claim-ended", claim, f"it is {state} and {what}")

    def _authority_known(self, code: str, where: str) -> Iterator[Fault]:
        if not self.knows_authority(code):
            yield Fault("authority-not-registered", where, f"no authority is registered as {code}")

    def _spec_known(self, reference: str, kind: SpecKind | None, where: str) -> Iterator[Fault]:
        name, _, version = reference.partition("@")
        same = (spec_version.c.spec == name) & (spec_version.c.version == int(version)) if version.isdigit() else None
        there = None
        if same is not None:
            there = self._view.one_value(select(spec_version.c.kind).where(self._view.visible(spec_version), same))
        if there is None:
            # An identifier can be suggested that is in use, but lacks the version. The name itself
            # is not a useful suggestion.
            advice = self._view.suggest(name) or "register the specification first: caveat spec add"
            yield Fault("not-registered", where, f"{reference} is not a registered version of a specification", advice=advice)
        elif kind is not None and there != kind.value:
            yield Fault("wrong-kind", where, f"{reference} is a {there}, expected a {kind.value}")
        elif kind is not None:
            self._specs.add((reference, kind))

    def _card_known(self, reference: str, where: str) -> Iterator[Fault]:
        name, _, revision = reference.partition("@")
        if not revision.isdigit() or self._view.find_card(name, int(revision)) is None:
            yield Fault("not-registered", where, f"{reference} is not a registered revision of a card")
        else:
            self._cards.add(reference)

    def _revision_known(self, reference: str, where: str) -> Iterator[Fault]:
        name, _, revision = reference.partition("@")
        if not revision.isdigit() or self._view.find_revision(name, int(revision)) is None:
            yield Fault(
                "not-registered", where, f"{reference} is not a registered revision of a claim", advice=f"run: caveat claim show {name}"
            )

    def _audit_fits(self, name: str, claim: str) -> Iterator[Fault]:
        audit = self._view.find_audit(name)
        if audit is None:
            yield self._unknown("audit", name)
        # An audit belongs to one revision. Its outcome must not be recorded for another one.
        elif audit.audit.payload.claim != claim:
            yield Fault("wrong-claim", name, f"it is an audit of {audit.audit.payload.claim}, not of {claim}")

    def _lock_of(self, name: str) -> tuple[int, int] | None:
        rows = self._view.rows(select(lock.c.seq, lock.c.at).where(self._view.visible(lock), lock.c.audit == name))
        return (rows[0].seq, rows[0].at) if rows else None

    def _unknown(self, what: str, name: str) -> Fault:
        return Fault("not-registered", name, f"no {what} has this identifier here", advice=self._view.suggest(name))


_DONE = {
    ClaimEventKind.RESERVE: "reserved",
    ClaimEventKind.PUBLISH: "published",
    ClaimEventKind.SUPERSEDE: "superseded",
    ClaimEventKind.WITHDRAW: "withdrawn",
    ClaimEventKind.REJECT: "rejected",
}

_RULES: dict[type[Payload], Callable[[StatementRules, Any], Iterable[Fault]]] = {
    Authority: StatementRules.authority,
    ModelVersion: StatementRules.model,
    SpecVersion: StatementRules.spec,
    Card: StatementRules.card,
    ClaimRevision: StatementRules.claim,
    ClaimEvent: StatementRules.event,
    ClaimRelation: StatementRules.relation,
    Audit: StatementRules.audit,
    Lock: StatementRules.lock,
    Run: StatementRules.run,
    Result: StatementRules.result,
    EvidenceStatement: StatementRules.evidence,
    Finding: StatementRules.finding,
    Restriction: StatementRules.restriction,
    Contestation: StatementRules.contestation,
    ContestationEvent: StatementRules.contestation_event,
    Publication: StatementRules.publication,
    Survey: StatementRules.survey,
    Omission: StatementRules.omission,
    PassageMatch: StatementRules.sighting,
    KeyEvent: StatementRules.trust,
    LogImport: StatementRules.trust,
    Witnessing: StatementRules.trust,
    Equivocation: StatementRules.trust,
    Erasure: StatementRules.trust,
    Reveal: StatementRules.trust,
    Deviation: StatementRules.trust,
    Exploration: StatementRules.trust,
    ModelEvent: StatementRules.lineage,
    StalenessReview: StatementRules.lineage,
    ModelEndpoint: StatementRules.endpoint,
    RunStart: StatementRules.run_entry,
    RunEnd: StatementRules.run_entry,
}
