"""Whose each figure of a sentence is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from audit.propose.about.comparing import ANNOUNCED
from audit.propose.about.models import Models
from audit.propose.about.parties import Party, find_listed, find_parties
from audit.propose.figures.quantity import Quantity, Unit

_ANNOUNCED = re.compile(ANNOUNCED, re.IGNORECASE)
_FOR = re.compile(
    r"[\s)\]]*(?:(?!(?:is|was|are|were|to|than|half|while|and|but|compared|versus|above|below)\b)[\w-]{1,30} ){0,5}?"
    r"(?:for|by|from|on|in|with)"
    r"(?: (?:both|the|each of|that of|all))*[\s(\[*]*",
    re.IGNORECASE,
)
"""Between a figure and whom it is said of: "of the time for both"."""

_BEFORE = re.compile(
    r"[\])*]*(?:['’]s?)?[\s(:=,–—-]*(?:(?:which|who|at|of|was|is|had|scores?|scored|got|gets|with|reach\w*|achiev\w*|solv\w*|only|"
    r"about|an?|the|"
    r"approximately|roughly|over|average|averaged|rate|score|up|to|just|around|result|results|it|is|are|were|[~<>≥≤])[\s:(,]*){0,6}",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,7}(?:\.\d{1,6})?\s?%?")
_TURN = re.compile(r"[;]|, (?:while|whereas|but|and) ")
_FROM = re.compile(r"\b(?:from|was|were|previously|against)(?: an?| about| around| roughly| over| the)?\s*$", re.IGNORECASE)
_TO = re.compile(
    r"(?:[\s)]+(?:[\w-]{1,30} ){0,5}?(?:down |up )?(?:to|→)(?: an?| about| just| only| around| roughly| as \w+ as)*\s*)|\s*(?:→|->)\s*",
    re.IGNORECASE,
)
_NEAR = 40
"""Characters between two figures of which the second is where the first came from."""

_CONDITION = re.compile(
    r"\b(?:compar(?:ed|able) (?:to|with)|in (?:comparison|contrast) (?:to|with)|versus|vs\.?|relative to|as opposed to|as against|"
    r"approaching|"
    r"(?:improvement|improving|improved) (?:over|on)|(?:similar|close|closer) to|(?:higher|lower|better|worse|more|less|fewer) than)"
    r" (?P<what>(?:(?![,;:()]|which\b|who\b)[^,;:()]){0,60})$",
    re.IGNORECASE,
)
"""A comparison with something that is no model: another condition, another measurement."""
_TRIM = re.compile(r"(?:\b(?:of|at|is|was|a|an|only|just|about|over|the)\b[\s~]*)+$", re.IGNORECASE)
_AFTERWARDS = re.compile(
    r"(?:\W{0,2}of (?:the )?\w+)? ?(?P<what>(?:with(?:out)?|for|in|on|when|under|after|before|using|at) [^,;:()]{2,60})"
)

EARLIER = "the earlier condition"
"""Subject of the first figure in "from 30% to 6%"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose one figure is."""

    names: tuple[str, ...]
    """As written; empty for the model of the claim where the sentence does not name it beside the figure."""
    is_own: bool
    is_ahead: bool = False
    """Whether the figure it is set beside follows: the first of "from 30% to 6%"."""


_CLAIM = Owner(names=(), is_own=True)


def find_owners(words: str, quantities: tuple[Quantity, ...], models: Models) -> tuple[Owner, ...]:
    """Return the owner of each figure, in the order of *quantities*, which is that of the sentence."""
    announced = _ANNOUNCED.search(words)
    parties = tuple(one for one in find_parties(words, models) if announced is None or not announced.start() <= one.start < announced.end())
    promised = find_parties(announced["what"], models) if announced else ()
    owners: list[Owner] = []
    for place, quantity in enumerate(quantities):
        owner = (
            _from_promise(words, quantities, place, promised)
            or _from_change(words, quantities, place)
            or _from_pair(words, quantities, place, parties)
            or _from_after(words, quantities, place, parties)
            or _from_before(words, quantities, place, parties)
            or _from_condition(words, quantities, place, parties)
            or _from_clause(words, quantities, place, parties, owners)
        )
        owners.append(_find_speaker(parties, quantity) if quantity.unit in (Unit.MULTIPLE, Unit.POINTS) else owner)
    return tuple(owners)


def _find_speaker(parties: tuple[Party, ...], quantity: Quantity) -> Owner:
    """Return whose a factor or a difference is: the claim's, unless the sentence speaks of another alone before it."""
    before = [one for one in parties if one.stop <= quantity.start and not one.is_aside]
    return _name(before[0]) if before and not any(one.is_own for one in before) else _CLAIM


