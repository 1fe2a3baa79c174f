"""How long an outcome counts: a year from its run unless the plan says otherwise, and what is left of it after that."""

from calendar import monthrange
from datetime import date

from registry.records.classification import VerdictStanding

MONTHS = 12
"""From the day on which the run began, where the plan does not say until when its outcome is valid."""


def find_last_day(planned: date | None, began: date) -> date:
    """Return the last day on which an outcome is valid: the *planned* one, or the same day of the month 12 months after *began*.

    Where that month is shorter, its last day.
    """
    if planned is not None:
        return planned
    months = began.year * 12 + began.month - 1 + MONTHS
    year, month = divmod(months, 12)
    return date(year, month + 1, min(began.day, monthrange(year, month + 1)[1]))


def is_expired(valid_until: date | None, today: date | None) -> bool:
    """Whether an outcome that is valid until *valid_until* counts no more in full on *today*; False where either is not known."""
    return valid_until is not None and today is not None and today > valid_until


def weaken(standing: VerdictStanding | None, valid_until: date | None, today: date | None) -> VerdictStanding | None:
    """Return *standing* as it counts on *today*: provisional at most once the outcome expired."""
    return VerdictStanding.PROVISIONAL if standing is not None and is_expired(valid_until, today) else standing
