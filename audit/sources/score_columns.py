"""The unchecked columns of a score table: which are wanted, what is wrong with them, keys and stop reasons."""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from audit.errors import TableError
from audit.statistics.responses import NO, SETTLED, YES, Codes, Floats, TextColumn
from registry.errors import Fault, find_near

# Which rows and columns of a file make the table.

_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSelection:
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


def find_unknown(selection: ColumnSelection, names: Sequence[str], *, where: str) -> Iterator[Fault]:
    """Yield a fault for each column of *selection* that the file does not have."""
    wanted = selection.names if selection.score == "score" else (selection.score, *selection.names)
    for name in dict.fromkeys(wanted):
        if find_named(name, names) is None:
            problem = f"the column is missing; the columns are: {_list(names) or 'none'}"
            yield Fault("column-missing", f"{where}, column {name}", problem, advice=suggest(name, names))


def find_unmatched(selection: ColumnSelection, seen: Mapping[str, Collection[str]], *, where: str) -> Iterator[Fault]:
    """Yield a fault for each value of *selection* that no row has; *seen* holds the values of each column, rows excluded included."""
    for name, values in selection.where.items():
        for value in values:
            if value not in seen[name]:
                problem = f"no row has {value!r} there; the values are: {_list(sorted(seen[name]))}"
                yield Fault("unknown-name", f"{where}, column {name}", problem, advice=suggest(value, seen[name]))


def suggest(text: str, texts: Iterable[str]) -> str | None:
    """Return a question that names what was probably meant: the nearest spelling, or the only one that holds *text*; else None."""
    candidates = [name for name in texts if name]
    lowered = {candidate.lower(): candidate for candidate in candidates}
    close = find_near(text.lower(), lowered)
    holding = [name for name in candidates if text and text.lower() in name.lower()]
    # Suggestions only come from names that exist, near in spelling or containing the text.
    meant = lowered[close[0]] if close else holding[0] if len(holding) == 1 else None
    return f"did you mean {meant}?" if meant else None


def _list(texts: Sequence[str]) -> str:
    return ", ".join(text or "(empty)" for text in texts[:_SHOWN]) + (" …" if len(texts) > _SHOWN else "")


# The raw output of a reader: texts and numbers, unchecked. Texts are codes into a list of labels, because tables of
# millions of rows have few distinct identifiers.

