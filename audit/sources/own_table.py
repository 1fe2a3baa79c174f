"""A person's own table becomes rows of a score table: which column has which role, and what its cells mean."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from audit.errors import TableError
from audit.records.model_response import ImportedFile, ImportedLog
from audit.sources.arrow import read_stream_columns
from audit.sources.log_import import build_row_table, check_two_arms, name_arms
from audit.sources.log_rows import FileCounts, LogOptions, LogRow, list_doubts, verify_accounts
from audit.sources.score_columns import (
    KINDS,
    ColumnSelection,
    build_several_kinds,
    describe_marks,
    find_unknown,
    find_unmatched,
    is_mark,
    suggest,
)
from audit.sources.sheet_files import Cell, Sheet, as_cell, as_text, build_sheet, read_sheet
from audit.statistics.responses import ScoreTable
from registry.errors import Fault
from registry.present.answers import show
from registry.records.replay_run import Provenance

# A table of a lab has its own column names and words. The person says which column is what (`--map`), and everything
# that follows is as for a log: rows with their place, an account of every row, and the checks of `build_table`. Nothing
# is guessed here.

ROLES = {
    "task": "task_id",
    "arm": "arm",
    "score": "score",
    "context": "context_id",
    "sample": "sample",
    "spec": "spec",
    "family": "family",
    "template": "template",
    "weight": "weight",
    "model": "model_returned",
    "started_at": "started_at",
    "reason": "excluded_reason",
    "judge": "judge",
    "judge_repeat": "judge_repeat",
    "cue": "cue_removed",
    "truncated": "truncated",
    "settled": "settled",
    "refused": "refused",
    "stop_reason": "stop_reason",
}
"""By role, as `--map` calls it, Caveat's own name of the column."""

_SYNONYMS = {"arm": "side", "model": "model"}
"""By role, a second name of the column."""

WIDE = "score."
"""How the role of a column begins that has the scores of one arm, as in `score.test`."""
REQUIRED = ("task", "arm", "score")
_KEYS = ("task", "arm", "context", "spec", "cue", "judge", "judge_repeat")
"""What tells responses apart, but for their sample."""
_NOT_OF_ROW = ("score", "model", "started_at")
_MOST_VALUES = 20
"""A column with more values numbers responses rather than kinds of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReading:
    """What the user says of an own table."""

    mapping: Mapping[str, str]
    """By role, the column."""
    arm: str | None = None
    """The arm of all rows; None where a column says it."""
    arms: Mapping[str, str]
    """By value of the column of arms, the arm it is; for the account only."""
    values: Mapping[str, float]
    """By text of the column of scores, its number; empty: the usual words."""
    where: Mapping[str, Sequence[str]]
    """By column, the values whose rows are kept."""
    file_context: str | None = None
    """The context of all rows without a column of contexts; None: each arm is one context."""


def find_own_names(columns: Sequence[str]) -> dict[str, str]:
    """Return by role the columns that have Caveat's own names."""
    named = {role: name for role, name in ROLES.items() if name in columns}
    return {role: name for role, name in _SYNONYMS.items() if name in columns} | named


def read_own_table(paths: Sequence[Path], reading: LogOptions) -> tuple[list[LogRow], ImportedLog]:
    """Return the rows of one table with the columns that *reading* maps; as every reader of logs.

    Raises:
        TableError: with every fault; many faults of one cause are one, with a count and the first places.
    """
    (path,) = paths
    sheet = read_sheet(path, sheet=reading.sheet)
    arm = reading.find_arm(path)
    sheet, mapping = melt_sheet(sheet, complete_mapping(sheet, reading.mapping, has_arm=arm is not None))
    return build_rows(
        sheet,
        TableReading(
            mapping=mapping,
            arm=arm,
            arms=reading.arm_names,
            values=reading.values,
            where=reading.where,
            file_context=path.stem if arm is not None else None,
        ),
    )


