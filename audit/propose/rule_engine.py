"""Claims proposed from a card's text by rules: offline, and the same on every machine."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from audit.propose.card_models import CardModels, CardSource, FigureSubject, find_subject, read_models
from audit.propose.claim_passages import (
    COUNTING,
    PassageContext,
    is_about_results,
    is_described,
    is_description,
    is_label_with_figures,
    is_letter_spaced,
    is_read,
    is_settings,
    names_a_model,
    tells_an_outcome,
)
from audit.propose.claimed_property import describe_property, part_domains
from audit.propose.evaluation_facts import AwarenessIndex, describe_evaluation
from audit.propose.figure_ownership import OwnFigure, SortedFigures, choose_own
from audit.propose.logical_form import (
    FormReading,
    ThresholdFigure,
    apply_denial,
    drop_bound,
    find_denial,
    find_hedge,
    find_hedges,
    find_stated_direction,
    find_thetas,
    is_condition,
    is_finding,
    is_goal,
    is_number_run,
    is_only_defined,
    read_figure,
    read_threshold,
    read_worded,
)
from audit.propose.proposed_claims_file import build_survey
from audit.propose.prose_figures import NAMED, CardFigure, FigureUnit, find_quantities
from audit.propose.table_figures import find_cell, find_last_quantities, find_row_quantities, is_column_unread, read_units
from registry.completeness import StatedFacts, check_completeness
from registry.intake.quote_anchor import AnchoredText
from registry.records.claim import Form
from registry.records.claim_draft import Confidence, Engine, Proposal, Proposals, SurveyDraft
from registry.records.specification import PropertySpec
from registry.records.system_card import Card, CardText, Outline, Passage, PassageKind

# Rules propose a claim on two signs: the passage mentions a model, and it has a word for an outcome. A clear figure
# needs one sign, a weak one both, threshold wording none. The number of signs is the confidence, an order and no
# probability. The quote is the whole sentence or row, since clauses lose their subject. Cost: longer quotes; some
# shares of users or traffic are proposed.
RULES_VERSION = 2
"""Raised whenever the same card may give other proposals."""


_LETTER_SPACED = "Passages whose letters and digits stand apart, from which nothing is proposed since a number could be read in part: {}."
_UNREAD = "the columns of this table could not be read: add model and figure from the page"
_WRITTEN = 80
"""Characters of a row that are shown where its figures have no known heads."""
_SURE = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)
"""By the number of signs that a passage tells a result of a model: it speaks of one, and it has a word for an outcome."""


@dataclass(frozen=True, slots=True)
class _CardReading:
    """One card and what was found out about it once."""

    text: CardText
    anchored: AnchoredText
    around: PassageContext
    models: CardModels
    awareness: AwarenessIndex


@dataclass(frozen=True, slots=True)
class _PassageClaim:
    """What one passage claims, before it is described."""

    reading: FormReading
    own: OwnFigure | None
    """The figure; None for a claim in words."""
    choice: SortedFigures
    confidence: Confidence


def survey_card(card: Card, text: CardText, outline: Outline) -> SurveyDraft:
    """Return the passages of a registered card that rules propose as claims; the entry point `caveat.surveys`."""
    source = CardSource(title=card.title, publisher=card.publisher, card=f"{card.card}@{card.revision}")
    return build_survey(propose_by_rules(text, outline, source))


def propose_by_rules(card: CardText, outline: Outline, source: CardSource, progress: Callable[[int], None] = lambda _: None) -> Proposals:
    """Return the claims that *card* seems to make, in the order of the card.

    Args:
        outline: the passages of the same text.
        progress: told how many passages have been read, after each.
    """
    around = PassageContext(outline, card.text)
    known = _CardReading(
        text=card, anchored=AnchoredText(card), around=around, models=read_models(around, source), awareness=AwarenessIndex(around)
    )
    proposals: list[Proposal] = []
    unreadable = 0
    for count, passage in enumerate(outline.passages, start=1):
        # Half a number is another number. Passages whose letters stand apart are not read for figures; a note counts
        # them.
        if is_letter_spaced(card.text[passage.start : passage.stop]):
            unreadable += 1
        else:
            proposals += _propose(passage, known)
        progress(count)
    notes = (_LETTER_SPACED.format(unreadable),) if unreadable else ()
    return Proposals(
        card=source.card,
        document=card.sha256,
        title=source.title,
        engine=Engine.RULES,
        by=f"{Engine.RULES} {RULES_VERSION}",
        passages=len(outline.passages),
        proposals=_make_distinct(proposals),
        notes=(*outline.notes, *notes),
    )


def _propose(passage: Passage, card: _CardReading) -> list[Proposal]:
    if not is_read(passage, card.around):
        return []
    if passage.kind is PassageKind.ROW:
        offers = list(_read_row(passage, card))
    else:
        offers = [_weigh_hedge(offer, passage.words) for offer in _read_prose(passage, card)]
    return [_describe(offer, passage, card) for offer in offers]


def _weigh_hedge(offer: _PassageClaim, words: str) -> _PassageClaim:
    """Return the offer without its threshold or bound, and with little confidence, where the card hedges it."""
    reading = offer.reading
    at = words.find(reading.written) if reading.written else -1
    start, stop = reading.span or (at, at)
    hedge = find_hedge(words, start, stop, has_figure=reading.span is None) if start >= 0 else None
    if hedge is None or (reading := drop_bound(offer.reading, hedge)) is offer.reading:
        return offer
    return replace(offer, reading=reading, confidence=Confidence.LOW)


def _read_row(passage: Passage, card: _CardReading) -> Iterator[_PassageClaim]:
    if is_settings(passage) or is_description(passage.words):
        return
    named = tuple((mention.start, mention.stop) for mention in card.models.find(passage.words))
    figures = [row_quantity for row_quantity in find_row_quantities(passage, named) if not _counts(passage, row_quantity)]
    choice = choose_own(passage, tuple(read_units(passage, figures)), around=card.around, models=card.models)
    if choice.own and is_column_unread(passage, figures):
        # Which figure belongs to which model or measure is not known, so no figure is proposed: a person reads the page.
        yield _PassageClaim(
            FormReading(form=Form.PREVALENCE, written=passage.words[:_WRITTEN], notes=(_UNREAD,)), None, choice, Confidence.LOW
        )
        return
    confidence = Confidence.HIGH if is_described(passage) else Confidence.MEDIUM
    for own in choice.own:
        # A row has no sentence around its figures, so there are no words to read a form from.
        if reading := read_figure("", own.quantity):
            yield _PassageClaim(reading, own, choice, confidence)
    reading = None if figures else read_worded(passage.words)
    if reading is not None and reading.form is Form.THRESHOLD and reading.is_clear:
        yield _PassageClaim(reading, None, choice, Confidence.MEDIUM)


def _counts(passage: Passage, card_figure: CardFigure) -> bool:
    """Whether the column says how much was asked, not what came out."""
    cell = find_cell(passage, card_figure.start)
    return cell is not None and cell.column is not None and COUNTING.search(cell.column) is not None and "%" not in card_figure.written


def _read_prose(passage: Passage, card: _CardReading) -> list[_PassageClaim]:
    words = passage.words
    quantities = find_quantities(words) or _find_listed(passage, card)
    thetas = find_thetas(words, quantities)
    lines = {theta.quantity for theta in thetas if not theta.is_of_another}
    results = tuple(quantity for quantity in quantities if quantity not in lines and quantity.unit is not FigureUnit.POINTS)
    reading = None if quantities else _read_wording(passage)
    if (not quantities and reading is None) or is_description(words):
        return []
    choice = choose_own(passage, results, around=card.around, models=card.models)
    signs = sum(
        (names_a_model(passage, is_named=bool(card.models.find(words))), tells_an_outcome(words) or _is_listed_result(passage, card))
    )
    if not signs and is_about_results(card.around.section_titles(passage)) and any(_is_share(own.quantity) for own in choice.own):
        signs = 1
    offers = list(_read_figures(words, choice, thetas, signs)) or list(_read_difference(words, quantities, choice, signs))
    return offers or list(_read_words(reading or _read_wording(passage), choice, signs))


def _find_listed(passage: Passage, card: _CardReading) -> tuple[CardFigure, ...]:
    """The bare numbers of a list item that is a label with figures: “MMLU: 71.2”."""
    if passage.kind is not PassageKind.ITEM or not is_label_with_figures(passage.words):
        return ()
    named = tuple((mention.start, mention.stop) for mention in card.models.find(passage.words))
    figures = [last_quantity for last_quantity in find_last_quantities(passage.words, named) if "." in last_quantity.written]
    return tuple(read_units(passage, figures))


def _read_wording(passage: Passage) -> FormReading | None:
    """What running text claims in words; captions and footnotes repeat it."""
    return read_worded(passage.words) if passage.kind in (PassageKind.SENTENCE, PassageKind.ITEM) else None


def _is_listed_result(passage: Passage, card: _CardReading) -> bool:
    """Whether a list item is a label and its figures, under words for an outcome: “Combined pass rate: • model: 80 %”."""
    if passage.kind is not PassageKind.ITEM or not is_label_with_figures(passage.words):
        return False
    above = (*(one.words for one in card.around.lead_in(passage)[-2:]), *card.around.section_titles(passage)[-1:])
    return any(tells_an_outcome(words) for words in above)


def _read_figures(words: str, choice: SortedFigures, thetas: tuple[ThresholdFigure, ...], signs: int) -> Iterator[_PassageClaim]:
    """Pair each threshold with the figure nearest before it, else the first; every other figure stands alone."""
    of_others = {figure.quantity for figure in thetas}
    own = [figure for figure in choice.own if figure.quantity not in of_others]
    paired: dict[CardFigure, ThresholdFigure] = {}
    for theta in thetas:
        # A line that the passage only defines claims nothing about the model.
        if is_only_defined(theta) and theta.relation is None:
            continue
        before = [figure for figure in own if figure.quantity.start < theta.quantity.start and _is_comparable(figure.quantity, theta)]
        # A threshold is compared with the figure before it: "36 %, below the threshold of 50 %".
        if before:
            paired.setdefault(before[-1].quantity, theta)
        elif not theta.is_of_another or theta.relation is not None:
            yield _PassageClaim(read_threshold(theta), None, choice, _SURE[signs])
    for figure in own:
        # A weak figure (a count, a bare score, a share in words) could be many things and needs one more sign.
        sure = signs - (_is_weak(figure.quantity) and not is_finding(words, figure.quantity))
        line = paired.get(figure.quantity)
        reading = read_figure(words, figure.quantity, line)
        if sure < 1 or reading is None or _is_set_aside(words, figure.quantity, own):
            continue
        denial = find_denial(words, figure.quantity) if line is None and not _is_none_found(figure.quantity) else None
        reading, limit = apply_denial(reading, denial, figure.quantity) if denial else (reading, Confidence.HIGH)
        yield _PassageClaim(reading, figure, choice, _SURE[min(sure, _SURE.index(limit))])


def _is_none_found(card_figure: CardFigure) -> bool:
    """Whether a count of 0 is itself what the card says by denying."""
    return card_figure.unit is FigureUnit.COUNT and card_figure.value == 0


def _is_set_aside(words: str, card_figure: CardFigure, own: list[OwnFigure]) -> bool:
    """Whether a figure says no result: a condition, a goal, what was run, or a "never" that only denies the figure behind it."""
    if is_condition(words, card_figure) or is_goal(words, card_figure) or is_number_run(words, card_figure):
        return True
    behind = (
        each.quantity for each in own if each.quantity.start >= card_figure.stop and card_figure.is_in_words and card_figure.value == 0
    )
    return any(card_figure.written in denial.words for each in behind if (denial := find_denial(words, each)) is not None)


def _is_comparable(card_figure: CardFigure, theta: ThresholdFigure) -> bool:
    return card_figure.unit is theta.quantity.unit and card_figure.bound is None


def _read_difference(words: str, quantities: tuple[CardFigure, ...], choice: SortedFigures, signs: int) -> Iterator[_PassageClaim]:
    """The first difference of a passage that gives no figure of its own."""
    first = next((quantity for quantity in quantities if quantity.unit is FigureUnit.POINTS), None)
    if first is not None and signs > 1 and (reading := read_figure(words, first)):
        yield _PassageClaim(reading, None, choice, Confidence.LOW)


def _is_share(card_figure: CardFigure) -> bool:
    """Whether a figure is a share in digits."""
    return card_figure.unit is FigureUnit.SHARE and not card_figure.is_in_words


def _is_weak(card_figure: CardFigure) -> bool:
    """Whether a figure could be many things, so that model and outcome must both be told."""
    return (
        card_figure.unit is FigureUnit.COUNT
        or (card_figure.unit is FigureUnit.SCORE and card_figure.scale is None)
        or (card_figure.unit is FigureUnit.SHARE and card_figure.is_in_words and card_figure.n is None)
    )


def _read_words(reading: FormReading | None, choice: SortedFigures, signs: int) -> Iterator[_PassageClaim]:
    """Words that are mostly used for claims need no further sign that a model is meant; others need both."""
    if reading is not None and signs >= (0 if reading.is_clear else 2):
        yield _PassageClaim(reading, None, choice, Confidence.MEDIUM if reading.is_clear and signs else Confidence.LOW)


def _describe(offer: _PassageClaim, passage: Passage, card: _CardReading) -> Proposal:
    """Say what the claim is about: property, model, evaluation, what is stated nearby and what is missing."""
    quantity = offer.own.quantity if offer.own else None
    subject = find_subject(passage, quantity.start if quantity else None, around=card.around, models=card.models)
    facts = describe_evaluation(passage, around=card.around, at=quantity.start if quantity else None)
    property_ = describe_property(
        passage,
        quantity,
        around=card.around,
        column=offer.own.column if offer.own else None,
        evaluation=facts.evaluation,
        is_one_of_several=len(offer.choice.own) > 1,
    )
    reading = offer.reading
    nearby: tuple[str, ...] = ()
    reported = reading.reported
    if reported is not None and reported.n is None and facts.n is not None and not _is_count(quantity):
        # n counts only if the passage itself states it. A number from nearby is a note for the person, because a wrong
        # n changes every interval.
        if _states(passage, facts.n, card.models):
            reported = replace(reported, n=facts.n)
        elif not _states(passage, facts.n):
            nearby = (f"n = {facts.n:,} is stated nearby; add it if it belongs to this figure",)
    anchor = card.anchored.at(passage.start, passage.stop)
    return Proposal(
        quote=anchor.exact,
        anchor=anchor,
        passage=passage.kind,
        form=reading.form,
        relation=reading.relation,
        theta=reading.theta,
        reported=reported,
        written=reading.written,
        property=property_.spec,
        slug=property_.slug,
        model=(offer.own.model if offer.own else None) or subject.model,
        version=subject.version,
        evaluation=facts.evaluation,
        grader=facts.grader,
        elicitation=facts.elicitation,
        relative_to=offer.choice.relative_to if reading.is_relative else None,
        comparisons=(offer.own.comparisons if offer.own else ()) or offer.choice.others,
        awareness=card.awareness.find(passage, evaluation=facts.evaluation),
        completeness=check_completeness(
            StatedFacts(
                form=reading.form,
                theta=reading.theta,
                reported=reported,
                evaluation=facts.evaluation,
                grader=facts.grader,
                elicitation=facts.elicitation,
                version=subject.version,
            )
        ),
        confidence=_limit(offer.confidence, subject, property_.notes),
        notes=(*reading.notes, *nearby, *_note_words(passage), *offer.choice.notes, *property_.notes),
    )


_READ_BESIDE = ("the head of its column", "the first cell of its row", "named in the passage")
"""Places of a model name that is given with the figure itself."""


def _limit(confidence: Confidence, subject: FigureSubject, guesses: tuple[str, ...]) -> Confidence:
    """Return high confidence only where the model is named beside the figure and nothing about the property was guessed."""
    is_evident = subject.is_own is True and subject.why in _READ_BESIDE and not guesses
    return Confidence.MEDIUM if confidence is Confidence.HIGH and not is_evident else confidence


def _is_count(card_figure: CardFigure | None) -> bool:
    return card_figure is not None and card_figure.unit is FigureUnit.COUNT


def _states(passage: Passage, n: int, models: CardModels | None = None) -> bool:
    """Whether the passage or its caption has the number itself; with *models* a number in a name does not count."""
    told = f"{passage.words} {passage.caption or ''}"
    if models is not None:
        told = NAMED.sub("", told)
        told = "".join(told[start:stop] for start, stop in _between(told, [(mention.start, mention.stop) for mention in models.find(told)]))
    return re.search(rf"(?<![\d.,@-])(?:{n}|{n:,})(?![\d%]|[.,]\d)", told) is not None


def _between(text: str, taken: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield what is left of *text* without the spans that are taken."""
    start = 0
    for first, last in sorted(taken):
        yield start, max(start, first)
        start = max(start, last)
    yield start, len(text)


