"""How a figure was measured, as far as the card says: evaluation, n, grader, elicitation, and whether the model recognised the test."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from audit.propose.card_models import looks_like_model
from audit.propose.passage_context import PassageContext
from audit.propose.vocabulary import read_expression, read_expressions, read_words
from registry.records.audit_case import EvidenceLayer
from registry.records.claim_draft import AwarenessNote
from registry.records.system_card import Passage, PassageKind

# Each fact is taken only from words tied to the figure: its passage, head, caption, introduction, and the sentences it
# goes on with. A borrowed fact would hide a missing one. Only the evaluation is also read from the section's title.

_NAMED = read_expression("benchmark-name")
_BENCHMARK = re.compile(f"{_NAMED.pattern}|{read_expression('benchmark-title').pattern}")
_TEST = re.compile(
    r"(?<![\w-])(?:the|our|an?|this|these|its|their|on|in|of|for|from|across|during|under|using|via"
    r"|\w+['’]s) (?P<what>(?:[\w’'/-]{2,20} ){1,4})"
    r"(?:evaluations?|evals?|benchmarks?|test suite|suite|test set|audits?|assessments?|red-teaming exercise|experiments?"
    r"|campaigns?)(?![\w-]| aware)",
    re.IGNORECASE,
)
_EMPTY = frozenset(read_words("passages", "unnamed"))
GENERIC_TITLE = read_expression("generic-title")
_LEADING = re.compile(
    r"^(?:The|This|These|Our|A|An|On|In|For|All|Each|Of|As|We|Both|Across|Using|With|To|From|By|At|Under|When|While|However|And|But"
    r"|Its|Their|Most|Internal|External) "
)
_BARE = re.compile(
    r"(?:[Bb]enchmarks?|[Ee]valuations?|[Ee]vals?|[Ss]uite|[Cc]hallenges?|[Cc]ampaign|[Aa]udit|Bench|Eval|Arena|QA|CTF|Comp"
    r"|Safety [Ee]valuations?)"
)
_OTHERS = re.compile(
    r"\b(?:all|any|most|each|every|the|our)(?: (?:of|the|our|these))* (?:other|remaining)(?: \w+)? (?:evals?|evaluations?"
    r"|benchmarks?|tests?|tasks?|suites?)\b|\brest of (?:our |the )?(?:evals|evaluations|benchmarks|tests)\b",
    re.IGNORECASE,
)
_EXCEPTED = re.compile(
    r"\b(?:other than|except(?: for)?|apart from|excluding|besides|but not|with the exception of) [^,;:.()]{1,80}", re.IGNORECASE
)
_NUMBERED = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})+)\s+")
_ITEM_LABEL = re.compile(r"[\s•●○*\-–·]*(?P<what>[A-Z][^:.!?]{2,60}?)\s?[*_]{0,3}:[*_]{0,3}\s+(?=\S)")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|can|shows?|performs?|achiev\w+|improv\w+|remain\w*|scored|reach\w*|we|for|among"
    r"|comparison)\b",
    re.IGNORECASE,
)
_THINGS = (
    r"(?:transcripts|scenarios|tasks|problems|questions|prompts|challenges|conversations|responses|answers|environments|items|cases|"
    r"sessions|episodes|requests|examples|interactions|completions|statements)"
)
_SIZE = re.compile(
    rf"\b[nN] ?= ?(?P<n>\d{{1,3}}(?:,\d{{3}})+|\d{{1,7}})\b|(?<![\w.,/])(?P<m>\d{{1,3}}(?:,\d{{3}})+"
    rf"|\d{{1,7}}) (?:[a-z][\w-]{{1,20}} ){{0,3}}?{_THINGS}\b(?! per\b| each\b|/)"
)
_SIZE_HEAD = re.compile(
    r"(?:#|no\.?|n|num(?:ber)?|total|count)?(?: ?of)? ?(?:samples?|responses?|prompts?|questions?|tasks?|items|trials?|scenarios?"
    r"|transcripts?|problems?|runs)?(?: \(?n\)?)?",
    re.IGNORECASE,
)
_GRADERS = (
    re.compile(
        r"\b(?:graded|scored|judged|labell?ed|annotated|rated|marked) (?:\w+ly )?(?:by|using|via) (?P<who>(?:(?!(?:that|which|who|to"
        r"|on|for|in|and|based|at|as|we|where|when|with|per)\b)[\w’'./()-]{1,40} ?){1,8})",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<who>\b(?:an? |the |our )?(?:(?:automated|independent|separate|blinded|expert|trained|external|prompted"
        r"|fine-tuned) )*(?:human (?:raters?|graders?|evaluators?|annotators?|reviewers?|judges?)|(?:LLM|model"
        r"|AI)(?:-based)?[- ](?:judges?|graders?)"
        r"|auto-?graders?|automated (?:graders?|judges?|scorers?|grading)|grader models?|judge models?|rubric-based (?:graders?"
        r"|grading)|unit tests|string[- ]match(?:ing)?))\b(?! awareness| hacking| bias| baseline)",
        re.IGNORECASE,
    ),
)
_ELICITATION = read_expression("elicitation")
_LONGEST = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationFacts:
    """How a figure was measured, in the card's words; None for what it does not say nearby."""

    evaluation: str | None
    place: str
    """Where the evaluation was read; empty without one."""
    n: int | None
    """Tasks, scenarios or responses behind the figure, as the passage itself or its row says."""
    grader: str | None
    elicitation: str | None


