"""The rules: what registry and draft say of one claim becomes findings. Keyed on verdict and standing; knows no file and no database."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from interchange.gate.gate_finding import RULES, DraftPlace, GateFinding, Level, QuotedClaim, Rule
from registry.records.claim_status import CauseKind, Dispute, FamilyOutcome, Lifecycle, Staleness, read_words
from registry.records.model_version import ModelRef
from registry.records.record import Record
from registry.records.verdict import CompletenessItem, ItemStatus, RestrictionStatus, Verdict, VerdictStanding
from registry.report.supplement_wording import format_verdict

_FIGURE_RULES = {
    CompletenessItem.THRESHOLD: Rule.FIGURE_WITHOUT_THETA,
    CompletenessItem.VERSION: Rule.FIGURE_WITHOUT_VERSION,
    CompletenessItem.SAMPLE_SIZE: Rule.FIGURE_WITHOUT_N,
    CompletenessItem.UNCERTAINTY: Rule.FIGURE_WITHOUT_UNCERTAINTY,
    CompletenessItem.EVALUATION: Rule.FIGURE_WITHOUT_CONTEXT,
    CompletenessItem.ELICITATION: Rule.FIGURE_WITHOUT_CONTEXT,
}
_VERDICT_RULES = {
    Verdict.CONTRADICTED: Rule.CLAIM_CONTRADICTED,
    # A candidate inversion: evidence without a replay points against the claim.
    Verdict.IN_DOUBT: Rule.CLAIM_CONTRADICTED,
    Verdict.CONTRADICTED_IN_PRODUCTION: Rule.MONITOR_ALARM,
    Verdict.DOES_NOT_CARRY_OVER: Rule.CLAIM_EXCEEDS_RESTRICTION,
    Verdict.NOT_REPRODUCED: Rule.CLAIM_NOT_REPRODUCED,
    Verdict.INCONCLUSIVE: Rule.CLAIM_INCONCLUSIVE,
    Verdict.NOT_TESTABLE: Rule.CLAIM_INCONCLUSIVE,
}
_NO_STANDING = {Verdict.IN_DOUBT: Level.WARNING, Verdict.INCONCLUSIVE: Level.WARNING, Verdict.NOT_TESTABLE: Level.WARNING}
"""Verdicts that cannot be established."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisteredPassage(Record):
    """A passage of the draft that rules propose as a claim, and that the registry does not know."""

    words: str
    place: DraftPlace


def judge_claim(quoted: QuotedClaim, model: ModelRef | None) -> Iterator[GateFinding]:
    """Yield what the rules say of a claim, each rule at most once.

    Args:
        model: the version that the draft is about; None where it is not named.
    """
    reported: set[Rule] = set()
    for finding in _judge(quoted, model):
        if finding.rule not in reported:
            reported.add(finding.rule)
            yield finding


def _judge(quoted: QuotedClaim, model: ModelRef | None) -> Iterator[GateFinding]:
    status = quoted.status
    yield from _judge_lifecycle(quoted)
    yield from _judge_staleness(quoted, model)
    for cause in status.causes:
        if cause.kind is CauseKind.MONITOR:
            yield _find(quoted, Rule.MONITOR_ALARM, cause.text)
    if status.gravest is None:
        yield _find(quoted, Rule.CLAIM_UNAUDITED, "no claim of its family has an outcome")
    else:
        yield from _judge_verdict(quoted, status.gravest)
    if status.dispute is not Dispute.UNDISPUTED:
        yield _find(
            quoted, Rule.CLAIM_CONTESTED, "an objection is open" if status.dispute is Dispute.CONTESTED else "an objection was upheld"
        )
    # Observations have neither figure nor limit, and nothing is missing from them.
    has_figure = quoted.claim.reported is not None or quoted.claim.relation is not None
    for completeness in quoted.completeness if has_figure else ():
        rule = _FIGURE_RULES.get(completeness.item)
        if rule is not None and completeness.status is ItemStatus.MISSING:
            yield _find(quoted, rule, completeness.note)


def _judge_lifecycle(quoted: QuotedClaim) -> Iterator[GateFinding]:
    status = quoted.status
    match status.lifecycle:
        case Lifecycle.WITHDRAWN | Lifecycle.REJECTED:
            yield _find(quoted, Rule.CLAIM_WITHDRAWN, f"it was {status.lifecycle}")
        case Lifecycle.SUPERSEDED:
            yield _find(quoted, Rule.CLAIM_WITHDRAWN, f"it was superseded by {status.superseded_by}")
        case _:
            return


def _judge_staleness(quoted: QuotedClaim, model: ModelRef | None) -> Iterator[GateFinding]:
    claim, status = quoted.claim, quoted.status
    if model is not None and claim.model != model:
        yield _find(quoted, Rule.CLAIM_STALE, f"registered for {claim.model}, the draft is about {model}")
    elif status.staleness is not Staleness.CURRENT:
        words = "stale" if status.staleness is Staleness.STALE else "needs review"
        yield _find(quoted, Rule.CLAIM_STALE, f"{words}: {'; '.join(status.stale_because) or 'a change was confirmed'}")


def _judge_verdict(quoted: QuotedClaim, outcome: FamilyOutcome) -> Iterator[GateFinding]:
    words = format_verdict(outcome.verdict, outcome.standing)
    message = f"{words}, by {outcome.audit} of {outcome.at:%Y-%m-%d}"
    rule = _VERDICT_RULES.get(outcome.verdict)
    if rule is not None:
        yield _find(quoted, rule, message, level=_find_level(outcome))
        return
    # It holds, and not without a restriction: conditional on the contexts tested, or provisional.
    if outcome.verdict is Verdict.HOLDS and quoted.status.restriction is not RestrictionStatus.SUPPORTED:
        yield _find(quoted, Rule.CLAIM_EXCEEDS_RESTRICTION, message, level=Level.WARNING)


def _find_level(outcome: FamilyOutcome) -> Level:
    """Return the level of a verdict: an error where it is established or conditional on named contexts, else a warning."""
    if outcome.verdict in _NO_STANDING:
        return _NO_STANDING[outcome.verdict]
    # A monitor in alarm has no standing: it is a fact.
    if outcome.verdict is Verdict.CONTRADICTED_IN_PRODUCTION:
        return Level.ERROR
    return Level.ERROR if outcome.standing in (VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL) else Level.WARNING


def _find(quoted: QuotedClaim, rule: Rule, message: str, *, level: Level | None = None) -> GateFinding:
    name = quoted.claim.reference
    return GateFinding(
        rule=rule,
        level=RULES[rule].level if level is None else level,
        message=f"{name}: {message}",
        claim=name,
        place=quoted.place,
        fingerprint=f"{quoted.claim.claim}:{rule}",
    )


def judge_passage(passage: UnregisteredPassage) -> GateFinding:
    """Return the finding on a passage that is not registered."""
    words = " ".join(passage.words.split())
    shown = words if len(words) <= 160 else f"{words[:159]}…"
    digest = hashlib.sha256(" ".join(read_words(words)).encode()).hexdigest()[:16]
    return GateFinding(
        rule=Rule.CLAIM_UNREGISTERED,
        level=Level.NOTE,
        message=f"not registered: “{shown}”",
        claim=None,
        place=passage.place,
        fingerprint=f"{digest}:{Rule.CLAIM_UNREGISTERED}",
    )
