"""The folder of secret keys, which only their owner reads."""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from registry.codec.file_io import create_file, lock_file, write_file
from registry.errors import ConflictError, Fault, InputError, UnavailableError
from registry.records.log_seal import KeyAlgorithm
from registry.seal.signing_keys import (
    BadPassphraseError,
    KeyRing,
    KeyText,
    SigningKey,
    as_statement_key,
    build_damage_error,
    format_key,
    open_key,
    parse_key,
)

FILE_NAMES = {KeyAlgorithm.ED25519: "log.pem", KeyAlgorithm.ML_DSA_44: "log-ml-dsa-44.pem", KeyAlgorithm.ECDSA_P256: "document.pem"}
_STATEMENT = "statement-{}.pem"
_STATEMENT_NAME = re.compile(r"statement-([A-Z0-9]{2,12})(\.new)?\.pem")
_LARGEST_FILE = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The place of one key in a folder."""

    algorithm: KeyAlgorithm
    authority: str | None = None
    """Whose statement key it is; None for keys of other purposes."""


def slot_of(key: SigningKey) -> Slot:
    """Return the place of *key*."""
    return Slot(algorithm=key.algorithm, authority=key.name if key.signs_statements else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFile:
    """A key's file, as far as it can be read without a passphrase."""

    path: Path
    slot: Slot
    is_new: bool
    """Whether it still waits for the log to record it."""
    text: KeyText


@contextmanager
def hold_folder(folder: Path, *, is_waiting: bool) -> Iterator[bool]:
    """Keep other processes from changing *folder* meanwhile; gives whether it is held.

    Args:
        folder: made if there is none and *is_waiting*; without, no folder is not held.
        is_waiting: wait for others to be done; without, a folder that others hold is not held.

    Raises:
        UnavailableError: `file-not-accessible`.
    """
    try:
        if is_waiting:
            _make_folder(folder)
        # The folder itself is locked. A lock file would have to be removed, and could be replaced
        # while it is held.
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except FileNotFoundError:
        yield False
        return
    except OSError as error:
        raise _not_accessible(folder, error) from error
    try:
        yield lock_file(descriptor, where=str(folder), is_waiting=is_waiting)
    finally:
        os.close(descriptor)


def write_key(folder: Path, key: SigningKey, *, passphrase: str | None, is_new: bool = False) -> Path:
    """Keep *key* in a new file of *folder* and return its path: mode 0600, in a folder of mode 0700 if it is made here.

    Args:
        folder: made if there is none, with a `.gitignore` that keeps it out of repositories.
        key: at most one for each place is kept in a folder.
        passphrase: encrypts it; None or empty leaves it unencrypted.
        is_new: write it next to the one in use, as `NAME.new.pem`, until `place_key`.

    Raises:
        ConflictError: `key-file-exists`: there is one.
        InputError: `file-open-to-others`: others could put files into the folder.
        UnavailableError: `file-not-accessible`: it cannot be written.
    """
    path = _find_path(folder, slot_of(key), is_new=is_new)
    try:
        _make_folder(folder)
        # Whoever can write into the folder can replace a key file by another one.
        _refuse_open_folder(folder)
        # Created with mode 0600 from the first byte; a chmod afterwards would leave a moment in
        # which others can read it.
        create_file(path, format_key(key, passphrase).encode(), mode=0o600)
    except FileExistsError as error:
        problem, advice = "there is a key already", "caveat admin key rotate puts another in its place"
        raise ConflictError(Fault("key-file-exists", str(path), problem, advice=advice)) from error
    except OSError as error:
        raise _not_accessible(path, error) from error
    return path


def place_key(folder: Path, slot: Slot) -> Path:
    """Let `NAME.new.pem` take the place of `NAME.pem`, which becomes `NAME.retired.pem` (or `-2`, `-3`, …); return the new path.

    Raises:
        UnavailableError: `file-not-accessible`: there is none, or it cannot be renamed.
    """
    path, new = _find_path(folder, slot), _find_path(folder, slot, is_new=True)
    try:
        new.stat()  # before the other goes: else nothing would be left in its place
        retire_key(folder, slot)
        return new.rename(path)
    except OSError as error:
        raise _not_accessible(new, error) from error


def retire_key(folder: Path, slot: Slot, *, is_new: bool = False) -> Path | None:
    """Rename the file of the key in *slot* to `NAME.retired.pem` (or `-2`, `-3`, …) and return the new path; None without one.

    Args:
        is_new: `NAME.new.pem` instead, with a key that this log has not recorded. It is not removed: another log may have.

    Raises:
        UnavailableError: `file-not-accessible`: it cannot be renamed.
    """
    path = _find_path(folder, slot, is_new=is_new)
    # No secret key is ever deleted (decision of 2026-11-22): one that was written and not recorded
    # is retired. The cost: unused files after a crash.
    stem, number = _find_path(folder, slot).stem, 1
    while (target := folder / f"{stem}.retired{'' if number == 1 else f'-{number}'}.pem").exists():
        number += 1
    try:
        return path.rename(target) if path.exists() else None
    except OSError as error:
        raise _not_accessible(path, error) from error


