"""Numbers, units and days as a reader sees them; rounding happens here and nowhere else."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

# Rounding never moves a number across a limit: it could turn a failed claim into a kept one.

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
        # On a line up to rounding of the arithmetic: printed as the line itself, or the two would
        # seem to differ.
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
    # Both ends get the same number of decimals, so that a column of intervals lines up.
    decimals = max((_find_places(end, lines, 3) or 3) for end in (low, high))
    write = format_signed if signed else format_number
    return f"[{write(low, decimals=decimals, against=lines)}, {write(high, decimals=decimals, against=lines)}]"


def format_exact(value: float) -> str:
    """Return *value* as it was written down: the shortest decimal that means it. For θ, δ, ε and other chosen numbers."""
    # `repr` gives the shortest text that reads back as the same float, which is how a person wrote
    # the number.
    text = repr(float(value))
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa.removesuffix(".0")
    if not exponent:
        return _typeset("0" if mantissa == "-0" else mantissa)
    return _typeset(mantissa) + " × 10" + str(int(exponent)).translate(_SUPERSCRIPTS)


def format_probability(value: float) -> str:
    """Return a p-value: `p = 0.012`, or `p < 0.001`; never 0."""
    # A p-value is never zero, so a rounded 0.000 would be false.
    return "p < 0.001" if value < 0.001 else f"p = {format_number(value)}"


def format_p(value: float | None) -> str:
    """Return a p-value for a table: `0.012`, `< 0.001`, never 0, and a dash where there is none."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else format_number(value)


def format_hundredths(share: float) -> str:
    """Return *share* in per cent with two decimals."""
    return f"{100 * share:.2f} %"


def format_percent(share: float) -> str:
    """Return *share* as whole per cent; only 0 is shown as 0 % and only 1 as 100 %."""
    # A share below one in a hundred is not "0 %", and one just below all is not "100 %".
    if 0 < share < 0.01:
        return "< 1 %"
    if 0.99 < share < 1:
        return "> 99 %"
    return f"{share:.0%}".replace("%", " %")


def format_level(level: float) -> str:
    """Return a nominal coverage such as `95 %` or `97.5 %`, unrounded."""
    # Decimal arithmetic: 100 times a float can add digits to a level that was chosen.
    return f"{Decimal(repr(level)) * 100:f}".rstrip("0").rstrip(".") + " %"


def format_count(number: int) -> str:
    """Return a whole number with thin groups of three digits from five digits on."""
    # Four digits read well without a separator.
    return str(number) if abs(number) < 10_000 else f"{number:,}".replace(",", "\u202f")


def format_items(number: int, noun: str) -> str:
    """Return a number of things, `1 call` or `1,204 calls`; *noun* is one with a plural in s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _find_places(value: float, lines: Iterable[float], fewest: int) -> int | None:
    """Return how many decimals keep *value* on its side of every line; None when six do not, or when it lies on one."""
    if any(abs(value - line) <= _SLACK for line in lines):
        return None
    # Three decimals as a rule; more only where a limit is near.
    for places in range(fewest, _MOST_DECIMALS + 1):
        if all(_keeps_side(f"{value:.{places}f}", value, line) for line in lines):
            return places
    return None


def _keeps_side(text: str, value: float, line: float) -> bool:
    """Whether the rounded text stands to the line as written on the same side as the value stands to the line."""
    # The line is compared as it is printed, not as the float it is stored as.
    shown, exact = Decimal(text), Decimal(repr(float(line)))
    return (shown > exact) == (value > line) and (shown < exact) == (value < line)


def _write(exact: str, decimals: int) -> str:
    """Pad a line's own text with zeros, so that equal numbers look equal in one column."""
    if "×" in exact:
        return exact
    whole, _, fraction = exact.partition(".")
    return f"{whole}.{fraction:0<{decimals}}" if decimals else exact


def _typeset(text: str) -> str:
    # A value that rounds to zero loses its sign: there is no negative zero.
    stripped = text.lstrip("-")
    if text.startswith("-") and stripped.strip("0."):
        return MINUS + stripped
    return stripped


