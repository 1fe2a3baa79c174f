"""The endpoint of `server.py` in another dialect: OpenAI's chat completions over real HTTP, as vLLM, llama.cpp and gateways speak them."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.endpoint.server import Asked, Endpoint, Refusal, Reply

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
        # As FastAPI answers, under vLLM, where a path is not known; a single model is such a path there.
        return 404, {}, {"detail": "Not Found"}


def _refuse_parameter(name: str, code: str) -> Refusal:
    error = {"message": f"Unsupported parameter: {name!r}.", "type": "invalid_request_error", "param": name, "code": code}
    return Refusal(status=400, body=json.dumps({"error": error}).encode())
