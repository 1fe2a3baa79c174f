"""A language model as an engine: every window of a card is asked about once, and each field of its answers is found in the card."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from audit.endpoints.model_answers import RequestTrouble
from audit.propose.candidate_spans import CandidateSpan, CardReading, find_span
from audit.propose.card_figures import CardFigure, find_figures
from audit.propose.card_models import CardSource
from audit.propose.claim_form import FormReading
from audit.propose.claimed_property import LONGEST_NAME, PropertyReading, find_range, read_property, slugify
from audit.propose.evaluation_facts import EvaluationFacts
from audit.propose.figure_subject import FigureSubject
from audit.propose.model_questions import (
    DIVIDED,
    MALFORMED,
    PROMPT,
    CardWindow,
    OfferedClaim,
    QuestionSettings,
    WindowAnswer,
    WindowLine,
    WindowQuestion,
    ask_window,
    cut_windows,
    describe_window,
    halve,
    is_stated,
    read_answer,
    tidy_text,
    write_opening,
)
from audit.propose.passage_context import PassageContext
from audit.propose.proposal_building import ClaimReading, build_proposal, doubt_addressed, make_distinct
from audit.propose.row_figures import find_row_figures
from audit.replay.call_engine import LOST, UNSENT
from audit.replay.run_budget import Prices, SpentAmount, estimate_call
from audit.replay.run_store import Call, RunStore, put_version
from registry.codec.canonical_documents import Json
from registry.errors import ConflictError, Fault, UnavailableError
from registry.intake.text_normalisation import build_form
from registry.records.claim import Direction, Form, PropertyClass, Relation, Reported
from registry.records.claim_draft import Engine, Proposals, RejectedOffer
from registry.records.specification import PropertySpec
from registry.records.system_card import CardText, MatchLevel, Outline, PassageKind

# Questions about the windows of a card. Each is asked once, and again where its answer cannot be read.
#
# Calls go through the engine of the replay and are kept in a run folder's store. A session that was killed continues
# where it stopped, and an answered question is never asked again.

Ask = Callable[[Iterable[Call], int], object]
"""Sends calls that have no answer yet, of which there are as many as said, and puts what comes back into the store: the engine with
endpoint, budget and progress. It raises when it ends before its last call, so that no proposals are made from a part."""

_DOCUMENT, _WINDOWS = "proposal", "proposal windows"
_WITHOUT_SCHEMA = "proposal without schema"
"""Kept where the endpoint refused the schema."""
_SCHEMA_REFUSED = re.compile(r"output_config|output_format|json_schema|structured output|schema|grammar", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSession:
    """Where answers are kept, and how they are got."""

    store: RunStore
    ask: Ask
    retry_failed: bool = False
    """Whether *ask* sends calls again that failed."""
    repeat_lost: bool = False
    """Whether *ask* sends calls again that were in flight when an earlier run was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowForecast:
    """What asking about a card is expected to take."""

    windows: int
    answered: int
    """Windows whose question has an answer in the run folder."""
    amount: SpentAmount
    """Calls still to be made, input tokens at four bytes each, all the output they allow, and dollars (None: a price is missing). A window
    whose answer cannot be read is asked about once more, or in two halves, which is not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredWindow:
    """One window, or half of one, with what its last answer says."""

    window: CardWindow
    reading: WindowAnswer


def plan_calls(card: CardText, outline: Outline, asking: QuestionSettings, *, store: RunStore | None = None) -> tuple[WindowQuestion, ...]:
    """Return the question about every window, in the order of the card: what is known before anything is asked.

    Args:
        store: the run folder's; an endpoint that refused the schema there is asked in words alone. None: not begun.

    Raises:
        ValueError: windows of such a size or overlap cannot be.
    """
    windows = cut_windows(PassageContext(outline, card.text), size=asking.size, overlap=asking.overlap)
    build = partial(ask_window, outline, asking=asking)
    return tuple(_choose_answer(store, partial(build, window)) for window in windows)


def forecast_calls(questions: Sequence[WindowQuestion], prices: Prices, store: RunStore | None = None) -> WindowForecast:
    """Return what those of *questions* come to that have no answer in *store*; nothing is sent."""
    calls = {question.call.key: question.call for question in questions}
    answered = store.find_settled(calls, failed=False) if store else set()
    amount = sum((estimate_call(call.body, prices) for key, call in calls.items() if key not in answered), SpentAmount())
    return WindowForecast(windows=len(calls), answered=len(answered), amount=amount)


def keep_asking(store: RunStore, card: CardText, outline: Outline, asking: QuestionSettings) -> None:
    """Write down in the run folder what is asked; the same again changes nothing, and another part of the same card is added.

    Raises:
        ConflictError: the folder holds the proposing of another card, by another model, or with other windows or words.
    """
    questions = [
        ask_window(outline, window_question.window, asking=asking, structured=False)
        for window_question in plan_calls(card, outline, asking)
    ]
    wanted: dict[str, Json] = {
        "card": card.sha256,
        "model": asking.model,
        "prompt": PROMPT,
        "size": asking.size,
        "overlap": asking.overlap,
        "max_tokens": asking.max_tokens,
    }
    document = store.find_document(_DOCUMENT)
    # Answers about another card, or to other words, would be mixed with these.
    if document is not None and document != wanted:
        raise ConflictError(_tell_difference(store, document, wanted))
    store.put_document(_DOCUMENT, wanted)
    windows = [{"start": question.window.start, "stop": question.window.stop, "request": question.call.request} for question in questions]
    put_version(store, _WINDOWS, {"windows": windows})


def read_answers(session: AnswerSession, card: CardText, outline: Outline, asking: QuestionSettings) -> tuple[AnsweredWindow, ...]:
    """Ask for what has no answer in the run folder, and return what all answers say, in the order of the card.

    The first call is made alone: it shows whether the endpoint takes a schema, and one that refuses it is asked in words alone from
    there on. A window whose answer is malformed is asked about once more, one whose answer was refused or cut in two halves; what cannot be
    read then stays without an answer, with its reason. `keep_asking` comes first.
    """
    asked = _CardQuestions(session, outline, asking, PassageContext(outline, card.text))
    first = [_QuestionRound(window=question.window) for question in plan_calls(card, outline, asking)]
    # The first call is made alone: an endpoint that refuses the schema costs one call and not one for each window.
    asked.ask_first(first)
    asked.ask(first)
    # One more round only. A window that stays unread is named in the result instead of being asked for ever.
    second = [turn for question_round in first for turn in asked.follow(question_round)]
    asked.ask(second)
    return tuple(AnsweredWindow(window=question_round.window, reading=asked.read(question_round)) for question_round in second)


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuestionRound:
    window: CardWindow
    attempt: int = 0


class _CardQuestions:
    """One asking about one card."""

    def __init__(self, session: AnswerSession, outline: Outline, asking: QuestionSettings, around: PassageContext) -> None:
        self._session, self._store = session, session.store
        self._outline, self._asking, self._around = outline, asking, around
        self._built: dict[tuple[_QuestionRound, bool], WindowQuestion] = {}

    def ask_first(self, turns: Sequence[_QuestionRound]) -> None:
        """Make the first call that waits, again in words alone if the schema is refused."""
        while (first := next(filter(self._is_waiting, map(self._question, turns)), None)) is not None:
            self._session.ask([first.call], 1)
            if not self._refuses_schema(first):
                return
            self._remember_refusal()

    def ask(self, turns: Sequence[_QuestionRound]) -> None:
        """Make every call that waits; those whose schema was refused once more, in words alone."""
        for _ in range(2):
            questions = [self._question(turn) for turn in turns]
            waiting = [question.call for question in questions if self._is_waiting(question)]
            if waiting:
                self._session.ask(waiting, len(waiting))
            if not any(self._refuses_schema(window_question) for window_question in questions):
                return
            self._remember_refusal()

    def read(self, turn: _QuestionRound) -> WindowAnswer:
        """Return what the answer to a turn says."""
        return read_answer(self._store.find_response(self._question(turn).call.key))

    def follow(self, turn: _QuestionRound) -> Iterator[_QuestionRound]:
        """Give what is to be read in place of *turn*: itself, the same once more, or its two halves."""
        reason = self.read(turn).excluded
        # What is refused, or too long an answer, may come from a part of the window. The other half can still be read.
        halves = halve(turn.window, self._around) if reason in DIVIDED else None
        if halves is not None:
            yield from (_QuestionRound(window=window) for window in halves)
        else:
            yield _QuestionRound(window=turn.window, attempt=turn.attempt + 1) if reason in MALFORMED else turn

    def _question(self, turn: _QuestionRound) -> WindowQuestion:
        return _choose_answer(self._store, lambda *, structured: self._build(turn, structured=structured))

    def _build(self, turn: _QuestionRound, *, structured: bool) -> WindowQuestion:
        """Each question once: the digest of a request takes milliseconds."""
        if (turn, structured) not in self._built:
            question = ask_window(self._outline, turn.window, asking=self._asking, structured=structured, attempt=turn.attempt)
            self._built[turn, structured] = question
        return self._built[turn, structured]

    def _is_waiting(self, question: WindowQuestion) -> bool:
        """Whether the engine would send it."""
        key = question.call.key
        outcomes = self._store.find_outcomes([key])
        if key not in outcomes:
            return True
        failure, session = outcomes[key], self._session
        if failure is None or failure in UNSENT:
            return failure is not None
        return session.repeat_lost if failure == LOST else session.retry_failed

    def _refuses_schema(self, question: WindowQuestion) -> bool:
        """Whether the call failed because the endpoint does not take the field that holds the schema."""
        answer = self._store.find_response(question.call.key) if question.structured else None
        failure = answer.failure if answer is not None else None
        return failure is not None and failure.code == RequestTrouble.NOT_ACCEPTED.value and bool(_SCHEMA_REFUSED.search(failure.message))

    def _remember_refusal(self) -> None:
        self._store.put_document(_WITHOUT_SCHEMA, {"takes_schema": False})


class _QuestionBuilder(Protocol):
    """Makes the question about one window."""

    def __call__(self, *, structured: bool) -> WindowQuestion: ...


def _choose_answer(store: RunStore | None, build: _QuestionBuilder) -> WindowQuestion:
    """The question by schema where that is possible, or was so when it was answered; else in words alone."""
    question = build(structured=True)
    # An answer that was given under a schema still counts after the endpoint stopped taking schemas.
    if store is None or store.find_document(_WITHOUT_SCHEMA) is None or store.find_settled([question.call.key], failed=False):
        return question
    return build(structured=False)


def _tell_difference(store: RunStore, known: dict[str, Json], wanted: dict[str, Json]) -> Fault:
    told = [f"{name} {known.get(name)}, now {value}" for name, value in wanted.items() if known.get(name) != value]
    found = f"contains proposals of another question: {'; '.join(told)}"
    return Fault("run-differs", str(store.path.parent), found, advice="choose another folder with --run DIR")


# Grounding. The model points at a line, a figure and words; each is looked up in what it was shown. What is not there is
# left out with a note, and without its figure the whole offer is dropped. Cost: paraphrases are lost.

_NAMED, _IN_TITLE, _WORDED, _GUESSED = 0.93, 0.8, 0.93, 0.6
"""Certainties of a field by where its words are; agreement with the rules raises them."""
_LONGEST_WORDS, _LONGEST_NOTE = 500, 300
_BOUNDS = {Form.UPPER_BOUND: Relation.AT_MOST, Form.LOWER_BOUND: Relation.AT_LEAST}
_NUMBERS = re.compile(r"\d{1,20}(?:[.,]\d{1,20}){0,5}")


class CardGround:
    """One card, in which what answers say is looked up."""

    def __init__(self, reading: CardReading) -> None:
        self._reading = reading
        opening = write_opening(reading.outline)
        self._named = _normalise("\n".join((reading.source.title, *reading.source.models, opening)))

    def check(self, window: CardWindow, answer: WindowAnswer) -> tuple[tuple[ClaimReading, ...], tuple[RejectedOffer, ...]]:
        """Return what of an answer about *window* is in the card, and what was dropped with the reasons."""
        lines = {line.number: line for line in window.lines}
        shown = _normalise(" ".join((*window.titles, *window.before, *window.table, *(line.text for line in window.lines))))
        claims: list[ClaimReading] = []
        dropped = list(answer.dropped)
        for offer in answer.offers:
            line = lines.get(offer.line)
            found = "the line is none of those that were asked about" if line is None else self._check(offer, line, shown)
            if isinstance(found, ClaimReading):
                claims.append(found)
            else:
                quote = tidy_text(line.text if line is not None else offer.figure, _LONGEST_NOTE)
                dropped.append(RejectedOffer(quote=quote, reason=found))
        return tuple(claims), tuple(dropped)

    def _check(self, offer: OfferedClaim, line: WindowLine, shown: str) -> ClaimReading | str:
        passage = self._reading.outline.passages[line.passage]
        span = find_span(passage, self._reading)
        if span is None:
            span = CandidateSpan(passage, figures=find_figures(passage.words))
        figure, cell = _find_figure(offer.figure, span)
        theta, _ = _find_figure(offer.theta, span)
        if is_stated(offer.figure) and figure is None:
            return "the figure is not in the line that is given for it"
        if is_stated(offer.theta) and theta is None:
            return "the bound or threshold is not in the line that is given for it"
        relation = _BOUNDS.get(offer.form) or (Relation(offer.relation) if offer.relation in ("<=", ">=") else None)
        if offer.form is Form.THRESHOLD and relation is None:
            return "a threshold is offered without its relation, at most or at least"
        offered = _OfferedSpan(self._reading, span, offer, shown, self._named)
        return offered.read(figure, theta, cell, relation if offer.form not in (Form.EXISTENCE, Form.PREVALENCE) else None)


class _OfferedSpan:
    """One offer whose line and figures were found."""

    def __init__(self, reading: CardReading, span: CandidateSpan, offer: OfferedClaim, shown: str, named: str) -> None:
        self._reading, self._span, self._offer, self._shown, self._named = reading, span, offer, shown, named
        self._line = _normalise(
            " ".join((span.passage.words, span.passage.caption or "", *(cell.column or "" for cell in span.passage.cells)))
        )
        self._notes: list[str] = []

    def read(self, figure: CardFigure | None, theta: CardFigure | None, cell: int | None, relation: Relation | None) -> ClaimReading:
        """Return the claim with the fields that the card says."""
        offer, passage = self._offer, self._span.passage
        if figure is not None and theta is None and figure.bound is not None and offer.form in _BOUNDS:
            # "<4%" is the bound itself; no figure was reported.
            figure, theta = None, figure
        reported = None
        if figure is not None and figure.value is not None:
            reported = Reported(value=figure.value, low=figure.low, high=figure.high, n=figure.n)
        written = figure or theta
        form = FormReading(
            form=offer.form,
            relation=relation,
            theta=None if theta is None else theta.value,
            reported=reported,
            written=written.written if written else None,
            relative_to=self._keep("relative to", offer.relative_to),
            certainty=_WORDED if written else 0.75,
            span=(0, len(passage.words)) if written is None else None,
        )
        evaluation = self._keep("evaluation", offer.evaluation)
        grader, elicitation = self._keep("grader", offer.grader), self._keep("elicitation", offer.elicitation)
        version = self._keep("version", offer.version, names=True)
        subject = self._read_subject()
        prop = self._read_property(figure or theta, cell, evaluation)
        facts = EvaluationFacts(evaluation=evaluation, place="line" if evaluation else "", n=None, grader=grader, elicitation=elicitation)
        if caution := tidy_text(offer.caution, _LONGEST_NOTE):
            self._notes.insert(0, f"the engine says: {caution}")
        return ClaimReading(
            span=self._span,
            figure=figure or theta,
            cell=cell,
            form=form,
            subject=subject,
            version=(version, "line") if version else None,
            property=prop,
            facts=facts,
            notes=tuple(self._notes),
        )

    def _read_subject(self) -> FigureSubject:
        name = self._keep("model", self._offer.model.value, names=True)
        if name is None:
            return FigureSubject(None, is_own=None)
        mentions = self._reading.models.find(name)
        folded = _normalise(name)
        is_own = mentions[0].is_own if mentions else _stands_in(folded, _normalise(self._reading.source.title)) or None
        is_here = _stands_in(folded, self._line)
        words = self._offer.model.words if self._holds(self._offer.model.words, self._shown) else name
        place = "sentence" if is_here else "sentence above" if _stands_in(folded, self._shown) else "card title"
        model = mentions[0].name if mentions else name
        return FigureSubject(model, words, place, _NAMED if is_here else _IN_TITLE, is_own=is_own)

    def _read_property(self, figure: CardFigure | None, cell: int | None, evaluation: str | None) -> PropertyReading:
        """The property by the engine's name, class and direction, on the range that such a figure has for the rules, too."""
        offer, passage = self._offer, self._span.passage
        start = None if cell is not None or figure is None else figure.start
        ours = read_property(
            passage, figure, at=start, cell=cell, evaluation=evaluation, around=self._reading.around, models=self._reading.models
        )
        name = tidy_text(offer.property.value, LONGEST_NAME)
        # A number in the name of a property would state something that the card does not say.
        if not name or any(not self._holds(number, f"{self._shown} {self._named}") for number in _NUMBERS.findall(name)):
            if name:
                self._leave_out("property", name)
            name = ours.spec.name
        is_worded = self._holds(offer.property.words, self._line)
        words = tidy_text(offer.property.words, 120) if is_worded or self._holds(offer.property.words, self._shown) else ours.measure
        certainty = _WORDED if is_worded else _GUESSED
        direction = None if offer.direction not in set(Direction) else Direction(offer.direction)
        if direction is not None and ours.direction not in (None, direction) and Direction.NOT_SAFETY not in (direction, ours.direction):
            self._notes.append(f"check the direction: “{ours.measure}” is usually {str(ours.direction).replace('_', ' ')}")
            certainty = min(certainty, 0.5)
        (low, high), guess = find_range(figure)
        spec = PropertySpec(
            name=name,
            class_=offer.class_,
            range=(low, high),
            direction=direction or Direction.NOT_SAFETY,
            suppressible=ours.spec.suppressible or offer.class_ is PropertyClass.DECEPTION_SCHEMING,
        )
        place = "sentence" if is_worded else "line above"
        return PropertyReading(
            spec=spec,
            slug=slugify(name),
            direction=direction,
            measure=words or name,
            place=place,
            class_certainty=certainty,
            direction_certainty=certainty,
            notes=guess,
        )

    def _keep(self, name: str, words: str, *, names: bool = False) -> str | None:
        """The words of a field, if the card says them."""
        text = " ".join(words.split())
        if not is_stated(text):
            return None
        if self._holds(text, self._shown) or (names and self._holds(text, self._named)):
            return text
        self._leave_out(name, text)
        return None

    def _leave_out(self, name: str, text: str) -> None:
        self._notes.append(f"the engine gave as {name} “{tidy_text(text, 100)}”, which the card does not say here; it is left out")

    @staticmethod
    def _holds(words: str, text: str) -> bool:
        wanted = _normalise(words) if len(words) <= _LONGEST_WORDS else ""
        return any(character.isalnum() for character in wanted) and _stands_in(wanted, text)