def _format_small(value: float, lines: Iterable[float]) -> str:
    """Write what six decimals cannot tell from a line with three significant digits, or in full."""
    text = f"{value:.2e}"
    # Three significant digits may still round onto the line; then all digits are printed.
    if not all(_keeps_side(text, value, line) for line in lines):
        return format_exact(value)
    mantissa, _, exponent = text.partition("e")
    return f"{_typeset(mantissa)} × 10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


# Numbers in sentences and in notes: few decimals, but as many as the sentence needs to stay true.

SLACK = 1e-12
"""Two numbers this close, times the width of the range, count as equal (method section 3)."""

_MOST_UNIT_DECIMALS = 15
# Enough for every finite float: the default of 28 digits refuses to write 1e30 with one decimal.
_EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """How the numbers of one property are written: per cent for a range of [0, 1], plain numbers for any other."""

    low: float
    high: float

    @property
    def is_share(self) -> bool:
        """Whether scores are shares of one."""
        return self.low == 0 and self.high == 1

    @property
    def points(self) -> str:
        """What differences of scores are counted in."""
        return "percentage points" if self.is_share else "points"

    @property
    def _decimals(self) -> int:
        # Three significant digits of the range; shares have one decimal in per cent.
        return 1 if self.is_share else max(0, 3 - math.ceil(math.log10(self.high - self.low)))

    def score(self, value: float, *cuts: float) -> str:
        """Return a score such as `25.0 %`, never rounded across one of *cuts*."""
        return self.number(value, *cuts) + (" %" if self.is_share else "")

    def at_least(self, value: float) -> str:
        """Return a score of which it is said that something is at least it: rounded down, so that the sentence stays true."""
        # A bound is rounded away from the value: "at least 24.9 %" stays true for 24.96 %.
        return self._written(self._rounded(value, ROUND_FLOOR, self._decimals))

    def at_most(self, value: float) -> str:
        """Return a score of which it is said that something is at most it: rounded up, so that the sentence stays true."""
        return self._written(self._rounded(value, ROUND_CEILING, self._decimals))

    def within(self, low: float, high: float) -> tuple[str, str]:
        """Return the ends of a range of scores rounded inwards, with as many decimals as leave something between them."""
        # Inwards, because a sentence about values inside the range must hold for its printed ends.
        for decimals in range(self._decimals, _MOST_UNIT_DECIMALS + 1):
            first, last = self._rounded(low, ROUND_CEILING, decimals), self._rounded(high, ROUND_FLOOR, decimals)
            if first < last:
                return self._written(first), self._written(last)
        # No number of decimals leaves room: the ends are printed in full.
        return self.given(low), self.given(high)

    def difference(self, value: float, *cuts: float) -> str:
        """Return a difference of scores such as `−20.0 points`, never rounded across one of *cuts*."""
        return f"{self.number(value, *cuts)} {self.points}"

    def scores(self, low: float, high: float, *cuts: float) -> str:
        """Return an interval of scores, `12.4–40.1 %`; with *to* where an end is negative."""
        ends = f"{self.number(low, *cuts)}–{self.number(high, *cuts)}" if min(low, high) >= 0 else self.numbers(low, high, *cuts)
        return ends + (" %" if self.is_share else "")

    def differences(self, low: float, high: float, *cuts: float) -> str:
        """Return an interval of differences, `−35.7 to −1.0 percentage points`."""
        return f"{self.numbers(low, high, *cuts)} {self.points}"

    def given(self, value: float) -> str:
        """Return a chosen number (θ, δ) with all its digits, `10 %`."""
        return _plain(self._scaled(value)) + (" %" if self.is_share else "")

    def given_difference(self, value: float) -> str:
        """Return a chosen difference with all its digits, `5 percentage points`."""
        return f"{_plain(self._scaled(value))} {self.points}"

    def numbers(self, low: float, high: float, *cuts: float) -> str:
        """Return an interval without its unit, `−35.7 to −1.0`."""
        return f"{self.number(low, *cuts)} to {self.number(high, *cuts)}"

    def signed(self, value: float, *cuts: float) -> str:
        """Return a difference without its unit, with a plus sign above zero, for a table with a head that names the unit."""
        text = self.number(value, *cuts)
        return f"+{text}" if value > 0 and text.strip("0.") else text

    def signed_numbers(self, low: float, high: float, *cuts: float) -> str:
        """Return an interval of differences without its unit, `−35.7 to +1.0`."""
        return f"{self.signed(low, *cuts)} to {self.signed(high, *cuts)}"

    def plain(self, value: float) -> str:
        """Return a chosen number with all its digits and without its unit."""
        return _plain(self._scaled(value))

    def _rounded(self, value: float, rounding: str, decimals: int) -> Decimal:
        # Noise of the arithmetic must not push a round number one digit further.
        near = self._scaled(value).quantize(Decimal("1e-12"), context=_EXACT)
        return near.quantize(Decimal(1).scaleb(-decimals), rounding, _EXACT)

    def _written(self, rounded: Decimal) -> str:
        return _signed(rounded) + (" %" if self.is_share else "")

    def _scaled(self, value: float) -> Decimal:
        # `repr` first: the decimal of the float itself has digits that were never written.
        return Decimal(repr(value)) * (100 if self.is_share else 1)

    def number(self, value: float, *cuts: float) -> str:
        """Return a score or a difference without its unit, for a table with a head that names it; never rounded across one of *cuts*."""
        exact = self._scaled(value)
        # The slack scales with the range, as in method section 3.
        slack = SLACK * max(1.0, self.high - self.low)
        # A number on a limit counts as the limit, so only the others restrict the rounding.
        apart = [(self._scaled(cut), value > cut) for cut in cuts if abs(value - cut) > slack]
        for decimals in range(self._decimals, _MOST_UNIT_DECIMALS + 1):
            rounded = exact.quantize(Decimal(1).scaleb(-decimals), context=_EXACT)
            if all(rounded != cut and (rounded > cut) == above for cut, above in apart):
                return _signed(rounded)
        # No rounding keeps the side, so all digits are printed.
        return _plain(exact)


