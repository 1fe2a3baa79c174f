"""Regular expressions that a response is searched for, each reported on its own: whether it matched, what it matched, and where.

A pattern means what it means to Python's `re.search` without flags (`(?i)` and its like may stand in it); this reproduces the published
skill-contamination study test by test. It is carried out by `regex`, which can be stopped: a pattern that needs longer than its time
limit makes the response an exclusion. What `re` refuses is searched for as it is written, as the study did, and said to be so.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex

from audit.score.mark import TIME_OUT, Mark, Marker
from audit.statistics.design import Remark
from registry.errors import Fault
from registry.records.replay import Task
from registry.records.scorer import PatternScore, PatternScorer

Kind = Literal["expected", "anti"]

_LONGEST_MATCH = 200
"""Characters of a match that are kept; its place tells the rest."""

_BRACES = re.compile(r"\\N\{[^}]*\}|\\.|\{(?!\d*,?\d*\})|\{\}", re.DOTALL)
"""What is escaped, and braces that count nothing: `regex` would read some of those, such as `{i}`, as a licence to err."""

_FLAGS = ((re.IGNORECASE, "i"), (re.MULTILINE, "m"), (re.DOTALL, "s"), (re.VERBOSE, "x"))
_NEEDED: dict[PatternScore, Kind] = {
    PatternScore.HIT_RATE: "expected",
    PatternScore.ALL_EXPECTED: "expected",
    PatternScore.ANY_EXPECTED: "expected",
    PatternScore.ANY_ANTI: "anti",
    PatternScore.NO_ANTI: "anti",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What became of one pattern in one text."""

    pattern: str
    kind: Kind
    matched: bool
    start: int | None
    """Place of the first match in characters, from 0; None without one."""
    end: int | None
    """First character behind it."""
    text: str | None
    """What matched, its first 200 characters."""
    literal: bool
    """Whether the pattern is no regular expression and was searched for as it is written."""
    flags: str
    """Letters of the flags that stand in the pattern itself; empty for none."""


def build_pattern_marker(scorer: PatternScorer) -> Marker:
    """Return the function that searches a response for the task's patterns, or the scorer's where the task has none of that kind."""

    def mark(task: Task, text: str) -> Mark:
        found: list[Found] = []
        for kind, pattern in list_patterns(scorer, task):
            try:
                found.append(search(pattern, text, kind=kind, time_limit_s=scorer.time_limit_s))
            except TimeoutError:
                detail: dict[str, object] = {"patterns": [_describe(one) for one in found], "timed_out": pattern}
                return Mark(score=None, excluded_reason=TIME_OUT, detail=detail)
        rates = {f"{kind}_rate": rate for kind in ("expected", "anti") if (rate := _rate(found, kind)) is not None}
        return Mark(score=_score(scorer.score, found), dimensions=rates, detail={"patterns": [_describe(one) for one in found]})

    return mark


def list_patterns(scorer: PatternScorer, task: Task) -> list[tuple[Kind, str]]:
    """Return the patterns that responses to *task* are searched for, expected ones first, in their written order."""
    expected, anti = task.expected or scorer.expected, task.anti or scorer.anti
    return [*(("expected", one) for one in expected), *(("anti", one) for one in anti)]


def search(pattern: str, text: str, *, kind: Kind, time_limit_s: float) -> Found:
    """Return the first match of *pattern* in *text*, or that there is none; raises TimeoutError."""
    compiled, literal, flags = _compile(pattern)
    match = compiled.search(text, timeout=time_limit_s)
    return Found(
        pattern=pattern,
        kind=kind,
        matched=match is not None,
        start=match.start() if match else None,
        end=match.end() if match else None,
        text=match[0][:_LONGEST_MATCH] if match else None,
        literal=literal,
        flags=flags,
    )


def check_patterns(scorer: PatternScorer, tasks: Sequence[Task]) -> Iterator[Fault]:
    """Give a fault for each pattern that is empty, and for each task without the patterns that its score is made of."""
    for kind, patterns in (("expected", scorer.expected), ("anti", scorer.anti)):
        yield from _find_empty(f"scoring, {kind}", patterns)
    needed = _NEEDED[scorer.score]
    for task in tasks:
        yield from _find_empty(f"task {task.id}, expected", task.expected)
        yield from _find_empty(f"task {task.id}, anti", task.anti)
        if not any(kind == needed for kind, _ in list_patterns(scorer, task)):
            found = f"the score {scorer.score.value} is made of {needed} patterns, and the task has none"
            yield Fault(code="task-not-scorable", where=f"task {task.id}", found=found, advice=f"give it `{needed}`, or the scorer")


def remark_patterns(scorer: PatternScorer, tasks: Sequence[Task]) -> Iterator[Remark]:
    """Give what a reader must know of the patterns themselves: no regular expressions, found in any text, or in their own task's prompt."""
    literal = {pattern for task in tasks for _, pattern in list_patterns(scorer, task) if _compile(pattern)[1]}
    for pattern in sorted(literal):
        yield Remark(code="pattern-literal", message=f"{pattern!r} is no regular expression and is searched for as it is written")
    for task in tasks:
        for kind, pattern in list_patterns(scorer, task):
            yield from _remark_pattern(task, kind, pattern, scorer.time_limit_s)


def _remark_pattern(task: Task, kind: Kind, pattern: str, time_limit_s: float) -> Iterator[Remark]:
    try:
        if search(pattern, "", kind=kind, time_limit_s=time_limit_s).matched:
            yield Remark(code="pattern-matches-empty", message=f"task {task.id}: {kind} {pattern!r} matches an empty answer, and so any")
        elif search(pattern, task.prompt, kind=kind, time_limit_s=time_limit_s).matched:
            message = f"task {task.id}: {kind} {pattern!r} matches the task's own prompt, so a response that repeats it matches"
            yield Remark(code="prompt-echo", message=message)
    except TimeoutError:
        yield Remark(code=TIME_OUT, message=f"task {task.id}: {kind} {pattern!r} needs longer than {time_limit_s:g} s for its own prompt")


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


def _escape(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("\\") else "".join(f"\\{brace}" for brace in found[0])


def _find_empty(where: str, patterns: Sequence[str]) -> Iterator[Fault]:
    for place, pattern in enumerate(patterns):
        if not pattern.strip():
            found = "the pattern is empty, and so matches everything"
            yield Fault(code="pattern-empty", where=f"{where}[{place}]", found=found, advice="remove it, or write what is looked for")


def _rate(found: Sequence[Found], kind: str) -> float | None:
    hits = [one.matched for one in found if one.kind == kind]
    return sum(hits) / len(hits) if hits else None


def _score(score: PatternScore, found: Sequence[Found]) -> float:
    hits = [one.matched for one in found if one.kind == _NEEDED[score]]
    match score:
        case PatternScore.HIT_RATE:
            return sum(hits) / len(hits)
        case PatternScore.ALL_EXPECTED:
            return float(all(hits))
        case PatternScore.ANY_EXPECTED | PatternScore.ANY_ANTI:
            return float(any(hits))
        case PatternScore.NO_ANTI:
            return float(not any(hits))


def _describe(one: Found) -> dict[str, object]:
    return {name: getattr(one, name) for name in Found.__slots__}
