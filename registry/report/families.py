"""What a reader is told of a claim family: the outcome that leads, with the revision it is of and its date, and the other ones."""

from registry.records.claim import ClaimRevision
from registry.records.claim_status import FamilyOutcome, Status
from registry.records.dossier import Dossier
from registry.report.wording import format_verdict


def describe_verdict(outcome: FamilyOutcome) -> str:
    """Return the verdict with its standing in words."""
    return format_verdict(outcome.verdict, outcome.standing)


def describe_place(outcome: FamilyOutcome) -> str:
    """Return which revision an outcome is of, where it is recorded, and when."""
    log = f" in the log {outcome.log}" if outcome.log else ""
    return f"{outcome.claim}{log}, {outcome.at:%Y-%m-%d}"


def describe_outcome(outcome: FamilyOutcome, *, of: str | None = None) -> str:
    """Return an outcome in one line; where it is of the revision *of* itself, without naming that again."""
    place = f"{outcome.at:%Y-%m-%d}" if of is not None and is_own(outcome, of) else describe_place(outcome)
    expired = f"; expired {outcome.valid_until}" if outcome.is_expired else ""
    return f"{describe_verdict(outcome)} ({place}{expired})"


def describe_subject(outcome: FamilyOutcome) -> str:
    """Return what an outcome on the same words is about: property and model version."""
    return f"{outcome.property}, {outcome.model}"


def is_own(outcome: FamilyOutcome, claim: ClaimRevision | str) -> bool:
    """Whether *outcome* is one of the revision *claim* itself, `CLM-…@n`."""
    return outcome.log is None and outcome.claim == (claim if isinstance(claim, str) else claim.reference)


def describe_leading(dossier: Dossier) -> str | None:
    """Return what leads on page one where it is no outcome of the revision itself; None where it is, or nothing was found."""
    gravest = dossier.family.gravest
    if gravest is None or is_own(gravest, dossier.current.payload):
        return None
    words = describe_verdict(gravest)
    return f"{words[0].upper()}{words[1:]}: audit {gravest.audit} of {describe_place(gravest)}, on the same words of the card."


def describe_beside(status: Status) -> str | None:
    """Return the gravest outcome of other claims on the same words; None without one."""
    beside = status.beside
    return None if beside is None else f"another claim on these words: {describe_outcome(beside)}, about {describe_subject(beside)}"
