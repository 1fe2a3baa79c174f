"""What stands right around a figure: its bound, its hedge, its ± or interval, and its n."""

import re
from bisect import bisect_left
from dataclasses import replace

from audit.propose.figures.numerals import NUMBER
from audit.propose.figures.quantity import Quantity, Unit
from registry.records.claim import Relation

_BETWEEN = r"\s?(?:of\s|about\s|approximately\s|roughly\s|around\s|an?\s|the\s|only\s|just\s|~\s?)?\(?$"
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
    (re.compile(rf"(?:{words}){_BETWEEN}", re.IGNORECASE), relation, is_strict)
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


def read_surroundings(one: Quantity, words: str, plain: str) -> Quantity:
    """Return *one* with what stands around it in *words*; *plain* are the same words without numbers that are no figures."""
    one = _add_spread(one, words, plain)
    one = _add_n(one, words)
    one = _add_bound(one, plain)
    hedge = _HEDGE.search(plain[max(0, one.start - 30) : one.start])
    if hedge:
        return _widen(replace(one, is_approximate=True), words, start=one.start - len(hedge[0]))
    return replace(one, written=words[one.start : one.stop])


def attach_intervals(found: list[Quantity], plain: str) -> list[Quantity]:
    """Give an interval that is named some words later ("…, with a 95 % confidence interval of [0 %, 7 %]") to the figure it holds."""
    starts = [one.start for one in found]
    owners: dict[int, Quantity] = {}
    ends: set[int] = set()
    for hit in _NAMED_INTERVAL.finditer(plain):
        first = bisect_left(starts, hit.start())
        near = range(first - 1, max(-1, first - 1 - _FAR), -1)
        place = next((one for one in near if one not in owners and found[one].low is None and found[one].value is not None), None)
        if place is None or not 0 <= hit.start() - found[place].stop <= _FAR:
            continue
        if owner := _hold(found[place], hit):
            owners[place] = owner
            ends |= set(range(first, bisect_left(starts, hit.end())))
    return [owners.get(place, one) for place, one in enumerate(found) if place not in ends]


def _hold(one: Quantity, hit: re.Match[str]) -> Quantity | None:
    """Return *one* with the interval, in per cent where its ends or the figure are; None where it lies outside."""
    low, high = float(_digits(hit["low"])), float(_digits(hit["high"]))
    factor = 0.01 if "%" in hit[0] or ("%" in one.written and high > 1) else 1.0
    low, high = round(low * factor, 10), round(high * factor, 10)
    return replace(one, low=low, high=high) if low <= (one.value or 0.0) <= high else None


def _add_bound(one: Quantity, plain: str) -> Quantity:
    before, after = plain[max(0, one.start - 40) : one.start], plain[one.stop : one.stop + 20]
    for pattern, relation in _BOUNDS_AFTER:
        if hit := pattern.match(after):
            return _widen(replace(one, bound=relation), plain, stop=one.stop + hit.end())
    for pattern, relation, is_strict in _BOUNDS_BEFORE:
        if hit := pattern.search(before):
            return _widen(replace(one, bound=relation, is_strict=is_strict), plain, start=one.start - len(before) + hit.start())
    return one


def _add_spread(one: Quantity, words: str, plain: str) -> Quantity:
    """The ± or interval that follows, in the unit of the figure."""
    if one.value is None or one.unit not in (Unit.SHARE, Unit.SCORE, Unit.POINTS):
        return one
    after = words[one.stop : one.stop + 80]
    is_fraction = one.unit is Unit.SHARE and one.n is not None and "%" not in one.written
    factor = 1.0 if one.unit is Unit.SCORE or is_fraction else 0.01
    if hit := _PLUS_MINUS.match(after):
        margin = float(hit["margin"].replace(",", "")) * (0.01 if "%" in hit[0] else factor)
        low, high = round(one.value - margin, 10), round(one.value + margin, 10)
        return _widen(replace(one, low=low, high=high), words, stop=one.stop + hit.end())
    hit = _INTERVAL.match(plain[one.stop : one.stop + 80])
    if hit is None or not _MARKED.search(hit[0]):
        return one
    scale = 0.01 if "%" in one.written and ("%" in hit[0].split("[")[-1] or float(_digits(hit["high"])) > 1) else factor
    low, high = (round(float(_digits(hit[end])) * scale, 10) for end in ("low", "high"))
    if not low <= one.value <= high:
        return one
    return _widen(replace(one, low=low, high=high), words, stop=one.stop + hit.end())


def _digits(written: str) -> str:
    return written.replace("−", "-").replace(",", "")


def _add_n(one: Quantity, words: str) -> Quantity:
    if one.n is not None or one.unit not in (Unit.SHARE, Unit.SCORE):
        return one
    hit = _N.match(words[one.stop : one.stop + 60]) or (_N_AFTER.match(words[one.stop : one.stop + 40]) if one.unit is Unit.SHARE else None)
    return one if hit is None else replace(one, n=int(float(_digits(hit["n"]))))


def _widen(one: Quantity, words: str, *, start: int | None = None, stop: int | None = None) -> Quantity:
    start, stop = one.start if start is None else start, one.stop if stop is None else stop
    return replace(one, start=start, stop=stop, written=words[start:stop].strip())
