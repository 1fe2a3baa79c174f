"""The blocks of a Markdown source: paragraphs, list items, captions, footnotes, headings, and where its tables stand.

A reading of CommonMark's block structure that keeps every place in the source; what is inside code fences is left out, since
code states nothing, and raw HTML is data: its block tags part paragraphs, its scripts and styles are not read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from registry.intake.outline.blocks import Block
from registry.intake.outline.printed import is_caption
from registry.intake.outline.tables_markup import SourceTable, is_delimiter, read_html_tables, read_pipe_table
from registry.records.card import CardText
from registry.records.passage import PassageKind

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
class Source:
    """What a Markdown source consists of."""

    blocks: list[Block] = field(default_factory=list)
    tables: list[SourceTable] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    """How many of what was not read: "code block", "script", "front matter"."""

    def leave_out(self, what: str) -> None:
        """Count one more of *what* as not read."""
        self.left_out[what] = self.left_out.get(what, 0) + 1


@dataclass(slots=True)
class _State:
    source: Source
    text: str
    open_block: Block | None = None
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
            self.open_block = Block(kind, [], is_split=kind is not PassageKind.HEADING)
            self.source.blocks.append(self.open_block)
        shown = self.text[start:stop]
        self.open_block.spans.append((start + len(shown) - len(shown.lstrip()), stop))

    def goes_on(self, line: str) -> bool:
        """Whether *line* continues the sentence that a page mark interrupted."""
        if self.open_block is None or not line.lstrip()[:1].islower():
            return False
        return self.text[self.open_block.spans[-1][1] - 1] not in ".!?:;"


def read_source(card: CardText) -> Source:
    """Return the blocks and tables of a Markdown card, in order each."""
    source = Source()
    state = _State(source, card.text)
    heading_starts = {heading.start for heading in card.headings}
    at = _skip_matter(card.text, source)
    for start, stop in _find_prose(card.text, at, source):
        state.flush()
        _read_lines(card.text, start, stop, state, heading_starts)
    return source


def _skip_matter(text: str, source: Source) -> int:
    opening = _MATTER.match(text)
    end = _MATTER_END.search(text, opening.end(), opening.end() + 100_000) if opening else None
    if end is None:
        return 0
    source.leave_out("front matter")
    return end.end()


def _find_prose(text: str, at: int, source: Source) -> Iterator[tuple[int, int]]:
    """The stretches between raw tables, scripts and styles; the tables are read on the way."""
    depth, opened, kind = 0, at, ""
    for found in _RAW.finditer(text, at):
        name = "table" if found["table"] or found["end"] else found["name"].lower()
        is_close = bool(found["end"] or found["close"])
        if kind and name != kind:
            continue
        if not is_close:
            if depth == 0:
                yield at, found.start()
                opened, kind = found.start(), name
            depth += 1
        elif depth:
            depth -= 1 if name == "table" else depth
            if depth == 0:
                at, kind = found.end(), ""
                _take(text, name, opened, at, source)
    if depth and kind == "table":
        _take(text, kind, opened, len(text), source)
    else:
        yield (opened if depth else at), len(text)


def _take(text: str, name: str, start: int, stop: int, source: Source) -> None:
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
    found = _QUOTATION.match(line)
    return (at + found.end(), line[found.end() :]) if found else (at, line)


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
    if state.was_blank and not (state.was_page_mark and state.goes_on(line)):
        state.flush()
    state.was_blank = state.was_page_mark = False
    kind = _start_kind(line, state)
    note = _NOTE.match(line) if kind is PassageKind.FOOTNOTE else None
    start = note.end() if note is not None else 0
    for found in _BREAK.finditer(line):
        if line[start : found.start()].strip():
            state.add(kind, at + start, at + found.start())
        state.flush()
        start, kind = found.end(), PassageKind.ITEM if found["name"].lower() == "li" and not found["close"] else PassageKind.SENTENCE
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
