"""A second process that writes pages of claims and cards: one interpreter uses one core, and most machines have more."""

import json
import secrets
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from registry.codec.canonical_documents import from_document, to_document
from registry.configuration import build_child_command
from registry.errors import CaveatError, Fault, UnavailableError
from registry.store.ledger import Ledger
from web.facets import ClaimFilter, Selection
from web.pages.addresses import PageSettings
from web.pages.page_book import PageBook, PlannedPage
from web.pages.supplement_files import SupplementFolder
from web.site.page_files import PageFile, write_pages


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingTask:
    """What the process needs before the first page."""

    database: str
    """The URL of the registry."""
    origin: str
    """The log that is written, as of its entry *log_size*."""
    log_size: int
    settings: PageSettings
    supplements: str | None
    folder: str
    searches_texts: bool
    """See `PageBook`."""


class PageProcess:
    """The process, as its parent sees it. Whatever goes wrong in it, the parent writes the pages itself and meets the error."""

    def __init__(self, task: WritingTask) -> None:
        """Start it."""
        self.has_failed = False
        """Whether it could not write some pages."""
        # In a session of its own, so that Ctrl-C ends only the parent; it ends when its standard input does.
        self._process = subprocess.Popen(  # noqa: S603  (our own interpreter)
            build_child_command("web.site.page_process", "serve"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        # Not as an argument: the URL may have a password.
        self._send(to_document(task))

    def write(self, pages: Sequence[PlannedPage], known: Mapping[str, str]) -> list[PageFile] | None:
        """Let it write *pages* (see `write_pages`) and wait; None where it could not."""
        try:
            self._send({"pages": [[page.address, page.state] for page in pages], "known": dict(known)})
            assert self._process.stdout is not None  # noqa: S101  (it is a pipe)
            answer = json.loads(self._process.stdout.readline() or "null")
        except (OSError, ValueError):
            answer = None
        self.has_failed |= answer is None
        return None if answer is None else [PageFile(**described) for described in answer]

    def close(self) -> None:
        """End it."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()

    def _send(self, document: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None  # noqa: S101  (it is a pipe)
        self._process.stdin.write(f"{json.dumps(document)}\n".encode())
        self._process.stdin.flush()


class _NoClaims:
    """Lists are made by the parent."""

    def select(self, wanted: ClaimFilter, *, skip: int = 0, before: int | None = None, limit: int) -> Selection:  # noqa: ARG002
        raise UnavailableError(Fault("search-unavailable", "claims", "this process makes no lists"))


def serve() -> None:
    """Write pages as long as the parent asks for any (the process of `PageProcess`)."""
    lines = iter(sys.stdin.buffer)
    task = from_document(WritingTask, json.loads(next(lines)), where="task")
    ledger = Ledger.open(task.database, clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))
    with ledger.view(task.log_size, log=task.origin) as view:
        supplements = SupplementFolder(Path(task.supplements)) if task.supplements else None
        book = PageBook(view, task.settings, _NoClaims(), supplements, searches_texts=task.searches_texts)
        for line in lines:
            _answer(_write(book, json.loads(line), Path(task.folder)))


def _write(book: PageBook, asked: Mapping[str, Any], folder: Path) -> list[dict[str, Any]] | None:
    pages = [PlannedPage(address=address, state=state) for address, state in asked["pages"]]
    try:
        return [asdict(file) for file in write_pages(book, pages, folder, asked["known"])]
    except CaveatError:
        return None


def _answer(files: Iterable[Mapping[str, Any]] | None) -> None:
    sys.stdout.write(f"{json.dumps(files)}\n")
    sys.stdout.flush()
