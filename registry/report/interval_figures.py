"""Figures of estimates and counts as positions in CSS pixels, and the scale that all figures share."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from registry.records.claim import ClaimRevision, Relation, Reported
from registry.records.estimates import BoundedEstimate, Differential, Estimate, Measure, SpecEstimate
from registry.records.supplement import Supplement
from registry.records.verdict import Mode, Restriction, Verdict
from registry.report.claim_outcome import find_carry
from registry.report.number_format import Unit, format_exact, format_items, format_number, format_range, format_signed

# The scale that all figures share.

WIDTH = 660
"""Of every figure, in CSS pixels."""


Number = BoundedEstimate | Differential | Measure


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


def build_mark(number: Number, axis: Axis, *, signed: bool, lines: Sequence[float], unit: Unit | None = None) -> IntervalMark:
    """Return *number* on *axis*, as printed: rounded, and never across one of *lines*.

    Args:
        unit: the numbers are written as in the sentences of the verdict; None writes plain decimals.
    """
    # Without a value the mark holds the reason, for the text; nothing is drawn.
    if number.value is None:
        return IntervalMark(x=axis.left, low=None, high=None, text="–", interval=number.reason or "not defined")

    def write(value: float) -> str:
        if unit is None:
            return (format_signed if signed else format_number)(value, against=lines)
        text = unit.number(value, *lines)
        return f"+{text}" if signed and value > 0 else text

    # Per cent is written on scores only. A difference is in points, named at the axis.
    end = " %" if unit is not None and unit.is_share and not signed else ""
    x, text = axis.place(number.value), write(number.value) + end
    if number.low is None or number.high is None:
        return IntervalMark(x=x, low=None, high=None, text=text, interval="no interval")
    interval = (
        format_range(number.low, number.high, against=lines, signed=signed)
        if unit is None
        else f"{write(number.low)} to {write(number.high)}"
        if signed
        else unit.scores(number.low, number.high, *lines)
    )
    return IntervalMark(x=x, low=axis.place(number.low), high=axis.place(number.high), text=text, interval=interval)


def describe_number(number: Number, *, signed: bool, lines: Sequence[float], unit: Unit | None = None) -> str:
    """Return *number* with its interval as a figure prints them, for the text that replaces the figure."""
    # Only the words are read, so the axis does not matter.
    mark = build_mark(number, Axis(low=0, high=1, left=0, width=1, ticks=()), signed=signed, lines=lines, unit=unit)
    points = f" {unit.points}" if unit is not None and signed else ""
    return f"{mark.text}{points} {mark.interval}"


def list_ends(numbers: Iterable[Number]) -> list[float]:
    """Return all values and interval ends that exist: what an axis has to hold."""
    return [end for number in numbers for end in (number.value, number.low, number.high) if end is not None]


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
    step = find_step((high - low) / 4)
    # The tolerance keeps a tick that floating-point division puts just beside its multiple.
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(step * position, 12) for position in range(first, last + 1)]
    scale = Axis(low=ticks[0], high=ticks[-1], left=left, width=width, ticks=())
    write, factor = (format_signed if signed else format_number), (100 if percent else 1)
    decimals = count_decimals(step * factor)
    # Zero has no sign, also on a signed axis.
    labels = tuple((scale.place(tick), "0" if tick == 0 else write(round(tick * factor, 10), decimals=decimals)) for tick in ticks)
    return Axis(low=scale.low, high=scale.high, left=left, width=width, ticks=labels)


def find_step(rough: float) -> float:
    """Return the smallest of 1, 2, 2.5, 5 times a power of ten that is not below *rough*."""
    # The tolerance keeps a step that equals *rough* up to rounding.
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))


def count_decimals(step: float) -> int:
    """Return how many decimals *step* has: one more for 0.25 than for 0.2."""
    return next(count for count in range(400) if math.isclose(round(step, count), step, rel_tol=1e-9))


def find_span(axis: Axis, low: float, high: float) -> tuple[float, float]:
    """Return left edge and width of the band from *low* to *high*, in pixels."""
    left, right = axis.place(low), axis.place(high)
    return (left, round(right - left, 2))


def shorten(text: str, longest: int = 22) -> str:
    """Return *text* with at most *longest* characters, the last an ellipsis where some are excluded."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# The one chart of intervals: rows below each other, on one axis or on two. The drawing itself is a template in
# `report_templates/figures`, so that the look can change without code.

