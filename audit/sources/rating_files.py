"""Files of the naturalness audit: samples that may be shown to raters, and the answer sheets that come back."""

import csv
import difflib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.errors import TableError
from audit.records.rating_sheet import AnswerSheet, RaterAnswer, RatingSample, SampleSide
from audit.sources.score_columns import FaultList
from registry.codec.canonical_documents import from_document, json_schema
from registry.codec.file_io import parse_document, read_text
from registry.errors import Fault, InputError

LARGEST_BYTES = 200_000_000
_SAMPLE_COLUMNS = ("arm", "text", "task_id", "context_id")
_ANSWER_COLUMNS = ("rater", "key", "item", "answer", "cue", "confidence")
_UNDECIDED = ("", "?")
_WORDS = {"test": SampleSide.TEST, "deploy": SampleSide.DEPLOY, "deployment": SampleSide.DEPLOY}


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileRow:
    """One record of a file; fields that it lacks are empty."""

    where: str
    fields: dict[str, str]


def read_samples(paths: Sequence[Path], *, test: str, deploy: str) -> list[RatingSample]:
    """Return the samples of both sides in CSV or JSONL files: columns `arm` and `text`, optional `task_id` and `context_id`.

    Rows of other arms are excluded.

    Raises:
        TableError: with every fault: a file that cannot be read, a column or text that is missing, a side without samples.
    """
    faults, samples = FaultList(), list[RatingSample]()
    arms = {test: SampleSide.TEST, deploy: SampleSide.DEPLOY}
    if len(arms) < 2:
        raise TableError(Fault("same-arm", "arms", f"test and deployment arm are both {test!r}"))
    seen: dict[str, None] = {}
    for row in _read_all(paths, required=("arm", "text"), known=_SAMPLE_COLUMNS, faults=faults):
        arm, text = row.fields["arm"].strip(), row.fields["text"].replace("\r\n", "\n")
        seen[arm] = None
        for name, value in (("arm", arm), ("text", text.strip())):
            if not value:
                faults.add(Fault("id-empty", f"{row.where}, column {name}", "the field is empty"))
        if text.strip() and arm in arms:
            task, context = row.fields.get("task_id") or None, row.fields.get("context_id") or None
            samples.append(RatingSample(side=arms[arm], text=text, task_id=task, context_id=context))
    names = ", ".join(str(path) for path in paths[:3])
    if not faults.faults:
        known = ", ".join(list(seen)[:10])
        for arm in sorted(set(arms) - set(seen)):
            faults.add(Fault("unknown-name", names, f"no row is of arm {arm!r}; the arms are: {known}"))
    if faults.faults:
        raise TableError(faults.all(where=names))
    return samples


def read_answers(paths: Sequence[Path]) -> list[tuple[str, AnswerSheet]]:
    """Return the answer sheets in CSV or JSON files, one for each rater and key in a file, each with the name of its file.

    In CSV: columns `rater`, `key`, `item` and `answer` (test, deploy, or empty or `?` for undecided), optional `cue` (several separated by
    `;`) and `confidence` (1 to 5).

    Raises:
        TableError: with every fault.
    """
    faults, sheets = FaultList(), list[tuple[str, AnswerSheet]]()
    for path in paths:
        if path.suffix.casefold() == ".json":
            try:
                document = parse_document(read_text(path, largest=LARGEST_BYTES), where=str(path))
                sheets.append((str(path), from_document(AnswerSheet, document, where=str(path))))
            except InputError as error:
                _add_all(faults, error)
            continue
        known = _ANSWER_COLUMNS
        rows = _read_all([path], required=known[:4], known=known, faults=faults)
        grouped: dict[tuple[str, str], list[RaterAnswer]] = {}
        for row in rows:
            answer = _read_answer(row, faults)
            rater, key = row.fields["rater"].strip(), row.fields["key"].strip()
            if answer is not None:
                grouped.setdefault((rater, key), []).append(answer)
        sheets += [(str(path), AnswerSheet(rater=rater, key=key, answers=tuple(answers))) for (rater, key), answers in grouped.items()]
    if faults.faults:
        raise TableError(faults.all(where=", ".join(str(path) for path in paths[:3])))
    return sheets


def answers_schema() -> dict[str, Any]:
    """Return the JSON Schema of answers in JSON, for whoever writes those of a model."""
    return json_schema(AnswerSheet)


def _add_all(faults: FaultList, error: InputError) -> None:
    for fault in error.faults:
        faults.add(fault)


def _read_answer(row: _FileRow, faults: FaultList) -> RaterAnswer | None:
    """Return what one row answers; None if a field cannot be understood, or the whole row is empty."""
    fields = {name: value.strip() for name, value in row.fields.items()}
    # Spreadsheets leave empty rows at the end.
    if not any(fields[name] for name in ("rater", "key", "item", "answer")):
        return None
    before = len(faults.faults) + faults.more
    for name in ("rater", "item"):
        if not fields[name]:
            faults.add(Fault("id-empty", f"{row.where}, column {name}", "the field is empty"))
    word = fields["answer"].casefold()
    if word not in _UNDECIDED and word not in _WORDS:
        problem = f"expected test, deploy, or nothing (or ?) for undecided, found {fields['answer'][:40]!r}"
        faults.add(Fault("answer-not-understood", f"{row.where}, column answer", problem))
    confidence = fields.get("confidence", "")
    if confidence and confidence not in ("1", "2", "3", "4", "5"):
        problem = f"expected a whole number from 1 (a guess) to 5 (certain), or nothing, found {confidence[:40]!r}"
        faults.add(Fault("answer-not-understood", f"{row.where}, column confidence", problem))
    if len(faults.faults) + faults.more > before:
        return None
    cues = tuple(dict.fromkeys(" ".join(cue.split()).casefold() for cue in fields.get("cue", "").split(";") if cue.strip()))
    return RaterAnswer(item=fields["item"], answer=_WORDS.get(word), cues=cues, confidence=int(confidence) if confidence else None)


