"""What else changed between two revisions of a card: sections, passages, and figures in passages of which nobody knows a claim."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from registry.intake.revision.alignment import Pair
from registry.intake.revision.follow import Follower
from registry.intake.revision.sections import Renamed
from registry.intake.revision.spelling import fold_spelling
from registry.intake.revision.words import Words, read_words
from registry.records.card import Anchor

_REFERRING = frozenset(
    (
        "section",
        "sections",
        "figure",
        "figures",
        "fig",
        "table",
        "tables",
        "appendix",
        "page",
        "pages",
        "chapter",
        "footnote",
        "note",
        "p",
        "pp",
        "§",
    )
)
"""Before a number, these say that it names a place in the card and is no figure."""
_PLACE = re.compile(r"^(?:\d+\.){2,}\d*$|^\d+(?:\.\d+)+\.[A-Za-z]$")
"""A number with two points or more is that of a section."""
_SIGNS = frozenset("%<>=~±≤≥≈")
_WRITTEN = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety "  # noqa: SIM905
    "hundred hundreds thousand thousands million millions billion billions half third quarter double twice once none".split()
)
"""Numbers in words; "one" counts, too often rather than never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number, and where it stands in its text."""

    number: str
    """As all its spellings are folded to."""
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFigure:
    """A passage in which figures changed."""

    old: str
    """As the older text has it, white space folded."""
    new: str
    numbers: str
    """The figures, as "6.5 → 7.5"."""
    page: int | None
    """In the newer text; None for cards without pages."""
    section: str | None
    start: int
    """First character in the older text."""
    stop: int
    taken_out: tuple[Figure, ...]
    """The figures that the newer passage has not, in the older text."""
    put_in: tuple[Figure, ...]
    """The figures that the older passage has not, in the newer text."""

    def leave_out(self, old: Iterable[Anchor], new: Iterable[Anchor]) -> "ChangedFigure | None":
        """Return it without the figures that passages of the older text or of the newer quote; None if one side is quoted wholly."""
        taken_out = tuple(one for one in self.taken_out if not _is_in(one, old))
        put_in = tuple(one for one in self.put_in if not _is_in(one, new))
        if (self.taken_out and not taken_out) or (self.put_in and not put_in):
            return None
        return replace(self, taken_out=taken_out, put_in=put_in, numbers=_tell_figures(taken_out, put_in))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed, counted in passages: sentences, rows, headings."""

    unchanged: int
    """With those that moved, and those spelled otherwise."""
    moved: int
    """Of the unchanged, those in another section."""
    respelled: int
    """Of the unchanged, those spelled otherwise."""
    reworded: int
    removed: int
    """Of the older text."""
    added: int
    """Of the newer text."""
    sections_added: tuple[str, ...]
    sections_removed: tuple[str, ...]
    sections_renamed: tuple[Renamed, ...]
    figures: tuple[ChangedFigure, ...]
    """In the order of the older text; places in the card, such as "Section 3.2", are no figures."""


def summarise_changes(follower: Follower) -> Changes:
    """Return what changed between the two texts of *follower* as wholes."""
    alike = [pair for pair in follower.alignment.pairs if pair.is_alike]
    reworded = [pair for pair in follower.alignment.pairs if not pair.is_alike]
    ours, theirs = follower.old_words, follower.new_words
    return Changes(
        unchanged=len(alike),
        moved=sum(_is_moved(follower, pair) for pair in alike),
        respelled=sum(ours.words[slice(*pair.old)] != theirs.words[slice(*pair.new)] for pair in alike),
        reworded=len(reworded),
        removed=_count_left(follower.alignment.old_blocks, [pair.old for pair in follower.alignment.pairs]),
        added=_count_left(follower.alignment.new_blocks, [pair.new for pair in follower.alignment.pairs]),
        sections_added=tuple(follower.sections.find_added()),
        sections_removed=tuple(follower.sections.find_removed()),
        sections_renamed=tuple(follower.sections.find_renamed()),
        figures=tuple(_find_figures(follower, reworded)),
    )


def find_changed_numbers(old: str, new: str) -> str | None:
    """Return the numbers and signs of amount in which two passages differ, as "< 4 % → 5 %"; None if they have the same.

    Numbers in words count too.
    """
    ours, theirs = ([fold_spelling(word) for word in words.words] for words in read_words(old, new))
    before, after = (Counter(word for word in words if _has_digit(word) or word in _SIGNS or word in _WRITTEN) for words in (ours, theirs))
    left, right = before - after, after - before
    return _tell(left.elements(), right.elements()) if left or right else None


