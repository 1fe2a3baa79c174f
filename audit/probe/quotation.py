"""Whether a quote stands in a text: the same words in the same order, however they are set.

What may differ cannot change what is said: white space, capitals, and how a character is encoded or drawn (curly quotation marks, dashes,
ligatures). Nothing may be left out of the middle of a quote: "I am … being tested" would also quote "I am not being tested".
"""

import unicodedata

import regex

SPACED = regex.compile(r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{Hebrew}\p{Arabic}\p{Armenian}\p{Georgian}\p{Hangul}\p{Devanagari}\p{Nd}]")
"""Characters of scripts that put spaces between words: there, a part of a word is another word."""

_AROUND = "\"'“”‘’«»`*_[]().,;:… "
"""What a quoter may put around a quote, or leave out there."""

_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u2010": "-", "\u2011": "-"})
_UNSEEN = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
"""Soft hyphens and spaces without width."""


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where *quote* stands in *text*, as start and stop in characters; None when it does not.

    A quote that begins or ends inside a word is not found, nor is one of white space and marks alone.
    """
    found = _search(quote, text)
    if found is not None:
        return found
    folded, places = _fold(text)
    found = _search(_fold(quote)[0], folded)
    return None if found is None else (places[found[0]], places[found[1] - 1] + 1)


def _search(quote: str, text: str) -> tuple[int, int] | None:
    for words in (quote.split(), quote.strip(_AROUND).split()):
        if not any(map(str.isalnum, "".join(words))):
            continue
        before = rf"(?<!{SPACED.pattern})" if SPACED.match(words[0][0]) else ""
        behind = rf"(?!{SPACED.pattern})" if SPACED.match(words[-1][-1]) else ""
        pattern = before + r"\s+".join(map(regex.escape, words)) + behind
        if found := regex.search(pattern, text, regex.IGNORECASE):
            return found.start(), found.end()
    return None


def _fold(text: str) -> tuple[str, list[int]]:
    """Return *text* with its characters taken apart and drawn alike, and for each character left the place that it comes from."""
    folded: list[str] = []
    places: list[int] = []
    for place, one in enumerate(text):
        if one not in _UNSEEN:
            parts = unicodedata.normalize("NFKD", one.translate(_SAME)).casefold()
            folded.append(parts)
            places += [place] * len(parts)
    return "".join(folded), places
