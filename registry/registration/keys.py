"""Keys as the log knows them: which are in force, what each may have signed, and new ones.

A key is trusted because the log says so, and the log because its checkpoints are signed by a key known before; a file with a secret key is
nothing by itself. A replaced key signs no more than the checkpoint that ends with its replacement; a revoked one nothing at all, or nothing
from a time on.
"""

from base64 import b64decode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from registry.config import EXAMPLE
from registry.errors import ConflictError, Fault, InputError, NotFoundError, UnavailableError
from registry.records.dossier import Recorded
from registry.records.record import Record
from registry.records.seal import KeyAlgorithm, KeyEvent, KeyEventKind, KeyPurpose
from registry.records.statement import Entry
from registry.registration.checkpoints import seal_log
from registry.seal.certificate import fingerprint_of_certificate
from registry.seal.keys import KeyRing, SigningKey, fingerprint_of_vkey
from registry.seal.note import VerifierKey, parse_vkey
from registry.store.key_events import list_key_events
from registry.store.reader import Reader
from registry.store.writer import Writer

_SHORTEST_PREFIX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState(Record):
    """One key, with all that the log says of it."""

    added: Recorded[KeyEvent]
    """The entry that added it, by itself or in the place of another."""
    replaced: Recorded[KeyEvent] | None = None
    """The entry that put another in its place; None while there is none."""
    revoked: Recorded[KeyEvent] | None = None
    """The entry that revoked it; None while there is none."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its public key, hexadecimal."""
        return self.added.payload.key

    @property
    def signs_for(self) -> str | None:
        """Whose statements it signs; None for keys of logs and documents."""
        return self.added.entry.actor if self.added.payload.purpose is KeyPurpose.STATEMENT else None

    @property
    def in_force(self) -> bool:
        """Whether it may sign now."""
        return self.replaced is None and self.revoked is None

    @property
    def is_trusted(self) -> bool:
        """Whether anything it signed is good; what exactly, `find_distrust` says."""
        return self.revoked is None or self.revoked.payload.untrusted_from is not None

    def find_distrust(self, *, size: int | None = None, at: datetime | None = None) -> Fault | None:
        """Return why its signature is not good; None where nothing speaks against it.

        Args:
            size: of the checkpoint it signed; None for documents.
            at: when it was signed at the earliest, such as the time of the checkpoint's last entry; None where that is not known: then a
                revocation counts whatever time it names.
        """
        where = f"key {self.fingerprint[:16]}"
        if self.revoked is not None:
            since = self.revoked.payload.untrusted_from
            if since is None or at is None or at >= since:
                until = "nothing it signed is trusted" if since is None else f"what it signed from {since.isoformat()} on is not trusted"
                found = f"entry {self.revoked.entry.seq} revokes it ({self.revoked.payload.reason}): {until}"
                return Fault(code="key-revoked", where=where, found=found, advice="ask for a signature by a key in force")
        if self.replaced is not None and self._is_after(self.replaced.entry, size, at):
            found = f"entry {self.replaced.entry.seq} put another in its place before it signed this"
            return Fault(code="key-replaced", where=where, found=found, advice="ask for a signature by a key in force")
        return None

    def _is_after(self, replaced: Entry, size: int | None, at: datetime | None) -> bool:
        return size > replaced.seq if size is not None else at is not None and at > replaced.at


def list_keys(reader: Reader) -> tuple[KeyState, ...]:
    """Return every key that the log names, in the order they were added.

    Raises:
        ConflictError: `key-differs`, an entry shows another key than it names; `log-key-differs`, the log is said to be verified by a key
            that no entry adds first. Both are signs that the database was changed by hand.
    """
    states = build_states(list_key_events(reader))
    _refuse_other_vkey(reader, states)
    return states


def build_states(events: Iterable[Recorded[KeyEvent]]) -> tuple[KeyState, ...]:
    """Return what became of each key that *events*, in log order, name; raises ConflictError `key-differs`, all of them at once."""
    said = list(events)
    added = [one for one in said if one.payload.event is not KeyEventKind.REVOKE]
    faults = [fault for one in added if (fault := _find_difference(one))]
    if faults:
        raise ConflictError(faults)
    replaced = {one.payload.replaces: one for one in reversed(said) if one.payload.replaces is not None}
    revoked = {one.payload.key: one for one in reversed(said) if one.payload.event is KeyEventKind.REVOKE}
    return tuple(KeyState(added=one, replaced=replaced.get(one.payload.key), revoked=revoked.get(one.payload.key)) for one in added)


