"""Who stands behind an entry: its author, by a signature, or the registry's operator, who can write in any name.

An authority signs what it states with its statement key (Ed25519). Signed are four lines, so that a signature counts for one entry of one
log: `caveat/signature/1`, the log's name, the number of the entry, its leaf. The leaf covers author, time and every word of the statement.

The log names the keys. The first key of an authority enters by a statement that nobody can have signed: the operator asserts it. Each
further one enters by a statement that the key before it signs, or after that was revoked. A key signs entries of its own authority that
stand after the one that adds it, up to the one that replaces or revokes it.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from registry.errors import CaveatError, Fault
from registry.records.dossier import Recorded
from registry.records.log_seal import EntrySignature, KeyEvent, KeyEventKind, KeyPurpose
from registry.records.record import Record
from registry.records.statement import Entry
from registry.seal.keys import SigningKey, fingerprint_of_vkey
from registry.seal.note import VerifierKey, parse_vkey

_PREFIX = "caveat/signature/1"
_ADVICE = "compare it with a bundle or a backup made before, and ask its author"


class Backing(StrEnum):
    """Who stands behind an entry."""

    AUTHOR = "author"
    """Its author signed it, with a key that was in force then and is trusted."""
    OPERATOR = "operator"
    """Nobody signed it: the registry's operator asserts that its author made this statement."""
    WITHDRAWN = "withdrawn"
    """Its author signed it with a key that was revoked later, for what it signed then too: it counts as the operator's assertion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementKey(Record):
    """A statement key with the entries between which it may sign."""

    authority: str
    fingerprint: str
    vkey: str
    added: Recorded[KeyEvent]
    is_vouched: bool
    """Whether the key before it signed the entry that adds it; if not, the operator asserts it."""
    replaced: Recorded[KeyEvent] | None = None
    revoked: Recorded[KeyEvent] | None = None

    @property
    def last(self) -> int | None:
        """Number of the last entry it may sign; None while it is in force."""
        return min((one.entry.seq for one in (self.replaced, self.revoked) if one is not None), default=None)


def write_message(origin: str, seq: int, leaf: str) -> bytes:
    """Return what is signed of entry *seq* of the log *origin*, whose leaf is *leaf* (hexadecimal)."""
    return f"{_PREFIX}\n{origin}\n{seq}\n{leaf}\n".encode()


def sign_entry(key: SigningKey, origin: str, seq: int, leaf: str) -> EntrySignature:
    """Return the signature of *key*, the author's, over an entry."""
    signature = b64encode(key.sign(write_message(origin, seq, leaf))).decode()
    return EntrySignature(entry=seq, key=key.fingerprint, signature=signature)


