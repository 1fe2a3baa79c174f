"""One regular expression searched for in one text: whether it matched, what it matched, and where."""

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex

PatternKind = Literal["expected", "anti"]

_LONGEST_MATCH = 200
"""Characters of a match that are kept; its place tells the rest."""

_BRACES = re.compile(r"\\N\{[^}]*\}|\\.|\{(?!\d*,?\d*\})|\{\}", re.DOTALL)
"""What is escaped, and braces that count nothing: `regex` would read some of those, such as `{i}`, as a licence to err."""

_FLAGS = ((re.IGNORECASE, "i"), (re.MULTILINE, "m"), (re.DOTALL, "s"), (re.VERBOSE, "x"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternMatch:
    """Outcome of one pattern in one text."""

    pattern: str
    kind: PatternKind
    matched: bool
    start: int | None
    """Place of the first match in characters, from 0; None without one."""
    end: int | None
    """First character behind it."""
    text: str | None
    """What matched, its first 200 characters."""
    literal: bool
    """Whether the pattern is not a regular expression and was searched for as it is written."""
    flags: str
    """Letters of the flags that stand in the pattern itself; empty for none."""


def search_pattern(pattern: str, text: str, *, kind: PatternKind, time_limit_s: float) -> PatternMatch:
    """Return the first match of *pattern* in *text*, or that there is none; raises TimeoutError."""
    compiled, literal, flags = _compile(pattern)
    match = compiled.search(text, timeout=time_limit_s)
    return PatternMatch(
        pattern=pattern,
        kind=kind,
        matched=match is not None,
        start=match.start() if match else None,
        end=match.end() if match else None,
        text=match[0][:_LONGEST_MATCH] if match else None,
        literal=literal,
        flags=flags,
    )


def is_literal(pattern: str) -> bool:
    """Return whether *pattern* is not a regular expression, and so is searched for as it is written."""
    return _compile(pattern)[1]


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> tuple[regex.Pattern[str], bool, str]:
    """Return *pattern* compiled, whether it is meant literally, and its flags."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            meant = re.compile(pattern)
            flags = "".join(letter for flag, letter in _FLAGS if meant.flags & flag)
            return regex.compile(_BRACES.sub(_escape, pattern), regex.VERSION0), False, flags
    except (re.error, regex.error, RecursionError, OverflowError):
        return regex.compile(regex.escape(pattern)), True, ""


def _escape(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("\\") else "".join(f"\\{brace}" for brace in match[0])
