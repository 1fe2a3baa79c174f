"""Who is named in a sentence: models, groups of models, human and other baselines."""

import re
from dataclasses import dataclass

from audit.propose.comparing import ASIDE, GROUPS, HUMANS
from audit.propose.model_names import ALL_MODELS, PRONOUNS
from audit.propose.models import Models

_OTHERS = re.compile(rf"\b(?:{GROUPS})|(?<![\w-])(?:{'|'.join(HUMANS)})(?![\w-])", re.IGNORECASE)
_OWN = re.compile(rf"{PRONOUNS}|{ALL_MODELS}", re.IGNORECASE)
_ASIDE = re.compile(rf"\b(?:{'|'.join(ASIDE)})(?: (?:both|the|that of|those of|for|an?|all|our))*[ \"“(\[]*$", re.IGNORECASE)
_AND = re.compile(r"[\])*]*(?:,? (?:and|or|as well as|&) |, )(?:the |both |to )?[\[(*]*")

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
    spans: list[tuple[int, int, str | None, bool]] = [
        (one.start, one.stop, one.written, one.is_own or not models.own) for one in models.find(words)
    ]
    for pattern, is_own in ((_OWN, True), (_OTHERS, False)):
        for match in pattern.finditer(words):
            if not any(start < match.end() and match.start() < stop for start, stop, _, _ in spans):
                spans.append((match.start(), match.end(), None if is_own else match[0], is_own))
    parties: list[Party] = []
    for start, stop, name, is_own in sorted(spans):
        last = parties[-1] if parties else None
        is_listed = last is not None and last.is_aside and _AND.fullmatch(words[last.stop : start]) is not None
        is_aside = is_listed or _ASIDE.search(words[max(0, start - _REACH) : start]) is not None
        parties.append(Party(start=start, stop=stop, name=name, is_own=is_own, is_aside=is_aside))
    return tuple(parties)


def find_listed(words: str, parties: tuple[Party, ...], first: int) -> tuple[Party, ...]:
    """Return the party at index *first* and those listed with it: "X, Y and Z"."""
    last = first
    while last + 1 < len(parties) and _AND.fullmatch(words[parties[last].stop : parties[last + 1].start]):
        last += 1
    return parties[first : last + 1]
