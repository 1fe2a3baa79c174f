"""The server: one answer for each request, made of the same pages as a site of files. Nothing can be written with it."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from registry.errors import AlteredError, CaveatError, ConflictError, Fault, InputError, NotFoundError, UnavailableError
from registry.registration.claim_search import read_claims
from registry.store.changed_claims import find_changed
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from web.api import file_streams
from web.api.answers import Question, build_document
from web.api.documents import build_claim_list, build_problem, build_status, write_document
from web.api.operations import JSON, LONGEST_WAIT_S, Operation, find_operation
from web.facets import NONE, ClaimFilter, ClaimSource, SelectedClaim, Selection, write_query
from web.pages import log_pages
from web.pages.addresses import Linker, PageSettings
from web.pages.assets import list_assets
from web.pages.feeds import MEDIA_TYPES
from web.pages.list_pages import ROWS, render_search, render_spreadsheet
from web.pages.page_book import CSV, HTML, PageBook
from web.pages.record_states import PREFIXES
from web.pages.security import HEADERS, IMMUTABLE, LIST, SUBJECT, find_headers
from web.pages.selection_feeds import render_selection_feed
from web.pages.supplement_files import SupplementFolder
from web.server.answer_cache import AnswerCache, KeptAnswer, Key
from web.server.file_response import FileResponse
from web.server.limits import PROBLEM
from web.server.log_inspection import LogInspection
from web.server.log_watch import LogWatch
from web.server.requests import Query, find_redirect, prefers_json, read_list_request, read_query, split_moment
from web.shelf.shelf_file import Shelf

LOG = logging.getLogger("caveat.web")

_MOST_FILES = 4
"""Complete files that are sent at the same time: each holds a connection to the database."""
_METHODS = ("GET", "HEAD")
_OF_BOOK = frozenset({"", "search", "export", "compare", "follow_atom", "follow_json", "read_index", "read_claim", "read_card"})
"""Operations, and pages without one, that a site of files answers too."""
_PLAIN = "/@:!$&'()*+,;=~"
"""Characters of a path that are written as they are, besides letters and digits (RFC 3986)."""
_MAIN = b'<main id="content" tabindex="-1">'
_FINAL = ("/claims/", "/cards/", "/models/", "/authorities/", "/changes/", *PREFIXES)
_FINAL_OPERATIONS = frozenset({"list_claims", "export", "read_index"})
"""Addresses with answers that follow only from entries, so that they stay the same while the log has one size.

A checkpoint is no entry, and none of them shows one.
"""
_SUBJECTS = ("/CLM-", "/CRD-")
QUERY_LIMIT_S = 0.25
"""Time that one question to the database may take."""
_STATUSES = {
    "body-erased": 410, "bundle-not-served": 404, "bad-identifier": 404, "host-not-served": 421,
    "method-not-allowed": 405, "internal-error": 500, "too-broad": 503,
}  # fmt: skip
"""Of faults that do not have the status of their family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What the server answers to."""

    pages: PageSettings
    hosts: frozenset[str]
    """The hosts that requests may name; another one is not ours (421)."""
    supplements: SupplementFolder | None = None
    """Published files that are offered as downloads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """What a request asks for, before the registry is read."""

    request: Request
    path: str
    """Without the part that names an entry."""
    as_of: int | None
    prefix: str
    """The part that names an entry."""
    operation: Operation | None
    names: dict[str, str]
    """What the path names."""
    query: Query
    pairs: tuple[tuple[str, str], ...]

    @property
    def stem(self) -> str:
        """The path as it was asked for: the next page is there too."""
        return f"{self.prefix}{self.path}"

    @property
    def key(self) -> Key:
        """What an answer is kept by."""
        return self.stem, self.request.url.query, prefers_json(self.request.headers.get("accept", ""))


