"""The door for everything that scores come in: which reader reads which file, and how its rows become a table."""

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TextIO
from zipfile import BadZipFile, ZipFile

import numpy as np

from audit.errors import TableError
from audit.records.model_response import ImportedLog
from audit.sources.log_rows import (
    LogOptions,
    LogRow,
    check_documents,
    check_targets,
    check_twice,
    list_doubts,
    merge_accounts,
    rename_account,
    verify_accounts,
    warn_of_pairing,
)
from audit.sources.score_columns import COLUMNS, IDS, RawColumn, RawTable, suggest
from audit.sources.score_table import build_table, find_near_duplicates, note_near_duplicates, read_table
from audit.statistics.responses import ScoreTable
from registry.errors import Fault, InputError
from registry.present.answers import write_cell

# From the rows of a log reader to a checked score table.
#
# Readers of logs are our own, and their rows pass the checks of every table, so a fault names log and sample. A score
# that is a text without a number is refused and never left out, because leaving it out would choose. Cost: we follow
# three formats.

_TEXTS = tuple(name for name in COLUMNS if name != "score")


def build_row_table(rows: Sequence[LogRow], imported: ImportedLog, *, low: float, high: float) -> ScoreTable:
    """Return *rows* as one checked table, with files that are those of *imported*.

    Raises:
        TableError: whatever is wrong with a table that was written by hand; the fault names the log and the place in it.
    """
    by_file: dict[str, list[LogRow]] = {file.name: [] for file in imported.files}
    for row in rows:
        by_file[row.file or imported.files[0].name].append(row)
    _refuse_outside(rows, low=low, high=high)
    digests = {file.name: file.sha256 for file in imported.files}
    tables = [_build_raw(name, digests[name], of_file) for name, of_file in by_file.items() if of_file]
    return build_table(tables, low=low, high=high)


def _refuse_outside(rows: Sequence[LogRow], *, low: float, high: float) -> None:
    """Refuse scores outside the range as one fault: they have one cause, a range that was not said."""
    outside = [row for row in rows if row.score is not None and not low <= row.score <= high and not math.isnan(row.score)]
    if len(outside) > _MOST_PLACES:
        scores = [row.score for row in outside if row.score is not None]
        places = ", ".join(str(row.place) for row in outside[:_MOST_PLACES])
        problem = f"expected numbers from {low:g} to {high:g}; {len(outside):,} scores are outside, from {min(scores):g} to {max(scores):g}"
        where = f"{outside[0].file}, {places} and {len(outside) - _MOST_PLACES:,} more"
        raise TableError(Fault("score-out-of-range", where, problem))


def _build_raw(name: str, sha256: str, rows: Sequence[LogRow]) -> RawTable:
    score = np.array([math.nan if row.score is None else row.score for row in rows], dtype=np.float64)
    return RawTable(
        name=name,
        sha256=sha256,
        columns={column: _intern(getattr(row, column) for row in rows) for column in _TEXTS},
        score=score,
        empty=np.array([row.score is None for row in rows], dtype=np.bool_),
        row_word="row",
        first_row=1,
        rows_read=len(rows),
        places=tuple(row.place or f"task {row.task_id}, context {row.context_id}, sample {row.sample}" for row in rows),
    )


def _intern(texts: Iterable[str | None]) -> RawColumn:
    known: dict[str, int] = {}
    codes = [-1 if not text else known.setdefault(text, len(known)) for text in texts]
    return RawColumn(codes=np.array(codes, dtype=np.int32), labels=tuple(known))


