"""What all windows offer becomes one list: the same claim read in two windows stands once, and one property has one name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from registry.codec.canonical import canonical_bytes
from registry.codec.documents import to_document
from registry.records.claim import Direction, PropertyClass
from registry.records.proposal import Confidence, Proposal
from registry.records.spec import PropertySpec

_RANKS = {Confidence.HIGH: 0, Confidence.MEDIUM: 1, Confidence.LOW: 2}
_SHARED = 0.5
"""Of the shorter quote, what two readings of one claim have in common at least."""
_Key = tuple[int, int, bytes]
_Property = tuple[str, PropertyClass, Direction, bool]


def merge_windows(windows: Iterable[Sequence[Proposal]]) -> tuple[Proposal, ...]:
    """Return the proposals of all windows, each claim once, in the order of the card.

    Two of different windows are one claim when at least half of the shorter quote is in the other and they give the same figure, or both
    none, to the same subject. Of the two the surer is kept, then the one that states more, then the longer quote; where they differ in
    form, a note says so. Within one window nothing is joined but what is the same to the letter: there the model saw both, and meant
    two. So the order of windows does not matter, and merging a list with itself changes nothing.
    """
    merged: list[Proposal] = []
    for window in sorted((_order(one) for one in windows), key=lambda one: [_key(each) for each in one]):
        _add(merged, window)
    return tuple(_order(merged))


def tell_apart(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Return *proposals* with one property for each name, class and direction, on the widest of its ranges, and a short name of its own.

    A range that was guessed from one figure would else make two properties of one.
    """
    found = tuple(proposals)
    specs: dict[_Property, PropertySpec] = {}
    for one in found:
        known = specs.get(_name_kind(one))
        specs[_name_kind(one)] = one.property if known is None else _widen(known, one.property)
    slugs = _give_names(specs)
    return tuple(replace(one, property=specs[_name_kind(one)], slug=slugs[_name_kind(one)]) for one in found)


def _order(proposals: Iterable[Proposal]) -> list[Proposal]:
    """The proposals by their place, each once."""
    unique = {_key(one): one for one in proposals}
    return [unique[key] for key in sorted(unique)]


def _key(one: Proposal) -> _Key:
    return one.anchor.start, one.anchor.stop, canonical_bytes(to_document(one))


def _add(merged: list[Proposal], window: Sequence[Proposal]) -> None:
    """Join each of *window* with the one of *merged* that it is most like, which no other of the window may then take."""
    first = min((one.anchor.start for one in window), default=0)
    free = [at for at, other in enumerate(merged) if other.anchor.stop > first]
    left = list(window)
    for is_like in (_is_equal, _is_same_by_name, _is_same):
        left = [one for one in left if not _join(merged, one, is_like, free)]
    merged += left


def _join(merged: list[Proposal], one: Proposal, is_like: Callable[[Proposal, Proposal], bool], free: list[int]) -> bool:
    place = next((at for at in free if is_like(one, merged[at])), None)
    if place is None:
        return False
    free.remove(place)
    merged[place] = _choose(merged[place], one)
    return True


def _is_equal(one: Proposal, other: Proposal) -> bool:
    return one == other


def _is_same_by_name(one: Proposal, other: Proposal) -> bool:
    return one.slug == other.slug and _is_same(one, other)


def _is_same(one: Proposal, other: Proposal) -> bool:
    shared = min(one.anchor.stop, other.anchor.stop) - max(one.anchor.start, other.anchor.start)
    shorter = min(one.anchor.stop - one.anchor.start, other.anchor.stop - other.anchor.start)
    if shared <= 0 or shared < _SHARED * shorter:
        return False
    ours, theirs = _list_figures(one), _list_figures(other)
    return bool(ours & theirs or not (ours or theirs)) and (one.model == other.model or None in (one.model, other.model))


def _list_figures(one: Proposal) -> set[float]:
    figures = (one.theta, one.reported.value if one.reported else None)
    return {figure for figure in figures if figure is not None}


def _choose(one: Proposal, other: Proposal) -> Proposal:
    """The better of two readings of one claim; it does not matter which is named first."""
    better, worse = sorted((one, other), key=_rank)
    if better.form is worse.form and better.relation is worse.relation:
        return better
    relation = f" {worse.relation.value}" if worse.relation else ""
    note = f"read with a neighbouring part of the card, the engine takes it for {worse.form.value}{relation}"
    return better if note in better.notes else replace(better, notes=(*better.notes, note))


def _rank(one: Proposal) -> tuple[int, int, int, bytes]:
    stated = (one.model, one.version, one.evaluation, one.grader, one.elicitation, one.relative_to)
    missing = sum(field is None for field in stated) - len(one.comparisons) - len(one.awareness)
    return _RANKS[one.confidence], missing, one.anchor.start - one.anchor.stop, canonical_bytes(to_document(one))


def _name_kind(one: Proposal) -> _Property:
    return one.slug, one.property.class_, one.property.direction, one.property.suppressible


def _widen(known: PropertySpec, other: PropertySpec) -> PropertySpec:
    low, high = min(known.range[0], other.range[0]), max(known.range[1], other.range[1])
    return replace(known, range=(low, high))


def _give_names(kinds: Iterable[_Property]) -> dict[_Property, str]:
    """A free name for each: its own, or with the next number."""
    kinds = list(kinds)
    first = {kind[0]: kind for kind in reversed(kinds)}
    names = {kind: slug for slug, kind in first.items()}
    for kind in kinds:
        number = 2
        while kind not in names:
            slug = f"{kind[0]}-{number}"
            if slug not in names.values():
                names[kind] = slug
            number += 1
    return names
