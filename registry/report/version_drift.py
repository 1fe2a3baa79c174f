"""The same claim over model versions: its points and steps, and the figure that shows them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.records.analysis_plan import LockedSpec
from registry.records.claim import Relation
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.estimates import BoundedEstimate, Differential, Estimate, SpecEstimate
from registry.records.module_findings import Finding, Shift, SpecShift
from registry.records.supplement import Drift, DriftStep, VersionPoint
from registry.records.verdict import Restriction
from registry.report.claim_outcome import describe_counted_verdict, find_counted_trace, find_leading_of
from registry.report.interval_figures import WIDTH, Axis, IntervalMark, build_axis, build_mark, describe_number, list_ends, shorten
from registry.report.number_format import Unit, format_level

# How far the numbers moved between two outcomes of a claim.
#
# Where the scores of both replays are at hand, they were compared task by task, and the finding is
# used. Otherwise the half-widths of the two recorded intervals add, which holds whatever the
# dependence of the two replays, and is wide (decision of 2026-11-22). The cost: tasks that one
# replay lacks are left out of the comparison, so the movement of ED need not equal the difference
# of the two ED.

_ADDED = (
    "difference of two recorded estimates, half-widths added: it holds whatever the two replays have in common, and is wide because "
    "nothing on record says what they have in common"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PointSource:
    """A point with what it was made from."""

    point: VersionPoint
    file: AuditFile | None
    estimate: Estimate | None
    scores: str | None
    """Digest of the scores that the outcome rests on; None without one, and where it was not recorded."""


def build_drift(dossier: Dossier) -> Drift | None:
    """Return the claim of *dossier* over its revisions; None while all of them are about one model version."""
    if len({revision.payload.model for revision in dossier.revisions}) < 2:
        return None
    return build_points(dossier)


def build_points(dossier: Dossier) -> Drift:
    """Return the claim over its revisions, of however many model versions: the leading outcome of each, and steps where both have one."""
    # Each revision is read by the same rules as on its own page.
    sources = [_find(dossier, revision.payload.reference) for revision in dossier.revisions]
    known = [source for source in sources if source.estimate is not None]
    return Drift(
        claim=dossier.claim,
        points=tuple(source.point for source in sources),
        # Revisions without an estimate are skipped: a step joins the two that have one.
        steps=tuple(step for pair in itertools.pairwise(known) for step in _step(*pair)),
    )


def build_steps(before: Dossier, after: Dossier) -> tuple[DriftStep, ...]:
    """Return how far the numbers moved from the leading outcome of the current revision in *before* to that in *after*.

    Both are of one claim, read as of two entries. Empty where one has no estimate, or both have the same one.
    """
    if not before.revisions or not after.revisions:
        return ()
    first, second = (_find(dossier, dossier.current.payload.reference) for dossier in (before, after))
    # One outcome, read twice: nothing moved.
    same = first.point.outcome_entry == second.point.outcome_entry
    return () if same else tuple(_step(first, second))


def is_same_quantity(version_point: VersionPoint, other: VersionPoint) -> bool:
    """Whether the numbers of two points are of one property, of whatever version, on one range of scores."""
    # A newer version of the property still measures the same thing; another range of scores does
    # not.
    bare = [(point.property or "").partition("@")[0] for point in (version_point, other)]
    return bare[0] == bare[1] and version_point.range == other.range


def _find(dossier: Dossier, claim: str) -> _PointSource:
    """Return the point of one revision, `CLM-…@n`."""
    revision = next(claim_revision for claim_revision in dossier.revisions if claim_revision.payload.reference == claim)
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
        standing=None if outcome is None else find_counted_trace(dossier, outcome),
        mode=None if primary is None else primary.mode,
        point_class=None if primary is None else primary.printed_point_class,
        verdict=None if outcome is None else describe_counted_verdict(dossier, outcome),
        estimates=() if estimate is None else estimate.specs,
        level=None if estimate is None else estimate.level,
        margin=None if estimate is None else estimate.margin,
        range=None if estimate is None else estimate.range,
        property=revision.payload.property,
        relation=revision.payload.relation,
        theta=revision.payload.theta,
    )
    return _PointSource(point=point, file=file, estimate=estimate, scores=_find_scores(file, outcome))


def _find_estimate(file: AuditFile, outcome: Restriction) -> Estimate | None:
    # Responses of another model version are no point of this one.
    if outcome.is_of_other_model:
        return None
    if outcome.result is None:
        return outcome.estimate
    return next((result.payload.estimate for result in file.results if result.entry.seq == outcome.result), None)


def _find_scores(file: AuditFile | None, outcome: Recorded[Restriction] | None) -> str | None:
    if file is None or outcome is None:
        return None
    # The scores of a run folder, or those imported with the outcome.
    return file.runs[-1].payload.scores if file.runs else outcome.payload.scores


def _step(before: _PointSource, after: _PointSource) -> Iterator[DriftStep]:
    """Yield the movement for each specification that both have; none where they are of another property, or another range of scores."""
    if before.estimate is None or after.estimate is None:
        return
    # A difference of unlike quantities would be a number without meaning.
    if not is_same_quantity(before.point, after.point):
        return
    finding = _find_shift(before, after)
    # Each judge has its own estimates, which are compared with its own.
    earlier = {(estimate.spec, estimate.judge): estimate for estimate in before.estimate.specs}
    for spec in after.estimate.specs:
        old = earlier.get((spec.spec, spec.judge))
        if old is None:
            continue
        # The paired comparison is narrower, so it replaces the difference of intervals.
        shift = None if finding is None else _find_spec(finding, spec)
        if finding is not None and shift is not None:
            yield _from_finding(before, after, finding, shift)
        else:
            yield _from_estimates(before, after, old, spec)


def _find_shift(before: _PointSource, after: _PointSource) -> Recorded[Finding] | None:
    """Return the last finding of the later audit that compared the scores of both outcomes; None without one."""
    for finding in reversed(after.file.findings if after.file else ()):
        body = finding.payload.body
        if not isinstance(body, Shift) or body.before_audit != before.point.audit:
            continue
        compared = (body.before_scores, before.scores), (body.after_scores, after.scores)
        # Where a digest of the scores was not recorded, the audit's name decides.
        if all(known is None or used == known for used, known in compared):
            return finding
    return None


def _find_spec(finding: Recorded[Finding], spec: SpecEstimate) -> SpecShift | None:
    body = finding.payload.body
    if not isinstance(body, Shift):
        return None
    return next((shift for shift in body.specs if (shift.spec, shift.judge) == (spec.spec, spec.judge)), None)


def _from_finding(before: _PointSource, after: _PointSource, finding: Recorded[Finding], shift: SpecShift) -> DriftStep:
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


def _from_estimates(before: _PointSource, after: _PointSource, old: SpecEstimate, new: SpecEstimate) -> DriftStep:
    levels = tuple(source.estimate.level for source in (before, after) if source.estimate is not None)
    ed = _subtract(new.ed, old.ed, levels)
    return DriftStep(
        before=before.point.claim,
        after=after.point.claim,
        spec=new.spec,
        phi_test=_subtract(new.phi_test, old.phi_test, levels),
        phi_deploy=_subtract(new.phi_deploy, old.phi_deploy, levels),
        ed=Differential(
            value=ed.value, low=ed.low, high=ed.high, method=_ADDED + _describe_redefined(before, after, new.spec), reason=ed.reason
        ),
        finding=None,
        judge=new.judge,
    )


def _subtract(new: BoundedEstimate | Differential, old: BoundedEstimate | Differential, levels: tuple[float, ...]) -> BoundedEstimate:
    """Return new − old; half-widths add, since a standard deviation of a difference never exceeds the sum of both."""
    # Adding needs no assumption on how the two replays depend on each other.
    value = new.value - old.value
    if new.low is None or new.high is None or old.low is None or old.high is None:
        which = [name for name, item in (("earlier", old), ("later", new)) if item.low is None]
        reason = f"no interval: the {' and the '.join(which)} estimate has none"
        return BoundedEstimate(value=value, low=None, high=None, reason=reason)
    # Intervals of different levels cannot be combined.
    if len(set(levels)) > 1:
        named = " and at ".join(map(format_level, levels))
        return BoundedEstimate(value=value, low=None, high=None, reason=f"no interval: those of the estimates are at {named}")
    # A point may lie beyond an end of its own interval by rounding alone.
    return BoundedEstimate(value=value, low=min(value, new.low - old.high), high=max(value, new.high - old.low))


def _describe_redefined(before: _PointSource, after: _PointSource, spec: str) -> str:
    """Say that P_deploy was defined otherwise, as far as the locks tell."""
    first, second = (_find_locked(source, spec) for source in (before, after))
    # Other deployment contexts move the numbers by themselves, so the step must say so.
    if first is None or second is None or first.sha256 == second.sha256:
        return ""
    return f"; P_deploy was {first.spec} before and {second.spec} after, so this is not only the movement of the model"


def _find_locked(point_source: _PointSource, spec: str) -> LockedSpec | None:
    lock = point_source.file.lock if point_source.file else None
    return None if lock is None else next((locked_spec for locked_spec in lock.payload.deploy if locked_spec.name == spec), None)


# The figure: Φ above, ED below, a column for each version, in CSS pixels.

MOST_COLUMNS = 8
_LEFT, _CHARACTER = 50.0, 6.2
_PHI, _ED = (30.0, 142.0), (176.0, 268.0)
"""Top and bottom of both panels."""
_HEIGHT = 358.0

Key = tuple[str, str | None]
"""A specification of P_deploy, and the judge where there are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionColumn:
    """One revision of the claim."""

    x: float
    """Its middle."""
    left: float
    width: float
    label: tuple[str, ...]
    """The version, on one or two lines."""
    below: str
    """Revision and class."""
    test: IntervalMark | None
    """None where nothing was estimated, and then so are `deploy` and `ed`."""
    deploy: IntervalMark | None
    ed: IntervalMark | None
    gap: str | None
    """What stands in its place: `not audited`, `no estimate`, `other quantity`; None where there is an estimate."""
    theta: float | None
    """Pixel of θ; None where the claim has none."""
    fails: tuple[float, float] | None
    """Top and height of where the claim fails."""
    band: tuple[float, float] | None
    """Top and height of ±δ; None without an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """How far ED moved from one column to another."""

    left: float
    right: float
    text: str
    interval: str
    is_paired: bool
    """Whether scores were compared task by task; else the numbers are of two estimates alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftFigure:
    """Φ and ED of one claim against one specification of P_deploy, version by version."""

    height: float
    phi: Axis
    ed: Axis
    """Upright: a pixel counts from the top."""
    columns: tuple[VersionColumn, ...]
    movements: tuple[Movement, ...]
    name: str
    """Specification of P_deploy, with the judge where there are several."""
    spec: str
    """The same, as short as it is printed."""
    theta_text: str | None
    margin_text: str | None
    zero: float
    title: str
    description: str
    excluded: int
    """How many earlier revisions stand only in the table."""


