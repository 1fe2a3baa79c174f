"""The station of the judge: every answered response of a run gets a verdict or the reason why it has none.

Calls go through the engine of the replay and are kept in the same store, by the digest of the whole request and an index: what was
answered is never asked again. Verdicts are read from the store alone, so that a judging that was killed goes on where it stood.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from audit.replay.engine import INTERRUPTED, UNSENT
from audit.replay.store import Call, RunStore
from audit.replay.summary import RunSummary
from audit.score.judge_answer import read_verdict
from audit.score.judge_plan import Judgment, check_model, find_attempts, find_judged_models, plan_judgments
from audit.score.judge_prompt import count_repeats
from audit.score.scorers import check_scorable, digest_scorer
from audit.score.station import keep_scorer
from audit.trouble import Trouble
from registry.records.replay import Task
from registry.records.response import Purpose, Response
from registry.records.score import Score
from registry.records.scorer import JudgeScorer

Ask = Callable[[Iterable[Call]], RunSummary]
"""Sends calls that have no outcome yet and puts what comes back into the store: the engine with its endpoint, budget and progress."""

_REFUSED = Trouble.NOT_ACCEPTED.value
_BLOCK = 500
"""Scores that are written down at once."""
_SCHEMA__REFUSED = re.compile(r"output_config|output_format|json_schema|structured output", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was done."""

    verdicts: int
    """Scores that were written down now, those with a reason included."""
    waiting: int
    """Verdicts that are still to be asked for: the run was stopped or its budget is spent."""
    structured: bool
    """Whether the endpoint takes a schema for its answers, as far as is known."""
    asked: tuple[RunSummary, ...]
    """What the engine tells of its runs: the first call alone, the others, and those in another form."""

    @property
    def is_stopped(self) -> bool:
        """Whether the engine ended before its last call."""
        return bool(self.asked) and _is_over(self.asked[-1])


def judge_run(
    store: RunStore, scorer: JudgeScorer, tasks: Mapping[str, Task], ask: Ask, *, ask_first: Ask | None = None, retry: bool = False
) -> Judged:
    """Ask for every verdict that is missing, and write down what came of all of them.

    The first call is made alone: it shows who answers, and whether the endpoint takes a schema. One that refuses the schema is asked
    in words alone from there on, which the store remembers. Whatever stops the engine, the answers that came are written down.

    Args:
        tasks: by identifier.
        ask_first: for the first call, where the others go in batches; None: as the others.
        retry: ask again where there was no verdict.

    Raises:
        InputError: a task of the run is not among *tasks*, or has no answer that the judge is to be shown.
        ConflictError: the judge is a model that it would judge; nothing more is asked.
    """
    judging = _Judging(store, scorer, tasks, retry=retry)
    asked = judging.ask_first(ask_first or ask)
    if asked and not _is_over(asked[-1]):
        asked += judging.ask_all(ask)
    done = judging.write_scores()
    return Judged(verdicts=done.written, waiting=done.waiting, structured=takes_schema(store, scorer), asked=tuple(asked))


def takes_schema(store: RunStore, scorer: JudgeScorer) -> bool:
    """Return whether the judge's endpoint takes a schema, as far as is known: yes, until it refused one."""
    return store.find_document(_name(scorer)) is None


@dataclass(slots=True)
class _Done:
    written: int = 0
    waiting: int = 0


def count_judgments(store: RunStore, scorer: JudgeScorer) -> int:
    """Return how many verdicts *scorer* gives the responses that have an answer."""
    answered = (one.key for one in store.list_responses(Purpose.REPLAY) if one.failure is None)
    return sum(count_repeats(scorer, key) for key in answered)


