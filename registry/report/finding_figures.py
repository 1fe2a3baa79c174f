"""Figures of module findings: raters, cues, judges, recognition, and shifts between model versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.records.claim import ClaimRevision
from registry.records.estimates import BoundedEstimate, Differential, Measure
from registry.records.module_findings import (
    Ablation,
    Channel,
    CueChange,
    GroupRate,
    JudgeReport,
    Naturalness,
    RaterKind,
    RaterResult,
    Recognition,
    Shift,
    SpecShift,
)
from registry.report.claim_outcome import CHANCE, find_interval, format_measure_value
from registry.report.interval_figures import (
    WIDTH,
    Axis,
    EstimateFigure,
    FigureLine,
    IntervalMark,
    build_axis,
    build_mark,
    find_anchor,
    find_failing,
    find_span,
    shorten,
    write_theta,
)
from registry.report.number_format import format_exact, format_number

# Geometry in CSS pixels, as in `interval_figures`. Only the first rows are drawn: the table has all
# of them.

_LABEL, _NOTE = 158, 128
_TOP, _ROW, _FOOT = 30, 28, 24
_MOST_ROWS = 24
_JUDGED = "judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """One interval of a forest: a rater, or a cue."""

    y: float
    label: str
    note: str
    """Below the label: what kind of rater, on which arm; empty for nothing."""
    mark: IntervalMark
    shape: str
    """`circle` (filled), `ring` or `square`: told apart without colour."""
    strong: bool
    """Whether the row is what the section is about: the raters together, or an audit-relevant cue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestFigure:
    """Intervals below each other on one axis, with a line to compare them with and, for differences, the band of the margin."""

    height: float
    bottom: float
    axis: Axis
    rows: tuple[ForestRow, ...]
    head: str
    line: float
    """Pixel of the line of comparison: chance, or zero."""
    line_text: str
    band: tuple[float, float] | None
    """Left edge and width of ±δ; None where there is no margin."""
    band_text: str | None
    legend: str
    """What the shapes mean."""
    title: str
    description: str
    left_out: int
    """How many rows stand only in the table."""


