"""Which outcome counts for a claim, of all that its audits came to."""

from registry.records.classification import rank_outcome
from registry.records.contestation import ContestationState
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.restriction import Restriction


def find_leading(dossier: Dossier) -> tuple[AuditFile | None, Recorded[Restriction] | None]:
    """Return the outcome of the current revision that counts, with its audit; without any outcome the latest audit alone.

    An outcome never speaks for another revision. One under the rival of a contestation stands beside the others, and counts only
    once the contestation is upheld. The status of the claim follows from the same one (`rank_outcome`).
    """
    return find_leading_of(dossier, dossier.current.payload.reference)


def find_leading_of(dossier: Dossier, claim: str) -> tuple[AuditFile | None, Recorded[Restriction] | None]:
    """Return the same of the revision *claim*, `CLM-…@n`, by the same rules."""
    upheld = {one.contestation.payload.contestation for one in dossier.contestations if one.state is ContestationState.UPHELD}
    audits = [one for one in dossier.audits if one.audit.payload.claim == claim]
    audits = [one for one in audits if one.audit.payload.contestation is None or one.audit.payload.contestation in upheld]
    finished = [(file, outcome) for file in audits for outcome in file.restrictions]
    if finished:
        return max(finished, key=lambda one: _weigh(*one))
    return max(audits, key=lambda one: one.audit.entry.seq, default=None), None


def _weigh(file: AuditFile, outcome: Recorded[Restriction]) -> tuple[tuple[bool, bool, bool], int]:
    primary = outcome.payload.classification.primary
    is_upheld = file.audit.payload.contestation is not None
    return rank_outcome(primary.class_, primary.basis, upheld=is_upheld), outcome.entry.seq
