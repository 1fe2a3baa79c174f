"""What one scorer made of one response."""

from dataclasses import dataclass

from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Record):
    """One scoring of one response: a number, or the reason why there is none."""

    response: str
    """Key of the response."""
    scorer: str
    """SHA-256 of the scorer's canonical document, hexadecimal."""
    score: float | None
    excluded_reason: str | None = None
    judge: str | None = None
    """Model that judged, as it was returned; None for a deterministic scorer."""
    repeat: int | None = None
    """From 0, for a judge that judges some responses several times; else None."""
    dimensions: dict[str, float] | None = None
    """A judge's ratings by name; a pattern scorer's rates by name."""
    detail: dict[str, object] | None = None
    """What else the scorer found: every pattern with its match, the option extracted, the judge's quote, what was cut."""
    call: str | None = None
    """Key of the judge's call; None for a deterministic scorer."""

    def __post_init__(self) -> None:
        if (self.score is None) == (self.excluded_reason is None):
            raise ValueError("a scoring has either a score or the reason why there is none")
