"""Secret keys in files: what is written comes back, what others could read or swap is refused, and a crash loses nothing."""

import os
from base64 import b64decode
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from registry.errors import CaveatError, ConflictError
from registry.records.log_seal import KeyAlgorithm, KeyPurpose
from registry.seal.key_files import FILE_NAMES, Slot, list_key_files, place_key, read_keys, retire_key, write_key
from registry.seal.signing_keys import KeyRing, SigningKey, fingerprint_of_certificate, fingerprint_of_vkey, format_fingerprint, make_key

ORIGIN = "caveat.log/AISI/0123456789abcdef"
LOG_SLOT = Slot(algorithm=KeyAlgorithm.ED25519)
LOG = make_key(KeyAlgorithm.ED25519, ORIGIN, seed=b"1" * 32)
QUANTUM = make_key(KeyAlgorithm.ML_DSA_44, ORIGIN, seed=b"2" * 32)
DOCUMENT = make_key(KeyAlgorithm.ECDSA_P256, "AISI", seed=b"3" * 32, organisation="AI Safety Institute")
OTHER = make_key(KeyAlgorithm.ED25519, ORIGIN, seed=b"4" * 32)
KEYS = (LOG, QUANTUM, DOCUMENT)


def never() -> str | None:
    """No one is to be asked."""
    raise AssertionError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one key of each algorithm, unencrypted."""
    for key in KEYS:
        write_key(tmp_path / "keys", key, passphrase=None)
    return tmp_path / "keys"


@pytest.mark.parametrize("passphrase", [None, "", "correct horse – “battery”"])
def test_keys_come_back_as_they_were_written(tmp_path: Path, passphrase: str | None) -> None:
    """Names, public parts and signatures are the same; the files are their owner's alone, and the passphrase is asked for once."""
    asked = []
    for key in KEYS:
        write_key(tmp_path / "keys", key, passphrase=passphrase)

    ring = read_keys(tmp_path / "keys", ask=lambda: asked.append(1) or passphrase)

    assert len(asked) == (1 if passphrase else 0)
    assert [_show(one) for one in ring.keys] == [_show(one) for one in KEYS]
    assert ring.log[0].sign(b"x") == LOG.sign(b"x")
    assert ring.document is not None
    assert ring.document.sign(b"x") == DOCUMENT.sign(b"x")
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "keys").glob("*.pem")} == {0o600}
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    assert all(("ENCRYPTED" in path.read_text()) == bool(passphrase) for path in (tmp_path / "keys").glob("*.pem"))
    assert (tmp_path / "keys" / ".gitignore").read_text().endswith("*\n")


def test_no_folder_is_no_keys(tmp_path: Path) -> None:
    """What does not exist is empty, and no one is asked."""
    assert read_keys(tmp_path / "none", ask=never) == KeyRing()
    assert list_key_files(tmp_path / "none") == ()


def test_a_wrong_or_missing_passphrase_is_told(tmp_path: Path) -> None:
    """Wrong is bad input, missing cannot be evaluated here; neither says which key it would have been."""
    write_key(tmp_path, LOG, passphrase="x" * 8)

    assert _refused(tmp_path, "wrong") == ("passphrase-wrong", 2)
    assert _refused(tmp_path, "") == ("passphrase-missing", 3)
    assert _refused(tmp_path, None) == ("passphrase-missing", 3)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o611, 0o644, 0o777])
def test_a_key_that_others_can_read_is_refused(folder: Path, mode: int) -> None:
    """Whatever bit others have, the key is not used, and the message says what to do."""
    (folder / "log.pem").chmod(mode)

    with pytest.raises(CaveatError, match=f"file-open-to-others.*mode {mode:04o}.*chmod 600") as error:
        _match_across_lines(folder)
    assert error.value.exit_code == 2


