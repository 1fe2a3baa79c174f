"""Tables of the runs under a lock, and of the last day on which an outcome counts."""

from sqlalchemy import CheckConstraint, UniqueConstraint

from registry.records.replay_run import RunStatus
from registry.store.columns import new_table, one_of, refers, text_column, text_columns, whole_column

IMPORTED = "imported"
"""How a run ends whose scores were imported, beside the values of `RunStatus`."""

run_start = new_table(
    "run_start",
    text_column("audit"),
    whole_column("lock"),
    text_column("run"),
    CheckConstraint("lock < seq", name="lock_before_start"),
    CheckConstraint("length(run) = 32", name="run_32_digits"),
    UniqueConstraint("log", "audit", "seq"),
    UniqueConstraint("log", "audit", "run"),
    refers("audit lock", "lock", "audit seq"),
)
run_end = new_table(
    "run_end",
    text_column("audit"),
    whole_column("start"),
    text_column("status"),
    whole_column("calls"),
    one_of("status", (*RunStatus, IMPORTED)),
    CheckConstraint("start < seq", name="start_before_end"),
    CheckConstraint("calls >= 0", name="calls"),
    refers("audit start", "run_start", "audit seq"),
)
outcome_validity = new_table(
    "outcome_validity",
    *text_columns("audit valid_until"),
    CheckConstraint("length(valid_until) = 10", name="valid_until_is_a_day"),
    refers("audit", "audit", "audit"),
)
"""Of each outcome the last day on which it counts, `2027-11-21`."""
