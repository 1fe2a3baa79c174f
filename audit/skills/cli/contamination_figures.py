"""Figures of a skill-contamination study as inline SVG; every text is escaped by construction."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from registry.records.estimates import Measure
from registry.report.interval_figures import Axis, count_decimals, find_step
from registry.report.number_format import format_number, format_range, format_signed
from registry.report.quoted_text import show_text

WIDTH = 760.0
_LABEL, _VALUES, _TOP, _FOOT = 218.0, 160.0, 30.0, 40.0
_SCATTER_HEIGHT = 380.0
_INK, _QUIET, _MARK, _BAND, _AXIS, _PAPER, _PRINTED = "#1c2430", "#566172", "#14506e", "#e6eaef", "#7b8696", "#ffffff", "#8a5200"


Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Look = tuple[str, str, float]
"""Class, colour and width of a line."""

_GRID: Look = ("fig-band-line", _BAND, 0.8)
_ZERO: Look = ("fig-zero", _QUIET, 0.8)
_EDGE: Look = ("fig-axis", _AXIS, 0.8)
_SPAN: Look = ("fig-mark", _MARK, 1.8)
_TICK: Look = ("fig-mark", _MARK, 1.2)
_FAINT: Look = ("fig-mark fig-faint", _MARK, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureValue:
    """One measured number in a row: a filled circle, or an open square."""

    measure: Measure
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """One row of a figure of intervals."""

    label: str
    note: str
    """Below the label, in small; may be empty."""
    lines: tuple[FigureValue, ...]
    published: float | None
    """The printed point, drawn as a diamond; None without one."""
    quiet: bool = False
    """Whether the row is drawn without widening the axis: an interval that leaves it ends in an arrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterDot:
    """One point of the scatter."""

    x: float
    measure: Measure
    label: str


def element(tag: str, *children: "Element | str | None", **attributes: "str | float | None") -> Element:
    """Return an element; `class_` is `class`, `_` in a name is `-`, None is excluded, texts show what they hide."""
    made = Element(tag, {_name(name): _write(value) for name, value in attributes.items() if value is not None})
    last: Element | None = None
    for child in children:
        if isinstance(child, Element):
            made.append(child)
            last = child
        elif child and last is None:
            made.text = (made.text or "") + show_text(child)
        elif child and last is not None:
            last.tail = (last.tail or "") + show_text(child)
    return made


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-") if name != "viewBox" else name


