"""The key that signs an export: one from a file, or the Ed25519 key of the log."""

from collections.abc import Callable
from pathlib import Path

from interchange.formats.in_toto import EnvelopeSigner, name_key
from registry.codec.file_io import read_text
from registry.errors import ConflictError, Fault, InputError, UnavailableError
from registry.records.log_seal import KeyAlgorithm
from registry.registration.key_registration import get_log_keys
from registry.seal.signed_notes import parse_vkey
from registry.seal.signing_keys import BadPassphraseError, KeyRing, SigningKey, open_key, parse_key
from registry.store.registry_view import View

_LARGEST_KEY_BYTES = 100_000


def read_key_file(path: Path, ask: Callable[[], str | None]) -> SigningKey:
    """Return the secret key in the file at *path*.

    Args:
        ask: gives the passphrase of an encrypted key; None where there is none.

    Raises:
        InputError: `key-file-damaged`, `passphrase-wrong`.
        UnavailableError: `passphrase-missing`.
    """
    where = str(path)
    text = parse_key(read_text(path, largest=_LARGEST_KEY_BYTES), where=where)
    algorithm = KeyAlgorithm.ECDSA_P256 if text.vkey is None else parse_vkey(text.vkey, where=where).algorithm
    passphrase = ask() if text.is_encrypted else None
    if text.is_encrypted and not passphrase:
        raise UnavailableError(Fault("passphrase-missing", where, "it is encrypted, and no passphrase is given"))
    try:
        return open_key(text, algorithm, passphrase, where=where)
    except BadPassphraseError as error:
        raise InputError(Fault("passphrase-wrong", where, "the passphrase does not open it, or it is damaged")) from error


def get_log_key(view: View, ring: KeyRing) -> SigningKey:
    """Return the Ed25519 key of the log.

    Raises:
        UnavailableError: `no-signing-key`: it is not here.
        ConflictError: a key here is not in force in this log.
    """
    key = next((key for key in get_log_keys(view, ring) if key.algorithm is KeyAlgorithm.ED25519), None)
    if key is None:
        raise UnavailableError(Fault("no-signing-key", "log key", "exports are signed with Ed25519, and no such key of the log is here"))
    return key


def refuse_other_key(view: View, key: SigningKey) -> None:
    """Refuse a key that is not the log's own Ed25519 key; raises ConflictError `key-not-registered` or `wrong-log`."""
    if key.algorithm is not KeyAlgorithm.ED25519 or key.vkey is None:
        raise ConflictError(Fault("key-not-registered", "--key", "a receipt is signed with the Ed25519 key of the log"))
    get_log_keys(view, KeyRing(log=(key,)))


def build_signer(key: SigningKey) -> EnvelopeSigner:
    """Return who signs an envelope with *key*. Verifiers know Ed25519 and ECDSA; raises ConflictError for ML-DSA-44."""
    if key.algorithm is KeyAlgorithm.ML_DSA_44:
        raise ConflictError(
            Fault("key-not-registered", "--key", "no verifier of DSSE envelopes knows ML-DSA-44: use an Ed25519 or ECDSA key")
        )
    is_raw = key.algorithm is KeyAlgorithm.ED25519
    return EnvelopeSigner(key_id=name_key(key.public) if is_raw else f"SHA256:{key.fingerprint}", sign=key.sign)
