"""What every reader of logs shares: rows, accounts, lines of JSON, the choice of a score, and the pairing of tasks."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Any

from audit.errors import TableError
from audit.records.model_response import ExcludedResponses, ImportedFile, ImportedLog
from audit.sources.score_columns import FaultList, suggest
from registry.errors import Fault
from registry.records.replay_run import Provenance

# The output of every log reader: rows, and the accounts of the import.


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """One response of a log, as a row of the score table."""

    task_id: str
    arm: str
    context_id: str
    sample: str
    score: float | None
    excluded_reason: str | None = None
    """Why there is no score; exactly when *score* is None."""
    spec: str | None = None
    """None: what the user said of the file (`deploy/agent=PATH`), or nothing."""
    cue_removed: str | None = None
    judge: str | None = None
    judge_repeat: str | None = None
    family: str | None = None
    """Tasks that depend on each other, such as paraphrases, have the same; None: not stated."""
    template: str | None = None
    """Contexts made from one template have the same; None: not stated."""
    weight: str | None = None
    """Weight of the task, as it was written; None: not stated."""
    stop_reason: str | None = None
    """Why the endpoint stopped, in its own word."""
    truncated: str | None = None
    """`yes` where something else than the endpoint ended the response; None: as *stop_reason* says."""
    settled: str | None = None
    refused: str | None = None
    text: str | None = None
    """What the task asks, for the search for near-duplicates; None where the reader does not know it. No column of a table."""
    extras: Mapping[str, str | float | None] = field(default_factory=dict)
    """Further columns, such as request_id, other scores by name."""
    file: str | None = None
    """Name of the file it stands in, as in the accounts; None where a reader was given one file."""
    place: str | None = None
    """Where it stands in that file, for messages: `sample calc-12, epoch 1`; None: its identifiers say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What the user says of how a log becomes a table."""

    arms: Mapping[str, str] = field(default_factory=dict)
    """By path as it was given, the arm of that file's responses (`ARM=PATH` on the command line)."""
    specs: Mapping[str, str] = field(default_factory=dict)
    """By path as it was given, the P_deploy specification (`ARM/SPEC=PATH`). The door sets it; readers need not."""
    arm_field: str | None = None
    """Where the arm stands instead: a dotted name such as `metadata.condition`, `task_args.framing`, `tags`."""
    arm_names: Mapping[str, str] = field(default_factory=dict)
    """By value of *arm_field*, the arm it stands for. The door applies it; readers hand over the values as they are."""
    context_field: str | None = None
    """Where the context stands; None: one context a file, called by the file's name without ending."""
    task_field: str | None = None
    """Where the task's identifier stands; None: the sample's own."""
    family_field: str | None = None
    """Where the family of the task stands, as *context_field*; None: families are not stated."""
    scorer: str | None = None
    """Which scorer's (metric's) scores; None where the log has one alone."""
    key: str | None = None
    """Which entry of a score that is an object; of a harness, which filter."""
    values: Mapping[str, float] = field(default_factory=dict)
    """What a text or an answer is as a number, such as {C: 1, I: 0}; empty: the default of the format."""
    mapping: Mapping[str, str] | None = None
    """Of a person's own table, by role the column that has it; None: its columns have Caveat's names."""
    sheet: str | None = None
    """Of a spreadsheet, which sheet; None: the only one with data."""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of a person's own table, by column the values whose rows are kept."""
    unfinished: bool = False
    """Take a log also when its own status says that it did not finish; its accounts then say so."""

    def find_arm(self, path: Path) -> str | None:
        """Return the arm that was given for the file at *path*, however the path was written."""
        return next((arm for name, arm in self.arms.items() if Path(name) == path), None)


Reader = Callable[[Sequence[Path], LogOptions], tuple[list[LogRow], ImportedLog]]
"""Reads files of one format. Raises TableError with every fault."""


# Accounts: what each file states, contains, and what it became. They are recorded, because what makes a log doubtful
# (edited scores, an unfinished status) must be known with the outcome. No log states how large the card's evaluation
# was, so coverage is missing until a person states it.

_EXAMPLES = 5
_OF_RESPONSES = ("models_returned", "unnamed_responses", "scorer", "other_scorers")
"""What provenance has from single responses: united over files, and counted."""


