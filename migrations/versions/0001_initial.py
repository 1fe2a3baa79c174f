"""The log, what may be erased, the typed rows, and the triggers that refuse change.

Revision ID: 0001
Revises:

The statements are in `migrations/sql`, one file for each database, separated by empty lines. Like every migration, this one imports nothing
of ours.
"""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    """Create everything."""
    connection = op.get_bind()
    for statement in read_statements(connection.dialect.name):
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop everything, unless something is recorded: a downgrade never deletes an entry."""
    connection = op.get_bind()
    statements = read_statements(connection.dialect.name)
    tables = [statement.split()[2] for statement in statements if statement.startswith("CREATE TABLE")]
    for table in tables:
        count = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()  # noqa: S608  (our own names)
        if count:
            raise RuntimeError(f"the table {table} holds {count} rows")
    for table in reversed(tables):
        op.drop_table(table)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("DROP TABLE IF EXISTS sqlite_stat1")
    for statement in statements:
        if statement.startswith("CREATE FUNCTION"):
            connection.exec_driver_sql(f"DROP FUNCTION {statement.split()[2]}")


def read_statements(dialect: str) -> list[str]:
    """Return the statements for *dialect* in their order."""
    text = (SQL / f"0001.{dialect}.sql").read_text(encoding="utf-8")
    return [statement for statement in text.split("\n\n") if statement.strip()]