class StatementKeys:
    """The statement keys of one log, as its key events give them, and what each signature by them is worth."""

    def __init__(self, origin: str, events: Iterable[Recorded[KeyEvent]], signatures: Mapping[int, EntrySignature]) -> None:
        """Read the events.

        Args:
            origin: name of the log.
            events: in log order; those of keys for other purposes are passed over.
            signatures: by entry, at least those of the events.
        """
        self._origin = origin
        self._keys: dict[str, StatementKey] = {}
        self._public: dict[str, Ed25519PublicKey] = {}
        self.faults: list[Fault] = []
        """Events that do not follow from those before them; a key that one of them adds signs nothing."""
        for event in events:
            if event.payload.purpose is KeyPurpose.STATEMENT:
                self._take(event, signatures.get(event.entry.seq))

    @property
    def keys(self) -> tuple[StatementKey, ...]:
        """All of them, in the order they were added."""
        return tuple(self._keys.values())

    def find_in_force(self, authority: str) -> StatementKey | None:
        """Return the key that *authority* signs with after the last event; None where it has none."""
        return next((one for one in self._keys.values() if one.authority == authority and one.last is None), None)

    def find_backing(self, entry: Entry, signature: EntrySignature | None) -> Backing:
        """Return who stands behind *entry*, whose signature, if any, `find_fault` finds in order."""
        if signature is None:
            return Backing.OPERATOR
        revoked = self._keys[signature.key].revoked
        if revoked is None or revoked.entry.seq == entry.seq:
            return Backing.AUTHOR
        since = revoked.payload.untrusted_from
        return Backing.WITHDRAWN if since is None or entry.at >= since else Backing.AUTHOR

    def find_fault(self, entry: Entry, signature: EntrySignature) -> Fault | None:
        """Return what is wrong with *signature* over *entry*; None where it is its author's, made with a key in force there."""
        key = self._keys.get(signature.key)
        name = f"key {signature.key[:16]}"
        if key is None:
            return _fault("signature-key-unknown", entry, f"it is signed with {name}, which the log adds for no authority")
        if key.authority != entry.actor:
            return _fault("signature-other-author", entry, f"it is said by {entry.actor} and signed with {name} of {key.authority}")
        if entry.seq <= key.added.entry.seq:
            found = f"it is signed with {name}, which entry {key.added.entry.seq} adds only later"
            return _fault("signature-key-not-in-force", entry, found)
        if key.last is not None and entry.seq > key.last:
            found = f"it is signed with {name}, which entry {key.last} replaced or revoked before"
            return _fault("signature-key-not-in-force", entry, found)
        if not self._is_valid(key, entry, signature):
            found = f"the signature of {entry.actor} is not over this entry: the entry or the signature was changed"
            return _fault("signature-wrong", entry, found)
        return None

    def _is_valid(self, key: StatementKey, entry: Entry, signature: EntrySignature) -> bool:
        try:
            value = b64decode(signature.signature, validate=True)
            self._public[key.fingerprint].verify(value, write_message(self._origin, entry.seq, entry.leaf))
        except (InvalidSignature, ValueError):
            return False
        return b64encode(value).decode() == signature.signature

    def _take(self, event: Recorded[KeyEvent], signature: EntrySignature | None) -> None:
        """Take the next event; what does not follow goes to `faults` and changes nothing."""
        said, entry = event.payload, event.entry
        if said.event is KeyEventKind.REVOKE:
            self._revoke(event)
            return
        vkey = _parse_own(said, entry)
        if vkey is None:
            self._refuse(entry, "the key that it shows is not the one that it names, or bears another name than its authority's")
            return
        if said.key in self._keys:
            self._refuse(entry, f"it adds key {said.key[:16]}, which was added before")
            return
        current = self.find_in_force(entry.actor)
        if said.event is KeyEventKind.ROTATE:
            before = self._keys.get(said.replaces or "")
            if before is None or before != current:
                self._refuse(entry, f"it replaces key {(said.replaces or '')[:16]}, which {entry.actor} does not have in force")
                return
            if signature is None or signature.key != before.fingerprint or self.find_fault(entry, signature) is not None:
                self._refuse(entry, f"it replaces key {before.fingerprint[:16]}, which did not sign that")
                return
            self._keys[before.fingerprint] = replace(before, replaced=event)
        elif current is not None:
            self._refuse(entry, f"it adds a key beside {current.fingerprint[:16]}, which {entry.actor} has in force and did not replace")
            return
        self._public[said.key] = Ed25519PublicKey.from_public_bytes(vkey.public)
        is_vouched = said.event is KeyEventKind.ROTATE
        self._keys[said.key] = StatementKey(authority=entry.actor, fingerprint=said.key, vkey=str(vkey), added=event, is_vouched=is_vouched)

    def _revoke(self, event: Recorded[KeyEvent]) -> None:
        key = self._keys.get(event.payload.key)
        if key is None or key.authority != event.entry.actor or key.revoked is not None:
            self._refuse(event.entry, f"it revokes key {event.payload.key[:16]}, which is none of {event.entry.actor}, or revoked before")
            return
        self._keys[key.fingerprint] = replace(key, revoked=event)

    def _refuse(self, entry: Entry, found: str) -> None:
        self.faults.append(_fault("key-not-vouched", entry, found))


def _parse_own(said: KeyEvent, entry: Entry) -> VerifierKey | None:
    """Return the key that an event shows; None where it is not the authority's own, or not the one that it names."""
    try:
        key = parse_vkey(said.public or "", where=f"entry {entry.seq}")
        is_own = key.name == entry.actor and not key.is_cosigner and fingerprint_of_vkey(str(key)) == said.key
    except (CaveatError, ValueError):
        return None
    return key if is_own else None


def _fault(code: str, entry: Entry, found: str) -> Fault:
    return Fault(code=code, where=f"entry {entry.seq}", found=found, advice=_ADVICE)
