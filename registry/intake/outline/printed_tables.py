"""Tables in the lines of a printed page: rows, heads, and what each cell stands under."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from registry.intake.outline.page_lines import BULLET, CardLine, is_caption
from registry.records.system_card import PassageKind

# Heads of a printed table. They are assigned only where their number agrees with that of the cells below, else the
# column is None: a wrong column would give a figure to another model.

_TOKEN = re.compile(r"\S+")
_JOINS = frozenset((
    "of", "the", "and", "&", "for", "with", "in", "on", "at", "by", "to", "a", "an", "per", "vs", "vs.", "w/", "w/o", "without", "/", "-",
    "–", ":", "or", "from", "using",
))  # fmt: skip
"""After these a column's head goes on, also with a capital."""
_LABELS = frozenset((
    "model", "models", "evaluation", "evaluations", "category", "categories", "benchmark", "benchmarks", "task", "tasks", "context",
    "contexts", "metric", "metrics", "domain", "name", "dataset", "language", "setting", "settings", "method", "type", "eval", "evals",
    "test", "suite", "area", "topic", "capability", "version",
))  # fmt: skip
"""What stands above the first column."""

_VARIANTS = (
    "pro|flash|sonnet|opus|haiku|mini|nano|lite|base|instruct|chat|thinking|think|reasoning|preview|exp(?:erimental)?|max|plus|turbo|large|medium"
    "|small|ultra|scout|maverick|beta|alpha|it|coder|math|vl|next|high|low|xl|moe|core|edge|prime|express|air|heavy|omni"
)
_GOES_ON = (
    re.compile(r"[^A-Z\d#]"),
    re.compile(r"[^A-Z#]|[A-Z]?\d"),
    re.compile(rf"[^A-Z#]|[A-Z]?\d|(?i:{_VARIANTS})\b"),
    re.compile(rf"[^\w#]|[a-z]|[A-Z]?\d|(?i:{_VARIANTS})\b|[A-Z][a-z]+$"),
)
"""Words that go on with a head, each way joining more than the last: without a capital; versions and sizes; variants of models; all
but those with a hyphen, a figure, or several capitals."""
_LONGEST_HEAD = 6
"""Words."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The heads of a table."""

    label: str | None
    """Above the first column; None where nothing stands there."""
    names: tuple[str, ...]
    """Above the columns of figures, from left to right."""
    is_guessed: bool
    """Whether upper heads were spread over lower ones."""


def is_label(word: str) -> bool:
    """Return whether *word* is one that is above a column of labels."""
    return word.lower() in _LABELS


def align_heads(lines: list[str], count: int) -> Columns | None:
    """Return the heads in *lines* for *count* columns of figures next to a column of labels; None if their number does not agree."""
    columns = _find_columns(lines, count)
    return None if columns is None or any(map(_is_no_head, columns.names)) else columns


def _is_no_head(name: str) -> bool:
    """Whether a head is or has the cell of another row ("91.8 (79.3)"), or is that of the labels, so that two levels were mixed."""
    if all(part.strip().lower() in _LABELS for part in name.split("/")):
        return True
    return not re.search(r"[^\W\d]", name) or re.search(r"\(\d+\.\d+\)", name) is not None


def _find_columns(lines: list[str], count: int) -> Columns | None:
    if not lines or count < 1:
        return None
    if count == 1:
        return _align_single(lines)
    # The ways to split heads, from the simplest. The first whose count agrees is taken.
    splits = [parts for parts in (_split_words(lines), *(_split_in_order(lines, goes_on) for goes_on in _GOES_ON)) if parts is not None]
    by_line = _split_at_lines(lines)
    labelled = next((parts for parts in (*splits, by_line) if len(parts) == count + 1 and _are_heads(parts)), None)
    bare = next((parts for parts in splits if len(parts) == count and parts[0].lower() not in _LABELS and _are_heads(parts)), None)
    # Words of neighbours may be mixed in heads without a figure or version: no name of a model is among them.
    in_order = None if any(map(has_figure, lines)) else _split_in_order(lines, _GOES_ON[0])
    mixed = in_order if in_order is not None and len(in_order) == count + 1 else None
    return (
        _stack(lines, count)
        or (Columns(labelled[0], tuple(labelled[1:]), is_guessed=False) if labelled else None)
        or (Columns(None, tuple(bare), is_guessed=False) if bare else None)
        or _align_two_levels(by_line, count)
        or (Columns(mixed[0], tuple(mixed[1:]), is_guessed=True) if mixed else None)
    )