def build_drift_figures(drift: Drift, *, most: int = 4) -> tuple[DriftFigure, ...]:
    """Return a figure for each specification of P_deploy, the latest estimate's first; none where no revision has an estimate.

    Args:
        most: how many figures at most; the table has all specifications.
    """
    # Keys of a dictionary keep their order: the latest estimate's specifications come first.
    keys: dict[Key, None] = {}
    for point in reversed(drift.points):
        keys.update(dict.fromkeys((estimate.spec, estimate.judge) for estimate in point.estimates))
    return tuple(_build(drift, key) for key in list(keys)[:most])


def count_keys(drift: Drift) -> int:
    """Return against how many specifications, by how many judges, there are estimates: so many figures there could be."""
    return len({(estimate.spec, estimate.judge) for point in drift.points for estimate in point.estimates})


def name_versions(points: Sequence[VersionPoint]) -> tuple[str, ...]:
    """Return what distinguishes the models: their version, with the name, and with the developer, only where these differ."""
    models = [point.model for point in points]
    if len({model.developer for model in models}) > 1:
        return tuple(map(str, models))
    if len({model.name for model in models}) > 1:
        return tuple(f"{model.name} {model.version}" for model in models)
    return tuple(model.version for model in models)


def _build(drift: Drift, key: Key) -> DriftFigure:
    # The latest revisions are drawn; the table has all.
    points = drift.points[-MOST_COLUMNS:]
    estimates = {
        point.claim: next((estimate for estimate in point.estimates if (estimate.spec, estimate.judge) == key), None) for point in points
    }
    # The last estimate sets the axes.
    last = next((point for point in reversed(points) if estimates[point.claim] is not None), points[-1])
    # Another property, or another range of scores, has no place on these axes.
    estimates = {point.claim: estimates[point.claim] if is_same_quantity(point, last) else None for point in points}
    phi, ed = _build_axes(points, estimates, last)
    unit = _find_unit(last)
    # Names are made from all points, so that a version has one name in every figure.
    names = name_versions(drift.points)[-len(points) :]
    width = (WIDTH - _LEFT) / len(points)
    columns = [
        _build_column(point, estimates[point.claim], name, (phi, ed), (_LEFT + place * width, width), last=last)
        for place, (point, name) in enumerate(zip(points, names, strict=True))
    ]
    steps = [step for step in drift.steps if (step.spec, step.judge) == key and {step.before, step.after} <= set(estimates)]
    by_claim = {point.claim: column for point, column in zip(points, columns, strict=True)}
    spec = key[0] if key[1] is None else f"{key[0]}, judge {key[1]}"
    return DriftFigure(
        height=_HEIGHT,
        phi=phi,
        ed=ed,
        columns=tuple(columns),
        movements=tuple(_build_movement(drift_step, by_claim, unit) for drift_step in steps),
        name=spec,
        spec=shorten(spec, 60),
        theta_text=_write_theta(points, unit),
        margin_text=_write_margin(_margins(points), unit),
        zero=ed.place(0.0),
        title=_describe(spec, points, names, estimates, steps, last=last),
        description=f"Above: mean scores of {len(points)} revisions of the claim in order with intervals (square: test, circle: deployment "
        "side). Below: the difference ED of each against zero and the margin, and how far it moved.",
        excluded=len(drift.points) - len(points),
    )


