"""Which locked plans are carried out again, for which model version; the audits drafted for them, and what moved."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from audit.protocol.audit_record import get_claim
from registry.errors import CaveatError, Fault, InputError
from registry.records.analysis_plan import Lock
from registry.records.audit_case import Audit, Evidence, Scoring
from registry.records.claim import ClaimRevision
from registry.records.claim_draft import AuditDraft
from registry.records.claim_status import CauseKind, ObjectionState, StaleCause, Status
from registry.records.dossier import AuditFile
from registry.records.model_version import ModelRef
from registry.records.supplement import ClaimChange, ClaimState
from registry.records.verdict import find_gravity
from registry.registration.model_lineage import ENDED, find_target, require_model, write_model
from registry.registration.stale_claims import find_stale
from registry.report.claim_change import build_change, rank_change
from registry.report.supplement_wording import get_words
from registry.store.ledger import Ledger
from registry.store.registry_view import View

# Which locked plans are renewed, for which model version, and which stale claims are left with a reason.

_OF_ONE_CLAIM = frozenset({"not-in-lineage", "choice-needed", "no-successor-version"})
"""What keeps one claim from being carried, and no other."""
SETTLED = frozenset({CauseKind.SUCCESSOR, CauseKind.METHOD, CauseKind.OBJECTION, CauseKind.MONITOR, CauseKind.REVISION})
"""Causes for a claim to be stale that the same plan, carried out again, settles; the claim is carried to a successor first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalRequest:
    """What is to be renewed, as it was asked for."""

    ask: str
    """The model as the endpoint is to return it."""
    claims: tuple[str, ...] = ()
    """`CLM-…`; without any, every stale claim."""
    model: ModelRef | None = None
    """Of the stale claims, those about this version, or whose plan was carried out on it; None for all."""
    to: ModelRef | None = None
    """The version that claims are carried to; None for the newest that follows theirs."""
    kept: tuple[str, ...] = ()
    """Claims that an earlier call chose, `CLM-…`; they are taken up again where none are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRenewal:
    """One claim, and the audit whose locked plan is to be carried out again."""

    claim: ClaimRevision
    """The current revision: carried already, or not yet."""
    old: AuditFile
    """With a lock."""
    before: ModelRef
    """The version that `old` is about."""
    target: ModelRef
    """The version that the renewed audit is about."""
    renewed: AuditFile | None = None
    """The audit that renews `old` for `target`, where it is on record already."""
    notes: tuple[str, ...] = ()
    """What the renewed audit does not settle, and in what it differs, a sentence each without full stop."""

    @property
    def lock(self) -> Lock:
        """The plan that is run again."""
        if self.old.lock is None:
            raise ValueError("an audit that is renewed has a lock")
        return self.old.lock.payload

    @property
    def is_concluded(self) -> bool:
        """Whether the renewed audit has its outcome."""
        return self.renewed is not None and bool(self.renewed.restrictions)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedClaim:
    """A claim that is not re-audited here, and why."""

    claim: str
    """`CLM-…`."""
    fault: Fault
    audit: str | None = None
    """`AUD-…`: the audit that would have been renewed; None where there is none."""
    is_open: bool = True
    """Whether an audit is missing now: False for a claim that never had one, and where the same plan can settle nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalChoice:
    """Everything that is stale, parted."""

    chosen: tuple[ClaimRenewal, ...]
    left: tuple[SkippedClaim, ...]


def choose_renewals(view: View, wish: RenewalRequest, *, auditor: str) -> RenewalChoice:
    """Return which audits are to be renewed, and which claims are left.

    Args:
        auditor: authority that would carry them out.

    Raises:
        InputError, NotFoundError: a claim or a version is named that is not there; claims would be applied to several versions, and one
            name is asked.
    """
    for model in filter(None, (wish.model, wish.to)):
        require_model(view, model)
    chosen: list[ClaimRenewal] = []
    left: list[SkippedClaim] = []
    # Named claims are renewed whether they are stale or not.
    stale = {} if wish.claims else {summary.claim: summary.status for summary in find_stale(view).claims}
    for name in dict.fromkeys(wish.claims or (*stale, *wish.kept)):
        try:
            claim = get_claim(view, name)
            choice = _choose_one(view, wish, claim, stale.get(name) or view.status(name), auditor)
        except CaveatError as error:
            # A claim that the user named is an error of the command. Of all stale claims, one that cannot be carried is
            # listed and the others go on.
            if wish.claims and error.code not in _OF_ONE_CLAIM:
                raise
            left.append(SkippedClaim(claim=name, fault=error.faults[0]))
            continue
        if isinstance(choice, ClaimRenewal) and (wish.claims or name in wish.kept or wish.model in (None, claim.model, choice.before)):
            chosen.append(choice)
        elif isinstance(choice, SkippedClaim) and (wish.claims or wish.model in (None, claim.model)):
            left.append(choice)
    _check_one_target(chosen)
    return RenewalChoice(chosen=tuple(chosen), left=tuple(left))


