"""What a supplement says of how long its outcome counts."""

from registry.records.supplement import AuditPart
from registry.records.verdict import ClaimClass, ReadingVerdict, Standing, VerdictStanding
from registry.report.moments import format_day


def describe_own_verdict(audit: AuditPart) -> str | None:
    """Return the verdict of *audit*'s outcome in its sentence, after the note that it expired where it did; None without an outcome."""
    if audit.outcome is None:
        return None
    outcome = audit.outcome.payload
    if not audit.is_expired or outcome.valid_until is None:
        return outcome.text.verdict
    return f"Expired: this audit was valid until {format_day(outcome.valid_until)}, and the claim needs review. {outcome.text.verdict}"


def find_standing_now(audit: AuditPart | None, reading: ReadingVerdict | None) -> VerdictStanding | None:
    """Return how firmly the verdict of *reading* stands on the day of the document: provisional at most once its audit expired."""
    if reading is None or reading.verdict_standing is None:
        return None
    return VerdictStanding.PROVISIONAL if audit is not None and audit.is_expired else reading.verdict_standing


def find_trace_now(audit: AuditPart | None, reading: ReadingVerdict | None) -> Standing | None:
    """Return TRACE's standing of *reading* on the day of the document: no more than its verdict has."""
    if reading is None or audit is None or not audit.is_expired or reading.standing not in (Standing.ESTABLISHED, Standing.CONDITIONAL):
        return None if reading is None else reading.standing
    return Standing.CANDIDATE if reading.class_ is ClaimClass.INVERTED else Standing.PROVISIONAL