def describe_evaluation(passage: Passage, at: int | None, cell: int | None, label: str | None, around: PassageContext) -> EvaluationFacts:
    """Return what the passage, its row and column, caption, introduction and the sentences it goes on with say.

    Args:
        at: where in the passage's words the figure begins: of several evaluations the last before it counts; None for a row.
        cell: index of the figure's cell in a row; None outside tables.
        label: what a cell with several figures calls this one; the rest of that cell is about the others.
    """
    tied = _list_tied(passage, around)
    evaluation, where = _find_evaluation(passage, at, cell, around)
    texts = [label if label and place == cell else one.text for place, one in enumerate(passage.cells)]
    words = " · ".join(texts) if texts else passage.words
    column = (passage.cells[cell].column or "") if cell is not None else ""
    return EvaluationFacts(
        evaluation=evaluation,
        place=where,
        n=_find_row_size(passage) if passage.cells else _find_size(passage.words, at),
        grader=_first(find_grader, (words, *tied)),
        elicitation=find_elicitation(f"{words} · {column}") or _first(find_elicitation, tied),
    )


def _list_tied(passage: Passage, around: PassageContext) -> tuple[str, ...]:
    said = (*around.lead_in(passage), *around.continued(passage))
    return tuple(dict.fromkeys([*([passage.caption] if passage.caption else []), *(one.words for one in said)]))


def _first(find: Callable[[str], str | None], texts: Iterable[str]) -> str | None:
    return next((text for words in texts if (text := find(words)) is not None), None)


def list_topics(passage: Passage, around: PassageContext) -> list[str]:
    """Return the titles above *passage* that say what was tested, the innermost first."""
    own = around.section_titles(passage)
    first = around.outline.headings[0].title if around.outline.headings else None
    titles = [_NUMBERED.sub("", title).strip() for title in reversed(own) if title != first or len(own) == 1]
    return [title[:_LONGEST] for title in titles if title and not GENERIC_TITLE.match(title) and not looks_like_model(title)]


def _find_evaluation(passage: Passage, at: int | None, cell: int | None, around: PassageContext) -> tuple[str | None, str]:
    topics, tied = list_topics(passage, around), _list_tied(passage, around)
    if passage.kind is PassageKind.ROW:
        return _find_row_evaluation(passage, cell, topics)
    words = _EXCEPTED.sub(lambda match: " " * len(match[0]), passage.words)
    if _OTHERS.search(words):
        return None, ""
    label_match = _ITEM_LABEL.match(passage.words) if passage.kind is PassageKind.ITEM else None
    label = label_match["what"].strip(" *_") if label_match else ""
    if label and not _VERB.search(label) and not looks_like_model(label) and not GENERIC_TITLE.match(label):
        return label, "sentence"
    if name := _find_named(words, at) or find_test(words):
        return name, "sentence"
    if name := _first(find_benchmark, topics[:1]) or (topics[0] if topics else None):
        return name, "heading"
    name = _first(find_benchmark, tied) or _first(find_test, tied)
    return name, "sentence above" if name else ""


