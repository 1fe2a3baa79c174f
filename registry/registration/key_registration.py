"""Keys as the log knows them: making and replacing them, checkpoints signed with them, and cosignatures."""

from base64 import b64decode
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from registry.configuration import EXAMPLE
from registry.errors import ConflictError, Fault, InputError, NotFoundError, UnavailableError
from registry.records.dossier import Recorded
from registry.records.log_seal import Checkpoint, KeyAlgorithm, KeyEvent, KeyEventKind, KeyPurpose
from registry.records.record import Authority, Record
from registry.records.statement import Entry
from registry.seal.key_files import Slot, list_key_files, place_key, retire_key, slot_of, write_key
from registry.seal.signed_notes import SignatureLine, SignedNote, VerifierKey, parse_note, parse_vkey, sign_checkpoint, verify_note
from registry.seal.signing_keys import KeyRing, SigningKey, fingerprint_of_certificate, fingerprint_of_vkey, make_key, make_statement_key
from registry.store.log_reader import LogReader, list_key_events
from registry.store.log_seals import (
    StoredCheckpoint,
    add_checkpoint,
    add_cosignature,
    find_checkpoint,
    find_root,
    list_imports,
    list_witnessings,
    refuse_other_history,
)
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Checkpoints of the own log: signed once for each size, and kept.


def seal_log(writer: Writer, keys: Sequence[SigningKey], *, size: int | None = None) -> StoredCheckpoint:
    """Return the signed checkpoint of the first *size* entries (all there are): the one that is kept, or a new one, made with *keys*.

    Which keys may sign, `registry.registration.key_registration.get_log_keys` says.

    Raises:
        AlteredError: `history-differs`: the log was cut off or altered since an earlier checkpoint.
        ConflictError: `entry-not-found`: there are fewer entries.
        InputError: `empty-registry`.
    """
    # Signing an altered or shortened log would create a second history under the log's own key.
    refuse_other_history(writer)
    wanted = writer.log_size if size is None else size
    kept = find_checkpoint(writer, wanted)
    # One note for each size: `add_checkpoint` refuses another one.
    if kept is not None:
        return kept
    checkpoint = Checkpoint(origin=writer.log_origin, size=wanted, root=find_root(writer, wanted))
    note = sign_checkpoint(checkpoint, keys)
    add_checkpoint(writer, note, checkpoint)
    return StoredCheckpoint(checkpoint=checkpoint, note=note, at=writer.moment)


# Keys as the log knows them: which are in force, what each may have signed, and new ones.
#
# A key is trusted because the log names it, and the log because its checkpoints are signed by a key
# known before. A file with a secret key proves nothing by itself. A replaced key signs nothing
# after the checkpoint that ends with its replacement. A revoked one signs nothing at all, or
# nothing from a given time on.

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
        """The authority that it signs statements of; None for keys of logs and documents."""
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
            # Without a known time of signing the revocation counts: a thief could claim any earlier
            # time.
            if since is None or at is None or at >= since:
                until = "nothing it signed is trusted" if since is None else f"what it signed from {since.isoformat()} on is not trusted"
                problem = f"entry {self.revoked.entry.seq} revokes it ({self.revoked.payload.reason}): {until}"
                return Fault("key-not-in-force", where, problem, advice="ask for a signature by a key in force")
        # A replacement is no distrust: what the key signed before it stays valid.
        if self.replaced is not None and self._is_after(self.replaced.entry, size, at):
            problem = f"entry {self.replaced.entry.seq} put another in its place before it signed this"
            return Fault("key-not-in-force", where, problem, advice="ask for a signature by a key in force")
        return None

    def _is_after(self, replaced: Entry, size: int | None, at: datetime | None) -> bool:
        return size > replaced.seq if size is not None else at is not None and at > replaced.at


def list_keys(reader: LogReader) -> tuple[KeyState, ...]:
    """Return every key that the log names, in the order they were added.

    Raises:
        ConflictError: `key-differs`, an entry shows another key than it names; `log-key-differs`, the log is said to be verified by a key
            that no entry adds first. Both are signs that the database was changed by hand.
    """
    # Read from all key events each time. A stored list could be altered without any signature
    # failing.
    states = build_states(list_key_events(reader))
    _refuse_other_vkey(reader, states)
    return states


