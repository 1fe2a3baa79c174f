"""What a judging would ask for and cost, before a call is made."""

from collections.abc import Mapping
from dataclasses import dataclass

from audit.replay.budget import Amount, estimate_call
from audit.replay.engine import INTERRUPTED, UNSENT
from audit.replay.prices import Prices
from audit.replay.store import RunStore
from audit.score.judge import takes_schema
from audit.score.judge_plan import check_model, find_attempts, find_judged_models, plan_judgments
from audit.score.scorers import check_scorable, digest_scorer
from registry.records.replay import Task
from registry.records.scorer import JudgeScorer


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingPlan:
    """Verdicts of a run that are asked for, and what those still to be asked may come to."""

    judgments: int
    """All verdicts: one for each answered response, more for those that are judged again."""
    settled: int
    """That have an outcome already, or share the request of another: they cost nothing."""
    amount: Amount
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
    amount, judgments = Amount(), 0
    seen: set[bytes] = set()
    for one in plan_judgments(store, scorer, tasks, attempts, structured=takes_schema(store, scorer)):
        judgments += 1
        key = bytes.fromhex(one.call.key)
        if key not in seen and store.find_outcomes([one.call.key]).get(one.call.key, INTERRUPTED) in UNSENT:
            seen.add(key)
            amount += estimate_call(one.call.body, prices)
    return JudgingPlan(judgments=judgments, settled=judgments - amount.calls, amount=amount)
