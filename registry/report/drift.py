"""The same claim over model versions, from what a registry knows of it: a point for each revision, and how far the numbers moved."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from registry.records.analysis_plan import LockedSpec
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.estimates import BoundedEstimate, Differential, Estimate, SpecEstimate
from registry.records.module_findings import Finding, Shift, SpecShift
from registry.records.supplement import Drift, DriftStep, VersionPoint
from registry.records.verdict import Restriction
from registry.report.leading import find_leading_of
from registry.report.numbers import format_level

_ADDED = (
    "difference of two recorded estimates, half-widths added: it holds whatever the two replays have in common, and is wide because "
    "nothing on record says what they have in common"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A point with what it was made from."""

    point: VersionPoint
    file: AuditFile | None
    estimate: Estimate | None
    scores: str | None
    """Digest of the scores that the outcome rests on; None without one, and where it was not recorded."""


def build_drift(dossier: Dossier) -> Drift | None:
    """Return the claim of *dossier* over its revisions; None while all of them are about one model version."""
    if len({one.payload.model for one in dossier.revisions}) < 2:
        return None
    return build_points(dossier)


def build_points(dossier: Dossier) -> Drift:
    """Return the claim over its revisions, of however many model versions: the leading outcome of each, and steps where both have one."""
    found = [_find(dossier, one.payload.reference) for one in dossier.revisions]
    known = [one for one in found if one.estimate is not None]
    return Drift(
        claim=dossier.claim,
        points=tuple(one.point for one in found),
        steps=tuple(step for pair in itertools.pairwise(known) for step in _step(*pair)),
    )


def build_steps(before: Dossier, after: Dossier) -> tuple[DriftStep, ...]:
    """Return how far the numbers moved from the leading outcome of the current revision in *before* to that in *after*.

    Both are of one claim, read as of two entries. Empty where one has no estimate, or both have the same one.
    """
    if not before.revisions or not after.revisions:
        return ()
    first, second = (_find(one, one.current.payload.reference) for one in (before, after))
    same = first.point.outcome_entry == second.point.outcome_entry
    return () if same else tuple(_step(first, second))


def is_same_quantity(one: VersionPoint, other: VersionPoint) -> bool:
    """Whether the numbers of two points are of one property, of whatever version, on one range of scores."""
    bare = [(point.property or "").partition("@")[0] for point in (one, other)]
    return bare[0] == bare[1] and one.range == other.range


def _find(dossier: Dossier, claim: str) -> _Found:
    """Return the point of one revision, `CLM-…@n`."""
    revision = next(one for one in dossier.revisions if one.payload.reference == claim)
    file, outcome = find_leading_of(dossier, claim)
    estimate = None if file is None or outcome is None else _find_estimate(file, outcome.payload)
    primary = None if outcome is None else outcome.payload.classification.primary
    opening = None if file is None or outcome is None else file.audit.payload
    point = VersionPoint(
        claim=claim,
        claim_entry=revision.entry,
        model=revision.payload.model,
        why=revision.payload.why,
        audit=None if opening is None else opening.audit,
        auditor=None if opening is None else opening.auditor,
        independence=None if opening is None else opening.independence,
        outcome_entry=None if outcome is None else outcome.entry,
        class_=None if primary is None else primary.class_,
        standing=None if primary is None else primary.standing,
        mode=None if primary is None else primary.mode,
        point_class=None if primary is None else primary.printed_point_class,
        verdict=None if outcome is None else outcome.payload.text.verdict,
        estimates=() if estimate is None else estimate.specs,
        level=None if estimate is None else estimate.level,
        margin=None if estimate is None else estimate.margin,
        range=None if estimate is None else estimate.range,
        property=revision.payload.property,
        relation=revision.payload.relation,
        theta=revision.payload.theta,
    )
    return _Found(point=point, file=file, estimate=estimate, scores=_find_scores(file, outcome))


def _find_estimate(file: AuditFile, outcome: Restriction) -> Estimate | None:
    if outcome.result is None:
        return outcome.estimate
    return next((one.payload.estimate for one in file.results if one.entry.seq == outcome.result), None)


def _find_scores(file: AuditFile | None, outcome: Recorded[Restriction] | None) -> str | None:
    if file is None or outcome is None:
        return None
    return file.runs[-1].payload.scores if file.runs else outcome.payload.scores


