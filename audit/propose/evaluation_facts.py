"""How a figure was measured, as far as the card says, and whether the model recognised the evaluation."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest

from audit.propose.card_models import looks_like_model
from audit.propose.claim_passages import PassageContext
from audit.propose.measure_vocabulary import (
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
    shorten,
)
from audit.propose.table_figures import find_cell, find_label
from registry.records.audit_case import EvidenceLayer
from registry.records.claim_draft import AwarenessNote
from registry.records.system_card import Passage, PassageKind

# How a figure was measured, as far as the card says: evaluation, n, grader, elicitation. n is the figure's own whole or
# the row's own column, and a version is taken from the figure's clause, column or row.

_BENCHMARKS = tuple(re.compile(rf"(?<![\w-]){name}") for name in BENCHMARKS)
_TESTS = re.compile(rf"(?<![\w-]){DETERMINERS} (?P<what>(?:[\w’'/-]{{2,20}} ){{1,4}}){HEADS}(?![\w-]| aware)", re.IGNORECASE)
_GENERIC = re.compile(GENERIC_TITLES, re.IGNORECASE)
_SIZES = tuple(re.compile(name) for name in SIZES)
_OTHERS = re.compile(OTHERS, re.IGNORECASE)
_EXCEPTED = re.compile(EXCEPTED, re.IGNORECASE)
_INTRODUCING = re.compile(INTRODUCING, re.IGNORECASE)
_GRADERS = tuple(re.compile(name, re.IGNORECASE if "[A-Z]" not in name else 0) for name in GRADERS)
_ELICITATION = tuple(re.compile(name, re.IGNORECASE) for name in ELICITATION)
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


def describe_evaluation(passage: Passage, *, around: PassageContext, at: int | None = None) -> EvaluationFacts:
    """Return what the passage, its row and column, caption, introduction and the sentences it goes on with say, the nearest first.

    What stands merely near belongs to other figures. Only the evaluation is taken from further above: from the section's title, or
    from the one sentence that names the section's only evaluation.

    *at* is where in the passage's words the figure begins: of several evaluations named there, the last before it is taken, and of a
    table's columns its own.
    """
    near = _order_surroundings(passage, around)
    # Sentences that are only near belong to other figures.
    tied = list_tied(passage, around)
    return EvaluationFacts(
        evaluation=_find_evaluation(passage, at, around),
        n=_find_size(passage, at, near),
        grader=_first(find_grader, (_separate(passage), *tied)),
        elicitation=_find_elicitation(passage, at, tied, around),
    )


def _order_surroundings(passage: Passage, around: PassageContext) -> tuple[str, ...]:
    """Return the words near the passage, without other rows of its table, the nearest first."""
    block = [
        one.words for one in around.block(passage) if one.start != passage.start and one.kind not in (PassageKind.ROW, PassageKind.HEAD)
    ]
    lead = [one.words for one in around.lead_in(passage)]
    near = [one.words for one in _sentences(around.neighbours(passage, before=_BEFORE, after=_AFTER))]
    opening = [one.words for one in _sentences(around.section(passage)[:_OPENING]) if one.start < passage.start]
    return tuple(dict.fromkeys([*([passage.caption] if passage.caption else []), *block, *lead, *reversed(near), *opening]))


def list_tied(passage: Passage, around: PassageContext) -> tuple[str, ...]:
    """Return the words beside *passage* that are said of it too: caption, introduction, and the sentences it goes on with."""
    told = (*around.lead_in(passage), *around.continued(passage))
    return tuple(dict.fromkeys([*([passage.caption] if passage.caption else []), *(one.words for one in told)]))


def _find_only(passage: Passage, around: PassageContext) -> str | None:
    """Return the evaluation that the section names above *passage*, if it is the only one; a sentence with a figure names its own."""
    above = (*_sentences(around.section(passage)[:_OPENING]), *_sentences(around.neighbours(passage, before=_BEFORE, after=0)))
    # A sentence with a figure of its own names the evaluation of that figure.
    plain = [one.words for one in above if one.start < passage.start and not _REPORTS.search(one.words)]
    named = {name for words in plain for is_last in (False, True) if (name := find_benchmark(words, is_last=is_last))}
    return named.pop() if len(named) == 1 else None


def _separate(passage: Passage) -> str:
    """Return the words of the passage, those of cells kept apart so that no phrase runs from one into the next."""
    return " · ".join(cell.text for cell in passage.cells) if passage.cells else passage.words


def _sentences(passages: Iterable[Passage]) -> list[Passage]:
    return [
        passage
        for passage in passages
        if passage.kind in (PassageKind.SENTENCE, PassageKind.CAPTION, PassageKind.FOOTNOTE, PassageKind.ITEM)
    ]


def _first(find: Callable[[str], str | None], texts: Iterable[str]) -> str | None:
    return next((text for words in texts if (text := find(words)) is not None), None)


def _find_evaluation(passage: Passage, at: int | None, around: PassageContext) -> str | None:
    first = around.outline.headings[0].title if around.outline.headings else None
    titles = [_NUMBERED.sub("", name).strip() for name in reversed(around.section_titles(passage)) if name != first]
    telling = [shorten(title, _CUT) for title in titles if title and not _GENERIC.match(title)]
    tied = list_tied(passage, around)
    if passage.kind is PassageKind.ROW:
        return _find_row_evaluation(passage, at, tied, telling) or _find_only(passage, around)
    words = _EXCEPTED.sub(lambda match: " " * len(match[0]), passage.words)
    if is_of_others(words):
        return None
    return (
        _find_item_label(passage)
        # The nearest source comes first: the passage, its section's title, then introduction and caption.
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
    match = _LABEL.match(passage.words) if passage.kind is PassageKind.ITEM else None
    label = match["what"].strip(" *_") if match else ""
    is_name = label and not _VERB.search(label) and not looks_like_model(label) and not _GENERIC.match(label)
    return label if is_name else None


def _find_named(words: str, at: int | None) -> str | None:
    """Return the benchmark a sentence names for the figure at *at*: right after it ("45% on CyBench"), else the last before, else any."""
    if at is None:
        return find_benchmark(words)
    # "45 % on CyBench": the name after the figure is closer to it than any name before.
    following = re.split(r"[,;]", _PARENTHESES.sub("", words[at : at + _FOLLOWING]), maxsplit=1)[0]
    return find_benchmark(following) or find_benchmark(words[:at], is_last=True) or find_benchmark(words)


def _find_row_evaluation(passage: Passage, at: int | None, near: tuple[str, ...], telling: list[str]) -> str | None:
    cell = find_cell(passage, at) if at is not None else None
    columns = [cell.column or ""] if cell else [table_cell.column or "" for table_cell in passage.cells]
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
    return next((size for words in plain if (size := find_size(words, must_introduce=True, must_be_one=True)) is not None), None)


def _find_row_size(passage: Passage) -> int | None:
    """Return the whole number under the one head that says how much was asked; None where there are several or none."""
    texts = {cell.text.strip() for cell in passage.cells if (head := (cell.column or "").strip()) and _SIZE_HEAD.fullmatch(head)}
    numbers = {int(name.replace(",", "")) for name in texts if _WHOLE.fullmatch(name)}
    # Two sizes in one row belong to different figures, and choosing one would be a guess.
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


def _find_elicitation(passage: Passage, at: int | None, tied: tuple[str, ...], around: PassageContext) -> str | None:
    """Return what the passage itself says, its figure's column included; else what is said of it beside it, nearest first.

    A caption speaks of all columns: it says nothing of one whose head says something itself.
    """
    own = find_cell(passage, at) if at is not None else None
    columns = [own.column or ""] if own else [cell.column or "" for cell in passage.cells]
    here = find_elicitation(" · ".join([_separate(passage), *columns]))
    # A column of default settings was measured in none of the ways that its caption lists.
    if here or any(_AS_IT_COMES.search(column) for column in columns):
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
            # "Without tools" says how the model was asked. "Did not use tools" does not.
            if denied is None or denied["lacking"]:
                taken.append(words[start - (len(denied[0]) if denied else 0) : end].strip())
            stop = end
    return "; ".join(dict.fromkeys(taken)) or None


# Statements that the model recognised an evaluation, or may have.

_TEST = r"(?:evaluation|eval|test|testing|grader|assessment|audit|simulation|red[- ]teaming)s?"
_BEING = r"being (?:\w+ )?(?:tested|evaluated|assessed|audited|graded|red[- ]teamed|examined)"
_IT_IS = (
    r"(?:it|they|the model)(?:['’]s)?(?: (?:is|was|are|were|may|might|could|must|likely|probably|possibly|be)){0,4} (?:being )?"
    r"(?:tested|evaluated|assessed|graded|(?:in|inside|part of|undergoing|under) (?:an? |some )?(?:\w+ ){0,2}(?:evaluation|test|"
    r"testing|simulation)\b)"
)
_TESTED = rf"(?:{_BEING}|{_IT_IS})"
_BELIEVES = r"(?:believ|think|suspect|recogni[sz]|reali[sz]|guess|infer|conclud|speculat|notic|assum|aware)\w*"
_SAYS = (
    r"(?:mention|verbali[sz]|voic|stat(?:e|ing)|remark|express|note|noting|say|said|writ(?:e|ing|ten)|acknowledg|reason|"
    r"comment|flag|articulat)\w*"
)

STATEMENTS: tuple[tuple[str, EvidenceLayer | None], ...] = (
    # Statements of recognition, with the layer of evidence. The first pattern that matches a sentence decides, so the
    # more specific ones come first.
    (rf"\b(?:unverbali[sz]ed|latent|internal\w*|implicit) (?:\w+ ){{0,3}}{_TEST}[- ]aware\w*", EvidenceLayer.LATENT),
    (
        (
            r"(?:probes?|steer\w*|activations?|internal representations?|representations? (?:of|related)|sparse autoencoders?|"
            r"\bSAEs?\b|\bNLAs?\b|white-?box|interpretability)"
            rf"\b[^.;]{{0,160}}\b(?:{_TEST}[- ]aware\w*|{_TESTED})"
        ),
        EvidenceLayer.LATENT,
    ),
    (
        (
            rf"{_TEST}[- ]aware\w*[^.;]{{0,120}}\b(?:probes?|steer\w*|activations?|representations?|vectors?|sparse autoencoders?|"
            rf"\bSAEs?\b|\bNLAs?\b)"
        ),
        EvidenceLayer.LATENT,
    ),
    (
        (
            r"\b(?:distinguish|discriminat)\w* (?:[\w’'-]{1,30} ){0,6}(?:evaluation|deployment|test|synthetic)\w*"
            r"(?: [\w’'-]+){0,4} (?:from|"
            r"and|versus|vs\.?)\b"
        ),
        EvidenceLayer.LATENT,
    ),
    (r"\btell\w* (?:[\w’'-]{1,30} ){0,4}(?:evaluations?|tests?|deployment)(?: \w+){0,3} (?:apart|from)", EvidenceLayer.LATENT),
    # What the model does differently.
    (
        (
            r"\b(?:behav|act|perform|respond|compl|refus)\w* (?:\w+ ){0,3}(?:differently|better|worse|more \w+|less \w+)(?: \w+){0,3} "
            rf"(?:when|if|because|once|after)\b[^.;]{{0,80}}(?:{_TESTED}|observed|monitored|watched|an? (?:evaluation|test)\b)"
        ),
        EvidenceLayer.BEHAVIOURAL,
    ),
    (
        (
            r"\b(?:evaluation|eval|test)[ -]gaming\b|\binvalidat\w* [^.;]{0,80}(?:scenarios?|evaluations?|tests?|"
            r"results?)\b(?=[^.]{0,120}aware)"
        ),
        EvidenceLayer.BEHAVIOURAL,
    ),
    # What changes when the test looks more or less like one.
    (
        (
            r"\brealism (?:filter|classifier|scor|judg|rating|grader|method|intervention|improve)\w*|"
            r"\b(?:un)?realistic\w*\b(?=[^.;]{0,120}\baware)"
        ),
        EvidenceLayer.CUE_SENSITIVITY,
    ),
    (
        (
            rf"\b(?:remov|add|hid|conceal|reduc)\w* (?:[\w-]{{1,30}} ){{0,4}}(?:cues?|hints?|signs?|artefacts?|"
            rf"artifacts?)\b[^.;]{{0,100}}(?:aware|{_TESTED}|{_TEST}\b)"
        ),
        EvidenceLayer.CUE_SENSITIVITY,
    ),
    (
        (
            r"\b(?:seem|look|appear|sound|feel)\w*(?: \w+){0,3} (?:contrived|artificial|unrealistic|staged|fake|like an? (?:test|"
            r"evaluation))"
        ),
        EvidenceLayer.CUE_SENSITIVITY,
    ),
    # What it says.
    (
        (
            rf"\bverbali[sz]\w*(?: \w+){{0,4}} (?:{_TEST}[- ]aware|aware|suspicio|recogni|{_TEST}\b)\w*|"
            rf"\b{_TEST}[- ]aware\w*(?: \w+){{0,3}} verbali[sz]\w*"
        ),
        EvidenceLayer.VERBALISED,
    ),
    (rf"\b{_SAYS} (?:[\w’'-]{{1,30}} ){{0,8}}{_TESTED}", EvidenceLayer.VERBALISED),
    (rf"\bexplicit\w* (?:[\w’'-]{{1,30}} ){{0,4}}{_TEST}[- ]aware\w*", EvidenceLayer.VERBALISED),
    # Recognition without a word on how it is known.
    (r"\b(?<!human )(?:evaluation|eval|test|grader)[- ](?:aware\w*|recognition|suspicion)", None),
    (rf"\b{_BELIEVES} (?:[\w’'-]{{1,30}} ){{0,4}}{_TESTED}", None),
    (r"\brecogni[sz]\w* (?:(?:[\w’'-]{1,30} ){1,3}as )?(?:an?|the) (?:\w+ ){0,2}(?:evaluation|test|simulation)\b", None),
    (rf"\b(?:aware|awareness|suspicio\w+|suspect\w*) (?:of|that|about)(?: \w+){{0,4}} {_TESTED}", None),
)

NOT_THE_MODEL = (
    r"\b(?:we|our (?:team|researchers)|users?|raters?|graders?|annotators?|participants?|experts?|humans?|reviewers?|"
    r"researchers?) (?:are|were|was|is|became|remain\w*) (?:\w+ )?aware\b"
    r"|\bwe (?:\w+ )?(?:recogni[sz]e|acknowledge|reali[sz]e)\b|\b(?:public|cyber|security|health|spatial|cultural) awareness\b"
)
"""Awareness of another person or thing."""

_STATEMENTS = tuple((re.compile(pattern, re.IGNORECASE), layer) for pattern, layer in STATEMENTS)
_NOT_THE_MODEL = re.compile(NOT_THE_MODEL, re.IGNORECASE)
_HINT = re.compile(
    r"aware|realis|realiz|unrealistic|verbali|distinguish|discriminat|recogni|suspect|suspici|tested|evaluated|\btest\b|evaluation|simulation|"
    r"contrived|artificial|gaming|\btell",
    re.IGNORECASE,
)
"""Without one of these a sentence is not looked at further."""
_READ = frozenset({PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.CAPTION, PassageKind.FOOTNOTE, PassageKind.ROW})
_REFERENCE = re.compile(r"\b[Ss]ections? (?P<number>\d{1,3}(?:\.\d{1,3}){1,7})(?!\.?\d)")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,7}(?!\.?\d)")
_MOST = 6
"""Statements given for one claim: the nearest ones; a section on awareness has dozens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _AwarenessStatement:
    """One statement, with what it is looked up by."""

    passage: Passage
    note: AwarenessNote
    folded: str
    """Its words in lower case."""
    sections: frozenset[str]
    """Numbers of the sections it refers to."""


