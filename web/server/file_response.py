"""An answer of any length: made in threads piece by piece, while the reader takes it."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_LONGEST_SEND_S = 30
"""Seconds in which a reader must take one piece: it holds a reading of the registry meanwhile."""


class FileResponse(Response):
    """Sends *parts*; the registry is open until the last of them."""

    def __init__(self, parts: Iterator[bytes], opened: ExitStack, headers: Mapping[str, str]) -> None:
        super().__init__(status_code=200, headers=dict(headers))
        # Its length is not known before it was made.
        del self.headers["content-length"]
        self._parts = parts
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  (ASGI)
        """Send the answer (ASGI). A reader that goes away, or takes nothing, ends it."""
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while scope["method"] != "HEAD" and (part := await run_in_threadpool(next, self._parts, b"")):
                async with asyncio.timeout(_LONGEST_SEND_S):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._opened.close()
