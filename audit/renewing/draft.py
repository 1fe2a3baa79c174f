"""From a locked plan to the audit that carries it out again: the same plan for the same claim about another model version. Pure."""

from dataclasses import replace

from audit.renewing.choice import Chosen
from registry.records.analysis_plan import Lock
from registry.records.audit_case import Audit, Evidence, Scoring
from registry.records.claim_draft import AuditDraft


def draft_renewal(chosen: Chosen, claim: str, *, ask: str, replay: str | None, tasks: str | None) -> AuditDraft:
    """Return the audit that carries the plan of *chosen* out again.

    Plan, specifications in their locked versions, rules, budget and notes are those of the old lock. What was measured or declared of the
    earlier version's responses does not speak of the later one's: evidence names the version it was measured on, and that a scorer
    passed a check is left out; that it failed one is kept, for it speaks of the scorer.

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
        evidence=tuple(_carry_evidence(one.payload.evidence, chosen) for one in chosen.old.evidence),
        plan=replace(lock.plan, valid_until=None),
        deploy_specs=lock.deploy_specs,
        exclusion_rules=lock.exclusion_rules,
        stopping_rule=lock.stopping_rule,
        budget=lock.budget,
        note=lock.note,
        test_contexts=lock.test.spec if lock.test else None,
        deploy_contexts={one.name: one.spec for one in lock.deploy} or None,
        scored_by=lock.scoring.spec if lock.scoring else None,
        cues=tuple(one.spec for one in lock.cues),
        tasks=tasks,
        replay=replay,
        model=ask,
        contestation=audit.contestation,
        renews=audit.audit,
    )


def list_task_ids(lock: Lock) -> tuple[str, ...] | None:
    """Return the tasks that *lock* fixes; None where it fixes none, or knows them by their digest alone."""
    return lock.tasks.ids if lock.tasks and lock.tasks.ids else None


def _carry_scoring(audit: Audit) -> Scoring:
    return replace(audit.scoring, invariant=None) if audit.scoring.invariant else audit.scoring


def _carry_evidence(evidence: Evidence, chosen: Chosen) -> Evidence:
    if evidence.model is not None or chosen.before == chosen.target:
        return evidence
    return replace(evidence, model=chosen.before)
