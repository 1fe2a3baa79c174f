"""The one address that takes something in: a witness's `add-checkpoint`, in front of the pages."""

import asyncio
import logging

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from registry.errors import CaveatError
from web.pages.security import HEADERS
from web.witness.witness_answers import LARGEST_BODY, TEXT, Witness, WitnessAnswer

LOG = logging.getLogger("caveat.web")

_LONGEST_BODY_S = 10


class WitnessRoute:
    """Answers `POST …/add-checkpoint` below one prefix; everything else is for *pages*."""

    def __init__(self, pages: ASGIApp, witness: Witness, prefix: str) -> None:
        self._pages = pages
        self._witness = witness
        self._address = f"{prefix}add-checkpoint"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != self._address:
            await self._pages(scope, receive, send)
            return
        answer = await self._answer(Request(scope, receive))
        headers = {**HEADERS, "Cache-Control": "no-store", "Content-Type": answer.media_type}
        await Response(answer.body.encode(), status_code=answer.status, headers=headers)(scope, receive, send)

    async def _answer(self, request: Request) -> WitnessAnswer:
        body = bytearray()
        try:
            async with asyncio.timeout(_LONGEST_BODY_S):
                async for part in request.stream():
                    body += part
                    if len(body) > LARGEST_BODY:
                        return WitnessAnswer(status=413, body=f"at most {LARGEST_BODY} bytes are read\n")
        except TimeoutError:
            return WitnessAnswer(status=408, body=f"the request did not arrive within {_LONGEST_BODY_S} seconds\n")
        except ClientDisconnect:
            return WitnessAnswer(status=400, body="the request ended early\n")
        try:
            return await run_in_threadpool(self._witness.answer, bytes(body))
        except CaveatError as error:
            LOG.error("a checkpoint could not be cosigned: %s", error)  # noqa: TRY400  (one line is enough)
            return WitnessAnswer(status=503, body="the registry cannot be written now\n", media_type=TEXT)
