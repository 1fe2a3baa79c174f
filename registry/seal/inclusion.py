"""Whether the entries that a supplement names stand in the log it names, at the root it names. Nothing else is needed: no network, no key.

It says nothing of who keeps the log: that the root is the log's is shown by a signed checkpoint.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.codec.canonical import Json
from registry.codec.inclusion import Named, find_misfit, list_entries, list_named
from registry.errors import Fault, InputError
from registry.records.dossier import Inclusion
from registry.records.supplement import AnySupplement
from registry.seal.tree import root_from_nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """What the proof of a supplement comes to."""

    entries: tuple[int, ...]
    """Numbers of the entries that stand in the log, each with the leaf that the supplement gives it; ascending."""
    recomputed: tuple[int, ...]
    """Those whose statement the supplement holds: kind, actor, time and every word of it are the ones that were logged. Of the others
    the number and the leaf are proven, and nothing that is told of them."""


def check_inclusion(supplement: AnySupplement, *, document: Json = None) -> Proven:
    """Return what the inclusion of *supplement* proves.

    Every leaf whose statement stands in the supplement is computed from it; with the other leaves, as they are named, and the nodes
    given, the root must come out (RFC 6962 section 2.1).

    Args:
        document: the JSON that *supplement* was read from; payloads are hashed as they stand in it. Without it they are written again.

    Raises:
        InputError: there is no proof (`proof-missing`), an entry does not fit (`entry-not-proven`, one fault each), an entry is told
            twice and differently (`entry-contradicted`), or the root does not come out (`root-differs`).
    """
    inclusion = supplement.inclusion
    if inclusion is None:
        found = "it carries no proof that its entries stand in the log: it was made before supplements did, or the proof was taken out"
        raise InputError(Fault(code="proof-missing", where="inclusion", found=found))
    entries = list_entries(supplement)
    named = list(list_named(supplement, document))
    faults = list(_find_faults(named, inclusion, supplement.log_size))
    if faults:
        raise InputError(faults)
    root = _compute_root({seq - 1: bytes.fromhex(one.leaf) for seq, one in entries.items()}, inclusion)
    if root != inclusion.root:
        found = f"the entries and nodes give the root {root}, the supplement names {inclusion.root}"
        raise InputError(Fault(code="root-differs", where="inclusion", found=found))
    return Proven(entries=tuple(entries), recomputed=tuple(sorted({one.entry.seq for one in named if one.recorded})))


def _find_faults(named: Sequence[Named], inclusion: Inclusion, log_size: int) -> Iterator[Fault]:
    if inclusion.size != log_size:
        yield _fault("inclusion", f"the proof is of {inclusion.size} entries, the supplement of {log_size}")
    yield from _find_unopened({one.entry.seq for one in named if one.recorded}, inclusion)
    openings = {one.entry: one for one in inclusion.openings}
    for one in named:
        where = f"entry {one.entry.seq}"
        if not 1 <= one.entry.seq <= inclusion.size:
            yield _fault(where, f"the log is said to have {inclusion.size} entries")
        elif not _is_digest(one.entry.leaf):
            yield _fault(where, f"its leaf {one.entry.leaf!r} is no SHA-256 in hexadecimal")
        elif one.recorded and one.entry.seq in openings and (misfit := find_misfit(one, openings[one.entry.seq])):
            yield _fault(where, misfit)


def _find_unopened(wanted: set[int], inclusion: Inclusion) -> Iterator[Fault]:
    """There is one opening for each entry whose payload stands in the record, in log order, and no other."""
    given = [one.entry for one in inclusion.openings]
    for seq in sorted(wanted.difference(given)):
        yield _fault(f"entry {seq}", "its salt is missing, so that its leaf cannot be computed from what stands beside it")
    for seq in sorted(set(given) - wanted):
        yield _fault(f"entry {seq}", "it is opened, but no payload stands beside it")
    if given != sorted(set(given)):
        yield _fault("inclusion.openings", "they do not stand in log order, once each")


def _compute_root(leaves: dict[int, bytes], inclusion: Inclusion) -> str:
    try:
        return root_from_nodes(leaves, inclusion.nodes, inclusion.size).hex()
    except ValueError as error:
        raise InputError(_fault("inclusion.nodes", f"they do not lead to a root: {error}")) from error


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _fault(where: str, found: str) -> Fault:
    return Fault(code="entry-not-proven", where=where, found=found)