class _Judging:
    """One judging of one run."""

    def __init__(self, store: RunStore, scorer: JudgeScorer, tasks: Mapping[str, Task], *, retry: bool) -> None:
        self._store, self._scorer, self._tasks = store, scorer, tasks
        check_scorable(scorer, list(tasks.values()))
        self._judged = find_judged_models(store)
        check_model(scorer, scorer.model, self._judged)
        self._digest = keep_scorer(store, scorer)
        self._attempts = find_attempts(store.list_scores(self._digest), retry=retry)

    def plan(self) -> Iterator[Judgment]:
        """Give every judgment, in the form that the endpoint takes as far as is known."""
        structured = takes_schema(self._store, self._scorer)
        return plan_judgments(self._store, self._scorer, self._tasks, self._attempts, structured=structured)

    def ask_first(self, ask: Ask) -> list[RunSummary]:
        """Make the first call that is to be made, again in words alone if the schema is refused; empty when there is none."""
        asked: list[RunSummary] = []
        while (first := next(filter(self._is_waiting, self.plan()), None)) is not None:
            asked.append(ask([first.call]))
            answer = self._store.find_response(first.call.key)
            if answer is not None and answer.model_returned is not None:
                check_model(self._scorer, answer.model_returned, self._judged)
            if answer is None or not _refuses_schema(first, answer):
                break
            self._remember_refusal()
        return asked

    def ask_all(self, ask: Ask) -> list[RunSummary]:
        """Make every call that is to be made; those whose schema was refused once more, in words alone."""
        asked = [ask(one.call for one in self.plan())]
        if asked[-1].failures.get(_REFUSED) and any(self._is_refused(one) for one in self.plan()):
            self._remember_refusal()
            asked.append(ask(one.call for one in self.plan()))
        return asked

    def write_scores(self) -> _Done:
        """Write down what the answers in the store come to, where that is not written yet."""
        done = _Done()
        block: list[Score] = []
        for one in self.plan():
            answer = self._store.find_response(one.call.key)
            if answer is None or _is_unsent(answer) or _refuses_schema(one, answer):
                done.waiting += 1
                continue
            check_model(self._scorer, answer.model_returned or self._scorer.model, self._judged)
            score = _build_score(self._scorer, one, answer)
            if score not in self._store.find_scores(self._digest, score.response):
                block.append(score)
            if len(block) == _BLOCK:
                done.written += _add(self._store, block)
        done.written += _add(self._store, block)
        return done

    def _is_waiting(self, one: Judgment) -> bool:
        """Whether the call has no outcome that counts."""
        return self._store.find_outcomes([one.call.key]).get(one.call.key, INTERRUPTED) in UNSENT

    def _is_refused(self, one: Judgment) -> bool:
        answer = self._store.find_response(one.call.key) if one.structured else None
        return answer is not None and _refuses_schema(one, answer)

    def _remember_refusal(self) -> None:
        self._store.put_document(_name(self._scorer), {"takes_schema": False})


def _is_over(summary: RunSummary) -> bool:
    return summary.stopped is not None or summary.interrupted


def _add(store: RunStore, block: list[Score]) -> int:
    count = len(block)
    store.add_scores(block)
    block.clear()
    return count


def _build_score(scorer: JudgeScorer, one: Judgment, answer: Response) -> Score:
    """The score; without a judge's name after a call that nobody answered."""
    mark = read_verdict(scorer, answer)
    detail = {
        **mark.detail,
        "structured": one.structured,
        "judge_saw_all": one.shown.is_whole,
        "shown_chars": len(one.shown.text),
        "total_chars": one.shown.total_chars,
        "mentions_scoring": one.mentions_scoring,
    }
    return Score(
        response=one.response,
        scorer=digest_scorer(scorer),
        score=mark.score,
        excluded_reason=mark.excluded_reason,
        judge=answer.model_returned,
        repeat=one.repeat if scorer.repeats > 1 and scorer.repeat_share > 0 else None,
        dimensions=mark.dimensions,
        detail={**detail, "attempt": one.attempt} if one.attempt else detail,
        call=one.call.key,
    )


def _is_unsent(answer: Response) -> bool:
    return answer.failure is not None and answer.failure.code in UNSENT


def _refuses_schema(one: Judgment, answer: Response) -> bool:
    """Whether the call failed because the endpoint does not know the field that holds the schema."""
    failure = answer.failure
    return one.structured and failure is not None and failure.code == _REFUSED and bool(_SCHEMA__REFUSED.search(failure.message))


def _name(scorer: JudgeScorer) -> str:
    return f"judge {digest_scorer(scorer)}"
