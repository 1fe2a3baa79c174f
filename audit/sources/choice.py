"""Which of several scores of a log is meant, and what a score is as a number."""

import math
from collections.abc import Collection, Mapping

from audit.errors import TableError
from audit.sources.selection import suggest
from registry.errors import Fault


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
    if asked is not None and asked not in there:
        found = f"there is no {what} {asked!r}; there are: {known}"
        raise TableError(
            Fault(code="unknown-scorer", where=where, found=found, advice=suggest(asked, there) or f"choose one with {option}")
        )
    if asked is None and len(there) != 1:
        found = f"expected one {what}, found {len(there)}: {known}"
        raise TableError(Fault(code="scorer-not-chosen", where=where, found=found, advice=f"choose one with {option}"))
    return asked if asked is not None else next(iter(there))


def read_score(value: object, values: Mapping[str, float]) -> tuple[float | None, str | None]:
    """Return the number that a score stands for, or None and why there is none.

    Args:
        value: as it stands in the log: a number, a truth value, a text, null or anything else.
        values: what a text is as a number.
    """
    if value is None:
        return None, "the log has no score"
    if isinstance(value, str):
        return _read_text(value, values)
    if isinstance(value, bool):
        return float(value), None
    if not isinstance(value, int | float):
        return None, f"the score is no number but {'a list' if isinstance(value, list) else 'an object'}"
    return (float(value), None) if math.isfinite(value) else (None, f"the score is {_name_nonfinite(float(value))}")


def _read_text(text: str, values: Mapping[str, float]) -> tuple[float | None, str | None]:
    if text in values:
        return values[text], None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isfinite(number) and "_" not in text:
        return number, None
    return None, f"the score is the text {text[:40]!r}, which --value gives no number"


def _name_nonfinite(number: float) -> str:
    return "NaN" if math.isnan(number) else "infinite"
