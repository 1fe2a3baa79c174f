"""Which outcome counts for a claim, of all that its audits came to."""

from datetime import date

from registry.records.claim_status import ContestationState
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.verdict import Restriction, find_gravity, weaken


def find_leading(dossier: Dossier) -> tuple[AuditFile | None, Recorded[Restriction] | None]:
    """Return the outcome of the current revision that counts, with its audit; without any outcome the latest audit alone.

    Of several outcomes the gravest counts, of equals the latest. One under the rival of a contestation counts once the contestation is
    upheld. Outcomes of the other claims of the family stand in `Dossier.family`; the status of the claim follows from the gravest there.
    """
    return find_leading_of(dossier, dossier.current.payload.reference)


def find_leading_of(dossier: Dossier, claim: str) -> tuple[AuditFile | None, Recorded[Restriction] | None]:
    """Return the same of the revision *claim*, `CLM-…@n`, by the same rules."""
    upheld = {one.contestation.payload.contestation for one in dossier.contestations if one.state is ContestationState.UPHELD}
    audits = [one for one in dossier.audits if one.audit.payload.claim == claim]
    audits = [one for one in audits if one.audit.payload.contestation is None or one.audit.payload.contestation in upheld]
    finished = [(file, outcome) for file in audits for outcome in file.restrictions]
    if finished:
        return min(finished, key=lambda one: _weigh(one[1], dossier.today))
    return max(audits, key=lambda one: one.audit.entry.seq, default=None), None


def _weigh(outcome: Recorded[Restriction], today: date | None) -> tuple[tuple[int, int], int]:
    primary = outcome.payload.classification.primary
    return find_gravity(primary.verdict, weaken(primary.verdict_standing, outcome.payload.valid_until, today)), -outcome.entry.seq
