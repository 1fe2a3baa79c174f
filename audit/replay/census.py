"""What became of the cells of a run folder's design, arm by arm."""

from collections import Counter
from dataclasses import dataclass, field

from audit.replay.store import RunStore
from registry.records.response import Purpose, Response

ANSWERED, REFUSED, TRUNCATED, EMPTY = "answered", "refused", "truncated", "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCount:
    """The cells of one arm, specification and edit."""

    arm: str
    spec: str | None
    cue_removed: str | None
    cells: int
    answered: int
    """Answers of any kind; the next three are among them."""
    refused: int
    truncated: int
    """Cut by max_tokens or the context window."""
    empty: int
    """Without any text."""
    failures: dict[str, int] = field(default_factory=dict)
    """Cells without an answer, by code."""

    @property
    def open(self) -> int:
        """Cells without an outcome."""
        return self.cells - self.answered - sum(self.failures.values())


def take_census(store: RunStore) -> list[ArmCount]:
    """Return the cells counted by arm, specification and edit, in the order of their names."""
    marks = {response.key: _mark(response) for response in store.list_responses(Purpose.REPLAY)}
    cells: Counter[tuple[str, str, str]] = Counter()
    found: dict[tuple[str, str, str], Counter[str]] = {}
    failures: dict[tuple[str, str, str], Counter[str]] = {}
    for cell, key in store.list_cells():
        place = (cell.arm, cell.spec or "", cell.cue_removed or "")
        cells[place] += 1
        names, failure = marks.get(key, ((), None))
        found.setdefault(place, Counter()).update(names)
        failures.setdefault(place, Counter()).update([failure] if failure else [])
    return [
        ArmCount(
            arm=place[0],
            spec=place[1] or None,
            cue_removed=place[2] or None,
            cells=cells[place],
            answered=found[place][ANSWERED],
            refused=found[place][REFUSED],
            truncated=found[place][TRUNCATED],
            empty=found[place][EMPTY],
            failures=dict(failures[place]),
        )
        for place in sorted(cells)
    ]


def _mark(response: Response) -> tuple[tuple[str, ...], str | None]:
    if response.failure is not None:
        return (), response.failure.code
    marks = {
        ANSWERED: True,
        REFUSED: response.stop_reason == "refusal",
        TRUNCATED: response.stop_reason in ("max_tokens", "model_context_window_exceeded"),
        EMPTY: not (response.text or "").strip(),
    }
    return tuple(name for name, holds in marks.items() if holds), None
