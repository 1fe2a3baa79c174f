"""Figures of estimates and counts as positions in CSS pixels, and the scale that all figures share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from registry.records.claim import ClaimRevision, Relation, Reported
from registry.records.estimates import BoundedEstimate, Differential, Estimate, SpecEstimate
from registry.records.supplement import ClaimRow, Supplement
from registry.records.verdict import Restriction, RestrictionStatus
from registry.report.claim_outcome import find_carry
from registry.report.number_format import Unit, format_exact, format_number, format_range, format_signed
from registry.report.supplement_wording import get_words

# The scale that all figures share.

WIDTH = 660
"""Of every figure, in CSS pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A straight scale from numbers to pixels."""

    low: float
    high: float
    left: float
    width: float
    ticks: tuple[tuple[float, str], ...]
    """Pixel and label of each tick."""

    def place(self, value: float) -> float:
        """Return the pixel of *value*, kept on the axis, to a hundredth so that every machine draws the same."""
        share = (value - self.low) / (self.high - self.low)
        # A value beyond the axis is drawn at its end; the printed number stays true.
        return round(self.left + self.width * min(max(share, 0.0), 1.0), 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalMark:
    """One estimate on an axis."""

    x: float
    low: float | None
    high: float | None
    text: str
    """The number as printed beside it."""
    interval: str
    """Its interval as printed below or beside it; says so when there is none."""


def build_mark(
    number: BoundedEstimate | Differential, axis: Axis, *, signed: bool, lines: Sequence[float], unit: Unit | None = None
) -> IntervalMark:
    """Return *number* on *axis*, as printed: rounded, and never across one of *lines*.

    Args:
        unit: the numbers are written as in the sentences of the verdict; None writes plain decimals.
    """
    if unit is not None:
        return _build_in_unit(number, axis, unit, signed=signed, lines=lines)
    write = format_signed if signed else format_number
    if number.low is None or number.high is None:
        return IntervalMark(
            x=axis.place(number.value), low=None, high=None, text=write(number.value, against=lines), interval="no interval"
        )
    interval = format_range(number.low, number.high, against=lines, signed=signed)
    return IntervalMark(
        x=axis.place(number.value),
        low=axis.place(number.low),
        high=axis.place(number.high),
        text=write(number.value, against=lines),
        interval=interval,
    )


def _build_in_unit(number: BoundedEstimate | Differential, axis: Axis, unit: Unit, *, signed: bool, lines: Sequence[float]) -> IntervalMark:
    def write(value: float) -> str:
        text = unit.number(value, *lines)
        return f"+{text}" if signed and value > 0 else text

    # Per cent is written on scores only. A difference is in points, named at the axis.
    end = " %" if unit.is_share and not signed else ""
    if number.low is None or number.high is None:
        return IntervalMark(x=axis.place(number.value), low=None, high=None, text=write(number.value) + end, interval="no interval")
    return IntervalMark(
        x=axis.place(number.value),
        low=axis.place(number.low),
        high=axis.place(number.high),
        text=write(number.value) + end,
        interval=f"{write(number.low)} to {write(number.high)}{end}",
    )


def build_axis(
    values: Sequence[float], *, bounds: tuple[float, float], left: float, width: float, signed: bool = False, percent: bool = False
) -> Axis:
    """Return a scale with round ends that holds *values* and a little air, never beyond *bounds* unless a value is.

    An end of the range that is near is shown; differences (*signed*) have no end worth showing. With *percent*, ticks are labelled in
    per cent, as the sentences of the verdict are.
    """
    low, high = min(values), max(values)
    spread = high - low
    # Differences have no natural ends. For scores a near end is shown, because the distance to 0 or
    # 1 is part of what the number says.
    if not signed:
        low = bounds[0] if low - bounds[0] <= 1.5 * spread or not spread else low
        high = bounds[1] if bounds[1] - high <= 0.5 * spread or not spread else high
    # Room on both sides, or a tenth of the range where all values are equal.
    air = 0.06 * (high - low) or 0.1 * (bounds[1] - bounds[0])
    low, high = min(low, max(low - air, bounds[0])), max(high, min(high + air, bounds[1]))
    step = _nice_step((high - low) / 4)
    # The tolerance keeps a tick that floating-point division puts just beside its multiple.
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(step * position, 12) for position in range(first, last + 1)]
    scale = Axis(low=ticks[0], high=ticks[-1], left=left, width=width, ticks=())
    # Labels in per cent need two decimals fewer.
    decimals = max(0, -math.floor(math.log10(step) + 1e-9) - (2 if percent else 0))
    write = format_signed if signed else format_number
    factor = 100 if percent else 1
    # Zero has no sign, also on a signed axis.
    labels = tuple((scale.place(tick), "0" if tick == 0 else write(round(tick * factor, 10), decimals=decimals)) for tick in ticks)
    return Axis(low=scale.low, high=scale.high, left=left, width=width, ticks=labels)


def _nice_step(rough: float) -> float:
    """Return the smallest of 1, 2, 2.5, 5 times a power of ten that is not below *rough*."""
    # The tolerance keeps a step that equals *rough* up to rounding.
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def find_span(axis: Axis, low: float, high: float) -> tuple[float, float]:
    """Return left edge and width of the band from *low* to *high*, in pixels."""
    left, right = axis.place(low), axis.place(high)
    return (left, round(right - left, 2))


def shorten(text: str, longest: int = 22) -> str:
    """Return *text* with at most *longest* characters, the last an ellipsis where some are left out."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# What is drawn where, in CSS pixels. The drawing itself is a template in
