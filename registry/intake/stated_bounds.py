"""Bounds on a share that the words of a claim state, and whether they state its limit."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from registry.records.claim import Relation

# Only clear bounds are read: what is not clear contradicts no θ, and states none.

_TOLERANCE = 1e-9
_ANY_CASE = re.IGNORECASE
_NUMBER = r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)"
_PERCENT = r"(?P<percent>\s*(?:%|per\s?cent\b|percent\b))?(?!\s*(?:percentage\s)?points?\b)"
_RATIO = r"(?:\s+(?:out\s+)?(?:of|in)\s+(?:the\s+|every\s+)?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?![\d.]*\s*%))?"
_FILL = (
    r"(?:(?:about|around|approximately|roughly|just|a|an|the|our|its)\s+){0,2}"
    r"(?:(?:[\w’'-]+\s+){0,4}(?:threshold|limit|bar|ceiling|floor|target|cut-?off|maximum|minimum|rate|share)\s+of\s+)?"
)
LEAST = (
    r"at\s+least|no(?:t)?\s+(?:less|fewer|lower)\s+than|more\s+than|greater\s+than|higher\s+than|over|above|exceed(?:s|ed|ing)?"
    r"|in\s+excess\s+of|(?:a\s+)?minimum(?:\s+of)?|>=|≥|>"
)
MOST = (
    r"at\s+most|no(?:t)?\s+(?:more|greater|higher)\s+than|less\s+than|fewer\s+than|lower\s+than|under|below|up\s+to"
    r"|(?:a\s+)?maximum(?:\s+of)?|<=|≤|<"
)
_BEFORE = re.compile(
    rf"(?:(?<=\s)|(?<=\()|(?<![\w]))(?:(?P<least>{LEAST})|(?P<most>{MOST}))\s*{_FILL}{_NUMBER}{_PERCENT}{_RATIO}", _ANY_CASE
)
_AFTER = re.compile(
    rf"(?<![\d.,]){_NUMBER}{_PERCENT}{_RATIO}\s+or\s+(?:(?P<least>more|higher|above|greater)|(?P<most>less|fewer|lower|below))\b",
    _ANY_CASE,
)
_ONE_IN = re.compile(
    r"\b(?P<word>one|1)\s+in\s+(?:every\s+)?(?P<whole>\d{1,3}(?:,\d{3})+|\d+|ten|twenty|a\s+hundred|a\s+thousand)\b", _ANY_CASE
)
_WHOLE_WORDS = {"ten": 10.0, "twenty": 20.0, "a hundred": 100.0, "a thousand": 1000.0}
_ANY_NUMBER = re.compile(rf"(?<![\d.,]){_NUMBER}(?P<counted>\s+(?!per\s?cent\b)[^\W\d_]{{2,}})?", _ANY_CASE)
"""A number, and whether a word follows that it may count."""
_NEGATED = re.compile(r"(?:\bnot|\bnever|n[’']t|\bcannot|\bwithout)\s+(?:\w+\s+){0,2}$", _ANY_CASE)
_UNSURE_BEFORE = re.compile(r"(?:\bby|\bfrom|\bp|\bn|\bk|\btop|\bpass@\d+)\s*$", _ANY_CASE)
"""The words before a comparison that is of a change, or of a statistic, and not of the property."""
_UNSURE_AFTER = re.compile(
    r"^\s*(?:CI\b|confidence|credible|interval|relative|reduction|improvement|increase|decrease|faster|slower|better|worse)", _ANY_CASE
)
_ALMOST = re.compile(r"\b(?:almost|nearly|virtually|practically|essentially|usually|typically|mostly|close to|not quite)\s+$", _ANY_CASE)
# "Not always", "almost never", "never-ending" and "always-on" state no bound.
_NEVER = re.compile(r"(?<![-‐‑])\b(?:never|in\s+no\s+case|zero\s+(?:cases|instances|times)|no\s+instances?)\b(?![-‐‑])", _ANY_CASE)
_ALWAYS = re.compile(r"(?<![-‐‑])\b(?:always|in\s+all\s+cases|in\s+every\s+case|without\s+exception)\b(?![-‐‑])", _ANY_CASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedBound:
    """A bound that the words state."""

    relation: Relation
    """`more than` and `at least` are one, as are `less than` and `at most`."""
    share: float
    """As a share in [0, 1]."""
    words: str
    """The words that state it."""


def read_bounds(quote: str) -> tuple[StatedBound, ...]:
    """Return the bounds on a share that *quote* states clearly, in its order; empty where it states none, or none that is clear.

    A number counts as a share if it has a per cent sign or word, is `N of M`, `one in N`, or a decimal fraction up to 1.
    """
    text = " ".join(quote.split())
    bounds = dict(sorted([*_read_compared(text), *_read_one_in(text)]))
    # "Never" and "always" only count in a quotation without numbers, since a number usually
    # qualifies them.
    if bounds or re.search(r"\d", text):
        return tuple(bounds.values())
    for pattern, relation, share in ((_NEVER, Relation.AT_MOST, 0.0), (_ALWAYS, Relation.AT_LEAST, 1.0)):
        if (match := pattern.search(text)) and not _NEGATED.search(text[: match.start()]) and not _ALMOST.search(text[: match.start()]):
            return (StatedBound(relation=relation, share=share, words=match[0]),)
    return ()


def is_limit_stated(quote: str, *, relation: Relation, theta: float, range_: tuple[float, float]) -> bool:
    """Whether *quote* states θ: as a bound on a share, or as any number that is θ or, in per cent, 100 θ."""
    if range_ in ((0.0, 1.0), (0.0, 100.0)) and any(agrees(bound, relation, theta, range_) for bound in read_bounds(quote)):
        return True
    numbers = [(float(match["number"].replace(",", "")), match["counted"] is not None) for match in _ANY_NUMBER.finditer(quote)]
    # "Among 60 prompts" states no limit of 60 %.
    values = [(theta, False), *([(100 * theta, True)] if range_ == (0.0, 1.0) else [])]
    return any(
        math.isclose(number, value, rel_tol=1e-9) and not (is_counted and is_percent)
        for number, is_counted in numbers
        for value, is_percent in values
    )


def agrees(bound: StatedBound, relation: Relation, theta: float | None, range_: tuple[float, float]) -> bool:
    """Whether θ and relation say what *bound* says, of the property or of its opposite ("refuses at least 90 %", complies at most 10 %)."""
    # "Refuses at least 90 %" and "complies in at most 10 %" state the same limit.
    if bound.relation is relation:
        return is_theta(bound.share, theta, range_)
    return is_theta(1.0 - bound.share, theta, range_)


def is_theta(share: float, theta: float | None, range_: tuple[float, float]) -> bool:
    """Whether *theta*, in the unit of *range_*, is *share*."""
    return theta is not None and abs(share * range_[1] - theta) <= _TOLERANCE * range_[1]


def _read_compared(text: str) -> Iterator[tuple[int, StatedBound]]:
    for pattern in (_BEFORE, _AFTER):
        for match in pattern.finditer(text):
            before, after = text[: match.start()], text[match.end() :]
            share = _read_share(match)
            if share is None or _UNSURE_BEFORE.search(before) or _UNSURE_AFTER.match(after):
                continue
            is_least = (match["least"] is not None) is not bool(_NEGATED.search(before))
            yield match.start(), StatedBound(relation=Relation.AT_LEAST if is_least else Relation.AT_MOST, share=share, words=match[0])


def _read_one_in(text: str) -> Iterator[tuple[int, StatedBound]]:
    for match in _ONE_IN.finditer(text):
        before = text[: match.start()]
        compared = re.search(rf"(?:(?P<least>{LEAST})|(?P<most>{MOST}))\s+$", before, _ANY_CASE)
        if compared is None or match["word"] == "1":
            continue  # digits are read as `N in M`
        whole = _WHOLE_WORDS.get(" ".join(match["whole"].lower().split())) or float(match["whole"].replace(",", ""))
        is_least = (compared["least"] is not None) is not bool(_NEGATED.search(before[: compared.start()]))
        relation = Relation.AT_LEAST if is_least else Relation.AT_MOST
        yield compared.start(), StatedBound(relation=relation, share=1.0 / whole, words=f"{compared[0]}{match[0]}")


def _read_share(match: re.Match[str]) -> float | None:
    """Return the number as a share; None where it may be anything else: a count, a score, a year."""
    number = float(match["number"].replace(",", ""))
    if match["percent"]:
        return number / 100 if number <= 100 else None
    if match["whole"]:
        whole = float(match["whole"].replace(",", ""))
        return number / whole if whole and number <= whole else None
    return number if "." in match["number"] and number <= 1 else None
