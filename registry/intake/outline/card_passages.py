"""A card's text read into passages, with warnings about its language and layout."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from registry.intake.outline.loose_tables import find_loose_tables
from registry.intake.outline.markup_source import (
    SourceTable,
    find_pipe_tables,
    find_printed_tables,
    find_tabbed_tables,
    read_grid,
    read_source,
)
from registry.intake.outline.page_lines import (
    CardLine,
    PageFinder,
    PassageBlock,
    build_blocks,
    build_single_blocks,
    find_numbered,
    has_pages,
    mark_contents,
    mark_declared,
    mark_footnotes,
    mark_furniture,
    mark_undeclared,
    match_captions,
    measure_width,
    read_lines,
)
from registry.intake.outline.passage_sentences import PassageReader, split_sentences
from registry.intake.outline.printed_tables import PrintedRow, PrintedTable, find_cells, find_tables
from registry.records.system_card import CardText, Heading, MediaType, Outline, Passage, PassageKind, TableCell

# Script and language of a card, and pages whose text may be out of order. Rules that read English should not be trusted
# there, and the notes say so.

_SCRIPTS = (
    ("Arabic", r"\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc"),
    ("Hebrew", r"\u0590-\u05ff\ufb1d-\ufb4f"),
    ("Cyrillic", r"\u0400-\u052f"),
    ("Greek", r"\u0370-\u03ff\u1f00-\u1fff"),
    ("Chinese", r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"),
    ("Japanese", r"\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"),
    ("Korean", r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"),
    ("Devanagari", r"\u0900-\u097f"),
    ("other Indian", r"\u0980-\u0dff"),
    ("Thai", r"\u0e00-\u0e7f"),
)
_RIGHT_TO_LEFT = frozenset({"Arabic", "Hebrew"})
_LETTER = re.compile(r"[^\W\d_]")
_COMMON = re.compile(r"\b(?:the|of|and|to|in|is|that|for|with|we|are|this|on|as|by)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPACED = re.compile(r"(?<!\S)(?:[^\W\d_]\s{1,3}){7,}[^\W\d_](?!\S)")
_BROKEN = re.compile(r"[a-z]{2,20}- (?!and\b|or\b|to\b|vs\b|nor\b|but\b)[A-Za-z]{2,20}")
_APART = re.compile(r"^[ \t]*\S[^\n\f]{15,70}?\S[ \t]{3,40}\S[^\n\f]{15,90}$", re.MULTILINE)
_FIGURES = re.compile(r"\d[\d.,]*\s*%?(?=\s|$)")
_SAMPLE = 2_000_000
_LEAST_SHARE = 0.05
_LEAST_ENGLISH = 0.06


def describe_language(text: str) -> tuple[str, ...]:
    """Return a sentence for each script next to the Latin one with 5 % of the letters, or one if the words are not English."""
    sample = text[:_SAMPLE]
    letters = len(_LETTER.findall(sample))
    if not letters:
        return ()
    counts = {name: len(re.findall(rf"(?=[^\W\d_])[{ranges}]", sample)) for name, ranges in _SCRIPTS} if not sample.isascii() else {}
    foreign = [
        f"{count / letters:.0%} of the letters are in {name} script{_turn(name)}; rules read English, this was read as text only."
        for name, count in counts.items()
        if count >= _LEAST_SHARE * letters
    ]
    if foreign:
        return tuple(foreign)
    # Short texts, such as tables, have few common words in any language, so they are not judged.
    words = len(_WORD.findall(sample))
    share = len(_COMMON.findall(sample)) / words if words else 1
    if words >= 200 and share < _LEAST_ENGLISH:
        return (f"The text does not read like English ({share:.0%} of its words are common English ones); rules read English.",)
    return ()


def _turn(name: str) -> str:
    return ", which reads from right to left" if name in _RIGHT_TO_LEFT else ""


def describe_layout(card: CardText) -> tuple[str, ...]:
    """Return a sentence for pages with lines that seem to run across columns, and one for pages with letter-spaced text."""
    columns: list[int] = []
    spaced: list[int] = []
    for page in card.pages:
        text = card.text[page.start : page.stop]
        if has_columns(text):
            columns.append(page.number)
        if _SPACED.search(text):
            spaced.append(page.number)
    notes = []
    if columns:
        notes.append(f"{_name(card, columns)} two columns, and their lines may be mixed: do not trust sentences there.")
    if spaced:
        notes.append(f"{_name(card, spaced)} letter-spaced text, which was closed up.")
    return tuple(notes)


_PER_CENT = re.compile(r"^\W{0,3}(?P<value>\d{1,7}(?:\.\d{1,6})?)\s?%\W{0,3}$")
_BARE = re.compile(r"^\W{0,3}(?P<value>\d{1,7}(?:\.\d{1,6})?)[^\w%]{0,3}$")
_PORTION = re.compile(r"\b(?:shares?|fractions?|proportions?|probabilit(?:y|ies)|AUROC|AUC)\b(?!.*(?:%|per\s?cent|points))", re.IGNORECASE)
_MAY_EXCEED = re.compile(r"\b(?:chang|increas|gain|improv|growth|relative|compared|speed|overhead|uplift|baseline|vs)", re.IGNORECASE)
_MOST_NAMED = 3


def describe_scales(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return a sentence for cells with a share above 1 or above 100 %: a misprint, or a head that was read wrongly."""
    outside = []
    for row in passages:
        around = " ".join(cell.text for cell in row.cells if _BARE.match(cell.text) is None) + (row.caption or "")
        for cell in row.cells:
            head = cell.column or ""
            if _MAY_EXCEED.search(head) or _MAY_EXCEED.search(around):
                continue
            percentage, bare = _PER_CENT.match(cell.text), _BARE.match(cell.text)
            if (percentage and float(percentage["value"]) > 100) or (bare and _PORTION.search(head) and float(bare["value"]) > 1):
                place = f"page {row.page}, " if row.page else ""
                outside.append(f"{place}{row.cells[0].text[:40]}: {head[:40]} {cell.text.strip()}")
    if not outside:
        return ()
    named = "; ".join(" ".join(text.split()) for text in outside[:_MOST_NAMED])
    more = f"; and {len(outside) - _MOST_NAMED:,} more" if len(outside) > _MOST_NAMED else ""
    noun = "figure of a table is outside its scale" if len(outside) == 1 else "figures of tables are outside their scale"
    return (f"{len(outside):,} {noun} (a share above 1): {named}{more}. Compare with the page.",)


