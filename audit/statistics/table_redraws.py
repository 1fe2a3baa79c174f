"""Re-draws of a score table: tasks and contexts sampled anew, and a share of deployment scores replaced by planted ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.statistics.responses import SCORED, Codes, Floats, ScoreTable, TextColumn
from registry.records.analysis_plan import ContextDesign

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlantedScores:
    """For each row of a table the scores that may take its place: those of one task, and of its context where there are any."""

    scores: Floats
    """All planted scores, those of one place next to each other."""
    first: Rows
    """By row of the table, the place of its first planted score."""
    count: Rows
    """How many there are; 0 for rows that stay as they are."""

    def choose(self, rows: Rows, chance: Floats) -> Floats:
        """Return one planted score for each of *rows* of the table, chosen by *chance* in [0, 1)."""
        return self.scores[self.first[rows] + (chance * self.count[rows]).astype(np.intp)]


def match_planted(table: ScoreTable, arm: str, pool: Mapping[tuple[str, str | None], Sequence[float]]) -> PlantedScores:
    """Return the scores of *pool* for each scored row of *arm*.

    Args:
        pool: by task and context, or by task and None for every context; a context of its own comes before None.
    """
    places: dict[tuple[str, str | None], int] = {}
    values: list[float] = []
    for key, scores in pool.items():
        places[key] = len(values)
        values += scores
    code = table.arm.find(arm)
    scored = (table.arm.codes == (SCORED - 1 if code is None else code)) & (table.excluded.codes == SCORED)
    first, count = np.zeros(table.rows, dtype=np.intp), np.zeros(table.rows, dtype=np.intp)
    for row in np.flatnonzero(scored).tolist():
        task, context = table.task.labels[table.task.codes[row]], table.context.labels[table.context.codes[row]]
        match = next((key for key in ((task, context), (task, None)) if key in places), None)
        if match is not None:
            first[row], count[row] = places[match], len(pool[match])
    return PlantedScores(scores=np.array(values, dtype=np.float64), first=first, count=count)


def draw_rows(table: ScoreTable, stream: np.random.Generator, *, design: ContextDesign) -> tuple[ScoreTable, Rows]:
    """Return *table* with its tasks, and contexts that are a sample, sampled anew with replacement; and the row that each row was.

    n - 1 of n units are sampled: a mean over them varies as one over n new units does, and so does its estimated variance (J. N. K. Rao &
    C. F. J. Wu, JASA 83, 1988). Families of tasks and templates of contexts stay whole. Contexts are sampled apart for each set of
    sides that they are used on. Fixed contexts stay as they are, and nested ones go with their task.
    """
    rows, copies = _draw_units(_find_units(table.task, table.family), stream)
    drawn = _label(table.keep(rows), ("task", "family"), copies)
    if design is not ContextDesign.RANDOM:
        return (_label(drawn, ("context", "template"), copies) if design is ContextDesign.NESTED else drawn), rows
    units = _find_units(table.context, table.template)
    strata = _find_strata(table, units)
    # One draw of contexts for all tasks: a context that is sampled twice is two contexts with the same scores.
    times = np.zeros(int(units.max()) + 1, dtype=np.intp)
    for stratum in np.unique(strata).tolist():
        members = np.unique(units[strata == stratum])
        chosen = stream.integers(0, len(members), size=max(len(members) - 1, 1))
        times[members] = np.bincount(chosen, minlength=len(members))
    repeats = times[units[rows]]
    places = np.repeat(np.arange(len(rows), dtype=np.intp), repeats)
    ends = np.cumsum(repeats)
    nth = np.arange(len(places), dtype=np.intp) - np.repeat(ends - repeats, repeats)
    return _label(drawn.keep(places), ("context", "template"), nth), rows[places]


def plant(table: ScoreTable, scores: Floats, replaced: npt.NDArray[np.bool_]) -> ScoreTable:
    """Return *table* with *scores* in the rows *replaced*."""
    return replace(table, score=np.where(replaced, scores, table.score))


def _find_units(column: TextColumn, groups: TextColumn | None) -> Rows:
    """Return the unit of each row: its group, or itself where it has none."""
    own = column.codes.astype(np.intp)
    if groups is None:
        return own
    return np.where(groups.codes >= 0, groups.codes.astype(np.intp), own + len(groups.labels))


def _find_strata(table: ScoreTable, units: Rows) -> Rows:
    """Return for each row which sides its unit of contexts is used on."""
    sides = table.arm.codes.astype(np.intp) * (len(table.spec.labels) + 1) + table.spec.codes + 1
    used = np.zeros((int(units.max()) + 1, int(sides.max()) + 1), dtype=bool)
    used[units, sides] = True
    _, stratum = np.unique(used, axis=0, return_inverse=True)
    return stratum.reshape(-1)[units]


def _draw_units(units: Rows, stream: np.random.Generator) -> tuple[Rows, Rows]:
    """Return the rows of n - 1 units sampled with replacement, and the number of the draw that each belongs to."""
    order = np.argsort(units, kind="stable")
    _, first, count = np.unique(units[order], return_index=True, return_counts=True)
    drawn = stream.integers(0, len(first), size=max(len(first) - 1, 1))
    sizes = count[drawn]
    copies = np.repeat(np.arange(len(drawn), dtype=np.intp), sizes)
    within = np.arange(len(copies), dtype=np.intp) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[first[drawn][copies] + within], copies


def _label(table: ScoreTable, names: tuple[str, ...], copies: Rows) -> ScoreTable:
    """Return *table* with new labels in the columns *names*: what was sampled twice is two units."""
    columns: dict[str, TextColumn] = {}
    for name in names:
        column: TextColumn | None = getattr(table, name)
        if column is None:
            continue
        keys = np.where(column.codes >= 0, copies * len(column.labels) + column.codes, -1)
        used = np.unique(keys[keys >= 0])
        codes: Codes = np.where(keys >= 0, np.searchsorted(used, keys), -1).astype(np.int32)
        # Numbers of one width sort as texts in the order of their values.
        width = len(str(int(used[-1]))) if len(used) else 1
        columns[name] = TextColumn(codes=codes, labels=tuple(f"{key:0{width}d}" for key in used.tolist()))
    return replace(table, **columns)  # type: ignore[arg-type]  # names and kinds are those of the fields
