"""The heads of a printed table, told apart where their number agrees with that of the cells below; never guessed."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"\S+")
_JOINS = frozenset(
    [
        "of",
        "the",
        "and",
        "&",
        "for",
        "with",
        "in",
        "on",
        "at",
        "by",
        "to",
        "a",
        "an",
        "per",
        "vs",
        "vs.",
        "w/",
        "w/o",
        "without",
        "/",
        "-",
        "–",
        ":",
        "or",
        "from",
        "using",
    ]
)
"""After these a column's head goes on, also with a capital."""
_LABELS = frozenset(
    [
        "model",
        "models",
        "evaluation",
        "evaluations",
        "category",
        "categories",
        "benchmark",
        "benchmarks",
        "task",
        "tasks",
        "context",
        "contexts",
        "metric",
        "metrics",
        "domain",
        "name",
        "dataset",
        "language",
        "setting",
        "settings",
        "method",
        "type",
        "eval",
        "evals",
        "test",
        "suite",
        "area",
        "topic",
        "capability",
        "version",
    ]
)
"""What stands above the first column."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The heads of a table."""

    label: str | None
    """Above the first column; None where nothing stands there."""
    names: tuple[str, ...]
    """Above the columns of figures, from left to right."""
    is_guessed: bool
    """Whether upper heads were spread over lower ones."""


def is_label(word: str) -> bool:
    """Return whether *word* is one that stands above a column of labels."""
    return word.lower() in _LABELS


def align_heads(lines: list[str], count: int) -> Columns | None:
    """Return the heads in *lines* for *count* columns of figures beside a column of labels; None if their number does not agree."""
    if not lines or count < 1:
        return None
    if count == 1:
        return _align_single(lines)
    for parts in (_split_words(lines), _split_at_capitals(lines), _split_at_lines(lines)):
        if parts is not None and len(parts) == count + 1:
            return Columns(parts[0], tuple(parts[1:]), is_guessed=False)
    for parts in (_split_words(lines), _split_at_capitals(lines)):
        if parts is not None and len(parts) == count and parts[0].lower() not in _LABELS:
            return Columns(None, tuple(parts), is_guessed=False)
    return _align_two_levels(_split_at_lines(lines), count)


def _align_single(lines: list[str]) -> Columns | None:
    words = " ".join(lines).split()
    if len(words) >= 2 and words[0].lower() in _LABELS:
        return Columns(words[0], (" ".join(words[1:]),), is_guessed=False)
    parts = _split_at_capitals(lines)
    return Columns(parts[0], (parts[1],), is_guessed=False) if len(parts) == 2 else None


def _split_words(lines: list[str]) -> list[str] | None:
    """Every word of a single line a head of its own."""
    return lines[0].split() if len(lines) == 1 else None


def _split_at_capitals(lines: list[str]) -> list[str]:
    """A head begins at every capital or figure that nothing before it calls for."""
    parts: list[list[str]] = []
    before = ""
    for line in lines:
        for found in _TOKEN.finditer(line):
            word = found[0]
            if not parts or ((word[0].isupper() or word[0].isdigit()) and before.lower() not in _JOINS):
                parts.append([word])
            else:
                parts[-1].append(word)
            before = word
    return [" ".join(part) for part in parts]


def _split_at_lines(lines: list[str]) -> list[str]:
    """A head begins at every line that begins with a capital; on the first line the label has one word if it is a known one."""
    parts: list[str] = []
    for line in lines:
        first, _, rest = line.partition(" ")
        if not parts:
            parts = [first, rest] if rest and first.lower() in _LABELS else [line]
        elif (line[0].isupper() or line[0].isdigit()) and parts[-1].rsplit(None, 1)[-1].lower() not in _JOINS:
            parts.append(line)
        else:
            parts[-1] = f"{parts[-1]} {line}"
    return parts


def _align_two_levels(parts: list[str], count: int) -> Columns | None:
    """The last *count* heads below upper ones that each stand over the same number of them."""
    label = parts[0] if parts[0].lower() in _LABELS else None
    names = parts[1:] if label else parts
    upper = len(names) - count
    if upper < 1 or count % upper or count == upper:
        return None
    width = count // upper
    return Columns(label, tuple(f"{names[index // width]} {names[upper + index]}" for index in range(count)), is_guessed=True)
