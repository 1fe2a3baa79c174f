"""How a figure was measured, as far as the card says: evaluation, n, grader, elicitation."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from audit.propose.about.around import Around
from audit.propose.about.measuring import (
    BENCHMARKS,
    DETERMINERS,
    ELICITATION,
    EMPTY_TEST_WORDS,
    EXCEPTED,
    GENERIC_TITLES,
    GRADERS,
    HEADS,
    INTRODUCING,
    OTHERS,
    SIZES,
)
from audit.propose.about.models import looks_like_model
from audit.propose.about.naming import shorten
from audit.propose.about.row import find_cell, find_label
from registry.records.passage import Passage, PassageKind

_BENCHMARKS = tuple(re.compile(rf"(?<![\w-]){one}") for one in BENCHMARKS)
_TESTS = re.compile(rf"(?<![\w-]){DETERMINERS} (?P<what>(?:[\w’'/-]{{2,20}} ){{1,4}}){HEADS}(?![\w-]| aware)", re.IGNORECASE)
_GENERIC = re.compile(GENERIC_TITLES, re.IGNORECASE)
_SIZES = tuple(re.compile(one) for one in SIZES)
_OTHERS = re.compile(OTHERS, re.IGNORECASE)
_EXCEPTED = re.compile(EXCEPTED, re.IGNORECASE)
_INTRODUCING = re.compile(INTRODUCING, re.IGNORECASE)
_GRADERS = tuple(re.compile(one, re.IGNORECASE if "[A-Z]" not in one else 0) for one in GRADERS)
_ELICITATION = tuple(re.compile(one, re.IGNORECASE) for one in ELICITATION)
_NUMBERED = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})+)\s+")
_LEADING = re.compile(
    r"^(?:The|This|These|Our|A|An|On|In|For|All|Each|Of|As|We|Both|Across|Using|With|To|From|By|At|Under|When|While|However|And|But|"
    r"Its|Their) "
)
_AS_IT_COMES = re.compile(r"\b(?:default|standard|baseline|vanilla|normal)\b", re.IGNORECASE)
"""Head of a column whose figures were measured in none of the ways its caption lists."""
_DENIED = re.compile(
    r"\b(?:(?P<lacking>without|no|lacking)|not|never|cannot|n['’]t)(?: (?:an?|any|the))?(?: [\w-]{2,20}){0,2} $", re.IGNORECASE
)
"""Before what was not done: what was lacking says how it was asked, what was not done does not."""
_DENIAL = 50
_SHARE = re.compile(r"\d\s?%|\bper\s?cent\b|\d ?/ ?\d|\d (?:out )?of (?:the )?\d")
_REPORTS = re.compile(rf"{_SHARE.pattern}|(?<![\w.])\d{{1,6}}\.\d")
_OF = re.compile(
    r"(?:\d[\d.,]*\s?%\s?(?:\([^()]{0,40}\)\s?)?|\d[\d,]* (?:out )?)of (?:the |all |our |its )?\d[\d,]*(?: [a-z][\w-]{1,20}){1,4}"
)
_SIZE_HEAD = re.compile(
    r"(?:#|no\.?|n|num(?:ber)?|total|count)?(?: ?of)? ?(?:samples?|responses?|prompts?|questions?|tasks?|items|trials?|scenarios?|"
    r"episodes?|transcripts?|conversations?|problems?|runs)?(?: \(?n\)?)?",
    re.IGNORECASE,
)
"""Head of the column that says how much was asked."""
_WHOLE = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,7}")
_LABEL = re.compile(r"[\s•●○*\-–·]*(?P<what>[A-Z][^:.!?]{2,60}?)\s?[*_]{0,3}:[*_]{0,3}\s+(?=\S)")
_PARENTHESES = re.compile(r"\([^()]{0,120}\)")
_FOLLOWING = 240
"""Characters after a figure in which its evaluation may be named."""

_CUT = 80
"""Characters of a title that become a name."""

_LONGEST_CAPTION = 80
"""A longer caption is a sentence about the table, not its name; so is one with a verb."""

_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|can|shows?|showed|performs?|performed|outperform\w*|achiev(?:es|ed)|improv(?:es|ed)|"
    r"remains?|remained|scored|reach(?:es|ed)|exceed(?:s|ed)|refus(?:es|ed)|we)\b",
    re.IGNORECASE,
)

_BEFORE, _AFTER, _OPENING = 6, 2, 8
"""Sentences above and below, and at the beginning of the section, that may say how something in it was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationFacts:
    """How a figure was measured, in the card's words; None for what it does not say nearby."""

    evaluation: str | None
    n: int | None
    """Tasks, scenarios, transcripts or responses behind the figure."""
    grader: str | None
    elicitation: str | None


