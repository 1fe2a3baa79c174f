"""The figures in the words of a passage: shares, fractions, scores, counts and multiples, each with its bound, interval and n.

What only looks like a figure (dates, versions, page numbers, confidence levels, prices) is taken out before, in `numerals`.
Patterns are linear: every repeat is bounded.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from audit.propose.bounds import read_surroundings
from audit.propose.numerals import NUMBER, WORD, blank_asides, read_number
from audit.propose.quantity import Quantity, Unit

_BEFORE = r"(?<![\w.,/@])"
_SIGN = r"(?:(?<![\w)%\]])[-−+])?"
_PERCENT = r"(?:%|per\s?cent\b|percent\b|pct\b)"
_POINTS = r"(?:(?:percentage|percent|per\scent)[\s-]points?\b|%[\s-]?points?\b|pp\b|p\.p\.|ppts?\b|points?\b(?=\s(?:above|below|higher|lower|more|less|better|worse|over|under|ahead|behind|than|of\simprovement)))"
# “36,6 %”: a comma is a decimal sign where one or two digits follow it and then the per cent sign, and no list of figures is meant.
_DECIMAL_COMMA = r"\d{1,3},\d{1,2}(?=\s?%)"
_SHARE = rf"(?:{_DECIMAL_COMMA}|{NUMBER})"

_RANGE = re.compile(
    rf"{_BEFORE}(?P<low>{NUMBER})\s?(?P<first>{_PERCENT})?\s?(?:–|—|-|\bto\b|\band\b)\s?(?P<high>{NUMBER})\s?(?P<unit>{_POINTS}|{_PERCENT})"
)
_ONE = re.compile(rf"{_BEFORE}(?P<one>{_SIGN}{_SHARE})\s?(?P<unit>{_POINTS}|{_PERCENT})")
_FRACTION = re.compile(rf"{_BEFORE}(?P<part>{NUMBER})\s?/\s?(?P<whole>\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{1,7}})(?![\w/]|[.,]\d)")
_OF = re.compile(
    rf"{_BEFORE}(?P<part>\b{NUMBER}|\b{WORD})(?P<noun>\s[a-z-]{{3,20}})?\s(?:out\s)?of\s(?:the\s|these\s|those\s|all\s|our\s|its\s|a\stotal\sof\s){{0,2}}"
    rf"(?P<whole>\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{1,7}}|{WORD})\b(?!\s?%|[.,]\d)",
    re.IGNORECASE,
)
_ONE_IN = re.compile(rf"\b(?:1|one)\sin\s(?:an?\s|every\s)?(?P<whole>ten|hundred|thousand|million|{NUMBER})\b", re.IGNORECASE)
_WHOLES = {"ten": 10, "hundred": 100, "thousand": 1_000, "million": 1_000_000}
_MULTIPLE = re.compile(
    rf"{_BEFORE}(?P<one>\b{NUMBER}|\b{WORD})(?:\s?×|\s?[xX]\b(?!\s?\d)|[\s-]?fold\b"
    r"|\stimes\b(?=\s(?:higher|lower|more|less|fewer|as|greater|larger|smaller|better|worse|the\s(?:rate|number|level))))",
    re.IGNORECASE,
)
_WORDED_MULTIPLES = (
    (re.compile(r"\bhal(?:ved|ves|ving)\b", re.IGNORECASE), 0.5),
    (re.compile(r"\bhalf\s(?:of\s)?(?:the|that|those|its|as)\b(?=[\w\s.’'-]{0,40}\b(?:rates?|levels?|frequency|often|many|much|likely|that\sof)\b)", re.IGNORECASE), 0.5),
    (re.compile(r"\bhalf\sof\s(?=[A-Z][\w\s.’'-]{0,40}\brates?\b)"), 0.5),
    (re.compile(r"\b(?:doubl(?:ed|es|ing)|twice)\b", re.IGNORECASE), 2.0),
    (re.compile(r"\btripl(?:ed|es|ing)\b", re.IGNORECASE), 3.0),
    (re.compile(r"\bquadrupl(?:ed|es|ing)\b", re.IGNORECASE), 4.0),
)  # fmt: skip
_THINGS = r"(?:time|cases|instances|attempts|trials|tasks|prompts|responses|conversations|transcripts|scenarios|problems|questions|challenges|requests|episodes|rollouts|runs|samples|tests)"
# Shares in words; those without a number that could be written down have the value None.
_WORDED_SHARES = (
    (re.compile(r"\b(?:almost|nearly|virtually|practically|hardly|close\sto)\s(?:never|none|ever)\b", re.IGNORECASE), None, True),
    (re.compile(r"\b(?:almost|nearly|near[\s-]?|close\sto|virtually)\s?(?:a\s)?perfect(?:ly)?\b", re.IGNORECASE), None, True),
    (re.compile(r"\b(?:almost|nearly|virtually|practically)\s(?:always|all)\b", re.IGNORECASE), None, True),
    (re.compile(r"\b(?:near|close\sto|approaching|effectively|almost|nearly|virtually)[\s-](?:0|zero)\b(?!\.\d|\s?%)", re.IGNORECASE), 0.0, True),
    (re.compile(r"(?<!\bto\s)\bnever\b(?!\s(?:\w+\s){0,2}\d)", re.IGNORECASE), 0.0, False),
    (re.compile(rf"\b(?:none|zero)\sof\s(?:the|these|those|our|its)\b(?!\s\d)|\b(?:in\s)?no\s{_THINGS}\b", re.IGNORECASE), 0.0, False),
    (re.compile(r"\bperfect\s(?:\w{1,15}\s)?(?:scores?|accuracy|record|rate|recall|precision|safety|performance)\b", re.IGNORECASE), 1.0, False),
    (re.compile(rf"\bin\s(?:all|every)\s{_THINGS}\b|\b(?:100|one\shundred)\spercent\b", re.IGNORECASE), 1.0, False),
    (re.compile(rf"\bhalf\s(?:of\s)?(?:the|all|our|these|its)\s(?:\w{{1,15}}\s)?{_THINGS}\b", re.IGNORECASE), 0.5, False),
    (re.compile(rf"\b(?:a|one)[\s-]third\sof\s(?:the|all|our|these|its)?\s?(?:\w{{1,15}}\s)?{_THINGS}\b", re.IGNORECASE), 1 / 3, True),
    (re.compile(rf"\btwo[\s-]thirds\sof\s(?:the|all|our|these|its)?\s?(?:\w{{1,15}}\s)?{_THINGS}\b", re.IGNORECASE), 2 / 3, True),
    (re.compile(rf"\b(?:a|one)[\s-]quarter\sof\s(?:the|all|our|these|its)?\s?(?:\w{{1,15}}\s)?{_THINGS}\b", re.IGNORECASE), 0.25, True),
)  # fmt: skip
_SCALES = r"(?:pass[@^]\d{1,5}|recall|precision|accuracy|F1|AUROC|AUC|AUPRC|ROC[- ]AUC|Elo|BLEU|chrF|ROUGE(?:-L)?|MCC|[A-Z]{3,6}\b)"
_AFTER_SCALE = re.compile(rf"{_BEFORE}(?P<one>{_SIGN}{NUMBER})\s?(?P<scale>{_SCALES})")
_NAMED_SCALE = (
    r"(?P<scale>scores?|AUROC|AUC|AUPRC|F1(?:[- ]scores?)?|recall|precision|accuracy|Elo(?:\srating)?|rating|perplexity|correlation|kappa|success\srate|rate|"
    r"estimate|average|mean|median|BLEU|ROUGE(?:-L)?|MCC)"
)
_ABOUT = r"(?:about\s|approximately\s|around\s|roughly\s|~\s?|only\s|just\s)?"
# An integer before a noun counts things (“scores among 25 models”); before a preposition or at the end it is a score.
_NO_COUNT = r"(?![\w%/-]|\s?%|[.,]\d|\s(?:\w+\s)?(?:of|out)\b)(?:(?<=\.\d)|(?<=\.\d\d)|(?<=\.\d\d\d)|(?<=\.\d\d\d\d)|(?!\s(?!on|in|for|at|across|under|with|against|versus|vs|compared|and|to|when|while|from|after|among|over|as|but|which|than|points?\b)[a-z]))"
_BEFORE_SCALE = re.compile(
    rf"\b{_NAMED_SCALE}\b(?:(?:\s(?!and\b|or\b|among\b|across\b)[\w@-]{{1,20}}){{0,4}}?\s(?:of|is|was|at|to|reached|from|remained|averaged)|\s?[=:(]|\s?[<>≤≥])?\s?"
    rf"{_ABOUT}\(?(?P<one>{_SIGN}{NUMBER}){_NO_COUNT}",
    re.IGNORECASE,
)
_SCORED = re.compile(
    rf"\b(?:scor(?:ed|es|ing)|achiev(?:ed|es|ing)|reach(?:ed|es|ing)|attain(?:ed|s|ing)|obtain(?:ed|s|ing)|earn(?:ed|s))\s(?:an?\s|about\s|only\s|~\s?)?"
    rf"(?P<one>{_SIGN}{NUMBER})(?=\s(?:on|in|for|at|across|under|with|against|versus|vs|compared|and\s\d)\b|[,;.)](?!\d)|\s?\(|$)",
    re.IGNORECASE,
)
_DECIMAL = re.compile(rf"{_BEFORE}(?P<one>{_SIGN}\d{{1,4}}\.\d{{1,4}})(?![\w%]|\s?%|\.\d|/)")
_ANY_SCALE = re.compile(r"\b(?:scor(?:ed|es?|ing)|AUROC|AUC|F1|recall|precision|accuracy|correlation|kappa|rates?|performance|metrics?)\b", re.IGNORECASE)
_FOUND = re.compile(
    rf"(?<!-)\b(?P<one>{NUMBER}|{WORD}|a\ssingle)\s(?P<noun>(?:[a-z-]{{3,20}}\s){{0,3}}?(?:false\s(?:negatives|positives|alarms)|instances?|jailbreaks?|failures?|violations?|"
    r"incidents?|refusals?|vulnerabilit(?:y|ies)|exploits?|errors?|breaches|escapes?|hallucinations?|flags?|misses|bypasses|zero-days?))\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_ANY_FIGURE = re.compile(r"\d|\b(?:" + "|".join(("never", "none", "zero", "perfect", "hal[fv]", "twice", "doubl", "tripl", "third", "quarter", "almost", "nearly", "near", "no", "all", "every", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "single")) + ")", re.IGNORECASE)  # fmt: skip
# A multiple of another figure: “by 3×#”, “#2× higher”; not “3× memory” or “8x repeats”.
_COMPARES = re.compile(
    r"\bby\s(?:\w+\s)?#|#[\s-]*(?:\w+\s){0,2}?(?:decrease|reduc|lower|less|fewer|drop|declin|small|increas|higher|more|great|larg|improv|better|worse|faster|often|as\b|that\sof|the\s(?:rate|number|level))",
    re.IGNORECASE,
)
_LESS = re.compile(r"^[\s-]*(?:a\s)?(?:decrease|reduc|lower|less|fewer|drop|declin|smaller|improvement\sin\ssafety)", re.IGNORECASE)
_CHANGE_AFTER = re.compile(
    r"^\s(?:relative\s|absolute\s)?(?:reduction|decrease|drop|decline|increase|improvement|gain|difference|gap|higher|lower|more|less|fewer|better|worse|faster)\b",
    re.IGNORECASE,
)
_CHANGE_BEFORE = re.compile(r"\b(?:reduc|decreas|increas|improv|drop|fell|fall|ris|rose|lower|outperform|exceed|surpass|declin|cut)\w{0,4}\b[^.;]{0,60}\bby\s(?:about\s|over\s|~|roughly\s|approximately\s|up\sto\s)?$", re.IGNORECASE)  # fmt: skip
# “has not resulted in a single …”: none were found.
_DENIED = re.compile(r"\b(?:not|never|no|nobody|unable\sto|without|failed\sto)\b[^.;,]{0,40}$|n[’']t\b[^.;,]{0,40}$", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s(?:about\s|~|approximately\s|roughly\s)?$", re.IGNORECASE)
_JOINED = 90
"""Characters between a percentage and the fraction that says the same."""


def find_quantities(words: str) -> tuple[Quantity, ...]:
    """Return the figures of running text in their order, without overlaps.

    A share and the fraction it comes from ("15/30 (50 %)") are one figure with its n; a ± or an interval belongs to the
    figure before it. Figures of other models are figures too: whose they are is for `comparison` to say.
    """
    if not _ANY_FIGURE.search(words):
        return ()
    has_digits = _DIGIT.search(words) is not None
    plain = blank_asides(words) if has_digits else words
    found = _drop_overlaps([*(_find_shares(plain) if has_digits else ()), *_find_multiples(plain), *_find_fractions(plain), *_find_odds(plain)])
    found = _drop_overlaps([*found, *_find_worded(plain), *(_find_scores(plain) if has_digits else ()), *_find_counts(plain)])
    found = _add_decimals(found, plain)
    return tuple(_join_fractions(_drop_swallowed([read_surroundings(one, words, plain) for one in found]), words))


def _find_shares(plain: str) -> Iterator[Quantity]:
    for hit in _RANGE.finditer(plain):
        if _FROM.search(plain[: hit.start()]) or (" and " in hit[0] and not re.search(r"\bbetween\s$", plain[: hit.start()])):
            continue
        low, high = read_number(hit["low"]), read_number(hit["high"])
        if low < high:
            unit = _unit(hit["unit"])
            yield Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=unit, value=None, low=low / 100, high=high / 100)
    for hit in _ONE.finditer(plain):
        value = _read_share(hit["one"])
        yield _change(Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=_unit(hit["unit"], hit["one"]), value=value), plain)


def _read_share(written: str) -> float:
    """A share from per cent; divided as decimals are, so that 0.55 % is 0.0055 and nothing beside it."""
    digits = written.replace("−", "-")
    digits = digits.replace(",", ".") if re.fullmatch(r"[-+]?\d{1,3},\d{1,2}", digits) else digits.replace(",", "")
    return round(float(digits) / 100, 10)


def _change(share: Quantity, plain: str) -> Quantity:
    """A percentage by which something changed is a multiple of another figure, not a share."""
    if share.unit is not Unit.SHARE or share.value is None:
        return share
    after, before = (
        _CHANGE_AFTER.match(plain[share.stop : share.stop + 30]),
        _CHANGE_BEFORE.search(plain[max(0, share.start - 120) : share.start]),
    )
    if not (after or before):
        return share
    words = (after or before or re.match("", ""))[0]  # type: ignore[index]
    is_less = bool(re.search(r"reduc|decreas|drop|declin|lower|less|fewer|fell|fall|cut", words, re.IGNORECASE))
    return replace(share, unit=Unit.MULTIPLE, value=round(1 - share.value if is_less else 1 + share.value, 10))


def _unit(written: str, number: str = "") -> Unit:
    """A share with a sign is a difference: “-1.2%”, “+7.9%”."""
    return Unit.POINTS if number[:1] in ("+", "-", "−") or re.match(_POINTS, written) else Unit.SHARE


def _find_multiples(plain: str) -> Iterator[Quantity]:
    for hit in _MULTIPLE.finditer(plain):
        value = read_number(hit["one"])
        if value > 0 and _COMPARES.search(f"{plain[max(0, hit.start() - 12) : hit.start()]}#{plain[hit.end() : hit.end() + 30]}"):
            value = 1 / value if _LESS.match(plain[hit.end() : hit.end() + 30]) else value
            yield Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.MULTIPLE, value=value)
    for pattern, value in _WORDED_MULTIPLES:
        for hit in pattern.finditer(plain):
            yield Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.MULTIPLE, value=value, is_in_words=True)


def _find_fractions(plain: str) -> Iterator[Quantity]:
    for pattern in (_FRACTION, _OF):
        for hit in pattern.finditer(plain):
            part, whole = read_number(hit["part"]), read_number(hit["whole"])
            is_partitive = hit["part"].casefold() == "one" and not hit["whole"].isdigit()
            if part <= whole and whole >= 2 and not is_partitive:  # noqa: PLR2004 - a whole of one is no whole
                in_words = hit["part"].casefold() != hit["part"].casefold().strip("abcdefghijklmnopqrstuvwxyz")
                yield Quantity(
                    start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.SHARE, value=part / whole, n=int(whole), is_in_words=in_words
                )  # fmt: skip


def _find_odds(plain: str) -> Iterator[Quantity]:
    """“1 in 1,000”: a share whose whole is no sample."""
    for hit in _ONE_IN.finditer(plain):
        whole = _WHOLES.get(hit["whole"].casefold()) or read_number(hit["whole"])
        if whole >= 2:
            yield Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.SHARE, value=1 / whole)


def _find_scores(plain: str) -> Iterator[Quantity]:
    for pattern in (_AFTER_SCALE, _BEFORE_SCALE, _SCORED):
        for hit in pattern.finditer(plain):
            scale = hit.groupdict().get("scale")
            stop = hit.end() if pattern is _AFTER_SCALE else hit.end("one")
            start = hit.start("one")
            value = _signed(hit["one"])
            yield Quantity(start=start, stop=stop, written=plain[start:stop], unit=Unit.SCORE, value=value, scale=scale)


def _find_counts(plain: str) -> Iterator[Quantity]:
    for hit in _FOUND.finditer(plain):
        value = 1.0 if hit["one"].casefold() == "a single" else read_number(hit["one"])
        if value == 1 and _DENIED.search(plain[max(0, hit.start() - 50) : hit.start()]):
            value = 0.0
        in_words = not hit["one"][0].isdigit() and hit["one"][0] != "."
        yield Quantity(
            start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.COUNT, value=value, scale=hit["noun"].strip(), is_in_words=in_words
        )  # fmt: skip


def _find_worded(plain: str) -> Iterator[Quantity]:
    for pattern, value, is_approximate in _WORDED_SHARES:
        for hit in pattern.finditer(plain):
            yield Quantity(
                start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.SHARE, value=value, is_approximate=is_approximate, is_in_words=True
            )  # fmt: skip


def _add_decimals(found: list[Quantity], plain: str) -> list[Quantity]:
    """A sentence that gives one score in decimals gives the others on the same scale: “0.88, compared to 0.75 for …”.

    Without a first one, decimals below 1 are scores where the sentence speaks of any: “scored higher (0.49, compared to 0.40)”.
    """
    first = next((one for one in found if one.unit is Unit.SCORE and "." in one.written), None)
    if first is None and not _ANY_SCALE.search(plain):
        return found
    more = [
        Quantity(start=hit.start(), stop=hit.end(), written=hit[0], unit=Unit.SCORE, value=_signed(hit["one"]), scale=first and first.scale)
        for hit in _DECIMAL.finditer(plain)
        if first is not None or abs(_signed(hit["one"])) < 1
    ]
    return _drop_overlaps([*found, *more])


def _signed(written: str) -> float:
    return float(written.replace("−", "-").replace(",", ""))


def _drop_overlaps(found: list[Quantity]) -> list[Quantity]:
    """Those that came first win; the answer is in the order of the text."""
    kept: list[Quantity] = []
    for one in found:
        if all(one.stop <= other.start or one.start >= other.stop for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def _drop_swallowed(found: list[Quantity]) -> list[Quantity]:
    """Without what became the ± or interval of the figure before it."""
    kept: list[Quantity] = []
    for one in found:
        if not kept or one.start >= kept[-1].stop:
            kept.append(one)
    return kept


def _join_fractions(found: list[Quantity], words: str) -> list[Quantity]:
    """Make one figure of a percentage and a neighbouring fraction that says the same."""
    joined: list[Quantity] = []
    for one in found:
        last = joined[-1] if joined else None
        if last is not None and _says_same(last, one) and one.start - last.stop <= _JOINED:
            stop = one.stop + 1 if words[one.stop : one.stop + 1] == ")" and "(" in words[last.stop : one.start] else one.stop
            percent = last if last.n is None else one
            joined[-1] = replace(
                percent, start=last.start, stop=stop, written=words[last.start : stop], n=last.n or one.n, bound=percent.bound, is_in_words=False
            )  # fmt: skip
        else:
            joined.append(one)
    return joined


def _says_same(first: Quantity, second: Quantity) -> bool:
    """Whether one is a fraction and the other its percentage, rounded at most to whole per cents."""
    if first.unit is not Unit.SHARE or second.unit is not Unit.SHARE or first.value is None or second.value is None:
        return False
    return (first.n is None) != (second.n is None) and abs(first.value - second.value) <= 0.0051  # noqa: PLR2004 - half a per cent
