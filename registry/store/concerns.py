"""Which entries concern an identifier: one relation over the typed rows, read by name in one query."""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from registry.records.record import Kind
from registry.store.log_reader import CHUNK, LogReader

# Decision of 2026-11-23: this index is not stored. The typed rows name every identifier already and
# have an index on it, so a UNION ALL over them answers as fast as a table would. A table of its own
# would be a second copy of the same facts: it would slow down every import by four rows a claim, and
# would have to be rebuilt and checked like the rows themselves.


class Role(NamedTuple):
    """A column that names an identifier, and what else a row with it says."""

    table: str
    column: str
    revision: str = "0"
    """Column of the revision or version that is named; 0 where none is."""
    own: str = "NULL"
    """Column of the identifier that the statement gives itself, or names beside."""


class Concern(NamedTuple):
    """That an entry names an identifier."""

    table: str
    name: str
    seq: int
    revision: int
    """0 where the entry names no revision."""
    own: str | None
    """As `Role.own`."""


SIGHTINGS = Role("sighting", "claim", "revision")
AUDITS = Role("audit", "claim", "revision", "audit")
DISPUTES = Role("contestation", "claim", "revision", "contestation")
OF_CLAIM = (
    Role("claim_revision", "claim", "revision"),
    Role("claim_event", "claim"),
    Role("claim_relation", "claim"),
    Role("claim_relation", "other"),
    SIGHTINGS,
    Role("staleness_review", "claim", "revision"),
    AUDITS,
    DISPUTES,
)
"""What a claim's dossier and state rest on."""
RIVALS = Role("audit_rival", "audit", own="contestation")
_PARTS = ("lock", "run", "result", "evidence", "finding", "restriction", "deviation", "exploration", "run_start", "run_end")
OF_AUDIT = (*(Role(table, "audit") for table in _PARTS), RIVALS)
"""What belongs to an audit beside its opening; a rival is in the entry that opens it."""
OF_CONTESTATION = (
    Role("contestation", "contestation"),
    Role("contestation_event", "contestation"),
    Role("audit_rival", "contestation", own="audit"),
)
"""A contestation, its steps, and the openings of audits that replay under its rival."""
SPEC_DISPUTES = Role("contestation", "spec", "version", "contestation")
OF_SPEC = (Role("spec_version", "spec", "version"), Role("reveal", "spec", "version"), SPEC_DISPUTES)
"""The versions of a specification, what reveals them, and contestations of them."""
OF_CARD = (Role("card_revision", "card", "revision"), Role("survey", "card", "revision"), Role("omission", "card", "revision"))
"""The revisions of a card, and what was recorded of them."""

_PUBLISHED = Role("publication", "subject", "revision")
_SPEC_HISTORY = (OF_SPEC[0], SPEC_DISPUTES, Role("contestation", "rival", "rival_version", "contestation"))
IN_HISTORY: dict[Kind, tuple[Role, ...]] = {
    Kind.CLAIM: (*OF_CLAIM, Role("claim_event", "successor"), _PUBLISHED),
    Kind.AUDIT: (Role("audit", "audit", own="audit"),),
    Kind.CARD: (*OF_CARD, Role("sighting", "card", "card_revision"), _PUBLISHED),
    Kind.CONTESTATION: (Role("contestation", "contestation", own="contestation"),),
    **dict.fromkeys((Kind.CONTEXT, Kind.PROPERTY, Kind.SCORING, Kind.CUES, Kind.METHOD), _SPEC_HISTORY),
}
"""What the history of an identifier tells; the audits and contestations that it names belong to it with `PARTS_IN_HISTORY`."""
PARTS_IN_HISTORY = (*OF_AUDIT, Role("publication", "audit"), Role("contestation_event", "contestation"))


def find_concerns(reader: LogReader, roles: tuple[Role, ...], names: Collection[str] | None) -> list[Concern]:
    """Return where *roles* name one of *names* (any when None), in log order; an entry that names it twice comes twice."""
    return sorted(_read(reader, roles, names), key=lambda concern: concern.seq)


def group_concerns(concerns: Iterable[Concern], names: Iterable[str] = ()) -> dict[str, list[Concern]]:
    """Return *concerns* by the identifier they name; each of *names* is there, also where nothing concerns it."""
    found: dict[str, list[Concern]] = {name: [] for name in names}
    for concern in concerns:
        found.setdefault(concern.name, []).append(concern)
    return found


def _read(reader: LogReader, roles: tuple[Role, ...], names: Collection[str] | None) -> Iterator[Concern]:
    here: tuple[int | str, ...] = (reader.log_id, reader.log_size)
    if names is None:
        yield from map(Concern._make, reader.driver_rows(_write(roles, 0), *here * len(roles)))
        return
    listed = list(dict.fromkeys(names))
    for start in range(0, len(listed), CHUNK):
        chunk = listed[start : start + CHUNK]
        yield from map(Concern._make, reader.driver_rows(_write(roles, len(chunk)), *(*here, *chunk) * len(roles)))


@cache
def _write(roles: tuple[Role, ...], count: int) -> str:
    """Return the SQL for *count* names; 0: for all. Names of tables and columns are ours, what is asked comes as parameters."""
    named = f" AND {{}} IN ({', '.join('?' * count)})" if count else ""
    return " UNION ALL ".join(
        f"SELECT '{role.table}', {role.column}, seq, {role.revision}, {role.own} FROM \"{role.table}\""  # noqa: S608
        f" WHERE log = ? AND seq <= ?{named.format(role.column)}"
        for role in roles
    )
