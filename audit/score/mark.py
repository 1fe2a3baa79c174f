"""What a scorer says of one response, before it is known whose response it was."""

from collections.abc import Callable
from dataclasses import dataclass, field

from registry.records.replay import Task
from registry.records.score import Score

TIME_OUT = "pattern-time-out"
"""Reason of a response on which a regular expression needed longer than its time limit: that says nothing of the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A number, or the reason why there is none, with what the scorer found."""

    score: float | None
    excluded_reason: str | None = None
    """Exactly when *score* is None: a short name with hyphens, such as `unextracted`."""
    dimensions: dict[str, float] | None = None
    """Rates by name, which become columns of the table."""
    detail: dict[str, object] = field(default_factory=dict)
    """What else was found; JSON values."""


Marker = Callable[[Task, str], Mark]
"""Reads a task and the whole text of a response to it, and nothing else: never the context. Pure; calls no model."""


def build_score(mark: Mark, *, response: str, scorer: str) -> Score:
    """Return *mark* as the score of the response with the key *response* by the scorer with the digest *scorer*."""
    return Score(
        response=response,
        scorer=scorer,
        score=mark.score,
        excluded_reason=mark.excluded_reason,
        dimensions=mark.dimensions,
        detail=mark.detail or None,
    )
