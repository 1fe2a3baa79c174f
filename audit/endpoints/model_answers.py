"""What an endpoint answers: a message, its rate limits, or one kind of error. The addresses that requests may go to."""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any
from urllib.parse import SplitResult, urlsplit

from audit.records.model_response import CompletionDetails, Usage
from registry.codec.canonical_documents import canonical_bytes
from registry.errors import CaveatError, Fault, InputError
from registry.records.specification import ModelApi

# A message, whatever API it came by: blocks, stop reasons and counts of tokens are those of the Messages API.

LARGEST_COUNT = 2**53 - 1
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
    details: CompletionDetails | None = None
    """What a chat completion says beyond that; None for the Messages API."""


def read_block(block: object, where: str) -> dict[str, Any]:
    """Return *block*, which can be kept; raises NotAMessageError for one that cannot."""
    content_block = dict(as_object(block, where))
    kind = as_text(content_block.get("type"), f"{where}.type")
    if kind in ("text", "thinking"):
        as_text(content_block.get(kind), f"{where}.{kind}")
    check_storable(content_block, where)
    return content_block


def check_storable(value: Any, where: str) -> None:
    """Return when *value* can be kept as canonical JSON; raises NotAMessageError."""
    try:
        canonical_bytes(value)
    except CaveatError as error:
        raise NotAMessageError(f"{where} cannot be kept: {error.faults[0].found}") from error


def read_count(value: object, where: str) -> int | None:
    """Return a count of tokens, None where there is none; raises NotAMessageError."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_COUNT):
        raise NotAMessageError(f"expected a count of tokens as {where}, found {value!r:.40}")
    return value


def as_object(value: object, where: str) -> Mapping[str, Any]:
    """Return *value*, which is an object; raises NotAMessageError."""
    if not isinstance(value, Mapping):
        raise NotAMessageError(f"expected an object as {where}, found {name_kind(value)}")
    return value


def as_text(value: object, where: str, *, required: bool = True) -> str | None:
    """Return *value*, which is a text that can be kept, or with *required* off None; raises NotAMessageError."""
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise NotAMessageError(f"expected a text as {where}, found {name_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise NotAMessageError(f"{where} cannot be kept: it holds half a character (a lone surrogate)") from error
    return value


def name_kind(value: object) -> str:
    """Return what *value* is, in JSON's words."""
    names: Iterable[tuple[type, str]] = (
        (bool, "a truth value"),
        (str, "a text"),
        ((int), "a number"),
        (float, "a number"),
        (list, "a list"),
    )
    return "nothing" if value is None else next((name for kind, name in names if isinstance(value, kind)), "an object")


# What the headers of an answer tell: how much the endpoint still allows, and how long it asks to wait.

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?", re.ASCII)
"""Hours, minutes, seconds and milliseconds, as `x-ratelimit-reset-requests` has them."""


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
    """Return the rate limits in *headers*, by either API's names; those that cannot be read are not there."""
    quotas = []
    for kind in ("requests", "tokens", "input-tokens", "output-tokens"):
        # `anthropic-ratelimit-tokens-limit` is `x-ratelimit-limit-tokens` in the other API. A gateway may send both: the first counts.
        for names in (f"anthropic-ratelimit-{kind}-{{}}", f"x-ratelimit-{{}}-{kind}"):
            limit, remaining = (_read_number(headers.get(names.format(name))) for name in ("limit", "remaining"))
            if limit is not None and remaining is not None:
                reset_s = _read_reset(headers.get(names.format("reset")))
                quotas.append(RateQuota(kind=kind, limit=limit, remaining=remaining, reset_s=reset_s))
                break
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
    """Return the seconds until the moment in *text*: RFC 3339 or seconds, or a duration such as `6m0s`, as the two APIs write it."""
    if text is None:
        return None
    if text and (parts := _DURATION.fullmatch(text)):
        return sum(float(part or 0) * unit for part, unit in zip(parts.groups(), (3600, 60, 1, 0.001), strict=True))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _read_number(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


# Where requests go, as a person set it: what is refused of it before anything is sent or written down.


def check_address(address: str, *, api: ModelApi, where: str) -> None:
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
    faults = [Fault("bad-endpoint", where, problem, advice=advice) for problem, advice in _find_faults(parts, api)]
    if faults:
        raise InputError(faults)


def check_headers(text: str, *, own: tuple[str, ...], advice: str, where: str) -> None:
    """Return when the headers in *text*, one a line, change nothing that a recording would have to say.

    Args:
        own: how the names of headers begin that are the API's own.

    Raises:
        InputError: one of them is the API's own, such as a beta.
    """
    names = sorted({name for line in text.split("\n") if (name := line.partition(":")[0].strip().lower()).startswith(own)})
    if names:
        raise InputError(Fault("not-valid", where, f"sets {', '.join(names)} behind the recording's back", advice=advice))


def is_loopback(address: str) -> bool:
    """Return whether *address* is on this very machine."""
    host = ""
    try:
        host = urlsplit(address).hostname or ""
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _find_faults(parts: SplitResult, api: ModelApi) -> Iterator[tuple[str, str]]:
    path = parts.path.rstrip("/")
    if "@" in parts.netloc:
        yield "holds a login, and the address is kept with the recording", "leave it out; the key is read from the environment"
    if parts.query or parts.fragment:
        yield "holds a query or a fragment, and the address is kept with the recording", "end it with the path"
    match api:
        case ModelApi.MESSAGES if path.endswith(("/v1", "/v1/messages")):
            other = "; for a server that speaks the OpenAI API, set `api: openai-chat`"
            yield f"ends with {path}, and /v1/messages is added to it", f"leave /v1 out{other if path.endswith('/v1') else ''}"
        case ModelApi.OPENAI_CHAT if path.endswith("/chat/completions"):
            yield "ends with /chat/completions, which is added to it", "end it with /v1"
        case _:
            return


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
    WRONG_API = "wrong-api"
    PARAMETER_REFUSED = "parameter-refused"


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
        parameter: str | None = None,
        api: ModelApi | None = None,
    ) -> None:
        super().__init__(message)
        headers = headers or {}
        self.trouble = trouble
        self.message = message
        self.type = type_ or trouble.value
        """The endpoint's own name for it, such as `overloaded_error`."""
        self.status = status
        self.request_id = find_request_id(headers)
        self.parameter = parameter
        """The parameter of the request that the endpoint refuses; None where it names none."""
        self.api = api
        """The API in whose form the error came; None: in neither's."""
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