def describe_evaluation(passage: Passage, *, around: Around, at: int | None = None) -> EvaluationFacts:
    """Return what the passage, its row and column, caption, introduction and the sentences it goes on with say, the nearest first.

    What stands merely near belongs to other figures. Only the evaluation is taken from further above: from the section's title, or
    from the one sentence that names the section's only evaluation.

    *at* is where in the passage's words the figure begins: of several evaluations named there, the last before it is taken, and of a
    table's columns its own.
    """
    near = _order_surroundings(passage, around)
    tied = list_tied(passage, around)
    return EvaluationFacts(
        evaluation=_find_evaluation(passage, at, around),
        n=_find_size(passage, at, near),
        grader=_first(find_grader, (_separate(passage), *tied)),
        elicitation=_find_elicitation(passage, at, tied, around),
    )


def _order_surroundings(passage: Passage, around: Around) -> tuple[str, ...]:
    """Return the words near the passage, without other rows of its table, the nearest first."""
    block = [
        one.words for one in around.block(passage) if one.start != passage.start and one.kind not in (PassageKind.ROW, PassageKind.HEAD)
    ]
    lead = [one.words for one in around.lead_in(passage)]
    near = [one.words for one in _sentences(around.neighbours(passage, before=_BEFORE, after=_AFTER))]
    opening = [one.words for one in _sentences(around.section(passage)[:_OPENING]) if one.start < passage.start]
    return tuple(dict.fromkeys([*([passage.caption] if passage.caption else []), *block, *lead, *reversed(near), *opening]))


def list_tied(passage: Passage, around: Around) -> tuple[str, ...]:
    """Return the words beside *passage* that are said of it too: caption, introduction, and the sentences it goes on with."""
    told = (*around.lead_in(passage), *around.continued(passage))
    return tuple(dict.fromkeys([*([passage.caption] if passage.caption else []), *(one.words for one in told)]))


def _find_only(passage: Passage, around: Around) -> str | None:
    """Return the evaluation that the section names above *passage*, if it is the only one; a sentence with a figure names its own."""
    above = (*_sentences(around.section(passage)[:_OPENING]), *_sentences(around.neighbours(passage, before=_BEFORE, after=0)))
    plain = [one.words for one in above if one.start < passage.start and not _REPORTS.search(one.words)]
    named = {name for words in plain for is_last in (False, True) if (name := find_benchmark(words, is_last=is_last))}
    return named.pop() if len(named) == 1 else None


def _separate(passage: Passage) -> str:
    """Return the words of the passage, those of cells kept apart so that no phrase runs from one into the next."""
    return " · ".join(cell.text for cell in passage.cells) if passage.cells else passage.words


def _sentences(passages: Iterable[Passage]) -> list[Passage]:
    return [one for one in passages if one.kind in (PassageKind.SENTENCE, PassageKind.CAPTION, PassageKind.FOOTNOTE, PassageKind.ITEM)]


def _first(find: Callable[[str], str | None], texts: Iterable[str]) -> str | None:
    return next((found for words in texts if (found := find(words)) is not None), None)


