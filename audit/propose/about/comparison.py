"""Which figures of a passage are its claim's own, and which it gives for something else."""

import re
from collections import Counter
from dataclasses import replace

from audit.propose.about.around import Around
from audit.propose.about.clauses import Owner, find_owners, open_promised
from audit.propose.about.columns import sort_row
from audit.propose.about.comparing import LINKS, RELATIVE
from audit.propose.about.models import Models
from audit.propose.about.parties import find_listed, find_parties
from audit.propose.about.whose import Choice, Own
from audit.propose.figures.quantity import Quantity, Unit
from registry.records.passage import Passage, PassageKind
from registry.records.proposal import Comparison

_RELATIVE = re.compile(rf"\b(?:{'|'.join(RELATIVE)})", re.IGNORECASE)
_LINK = re.compile(rf"\b{LINKS}(?: (?:both|the|that of|those of|all|our))*[\s(\[*]*$", re.IGNORECASE)
_LONGEST = 6000
"""Characters; a passage beyond is no sentence."""
_TOO_LONG = "The passage is too long to tell whose its figures are."
_REACH = 90
"""Characters before a name in which a relation to it begins."""


def choose_own(passage: Passage, quantities: tuple[Quantity, ...], *, around: Around, models: Models) -> Choice:
    """Return whose each of *quantities* is. Sample sizes and thresholds should be left out before."""
    if passage.cells or passage.kind is PassageKind.ROW:
        return sort_row(passage, quantities, around=around, models=models)
    if len(passage.words) > _LONGEST:
        return Choice(own=tuple(Own(quantity=one, model=None, column=None) for one in quantities), notes=(_TOO_LONG,))
    figures = open_promised(passage.words, quantities)
    choice = _drop_itself(_pair(figures, find_owners(passage.words, figures, models), models), models)
    return replace(choice, relative_to=find_relation(passage.words, quantities, models))


def _drop_itself(choice: Choice, models: Models) -> Choice:
    """Return *choice* without comparisons of a model with itself."""
    mine = models.own[0] if models.own else None

    def keep(one: Own) -> Own:
        name = one.model or mine
        others = (beside for beside in one.comparisons if name is None or all(found.name != name for found in models.find(beside.subject)))
        return replace(one, comparisons=tuple(others))

    return replace(choice, own=tuple(keep(one) for one in choice.own))


def find_relation(words: str, quantities: tuple[Quantity, ...], models: Models) -> str | None:
    """Return the words that relate what is claimed to something else ("over 7× higher than Claude Opus 4.1"); None without such."""
    parties = find_parties(words, models)
    for index, party in enumerate(parties):
        if party.is_own and not party.is_aside:
            continue
        begin = max(0, party.start - _REACH)
        before = words[begin : party.start]
        relation = next((one for one in _RELATIVE.finditer(before)), None)
        if relation is None or not (_LINK.search(before) or relation.end() >= len(before.rstrip())):
            continue
        stop = find_listed(words, parties, index)[-1].stop
        beyond = next((one.stop for one in quantities if one.unit is Unit.MULTIPLE and stop <= one.start), stop)
        return words[begin + relation.start() : beyond].strip()
    return _from_multiple(words, quantities, models)


def _from_multiple(words: str, quantities: tuple[Quantity, ...], models: Models) -> str | None:
    """Return the words of "compared to X – roughly a 2× decrease", where the factor stands after the name."""
    multiple = next((one for one in quantities if one.unit is Unit.MULTIPLE), None)
    if multiple is None:
        return None
    near = [one for one in find_parties(words, models) if one.stop <= multiple.start and not one.is_own]
    link = _LINK.search(words[: near[-1].start]) if near else None
    return words[link.start() : multiple.stop].strip() if link else None


def _pair(quantities: tuple[Quantity, ...], owners: tuple[Owner, ...], models: Models) -> Choice:
    """Give the figures of others to the own figures before them: to each its counterpart where there are as many, else to the last."""
    own: list[Own] = []
    others: list[Comparison] = []
    group = 0
    is_after_others = False
    ahead: tuple[Comparison, ...] = ()
    seen: Counter[str] = Counter()
    totals = Counter(name for owner in owners if not owner.is_own for name in owner.names)
    for quantity, owner in zip(quantities, owners, strict=True):
        if owner.is_own:
            if is_after_others:
                group, is_after_others, seen = len(own), False, Counter()
            own.append(Own(quantity=quantity, model=_full_name(owner, models), column=None, comparisons=ahead))
            ahead = ()
            continue
        if owner.is_ahead:
            ahead = tuple(Comparison(subject=name, value=quantity.value, words=quantity.written) for name in owner.names)
            others += ahead
            continue
        is_after_others = bool(own)
        for name in owner.names:
            beside = Comparison(subject=name, value=quantity.value, words=quantity.written)
            others.append(beside)
            if own:
                size = len(own) - group
                place = group + seen[name] if totals[name] == size and seen[name] < size else len(own) - 1
                own[place] = replace(own[place], comparisons=(*own[place].comparisons, beside))
            seen[name] += 1
    if own and others and not any(one.comparisons for one in own):
        own[0] = replace(own[0], comparisons=tuple(others))
    return Choice(own=tuple(own), others=tuple(others))


def _full_name(owner: Owner, models: Models) -> str | None:
    found = models.find(owner.names[0]) if owner.names else ()
    return found[0].name if found else None
