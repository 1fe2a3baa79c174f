"""Connections of the server: how many one address may have, and how long it may take to ask. The one door to uvicorn's protocol."""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from registry.errors import Fault
from web.api.documents import build_problem
from web.server.limits import PROBLEM, Limits, count_by

_LONGEST_REQUEST_S = 10.0
"""Seconds in which the head of a request must be here: who sends a byte a minute would hold a connection for ever."""


def build_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Return the protocol class for a server with *limits*; it counts its own connections."""
    open_connections: Counter[str] = Counter()

    class LimitedProtocol(H11Protocol):
        """One connection."""

        _address: str | None = None
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            # Behind a proxy all connections are the proxy's; it has limits of its own.
            if not limits.is_behind_proxy:
                address = count_by(str(self.client[0]) if self.client else "")
                if open_connections[address] >= limits.connections:
                    _write_refusal(transport, limits)
                    return
                self._address = address
                open_connections[address] += 1
            self._wait_for_request()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            if self._address is not None:
                open_connections[self._address] -= 1
                if not open_connections[self._address]:
                    del open_connections[self._address]
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
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
                self._deadline = self.loop.call_later(_LONGEST_REQUEST_S, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return LimitedProtocol


def _write_refusal(transport: asyncio.Transport, limits: Limits) -> None:
    fault = Fault("too-many-requests", "address", f"one address may have {limits.connections} connections")
    body = build_problem([fault], 429)
    head = f"HTTP/1.1 429 Too Many Requests\r\nContent-Type: {PROBLEM}\r\nContent-Length: {len(body)}\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    transport.write(head.encode() + body)
    transport.close()