def _write(value: str | float) -> str:
    return show_text(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def draw_intervals(rows: Sequence[FigureRow], *, margin: float, title: str, unit: str) -> Element:
    """Return rows of intervals against zero and the band of ±*margin*; the numbers are at the right."""
    axis = _build_axis(list(_list_values(rows, margin)), left=_LABEL, width=WIDTH - _LABEL - _VALUES)
    heights = [max(28.0, 14.0 * len(row.lines) + 10.0) for row in rows]
    bottom = _TOP + sum(heights)
    svg = _open(bottom + _FOOT, title, _describe(rows))
    left, right = axis.place(-margin), axis.place(margin)
    svg.append(element("rect", x=left, y=_TOP - 4, width=right - left, height=bottom - _TOP + 4, class_="fig-band", fill=_BAND))
    _add_text(svg, f"±δ = {format_number(margin)}", at=((left + right) / 2, _TOP - 10), anchor="middle", quiet=True)
    _add_axis(svg, axis, bottom, unit)
    _add_line(svg, (axis.place(0.0), _TOP - 4), (axis.place(0.0), bottom), _ZERO)
    y = _TOP
    for row, height in zip(rows, heights, strict=True):
        _draw_row(svg, row, axis, y + height / 2)
        y += height
    return svg


def draw_scatter(dots: Sequence[ScatterDot], *, title: str, x_name: str, unit: str) -> Element:
    """Return the structural score of each skill against its contrast, with the interval of each point."""
    left, bottom = 64.0, _SCATTER_HEIGHT - _FOOT
    across = _build_axis([0.0, *(dot.x for dot in dots)], left=left, width=WIDTH - left - 24)
    ends = [end for scatter_dot in dots for end in _list_ends(scatter_dot.measure)]
    up = _build_axis([0.0, *ends], left=0.0, width=bottom - _TOP)
    svg = _open(_SCATTER_HEIGHT, title, f"{len(dots)} points with vertical intervals.")
    _add_axis(svg, across, bottom, x_name)
    for place, label in up.ticks:
        _add_line(svg, (left, bottom - place), (WIDTH - 24, bottom - place), _GRID)
        _add_text(svg, label, at=(left - 8, bottom - place + 4), anchor="end", quiet=True)
    _add_line(svg, (left, bottom - up.place(0.0)), (WIDTH - 24, bottom - up.place(0.0)), _ZERO)
    _add_text(svg, unit, at=(0, 14), quiet=True)
    for scatter_dot in dots:
        _draw_dot(svg, scatter_dot, across.place(scatter_dot.x), up, bottom)
    known = [
        (scatter_dot.label, (across.place(scatter_dot.x), bottom - up.place(scatter_dot.measure.value)))
        for scatter_dot in dots
        if scatter_dot.measure.value is not None
    ]
    _add_labels(svg, known)
    return svg


def _add_labels(svg: Element, points: Sequence[tuple[str, Point]]) -> None:
    """Write the name of each point where it covers no other name or point; one that fits nowhere is left to the table."""
    taken = [(x - 5, y - 5, x + 5, y + 5) for _, (x, y) in points]
    for name, (x, y) in sorted(points, key=lambda point: point[1]):
        text = _shorten(name, 30)
        width = 4.7 * len(text)
        for right, drop in ((True, 3.0), (False, 3.0), (True, -8.0), (False, -8.0), (True, 14.0), (False, 14.0)):
            left = x + 8 if right else x - 8 - width
            box = (left, y + drop - 8, left + width, y + drop + 2)
            if left >= 0 and box[2] <= WIDTH and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                _add_text(svg, text, at=(x + 8 if right else x - 8, y + drop), anchor="start" if right else "end", quiet=True, size=9.0)
                break


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _draw_dot(svg: Element, dot: ScatterDot, x: float, up: Axis, bottom: float) -> None:
    if dot.measure.value is None:
        return
    group = SubElement(svg, "g")
    group.append(element("title", f"{dot.label}: {_write_measure(dot.measure)}"))
    if dot.measure.low is not None and dot.measure.high is not None:
        low, high = bottom - up.place(dot.measure.low), bottom - up.place(dot.measure.high)
        _add_line(group, (x, low), (x, high), _FAINT)
    y = bottom - up.place(dot.measure.value)
    group.append(element("circle", cx=x, cy=y, r=4.2, class_="fig-deploy", fill=_MARK, stroke=_PAPER, stroke_width=1.0))


def _draw_row(svg: Element, row: FigureRow, axis: Axis, y: float) -> None:
    _add_text(svg, _shorten(row.label), at=(0, y + (0 if row.note else 4)), quiet=row.quiet)
    if row.note:
        _add_text(svg, _shorten(row.note, 52), at=(0, y + 11), quiet=True, size=9.5)
    first = y - 14 * (len(row.lines) - 1) / 2
    for position, line in enumerate(row.lines):
        _draw_line(svg, line, axis, first + 14 * position, is_bold=position == 0)
    if row.published is not None and axis.low <= row.published <= axis.high:
        x = axis.place(row.published)
        points = f"{x},{first - 6} {x + 4.2},{first} {x},{first + 6} {x - 4.2},{first}"
        svg.append(element("polygon", points=points, class_="fig-printed", fill="none", stroke=_PRINTED, stroke_width=1.4))


def _draw_line(svg: Element, line: FigureValue, axis: Axis, y: float, *, is_bold: bool) -> None:
    measure = line.measure
    _add_text(svg, _write_measure(measure), at=(WIDTH, y + 4), anchor="end", quiet=not is_bold, size=10.5)
    if measure.value is None:
        return
    if measure.low is not None and measure.high is not None:
        low, high = axis.place(measure.low), axis.place(measure.high)
        _add_line(svg, (low, y), (high, y), _SPAN)
        if measure.high > axis.low:
            _draw_end(svg, high, y, is_inside=measure.high <= axis.high, outward=1)
        if measure.low < axis.high:
            _draw_end(svg, low, y, is_inside=measure.low >= axis.low, outward=-1)
    if not axis.low <= measure.value <= axis.high:
        return
    x = axis.place(measure.value)
    if line.is_open:
        look = {"class_": "fig-test", "fill": _PAPER, "stroke": _MARK}
        svg.append(element("rect", x=x - 3.8, y=y - 3.8, width=7.6, height=7.6, stroke_width=1.6, **look))
    else:
        svg.append(element("circle", cx=x, cy=y, r=4.2, class_="fig-deploy", fill=_MARK, stroke=_PAPER, stroke_width=1.0))


def _draw_end(svg: Element, x: float, y: float, *, is_inside: bool, outward: int) -> None:
    if is_inside:
        _add_line(svg, (x, y - 3.5), (x, y + 3.5), _TICK)
    else:
        points = f"{x + 6 * outward:.2f},{y} {x:.2f},{y - 4} {x:.2f},{y + 4}"
        svg.append(element("polygon", points=points, class_="fig-deploy", fill=_MARK))


def _open(height: float, title: str, description: str) -> Element:
    box = f"0 0 {WIDTH:g} {height:g}"
    svg = element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=box, role="img", aria_label=title, font_size=11.5)
    svg.append(element("title", title))
    svg.append(element("desc", description))
    return svg


