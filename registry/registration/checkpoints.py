"""Checkpoints of the own log: signed once for each size, and kept."""

from collections.abc import Sequence

from registry.records.seal import Checkpoint
from registry.seal.keys import SigningKey
from registry.seal.note import sign_checkpoint
from registry.store.seals import StoredCheckpoint, add_checkpoint, find_checkpoint, find_root, refuse_other_history
from registry.store.writer import Writer


def seal_log(writer: Writer, keys: Sequence[SigningKey], *, size: int | None = None) -> StoredCheckpoint:
    """Return the signed checkpoint of the first *size* entries (all there are): the one that is kept, or a new one, made with *keys*.

    Which keys may sign, `registry.registration.keys.get_log_keys` says.

    Raises:
        AlteredError: `root-differs`: the log was cut off or altered since an earlier checkpoint.
        ConflictError: `beyond-the-log`: there are fewer entries.
        InputError: `log-empty`.
    """
    refuse_other_history(writer)
    wanted = writer.log_size if size is None else size
    kept = find_checkpoint(writer, wanted)
    if kept is not None:
        return kept
    said = Checkpoint(origin=writer.log_origin, size=wanted, root=find_root(writer, wanted))
    note = sign_checkpoint(said, keys)
    add_checkpoint(writer, note, said)
    return StoredCheckpoint(checkpoint=said, note=note, at=writer.moment)
