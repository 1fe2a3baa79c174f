"""The blocks and tables of Markdown, HTML and tabbed sources, and tables as grids of cells under their heads."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from registry.intake.column_layout import SPAN
from registry.intake.outline.page_lines import PassageBlock, is_caption
from registry.intake.outline.printed_tables import align_heads, is_label
from registry.records.system_card import CardText, PassageKind, TableCell

# Tables in Markdown and HTML: rows of cells with their places in the source, and the heads above each.

_TAG = re.compile(r"<(?P<close>/?)(?P<name>table|thead|tbody|tfoot|tr|td|th|caption)\b(?P<attributes>[^<>]{0,2000})>", re.IGNORECASE)
_SPAN = re.compile(r"\b(?P<which>row|col)span\s*=\s*[\"']?(?P<count>\d{1,3})", re.IGNORECASE)
_DELIMITER = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*$")
_COLUMNS = 200
"""Columns of a table that are told apart; a span beyond is cut."""


@dataclass(slots=True)
class SourceCell:
    """A cell: where its content stands in the card, and how many columns and rows it covers."""

    start: int
    stop: int
    is_head: bool = False
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class SourceRow:
    """A row of a table in the source."""

    start: int
    stop: int
    cells: list[SourceCell] = field(default_factory=list)
    is_in_head: bool = False


@dataclass(slots=True)
class SourceTable:
    """A table in the source."""

    start: int
    stop: int
    rows: list[SourceRow] = field(default_factory=list)
    caption: tuple[int, int] | None = None


def is_delimiter(line: str) -> bool:
    """Return whether *line* is the second line of a Markdown table (GitHub Flavored Markdown, 4.10)."""
    return len(line) <= 4_000 and "-" in line and ("|" in line) and _DELIMITER.match(line) is not None


def read_pipe_table(lines: list[tuple[int, str]]) -> SourceTable:
    """Return the table of Markdown *lines* (start, text): the first its head, the second the delimiter."""
    table = SourceTable(lines[0][0], lines[-1][0] + len(lines[-1][1]))
    for index, (start, line) in enumerate(lines):
        if index != 1:
            table.rows.append(_read_pipe_row(start, line, is_head=index == 0))
    return table


def find_pipe_tables(text: str) -> list[SourceTable]:
    """Return the Markdown tables of a text that is no Markdown, such as a saved page."""
    lines = [(match.start(), match[0]) for match in re.finditer(r"[^\n\f]*", text) if match[0] or match.end() == match.start()]
    lines = [(start, line) for start, line in lines if line.strip()]
    tables: list[SourceTable] = []
    at = 1
    while at < len(lines):
        if is_delimiter(lines[at][1]) and "|" in lines[at - 1][1]:
            stop = at + 1
            while stop < len(lines) and "|" in lines[stop][1]:
                stop += 1
            tables.append(read_pipe_table(lines[at - 1 : stop]))
            at = stop
        at += 1
    return tables


def _read_pipe_row(start: int, line: str, *, is_head: bool) -> SourceRow:
    body = line.rstrip()
    row = SourceRow(start + len(body) - len(body.lstrip()), start + len(body), is_in_head=is_head)
    at = row.start - start + (1 if body.lstrip().startswith("|") else 0)
    for stop in _find_pipes(body, at):
        row.cells.append(SourceCell(start + at, start + stop, is_head))
        at = stop + 1
    if body[at:].strip():
        row.cells.append(SourceCell(start + at, start + len(body), is_head))
    return row


def _find_pipes(line: str, at: int) -> Iterator[int]:
    """Where the bars stand that part cells: those not escaped."""
    return (match.start() for match in re.finditer(r"(?<!\\)\|", line) if match.start() >= at)


_COMMENT = re.compile(r"<!--(?:(?!-->)[\s\S]){0,2000}-->")


def read_html_tables(text: str, start: int, stop: int) -> list[SourceTable]:
    """Return the tables that are between *start* and *stop*; one within another belongs to the cell it is in."""
    reader = _TableReader()
    # A cell in a comment is no cell.
    visible = _COMMENT.sub(lambda match: " " * len(match[0]), text[:stop])
    for match in _TAG.finditer(visible, start, stop):
        reader.take(match)
    reader.end_table(stop, stop)
    return reader.tables


class _TableReader:
    """Takes the tags of tables one by one; a row or cell that is not closed ends where the next begins."""

    def __init__(self) -> None:
        self.tables: list[SourceTable] = []
        self._table: SourceTable | None = None
        self._row: SourceRow | None = None
        self._cell: SourceCell | None = None
        self._depth = 0
        self._in_head = False

    def take(self, match: re.Match[str]) -> None:
        """Go on with the next tag."""
        name, is_close = match["name"].lower(), bool(match["close"])
        if name == "table":
            self._take_table(match, is_close=is_close)
        elif self._table is None or self._depth != 1:
            return
        elif name == "caption":
            self._take_caption(self._table, match, is_close=is_close)
        elif name in ("thead", "tbody", "tfoot"):
            self._in_head = name == "thead" and not is_close
        elif name == "tr":
            self._end_row(match.start(), match.end() if is_close else match.start())
            if not is_close:
                self._begin_row(self._table, match)
        else:
            self._take_cell(self._table, match, name, is_close=is_close)

    def end_table(self, at: int, stop: int) -> None:
        """End the table that is open, if one is."""
        if self._table is not None:
            self._end_row(at, at)
            self._table.stop, self._table = stop, None

    def _take_table(self, match: re.Match[str], *, is_close: bool) -> None:
        self._depth = max(0, self._depth + (-1 if is_close else 1))
        if is_close and self._depth == 0:
            self.end_table(match.start(), match.end())
        elif not is_close and self._depth == 1:
            self._table, self._in_head = SourceTable(match.start(), match.end()), False
            self.tables.append(self._table)

    def _take_caption(self, table: SourceTable, match: re.Match[str], *, is_close: bool) -> None:
        if not is_close:
            table.caption = (match.end(), match.end())
        elif table.caption is not None:
            table.caption = (table.caption[0], match.start())

    def _take_cell(self, table: SourceTable, match: re.Match[str], name: str, *, is_close: bool) -> None:
        # HTML allows cells and rows without end tags; each ends where the next begins.
        self._end_cell(match.start())
        row = self._row if self._row is not None or is_close else self._begin_row(table, match)
        if row is not None:
            row.stop = match.end()
            if not is_close:
                self._cell = _open_cell(match, name)
                row.cells.append(self._cell)

    def _begin_row(self, table: SourceTable, match: re.Match[str]) -> SourceRow:
        self._row = SourceRow(match.start(), match.end(), is_in_head=self._in_head)
        table.rows.append(self._row)
        return self._row

    def _end_row(self, at: int, stop: int) -> None:
        self._end_cell(at)
        if self._row is not None:
            self._row.stop, self._row = max(self._row.stop, stop), None

    def _end_cell(self, at: int) -> None:
        if self._cell is not None:
            self._cell.stop, self._cell = at, None
            if self._row is not None:
                self._row.stop = max(self._row.stop, at)


def _open_cell(match: re.Match[str], name: str) -> SourceCell:
    spans = {span["which"].lower(): int(span["count"]) for span in _SPAN.finditer(match["attributes"])}
    columns = min(max(1, spans.get("col", 1)), _COLUMNS)
    return SourceCell(match.end(), match.end(), name == "th", columns, min(max(1, spans.get("row", 1)), 1_000))


# Blocks of a Markdown source: paragraphs, list items, captions, footnotes, headings, and the places of tables.
#
# This reads CommonMark's block structure and keeps every place in the source. Code fences are left out, since code
# makes no claims. Raw HTML is data: its block tags separate paragraphs, its scripts and styles are not read.

_FENCE = re.compile(r"[ \t]{0,20}(`{3,}|~{3,})")
_DIRECTIVE = re.compile(r"[ \t]{0,3}:{3,}[ \t]*(?P<name>[A-Za-z][\w-]{0,40})?")
_ITEM = re.compile(r"[ \t]{0,40}(?:[-*+\u2022\u25cf\u25cb\u25aa]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])[ \t]+(?=\S)")
_NOTE = re.compile(r"[ \t]{0,3}\[\^[^\]\s]{1,40}\]:")
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-+)[ \t]*$")
_QUOTATION = re.compile(r"[ \t]{0,3}>[ \t]?(?:[ \t]{0,3}>[ \t]?){0,20}")
_DEFINITION = re.compile(r"[ \t]{0,3}\[[^\[\]^\n]{1,200}\]:[ \t]*<?(?:https?://|/|#|mailto:)\S{1,2000}[ \t]*(?:\"[^\"]{0,300}\")?[ \t]*$")
_RULE = re.compile(r"[ \t]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_NOTHING = re.compile(
    r"(?:\s|<!--(?:(?!-->)[\s\S]){0,2000}-->|!\[[^\[\]\n]{0,500}\]\([^()\n]{0,2000}\)|</?[A-Za-z][^<>]{0,2000}>|&nbsp;)*$"
)
_PAGE_MARK = re.compile(r"\s*<!--[ \t]*(?:p\.?|page)[ \t]*\d{1,5}[ \t]*-->\s*$", re.IGNORECASE)
_RAW = re.compile(
    r"<(?P<close>/?)(?P<name>script|style|template|noscript|svg|math|textarea)\b[^<>]{0,2000}>|(?P<table><table\b)|(?P<end></table\s*>)",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"<(?P<close>/?)(?P<name>p|div|br|li|ul|ol|h[1-6]|details|summary|blockquote|center|section|article|hr|pre|figure|figcaption|dl|dt|dd)"
    r"\b[^<>]{0,2000}>",
    re.IGNORECASE,
)
_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n")
_MATTER_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)


@dataclass(slots=True)
class MarkdownSource:
    """What a Markdown source consists of."""

    blocks: list[PassageBlock] = field(default_factory=list)
    tables: list[SourceTable] = field(default_factory=list)
    excluded: dict[str, int] = field(default_factory=dict)
    """How many of what was not read: "code block", "script", "front matter"."""

    def leave_out(self, what: str) -> None:
        """Count one more of *what* as not read."""
        self.excluded[what] = self.excluded.get(what, 0) + 1


@dataclass(slots=True)
class _State:
    source: MarkdownSource
    text: str
    open_block: PassageBlock | None = None
    was_blank: bool = False
    was_page_mark: bool = False
    directive: str | None = None
    """The name of the `:::` container that is open."""

    def flush(self) -> None:
        """End the open block."""
        self.open_block = None
        self.was_blank = self.was_page_mark = False

    def add(self, kind: PassageKind | None, start: int, stop: int) -> None:
        """Add a span to the open block, or begin one of *kind*."""
        if self.open_block is None:
            kind = kind or PassageKind.SENTENCE
            self.open_block = PassageBlock(kind, [], is_split=kind is not PassageKind.HEADING)
            self.source.blocks.append(self.open_block)
        text = self.text[start:stop]
        self.open_block.spans.append((start + len(text) - len(text.lstrip()), stop))

    def goes_on(self, line: str) -> bool:
        """Whether *line* continues the sentence that a page mark interrupted."""
        if self.open_block is None or not line.lstrip()[:1].islower():
            return False
        return self.text[self.open_block.spans[-1][1] - 1] not in ".!?:;"


def read_source(card: CardText) -> MarkdownSource:
    """Return the blocks and tables of a Markdown card, in order each."""
    source = MarkdownSource()
    state = _State(source, card.text)
    heading_starts = {heading.start for heading in card.headings}
    at = _skip_matter(card.text, source)
    for start, stop in _find_prose(card.text, at, source):
        state.flush()
        _read_lines(card.text, start, stop, state, heading_starts)
    return source


def _skip_matter(text: str, source: MarkdownSource) -> int:
    opening = _MATTER.match(text)
    end = _MATTER_END.search(text, opening.end(), opening.end() + 100_000) if opening else None
    if end is None:
        return 0
    source.leave_out("front matter")
    return end.end()


def _find_prose(text: str, at: int, source: MarkdownSource) -> Iterator[tuple[int, int]]:
    """The stretches between raw tables, scripts and styles; the tables are read on the way."""
    depth, opened, kind = 0, at, ""
    for match in _RAW.finditer(text, at):
        name = "table" if match["table"] or match["end"] else match["name"].lower()
        is_close = bool(match["end"] or match["close"])
        # Inside a script or table only its own end tag counts.
        if kind and name != kind:
            continue
        if not is_close:
            if depth == 0:
                yield at, match.start()
                opened, kind = match.start(), name
            depth += 1
        elif depth:
            depth -= 1 if name == "table" else depth
            if depth == 0:
                at, kind = match.end(), ""
                _take(text, name, opened, at, source)
    if depth and kind == "table":
        _take(text, kind, opened, len(text), source)
    else:
        yield (opened if depth else at), len(text)


def _take(text: str, name: str, start: int, stop: int, source: MarkdownSource) -> None:
    if name == "table":
        source.leave_out("raw HTML")
        source.tables += read_html_tables(text, start, stop)
    else:
        source.leave_out(name.lower())


def _read_lines(text: str, start: int, stop: int, state: _State, heading_starts: set[int]) -> None:
    lines = [_strip_quotation(at, line) for at, line in _lines(text, start, stop)]
    fence: str | None = None
    index = 0
    while index < len(lines):
        at, line = lines[index]
        opening = _FENCE.match(line)
        if fence is not None:
            fence = None if opening and opening[1].startswith(fence) else fence
        elif opening:
            state.flush()
            state.source.leave_out("code block")
            fence = opening[1]
        elif "|" in line and index + 1 < len(lines) and is_delimiter(lines[index + 1][1]):
            index = _read_pipes(lines, index, state)
            continue
        else:
            _read_line(at, line, state, is_heading=at in heading_starts)
        index += 1


def _strip_quotation(at: int, line: str) -> tuple[int, str]:
    """The line without the signs of a block quotation before it."""
    match = _QUOTATION.match(line)
    return (at + match.end(), line[match.end() :]) if match else (at, line)


def _lines(text: str, start: int, stop: int) -> list[tuple[int, str]]:
    lines, at = [], start
    for line in text[start:stop].splitlines(keepends=True):
        lines.append((at, line.rstrip("\r\n")))
        at += len(line)
    return lines


def _read_pipes(lines: list[tuple[int, str]], index: int, state: _State) -> int:
    stop = index + 2
    while stop < len(lines) and "|" in lines[stop][1] and lines[stop][1].strip():
        stop += 1
    state.flush()
    state.source.tables.append(read_pipe_table(lines[index:stop]))
    return stop


def _read_line(at: int, line: str, state: _State, *, is_heading: bool) -> None:
    directive = _DIRECTIVE.match(line)
    if _PAGE_MARK.match(line[:100]) and len(line) < 100:
        state.was_page_mark = True
    elif directive is not None:
        state.flush()
        state.directive = directive["name"]
    elif is_heading:
        state.flush()
        state.add(PassageKind.HEADING, at, at + len(line))
        state.flush()
    elif not line.strip():
        state.was_blank = True
    elif _RULE.match(line) or (_UNDERLINE.match(line) and not state.was_blank) or _says_nothing(line):
        state.flush()
    else:
        _read_text(at, line, state)


def _says_nothing(line: str) -> bool:
    """Whether a line has markup alone: an image, a comment, tags, or where a link leads."""
    return len(line) < 5_000 and (_NOTHING.match(line) is not None or _DEFINITION.match(line) is not None)


def _read_text(at: int, line: str, state: _State) -> None:
    """A line of a paragraph or list item; block tags in it part what stands before and after."""
    # A page mark with blank lines around it may be in the middle of a sentence, which then continues in lower case.
    if state.was_blank and not (state.was_page_mark and state.goes_on(line)):
        state.flush()
    state.was_blank = state.was_page_mark = False
    kind = _start_kind(line, state)
    note = _NOTE.match(line) if kind is PassageKind.FOOTNOTE else None
    start = note.end() if note is not None else 0
    for match in _BREAK.finditer(line):
        if line[start : match.start()].strip():
            state.add(kind, at + start, at + match.start())
        state.flush()
        start, kind = match.end(), PassageKind.ITEM if match["name"].lower() == "li" and not match["close"] else PassageKind.SENTENCE
        if state.directive == "caption":
            kind = PassageKind.CAPTION
    if line[start:].strip():
        state.add(kind, at + start, at + len(line))


def _start_kind(line: str, state: _State) -> PassageKind | None:
    """What begins with *line*; None where it goes on with what is open."""
    if state.directive == "caption":
        return None if state.open_block is not None else PassageKind.CAPTION
    if _NOTE.match(line):
        state.flush()
        return PassageKind.FOOTNOTE
    if _ITEM.match(line):
        state.flush()
        return PassageKind.ITEM
    if is_caption(line.lstrip("*_> \t")):
        state.flush()
        return PassageKind.CAPTION
    return None


# Tables in text with tabs between cells, one row a line: an HTML page as it was read, or a pasted spreadsheet.


def find_tabbed_tables(text: str) -> list[SourceTable]:
    """Return the runs of lines with tabs in *text* as tables; a cell of the upper heads covers the empty ones after it."""
    tables = _find_tabbed(text, most_between=0)
    for table in tables:
        _span_heads(text, table)
    return tables


def find_printed_tables(text: str) -> list[SourceTable]:
    """Return the tables of a printed card with columns that the extractor wrote as tabs (registry/intake/column_layout.py).

    Lines above the first figures are heads. Short lines between rows of equal width name the rows below them.
    """
    tables = _find_tabbed(text, most_between=_MOST_BETWEEN)
    for table in tables:
        for row in table.rows:
            if _is_settled(row, text):
                break
            row.is_in_head = True
        if not table.rows[0].is_in_head:
            _add_worded_heads(table, text)
    return [table for table in tables if not table.rows[-1].is_in_head]


def _add_worded_heads(table: SourceTable, text: str) -> None:
    """Add the line above as heads if it has one for each column behind that of the labels: not all are set above their figures."""
    count = _count_columns(table.rows[0])
    between: list[tuple[int, str]] = []
    stop = table.start
    while len(between) <= _MOST_BETWEEN and stop > 0:
        start = text.rfind("\n", 0, stop - 1) + 1
        line, stop = text[start : stop - 1], start
        columns = align_heads([line], count - 1)
        if columns is not None and columns.label is not None and is_label(columns.label):
            head = SourceRow(start, start + len(line), is_in_head=True)
            at = 0
            for name in (columns.label, *columns.names):
                at = line.index(name, at)
                head.cells.append(SourceCell(start + at, start + at + len(name), is_head=True))
                at += len(name)
            table.rows[:0] = [head, *([_build_group(between, count)] if between else [])]
            table.start = start
            return
        if not line.strip() or not _may_name_rows(line):
            return
        between.insert(0, (start, line))


def _is_settled(row: SourceRow, text: str) -> bool:
    """Whether a line is a row and no head.

    Without a label it may end the names in a head: what begins with a hyphen ("-27B-IT") does, and so do numbers among more names ("0513").
    """
    label, *texts = (text[cell.start : cell.stop].strip() for cell in row.cells)
    settled = [word for word in texts if _SETTLED.match(word) and (label or not _GOES_ON.match(word))]
    return bool(settled) and (bool(label) or 2 * len(settled) >= sum(map(bool, texts)))


_GOES_ON = re.compile(r"[-–](?:\d{4}-\d\d(?:-\d\d)?\b|\w{0,8}[A-Za-z])")
_MOST_BETWEEN = 3
_SHORT = 48
_TABBED_LINE = re.compile(r"[^\n\f]*")
_SETTLED = re.compile(r"[<>≤≥~≈±(]?\s?[-+−]?[$€£]?\d[\d.,]*(?!\w*[A-Za-z]{2})|(?:N/?A|n/a|[-–—−]{1,3}|✓|✗|✔|✘)$")
"""How the cell of a row begins that is no head: a figure, or a sign for none."""


def _find_tabbed(text: str, *, most_between: int) -> list[SourceTable]:
    tables: list[SourceTable] = []
    between: list[tuple[int, str]] = []
    is_open = False
    at = 0
    while at <= len(text):
        line = _TABBED_LINE.match(text, at)[0]  # type: ignore[index]  # it matches the empty line too
        if "\t" in line.strip(" \r"):
            row = _read_row(at, line)
            if is_open and between and _count_columns(row) != _count_columns(tables[-1].rows[-1]):
                is_open = False
            if not is_open:
                tables.append(SourceTable(at, at))
            elif between:
                tables[-1].rows.append(_build_group(between, _count_columns(row)))
            tables[-1].rows.append(row)
            tables[-1].stop = at + len(line)
            is_open, between = True, []
        elif line.strip():
            between.append((at, line))
            is_open = is_open and len(between) <= most_between and _may_name_rows(line)
        at += len(line) + 1
    return [table for table in tables if any(len(row.cells) > 1 for row in table.rows)]


def _may_name_rows(line: str) -> bool:
    return len(line) <= _SHORT and not line.rstrip().endswith((".", ":", ";")) and not _CAPTION.match(line)


_CAPTION = re.compile(r"(?:Table|Figure|Fig\.)\s+\w{0,3}\d", re.IGNORECASE)


def _count_columns(row: SourceRow) -> int:
    return sum(cell.columns for cell in row.cells)


def _build_group(lines: list[tuple[int, str]], columns: int) -> SourceRow:
    """Lines that name the rows below them, as a row of one cell."""
    start, stop = lines[0][0], lines[-1][0] + len(lines[-1][1])
    return SourceRow(start, stop, [SourceCell(start, stop, columns=columns)])


def _read_row(at: int, line: str) -> SourceRow:
    row = SourceRow(at, at + len(line))
    start = 0
    for piece in line.split("\t"):
        if piece == SPAN and row.cells:
            row.cells[-1].columns += 1
        else:
            row.cells.append(SourceCell(at + start, at + start + len(piece)))
        start += len(piece) + 1
    shown = line.strip()
    row.start = at + line.index(shown)
    row.stop = row.start + len(shown)
    return row


def _span_heads(text: str, table: SourceTable) -> None:
    """Let heads cover the empty cells after them, where several rows of heads stand above each other.

    A further row of heads says nothing in its first column and has no figures; rows below it do.
    """
    # A spreadsheet spans a head by leaving the cells after it empty.
    count = 1
    while count < len(table.rows) and not _says(text, table.rows[count].cells[0]) and not _has_figures(text, table.rows[count]):
        count += 1
    if count == 1 or count == len(table.rows) or _has_figures(text, table.rows[0]):
        return
    is_label_wide = len(table.rows[0].cells) > 1 and not any(_says_at(text, row, 1) for row in table.rows[:count])
    for row in table.rows[:count]:
        row.is_in_head = True
        kept: list[SourceCell] = []
        for cell in row.cells:
            is_covered = _says(text, kept[-1]) and not _says(text, cell) if kept else False
            if is_covered and (len(kept) > 1 or is_label_wide):
                kept[-1].columns += 1
            else:
                kept.append(cell)
        row.cells = kept


def _says_at(text: str, row: SourceRow, column: int) -> bool:
    return column < len(row.cells) and _says(text, row.cells[column])


def _says(text: str, cell: SourceCell) -> bool:
    return bool(text[cell.start : cell.stop].strip())


def _has_figures(text: str, row: SourceRow) -> bool:
    return any(text[cell.start : cell.stop].strip()[:1].isdigit() for cell in row.cells)


# A table as a grid: its heads, and the heads above every cell.


@dataclass(frozen=True, slots=True)
class GridCell:
    """What stands at one place of the grid."""

    text: str
    is_head: bool
    is_first: bool
    """Whether the cell begins at this column; a cell over several columns does so only once."""
    is_own: bool
    """Whether the cell begins at this row."""


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row with its heads applied."""

    row: SourceRow
    is_head: bool
    cells: tuple[TableCell, ...]


