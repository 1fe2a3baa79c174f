"""The one door to a language model: an endpoint of the Messages API, its answers, its headers and its errors."""

import asyncio
import contextlib
import ipaddress
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import SplitResult, quote, urlsplit

import orjson

from audit.records.model_response import Usage
from registry.codec.canonical_documents import Json, canonical_bytes
from registry.errors import CaveatError, Fault, InputError, UnavailableError
from registry.records.replay_run import Policy

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

# What an endpoint answered, read with care: a document or a stream of events becomes one message, or is no message at all.

_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_LARGEST_COUNT = 2**53 - 1
"""The largest whole number that canonical JSON holds."""


class NotAMessageError(ValueError):
    """The answer lacks what makes a message; the text says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMessage:
    """One message of the model, as the endpoint wrote it."""

    id: str | None
    model: str
    """The model that answered, which need not be the one that was asked."""
    content: tuple[dict[str, Any], ...]
    """Blocks as they came, of types unknown to us too; empty when the model said nothing."""
    stop_reason: str | None
    usage: Usage = field(default_factory=Usage)


def read_message(document: object) -> ModelMessage:
    """Return the message that *document* is.

    Raises:
        NotAMessageError: it is none: no object, without model or content, or with blocks or counts that cannot be.
    """
    found = _as_object(document, "the answer")
    content = found.get("content")
    if not isinstance(content, list):
        raise NotAMessageError(f"expected a list of blocks as content, found {_name(content)}")
    return ModelMessage(
        id=_as_text(found.get("id"), "id", required=False),
        model=_as_text(found.get("model"), "model") or "",
        content=tuple(_read_block(block, place) for place, block in enumerate(content)),
        stop_reason=_as_text(found.get("stop_reason"), "stop_reason", required=False),
        usage=_read_usage(found.get("usage")),
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
        found = _as_object(event, "an event of the stream")
        match found.get("type"):
            case "message_start":
                self._message = dict(_as_object(found.get("message"), "message_start"))
            case "content_block_start":
                self._blocks[_as_index(found)] = dict(_as_object(found.get("content_block"), "content_block_start"))
            case "content_block_delta":
                self._extend(_as_index(found), _as_object(found.get("delta"), "content_block_delta"))
            case "message_delta":
                self._message.update(_as_object(found.get("delta"), "message_delta"))
                usage = found.get("usage")
                if isinstance(usage, Mapping):
                    told = {name: count for name, count in usage.items() if count is not None}
                    self._message["usage"] = {**(self._message.get("usage") or {}), **told}
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


def _read_block(block: object, place: int) -> dict[str, Any]:
    found = dict(_as_object(block, f"content[{place}]"))
    kind = _as_text(found.get("type"), f"content[{place}].type")
    if kind in ("text", "thinking"):
        _as_text(found.get(kind), f"content[{place}].{kind}")
    try:
        canonical_bytes(found)
    except CaveatError as error:
        raise NotAMessageError(f"content[{place}] cannot be kept: {error.faults[0].found}") from error
    return found


def _read_usage(value: object) -> Usage:
    if value is None:
        return Usage()
    found = _as_object(value, "usage")
    counts = {name: found.get(name) for name in _COUNTS}
    for name, count in counts.items():
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _LARGEST_COUNT):
            raise NotAMessageError(f"expected a count of tokens as usage.{name}, found {count!r:.40}")
    return Usage(**counts, service_tier=_as_text(found.get("service_tier"), "usage.service_tier", required=False))


def _as_object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise NotAMessageError(f"expected an object as {where}, found {_name(value)}")
    return value


def _as_text(value: object, where: str, *, required: bool = True) -> str | None:
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise NotAMessageError(f"expected a text as {where}, found {_name(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise NotAMessageError(f"{where} cannot be kept: it holds half a character (a lone surrogate)") from error
    return value


def _as_index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise NotAMessageError(f"expected a number as index of an event, found {_name(index)}")
    return index


def _name(value: object) -> str:
    """What *value* is, in JSON's words."""
    names: Iterable[tuple[type, str]] = (
        (bool, "a truth value"),
        (str, "a text"),
        ((int), "a number"),
        (float, "a number"),
        (list, "a list"),
    )
    return "nothing" if value is None else next((name for kind, name in names if isinstance(value, kind)), "an object")


