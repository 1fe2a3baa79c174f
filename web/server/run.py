"""Runs the server until it is stopped."""

import ipaddress
import logging
import sqlite3
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

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
    witness: Witness | None = None
    """Cosigns checkpoints of other logs; None: nothing can be written."""
    supplements: Path | None = None
    """The folder of published files that are offered as downloads."""


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


def run_server(ledger: Ledger, wanted: ServeRequest) -> None:
    """Answer requests until the process is interrupted."""
    server = build_server(ledger, wanted)
    stop = threading.Event()
    threading.Thread(target=_work_aside, args=(server, wanted, stop), daemon=True).start()
    try:
        uvicorn.Server(build_config(add_witness(server.build_application(), ledger, wanted.witness), wanted)).run()
    finally:
        stop.set()
        server.close()
