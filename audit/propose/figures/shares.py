"""Shares in running text: per cent, fractions, odds, and words such as "never"."""

import re
from collections.abc import Iterator
from dataclasses import replace

from audit.propose.figures.numerals import BEFORE, NUMBER, SIGN, WORD, read_number
from audit.propose.figures.quantity import Quantity, Unit

_PERCENT = r"(?:%|per\s?cent\b|percent\b|pct\b)"
_AWAY = r"(?:above|below|higher|lower|more|less|better|worse|over|under|ahead|behind|than|of\simprovement)"
_POINTS = (
    r"(?:(?:percentage|percent|per\scent)[\s-]points?\b|%[\s-]?points?\b|pp\b|p\.p\.|ppts?\b"
    rf"|points?\b(?=\s{_AWAY}))"
)
# “36,6 %”: a comma is a decimal sign where one or two digits and then the per cent sign follow.
_DECIMAL_COMMA = r"\d{1,3},\d{1,2}(?=\s?%)"
_RANGE = re.compile(
    rf"{BEFORE}(?P<low>{NUMBER})\s?{_PERCENT}?\s?(?:–|—|-|\bto\b|(?P<and>\band\b))\s?(?P<high>{NUMBER})\s?(?P<unit>{_POINTS}|{_PERCENT})"
)
_ONE = re.compile(rf"{BEFORE}(?P<one>{SIGN}(?:{_DECIMAL_COMMA}|{NUMBER}))\s?(?P<unit>{_POINTS}|{_PERCENT})")
# “12.5 ± 1.4%”: the sign stands behind the spread.
_SPREAD = re.compile(rf"{BEFORE}(?P<one>{NUMBER})\s?(?:±|\+/-)\s?(?P<margin>{NUMBER})\s?{_PERCENT}")
_FROM = re.compile(r"\bfrom\s(?:about\s|~|approximately\s|roughly\s)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s(?:about\s|~)?$", re.IGNORECASE)

_WHOLE = r"\d{1,3}(?:,\d{3}){1,2}|\d{1,7}"
_FRACTION = re.compile(rf"{BEFORE}(?P<part>{NUMBER})\s?/\s?(?P<whole>{_WHOLE})(?![\w/]|[.,]\d)")
_OF = re.compile(
    rf"{BEFORE}(?P<part>\b{NUMBER}|\b{WORD})(?:\s[a-z-]{{3,20}})?\s(?:out\s)?of\s(?:(?:the|these|those|all|our|its|a\stotal\sof)\s){{0,2}}"
    rf"(?P<whole>{_WHOLE}|{WORD})\b(?!\s?%|[.,]\d)",
    re.IGNORECASE,
)
# “rated 7.4/10”, “a score of 3.2 out of 5”: a mark on a scale, whose end is no number of tasks.
_MARK = re.compile(r"\b(?:rat(?:ed|ing|ings)|scor(?:e|es|ed|ing)|grad(?:e|es|ed)|marks?)\b[^.;]{0,40}$", re.IGNORECASE)
_MARKS = frozenset({1, 3, 4, 5, 6, 7, 10, 100})
_NOUN = re.compile(r"^\s[A-Za-z]{3,}")
# “for one of the 89 tasks”, where each of them is meant.
_EACH = re.compile(r"\b(?:each|every|any|per)\s$", re.IGNORECASE)
_PREPOSITION = re.compile(r"^\s(?:on|in|for|at|across|under|with|against|versus|vs|compared|and|when|while|from|after|by)\b")
_ONE_IN = re.compile(rf"\b(?P<part>1|one)\sin\s(?:an?\s|every\s)?(?P<whole>thousand|million|{WORD}|{NUMBER})\b", re.IGNORECASE)
_PER = re.compile(
    rf"{BEFORE}(?P<part>\b{NUMBER})\s(?:\w+\s)?per\s(?P<whole>100|1,?000|10,?000|100,?000|1,?000,?000|hundred|thousand|million)(?=\s[a-z])"
)
# “Did not comply with any of the 50 requests”: none of them.
_NOT_ANY = re.compile(
    r"(?:\b(?:not|never|cannot|unable\sto|failed\sto)|n[’']t)\s(?:[\w’'-]{1,20}\s){1,5}?(?:any|a\ssingle\sone|a\ssingle|(?:even\s)?one)\s(?:out\s)?of\s"
    rf"(?:(?:the|these|those|all|our|its)\s){{0,2}}(?P<whole>{_WHOLE}|{WORD})\b(?!\s?%|[.,]\d)",
    re.IGNORECASE,
)
_OUT_OF = re.compile(
    rf"\bout\sof\s(?:the\s|all\s)?(?P<whole>{_WHOLE})\s[a-z-]+(?:\s[a-z-]+)?,\s(?P<part>{NUMBER}|{WORD})\b(?!\s?%)", re.IGNORECASE
)
_WHOLES = {"thousand": 1_000, "million": 1_000_000}