# `report_templates/figures`, so that the look can change without code.

_NOT_MEASURED = "nothing was measured in deployment"
_NARROW, _WIDE, _VALUE, _GAP = 66, 128, 104, 12
_TOP, _ROW, _FOOT = 36, 31, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLine:
    """One line of the figure: a side, or a specification."""

    y: float
    side: str | None
    """`test` or `deploy` when the line stands for a side; None when it stands for a specification."""
    label: str
    is_test: bool
    phi: IntervalMark
    ed: IntervalMark | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateFigure:
    """Φ of both sides with intervals and θ, and ED beside it with the band of the margin δ."""

    height: float
    bottom: float
    """Where the axes are."""
    phi: Axis
    ed: Axis
    rows: tuple[FigureLine, ...]
    theta: float | None
    """Pixel of θ; None without one."""
    theta_text: str | None
    fails: tuple[float, float] | None
    """Left edge and width of where the claim fails; None without θ."""
    theta_anchor: str
    """From which end the label of θ is set, so that it stays on the axis: start or end."""
    band: tuple[float, float]
    """Left edge and width of ±δ."""
    zero: float
    margin_text: str
    title: str
    description: str
    left_out: int
    """How many specifications stand only in the table."""
    unit_text: str = ""
    """After the head of the axis of Φ: ` (%)` for shares, else empty."""
    difference_text: str = ""
    """After the head of the axis of ED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFigure:
    """What the card reports, θ, and the inversion margin between them: no estimate was made."""

    height: float
    bottom: float
    axis: Axis
    y: float
    mark: IntervalMark
    theta: float | None
    theta_text: str | None
    fails: tuple[float, float] | None
    theta_anchor: str
    margin_text: str | None
    head: str
    title: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountBar:
    """One restriction status in the bar of a card supplement."""

    key: str
    label: str
    count: int
    x: float
    width: float


def build_estimate_figure(supplement: Supplement, *, most: int = 6) -> EstimateFigure | None:
    """Return the figure of Φ and ED; None without an estimate.

    Args:
        most: how many specifications are drawn, those that decided the class first.
    """
    estimate = supplement.audit.estimate if supplement.audit else None
    if estimate is None or not estimate.specs:
        return None
    claim = supplement.claim.payload
    # The specifications that decided the verdict come first: a reader must see why.
    shown = _deciding_first(estimate, supplement.outcome)[:most]
    label = _NARROW if len(estimate.specs) == 1 else _WIDE
    unit = Unit(low=estimate.range[0], high=estimate.range[1])
    phi, ed = _phi_axis(shown, estimate, claim, label), _ed_axis(shown, estimate, label)
    # The card's figure of an earlier model version is not compared with estimates of this one.
    reported = None if _find_other_version(supplement) is not None else claim.reported
    rows = _build_rows(shown, estimate, claim, (phi, ed), reported)
    bottom = _TOP + _ROW * len(rows) + 4
    return EstimateFigure(
        height=bottom + _FOOT,
        bottom=bottom,
        phi=phi,
        ed=ed,
        rows=rows,
        theta=None if claim.theta is None else phi.place(claim.theta),
        theta_text=write_theta(claim, unit),
        fails=find_failing(claim, phi),
        theta_anchor=find_anchor(claim, phi),
        band=find_span(ed, -estimate.margin, estimate.margin),
        zero=ed.place(0.0),
        unit_text=" (%)" if unit.is_share else "",
        difference_text=f" ({unit.points})" if unit.is_share else "",
        margin_text=f"±δ = {unit.given_difference(estimate.margin).removesuffix(unit.points).strip()}",
        title=_title(claim, estimate, shown),
        description=_describe(rows, claim),
        left_out=len(estimate.specs) - len(shown),
    )


def _deciding_first(estimate: Estimate, outcome: Restriction | None) -> list[SpecEstimate]:
    """Return the specifications, those that decided the class first; with several judges, judge by judge."""
    primary = outcome.classification.primary if outcome else None
    deciding = {spec.spec for spec in primary.specs if spec.verdict is primary.verdict} if primary else set()
    # Sorting is stable, so specifications of one judge stay together for `groupby` below.
    judges = list(dict.fromkeys(one.judge for one in estimate.specs))
    return sorted(estimate.specs, key=lambda spec: (judges.index(spec.judge), spec.spec not in deciding))


def _build_rows(
    spec_estimates: Sequence[SpecEstimate], estimate: Estimate, claim: ClaimRevision, axes: tuple[Axis, Axis], reported: Reported | None
) -> tuple[FigureLine, ...]:
    """Return one line for the card's figure, one for the test side of each judge, and one for each specification."""
    phi, ed = axes
    unit = Unit(low=estimate.range[0], high=estimate.range[1])
    lines, margins = _find_lines(claim, estimate), (-estimate.margin, estimate.margin)
    rows: list[FigureLine] = []
    # The card's figure comes first: it is what the estimates are compared with.
    if reported is not None:
        mark = build_mark(_as_bounded(reported), phi, signed=False, lines=lines, unit=unit)
        rows.append(FigureLine(y=_find_row(rows), side=None, label="card", is_test=True, phi=mark, ed=None))
    # All specifications share the test rows, so each judge has one line for the test side.
    for judge, specs in groupby(spec_estimates, key=lambda spec_estimate: spec_estimate.judge):
        each = list(specs)
        first = build_mark(each[0].phi_test, phi, signed=False, lines=lines, unit=unit)
        test = "test" if judge is None else f"test, {judge}"
        rows.append(
            FigureLine(y=_find_row(rows), side="test" if judge is None else None, label=shorten(test), is_test=True, phi=first, ed=None)
        )
        for spec in each:
            rows.append(
                FigureLine(
                    y=_find_row(rows),
                    # A single specification needs no name.
                    side="deploy" if len(estimate.specs) == 1 else None,
                    label=shorten(_name(spec)),
                    is_test=False,
                    phi=build_mark(spec.phi_deploy, phi, signed=False, lines=lines, unit=unit),
                    ed=build_mark(spec.ed, ed, signed=True, lines=margins, unit=unit),
                )
            )
    return tuple(rows)


