"""Pages as new files next to the old ones: each is written only if its bytes differ."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from registry.codec.file_io import name_part
from registry.errors import NotFoundError
from web.pages.addresses import find_file_path
from web.pages.page_book import PageBook, PlannedPage
from web.pages.security import write_headers_file

HEADERS = "_headers"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """A file of a site, as its manifest has it."""

    path: str
    state: str
    sha256: str
    bytes_written: int | None
    """None where the file that was there has the same bytes."""


def write_pages(book: PageBook, pages: Sequence[PlannedPage], folder: Path, known: Mapping[str, str]) -> Iterator[PageFile]:
    """Write *pages* of *book* into *folder* under their other names, without pages that are gone.

    Args:
        known: the digests of the files that may be there, by path.
    """
    book.expect(page.address for page in pages)
    for page in pages:
        path = find_file_path(page.address)
        try:
            data = write_headers_file() if path == HEADERS else book.find(page.address, state=page.state).body
        # Of a claim whose text was erased one page is left, which says so; a bundle of entries with an erased text is left out.
        except NotFoundError as error:
            if error.code not in ("body-erased", "bundle-not-served"):
                raise
            continue
        yield write_file(path, data, page.state, folder=folder, before=known.get(path))


def write_file(path: str, data: bytes, state: str, *, folder: Path, before: str | None) -> PageFile:
    """Write *data* under the other name of *path*, unless the file that is there has the digest *before* and the same bytes."""
    digest = hashlib.sha256(data).hexdigest()
    # Another state can have the same bytes: then the file, and every copy of it elsewhere, stays.
    if before == digest and (folder / path).is_file():
        return PageFile(path=path, state=state, sha256=digest, bytes_written=None)
    part = name_part(folder / path)
    try:
        part.write_bytes(data)
    except FileNotFoundError:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
    return PageFile(path=path, state=state, sha256=digest, bytes_written=len(data))
