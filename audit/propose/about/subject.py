"""What a figure is about: a model, and which build of it."""

import re
from dataclasses import dataclass
from functools import lru_cache

from audit.propose.about.around import Around
from audit.propose.about.model_names import ALL_MODELS, GUARDS, PRONOUNS, SNAPSHOTS
from audit.propose.about.models import Mention, Models
from audit.propose.about.row import find_cell
from registry.records.passage import Passage, PassageKind

_ALL = re.compile(ALL_MODELS, re.IGNORECASE)
_SNAPSHOTS = tuple(re.compile(one, re.IGNORECASE) for one in SNAPSHOTS)
_GUARDS = tuple(re.compile(one, re.IGNORECASE) for one in GUARDS)
_ASIDE = re.compile(
    r"\b(?:than|compar\w+ (?:to|with)|versus|vs\.?|relative to|similar(?:ly)? to|unlike|over|behind|below|above|"
    r"against)\s+(?:\S+\s+){0,2}$",
    re.IGNORECASE,
)
"""What stands before a model that a figure is compared with."""

_FAMILY = re.compile(r" (?:model )?(?:family|series|line(?:age)?|generation)\b", re.IGNORECASE)
"""Behind a name that then stands for many models."""
_PRONOUN = re.compile(PRONOUNS, re.IGNORECASE)

_FIGURE = re.compile(r"\d{1,7}(?:\.\d{1,6})?\s?%|\d{1,7}\s?/\s?\d{1,7}|(?<![\w.])\d{1,7}\.\d{1,6}(?![\w.])")
_FIGURE_CELL = re.compile(r"[<>≤≥~±]?\s?\d[\d.,]*\s?(?:%|/\s?\d[\d,]*)?(?:\s?\([^()]{0,40}\))?")
_CLAUSE_END = re.compile(r"[;,]| (?:and|but|while|whereas|compared|versus|vs\.?|rather|instead|than) ")

_REACH = 80
"""Characters before a name in which its comparing word is looked for."""

_LONGEST_OPENING = 160
"""Characters in which the comma must stand that ends it."""

_LOOK_BACK, _LOOK_FAR = 6, 12
"""Passages above in which the model of a pronoun, and what is said of all results, are looked for."""

_OF_ALL = re.compile(
    r"\b(?:these|those|all|the following|our|reported|most)(?: [\w-]{1,20}){0,2} (?:evaluations|evals|tests|results|assessments|"
    r"experiments|scores|figures|numbers)\b",
    re.IGNORECASE,
)
"""In a sentence that speaks of more than its own figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a figure is about."""

    model: str | None
    """As the card names it; None where neither the passage nor its surroundings say."""
    version: str | None
    """The build in the card's own words ("near-final model snapshot"); None where the card does not state one."""
    is_own: bool | None
    """Whether it is a model the card is about; None where that cannot be told."""
    why: str
    """Where the name was found, in a few words."""


def find_subject(passage: Passage, at: int | None, *, around: Around, models: Models) -> Subject:
    """Return what the figure that begins at character *at* of the passage's words is about; *at* is None for a claim without one."""
    found = _find_model(passage, at, around, models)
    cell = find_cell(passage, at) if at is not None else None
    version = _find_version(passage, at, cell.column if cell else None, around, models)
    return Subject(model=found[0], version=version, is_own=found[1], why=found[2])


_Found = tuple[str | None, bool | None, str]


def _find_model(passage: Passage, at: int | None, around: Around, models: Models) -> _Found:
    return (
        _from_row(passage, at, models)
        or _from_sentence(passage.words, at, models)
        or _from_above(passage, around, models)
        or _from_titles(passage, around, models)
        or _from_card(models)
    )


def _from_row(passage: Passage, at: int | None, models: Models) -> _Found | None:
    if not passage.cells:
        return None
    cell = find_cell(passage, at) if at is not None else None
    if cell is not None and cell.column and (heads := models.find(cell.column)):
        return heads[-1].name, heads[-1].is_own, "the head of its column"
    labels = models.find(passage.cells[0].text)
    return (labels[0].name, labels[0].is_own, "the first cell of its row") if labels else None


def _from_sentence(words: str, at: int | None, models: Models) -> _Found | None:
    """Return the model named before the figure and not as the other side of a comparison, else an own one named after it."""
    named = (one for one in models.find(words) if one.is_own or not _FAMILY.match(words, one.stop))
    mentions = [one for one in named if not _ASIDE.search(words[: one.start][-_REACH:])]
    if several := _find_several(words, mentions):
        return several, None, "said of several models"
    before = [one for one in mentions if at is None or one.start < at]
    chosen = _prefer(before) or next((one for one in mentions if one.is_own), None)
    return (chosen.name, chosen.is_own, "named in the passage") if chosen else None


