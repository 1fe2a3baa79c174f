"""Where requests go, as a person set it: what is refused of it before anything is sent or written down."""

import ipaddress
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from registry.errors import Fault, InputError

_ADDED = ("/v1", "/v1/messages")
"""Ends of an address that the SDK adds by itself."""


def check_address(address: str, *, where: str) -> None:
    """Return when *address* can be an endpoint's; it is kept with every recording, so it must hold no secret.

    Raises:
        InputError: it is no web address, ends as no base address does, or holds a login, a query or a fragment.
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(Fault(code="bad-endpoint", where=where, found="is no web address: host or port cannot be read")) from error
    if parts.scheme not in ("http", "https") or not host:
        found = "expected an address that begins with https:// or http:// and names a machine"
        raise InputError(Fault(code="bad-endpoint", where=where, found=found, advice="write it as https://api.example.org"))
    faults = [Fault(code="bad-endpoint", where=where, found=found, advice=advice) for found, advice in _find_faults(parts)]
    if faults:
        raise InputError(faults)


def check_headers(text: str, *, where: str) -> None:
    """Return when the headers in *text*, one a line, change nothing that a recording would have to say.

    Raises:
        InputError: one of them is the API's own, such as a beta.
    """
    names = sorted({name for line in text.split("\n") if (name := line.partition(":")[0].strip().lower()).startswith("anthropic-")})
    if names:
        found = f"sets {', '.join(names)} behind the recording's back"
        advice = "take it out; policy.betas and policy.api_version say the same, and are kept"
        raise InputError(Fault(code="not-valid", where=where, found=found, advice=advice))


def is_loopback(address: str) -> bool:
    """Return whether *address* is on this very machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _find_faults(parts: SplitResult) -> Iterator[tuple[str, str]]:
    if "@" in parts.netloc:
        yield "holds a login, and the address is kept with the recording", "leave it out; the key is read from ANTHROPIC_API_KEY"
    if parts.query or parts.fragment:
        yield "holds a query or a fragment, and the address is kept with the recording", "end it with the path"
    if parts.path.rstrip("/").endswith(_ADDED):
        yield f"ends with {parts.path.rstrip('/')}, and /v1/messages is added to it", "leave /v1 out"
