"""From files that are given out to their proofs: publications in the log, a checkpoint over them, a `.tlog-proof` beside each file.

Each publication names the digest of its file and that of its record, so one entry binds both; there is no entry for the record alone. The
record prints the root and the size of the log that it was made of, and a log cannot hold what prints its own root: its publication comes
after, and the proof shows that the log it prints is the beginning of the log that holds the publication.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from registry.codec.files import naming_file
from registry.codec.published import Consistency, Published, Signer, encode_nodes, encode_published
from registry.publishing import Written, build_publication
from registry.records.dossier import Recorded
from registry.records.publication import Publication
from registry.registration.checkpoints import seal_log
from registry.registration.keys import get_log_keys, list_keys
from registry.report.signature import find_signature
from registry.seal.keys import KeyRing
from registry.seal.proof import format_proof
from registry.store.seals import StoredCheckpoint, consistency_path, find_root, inclusion_path
from registry.store.view import View
from registry.store.writer import Writer

SUFFIX = ".tlog-proof"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A proof that was written."""

    path: Path
    entry: int
    """Of the publication."""
    size: int
    """Of the log in the checkpoint that it leads to."""


def record_publications(writer: Writer, written: Iterable[Written]) -> int:
    """Record that files were given out; one whose digest is recorded already is not recorded again. Return how many were new.

    Change reports are passed over: a publication names a claim or a card.

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


def write_proofs(view: View, written: Sequence[Written], checkpoint: StoredCheckpoint) -> list[Proof]:
    """Write the proof of each file beside it, `NAME.tlog-proof`, whole or not at all; what is there already is replaced."""
    proofs = []
    for one in written:
        published = view.find_publications(one.sha256) if one.sha256 else ()
        if published:
            text = build_proof(view, published[0], checkpoint, data=one.path.read_bytes())
            path = one.path.with_name(one.path.name + SUFFIX)
            _write_whole(path, text.encode())
            proofs.append(Proof(path=path, entry=published[0].entry.seq, size=checkpoint.checkpoint.size))
    return proofs


def build_proof(view: View, published: Recorded[Publication], checkpoint: StoredCheckpoint, *, data: bytes) -> str:
    """Return the proof that the file *data* was given out: that its publication stands in the log under *checkpoint*.

    Raises:
        NotFoundError: the checkpoint is of fewer entries, or the text of the publication was erased.
    """
    seq, size, before = published.entry.seq, checkpoint.checkpoint.size, published.payload.log_size
    said = Published(
        statement=_get_text(view, seq),
        consistency=Consistency(size=before, root=find_root(view, before), path=encode_nodes(consistency_path(view, before, size))),
        signer=None if published.payload.unsigned is None else _find_signer(view, data, size),
    )
    return format_proof(seq - 1, inclusion_path(view, seq, size), checkpoint.note, encode_published(said))


def _find_signer(view: View, data: bytes, size: int) -> Signer | None:
    """Return the proof that the log recorded the key of the signature in *data*; None where it did not, or later than *size*."""
    signature = find_signature(data)
    states = [one for one in list_keys(view) if signature and one.fingerprint == signature.fingerprint]
    if not states or states[0].added.entry.seq > size:
        return None
    seq = states[0].added.entry.seq
    return Signer(entry=seq, statement=_get_text(view, seq), path=encode_nodes(inclusion_path(view, seq, size)))


def _get_text(view: View, seq: int) -> str:
    view.recorded((seq,))  # raises where it was erased or altered
    ((_, text),) = view.log_entries(seq, seq + 1)
    return (text or b"").decode()


def _write_whole(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        with naming_file(path):
            part.write_bytes(data)
        os.replace(part, path)  # noqa: PTH105  (the point is that it is atomic)
    except OSError:
        part.unlink(missing_ok=True)
        raise
