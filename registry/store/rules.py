"""What may follow what is recorded: the store's rules in words a person can act on, before the database refuses in its own.

A rule yields the faults of one payload, read inside the transaction that would record it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from sqlalchemy import select

from registry.errors import Fault
from registry.records.analysis_plan import Deviation, Exploration, Lock
from registry.records.audit_case import Audit, EvidenceStatement, Result
from registry.records.claim import ClaimEvent, ClaimEventKind, ClaimRelation, ClaimRevision
from registry.records.claim_status import Contestation, ContestationEvent, StalenessReview
from registry.records.log_seal import Equivocation, Erasure, KeyEvent, LogImport, Witnessing
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelVersion
from registry.records.module_findings import Finding
from registry.records.record import Authority, Kind, parse_identifier
from registry.records.replay_run import Run, RunEnd, RunStart
from registry.records.specification import Reveal, SpecKind, SpecVersion
from registry.records.statement import Payload, Publication
from registry.records.system_card import Card, Omission, PassageMatch, Survey
from registry.records.verdict import Restriction
from registry.store.card_rules import CardRules
from registry.store.contest_rules import find_rival_faults, find_step_faults
from registry.store.endpoint_rules import find_endpoint_faults
from registry.store.facts import FactFinder
from registry.store.lineage_rules import Lineage, LineageRules
from registry.store.origin_rules import find_origin_faults
from registry.store.renewal_rules import find_plan_faults, find_renewal_faults
from registry.store.run_rules import find_run_faults, find_start_faults
from registry.store.status import TERMINAL, derive_lifecycle
from registry.store.tables import authority, claim_relation, claim_revision, lock, run, spec_version
from registry.store.tables import result as results
from registry.store.trust_rules import Trust, TrustRules
from registry.store.verdict_rules import find_interval_faults, find_verdict_faults
from registry.store.view import View

KIND_OF_SPEC = {
    SpecKind.PROPERTY: Kind.PROPERTY,
    SpecKind.SCORING: Kind.SCORING,
    SpecKind.TEST_CONTEXT: Kind.CONTEXT,
    SpecKind.DEPLOY_CONTEXT: Kind.CONTEXT,
    SpecKind.CUE_INVENTORY: Kind.CUES,
    SpecKind.METHOD: Kind.METHOD,
}
"""The prefix that the identifiers of a kind of specification have."""


class Rules:
    """The rules, applied inside one transaction; what was found to exist is remembered, for nothing ever goes away."""

    def __init__(self, view: View, allocated: Collection[str], *, actor: str) -> None:
        self._view = view
        self._actor = actor
        self._allocated = allocated
        self._of_cards = CardRules(view)
        self._of_trust = TrustRules(view)
        self._of_lineage = LineageRules(view)
        self._specs: set[tuple[str, SpecKind]] = set()
        self._cards: set[str] = set()
        self._authorities: set[str] = set()

    def find_faults(self, payload: Payload) -> list[Fault]:
        """Return everything that keeps *payload* from being recorded now; empty when nothing does."""
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
            yield _fault("authority-exists", said.code, found)

    def model(self, said: ModelVersion) -> Iterator[Fault]:
        """As `registry.store.lineage_rules` has it."""
        yield from self._of_lineage.version(said)

    def spec(self, said: SpecVersion) -> Iterator[Fault]:
        """Versions are contiguous and keep kind, slug and owner."""
        yield from self._authority_known(said.owner, said.spec)
        if not said.spec.startswith(f"{KIND_OF_SPEC[said.kind]}-"):
            yield _fault("wrong-kind", said.spec, f"a {said.kind} has an identifier {KIND_OF_SPEC[said.kind]}-…")
        before = self._view.find_spec(said.spec)
        yield from self._number(said.spec, said.version, before.payload.version if before else 0, "version")
        if before and (before.payload.kind, before.payload.slug, before.payload.owner) != (said.kind, said.slug, said.owner):
            was = f"{before.payload.kind} {before.payload.slug!r} of {before.payload.owner}"
            yield _fault("spec-changed", said.spec, f"kind, slug and owner stay; it is the {was}")
        if said.version == 1 and (taken := self._view.find_spec_by_slug(said.owner, said.kind, said.slug)):
            found = f"{said.owner} calls {taken.payload.spec} {said.slug!r}"
            yield _fault("slug-taken", said.spec, found, "choose another slug, or add a version to it")

    def card(self, said: Card) -> Iterator[Fault]:
        """Revisions are contiguous; a file is registered once; its text is kept."""
        before = self._view.find_card(said.card)
        yield from self._number(said.card, said.revision, before.payload.revision if before else 0, "revision")
        if said.revision > 1 and not (said.why and said.why.strip()):
            yield _fault("why-missing", said.card, "a revision after the first needs its reason (why)")
        if there := self._view.find_card_by_document(said.document):
            found = f"the file is registered as {there.payload.card}@{there.payload.revision}"
            yield _fault("document-exists", said.card, found)
        if not self._view.has_content(said.text):
            yield _fault("content-missing", said.card, f"the text {said.text} was not stored", "store the text first (put_content)")

    def claim(self, said: ClaimRevision) -> Iterator[Fault]:
        """Revisions are contiguous, no claim comes back from its end, and what it refers to exists and is of the right kind."""
        if not (said.revision == 1 and self.is_new(said.claim)):
            head = self._view.one_value(
                select(claim_revision.c.revision)
                .where(self._view.visible(claim_revision), claim_revision.c.claim == said.claim)
                .order_by(claim_revision.c.revision.desc())
            )
            yield from self._number(said.claim, said.revision, head or 0, "revision")
            yield from self._not_ended(said.claim, "takes no new revision")
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

    def event(self, said: ClaimEvent) -> Iterator[Fault]:
        """A claim is reserved once and first; after its end nothing follows."""
        if said.event is ClaimEventKind.RESERVE:
            yield from self._number(said.claim, 1, 1 if self._view.is_used(said.claim) else 0, "reservation")
            return
        if not self._view.claim_exists(said.claim):
            yield self._unknown("claim", said.claim)
            return
        yield from self._not_ended(said.claim, f"cannot be {_DONE[said.event]}")
        if said.event in (ClaimEventKind.PUBLISH, ClaimEventKind.SUPERSEDE) and self._view.is_reserved(said.claim):
            yield _fault("claim-only-reserved", said.claim, f"it has no revision yet and cannot be {_DONE[said.event]}")
        if said.successor == said.claim:
            yield _fault("own-successor", said.claim, "a claim cannot take its own place")
        elif said.successor and not self._view.claim_exists(said.successor):
            yield self._unknown("claim", said.successor)

    def relation(self, said: ClaimRelation) -> Iterator[Fault]:
        """Both claims exist, and nobody said it before."""
        for name in (said.claim, said.other):
            if not self._view.claim_exists(name):
                yield self._unknown("claim", name)
        table = claim_relation
        same = (table.c.claim == said.claim) & (table.c.relation == said.relation.value) & (table.c.other == said.other)
        if self._view.rows(select(table.c.seq).where(self._view.visible(table), same)):
            yield _fault("relation-exists", said.claim, f"it is recorded that it {said.relation.value} {said.other}")

    def audit(self, said: Audit) -> Iterator[Fault]:
        """An audit is of one revision that exists, by a registered auditor; what it renews is a locked one of the same claim."""
        yield from self._number(said.audit, 1, 1 if self._view.is_used(said.audit) else 0, "audit")
        yield from self._authority_known(said.auditor, said.audit)
        yield from self._revision_known(said.claim, said.audit)
        yield from find_renewal_faults(self._view, said)

    def lock(self, said: Lock) -> Iterator[Fault]:
        """One lock, of the revision that is audited; where that renews another audit, of the same plan."""
        yield from self._audit_fits(said.audit, said.claim)
        yield from find_plan_faults(self._view, said)
        if self._lock_of(said.audit):
            found = "its plan is locked; a lock is never changed"
            yield _fault("already-locked", said.audit, found, "open a new audit: caveat audit new")

    def run(self, said: Run) -> Iterator[Fault]:
        """A run follows its lock."""
        if self._view.find_audit(said.audit) is None:
            yield self._unknown("audit", said.audit)
        elif (locked := self._lock_of(said.audit)) is None:
            found = "there is no lock, so no run can follow it"
            yield _fault("not-locked", said.audit, found, f"lock the plan before the runs: caveat audit lock {said.audit}")
        elif said.started_at.tzinfo is None:
            yield _fault("no-time-zone", said.audit, "started_at needs its time zone")
        elif int(said.started_at.timestamp()) < locked[1]:
            yield _fault(
                "run-before-lock",
                said.audit,
                f"the run started at {said.started_at.isoformat()}, before the plan was locked",
                "its scores can enter a restriction as reported, not as replay",
            )
        else:
            yield from find_start_faults(self._view, said)

    def run_entry(self, said: RunStart | RunEnd) -> Iterator[Fault]:
        """As `registry.store.run_rules` has it."""
        yield from find_run_faults(self._view, said)

    def result(self, said: Result) -> Iterator[Fault]:
        """A result rests on a run of its audit."""
        if self._view.find_audit(said.audit) is None:
            yield self._unknown("audit", said.audit)
            return
        own = (run.c.audit == said.audit) & (run.c.seq == said.run)
        if not self._view.rows(select(run.c.seq).where(self._view.visible(run), own)):
            yield _fault("run-unknown", said.audit, f"entry {said.run} is no run of this audit")
        yield from find_interval_faults(said)

    def evidence(self, said: EvidenceStatement) -> Iterator[Fault]:
        """Evidence belongs to an audit of the same revision."""
        yield from self._audit_fits(said.audit, said.claim)

    def finding(self, said: Finding) -> Iterator[Fault]:
        """A finding belongs to an audit of the same revision, and enters it before its outcome: an outcome takes it into account."""
        yield from self._audit_fits(said.audit, said.claim)
        there = self._view.find_audit(said.audit)
        if there is not None and there.restrictions:
            found = f"has its outcome, entry {there.restrictions[0].entry.seq}, which knew nothing of this {said.kind.value} finding"
            advice = "contest the scoring, or open another audit: caveat audit new " + said.claim.partition("@")[0]
            yield _fault("audit-has-outcome", said.audit, found, advice)

    def restriction(self, said: Restriction) -> Iterator[Fault]:
        """A verdict fits the audit, the claim's form, and what it rests on."""
        yield from self._audit_fits(said.audit, said.claim)
        if said.result is not None:
            own = (results.c.audit == said.audit) & (results.c.seq == said.result)
            if not self._view.rows(select(results.c.seq).where(self._view.visible(results), own)):
                yield _fault("result-unknown", said.audit, f"entry {said.result} is no result of this audit")
        yield from find_verdict_faults(self._view, said)

    def contestation(self, said: Contestation) -> Iterator[Fault]:
        """Its target and its rival exist."""
        yield from self._number(said.contestation, 1, 1 if self._view.is_used(said.contestation) else 0, "contestation")
        yield from self._authority_known(said.by, said.contestation)
        about, is_claim = said.contestation, said.target.startswith(f"{Kind.CLAIM}-")
        yield from self._revision_known(said.target, about) if is_claim else self._spec_known(said.target, None, about)
        if said.rival is not None:
            yield from (*self._spec_known(said.rival, None, about), *find_rival_faults(self._view, said.target, said.rival))

    def contestation_event(self, said: ContestationEvent) -> Iterator[Fault]:
        """A step follows its contestation, until that is settled."""
        if self._view.find_contestation(said.contestation) is None:
            yield self._unknown("contestation", said.contestation)
        yield from find_step_faults(self._view, said)

    def publication(self, said: Publication) -> Iterator[Fault]:
        """A publication is about something registered, and made of entries that exist."""
        if said.subject.startswith(f"{Kind.CLAIM}-"):
            yield from self._revision_known(said.subject, "publication")
        else:
            yield from self._card_known(said.subject, "publication")
        if said.audit is not None and self._view.find_audit(said.audit) is None:
            yield self._unknown("audit", said.audit)
        if said.log_size > self._view.log_size:
            yield _fault("log-shorter", said.subject, f"made of {said.log_size} entries; the log has {self._view.log_size}")

    def survey(self, said: Survey) -> Iterator[Fault]:
        """A survey adds to what its engine proposed before."""
        yield from self._of_cards.survey(said)

    def omission(self, said: Omission) -> Iterator[Fault]:
        """A passage is left out once, with one reason."""
        yield from self._of_cards.omission(said)

    def sighting(self, said: PassageMatch) -> Iterator[Fault]:
        """A passage is looked up once in each other revision of its card."""
        yield from self._of_cards.sighting(said)

    def lineage(self, said: Lineage) -> Iterator[Fault]:
        """As `registry.store.lineage_rules` has it."""
        yield from self._of_lineage.find_faults(said)

    def endpoint(self, said: ModelEndpoint) -> Iterator[Fault]:
        """As `registry.store.endpoint_rules` has it."""
        yield from find_endpoint_faults(self._view, said, actor=self._actor)

    def trust(self, said: Trust) -> Iterator[Fault]:
        """What is said of keys, other logs, seals and departures."""
        yield from self._of_trust.find_faults(said)

    def _number(self, name: str, number: int, last: int, word: str) -> Iterator[Fault]:
        if number != last + 1 and last:
            found = f"{word} {number} cannot follow {last}" if word in ("revision", "version") else f"this {word} exists already"
            yield _fault(f"{word}-not-next", name, found, "read it again and repeat: somebody may have been faster")
        elif number != 1 and not last:
            yield _fault(f"{word}-not-next", name, f"the first {word} is 1, found {number}")
        elif not last and not self.is_new(name) and not self._view.is_used(name):
            yield from self._not_allocated(name)

    def _not_allocated(self, name: str) -> Iterator[Fault]:
        try:
            parse_identifier(name)
        except ValueError as error:
            yield _fault("not-an-identifier", name, str(error))
        else:
            yield _fault("not-allocated", name, "the identifier was not allocated", "let the registry allocate it, or reserve it before")

    def _not_ended(self, claim: str, what: str) -> Iterator[Fault]:
        state = derive_lifecycle(has_revision=True, events=FactFinder(self._view).events_of(claim))
        if state in TERMINAL:
            yield _fault("claim-ended", claim, f"it is {state} and {what}", "register a new claim")

    def _authority_known(self, code: str, where: str) -> Iterator[Fault]:
        if not self.knows_authority(code):
            yield _fault("authority-unknown", where, f"nobody is registered as {code}", "register the authority first")

    def _spec_known(self, reference: str, kind: SpecKind | None, where: str) -> Iterator[Fault]:
        name, _, version = reference.partition("@")
        same = (spec_version.c.spec == name) & (spec_version.c.version == int(version)) if version.isdigit() else None
        there = None
        if same is not None:
            there = self._view.one_value(select(spec_version.c.kind).where(self._view.visible(spec_version), same))
        if there is None:
            near = [one for one in self._view.suggest(name) if one != name]
            advice = f"did you mean {' or '.join(near)}?" if near else "register the specification first: caveat spec add"
            yield _fault("spec-unknown", where, f"{reference} is not a registered version of a specification", advice)
        elif kind is not None and there != kind.value:
            yield _fault("wrong-kind", where, f"{reference} is a {there}, expected a {kind.value}")
        elif kind is not None:
            self._specs.add((reference, kind))

    def _card_known(self, reference: str, where: str) -> Iterator[Fault]:
        name, _, revision = reference.partition("@")
        if not revision.isdigit() or self._view.find_card(name, int(revision)) is None:
            yield _fault("card-unknown", where, f"{reference} is not a registered revision of a card", "run: caveat card list")
        else:
            self._cards.add(reference)

    def _revision_known(self, reference: str, where: str) -> Iterator[Fault]:
        name, _, revision = reference.partition("@")
        if not revision.isdigit() or self._view.find_revision(name, int(revision)) is None:
            yield _fault("claim-unknown", where, f"{reference} is not a registered revision of a claim", f"run: caveat claim show {name}")

    def _audit_fits(self, name: str, claim: str) -> Iterator[Fault]:
        there = self._view.find_audit(name)
        if there is None:
            yield self._unknown("audit", name)
        elif there.audit.payload.claim != claim:
            yield _fault("other-claim", name, f"it is an audit of {there.audit.payload.claim}, not of {claim}")

    def _lock_of(self, name: str) -> tuple[int, int] | None:
        rows = self._view.rows(select(lock.c.seq, lock.c.at).where(self._view.visible(lock), lock.c.audit == name))
        return (rows[0].seq, rows[0].at) if rows else None

    def _unknown(self, what: str, name: str) -> Fault:
        near = [one for one in self._view.suggest(name) if one != name]
        return _fault(
            f"{what}-unknown", name, f"no {what} has this identifier here", f"did you mean {' or '.join(near)}?" if near else None
        )


