"""An HTML page's readable text: blocks on lines of their own, and table rows whose cells keep their columns."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from registry.records.system_card import Heading

# Tabs before each cell of an HTML table, so that every cell keeps its column in plain text. Empty and spanned cells are
# kept as tabs; without them, columns cannot be told. Cost: the text of an HTML card with such cells differs from that
# of earlier versions.
#
# A cell over several columns or rows leaves the places it covers empty (HTML Living Standard, 4.9.12). A table within a
# cell is read as text of that cell.

_COLUMNS = 1_000
_ROWS = 65_534


@dataclass(slots=True)
class _OpenTable:
    covered: dict[int, int] = field(default_factory=dict)
    """For how many rows, this one included, each column is taken by a cell from above."""
    below: dict[int, int] = field(default_factory=dict)
    column: int = 0
    """Where the next cell may stand."""
    pen: int = 0
    """Where the last tab led to."""


class CellCounter:
    """Follows the tables of a page as their tags open and close."""

    def __init__(self) -> None:
        self._tables: list[_OpenTable] = []

    @property
    def is_nested(self) -> bool:
        """Whether what is read is in a table within a table."""
        return len(self._tables) > 1

    def open_table(self) -> None:
        """Begin a table."""
        self._tables.append(_OpenTable())

    def close_table(self) -> None:
        """End the table begun last."""
        if self._tables:
            self._tables.pop()

    def open_row(self) -> None:
        """Begin a row of the table."""
        if self._tables:
            table = self._tables[-1]
            table.covered = table.below
            table.below = {column: rows - 1 for column, rows in table.covered.items() if rows > 1}
            table.column = table.pen = 0

    def open_cell(self, columns: int, rows: int) -> int:
        """Return how many tabs are before a cell that takes so many *columns* and *rows*."""
        if not self._tables:
            return 0
        table = self._tables[-1]
        while table.column in table.covered:
            table.column += 1
        tabs, table.pen = table.column - table.pen, table.column
        for column in range(table.column, table.column + min(columns, _COLUMNS)):
            if rows > 1:
                table.below[column] = min(rows, _ROWS) - 1
        table.column += min(columns, _COLUMNS)
        # A page can state any span. The limits keep a hostile one from filling the memory with tabs.
        return min(tabs, _COLUMNS)

    def close_row(self) -> int:
        """Return how many tabs end the row: for columns that cells before or above it take."""
        if not self._tables:
            return 0
        table = self._tables[-1]
        while table.column in table.covered:
            table.column += 1
        return max(0, min(table.column - table.pen - 1, _COLUMNS))


def read_span(value: str | None) -> int:
    """Return the number of columns or rows that an attribute gives; 1 where it gives none that counts."""
    digits = (value or "").strip()[:6]
    return max(1, int(digits)) if digits.isascii() and digits.isdigit() else 1


# The readable text of an HTML page: blocks on their own lines, table rows on one line, nothing that does not show.

_DROPPED = frozenset(
    {
        "script",
        "style",
        "template",
        "noscript",
        "head",
        "svg",
        "math",
        "iframe",
        "object",
        "audio",
        "video",
        "canvas",
        "textarea",
        "select",
        "button",
        "nav",
        "footer",
        "-comment",
        "!doctype",
    }
)
_BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    }
)
_PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "blockquote", "pre", "section", "article"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_NO_SPAN = (1, 1)
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\n\r\f]+")


class _Writer:
    """The text so far; white space is folded as a browser does, except in `pre`."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self._pending = ""

    def write(self, text: str, *, is_preformatted: bool) -> None:
        folded = text.replace("\r\n", "\n") if is_preformatted else _SPACE.sub(" ", text)
        if not is_preformatted and folded.startswith(" "):
            self._pending = self._pending or " "
            folded = folded[1:]
        if not folded:
            return
        if self.length:
            self._append(self._pending)
        self._pending = ""
        if not is_preformatted and folded.endswith(" "):
            folded, self._pending = folded[:-1], " "
        self._append(folded)

    def break_with(self, separator: str) -> None:
        """Remember *separator*, the strongest wins: paragraph, line, cell, space."""
        order = ("", " ", "\t", "\n", "\n\n")
        # Nested blocks ask for several breaks at one place, and only the strongest is written.
        self._pending = max(self._pending, separator, key=order.index)

    def tab(self, count: int) -> None:
        """Write *count* tabs; the space before them is dropped, a line break is not."""
        if count and (self.length or self._pending):
            self._pending = "" if self._pending in (" ", "\t") else self._pending
        self.write("\t" * count, is_preformatted=True)

    def ends_in_digit(self) -> bool:
        """Return whether the last character written is a digit with nothing pending after it."""
        return not self._pending and bool(self.pieces) and self.pieces[-1][-1:].isdigit()

    def text_from(self, start: int) -> str:
        """Return what was written from the character at *start* on."""
        texts: list[str] = []
        at = self.length
        for piece in reversed(self.pieces):
            if at <= start:
                break
            at -= len(piece)
            texts.append(piece)
        return "".join(reversed(texts))[max(0, start - at) :]

    @property
    def next_start(self) -> int:
        """Where the next character written will be."""
        return self.length + (len(self._pending) if self.length else 0)

    def _append(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)


