"""The endpoint of `server.py` in another dialect: OpenAI's chat completions over real HTTP, as vLLM, llama.cpp and gateways speak them."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from typing import Any

from tests.endpoint.server import Asked, Broken, Endpoint, Refusal, Reply

CHAT = "/v1/chat/completions"
CHAT_MODEL = "qwen-test-7b"
_FINISHES = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter", "tool_use": "tool_calls"}
_KNOWN = frozenset(
    {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "stop", "seed", "tools", "service_tier"}
    | {"reasoning_effort", "response_format", "logprobs", "top_logprobs", "min_p"}
)


@dataclass(frozen=True, kw_only=True)
class Completion(Reply):
    """An answer with what only a chat completion says."""

    fingerprint: str | None = "fp_1"
    refusal: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the message, such as `reasoning_content` or `tool_calls`."""
    logprobs: Mapping[str, Any] | None = None
    cached_tokens: int | None = None


@dataclass
class ChatServer(Endpoint):
    """A running endpoint that speaks chat completions; an empty key: it asks for none."""

    models: tuple[str, ...] = (CHAT_MODEL,)
    refused: Mapping[str, str] = field(default_factory=dict)
    """By parameter that this model does not take, the code of the error."""
    lists_models: bool = True
    has_batches: bool = True
    keeps_metadata: bool = True
    """Whether the list of batches shows how a batch was marked."""
    batch_refusal: str | None = None
    """Why every batch is refused as a whole after it was taken."""
    files: dict[str, bytes] = field(default_factory=dict)

    def posts(self, path: str = CHAT) -> list[Asked]:
        """Return the requests that were posted to *path*."""
        return super().posts(path)

    def write(self, outcome: Reply | Refusal, asked: Asked) -> tuple[int, Mapping[str, str], Any]:
        """Return status, headers and document of *outcome*."""
        if isinstance(outcome, Refusal):
            error = {"message": outcome.message, "type": outcome.type, "param": None, "code": None}
            return outcome.status, outcome.headers, outcome.body if outcome.body is not None else {"error": error}
        more = outcome if isinstance(outcome, Completion) else Completion()
        message = {"role": "assistant", "content": outcome.text, "refusal": more.refusal, **more.fields}
        usage: dict[str, Any] = {"prompt_tokens": outcome.input_tokens, "completion_tokens": outcome.output_tokens}
        if more.cached_tokens is not None:
            usage["prompt_tokens_details"] = {"cached_tokens": more.cached_tokens}
        finish = _FINISHES.get(outcome.stop_reason, outcome.stop_reason)
        document = {
            "id": f"chatcmpl-{uuid.uuid4().hex[:24]}",
            "object": "chat.completion",
            "created": 1_795_000_000,
            "model": outcome.model or asked.body["model"],
            "system_fingerprint": more.fingerprint,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": more.logprobs}],
            "usage": usage,
        }
        return 200, {"x-request-id": f"req_{uuid.uuid4().hex[:12]}", **outcome.headers}, document

    def read_body(self, headers: Mapping[str, str], raw: bytes) -> Any:
        """Return what a request holds; of a form, its fields and the file."""
        if not headers.get("content-type", "").startswith("multipart/form-data"):
            return super().read_body(headers, raw)
        form = message_from_bytes(f"content-type: {headers['content-type']}\r\n\r\n".encode() + raw)
        parts: Any = form.get_payload()
        return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True).decode() for part in parts}

    def _find_fault(self, asked: Asked) -> Refusal | None:
        if self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            return Refusal(status=401, type="invalid_request_error", message="Incorrect API key provided: sk-***.")
        if asked.method == "POST" and asked.path == CHAT:
            return self._find_fault_of(asked.body)
        return None

    def _find_fault_of(self, body: Any) -> Refusal | None:
        unknown = {**self.refused, **dict.fromkeys(set(body) - _KNOWN, "unknown_parameter")}
        for name in body:
            if name in unknown:
                return _refuse_parameter(name, unknown[name])
        if body["model"] not in self.models:
            return Refusal(status=404, type="invalid_request_error", message=f"The model `{body['model']}` does not exist")
        return None

    def _route(self, asked: Asked) -> Any:
        if asked.path == CHAT and asked.method == "POST":
            return self.script(asked)
        if asked.path == "/v1/models" and self.lists_models:
            return 200, {}, {"object": "list", "data": [{"id": name, "object": "model", "created": 1} for name in self.models]}
        if self.has_batches and asked.path.startswith(("/v1/files", "/v1/batches")):
            return self._route_batch(asked)
        # As FastAPI answers, under vLLM, where a path is not known; a single model is such a path there.
        return 404, {}, {"detail": "Not Found"}

    # Batches: a file of requests, a batch of it, and two files of results.

    def _carry_out(self, asked: Asked) -> Any:
        kind, name, verb = (*asked.path.removeprefix("/v1/").split("/"), "", "")[:3]
        if kind == "files":
            if name:
                return (200, {}, self.files[name]) if name in self.files else Refusal(status=404, message=f"No such File object: {name}")
            return 200, {}, {"id": self._keep(asked.body["file"].encode()), "object": "file", "purpose": asked.body["purpose"]}
        if not name:
            return self._list_batches(asked.query) if asked.method == "GET" else self._create_batch(asked)
        batch = self.batches.get(name)
        if batch is None:
            return Refusal(status=404, message=f"No batch found with id '{name}'.")
        if verb == "cancel":
            batch["canceled"] = not self._has_ended(batch)
        else:
            batch["polls"] += 1
        return 200, {}, self._view(batch)

    def _keep(self, content: bytes) -> str:
        name = f"file-{uuid.uuid4().hex[:24]}"
        self.files[name] = content
        return name

    def _list_batches(self, query: Mapping[str, str]) -> Any:
        status, headers, page = super()._list_batches({**query, "after_id": query.get("after", "")})
        return status, headers, {"object": "list", **page}

    def _create_batch(self, asked: Asked) -> Any:
        if asked.body["completion_window"] != "24h" or asked.body["endpoint"] != CHAT:
            return Refusal(status=400, type="invalid_request_error", message="endpoint or completion_window is not valid")
        lines = [json.loads(line) for line in self.files[asked.body["input_file_id"]].splitlines()]
        assert all((line["method"], line["url"]) == ("POST", CHAT) for line in lines)
        batch = {
            "id": f"batch_{uuid.uuid4().hex[:24]}", "polls": 0, "created": datetime.now(UTC), "canceled": False,
            "requests": [{"custom_id": line["custom_id"], "params": line["body"]} for line in lines],
            "metadata": asked.body.get("metadata") if self.keeps_metadata else None,
        }  # fmt: skip
        self.batches[batch["id"]] = batch
        return 200, {}, self._view(batch)

    def _view(self, batch: dict[str, Any]) -> dict[str, Any]:
        ended = self._has_ended(batch)
        status = "validating" if not batch["polls"] else "in_progress"
        if ended:
            status = "failed" if self.batch_refusal else "cancelled" if batch["canceled"] else "completed"
        lines = self._finish_all(batch) if status in ("completed", "cancelled") else {}
        now = int(datetime.now(UTC).timestamp())
        errors = {"object": "list", "data": [{"code": "invalid", "message": self.batch_refusal}]} if status == "failed" else None
        return {
            "id": batch["id"], "object": "batch", "endpoint": CHAT, "status": status, "created_at": int(batch["created"].timestamp()),
            "completed_at": now if status == "completed" else None, "failed_at": now if status == "failed" else None,
            "request_counts": {
                "total": 0 if status in ("validating", "failed") else len(batch["requests"]),
                "completed": len(lines.get("output", ())), "failed": len(lines.get("error", ())),
            },
            "metadata": batch["metadata"], "errors": errors,
            **{f"{kind}_file_id": batch.get(kind) for kind in ("output", "error")},
        }  # fmt: skip

    def _finish_all(self, batch: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        """Return the lines of both files of results, which are written once."""
        if "lines" not in batch:
            batch["lines"] = {"output": [], "error": []}
            for request in reversed(batch["requests"]):
                line = self._finish(request, batch)
                batch["lines"]["output" if (line["response"] or {}).get("status_code") == 200 else "error"].append(line)
            for kind, lines in batch["lines"].items():
                texts = [json.dumps(line) for line in lines]
                texts = self.edit_results(texts) if self.edit_results else texts
                batch[kind] = self._keep("".join(f"{text}\n" for text in texts).encode()) if texts else None
        lines: dict[str, list[dict[str, Any]]] = batch["lines"]
        return lines

    def _finish(self, one: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
        asked = Asked(method="BATCH", path="", headers={}, body=one["params"], number=0)
        outcome: Any = self.batch_script(one["custom_id"], one["params"]) if self.batch_script else self.script(asked)
        line = {"id": f"batch_req_{uuid.uuid4().hex[:12]}", "custom_id": one["custom_id"], "response": None, "error": None}
        code = "batch_cancelled" if batch["canceled"] else f"batch_{outcome}" if isinstance(outcome, str) else None
        if code is not None:
            return {**line, "error": {"code": code, "message": "This request could not be executed."}}
        outcome = self._find_fault_of(one["params"]) or (Refusal(status=500) if isinstance(outcome, Broken) else outcome)
        status, _, document = self.write(outcome, asked)
        document = json.loads(document) if isinstance(document, bytes) else document
        return {**line, "response": {"status_code": status, "request_id": "req_1", "body": document}}


def _refuse_parameter(name: str, code: str) -> Refusal:
    error = {"message": f"Unsupported parameter: {name!r}.", "type": "invalid_request_error", "param": name, "code": code}
    return Refusal(status=400, body=json.dumps({"error": error}).encode())
