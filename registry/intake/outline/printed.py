"""What the lines of a printed page are: page numbers, running heads, the table of contents, footnotes, captions."""

import re
from collections import Counter
from collections.abc import Iterable

from registry.intake.outline.lines import Line, split_by_page
from registry.records.passage import PassageKind

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


def mark_furniture(lines: list[Line]) -> None:
    """Mark the page numbers and the running heads at the edges of pages."""
    pages = split_by_page(lines)
    if len(pages) < 2:
        return
    edges = [(edge, line) for page in pages if len(page) > 4 for edge, pair in (("top", page[:2]), ("foot", page[-2:])) for line in pair]
    shapes = Counter((edge, _shape(line)) for edge, line in edges)
    needed = max(3, len(pages) // 5)
    for edge, line in edges:
        if shapes[edge, _shape(line)] >= needed and not line.text.isdigit():
            line.kind = PassageKind.FURNITURE
    for page in pages:
        for line in _outermost(page):
            if _PAGE_NUMBER.fullmatch(line.text):
                line.kind = PassageKind.FURNITURE


def _outermost(page: list[Line]) -> list[Line]:
    """The first and the last line of the page that are no running heads."""
    inner = [line for line in page if line.kind is None]
    return [*inner[:1], *inner[-1:]]


def _shape(line: Line) -> str:
    return _DIGITS.sub("#", line.text)


def mark_contents(lines: list[Line]) -> None:
    """Mark the lines of the table of contents: those with leaders, and runs of titles with page numbers that do not fall."""
    open_lines = [line for line in lines if line.kind is None]
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


def _find_runs(lines: list[Line]) -> Iterable[list[Line]]:
    """Runs of at least four titles each followed by a page number, none lower than the one before."""
    run: list[Line] = []
    last = 0
    for line in lines:
        found = _ENTRY.match(line.text) if len(line.text) <= 160 else None
        number = int(found[1]) if found else None
        is_text = _AFTER_STOP.search(line.text) is not None and not _LEADERS.search(line.text)
        if number is not None and last <= number <= last + 60 and not is_text:
            run.append(line)
            last = number
            continue
        if len(run) >= 4 and _rises(run):
            yield run
        run, last = ([line], number) if number is not None and number < 60 else ([], 0)
    if len(run) >= 4 and _rises(run):
        yield run


def _rises(run: list[Line]) -> bool:
    """Whether the page numbers grow and most lines begin as titles do; figures in a table seldom do both."""
    numbers = [int(line.text.rsplit(None, 1)[1]) for line in run]
    titled = sum(
        1 for line in run if re.match(r"\d+(?:\.\d+)*\.?\s+\S|[A-Z]", line.text) and len(re.findall(r"\d+(?:\.\d+)?", line.text)) <= 3
    )
    return numbers[-1] > numbers[0] and titled * 4 >= 3 * len(run)


def mark_footnotes(lines: list[Line]) -> dict[int, frozenset[int]]:
    """Mark the footnotes at the foot of each page; return the numbers of those on each page, by the index of the page."""
    numbers: dict[int, frozenset[int]] = {}
    for page in split_by_page(lines):
        found = _find_footnotes([line for line in page if line.kind is None])
        if found:
            numbers[page[0].page] = frozenset(found)
    return numbers


def _find_footnotes(page: list[Line]) -> list[int]:
    """Numbers of the footnotes at the end of the page: the longest tail that begins with a mark used above it."""
    marks = _find_marks(page)
    first = max(1, len(page) - _FOOT_LINES)
    starts = [
        (index, int(found[1]))
        for index, line in enumerate(page[first:], start=first)
        if (found := _FOOTNOTE.match(line.text)) and marks.get(int(found[1]), index) < index
    ]
    tail: list[tuple[int, int]] = []
    for index, number in reversed(starts):
        end = tail[0][0] if tail else len(page)
        if end - index > 12 or (tail and abs(tail[0][1] - number) > len(tail) + 2):
            break
        tail.insert(0, (index, number))
    if not tail:
        return []
    for line in page[tail[0][0] :]:
        line.kind = PassageKind.FOOTNOTE
    return [number for _, number in tail]


def _find_marks(page: list[Line]) -> dict[int, int]:
    """Numbers that may be marks of footnotes, and the first line on which each is one: alone, first, or glued to a word or stop."""
    marks: dict[int, int] = {}
    for index, line in enumerate(page):
        for found in _MARK.finditer(line.text):
            marks.setdefault(int(found[0]), index)
    return marks


def is_caption(text: str) -> bool:
    """Return whether a caption begins with this line, and not a sentence about a table."""
    return _CAPTION_START.match(text) is not None