def _find_unit(point: VersionPoint) -> Unit:
    """Of all numbers of the figure: every point drawn has the range of the last."""
    low, high = point.range or (0.0, 1.0)
    return Unit(low=low, high=high)


def _write_margin(margins: set[float], unit: Unit) -> str | None:
    """Return the label of the shaded bands; None where no revision has a margin, and so none is shaded."""
    if not margins:
        return None
    return f"shaded: ±δ = {unit.given_difference(next(iter(margins)))}" if len(margins) == 1 else "shaded: ±δ of each plan"


def _margins(points: Sequence[VersionPoint]) -> set[float]:
    return {point.margin for point in points if point.margin is not None}


def _build_axes(
    version_points: Sequence[VersionPoint], estimates: Mapping[str, SpecEstimate | None], last: VersionPoint
) -> tuple[Axis, Axis]:
    """Return the upright scales of Φ and of ED; their `left` is the bottom of the panel and their width counts upwards."""
    bounds = last.range or (0.0, 1.0)
    percent = _find_unit(last).is_share
    span, margin = bounds[1] - bounds[0], max(_margins(version_points), default=0.0)
    # θ belongs on the axis of every column that is judged by it.
    phis = [point.theta for point in version_points if point.theta is not None]
    # Room for the band of the margin, also where all differences are small.
    eds = [-1.6 * margin, 0.0, 1.6 * margin]
    known = [estimate for estimate in estimates.values() if estimate is not None]
    phis += list_ends(side for estimate in known for side in (estimate.phi_test, estimate.phi_deploy))
    eds += list_ends(estimate.ed for estimate in known)
    # The width is negative, because pixels count from the top.
    return (
        build_axis(phis or list(bounds), bounds=bounds, left=_PHI[1], width=_PHI[0] - _PHI[1], percent=percent),
        build_axis(eds, bounds=(-span, span), left=_ED[1], width=_ED[0] - _ED[1], signed=True, percent=percent),
    )


