"""What the files of a folder are called. Names come from identifiers alone, so none can lead out of the folder."""

import re

from registry.records.publication import OutputFormat

MANIFEST = "supplements.json"
JOURNAL = ".supplements.journal"
SEEN = ".supplements.seen"
INDEX = "index.html"
FEED = "feed.xml"
PROOF = ".tlog-proof"

_SUBJECT = r"(?:CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,}-[0-9A-Z]@[1-9][0-9]{0,8}"
_REPORT = r"changes-[0-9]{1,16}-[0-9]{1,16}"
_EXTENSION = rf"\.(?:{'|'.join(one.value for one in OutputFormat)})"
_MARK = r"\.entry-[0-9]{1,16}-[0-9a-f]{12}"
SUBJECT = re.compile(_SUBJECT)
"""`CLM-…@n` or `CRD-…@n`, the whole of a name."""
_KEPT = re.compile(rf"{_SUBJECT}{_MARK}{_EXTENSION}")
_OWN = "|".join(re.escape(one) for one in (MANIFEST, JOURNAL, SEEN, INDEX, FEED))
_PART = re.compile(rf"\.(?:(?:{_SUBJECT}|{_REPORT}){_EXTENSION}|{_OWN})\.part")


def name_file(name: str, format_: OutputFormat) -> str:
    """Return the path of the file of the supplement or report *name*, relative to its folder."""
    return f"{name}.{format_.value}"


def name_replaced(name: str, format_: OutputFormat, *, log_size: int, digest: str) -> str:
    """Return where a file that another takes the place of is kept: beside it, since its links are to files beside it.

    Args:
        log_size: entries that it was made from.
        digest: of its bytes. What `caveat report --as-of` draws of the same entry has a notice before it, and must not take its place.
    """
    return f"{name}.entry-{log_size}-{digest[:12]}.{format_.value}"


def name_stray(name: str, format_: OutputFormat, *, digest: str) -> str:
    """Return where a file is kept that stood in the place of a supplement and is none that was drawn there, relative to the folder."""
    return f"{name}.edited-{digest[:12]}.{format_.value}"


def name_part(path: str) -> str:
    """Return where *path* is written before it takes its place."""
    return f".{path}.part"


def is_replaced(path: str) -> bool:
    """Whether *path* is one that `name_replaced` gives."""
    return _KEPT.fullmatch(path) is not None


def is_report(name: str) -> bool:
    """Whether *name* is that of a change report."""
    return re.fullmatch(_REPORT, name) is not None


def is_part(path: str) -> bool:
    """Whether *path* is one that `name_part` gives for a file of ours."""
    return _PART.fullmatch(path) is not None