def _align_single(lines: list[str]) -> Columns | None:
    words = " ".join(lines).split()
    if len(words) >= 2 and words[0].lower() in _LABELS:
        return Columns(words[0], (" ".join(words[1:]),), is_guessed=False)
    parts = _split_in_order(lines, _GOES_ON[0]) or []
    return Columns(parts[0], (parts[1],), is_guessed=False) if len(parts) == 2 else None


def _split_words(lines: list[str]) -> list[str] | None:
    """Every word of a single line a head of its own."""
    return lines[0].split() if len(lines) == 1 else None


def split_names(text: str, count: int) -> list[str]:
    """Return the *count* names that *text* lists with nothing between them; empty where no way to split it gives as many."""
    splits = (text.split(), *(_split_in_order([text], goes_on) or [] for goes_on in _GOES_ON))
    return next((parts for parts in splits if len(parts) == count and _are_heads(parts)), [])


def _are_heads(parts: list[str]) -> bool:
    """Whether all *parts* are different and short: words of several heads in one are lines that were read across."""
    return len(set(parts)) == len(parts) and all(len(set(words)) == len(words) <= _LONGEST_HEAD for words in map(str.split, parts[1:]))


def _split_in_order(lines: list[str], goes_on: re.Pattern[str]) -> list[str] | None:
    """A head begins at every word that neither *goes_on* matches nor the word before it calls for.

    None where two lines with several heads each follow one another: their words may be above one another. A line that
    begins with a bracket or a hyphen shows that it goes on inside a cell.
    """
    parts: list[list[str]] = []
    before, last = "", 0
    for line in lines:
        first = len(parts)
        for place, word in enumerate(line.split()):
            # A name that goes on below it: "Ibis-3.5- Heron" over "Large-1022 mini".
            if place and len(before) > 1 and before.endswith("-"):
                return None
            if parts and (goes_on.match(word) or before.lower() in _JOINS or before.endswith("-")):
                parts[-1].append(word)
            else:
                parts.append([word])
            before = word
        begun = len(parts) - first + (line[:1].islower() and first > 0)
        if last > 1 and begun > 1 and line[0] not in "-(":
            return None
        last = begun
    return [" ".join(part) for part in parts]


def _stack(lines: list[str], count: int) -> Columns | None:
    """The words of lines that each have one for every column, and perhaps one for the labels, from the last line upwards."""
    stacked: list[list[str]] = []
    label = None
    for words in (line.split() for line in reversed(lines)):
        if len(words) not in (count, count + 1) or any(word.isalpha() and word[0].islower() for word in words):
            if stacked and stacked[0][0][0] in "-(":
                return None
            break
        if len(words) > count and is_label(words[0]):
            label = words[0]
        stacked.insert(0, words[-count:])
    names = tuple(" ".join(parts) for parts in zip(*stacked, strict=True))
    return Columns(label, names, is_guessed=True) if len(stacked) > 1 and len(set(names)) == count else None


def _split_at_lines(lines: list[str]) -> list[str]:
    """A head begins at every line that begins with a capital; on the first line the label has one word if it is a known one."""
    parts: list[str] = []
    for line in lines:
        first, _, rest = line.partition(" ")
        if not parts:
            parts = [first, rest] if rest and first.lower() in _LABELS else [line]
        elif (line[0].isupper() or line[0].isdigit()) and parts[-1].rsplit(None, 1)[-1].lower() not in _JOINS:
            parts.append(line)
        else:
            parts[-1] = f"{parts[-1]} {line}"
    return parts


def _align_two_levels(parts: list[str], count: int) -> Columns | None:
    """The last *count* heads below upper ones that each stand over the same number of them."""
    label = parts[0] if parts[0].lower() in _LABELS else None
    names = parts[1:] if label else parts
    upper = len(names) - count
    if upper < 1 or count % upper or count == upper:
        return None
    width = count // upper
    return Columns(label, tuple(f"{names[index // width]} {names[upper + index]}" for index in range(count)), is_guessed=True)


# Cells of a printed table: a figure with unit and uncertainty, a fraction, or a sign for "none".

