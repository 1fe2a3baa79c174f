"""The one door to a language model: an endpoint that speaks the Messages API, through the `anthropic` SDK.

One call of `send` is one HTTP request: retries are the engine's, because the SDK obeys `retry-after` without a ceiling and tells nobody
that a repeated request may be billed twice. What is sent are the canonical bytes that the request's digest is of. The key comes from
the environment, and is taken out of every message that leaves here.
"""

import asyncio
import contextlib
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote

import orjson

from audit.address import check_address, check_headers, is_loopback
from audit.headers import Quota, read_quotas
from audit.message import Assembly, Message, NotAMessageError, read_message
from audit.trouble import LONGEST_BODY, ModelError, Trouble, classify_status, read_error_body
from registry.codec.canonical_documents import Json, canonical_bytes
from registry.errors import Fault, InputError, UnavailableError
from registry.records.replay_definition import Policy

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

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
class Answer:
    """A message, and how it came."""

    message: Message
    status: int
    request_id: str | None
    quotas: tuple[Quota, ...] = ()
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

    async def send(self, body: Mapping[str, Json]) -> Answer:
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

    async def _send_whole(self, body: Mapping[str, Json]) -> Answer:
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

    async def _send_streaming(self, body: Mapping[str, Json]) -> Answer:
        import anthropic

        started = time.perf_counter()
        options: Any = {"headers": self.headers, "timeout": self.timeout_s, "max_retries": 0, "follow_redirects": False}
        stream: Any = anthropic.AsyncStream
        content = canonical_bytes({**body, "stream": True})
        assembly = Assembly()
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
            raise ModelError(Trouble.LOST, "the stream broke off before the end of the message", headers=events.response.headers)
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
            raise ModelError(Trouble.TIME_OUT, f"no answer within {limit_s:g} s") from error
        except anthropic.APIStatusError as error:
            raise self._classify_status(error) from error
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            raise self._classify_connection(error) from error
        except anthropic.AnthropicError as error:
            raise ModelError(Trouble.BAD_ANSWER, self.redact(str(error))) from error

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
            return ModelError(Trouble.TIME_OUT, f"nothing came for {self.timeout_s:g} s")
        unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.ProxyError)
        trouble = Trouble.UNREACHABLE if isinstance(cause, unsent) else Trouble.LOST
        return ModelError(trouble, self.redact(f"{type(cause or error).__name__}: {cause or error}"))

    def _refuse_answer(self, response: "httpx2.Response", error: Exception) -> ModelError:
        found = f"the endpoint answered {response.status_code}, and it is no message: {error}"
        return ModelError(Trouble.BAD_ANSWER, self.redact(found), status=response.status_code, headers=response.headers)

    def _explain_silence(self, model: str, error: Exception) -> ModelFacts:
        """Decide what an endpoint's refusal to describe *model* means; only a hosted API's words make it unknown."""
        if not isinstance(error, ModelError):
            return ModelFacts(id=model, note="the endpoint describes no models")
        if error.trouble is Trouble.KEY_REFUSED:
            raise build_key_refused(self, error)
        if error.trouble in (Trouble.UNREACHABLE, Trouble.TIME_OUT, Trouble.LOST):
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
        advice = f"export {KEY}=… (it is read from the environment alone, and kept nowhere)"
        raise UnavailableError(
            Fault(code="key-missing", where=KEY, found="is not set, and no request can be made without it", advice=advice)
        )
    if not key.isascii() or not key.isprintable():
        raise UnavailableError(Fault(code="key-missing", where=KEY, found="holds characters that no key has", advice="set it again"))
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
    raise InputError([Fault(code="sampling-not-settable", where=f"policy.{name}", found=found, advice=advice) for name in wanted])


def describe_sampling(policy: Policy, *, api_version: str) -> dict[str, str]:
    """Return for each sampling parameter its value as set, `default`, or `not settable`, as provenance says it."""
    unset = "default" if api_version < WITHOUT_SAMPLING else "not settable"
    return {name: unset if getattr(policy, name) is None else str(getattr(policy, name)) for name in SAMPLING}


def build_key_refused(endpoint: Endpoint, error: ModelError) -> UnavailableError:
    """Return the error that ends a run whose key the endpoint does not take."""
    found = f"the endpoint does not take the key in {KEY} (HTTP {error.status}): {error.message}"
    advice = f"check {KEY}, and that it is a key for this endpoint"
    return UnavailableError(Fault(code="key-refused", where=endpoint.base_url, found=found, advice=advice))


def build_unknown_model(endpoint: Endpoint, model: str, error: ModelError) -> InputError:
    """Return the error that ends a run whose model the endpoint does not know."""
    found = f"the endpoint does not know the model {model} (HTTP {error.status}): {error.message}"
    advice = "name an exact version that the endpoint lists, and check that policy.base_url is where its Messages API begins"
    return InputError(Fault(code="unknown-model", where=endpoint.base_url, found=found, advice=advice))


def build_unreachable(endpoint: Endpoint, error: ModelError) -> UnavailableError:
    """Return the error that ends a run whose endpoint does not answer."""
    found = f"the endpoint does not answer ({error.trouble.value}): {error.message}"
    advice = "check policy.base_url or ANTHROPIC_BASE_URL, and the network"
    return UnavailableError(Fault(code="endpoint-unreachable", where=endpoint.base_url, found=found, advice=advice))


def _refuse_alias(model: str, meant: str) -> InputError:
    found = f"is an alias: it means {meant}, and may come to mean another version"
    advice = "name the exact version, or set policy.allow_alias: true (a change during the replay still stops it)"
    return InputError(Fault(code="model-alias", where=f"model {model}", found=found, advice=advice))


def _build_answer(message: Message, response: "httpx2.Response", latency_s: float) -> Answer:
    headers = response.headers
    return Answer(
        message=message,
        status=response.status_code,
        request_id=headers.get("request-id"),
        quotas=read_quotas(headers),
        latency_s=latency_s,
    )


def _as_told(value: object) -> str | None:
    return value if isinstance(value, str) else None