LISTED = 20
"""Faults shown; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawColumn:
    """One column of texts; code −1 where the row has nothing."""

    codes: Codes
    labels: tuple[str, ...]
    """In no order that matters; each once."""

    def find(self, values: Collection[str]) -> npt.NDArray[np.bool_]:
        """Return, for each row, whether it has one of *values*; an empty text means nothing."""
        wanted = np.array([*(label in values for label in self.labels), "" in values], dtype=bool)
        # The last entry answers code −1, which means an empty field.
        return wanted[self.codes]

    def list_values(self) -> frozenset[str]:
        """Return the values that rows have; an empty text where one has nothing."""
        used = np.unique(self.codes).tolist()
        return frozenset("" if code < 0 else self.labels[code] for code in used)

    def keep(self, rows: npt.NDArray[np.bool_]) -> "RawColumn":
        """Return the entries of *rows* (a mask)."""
        return RawColumn(codes=self.codes[rows], labels=self.labels)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawTable:
    """One file, read and not yet checked."""

    name: str
    sha256: str
    columns: dict[str, RawColumn]
    """By our names; optional columns may be absent."""

    score: Floats
    """NaN where the field is empty, not a number, or NaN."""

    empty: npt.NDArray[np.bool_]
    """Where the score field is empty (or null)."""

    row_word: str
    """What a position is called: `line` in JSONL, `row` elsewhere."""

    first_row: int
    """Number of the first position: 1; 2 where line 1 is a header."""

    rows: npt.NDArray[np.int64] | None = None
    """Number of each row where blank lines make it differ from a plain count."""

    texts: dict[int, str] = field(default_factory=dict)
    """By row, the content of the first `LISTED` score fields that are no number."""

    texts_beyond: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """Rows of the other score fields that are no number."""

    score_name: str = "score"
    """What the file calls the column of scores."""

    extras: dict[str, RawColumn] = field(default_factory=dict)
    """Columns that were asked for beside ours, by the name they were asked for."""

    seen: dict[str, frozenset[str]] = field(default_factory=dict)
    """By column that rows were chosen by: the values of all rows of the file, an empty text where there is nothing."""

    unknown: tuple[str, ...] = ()
    """Columns of the file that are none of ours."""

    rows_read: int = 0
    """Rows of the file, those left out included."""

    places: tuple[str, ...] | None = None
    """Where each row stands in its file, for messages; None: its number says it."""

    def locate(self, row: int, column: str) -> str:
        """Return file, row and column, for a message."""
        number = int(self.rows[row]) if self.rows is not None else row + self.first_row
        place = f"{self.row_word} {number}" if self.places is None else self.places[row]
        return f"{self.name}, {place}, column {self.score_name if column == 'score' else column}"


@dataclass(slots=True)
class FaultList:
    """Collects faults: the first of every kind are kept, the rest are counted."""

    faults: list[Fault] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    more: int = 0

    def add(self, fault: Fault) -> None:
        """Keep *fault* if there is room for its kind, else count it."""
        self.kinds[fault.code] += 1
        # One kind of fault in a million rows must not hide the others.
        if self.kinds[fault.code] <= LISTED:
            self.faults.append(fault)
        else:
            self.more += 1

    def count(self, unlisted: int) -> None:
        """Count faults that were not made out one by one."""
        self.more += unlisted

    def all(self, *, where: str) -> list[Fault]:
        """Return `LISTED` faults, at least one of each kind, and one that says how many more there are."""
        order = sorted(range(len(self.faults)), key=self._rank)
        shown = [self.faults[place] for place in sorted(order[: max(LISTED, len(self.kinds))])]
        more = self.more + len(self.faults) - len(shown)
        if not more:
            return shown
        return [*shown, Fault("more-faults", where, f"and {more} more faults like these")]

    def _rank(self, place: int) -> tuple[bool, int]:
        """The first of each kind before all others."""
        code = self.faults[place].code
        return any(earlier.code == code for earlier in self.faults[:place]), place


def merge_columns(columns: Sequence[tuple[RawColumn | None, int]]) -> TextColumn:
    """Return one column of all files, each given with its number of rows: codes in the sorted order of the texts that are used."""
    used: set[str] = set()
    for column, _ in columns:
        if column is not None:
            present = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels)) > 0
            used.update(label for label, is_used in zip(column.labels, present.tolist(), strict=True) if is_used)
    # Sorted and only those in use: the result depends on the content of the rows and not on the order of files or on
    # rows left out.
    labels = tuple(sorted(used))
    place = {label: code for code, label in enumerate(labels)}
    pieces = []
    for column, rows in columns:
        if column is None:
            pieces.append(np.full(rows, -1, dtype=np.int32))
            continue
        # The last entry answers code −1, which means an empty field.
        codes = np.array([*(place.get(label, -1) for label in column.labels), -1], dtype=np.int32)
        pieces.append(codes[column.codes])
    return TextColumn(codes=np.concatenate(pieces), labels=labels)


# Columns of a score table, and faults of the header.

IDS = ("task_id", "arm", "context_id", "sample")
KEYS = ("spec", "cue_removed", "judge", "judge_repeat")
"""Optional columns that tell responses apart, beside `IDS`."""

OPTIONAL = (*KEYS, "excluded_reason", "weight", "family", "template", "truncated", "settled", "refused", "stop_reason")
SYNONYMS = {"side": "arm"}
COLUMNS = (*IDS, "score", *OPTIONAL)

MOST_COLUMNS = 10_000
"""Columns that a table may have: each costs memory and time before one row is read."""
LONGEST_HEADER = 1_000_000
"""Characters that a header may have."""

_MEANT = {
    "task": "task_id",
    "item_id": "task_id",
    "context": "context_id",
    "sample_id": "sample",
    "value": "score",
    "specification": "spec",
    "cue": "cue_removed",
    "ablated": "cue_removed",
    "judge_run": "judge_repeat",
    "weights": "weight",
    "task_weight": "weight",
    "task_family": "family",
    "families": "family",
    "context_template": "template",
    "templates": "template",
    "excluded": "excluded_reason",
    "exclusion": "excluded_reason",
    "exclusion_reason": "excluded_reason",
    "is_truncated": "truncated",
    "was_truncated": "truncated",
    "is_refused": "refused",
    "was_refused": "refused",
    "finish_reason": "stop_reason",
}
"""Names that people give to columns of ours and that spelling alone would not find."""


def find_columns(names: Sequence[str], selection: ColumnSelection, *, where: str) -> tuple[dict[str, str], list[Fault]]:
    """Return, by our name, the name each column of ours has in the file; and every fault of the header.

    Columns we do not know are excluded, unless they look like one of ours that is absent. The column of scores is the one that
    *selection* names.
    """
    faults = [
        Fault("duplicate-column", f"{where}, column {name}", f"the column occurs {count} times")
        for name, count in Counter(names).items()
        if count > 1 and (name in COLUMNS or name in SYNONYMS or name in selection.names or name == selection.score)
    ]
    faults.extend(find_unknown(selection, names, where=where))
    columns = {name: name for name in COLUMNS if name in names} | {"score": selection.score}
    if selection.score not in names:
        del columns["score"]
    for synonym, name in SYNONYMS.items():
        if synonym in names and name in columns:
            both = f"both {name} and {synonym} are there; they are two words for one column"
            faults.append(Fault("duplicate-column", f"{where}, columns {name} and {synonym}", both))
        elif synonym in names:
            columns[name] = synonym
    return columns, [*faults, *_find_absent(names, columns, selection, where=where)]


def _find_absent(names: Sequence[str], columns: dict[str, str], selection: ColumnSelection, *, where: str) -> Iterable[Fault]:
    selection_names = {find_named(name, names) for name in selection.names}
    spare = [name for name in list_unknown(names, columns) if name not in selection_names]
    for name in COLUMNS:
        # A column of scores with its own name was checked above.
        if name in columns or (name == "score" and selection.score != "score"):
            continue
        meant = _find_meant(name, spare)
        if name not in OPTIONAL:
            there = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
            known = f"the column is missing; the columns are: {there or 'none'}"
            advice = f"did you mean {meant!r}? rename it to {name}" if meant else _advise_columns(names, name)
            yield Fault("column-missing", f"{where}, column {name}", known, advice=advice)
        # An optional column with a misspelt name would be ignored without a message, and the analysis would differ from
        # what its author expects.
        elif meant:
            unread = f"the column {meant!r} would not be read"
            yield Fault("column-typo", f"{where}, column {meant}", unread, advice=f"did you mean {name}? rename it")


def list_unknown(names: Sequence[str], columns: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that are none of ours, in the order of the file."""
    return tuple(name for name in dict.fromkeys(names) if name not in columns.values() and name not in SYNONYMS and name != "score")


