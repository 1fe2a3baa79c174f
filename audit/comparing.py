"""Two audits of one claim over model versions, and the scores of each: what a shift between them is measured from.

The numbers are those of `audit.shift`, which pairs by identifiers. Here it is checked that they are of these audits, and told whether
the same identifiers stand for the same texts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from audit.docket import get_audit, get_claim, get_property
from audit.shift import measure_shift
from audit.statistics.responses import ScoreTable
from registry.errors import ConflictError, Fault
from registry.records.analysis_plan import Plan
from registry.records.dossier import AuditFile
from registry.records.model_version import ModelRef
from registry.records.module_findings import Shift
from registry.records.replay_run import ReplayAccount
from registry.store.view import View

_PARTS = {"tasks": "tasks", "test": "test contexts", "deploy": "deployment contexts", "scoring": "scoring", "samples": "numbers of samples"}
"""Parts of a replay that a comparison takes to be the same, in words."""
_PAIRED = ("tasks", "test", "deploy")
"""Those that scores are paired by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two audits that are to be compared fix."""

    before: AuditFile
    after: AuditFile
    models: tuple[ModelRef, ModelRef]
    plan: Plan
    """That of the later audit, whose finding a shift is."""
    range: tuple[float, float]


def find_comparison(view: View, before: str, after: str) -> Comparison:
    """Return what the audits *before* and *after*, `AUD-…`, fix for a comparison of their scores.

    Raises:
        NotFoundError: an audit is not registered.
        ConflictError: they are of two claims, of one model version, or of scores on two ranges.
    """
    files = get_audit(view, before), get_audit(view, after)
    claims = [get_claim(view, file.audit.payload.claim) for file in files]
    first, second = (get_property(view, one).range for one in claims)
    old, new = (one.model for one in claims)
    where, faults = f"{before}, {after}", []
    if claims[0].claim != claims[1].claim:
        found = f"{before} is about {claims[0].claim}, {after} about {claims[1].claim}; a shift is of one claim over model versions"
        faults.append(Fault(code="other-claim", where=where, found=found, advice="carry the claim: caveat claim carry"))
    elif old == new:
        found = f"both audits are about {old}; between two replays of one version there is no shift"
        faults.append(Fault(code="one-version", where=where, found=found, advice="name audits of two revisions about two versions"))
    if first != second:
        found = f"scores of {before} lie in {list(first)}, those of {after} in {list(second)}"
        faults.append(Fault(code="ranges-differ", where=where, found=found, advice="two scales cannot be compared"))
    if faults:
        raise ConflictError(faults)
    lock = files[1].lock
    plan = lock.payload.plan if lock else files[1].audit.payload.plan
    return Comparison(before=files[0], after=files[1], models=(old, new), plan=plan, range=first)


def compare(comparison: Comparison, before: ScoreTable, after: ScoreTable) -> Shift:
    """Return how far the numbers moved from *before* to *after*.

    Raises:
        ConflictError: an audit has scores on record, and these are others.
        DesignError: as `measure_shift`.
    """
    files = (comparison.before, before), (comparison.after, after)
    faults = [fault for file, table in files for fault in _check_scores(file, table)]
    if faults:
        raise ConflictError(faults)
    audit = comparison.before.audit.payload.audit
    found = measure_shift(before, after, comparison.plan, range_=comparison.range, models=comparison.models, audit=audit)
    return warn_of_designs(found, find_design(comparison.before), find_design(comparison.after))


def find_design(file: AuditFile, replayed: ReplayAccount | None = None) -> dict[str, str]:
    """Return what is known of the texts that the scores of *file* rest on: digests by part of a replay, as far as they are on record.

    Args:
        replayed: what the run folder of scores says that are not on record yet; None for those that are.
    """
    runs = [one.payload.provenance.replayed for one in file.runs]
    last = replayed or (runs[-1] if runs else None)
    lock = file.lock.payload if file.lock else None
    if last is not None and last.parts:
        return dict(last.parts)
    if lock is None or lock.replay_parts:
        return dict(lock.replay_parts or {}) if lock else {}
    named = {"test": lock.test, "deploy": lock.deploy[0] if len(lock.deploy) == 1 else None, "scoring": lock.scoring}
    return {name: one.sha256 for name, one in named.items() if one is not None}


def warn_of_designs(found: Shift, before: Mapping[str, str], after: Mapping[str, str]) -> Shift:
    """Return *found*, with a warning where equal identifiers may stand for other texts: parts of the designs differ, or are not known.

    Args:
        before: as `find_design` returns it.
        after: of the later audit.
    """
    differing = [words for name, words in _PARTS.items() if name in before and name in after and before[name] != after[name]]
    unknown = [_PARTS[name] for name in _PAIRED if name not in before or name not in after]
    told = []
    if differing:
        told.append(f"The replays have other {', '.join(differing)}: a change could be theirs, and equal ids may stand for other texts.")
    if unknown:
        told.append(f"Nothing on record says that equal ids stand for equal texts in both replays: {', '.join(unknown)}.")
    return replace(found, warnings=(*told, *found.warnings))


def _check_scores(file: AuditFile, table: ScoreTable) -> Iterator[Fault]:
    recorded = {one.payload.scores for one in file.runs} | {one.payload.scores for one in file.restrictions}
    known = {digest for digest in recorded if digest is not None}
    if known and table.content not in known:
        names, audit = ", ".join(one.name for one in table.files), file.audit.payload.audit
        found = f"{audit} rests on scores with the digest {min(known)[:16]}…, and these have {table.content[:16]}…"
        yield Fault(code="scores-of-other-run", where=names, found=found, advice="give the very scores that its outcome was made from")