def trusted_vkeys(reader: Reader) -> tuple[VerifierKey, ...]:
    """Return the log keys of which anything signed is good, replaced ones too; ask `KeyState.find_distrust` about each signature.

    Raises:
        ConflictError: as `list_keys`.
    """
    return tuple(
        parse_vkey(one.added.payload.vkey, where=f"entry {one.added.entry.seq}")
        for one in list_keys(reader)
        if one.is_trusted and one.added.payload.vkey is not None
    )


def trusted_certificates(reader: Reader) -> tuple[bytes, ...]:
    """Return the certificates (DER) of document keys of which anything signed is good, replaced ones too; as `trusted_vkeys`."""
    return tuple(
        b64decode(one.added.payload.certificate)
        for one in list_keys(reader)
        if one.is_trusted and one.added.payload.certificate is not None
    )


def find_key(reader: Reader, fingerprint: str) -> KeyState | None:
    """Return the key with this whole fingerprint; None where the log does not name it."""
    return next((one for one in list_keys(reader) if one.fingerprint == fingerprint), None)


def get_key(reader: Reader, text: str) -> KeyState:
    """Return the key whose fingerprint begins with *text*: at least eight hexadecimal digits, spaces and capitals as people write them.

    Raises:
        InputError: `not-valid`, too few digits, or several keys begin so.
        NotFoundError: `key-unknown`, none does.
    """
    digits = "".join(text.split()).lower()
    if len(digits) < _SHORTEST_PREFIX or not set(digits) <= set("0123456789abcdef"):
        found = f"{text!r} is not the beginning of a fingerprint"
        advice = f"give at least {_SHORTEST_PREFIX} of its hexadecimal digits"
        raise InputError(Fault(code="not-valid", where="FINGERPRINT", found=found, advice=advice))
    found_states = [one for one in list_keys(reader) if one.fingerprint.startswith(digits)]
    if not found_states:
        raise NotFoundError(Fault(code="key-unknown", where=text, found="the log names no such key", advice="run: caveat key list"))
    if len(found_states) > 1:
        raise InputError(Fault(code="not-valid", where=text, found=f"{len(found_states)} keys begin so", advice="give more digits"))
    return found_states[0]


def get_log_keys(reader: Reader, ring: KeyRing) -> tuple[SigningKey, ...]:
    """Return the keys of *ring* that sign this log's checkpoints, the Ed25519 one first.

    Raises:
        UnavailableError: `no-log-key`: there is no secret log key here.
        ConflictError: one of them is not the log's: `key-not-registered`, `other-log`, `key-revoked` or `key-replaced`.
    """
    if not ring.log:
        raise _no_key("no-log-key", "a log key, which signs checkpoints", reader)
    _refuse_unusable(reader, ring.log)
    return ring.log


def get_document_key(reader: Reader, ring: KeyRing) -> SigningKey:
    """Return the key of *ring* that signs documents.

    Raises:
        UnavailableError: `no-document-key`: there is no secret document key here.
        ConflictError: `key-not-registered`, `key-revoked` or `key-replaced`.
    """
    if ring.document is None:
        raise _no_key("no-document-key", "a document key, which signs PDF files", reader)
    _refuse_unusable(reader, [ring.document])
    return ring.document


def format_origin(code: str, salt: str) -> str:
    """Return the name of the log of the authority *code*: `caveat.log/CODE/` and the first 16 digits of *salt*, hexadecimal."""
    return f"caveat.log/{code}/{salt[:16]}"


def find_owner(reader: Reader) -> str:
    """Return the code of the authority whose log it is, as the log's name says; the log's name where that names none."""
    parts = reader.log_origin.split("/")
    return parts[1] if len(parts) == len(("caveat.log", "CODE", "salt")) else reader.log_origin or "another authority"


def refuse_publishing(reader: Reader, actor: str) -> None:
    """Refuse files of a real authority in a log of EXAMPLE: they would be signed with keys that stand for nobody.

    Raises:
        ConflictError: `example-log`.
    """
    if find_owner(reader) != EXAMPLE or actor == EXAMPLE:
        return
    found = f"{actor} cannot publish here: {reader.log_origin} is a log for trials, and its keys are those of {EXAMPLE}"
    advice = f"make a registry of your own in another folder: caveat init --code {actor}"
    raise ConflictError(Fault(code="example-log", where="--publish", found=found, advice=advice))


