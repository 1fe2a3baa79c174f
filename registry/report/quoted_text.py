"""Quoted text as a reader sees it: hidden characters visible, markup removed, changes marked word by word."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

# Text from cards, models and judges is foreign: it may contain characters that hide or reverse
# other text.

# Control, format, surrogate, private and unassigned characters.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# Fillers, joiners and variation selectors count as letters or marks, and yet leave no mark.
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
    # Most text is plain, and `isprintable` is far faster than the loop.
    if text.isprintable() and (text.isascii() or (covers is None and _HIDDEN_OTHERS.isdisjoint(text))):
        return text
    return "".join(_show_runs(text, covers))


def find_replaced(document: Any, *, covers: Covers) -> Mapping[str, int]:
    """Return how often each visible character that *covers* lacks is in the texts of *document*, by `U+…`, ascending."""
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
        # A blank inside a run of lacking characters belongs to it, so a sentence in another script
        # is one bracket.
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
    # Names of a long run would push out the text around it; first, last and length identify it.
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


# Quotes in lists are set for reading. The exact quote stays in the record.

# All repetitions are bounded, because the text is foreign and must not make matching slow.
_TAG = r"(?:\s[^<>]{0,200})?/?>"
_MARKUP = (
    (re.compile(r"<!--[^<>]{0,200}-->"), " "),
    # Cells stay apart: two numbers of a row must not become one.
    (re.compile(rf"</t[dh]>\s{{0,20}}<t[dh]{_TAG}", re.IGNORECASE), " | "),
    (re.compile(rf"</?(?:table|thead|tbody|tr|t[dh]|b|i|u|em|strong|su[bp]|br|p|span|code){_TAG}", re.IGNORECASE), " "),
    # Only at the edge of a word: `2**3` is no emphasis.
    (re.compile(r"(?<!\w)\*\*|\*\*(?!\w)"), ""),
    (re.compile(r"(?:\|\s){2,}"), "| "),
)
"""What is dropped where a quote is only listed."""
# A figure must not lose its unit or its ± at the end of a line.
_TIED = re.compile(r"(?<=\d) (?=%)|(?<=±) (?=\d)")


def strip_markup(text: str) -> str:
    """Return *text* for a list: without the marks by which HTML and Markdown set cells, emphasis and comments, on one line.

    Other tags stay: what a card says is shown, and only how it was set is not. A figure keeps its unit and its ± on its line.
    """
    for pattern, instead in _MARKUP:
        text = pattern.sub(instead, text)
    return _TIED.sub("\u00a0", " ".join(text.split()))


# Redlines, word by word.
#
# A token is a word (also `deployment-like` or `2.1-2026-09-30`), a number with sign, decimals and
# per-cent sign, or a punctuation mark, each with the white space before it. An equal run of fewer
# than three words between two edits is folded into them, so that an edit reads as one thought. A
# claim of which less than half is kept is struck as a whole: words that happen to occur in both
# texts would say that part of it holds.

_FEWEST_WORDS_KEPT = 3
_LEAST_SHARE_KEPT = 0.5
_MOST_MATCHES = 300_000
"""Pairs of equal tokens up to which two texts are compared token by token: sentences and paragraphs, not a chapter without a full stop."""
_TOKEN = re.compile(r"\s*(?:[-−+±]?\w+(?:[-.,:/'’]\w+)*(?:\s?%)?|[^\w\s])|\s+")
_WORD = re.compile(r"\w")


class RunChange(StrEnum):
    """What happened to a run of text."""

    KEPT = "kept"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedlineRun:
    """A stretch of text with one match_result."""

    change: RunChange
    text: str


def build_redline(original: str, restricted: str) -> tuple[RedlineRun, ...]:
    """Return the runs that lead from *original* to *restricted*.

    The kept and removed runs together are *original*, the kept and added ones are *restricted*, character for character.
    A number is never split: `0.05` becoming `0.25` is one edit.
    """
    before, after = _tokenise(original), _tokenise(restricted)
    blocks = [(equal, before[i:j], after[k:m]) for equal, i, j, k, m in _compare(before, after)]
    folded = list(_fold(blocks))
    # Shared words like "the" would otherwise look like a part of the claim that survived.
    if sum(len(before) for equal, before, _ in folded if equal) < _LEAST_SHARE_KEPT * len(before):
        folded = [(False, before, after)]
    return tuple(_join(_build_runs(folded)))


def _tokenise(text: str) -> list[str]:
    return [match[0] for match in _TOKEN.finditer(text)]


def _compare(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Yield what is equal and what is not, in order; between the equal ends, texts too alike to be told apart in a second are one edit."""
    # White space does not count here; `_build_runs` makes it an edit of its own.
    old, new = ([token.lstrip() for token in tokens] for tokens in (before, after))
    shortest = min(len(old), len(new))
    # Equal beginnings and ends cost nothing to find and shorten what must be compared.
    head = next((at for at in range(shortest) if old[at] != new[at]), shortest)
    tail = next((at for at in range(shortest - head) if old[-1 - at] != new[-1 - at]), shortest - head)
    counter = Counter(new[head : len(new) - tail])
    # The matcher's time grows with the pairs of equal tokens.
    if sum(counter[token] for token in old[head : len(old) - tail]) <= _MOST_MATCHES:
        # difflib's heuristic would drop frequent words of long texts, and so change the redline.
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
        # At the beginning and the end of the text even one equal word is kept.
        keeps = equal and not (between and words < _FEWEST_WORDS_KEPT)
        if folded and not keeps and not folded[-1][0]:
            folded[-1] = (False, folded[-1][1] + before, folded[-1][2] + after)
        else:
            folded.append((keeps, list(before), list(after)))
    return folded


def _build_runs(blocks: Iterable[tuple[bool, list[str], list[str]]]) -> Iterator[RedlineRun]:
    """Yield the runs; where equal words have different white space before them, that white space is an edit of its own."""
    for equal, before, after in blocks:
        if not equal:
            yield RedlineRun(change=RunChange.REMOVED, text="".join(before))
            yield RedlineRun(change=RunChange.ADDED, text="".join(after))
            continue
        for old, new in zip(before, after, strict=True):
            word = old.lstrip()
            # Equal words whose white space differs: only the white space is marked.
            if old != new:
                yield RedlineRun(change=RunChange.REMOVED, text=old.removesuffix(word))
                yield RedlineRun(change=RunChange.ADDED, text=new.removesuffix(word))
            yield RedlineRun(change=RunChange.KEPT, text=old if old == new else word)


def _join(runs: Iterable[RedlineRun]) -> Iterator[RedlineRun]:
    """Yield *runs* without empty ones and with neighbours of one match result together; between two kept runs, removals come first."""
    pending: dict[RunChange, list[str]] = {}
    for run in runs:
        if not run.text:
            continue
        # A kept run ends the collected edits, and an edit ends the collected kept run.
        if (run.change is RunChange.KEPT) != (RunChange.KEPT in pending) and pending:
            yield from _flush(pending)
        pending.setdefault(run.change, []).append(run.text)
    yield from _flush(pending)


def _flush(pending: dict[RunChange, list[str]]) -> Iterator[RedlineRun]:
    for change in RunChange:
        if change in pending:
            yield RedlineRun(change=change, text="".join(pending[change]))
    pending.clear()
