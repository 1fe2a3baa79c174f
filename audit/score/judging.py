"""A run judged by a model: the calls, what they would cost, and the account of the verdicts."""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from audit.endpoints.model_answers import RequestTrouble
from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import INTERRUPTED, UNSENT, RunSummary
from audit.replay.run_budget import Prices, SpentAmount, estimate_call
from audit.replay.run_store import Call, RunStore, Score
from audit.score.judge_requests import (
    PROMPT,
    REASON,
    Judgment,
    check_model,
    count_repeats,
    digest_rubric,
    find_attempts,
    find_judged_models,
    plan_judgments,
    read_verdict,
)
from audit.score.scorers import check_scorable, digest_scorer, keep_scorer
from audit.statistics.responses import JudgeNoise, RepeatedResponses, measure_noise
from registry.records.replay_run import Task
from registry.records.specification import JudgeScorer

# Judging: every answered response of a run gets a verdict, or the reason why it has none.
#
# Calls go through the engine of the replay and are kept in the same store under the digest of the whole request and an
# index. An answered call is never made again. Verdicts are read only from the store, so a judging that was killed
# continues where it stopped.

Ask = Callable[[Iterable[Call]], RunSummary]
"""Sends calls that have no outcome yet and puts what comes back into the store: the engine with its endpoint, budget and progress."""

_REFUSED = RequestTrouble.NOT_ACCEPTED.value
_BLOCK = 500
"""Scores that are written down at once."""
_SCHEMA__REFUSED = re.compile(r"output_config|output_format|json_schema|structured output", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingSummary:
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
) -> JudgingSummary:
    """Ask for every verdict that is missing, and write down what came of all of them.

    The first call is made by itself: it shows who answers, and whether the endpoint takes a schema. One that refuses the schema is asked
    in words from there on, which the store remembers. Whatever stops the engine, the answers that came are written down.

    Args:
        tasks: by identifier.
        ask_first: for the first call, where the others go in batches; None: as the others.
        retry: ask again where there was no verdict.

    Raises:
        InputError: a task of the run is not among *tasks*, or has no answer that the judge is to be shown.
        ConflictError: the judge is a model that it would judge; nothing more is asked.
    """
    judging = _JudgingSession(store, scorer, tasks, retry=retry)
    # One call first: a wrong judge or a refused schema costs one call and not thousands.
    summaries = judging.ask_first(ask_first or ask)
    if summaries and not _is_over(summaries[-1]):
        summaries += judging.ask_all(ask)
    # Also after a stop: the answers that arrived are paid for.
    done = judging.write_scores()
    return JudgingSummary(verdicts=done.written, waiting=done.waiting, structured=takes_schema(store, scorer), asked=tuple(summaries))


def takes_schema(store: RunStore, scorer: JudgeScorer) -> bool:
    """Return whether the judge's endpoint takes a schema, as far as is known: yes, until it refused one."""
    return store.find_document(_name(scorer)) is None


@dataclass(slots=True)
class _JudgingProgress:
    written: int = 0
    waiting: int = 0


def count_judgments(store: RunStore, scorer: JudgeScorer) -> int:
    """Return how many verdicts *scorer* gives the responses that have an answer."""
    answered = (response.key for response in store.list_responses(Purpose.REPLAY) if response.failure is None)
    return sum(count_repeats(scorer, key) for key in answered)