def _find_figure(written: str, span: CandidateSpan) -> tuple[CardFigure | None, int | None]:
    """The figure of the span that the words mean, with its cell in a row; None where it has no such figure."""
    wanted = _fold(written)
    if not is_stated(written) or not wanted:
        return None, None
    if span.passage.kind is PassageKind.ROW:
        cells = [(figure, place) for place, figure in find_row_figures(span.passage)]
        hits = [(figure, place) for figure, place in cells if wanted in (_fold(figure.written), _fold(span.passage.cells[place].text))]
        hits = hits or [hit for hit in cells if len(wanted) > 1 and wanted.rstrip("%") == _fold(hit[0].written)]
        return hits[0] if len(hits) == 1 else (None, None)
    exact = [figure for figure in span.figures if _fold(figure.written) == wanted]
    inside = [figure for figure in span.figures if wanted in _fold(figure.written) or _fold(figure.written) in wanted]
    found = exact or inside
    return (found[0], None) if found else (None, None)


def _fold(text: str) -> str:
    return "".join(text.split()).casefold().replace("−", "-").strip("*_†‡.,;")


def _stands_in(wanted: str, text: str) -> bool:
    """Whether *wanted* is in *text* with nothing of a word before or after it: “Model A” is not in “Model Alpha”."""
    first, last = (r"(?<!\w)(?<!\d[.,])" if wanted[0].isalnum() else ""), (r"(?!\w|[.,]\d)" if wanted[-1].isalnum() else "")
    return re.search(first + re.escape(wanted) + last, text) is not None


