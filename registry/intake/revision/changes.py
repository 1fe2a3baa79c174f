"""What else changed between two revisions of a card: sections, passages, and figures in passages of which nobody knows a claim."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from registry.intake.revision.alignment import Pair
from registry.intake.revision.follow import Follower
from registry.intake.revision.sections import Renamed
from registry.intake.revision.sense import Turn, find_turns
from registry.intake.revision.spelling import fold_spelling
from registry.intake.revision.words import Words, read_words
from registry.records.card import Anchor
from registry.records.passage import PassageKind

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
_STATE = frozenset((PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.ROW, PassageKind.CAPTION, PassageKind.FOOTNOTE))
"""Passages that state something."""
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
    """A passage in which figures changed, or one with figures that was removed or added."""

    old: str
    """As the older text has it, white space folded; empty for an added passage."""
    new: str
    """Empty for a removed passage."""
    numbers: str
    """The figures, as "6.5 → 7.5"."""
    page: int | None
    """In the newer text, of a removed passage in the older; None for cards without pages."""
    section: str | None
    start: int
    """First character in the older text; of an added passage in the newer."""
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
class Edit:
    """A sentence, row, or item that was reworded or removed."""

    old: str
    """As the older text has it, white space folded."""
    new: str
    """Empty for what was removed."""
    turns: tuple[Turn, ...]
    """Of what was reworded: negations, opposites, how far it holds, names."""
    has_figures: bool
    """Whether figures changed in it, or were removed with it."""
    page: int | None
    """In the older text; None for cards without pages."""
    section: str | None
    start: int
    """First character in the older text."""
    stop: int
    changed: tuple[tuple[int, int], ...]
    """The words of the older text that are not in the newer passage, as characters from and to; empty where words were only put in."""

    def is_quoted(self, quoted: Iterable[Anchor]) -> bool:
        """Return whether all that changed in it is quoted in the older text, so that a claim tells of it."""
        spans = self.changed or ((self.start, self.stop),)
        anchors = tuple(quoted)
        return all(any(one.start < stop and start < one.stop for one in anchors) for start, stop in spans)


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
    removed_with_figures: int
    """Of the removed, those that have figures."""
    added: int
    """Of the newer text."""
    added_with_figures: int
    sections_added: tuple[str, ...]
    sections_removed: tuple[str, ...]
    sections_renamed: tuple[Renamed, ...]
    figures: tuple[ChangedFigure, ...]
    """In the order of the older text, then what was added; places in the card, such as "Section 3.2", are no figures."""
    edits: tuple[Edit, ...]
    """Sentences, rows and items that were reworded or removed, in the order of the older text."""


def summarise_changes(follower: Follower) -> Changes:
    """Return what changed between the two texts of *follower* as wholes."""
    alike = [pair for pair in follower.alignment.pairs if pair.is_alike]
    reworded = [pair for pair in follower.alignment.pairs if not pair.is_alike]
    ours, theirs = follower.old_words, follower.new_words
    pairs = follower.alignment.pairs
    removed = _list_left(follower.alignment.old_blocks, [pair.old for pair in pairs])
    added = _list_left(follower.alignment.new_blocks, [pair.new for pair in pairs])
    gone = tuple(filter(None, (_find_lost(follower, block, is_new=False) for block in removed)))
    come = tuple(filter(None, (_find_lost(follower, block, is_new=True) for block in added)))
    figures = sorted((*_find_figures(follower, reworded), *gone), key=lambda one: one.start)
    numbered = {one.start for one in figures}
    return Changes(
        unchanged=len(alike),
        moved=sum(_is_moved(follower, pair) for pair in alike),
        respelled=sum(ours.words[slice(*pair.old)] != theirs.words[slice(*pair.new)] for pair in alike),
        reworded=len(reworded),
        removed=len(removed),
        removed_with_figures=len(gone),
        added=len(added),
        added_with_figures=len(come),
        sections_added=tuple(follower.sections.find_added()),
        sections_removed=tuple(follower.sections.find_removed()),
        sections_renamed=tuple(follower.sections.find_renamed()),
        figures=(*figures, *come),
        edits=tuple(_find_edits(follower, reworded, removed, numbered)),
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


def _list_left(blocks: list[tuple[int, int]], taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the blocks that lie in none of the runs *taken*."""
    covered = set(_list_words(taken))
    return [(start, stop) for start, stop in blocks if start not in covered]


def _find_edits(follower: Follower, reworded: list[Pair], removed: list[tuple[int, int]], numbered: set[int]) -> Iterator[Edit]:
    """Yield the statements that were reworded or removed; headings, contents and furniture make none."""
    kinds = {one.start: one.kind for one in follower.old_outline.passages}
    starts = sorted(kinds)
    runs = sorted([(pair.old, pair.new) for pair in reworded] + [(block, (0, 0)) for block in removed])
    for old, new in runs:
        start, stop = follower.old_words.map_span(*old)
        at = bisect_right(starts, start) - 1
        if at >= 0 and kinds[starts[at]] not in _STATE:
            continue
        before, after = _read(follower.old_words, old), _read(follower.new_words, new) if new[1] else ""
        section = follower.old_outline.find_section(start)
        lost = [word for word in range(*old) if follower.alignment.to_new[word] < 0]
        yield Edit(
            old=before,
            new=after,
            turns=find_turns(before, after) if after else (),
            has_figures=start in numbered,
            page=follower.old.get_page_number(start) if len(follower.old.pages) > 1 else None,
            section=None if section is None else follower.old_outline.headings[section].title,
            start=start,
            stop=stop,
            changed=tuple(follower.old_words.map_span(word, word + 1) for word in lost),
        )


def _find_lost(follower: Follower, block: tuple[int, int], *, is_new: bool) -> ChangedFigure | None:
    """Return a removed or an added passage that has figures; None for one without, and for headings."""
    words, outline, card = (
        (follower.new_words, follower.new_outline, follower.new) if is_new else (follower.old_words, follower.old_outline, follower.old)
    )
    start, stop = words.map_span(*block)
    figures = _locate(words, [at for _, named, at in _list_figures(words, block) if not named])
    if not figures or _is_title(card.text, [heading.start for heading in outline.headings], start):
        return None
    section, text = outline.find_section(start), _read(words, block)
    taken_out, put_in = ((), figures) if is_new else (figures, ())
    return ChangedFigure(
        old="" if is_new else text,
        new=text if is_new else "",
        numbers=_tell_figures(taken_out, put_in),
        page=card.get_page_number(start) if len(card.pages) > 1 else None,
        section=None if section is None else outline.headings[section].title,
        start=start,
        stop=stop,
        taken_out=taken_out,
        put_in=put_in,
    )


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
