"""The proof that a record's entries stand in a log, and who signed them."""

from dataclasses import dataclass

from registry.records.dossier import Recorded
from registry.records.record import Record
from registry.records.seal import EntrySignature, KeyEvent, Node, Opening


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion(Record):
    """The proof that entries stand in a log: with their leaves and these nodes, anybody computes the root."""

    size: int
    """Of the log, in entries."""
    root: str
    """Of the tree over them, hexadecimal."""
    nodes: tuple[Node, ...]
    """The fewest whose leaves are none of the entries proven, by level and index."""
    openings: tuple[Opening, ...] = ()
    """One for each entry whose payload stands in the record, in log order."""
    signatures: tuple[EntrySignature, ...] = ()
    """One for each entry proven that its author signed, in log order."""
    keys: tuple[Recorded[KeyEvent], ...] = ()
    """What the log says of the statement keys of those authors, in log order; these entries are proven too."""
