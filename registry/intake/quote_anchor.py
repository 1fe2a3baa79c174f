"""Where a quotation stands in the text of a card, and the most similar passage if it is not there."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rapidfuzz import fuzz

from registry.errors import Fault, InputError
from registry.intake import text_normalisation as rules
from registry.intake.text_normalisation import ONE_TO_ONE, NormalisedText, build_form, is_same_marking
from registry.records.system_card import Anchor, CardText, MatchLevel

# Foreign text, made safe to print. Characters that steer a terminal or change the reading direction are written as
# codes.


def show_text(text: str, *, limit: int = 300) -> str:
    r"""Return *text* on one line of at most *limit* characters, control and format characters as `\u…`."""
    folded = " ".join(text[: 20 * limit].split())
    shown = folded if len(folded) <= limit else f"{folded[: limit - 1]}…"
    return "".join(_show_character(character) for character in shown)


def _show_character(character: str) -> str:
    return f"\\u{ord(character):04x}" if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else character


# The passage nearest to a quotation that was not found, with the words that differ. It turns "not found" into a
# correction that can be made.

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
        # Below this, the alignment is chance and would send the user to the wrong place.
        if best is None or best[0] < 50:
            return None
        # The alignment has the length of the quotation in letters. The words at its ends are found in a margin around
        # it.
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
                    # Rare words weigh more, and neighbouring buckets are added because a passage may cross their
                    # border.
                    votes[bucket] += 1000 // (len(places) + 10)
        scores = {bucket: votes[bucket] + votes[bucket + 1] for bucket in votes}
        best = sorted(scores, key=lambda bucket: (-scores[bucket], bucket))[:5]
        return [max(0, bucket * width - 50) for bucket in best]

    def _index(self) -> dict[str, list[int]]:
        if self._places is None:
            self._places = {}
            for match in _WORD.finditer(self._text):
                self._places.setdefault(match[0].lower(), []).append(match.start())
        return self._places

    def _without_extra_words(self, quote: str, start: int, stop: int) -> tuple[int, int]:
        """The passage without words at its ends that the quotation has nothing for."""
        words = [(start + match.start(), start + match.end()) for match in re.finditer(r"\S+", self._text[start:stop])]
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
    # Other shapes of quotation marks and dashes match anyway (N2), so they are no difference.
    steps = _compare(quote.translate(ONE_TO_ONE).split(), passage.translate(ONE_TO_ONE).split())
    parts = [
        f"“{show_text(' '.join(ours[a:b]), limit=80)}” → “{show_text(' '.join(theirs[c:d]), limit=80)}”"
        for step, a, b, c, d in steps
        if step != "equal"
    ]
    more = f", and {len(parts) - 5} more" if len(parts) > 5 else ""
    return ", ".join(parts[:5]) + more if parts else "only in characters that look the same"


# The place of a quotation in a card, and how much had to be normalised to find it.
#
# Levels are tried from none upwards, and the lowest that finds the quotation is recorded. Start, stop and exact text
# always refer to the text as it was extracted. A quotation may not cut a number or drop its sign ("5 %" is not in "99.5
# %"). Cost: half a number cannot be quoted.

MINIMUM_CHARACTERS = 3
"""Letters and digits a quotation must have at least."""
MAXIMUM_CHARACTERS = 20_000
"""Characters a quotation may have at most."""
_CONTEXT = 32
_HITS = 1_000


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    stop: int
    level: MatchLevel
    occurrences: int


class AnchoredText:
    """A card's text made ready for many searches: each normalised form is built when first needed, then kept."""

    def __init__(self, card: CardText) -> None:
        self._card = card
        self._text = card.text.translate(rules.NOT_FOR_TEXTS)
        self._forms: dict[MatchLevel, NormalisedText] = {}
        self._nearest = NearestFinder(card.text)
        self._occurrences: dict[str, int] = {}
        self._heading_starts = [heading.start for heading in card.headings]

    def find(
        self, quote: str, *, page: int | None = None, near: int | None = None, section: str | None = None, where: str = "quote"
    ) -> Anchor:
        """Return the anchor of *quote*.

        Of several occurrences the one on *page* is meant; among those, or without a page, one in *section*; then the one
        closest to the character *near*; then the first. How many there are at this level is in `occurrences`.

        Args:
            page: where it is said to be, from 1. An occurrence there at a higher level wins over one elsewhere.
            section: a heading or its beginning, such as "4.1.2"; only a preference.
            where: what the quotation is, as the user knows it, such as "claims.yaml, claims[3].quote".

        Raises:
            InputError: quotation-too-short, quotation-too-long, quotation-not-found (with the nearest passage),
                quotation-on-other-page (with the page found), card-without-pages (a page is given and the card has none).
        """
        _check_length(quote, where)
        if page is not None and not self._has_pages():
            raise InputError(
                Fault("card-without-pages", where, f"expected on page {page}, but this {self._card.media_type} card has no pages")
            )
        elsewhere: list[_Hit] = []
        # With a page, an occurrence there at a higher level wins over one elsewhere at a lower level: the user looked
        # at that page.
        for level in MatchLevel:
            hits = self._find_at(quote.translate(rules.NOT_FOR_TEXTS), level)
            here = hits if page is None else [hit for hit in hits if self._card.get_page_number(hit.start) == page]
            if here:
                return self._anchor(self._choose(here, near=near, section=section))
            elsewhere = elsewhere or hits
        if elsewhere and page is not None:
            raise InputError(self._other_page(elsewhere, page=page, where=where))
        raise InputError(self._not_found(quote, where))

    def at(self, start: int, stop: int) -> Anchor:
        """Return the anchor of exactly the characters from *start* to before *stop*.

        Raises:
            ValueError: they do not lie in the text, or are none.
        """
        if not 0 <= start < stop <= len(self._card.text):
            raise ValueError(f"expected 0 <= start < stop <= {len(self._card.text)}, got {start} and {stop}")
        words = self._text[start:stop]
        if words not in self._occurrences:
            self._occurrences[words] = max(1, self._text.count(words))
        return self._anchor(_Hit(start, stop, MatchLevel.N0, self._occurrences[words]))

    def place(self, start: int, stop: int) -> Anchor:
        """Return the anchor of what is between two characters, as it is; `occurrences` counts it character for character."""
        return self._anchor(_Hit(start, stop, MatchLevel.N0, max(1, self._card.text.count(self._card.text[start:stop]))))

    def find_section(self, position: int) -> str | None:
        """Return the nearest heading above the character at *position*, None if there is none."""
        index = bisect_right(self._heading_starts, position) - 1
        return self._card.headings[index].title if index >= 0 else None

    def _form(self, level: MatchLevel) -> NormalisedText:
        if level not in self._forms:
            self._forms[level] = build_form(self._text, level)
        return self._forms[level]

    def _find_at(self, quote: str, level: MatchLevel) -> list[_Hit]:
        """Every passage at which *quote* stands under *level*, at most 1,000."""
        form, quote_form = self._form(level), build_form(quote.strip(), level)
        start_at, stop_at = len(quote_form.text) - len(quote_form.text.lstrip(" ")), len(quote_form.text.rstrip(" "))
        words = quote_form.text[start_at:stop_at]
        # Normalisation can remove nearly everything, and the rest would match anywhere.
        if sum(character.isalnum() for character in words) < MINIMUM_CHARACTERS:
            return []
        marks = quote_form.get_marks(start_at, stop_at)
        spans: list[tuple[int, int]] = []
        at = form.text.find(words)
        while at >= 0 and len(spans) < _HITS:
            stop = at + len(words)
            span = form.map_span(at, stop)
            # Optional characters (a hyphen at a line end, a footnote mark) are compared place by place. Dropping them
            # from both texts would make different texts equal.
            if is_same_marking(form.get_marks(at, stop), marks) and not _cuts_a_number(self._text, *span):
                spans.append(span)
                at = form.text.find(words, stop)
            else:
                at = form.text.find(words, at + 1)
        return [_Hit(start, stop, level, len(spans)) for start, stop in spans]

    def _choose(self, hits: list[_Hit], *, near: int | None, section: str | None) -> _Hit:
        if section is not None:
            # A section is only a preference: its title may have been read differently from the file.
            hits = [hit for hit in hits if _is_in_section(self.find_section(hit.start), section)] or hits
        return hits[0] if near is None else min(hits, key=lambda hit: abs(hit.start - near))

    def _anchor(self, hit: _Hit) -> Anchor:
        text = self._card.text
        return Anchor(
            document=self._card.sha256,
            start=hit.start,
            stop=hit.stop,
            exact=text[hit.start : hit.stop],
            prefix=text[max(0, hit.start - _CONTEXT) : hit.start],
            suffix=text[hit.stop : hit.stop + _CONTEXT],
            level=hit.level,
            page=self._card.get_page_number(hit.start) if self._has_pages() else None,
            section=self.find_section(hit.start),
            occurrences=hit.occurrences,
        )

    def _has_pages(self) -> bool:
        return len(self._card.pages) > 1 or self._card.media_type == "application/pdf"

    def _other_page(self, hits: list[_Hit], *, page: int, where: str) -> Fault:
        page_numbers = sorted({self._card.get_page_number(hit.start) for hit in hits})
        last = self._card.pages[-1].number
        beyond = f" (the card has {last})" if page > last else ""
        key = where.removesuffix("quote").rpartition(" ")[2] + "page"
        return Fault(
            "quotation-on-other-page",
            where,
            f"expected on page {page}{beyond}, found on page {' and '.join(map(str, page_numbers[:5]))}",
            advice=f"set {key} to {page_numbers[0]}, counting pages of the file from 1, or leave it out",
        )

    def _not_found(self, quote: str, where: str) -> Fault:
        nearest = self._nearest.find(quote)
        text = f"not in the card: “{show_text(quote)}”"
        if nearest is None:
            return Fault("quotation-not-found", where, f"{text}; nothing in it is similar", advice="copy it from the card")
        place = f" on page {self._card.get_page_number(nearest.start)}" if self._has_pages() else f" at character {nearest.start}"
        return Fault(
            "quotation-not-found",
            where,
            f"{text}\n  nearest passage{place}: “{show_text(nearest.passage)}”\n  differs: {nearest.difference}",
            advice="quote the card word for word, or set quote_status: paraphrase",
        )