def test_a_folder_that_others_can_change_is_refused(folder: Path) -> None:
    """Who can put a file there can put another key there; who can only look, cannot."""
    folder.chmod(0o770)
    assert _refused(folder, None) == ("file-open-to-others", 2)
    with pytest.raises(CaveatError, match="file-open-to-others"):
        write_key(folder, OTHER, passphrase=None, is_new=True)
    folder.chmod(0o755)

    assert len(read_keys(folder, ask=never).keys) == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-----BEGIN PRIVATE KEY-----\n",
        "x" * 70_000,
        "\x00" * 100,
        f"{LOG.vkey}\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        f"{LOG.vkey}\n{LOG.vkey}\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ],
)
def test_a_damaged_file_is_told(folder: Path, text: str) -> None:
    """Empty, cut, too large, no text: a fault with the file's name, never a traceback."""
    (folder / "log.pem").write_text(text)

    assert _refused(folder, None) == ("key-file-damaged", 2)


@pytest.mark.parametrize("name", sorted(FILE_NAMES.values()))
def test_a_file_that_shows_another_key_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    """Somebody who swaps what is public above a secret, or the secret below it, is found."""
    algorithm = next(key for key, value in FILE_NAMES.items() if value == name)
    other = write_key(tmp_path / "other", make_key(algorithm, ORIGIN, seed=b"9" * 32), passphrase=None).read_text()
    own = (folder / name).read_text()
    cut = "-----BEGIN PRIVATE"

    (folder / name).write_text(other.partition(cut)[0] + cut + own.partition(cut)[2])

    assert _refused(folder, None) == ("key-file-damaged", 2)