_VALUE, _GAP = 104, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPanel:
    """An axis with what its intervals are compared with; all places in pixels."""

    axis: Axis
    head: str
    """Above the axis; of the panel of ED, what follows its formula."""
    line: float | None = None
    """The limit θ, or chance."""
    line_text: str | None = None
    line_anchor: str = "middle"
    """From which end the label of the line is set, so that it stays on the axis: start, middle or end."""
    fails: tuple[float, float] | None = None
    """Left edge and width of where the claim fails; None without θ."""
    zero: float | None = None
    band: tuple[float, float] | None = None
    """Left edge and width of ±δ; None where there is no margin."""
    band_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow:
    """One row of the chart: a side, a specification, a rater, a cue."""

    label: str
    """`Φ_` before a word sets that word below the line."""
    mark: IntervalMark
    difference: IntervalMark | None = None
    """Of ED, on the second axis."""
    shape: str = "circle"
    """Of the mark on the first axis: `circle` (filled), `ring`, `square` or `tick`, distinct without colour."""
    note: str = ""
    """Below the label."""
    is_muted: bool = False
    """Whether the evidence is unusable, so that the row compares with nothing."""
    strong: bool = False
    """Whether the row is what the section is about: the raters together, or an audit-relevant cue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalChart:
    """Intervals below each other, with what they are compared with."""

    main: ChartPanel
    difference: ChartPanel | None = None
    """The second axis, for ED."""
    rows: tuple[IntervalRow, ...]
    legend: str = ""
    """What the shapes mean, or how far the card's figure is from θ."""
    title: str
    description: str
    excluded: int = 0
    """How many rows stand only in the table."""
    top: float = 36
    row_height: float = 31

    @property
    def bottom(self) -> float:
        """Where the axes are."""
        return self.top + self.row_height * len(self.rows) + 4

    @property
    def height(self) -> float:
        """Of the whole figure."""
        return self.bottom + 24


def build_claim_panel(claim: ClaimRevision, axis: Axis, head: str, unit: Unit | None = None) -> ChartPanel:
    """Return *axis* with the limit θ, written in *unit*, and where *claim* fails; only the axis without θ."""
    if claim.theta is None:
        return ChartPanel(axis=axis, head=head)
    place, is_most = axis.place(claim.theta), claim.relation is Relation.AT_MOST
    limit = format_exact(claim.theta) if unit is None else unit.given(claim.theta)
    # The shaded side is where the claim fails, whichever way it points.
    span = find_span(axis, claim.theta, axis.high) if is_most else find_span(axis, axis.low, claim.theta)
    return ChartPanel(
        axis=axis,
        head=head,
        line=place,
        line_text=f"{'maximum' if is_most else 'minimum'} {limit}, fails {'above' if is_most else 'below'}",
        # On the shaded side, where there is room for it.
        line_anchor="start" if place < axis.left + axis.width * (0.7 if is_most else 0.3) else "end",
        fails=None if claim.relation is None else span,
    )


def build_margin_panel(axis: Axis, margin: float, head: str, written: str) -> ChartPanel:
    """Return *axis* with zero and the band of ±*margin*."""
    return ChartPanel(axis=axis, head=head, zero=axis.place(0.0), band=find_span(axis, -margin, margin), band_text=f"±δ = {written}")


def build_axes(
    phis: Sequence[float], eds: Sequence[float], *, bounds: tuple[float, float], margin: float, label: float, percent: bool = False
) -> tuple[Axis, Axis]:
    """Return the axes of Φ and ED side by side, to the right of labels of *label* pixels."""
    width, span = (WIDTH - label - 2 * _VALUE - _GAP) / 2, bounds[1] - bounds[0]
    # 1.6 margins leave the band visible with room on both sides, also when all differences are small.
    eds = [*eds, -1.6 * margin, 1.6 * margin]
    left = label + width + _VALUE + _GAP
    return (
        build_axis(phis, bounds=bounds, left=label, width=width, percent=percent),
        build_axis(eds, bounds=(-span, span), left=left, width=width, signed=True, percent=percent),
    )


def _deciding_first(estimate: Estimate, outcome: Restriction | None) -> list[SpecEstimate]:
    """Return the specifications, those that decided the class first; with several judges, judge by judge."""
    primary = outcome.classification.primary if outcome else None
    deciding = {spec.spec for spec in primary.specs if spec.verdict is primary.verdict} if primary else set()
    # Sorting is stable, so specifications of one judge stay together for `groupby` below.
    judges = list(dict.fromkeys(spec_estimate.judge for spec_estimate in estimate.specs))
    return sorted(estimate.specs, key=lambda spec: (judges.index(spec.judge), spec.spec not in deciding))


def _as_bounded(reported: Reported) -> BoundedEstimate:
    """The card's figure as a mark: with the interval that the card states, or none."""
    # One end alone is no interval.
    if reported.low is None or reported.high is None:
        return BoundedEstimate(value=reported.value, low=None, high=None, reason="the card states no interval")
    return BoundedEstimate(value=reported.value, low=reported.low, high=reported.high)


def _name(spec: SpecEstimate) -> str:
    return spec.spec if spec.judge is None else f"{spec.spec}, {spec.judge}"


def _find_other_version(supplement: Supplement) -> str | None:
    """Return the earlier model version that the card's figure is of; None where it is of the claim's own."""
    carry = find_carry(supplement.history)
    return carry.card_spoke_of.version if carry is not None and carry.card_spoke_of is not None else None


