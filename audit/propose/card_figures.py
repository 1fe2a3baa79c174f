"""Figures in the words of a card: number, unit, bound, hedge, interval and whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from audit.propose.vocabulary import join_expressions
from registry.intake.stated_bounds import LEAST, MOST
from registry.records.claim import Relation


class FigureUnit(StrEnum):
    """What a figure counts in."""

    SHARE = "share"
    """Per cent, a fraction of a stated whole ("15/32"), or a share in words ("never"); the value is between 0 and 1."""
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
    """As the card writes it, with its bound and unit: "<4%", "15/32", "99.38% (± 0.21%)"."""
    unit: FigureUnit
    value: float | None
    """In the unit; None for a range without a middle ("1–2%") and for words without a number ("almost never")."""
    low: float | None = None
    high: float | None = None
    """Ends of an interval, of a ± around the value, or of a range."""
    n: int | None = None
    """The whole of a fraction, or a stated n."""
    scale: str | None = None
    """Name of the scale of a score: "AECI", "AUROC"; what is counted, for a count."""
    bound: Relation | None = None
    """Whether it is written as a bound ("<4%", "at most", "5% or less"); None for a figure."""
    is_approximate: bool = False
    is_in_words: bool = False
    """Whether no digit is written: "never", "a perfect score"."""
    label: str | None = None
    """What a cell with several figures, or a list item, calls this one: "hard" in "7/8 easy, 1/12 hard"."""


# Numbers, and numbers that count, date, name or price something else than a result. What they cover is blanked
# character for character, so that positions stay. Every repeat is bounded: hostile text cannot make a search
# exponential.

NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,3}(?:\.\d{1,6})?|\d{1,9}(?:\.\d{1,6})?|\.\d{1,6})"
_SIGN = r"(?:(?<![\w)%\]])[-−+])?"
_BEFORE = r"(?<![\w.,/@])(?<!\w-)"
"""Before a number that is no part of a word, a number or a name: not "o1-1217"."""
_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "none": 0, "no": 0, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100,
}  # fmt: skip
_WORD = "(?:" + "|".join(_WORDS) + ")"
_THE = r"(?:(?:the|these|those|all|our|its|a\stotal\sof)\s){0,2}"
_ASIDES = join_expressions("asides")
_PART_OF = re.compile(rf"(?:(?:[\d%]|\b{_WORD})\s(?:out\s)?|^|[,;:]\s)of\s{_THE}$", re.IGNORECASE)
"""Before the whole of a fraction: "12 of the", "94 % of"."""
_LITTLE = r"(?:In|On|At|Of|For|From|To|By|With|About|Around|Only|Over|Under|Nearly|And|Or|Both|All|The|Roughly|Across|These|Those|Out)"
_METRIC = r"(?:AUROC|AUC|AUPRC|Elo|F1|BLEU|ROUGE|Recall|Precision|Accuracy|Mean|Median|Average|Score|Rate|MCC)"
_NAMED = re.compile(
    rf"(?<![\w.])(?!{_LITTLE}\s|{_METRIC}\b)(?:[A-Z][\w’'-]{{0,30}}|gpt|o)[ -]v?(?!0?\.\d)\d{{1,3}}(?:\.\d{{1,2}}){{0,2}}"
    r"(?![\d%]|\.\d|\s?%|\s?/\s?\d|\s(?:out\s)?of\s)(?:[a-zA-Z]\w{0,8})?"
)
"""Names that end in a version: “Model X 4.5”. A number below one is never a version, a metric never a name."""


def read_number(text: str) -> float:
    """Return the number that *text* stands for, in digits or as a word."""
    folded = text.strip().casefold().replace("−", "-")
    if folded in _WORDS:
        return float(_WORDS[folded])
    # “36,6 %”: a comma is a decimal sign where it has no thousands behind it.
    return float(re.sub(r",(?=\d{1,2}$)", ".", folded) if re.fullmatch(r"-?\d{1,3},\d{1,2}", folded) else folded.replace(",", ""))


def blank_asides(words: str) -> str:
    """Return *words* with every number that is no figure overwritten; "of 40 experts" behind a number is the whole of a fraction."""
    blanked = _ASIDES.sub(lambda match: match[0] if _PART_OF.search(words[: match.start()]) else "_" * len(match[0]), words)
    return _NAMED.sub(lambda match: "_" * len(match[0]), blanked)


# Readers, the more specific first. Each gives figures without their surroundings.

_PERCENT = r"(?:%|per\s?cent\b|percent\b|pct\b)"
_POINTS = (
    r"(?:(?:percentage|percent|per\scent)[\s-]points?\b|%[\s-]?points?\b|pp\b|p\.p\."
    r"|points?\b(?=\s(?:above|below|higher|lower|more|less|better|worse|over|than)))"
)
_DIGITS = rf"(?:\d{{1,3}},\d{{1,2}}(?=\s?%)|{NUMBER})"
_RANGE = re.compile(rf"{_BEFORE}(?P<low>{NUMBER})\s?{_PERCENT}?\s?(?:–|—|-|\bto\b)\s?(?P<high>{NUMBER})\s?(?:{_PERCENT})")
_SHARE = re.compile(rf"{_BEFORE}(?P<one>{_SIGN}{_DIGITS})(?:\s?(?:±|\+/-)\s?(?P<margin>{NUMBER}))?\s?(?:(?P<points>{_POINTS})|{_PERCENT})")
_WHOLE = r"\d{1,3}(?:,\d{3}){1,2}|\d{1,7}"
_PARTS = (
    re.compile(rf"{_BEFORE}(?P<part>{NUMBER})\s?/\s?(?P<whole>{_WHOLE})(?![\w/]|[.,]\d)"),
    re.compile(
        rf"{_BEFORE}(?P<part>\b{NUMBER}|\b{_WORD})(?:\s[a-z-]{{3,20}})?\s(?:out\s)?of\s{_THE}(?P<whole>{_WHOLE}|{_WORD})\b(?!\s?%"
        rf"|[.,]\d)", re.IGNORECASE
    ),
)  # fmt: skip
MARKS = (1, 3, 4, 5, 6, 7, 10, 100)
"""The highest marks of usual scales."""
_MARK = re.compile(r"\b(?:rat(?:ed|ings?)|scor(?:e|es|ed|ing)|grad(?:e|es|ed)|marks?)\b[^.;]{0,40}$", re.IGNORECASE)
_NOUN = re.compile(
    r"^\s(?!on\b|in\b|for\b|at\b|across\b|under\b|with\b|against\b|vs\b|and\b|when\b|while\b|after\b|by\b|compared\b)[A-Za-z]{3,}"
)
_EACH = re.compile(r"\b(?:each|every|any|per)\s$", re.IGNORECASE)
_CHANGED = re.compile(
    r"^\s(?:relative\s)?(?P<how>reduction|decrease|drop|decline|increase|improvement|gain|higher|lower|more|less|fewer|better|worse"
    r"|faster)\b", re.IGNORECASE
)  # fmt: skip
_CHANGED_BY = re.compile(
    r"\b(?P<how>reduc|decreas|increas|improv|lead|drop|fell|fall|ris|rose|lower|outperform|exceed|surpass|declin"
    r"|cut)\w{0,4}\b(?:[^.;,]{0,60}\bby|\sof)\s(?:about\s|over\s|~|up\sto\s|more\sthan\s)?$",
    re.IGNORECASE,
)  # fmt: skip
_INPUT = re.compile(
    r"^\s(?:more|fewer|less|larger|smaller)\s(?:[\w-]{1,20}\s)?(?:data|compute|tokens?|param\w*|examples?|GPUs?|memory|steps)\b",
    re.IGNORECASE,
)
_LESS = re.compile(r"reduc|decreas|drop|declin|lower|less|fewer|fell|fall|cut|small", re.IGNORECASE)
_MULTIPLE = re.compile(
    rf"{_BEFORE}(?P<one>\b{NUMBER}|\b{_WORD})(?:\s?×|\s?[xX]\b(?!\s?\d)|[\s-]?fold\b|\stimes\b)(?=\s?[\s-]?(?:as"
    rf"|(?:\w+\s){{0,2}}?(?:high|low|more|less|fewer|great|large|larger|small|better|worse"
    r"|faster|decrease|reduc|increas|improv|drop|often|that\sof|the\s(?:rate|number|level)))|[.,;)]|\s(?:compared|over|relative"
    r"|speed-?ups?\b))",
    re.IGNORECASE,
)  # fmt: skip
_PLAIN_TIMES = re.compile(r"^\s?(?:[.,;)]|(?:speed-?ups?|compared|relative)\b|$)", re.IGNORECASE)
_NEARLY = r"(?:almost|nearly|virtually|practically|hardly|close\sto|near|effectively|approaching)"
_WORDED = tuple(
    (re.compile(pattern, re.IGNORECASE), value, is_rough)
    for pattern, value, is_rough in (
        (rf"\b{_NEARLY}[\s-](?:never|ever|none|always|all|(?:an?\s)?perfect(?:ly)?)\b", None, True),
        (rf"\b{_NEARLY}[\s-](?:zero|0)\b(?!\.\d|\s?%)", None, True),
        (r"(?<!\bto\s)(?<!\bwe\s)(?<!\bI\s)(?<!that\swas\s)(?<!that\swere\s)(?<!which\swas\s)\bnever\b(?!\s(?:\w+\s){0,2}\d)", 0.0, False),
        (
            r"\b(?:none|zero)\sof\s(?:the|these|those|our|its)\b(?!\s(?:\d|(?:\w+\s)?(?:method|approach|technique|stud(?:y|ie)|work|paper)(?:e?s)?\b))",
            0.0,
            False,
        ),
        (r"\bperfect\s(?:\w{1,15}\s)?(?:scores?|accuracy|record|rate|recall|precision|performance)\b(?!\s(?:of\s|\()\d)", 1.0, False),
    )
)
_SCALES = (
    r"(?P<scale>scores?|AUROC|AUC|AUPRC|F1(?:[- ]scores?)?|recall|precision|accuracy|Elo(?:\srating)?|ratings?|perplexity|correlation|kappa"
    r"|rates?|estimate|average|mean|median|BLEU|MCC|WER|CER|mAP)"
)
_NO_COUNT = (
    r"(?![\w%/-]|\s?%|[.,]\d|\s(?:\w+\s)?(?:of|out)\b)(?:(?<=\.\d)|(?<=\.\d\d)|(?<=\.\d\d\d)|(?<=\.\d\d\d\d)"
    r"|(?!\s(?!on\b|in\b|for\b|at\b|across\b|and\b|to\b|with\b|versus\b|vs\b|compared\b|from\b|as\b|but\b|than\b|points?\b|over\b|among\b)[a-z]))"
)
_ABOUT = r"(?:about\s|approximately\s|around\s|roughly\s|~\s?|only\s|just\s)?"
_MOVED = r"\b(?:increas|improv|decreas|declin|ris|rose|fall|fell|drop|reduc|grow|grew|went)\w{0,4}(?:\s\w{1,20}){0,3}?"
_SCORES = (
    re.compile(rf"{_BEFORE}(?P<one>{_SIGN}{NUMBER})\s?(?P<scale>pass[@^]\d{{1,5}}|recall|precision|accuracy|F1|AUROC|AUC|Elo|BLEU"
               rf"|MCC|[A-Z]{{3,6}}\b)"),
    re.compile(
        rf"\b{_SCALES}\b(?:(?:\s(?!(?:and|or|among|across)\b)[\w@-]{{1,20}}){{0,4}}?\s(?:of|is|was|were|at|to|reached|from|remained"
        rf"|averaged)|\s?[=:(]|\s?[<>≤≥])?\s?"
        rf"{_ABOUT}\(?(?P<one>{_SIGN}{NUMBER}){_NO_COUNT}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:scor(?:ed?|es|ing)|achiev(?:ed|es|ing)|reach(?:ed|es|ing)|attain(?:ed|s|ing)|obtain(?:ed|s|ing)|earn(?:ed"
        rf"|s))\s(?:an?\s)?{_ABOUT}(?P<one>{_SIGN}{NUMBER})"
        r"(?=\s(?:on|in|for|at|across|under|with|against|versus|vs|compared|and\s\d)\b|[,;.)](?!\d)|\s?\(|$)",
        re.IGNORECASE,
    ),
    # "Increases from 70.1 to 85.1": both, of which the earlier is no result of now.
    re.compile(rf"{_MOVED}\sfrom\s(?P<one>{NUMBER})(?=\sto\s{NUMBER}{_NO_COUNT})", re.IGNORECASE),
    re.compile(rf"{_MOVED}\sfrom\s{NUMBER}\sto\s(?P<one>{NUMBER}){_NO_COUNT}", re.IGNORECASE),
)  # fmt: skip
_ON_BENCHMARK = re.compile(r"(?<![\w.$-])(?P<one>\d{1,3}\.\d{1,2})\son\s(?=[A-ZτΤ][\w.]*(?:-|[A-Z\d]))")
"""A decimal before a name with a figure, a hyphen or several capitals: "66.1 on Tau2-Bench"."""
_DECIMAL = re.compile(rf"{_BEFORE}(?P<one>{_SIGN}\d{{1,4}}\.\d{{1,4}})(?![\w%]|\s?%|\.\d|/)")
_SPEAKS_OF_SCORES = re.compile(
    r"\b(?:scor(?:ed|es?|ing)|AUROC|AUC|F1|recall|precision|accuracy|correlation|rates?|performance)\b", re.IGNORECASE
)
_FOUND = re.compile(
    rf"(?<!-)\b(?P<one>{NUMBER}|{_WORD}|a\ssingle)\s(?P<noun>(?:[a-z-]{{3,20}}\s){{0,3}}?(?:false\s(?:negatives|positives|alarms)"
    rf"|instances?|jailbreaks?|failures?|violations?"
    r"|incidents?|refusals?|vulnerabilit(?:y|ies)|exploits?|errors?|breaches|escapes?|hallucinations?|misses|bypasses|zero-days?))\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"(?:\b(?:not|never|no|unable\sto|without|failed\sto)|n[’']t)\b[^.;,]{0,40}$", re.IGNORECASE)


def _read_shares(plain: str) -> Iterator[CardFigure]:
    for hit in _RANGE.finditer(plain):
        low, high = read_number(hit["low"]), read_number(hit["high"])
        # "From 30 to 40 %" and "30 % to 40 %" are changes.
        before = plain[max(0, hit.start() - 24) : hit.start()]
        is_change = re.search(r"\bfrom\s(?:about\s|~)?$", before, re.IGNORECASE) or re.search(r"%\s?to\b", hit[0])
        if low < high and not is_change:
            yield _build(hit, None, low=low / 100, high=high / 100)
    for hit in _SHARE.finditer(plain):
        # Rounded as a decimal, so that 0.55 % is exactly 0.0055.
        value = round(read_number(hit["one"]) / 100, 10)
        is_points = hit["points"] is not None or hit["one"][0] in "+-−"
        share = _build(hit, value, FigureUnit.POINTS if is_points else FigureUnit.SHARE)
        if hit["margin"]:
            margin = read_number(hit["margin"]) / 100
            share = replace(share, low=round(value - margin, 10), high=round(value + margin, 10))
        changed = _CHANGED.match(plain[share.stop : share.stop + 30]) or _CHANGED_BY.search(plain[max(0, share.start - 120) : share.start])
        if changed is not None and not is_points:
            # "A 40 % reduction" compares with another figure; as a share it would claim a rate of 40 %.
            factor = 1 - value if _LESS.match(changed["how"]) else 1 + value
            share = replace(share, unit=FigureUnit.MULTIPLE, value=round(factor, 10))
        if not _INPUT.match(plain[share.stop : share.stop + 60]):
            yield share


def _read_parts(plain: str) -> Iterator[CardFigure]:
    for hit in (match for pattern in _PARTS for match in pattern.finditer(plain)):
        part, whole = read_number(hit["part"]), read_number(hit["whole"])
        is_one = hit["part"].casefold() == "one"
        # "One of the models" names a model, and "each one of the 89 tasks" means all of them.
        if (
            part > whole
            or whole < 1
            or (is_one and (not hit["whole"].isdigit() or _EACH.search(plain[max(0, hit.start() - 8) : hit.start()])))
        ):
            continue
        is_mark = whole in MARKS and not hit["part"].isalpha() and not _NOUN.match(plain[hit.end() : hit.end() + 20])
        if is_mark and _MARK.search(plain[max(0, hit.start() - 60) : hit.start()]):
            yield _build(hit, part, FigureUnit.SCORE, scale=f"out of {whole:g}")
        elif whole > 1:
            yield _build(hit, part / whole, n=int(whole), is_in_words=hit["part"].isalpha())


def _read_multiples(plain: str) -> Iterator[CardFigure]:
    for hit in _MULTIPLE.finditer(plain):
        value, after = read_number(hit["one"]), plain[hit.end() : hit.end() + 30]
        if value > 0:
            is_less = re.match(r"[\s-]*(?:a\s)?(?:decrease|reduc|lower|less|fewer|drop|declin|smaller)", after, re.IGNORECASE)
            # "An average speed-up of 5.5×" is a figure on its own scale; only "5.5× higher" compares with another.
            is_score = _PLAIN_TIMES.match(after) and "times" not in hit[0]
            unit = FigureUnit.SCORE if is_score else FigureUnit.MULTIPLE
            yield _build(hit, 1 / value if is_less else value, unit, scale="×" if is_score else None)


def _read_scores(plain: str) -> Iterator[CardFigure]:
    for pattern in _SCORES:
        for hit in pattern.finditer(plain):
            stop = hit.end() if pattern is _SCORES[0] else hit.end("one")
            yield _build_score(hit, stop, hit.groupdict().get("scale"))
    for hit in _ON_BENCHMARK.finditer(plain):
        yield _build_score(hit, hit.end("one"), "score")


def _read_more_scores(figures: Sequence[CardFigure], plain: str) -> Iterator[CardFigure]:
    """Decimals that share the scale of a score; without one, decimals below 1 where the sentence speaks of scores."""
    first = next((figure for figure in figures if figure.unit is FigureUnit.SCORE and "." in figure.written), None)
    if first is not None or _SPEAKS_OF_SCORES.search(plain):
        for hit in _DECIMAL.finditer(plain):
            if first is not None or abs(read_number(hit["one"])) < 1:
                yield _build_score(hit, hit.end(), first.scale if first else None)


def _read_counts(plain: str) -> Iterator[CardFigure]:
    for hit in _FOUND.finditer(plain):
        # "In one instance" tells of a case, and counts none.
        if hit["one"].isalpha() and re.search(r"\b(?:in|for|of|at)\s(?:only\s)?$", plain[max(0, hit.start() - 12) : hit.start()]):
            continue
        value = 1.0 if hit["one"].casefold() == "a single" else read_number(hit["one"])
        # "Has not resulted in a single case" is a count of 0.
        if value == 1 and _DENIED.search(plain[max(0, hit.start() - 50) : hit.start()]):
            value = 0.0
        written = plain[hit.start("one") : hit.end()]
        figure = _build(hit, value, FigureUnit.COUNT, scale=hit["noun"].strip(), is_in_words=hit["one"][0].isalpha())
        yield replace(figure, start=hit.start("one"), written=written)


def _build(hit: re.Match[str], value: float | None, unit: FigureUnit = FigureUnit.SHARE, **more: object) -> CardFigure:
    figure = CardFigure(start=hit.start(), stop=hit.end(), written=hit[0], unit=unit, value=value)
    return replace(figure, **more)  # type: ignore[arg-type]


def _build_score(hit: re.Match[str], stop: int, scale: str | None) -> CardFigure:
    start, value = hit.start("one"), read_number(hit["one"].lstrip("+"))
    return replace(_build(hit, value, FigureUnit.SCORE, scale=scale), start=start, stop=stop, written=hit.string[start:stop])


# The surroundings of a figure: bound, hedge, ± or interval, and n.

_GAP = r"\s?(?:of\s|about\s|approximately\s|roughly\s|around\s|an?\s|the\s|only\s|just\s|~\s?)?\(?$"
_BOUNDS_BEFORE = (
    (
        re.compile(rf"(?<![\w-])(?:{MOST}|⩽|beneath|within|never\s(?:above|over|exceed\w*)|not\sexceed\w*){_GAP}", re.IGNORECASE),
        Relation.AT_MOST,
    ),
    (
        re.compile(
            rf"(?<![\w-])(?<!averaged\s)(?<!average\s)(?<!mean\s)(?<!distributed\s)(?<!spread\s)(?<!computed\s)(?<!measured\s)"
            rf"(?<!evaluated\s)(?<!ran\s)(?<!run\s)(?:{LEAST}|⩾|surpass(?:es|ed|ing)?|never\s(?:below|under)){_GAP}",
            re.IGNORECASE,
        ),
        Relation.AT_LEAST,
    ),
)
_BOUNDS_AFTER = (
    (re.compile(r"^\s?(?:,\s)?\(?or\s(?:less|fewer|below|lower|under)\b|^\s?at\s(?:the\s)?most\b", re.IGNORECASE), Relation.AT_MOST),
    (re.compile(r"^\s?(?:,\s)?\(?or\s(?:more|higher|above|greater|better|over)\b|^\+(?!\d|/)", re.IGNORECASE), Relation.AT_LEAST),
)
_HEDGE = re.compile(
    r"(?:~|≈|\b(?:about|approximately|approx\.?|roughly|around|nearly|almost|close\sto|some|circa|an?\sestimated))\s?(?:an?\s|of\s)?\(?$",
    re.IGNORECASE,
)
_MARGIN = re.compile(rf"^\s?\(?\s?(?:±|\+/-|\\pm|&plusmn;)\s?(?P<margin>{NUMBER})\s?(?:%|pp|percentage\spoints)?(?:\s?\))?")
_ENDS = rf"[\[(]?\s?(?P<low>[-−]?{NUMBER})\s?%?\s?(?:,|–|—|-|to|;)\s?(?P<high>[-−]?{NUMBER})\s?%?"
_INTERVAL = re.compile(
    rf"^[^.;]{{0,100}}?(?:(?:\bCIs?\b|(?:confidence|credible)\sintervals?|\bHDI\b|_)(?:\sintervals?)?[\s:,=]{{0,3}}(?:of\s|from\s"
    rf"|is\s|was\s)?|(?<=\()|^\s?\[){_ENDS}\s?[\])]{{0,2}}"
)


_N = re.compile(rf"^[^.;]{{0,60}}?\b[nN]\s?=\s?(?P<n>{NUMBER})\b\)?")
_N_AFTER = re.compile(r"\s(?:of|on|across|in|over)\s(?:the\s|all\s|our\s)?(?P<n>\d{1,3}(?:,\d{3}){1,2}|\d{2,7})\s(?!%)[a-z]")


def read_surroundings(figure: CardFigure, words: str, plain: str) -> CardFigure:
    """Return *figure* with the interval, n, bound and hedge around it; *plain* are the words without numbers that are no figures."""
    figure = _add_spread(figure, words, plain)
    if figure.n is None and figure.unit in (FigureUnit.SHARE, FigureUnit.SCORE):
        after = words[figure.stop : figure.stop + 80]
        # People, languages, and time are no size of what was asked, so they are looked for where these are overwritten.
        hit = _N.match(after) or (_N_AFTER.match(plain, figure.stop) if figure.unit is FigureUnit.SHARE else None)
        if hit is not None:
            figure = replace(figure, n=int(read_number(hit["n"])))
    figure = _add_bound(figure, plain)
    hedge = _HEDGE.search(plain[max(0, figure.start - 30) : figure.start])
    if hedge:
        return _widen(replace(figure, is_approximate=True), words, start=figure.start - len(hedge[0]))
    return replace(figure, written=words[figure.start : figure.stop])


def _add_bound(figure: CardFigure, plain: str) -> CardFigure:
    before, after = plain[max(0, figure.start - 40) : figure.start], plain[figure.stop : figure.stop + 20]
    # A bound after the figure ("5 % or less") is unambiguous; the words in front may belong to another figure.
    for pattern, relation in _BOUNDS_AFTER:
        if hit := pattern.match(after):
            return _widen(replace(figure, bound=relation), plain, stop=figure.stop + hit.end())
    for pattern, relation in _BOUNDS_BEFORE:
        if hit := pattern.search(before):
            return _widen(replace(figure, bound=relation), plain, start=figure.start - len(before) + hit.start())
    return figure


def _add_spread(figure: CardFigure, words: str, plain: str) -> CardFigure:
    """The ± or interval that follows, in the unit of the figure; one that does not hold the figure belongs to another."""
    if figure.value is None or figure.low is not None or figure.unit not in (FigureUnit.SHARE, FigureUnit.SCORE, FigureUnit.POINTS):
        return figure
    is_per_cent = figure.unit is not FigureUnit.SCORE and (figure.n is None or "%" in figure.written)
    if hit := _MARGIN.match(words[figure.stop : figure.stop + 40]):
        margin = read_number(hit["margin"]) * (0.01 if "%" in hit[0] or is_per_cent else 1.0)
        low, high = round(figure.value - margin, 10), round(figure.value + margin, 10)
        return _widen(replace(figure, low=low, high=high), words, stop=figure.stop + hit.end())
    hit = _INTERVAL.match(plain[figure.stop : figure.stop + 200])
    if hit is None or len(re.findall(rf"{NUMBER}\s?%", hit[0][: hit.start("low")])) > 0:
        return figure
    low, high = read_number(hit["low"]), read_number(hit["high"])
    factor = 0.01 if is_per_cent and ("%" in hit[0] or high > 1) else 1.0
    low, high = round(low * factor, 10), round(high * factor, 10)
    if not low <= figure.value <= high:
        return figure
    return _widen(replace(figure, low=low, high=high), words, stop=figure.stop + hit.end())


def _widen(figure: CardFigure, words: str, *, start: int | None = None, stop: int | None = None) -> CardFigure:
    start, stop = figure.start if start is None else start, figure.stop if stop is None else stop
    return replace(figure, start=start, stop=stop, written=words[start:stop].strip())


_LIKELY = re.compile(
    r"\d|\b(?:never|none|zero|perfect|hal[fv]|twice|doubl|tripl|almost|nearly|near|no|all|every|single|one|two|three|four|five|six"
    r"|seven|eight|nine|ten)",
    re.IGNORECASE,
)
_JOINED, _ROUNDED = 90, 0.0051
"""Characters between a percentage and the fraction that says the same, and how far apart they may be: half a per cent."""


@lru_cache(maxsize=4096)
def find_figures(words: str) -> tuple[CardFigure, ...]:
    """Return the figures of running text in their order, without overlaps.

    A share and the fraction it comes from ("15/30 (50 %)") are one figure with its n; a ± or an interval belongs to the figure before it.
    """
    if not _LIKELY.search(words):
        return ()
    plain = blank_asides(words)
    # Of overlapping figures the first in this list is kept, so readers come in the order of how specific they are.
    figures = _settle(
        [
            *_read_shares(plain),
            *_read_multiples(plain),
            *_read_parts(plain),
            *(
                _build(hit, value, is_approximate=is_rough, is_in_words=True)
                for pattern, value, is_rough in _WORDED
                for hit in pattern.finditer(plain)
            ),
            *_read_scores(plain),
            *_read_counts(plain),
        ]
    )
    figures = _settle([*figures, *_read_more_scores(figures, plain)])
    kept: list[CardFigure] = []
    for figure in figures:
        # What became the interval of the figure before it is no figure of its own.
        if not kept or figure.start >= kept[-1].stop:
            kept.append(read_surroundings(figure, words, plain))
    return tuple(_join_fractions(kept, words))


_MONEY = re.compile(rf"(?P<unit>[$€£])\s?(?P<one>{NUMBER})\b(?!\s?(?:per\s)?(?:million|billion|k\b|[MBK]\b))")
_THINGS_COUNTED = re.compile(
    rf"{_BEFORE}(?<!all )(?<!the )(?<!these )(?<!those )(?<!of )(?P<one>{NUMBER}|\b{_WORD})"
    r"(?P<unit>(?:\s(?!of\b|more\b)[a-z-]{3,20}){0,2}?\s[a-z-]{2,20}s)\b(?!\s?%)",
    re.IGNORECASE,
)


_KINDS = re.compile(
    r"(?:conclusion|mode|reason|way|type|kind|stage|phase|step|part|aspect|variant|model|size|version|language|domain|categorie|dimension|area"
    r"|principle|finding|observation|limitation|approache|method|feature|component|key|paradigm|technique|strategie|option)s$",
    re.IGNORECASE,
)
"""Things that a text counts to list them: a number of these is no result."""


@lru_cache(maxsize=1024)
def find_quantity(words: str) -> CardFigure | None:
    """Return the one amount of money or number of things that a sentence gives; None without one, or where it gives several."""
    if find_figures(words):
        return None
    money = list(_MONEY.finditer(words))
    hits = money or [hit for hit in _THINGS_COUNTED.finditer(blank_asides(words)) if hit["one"].casefold() not in ("one", "no")]
    if len(hits) != 1 or _KINDS.search(hits[0]["unit"]):
        return None
    return _build(hits[0], read_number(hits[0]["one"]), FigureUnit.SCORE if money else FigureUnit.COUNT, scale=hits[0]["unit"].strip())


def _settle(figures: Sequence[CardFigure]) -> list[CardFigure]:
    """Of figures that overlap those that came first, in the order of the text."""
    taken = bytearray(max((figure.stop for figure in figures), default=0))
    kept: list[CardFigure] = []
    for figure in figures:
        if not any(taken[figure.start : figure.stop]):
            taken[figure.start : figure.stop] = b"\1" * (figure.stop - figure.start)
            kept.append(figure)
    return sorted(kept, key=lambda figure: figure.start)


def _join_fractions(figures: Sequence[CardFigure], words: str) -> list[CardFigure]:
    """Make one figure of a percentage and a neighbouring fraction that says the same, or of words and a figure that do."""
    joined: list[CardFigure] = []
    for figure in figures:
        last = joined[-1] if joined else None
        if last is not None and figure.start - last.stop <= _JOINED and _says_same(last, figure):
            is_closed = words[figure.stop : figure.stop + 1] == ")" and "(" in words[last.stop : figure.start]
            stop = figure.stop + is_closed
            percent = last if last.n is None and not last.is_in_words else figure
            written = words[last.start : stop]
            joined[-1] = replace(percent, start=last.start, stop=stop, written=written, n=last.n or figure.n, is_in_words=False)
        else:
            joined.append(figure)
    return joined


def _says_same(first: CardFigure, second: CardFigure) -> bool:
    if first.unit is not FigureUnit.SHARE or second.unit is not FigureUnit.SHARE or first.value is None or second.value is None:
        return False
    is_other_way = (first.n is None) != (second.n is None) or first.is_in_words != second.is_in_words
    return is_other_way and abs(first.value - second.value) <= _ROUNDED