def _find_meant(name: str, spare: Sequence[str]) -> str | None:
    """Return the spare column that was probably meant to be *name*."""
    plain = {candidate.strip().lower().replace(" ", "_").replace("-", "_"): candidate for candidate in spare}
    for written, candidate in plain.items():
        if written == name or _MEANT.get(written) == name or SYNONYMS.get(written) == name:
            return candidate
    # Not a suggestion: a file is refused for it, so what counts is the similarity of the whole word (`right` is no `weight`).
    close = difflib.get_close_matches(name, list(plain), n=1, cutoff=0.8)
    return plain[close[0]] if close else None


def _advise_columns(names: Sequence[str], name: str) -> str:
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        return "separate columns by commas"
    return f"add the column {name}" + (" (or side)" if name == "arm" else "")


def build_too_wide(where: str, text: str) -> Fault:
    """Return the fault of a table with more columns, or a longer header, than is read."""
    return Fault("table-too-wide", where, text, advice=f"keep the columns that are needed; at most {MOST_COLUMNS:,} are read")


# Truncated and refused responses: as columns state them, else by the stop reason of the endpoint. An unknown reason
# means unknown and not "no".

FLAGS = ("truncated", "settled", "refused")
"""Columns that say yes or no."""

_WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_CUT = frozenset({"max_tokens", "model_context_window_exceeded", "length", "model_length", "max_output_tokens"})
_REFUSED = frozenset({"refusal", "content_filter", "safety"})
_ENDED = frozenset({"end_turn", "stop", "stop_sequence", "eos", "tool_use", "tool_calls", "function_call"})
"""Reasons as the Messages API, OpenAI's API and Inspect name them; of any other nothing is known."""

