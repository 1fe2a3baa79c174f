"""What was taken out of a claim and what was put in, word by word.

Tokens are words (also such as `deployment-like` and `2.1-2026-09-30`), numbers with their sign, decimals and percent sign,
and single punctuation marks, each with the white space before it. Equal runs under three words between two edits are folded
into them, so that an edit reads as one thought; a claim of which less than half is kept is struck whole, because words that
happen to stand in both texts would say that something of it stands.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

_FEWEST_WORDS_KEPT = 3
_LEAST_SHARE_KEPT = 0.5
_MOST_MATCHES = 300_000
"""Pairs of equal tokens up to which two texts are compared token by token: sentences and paragraphs, not a chapter without a full stop."""
_TOKEN = re.compile(r"\s*(?:[-−+±]?\w+(?:[-.,:/'’]\w+)*(?:\s?%)?|[^\w\s])|\s+")
_WORD = re.compile(r"\w")


class Change(StrEnum):
    """What happened to a run of text."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A stretch of text with one fate."""

    change: Change
    text: str


def build_redline(original: str, restricted: str) -> tuple[Run, ...]:
    """Return the runs that lead from *original* to *restricted*.

    The kept and removed runs together are *original*, the kept and added ones are *restricted*, character for character.
    A number is never split: `0.05` becoming `0.25` is one edit.
    """
    before, after = _tokenise(original), _tokenise(restricted)
    blocks = [(equal, before[i:j], after[k:m]) for equal, i, j, k, m in _compare(before, after)]
    folded = list(_fold(blocks))
    if _count_kept(folded) < _LEAST_SHARE_KEPT * len(before):
        folded = [(False, before, after)]
    return tuple(_join(_build_runs(folded)))


def _tokenise(text: str) -> list[str]:
    return [match[0] for match in _TOKEN.finditer(text)]


def _compare(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Yield what is equal and what is not, in order; between the equal ends, texts too alike to be told apart in a second are one edit."""
    old, new = ([token.lstrip() for token in tokens] for tokens in (before, after))
    shortest = min(len(old), len(new))
    head = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    tail = next((at for at in range(shortest - head) if old[-1 - at] != new[-1 - at]), shortest - head)
    there = Counter(new[head : len(new) - tail])
    if sum(there[token] for token in old[head : len(old) - tail]) <= _MOST_MATCHES:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        yield from ((tag == "equal", i, j, k, m) for tag, i, j, k, m in matcher.get_opcodes())
        return
    ends = (len(old) - tail, len(new) - tail)
    yield from ((True, 0, head, 0, head), (False, head, ends[0], head, ends[1]), (True, ends[0], len(old), ends[1], len(new)))


def _fold(blocks: list[tuple[bool, list[str], list[str]]]) -> Iterable[tuple[bool, list[str], list[str]]]:
    """Give up equal runs of fewer than three words between two edits, and join the edits around them."""
    folded: list[tuple[bool, list[str], list[str]]] = []
    for position, (equal, before, after) in enumerate(blocks):
        between = 0 < position < len(blocks) - 1
        words = sum(bool(_WORD.search(token)) for token in before)
        keeps = equal and not (between and words < _FEWEST_WORDS_KEPT)
        if folded and not keeps and not folded[-1][0]:
            folded[-1] = (False, folded[-1][1] + before, folded[-1][2] + after)
        else:
            folded.append((keeps, list(before), list(after)))
    return folded


def _count_kept(blocks: Iterable[tuple[bool, list[str], list[str]]]) -> int:
    return sum(len(before) for equal, before, _ in blocks if equal)


def _build_runs(blocks: Iterable[tuple[bool, list[str], list[str]]]) -> Iterator[Run]:
    """Yield the runs; where equal words have different white space before them, that white space is an edit of its own."""
    for equal, before, after in blocks:
        if not equal:
            yield Run(change=Change.REMOVED, text="".join(before))
            yield Run(change=Change.ADDED, text="".join(after))
            continue
        for old, new in zip(before, after, strict=True):
            word = old.lstrip()
            if old != new:
                yield Run(change=Change.REMOVED, text=old.removesuffix(word))
                yield Run(change=Change.ADDED, text=new.removesuffix(word))
            yield Run(change=Change.KEPT, text=old if old == new else word)


def _join(runs: Iterable[Run]) -> Iterator[Run]:
    """Yield *runs* without empty ones and with neighbours of one fate together; between two kept runs, removals come first."""
    pending: dict[Change, list[str]] = {}
    for run in runs:
        if not run.text:
            continue
        if (run.change is Change.KEPT) != (Change.KEPT in pending) and pending:
            yield from _flush(pending)
        pending.setdefault(run.change, []).append(run.text)
    yield from _flush(pending)


def _flush(pending: dict[Change, list[str]]) -> Iterator[Run]:
    for change in Change:
        if change in pending:
            yield Run(change=change, text="".join(pending[change]))
    pending.clear()