def has_columns(text: str) -> bool:
    """Return whether the lines of a page seem to run across two columns of prose.

    Either many lines have a wide gap between words on both sides, or words are broken in the midst of lines: the left column's
    line ends with a hyphen, and the right column's goes on after it.
    """
    lines = text.count("\n") + 1
    # Lines with several figures are rows of a table and not two columns of prose.
    apart = [match[0] for match in _APART.finditer(text) if len(_FIGURES.findall(match[0])) < 2]
    return (len(apart) >= 8 and 2 * len(apart) >= lines) or (len(_BROKEN.findall(text)) >= 4 and lines >= 10)


def _name(card: CardText, numbers: list[int]) -> str:
    if not has_pages(card):
        return "The text seems to have"
    shown = ", ".join(map(str, numbers[:10])) + (f" and {len(numbers) - 10:,} more" if len(numbers) > 10 else "")
    return f"Page {shown} seems to have" if len(numbers) == 1 else f"Pages {shown} seem to have"


# A card's text as passages: sentences, list items, table rows with their heads, captions, footnotes, headings.
#
# Everything is found in the text only, since that is what a registry keeps of a card. English prose and common forms of
# tables are read. Guesses and unread parts are stated in the notes of the outline.


@dataclass(slots=True)
class _Draft:
    """A passage before the order of all is known."""

    kind: PassageKind
    start: int
    stop: int
    words: str
    group: int
    cells: tuple[TableCell, ...] = ()
    caption: str | None = None


@dataclass(slots=True)
class _Drafts:
    """Passages in the making; groups are numbered as they come and again in the order of the text."""

    text: str
    reader: PassageReader
    passages: list[_Draft] = field(default_factory=list)
    groups: int = 0

    def open_group(self) -> int:
        self.groups += 1
        return self.groups

    def add(self, kind: PassageKind, start: int, stop: int, words: str, **more: object) -> None:
        if words and start < stop:
            self.passages.append(_Draft(kind, start, stop, words, self.groups, **more))  # type: ignore[arg-type]


