"""Figures in running text: numbers, shares, scores and counts, with bound, hedge, interval and n."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from registry.records.claim import Relation

# A figure as the card writes it, and its meaning.


class FigureUnit(StrEnum):
    """What a figure counts in."""

    SHARE = "share"
    """Per cent, a fraction of a stated whole ("15/32"), or a share in words ("never", "half of"); the value is between 0 and 1."""
    POINTS = "points"
    """Percentage points: a difference of shares; the value is between -1 and 1."""
    COUNT = "count"
    """Things counted without their whole: "132 false negatives"."""
    MULTIPLE = "multiple"
    """Times another figure: "7×", "halved"."""
    SCORE = "score"
    """A number on a scale of its own: "0.88", "161.29 AECI"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFigure:
    """One figure in the words of a passage."""

    start: int
    """First character in the words."""
    stop: int
    written: str
    """As it stands there, with its bound and unit: "<4%", "15/32 challenges", "99.38% (± 0.21%)"."""
    unit: FigureUnit
    value: float | None
    """In the unit; None for a range without a middle ("1–2%"), whose ends are `low` and `high`."""
    low: float | None = None
    high: float | None = None
    """Ends of an interval, of a ± around the value, or of a range."""
    n: int | None = None
    """The whole of a fraction, or a stated n."""
    scale: str | None = None
    """Name of the scale of a score: "AECI", "pass@200", "AUROC"."""
    bound: Relation | None = None
    """Whether it is written as a bound ("<4%", "at most", "5% or less", "over 60%"); None for a figure."""
    is_strict: bool = False
    """Whether the bound excludes its value."""
    is_approximate: bool = False
    """Whether it is hedged: "about", "~", "roughly"."""
    is_in_words: bool = False
    """Whether no digit is written: "never", "a perfect score", "none of the"."""


# Numbers in English prose, and numbers that are no figures of a claim.

BEFORE = r"(?<![\w.,/@])"
"""A figure does not begin inside a word, a longer number or a path."""
SIGN = r"(?:(?<![\w)%\]])[-−+])?"
"""Of a number; a dash after a word or a figure is none."""
NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,3}(?:\.\d{1,6})?|\d{1,9}(?:\.\d{1,6})?|\.\d{1,6})"
"""With commas between thousands; a point before the decimals."""

WORDS = {
    "none": 0, "no": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "hundred": 100,
}  # fmt: skip
WORD = "(?:" + "|".join(WORDS) + ")"

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_PARTS = (
    r"(?:[Ss]ections?|[Ss]ec\.|[Tt]ables?|[Ff]igures?|[Ff]igs?\.|[Aa]ppendix|[Cc]hapters?|[Pp]ages?|pp?\.|[Ee]quation|[Ee]q\."
    r"|[Ff]ootnotes?|[Aa]nnex|[Bb]ox|[Ss]teps?|[Pp]arts?|[Qq]uestion|[Ii]tem|[Ss]tage|[Pp]hase|[Rr]ound|[Dd]ay|[Ww]eek|[Tt]urn|[Aa]ttempt)"
)
_NUMBERED = r"\d{1,3}(?:\.\d{1,3}){0,4}"
_SIZES = (
    r"(?:[KMBTG]i?[Bb]?|kB|k|million|billion|trillion|tokens?|words?|characters?|param(?:eter)?s?|layers?|GPUs?|TPUs?|cores?|FLOPs?|bits?|bytes?|hours?|minutes?"
    r"|seconds?|days?|weeks?|months?|years?|ms|hrs?|mins?|languages?|participants|annotators|experts|people|users\saged)"
)
_EXTREME = r"(?:max(?:imum)?|min(?:imum)?|highest|top|lowest|perfect)"

