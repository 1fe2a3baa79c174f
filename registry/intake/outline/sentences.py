"""Where the sentences of a paragraph end.

Own rules and no library: a card's sentences end before names such as "gpt-5.2-codex" and after "Claude Haiku 4.5", carry footnote marks
glued to their stops, and are needed as places in the text, not as strings.
"""

import re

_STOP = re.compile(
    r"(?P<stop>[.!?\u2026]{1,8})(?P<closing>[\"'\u201d\u2019)\]*_]{0,4})(?P<mark>(?:\^?(?<=[^\d\s][.!?%)\"\u201d\u2019^])\d{1,2})?)\s+(?=\S)"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201c\u2018]{1,40}$")

_NEVER_LAST = frozenset(
    [
        "e.g",
        "i.e",
        "cf",
        "vs",
        "viz",
        "fig",
        "figs",
        "eq",
        "eqs",
        "sec",
        "secs",
        "ref",
        "refs",
        "vol",
        "ch",
        "app",
        "pp",
        "ed",
        "eds",
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "approx",
        "ca",
        "resp",
        "incl",
        "excl",
        "dept",
        "est",
        "avg",
        "max",
        "min",
        "std",
    ]
)
"""Abbreviations after which the sentence goes on."""
_BEFORE_NUMBER = frozenset(
    ["no", "nos", "p", "tab", "art", "v", "ver", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"]
)
"""Abbreviations if a number follows; words that may end a sentence otherwise."""
_SOMETIMES_LAST = frozenset(
    ["etc", "al", "inc", "ltd", "corp", "co", "u.s", "u.k", "e.u", "u.n", "a.m", "p.m", "ph.d", "m.sc", "b.sc", "d.c"]
)
"""Abbreviations that may end a sentence: they do where the next word is one that sentences begin with."""
_OPENERS = frozenset(
    [
        "the",
        "a",
        "an",
        "this",
        "that",
        "these",
        "those",
        "we",
        "our",
        "it",
        "its",
        "in",
        "on",
        "at",
        "as",
        "for",
        "to",
        "from",
        "by",
        "with",
        "if",
        "when",
        "while",
        "although",
        "though",
        "however",
        "but",
        "and",
        "or",
        "so",
        "all",
        "both",
        "each",
        "every",
        "no",
        "none",
        "some",
        "most",
        "many",
        "several",
        "such",
        "there",
        "here",
        "they",
        "their",
        "he",
        "she",
        "his",
        "her",
        "you",
        "your",
        "i",
        "one",
        "two",
        "three",
        "after",
        "before",
        "because",
        "since",
        "under",
        "over",
        "among",
        "across",
        "during",
        "overall",
        "finally",
        "first",
        "second",
        "third",
        "also",
        "further",
        "moreover",
        "see",
        "note",
        "results",
        "table",
        "figure",
        "section",
        "another",
        "other",
        "compared",
        "using",
        "given",
    ]
)
"""Words that sentences begin with."""
_LABELLED = re.compile(
    r"(?:appendix|figure|table|section|plan|option|condition|class|group|level|type|part|step|phase|tier|arm|model)\s$", re.IGNORECASE
)
"""Before a single capital, these say that it is a name and the stop an end: "see Appendix A. We …"."""
_NAME_IN_SMALL = re.compile(r"[a-z][\w-]*\d|[a-z]+[.@_][a-z0-9]")
"""Names written small that may begin a sentence: gpt-5.2, o3, llama.cpp."""
_ENUMERATOR = re.compile(r"^\W{0,3}(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]{1,2}$")
_INITIAL = re.compile(r"[A-Z]\.")
_PAIRS = {"(": ")", "\u201c": "\u201d"}
_LONGEST_INSERTION = 500
"""Characters between parentheses or quotation marks that are kept together."""


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence of *text* begins and ends; together they are the whole of it but for the spaces between.

    *text* is one paragraph with its white space folded. What stands in parentheses or in directed quotation marks is not split.
    """
    insertions = _find_insertions(text)
    spans: list[tuple[int, int]] = []
    start = at = 0
    for found in _STOP.finditer(text):
        while at < len(insertions) and insertions[at][1] <= found.start():
            at += 1
        is_inside = at < len(insertions) and insertions[at][0] < found.start() and found.end("closing") < insertions[at][1]
        if not is_inside and _is_end(text, start, found):
            spans.append((start, found.end("mark")))
            start = found.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def _find_insertions(text: str) -> list[tuple[int, int]]:
    """The outermost parentheses and quotations that close within reach, as (opening, one past the closing)."""
    spans: list[tuple[int, int]] = []
    open_at: list[tuple[int, str]] = []
    for found in re.finditer(r"[()\u201c\u201d]", text):
        sign, at = found[0], found.start()
        if sign in _PAIRS:
            open_at.append((at, _PAIRS[sign]))
        elif open_at and open_at[-1][1] == sign:
            opening = open_at.pop()[0]
            if at - opening <= _LONGEST_INSERTION:
                while spans and spans[-1][0] > opening:
                    spans.pop()
                spans.append((opening, at + 1))
    return spans


def _is_end(text: str, start: int, found: re.Match[str]) -> bool:
    rest = text[found.end() : found.end() + 40].lstrip("\"'\u201c\u2018([*_")
    before = text[max(start, found.start() - 60) : found.start()]
    word = _LAST_WORD.search(before)
    last = word[0] if word else ""
    if _ENUMERATOR.match(text[start : found.end("stop")]) and found["stop"] == ".":
        return False
    if not rest or (rest[0].islower() and not _NAME_IN_SMALL.match(rest)):
        return False
    return found["stop"] != "." or _ends_after(last, before, rest)


def _ends_after(last: str, before: str, rest: str) -> bool:
    """Whether the stop after the word *last* ends the sentence that *rest* would follow."""
    name = last.lower().strip("*_")
    if name in _NEVER_LAST:
        return False
    if name in _BEFORE_NUMBER:
        return not rest[0].isdigit()
    next_word = "" if _INITIAL.match(rest) else re.split(r"[^\w'\u2019-]", rest, maxsplit=1)[0]
    if name in _SOMETIMES_LAST:
        return next_word.lower() in _OPENERS
    if len(last) == 1 and last.isupper():
        return next_word.lower() in _OPENERS or _LABELLED.search(before[:-1]) is not None
    return True
