"""`gate.yaml`: findings that are allowed until a day, with the reason; and rules that a lab makes stricter."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

from interchange.gate.gate_finding import RULES, GateFinding, Level, Rule, Waiver
from registry.codec.canonical_documents import from_document, json_schema
from registry.codec.file_io import read_document
from registry.errors import Fault, InputError
from registry.records.record import Kind, Record, parse_identifier


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePolicy(Record):
    """What a lab allows, and what it requires beyond the rules."""

    schema: Literal["caveat/gate/1"]
    allow: tuple[Waiver, ...] = ()
    """Findings that do not let the gate fail until their day is over."""
    levels: dict[Rule, Level] = field(default_factory=dict)
    """Rules with a higher level than their own; a lower one needs a waiver for each claim, with its reason."""


NO_POLICY = GatePolicy(schema="caveat/gate/1")


def policy_schema() -> dict[str, Any]:
    """Return the JSON Schema of `gate.yaml`."""
    return json_schema(GatePolicy)


def read_policy(path: Path) -> GatePolicy:
    """Return the policy in the file at *path*; raises InputError with everything that is wrong in it."""
    policy = from_document(GatePolicy, read_document(path), where=str(path))
    faults = [fault for place, waiver in enumerate(policy.allow) for fault in _find_faults(waiver, f"{path}, allow[{place}]")]
    for rule, level in policy.levels.items():
        if level.rank < RULES[rule].level.rank:
            problem = f"the level of {rule} is {RULES[rule].level}, and {level} is lower"
            faults.append(
                Fault("gate-policy", f"{path}, levels.{rule}", problem, advice="allow single claims instead, each with its reason")
            )
    if faults:
        raise InputError(faults)
    return policy


def _find_faults(waiver: Waiver, place: str) -> list[Fault]:
    faults = []
    try:
        parse_identifier(waiver.claim, Kind.CLAIM)
    except ValueError as error:
        faults.append(Fault("bad-identifier", f"{place}.claim", str(error)))
    if not waiver.why.strip():
        faults.append(Fault("gate-policy", f"{place}.why", "a waiver needs its reason"))
    return faults


def apply_policy(findings: Iterable[GateFinding], policy: GatePolicy, *, today: date) -> list[GateFinding]:
    """Return *findings* with the levels and waivers of *policy*. An expired waiver counts as none."""
    return [_apply(finding, policy, today) for finding in findings]


def _apply(finding: GateFinding, policy: GatePolicy, today: date) -> GateFinding:
    level = policy.levels.get(finding.rule, finding.level)
    # A provisional verdict stays a warning where the policy names the rule's own level.
    raised = replace(finding, level=level) if level.rank > finding.level.rank else finding
    for waiver in policy.allow:
        is_meant = finding.claim is not None and waiver.claim in (finding.claim, finding.claim.partition("@")[0])
        if waiver.rule is finding.rule and is_meant and today <= waiver.until:
            return replace(raised, waiver=waiver)
    return raised