ABOUT_ALL_CALLS = (RequestTrouble.KEY_REFUSED, RequestTrouble.NOT_FOUND, RequestTrouble.WRONG_API, RequestTrouble.PARAMETER_REFUSED)
"""What every other call would meet too: it ends a run, costs nothing, and says nothing of the call."""
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
    402: RequestTrouble.KEY_REFUSED,
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
    """Return status and kind of the error that an endpoint returned; one returned under a success is known by its *type_*."""
    if 200 <= status < 300:
        status = _STATUSES.get(type_ or "", 500)
    # An account without money is told as a rate limit, and no wait helps.
    if type_ == "insufficient_quota":
        return status, RequestTrouble.KEY_REFUSED
    return status, _TROUBLES.get(status) or (RequestTrouble.SERVER if status >= 500 else RequestTrouble.NOT_ACCEPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """An error as an endpoint words it. None: it says nothing of that."""

    type: str | None = None
    """The endpoint's name of the error, such as `overloaded_error`."""
    message: str | None = None
    parameter: str | None = None
    code: str | None = None
    """The OpenAI API's finer name of the error, such as `unsupported_parameter`."""
    api: ModelApi | None = None
    """The API in whose form the error is; None: in neither's, as that of a gateway or of another program."""


def read_error_body(body: object) -> ErrorBody:
    """Return what the body of an error says; a body that is no document is its own message."""
    if not isinstance(body, Mapping):
        return ErrorBody(message=(" ".join(body.split()) or None) if isinstance(body, str) else None)
    error = body.get("error")
    if isinstance(error, Mapping):
        # The Messages API marks the whole document as an error. The OpenAI API has a code or a parameter in it, also where they are null.
        api = ModelApi.MESSAGES if body.get("type") == "error" else ModelApi.OPENAI_CHAT if {"code", "param"} & set(error) else None
        type_, message, parameter, code = (text_or_none(error.get(name)) for name in ("type", "message", "param", "code"))
        return ErrorBody(type=type_, message=message, parameter=parameter, code=code, api=api)
    # Ollama writes {"error": text}, FastAPI {"detail": text}, older vLLM {"object": "error", "message": text}.
    message = next((text for name in ("message", "error", "detail") if (text := text_or_none(body.get(name)))), None)
    return ErrorBody(type=text_or_none(body.get("type")), message=message)


def find_request_id(headers: Mapping[str, str]) -> str | None:
    """Return the request's identifier by which its provider finds it."""
    return headers.get("request-id") or headers.get("x-request-id")


def text_or_none(value: object) -> str | None:
    """Return *value* where it is a text."""
    return value if isinstance(value, str) else None


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
    parameters: tuple[str, ...] | None = None
    """The names of the parameters that it takes."""