def _as_bounded(reported: Reported) -> BoundedEstimate:
    """The card's figure as a mark: with the interval that the card states, or none."""
    # One end alone is no interval.
    if reported.low is None or reported.high is None:
        return BoundedEstimate(value=reported.value, low=None, high=None, reason="the card states no interval")
    return BoundedEstimate(value=reported.value, low=reported.low, high=reported.high)


def _find_row(above: Sequence[FigureLine]) -> float:
    return _TOP + _ROW * (len(above) + 0.5)


def _name(spec: SpecEstimate) -> str:
    return spec.spec if spec.judge is None else f"{spec.spec}, {spec.judge}"


def _find_other_version(supplement: Supplement) -> str | None:
    """Return the earlier model version that the card's figure is of; None where it is of the claim's own."""
    carry = find_carry(supplement.history)
    return carry.card_spoke_of.version if carry is not None and carry.card_spoke_of is not None else None


def build_reported_figure(supplement: Supplement) -> ReportedFigure | None:
    """Return the figure of a claim without an estimate: the card's own number beside θ; None when no figure is recorded."""
    claim = supplement.claim.payload
    if claim.reported is None:
        return None
    reported = claim.reported
    # Without a registered property the range is assumed to be that of a share, widened to the
    # value.
    known = supplement.property.range if supplement.property else (min(0.0, reported.value), max(1.0, reported.value))
    values = [value for value in (reported.value, reported.low, reported.high, claim.theta) if value is not None]
    axis = build_axis(values, bounds=known, left=_NARROW, width=WIDTH - _NARROW - _VALUE)
    mark = _reported_mark(reported, axis)
    other = _find_other_version(supplement)
    # The inversion margin compares the card's figure with θ; a figure of another version says
    # nothing of this claim's θ.
    gap = None if claim.theta is None or other is not None else reported.value - claim.theta
    text = None if gap is None else f"inversion margin {format_signed(gap)}"
    of = "" if other is None else f" of {other}, an earlier version"
    described = f"Reported by the card{of}: {mark.text}, {mark.interval}." + (
        "" if claim.theta is None else f" θ is {format_exact(claim.theta)}."
    )
    return ReportedFigure(
        height=_TOP + _ROW + _FOOT + 4,
        bottom=_TOP + _ROW + 4,
        axis=axis,
        y=_TOP + _ROW / 2,
        mark=mark,
        theta=None if claim.theta is None else axis.place(claim.theta),
        theta_text=write_theta(claim),
        fails=find_failing(claim, axis),
        theta_anchor=find_anchor(claim, axis),
        margin_text=text,
        head=f"As the card reports it{'' if other is None else f' of {shorten(other)}, an earlier version'}: {_NOT_MEASURED}",
        title=described + " Nothing was measured in deployment.",
        description="One line with the number that the card reports; no deployment side is drawn because none was measured.",
    )


