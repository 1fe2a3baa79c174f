"""The option that a response to a multiple-choice task settles on.

In this order: a response that is one letter; what stands in the last box or after the last "the answer is"; a line labelled with one
option alone; the text of one option in the closing sentence, or alone in a short response. Later statements win over earlier ones.
Where several options remain, or none, the response is `unextracted`: a guess would be a score that nobody gave.
"""

import re
from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from audit.score.extraction import NOT_FOUND, apply_pattern, check_pattern, mark_time_out
from audit.score.mark import Mark, Marker
from audit.score.number import list_numbers, parse_number
from audit.score.statements import Place, find_places
from registry.errors import Fault
from registry.records.replay import Task
from registry.records.scorer import ChoiceScorer

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

    def mark(task: Task, text: str) -> Mark:
        try:
            letter, how = _extract(scorer, text, task.options)
        except TimeoutError:
            return mark_time_out(scorer.pattern)
        gold = _resolve(task.answer or "", task.options)
        if letter is None and scorer.unextracted == "excluded":
            return Mark(score=None, excluded_reason=NOT_FOUND, detail={"extracted": None, "how": how})
        return Mark(score=float(letter == gold), detail={"extracted": letter, "how": how, "answer": gold})

    return mark


def check_choices(tasks: Sequence[Task]) -> Iterator[Fault]:
    """Give a fault for each task whose answer is none of its options."""
    for task in tasks:
        if task.answer is None or _resolve(task.answer, task.options) is None:
            offered = f"A to {ascii_uppercase[len(task.options) - 1]}" if task.options else "a letter"
            found = f"expected an answer that is one of its options ({offered}), found {task.answer!r}"
            yield Fault(code="task-not-scorable", where=f"task {task.id}", found=found, advice="write the letter as `answer`")


def extract(text: str, options: Options) -> tuple[str | None, str]:
    """Return the letter of the option that *text* settles on, or None, and how it was found or why it was not."""
    alone = _ALONE.fullmatch(text)
    if alone and (letter := _letter(alone["letter"], options)):
        return letter, "alone"
    said = [(place.start, place.how, _read_place(text, place, options)) for place in find_places(text)]
    said += [(found.start(), "stated", _letter(found["letter"], options) or "") for found in _SETTLED.finditer(text)]
    settled = [(start, how, letter) for start, how, letter in said if letter]
    if settled:
        _, how, letter = max(settled)
        return (None, "several options") if letter == "?" else (letter, how)
    return _read_labels(text, options) or _read_closing(text, options)


def _extract(scorer: ChoiceScorer, text: str, options: Options) -> tuple[str | None, str]:
    if scorer.pattern is None:
        return extract(text, options)
    group = apply_pattern(scorer.pattern, text)
    return (None if group is None else _resolve(group, options)), "pattern"


def _read_place(text: str, place: Place, options: Options) -> str:
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


def _is_letter(text: str, found: re.Match[str]) -> bool:
    """Tell a label from a word: a small letter needs a bracket, a full stop or the end behind it, and "A" no noun."""
    end = found.end("letter")
    if found["letter"].islower():
        return bool(re.compile(r"[)*_`}]|\.?\s*$|\.\s").match(text, end))
    return found["letter"] not in "AI" or not _AFTER_A.match(text, end)


def _read_labels(text: str, options: Options) -> tuple[str | None, str] | None:
    labels = {found["letter"].upper() for found in _LABEL.finditer(text) if _is_label(text, found, options)}
    if len(labels) == 1:
        return labels.pop(), "label"
    last = text.rstrip().rsplit("\n", 1)[-1]
    is_list = len(labels) > 1 and any(_is_label(last, found, options) for found in _LABEL.finditer(last))
    return (None, "several options") if is_list else None


def _is_label(text: str, found: re.Match[str], options: Options) -> bool:
    """A line such as `B) 150 km` or `**B**`; a list `a. First, …` labels steps, unless the option's own text follows."""
    rest = text[found.end() :].split("\n", 1)[0].strip(" *_`")
    letter = _letter(found["letter"], options)
    if letter is None:
        return False
    follows = bool(options) and _normalise(rest).startswith(_normalise(options[ascii_uppercase.index(letter)]))
    return follows or not rest or (found["letter"].isupper() and text[: found.start()].strip() == "")


def _read_closing(text: str, options: Options) -> tuple[str | None, str]:
    """Look for the text of one option in the last sentence; a response that was cut in the middle of one has none."""
    closing = re.split(r"(?<=[^\d\s])[.!?](?:\s|$)|(?<=\d)[.!?](?:\s|$)|\n", text.rstrip().rstrip(".!?"))[-1] if text.strip() else ""
    if not closing:
        return None, "empty"
    if len(text) > _WHOLE and not _ENDS.search(text):
        return None, "cut in the middle of a sentence"
    mentioned = _find_mentioned(closing, options)
    if len(mentioned) == 1:
        return mentioned.pop(), "option text"
    if mentioned:
        return None, "several options"
    if len(text) > _SHORT:
        return None, "no option"
    sentences = re.split(r"(?<=\S)[.!?](?:\s|$)|\n", text)
    anywhere = {letter for sentence in sentences for letter in _find_mentioned(sentence, options, last=False)}
    return (anywhere.pop(), "only option named") if len(anywhere) == 1 else (None, "several options" if anywhere else "no option")


def _find_mentioned(sentence: str, options: Options, *, last: bool = True) -> set[str]:
    """Return the letters of the options whose text stands in *sentence*; of options that are numbers, with *last* the one it ends in."""
    values = [parse_number(option) for option in options]
    if options and all(values):
        numbers = list(list_numbers(sentence))
        said = {one.value for one in numbers[-2 if last and _JOINED.search(sentence) else -1 if last else 0 :]}
        return {ascii_uppercase[place] for place, one in enumerate(values) if one and one.value in said}
    shown = f" {_normalise(sentence)} "
    found = [place for place, option in enumerate(options) if f" {_normalise(option)} " in shown]
    return {ascii_uppercase[place] for place in found if not any(_is_part(options, place, other) for other in found)}


def _is_part(options: Options, place: int, other: int) -> bool:
    """`1 cent` stands in `11 cent` only by chance; the longer option is what was meant."""
    return place != other and _normalise(options[place]) in _normalise(options[other])


def _resolve(said: str, options: Options) -> str | None:
    """Return the letter that *said*, and nothing beside it, stands for: a letter, an option's text, or its number."""
    if (found := _ALONE.fullmatch(said)) and (letter := _letter(found["letter"], options)):
        return letter
    bare = re.sub(r"\\(?:text|textbf|mathbf|mathrm)\s*\{([^{}]*)\}", r"\1", said)
    if (labelled := _LABEL.match(bare)) and bare[labelled.end() :].strip() and (letter := _letter(labelled["letter"], options)):
        return letter
    same = [place for place, option in enumerate(options) if _normalise(option) == _normalise(bare)]
    if not same and (number := parse_number(bare)):
        values = [parse_number(option) for option in options]
        same = [place for place, one in enumerate(values) if one and one.value == number.value]
    return ascii_uppercase[same[0]] if len(same) == 1 else None


def _letter(letter: str, options: Options) -> str | None:
    place = ord(letter.upper()) - ord("A")
    return letter.upper() if place < (len(options) or _WITHOUT_OPTIONS) else None


def _normalise(text: str) -> str:
    """Return *text* in small letters, its words apart by one space, without marks and punctuation."""
    return " ".join(_MARKS.sub(" ", text.casefold()).split())
