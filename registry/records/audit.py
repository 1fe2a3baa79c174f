"""An audit of one claim revision: who audits, how independently, and on what."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.case import Deployment, Scoring
from registry.records.estimate import Estimate
from registry.records.evidence import Evidence
from registry.records.plan import Plan
from registry.records.record import Record


class Independence(StrEnum):
    """How far the auditor stands from the card's publisher."""

    SELF = "self"
    COMMISSIONED = "commissioned"
    THIRD_PARTY = "third_party"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Record):
    """The opening of an audit. Retrospective when no lock follows it."""

    audit: str
    """`AUD-…`."""
    claim: str
    """`CLM-…@n`."""
    auditor: str
    """Authority code."""
    independence: Independence
    deployment: Deployment = Deployment()
    scoring: Scoring = Scoring()
    plan: Plan = Plan()
    """How estimates are made; the lock, where there is one, holds it with every default filled in."""
    question: str | None = None
    """What the audit asks, in words."""
    note: str | None = None
    renews: str | None = None
    """`AUD-…`: the audit whose locked plan this one carries out again; None for others."""
    contestation: str | None = None
    """`CON-…`: the contestation under whose rival specification this audit replays; None for audits of the contested one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceStatement(Record):
    """Evidence brought into an audit (door 3 of replay.md)."""

    audit: str
    claim: str
    """`CLM-…@n`."""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Record):
    """The estimate from one locked run."""

    audit: str
    run: int
    """Sequence number of the `run` entry."""
    estimate: Estimate
