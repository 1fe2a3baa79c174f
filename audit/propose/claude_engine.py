"""The engine `claude`: every window of a card is asked about once, and the answers become one list of proposals."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from audit.endpoints.model_answers import RequestTrouble
from audit.propose.card_models import CardSource
from audit.propose.claim_passages import PassageContext
from audit.propose.offer_grounding import CardGround
from audit.propose.window_questions import (
    DIVIDED,
    MALFORMED,
    PROMPT,
    CardWindow,
    QuestionSettings,
    WindowAnswer,
    WindowQuestion,
    ask_window,
    cut_windows,
    describe_window,
    halve,
    read_answer,
)
from audit.replay.call_engine import LOST, UNSENT
from audit.replay.run_budget import Prices, SpentAmount, estimate_call
from audit.replay.run_store import Call, RunStore, put_version
from registry.codec.canonical_documents import Json, canonical_bytes, to_document
from registry.errors import ConflictError, Fault, UnavailableError
from registry.records.claim import Direction, PropertyClass
from registry.records.claim_draft import Confidence, Engine, Proposal, Proposals, RejectedOffer
from registry.records.specification import PropertySpec
from registry.records.system_card import CardText, Outline

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


# Merging of all windows: windows overlap, so a claim that was read twice must be one proposal, and one property must
# have one name.

_RANKS = {Confidence.HIGH: 0, Confidence.MEDIUM: 1, Confidence.LOW: 2}
_SHARED = 0.5
"""Of the shorter quote, what two readings of one claim have in common at least."""
_Key = tuple[int, int, bytes]
_Property = tuple[str, PropertyClass, Direction, bool]


def merge_windows(windows: Iterable[Sequence[Proposal]]) -> tuple[Proposal, ...]:
    """Return the proposals of all windows, each claim once, in the order of the card.

    Two of different windows are one claim when at least half of the shorter quote is in the other and they give the same figure, or both
    none, to the same subject. Of the two the surer is kept, then the one that states more, then the longer quote; where they differ in
    form, a note says so. Within one window nothing is joined but what is the same to the letter: there the model saw both, and meant
    two. So the order of windows does not matter, and merging a list with itself changes nothing.
    """
    merged: list[Proposal] = []
    for window in sorted((_order(proposals) for proposals in windows), key=lambda proposals: [_key(each) for each in proposals]):
        _add(merged, window)
    return tuple(_order(merged))


def unify_properties(proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Return *proposals* with one property for each name, class and direction, on the widest of its ranges, and a short name of its own.

    A range that was guessed from one figure would else make two properties of one.
    """
    found = tuple(proposals)
    specs: dict[_Property, PropertySpec] = {}
    for proposal in found:
        spec = specs.get(_name_kind(proposal))
        specs[_name_kind(proposal)] = proposal.property if spec is None else _widen(spec, proposal.property)
    slugs = _give_names(specs)
    return tuple(replace(proposal, property=specs[_name_kind(proposal)], slug=slugs[_name_kind(proposal)]) for proposal in found)


def _order(proposals: Iterable[Proposal]) -> list[Proposal]:
    """The proposals by their place, each once."""
    unique = {_key(proposal): proposal for proposal in proposals}
    return [unique[key] for key in sorted(unique)]


def _key(proposal: Proposal) -> _Key:
    return proposal.anchor.start, proposal.anchor.stop, canonical_bytes(to_document(proposal))


def _add(merged: list[Proposal], window: Sequence[Proposal]) -> None:
    """Join each of *window* with the one of *merged* that it is most like, which no other of the window may then take."""
    first = min((proposal.anchor.start for proposal in window), default=0)
    free = [at for at, other in enumerate(merged) if other.anchor.stop > first]
    left = list(window)
    # From the strictest to the loosest comparison, so that an exact counterpart is not taken by a similar claim.
    for is_like in (_is_equal, _is_same_by_name, _is_same):
        left = [proposal for proposal in left if not _join(merged, proposal, is_like, free)]
    merged += left


def _join(merged: list[Proposal], proposal: Proposal, is_like: Callable[[Proposal, Proposal], bool], free: list[int]) -> bool:
    place = next((at for at in free if is_like(proposal, merged[at])), None)
    if place is None:
        return False
    free.remove(place)
    merged[place] = _choose_better(merged[place], proposal)
    return True


def _is_equal(proposal: Proposal, other: Proposal) -> bool:
    return proposal == other


def _is_same_by_name(proposal: Proposal, other: Proposal) -> bool:
    return proposal.slug == other.slug and _is_same(proposal, other)


def _is_same(proposal: Proposal, other: Proposal) -> bool:
    shared = min(proposal.anchor.stop, other.anchor.stop) - max(proposal.anchor.start, other.anchor.start)
    shorter = min(proposal.anchor.stop - proposal.anchor.start, other.anchor.stop - other.anchor.start)
    if shared <= 0 or shared < _SHARED * shorter:
        return False
    ours, theirs = _list_figures(proposal), _list_figures(other)
    return bool(ours & theirs or not (ours or theirs)) and (proposal.model == other.model or None in (proposal.model, other.model))


