"""Which verdicts a judge is asked for: one for each answered response of a run, several for those that the seed draws."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from audit.replay.store import Call, RunStore, build_call
from audit.score.address import addresses_judge
from audit.score.judge_prompt import Shown, build_body, count_repeats, show_response
from registry.errors import ConflictError, Fault, InputError
from registry.records.replay import Task
from registry.records.response import Purpose, Response
from registry.records.score import Score
from registry.records.scorer import JudgeScorer

ATTEMPT = 1_000_000
"""Step of the index from one attempt at a verdict to the next: repeats are counted below it."""
REASON = "judge-"
"""Beginning of every reason for which a verdict is excluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One verdict that is asked for."""

    response: str
    """Key of the response."""
    repeat: int
    attempt: int
    """From 0; above it only where an earlier attempt gave no verdict and somebody asked for another."""
    structured: bool
    """Whether the endpoint is asked to hold the answer to a schema."""
    shown: Shown
    call: Call

    @property
    def mentions_scoring(self) -> bool:
        """Whether the response, as shown, speaks to whoever rates it."""
        return addresses_judge(self.shown.text)


def plan_judgments(
    store: RunStore, scorer: JudgeScorer, tasks: Mapping[str, Task], attempts: Mapping[tuple[str, int], int], *, structured: bool
) -> Iterator[Judgment]:
    """Give the judgments of every response that has an answer, in the order in which the answers came.

    Args:
        tasks: by identifier.
        attempts: by response and repeat, where it is not the first.
        structured: false where the endpoint is known not to take a schema; verdicts that it gave with one still count.

    Raises:
        InputError: a task of the run is not among *tasks*.
    """
    task_of = find_tasks(store, tasks)
    for response in store.list_responses(Purpose.REPLAY):
        task = task_of.get(response.key)
        if task is None or response.failure is not None:
            continue
        for repeat in range(count_repeats(scorer, response.key)):
            attempt = attempts.get((response.key, repeat), 0)
            yield _plan(store, scorer, task, response, (repeat, attempt), structured=structured)


def find_tasks(store: RunStore, tasks: Mapping[str, Task]) -> dict[str, Task]:
    """Return the task of every response by its key; raises InputError for tasks that are not among *tasks*."""
    found: dict[str, Task] = {}
    missing: dict[str, None] = {}
    for cell, key in store.list_cells():
        if cell.task_id in tasks:
            found.setdefault(key, tasks[cell.task_id])
        else:
            missing[cell.task_id] = None
    if missing:
        advice = "give the tasks that the run was made with"
        found_ = "the run has responses to it, and its prompt is not given"
        raise InputError([Fault(code="task-not-given", where=f"task {one}", found=found_, advice=advice) for one in missing])
    return found


def find_attempts(scores: Iterator[Score], *, retry: bool) -> dict[tuple[str, int], int]:
    """Return by response and repeat the attempt that counts, where it is not the first.

    Args:
        scores: those of the judge that are in the store.
        retry: ask again for verdicts that were excluded: a failed call, or an answer that is no verdict.
    """
    attempts: dict[tuple[str, int], int] = {}
    for one in scores:
        made = (one.detail or {}).get("attempt", 0)
        attempt = made if isinstance(made, int) else 0
        if retry and (one.excluded_reason or "").startswith(REASON):
            attempt += 1
        if attempt:
            attempts[one.response, one.repeat or 0] = attempt
    return attempts


def find_judged_models(store: RunStore) -> frozenset[str]:
    """Return the models of the responses, by the names asked for and returned."""
    names = (name for one in store.list_responses(Purpose.REPLAY) for name in (one.model_requested, one.model_returned))
    return frozenset(name for name in names if name is not None)


def check_model(scorer: JudgeScorer, judge: str, judged: frozenset[str]) -> None:
    """Raise unless *judge* is none of the *judged* models, or may be.

    Raises:
        ConflictError: it is one of them.
    """
    if judge in judged and not scorer.allow_same_model:
        found = f"{judge} would judge its own answers: a model may prefer them, and by how much may depend on the context"
        advice = "name another model, or set allow_same_model: true, which provenance then says"
        raise ConflictError(Fault(code="judge-is-judged", where="scoring.model", found=found, advice=advice))


def _plan(store: RunStore, scorer: JudgeScorer, task: Task, response: Response, place: tuple[int, int], *, structured: bool) -> Judgment:
    """The judgment, by schema where that is possible or was so when it was answered."""
    repeat, attempt = place
    index = repeat + ATTEMPT * attempt
    call = build_call(build_body(scorer, task, response, structured=True), index=index, purpose=Purpose.JUDGE)
    if not structured and not store.find_settled([call.key], failed=False):
        call = build_call(build_body(scorer, task, response, structured=False), index=index, purpose=Purpose.JUDGE)
    return Judgment(
        response=response.key,
        repeat=repeat,
        attempt=attempt,
        structured="output_config" in call.body,
        shown=show_response(scorer, response),
        call=call,
    )
