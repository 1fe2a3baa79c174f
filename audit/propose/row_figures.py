"""Figures of a table's row: one to a cell, or several with a label each; numbers that count are left out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from audit.propose.card_figures import MARKS, NUMBER, CardFigure, FigureUnit, find_figures, read_number, read_surroundings
from audit.propose.card_models import SIZE_HEAD
from audit.propose.claim_form import find_thresholds
from audit.propose.evaluation_facts import find_benchmark, find_label
from audit.propose.vocabulary import has_word, read_expression, read_words
from registry.intake.outline.printed_tables import split_names
from registry.records.system_card import Passage

# A cell that is a figure and nothing else. A bare number has the unit of a score, until head, label or caption say per cent.

_CELL_TAIL = (
    r"(?:\s?[(\[]\s?(?:(?:±|\+/-)\s?)?(?:95\s?%\s?(?:CI\s?)?)?[:\s]?[-−+]?[\d.,%/\s–-]{1,30}[)\]]"
    r"|\s?\((?:\d{1,3}[- ]?shots?|CoT|[,\s]){1,5}\))?(?:\s?[*†‡^§¹²³]{1,3}|(?<=\.\d|\d\d)\^\d{1,2}|\s?\[\d{1,2}\])?"
)
_CELL = re.compile(
    rf"^[\s*_]*[<>≤≥~≈]?\s?(?P<one>[-−+]?{NUMBER})(?P<unit>\s?(?:%|x\b|×))?(?:\s?(?:±|\+/-)\s?{NUMBER}\s?%?)?{_CELL_TAIL}[\s*_]*$"
)
_CELL_PART = re.compile(rf"^[\s*_]*(?P<part>{NUMBER})\s?(?:/|(?:out\s)?of)\s?(?P<whole>\d{{1,7}})(?:\s?\(\s?{NUMBER}\s?%\s?\))?[\s*_†‡]*$")
_PER_CENT_HEAD = re.compile(r"%|\bper\s?cent(?:age)?s?\b", re.IGNORECASE)
_SHARES = read_expression("shares")
_OTHER_SCALES = re.compile(
    r"\b(?:Elo|rating|chrF|BLEU|perplexity|ppl|seconds|ms|tokens|MT-?Bench|CO2|Codeforces)\b|\b(?:out\sof"
    r"|max(?:imum)?\.?(?:\sof)?)\s?\d|\bpoints?\b|\(0\s?[-–—]\s?\d",
    re.IGNORECASE,
)


def read_cell(text: str) -> CardFigure | None:
    """Return the figure of a cell's *text* that is a figure and nothing else; None for any other text."""
    if part := _CELL_PART.match(text):
        value, whole = read_number(part["part"]), read_number(part["whole"])
        figure = CardFigure(start=0, stop=len(text), written=text.strip(" *_†‡"), unit=FigureUnit.SHARE, value=None)
        if whole < 1 or value > whole:
            return None
        # "4.92 / 5" is a mark; of things asked whole ones succeed.
        if value % 1 and whole in MARKS:
            return replace(figure, unit=FigureUnit.SCORE, value=value, scale=f"out of {whole:g}")
        return replace(figure, value=value / whole, n=int(whole))
    hit = _CELL.match(text)
    if hit is None:
        return None
    unit = {"%": FigureUnit.SHARE, "x": FigureUnit.MULTIPLE, "×": FigureUnit.MULTIPLE}.get((hit["unit"] or "").strip(), FigureUnit.SCORE)
    value = round(read_number(hit["one"].lstrip("+")) * (0.01 if unit is FigureUnit.SHARE else 1), 10)
    figure = CardFigure(start=hit.start("one"), stop=hit.end("unit") if hit["unit"] else hit.end("one"), written="", unit=unit, value=value)
    return replace(read_surroundings(figure, text, text), start=0, stop=len(text), written=text.strip(" *_"))


# A cell that holds several figures: each with its label, or none of them. Figures come first ("7/8 easy, 1/12 hard") or
# labels do ("easy: 7/8"), and pairs share a list of labels ("76 / 72 %", "whole / diff"). A comparison or a threshold in
# the cell has other figures than the model's, so nothing is read of it.

_COMPARES = re.compile(rf"{read_expression('turn').pattern}|→|->|\bfrom\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:[^.!?]|[.!?](?!\s+[A-Z]))+[.!?]?")
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_JOINT = re.compile(r"\s*(?:[,;|•·]\s*(?:and\b)?|\band\b)\s*")
_EDGES = " \t,;:|/•·()[]*_.–-"
_LONGEST_LABEL = 80