def _step(before: _Found, after: _Found) -> Iterator[DriftStep]:
    """Yield the movement for each specification that both have; none where they are of another property, or another range of scores."""
    if before.estimate is None or after.estimate is None:
        return
    if not is_same_quantity(before.point, after.point):
        return
    finding = _find_shift(before, after)
    earlier = {(one.spec, one.judge): one for one in before.estimate.specs}
    for spec in after.estimate.specs:
        old = earlier.get((spec.spec, spec.judge))
        if old is None:
            continue
        shift = None if finding is None else _find_spec(finding, spec)
        if finding is not None and shift is not None:
            yield _from_finding(before, after, finding, shift)
        else:
            yield _from_estimates(before, after, old, spec)


def _find_shift(before: _Found, after: _Found) -> Recorded[Finding] | None:
    """Return the last finding of the later audit that compared the scores of both outcomes; None without one."""
    for one in reversed(after.file.findings if after.file else ()):
        body = one.payload.body
        if not isinstance(body, Shift) or body.before_audit != before.point.audit:
            continue
        compared = (body.before_scores, before.scores), (body.after_scores, after.scores)
        if all(known is None or used == known for used, known in compared):
            return one
    return None


def _find_spec(finding: Recorded[Finding], spec: SpecEstimate) -> SpecShift | None:
    body = finding.payload.body
    if not isinstance(body, Shift):
        return None
    return next((one for one in body.specs if (one.spec, one.judge) == (spec.spec, spec.judge)), None)


def _from_finding(before: _Found, after: _Found, finding: Recorded[Finding], shift: SpecShift) -> DriftStep:
    return DriftStep(
        before=before.point.claim,
        after=after.point.claim,
        spec=shift.spec,
        phi_test=shift.phi_test,
        phi_deploy=shift.phi_deploy,
        ed=shift.ed,
        finding=finding.entry,
        judge=shift.judge,
    )


def _from_estimates(before: _Found, after: _Found, old: SpecEstimate, new: SpecEstimate) -> DriftStep:
    levels = tuple(one.estimate.level for one in (before, after) if one.estimate is not None)
    ed = _subtract(new.ed, old.ed, levels)
    return DriftStep(
        before=before.point.claim,
        after=after.point.claim,
        spec=new.spec,
        phi_test=_subtract(new.phi_test, old.phi_test, levels),
        phi_deploy=_subtract(new.phi_deploy, old.phi_deploy, levels),
        ed=Differential(
            value=ed.value, low=ed.low, high=ed.high, method=_ADDED + _tell_redefined(before, after, new.spec), reason=ed.reason
        ),
        finding=None,
        judge=new.judge,
    )


def _subtract(new: BoundedEstimate | Differential, old: BoundedEstimate | Differential, levels: tuple[float, ...]) -> BoundedEstimate:
    """Return new − old; half-widths add, since a standard deviation of a difference never exceeds the sum of both."""
    value = new.value - old.value
    if new.low is None or new.high is None or old.low is None or old.high is None:
        which = [name for name, one in (("earlier", old), ("later", new)) if one.low is None]
        reason = f"no interval: the {' and the '.join(which)} estimate has none"
        return BoundedEstimate(value=value, low=None, high=None, reason=reason)
    if len(set(levels)) > 1:
        named = " and at ".join(map(format_level, levels))
        return BoundedEstimate(value=value, low=None, high=None, reason=f"no interval: those of the estimates are at {named}")
    # A point may lie beyond an end of its own interval by rounding alone.
    return BoundedEstimate(value=value, low=min(value, new.low - old.high), high=max(value, new.high - old.low))


def _tell_redefined(before: _Found, after: _Found, spec: str) -> str:
    """Say that P_deploy was defined otherwise, as far as the locks tell."""
    first, second = (_find_locked(one, spec) for one in (before, after))
    if first is None or second is None or first.sha256 == second.sha256:
        return ""
    return f"; P_deploy was {first.spec} before and {second.spec} after, so this is not the movement of the model alone"


def _find_locked(found: _Found, spec: str) -> LockedSpec | None:
    lock = found.file.lock if found.file else None
    return None if lock is None else next((one for one in lock.payload.deploy if one.name == spec), None)