def build_states(events: Iterable[Recorded[KeyEvent]]) -> tuple[KeyState, ...]:
    """Return the status of each key that *events*, in log order, name; raises ConflictError `key-differs`, all of them at once."""
    key_events = list(events)
    added = [event for event in key_events if event.payload.event is not KeyEventKind.REVOKE]
    faults = [fault for event in added if (fault := _find_difference(event))]
    if faults:
        raise ConflictError(faults)
    # Reversed, so that the first event of each key wins; a later repetition changes nothing.
    replaced = {event.payload.replaces: event for event in reversed(key_events) if event.payload.replaces is not None}
    revoked = {event.payload.key: event for event in reversed(key_events) if event.payload.event is KeyEventKind.REVOKE}
    return tuple(KeyState(added=event, replaced=replaced.get(event.payload.key), revoked=revoked.get(event.payload.key)) for event in added)


def trusted_vkeys(reader: LogReader) -> tuple[VerifierKey, ...]:
    """Return the log keys of which anything signed is good, replaced ones too; ask `KeyState.find_distrust` about each signature.

    Raises:
        ConflictError: as `list_keys`.
    """
    return tuple(
        parse_vkey(key.added.payload.vkey, where=f"entry {key.added.entry.seq}")
        for key in list_keys(reader)
        if key.is_trusted and key.added.payload.vkey is not None
    )


def find_key(reader: LogReader, fingerprint: str) -> KeyState | None:
    """Return the key with this whole fingerprint; None where the log does not name it."""
    return next((key for key in list_keys(reader) if key.fingerprint == fingerprint), None)


def get_key(reader: LogReader, text: str) -> KeyState:
    """Return the key with a fingerprint that begins with *text*: eight or more hexadecimal digits, spaces and capitals as they come.

    Raises:
        InputError: `not-valid`, too few digits, or several keys begin so.
        NotFoundError: `key-unknown`, none does.
    """
    # Eight digits avoid most accidental matches; a match with several keys is refused.
    digits = "".join(text.split()).lower()
    if len(digits) < _SHORTEST_PREFIX or not set(digits) <= set("0123456789abcdef"):
        problem = f"{text!r} is not the beginning of a fingerprint"
        raise InputError(Fault("not-valid", "FINGERPRINT", problem, advice=f"give at least {_SHORTEST_PREFIX} of its hexadecimal digits"))
    found_states = [key for key in list_keys(reader) if key.fingerprint.startswith(digits)]
    if not found_states:
        raise NotFoundError(Fault("key-unknown", text, "the log names no such key"))
    if len(found_states) > 1:
        raise InputError(Fault("not-valid", text, f"{len(found_states)} keys begin so", advice="give more digits"))
    return found_states[0]


def get_log_keys(reader: LogReader, ring: KeyRing) -> tuple[SigningKey, ...]:
    """Return the keys of *ring* that sign this log's checkpoints, the Ed25519 one first.

    Raises:
        UnavailableError: `no-signing-key`: there is no secret log key here.
        ConflictError: one of them is not the log's: `key-not-registered`, `wrong-log`, `key-not-in-force`.
    """
    if not ring.log:
        raise _no_key("no-signing-key", "a log key, which signs checkpoints", reader)
    _refuse_unusable(reader, ring.log)
    return ring.log


def get_document_key(reader: LogReader, ring: KeyRing) -> SigningKey:
    """Return the key of *ring* that signs documents.

    Raises:
        UnavailableError: `no-signing-key`: there is no secret document key here.
        ConflictError: `key-not-registered`, `key-not-in-force`.
    """
    if ring.document is None:
        raise _no_key("no-signing-key", "a document key, which signs PDF files", reader)
    _refuse_unusable(reader, [ring.document])
    return ring.document