class _JudgingSession:
    """One judging of one run."""

    def __init__(self, store: RunStore, scorer: JudgeScorer, tasks: Mapping[str, Task], *, retry: bool) -> None:
        self._store, self._scorer, self._tasks = store, scorer, tasks
        check_scorable(scorer, list(tasks.values()))
        self._judged = find_judged_models(store)
        # A model may prefer its own answers, and by an amount that depends on the context. That would look like an
        # effect of the context.
        check_model(scorer, scorer.model, self._judged)
        self._digest = keep_scorer(store, scorer)
        self._attempts = find_attempts(store.list_scores(self._digest), retry=retry)

    def plan(self) -> Iterator[Judgment]:
        """Give every judgment, in the form that the endpoint takes as far as is known."""
        structured = takes_schema(self._store, self._scorer)
        return plan_judgments(self._store, self._scorer, self._tasks, self._attempts, structured=structured)

    def ask_first(self, ask: Ask) -> list[RunSummary]:
        """Make the first call that is to be made, again in words only if the schema is refused; empty when there is none."""
        summaries: list[RunSummary] = []
        while (first := next(filter(self._is_waiting, self.plan()), None)) is not None:
            summaries.append(ask([first.call]))
            answer = self._store.find_response(first.call.key)
            if answer is not None and answer.model_returned is not None:
                # The endpoint may answer with another model than the one requested.
                check_model(self._scorer, answer.model_returned, self._judged)
            if answer is None or not _refuses_schema(first, answer):
                break
            self._remember_refusal()
        return summaries

    def ask_all(self, ask: Ask) -> list[RunSummary]:
        """Make every call that is to be made; those with a schema that was refused once more, in words only."""
        summaries = [ask(judgment.call for judgment in self.plan())]
        # A refusal of the schema may also appear only among the other calls.
        if summaries[-1].failures.get(_REFUSED) and any(self._is_refused(judgment) for judgment in self.plan()):
            self._remember_refusal()
            summaries.append(ask(judgment.call for judgment in self.plan()))
        return summaries

    def write_scores(self) -> _JudgingProgress:
        """Write down what the answers in the store come to, where that is not written yet."""
        done = _JudgingProgress()
        block: list[Score] = []
        for judgment in self.plan():
            answer = self._store.find_response(judgment.call.key)
            # A refused schema is a fault of the request's form. It is asked again in words and is no failed verdict.
            if answer is None or _is_unsent(answer) or _refuses_schema(judgment, answer):
                done.waiting += 1
                continue
            check_model(self._scorer, answer.model_returned or self._scorer.model, self._judged)
            score = _build_score(self._scorer, judgment, answer)
            if score not in self._store.find_scores(self._digest, score.response):
                block.append(score)
            if len(block) == _BLOCK:
                done.written += _add(self._store, block)
        done.written += _add(self._store, block)
        return done

    def _is_waiting(self, judgment: Judgment) -> bool:
        """Whether the call has no outcome that counts."""
        return self._store.find_outcomes([judgment.call.key]).get(judgment.call.key, INTERRUPTED) in UNSENT

    def _is_refused(self, judgment: Judgment) -> bool:
        answer = self._store.find_response(judgment.call.key) if judgment.structured else None
        return answer is not None and _refuses_schema(judgment, answer)

    def _remember_refusal(self) -> None:
        self._store.put_document(_name(self._scorer), {"takes_schema": False})


def _is_over(summary: RunSummary) -> bool:
    return summary.stopped is not None or summary.interrupted


def _add(store: RunStore, block: list[Score]) -> int:
    count = len(block)
    store.add_scores(block)
    block.clear()
    return count


def _build_score(scorer: JudgeScorer, judgment: Judgment, answer: Response) -> Score:
    """The score; without a judge's name after an unanswered call."""
    mark = read_verdict(scorer, answer)
    detail = {
        **mark.detail,
        "structured": judgment.structured,
        "judge_saw_all": judgment.shown.is_whole,
        "shown_chars": len(judgment.shown.text),
        "total_chars": judgment.shown.total_chars,
        "mentions_scoring": judgment.mentions_scoring,
    }
    return Score(
        response=judgment.response,
        scorer=digest_scorer(scorer),
        score=mark.score,
        excluded_reason=mark.excluded_reason,
        judge=answer.model_returned,
        repeat=judgment.repeat if scorer.repeats > 1 and scorer.repeat_share > 0 else None,
        dimensions=mark.dimensions,
        detail={**detail, "attempt": judgment.attempt} if judgment.attempt else detail,
        call=judgment.call.key,
    )


def _is_unsent(answer: Response) -> bool:
    return answer.failure is not None and answer.failure.code in UNSENT


def _refuses_schema(judgment: Judgment, answer: Response) -> bool:
    """Whether the call failed because the endpoint does not know the field that holds the schema."""
    failure = answer.failure
    return judgment.structured and failure is not None and failure.code == _REFUSED and bool(_SCHEMA__REFUSED.search(failure.message))


def _name(scorer: JudgeScorer) -> str:
    return f"judge {digest_scorer(scorer)}"


# Counts of a judging by arm, and the provenance of the judge.

