"""Figures of what the modules found: raters against chance, ΔED cue by cue, judged beside corrected. Numbers in pixels, as in `figures`."""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.records.claim import ClaimRevision
from registry.records.estimates import BoundedEstimate, Measure
from registry.records.module_findings import Ablation, CueChange, JudgeReport, Naturalness, RaterKind, RaterResult
from registry.report.axis import WIDTH, Axis, Mark, build_axis, build_mark, find_span, shorten
from registry.report.figures import EstimateFigure, Line, find_anchor, find_failing, write_theta
from registry.report.found import CHANCE, find_interval, say_measure
from registry.report.numbers import format_exact, format_number

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
    mark: Mark
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
    known = [one for one in _list_raters(body) if one.measure.value is not None]
    if not known:
        return None
    shown = known[:_MOST_ROWS]
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
    said = " ".join(f"{one.label}: accuracy {say_measure(one.measure, against=(CHANCE,))}." for one in shown)
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
class _Rated:
    """A row of the figure of naturalness before it is placed."""

    label: str
    note: str
    measure: Measure
    shape: str = "circle"
    strong: bool = False


def _list_raters(body: Naturalness) -> list[_Rated]:
    persons = [one for one in body.raters if one.kind is RaterKind.PERSON]
    models = [one for one in body.raters if one.kind is RaterKind.MODEL]
    together = f"{len(persons)} persons together" if len(persons) > 1 else "the person"
    kind = "balanced accuracy" if body.balanced else "accuracy"
    first = _Rated(label=together, note=kind, measure=body.accuracy, strong=True)

    def accuracy(one: RaterResult) -> Measure:
        return one.balanced_accuracy if body.balanced else one.accuracy

    each = [_Rated(label=one.rater, note="person", measure=accuracy(one)) for one in persons if len(persons) > 1]
    return [first, *each, *(_Rated(label=one.rater, note="model", measure=accuracy(one), shape="ring") for one in models)]


def build_ablation_figure(body: Ablation) -> ForestFigure | None:
    """Return ΔED of each cue and placebo against zero and the margin; None when there is no cue with a value."""
    known = [one for one in body.changes if one.change.value is not None]
    if not known:
        return None
    shown = known[:_MOST_ROWS]
    lines = (-body.margin, 0.0, body.margin)
    intervals = [find_interval(one) for one in shown]
    values = [*_ends(intervals), -1.6 * body.margin, 1.6 * body.margin]
    span = body.range[1] - body.range[0]
    axis = build_axis(values, bounds=(-span, span), left=_LABEL, width=WIDTH - _LABEL - _NOTE, signed=True)
    rows = tuple(
        ForestRow(
            y=_TOP + _ROW * (place + 0.5),
            label=shorten(change.cue),
            note=_note(change),
            mark=_mark(interval, axis, lines=lines, signed=True),
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
    if len(sets) == 1:
        return None
    theta = () if claim.theta is None else (claim.theta,)
    phis = [measure for _, test, deploy, _ in sets for measure in (test, deploy)]
    margins, span = (-body.margin, body.margin), body.range[1] - body.range[0]
    width = (WIDTH - _LABEL - 2 * 104 - 12) / 2
    phi = build_axis([*_ends(phis), *theta] or list(body.range), bounds=body.range, left=_LABEL, width=width)
    eds = [*_ends([one[3] for one in sets]), -1.6 * body.margin, 1.6 * body.margin]
    ed = build_axis(eds, bounds=(-span, span), left=_LABEL + width + 104 + 12, width=width, signed=True)
    lines = (*body.range, *theta)
    wanted: list[tuple[str, Measure, Measure | None, bool]] = [(f"test, {name}", test, None, True) for name, test, _, _ in sets]
    wanted += [(f"deploy, {name}", deploy, difference, False) for name, _, deploy, difference in sets]
    rows = tuple(
        Line(
            y=36 + 31 * (place + 0.5),
            side=None,
            label=shorten(label, 26),
            is_test=is_test,
            phi=_mark(side, phi, lines=lines, signed=False),
            ed=None if difference is None else _mark(difference, ed, lines=margins, signed=True),
        )
        for place, (label, side, difference, is_test) in enumerate(wanted)
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
    return [value for one in measures for value in (one.value, one.low, one.high) if value is not None]


def _mark(one: Measure, axis: Axis, *, lines: Sequence[float], signed: bool) -> Mark:
    if one.value is None:
        return Mark(x=axis.left, low=None, high=None, text="–", interval=one.reason or "not defined")
    return build_mark(BoundedEstimate(value=one.value, low=one.low, high=one.high, reason=one.reason), axis, signed=signed, lines=lines)


def _say_change(one: CueChange, interval: Measure, lines: Sequence[float]) -> str:
    kind = "placebo" if one.placebo else "audit-relevant" if one.relevant else "not shown to be audit-relevant"
    return f"{one.cue} ({kind}): {say_measure(interval, against=lines, signed=True)}."


def _say_set(one: tuple[str, Measure, Measure, Measure], lines: Sequence[float], margins: Sequence[float]) -> str:
    name, test, deploy, ed = one
    sides = f"Φ_test {say_measure(test, against=lines)}, Φ_deploy {say_measure(deploy, against=lines)}"
    return f"{name}: {sides}, ED {say_measure(ed, against=margins, signed=True)}."
