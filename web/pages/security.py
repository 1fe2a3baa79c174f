"""What browsers may do with pages, as HTTP headers: nothing is loaded from elsewhere, and no script runs."""

from collections.abc import Mapping

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

IMMUTABLE = "public, max-age=31536000, immutable"
"""Of what is named by its digest."""
SUBJECT = "public, max-age=60, stale-while-revalidate=600"
"""Of pages of a claim or card: they change only with their state."""
LIST = "public, max-age=30, stale-while-revalidate=600"
"""Of pages that list something."""


def write_headers_file() -> bytes:
    """Return `_headers`, from which some web hosts take the headers of their answers."""
    lines = ["/*", *(f"  {name}: {value}" for name, value in HEADERS.items()), "/assets/*", f"  Cache-Control: {IMMUTABLE}", ""]
    return "\n".join(lines).encode()