def write_rows(rows: Sequence[LogRow], out: TextIO) -> None:
    """Write *rows* as CSV in the form that score tables have; columns that no row fills are excluded.

    A score is written with all its digits, so that the table read again has the digest of this one.
    """
    optional = [name for name in _TEXTS if name not in IDS and any(getattr(row, name) is not None for row in rows)]
    extras = list(dict.fromkeys(name for row in rows for name in row.extras))
    writer = csv.writer(out, lineterminator="\n")
    # A column of the log with the name of one of ours would be read as ours, so it gets a prefix.
    writer.writerow([*IDS, "score", *optional, *(f"log_{name}" if name in COLUMNS else name for name in extras)])
    for row in rows:
        score = "" if row.score is None else repr(float(row.score))
        own = [getattr(row, name) or "" for name in (*IDS, *optional)]
        cells = [_write(text) for text in (*own, *(row.extras.get(name) for name in extras))]
        writer.writerow([*cells[: len(IDS)], score, *cells[len(IDS) :]])


def _write(value: str | float | None) -> str:
    return "" if value is None else write_cell(value) if isinstance(value, str) else repr(value)


# The entry for all sources of scores: which reader reads which file. Where log and user differ, the log wins.

_LONGEST_LINE = 200_000_000
_MOST_PLACES = 3
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
"""An address such as `s3://bucket/log.eval`; Inspect alone writes there."""
_TABLES = (".csv", ".jsonl", ".ndjson", ".parquet")
_SHEETS = (".xlsx", ".tsv")
"""Tables that only the reader of own tables reads."""
_OTHER_SHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
"""Spreadsheets that it refuses, with what to do."""
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "Zstandard", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
"""By the first bytes, how a file is packed as a whole."""


class SourceFormat(StrEnum):
    """What a source is, told by its content."""

    TABLE = "a score table"
    OWN_TABLE = "a table with its own columns"
    INSPECT = "an Inspect log"
    HARNESS = "samples of lm-evaluation-harness"
    EVERY_EVAL = "samples of Every Eval Ever"
    SKILL_RUNS = "a folder of skill-contamination runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSource:
    """One argument, taken apart."""

    path: str
    arm: str | None = None
    spec: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedScores:
    """What was read: a table, and the accounts of the logs it was made from."""

    table: ScoreTable
    source: str
    """File names, as the report prints them."""
    imported: ImportedLog | None
    """None for tables, which have nothing to account for: each of their rows is checked."""


def split_sources(texts: Sequence[str]) -> list[ScoreSource]:
    """Return the parts of each `PATH`, `ARM=PATH` or `ARM/SPEC=PATH`; what exists under its whole text is a path.

    Raises:
        InputError: no arm before the `=`, nothing behind it, nothing where a path leads, or one path twice; all of these at once.
    """
    sources: list[ScoreSource] = []
    faults: list[Fault] = []
    for text in texts:
        source = _split_source(text)
        fault = _check_path(source.path) if isinstance(source, ScoreSource) else source
        if isinstance(source, ScoreSource):
            sources.append(source)
        faults += [fault] if fault is not None else []
    places = [Path(source.path).absolute() for source in sources]
    twice = sorted({source.path for source, place in zip(sources, places, strict=True) if places.count(place) > 1})
    faults += [Fault("duplicate", path, "the file is named twice") for path in twice]
    if faults:
        raise InputError(faults)
    return sources


def _split_source(text: str) -> ScoreSource | Fault:
    left, sign, path = text.partition("=")
    # File names may contain "=". An existing file is meant as a path.
    if not sign or Path(text).exists():
        return ScoreSource(path=text)
    arm, slash, spec = left.partition("/")
    is_named = all(part and part == part.strip() for part in (arm, spec if slash else arm))
    if not path or not is_named:
        expected = f"expected ARM=PATH or ARM/SPEC=PATH without white space around a name, found {text!r}"
        return Fault("bad-option", text, expected, advice="write for example test=eval.eval deploy=agent.eval")
    return ScoreSource(path=path, arm=arm, spec=spec or None)


def _check_path(path: str) -> Fault | None:
    place = Path(path)
    if _REMOTE.match(path) or place.is_file() or place.is_dir():
        return None
    # A log is read more than once (format, digest, content), which a pipe does not allow.
    if place.exists():
        advice = "write what comes out of it to a file: a log is read more than once"
        return Fault("file-not-readable", path, "is not a file (a pipe, a socket or a device)", advice=advice)
    return Fault("file-not-readable", path, "there is no such file")