def _note_words(passage: Passage) -> Iterator[str]:
    if hedges := find_hedges(passage.words):
        yield f"the card hedges: {', '.join(f'“{hedge}”' for hedge in hedges)}"
    if stated_direction := find_stated_direction(passage.words) or find_stated_direction(passage.caption or ""):
        yield f"the card says which way is better: “{stated_direction}”"


def _fold_repeats(proposals: list[Proposal]) -> list[Proposal]:
    """Let a claim that the card repeats in the same words stand once, where it stands first, and say how often it does.

    Rows of tables stay: the same words under other heads are other results. So do the same words about another model.
    """
    times: Counter[tuple[object, ...]] = Counter()
    keys: list[tuple[object, ...]] = []
    within: Counter[tuple[object, ...]] = Counter()
    for at, one in enumerate(proposals):
        said = (" ".join(one.quote.split()), one.model, one.form, one.relation, one.theta, one.reported and one.reported.value, one.written)
        place = (*said, one.anchor.start, one.anchor.stop)
        key = (*said, at) if one.passage is PassageKind.ROW else (*said, within[place])
        within[place] += 1
        times[key] += 1
        keys.append(key)
    first = {key: at for at, key in reversed(tuple(enumerate(keys)))}
    kept = [(proposal, times[key]) for at, (proposal, key) in enumerate(zip(proposals, keys, strict=True)) if first[key] == at]
    return [
        one if count == 1 else replace(one, notes=(*one.notes, f"stands {count} times in the card, in the same words"))
        for one, count in kept
    ]


def _make_distinct(proposals: list[Proposal]) -> tuple[Proposal, ...]:
    """Number properties that could not be told apart.

    Property, form, model and quote identify a claim, and a short name stands for one property in the whole card.
    """
    used: Counter[tuple[str, str, str | None, str]] = Counter()
    proposals = part_domains(_fold_repeats(proposals))
    specs: dict[str, PropertySpec] = {}
    distinct = []
    for proposal in proposals:
        key = (proposal.slug, proposal.form, proposal.model, " ".join(proposal.quote.split()))
        number = used[key] + 1
        named = _number(proposal, number)
        while specs.setdefault(named.slug, named.property) != named.property:
            number += 1
            named = _number(proposal, number)
        used[key] = number
        distinct.append(named)
    return tuple(distinct)


def _number(proposal: Proposal, number: int) -> Proposal:
    if number == 1:
        return proposal
    property_ = replace(proposal.property, name=f"{proposal.property.name} ({number})")
    note = "the card gives several figures for what looks like one property; name the properties apart"
    return replace(proposal, property=property_, slug=f"{proposal.slug}-{number}", confidence=Confidence.LOW, notes=(*proposal.notes, note))
