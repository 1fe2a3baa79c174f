"""What an authority says of the names under which endpoints return a model version becomes statements."""

from dataclasses import dataclass

from registry.errors import ConflictError, Fault, InputError
from registry.records.endpoint import EndpointEventKind, EndpointName, ModelEndpoint, find_endpoint_conflicts
from registry.records.model import ModelRef
from registry.registration.lineage import require_model
from registry.store.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointStatement:
    """What became of one statement."""

    entry: int
    """That says so."""
    is_new: bool
    """Whether this call recorded it; False where the authority said the same before."""
    conflicts: tuple[EndpointName, ...]
    """Other model versions for which the name is stated too; while it is, it does not tell which of them was asked."""


def state_endpoint(writer: Writer, model: ModelRef, name: str, *, actor: str, reason: str, source: str | None = None) -> EndpointStatement:
    """Record that endpoints return *model* as *name*; the same again records nothing. A name of another version is recorded too.

    A version that claims are about is registered on the way.

    Args:
        actor: code of the authority that says so.
        reason: why it says so.
        source: where it can be looked up.

    Raises:
        InputError: `not-valid`, *name* or *reason* is blank, or *name* has letters that cannot be seen.
        NotFoundError: `model-unknown`, it is not registered, and no claim is about it.
        ConflictError: `endpoint-stated`, the authority stated it with another reason or source.
    """
    said = _build(model, EndpointEventKind.STATE, name, reason, source)
    require_model(writer, model, register=True)
    entry = next((seq for seq in _list_own(writer, model, name, actor)), None)
    if entry is None:
        recorded = writer.append(said).seq
        return EndpointStatement(entry=recorded, is_new=True, conflicts=_find_conflicts(writer, model, name))
    before = next(one.payload for one in writer.list_endpoint_statements() if one.entry.seq == entry)
    if (before.reason, before.source) != (said.reason, said.source):
        found = f"entry {entry} of {actor} states {name} for another reason or from another source"
        advice = "there is nothing to add; to say it otherwise, take it back first: caveat model endpoint … --retract"
        raise ConflictError(Fault(code="endpoint-stated", where=str(model), found=found, advice=advice))
    return EndpointStatement(entry=entry, is_new=False, conflicts=_find_conflicts(writer, model, name))


def retract_endpoint(writer: Writer, model: ModelRef, name: str, *, reason: str, source: str | None = None) -> EndpointStatement:
    """Record that the authority no longer says that endpoints return *model* as *name*.

    Raises:
        InputError: `not-valid`, as `state_endpoint`.
        NotFoundError: `model-unknown`.
        CaveatError: `endpoint-not-stated`, the authority does not say so.
    """
    said = _build(model, EndpointEventKind.RETRACT, name, reason, source)
    require_model(writer, model)
    entry = writer.append(said).seq
    return EndpointStatement(entry=entry, is_new=True, conflicts=_find_conflicts(writer, model, name))


def _build(model: ModelRef, event: EndpointEventKind, name: str, reason: str, source: str | None) -> ModelEndpoint:
    try:
        return ModelEndpoint(model=model, event=event, name=name, reason=reason, source=source)
    except ValueError as error:
        raise InputError(Fault(code="not-valid", where=str(model), found=str(error))) from error


def _list_own(writer: Writer, model: ModelRef, name: str, actor: str) -> list[int]:
    """Return the entry by which *actor* states *name* for *model*, if any."""
    stated = (one for one in writer.list_endpoint_names(model) if one.name == name)
    return [entry for one in stated for code, entry in zip(one.by, one.entries, strict=True) if code == actor]


def _find_conflicts(writer: Writer, model: ModelRef, name: str) -> tuple[EndpointName, ...]:
    return tuple(one for one in find_endpoint_conflicts(writer.list_endpoint_names(), model) if one.name == name)
