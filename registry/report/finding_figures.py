"""Figures of module findings: raters, cues, judges, recognition, and shifts between model versions."""

from collections.abc import Iterable, Iterator, Sequence

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
    Recognition,
    Shift,
    SpecShift,
)
from registry.report.claim_outcome import CHANCE, find_interval, format_measure_value
from registry.report.interval_figures import (
    WIDTH,
    Axis,
    ChartPanel,
    IntervalChart,
    IntervalRow,
    Number,
    build_axes,
    build_axis,
    build_claim_panel,
    build_margin_panel,
    build_mark,
    describe_number,
    list_ends,
    shorten,
)
from registry.report.number_format import SHARES, Unit

# Only the first rows are drawn: the table has all of them.

_LABEL, _NOTE = 158, 128
_MOST_ROWS = 24
_ENDS = (0.0, 1.0)


def _build_axis(
    values: Iterable[Number], limits: Sequence[float], bounds: tuple[float, float], *, signed: bool = False, percent: bool = True
) -> Axis:
    """Return the only axis of a chart, holding *values* and the *limits* that they are compared with."""
    return build_axis(
        [*list_ends(values), *limits], bounds=bounds, left=_LABEL, width=WIDTH - _LABEL - _NOTE, signed=signed, percent=percent
    )


def _build_chart(
    panel: ChartPanel, rows: Sequence[IntervalRow], *, legend: str, title: str, description: str, excluded: int
) -> IntervalChart:
    """Return a chart whose rows stand closer than those of page one, since they may be many."""
    text = f"{len(rows)} {description}"
    return IntervalChart(
        main=panel, rows=tuple(rows), legend=legend, title=title, description=text, excluded=excluded, top=30, row_height=28
    )


def build_naturalness_figure(body: Naturalness) -> IntervalChart | None:
    """Return the accuracy of all persons and of each rater against chance; None when no accuracy exists."""
    # A measure without a value has no place on the axis.
    known = [(row, accuracy) for row, accuracy in _list_raters(body) if accuracy.value is not None]
    if not known:
        return None
    shown = known[:_MOST_ROWS]
    # The axis always holds chance, or the line of comparison would fall off it.
    axis = _build_axis((accuracy for _, accuracy in shown), [CHANCE], _ENDS)
    words = " ".join(f"{label}: accuracy {format_measure_value(accuracy, SHARES, against=(CHANCE,))}." for (label, *_), accuracy in shown)
    return _build_chart(
        ChartPanel(axis=axis, head="Correct answers, in per cent", line=axis.place(CHANCE), line_text=f"chance, {SHARES.given(CHANCE)}"),
        [
            IntervalRow(
                label=shorten(label),
                note=note,
                mark=build_mark(accuracy, axis, lines=(0.0, CHANCE, 1.0), signed=False, unit=SHARES),
                shape="ring" if note == "model" else "circle",
                strong=place == 0,
            )
            for place, ((label, note), accuracy) in enumerate(shown)
        ],
        legend="filled: persons; ring: a model, which does not count",
        title=f"{words} Chance is {SHARES.given(CHANCE)}.",
        description="intervals on one axis from raters who did not know the side of an item, with a line at chance.",
        excluded=len(known) - len(shown),
    )


def _list_raters(body: Naturalness) -> Iterator[tuple[tuple[str, str], Measure]]:
    """Yield label, note and accuracy: all persons together, then each person, then the models."""
    persons = [rater for rater in body.raters if rater.kind is RaterKind.PERSON]
    together = f"{len(persons)} persons together" if len(persons) > 1 else "the person"
    yield (together, "balanced accuracy" if body.balanced else "accuracy"), body.accuracy
    models = [rater for rater in body.raters if rater.kind is RaterKind.MODEL]
    # A single person is the same row as all persons together.
    for rater in (*(persons if len(persons) > 1 else ()), *models):
        accuracy = rater.balanced_accuracy if body.balanced else rater.accuracy
        yield (rater.rater, "person" if rater.kind is RaterKind.PERSON else "model"), accuracy