def _add_axis(svg: Element, axis: Axis, bottom: float, name: str) -> None:
    _add_line(svg, (axis.left, bottom), (axis.left + axis.width, bottom), _EDGE)
    for place, label in axis.ticks:
        _add_line(svg, (place, bottom), (place, bottom + 4), _EDGE)
        _add_text(svg, label, at=(place, bottom + 16), anchor="middle", quiet=True, size=10)
    _add_text(svg, name, at=(axis.left + axis.width / 2, bottom + 32), anchor="middle", quiet=True, size=10.5)


def _add_text(svg: Element, text: str, *, at: Point, anchor: str = "start", quiet: bool = False, size: float = 11.5) -> None:
    look = ("fig-quiet", _QUIET) if quiet else ("fig-ink", _INK)
    svg.append(element("text", text, x=at[0], y=at[1], text_anchor=anchor, font_size=size, class_=look[0], fill=look[1]))


def _add_line(svg: Element, start: Point, end: Point, look: Look) -> None:
    class_, stroke, width = look
    ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
    svg.append(element("line", class_=class_, stroke=stroke, stroke_width=width, **ends))


def _list_values(rows: Iterable[FigureRow], margin: float) -> Iterable[float]:
    yield from (-1.5 * margin, 1.5 * margin)
    for row in rows:
        if not row.quiet:
            yield from (end for line in row.lines for end in _list_ends(line.measure))
            yield from () if row.published is None else (row.published,)


def _list_ends(measure: Measure) -> list[float]:
    return [end for end in (measure.value, measure.low, measure.high) if end is not None]


def _build_axis(values: Sequence[float], *, left: float, width: float) -> Axis:
    """Return a scale with round ends that holds *values*."""
    low, high = min(values), max(values)
    step = find_step((high - low or 1.0) / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(step * position, 12) for position in range(first, max(last, first + 1) + 1)]
    scale = Axis(low=ticks[0], high=ticks[-1], left=left, width=width, ticks=())
    decimals = count_decimals(step)
    labels = tuple((scale.place(tick), "0" if tick == 0 else format_number(tick, decimals=decimals)) for tick in ticks)
    return Axis(low=scale.low, high=scale.high, left=left, width=width, ticks=labels)


def _write_measure(measure: Measure) -> str:
    if measure.value is None:
        return _shorten(str(measure.reason), 34)
    value = format_signed(measure.value)
    if measure.low is None or measure.high is None:
        return f"{value}, no interval"
    return f"{value} {format_range(measure.low, measure.high, signed=True)}"


def _describe(rows: Sequence[FigureRow]) -> str:
    return " ".join(f"{row.label}: {'; '.join(_write_measure(line.measure) for line in row.lines)}." for row in rows)


def _shorten(text: str, longest: int = 38) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
