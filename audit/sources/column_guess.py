"""Which column of a person's own table probably has which role, by its name and its values; a person confirms it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from audit.sources.own_table import REQUIRED, ROLES, WIDE, read_cell
from audit.sources.sheet_files import Cell, Sheet, as_text

# A wrong column gives a wrong verdict, and exchanged arms turn its sign. So a guess is shown and confirmed, and where several columns fit
# equally it says so. Values can refuse a column that its name suggests.

_NAMES: Mapping[str, tuple[str, ...]] = {
    "score": ("score", "passed", "pass", "correct", "is_correct", "success", "result", "outcome", "grade", "accuracy", "value", "rating"),
    "arm": ("arm", "side", "condition", "cond", "group", "setting", "framing", "environment", "mode", "phase", "variant"),
    "task": ("task_id", "task", "prompt_id", "item_id", "question_id", "example_id", "item", "question", "problem", "prompt", "id"),
    "context": ("context_id", "context", "scenario", "system_prompt", "wrapper", "cue"),
    "sample": ("sample", "sample_id", "repeat", "repetition", "rep", "epoch", "trial", "attempt", "run", "iteration", "seed"),
    "model": ("model_returned", "model", "model_name", "model_id"),
    "family": ("family", "task_family"),
    "spec": ("spec", "specification"),
    "template": ("template", "context_template"),
    "judge": ("judge", "grader"),
    "weight": ("weight", "task_weight"),
    "started_at": ("started_at", "timestamp", "created_at"),
    "reason": ("excluded_reason", "exclusion_reason", "reason"),
    "stop_reason": ("stop_reason", "finish_reason"),
}
"""By role, names of columns, the most telling first."""

_TEST = re.compile(r"test|eval|exam|bench|lab\b", re.IGNORECASE)
_DEPLOY = re.compile(r"deploy|prod|real|live|user|customer|traffic|field", re.IGNORECASE)
_SIDES = {
    f"{WIDE}test": frozenset({"test", "eval", "evaluation", "exam", "bench", "benchmark"}),
    f"{WIDE}deploy": frozenset({"deploy", "deployed", "deployment", "prod", "production", "real", "live", "field"}),
}
"""By role of a column with the scores of one arm, words of its name."""
_PAIR = frozenset({"pair", "pairs", "paired", "match", "matched"})
"""Words in the name of a column that says which rows are the two halves of one pair."""
_MOST_ARMS = 8
_SAMPLE = 5_000
"""Rows that are looked at."""
_EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnGuess:
    """One column, and what it probably is."""

    column: str
    role: str | None
    why: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableGuess:
    """What is guessed of a table."""

    columns: tuple[ColumnGuess, ...]
    arms: Mapping[str, str]
    """By value of the column of arms, the arm it probably is; values that say neither have none."""
    arm_values: tuple[str, ...]
    """All values of the column of arms; empty without one."""
    has_arm: bool
    """Whether the arm was given for the whole table."""

    @property
    def mapping(self) -> dict[str, str]:
        """By role, the column."""
        by_role = {guess.role: guess.column for guess in self.columns if guess.role is not None}
        return {role: by_role[role] for role in (*ROLES, *_SIDES) if role in by_role}

    @property
    def missing(self) -> tuple[str, ...]:
        """Roles that every table needs and no column seems to have."""
        known = {*self.mapping, *(("arm", "score") if self.is_wide else ("arm",) if self.has_arm else ())}
        return tuple(role for role in REQUIRED if role not in known)

    @property
    def is_wide(self) -> bool:
        """Whether each arm seems to have a column of scores."""
        return any(guess.role in _SIDES for guess in self.columns)

    @property
    def is_complete(self) -> bool:
        """Whether every needed role has a column, and the two arms are distinguished."""
        sides = {self.arms.get(value, value) for value in self.arm_values}
        return not self.missing and (self.has_arm or self.is_wide or {"test", "deploy"} <= sides)


def guess_columns(sheet: Sheet, *, has_arm: bool) -> TableGuess:
    """Return the probable role of each column of *sheet*.

    Args:
        sheet: the table.
        has_arm: whether the arm is given for the whole table, so that no column is looked for.
    """
    names = [name for name, count in Counter(sheet.columns).items() if name and count == 1]
    values = {name: [as_text(row[sheet.find(name)]) for row in sheet.rows[:_SAMPLE]] for name in names}
    chosen: dict[str, tuple[str, str]] = {}
    for role in _NAMES:
        if has_arm and role == "arm":
            continue
        free = [name for name in names if name not in {column for column, _ in chosen.values()}]
        if choice := _choose(role, free, values, sheet):
            chosen[role] = choice
    if not has_arm and "arm" not in chosen and (sides := _find_sides(names, values, sheet)):
        chosen.pop("score", None)
        chosen = {role: choice for role, choice in chosen.items() if choice[0] not in sides.values()}
        chosen |= {role: (column, "its name") for role, column in sides.items()}
    if pairs := _find_pairs(names, values, chosen):
        chosen["task"] = (pairs, "its values are in both arms")
    by_column = {column: (role, why) for role, (column, why) in chosen.items()}
    guesses = [
        ColumnGuess(column=name, role=role, why=why, examples=_find_examples(values[name]))
        for name in names
        for role, why in [by_column.get(name, (None, "not read"))]
    ]
    there = sheet.list_texts(chosen["arm"][0]) if "arm" in chosen else ()
    return TableGuess(columns=tuple(guesses), arms=guess_arms(there), arm_values=there, has_arm=has_arm)


def advise_mapping(sheet: Sheet, roles: Mapping[str, str], *, has_arm: bool) -> str:
    """Return how to say the columns of *sheet*: those of *roles*, else the guess, else a word in capitals to be replaced."""
    guess = guess_columns(sheet, has_arm=has_arm)
    mapping = {**dict.fromkeys(guess.missing, "COLUMN"), **guess.mapping, **roles}
    arms = {arm: value for value, arm in guess.arms.items()}
    if sheet.kind == "frame":
        return f"if the guess is right: columns={mapping!r}" + (f", arms={arms!r}" if arms else "")
    return f"if the guess is right: --map {quote(join_pairs(mapping.items()))}" + (
        f" --arms {quote(join_pairs(arms.items()))}" if arms else ""
    )


def join_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """Return *pairs* as the options `--map` and `--arms` take them."""
    return ",".join(f'"{text}"' if "," in text else text for text in (f"{name}={value}" for name, value in pairs))


def guess_arms(values: Iterable[str]) -> dict[str, str]:
    """Return by value the arm it says, for values that say one of the two and are not called so already."""
    matches = {value: (bool(_TEST.search(value)), bool(_DEPLOY.search(value))) for value in values}
    # "test in production" says both, and so neither.
    arms = {value: "test" if is_test else "deploy" for value, (is_test, is_deploy) in matches.items() if is_test != is_deploy}
    return {} if {"test", "deploy"} <= set(matches) else arms


def _choose(role: str, names: Sequence[str], values: Mapping[str, Sequence[str | None]], sheet: Sheet) -> tuple[str, str] | None:
    """Return the column that probably has *role*, and why; None where none has."""
    fits = _FITS.get(role)
    fitting = [name for name in names if fits is None or fits(values[name], [row[sheet.find(name)] for row in sheet.rows[:_SAMPLE]], sheet)]
    ranked = sorted((rank, name) for name in fitting if (rank := _rank_name(role, name)) is not None)
    if ranked:
        rivals = [name for rank, name in ranked[1:] if rank[0] == ranked[0][0][0]]
        return ranked[0][1], "its name" + (f"; or {', '.join(rivals[:2])}?" if rivals else "")
    if role == "arm":
        telling = [name for name in fitting if len(set(guess_arms(filter(None, values[name])).values())) == 2]
        return (telling[0], "its values") if len(telling) == 1 else None
    if role == "score":
        words = [name for name in fitting if all(read_cell(cell)[0] in {"words", "missing"} for cell in values[name])]
        return (words[0], "its values") if len(words) == 1 else None
    return None


def _find_pairs(names: Sequence[str], values: Mapping[str, Sequence[str | None]], chosen: Mapping[str, tuple[str, str]]) -> str | None:
    """Return the column that says which rows are the two halves of a pair, where each half has an identifier of its own.

    With the identifiers as tasks, no task would be in both arms, and the estimate would lose the pairs.
    """
    if "arm" not in chosen or "task" not in chosen:
        return None

    def count_shared(column: str) -> int:
        arms: dict[str | None, set[str | None]] = {}
        for value, arm in zip(values[column], values[chosen["arm"][0]], strict=True):
            arms.setdefault(value, set()).add(arm)
        return sum(value is not None and len(found) > 1 for value, found in arms.items())

    free = [name for name in names if name not in {column for column, _ in chosen.values()} and _PAIR & set(_plain(name).split("_"))]
    shared = [name for name in free if count_shared(name) > 1]
    return shared[0] if len(shared) == 1 and not count_shared(chosen["task"][0]) else None


def _find_sides(names: Sequence[str], values: Mapping[str, Sequence[str | None]], sheet: Sheet) -> dict[str, str]:
    """Return the one column of scores whose name says each side, by role; empty where a side has none, or several."""
    by_role: dict[str, list[str]] = {}
    for name in names:
        said = [role for role, words in _SIDES.items() if words & set(_plain(name).split("_"))]
        if len(said) == 1 and _fits_score(values[name], [row[sheet.find(name)] for row in sheet.rows[:_SAMPLE]], sheet):
            by_role.setdefault(said[0], []).append(name)
    found = {role: columns[0] for role in _SIDES if len(columns := by_role.get(role, [])) == 1}
    return found if len(found) == len(_SIDES) else {}


def _plain(name: str) -> str:
    """Return *name* in small letters with underscores between its words."""
    return re.sub(r"[^0-9a-z]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()).strip("_")


def _rank_name(role: str, name: str) -> tuple[int, int] | None:
    """Return how well a name says a role, smaller being better; None where it does not."""
    plain = _plain(name)
    for place, known in enumerate(_NAMES[role]):
        if plain == known:
            return 0, place
    tokens = plain.split("_")
    return min(((1, place) for place, known in enumerate(_NAMES[role]) if known in tokens), default=None)


def _find_examples(values: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value is not None))[:_EXAMPLES]


# Values that a role allows.

_Fit = Callable[[Sequence[str | None], Sequence[Cell], Sheet], bool]


def _fits_score(_texts: Sequence[str | None], cells: Sequence[Cell], sheet: Sheet) -> bool:
    kinds = Counter(read_cell(cell, has_comma=sheet.has_decimal_comma)[0] for cell in cells)
    # A few strange words are a fault of the table, which is reported in full later.
    return kinds["unknown"] * 10 <= len(cells) and kinds["missing"] < len(cells)


def _fits_arm(texts: Sequence[str | None], _cells: Sequence[Cell], _sheet: Sheet) -> bool:
    return None not in texts and len(set(texts)) <= _MOST_ARMS


def _fits_task(texts: Sequence[str | None], _cells: Sequence[Cell], _sheet: Sheet) -> bool:
    return None not in texts and len(set(texts)) > 1


def _fits_context(texts: Sequence[str | None], _cells: Sequence[Cell], _sheet: Sheet) -> bool:
    return None not in texts and len(set(texts)) * 2 <= len(texts)


def _fits_id(texts: Sequence[str | None], _cells: Sequence[Cell], _sheet: Sheet) -> bool:
    return None not in texts


_FITS: Mapping[str, _Fit] = {
    "score": _fits_score,
    "arm": _fits_arm,
    "task": _fits_task,
    "context": _fits_context,
    "sample": _fits_id,
}
