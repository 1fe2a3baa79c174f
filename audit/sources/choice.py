"""Which of several scores of a log is meant, and what a score is as a number."""

import math
from collections.abc import Collection, Mapping
from shlex import quote

from audit.errors import TableError
from audit.sources.selection import suggest
from registry.errors import Fault

_LONGEST_VALUE = 40
"""Characters of a grade; what is longer is an explanation."""


def choose(asked: str | None, there: Collection[str], *, where: str, option: str, what: str) -> str:
    """Return the one of *there* that *asked* names, or the only one where nothing is asked.

    Args:
        asked: what the user wrote behind *option*; None for nothing.
        there: names that the log has.
        where: the log.
        option: such as `--scorer`.
        what: such as `metric`, for the message.

    Raises:
        TableError: there is no such name, none at all, or several and none is asked for.
    """
    known = ", ".join(sorted(there)) or "none"
    is_key = option == "--key"
    if asked is not None and asked not in there:
        found = f"there is no {what} {asked!r}; there are: {known}"
        raise TableError(
            Fault(
                code="unknown-key" if is_key else "unknown-scorer",
                where=where,
                found=found,
                advice=suggest(asked, there) or f"choose one with {option}",
            )
        )
    if asked is None and len(there) != 1:
        found = f"expected one {what}, found {len(there)}: {known}"
        raise TableError(
            Fault(code="key-not-chosen" if is_key else "scorer-not-chosen", where=where, found=found, advice=f"choose one with {option}")
        )
    return asked if asked is not None else next(iter(there))


def read_score(value: object, values: Mapping[str, float], *, where: str) -> tuple[float | None, str | None]:
    """Return the number that a score stands for, or None and why there is none.

    What has no number has a reason; what has one that nobody stated is refused, for leaving it out could be a choice of responses.

    Args:
        value: as it stands in the log: a number, a truth value, a text, null or anything else.
        values: what a text is as a number.
        where: the place, for a message.

    Raises:
        TableError: the score is a text without a number, a list or an object.
    """
    if value is None:
        return None, "the log has no score"
    number = values.get(value) if isinstance(value, str) else _to_float(value)
    if number is None:
        advice = advise_value(value if isinstance(value, str) else None)
        kind = repr(value[:40]) if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
        raise TableError(Fault(code="score-not-number", where=where, found=f"expected a number, found {kind}", advice=advice))
    return (number, None) if math.isfinite(number) else (None, "the score is NaN" if math.isnan(number) else "the score is infinite")


def advise_value(text: str | None) -> str:
    """Return what to do about a score that is no number: a *text* can be given one, anything else (None) cannot."""
    if text is None:
        return "choose another score with --scorer, or an entry of it with --key"
    if len(text) > _LONGEST_VALUE:
        return "a text this long is no grade: choose another score with --scorer, or an entry of it with --key"
    return f"say what each text is: --value {quote(f'{text}=1')}"


def _to_float(value: object) -> float | None:
    """A whole number may have more digits than a float can hold."""
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return math.inf
