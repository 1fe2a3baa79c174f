"""The results of one batch become outcomes in the store: each as it comes, none twice, none left without one."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from audit.message import NotAMessageError, read_message
from audit.replay.batch_calls import BatchView
from audit.replay.batch_chunks import Chunk
from audit.replay.store import Intent, RunStore, join_text, join_thinking
from registry.records.response import Attempt, Failure, Response

_BLOCK = 200
"""Outcomes that are written in one transaction."""
_REFUSALS = frozenset(
    {
        "authentication_error",
        "billing_error",
        "invalid_request_error",
        "not_found_error",
        "permission_error",
        "request_too_large",
    }
)
"""Errors of a request that say that no model worked on it."""


class ChunkReader:
    """Settles the results of one chunk, and hands each outcome to *count*; can read again after a reading broke off.

    An endpoint's words about a failure go through *redact*.
    """

    def __init__(
        self, store: RunStore, chunk: Chunk, view: BatchView, count: Callable[[Response], None], *, redact: Callable[[str], str]
    ) -> None:
        self.counts: Counter[str] = Counter()
        """Results by kind: the API's own, and `unknown`, `repeated`, `unreadable`, `missing`, `other_model`."""
        self._store = store
        self._count = count
        self._redact = redact
        self._view = view
        self._ids = chunk.custom_ids
        self._open = chunk.find_open(store)
        self._models: dict[str, str] = {}

    @property
    def is_complete(self) -> bool:
        """Whether every call of the chunk has an outcome."""
        return not self._open

    async def read(self, lines: AsyncIterator[Mapping[str, Any] | None]) -> None:
        """Settle what *lines* hold; what an earlier reading settled is passed over."""
        waiting: list[tuple[Intent, Response]] = []
        seen: set[str] = set()
        odd: Counter[str] = Counter()
        try:
            async for line in lines:
                outcome = self._take(line, seen, odd)
                if outcome is not None:
                    waiting.append(outcome)
                if len(waiting) >= _BLOCK:
                    self._settle(waiting)
        finally:
            self._settle(waiting)
            # Oddities are those of the last reading alone: the same line read twice is not two lines.
            for kind in ("unknown", "repeated", "unreadable"):
                self.counts[kind] = odd[kind]

    def close(self) -> None:
        """Settle every call that no result was found for: the batch has ended, and nothing will come."""
        message = f"batch {self._view.id} has ended, and its results hold nothing for this request"
        missing = [(intent, self._fail(intent, "batch-missing", message)) for intent in self._open.values()]
        self.counts["missing"] += len(missing)
        self._settle(missing)

    def _take(self, line: Mapping[str, Any] | None, seen: set[str], odd: Counter[str]) -> tuple[Intent, Response] | None:
        if line is None:
            odd["unreadable"] += 1
            return None
        key = self._ids.get(line["custom_id"])
        if key is None or key in seen:
            odd["unknown" if key is None else "repeated"] += 1
            return None
        seen.add(key)
        intent = self._open.get(key)
        return None if intent is None else (intent, self._build(intent, line["result"]))

    def _settle(self, waiting: list[tuple[Intent, Response]]) -> None:
        self._store.settle(waiting)
        for intent, response in waiting:
            del self._open[intent.key]
            self._count(response)
        waiting.clear()

    def _build(self, intent: Intent, result: Mapping[str, Any]) -> Response:
        kind = result.get("type")
        match kind:
            case "succeeded":
                response = self._answer(intent, result.get("message"))
            case "errored":
                response = self._refuse(intent, result.get("error"))
            case "expired":
                response = self._fail(intent, "batch-expired", f"batch {self._view.id} expired before this request was worked on")
            case "canceled":
                response = self._fail(intent, "batch-canceled", f"batch {self._view.id} was canceled before this request was worked on")
            case _:
                response = self._fail(intent, "endpoint-error", "the batch's result is of a kind that the Messages API does not describe")
        self.counts[str(kind) if response.failure is None or kind != "succeeded" else "unreadable"] += 1
        if response.model_returned not in (None, response.model_requested):
            self.counts["other_model"] += 1
        return response

    def _answer(self, intent: Intent, document: Any) -> Response:
        try:
            message = read_message(document)
        except NotAMessageError as error:
            return self._fail(intent, "bad-answer", f"the batch says that the request succeeded, and its message is none: {error}")
        return Response(
            key=intent.key,
            request=intent.request,
            purpose=intent.purpose,
            model_requested=self._find_model(intent),
            model_returned=message.model,
            text=join_text(message.content),
            thinking=join_thinking(message.content),
            content=message.content,
            stop_reason=message.stop_reason,
            message_id=message.id,
            usage=message.usage,
            sent_at=self._view.created_at,
            received_at=self._view.ended_at,
            batch=self._view.id,
        )

    def _refuse(self, intent: Intent, error: Any) -> Response:
        outer = error if isinstance(error, dict) else {}
        found = outer.get("error")
        inner = found if isinstance(found, dict) else outer
        kind, message = self._tell(inner.get("type")) or "error", self._tell(inner.get("message")) or "no reason was given"
        attempt = Attempt(status=None, request_id=self._tell(outer.get("request_id")), error=kind)
        code = "not-accepted" if kind in _REFUSALS else "endpoint-error"
        return self._fail(intent, code, f"{kind}: {message}", attempts=(attempt,))

    def _fail(self, intent: Intent, code: str, message: str, *, attempts: tuple[Attempt, ...] = ()) -> Response:
        return Response(
            key=intent.key,
            request=intent.request,
            purpose=intent.purpose,
            model_requested=self._find_model(intent),
            attempts=attempts,
            sent_at=self._view.created_at,
            received_at=self._view.ended_at,
            batch=self._view.id,
            failure=Failure(code=code, message=message),
        )

    def _tell(self, value: object) -> str | None:
        """Return an endpoint's words as they can be kept: without the key that it may echo."""
        return self._redact(value) if isinstance(value, str) else None

    def _find_model(self, intent: Intent) -> str:
        if intent.request not in self._models:
            self._models[intent.request] = str(self._store.get_request(intent.request)["model"])
        return self._models[intent.request]


def build_failed(store: RunStore, intent: Intent, failure: Failure, *, batch: str | None) -> Response:
    """Return the outcome of a call that no result was read for."""
    model = str(store.get_request(intent.request).get("model"))
    return Response(key=intent.key, request=intent.request, purpose=intent.purpose, model_requested=model, batch=batch, failure=failure)
