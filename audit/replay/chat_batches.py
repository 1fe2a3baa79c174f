"""Batches of the OpenAI API: an uploaded file, a batch of it, and results from two files, read as those of Message Batches."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from audit.endpoints.model_answers import ModelError, RequestTrouble
from audit.endpoints.model_endpoint import Endpoint
from audit.replay.batch_requests import BatchView, ask_endpoint, list_pages
from registry.codec.canonical_documents import Json, canonical_bytes

# The functions are those of `batch_requests.BatchPort`. A batch of this API shows neither its size before it was checked nor, without a
# download, whose it is. So it is marked with the chunk's tag, which the list of batches repeats: a batch whose submission got no answer is
# found again at once, and none is submitted twice.

_PATH = "/batches"
_TARGET = "/v1/chat/completions"
_TAG = "caveat_chunk"
_ENDED = frozenset({"completed", "expired", "cancelled", "failed"})
_WORDS = 500
"""Characters of a reason that are kept."""


async def submit_batch(endpoint: Endpoint, requests: Sequence[tuple[str, Mapping[str, Json]]], *, tag: str) -> BatchView:
    """Upload *requests*, pairs of custom id and body, as a file, and submit it as one batch; raises ModelError.

    A file without a batch is never worked on, so a failed upload costs nothing.
    """
    lines = (
        canonical_bytes({"body": endpoint.write_body(body), "custom_id": custom_id, "method": "POST", "url": _TARGET})
        for custom_id, body in requests
    )
    content = b"".join(line + b"\n" for line in lines)
    uploaded = await endpoint.upload("/files", fields={"purpose": "batch"}, name=f"{tag}.jsonl", content=content)
    file = _read_object(uploaded.content).get("id")
    if not isinstance(file, str):
        raise ModelError(RequestTrouble.BAD_ANSWER, "the endpoint's answer to an upload names no file")
    body: dict[str, Json] = {"completion_window": "24h", "endpoint": _TARGET, "input_file_id": file, "metadata": {_TAG: tag}}
    return _read_view(endpoint, await ask_endpoint(endpoint, "POST", _PATH, body=body))


async def find_batch(endpoint: Endpoint, batch: str) -> BatchView:
    """Return the present state of the batch; raises ModelError, with status 404 where the endpoint knows none."""
    return _read_view(endpoint, await ask_endpoint(endpoint, "GET", f"{_PATH}/{quote(batch, safe='')}"))


async def list_batches(endpoint: Endpoint, *, since: datetime) -> list[BatchView]:
    """Return all batches of the project that were created at or after *since*, latest first; raises ModelError."""
    return await list_pages(endpoint, _PATH, since=since, cursor="after", read_view=lambda item: _read_view(endpoint, item))


async def read_results(endpoint: Endpoint, batch: str) -> AsyncGenerator[dict[str, Any] | None]:
    """Give the results of a batch that has ended, answers first, as Message Batches have them; None for a line that is none.

    Raises:
        ModelError: the results cannot be read, or broke off.
    """
    document = await ask_endpoint(endpoint, "GET", f"{_PATH}/{quote(batch, safe='')}")
    for field in ("output_file_id", "error_file_id"):
        # Where every request succeeded, or none did, one of the two files is missing.
        if isinstance(file := document.get(field), str):
            async for line in endpoint.read_lines(f"/files/{quote(file, safe='')}/content"):
                if line.strip():
                    yield _read_line(line)


async def cancel_batch(endpoint: Endpoint, batch: str) -> BatchView:
    """Ask the endpoint to stop working on the batch; what is done stays in its results. Raises ModelError."""
    return _read_view(endpoint, await ask_endpoint(endpoint, "POST", f"{_PATH}/{quote(batch, safe='')}/cancel", body={}))


def _read_object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError as error:
        raise ModelError(RequestTrouble.BAD_ANSWER, "the endpoint's answer is no JSON") from error
    return found if isinstance(found, dict) else {}


def _read_view(endpoint: Endpoint, found: Any) -> BatchView:
    try:
        status = str(found["status"])
        counts = found.get("request_counts") or {}
        total, succeeded, failed = (int(counts.get(name) or 0) for name in ("total", "completed", "failed"))
        created_at = datetime.fromtimestamp(found["created_at"], UTC)
        ended = next((moment for name in ("completed", "expired", "cancelled", "failed") if (moment := found.get(f"{name}_at"))), None)
        tag = (found.get("metadata") or {}).get(_TAG)
        return BatchView(
            id=str(found["id"]),
            created_at=created_at,
            ended_at=(datetime.fromtimestamp(ended, UTC) if ended else created_at) if status in _ENDED else None,
            is_archived=False,
            counts={"processing": 0 if status in _ENDED else total - succeeded - failed, "succeeded": succeeded, "errored": failed},
            tag=tag if isinstance(tag, str) else None,
            refusal=endpoint.redact(_describe_errors(found.get("errors"))) if status == "failed" else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
        raise ModelError(RequestTrouble.BAD_ANSWER, "the endpoint's answer is no batch as the OpenAI API describes it") from error


def _describe_errors(errors: Any) -> str:
    """Return why a batch was refused as a whole, such as a line that is not valid or a limit of the project."""
    listed = errors.get("data") if isinstance(errors, Mapping) else None
    texts = [str(item["message"]) for item in listed or () if isinstance(item, Mapping) and item.get("message")]
    return "; ".join(dict.fromkeys(texts))[:_WORDS] or "no reason was given"


def _read_line(line: bytes) -> dict[str, Any] | None:
    """Return one line of a results file as Message Batches write it; None for a line that is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("custom_id"), str):
        return None
    response, error = found.get("response"), found.get("error")
    result: dict[str, Any]
    if isinstance(response, dict) and response.get("status_code") == 200:
        result = {"type": "succeeded", "message": response.get("body")}
    elif isinstance(response, dict):
        body = response.get("body")
        inner = body.get("error") if isinstance(body, dict) else None
        result = {"type": "errored", "error": {"error": inner, "request_id": response.get("request_id")}}
    elif isinstance(error, dict):
        code = str(error.get("code"))
        kinds = {"batch_expired": "expired", "batch_cancelled": "canceled"}
        result = {"type": kinds.get(code, "errored"), "error": {"type": code, "message": error.get("message")}}
    else:
        return None
    return {"custom_id": found["custom_id"], "result": result}