def read_logs(paths: Sequence[str], reading: LogOptions, *, low: float, high: float) -> ImportedScores:
    """Return what *paths* hold as one table: score tables as they are, logs of one format by its reader.

    Args:
        paths: at least one.
        reading: what the user says of the logs.
        low: lowest possible score.
        high: highest possible score.

    Raises:
        TableError: several formats at once, an arm that is not stated, or whatever is wrong inside; all faults of a kind at once.
    """
    source = ", ".join(Path(path).name for path in paths)
    if find_format(paths, reading) is SourceFormat.TABLE:
        refuse_options(paths, reading, what="a score table, which says arm, context and task in its own columns")
        return ImportedScores(
            table=read_table([Path(path) for path in paths], low=low, high=high, score=reading.scorer or "score"),
            source=source,
            imported=None,
        )
    rows, imported = read_rows(paths, reading)
    return ImportedScores(table=build_row_table(rows, imported, low=low, high=high), source=source, imported=imported)


def read_rows(paths: Sequence[str], reading: LogOptions) -> tuple[list[LogRow], ImportedLog]:
    """Return the responses of logs of one format as rows with their arms, and the accounts of the import.

    Raises:
        TableError: as `read_logs`; a score table is no log.
    """
    format_ = find_format(paths, reading)
    if format_ is SourceFormat.TABLE:
        format_ = SourceFormat.OWN_TABLE
    if format_ is SourceFormat.OWN_TABLE:
        refuse_options(paths, reading, what="a table with columns that --map names", is_table=True)
    else:
        _refuse_table_options(paths, reading)
        _check_arms(paths, reading, format_)
    read = _find_reader(format_)
    rows: list[LogRow] = []
    parts: list[ImportedLog] = []
    faults: list[Fault] = []
    for path in paths:
        try:
            of_file, part = read([Path(path)], reading)
        except TableError as error:
            faults.extend(error.faults)
            continue
        part, of_file = rename_account(part, of_file, path)
        rows += [replace(row, spec=row.spec or reading.specs.get(path)) for row in of_file]
        parts.append(part)
    if faults:
        raise TableError(faults)
    imported = merge_accounts(parts)
    # Every response found must be scored, excluded or accounted for. A reader with a defect fails here instead of
    # losing rows.
    verify_accounts(imported, rows)
    check_twice(imported)
    named = name_arms(rows, imported, reading.arm_names)
    if format_ is SourceFormat.OWN_TABLE:
        check_two_arms(named, imported)
    _check_across(format_, named, reading)
    _check_families(paths, named, reading)
    texts = {row.task_id: row.text for row in reversed(named) if row.text is not None}
    families = {row.task_id: row.family for row in named if row.family is not None}
    imported = warn_of_pairing(imported, named)
    # Near-duplicates are a condition of their own, so they come after the doubts.
    imported = replace(imported, provenance=replace(imported.provenance, doubts=list_doubts(imported)))
    return named, note_near_duplicates(imported, find_near_duplicates(texts, families))


def find_format(paths: Sequence[str], reading: LogOptions | None = None) -> SourceFormat:
    """Return what all *paths* are; raises TableError where they differ, or where one is a part of something that has no use by itself.

    A table is one with its own columns where *reading* says so, where only that reader can read it, or where semicolons or tabs separate.
    """
    if not paths:
        raise TableError(Fault("bad-option", "sources", "expected at least one file, found none"))
    formats: dict[str, SourceFormat] = {}
    faults: list[Fault] = []
    for path in paths:
        try:
            formats[path] = SourceFormat.INSPECT if _REMOTE.match(path) else _find_one(Path(path))
            is_own = reading is not None and any((reading.mapping, reading.arms, reading.arm_names, reading.where, reading.values))
            if formats[path] is SourceFormat.TABLE and is_own:
                formats[path] = SourceFormat.OWN_TABLE
        except TableError as error:
            faults.extend(error.faults)
    if faults:
        raise TableError(faults)
    # One reader at a time: pairing rules and options mean different things in each format.
    if len(set(formats.values())) > 1:
        there = "; ".join(f"{path} is {source_format.value}" for path, source_format in formats.items())
        raise TableError(Fault("formats-mixed", ", ".join(paths[:3]), f"expected one format, found {there}"))
    return next(iter(formats.values()))


