"""Runs of calls against an endpoint on loopback, for the tests of the engine."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from audit.endpoints.endpoint_opening import open_endpoint
from audit.endpoints.model_answers import EndpointAnswer
from audit.endpoints.model_endpoint import Endpoint
from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import CallSettings, HaltRequest, RunSummary, run_calls
from audit.replay.request_pacing import RetryLimits
from audit.replay.run_store import Call, RunStore, build_call, open_store
from registry.records.replay_run import Policy
from tests.endpoint.server import KEY, MODEL
from tests.endpoint.server import Endpoint as Server

QUICK = RetryLimits(first_wait_s=0.01, longest_wait_s=0.2)


def make_calls(count: int, *, samples: int = 1, model: str = MODEL, first: int = 0, **body: Any) -> Iterator[Call]:
    """Give the calls of *count* tasks with *samples* each."""
    for task in range(first, first + count):
        whole = {"model": model, "max_tokens": 50, "messages": [{"role": "user", "content": f"task {task}"}], **body}
        for index in range(samples):
            yield build_call(whole, index=index, purpose=Purpose.REPLAY)


def run(server: Server, folder: Path, calls: Iterator[Call], *, key: str = KEY, timeout_s: float = 20.0, **settings: Any) -> RunSummary:
    """Make *calls* into the run folder *folder*, and return what came of them."""
    progress: Callable[[RunSummary], None] | None = settings.pop("progress", None)
    stop: HaltRequest | None = settings.pop("stop", None)
    chosen = CallSettings(**{"patience": QUICK, **settings})

    async def go() -> RunSummary:
        async with open_at(server, key=key, timeout_s=timeout_s) as endpoint:
            return await run_calls(store, calls, endpoint, chosen, progress=progress, stop=stop)

    store = open_store(folder, create=True)
    try:
        return asyncio.run(go())
    finally:
        store.close()


def open_at(server: Server, *, key: str = KEY, timeout_s: float = 20.0, **policy: Any) -> Endpoint:
    """Return the endpoint of a policy for *server*."""
    chosen = Policy(**{"model": MODEL, "max_tokens": 50, "base_url": server.url, **policy})
    return open_endpoint(chosen, environ={"ANTHROPIC_API_KEY": key}, timeout_s=timeout_s)


def send(server: Server, body: dict[str, Any], *, timeout_s: float = 20.0, **policy: Any) -> EndpointAnswer:
    """Send one request to *server*."""

    async def go() -> EndpointAnswer:
        async with open_at(server, timeout_s=timeout_s, **policy) as endpoint:
            return await endpoint.send(body)

    return asyncio.run(go())


def read_all(folder: Path) -> list[Response]:
    """Return the latest outcome of every call in *folder*."""
    store = open_store(folder)
    try:
        return list(store.list_responses(Purpose.REPLAY))
    finally:
        store.close()


def read_store(folder: Path) -> RunStore:
    """Return the open store of *folder*."""
    return open_store(folder)