def read_labelled(text: str) -> tuple[CardFigure, ...]:
    """Return the figures of a cell's *text* with the label of each; empty if the cell has no label for one of them."""
    figures = find_figures(text)
    is_read = all(figure.unit in (FigureUnit.SHARE, FigureUnit.SCORE) and not figure.is_in_words for figure in figures)
    if not figures or not is_read or _COMPARES.search(text) or find_thresholds(text, figures):
        return ()
    labelled: list[CardFigure] = []
    for sentence in _SENTENCE.finditer(text):
        inside = [figure for figure in figures if sentence.start() <= figure.start < sentence.end()]
        labels = _find_labels(text, sentence.span(), inside) if inside else []
        if len(labels) < len(inside) or not all(re.search(r"[^\W\d]", label) and len(label) <= _LONGEST_LABEL for label in labels):
            return ()
        labelled += [replace(figure, label=label) for figure, label in zip(inside, labels, strict=True)]
    return tuple(labelled)


def _find_labels(text: str, span: tuple[int, int], figures: Sequence[CardFigure]) -> list[str]:
    """Return a label for each of the *figures* of one sentence; fewer if the words do not say which is whose."""
    ends = [span[0], *(figure.stop for figure in figures)]
    gaps = [text[start:stop] for start, stop in zip(ends, [*(figure.start for figure in figures), span[1]], strict=True)]
    lead, colon, first = gaps[0].rpartition(":")
    # "Solve rate: 7/8 easy, 1/12 hard": the words before the colon hold for all, unless each figure has its own.
    if not colon or ":" in gaps[1] or (not first.strip() and not gaps[-1].strip(_EDGES) and len(figures) == 1):
        lead, first = "", gaps[0]
    pairs = _part_gaps([first, *gaps[1:]])
    labels = [_trim(before if before.rstrip().endswith(":") or not _trim(after) else after) for before, after in pairs]
    if len(labels) > 1 and sum(map(bool, [lead, *labels])) == 1:
        return split_labels(max([lead, *labels], key=len), len(labels))
    return [f"{_trim(lead)}, {label}" if _trim(lead) else label for label in labels]


