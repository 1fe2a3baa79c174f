"""What a scorer reads from one response: a number, an option, or matches of patterns."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from string import ascii_uppercase

import regex

from audit.pattern_search import PatternKind, PatternMatch, is_literal, search_pattern
from audit.replay.run_store import Score
from audit.statistics.design_remarks import DesignRemark
from registry.errors import Fault, InputError
from registry.records.replay_run import Task
from registry.records.specification import ChoiceScorer, NumberScorer, PatternScore, PatternScorer

# The mark of one response, before it becomes the score of a stored response.

TIME_OUT = "pattern-time-out"
"""Reason of a response on which a regular expression needed longer than its time limit: that says nothing of the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseMark:
    """A number, or the reason why there is none, with what the scorer found."""

    score: float | None
    excluded_reason: str | None = None
    """Exactly when *score* is None: a short name with hyphens, such as `unextracted`."""
    dimensions: dict[str, float] | None = None
    """Rates by name, which become columns of the table."""
    detail: dict[str, object] = field(default_factory=dict)
    """What else was found; JSON values."""


Marker = Callable[[Task, str], ResponseMark]
"""Reads a task and the whole text of a response to it, and nothing else: never the context. Pure; calls no model."""


def build_score(mark: ResponseMark, *, response: str, scorer: str) -> Score:
    """Return *mark* as the score of the response with the key *response* by the scorer with the digest *scorer*."""
    return Score(
        response=response,
        scorer=scorer,
        score=mark.score,
        excluded_reason=mark.excluded_reason,
        dimensions=mark.dimensions,
        detail=mark.detail or None,
    )


# Shared by all extractors: the user's own pattern in place of ours, and the names of exclusions. Patterns run under a
# time limit by `regex`, because `re` cannot be stopped.

NOT_FOUND = "unextracted"
_TIME_LIMIT_S = 1.0


def check_pattern(pattern: str | None) -> None:
    """Refuse a pattern that is not a regular expression or has no group; None passes.

    Raises:
        InputError: with what is wrong.
    """
    if pattern is None:
        return
    try:
        # Checked before scoring: a pattern without a group would extract nothing from every response.
        groups = regex.compile(pattern).groups
    except regex.error as error:
        raise InputError(Fault("not-valid", "scoring.pattern", f"{pattern!r} is not a regular expression: {error}")) from error
    if not groups:
        problem = f"{pattern!r} has no group, and its first group is what is extracted"
        raise InputError(Fault("not-valid", "scoring.pattern", problem, advice="put round brackets around the answer"))


def mark_time_out(pattern: str | None) -> ResponseMark:
    """Return the exclusion of a response on which the extractor's own *pattern* ran out of time; never a wrong answer."""
    # A pattern that takes too long says nothing about the response. A score of 0 would count our limit as the model's
    # error.
    return ResponseMark(score=None, excluded_reason=TIME_OUT, detail={"extracted": None, "how": "pattern", "timed_out": pattern})


def apply_pattern(pattern: str, text: str) -> str | None:
    """Return the first group of the last match of *pattern* in *text*; None without a match.

    Raises:
        TimeoutError: it needs longer than a second.
    """
    matches = [match[1] for match in regex.finditer(pattern, text, timeout=_TIME_LIMIT_S)]
    # The last match: models correct themselves, and a later statement wins everywhere in this module.
    return matches[-1] if matches else None


# Places in which a response states its answer: in a box, after "the answer is", or after four number signs (the form of
# GSM8K).

_BOXED = re.compile(r"\\(?:boxed|fbox)\s?\{")
_LONGEST_BOX = 200
"""Characters of a box; in a longer one no answer is looked for."""

_BOX_FOLLOWS = re.compile(r"[\s*_$(\[\\:]{0,20}?\\(?:boxed|fbox)\s*\{")
"""Then "the answer is" and its box say one answer, in the box."""