def open_promised(words: str, quantities: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    """Return the figures with those apart that a sentence announced for its parentheses, and that look like an interval."""
    if not _ANNOUNCED.search(words):
        return quantities
    return tuple(part for one in quantities for part in _open(one))


def _open(one: Quantity) -> Iterator[Quantity]:
    """Yield "86%", "68%" and "100%" of "86% (68%, 100%)"."""
    opening = one.written.find("(")
    inside = list(_NUMBER.finditer(one.written, opening)) if opening > 0 else []
    if one.low is None or len(inside) != 2:
        yield one
        return
    head = one.written[:opening].rstrip()
    yield replace(one, stop=one.start + len(head), written=head, low=None, high=None)
    for match, value in zip(inside, (one.low, one.high), strict=True):
        yield replace(
            one, start=one.start + match.start(), stop=one.start + match.end(), written=match[0], value=value, low=None, high=None
        )


def _from_promise(words: str, quantities: tuple[Quantity, ...], place: int, promised: tuple[Party, ...]) -> Owner | None:
    """Return whom an announcement gives the figure: "86% (68%, 100%)" after "compared to X, Y in parentheses"."""
    if not promised:
        return None
    opening = words.rfind("(", 0, quantities[place].start)
    if opening < 0 or ")" in words[opening : quantities[place].start]:
        return _CLAIM
    inside = sum(1 for one in quantities[:place] if one.start > opening)
    return _name(promised[inside]) if inside < len(promised) else None


def _from_change(words: str, quantities: tuple[Quantity, ...], place: int) -> Owner | None:
    """Return the earlier condition for the first of "from 30% to 6%" and the last of "6%, down from 30%"."""
    one = quantities[place]
    before = words[max(0, one.start - 40) : one.start]
    following = quantities[place + 1] if place + 1 < len(quantities) else None
    if following is not None and _FROM.search(before) and _TO.fullmatch(words[one.stop : following.start]):
        return Owner(names=(EARLIER,), is_own=False, is_ahead=True)
    if place and re.search(r"\bfrom(?: an?| about| the)?\s*$", before, re.IGNORECASE) and one.start - quantities[place - 1].stop < _NEAR:
        return Owner(names=(EARLIER,), is_own=False)
    if (
        place
        and _FROM.search(words[max(0, quantities[place - 1].start - 40) : quantities[place - 1].start])
        and _TO.fullmatch(words[quantities[place - 1].stop : one.start])
    ):
        return _CLAIM
    if re.search(r"\bby(?: an?| about| over| up to| roughly)?\s*$", before, re.IGNORECASE) and one.unit is Unit.SCORE:
        return Owner(names=(), is_own=False)
    return None


def _from_pair(words: str, quantities: tuple[Quantity, ...], place: int, parties: tuple[Party, ...]) -> Owner | None:
    """Return the claim's model and then the other for "comparably to X (90% vs. 87%)"."""
    one = quantities[place]
    near = [party for party in parties if party.stop <= one.start]
    other = next((party for party in reversed(near) if not party.is_own), None)
    following = quantities[place + 1] if place + 1 < len(quantities) else None
    if following is not None and _is_versus(words[one.stop : following.start]) and near and near[-1].is_aside:
        return _CLAIM
    if place and _is_versus(words[quantities[place - 1].stop : one.start]) and not _names_after(words, quantities, place, parties):
        return _name(other) if other else Owner(names=("the other figure",), is_own=False)
    return None


def _is_versus(gap: str) -> bool:
    return re.fullmatch(r"\s*,?\s*(?:vs\.?|versus)\s*", gap, re.IGNORECASE) is not None


def _from_after(words: str, quantities: tuple[Quantity, ...], place: int, parties: tuple[Party, ...]) -> Owner | None:
    found = _names_after(words, quantities, place, parties)
    if not found:
        return None
    return Owner(names=tuple(one.name for one in found if one.name), is_own=found[0].is_own)


def _names_after(words: str, quantities: tuple[Quantity, ...], place: int, parties: tuple[Party, ...]) -> tuple[Party, ...]:
    """Return the parties of "2% of the time for X and Y"."""
    one = quantities[place]
    limit = quantities[place + 1].start if place + 1 < len(quantities) else len(words)
    first = next((index for index, party in enumerate(parties) if one.stop <= party.start < limit), None)
    if first is None or not _FOR.fullmatch(words[one.stop : parties[first].start]):
        return ()
    return find_listed(words, parties, first)


def _from_before(words: str, quantities: tuple[Quantity, ...], place: int, parties: tuple[Party, ...]) -> Owner | None:
    """Return the party of "X (2%)", "X's 2%", "X, which solved 2%", "X: 2%"."""
    one = quantities[place]
    near = [party for party in parties if party.stop <= one.start]
    if near and _BEFORE.fullmatch(words[near[-1].stop : one.start]):
        return _name(near[-1])
    return None


def _from_condition(words: str, quantities: tuple[Quantity, ...], place: int, parties: tuple[Party, ...]) -> Owner | None:
    """Return the other condition of "compared to 68% without safeguards", of "approaching the hidden-scratchpad rate of 14%"."""
    one = quantities[place]
    since = max([quantities[place - 1].stop if place else 0, *(party.stop for party in parties if party.stop <= one.start)])
    found = _CONDITION.search(words[since : one.start])
    if found is None:
        return None
    named = _TRIM.sub("", found["what"]).strip()
    after = _AFTERWARDS.match(words[one.stop :])
    return Owner(names=(named or (after["what"].strip(" .") if after else "the other figure"),), is_own=False)


def _from_clause(words: str, quantities: tuple[Quantity, ...], place: int, parties: tuple[Party, ...], owners: list[Owner]) -> Owner:
    """Return whoever was named since the figure before, else the owner of that figure if they are listed together."""
    one = quantities[place]
    since = quantities[place - 1].stop if place else 0
    near = [party for party in parties if since <= party.start and party.stop <= one.start]
    speaking = [party for party in near if not (party.is_aside and _is_left(words, party, one))]
    own = [party for party in speaking if party.is_own]
    if own and not (speaking[-1].is_aside and not speaking[-1].is_own):
        return _name(own[-1])
    if speaking:
        return _name(speaking[-1])
    if place and not near and not _TURN.search(words[since : one.start]):
        return owners[-1] if owners[-1].names != (EARLIER,) and quantities[place - 1].unit not in (Unit.MULTIPLE, Unit.POINTS) else _CLAIM
    return _CLAIM


def _is_left(words: str, party: Party, quantity: Quantity) -> bool:
    """Whether a comma ends the comparison before the figure: "Compared to X, refusals rose to 5%"."""
    rest = words[party.stop : quantity.start]
    return re.match(r"[\])*]*,(?! which| who| at\b| with\b)", rest) is not None


def _name(party: Party) -> Owner:
    return Owner(names=(party.name,) if party.name else (), is_own=party.is_own)