def _choose_one(view: View, wish: RenewalRequest, claim: ClaimRevision, status: Status, auditor: str) -> ClaimRenewal | SkippedClaim:
    if status.lifecycle in ENDED:
        text = f"is {status.lifecycle.value}: it is no longer in use"
        return _leave(claim, "claim-ended", text, advice="leave it out", is_open=False)
    audits = view.list_audits(claim=claim.claim)
    locked = [audit for audit in audits if audit.lock is not None and audit.withdrawn is None]
    if not locked:
        is_withdrawn = any(audit.lock for audit in audits)
        never = "has only withdrawn audits under a lock" if is_withdrawn else f"was never audited{' under a lock' if audits else ''}"
        never = f"{never}: there is no plan to repeat"
        return _leave(claim, "no-locked-plan", never, advice=f"caveat audit new {claim.claim} > audit.yaml", is_open=bool(audits))
    target = _find_target(view, wish, claim, status.causes)
    settled = [cause for cause in status.causes if cause.kind in SETTLED]
    renewed = _find_renewed(locked, wish, claim, target)
    # An existing renewal is taken up again, unless a cause that it settles was recorded after it was opened. A cause
    # that was there before and is still open would not be settled by another renewal either.
    if renewed is not None and not (renewed.restrictions and any(stale_cause.entry > renewed.audit.entry.seq for stale_cause in settled)):
        old = next(file for file in audits if file.audit.payload.audit == renewed.audit.payload.renews)
        return _build(view, claim, old, target, status.causes, renewed=renewed, auditor=auditor)
    # A renewal costs money, so it is made only if the same plan settles a cause, or if the user names the claim.
    if not settled and not wish.claims:
        text = "; ".join(stale_cause.text for stale_cause in status.causes) or "nothing makes it stale any more"
        advice = _advise(claim, status.causes)
        return _leave(claim, "renewal-not-sufficient", f"the same plan settles nothing of this: {text}", advice=advice, is_open=False)
    old = max(locked, key=lambda file: _weigh(view, file))
    return _build(view, claim, old, target, status.causes, renewed=None, auditor=auditor)


def _leave(claim: ClaimRevision, code: str, text: str, *, advice: str | None, is_open: bool = True) -> SkippedClaim:
    return SkippedClaim(claim=claim.claim, fault=Fault(code, claim.reference, text, advice=advice), is_open=is_open)


def _advise(claim: ClaimRevision, causes: Sequence[StaleCause]) -> str | None:
    if any(cause.kind is CauseKind.SPEC for cause in causes):
        return f"a plan with the newer definition: caveat audit new {claim.claim} > audit.yaml; or a decision: caveat stale dismiss"
    return f"a person decides: caveat stale confirm {claim.claim} or caveat stale dismiss {claim.claim}" if causes else None


def _find_target(view: View, wish: RenewalRequest, claim: ClaimRevision, causes: Sequence[StaleCause]) -> ModelRef:
    """Return the version that the claim is to be carried to; its own where no other one took its place."""
    if wish.to is None:
        return find_target(view, claim.model) if any(cause.kind is CauseKind.SUCCESSOR for cause in causes) else claim.model
    if wish.to != claim.model and not view.lineage().find_path(claim.model, wish.to):
        problem = f"is about {claim.model}, and {wish.to} does not come from that on record"
        advice = f"caveat model update {write_model(claim.model)} {write_model(wish.to)}"
        raise InputError(Fault("not-in-lineage", claim.reference, problem, advice=advice))
    return wish.to


def _find_renewed(locked: Sequence[AuditFile], wish: RenewalRequest, claim: ClaimRevision, target: ModelRef) -> AuditFile | None:
    """Return the latest audit that renews another one for *target* and the model that is asked; None where there is none yet."""
    known = {file.audit.payload.audit for file in locked}
    files = [file for file in locked if file.lock and file.lock.payload.model == wish.ask and file.audit.payload.renews in known]
    files = [file for file in files if claim.model == target and file.audit.payload.claim == claim.reference]
    return files[-1] if files else None


