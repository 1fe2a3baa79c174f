"""The port to a language model: one endpoint, whatever API it speaks, its requests, and the errors that end a run."""

import asyncio
import contextlib
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar
from urllib.parse import quote

import orjson

from audit.endpoints.model_answers import (
    LONGEST_BODY,
    EndpointAnswer,
    ModelError,
    ModelFacts,
    ModelMessage,
    NotAMessageError,
    RequestTrouble,
    classify_status,
    find_request_id,
    is_loopback,
    read_error_body,
    read_quotas,
)
from registry.codec.canonical_documents import Json, canonical_bytes
from registry.errors import CaveatError, Fault, InputError, UnavailableError
from registry.records.specification import NO_KEY, ModelApi

if TYPE_CHECKING:
    import httpx2

# One call of `send` is one HTTP request. Retries are the engine's, because both SDKs obey `retry-after` without a ceiling and tell no
# one that a repeated request may be billed twice. Both are made by the same generator, so their clients have the same low-level
# methods and the same names of errors, and this port needs nothing else of them. The key comes from the environment, and is taken
# out of every message that leaves here. Redirects are not followed: they could take the key to another host.

_Got = TypeVar("_Got")
_POOL = 32
"""Requests under way in one client; with 256 in one, its pool took two thirds of the client's time."""
_SHORTEST_SECRET = 8
_LONGEST_TEXT = 2000
"""Characters of an endpoint's error text that are kept."""
OPENAI_KEY = "OPENAI_API_KEY"
_REFUSED_PARAMETER = ("unsupported_parameter", "unsupported_value", "unknown_parameter")
"""The OpenAI API's codes for a parameter, or a value of one, that a model does not take."""
_UNKNOWN_PATH = (404, 405, 501)
"""What a server answers that does not know the path of a request."""


