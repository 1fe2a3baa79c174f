"""Everything that can go wrong, as one family: where, what was expected, what was found, what to do.

The exit code of a command is the `exit_code` of the error that ended it. docs/errors.md is the catalogue of codes: title, meaning and
default advice of each are written there once, and read from there when the first fault is made.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What docs/errors.md says of one code."""

    code: str
    title: str
    meaning: str
    """One paragraph; empty where the title says it all."""
    advice: str | None
    """What to do next, as the last line of a message; None where nothing general can be said."""


_HERE = Path(__file__).parent
# In a wheel the page is bundled, in a checkout it is next to `registry/`.
_PAGES = (_HERE / "_bundled" / "errors.md", _HERE.parent / "docs" / "errors.md")


@cache
def list_explanations() -> Mapping[str, str]:
    """Return the text of each code as the page has it, in its order; empty where the installation lacks the page."""
    page = next((path for path in _PAGES if path.exists()), None)
    parts = page.read_text(encoding="utf-8").split("\n### ")[1:] if page else ()
    return {code.strip("`"): text.partition("\n## ")[0] for code, _, text in (part.partition("\n") for part in parts)}


def find_entry(code: str) -> CatalogueEntry | None:
    """Return the entry of *code*; None where the catalogue has none, which fails in the tests."""
    text = list_explanations().get(code)
    if text is None:
        return None
    title, _, rest = text.removeprefix("**").partition(".**")
    meaning, _, advice = rest.partition("*Next:*")
    return CatalogueEntry(code, title, _join(meaning), _join(advice).removesuffix(".") or None)


def _join(text: str) -> str:
    """Return Markdown as one line of a terminal: no line breaks, no marks of code, links as their text."""
    return " ".join(re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text).replace("`", "").split())


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, with its place and what to do about it."""

    code: str
    """A short name with hyphens, explained in docs/errors.md."""

    where: str
    """File, path inside it, column or identifier."""

    found: str
    """What is there, and what was expected instead."""

    advice: str | None = None
    """What to do next. By default that of the catalogue; a call site overrides it to fill in values."""

    def __post_init__(self) -> None:
        if self.advice is None and (entry := find_entry(self.code)):
            object.__setattr__(self, "advice", entry.advice)

    def __str__(self) -> str:
        entry = find_entry(self.code)
        title = f": {entry.title}" if entry else ""
        lines = [f"error[{self.code}]{title}", f"  --> {self.where}", f"  {self.found}"]
        if self.advice:
            lines.append(f"  fix: {self.advice}")
        return "\n".join(lines)


_MOST_FAULTS = 3
"""Up to this many faults of one cause are each a message of its own."""
_MOST_PLACES = 8
"""Of more faults, one message names so many places and counts the others."""


def format_faults(faults: Iterable[Fault]) -> str:
    """Return the faults as text; those of one cause (same code, same `found` and advice) are one, with its first places and a count."""
    causes: dict[tuple[str, str, str | None], list[Fault]] = {}
    for fault in faults:
        causes.setdefault((fault.code, fault.found, fault.advice), []).append(fault)
    return "\n".join(str(fault) for same in causes.values() for fault in _merge(same))


def _merge(same: Sequence[Fault]) -> Sequence[Fault]:
    """Return the faults of one cause; where these are many, one of them with the first places and a count of the others."""
    places = list(dict.fromkeys(fault.where for fault in same))
    if len(places) <= _MOST_FAULTS:
        return tuple(dict.fromkeys(same))
    left = len(places) - _MOST_PLACES
    rest = f", and {left:,} more place{'s' if left > 1 else ''}" if left > 0 else ""
    return [replace(same[0], where="\n  --> ".join(places[:_MOST_PLACES]) + rest)]


MOST_EDITS = 2
"""A name with more differences is probably another name, and a wrong suggestion is worse than none."""


def suggest(word: str, known: Iterable[str], *, most: int = 1) -> str | None:
    """Return a question that names what *word* may have meant, as advice of a fault; None if no name is near.

    Args:
        known: names that exist.
        most: at most this many are named, the nearest first.
    """
    near = find_near(word, known)[:most]
    return f"did you mean {' or '.join(near)}?" if near else None


def find_near(word: str, known: Iterable[str]) -> list[str]:
    """Return the names in *known* that differ from *word* by two edits at most, upper and lower case aside, the nearest first."""
    # In a short word two edits leave nothing of it.
    limit = min(MOST_EDITS, len(word) // 2)
    ranked = [(count_edits(word.casefold(), name.casefold(), limit), name) for name in set(known)]
    return [name for edits, name in sorted(ranked) if edits <= limit]


def count_edits(word: str, other: str, limit: int = MOST_EDITS) -> int:
    """Return how many letters must be added, removed, changed or swapped with the next to make *other* of *word*; limit + 1 for more."""
    try:
        from rapidfuzz.distance import OSA  # noqa: PLC0415  (loaded where a name is unknown; every command imports this module)
    except ModuleNotFoundError:
        # caveat-verify has none: nothing is suggested there.
        return limit + 1
    # Optimal string alignment: a swap of neighbours is one edit, as people mistype.
    return OSA.distance(word, other, score_cutoff=limit)


class CaveatError(Exception):
    """The root: carries one or more faults, all found at once."""

    exit_code: ClassVar[int] = 2

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        if not self.faults:
            raise ValueError("an error needs at least one fault")
        super().__init__("\n".join(str(fault) for fault in self.faults))

    @property
    def code(self) -> str:
        """The code of the first fault."""
        return self.faults[0].code


class InputError(CaveatError):
    """What came in cannot be accepted; nothing was recorded."""


class NotFoundError(CaveatError):
    """What was asked for is not there."""


class ConflictError(CaveatError):
    """What came in contradicts what is recorded; nothing was recorded."""


class AnswerNoError(CaveatError):
    """The question was understood and the answer is no."""

    exit_code = 1


class AlteredError(CaveatError):
    """What is recorded here was changed behind the log's back; the question is left open, whatever it was.

    Exit code 3, not 2: no one asked wrongly and nothing bad came in, but what the answer would rest on cannot be believed. Commands
    with just this question (`admin log check`, `verify`) answer no, with 1, and do not let this error through.
    """

    exit_code = 3


class UnavailableError(CaveatError):
    """It could not be evaluated here: a library, a key, an endpoint or a database is missing."""

    exit_code = 3