_NUMBER = r"(?:[<>\u2264\u2265~\u2248\u2248]\s?)?[-+\u2212\u2013]?[$\u20ac\u00a3]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = r"(?:\s?(?:%|\u2030|\u00d7)|pp|x|[kKMBT](?:\+)?|ms|s|h)?(?![\w])"
_UNCERTAINTY = (
    r"(?:\s?(?:\u00b1|\+/-)\s?\d[\d.]*\s?%?"
    r"|\s?\(\s?(?:\u00b1|\+/-)?\s?[-+\u2212]?\d[\d.,]*\s?%?(?:\s?[,\u2013-]\s?[-+\u2212]?\d[\d.]*\s?%?)?\s?\)"
    r"|\s?\[\s?[-+\u2212]?\d[\d.]*\s?%?\s?[,\u2013-]\s?[-+\u2212]?\d[\d.]*\s?%?\s?\])?"
)
_PAIR = rf"{_NUMBER}(?:\s?%)?\s?(?:/|of|[-\u2013])\s?\d[\d,]*(?:\.\d+)?(?:\s?%)?"
_FIGURE = rf"(?:{_PAIR}|{_NUMBER}{_UNIT}){_UNCERTAINTY}"
_NONE = r"(?:N/A|n/a|NA|[-\u2013\u2014\u2212]{1,3}|\u2713|\u2717|\u2714|\u2718)"
_CELL = re.compile(rf"(?<!\S)(?:{_FIGURE}|{_NONE})[*\u2020\u2021]?(?!\S)")
_LONGEST = 400
"""Characters of a line that may be a row."""


def find_cells(text: str) -> list[tuple[int, int]]:
    """Return the spans of the cells with which *text* ends, from left to right; none if it ends differently or is too long."""
    if len(text) > _LONGEST:
        return []
    cells: list[tuple[int, int]] = []
    for match in _CELL.finditer(text):
        # Only the cells at the end of the line count: a figure inside the label is followed by words.
        if cells and text[cells[-1][1] : match.start()].strip():
            cells = []
        cells.append(match.span())
    if not cells or text[cells[-1][1] :].strip():
        return []
    return cells


def has_figure(text: str) -> bool:
    """Return whether there is a digit in *text*."""
    return any(character.isdigit() for character in text)


# Tables on a printed page: rows, heads and columns.
#
# A PDF's text has no cells. A row is a line that ends in figures and has neighbours that end in as many. Its heads are
# the short lines above the first row. What does not agree has no column.

_NAME = re.compile(r"(?P<word>\b[A-Z][\w-]*) (?P<number>\d+(?:\.\d+)*[A-Za-z]?)(?=['\u2019]s|[,;:)]| (?:[a-z]{2,}|\())")
_BEFORE_CELL = re.compile(r"(\b[A-Z][\w-]*) $")
_DATE = re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? (?:\d{1,2}(?:st|nd|rd|th)?,? )?\d{4}$")
_OPEN_END = re.compile(
    r"[.;!?] |\b(?:the|a|an|of|in|at|on|to|by|for|from|with|than|about|and|or|was|were|is|are|we|that|which|least|most|only|over|under"
    r"|year|section|table|figure|page|version|all)$",
    re.IGNORECASE,
)
"""How the words before a figure end where a sentence was broken after it."""
_TWO_SENTENCES = re.compile(r"[.;!?] |\b(?:the|was|were|is|are|we|that)$")
_VERSION = re.compile(r"\d+(?:\.\d+)*[A-Za-z]?")
_ENDS = (".", "!", "?", ":", ";", ".\u201d", ".)")
_HEAD_LINES = 24
_LABEL_LINES = 3
_GROUP_WORDS = 3
_LONGEST_LABEL = 90
_JUDGED_ROWS = 12
"""After so many rows a run is judged; what is no table then is not read on, so that reading stays linear."""


@dataclass(slots=True)
class PrintedRow:
    """A row: its lines, where its cells stand in the card, and what they stand under."""

    lines: list[CardLine]
    label: tuple[int, int] | None
    """Where its label stands in the card; None for a row of figures alone."""
    cells: list[tuple[int, int]]
    span: tuple[int, int] | None = None
    """Where it is on a line that it shares with other rows; None where its lines are its own."""