def read_outline(card: CardText) -> Outline:
    """Return the text of *card*, read into passages, with its headings and notes on what was guessed or not read.

    Linear in the length of the text. A sentence that a page number or running head interrupts is one passage; one that a footnote,
    caption or table interrupts is two, of one block.
    """
    drafts = _Drafts(card.text, PassageReader(card))
    if card.media_type is MediaType.MARKDOWN:
        headings, notes = _read_markdown(card, drafts)
    elif card.media_type is MediaType.HTML:
        headings, notes = _read_hypertext(card, drafts)
    else:
        headings, notes = _read_printed(card, drafts)
    passages = _settle(card, drafts.passages, headings)
    remarks = (*notes, *_describe_headings(headings), *describe_language(card.text), *describe_layout(card), *describe_scales(passages))
    return Outline(passages=passages, headings=headings, notes=remarks)


def build_row_reader(card: CardText) -> Callable[[int, int], str | None]:
    """Return what reads the row of a table from a start to a stop, its cells apart and under their heads; None for other passages."""
    rows: dict[tuple[int, int], Passage] | None = None

    def read(start: int, stop: int) -> str | None:
        nonlocal rows
        # The whole card is read only for what may be a row: that takes a second for a long one.
        if not may_be_row(card.text[start:stop]):
            return None
        if rows is None:
            passages = [passage for passage in read_outline(card).passages if passage.kind is PassageKind.ROW]
            rows = {_trim(card.text, passage.start, passage.stop): passage for passage in passages}
        row = rows.get(_trim(card.text, start, stop))
        return None if row is None or not row.cells else _join_cells(row.cells)

    return read


def build_passage_reader(card: CardText) -> Callable[[int, int], str]:
    """Return what reads the passage from a start to a stop for people; a row of a table as `build_row_reader`."""
    reader, read_row = PassageReader(card), build_row_reader(card)
    return lambda start, stop: read_row(start, stop) or reader.read_words(start, stop)


def may_be_row(text: str) -> bool:
    """Return whether *text* has the marks of cells, or ends in several figures."""
    return any(mark in text for mark in ("|", "\t", "<td", "<th")) or len(find_cells(text)) > 1


def _trim(text: str, start: int, stop: int) -> tuple[int, int]:
    words = text[start:stop]
    return start + len(words) - len(words.lstrip(" |\n\t")), stop - len(words) + len(words.rstrip(" |\n\t"))


def _join_cells(cells: Sequence[TableCell]) -> str:
    # The first cell names the row; its head, such as "Context", adds nothing to it.
    first, *others = cells
    return " · ".join([first.text, *(f"{cell.column}: {cell.text}" if cell.column else cell.text for cell in others if cell.text)])


def _describe_headings(headings: tuple[Heading, ...]) -> tuple[str, ...]:
    return () if headings else ("No headings were found: neither declared by the file nor numbered; passages have no section.",)


def _read_markdown(card: CardText, drafts: _Drafts) -> tuple[tuple[Heading, ...], tuple[str, ...]]:
    source = read_source(card)
    for block in source.blocks:
        _add_block(block, drafts)
    _add_source_tables(source.tables, source.blocks, drafts)
    return card.headings, _describe_excluded(source.excluded)


_EXCLUDED = {
    "code block": "{count:,} × code block: code was not read for claims.",
    "front matter": "The front matter (YAML before the text) was not read for claims.",
    "raw HTML": "Raw HTML in {count:,} places was read as data: tables cell by cell, other tags dropped.",
}


def _describe_excluded(excluded: dict[str, int]) -> tuple[str, ...]:
    other = "{count:,} × raw HTML element “{what}” was excluded with its content."
    return tuple(_EXCLUDED.get(what, other).format(count=count, what=what) for what, count in excluded.items())


