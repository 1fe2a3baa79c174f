"""Connections of the server: how many one address may have, and how long it may take to ask. The one door to uvicorn's protocol."""

import asyncio
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from registry.errors import Fault
from web.api.documents import build_problem
from web.server.limits import PROBLEM, Limits, count_by

LONGEST_REQUEST_S = 10.0
"""Seconds in which the head of a request must be here: who sends a byte a minute would hold a connection for ever."""


class LimitedProtocol(H11Protocol):
    """One connection; `build_protocol` gives the class its limits."""

    limits: ClassVar[Limits]
    longest_request_s: ClassVar[float]
    open_connections: ClassVar[Counter[str]]
    _address: str | None = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and refuse one too many."""
        super().connection_made(transport)
        # Behind a proxy all connections are the proxy's; it has limits of its own.
        if not self.limits.is_behind_proxy:
            address = count_by(str(self.client[0]) if self.client else "")
            if self.open_connections[address] >= self.limits.connections:
                _write_refusal(transport, self.limits)
                return
            self._address = address
            self.open_connections[address] += 1
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count one connection less."""
        self._stop_waiting()
        if self._address is not None:
            self.open_connections[self._address] -= 1
            if not self.open_connections[self._address]:
                del self.open_connections[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take some bytes; the first of a request set its deadline."""
        if self.transport.is_closing():
            return
        before: Any = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()
        elif before is None or before.response_complete:
            self._wait_for_request()

    def _wait_for_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.longest_request_s, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def build_protocol(limits: Limits, *, longest_request_s: float = LONGEST_REQUEST_S) -> type[asyncio.Protocol]:
    """Return the protocol class of a server with *limits*; it counts its own connections."""
    return type(
        "LimitedProtocolOfServer",
        (LimitedProtocol,),
        {"limits": limits, "longest_request_s": longest_request_s, "open_connections": Counter()},
    )


def _write_refusal(transport: asyncio.Transport, limits: Limits) -> None:
    fault = Fault("too-many-requests", "address", f"one address may have {limits.connections} connections")
    body = build_problem([fault], 429)
    headers = (f"Content-Type: {PROBLEM}", f"Content-Length: {len(body)}", "Retry-After: 1", "Connection: close")
    transport.write("\r\n".join(("HTTP/1.1 429 Too Many Requests", *headers, "", "")).encode() + body)
    transport.close()
