"""How Alembic reaches the database: by the connection it is given, under a lock, in the transaction of the caller."""

from alembic import context
from sqlalchemy import text

LOCK_TIMEOUT = "10s"
"""On PostgreSQL, how long a step waits for a table in use before it gives up."""

ADVISORY_LOCK = 0x63617665
"""Two upgrades at a time would run the same step twice; also taken by everybody who writes."""


def run() -> None:
    """Run the steps on the connection of the caller, who commits."""
    connection = context.config.attributes.get("connection")
    if connection is None:
        raise SystemExit("run: caveat admin db upgrade")
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
    context.configure(connection=connection, transactional_ddl=True, transaction_per_migration=False)
    context.run_migrations()


run()