_DONE = {
    ClaimEventKind.RESERVE: "reserved",
    ClaimEventKind.PUBLISH: "published",
    ClaimEventKind.SUPERSEDE: "superseded",
    ClaimEventKind.WITHDRAW: "withdrawn",
    ClaimEventKind.REJECT: "rejected",
}

_RULES: dict[type[Payload], Callable[[Rules, Any], Iterable[Fault]]] = {
    Authority: Rules.authority,
    ModelVersion: Rules.model,
    SpecVersion: Rules.spec,
    Card: Rules.card,
    ClaimRevision: Rules.claim,
    ClaimEvent: Rules.event,
    ClaimRelation: Rules.relation,
    Audit: Rules.audit,
    Lock: Rules.lock,
    Run: Rules.run,
    Result: Rules.result,
    EvidenceStatement: Rules.evidence,
    Finding: Rules.finding,
    Restriction: Rules.restriction,
    Contestation: Rules.contestation,
    ContestationEvent: Rules.contestation_event,
    Publication: Rules.publication,
    Survey: Rules.survey,
    Omission: Rules.omission,
    PassageMatch: Rules.sighting,
    KeyEvent: Rules.trust,
    LogImport: Rules.trust,
    Witnessing: Rules.trust,
    Equivocation: Rules.trust,
    Erasure: Rules.trust,
    Reveal: Rules.trust,
    Deviation: Rules.trust,
    Exploration: Rules.trust,
    ModelEvent: Rules.lineage,
    StalenessReview: Rules.lineage,
    ModelEndpoint: Rules.endpoint,
    RunStart: Rules.run_entry,
    RunEnd: Rules.run_entry,
}


def _fault(code: str, where: str, found: str, advice: str | None = None) -> Fault:
    return Fault(code=code, where=where, found=found, advice=advice)