def _part_gaps(gaps: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give the words before and after each figure; a gap without a joint belongs to one side, which is that of all gaps."""
    is_first, before = not _trim(gaps[0]), gaps[0]
    for gap in gaps[1:-1]:
        joints = list(_JOINT.finditer(_BRACKETED.sub(lambda match: "_" * len(match[0]), gap)))
        if len(joints) > 1 or (not joints and not is_first and _trim(gaps[-1])):
            return
        after, following = (gap[: joints[0].start()], gap[joints[0].end() :]) if joints else (gap, "") if is_first else ("", gap)
        yield before, after
        before = following
    yield before, gaps[-1]


def _trim(words: str) -> str:
    return re.sub(r"^(?:on|for|in|of)\s|\s(?:is|was|are|were|of|at)$", "", words.strip(_EDGES)).strip(_EDGES)


_SETTING = re.compile(r"\b(?:[nkNK]\s?=\s?\d{1,3}|\d{1,3}[- ]shots?|pass@\d{1,3})\b")


def split_labels(words: str, count: int) -> list[str]:
    """Return the *count* labels that slashes part in *words* or in its parenthesis, or benchmarks by name; empty for another number."""
    for text in (*re.findall(r"\(([^()]*)\)", words), words):
        parts = [part.strip(_EDGES) for part in text.split("/")]
        if len(parts) == count and all(re.search(r"[^\W\d]", part) for part in parts):
            return parts
    settings = _SETTING.findall(words)
    if len(settings) == count and len(set(settings)) == count:
        return settings
    names = split_names(words, count)
    return names if all(_NAME.match(name) or find_benchmark(name, is_named=True) == name for name in names) else []


_NAME = re.compile(r"(?=.*[^\W\d])[A-Z](?:.*[A-Z\d]|\w*-)")
"""Words with several capitals, a figure, or a hyphen name something; "Closed round" does not name two things."""


def _read_pair(passage: Passage, place: int) -> tuple[CardFigure, ...]:
    """The figures between slashes or lines of a cell ("2029 / 98.1 %"), if its head or a label of its row names as many."""
    text = passage.cells[place].text
    figures = [read_cell(part.strip()) for part in (text.split("/") if "/" in text else text.split())]
    texts = [_head(passage, place), *(cell.text for cell in passage.cells[:place])]
    labels = next((labels for text in texts if (labels := split_labels(text, len(figures)))), [])
    if len(figures) < 2 or not labels:
        return ()
    pairs = [replace(figure, label=label) for figure, label in zip(figures, labels, strict=True) if figure is not None]
    return tuple(pairs) if len(pairs) == len(figures) else ()


# A row: its figures by cell, in the unit that the table gives them.


_SPEED_UP = re.compile(r"\bspeed-?ups?\b", re.IGNORECASE)


def find_row_figures(passage: Passage) -> tuple[tuple[int, CardFigure], ...]:
    """Return the figures of a row with the index of their cell, bare numbers as shares where the table says per cent."""
    figures = [(place, figure) for place, cell in enumerate(passage.cells) for figure in _read_figures(passage, place, cell.text)]
    if _SPEED_UP.search(f"{find_label(passage)} {passage.caption or ''}"):
        # A speed-up is a score of its own; other multiples compare with a figure beside them.
        figures = [
            (place, replace(figure, unit=FigureUnit.SCORE, scale="×") if figure.unit is FigureUnit.MULTIPLE else figure)
            for place, figure in figures
        ]
    bare = {
        place
        for place, figure in figures
        if figure.unit is FigureUnit.SCORE and not _OTHER_SCALES.search(f"{_head(passage, place)} {figure.label or ''}")
    }
    marked = {place for place, _ in figures if _PER_CENT_HEAD.search(_head(passage, place))}
    values = [figure.value for place, figure in figures if place in bare and figure.value is not None]
    if not marked and _is_in_per_cent(passage, values):
        marked = bare
    return tuple(
        (place, _as_share(figure) if place in marked & bare and figure.unit is FigureUnit.SCORE else figure) for place, figure in figures
    )


def _read_figures(passage: Passage, place: int, text: str) -> tuple[CardFigure, ...]:
    figure = read_cell(text)
    return (figure,) if figure is not None else _read_pair(passage, place) or read_labelled(text)


def _head(passage: Passage, place: int) -> str:
    return passage.cells[place].column or ""


def _is_in_per_cent(passage: Passage, values: Sequence[float]) -> bool:
    # Numbers up to 1 are shares already or scores; above 100 they cannot be per cents.
    if not values or max(values) <= 1 or max(values) > 100 or min(values) < 0:
        return False
    label = " ".join(cell.text for cell in passage.cells if read_cell(cell.text) is None)
    around = " ".join(
        (label, passage.caption or "", *(cell.column or "" for cell in passage.cells if not _OTHER_SCALES.search(cell.column or "")))
    )
    return bool(_SHARES.search(around) or _PER_CENT_HEAD.search(f"{label} {passage.caption or ''}")) and not _OTHER_SCALES.search(
        f"{label} {passage.caption or ''}"
    )


def _as_share(figure: CardFigure) -> CardFigure:
    if figure.value is None or not 0 <= figure.value <= 100:
        return figure
    low, high = (None if end is None else round(end / 100, 10) for end in (figure.low, figure.high))
    return replace(figure, unit=FigureUnit.SHARE, value=round(figure.value / 100, 10), low=low, high=high)


_BAR = re.compile(r"\b(?:thresholds?|limits?|cut-?offs?|bars?|targets?|criteri(?:on|a)|requirements?)\b", re.IGNORECASE)


def find_bar(passage: Passage) -> CardFigure | None:
    """Return the line that a column of its own draws for the row's results; None without one, or where there are several."""
    bars = [figure for place, figure in find_row_figures(passage) if _BAR.search(_head(passage, place))]
    return bars[0] if len(bars) == 1 else None


def find_results(passage: Passage) -> tuple[tuple[int, CardFigure], ...]:
    """Return the figures of a row that are results, with the index of their cell.

    Whole numbers beside a share are what it was counted from, unless their head or label says that they are scores.
    """
    figures = find_row_figures(passage)
    is_counted = any(figure.unit is FigureUnit.SHARE for _, figure in figures)
    return tuple(
        (place, figure)
        for place, figure in figures
        if not _counts(passage, place, figure)
        and not _BAR.search(_head(passage, place))
        and not (
            is_counted
            and figure.unit is not FigureUnit.SHARE
            and re.fullmatch(r"\d[\d,]*", figure.written)
            and not re.search(r"\bscores?\b|rating|points|Elo", f"{_head(passage, place)} {figure.label or ''}", re.IGNORECASE)
        )
    )


def _counts(passage: Passage, place: int, figure: CardFigure) -> bool:
    """Whether the head of a column says how much was asked, not what came out."""
    column = (passage.cells[place].column or "").strip()
    # "2B Params" names the model of that size.
    if SIZE_HEAD.fullmatch(column):
        return False
    if has_word("passages", "settings", column[:60]) and not has_word("passages", "outcome", column):
        return True
    return ("%" not in figure.written and bool(re.match(r"#|n$|k$", column))) or ("%" not in figure.written and _is_counting(column))


@lru_cache(maxsize=1024)
def _is_counting(column: str) -> bool:
    if re.search(r"%|\brates?\b|\bscores?\b|accuracy|success", column, re.IGNORECASE):
        return False
    return _COUNTING.match(column.strip(" *_")) is not None


_COUNTING = re.compile(rf"(?:{'|'.join(map(re.escape, read_words('passages', 'counting')))})s?(?![\w-])", re.IGNORECASE)
"""The beginning of a head that counts; not "Min" or "Seed-2" of the name of a model."""
