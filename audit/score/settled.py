"""Whether the score of a truncated response can still change: each kind of scorer declares it, and only of what more text cannot undo.

A pattern that matched keeps matching when text is added, if nothing in it looks at what follows. Options, numbers, judgements and labels
may always become others: a later statement wins over an earlier one.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from audit.replay.table import TableRow, is_never_settled, list_tests
from registry.records.scorer import ChoiceScorer, JudgeScorer, LabelScorer, NumberScorer, PatternScore, PatternScorer, Scorer

_LOOKS_AHEAD = re.compile(r"\$|\\[Zz]|\(\?[=!>]|[*+?}]\+|\(\?\(")
"""Ends of text or line, lookahead, atomic groups and possessive quantifiers, conditions: what follows may undo a match.
A sign that is meant literally is taken for the construct too: then less is declared, never more."""


def build_settled(scorer: Scorer) -> Callable[[TableRow], bool]:
    """Return what tells of a truncated response whether its score by *scorer* can no longer change."""
    match scorer:
        case PatternScorer():
            return lambda row: _is_pattern_settled(scorer.score, row)
        case ChoiceScorer() | NumberScorer() | JudgeScorer() | LabelScorer():
            return is_never_settled


def _is_pattern_settled(score: PatternScore, row: TableRow) -> bool:
    """Tell whether matches that stay decide the score."""
    if row.score is None or row.score.score is None or row.response.text is None:
        return False
    kind = "anti" if score in (PatternScore.ANY_ANTI, PatternScore.NO_ANTI) else "expected"
    length = len(row.response.text)
    lasting = [_is_lasting(test, length) for test in list_tests(row.score) if test.get("kind") == kind]
    match score:
        case PatternScore.ANY_EXPECTED | PatternScore.ANY_ANTI | PatternScore.NO_ANTI:
            return any(lasting)
        case PatternScore.ALL_EXPECTED | PatternScore.HIT_RATE:
            return bool(lasting) and all(lasting)


def _is_lasting(test: Mapping[str, Any], length: int) -> bool:
    """Tell whether a match stays whatever text is added: a literal one, or one of a pattern that looks at nothing behind its end.

    At least one character must follow the match, so that a word boundary at its end was seen.
    """
    if not test.get("matched"):
        return False
    if test.get("literal"):
        return True
    end = test.get("end")
    return isinstance(end, int) and end < length and not _LOOKS_AHEAD.search(str(test.get("pattern", "")))