@dataclass(slots=True)
class FileCounts:
    """Outcome of the responses of one file, counted as it is read."""

    scored: int = 0
    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    examples: dict[tuple[str, bool], list[str]] = field(default_factory=dict)

    def add(self, place: str, reason: str | None, *, is_row: bool = True) -> None:
        """Count the response at *place*: scored without a *reason*, else excluded for it."""
        if reason is None:
            self.scored += 1
            return
        self.counts[reason, is_row] += 1
        kept = self.examples.setdefault((reason, is_row), [])
        # A few places are enough to look at the log; the counts are complete.
        if len(kept) < _EXAMPLES:
            kept.append(place)

    @property
    def found(self) -> int:
        """Responses that were counted."""
        return self.scored + sum(self.counts.values())

    def list_excluded(self) -> tuple[ExcludedResponses, ...]:
        """Return what was excluded, the most frequent reason first."""
        return tuple(
            ExcludedResponses(reason=key[0], count=count, is_row=key[1], examples=tuple(self.examples[key]))
            for key, count in sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        )


def merge_accounts(parts: Sequence[ImportedLog]) -> ImportedLog:
    """Return the accounts of several imports as one; a date of the first response only where every part states one."""
    begun = [part.started_at for part in parts]
    known = [moment for moment in begun if moment is not None]
    return ImportedLog(
        files=tuple(file for part in parts for file in part.files),
        provenance=_merge_provenance(parts),
        # Without a date in one part, that part may have begun before all others.
        started_at=min(known, key=datetime.fromisoformat) if known and len(known) == len(begun) else None,
    )


def _merge_provenance(parts: Sequence[ImportedLog]) -> Provenance:
    """A statement that all parts share once; otherwise each with the files that make it."""
    merged: dict[str, str | int] = {}
    for name in (attribute.name for attribute in fields(Provenance) if attribute.name not in _OF_RESPONSES):
        files_by_value: dict[str | int, list[str]] = {}
        for part in parts:
            value = getattr(part.provenance, name)
            if value is not None:
                files_by_value.setdefault(value, []).extend(Path(file.name).name for file in part.files)
        files = sum(len(part.files) for part in parts)
        if len(files_by_value) == 1 and len(next(iter(files_by_value.values()))) == files:
            merged[name] = next(iter(files_by_value))
        elif files_by_value and not any(isinstance(value, int) for value in files_by_value):
            # A file name may contain a date, which would be read as a date of access.
            merged[name] = "; ".join(
                f"{value} ({_name(texts)})" if name != "accessed" else str(value) for value, texts in files_by_value.items()
            )
    returned = {name for part in parts for name in part.provenance.models_returned}
    unnamed = sum(map(_count_unnamed, parts))
    # Files without any score name no scorer; the door refuses two that differ.
    taken = next((part.provenance.scorer for part in parts if part.provenance.scorer is not None), None)
    others = {name for part in parts for name in part.provenance.other_scorers} - {taken}
    return Provenance(
        models_returned=tuple(sorted(returned)),
        unnamed_responses=unnamed,
        scorer=taken,
        other_scorers=tuple(sorted(others)),
        **merged,  # type: ignore[arg-type]
    )


def _count_unnamed(part: ImportedLog) -> int:
    """Return how many scored responses of *part* carry no model name: all of them, where it names none."""
    if part.provenance.models_returned:
        return part.provenance.unnamed_responses
    return sum(file.scored for file in part.files)


def _name(files: Sequence[str]) -> str:
    return ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")


def describe_accounts(imported: ImportedLog) -> str:
    """Return one line for each file: what was declared, found and scored, what was excluded, and what else must be known of it."""
    return "\n".join(map(_summarise, imported.files))


def list_doubts(imported: ImportedLog) -> tuple[str, ...]:
    """Return what makes the files doubtful, each as a clause that names its file.

    The missing responses may be missing for a reason that has to do with their scores, so no verdict from the others is established.
    """
    doubts = []
    for file in imported.files:
        name, held = Path(file.name).name, file.found - sum(responses.count for responses in file.excluded if not responses.is_row)
        if file.declared is not None and file.declared != held:
            doubts.append(f"{name} states {file.declared:,} responses and has {held:,}")
        doubts += [f"{name}: {warning}" for warning in file.warnings]
    return (*doubts, *list_several_models(imported.provenance.models_returned))


