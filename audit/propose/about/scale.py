"""Between which numbers a score can lie."""

import math
import re

from audit.propose.figures.quantity import Quantity, Unit

_GUESSED = "The range {low:g} to {high:g} is a guess from the figure: set the scale's own."
_KNOWN: tuple[tuple[str, float, float], ...] = (
    # Scales of the field with ends of their own, by the name that stands beside the figure.
    (r"\b(?:AUROC|AUC|F1|recall|precision|accuracy|pass@\d+|IoU|R2|R²|probability)\b", 0, 1),
    (r"\b(?:MCC|correlation|kappa|κ|Spearman|Pearson)\b", -1, 1),
    (r"\b(?:BLEU|chrF|ROUGE(?:-L)?)\b", 0, 100),
    (r"\bElo\b", 0, 4000),
)

_NUMBER = r"\d{1,6}(?:\.\d{1,4})?"
_TOLD = tuple(
    re.compile(one, re.IGNORECASE)
    for one in (
        # How cards state the ends of a scale; without a lower end it is 0.
        (
            rf"\b(?:scale|score[ds]?|rat(?:ed|ing)|rubric|ranging|range[sd]?)(?: \w+){{0,2}} (?:from |of |between )?(?P<low>{_NUMBER})"
            rf"\s?(?:–|-|to|and)\s?(?P<high>{_NUMBER})(?![\d%])"
        ),
        rf"(?<![\d.])(?P<low>{_NUMBER})\s?(?:–|-|to)\s?(?P<high>{_NUMBER})[- ](?:point )?(?:scale|rubric|rating)\b",
        rf"\bout of (?:a (?:maximum|total|possible) (?:of )?)?(?P<high>{_NUMBER})(?![\d%]|\.\d)",
        rf"\bmax(?:imum)?\.?(?: possible)?(?: score)?(?: of| is| =|:| ==)? ?(?P<high>{_NUMBER})(?![\d%]|\.\d)",
        rf"\b(?P<high>{_NUMBER}|five|seven|ten|hundred)[- ]points? (?:scale|rubric|rating|Likert)\b",
    )
)
_WORDS = {"five": "5", "seven": "7", "ten": "10", "hundred": "100"}


def find_range(quantity: Quantity | None, near: tuple[str, ...] = ()) -> tuple[tuple[float, float], tuple[str, ...]]:
    """Return the lowest and highest possible value in the unit of the figure, and a sentence where they are a guess.

    Shares run from 0 to 1, also for a claim without a figure and for one relative to another figure.

    Args:
        near: words that may state the scale ("out of 32", "0-10 scale"), the most telling first.
    """
    if quantity is None or quantity.unit in (Unit.SHARE, Unit.MULTIPLE):
        return (0, 1), ()
    if quantity.unit is Unit.POINTS:
        return (-1, 1), ()
    ends = [abs(one) for one in (quantity.value, quantity.low, quantity.high) if one is not None and math.isfinite(one)]
    largest = max(ends, default=1)
    if quantity.unit is Unit.COUNT:
        high = float(quantity.n) if quantity.n and quantity.n >= largest else _round_up(largest)
        return (0, high), () if quantity.n else (_GUESSED.format(low=0, high=high),)
    for pattern, low, high in _KNOWN:
        if re.search(pattern, quantity.scale or "", re.IGNORECASE) and largest <= high:
            return (low, high), ()
    if (told := _find_told(near, quantity, largest)) is not None:
        return told, ()
    top = _round_up(largest)
    bottom = -top if any(one is not None and one < 0 for one in (quantity.value, quantity.low)) else 0
    return (bottom, top), (_GUESSED.format(low=bottom, high=top),)


def _find_told(near: tuple[str, ...], quantity: Quantity, largest: float) -> tuple[float, float] | None:
    """Return the ends that the first of *near* states and the figure lies within."""
    lowest = min(one for one in (quantity.value, quantity.low, largest) if one is not None)
    for words in near:
        for pattern in _TOLD:
            for match in pattern.finditer(words):
                low, high = float(match.groupdict().get("low") or 0), _read_number(match["high"])
                if low < high and low <= lowest and largest <= high:
                    return low, high
    return None


def _read_number(text: str) -> float:
    return float(_WORDS.get(text.lower()) or text.replace(",", ""))


def _round_up(value: float) -> float:
    """Return the next power of ten at or above *value*, at least 1."""
    return float(10 ** max(0, math.ceil(math.log10(value)))) if value > 0 else 1.0
