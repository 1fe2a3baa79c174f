"""A supplement's own proof, over a log whose other entries are anybody's."""

import hashlib
from dataclasses import fields, replace
from typing import Any, TypeVar

from registry.codec.canonical_documents import to_document
from registry.codec.statement_encoding import leaf_hash, list_entries, list_recorded, write_statement
from registry.records.dossier import AuditFile, Dossier, Inclusion, ObjectionFile, Recorded
from registry.records.log_seal import EntryOpening
from registry.records.supplement import CardSupplement, Supplement
from registry.seal.merkle_tree import proof_nodes, root_of

AnySupplement = TypeVar("AnySupplement", Supplement, CardSupplement)


def salt_of(seq: int) -> str:
    """The salt that `tests.report.builders.Log` gives entry *seq*."""
    return f"{seq:032x}"


def retell(record: Any) -> Any:
    """*record* with each entry's leaf that of the payload beside it: some builders change a payload after it was said."""
    match record:
        case Recorded():
            text = write_statement(record.entry, to_document(record.payload), salt_of(record.entry.seq))
            return replace(record, entry=replace(record.entry, leaf=leaf_hash(text)))
        case tuple():
            return tuple(map(retell, record))
        case AuditFile() | ObjectionFile() | Dossier():
            return replace(record, **{field.name: retell(getattr(record, field.name)) for field in fields(record)})
        case _:
            return record


def prove(supplement: AnySupplement, *, texts: dict[int, str] | None = None) -> AnySupplement:
    """*supplement* with its inclusion; *texts* are given for entries whose statement, written again, is another."""
    entries = list_entries(supplement)
    size = max(supplement.log_size, *entries)
    leaves = [hashlib.sha256(f"somebody else, {seq}".encode()).digest() for seq in range(1, size + 1)]
    for seq, entry in entries.items():
        leaves[seq - 1] = bytes.fromhex(entry.leaf)

    def find(level: int, index: int) -> bytes:
        return root_of(leaves[index << level : (index + 1) << level])

    openings = (one.entry.seq for one in list_recorded(supplement))
    inclusion = Inclusion(
        size=size,
        root=root_of(leaves).hex(),
        nodes=proof_nodes([seq - 1 for seq in entries], size, find),
        openings=tuple(EntryOpening(entry=seq, salt=salt_of(seq), text=(texts or {}).get(seq)) for seq in openings),
    )
    return replace(supplement, log_size=size, inclusion=inclusion)