def list_several_models(names: Sequence[str]) -> tuple[str, ...]:
    """Return the doubt that responses of several models raise: with a snapshot on each side, they differ like contexts."""
    doubt = f"the responses name several models ({', '.join(names)}), and a difference between models is none between contexts"
    return (doubt,) if len(names) > 1 else ()


def _summarise(file: ImportedFile) -> str:
    declared = "states no count" if file.declared is None else f"states {file.declared}"
    arm = f" as arm {file.arm}" if file.arm else ""
    texts = [f"{declared}, {file.found} found, {file.scored} scored{arm}"]
    texts += [f"{responses.count} {'excluded' if responses.is_row else 'not taken'}: {responses.reason}" for responses in file.excluded]
    return f"{Path(file.name).name} ({file.format}, SHA-256 {file.sha256[:12]}…): {'; '.join((*texts, *file.warnings, *file.notes))}."


def verify_accounts(imported: ImportedLog, rows: Iterable[LogRow]) -> None:
    """Raise ValueError unless every response found became one scored row, one row without a score, or is accounted for as no row."""
    counted: Counter[tuple[str, bool]] = Counter()
    for row in rows:
        counted[row.file or imported.files[0].name, row.score is not None] += 1
    for file in imported.files:
        excluded = sum(responses.count for responses in file.excluded if responses.is_row)
        count = file.scored + sum(responses.count for responses in file.excluded)
        stated, actual = (file.scored, excluded, file.found), (counted[file.name, True], counted[file.name, False], count)
        # A defect of a reader and not of the file, hence ValueError and no fault for the user.
        if stated != actual:
            raise ValueError(f"{file.name}: scored, excluded and found are stated as {stated} and counted as {actual}")


def check_twice(imported: ImportedLog) -> None:
    """Refuse a file that was given twice, whatever its names; raises TableError."""
    names: dict[str, list[str]] = {}
    for file in imported.files:
        # By content: a copy under another name would be compared with itself.
        names.setdefault(file.sha256, []).append(file.name)
    faults = [Fault("duplicate", ", ".join(same), "these are one file: the same bytes") for same in names.values() if len(same) > 1]
    if faults:
        raise TableError(faults)


def rename_account(part: ImportedLog, rows: Sequence[LogRow], path: str) -> tuple[ImportedLog, list[LogRow]]:
    """Return accounts and rows of one file under the name it was given by."""
    names: Mapping[str, str] = {file.name: path for file in part.files} if len(part.files) == 1 else {}
    files = tuple(replace(file, name=names.get(file.name, file.name)) for file in part.files)
    return replace(part, files=files), [replace(row, file=names.get(row.file or "", row.file or files[0].name)) for row in rows]


# JSONL logs, read as they are, NaN included. Every broken line is reported, up to the limit of the fault list.

