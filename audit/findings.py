"""What findings mean for an outcome: whether the scorer is known to be invariant, and whether they keep to the plan."""

import math
from collections.abc import Iterable, Mapping

from registry.report.units import join
from registry.errors import ConflictError, Fault
from registry.records.analysis_plan import Plan
from registry.records.dossier import AuditFile
from registry.records.module_findings import FindingBody, JudgeReport, Naturalness, RealismJudge, Recognition, Shift, find_invariance


def settle_invariance(file: AuditFile, *, scores: str | None) -> bool | None:
    """Return whether the scorer of an audit is invariant: as its judges' reports found, else as its file declares; None is not known.

    One report that found a failure outweighs any number that did not; one that was passed counts on the scores it was made on.

    Args:
        scores: digest of the scores to be concluded from; None without scores.

    Raises:
        ConflictError: the audit file declares what a recorded check contradicts.
    """
    declared = file.audit.payload.scoring.invariant
    found = find_invariance((one.payload.body for one in file.findings), scores=scores)
    if declared is not None and found is not None and declared is not found:
        raise ConflictError(_contradiction(file, declared=declared))
    return declared if found is None else found


def _contradiction(file: AuditFile, *, declared: bool) -> Fault:
    contradicting = [one for one in file.findings if find_invariance([one.payload.body]) is (not declared)]
    notes = describe_invariance([one.payload.body for one in contradicting], passed=not declared)
    return Fault(
        code="invariance-contradicted",
        where=file.audit.payload.audit,
        found=f"its audit file declares scoring.invariant: {'true' if declared else 'false'}; in the judge's report of entry "
        f"{contradicting[0].entry.seq} {'a check failed' if declared else 'every check that decides was passed'}: {notes}",
        advice="open another audit whose file leaves scoring.invariant out, and record the report there; then the check speaks",
    )


def find_departures(body: FindingBody, plan: Plan, range_: tuple[float, float]) -> Mapping[str, tuple[object, object]]:
    """Return in what a finding departs from the plan of its audit: by option, what it was made with and what the plan says.

    A margin or a level chosen once the figures are seen could let any check pass.

    Args:
        range_: of the claim's property.
    """
    planned: dict[str, object] = {"level": plan.level}
    if isinstance(body, Naturalness | RealismJudge):
        planned |= {"rater_limit": plan.rater_limit}
    elif isinstance(body, Recognition):
        planned |= {"contexts": plan.contexts.value}
    elif not isinstance(body, Shift):
        margin = 0.05 * (range_[1] - range_[0]) if plan.margin is None else plan.margin
        planned |= {"margin": margin, "range": tuple(map(float, range_)), "contexts": plan.contexts.value}
    made = {name: getattr(body, name) for name in planned}
    return {name: (made[name], one) for name, one in planned.items() if not _is_equal(made[name], one)}


def _is_equal(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-9)
    return first == second


def describe_invariance(findings: Iterable[FindingBody], *, passed: bool | None = None) -> str:
    """Return the outcome of every invariance check, in its own sentence; empty when none was made.

    Args:
        passed: only the checks with this outcome; None for all of them.
    """
    checks = (check for one in findings if isinstance(one, JudgeReport) for check in one.invariance)
    return join([check.note for check in checks if passed is None or check.passed is passed])


def find_scores(body: FindingBody) -> str | None:
    """Return the digest of the scores that a finding was made from; None for raters and recognition, which have none."""
    if isinstance(body, Shift):
        return body.after_scores
    return None if isinstance(body, Naturalness | RealismJudge | Recognition) else body.scores