def _find_one(path: Path) -> SourceFormat:
    if path.is_dir():
        if (path / "scores").is_dir():
            return SourceFormat.SKILL_RUNS
        advice = "name the log files in it; of skill-contamination runs, the folder that holds scores/"
        raise TableError(Fault("unknown-format", str(path), "is a folder without scores/", advice=advice))
    try:
        with path.open("rb") as file:
            start = file.readline(_LONGEST_LINE).removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise TableError(Fault("file-not-readable", str(path), f"the file cannot be opened: {error.strerror or error}")) from error
    if path.suffix.lower() in (*_SHEETS, *_OTHER_SHEETS) or (path.suffix.lower() == ".csv" and _has_other_separator(start)):
        return SourceFormat.OWN_TABLE
    # Told by the first bytes. A compressed file would otherwise be reported as a broken table.
    if packing := next((name for mark, name in _PACKED.items() if start.startswith(mark)), None):
        advice = "unpack it; an .eval log is an archive already and is given as it is"
        raise TableError(Fault("unknown-format", str(path), f"the file is compressed ({packing})", advice=advice))
    if path.suffix.lower() == ".eval" or (start.startswith(b"PK\x03\x04") and _has_members(path)):
        return SourceFormat.INSPECT
    return _find_json(path, start) if start.lstrip()[:1] == b"{" else _check_table(path)


def _has_other_separator(header: bytes) -> bool:
    """Whether semicolons or tabs separate the columns, or the text is UTF-16, which only the reader of own tables explains."""
    return b"," not in header and (b";" in header or b"\t" in header or b"\0" in header)


def _check_table(path: Path) -> SourceFormat:
    """What is no log must be called as a score table is."""
    if path.suffix.lower() in _TABLES:
        return SourceFormat.TABLE
    ending, endings = path.suffix or "nothing", ", ".join((*_TABLES, *_SHEETS))
    problem = f"is neither a log that Caveat knows nor a table: its name ends in {ending}, not in {endings}"
    raise TableError(Fault("unknown-format", str(path), problem, advice="docs/logs.md lists the formats"))


def _has_members(path: Path) -> bool:
    """Whether an archive that is not called `.eval` holds what a log does; a spreadsheet is an archive too."""
    try:
        with ZipFile(path) as archive:
            return bool({"header.json", "_journal/start.json"} & set(archive.namelist()))
    except (BadZipFile, OSError, ValueError):
        return False


def _find_json(path: Path, start: bytes) -> SourceFormat:
    """A log has keys that no score table has; an object over several lines cannot be parsed by its first and is told by its beginning."""
    try:
        keys = set(json.loads(start))
    # An object over several lines cannot be parsed from its first line, so its keys are searched in the beginning of
    # the file.
    except (ValueError, RecursionError):
        with path.open("rb") as file:
            beginning = file.read(4096)
        keys = {key for key in ("eval", "status", "version", "evaluation_results", "results") if f'"{key}"'.encode() in beginning}
    # Formats are told apart by keys that the others do not have, never by file names: names are free.
    if {"eval", "status"} <= keys:
        return SourceFormat.INSPECT
    if {"evaluation_id", "sample_id"} <= keys:
        return SourceFormat.EVERY_EVAL
    if {"doc_id", "doc"} <= keys and keys & {"resps", "filtered_resps", "arguments"}:
        return SourceFormat.HARNESS
    if path.suffix.lower() == ".json":
        problem = "is a JSON file that is not an Inspect log"
        advice = (
            "of lm-evaluation-harness name samples_*.jsonl, of Every Eval Ever the .jsonl of instances (results are found next to them); "
            "call a score table of one object a line .jsonl"
        )
        raise TableError(Fault("unknown-format", str(path), problem, advice=advice))
    return _check_table(path)


