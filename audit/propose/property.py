"""What a figure measures: a property with name, class, range and direction."""

import re
from dataclasses import dataclass

from audit.propose.around import Around
from audit.propose.quantity import Quantity
from registry.records.claim import Direction, PropertyClass
from registry.records.passage import Passage
from registry.records.spec import PropertySpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property as rules read it off a passage."""

    spec: PropertySpec
    slug: str
    """Lower case with hyphens; equal properties have equal slugs."""
    notes: tuple[str, ...] = ()
    """What a person should check, in sentences."""


def describe_property(
    passage: Passage, quantity: Quantity | None, *, around: Around, column: str | None, evaluation: str | None
) -> Property:
    """Return the property that the figure, or the passage without one, speaks of; *column* is the head of the figure's column."""
    titles = around.section_titles(passage)
    name = (column or (titles[-1] if titles else None) or "property").strip()
    spec = PropertySpec(name=name, class_=PropertyClass.CAPABILITY, range=(0, 1), direction=Direction.NOT_SAFETY)
    return Property(spec=spec, slug=slugify(name))


def slugify(name: str) -> str:
    """Return *name* in lower case with single hyphens, at most 80 characters, never empty."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "property"