@dataclass(slots=True)
class PrintedTable:
    """Rows that belong together, and the lines that name their columns."""

    rows: list[PrintedRow]
    heads: list[CardLine] = field(default_factory=list)
    columns: Columns | None = None
    title: str | None = None
    """What stands over all columns, above their heads."""


def find_tables(lines: list[CardLine], width: int) -> list[PrintedTable]:
    """Mark the rows and heads among *lines* and return them by table, in order.

    Args:
        width: characters of a full line of running text.
    """
    names = frozenset((match["word"], match["number"]) for line in lines for match in _NAME.finditer(line.text))
    candidates = [_read_row(line, names) if line.kind is None else None for line in lines]
    tables: list[PrintedTable] = []
    index = 0
    while index < len(lines):
        run = _read_run(lines, candidates, index, width)
        if run is None:
            index += 1
            continue
        table, stop = run
        is_spaced = len(table.rows) > 1 and table.rows[1].lines[0].gap
        table.heads = _find_heads(lines, _first_index(lines, table, index), width, is_spaced=is_spaced)
        align_table(table)
        mark_lines(table)
        tables.append(table)
        index = stop
    return tables


def mark_lines(table: PrintedTable) -> None:
    """Mark the lines of *table*, so that nothing else reads them."""
    for row in table.rows:
        for line in row.lines:
            line.kind = PassageKind.ROW
    for line in table.heads:
        line.kind = PassageKind.HEAD


def _read_row(line: CardLine, names: frozenset[tuple[str, str]]) -> PrintedRow | None:
    """The row that *line* may be, a version at the end of its label taken for what it is; None if it ends in no cell."""
    cells = find_cells(line.text)
    if not cells or BULLET.match(line.text) or _DATE.search(line.text):
        return None
    # "Haiku 4.5 87.2" has one figure and a version, which running text elsewhere in the card shows.
    if len(cells) > 1 and _is_version(line.text, cells[0], names):
        cells = cells[1:]
    if len(cells) == 1 and _is_version(line.text, cells[0], names):
        return None
    label = line.text[: cells[0][0]].rstrip()
    spans = [(line.start + start, line.start + stop) for start, stop in cells]
    return PrintedRow([line], (line.start, line.start + len(label)) if label else None, spans)


def _is_version(text: str, cell: tuple[int, int], names: frozenset[tuple[str, str]]) -> bool:
    word, number = _BEFORE_CELL.search(text[max(0, cell[0] - 40) : cell[0]]), text[cell[0] : cell[1]]
    return word is not None and _VERSION.fullmatch(number) is not None and (word[1], number) in names


def _read_run(lines: list[CardLine], candidates: list[PrintedRow | None], index: int, width: int) -> tuple[PrintedTable, int] | None:
    """The table whose first row is at *index*, and the index after its last; None if no table begins there."""
    first = candidates[index]
    if first is None or not _has_figures(first):
        return None
    count, rows, at = len(first.cells), [first], index + 1
    while at < len(lines):
        following, skipped = _next_row(lines, candidates, at, count)
        if following is None or (len(rows) == _JUDGED_ROWS and not _is_table(rows, count, width)):
            break
        rows.append(following)
        at += skipped + 1
    # A line in lower case after the last row continues a sentence, so the run was prose.
    goes_on = count == 1 and at < len(lines) and lines[at].kind is None and lines[at].text[:1].islower()
    return (PrintedTable(rows), at) if not goes_on and _is_table(rows[:_JUDGED_ROWS], count, width) else None


def _next_row(lines: list[CardLine], candidates: list[PrintedRow | None], at: int, count: int) -> tuple[PrintedRow | None, int]:
    """The row at *at* or, after the lines of a label that takes several, soon after; with how many lines lie between."""
    label_lines: list[CardLine] = []
    for skipped in range(_LABEL_LINES if count > 1 else 1):
        if at + skipped >= len(lines):
            break
        line, row = lines[at + skipped], candidates[at + skipped]
        if line.kind is PassageKind.FURNITURE and not label_lines:
            continue
        if line.kind is not None:
            break
        if row is not None and len(row.cells) == count:
            return (row if not label_lines or row.label is not None else _with_label(row, label_lines)), skipped
        if row is not None or len(line.text) > 45 or line.text.endswith(_ENDS) or is_caption(line.text):
            break
        label_lines.append(line)
    return None, 0


def _has_figures(row: PrintedRow) -> bool:
    line = row.lines[-1]
    return any(has_figure(line.text[start - line.start : stop - line.start]) for start, stop in row.cells)