def _find_reader(format_: SourceFormat) -> Callable[[Sequence[Path], LogOptions], tuple[list[LogRow], ImportedLog]]:
    """Each reader is loaded when it is needed."""
    match format_:
        case SourceFormat.INSPECT:
            from audit.sources.inspect_log import read_inspect  # noqa: PLC0415  # its decompression is for these logs alone

            return read_inspect
        case SourceFormat.HARNESS:
            from audit.sources.lm_eval_harness import read_harness  # noqa: PLC0415

            return read_harness
        case SourceFormat.EVERY_EVAL:
            from audit.sources.every_eval_ever import read_every_eval  # noqa: PLC0415

            return read_every_eval
        case SourceFormat.SKILL_RUNS:
            from audit.sources.skill_run_rows import read_skill_runs  # noqa: PLC0415

            return read_skill_runs
        case SourceFormat.OWN_TABLE:
            from audit.sources.own_table import read_own_table  # noqa: PLC0415

            return read_own_table
        case SourceFormat.TABLE:
            raise ValueError("a score table has no reader of logs")


def refuse_options(paths: Sequence[str], reading: LogOptions, *, what: str, is_table: bool = False) -> None:
    """Refuse what is said of logs and would be without effect here: it must not seem to have one; raises TableError.

    Args:
        paths: the files.
        reading: the options.
        what: what *paths* are, and where they say themselves what the options say, such as `a score table, which …`.
        is_table: whether they are own tables, with arms and score words said as those of logs are.
    """
    options: dict[str, object] = {
        "--key": reading.key,
        "--arm-field": reading.arm_field,
        "--context-field": reading.context_field,
        "--task-field": reading.task_field,
        "--family-field": reading.family_field,
    }
    if is_table:
        options["--scorer"] = reading.scorer
    else:
        options |= {"--score-values": reading.values, "--arms": reading.arm_names, "ARM=": reading.arms}
    useless = [name for name, value in options.items() if value]
    if useless:
        problem = f"is {what}; {', '.join(useless)} is for logs"
        raise TableError(Fault("option-for-logs", ", ".join(paths[:3]), problem, advice=f"leave {', '.join(useless)} out"))


def _refuse_table_options(paths: Sequence[str], reading: LogOptions) -> None:
    """Refuse what is said of tables where *paths* are logs; raises TableError."""
    options = {"--map": reading.mapping, "--sheet": reading.sheet, "--where": reading.where}
    if useless := [name for name, value in options.items() if value]:
        problem = f"is a log; {', '.join(useless)} is for tables"
        raise TableError(Fault("option-for-tables", ", ".join(paths[:3]), problem))


def _check_arms(paths: Sequence[str], reading: LogOptions, format_: SourceFormat) -> None:
    """Refuse a log whose arm is not stated, and one of which two say it."""
    faults = []
    for path in paths:
        # The arm must have exactly one source. With two that differ, either choice could turn the sign of ED.
        says_itself = format_ is SourceFormat.SKILL_RUNS or reading.arm_field is not None
        if says_itself and path in reading.arms:
            where = "its folders" if format_ is SourceFormat.SKILL_RUNS else f"--arm-field {reading.arm_field}"
            problem = f"the arm {reading.arms[path]!r} is given, and {where} says the arm of each response"
            faults.append(Fault("arm-twice", path, problem, advice=f"leave {reading.arms[path]}= out; name arms with --arms"))
        elif not says_itself and path not in reading.arms:
            advice = f"write test={path} or deploy={path}, or say with --arm-field where the log has it"
            faults.append(Fault("arm-missing", path, "nothing says which arm its responses belong to", advice=advice))
    if reading.arm_names and reading.arms:
        faults.append(Fault("arm-twice", "--arms", "the arms are given before the paths", advice="leave --arms out"))
    if faults:
        raise TableError(faults)


