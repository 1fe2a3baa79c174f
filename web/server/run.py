"""Runs the server until it is stopped."""

import ipaddress
import json
import logging
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from registry.codec.canonical_documents import from_document, to_document
from registry.configuration import build_child_command
from registry.errors import CaveatError, Fault, InputError
from registry.store.ledger import Ledger
from web.api.openapi import render_openapi
from web.pages.addresses import LinkStyle, PageSettings
from web.pages.supplement_files import SupplementFolder
from web.server.application import RegistryServer, ServerSettings, count_assets
from web.server.connections import build_protocol
from web.server.limits import LONGEST_HEADERS, LimitedApplication, Limits
from web.server.witness_route import WitnessRoute
from web.shelf.shelf_file import Shelf, find_shelf
from web.tiles.log_files import write_prefix
from web.witness.witness_answers import Witness

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
LOG = logging.getLogger("caveat.web")
_CONNECTIONS = 2_048
"""Of all addresses together."""
_WAIT_MS = 1_000
_LONGEST_END_S = 10.0
"""Seconds in which another process answers what it has begun, before it is ended."""
_INSPECTION_S = 1.0
"""Seconds between two stretches of the log that are looked at: a million entries take half an hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRequest:
    """How the server is reached."""

    host: str
    port: int
    base: str | None
    certificate: tuple[Path, Path] | None
    """Certificate and key; None without TLS."""
    is_behind_proxy: bool
    contact: str | None = None
    """Whom readers write to; see `PageSettings`."""
    limits: Limits = field(default_factory=Limits)
    quorum: int = 0
    """Cosignatures that a checkpoint needs before it is published."""
    supplements: Path | None = None
    """The folder of published files that are offered as downloads."""
    processes: int = 1
    """How many processes answer."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches *host*."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_request(wanted: ServeRequest) -> None:
    """Refuse to be reached from other machines without encryption: pages and answers could be changed on their way."""
    if not is_loopback(wanted.host) and wanted.certificate is None and not wanted.is_behind_proxy:
        found = f"other machines reach {wanted.host}, and the connection would not be encrypted"
        advice = "add --tls CERT KEY, or --behind-proxy where a proxy encrypts"
        raise InputError(Fault("bad-option", "--host", found, advice=advice))


def open_reader(url: str) -> Ledger:
    """Open the registry at *url* for readers, who are answered within a second even where another process locks it."""

    def refuse_writing() -> str:
        raise RuntimeError("the server writes nothing")

    return Ledger.open(url, clock=lambda: datetime.now(UTC), salt=refuse_writing, wait_ms=_WAIT_MS)


def build_server(ledger: Ledger, wanted: ServeRequest) -> RegistryServer:
    """Return the server of *ledger*; its shelf is brought up to date, so that the first request does not wait for it."""
    with ledger.view() as view:
        shelf = Shelf(ledger, find_shelf(ledger.url, view.log_origin))
        # Pages of claims need no shelf, so the server starts without one too.
        try:
            shelf.read(view)
        except (CaveatError, sqlite3.Error, OSError) as error:
            LOG.error("searches are not available: %s", error)  # noqa: TRY400  (one line is enough)
    count_assets()
    hosts = {*_LOOPBACK, wanted.host.lower()}
    if wanted.base and (named := urlsplit(wanted.base).hostname):
        hosts.add(named.lower())
    pages = PageSettings(links=LinkStyle.CLEAN, base=wanted.base, has_search=True, contact=wanted.contact, quorum=wanted.quorum)
    supplements = SupplementFolder(wanted.supplements) if wanted.supplements else None
    return RegistryServer(ledger, shelf, ServerSettings(pages=pages, hosts=frozenset(hosts), supplements=supplements))


def _work_aside(server: RegistryServer, wanted: ServeRequest, stop: threading.Event) -> None:
    """Do what no request should wait for, until *stop*."""
    # The schemas take a second to make, and are the same for every request.
    render_openapi(is_live=True, base=wanted.base)
    while not stop.wait(_INSPECTION_S):
        server.inspection.look()


