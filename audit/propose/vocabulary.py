"""Vocabularies of the rules: tables of phrases, one file each, compiled once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

# A phrase is plain words, so that a person can read and extend a table without knowing regular expressions. Capitals
# count where a phrase has one ("High threshold"), since frameworks name their levels so.

_GAP = r"(?:[\w’'/%,.&-]{1,30}\s){0,4}?"


@dataclass(frozen=True, slots=True)
class VocabularyRow:
    """One row of a table, with its phrases compiled."""

    fields: tuple[str, ...]
    """The columns before the phrases."""
    pattern: re.Pattern[str]
    stems: tuple[str, ...] = ()
    """Beginnings of its phrases in lower case: without one of them nothing fits, and looking for them is much cheaper."""

    def find(self, words: str, folded: str) -> Iterator[re.Match[str]]:
        """Give the matches in *words*, whose lower case is *folded*."""
        if any(stem in folded for stem in self.stems):
            yield from self.pattern.finditer(words)

    @property
    def name(self) -> str:
        """The first column."""
        return self.fields[0]


@cache
def read_vocabulary(name: str) -> tuple[VocabularyRow, ...]:
    """Return the rows of the table *name*, in its order."""
    return tuple(
        VocabularyRow(
            tuple(fields),
            re.compile("|".join(map(_compile, sorted(phrases.split("|"), key=len, reverse=True)))),
            tuple({phrase.split()[0].rstrip("*").lower() for phrase in phrases.split("|")}),
        )
        for *fields, phrases in _read_lines(name)
    )


@cache
def read_words(name: str, row: str) -> tuple[str, ...]:
    """Return the phrases of one row as they are written, the longest first."""
    phrases = next(fields[-1] for fields in _read_lines(name) if fields[0] == row)
    return tuple(sorted(phrases.split("|"), key=lambda word: (-len(word), word)))


def _read_lines(name: str) -> list[list[str]]:
    text = files("audit.propose").joinpath("vocabulary", f"{name}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def _compile(phrase: str) -> str:
    """A phrase as an expression: bounded repeats only, so that hostile text cannot make a search exponential."""
    parts = []
    for word in phrase.split():
        if word == "…":
            parts.append(_GAP)
            continue
        stem = re.escape(word.rstrip("*")) + (r"[\w-]{0,20}" if word.endswith("*") else "")
        parts.append(f"{stem}[\\s-]")
    body = "".join(parts).removesuffix(r"[\s-]")
    flags = "" if any(character.isupper() for character in phrase) else "i"
    return rf"(?{flags}:(?<!\w){body}(?!\w))" if flags else rf"(?:(?<!\w){body}(?!\w))"


@cache
def read_expressions(name: str) -> tuple[VocabularyRow, ...]:
    """Return the rows of a table whose last column is an expression and the one before, where it is "c", says that case counts."""
    macros = {fields[0]: fields[1] for fields in _read_lines("macros")}
    rows = []
    for *fields, written in _read_lines(name):
        expression = written
        while "<<" in expression:
            expression = re.sub(r"<<(\w+)>>", lambda match: macros[match[1]], expression)
        rows.append(VocabularyRow(tuple(fields), re.compile(expression, 0 if fields[-1] == "c" else re.IGNORECASE)))
    return tuple(rows)


@cache
def read_expression(name: str) -> re.Pattern[str]:
    """Return the alternatives of one name in the table of expressions, compiled as one."""
    rows = [fields for fields in _read_lines("expressions") if fields[0] == name]
    return re.compile("|".join(expression for *_, expression in rows), re.IGNORECASE if rows[0][1] == "i" else 0)


def join_expressions(name: str) -> re.Pattern[str]:
    """Return all expressions of a table as one, in the case as written."""
    return re.compile("|".join(row.pattern.pattern for row in read_expressions(name)))


def find_rows(name: str, words: str) -> list[tuple[VocabularyRow, re.Match[str]]]:
    """Return each row of the table *name* with its first match in *words*, in the order of the table."""
    folded = words.lower()
    return [(row, match) for row in read_vocabulary(name) if (match := next(row.find(words, folded), None))]


@lru_cache(maxsize=8192)
def has_word(name: str, row: str, words: str) -> bool:
    """Return whether *words* have a phrase of one row."""
    entry = next(entry for entry in read_vocabulary(name) if entry.name == row)
    return next(entry.find(words, words.lower()), None) is not None
