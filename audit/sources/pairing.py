"""Whether rows that would be paired as one task are of one task, and whether a log's name contradicts its arm."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from audit.errors import TableError
from audit.sources.port import Row
from registry.errors import Fault
from registry.records.imported import Imported, ImportedFile

TARGET = "target_sha256"
"""Column of a row with the digest of what the right answer is, where a log states one."""

_DOCUMENT = "doc_hash"
_SHORTEST = 3
"""Letters of an arm's name that are looked for in a file's name; a shorter one stands there by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Differing:
    """Tasks of two files that are called alike and are not alike."""

    first: Row
    row: Row
    tasks: int


def check_documents(rows: Sequence[Row]) -> None:
    """Raise TableError where rows that would be paired as one task are of different documents of lm-evaluation-harness."""
    faults = []
    for one in _list_differing(rows, _DOCUMENT):
        digests = " and ".join(f"{str(row.extras[_DOCUMENT])[:12]}…" for row in (one.row, one.first))
        found = f"task {one.row.task_id} is another document here than in {one.first.file}: doc_hash {digests}"
        advice = "evaluate both arms on the same data; to pair by content, add --task-field doc_hash"
        faults.append(Fault(code="documents-differ", where=f"{one.row.file}, {one.row.place}", found=found, advice=advice))
    if faults:
        raise TableError(faults)


def check_targets(rows: Sequence[Row]) -> None:
    """Raise TableError where tasks of one identifier have another target in another log: Inspect numbers samples from 1 in any data set."""
    faults = []
    for one in _list_differing(rows, TARGET):
        found = f"task {one.row.task_id} has another target here than in {one.first.file}; so have {one.tasks} tasks in all"
        advice = "evaluate both arms on the same data; if these are the same tasks nevertheless, say so with --task-field sample.id"
        faults.append(Fault(code="documents-differ", where=f"{one.row.file}, {one.row.place}", found=found, advice=advice))
    if faults:
        raise TableError(faults)


def warn_of_pairing(imported: Imported, rows: Sequence[Row]) -> Imported:
    """Return *imported* with what makes its arms doubtful: a file called as another arm, tasks whose targets differ."""
    differing = {one.row.file: one for one in _list_differing(rows, TARGET)}
    arms = {file.arm for file in imported.files if file.arm}
    return replace(imported, files=tuple(_warn(file, arms, differing.get(file.name)) for file in imported.files))


def _warn(file: ImportedFile, arms: set[str], differing: _Differing | None) -> ImportedFile:
    warnings = [f"it is given as arm {file.arm}, and its name says {other}" for other in _list_others(file, arms)]
    if differing is not None:
        first = Path(differing.first.file or "").name
        warnings.append(f"{differing.tasks} tasks have another target than in {first}, and are paired with it by what --task-field names")
    return replace(file, warnings=(*file.warnings, *warnings))


def _list_others(file: ImportedFile, arms: set[str]) -> list[str]:
    """Arms that the name of *file* holds as words, unless it holds its own."""
    words = set(re.split(r"[^a-z0-9]+", Path(file.name).stem.lower()))
    if file.arm is None or file.arm.lower() in words:
        return []
    return sorted(arm for arm in arms - {file.arm} if len(arm) >= _SHORTEST and arm.lower() in words)


def _list_differing(rows: Sequence[Row], name: str) -> Iterator[_Differing]:
    """Give, for each two files, the first task that says something else under *name* in the second, and how many do."""
    seen: dict[str, Row] = {}
    found: dict[tuple[str | None, str | None], _Differing] = {}
    counted: set[tuple[str | None, str]] = set()
    for row in rows:
        if not isinstance(row.extras.get(name), str):
            continue
        first = seen.setdefault(row.task_id, row)
        if first.extras[name] == row.extras[name] or (row.file, row.task_id) in counted:
            continue
        counted.add((row.file, row.task_id))
        earlier = found.get((first.file, row.file))
        found[first.file, row.file] = replace(earlier, tasks=earlier.tasks + 1) if earlier else _Differing(first=first, row=row, tasks=1)
    yield from found.values()
