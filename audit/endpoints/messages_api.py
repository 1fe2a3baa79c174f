"""The door to the Messages API, through the `anthropic` SDK: versions, sampling parameters, answers whole and streamed."""

import time
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from audit.endpoints.model_answers import (
    EndpointAnswer,
    ModelError,
    ModelFacts,
    ModelMessage,
    NotAMessageError,
    RequestTrouble,
    as_object,
    as_text,
    check_headers,
    name_kind,
    read_block,
    read_count,
    text_or_none,
)
from audit.endpoints.model_endpoint import Endpoint, build_http_client
from audit.records.model_response import Usage
from registry.codec.canonical_documents import Json, canonical_bytes
from registry.errors import Fault, InputError
from registry.records.replay_run import Policy
from registry.records.specification import ModelApi

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

# What is sent are the canonical bytes that the request's digest is of.

KEY = "ANTHROPIC_API_KEY"
ADDRESS = "ANTHROPIC_BASE_URL"
HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
"""Headers that the SDK adds to every request, one a line."""
SAMPLING_VERSION = "2023-06-01"
"""The API version under which sampling parameters can still be sent."""
WITHOUT_SAMPLING = "2026-10-21"
"""The first API version that refuses them (localmodel.md)."""
SAMPLING = ("temperature", "top_p", "top_k")
ONLY_CHAT = ("max_tokens_field", "seed", "top_logprobs", "extra")
"""What a policy can say to the other API alone."""
_STREAM_FROM = 21_334
"""Output tokens that imply more than ten minutes at the SDK's 128,000 an hour: streamed, or the connection would idle out."""
_LONGEST_STREAM_S = 3600.0
_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class MessagesEndpoint(Endpoint):
    """An address that speaks the Messages API."""

    api = ModelApi.MESSAGES
    path = "/v1/messages"
    models_path = "/v1/models"

    def __init__(
        self, open_client: Callable[[], "AsyncAnthropic"], sdk: ModuleType, *, version: str | None, betas: Sequence[str], **common: Any
    ) -> None:
        super().__init__(open_client, sdk, **common)
        self.api_version = version or str(self._client.default_headers["anthropic-version"])
        self.headers = {"anthropic-version": self.api_version, **({"anthropic-beta": ",".join(betas)} if betas else {})}

    async def _send(self, body: Mapping[str, Json]) -> EndpointAnswer:
        """Calls that may take longer than ten minutes are streamed; a stream that breaks off is an error, never half an answer."""
        limit = body.get("max_tokens")
        if isinstance(limit, int) and limit >= _STREAM_FROM:
            return await self._guard(self._send_streaming(body), _LONGEST_STREAM_S)
        return await self._post(canonical_bytes(body), read_message)

    def write_body(self, body: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return *body*: it is in the words of this API."""
        return body

    def read_answer(self, document: object, body: Mapping[str, Json]) -> ModelMessage:  # noqa: ARG002 - the other API's needs it
        """Return the message in *document*; raises NotAMessageError."""
        return read_message(document)

    def _read_facts(self, document: Mapping[str, Any]) -> ModelFacts:
        names = ("display_name", "lifecycle", "deprecated_at", "retires_at")
        texts: dict[str, Any] = {name: text_or_none(document.get(name)) for name in names}
        return ModelFacts(id=document["id"], **texts)

    async def _send_streaming(self, body: Mapping[str, Json]) -> EndpointAnswer:
        started = time.perf_counter()
        content = canonical_bytes({**body, "stream": True})
        assembly = MessageAssembly()
        with self._borrow() as client:
            events: Any = await client.post(
                self.path,
                cast_to=object,
                content=content,
                options=self._options(),
                stream=True,
                stream_cls=self._sdk.AsyncStream[object],
            )
            try:
                async for event in events:
                    assembly.add(event)
            except ValueError as error:
                raise self._refuse_answer(events.response, error) from error
        if not assembly.is_complete:
            raise ModelError(RequestTrouble.LOST, "the stream broke off before the end of the message", headers=events.response.headers)
        try:
            message = assembly.finish()
        except NotAMessageError as error:
            raise self._refuse_answer(events.response, error) from error
        return self._build_answer(message, events.response, time.perf_counter() - started)


def open_messages(policy: Policy, environ: Mapping[str, str], *, key: str, key_name: str, timeout_s: float) -> MessagesEndpoint:
    """Return the endpoint of *policy*; nothing is sent yet.

    Raises:
        InputError: the address is none, or sampling parameters are set that the API version does not take.
    """
    version = choose_version(policy)
    own = "take it out; policy.betas and policy.api_version say the same, and are kept"
    check_headers(environ.get(HEADERS, ""), own=("anthropic-",), advice=own, where=HEADERS)
    import anthropic

    address = find_messages_address(policy, environ)
    build_client = build_http_client(anthropic, address, timeout_s)

    def open_client() -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(api_key=key, base_url=address, max_retries=0, http_client=build_client())

    common = {"key": key, "key_name": key_name, "timeout_s": timeout_s}
    return MessagesEndpoint(open_client, anthropic, version=version, betas=policy.betas, **common)


def find_messages_address(policy: Policy, environ: Mapping[str, str]) -> str:
    """Return the address of *policy*, as it is written."""
    return policy.base_url or environ.get(ADDRESS) or "https://api.anthropic.com"


def choose_version(policy: Policy) -> str | None:
    """Return the API version to ask for; None: the SDK's own.

    Raises:
        InputError: sampling parameters are set, and the version asked for does not take them; or what this API has no parameter for.
    """
    others = [name for name in ONLY_CHAT if getattr(policy, name) is not None]
    if others:
        advice = "leave it out, or set `api: openai-chat` for a server that speaks the OpenAI API"
        raise InputError(
            [Fault("not-of-this-api", f"policy.{name}", "the Messages API does not know it", advice=advice) for name in others]
        )
    wanted = [name for name in SAMPLING if getattr(policy, name) is not None]
    if not wanted or (policy.api_version and policy.api_version < WITHOUT_SAMPLING):
        return policy.api_version
    if policy.api_version is None:
        return SAMPLING_VERSION
    problem = f"cannot be set under API version {policy.api_version}"
    advice = f"leave it out (the endpoint's default), or set policy.api_version: '{SAMPLING_VERSION}'"
    raise InputError([Fault("sampling-not-settable", f"policy.{name}", problem, advice=advice) for name in wanted])


# What an endpoint answered, read with care: a document or a stream of events becomes one message, or is no message at all.


def read_message(document: object) -> ModelMessage:
    """Return the message that *document* is.

    Raises:
        NotAMessageError: it is none: no object, without model or content, or with blocks or counts that cannot be.
    """
    message = as_object(document, "the answer")
    content = message.get("content")
    if not isinstance(content, list):
        raise NotAMessageError(f"expected a list of blocks as content, found {name_kind(content)}")
    return ModelMessage(
        id=as_text(message.get("id"), "id", required=False),
        model=as_text(message.get("model"), "model") or "",
        content=tuple(read_block(block, f"content[{place}]") for place, block in enumerate(content)),
        stop_reason=as_text(message.get("stop_reason"), "stop_reason", required=False),
        usage=_read_usage(message.get("usage")),
    )


class MessageAssembly:
    """A message that arrives in events, put together again; complete only when its end was seen."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._ended = False

    def add(self, event: object) -> None:
        """Take in one *event*; kinds that are not known change nothing.

        Raises:
            NotAMessageError: it is no event.
        """
        fields = as_object(event, "an event of the stream")
        match fields.get("type"):
            case "message_start":
                self._message = dict(as_object(fields.get("message"), "message_start"))
            case "content_block_start":
                self._blocks[_as_index(fields)] = dict(as_object(fields.get("content_block"), "content_block_start"))
            case "content_block_delta":
                self._extend(_as_index(fields), as_object(fields.get("delta"), "content_block_delta"))
            case "message_delta":
                self._message.update(as_object(fields.get("delta"), "message_delta"))
                usage = fields.get("usage")
                if isinstance(usage, Mapping):
                    counts = {name: count for name, count in usage.items() if count is not None}
                    self._message["usage"] = {**(self._message.get("usage") or {}), **counts}
            case "message_stop":
                self._ended = True
            case _:
                return

    @property
    def is_complete(self) -> bool:
        """Whether the end of the message was seen; a stream that breaks off before is no answer."""
        return self._ended

    def finish(self) -> ModelMessage:
        """Return the message; raises NotAMessageError for one that is none, or broke off."""
        if not self._ended:
            raise NotAMessageError("the stream broke off before the end of the message")
        return read_message({**self._message, "content": [self._blocks[index] for index in sorted(self._blocks)]})

    def _extend(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._blocks.get(index)
        if block is None:
            raise NotAMessageError(f"the stream continues block {index}, which it never began")
        for name in ("text", "thinking", "signature"):
            if isinstance(delta.get(name), str):
                block[name] = str(block.get(name) or "") + delta[name]
        if isinstance(delta.get("partial_json"), str):
            self._inputs.setdefault(index, []).append(delta["partial_json"])
            block["input"] = "".join(self._inputs[index])
        if "citation" in delta:
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]


def _read_usage(value: object) -> Usage:
    if value is None:
        return Usage()
    usage = as_object(value, "usage")
    counts = {name: read_count(usage.get(name), f"usage.{name}") for name in _COUNTS}
    return Usage(**counts, service_tier=as_text(usage.get("service_tier"), "usage.service_tier", required=False))


def _as_index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise NotAMessageError(f"expected a number as index of an event, found {name_kind(index)}")
    return index
