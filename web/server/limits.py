"""What one address may ask for: size of a request, reads a second, and requests at a time. Addresses are kept only in memory."""

import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.errors import Fault
from web.api.documents import build_problem
from web.pages.security import HEADERS

PROBLEM = "application/problem+json"
_LONGEST_LINE = 8_192
"""Bytes of path and query."""
LONGEST_HEADERS = 16_384
CONNECTIONS = 64
"""Of one address."""
READS = 100
"""Of one address in a second."""
_MOST_ADDRESSES = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one address may do."""

    reads: int = READS
    """Requests in a second; 0 for any number."""
    connections: int = CONNECTIONS
    """Connections, and requests that are answered at the same time."""
    is_behind_proxy: bool = False
    """Whether a proxy names the address of a reader in the last part of `X-Forwarded-For`."""


@dataclass(slots=True)
class _Account:
    """What an address has left."""

    left: float
    at: float
    running: int = 0


class LimitedApplication:
    """Refuses requests that are too large or too many, and passes on the others."""

    def __init__(self, application: ASGIApp, limits: Limits, clock: Callable[[], float]) -> None:
        self._application = application
        self._limits = limits
        self._clock = clock
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        account = self._find_account(find_address(scope, headers, self._limits))
        is_allowed = self._take(account)
        shown = self._write_rate(account)
        refusal = _find_oversize(scope, headers)
        if not is_allowed or account.running >= self._limits.connections:
            found = f"one address may send {self._limits.reads} requests a second, and {self._limits.connections} at a time"
            refusal = (429, Fault("too-many-requests", "address", found), {"retry-after": "1"})
        if refusal is not None:
            await _refuse(send, *refusal, shown)
            return
        account.running += 1

        async def send_with_rate(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *shown]
            await send(message)

        try:
            await self._application(scope, receive, send_with_rate)
        finally:
            account.running -= 1

    def _find_account(self, address: str) -> _Account:
        account = self._accounts.setdefault(address, _Account(float(self._limits.reads), self._clock()))
        self._accounts.move_to_end(address)
        # Who was not here for longest has everything again anyway.
        while len(self._accounts) > _MOST_ADDRESSES:
            self._accounts.popitem(last=False)
        return account

    def _take(self, account: _Account) -> bool:
        if not self._limits.reads:
            return True
        now = self._clock()
        # What was used comes back evenly, and is all there again after a second.
        account.left = min(float(self._limits.reads), account.left + (now - account.at) * self._limits.reads)
        account.at = now
        if account.left < 1:
            return False
        account.left -= 1
        return True

    def _write_rate(self, account: _Account) -> list[tuple[bytes, bytes]]:
        """Return the headers of draft-ietf-httpapi-ratelimit-headers: what is left, and until when it is all there again."""
        if not self._limits.reads:
            return []
        seconds = math.ceil((self._limits.reads - account.left) / self._limits.reads)
        return [
            (b"ratelimit-policy", f'"read";q={self._limits.reads};w=1'.encode()),
            (b"ratelimit", f'"read";r={int(account.left)};t={seconds}'.encode()),
        ]


def find_address(scope: Scope, headers: Mapping[bytes, bytes], limits: Limits) -> str:
    """Return what a reader is counted by: the address, of IPv6 its network of 64 bits. Only a proxy of ours is believed another."""
    client: Any = scope.get("client")
    text = str(client[0]) if client else ""
    if limits.is_behind_proxy and (forwarded := headers.get(b"x-forwarded-for")):
        # The proxy appends what it saw; whatever comes before is the reader's word.
        text = forwarded.decode("latin-1").rpartition(",")[2].strip()
    return count_by(text)


def count_by(text: str) -> str:
    """Return the network that the address *text* is counted with."""
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return text[:64]
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def _find_oversize(scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[int, Fault, dict[str, str]] | None:
    line = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    if line > _LONGEST_LINE:
        found = f"path and query have {line:,} bytes, and at most {_LONGEST_LINE:,} are read"
        return 414, Fault("request-too-large", "address", found), {}
    size = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    if size > LONGEST_HEADERS:
        return 431, Fault("request-too-large", "headers", f"they have {size:,} bytes, and at most {LONGEST_HEADERS:,} are read"), {}
    is_read = scope["method"] in ("GET", "HEAD")
    if is_read and (headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers):
        return 413, Fault("request-too-large", "body", "this request has no body, and one was sent"), {"connection": "close"}
    return None


async def _refuse(send: Send, status: int, fault: Fault, more: Mapping[str, str], shown: list[tuple[bytes, bytes]]) -> None:
    body = build_problem([fault], status)
    headers = {**HEADERS, "cache-control": "no-store", **more, "content-type": PROBLEM, "content-length": str(len(body))}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": [*raw, *shown]})
    await send({"type": "http.response.body", "body": body})
