"""Short names of properties: equal ones have equal names, and different ones different."""

from collections.abc import Iterable
from dataclasses import replace

from registry.records.claim import Direction, PropertyClass
from registry.records.proposal import Proposal
from registry.records.spec import PropertySpec

_Kind = tuple[str, PropertyClass, Direction, bool]


def tell_apart(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Return *proposals* with one property for each name, class and direction, on the widest of its ranges, and a short name of its own.

    A range that was guessed from one figure would else make two properties of one.
    """
    found = tuple(proposals)
    specs: dict[_Kind, PropertySpec] = {}
    for one in found:
        known = specs.get(_key(one))
        specs[_key(one)] = one.property if known is None else _widen(known, one.property)
    slugs = _name(specs)
    return tuple(replace(one, property=specs[_key(one)], slug=slugs[_key(one)]) for one in found)


def _key(one: Proposal) -> _Kind:
    return one.slug, one.property.class_, one.property.direction, one.property.suppressible


def _widen(known: PropertySpec, other: PropertySpec) -> PropertySpec:
    low, high = min(known.range[0], other.range[0]), max(known.range[1], other.range[1])
    return replace(known, range=(low, high))


def _name(kinds: Iterable[_Kind]) -> dict[_Kind, str]:
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
