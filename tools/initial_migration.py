"""Write the statements of the initial migration from the tables and guards of the store, for SQLite and PostgreSQL.

Until the first release there is one migration, and this script renews it. Afterwards each change of the schema is a migration of its own,
and these files stay as they are.
"""

from pathlib import Path

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from registry.store.database_guards import create_statements
from registry.store.database_tables import METADATA

FOLDER = Path(__file__).parent.parent / "migrations" / "sql"
DIALECTS = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}


def write_statements(name: str) -> str:
    """Return the statements for the dialect *name*, with an empty line after each."""
    dialect = DIALECTS[name]
    made: list[str] = []
    for table in METADATA.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        made += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    made += create_statements(name)
    return "".join("\n".join(line.rstrip() for line in statement.strip().splitlines() if line.strip()) + "\n\n" for statement in made)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for dialect_name in DIALECTS:
        (FOLDER / f"0001.{dialect_name}.sql").write_text(write_statements(dialect_name), encoding="utf-8")