# What the headers of an answer tell: how much the endpoint still allows, and how long it asks to wait.


@dataclass(frozen=True, slots=True, kw_only=True)
class RateQuota:
    """What one kind of rate limit still allows, as the endpoint told in its headers."""

    kind: str
    """`requests`, `tokens`, `input-tokens` or `output-tokens`."""
    limit: float
    remaining: float
    reset_s: float | None
    """Seconds until it is full again; None: not told."""


def read_quotas(headers: Mapping[str, str]) -> tuple[RateQuota, ...]:
    """Return the rate limits that *headers* tell of; those that cannot be read are not there."""
    quotas = []
    for kind in ("requests", "tokens", "input-tokens", "output-tokens"):
        limit, remaining = (_read_number(headers.get(f"anthropic-ratelimit-{kind}-{name}")) for name in ("limit", "remaining"))
        if limit is not None and remaining is not None:
            reset_s = _read_reset(headers.get(f"anthropic-ratelimit-{kind}-reset"))
            quotas.append(RateQuota(kind=kind, limit=limit, remaining=remaining, reset_s=reset_s))
    return tuple(quotas)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait; None when it does not, or not in a way that can be read."""
    milliseconds = _read_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _read_number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _read_number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return value if 0 <= value < 1e18 else None


def _read_reset(text: str | None) -> float | None:
    """Return the seconds until the moment in *text* (RFC 3339, as the API writes it), or which it is itself."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _read_number(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


# Where requests go, as a person set it: what is refused of it before anything is sent or written down.

_ADDED = ("/v1", "/v1/messages")
"""Ends of an address that the SDK adds by itself."""


def check_address(address: str, *, where: str) -> None:
    """Return when *address* can be an endpoint's; it is kept with every recording, so it must hold no secret.

    Raises:
        InputError: it is not a web address, ends as no base address does, or holds a login, a query or a fragment.
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(Fault("bad-endpoint", where, "is not a web address: host or port cannot be read")) from error
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(Fault("bad-endpoint", where, "expected an address that begins with https:// or http:// and names a machine"))
    faults = [Fault("bad-endpoint", where, found, advice=advice) for found, advice in _find_faults(parts)]
    if faults:
        raise InputError(faults)


def check_headers(text: str, *, where: str) -> None:
    """Return when the headers in *text*, one a line, change nothing that a recording would have to say.

    Raises:
        InputError: one of them is the API's own, such as a beta.
    """
    names = sorted({name for line in text.split("\n") if (name := line.partition(":")[0].strip().lower()).startswith("anthropic-")})
    if names:
        found = f"sets {', '.join(names)} behind the recording's back"
        advice = "take it out; policy.betas and policy.api_version say the same, and are kept"
        raise InputError(Fault("not-valid", where, found, advice=advice))


def is_loopback(address: str) -> bool:
    """Return whether *address* is on this very machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _find_faults(parts: SplitResult) -> Iterator[tuple[str, str]]:
    if "@" in parts.netloc:
        yield "holds a login, and the address is kept with the recording", "leave it out; the key is read from ANTHROPIC_API_KEY"
    if parts.query or parts.fragment:
        yield "holds a query or a fragment, and the address is kept with the recording", "end it with the path"
    if parts.path.rstrip("/").endswith(_ADDED):
        yield f"ends with {parts.path.rstrip('/')}, and /v1/messages is added to it", "leave /v1 out"


# Outcome of a request that has no answer: one kind of error, with what it says about trying again and about money.