def test_a_key_of_another_kind_is_refused(folder: Path) -> None:
    """A quantum-safe key under the name of the Ed25519 one, another curve, a folder in the place of a file."""
    own = (folder / "document.pem").read_text()
    (folder / "log.pem").write_text((folder / "log-ml-dsa-44.pem").read_text())
    assert _refused(folder, None) == ("key-file-damaged", 2)
    (folder / "log.pem").unlink()
    wide = generate_private_key(SECP384R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    (folder / "document.pem").write_text(own.partition("-----BEGIN PRIVATE")[0] + wide)
    assert _refused(folder, None) == ("key-file-damaged", 2)
    (folder / "document.pem").unlink()
    (folder / "log.pem").mkdir()

    assert _refused(folder, None)[0] in {"key-file-damaged", "file-not-accessible"}


def test_a_pipe_in_the_place_of_a_key_does_not_hang(folder: Path) -> None:
    """Opening does not wait for a writer that never comes."""
    (folder / "log.pem").unlink()
    os.mkfifo(folder / "log.pem", 0o600)

    assert _refused(folder, None) == ("key-file-damaged", 2)


def test_a_key_is_never_written_over(folder: Path) -> None:
    """A second key of one algorithm is refused, and the first stays."""
    with pytest.raises(ConflictError, match="key-file-exists"):
        write_key(folder, OTHER, passphrase=None)

    assert _show(read_keys(folder, ask=never).log[0]) == _show(LOG)


def test_a_crash_in_the_middle_of_writing_leaves_no_half_key(folder: Path) -> None:
    """What a killed process left is no key yet, is listed nowhere, and does not stand in the way of the next."""
    (folder / ".log.new.pem.part").write_text("# A secret key of Cav")

    assert _show(read_keys(folder, ask=never).log[0]) == _show(LOG)
    write_key(folder, OTHER, passphrase=None, is_new=True)
    assert [one.text.fingerprint for one in list_key_files(folder) if one.is_new] == [OTHER.fingerprint]
    assert not list(folder.glob(".*.part"))


def test_a_new_key_waits_until_it_is_placed(folder: Path) -> None:
    """Before: the old one is in use, the new one is listed. After: the new one is, and every earlier one keeps a file of its own."""
    write_key(folder, OTHER, passphrase=None, is_new=True)
    assert _show(read_keys(folder, ask=never).log[0]) == _show(LOG)
    assert [one.text.fingerprint for one in list_key_files(folder) if one.is_new] == [OTHER.fingerprint]

    assert place_key(folder, LOG_SLOT) == folder / "log.pem"
    third = make_key(KeyAlgorithm.ED25519, ORIGIN, seed=b"5" * 32)
    write_key(folder, third, passphrase=None, is_new=True)
    place_key(folder, LOG_SLOT)

    assert _show(read_keys(folder, ask=never).log[0]) == _show(third)
    assert str(LOG.vkey) in (folder / "log.retired.pem").read_text()
    assert str(OTHER.vkey) in (folder / "log.retired-2.pem").read_text()


def test_a_key_that_waits_is_set_aside_and_never_removed(folder: Path) -> None:
    """Another log may have recorded it; retiring what is not there does nothing."""
    write_key(folder, OTHER, passphrase=None, is_new=True)

    assert retire_key(folder, LOG_SLOT, is_new=True) == folder / "log.retired.pem"
    assert str(OTHER.vkey) in (folder / "log.retired.pem").read_text()
    assert retire_key(folder, LOG_SLOT, is_new=True) is None
    assert retire_key(folder, LOG_SLOT) == folder / "log.retired-2.pem"
    assert retire_key(folder, LOG_SLOT) is None
    assert [one.slot.algorithm for one in list_key_files(folder)] == [KeyAlgorithm.ML_DSA_44, KeyAlgorithm.ECDSA_P256]
    with pytest.raises(CaveatError, match="file-not-accessible"):
        place_key(folder, LOG_SLOT)


def test_the_same_seed_gives_the_same_key() -> None:
    """To the byte of the certificate; without a seed, no two are the same."""
    again = make_key(KeyAlgorithm.ECDSA_P256, "AISI", seed=b"3" * 32, organisation="AI Safety Institute")

    assert again.certificate == DOCUMENT.certificate
    assert {make_key(algorithm, "x").fingerprint for algorithm in KeyAlgorithm for _ in range(2)}.__len__() == 6
    with pytest.raises(ValueError, match="32 bytes"):
        make_key(KeyAlgorithm.ED25519, "x", seed=b"short")


def test_a_certificate_names_the_authority_and_has_no_end() -> None:
    """Code and name, cut to what X.520 allows; no certification of others; signed by itself."""
    long = make_key(KeyAlgorithm.ECDSA_P256, "AISI", seed=b"3" * 32, organisation="Ä" * 100)
    read = x509.load_der_x509_certificate(b64decode(str(long.certificate)))

    assert read.subject == read.issuer
    assert read.subject.rfc4514_string() == f"O={'Ä' * 64},CN=AISI"
    assert read.not_valid_after_utc.year == 9999
    assert not read.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    read.verify_directly_issued_by(read)


def test_every_flipped_bit_of_a_certificate_is_found() -> None:
    """One bit of each byte: it cannot be read, is of another key, or is not signed by itself."""
    der = b64decode(str(DOCUMENT.certificate))

    assert fingerprint_of_certificate(der) == DOCUMENT.fingerprint
    for place in range(len(der)):
        with pytest.raises(ValueError, match="."):
            fingerprint_of_certificate(bytes([*der[:place], der[place] ^ 1 << place % 8, *der[place + 1 :]]))


def test_fingerprints_are_those_of_the_public_key() -> None:
    """The same from the secret and from what is public, and readable over the telephone."""
    assert [fingerprint_of_vkey(str(key.vkey)) for key in (LOG, QUANTUM)] == [LOG.fingerprint, QUANTUM.fingerprint]
    assert format_fingerprint("0123456789abcdef" * 4) == "\n".join(["0123 4567 89ab cdef 0123 4567 89ab cdef"] * 2)
    assert [key.purpose for key in KEYS] == [KeyPurpose.LOG, KeyPurpose.LOG, KeyPurpose.DOCUMENT]
    assert "private" not in repr(LOG)


def _show(key: SigningKey) -> tuple[object, ...]:
    return key.name, key.algorithm, key.vkey, key.certificate, key.fingerprint


def _refused(folder: Path, passphrase: str | None) -> tuple[str, int]:
    with pytest.raises(CaveatError) as error:
        read_keys(folder, ask=lambda: passphrase)
    assert str(folder) in str(error.value)
    return error.value.code, error.value.exit_code


def _match_across_lines(folder: Path) -> None:
    try:
        read_keys(folder, ask=never)
    except CaveatError as error:
        one_line = " ".join(str(error).split())
        told = type(error)(error.faults)
        told.args = (one_line,)
        raise told from error
