"""Runs by batches against an endpoint on loopback, for their tests."""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from audit.endpoints.endpoint_opening import open_endpoint
from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import CallSettings, HaltRequest
from audit.replay.message_batches import BatchSettings, BatchSummary, run_batches
from audit.replay.run_store import Call, RunStore, build_call
from registry.records.replay_run import Policy
from tests.endpoint.server import KEY, MODEL, Asked, Endpoint, Outcome

NOW = datetime.now(UTC)
FAST = BatchSettings(first_wait_s=0.0, longest_wait_s=0.0, grace_s=0.0)


def make_calls(count: int, *, model: str = MODEL) -> list[Call]:
    bodies = ({"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": f"q{n}"}]} for n in range(count))
    return [build_call(body, index=0, purpose=Purpose.REPLAY) for body in bodies]


def run(
    server: Endpoint,
    store: RunStore,
    calls: list[Call],
    *,
    batching: BatchSettings = FAST,
    settings: CallSettings | None = None,
    policy: Policy | None = None,
    **around: Any,
) -> BatchSummary:
    policy = policy or Policy(model=MODEL, max_tokens=9, base_url=server.url)

    async def go() -> BatchSummary:
        async with open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}, timeout_s=5) as endpoint:
            return await run_batches(store, calls, endpoint, settings, batching=batching, **around)

    return asyncio.run(go())


def read_outcomes(store: RunStore) -> dict[str, Response]:
    return {one.key: one for one in store.list_responses(Purpose.REPLAY)}


def list_submitted(server: Endpoint) -> Counter[str]:
    """How often each question was accepted in a batch, whatever became of it."""
    return Counter(one["params"]["messages"][0]["content"] for batch in server.batches.values() for one in batch["requests"])


def stop_when(stop: HaltRequest, text: str) -> Callable[[str], None]:
    """Press Ctrl-C when something is told that holds *text*."""
    return lambda told: stop.request() if text in told else None


def on(path_end: str, outcome: Outcome, *, method: str = "POST", times: int = 1) -> Callable[[Asked], Outcome | None]:
    """Give *outcome* to the first *times* requests whose path ends so."""
    left = [times]

    def script(asked: Asked) -> Outcome | None:
        if asked.method != method or not asked.path.endswith(path_end) or not left[0]:
            return None
        left[0] -= 1
        return outcome

    return script
