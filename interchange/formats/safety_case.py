"""LTAC: a fragment of a safety case, the text form that tools for SACM and GSN read. One claim, its restricted text and its evidence."""

import re

from interchange.formats.export_record import METHOD, ExportedFile, ExportRequest, format_number
from interchange.formats.outcome_facts import OutcomeFacts, ReplaySide, describe_standing, find_estimate, list_arms, read_outcome
from registry.present.answers import show
from registry.records.claim_status import Lifecycle
from registry.records.supplement import Supplement
from registry.records.verdict import Verdict, VerdictStanding
from registry.report.claim_outcome import describe_restricted

LOST = ("level and method of intervals", "auditor and independence", "objections", "history", "proof")
_FIRM = frozenset({VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL})
_DEFEATING = frozenset({Verdict.CONTRADICTED, Verdict.CONTRADICTED_IN_PRODUCTION, Verdict.DOES_NOT_CARRY_OVER})
_OVER = frozenset({Lifecycle.WITHDRAWN, Lifecycle.REJECTED})


def map_safety_case(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the fragment. A claim is supported only where it holds, established; everything unresolved needs support."""
    supplement = request.record.claim
    outcome = read_outcome(supplement)
    claim = supplement.claim.payload
    lines = [
        f"# {request.record.title}",
        f"# canonical record: {request.record.file_name}, sha256:{request.record.sha256}",
        f"# verdict: {outcome.words}; {describe_standing(supplement)}; method: {METHOD}",
        f"# lost: {'; '.join(LOST)}",
        _write(0, "Claim", request.record.name, f"“{supplement.attributed}”", _find_mark(supplement, outcome)),
        _write(1, "Context", f"{request.record.name} model", f"Model version: {claim.model}"),
    ]
    if claim.theta is not None and claim.relation is not None:
        lines.append(
            _write(1, "Context", f"{request.record.name} limit", f"Limit: {claim.relation} {format_number(claim.theta)}, {claim.direction}")
        )
    if supplement.outcome is not None:
        lines += _write_restricted(request, supplement, outcome)
    return (ExportedFile(path=f"{request.record.name}.ltac", content=("\n".join(lines) + "\n").encode()),)


def _find_mark(supplement: Supplement, outcome: OutcomeFacts) -> str:
    if supplement.status.lifecycle in _OVER:
        return "defeated"
    # In production there is no standing: a monitor in alarm is a fact.
    is_firm = outcome.standing in _FIRM or outcome.verdict is Verdict.CONTRADICTED_IN_PRODUCTION
    if outcome.verdict in _DEFEATING and is_firm:
        return "defeated"
    return "" if outcome.holds else "needsSupport"


def _write_restricted(request: ExportRequest, supplement: Supplement, outcome: OutcomeFacts) -> list[str]:
    name, audit = request.record.name, supplement.audit
    if audit is None or (restricted := describe_restricted(audit)) is None:
        return []
    arms = list_arms(supplement)
    mark = "" if outcome.standing in _FIRM and arms else "needsSupport"
    lines = [_write(1, "Claim", f"{name} restricted", restricted, mark)]
    lines += [_write(2, "Evidence", f"{name} {_name(arm.name)}", _describe(supplement, arm)) for arm in arms]
    if audit.lock is not None:
        entry = audit.lock.entry
        lines.append(
            _write(
                1,
                "Justification",
                f"{name} plan",
                f"Plan {audit.opening.payload.audit} locked in entry {entry.seq}, entry hash {entry.leaf}",
            )
        )
    return lines


def _describe(supplement: Supplement, arm: ReplaySide) -> str:
    figure, estimate = arm.figure, find_estimate(supplement)
    interval = (
        "no interval" if figure.low is None or figure.high is None else f"{format_number(figure.low)} to {format_number(figure.high)}"
    )
    level = "" if estimate is None or figure.low is None else f" at level {format_number(estimate.level)}"
    counts = f"{arm.tasks} tasks, {arm.contexts} contexts, {arm.responses} responses"
    return f"{arm.name} = {format_number(figure.value)}, {interval}{level}; {counts}"


def _name(text: str) -> str:
    """Return *text* without the characters that end an identifier."""
    return " ".join(re.sub(r"[:^{}()\n\r]+", " ", text).split())


def _write(level: int, kind: str, identifier: str, text: str, mark: str = "") -> str:
    line = " ".join(show(text).split())
    # A line that ends in brackets would be read as options or a reference.
    line = f"{line}." if line.endswith((")", "}")) else line
    return f"{'  ' * level}- {kind} {identifier}: {line}{f' {{{mark}}}' if mark else ''}"