def complete_mapping(sheet: Sheet, mapping: Mapping[str, str] | None, *, has_arm: bool) -> dict[str, str]:
    """Return by role the column: as *mapping* says, else by Caveat's own names; checked.

    Args:
        sheet: the table.
        mapping: what the user says; None for nothing.
        has_arm: whether the arm is said for the whole table.

    Raises:
        TableError: a role or column that does not exist, one that occurs twice, a role that has no column.
    """
    own = find_own_names(sheet.columns)
    wide = {role for role in mapping or () if role.startswith(WIDE)}
    # A wide table may also have a column called `score`, such as that of the difference.
    roles = {**{role: name for role, name in own.items() if not wide or role not in ("arm", "score")}, **(mapping or {})}
    faults = [
        Fault("unknown-name", f"{sheet.name}, role {role}", f"there is no role {role!r}; the roles are {', '.join(ROLES)}", advice=near)
        for role in roles
        if role not in ROLES and role not in wide
        for near in [suggest(role, ROLES) or "use one of these roles"]
    ]
    faults += _check_wide(sheet, roles, has_arm=has_arm) if wide else []
    selection = ColumnSelection(also=tuple(roles.values()))
    faults += find_unknown(selection, sheet.columns, where=sheet.name)
    faults += find_twice(sheet, roles.values())
    faults += find_uncomputed(sheet, roles.values())
    if has_arm and "arm" in roles:
        problem = f"the arm is given before the path, and the column {roles['arm']} says the arm of each row"
        faults.append(Fault("arm-twice", sheet.name, problem, advice="leave the arm before the path out"))
    known = {*roles, *(("arm", "score") if wide else ("arm",) if has_arm else ())}
    missing = [role for role in REQUIRED if role not in known]
    if missing and not faults:
        from audit.sources.column_guess import advise_mapping  # noqa: PLC0415 - it imports this module

        there = ", ".join(sheet.columns[:12]) + (" …" if len(sheet.columns) > 12 else "")
        problem = f"no column is named as {' or '.join(missing)}; the columns are: {there}"
        faults.append(Fault("mapping-needed", sheet.name, problem, advice=advise_mapping(sheet, roles, has_arm=has_arm)))
    if faults:
        raise TableError(faults)
    return {role: roles[role] for role in (*ROLES, *sorted(wide, reverse=True)) if role in roles}


def _check_wide(sheet: Sheet, roles: Mapping[str, str], *, has_arm: bool) -> list[Fault]:
    """Return what is wrong with columns of scores for each arm: something else says arm or score, or they are not two columns."""
    wide = {role: column for role, column in roles.items() if role.startswith(WIDE)}
    said = ", ".join(f"{role}={column}" for role, column in wide.items())
    faults = []
    if has_arm or "arm" in roles or "score" in roles:
        other = roles.get("arm") or roles.get("score") or "the arm before the path"
        problem = f"{said} give each arm a column of scores, and {other} says arm or score once more"
        faults.append(Fault("arm-twice", sheet.name, problem, advice="leave one of the two out"))
    if len(wide) < 2 or len(set(wide.values())) < len(wide):
        problem = f"a table with a column of scores for each arm needs a column of its own for two arms or more, found {said}"
        faults.append(Fault("bad-option", sheet.name, problem, advice="write --map task=ID,score.test=COLUMN,score.deploy=COLUMN"))
    return faults


def melt_sheet(sheet: Sheet, roles: Mapping[str, str]) -> tuple[Sheet, dict[str, str]]:
    """Return *sheet* with a row for each arm, and the roles of its columns, where *roles* give each arm a column of scores.

    Any other sheet is returned as it is. A row keeps its number in the file; of a spreadsheet, cells have no names any more.
    """
    wide = {role.removeprefix(WIDE): column for role, column in roles.items() if role.startswith(WIDE)}
    if not wide:
        return sheet, dict(roles)
    kept = [place for place, name in enumerate(sheet.columns) if name not in wide.values()]
    score, arm = " | ".join(wide.values()), "name of the column"
    long = replace(
        sheet,
        columns=(*(sheet.columns[place] for place in kept), arm, score),
        rows=[(*(row[place] for place in kept), name, row[sheet.find(column)]) for row in sheet.rows for name, column in wide.items()],
        numbers=[number for number in sheet.numbers for _ in wide],
        first_column=None,
        uncomputed={},
    )
    return long, {**{role: column for role, column in roles.items() if not role.startswith(WIDE)}, "arm": arm, "score": score}


def find_twice(sheet: Sheet, columns: Iterable[str]) -> list[Fault]:
    """Return a fault for each of *columns* with a name that occurs more than once."""
    counts = Counter(sheet.columns)
    return [
        Fault("duplicate-column", f"{sheet.name}, column {name}", f"the column occurs {counts[name]} times", advice="rename one of them")
        for name in dict.fromkeys(columns)
        if name and counts[name] > 1
    ]