def _weigh(view: View, file: AuditFile) -> tuple[object, ...]:
    """Return how much speaks for the plan of *file*: an outcome, the latest revision, how grave its outcome is, when it was opened.

    One under the rival of an objection counts only once that is upheld.
    """
    rival = file.audit.payload.objection
    contested = view.find_objection(rival) if rival else None
    is_upheld = contested is not None and contested.state is ObjectionState.UPHELD
    revision = int(file.audit.payload.claim.partition("@")[2])
    last = file.restrictions[-1].payload.classification.primary if file.restrictions else None
    rank = tuple(-part for part in find_gravity(last.verdict, last.verdict_standing)) if last else ()
    # A plan with an outcome is preferred, since the renewal can be compared with it. A replay under a rival
    # specification counts only after the objection was upheld.
    return rival is None or is_upheld, last is not None, revision, rank, file.audit.entry.seq


def _build(
    view: View,
    claim: ClaimRevision,
    old: AuditFile,
    target: ModelRef,
    causes: Sequence[StaleCause],
    *,
    renewed: AuditFile | None,
    auditor: str,
) -> ClaimRenewal:
    before = get_claim(view, old.audit.payload.claim)
    unsettled = _list_unsettled(causes, stays=claim.model == target, concluded=renewed is not None and bool(renewed.restrictions))
    # θ, relation and direction come from the claim as it is now, so a difference from the old lock must be visible.
    notes = (*unsettled, *_list_differences(claim, old, auditor))
    return ClaimRenewal(claim=claim, old=old, before=before.model, target=target, renewed=renewed, notes=notes)


def _list_unsettled(causes: Sequence[StaleCause], *, stays: bool, concluded: bool) -> Iterator[str]:
    """Give the causes that are left once the plan is carried out again.

    Args:
        stays: whether the claim is not carried to another version.
        concluded: whether it was carried out already.
    """
    for cause in causes:
        match cause.kind:
            # Causes that a renewal leaves open are named in the notes. A renewed claim must not look settled where it
            # is not.
            case CauseKind.SPEC:
                yield f"{cause.text}: the same plan keeps the version that it locked, and does not settle this"
            case CauseKind.CARD | CauseKind.DEPRECATION:
                yield f"{cause.text}: no audit settles this; a person decides (caveat stale confirm or dismiss)"
            case CauseKind.OBJECTION:
                yield f"{cause.text}: what was contested is replayed as it was locked; a replay under the rival is an audit of its own"
            case CauseKind.SUCCESSOR if stays:
                yield f"{cause.text}: the claim stays one about the version that it is about, and this is not settled"
            case CauseKind.METHOD if concluded:
                yield f"{cause.text}: the renewed audit was estimated by the method of this Caveat, and does not settle this"
            case CauseKind.SUCCESSOR | CauseKind.METHOD | CauseKind.EXPIRY | CauseKind.MONITOR | CauseKind.REVISION:
                pass


def _list_differences(claim: ClaimRevision, old: AuditFile, auditor: str) -> Iterator[str]:
    """Give in what the renewed lock will not say what the old one says, beside the model: it takes these from the claim as it is now."""
    lock = old.lock.payload if old.lock else None
    for name in ("relation", "theta", "direction"):
        before, now = getattr(lock, name), getattr(claim, name)
        if before != now:
            words = {"theta": "θ"}.get(name, name)
            yield f"{words} was {'none' if before is None else before} under the old lock and is {'none' if now is None else now} now"
    if old.audit.payload.auditor != auditor:
        yield f"the plan is that of {old.audit.payload.auditor}; independence is as stated there"
    if old.audit.payload.scoring.invariant:
        yield "scoring was declared invariant for the earlier responses; of the new ones it is not known"


def _check_one_target(chosen: Iterable[ClaimRenewal]) -> None:
    targets = dict.fromkeys(renewal.target for renewal in chosen if not renewal.is_concluded)
    # One endpoint name is asked for all claims, and it belongs to one version.
    if len(targets) > 1:
        problem = f"claims would be renewed for {', '.join(map(str, targets))}, and one model is asked for all of them"
        advice = "narrow it with --model OLD or by naming claims, or name one version with --to"
        raise InputError(Fault("choice-needed", "caveat stale renew", problem, advice=advice))


# From a locked plan to the draft that carries it out again for another model version. Pure.