_THINGS = (
    r"(?:time|cases|instances|attempts|trials|tasks|prompts|responses|conversations|transcripts|scenarios|problems|questions|challenges"
    r"|requests|episodes|rollouts|runs|samples|tests)"
)
_OF_THINGS = rf"\s(?:of\s)?(?:(?:the|all|our|these|its)\s)?(?:\w{{1,15}}\s)?{_THINGS}\b"
_NEARLY = r"(?:almost|nearly|virtually|practically)"
# “We never looked”, “a file that was never provided”: not what a model did.
_OF_NOBODY = r"(?<!\bto\s)(?<!\bwe\s)(?<!\bI\s)(?<!\byou\s)(?<!that\swas\s)(?<!that\swere\s)(?<!which\swas\s)(?<!that\shad\s)"
# Words for shares: a piece of each of them in lower case, which is looked for first, their value, and whether it is only approximate. No
# number can be written down for the first three: their value is None. The more particular comes first.
_WORDED = tuple(
    (piece, re.compile(pattern, re.IGNORECASE), value, is_approximate)
    for piece, pattern, value, is_approximate in (
        ("ever", rf"\b(?:{_NEARLY}|hardly|close\sto)\s(?:never|ever)\b", None, True),
        ("none", rf"\b(?:{_NEARLY}|close\sto)\snone\b", None, True),
        ("perfect", rf"\b(?:{_NEARLY}\s|near[\s-]?|close\sto\s)(?:a\s)?perfect(?:ly)?\b", None, True),
        ("al", rf"\b{_NEARLY}\s(?:always|all)\b", None, True),
        ("0", rf"\b(?:{_NEARLY}|near|close\sto|approaching|effectively)[\s-]0\b(?!\.\d|\s?%)", 0.0, True),
        ("zero", rf"\b(?:{_NEARLY}|near|close\sto|approaching|effectively)[\s-]zero\b(?!\s?%)", 0.0, True),
        ("never", rf"{_OF_NOBODY}\bnever\b(?!\s(?:\w+\s){{0,2}}\d)", 0.0, False),
        (" of ", r"\b(?:none|zero)\sof\s(?:the|these|those|our|its)\b(?!\s\d)", 0.0, False),
        ("no ", rf"\b(?:in\s)?no\s{_THINGS}\b", 0.0, False),
        (
            "perfect",
            r"\bperfect\s(?:\w{1,15}\s)?(?:scores?|accuracy|record|rate|recall|precision|safety|performance)\b(?!\s(?:of\s|\()\d)",
            1.0,
            False,
        ),
        ("in ", rf"\bin\s(?:all|every)\s{_THINGS}\b", 1.0, False),
        ("hundred", r"\bone\shundred\spercent\b", 1.0, False),
        ("half", rf"\bhalf{_OF_THINGS}", 0.5, False),
        ("third", rf"\b(?:a|one)[\s-]third{_OF_THINGS}", 1 / 3, True),
        ("third", rf"\btwo[\s-]thirds{_OF_THINGS}", 2 / 3, True),
        ("quarter", rf"\b(?:a|one)[\s-]quarter{_OF_THINGS}", 0.25, True),
    )
)

# A percentage by which something changed is a multiple of another figure: “a 40 % reduction”, “fell by 12 %”.
_CHANGED = re.compile(
    r"^\s(?:relative\s|absolute\s)?(?P<how>reduction|decrease|drop|decline|increase|improvement|gain|difference|gap|higher|lower|more|less|fewer|better"
    r"|worse|faster)\b",
    re.IGNORECASE,
)
_CHANGED_BY = re.compile(
    r"\b(?P<how>reduc|decreas|increas|improv|drop|fell|fall|ris|rose|lower|outperform|exceed|surpass|declin|cut)\w{0,4}\b[^.;,]{0,60}\bby\s"
    r"(?:about\s|over\s|~|roughly\s|approximately\s|up\sto\s)?$",
    re.IGNORECASE,
)
# “40 % more data”: what went in, not what came out.
_INPUT = re.compile(
    r"^\s(?:more|fewer|less|larger|smaller)\s(?:[\w-]{1,20}\s)?(?:data|compute|tokens?|param\w*|FLOPs?|examples?|GPUs?|memory|context|steps|epochs|documents)\b",
    re.IGNORECASE,
)
_LESS = re.compile(r"reduc|decreas|drop|declin|lower|less|fewer|fell|fall|cut", re.IGNORECASE)