def build_count_bars(claims: Sequence[ClaimRow]) -> tuple[CountBar, ...]:
    """Return one bar for each restriction status among *claims*, side by side over the whole width."""
    counts = {status: sum(row.restriction is status for row in claims) for status in RestrictionStatus}
    total = sum(counts.values())
    bars: list[CountBar] = []
    x = 0.0
    for status, count in counts.items():
        width = round(WIDTH * count / total, 2) if total else 0.0
        if count:
            bars.append(CountBar(key=status.value, label=get_words(status), count=count, x=round(x, 2), width=width))
        x += width
    return tuple(bars)


def _find_lines(claim: ClaimRevision, estimate: Estimate) -> tuple[float, ...]:
    """The numbers that no Φ may seem to cross: the ends of the range, and θ."""
    return (*estimate.range, *(() if claim.theta is None else (claim.theta,)))


def _reported_mark(reported: Reported, axis: Axis) -> IntervalMark:
    """The card's figure with the digits that the card gives; an interval with one end is no interval."""
    x, text = axis.place(reported.value), format_exact(reported.value)
    if reported.low is None or reported.high is None:
        return IntervalMark(x=x, low=None, high=None, text=text, interval="no interval")
    interval = f"[{format_exact(reported.low)}, {format_exact(reported.high)}]"
    return IntervalMark(x=x, low=axis.place(reported.low), high=axis.place(reported.high), text=text, interval=interval)