def list_key_files(folder: Path) -> tuple[KeyFile, ...]:
    """Return the keys in use and those that wait, without their secrets; nothing where there is no folder.

    Raises:
        InputError: `file-open-to-others` or `key-file-damaged`, as `read_keys`.
        UnavailableError: `file-not-accessible`.
    """
    slots = [*(Slot(algorithm=algorithm) for algorithm in FILE_NAMES), *_list_statement_slots(folder)]
    places = [(slot, is_new, _find_path(folder, slot, is_new=is_new)) for slot in slots for is_new in (False, True)]
    return tuple(
        KeyFile(path=path, slot=slot, is_new=is_new, text=text) for slot, is_new, path in places if (text := _read_text(path)) is not None
    )


def read_keys(folder: Path, *, ask: Callable[[], str | None]) -> KeyRing:
    """Return the keys in use for logs and documents; none where there is no folder.

    Args:
        folder: where `write_key` put them.
        ask: gives the passphrase, None if there is no one to ask; called once at most, and only for an encrypted key.

    Raises:
        InputError: `file-open-to-others`: others than the owner can read a file, or change the folder; `key-file-damaged`: it holds no
            key, or not the one that its public part shows; `passphrase-wrong`.
        UnavailableError: `passphrase-missing`: it is encrypted, and there is no terminal to ask at; `file-not-accessible`.
    """
    files = [key_file for key_file in list_key_files(folder) if not key_file.is_new and key_file.slot.authority is None]
    # Asked once: all keys of a folder share one passphrase.
    passphrase = ask() if any(file.text.is_encrypted for file in files) else None
    keys = {file.slot.algorithm: _open(file, passphrase) for file in files}
    logs = tuple(keys[algorithm] for algorithm in (KeyAlgorithm.ED25519, KeyAlgorithm.ML_DSA_44) if algorithm in keys)
    return KeyRing(log=logs, document=keys.get(KeyAlgorithm.ECDSA_P256))


def read_statement_key(folder: Path, authority: str, *, ask: Callable[[], str | None]) -> SigningKey | None:
    """Return the key that signs what *authority* states; None where there is none. Arguments and errors as in `read_keys`."""
    slot = Slot(algorithm=KeyAlgorithm.ED25519, authority=authority)
    path = _find_path(folder, slot)
    text = _read_text(path)
    if text is None:
        return None
    key = _open(KeyFile(path=path, slot=slot, is_new=False, text=text), ask() if text.is_encrypted else None)
    # The file name and the key must agree, or a renamed file would sign in another name.
    if key.name != authority:
        raise build_damage_error(str(path), f"it is a key of {key.name}, not of {authority}")
    return as_statement_key(key)


def _open(file: KeyFile, passphrase: str | None) -> SigningKey:
    where = str(file.path)
    if file.text.is_encrypted and not passphrase:
        raise UnavailableError(Fault("passphrase-missing", where, "it is encrypted, and no passphrase is given"))
    try:
        return open_key(file.text, file.slot.algorithm, passphrase, where=where)
    except BadPassphraseError as error:
        raise InputError(Fault("passphrase-wrong", where, "the passphrase does not open it, or it is damaged")) from error


def _list_statement_slots(folder: Path) -> list[Slot]:
    """Return the places of statement keys, by the names of files that are in use or wait."""
    try:
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    except OSError as error:
        raise _not_accessible(folder, error) from error
    authorities = {match[1] for name in names if (match := _STATEMENT_NAME.fullmatch(name))}
    return [Slot(algorithm=KeyAlgorithm.ED25519, authority=authority) for authority in sorted(authorities)]


def _find_path(folder: Path, slot: Slot, *, is_new: bool = False) -> Path:
    path = folder / (FILE_NAMES[slot.algorithm] if slot.authority is None else _STATEMENT.format(slot.authority))
    return path.with_suffix(".new.pem") if is_new else path


def _make_folder(folder: Path) -> None:
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(folder / ".gitignore", "# Secret keys do not belong into a repository.\n*\n")


def _read_text(path: Path) -> KeyText | None:
    try:
        # O_NONBLOCK: opening a named pipe would otherwise wait forever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _not_accessible(path, error) from error
    try:
        # The mode of the open file is checked, not of the path, so it cannot be exchanged between
        # check and read.
        _refuse_open(path, os.fstat(descriptor).st_mode)
        data = os.read(descriptor, _LARGEST_FILE + 1)
    finally:
        os.close(descriptor)
    if len(data) > _LARGEST_FILE:
        raise build_damage_error(str(path), f"it has more than {_LARGEST_FILE:,} bytes")
    try:
        return parse_key(data.decode("ascii"), where=str(path))
    except UnicodeDecodeError as error:
        raise build_damage_error(str(path), "it is no ASCII text") from error


def _refuse_open(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise build_damage_error(str(path), "it is not a file")
    if mode & 0o077:
        problem = f"others than its owner can read it (mode {stat.S_IMODE(mode):04o})"
        advice = f"run: chmod 600 {path}   and, if it may have been read: caveat admin key rotate"
        raise InputError(Fault("file-open-to-others", str(path), problem, advice=advice))
    _refuse_open_folder(path.parent)


def _refuse_open_folder(folder: Path) -> None:
    mode = folder.stat().st_mode
    if mode & 0o022:
        problem = f"others than its owner can put files into it (mode {stat.S_IMODE(mode):04o})"
        raise InputError(Fault("file-open-to-others", str(folder), problem, advice=f"run: chmod 700 {folder}"))


def _not_accessible(path: Path, error: OSError) -> UnavailableError:
    problem = f"the system refuses: {error.strerror or error}"
    return UnavailableError(Fault("file-not-accessible", str(path), problem, advice="check the folder's permissions and its disk"))