def build_ablation_figure(body: Ablation) -> IntervalChart | None:
    """Return ΔED of each cue and placebo against zero and the margin; None when there is no cue with a value."""
    known = [change for change in body.changes if change.change.value is not None]
    if not known:
        return None
    shown = [(change, find_interval(change)) for change in known[:_MOST_ROWS]]
    # No ΔED is rounded across zero or the margin, since that decides whether a cue counts.
    unit = Unit(low=body.range[0], high=body.range[1])
    lines, margin = (-body.margin, 0.0, body.margin), unit.given_difference(body.margin)
    span = body.range[1] - body.range[0]
    # 1.6 margins leave the band visible with room on both sides, also when all effects are small.
    limits = [-1.6 * body.margin, 1.6 * body.margin]
    axis = _build_axis((interval for _, interval in shown), limits, (-span, span), signed=True, percent=unit.is_share)
    words = [
        f"{change.cue} ({_name_kind(change)}): {format_measure_value(interval, unit, against=lines, signed=True)}."
        for change, interval in shown
    ]
    return _build_chart(
        build_margin_panel(axis, body.margin, f"ΔED = ED before − ED after, in {unit.points}", unit.plain(body.margin)),
        [
            IntervalRow(
                label=shorten(change.cue),
                note=f"placebo, arm {change.arm}" if change.placebo else f"arm {change.arm}{', audit-relevant' if change.relevant else ''}",
                mark=build_mark(interval, axis, lines=lines, signed=True, unit=unit),
                # Shape and fill, not colour, carry the meaning, so a grey print reads the same.
                shape="square" if change.placebo else "circle" if change.relevant else "ring",
                strong=change.relevant is True and not change.placebo,
            )
            for change, interval in shown
        ],
        legend="filled: audit-relevant; ring: not shown to be; square: placebo",
        title=" ".join([*words, f"Margin δ is {margin}."]),
        description="intervals of the change of ED on one axis, one for each cue taken out, against zero and the margin.",
        excluded=len(known) - len(shown),
    )


def _name_kind(change: CueChange) -> str:
    return "placebo" if change.placebo else "audit-relevant" if change.relevant else "not shown to be audit-relevant"


def build_judge_figure(body: JudgeReport, claim: ClaimRevision) -> IntervalChart | None:
    """Return Φ of both sides and ED as judged and as corrected, rendered like the estimate; None without a corrected figure."""
    sets = [("judged", body.phi_test, body.phi_deploy, body.ed)]
    sets += [(corrected.method, corrected.phi_test, corrected.phi_deploy, corrected.ed) for corrected in body.corrected]
    # Without a correction the figure would repeat the estimate.
    if len(sets) == 1:
        return None
    unit = Unit(low=body.range[0], high=body.range[1])
    theta = () if claim.theta is None else (claim.theta,)
    lines, margins = (*body.range, *theta), (-body.margin, body.margin)
    # Without any value the axis shows the range of the property.
    phis = [*list_ends(side for _, test, deploy, _ in sets for side in (test, deploy)), *theta] or list(body.range)
    phi, ed = build_axes(phis, list_ends(ed for *_, ed in sets), bounds=body.range, margin=body.margin, label=_LABEL, percent=unit.is_share)
    # First all test sides, then all deployment sides, so that judged and corrected stand together.
    sides: list[tuple[str, Measure, Measure | None]] = [(f"test, {name}", test, None) for name, test, _, _ in sets]
    sides += [(f"deploy, {name}", deploy, difference) for name, _, deploy, difference in sets]
    rows = tuple(
        IntervalRow(
            label=shorten(label, 26),
            mark=build_mark(side, phi, lines=lines, signed=False, unit=unit),
            difference=None if difference is None else build_mark(difference, ed, lines=margins, signed=True, unit=unit),
            shape="square" if difference is None else "circle",
        )
        for label, side, difference in sides
        # A correction may have no value for a side; the table gives the reason.
        if side.value is not None
    )
    words = (
        f"{name}: Φ_test {format_measure_value(test, unit, against=lines)}, Φ_deploy {format_measure_value(deploy, unit, against=lines)}, "
        f"ED {format_measure_value(difference, unit, against=margins, signed=True)}."
        for name, test, deploy, difference in sets
    )
    return IntervalChart(
        main=build_claim_panel(claim, phi, "Mean score Φ", unit),
        difference=build_margin_panel(ed, body.margin, "", unit.plain(body.margin)),
        rows=rows,
        title=" ".join(words),
        description=f"{len(rows)} intervals of mean scores, the test side as squares and the deployment side as circles, each as judged "
        "and as corrected; right, the difference ED as judged and as corrected.",
    )