# The figure of page one: card, replicated evaluation and deployment, in one unit on a fixed axis, so
# that the figures of two claims compare at a glance. ED is not drawn: it is the distance of two rows.

_SIZES = 168
MOST_DEPLOYED = 4
"""Specifications of P_deploy on page one."""


def build_claim_figure(supplement: Supplement, *, most: int = MOST_DEPLOYED) -> IntervalChart | None:
    """Return three rows on the whole range of the property: the card's figure, the replicated evaluation, and deployment.

    None without a replay: a single number needs no figure.

    Args:
        most: how many specifications of P_deploy get a row, those that decided the verdict first.
    """
    estimate = supplement.audit.estimate if supplement.audit else None
    if estimate is None or not estimate.specs:
        return None
    claim, unit = supplement.claim.payload, Unit(low=estimate.range[0], high=estimate.range[1])
    axis = _build_whole_axis(unit)
    primary = supplement.outcome.classification.primary if supplement.outcome else None
    shown = _deciding_first(estimate, supplement.outcome)[:most]
    # Unusable evidence is hollow and grey: its rows must not be read as a comparison.
    is_unusable = primary is not None and primary.verdict is Verdict.INCONCLUSIVE and primary.mode is Mode.TECHNICAL
    lines = _find_lines(claim, estimate)

    def row(label: str, side: BoundedEstimate, note: str, shape: str) -> IntervalRow:
        mark = build_mark(side, axis, signed=False, lines=lines, unit=unit)
        return IntervalRow(label=label, mark=mark, shape=shape, note=note, is_muted=is_unusable and shape != "tick")

    # The card's figure of an earlier model version is not compared with estimates of this one.
    is_own = claim.reported is not None and _find_other_version(supplement) is None
    rows = []
    if claim.reported is not None and is_own:
        stated = "n not stated" if claim.reported.n is None else f"n = {claim.reported.n:,}"
        rows.append(row("Card", _as_bounded(claim.reported), stated, "tick"))
    for judge, specs in groupby(shown, key=lambda spec: spec.judge):
        judge_specs = list(specs)
        by, n = f", {judge}" if judge else "", judge_specs[0].n
        note = f"{format_items(n.tasks, 'task')} × {format_items(n.contexts_test, 'context')}"
        rows.append(row(shorten(f"Evaluation{by}", 26), judge_specs[0].phi_test, note, "square"))
        for spec in judge_specs:
            label = "Deployment" if len(estimate.specs) == 1 else shorten(_name(spec), 26)
            note = f"{format_items(spec.n.tasks, 'task')} × {format_items(spec.n.contexts_deploy, 'context')}"
            rows.append(row(label, spec.phi_deploy, note, "circle"))
    reason = "hollow: not comparable" if is_unusable else ""
    return IntervalChart(
        main=build_claim_panel(claim, axis, "", unit),
        rows=tuple(rows),
        legend=reason,
        title=" ".join(filter(None, (_write_title(claim, estimate, shown), reason))),
        description=f"{len(rows)} rows on one axis from {unit.given(axis.low)} to {unit.given(axis.high)}, each with its interval.",
        excluded=len(estimate.specs) - len(shown),
        top=24,
    )


def _build_whole_axis(unit: Unit) -> Axis:
    """The axis over the whole range of the property."""
    step = (unit.high - unit.low) / 4
    scale = Axis(low=unit.low, high=unit.high, left=_SIZES, width=WIDTH - _SIZES - _VALUE, ticks=())
    # Quarters have a tick; the ends and the middle have a number too, since each row prints its own.
    ends = [(unit.low + step * place, place % 2 == 0) for place in range(5)]
    return replace(scale, ticks=tuple((scale.place(end), unit.given(round(end, 12)) if is_named else "") for end, is_named in ends))


def _find_lines(claim: ClaimRevision, estimate: Estimate) -> tuple[float, ...]:
    """The numbers that no Φ may seem to cross: the ends of the range, and θ."""
    return (*estimate.range, *(() if claim.theta is None else (claim.theta,)))


def _write_title(claim: ClaimRevision, estimate: Estimate, spec_estimates: Sequence[SpecEstimate]) -> str:
    """The figure in one paragraph, for a reader who cannot see it (WeasyPrint takes it as the alternative text)."""
    lines, margins = _find_lines(claim, estimate), (-estimate.margin, estimate.margin)
    unit = Unit(low=estimate.range[0], high=estimate.range[1])
    parts = [
        f"{_name(spec)}: Φ_test {describe_number(spec.phi_test, signed=False, lines=lines, unit=unit)}, "
        f"Φ_deploy {describe_number(spec.phi_deploy, signed=False, lines=lines, unit=unit)}, "
        f"ED {describe_number(spec.ed, signed=True, lines=margins, unit=unit)}."
        for spec in spec_estimates
    ]
    parts += [] if claim.theta is None else [f"θ is {unit.given(claim.theta)}."]
    return " ".join([*parts, f"Margin δ is {unit.given_difference(estimate.margin)}."])
