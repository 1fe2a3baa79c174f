"""Between which numbers a score can lie."""

import math
import re

from audit.propose.quantity import Quantity, Unit

_GUESSED = "The range {low:g} to {high:g} is a guess from the figure: set the scale's own."
_KNOWN: tuple[tuple[str, float, float], ...] = (
    # Scales of the field with ends of their own, by the name that stands beside the figure.
    (r"\b(?:AUROC|AUC|F1|recall|precision|accuracy|pass@\d+|IoU|R2|R²|probability)\b", 0, 1),
    (r"\b(?:MCC|correlation|kappa|κ|Spearman|Pearson)\b", -1, 1),
    (r"\b(?:BLEU|chrF|ROUGE(?:-L)?)\b", 0, 100),
    (r"\bElo\b", 0, 4000),
)


def find_range(quantity: Quantity | None) -> tuple[tuple[float, float], tuple[str, ...]]:
    """Return the lowest and highest possible value in the unit of the figure, and a sentence where they are a guess.

    Shares run from 0 to 1, also for a claim without a figure and for one relative to another figure.
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
    top = _round_up(largest)
    bottom = -top if any(one is not None and one < 0 for one in (quantity.value, quantity.low)) else 0
    return (bottom, top), (_GUESSED.format(low=bottom, high=top),)


def _round_up(value: float) -> float:
    """Return the next power of ten at or above *value*, at least 1."""
    return float(10 ** max(0, math.ceil(math.log10(value)))) if value > 0 else 1.0
