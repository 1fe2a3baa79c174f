"""The evidence of a monitor over time as positions in CSS pixels: the band against the limit, with alarm, gaps, corrections and anchors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.records.claim import Relation
from registry.records.dossier import MonitorFile
from registry.records.monitor import MonitorWindow
from registry.report.interval_figures import WIDTH, Axis, build_axis
from registry.report.number_format import format_count, format_hundredths

# Everything comes from the windows as they were recorded, in log order. A correction has the evidence that it was recorded with, at
# the place where the stream was then. So the figure never shows more than the log, and is the same on every machine.

_LEFT, _RIGHT = 50.0, 8.0
_TOP, _BOTTOM = 46.0, 226.0
_HEIGHT = 306.0
_GAP = 16.0
"""Width of a window without data, which has no items."""
_MOST_LABELS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BandStep:
    """One recorded window: what it made of the band."""

    x: float
    """Where the stream is after it."""
    low: float
    """Pixel of the lower end, and so on; pixels count from the top."""
    high: float
    average: float
    is_gap: bool
    is_correction: bool
    is_alarm: bool
    """Whether the claim alarm was raised in it."""
    anchors: str
    """`quiet`, `alarm`, or `none` where no anchor was scored."""
    left: float
    """Where the window begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BandFigure:
    """The band of one monitor against its limit."""

    height: float
    rate: Axis
    """Upright: its `left` is the bottom, and its width counts upwards."""
    right: float
    steps: tuple[BandStep, ...]
    theta: float
    theta_text: str
    fails: tuple[float, float]
    """Top and height of the side on which the claim fails."""
    labels: tuple[tuple[float, str, str], ...]
    """Pixel, items and date under the axis."""
    band: str
    """Outline of the band, as points of a polygon."""
    average: str
    """The limit of the average so far, as points of a line."""
    has_anchors: bool
    alarm_text: str | None
    title: str
    description: str


def build_band(file: MonitorFile) -> BandFigure | None:
    """Return the figure of *file*; None without a window with data, and for incidents, which give no rate."""
    windows = [recorded.payload for recorded in file.windows]
    if file.plan.is_of_incidents or not any(window.cells for window in windows):
        return None
    plan, is_upper = file.plan, file.plan.relation is Relation.AT_MOST
    rate = _build_rate(windows, plan.theta)
    places = list(_place(windows))
    steps = [_build_step(window, place, rate, file) for window, place in zip(windows, places, strict=True)]
    theta = rate.place(plan.theta)
    side = "at most" if is_upper else "at least"
    last = windows[-1].reading
    alarm = None if last.alarm is None else f"alarm in window {last.alarm}"
    return BandFigure(
        height=_HEIGHT if plan.anchors else _HEIGHT - 20,
        rate=rate,
        right=WIDTH - _RIGHT,
        steps=tuple(steps),
        theta=theta,
        theta_text=f"limit: {side} {format_hundredths(plan.theta)}",
        fails=(_TOP, round(theta - _TOP, 2)) if is_upper else (theta, round(_BOTTOM - theta, 2)),
        labels=tuple(_list_labels(windows, places)),
        band=" ".join((*_list_outline(steps, high=True), *reversed(list(_list_outline(steps, high=False))))),
        average=" ".join(_list_average(steps)),
        has_anchors=plan.anchors is not None,
        alarm_text=alarm,
        title=_write_title(file, windows[-1], alarm),
        description=_describe(windows, file),
    )


def _write_title(file: MonitorFile, last: MonitorWindow, alarm: str | None) -> str:
    reading, side = last.reading, "at most" if file.plan.relation is Relation.AT_MOST else "at least"
    rates = f"above {format_hundredths(reading.lower)} at some time and below {format_hundredths(reading.upper)} at some time"
    limit = f"against a limit of {side} {format_hundredths(file.plan.theta)}"
    text = f"Monitor {file.monitor.payload.monitor}: after {format_count(reading.items)} items the rate was {rates}, {limit}"
    return f"{text}; {alarm}" if alarm else text


def _describe(windows: Sequence[MonitorWindow], file: MonitorFile) -> str:
    gaps = [str(window.number) for window in windows if not window.cells]
    corrected = sorted({window.number for window in windows if window.correction})
    parts = [
        "The band runs from the rate that was exceeded at some time to the rate below which it was at some time, after each window.",
        "The thin line is the limit of the average so far.",
        f"No data in window {', '.join(gaps)}." if gaps else "",
        f"Window {', '.join(map(str, corrected))} was corrected." if corrected else "",
        "Squares below the axis are windows in which anchors were scored." if file.plan.anchors else "",
    ]
    return " ".join(part for part in parts if part)


def _build_rate(windows: Sequence[MonitorWindow], theta: float) -> Axis:
    # The band begins at the whole range: the axis holds what it has come to, and the limit.
    last = windows[-1].reading
    values = [theta, last.lower, last.upper, last.average_limit]
    spread = max(values) - min(values) or 0.1
    room = [max(0.0, min(values) - 0.25 * spread), min(1.0, max(values) + 0.25 * spread)]
    return build_axis([*values, *room], bounds=(0.0, 1.0), left=_BOTTOM, width=_TOP - _BOTTOM, percent=True)


def _place(windows: Sequence[MonitorWindow]) -> Iterator[tuple[float, float]]:
    """Yield where each recorded window begins and ends. A gap has a width of its own; a correction begins where the last one ended."""
    total = windows[-1].reading.items
    gaps = sum(not window.cells for window in windows)
    per_item = (WIDTH - _LEFT - _RIGHT - _GAP * gaps) / max(total, 1)
    shift, x = 0.0, _LEFT
    for window in windows:
        shift += 0.0 if window.cells else _GAP
        begun, x = x, round(_LEFT + shift + per_item * min(window.reading.items, total), 2)
        yield min(begun, x), x


def _build_step(window: MonitorWindow, place: tuple[float, float], rate: Axis, file: MonitorFile) -> BandStep:
    reading = window.reading
    anchors = "none" if window.anchors is None else "alarm" if reading.anchors_alarm == window.number else "quiet"
    return BandStep(
        x=place[1],
        low=rate.place(reading.lower),
        high=rate.place(reading.upper),
        average=rate.place(reading.average_limit),
        is_gap=not window.cells,
        is_correction=window.correction > 0,
        is_alarm=reading.alarm == window.number and not window.correction,
        anchors=anchors if file.plan.anchors else "none",
        left=place[0],
    )


def _list_outline(steps: Sequence[BandStep], *, high: bool) -> Iterator[str]:
    """Yield the corners of one edge, from the whole range: a limit holds from the end of its window on."""
    edge = _TOP if high else _BOTTOM
    yield f"{_LEFT:g},{edge:g}"
    for step in steps:
        yield f"{step.x:g},{edge:g}"
        edge = step.high if high else step.low
        yield f"{step.x:g},{edge:g}"


def _list_average(steps: Sequence[BandStep]) -> Iterator[str]:
    before: float | None = None
    for step in steps:
        if before is not None:
            yield f"{step.x:g},{before:g}"
        yield f"{step.x:g},{step.average:g}"
        before = step.average


def _list_labels(windows: Sequence[MonitorWindow], places: Sequence[tuple[float, float]]) -> Iterator[tuple[float, str, str]]:
    ends = [(place[1], window) for window, place in zip(windows, places, strict=True) if window.cells and not window.correction]
    stride = -(-len(ends) // _MOST_LABELS)
    # From the end, so that the last window always has its label.
    for x, window in reversed(ends[::-1][::stride]):
        yield x, format_count(window.reading.items), f"{window.stop:%Y-%m-%d}"
