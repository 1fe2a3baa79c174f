"""The parts that tables are made of: columns that read alike on both engines, and constraints with names."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)
from sqlalchemy.types import TypeEngine

from registry.records.record import Kind
from registry.records.specification import SpecKind

SHARED = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(constraint_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_WHOLE = BigInteger().with_variant(Integer, "sqlite")
_REAL: TypeEngine[float] = Double().with_variant(REAL, "sqlite")


def text_column(name: str, *, null: bool = False) -> Column[Any]:
    """Return a column of text."""
    return Column(name, Text, nullable=null)


def text_columns(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Return columns of text, all or none of them optional."""
    return [text_column(name, null=null) for name in names.split()]


def whole_column(name: str, *, null: bool = False) -> Column[Any]:
    """Return a column of whole numbers, 64 bits wide."""
    return Column(name, _WHOLE, nullable=null, autoincrement=False)


def whole_columns(names: str) -> list[Column[Any]]:
    """Return columns of whole numbers, none of them optional."""
    return [whole_column(name) for name in names.split()]


def real_column(name: str, *, null: bool = True) -> Column[Any]:
    """Return a column of double precision numbers."""
    return Column(name, _REAL, nullable=null)


def bytes_column(name: str, *, null: bool = False) -> Column[Any]:
    """Return a column of bytes."""
    return Column(name, LargeBinary, nullable=null)


def one_of(column: str, choices: type[StrEnum] | Iterable[str]) -> CheckConstraint:
    """Return the condition that *column* holds one of *choices*, or nothing."""
    listed = ", ".join(f"'{choice}'" for choice in choices)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def digest(column: str) -> CheckConstraint:
    """Return the condition that *column* holds 32 bytes."""
    return CheckConstraint(f"length({column}) = 32", name=f"{column}_32_bytes")


def begins(column: str, kind: Kind) -> CheckConstraint:
    """Return the condition that *column* holds an identifier of *kind*."""
    return CheckConstraint(f"substr({column}, 1, 4) = '{kind}-'", name=f"{column}_begins")


def refers(columns: str, target: str, target_columns: str) -> ForeignKeyConstraint:
    """Return the foreign key of *columns*, within one log."""
    local = ["log", *columns.split()]
    return ForeignKeyConstraint(local, [f"{target}.{one}" for one in ("log " + target_columns).split()], name=f"{local[-1]}_{target}")


def refers_to_spec(column: str, kind: SpecKind) -> list[Any]:
    """A typed reference: the kind is a column, fixed by a CHECK, and part of the foreign key."""
    return [
        CheckConstraint(f"{column}_kind = '{kind}'", name=f"{column}_is_{kind}"),
        CheckConstraint(f"({column} IS NULL) = ({column}_version IS NULL)", name=f"{column}_whole"),
        CheckConstraint(f"({column} IS NULL) = ({column}_kind IS NULL)", name=f"{column}_typed"),
        refers(f"{column} {column}_version {column}_kind", "spec_version", "spec version kind"),
    ]


def spec_columns(column: str, *, null: bool) -> list[Any]:
    """Return the three columns of a typed reference."""
    return [text_column(column, null=null), whole_column(f"{column}_version", null=null), text_column(f"{column}_kind", null=null)]


def new_table(name: str, *parts: Any, key: str = "log seq") -> Table:
    """Return a table whose rows name their entry."""
    columns: list[Any] = [] if name == "entry" else [refers("seq", "entry", "seq")]
    return Table(
        name,
        SHARED,
        whole_column("log"),
        whole_column("seq"),
        *parts,
        PrimaryKeyConstraint(*key.split()),
        *columns,
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
