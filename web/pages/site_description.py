"""Files that describe a site to programs: its interface, its log and verifier, what robots may read, and whom to write to."""

from datetime import timedelta

from registry.present.answers import render_json
from registry.registration.key_registration import trusted_vkeys
from registry.store.log_seals import find_root
from registry.store.registry_view import View
from registry.verify.verification_page import read_page
from web.api.openapi import render_openapi
from web.pages.addresses import VERIFIER, PageSettings
from web.tiles import log_files

OPENAPI = "/openapi.json"
ROBOTS = "/robots.txt"
REGISTRY = "/.well-known/caveat.json"
SECURITY = "/.well-known/security.txt"
_PLAIN = "text/plain; charset=utf-8"
_JSON = "application/json"
_VALID = timedelta(days=365)


def find_description(view: View, settings: PageSettings, address: str) -> tuple[bytes, str] | None:
    """Return bytes and media type of the file at *address*; None where it is none of these."""
    match address:
        case "/openapi.json":
            return render_openapi(is_live=settings.has_search, base=settings.base), _JSON
        case "/robots.txt":
            return _render_robots(settings), _PLAIN
        case "/.well-known/caveat.json":
            return _render_registry(view, settings), _JSON
        case "/.well-known/security.txt" if settings.contact is not None:
            return _render_security(view, settings, settings.contact), _PLAIN
        case _:
            return None


def _render_robots(settings: PageSettings) -> bytes:
    # Earlier states would hide the present one in search engines, and the interface has no pages.
    lines = ["User-agent: *", "Disallow: /as-of/", "Disallow: /api/", "Disallow: /tlog/"]
    if settings.contact is not None:
        lines = [f"# Takedown requests: {settings.contact}", *lines]
    return ("\n".join(lines) + "\n").encode()


def _render_registry(view: View, settings: PageSettings) -> bytes:
    """Return what a program needs to find and verify: names, keys and documents. A key that is read here proves nothing by itself."""
    base = settings.base or ""
    addresses = {
        "openapi": OPENAPI,
        "index": "/api/1/index.json",
        "log": log_files.write_prefix(view.log_origin),
        "changes": "/feed.json",
        "verifier": VERIFIER,
        "errors": "/errors/",
        "status": "/status/",
    }
    document = {
        "schema": "caveat/web-registry/1",
        "log": {"origin": view.log_origin, "size": view.log_size, "root": find_root(view, view.log_size)},
        "vkeys": [str(key) for key in trusted_vkeys(view)],
        "verifier_sha256": read_page().sha256,
        "documents": {name: f"{base}{address}" for name, address in addresses.items()},
        "contact": settings.contact,
    }
    return f"{render_json(document)}\n".encode()


def _render_security(view: View, settings: PageSettings, contact: str) -> bytes:
    """Return the file of RFC 9116. It expires a year after the last entry: pages depend on the log, and not on a clock."""
    last = view.find_entry(view.log_size)
    lines = [f"Contact: {contact}", *([f"Expires: {last.at + _VALID:%Y-%m-%dT%H:%M:%SZ}"] if last else [])]
    if settings.base is not None:
        lines.append(f"Canonical: {settings.base}{SECURITY}")
    return ("\n".join(lines) + "\n").encode()