def build_recognition_figure(body: Recognition) -> IntervalChart | None:
    """Return the shares of all groups that have one, as the classifier sees them; None when no passage was classified."""
    # A group without a classified passage has no share; drawing 0 would be a result.
    known = [group for group in body.groups if group.recognised.value is not None]
    if not known:
        return None
    shown = known[:_MOST_ROWS]
    # The axis always holds zero, so that shares can be compared by their distance from it.
    axis = _build_axis((group.recognised for group in shown), [0.0], _ENDS)
    words = (
        f"{name_group(group)}, {group.channel.value}: {format_measure_value(group.recognised, SHARES, against=_ENDS)}." for group in shown
    )
    return _build_chart(
        ChartPanel(axis=axis, head="Passages that verbalise recognition, in per cent"),
        [
            IntervalRow(
                label=shorten(name_group(group)),
                note=f"{group.channel.value}, n = {group.classified}",
                mark=build_mark(group.recognised, axis, signed=False, lines=_ENDS, unit=SHARES),
                shape="ring" if group.channel is Channel.REASONING else "circle",
            )
            for group in shown
        ],
        legend="filled: output; ring: reasoning",
        title=" ".join(words),
        description="intervals of shares on one axis, one for each arm and channel.",
        excluded=len(known) - len(shown),
    )


def name_group(group_rate: GroupRate) -> str:
    """Return the arm, with the specification where there is one."""
    return group_rate.arm if group_rate.spec is None else f"{group_rate.arm}, {group_rate.spec}"


# The shift between two model versions, against each specification.

_MOST_SPECS = 8


def build_shift_figure(body: Shift, unit: Unit) -> IntervalChart | None:
    """Return the movements of both sides and of ED against each specification, in *unit*; None without one."""
    specs = body.specs[:_MOST_SPECS]
    if not specs:
        return None
    shown = [(spec, *row) for spec in specs for row in _list_numbers(spec)]
    numbers = [number for _, _, number, _ in shown]
    # Above zero, so that an axis exists also when nothing moved at all.
    widest = max(1e-9, *map(abs, list_ends(numbers)))
    axis = _build_axis(numbers, [0.0], (-2 * widest, 2 * widest), signed=True, percent=unit.is_share)
    words = (
        f"Against {name_spec(spec)}: "
        f"{', '.join(f'{label} {describe_number(number, signed=True, lines=(), unit=unit)}' for label, number, _ in _list_numbers(spec))}."
        for spec in specs
    )
    return _build_chart(
        ChartPanel(axis=axis, head=f"After − before, in {unit.points}", line=axis.place(0.0), line_text="no change"),
        [
            IntervalRow(
                label=label,
                note=shorten(name_spec(spec)) if len(body.specs) > 1 or label == "Φ deploy" else "",
                mark=build_mark(number, axis, signed=True, lines=(), unit=unit),
                shape=shape,
                strong=shape == "circle",
            )
            for spec, label, number, shape in shown
        ],
        legend="filled: ED; square: Φ of the test side; ring: of the deployment side",
        title=" ".join(words),
        description="intervals of what moved between two model versions, on one axis with a line at no change.",
        # Each specification has three rows.
        excluded=3 * max(0, len(body.specs) - _MOST_SPECS),
    )


def name_spec(spec_shift: SpecShift) -> str:
    """Return the specification, with the judge where there are several."""
    return spec_shift.spec if spec_shift.judge is None else f"{spec_shift.spec}, {spec_shift.judge}"


def _list_numbers(spec_shift: SpecShift) -> Iterator[tuple[str, BoundedEstimate | Differential, str]]:
    yield "Φ test", spec_shift.phi_test, "square"
    yield "Φ deploy", spec_shift.phi_deploy, "ring"
    yield "ED", spec_shift.ed, "circle"