def _build_column(
    point: VersionPoint,
    spec_estimate: SpecEstimate | None,
    name: str,
    axes: tuple[Axis, Axis],
    place: tuple[float, float],
    *,
    last: VersionPoint,
) -> VersionColumn:
    phi, ed = axes
    left, width = place
    margin, unit = point.margin, _find_unit(last)
    # No Φ is rounded across θ or an end of the range.
    lines = _find_lines(point)
    return VersionColumn(
        x=round(left + width / 2, 2),
        left=round(left, 2),
        width=round(width, 2),
        label=_break(name, int(width / _CHARACTER)),
        below=f"revision {point.claim.rpartition('@')[2]}",
        test=None if spec_estimate is None else build_mark(spec_estimate.phi_test, phi, signed=False, lines=lines, unit=unit),
        deploy=None if spec_estimate is None else build_mark(spec_estimate.phi_deploy, phi, signed=False, lines=lines, unit=unit),
        ed=None
        if spec_estimate is None
        else build_mark(spec_estimate.ed, ed, signed=True, lines=() if margin is None else (-margin, margin), unit=unit),
        gap=None if spec_estimate is not None else _name_gap(point, last),
        theta=None if point.theta is None else phi.place(point.theta),
        fails=_find_failing(point, phi),
        band=None if spec_estimate is None or margin is None else _span(ed, -margin, margin),
    )