StopCodes = npt.NDArray[np.int8]
_UNKNOWN = -1


def read_stops(
    tables: Sequence[RawTable], columns: Mapping[str, TextColumn], faults: FaultList
) -> tuple[TextColumn | None, TextColumn | None]:
    """Return which responses were truncated (no, settled, yes) and which refused (no, yes), row for row; None where no row says it.

    An entry that is neither yes nor no, and a column `settled` without one that says what was truncated, are added to *faults*.
    """
    for name in FLAGS:
        _check_words(tables, name, faults)
    by_reason = _read_reasons(columns["stop_reason"])
    truncated, settled, refused = (_read_flag(columns[name]) for name in FLAGS)
    # A stated flag wins over the stop reason.
    cut = np.where(truncated == _UNKNOWN, by_reason[0], truncated)
    if (settled != _UNKNOWN).any() and (cut == _UNKNOWN).all():
        problem = "the column is there, and nothing says which responses were truncated"
        where = f"{', '.join(table.name for table in tables[:3])}, column settled"
        faults.add(Fault("settled-without-truncated", where, problem))
    labels = (NO, SETTLED, YES)
    three = np.where(cut == 1, np.where(settled == 1, 1, 2), cut)
    declined = np.where(refused == _UNKNOWN, by_reason[1], refused)
    return _build(three, labels), _build(declined, (NO, YES))


def _build(codes: npt.NDArray[np.generic], labels: tuple[str, ...]) -> TextColumn | None:
    full = TextColumn(codes=codes.astype(np.int32), labels=labels)
    used = full.keep(np.ones(len(codes), dtype=bool))
    return used if used.labels else None


def _read_flag(column: TextColumn) -> StopCodes:
    """Return 1 for yes, 0 for no, −1 for what says neither."""
    known = np.array([*(_WORDS.get(label.strip().casefold(), _UNKNOWN) for label in column.labels), _UNKNOWN], dtype=np.int8)
    return known[column.codes]


def _read_reasons(column: TextColumn) -> tuple[StopCodes, StopCodes]:
    """Return by row whether a response was truncated, and whether it was refused."""
    words = [label.strip().casefold() for label in column.labels]
    cut = [int(word in _CUT) if word in _CUT | _REFUSED | _ENDED else _UNKNOWN for word in words]
    refused = [int(word in _REFUSED) if word in _CUT | _REFUSED | _ENDED else _UNKNOWN for word in words]
    return np.array([*cut, _UNKNOWN], dtype=np.int8)[column.codes], np.array([*refused, _UNKNOWN], dtype=np.int8)[column.codes]


def _check_words(tables: Sequence[RawTable], name: str, faults: FaultList) -> None:
    for table in tables:
        rows = list(_find_strange(table, name))
        column = table.columns.get(name)
        for row in rows[:LISTED]:
            problem = f"expected yes or no, found {column.labels[column.codes[row]][:40]!r}" if column else ""
            where = table.locate(row, name)
            faults.add(Fault("bad-flag", where, problem, advice="write yes or no, or leave it empty"))
        faults.count(max(0, len(rows) - LISTED))