def read_grid(table: SourceTable, read_words: Callable[[int, int], str]) -> list[GridRow]:
    """Return the rows of *table*, each cell readable and under what the heads above it say.

    Rows of `th` cells, rows of `thead`, and the first row where no other is a head are heads; so is a row that says one thing over
    all columns, which then is above the labels of the rows below it.
    """
    grid = _lay_out(table, read_words)
    heads = _find_head_rows(table, grid)
    rows: list[GridRow] = []
    names: list[list[str]] = []
    group: str | None = None
    last_labels: list[str] = []
    for index, (row, places) in enumerate(zip(table.rows, grid, strict=True)):
        title = _read_group(places) if index not in heads else None
        # Heads after rows begin a new part of the table, and the earlier heads no longer apply.
        if index in heads and not (rows and not rows[-1].is_head):
            _add_names(names, places)
        elif index in heads:
            names, group = [], None
            _add_names(names, places)
        elif title is not None:
            group = title
        if index in heads or title is not None:
            rows.append(GridRow(row, is_head=True, cells=()))
            continue
        cells = _name_cells(places, names, group, last_labels)
        rows.append(GridRow(row, is_head=False, cells=cells))
    return rows


def _lay_out(table: SourceTable, read_words: Callable[[int, int], str]) -> list[list[GridCell | None]]:
    """Every row as places from left to right; spans fill the places they cover (HTML Living Standard, 4.9.12)."""
    grid: list[list[GridCell | None]] = []
    pending: dict[int, tuple[int, GridCell]] = {}
    for row in table.rows:
        places: list[GridCell | None] = []
        following: dict[int, tuple[int, GridCell]] = {}
        waiting = list(row.cells)
        column = 0
        while (waiting or any(at >= column for at in pending)) and column < _COLUMNS:
            if column in pending:
                left, above = pending[column]
                places.append(above)
                if left > 1:
                    following[column] = (left - 1, above)
                column += 1
                continue
            if not waiting:
                places.append(None)
                column += 1
                continue
            cell = waiting.pop(0)
            text = read_words(cell.start, cell.stop)
            for offset in range(cell.columns):
                places.append(GridCell(text, cell.is_head, is_first=offset == 0, is_own=True))
                if cell.rows > 1:
                    below = GridCell(text, cell.is_head, is_first=offset == 0, is_own=False)
                    following[column + offset] = (cell.rows - 1, below)
            column += cell.columns
        grid.append(places[:_COLUMNS])
        pending = following
    return grid


