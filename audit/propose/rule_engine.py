"""Claims proposed from a card's text by rules: offline, and the same on every machine."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from audit.propose.candidate_spans import CandidateSpan, CardReading, count_signs, find_limit, find_span, is_letter_spaced, is_under_limits
from audit.propose.card_figures import NUMBER, CardFigure, FigureUnit, find_quantity
from audit.propose.card_models import CardSource
from audit.propose.claim_form import (
    FormReading,
    ThresholdFigure,
    find_hedges,
    find_thresholds,
    is_general,
    is_no_result,
    read_figure,
    read_likely,
    read_worded,
    says_no_result,
    weigh_denial,
    weigh_doubt,
)
from audit.propose.claim_sentences import fold_sentence, score_sentence
from audit.propose.claimed_property import forget_direction, read_property
from audit.propose.evaluation_facts import describe_evaluation
from audit.propose.figure_subject import (
    PRONOUN,
    FigureSubject,
    compare_figures,
    drop_announced,
    find_cell_subject,
    find_label_subject,
    find_subjects,
    find_version,
    find_worded_subject,
)
from audit.propose.proposal_building import ClaimReading, addresses_reader, build_proposal, doubt_addressed, make_distinct
from audit.propose.proposed_claims_file import build_survey
from audit.propose.row_figures import find_bar, find_row_figures
from audit.propose.vocabulary import has_word
from registry.records.claim import Form
from registry.records.claim_draft import ComparisonNote, Engine, Proposals, SurveyDraft
from registry.records.system_card import Card, CardText, Outline, Passage, PassageKind

# A reader for each field, and each returns its words or nothing. When in doubt less is proposed, or a field stays
# empty: a confident wrong proposal costs more than a missing one.

RULES_VERSION = 20
"""Raised whenever the same card may give other proposals."""
_LETTER_SPACED = "Passages whose letters and digits stand apart, from which nothing is proposed since a number could be read in part: {}."
_UNREAD = "the columns of this table could not be read: add model and figure from the page"
_MATCHED = "the heads of this table were matched to its figures by their number: compare them with the page"
_SHARED = "the cell has several figures; this is the one it calls “{}”"
_BY_NUMBER, _LABELLED, _UNSAID = 0.8, 0.8, 0.55
"""The most that can be certain of a figure whose head was matched by number, of one of several in a cell, and of a bound whose sentence
names no model."""
_WRITTEN = 80


def survey_card(card: Card, text: CardText, outline: Outline) -> SurveyDraft:
    """Return the passages of a registered card that rules propose as claims; the entry point `caveat.surveys`."""
    source = CardSource(title=card.title, publisher=card.publisher, card=f"{card.card}@{card.revision}")
    return build_survey(propose_by_rules(text, outline, source))


def propose_by_rules(card: CardText, outline: Outline, source: CardSource, progress: Callable[[int], None] = lambda _: None) -> Proposals:
    """Return the claims that *card* seems to make, in the order of the card.

    Args:
        outline: the passages of the same text.
        progress: called with 1 after each passage.
    """
    reading = CardReading(card, outline, source)
    claims: list[ClaimReading] = []
    unreadable = 0
    for passage in reading.outline.passages:
        unreadable += is_letter_spaced(card.text[passage.start : passage.stop])
        span = find_span(passage, reading)
        if span is not None:
            claims += read_span(span, reading)
        progress(1)
    notes = (_LETTER_SPACED.format(unreadable),) if unreadable else ()
    proposals = doubt_addressed(make_distinct([build_proposal(claim, reading) for claim in claims]), outline)
    return Proposals(
        card=source.card,
        document=card.sha256,
        title=source.title,
        engine=Engine.RULES,
        by=f"{Engine.RULES} {RULES_VERSION}",
        passages=len(outline.passages),
        proposals=proposals,
        notes=(*reading.outline.notes, *notes),
    )


def read_span(span: CandidateSpan, reading: CardReading) -> list[ClaimReading]:
    """Return the claims of one span."""
    if span.passage.kind is PassageKind.ROW:
        return list(_read_row(span, reading))
    if _BARE_RUN.search(span.passage.words):
        return []
    readers = (_read_limits, _read_words) if span.is_limit else (_read_figures, _read_words, _read_limits, _read_likely)
    return next((claims for read in readers if (claims := list(read(span, reading)))), [])


# Rows of a table.


def _read_row(span: CandidateSpan, reading: CardReading) -> Iterator[ClaimReading]:
    passage, around, models = span.passage, reading.around, reading.models
    if len(span.cells) > 1 and any(not passage.cells[place].column for place, _ in span.cells):
        # Which figure belongs to which model or measure is not known, so none is proposed: a person reads the page.
        label = find_label_subject(passage, len(passage.cells), models)
        # Beside a row of the own model, labels that name no known one are those of other models.
        rows = [row for row in reading.around.block(passage) if row.cells]
        is_beside = label is None and any((other := find_label_subject(row, 1, models)) is not None and other.is_own for row in rows)
        if not is_beside and (label is None or label.is_own is not False):
            form = FormReading(form=Form.PREVALENCE, written=passage.words[:_WRITTEN], certainty=0.3, notes=(_UNREAD,))
            yield _describe(span, form, None, label or FigureSubject(model=None, is_own=None), reading)
        return
    subjects = [(place, figure, find_cell_subject(passage, place, figure, around, models)) for place, figure in span.cells]
    comparisons = tuple(
        ComparisonNote(subject=subject.model or "another column", value=figure.value, words=figure.written)
        for _, figure, subject in subjects
        if subject.is_own is False
    )
    heads = [passage.cells[place].column for place in {place for place, _ in span.cells}]
    source = reading.card.text[passage.start : passage.stop]
    is_guessed = len(span.cells) > 1 and not any(mark in source for mark in ("\t", "|", "<"))
    bar = find_bar(passage)
    for place, figure, subject in subjects:
        if subject.is_own is False or figure.unit is FigureUnit.MULTIPLE:
            continue
        line = ThresholdFigure(figure=bar, relation=None, is_of_another=False) if bar is not None and bar.unit is figure.unit else None
        found = read_figure("", figure, line)
        if found is None:
            continue
        form = found
        if figure.label is not None:
            form = replace(form, certainty=min(form.certainty, _LABELLED), notes=(*form.notes, _SHARED.format(figure.label)))
        # Two columns under one head were not told apart.
        if heads.count(passage.cells[place].column) > 1:
            form = replace(form, certainty=0.4, notes=(*form.notes, "another column has the same head: check which figure this is"))
        if is_guessed:
            # Text without columns: heads were matched to figures by their number.
            form = replace(form, certainty=min(form.certainty, _BY_NUMBER), notes=(*form.notes, _MATCHED))
        beside = comparisons or tuple(_compare_rows(passage, place, figure, reading))
        yield _describe(span, form, figure, subject, reading, cell=place, comparisons=beside)


_BARE = rf"(?:{NUMBER}\s?%?|[—–-])(?:\s?[±(]\s?{NUMBER}\s?%?\)?)?[*†]?"
_BARE_RUN = re.compile(rf"(?<![\w.]){_BARE}(?:\s+{_BARE}){{2,}}(?![\w.])")
"""Figures with nothing between them: a row of a table whose columns were lost."""


def _compare_rows(passage: Passage, place: int, figure: CardFigure, reading: CardReading) -> Iterator[ComparisonNote]:
    """Give the figures that rows of other models have in the same column, under the same label."""
    for row in reading.around.block(passage):
        mentions = reading.models.find(row.cells[0].text) if len(row.cells) == len(passage.cells) else ()
        if row.start == passage.start or not mentions or mentions[0].is_own:
            continue
        for column, other in find_row_figures(row):
            if (column, other.label) == (place, figure.label):
                yield ComparisonNote(subject=mentions[0].name, value=other.value, words=other.written)


# Sentences, items, captions and footnotes.


def _read_figures(span: CandidateSpan, reading: CardReading) -> Iterator[ClaimReading]:
    passage, words = span.passage, span.passage.words
    figures = drop_announced(passage, span.figures)
    thresholds = find_thresholds(words, figures)
    lines = {threshold.figure for threshold in thresholds if not threshold.is_of_another}
    subjects = find_subjects(passage, figures, reading.around, reading.models)
    comparisons = compare_figures(subjects, figures)
    own = [
        (figure, subject) for figure, subject in zip(figures, subjects, strict=True) if figure not in lines and subject.is_own is not False
    ]
    others = {threshold.figure for threshold in thresholds}
    signs = count_signs(span, reading, is_named=reading.models.is_meant(words))
    for threshold in thresholds:
        before = [
            figure
            for figure, _ in own
            if figure.start < threshold.figure.start and figure.unit is threshold.figure.unit and figure not in others
        ]
        if (
            not before
            and threshold.relation is not None
            and not threshold.is_of_another
            and signs > 1
            and not is_no_result(words, threshold.figure)
        ):
            subject = find_worded_subject(passage, threshold.figure.start, reading.around, reading.models)
            # A line without a result is a claim only where the sentence says of whom: others define it.
            if subject.place != "sentence":
                continue
            line = threshold.figure
            form = FormReading(form=Form.THRESHOLD, relation=threshold.relation, theta=line.value, written=line.written, certainty=0.85)
            yield _describe(span, weigh_doubt(form, words), line, subject, reading, comparisons=comparisons, signs=signs)
    for figure, subject in own:
        bar = next(
            (threshold for threshold in thresholds if threshold.figure.start > figure.start and threshold.figure.unit is figure.unit), None
        )
        # A threshold is compared with the figure nearest before it: "36 %, below the threshold of 50 %".
        if bar is not None and any(figure.start < other.start < bar.figure.start and other.unit is figure.unit for other, _ in own):
            bar = None
        # A number of things may count anything: model and outcome must both be told.
        if figure in others or signs < (2 if figure.unit is FigureUnit.COUNT else 1) or is_no_result(words, figure):
            continue
        found = read_figure(words, figure, bar)
        if found is not None:
            form = weigh_doubt(weigh_denial(found, words, figure), words)
            if figure.bound is not None and subject.place != "sentence" and subject.certainty < PRONOUN:
                form = replace(form, certainty=min(form.certainty, _UNSAID))
            yield _describe(span, form, figure, subject, reading, comparisons=comparisons, signs=signs)


_OUR_MODELS = re.compile(r"\bour\s(?:[\w-]+\s){0,3}models?\b(?!\sof\b)", re.IGNORECASE)


def _read_words(span: CandidateSpan, reading: CardReading) -> Iterator[ClaimReading]:
    """What a sentence claims without a figure; of captions, only what sets the model against another, since they repeat the text."""
    words = span.passage.words
    if span.passage.kind not in (PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.CAPTION):
        return
    figures = [figure for figure in span.figures if figure.value is not None and not figure.is_in_words]
    # Only figures of other models may be beside a comparison in words: "surpasses Heron (45)".
    if any(subject.is_own is not False for subject in find_subjects(span.passage, figures, reading.around, reading.models)):
        return
    # Most sentences have no sign of a result; these are asked first, since they cost less than the forms.
    signs = count_signs(span, reading, is_named=reading.models.is_meant(words))
    is_level = has_word("frameworks", "framework", words) or has_word("passages", "level", words)
    form = read_worded(words) if signs > 1 or is_level else None
    if form is None or form.span is None:
        return
    subject = find_worded_subject(span.passage, form.span[0], reading.around, reading.models)
    # A framework's level needs no further sign that a model is meant; other words need both.
    if (signs < 2 and (form.form is not Form.THRESHOLD or form.relative_to)) or subject.is_own is False:
        return
    claim = _describe(span, weigh_doubt(form, words), None, subject, reading, signs=signs, at=form.span[0])
    # A comparison or a "sometimes" is a claim only where the sentence says of what: a measure, or how a named model performs.
    is_measured = claim.property.place == "sentence" or (form.form is Form.THRESHOLD and not form.relative_to)
    is_named = subject.place == "sentence" or (subject.is_own is True and _OUR_MODELS.search(words) is not None)
    is_performance = is_named and (form.relative_to is not None or has_word("passages", "performance", words))
    if span.passage.kind is PassageKind.CAPTION and not (is_named and form.relative_to):
        return
    if is_measured or is_performance or form.reported is not None:
        yield claim


_SPEAKS_OF_MODEL = re.compile(
    r"\b(?:it|its|(?:the|this|these|our)\s(?:[\w-]+\s)?(?:models?|assistant)"
    r"|(?:the|its|any|model)\s(?:generated\s)?(?:outputs?|responses?|answers|predictions|generations|content))\b[^,.;:]{0,40}$",
    re.IGNORECASE,
)
_ANY_MODEL = re.compile(r"(?<!other\s)\b(?:LLMs|(?:language|foundation|generative|AI)\s(?:models|systems))\b[^,.;:]*$", re.IGNORECASE)


def _read_limits(span: CandidateSpan, reading: CardReading) -> Iterator[ClaimReading]:
    """What a sentence says that the model may do wrong, cannot do, or was not made or tested for."""
    passage, words = span.passage, span.passage.words
    form = find_limit(passage, reading.around)
    if form is None or form.span is None or says_no_result(words, span.figures):
        return
    subject = find_worded_subject(passage, form.span[0], reading.around, reading.models)
    before = words[: form.span[0] + 1]
    is_named = subject.is_own is not False and reading.models.is_meant(before)
    # Of models in general a card says nothing about its own; elsewhere than under limits, the sentence must speak of the model.
    is_group = subject.is_own is None and subject.model is not None and not reading.models.is_meant(subject.model)
    if subject.is_own is False or is_group or _ANY_MODEL.search(before):
        return
    is_its_subject = _SPEAKS_OF_MODEL.search(before) or _IT.match(before)
    if is_named or is_under_limits(passage, reading.around) or is_its_subject:
        claim = _describe(span, form, None, subject, reading, at=form.span[0])
        yield claim if claim.property.place == "sentence" else replace(claim, property=forget_direction(claim.property))


SPEAKS_OF_IT, LIKELY, EVIDENT = 0.6, 0.7, 0.85
"""The least probability of a sentence that no rule reads: of one that speaks of the own model, of any other, and of one in the words of
rules and methods; chosen on cards in view."""
_WE = re.compile(
    r"\W*(?:\w+ly,?\s|in\s\w+,\s)?(?:we(?!\s(?:also\s|still\s)?(?:observ|saw|see|f[io]und|notic|judg|conclud))|to|for|these\s\w+\s(?:are|were))\b",
    re.IGNORECASE,
)
_OFFER = re.compile(r"\b(?:can|could|may|will)\s(?:\w+\s)?(?:help|assist|support|enable|empower)\b", re.IGNORECASE)
"""What people may do with a model is no result of it."""
_IT = re.compile(r"[^.;:]{0,40}?\b(?:it|they|(?:the|this|these|our)\s(?:\w+\s)?models?)\b", re.IGNORECASE)
"""How sentences about the work begin, and those about the model."""
_PICTURE = re.compile(r"^\W*(?:Figure|Fig\.|Table|Chart|Box|Image|Transcript)\b", re.IGNORECASE)
_SHORTEST, _OPENING = 40, 30
"""Characters of the shortest sentence, and those in which a sentence names its subject if it is another model."""


def _read_likely(span: CandidateSpan, reading: CardReading) -> Iterator[ClaimReading]:
    """What looks like a claim by its words alone: proposed with low confidence, and only fields that the words show are filled."""
    passage, words = span.passage, span.passage.words
    if passage.kind is PassageKind.FOOTNOTE or not _SHORTEST <= len(words) <= 600 or _PICTURE.match(words) or _OFFER.search(words):
        return
    if addresses_reader(words) or says_no_result(words, span.figures):
        return
    score = score_sentence(fold_sentence(words, reading.models.find(words)))
    if score < SPEAKS_OF_IT:
        return
    subject = find_worded_subject(passage, 0, reading.around, reading.models)
    is_meant = (subject.place == "sentence" and subject.is_own) or _IT.match(words)
    is_rejected = "%" in words or any(not figure.is_in_words for figure in span.figures)
    if score < (EVIDENT if is_general(words) or is_rejected or _WE.match(words) else SPEAKS_OF_IT if is_meant else LIKELY):
        return
    if subject.place != "sentence":
        # Without the own model in the sentence, another one in its opening words is the subject.
        subject = find_worded_subject(passage, _OPENING, reading.around, reading.models)
    if subject.is_own is False:
        return
    quantity = find_quantity(words)
    claim = _describe(span, read_likely(words, quantity), quantity, subject, reading, at=0)
    if claim.property.place != "sentence":
        claim = replace(claim, property=forget_direction(claim.property))
    yield claim


def _describe(
    span: CandidateSpan,
    form: FormReading,
    figure: CardFigure | None,
    subject: FigureSubject,
    reading: CardReading,
    *,
    cell: int | None = None,
    comparisons: tuple[ComparisonNote, ...] = (),
    signs: int = 2,
    at: int | None = None,
) -> ClaimReading:
    """Say what the claim is about: property, version, evaluation, and what is stated nearby."""
    passage, hedges = span.passage, find_hedges(span.passage.words)
    start = None if cell is not None else figure.start if figure is not None else at
    facts = describe_evaluation(passage, start, cell, figure.label if figure is not None else None, reading.around)
    return ClaimReading(
        span=span,
        figure=figure,
        cell=cell,
        form=form,
        subject=subject,
        version=find_version(passage, start, reading.around, reading.models, cell=cell),
        property=read_property(
            passage, figure, at=start, cell=cell, evaluation=facts.evaluation, around=reading.around, models=reading.models
        ),
        facts=facts,
        comparisons=comparisons,
        signs=signs,
        notes=(f"the card hedges: {', '.join(f'“{hedge}”' for hedge in hedges)}",) if hedges else (),
    )
