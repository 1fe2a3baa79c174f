"""Numbers as a reader sees them. Rounding happens here and nowhere else, and never moves a number across a line that matters."""

import math
from collections.abc import Iterable
from decimal import Decimal

MINUS = "−"
_SLACK = 1e-12
_MOST_DECIMALS = 6
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def format_number(value: float, *, decimals: int = 3, against: Iterable[float] = ()) -> str:
    """Return *value* rounded, with as many more decimals as it takes to stay on its side of every number in *against*.

    A number within 1e-12 of a line counts as lying on it (method section 3, slack) and is shown as the line is. Zero
    always counts as a line: what is not zero is not shown as zero. There is no negative zero.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be shown as a number")
    lines = [0.0, *against]
    for line in lines:
        if abs(value - line) <= _SLACK:
            return _write(format_exact(line), decimals)
    places = _find_places(value, lines, decimals)
    return _format_small(value, lines) if places is None else _typeset(f"{value:.{places}f}")


def format_signed(value: float, *, decimals: int = 3, against: Iterable[float] = ()) -> str:
    """Return *value* as `format_number` does, with a plus sign when it is above zero: for differences."""
    text = format_number(value, decimals=decimals, against=against)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def format_range(low: float, high: float, *, against: Iterable[float] = (), signed: bool = False) -> str:
    """Return an interval such as `[0.124, 0.401]`, both ends with as many decimals as the one that needs more."""
    lines = [0.0, *against]
    decimals = max((_find_places(end, lines, 3) or 3) for end in (low, high))
    write = format_signed if signed else format_number
    return f"[{write(low, decimals=decimals, against=lines)}, {write(high, decimals=decimals, against=lines)}]"


def format_exact(value: float) -> str:
    """Return *value* as it was written down: the shortest decimal that stands for it. For θ, δ, ε and other chosen numbers."""
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa.removesuffix(".0")
    if not exponent:
        return _typeset("0" if mantissa == "-0" else mantissa)
    return _typeset(mantissa) + " × 10" + str(int(exponent)).translate(_SUPERSCRIPTS)


def format_probability(value: float) -> str:
    """Return a p-value: `p = 0.012`, or `p < 0.001`; never 0."""
    return "p < 0.001" if value < 0.001 else f"p = {format_number(value)}"


def format_p(value: float | None) -> str:
    """Return a p-value for a table: `0.012`, `< 0.001`, never 0, and a dash where there is none."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else format_number(value)


def format_percent(share: float) -> str:
    """Return *share* as whole per cent; only 0 is shown as 0 % and only 1 as 100 %."""
    if 0 < share < 0.01:
        return "< 1 %"
    if 0.99 < share < 1:
        return "> 99 %"
    return f"{share:.0%}".replace("%", " %")


def format_level(level: float) -> str:
    """Return a nominal coverage such as `95 %` or `97.5 %`, unrounded."""
    return f"{Decimal(repr(level)) * 100:f}".rstrip("0").rstrip(".") + " %"


def format_count(number: int) -> str:
    """Return a whole number with thin groups of three digits from five digits on."""
    return str(number) if abs(number) < 10_000 else f"{number:,}".replace(",", "\u202f")


def format_items(number: int, noun: str) -> str:
    """Return a number of things, `1 call` or `1,204 calls`; *noun* is one whose plural ends in s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _find_places(value: float, lines: Iterable[float], fewest: int) -> int | None:
    """Return how many decimals keep *value* on its side of every line; None when six do not, or when it lies on one."""
    if any(abs(value - line) <= _SLACK for line in lines):
        return None
    for places in range(fewest, _MOST_DECIMALS + 1):
        if all(_keeps_side(f"{value:.{places}f}", value, line) for line in lines):
            return places
    return None


def _keeps_side(text: str, value: float, line: float) -> bool:
    """Whether the rounded text stands to the line as written on the same side as the value stands to the line."""
    shown, exact = Decimal(text), Decimal(repr(float(line)))
    return (shown > exact) == (value > line) and (shown < exact) == (value < line)


def _write(exact: str, decimals: int) -> str:
    """Pad a line's own text with zeros, so that equal numbers look equal in one column."""
    if "×" in exact:
        return exact
    whole, _, fraction = exact.partition(".")
    return f"{whole}.{fraction:0<{decimals}}" if decimals else exact


def _typeset(text: str) -> str:
    stripped = text.lstrip("-")
    if text.startswith("-") and stripped.strip("0."):
        return MINUS + stripped
    return stripped


def _format_small(value: float, lines: Iterable[float]) -> str:
    """Write what six decimals cannot tell from a line with three significant digits, or in full."""
    text = f"{value:.2e}"
    if not all(_keeps_side(text, value, line) for line in lines):
        return format_exact(value)
    mantissa, _, exponent = text.partition("e")
    return f"{_typeset(mantissa)} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"