class _Refusal(Exception):  # noqa: N818  (an answer, not an error of ours)
    """A request that is refused before anything is read."""

    def __init__(self, fault: Fault, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.headers = headers or {}


class _ShelfClaims:
    """The claims of the shelf, which is opened when they are asked for: most pages need none of them."""

    def __init__(self, shelf: Shelf, view: View, reading: ClaimSource | None = None) -> None:
        self._shelf = shelf
        self._view = view
        self.reading = reading
        """None before they were asked for."""

    def select(self, wanted: ClaimFilter, *, skip: int = 0, before: int | None = None, limit: int) -> Selection:
        """Return a selection; see `web.facets.ClaimSource`."""
        try:
            self.reading = self.reading or self._read()
            return self.reading.select(wanted, skip=skip, before=before, limit=limit)
        except (sqlite3.Error, OSError) as error:
            if str(error) == "interrupted":
                raise UnavailableError(Fault("too-broad", "question", "the search takes longer than this server allows")) from error
            found = f"the file for searches cannot be used: {error}"
            raise UnavailableError(Fault("search-unavailable", "search", found)) from error

    def _read(self) -> ClaimSource:
        reading = self._shelf.read(self._view)
        if reading.log_size != self._view.log_size:
            raise _ShelfBehindError(reading.log_size, reading)
        return reading


class _ShelfBehindError(Exception):
    """The shelf is built anew, and lists are those of an earlier size until it is there."""

    def __init__(self, size: int, reading: ClaimSource) -> None:
        super().__init__(size)
        self.size = size
        self.reading = reading


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """One request, with the registry as of the entry that it asks for."""

    call: _Call
    view: View
    claims: ClaimSource
    settings: PageSettings
    supplements: SupplementFolder | None

    def build_book(self) -> PageBook:
        return PageBook(self.view, self.settings, self.claims, self.supplements)


class RegistryServer:
    """Answers requests from one registry."""

    def __init__(self, ledger: Ledger, shelf: Shelf, settings: ServerSettings, *, inspection: LogInspection | None = None) -> None:
        self._ledger = ledger
        self._shelf = shelf
        self._settings = settings
        self.inspection = inspection or LogInspection(ledger, lambda: datetime.now(UTC))
        # One request at a time: they share the shelf and its file, and Python has one interpreter lock anyway.
        self._lock = threading.Lock()
        self._kept = AnswerCache()
        self._good: tuple[int, ClaimSource] | None = None
        self._files = 0
        self._watch = LogWatch(self._read_size)
        self._live: Mapping[str, Callable[[_Reader], Response]] = {
            "list_claims": self._list_claims,
            "search": self._search,
            "export": self._export,
            "compare": self._compare,
            "follow_atom": self._follow_search,
            "follow_json": self._follow_search,
        }
        with ledger.view() as view:
            self._origin = view.log_origin

    def build_application(self) -> ASGIApp:
        """Return the application that a server runs."""
        return self._run

    def close(self) -> None:
        """Close the file that searches use."""
        self._shelf.close()

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI). There is no router but `find_operation`: what is not allowed gets an answer of ours."""
        if scope["type"] == "lifespan":
            for part in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{part}.complete"})
        elif scope["type"] == "http":
            response = await self._answer(Request(scope, receive))
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            call = self._read_call(request)
            # `wait` first: a waiting request has neither the lock nor a thread.
            if seconds := call.query.numbers.get("wait", 0):
                await self._watch.wait(call.query.numbers.get("after", 0), min(seconds, LONGEST_WAIT_S))
            response = await run_in_threadpool(self._open_file if call.operation and call.operation.is_file else self._find_answer, call)
        except _Refusal as refusal:
            response = self._refuse(request, [refusal.fault], _STATUSES.get(refusal.fault.code, 400), refusal.headers)
        except CaveatError as error:
            if isinstance(error, AlteredError):
                self.inspection.add(error)
            response = self._refuse(request, error.faults, _find_status(error), {"Retry-After": "5"} if _find_status(error) == 503 else {})
        except Exception as error:  # a page must not end in a stack trace
            LOG.exception("request for %s", request.url.path)
            fault = Fault("internal-error", type(error).__name__, "this page could not be made")
            response = self._refuse(request, [fault], 500)
        if request.method == "HEAD" and not isinstance(response, FileResponse):
            # The same headers, without the content.
            bare = Response(status_code=response.status_code, headers=dict(response.headers))
            bare.headers["Content-Length"] = response.headers.get("content-length", "0")
            return bare
        return response

    def _read_call(self, request: Request) -> _Call:
        """Return what is asked for; refuses what no one may ask."""
        host = _read_host(request)
        if host not in self._settings.hosts:
            raise _Refusal(Fault("host-not-served", host[:100] or "Host", "requests for this host are not answered here"))
        if request.method not in _METHODS:
            fault = Fault("method-not-allowed", request.method[:20], "this registry can be read over HTTP, and not written")
            raise _Refusal(fault, {"Allow": ", ".join(_METHODS)})
        path = str(request.scope["path"])
        if not path.startswith("/") or any(character < " " or character in "\x7f\\\ufffd" for character in path):
            raise _Refusal(Fault("bad-query", "path", "it has characters that no address has"))
        path, as_of = split_moment(path)
        operation, names = _match_operation(request, path)
        # A form sends an empty field where nothing was typed.
        is_form = operation is not None and operation.name == "search"
        pairs = tuple(pair for pair in request.query_params.multi_items() if not (is_form and pair == ("q", "")))
        return _Call(
            request=request,
            path=path,
            as_of=as_of,
            prefix="" if as_of is None else f"/as-of/{as_of}",
            operation=operation,
            names=names,
            query=read_query(pairs, operation.parameters if operation else ()),
            pairs=pairs,
        )

    def _read_size(self) -> int:
        with self._ledger.view() as view:
            return view.log_size

    # One answer, in a thread of its own.

    def _find_answer(self, call: _Call) -> Response:
        with self._lock:
            try:
                return self._read_as_of(call, call.as_of)
            except _ShelfBehindError as behind:
                self._good = (behind.size, behind.reading)
                return self._read_as_of(call, behind.size)
            except UnavailableError as error:
                # Too much was asked for, and less would be answered.
                if error.code == "too-broad" or call.as_of is not None:
                    raise
                response = self._find_last_good(call, error)
                if response is None:
                    raise
                return response

    def _find_last_good(self, call: _Call, error: UnavailableError) -> Response | None:
        """Return what is still known of the last state that could be read, with a banner that says so; None for nothing."""
        if error.code == "search-unavailable" and self._good is not None:
            size, _ = self._good
            response = self._read_as_of(call, size)
            return _add_banner(response, response.body, error, size)
        kept = self._kept.find(call.key)
        if kept is None:
            return None
        return _add_banner(_build_response(kept.body, kept.media_type, {}), kept.body, error, self._kept.log_size)

    def _read_as_of(self, call: _Call, as_of: int | None) -> Response:
        with self._open(as_of) as (view, claims):
            if as_of is None and (kept := self._kept.find(call.key)) is not None and kept.is_final:
                return _send(call.request, kept)
            settings = self._settings.pages
            if settings.base and call.prefix:
                settings = replace(settings, base=f"{settings.base}{call.prefix}")
            # The address does not say of which entry the answer is, so lists do.
            if as_of != call.as_of:
                settings = replace(settings, as_of=as_of)
            reader = _Reader(call=call, view=view, claims=claims, settings=settings, supplements=self._settings.supplements)
            if (target := find_redirect(call.path)) is not None and self._exists(reader, target):
                query = f"?{call.request.url.query}" if call.request.url.query else ""
                location = f"{call.prefix}{quote(target, safe=_PLAIN)}{query}"
                return _build_response(b"", HTML, {"Location": location, "Cache-Control": LIST}, status=308)
            return self._read(reader)

    @contextmanager
    def _open(self, as_of: int | None) -> Iterator[tuple[View, ClaimSource]]:
        with self._ledger.view(as_of, query_limit_s=QUERY_LIMIT_S) as view:
            if as_of is None:
                self._kept.follow(view.log_size)
            good = self._good[1] if self._good is not None and self._good[0] == view.log_size else None
            claims = _ShelfClaims(self._shelf, view, good)
            yield view, claims
            # Lists can still be shown as of here when the file cannot be used later.
            if claims.reading is not None and (self._good is None or view.log_size >= self._good[0]):
                self._good = (view.log_size, claims.reading)

    def _exists(self, reader: _Reader, path: str) -> bool:
        """Whether an address leads somewhere: a redirect to nothing would only hide what is wrong."""
        if path.startswith(("/api/", "/claims/", "/changes/", "/as-of/")):
            return True
        try:
            reader.build_book().find(path)
        except NotFoundError:
            return False
        return True

    def _read(self, reader: _Reader) -> Response:
        call = reader.call
        name = call.operation.name if call.operation else ""
        # Without parameters, these are pages of a site of files.
        if (make := self._live.get(name)) is not None and (call.pairs or name == "list_claims"):
            return make(reader)
        if call.path == "/status/":
            return self._show_status(reader)
        if name in _OF_BOOK:
            return self._find_page(reader)
        if name == "read_status":
            return _build_response(write_document(self._build_status(reader)), JSON, {"Cache-Control": "no-store"})
        return self._tag(reader, write_document(self._build_document(reader)), JSON, f"l-{reader.view.log_size}")

    # Pages that a site of files has, too.

    def _find_page(self, reader: _Reader) -> Response:
        call, book = reader.call, reader.build_book()
        written = _write_address(call)
        state = book.find_address_state(written)
        headers = {"ETag": f'"{state}"', **_find_cache(state)}
        # Who asks for JSON gets the record at the address of the page.
        if _find_record_address(call.path) is not None:
            headers["Vary"] = "Accept"
        if _has_tag(call.request, state):
            return _build_response(b"", HTML, headers, status=304)
        kept = self._kept.find(call.key)
        if kept is None or kept.state != state:
            page = book.find(written, state=state)
            headers = {**find_headers(written), **headers}
            kept = self._keep(reader, page.body, page.media_type, headers, state=state, status=410 if page.is_erased else 200)
        return _send(call.request, kept)

    def _keep(
        self, reader: _Reader, body: bytes, media_type: str, headers: Mapping[str, str], *, state: str, status: int = 200
    ) -> KeptAnswer:
        call, path = reader.call, reader.call.path
        is_final = path == "/" or path.startswith(_FINAL) or (call.operation is not None and call.operation.name in _FINAL_OPERATIONS)
        # A folder of published files can change while the log does not.
        is_final |= path.startswith(_SUBJECTS) and self._settings.supplements is None
        answer = KeptAnswer(body=body, media_type=media_type, headers=headers, status=status, state=state, is_final=is_final)
        if call.as_of is None and reader.view.log_size == self._kept.log_size:
            self._kept.keep(call.key, answer)
        return answer

    def _tag(self, reader: _Reader, body: bytes, media_type: str, state: str) -> Response:
        """Return an answer that depends only on the state of the log; nothing where the reader has it."""
        headers = {"ETag": f'"{state}"', "Cache-Control": LIST}
        return _send(reader.call.request, self._keep(reader, body, media_type, headers, state=state))

    # Documents and lists that only a server has.

    def _build_document(self, reader: _Reader) -> dict[str, Any]:
        """Return the document of an operation on a resource."""
        call = reader.call
        if call.operation is None:
            raise NotFoundError(Fault("address-not-found", call.path, "nothing has this address"))
        asked = Question(
            operation=call.operation, path=call.stem, names=call.names, numbers=call.query.numbers, view=reader.view, ledger=self._ledger
        )
        return build_document(asked)

    def _build_status(self, reader: _Reader) -> dict[str, Any]:
        self.inspection.look()
        faults = [(known.fault, known.since) for known in self.inspection.list_faults()]
        return build_status(reader.view, reader.claims, faults, is_complete=self.inspection.is_complete)

    def _show_status(self, reader: _Reader) -> Response:
        """Return the page on the state of the log; with what is altered, which a site of files does not know."""
        self.inspection.look()
        faults = [known.fault for known in self.inspection.list_faults()]
        if not faults:
            return self._find_page(reader)
        link = Linker("/status/", reader.settings)
        body = log_pages.render_status(reader.view, reader.claims, link, faults=faults)
        return _build_response(body, HTML, {"Cache-Control": "no-store"})

    def _list_claims(self, reader: _Reader) -> Response:
        asked = self._read_list(reader)
        with self._open_then(reader, asked.as_of) as (then, claims):
            selection = claims.select(asked.wanted, before=asked.before, limit=asked.limit)
            document = build_claim_list(then, selection, asked)
            return self._tag(reader, write_document(document), JSON, f"l-{then.log_size}")

    @contextmanager
    def _open_then(self, reader: _Reader, size: int | None) -> Iterator[tuple[View, ClaimSource]]:
        """Give the registry as of the first page of a walk, by default as the reader sees it."""
        if _check_size(reader.view, size) == reader.view.log_size:
            yield reader.view, reader.claims
            return
        with self._open(size) as opened:
            yield opened

    def _read_list(self, reader: _Reader) -> Any:
        assert reader.call.operation is not None  # noqa: S101  (it has parameters)
        return read_list_request(reader.call.pairs, reader.call.operation)

    def _search(self, reader: _Reader) -> Response:
        asked = self._read_list(reader)
        with self._open_then(reader, asked.as_of) as (then, claims):
            # A walk goes on in the state that it began with.
            link = Linker("/claims/", reader.settings if asked.as_of is None else replace(reader.settings, as_of=then.log_size))
            body = render_search(then, claims, link, asked.wanted, before=asked.before, limit=asked.limit)
            return self._tag(reader, body, HTML, PageBook(then, reader.settings, claims).list_state)

    def _follow_search(self, reader: _Reader) -> Response:
        """Return the feed of a search: the entries about the claims that pass it now."""
        wanted, path = self._read_list(reader).wanted, reader.call.path
        link, query = Linker(path, reader.settings), f"?{write_query(wanted)}"
        title = f"{reader.view.log_origin}: {write_query(wanted)}"
        body = render_selection_feed(reader.view, reader.claims, wanted, link, title=title, page="/claims/", query=query)
        return self._tag(reader, body, MEDIA_TYPES[path.rpartition("/")[2]], reader.build_book().list_state)

    def _export(self, reader: _Reader) -> Response:
        asked = self._read_list(reader)
        selection = reader.claims.select(asked.wanted, limit=max(1, reader.view.log_size))
        claims = read_claims(reader.view, [claim.claim for claim in selection.claims], log=reader.view.log_origin)
        return self._tag(reader, render_spreadsheet(claims), CSV, reader.build_book().list_state)

    def _compare(self, reader: _Reader) -> Response:
        since = _check_size(reader.view, reader.call.query.numbers["since"])
        after = reader.view
        with self._ledger.view(since) as before:
            names, _ = find_changed(before, after, None)
        recorded = [claim for name in names[:ROWS] if (claim := after.find_claim(name)) is not None]
        changed = [
            SelectedClaim(
                claim=one.payload.claim, revision=one.payload.revision, seq=one.entry.seq, class_=NONE, model=one.payload.model
            )
            for one in recorded
        ]  # fmt: skip
        body = log_pages.render_changes(after, Linker("/changes/", reader.settings), since=since, changed=changed)
        return self._tag(reader, body, HTML, reader.build_book().list_state)

    # Complete files.

    def _open_file(self, call: _Call) -> Response:
        """Return a file that is made while it is sent, without the lock: its reading of the registry is its own."""
        assert call.operation is not None  # noqa: S101  (it says that it is a file)
        with self._lock:
            if self._files >= _MOST_FILES:
                raise UnavailableError(Fault("server-busy", call.path, f"{_MOST_FILES} complete files are being sent"))
            self._files += 1
        with ExitStack() as opened:
            opened.callback(self._close_file)
            view = opened.enter_context(self._ledger.view(call.as_of))
            match call.operation.name:
                case "read_bundle":
                    parts = file_streams.write_bundle(view, since=call.query.numbers["since"])
                case "read_claim_lines":
                    parts = file_streams.write_claim_lines(view)
                case _:
                    parts = file_streams.write_claim_table(view)
            name = f"{view.log_origin.removeprefix('caveat.log/').replace('/', '-')}-{view.log_size}-{call.path.rpartition('/')[2]}"
            headers = {
                **HEADERS,
                "Cache-Control": LIST,
                "Content-Type": call.operation.media_type,
                "Content-Disposition": f'attachment; filename="{name}{".jsonl" if "." not in call.path else ""}"',
            }
            # Closed by the answer once it is sent.
            return FileResponse(parts, opened.pop_all(), headers)

    def _close_file(self) -> None:
        with self._lock:
            self._files -= 1

    # What cannot be answered.

    def _refuse(self, request: Request, faults: Any, status: int, headers: Mapping[str, str] | None = None) -> Response:
        more = {"Cache-Control": "no-store", **(headers or {})}
        path = split_moment(str(request.scope.get("path", "")))[0]
        if path.startswith("/api/") or path.endswith(".json") or prefers_json(request.headers.get("accept", "")):
            return _build_response(build_problem(faults, status), PROBLEM, more, status=status)
        body = log_pages.render_fault(self._origin, faults, status, Linker("/", self._settings.pages, is_anywhere=True))
        return _build_response(body, HTML, more, status=status)


def _match_operation(request: Request, path: str) -> tuple[Operation | None, dict[str, str]]:
    """Return the operation at *path*, or at the path that it is written as, and what the path names."""
    raw = bytes(request.scope.get("raw_path") or b"").partition(b"?")[0].decode("ascii", "replace")
    # The name of a model may have a slash: written as %2F it is no part of the path.
    if "%2f" in raw.lower():
        operation, names = find_operation(split_moment(raw)[0]) or (None, {})
        return operation, {name: unquote(value) for name, value in names.items()}
    return find_operation(find_redirect(path) or path) or (None, {})


def _find_record_address(path: str) -> str | None:
    """Return where the record of a claim or card is, for the address of its page; None for other pages."""
    kinds = {"CLM-": "claims", "CRD-": "cards"}
    name = path[1:-1]
    kind = kinds.get(name[:4])
    return f"/api/1/{kind}/{name}.json" if kind and path.endswith("/") and not {"/", "."} & set(name) else None


def _write_address(call: _Call) -> str:
    """Return the address of the page or file in the book that answers *call*."""
    record = _find_record_address(call.path)
    if record is not None and prefers_json(call.request.headers.get("accept", "")):
        return record
    if call.operation is not None and call.operation.name in ("read_claim", "read_card"):
        return f"{call.path.removesuffix('.json')}.json"
    return call.path


def _add_banner(response: Response, body: bytes | memoryview, error: UnavailableError, size: int) -> Response:
    """Return *response* with a note that it shows the last state that could be read."""
    headers = {name: value for name, value in response.headers.items() if name not in ("etag", "content-length", "cache-control")}
    content = bytes(body)
    if response.headers.get("content-type") == HTML:
        content = content.replace(_MAIN, _MAIN + log_pages.render_banner(error.faults[0], size), 1)
    return Response(content, status_code=response.status_code, headers={**headers, "Cache-Control": "no-store"})


def _check_size(view: View, size: int | None) -> int:
    """Return the size of the log that is asked for, by default that of *view*."""
    if size is not None and size > view.log_size:
        raise InputError(Fault("bad-query", "entry", f"{size} is after the last entry, {view.log_size}"))
    return view.log_size if size is None else size


def _read_host(request: Request) -> str:
    host = request.headers.get("host", "").lower()
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host


def _find_cache(state: str) -> dict[str, str]:
    return {"Cache-Control": IMMUTABLE if state == "immutable" else SUBJECT if state.startswith("c-") else LIST}


def _has_tag(request: Request, state: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return f'"{state}"' in tags


def _send(request: Request, answer: KeptAnswer) -> Response:
    if _has_tag(request, answer.state):
        shared = {name: value for name, value in answer.headers.items() if name in ("ETag", "Cache-Control", "Vary")}
        return _build_response(b"", answer.media_type, shared, status=304)
    return _build_response(answer.body, answer.media_type, answer.headers, status=answer.status)


def _build_response(body: bytes, media_type: str, headers: Mapping[str, str], *, status: int = 200) -> Response:
    return Response(body, status_code=status, headers={**HEADERS, **headers, "Content-Type": media_type})


def _find_status(error: CaveatError) -> int:
    if (known := _STATUSES.get(error.code)) is not None:
        return known
    match error:
        case NotFoundError():
            return 404
        case InputError():
            return 400
        case AlteredError():
            return 500
        case ConflictError():
            return 409
        case _:
            return 503


def count_assets() -> int:
    """Return how many files pages load; computes the style sheet, so that the first request does not wait for it."""
    return len(list_assets())