def _list_figures(proposal: Proposal) -> set[float]:
    figures = (proposal.theta, proposal.reported.value if proposal.reported else None)
    return {figure for figure in figures if figure is not None}


def _choose_better(proposal: Proposal, other: Proposal) -> Proposal:
    """The better of two readings of one claim; it does not matter which is named first."""
    # The order depends only on the content of both, so the order of windows cannot change the result.
    better, worse = sorted((proposal, other), key=_rank)
    if better.form is worse.form and better.relation is worse.relation:
        return better
    relation = f" {worse.relation.value}" if worse.relation else ""
    note = f"read with a neighbouring part of the card, the engine takes it for {worse.form.value}{relation}"
    return better if note in better.notes else replace(better, notes=(*better.notes, note))


def _rank(proposal: Proposal) -> tuple[int, int, int, bytes]:
    stated = (proposal.model, proposal.version, proposal.evaluation, proposal.grader, proposal.elicitation, proposal.relative_to)
    missing = sum(field is None for field in stated) - len(proposal.comparisons) - len(proposal.awareness)
    return _RANKS[proposal.confidence], missing, proposal.anchor.start - proposal.anchor.stop, canonical_bytes(to_document(proposal))


def _name_kind(proposal: Proposal) -> _Property:
    return proposal.slug, proposal.property.class_, proposal.property.direction, proposal.property.suppressible


def _widen(property_spec: PropertySpec, other: PropertySpec) -> PropertySpec:
    low, high = min(property_spec.range[0], other.range[0]), max(property_spec.range[1], other.range[1])
    return replace(property_spec, range=(low, high))


def _give_names(kinds: Iterable[_Property]) -> dict[_Property, str]:
    """A free name for each: its own, or with the next number."""
    kinds = list(kinds)
    first = {kind[0]: kind for kind in reversed(kinds)}
    names = {kind: slug for slug, kind in first.items()}
    for kind in kinds:
        number = 2
        while kind not in names:
            slug = f"{kind[0]}-{number}"
            if slug not in names.values():
                names[kind] = slug
            number += 1
    return names


# The engine `claude`. A quote always comes from the card: the model points at a passage, and the record is cut from the
# card's text and anchored. What cannot be anchored is dropped, counted and named. The model points at figures too. The
# value is read off the card's words by the rules' own readers, else it is None with a note. Names, evaluation and
# grader must be the card's own words. Cost: paraphrases, and figures in words that our readers miss, are lost.

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


def propose_by_claude(card: CardText, outline: Outline, source: CardSource, asking: QuestionSettings, session: AnswerSession) -> Proposals:
    """Return the claims that the model finds in a card, as far as the card says what they say.

    Windows without a readable answer are named in `notes`, with the reason; everything that was offered and does not stand in the card is
    in `dropped`. The same card, model, windows and prompt with the same folder send nothing twice.

    Raises:
        UnavailableError: no part of the card got a readable answer.
        ConflictError: the run folder holds the proposing of another card, by another model, or with other windows or words.
        CaveatError: what `session.ask` raises where it ends before its last call.
    """
    keep_asking(session.store, card, outline, asking)
    answered = read_answers(session, card, outline, asking)
    # A model that answers nothing is an error without a file. An empty file would be recorded as a card without claims.
    # Cost: scripts get exit code 3.
    _check_read(answered, str(session.store.path.parent))
    ground = CardGround(card, PassageContext(outline, card.text), source)
    windows: list[tuple[Proposal, ...]] = []
    dropped: list[RejectedOffer] = []
    for window in answered:
        proposals, lost = ground.check(window.window, window.reading)
        windows.append(proposals)
        dropped += lost
    return Proposals(
        card=source.card,
        document=card.sha256,
        title=source.title,
        engine=Engine.CLAUDE,
        by=_name(answered, asking),
        passages=len({line.passage for window in answered if window.reading.excluded is None for line in window.window.lines}),
        proposals=unify_properties(merge_windows(windows)),
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


def _name(answered: Sequence[AnsweredWindow], asking: QuestionSettings) -> str:
    models = sorted({window.reading.model for window in answered if window.reading.model is not None})
    return f"claude {', '.join(models)}" if models else f"claude {asking.model}, which answered nothing"


def _tell_unread(answered: Sequence[AnsweredWindow], outline: Outline) -> Iterator[str]:
    unread = [window for window in answered if window.reading.excluded is not None]
    if unread:
        yield f"{len(unread)} of {len(answered)} windows of the card were NOT read; no claim of theirs is proposed:"
    for window in unread:
        code = str(window.reading.excluded)
        reason = _REASONS.get(code, f"the call failed with {code} (--retry-failed sends it again)")
        yield f"not read: {describe_window(window.window, outline)}: {reason}"
