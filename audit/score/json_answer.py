"""The one JSON object that a model was asked for, as judge and probe read it: nothing is guessed or repaired."""

import json
from typing import Any


class NoObjectError(Exception):
    """The answer holds no single JSON object; the text says why, as data."""


def find_object(text: str) -> dict[str, Any]:
    """Return the one JSON object of *text*: from its first brace to its last, with prose or a code fence around it and no second object.

    Raises:
        NoObjectError: there is none, there are two, a name stands twice in one, or it holds NaN or an infinity.
    """
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first:
        raise NoObjectError("no JSON object in the answer")
    try:
        found = json.loads(text[first : last + 1], object_pairs_hook=_build_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise NoObjectError(f"from the first brace to the last, the answer is no single JSON object: {error}") from error
    return dict(found)


def _build_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return built


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")