def build_naturalness_figure(body: Naturalness) -> ForestFigure | None:
    """Return the accuracy of all persons and of each rater against chance; None when no accuracy exists."""
    # A measure without a value has no place on the axis.
    known = [rater for rater in _list_raters(body) if rater.measure.value is not None]
    if not known:
        return None
    shown = known[:_MOST_ROWS]
    # The axis always holds chance, or the line of comparison would fall off it.
    axis = build_axis([*_ends([one.measure for one in shown]), CHANCE], bounds=(0.0, 1.0), left=_LABEL, width=WIDTH - _LABEL - _NOTE)
    rows = tuple(
        ForestRow(
            y=_TOP + _ROW * (place + 0.5),
            label=shorten(one.label),
            note=one.note,
            mark=_mark(one.measure, axis, lines=(0.0, CHANCE, 1.0), signed=False),
            shape=one.shape,
            strong=one.strong,
        )
        for place, one in enumerate(shown)
    )
    bottom = _TOP + _ROW * len(rows) + 4
    said = " ".join(f"{one.label}: accuracy {format_measure_value(one.measure, against=(CHANCE,))}." for one in shown)
    return ForestFigure(
        height=bottom + _FOOT,
        bottom=bottom,
        axis=axis,
        rows=rows,
        head="Share of items told right",
        line=axis.place(CHANCE),
        line_text=f"chance, {format_number(CHANCE)}",
        band=None,
        band_text=None,
        legend="filled: persons; ring: a model, which does not count",
        title=f"{said} Chance is {format_number(CHANCE)}.",
        description=f"{len(rows)} intervals on one axis from raters who did not know the side of an item, with a line at chance.",
        left_out=len(known) - len(shown),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _RatedRow:
    """A row of the figure of naturalness before it is placed."""

    label: str
    note: str
    measure: Measure
    shape: str = "circle"
    strong: bool = False


def _list_raters(body: Naturalness) -> list[_RatedRow]:
    persons = [rater for rater in body.raters if rater.kind is RaterKind.PERSON]
    models = [one for one in body.raters if one.kind is RaterKind.MODEL]
    together = f"{len(persons)} persons together" if len(persons) > 1 else "the person"
    kind = "balanced accuracy" if body.balanced else "accuracy"
    first = _RatedRow(label=together, note=kind, measure=body.accuracy, strong=True)

    def accuracy(rater_result: RaterResult) -> Measure:
        return rater_result.balanced_accuracy if body.balanced else rater_result.accuracy

    # A single person is the same row as all persons together.
    each = [_RatedRow(label=person.rater, note="person", measure=accuracy(person)) for person in persons if len(persons) > 1]
    return [first, *each, *(_RatedRow(label=model.rater, note="model", measure=accuracy(model), shape="ring") for model in models)]


def build_ablation_figure(body: Ablation) -> ForestFigure | None:
    """Return ΔED of each cue and placebo against zero and the margin; None when there is no cue with a value."""
    known = [one for one in body.changes if one.change.value is not None]
    if not known:
        return None
    shown = known[:_MOST_ROWS]
    # No ΔED is rounded across zero or the margin, since that decides whether a cue counts.
    lines = (-body.margin, 0.0, body.margin)
    intervals = [find_interval(one) for one in shown]
    # 1.6 margins leave the band visible with room on both sides, also when all effects are small.
    values = [*_ends(intervals), -1.6 * body.margin, 1.6 * body.margin]
    span = body.range[1] - body.range[0]
    axis = build_axis(values, bounds=(-span, span), left=_LABEL, width=WIDTH - _LABEL - _NOTE, signed=True)
    rows = tuple(
        ForestRow(
            y=_TOP + _ROW * (place + 0.5),
            label=shorten(change.cue),
            note=_note(change),
            mark=_mark(interval, axis, lines=lines, signed=True),
            # Shape and fill, not colour, carry the meaning, so a grey print reads the same.
            shape="square" if change.placebo else "circle" if change.relevant else "ring",
            strong=change.relevant is True and not change.placebo,
        )
        for place, (change, interval) in enumerate(zip(shown, intervals, strict=True))
    )
    bottom = _TOP + _ROW * len(rows) + 4
    return ForestFigure(
        height=bottom + _FOOT,
        bottom=bottom,
        axis=axis,
        rows=rows,
        head="ΔED = ED before − ED after",
        line=axis.place(0.0),
        line_text="",
        band=find_span(axis, -body.margin, body.margin),
        band_text=f"±δ = {format_exact(body.margin)}",
        legend="filled: audit-relevant; ring: not shown to be; square: placebo",
        title=" ".join(_say_change(one, interval, lines) for one, interval in zip(shown, intervals, strict=True))
        + f" Margin δ is {format_exact(body.margin)}.",
        description=f"{len(rows)} intervals of the change of ED on one axis, one for each cue taken out, against zero and the margin.",
        left_out=len(known) - len(shown),
    )


def build_judge_figure(body: JudgeReport, claim: ClaimRevision) -> EstimateFigure | None:
    """Return Φ of both sides and ED as judged and as corrected, drawn like the estimate; None without a corrected figure."""
    sets = [(_JUDGED, body.phi_test, body.phi_deploy, body.ed)]
    sets += [(one.method, one.phi_test, one.phi_deploy, one.ed) for one in body.corrected]
    # Without a correction the figure would repeat the estimate.
    if len(sets) == 1:
        return None
    theta = () if claim.theta is None else (claim.theta,)
    phis = [measure for _, test, deploy, _ in sets for measure in (test, deploy)]
    margins, span = (-body.margin, body.margin), body.range[1] - body.range[0]
    width = (WIDTH - _LABEL - 2 * 104 - 12) / 2
    # Without any value the axis shows the range of the property.
    phi = build_axis([*_ends(phis), *theta] or list(body.range), bounds=body.range, left=_LABEL, width=width)
    eds = [*_ends([set_[3] for set_ in sets]), -1.6 * body.margin, 1.6 * body.margin]
    ed = build_axis(eds, bounds=(-span, span), left=_LABEL + width + 104 + 12, width=width, signed=True)
    lines = (*body.range, *theta)
    wanted: list[tuple[str, Measure, Measure | None, bool]] = [(f"test, {name}", test, None, True) for name, test, _, _ in sets]
    # First all test sides, then all deployment sides, so that judged and corrected stand together.
    wanted += [(f"deploy, {name}", deploy, difference, False) for name, _, deploy, difference in sets]
    rows = tuple(
        FigureLine(
            y=36 + 31 * (place + 0.5),
            side=None,
            label=shorten(label, 26),
            is_test=is_test,
            phi=_mark(side, phi, lines=lines, signed=False),
            ed=None if difference is None else _mark(difference, ed, lines=margins, signed=True),
        )
        for place, (label, side, difference, is_test) in enumerate(wanted)
        # A correction may have no value for a side. Its row stays empty, and the table gives the
        # reason.
        if side.value is not None
    )
    bottom = 36 + 31 * len(wanted) + 4
    return EstimateFigure(
        height=bottom + _FOOT,
        bottom=bottom,
        phi=phi,
        ed=ed,
        rows=rows,
        theta=None if claim.theta is None else phi.place(claim.theta),
        theta_text=write_theta(claim),
        fails=find_failing(claim, phi),
        theta_anchor=find_anchor(claim, phi),
        band=find_span(ed, *margins),
        zero=ed.place(0.0),
        margin_text=f"±δ = {format_exact(body.margin)}",
        title=" ".join(_say_set(one, lines, margins) for one in sets),
        description=f"{len(rows)} intervals of mean scores, the test side as squares and the deployment side as circles, each as judged "
        "and as corrected; right, the difference ED as judged and as corrected.",
        left_out=0,
    )


def _note(change: CueChange) -> str:
    if change.placebo:
        return f"placebo, arm {change.arm}"
    return f"arm {change.arm}, audit-relevant" if change.relevant else f"arm {change.arm}"


def _ends(measures: Sequence[Measure]) -> list[float]:
    return [value for measure in measures for value in (measure.value, measure.low, measure.high) if value is not None]


def _mark(measure: Measure, axis: Axis, *, lines: Sequence[float], signed: bool) -> IntervalMark:
    # No value: the mark holds the reason for the text, and is drawn without an interval.
    if measure.value is None:
        return IntervalMark(x=axis.left, low=None, high=None, text="–", interval=measure.reason or "not defined")
    return build_mark(
        BoundedEstimate(value=measure.value, low=measure.low, high=measure.high, reason=measure.reason), axis, signed=signed, lines=lines
    )


def _say_change(cue_change: CueChange, interval: Measure, lines: Sequence[float]) -> str:
    kind = "placebo" if cue_change.placebo else "audit-relevant" if cue_change.relevant else "not shown to be audit-relevant"
    return f"{cue_change.cue} ({kind}): {format_measure_value(interval, against=lines, signed=True)}."


def _say_set(one: tuple[str, Measure, Measure, Measure], lines: Sequence[float], margins: Sequence[float]) -> str:
    name, test, deploy, ed = one
    sides = f"Φ_test {format_measure_value(test, against=lines)}, Φ_deploy {format_measure_value(deploy, against=lines)}"
    return f"{name}: {sides}, ED {format_measure_value(ed, against=margins, signed=True)}."


# Recognition: shares with their intervals for each arm and channel.

_ENDS = (0.0, 1.0)


def build_recognition_figure(body: Recognition) -> ForestFigure | None:
    """Return the shares of all groups that have one, as the classifier sees them; None when no passage was classified."""
    # A group without a classified passage has no share; drawing 0 would be a result.
    known = [group for group in body.groups if group.recognised.value is not None]
    if not known:
        return None
    shown = known[:_MOST_ROWS]
    axis = build_axis(_list_ends(shown), bounds=_ENDS, left=_LABEL, width=WIDTH - _LABEL - _NOTE)
    rows = tuple(
        ForestRow(
            y=_TOP + _ROW * (place + 0.5),
            label=shorten(name_group(one)),
            note=f"{one.channel.value}, n = {one.classified}",
            mark=_mark_share(one.recognised, axis),
            shape="ring" if one.channel is Channel.REASONING else "circle",
            strong=False,
        )
        for place, one in enumerate(shown)
    )
    bottom = _TOP + _ROW * len(rows) + 4
    return ForestFigure(
        height=bottom + _FOOT,
        bottom=bottom,
        axis=axis,
        rows=rows,
        head="Share of passages that verbalise recognition",
        line=axis.place(0.0),
        line_text="",
        band=None,
        band_text=None,
        legend="filled: output; ring: reasoning",
        title=" ".join(f"{name_group(one)}, {one.channel.value}: {format_measure_value(one.recognised, against=_ENDS)}." for one in shown),
        description=f"{len(rows)} intervals of shares on one axis, one for each arm and channel.",
        left_out=len(known) - len(shown),
    )


def name_group(group_rate: GroupRate) -> str:
    """Return the arm, with the specification where there is one."""
    return group_rate.arm if group_rate.spec is None else f"{group_rate.arm}, {group_rate.spec}"


def _list_ends(group_rates: list[GroupRate]) -> list[float]:
    measures = [group_rate.recognised for group_rate in group_rates]
    # The line of comparison is at zero, so the axis always holds it.
    return [0.0, *(value for measure in measures for value in (measure.value, measure.low, measure.high) if value is not None)]


def _mark_share(measure: Measure, axis: Axis) -> IntervalMark:
    bounded = BoundedEstimate(value=measure.value or 0.0, low=measure.low, high=measure.high, reason=measure.reason)
    return build_mark(bounded, axis, signed=False, lines=_ENDS)


# The shift between two model versions, against each specification.

_MOST_SPECS = 8
# For marks that are only read out, not drawn.
_READ = Axis(low=0, high=1, left=0, width=1, ticks=())


def build_shift_figure(body: Shift) -> ForestFigure | None:
    """Return the movements of both sides and of ED against each specification; None without one."""
    shown = [(spec, row) for spec in body.specs[:_MOST_SPECS] for row in _list_numbers(spec)]
    if not shown:
        return None
    ends = [value for _, (_, number, _) in shown for value in (number.value, number.low, number.high) if value is not None]
    # Above zero, so that an axis exists also when nothing moved at all.
    widest = max(1e-9, *map(abs, ends))
    axis = build_axis([0.0, *ends], bounds=(-2 * widest, 2 * widest), left=_LABEL, width=WIDTH - _LABEL - _NOTE, signed=True)
    rows = tuple(
        ForestRow(
            y=_TOP + _ROW * (place + 0.5),
            label=label,
            note=shorten(name_spec(one)) if len(body.specs) > 1 or label == "Φ deploy" else "",
            mark=build_mark(number, axis, signed=True, lines=()),
            shape=shape,
            strong=shape == "circle",
        )
        for place, (one, (label, number, shape)) in enumerate(shown)
    )
    bottom = _TOP + _ROW * len(rows) + 4
    return ForestFigure(
        height=bottom + _FOOT,
        bottom=bottom,
        axis=axis,
        rows=rows,
        head="After − before",
        line=axis.place(0.0),
        line_text="no change",
        band=None,
        band_text=None,
        legend="filled: ED; square: Φ of the test side; ring: of the deployment side",
        title=" ".join(_say(one) for one in body.specs[:_MOST_SPECS]),
        description=f"{len(rows)} intervals of what moved between two model versions, on one axis with a line at no change.",
        # Each specification has three rows.
        left_out=3 * max(0, len(body.specs) - _MOST_SPECS),
    )


def name_spec(spec_shift: SpecShift) -> str:
    """Return the specification, with the judge where there are several."""
    return spec_shift.spec if spec_shift.judge is None else f"{spec_shift.spec}, {spec_shift.judge}"


def _list_numbers(spec_shift: SpecShift) -> Iterator[tuple[str, BoundedEstimate | Differential, str]]:
    yield "Φ test", spec_shift.phi_test, "square"
    yield "Φ deploy", spec_shift.phi_deploy, "ring"
    yield "ED", spec_shift.ed, "circle"


def _say(spec_shift: SpecShift) -> str:
    marks = [(label, build_mark(number, _READ, signed=True, lines=())) for label, number, _ in _list_numbers(spec_shift)]
    return f"Against {name_spec(spec_shift)}: {', '.join(f'{label} {mark.text} {mark.interval}' for label, mark in marks)}."