# Numbers that count, date, name or price something else than a result. What any of them covers is no figure; their order does not matter.
_ASIDES = (
    # Citations and identifiers. An interval in brackets follows a per cent sign or the letters CI.
    r"(?<!%\s)(?<!%)(?<!CI\s)(?<!CI)(?<!CI:\s)(?<!CI\sof\s)(?<!interval\sof\s)\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,12}\]",
    r"(?:arXiv|doi|DOI|CVE|CWE|ISO|RFC)[:\s-]{0,2}[\d./-]{2,24}",
    # Dates and years, ordinals.
    r"\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{4}-\d{2}(?:-\d{2})?\b",
    rf"\b{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH}\b(?:\s\d{{4}})?|\b{_MONTH}\s\d{{4}}\b",
    r"(?<![\d.,/])(?:19|20)\d{2}(?![\d.,/]*\d|\s?%|\s?/)",
    r"\b\d{1,4}(?:st|nd|rd|th)\b(?!\spercentiles?\s(?:of|among|relative|compared))|\b24/7\b",
    # Parts of the document, and steps of a list.
    rf"\b{_PARTS}\s{{0,2}}[A-Z]?{_NUMBERED}(?:\.?[A-Z])?(?:\s?(?:–|-|to|and|of)\s?{_NUMBERED})?\b|§\s?[\d.]{{1,12}}",
    # Levels and versions, which carry numbers as names.
    r"\b(?:[Tt]iers?|[Ll]evels?|ASL|CCL|TRL|[Vv]ersion|[Cc]ategory|[Cc]lass|[Gg]rade)[\s-]\d(?:\.\d{1,2})?\b(?!\s?%)|\b[vV]\d{1,3}(?:\.\d{1,3}){0,3}\b",
    # Settings of a measurement: repeats, sampling, scales.
    r"(?<!\d\s)\b(?:pass|cons|maj|recall|precision|hit|best|top|P|R)@\d{1,5}(?:k\b)?|\b[kKTNM]\s?=\s?\d[\d,.]{0,9}",
    r"\bbest[- ]of[- ]\d{1,5}\b|\b\d{1,3}[- ]shot\b",
    rf"\b{_EXTREME}\s(?:possible\s|attainable\s)?(?:scores?|ratings?|values?|marks?)\s(?:of|is|=)\s{NUMBER}(?![\d.]*\s?%|\d)",
    (
        r"\b(?:temperature|top[-_ ]p|top[-_ ]k|seed|alpha|α|max(?:imum)?|min(?:imum score)?|scale of)\s?(?:of|=|:)?\s?(?:0|1|2|10|100)?"
        r"(?:\.\d{1,3}|\b)(?![\d.]*\s?%)(?=[\s).,;]|$)"
    ),
    # Ranks.
    rf"\b(?:top|bottom|upper|lower)[\s-]{NUMBER}\s?(?:%|percent\b|per\scent\b)",
    # “Around 60 % depth”, “its 50 % time horizon”: where and how was measured.
    rf"(?<![\w.]){NUMBER}\s?%\s(?:depth|dropout|sparsity|time[- ]horizons?|horizons?|quantiles?|compression)\b",
    # Significance, confidence and power.
    r"\b[pP]\s?(?:[-–]?values?)?\s?(?:[<>=≤≥]|of|was|is)\s?(?:0?\.\d{1,6}|\d(?:\.\d)?\s?[×x]\s?10)",
    rf"(?:{NUMBER})\s?%[\s-](?:(?:statistical\s)?power\b|confidence|CIs?\b|credib|interval|bootstrap|HDI|level)",
    rf"\b(?:confidence|significance)\s(?:level\s)?(?:of\s)?{NUMBER}\s?%|(?<=[(\[;,])\s?9[059]\s?%\s?(?=[\[(]\s?[-−–]?\d)",
    # Prices, sizes, times, hardware, powers of ten.
    rf"[$€£¥]\s?{NUMBER}(?:\s?(?:k|K|M|B|million|billion)\b)?|\b{NUMBER}\s?(?:USD|EUR|dollars|euros)\b",
    rf"(?<![\w.]){NUMBER}\s?[-–]?\s?{_SIZES}\b(?!\s?/)",
    r"(?<![\w.])\d(?:\.\d{1,3})?\s?(?:[×x·*]\s?)10\s?\^?\s?[-−]?\{?\d{1,3}\}?|\b\d(?:\.\d{1,3})?e[+-]?\d{1,3}\b",
    r"\b\d{1,3}\s?[x×]\s?(?=[A-Z]?\d|[A-Z]\w)|\b(?:[A-HV]\d{2,4})\b",
)  # fmt: skip
_NOT_FIGURES = re.compile("|".join(f"(?:{name})" for name in _ASIDES))

# A name that ends in a version: “Model X 4.5”, “x-5.2”, “X 3.1 405B”. A number below one is never a version, a metric never a name.
_LITTLE = r"(?:In|On|At|Of|For|From|To|By|With|About|Around|Only|Over|Under|Nearly|And|Or|Both|All|The|Roughly|Across|These|Those)"
NAMED = re.compile(
    rf"(?<![\w.])(?!{_LITTLE}\s)(?:[A-Z][\w’'-]{{0,30}}|gpt|o)[ -]v?(?!0?\.\d)\d{{1,3}}(?:\.\d{{1,2}}){{0,2}}"
    r"(?![\d%]|\.\d|\s?%|\s?/\s?\d|\s(?:out\s)?of\s)(?:[a-zA-Z]\w{0,8})?"
)
"""Names that end in a version."""
_METRICS = re.compile(
    r"(?:AUROC|AUC|AUPRC|Elo|F1|BLEU|ROUGE|Recall|Precision|Accuracy|Mean|Median|Average|Score|Rate|MCC)\b", re.IGNORECASE
)


def read_number(text: str) -> float:
    """Return the number that *written* stands for, in digits or as a word of `WORDS`."""
    folded = text.strip().casefold()
    return float(WORDS[folded]) if folded in WORDS else float(folded.replace(",", ""))


def blank_asides(words: str) -> str:
    """Return *words* with every number that is no figure overwritten, character for character, so that positions stay."""
    blanked = _NOT_FIGURES.sub(lambda match: "_" * len(match[0]), words)
    return NAMED.sub(lambda match: match[0] if _METRICS.match(match[0]) else "_" * len(match[0]), blanked)


