"""What a file is, told by what it begins with, never by its name."""

from enum import StrEnum

_SQLITE = b"SQLite format 3\0"
_BUNDLE = (b'{"cards":', b"\x28\xb5\x2f\xfd")
"""A bundle's first line is canonical JSON, whose keys are sorted; or it is compressed (RFC 8878, section 3.1.1)."""
_SIGNATURES = "\n\n\N{EM DASH} ".encode()
HEAD_BYTES = 4_000
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


def tell_kind(data: bytes) -> FileKind:
    """Return what a file is that is, or begins with, *data*."""
    if data.startswith(_SQLITE):
        return FileKind.REGISTRY
    if data.startswith(_BUNDLE):
        return FileKind.BUNDLE
    if data.startswith(b"c2sp.org/tlog-proof@"):
        return FileKind.PROOF
    if data.startswith(b"old "):
        return FileKind.CONSISTENCY
    if data.lstrip()[:1] == b"{":
        return FileKind.SUPPLEMENT
    return FileKind.CHECKPOINT if _SIGNATURES in data[:HEAD_BYTES] and not data.startswith(b"%PDF-") else FileKind.SUPPLEMENT
