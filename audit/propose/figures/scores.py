"""Figures in running text that are no shares: scores on scales of their own, counts of what was found, and multiples."""

import re
from collections.abc import Iterator
from itertools import chain

from audit.propose.figures.numerals import BEFORE, NUMBER, SIGN, WORD, read_number
from audit.propose.figures.quantity import Quantity, Unit

# “0.778 pass@200”, “161.29 AECI”: the scale stands after the number.
_BEHIND = re.compile(
    rf"{BEFORE}(?P<one>{SIGN}{NUMBER})\s?"
    r"(?P<scale>pass[@^]\d{1,5}|recall|precision|accuracy|F1|AUROC|AUC|AUPRC|ROC[- ]AUC|Elo|BLEU|chrF|ROUGE(?:-L)?|MCC|[A-Z]{3,6}\b)"
)
# “a mean score of 0.88”, “AUROC < 0.6”, “Elo 1287”: it stands before.
_SCALE = (
    r"(?P<scale>scores?|AUROC|AUC|AUPRC|F1(?:[- ]scores?)?|recall|precision|accuracy|Elo(?:\srating)?|rating|perplexity|correlation|kappa"
    r"|success\srate|rate|estimate|average|mean|median|BLEU|ROUGE(?:-L)?|MCC)"
)
_LINK = r"(?:of|is|was|at|to|reached|from|remained|averaged)"
_ABOUT = r"(?:about\s|approximately\s|around\s|roughly\s|~\s?|only\s|just\s)?"
_PREPOSITION = (
    r"(?:on|in|for|at|across|under|with|against|versus|vs|compared|and|to|when|while|from|after|among|over|as|but|which|than|points?)\b"
)
# An integer before a noun counts things (“scores among 25 models”); before a preposition or at the end it is a score.
_NO_COUNT = (
    r"(?![\w%/-]|\s?%|[.,]\d|\s(?:\w+\s)?(?:of|out)\b)"
    rf"(?:(?<=\.\d)|(?<=\.\d\d)|(?<=\.\d\d\d)|(?<=\.\d\d\d\d)|(?!\s(?!{_PREPOSITION})[a-z]))"
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
_WHOLE = re.compile(
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
# A multiple of another figure: “by 3×#”, “#2× higher”; not “3× memory” or “8x repeats”. The mark stands for the figure.
_COMPARED = re.compile(
    r"\bby\s(?:\w+\s)?#|#[\s-]*(?:\w+\s){0,2}?(?:decrease|reduc|lower|less|fewer|drop|declin|small|increas|higher|more|great|larg|improv|better"
    r"|worse|faster|often|as\b|that\sof|the\s(?:rate|number|level))",
    re.IGNORECASE,
)
_LESS = re.compile(r"^[\s-]*(?:a\s)?(?:decrease|reduc|lower|less|fewer|drop|declin|smaller)", re.IGNORECASE)
_RATES = r"(?:rates?|levels?|frequency|often|many|much|likely|that\sof)"
_WORDED = tuple(
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


def find_scores(plain: str) -> Iterator[Quantity]:
    """Yield numbers that a scale or a verb of scoring marks as scores."""
    for pattern in (_BEHIND, _AHEAD, _SCORED, _PERCENTILE):
        for hit in pattern.finditer(plain):
            stop = hit.end() if pattern in (_BEHIND, _PERCENTILE) else hit.end("one")
            yield _build_score(plain, hit.start("one"), stop, hit["one"], hit.groupdict().get("scale"))


def find_durations(words: str) -> Iterator[Quantity]:
    """Yield time horizons and mean times, in hours, with their interval."""
    for hit in _DURATION.finditer(words):
        value, low, high = (_read_hours(hit, name) for name in "vlt")
        yield Quantity(
            start=hit.start("all"), stop=hit.end("all"), written=hit["all"], unit=Unit.SCORE, value=value, low=low, high=high, scale="hours"
        )  # fmt: skip


def _read_hours(hit: re.Match[str], name: str) -> float | None:
    if hit[f"{name}only"]:
        return round(read_number(hit[f"{name}only"]) / 60, 10)
    if hit[f"{name}h"] is None:
        return None
    return round(read_number(hit[f"{name}h"]) + read_number(hit[f"{name}m"] or "0") / 60, 10)


def find_more_scores(found: list[Quantity], plain: str) -> Iterator[Quantity]:
    """Yield the decimals that share the scale of the scores in *found*: “0.88, compared to 0.75 for …”.

    Without any there, decimals below 1 are scores where the sentence speaks of some: “scored higher (0.49, compared to 0.40)”.
    """
    first = next((one for one in found if one.unit is Unit.SCORE and "." in one.written), None)
    if first is None and not _ANY_SCALE.search(plain):
        return
    for hit in _DECIMAL.finditer(plain):
        if first is not None or abs(_read_signed(hit["one"])) < 1:
            yield _build_score(plain, hit.start(), hit.end(), hit["one"], first.scale if first else None)


def find_counts(plain: str) -> Iterator[Quantity]:
    """Yield counts of things found without their whole; 0 where it is denied that there was one."""
    for hit in chain(_FOUND.finditer(plain), _OF_THEM.finditer(plain), _THERE_WERE.finditer(plain)):
        value = 1.0 if hit["one"].casefold() == "a single" else read_number(hit["one"])
        if hit.re is _OF_THEM and (whole := _find_whole(plain[max(0, hit.start() - _BEHIND_WHOLE) : hit.start()], value)):
            start, stop = hit.start("one"), hit.end()
            yield Quantity(start=start, stop=stop, written=plain[start:stop], unit=Unit.SHARE, value=value / whole, n=whole)
            continue
        if value == 1 and _DENIED.search(plain[max(0, hit.start() - 50) : hit.start()]):
            value = 0.0
        yield Quantity(
            start=hit.start("one"),
            stop=hit.end(),
            written=plain[hit.start("one") : hit.end()],
            unit=Unit.COUNT,
            value=value,
            scale=hit["noun"].strip(),
            is_in_words=hit["one"][0].isalpha(),
        )
    for hit in _IN_BRACKETS.finditer(plain):
        for part in ("one", "other") if hit["other"] else ("one",):
            start, stop = hit.span(part)
            yield Quantity(
                start=start, stop=stop, written=hit[part], unit=Unit.COUNT, value=read_number(hit[part]), scale=hit["noun"].strip()
            )


def _find_whole(before: str, part: float) -> int | None:
    """Return the one number of tasks or the like that "of them" means; None where there is none, or more than one."""
    wholes = {int(read_number(hit["whole"])) for hit in _WHOLE.finditer(before)}
    return next((one for one in wholes if one > 1 and one >= part), None) if len(wholes) == 1 else None


def find_multiples(plain: str) -> Iterator[Quantity]:
    """Yield how many times another figure something is; "a 2× decrease" is 0.5."""
    for hit in _MULTIPLE.finditer(plain):
        value, after = read_number(hit["one"]), plain[hit.end() : hit.end() + 30]
        if value > 0 and _COMPARED.search(f"{plain[max(0, hit.start() - 12) : hit.start()]}#{after}"):
            value = 1 / value if _LESS.match(after) else value
            yield Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.MULTIPLE, value=value)
    folded = plain.lower()
    for piece, pattern, value in _WORDED:
        for hit in pattern.finditer(plain) if piece in folded else ():
            yield Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.MULTIPLE, value=value, is_in_words=True)


def _build_score(plain: str, start: int, stop: int, number: str, scale: str | None) -> Quantity:
    return Quantity(start=start, stop=stop, written=plain[start:stop], unit=Unit.SCORE, value=_read_signed(number), scale=scale)


def _read_signed(written: str) -> float:
    return float(written.replace("−", "-").replace(",", ""))