def _find_strange(table: RawTable, name: str) -> Iterator[int]:
    column = table.columns.get(name)
    if column is not None:
        strange = np.array([*(label.strip().casefold() not in _WORDS for label in column.labels), False], dtype=bool)
        yield from np.flatnonzero(strange[column.codes]).tolist()


# Repeated keys are refused: two rows with one key would count one response twice. If an unknown column separates them,
# the message names it, since the file then holds several evaluations.

Keys = npt.NDArray[np.int64]
Read = Callable[[tuple[str, ...]], Sequence[RawTable]]
"""Reads the files once more, with the columns named."""

Telling = list[tuple[str, tuple[str, ...]]]
"""Columns with their values."""

_MOST_VALUES = 100
"""A column with more values than this numbers responses rather than kinds of them, and no one would choose rows by it."""


def check_keys(tables: Sequence[RawTable], columns: Mapping[str, TextColumn], faults: FaultList, *, read: Read) -> None:
    """Add a fault for each row with the task, arm, context, sample and other `KEYS` of an earlier one."""
    key = number_keys([columns[name] for name in (*IDS, *KEYS)])
    # Rows without an identifier are faults of their own and would all repeat each other.
    complete = np.flatnonzero(np.all([columns[name].codes >= 0 for name in IDS], axis=0))
    ordered = np.sort(key[complete])
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(repeated):
        return
    telling = find_telling(tables, key[complete], complete, read)
    advice = _advise_keys(telling)
    # One remedy holds for all rows, so a few examples are enough.
    most = 3 if telling else LISTED
    extra = int(np.count_nonzero(ordered[1:] == ordered[:-1]))
    listed = 0
    for value in repeated[:most].tolist():
        rows = complete[key[complete] == value]
        for row in rows[1:][: most - listed].tolist():
            listed += 1
            faults.add(_describe_repeated(tables, columns, (int(rows[0]), row), advice))
    faults.count(extra - listed)


def number_keys(columns: Sequence[TextColumn]) -> Keys:
    """Return a number for each row, the same exactly where the entries of all *columns* are."""
    key = np.zeros(len(columns[0].codes), dtype=np.int64)
    size = 1
    for column in columns:
        width = len(column.labels) + 1
        if size * width >= 2**62:
            # The product of all columns no longer fits 64 bits, so only the combinations that occur are numbered.
            _, key = np.unique(key, return_inverse=True)
            size = len(key)
        key = key * width + (column.codes + 1)
        size *= width
    return key


def find_telling(tables: Sequence[RawTable], key: Keys, rows: npt.NDArray[np.intp], read: Read) -> Telling:
    """Return the fewest columns, with their values, that together distinguish rows of one key; none if none do.

    Columns are added one by one, each time the one that leaves most keys apart (of equals, the one with fewer values).
    """
    unknown = [name for name in tables[0].unknown if all(name in table.unknown for table in tables)]
    try:
        again = read(tuple(unknown)) if unknown else ()
    except TableError:
        return []
    columns = {name: merge_columns([(table.extras[name], len(table.score)) for table in again]) for name in unknown}
    left = {name: column.keep(rows) for name, column in columns.items() if 1 < len(column.labels) <= _MOST_VALUES}
    chosen: Telling = []
    _, numbers = np.unique(key, return_inverse=True)
    apart = int(numbers.max()) + 1
    while apart < len(rows) and left:
        split = {
            name: np.unique(numbers * (len(column.labels) + 1) + column.codes + 1, return_inverse=True) for name, column in left.items()
        }
        # Greedy: the fewest columns would need a search over all subsets.
        best = max(left, key=lambda name: (len(split[name][0]), -len(left[name].labels)))
        if len(split[best][0]) == apart:
            break
        apart, numbers = len(split[best][0]), split[best][1]
        chosen.append((best, left.pop(best).labels))
    return chosen if apart == len(rows) else []


KINDS = ("model", "property", "metric")
"""Columns that say what a score is of. A claim is about one model and one property."""


