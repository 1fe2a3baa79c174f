"""The passage most like a quotation that is not there, with the words that differ."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rapidfuzz import fuzz

from registry.intake.rules import ONE_TO_ONE
from registry.intake.show import show_text

_WORD = re.compile(r"\w+")
_COMPARED = 600
"""Characters of the quotation that are compared; enough to find its place."""
_MARGIN = 40
"""Characters beyond both ends of the alignment in which its first and last words may lie."""
_COMMON = 2_000
"""A word that occurs more often than this says nothing about the place."""


@dataclass(frozen=True, slots=True)
class NearestPassage:
    """A passage similar to the quotation."""

    start: int
    passage: str
    difference: str
    """The words that differ, as “theirs” → “the card's”."""


class NearestFinder:
    """Finds the passage nearest to a quotation: by shared words first, then by alignment within the likeliest places."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places: dict[str, list[int]] | None = None

    def find(self, quote: str) -> NearestPassage | None:
        """Return the nearest passage, None if no place shares enough with *quote*."""
        quote = " ".join(quote[:_COMPARED].split())
        best: tuple[float, int, int] | None = None
        for start in self._likely_starts(quote):
            window = self._text[start : start + 2 * len(quote) + 200]
            aligned = fuzz.partial_ratio_alignment(quote, window)
            if aligned is not None and (best is None or aligned.score > best[0]):
                best = (aligned.score, start + aligned.dest_start, start + aligned.dest_end)
        if best is None or best[0] < 50:
            return None
        # The alignment is as long as the quotation, letter by letter; the words at its ends are found among some more.
        start, stop = self._whole_words(max(0, best[1] - _MARGIN), min(len(self._text), best[2] + _MARGIN))
        start, stop = self._without_extra_words(quote, start, stop)
        passage = self._text[start:stop]
        return NearestPassage(start=start, passage=passage, difference=_difference(quote, passage))

    def _likely_starts(self, quote: str) -> list[int]:
        """The five places whose neighbourhood shares the most, and the rarest, words with the quotation."""
        width = len(quote) + 50
        votes: Counter[int] = Counter()
        for word in set(_words(quote)):
            places = self._index().get(word, [])
            if len(places) <= _COMMON:
                for bucket in {place // width for place in places}:
                    votes[bucket] += 1000 // (len(places) + 10)
        scores = {bucket: votes[bucket] + votes[bucket + 1] for bucket in votes}
        best = sorted(scores, key=lambda bucket: (-scores[bucket], bucket))[:5]
        return [max(0, bucket * width - 50) for bucket in best]

    def _index(self) -> dict[str, list[int]]:
        if self._places is None:
            self._places = {}
            for found in _WORD.finditer(self._text):
                self._places.setdefault(found[0].lower(), []).append(found.start())
        return self._places

    def _without_extra_words(self, quote: str, start: int, stop: int) -> tuple[int, int]:
        """The passage without words at its ends that the quotation has nothing for."""
        words = [(start + found.start(), start + found.end()) for found in re.finditer(r"\S+", self._text[start:stop])]
        steps = _compare(quote.split(), [self._text[a:b] for a, b in words])
        first = max(0, _surplus(steps[0]))
        last = len(words) - max(0, _surplus(steps[-1])) if len(steps) > 1 else len(words)
        return (words[first][0], words[last - 1][1]) if first < last else (start, stop)

    def _whole_words(self, start: int, stop: int) -> tuple[int, int]:
        for _ in range(40):
            if start > 0 and not self._text[start - 1].isspace():
                start -= 1
            if stop < len(self._text) and not self._text[stop].isspace():
                stop += 1
        return start, stop


def _surplus(step: tuple[str, int, int, int, int]) -> int:
    """How many words more the passage has than the quotation where they differ; 0 where they agree."""
    kind, quote_from, quote_to, passage_from, passage_to = step
    return 0 if kind == "equal" else (passage_to - passage_from) - (quote_to - quote_from)


def _compare(ours: list[str], theirs: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _difference(quote: str, passage: str) -> str:
    """The first five places where the words differ."""
    ours, theirs = quote.split(), passage.split()
    # Quotation marks and dashes of another shape are found anyway (N2), so they are no difference.
    steps = _compare(quote.translate(ONE_TO_ONE).split(), passage.translate(ONE_TO_ONE).split())
    parts = [
        f"“{show_text(' '.join(ours[a:b]), limit=80)}” → “{show_text(' '.join(theirs[c:d]), limit=80)}”"
        for step, a, b, c, d in steps
        if step != "equal"
    ]
    more = f", and {len(parts) - 5} more" if len(parts) > 5 else ""
    return ", ".join(parts[:5]) + more if parts else "only in characters that look the same"
