"""Statements of a card that the model recognised an evaluation, or may have."""

from audit.propose.around import Around
from registry.records.passage import Passage
from registry.records.proposal import AwarenessNote


class Awareness:
    """All such statements of one card, found once."""

    def __init__(self, around: Around) -> None:
        self._around = around

    def find(self, passage: Passage, *, evaluation: str | None) -> tuple[AwarenessNote, ...]:
        """Return the statements of the same section, and those elsewhere that name the same evaluation or section, in order."""
        return ()