def _name_gap(point: VersionPoint, last: VersionPoint) -> str:
    if point.audit is None:
        return "not audited"
    # Three reasons for a gap, which a reader must not confuse.
    return "other quantity" if point.estimates and not is_same_quantity(point, last) else "no estimate"


def _find_lines(point: VersionPoint) -> tuple[float, ...]:
    """The numbers that no Φ may seem to cross: the ends of the range, and θ."""
    return (*(point.range or ()), *(() if point.theta is None else (point.theta,)))


def _find_failing(point: VersionPoint, phi: Axis) -> tuple[float, float] | None:
    if point.theta is None or point.relation is None:
        return None
    return _span(phi, point.theta, phi.high) if point.relation is Relation.AT_MOST else _span(phi, phi.low, point.theta)


def _span(axis: Axis, low: float, high: float) -> tuple[float, float]:
    """Top and height of the band from *low* to *high* on an upright scale."""
    # The higher value has the smaller pixel.
    top, bottom = axis.place(high), axis.place(low)
    return (top, round(bottom - top, 2))


def _break(name: str, fits: int) -> tuple[str, ...]:
    """Return *name* on one line of so many characters, or two; broken after a blank, hyphen or dot where there is one near the end."""
    if len(name) <= fits:
        return (name,)
    cut = max((name.rfind(sign, 0, fits) + 1 for sign in " -._:/"), default=0)
    # A cut in the first half would leave one long second line.
    cut = cut if cut > fits / 2 else fits
    return (name[:cut].rstrip(), shorten(name[cut:].lstrip(), fits))


def _build_movement(step: DriftStep, columns: Mapping[str, VersionColumn], unit: Unit) -> Movement:
    before, after = columns[step.before], columns[step.after]
    text, interval = _write_movement(step, unit)
    return Movement(left=before.x, right=after.x, text=text, interval=interval, is_paired=step.finding is not None)


def _write_movement(step: DriftStep, unit: Unit) -> tuple[str, str]:
    text = unit.signed(step.ed.value)
    if step.ed.low is None or step.ed.high is None:
        return text, "no interval"
    return text, unit.signed_numbers(step.ed.low, step.ed.high)


def _write_theta(version_points: Sequence[VersionPoint], unit: Unit) -> str | None:
    """Return the label of the line at θ; None where no revision has a number for it."""
    known = {(point.theta, point.relation) for point in version_points if point.theta is not None}
    if not known:
        return None
    if len(known) > 1:
        # Revisions with different limits share one sentence.
        return "θ of each revision; the claim fails where it is shaded"
    theta, relation = next((theta, relation) for theta, relation in known if theta is not None)
    word, side = ("maximum", "above") if relation is Relation.AT_MOST else ("minimum", "below")
    return f"{word} {unit.given(theta)}, claim fails {side}"


def _describe(
    spec: str,
    version_points: Sequence[VersionPoint],
    names: Sequence[str],
    estimates: Mapping[str, SpecEstimate | None],
    steps: Sequence[DriftStep],
    *,
    last: VersionPoint,
) -> str:
    """The figure in one paragraph: what a reader who cannot see it is told."""
    texts, unit = [f"Against {spec}."], _find_unit(last)
    called = {point.claim: name for point, name in zip(version_points, names, strict=True)}
    for point in version_points:
        estimate, lines = estimates[point.claim], _find_lines(point)
        if estimate is None:
            texts.append(f"{called[point.claim]}: {_name_gap(point, last)}.")
            continue
        margins = () if point.margin is None else (-point.margin, point.margin)
        numbers = (("Φ_test", estimate.phi_test, lines), ("Φ_deploy", estimate.phi_deploy, lines), ("ED", estimate.ed, margins))
        words = [f"{name} {describe_number(number, signed=name == 'ED', lines=against, unit=unit)}" for name, number, against in numbers]
        texts.append(f"{called[point.claim]}: {', '.join(words)}.")
    texts.extend(
        f"From {called[step.before]} to {called[step.after]} ED moved by {' '.join(_write_movement(step, unit))}." for step in steps
    )
    theta = _write_theta(version_points, unit)
    return " ".join((*texts, *(() if theta is None else (f"{theta}.",))))
