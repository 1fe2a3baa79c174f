"""Who was asked: whether the names that an endpoint returned are those of the model version that a claim is about."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from registry.records.endpoint import EndpointName
from registry.records.model import ModelRef
from registry.records.plan import Lock
from registry.records.record import Record
from registry.records.trial import Provenance


class AskedStatus(StrEnum):
    """What the returned names show of who was asked."""

    BOUND = "bound"
    """Every response names the claim's model version, and no other version has that name."""
    UNIDENTIFIED = "unidentified"
    """Responses carry no model name."""
    UNBOUND = "unbound"
    """A name was returned, and none was stated for the claim's model version when it counted."""
    CONFLICTING = "conflicting"
    """A returned name is stated for the claim's model version and for another one."""
    OTHER = "other"
    """A returned name is none of those of the claim's model version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Record):
    """Who was asked, as the returned names show it."""

    model: ModelRef
    """The model version that the claim is about."""
    status: AskedStatus
    names_returned: tuple[str, ...]
    """As the responses carry them, sorted, each once."""
    names_expected: tuple[str, ...]
    """Those that count for `model`: of a locked audit the names in the lock that are still stated, else all that are stated."""
    belongs_to: tuple[EndpointName, ...] = ()
    """Other registered versions that a returned name belongs to, where it is none of the expected ones."""
    conflicts: tuple[EndpointName, ...] = ()
    """Other registered versions that a returned name is stated for too, where it is an expected one."""
    unnamed_responses: int = 0
    """Responses that carry no model name, where others do."""
    text: str
    """One sentence that names both: what was returned and what was expected."""

    @property
    def is_other(self) -> bool:
        """Whether a returned name is not one of `model`'s: the responses are then evidence about another version."""
        return self.status is AskedStatus.OTHER

    @property
    def is_bound(self) -> bool:
        """Whether the evidence is shown to be of the claim's model version."""
        return self.status is AskedStatus.BOUND

    def differs_from(self, other: "Asked | None") -> bool:
        """Whether *other* says something else of who was asked, whatever its words and whoever stated the names."""
        return other is None or _summarise(self) != _summarise(other)


def _summarise(asked: Asked) -> tuple[object, ...]:
    elsewhere = [sorted({(one.name, str(one.model)) for one in names}) for names in (asked.belongs_to, asked.conflicts)]
    return (asked.model, asked.status, asked.names_returned, sorted(asked.names_expected), elsewhere, asked.unnamed_responses)


def find_asked(names: Iterable[EndpointName], model: ModelRef, lock: Lock | None, provenance: Provenance) -> Asked:
    """Return who was asked, by what the responses carry.

    Args:
        names: in force, of every model version (`View.list_endpoint_names`).
        model: the version that the claim is about.
        lock: fixes which names count; without one all that are stated do.
        provenance: of the responses.
    """
    locked = None if lock is None else lock.endpoint_names
    return weigh_asked(names, model, provenance.models_returned, locked=locked, unnamed_responses=provenance.unnamed_responses)


def weigh_asked(
    names: Iterable[EndpointName],
    model: ModelRef,
    returned: Collection[str],
    *,
    locked: Sequence[str] | None,
    unnamed_responses: int = 0,
) -> Asked:
    """Return who was asked. Names are compared letter by letter; the beginning of a name is another name.

    Args:
        names: in force, of every model version; those of other versions show what a returned name belongs to.
        model: the version that the claim is about.
        returned: the names that the responses carry.
        locked: the names that the lock fixes; None without a lock, and then all that are stated for *model* count.
        unnamed_responses: how many responses carry no name, where others do.
    """
    known = tuple(names)
    stated = tuple(dict.fromkeys(one.name for one in known if one.model == model))
    expected = stated if locked is None else tuple(name for name in locked if name in stated)
    found = tuple(sorted(set(returned)))
    unexpected = [name for name in found if name not in expected]
    belongs_to = tuple(one for one in known if one.name in unexpected and one.model != model)
    conflicts = tuple(one for one in known if one.name in found and one.name in expected and one.model != model)
    retracted = bool(locked) and all(name in (locked or ()) for name in unexpected)
    if not found:
        status = AskedStatus.UNIDENTIFIED
        text = f"The logs and tables carry no model name, so nothing shows that {model} was asked{_tell_expected(expected)}."
    elif belongs_to or (unexpected and expected and not retracted):
        status, text = AskedStatus.OTHER, _tell_other(model, unexpected, expected, belongs_to)
    elif unexpected:
        status, text = AskedStatus.UNBOUND, _tell_unbound(model, unexpected, stated, locked)
    elif unnamed_responses:
        status = AskedStatus.UNIDENTIFIED
        responses = "response carries" if unnamed_responses == 1 else "responses carry"
        text = f"{unnamed_responses:,} {responses} no model name, so nothing shows that {model} gave them; others returned {_list(found)}."
    elif conflicts:
        status = AskedStatus.CONFLICTING
        others = "; ".join(f"{one.name} also for {one.model} (by {', '.join(one.by)})" for one in conflicts)
        text = f"The endpoint returned {_list(found)}, stated for {model}, but {others}: the name does not tell which of them was asked."
    else:
        status = AskedStatus.BOUND
        what = "an endpoint name" if len(found) == 1 else "endpoint names"
        text = f"The endpoint returned {_list(found)}, stated as {what} of {model}."
    return Asked(
        model=model,
        status=status,
        names_returned=found,
        names_expected=expected,
        belongs_to=belongs_to,
        conflicts=conflicts,
        unnamed_responses=unnamed_responses,
        text=text,
    )


def _tell_expected(expected: Sequence[str]) -> str:
    return f", whose endpoint {_name_noun(expected)} {_list(expected)}" if expected else ""


def _tell_other(model: ModelRef, unexpected: Sequence[str], expected: Sequence[str], belongs_to: Sequence[EndpointName]) -> str:
    owners = {one.name: [str(each.model) for each in belongs_to if each.name == one.name] for one in belongs_to}
    told = ", ".join(f"{name} (a name of {' and of '.join(owners[name])})" if name in owners else name for name in unexpected)
    if expected:
        return f"The endpoint returned {told}; the claim is about {model}, whose endpoint {_name_noun(expected)} {_list(expected)}."
    return f"The endpoint returned {told}; the claim is about {model}, for which no endpoint name counts."


def _tell_unbound(model: ModelRef, unexpected: Sequence[str], stated: Sequence[str], locked: Sequence[str] | None) -> str:
    if locked:
        return (
            f"The endpoint returned {_list(unexpected)}, which counted for {model} when the plan was locked; "
            "the statement was retracted since."
        )
    if locked is not None and stated:
        return (
            f"No endpoint name was stated for {model} when the plan was locked; the endpoint returned {_list(unexpected)}, "
            f"and since then {_list(stated)} was stated."
        )
    return f"No endpoint name is stated for {model}; the endpoint returned {_list(unexpected)}."


def _name_noun(names: Sequence[str]) -> str:
    return "name is" if len(names) == 1 else "names are"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "no name"
