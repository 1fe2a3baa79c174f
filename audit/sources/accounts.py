"""The accounts of an import: what each file holds, what became of it, and whether the counts agree."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path

from audit.errors import TableError
from audit.sources.port import Row
from registry.errors import Fault
from registry.records.imported import Imported, ImportedFile, LeftOut
from registry.records.trial import Provenance

_EXAMPLES = 5
_OF_RESPONSES = ("models_returned", "unnamed_responses")
"""What provenance has from single responses: united over files, and counted."""


@dataclass(slots=True)
class Tally:
    """What became of the responses of one file, counted as it is read."""

    scored: int = 0
    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    examples: dict[tuple[str, bool], list[str]] = field(default_factory=dict)

    def add(self, place: str, reason: str | None, *, is_row: bool = True) -> None:
        """Count the response at *place*: scored without a *reason*, else left out for it."""
        if reason is None:
            self.scored += 1
            return
        self.counts[reason, is_row] += 1
        kept = self.examples.setdefault((reason, is_row), [])
        if len(kept) < _EXAMPLES:
            kept.append(place)

    @property
    def found(self) -> int:
        """Responses that were counted."""
        return self.scored + sum(self.counts.values())

    def list_left_out(self) -> tuple[LeftOut, ...]:
        """Return what was left out, the most frequent reason first."""
        return tuple(
            LeftOut(reason=key[0], count=count, is_row=key[1], examples=tuple(self.examples[key]))
            for key, count in sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        )


def merge_accounts(parts: Sequence[Imported]) -> Imported:
    """Return the accounts of several imports as one; a date of the first response only where every part states one."""
    begun = [part.started_at for part in parts]
    known = [moment for moment in begun if moment is not None]
    return Imported(
        files=tuple(file for part in parts for file in part.files),
        provenance=_merge_provenance(parts),
        started_at=min(known, key=datetime.fromisoformat) if known and len(known) == len(begun) else None,
    )


def _merge_provenance(parts: Sequence[Imported]) -> Provenance:
    """A statement that all parts share once; otherwise each with the files that make it."""
    merged: dict[str, str | int] = {}
    for name in (one.name for one in fields(Provenance) if one.name not in _OF_RESPONSES):
        said: dict[str | int, list[str]] = {}
        for part in parts:
            value = getattr(part.provenance, name)
            if value is not None:
                said.setdefault(value, []).extend(Path(file.name).name for file in part.files)
        files = sum(len(part.files) for part in parts)
        if len(said) == 1 and len(next(iter(said.values()))) == files:
            merged[name] = next(iter(said))
        elif said and not any(isinstance(value, int) for value in said):
            # A date of access may stand in a file's name too, and would pass for one.
            merged[name] = "; ".join(f"{value} ({_name(found)})" if name != "accessed" else str(value) for value, found in said.items())
    returned = {name for part in parts for name in part.provenance.models_returned}
    unnamed = sum(map(_count_unnamed, parts))
    return Provenance(models_returned=tuple(sorted(returned)), unnamed_responses=unnamed, **merged)  # type: ignore[arg-type]


def _count_unnamed(part: Imported) -> int:
    """Return how many scored responses of *part* carry no model name: all of them, where it names none."""
    if part.provenance.models_returned:
        return part.provenance.unnamed_responses
    return sum(file.scored for file in part.files)


def _name(files: Sequence[str]) -> str:
    return ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")


def summarise_accounts(imported: Imported) -> str:
    """Return one line for each file: what was declared, found and scored, what was left out, and what else must be known of it."""
    return "\n".join(map(_summarise, imported.files))


def _summarise(file: ImportedFile) -> str:
    declared = "states no count" if file.declared is None else f"states {file.declared}"
    arm = f" as arm {file.arm}" if file.arm else ""
    said = [f"{declared}, {file.found} found, {file.scored} scored{arm}"]
    said += [f"{one.count} {'excluded' if one.is_row else 'not taken'}: {one.reason}" for one in file.left_out]
    return f"{Path(file.name).name} ({file.format}, SHA-256 {file.sha256[:12]}…): {'; '.join((*said, *file.warnings, *file.notes))}."


def verify_accounts(imported: Imported, rows: Iterable[Row]) -> None:
    """Raise ValueError unless every response found became one scored row, one row without a score, or is accounted for as no row."""
    counted: Counter[tuple[str, bool]] = Counter()
    for row in rows:
        counted[row.file or imported.files[0].name, row.score is not None] += 1
    for file in imported.files:
        excluded = sum(one.count for one in file.left_out if one.is_row)
        found = file.scored + sum(one.count for one in file.left_out)
        stated, actual = (file.scored, excluded, file.found), (counted[file.name, True], counted[file.name, False], found)
        if stated != actual:
            raise ValueError(f"{file.name}: scored, excluded and found are stated as {stated} and counted as {actual}")


def check_twice(imported: Imported) -> None:
    """Refuse a file that was given twice, whatever its names; raises TableError."""
    names: dict[str, list[str]] = {}
    for file in imported.files:
        names.setdefault(file.sha256, []).append(file.name)
    advice = "give each log once; one arm cannot be compared with itself"
    faults = [
        Fault(code="file-twice", where=", ".join(same), found="these are one file: the same bytes", advice=advice)
        for same in names.values()
        if len(same) > 1
    ]
    if faults:
        raise TableError(faults)


def rename(part: Imported, rows: Sequence[Row], path: str) -> tuple[Imported, list[Row]]:
    """Return accounts and rows of one file under the name it was given by."""
    names: Mapping[str, str] = {file.name: path for file in part.files} if len(part.files) == 1 else {}
    files = tuple(replace(file, name=names.get(file.name, file.name)) for file in part.files)
    return replace(part, files=files), [replace(row, file=names.get(row.file or "", row.file or files[0].name)) for row in rows]
