"""What an endpoint is asked about Message Batches: submit, look, list, read results, cancel; one HTTP request each, none repeated."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import quote

from audit.model import Endpoint
from audit.trouble import ModelError, Trouble
from registry.codec.canonical import Json

_PATH = "/v1/messages/batches"
_PAGE = 100
_STATES = ("processing", "succeeded", "errored", "canceled", "expired")
_CERTAIN = {Trouble.KEY_REFUSED, Trouble.NOT_FOUND, Trouble.NOT_ACCEPTED, Trouble.RATE_LIMITED, Trouble.OVERLOADED, Trouble.UNREACHABLE}


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

    @property
    def total(self) -> int:
        """Requests in the batch."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """Requests that are no longer being worked on."""
        return self.total - self.counts["processing"]


def is_certain(error: ModelError) -> bool:
    """Whether *error* says that a submission was not accepted; otherwise nobody knows, and it may be worked on and billed."""
    return error.trouble in _CERTAIN


async def submit_batch(endpoint: Endpoint, requests: Sequence[tuple[str, Mapping[str, Json]]]) -> BatchView:
    """Submit *requests*, pairs of custom id and body, as one batch; raises ModelError."""
    entries: list[Json] = [{"custom_id": custom_id, "params": dict(body)} for custom_id, body in requests]
    return _read_view(await _ask(endpoint, "POST", _PATH, body={"requests": entries}))


async def find_batch(endpoint: Endpoint, batch: str) -> BatchView:
    """Return the batch as it stands; raises ModelError, with status 404 where the endpoint knows none."""
    return _read_view(await _ask(endpoint, "GET", f"{_PATH}/{quote(batch, safe='')}"))


async def list_batches(endpoint: Endpoint, *, since: datetime) -> list[BatchView]:
    """Return all batches of the workspace that were created at or after *since*, latest first; raises ModelError."""
    found: list[BatchView] = []
    cursor = ""
    while True:
        page = await _ask(endpoint, "GET", f"{_PATH}?limit={_PAGE}{cursor}")
        listed = page.get("data")
        if not isinstance(listed, list):
            raise ModelError(Trouble.BAD_ANSWER, "expected a list of batches as data")
        views = [_read_view(one) for one in listed]
        found += [view for view in views if view.created_at >= since]
        if not page.get("has_more") or not views or views[-1].created_at < since:
            return found
        cursor = f"&after_id={quote(views[-1].id, safe='')}"


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
    return _read_view(await _ask(endpoint, "POST", f"{_PATH}/{quote(batch, safe='')}/cancel", body={}))


async def _ask(endpoint: Endpoint, method: str, path: str, *, body: Mapping[str, Json] | None = None) -> dict[str, Any]:
    response = await endpoint.request(method, path, body=body)
    try:
        found = json.loads(response.content)
    except ValueError as error:
        raise ModelError(Trouble.BAD_ANSWER, "the endpoint's answer is no JSON", status=response.status_code) from error
    if not isinstance(found, dict):
        raise ModelError(Trouble.BAD_ANSWER, "the endpoint's answer is no object", status=response.status_code)
    return found


def _read_view(found: Any) -> BatchView:
    try:
        counts = {state: int(found["request_counts"].get(state) or 0) for state in _STATES}
        ended = found["processing_status"] == "ended"
        created_at = _read_moment(found["created_at"])
        return BatchView(
            id=str(found["id"]),
            created_at=created_at,
            ended_at=(_read_moment(found["ended_at"]) if found.get("ended_at") else created_at) if ended else None,
            is_archived=found.get("archived_at") is not None,
            counts=counts,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(Trouble.BAD_ANSWER, "the endpoint's answer is no batch as the Messages API describes it") from error


def _read_moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _parse_line(line: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(line)
    except ValueError:
        return None
    sound = isinstance(read, dict) and isinstance(read.get("custom_id"), str) and isinstance(read.get("result"), dict)
    return cast("dict[str, Any]", read) if sound else None
