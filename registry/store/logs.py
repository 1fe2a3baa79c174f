"""The logs in one registry: its own, and those of other registries that were taken over."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from registry.errors import Fault, NotFoundError
from registry.records.record import Record
from registry.store.tables import OWN_LOG, entry, log


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary(Record):
    """One log that is kept here."""

    origin: str
    """Its name."""
    vkey: str | None
    """The key that verifies its checkpoints; None when it has none."""
    size: int
    """Number of its entries that are here."""
    is_own: bool
    """Whether this registry writes it."""


def summarise_logs(connection: Connection) -> tuple[LogSummary, ...]:
    """Return the logs behind *connection*, the own one first; empty before the first entry."""
    size = select(func.coalesce(func.max(entry.c.seq), 0)).where(entry.c.log == log.c.id).scalar_subquery()
    rows = connection.execute(select(log.c.id, log.c.origin, log.c.vkey, size.label("size")).order_by(log.c.id))
    return tuple(LogSummary(origin=row.origin, vkey=row.vkey, size=row.size, is_own=row.id == OWN_LOG) for row in rows)


def find_log(connection: Connection, origin: str) -> int:
    """Return the number of the log called *origin*.

    Raises:
        NotFoundError: none is called so; with the names of those that are here.
    """
    known = {row.origin: row.id for row in connection.execute(select(log.c.origin, log.c.id).order_by(log.c.id))}
    if origin not in known:
        here = f"the logs here are {', '.join(known)}" if known else "there is no log here"
        raise NotFoundError(Fault(code="log-not-found", where=origin, found=here, advice="caveat import takes over another registry's log"))
    return int(known[origin])