LONGEST_BODY = 300
"""Characters that are kept of an error's body that is no error document, such as a gateway's page."""


class RequestTrouble(StrEnum):
    """Outcome of a request that has no answer; docs/running.md has a line for each."""

    KEY_REFUSED = "api-key-refused"
    NOT_FOUND = "endpoint-model-unknown"
    NOT_ACCEPTED = "not-accepted"
    RATE_LIMITED = "rate-limited"
    OVERLOADED = "overloaded"
    SERVER = "endpoint-error"
    TIME_OUT = "time-out"
    UNREACHABLE = "unreachable"
    LOST = "connection-lost"
    BAD_ANSWER = "bad-answer"


class ModelError(Exception):
    """One HTTP request without an answer, classified; its text never holds a key."""

    def __init__(
        self,
        trouble: RequestTrouble,
        message: str,
        *,
        type_: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        headers = headers or {}
        self.trouble = trouble
        self.message = message
        self.type = type_ or trouble.value
        """The endpoint's own name for it, such as `overloaded_error`."""
        self.status = status
        self.request_id = headers.get("request-id")
        self.retry_after_s = read_retry_after(headers)
        """Seconds that the endpoint asks to wait; None: not told."""
        self.quotas = read_quotas(headers)

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.trouble in _PASSING

    @property
    def may_be_billed(self) -> bool:
        """Whether the request may have reached a model: a repetition may be billed twice."""
        return self.trouble in DOUBTFUL or self.status in GIVEN_UP


DOUBTFUL = (RequestTrouble.TIME_OUT, RequestTrouble.LOST, RequestTrouble.BAD_ANSWER)
"""What may have happened after a model had answered, so that the request is paid for."""
GIVEN_UP = (408, 502, 504)
"""What a gateway answers that stopped waiting for the model behind it."""
_PASSING = {
    RequestTrouble.RATE_LIMITED,
    RequestTrouble.OVERLOADED,
    RequestTrouble.SERVER,
    RequestTrouble.TIME_OUT,
    RequestTrouble.UNREACHABLE,
    RequestTrouble.LOST,
}


_TROUBLES = {
    401: RequestTrouble.KEY_REFUSED,
    403: RequestTrouble.KEY_REFUSED,
    404: RequestTrouble.NOT_FOUND,
    408: RequestTrouble.SERVER,
    409: RequestTrouble.SERVER,
    429: RequestTrouble.RATE_LIMITED,
    529: RequestTrouble.OVERLOADED,
}
_STATUSES = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}
_STATUSES |= {"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529}
"""By the API's names of errors, the status that goes with each, for errors that arrive under a status of success."""


def classify_status(status: int, type_: str | None) -> tuple[int, RequestTrouble]:
    """Return status and kind of the error that an endpoint told; one told under a success is known by its *type_*."""
    if 200 <= status < 300:
        status = _STATUSES.get(type_ or "", 500)
    return status, _TROUBLES.get(status) or (RequestTrouble.SERVER if status >= 500 else RequestTrouble.NOT_ACCEPTED)


def read_error_body(body: object) -> tuple[str | None, str | None]:
    """Return type and message of an error document; a body that is none is its own message."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        type_, message = error.get("type"), error.get("message")
        return (type_ if isinstance(type_, str) else None), (message if isinstance(message, str) else None)
    return None, (" ".join(body.split()) or None) if isinstance(body, str) else None


# The one door to a language model: an endpoint that speaks the Messages API, through the `anthropic` SDK.
#
# One call of `send` is one HTTP request: retries are the engine's, because the SDK obeys `retry-after` without a ceiling and tells
# no one that a repeated request may be billed twice. What is sent are the canonical bytes that the request's digest is of. The key
# comes from the environment, and is taken out of every message that leaves here.

_Got = TypeVar("_Got")
KEY = "ANTHROPIC_API_KEY"
ADDRESS = "ANTHROPIC_BASE_URL"
_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
"""Headers that the SDK adds to every request, one a line."""
SAMPLING_VERSION = "2023-06-01"
"""The API version under which sampling parameters can still be sent."""
WITHOUT_SAMPLING = "2026-10-21"
"""The first API version that refuses them (localmodel.md)."""
SAMPLING = ("temperature", "top_p", "top_k")
_STREAM_FROM = 21_334
"""Output tokens that imply more than ten minutes at the SDK's 128,000 an hour: streamed, or the connection would idle out."""
_LONGEST_STREAM_S = 3600.0
_POOL = 32
"""Requests under way in one client; with 256 in one, its pool took two thirds of the client's time."""
_SHORTEST_SECRET = 8
_LONGEST_TEXT = 2000
"""Characters of an endpoint's error text that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAnswer:
    """A message, and how it came."""

    message: ModelMessage
    status: int
    request_id: str | None
    quotas: tuple[RateQuota, ...] = ()
    latency_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What the endpoint says of a model; None: it does not say."""

    id: str
    display_name: str | None = None
    lifecycle: str | None = None
    """`active`, `deprecated` or `retired`."""
    deprecated_at: str | None = None
    retires_at: str | None = None
    note: str | None = None
    """Why nothing is known, where the endpoint lists no models."""


class Endpoint:
    """One address that answers the Messages API, with a key. Use it in one event loop, and close it there (`async with`)."""

    def __init__(
        self, open_client: Callable[[], "AsyncAnthropic"], *, key: str, api_version: str | None, betas: tuple[str, ...], timeout_s: float
    ) -> None:
        self._open_client = open_client
        self._client = open_client()
        self._clients = [self._client]
        self._under_way = [0]
        """Requests of each client."""
        # A word such as `any`, for an endpoint that looks at no key, is taken out where it stands alone.
        edge = r"\b" if len(key) < _SHORTEST_SECRET else ""
        self._secret = re.compile(f"{edge}{re.escape(key)}{edge}")
        api_version = api_version or str(self._client.default_headers["anthropic-version"])
        self.base_url = str(self._client.base_url).rstrip("/")
        self.api_version = api_version
        self.betas = betas
        self.timeout_s = timeout_s
        self.headers = {"anthropic-version": api_version, **({"anthropic-beta": ",".join(betas)} if betas else {})}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections."""
        for client in self._clients:
            await client.close()

    async def send(self, body: Mapping[str, Json]) -> EndpointAnswer:
        """Return what the model answers to *body*: one HTTP request, no retry.

        Calls that may take longer than ten minutes are streamed; a stream that breaks off is an error, never half an answer.

        Raises:
            ModelError: there is no answer.
        """
        limit = body.get("max_tokens")
        if isinstance(limit, int) and limit >= _STREAM_FROM:
            return await self._guard(self._send_streaming(body), _LONGEST_STREAM_S)
        return await self._guard(self._send_whole(body), self.timeout_s)

    async def describe_model(self, model: str, *, allow_alias: bool = False) -> ModelFacts:
        """Return what the endpoint says of *model*, before anything is paid for.

        An endpoint that lists no models says nothing, and `note` says so.

        Raises:
            InputError: it does not know the model, or *model* is an alias, which may come to mean another one.
            UnavailableError: the key is refused, or the endpoint does not answer.
        """
        if model.endswith("-latest") and not allow_alias:
            raise _refuse_alias(model, "another version whenever one is released")
        try:
            found = orjson.loads((await self.request("GET", f"/v1/models/{quote(model, safe='')}")).content)
        except (ModelError, orjson.JSONDecodeError) as error:
            return self._explain_silence(model, error)
        if not isinstance(found, dict) or not isinstance(found.get("id"), str):
            return ModelFacts(id=model, note="the endpoint describes no models")
        if found["id"] != model and not allow_alias:
            raise _refuse_alias(model, found["id"])
        told = {name: _as_told(found.get(name)) for name in ("display_name", "lifecycle", "deprecated_at", "retires_at")}
        return ModelFacts(id=found["id"], **told)

    async def request(self, method: str, path: str, *, body: Mapping[str, Json] | None = None) -> "httpx2.Response":
        """Return the answer to one HTTP request of another kind (models, batches), read whole; raises ModelError."""
        import httpx2

        content = None if body is None else canonical_bytes(body)
        options: Any = {"headers": self.headers, "timeout": self.timeout_s, "max_retries": 0, "follow_redirects": False}
        asked: Awaitable[httpx2.Response]
        if method == "GET":
            asked = self._client.get(path, cast_to=httpx2.Response, options=options)
        else:
            asked = self._client.post(path, cast_to=httpx2.Response, content=content, options=options)
        return await self._guard(asked, self.timeout_s)

    async def read_lines(self, path: str) -> AsyncIterator[bytes]:
        """Give the lines of a long answer (a batch's results) as they arrive; raises ModelError, also when it breaks off."""
        import anthropic
        import httpx2

        options: Any = {"headers": self.headers, "timeout": self.timeout_s, "max_retries": 0}
        stream: Any = anthropic.AsyncStream
        opened = self._client.get(path, cast_to=object, options=options, stream=True, stream_cls=stream[object])
        answer: Any = await self._guard(opened, self.timeout_s)
        held = b""
        try:
            async for piece in answer.response.aiter_bytes():
                *lines, held = (held + piece).split(b"\n")
                for line in lines:
                    yield line
        except httpx2.HTTPError as error:
            raise self._classify_connection(error) from error
        finally:
            await answer.response.aclose()
        if held:
            yield held

    def redact(self, text: str) -> str:
        """Return *text* without the key and without half a character (a lone surrogate), and not longer than can be kept."""
        return self._secret.sub("[key]", text.encode("utf-8", "replace").decode())[:_LONGEST_TEXT]

    @contextlib.contextmanager
    def _borrow(self) -> Iterator["AsyncAnthropic"]:
        """Give a client with few requests under way: a pool looks at each of its connections for every request."""
        place = next((place for place, count in enumerate(self._under_way) if count < _POOL), len(self._clients))
        if place == len(self._clients):
            self._clients.append(self._open_client())
            self._under_way.append(0)
        self._under_way[place] += 1
        try:
            yield self._clients[place]
        finally:
            self._under_way[place] -= 1

    async def _send_whole(self, body: Mapping[str, Json]) -> EndpointAnswer:
        import httpx2

        started = time.perf_counter()
        options: Any = {"headers": self.headers, "timeout": self.timeout_s, "max_retries": 0, "follow_redirects": False}
        with self._borrow() as client:
            response = await client.post("/v1/messages", cast_to=httpx2.Response, content=canonical_bytes(body), options=options)
        latency_s = time.perf_counter() - started
        try:
            document = orjson.loads(response.content)
            if isinstance(document, dict) and document.get("type") == "error":
                raise self._classify_told(response.status_code, document, response.headers)
            message = read_message(document)
        except (NotAMessageError, orjson.JSONDecodeError) as error:
            raise self._refuse_answer(response, error) from error
        return _build_answer(message, response, latency_s)

    async def _send_streaming(self, body: Mapping[str, Json]) -> EndpointAnswer:
        import anthropic

        started = time.perf_counter()
        options: Any = {"headers": self.headers, "timeout": self.timeout_s, "max_retries": 0, "follow_redirects": False}
        stream: Any = anthropic.AsyncStream
        content = canonical_bytes({**body, "stream": True})
        assembly = MessageAssembly()
        with self._borrow() as client:
            events: Any = await client.post(
                "/v1/messages", cast_to=object, content=content, options=options, stream=True, stream_cls=stream[object]
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
        return _build_answer(message, events.response, time.perf_counter() - started)

    async def _guard(self, asked: Awaitable[_Got], limit_s: float) -> _Got:
        """Await *asked*; whatever goes wrong becomes one kind of error, without the key."""
        import anthropic
        import httpx2

        try:
            async with asyncio.timeout(limit_s):
                return await asked
        except (anthropic.APITimeoutError, TimeoutError, httpx2.TimeoutException) as error:
            raise ModelError(RequestTrouble.TIME_OUT, f"no answer within {limit_s:g} s") from error
        except anthropic.APIStatusError as error:
            raise self._classify_status(error) from error
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            raise self._classify_connection(error) from error
        except anthropic.AnthropicError as error:
            raise ModelError(RequestTrouble.BAD_ANSWER, self.redact(str(error))) from error

    def _classify_status(self, error: Any) -> ModelError:
        status, headers = error.response.status_code, error.response.headers
        return self._classify_told(status, error.body, headers)

    def _classify_told(self, status: int, body: object, headers: Mapping[str, str]) -> ModelError:
        """Return the error that an endpoint tells in *body*, also where it does so in a stream, or in an answer, that began well."""
        type_, message = read_error_body(body)
        status, trouble = classify_status(status, type_)
        # Cut after the key is taken out: half a key is no longer found.
        text = self.redact(message or f"HTTP {status} without an explanation")[: None if type_ else LONGEST_BODY]
        return ModelError(trouble, text, type_=self.redact(type_ or "") or None, status=status, headers=headers)

    def _classify_connection(self, error: BaseException) -> ModelError:
        import httpx2

        cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__
        if isinstance(cause, httpx2.TimeoutException) and not isinstance(cause, httpx2.ConnectTimeout):
            return ModelError(RequestTrouble.TIME_OUT, f"nothing came for {self.timeout_s:g} s")
        unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.ProxyError)
        trouble = RequestTrouble.UNREACHABLE if isinstance(cause, unsent) else RequestTrouble.LOST
        return ModelError(trouble, self.redact(f"{type(cause or error).__name__}: {cause or error}"))

    def _refuse_answer(self, response: "httpx2.Response", error: Exception) -> ModelError:
        text = f"the endpoint answered {response.status_code}, and it is no message: {error}"
        return ModelError(RequestTrouble.BAD_ANSWER, self.redact(text), status=response.status_code, headers=response.headers)

    def _explain_silence(self, model: str, error: Exception) -> ModelFacts:
        """Decide what an endpoint's refusal to describe *model* means; only a hosted API's words make it unknown."""
        if not isinstance(error, ModelError):
            return ModelFacts(id=model, note="the endpoint describes no models")
        if error.trouble is RequestTrouble.KEY_REFUSED:
            raise build_key_refused(self, error)
        if error.trouble in (RequestTrouble.UNREACHABLE, RequestTrouble.TIME_OUT, RequestTrouble.LOST):
            raise build_unreachable(self, error)
        if error.status == 404 and model in error.message:
            raise build_unknown_model(self, model, error)
        return ModelFacts(id=model, note=f"the endpoint describes no models (HTTP {error.status})")


def open_endpoint(policy: Policy, *, environ: Mapping[str, str] = os.environ, timeout_s: float = 600.0) -> Endpoint:
    """Return the endpoint of *policy*; nothing is sent yet.

    Args:
        environ: where the key is (ANTHROPIC_API_KEY) and, when the policy names none, the address (ANTHROPIC_BASE_URL).
        timeout_s: seconds that one request may take; streamed ones: seconds without a byte.

    Raises:
        UnavailableError: there is no key.
        InputError: the address is none, or sampling parameters are set that the API version does not take.
    """
    key = environ.get(KEY, "").strip()
    if not key:
        advice = f"export {KEY}=… (Caveat reads it from the environment and stores it nowhere)"
        raise UnavailableError(Fault("api-key-missing", KEY, "is not set, and no request can be made without it", advice=advice))
    if not key.isascii() or not key.isprintable():
        raise UnavailableError(Fault("api-key-missing", KEY, "holds characters that no key has"))
    version = choose_version(policy)
    check_headers(environ.get(_HEADERS, ""), where=_HEADERS)
    import anthropic
    import httpx2

    address = policy.base_url or environ.get(ADDRESS) or "https://api.anthropic.com"
    check_address(address, where="policy.base_url" if policy.base_url else ADDRESS)
    # A proxy that the environment names is for the world outside, and cannot reach this machine's own loopback.
    direct: Any = {f"all://{httpx2.URL(address).host}": None} if is_loopback(address) else {}
    verify = httpx2.create_ssl_context()  # made once: reading the certificates takes 25 ms

    def open_client() -> anthropic.AsyncAnthropic:
        limits = httpx2.Limits(max_connections=2 * _POOL, max_keepalive_connections=2 * _POOL)
        http = anthropic.DefaultAsyncHttpxClient(
            limits=limits, timeout=httpx2.Timeout(timeout_s, connect=10.0), verify=verify, mounts=direct
        )
        return anthropic.AsyncAnthropic(api_key=key, base_url=address, max_retries=0, http_client=http)

    return Endpoint(open_client, key=key, api_version=version, betas=policy.betas, timeout_s=timeout_s)


def choose_version(policy: Policy) -> str | None:
    """Return the API version to ask for; None: the SDK's own.

    Raises:
        InputError: sampling parameters are set, and the version asked for does not take them.
    """
    wanted = [name for name in SAMPLING if getattr(policy, name) is not None]
    if not wanted or (policy.api_version and policy.api_version < WITHOUT_SAMPLING):
        return policy.api_version
    if policy.api_version is None:
        return SAMPLING_VERSION
    found = f"cannot be set under API version {policy.api_version}"
    advice = f"leave it out (the endpoint's default), or set policy.api_version: '{SAMPLING_VERSION}'"
    raise InputError([Fault("sampling-not-settable", f"policy.{name}", found, advice=advice) for name in wanted])


def describe_sampling(policy: Policy, *, api_version: str) -> dict[str, str]:
    """Return for each sampling parameter its value as set, `default`, or `not settable`, as provenance says it."""
    unset = "default" if api_version < WITHOUT_SAMPLING else "not settable"
    return {name: unset if getattr(policy, name) is None else str(getattr(policy, name)) for name in SAMPLING}


def build_key_refused(endpoint: Endpoint, error: ModelError) -> UnavailableError:
    """Return the error that ends a run whose key the endpoint does not take."""
    found = f"the endpoint does not take the key in {KEY} (HTTP {error.status}): {error.message}"
    advice = f"check {KEY}, and that it is a key for this endpoint"
    return UnavailableError(Fault("api-key-refused", endpoint.base_url, found, advice=advice))


def build_unknown_model(endpoint: Endpoint, model: str, error: ModelError) -> InputError:
    """Return the error that ends a run whose model the endpoint does not know."""
    found = f"the endpoint does not know the model {model} (HTTP {error.status}): {error.message}"
    return InputError(Fault("endpoint-model-unknown", endpoint.base_url, found))


def build_unreachable(endpoint: Endpoint, error: ModelError) -> UnavailableError:
    """Return the error that ends a run whose endpoint does not answer."""
    found = f"the endpoint does not answer ({error.trouble.value}): {error.message}"
    return UnavailableError(Fault("endpoint-unreachable", endpoint.base_url, found))


def _refuse_alias(model: str, meant: str) -> InputError:
    return InputError(Fault("model-alias", f"model {model}", f"is an alias: it means {meant}, and may come to mean another version"))


def _build_answer(message: ModelMessage, response: "httpx2.Response", latency_s: float) -> EndpointAnswer:
    headers = response.headers
    return EndpointAnswer(
        message=message,
        status=response.status_code,
        request_id=headers.get("request-id"),
        quotas=read_quotas(headers),
        latency_s=latency_s,
    )


def _as_told(value: object) -> str | None:
    return value if isinstance(value, str) else None
