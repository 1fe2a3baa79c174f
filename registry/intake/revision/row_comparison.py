"""Rows of tables compared cell by cell between two revisions: cells belong together by their heads, not by their places."""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from registry.records.system_card import Outline, Passage, PassageKind

# Words alone cannot tell a new column from new figures, nor that "81.3 %" has come under another head. A row without
# readable heads is compared by its words.

_FOLDED = re.compile(r"[\W_]+")
_CAPTION_NUMBER = re.compile(r"^\W*(?:table|figure|fig)\W*[A-Z]?\d[\d.]*\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowComparison:
    """How a row differs from the same row of an older revision."""

    heads_added: tuple[str, ...]
    heads_removed: tuple[str, ...]
    """With renamed ones: a renamed head is one removed and one added."""
    caption: tuple[str, str] | None
    """The old and the new caption, without their numbers; None where they are the same or one is not known."""
    taken_out: Counter[str]
    """Cells of columns that both have, and of removed ones, which the newer row does not have, folded."""
    put_in: Counter[str]
    """Cells of columns that both have which the older row does not have; those of a new column are no news of this row."""

    @property
    def is_renamed(self) -> bool:
        """Whether the figures are said of something else: a head is gone or the caption is another one."""
        return bool(self.heads_removed) or self.caption is not None

    @property
    def has_same_cells(self) -> bool:
        """Whether each cell of the older row is there under its head, whatever columns were added or changed places."""
        return not self.is_renamed and not self.taken_out and not self.put_in

    def describe_heads(self) -> tuple[str, ...]:
        """Return in words what makes the row another statement: changed or removed heads, and another caption."""
        changes = []
        if self.heads_removed and self.heads_added:
            changes.append(f"column head: {', '.join(self.heads_removed)} → {', '.join(self.heads_added)}")
        elif self.heads_removed:
            changes.append(f"column removed: {', '.join(self.heads_removed)}")
        if self.caption is not None:
            changes.append(f"caption: {self.caption[0]} → {self.caption[1]}")
        return tuple(changes)


def compare_rows_at(old: Outline, old_at: int, new: Outline, new_at: int) -> RowComparison | None:
    """Return how the rows at two characters, of the old and of the new text, differ; None unless both are rows with known heads."""
    ours, theirs = _find_passage(old, old_at), _find_passage(new, new_at)
    return None if ours is None or theirs is None else compare_rows(ours, theirs)


def _find_passage(outline: Outline, at: int) -> Passage | None:
    index = bisect_right(outline.passages, at, key=lambda passage: passage.start) - 1
    return outline.passages[index] if index >= 0 and at < outline.passages[index].stop else None


def compare_rows(old: Passage, new: Passage) -> RowComparison | None:
    """Return how the row *new* differs from *old*; None where one is no row, or its heads are not known or not distinct."""
    ours, theirs = _read_cells(old), _read_cells(new)
    if ours is None or theirs is None:
        return None
    shared = ours.keys() & theirs.keys()
    taken_out = Counter(_fold(text) for head, (_, text) in ours.items() if head not in shared or _fold(text) != _fold(theirs[head][1]))
    put_in = Counter(_fold(text) for head, (_, text) in theirs.items() if head in shared and _fold(text) != _fold(ours[head][1]))
    captions = [_CAPTION_NUMBER.sub("", passage.caption or "").strip() for passage in (old, new)]
    return RowComparison(
        heads_added=tuple(written for head, (written, _) in theirs.items() if head not in shared),
        heads_removed=tuple(written for head, (written, _) in ours.items() if head not in shared),
        caption=(captions[0], captions[1]) if all(captions) and _fold(captions[0]) != _fold(captions[1]) else None,
        taken_out=taken_out,
        put_in=put_in,
    )


def _read_cells(row: Passage) -> dict[str, tuple[str, str]] | None:
    """The head and the text of each cell by its folded head; the label may have none."""
    if row.kind is not PassageKind.ROW or len(row.cells) < 2 or any(cell.column is None for cell in row.cells[1:]):
        return None
    cells = {_fold(cell.column or ""): (cell.column or "", cell.text) for cell in row.cells}
    return cells if len(cells) == len(row.cells) else None


def _fold(text: str) -> str:
    """Letters and digits in lower case; a figure keeps its point, sign and unit."""
    return text.replace(" ", "").casefold() if any(character.isdigit() for character in text) else _FOLDED.sub(" ", text).strip().casefold()
