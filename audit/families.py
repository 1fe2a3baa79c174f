"""The columns `family` and `template` of a score table become clusters, with what a reader must know of them.

Labels that meet in one task, or in one context, name one cluster: a contradiction can only widen an interval.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.statistics.responses import ScoreTable, TextColumn
from audit.statistics.side_moments import INDEPENDENT, Clusters, connect_units
from registry.records.estimates import EstimateWarning

Places = npt.NDArray[np.intp]

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A cluster column and the unit that it groups."""

    column: str
    unit: str
    plural: str


_FAMILY = _Kind(column="family", unit="task", plural="families")
_TEMPLATE = _Kind(column="template", unit="context", plural="templates")


def find_clusters(table: ScoreTable) -> Clusters:
    """Return which tasks and contexts of *table* depend on each other; what names no family, or template, is independent."""
    if table.family is None and table.template is None:
        return INDEPENDENT
    return Clusters(family=_join(table.task, table.family), template=_join(table.context, table.template))


def count_unnamed(table: ScoreTable, rows: Places) -> int:
    """Return how many tasks and contexts of *rows* no row of the table gives a family, or a template, where others have one."""
    pairs = ((table.task, table.family), (table.context, table.template))
    return sum(int(_find_blank(units, labels)[np.unique(units.codes[rows])].sum()) for units, labels in pairs if labels is not None)


def _find_blank(units: TextColumn, labels: TextColumn) -> npt.NDArray[np.bool_]:
    """By the code of the unit: whether no row of it has a label."""
    blank = np.ones(len(units.labels), dtype=bool)
    blank[units.codes[labels.codes >= 0]] = False
    return blank


def name_families(table: ScoreTable) -> tuple[str, ...] | None:
    """Return the name of each task's family by the code of the task, its own id where it has none; None without the column.

    Where several names meet in one task, the first of them in the order of texts stands for all.
    """
    lowest = _join(table.task, table.family)
    if lowest is None or table.family is None:
        return None
    names = list(table.task.labels)
    named = table.family.codes >= 0
    pairs = np.unique(np.stack([lowest[table.task.codes[named]], table.family.codes[named]]), axis=1)
    # From the last to the first, so that the first name stays.
    for code, label in pairs[:, ::-1].T.tolist():
        names[code] = table.family.labels[label]
    return tuple(names[code] for code in lowest.tolist())


def warn_of_clusters(table: ScoreTable, arms: tuple[str, ...]) -> Iterator[EstimateWarning]:
    """Yield what is contradictory, missing or without effect in the columns `family` and `template`, in the rows of *arms*."""
    codes = [code for code in map(table.arm.find, arms) if code is not None]
    kept = table.keep(np.isin(table.arm.codes, codes))
    for kind, units, labels in ((_FAMILY, kept.task, kept.family), (_TEMPLATE, kept.context, kept.template)):
        if labels is not None:
            yield from _describe(kind, kept, units, labels)


def _join(units: TextColumn, labels: TextColumn | None) -> Places | None:
    """By the code of the unit: the lowest code in its cluster; None without the column."""
    if labels is None:
        return None
    named = labels.codes >= 0
    return connect_units(units.codes[named].astype(np.intp), labels.codes[named].astype(np.intp), size=len(units.labels))


def _describe(kind: _Kind, table: ScoreTable, units: TextColumn, labels: TextColumn) -> Iterator[EstimateWarning]:
    is_family, clusters = kind is _FAMILY, _join(units, labels)
    pairs = np.unique(np.stack([units.codes, labels.codes])[:, labels.codes >= 0], axis=1)
    counts = np.bincount(pairs[0], minlength=len(units.labels))
    if (counts > 1).any():
        code = int(np.flatnonzero(counts > 1)[0])
        names = ", ".join(labels.labels[label] for label in pairs[1][pairs[0] == code].tolist()[:_SHOWN])
        more = _count_more(int(np.count_nonzero(counts > 1)))
        message = f"{kind.unit.capitalize()} {units.labels[code]} is in several {kind.plural} ({names}){more}: they count as one."
        yield EstimateWarning(code="families-merged" if is_family else "templates-merged", message=message)
    blank = _find_blank(units, labels)
    if blank.any():
        names = ", ".join(units.labels[code] for code in np.flatnonzero(blank)[:_SHOWN].tolist())
        number = int(np.count_nonzero(blank))
        fix = f"write a {kind.column} in every row, a name of its own for a {kind.unit} that stands by itself"
        message = f"{number} {kind.unit}s name no {kind.column} ({names}), others do: each counts as independent of the rest; {fix}."
        yield EstimateWarning(code="family-blank" if is_family else "template-blank", message=message)
    if is_family:
        yield from _describe_sides(table, labels)
    if clusters is not None and len(np.unique(clusters)) == len(clusters) and not blank.all():
        message = f"Each {kind.column} holds one {kind.unit}: the intervals are those without the column."
        yield EstimateWarning(code="families-single" if is_family else "templates-single", message=message)


def _describe_sides(table: ScoreTable, labels: TextColumn) -> Iterator[EstimateWarning]:
    """Tasks whose family is named in the rows of one arm only, although both have rows of them."""
    arms = range(len(table.arm.labels))
    there = np.zeros((len(arms), len(table.task.labels)), dtype=bool)
    named = there.copy()
    there[table.arm.codes, table.task.codes] = True
    rows = labels.codes >= 0
    named[table.arm.codes[rows], table.task.codes[rows]] = True
    part = named.any(axis=0) & (there & ~named).any(axis=0)
    if part.any():
        silent = ", ".join(table.arm.labels[arm] for arm in arms if (there & ~named)[arm, part].any())
        number = int(np.count_nonzero(part))
        message = f"The rows of {number} tasks name a family in some arms and none in {silent}: the one that is named counts for all."
        yield EstimateWarning(code="family-one-side", message=message)


def _count_more(number: int) -> str:
    return f", and so are {number - 1} others" if number > 1 else ""