SHARES = Unit(low=0.0, high=1.0)
"""Of an accuracy, a rate or a level, whatever the scores of the property are."""


def share(value: float) -> str:
    """Return a share such as a level as per cent with all its digits, `95 %`."""
    return f"{_plain((Decimal(repr(value)) * 100).quantize(Decimal('1e-6'), context=_EXACT))} %"


def join(parts: tuple[str, ...] | list[str]) -> str:
    """Return sentences as one text, each once, in order; one that has no punctuation at its end gets a full stop."""
    # The same sentence can come from several sources; it is printed once.
    return " ".join(dict.fromkeys(_close(part) for part in parts if part.strip()))


def _close(sentence: str) -> str:
    text = sentence.rstrip()
    # Closing quotation marks and brackets stand after the full stop that they enclose.
    last = text.rstrip("”’\"')]*_")
    return text if last[-1:] in (".", "!", "?", "…", ":", ";") else f"{text}."


def _plain(number: Decimal) -> str:
    text = f"{number.normalize():f}"
    return text.replace("-", "−") if number else "0"


def _signed(number: Decimal) -> str:
    """A typographic minus, and none before a zero."""
    return f"{abs(number) if number == 0 else number:f}".replace("-", "−")


# Days and moments are printed in UTC with English months, whatever the machine's locale and time
# zone: the same record must give the same bytes.

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")


def format_day(day: date) -> str:
    """Return *day* as `21 November 2026`; a moment is taken in UTC."""
    if isinstance(day, datetime):
        day = day.astimezone(UTC)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def format_moment(moment: datetime) -> str:
    """Return *moment* as `2026-11-21 14:05 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def format_second(moment: datetime) -> str:
    """Return *moment* as `2026-11-21 14:05:31 UTC`, where it has to be distinguished from another."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
