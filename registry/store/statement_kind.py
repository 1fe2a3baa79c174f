"""The base of the kinds of statement: what the log asks of a kind, and the parts that its rows are made of.

A kind is declared once, in `registry.store.kinds`: its tables, rows, rules, one-line summary, whether its text can be erased, and which
columns name identifiers. Writer, rebuild, integrity check, concern index, log listing and folder read the declaration, and nothing else
lists the kinds. The record type and its name are in `registry.records`, because the codec and the supplement read records without a
database. The declaration is in the store, because tables and rules need one. A class joins `KINDS` when Python reads it, as a plug-in does,
so this module imports none of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, get_args

from sqlalchemy import Column, Table

from registry.errors import Fault
from registry.records.record import Kind, Payload, parse_identifier
from registry.store.database_engine import OWN_LOG

if TYPE_CHECKING:
    from registry.store.log_reader import LogReader
    from registry.store.statement_rules import StatementRules

Row = tuple[str, tuple[Any, ...]]
"""A table's name and the values of one row, in the order of its columns."""
NewIdentifier = tuple[str, str, str, int, int]
"""An identifier with its kind, authority, year and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPlace:
    """Where a statement goes, and what its rows take from those before it."""

    seq: int
    at: int
    """Seconds since 1970, UTC."""
    new: NewIdentifier | None = None
    """The identifier that the statement is the first to use; None when it uses one that is known."""
    actor: str = ""
    """Code of the authority that makes the statement."""
    log: int = OWN_LOG
    """Number of the log."""
    lock: tuple[int, int] | None = None
    """Entry and time of the audit's lock."""
    corpus: int | None = None
    """Number of tasks in the corpus, as the run states it."""
    quote: tuple[int, str] | None = None
    """Entry and quote of the claim revision of which an outcome is the first; None for a later outcome, or where the quote was erased."""

    @property
    def here(self) -> tuple[int, int]:
        """Log and entry, with which each row begins."""
        return self.log, self.seq


# Identifiers that rows name.

CLAIM, AUDIT, CARD, OBJECTION, MONITOR = ((kind,) for kind in (Kind.CLAIM, Kind.AUDIT, Kind.CARD, Kind.OBJECTION, Kind.MONITOR))
DEFINITION = (Kind.CONTEXT, Kind.PROPERTY, Kind.SCORING, Kind.CUES, Kind.METHOD)
"""The kinds of identifier that specifications have."""


class Role(NamedTuple):
    """A column that names an identifier, and what else a row with it says."""

    table: str
    column: str
    of: tuple[Kind, ...]
    """What the identifier names."""
    revision: str = "0"
    """Column of the revision or version that is named; 0 where none is."""
    own: str = "NULL"
    """Column of the identifier that the statement gives itself, or names as well."""
    is_basis: bool = True
    """Whether dossier and state of the identifier rest on it; a role that is none is in its history only."""


# The declaration of a kind.

Said = TypeVar("Said", bound=Payload)


class StatementKind(Generic[Said]):
    """One kind of statement, declared as `class LockKind(StatementKind[Lock])`. What a kind leaves out has the default below."""

    record: type[Said]
    """The payload's class, taken from the declaration."""
    tables: ClassVar[tuple[Table, ...]] = ()
    """The tables that its rows go to, without `identifier`."""
    erasable: ClassVar[tuple[Column[Any], ...]] = ()
    """Where its words are kept, so that they can be erased with its text: rows in which one of these columns names its entry. No other row
    holds words that can be erased."""
    names: ClassVar[tuple[Role, ...]] = ()
    """The columns of them that name identifiers, each with an index."""
    kept: ClassVar[str | None] = None
    """Why its text is never erased; None where it can be."""
    reason: ClassVar[str | None] = None
    """Why a supplement changes, in words; None where none does because of it."""
    importance: ClassVar[int] = 100
    """Of several reasons, the lowest number is shown."""
    is_shared: ClassVar[bool] = False
    """Whether it can concern claims that it does not name."""
    is_lineage: ClassVar[bool] = False
    """Whether it is about model versions, which have no identifier: every page is compared with all such statements."""
    is_defining: ClassVar[bool] = False
    """Whether it defines, shows or disputes what it names: without the name of a claim, it can concern one."""
    is_shortened: ClassVar[bool] = True
    """Whether a list may shorten its summary; one made of identifiers must stay whole, so that they can be copied."""
    rests_on_rows: ClassVar[bool] = False
    """Whether its rows repeat values of earlier rows, which must be in the database first."""

    def __init_subclass__(cls) -> None:
        (cls.record,) = get_args(cls.__orig_bases__[0])  # type: ignore[attr-defined]
        KINDS[cls.record.KIND] = cls()

    def build_rows(self, payload: Said, place: EntryPlace) -> Iterator[Row]:
        """Yield the rows of *payload*, each after those it refers to."""
        raise NotImplementedError

    def describe(self, payload: Said) -> str:
        """Return the gist of *payload* on one line."""
        raise NotImplementedError

    def find_faults(self, payload: Said, rules: "StatementRules") -> Iterator[Fault]:  # noqa: ARG002  (the default has no rule)
        """Yield what keeps *payload* from being recorded now."""
        return iter(())

    def name_new(self, payload: Said) -> str | None:  # noqa: ARG002  (as above)
        """Return the identifier that *payload* would be the first to use; None for payloads that name nothing new."""
        return None

    def complete_place(self, payload: Said, place: EntryPlace, reader: "LogReader") -> EntryPlace:  # noqa: ARG002  (as above)
        """Return *place* with the values of earlier rows that the rows of *payload* repeat."""
        return place

    def explain_change(self, payload: Said) -> str | None:  # noqa: ARG002  (as above)
        """Return why a supplement that *payload* concerns changes, in words."""
        return self.reason


KINDS: dict[str, StatementKind[Any]] = {}
"""Every kind that was declared, by name."""


def kind_of(payload: Payload) -> StatementKind[Any]:
    """Return the kind that *payload* is of."""
    return KINDS[payload.KIND]


def build_rows(payload: Payload, place: EntryPlace) -> Iterator[Row]:
    """Yield the rows of *payload*, each after those it refers to."""
    # The identifier row comes first, because other rows refer to it.
    if place.new:
        yield "identifier", (*place.here, *place.new)
    yield from kind_of(payload).build_rows(payload, place)


# Parts of rows.


def split_reference(reference: str) -> tuple[str, int]:
    """Return identifier and revision of `…@n`; raises ValueError if there is no revision."""
    identifier, _, revision = reference.rpartition("@")
    return identifier, int(revision)


def parse_new(name: str) -> NewIdentifier:
    """Return *name* with its parts; raises ValueError if it is no identifier."""
    parsed = parse_identifier(name)
    return name, parsed.kind.value, parsed.authority, parsed.year, parsed.number


def unhex(digest: str | None) -> bytes | None:
    """Return the bytes of a hexadecimal *digest*, as columns hold it."""
    return None if digest is None else bytes.fromhex(digest)


def plain(words: str) -> str:
    """Return *words* without U+0000, which PostgreSQL cannot hold; the statement itself keeps it."""
    # Only the searchable copy changes. The statement itself can hold U+0000 in its JSON escape.
    return words.replace("\x00", "\ufffd")
