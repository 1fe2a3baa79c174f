"""Which rows and columns of a file make the table, where a file holds more than one could use."""

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from registry.errors import Fault

_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is taken from every file."""

    score: str = "score"
    """Name of the column that holds the scores."""

    where: Mapping[str, Collection[str]] = field(default_factory=lambda: MappingProxyType({}))
    """By column, of ours or any other: the values whose rows are kept; an empty text stands for an empty field. No entry: all rows."""

    also: tuple[str, ...] = ()
    """Columns read beside ours, as texts."""

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that are read under the name they have in the file."""
        return tuple(dict.fromkeys((*self.where, *self.also)))


def find_named(name: str, names: Collection[str]) -> str | None:
    """Return what the file calls the column that the user calls *name* (`arm` and `side` are one); None when it has none such."""
    other = {"arm": "side", "side": "arm"}.get(name)
    return name if name in names else other if other in names else None


def find_unknown(selection: Selection, names: Sequence[str], *, where: str) -> Iterator[Fault]:
    """Yield a fault for each column of *selection* that the file does not have."""
    wanted = selection.names if selection.score == "score" else (selection.score, *selection.names)
    for name in dict.fromkeys(wanted):
        if find_named(name, names) is None:
            found = f"the column is missing; the columns are: {_list(names) or 'none'}"
            yield Fault(code="unknown-column", where=f"{where}, column {name}", found=found, advice=suggest(name, names))


def find_unmatched(selection: Selection, seen: Mapping[str, Collection[str]], *, where: str) -> Iterator[Fault]:
    """Yield a fault for each value of *selection* that no row has; *seen* holds the values of each column, rows left out included."""
    for name, values in selection.where.items():
        for value in values:
            if value not in seen[name]:
                found = f"no row has {value!r} there; the values are: {_list(sorted(seen[name]))}"
                yield Fault(code="unknown-value", where=f"{where}, column {name}", found=found, advice=suggest(value, seen[name]))


def suggest(text: str, known: Iterable[str]) -> str | None:
    """Return a question that names what was probably meant: the nearest spelling, or the only one that holds *text*; else None."""
    candidates = [one for one in known if one]
    lowered = {one.lower(): one for one in candidates}
    close = difflib.get_close_matches(text.lower(), list(lowered), n=1, cutoff=0.6)
    holding = [one for one in candidates if text and text.lower() in one.lower()]
    meant = lowered[close[0]] if close else holding[0] if len(holding) == 1 else None
    return f"did you mean {meant}?" if meant else None


def _list(texts: Sequence[str]) -> str:
    return ", ".join(text or "(empty)" for text in texts[:_SHOWN]) + (" …" if len(texts) > _SHOWN else "")