def _normalise(text: str) -> str:
    return " ".join(build_form(text, MatchLevel.N4).text.casefold().split())


# The engine.

_REASONS = {
    "answer-refused": "the model refused to answer, also about this half of a window",
    "answer-cut": "its answer reached the output limit, also in halves (raise --max-tokens, with another --run)",
    "answer-empty": "its answer was empty, twice",
    "answer-not-json": "its answer was no JSON object, twice",
    "answer-without-claims": "its answer was an object without a list of claims, twice",
    "not-asked": "it was never asked",
    "lost-in-flight": "the call was in flight when an earlier run was killed (--repeat-lost sends it again; it may be billed twice)",
}
"""By the code of a window without a readable answer; others are failures of a call, which --retry-failed sends again."""


def propose_by_model(
    card: CardText,
    outline: Outline,
    source: CardSource,
    asking: QuestionSettings,
    session: AnswerSession,
    *,
    engine: Engine = Engine.CLAUDE,
) -> Proposals:
    """Return the claims that a language model reads in a card, as far as the card says what it says.

    Windows without a readable answer are named in `notes`, with the reason; everything that was offered and is not in the card is in
    `dropped`. The same card, model, windows and prompt with the same folder send nothing twice.

    Raises:
        UnavailableError: no part of the card got a readable answer.
        ConflictError: the run folder holds the proposing of another card, by another model, or with other windows or words.
        CaveatError: what `session.ask` raises where it ends before its last call.
    """
    keep_asking(session.store, card, outline, asking)
    answered = read_answers(session, card, outline, asking)
    # A model that answers nothing is an error without a file. An empty file would be recorded as a card without claims.
    _check_read(answered, str(session.store.path.parent))
    reading = CardReading(card, outline, source)
    ground = CardGround(reading)
    claims: list[ClaimReading] = []
    dropped: list[RejectedOffer] = []
    for window in answered:
        found, lost = ground.check(window.window, window.reading)
        claims += found
        dropped += lost
    claims.sort(
        key=lambda claim: (claim.span.passage.start, claim.figure.start if claim.figure and claim.cell is None else claim.cell or 0)
    )
    proposals = make_distinct([build_proposal(claim, reading) for claim in claims])
    return Proposals(
        card=source.card,
        document=card.sha256,
        title=source.title,
        engine=engine,
        by=_name(answered, asking, engine),
        passages=len({line.passage for window in answered if window.reading.excluded is None for line in window.window.lines}),
        proposals=doubt_addressed(proposals, outline),
        dropped=tuple(dropped),
        notes=(*_tell_unread(answered, outline), *outline.notes),
    )


