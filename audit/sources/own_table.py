"""A person's own table becomes a checked score table: which column has which role, and what its cells mean as scores."""

from collections.abc import Mapping
from typing import Any

from audit.statistics.responses import ScoreTable


def table_from_frame(
    frame: Any,
    *,
    mapping: Mapping[str, str] | None,
    arms: Mapping[str, str] | None,
    score_values: Mapping[str, float] | None = None,
    low: float = 0.0,
    high: float = 1.0,
) -> ScoreTable:
    """Return *frame* as a checked score table.

    Args:
        frame: a pandas DataFrame, or whatever has the Arrow PyCapsule interface (`__arrow_c_stream__`): Arrow, Polars, DuckDB.
        mapping: by role (`task`, `arm`, `score`, `context`, `sample`, …), the column of the frame; None: its columns have Caveat's names.
        arms: by arm (`test`, `deploy`), the value that it has in the frame; None: the values are the arms.
        score_values: by text in the score column, its number; words such as `pass`, `no` and `TRUE` need none.
        low: lowest possible score.
        high: highest possible score.

    Raises:
        TableError: with every fault; many faults of one cause are one, with a count and the first places.
    """
    raise NotImplementedError
