"""Making keys and recording them: the files of `registry.seal.key_files` and the entries of `registry.registration.keys`, kept in step.

The order is always the same: the new secret is written beside the one in use, the log records it, it takes its place. What a crash leaves
between these steps is put right by `settle_keys`.
"""

from dataclasses import dataclass, field
from pathlib import Path

from registry.errors import ConflictError, Fault, NotFoundError
from registry.records.authority import Authority
from registry.records.seal import KeyAlgorithm, KeyPurpose
from registry.records.statement import Entry
from registry.registration.keys import add_key, format_origin, list_keys, rotate_key
from registry.seal.key_files import Slot, list_key_files, place_key, retire_key, slot_of, write_key
from registry.seal.keys import KeyRing, SigningKey, make_key, make_statement_key
from registry.store.reader import Reader
from registry.store.writer import Writer

FIRST_KEYS = (KeyAlgorithm.ED25519, KeyAlgorithm.ECDSA_P256)
"""What a new registry gets: a key for its log and one for its documents."""


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
        code: of the authority whose log it is.
        salt: hexadecimal; its first 16 digits make the name unlike any other.
        has_keys: whether a key is made, and named as the log's own.

    Raises:
        ConflictError: `log-named`.
    """
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
    _refuse_used(folder.path)
    for key in (log_key, document):
        retire_key(folder.path, slot_of(key), is_new=True)
        write_key(folder.path, key, passphrase=folder.passphrase, is_new=True)
    return tuple(add_key(writer, key) for key in (log_key, document))


def make_another_key(writer: Writer, authority: Authority, algorithm: KeyAlgorithm, folder: KeyFolder) -> tuple[SigningKey, Entry]:
    """Write a new key of *algorithm*, record it beside those in force, and return it with its entry; then `settle_keys`.

    Raises:
        ConflictError: `key-in-force`: there is one of this algorithm; `key-file-exists`: a file of one is here that is not in force.
    """
    return _add(writer, _make(writer, authority, algorithm), folder)


def make_authors_key(writer: Writer, authority: Authority, folder: KeyFolder) -> tuple[SigningKey, Entry]:
    """Write a new statement key of *authority*, record it, and return it with its entry; then `settle_keys`. Errors as above.

    Nobody can have signed the entry that records an authority's first key: the operator of the registry asserts it.
    """
    return _add(writer, make_statement_key(authority.code), folder)


def replace_authors_key(writer: Writer, old: SigningKey, folder: KeyFolder, *, reason: str) -> tuple[SigningKey, Entry]:
    """Write a new statement key, record that it takes the place of *old*, which signs that, and return it with its entry.

    Raises:
        ConflictError: as `registry.registration.keys.rotate_key`.
    """
    key = make_statement_key(old.name)
    entry = rotate_key(writer, old, key, reason=reason)
    write_key(folder.path, key, passphrase=folder.passphrase, is_new=True)
    return key, entry


def replace_key(
    writer: Writer, authority: Authority, algorithm: KeyAlgorithm, ring: KeyRing, folder: KeyFolder, *, reason: str
) -> tuple[SigningKey, Entry]:
    """Write a new key, record that it takes the place of that of *ring*, and return it with its entry; then `settle_keys`.

    Raises:
        ConflictError: as `registry.registration.keys.rotate_key`.
        NotFoundError: `key-file-missing`: there is no secret key of *algorithm*.
    """
    old = next((one for one in ring.keys if one.algorithm is algorithm), None)
    if old is None:
        found, advice = f"there is no secret key of {algorithm.value} here", "caveat key add makes one"
        raise NotFoundError(Fault(code="key-file-missing", where=str(folder.path), found=found, advice=advice))
    key = _make(writer, authority, algorithm)
    beside = [one for one in ring.log if one is not old] if key.purpose is KeyPurpose.LOG else []
    entry = rotate_key(writer, old, key, reason=reason, beside=beside)
    write_key(folder.path, key, passphrase=folder.passphrase, is_new=True)
    return key, entry


def settle_keys(reader: Reader, folder: Path) -> tuple[Path, ...]:
    """Put each new key that the log has recorded in its place, set those aside that it has not, and return the paths of the first.

    Nothing is changed where no new key waits.
    """
    waiting = [one for one in list_key_files(folder) if one.is_new]
    if not waiting:
        return ()
    recorded = {one.fingerprint for one in list_keys(reader)}
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
    used = [one for one in list_key_files(folder) if not one.is_new and (not slots or one.slot in slots)]
    if used:
        found = "a key is here already, and this registry's log does not have it in force"
        advice = "keep this registry's keys in a folder of their own: CAVEAT_KEYS=FOLDER, or keys below [seal] in registry.cfg"
        raise ConflictError(Fault(code="key-file-exists", where=str(used[0].path), found=found, advice=advice))