def _check_read(answered: Sequence[AnsweredWindow], folder: str) -> None:
    """A card of which nothing was read makes no claim that it makes none."""
    reasons = Counter(window.reading.excluded for window in answered)
    if answered and None not in reasons:
        told = ", ".join(f"{count} × {reason}" for reason, count in reasons.most_common())
        found = f"no part of the card was read; {len(answered)} windows have no readable answer: {told}"
        raise UnavailableError(Fault("nothing-read", folder, found))


def _name(answered: Sequence[AnsweredWindow], asking: QuestionSettings, engine: Engine) -> str:
    models = sorted({window.reading.model for window in answered if window.reading.model is not None})
    return f"{engine} {', '.join(models)}" if models else f"{engine} {asking.model}, which answered nothing"


def _tell_unread(answered: Sequence[AnsweredWindow], outline: Outline) -> Iterator[str]:
    unread = [window for window in answered if window.reading.excluded is not None]
    if unread:
        yield f"{len(unread)} of {len(answered)} windows of the card were NOT read; no claim of theirs is proposed:"
    for window in unread:
        code = str(window.reading.excluded)
        reason = _REASONS.get(code, f"the call failed with {code} (--retry-failed sends it again)")
        yield f"not read: {describe_window(window.window, outline)}: {reason}"
