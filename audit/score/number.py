"""The number that a response ends in, read with its separators, sign, fraction, power of ten and percent sign, and held to a tolerance."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from audit.score.extraction import NOT_FOUND, apply_pattern, check_pattern, mark_time_out
from audit.score.mark import Mark, Marker
from audit.score.statements import find_places
from registry.errors import Fault
from registry.records.replay import Task
from registry.records.scorer import NumberScorer

_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"  # 1,234,567.8
    r"|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?"  # 1.234.567,8
    r"|\d{1,3}(?:\.\d{3})+,\d+"  # 1.234,5
    r"|\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?"  # 1 234 567,8
    r"|\d+(?:[.,]\d+)?|\.\d+"
)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?P<sign>[-+−–](?:\s?(?=[$€£¥])|(?=[\d.\\])))?(?:[$€£¥]\s?)?(?P<sign2>[-−](?=\d))?"
    rf"(?:\\[dt]?frac\s*\{{\s*(?P<top>[-−]?\d+)\s*\}}\s*\{{\s*(?P<bottom>\d+)\s*\}}"
    rf"|(?P<digits>{_DIGITS})(?:[eE](?P<e>[-+]?\d{{1,3}})(?!\w))?"
    r"(?:\s*(?:×|x|\*|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*\{?(?P<power>[-−+]?\d{1,3})\}?)?"
    r"(?:\s?[/⁄]\s?(?P<under>\d+)(?![\d.,/]*\d))?)"
    r"\s*(?P<percent>\\?%|percent\b|per\s+cent\b)?",
    re.IGNORECASE,
)
_LATEX_SPACES = re.compile(r"\\[,;:! ]|\{,\}|~")
_LONGEST_NUMBER = 60
"""Characters of a number; a longer one is a key or a digest."""

_LONGEST = 60
"""Characters of a stated answer in which its number is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as it stands in a text."""

    value: Fraction
    """Without the percent sign: 25 for `25 %`."""
    percent: bool
    written: str
    ambiguous: bool
    """Whether a comma or dot before three digits could also be a decimal one; it was read as a separator of thousands (`1,234`),
    a dot as a decimal point (`1.234`)."""


def build_number_marker(scorer: NumberScorer) -> Marker:
    """Return the function that compares the number of a response with the task's answer; raises InputError for a bad pattern."""
    check_pattern(scorer.pattern)

    def mark(task: Task, text: str) -> Mark:
        gold = parse_number(task.answer or "")
        try:
            found, how = _extract(scorer, text)
        except TimeoutError:
            return mark_time_out(scorer.pattern)
        if gold is None or found is None:
            reason = None if scorer.unextracted == "wrong" and gold else NOT_FOUND
            return Mark(score=None if reason else 0.0, excluded_reason=reason, detail={"extracted": None, "how": how})
        detail: dict[str, object] = {"extracted": found.written, "value": _to_float(found.value), "how": how, "answer": task.answer}
        if found.ambiguous:
            detail["ambiguous"] = "separator"
        if found.percent != gold.percent:
            detail["percent"] = "on one side only: both readings were compared"
        return Mark(score=float(is_equal(found, gold, scorer)), detail=detail)

    return mark


def check_answers(tasks: Sequence[Task]) -> Iterator[Fault]:
    """Give a fault for each task whose answer is no number."""
    for task in tasks:
        if parse_number(task.answer or "") is None:
            found = f"expected an answer that is a number, found {task.answer!r}"
            yield Fault(code="task-not-scorable", where=f"task {task.id}", found=found, advice="write the number as `answer`")


def is_equal(found: Number, gold: Number, scorer: NumberScorer) -> bool:
    """Tell whether *found* lies within the tolerance of *gold*: the larger of the absolute one and the relative one times the answer.

    Where one of them has a percent sign and the other has none, `25` and `0.25` both are `25 %`.
    """
    readings = [(found.value, gold.value)]
    if found.percent != gold.percent:
        readings.append((found.value / (100 if found.percent else 1), gold.value / (100 if gold.percent else 1)))
    return any(
        abs(one - right) <= max(Fraction(scorer.absolute_tolerance), Fraction(scorer.relative_tolerance) * abs(right))
        for one, right in readings
    )


def parse_number(text: str) -> Number | None:
    """Return the one number that *text* consists of, with currency, percent sign and unit; None when it holds none or several."""
    found = list(list_numbers(text))
    return found[0] if len(found) == 1 else None


def list_numbers(text: str) -> Iterator[Number]:
    """Give the numbers in *text* in their order; digits inside words, versions and dates are not numbers."""
    for match in _NUMBER.finditer(_LATEX_SPACES.sub(lambda one: "," if one[0] == "{,}" else " ", text)):
        number = _read(match)
        if number is not None:
            yield number


def _extract(scorer: NumberScorer, text: str) -> tuple[Number | None, str]:
    if scorer.pattern is not None:
        group = apply_pattern(scorer.pattern, text)
        return (None if group is None else next(iter(list_numbers(group)), None)), "pattern"
    for place in reversed(list(find_places(text))):
        said = text[place.start : place.end if place.end is not None else place.start + _LONGEST]
        numbers = list(list_numbers(said if place.end is not None else _first_clause(said)))
        if numbers:
            return (numbers[0] if place.how == "stated" else numbers[-1]), place.how
    numbers = list(list_numbers(text))
    return (numbers[-1], "last number") if numbers else (None, "no number")


def _to_float(value: Fraction) -> float | None:
    """Return *value* for the detail; None where it is larger than a float holds."""
    try:
        return float(value)
    except OverflowError:
        return None


def _first_clause(text: str) -> str:
    """What stands before the sentence or the line ends; a decimal point ends none."""
    return re.split(r"\n\s*\n|(?<=\S)\.(?:\s|$)|;", text.lstrip(), maxsplit=1)[0]


def _read(match: re.Match[str]) -> Number | None:
    if len(match[0]) > _LONGEST_NUMBER:
        return None
    negative = (match["sign"] or "+")[0] in "-−–" or match["sign2"] is not None
    ambiguous = False
    if match["top"] is not None:
        if not int(match["bottom"]):
            return None
        value = Fraction(int(match["top"].replace("−", "-")), int(match["bottom"]))
    else:
        digits, ambiguous = _normalise(match["digits"])
        value = Fraction(digits) * Fraction(10) ** (int(match["e"] or 0) + int((match["power"] or "0").replace("−", "-")))
        if match["under"] is not None:
            if not int(match["under"]):
                return None
            value /= int(match["under"])
    return Number(value=-value if negative else value, percent=match["percent"] is not None, written=match[0].strip(), ambiguous=ambiguous)


def _normalise(digits: str) -> tuple[str, bool]:
    """Return *digits* with a decimal point and no separators, and whether they could be read otherwise."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    last_comma, last_dot = plain.rfind(","), plain.rfind(".")
    if last_comma >= 0 and last_dot >= 0:
        return (plain.replace(",", "") if last_dot > last_comma else plain.replace(".", "").replace(",", ".")), False
    if plain.count(".") > 1:
        return plain.replace(".", ""), False
    if last_comma >= 0 and (plain.count(",") > 1 or len(plain) - last_comma == 4):
        return (plain.replace(",", "."), False) if plain.startswith("0,") else (plain.replace(",", ""), plain.count(",") == 1)
    return plain.replace(",", "."), 0 < last_dot <= 3 and len(plain) - last_dot == 4 and not plain.startswith("0.")