_LARGEST_BYTES = 4_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One object of a log."""

    number: int
    """Counted from 1, blank lines included."""
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLines:
    """A log as a whole."""

    name: str
    sha256: str
    lines: tuple[LogLine, ...]


def read_lines(path: Path, *, without: Collection[str] = ()) -> LogLines:
    """Return the objects of a JSONL file; NaN is kept, for the reader to say what it means.

    Args:
        path: the file.
        without: keys that are dropped as each line is read: prompts and answers are what makes a log large.

    Raises:
        TableError: the file cannot be read or has no lines, or lines are no JSON objects, each of them reported.
    """
    faults = FaultList()
    digest = hashlib.sha256()
    lines: list[LogLine] = []
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            found_bytes = f"the file has {path.stat().st_size:,} bytes; the largest that is read has {_LARGEST_BYTES:,}"
            raise TableError(Fault("file-too-large", str(path), found_bytes, advice="split it by task"))
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                digest.update(line)
                if line.strip():
                    lines += _parse(line, number, str(path), faults, without)
    except OSError as error:
        unread = f"the file cannot be read: {error.strerror or error}"
        raise TableError(Fault("file-not-readable", str(path), unread)) from error
    if faults.faults:
        raise TableError(faults.all(where=str(path)))
    if not lines:
        raise TableError(Fault("table-empty", str(path), "the file has no rows"))
    return LogLines(name=str(path), sha256=digest.hexdigest(), lines=tuple(lines))


def _parse(line: bytes, number: int, name: str, faults: FaultList, without: Collection[str]) -> Iterator[LogLine]:
    where = f"{name}, line {number}"
    try:
        fields = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError) as error:
        faults.add(Fault("not-json", where, f"the line is not JSON: {error}"))
        return
    if isinstance(fields, dict):
        # Prompts and answers are dropped at once: they make up nearly all of a log, and no row needs them.
        yield LogLine(number=number, fields={key: value for key, value in fields.items() if key not in without})
    else:
        faults.add(Fault("not-json", where, f"expected an object, found {type(fields).__name__}"))


def read_companion(path: Path) -> Mapping[str, Any] | None:
    """Return the object that a results file next to a log holds; None when there is no such file.

    Raises:
        TableError: the file is there and holds no object.
    """
    try:
        fields = json.loads(path.read_bytes())
    # A missing companion only means that nothing states the counts. A broken one may state counts that disagree, so it
    # is an error.
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        problem = f"its results file cannot be read: {error}"
        advice = "restore it, or take it away; the import then says that nothing states the counts"
        raise TableError(Fault("not-json", str(path), problem, advice=advice)) from error
    if not isinstance(fields, dict):
        raise TableError(Fault("not-json", str(path), f"expected an object, found {type(fields).__name__}"))
    return fields


def find_unread(heavy: Collection[str], *names: str | None) -> frozenset[str]:
    """Return those of the *heavy* keys that none of the dotted *names* leads into."""
    return frozenset(heavy) - {(name or "").partition(".")[0] for name in names}


def find_value(value: Any, name: str) -> Any:
    """Return what is at the dotted *name* below *value*, or None where nothing does."""
    if isinstance(value, Mapping) and name in value:
        return value[name]
    first, dot, rest = name.partition(".")
    return find_value(value[first], rest) if dot and isinstance(value, Mapping) and first in value else None


def as_text(value: object) -> str | None:
    """Return a text, number or truth value as a text without white space around it; None for anything else, and for an empty text."""
    if isinstance(value, str):
        # Half a surrogate pair is no character; writing it as UTF-8 would fail later, far from its source.
        return value.strip().encode("utf-8", "replace").decode("utf-8") or None
    return json.dumps(value) if isinstance(value, bool | int | float) else None


# Which score of a log is used, and its value as a number. With several scores, choosing one is the user's statement and
# never a default.

_LONGEST_VALUE = 40
"""Characters of a grade; what is longer is an explanation."""


def choose_score(text: str | None, texts: Collection[str], *, where: str, option: str, what: str) -> str:
    """Return the one of *texts* that *text* names, or the only one where nothing is asked.

    Args:
        asked: what the user wrote behind *option*; None for nothing.
        there: names that the log has.
        where: the log.
        option: such as `--scorer`.
        what: such as `metric`, for the message.

    Raises:
        TableError: there is no such name, none at all, or several and none is asked for.
    """
    known = ", ".join(sorted(texts)) or "none"
    if text is not None and text not in texts:
        problem = f"there is no {what} {text!r}; there are: {known}"
        raise TableError(Fault("unknown-name", where, problem, advice=suggest(text, texts) or f"choose one with {option}"))
    if text is None and len(texts) != 1:
        problem = f"expected one {what}, found {len(texts)}: {known}"
        raise TableError(Fault("choice-needed", where, problem, advice=f"choose one with {option}"))
    return text if text is not None else next(iter(texts))


def read_score(value: object, values: Mapping[str, float], *, where: str) -> tuple[float | None, str | None]:
    """Return the number that a score means, or None and why there is none.

    What has no number has a reason; what has one that was not stated is refused, for leaving it out could be a choice of responses.

    Args:
        value: as it is in the log: a number, a truth value, a text, null or anything else.
        values: what a text is as a number.
        where: the place, for a message.

    Raises:
        TableError: the score is a text without a number, a list or an object.
    """
    if value is None:
        return None, "the log has no score"
    # Texts have only the numbers that were stated for them, even if they look like numbers.
    number = values.get(value) if isinstance(value, str) else _to_float(value)
    if number is None:
        advice = advise_value(value if isinstance(value, str) else None)
        kind = repr(value[:40]) if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
        raise TableError(Fault("score-not-number", where, f"expected a number, found {kind}", advice=advice))
    return (number, None) if math.isfinite(number) else (None, "the score is NaN" if math.isnan(number) else "the score is infinite")


def advise_value(text: str | None) -> str:
    """Return what to do about a score that is not a number: a *text* can be given one, anything else (None) cannot."""
    if text is None:
        return "choose another score with --scorer, or an entry of it with --key"
    if len(text) > _LONGEST_VALUE:
        return "a text this long is no grade: choose another score with --scorer, or an entry of it with --key"
    return f"say what each text is: --score-values {quote(f'{text}=1')}"


def _to_float(value: object) -> float | None:
    """A whole number may have more digits than a float can hold."""
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return math.inf


# Whether rows with equal task names are about one task, and whether a log's name contradicts its arm.
#
# For Inspect, samples are one task with the same identifier and the same target; for lm-evaluation-harness with the
# same `doc_hash`. Otherwise the import is refused until `--task-field` says so. Cost: shuffled choices need one more
# option.

TARGET = "target_sha256"
"""Column of a row with the digest of what the right answer is, where a log states one."""

_DOCUMENT = "doc_hash"
_SHORTEST = 3
"""Letters of an arm's name that are looked for in a file's name; a shorter one stands there by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnlikeTasks:
    """Tasks of two files that are called alike and are not alike."""

    first: LogRow
    row: LogRow
    tasks: int