def draft_renewal(chosen: ClaimRenewal, claim: str, *, ask: str, replay: str | None, tasks: str | None) -> AuditDraft:
    """Return the audit that carries the plan of *chosen* out again.

    Plan, specifications in their locked versions, rules, budget and notes are those of the old lock. What was measured or declared of the
    earlier version's responses does not speak of the later one's: evidence names the version it was measured on, and that a scorer
    passed a check is excluded; that it failed one is kept, for it speaks of the scorer.

    Args:
        claim: `CLM-…@n`, the revision that is audited.
        ask: the model as the endpoint is to return it.
        replay: name of the replay's file; None where the run is made elsewhere.
        tasks: name of the list of tasks; None where the replay names them, or nothing does.
    """
    audit, lock = chosen.old.audit.payload, chosen.lock
    return AuditDraft(
        claim=claim,
        independence=audit.independence,
        question=audit.question,
        deployment=audit.deployment,
        scoring=_carry_scoring(audit),
        evidence=tuple(_carry_evidence(statement.payload.evidence, chosen) for statement in chosen.old.evidence),
        # The old last day of validity has passed or will soon; the new outcome gets its own.
        plan=replace(lock.plan, valid_until=None),
        deploy_specs=lock.deploy_specs,
        exclusion_rules=lock.exclusion_rules,
        stopping_rule=lock.stopping_rule,
        budget=lock.budget,
        note=lock.note,
        test_contexts=lock.test.spec if lock.test else None,
        deploy_contexts={spec.name: spec.spec for spec in lock.deploy} or None,
        scored_by=lock.scoring.spec if lock.scoring else None,
        scorer=lock.scorer,
        cues=tuple(cue.spec for cue in lock.cues),
        tasks=tasks,
        replay=replay,
        model=ask,
        objection=audit.objection,
        renews=audit.audit,
    )


def list_task_ids(lock: Lock) -> tuple[str, ...] | None:
    """Return the tasks that *lock* fixes; None where it fixes none, or knows them by their digest only."""
    return lock.tasks.ids if lock.tasks and lock.tasks.ids else None


def _carry_scoring(audit: Audit) -> Scoring:
    # A declared pass was about the earlier responses. A declared failure is about the scorer and is kept.
    return replace(audit.scoring, invariant=None) if audit.scoring.invariant else audit.scoring


def _carry_evidence(evidence: Evidence, chosen: ClaimRenewal) -> Evidence:
    # Evidence without a model meant the claim's version, which is another one now. Evidence of a change and a verified
    # direction count only for the version that they were measured on.
    if evidence.model is not None or chosen.before == chosen.target:
        return evidence
    return replace(evidence, model=chosen.before)


# Changes by a renewal: each claim before and now, and the number of transitions between classes.

NOT_AUDITED = "not audited"


def find_change(ledger: Ledger, claim_renewal: ClaimRenewal) -> ClaimChange | None:
    """Return how the claim of *claim_renewal* changed since before it was applied, or since before its audit was renewed; None before that.

    Of a claim with several audits the outcome that leads counts, before and after.
    """
    if claim_renewal.renewed is None:
        return None
    name = claim_renewal.claim.claim
    with ledger.view() as view:
        after = view.dossier(name)
    about = int(claim_renewal.old.audit.payload.claim.partition("@")[2])
    # "Before" is the entry before the claim was carried, since carrying it already changes its status.
    later = [revision.entry.seq for revision in after.revisions if revision.payload.revision > about]
    since = min([*later, claim_renewal.renewed.audit.entry.seq]) - 1
    with ledger.view(since) as view:
        before = view.dossier(name)
    return build_change(before, after, since=since)


def sort_changes(changes: Iterable[ClaimChange]) -> list[ClaimChange]:
    """Return *changes* in the order of a report: newly inverted first, then other changes of class."""
    return sorted(changes, key=rank_change)


def count_transitions(changes: Iterable[ClaimChange]) -> list[tuple[str, str, int]]:
    """Return how many claims came from which class to which, most first."""
    counted = Counter((describe_class(change.before), describe_class(change.after)) for change in changes)
    # The class alone is counted in the matrix; standing, mode and candidate are part of its label, so a change of any
    # of them is visible.
    return sorted(
        ((before, after, count) for (before, after), count in counted.items()), key=lambda transition: (-transition[2], transition[:2])
    )


def describe_class(state: ClaimState | None) -> str:
    """Return class, standing, mode and class of the point estimate of *state* in words: all that a change of class is reported by."""
    if state is None or state.class_ is None:
        return NOT_AUDITED
    suggested = [f"the point estimate suggests {get_words(state.point_class)}"] if state.point_class else []
    return " · ".join([get_words(label) for label in (state.class_, state.standing, state.mode) if label] + suggested)
