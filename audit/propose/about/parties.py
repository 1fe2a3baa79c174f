"""Who is named in a sentence: models, groups of models, human and other baselines."""

import re
from bisect import bisect_right
from dataclasses import dataclass

from audit.propose.about.comparing import ASIDE, GROUPS, HUMANS
from audit.propose.about.model_names import ALL_MODELS, PRONOUNS
from audit.propose.about.models import Models

_OTHERS = re.compile(rf"\b(?:{GROUPS})|(?<![\w-])(?:{'|'.join(HUMANS)})(?![\w-])", re.IGNORECASE)
_OWN = re.compile(rf"{PRONOUNS}|{ALL_MODELS}", re.IGNORECASE)
_ASIDE = re.compile(rf"\b(?:{'|'.join(ASIDE)})(?: (?:both|the|that of|those of|for|an?|all|our))*[ \"“(\[]*$", re.IGNORECASE)
_AND = re.compile(r"[\])*]*(?:,? (?:and|or|as well as|&) |, )(?:the |both |to )?[\[(*]*")

_Span = tuple[int, int, str | None, bool]
"""First character, one past the last, name as written, whether own."""

_REACH = 60
"""Characters before a name in which its comparing word is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """Somebody a figure may belong to."""

    start: int
    """First character in the words."""
    stop: int
    name: str | None
    """As written; None for a pronoun that stands for the card's model."""
    is_own: bool
    is_aside: bool
    """Whether a comparing word stands before it, or before those it is listed with."""


def find_parties(words: str, models: Models) -> tuple[Party, ...]:
    """Return who is named in *words*, in order, without overlaps."""
    spans: list[_Span] = [(one.start, one.stop, one.written, one.is_own or not models.own) for one in models.find(words)]
    spans = _add(spans, [(hit.start(), hit.end(), hit[0], False) for hit in _OTHERS.finditer(words)])
    spans = _add(spans, [(hit.start(), hit.end(), None, True) for hit in _OWN.finditer(words)])
    parties: list[Party] = []
    for start, stop, name, is_own in spans:
        last = parties[-1] if parties else None
        is_listed = last is not None and last.is_aside and _AND.fullmatch(words[last.stop : start]) is not None
        is_aside = is_listed or _ASIDE.search(words[max(0, start - _REACH) : start]) is not None
        parties.append(Party(start=start, stop=stop, name=name, is_own=is_own, is_aside=is_aside))
    return tuple(parties)


def _add(spans: list[_Span], more: list[_Span]) -> list[_Span]:
    """Return both in order, without those of *more* that overlap one of *spans*."""
    starts = [one[0] for one in spans]
    free = []
    for one in more:
        place = bisect_right(starts, one[0])
        is_before = place == len(spans) or one[1] <= spans[place][0]
        if is_before and (place == 0 or spans[place - 1][1] <= one[0]):
            free.append(one)
    return sorted([*spans, *free], key=lambda one: one[:2])


def find_listed(words: str, parties: tuple[Party, ...], first: int) -> tuple[Party, ...]:
    """Return the party at index *first* and those listed with it: "X, Y and Z"."""
    last = first
    while last + 1 < len(parties) and _AND.fullmatch(words[parties[last].stop : parties[last + 1].start]):
        last += 1
    return parties[first : last + 1]
