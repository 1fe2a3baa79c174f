"""Every window of a card is asked about, once, and again where its answer cannot be read; what was answered is never asked again.

Calls go through the engine of the replay and are kept in a run folder's store, so asking that was killed goes on where it stood.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from audit.propose.about.around import Around
from audit.propose.claude.answer import DIVIDED, MALFORMED, Reading, read_answer
from audit.propose.claude.question import PROMPT, Asking, Question, ask_window
from audit.propose.claude.windows import Window, cut_windows, halve
from audit.replay.budget import Amount, estimate_call
from audit.replay.documents import put_version
from audit.replay.engine import LOST, UNSENT
from audit.replay.prices import Prices
from audit.replay.store import Call, RunStore
from audit.trouble import Trouble
from registry.codec.canonical import Json
from registry.errors import ConflictError, Fault
from registry.records.card import CardText
from registry.records.passage import Outline

Ask = Callable[[Iterable[Call], int], object]
"""Sends calls that have no answer yet, of which there are as many as said, and puts what comes back into the store: the engine with
endpoint, budget and progress. It raises when it ends before its last call, so that no proposals are made from a part."""

_DOCUMENT, _WINDOWS = "proposal", "proposal windows"
_WITHOUT_SCHEMA = "proposal without schema"
"""Kept where the endpoint refused the schema."""
_SCHEMA_REFUSED = re.compile(r"output_config|output_format|json_schema|structured output|schema|grammar", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
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
    amount: Amount
    """Calls still to be made, input tokens at four bytes each, all the output they allow, and dollars (None: a price is missing). A window
    whose answer cannot be read is asked about once more, or in two halves, which is not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One window, or half of one, with what its last answer says."""

    window: Window
    reading: Reading


def plan_calls(card: CardText, outline: Outline, asking: Asking, *, store: RunStore | None = None) -> tuple[Question, ...]:
    """Return the question about every window, in the order of the card: what is known before anything is asked.

    Args:
        store: the run folder's; an endpoint that refused the schema there is asked in words alone. None: not begun.

    Raises:
        ValueError: windows of such a size or overlap cannot be.
    """
    windows = cut_windows(Around(outline, card.text), size=asking.size, overlap=asking.overlap)
    build = partial(ask_window, outline, asking=asking)
    return tuple(_choose(store, partial(build, window)) for window in windows)


def forecast_calls(questions: Sequence[Question], prices: Prices, store: RunStore | None = None) -> WindowForecast:
    """Return what those of *questions* come to that have no answer in *store*; nothing is sent."""
    calls = {one.call.key: one.call for one in questions}
    answered = store.find_settled(calls, failed=False) if store else set()
    amount = sum((estimate_call(call.body, prices) for key, call in calls.items() if key not in answered), Amount())
    return WindowForecast(windows=len(calls), answered=len(answered), amount=amount)


def keep_asking(store: RunStore, card: CardText, outline: Outline, asking: Asking) -> None:
    """Write down in the run folder what is asked; the same again changes nothing, and another part of the same card is added.

    Raises:
        ConflictError: the folder holds the proposing of another card, by another model, or with other windows or words.
    """
    questions = [ask_window(outline, one.window, asking=asking, structured=False) for one in plan_calls(card, outline, asking)]
    wanted: dict[str, Json] = {
        "card": card.sha256,
        "model": asking.model,
        "prompt": PROMPT,
        "size": asking.size,
        "overlap": asking.overlap,
        "max_tokens": asking.max_tokens,
    }
    known = store.find_document(_DOCUMENT)
    if known is not None and known != wanted:
        raise ConflictError(_tell_difference(store, known, wanted))
    store.put_document(_DOCUMENT, wanted)
    windows = [{"start": one.window.start, "stop": one.window.stop, "request": one.call.request} for one in questions]
    put_version(store, _WINDOWS, {"windows": windows})


def read_answers(session: Session, card: CardText, outline: Outline, asking: Asking) -> tuple[Answered, ...]:
    """Ask for what has no answer in the run folder, and return what all answers say, in the order of the card.

    The first call is made alone: it shows whether the endpoint takes a schema, and one that refuses it is asked in words alone from
    there on. A window whose answer is malformed is asked about once more, one whose answer was refused or cut in two halves; what cannot be
    read then stays without an answer, with its reason. `keep_asking` comes first.
    """
    asked = _Asked(session, outline, asking, Around(outline, card.text))
    first = [_Turn(window=one.window) for one in plan_calls(card, outline, asking)]
    asked.ask_first(first)
    asked.ask(first)
    second = [turn for one in first for turn in asked.follow(one)]
    asked.ask(second)
    return tuple(Answered(window=one.window, reading=asked.read(one)) for one in second)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    window: Window
    attempt: int = 0


class _Asked:
    """One asking about one card."""

    def __init__(self, session: Session, outline: Outline, asking: Asking, around: Around) -> None:
        self._session, self._store = session, session.store
        self._outline, self._asking, self._around = outline, asking, around
        self._built: dict[tuple[_Turn, bool], Question] = {}

    def ask_first(self, turns: Sequence[_Turn]) -> None:
        """Make the first call that waits, again in words alone if the schema is refused."""
        while (first := next(filter(self._is_waiting, map(self._question, turns)), None)) is not None:
            self._session.ask([first.call], 1)
            if not self._refuses_schema(first):
                return
            self._remember_refusal()

    def ask(self, turns: Sequence[_Turn]) -> None:
        """Make every call that waits; those whose schema was refused once more, in words alone."""
        for _ in range(2):
            questions = [self._question(one) for one in turns]
            waiting = [one.call for one in questions if self._is_waiting(one)]
            if waiting:
                self._session.ask(waiting, len(waiting))
            if not any(self._refuses_schema(one) for one in questions):
                return
            self._remember_refusal()

    def read(self, turn: _Turn) -> Reading:
        """Return what the answer to a turn says."""
        return read_answer(self._store.find_response(self._question(turn).call.key))

    def follow(self, turn: _Turn) -> Iterator[_Turn]:
        """Give what is to be read in place of *turn*: itself, the same once more, or its two halves."""
        reason = self.read(turn).excluded
        halves = halve(turn.window, self._around) if reason in DIVIDED else None
        if halves is not None:
            yield from (_Turn(window=one) for one in halves)
        else:
            yield _Turn(window=turn.window, attempt=turn.attempt + 1) if reason in MALFORMED else turn

    def _question(self, turn: _Turn) -> Question:
        return _choose(self._store, lambda *, structured: self._build(turn, structured=structured))

    def _build(self, turn: _Turn, *, structured: bool) -> Question:
        """Each question once: the digest of a request takes milliseconds."""
        if (turn, structured) not in self._built:
            question = ask_window(self._outline, turn.window, asking=self._asking, structured=structured, attempt=turn.attempt)
            self._built[turn, structured] = question
        return self._built[turn, structured]

    def _is_waiting(self, question: Question) -> bool:
        """Whether the engine would send it."""
        key = question.call.key
        known = self._store.find_outcomes([key])
        if key not in known:
            return True
        failure, session = known[key], self._session
        if failure is None or failure in UNSENT:
            return failure is not None
        return session.repeat_lost if failure == LOST else session.retry_failed

    def _refuses_schema(self, question: Question) -> bool:
        """Whether the call failed because the endpoint does not take the field that holds the schema."""
        answer = self._store.find_response(question.call.key) if question.structured else None
        failure = answer.failure if answer is not None else None
        return failure is not None and failure.code == Trouble.NOT_ACCEPTED.value and bool(_SCHEMA_REFUSED.search(failure.message))

    def _remember_refusal(self) -> None:
        self._store.put_document(_WITHOUT_SCHEMA, {"takes_schema": False})


class _Build(Protocol):
    """Makes the question about one window."""

    def __call__(self, *, structured: bool) -> Question: ...


def _choose(store: RunStore | None, build: _Build) -> Question:
    """The question by schema where that is possible, or was so when it was answered; else in words alone."""
    question = build(structured=True)
    if store is None or store.find_document(_WITHOUT_SCHEMA) is None or store.find_settled([question.call.key], failed=False):
        return question
    return build(structured=False)


def _tell_difference(store: RunStore, known: dict[str, Json], wanted: dict[str, Json]) -> Fault:
    told = [f"{name} {known.get(name)}, now {value}" for name, value in wanted.items() if known.get(name) != value]
    found = f"holds proposals that were asked for otherwise: {'; '.join(told)}"
    return Fault(code="run-differs", where=str(store.path.parent), found=found, advice="choose another folder with --run DIR")
