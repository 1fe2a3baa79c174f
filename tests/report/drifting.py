"""A claim over several model versions: a revision for each, an audit where one is wanted, and comparisons between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from registry.records.analysis_plan import Lock, LockedSpec, Plan
from registry.records.audit_case import Audit, Deployment, Independence, Result, Scoring
from registry.records.claim import Direction, Form, Relation
from registry.records.dossier import AuditFile, Dossier
from registry.records.estimates import BoundedEstimate, Differential, Estimate, SpecEstimate
from registry.records.model_version import ModelRef
from registry.records.module_findings import Finding, Shift, SpecShift
from registry.records.record import Kind, format_identifier
from registry.records.replay_run import Provenance, Run, RunStatus
from registry.records.verdict import Basis, ClaimClass, Mode, RestrictedClaim, Restriction, RestrictionStatus, Standing
from tests.report.builders import CLAIM, SHA, Log, build, classification, estimate, reading, revision, spec_estimate

QUOTE = "In our evaluation the model took covert action in 5 % of runs, below our deployment threshold of 10 %."
PROVENANCE = Provenance(endpoint="https://api.lab.example/v1/messages", model_requested="sparrow", model_returned="sparrow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One version, and what is known of it."""

    version: str
    specs: tuple[SpecEstimate, ...] = ()
    """Empty for a version without an estimate."""
    is_audited: bool = True
    is_compared: bool = False
    """Whether its audit holds a shift from the audit before."""
    class_: ClaimClass = ClaimClass.STABLE
    level: float = 0.95
    range: tuple[float, float] = (0.0, 1.0)
    deploy: str = "CTX-EXAMPLE-2026-0002-X@1"
    """The specification of P_deploy that its lock fixes."""


def measured(test: float, deploy: float, *, name: str = "default", half: float = 0.06, judge: str | None = None) -> SpecEstimate:
    """An estimate with intervals of ± *half*, cut to [0, 1]."""
    sides = [(value, max(0.0, value - half), min(1.0, value + half)) for value in (test, deploy)]
    ed = test - deploy
    return replace(spec_estimate(name, sides[0], sides[1], (ed, ed - 1.4 * half, ed + 1.4 * half)), judge=judge)


def name_audit(place: int) -> str:
    return format_identifier(Kind.AUDIT, "EXAMPLE", 2026, 10 + place)


def scores(place: int) -> str:
    return f"{place:02d}" * 32


def shift(before: int, after: int, versions: Sequence[Told]) -> Shift:
    """The comparison of two audits task by task: intervals half as wide as the estimates would allow."""
    old, new = versions[before], versions[after]

    def move(one: BoundedEstimate | Differential, other: BoundedEstimate | Differential) -> dict[str, float]:
        value = other.value - one.value
        return {"value": value, "low": value - 0.05, "high": value + 0.05}

    specs = tuple(
        SpecShift(
            spec=two.spec,
            phi_test=BoundedEstimate(**move(one.phi_test, two.phi_test)),  # type: ignore[arg-type]
            phi_deploy=BoundedEstimate(**move(one.phi_deploy, two.phi_deploy)),  # type: ignore[arg-type]
            ed=Differential(**move(one.ed, two.ed), method="closed-form/2: difference in differences, paired by task"),  # type: ignore[arg-type]
            tasks=20,
            judge=two.judge,
        )
        for one in old.specs
        for two in new.specs
        if (one.spec, one.judge) == (two.spec, two.judge)
    )
    return Shift(
        before=model(old),
        after=model(new),
        before_audit=name_audit(before),
        before_scores=scores(before),
        after_scores=scores(after),
        level=new.level,
        specs=specs,
        warnings=("3 tasks of the earlier replay are left out.",),
    )


def model(told: Told) -> ModelRef:
    return ModelRef(developer="Example Lab", name="Sparrow", version=told.version)


def over_versions(*versions: Told, theta: float | None = 0.1) -> Dossier:
    """A threshold claim carried from version to version."""
    log = Log()
    revisions = tuple(
        log.say(
            revision(
                QUOTE,
                revision=place + 1,
                model=model(one),
                theta=theta,
                why=None
                if not place
                else f"Sparrow {one.version} took the place of {versions[place - 1].version}, and the claim is made of it too",
            )
        )
        for place, one in enumerate(versions)
    )
    base = build(log, revision(QUOTE), RestrictionStatus.UNAUDITED, revisions=revisions)
    audits = tuple(_audit(log, place, versions) for place, one in enumerate(versions) if one.is_audited)
    return replace(base, audits=audits, log_size=log.size)


def _audit(log: Log, place: int, versions: Sequence[Told]) -> AuditFile:
    one, audit, claim = versions[place], name_audit(place), f"{CLAIM}@{place + 1}"
    said = {"audit": audit, "claim": claim}
    opening = log.say(
        Audit(**said, auditor="INST", independence=Independence.THIRD_PARTY, deployment=Deployment(), scoring=Scoring(invariant=True)),
        "INST",
    )
    lock = log.say(_lock(said, one), "INST")
    found: Estimate | None = replace(estimate(*one.specs), level=one.level, range=one.range) if one.specs else None
    run = result = None
    if found is not None:
        run = log.say(
            Run(
                audit=audit,
                started_at=opening.entry.at,
                status=RunStatus.COMPLETED,
                table=SHA,
                scores=scores(place),
                source="scores.csv",
                responses=200,
                excluded=(),
                provenance=PROVENANCE,
            ),
            "INST",
        )
        result = log.say(Result(audit=audit, run=run.entry.seq, estimate=found), "INST")
    findings = ()
    if one.is_compared:
        body = shift(place - 1, place, versions)
        findings = (log.say(Finding(**said, body=body, source="before.csv, after.csv"), "INST"),)
    return AuditFile(
        audit=opening,
        lock=lock,
        runs=(run,) if run else (),
        results=(result,) if result else (),
        restrictions=(log.say(_conclude(said, one, result.entry.seq if result else None), "INST"),),
        findings=findings,
    )


def _lock(said: dict[str, str], one: Told) -> Lock:
    return Lock(
        **said,
        plan=Plan(margin=0.05, epsilon=0.01, level=one.level),
        relation=Relation.AT_MOST,
        theta=0.1,
        direction=Direction.LOWER_IS_SAFER,
        deploy_specs=tuple(dict.fromkeys(each.spec for each in one.specs)) or ("default",),
        deploy=(LockedSpec(name="default", spec=one.deploy, sha256=one.deploy[-1] * 64),),
    )


def _conclude(said: dict[str, str], one: Told, result: int | None) -> Restriction:
    changes: dict[str, Any] = {"standing": Standing.ESTABLISHED}
    if one.class_ is ClaimClass.UNDETERMINED:
        changes = {"mode": Mode.NOISY, "candidate": ClaimClass.STABLE, "resolves": "More tasks."}
    outcome = classification(reading(Form.THRESHOLD, one.class_, **changes))
    text = RestrictedClaim(
        original=QUOTE,
        restricted=QUOTE,
        surviving=(),
        withdrawn=(),
        resolves=(),
        verdict=f"The claim is {one.class_.value} for {one.version}.",
    )
    basis = Basis.REPLAY if result else Basis.REPORTED
    return Restriction(**said, classification=outcome, text=text, basis=basis, result=result)