def read_fields(path: Path, *, required: Sequence[str], known: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Return the records of a CSV or JSONL file, each with its place; columns that are neither *required* nor *known* are kept too.

    Raises:
        TableError: with every fault.
    """
    faults = FaultList()
    records = [(row.where, row.fields) for row in _read_all([path], required=required, known=(*required, *known), faults=faults)]
    if faults.faults:
        raise TableError(faults.all(where=str(path)))
    return records


def _read_all(paths: Sequence[Path], *, required: Sequence[str], known: Sequence[str], faults: FaultList) -> Iterator[_FileRow]:
    """Give the records of all files; what cannot be read becomes a fault."""
    for path in paths:
        readers = {".csv": _read_csv, ".jsonl": _read_jsonl, ".ndjson": _read_jsonl}
        reader = readers.get(path.suffix.casefold())
        if reader is None:
            faults.add(Fault("unknown-format", str(path), f"the name ends in {path.suffix or 'nothing'}; expected .csv or .jsonl"))
            continue
        try:
            rows = list(reader(read_text(path, largest=LARGEST_BYTES), str(path)))
        except InputError as error:
            _add_all(faults, error)
            continue
        if not rows:
            faults.add(Fault("table-empty", str(path), "the file has no rows"))
            continue
        names = list(dict.fromkeys(name for row in rows for name in row.fields))
        missing = list(_check_columns(names, required, known, where=str(path)))
        for fault in missing:
            faults.add(fault)
        if not missing:
            yield from (_FileRow(where=row.where, fields={**dict.fromkeys(required, ""), **row.fields}) for row in rows)


def _check_columns(names: Sequence[str], required: Sequence[str], texts: Sequence[str], *, where: str) -> Iterator[Fault]:
    spare = [name for name in names if name not in texts]
    for name in texts:
        if name in names:
            continue
        close = difflib.get_close_matches(name, spare, n=1, cutoff=0.8)
        advice = f"did you mean {close[0]!r}? rename it to {name}" if close else None
        if name in required:
            there = ", ".join(filter(None, names[:12])) or "none"
            problem = f"the column is missing; the columns are: {there}"
            yield Fault("column-missing", f"{where}, column {name}", problem, advice=advice or f"add the column {name}")
        elif close:
            yield Fault("column-typo", f"{where}, column {close[0]}", "the column would not be read", advice=advice)


def _read_csv(text: str, where: str) -> Iterator[_FileRow]:
    """Give the records of a CSV text; spreadsheets of some countries separate by semicolons or tabs."""
    first = text.partition("\n")[0]
    delimiter = next((mark for mark in ",;\t" if mark in first), ",")
    limit = csv.field_size_limit(LARGEST_BYTES)
    try:
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise TableError(Fault("file-not-readable", where, f"the file is not CSV: {error}")) from error
    finally:
        csv.field_size_limit(limit)
    numbered = [(number, record) for number, record in enumerate(records, start=1) if any(field.strip() for field in record)]
    if not numbered:
        return
    header = [name.strip() for name in numbered[0][1]]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    faults = [Fault("duplicate-column", f"{where}, column {name}", "the column occurs more than once") for name in twice]
    long = [number for number, record in numbered[1:] if any(field.strip() for field in record[len(header) :])]
    faults += [Fault("row-broken", f"{where}, row {n}", f"expected {len(header)} fields, found more") for n in long[:20]]
    if faults:
        raise TableError(faults)
    for number, record in numbered[1:]:
        yield _FileRow(where=f"{where}, row {number}", fields=dict(zip(header, record, strict=False)))


def _read_jsonl(text: str, where: str) -> Iterator[_FileRow]:
    faults = list[Fault]()
    rows = list[_FileRow]()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        try:
            document = parse_document(line, where=place) if line.lstrip().startswith("{") else json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(Fault("not-json", place, f"the line is not JSON: {error}"))
            continue
        except InputError as error:
            faults.extend(error.faults)
            continue
        if not isinstance(document, dict):
            faults.append(Fault("not-json", place, f"expected an object, found {type(document).__name__}"))
            continue
        faults.extend(_check_texts(document.items(), place))
        rows.append(_FileRow(where=place, fields={name: value for name, value in document.items() if isinstance(value, str)}))
    if faults:
        raise TableError(faults)
    yield from rows


def _check_texts(items: Iterable[tuple[str, object]], where: str) -> Iterator[Fault]:
    for name, value in items:
        if name in _SAMPLE_COLUMNS and value is not None and not isinstance(value, str):
            yield Fault("bad-name", f"{where}, column {name}", f"expected a text, found {json.dumps(value)[:40]}")