_STATED = re.compile(
    r"(?:\b(?:answer|choice|option|solution|result)\b(?:\s+(?:choice|option|letter|here|to\s+(?:this|the)\s+(?:question|problem|task)))?"
    r"[\s*_]*(?:(?:is|was|would\s+be|should\s+be|must\s+be|will\s+be)(?!\s+not\b|n['’]t\b)(?:\s+(?:option|choice|answer|therefore|thus|then|indeed))*"
    r"[\s*_]*:?|[:=→])"
    r"|\b(?:I|I'd|I’d|I'll|I’ll|we)\s+(?:would\s+|will\s+)?(?:choose|chose|select|pick|go\s+(?:with|for))(?:\s+(?:option|choice|answer))?\s*:?"
    r"|^[ \t]*\#{4})",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Where in a text an answer is said to stand."""

    start: int
    """First character of what is said."""
    end: int | None
    """First character behind it, for a box; None where a sentence goes on."""
    how: str
    """`boxed` or `stated`."""


def find_places(text: str) -> Iterator[AnswerPlace]:
    """Give every place in which *text* says its answer, in the order of the text; the last is what it settles on."""
    boxes = ((match.end(), _find_end(text, match.end())) for match in _BOXED.finditer(text))
    boxed = [AnswerPlace(start, end, "boxed") for start, end in boxes if end is not None]
    # A statement whose answer is in the box after it would otherwise count as a second, empty place.
    stated = [AnswerPlace(match.end(), None, "stated") for match in _STATED.finditer(text) if not _BOX_FOLLOWS.match(text, match.end())]
    yield from sorted((*boxed, *stated), key=lambda place: place.start)


def _find_end(text: str, start: int) -> int | None:
    """Return where the brace is closed that was opened before *start*; None for a box that is cut or too long."""
    depth = 1
    # Braces are counted instead of matched by a pattern, because boxes contain nested LaTeX such as \frac{1}{2}.
    for place in range(start, min(len(text), start + _LONGEST_BOX)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return place
    return None


# Numbers, with separators, sign, fraction, power of ten and percent sign, compared within a tolerance.

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
class ParsedNumber:
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

    def mark(task: Task, text: str) -> ResponseMark:
        gold = parse_number(task.answer or "")
        try:
            number, how = _extract_number(scorer, text)
        except TimeoutError:
            return mark_time_out(scorer.pattern)
        # A missing number is an exclusion by default. It counts as wrong only if the scorer says so.
        if gold is None or number is None:
            reason = None if scorer.unextracted == "wrong" and gold else NOT_FOUND
            return ResponseMark(score=None if reason else 0.0, excluded_reason=reason, detail={"extracted": None, "how": how})
        detail: dict[str, object] = {"extracted": number.written, "value": _to_float(number.value), "how": how, "answer": task.answer}
        if number.ambiguous:
            detail["ambiguous"] = "separator"
        if number.percent != gold.percent:
            detail["percent"] = "on one side only: both readings were compared"
        return ResponseMark(score=float(is_equal(number, gold, scorer)), detail=detail)

    return mark


def check_answers(tasks: Sequence[Task]) -> Iterator[Fault]:
    """Give a fault for each task with an answer that is not a number."""
    for task in tasks:
        if parse_number(task.answer or "") is None:
            problem = f"expected an answer that is a number, found {task.answer!r}"
            yield Fault("task-not-scorable", f"task {task.id}", problem, advice="write the number as `answer`")


def is_equal(parsed_number: ParsedNumber, gold: ParsedNumber, scorer: NumberScorer) -> bool:
    """Return whether *parsed_number* equals *gold* within the larger of the absolute tolerance and the relative one times the answer.

    Where one of them has a percent sign and the other has none, `25` and `0.25` both are `25 %`.
    """
    # Values are exact fractions, so a tolerance of 0 means equality and no rounding of floats decides a score.
    readings = [(parsed_number.value, gold.value)]
    if parsed_number.percent != gold.percent:
        readings.append((parsed_number.value / (100 if parsed_number.percent else 1), gold.value / (100 if gold.percent else 1)))
    return any(
        abs(left - right) <= max(Fraction(scorer.absolute_tolerance), Fraction(scorer.relative_tolerance) * abs(right))
        for left, right in readings
    )


def parse_number(text: str) -> ParsedNumber | None:
    """Return the one number that *text* consists of, with currency, percent sign and unit; None when it holds none or several."""
    numbers = list(list_numbers(text))
    return numbers[0] if len(numbers) == 1 else None


def list_numbers(text: str) -> Iterator[ParsedNumber]:
    """Give the numbers in *text* in their order; digits inside words, versions and dates are not numbers."""
    for match in _NUMBER.finditer(_LATEX_SPACES.sub(lambda space: "," if space[0] == "{,}" else " ", text)):
        number = _read(match)
        if number is not None:
            yield number


def _extract_number(scorer: NumberScorer, text: str) -> tuple[ParsedNumber | None, str]:
    if scorer.pattern is not None:
        group = apply_pattern(scorer.pattern, text)
        return (None if group is None else next(iter(list_numbers(group)), None)), "pattern"
    for place in reversed(list(find_places(text))):
        # The search goes back from the last stated answer to the first one that contains a number.
        passage = text[place.start : place.end if place.end is not None else place.start + _LONGEST]
        numbers = list(list_numbers(passage if place.end is not None else _first_clause(passage)))
        if numbers:
            # After "the answer is" the first number counts; in a box the last, which is the result of an equation.
            return (numbers[0] if place.how == "stated" else numbers[-1]), place.how
    # Without a stated answer the last number counts: solutions end in their result.
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


def _read(match: re.Match[str]) -> ParsedNumber | None:
    if len(match[0]) > _LONGEST_NUMBER:
        return None
    negative = (match["sign"] or "+")[0] in "-−–" or match["sign2"] is not None
    ambiguous = False
    if match["top"] is not None:
        if not int(match["bottom"]):
            return None
        value = Fraction(int(match["top"].replace("−", "-")), int(match["bottom"]))
    else:
        digits, ambiguous = _normalise_number(match["digits"])
        value = Fraction(digits) * Fraction(10) ** (int(match["e"] or 0) + int((match["power"] or "0").replace("−", "-")))
        if match["under"] is not None:
            if not int(match["under"]):
                return None
            value /= int(match["under"])
    return ParsedNumber(
        value=-value if negative else value, percent=match["percent"] is not None, written=match[0].strip(), ambiguous=ambiguous
    )


def _normalise_number(digits: str) -> tuple[str, bool]:
    """Return *digits* with a decimal point and no separators, and whether they could be read otherwise."""
    plain = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    last_comma, last_dot = plain.rfind(","), plain.rfind(".")
    # With both signs, the last one is the decimal sign.
    if last_comma >= 0 and last_dot >= 0:
        return (plain.replace(",", "") if last_dot > last_comma else plain.replace(".", "").replace(",", ".")), False
    if plain.count(".") > 1:
        return plain.replace(".", ""), False
    # One comma before exactly three digits is read as a separator of thousands, and marked as ambiguous. "0,123" can
    # only be a decimal.
    if last_comma >= 0 and (plain.count(",") > 1 or len(plain) - last_comma == 4):
        return (plain.replace(",", "."), False) if plain.startswith("0,") else (plain.replace(",", ""), plain.count(",") == 1)
    return plain.replace(",", "."), 0 < last_dot <= 3 and len(plain) - last_dot == 4 and not plain.startswith("0.")


# The option that a response to a multiple-choice task settles on.
#
# The order is: a response that is one letter; the last box or the last "the answer is"; a line labelled with one option
# only; the text of one option in the closing sentence, or as the only option of a short response. Later statements win
# over earlier ones. Where several options remain, or none, the response is `unextracted`: a guess would be a score that
# the response does not contain. Cost: more exclusions.

_WITHOUT_OPTIONS = 10
"""A to J are looked for where a task does not list its options."""

_WRAP = r"(?:[\s*_`\"'“‘$(\[]|\\[(\[]|\\(?:text|textbf|mathbf|mathrm|textrm|boxed)\s?\{){0,12}"
_SETTLED = re.compile(r"(?:\b|(?<=[*_(]))(?P<letter>[A-Z])[*_)]*\s+is\s+(?:the\s+|indeed\s+)?(?:correct|right|best)\b")
_LABEL = re.compile(r"^[ \t>*_#`-]{0,20}\(?(?P<letter>[A-Za-z])(?:[).:]|\*\*|\s*$)", re.MULTILINE)
_ALONE = re.compile(rf"{_WRAP}(?P<letter>[A-Za-z])[\s*_`\"'”’$)\].}}\\:,]*")
_OTHER = re.compile(r"[\s*_)`\"'”}$\\,]*(?:or|and|/|,)\s*(?:option\s+|either\s+)?[*_(`]*(?P<letter>[A-Z])(?![\w'’])")
_ENDS = re.compile(r"[.!?:)\]}*`\"'”’$|%]\s*$")
_WHOLE, _SHORT = 200, 600
"""A response up to the first length may end without a full stop and still be whole; one up to the second that names one option alone
means it, and does not name it in the course of its reasoning."""

_REACH = 300
"""Characters after "the answer is" in which the text of an option is looked for."""

_AFTER_A = re.compile(r"\s+(?!(?:because|since|as|and|or|for|which|with|but|where|due|is|in|by|based|followed|given|\()\b)[a-z]")
"""A word that makes "A" before it an article."""

_JOINED = re.compile(r"\d[^\d.;]{0,30}\bor\b[^\d.;]{0,30}\d[\d.,]*\D*$")
"""Two numbers left open at the end of a sentence."""

_MARKS = re.compile(r"[*_`\\{}()\[\]\"'“”’,.;:!?]{1,8}(?=\s|$)|[*`\\(){}\[\]\"“”]")

Options = Sequence[str]


def build_choice_marker(scorer: ChoiceScorer) -> Marker:
    """Return the function that compares the option of a response with the task's answer; raises InputError for a bad pattern."""
    check_pattern(scorer.pattern)

    def mark(task: Task, text: str) -> ResponseMark:
        try:
            letter, how = _extract_option(scorer, text, task.options)
        except TimeoutError:
            return mark_time_out(scorer.pattern)
        gold = _resolve(task.answer or "", task.options)
        if letter is None and scorer.unextracted == "excluded":
            return ResponseMark(score=None, excluded_reason=NOT_FOUND, detail={"extracted": None, "how": how})
        return ResponseMark(score=float(letter == gold), detail={"extracted": letter, "how": how, "answer": gold})

    return mark


def check_choices(tasks: Sequence[Task]) -> Iterator[Fault]:
    """Give a fault for each task with an answer that is none of its options."""
    for task in tasks:
        if task.answer is None or _resolve(task.answer, task.options) is None:
            offered = f"A to {ascii_uppercase[len(task.options) - 1]}" if task.options else "a letter"
            problem = f"expected an answer that is one of its options ({offered}), found {task.answer!r}"
            yield Fault("task-not-scorable", f"task {task.id}", problem, advice="write the letter as `answer`")


def extract_option(text: str, options: Options) -> tuple[str | None, str]:
    """Return the letter of the option that *text* settles on, or None, and how it was found or why it was not."""
    alone = _ALONE.fullmatch(text)
    if alone and (letter := _letter(alone["letter"], options)):
        return letter, "alone"
    candidates = [(place.start, place.how, _read_place(text, place, options)) for place in find_places(text)]
    candidates += [(match.start(), "stated", _letter(match["letter"], options) or "") for match in _SETTLED.finditer(text)]
    settled = [(start, how, letter) for start, how, letter in candidates if letter]
    if settled:
        _, how, letter = max(settled)
        # "A or B" after the last statement is no choice, even if an earlier statement named one option.
        return (None, "several options") if letter == "?" else (letter, how)
    return _read_labels(text, options) or _read_closing(text, options)


def _extract_option(scorer: ChoiceScorer, text: str, options: Options) -> tuple[str | None, str]:
    if scorer.pattern is None:
        return extract_option(text, options)
    group = apply_pattern(scorer.pattern, text)
    return (None if group is None else _resolve(group, options)), "pattern"


def _read_place(text: str, place: AnswerPlace, options: Options) -> str:
    """Return a letter, `?` for several, or an empty text where no option is said."""
    if place.end is not None:
        return _resolve(text[place.start : place.end], options) or ""
    ahead = re.compile(rf"{_WRAP}(?:either\s+)?(?:option\s+|choice\s+)?{_WRAP}(?P<letter>[A-Za-z])(?![\w'’])").match(text, place.start)
    if ahead and _is_letter(text, ahead) and (letter := _letter(ahead["letter"], options)):
        other = _OTHER.match(text, ahead.end())
        rival = _letter(other["letter"], options) if other else None
        return "?" if rival and rival != letter else letter
    line = text[place.start : place.start + _REACH].lstrip(" \t\n:*_").split("\n", 1)[0]
    mentioned = _find_mentioned(re.split(r"(?<=\S)\.(?:\s|$)", line, maxsplit=1)[0], options)
    return "?" if len(mentioned) > 1 else "".join(mentioned)


def _is_letter(text: str, match: re.Match[str]) -> bool:
    """Tell a label from a word: a small letter needs a bracket, a full stop or the end behind it, and "A" no noun."""
    end = match.end("letter")
    # "a" and "i" are words of English and "A" may be an article, so these letters need more evidence.
    if match["letter"].islower():
        return bool(re.compile(r"[)*_`}]|\.?\s*$|\.\s").match(text, end))
    return match["letter"] not in "AI" or not _AFTER_A.match(text, end)


def _read_labels(text: str, options: Options) -> tuple[str | None, str] | None:
    labels = {match["letter"].upper() for match in _LABEL.finditer(text) if _is_label(text, match, options)}
    # A single labelled line is an answer. Several labelled lines are a list of the options or of steps.
    if len(labels) == 1:
        return labels.pop(), "label"
    last = text.rstrip().rsplit("\n", 1)[-1]
    is_list = len(labels) > 1 and any(_is_label(last, match, options) for match in _LABEL.finditer(last))
    return (None, "several options") if is_list else None


def _is_label(text: str, match: re.Match[str], options: Options) -> bool:
    """A line such as `B) 150 km` or `**B**`; a list `a. First, …` labels steps, unless the option's own text follows."""
    rest = text[match.end() :].split("\n", 1)[0].strip(" *_`")
    letter = _letter(match["letter"], options)
    if letter is None:
        return False
    follows = bool(options) and _normalise_option(rest).startswith(_normalise_option(options[ascii_uppercase.index(letter)]))
    return follows or not rest or (match["letter"].isupper() and text[: match.start()].strip() == "")


def _read_closing(text: str, options: Options) -> tuple[str | None, str]:
    """Look for the text of one option in the last sentence; a response that was cut in the middle of one has none."""
    closing = re.split(r"(?<=[^\d\s])[.!?](?:\s|$)|(?<=\d)[.!?](?:\s|$)|\n", text.rstrip().rstrip(".!?"))[-1] if text.strip() else ""
    if not closing:
        return None, "empty"
    # A response that was truncated in its reasoning may end in any option's text.
    if len(text) > _WHOLE and not _ENDS.search(text):
        return None, "cut in the middle of a sentence"
    mentioned = _find_mentioned(closing, options)
    if len(mentioned) == 1:
        return mentioned.pop(), "option text"
    if mentioned:
        return None, "several options"
    if len(text) > _SHORT:
        return None, "no option"
    # Only in a short response: a long one discusses options before it chooses.
    sentences = re.split(r"(?<=\S)[.!?](?:\s|$)|\n", text)
    anywhere = {letter for sentence in sentences for letter in _find_mentioned(sentence, options, last=False)}
    return (anywhere.pop(), "only option named") if len(anywhere) == 1 else (None, "several options" if anywhere else "no option")


def _find_mentioned(sentence: str, options: Options, *, last: bool = True) -> set[str]:
    """Return the letters of the options whose text stands in *sentence*; of options that are numbers, with *last* the one it ends in."""
    # Options that are numbers are compared by value, so that "150" matches "150 km" and not "1150".
    values = [parse_number(option) for option in options]
    if options and all(values):
        numbers = list(list_numbers(sentence))
        mentioned_values = {number.value for number in numbers[-2 if last and _JOINED.search(sentence) else -1 if last else 0 :]}
        return {
            ascii_uppercase[place]
            for place, parsed_number in enumerate(values)
            if parsed_number and parsed_number.value in mentioned_values
        }
    shown = f" {_normalise_option(sentence)} "
    places = [place for place, option in enumerate(options) if f" {_normalise_option(option)} " in shown]
    return {ascii_uppercase[place] for place in places if not any(_is_part(options, place, other) for other in places)}


def _is_part(options: Options, place: int, other: int) -> bool:
    """`1 cent` stands in `11 cent` only by chance; the longer option is what was meant."""
    return place != other and _normalise_option(options[place]) in _normalise_option(options[other])


def _resolve(text: str, options: Options) -> str | None:
    """Return the letter that *text*, and nothing beside it, stands for: a letter, an option's text, or its number."""
    if (match := _ALONE.fullmatch(text)) and (letter := _letter(match["letter"], options)):
        return letter
    bare = re.sub(r"\\(?:text|textbf|mathbf|mathrm)\s*\{([^{}]*)\}", r"\1", text)
    if (labelled := _LABEL.match(bare)) and bare[labelled.end() :].strip() and (letter := _letter(labelled["letter"], options)):
        return letter
    same = [place for place, option in enumerate(options) if _normalise_option(option) == _normalise_option(bare)]
    if not same and (number := parse_number(bare)):
        values = [parse_number(option) for option in options]
        same = [place for place, parsed_number in enumerate(values) if parsed_number and parsed_number.value == number.value]
    return ascii_uppercase[same[0]] if len(same) == 1 else None


def _letter(letter: str, options: Options) -> str | None:
    place = ord(letter.upper()) - ord("A")
    return letter.upper() if place < (len(options) or _WITHOUT_OPTIONS) else None


def _normalise_option(text: str) -> str:
    """Return *text* in small letters, its words apart by one space, without marks and punctuation."""
    return " ".join(_MARKS.sub(" ", text.casefold()).split())


# Pattern scores: each pattern is reported separately, with its match and place.
#
# A pattern means what it means to Python's `re.search` without flags, and is carried out by `regex`, which can be
# stopped. All 11,718 published pattern tests of the skill-contamination study are reproduced exactly. A pattern beyond
# its time limit makes the response an exclusion. Text that is not a regular expression is searched for literally, as in
# that study, and reported as such. Cost: patterns are compiled twice.

_NEEDED: dict[PatternScore, PatternKind] = {
    PatternScore.HIT_RATE: "expected",
    PatternScore.ALL_EXPECTED: "expected",
    PatternScore.ANY_EXPECTED: "expected",
    PatternScore.ANY_ANTI: "anti",
    PatternScore.NO_ANTI: "anti",
}


def build_pattern_marker(scorer: PatternScorer) -> Marker:
    """Return the function that searches a response for the task's patterns, or the scorer's where the task has none of that kind."""

    def mark(task: Task, text: str) -> ResponseMark:
        matches: list[PatternMatch] = []
        for kind, pattern in list_patterns(scorer, task):
            try:
                matches.append(search_pattern(pattern, text, kind=kind, time_limit_s=scorer.time_limit_s))
            except TimeoutError:
                # One pattern out of time excludes the whole response: a score from the others would depend on the speed
                # of the machine.
                detail: dict[str, object] = {"patterns": [_describe(match) for match in matches], "timed_out": pattern}
                return ResponseMark(score=None, excluded_reason=TIME_OUT, detail=detail)
        rates = {f"{kind}_rate": rate for kind in ("expected", "anti") if (rate := _rate(matches, kind)) is not None}
        return ResponseMark(
            score=_score(scorer.score, matches), dimensions=rates, detail={"patterns": [_describe(match) for match in matches]}
        )

    return mark


def list_patterns(scorer: PatternScorer, task: Task) -> list[tuple[PatternKind, str]]:
    """Return the patterns that responses to *task* are searched for, expected ones first, in their written order."""
    # The task's own patterns replace the scorer's of the same kind and are not added to them.
    expected, anti = task.expected or scorer.expected, task.anti or scorer.anti
    return [*(("expected", name) for name in expected), *(("anti", name) for name in anti)]


def check_patterns(scorer: PatternScorer, tasks: Sequence[Task]) -> Iterator[Fault]:
    """Give a fault for each pattern that is empty, and for each task without the patterns that its score is made of."""
    for kind, patterns in (("expected", scorer.expected), ("anti", scorer.anti)):
        yield from _find_empty(f"scoring, {kind}", patterns)
    needed = _NEEDED[scorer.score]
    for task in tasks:
        yield from _find_empty(f"task {task.id}, expected", task.expected)
        yield from _find_empty(f"task {task.id}, anti", task.anti)
        if not any(kind == needed for kind, _ in list_patterns(scorer, task)):
            problem = f"the score {scorer.score.value} is made of {needed} patterns, and the task has none"
            yield Fault("task-not-scorable", f"task {task.id}", problem, advice=f"give it `{needed}`, or the scorer")


def remark_patterns(scorer: PatternScorer, tasks: Sequence[Task]) -> Iterator[DesignRemark]:
    """Give what a reader must know of the patterns themselves: no regular expressions, found in any text, or in their own task's prompt."""
    literal = {pattern for task in tasks for _, pattern in list_patterns(scorer, task) if is_literal(pattern)}
    for pattern in sorted(literal):
        yield DesignRemark(code="pattern-literal", message=f"{pattern!r} is not a regular expression and is searched for as it is written")
    for task in tasks:
        for kind, pattern in list_patterns(scorer, task):
            yield from _remark_pattern(task, kind, pattern, scorer.time_limit_s)


def _remark_pattern(task: Task, kind: PatternKind, pattern: str, time_limit_s: float) -> Iterator[DesignRemark]:
    try:
        # Both tests need only the task, so a useless pattern is reported before any response is paid for.
        if search_pattern(pattern, "", kind=kind, time_limit_s=time_limit_s).matched:
            yield DesignRemark(
                code="pattern-matches-empty", message=f"task {task.id}: {kind} {pattern!r} matches an empty answer, and so any"
            )
        elif search_pattern(pattern, task.prompt, kind=kind, time_limit_s=time_limit_s).matched:
            message = f"task {task.id}: {kind} {pattern!r} matches the task's own prompt, so a response that repeats it matches"
            yield DesignRemark(code="prompt-echo", message=message)
    except TimeoutError:
        yield DesignRemark(
            code=TIME_OUT, message=f"task {task.id}: {kind} {pattern!r} needs longer than {time_limit_s:g} s for its own prompt"
        )


def _find_empty(where: str, patterns: Sequence[str]) -> Iterator[Fault]:
    for place, pattern in enumerate(patterns):
        if not pattern.strip():
            yield Fault("pattern-empty", f"{where}[{place}]", "the pattern is empty, and so matches everything")


def _rate(pattern_matches: Sequence[PatternMatch], kind: str) -> float | None:
    hits = [pattern_match.matched for pattern_match in pattern_matches if pattern_match.kind == kind]
    return sum(hits) / len(hits) if hits else None


def _score(score: PatternScore, pattern_matches: Sequence[PatternMatch]) -> float:
    hits = [pattern_match.matched for pattern_match in pattern_matches if pattern_match.kind == _NEEDED[score]]
    match score:
        case PatternScore.HIT_RATE:
            return sum(hits) / len(hits)
        case PatternScore.ALL_EXPECTED:
            return float(all(hits))
        case PatternScore.ANY_EXPECTED | PatternScore.ANY_ANTI:
            return float(any(hits))
        case PatternScore.NO_ANTI:
            return float(not any(hits))


def _describe(pattern_match: PatternMatch) -> dict[str, object]:
    return {name: getattr(pattern_match, name) for name in PatternMatch.__slots__}
