"""What became of a request that has no answer: one kind of error, with what it says about trying again and about money."""

from collections.abc import Mapping
from enum import StrEnum

from audit.headers import read_quotas, read_retry_after

LONGEST_BODY = 300
"""Characters that are kept of an error's body that is no error document, such as a gateway's page."""


class Trouble(StrEnum):
    """What became of a request that has no answer; docs/replay.md has a line for each."""

    KEY_REFUSED = "key-refused"
    NOT_FOUND = "unknown-model"
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
        trouble: Trouble,
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


DOUBTFUL = (Trouble.TIME_OUT, Trouble.LOST, Trouble.BAD_ANSWER)
"""What may have happened after a model had answered, so that the request is paid for."""
GIVEN_UP = (408, 502, 504)
"""What a gateway answers that stopped waiting for the model behind it."""
_PASSING = {Trouble.RATE_LIMITED, Trouble.OVERLOADED, Trouble.SERVER, Trouble.TIME_OUT, Trouble.UNREACHABLE, Trouble.LOST}


_TROUBLES = {
    401: Trouble.KEY_REFUSED,
    403: Trouble.KEY_REFUSED,
    404: Trouble.NOT_FOUND,
    408: Trouble.SERVER,
    409: Trouble.SERVER,
    429: Trouble.RATE_LIMITED,
    529: Trouble.OVERLOADED,
}
_STATUSES = {"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404}
_STATUSES |= {"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529}
"""By the API's names of errors, the status that goes with each, for errors that arrive under a status of success."""


def classify_status(status: int, type_: str | None) -> tuple[int, Trouble]:
    """Return status and kind of the error that an endpoint told; one told under a success is known by its *type_*."""
    if 200 <= status < 300:
        status = _STATUSES.get(type_ or "", 500)
    return status, _TROUBLES.get(status) or (Trouble.SERVER if status >= 500 else Trouble.NOT_ACCEPTED)


def read_error_body(body: object) -> tuple[str | None, str | None]:
    """Return type and message of an error document; a body that is none is its own message."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        type_, message = error.get("type"), error.get("message")
        return (type_ if isinstance(type_, str) else None), (message if isinstance(message, str) else None)
    return None, (" ".join(body.split()) or None) if isinstance(body, str) else None