def read_hypertext(source: str) -> tuple[str, tuple[Heading, ...]]:
    """Return the text of an HTML page and its headings.

    Cells of a table row are separated by a tab; scripts, styles, comments and what is hidden by attribute or inline style are
    excluded. A raised number after a digit is written with a circumflex, since 10² is not 102.
    """
    root = LexborHTMLParser(source).root
    writer = _Writer()
    headings: list[Heading] = []
    if root is not None:
        _write_tree(root, writer, headings)
    return "".join(writer.pieces), tuple(headings)


_EXCLUDED_TAGS = {
    "script": "scripts",
    "noscript": "text for readers without scripts",
    "math": "formulas",
    "svg": "drawings",
    "iframe": "frames",
    "object": "embedded files",
    "nav": "navigation",
    "footer": "footers",
}
"""What is dropped and may have said something."""


def describe_excluded(source: str) -> tuple[str, ...]:
    """Return one warning that names what an HTML page has and its text has not; empty where nothing of weight is excluded."""
    parser = LexborHTMLParser(source)
    counts = {name: len(parser.css(tag)) for tag, name in _EXCLUDED_TAGS.items()}
    counts["hidden elements"] = sum(1 for node in parser.css("[hidden], [style]") if _is_dropped(node, ""))
    listing = ", ".join(f"{count:,} × {name}" for name, count in counts.items() if count)
    return (f"Excluded from the page, because it does not show or is no text: {listing}.",) if listing else ()


def _write_tree(root: LexborNode, writer: _Writer, headings: list[Heading]) -> None:
    heading_at: int | None = None
    preformatted = cells = 0
    counter = CellCounter()
    for is_opening, tag, text, spans in _walk(root):
        if text is not None:
            writer.write(text, is_preformatted=preformatted > 0)
            continue
        step = 1 if is_opening else -1
        preformatted += step * (tag == "pre")
        cells += step * (tag in ("td", "th"))
        if tag in _HEADINGS and not is_opening and heading_at is not None:
            title = " ".join(writer.text_from(heading_at).split())
            if title:
                headings.append(Heading(start=heading_at, title=title))
            heading_at = None
        if not is_opening:
            _count_cells(tag, counter, writer, spans, is_opening=False)
        _separate(tag, writer, is_opening=is_opening, in_cell=cells > 0)
        if is_opening:
            _count_cells(tag, counter, writer, spans, is_opening=True)
        if tag in _HEADINGS and is_opening:
            heading_at = writer.next_start


def _count_cells(tag: str, counter: CellCounter, writer: _Writer, spans: tuple[int, int], *, is_opening: bool) -> None:
    """Write the tabs that a cell or the end of a row needs."""
    if tag == "table":
        (counter.open_table if is_opening else counter.close_table)()
    elif tag == "tr":
        if is_opening:
            counter.open_row()
        elif not counter.is_nested:
            writer.tab(counter.close_row())
    elif tag in ("td", "th") and is_opening:
        tabs = counter.open_cell(*spans)
        if not counter.is_nested:
            writer.tab(tabs)


def _walk(root: LexborNode) -> Iterator[tuple[bool, str, str | None, tuple[int, int]]]:
    """Every shown element as it opens and closes, with the columns and rows it takes, and every text.

    Without recursion, since a page may nest deeper than calls.
    """
    stack: list[tuple[LexborNode, bool]] = [(root, True)]
    while stack:
        node, is_opening = stack.pop()
        tag = node.tag or ""
        if not is_opening:
            yield False, tag, None, _NO_SPAN
        elif tag == "-text":
            yield True, tag, node.text_content or "", _NO_SPAN
        elif not _is_dropped(node, tag):
            yield True, tag, None, _read_spans(node, tag)
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(list(node.iter(include_text=True))))


def _read_spans(node: LexborNode, tag: str) -> tuple[int, int]:
    if tag not in ("td", "th"):
        return _NO_SPAN
    attributes = node.attributes
    return read_span(attributes.get("colspan")), read_span(attributes.get("rowspan"))


def _is_dropped(node: LexborNode, tag: str) -> bool:
    if tag in _DROPPED:
        return True
    attributes = node.attributes
    return "hidden" in attributes or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None


def _separate(tag: str, writer: _Writer, *, is_opening: bool, in_cell: bool) -> None:
    if tag in ("td", "th"):
        writer.break_with(" ")
    elif tag == "br":
        writer.break_with(" " if in_cell else "\n")
    # 10² must not become 102.
    elif tag == "sup" and is_opening and writer.ends_in_digit():
        writer.write("^", is_preformatted=True)
    elif tag in _BLOCKS:
        inner = " " if in_cell else "\n\n" if tag in _PARAGRAPHS else "\n"
        writer.break_with(inner)
