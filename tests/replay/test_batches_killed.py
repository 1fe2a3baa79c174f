"""A run by batches that is killed at any instant goes on where it was: the endpoint's count of requests is the witness."""

import asyncio
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from audit.endpoints.endpoint_opening import open_endpoint
from audit.records.model_response import Purpose
from audit.replay.message_batches import BatchSettings, run_batches
from audit.replay.run_store import Call, RunStore, build_call, open_store
from registry.records.replay_run import Policy
from tests.endpoint.server import KEY, MODEL, Asked, Broken, Endpoint, Outcome, run_endpoint
from tests.replay.processes import Started


def make_calls() -> list[Call]:
    bodies = ({"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": f"q{n}"}]} for n in range(7))
    return [build_call(body, index=0, purpose=Purpose.REPLAY) for body in bodies]


async def make_batches(url: str, store: RunStore, calls: list[Call]) -> None:
    """Make *calls* in batches of three, without waiting longer than needed."""
    policy = Policy(model=MODEL, max_tokens=9, base_url=url)
    batching = BatchSettings(requests=3, first_wait_s=0.0, longest_wait_s=0.0, grace_s=0.0)
    async with open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY}, timeout_s=5) as endpoint:
        await run_batches(store, calls, endpoint, batching=batching)


def make_in(url: str, folder: str) -> None:
    """Make the calls in batches into the run folder *folder*."""
    store = open_store(Path(folder), create=True)
    asyncio.run(make_batches(url, store, make_calls()))
    store.close()


MOMENTS = [
    ("before", "POST", "/batches", 1),
    ("after", "POST", "/batches", 1),
    ("after", "POST", "/batches", 3),
    ("after", "GET", "", 1),
    ("before", "GET", "/results", 1),
    ("after", "GET", "/results", 3),
]


@pytest.mark.parametrize(("when", "method", "path_end", "turn"), MOMENTS)
def test_a_killed_run_submits_no_call_twice_and_loses_none(tmp_path: Path, when: str, method: str, path_end: str, turn: int) -> None:
    """SIGKILL at the endpoint's *turn*-th request of a kind, carried out or not; running again completes every call, each accepted once."""
    child: list[Started] = []
    left = [turn]
    dead = threading.Event()

    def kill(asked: Asked) -> Outcome | None:
        if asked.method != method or not asked.path.endswith(path_end):
            return None
        left[0] -= 1
        if left[0]:
            return None
        child[0].send_signal(signal.SIGKILL)
        dead.wait(30)
        return Broken.CLOSE

    server = Endpoint(**{f"{when}_batch": kill})
    with run_endpoint(server):
        child.append(Started(make_in, server.url, str(tmp_path / "run"), folder=tmp_path))
        child[0].communicate(timeout=60)
        dead.set()
        assert child[0].returncode == -signal.SIGKILL
        store = open_store(tmp_path / "run")
        asyncio.run(make_batches(server.url, store, make_calls()))

    answers = [one for one in store.list_responses(Purpose.REPLAY) if one.failure is None]
    open_intents = store.list_lost()
    store.close()
    accepted = Counter(one["custom_id"][:60] for batch in server.batches.values() for one in batch["requests"])
    assert set(accepted.values()) == {1}
    assert len(answers) == len(accepted) == 7
    assert not open_intents