_COUNTED = ("structured", "attempt", "judge_saw_all", "mentions_scoring")
"""What of a score's detail is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmJudgments:
    """Responses of one arm, counted once each by their first judging."""

    arm: str
    responses: int
    """Places in the design, also those without an answer."""
    judged: int
    """With a verdict."""
    excluded: dict[str, int] = field(default_factory=dict)
    """Judged without a verdict, by reason."""
    cut: int = 0
    """Of which the judge did not see all."""
    mentions_scoring: int = 0
    """That speak to whoever rates them, or hold a verdict; found by plain forms, not by reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingAccount:
    """What one judge made of one run so far."""

    scorer: str
    """SHA-256 of the scorer."""
    rubric: str
    """SHA-256 of what the judge is told to do."""
    model_requested: str
    models_returned: tuple[str, ...]
    arms: tuple[ArmJudgments, ...]
    drawn: int
    """Responses that were judged more than once."""
    structured: int
    """Judgings that were asked for with a schema; an endpoint may take it and not heed it."""
    plain: int
    """Judgings for which words alone asked for the form."""
    retried: int
    """Judgings that are not the first attempt."""
    noise: JudgeNoise | None
    """Spread of the verdicts on the same response, as shares of the range; None when none has two verdicts."""


class _ScoreRow(NamedTuple):
    """What counts of one score; a run has many of them."""

    response: str
    repeat: int
    score: float | None
    reason: str | None
    marks: frozenset[str]


def account_judging(store: RunStore, scorer: JudgeScorer) -> JudgingAccount:
    """Return what the scores of *scorer* in *store* come to."""
    answered: set[str] = set()
    rows = [_read(score, answered) for score in store.list_scores(digest_scorer(scorer))]
    # Responses are counted once, by their first judging. Repeats measure noise and would give the drawn responses more
    # weight.
    first = {row.response: row for row in rows if row.repeat == 0}
    by_arm: dict[str, list[_ScoreRow | None]] = defaultdict(list)
    for cell, key in store.list_cells():
        by_arm[cell.arm].append(first.get(key))
    structured = sum("structured" in row.marks for row in rows)
    return JudgingAccount(
        scorer=digest_scorer(scorer),
        rubric=digest_rubric(scorer),
        model_requested=scorer.model,
        models_returned=tuple(sorted(answered)),
        arms=tuple(_count(arm, arm_rows) for arm, arm_rows in sorted(by_arm.items())),
        drawn=len({row.response for row in rows if row.repeat}),
        structured=structured,
        plain=len(rows) - structured,
        retried=sum("attempt" in row.marks for row in rows),
        noise=_measure(rows, scorer),
    )


def describe_judge(scorer: JudgeScorer, account: JudgingAccount) -> str:
    """Return who judged by what, as `Provenance.judge` says it: model as returned, rubric, dimensions, and what was shown."""
    returned = ", ".join(account.models_returned)
    name = returned if returned in ("", scorer.model) else f"{returned} (asked for as {scorer.model})"
    dimensions = ", ".join(f"{dimension.name} ({dimension.low} to {dimension.high})" for dimension in scorer.dimensions)
    parts = [
        f"judge {name or scorer.model}",
        f"rubric sha256:{account.rubric} ({PROMPT})",
        f"dimensions {dimensions}; score: {scorer.score}",
        f"context hidden, {_describe_shown(scorer, account)}",
    ]
    if scorer.show_answer:
        parts.append("the right answer shown")
    if scorer.allow_same_model:
        parts.append("the judge may be the model that it judges")
    return "; ".join(parts)


def describe_repeats(account: JudgingAccount) -> str | None:
    """Return how far verdicts on the same response vary, as `Provenance.judge_uncertainty` says it; None when none was judged twice."""
    if account.noise is None:
        return None
    total = sum(arm.responses for arm in account.arms)
    alike = account.noise.identical / account.noise.responses
    return (
        f"{account.noise.responses} of {total} responses have several verdicts ({account.noise.scorings} in all): {100 * alike:.1f} % of "
        f"them got the same score each time; standard deviation within a response {account.noise.variance**0.5:.3f} of the range"
    )


def describe_judging(account: JudgingAccount) -> list[str]:
    """Return the account in lines for a person."""
    lines = [f"{arm.arm}: {_describe_arm(arm)}" for arm in account.arms]
    if account.plain and account.structured:
        lines.append(f"form: {account.structured} verdicts requested with a schema, {account.plain} only in words")
    if account.retried:
        lines.append(f"attempts: {account.retried} judgings are not the first of their response")
    if (repeats := describe_repeats(account)) is not None:
        lines.append(f"repeats: {repeats}")
    return lines