def _find_head_rows(table: SourceTable, grid: list[list[GridCell | None]]) -> set[int]:
    heads = {index for index, (row, places) in enumerate(zip(table.rows, grid, strict=True)) if row.is_in_head or _is_all_heads(places)}
    if not heads and len(grid) > 1 and not _has_grid_figures(grid[0]):
        heads.add(0)
    index = 0
    while index in heads:
        index += 1
    # A converter that has no heads writes an empty row for them, or one with the words above the table: then the next row may be them.
    above = sum(len(_list_texts(places)) for places in grid[:index])
    if 0 < index < len(grid) and _is_named(grid[index]) and (not above or (above == 1 and len(_list_texts(grid[index])) > _FEW)):
        heads.add(index)
        index += 1
    # An unmarked second row of heads has nothing in its first column, words only, and spanned columns above it.
    if (0 < index < len(grid) and _spans(grid[index - 1]) and not _text(grid[index], 0) and not _has_grid_figures(grid[index])) or (
        0 < index < len(grid) and _spans(grid[index - 1]) and not _text(grid[index], 0) and _is_named(grid[index])
    ):
        heads.add(index)
    return heads


_FEW = 2


def _list_texts(places: Sequence[GridCell | None]) -> list[str]:
    return [place.text for place in places if place is not None and place.text]


