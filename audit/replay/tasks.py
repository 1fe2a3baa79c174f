"""The tasks of a replay, from the file that a person wrote or a program exported."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path

from audit.replay.compose import LETTERS
from registry.codec.documents import from_document, from_json
from registry.codec.files import check_line, read_document, read_text
from registry.errors import Fault, InputError
from registry.records.replay import Task, TasksFile

LARGEST_BYTES = 200_000_000
_OPTION = re.compile(r"option_([a-z])")
_NAMED = ("id", "prompt", "answer", "expected", "anti", "family", "note")
"""Columns of a CSV file that are keys of a task; `expected` and `anti` hold one regular expression each."""

Placed = tuple[str, Task]
"""A task with the place where it stands."""


def read_tasks(path: Path) -> tuple[Task, ...]:
    """Return the tasks in *path*, in its order: JSONL and CSV are told by their names, any other file is YAML or JSON.

    Raises:
        InputError: with every fault, its file and line (or place in the document): no tasks, a task that does not fit, an identifier
            twice, options without the right one.
    """
    readers: dict[str, Callable[[Path], list[Placed]]] = {".jsonl": _read_lines, ".ndjson": _read_lines, ".csv": _read_csv}
    placed = readers.get(path.suffix.lower(), _read_file)(path)
    faults = list(find_task_faults(placed))
    if not placed:
        faults.append(Fault(code="table-empty", where=str(path), found="the file has no tasks", advice="write at least one"))
    if faults:
        raise InputError(faults)
    return tuple(task for _, task in placed)


def place_tasks(tasks: Sequence[Task], *, where: str) -> list[Placed]:
    """Return *tasks* with their places in a list called *where*."""
    return [(f"{where}, tasks[{number}]", task) for number, task in enumerate(tasks)]


def find_task_faults(placed: Sequence[Placed]) -> Iterator[Fault]:
    """Give what is wrong with tasks beyond the shape of each."""
    first: dict[str, str] = {}
    for where, task in placed:
        if task.id in first:
            found = f"the id {task.id!r} stands at {first[task.id]} too"
            yield Fault(code="task-twice", where=where, found=found, advice="give each task an id of its own")
        first.setdefault(task.id, where)
        yield from _check_task(task, where)


def _check_task(task: Task, where: str) -> Iterator[Fault]:
    if not task.id.strip():
        yield Fault(code="id-empty", where=where, found="the task has no id")
    elif task.id != task.id.strip():
        yield Fault(code="id-padded", where=where, found=f"{task.id!r} begins or ends with white space", advice="remove it")
    if task.family is not None and (not task.family or task.family != task.family.strip()):
        yield Fault(code="id-padded", where=where, found=f"the family {task.family!r} is empty, or begins or ends with white space")
    if not task.prompt.strip():
        yield _fault(where, f"task {task.id!r} has no prompt", "write down what is asked")
    if "id" in (task.fields or {}):
        yield _fault(where, "a field is called `id`, which always means the task's own id", "give the field another name")
    yield from (_fault(where, f"task {task.id!r}: {found}", None) for found in _check_options(task))


def _check_options(task: Task) -> Iterator[str]:
    if not task.options:
        return
    if not 2 <= len(task.options) <= len(LETTERS):
        yield f"a choice is between 2 and {len(LETTERS)} options, found {len(task.options)}"
    elif task.answer is not None and task.answer.strip().upper() not in tuple(LETTERS[: len(task.options)]):
        yield f"the answer is the letter of an option, A to {LETTERS[len(task.options) - 1]}, found {task.answer!r}"
    if len(set(task.options)) < len(task.options):
        yield "two options are the same"
    if not all(option.strip() for option in task.options):
        yield "an option is empty"


def _read_file(path: Path) -> list[Placed]:
    document = read_document(path, largest=LARGEST_BYTES)
    return place_tasks(from_document(TasksFile, document, where=str(path)).tasks, where=str(path))


def _read_lines(path: Path) -> list[Placed]:
    """One task a line; empty lines are skipped."""
    placed: list[Placed] = []
    faults: list[Fault] = []
    # Only a line feed ends a line: JSON may hold the other line separators of Unicode as they are.
    for number, line in enumerate(read_text(path, largest=LARGEST_BYTES).split("\n"), 1):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            check_line(line.encode(), where=where)
            placed.append((where, from_json(Task, line, where=where)))
        except InputError as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    return placed


def _read_csv(path: Path) -> list[Placed]:
    """One task a row; columns that are no key of a task are its fields, and an empty cell says nothing."""
    text = read_text(path, largest=LARGEST_BYTES)
    if "\0" in text:
        raise InputError(_fault(str(path), "has U+0000, which no record can hold", "remove it from the text"))
    lines = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        header = next(lines, [])
        faults = list(_check_header(header, path))
        placed = []
        # A row may span lines; the reader counts those that it has read.
        for row in lines:
            where = f"{path}, line {lines.line_num}"
            if row and len(row) != len(header):
                found = f"the row that ends here has {len(row)} fields, the header {len(header)}"
                advice = "put texts with commas or line breaks in quotation marks"
                faults.append(Fault(code="row-broken", where=where, found=found, advice=advice))
            elif row:
                placed.append((where, dict(zip(header, row, strict=True))))
    except csv.Error as error:
        raise InputError(Fault(code="row-broken", where=f"{path}, line {lines.line_num}", found=str(error))) from error
    if faults:
        raise InputError(faults)
    return [(where, _build_task(cells)) for where, cells in placed]


def _check_header(header: Sequence[str], path: Path) -> Iterator[Fault]:
    for name in ("id", "prompt"):
        if name not in header:
            found = f"the column is missing; the file has {', '.join(header) or 'none'}"
            yield Fault(code="column-missing", where=f"{path}, column {name}", found=found, advice="name the columns in the first line")
    for name in dict.fromkeys(header):
        if header.count(name) > 1:
            yield Fault(code="column-twice", where=f"{path}, column {name}", found="occurs twice", advice="keep one")
        if not name.strip():
            yield Fault(code="column-missing", where=f"{path}, line 1", found="a column has no name", advice="name it, or remove it")
    given = sorted(option[1] for name in header if (option := _OPTION.fullmatch(name)))
    if given != list(LETTERS.lower()[: len(given)]):
        found = f"options are option_a, option_b and so on without a gap; found {', '.join(f'option_{letter}' for letter in given)}"
        yield Fault(code="column-missing", where=f"{path}, line 1", found=found, advice="name the columns in order")


def _build_task(cells: dict[str, str]) -> Task:
    letters = sorted(name for name in cells if _OPTION.fullmatch(name))
    options = [cells[name] for name in letters]
    while options and not options[-1]:
        options.pop()
    fields = {name: value for name, value in cells.items() if value and name not in _NAMED and name not in letters}
    return Task(
        id=cells["id"],
        prompt=cells["prompt"],
        fields=fields or None,
        options=tuple(options),
        answer=cells.get("answer") or None,
        expected=tuple(filter(None, [cells.get("expected")])),
        anti=tuple(filter(None, [cells.get("anti")])),
        family=cells.get("family") or None,
        note=cells.get("note") or None,
    )


def _fault(where: str, found: str, advice: str | None) -> Fault:
    return Fault(code="not-valid", where=where, found=found, advice=advice)
