"""What is recorded here of other registries' logs, by origin."""

from typing import Any

from sqlalchemy import Table, select

from registry.records.dossier import Recorded
from registry.records.log_seal import Equivocation, LogImport, Witnessing
from registry.store.reader import Reader
from registry.store.seal_tables import equivocation, log_import, witnessing


def list_imports(reader: Reader, origin: str | None = None) -> tuple[Recorded[LogImport], ...]:
    """Return what was taken over from the log *origin*, or from any, in log order."""
    return _list(reader, log_import, origin)


def list_witnessings(reader: Reader, origin: str | None = None) -> tuple[Recorded[Witnessing], ...]:
    """Return which checkpoints of the log *origin*, or of any, were cosigned, in log order."""
    return _list(reader, witnessing, origin)


def list_equivocations(reader: Reader, origin: str | None = None) -> tuple[Recorded[Equivocation], ...]:
    """Return the evidence that the log *origin*, or any, signed two histories, in log order."""
    return _list(reader, equivocation, origin)


def _list(reader: Reader, table: Table, origin: str | None) -> tuple[Recorded[Any], ...]:
    wanted = select(table.c.seq).where(reader.visible(table))
    return reader.recorded_by(wanted if origin is None else wanted.where(table.c.origin == origin))