def _is_named(places: Sequence[GridCell | None]) -> bool:
    """Whether every cell that says something begins with a letter: names with versions, and no values."""
    texts = _list_texts(places)
    return bool(texts) and all(text[0].isalpha() for text in texts)


def _is_all_heads(places: Sequence[GridCell | None]) -> bool:
    cells = [place for place in places if place is not None and place.text]
    return bool(cells) and all(place.is_head for place in cells)


def _has_grid_figures(places: Sequence[GridCell | None]) -> bool:
    return any(place is not None and place.text[:1].isdigit() for place in places)


def _spans(places: Sequence[GridCell | None]) -> bool:
    return any(place is not None and not place.is_first for place in places)


def _text(places: Sequence[GridCell | None], column: int) -> str:
    place = places[column] if column < len(places) else None
    return place.text if place is not None else ""


def _read_group(places: Sequence[GridCell | None]) -> str | None:
    """What a row says that only names those below it: one cell over all columns, or the first alone with none beside it."""
    cells = [place for place in places if place is not None and place.text and place.is_first]
    # A single cell over all columns names the rows below it. It claims nothing by itself.
    is_alone = len(cells) == 1 and cells[0].is_own and len(places) > 1
    if is_alone and (places[0] is cells[0]) and not cells[0].text[:1].isdigit():
        return cells[0].text
    return None


