"""What a claim that was adopted from another registry's log must agree with: the entry of that log, as it is kept here."""

from collections.abc import Iterator

from sqlalchemy import func, select

from registry.errors import CaveatError, Fault
from registry.records.claim import ClaimRevision, Origin
from registry.store.family_tables import claim_origin
from registry.store.reader import Reader
from registry.store.seal_tables import log_import
from registry.store.tables import entry, log

_SAME = ("quote", "form", "relation", "theta", "model", "reported", "direction")
"""What an adopted claim has in common with its original; property and scoring are copies under an identifier of their own."""


def find_origin_faults(reader: Reader, claim: ClaimRevision) -> Iterator[Fault]:
    """Yield what keeps *claim* from standing for its original: not taken over, another entry hash, other words."""
    origin = claim.origin
    if origin is None:
        return
    where = f"{origin.claim} in the log {origin.log}"
    taken = reader.one_value(select(func.max(log_import.c.size)).where(reader.visible(log_import), log_import.c.origin == origin.log))
    row = select(entry.c.leaf, log.c.id).join(log, log.c.id == entry.c.log).where(log.c.origin == origin.log, entry.c.seq == origin.seq)
    found = reader.rows(row)
    if not found or taken is None or origin.seq > taken:
        missing, advice = f"entry {origin.seq} of that log is not kept here", "take it over first: caveat import FILE"
        yield Fault(code="origin-unknown", where=where, found=missing, advice=advice)
        return
    if bytes(found[0].leaf).hex() != origin.leaf:
        kept = f"the entry kept here has the hash {bytes(found[0].leaf).hex()}, expected {origin.leaf}"
        yield Fault(code="origin-altered", where=where, found=kept, advice="caveat log check; restore the registry from a backup")
        return
    try:
        kept_reader = reader.ask(lambda connection: Reader(connection, limit=taken, log_id=found[0].id))
        original = kept_reader.recorded((origin.seq,))[0].payload
    except CaveatError as error:
        yield from error.faults
        return
    if not isinstance(original, ClaimRevision) or original.reference != origin.claim:
        yield Fault(code="origin-altered", where=where, found=f"entry {origin.seq} does not record this claim revision")
        return
    differing = [name for name in _SAME if getattr(original, name) != getattr(claim, name)]
    if differing:
        yield Fault(
            code="origin-differs", where=where, found=f"an adopted claim says what its original says; differs in {', '.join(differing)}"
        )


def find_adopted(reader: Reader, origin: Origin) -> list[tuple[int, bool]]:
    """Return the entries of claims adopted from the same claim as *origin*, in log order, and whether of the same revision."""
    name, _, revision = origin.claim.partition("@")
    table = claim_origin
    wanted = select(table.c.seq, table.c.revision).where(reader.visible(table), table.c.origin == origin.log, table.c.claim == name)
    return [(seq, number == int(revision)) for seq, number in reader.rows(wanted.order_by(table.c.seq))]
