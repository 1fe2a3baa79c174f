"""Short names of logs: the authority of a log that is called `caveat.log/CODE/DIGITS`, with as many digits as make it unique."""

from collections.abc import Sequence

from registry.errors import Fault, InputError, NotFoundError

_LEAST = 4
"""Digits behind the code of an authority that has several logs."""


def shorten_origins(origins: Sequence[str]) -> dict[str, str]:
    """Return a short name of each of *origins*, unique among them, that `get_origin` takes."""
    return {origin: next((name for name in _list_names(origin) if _find(name, origins) == [origin]), origin) for origin in origins}


def get_origin(name: str, origins: Sequence[str]) -> str:
    """Return the one of *origins* that *name* means: the origin itself, or a part of it that begins where one of its parts does.

    Raises:
        NotFoundError: none is called so.
        InputError: several are.
    """
    matching = _find(name, origins)
    if len(matching) == 1:
        return matching[0]
    names = shorten_origins(origins)
    if not matching:
        here = f"the logs here are {', '.join(names.values())}" if names else "there is no log here"
        raise NotFoundError(Fault("log-not-found", name, here))
    candidates = ", ".join(f"{names[origin]} ({origin})" for origin in matching)
    raise InputError(Fault("log-ambiguous", name, f"{len(matching)} logs are called so: {candidates}"))


def _find(name: str, origins: Sequence[str]) -> list[str]:
    # A whole name means its log, even where another one begins with it.
    if name in origins:
        return [name]
    wanted = f"/{name.strip('/').casefold()}"
    return [origin for origin in origins if len(wanted) > 1 and wanted in f"/{origin.casefold()}"]


def _list_names(origin: str) -> list[str]:
    """Return the names that may be short enough, the shortest first."""
    _, _, rest = origin.partition("/")
    code, _, digits = rest.partition("/")
    return [code, *(f"{code}/{digits[:count]}" for count in range(_LEAST, len(digits)))] if code and digits else []
