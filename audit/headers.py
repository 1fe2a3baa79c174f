"""What the headers of an answer tell: how much the endpoint still allows, and how long it asks to wait."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What one kind of rate limit still allows, as the endpoint told in its headers."""

    kind: str
    """`requests`, `tokens`, `input-tokens` or `output-tokens`."""
    limit: float
    remaining: float
    reset_s: float | None
    """Seconds until it is full again; None: not told."""


def read_quotas(headers: Mapping[str, str]) -> tuple[Quota, ...]:
    """Return the rate limits that *headers* tell of; those that cannot be read are not there."""
    found = []
    for kind in ("requests", "tokens", "input-tokens", "output-tokens"):
        limit, remaining = (_read_number(headers.get(f"anthropic-ratelimit-{kind}-{name}")) for name in ("limit", "remaining"))
        if limit is not None and remaining is not None:
            reset_s = _read_reset(headers.get(f"anthropic-ratelimit-{kind}-reset"))
            found.append(Quota(kind=kind, limit=limit, remaining=remaining, reset_s=reset_s))
    return tuple(found)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait; None when it does not, or not in a way that can be read."""
    milliseconds = _read_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _read_number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _read_number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return value if 0 <= value < 1e18 else None


def _read_reset(text: str | None) -> float | None:
    """Return the seconds until the moment in *text* (RFC 3339, as the API writes it), or which it is itself."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _read_number(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
