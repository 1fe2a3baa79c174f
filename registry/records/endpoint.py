"""What endpoints call a model version: names that authorities state, and what of that is in force."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from registry.records.model import ModelRef
from registry.records.record import Record

if TYPE_CHECKING:
    from registry.records.dossier import Recorded


class EndpointEventKind(StrEnum):
    """What may be said of an endpoint name."""

    STATE = "state"
    """Endpoints return this name for responses of the version."""
    RETRACT = "retract"
    """The same authority no longer says so: it was an error, or it came to be untrue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint(Record):
    """A statement of an authority on the name under which endpoints return a model version."""

    model: ModelRef
    event: EndpointEventKind
    name: str
    """As the endpoint returns it, compared letter by letter."""
    reason: str
    """Why the authority says so."""
    source: str | None = None
    """Where it can be looked up, such as the address of a page; None where the authority names nothing."""

    def __post_init__(self) -> None:
        if not self.name.strip() or self.name != self.name.strip():
            raise ValueError("an endpoint name is not blank and has no white space at its ends")
        if any(unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp") for letter in self.name):
            raise ValueError("an endpoint name has no line breaks and no characters that cannot be seen")
        if not self.reason.strip():
            raise ValueError("an endpoint name needs a reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointName(Record):
    """An endpoint name in force: derived from statements, never itself recorded as one."""

    model: ModelRef
    name: str
    by: tuple[str, ...]
    """Codes of the authorities that state it, in the order in which they did."""
    entries: tuple[int, ...]
    """Their statements, in the same order."""


def list_endpoint_names(statements: Iterable["Recorded[ModelEndpoint]"]) -> tuple[EndpointName, ...]:
    """Return the endpoint names in force after *statements*, in the order in which they were first stated.

    Each authority speaks for itself: one that retracts a name takes back its own statement and nobody else's.
    """
    stated: dict[tuple[ModelRef, str], dict[str, int]] = {}
    for one in sorted(statements, key=lambda one: one.entry.seq):
        authorities = stated.setdefault((one.payload.model, one.payload.name), {})
        authorities.pop(one.entry.actor, None)
        if one.payload.event is EndpointEventKind.STATE:
            authorities[one.entry.actor] = one.entry.seq
    return tuple(
        EndpointName(model=model, name=name, by=tuple(authorities), entries=tuple(authorities.values()))
        for (model, name), authorities in stated.items()
        if authorities
    )


def find_endpoint_conflicts(names: Iterable[EndpointName], model: ModelRef) -> tuple[EndpointName, ...]:
    """Return the names of *model* as they are stated for other versions: such a name does not tell which of them was asked."""
    known = tuple(names)
    own = {one.name for one in known if one.model == model}
    return tuple(one for one in known if one.name in own and one.model != model)
