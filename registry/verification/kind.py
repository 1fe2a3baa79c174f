"""What a file is, told by what stands in it, never by its name."""

import json
from enum import StrEnum

_SQLITE = b"SQLite format 3\0"
_SIGNATURES = "\n\n\N{EM DASH} ".encode()
_BEGINNING = 4_000
"""The text of a checkpoint is three short lines, of which its signatures follow."""


class FileKind(StrEnum):
    """What can be verified."""

    SUPPLEMENT = "supplement"
    """PDF, HTML or JSON; also whatever is none of the others, which reading it as a supplement refuses in words."""
    PROOF = "proof"
    """C2SP tlog-proof."""
    CHECKPOINT = "checkpoint"
    """A signed note of C2SP tlog-checkpoint."""
    CONSISTENCY = "consistency"
    """What `caveat log prove --since` writes."""
    BUNDLE = "bundle"
    """What `caveat export` writes."""
    REGISTRY = "registry"
    """A SQLite file."""


_SCHEMAS = {"caveat/consistency": FileKind.CONSISTENCY, "caveat/bundle": FileKind.BUNDLE}


def tell_kind(data: bytes) -> FileKind:
    """Return what *data* is."""
    if data.startswith(_SQLITE):
        return FileKind.REGISTRY
    if data.startswith(b"c2sp.org/tlog-proof@"):
        return FileKind.PROOF
    if data.lstrip()[:1] == b"{":
        return _SCHEMAS.get(_find_schema(data).rpartition("/")[0], FileKind.SUPPLEMENT)
    return FileKind.CHECKPOINT if _SIGNATURES in data[:_BEGINNING] and not data.startswith(b"%PDF-") else FileKind.SUPPLEMENT


def _find_schema(data: bytes) -> str:
    """Return the schema of the JSON object that *data* begins with, empty where there is none."""
    try:
        document, _ = json.JSONDecoder().raw_decode(data.decode().lstrip())
    except (ValueError, RecursionError):
        return ""
    return str(document.get("schema")) if isinstance(document, dict) else ""