def _add_names(names: list[list[str]], places: Sequence[GridCell | None]) -> None:
    for column, place in enumerate(places):
        while len(names) <= column:
            names.append([])
        if place is not None and place.text and place.text not in names[column]:
            names[column].append(place.text)


def _name_cells(
    places: Sequence[GridCell | None], names: list[list[str]], group: str | None, last_labels: list[str]
) -> tuple[TableCell, ...]:
    cells: list[TableCell] = []
    is_leading = True
    for column, place in enumerate(places):
        text = place.text if place is not None else ""
        # A name with a hyphen at the break of its lines is one name: "Qwen2.5-72B" over "-Instruct".
        name = re.sub(r" -|(?<=\w)- ", "-", " ".join(names[column])) if column < len(names) else ""
        if place is not None and not place.is_first and cells and cells[-1].column == (name or None):
            continue  # one cell under one head, however many columns both take
        has_more = any(_text(places, other) and not _text(places, other)[0].isdigit() for other in range(column + 1, len(places)))
        # An empty first cell under a label repeats that label, as printed tables do.
        if is_leading and not text and has_more and column < len(last_labels):
            text = last_labels[column]
        else:
            is_leading = is_leading and not text
        if column < 1 or is_leading:
            last_labels[column : column + 1] = [text]
        if column == 0 and group is not None:
            name = f"{name} {group}".strip()
        cells.append(TableCell(text=text, column=name or None))
    return tuple(cells)
