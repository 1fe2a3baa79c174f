"""Run folders as the engine leaves them: cells, intents and outcomes through the store's own doors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from audit.records.model_response import Attempt, Failure, Purpose, ReplayCell, Response
from audit.replay.run_store import PlannedCall, RunStore, build_call, open_store, put_replay
from registry.records.replay_run import Arm, Policy, Replay, Task
from registry.records.specification import Scorer

BEGUN = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Said:
    """What came back to one call: a text, or the code of a failure; None: nothing yet."""

    task: str
    arm: str
    text: str | None = None
    failure: str | None = None
    context: str = "c1"
    sample: int = 0
    stop_reason: str = "end_turn"
    cue_removed: str | None = None


def write_run(folder: Path, tasks: Sequence[Task], said: Iterable[Said], scoring: Scorer | None = None) -> RunStore:
    """Return the open store of a new run folder."""
    store = open_store(folder, create=True)
    arms = (Arm(arm="test", context="test.yaml"), Arm(arm="deploy", context="deploy.yaml"))
    policy = Policy(model="m-1", max_tokens=100)
    put_replay(store, Replay(name="made", tasks="tasks.csv", policy=policy, arms=arms, scoring=scoring), tasks)
    for place, one in enumerate(said):
        _answer(store, one, place)
    return store


def _answer(store: RunStore, one: Said, place: int) -> None:
    cell = ReplayCell(task_id=one.task, arm=one.arm, context_id=one.context, sample=one.sample, cue_removed=one.cue_removed)
    system = f"{one.arm} {one.context} {one.cue_removed}"
    body = {"model": "m-1", "max_tokens": 100, "system": system, "messages": [{"role": "user", "content": one.task}]}
    call = build_call(body, index=one.sample, purpose=Purpose.REPLAY)
    store.add_cells([PlannedCall(cell=cell, call=call)])
    if one.text is None and one.failure is None:
        return
    at = BEGUN + timedelta(seconds=place)
    response = Response(
        key=call.key,
        request=call.request,
        purpose=Purpose.REPLAY,
        model_requested="m-1",
        model_returned=None if one.failure else "m-1",
        text=one.text,
        content=() if one.text is None else ({"type": "text", "text": one.text},),
        stop_reason=None if one.failure else one.stop_reason,
        attempts=(Attempt(status=529 if one.failure else 200, request_id=f"req_{place}", error=None),),
        sent_at=at,
        received_at=at,
        failure=Failure(code=one.failure, message="made") if one.failure else None,
    )
    store.settle([(store.intend([call], at=at.isoformat())[0], response)])
