"""Regular expressions that a response is searched for, each reported on its own: whether it matched, what it matched, and where.

A pattern means what it means to Python's `re.search` without flags (`(?i)` and its like may stand in it); this reproduces the published
skill-contamination study test by test. A pattern that needs longer than its time limit makes the response an exclusion
(`audit.matching`). What is no regular expression is searched for as it is written, as the study did, and said to be so.
"""

from collections.abc import Iterator, Sequence

from audit.matching import Found, Kind, is_literal, search
from audit.score.mark import TIME_OUT, Mark, Marker
from audit.statistics.design import Remark
from registry.errors import Fault
from registry.records.replay import Task
from registry.records.scorer import PatternScore, PatternScorer

_NEEDED: dict[PatternScore, Kind] = {
    PatternScore.HIT_RATE: "expected",
    PatternScore.ALL_EXPECTED: "expected",
    PatternScore.ANY_EXPECTED: "expected",
    PatternScore.ANY_ANTI: "anti",
    PatternScore.NO_ANTI: "anti",
}


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
    literal = {pattern for task in tasks for _, pattern in list_patterns(scorer, task) if is_literal(pattern)}
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