def _read_hypertext(card: CardText, drafts: _Drafts) -> tuple[tuple[Heading, ...], tuple[str, ...]]:
    tables = find_tabbed_tables(card.text)
    lines = read_lines(card)
    mark_declared(lines, card.headings)
    headings = card.headings or find_numbered(lines)
    blocks = build_single_blocks(lines, [(table.start, table.stop) for table in tables])
    for block in blocks:
        _add_block(block, drafts)
    _add_source_tables(tables, blocks, drafts)
    return headings, ()


def _add_source_tables(tables: list[SourceTable], blocks: list[PassageBlock], drafts: _Drafts) -> None:
    captions = [block for block in blocks if block.kind is PassageKind.CAPTION]
    matched = match_captions([(table.start, table.stop) for table in tables], captions, drafts.text)
    for table, near in zip(tables, matched, strict=True):
        own = drafts.reader.read_words(*table.caption) if table.caption is not None else ""
        _add_source_table(table, own or _read_caption(near, drafts.reader), drafts)


def _add_source_table(table: SourceTable, caption: str | None, drafts: _Drafts) -> None:
    drafts.open_group()
    for row in read_grid(table, drafts.reader.read_cell):
        words = drafts.reader.read_words(row.row.start, row.row.stop)
        kind = PassageKind.HEAD if row.is_head else PassageKind.ROW
        drafts.add(kind, row.row.start, row.row.stop, words, cells=row.cells, caption=caption if kind is PassageKind.ROW else None)


def _read_printed(card: CardText, drafts: _Drafts) -> tuple[tuple[Heading, ...], tuple[str, ...]]:
    lines = read_lines(card)
    # The order matters: each step only looks at lines that no earlier step has recognised, from the most certain kind
    # to the least.
    mark_furniture(lines)
    placed = find_printed_tables(card.text) if card.media_type is MediaType.PDF or "\t" in card.text else []
    if card.media_type is MediaType.PLAIN:
        placed = sorted([*placed, *find_pipe_tables(card.text)], key=lambda table: table.start)
    _mark_rows(lines, placed)
    mark_contents(lines)
    headings = card.headings
    if headings and card.media_type is MediaType.PLAIN and len(find_numbered(deepcopy(lines))) > len(headings):
        # Hash marks in a plain text may be those of a quoted answer; its own sections are numbered.
        headings = ()
    is_derived = not headings
    undeclared: frozenset[int] = frozenset()
    if headings:
        mark_declared(lines, headings)
        undeclared = mark_undeclared(lines)
    else:
        headings = find_numbered(lines)
    marks = mark_footnotes(lines)
    width = measure_width(lines)
    tables = find_loose_tables(lines) if card.media_type is MediaType.PLAIN else []
    tables = sorted([*tables, *find_tables(lines, width)], key=lambda table: table.rows[0].lines[0].start)
    blocks = build_blocks(lines, width, marks, undeclared.union(heading.start for heading in headings))
    for block in blocks:
        _add_block(block, drafts)
    captions = [block for block in blocks if block.kind is PassageKind.CAPTION]
    _add_source_tables(placed, blocks, drafts)
    matched = match_captions([_find_extent(table) for table in tables], captions, card.text)
    for table, near in zip(tables, matched, strict=True):
        caption = ". ".join(part for part in (table.title, _read_caption(near, drafts.reader)) if part)
        _add_printed_table(table, caption or None, drafts)
    return headings, _describe_tables(tables, has_derived_headings=bool(headings) and is_derived)


def _mark_rows(lines: list[CardLine], tables: list[SourceTable]) -> None:
    """Mark the lines of *tables*, which are read cell by cell and by nothing else."""
    starts = [table.start for table in tables]
    for line in lines:
        at = bisect_right(starts, line.stop) - 1
        if at >= 0 and line.start < tables[at].stop and line.kind is None:
            line.kind = PassageKind.ROW


def _describe_tables(tables: list[PrintedTable], *, has_derived_headings: bool) -> tuple[str, ...]:
    notes = []
    if has_derived_headings:
        notes.append("The file declares no headings: they were derived from numbered lines and the table of contents.")
    unnamed = sum(1 for table in tables if table.columns is None)
    if unnamed:
        notes.append(f"{unnamed} of {len(tables)} tables have heads that could not be recognised: their figures have no column.")
    guessed = sum(1 for table in tables if table.columns is not None and table.columns.is_guessed)
    if guessed:
        notes.append(f"{guessed} of {len(tables)} tables have heads on two levels, spread evenly; compare them with the printed page.")
    return tuple(notes)


