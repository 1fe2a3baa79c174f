"""Write the statements of the initial migration from the tables and guards of the store, for SQLite and PostgreSQL.

Until the first release there is one migration, and this script renews it. Afterwards each change of the schema is a migration of its own,
and these files stay as they are.
"""

from pathlib import Path

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from registry.store.database_tables import METADATA, create_statements

FOLDER = Path(__file__).parent.parent / "migrations" / "sql"
# SQLite plans without statistics, and then takes every table for small: for the claims of one name it would read a
# whole log by the primary key instead of a few rows by the index. So it is given fixed statistics: all rows are of one log, ten agree
# in each further column of an index (ten thousand in property and model, which many claims share), and one in all columns of a unique
# one. `ANALYZE log` only creates the table that holds them.
STATISTICS = (
    "ANALYZE log",
    "DELETE FROM sqlite_stat1",
    """
INSERT INTO sqlite_stat1 (tbl, idx, stat)
SELECT made.name, CASE known.origin WHEN 'pk' THEN made.name ELSE known.name END, size.n || ' ' || (
    SELECT group_concat(CASE WHEN known."unique" AND part.seqno = (SELECT max(seqno) FROM pragma_index_info(known.name)) THEN 1
        WHEN part.seqno = 0 THEN size.n WHEN part.name IN ('property', 'model', 'model_version') THEN 10000 ELSE 10 END, ' ')
    FROM pragma_index_info(known.name) AS part)
FROM sqlite_master AS made
JOIN pragma_index_list(made.name) AS known
JOIN (SELECT name, CASE WHEN name IN ('entry', 'body', 'identifier', 'claim_revision', 'claim_text', 'claim_place', 'claim_context')
    THEN 1000000 ELSE 1000 END AS n FROM sqlite_master) AS size ON size.name = made.name
WHERE made.type = 'table'
""",
    "ANALYZE sqlite_schema",
)
DIALECTS = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}


def write_statements(name: str) -> str:
    """Return the statements for the dialect *name*, with an empty line after each."""
    dialect = DIALECTS[name]
    made: list[str] = []
    for table in METADATA.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        made += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    made += (*create_statements(name), *(STATISTICS if name == "sqlite" else ()))
    return "".join("\n".join(line.rstrip() for line in statement.strip().splitlines() if line.strip()) + "\n\n" for statement in made)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for dialect_name in DIALECTS:
        (FOLDER / f"0001.{dialect_name}.sql").write_text(write_statements(dialect_name), encoding="utf-8")
