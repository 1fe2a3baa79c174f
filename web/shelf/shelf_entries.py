"""What the file of the shelf has of each claim; of a large registry a second process reads one half."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.configuration import build_child_command
from registry.records.claim_status import Status
from registry.registration.claim_search import ListedClaim, stream_claims
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from web.facets import FACETS, split_words, write_searched

MANY = 100_000
"""Entries from which on a second process is worth its start: both together read some ten thousand claims a second."""
_SHARE = 0.55
"""Of the entries, what the other process reads; this one writes the file, too."""
_MOST_STATUSES = 10_000


class ShelfEntry(NamedTuple):
    """A claim as the file takes it."""

    seq: int
    claim: str
    revision: int
    facets: Sequence[str]
    """In the order of `FACETS`."""
    words: str
    status: str
    """Its status as canonical JSON."""


class ClaimDescriber:
    """Describes claims; statuses that many of them share are written once."""

    def __init__(self) -> None:
        self._by_object: dict[int, tuple[Status, str]] = {}
        self._plain: dict[tuple[str | None, ...], str] = {}

    def describe(self, claims: Iterable[ListedClaim]) -> list[ShelfEntry]:
        """Return what the file has of *claims*."""
        return [self._describe(claim) for claim in claims]

    def _describe(self, claim: ListedClaim) -> ShelfEntry:
        summary = claim.summary
        facets, words = [read(claim) for read in FACETS.values()], write_words(write_searched(claim))
        return ShelfEntry(summary.seq, summary.claim, summary.revision, facets, words, self._write_status(summary.status))

    def _write_status(self, status: Status) -> str:
        # Claims to which nothing happened may share one object.
        known = self._by_object.get(id(status))
        if known is None:
            if len(self._by_object) > _MOST_STATUSES:
                self._by_object.clear()
            known = self._by_object[id(status)] = (status, self._write_new(status))
        return known[1]

    def _write_new(self, status: Status) -> str:
        if status.causes or status.gravest or status.beside:
            return canonical_bytes(to_document(status)).decode()
        # Nothing but four words and a successor: comparing these is quicker than writing a text.
        key = (status.lifecycle, status.dispute, status.staleness, status.restriction, status.superseded_by)
        if key not in self._plain:
            self._plain[key] = canonical_bytes(to_document(status)).decode()
        return self._plain[key]


def write_words(text: str) -> str:
    """Return *text* as the index takes it, so that its words are those of `split_words`."""
    # The tokenizer separates only at ASCII signs and takes every other character for a part of a word. So it agrees with Python on ASCII,
    # and texts in other scripts are separated here.
    return text.casefold() if text.isascii() and "\0" not in text else " ".join(split_words(text))


def list_shelf_entries(view: View, database: str, *, many: int = MANY) -> Iterator[list[ShelfEntry]]:
    """Yield what the file has of all claims of *view*, in log order, some thousand at once.

    Args:
        database: the URL of the registry.
        many: from so many entries on, another process reads some.
    """
    is_shared = view.log_size >= many and os.cpu_count() != 1 and _is_open_to_others(database)
    middle = int(view.log_size * (1 - _SHARE)) if is_shared else view.log_size
    # The file has no name, so it goes with this process, whatever ends it.
    with tempfile.TemporaryFile() as rest:
        process = _start(view, database, middle, rest.fileno()) if is_shared else None
        try:
            yield from _read(view, 0, middle)
            if process is None:
                return
            if process.wait() == 0:
                rest.seek(0)
                for line in rest:
                    yield [ShelfEntry(*entry) for entry in json.loads(line)]
            else:
                # It met an error, which this process then meets itself.
                yield from _read(view, middle, view.log_size)
        finally:
            if process is not None:
                process.kill()
                process.wait()


def _is_open_to_others(database: str) -> bool:
    return not database.startswith("sqlite") or database.partition("///")[2] not in ("", ":memory:")


def _start(view: View, database: str, middle: int, output: int) -> "subprocess.Popen[bytes]":
    # In a session of its own, so that Ctrl-C ends only the parent.
    process = subprocess.Popen(  # noqa: S603  (our own interpreter)
        build_child_command("web.shelf.shelf_entries", "serve"), stdin=subprocess.PIPE, stdout=output, start_new_session=True
    )
    assert process.stdin is not None  # noqa: S101  (it is a pipe)
    # Not as an argument: the URL may have a password.
    with process.stdin as pipe:
        pipe.write(json.dumps([database, view.log_origin, view.log_size, middle]).encode())
    return process


def serve() -> None:
    """Write what the file has of the claims in the second part of a log (the process of `list_shelf_entries`)."""
    database, origin, size, middle = json.loads(sys.stdin.buffer.read())
    ledger = Ledger.open(database, clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))
    with ledger.view(size, log=origin) as view:
        for stretch in _read(view, middle, size):
            sys.stdout.write(f"{json.dumps(stretch)}\n")


def _read(view: View, after: int, last: int) -> Iterator[list[ShelfEntry]]:
    describer = ClaimDescriber()
    return (describer.describe(stretch) for stretch in stream_claims(view, log="", after=after, last=last))