def find_uncomputed(sheet: Sheet, columns: Iterable[str]) -> list[Fault]:
    """Return a fault for each of *columns* with formulas that were never computed: no spreadsheet program opened the file."""
    return [
        Fault(
            "formula-without-value",
            sheet.locate(rows, column),
            f"{len(rows):,} cells of the column {column} hold a formula without a value",
        )
        for column in dict.fromkeys(columns)
        if (rows := sheet.uncomputed.get(column))
    ]


def build_rows(sheet: Sheet, reading: TableReading) -> tuple[list[LogRow], ImportedLog]:
    """Return the rows of *sheet* and their account.

    Raises:
        TableError: as `read_own_table`.
    """
    chosen = _choose_rows(sheet, reading.where)
    texts = {
        role: [as_text(sheet.rows[row][sheet.find(column)]) for row in chosen]
        for role, column in reading.mapping.items()
        if role != "score"
    }
    faults = [*_check_texts(sheet, chosen, texts, reading), *_check_kinds(sheet, chosen, reading)]
    scores, used = _read_scores(sheet, chosen, texts.get("reason"), reading, faults)
    started_at = _find_start(sheet, chosen, texts.get("started_at"), reading, faults)
    provenance = _describe_models(sheet, texts.get("model"), scores, reading, faults)
    others = tuple(sorted(_list_other_scores(sheet, chosen, scores, reading)))
    provenance = replace(provenance, scorer=reading.mapping["score"], other_scorers=others)
    if faults:
        raise TableError(faults)
    samples, warnings, most = _number_samples(sheet, chosen, texts, reading)
    warnings += [*_warn_of_choice(sheet, reading, kept=len(chosen)), *_warn_of_marks(sheet, chosen, scores, reading)]
    notes = [*_describe_reading(sheet, reading, used)]
    if most:
        numbered = f"responses of one task in one context were numbered, up to {most}" if most > 1 else "each response is sample 1"
        notes.append(f"no column of samples: {numbered}")
    counts = FileCounts()
    rows = []
    for place, row in enumerate(chosen):
        score, reason = scores[place]
        counts.add(sheet.name_place(row), reason)
        own = {ROLES[role]: column[place] for role, column in texts.items() if role not in _NOT_OF_ROW}
        arm = reading.arm or own["arm"] or ""
        own |= {"arm": arm, "sample": samples[place], "excluded_reason": reason}
        own["context_id"] = own.get("context_id") or reading.file_context or arm
        rows.append(LogRow(score=score, file=sheet.name, place=sheet.name_place(row), **own))  # type: ignore[arg-type]  # the keys are fields
    file = ImportedFile(
        name=sheet.name,
        sha256=sheet.sha256,
        format=f"table: {sheet.kind}",
        arm=reading.arm,
        declared=None,
        found=counts.found,
        scored=counts.scored,
        excluded=counts.list_excluded(),
        warnings=tuple(warnings),
        notes=tuple(notes),
    )
    imported = ImportedLog(files=(file,), provenance=provenance, started_at=started_at)
    verify_accounts(imported, rows)
    return rows, imported


def _warn_of_choice(sheet: Sheet, reading: TableReading, *, kept: int) -> list[str]:
    """Say that rows were left out: the scores were there when they were chosen. A claim has one model and one property by itself."""
    by_itself = (*KINDS, reading.mapping.get("model"))
    chosen = [name for name in reading.where if name not in by_itself]
    if not chosen or kept == len(sheet.rows):
        return []
    return [f"--where {', '.join(chosen)} kept {kept:,} of {len(sheet.rows):,} rows"]


def _choose_rows(sheet: Sheet, where: Mapping[str, Sequence[str]]) -> list[int]:
    selection = ColumnSelection(where=where)
    faults = list(find_unknown(selection, sheet.columns, where=sheet.name))
    if not faults:
        columns = {name: [as_text(row[sheet.find(name)]) or "" for row in sheet.rows] for name in where}
        faults += find_unmatched(selection, {name: set(column) for name, column in columns.items()}, where=sheet.name)
    if faults:
        raise TableError(faults)
    chosen = [row for row in range(len(sheet.rows)) if all(columns[name][row] in where[name] for name in where)]
    if not chosen:
        raise TableError(Fault("nothing-selected", sheet.name, f"none of the {len(sheet.rows):,} rows has all of the values of --where"))
    return chosen


