"""Statements on endpoint names, as far as they concern a claim or a model version."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from sqlalchemy import select

from registry.records.dossier import Recorded
from registry.records.model_version import ModelEndpoint, ModelRef
from registry.store.endpoint_tables import asked_name, model_endpoint
from registry.store.reader import Reader
from registry.store.tables import audit


class EndpointIndex:
    """Which entries state or retract endpoint names, by version and name; each table is read once."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def list_entries(self, model: ModelRef, claim: str | None = None) -> list[int]:
        """Return the entries that concern who was asked for *model*, in log order.

        Those are of *model* itself, and of other versions under a name that was ever stated for *model*, or by which an audit of
        *claim* (`CLM-…`) decided who was asked.
        """
        if not self._statements:
            return []
        names = {name for _, of, name in self._statements if of == model}
        names |= self._asked.get(claim, set()) if claim is not None else set()
        return [seq for seq, of, name in self._statements if of == model or name in names]

    @cached_property
    def _statements(self) -> list[tuple[int, ModelRef, str]]:
        table = model_endpoint
        wanted = select(table.c.seq, table.c.developer, table.c.name, table.c.version, table.c.endpoint)
        rows = self._reader.plain_rows(wanted.where(self._reader.visible(table)).order_by(table.c.seq))
        return [(row[0], ModelRef(developer=row[1], name=row[2], version=row[3]), row[4]) for row in rows]

    @cached_property
    def _asked(self) -> dict[str, set[str]]:
        same = (asked_name.c.log == audit.c.log) & (asked_name.c.audit == audit.c.audit)
        wanted = select(audit.c.claim, asked_name.c.name).join(asked_name, same)
        found: dict[str, set[str]] = defaultdict(set)
        for claim, name in self._reader.plain_rows(wanted.where(self._reader.visible(audit), self._reader.visible(asked_name))):
            found[claim].add(name)
        return found


def read_endpoint_statements(reader: Reader, entries: Iterable[int] | None = None) -> tuple[Recorded[ModelEndpoint], ...]:
    """Return the statements on endpoint names among *entries*, in log order; without *entries*, all of them."""
    if entries is not None:
        return reader.recorded(entries)
    return reader.recorded_by(select(model_endpoint.c.seq).where(reader.visible(model_endpoint)))
