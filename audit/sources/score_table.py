"""Files become one checked score table; a person's labels and lists of task ids are read the same way."""

import csv
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.parquet

from audit.errors import TableError, find_range_fault
from audit.records.model_response import ImportedLog
from audit.sources.arrow import read_csv, read_parquet
from audit.sources.jsonl_table import read_jsonl
from audit.sources.score_columns import (
    IDS,
    LISTED,
    OPTIONAL,
    ColumnSelection,
    FaultList,
    RawColumn,
    RawTable,
    Read,
    check_keys,
    check_kinds,
    describe_marks,
    find_unmatched,
    is_mark,
    merge_columns,
    number_keys,
    read_stops,
)
from audit.statistics.responses import Floats, ScoreTable, TableFile, TextColumn
from registry.codec.file_io import LOG
from registry.errors import Fault
from registry.intake.text_similarity import MOST, find_alike, find_repeats
from registry.records.replay_run import NearDuplicates, Task

# Files become one checked score table; a person's labels and lists of task ids are read the same way.

# Files become one checked score table. All faults are reported at once, with file, row and column, and nothing is
# recorded if there is one.

_READERS: dict[str, Callable[..., RawTable]] = {
    ".csv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".parquet": read_parquet,
}
_PARQUET_MAGIC = b"PAR1"


def read_table(
    paths: Sequence[Path],
    *,
    low: float,
    high: float,
    score: str = "score",
    where: Mapping[str, Collection[str]] | None = None,
) -> ScoreTable:
    """Return the responses of all files as one table, in the order of files and rows; the estimate does not depend on it.

    Identifiers stay texts (`007` is not `7`). A row has either a score in [low, high] or an `excluded_reason`, never both
    and never neither. NaN with a reason counts as no score.

    Args:
        paths: CSV, JSONL or Parquet files, recognised by their names.
        low: lowest possible score.
        high: highest possible score, above *low*.
        score: name of the column of scores.
        where: by column of the files, also one that is none of ours: the values of the rows to keep. The others are not even checked.

    Raises:
        TableError: with every fault, 20 in full and the number of the others.
    """
    return read_columns(paths, ColumnSelection(score=score, where=where or {}), low=low, high=high)[0]


def read_columns(paths: Sequence[Path], selection: ColumnSelection, *, low: float, high: float) -> tuple[ScoreTable, dict[str, TextColumn]]:
    """Return the table as `read_table` does, and the columns that *selection* asks for next to ours, by name, row for row.

    Raises:
        TableError: as `read_table`.
    """
    if fault := find_range_fault(low, high):
        raise TableError(fault)

    # Further columns are read only where a message needs them: they would cost memory in every import.
    def read(names: tuple[str, ...]) -> Sequence[RawTable]:
        return read_raw(paths, replace(selection, also=names))

    tables = read_raw(paths, selection)
    score_table = build_table(tables, low=low, high=high, read=read)
    check_kinds(tables, selection, read=read)
    score_table = replace(score_table, doubts=tuple(_list_marks(tables, selection, read=read)))
    return score_table, {name: merge_columns([(table.extras[name], len(table.score)) for table in tables]) for name in selection.also}


def _list_marks(tables: Sequence[RawTable], selection: ColumnSelection, *, read: Read) -> Iterator[str]:
    """Yield where a column that is none of ours marks scored rows as failed."""
    names = tuple(dict.fromkeys(name for table in tables for name in table.unknown if is_mark(name) and name not in selection.where))
    for table in read(names) if names else ():
        scored = np.flatnonzero(~np.isnan(table.score))
        for name in (name for name in names if name in table.unknown):
            column = table.extras[name]
            texts = [None if code < 0 else column.labels[code] for code in column.codes[scored].tolist()]
            if warning := describe_marks(name, texts):
                yield f"{Path(table.name).name}: {warning}"


def read_models(paths: Sequence[Path], *, score: str | None = None) -> tuple[tuple[str, ...], int]:
    """Return the models that answered, as a column `model_returned` or `model` names them, and how many scored rows name none.

    The tables were read before, so nothing else can be wrong with them.

    Args:
        score: name of the column of scores, as it was read; None for `score`.
    """
    texts: set[str] = set()
    unnamed = 0
    for path in paths:
        (table,) = read_raw([path], ColumnSelection(score=score or "score"))
        name = next((name for name in ("model_returned", "model") if name in table.unknown), None)
        if name is None:
            unnamed += int((~np.isnan(table.score)).sum())
            continue
        (table,) = read_raw([path], ColumnSelection(score=score or "score", also=(name,)))
        column = table.extras[name]
        # Only scored rows need a model name; an excluded response does not enter the result.
        is_scored = ~np.isnan(table.score)
        names = [label.strip() for label in column.labels]
        texts.update(names)
        blank = [code for code, name in enumerate(names) if not name]
        unnamed += int((is_scored & np.isin(column.codes, [*blank, -1])).sum())
    return tuple(sorted(texts - {""})), unnamed


