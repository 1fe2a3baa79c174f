"""One request to an address that a user names: a size, a time for the whole of it, and no redirect."""

import threading
from dataclasses import dataclass, field
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from registry.errors import Fault, InputError


class NoAnswerError(Exception):
    """There is no answer: the address cannot be reached, or takes too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What a server answers."""

    status: int
    content: bytes
    """At most one byte more than was asked for, which shows that there is more."""


class _NoRedirect(HTTPRedirectHandler):
    """A request goes where it was sent, and nowhere else."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Refuse."""
        return


def check_address(url: str, *, option: str, what: str, advice: str) -> str:
    """Return *url* without a slash at its end.

    Args:
        option: where the user gave it.
        what: what it should be the address of, with its article.

    Raises:
        InputError: it is no address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or not url.isascii() or " " in url:
        raise InputError(Fault("bad-option", option, f"{url!r} is not the address of {what}", advice=advice))
    return url.rstrip("/")


@dataclass(slots=True)
class _Exchange:
    """What a request came to, in the thread that waits for it."""

    answer: HttpAnswer | None = None
    problem: str = "it takes too long"
    is_over: threading.Event = field(default_factory=threading.Event)


def post(url: str, body: bytes, *, content_type: str, most: int, timeout_s: float) -> HttpAnswer:
    """Return the answer to *body*, of any status.

    Args:
        most: bytes of the answer that the caller reads.
        timeout_s: seconds for all of it. The limit of a socket begins again with each byte that a slow server sends.

    Raises:
        NoAnswerError: there is none; the text says why.
    """
    request = Request(url, data=body, method="POST", headers={"Content-Type": content_type})  # noqa: S310  (checked by `check_address`)
    exchange = _Exchange()
    # A thread that the program does not wait for at its end: a read that hangs cannot be stopped from outside.
    threading.Thread(target=_run, args=(exchange, request, most, timeout_s), daemon=True).start()
    exchange.is_over.wait(timeout_s)
    if exchange.answer is None:
        raise NoAnswerError(exchange.problem)
    return exchange.answer


def _run(exchange: _Exchange, request: Request, most: int, timeout_s: float) -> None:
    try:
        try:
            with build_opener(_NoRedirect).open(request, timeout=timeout_s) as answer:
                exchange.answer = HttpAnswer(status=answer.status, content=answer.read(most + 1))
        except HTTPError as error:
            with error:
                exchange.answer = HttpAnswer(status=error.code, content=error.read(most + 1))
    except (OSError, HTTPException, ValueError) as error:
        exchange.problem = f"it cannot be reached: {error}"
    finally:
        exchange.is_over.set()
