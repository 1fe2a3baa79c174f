"""What the files of a folder are called. Names come from identifiers alone, so none can lead out of the folder."""

import re
from collections.abc import Iterator
from itertools import count

from registry.records.statement import OutputFormat

MANIFEST = "supplements.json"
JOURNAL = ".supplements.journal"
SEEN = ".supplements.seen"
INDEX = "index.html"
FEED = "feed.xml"
PROOF = ".tlog-proof"

_SUBJECT = r"(?:CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,}-[0-9A-Z]@[1-9][0-9]{0,8}"
_REPORT = r"changes-[0-9]{1,16}-[0-9]{1,16}"
_EXTENSION = rf"\.(?:{'|'.join(one.value for one in OutputFormat)})"
SUBJECT = re.compile(_SUBJECT)
"""`CLM-…@n` or `CRD-…@n`, the whole of a name."""
_ENTRY = r"(?:\.entry-[0-9]{1,16}(?:-[0-9]{1,9})?)?"
_FILE = re.compile(rf"(?P<name>{_SUBJECT}|{_REPORT}){_ENTRY}{_EXTENSION}")
_OWN = "|".join(re.escape(one) for one in (MANIFEST, JOURNAL, SEEN, INDEX, FEED))
_PART = re.compile(rf"\.(?:(?:{_SUBJECT}|{_REPORT}){_ENTRY}{_EXTENSION}(?:{re.escape(PROOF)})?|{_OWN})\.part")


def name_file(name: str, format_: OutputFormat) -> str:
    """Return the path of the file of the supplement or report *name*, relative to its folder."""
    return f"{name}.{format_.value}"


def list_names(name: str, format_: OutputFormat, *, log_size: int) -> Iterator[str]:
    """Give the paths that a file may have, in order: its plain name, and where that is not free one with the entry that it is as of.

    Links lead to the plain name, so the first published file has it; it stays valid, and the list of the folder leads to the newest.
    """
    yield name_file(name, format_)
    yield f"{name}.entry-{log_size}.{format_.value}"
    yield from (f"{name}.entry-{log_size}-{number}.{format_.value}" for number in count(2))


def name_part(path: str) -> str:
    """Return where *path* is written before it takes its place."""
    return f".{path}.part"


def is_file_of(path: str, name: str, format_: OutputFormat) -> bool:
    """Whether *path* is one that `list_names` gives for *name*."""
    found = _FILE.fullmatch(path)
    return found is not None and found["name"] == name and path.endswith(f".{format_.value}")


def is_report(name: str) -> bool:
    """Whether *name* is that of a change report."""
    return re.fullmatch(_REPORT, name) is not None


def is_part(path: str) -> bool:
    """Whether *path* is one that `name_part` gives for a file of ours."""
    return _PART.fullmatch(path) is not None