def add_key(writer: Writer, key: SigningKey) -> Entry:
    """Record that *key* signs from now on, beside those that are in force.

    Raises:
        ConflictError: `key-in-force`, one for the same is; `key-exists`; `other-log`, a log key with another log's name.
    """
    _refuse_other_log(writer, key)
    refuse_key_in_force(writer, key.algorithm, authority=key.name if key.signs_statements else None)
    entry = writer.append(_describe(key, KeyEventKind.ADD))
    _refuse_other_author(entry, key)
    list_keys(writer)  # also the first key must be the one that the log's row names
    return entry


def refuse_key_in_force(reader: Reader, algorithm: KeyAlgorithm, *, authority: str | None = None) -> None:
    """Refuse where a key of *algorithm* for logs or documents is in force; with *authority*, where a statement key of theirs is.

    Raises:
        ConflictError: `key-in-force`.
    """
    same = [
        one
        for one in build_states(list_key_events(reader))
        if one.in_force and one.added.payload.algorithm is algorithm and one.signs_for == authority
    ]
    if same and authority is not None:
        found = f"{same[0].fingerprint[:16]} is in force for it, by entry {same[0].added.entry.seq}"
        advice = "caveat key rotate --statements puts another in its place"
        raise ConflictError(Fault(code="key-in-force", where=f"statement key of {authority}", found=found, advice=advice))
    if same:
        found = f"{same[0].fingerprint[:16]} is in force for it, by entry {same[0].added.entry.seq}"
        advice = f"caveat key rotate --algorithm {algorithm.value} puts another in its place"
        raise ConflictError(Fault(code="key-in-force", where=f"{algorithm.value} key", found=found, advice=advice))


def rotate_key(writer: Writer, old: SigningKey, new: SigningKey, *, reason: str, beside: Sequence[SigningKey] = ()) -> Entry:
    """Record that *new* takes the place of *old*; for a log key, both sign the checkpoint that ends with that entry.

    So whoever trusts the old key can follow to the new one.

    Args:
        writer: of the log whose key *old* is.
        old: in force until now.
        new: of the same algorithm.
        reason: for the log.
        beside: the other log keys in force, which sign that checkpoint too, as they sign every one.

    Raises:
        ConflictError: *old* is not in force; `other-log`; `other-authority`.
    """
    _refuse_unusable(writer, [old, *beside])
    _refuse_other_log(writer, new)
    entry = writer.append(_describe(new, KeyEventKind.ROTATE, replaces=old.fingerprint, reason=reason))
    _refuse_other_author(entry, new)
    _refuse_other_owner(entry, find_key(writer, old.fingerprint))
    if new.purpose is KeyPurpose.LOG:
        seal_log(writer, sorted([old, new, *beside], key=lambda one: one.algorithm is not KeyAlgorithm.ED25519), size=entry.seq)
    return entry


def revoke_key(writer: Writer, state: KeyState, *, reason: str, untrusted_from: datetime | None = None) -> Entry:
    """Record that the key is not to be trusted any more: with nothing it signed, or with nothing from *untrusted_from* on.

    Raises:
        ConflictError: `key-not-in-force`: it is revoked already; `other-authority`: it is another authority's.
    """
    said = state.added.payload
    entry = writer.append(
        KeyEvent(
            event=KeyEventKind.REVOKE,
            key=state.fingerprint,
            algorithm=said.algorithm,
            purpose=said.purpose,
            reason=reason,
            untrusted_from=untrusted_from,
        )
    )
    _refuse_other_owner(entry, state)
    return entry


def _describe(key: SigningKey, event: KeyEventKind, *, replaces: str | None = None, reason: str | None = None) -> KeyEvent:
    return KeyEvent(
        event=event,
        key=key.fingerprint,
        algorithm=key.algorithm,
        purpose=key.purpose,
        vkey=None if key.signs_statements else key.vkey,
        certificate=key.certificate,
        public=key.vkey if key.signs_statements else None,
        replaces=replaces,
        reason=reason,
    )


