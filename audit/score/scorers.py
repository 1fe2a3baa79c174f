"""The one door from a scorer's record to what carries it out.

Deterministic scorers are functions of a task and a text (`build_marker`). A judge needs calls to a model and is a station of its own
(`audit.score.judge`); both write scores under the scorer's digest, so that scorings by different scorers stand beside each other.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeGuard, cast

from audit.score.choice import build_choice_marker, check_choices
from audit.score.mark import Marker
from audit.score.number import build_number_marker, check_answers
from audit.score.patterns import build_pattern_marker, check_patterns, remark_patterns
from audit.statistics.design import Remark
from registry.codec.canonical import Json, canonical_bytes
from registry.codec.documents import from_document, to_document
from registry.errors import Fault, InputError
from registry.records.replay import Task
from registry.records.scorer import ChoiceScorer, JudgeScorer, LabelScorer, NumberScorer, PatternScorer, Scorer

Deterministic = PatternScorer | ChoiceScorer | NumberScorer
"""Scorers that give the same response the same score, always and everywhere."""


def digest_scorer(scorer: Scorer) -> str:
    """Return the SHA-256 of the scorer's canonical document, hexadecimal: its name in the store."""
    return hashlib.sha256(canonical_bytes(to_document(scorer))).hexdigest()


def is_deterministic(scorer: Scorer) -> TypeGuard[Deterministic]:
    """Tell whether *scorer* asks nobody, neither a model nor a person."""
    return not isinstance(scorer, JudgeScorer | LabelScorer)


def read_scorer(document: Json, *, where: str) -> Scorer:
    """Return the scorer that *document* describes; raises InputError with every fault, *where* being what the document is."""
    return cast("Scorer", from_document(cast("type", Scorer), document, where=where))


def get_judge(scorer: Scorer) -> str | None:
    """Return the model that *scorer* asks; None for one that asks none."""
    return scorer.model if isinstance(scorer, JudgeScorer) else None


def list_dimensions(scorer: Scorer) -> tuple[str, ...]:
    """Return the names of the rates or ratings that scores of *scorer* carry."""
    match scorer:
        case PatternScorer():
            return "expected_rate", "anti_rate"
        case JudgeScorer():
            return tuple(one.name for one in scorer.dimensions)
        case ChoiceScorer() | NumberScorer() | LabelScorer():
            return ()


def list_marks(scorer: Scorer) -> tuple[str, ...]:
    """Return the names of what scores of *scorer* note of every response, true or false."""
    return ("judge_saw_all", "mentions_scoring") if isinstance(scorer, JudgeScorer) else ()


def build_marker(scorer: Deterministic) -> Marker:
    """Return the function that carries *scorer* out.

    Raises:
        InputError: a pattern of the scorer is empty, or cannot be what it is for.
    """
    match scorer:
        case PatternScorer():
            return build_pattern_marker(scorer)
        case ChoiceScorer():
            return build_choice_marker(scorer)
        case NumberScorer():
            return build_number_marker(scorer)


def check_scorable(scorer: Scorer, tasks: Sequence[Task]) -> None:
    """Refuse tasks that *scorer* cannot score, before or after they are asked.

    A person can score any, and so can a judge that is not to be shown the right answer.

    Raises:
        InputError: with every task that has no answer, none of its options, no patterns or an empty one.
    """
    match scorer:
        case PatternScorer():
            faults = list(check_patterns(scorer, tasks))
        case ChoiceScorer():
            faults = list(check_choices(tasks))
        case NumberScorer():
            faults = list(check_answers(tasks))
        case JudgeScorer():
            faults = list(_check_shown(tasks)) if scorer.show_answer else []
        case LabelScorer():
            faults = []
    if faults:
        raise InputError(faults)


def _check_shown(tasks: Sequence[Task]) -> Iterator[Fault]:
    for task in tasks:
        if not (task.answer or "").strip():
            found = "the judge is to be shown the right answer (show_answer), and the task has none"
            yield Fault(code="task-not-scorable", where=f"task {task.id}", found=found, advice="give it `answer`, or leave show_answer out")


def remark_scorer(scorer: Scorer, tasks: Sequence[Task]) -> list[Remark]:
    """Return what a reader must know of scorer and tasks alone, such as patterns that match their own task's prompt."""
    return list(remark_patterns(scorer, tasks)) if isinstance(scorer, PatternScorer) else []
