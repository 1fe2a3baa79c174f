"""What may be said of keys, other logs, seals, erasures and departures from a lock."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Table, select

from registry.codec.statement_encoding import find_opening_faults
from registry.errors import Fault
from registry.records.analysis_plan import COMPUTED, Deviation, Exploration
from registry.records.log_seal import Equivocation, Erasure, KeyEvent, KeyEventKind, LogImport, Witnessing
from registry.records.specification import Reveal
from registry.store.rows import split_reference
from registry.store.seal_tables import erasure, key_event, log_import, reveal, witnessing
from registry.store.tables import audit, entry, lock
from registry.store.view import View

Trust = KeyEvent | LogImport | Witnessing | Equivocation | Erasure | Reveal | Deviation | Exploration


class TrustRules:
    """The rules, applied inside one transaction."""

    def __init__(self, view: View) -> None:
        self._view = view

    def find_faults(self, said: Trust) -> Iterator[Fault]:
        """Yield everything that keeps *said* from being recorded now."""
        match said:
            case KeyEvent():
                yield from self.key(said)
            case LogImport():
                yield from self.log_import(said)
            case Witnessing():
                yield from self.witnessing(said)
            case Equivocation():
                yield from self.equivocation(said)
            case Erasure():
                yield from self.erasure(said)
            case Reveal():
                yield from self.reveal(said)
            case Deviation():
                yield from self.deviation(said)
            case Exploration():
                yield from self.exploration(said)

    def key(self, said: KeyEvent) -> Iterator[Fault]:
        """A key is added once; only one in force is replaced or revoked, and a new one takes the place of one for the same purpose."""
        events = self._events_of(said.key)
        if said.event is KeyEventKind.REVOKE:
            if not events:
                yield _fault("key-unknown", said.key, "no such key was ever added", "caveat key list shows them")
            elif KeyEventKind.REVOKE in events:
                yield _fault("key-not-in-force", said.key, "it is revoked already", "a revocation is never taken back: add another key")
            return
        if events:
            yield _fault("key-exists", said.key, "it was added before; a key is never added twice", "make a new one")
        if said.replaces is not None:
            yield from self._replaced(said, said.replaces)

    def log_import(self, said: LogImport) -> Iterator[Fault]:
        """A foreign log only grows."""
        if said.origin == self._view.log_origin:
            yield _fault("own-log", said.origin, "it is this registry's own log", "import another registry's bundle")
        table = log_import
        largest = select(table.c.size).where(self._view.visible(table), table.c.origin == said.origin).order_by(table.c.size.desc())
        known = self._view.one_value(largest.limit(1))
        if known is not None and said.size <= known:
            yield _fault("log-not-longer", said.origin, f"{known} of its entries are here already, the bundle has {said.size}")

    def witnessing(self, said: Witnessing) -> Iterator[Fault]:
        """A witness never goes back behind what it cosigned."""
        if said.origin == self._view.log_origin:
            yield _fault("own-log", said.origin, "it is this registry's own log", "a log is no witness of itself")
        table = witnessing
        last = select(table.c.size).where(self._view.visible(table), table.c.origin == said.origin).order_by(table.c.size.desc())
        known = self._view.one_value(last.limit(1))
        if known is not None and said.size < known:
            yield _fault("log-not-longer", said.origin, f"{known} entries were cosigned already, this checkpoint has {said.size}")

    def equivocation(self, said: Equivocation) -> Iterator[Fault]:
        """Evidence needs two different notes."""
        if said.first == said.second:
            yield _fault("no-contradiction", said.origin, "the two notes are the same, word for word")

    def erasure(self, said: Erasure) -> Iterator[Fault]:
        """An entry is erased once, and its leaf must be the one that is named."""
        there = self._view.rows(select(entry.c.leaf).where(self._view.visible(entry), entry.c.seq == said.erased))
        if not there:
            yield _fault("entry-not-found", f"entry {said.erased}", f"the log has {self._view.log_size} entries")
        elif bytes(there[0].leaf).hex() != said.leaf:
            yield _fault("leaf-differs", f"entry {said.erased}", f"its leaf is {bytes(there[0].leaf).hex()}, not {said.leaf}")
        elif seq := self._find(erasure, erasure.c.erased == said.erased):
            yield _fault("erased-already", f"entry {said.erased}", f"entry {seq} says that its text was erased")

    def reveal(self, said: Reveal) -> Iterator[Fault]:
        """A reveal opens the commitment of a sealed version, once."""
        name, version = split_reference(said.opening.spec)
        sealed = self._view.find_spec(name, version)
        where = said.opening.spec
        if sealed is None:
            yield _fault("spec-unknown", where, "is not registered", "run: caveat spec list")
        elif faults := list(find_opening_faults(sealed.payload, said.opening, where=where)):
            yield from faults
        elif seq := self._find(reveal, (reveal.c.spec == name) & (reveal.c.version == version)):
            yield _fault("revealed-already", where, f"entry {seq} reveals it")

    def deviation(self, said: Deviation) -> Iterator[Fault]:
        """Only from a lock can anything deviate."""
        if self._find(lock, lock.c.audit == said.audit) is None:
            yield _fault("not-locked", said.audit, "it has no lock to deviate from", "caveat audit lock FILE fixes a plan")
        if said.item in COMPUTED:
            found = f"{said.item.value}: every outcome under a lock is computed from it, so nothing can depart from it"
            yield _fault("not-a-deviation", said.audit, found, "caveat audit explore looks at scores with other settings")

    def exploration(self, said: Exploration) -> Iterator[Fault]:
        """An exploration belongs to an audit, of the revision that is audited."""
        claim, revision = split_reference(said.claim)
        if self._find(audit, (audit.c.audit == said.audit) & (audit.c.claim == claim) & (audit.c.revision == revision)) is None:
            yield _fault("audit-unknown", said.audit, f"is no audit of {said.claim}", "caveat claim show names its audits")

    def _replaced(self, said: KeyEvent, replaces: str) -> Iterator[Fault]:
        before = self._view.rows(
            select(key_event.c.purpose, key_event.c.algorithm, key_event.c.authority).where(
                self._view.visible(key_event), key_event.c.key == bytes.fromhex(replaces), key_event.c.event != KeyEventKind.REVOKE.value
            )
        )
        if not before:
            yield _fault("key-unknown", replaces, "no such key was ever added", "caveat key list shows them")
        elif before[0].purpose != said.purpose:
            yield _fault("other-purpose", replaces, f"it is for the {before[0].purpose}, the new one for the {said.purpose}")
        elif KeyEventKind.REVOKE in self._events_of(replaces) or self._find(key_event, key_event.c.replaces == bytes.fromhex(replaces)):
            yield _fault(
                "key-not-in-force", replaces, "it is revoked, or another took its place", "caveat key list shows which are in force"
            )

    def _events_of(self, key: str) -> set[str]:
        named = select(key_event.c.event).where(self._view.visible(key_event), key_event.c.key == bytes.fromhex(key))
        return {row.event for row in self._view.rows(named)}

    def _find(self, table: Table, same: ColumnElement[bool]) -> int | None:
        found: int | None = self._view.one_value(select(table.c.seq).where(self._view.visible(table), same).limit(1))
        return found


def _fault(code: str, where: str, found: str, advice: str | None = None) -> Fault:
    return Fault(code=code, where=where, found=found, advice=advice)
