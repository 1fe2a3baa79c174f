"""Figures in the rows of a card's tables: where they stand, and which bare numbers are shares."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from audit.propose.prose_figures import NUMBER, CardFigure, FigureUnit, find_quantities
from registry.records.claim import Relation
from registry.records.system_card import Passage, TableCell

# The cell of a figure in a table row.

_NAMES_ROW = re.compile(r"\W*(?:benchmark|evaluation|eval|dataset|test|task)s?\b", re.IGNORECASE)
_ANY_FIGURE = re.compile(r"[<>≤≥~±]?\s?[-−]?\d[\d.,]*\s?%?")


def find_cell(passage: Passage, at: int) -> TableCell | None:
    """Return the cell of the row that holds character *at* of its words; None where cells cannot be distinguished."""
    place = find_cell_place(passage, at)
    return passage.cells[place] if place is not None else None


def find_cell_place(passage: Passage, at: int) -> int | None:
    """Return the index of that cell, from 0."""
    cursor = 0
    for place, cell in enumerate(passage.cells):
        start = passage.words.find(cell.text, cursor) if cell.text else -1
        if start < 0:
            continue
        cursor = start + len(cell.text)
        if start <= at < cursor:
            return place
    return None


def find_label(passage: Passage) -> str:
    """Return what names the row: the cell under a head such as "Benchmark", else the first that is no figure; else its words."""
    named = [cell for cell in passage.cells if cell.text.strip() and not _ANY_FIGURE.fullmatch(cell.text.strip())]
    for cell in named:
        if cell.column and _NAMES_ROW.match(cell.column):
            return cell.text.strip()
    return named[0].text.strip() if named else passage.words


def is_column_unread(passage: Passage, card_figures: Sequence[CardFigure]) -> bool:
    """Whether a row has several figures and not each of them has a head that says what it is."""
    if len(card_figures) < 2:
        return False
    cells = [find_cell(passage, card_figure.start) for card_figure in card_figures]
    return any(cell is None or not cell.column for cell in cells)


# The figures in a row of a table, one or none to a cell.

_MARK = r"(?:\s?[*†‡^§¹²³]{1,3}|\s?\[\d{1,2}\])?"
_CELL_FIGURE = rf"(?:[<>≤≥~≈]\s?)?[-−+]?{NUMBER}\s?(?:%|x|×)?(?:\s?(?:±|\+/-)\s?{NUMBER}\s?%?)?"
_PARENTHESIS = r"(?:\s?[(\[]\s?(?:(?:±|\+/-)\s?)?(?:95\s?%\s?(?:CI\s?)?)?[:\s]?[-−+]?[\d.,%/\s–-]{1,30}[)\]])?"
_FRACTION = rf"\d{{1,7}}\s?/\s?\d{{1,7}}(?:\s?\(\s?{NUMBER}\s?%\s?\))?|\d{{1,6}}\s(?:out\s)?of\s\d{{1,7}}"
_CELL = re.compile(rf"^\s*(?:{_CELL_FIGURE}{_PARENTHESIS}|{_FRACTION}){_MARK}\s*$")
# Two results in one cell: “42.2/36.6”, “5.0 / 11.2”. Whole numbers are a fraction.
_PAIR = re.compile(rf"^\s*(?P<first>\d{{1,3}}\.\d{{1,3}})\s?%?\s?/\s?(?P<second>\d{{1,3}}\.\d{{1,3}})\s?%?{_MARK}\s*$")
_BARE = re.compile(rf"^\s*(?P<sign>[<>≤≥~≈])?\s?(?P<one>[-−+]?{NUMBER})(?:\s?(?:±|\+/-)\s?(?P<margin>{NUMBER}))?")
# From the right of a row without known cells: figures, and signs for an empty cell.
_TOKEN = re.compile(rf"\s(?P<token>{_CELL_FIGURE}(?:\s?\(\s?(?:±|\+/-)?\s?[\d.,%\s–-]{{1,24}}\))?|\d{{1,6}}/\d{{1,6}}|N/?A|n/a|[-–—✓✗])$")
_NOTHING = re.compile(r"^(?:N/?A|n/a|[-–—✓✗])$")
_SIGNS = {"<": Relation.AT_MOST, "≤": Relation.AT_MOST, ">": Relation.AT_LEAST, "≥": Relation.AT_LEAST}
_LONGEST_ROW = 400
_MOST_CELLS = 30


def find_row_quantities(passage: Passage, named: tuple[tuple[int, int], ...] = ()) -> tuple[CardFigure, ...]:
    """Return the figures of a row in their order: one for each cell that is a figure and nothing else.

    A bare number has the unit of a score. Where cells cannot be told apart, the figures at the end of the row count.

    Args:
        named: where models are named in the words; a number in a name is no figure.
    """
    if passage.cells:
        return _from_cells(passage)
    return find_last_quantities(passage.words, named)


def _from_cells(passage: Passage) -> tuple[CardFigure, ...]:
    figures, cursor = [], 0
    for cell in passage.cells:
        start = passage.words.find(cell.text, cursor) if cell.text else -1
        if start < 0:
            continue
        cursor = start + len(cell.text)
        if pair := _PAIR.match(cell.text):
            figures += [_build(pair, part, start) for part in ("first", "second")]
        elif _CELL.match(cell.text) and (figure := _read(cell.text)):
            figures.append(replace(figure, start=start + figure.start, stop=start + figure.stop))
    return tuple(figures)


def find_last_quantities(words: str, named: tuple[tuple[int, int], ...]) -> tuple[CardFigure, ...]:
    """Return the figures at the end of *words*, as long as nothing else stands between them; *named* as above."""
    figures: list[CardFigure] = []
    rest = words.rstrip()[:_LONGEST_ROW]
    # From the right: labels may contain figures, and the columns of figures are at the end.
    for _ in range(_MOST_CELLS):
        hit = _TOKEN.search(rest)
        if hit is None or any(start < hit.end() and hit.start("token") < stop for start, stop in named):
            break
        if not _NOTHING.match(hit["token"]) and (figure := _read(hit["token"])):
            start = hit.start("token")
            figures.append(replace(figure, start=start + figure.start, stop=start + figure.stop))
        rest = rest[: hit.start()]
    return tuple(reversed(figures))


def _build(pair: re.Match[str], part: str, start: int) -> CardFigure:
    return CardFigure(
        start=start + pair.start(part),
        stop=start + pair.end(part),
        written=pair[part],
        unit=FigureUnit.SHARE if "%" in pair[0] else FigureUnit.SCORE,
        value=round(float(pair[part]) / 100, 10) if "%" in pair[0] else float(pair[part]),
    )


@lru_cache(maxsize=4096)
def _read(text: str) -> CardFigure | None:
    """Return the figure of one cell; None where it has none."""
    quantities = find_quantities(text)
    if quantities:
        return quantities[0]
    bare = _BARE.match(text)
    if bare is None:
        return None
    value = float(bare["one"].replace(",", "").replace("−", "-"))
    margin = float(bare["margin"].replace(",", "")) if bare["margin"] else None
    low, high = (None, None) if margin is None else (round(value - margin, 10), round(value + margin, 10))
    begin = bare.start("sign") if bare["sign"] else bare.start("one")
    return CardFigure(
        start=begin,
        stop=bare.end(),
        written=text[begin : bare.end()],
        unit=FigureUnit.SCORE,
        value=value,
        low=low,
        high=high,
        bound=_SIGNS.get(bare["sign"]),
        is_strict=bare["sign"] in ("<", ">"),
        is_approximate=bare["sign"] in ("~", "≈"),
    )


# Bare numbers of a table that are shares without a per cent sign.

# Metrics that are shares, and benchmarks of capability that are reported in per cent.
_SHARES = re.compile(
    r"(?i:%|per\s?cent|\bacc(?:uracy)?\b|accuracy|\bpass@\d|/em\b|exact\smatch|\bF1\b|/f1\b|\banls\b|\brates?\b|\bsuccess\b|\bcorrect\b|\brecall\b|\bprecision\b|\bresolved\b"
    r"|\bwin\b|\btop-\d)|\bEM\b|\bBBQ\b|"
    r"\b(?:MMLU|GPQA|MATH|GSM-?8K|MGSM|AIME|HumanEval|MBPP|SWE-?[Bb]ench|LiveCodeBench|BBH|ARC|HellaSwag|TruthfulQA|SimpleQA|IFEval|MMMU|DROP|TriviaQA|HLE|BoolQ|PIQA|WinoGrande|"
    r"CommonsenseQA|OpenBookQA|SQuAD|RACE|AGIEval|C-?Eval|CMMLU|MathVista|ChartQA|DocVQA)\w*",
)  # fmt: skip
_OUT_OF = re.compile(r"\b(?:out\sof|max(?:imum)?\.?(?:\sof)?)\s?\d|\bpoints?\b|\(0\s?[-–—]\s?\d", re.IGNORECASE)
_SIGN = re.compile(r"%|\bper\s?cent(?:age)?\b", re.IGNORECASE)
_OTHER_SCALES = re.compile(r"\b(?:Elo|rating|chrF|BLEU|perplexity|ppl|seconds|ms|tokens|score\s?\(0|MT-?Bench|CO2)\b", re.IGNORECASE)


def read_units(passage: Passage, card_figures: Sequence[CardFigure]) -> list[CardFigure]:
    """Return *found* with the bare numbers that are per cents read as shares.

    Where a head says "%", those of its column are, and no others. Otherwise all are where row, heads or caption name a share
    and the numbers run above 1 and not above 100.
    """
    columns = [_find_head(passage, card_figure) for card_figure in card_figures]
    # A head with "%" settles its own column, and by its absence the others.
    if any(_SIGN.search(column) for column in columns):
        return [_read_as_per_cent(figure) if _SIGN.search(column) else figure for figure, column in zip(card_figures, columns, strict=True)]
    if not _is_in_per_cent(passage, [figure for figure, column in zip(card_figures, columns, strict=True) if not _is_marked(column)]):
        return list(card_figures)
    return [figure if _is_marked(column) else _read_as_per_cent(figure) for figure, column in zip(card_figures, columns, strict=True)]


def _is_marked(column: str) -> bool:
    """Whether a head names a scale of its own: "Score (out of 100)", "Elo"."""
    return bool(_OUT_OF.search(column) or _OTHER_SCALES.search(column))


def _find_head(passage: Passage, card_figure: CardFigure) -> str:
    cell = find_cell(passage, card_figure.start)
    return (cell.column or "") if cell is not None else ""


def _is_in_per_cent(passage: Passage, card_figures: Sequence[CardFigure]) -> bool:
    bare = [card_figure.value for card_figure in card_figures if card_figure.unit is FigureUnit.SCORE and card_figure.value is not None]
    # Numbers up to 1 are shares already or scores; above 100 they cannot be per cents.
    if not bare or max(bare) <= 1 or max(bare) > 100 or min(bare) < 0:
        return False
    told = " ".join(
        (passage.words, passage.caption or "", *(column for cell in passage.cells if not _is_marked(column := cell.column or "")))
    )
    return bool(_SHARES.search(told)) and not _OTHER_SCALES.search(told)


def _read_as_per_cent(card_figure: CardFigure) -> CardFigure:
    if card_figure.unit is not FigureUnit.SCORE or card_figure.value is None:
        return card_figure
    low, high = (None if end is None else round(end / 100, 10) for end in (card_figure.low, card_figure.high))
    return replace(card_figure, unit=FigureUnit.SHARE, value=round(card_figure.value / 100, 10), low=low, high=high)
