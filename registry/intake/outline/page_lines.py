"""The lines of a printed page: headings, running heads, contents, footnotes, captions, and blocks of lines."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from registry.records.system_card import CardText, Heading, MediaType, Page, PassageKind

# The lines of a card's text: place, page and kind.
#
# Sentences, tables and headings are read by our own code from the text only. A registry keeps text and no positions on
# a page, so a claim's place can be found again at any time. Libraries for sentences give no places in the source and
# break at "Claude Haiku 4.5". Cost: a list of abbreviations; tables of PDFs without lines are read as sentences.

_LINE = re.compile(r"[^\n\f]*")
_MARGIN = " \t\r\v\xa0"


@dataclass(slots=True)
class CardLine:
    """A line with something on it; `kind` is filled in by those who recognise it."""

    start: int
    """Its first character that is not white space."""
    stop: int
    text: str
    page: int
    """Index into the pages of the card."""
    gap: bool
    """Whether an empty line stands between this one and the one above, or a page begins with it."""
    kind: PassageKind | None = None
    """None for running text."""


def read_lines(card: CardText) -> list[CardLine]:
    """Return the lines of *card* that are not empty, in order."""
    finder = PageFinder(card.pages)
    lines: list[CardLine] = []
    gap = True
    text, at = card.text, 0
    while at <= len(text):
        match = _LINE.match(text, at)
        stop = match.end() if match else len(text)
        shown = text[at:stop].strip(_MARGIN)
        if shown:
            start = at + text[at:stop].index(shown)
            lines.append(CardLine(start, start + len(shown), shown, finder.find_index(start), gap))
        gap = not shown or text[stop : stop + 1] == "\f"
        at = stop + 1
    return lines


class PageFinder:
    """On which page a character stands, found in the logarithm of the number of pages."""

    def __init__(self, pages: tuple[Page, ...]) -> None:
        self._pages = pages
        self._starts = [page.start for page in pages]

    def find_index(self, position: int) -> int:
        """Return the index of the page on which the character at *position* is."""
        return max(0, bisect_right(self._starts, position) - 1)

    def find_number(self, position: int) -> int:
        """Return the number of that page, from 1."""
        return self._pages[self.find_index(position)].number


def has_pages(card: CardText) -> bool:
    """Return whether pages mean anything for this card."""
    return len(card.pages) > 1 or card.media_type is MediaType.PDF


def split_by_page(lines: list[CardLine]) -> list[list[CardLine]]:
    """Return the lines of each page that has any."""
    pages: list[list[CardLine]] = []
    for line in lines:
        if not pages or pages[-1][-1].page != line.page:
            pages.append([])
        pages[-1].append(line)
    return pages


def measure_width(lines: list[CardLine]) -> int:
    """Return how many characters a full line of running text has: the length that one line in ten exceeds."""
    # The ninth decile and not the maximum: a few lines run over the margin.
    lengths = sorted(len(line.text) for line in lines if line.kind is None and len(line.text) > 25)
    return min(lengths[len(lengths) * 9 // 10], 200) if lengths else 80


# Page furniture and other kinds of lines on a printed page: page numbers, running heads, contents, footnotes, captions.

_PAGE_NUMBER = re.compile(r"(?:page\s+)?(?:\d{1,5}|[ivxl]{1,6})(?:\s*(?:/|of)\s*\d{1,5})?|[-\u2013]\s?\d{1,5}\s?[-\u2013]", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_LEADERS = re.compile(r"(?:\s?[.\u2026\u00b7]){4,}\s*\d{0,4}$")
_ENTRY = re.compile(r"^\S.{0,150}?\s(\d{1,4})$")
_AFTER_STOP = re.compile(r"[.,;:]\s\d+$")
_CONTENTS_TITLE = re.compile(r"(?:table of )?contents|list of (?:tables|figures)", re.IGNORECASE)
_FOOTNOTE = re.compile(r"(\d{1,3})\s?(?=[A-Z\"\u201c(\[]|https?:)")
_CAPTION_START = re.compile(
    r"\[?(?:Supplementary )?(?:Table|Figure|Fig\.|Chart|Exhibit|TABLE|FIGURE)\s+(?:[A-Z]{1,2}[.-]?)?\d[\w.-]{0,20}"
    r"(?::|\.|\]|\s+[\u2013\u2014|-]|(?=\s+[A-Z(\u201c[])|$)"
)
_MARK = re.compile(r"(?:^|(?<=[A-Za-z.,;:!?%)\"'\u201d\u2019])(?<!\d[.,]))\d{1,3}(?:$|(?=[\s.,;:)]))(?!\.\d)")
_FOOT_LINES = 60
BULLET = re.compile(
    r"(?:[\u2022\u25cf\u25cb\u25e6\u25aa\u25a0\u2023\u2043\u2219\u00b7\uf0b7]|[-*\u2013]\s)\s*|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s+(?=\S)"
)


def mark_furniture(lines: list[CardLine]) -> None:
    """Mark the page numbers and the running heads at the edges of pages."""
    pages = split_by_page(lines)
    if len(pages) < 2:
        return
    # Only the outer lines of pages with more than four lines: on a short page they are the content.
    edges = [(edge, line) for page in pages if len(page) > 4 for edge, pair in (("top", page[:2]), ("foot", page[-2:])) for line in pair]
    shapes = Counter((edge, _shape(line)) for edge, line in edges)
    # Three pages at least, and every fifth in a long card, so that repeated content of a few pages is kept.
    needed = max(3, len(pages) // 5)
    for edge, line in edges:
        if shapes[edge, _shape(line)] >= needed and not line.text.isdigit():
            line.kind = PassageKind.FURNITURE
    # Page numbers are searched after running heads are marked, since a number may be inside of them.
    for page in pages:
        for line in _outermost(page):
            if _PAGE_NUMBER.fullmatch(line.text):
                line.kind = PassageKind.FURNITURE


def _outermost(page: list[CardLine]) -> list[CardLine]:
    """The first and the last line of the page that are no running heads."""
    inner = [line for line in page if line.kind is None]
    return [*inner[:1], *inner[-1:]]


def _shape(line: CardLine) -> str:
    return _DIGITS.sub("#", line.text)


def mark_contents(lines: list[CardLine]) -> None:
    """Mark the lines of the table of contents: those with leaders, and runs of titles with page numbers that do not fall."""
    open_lines = [line for line in lines if line.kind is None]
    # A table of contents is in the front part. Tables further back also end in rising numbers.
    for run in _find_runs(open_lines[: 200 + len(open_lines) // 5]):
        for line in run:
            line.kind = PassageKind.CONTENTS
    for index, line in enumerate(open_lines):
        if line.kind is None and _LEADERS.search(line.text[-200:]):
            line.kind = PassageKind.CONTENTS
        if (
            line.kind is None
            and _CONTENTS_TITLE.fullmatch(line.text)
            and any(follower.kind is PassageKind.CONTENTS for follower in open_lines[index + 1 : index + 3])
        ):
            line.kind = PassageKind.CONTENTS


def _find_runs(lines: list[CardLine]) -> Iterable[list[CardLine]]:
    """Runs of at least four titles each followed by a page number, none lower than the one before."""
    run: list[CardLine] = []
    last = 0
    for line in lines:
        match = _ENTRY.match(line.text) if len(line.text) <= 160 else None
        number = int(match[1]) if match else None
        is_text = _AFTER_STOP.search(line.text) is not None and not _LEADERS.search(line.text)
        if number is not None and last <= number <= last + 60 and not is_text:
            run.append(line)
            last = number
            continue
        # Four entries at least: shorter runs of lines that end in rising numbers occur in lists.
        if len(run) >= 4 and _rises(run):
            yield run
        run, last = ([line], number) if number is not None and number < 60 else ([], 0)
    if len(run) >= 4 and _rises(run):
        yield run


def _rises(run: list[CardLine]) -> bool:
    """Whether the page numbers grow and most lines begin as titles do; figures in a table seldom do both."""
    numbers = [int(line.text.rsplit(None, 1)[1]) for line in run]
    titled = sum(
        1 for line in run if re.match(r"\d+(?:\.\d+)*\.?\s+\S|[A-Z]", line.text) and len(re.findall(r"\d+(?:\.\d+)?", line.text)) <= 3
    )
    return numbers[-1] > numbers[0] and titled * 4 >= 3 * len(run)


def mark_footnotes(lines: list[CardLine]) -> dict[int, frozenset[int]]:
    """Mark the footnotes at the foot of each page; return the numbers of those on each page, by the index of the page."""
    numbers: dict[int, frozenset[int]] = {}
    for page in split_by_page(lines):
        footnotes = _find_footnotes([line for line in page if line.kind is None])
        if footnotes:
            numbers[page[0].page] = frozenset(footnotes)
    return numbers


def _find_footnotes(page: list[CardLine]) -> list[int]:
    """Numbers of the footnotes at the end of the page: the longest tail that begins with a mark used above it."""
    marks = _find_marks(page)
    first = max(1, len(page) - _FOOT_LINES)
    starts = [
        (index, int(match[1]))
        for index, line in enumerate(page[first:], start=first)
        if (match := _FOOTNOTE.match(line.text)) and marks.get(int(match[1]), index) < index
    ]
    tail: list[tuple[int, int]] = []
    for index, number in reversed(starts):
        end = tail[0][0] if tail else len(page)
        # Read from the bottom upwards, where footnotes are certain. The tail ends at the first number that does not
        # fit.
        if end - index > 12 or (tail and abs(tail[0][1] - number) > len(tail) + 2):
            break
        tail.insert(0, (index, number))
    if not tail:
        return []
    for line in page[tail[0][0] :]:
        line.kind = PassageKind.FOOTNOTE
    return [number for _, number in tail]


def _find_marks(page: list[CardLine]) -> dict[int, int]:
    """Numbers that may be marks of footnotes, and the first line on which each is one: alone, first, or glued to a word or stop."""
    marks: dict[int, int] = {}
    for index, line in enumerate(page):
        for match in _MARK.finditer(line.text):
            marks.setdefault(int(match[0]), index)
    return marks


def is_caption(text: str) -> bool:
    """Return whether a caption begins with this line, and not a sentence about a table."""
    return _CAPTION_START.match(text) is not None


# Headings: those that the file declares, found again on their lines, or those that numbered lines show.

_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,5})\.?\s+(?P<title>[A-Z\"\u201c(].{1,120})$")
_APPENDIX = re.compile(r"(?:appendix|annex)\s+[A-Z0-9](?:[.:]\d+)*\b.{0,100}$", re.IGNORECASE)
_ONLY_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,5}\.?")
_NOT_LETTERS = re.compile(r"[\W_]+")
_TITLE_LEADERS = re.compile(r"[\s.\u2026\u00b7]*\d*$")
_LONGEST = 200
_SINGLE_LINE = 120


def mark_declared(lines: list[CardLine], headings: Sequence[Heading]) -> None:
    """Mark the lines on which the declared *headings* are; one with a title that is not where it is declared to be has none."""
    at = 0
    for heading in headings:
        while at < len(lines) and lines[at].stop <= heading.start:
            at += 1
        # Compared by letters only: a declared title and its line differ in spaces, numbers and punctuation.
        for line in _cover(lines, at, _letters(heading.title)):
            line.kind = PassageKind.HEADING


def _cover(lines: list[CardLine], at: int, title: str) -> list[CardLine]:
    """The lines from *at* on that together say *title*, with or without its number; none if they do not."""
    text = ""
    for count in range(1, 5):
        if at + count > len(lines) or len(text) > _LONGEST:
            return []
        text += _letters(lines[at + count - 1].text)
        if title and text.endswith(title) and text[: -len(title)].strip("0123456789") == "":
            return lines[at : at + count]
    return []


def mark_undeclared(lines: list[CardLine]) -> frozenset[int]:
    """Mark numbered lines that follow from a declared heading and are none themselves; return where they begin.

    They are headings to a reader, and no sentences; sections remain those that the file declares.
    """
    last: tuple[int, ...] = ()
    starts: list[int] = []
    for line in lines:
        match = _NUMBERED.match(line.text) if len(line.text) <= _SINGLE_LINE and line.kind in (None, PassageKind.HEADING) else None
        number = _parse(match["number"]) if match else ()
        if match is None or (line.kind is None and not (len(number) > 1 and _follows(number, last) and _is_title(match["title"]))):
            continue
        if line.kind is None:
            line.kind = PassageKind.HEADING
            starts.append(line.start)
        last = number
    return frozenset(starts)


def find_numbered(lines: list[CardLine]) -> tuple[Heading, ...]:
    """Mark the lines that are headings by their numbers, and return them as headings.

    A number must follow from the last one (4.1 after 4 or 4.0; 4.2 or 5 after 4.1.3), which the items of a list seldom do. Where
    the card has a table of contents, titles that are in it are headings with or without a number, and no list item of depth one
    is a heading that does not.
    """
    listed = {_letters(_TITLE_LEADERS.sub("", line.text)) for line in lines if line.kind is PassageKind.CONTENTS}
    listed |= {title.lstrip("0123456789") for title in listed}
    listed.discard("")
    headings: list[Heading] = []
    last: tuple[int, ...] = ()
    for index, line in enumerate(lines):
        if line.kind is not None or len(line.text) > _SINGLE_LINE:
            continue
        number, title, covered = _read_numbered(lines, index)
        key = _letters(title)
        # A number must follow from the last one, which list items seldom do.
        if number and _follows(number, last) and _is_title(title) and (len(number) > 1 or not listed or key in listed):
            last = number
        elif not (key in listed or (not listed and line.gap and _APPENDIX.match(line.text))) or _letters(line.text) == "contents":
            continue
        for card_line in covered:
            card_line.kind = PassageKind.HEADING
        headings.append(Heading(start=line.start, title=" ".join(" ".join(card_line.text for card_line in covered).split())))
    return tuple(headings)


def _read_numbered(lines: list[CardLine], index: int) -> tuple[tuple[int, ...], str, list[CardLine]]:
    """The number and title that a line has, or that it and the next one have; no number and the whole line otherwise."""
    line = lines[index]
    following = lines[index + 1] if index + 1 < len(lines) else None
    if _ONLY_NUMBER.fullmatch(line.text) and following is not None and following.kind is None and len(following.text) <= _SINGLE_LINE:
        return _parse(line.text), following.text, [line, following]
    match = _NUMBERED.match(line.text)
    if match is None:
        return (), line.text, [line]
    return _parse(match["number"]), match["title"], [line]


def _parse(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.rstrip(".").split("."))


def _is_title(title: str) -> bool:
    return not title.endswith((".", ",", ";", ":")) and title[:1].isupper() and sum(character.isdigit() for character in title) < 6


def _follows(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    """Whether *number* may come after *last*: one step on at any depth that *last* has, or the first or second below it."""
    if not last:
        return number in ((0,), (1,), (1, 1))
    if len(number) == len(last) + 1:
        return number[:-1] == last and number[-1] in (0, 1)
    if len(number) > len(last):
        return False
    depth = len(number) - 1
    return number[:depth] == last[:depth] and 0 < number[depth] - last[depth] <= 2


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).casefold()


# Blocks: lines or spans that are read together as a paragraph, list item, caption or footnote.

_TERMINAL = (".", "!", "?", ":", ";", ".\u201d", "?\u201d", "!\u201d", ".)", '."', "\u2019", "\u201d", ")", "]")


@dataclass(slots=True)
class PassageBlock:
    """Spans of a card that are one paragraph, list item, caption, footnote or heading."""

    kind: PassageKind
    spans: list[tuple[int, int]]
    page: int = 0
    """Index of the page on which it begins."""
    is_split: bool = True
    """Whether it is read sentence by sentence."""
    marks: frozenset[int] = field(default_factory=frozenset)
    """Numbers of the footnotes on its pages."""
    interruptions: list[int] = field(default_factory=list)
    """Where it goes on after something that is read on its own: a footnote, a table."""


def build_blocks(lines: list[CardLine], width: int, marks: dict[int, frozenset[int]], titles: frozenset[int]) -> list[PassageBlock]:
    """Return the blocks of printed *lines*; rows and heads are left to their tables.

    Args:
        width: characters of a full line.
        marks: the numbers of the footnotes on each page.
        titles: where headings begin.
    """
    blocks: list[PassageBlock] = []
    open_block: PassageBlock | None = None
    last: CardLine | None = None
    longest = 0
    is_interrupted = False
    for line in lines:
        kind = line.kind
        # Page numbers and running heads do not interrupt a paragraph; footnotes, captions and tables do.
        is_interrupted = is_interrupted or kind not in (None, PassageKind.FURNITURE)
        if kind in (PassageKind.FURNITURE, PassageKind.CONTENTS):
            blocks.append(PassageBlock(kind, [(line.start, line.stop)], line.page, is_split=False))
            continue
        # Rows and heads are read with their tables.
        if kind in (PassageKind.ROW, PassageKind.HEAD):
            last = None if open_block is None or open_block.kind is PassageKind.CAPTION else last
            continue
        if kind is PassageKind.FOOTNOTE:
            _add_footnote(blocks, line, marks)
            continue
        if kind is PassageKind.HEADING:
            if line.start not in titles and blocks and blocks[-1].kind is kind:
                blocks[-1].spans.append((line.start, line.stop))
            else:
                blocks.append(PassageBlock(kind, [(line.start, line.stop)], line.page, is_split=False))
            last = None
            continue
        started = _start_kind(line.text)
        if last is None or open_block is None or started is not None or _is_break(last, line, max(width, longest)):
            open_block = PassageBlock(started or PassageKind.SENTENCE, [], line.page, marks=marks.get(line.page, frozenset()))
            blocks.append(open_block)
            longest = 0
        elif is_interrupted:
            open_block.interruptions.append(line.start)
        is_interrupted = False
        open_block.spans.append((line.start, line.stop))
        open_block.marks |= marks.get(line.page, frozenset())
        longest, last = max(longest, len(line.text)), line
    return blocks


def build_single_blocks(lines: list[CardLine], tables: list[tuple[int, int]]) -> list[PassageBlock]:
    """Return a block for every line that is in none of the *tables* (start, stop): text that is not broken into lines."""
    blocks: list[PassageBlock] = []
    starts = [start for start, _ in tables]
    for line in lines:
        at = bisect_right(starts, line.stop) - 1
        if at >= 0 and line.start < tables[at][1]:
            continue
        is_title = line.kind is PassageKind.HEADING
        kind = line.kind or _start_kind(line.text) or PassageKind.SENTENCE
        blocks.append(PassageBlock(kind, [(line.start, line.stop)], line.page, is_split=not is_title))
    return blocks


def _start_kind(text: str) -> PassageKind | None:
    if is_caption(text):
        return PassageKind.CAPTION
    return PassageKind.ITEM if BULLET.match(text) else None


def _add_footnote(blocks: list[PassageBlock], line: CardLine, marks: dict[int, frozenset[int]]) -> None:
    """Begin a footnote, or go on with the one begun on the line above."""
    digits = line.text[: len(line.text) - len(line.text.lstrip("0123456789"))]
    is_first = bool(digits) and int(digits) in marks.get(line.page, frozenset())
    above = blocks[-1] if blocks and blocks[-1].kind is PassageKind.FOOTNOTE and blocks[-1].page == line.page else None
    if above is None or is_first:
        blocks.append(PassageBlock(PassageKind.FOOTNOTE, [(line.start, line.stop)], line.page))
    else:
        above.spans.append((line.start, line.stop))


def _is_break(last: CardLine, line: CardLine, width: int) -> bool:
    """Whether a paragraph ends between two lines: its last line had room for the next word, and reads as an end."""
    begins = line.text[:1].isupper() or line.text[:1] in '"\u201c(['
    is_end = last.text.endswith(_TERMINAL)
    if line.gap and last.page == line.page:
        return is_end or begins or len(last.text) < 0.6 * width
    # If the next word would have fitted on the last line, the author ended the line on purpose.
    room = len(last.text) + 1 + len(line.text.split(maxsplit=1)[0])
    if not begins:
        return False
    return room <= (0.92 if is_end else 0.75) * width


# Captions and tables: the caption right above or right below, as the card does elsewhere. A single table cannot show
# which side its card uses.

_BETWEEN = re.compile(r"(?:\s|:{3,}(?:[ \t]*[A-Za-z]\w{0,40})?|<!--(?:(?!-->).){0,200}-->|</?[A-Za-z][^<>]{0,200}>|\d{1,4}(?=\s*\f))*")
"""What may stand between a table and its caption: white space, the fence of a container, a comment, a tag, a page number."""
_REACH = 400


def match_captions(tables: Sequence[tuple[int, int]], captions: Sequence[PassageBlock], text: str) -> list[PassageBlock | None]:
    """Return for each of the *tables* (start, stop) its caption among *captions*, None where none is next to it.

    Where a table has one above and one below, the side is taken on which the card's other captions are.

    Args:
        captions: in order.
    """
    starts = [block.spans[0][0] for block in captions]
    stops = [block.spans[-1][1] for block in captions]
    above: list[PassageBlock | None] = []
    below: list[PassageBlock | None] = []
    for start, stop in tables:
        before, after = bisect_right(stops, start) - 1, bisect_left(starts, stop)
        above.append(captions[before] if before >= 0 and _touches(text, stops[before], start) else None)
        below.append(captions[after] if after < len(captions) and _touches(text, stop, starts[after]) else None)
    # Where tables follow each other, most have a caption on both sides; the side on which more tables have one is the card's.
    is_above = sum(block is not None for block in above) > sum(block is not None for block in below)
    first, second = (above, below) if is_above else (below, above)
    return [passage_block if passage_block is not None else other for passage_block, other in zip(first, second, strict=True)]


def _touches(text: str, start: int, stop: int) -> bool:
    return stop - start <= _REACH and _BETWEEN.fullmatch(text, start, stop) is not None