def _read_caption(block: PassageBlock | None, reader: PassageReader) -> str | None:
    return reader.read(block.spans, marks=block.marks).words if block is not None else None


def _find_extent(table: PrintedTable) -> tuple[int, int]:
    first = (table.heads or table.rows[0].lines)[0]
    return first.start, table.rows[-1].lines[-1].stop


def _add_printed_table(table: PrintedTable, caption: str | None, drafts: _Drafts) -> None:
    drafts.open_group()
    for line in table.heads:
        drafts.add(PassageKind.HEAD, line.start, line.stop, drafts.reader.read_words(line.start, line.stop))
    for row in table.rows:
        spans = [row.span] if row.span is not None else [(line.start, line.stop) for line in row.lines]
        words, cells = drafts.reader.read(spans).words, _name_cells(table, row, drafts.reader)
        drafts.add(PassageKind.ROW, spans[0][0], spans[-1][1], words, cells=cells, caption=caption)


def _name_cells(table: PrintedTable, row: PrintedRow, reader: PassageReader) -> tuple[TableCell, ...]:
    columns = table.columns
    cells = []
    if row.label is not None:
        cells.append(TableCell(text=reader.read_words(*row.label), column=columns.label if columns else None))
    names = columns.names if columns else (None,) * len(row.cells)
    cells += [TableCell(text=reader.read_words(*span), column=name) for span, name in zip(row.cells, names, strict=True)]
    return tuple(cells)


def _add_block(block: PassageBlock, drafts: _Drafts) -> None:
    drafts.open_group()
    reading = drafts.reader.read(block.spans, marks=block.marks)
    spans = split_sentences(reading.words) if block.is_split else [(0, len(reading.words))]
    cuts = [reading.find(position) for position in block.interruptions]
    for start, stop in _cut(spans, cuts):
        words = reading.words[start:stop]
        if words.strip():
            first, last = start + len(words) - len(words.lstrip()), stop - len(words) + len(words.rstrip())
            drafts.add(block.kind, *_with_emphasis(drafts.text, *reading.map_span(first, last)), words.strip())


def _with_emphasis(text: str, start: int, stop: int) -> tuple[int, int]:
    """The span with the Markdown emphasis that stands right around it."""
    while start > 0 and text[start - 1] in "*_":
        start -= 1
    while stop < len(text) and text[stop] in "*_":
        stop += 1
    return start, stop


def _cut(spans: list[tuple[int, int]], cuts: list[int]) -> list[tuple[int, int]]:
    """The *spans*, those that go across a cut in two."""
    pieces: list[tuple[int, int]] = []
    for start, stop in spans:
        # A sentence around a footnote or table would otherwise span it, and its quotation would contain the foreign
        # text.
        inner = [cut for cut in cuts if start < cut < stop] if cuts else []
        pieces += zip([start, *inner], [*inner, stop], strict=True)
    return pieces


def _settle(card: CardText, drafts: list[_Draft], headings: tuple[Heading, ...]) -> tuple[Passage, ...]:
    """The passages in order, without the furniture inside sentences, numbered by block, with page and section."""
    finder = PageFinder(card.pages)
    is_paged = has_pages(card)
    numbers: dict[int, int] = {}
    passages: list[Passage] = []
    section, reached = -1, 0
    for draft in sorted(drafts, key=lambda draft: (draft.start, -draft.stop)):
        # Nothing is read twice: of overlapping drafts the longer one that begins first is kept.
        if draft.start < reached:
            continue
        reached = draft.stop
        while section + 1 < len(headings) and headings[section + 1].start <= draft.start:
            section += 1
        passages.append(
            Passage(
                kind=draft.kind,
                start=draft.start,
                stop=draft.stop,
                words=draft.words,
                page=finder.find_number(draft.start) if is_paged else None,
                section=section if section >= 0 else None,
                block=numbers.setdefault(draft.group, len(numbers)),
                cells=draft.cells,
                caption=draft.caption,
            )
        )
    return tuple(passages)