# Shares in running text: per cent, fractions, odds, and words such as "never".

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
# "12.5 ± 1.4%": the sign comes after the spread.
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
# "rated 7.4/10", "a score of 3.2 out of 5": a mark on a scale, whose end is not a number of tasks.
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
_WORDED_SHARES = tuple(
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


def find_percentages(plain: str) -> Iterator[CardFigure]:
    """Yield per cents, ranges of them, percentage points, and changes by a percentage."""
    for hit in _RANGE.finditer(plain):
        before = plain[max(0, hit.start() - 20) : hit.start()]
        low, high = read_number(hit["low"]), read_number(hit["high"])
        # "From 30 to 40 %" is a change and "between 30 and 40 %" a range.
        if low < high and not _FROM.search(before) and (hit["and"] is None or _BETWEEN.search(before)):
            yield replace(_build(hit, None, _read_unit(hit["unit"])), low=low / 100, high=high / 100)
    for hit in _SPREAD.finditer(plain):
        value, margin = _read_share(hit["one"]), _read_share(hit["margin"])
        yield replace(_build(hit, value), low=round(value - margin, 10), high=round(value + margin, 10))
    for hit in _ONE.finditer(plain):
        share = _build(hit, _read_share(hit["one"]), _read_unit(hit["unit"], hit["one"]))
        # "40 % more data" says what went into a model and not what came out.
        if not _INPUT.match(plain[share.stop : share.stop + 60]):
            yield _read_change(share, plain)


def find_denied_fractions(plain: str) -> Iterator[CardFigure]:
    """Yield 0 of a stated whole where it is denied of any: "did not comply with any of the 50"."""
    for hit in _NOT_ANY.finditer(plain):
        if (whole := read_number(hit["whole"])) > 1:
            yield replace(_build(hit, 0.0), n=int(whole), is_in_words=True)


def find_fractions(plain: str) -> Iterator[CardFigure]:
    """Yield parts of a stated whole: "15/32", "0 of 50", "none of the 14", "1 in 1,000"."""
    for pattern in (_FRACTION, _OF):
        for hit in pattern.finditer(plain):
            part, whole = read_number(hit["part"]), read_number(hit["whole"])
            # "One of the models" names a model and counts nothing.
            is_partitive = hit["part"].casefold() == "one" and not hit["whole"].isdigit()
            is_each = hit["part"].casefold() == "one" and _EACH.search(plain[max(0, hit.start() - 8) : hit.start()])
            if part > whole or whole < 1 or is_partitive or is_each or (whole == 1 and not _is_mark(plain, hit, whole)):
                continue
            if _is_mark(plain, hit, whole):
                yield replace(_build(hit, part, FigureUnit.SCORE), scale=f"out of {whole:g}")
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


def find_worded(plain: str) -> Iterator[CardFigure]:
    """Yield shares in words; the value is None where the words give no number ("almost never")."""
    folded = " ".join(plain.lower().split())
    for piece, pattern, value, is_approximate in _WORDED_SHARES:
        for hit in pattern.finditer(plain) if piece in folded else ():
            yield replace(_build(hit, value), is_approximate=is_approximate, is_in_words=True)


def _is_mark(plain: str, hit: re.Match[str], whole: float) -> bool:
    """Whether the second number is the end of a scale."""
    after = plain[hit.end() : hit.end() + 20]
    if whole not in _MARKS or hit["part"].isalpha() or (_NOUN.match(after) and not _PREPOSITION.match(after)):
        return False
    return _MARK.search(plain[max(0, hit.start() - 60) : hit.start()]) is not None


def _build(hit: re.Match[str], value: float | None, unit: FigureUnit = FigureUnit.SHARE) -> CardFigure:
    return CardFigure(start=hit.start(), stop=hit.end(), written=hit[0], unit=unit, value=value)


def _read_share(text: str) -> float:
    """A share from per cent; divided as decimals are, so that 0.55 % is 0.0055 and nothing beside it."""
    digits = text.replace("−", "-")
    digits = digits.replace(",", ".") if re.fullmatch(r"[-+]?\d{1,3},\d{1,2}", digits) else digits.replace(",", "")
    # Rounded as a decimal, so that 0.55 % is exactly 0.0055 and not a float beside it.
    return round(float(digits) / 100, 10)


def _read_unit(text: str, number: str = "") -> FigureUnit:
    """A share with a sign is a difference: “-1.2%”, “+7.9%”."""
    return FigureUnit.POINTS if number[:1] in ("+", "-", "−") or re.match(_POINTS, f"{text} than") else FigureUnit.SHARE


def _read_change(share: CardFigure, plain: str) -> CardFigure:
    if share.unit is not FigureUnit.SHARE or share.value is None:
        return share
    changed = _CHANGED.match(plain[share.stop : share.stop + 30]) or _CHANGED_BY.search(plain[max(0, share.start - 120) : share.start])
    if changed is None:
        return share
    # "A 40 % reduction" compares with another figure; as a share it would claim a rate of 40 %.
    multiple = 1 - share.value if _LESS.match(changed["how"]) else 1 + share.value
    return replace(share, unit=FigureUnit.MULTIPLE, value=round(multiple, 10))


# Figures in running text other than shares: scores on their own scales, counts of findings, and multiples.

# "0.778 pass@200", "161.29 AECI": the scale comes after the number.
_BEHIND = re.compile(
    rf"{BEFORE}(?P<one>{SIGN}{NUMBER})\s?"
    r"(?P<scale>pass[@^]\d{1,5}|recall|precision|accuracy|F1|AUROC|AUC|AUPRC|ROC[- ]AUC|Elo|BLEU|chrF|ROUGE(?:-L)?|MCC|[A-Z]{3,6}\b)"
)
# "a mean score of 0.88", "AUROC < 0.6", "Elo 1287": the scale comes before the number.
_SCALE = (
    r"(?P<scale>scores?|AUROC|AUC|AUPRC|F1(?:[- ]scores?)?|recall|precision|accuracy|Elo(?:\srating)?|rating|perplexity|correlation|kappa"
    r"|success\srate|rate|estimate|average|mean|median|BLEU|ROUGE(?:-L)?|MCC)"
)
_LINK = r"(?:of|is|was|at|to|reached|from|remained|averaged)"
_ABOUT = r"(?:about\s|approximately\s|around\s|roughly\s|~\s?|only\s|just\s)?"
_SCORE_PREPOSITION = (
    r"(?:on|in|for|at|across|under|with|against|versus|vs|compared|and|to|when|while|from|after|among|over|as|but|which|than|points?)\b"
)
# An integer before a noun counts things (“scores among 25 models”); before a preposition or at the end it is a score.
_NO_COUNT = (
    r"(?![\w%/-]|\s?%|[.,]\d|\s(?:\w+\s)?(?:of|out)\b)"
    rf"(?:(?<=\.\d)|(?<=\.\d\d)|(?<=\.\d\d\d)|(?<=\.\d\d\d\d)|(?!\s(?!{_SCORE_PREPOSITION})[a-z]))"
)
_AHEAD = re.compile(
    rf"\b{_SCALE}\b(?:(?:\s(?!(?:and|or|among|across)\b)[\w@-]{{1,20}}){{0,4}}?\s{_LINK}|\s?[=:(]|\s?[<>≤≥])?\s?"
    rf"{_ABOUT}\(?(?P<one>{SIGN}{NUMBER}){_NO_COUNT}",
    re.IGNORECASE,
)
_SCORED = re.compile(
    r"\b(?:scor(?:ed|es|ing)|achiev(?:ed|es|ing)|reach(?:ed|es|ing)|attain(?:ed|s|ing)|obtain(?:ed|s|ing)|earn(?:ed|s))\s(?:an?\s)?"
    rf"{_ABOUT}(?P<one>{SIGN}{NUMBER})(?=\s(?:on|in|for|at|across|under|with|against|versus|vs|compared|and\s\d)\b|[,;.)](?!\d)|\s?\(|$)",
    re.IGNORECASE,
)
# “At the 82nd percentile of human writers”.
_PERCENTILE = re.compile(r"\b(?P<one>\d{1,2})(?:st|nd|rd|th)\s(?P<scale>percentiles?)\b")
_DECIMAL = re.compile(rf"{BEFORE}(?P<one>{SIGN}\d{{1,4}}\.\d{{1,4}})(?![\w%]|\s?%|\.\d|/)")
_ANY_SCALE = re.compile(
    r"\b(?:scor(?:ed|es?|ing)|AUROC|AUC|F1|recall|precision|accuracy|correlation|kappa|rates?|performance|metrics?)\b", re.IGNORECASE
)

# What is counted when a red team or a monitor reports.
_FOUND = re.compile(
    rf"(?<!-)\b(?P<one>{NUMBER}|{WORD}|a\ssingle)\s(?P<noun>(?:[a-z-]{{3,20}}\s){{0,3}}?(?:false\s(?:negatives|positives|alarms)|instances?|jailbreaks?"
    r"|failures?|violations?|incidents?|refusals?|vulnerabilit(?:y|ies)|exploits?|errors?|breaches|escapes?|hallucinations?|flags?|misses|bypasses"
    r"|zero-days?))\b",
    re.IGNORECASE,
)
# “… on 76 challenges; it solved 28 of them”.
_OF_THEM = re.compile(
    rf"\b(?:solv|complet|pass|fail|refus|detect|flag|block|answer|exploit|finish|reproduc)\w{{1,3}}\s(?P<one>{NUMBER}|{WORD})\s(?P<noun>of\s(?:them|these|those))"
    r"(?=\s?(?:[.,;:)]|$|and\b|while\b|but\b|with\b|in\b|on\b))",
    re.IGNORECASE,
)
_COUNTED_WHOLE = re.compile(
    r"(?<![\w.,])(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,6})\s(?:[a-z-]{2,20}\s){0,2}(?:tasks|challenges|problems|questions|requests|prompts|scenarios|attacks|exercises|cases"
    r"|runs|trials|attempts|conversations|transcripts|items)\b"
)
_BEHIND_WHOLE = 160
"""Characters before "of them" in which what they are is looked for."""
# “More failures in X (12) than in Y (7)”: counts in brackets behind what is counted.
_IN_BRACKETS = re.compile(
    r"\b(?:more|fewer|less)\s(?P<noun>(?:[a-z-]{3,20}\s){0,3}?(?:instances?|cases|jailbreaks?|failures?|violations?|incidents?|refusals?|vulnerabilit(?:y|ies)|exploits?"
    rf"|errors?|breaches|escapes?|hallucinations?|flags?|misses|bypasses))\b[^.;()]{{0,60}}\((?P<one>{NUMBER})\)(?:[^.;()]{{0,60}}\((?P<other>{NUMBER})\))?",
    re.IGNORECASE,
)
# “There were eighteen transcripts that …”: what a person or a grader picked out.
_THERE_WERE = re.compile(
    rf"\b(?:there\s(?:were|was)|we\s(?:found|identified|saw|observed))\s(?:only\s|just\s|about\s)?(?P<one>{NUMBER}|{WORD})\s"
    r"(?P<noun>(?:transcripts?|conversations?|cases?|responses?|episodes?|outputs?|runs?|examples?))(?=\s(?:that|in\swhich|where|with|of)\b)",
    re.IGNORECASE,
)
# “has not resulted in a single …”: none were found.
_DENIED = re.compile(r"(?:\b(?:not|never|no|nobody|unable\sto|without|failed\sto)|n[’']t)\b[^.;,]{0,40}$", re.IGNORECASE)

_MULTIPLE = re.compile(
    rf"{BEFORE}(?P<one>\b{NUMBER}|\b{WORD})(?:\s?×|\s?[xX]\b(?!\s?\d)|[\s-]?fold\b"
    r"|\stimes\b(?=\s(?:higher|lower|more|less|fewer|as|greater|larger|smaller|better|worse|the\s(?:rate|number|level))))",
    re.IGNORECASE,
)
# A multiple of another figure: "by 3×#", "#2× higher"; not "3× memory" or "8x repeats". The mark # replaces the figure.
_COMPARED = re.compile(
    r"\bby\s(?:\w+\s)?#|#[\s-]*(?:\w+\s){0,2}?(?:decrease|reduc|lower|less|fewer|drop|declin|small|increas|higher|more|great|larg|improv|better"
    r"|worse|faster|often|as\b|that\sof|the\s(?:rate|number|level))",
    re.IGNORECASE,
)
_FEWER = re.compile(r"^[\s-]*(?:a\s)?(?:decrease|reduc|lower|less|fewer|drop|declin|smaller)", re.IGNORECASE)
_RATES = r"(?:rates?|levels?|frequency|often|many|much|likely|that\sof)"
_WORDED_MULTIPLES = tuple(
    (piece, re.compile(pattern, re.IGNORECASE), value)
    for piece, pattern, value in (
        ("hal", r"\bhal(?:ved|ves|ving)\b", 0.5),
        ("half", rf"\bhalf\s(?:of\s)?(?:the|that|those|its|as)\b(?=[\w\s.’'-]{{0,40}}\b{_RATES}\b)", 0.5),
        ("half", r"\bhalf\sof\s(?=[\w\s.’'-]{0,40}[’']s\s(?:\w+\s)?rates?\b)", 0.5),
        ("", r"\b(?:doubl(?:ed|es|ing)|twice)\b", 2.0),
        ("tripl", r"\btripl(?:ed|es|ing)\b", 3.0),
        ("quadrupl", r"\bquadrupl(?:ed|es|ing)\b", 4.0),
    )
)


def _time(name: str) -> str:
    """A duration in hours and minutes, whose parts are groups that begin with *name*."""
    minutes = r"\s?(?:min|mins|minutes?|m)\b"
    return (
        rf"(?:(?P<{name}h>{NUMBER})[\s-]?(?:h|hrs?|hours?)\b(?:,?\s(?:and\s)?(?P<{name}m>\d{{1,2}}){minutes})?"
        rf"|(?P<{name}only>{NUMBER}){minutes})"
    )


# “A 50 % time horizon of 2 h 17 min (95 % CI 1 h 5 min–4 h)”. Other durations say how a test was made.
_DURATION = re.compile(
    rf"\b(?:horizons?|(?:mean|median|average)\stime)\b[^.;\d]{{0,60}}?(?P<all>{_time('v')}"
    rf"(?:\s?[(\[,]\s?(?:95\s?%\s)?CI:?\s?[(\[]?\s?{_time('l')}\s?(?:–|—|-|,|to)\s?{_time('t')}\s?[)\]]{{0,2}})?)"
)


def find_scores(plain: str) -> Iterator[CardFigure]:
    """Yield numbers that a scale or a verb of scoring marks as scores."""
    for pattern in (_BEHIND, _AHEAD, _SCORED, _PERCENTILE):
        for hit in pattern.finditer(plain):
            stop = hit.end() if pattern in (_BEHIND, _PERCENTILE) else hit.end("one")
            yield _build_score(plain, hit.start("one"), stop, hit["one"], hit.groupdict().get("scale"))


def find_durations(words: str) -> Iterator[CardFigure]:
    """Yield time horizons and mean times, in hours, with their interval."""
    for hit in _DURATION.finditer(words):
        value, low, high = (_read_hours(hit, name) for name in "vlt")
        yield CardFigure(
            start=hit.start("all"),
            stop=hit.end("all"),
            written=hit["all"],
            unit=FigureUnit.SCORE,
            value=value,
            low=low,
            high=high,
            scale="hours",
        )  # fmt: skip


def _read_hours(hit: re.Match[str], name: str) -> float | None:
    if hit[f"{name}only"]:
        return round(read_number(hit[f"{name}only"]) / 60, 10)
    if hit[f"{name}h"] is None:
        return None
    return round(read_number(hit[f"{name}h"]) + read_number(hit[f"{name}m"] or "0") / 60, 10)


def find_more_scores(card_figures: list[CardFigure], plain: str) -> Iterator[CardFigure]:
    """Yield the decimals that share the scale of the scores in *found*: “0.88, compared to 0.75 for …”.

    Without any there, decimals below 1 are scores where the sentence speaks of some: “scored higher (0.49, compared to 0.40)”.
    """
    first = next((card_figure for card_figure in card_figures if card_figure.unit is FigureUnit.SCORE and "." in card_figure.written), None)
    if first is None and not _ANY_SCALE.search(plain):
        return
    for hit in _DECIMAL.finditer(plain):
        if first is not None or abs(_read_signed(hit["one"])) < 1:
            yield _build_score(plain, hit.start(), hit.end(), hit["one"], first.scale if first else None)


def find_counts(plain: str) -> Iterator[CardFigure]:
    """Yield counts of things found without their whole; 0 where it is denied that there was one."""
    for hit in chain(_FOUND.finditer(plain), _OF_THEM.finditer(plain), _THERE_WERE.finditer(plain)):
        value = 1.0 if hit["one"].casefold() == "a single" else read_number(hit["one"])
        if hit.re is _OF_THEM and (whole := _find_whole(plain[max(0, hit.start() - _BEHIND_WHOLE) : hit.start()], value)):
            start, stop = hit.start("one"), hit.end()
            yield CardFigure(start=start, stop=stop, written=plain[start:stop], unit=FigureUnit.SHARE, value=value / whole, n=whole)
            continue
        # "Has not resulted in a single case" is a count of 0.
        if value == 1 and _DENIED.search(plain[max(0, hit.start() - 50) : hit.start()]):
            value = 0.0
        yield CardFigure(
            start=hit.start("one"),
            stop=hit.end(),
            written=plain[hit.start("one") : hit.end()],
            unit=FigureUnit.COUNT,
            value=value,
            scale=hit["noun"].strip(),
            is_in_words=hit["one"][0].isalpha(),
        )
    for hit in _IN_BRACKETS.finditer(plain):
        for part in ("one", "other") if hit["other"] else ("one",):
            start, stop = hit.span(part)
            yield CardFigure(
                start=start, stop=stop, written=hit[part], unit=FigureUnit.COUNT, value=read_number(hit[part]), scale=hit["noun"].strip()
            )


def _find_whole(before: str, part: float) -> int | None:
    """Return the one number of tasks or the like that "of them" means; None where there is none, or more than one."""
    wholes = {int(read_number(hit["whole"])) for hit in _COUNTED_WHOLE.finditer(before)}
    return next((whole for whole in wholes if whole > 1 and whole >= part), None) if len(wholes) == 1 else None


def find_multiples(plain: str) -> Iterator[CardFigure]:
    """Yield how many times another figure something is; "a 2× decrease" is 0.5."""
    for hit in _MULTIPLE.finditer(plain):
        value, after = read_number(hit["one"]), plain[hit.end() : hit.end() + 30]
        if value > 0 and _COMPARED.search(f"{plain[max(0, hit.start() - 12) : hit.start()]}#{after}"):
            value = 1 / value if _FEWER.match(after) else value
            yield CardFigure(start=hit.start(), stop=hit.end(), written=hit[0], unit=FigureUnit.MULTIPLE, value=value)
    folded = plain.lower()
    for piece, pattern, value in _WORDED_MULTIPLES:
        for hit in pattern.finditer(plain) if piece in folded else ():
            yield CardFigure(start=hit.start(), stop=hit.end(), written=hit[0], unit=FigureUnit.MULTIPLE, value=value, is_in_words=True)


def _build_score(plain: str, start: int, stop: int, number: str, scale: str | None) -> CardFigure:
    return CardFigure(start=start, stop=stop, written=plain[start:stop], unit=FigureUnit.SCORE, value=_read_signed(number), scale=scale)


def _read_signed(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


# The immediate surroundings of a figure: bound, hedge, ± or interval, and n.

_BOUND_GAP = r"\s?(?:of\s|about\s|approximately\s|roughly\s|around\s|an?\s|the\s|only\s|just\s|~\s?)?\(?$"
_AT_MOST = (
    r"\b(?:at\smost|no\smore\sthan|not\smore\sthan|no\shigher\sthan|no\sgreater\sthan|not\sexceed(?:ed|ing)?|up\sto|a?\s?maximum(?:\sof)?"
    r"|never\s(?:more\sthan|above|over|exceed\w*))"
)
_AT_LEAST = (
    r"\b(?:at\sleast|no\sless\sthan|not\sless\sthan|no\sfewer\sthan|no\slower\sthan|a?\s?minimum(?:\sof)?"
    r"|never\s(?:less\sthan|below|under))"
)
_BELOW = r"\b(?:less\sthan|fewer\sthan|lower\sthan|smaller\sthan|under|below|beneath)"
_ABOVE = (
    r"\b(?:more\sthan|greater\sthan|higher\sthan|larger\sthan|above|exceed(?:s|ed|ing)?|upwards?\sof|in\sexcess\sof"
    r"|surpass(?:es|ed|ing)?)"
)
# “Averaged over 8 of the tests” bounds nothing.
_OVER = (
    r"(?<!averaged\s)(?<!average\s)(?<!mean\s)(?<!distributed\s)(?<!spread\s)(?<!taken\s)(?<!computed\s)(?<!measured\s)(?<!aggregated\s)(?<!pooled\s)"
    r"(?<!summed\s)(?<!evaluated\s)(?<!ran\s)(?<!run\s)\bover"
)
# Bounds before the figure: wording, relation, whether it excludes the value. The longer wording comes first, since it contains the shorter.
_BOUNDS_BEFORE = tuple(
    (re.compile(rf"(?:{words}){_BOUND_GAP}", re.IGNORECASE), relation, is_strict)
    for words, relation, is_strict in (
        (r"≤|<=|⩽", Relation.AT_MOST, False),
        (r"≥|>=|⩾", Relation.AT_LEAST, False),
        (r"<", Relation.AT_MOST, True),
        (r"(?<!-)>", Relation.AT_LEAST, True),
        (_AT_MOST, Relation.AT_MOST, False),
        (_AT_LEAST, Relation.AT_LEAST, False),
        (_BELOW, Relation.AT_MOST, True),
        (_ABOVE, Relation.AT_LEAST, True),
        (_OVER, Relation.AT_LEAST, True),
    )
)
_BOUNDS_AFTER = (
    (re.compile(r"^\s?(?:,\s)?\(?or\s(?:less|fewer|below|lower|under)\b", re.IGNORECASE), Relation.AT_MOST),
    (re.compile(r"^\s?(?:,\s)?\(?or\s(?:more|higher|above|greater|better|over)\b", re.IGNORECASE), Relation.AT_LEAST),
    (re.compile(r"^\+(?!\d|/)"), Relation.AT_LEAST),
    (re.compile(r"^\s(?:at\s(?:the\s)?most)\b", re.IGNORECASE), Relation.AT_MOST),
)
_HEDGE = re.compile(
    r"(?:~|≈|\b(?:about|approximately|approx\.?|roughly|around|nearly|almost|close\sto|some|circa|on\sthe\sorder\sof|an?\sestimated))"
    r"\s?(?:an?\s|of\s)?\(?$",
    re.IGNORECASE,
)
_PLUS_MINUS = re.compile(rf"^\s?\(?\s?(?:±|\+/-|\+-|\\pm|&plusmn;)\s?(?P<margin>{NUMBER})\s?(?:%|pp|percentage\spoints)?(?:\s?\))?")
_INTERVAL = re.compile(
    rf"^\s?[,;(\[]?\s?(?:[_\d.%\s-]{{0,8}}(?:\b(?:CIs?|confidence\sintervals?|credible\sintervals?|interval|HDI)\b|(?<=_))|(?:CI|C\.I\.))?[\s:,=_]{{0,3}}"
    rf"[\[(]?\s?(?P<low>[-−]?{NUMBER})\s?%?\s?(?:,|–|—|-|to|;)\s?(?P<high>[-−]?{NUMBER})\s?%?\s?[\])]{{0,2}}"
)
_MARKED = re.compile(r"\bCIs?\b|interval|HDI|[\[(]\s?[-−]?[\d.]|_", re.IGNORECASE)
_NAMED_INTERVAL = re.compile(
    r"(?:\b(?:confidence\sintervals?|credible\sintervals?|CIs?)\b|_\sintervals?\b|_(?=\s?(?:of\s?|:\s?)?[\[(]))\s?"
    rf"(?:of\s|from\s|is\s|was\s|:\s|=\s?)?[\[(]?\s?(?P<low>[-−]?{NUMBER})\s?%?\s?(?:,|–|—|-|to|;)\s?"
    rf"(?P<high>[-−]?{NUMBER})\s?%?"
)
_FAR = 100
"""Characters between a figure and its interval."""
_N = re.compile(rf"^[^.;]{{0,40}}?\b[nN]\s?=\s?(?P<n>{NUMBER})\b\)?")
_N_AFTER = re.compile(r"^\s(?:of|on|across|in|over)\s(?:the\s|all\s|our\s)?(?P<n>\d{1,3}(?:,\d{3}){1,2}|\d{2,7})\s(?!%)[a-z]")


def read_surroundings(card_figure: CardFigure, words: str, plain: str) -> CardFigure:
    """Return *one* with what stands around it in *words*; *plain* are the same words without numbers that are no figures."""
    card_figure = _add_spread(card_figure, words, plain)
    card_figure = _add_n(card_figure, words)
    card_figure = _add_bound(card_figure, plain)
    hedge = _HEDGE.search(plain[max(0, card_figure.start - 30) : card_figure.start])
    if hedge:
        return _widen(replace(card_figure, is_approximate=True), words, start=card_figure.start - len(hedge[0]))
    return replace(card_figure, written=words[card_figure.start : card_figure.stop])


def attach_intervals(card_figures: list[CardFigure], plain: str) -> list[CardFigure]:
    """Give an interval that is named some words later ("…, with a 95 % confidence interval of [0 %, 7 %]") to the figure it holds."""
    starts = [card_figure.start for card_figure in card_figures]
    owners: dict[int, CardFigure] = {}
    ends: set[int] = set()
    for hit in _NAMED_INTERVAL.finditer(plain):
        first = bisect_left(starts, hit.start())
        # The nearest figure before it without an interval of its own.
        near = range(first - 1, max(-1, first - 1 - _FAR), -1)
        place = next(
            (
                number
                for number in near
                if number not in owners and card_figures[number].low is None and card_figures[number].value is not None
            ),
            None,
        )
        if place is None or not 0 <= hit.start() - card_figures[place].stop <= _FAR:
            continue
        if owner := _hold(card_figures[place], hit):
            owners[place] = owner
            ends |= set(range(first, bisect_left(starts, hit.end())))
    return [owners.get(place, figure) for place, figure in enumerate(card_figures) if place not in ends]


def _hold(card_figure: CardFigure, hit: re.Match[str]) -> CardFigure | None:
    """Return *one* with the interval, in per cent where its ends or the figure are; None where it lies outside."""
    low, high = float(_digits(hit["low"])), float(_digits(hit["high"]))
    factor = 0.01 if "%" in hit[0] or ("%" in card_figure.written and high > 1) else 1.0
    low, high = round(low * factor, 10), round(high * factor, 10)
    return replace(card_figure, low=low, high=high) if low <= (card_figure.value or 0.0) <= high else None


def _add_bound(card_figure: CardFigure, plain: str) -> CardFigure:
    before, after = plain[max(0, card_figure.start - 40) : card_figure.start], plain[card_figure.stop : card_figure.stop + 20]
    # A bound after the figure ("5 % or less") is unambiguous, so it comes before the words in front, which may belong
    # to another figure.
    for pattern, relation in _BOUNDS_AFTER:
        if hit := pattern.match(after):
            return _widen(replace(card_figure, bound=relation), plain, stop=card_figure.stop + hit.end())
    for pattern, relation, is_strict in _BOUNDS_BEFORE:
        if hit := pattern.search(before):
            return _widen(
                replace(card_figure, bound=relation, is_strict=is_strict), plain, start=card_figure.start - len(before) + hit.start()
            )
    return card_figure


def _add_spread(card_figure: CardFigure, words: str, plain: str) -> CardFigure:
    """The ± or interval that follows, in the unit of the figure."""
    if card_figure.value is None or card_figure.unit not in (FigureUnit.SHARE, FigureUnit.SCORE, FigureUnit.POINTS):
        return card_figure
    after = words[card_figure.stop : card_figure.stop + 80]
    is_fraction = card_figure.unit is FigureUnit.SHARE and card_figure.n is not None and "%" not in card_figure.written
    factor = 1.0 if card_figure.unit is FigureUnit.SCORE or is_fraction else 0.01
    if hit := _PLUS_MINUS.match(after):
        margin = float(hit["margin"].replace(",", "")) * (0.01 if "%" in hit[0] else factor)
        low, high = round(card_figure.value - margin, 10), round(card_figure.value + margin, 10)
        return _widen(replace(card_figure, low=low, high=high), words, stop=card_figure.stop + hit.end())
    hit = _INTERVAL.match(plain[card_figure.stop : card_figure.stop + 80])
    if hit is None or not _MARKED.search(hit[0]):
        return card_figure
    scale = 0.01 if "%" in card_figure.written and ("%" in hit[0].split("[")[-1] or float(_digits(hit["high"])) > 1) else factor
    low, high = (round(float(_digits(hit[end])) * scale, 10) for end in ("low", "high"))
    # An interval that does not contain the figure belongs to another one.
    if not low <= card_figure.value <= high:
        return card_figure
    return _widen(replace(card_figure, low=low, high=high), words, stop=card_figure.stop + hit.end())


def _digits(text: str) -> str:
    return text.replace("−", "-").replace(",", "")


def _add_n(card_figure: CardFigure, words: str) -> CardFigure:
    if card_figure.n is not None or card_figure.unit not in (FigureUnit.SHARE, FigureUnit.SCORE):
        return card_figure
    hit = _N.match(words[card_figure.stop : card_figure.stop + 60]) or (
        _N_AFTER.match(words[card_figure.stop : card_figure.stop + 40]) if card_figure.unit is FigureUnit.SHARE else None
    )
    return card_figure if hit is None else replace(card_figure, n=int(float(_digits(hit["n"]))))


def _widen(card_figure: CardFigure, words: str, *, start: int | None = None, stop: int | None = None) -> CardFigure:
    start, stop = card_figure.start if start is None else start, card_figure.stop if stop is None else stop
    return replace(card_figure, start=start, stop=stop, written=words[start:stop].strip())


# The figures of a passage, each with bound, interval and n.
#
# Numbers that only look like figures (dates, versions, page numbers, confidence levels, prices) are removed first.
# Every repeat in a pattern is bounded, so that hostile text cannot make a search exponential.

_DIGIT = re.compile(r"\d")
# Without a digit or one of these words there is no figure. Most sentences end here.
_WORDS = re.compile(
    r"\b(?:never|none|zero|perfect|hal[fv]|twice|doubl|tripl|quadrupl|third|quarter|almost|nearly|near|close|no|all|every|single|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve)",
    re.IGNORECASE,
)
_JOINED = 90
"""Characters between a percentage and the fraction that says the same."""
_ROUNDED = 0.0051
"""How far apart they may be: half a per cent, for whole per cents."""


def find_quantities(words: str) -> tuple[CardFigure, ...]:
    """Return the figures of running text in their order, without overlaps.

    A share and the fraction it comes from ("15/30 (50 %)") are one figure with its n; a ± or an interval belongs to the
    figure before it. Figures of other models are figures too: whose they are is for `comparison` to say.
    """
    if _DIGIT.search(words):
        plain = blank_asides(words)
        # Of overlapping figures the first in this list is kept, so readers come in the order of how specific they are.
        figures = _settle(
            [*find_percentages(plain), *find_multiples(plain), *find_denied_fractions(plain), *find_fractions(plain), *find_worded(plain)]
        )
        figures = _settle([*find_durations(words), *figures, *find_scores(plain), *find_counts(plain)])
        figures = _settle([*figures, *find_more_scores(figures, plain)])
    elif _WORDS.search(words):
        plain = words
        figures = _settle(
            [*find_multiples(plain), *find_denied_fractions(plain), *find_fractions(plain), *find_worded(plain), *find_counts(plain)]
        )
    else:
        return ()
    widened = attach_intervals(_drop_swallowed(read_surroundings(figure, words, plain) for figure in figures), plain)
    return tuple(_join_fractions(widened, words))


def _settle(card_figures: list[CardFigure]) -> list[CardFigure]:
    """Of figures that overlap those that came first, in the order of the text."""
    taken = bytearray(max((card_figure.stop for card_figure in card_figures), default=0))
    kept: list[CardFigure] = []
    for figure in card_figures:
        if not any(taken[figure.start : figure.stop]):
            taken[figure.start : figure.stop] = b"\1" * (figure.stop - figure.start)
            kept.append(figure)
    return sorted(kept, key=lambda figure: figure.start)


def _drop_swallowed(card_figures: Iterable[CardFigure]) -> list[CardFigure]:
    """Without what became the ± or interval of the figure before it."""
    kept: list[CardFigure] = []
    for card_figure in card_figures:
        if not kept or card_figure.start >= kept[-1].stop:
            kept.append(card_figure)
    return kept


def _join_fractions(card_figures: list[CardFigure], words: str) -> list[CardFigure]:
    """Make one figure of a percentage and a neighbouring fraction that says the same."""
    joined: list[CardFigure] = []
    for card_figure in card_figures:
        last = joined[-1] if joined else None
        if last is not None and _says_same(last, card_figure) and card_figure.start - last.stop <= _JOINED:
            joined[-1] = _join(last, card_figure, words)
        else:
            joined.append(card_figure)
    return joined


def _says_same(first: CardFigure, second: CardFigure) -> bool:
    """Whether one is a fraction and the other its percentage, rounded at most to whole per cents."""
    if first.unit is not FigureUnit.SHARE or second.unit is not FigureUnit.SHARE or first.value is None or second.value is None:
        return False
    return (first.n is None) != (second.n is None) and abs(first.value - second.value) <= _ROUNDED


def _join(first: CardFigure, second: CardFigure, words: str) -> CardFigure:
    is_closed = words[second.stop : second.stop + 1] == ")" and "(" in words[first.stop : second.start]
    stop = second.stop + is_closed
    percent = first if first.n is None else second
    return replace(percent, start=first.start, stop=stop, written=words[first.start : stop], n=first.n or second.n, is_in_words=False)
