"""What all extractors share: the user's own pattern instead of ours, and the name of the exclusion."""

import regex

from registry.errors import Fault, InputError

NOT_FOUND = "unextracted"
_TIME_LIMIT_S = 1.0


def check_pattern(pattern: str | None) -> None:
    """Refuse a pattern that is no regular expression or has no group; None passes.

    Raises:
        InputError: with what is wrong.
    """
    if pattern is None:
        return
    try:
        groups = regex.compile(pattern).groups
    except regex.error as error:
        found = f"{pattern!r} is no regular expression: {error}"
        raise InputError(Fault(code="not-valid", where="scoring.pattern", found=found)) from error
    if not groups:
        found = f"{pattern!r} has no group, and its first group is what is extracted"
        raise InputError(Fault(code="not-valid", where="scoring.pattern", found=found, advice="put round brackets around the answer"))


def apply_pattern(pattern: str, text: str) -> str | None:
    """Return the first group of the last match of *pattern* in *text*; None without a match, or where it needs longer than a second."""
    try:
        found = [match[1] for match in regex.finditer(pattern, text, timeout=_TIME_LIMIT_S)]
    except TimeoutError:
        return None
    return found[-1] if found else None
