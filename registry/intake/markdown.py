"""What a Markdown source says about its sections and pages. The source itself is the text; raw HTML in it is data."""

import re
from itertools import pairwise

from registry.intake import rules
from registry.records.card import Heading, Page

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_LONGEST = 1_000
"""Characters of a line that may be a heading."""
_PAGE_MARK = re.compile(r"<!--[ \t]*(?:p\.?|page)[ \t]*(\d{1,5})[ \t]*-->", re.IGNORECASE)
_SIGNS = re.compile(rb"^(?:#{1,6} \S|```|\|.+\|[ \t]*$)|\]\(https?://|\*\*\S", re.MULTILINE)


def looks_like_markdown(data: bytes) -> bool:
    """Return whether bytes without a telling name have Markdown's headings, fences, tables, links or emphasis."""
    return _SIGNS.search(data[:100_000]) is not None


def find_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of the source (CommonMark 0.31, sections 4.2 and 4.3), those inside code fences left out."""
    headings: list[Heading] = []
    fence: str | None = None
    at, above, above_at = 0, "", 0
    for raw in text.splitlines(keepends=True):
        line = raw.rstrip("\r\n")
        opening = _FENCE.match(line)
        if fence is not None:
            fence = None if opening and opening[1].startswith(fence) else fence
        elif opening:
            fence = opening[1]
        elif len(line) <= _LONGEST and (found := _ATX.match(line)):
            _add(headings, at, found[2])
            line = ""
        elif above.strip() and not above.lstrip().startswith(("|", ">", "-", "*", "<")) and _SETEXT.match(line):
            _add(headings, above_at, above)
            line = ""
        above, above_at = ("", at) if fence else (line, at)
        at += len(raw)
    return tuple(headings)


def find_marked_pages(text: str) -> tuple[Page, ...]:
    """Return the pages that comments such as `<!-- p.12 -->` mark in a source made from a PDF; empty without such marks.

    What stands before the first mark belongs to the page before it. Marks that do not ascend are no page marks.
    """
    marks = [(int(found[1]), found.start()) for found in _PAGE_MARK.finditer(text)]
    if len(marks) < 2 or marks[0][0] < 1 or any(one >= next_one for (one, _), (next_one, _) in pairwise(marks)):
        return ()
    first, first_start = marks[0]
    if first > 1 and text[:first_start].strip():
        marks.insert(0, (first - 1, 0))
    else:
        marks[0] = (first, 0)
    stops = [start for _, start in marks[1:]] + [len(text)]
    return tuple(Page(number=number, start=start, stop=stop) for (number, start), stop in zip(marks, stops, strict=True))


def _add(headings: list[Heading], start: int, source: str) -> None:
    title = " ".join(rules.MARKUP.sub(rules.drop_markup, source).split())
    if title:
        headings.append(Heading(start=start, title=title))