def _find_several(words: str, mentions: list[Mention]) -> str | None:
    """Return "all models" where these are the sentence's subject: named before any single one, and not what it is compared with."""
    found = next((one for one in _ALL.finditer(words) if not _ASIDE.search(words[: one.start()][-_REACH:])), None)
    return found[0] if found and not any(one.start < found.start() and one.is_own for one in mentions) else None


def _prefer(mentions: list[Mention]) -> Mention | None:
    """Return the last own model, else the last of all."""
    return next((one for one in reversed(mentions) if one.is_own), mentions[-1] if mentions else None)


def _from_above(passage: Passage, around: Around, models: Models) -> _Found | None:
    """Return the own model named last in the sentences above, or in the paragraph that introduces a table."""
    above = (*around.lead_in(passage), *around.neighbours(passage, before=_LOOK_BACK, after=0))
    for one in reversed(above):
        if one.kind in (PassageKind.ROW, PassageKind.HEAD):
            continue
        own = [mention for mention in models.find(one.words) if mention.is_own]
        if own:
            return own[-1].name, True, "named in a sentence above"
    return None


def _from_titles(passage: Passage, around: Around, models: Models) -> _Found | None:
    for title in reversed(around.section_titles(passage)):
        own = [mention for mention in models.find(title) if mention.is_own]
        if own:
            return own[-1].name, True, "named in a heading above"
    return None


def _from_card(models: Models) -> _Found:
    if not models.own:
        return None, None, "no model is named nearby"
    sure = len(models.own) == 1
    return models.own[0], True, "the card's own model" if sure else "the model the card names most; the passage does not say which"


def _find_version(passage: Passage, at: int | None, column: str | None, around: Around, models: Models) -> str | None:
    """Return the build and protections stated beside the figure, else the build stated above for the card's own model."""
    for words in (" · ".join((_find_beside(passage, at, models), column or "")), _find_opening(passage, at)):
        if here := [found[0] for pattern in (*_SNAPSHOTS, *_GUARDS) if (found := pattern.search(words))]:
            return ", ".join(dict.fromkeys(here))
    whole = [one for one in around.neighbours(passage, before=_LOOK_FAR, after=0) if _OF_ALL.search(one.words)]
    for one in (*around.lead_in(passage), *around.continued(passage), *reversed(whole)):
        # Builds are rare and names are not, so builds are looked for first.
        if found := _find_snapshot(one):
            named = models.find(one.words)
            if named and not any(mention.is_own for mention in named):
                continue
            return found[0] if not _ASIDE.search(one.words[: found.start()][-_REACH:]) else None
    return None


@lru_cache(maxsize=256)
def _find_snapshot(passage: Passage) -> re.Match[str] | None:
    """Return the first build that *passage* states; a passage is looked at again for each of the dozen figures below it."""
    return next((hit for pattern in _SNAPSHOTS if (hit := pattern.search(passage.words))), None)


def _find_beside(passage: Passage, at: int | None, models: Models) -> str:
    """Return the words that belong to the figure at *at* and to no other: of a row, its labels; of a sentence, its clause.

    Without a figure these are all the words of the passage.
    """
    if at is None:
        return passage.words
    if passage.cells:
        return " · ".join(cell.text for cell in passage.cells if not _FIGURE_CELL.fullmatch(cell.text.strip()))
    names = [(one.start, one.stop) for one in models.find(passage.words)]
    spans = [one.span() for one in _FIGURE.finditer(passage.words)]
    figures = [(start, stop) for start, stop in spans if not any(begin < stop and start < end for begin, end in names)]
    start = max((stop for begin, stop in figures if stop <= at), default=0)
    own = next((stop for begin, stop in figures if begin <= at < stop), at)
    stop = min((begin for begin, _ in figures if begin >= own), default=len(passage.words))
    ending = _CLAUSE_END.search(passage.words, own, stop)
    return passage.words[start : ending.start() if ending else stop]


def _find_opening(passage: Passage, at: int | None) -> str:
    """Return the phrase a sentence begins with, up to its first comma, where no figure stands in it: it is said of all its figures."""
    opening = passage.words[:_LONGEST_OPENING].partition(",")[0]
    return opening if at is not None and not passage.cells and len(opening) < at and not _FIGURE.search(opening) else ""