def build_config(application: ASGIApp, wanted: ServeRequest) -> uvicorn.Config:
    """Return how uvicorn runs *application*, with the limits of *wanted*."""
    certificate, key = wanted.certificate or (None, None)
    return uvicorn.Config(
        LimitedApplication(application, wanted.limits, time.monotonic),
        http=build_protocol(wanted.limits),
        ws="none",
        host=wanted.host,
        port=wanted.port,
        ssl_certfile=str(certificate) if certificate else None,
        ssl_keyfile=str(key) if key else None,
        # Whom a proxy names is read where readers are counted (`web.server.limits`).
        proxy_headers=False,
        # Readers are not logged, nor what they send that is no HTTP.
        access_log=False,
        log_level=logging.ERROR,
        server_header=False,
        h11_max_incomplete_event_size=LONGEST_HEADERS,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=10,
    )


def add_witness(pages: ASGIApp, ledger: Ledger, witness: Witness | None) -> ASGIApp:
    """Return *pages* with the address of *witness*, where there is one."""
    if witness is None:
        return pages
    with ledger.view() as view:
        return WitnessRoute(pages, witness, write_prefix(view.log_origin))


def run_server(ledger: Ledger, wanted: ServeRequest, witness: Witness | None = None) -> None:
    """Answer requests until the process is interrupted, with other processes where *wanted* has them.

    Args:
        witness: cosigns checkpoints of other logs; None: nothing can be written.

    Raises:
        InputError: *witness* is in one process, and a request for it could reach another.
    """
    if witness is not None and wanted.processes > 1:
        found = "one process cosigns checkpoints, and a request for a cosignature could reach another"
        raise InputError(Fault("bad-option", "--processes", found, advice="add --read-only, or leave out --processes"))
    # Before the other processes start: they find its file for searches.
    server = build_server(ledger, wanted)
    config = build_config(add_witness(server.build_application(), ledger, witness), wanted)
    if wanted.processes == 1:
        _answer(server, config, wanted, None)
        return
    with config.bind_socket() as shared, _start_others(ledger.url, wanted, shared):
        _answer(server, config, wanted, shared)


def _answer(server: RegistryServer, config: uvicorn.Config, wanted: ServeRequest, shared: socket.socket | None) -> None:
    stop = threading.Event()
    threading.Thread(target=_work_aside, args=(server, wanted, stop), daemon=True).start()
    try:
        uvicorn.Server(config).run(None if shared is None else [shared])
    finally:
        stop.set()
        server.close()


# Python computes one page at a time in a process. Others listen at the same socket, and the system gives each new connection to one of
# them. Each has its own claims in memory, and counts the requests of an address by itself.


@contextmanager
def _start_others(database: str, wanted: ServeRequest, shared: socket.socket) -> Iterator[None]:
    """Run the other processes of *wanted* until the block ends."""
    task = json.dumps([database, shared.fileno(), to_document(wanted)]).encode()
    stop = threading.Event()
    with ExitStack() as stack:
        for _ in range(wanted.processes - 1):
            # In a session of its own, so that Ctrl-C ends only the parent; it ends when its standard input does.
            process = subprocess.Popen(  # noqa: S603  (our own interpreter)
                build_child_command("web.server.run", "serve_too"),
                stdin=subprocess.PIPE,
                pass_fds=(shared.fileno(),),
                start_new_session=True,
            )
            stack.callback(_end, process)
            assert process.stdin is not None  # noqa: S101  (it is a pipe)
            # Not as an argument: the URL may have a password.
            process.stdin.write(task + b"\n")
            process.stdin.flush()
            threading.Thread(target=_watch, args=(process, stop), daemon=True).start()
        stack.callback(stop.set)
        yield


def _watch(process: "subprocess.Popen[bytes]", stop: threading.Event) -> None:
    """Say so where *process* ends before *stop*: the others go on, and answer fewer requests."""
    code = process.wait()
    if not stop.is_set():
        LOG.error("process %d ended with %d; the others go on without it (start the server again)", process.pid, code)


def _end(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None  # noqa: S101  (it is a pipe)
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(_LONGEST_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def serve_too() -> None:
    """Answer requests until the standard input ends (the process of `_start_others`)."""
    database, place, document = json.loads(sys.stdin.buffer.readline())
    wanted = from_document(ServeRequest, document, where="task")
    ledger = open_reader(database)
    server = build_server(ledger, wanted)
    config = build_config(server.build_application(), wanted)
    running = uvicorn.Server(config)

    def wait_for_end() -> None:
        sys.stdin.buffer.read()
        running.should_exit = True

    threading.Thread(target=wait_for_end, daemon=True).start()
    with socket.socket(fileno=place) as shared:
        running.run([shared])
    server.close()
    ledger.close()
