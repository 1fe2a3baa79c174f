"""Whether the words around a figure deny what it counts: “does not refuse more than 5 %”, “was unable to finish in 92 %”."""

import re
from dataclasses import dataclass, replace

from audit.propose.figures.quantity import Quantity, Unit
from audit.propose.form import Reading
from registry.records.claim import Form, Relation
from registry.records.proposal import Confidence

_REACH = 140
"""Characters on either side of a figure in which a denial is looked for; the clause mostly ends before."""
_HALF = 0.5
_CLAUSE = re.compile(r"[;:]\s|,\s|[.!?]\s|\s?—\s?|\s(?:and|but|while|whereas|although|though|because|since)\s", re.IGNORECASE)
_ASIDE = re.compile(r",\s[^,;.]{1,40},\s")
_AUXILIARY = r"(?:do|does|did|is|are|was|were|has|have|had|can|could|would|will)"
# “Not only”, “(not shown)”, “cannot rule out” deny nothing that a figure counts.
_NO_DENIAL = (
    r"(?!\s(?:only|just|merely|simply|shown|including|necessarily|applicable|limited|rule|surprising\w*|statistically|significant\w*)\b)"
)
_SENTENTIAL = re.compile(
    r"\bnot\s(?:the\scase|true|correct)\sthat\b|\bno\s(?:\w+\s){0,3}?models?\b|\b(?:none\sof\sthe|neither\sof\sthe|neither)\s(?:\w+\s){0,2}?models?\b",
    re.IGNORECASE,
)
# It may go on behind an "and", which leaves open how far.
_SENTENCE_WIDE = re.compile(r"(?:\bnot|n[’']t)\s(?:the\scase|true|correct)\sthat\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;]\s")
_VERBAL = re.compile(rf"(?:\b(?:not|never)|\b(?:ca|wo|{_AUXILIARY})\s?n[o’']t|\bcannot)\b{_NO_DENIAL}", re.IGNORECASE)
# Words that deny by themselves; whether a bound behind them bounds the success or the failure is open.
_LEXICAL = re.compile(
    r"\b(?:unable\sto|incapable\sof|fail(?:s|ed|ing)?\s(?:to|in|at)|refus(?:es?|ed|ing)\sto|declin(?:es?|ed|ing)\sto|neglect(?:s|ed|ing)?\sto"
    r"|omit(?:s|ted|ting)?\sto|rarely|seldom|hardly|barely"
    # What is doubted, avoided or not known is not claimed either.
    r"|no\slonger|no\s(?:clear\s|strong\s)?(?:evidence|indications?|signs?|reason)|cannot\srule\sout|(?:not|n[’']t|never)\srul(?:e|ed)\sout|unlikely|impossible|doubt(?:s|ed|ful)?"
    r"|lack(?:s|ed|ing)?\sthe\s(?:ability|capability|capacity|skills?)|clear\sof|rather\sthan|instead\sof"
    r"|(?:not|n[’']t|never|cannot)\s(?:be\s|yet\s|been\s){0,2}(?:shown?|confirm(?:ed)?|verif(?:y|ied)|establish(?:ed)?|determined?|known?|certain|clear|sure|demonstrated?))\b",
    re.IGNORECASE,
)
# “Requests that are not harmful” are a kind of requests; “found that it did not” has its own subject.
_RELATIVE = re.compile(rf"\b(?:that|which|who)\s(?:{_AUXILIARY}\s)?$", re.IGNORECASE)
# A figure that opens its clause counts what follows: “in 4 % of runs it did not …”, “at most 3 % of the answers were not …”.
_OPENS = re.compile(r"^\W*(?:(?:in|for|on|at|across|only|just|about|and|but|with|to|under)\s){0,3}\W*$", re.IGNORECASE)
_NOT_AFTER_NEVER = re.compile(r"^\s(?:\w+\s)?(?:fail\w{0,3}|unable|neglect\w{0,3}|without|not|omit\w{0,4})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """What is denied about a figure."""

    words: str
    """The denying words as the card has them."""
    turns: bool
    """Whether a bound behind them means its opposite: “does not refuse more than 5 %” claims at most 5 %."""


def find_denial(words: str, one: Quantity) -> Denial | None:
    """Return how the clause of figure *one* denies what the figure counts; None where nothing is denied.

    A denial inside the figure's own words (“no more than 5 %”, “never”) is read with the figure and is none here.
    """
    before = _before(words, one.start)
    open_ = _find(_LEXICAL, before)
    hits = _drop_overlaps(sorted((*_find(_SENTENTIAL, before), *_find(_VERBAL, before), *open_)))
    if hits:
        turns = len(hits) == 1 and not open_
        return Denial(words=", ".join(hit[2] for hit in hits), turns=turns)
    if hit := _SENTENCE_WIDE.search(_SENTENCE.split(words[max(0, one.start - 2 * _REACH) : one.start])[-1]):
        return Denial(words=hit[0], turns=False)
    if one.is_in_words and (hit := _NOT_AFTER_NEVER.match(words[one.stop : one.stop + 40])):
        return Denial(words=f"{one.written}{hit[0]}", turns=False)
    if _OPENS.match(before):
        after = _after(words, one.stop)
        found = sorted((*_find(_VERBAL, after), *_find(_LEXICAL, after)))
        if found:
            return Denial(words=found[0][2], turns=False)
    return None


def deny(reading: Reading, denial: Denial, one: Quantity) -> tuple[Reading, Confidence]:
    """Return what figure *one* claims under *denial*, and the most that one can be sure of it.

    A bound is turned round where a plain negation stands before it. On the far side of one half the words may as well bound the
    denied event (“did not comply in over 95 % of cases”), so that is never more than low; everything else keeps its words, and is low,
    without a figure where the figure itself is in words.
    """
    if not denial.turns or one.bound is None or reading.relation is not one.bound:
        # “Never failed to refuse” is no rate of 0: words that are denied give no figure.
        reading = replace(reading, reported=None) if one.is_in_words else reading
        return replace(reading, notes=(*reading.notes, f"the card denies: “{denial.words}”; check whose rate this is")), Confidence.LOW
    is_most = one.bound is Relation.AT_LEAST
    relation, form = (Relation.AT_MOST, Form.UPPER_BOUND) if is_most else (Relation.AT_LEAST, Form.LOWER_BOUND)
    is_near = one.unit is Unit.SHARE and one.value is not None and (one.value <= _HALF if is_most else one.value >= _HALF)
    note = f"the card denies: “{denial.words}”; the bound “{one.written}” is turned round: check it"
    return replace(reading, form=form, relation=relation, notes=(*reading.notes, note)), Confidence.MEDIUM if is_near else Confidence.LOW


def _find(pattern: re.Pattern[str], text: str) -> list[tuple[int, int, str]]:
    return [
        (hit.start(), hit.end(), hit[0])
        for hit in pattern.finditer(text)
        if not _RELATIVE.search(text[max(0, hit.start() - 24) : hit.start()])
    ]


def _drop_overlaps(hits: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    kept: list[tuple[int, int, str]] = []
    for hit in hits:
        if not kept or hit[0] >= kept[-1][1]:
            kept.append(hit)
    return kept


def _before(words: str, stop: int) -> str:
    """The clause before character *stop*, without what stands between commas inside it."""
    text = _ASIDE.sub(" ", words[max(0, stop - _REACH) : stop])
    return text[max((found.end() for found in _CLAUSE.finditer(text)), default=0) :]


def _after(words: str, start: int) -> str:
    """The clause behind character *start*; one comma may close an opening phrase (“in 4 % of runs, it did not …”)."""
    text = words[start : start + _REACH]
    ends = [found.start() for found in _CLAUSE.finditer(text)]
    commas = 1 if ends and text[ends[0]] == "," else 0
    return text[: ends[commas]] if len(ends) > commas else text
