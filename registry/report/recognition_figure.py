"""The figure of verbalised recognition: shares with their intervals, arm by arm and channel by channel."""

from registry.records.estimates import BoundedEstimate, Measure
from registry.records.module_findings import Channel, GroupRate, Recognition
from registry.report.axis import WIDTH, Axis, Mark, build_axis, build_mark, shorten
from registry.report.finding_figures import ForestFigure, ForestRow
from registry.report.found import say_measure

_LABEL, _NOTE = 158, 128
_TOP, _ROW, _FOOT = 30, 28, 24
_MOST_ROWS = 24
_ENDS = (0.0, 1.0)


def build_recognition_figure(body: Recognition) -> ForestFigure | None:
    """Return the shares of all groups that have one, as the classifier sees them; None when no passage was classified."""
    known = [one for one in body.groups if one.recognised.value is not None]
    if not known:
        return None
    shown = known[:_MOST_ROWS]
    axis = build_axis(_list_ends(shown), bounds=_ENDS, left=_LABEL, width=WIDTH - _LABEL - _NOTE)
    rows = tuple(
        ForestRow(
            y=_TOP + _ROW * (place + 0.5),
            label=shorten(name_group(one)),
            note=f"{one.channel.value}, n = {one.classified}",
            mark=_mark(one.recognised, axis),
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
        title=" ".join(f"{name_group(one)}, {one.channel.value}: {say_measure(one.recognised, against=_ENDS)}." for one in shown),
        description=f"{len(rows)} intervals of shares on one axis, one for each arm and channel.",
        left_out=len(known) - len(shown),
    )


def name_group(one: GroupRate) -> str:
    """Return the arm, with the specification where there is one."""
    return one.arm if one.spec is None else f"{one.arm}, {one.spec}"


def _list_ends(shown: list[GroupRate]) -> list[float]:
    measures = [one.recognised for one in shown]
    return [0.0, *(value for one in measures for value in (one.value, one.low, one.high) if value is not None)]


def _mark(one: Measure, axis: Axis) -> Mark:
    bounded = BoundedEstimate(value=one.value or 0.0, low=one.low, high=one.high, reason=one.reason)
    return build_mark(bounded, axis, signed=False, lines=_ENDS)
