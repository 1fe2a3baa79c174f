"""Score tables made in memory, for tests."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from audit.statistics.responses import Floats, ScoreTable, TableFile, TextColumn

Row = tuple[str, str, str, str, float | None]
"""Task, arm, context, sample, score (None: excluded)."""


def label(texts: Sequence[str | None]) -> TextColumn:
    """Codes in the sorted order of the texts."""
    labels = tuple(sorted({text for text in texts if text is not None}))
    place = {text: code for code, text in enumerate(labels)}
    codes = [-1 if text is None else place[text] for text in texts]
    return TextColumn(codes=np.array(codes, dtype=np.int32), labels=labels)


def build_table(
    rows: Iterable[Row],
    *,
    specs: Sequence[str | None] | None = None,
    low: float = 0.0,
    high: float = 1.0,
    weights: Mapping[str, str] | None = None,
    cues: Sequence[str | None] | None = None,
) -> ScoreTable:
    """A table of rows; `specs` and `cues` name the specification and the removed cue of each, `weights` the weight of each task."""
    listed = list(rows)
    scores = [row[4] for row in listed]
    return ScoreTable(
        task=label([row[0] for row in listed]),
        arm=label([row[1] for row in listed]),
        context=label([row[2] for row in listed]),
        spec=label(specs if specs is not None else [None] * len(listed)),
        sample=label([row[3] for row in listed]),
        excluded=label(["refused" if score is None else None for score in scores]),
        score=np.array([np.nan if score is None else score for score in scores]),
        low=low,
        high=high,
        files=(TableFile(name="scores.csv", sha256="0" * 64, rows=len(listed)),),
        weight=None if weights is None else label([weights.get(row[0]) for row in listed]),
        cue_removed=None if cues is None else label(cues),
    )


def list_rows(test: Floats, deploy: Floats) -> list[Row]:
    """Rows of two arrays [task, context, sample]; NaN becomes an excluded response."""
    rows: list[Row] = []
    for arm, block in (("test", test), ("deploy", deploy)):
        for (task, context, sample), score in np.ndenumerate(block):
            rows.append((f"t{task:05d}", arm, f"c{context:03d}", str(sample), None if np.isnan(score) else float(score)))
    return rows


def build_crossed(
    test: Floats, deploy: Floats, *, low: float = 0.0, high: float = 1.0, weights: Sequence[object] | None = None
) -> ScoreTable:
    """A table in which every task meets every context; arrays are [task, context, sample] or [task, context], `weights` by task."""
    blocks = [block[:, :, np.newaxis] if block.ndim == 2 else block for block in (test, deploy)]
    named = None if weights is None else {f"t{task:05d}": str(weight) for task, weight in enumerate(weights)}
    return build_table(list_rows(blocks[0], blocks[1]), low=low, high=high, weights=named)


def build_nested(test: Floats, deploy: Floats) -> ScoreTable:
    """A table in which every task has contexts of its own; arrays as in `build_crossed`."""
    blocks = [block[:, :, np.newaxis] if block.ndim == 2 else block for block in (test, deploy)]
    rows = list_rows(blocks[0], blocks[1])
    return build_table((task, arm, f"{task}-{arm}-{context}", sample, score) for task, arm, context, sample, score in rows)
