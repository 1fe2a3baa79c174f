"""Days and moments as they are printed: in UTC, whatever the locale and the time zone of the machine."""

from datetime import UTC, date, datetime

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")


def format_day(day: date) -> str:
    """Return *day* as `21 November 2026`; a moment is taken in UTC."""
    if isinstance(day, datetime):
        day = day.astimezone(UTC)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def format_moment(moment: datetime) -> str:
    """Return *moment* as `2026-11-21 14:05 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def format_second(moment: datetime) -> str:
    """Return *moment* as `2026-11-21 14:05:31 UTC`, where it has to be told apart from another."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
