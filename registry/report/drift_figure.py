"""The figure of a claim over model versions: Φ above, ED below, a column for each version. Numbers in pixels, as in `figures`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.records.claim import Relation
from registry.records.estimates import SpecEstimate
from registry.records.supplement import Drift, DriftStep, VersionPoint
from registry.report.axis import WIDTH, Axis, Mark, build_axis, build_mark, shorten
from registry.report.drift import is_same_quantity
from registry.report.numbers import format_exact, format_range, format_signed

MOST_COLUMNS = 8
_LEFT, _CHARACTER = 50.0, 6.2
_PHI, _ED = (30.0, 142.0), (176.0, 268.0)
"""Top and bottom of both panels."""
_HEIGHT = 358.0
_PLACES = Axis(low=0, high=1, left=0, width=1, ticks=())
"""For marks that are only read, not drawn."""

Key = tuple[str, str | None]
"""A specification of P_deploy, and the judge where there are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One revision of the claim."""

    x: float
    """Its middle."""
    left: float
    width: float
    label: tuple[str, ...]
    """The version, on one or two lines."""
    below: str
    """Revision and class."""
    test: Mark | None
    """None where nothing was estimated, and then so are `deploy` and `ed`."""
    deploy: Mark | None
    ed: Mark | None
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
    columns: tuple[Column, ...]
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
    left_out: int
    """How many earlier revisions stand only in the table."""


def build_drift_figures(drift: Drift, *, most: int = 4) -> tuple[DriftFigure, ...]:
    """Return a figure for each specification of P_deploy, the latest estimate's first; none where no revision has an estimate.

    Args:
        most: how many figures at most; the table has all specifications.
    """
    keys: dict[Key, None] = {}
    for point in reversed(drift.points):
        keys.update(dict.fromkeys((one.spec, one.judge) for one in point.estimates))
    return tuple(_build(drift, key) for key in list(keys)[:most])


def count_keys(drift: Drift) -> int:
    """Return against how many specifications, by how many judges, there are estimates: so many figures there could be."""
    return len({(one.spec, one.judge) for point in drift.points for one in point.estimates})


def name_versions(points: Sequence[VersionPoint]) -> tuple[str, ...]:
    """Return what tells the models apart: their version, with the name, and with the developer, only where these differ."""
    models = [point.model for point in points]
    if len({one.developer for one in models}) > 1:
        return tuple(map(str, models))
    if len({one.name for one in models}) > 1:
        return tuple(f"{one.name} {one.version}" for one in models)
    return tuple(one.version for one in models)


def _build(drift: Drift, key: Key) -> DriftFigure:
    shown = drift.points[-MOST_COLUMNS:]
    found = {point.claim: _find(point, key) for point in shown}
    last = next((point for point in reversed(shown) if found[point.claim] is not None), shown[-1])
    # Another property, or another range of scores, has no place on these axes.
    found = {point.claim: found[point.claim] if is_same_quantity(point, last) else None for point in shown}
    phi, ed = _build_axes(shown, found, last)
    names = name_versions(drift.points)[-len(shown) :]
    width = (WIDTH - _LEFT) / len(shown)
    columns = [
        _build_column(point, found[point.claim], name, (phi, ed), (_LEFT + place * width, width), last=last)
        for place, (point, name) in enumerate(zip(shown, names, strict=True))
    ]
    steps = [one for one in drift.steps if (one.spec, one.judge) == key and {one.before, one.after} <= set(found)]
    by_claim = {point.claim: column for point, column in zip(shown, columns, strict=True)}
    spec = key[0] if key[1] is None else f"{key[0]}, judge {key[1]}"
    return DriftFigure(
        height=_HEIGHT,
        phi=phi,
        ed=ed,
        columns=tuple(columns),
        movements=tuple(_build_movement(one, by_claim) for one in steps),
        name=spec,
        spec=shorten(spec, 60),
        theta_text=_write_theta(shown),
        margin_text=_write_margin(_margins(shown)),
        zero=ed.place(0.0),
        title=_say(spec, shown, names, found, steps, last=last),
        description=f"Above, mean scores of {len(shown)} revisions of the claim in order, the test side as a square, the deployment side "
        "as a circle, with their intervals; below, the difference ED of each against zero and the margin, and how far it moved.",
        left_out=len(drift.points) - len(shown),
    )


def _find(point: VersionPoint, key: Key) -> SpecEstimate | None:
    return next((one for one in point.estimates if (one.spec, one.judge) == key), None)


def _write_margin(margins: set[float]) -> str | None:
    """Return the label of the shaded bands; None where no revision has a margin, and so none is shaded."""
    if not margins:
        return None
    return f"shaded: ±δ = {format_exact(next(iter(margins)))}" if len(margins) == 1 else "shaded: ±δ of each plan"


def _margins(points: Sequence[VersionPoint]) -> set[float]:
    return {point.margin for point in points if point.margin is not None}


def _build_axes(shown: Sequence[VersionPoint], found: Mapping[str, SpecEstimate | None], last: VersionPoint) -> tuple[Axis, Axis]:
    """Return the upright scales of Φ and of ED; their `left` is the bottom of the panel and their width counts upwards."""
    bounds = last.range or (0.0, 1.0)
    span, margin = bounds[1] - bounds[0], max(_margins(shown), default=0.0)
    phis = [point.theta for point in shown if point.theta is not None]
    eds = [-1.6 * margin, 0.0, 1.6 * margin]
    for one in found.values():
        if one is not None:
            phis += [value for side in (one.phi_test, one.phi_deploy) for value in (side.value, side.low, side.high) if value is not None]
            eds += [value for value in (one.ed.value, one.ed.low, one.ed.high) if value is not None]
    return (
        build_axis(phis or list(bounds), bounds=bounds, left=_PHI[1], width=_PHI[0] - _PHI[1]),
        build_axis(eds, bounds=(-span, span), left=_ED[1], width=_ED[0] - _ED[1], signed=True),
    )


def _build_column(
    point: VersionPoint, one: SpecEstimate | None, name: str, axes: tuple[Axis, Axis], place: tuple[float, float], *, last: VersionPoint
) -> Column:
    phi, ed = axes
    left, width = place
    margin = point.margin
    lines = _find_lines(point)
    return Column(
        x=round(left + width / 2, 2),
        left=round(left, 2),
        width=round(width, 2),
        label=_break(name, int(width / _CHARACTER)),
        below=f"revision {point.claim.rpartition('@')[2]}",
        test=None if one is None else build_mark(one.phi_test, phi, signed=False, lines=lines),
        deploy=None if one is None else build_mark(one.phi_deploy, phi, signed=False, lines=lines),
        ed=None if one is None else build_mark(one.ed, ed, signed=True, lines=() if margin is None else (-margin, margin)),
        gap=None if one is not None else _name_gap(point, last),
        theta=None if point.theta is None else phi.place(point.theta),
        fails=_find_failing(point, phi),
        band=None if one is None or margin is None else _span(ed, -margin, margin),
    )


def _name_gap(point: VersionPoint, last: VersionPoint) -> str:
    if point.audit is None:
        return "not audited"
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
    top, bottom = axis.place(high), axis.place(low)
    return (top, round(bottom - top, 2))


def _break(name: str, fits: int) -> tuple[str, ...]:
    """Return *name* on one line of so many characters, or two; broken after a blank, hyphen or dot where there is one near the end."""
    if len(name) <= fits:
        return (name,)
    cut = max((name.rfind(sign, 0, fits) + 1 for sign in " -._:/"), default=0)
    cut = cut if cut > fits / 2 else fits
    return (name[:cut].rstrip(), shorten(name[cut:].lstrip(), fits))


def _build_movement(step: DriftStep, columns: Mapping[str, Column]) -> Movement:
    before, after = columns[step.before], columns[step.after]
    text, interval = _write_movement(step)
    return Movement(left=before.x, right=after.x, text=text, interval=interval, is_paired=step.finding is not None)


def _write_movement(step: DriftStep) -> tuple[str, str]:
    text = format_signed(step.ed.value)
    if step.ed.low is None or step.ed.high is None:
        return text, "no interval"
    return text, format_range(step.ed.low, step.ed.high, signed=True)


def _write_theta(shown: Sequence[VersionPoint]) -> str | None:
    """Return the label of the line at θ; None where no revision has a number for it."""
    known = {(point.theta, point.relation) for point in shown if point.theta is not None}
    if not known:
        return None
    if len(known) > 1:
        return "θ of each revision; the claim fails where it is shaded"
    theta, relation = next((theta, relation) for theta, relation in known if theta is not None)
    return f"θ = {format_exact(theta)}, claim fails {'above' if relation is Relation.AT_MOST else 'below'}"


def _say(
    spec: str,
    shown: Sequence[VersionPoint],
    names: Sequence[str],
    found: Mapping[str, SpecEstimate | None],
    steps: Sequence[DriftStep],
    *,
    last: VersionPoint,
) -> str:
    """The figure in one paragraph: what a reader who cannot see it is told."""
    said = [f"Against {spec}."]
    called = {point.claim: name for point, name in zip(shown, names, strict=True)}
    for point in shown:
        one, lines = found[point.claim], _find_lines(point)
        if one is None:
            said.append(f"{called[point.claim]}: {_name_gap(point, last)}.")
            continue
        margins = () if point.margin is None else (-point.margin, point.margin)
        numbers = (("Φ_test", one.phi_test, lines), ("Φ_deploy", one.phi_deploy, lines), ("ED", one.ed, margins))
        marks = [(name, build_mark(number, _PLACES, signed=name == "ED", lines=against)) for name, number, against in numbers]
        said.append(f"{called[point.claim]}: {', '.join(f'{name} {mark.text} {mark.interval}' for name, mark in marks)}.")
    said.extend(f"From {called[step.before]} to {called[step.after]} ED moved by {' '.join(_write_movement(step))}." for step in steps)
    theta = _write_theta(shown)
    return " ".join((*said, *(() if theta is None else (f"{theta}.",))))