def build_table(tables: Sequence[RawTable], *, low: float, high: float, read: Read | None = None) -> ScoreTable:
    """Return what was read as one checked table.

    Args:
        tables: at least one; a log is a table too once it was read.
        low: lowest possible score.
        high: highest possible score, above *low*.
        read: reads the tables again with further columns, to find which of them distinguishes repeated rows; None if they cannot be read
        apart.

    Raises:
        TableError: with every fault, 20 in full and the number of the others.
    """
    faults = FaultList()
    for table in tables:
        _check_ids(table, faults)
        _check_scores(table, faults, low=low, high=high)
    columns = {name: merge_columns([(table.columns.get(name), len(table.score)) for table in tables]) for name in (*IDS, *OPTIONAL)}
    check_keys(tables, columns, faults, read=read or (lambda _: tables))
    truncated, refused = read_stops(tables, columns, faults)
    if faults.faults:
        raise TableError(faults.all(where=", ".join(table.name for table in tables[:3])))
    return ScoreTable(
        task=columns["task_id"],
        arm=columns["arm"],
        context=columns["context_id"],
        sample=columns["sample"],
        spec=columns["spec"],
        excluded=columns["excluded_reason"],
        cue_removed=_unless_empty(columns["cue_removed"]),
        judge=_unless_empty(columns["judge"]),
        judge_repeat=_unless_empty(columns["judge_repeat"]),
        weight=_unless_empty(columns["weight"]),
        family=_unless_empty(columns["family"]),
        template=_unless_empty(columns["template"]),
        truncated=truncated,
        refused=refused,
        score=np.concatenate([table.score for table in tables]),
        low=low,
        high=high,
        files=tuple(TableFile(name=table.name, sha256=table.sha256, rows=len(table.score)) for table in tables),
    )


def read_raw(paths: Sequence[Path], selection: ColumnSelection) -> list[RawTable]:
    """Read every file before the first complaint; the rows that *selection* leaves out are gone, the others unchecked.

    Raises:
        TableError: no file, one that cannot be read or lacks a column, or nothing is selected.
    """
    if not paths:
        raise TableError(Fault("bad-option", "tables", "expected at least one file, found none"))
    tables: list[RawTable] = []
    faults: list[Fault] = []
    for path in paths:
        try:
            tables.append(_read_one(path, selection))
        except TableError as error:
            faults.extend(error.faults)
    if faults:
        raise TableError(faults)
    names = ", ".join(table.name for table in tables[:3])
    seen = {name: frozenset[str]().union(*(table.seen[name] for table in tables)) for name in selection.where}
    # A value must occur in any of the files, not in each: one file may hold one arm.
    faults.extend(find_unmatched(selection, seen, where=names))
    if not faults and not any(len(table.score) for table in tables):
        problem = f"each of the values occurs, but none of the {sum(table.rows_read for table in tables)} rows has all of them"
        faults.append(Fault("nothing-selected", names, problem))
    if faults:
        raise TableError(faults)
    return tables


