"""How a figure was measured, as far as the card says: evaluation, n, grader, elicitation."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from audit.propose.around import Around
from audit.propose.measuring import (
    BENCHMARKS,
    DETERMINERS,
    ELICITATION,
    EMPTY_TEST_WORDS,
    GENERIC_TITLES,
    GRADERS,
    HEADS,
    INTRODUCING,
    SIZES,
)
from audit.propose.row import find_cell, find_label
from registry.records.passage import Passage, PassageKind

_BENCHMARKS = tuple(re.compile(rf"(?<![\w-]){one}") for one in BENCHMARKS)
_TESTS = re.compile(rf"(?<![\w-]){DETERMINERS} (?P<what>(?:[\w’'/-]{{2,20}} ){{1,4}}){HEADS}(?![\w-]| aware)", re.IGNORECASE)
_GENERIC = re.compile(GENERIC_TITLES, re.IGNORECASE)
_SIZES = tuple(re.compile(one) for one in SIZES)
_INTRODUCING = re.compile(INTRODUCING, re.IGNORECASE)
_GRADERS = tuple(re.compile(one, re.IGNORECASE if "[A-Z]" not in one else 0) for one in GRADERS)
_ELICITATION = tuple(re.compile(one, re.IGNORECASE) for one in ELICITATION)
_NUMBERED = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})+)\s+")
_LEADING = re.compile(
    r"^(?:The|This|These|Our|A|An|On|In|For|All|Each|Of|As|We|Both|Across|Using|With|To|From|By|At|Under|When|While|However|And|But|"
    r"Its|Their) "
)
_PARENTHESES = re.compile(r"\([^()]{0,120}\)")
_FOLLOWING = 240
"""Characters after a figure in which its evaluation may be named."""

_CUT = 160
"""Characters of a title that become a name."""

_LONGEST_CAPTION = 100
"""A longer caption is a sentence about the table, not its name."""

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
    """Return what the passage, its block, caption, introduction, neighbours and section titles say, the nearest first.

    *at* is where in the passage's words the figure begins: of several evaluations named there, the last before it is taken.
    """
    near = _order_surroundings(passage, around)
    return EvaluationFacts(
        evaluation=_find_evaluation(passage, at, near, around),
        n=_find_size(passage, near),
        grader=_first(find_grader, (_separate(passage), *near)),
        elicitation=_find_elicitation(passage, near, around),
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


def _separate(passage: Passage) -> str:
    """Return the words of the passage, those of cells kept apart so that no phrase runs from one into the next."""
    return " · ".join(cell.text for cell in passage.cells) if passage.cells else passage.words


def _sentences(passages: Iterable[Passage]) -> list[Passage]:
    return [one for one in passages if one.kind in (PassageKind.SENTENCE, PassageKind.CAPTION, PassageKind.FOOTNOTE, PassageKind.ITEM)]


def _first(find: Callable[[str], str | None], texts: Iterable[str]) -> str | None:
    return next((found for words in texts if (found := find(words)) is not None), None)


def _find_evaluation(passage: Passage, at: int | None, near: tuple[str, ...], around: Around) -> str | None:
    first = around.outline.headings[0].title if around.outline.headings else None
    titles = [_NUMBERED.sub("", one).strip() for one in reversed(around.section_titles(passage)) if one != first]
    telling = [one[:_CUT] for one in titles if one and not _GENERIC.match(one)]
    if passage.kind is PassageKind.ROW:
        return _find_row_evaluation(passage, at, near, telling)
    return (
        _find_named(passage.words, at)
        or find_test(passage.words)
        or _first(find_benchmark, telling[:1])
        or _first(find_benchmark, near[:3])
        or (telling[0] if telling else None)
        or _first(find_benchmark, near)
        or _first(find_test, near)
    )


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
        or _first(find_test, near[:3])
        or next(iter(telling), None)
    )


def _trim_caption(caption: str | None) -> str | None:
    if not caption:
        return None
    cut = re.sub(r"^\W*(?:Table|Figure|Fig\.?)\s*[\w.]{0,14}\W*\s*", "", caption).split(". ")[0].strip(" .:*[]")
    return (cut if len(cut) <= _LONGEST_CAPTION else find_test(cut)) or None


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


def _find_size(passage: Passage, near: tuple[str, ...]) -> int | None:
    here = find_size(passage.words)
    return (
        here if here is not None else next((found for words in near if (found := find_size(words, must_introduce=True)) is not None), None)
    )


@lru_cache(maxsize=8192)
def find_size(words: str, *, must_introduce: bool = False) -> int | None:
    """Return how many tasks, transcripts or the like *words* speak of; with *must_introduce*, only where a word introduces them."""
    for pattern in _SIZES:
        for match in pattern.finditer(words):
            if not must_introduce or match[0][0] in "nN" or _INTRODUCING.search(words[max(0, match.start() - 60) : match.start()]):
                return int(match["n"].replace(",", ""))
    return None


@lru_cache(maxsize=8192)
def find_grader(words: str) -> str | None:
    """Return who or what graded, in the words of the card; None where *words* do not say."""
    for pattern in _GRADERS:
        if match := pattern.search(words):
            return match["who"].strip(" .,;:()") or None
    return None


def _find_elicitation(passage: Passage, near: tuple[str, ...], around: Around) -> str | None:
    """Return what the passage itself says, its columns and caption included; else its surroundings, nearest first."""
    columns = [cell.column or "" for cell in passage.cells]
    here = find_elicitation(" · ".join([_separate(passage), *columns, passage.caption or ""]))
    return here or _first(find_elicitation, near) or _first(find_elicitation, reversed(around.section_titles(passage)))


@lru_cache(maxsize=8192)
def find_elicitation(words: str) -> str | None:
    """Return all that *words* say of how the model was asked, in their order, joined with semicolons; None for nothing."""
    spans = sorted(match.span() for pattern in _ELICITATION for match in pattern.finditer(words))
    taken: list[str] = []
    stop = 0
    for start, end in spans:
        if start >= stop:
            taken.append(words[start:end].strip())
            stop = end
    return "; ".join(dict.fromkeys(taken)) or None
