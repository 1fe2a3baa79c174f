"""Who was asked, held against what is stated of endpoint names now: an outcome may have been recorded before somebody said more. Pure."""

from collections.abc import Iterable

from registry.records.dossier import AuditFile, Dossier
from registry.records.model_version import EndpointName, ModelRef, list_endpoint_names
from registry.records.replay_run import ModelIdentity, find_model_identity


def find_asked_now(file: AuditFile, names: Iterable[EndpointName], model: ModelRef) -> ModelIdentity | None:
    """Return who was asked for the scores of the last outcome of *file*, by the *names* in force; None without scores or outcome.

    Args:
        names: in force, of every model version that a returned name may belong to.
        model: the version that the audited revision of the claim is about.
    """
    if not file.restrictions:
        return None
    outcome = file.restrictions[-1].payload
    run = next((one.payload for one in reversed(file.runs)), None)
    provenance = outcome.provenance if outcome.result is None or run is None else run.provenance
    if outcome.scores is None or provenance is None:
        return None
    return find_model_identity(names, model, file.lock.payload if file.lock else None, provenance)


def find_asked_of_claim(dossier: Dossier, file: AuditFile) -> ModelIdentity | None:
    """Return `find_asked_now` for an audit of the current revision of *dossier*; None for an audit of another one."""
    current = dossier.current.payload
    if file.audit.payload.claim != current.reference:
        return None
    return find_asked_now(file, list_endpoint_names(dossier.model_endpoints), current.model)


def tell_asked(now: ModelIdentity | None, then: ModelIdentity | None) -> str | None:
    """Return the caution that belongs to an outcome: None where its scores are of the claim's model, now as when it was recorded.

    Args:
        now: by the names in force.
        then: as the outcome recorded it.
    """
    if now is None:
        return None
    if not now.differs_from(then):
        return None if now.is_bound else now.text
    before = "Who was asked was not recorded with the outcome" if then is None else f"When the outcome was recorded: {then.text}"
    return f"{now.text} {before if before.endswith('.') else f'{before}.'}"
