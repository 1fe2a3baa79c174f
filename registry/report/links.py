"""Links from one file of a folder of supplements to another: by file name alone, so they hold wherever the folder lies, without a server.

A file that is sent around by itself leads nowhere; so what a link is to is always printed too.
"""

import re

_EXTENSIONS = {"screen": "html", "print": "pdf"}
_NAME = re.compile(
    r"(?P<name>(?P<kind>CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,12}-[0-9A-Z])(?:@(?P<revision>[1-9][0-9]{0,8}))?(?:#[0-9a-f]{16})?"
    r"|changes-[0-9]{1,12}-[0-9]{1,12}(?:-[0-9a-f]{8})?"
)
_FILE = re.compile(
    r"(?:(?:CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,12}-[0-9A-Z]@[1-9][0-9]{0,8}|changes-[0-9]{1,12}-[0-9]{1,12}(?:-[0-9a-f]{8})?)\.pdf",
    re.ASCII,
)


def find_file(name: str, medium: str) -> str | None:
    """Return the file in which the supplement of *name* lies in the folder; None for what names neither claim, card nor change report.

    Without `@n` it is that of the first revision, which every registered claim and card has; it leads on to the newest.

    Args:
        name: `CLM-…`, `CRD-…`, with or without `@n` and `#digest`, or `changes-N-M`. It may come from a forged record.
        medium: `screen` or `print`: a file links to files of its own kind.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    stem = name if found["name"] is None else f"{found['name']}@{found['revision'] or 1}"
    return f"{stem}.{_EXTENSIONS[medium]}"


def is_file_link(target: bytes) -> bool:
    """Whether the URI *target* of a PDF names another file of the folder, and nothing else: no scheme, path, query or fragment."""
    return target.isascii() and _FILE.fullmatch(target.decode("ascii")) is not None


def describe_link(target: str) -> str:
    """Return what a link to the file *target* leads to, in words, for readers who hear it."""
    return f"The file {target} in the same folder: the supplement of {target.removesuffix('.pdf')}"
