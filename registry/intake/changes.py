"""What else changed between two revisions of a card: sections, passages, and figures in passages of which nobody knows a claim."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from registry.intake.alignment import Pair
from registry.intake.follow import Follower
from registry.intake.sections import Renamed
from registry.intake.spelling import fold_spelling
from registry.intake.words import Words, read_words

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
class ChangedFigure:
    """A passage in which a figure changed."""

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
    return _tell(before - after, after - before)


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
    titles = {heading.start for heading in follower.old_outline.headings}
    for pair in reworded:
        numbers = _compare_figures(follower, pair)
        start, stop = follower.old_words.map_span(*pair.old)
        if numbers is None or any(start - 12 <= title <= start for title in titles):
            continue
        begin, _ = follower.new_words.map_span(*pair.new)
        section = follower.new_outline.find_section(begin)
        yield ChangedFigure(
            old=_read(follower.old_words, pair.old),
            new=_read(follower.new_words, pair.new),
            numbers=numbers,
            page=follower.new.get_page_number(begin) if len(follower.new.pages) > 1 else None,
            section=None if section is None else follower.new_outline.headings[section].title,
            start=start,
            stop=stop,
        )


def _read(words: Words, span: tuple[int, int]) -> str:
    return " ".join(words.text[words.starts[span[0]] : words.stops[span[1] - 1]].split())


def _compare_figures(follower: Follower, pair: Pair) -> str | None:
    """Return the figures that changed; a number that belongs to a name ("Opus 4.7") only where another took its place."""
    ours, theirs = Counter(_get_figures(follower.old_words, pair.old)), Counter(_get_figures(follower.new_words, pair.new))
    left, right = ours - theirs, theirs - ours
    is_figure = any(not named for _, named in (*left, *right))
    if not (left or right) or not (is_figure or (left and right)):
        return None
    return _tell(Counter(word for word, _ in left.elements()), Counter(word for word, _ in right.elements()))


def _get_figures(words: Words, span: tuple[int, int]) -> Iterator[tuple[str, bool]]:
    """Yield the numbers that are no places in the card, and whether a capital stands before each, as before a version."""
    for at in range(*span):
        folded = fold_spelling(words.words[at])
        before = words.words[at - 1] if at > span[0] else ""
        is_place = before.casefold() in _REFERRING or _PLACE.match(folded) is not None or words.text[words.starts[at] - 1 :][:1] == "§"
        if _has_digit(folded) and not is_place:
            yield folded, before[:1].isupper()


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _tell(left: Counter[str], right: Counter[str]) -> str | None:
    if not (left or right):
        return None
    return f"{' '.join(left.elements()) or 'nothing'} → {' '.join(right.elements()) or 'nothing'}"