class AwarenessIndex:
    """All such statements of one card, found once."""

    def __init__(self, around: PassageContext) -> None:
        self._around = around
        self._said = tuple(_find_all(around))
        self._here: dict[int | None, list[_AwarenessStatement]] = {}
        for statement in self._said:
            self._here.setdefault(statement.passage.section, []).append(statement)
        self._elsewhere: dict[tuple[str | None, str | None], tuple[_AwarenessStatement, ...]] = {}
        self.notes = tuple(statement.note for statement in self._said)
        """In the order of the card."""

    def find(self, passage: Passage, *, evaluation: str | None) -> tuple[AwarenessNote, ...]:
        """Return the nearest statements of the same section, and those elsewhere that name the same evaluation or section, in order."""
        name = evaluation.lower() if evaluation and _is_a_name(evaluation) else None
        number = self._number(passage)
        here = self._here.get(passage.section, [])
        at = bisect_left(here, passage.start, key=lambda statement: statement.note.start)
        near = sorted(here[max(0, at - _MOST) : at + _MOST], key=lambda statement: abs(statement.note.start - passage.start))[:_MOST]
        if len(near) < _MOST:
            beyond = (statement for statement in self._find_elsewhere(name, number) if statement.passage.section != passage.section)
            near += nsmallest(_MOST - len(near), beyond, key=lambda statement: abs(statement.note.start - passage.start))
        return tuple(sorted((statement.note for statement in near), key=lambda note: note.start))

    def _find_elsewhere(self, name: str | None, number: str | None) -> tuple[_AwarenessStatement, ...]:
        """Return the statements of the whole card that name the evaluation or the section, looked for once for each."""
        if (name, number) not in self._elsewhere:
            self._elsewhere[name, number] = tuple(
                statement for statement in self._said if (name is not None and name in statement.folded) or number in statement.sections
            )
        return self._elsewhere[name, number]

    def _number(self, passage: Passage) -> str | None:
        """Return the number of the section *passage* is in; None for a heading without one."""
        if passage.section is None:
            return None
        heading = self._around.outline.headings[passage.section]
        match = _NUMBER.match(heading.title) or _NUMBER.match(self._around.text[heading.start : heading.start + 24].lstrip("# "))
        return match[0] if match else None


def classify_awareness(words: str) -> tuple[bool, EvidenceLayer | None]:
    """Return whether *words* say that a model recognised a test or may have, and the layer; no layer where they do not say how "
    "it is known.
    """
    if not _HINT.search(words) or _NOT_THE_MODEL.search(words):
        return False, None
    return next(((True, layer) for pattern, layer in _STATEMENTS if pattern.search(words)), (False, None))


def _find_all(around: PassageContext) -> Iterator[_AwarenessStatement]:
    for passage in around.passages:
        if passage.kind not in _READ:
            continue
        is_said, layer = classify_awareness(passage.words)
        if is_said:
            yield _AwarenessStatement(
                passage=passage,
                note=AwarenessNote(quote=around.text[passage.start : passage.stop], start=passage.start, stop=passage.stop, layer=layer),
                folded=passage.words.lower(),
                sections=frozenset(match["number"] for match in _REFERENCE.finditer(passage.words)),
            )


def _is_a_name(evaluation: str) -> bool:
    """Whether it is a name of its own, which another sentence does not hold by chance: several words or capitals inside."""
    return len(evaluation) > 6 and (re.search(r"[a-z][A-Z]|[A-Z]{2}|-[A-Z]", evaluation) is not None or len(evaluation.split()) > 2)
