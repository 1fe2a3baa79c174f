"""How numbers are written in the sentences of a record: few decimals, and as many as it takes for a sentence to stay true.

Rounding in tables belongs to `registry.report.numbers`; this is for sentences and for the notes of minimum reporting.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

SLACK = 1e-12
"""Two numbers this close, times the width of the range, count as equal (method section 3)."""

_MOST_DECIMALS = 15
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
        return 1 if self.is_share else max(0, 3 - math.ceil(math.log10(self.high - self.low)))

    def score(self, value: float, *cuts: float) -> str:
        """Return a score such as `25.0 %`, never rounded across one of *cuts*."""
        return self.number(value, *cuts) + (" %" if self.is_share else "")

    def at_least(self, value: float) -> str:
        """Return a score of which it is said that something is at least it: rounded down, so that the sentence stays true."""
        return self._written(self._rounded(value, ROUND_FLOOR, self._decimals))

    def at_most(self, value: float) -> str:
        """Return a score of which it is said that something is at most it: rounded up, so that the sentence stays true."""
        return self._written(self._rounded(value, ROUND_CEILING, self._decimals))

    def within(self, low: float, high: float) -> tuple[str, str]:
        """Return the ends of a range of scores rounded inwards, with as many decimals as leave something between them."""
        for decimals in range(self._decimals, _MOST_DECIMALS + 1):
            first, last = self._rounded(low, ROUND_CEILING, decimals), self._rounded(high, ROUND_FLOOR, decimals)
            if first < last:
                return self._written(first), self._written(last)
        return self.given(low), self.given(high)

    def difference(self, value: float, *cuts: float) -> str:
        """Return a difference of scores such as `−20.0 points`, never rounded across one of *cuts*."""
        return f"{self.number(value, *cuts)} {self.points}"

    def scores(self, low: float, high: float, *cuts: float) -> str:
        """Return an interval of scores, `12.4 % to 40.1 %`."""
        return f"{self.score(low, *cuts)} to {self.score(high, *cuts)}"

    def differences(self, low: float, high: float, *cuts: float) -> str:
        """Return an interval of differences, `−35.7 to −1.0 percentage points`."""
        return f"{self.numbers(low, high, *cuts)} {self.points}"

    def given(self, value: float) -> str:
        """Return a number somebody chose (θ, δ) with all its digits, `10 %`."""
        return _plain(self._scaled(value)) + (" %" if self.is_share else "")

    def given_difference(self, value: float) -> str:
        """Return a difference somebody chose with all its digits, `5 percentage points`."""
        return f"{_plain(self._scaled(value))} {self.points}"

    def numbers(self, low: float, high: float, *cuts: float) -> str:
        """Return an interval without its unit, `−35.7 to −1.0`."""
        return f"{self.number(low, *cuts)} to {self.number(high, *cuts)}"

    def _rounded(self, value: float, rounding: str, decimals: int) -> Decimal:
        # Noise of the arithmetic must not push a round number one digit further.
        near = self._scaled(value).quantize(Decimal("1e-12"), context=_EXACT)
        return near.quantize(Decimal(1).scaleb(-decimals), rounding, _EXACT)

    def _written(self, rounded: Decimal) -> str:
        return _signed(rounded) + (" %" if self.is_share else "")

    def _scaled(self, value: float) -> Decimal:
        return Decimal(repr(value)) * (100 if self.is_share else 1)

    def number(self, value: float, *cuts: float) -> str:
        """Return a score or a difference without its unit, for a table whose head names it; never rounded across one of *cuts*."""
        exact = self._scaled(value)
        slack = SLACK * max(1.0, self.high - self.low)
        apart = [(self._scaled(cut), value > cut) for cut in cuts if abs(value - cut) > slack]
        for decimals in range(self._decimals, _MOST_DECIMALS + 1):
            rounded = exact.quantize(Decimal(1).scaleb(-decimals), context=_EXACT)
            if all(rounded != cut and (rounded > cut) == above for cut, above in apart):
                return _signed(rounded)
        return _plain(exact)


def share(value: float) -> str:
    """Return a share such as a level as per cent with all its digits, `95 %`."""
    return f"{_plain((Decimal(repr(value)) * 100).quantize(Decimal('1e-6'), context=_EXACT))} %"


def join(parts: tuple[str, ...] | list[str]) -> str:
    """Return sentences as one text, each once, in order; one that has no punctuation at its end gets a full stop."""
    return " ".join(dict.fromkeys(_close(part) for part in parts if part.strip()))


def _close(sentence: str) -> str:
    text = sentence.rstrip()
    last = text.rstrip("”’\"')]*_")
    return text if last[-1:] in (".", "!", "?", "…", ":", ";") else f"{text}."


def _plain(number: Decimal) -> str:
    text = f"{number.normalize():f}"
    return text.replace("-", "−") if number else "0"


def _signed(number: Decimal) -> str:
    """A typographic minus, and none before a zero."""
    return f"{abs(number) if number == 0 else number:f}".replace("-", "−")
