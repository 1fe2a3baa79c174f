"""From files that are published to their proofs: publications in the log, a checkpoint over them, and the proof inside each file.

Each publication names the digest and length of what was drawn and the digest of its record, so one entry binds both. The record prints the
root and the size of the log that it was made of, and a log cannot hold what prints its own root: its publication comes after, and the proof
shows that the log it prints is the beginning of the log that holds the publication.

The order is: the drawn files are on the disk; the log entries are committed; the proofs are on the disk; the files take their places.
An entry cannot be taken back, so it must not name bytes that a power cut can still take away; and no file may be seen with a proof of an
entry that is not committed. Killed at any moment, the same command goes on: what is recorded is not recorded again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from registry.atomic import replace_files, sync, sync_folders
from registry.codec.published import Consistency, Published, Signer, encode_nodes, encode_published
from registry.publishing import Written, build_publication
from registry.records.dossier import Recorded
from registry.records.statement import OutputFormat, Publication
from registry.registration.key_registration import get_log_keys, list_keys, seal_log
from registry.report.enclosed import enclose_proof, is_finished
from registry.report.signature import sign_pdf
from registry.seal.keys import KeyRing
from registry.seal.proof import format_proof
from registry.store.seals import StoredCheckpoint, consistency_path, find_root, inclusion_path
from registry.store.view import View
from registry.store.writer import Writer

if TYPE_CHECKING:
    from registry.seal.keys import SigningKey
    from registry.store.ledger import Ledger

SUFFIX = ".tlog-proof"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Who publishes files, in which log, and with which keys."""

    ledger: "Callable[[], Ledger]"
    """Opens the registry, only when something is published."""
    actor: str
    """Code of the authority."""
    ring: KeyRing
    """Whose log keys sign the checkpoint; without one, files are recorded and get no proof."""
    key: "SigningKey | None"
    """A document key that signs PDF files; None to leave them unsigned."""
    at: datetime
    """When PDF files are signed."""


def publish_files(publisher: Publisher, written: Sequence[Written]) -> bool:
    """Record that files are published, and add proof and signature to each; return False where there is no key for proofs.

    Change reports are passed over: a publication names a claim or a card. A file that has its proof already stays as it is.

    Raises:
        ConflictError: the registry does not know what a file is of, or has fewer entries than it was made of; or a key is not in force.
        OSError: the disk is full, with the name of the file: no file was changed then, and the log entries are there for the next time.
    """
    drafts = [one for one in written if one.sha256 and one.facts and one.facts.is_recordable and not has_proof(one.path, one.format)]
    if not drafts:
        return True
    for one in drafts:
        sync(one.path)
    sync_folders(one.path for one in drafts)
    with publisher.ledger().write(actor=publisher.actor) as writer:
        record_publications(writer, drafts)
        checkpoint = sign_log(writer, publisher.ring) if publisher.ring.log else None
    if checkpoint is None:
        return False
    with publisher.ledger().view() as view:
        replace_files(_finish(view, drafts, checkpoint, publisher))
    return True


def has_proof(path: Path, format_: OutputFormat) -> bool:
    """Whether the file at *path* has its proof, inside it or, JSON, beside it. A signed PDF takes none: it counts as having one."""
    if format_ is OutputFormat.JSON:
        return name_proof(path).is_file()
    return is_finished(path.read_bytes(), format_)


def name_proof(path: Path) -> Path:
    """Return where the proof of a JSON file lies."""
    return path.with_name(path.name + SUFFIX)


def record_publications(writer: Writer, written: Iterable[Written]) -> int:
    """Record that files are published; one whose digest is recorded already is not recorded again. Return how many were new.

    Raises:
        ConflictError: the registry does not know what a file is of, or has fewer entries than it was made of.
    """
    files = {one.sha256: one for one in written if one.sha256 and one.facts and one.facts.is_recordable}
    new = [one for sha256, one in files.items() if not writer.find_publications(sha256)]
    writer.append_many([build_publication(one) for one in new])
    return len(new)


def sign_log(writer: Writer, ring: KeyRing) -> StoredCheckpoint:
    """Return the checkpoint of the log as it stands now, signed with the log keys of *ring* and kept; one that is kept is taken.

    Raises:
        UnavailableError: `no-log-key`, there is no key here.
        ConflictError: a key is not the log's, or not in force.
    """
    return seal_log(writer, get_log_keys(writer, ring))


def build_proof(view: View, published: Recorded[Publication], checkpoint: StoredCheckpoint, *, signer: str | None) -> str:
    """Return the proof that a file was published: that its publication stands in the log under *checkpoint*.

    Args:
        signer: fingerprint of the key that will sign the file; None for a file that will carry no signature.

    Raises:
        NotFoundError: the checkpoint is of fewer entries, or the text of the publication was erased.
    """
    seq, size, before = published.entry.seq, checkpoint.checkpoint.size, published.payload.log_size
    said = Published(
        statement=_get_text(view, seq),
        consistency=Consistency(size=before, root=find_root(view, before), path=encode_nodes(consistency_path(view, before, size))),
        signer=None if signer is None else _find_signer(view, signer, size),
    )
    return format_proof(seq - 1, inclusion_path(view, seq, size), checkpoint.note, encode_published(said))


def _finish(view: View, drafts: Iterable[Written], checkpoint: StoredCheckpoint, publisher: Publisher) -> Iterator[tuple[Path, bytes]]:
    """Give every file with its proof and signature; of a JSON file the proof that lies beside it."""
    for one in drafts:
        published = view.find_publications(one.sha256) if one.sha256 else ()
        key = publisher.key if one.format is OutputFormat.PDF else None
        proof = build_proof(view, published[0], checkpoint, signer=key.fingerprint if key else None).encode()
        if one.format is OutputFormat.JSON:
            yield name_proof(one.path), proof
            continue
        data = enclose_proof(one.path.read_bytes(), one.format, proof)
        yield one.path, sign_pdf(data, key, at=publisher.at) if key else data


def _find_signer(view: View, fingerprint: str, size: int) -> Signer | None:
    """Return the proof that the log recorded the key *fingerprint*; None where it did not, or later than *size*."""
    states = [one for one in list_keys(view) if one.fingerprint == fingerprint]
    if not states or states[0].added.entry.seq > size:
        return None
    seq = states[0].added.entry.seq
    return Signer(entry=seq, statement=_get_text(view, seq), path=encode_nodes(inclusion_path(view, seq, size)))


def _get_text(view: View, seq: int) -> str:
    view.recorded((seq,))  # raises where it was erased or altered
    ((_, text),) = view.log_entries(seq, seq + 1)
    return (text or b"").decode()
