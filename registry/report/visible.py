"""Text from cards, models and judges made visible: nothing hidden, reversed or missing reaches a reader unnoticed."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_HIDDEN_OTHERS = frozenset("\u2028\u2029\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u2800" + "".join(map(chr, range(0xFE00, 0xFE10))))
_WHITE_SPACE = frozenset("\t\n\r\x0b\x0c ")
_LONGEST_SPELLED_OUT = 3

Covers = Callable[[str], bool]


def show_text(text: str, *, covers: Covers | None = None) -> str:
    """Return *text* with everything invisible written as `[U+202E]`: controls, direction overrides, zero-width and unassigned characters.

    Args:
        covers: says whether the fonts at hand have a character; those they lack are written out too, a run of more than
            three as one bracket with its length. None means that the reader's own fonts will do.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_show_runs(text, covers))


def find_replaced(document: Any, *, covers: Covers) -> Mapping[str, int]:
    """Return how often each visible character that *covers* lacks stands in the texts of *document*, by `U+…`, ascending."""
    counts: Counter[str] = Counter()
    for text in _find_texts(document):
        if not text.isascii():
            counts.update(character for character in text if not is_hidden(character) and not _is_covered(character, covers))
    return {_name(character): counts[character] for character in sorted(counts)}


def is_hidden(character: str) -> bool:
    """Whether *character* would leave no mark, or would change how others are shown; white space does not count."""
    if character in _WHITE_SPACE:
        return False
    return character in _HIDDEN_OTHERS or unicodedata.category(character) in _HIDDEN_CATEGORIES


def _is_covered(character: str, covers: Covers | None) -> bool:
    return covers is None or character in _WHITE_SPACE or covers(character)


def _show_runs(text: str, covers: Covers | None) -> Iterator[str]:
    lacking: list[str] = []
    for character in text:
        if is_hidden(character):
            yield from _close(lacking)
            yield f"[{_name(character)}]"
        elif (character == " " and lacking) or not _is_covered(character, covers):
            lacking.append(character)
        else:
            yield from _close(lacking)
            yield " " if character in _WHITE_SPACE else character
    yield from _close(lacking)


def _close(lacking: list[str]) -> Iterator[str]:
    """Yield the bracket for the characters collected, and forget them; spaces at their end stay spaces."""
    if not lacking:
        return
    run = "".join(lacking)
    seen = run.rstrip(" ")
    tail = run[len(seen) :]
    names = [_name(character) for character in seen if character != " "]
    lacking.clear()
    if len(names) > _LONGEST_SPELLED_OUT:
        yield f"[{names[0]} … {names[-1]}, {len(names)} characters not in the fonts]{tail}"
    else:
        yield f"[{' '.join(names)}]{tail}"


def _name(character: str) -> str:
    return f"U+{ord(character):04X}"


def _find_texts(document: Any) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, Mapping):
        for value in document.values():
            yield from _find_texts(value)
    elif isinstance(document, Sequence):
        for value in document:
            yield from _find_texts(value)
