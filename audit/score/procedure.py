"""How a scorer that asks no model comes to its score, in words: what a reader of a supplement has to know to doubt it."""

from collections.abc import Collection, Iterator

from registry.records.replay import Task
from registry.records.scorer import ChoiceScorer, NumberScorer, PatternScorer, Scorer

_MOST_SHOWN = 5
_LONGEST_SHOWN = 120


def describe_procedure(scorer: Scorer, tasks: Collection[Task]) -> str:
    """Return what *scorer* does, to stand behind its name: begins with a colon, empty where the name says it all.

    Args:
        scorer: any but a judge, which has an account of its own.
        tasks: those that were asked; their own patterns go before those of the scorer.
    """
    match scorer:
        case PatternScorer():
            said = [scorer.score.value, *_describe_patterns("expected", scorer.expected, [one.expected for one in tasks])]
            said += [*_describe_patterns("anti", scorer.anti, [one.anti for one in tasks]), f"{scorer.time_limit_s:g} s for a match"]
            return f": {', '.join(said)}"
        case ChoiceScorer() | NumberScorer():
            read = f"pattern {_shorten(scorer.pattern)}" if scorer.pattern else "Caveat's own reading"
            said = [f"read by {read}", f"a response without one is {scorer.unextracted}"]
            if isinstance(scorer, NumberScorer):
                said.append(f"within {scorer.absolute_tolerance:g}, or {scorer.relative_tolerance:g} × the answer")
            return f": {', '.join(said)}"
        case _:
            return ""


def _describe_patterns(kind: str, common: tuple[str, ...], own: list[tuple[str, ...]]) -> Iterator[str]:
    """Give where the patterns of one kind come from; they themselves where they are few."""
    with_own = sum(map(bool, own))
    used = dict.fromkeys(pattern for patterns in own for pattern in patterns)
    if with_own < len(own):
        used |= dict.fromkeys(common)
    if not used:
        return
    whose = (
        "for all tasks" if not with_own else "of the tasks" if with_own == len(own) else f"of {with_own} tasks, and one set for the others"
    )
    shown = f" {' | '.join(map(_shorten, used))}" if len(used) <= _MOST_SHOWN else f" ({len(used)} patterns, in the run folder)"
    yield f"{kind} {whose}:{shown}"


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= _LONGEST_SHOWN else f"{pattern[:_LONGEST_SHOWN]}…"