def _describe_arm(arm: ArmJudgments) -> str:
    parts = [f"{arm.judged} of {arm.responses} responses judged"]
    parts += [f"{count} {reason}" for reason, count in sorted(arm.excluded.items())]
    if arm.cut:
        parts.append(f"{arm.cut} not seen whole")
    if arm.mentions_scoring:
        parts.append(f"{arm.mentions_scoring} mention scoring or a grader (found by plain forms)")
    return ", ".join(parts)


def _describe_shown(scorer: JudgeScorer, account: JudgingAccount) -> str:
    if scorer.longest_chars is None:
        return "every response shown whole"
    cut = ", ".join(f"{arm.cut} in {arm.arm}" for arm in account.arms)
    return f"the first {scorer.longest_chars} characters of a response shown (cut: {cut})"


def _read(score: Score, answered: set[str]) -> _ScoreRow:
    if score.judge is not None:
        answered.add(score.judge)
    marks = frozenset(name for name in _COUNTED if (score.detail or {}).get(name))
    # A run has many rows and few reasons, so equal texts are shared.
    reason = None if score.excluded_reason is None else sys.intern(score.excluded_reason)
    return _ScoreRow(response=score.response, repeat=score.repeat or 0, score=score.score, reason=reason, marks=marks)


def _count(arm: str, rows: Sequence[_ScoreRow | None]) -> ArmJudgments:
    known = [row for row in rows if row is not None]
    reasons = Counter(row.reason for row in known if row.reason is not None)
    return ArmJudgments(
        arm=arm,
        responses=len(rows),
        judged=sum(row.score is not None for row in known),
        excluded={reason: count for reason, count in reasons.items() if reason.startswith(REASON)},
        cut=sum("judge_saw_all" not in row.marks for row in known),
        mentions_scoring=sum("mentions_scoring" in row.marks for row in known),
    )


def _measure(rows: Iterable[_ScoreRow], scorer: JudgeScorer) -> JudgeNoise | None:
    """The spread of repeated verdicts, in shares of the range of the score."""
    scale = next((dimension for dimension in scorer.dimensions if dimension.name == scorer.score), scorer.dimensions[0])
    known = [(row.response, (row.score - scale.low) / (scale.high - scale.low)) for row in rows if row.score is not None]
    if not known:
        return None
    names = {key: place for place, key in enumerate(dict.fromkeys(key for key, _ in known))}
    of_row = np.array([names[key] for key, _ in known], dtype=np.intp)
    _, first = np.unique(of_row, return_index=True)
    return measure_noise(RepeatedResponses(first=first, of_row=of_row), np.array([value for _, value in known]))


# The cost of a judging before a call is made.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingPlan:
    """Verdicts of a run that are asked for, and what those still to be asked may come to."""

    judgments: int
    """All verdicts: one for each answered response, more for those that are judged again."""
    settled: int
    """That have an outcome already, or share the request of another: they cost nothing."""
    amount: SpentAmount
    """Of the calls to be made: input at four bytes a token, and all the output that is allowed; dollars are None without a price."""


def plan_judging(store: RunStore, scorer: JudgeScorer, tasks: Mapping[str, Task], prices: Prices, *, retry: bool = False) -> JudgingPlan:
    """Return what judging the run in *store* would come to; nothing is sent and nothing is written.

    Raises:
        InputError: a task of the run is not among *tasks*, or has no answer that the judge is to be shown.
        ConflictError: the judge is a model that it would judge.
    """
    check_scorable(scorer, list(tasks.values()))
    check_model(scorer, scorer.model, find_judged_models(store))
    attempts = find_attempts(store.list_scores(digest_scorer(scorer)), retry=retry)
    amount, judgments = SpentAmount(), 0
    seen: set[bytes] = set()
    for judgment in plan_judgments(store, scorer, tasks, attempts, structured=takes_schema(store, scorer)):
        judgments += 1
        key = bytes.fromhex(judgment.call.key)
        # Equal answers share one request, which is counted once.
        if key not in seen and store.find_outcomes([judgment.call.key]).get(judgment.call.key, INTERRUPTED) in UNSENT:
            seen.add(key)
            amount += estimate_call(judgment.call.body, prices)
    return JudgingPlan(judgments=judgments, settled=judgments - amount.calls, amount=amount)
