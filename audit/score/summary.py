"""What a scored run comes to, side by side: counts, means, and what makes the sides unlike beyond the scores."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from audit.replay.table import CUT, NOT_SCORED, TableRow
from audit.score.extraction import NOT_FOUND
from audit.statistics.design import Remark
from registry.records.response import Cell

UNEQUAL = 0.05
"""Shares of two sides that differ by more than this are told."""

Side = tuple[str, str | None, str | None]
"""Arm, P_deploy specification, edit."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of one side; scorings where a judge repeats, otherwise responses."""

    rows: int = 0
    scored: int = 0
    total: float = 0.0
    """Sum of the scores."""
    excluded: Counter[str] = field(default_factory=Counter)
    """Rows without a score, by reason."""
    unanswered: int = 0
    """Cells of the design whose call was never answered; they are no rows."""
    cut: int = 0
    """Answers that ended at the limit of tokens; the scorer gets them as they are."""
    refused: int = 0
    """Answers with the stop reason `refusal`; the scorer gets them as they are."""
    empty: int = 0
    """Answers without a word; the scorer gets them as they are."""

    @property
    def mean(self) -> float | None:
        """Mean of the scores; None without any. Φ weighs tasks alike, which this does not."""
        return self.total / self.scored if self.scored else None

    @property
    def answered(self) -> int:
        """Rows of answers, not of failed calls."""
        return self.rows - sum(count for reason, count in self.excluded.items() if reason in self.failed)

    failed: set[str] = field(default_factory=set)
    """Reasons that are codes of failed calls."""


def tally_rows(rows: Iterable[TableRow | Cell]) -> dict[Side, Tally]:
    """Return the counts of each side, in the order of names; *rows* are read once, whatever their number."""
    found: dict[Side, Tally] = {}
    for _ in watch_rows(rows, found):
        pass
    return sort_sides(found)


def watch_rows(rows: Iterable[TableRow | Cell], found: dict[Side, Tally]) -> Iterator[TableRow | Cell]:
    """Give *rows* on while they are counted into *found*."""
    for row in rows:
        cell = row.cell if isinstance(row, TableRow) else row
        tally = found.setdefault((cell.arm, cell.spec, cell.cue_removed), Tally())
        if isinstance(row, TableRow):
            _count(tally, row)
        else:
            tally.unanswered += 1
        yield row


def sort_sides(found: Mapping[Side, Tally]) -> dict[Side, Tally]:
    """Return the counts in the order of their sides' names."""
    return dict(sorted(found.items(), key=lambda one: tuple(name or "" for name in one[0])))


def remark_sides(tallies: Mapping[Side, Tally]) -> Iterator[Remark]:
    """Give what differs between sides, or is missing, so that their scores may differ for another reason than the model."""
    waiting = sum(one.unanswered for one in tallies.values())
    if waiting:
        yield Remark(code="unanswered", message=f"{waiting:,} planned calls were never answered; they are no rows of the table")
    unscored = sum(one.excluded[NOT_SCORED] for one in tallies.values())
    if unscored:
        yield Remark(code=NOT_SCORED, message=f"{unscored:,} responses are not scored yet")
    shares: tuple[tuple[str, str, Callable[[Tally], int]], ...] = (
        ("unequal-truncation", "answers cut at the limit of tokens", lambda one: one.cut),
        ("unequal-unextracted", "answers without an extracted option or number", lambda one: one.excluded[NOT_FOUND]),
        ("unequal-refusals", "refusals", lambda one: one.refused),
        ("unequal-empty", "empty answers", lambda one: one.empty),
    )
    sides = [(side, one) for side, one in tallies.items() if one.answered > 0]
    for code, what, count in shares:
        found = [(count(one) / one.answered, count(one), one.answered, side) for side, one in sides]
        rates = [one[0] for one in found]
        if len(rates) > 1 and max(rates) - min(rates) > UNEQUAL:
            parts = ", ".join(f"{name_side(side)} {some} of {all_}" for _, some, all_, side in found)
            yield Remark(code=code, message=f"{what} differ between the sides: {parts}; that alone can make their scores differ")


def name_side(side: Side) -> str:
    """Return a side as a person reads it: `deploy`, `deploy chat`, `test without eval-word`."""
    arm, spec, edit = side
    return " ".join((arm, *([spec] if spec else []), *([f"without {edit}"] if edit else [])))


def summarise(tallies: Mapping[Side, Tally]) -> Sequence[dict[str, object]]:
    """Return the counts of each side as JSON values."""
    return [
        {
            "arm": side[0],
            "spec": side[1],
            "cue_removed": side[2],
            "rows": one.rows,
            "scored": one.scored,
            "mean": one.mean,
            "excluded": dict(sorted(one.excluded.items())),
            "unanswered": one.unanswered,
            "cut": one.cut,
            "refused": one.refused,
            "empty": one.empty,
        }
        for side, one in tallies.items()
    ]


def _count(tally: Tally, row: TableRow) -> None:
    response = row.response
    tally.rows += 1
    if row.value is not None:
        tally.scored += 1
        tally.total += row.value
    elif reason := row.excluded_reason:
        tally.excluded[reason] += 1
    if response.failure is not None:
        tally.failed.add(response.failure.code)
        return
    tally.cut += response.stop_reason in CUT
    tally.refused += response.stop_reason == "refusal"
    tally.empty += not (response.text or "").strip()