def format_origin(code: str, salt: str) -> str:
    """Return the name of the log of the authority *code*: `caveat.log/CODE/` and the first 16 digits of *salt*, hexadecimal."""
    return f"caveat.log/{code}/{salt[:16]}"


def find_owner(reader: LogReader) -> str:
    """Return the code of the owner of the log, as the log's name says; the log's name where that names none."""
    parts = reader.log_origin.split("/")
    return parts[1] if len(parts) == len(("caveat.log", "CODE", "salt")) else reader.log_origin or "another authority"


def refuse_publishing(reader: LogReader, actor: str) -> None:
    """Refuse files of a real authority in a log of EXAMPLE: they would be signed with keys of no real authority.

    Raises:
        ConflictError: `example-log`.
    """
    if find_owner(reader) != EXAMPLE or actor == EXAMPLE:
        return
    problem = f"{actor} cannot publish here: {reader.log_origin} is a log for trials, and its keys are those of {EXAMPLE}"
    advice = f"make a registry of your own in another folder: caveat init --code {actor}"
    raise ConflictError(Fault("example-log", "--publish", problem, advice=advice))


def add_key(writer: Writer, key: SigningKey) -> Entry:
    """Record that *key* signs from now on, next to those that are in force.

    Raises:
        ConflictError: `key-in-force`, one for the same is; `already-recorded`; `wrong-log`, a log key with another log's name.
    """
    _refuse_other_log(writer, key)
    refuse_key_in_force(writer, key.algorithm, authority=key.name if key.signs_statements else None)
    # Checks that need the entry run after it, inside the transaction, so a failure removes it
    # again.
    entry = writer.append(_describe(key, KeyEventKind.ADD))
    _refuse_other_author(entry, key)
    list_keys(writer)  # also the first key must be the one that the log's row names
    return entry


def refuse_key_in_force(reader: LogReader, algorithm: KeyAlgorithm, *, authority: str | None = None) -> None:
    """Refuse where a key of *algorithm* for logs or documents is in force; with *authority*, where a statement key of theirs is.

    Raises:
        ConflictError: `key-in-force`.
    """
    # Two keys of one algorithm would leave open which one a reader should expect.
    same = [
        state
        for state in build_states(list_key_events(reader))
        if state.in_force and state.added.payload.algorithm is algorithm and state.signs_for == authority
    ]
    if same and authority is not None:
        problem = f"{same[0].fingerprint[:16]} is in force for it, by entry {same[0].added.entry.seq}"
        advice = "caveat admin key rotate --statements puts another in its place"
        raise ConflictError(Fault("key-in-force", f"statement key of {authority}", problem, advice=advice))
    if same:
        problem = f"{same[0].fingerprint[:16]} is in force for it, by entry {same[0].added.entry.seq}"
        advice = f"caveat admin key rotate --algorithm {algorithm.value} puts another in its place"
        raise ConflictError(Fault("key-in-force", f"{algorithm.value} key", problem, advice=advice))


def rotate_key(writer: Writer, old: SigningKey, new: SigningKey, *, reason: str, beside: Sequence[SigningKey] = ()) -> Entry:
    """Record that *new* takes the place of *old*; for a log key, both sign the checkpoint that ends with that entry.

    So whoever trusts the old key can follow to the new one.

    Args:
        writer: of the log that *old* is a key of.
        old: in force until now.
        new: of the same algorithm.
        reason: for the log.
        beside: the other log keys in force, which sign that checkpoint too, as they sign every one.

    Raises:
        ConflictError: *old* is not in force; `wrong-log`; `not-permitted`.
    """
    _refuse_unusable(writer, [old, *beside])
    _refuse_other_log(writer, new)
    entry = writer.append(_describe(new, KeyEventKind.ROTATE, replaces=old.fingerprint, reason=reason))
    _refuse_other_author(entry, new)
    _refuse_other_owner(entry, find_key(writer, old.fingerprint))
    # Decision of 2026-11-22: the entry of a new key is covered by a checkpoint that the old, the
    # new and all other log keys sign. Whoever trusts the old key can then follow. The cost: a lost
    # key can only be revoked, and the new one must be communicated in person.
    if new.purpose is KeyPurpose.LOG:
        seal_log(writer, sorted([old, new, *beside], key=lambda key: key.algorithm is not KeyAlgorithm.ED25519), size=entry.seq)
    return entry


