"""The server: one answer for each request, made of the same pages as a site of files. Nothing can be written with it."""

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from registry.errors import AlteredError, CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.registration.claim_search import read_claims
from registry.store.changed_claims import find_changed
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from web.facets import NONE, SelectedClaim
from web.pages import log_pages
from web.pages.addresses import Linker, PageSettings
from web.pages.assets import list_assets
from web.pages.feeds import MEDIA_TYPES
from web.pages.list_pages import ROWS, render_search, render_spreadsheet, write_query
from web.pages.page_book import CSV, HTML, JSON, Page, PageBook
from web.pages.security import HEADERS, IMMUTABLE, LIST, SUBJECT, find_headers
from web.pages.selection_feeds import render_selection_feed
from web.pages.supplement_files import SupplementFolder
from web.server.documents import MOST_ENTRIES, build_claim_list, build_entries, build_problem
from web.server.requests import find_redirect, read_list_request, read_numbers, split_moment
from web.shelf.shelf_file import Shelf, ShelfReading

LOG = logging.getLogger("caveat.web")

PROBLEM = "application/problem+json"
_MOST_PAGES = 1_000
"""Pages that are kept in memory."""
_METHODS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What the server answers to."""

    pages: PageSettings
    hosts: frozenset[str]
    """The hosts that requests may name; another one is not ours (421)."""
    supplements: SupplementFolder | None = None
    """Published files that are offered as downloads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """One request, with the registry as of the entry that it asks for."""

    request: Request
    view: View
    reading: ShelfReading
    settings: PageSettings
    supplements: SupplementFolder | None

    def build_book(self) -> PageBook:
        return PageBook(self.view, self.settings, self.reading, self.supplements)


