"""One card made ready for an engine: its passages, models and awareness statements, and the passages that may make claims."""

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property

from audit.propose.card_figures import CardFigure, find_figures
from audit.propose.card_models import CardModels, CardSource, read_models
from audit.propose.claim_form import FormReading, read_limit, read_worded
from audit.propose.evaluation_facts import AwarenessIndex, find_benchmark, find_label
from audit.propose.passage_context import PassageContext
from audit.propose.row_figures import find_results, read_cell
from audit.propose.vocabulary import find_rows, has_word, read_expression
from registry.intake.quote_anchor import AnchoredText
from registry.records.system_card import CardText, Outline, Passage, PassageKind

# An engine is asked for the fields of spans and never invents one. What is no candidate here is proposed by none of
# them: contents, furniture, references, settings, descriptions of methods, quotations, code.


class CardReading:
    """One card and what was found out about it once."""

    def __init__(self, card: CardText, outline: Outline, source: CardSource) -> None:
        self.card, self.source = card, source
        around = PassageContext(outline, card.text)
        self.models: CardModels = read_models(around, source)
        self.outline = _name_columns(outline, self.models)
        self.around = around if self.outline is outline else PassageContext(self.outline, card.text)
        self.anchored = AnchoredText(card)

    @cached_property
    def awareness(self) -> AwarenessIndex:
        """The statements that the model recognised a test."""
        return AwarenessIndex(self.around)


def _name_columns(outline: Outline, models: CardModels) -> Outline:
    """Return *outline* with the columns of tables in plain text named, where the heads end with one model for each figure."""
    heads: dict[int, list[str]] = defaultdict(list)
    known = {passage.block for passage in outline.passages if any(cell.column for cell in passage.cells)}
    for passage in outline.passages:
        if passage.kind is PassageKind.HEAD and passage.block not in known:
            heads[passage.block].append(passage.words)
    # A line below the heads may be the label of the first row.
    read = {block: [names for text in (*lines, " ".join(lines)) if (names := _split_heads(text, models))] for block, lines in heads.items()}
    named = {block: names[0] for block, names in read.items() if names}

    def name(passage: Passage) -> Passage:
        names = named.get(passage.block, [])
        # A row whose label was lost has only its figures.
        names = names[1:] if len(passage.cells) == len(names) - 1 else names
        if not names or len(passage.cells) != len(names) or len(find_results(passage)) < len(names) - 1:
            return passage
        cells = (replace(cell, column=head or None) for cell, head in zip(passage.cells, names, strict=True))
        return replace(passage, cells=tuple(cells))

    if not named:
        return outline
    told = f"The heads of {len(named)} of these tables are names of models, and were matched to the figures by their order."
    return replace(outline, passages=tuple(map(name, outline.passages)), notes=(*outline.notes, told))


def _split_heads(words: str, models: CardModels) -> list[str]:
    """Return the head of the labels and two or more models behind it; empty where anything else is between or behind the models."""
    mentions = models.find(words)
    if len(mentions) < 2:
        return []
    stops = [*(mention.start for mention in mentions[1:]), len(words)]
    between = "".join(words[mention.stop : stop] for mention, stop in zip(mentions, stops, strict=True))
    return [] if between.strip(" *†‡") else [words[: mentions[0].start].strip(), *(mention.written for mention in mentions)]


@dataclass(frozen=True, slots=True)
class CandidateSpan:
    """A passage that may make claims, with the figures in it."""

    passage: Passage
    figures: tuple[CardFigure, ...] = ()
    """Of running text, in order; positions are those of the passage's words."""
    cells: tuple[tuple[int, CardFigure], ...] = ()
    """Of a row: the figures with the index of their cell; a cell may have several."""
    is_limit: bool = False
    """Whether it describes how the model was made, so that only a limit or comparison in words is read from it."""