def revoke_key(writer: Writer, state: KeyState, *, reason: str, untrusted_from: datetime | None = None) -> Entry:
    """Record that the key is not to be trusted any more: with nothing it signed, or with nothing from *untrusted_from* on.

    Raises:
        ConflictError: `key-not-in-force`: it is revoked already; `not-permitted`: it is another authority's.
    """
    # A revocation repeats algorithm and purpose but shows no key, since nothing is to be verified
    # with it any more.
    payload = state.added.payload
    entry = writer.append(
        KeyEvent(
            event=KeyEventKind.REVOKE,
            key=state.fingerprint,
            algorithm=payload.algorithm,
            purpose=payload.purpose,
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


def _find_difference(key_event: Recorded[KeyEvent]) -> Fault | None:
    """The store knows nothing of cryptography, so whether an entry shows the key that it names is asked here."""
    # A key that differs from its fingerprint would be trusted under the wrong name.
    where = f"entry {key_event.entry.seq}"
    try:
        if (vkey := key_event.payload.vkey or key_event.payload.public) is not None:
            shown = fingerprint_of_vkey(vkey)
        else:
            shown = fingerprint_of_certificate(b64decode(key_event.payload.certificate or "", validate=True))
    except (InputError, ValueError) as error:
        return Fault("key-differs", where, f"it contains no valid key: {error.faults[0].found if isinstance(error, InputError) else error}")
    if shown == key_event.payload.key:
        return None
    return Fault("key-differs", where, f"it names the key {key_event.payload.key[:16]} and shows {shown[:16]}")


def _refuse_other_vkey(reader: LogReader, states: Sequence[KeyState]) -> None:
    # The row of the log names its first key for quick reading. Changing that row would redirect all
    # trust.
    first = next((state for state in states if state.added.payload.purpose is KeyPurpose.LOG), None)
    if reader.log_vkey is not None and (first is None or first.added.payload.vkey != reader.log_vkey):
        there = "no entry adds a log key" if first is None else f"entry {first.added.entry.seq} adds {first.fingerprint[:16]} first"
        problem = f"its row names a verifier key with the hash {reader.log_vkey.partition('+')[2][:8]}, and {there}"
        raise ConflictError(Fault("log-key-differs", f"log {reader.log_origin}", problem))


def _refuse_unusable(reader: LogReader, keys: Sequence[SigningKey]) -> None:
    states = {key_state.fingerprint: key_state for key_state in list_keys(reader)}
    faults = []
    for key in keys:
        state = states.get(key.fingerprint)
        if state is None:
            problem, advice = "a secret key is here that the log does not name", "use the folder of this registry's keys: CAVEAT_KEYS"
            faults.append(Fault("key-not-registered", f"key {key.fingerprint[:16]}", problem, advice=advice))
        elif not state.in_force:
            faults.append(_not_in_force(state))
    if faults:
        raise ConflictError(faults)
    for key in keys:
        _refuse_other_log(reader, key)


def _not_in_force(state: KeyState) -> Fault:
    where, advice = f"key {state.fingerprint[:16]}", "use the key in force: caveat admin key list names it"
    if state.revoked is not None:
        return Fault("key-not-in-force", where, f"entry {state.revoked.entry.seq} revokes it", advice=advice)
    seq = state.replaced.entry.seq if state.replaced else 0
    return Fault("key-not-in-force", where, f"entry {seq} put another in its place", advice=advice)


def _refuse_other_owner(entry: Entry, state: KeyState | None) -> None:
    """Raised inside the transaction, so that nothing of it stays: an authority speaks of its own keys."""
    if state is not None and entry.actor != state.added.entry.actor:
        owner = state.added.entry.actor
        problem, advice = f"it is a key of {owner}, and you act as {entry.actor}", f"act as {owner}: CAVEAT_AUTHORITY={owner}"
        raise ConflictError(Fault("not-permitted", f"key {state.fingerprint[:16]}", problem, advice=advice))


def _refuse_other_author(entry: Entry, key: SigningKey) -> None:
    """Raised inside the transaction, as above: a statement key bears the code of who records it."""
    if key.signs_statements and key.name != entry.actor:
        problem, advice = f"it is a key of {key.name}, and you act as {entry.actor}", f"act as {key.name}: CAVEAT_AUTHORITY={key.name}"
        raise ConflictError(Fault("not-permitted", f"key {key.fingerprint[:16]}", problem, advice=advice))


def _refuse_other_log(reader: LogReader, key: SigningKey) -> None:
    if key.purpose is KeyPurpose.LOG and key.name != reader.log_origin:
        problem, advice = f"this log is {reader.log_origin}", "use the folder of this registry's keys: CAVEAT_KEYS"
        raise ConflictError(Fault("wrong-log", f"key of {key.name}", problem, advice=advice))


def _no_key(code: str, what: str, reader: LogReader) -> UnavailableError:
    problem = f"there is no secret key here that could be used; {what} is needed, of {reader.log_origin or 'this log'}"
    advice = "name the folder of its keys (CAVEAT_KEYS, or keys below [seal] in registry.cfg), or make one: caveat admin key add"
    return UnavailableError(Fault(code, "keys", problem, advice=advice))


# Making keys and recording them: files and log entries are kept in step.
#
# The order is fixed: the new secret is written next to the one in use, the log records it, then it
# takes its place. After a crash between these steps `settle_keys` finishes or retires.


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFolder:
    """Where new secret keys go."""

    path: Path
    passphrase: str | None = field(repr=False)
    """Encrypts them; None or empty leaves them unencrypted."""


def name_own_log(writer: Writer, code: str, salt: str, *, has_keys: bool) -> SigningKey | None:
    """Name the log of a registry that has no entry yet; return its new log key, None without *has_keys*.

    Args:
        writer: of a log without a name.
        code: of the owner of the log.
        salt: hexadecimal; its first 16 digits make the name unlike any other.
        has_keys: whether a key is made, and named as the log's own.

    Raises:
        ConflictError: `log-named`.
    """
    # The log is named before its first entry, because keys and checkpoints contain the name.
    origin = format_origin(code, salt)
    key = make_key(KeyAlgorithm.ED25519, origin) if has_keys else None
    writer.name_log(origin, key.vkey if key else None)
    return key


def make_first_keys(writer: Writer, authority: Authority, log_key: SigningKey, folder: KeyFolder) -> tuple[Entry, ...]:
    """Write *log_key* and a new document key, and record both; `settle_keys` puts their files in place after the transaction.

    Raises:
        ConflictError: `key-file-exists`: there are keys in *folder*, of another registry.
    """
    document = make_key(KeyAlgorithm.ECDSA_P256, authority.code, organisation=authority.name)
    # `settle_keys` would retire keys of another registry that are in this folder.
    _refuse_used(folder.path)
    for key in (log_key, document):
        retire_key(folder.path, slot_of(key), is_new=True)
        write_key(folder.path, key, passphrase=folder.passphrase, is_new=True)
    return tuple(add_key(writer, key) for key in (log_key, document))


def make_another_key(writer: Writer, authority: Authority, algorithm: KeyAlgorithm, folder: KeyFolder) -> tuple[SigningKey, Entry]:
    """Write a new key of *algorithm*, record it next to those in force, and return it with its entry; then `settle_keys`.

    Raises:
        ConflictError: `key-in-force`: there is one of this algorithm; `key-file-exists`: a file of one is here that is not in force.
    """
    return _add(writer, _make(writer, authority, algorithm), folder)


def make_authors_key(writer: Writer, authority: Authority, folder: KeyFolder) -> tuple[SigningKey, Entry]:
    """Write a new statement key of *authority*, record it, and return it with its entry; then `settle_keys`. Errors as above.

    No key can have signed the entry that records an authority's first key: the operator of the registry asserts it.
    """
    return _add(writer, make_statement_key(authority.code), folder)


def replace_authors_key(writer: Writer, old: SigningKey, folder: KeyFolder, *, reason: str) -> tuple[SigningKey, Entry]:
    """Write a new statement key, record that it takes the place of *old*, which signs that, and return it with its entry.

    Raises:
        ConflictError: as `registry.registration.key_registration.rotate_key`.
    """
    key = make_statement_key(old.name)
    # The entry is appended before the file is written: if the rules refuse it, no file remains.
    entry = rotate_key(writer, old, key, reason=reason)
    write_key(folder.path, key, passphrase=folder.passphrase, is_new=True)
    return key, entry


def replace_key(
    writer: Writer, authority: Authority, algorithm: KeyAlgorithm, ring: KeyRing, folder: KeyFolder, *, reason: str
) -> tuple[SigningKey, Entry]:
    """Write a new key, record that it takes the place of that of *ring*, and return it with its entry; then `settle_keys`.

    Raises:
        ConflictError: as `registry.registration.key_registration.rotate_key`.
        NotFoundError: `key-file-missing`: there is no secret key of *algorithm*.
    """
    old = next((signing_key for signing_key in ring.keys if signing_key.algorithm is algorithm), None)
    if old is None:
        problem, advice = f"there is no secret key of {algorithm.value} here", "caveat admin key add makes one"
        raise NotFoundError(Fault("key-file-missing", str(folder.path), problem, advice=advice))
    key = _make(writer, authority, algorithm)
    beside = [signing_key for signing_key in ring.log if signing_key is not old] if key.purpose is KeyPurpose.LOG else []
    entry = rotate_key(writer, old, key, reason=reason, beside=beside)
    write_key(folder.path, key, passphrase=folder.passphrase, is_new=True)
    return key, entry


def settle_keys(reader: LogReader, folder: Path) -> tuple[Path, ...]:
    """Put each new key that the log has recorded in its place, set those aside that it has not, and return the paths of the first.

    Nothing is changed where no new key waits.
    """
    waiting = [key_file for key_file in list_key_files(folder) if key_file.is_new]
    if not waiting:
        return ()
    # The log decides: a recorded key must be usable, an unrecorded one must not sign.
    recorded = {key.fingerprint for key in list_keys(reader)}
    for file in waiting:
        if file.text.fingerprint not in recorded:
            retire_key(folder, file.slot, is_new=True)
    return tuple(place_key(folder, file.slot) for file in waiting if file.text.fingerprint in recorded)


def _make(writer: Writer, authority: Authority, algorithm: KeyAlgorithm) -> SigningKey:
    if algorithm is KeyAlgorithm.ECDSA_P256:
        return make_key(algorithm, authority.code, organisation=authority.name)
    return make_key(algorithm, writer.log_origin)


def _add(writer: Writer, key: SigningKey, folder: KeyFolder) -> tuple[SigningKey, Entry]:
    entry = add_key(writer, key)
    _refuse_used(folder.path, slot_of(key))
    write_key(folder.path, key, passphrase=folder.passphrase, is_new=True)
    return key, entry


def _refuse_used(folder: Path, *slots: Slot) -> None:
    used = [key_file for key_file in list_key_files(folder) if not key_file.is_new and (not slots or key_file.slot in slots)]
    if used:
        problem = "a key is here already, and this registry's log does not have it in force"
        advice = "keep this registry's keys in a folder of their own: CAVEAT_KEYS=FOLDER, or keys below [seal] in registry.cfg"
        raise ConflictError(Fault("key-file-exists", str(used[0].path), problem, advice=advice))


# Cosignatures of witnesses on the own checkpoints. Lines are kept if their keys are known and the
# signatures verify.


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedCosignature(Record):
    """A signature line that was not kept."""

    name: str
    """Whose it says it is."""
    key: str
    """Identifier of its key, 8 hexadecimal digits."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CosignatureResult(Record):
    """Outcome of the lines of a note that came back."""

    checkpoint: Checkpoint
    kept: tuple[str, ...]
    """Names of those whose cosignatures are kept, also of those that were kept before."""
    excluded: tuple[ExcludedCosignature, ...]


def list_witness_keys(view: View) -> tuple[VerifierKey, ...]:
    """Return the keys of other registries that are recorded here, as they cosign; each was checked by whoever recorded it."""
    # Both sources were checked by a person here: the keys of imported logs, and those of cosigned
    # ones.
    texts = [
        *(log_import.payload.vkey for log_import in list_imports(view)),
        *(witnessing.payload.vkey for witnessing in list_witnessings(view)),
    ]
    return tuple(parse_vkey(vkey, where="recorded here").as_cosigner() for vkey in dict.fromkeys(texts))


def attach_cosignatures(writer: Writer, text: str, trusted: Collection[VerifierKey], *, where: str) -> CosignatureResult:
    """Keep the cosignatures of the signed note *text* that verify under keys of *trusted*, and return the status of each line.

    A line with a key that is not known here is excluded: no one could say later who said it.

    Args:
        where: what the note is called, for messages.

    Raises:
        InputError: `bad-note`; `signature-not-valid`, a line of a known key does not verify: nothing is kept.
        ConflictError: `wrong-log`; `checkpoint-not-found`, none of its size is kept here; `history-differs`, it is another.
    """
    note = parse_note(text, where=where)
    there = _find_kept(writer, note, where)
    # The log's own lines are excluded: a log cannot witness itself.
    known = {(key.name, key.key_id): key for key in trusted if key.is_cosigner and key.name != note.checkpoint.origin}
    checked = dict(zip([line for line in note.lines if (line.name, line.key_id) in known], verify_note(note, known.values()), strict=True))
    broken = [line.name for line, result in checked.items() if not result.is_valid]
    # One invalid line makes the whole note suspect, so nothing of it is kept.
    if broken:
        problem = f"the signature of {', '.join(broken)} does not verify: the note was altered, or is not theirs"
        raise InputError(Fault("signature-not-valid", where, problem))
    held = {(line.name, line.key_id) for line in parse_note(there.note, where="recorded here").lines}
    kept, excluded = [], []
    for line, row in zip(note.lines, text.partition("\n\n")[2].splitlines(), strict=True):
        result = checked.get(line)
        if result is not None and result.at is not None:
            if (line.name, line.key_id) not in held:  # one of each key: else a witness could fill the note until no one reads it
                add_cosignature(writer, note.checkpoint.size, row, result.at)
                held.add((line.name, line.key_id))
            kept.append(line.name)
        elif line.name != note.checkpoint.origin:
            excluded.append(_leave_out(line, has_key=result is not None))
    return CosignatureResult(checkpoint=note.checkpoint, kept=tuple(dict.fromkeys(kept)), excluded=tuple(excluded))


def _leave_out(line: SignatureLine, *, has_key: bool) -> ExcludedCosignature:
    why = "it says no time" if has_key else "its key is not known here; give it with --trust"
    return ExcludedCosignature(name=line.name, key=line.key_id.hex(), why=why)


def _find_kept(writer: Writer, note: SignedNote, where: str) -> StoredCheckpoint:
    """Return the checkpoint that is kept here; nothing is kept of a note that does not say the same, word for word."""
    signed_checkpoint = note.checkpoint
    if signed_checkpoint.origin != writer.log_origin:
        raise ConflictError(Fault("wrong-log", where, f"it is of {signed_checkpoint.origin}, this log is {writer.log_origin}"))
    checkpoint = find_checkpoint(writer, signed_checkpoint.size)
    if checkpoint is None:
        problem = f"no checkpoint of {signed_checkpoint.size} entries is kept here"
        raise ConflictError(Fault("checkpoint-not-found", where, problem))
    if checkpoint.checkpoint.root != signed_checkpoint.root:
        problem = f"it has the root {signed_checkpoint.root}, the checkpoint kept here {checkpoint.checkpoint.root}"
        raise ConflictError(Fault("history-differs", where, problem, advice="keep it: two histories of one log were signed"))
    return checkpoint
