"""The headings of a card: those the file declares, found again on their lines, or those that its numbered lines show."""

import re
from collections.abc import Sequence

from registry.intake.outline.lines import Line
from registry.records.card import Heading
from registry.records.passage import PassageKind

_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,5})\.?\s+(?P<title>[A-Z\"\u201c(].{1,120})$")
_APPENDIX = re.compile(r"(?:appendix|annex)\s+[A-Z0-9](?:[.:]\d+)*\b.{0,100}$", re.IGNORECASE)
_ONLY_NUMBER = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,5}\.?")
_NOT_LETTERS = re.compile(r"[\W_]+")
_LEADERS = re.compile(r"[\s.\u2026\u00b7]*\d*$")
_LONGEST = 200
_SINGLE_LINE = 120


def mark_declared(lines: list[Line], headings: Sequence[Heading]) -> None:
    """Mark the lines on which the declared *headings* stand; one whose title is not where it is declared to be has none."""
    at = 0
    for heading in headings:
        while at < len(lines) and lines[at].stop <= heading.start:
            at += 1
        for line in _cover(lines, at, _letters(heading.title)):
            line.kind = PassageKind.HEADING


def _cover(lines: list[Line], at: int, title: str) -> list[Line]:
    """The lines from *at* on that together say *title*, with or without its number; none if they do not."""
    said = ""
    for count in range(1, 5):
        if at + count > len(lines) or len(said) > _LONGEST:
            return []
        said += _letters(lines[at + count - 1].text)
        if title and said.endswith(title) and said[: -len(title)].strip("0123456789") == "":
            return lines[at : at + count]
    return []


def mark_undeclared(lines: list[Line]) -> frozenset[int]:
    """Mark numbered lines that follow from a declared heading and are none themselves; return where they begin.

    They are headings to a reader, and no sentences; sections remain those that the file declares.
    """
    last: tuple[int, ...] = ()
    starts: list[int] = []
    for line in lines:
        found = _NUMBERED.match(line.text) if len(line.text) <= _SINGLE_LINE and line.kind in (None, PassageKind.HEADING) else None
        number = _parse(found["number"]) if found else ()
        if found is None or (line.kind is None and not (len(number) > 1 and _follows(number, last) and _is_title(found["title"]))):
            continue
        if line.kind is None:
            line.kind = PassageKind.HEADING
            starts.append(line.start)
        last = number
    return frozenset(starts)


def find_numbered(lines: list[Line]) -> tuple[Heading, ...]:
    """Mark the lines that are headings by their numbers, and return them as headings.

    A number must follow from the last one (4.1 after 4 or 4.0; 4.2 or 5 after 4.1.3), which the items of a list seldom do. Where
    the card has a table of contents, titles that stand in it are headings with or without a number, and no list item of depth one
    is a heading that does not.
    """
    listed = {_letters(_LEADERS.sub("", line.text)) for line in lines if line.kind is PassageKind.CONTENTS}
    listed |= {title.lstrip("0123456789") for title in listed}
    listed.discard("")
    headings: list[Heading] = []
    last: tuple[int, ...] = ()
    for index, line in enumerate(lines):
        if line.kind is not None or len(line.text) > _SINGLE_LINE:
            continue
        number, title, covered = _read_numbered(lines, index)
        key = _letters(title)
        if number and _follows(number, last) and _is_title(title) and (len(number) > 1 or not listed or key in listed):
            last = number
        elif not (key in listed or (not listed and line.gap and _APPENDIX.match(line.text))) or _letters(line.text) == "contents":
            continue
        for one in covered:
            one.kind = PassageKind.HEADING
        headings.append(Heading(start=line.start, title=" ".join(" ".join(one.text for one in covered).split())))
    return tuple(headings)


def _read_numbered(lines: list[Line], index: int) -> tuple[tuple[int, ...], str, list[Line]]:
    """The number and title that a line has, or that it and the next one have; no number and the whole line otherwise."""
    line = lines[index]
    following = lines[index + 1] if index + 1 < len(lines) else None
    if _ONLY_NUMBER.fullmatch(line.text) and following is not None and following.kind is None and len(following.text) <= _SINGLE_LINE:
        return _parse(line.text), following.text, [line, following]
    found = _NUMBERED.match(line.text)
    if found is None:
        return (), line.text, [line]
    return _parse(found["number"]), found["title"], [line]


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