def _is_moved(follower: Follower, pair: Pair) -> bool:
    old, new = follower.old_words.map_span(*pair.old)[0], follower.new_words.map_span(*pair.new)[0]
    return follower.sections.is_moved(old, new, in_order=pair.in_order)


def _count_left(blocks: list[tuple[int, int]], taken: list[tuple[int, int]]) -> int:
    """Return how many blocks lie in none of the runs *taken*."""
    covered = set(_list_words(taken))
    return sum(start not in covered for start, _ in blocks)


def _list_words(spans: Iterable[tuple[int, int]]) -> Iterator[int]:
    for start, stop in spans:
        yield from range(start, stop)


def _find_figures(follower: Follower, reworded: list[Pair]) -> Iterator[ChangedFigure]:
    titles = [heading.start for heading in follower.old_outline.headings]
    for pair in reworded:
        taken_out, put_in = _compare_figures(follower, pair)
        start, stop = follower.old_words.map_span(*pair.old)
        if not (taken_out or put_in) or _is_title(follower.old.text, titles, start):
            continue
        begin, _ = follower.new_words.map_span(*pair.new)
        section = follower.new_outline.find_section(begin)
        yield ChangedFigure(
            old=_read(follower.old_words, pair.old),
            new=_read(follower.new_words, pair.new),
            numbers=_tell_figures(taken_out, put_in),
            page=follower.new.get_page_number(begin) if len(follower.new.pages) > 1 else None,
            section=None if section is None else follower.new_outline.headings[section].title,
            start=start,
            stop=stop,
            taken_out=taken_out,
            put_in=put_in,
        )


def _is_title(text: str, titles: list[int], start: int) -> bool:
    """Whether the line on which the character *start* stands begins with a title, whose numbers are no figures."""
    at = bisect_right(titles, start) - 1
    return at >= 0 and "\n" not in text[titles[at] : start].lstrip()


def _read(words: Words, span: tuple[int, int]) -> str:
    return " ".join(words.text[words.starts[span[0]] : words.stops[span[1] - 1]].split())


def _compare_figures(follower: Follower, pair: Pair) -> tuple[tuple[Figure, ...], tuple[Figure, ...]]:
    """Return the figures that only the old passage has, and those that only the new one has.

    A number that belongs to a name ("Opus 4.7") is none, unless another took its place.
    """
    ours, theirs = _list_figures(follower.old_words, pair.old), _list_figures(follower.new_words, pair.new)
    before, after = (Counter((number, named) for number, named, _ in figures) for figures in (ours, theirs))
    left, right = before - after, after - before
    is_figure = any(not named for _, named in (*left, *right))
    if not is_figure and not (left and right):
        return (), ()
    there = follower.alignment.to_new
    kept = {there[at] for at in range(*pair.old)}
    taken_out = _choose(left, sorted(ours, key=lambda one: there[one[2]] >= 0))
    put_in = _choose(right, sorted(theirs, key=lambda one: one[2] in kept))
    return _locate(follower.old_words, taken_out), _locate(follower.new_words, put_in)


def _list_figures(words: Words, span: tuple[int, int]) -> list[tuple[str, bool, int]]:
    """Return the numbers that are no places in the card, whether a capital stands before each, as before a version, and its word."""
    found = []
    for at in range(*span):
        folded = fold_spelling(words.words[at])
        before = words.words[at - 1] if at > span[0] else ""
        is_place = before.casefold() in _REFERRING or _PLACE.match(folded) is not None
        if _has_digit(folded) and not is_place:
            found.append((folded, before[:1].isupper(), at))
    return found


def _choose(wanted: Counter[tuple[str, bool]], figures: list[tuple[str, bool, int]]) -> list[int]:
    """Return the words of the first of *figures* that are *wanted*, as many as are, in the order of the text."""
    left, chosen = wanted.copy(), []
    for number, named, at in figures:
        if left[number, named] > 0:
            left[number, named] -= 1
            chosen.append(at)
    return sorted(chosen)


def _locate(words: Words, places: list[int]) -> tuple[Figure, ...]:
    spans = ((at, *words.map_span(at, at + 1)) for at in places)
    return tuple(Figure(number=fold_spelling(words.words[at]), start=start, stop=stop) for at, start, stop in spans)


def _is_in(figure: Figure, quoted: Iterable[Anchor]) -> bool:
    return any(one.start < figure.stop and figure.start < one.stop for one in quoted)


def _tell_figures(taken_out: Iterable[Figure], put_in: Iterable[Figure]) -> str:
    return _tell([one.number for one in taken_out], [one.number for one in put_in])


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _tell(before: Iterable[str], after: Iterable[str]) -> str:
    return f"{' '.join(before) or 'nothing'} → {' '.join(after) or 'nothing'}"