def _with_label(row: PrintedRow, label_lines: list[CardLine]) -> PrintedRow:
    return PrintedRow([*label_lines, *row.lines], (label_lines[0].start, label_lines[-1].stop), row.cells)


def _is_table(rows: list[PrintedRow], count: int, width: int) -> bool:
    """Whether rows of *count* figures are a table and not sentences that happen to end in figures."""
    labels = [row.lines[-1].text[: max(0, row.cells[0][0] - row.lines[-1].start)].strip() for row in rows]
    if any(len(label) > _LONGEST_LABEL for label in labels):
        return False
    pattern = _OPEN_END if count == 1 else _TWO_SENTENCES
    # Sentences that are broken after a figure look like rows of one figure.
    prose = sum(1 for label in labels if pattern.search(label))
    full = sum(1 for row in rows if len(row.lines[-1].text) > 0.9 * width and row.label is not None)
    # The fewer figures a row has, the more it looks like a sentence, so the more evidence is required.
    if count >= 3:
        return prose == 0
    if count == 2:
        return prose == 0 and (len(rows) >= 2 or full == 0)
    # "diff 72.0 %": the lines of one cell.
    return len(rows) >= 2 and prose == 0 and full == 0 and all(labels) and 2 * sum(label[0].islower() for label in labels) < len(labels)


def _first_index(lines: list[CardLine], table: PrintedTable, index: int) -> int:
    """The index of the first line of the table; a first row without a label may have it on the lines above."""
    first = table.rows[0]
    if first.label is not None:
        return index
    label_lines: list[CardLine] = []
    at = index - 1
    while at >= 0 and len(label_lines) < _LABEL_LINES and lines[at].kind is None and not lines[at].text.endswith(_ENDS):
        line = lines[at]
        label_lines.insert(0, line)
        at -= 1
        if len(line.text) > 45 or line.text[:1].isupper():
            break
    if label_lines and label_lines[0].text[:1].isupper() and len(label_lines[0].text) <= 45:
        table.rows[0] = _with_label(first, label_lines)
        return at + 1
    return index


def _find_heads(lines: list[CardLine], first: int, width: int, *, is_spaced: bool) -> list[CardLine]:
    """The short lines right above the first row, up to what cannot be a head, or to an empty line unless there is one between rows too."""
    taken: list[CardLine] = []
    at = first - 1
    while at >= 0 and len(taken) < _HEAD_LINES:
        line = lines[at]
        if line.kind is PassageKind.FURNITURE:
            break
        goes_on = bool(taken) and line.text.endswith(":") and taken[0].text[:1].islower()
        if line.kind is not None or is_caption(line.text) or BULLET.match(line.text) or (line.text.endswith(_ENDS) and not goes_on):
            break
        if len(line.text) > 0.85 * width and taken:
            break
        taken.insert(0, line)
        at -= 1
        if lines[at + 1].gap and len(taken) > 0 and not is_spaced:
            break
    return taken


def align_table(table: PrintedTable, names: Sequence[str] = (), label: str | None = None) -> None:
    """Find the columns, unless their *names* are known; lines above the head of the labels are a title over all of them."""
    if names:
        table.columns = Columns(label, tuple(names), is_guessed=False)
        return
    texts = [line.text for line in table.heads]
    # Lines above the label's head are a title over all columns and would spoil the count of heads.
    first = next((index for index, text in enumerate(texts) if is_label(text.split(maxsplit=1)[0])), 0)
    if first and all(not is_label(text.split(maxsplit=1)[0]) for text in texts[:first]):
        table.title = " ".join(texts[:first])
    count = len(table.rows[0].cells)
    heads = [text for text in texts[first:] if not text.strip().isdigit()]
    table.columns = align_heads(heads, count) if heads else None
    # Between heads and the first row may be titles of groups, and rows of words: "Architecture Dense MoE Dense".
    while table.columns is None and len(heads) > 1 and _is_between(heads[-1], count):
        heads.pop()
        table.columns = align_heads(heads, count)
    if table.columns is None and first:
        table.title, table.columns = None, align_heads(texts, count)


def _is_between(text: str, count: int) -> bool:
    words = text.split()
    return len(words) <= min(_GROUP_WORDS, count - 1) or (len(words) == count + 1 > len(set(words)))