def check_kinds(tables: Sequence[RawTable], selection: ColumnSelection, *, read: Read) -> None:
    """Refuse tables with rows of several models or properties; a column that the user chose rows by may have several values.

    Raises:
        TableError: with a fault for each such column.
    """
    names = tuple(name for name in KINDS if name not in selection.where and all(name in table.unknown for table in tables))
    again = read(names) if names else ()
    values = {name: sorted(frozenset[str]().union(*(table.extras[name].list_values() for table in again)) - {""}) for name in names}
    where = ", ".join(table.name for table in tables[:3])
    if faults := [fault for name in names if (fault := build_several_kinds(where, name, values[name]))]:
        raise TableError(faults)


def build_several_kinds(where: str, name: str, values: Sequence[str]) -> Fault | None:
    """Return a fault if *values*, those of the column *name* in `KINDS`, are several; else None."""
    if len(values) < 2:
        return None
    problem = f"the rows have {len(values)} values: {_list(values)}; one rate over all of them supports no claim"
    return Fault("choice-needed", f"{where}, column {name}", problem, advice=f"choose one with --where {quote(f'{name}={values[0]}')}")


def _advise_keys(telling: Telling) -> str:
    if not telling:
        return "give each response its own sample, or remove one"
    chosen = " ".join(f"--where {name}=…" for name, _ in telling)
    values = "; ".join(f"{name} is {', '.join(values[:5])}{' …' if len(values) > 5 else ''}" for name, values in telling)
    return f"rows differ in {', '.join(name for name, _ in telling)}: keep one with {chosen} ({values})"


def _describe_repeated(tables: Sequence[RawTable], columns: Mapping[str, TextColumn], rows: tuple[int, int], advice: str) -> Fault:
    first, row = rows
    names = [name for name in (*IDS, *KEYS) if columns[name].codes[row] >= 0]
    key = ", ".join(f"{name} {columns[name].labels[columns[name].codes[row]]!r}" for name in names)
    return Fault("duplicate-row", _locate(tables, row), f"the key ({key}) is already in {_locate(tables, first)}", advice=advice)


def _locate(tables: Sequence[RawTable], row: int) -> str:
    """File and row of a row of the whole table."""
    for table in tables:
        if row < len(table.score):
            return table.locate(row, "task_id").removesuffix(", column task_id")
        row -= len(table.score)
    raise ValueError(f"row {row} lies beyond the table")


# A column of another program may say that a response failed, whatever its score is. A failure that counts as 0 would keep any upper limit.

_FAILED = re.compile(
    r"(?:^|[\W_])(?:errors?|errored|failed|failures?|invalid|un(?:parsed|parse?able|scored)|timed?_?out|exceptions?)(?:$|[\W_])",
    re.IGNORECASE,
)
"""A column that says which responses have no answer to score."""
_STATUS = re.compile(r"(?:^|[\W_])status(?:_?code)?(?:$|[\W_])", re.IGNORECASE)
"""A column that may say so by one of several words, or by a code of HTTP."""
_HTTP_ERROR = re.compile(r"[45][0-9]{2}")
_UNMARKED = frozenset({"", "0", "false", "no", "n", "none", "null", "nan", "n/a", "na", "-", "–", "—", "ok", "success"})
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def is_mark(column: str) -> bool:
    """Whether *column* may say by its name that responses failed."""
    return bool(_FAILED.search(column) or _STATUS.search(column))


def describe_marks(column: str, texts: Sequence[str | None]) -> str | None:
    """Return how many of *texts*, those of *column* in scored rows, mark a failed response; None where none does."""
    known = [(text or "").strip().casefold() for text in texts]
    if _FAILED.search(column):
        marked = [text for text in known if text not in _UNMARKED]
        # Another number than 1 is a measure, such as an absolute error.
        marked = [] if any(_NUMBER.fullmatch(text) and text != "1" for text in marked) else marked
    else:
        marked = [text for text in known if _FAILED.search(text) or _HTTP_ERROR.fullmatch(text)]
    if not marked:
        return None
    return f"{len(marked):,} of {len(known):,} scored rows are marked in the column {column}"
