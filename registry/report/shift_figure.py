"""The figure of a shift between two model versions: how far each side and ED moved, against each specification of P_deploy."""

from collections.abc import Iterator

from registry.records.estimates import BoundedEstimate, Differential
from registry.records.module_findings import Shift, SpecShift
from registry.report.axis import WIDTH, Axis, build_axis, build_mark, shorten
from registry.report.finding_figures import ForestFigure, ForestRow

_LABEL, _NOTE = 158, 128
_TOP, _ROW, _FOOT = 30, 28, 24
_MOST_SPECS = 8
_READ = Axis(low=0, high=1, left=0, width=1, ticks=())


def build_shift_figure(body: Shift) -> ForestFigure | None:
    """Return the movements of both sides and of ED against each specification; None without one."""
    shown = [(one, row) for one in body.specs[:_MOST_SPECS] for row in _list_numbers(one)]
    if not shown:
        return None
    ends = [value for _, (_, number, _) in shown for value in (number.value, number.low, number.high) if value is not None]
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
        left_out=3 * max(0, len(body.specs) - _MOST_SPECS),
    )


def name_spec(one: SpecShift) -> str:
    """Return the specification, with the judge where there are several."""
    return one.spec if one.judge is None else f"{one.spec}, {one.judge}"


def _list_numbers(one: SpecShift) -> Iterator[tuple[str, BoundedEstimate | Differential, str]]:
    yield "Φ test", one.phi_test, "square"
    yield "Φ deploy", one.phi_deploy, "ring"
    yield "ED", one.ed, "circle"


def _say(one: SpecShift) -> str:
    marks = [(label, build_mark(number, _READ, signed=True, lines=())) for label, number, _ in _list_numbers(one)]
    return f"Against {name_spec(one)}: {', '.join(f'{label} {mark.text} {mark.interval}' for label, mark in marks)}."