def check_documents(rows: Sequence[LogRow]) -> None:
    """Raise TableError where rows that would be paired as one task are of different documents of lm-evaluation-harness."""
    faults = []
    for tasks in _list_differing(rows, _DOCUMENT):
        digests = " and ".join(f"{str(row.extras[_DOCUMENT])[:12]}…" for row in (tasks.row, tasks.first))
        problem = f"task {tasks.row.task_id} is another document here than in {tasks.first.file}: doc_hash {digests}"
        advice = "evaluate both arms on the same data; to pair by content, add --task-field doc_hash"
        faults.append(Fault("task-texts-differ", f"{tasks.row.file}, {tasks.row.place}", problem, advice=advice))
    if faults:
        raise TableError(faults)


def check_targets(rows: Sequence[LogRow]) -> None:
    """Raise TableError where tasks of one identifier have another target in another log: Inspect numbers samples from 1 in any data set."""
    faults = []
    for tasks in _list_differing(rows, TARGET):
        problem = f"task {tasks.row.task_id} has another target here than in {tasks.first.file}; so have {tasks.tasks} tasks in all"
        advice = "evaluate both arms on the same data; if these are the same tasks nevertheless, say so with --task-field sample.id"
        faults.append(Fault("task-texts-differ", f"{tasks.row.file}, {tasks.row.place}", problem, advice=advice))
    if faults:
        raise TableError(faults)


def warn_of_pairing(imported: ImportedLog, rows: Sequence[LogRow]) -> ImportedLog:
    """Return *imported* with what makes its arms doubtful: a file called as another arm, tasks with targets that differ."""
    differing = {tasks.row.file: tasks for tasks in _list_differing(rows, TARGET)}
    arms = {file.arm for file in imported.files if file.arm}
    return replace(imported, files=tuple(_warn(file, arms, differing.get(file.name)) for file in imported.files))


def _warn(file: ImportedFile, arms: set[str], differing: _UnlikeTasks | None) -> ImportedFile:
    # A warning and no refusal: names of files are free, but exchanged arms would turn the sign of ED.
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


def _list_differing(rows: Sequence[LogRow], name: str) -> Iterator[_UnlikeTasks]:
    """Give, for each two files, the first task that says something else under *name* in the second, and how many do."""
    seen: dict[str, LogRow] = {}
    tasks: dict[tuple[str | None, str | None], _UnlikeTasks] = {}
    counted: set[tuple[str | None, str]] = set()
    for row in rows:
        if not isinstance(row.extras.get(name), str):
            continue
        first = seen.setdefault(row.task_id, row)
        if first.extras[name] == row.extras[name] or (row.file, row.task_id) in counted:
            continue
        counted.add((row.file, row.task_id))
        earlier = tasks.get((first.file, row.file))
        tasks[first.file, row.file] = replace(earlier, tasks=earlier.tasks + 1) if earlier else _UnlikeTasks(first=first, row=row, tasks=1)
    yield from tasks.values()