def _read_one(path: Path, selection: ColumnSelection) -> RawTable:
    name = str(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        problem = f"expected a name that ends in .csv, .jsonl or .parquet, found {path.suffix or 'no ending'}"
        raise TableError(Fault("unknown-format", name, problem, advice="rename or convert the file"))
    try:
        with path.open("rb") as file:
            start = file.read(4)
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TableError(Fault("file-not-readable", name, f"the file cannot be opened: {error.strerror or error}")) from error
    LOG.info("read %s (sha256 %s)", name, sha256)
    _check_start(start, name, is_parquet=reader is read_parquet)
    table = reader(path, selection, name=name, sha256=sha256)
    if not table.rows_read:
        raise TableError(Fault("table-empty", name, "the file has no rows"))
    return table


def _check_start(start: bytes, name: str, *, is_parquet: bool) -> None:
    """Refuse files whose first bytes say that they are not what their names claim."""
    problem = None
    if not start:
        problem = "the file is empty"
    elif (start == _PARQUET_MAGIC) != is_parquet:
        problem = "the name does not end in .parquet and the content is Parquet" if not is_parquet else "the content is not Parquet"
    # UTF-16 begins with a byte order mark, or has zero bytes in ASCII text.
    elif not is_parquet and (start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in start):
        problem = "the file is not UTF-8 text"
    elif not is_parquet and start.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        problem = "the file is compressed"
    if problem:
        code = "table-empty" if not start else "file-not-readable"
        raise TableError(Fault(code, name, problem, advice="check what the file is"))


def _check_ids(table: RawTable, faults: FaultList) -> None:
    for name, column in table.columns.items():
        if name in IDS:
            _list(table, np.flatnonzero(column.codes < 0), name, faults, code="id-empty", problem="the field is empty")
        padded = [code for code, label in enumerate(column.labels) if label != label.strip()]
        if padded:
            rows = np.flatnonzero(np.isin(column.codes, padded))
            text = "the text begins or ends with white space"
            _list(table, rows, name, faults, code="bad-name", problem=text)


def _check_scores(table: RawTable, faults: FaultList, *, low: float, high: float) -> None:
    reasons = table.columns.get("excluded_reason")
    has_reason = np.zeros(len(table.score), dtype=bool) if reasons is None else reasons.codes >= 0
    is_text = np.zeros(len(table.score), dtype=bool)
    is_text[list(table.texts)] = True
    is_text[table.texts_beyond] = True
    is_nan = np.isnan(table.score)
    for row, text in table.texts.items():
        problem = f"expected a number from {low:g} to {high:g}, found {text!r}"
        faults.add(Fault("score-not-number", table.locate(row, "score"), problem))
    faults.count(len(table.texts_beyond))
    _list(
        table,
        np.flatnonzero(table.empty & ~has_reason),
        "score",
        faults,
        code="score-missing",
        problem="there is no score and no excluded_reason",
    )
    _list(
        table,
        np.flatnonzero(is_nan & ~table.empty & ~is_text & ~has_reason),
        "score",
        faults,
        code="score-nan",
        problem="the score is NaN and there is no excluded_reason",
    )
    # NaN compares false on both sides and is reported above.
    outside = np.flatnonzero((table.score < low) | (table.score > high))
    for row in outside[:LISTED].tolist():
        problem = f"expected a number from {low:g} to {high:g}, found {table.score[row]:g}"
        faults.add(Fault("score-out-of-range", table.locate(row, "score"), problem))
    faults.count(max(0, len(outside) - LISTED))
    _list(
        table,
        np.flatnonzero(~is_nan & has_reason),
        "excluded_reason",
        faults,
        code="score-and-reason",
        problem="the row has a score and an excluded_reason",
    )


def _list(table: RawTable, rows: npt.NDArray[np.intp], column: str, faults: FaultList, *, code: str, problem: str) -> None:
    for row in rows[:LISTED].tolist():
        where = table.locate(row, column)
        faults.add(Fault(code, where, problem))
    faults.count(max(0, len(rows) - LISTED))


def _unless_empty(column: TextColumn) -> TextColumn | None:
    return column if column.labels else None


# Labels by a person, and other columns of numbers, joined to the rows of a score table.

_TRUTH = {"true": 1.0, "false": 0.0}


def read_labels(paths: Sequence[Path], table: ScoreTable, *, column: str = "label", range_: tuple[float, float] | None = None) -> Floats:
    """Return, for each row of *table*, the label of its response, NaN where it has none.

    A file of labels has the columns task_id, arm (or side), context_id, sample and *column*, and spec where the table has several
    specifications. Labels lie in *range_*, by default that of the scores. All scorings of a response, by any judge, share its label.
    Rows with a cue taken out of the context have none.

    Raises:
        TableError: a file cannot be read, a label is not a number of the range, occurs twice, matches no row, or could mean several.
    """
    low, high = range_ or (table.low, table.high)
    labels = read_table(paths, low=low, high=high, score=column)
    pairs = [(getattr(table, name), getattr(labels, name)) for name in ("task", "arm", "context", "sample", "spec")]
    merged = [merge_columns([(_raw(item), table.rows), (_raw(other), labels.rows)]) for item, other in pairs]
    if not labels.spec.labels:
        _check_specs(table, labels, merged)
        merged = merged[:-1]
    key = number_keys(merged)
    own, label_keys = key[: table.rows], key[table.rows :]
    # The response under an edit is another one than the labelled response with the same identifiers.
    usable = np.ones(table.rows, dtype=bool) if table.cue_removed is None else table.cue_removed.codes < 0
    unmatched = np.flatnonzero(~np.isin(label_keys, own[usable]))
    # A label without a response points to a wrong file or a typing error. Dropping it would shrink the labelled set in
    # silence.
    if len(unmatched):
        raise TableError(_describe_unmatched(labels, unmatched))
    # A sorted search in place of a dictionary: tables have up to millions of rows.
    order = np.argsort(label_keys)
    place = np.minimum(np.searchsorted(label_keys, own, sorter=order), len(label_keys) - 1)
    matches = order[place]
    return np.where((label_keys[matches] == own) & usable, labels.score[matches], np.nan)


def _raw(column: TextColumn) -> RawColumn:
    return RawColumn(codes=column.codes, labels=column.labels)


def _check_specs(table: ScoreTable, labels: ScoreTable, merged: Sequence[TextColumn]) -> None:
    """Refuse labels without a specification where one response of each of several could be meant."""
    key = number_keys(merged[:-1])
    pairs = np.unique(np.stack([key[: table.rows], table.spec.codes], axis=1), axis=0)
    several = pairs[:-1, 0][pairs[1:, 0] == pairs[:-1, 0]]
    if np.isin(key[table.rows :], several).any():
        problem = "a label could be that of one response of each of several specifications of P_deploy"
        raise TableError(Fault("label-ambiguous", _name(labels), problem))


def _describe_unmatched(labels: ScoreTable, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> list[Fault]:
    columns = (("task_id", labels.task), ("arm", labels.arm), ("context_id", labels.context), ("sample", labels.sample))
    faults = []
    for row in rows[:LISTED].tolist():
        key = ", ".join(f"{name} {column.labels[column.codes[row]]!r}" for name, column in columns)
        faults.append(Fault("label-unmatched", _name(labels), f"no row of the scores is of {key}"))
    if len(rows) > LISTED:
        faults.append(Fault("more-faults", _name(labels), f"and {len(rows) - LISTED} more faults like these"))
    return faults


def _name(labels: ScoreTable) -> str:
    return ", ".join(file.name for file in labels.files[:3])


def parse_numbers(column: TextColumn, *, name: str, low: float, high: float) -> Floats:
    """Return a column of texts as numbers in [low, high], NaN where the row has none; `true` is 1 and `false` 0.

    Raises:
        TableError: a text is not a number, or one outside the range.
    """
    numbers = np.array([*(_parse(label) for label in column.labels), np.nan])
    faults = []
    for label, number in zip(column.labels, numbers.tolist(), strict=False):
        if np.isnan(number) or not low <= number <= high:
            code = "score-not-number" if np.isnan(number) else "score-out-of-range"
            problem = f"expected a number from {low:g} to {high:g}, found {label[:40]!r}"
            faults.append(Fault(code, f"column {name}", problem, advice="correct it, or leave the field empty"))
    if faults:
        more = [Fault("more-faults", f"column {name}", f"and {len(faults) - LISTED} more values like these")]
        raise TableError([*faults[:LISTED], *(more if len(faults) > LISTED else [])])
    # The last entry answers code −1, which means an empty field.
    return numbers[column.codes]


def parse_marks(column: TextColumn, *, name: str) -> Floats:
    """Return a column of marks, 0 or 1 (or `false` and `true`), NaN where the row has none.

    Raises:
        TableError: a text is something else.
    """
    numbers = [_parse(label) for label in column.labels]
    strange = [label[:40] for label, number in zip(column.labels, numbers, strict=True) if number not in (0.0, 1.0)]
    if strange:
        problem = f"expected 0 or 1, found {', '.join(map(repr, strange[:5]))}{' …' if len(strange) > 5 else ''}"
        raise TableError(Fault("bad-flag", f"column {name}", problem, advice="mark with 1 what went wrong, with 0 what did not"))
    return np.array([*numbers, np.nan])[column.codes]


def _parse(text: str) -> float:
    if text.strip().lower() in _TRUTH:
        return _TRUTH[text.strip().lower()]
    try:
        return float(text) if "_" not in text else float("nan")
    except ValueError:
        return float("nan")


# Task identifiers only, from a list or a table that need not have scores yet. A lock fixes them before any response
# exists.


def read_task_families(path: Path) -> dict[str, str | None]:
    """Return the family of each task of a file, or None, by task id in sorted order.

    A task has the first family that a row of it names in the column `family`, which may be absent. CSV, JSONL and Parquet are recognised by
    their names and need the column `task_id`; any other file has one id a line.

    Raises:
        TableError: the file cannot be read as what its name says, has no such column, or no ids.
    """
    read = _TASK_READERS.get(path.suffix.lower(), _read_lines)
    try:
        families: dict[str, str | None] = {}
        for task_id, family in read(path):
            if task_id:
                families[task_id] = families.get(task_id) or family or None
    except (KeyError, TypeError) as error:
        fault = Fault("column-missing", f"{path}, column task_id", "the column is missing", advice="add the column task_id")
        raise TableError(fault) from error
    except (OSError, UnicodeDecodeError, csv.Error, orjson.JSONDecodeError, pa.ArrowInvalid) as error:
        first = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        fault = Fault("file-not-readable", str(path), f"the file cannot be read: {first}")
        raise TableError(fault) from error
    if not families:
        raise TableError(Fault("table-empty", str(path), "the file has no task ids"))
    return {task_id: families[task_id] for task_id in sorted(families)}


Named = tuple[str, str | None]
"""The id of a task, and its family."""


def _read_lines(path: Path) -> Iterable[Named]:
    return [(line.strip(), None) for line in path.read_text(encoding="utf-8-sig").splitlines()]


def _read_csv(path: Path) -> Iterable[Named]:
    with path.open(encoding="utf-8-sig", newline="") as text:
        return [(row["task_id"] or "", row.get("family")) for row in csv.DictReader(text, strict=True)]


def _read_jsonl(path: Path) -> Iterable[Named]:
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    return [(str(row["task_id"]), _as_text(row.get("family"))) for row in rows if row["task_id"] is not None]


def _read_parquet(path: Path) -> Iterable[Named]:
    names = [name for name in ("task_id", "family") if name == "task_id" or name in pyarrow.parquet.read_schema(path).names]
    rows = pyarrow.parquet.read_table(path, columns=names).to_pylist()
    return [(str(row["task_id"]), _as_text(row.get("family"))) for row in rows if row["task_id"] is not None]


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


_TASK_READERS: dict[str, Callable[[Path], Iterable[Named]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}


# Tasks that look alike and are in no common family: their scores are hardly independent.

_SHOWN = 20


def find_near_duplicates(texts: Mapping[str, str], families: Mapping[str, str]) -> NearDuplicates | None:
    """Return the near-duplicates that are in no common family; None where no text is known.

    Args:
        texts: what each task asks, by its id.
        families: the family of each task that has one, by its id.
    """
    if not texts:
        return None
    ids = sorted(texts)
    alike = [(ids[first], ids[second]) for first, second in find_alike([texts[task] for task in ids])]
    # Statistics treat tasks as independent. Near-duplicates in no common family make every interval too narrow; those
    # with a common family are already treated as one cluster.
    apart = [(first, second) for first, second in alike if families.get(first) is None or families.get(first) != families.get(second)]
    equal = [(ids[first], ids[second]) for first, second in find_repeats([texts[task] for task in ids])]
    repeats = [(first, second) for first, second in equal if families.get(first) is None or families.get(first) != families.get(second)]
    return NearDuplicates(
        compared=min(len(ids), MOST),
        not_compared=max(0, len(ids) - MOST),
        found=len(apart),
        pairs=tuple(sorted(apart)[:_SHOWN]),
        repeated=len(repeats),
        repeats=tuple(repeats[:_SHOWN]),
    )


def find_alike_tasks(tasks: Iterable[Task]) -> NearDuplicates | None:
    """Return the near-duplicates among the tasks of a replay; the text of a task is its prompt with its options."""
    listed = list(tasks)
    return find_near_duplicates(
        {task.id: "\n".join((task.question, *task.options)) for task in listed}, {task.id: task.family for task in listed if task.family}
    )


def warn_of_near_duplicates(near_duplicates: NearDuplicates | None) -> str | None:
    """Return the warning that names the first pair and the remedy; None where there is nothing to warn of."""
    if near_duplicates is None or not near_duplicates.pairs:
        return None
    first, second = near_duplicates.pairs[0]
    others = (
        f"; {near_duplicates.found - 1} more pairs are"
        if near_duplicates.found > 2
        else "; 1 more pair is"
        if near_duplicates.found == 2
        else ""
    )
    return (
        f"tasks {first} and {second} are near-duplicates and in no common family{others}. Intervals take such tasks to be independent and "
        "are too narrow, so a verdict is provisional: give both the same family (key or column `family`)"
    )


def note_near_duplicates(imported: ImportedLog, near_duplicates: NearDuplicates | None) -> ImportedLog:
    """Return *imported* with what was found, as a warning on its first file and in its provenance."""
    warning = warn_of_near_duplicates(near_duplicates)
    files = imported.files
    if warning is not None and files:
        files = (replace(files[0], warnings=(*files[0].warnings, warning)), *files[1:])
    return replace(imported, files=files, provenance=replace(imported.provenance, near_duplicates=near_duplicates))