def _find_difference(said: Recorded[KeyEvent]) -> Fault | None:
    """The store knows nothing of cryptography, so whether an entry shows the key that it names is asked here."""
    where = f"entry {said.entry.seq}"
    try:
        if (vkey := said.payload.vkey or said.payload.public) is not None:
            shown = fingerprint_of_vkey(vkey)
        else:
            shown = fingerprint_of_certificate(b64decode(said.payload.certificate or "", validate=True))
    except (InputError, ValueError) as error:
        found = f"what it shows is no key: {error.faults[0].found if isinstance(error, InputError) else error}"
        return Fault(code="key-differs", where=where, found=found, advice="trust no key of this log before that is explained")
    if shown == said.payload.key:
        return None
    found = f"it names the key {said.payload.key[:16]} and shows {shown[:16]}"
    return Fault(code="key-differs", where=where, found=found, advice="trust no key of this log before that is explained")


def _refuse_other_vkey(reader: Reader, states: Sequence[KeyState]) -> None:
    first = next((one for one in states if one.added.payload.purpose is KeyPurpose.LOG), None)
    if reader.log_vkey is not None and (first is None or first.added.payload.vkey != reader.log_vkey):
        there = "no entry adds a log key" if first is None else f"entry {first.added.entry.seq} adds {first.fingerprint[:16]} first"
        found = f"its row names a verifier key with the hash {reader.log_vkey.partition('+')[2][:8]}, and {there}"
        advice = "compare it with a backup, and with a key that you were given some other way"
        raise ConflictError(Fault(code="log-key-differs", where=f"log {reader.log_origin}", found=found, advice=advice))


def _refuse_unusable(reader: Reader, keys: Sequence[SigningKey]) -> None:
    states = {one.fingerprint: one for one in list_keys(reader)}
    faults = []
    for key in keys:
        state = states.get(key.fingerprint)
        if state is None:
            found, advice = "a secret key is here that the log does not name", "use the folder of this registry's keys: CAVEAT_KEYS"
            faults.append(Fault(code="key-not-registered", where=f"key {key.fingerprint[:16]}", found=found, advice=advice))
        elif not state.in_force:
            faults.append(_not_in_force(state))
    if faults:
        raise ConflictError(faults)
    for key in keys:
        _refuse_other_log(reader, key)


def _not_in_force(state: KeyState) -> Fault:
    where, advice = f"key {state.fingerprint[:16]}", "use the key in force: caveat key list names it"
    if state.revoked is not None:
        return Fault(code="key-revoked", where=where, found=f"entry {state.revoked.entry.seq} revokes it", advice=advice)
    seq = state.replaced.entry.seq if state.replaced else 0
    return Fault(code="key-replaced", where=where, found=f"entry {seq} put another in its place", advice=advice)


def _refuse_other_owner(entry: Entry, state: KeyState | None) -> None:
    """Raised inside the transaction, so that nothing of it stays: an authority speaks of its own keys."""
    if state is not None and entry.actor != state.added.entry.actor:
        owner = state.added.entry.actor
        found, advice = f"it is a key of {owner}, and you speak as {entry.actor}", f"speak as {owner}: CAVEAT_AUTHORITY={owner}"
        raise ConflictError(Fault(code="other-authority", where=f"key {state.fingerprint[:16]}", found=found, advice=advice))


def _refuse_other_author(entry: Entry, key: SigningKey) -> None:
    """Raised inside the transaction, as above: a statement key bears the code of who records it."""
    if key.signs_statements and key.name != entry.actor:
        found, advice = f"it is a key of {key.name}, and you speak as {entry.actor}", f"speak as {key.name}: CAVEAT_AUTHORITY={key.name}"
        raise ConflictError(Fault(code="other-authority", where=f"key {key.fingerprint[:16]}", found=found, advice=advice))


def _refuse_other_log(reader: Reader, key: SigningKey) -> None:
    if key.purpose is KeyPurpose.LOG and key.name != reader.log_origin:
        found, advice = f"this log is {reader.log_origin}", "use the folder of this registry's keys: CAVEAT_KEYS"
        raise ConflictError(Fault(code="other-log", where=f"key of {key.name}", found=found, advice=advice))


def _no_key(code: str, what: str, reader: Reader) -> UnavailableError:
    found = f"there is no secret key here that could be used; needed is {what}, of {reader.log_origin or 'this log'}"
    advice = "name the folder of its keys (CAVEAT_KEYS, or keys below [seal] in registry.cfg), or make one: caveat key add"
    return UnavailableError(Fault(code=code, where="keys", found=found, advice=advice))