def _find_row_evaluation(passage: Passage, cell: int | None, topics: list[str]) -> tuple[str | None, str]:
    row = find_label(passage)
    for text, place in (
        ((passage.cells[cell].column or "") if cell is not None else "", "column head"),
        (row, "row label"),
        (passage.caption or "", "caption"),
    ):
        if name := find_benchmark(text):
            return name, place
    name = _trim_caption(passage.caption) or next(iter(topics), None)
    return name, "" if name is None else "heading" if name in topics else "caption"


def _find_named(words: str, at: int | None) -> str | None:
    """The benchmark a sentence names for the figure at *at*: right after it ("45% on CyBench"), else the last before, else any."""
    if at is None:
        return find_benchmark(words)
    following = re.split(r"[,;]", re.sub(r"\([^()]{0,120}\)", "", words[at : at + 200]), maxsplit=1)[0]
    return find_benchmark(following) or find_benchmark(words[:at], is_last=True) or find_benchmark(words)


@lru_cache(maxsize=8192)
def find_benchmark(words: str, *, is_last: bool = False, is_named: bool = False) -> str | None:
    """Return the first benchmark that *words* name by a name of its own, or the last; None where there is none.

    Args:
        is_named: whether a title ("Network Attack Simulation challenges") is no such name.
    """
    names = []
    for match in (_NAMED if is_named else _BENCHMARK).finditer(words):
        name = match[0]
        while (shorter := _LEADING.sub("", name)) != name:
            name = shorter
        if not _BARE.fullmatch(name):
            names.append(name)
    return (names[-1] if is_last else names[0]) if names else None


@lru_cache(maxsize=8192)
def find_test(words: str) -> str | None:
    """Return the first evaluation that *words* describe in small letters, such as "automated behavioral audit"; None without one."""
    for match in _TEST.finditer(words):
        parts = list(re.finditer(r"\S+", match["what"]))
        last = max((index for index, part in enumerate(parts) if part[0].lower() in _EMPTY), default=-1)
        if last + 1 < len(parts):
            return words[match.start("what") + parts[last + 1].start() : match.end()]
    return None


def find_label(passage: Passage) -> str:
    """Return what names a row: the cell under a head such as "Benchmark", else the first that is no figure; else its words."""
    named = [cell for cell in passage.cells if cell.text.strip() and not re.fullmatch(r"[<>≤≥~±\s\d.,%()/–−-]+", cell.text)]
    for cell in named:
        if re.match(r"\W*(?:benchmark|evaluation|eval|dataset|test|task|metric)s?\b", cell.column or "", re.IGNORECASE):
            return cell.text.strip(" *_")
    return named[0].text.strip(" *_") if named else passage.words


def _trim_caption(caption: str | None) -> str | None:
    if not caption:
        return None
    cut = re.sub(r"^\W*(?:Table|Figure|Fig\.?)\s*[\w.]{0,14}\W*\s*", "", caption).split(". ")[0].strip(" .:*[]")
    return (cut if len(cut) <= _LONGEST and not _VERB.search(cut) else find_test(cut)) or None


def _find_row_size(passage: Passage) -> int | None:
    texts = {cell.text.strip() for cell in passage.cells if (head := (cell.column or "").strip()) and _SIZE_HEAD.fullmatch(head)}
    numbers = {int(text.replace(",", "")) for text in texts if re.fullmatch(r"\d{1,3}(?:,\d{3})+|\d{1,7}", text)}
    return next(iter(numbers)) if len(numbers) == 1 else None


