"""An endpoint on loopback that speaks the Messages API over real HTTP, for the tests and benchmarks: what it answers, a script says.

It checks requests as the hosted API does (key, version header, fields), counts every one of them, and can go wrong in every way that
an endpoint goes wrong. Run as a program it is a separate process of known capacity: `python tests/endpoint/server.py --capacity 200`.
"""

import argparse
import asyncio
import contextlib
import hashlib
import heapq
import json
import math
import re
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any
from urllib.parse import parse_qsl

KEY = "sk-test-loopback-0123456789"
MODEL = "claude-test-1-20261101"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer of the model."""

    text: str | None = "ok"
    thinking: str | None = None
    stop_reason: str = "end_turn"
    model: str | None = None
    """None: the model that was asked for."""
    input_tokens: int = 10
    output_tokens: int = 5
    delay_s: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    broken_off: bool = False
    """Whether a streamed answer ends, without an error, before it is complete."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An error as the API answers it."""

    status: int
    type: str = "api_error"
    message: str = "injected"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    body: bytes | None = None
    """Sent as it is instead of an error document."""


class Broken(Enum):
    """What a connection can do instead of answering."""

    HANG = "hang"
    """Nothing is ever sent."""
    CLOSE = "close"
    """The connection is closed without a byte."""
    HALF = "half"
    """Headers promise more than the body holds, and the connection is closed."""
    STALL = "stall"
    """Headers and half a body, and then nothing, with the connection open."""
    PROSE = "prose"
    """200 with a body that is no JSON."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One HTTP request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    number: int
    """How many requests with this very body came before, from 0."""
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 of the body."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()


Outcome = Reply | Refusal | Broken
Script = Callable[[Asked], Outcome]
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass
class Endpoint:
    """A running endpoint: its address, what it was asked, and how it behaves. All of it may be changed while it runs."""

    script: Script = lambda _asked: Reply()
    models: tuple[str, ...] = (MODEL,)
    key: str = KEY
    batch_polls: int = 1
    """How often a batch is looked at, alone or in a list, while it is in progress."""
    batch_script: Callable[[str, Any], Outcome | str] | None = None
    """By custom id and parameters: an outcome, `expired` or `canceled`; None: what the script says."""
    before_batch: Callable[[Asked], Outcome | None] | None = None
    """What a request about batches gets instead of being carried out; None: it is."""
    after_batch: Callable[[Asked], Outcome | None] | None = None
    """What it gets instead of its answer once it was carried out; None: its answer."""
    edit_results: Callable[[list[str]], list[str]] | None = None
    """What becomes of the lines of results before they are sent."""
    capacity: float | None = None
    """Requests that are answered a second; None: as many as come."""
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    free_at: float = 0.0
    most_at_once: int = 0
    at_once: int = 0

    @property
    def url(self) -> str:
        """The base address, for `base_url`."""
        return f"http://127.0.0.1:{self.port}"

    def posts(self, path: str = "/v1/messages") -> list[Asked]:
        """Return the requests that were posted to *path*."""
        return [one for one in self.asked if one.method == "POST" and one.path == path]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it is closed."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while (asked := await self._read(reader)) is not None:
                if not await self._answer(asked, writer):
                    break
        writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Asked | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except asyncio.IncompleteReadError:
            return None
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        body = self.read_body(headers, raw)
        digest = hashlib.sha256(raw).hexdigest()
        place, _, query = path.partition("?")
        asked = Asked(method=method, path=place, headers=headers, body=body, number=self.seen[digest], query=dict(parse_qsl(query)))
        self.seen[digest] += 1
        self.asked.append(asked)
        return asked

    def read_body(self, headers: Mapping[str, str], raw: bytes) -> Any:  # noqa: ARG002 - another API has forms
        """Return what a request holds."""
        return json.loads(raw) if raw else None

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            outcome = self._find_fault(asked) or self._route(asked)
            if isinstance(outcome, Broken):
                return await self._break(outcome, writer)
            if self.capacity and asked.method == "POST":
                self.free_at = max(self.free_at, time.perf_counter()) + 1 / self.capacity
                await asyncio.sleep(self.free_at - time.perf_counter())
            if isinstance(outcome, tuple):
                status, headers, document = outcome
            else:
                await asyncio.sleep(outcome.delay_s)
                status, headers, document = self.write(outcome, asked)
            if isinstance(outcome, Reply) and asked.body.get("stream"):
                await _stream(writer, document, broken_off=outcome.broken_off)
                return False
            await _send(writer, status, headers, document)
        finally:
            self.at_once -= 1
        return True

    def write(self, outcome: Reply | Refusal, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        """Return status, headers and document of *outcome*, in the form of the API."""
        return _write(outcome, asked)

    def _find_fault(self, asked: Asked) -> Refusal | None:
        """What the hosted API refuses before it looks at the request's sense."""
        key = asked.headers.get("x-api-key") or asked.headers.get("authorization", "").removeprefix("Bearer ")
        if key != self.key:
            return Refusal(status=401, message="invalid x-api-key")
        if "anthropic-version" not in asked.headers:
            return Refusal(status=400, message="anthropic-version: header is required")
        if asked.method == "POST" and asked.path == "/v1/messages":
            return self._find_body_fault(asked.body, asked.headers["anthropic-version"])
        return None

    def _find_body_fault(self, body: Any, version: str) -> Refusal | None:
        for name in ("model", "max_tokens", "messages"):
            if name not in body:
                return Refusal(status=400, message=f"{name}: Field required")
        for name in ("temperature", "top_p", "top_k"):
            if version >= "2026-10-21" and name in body:
                return Refusal(status=400, message=f"{name}: Extra inputs are not permitted")
        if body["model"] not in self.models:
            return Refusal(status=404, message=f"model: {body['model']}")
        return None

    def _route(self, asked: Asked) -> Any:
        if asked.path == "/v1/messages" and asked.method == "POST":
            return self.script(asked)
        if asked.path.startswith("/v1/models"):
            name = asked.path.removeprefix("/v1/models").strip("/")
            if name and name not in self.models:
                return Refusal(status=404, message=f"model: {name}")
            listed = [_describe_model(one) for one in self.models]
            return 200, {}, _describe_model(name) if name else {"data": listed, "has_more": False, "first_id": None, "last_id": None}
        if asked.path.startswith("/v1/messages/batches"):
            return self._route_batch(asked)
        return Refusal(status=404, message="Not found")

    def _route_batch(self, asked: Asked) -> Any:
        instead = self.before_batch(asked) if self.before_batch else None
        if instead is not None:
            return instead
        answer = self._carry_out(asked)
        instead = self.after_batch(asked) if self.after_batch else None
        return answer if instead is None else instead

    def _carry_out(self, asked: Asked) -> Any:
        name, _, verb = asked.path.removeprefix("/v1/messages/batches").strip("/").partition("/")
        if not name:
            return self._list_batches(asked.query) if asked.method == "GET" else self._create_batch(asked)
        batch = self.batches.get(name)
        if batch is None:
            return Refusal(status=404, message=f"message batch not found: {name}")
        if verb == "results":
            if not self._has_ended(batch):
                return Refusal(status=404, message="results are not available yet")
            lines = [json.dumps({"custom_id": one["custom_id"], "result": self._finish(one, batch)}) for one in reversed(batch["requests"])]
            lines = self.edit_results(lines) if self.edit_results else lines
            return 200, {"content-type": "application/binary"}, "".join(f"{line}\n" for line in lines).encode()
        if verb == "cancel":
            batch["canceled"] = not self._has_ended(batch)
        else:
            batch["polls"] += 1
        return 200, {}, self._view(batch)

    def _list_batches(self, query: Mapping[str, str]) -> Any:
        listed = list(reversed(self.batches.values()))
        for one in listed:
            one["polls"] += 1
        names = [one["id"] for one in listed]
        if query.get("after_id") in names:
            listed = listed[names.index(query["after_id"]) + 1 :]
        page = [self._view(one) for one in listed[: int(query.get("limit", "20"))]]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {"first_id": None, "last_id": None}
        return 200, {}, {"data": page, "has_more": len(listed) > len(page), **ends}

    def _create_batch(self, asked: Asked) -> Any:
        requests = (asked.body or {}).get("requests")
        if not requests or len(requests) > 100_000:
            return Refusal(status=400, message="requests: 1 to 100000 are required")
        names = [one.get("custom_id", "") for one in requests]
        if len(set(names)) != len(names) or not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names):
            return Refusal(status=400, message="requests: custom_id must be unique and match ^[a-zA-Z0-9_-]{1,64}$")
        batch = {
            "id": f"msgbatch_{uuid.uuid4().hex[:24]}",
            "requests": requests,
            "polls": 0,
            "created": datetime.now(UTC),
            "canceled": False,
            "version": asked.headers["anthropic-version"],
        }
        self.batches[batch["id"]] = batch
        return 200, {}, self._view(batch)

    def _has_ended(self, batch: dict[str, Any]) -> bool:
        return bool(batch["polls"] > self.batch_polls or batch["canceled"])

    def _view(self, batch: dict[str, Any]) -> dict[str, Any]:
        ended = self._has_ended(batch)
        counts = Counter(self._finish(one, batch)["type"] for one in batch["requests"]) if ended else Counter()
        return {
            "id": batch["id"],
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                "processing": 0 if ended else len(batch["requests"]),
                **{kind: counts[kind] for kind in ("succeeded", "errored", "canceled", "expired")},
            },
            "created_at": batch["created"].isoformat(),
            "expires_at": (batch["created"] + timedelta(days=1)).isoformat(),
            "ended_at": datetime.now(UTC).isoformat() if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{batch['id']}/results" if ended else None,
        }

    def _finish(self, one: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
        asked = Asked(method="BATCH", path="", headers={"anthropic-version": batch["version"]}, body=one["params"], number=0)
        if batch["canceled"]:
            return {"type": "canceled"}
        outcome = self.batch_script(one["custom_id"], one["params"]) if self.batch_script else self.script(asked)
        if isinstance(outcome, str):
            return {"type": outcome}
        outcome = self._find_body_fault(one["params"], batch["version"]) or outcome
        if isinstance(outcome, Broken):
            outcome = Refusal(status=500)
        _, _, document = _write(outcome, asked)
        return {"type": "succeeded", "message": document} if isinstance(outcome, Reply) else {"type": "errored", "error": document}

    async def _break(self, outcome: Broken, writer: asyncio.StreamWriter) -> bool:
        if outcome is Broken.PROSE:
            await _send(writer, 200, {}, b"Dear evaluator, here is my answer.")
            return True
        if outcome in (Broken.HALF, Broken.STALL):
            writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id": "msg_1", "type": "mess')
            await writer.drain()
        if outcome in (Broken.HANG, Broken.STALL):
            await asyncio.sleep(3600)
        return False


def _write(outcome: Reply | Refusal, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
    if isinstance(outcome, Refusal):
        error = {"type": _TYPES.get(outcome.status, outcome.type), "message": outcome.message}
        document = {"type": "error", "error": error, "request_id": None}
        return outcome.status, outcome.headers, outcome.body if outcome.body is not None else document
    thinking = [] if outcome.thinking is None else [{"type": "thinking", "thinking": outcome.thinking, "signature": "c2ln"}]
    message = {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": outcome.model or asked.body["model"],
        "content": thinking + ([] if outcome.text is None else [{"type": "text", "text": outcome.text}]),
        "stop_reason": outcome.stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": outcome.input_tokens, "output_tokens": outcome.output_tokens, "service_tier": "standard"},
    }
    return 200, outcome.headers, message


def _describe_model(name: str) -> dict[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-11-01T00:00:00Z", "lifecycle": "active"}


async def _send(writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str], document: Any) -> None:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    fields = {"content-type": "application/json", "request-id": f"req_{uuid.uuid4().hex[:24]}", **headers, "content-length": str(len(raw))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode("latin-1") + raw)
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter, message: dict[str, Any], *, broken_off: bool) -> None:
    """Send *message* as server-sent events, the text in pieces of ten characters, and close the connection."""
    writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nrequest-id: req_stream\r\nconnection: close\r\n\r\n")
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        kind = block["type"]
        events.append({"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}})
        pieces = [block[kind][at : at + 10] for at in range(0, len(block[kind]), 10)]
        events += [{"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", kind: one}} for one in pieces]
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": message["usage"]["output_tokens"]}})
    events.append({"type": "message_stop"})
    for event in events[: len(events) // 2] if broken_off else events:
        writer.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    await writer.drain()


@contextlib.contextmanager
def run_endpoint(endpoint: Endpoint | None = None) -> Iterator[Endpoint]:
    """Give a running endpoint in a thread of its own; it is gone when the context ends."""
    endpoint = endpoint or Endpoint()
    started, loop = threading.Event(), asyncio.new_event_loop()

    async def start() -> asyncio.Server:
        server = await asyncio.start_server(endpoint.serve, "127.0.0.1", endpoint.port)
        endpoint.port = server.sockets[0].getsockname()[1]
        return server

    def run() -> None:
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(start())
        started.set()
        loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    started.wait(10)
    try:
        yield endpoint
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def main() -> None:
    """Serve until standard input ends, or a line comes there: then print when the first request came and the last answer went.

    Answers are drawn from the request, so that runs can be compared. Requests beyond the places wait.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--capacity", type=float, default=None)
    parser.add_argument("--places", type=int, default=None)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    first_at, last_at = math.inf, 0.0
    free_at = [0.0] * (options.places or 0)

    def script(asked: Asked) -> Outcome:
        nonlocal first_at, last_at
        now = time.perf_counter()
        first_at = min(first_at, now)
        # The place that is free first takes the request.
        end = max(now, heapq.heappop(free_at) if free_at else now) + options.latency
        if options.places:
            heapq.heappush(free_at, end)
        last_at = max(last_at, end)
        return Reply(text=f"answer {asked.digest[:8]} {'lorem ipsum ' * 20}", delay_s=end - now)

    with run_endpoint(Endpoint(script=script, capacity=options.capacity, port=options.port)) as endpoint:
        print(endpoint.url, flush=True)  # noqa: T201 (the caller reads the address)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.readline()
    print(first_at, last_at, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