class RegistryServer:
    """Answers requests from one registry."""

    def __init__(self, ledger: Ledger, shelf: Shelf, settings: ServerSettings) -> None:
        self._ledger = ledger
        self._shelf = shelf
        self._settings = settings
        # One request at a time: they share the shelf and its file, and Python has one interpreter lock anyway.
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Page] = OrderedDict()
        self._kept_size = 0

    def build_application(self) -> ASGIApp:
        """Return the application that a server runs."""
        # One route for all methods: what is not allowed gets an answer of ours.
        return Starlette(routes=[Route("/{path:path}", self._answer, methods=["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])])

    def _answer(self, request: Request) -> Response:
        """Answer one request; runs in a thread of its own."""
        try:
            with self._lock:
                response = self._find_answer(request)
        except CaveatError as error:
            response = self._refuse(request, error.faults, _find_status(error))
        except Exception as error:  # a page must not end in a stack trace
            LOG.exception("request for %s", request.url.path)
            fault = Fault("internal-error", type(error).__name__, "this page could not be made")
            response = _build_response(build_problem([fault], 500), PROBLEM, {"Cache-Control": "no-store"}, status=500)
        if request.method == "HEAD":
            # The same headers, without the content.
            bare = Response(status_code=response.status_code, headers=dict(response.headers))
            bare.headers["Content-Length"] = response.headers.get("content-length", "0")
            return bare
        return response

    def _find_answer(self, request: Request) -> Response:
        if _read_host(request) not in self._settings.hosts:
            found = "requests for this host are not answered here"
            return self._refuse(request, [Fault("host-not-served", _read_host(request) or "Host", found)], 421)
        if request.method not in _METHODS:
            fault = Fault("method-not-allowed", request.method, "this registry can be read over HTTP, and not written")
            return self._refuse(request, [fault], 405, {"Allow": ", ".join(_METHODS)})
        path = request.url.path if not request.scope.get("path") else str(request.scope["path"])
        if "\0" in path or "\ufffd" in path:
            return self._refuse(request, [Fault("bad-query", "path", "it has characters that no address has")], 400)
        path, as_of = split_moment(path)
        prefix = "" if as_of is None else f"/as-of/{as_of}"
        with self._open(as_of) as (view, reading):
            settings = self._settings.pages
            if settings.base and prefix:
                settings = replace(settings, base=f"{settings.base}{prefix}")
            reader = _Reader(request=request, view=view, reading=reading, settings=settings, supplements=self._settings.supplements)
            if (target := find_redirect(path)) is not None and self._exists(reader, target):
                query = f"?{request.url.query}" if request.url.query else ""
                return _build_response(b"", HTML, {"Location": f"{prefix}{target}{query}", "Cache-Control": LIST}, status=308)
            return self._read(reader, path)

    def _read(self, reader: "_Reader", path: str) -> Response:  # noqa: PLR0911  (one case for each list)
        pairs = reader.request.query_params.multi_items()
        match path:
            case "/api/1/claims":
                return self._list_claims(reader, pairs)
            case "/api/1/entries":
                return self._list_entries(reader, pairs)
            case "/claims/" if pairs:
                return self._search(reader, pairs)
            case "/claims.csv" if pairs:
                return self._export(reader, pairs)
            case "/claims/feed.atom" | "/claims/feed.json" if pairs:
                return self._follow_search(reader, path, pairs)
            case "/changes/" if pairs:
                return self._compare(reader, pairs)
        if pairs:
            read_numbers(pairs, ())
        return self._find_page(reader, path)

    @contextmanager
    def _open(self, as_of: int | None) -> Iterator[tuple[View, ShelfReading]]:
        with self._ledger.view(as_of) as view:
            # A text that was erased must not stay in memory, and an erasure is an entry.
            if as_of is None and view.log_size != self._kept_size:
                self._kept.clear()
                self._kept_size = view.log_size
            reading = self._shelf.read(view)
            if reading.log_size == view.log_size:
                yield view, reading
                return
        # While the shelf is built anew, pages are those of its last size.
        with self._ledger.view(reading.log_size) as view:
            yield view, reading

    def _exists(self, reader: "_Reader", path: str) -> bool:
        """Whether an address leads somewhere: a redirect to nothing would only hide what is wrong."""
        if path.startswith(("/api/", "/claims/", "/changes/", "/as-of/")):
            return True
        try:
            reader.build_book().find(path)
        except NotFoundError:
            return False
        return True

    # Pages that a site of files has, too.

    def _find_page(self, reader: "_Reader", path: str) -> Response:
        request, book = reader.request, reader.build_book()
        # Who asks for JSON gets the record at the address of the page.
        is_claim = re.fullmatch(r"/CLM-[^/.]+/", path) is not None
        headers = {"Vary": "Accept"} if is_claim else {}
        written = path
        if is_claim and "application/json" in request.headers.get("accept", ""):
            written = f"/api/1/claims{path[:-1]}.json"
        elif path.startswith("/api/1/claims/CLM-") and not path.endswith(".json"):
            written = f"{path}.json"
        state = book.find_address_state(written)
        headers |= {"ETag": f'"{state}"', **_find_cache(state)}
        if _has_tag(request, state):
            return _build_response(b"", HTML, headers, status=304)
        page = self._kept.get((written, state)) or book.find(written, state=state)
        self._keep(page)
        headers = {**find_headers(written), **headers}
        return _build_response(page.body, page.media_type, headers, status=410 if page.is_erased else 200)

    def _keep(self, page: Page) -> None:
        self._kept[page.address, page.state] = page
        self._kept.move_to_end((page.address, page.state))
        while len(self._kept) > _MOST_PAGES:
            self._kept.popitem(last=False)

    # Lists that only a server has.

    def _list_claims(self, reader: "_Reader", pairs: list[tuple[str, str]]) -> Response:
        asked = read_list_request(pairs, default_limit=ROWS)
        with self._open(_check_size(reader.view, asked.as_of)) as (then, reading):
            selection = reading.select(asked.wanted, before=asked.before, limit=asked.limit)
            return _tag(reader.request, build_claim_list(then, selection, asked), JSON, f"l-{then.log_size}")

    def _list_entries(self, reader: "_Reader", pairs: list[tuple[str, str]]) -> Response:
        numbers = read_numbers(pairs, ("after", "limit"))
        limit, after = numbers.get("limit", 100), numbers.get("after", 0)
        if not 1 <= limit <= MOST_ENTRIES:
            raise InputError(Fault("bad-query", "limit", f"{limit} is not between 1 and {MOST_ENTRIES}"))
        _check_size(reader.view, after)
        return _tag(reader.request, build_entries(reader.view, after=after, limit=limit), JSON, f"l-{reader.view.log_size}")

    def _search(self, reader: "_Reader", pairs: list[tuple[str, str]]) -> Response:
        # A form sends an empty field where nothing was typed.
        asked = read_list_request([pair for pair in pairs if pair != ("q", "")], default_limit=ROWS)
        with self._open(_check_size(reader.view, asked.as_of)) as (then, reading):
            link = Linker("/claims/", reader.settings)
            body = render_search(then, reading, link, asked.wanted, before=asked.before, limit=asked.limit)
            return _tag(reader.request, body, HTML, PageBook(then, reader.settings, reading).list_state)

    def _follow_search(self, reader: "_Reader", path: str, pairs: list[tuple[str, str]]) -> Response:
        """Return the feed of a search: the entries about the claims that pass it now."""
        faults = [
            Fault("bad-query", name, "is no parameter of a feed", advice="a feed has the latest entries")
            for name, _ in pairs
            if name in ("limit", "as_of", "after")
        ]
        if faults:
            raise InputError(faults)
        wanted = read_list_request(pairs, default_limit=ROWS).wanted
        link, query = Linker(path, reader.settings), f"?{write_query(wanted)}"
        title = f"{reader.view.log_origin}: {write_query(wanted)}"
        body = render_selection_feed(reader.view, reader.reading, wanted, link, title=title, page="/claims/", query=query)
        return _tag(reader.request, body, MEDIA_TYPES[path.rpartition("/")[2]], reader.build_book().list_state)

    def _export(self, reader: "_Reader", pairs: list[tuple[str, str]]) -> Response:
        asked = read_list_request(pairs, default_limit=ROWS)
        selection = reader.reading.select(asked.wanted, limit=max(1, reader.view.log_size))
        claims = read_claims(reader.view, [claim.claim for claim in selection.claims], log=reader.view.log_origin)
        return _tag(reader.request, render_spreadsheet(claims), CSV, reader.build_book().list_state)

    def _compare(self, reader: "_Reader", pairs: list[tuple[str, str]]) -> Response:
        since = read_numbers(pairs, ("since",)).get("since", 0)
        _check_size(reader.view, since)
        after = reader.view
        with self._ledger.view(since) as before:
            names, _ = find_changed(before, after, None)
        recorded = [claim for name in names[:ROWS] if (claim := after.find_claim(name)) is not None]
        changed = [
            SelectedClaim(claim=one.payload.claim, revision=one.payload.revision, seq=one.entry.seq, class_=NONE) for one in recorded
        ]
        body = log_pages.render_changes(after, Linker("/changes/", reader.settings), since=since, changed=changed)
        return _tag(reader.request, body, HTML, reader.build_book().list_state)

    # What cannot be answered.

    def _refuse(self, request: Request, faults: Any, status: int, headers: Mapping[str, str] | None = None) -> Response:
        more = {"Cache-Control": "no-store", **(headers or {})}
        path = str(request.scope.get("path", ""))
        if path.startswith("/api/") or "application/json" in request.headers.get("accept", ""):
            return _build_response(build_problem(faults, status), PROBLEM, more, status=status)
        with self._ledger.view() as view:
            body = log_pages.render_fault(view, faults, status, Linker("/", self._settings.pages, is_anywhere=True))
        return _build_response(body, HTML, more, status=status)


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


def _tag(request: Request, body: bytes, media_type: str, state: str) -> Response:
    """Return an answer that depends on the state of the log; nothing where the reader has it."""
    headers = {"ETag": f'"{state}"', "Cache-Control": LIST}
    if _has_tag(request, state):
        return _build_response(b"", media_type, headers, status=304)
    return _build_response(body, media_type, headers)


def _build_response(body: bytes, media_type: str, headers: Mapping[str, str], *, status: int = 200) -> Response:
    return Response(body, status_code=status, headers={**HEADERS, **headers, "Content-Type": media_type})


def _find_status(error: CaveatError) -> int:
    match error:
        case NotFoundError():
            return 410 if error.code == "body-erased" else 404
        case InputError():
            return 404 if error.code == "bad-identifier" else 400
        case AlteredError():
            return 500
        case ConflictError():
            return 409
        case _:
            return 503


def count_assets() -> int:
    """Return how many files pages load; computes the style sheet, so that the first request does not wait for it."""
    return len(list_assets())
