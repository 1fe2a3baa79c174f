"""Signatures of authors over their entries: kept beside the log, read with the keys that the log names, and held against both."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import select

from registry.errors import ConflictError, Fault
from registry.records.log_seal import EntrySignature
from registry.records.statement import Entry
from registry.store.key_events import list_key_events
from registry.store.reader import CHUNK, Reader
from registry.store.seal_tables import signature

if TYPE_CHECKING:
    from registry.seal.signing_keys import Backing, SigningKey, StatementKeys

SignatureRow = tuple[int, int, bytes, bytes]
"""What is kept of one signature: log, entry, fingerprint of the key, 64 bytes."""


class FindKey(Protocol):
    """Gives the secret statement key of an authority."""

    def __call__(self, authority: str, /) -> "SigningKey | None":
        """Return the key that is here; None where there is none, and then nothing is signed."""


def find_no_key(_authority: str, /) -> "SigningKey | None":
    """Return None: nothing is signed."""
    return None


def list_signatures(reader: Reader, entries: Iterable[int]) -> tuple[EntrySignature, ...]:
    """Return the signatures of *entries*, as far as they have one, in log order."""
    statement = select(signature).where(reader.visible(signature))
    rows = reader.rows_in(statement, signature.c.seq, entries)
    return tuple(
        EntrySignature(entry=row.seq, key=bytes(row.key).hex(), signature=b64encode(bytes(row.value)).decode())
        for row in sorted(rows, key=lambda row: row.seq)
    )


def read_statement_keys(reader: Reader) -> "StatementKeys":
    """Return what the log says of statement keys, as far as it is seen."""
    from registry.seal.signing_keys import StatementKeys  # noqa: PLC0415  (cryptography: most commands need none)

    events = list_key_events(reader)
    signed = list_signatures(reader, (one.entry.seq for one in events))
    return StatementKeys(reader.log_origin, events, {one.entry: one for one in signed})


def find_signature_faults(reader: Reader) -> Iterator[Fault]:
    """Yield what is wrong with the signatures of the log, and with what it says of statement keys."""
    keys = read_statement_keys(reader)
    yield from keys.faults
    numbers = [row[0] for row in reader.plain_rows(select(signature.c.seq).where(reader.visible(signature)).order_by(signature.c.seq))]
    for start in range(0, len(numbers), CHUNK):
        wanted = numbers[start : start + CHUNK]
        signed = {one.entry: one for one in list_signatures(reader, wanted)}
        places = {place.seq: place for place, _ in reader.log_entries(wanted[0], wanted[-1] + 1)}
        for seq, one in signed.items():
            place = places.get(seq)
            if place is None:
                yield Fault(code="signature-wrong", where=f"entry {seq}", found="a signature is kept of an entry that is not in the log")
            elif (fault := keys.find_fault(place, one)) is not None:
                yield fault


def to_row(signed: EntrySignature, *, log_id: int) -> SignatureRow:
    """Return *signed* as it is kept; raises ValueError for what is no base64."""
    return log_id, signed.entry, bytes.fromhex(signed.key), b64decode(signed.signature, validate=True)


class Signing:
    """Signs the entries of one transaction with their author's key, where that is here."""

    def __init__(self, reader: Reader, actor: str, find_key: FindKey) -> None:
        self._reader = reader
        self._actor = actor
        self._find_key = find_key
        self._key: SigningKey | None = None
        self._is_asked = False

    def sign(self, seq: int, leaf: str) -> EntrySignature | None:
        """Return the signature of the actor over the entry *seq*; None where no key of theirs is here.

        Raises:
            ConflictError: `key-not-registered`, `key-replaced`: the key that is here is not the one that the log has in force.
            UnavailableError: `passphrase-missing`: the key is encrypted, and nobody can be asked.
        """
        if not self._is_asked:
            self._key = self._find_key(self._actor)
            self._is_asked = True
            if self._key is not None:
                _refuse_other(self._reader, self._key)
        if self._key is None:
            return None
        from registry.seal.signing_keys import sign_entry  # noqa: PLC0415  (as above)

        return sign_entry(self._key, self._reader.log_origin, seq, leaf)

    def forget(self) -> None:
        """Ask again which key signs: the log says something new of keys."""
        self._is_asked = False


def _refuse_other(reader: Reader, key: "SigningKey") -> None:
    current = read_statement_keys(reader).find_in_force(key.name)
    if current is not None and current.fingerprint == key.fingerprint:
        return
    there = "no statement key" if current is None else f"key {current.fingerprint[:16]}"
    found = f"a secret statement key of {key.name} is here, and the log has {there} in force for them"
    advice = "use the folder of this registry's keys: CAVEAT_KEYS; caveat key list names those in force"
    raise ConflictError(Fault(code="key-not-registered", where=f"key {key.fingerprint[:16]}", found=found, advice=advice))


def find_backings(reader: Reader, entries: Iterable[Entry]) -> "dict[int, Backing | None]":
    """Return who stands behind each of *entries*, by number; None where its signature is wrong."""
    listed = list(entries)
    keys = read_statement_keys(reader)
    signed = {one.entry: one for one in list_signatures(reader, (one.seq for one in listed))}
    found: dict[int, Backing | None] = {}
    for one in listed:
        its = signed.get(one.seq)
        is_wrong = its is not None and keys.find_fault(one, its) is not None
        found[one.seq] = None if is_wrong else keys.find_backing(one, its)
    return found