def _check_texts(sheet: Sheet, chosen: Sequence[int], texts: Mapping[str, Sequence[str | None]], reading: TableReading) -> list[Fault]:
    """Return a fault for each column of identifiers with empty cells; every response needs them."""
    faults = []
    for role in ("task", "arm", "context", "sample"):
        empty = [row for row, text in zip(chosen, texts.get(role, ()), strict=False) if text is None]
        if empty:
            problem = f"{len(empty):,} of {len(chosen):,} rows have no {role}"
            faults.append(Fault("id-empty", sheet.locate(empty, reading.mapping[role]), problem))
    return faults


def _check_kinds(sheet: Sheet, chosen: Sequence[int], reading: TableReading) -> list[Fault]:
    """Return a fault for each unread column that shows rows of several properties or models, unless the user chose rows by it."""
    names = [name for name in KINDS if name in sheet.columns and name not in {*reading.mapping.values(), *reading.where}]
    values = {name: {as_text(sheet.rows[row][sheet.find(name)]) or "" for row in chosen} for name in names}
    return [fault for name in names if (fault := build_several_kinds(sheet.name, name, sorted(values[name] - {""})))]


# Scores. A word without a number is refused and never excluded, because leaving some answers out would choose among them.

_WORDS = {
    **dict.fromkeys(("true", "yes", "y", "pass", "passed", "correct"), 1.0),
    **dict.fromkeys(("false", "no", "n", "fail", "failed", "incorrect"), 0.0),
}
_NO_SCORE = frozenset(
    (
        "n/a",
        "na",
        "nan",
        "none",
        "null",
        "-",
        "–",
        "—",
        "error",
        "missing",
        "#n/a",
        "#div/0!",
        "#value!",
        "#ref!",
        "#name?",
        "#num!",
        "#null!",
    )
)
"""What people and spreadsheets write where there is no score."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_EMPTY = "no score in the table"
_KINDS = ("words", "numbers", "numbers with a point", "numbers with a comma", "numbers in per cent")
_ALIKE = ({"numbers", "numbers with a point"}, {"numbers", "numbers with a comma"})
_Score = tuple[float | None, str | None]
"""A score, or why there is none."""


def _read_scores(
    sheet: Sheet, chosen: Sequence[int], reasons: Sequence[str | None] | None, reading: TableReading, faults: list[Fault]
) -> tuple[list[_Score], dict[str, float]]:
    """Return the score of each chosen row, and the words that were read with their numbers."""
    column = reading.mapping["score"]
    cells = [sheet.rows[row][sheet.find(column)] for row in chosen]
    meanings = {(type(cell), cell): read_cell(cell, reading.values, has_comma=sheet.has_decimal_comma) for cell in cells}
    rows_by_kind: dict[str, list[int]] = {}
    scores: list[_Score] = []
    for place, cell in enumerate(cells):
        kind, score = meanings[type(cell), cell]
        rows_by_kind.setdefault(kind, []).append(place)
        reason = None if score is not None else _EMPTY if cell is None else f"{_EMPTY} ({show(cell)})"
        stated = reasons[place] if reasons is not None else None
        if stated is not None and stated.casefold() not in _NO_SCORE:
            # A score with a reason contradicts itself; `build_table` would list every row.
            rows_by_kind.setdefault("both" if score is not None else "reason", []).append(place)
            reason = stated
        scores.append((score, reason))
    faults += _find_score_faults(sheet, column, [(place, chosen[place], cells[place]) for place in range(len(chosen))], rows_by_kind)
    words = {str(as_text(cell)): number for (_, cell), (kind, number) in meanings.items() if kind == "words" and number is not None}
    return scores, words


def read_cell(cell: Cell, values: Mapping[str, float] = MappingProxyType({}), *, has_comma: bool = False) -> tuple[str, float | None]:
    """Return what kind of score a cell holds, and the score; numbers of *values* replace the usual words as a whole."""
    text = str(as_text(cell)).strip()
    plain = text.casefold()
    meaning = values.get(text, {key.casefold(): number for key, number in values.items()}.get(plain)) if values else None
    if meaning is not None:
        return "said", meaning
    if isinstance(cell, bool) or plain in _WORDS:
        # Half of a pair of words, turned round (`fail=1`), must not meet the other half's usual number.
        return ("unknown", None) if values else ("words", _WORDS[plain])
    if cell is None or plain in _NO_SCORE:
        return "missing", None
    return ("numbers", float(cell)) if isinstance(cell, int | float) else _parse_number(text, has_comma=has_comma)


def _parse_number(text: str, *, has_comma: bool) -> tuple[str, float | None]:
    share = text.endswith("%")
    digits = text.removesuffix("%").strip()
    if has_comma and _COMMA.fullmatch(digits):
        kind, digits = "numbers with a comma", digits.replace(",", ".")
    else:
        kind = "numbers with a point" if has_comma and "." in digits else "numbers"
    if not _NUMBER.fullmatch(digits):
        return "unknown", None
    return ("numbers in per cent", float(digits) / 100) if share else (kind, float(digits))


def _find_score_faults(
    sheet: Sheet, column: str, cells: Sequence[tuple[int, int, Cell]], by_kind: Mapping[str, Sequence[int]]
) -> list[Fault]:
    """Return one fault for each cause: words without a number, kinds that are mixed, a score with a reason."""
    faults = []
    if unknown := by_kind.get("unknown"):
        words = Counter(str(as_text(cells[place][2]))[:40] for place in unknown)
        listed = ", ".join(f"{word!r} ({count:,})" for word, count in words.most_common(5)) + (" …" if len(words) > 5 else "")
        problem = f"{len(unknown):,} of {len(cells):,} scores are words without a number: {listed}"
        advice = f"say what each is, such as --score-values {next(iter(words))}=1; an empty cell excludes a response"
        faults.append(Fault("score-not-number", sheet.locate([cells[place][1] for place in unknown], column), problem, advice=advice))
    kinds = {kind: by_kind[kind] for kind in _KINDS if kind in by_kind}
    # Whole numbers are written alike with a point and with a comma.
    if len(kinds) > 1 and set(kinds) not in _ALIKE:
        # The rarest kind is probably the slip, so its places are named.
        rarest = min(kinds, key=lambda kind: len(kinds[kind]))
        parts = " and ".join(f"{kind} ({len(rows):,}, such as {as_text(cells[rows[0]][2])})" for kind, rows in kinds.items())
        problem = f"the scores are of several kinds: {parts}"
        advice = "write all scores in one way; for words give their numbers, such as --score-values TRUE=1,FALSE=0"
        faults.append(Fault("scores-mixed", sheet.locate([cells[place][1] for place in kinds[rarest]], column), problem, advice=advice))
    if both := by_kind.get("both"):
        problem = f"{len(both):,} rows have a score and a reason why there is none"
        faults.append(Fault("score-and-reason", sheet.locate([cells[place][1] for place in both], column), problem))
    if not kinds and not by_kind.get("said") and not faults:
        faults.append(Fault("no-scores", f"{sheet.name}, column {column}", f"none of the {len(cells):,} rows has a score"))
    return faults


_TWO_VALUES = (0.0, 1.0)


def _list_other_scores(sheet: Sheet, chosen: Sequence[int], scores: Sequence[_Score], reading: TableReading) -> Iterator[str]:
    """Yield the columns that are not read and could have been the scores: all their cells are scores, as low and as high as those read."""
    known = [*_TWO_VALUES, *(score for score, _ in scores if score is not None)]
    for column in sheet.columns:
        if not column or column in {*reading.mapping.values(), *reading.where}:
            continue
        cells = {sheet.rows[row][sheet.find(column)] for row in chosen}
        read = [read_cell(cell, has_comma=sheet.has_decimal_comma) for cell in cells]
        values = [value for _, value in read if value is not None]
        # A column with one value, such as the number of the run, is no score, unless its name says so.
        is_score = len(values) > 1 or (bool(values) and _SCORED.search(column) is not None)
        if is_score and all(kind != "unknown" for kind, _ in read) and all(min(known) <= value <= max(known) for value in values):
            yield column


_SCORED = re.compile(r"score|grade|rating|correct|passe?d?\b|success|accura|label|verdict", re.IGNORECASE)


def _warn_of_marks(sheet: Sheet, chosen: Sequence[int], scores: Sequence[_Score], reading: TableReading) -> Iterator[str]:
    """Say where a column that is not read marks scored rows as failed."""
    scored = [row for row, (score, _) in zip(chosen, scores, strict=True) if score is not None]
    for column in sheet.columns:
        if column not in {*reading.mapping.values(), *reading.where} and is_mark(column):
            warning = describe_marks(column, [as_text(sheet.rows[row][sheet.find(column)]) for row in scored])
            yield from [warning] if warning else []


# Samples, models, dates, and what the account says of the reading.


def _number_samples(
    sheet: Sheet, chosen: Sequence[int], texts: Mapping[str, Sequence[str | None]], reading: TableReading
) -> tuple[list[str], list[str], int]:
    """Return the sample of each row, warnings, and the largest number that was made (0: the table has samples).

    Raises:
        TableError: the table has samples, and rows of one response.
    """
    columns = [texts[role] for role in (*_KEYS, "sample") if role in texts]
    keys = list(zip(*columns, strict=True)) if columns else []
    seen: Counter[tuple[str | None, ...]] = Counter()
    numbers = []
    for key in keys:
        seen[key] += 1
        numbers.append(seen[key])
    repeated = [place for place, number in enumerate(numbers) if number > 1]
    apart = _find_apart(sheet, chosen, keys, reading) if repeated else None
    if "sample" not in texts:
        warnings = [] if apart is None else [f"rows of one task and context differ in {apart}; they are counted as repeats of one response"]
        return [str(number) for number in numbers], warnings, max(numbers)
    if repeated:
        problem = f"{len(repeated):,} rows have the task, arm, context and sample of an earlier row"
        advice = f"rows differ in {apart}: keep one value with --where" if apart else "give each response its own sample, or remove one"
        raise TableError(Fault("duplicate-row", sheet.locate([chosen[place] for place in repeated]), problem, advice=advice))
    return [str(text) for text in texts["sample"]], [], 0


def _find_apart(sheet: Sheet, chosen: Sequence[int], keys: Sequence[tuple[str | None, ...]], reading: TableReading) -> str | None:
    """Return the first unread column with few values that tells all repeated rows apart, with its values; None where none does."""
    for column in sheet.columns:
        if not column or column in reading.mapping.values():
            continue
        values = [as_text(sheet.rows[row][sheet.find(column)]) for row in chosen]
        distinct = sorted({value or "" for value in values})
        if 1 < len(distinct) <= _MOST_VALUES and len(set(zip(keys, values, strict=True))) == len(keys):
            return f"{column} ({', '.join(distinct[:5])}{' …' if len(distinct) > 5 else ''})"
    return None


def _describe_models(
    sheet: Sheet, models: Sequence[str | None] | None, scores: Sequence[_Score], reading: TableReading, faults: list[Fault]
) -> Provenance:
    if models is None:
        return Provenance(unnamed_responses=sum(score is not None for score, _ in scores))
    names = sorted({name for name in models if name is not None})
    if len(names) > 1:
        problem = f"expected one model, found {len(names)}: {', '.join(names[:5])}{' …' if len(names) > 5 else ''}"
        advice = f"choose one with --where '{reading.mapping['model']}={names[0]}'"
        faults.append(Fault("choice-needed", f"{sheet.name}, column {reading.mapping['model']}", problem, advice=advice))
    unnamed = sum(score is not None and name is None for name, (score, _) in zip(models, scores, strict=True))
    return Provenance(model_returned="; ".join(names) or None, models_returned=tuple(names), unnamed_responses=unnamed)


def _find_start(
    sheet: Sheet, chosen: Sequence[int], texts: Sequence[str | None] | None, reading: TableReading, faults: list[Fault]
) -> str | None:
    """Return the earliest time; None where a row has none, because its response may have been the first."""
    if texts is None:
        return None
    moments: dict[str, datetime] = {}
    for text in {text for text in texts if text is not None}:
        try:
            moment = datetime.fromisoformat(text)
            moments[text] = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    strange = [row for row, text in zip(chosen, texts, strict=True) if text is not None and text not in moments]
    if strange:
        problem = f"{len(strange):,} of {len(chosen):,} rows have no ISO 8601 time there"
        faults.append(Fault("bad-date", sheet.locate(strange, reading.mapping["started_at"]), problem))
    return None if strange or None in texts or not moments else min(moments.values()).isoformat()


def _describe_reading(sheet: Sheet, reading: TableReading, words: Mapping[str, float]) -> list[str]:
    """Return what was taken from the table and what was assumed, as notes of the account."""
    notes = ["columns: " + ", ".join(f"{role} = {show(column)}" for role, column in reading.mapping.items())]
    if reading.arms:
        notes.append("arms: " + ", ".join(f"{arm} = {value}" for value, arm in reading.arms.items()))
    if numbers := dict(reading.values) or dict(words):
        notes.append("scores: " + ", ".join(f"{show(word)} = {number:g}" for word, number in sorted(numbers.items())))
    if reading.where:
        notes.append("rows: " + "; ".join(f"{show(name)} is {' or '.join(map(show, values))}" for name, values in reading.where.items()))
    if "context" not in reading.mapping:
        unit = "file" if reading.file_context else "arm"
        notes.append(f"no column of contexts: one context per {unit}, so a verdict is at most conditional on these contexts")
    unread = [name for name in sheet.columns if name and name not in reading.mapping.values()]
    if unread:
        notes.append("columns not read: " + ", ".join(map(show, unread[:12])) + (" …" if len(unread) > 12 else ""))
    return notes


# A frame of Python. pandas is never imported: a DataFrame is recognised by its class and read by its own methods.


def read_frame(frame: Any) -> Sheet:
    """Return a pandas DataFrame, or what has the Arrow PyCapsule interface (`__arrow_c_stream__`), as a sheet called `frame`.

    Raises:
        TableError: the frame is neither, has an index with repeated labels, or a column twice.
    """
    if any(base.__module__.partition(".")[0] == "pandas" and base.__name__ == "DataFrame" for base in type(frame).__mro__):
        columns, values = _read_pandas(frame)
    elif hasattr(frame, "__arrow_c_stream__"):
        columns, values = read_stream_columns(frame)
    else:
        problem = f"expected a pandas DataFrame or an object with __arrow_c_stream__, found {type(frame).__name__}"
        raise TableError(Fault("unknown-format", "frame", problem, advice="give a frame of pandas, Polars, Arrow or DuckDB"))
    if not values or not values[0]:
        raise TableError(Fault("table-empty", "frame", "the frame has no rows"))
    content = orjson.dumps([columns, [[as_cell(value) for value in column] for column in values]], option=orjson.OPT_NON_STR_KEYS)
    return build_sheet("frame", hashlib.sha256(content).hexdigest(), columns, values, kind="frame")


def _read_pandas(frame: Any) -> tuple[tuple[str, ...], list[list[Any]]]:
    faults = []
    if not frame.index.is_unique:
        # Repeated labels come from frames that were put together, and then from rows that may be there twice.
        count = int(frame.index.duplicated().sum())
        problem = f"{count:,} labels of the index occur more than once"
        faults.append(Fault("frame-index", "frame", problem, advice="check that no row is there twice, then frame.reset_index(drop=True)"))
    twice = [name for name, count in Counter(map(str, frame.columns)).items() if count > 1]
    faults += [
        Fault("duplicate-column", f"frame, column {name}", "the column occurs more than once", advice="rename one of them")
        for name in twice
    ]
    if faults:
        raise TableError(faults)
    return tuple(map(str, frame.columns)), [frame[name].tolist() for name in frame.columns]


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
        mapping: by role (`task`, `arm`, `score`, `context`, `sample`, …: `ROLES`), the column of the frame; columns with Caveat's own names
            need none.
        arms: by arm (`test`, `deploy`), the value that it has in the frame; None: the values are the arms.
        score_values: by text in the score column, its number; words such as `pass`, `no` and `TRUE` need none.
        low: lowest possible score.
        high: highest possible score.

    Raises:
        TableError: with every fault; many faults of one cause are one, with a count and the first places.
    """
    sheet = read_frame(frame)
    names = {value: arm for arm, value in (arms or {}).items()}
    sheet, roles = melt_sheet(sheet, complete_mapping(sheet, mapping, has_arm=False))
    rows, imported = build_rows(sheet, TableReading(mapping=roles, arms=names, values=dict(score_values or {}), where={}))
    named = name_arms(rows, imported, names)
    check_two_arms(named, imported)
    # A frame has no account that a person reads, so its table has the doubts.
    return replace(build_row_table(named, imported, low=low, high=high), doubts=list_doubts(imported))
