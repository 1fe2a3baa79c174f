"""Which caption belongs to which table: the one right above it or the one right below, as the card does elsewhere."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from registry.intake.outline.blocks import Block

_BETWEEN = re.compile(r"(?:\s|:{3,}(?:[ \t]*[A-Za-z]\w{0,40})?|<!--(?:(?!-->).){0,200}-->|</?[A-Za-z][^<>]{0,200}>|\d{1,4}(?=\s*\f))*")
"""What may stand between a table and its caption: white space, the fence of a container, a comment, a tag, a page number."""
_REACH = 400


def match_captions(tables: Sequence[tuple[int, int]], captions: Sequence[Block], text: str) -> list[Block | None]:
    """Return for each of the *tables* (start, stop) its caption among *captions*, None where none stands next to it.

    Where a table has one above and one below, the side is taken on which the card's other captions stand.

    Args:
        captions: in order.
    """
    starts = [block.spans[0][0] for block in captions]
    stops = [block.spans[-1][1] for block in captions]
    above: list[Block | None] = []
    below: list[Block | None] = []
    for start, stop in tables:
        before, after = bisect_right(stops, start) - 1, bisect_left(starts, stop)
        above.append(captions[before] if before >= 0 and _touches(text, stops[before], start) else None)
        below.append(captions[after] if after < len(captions) and _touches(text, stop, starts[after]) else None)
    only_above = sum(1 for one, other in zip(above, below, strict=True) if one is not None and other is None)
    only_below = sum(1 for one, other in zip(above, below, strict=True) if one is None and other is not None)
    first, second = (above, below) if only_above > only_below else (below, above)
    return [one if one is not None else other for one, other in zip(first, second, strict=True)]


def _touches(text: str, start: int, stop: int) -> bool:
    return stop - start <= _REACH and _BETWEEN.fullmatch(text, start, stop) is not None
