"""Runs the server until it is stopped."""

import ipaddress
import logging
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from registry.errors import Fault, InputError
from registry.store.ledger import Ledger
from web.pages.addresses import LinkStyle, PageSettings
from web.pages.supplement_files import SupplementFolder
from web.server.application import RegistryServer, ServerSettings, count_assets
from web.server.witness_route import WitnessRoute
from web.shelf.shelf_file import Shelf, find_shelf
from web.tiles.log_files import write_prefix
from web.witness.witness_answers import Witness

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HEADER_BYTES = 16_384
_CONNECTIONS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRequest:
    """How the server is reached."""

    host: str
    port: int
    base: str | None
    certificate: tuple[Path, Path] | None
    """Certificate and key; None without TLS."""
    is_behind_proxy: bool
    supplements: Path | None = None
    """The folder of published files that are offered as downloads."""
    quorum: int = 0
    """Cosignatures that a checkpoint needs before it is published."""
    witness: Witness | None = None
    """Cosigns checkpoints of other logs; None: nothing can be written."""


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


def build_server(ledger: Ledger, wanted: ServeRequest) -> RegistryServer:
    """Return the server of *ledger*; its shelf is brought up to date, so that the first request does not wait for it."""
    with ledger.view() as view:
        shelf = Shelf(ledger, find_shelf(ledger.url, view.log_origin))
        shelf.read(view)
    count_assets()
    hosts = {*_LOOPBACK, wanted.host.lower()}
    if wanted.base and (named := urlsplit(wanted.base).hostname):
        hosts.add(named.lower())
    pages = PageSettings(links=LinkStyle.CLEAN, base=wanted.base, has_search=True, quorum=wanted.quorum)
    supplements = SupplementFolder(wanted.supplements) if wanted.supplements else None
    return RegistryServer(ledger, shelf, ServerSettings(pages=pages, hosts=frozenset(hosts), supplements=supplements))


def add_witness(pages: ASGIApp, ledger: Ledger, witness: Witness | None) -> ASGIApp:
    """Return *pages* with the address of *witness*, where there is one."""
    if witness is None:
        return pages
    with ledger.view() as view:
        return WitnessRoute(pages, witness, write_prefix(view.log_origin))


def run_server(ledger: Ledger, wanted: ServeRequest) -> None:
    """Answer requests until the process is interrupted."""
    server = build_server(ledger, wanted)
    application = add_witness(server.build_application(), ledger, wanted.witness)
    certificate, key = wanted.certificate or (None, None)
    uvicorn.run(
        application,
        host=wanted.host,
        port=wanted.port,
        ssl_certfile=str(certificate) if certificate else None,
        ssl_keyfile=str(key) if key else None,
        proxy_headers=wanted.is_behind_proxy,
        # Readers are not logged.
        access_log=False,
        log_level=logging.WARNING,
        server_header=False,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=10,
    )
