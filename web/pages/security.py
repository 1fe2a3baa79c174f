"""What browsers may do with pages, as HTTP headers: nothing is loaded from elsewhere, and no script runs."""

import re
from collections.abc import Mapping

from web.pages.addresses import SEARCH, VERIFIER

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), interest-cohort=()",
}
"""Of every answer."""

SEARCH_POLICY = POLICY.replace("img-src", "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src")
"""Of the search page of a site: its script and the index that lies next to it."""

IMMUTABLE = "public, max-age=31536000, immutable"
"""Of what is named by its digest."""
SUBJECT = "public, max-age=60, stale-while-revalidate=600"
"""Of pages of a claim or card: they change only with their state."""
LIST = "public, max-age=30, stale-while-revalidate=600"
"""Of pages that list something."""


_OWN_POLICY = "sandbox allow-scripts allow-forms; frame-ancestors 'none'"


_FILE = re.compile(r"/((?:CLM|CRD)-[^/]+@\d+(?:\.entry-[\d-]+)?\.(pdf|html|json)(?:\.tlog-proof)?)")
SUPPLEMENT_POLICY = (
    "sandbox allow-top-navigation-by-user-activation; default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:; "
    "frame-ancestors 'none'"
)
"""Of a published HTML file: it brings its own style and fonts, runs no script, and is kept apart from the pages."""


def is_download(address: str) -> bool:
    """Whether *address* is that of a published file or its proof."""
    return _FILE.fullmatch(address) is not None


def find_headers(address: str) -> Mapping[str, str]:
    """Return the headers of what is at *address*.

    The page that checks files has a policy in itself, which allows its own script. Published files are shown apart from the pages, or
    saved.
    """
    if address == VERIFIER:
        return {**HEADERS, "Content-Security-Policy": _OWN_POLICY}
    file = _FILE.fullmatch(address)
    if file is None:
        return HEADERS
    if file[1].endswith(".html"):
        return {**HEADERS, "Content-Security-Policy": SUPPLEMENT_POLICY}
    return {**HEADERS, "Content-Security-Policy": f"sandbox; {POLICY}", "Content-Disposition": f'attachment; filename="{file[1]}"'}


def write_headers_file() -> bytes:
    """Return `_headers`, from which some web hosts take the headers of their answers."""
    lines = ["/*", *(f"  {name}: {value}" for name, value in HEADERS.items()), "/assets/*", f"  Cache-Control: {IMMUTABLE}"]
    # A path with its own value first drops the one of all paths.
    for address, policy in ((VERIFIER, _OWN_POLICY), (SEARCH, SEARCH_POLICY)):
        lines += [address, "  ! Content-Security-Policy", f"  Content-Security-Policy: {policy}"]
    for kind in ("CLM", "CRD"):
        lines += [f"/{kind}-*.html", "  ! Content-Security-Policy", f"  Content-Security-Policy: {SUPPLEMENT_POLICY}"]
        lines += [f"/{kind}-*.pdf", "  Content-Disposition: attachment"]
    lines.append("")
    return "\n".join(lines).encode()