def find_quote(
    card: CardText, quote: str, *, page: int | None = None, near: int | None = None, section: str | None = None, where: str = "quote"
) -> Anchor:
    """Return where *quote* is in *card*; as `AnchoredText.find`, which is the faster for more than one quotation."""
    return AnchoredText(card).find(quote, page=page, near=near, section=section, where=where)


def _check_length(quote: str, where: str) -> None:
    characters = sum(character.isalnum() for character in quote)
    if characters < MINIMUM_CHARACTERS:
        problem = f"“{show_text(quote)}” has {characters} letters and digits, expected at least {MINIMUM_CHARACTERS}"
        raise InputError(Fault("quotation-too-short", where, problem))
    if len(quote) > MAXIMUM_CHARACTERS:
        raise InputError(Fault("quotation-too-long", where, f"{len(quote):,} characters, expected at most {MAXIMUM_CHARACTERS:,}"))


def _cuts_a_number(text: str, start: int, stop: int) -> bool:
    """Whether the passage begins or ends inside a number or drops its sign: “5 %” does not stand in “99.5 %” or “-5 %”."""
    before, first, last, after = text[max(0, start - 2) : start], text[start], text[stop - 1], text[stop : stop + 2]
    if first.isdigit() and before and (before[-1].isdigit() or (before[-1] in ".,-−" and _continues(before))):
        return True
    return last.isdigit() and bool(after) and (after[0].isdigit() or (after[0] in ".," and after[1:].isdigit()))


def _continues(before: str) -> bool:
    """Whether a sign or separator right before a digit belongs to the number."""
    if before[-1] in ".,":
        return before[:1].isdigit()
    return len(before) == 1 or before[0] in " \t\n\r\f(["


def _is_in_section(title: str | None, section: str) -> bool:
    if title is None:
        return False
    ours, theirs = " ".join(title.split()).casefold(), " ".join(section.split()).casefold()
    return ours == theirs or ours.startswith((f"{theirs} ", f"{theirs}.")) or ours.partition(" ")[2] == theirs
