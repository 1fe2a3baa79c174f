"""Which outcome counts for a claim, of all that its audits came to."""

from registry.records.classification import rank_outcome
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.restriction import Restriction


def find_leading(dossier: Dossier) -> tuple[AuditFile | None, Recorded[Restriction] | None]:
    """Return the outcome of the current revision that counts, with its audit; without any outcome the latest audit alone.

    An outcome never speaks for another revision. The status of the claim follows from the same one (`rank_outcome`).
    """
    audits = [one for one in dossier.audits if one.audit.payload.claim == dossier.current.payload.reference]
    finished = [(file, outcome) for file in audits for outcome in file.restrictions]
    if finished:
        return max(finished, key=lambda one: _weigh(one[1]))
    return max(audits, key=lambda one: one.audit.entry.seq, default=None), None


def _weigh(outcome: Recorded[Restriction]) -> tuple[tuple[bool, bool], int]:
    primary = outcome.payload.classification.primary
    return rank_outcome(primary.class_, primary.basis), outcome.entry.seq
