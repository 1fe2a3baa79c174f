"""One request each to the Message Batches endpoint, and the chunks of calls the run folder remembers as batches."""

import hashlib
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol, cast
from urllib.parse import quote

from audit.endpoints.model_answers import ModelError, RequestTrouble
from audit.endpoints.model_endpoint import Endpoint
from audit.replay.run_store import Call, CallIntent, RunStore
from registry.codec.canonical_documents import Json, canonical_bytes

# Requests to the Message Batches endpoint. Each function sends one HTTP request and repeats none; the caller decides
# about repetition, because a repeated submission could create a second batch.

_PATH = "/v1/messages/batches"
_PAGE = 100
_STATES = ("processing", "succeeded", "errored", "canceled", "expired")
# After these troubles the submission was certainly not accepted. Time-outs, lost answers and server errors leave it
# open.
_CERTAIN = {
    RequestTrouble.KEY_REFUSED,
    RequestTrouble.NOT_FOUND,
    RequestTrouble.NOT_ACCEPTED,
    RequestTrouble.RATE_LIMITED,
    RequestTrouble.OVERLOADED,
    RequestTrouble.UNREACHABLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchView:
    """A batch as the endpoint sees it."""

    id: str
    created_at: datetime
    """By the endpoint's clock."""
    ended_at: datetime | None
    """None while it is being worked on."""
    is_archived: bool
    """Its results can no longer be read."""
    counts: Mapping[str, int]
    """Requests by state: processing, succeeded, errored, canceled, expired. All are `processing` until the batch has ended."""
    tag: str | None = None
    """What the batch was marked with at its submission; None where the API has no marks, and for batches of others."""
    refusal: str | None = None
    """Why the endpoint refused it as a whole, before a model worked on a request of it; None where it did not."""

    @property
    def total(self) -> int:
        """Requests in the batch."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """Requests that are no longer being worked on."""
        return self.total - self.counts["processing"]


class BatchPort(Protocol):
    """What the modules of the two APIs offer: this one for the Messages API, `chat_batches` for the OpenAI API."""

    def submit_batch(
        self, endpoint: Endpoint, requests: Sequence[tuple[str, Mapping[str, Json]]], *, tag: str
    ) -> Coroutine[Any, Any, BatchView]:
        """Submit *requests* as one batch, marked with *tag* where the API has marks."""

    def find_batch(self, endpoint: Endpoint, batch: str) -> Coroutine[Any, Any, BatchView]:
        """Return the present state of the batch."""

    def list_batches(self, endpoint: Endpoint, *, since: datetime) -> Coroutine[Any, Any, list[BatchView]]:
        """Return the batches that were created at or after *since*, latest first."""

    def read_results(self, endpoint: Endpoint, batch: str) -> AsyncGenerator[dict[str, Any] | None]:
        """Give the results of a batch that has ended."""

    def cancel_batch(self, endpoint: Endpoint, batch: str) -> Coroutine[Any, Any, BatchView]:
        """Ask the endpoint to stop working on the batch."""


def is_certain(error: ModelError) -> bool:
    """Whether *error* says that a submission was not accepted; else it is unknown, and it may be worked on and billed."""
    return error.trouble in _CERTAIN


async def submit_batch(endpoint: Endpoint, requests: Sequence[tuple[str, Mapping[str, Json]]], *, tag: str) -> BatchView:  # noqa: ARG001
    """Submit *requests*, pairs of custom id and body, as one batch; raises ModelError. The API has no marks, so *tag* is not sent."""
    entries: list[Json] = [{"custom_id": custom_id, "params": dict(body)} for custom_id, body in requests]
    return _read_view(await ask_endpoint(endpoint, "POST", _PATH, body={"requests": entries}))


async def find_batch(endpoint: Endpoint, batch: str) -> BatchView:
    """Return the batch as it is; raises ModelError, with status 404 where the endpoint knows none."""
    return _read_view(await ask_endpoint(endpoint, "GET", f"{_PATH}/{quote(batch, safe='')}"))


async def list_batches(endpoint: Endpoint, *, since: datetime) -> list[BatchView]:
    """Return all batches of the workspace that were created at or after *since*, latest first; raises ModelError."""
    return await list_pages(endpoint, _PATH, since=since, cursor="after_id", read_view=_read_view)


async def list_pages(
    endpoint: Endpoint, path: str, *, since: datetime, cursor: str, read_view: Callable[[Any], BatchView]
) -> list[BatchView]:
    """Return all batches listed at *path* that were created at or after *since*, latest first; raises ModelError.

    Args:
        cursor: the parameter that names the last batch of the page before.
        read_view: reads one item of the list.
    """
    batch_views: list[BatchView] = []
    after = ""
    while True:
        page = await ask_endpoint(endpoint, "GET", f"{path}?limit={_PAGE}{after}")
        listed = page.get("data")
        if not isinstance(listed, list):
            raise ModelError(RequestTrouble.BAD_ANSWER, "expected a list of batches as data")
        views = [read_view(item) for item in listed]
        # Pages come latest first, so the first page that ends before *since* is the last one needed.
        batch_views += [view for view in views if view.created_at >= since]
        if not page.get("has_more") or not views or views[-1].created_at < since:
            return batch_views
        after = f"&{cursor}={quote(views[-1].id, safe='')}"


async def read_results(endpoint: Endpoint, batch: str) -> AsyncGenerator[dict[str, Any] | None]:
    """Give the results of a batch that has ended, line by line as they come: custom_id and result; None for a line that is none.

    They are asked for at the endpoint's own address, wherever its `results_url` points: the key goes to no other host.

    Raises:
        ModelError: the results cannot be read, or broke off.
    """
    async for line in endpoint.read_lines(f"{_PATH}/{quote(batch, safe='')}/results"):
        if line.strip():
            yield _parse_line(line)


async def cancel_batch(endpoint: Endpoint, batch: str) -> BatchView:
    """Ask the endpoint to stop working on the batch; what is done stays in its results. Raises ModelError."""
    return _read_view(await ask_endpoint(endpoint, "POST", f"{_PATH}/{quote(batch, safe='')}/cancel", body={}))


async def ask_endpoint(endpoint: Endpoint, method: str, path: str, *, body: Mapping[str, Json] | None = None) -> dict[str, Any]:
    """Return the object that one request about batches is answered with; raises ModelError."""
    response = await endpoint.request(method, path, body=body)
    try:
        document = json.loads(response.content)
    except ValueError as error:
        raise ModelError(RequestTrouble.BAD_ANSWER, "the endpoint's answer is no JSON", status=response.status_code) from error
    if not isinstance(document, dict):
        raise ModelError(RequestTrouble.BAD_ANSWER, "the endpoint's answer is no object", status=response.status_code)
    return document


def _read_view(document: Any) -> BatchView:
    try:
        counts = {state: int(document["request_counts"].get(state) or 0) for state in _STATES}
        ended = document["processing_status"] == "ended"
        created_at = _read_moment(document["created_at"])
        return BatchView(
            id=str(document["id"]),
            created_at=created_at,
            # Some endpoints end a batch without a time. The status decides whether it has ended; the time only dates
            # the results.
            ended_at=(_read_moment(document["ended_at"]) if document.get("ended_at") else created_at) if ended else None,
            is_archived=document.get("archived_at") is not None,
            counts=counts,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(RequestTrouble.BAD_ANSWER, "the endpoint's answer is no batch as the Messages API describes it") from error


def _read_moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    # A time without a zone is read as UTC, since naive and aware times cannot be compared.
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _parse_line(line: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(line)
    except ValueError:
        return None
    # A broken line is returned as None and counted. It must not end the reading of the results after it.
    sound = isinstance(read, dict) and isinstance(read.get("custom_id"), str) and isinstance(read.get("result"), dict)
    return cast("dict[str, Any]", read) if sound else None


# Chunks: the calls of one batch, and what the run folder records of them (planned, accepted, closed). Each state is a
# document of its own, because nothing in the folder is changed.

MOST_REQUESTS = 100_000
"""In one batch, says the Messages API."""
MOST_BYTES = 240 * 2**20
"""Of one submission as we count it; the API takes 256 MB."""
_ENVELOPE = 160
"""Bytes that a request takes beside its body: custom id, names, brackets."""
_DIGITS = 60
"""Of a key in a custom id, which has at most 64 characters; the rest tells two submissions of one call apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchChunk:
    """Calls that were, or were about to be, submitted as one batch."""

    number: int
    """From 1, in the run folder."""
    at: str
    """When they were written down, ISO 8601, UTC: the time of their intents."""
    endpoint: str
    """Base address that they were meant for."""
    keys: tuple[str, ...]
    batch: str | None = None
    """Identifier that the endpoint gave; None: it is not known whether it accepted them."""

    @property
    def name(self) -> str:
        """Name of its documents in the store."""
        return f"batch-{self.number:06}"

    @property
    def tag(self) -> str:
        """What its batch is marked with: no other submission has the same."""
        return hashlib.sha256(f"{self.number} {self.at} {self.endpoint} {' '.join(self.keys)}".encode()).hexdigest()[:32]

    @property
    def custom_ids(self) -> dict[str, str]:
        """By custom id, the key of its call."""
        # 60 of 64 hex digits of a key still identify the call. The other four differ between submissions, so that
        # results of an earlier batch of the same calls are not taken for those of a later one.
        tag = hashlib.sha256(f"{self.number} {self.at} {self.keys[0]}".encode()).hexdigest()[: 64 - _DIGITS]
        return {f"{key[:_DIGITS]}{tag}": key for key in self.keys}

    def find_open(self, store: RunStore) -> dict[str, CallIntent]:
        """Return by key those of its intents that have no outcome yet."""
        mine = set(self.keys)
        # The time of writing separates this chunk's intents from those that other chunks or runs made for the same
        # calls.
        return {intent.key: intent for intent in store.list_lost() if intent.at == self.at and intent.key in mine}


def split_calls(calls: Iterable[Call], *, most: int, most_bytes: int) -> Iterator[list[Call]]:
    """Give *calls* in chunks of at most *most* requests and about *most_bytes* as they are sent, each call once."""
    chunk: list[Call] = []
    seen: set[bytes] = set()
    size = 0
    for call in calls:
        # Half the memory of the hexadecimal text; a run may have hundreds of thousands of calls.
        key = bytes.fromhex(call.key)
        if key in seen:
            continue
        seen.add(key)
        more = count_bytes(call.body)
        # A single call above the limit still gets a chunk of its own; the endpoint then refuses it with its own reason.
        if chunk and (len(chunk) >= most or size + more > most_bytes):
            yield chunk
            chunk, size = [], 0
        chunk.append(call)
        size += more
    if chunk:
        yield chunk


def count_bytes(body: Mapping[str, Json]) -> int:
    """Return about how many bytes *body* takes in a submission."""
    return len(canonical_bytes(dict(body))) + _ENVELOPE


def write_chunk(store: RunStore, calls: Sequence[Call], *, number: int, endpoint: str, at: datetime) -> tuple[BatchChunk, list[CallIntent]]:
    """Write down that *calls* are about to be submitted as one batch: the chunk first, so that no intent is without one."""
    chunk = BatchChunk(number=number, at=at.isoformat(), endpoint=endpoint, keys=tuple(call.key for call in calls))
    store.put_document(chunk.name, {"at": chunk.at, "endpoint": chunk.endpoint, "keys": list(chunk.keys)})
    return chunk, store.intend(calls, at=chunk.at)


def write_accepted(store: RunStore, chunk: BatchChunk, *, batch: str, created_at: datetime, adopted: bool) -> None:
    """Write down the identifier that the endpoint gave *chunk*; with *adopted*, found again after the answer was lost."""
    store.put_document(f"{chunk.name}-accepted", {"adopted": adopted, "created_at": created_at.isoformat(), "id": batch})


def write_closed(store: RunStore, chunk: BatchChunk, *, reason: str, counts: Mapping[str, int]) -> None:
    """Write down that nothing more will come of *chunk*."""
    store.put_document(f"{chunk.name}-closed", {"counts": dict(counts), "reason": reason})


def list_open_chunks(store: RunStore) -> tuple[list[BatchChunk], int]:
    """Return the chunks of which something may still come, oldest first, and how many chunks there have been."""
    chunks, number = [], 1
    while (document := store.find_document(f"batch-{number:06}")) is not None:
        chunk = BatchChunk(number=number, at=document["at"], endpoint=document["endpoint"], keys=tuple(document["keys"]))
        accepted = store.find_document(f"{chunk.name}-accepted")
        if store.find_document(f"{chunk.name}-closed") is None:
            batch = None if accepted is None else accepted["id"]
            chunks.append(BatchChunk(number=number, at=chunk.at, endpoint=chunk.endpoint, keys=chunk.keys, batch=batch))
        number += 1
    return chunks, number - 1
