"""A straight scale from numbers to pixels, and what stands on it: the parts that all figures are made of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from registry.records.estimates import BoundedEstimate, Differential
from registry.report.numbers import format_number, format_range, format_signed
from registry.report.units import Unit

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
        return round(self.left + self.width * min(max(share, 0.0), 1.0), 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
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
) -> Mark:
    """Return *number* on *axis*, as printed: rounded, and never across one of *lines*.

    Args:
        unit: the numbers are written as in the sentences of the verdict; None writes plain decimals.
    """
    if unit is not None:
        return _build_in_unit(number, axis, unit, signed=signed, lines=lines)
    write = format_signed if signed else format_number
    if number.low is None or number.high is None:
        return Mark(x=axis.place(number.value), low=None, high=None, text=write(number.value, against=lines), interval="no interval")
    interval = format_range(number.low, number.high, against=lines, signed=signed)
    return Mark(
        x=axis.place(number.value),
        low=axis.place(number.low),
        high=axis.place(number.high),
        text=write(number.value, against=lines),
        interval=interval,
    )


def _build_in_unit(number: BoundedEstimate | Differential, axis: Axis, unit: Unit, *, signed: bool, lines: Sequence[float]) -> Mark:
    def write(value: float) -> str:
        text = unit.number(value, *lines)
        return f"+{text}" if signed and value > 0 else text

    end = " %" if unit.is_share and not signed else ""
    if number.low is None or number.high is None:
        return Mark(x=axis.place(number.value), low=None, high=None, text=write(number.value) + end, interval="no interval")
    return Mark(
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
    if not signed:
        low = bounds[0] if low - bounds[0] <= 1.5 * spread or not spread else low
        high = bounds[1] if bounds[1] - high <= 0.5 * spread or not spread else high
    air = 0.06 * (high - low) or 0.1 * (bounds[1] - bounds[0])
    low, high = min(low, max(low - air, bounds[0])), max(high, min(high + air, bounds[1]))
    step = _nice_step((high - low) / 4)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(step * position, 12) for position in range(first, last + 1)]
    scale = Axis(low=ticks[0], high=ticks[-1], left=left, width=width, ticks=())
    decimals = max(0, -math.floor(math.log10(step) + 1e-9) - (2 if percent else 0))
    write = format_signed if signed else format_number
    factor = 100 if percent else 1
    labels = tuple((scale.place(tick), "0" if tick == 0 else write(round(tick * factor, 10), decimals=decimals)) for tick in ticks)
    return Axis(low=scale.low, high=scale.high, left=left, width=width, ticks=labels)


def _nice_step(rough: float) -> float:
    """Return the smallest of 1, 2, 2.5, 5 times a power of ten that is not below *rough*."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def find_span(axis: Axis, low: float, high: float) -> tuple[float, float]:
    """Return left edge and width of the band from *low* to *high*, in pixels."""
    left, right = axis.place(low), axis.place(high)
    return (left, round(right - left, 2))


def shorten(text: str, longest: int = 22) -> str:
    """Return *text* with at most *longest* characters, the last an ellipsis where some are left out."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