def _find_size(words: str, at: int | None) -> int | None:
    """The one size that a sentence states; of several none, since they may belong to other figures."""
    if len(re.findall(r"\d\s?%", words)) > 1 or at is None:
        return None
    sizes = {int((match["n"] or match["m"]).replace(",", "")) for match in _SIZE.finditer(words)}
    return next(iter(sizes)) if len(sizes) == 1 else None


@lru_cache(maxsize=8192)
def find_grader(words: str) -> str | None:
    """Return who or what graded, in the words of the card; None where *words* do not say."""
    for pattern in _GRADERS:
        if match := pattern.search(words):
            return match["who"].strip(" .,;:()") or None
    return None


@lru_cache(maxsize=8192)
def find_elicitation(words: str) -> str | None:
    """Return all that *words* say of how the model was asked, in their order, joined with semicolons; None for nothing."""
    hits = [
        hit
        for hit in _ELICITATION.finditer(words)
        if not re.search(r"(?:\b(?:not|never)|n['’]t) (?:[\w-]+ ){0,2}$", words[max(0, hit.start() - 40) : hit.start()])
    ]
    return "; ".join(dict.fromkeys(hit[0].strip() for hit in hits)) or None


# Statements that the model recognised an evaluation, or may have, with the layer of evidence. The first pattern that
# matches decides, so the more specific ones come first.

_STATEMENTS = tuple((row.pattern, None if row.name == "-" else EvidenceLayer(row.name)) for row in read_expressions("awareness"))
_NOT_THE_MODEL = read_expression("not-the-model")
_HINT = re.compile(
    r"aware|realis|realiz|unrealistic|verbali|distinguish|discriminat|recogni|suspect|suspici|tested|evaluated|\btest\b|evaluation"
    r"|simulation|contrived|artificial|gaming|\btell",
    re.IGNORECASE,
)
_READ = frozenset({PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.CAPTION, PassageKind.FOOTNOTE, PassageKind.ROW})
_MOST = 6
"""Statements given for one claim: the nearest ones; a section on awareness has dozens."""


def classify_awareness(words: str) -> tuple[bool, EvidenceLayer | None]:
    """Return whether *words* say that a model recognised a test or may have, and the layer; None where they do not say how it is known."""
    if not _HINT.search(words) or _NOT_THE_MODEL.search(words):
        return False, None
    return next(((True, layer) for pattern, layer in _STATEMENTS if pattern.search(words)), (False, None))


class AwarenessIndex:
    """All such statements of one card, found once."""

    def __init__(self, around: PassageContext) -> None:
        self._here: dict[int | None, list[AwarenessNote]] = {}
        self._folded: list[tuple[AwarenessNote, str]] = []
        for section, note in _find_statements(around):
            self._here.setdefault(section, []).append(note)
            self._folded.append((note, " ".join(note.quote.split()).lower()))

    def find(self, passage: Passage, *, evaluation: str | None) -> tuple[AwarenessNote, ...]:
        """Return the nearest statements of the same section, and those elsewhere that name the same evaluation, in order."""
        here = self._here.get(passage.section, [])
        at = bisect_left(here, passage.start, key=lambda note: note.start)
        near = sorted(here[max(0, at - _MOST) : at + _MOST], key=lambda note: abs(note.start - passage.start))[:_MOST]
        if evaluation and len(evaluation) > 6 and re.search(r"[a-z][A-Z]|[A-Z]{2}|-[A-Z]| \S+ ", evaluation):
            elsewhere = [note for note, folded in self._folded if evaluation.lower() in folded and note not in near]
            near += elsewhere[: max(0, _MOST - len(near))]
        return tuple(sorted(near, key=lambda note: note.start))


def _find_statements(around: PassageContext) -> Iterator[tuple[int | None, AwarenessNote]]:
    for passage in around.passages:
        if passage.kind in _READ:
            is_said, layer = classify_awareness(passage.words)
            if is_said:
                quote = around.text[passage.start : passage.stop]
                yield passage.section, AwarenessNote(quote=quote, start=passage.start, stop=passage.stop, layer=layer)
