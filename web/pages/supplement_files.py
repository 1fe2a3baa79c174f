"""Published supplements as downloads: files of a folder that `caveat report` wrote, each as the log says that it was published."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from registry.codec.statement_encoding import list_entries
from registry.errors import CaveatError
from registry.folder.folder_manifest import PROOF, list_names
from registry.folder.supplement_publishing import LARGEST_FILE_BYTES, read_bytes
from registry.records.dossier import Recorded
from registry.records.statement import OutputFormat, Publication
from registry.report.published_file import split_file
from registry.report.supplement_reading import read_supplement
from web.pages.addresses import Linker
from web.pages.layout import PageLink

_MOST_NAMES = 12
"""Names under which a file is looked for: the plain one, and those of renderings of the same entry."""
MEDIA_TYPES = {
    ".pdf": "application/pdf", ".html": "text/html; charset=utf-8", ".json": "application/json", PROOF: "text/plain; charset=utf-8",
}  # fmt: skip
"""By the end of the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """A published file that is at hand."""

    name: str
    """`CLM-…@n.pdf`: its name in the folder, and its address."""
    size: int
    proof: str | None
    """Name of the file with its proof; None where it carries the proof itself."""


class SupplementFolder:
    """The files of a folder that are what the log recorded."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checked: dict[tuple[str, int, int, str], frozenset[int] | None] = {}

    def find(self, publication: Recorded[Publication], erased: Collection[int]) -> Download | None:
        """Return the file of *publication*; None where the folder has none with its digest, or it has a text that was erased since.

        Args:
            erased: the entries of which the text was erased.
        """
        payload = publication.payload
        for name in islice(list_names(payload.subject, payload.format, log_size=payload.log_size), _MOST_NAMES):
            path = self._path / name
            if not path.is_file():
                continue
            entries = self._read_entries(path, payload.format, payload.sha256, is_needed=bool(erased))
            if entries is not None and not entries & frozenset(erased):
                proof = f"{name}{PROOF}"
                return Download(name=name, size=path.stat().st_size, proof=proof if (self._path / proof).is_file() else None)
        return None

    def _read_entries(self, path: Path, format_: OutputFormat, sha256: str, *, is_needed: bool) -> frozenset[int] | None:
        """Return the entries that the file at *path* rests on, empty if not *is_needed*; None where its digest is not *sha256*."""
        status = path.stat()
        key = (path.name, status.st_size, status.st_mtime_ns, f"{sha256}{is_needed}")
        if key not in self._checked:
            self._checked[key] = _check_file(path, format_, sha256, is_needed=is_needed)
        return self._checked[key]

    def read(self, name: str) -> bytes:
        """Return the file *name*, which `find` gave."""
        return read_bytes(self._path / name)


def _check_file(path: Path, format_: OutputFormat, sha256: str, *, is_needed: bool) -> frozenset[int] | None:
    if path.stat().st_size > LARGEST_FILE_BYTES:
        return None
    try:
        data = read_bytes(path)
        # The log has the digest of the rendered bytes, without the proof and signature that were added.
        if hashlib.sha256(split_file(data, format_).rendered).hexdigest() != sha256:
            return None
        return frozenset(list_entries(read_supplement(data, where=path.name))) if is_needed else frozenset()
    except CaveatError:
        return None


def list_downloads(
    folder: SupplementFolder | None, publications: Iterable[Recorded[Publication]], erased: Collection[int]
) -> Iterator[tuple[Recorded[Publication], Download | None]]:
    """Yield each of *publications* with its file; None where it is not at hand."""
    for publication in publications:
        yield publication, None if folder is None else folder.find(publication, erased)


Published = Sequence[tuple[Recorded[Publication], Download | None]]
"""The publications of a claim or card in log order, each with its file where that is at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """A file of a claim, as the log says it was published."""

    subject: str
    format: str
    at: object
    seq: int
    log_size: int
    sha256: str
    file: PageLink | None
    """The file itself; None where it is not at hand."""
    proof: PageLink | None
    """The file with its proof; None where it carries the proof itself, or is not at hand."""


def build_files(files: Published, link: Linker) -> tuple[PublishedFile, ...]:
    """Return what a table shows of published files."""
    return tuple(
        PublishedFile(
            subject=publication.payload.subject,
            format=publication.payload.format.value,
            at=publication.entry.at,
            seq=publication.entry.seq,
            log_size=publication.payload.log_size,
            sha256=publication.payload.sha256,
            file=PageLink(text=download.name, href=link(f"/{download.name}"), is_code=True) if download else None,
            proof=PageLink(text="proof", href=link(f"/{download.proof}")) if download and download.proof else None,
        )
        for publication, download in files
    )