def _find_evaluation(passage: Passage, at: int | None, around: Around) -> str | None:
    first = around.outline.headings[0].title if around.outline.headings else None
    titles = [_NUMBERED.sub("", one).strip() for one in reversed(around.section_titles(passage)) if one != first]
    telling = [shorten(one, _CUT) for one in titles if one and not _GENERIC.match(one)]
    tied = list_tied(passage, around)
    if passage.kind is PassageKind.ROW:
        return _find_row_evaluation(passage, at, tied, telling) or _find_only(passage, around)
    words = _EXCEPTED.sub(lambda match: " " * len(match[0]), passage.words)
    if is_of_others(words):
        return None
    return (
        _find_item_label(passage)
        or _find_named(words, at)
        or find_test(words)
        or _first(find_benchmark, telling[:1])
        or _first(find_benchmark, tied)
        or _find_only(passage, around)
        or (telling[0] if telling else None)
        or _first(find_test, tied)
    )


def is_of_others(words: str) -> bool:
    """Whether *words* are said of all evaluations but the one spoken of before: "for all our other evals"."""
    return _OTHERS.search(words) is not None


def _find_item_label(passage: Passage) -> str | None:
    """Return what a list item names before a colon, as in "Screening evasion: it scored 0.4"; None where that is a sentence or a model."""
    found = _LABEL.match(passage.words) if passage.kind is PassageKind.ITEM else None
    label = found["what"].strip(" *_") if found else ""
    is_name = label and not _VERB.search(label) and not looks_like_model(label) and not _GENERIC.match(label)
    return label if is_name else None


def _find_named(words: str, at: int | None) -> str | None:
    """Return the benchmark a sentence names for the figure at *at*: right after it ("45% on CyBench"), else the last before, else any."""
    if at is None:
        return find_benchmark(words)
    following = re.split(r"[,;]", _PARENTHESES.sub("", words[at : at + _FOLLOWING]), maxsplit=1)[0]
    return find_benchmark(following) or find_benchmark(words[:at], is_last=True) or find_benchmark(words)


def _find_row_evaluation(passage: Passage, at: int | None, near: tuple[str, ...], telling: list[str]) -> str | None:
    cell = find_cell(passage, at) if at is not None else None
    columns = [cell.column or ""] if cell else [one.column or "" for one in passage.cells]
    return (
        _first(find_benchmark, columns)
        or find_benchmark(find_label(passage))
        or _first(find_benchmark, near)
        or _trim_caption(passage.caption)
        or next(iter(telling), None)
        or _first(find_test, near[:3])
    )


def _trim_caption(caption: str | None) -> str | None:
    if not caption:
        return None
    cut = re.sub(r"^\W*(?:Table|Figure|Fig\.?)\s*[\w.]{0,14}\W*\s*", "", caption).split(". ")[0].strip(" .:*[]")
    return (cut if len(cut) <= _LONGEST_CAPTION and not _VERB.search(cut) else find_test(cut)) or None


@lru_cache(maxsize=8192)
def find_benchmark(words: str, *, is_last: bool = False) -> str | None:
    """Return the first benchmark that *words* name by a name of its own, or the last; None where there is none."""
    for pattern in _BENCHMARKS:
        names = [trimmed for match in pattern.finditer(words) if (trimmed := _trim(match[0])) is not None]
        if names:
            return names[-1] if is_last else names[0]
    return None


def _trim(name: str) -> str | None:
    """Return the name without words that only begin a sentence; None where nothing of its own is left."""
    while (shorter := _LEADING.sub("", name)) != name:
        name = shorter
    if _is_bare(re.sub(r"^[A-Z]\d{1,2} ", "", name)):
        return None
    return name if re.search(r"[\w-]+[ -]\w|[a-z][A-Z]|[A-Z]{2}|\w{4}", name) and len(name.split()[0]) > 1 and not _is_bare(name) else None


def _is_bare(name: str) -> bool:
    return (
        re.fullmatch(
            r"(?:[Bb]enchmarks?|[Ee]valuations?|[Ee]vals?|[Ss]uite|[Cc]hallenges?|[Cc]ampaign|[Aa]udit|Bench|Eval|Arena|QA|CTF|Comp)", name
        )
        is not None
    )


