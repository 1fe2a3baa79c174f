"""The figures in the words of a passage, each with its bound, interval and n.

What only looks like a figure (dates, versions, page numbers, confidence levels, prices) is taken out before, in `numerals`.
Patterns are linear: every repeat is bounded.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from audit.propose.figures.bounds import attach_intervals, read_surroundings
from audit.propose.figures.numerals import blank_asides
from audit.propose.figures.quantity import Quantity, Unit
from audit.propose.figures.scores import find_counts, find_durations, find_more_scores, find_multiples, find_scores
from audit.propose.figures.shares import find_denied_fractions, find_fractions, find_percentages, find_worded

_DIGIT = re.compile(r"\d")
# Without a digit and without one of these words there is no figure; most sentences end here.
_WORDS = re.compile(
    r"\b(?:never|none|zero|perfect|hal[fv]|twice|doubl|tripl|quadrupl|third|quarter|almost|nearly|near|close|no|all|every|single|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve)",
    re.IGNORECASE,
)
_JOINED = 90
"""Characters between a percentage and the fraction that says the same."""
_ROUNDED = 0.0051
"""How far apart they may be: half a per cent, for whole per cents."""


def find_quantities(words: str) -> tuple[Quantity, ...]:
    """Return the figures of running text in their order, without overlaps.

    A share and the fraction it comes from ("15/30 (50 %)") are one figure with its n; a ± or an interval belongs to the
    figure before it. Figures of other models are figures too: whose they are is for `comparison` to say.
    """
    if _DIGIT.search(words):
        plain = blank_asides(words)
        found = _settle(
            [*find_percentages(plain), *find_multiples(plain), *find_denied_fractions(plain), *find_fractions(plain), *find_worded(plain)]
        )
        found = _settle([*find_durations(words), *found, *find_scores(plain), *find_counts(plain)])
        found = _settle([*found, *find_more_scores(found, plain)])
    elif _WORDS.search(words):
        plain = words
        found = _settle(
            [*find_multiples(plain), *find_denied_fractions(plain), *find_fractions(plain), *find_worded(plain), *find_counts(plain)]
        )
    else:
        return ()
    widened = attach_intervals(_drop_swallowed(read_surroundings(one, words, plain) for one in found), plain)
    return tuple(_join_fractions(widened, words))


def _settle(found: list[Quantity]) -> list[Quantity]:
    """Of figures that overlap those that came first, in the order of the text."""
    taken = bytearray(max((one.stop for one in found), default=0))
    kept: list[Quantity] = []
    for one in found:
        if not any(taken[one.start : one.stop]):
            taken[one.start : one.stop] = b"\1" * (one.stop - one.start)
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def _drop_swallowed(found: Iterable[Quantity]) -> list[Quantity]:
    """Without what became the ± or interval of the figure before it."""
    kept: list[Quantity] = []
    for one in found:
        if not kept or one.start >= kept[-1].stop:
            kept.append(one)
    return kept


def _join_fractions(found: list[Quantity], words: str) -> list[Quantity]:
    """Make one figure of a percentage and a neighbouring fraction that says the same."""
    joined: list[Quantity] = []
    for one in found:
        last = joined[-1] if joined else None
        if last is not None and _says_same(last, one) and one.start - last.stop <= _JOINED:
            joined[-1] = _join(last, one, words)
        else:
            joined.append(one)
    return joined


def _says_same(first: Quantity, second: Quantity) -> bool:
    """Whether one is a fraction and the other its percentage, rounded at most to whole per cents."""
    if first.unit is not Unit.SHARE or second.unit is not Unit.SHARE or first.value is None or second.value is None:
        return False
    return (first.n is None) != (second.n is None) and abs(first.value - second.value) <= _ROUNDED


def _join(first: Quantity, second: Quantity, words: str) -> Quantity:
    is_closed = words[second.stop : second.stop + 1] == ")" and "(" in words[first.stop : second.start]
    stop = second.stop + is_closed
    percent = first if first.n is None else second
    return replace(percent, start=first.start, stop=stop, written=words[first.start : stop], n=first.n or second.n, is_in_words=False)
