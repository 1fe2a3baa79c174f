"""The order of an audit, refused by our code in words before the database refuses it in its own."""

from dataclasses import replace
from datetime import timedelta

import pytest

from registry.errors import CaveatError, ConflictError, InputError
from registry.records.analysis_plan import LockedSpec, LockedTasks, list_plan_differences
from registry.records.audit_case import AuditWithdrawal
from registry.records.claim import Direction, Form
from registry.records.module_findings import Finding
from registry.records.record import Kind
from registry.records.replay_run import RunStart
from registry.records.verdict import Basis, ClaimClass, Standing, VerdictStanding
from registry.store.ledger import Ledger
from tests import findings
from tests.store import builders as make


def test_a_run_needs_a_lock_before_it(ledger: Ledger) -> None:
    """No lock, no run; a run that started before the lock is refused with what can still be done."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = f"{make.add_claim(writer, phi)}@1"
        audit = make.add_audit(writer, claim)
        with pytest.raises(InputError, match=f"caveat audit lock {audit}"):
            writer.append(make.run(audit, make.START))
        locked = writer.append(make.lock(audit, claim))
        with pytest.raises(ConflictError, match=r"run-before-lock(.|\n)*reported"):
            writer.append(make.run(audit, locked.at - timedelta(seconds=1)))
        with pytest.raises(ConflictError, match="already-locked"):
            writer.append(make.lock(audit, claim))
        writer.append(make.run(audit, locked.at))

        file = writer.find_audit(audit)
        assert file is not None
        assert file.lock is not None
        assert len(file.runs) == 1


def test_a_result_rests_on_a_run_of_its_audit(ledger: Ledger) -> None:
    """Another audit's run is none, and ED lies within its interval."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = f"{make.add_claim(writer, phi)}@1"
        first, other = make.add_audit(writer, claim), make.add_audit(writer, claim)
        for audit in (first, other):
            writer.append(make.lock(audit, claim))
        run = writer.append(make.run(first, make.START + timedelta(hours=1)))
        with pytest.raises(InputError, match="not-registered"):
            writer.append(make.result(other, run.seq))
        result = writer.append(make.result(first, run.seq))
        verdict = make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED, basis=Basis.REPLAY)
        with pytest.raises(InputError, match="verdict-inconsistent"):
            writer.append(make.restriction(other, claim, verdict, result=result.seq))
        writer.append(make.restriction(first, claim, verdict, result=result.seq))

        assert [len(file.restrictions) for file in writer.list_audits(claim)] == [1, 0]
        assert writer.list_audits(claim.partition("@")[0]) == writer.list_audits()


def test_a_verdict_that_the_method_does_not_allow_is_refused(ledger: Ledger) -> None:
    """Every fault of every reading at once."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = f"{make.add_claim(writer, phi)}@1"
        audit = make.add_audit(writer, claim)
        with pytest.raises(InputError) as refused:
            writer.append(
                make.restriction(
                    audit,
                    claim,
                    make.verdict(Form.EXISTENCE, ClaimClass.INVERTED, standing=Standing.ESTABLISHED),
                    make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED, basis=Basis.REPLAY),
                )
            )

    assert [fault.code for fault in refused.value.faults] == [
        "verdict-inconsistent",
        "verdict-inconsistent",
        *("verdict-inconsistent", "verdict-inconsistent"),
        "verdict-inconsistent",
    ]


def test_an_established_verdict_without_a_replay_is_refused(ledger: Ledger) -> None:
    """What is only reported is provisional at most, whatever its class."""
    with ledger.write(actor="LAB") as writer:
        claim = f"{make.add_claim(writer, make.settle(writer))}@1"
        audit = make.add_audit(writer, claim)
        reported = make.verdict(Form.PREVALENCE, ClaimClass.STABLE, verdict_standing=VerdictStanding.ESTABLISHED)
        with pytest.raises(InputError, match="verdict-inconsistent"):
            writer.append(make.restriction(audit, claim, reported))
        writer.append(make.restriction(audit, claim, replace(reported, verdict_standing=VerdictStanding.PROVISIONAL)))


def test_what_belongs_to_another_claim_is_refused(ledger: Ledger) -> None:
    """A lock, evidence and a verdict are about the revision that is audited."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim, other = (f"{make.add_claim(writer, phi)}@1" for _ in range(2))
        audit = make.add_audit(writer, claim)
        verdict = make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED)
        finding = make.finding(audit, other, findings.ablation())
        for payload in (make.lock(audit, other), make.evidence(audit, other), finding, make.restriction(audit, other, verdict)):
            with pytest.raises(ConflictError, match="wrong-claim"):
                writer.append(payload)


