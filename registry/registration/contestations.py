"""Opening a contestation of something that is registered."""

from registry.errors import Fault, NotFoundError
from registry.records.contestation import Contestation
from registry.records.identifier import Identifier, Kind
from registry.store.writer import Writer


def contest_target(writer: Writer, target: Identifier, *, grounds: str, rival: Identifier | None, by: str) -> Contestation:
    """Record that *by* contests *target*, at its latest revision unless one is named.

    Raises:
        NotFoundError: the target or the rival is not registered.
    """
    contestation = Contestation(
        contestation=writer.allocate(Kind.CONTESTATION, by)[0],
        target=_resolve(writer, target),
        by=by,
        grounds=grounds,
        rival=_resolve(writer, rival) if rival else None,
    )
    writer.append(contestation)
    return contestation


def _resolve(writer: Writer, identifier: Identifier) -> str:
    """Return identifier and revision of what is registered."""
    if identifier.kind is Kind.CLAIM:
        claim = writer.find_revision(identifier.bare, identifier.revision) if identifier.revision else writer.find_claim(identifier.bare)
        if claim is not None:
            return claim.payload.reference
    else:
        spec = writer.find_spec(identifier.bare, identifier.revision)
        if spec is not None:
            return f"{spec.payload.spec}@{spec.payload.version}"
    near = ", ".join(writer.suggest(identifier.bare)) or "nothing like it"
    raise NotFoundError(Fault(code="not-registered", where=str(identifier), found="is not registered", advice=f"registered: {near}"))
