"""What may be said of endpoint names: each authority states a name of a version once, and takes back what it stated itself."""

from collections.abc import Iterator

from registry.errors import Fault
from registry.records.model_version import EndpointEventKind, ModelEndpoint
from registry.store.view import View


def find_endpoint_faults(view: View, said: ModelEndpoint, *, actor: str) -> Iterator[Fault]:
    """Yield everything that keeps *said* from being recorded now. A name that another version has is recorded: conflicts are shown.

    Args:
        actor: code of the authority that says it.
    """
    where = str(said.model)
    if view.find_model(said.model) is None:
        yield Fault(
            code="model-unknown",
            where=where,
            found="no model version of this name is registered",
            advice="register it first: caveat model add",
        )
        return
    known = next((one for one in view.list_endpoint_names(said.model) if one.name == said.name), None)
    own = dict(zip(known.by, known.entries, strict=True)).get(actor) if known else None
    if said.event is EndpointEventKind.STATE and own is not None:
        found = f"entry {own} of {actor} states that endpoints return it as {said.name}"
        yield Fault(code="endpoint-stated", where=where, found=found, advice="there is nothing to add")
    if said.event is EndpointEventKind.RETRACT and own is None:
        others = f"; {', '.join(known.by)} does, and takes it back alone" if known else ""
        found = f"{actor} does not state that endpoints return it as {said.name}{others}"
        yield Fault(code="endpoint-not-stated", where=where, found=found, advice="caveat model show lists the names")