def test_findings_are_part_of_their_audit(ledger: Ledger) -> None:
    """Each kind comes back as it was said, in log order, in the audit, its claim's history and the log."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = f"{make.add_claim(writer, phi)}@1"
        audit = make.add_audit(writer, claim)
        bodies = [
            make.finding(audit, claim, body) for body in (findings.naturalness(), findings.ablation(), findings.judge(invariant=False))
        ]
        writer.append_many(bodies)
    with ledger.view() as view:
        file = view.find_audit(audit)
        history = view.history(claim.partition("@")[0])
        dossier = view.dossier(claim.partition("@")[0])

    assert file is not None
    assert [finding.payload for finding in file.findings] == bodies
    assert [finding.kind.value for finding in bodies] == ["naturalness", "ablation", "judge"]
    assert [recorded.payload for recorded in history if recorded.entry.kind == Finding.KIND] == bodies
    assert dossier.audits[0].findings == file.findings


def test_a_finding_enters_before_the_outcome(ledger: Ledger) -> None:
    """An outcome that knew nothing of it cannot be said to have taken it into account; what can be done is said."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = f"{make.add_claim(writer, phi)}@1"
        audit, other = make.add_audit(writer, claim), make.add_audit(writer, claim)
        writer.append(make.restriction(audit, claim, make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED)))
        with pytest.raises(ConflictError, match=r"audit-concluded(.|\n)*contest the scoring, or open another audit"):
            writer.append(make.finding(audit, claim, findings.naturalness()))
        writer.append(make.finding(other, claim, findings.naturalness()))
        writer.append(make.restriction(other, claim, make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED)))

        assert [len(audit_file.findings) for audit_file in writer.list_audits(claim)] == [0, 1]


def test_what_renews_another_audit_is_compared_with_its_lock(ledger: Ledger) -> None:
    """The audit exists, is of the same claim and has a lock; the new lock is that one but for model, θ, direction and note."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        first, second = (f"{make.add_claim(writer, phi, quote=quote)}@1" for quote in ("It does not scheme.", "It never schemes."))
        old, open_, other = make.add_audit(writer, first), make.add_audit(writer, first), make.add_audit(writer, second)
        writer.append(replace(make.lock(old, first), model="m-1"))
        new = make.audit(make.allocate(writer, Kind.AUDIT), first)
        for renews, code in (("AUD-LAB-2026-0099-9", "not-registered"), (open_, "not-locked"), (other, "wrong-claim")):
            with pytest.raises(CaveatError, match=code):
                writer.append(replace(new, renews=renews))
        writer.append(replace(new, renews=old))
        same = replace(make.lock(new.audit, first), model="m-2", direction=Direction.LOWER_IS_SAFER, note="again")
        tasks = LockedTasks(count=2, sha256="ab" * 32, ids=())
        other_plan = replace(same, plan=replace(same.plan, margin=0.2), exclusion_rules="none", tasks=tasks)
        with pytest.raises(CaveatError, match=r"renewal-differs(.|\n)*plan, exclusion rules, tasks"):
            writer.append(other_plan)
        writer.append(same)

        file = writer.find_audit(new.audit)
        assert file is not None
        assert file.lock is not None


PARTS = {"policy": '{"max_tokens":5,"model":"m-1"}', "deploy": "sha256 ab", "test": "sha256 cd", "tasks": "sha256 ef"}


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"policy": '{"base_url":"http://x","max_tokens":5,"model":"m-2"}'}, ()),
        ({"policy": '{"max_tokens":6,"model":"m-2"}'}, ("replay: policy",)),
        ({"policy": "sha256 12"}, ()),
        ({"deploy": "sha256 00"}, ("replay: deploy",)),
        ({"budget": "{}"}, ("replay: budget",)),
    ],
)
def test_of_a_replay_the_model_and_its_endpoint_alone_may_be_others(changed: dict[str, str], differs: tuple[str, ...]) -> None:
    """A policy that is locked by its digest is not compared: no one can tell its model from the rest."""
    before = replace(make.lock("AUD-LAB-2026-0001-S", "CLM-LAB-2026-0001-A@1"), replay="12" * 32, replay_parts=PARTS)
    after = replace(before, replay="34" * 32, replay_parts=PARTS | changed)
    deploy = (LockedSpec(name="default", spec="CTX-LAB-2026-0001-Q@1", sha256="ab" * 32),)

    assert list_plan_differences(before, after) == differs
    assert list_plan_differences(replace(before, deploy=deploy), before) == ("deployment contexts",)
    assert list_plan_differences(before, replace(before, deploy=deploy)) == ()
    assert list_plan_differences(before, replace(before, replay=None, replay_parts=None))[0] == "replay"


def test_only_its_auditor_withdraws_an_audit_and_nothing_enters_it_then(ledger: Ledger) -> None:
    """Others object. A lock, a run and evidence are refused too."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        writer.append(make.authority("OTHER"))
        claim = f"{make.add_claim(writer, phi)}@1"
        audit = make.add_audit(writer, claim)
    withdrawal = AuditWithdrawal(audit=audit, reason="The scores were of a debug build.")
    with pytest.raises(CaveatError, match="not-permitted"), ledger.write(actor="OTHER") as writer:
        writer.append(withdrawal)
    with ledger.write(actor="LAB") as writer:
        locked = writer.append(make.lock(audit, claim))
        writer.append(withdrawal)
        for refused in (withdrawal, make.evidence(audit, claim), RunStart(audit=audit, run="ab" * 16, planned=1, model="m")):
            with pytest.raises(CaveatError, match="audit-withdrawn"):
                writer.append(refused)
        with pytest.raises(CaveatError, match="not-registered"):
            writer.append(replace(withdrawal, audit="AUD-LAB-2026-0099-X"))

        file = writer.find_audit(audit)
        assert file is not None
        assert (file.withdrawn and file.withdrawn.payload, file.lock and file.lock.entry) == (withdrawal, locked)
