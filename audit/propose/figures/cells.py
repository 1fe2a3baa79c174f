"""The figures in a row of a table, one or none to a cell."""

import re
from dataclasses import replace
from functools import lru_cache

from audit.propose.figures.numerals import NUMBER
from audit.propose.figures.quantities import find_quantities
from audit.propose.figures.quantity import Quantity, Unit
from registry.records.claim import Relation
from registry.records.passage import Passage

_MARK = r"(?:\s?[*†‡^§¹²³]{1,3}|\s?\[\d{1,2}\])?"
_FIGURE = rf"(?:[<>≤≥~≈]\s?)?[-−+]?{NUMBER}\s?(?:%|x|×)?(?:\s?(?:±|\+/-)\s?{NUMBER}\s?%?)?"
_PARENTHESIS = r"(?:\s?[(\[]\s?(?:(?:±|\+/-)\s?)?(?:95\s?%\s?(?:CI\s?)?)?[:\s]?[-−+]?[\d.,%/\s–-]{1,30}[)\]])?"
_FRACTION = rf"\d{{1,7}}\s?/\s?\d{{1,7}}(?:\s?\(\s?{NUMBER}\s?%\s?\))?|\d{{1,6}}\s(?:out\s)?of\s\d{{1,7}}"
_CELL = re.compile(rf"^\s*(?:{_FIGURE}{_PARENTHESIS}|{_FRACTION}){_MARK}\s*$")
# Two results in one cell: “42.2/36.6”, “5.0 / 11.2”. Whole numbers are a fraction.
_PAIR = re.compile(rf"^\s*(?P<first>\d{{1,3}}\.\d{{1,3}})\s?%?\s?/\s?(?P<second>\d{{1,3}}\.\d{{1,3}})\s?%?{_MARK}\s*$")
_BARE = re.compile(rf"^\s*(?P<sign>[<>≤≥~≈])?\s?(?P<one>[-−+]?{NUMBER})(?:\s?(?:±|\+/-)\s?(?P<margin>{NUMBER}))?")
# From the right of a row whose cells are not known: figures, and what stands where there is none.
_TOKEN = re.compile(rf"\s(?P<token>{_FIGURE}(?:\s?\(\s?(?:±|\+/-)?\s?[\d.,%\s–-]{{1,24}}\))?|\d{{1,6}}/\d{{1,6}}|N/?A|n/a|[-–—✓✗])$")
_NOTHING = re.compile(r"^(?:N/?A|n/a|[-–—✓✗])$")
_SIGNS = {"<": Relation.AT_MOST, "≤": Relation.AT_MOST, ">": Relation.AT_LEAST, "≥": Relation.AT_LEAST}
_LONGEST_ROW = 400
_MOST_CELLS = 30


def find_row_quantities(passage: Passage, named: tuple[tuple[int, int], ...] = ()) -> tuple[Quantity, ...]:
    """Return the figures of a row in their order: one for each cell that is a figure and nothing else.

    A bare number has the unit of a score. Where cells cannot be told apart, the figures at the end of the row count.

    Args:
        named: where models are named in the words; a number in a name is no figure.
    """
    if passage.cells:
        return _from_cells(passage)
    return find_last_quantities(passage.words, named)


def _from_cells(passage: Passage) -> tuple[Quantity, ...]:
    found, cursor = [], 0
    for cell in passage.cells:
        start = passage.words.find(cell.text, cursor) if cell.text else -1
        if start < 0:
            continue
        cursor = start + len(cell.text)
        if pair := _PAIR.match(cell.text):
            found += [_build(pair, part, start) for part in ("first", "second")]
        elif _CELL.match(cell.text) and (one := _read(cell.text)):
            found.append(replace(one, start=start + one.start, stop=start + one.stop))
    return tuple(found)


def find_last_quantities(words: str, named: tuple[tuple[int, int], ...]) -> tuple[Quantity, ...]:
    """Return the figures at the end of *words*, as long as nothing else stands between them; *named* as above."""
    found: list[Quantity] = []
    rest = words.rstrip()[:_LONGEST_ROW]
    for _ in range(_MOST_CELLS):
        hit = _TOKEN.search(rest)
        if hit is None or any(start < hit.end() and hit.start("token") < stop for start, stop in named):
            break
        if not _NOTHING.match(hit["token"]) and (one := _read(hit["token"])):
            start = hit.start("token")
            found.append(replace(one, start=start + one.start, stop=start + one.stop))
        rest = rest[: hit.start()]
    return tuple(reversed(found))


def _build(pair: re.Match[str], part: str, start: int) -> Quantity:
    return Quantity(
        start=start + pair.start(part),
        stop=start + pair.end(part),
        written=pair[part],
        unit=Unit.SHARE if "%" in pair[0] else Unit.SCORE,
        value=round(float(pair[part]) / 100, 10) if "%" in pair[0] else float(pair[part]),
    )


@lru_cache(maxsize=4096)
def _read(text: str) -> Quantity | None:
    """Return the figure of one cell; None where it has none."""
    found = find_quantities(text)
    if found:
        return found[0]
    bare = _BARE.match(text)
    if bare is None:
        return None
    value = float(bare["one"].replace(",", "").replace("−", "-"))
    margin = float(bare["margin"].replace(",", "")) if bare["margin"] else None
    low, high = (None, None) if margin is None else (round(value - margin, 10), round(value + margin, 10))
    begin = bare.start("sign") if bare["sign"] else bare.start("one")
    return Quantity(
        start=begin,
        stop=bare.end(),
        written=text[begin : bare.end()],
        unit=Unit.SCORE,
        value=value,
        low=low,
        high=high,
        bound=_SIGNS.get(bare["sign"]),
        is_strict=bare["sign"] in ("<", ">"),
        is_approximate=bare["sign"] in ("~", "≈"),
    )
