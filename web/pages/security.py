"""What browsers may do with pages, as HTTP headers: nothing is loaded from elsewhere, and no script runs."""

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


def find_headers(address: str) -> Mapping[str, str]:
    """Return the headers of the page at *address*: the page that checks files has a policy in itself, which allows its own script."""
    return {**HEADERS, "Content-Security-Policy": _OWN_POLICY} if address == VERIFIER else HEADERS


def write_headers_file() -> bytes:
    """Return `_headers`, from which some web hosts take the headers of their answers."""
    lines = ["/*", *(f"  {name}: {value}" for name, value in HEADERS.items()), "/assets/*", f"  Cache-Control: {IMMUTABLE}"]
    # A path with its own value first drops the one of all paths.
    for address, policy in ((VERIFIER, _OWN_POLICY), (SEARCH, SEARCH_POLICY)):
        lines += [address, "  ! Content-Security-Policy", f"  Content-Security-Policy: {policy}"]
    return "\n".join([*lines, ""]).encode()
