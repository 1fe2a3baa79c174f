"""The table of findings takes those of the evidence-layer probe.

Revision ID: 0003
Revises: 0002

No row is read or written. On SQLite the condition on `finding.what` is widened in the stored text of the table, as revision 0002 did
for `entry.kind`; a table made anew would lose its triggers.

History: this file imports nothing of ours, and no later change touches it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BEFORE = "what IN ('naturalness', 'ablation', 'judge')"
AFTER = "what IN ('naturalness', 'ablation', 'judge', 'probe')"


def upgrade() -> None:
    """Let a finding be of the probe."""
    change_condition(op.get_bind(), BEFORE, AFTER)


def downgrade() -> None:
    """Take that back, unless the probe found something: a downgrade never deletes what was said."""
    connection = op.get_bind()
    count = connection.exec_driver_sql("SELECT count(*) FROM finding WHERE what = 'probe'").scalar()
    if count:
        raise RuntimeError(f"the table finding holds {count} rows of the probe")
    change_condition(connection, AFTER, BEFORE)


def change_condition(connection: sa.Connection, before: str, after: str) -> None:
    """Change the condition on `finding.what`; raises RuntimeError when it is not the one expected, and then nothing is changed."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ALTER TABLE finding DROP CONSTRAINT ck_finding_what")
        connection.exec_driver_sql(f"ALTER TABLE finding ADD CONSTRAINT ck_finding_what CHECK ({after})")
        return
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    changed = connection.execute(
        sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = 'finding' AND instr(sql, :before)"
        ),
        {"before": before, "after": after},
    )
    if changed.rowcount != 1:
        connection.exec_driver_sql("PRAGMA writable_schema = OFF")
        raise RuntimeError("the table finding is not as revision 0002 made it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
