"""Which of many texts hardly differ from each other."""

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

MOST = 1_000
"""More texts than this are not compared: the time grows with the square of their number."""
ALIKE = 90.0
"""`rapidfuzz.fuzz.ratio` (normalised indel similarity, 0 to 100) from which two texts count as near-duplicates."""
_COMPARED = 1_000
"""Characters of each text that are compared, beyond what all texts begin or end with."""
_LIKELIEST = 20_000
"""Pairs that are compared letter by letter: those that share most groups of letters."""
_GROUP, _BUCKETS, _SHARED = 3, 4_096, 0.4
"""Texts of one length that are 90 % alike share at least 0.4 of their groups of three letters: an edit changes three (q-gram lemma,
E. Ukkonen, Theoretical Computer Science 92 (1992) 191–211)."""
_NUMBER = re.compile(r"\d+")
_PUNCTUATION = ".,;:!?'\"`()[]{}…‘’“”«»„"


def find_alike(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of each two of the first `MOST` texts that are near-duplicates, the lower place first, in order.

    Letter case, white space, the value of numbers, and what all texts begin and end with do not count: texts that a template made with
    other numbers are alike, and different questions behind one instruction are not.
    """
    # Templates with other numbers are alike, and different questions behind one instruction are not, so both are
    # removed before comparing.
    plain = _strip_common([_NUMBER.sub("0", " ".join(text.split()).casefold()) for text in texts[:MOST]])
    return sorted(pair for pair in _find_likely(plain) if fuzz.ratio(plain[pair[0]], plain[pair[1]], score_cutoff=ALIKE))


def find_repeats(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the place of each text with the same words as an earlier one, after the place of the first of these, in order.

    Letter case, white space, and punctuation around words do not count; signs and numbers do.
    """
    first: dict[tuple[str, ...], int] = {}
    places = [(first.setdefault(_list_words(text), place), place) for place, text in enumerate(texts)]
    return [(earlier, place) for earlier, place in places if earlier != place]


def _list_words(text: str) -> tuple[str, ...]:
    # Punctuation inside of a word stays, so that 1.5 is not 15; signs such as + and - are no punctuation.
    words = (word.strip(_PUNCTUATION) for word in unicodedata.normalize("NFKC", text).casefold().split())
    return tuple(word for word in words if word)


def _strip_common(texts: list[str]) -> list[str]:
    """The texts without what all of them begin and end with, unless one of them would be left empty."""
    if len(texts) < 3:
        return [text[:_COMPARED] for text in texts]
    start = _count_common(texts)
    rest = [text[start:] for text in texts]
    end = _count_common([text[::-1] for text in rest])
    stripped = [text[: len(text) - end] for text in rest]
    return [text[:_COMPARED] for text in (stripped if all(stripped) else texts)]


def _count_common(texts: Sequence[str]) -> int:
    """How many characters all texts begin with; the first and the last in order share no more than any two."""
    first, last = min(texts), max(texts)
    return next((place for place, (name, other) in enumerate(zip(first, last, strict=False)) if name != other), len(first))


def _find_likely(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that share so many groups of letters that they can be alike, at most `_LIKELIEST`."""
    if len(texts) < 2:
        return
    marks = np.stack([_mark_groups(text) for text in texts])
    sizes = np.maximum(1.0, marks.sum(axis=1))
    shared = marks @ marks.T / np.maximum(sizes[:, None], sizes[None, :])
    first, second = np.nonzero(np.triu(shared >= _SHARED, k=1))
    # A stable sort, so that the same texts give the same pairs on every machine.
    order = np.argsort(-shared[first, second], kind="stable")[:_LIKELIEST]
    yield from zip(first[order].tolist(), second[order].tolist(), strict=True)


def _mark_groups(text: str) -> npt.NDArray[np.float32]:
    """Which groups of letters are in *text*, by their digests."""
    marks = np.zeros(_BUCKETS, dtype=np.float32)
    padded = f"  {text}  ".encode()
    for start in range(len(padded) - _GROUP + 1):
        marks[zlib.crc32(padded[start : start + _GROUP]) % _BUCKETS] = 1.0
    return marks