def _phi_axis(spec_estimates: Sequence[SpecEstimate], estimate: Estimate, claim: ClaimRevision, label: float) -> Axis:
    # θ belongs to the axis: a claim is read from where its interval lies to θ.
    values: list[float] = [] if claim.theta is None else [claim.theta]
    for spec in spec_estimates:
        for side in (spec.phi_test, spec.phi_deploy):
            values += [value for value in (side.value, side.low, side.high) if value is not None]
    # Also the card's figure, which is drawn on the same axis.
    values += [] if claim.reported is None else [claim.reported.value]
    return build_axis(values, bounds=estimate.range, left=label, width=_plot_width(label), percent=estimate.range == (0, 1))


def _ed_axis(spec_estimates: Sequence[SpecEstimate], estimate: Estimate, label: float) -> Axis:
    span = estimate.range[1] - estimate.range[0]
    # The band of the margin stays visible when all differences are small.
    values = [-estimate.margin * 1.6, estimate.margin * 1.6]
    for spec in spec_estimates:
        values += [value for value in (spec.ed.value, spec.ed.low, spec.ed.high) if value is not None]
    width = _plot_width(label)
    return build_axis(
        values, bounds=(-span, span), left=label + width + _VALUE + _GAP, width=width, signed=True, percent=estimate.range == (0, 1)
    )


def _plot_width(label: float) -> float:
    return (WIDTH - label - 2 * _VALUE - _GAP) / 2


def find_failing(claim: ClaimRevision, axis: Axis) -> tuple[float, float] | None:
    """Return left edge and width of where *claim* fails on *axis*; None without θ."""
    if claim.theta is None or claim.relation is None:
        return None
    # The shaded side is where the claim fails, whichever way it points.
    if claim.relation is Relation.AT_MOST:
        return find_span(axis, claim.theta, axis.high)
    return find_span(axis, axis.low, claim.theta)


def write_theta(claim: ClaimRevision, unit: Unit | None = None) -> str | None:
    """Return the label of the line at θ, in *unit* where one is given; None without θ."""
    if claim.theta is None:
        return None
    limit = format_exact(claim.theta) if unit is None else unit.given(claim.theta)
    return f"θ = {limit}, claim fails {'above' if claim.relation is Relation.AT_MOST else 'below'}"


def find_anchor(claim: ClaimRevision, axis: Axis) -> str:
    """Return from which end the label of θ is set, so that it stays on *axis*: start or end."""
    return "end" if claim.theta is not None and axis.place(claim.theta) > axis.left + axis.width / 2 else "start"


def _title(claim: ClaimRevision, estimate: Estimate, spec_estimates: Sequence[SpecEstimate]) -> str:
    """The figure in one paragraph: what a reader who cannot see it is told (WeasyPrint takes it as the alternative text)."""
    parts = []
    lines = _find_lines(claim, estimate)
    unit = Unit(low=estimate.range[0], high=estimate.range[1])
    # The marks are only read here, so the axis does not matter.
    axis = Axis(low=0, high=1, left=0, width=1, ticks=())
    for spec in spec_estimates:
        test, deploy = (_say(side, lines, unit) for side in (spec.phi_test, spec.phi_deploy))
        ed = build_mark(spec.ed, axis, signed=True, lines=(-estimate.margin, estimate.margin), unit=unit)
        parts.append(f"{_name(spec)}: Φ_test {test}, Φ_deploy {deploy}, ED {ed.text} {ed.interval}.")
    theta = "" if claim.theta is None else f" θ is {unit.given(claim.theta)}."
    return " ".join(parts) + theta + f" Margin δ is {unit.given_difference(estimate.margin)}."


def _say(side: BoundedEstimate, lines: Sequence[float], unit: Unit) -> str:
    mark = build_mark(side, Axis(low=0, high=1, left=0, width=1, ticks=()), signed=False, lines=lines, unit=unit)
    return f"{mark.text} {mark.interval}"


def _describe(rows: Sequence[FigureLine], claim: ClaimRevision) -> str:
    side = "" if claim.theta is None else " The shaded part of the left axis is where the claim fails."
    return (
        f"Left, {len(rows)} intervals of mean scores on one axis, the test side as a square and each deployment side as a circle.{side} "
        f"Right, the difference ED for each deployment side against zero and the margin."
    )