class Endpoint(ABC):
    """One address that answers an API, with a key. Use it in one event loop, and close it there (`async with`)."""

    api: ClassVar[ModelApi]
    path: ClassVar[str]
    """Where a message is asked for, after the base address."""
    models_path: ClassVar[str]
    """Where models are listed."""
    unsettable: Mapping[str, str] = MappingProxyType({})
    """Sampling parameters that cannot be set here, each with the reason; of an unknown host, none is known to be so."""

    def __init__(self, open_client: Callable[[], Any], sdk: ModuleType, *, key: str, key_name: str, timeout_s: float) -> None:
        self._open_client = open_client
        self._sdk: Any = sdk
        self._client = open_client()
        self._clients = [self._client]
        self._under_way = [0]
        """Requests of each client."""
        # A word such as `any`, for an endpoint that looks at no key, is taken out where it stands alone.
        edge = r"\b" if len(key) < _SHORTEST_SECRET else ""
        self._secret = re.compile(f"{edge}{re.escape(key)}{edge}" if key else "(?!)")
        self.key_name = key_name
        """The environment variable that the key is from."""
        self.base_url = str(self._client.base_url).rstrip("/")
        self.api_version = self.api.value
        """Of the Messages API its version; the other API has none, and its name stands here."""
        self.timeout_s = timeout_s
        self.headers: Mapping[str, Any] = {}
        self._is_known = False
        """Whether it has answered in its own API, so that no error is taken for the wrong one."""
        self._probe: asyncio.Task[ModelApi | None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections."""
        for client in self._clients:
            await client.close()

    async def send(self, body: Mapping[str, Json]) -> EndpointAnswer:
        """Return what the model answers to *body*, a request in the form of the Messages API: one HTTP request, no retry.

        Raises:
            ModelError: there is no answer; WRONG_API where the address speaks another API, which is asked for once.
        """
        try:
            answer = await self._send(body)
        except ModelError as error:
            raise await self._diagnose(error, str(body.get("model"))) from error
        self._is_known = True
        return answer

    @abstractmethod
    async def _send(self, body: Mapping[str, Json]) -> EndpointAnswer:
        """Return the answer to *body*; raises ModelError."""

    @abstractmethod
    def write_body(self, body: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return *body*, a request in the form of the Messages API, in the words of this API."""

    @abstractmethod
    def read_answer(self, document: object, body: Mapping[str, Json]) -> ModelMessage:
        """Return the message in *document*, a batch's answer to *body*; raises NotAMessageError."""

    @abstractmethod
    def _read_facts(self, document: Mapping[str, Any]) -> ModelFacts:
        """Return what *document*, an answer about one model, says of it."""

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
            document = orjson.loads((await self.request("GET", f"{self.models_path}/{quote(model, safe='')}")).content)
        except (ModelError, orjson.JSONDecodeError) as error:
            return self._explain_silence(model, error)
        if not isinstance(document, dict) or not isinstance(document.get("id"), str):
            return ModelFacts(id=model, note="the endpoint describes no models")
        if document["id"] != model and not allow_alias:
            raise _refuse_alias(model, document["id"])
        return self._read_facts(document)

    async def request(self, method: str, path: str, *, body: Mapping[str, Json] | None = None) -> "httpx2.Response":
        """Return the answer to one HTTP request of another kind (models, batches), read whole; raises ModelError."""
        import httpx2

        request: Awaitable[httpx2.Response]
        if method == "GET":
            request = self._client.get(path, cast_to=httpx2.Response, options=self._options())
        else:
            content = None if body is None else canonical_bytes(body)
            request = self._client.post(path, cast_to=httpx2.Response, content=content, options=self._options())
        return await self._guard(request, self.timeout_s)

    async def upload(self, path: str, *, fields: Mapping[str, str], name: str, content: bytes) -> "httpx2.Response":
        """Return the answer to a file that is sent as a form with *fields*; raises ModelError."""
        import httpx2

        options = self._options()
        options["headers"] = {**options["headers"], "Content-Type": "multipart/form-data"}
        files = [("file", (name, content, "application/jsonl"))]
        asked = self._client.post(path, cast_to=httpx2.Response, body=dict(fields), files=files, options=options)
        return await self._guard(asked, self.timeout_s)

    async def read_lines(self, path: str) -> AsyncIterator[bytes]:
        """Give the lines of a long answer (a batch's results) as they arrive; raises ModelError, also when it breaks off."""
        import httpx2

        opened = self._client.get(path, cast_to=object, options=self._options(), stream=True, stream_cls=self._sdk.AsyncStream[object])
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

    def _read_error(self, error: Any) -> object:
        """Return the body of *error*, an SDK's error about a status."""
        return error.body

    def redact(self, text: str) -> str:
        """Return *text* without the key and without half a character (a lone surrogate), and not longer than can be kept."""
        return self._secret.sub("[key]", text.encode("utf-8", "replace").decode())[:_LONGEST_TEXT]

    def _options(self) -> Any:
        return {"headers": self.headers, "timeout": self.timeout_s, "max_retries": 0, "follow_redirects": False}

    @contextlib.contextmanager
    def _borrow(self) -> Iterator[Any]:
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

    async def _post(self, content: bytes, read: Callable[[object], ModelMessage]) -> EndpointAnswer:
        """Return the answer to a request for a message, of which *read* makes one; raises ModelError."""
        import httpx2

        started = time.perf_counter()
        with self._borrow() as client:
            request = client.post(self.path, cast_to=httpx2.Response, content=content, options=self._options())
            response = await self._guard(request, self.timeout_s)
        latency_s = time.perf_counter() - started
        try:
            document = orjson.loads(response.content)
            if isinstance(document, dict) and isinstance(document.get("error"), dict | str):
                raise self._classify_error_body(response.status_code, document, response.headers)
            message = read(document)
        except (NotAMessageError, orjson.JSONDecodeError) as error:
            raise self._refuse_answer(response, error) from error
        return self._build_answer(message, response, latency_s)

    def _build_answer(self, message: ModelMessage, response: "httpx2.Response", latency_s: float) -> EndpointAnswer:
        return EndpointAnswer(
            message=message,
            status=response.status_code,
            request_id=find_request_id(response.headers),
            quotas=read_quotas(response.headers),
            latency_s=latency_s,
        )

    async def _guard(self, request: Awaitable[_Got], limit_s: float) -> _Got:
        """Await *request*; whatever goes wrong becomes one kind of error, without the key."""
        import httpx2

        try:
            async with asyncio.timeout(limit_s):
                return await request
        except (self._sdk.APITimeoutError, TimeoutError, httpx2.TimeoutException) as error:
            raise ModelError(RequestTrouble.TIME_OUT, f"no answer within {limit_s:g} s") from error
        except self._sdk.APIStatusError as error:
            raise self._classify_error_body(error.response.status_code, self._read_error(error), error.response.headers) from error
        except (self._sdk.APIConnectionError, httpx2.HTTPError) as error:
            raise self._classify_connection(error) from error
        except self._sdk.APIError as error:
            raise ModelError(RequestTrouble.BAD_ANSWER, self.redact(str(error))) from error

    def _classify_error_body(self, status: int, body: object, headers: Mapping[str, str]) -> ModelError:
        """Return the error that an endpoint tells in *body*, also where it does so in a stream, or in an answer, that began well."""
        error_body = read_error_body(body)
        status, trouble = classify_status(status, error_body.type)
        # Cut after the key is taken out: half a key is no longer found.
        text = self.redact(error_body.message or f"HTTP {status} without an explanation")[: None if error_body.type else LONGEST_BODY]
        # A parameter that the server does not know, or not with this value, is the policy's fault and not that of one call.
        if trouble is RequestTrouble.NOT_ACCEPTED and error_body.code in _REFUSED_PARAMETER and error_body.parameter:
            trouble = RequestTrouble.PARAMETER_REFUSED
        type_, parameter = (self.redact(text or "") or None for text in (error_body.type, error_body.parameter))
        return ModelError(trouble, text, type_=type_, status=status, headers=headers, parameter=parameter, api=error_body.api)

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

    # Another API at the address. A first answer that this API does not know (an unknown path, a page, another form) leads to one
    # request for the list of models, which costs nothing, and whose form shows which API is spoken. An endpoint that has answered
    # before is not doubted, and neither is an error that names the model.

    async def _diagnose(self, error: ModelError, model: str) -> ModelError:
        """Return *error*, or where the address does not speak this API the error that says so."""
        other = next(api for api in ModelApi if api is not self.api)
        is_odd = error.status in _UNKNOWN_PATH or (error.trouble is RequestTrouble.BAD_ANSWER and error.status is not None)
        if self._is_known or model in error.message or error.api is self.api:
            return error
        # Only the Messages API marks an error as a whole, so this form is proof.
        if error.api is ModelApi.MESSAGES and error.trouble is not RequestTrouble.KEY_REFUSED:
            return self._build_wrong_api(other, error)
        if not is_odd:
            return error
        if self._probe is None:
            self._probe = asyncio.create_task(self._find_api())
        spoken = await asyncio.shield(self._probe)
        return error if spoken is self.api else self._build_wrong_api(spoken, error)

    async def _find_api(self) -> ModelApi | None:
        """Return the API in whose form the endpoint lists its models, or refuses to; None: neither's."""
        try:
            return _recognise_models(orjson.loads((await self.request("GET", self.models_path)).content))
        except ModelError as error:
            return error.api
        except orjson.JSONDecodeError:
            return None

    def _build_wrong_api(self, spoken: ModelApi | None, error: ModelError) -> ModelError:
        if spoken is not None:
            text = f"this server speaks {_NAMES[spoken]}: set `api: {spoken.value}`"
        else:
            reply = "it answers with a web page" if error.message.startswith("<") else error.message
            text = f"this address speaks neither the Messages API nor the OpenAI API: {reply}"
        return ModelError(RequestTrouble.WRONG_API, text, status=error.status, api=spoken)


_NAMES = {ModelApi.MESSAGES: "the Messages API", ModelApi.OPENAI_CHAT: "the OpenAI API"}


def _recognise_models(document: object) -> ModelApi | None:
    """Return the API in whose form *document* lists models."""
    if not isinstance(document, Mapping) or not isinstance(document.get("data"), list):
        return None
    if document.get("object") == "list" or any(isinstance(item, Mapping) and item.get("object") == "model" for item in document["data"]):
        return ModelApi.OPENAI_CHAT
    return ModelApi.MESSAGES if "has_more" in document else None


def build_http_client(sdk: Any, address: str, timeout_s: float) -> Callable[[], Any]:
    """Return what makes the HTTP client of an SDK for *address*."""
    import httpx2

    # A proxy that the environment names is for the world outside, and cannot reach this machine's own loopback.
    host = httpx2.URL(address).host
    direct: Any = {f"all://[{host}]" if ":" in host else f"all://{host}": None} if is_loopback(address) else {}
    verify = _read_certificates()
    limits = httpx2.Limits(max_connections=2 * _POOL, max_keepalive_connections=2 * _POOL)
    timeout = httpx2.Timeout(timeout_s, connect=10.0)
    return lambda: sdk.DefaultAsyncHttpxClient(limits=limits, timeout=timeout, verify=verify, mounts=direct)


@cache
def _read_certificates() -> Any:
    # Reading them takes 25 ms: once a process, for all endpoints.
    import httpx2

    return httpx2.create_ssl_context()


# The errors that end a run because of its endpoint.


def build_ending(endpoint: Endpoint, model: str, error: ModelError) -> CaveatError:
    """Return the error that ends a run because of *error*, which every other call to *model* would meet too (`ABOUT_ALL_CALLS`)."""
    match error.trouble:
        case RequestTrouble.KEY_REFUSED:
            return build_key_refused(endpoint, error)
        case RequestTrouble.NOT_FOUND:
            return build_unknown_model(endpoint, model, error)
        case RequestTrouble.WRONG_API:
            return _build_wrong_api(endpoint, error)
        case RequestTrouble.PARAMETER_REFUSED:
            return _build_parameter_refused(endpoint, error)
        case _:
            raise ValueError(f"{error.trouble.value} is about one call")


def build_key_refused(endpoint: Endpoint, error: ModelError) -> UnavailableError:
    """Return the error that ends a run with a key that the endpoint refuses."""
    if endpoint.key_name == NO_KEY:
        problem = f"the endpoint wants a key, and none was sent (HTTP {error.status}): {error.message}"
        advice = f"name the environment variable that holds it, such as `key: {OPENAI_KEY}`"
    else:
        problem = f"the endpoint does not take the key in {endpoint.key_name} (HTTP {error.status}): {error.message}"
        advice = f"check {endpoint.key_name}, and that it is a key for this endpoint"
    if error.api not in (None, endpoint.api):
        advice += f"; the error is in the form of {_NAMES[error.api]}: if the server speaks it, set `api: {error.api.value}`"
    return UnavailableError(Fault("api-key-refused", endpoint.base_url, problem, advice=advice))


def build_unknown_model(endpoint: Endpoint, model: str, error: ModelError) -> InputError:
    """Return the error that ends a run with a model that the endpoint does not know."""
    problem = f"the endpoint does not know the model {model} (HTTP {error.status}): {error.message}"
    return InputError(Fault("endpoint-model-unknown", endpoint.base_url, problem))


def build_unreachable(endpoint: Endpoint, error: ModelError) -> UnavailableError:
    """Return the error that ends a run with an endpoint that does not answer."""
    problem = f"the endpoint does not answer ({error.trouble.value}): {error.message}"
    return UnavailableError(Fault("endpoint-unreachable", endpoint.base_url, problem))


def _build_wrong_api(endpoint: Endpoint, error: ModelError) -> InputError:
    """Return the error that ends a run whose address speaks another API."""
    problem = f"the request of `api: {endpoint.api.value}` was not understood (HTTP {error.status}); {error.message}"
    spoken = error.api
    advice = (
        f"set `api: {spoken.value}` in the policy" if spoken else "check base_url: it is the address that /v1 or its paths are added to"
    )
    return InputError(Fault("wrong-api", endpoint.base_url, problem, advice=advice))


def _build_parameter_refused(endpoint: Endpoint, error: ModelError) -> InputError:
    """Return the error that ends a run whose endpoint does not take a parameter."""
    other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}.get(error.parameter or "")
    if other is not None:
        advice = f"set `max_tokens_field: {other}` in the policy; the run folder stays valid"
    else:
        advice = "leave it out of the policy and use a new run folder; provenance then says that the endpoint's default holds"
    problem = f"the endpoint does not take the parameter {error.parameter} (HTTP {error.status}): {error.message}"
    return InputError(Fault("parameter-refused", endpoint.base_url, problem, advice=advice))


def _refuse_alias(model: str, meant: str) -> InputError:
    return InputError(Fault("model-alias", f"model {model}", f"is an alias: it means {meant}, and may come to mean another version"))
