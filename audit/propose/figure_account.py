"""An account of the figures of a card that look like results: proposed, of other models, explained, or not explained."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from audit.propose.candidate_spans import CardReading, is_apart, is_description, is_settings
from audit.propose.card_figures import blank_asides, find_figures
from audit.propose.card_models import read_matter
from audit.propose.claim_form import find_thresholds, is_no_result
from audit.propose.figure_subject import find_cell_subject, find_subjects
from audit.propose.passage_context import OUTSIDE
from audit.propose.row_figures import find_results, find_row_figures
from audit.propose.vocabulary import read_words
from registry.records.claim_draft import FigureAccount, Proposal, UnexplainedFigure
from registry.records.system_card import Passage, PassageKind

# What looks like a result is found without the rules' readers, by digits alone: a figure that no reader knows is then
# counted too. A reason is given only where a rule left the figure out on purpose; everything else is not explained.

_NUMBER = r"[-−+]?\d{1,4}(?:\.\d{1,16})?"
_VARIANT = "|".join(map(re.escape, read_words("families", "variant")))
_RESULT = re.compile(
    rf"(?<![\w.,/@-]){_NUMBER}\s?(?:%|per\s?cent\b)|(?<![\w.,/@-])[-−+]?\d{{1,3}}\.\d{{1,16}}(?![\w.])(?!\s(?:{_VARIANT})\b)", re.IGNORECASE
)
"""Not a version: "2.5 Pro"."""
_RESULT_CELL = re.compile(r"[^\w.]{0,12}[-−+]?(?:\d{1,4}\.\d{1,16}(?![.\w])|\d{1,4}\s?%)")
"""The beginning of a cell that holds a result, whatever is behind it."""
_METHOD, _NO_RESULT, _COUNT = "how the model was made, used or tested", "a goal, condition or threshold", "a count or setting of the test"
_VERSION = re.compile(r"\W*(?:\w+\s)?versions?\b|\W*v?\d[\d.]*\s\(", re.IGNORECASE)
_INDEXED = re.compile(r"^[ \t]+(?:- )?value:[ \t]*\S", re.MULTILINE)
_LONGEST, _SHOWN = 100, 50


@dataclass(frozen=True, slots=True)
class _Fate:
    """One figure and where it is left."""

    written: str
    is_proposed: bool = False
    other: str | None = None
    """The other model it belongs to."""
    reason: str | None = None


def account_for_figures(reading: CardReading, proposals: Sequence[Proposal], passages: Sequence[Passage]) -> FigureAccount:
    """Return how many figures in *passages* look like results, and how many are proposed, of other models, explained and not explained.

    Args:
        proposals: all that an engine proposed from these passages, before any is folded or hidden.
    """
    by_place: dict[int, list[Proposal]] = {}
    for proposal in proposals:
        by_place.setdefault(proposal.anchor.start, []).append(proposal)
    proposed, others, reasons = 0, Counter[str](), Counter[str]()
    unexplained: list[UnexplainedFigure] = []
    for passage in passages:
        if passage.kind in OUTSIDE or passage.kind in (PassageKind.HEAD, PassageKind.HEADING):
            continue
        here = by_place.get(passage.start, [])
        for fate in _judge_row(passage, here, reading) if passage.cells else _judge_words(passage, here, reading):
            proposed += fate.is_proposed
            if fate.other is not None:
                others[fate.other] += 1
            elif fate.reason is not None:
                reasons[fate.reason] += 1
            elif not fate.is_proposed:
                unexplained.append(_locate(passage, fate.written, reading))
    return FigureAccount(
        figures=proposed + others.total() + reasons.total() + len(unexplained),
        proposed=proposed,
        own_models=reading.models.own,
        other_models=dict(others.most_common()),
        explained=dict(reasons.most_common()),
        unexplained=tuple(unexplained),
        indexed=len(_INDEXED.findall(read_matter(reading.card.text))),
    )


_MOST_LINES, _MOST_MODELS, _FEW_OWN, _CLOSE = 10, 4, 10, 0.88


def describe_account(account: FigureAccount) -> Iterator[str]:
    """Give, line by line, what the account says, with the places of at most ten unexplained figures."""
    others, explained, unexplained = sum(account.other_models.values()), sum(account.explained.values()), len(account.unexplained)
    if account.figures:
        parts = f"{account.proposed:,} in proposals, {others:,} of other models, {explained:,} left out for a reason"
        yield f"figures that look like results: {account.figures:,} ({parts}, {unexplained:,} not explained)"
    yield from _describe_models(account, others)
    if account.figures and not account.own_models:
        yield "the card does not say which model it is about: give --model, and check the model of each claim"
    if account.indexed:
        yield f"the front matter lists {account.indexed:,} figures in its model-index: --from with this file proposes them"
    places: dict[tuple[int | None, int], list[UnexplainedFigure]] = {}
    for figure in account.unexplained:
        places.setdefault((figure.page, figure.line), []).append(figure)
    if places:
        yield "not explained, so look in the card whether they are claims:"
    for (page, line), figures in list(places.items())[:_MOST_LINES]:
        place = f"line {line}" if page is None else f"page {page}, line {line} of the text"
        yield f"  {place}: {', '.join(figure.written for figure in figures)[:_LONGEST]} in “{figures[0].words[:_SHOWN]}”"
    if len(places) > _MOST_LINES:
        yield f"  and on {len(places) - _MOST_LINES:,} more lines (--json lists all)"


def _describe_models(account: FigureAccount, others: int) -> Iterator[str]:
    if others and account.own_models:
        named = [f"{name} {count:,}" for name, count in account.other_models.items()]
        more = f" and {len(named) - _MOST_MODELS:,} more" if len(named) > _MOST_MODELS else ""
        yield f"the card's own: {', '.join(account.own_models[:_MOST_MODELS])}; other models: {', '.join(named[:_MOST_MODELS])}{more}"
    if account.own_models and others >= _FEW_OWN and account.proposed * _FEW_OWN < others:
        yield "few figures are the card's own: if one of the other models is its model, give that name: --model DEV/NAME/VERSION"
    elif close := next(_find_close(account), None):
        yield f"“{close}” is nearly the card's own name: if it is its model, give that name: --model DEV/NAME/VERSION"


def _find_close(account: FigureAccount) -> Iterator[str]:
    """Give the other models whose name differs from an own one in letters only, and in few: the card may have misspelt it."""
    for name in account.other_models:
        for own in account.own_models:
            is_like = SequenceMatcher(None, name.lower(), own.lower()).ratio() > _CLOSE
            if is_like and re.findall(r"\d+", name) == re.findall(r"\d+", own):
                yield name


def _locate(passage: Passage, written: str, reading: CardReading) -> UnexplainedFigure:
    line = reading.card.text.count("\n", 0, passage.start) + 1
    return UnexplainedFigure(written=written, page=passage.page, line=line, words=passage.words[:_LONGEST])


def _judge_row(passage: Passage, proposals: Sequence[Proposal], reading: CardReading) -> Iterator[_Fate]:
    figures = find_row_figures(passage)
    read = {place for place, _ in figures}
    unread = [(place, None) for place, cell in enumerate(passage.cells) if place not in read and _RESULT_CELL.match(cell.text)]
    kept = {place for place, _ in find_results(passage)}
    # A row whose heads are not known is one proposal without a figure.
    is_whole = any(proposal.reported is None and proposal.theta is None for proposal in proposals)
    given = Counter(proposal.written for proposal in proposals)
    is_method = is_settings(passage) or is_apart(passage, reading.around) or is_description(passage)
    for place, figure in (*figures, *unread):
        written = passage.cells[place].text.strip() if figure is None else figure.written
        subject = None if figure is None else find_cell_subject(passage, place, figure, reading.around, reading.models)
        # Equal figures of several models: those of other models are counted first.
        if is_whole or (given[written] > 0 and (subject is None or subject.is_own is not False)):
            given[written] -= 1
            yield _Fate(written, is_proposed=True)
        elif subject is not None and subject.is_own is False and not is_settings(passage):
            yield _Fate(written, other=subject.model or "another model")
        elif is_method:
            yield _Fate(written, reason=_METHOD)
        else:
            yield _Fate(written, reason=_COUNT if figure is not None and place not in kept else None)


def _judge_words(passage: Passage, proposals: Sequence[Proposal], reading: CardReading) -> Iterator[_Fate]:
    words = passage.words
    figures = find_figures(words)
    subjects = find_subjects(passage, figures, reading.around, reading.models) if figures else ()
    lines = {threshold.figure for threshold in find_thresholds(words, figures)}
    is_method = is_apart(passage, reading.around) or is_description(passage) or _VERSION.match(words) is not None
    for hit in _RESULT.finditer(blank_asides(words)):
        if proposals:
            # The quote is the whole sentence, so that its reader sees the figure.
            yield _Fate(hit[0], is_proposed=True)
        elif is_method:
            yield _Fate(hit[0], reason=_METHOD)
        else:
            place = next((place for place, figure in enumerate(figures) if figure.start < hit.end() and hit.start() < figure.stop), None)
            if place is None:
                yield _Fate(hit[0])
            elif subjects[place].is_own is False:
                yield _Fate(hit[0], other=subjects[place].model or "another model")
            else:
                is_line = figures[place] in lines or is_no_result(words, figures[place])
                yield _Fate(hit[0], reason=_NO_RESULT if is_line else None)