def find_percentages(plain: str) -> Iterator[Quantity]:
    """Yield per cents, ranges of them, percentage points, and changes by a percentage."""
    for hit in _RANGE.finditer(plain):
        before = plain[max(0, hit.start() - 20) : hit.start()]
        low, high = read_number(hit["low"]), read_number(hit["high"])
        if low < high and not _FROM.search(before) and (hit["and"] is None or _BETWEEN.search(before)):
            yield replace(_build(hit, None, _read_unit(hit["unit"])), low=low / 100, high=high / 100)
    for hit in _SPREAD.finditer(plain):
        value, margin = _read_share(hit["one"]), _read_share(hit["margin"])
        yield replace(_build(hit, value), low=round(value - margin, 10), high=round(value + margin, 10))
    for hit in _ONE.finditer(plain):
        share = _build(hit, _read_share(hit["one"]), _read_unit(hit["unit"], hit["one"]))
        if not _INPUT.match(plain[share.stop : share.stop + 60]):
            yield _read_change(share, plain)


def find_denied_fractions(plain: str) -> Iterator[Quantity]:
    """Yield 0 of a stated whole where it is denied of any: "did not comply with any of the 50"."""
    for hit in _NOT_ANY.finditer(plain):
        if (whole := read_number(hit["whole"])) > 1:
            yield replace(_build(hit, 0.0), n=int(whole), is_in_words=True)


def find_fractions(plain: str) -> Iterator[Quantity]:
    """Yield parts of a stated whole: "15/32", "0 of 50", "none of the 14", "1 in 1,000"."""
    for pattern in (_FRACTION, _OF):
        for hit in pattern.finditer(plain):
            part, whole = read_number(hit["part"]), read_number(hit["whole"])
            is_partitive = hit["part"].casefold() == "one" and not hit["whole"].isdigit()
            is_each = hit["part"].casefold() == "one" and _EACH.search(plain[max(0, hit.start() - 8) : hit.start()])
            if part > whole or whole < 1 or is_partitive or is_each or (whole == 1 and not _is_mark(plain, hit, whole)):
                continue
            if _is_mark(plain, hit, whole):
                yield replace(_build(hit, part, Unit.SCORE), scale=f"out of {whole:g}")
            else:
                yield replace(_build(hit, part / whole), n=int(whole), is_in_words=hit["part"].isalpha())
    for hit in _OUT_OF.finditer(plain):
        part, whole = read_number(hit["part"]), read_number(hit["whole"])
        if part <= whole and whole > 1:
            yield replace(_build(hit, part / whole), n=int(whole))
    # Odds and rates: the whole is no sample.
    for pattern in (_ONE_IN, _PER):
        for hit in pattern.finditer(plain):
            part, whole = read_number(hit["part"]), _WHOLES.get(hit["whole"].casefold()) or read_number(hit["whole"])
            if part <= whole and whole > 1:
                yield _build(hit, part / whole)


def find_worded(plain: str) -> Iterator[Quantity]:
    """Yield shares in words; the value is None where the words give no number ("almost never")."""
    folded = " ".join(plain.lower().split())
    for piece, pattern, value, is_approximate in _WORDED:
        for hit in pattern.finditer(plain) if piece in folded else ():
            yield replace(_build(hit, value), is_approximate=is_approximate, is_in_words=True)


def _is_mark(plain: str, hit: re.Match[str], whole: float) -> bool:
    """Whether the second number is the end of a scale."""
    after = plain[hit.end() : hit.end() + 20]
    if whole not in _MARKS or hit["part"].isalpha() or (_NOUN.match(after) and not _PREPOSITION.match(after)):
        return False
    return _MARK.search(plain[max(0, hit.start() - 60) : hit.start()]) is not None


def _build(hit: re.Match[str], value: float | None, unit: Unit = Unit.SHARE) -> Quantity:
    return Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=unit, value=value)


def _read_share(written: str) -> float:
    """A share from per cent; divided as decimals are, so that 0.55 % is 0.0055 and nothing beside it."""
    digits = written.replace("−", "-")
    digits = digits.replace(",", ".") if re.fullmatch(r"[-+]?\d{1,3},\d{1,2}", digits) else digits.replace(",", "")
    return round(float(digits) / 100, 10)


def _read_unit(written: str, number: str = "") -> Unit:
    """A share with a sign is a difference: “-1.2%”, “+7.9%”."""
    return Unit.POINTS if number[:1] in ("+", "-", "−") or re.match(_POINTS, f"{written} than") else Unit.SHARE


def _read_change(share: Quantity, plain: str) -> Quantity:
    if share.unit is not Unit.SHARE or share.value is None:
        return share
    changed = _CHANGED.match(plain[share.stop : share.stop + 30]) or _CHANGED_BY.search(plain[max(0, share.start - 120) : share.start])
    if changed is None:
        return share
    multiple = 1 - share.value if _LESS.match(changed["how"]) else 1 + share.value
    return replace(share, unit=Unit.MULTIPLE, value=round(multiple, 10))
