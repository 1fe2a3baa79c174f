"""What all extractors share: the user's own pattern instead of ours, and the names of the exclusions."""

import regex

from audit.score.mark import TIME_OUT, Mark
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


def mark_time_out(pattern: str | None) -> Mark:
    """Return the exclusion of a response on which the extractor's own *pattern* ran out of time; never a wrong answer."""
    return Mark(score=None, excluded_reason=TIME_OUT, detail={"extracted": None, "how": "pattern", "timed_out": pattern})


def apply_pattern(pattern: str, text: str) -> str | None:
    """Return the first group of the last match of *pattern* in *text*; None without a match.

    Raises:
        TimeoutError: it needs longer than a second.
    """
    found = [match[1] for match in regex.finditer(pattern, text, timeout=_TIME_LIMIT_S)]
    return found[-1] if found else None
