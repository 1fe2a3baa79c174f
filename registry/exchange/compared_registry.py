"""A registry or a bundle opened for a comparison: nothing is recorded in it, and its authority need not be known here."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from registry.errors import Fault, InputError
from registry.exchange.bundle_check import find_signer, read_whole
from registry.exchange.bundle_transfer import take_over
from registry.records.record import Authority, AuthorityRole
from registry.seal.signed_notes import VerifierKey, parse_vkey
from registry.store import database_schema
from registry.store.database_engine import describe_url, is_file
from registry.store.ledger import Ledger
from registry.store.registry_view import View

_DATABASE = "caveat.db"
_READER = "READER"
"""The authority of the registry that a bundle is read into, which is gone with the comparison."""
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRegistry:
    """One side of a comparison."""

    name: str
    """As it was given, without a password."""
    view: View
    is_verified: bool | None
    """Whether a bundle is signed by a key that the reader gave; None for a database, which its keeper could have altered."""


@contextmanager
def open_compared(
    source: str, *, clock: Callable[[], datetime], keys: Sequence[VerifierKey] = (), progress: Callable[[int], None] = lambda _more: None
) -> Iterator[ComparedRegistry]:
    """Give what *source* names: a URL, a `caveat.db` or the folder that has it, or a bundle.

    Args:
        keys: those that a bundle has to be signed by; without any, its own are taken, which show no author.
        progress: called with how many more entries of a bundle were read.

    Raises:
        InputError: it is neither; or a bundle that is not whole, or not signed by one of *keys*.
        UnavailableError: the registry cannot be opened.
    """
    path = Path(source) / _DATABASE if Path(source).is_dir() else Path(source)
    if "://" in source or _is_database(path):
        with _open(source if "://" in source else f"sqlite:///{path}", clock) as ledger, ledger.view() as view:
            yield ComparedRegistry(name=describe_url(source) if "://" in source else source, view=view, is_verified=None)
        return
    if not is_file(path):
        problem = "there is no such file; expected a caveat.db, a folder with one, a URL such as postgresql://…, or a bundle"
        raise InputError(Fault("file-not-readable", source, problem))
    with TemporaryDirectory(prefix="caveat-compare-") as folder:
        url = f"sqlite:///{Path(folder) / _DATABASE}"
        database_schema.upgrade(url)
        with _open(url, clock) as ledger:
            origin = _read_bundle(ledger, path, keys, progress)
            with ledger.view(log=origin) as view:
                yield ComparedRegistry(name=source, view=view, is_verified=bool(keys))


@contextmanager
def _open(url: str, clock: Callable[[], datetime]) -> Iterator[Ledger]:
    ledger = Ledger.open(url, clock=clock, salt=lambda: secrets.token_hex(16))
    try:
        yield ledger
    finally:
        ledger.close()


def _is_database(path: Path) -> bool:
    if not is_file(path):
        return False
    with path.open("rb") as stream:
        return stream.read(len(_SQLITE)) == _SQLITE


def _read_bundle(ledger: Ledger, path: Path, keys: Sequence[VerifierKey], progress: Callable[[int], None]) -> str:
    """Import the bundle *path* and return the origin of its log."""
    bundle = read_whole(path)
    # Without a key of the reader's the bundle vouches for itself: that its entries were not altered on the way is checked, not who made it.
    own = [parse_vkey(vkey, where=str(path)) for vkey in bundle.header.vkeys]
    signer = find_signer(bundle.checkpoint, tuple(keys) or own, bundle.steps, bundle.notes)
    with ledger.write(actor=_READER) as writer:
        writer.append(Authority(code=_READER, name="Comparison", role=AuthorityRole.AUDITOR))
    take_over(ledger, path, actor=_READER, keys=(signer,), example=True, progress=progress)
    return bundle.header.origin