@lru_cache(maxsize=8192)
def find_test(words: str) -> str | None:
    """Return the first evaluation that *words* describe in small letters, such as "automated behavioral audit"; None without one."""
    for match in _TESTS.finditer(words):
        parts = list(re.finditer(r"\S+", match["what"]))
        last = max((index for index, part in enumerate(parts) if part[0].lower() in EMPTY_TEST_WORDS), default=-1)
        if last + 1 < len(parts):
            return words[match.start("what") + parts[last + 1].start() : match.end()]
    return None


def _find_size(passage: Passage, at: int | None, near: tuple[str, ...]) -> int | None:
    """Return how much was measured: the row's own column of sizes, what the passage says, else the nearest sentence that gives one size.

    A sentence with shares of its own gives their whole, not that of this figure.
    """
    here = _find_row_size(passage) if passage.cells else find_size(_hide_wholes(passage.words, at))
    if here is not None:
        return here
    plain = (words for words in near if not _SHARE.search(words))
    return next((found for words in plain if (found := find_size(words, must_introduce=True, must_be_one=True)) is not None), None)


def _find_row_size(passage: Passage) -> int | None:
    """Return the whole number under the one head that says how much was asked; None where there are several or none."""
    found = {cell.text.strip() for cell in passage.cells if (head := (cell.column or "").strip()) and _SIZE_HEAD.fullmatch(head)}
    numbers = {int(one.replace(",", "")) for one in found if _WHOLE.fullmatch(one)}
    return next(iter(numbers)) if len(numbers) == 1 else None


def _hide_wholes(words: str, at: int | None) -> str:
    """Return *words* without the wholes of other figures: 16 in "16 of 16 responses", 640 in "2% of 640 requests"."""
    return _OF.sub(lambda match: match[0] if at is not None and match.start() <= at < match.end() else " ; ", words)


@lru_cache(maxsize=8192)
def find_size(words: str, *, must_introduce: bool = False, must_be_one: bool = False) -> int | None:
    """Return how many tasks, transcripts or the like *words* speak of.

    Args:
        must_introduce: only where a word introduces them.
        must_be_one: None where several sizes are given, as for several evaluations.
    """
    for pattern in _SIZES:
        found = [
            int(match["n"].replace(",", ""))
            for match in pattern.finditer(words)
            if not must_introduce or match[0][0] in "nN" or _INTRODUCING.search(words[max(0, match.start() - 60) : match.start()])
        ]
        if found:
            return None if must_be_one and len(set(found)) > 1 else found[0]
    return None


@lru_cache(maxsize=8192)
def find_grader(words: str) -> str | None:
    """Return who or what graded, in the words of the card; None where *words* do not say."""
    for pattern in _GRADERS:
        if match := pattern.search(words):
            return match["who"].strip(" .,;:()") or None
    return None


def _find_elicitation(passage: Passage, at: int | None, tied: tuple[str, ...], around: Around) -> str | None:
    """Return what the passage itself says, its figure's column included; else what is said of it beside it, nearest first.

    A caption speaks of all columns: it says nothing of one whose head says something itself.
    """
    own = find_cell(passage, at) if at is not None else None
    columns = [own.column or ""] if own else [cell.column or "" for cell in passage.cells]
    here = find_elicitation(" · ".join([_separate(passage), *columns]))
    if here or any(_AS_IT_COMES.search(one) for one in columns):
        return here
    return _first(find_elicitation, tied) or _first(find_elicitation, reversed(around.section_titles(passage)))


@lru_cache(maxsize=8192)
def find_elicitation(words: str) -> str | None:
    """Return all that *words* say of how the model was asked, in their order, joined with semicolons; None for nothing."""
    spans = sorted(match.span() for pattern in _ELICITATION for match in pattern.finditer(words))
    taken: list[str] = []
    stop = 0
    for start, end in spans:
        if start >= stop:
            denied = _DENIED.search(words[max(0, start - _DENIAL) : start])
            if denied is None or denied["lacking"]:
                taken.append(words[start - (len(denied[0]) if denied else 0) : end].strip())
            stop = end
    return "; ".join(dict.fromkeys(taken)) or None