_READ = frozenset({PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.ROW, PassageKind.CAPTION, PassageKind.FOOTNOTE})
_DESCRIPTION = read_expression("description")
_QUOTED = re.compile(r"^\s?[“\"«‘'].{20,}[”\"»’']\.?\s?$", re.DOTALL)
_ENGLISH = re.compile(
    r"\b(?:the|of|and|to|is|were|for|with|by|that|than|it|from|its|their|all|no|as|we|on|at|about|being|never|not|any|has|have|had|when|this|did|are|be|or|more|less|against|after|each|both|without)\b",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE_FROM = 7
_SPACED_FROM = 12
"""Parts of a passage; a shorter one may list letters."""


def find_span(passage: Passage, reading: CardReading) -> CandidateSpan | None:
    """Return *passage* with its figures if it may make claims; None for what never does."""
    if passage.kind not in _READ or is_letter_spaced(reading.card.text[passage.start : passage.stop]):
        return None
    if is_description(passage) or (is_apart(passage, reading.around) and not _compares_models(passage, reading)):
        # "May reflect biases of its training data" is a limit, although it speaks of how the model was made.
        worded = read_worded(passage.words) if passage.kind in (PassageKind.SENTENCE, PassageKind.ITEM) else None
        is_compared = worded is not None and worded.relative_to is not None and reading.models.is_meant(passage.words)
        return CandidateSpan(passage, is_limit=True) if is_compared or find_limit(passage, reading.around) else None
    if passage.kind is PassageKind.ROW:
        return None if is_settings(passage) else CandidateSpan(passage, cells=find_results(passage))
    label, colon, _ = passage.words[:_LONGEST_LABEL].partition(":")
    if colon and has_word("passages", "settings", label):
        return None
    return CandidateSpan(passage, figures=_read_labelled_item(passage, reading.around) or find_figures(passage.words))


def find_limit(passage: Passage, around: PassageContext) -> FormReading | None:
    """Return the limit or risk that a sentence or item states; None where it states none."""
    if passage.kind not in (PassageKind.SENTENCE, PassageKind.ITEM):
        return None
    words, is_under = passage.words, is_under_limits(passage, around)
    form = read_limit(words, is_under_limits=is_under)
    lead = next(iter(around.lead_in(passage)[-1:]), None)
    if form is None and lead is not None and _OPENS_LIST.search(lead.words) and passage == around.block(passage)[0]:
        # "The model may:" and then "invent sources".
        form = read_limit(f"{lead.words[:-1]} {words.lstrip(' •●○*–-')}", is_under_limits=is_under)
        return None if form is None else replace(form, span=(0, len(words)))
    return form


def is_under_limits(passage: Passage, around: PassageContext) -> bool:
    """Return whether a heading right above is about limits, ethics, or uses, or the label that begins the paragraph."""
    above = (*around.block(passage)[:1], *around.lead_in(passage)[-1:])
    labels = (one.words.partition(":")[0] for one in above if ":" in one.words[:_LONGEST_LABEL])
    return any(has_word("passages", "limits", title) for title in (*around.section_titles(passage)[-2:], *labels))


_LONGEST_LABEL = 60
_OPENS_LIST = re.compile(r"\b(?:may|might|can|could|will|cannot|not|to|with|for)\s?:\W*$", re.IGNORECASE)
"""The end of a sentence that the items below it complete."""
_LABELLED_ITEM = re.compile(
    r"[\s•●○*\-–·]*(?:(?P<label>[^:]{2,60}):[*_]*\s+|(?P<listed>\S+\son\s.{2,80}?)\s(?:self-reported|verified)\s)(?P<figure>\S.{0,30})"
)
"""As written, or as model pages list results: "pass@1 on HumanEval self-reported 46.3"."""


def _read_labelled_item(passage: Passage, around: PassageContext) -> tuple[CardFigure, ...]:
    """The figure of a list item that is the name of a benchmark or metric and a score, as in a row of a table: "MMLU: 84.8".

    Under a heading of results any name will do.
    """
    hit = _LABELLED_ITEM.fullmatch(passage.words) if passage.kind is PassageKind.ITEM else None
    if hit is None:
        return ()
    label = hit["label"] or hit["listed"]
    is_measure = hit["listed"] or find_benchmark(label, is_named=True) or find_rows("metrics", label)
    is_measure = is_measure or any(_RESULTS.search(title) for title in around.section_titles(passage)[-2:])
    number, _, unit = hit["figure"].partition(" ")
    is_apart = bool(find_rows("metrics", unit)) or ("/" in number and unit.isalpha())
    figure = read_cell(number if is_apart else hit["figure"]) if is_measure else None
    if figure is None:
        return ()
    return (replace(figure, start=hit.start("figure"), stop=hit.end("figure"), scale=figure.scale or unit or "score", label=label),)


_BENCHMARK = re.compile(r"\bbenchmarks?\b", re.IGNORECASE)


def _compares_models(passage: Passage, reading: CardReading) -> bool:
    """Whether a row has columns of several models under words on benchmarks: results, whatever else the last heading is about."""
    above = " · ".join((*reading.around.section_titles(passage)[-1:], *(one.words for one in reading.around.lead_in(passage)[-2:])))
    names = {mention.name for cell in passage.cells for mention in reading.models.find(cell.column or "")}
    return len(names) > 1 and (
        _BENCHMARK.search(above) is not None
        or any(find_benchmark(find_label(row), is_named=True) for row in reading.around.block(passage) if row.cells)
    )


_RESULTS = re.compile(r"\b(?:benchmarks?|scores?|results?|performance|accuracy|evaluations?)\b", re.IGNORECASE)


def is_apart(passage: Passage, around: PassageContext) -> bool:
    """Return whether a heading says how a model was made, is used or is cited; figures below it are no results.

    A table with a caption of results is one wherever it is: an appendix may follow the list of authors.
    """
    is_result = bool(passage.cells) and _RESULTS.search(passage.caption or "") is not None
    return (
        not is_result
        and not is_under_limits(passage, around)
        and any(has_word("passages", "apart", title) for title in around.section_titles(passage)[-2:])
    )


def is_letter_spaced(text: str) -> bool:
    """Return whether most words of a passage's source are single letters, so that the digits of a number are apart."""
    parts = text.split()
    return len(parts) >= _SPACED_FROM and sum(len(part) == 1 and part.isalpha() for part in parts) * 2 > len(parts)


def is_description(passage: Passage) -> bool:
    """Return whether a passage says how something was done or is meant, quotes a dialogue or a source, or is no English."""
    words = passage.words
    return _DESCRIPTION.search(words) is not None or _QUOTED.match(words) is not None or not _is_english(passage)


def _is_english(passage: Passage) -> bool:
    """Whether a passage may be English: not in another script, and with one of the small words if it is a sentence.

    A row is no sentence: its labels have no small words, however many they are.
    """
    words = passage.words
    is_sentence = passage.kind is not PassageKind.ROW and len(re.findall(r"[^\W\d]{2,}", words)) >= _SENTENCE_FROM
    return len(_CJK.findall(words)) * 4 <= len(words) and (not is_sentence or _ENGLISH.search(words) is not None)


def is_settings(passage: Passage) -> bool:
    """Return whether a row lists what a model or a run is made of, and no results."""
    label = passage.cells[0].text if passage.cells else passage.words[:60]
    return has_word("passages", "settings", label[:60])


def count_signs(span: CandidateSpan, reading: CardReading, *, is_named: bool) -> int:
    """Return how many signs a passage gives that it tells a result of a model: it speaks of one, of an outcome, in a section of results."""
    words = span.passage.words
    signs = int(
        is_named or has_word("passages", "model", words) or re.search(r"\b(?:it|its|model|models)\b", words, re.IGNORECASE) is not None
    )
    signs += has_word("passages", "outcome", words) or any(figure.label for figure in span.figures)
    if span.passage.kind is PassageKind.ITEM and signs < 2:
        signs += any(has_word("passages", "outcome", one.words) for one in reading.around.lead_in(span.passage)[-2:])
    if signs == 1 and any(has_word("passages", "result", title) for title in reading.around.section_titles(span.passage)):
        signs += 1
    return min(signs, 2)