def name_arms(rows: Sequence[LogRow], imported: ImportedLog, names: Mapping[str, str]) -> list[LogRow]:
    """Return *rows* with the arms called as *names* says by value; a value that no response has is a mistake.

    Raises:
        TableError: with every such value.
    """
    there = sorted({row.arm for row in rows})
    faults = [
        Fault(
            "unknown-name",
            f"{imported.files[0].name}, --arms {name}={value}",
            f"no response has {value!r} there; the values are: {', '.join(there[:12])}{' …' if len(there) > 12 else ''}",
            advice=suggest(value, there),
        )
        for value, name in names.items()
        if value not in there
    ]
    if faults:
        raise TableError(faults)
    return [replace(row, arm=names.get(row.arm, row.arm)) for row in rows]


def check_two_arms(rows: Sequence[LogRow], imported: ImportedLog) -> None:
    """Raise TableError where tables have one arm only: nothing could be compared."""
    arms = {row.arm for row in rows}
    if len(arms) == 1:
        raise TableError(build_one_sided(", ".join(file.name for file in imported.files[:3]), len(rows), next(iter(arms))))


def build_one_sided(where: str, rows: int, arm: str) -> Fault:
    """Return the fault of a table with one arm."""
    advice = "give the table of the other side too, such as test=a.xlsx deploy=b.xlsx, or map the column that distinguishes them as arm"
    return Fault("one-sided", where, f"all {rows:,} rows are of arm {arm!r}", advice=advice)


def _check_families(paths: Sequence[str], rows: Sequence[LogRow], reading: LogOptions) -> None:
    """Refuse a field of families that no response has: a slip would declare nothing without a word."""
    if reading.family_field is not None and rows and not any(row.family for row in rows):
        problem = f"no response has a single value at {reading.family_field}"
        raise TableError(Fault("unknown-name", ", ".join(paths[:3]), problem, advice="name a field of the samples with --family-field"))


def _check_across(format_: SourceFormat, rows: Sequence[LogRow], reading: LogOptions) -> None:
    """Refuse what only several files together show."""
    # These checks need all files together: each file may be sound by itself.
    _check_scorers(rows)
    if format_ is SourceFormat.HARNESS:
        check_documents(rows)
    # A task field that the user named is a statement about which tasks are the same, and replaces the check.
    if format_ is SourceFormat.INSPECT and reading.task_field is None:
        check_targets(rows)
    if format_ is SourceFormat.INSPECT and reading.context_field is None:
        _check_contexts(rows)


def _check_scorers(rows: Sequence[LogRow]) -> None:
    """A log that has one scorer alone needs no choice; another log may have another one."""
    files: dict[str, str] = {}
    for row in rows:
        scorer = row.extras.get("scorer")
        if isinstance(scorer, str):
            files.setdefault(scorer, row.file or "")
    if len(files) > 1:
        there = "; ".join(f"{scorer} in {file}" for scorer, file in files.items())
        problem = f"expected one scorer, found {len(files)}: {there}"
        advice = "choose one with --scorer; of the harness also the filter, with --key"
        raise TableError(Fault("choice-needed", ", ".join(list(files.values())[:3]), problem, advice=advice))


def _check_contexts(rows: Sequence[LogRow]) -> None:
    """Two files of one arm that are called alike would pass for one context."""
    files: dict[tuple[str, str | None, str], set[str]] = {}
    for row in rows:
        files.setdefault((row.arm, row.spec, row.context_id), set()).add(row.file or "")
    faults = []
    for (arm, _, context), names in sorted(files.items(), key=lambda item: str(item[0])):
        # Merged, two contexts of one name would count as one, and the differences between them would look like noise.
        if len(names) > 1:
            problem = f"both are called {context!r}, which would be one context of arm {arm!r}"
            faults.append(Fault("context-ambiguous", ", ".join(sorted(names)), problem))
    if faults:
        raise TableError(faults)
