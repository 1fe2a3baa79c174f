"""Keys that change while a log goes from registry to registry: followed from the one a person checked, never further."""

from datetime import timedelta
from pathlib import Path

import pytest

from registry.errors import CaveatError
from registry.exchange.bundle_transfer import ImportResult, take_over
from registry.records.log_seal import KeyAlgorithm
from registry.registration.key_registration import find_key, revoke_key, rotate_key
from registry.seal.signed_notes import VerifierKey, parse_vkey
from registry.seal.signing_keys import SigningKey, make_key
from tests.store import builders
from tests.transfer.registries import Institute


def make_next(institute: Institute, seed: int, algorithm: KeyAlgorithm = KeyAlgorithm.ED25519) -> SigningKey:
    """Return another key of the institute's log."""
    return make_key(algorithm, institute.origin, seed=bytes([seed]) * 32)


def rotate(institute: Institute, seed: int) -> SigningKey:
    """Put another key in the place of the institute's, and return the old one."""
    old, new = institute.key, make_next(institute, seed)
    with institute.ledger.write(actor=institute.code) as writer:
        rotate_key(writer, old, new, reason="yearly")
    institute.key = new
    return old


def read(lab: Institute, path: Path, *keys: VerifierKey) -> ImportResult:
    """Import *path* into *lab*."""
    return take_over(lab.ledger, path, actor=lab.code, keys=keys)


def find_code(lab: Institute, path: Path, *keys: VerifierKey) -> str:
    """Return the code that the import is refused with."""
    with pytest.raises(CaveatError) as refused:
        read(lab, path, *keys)
    return refused.value.code


def test_a_rotation_is_followed_from_the_old_key(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """Who knows the first key alone follows the log over two rotations, at once or step by step."""
    first = aisi.vkey
    rotate(aisi, 21)
    aisi.add_claims(1)
    rotate(aisi, 22)
    aisi.add_claims(1)
    aisi.export(tmp_path / "a.caveat")

    done = read(lab, tmp_path / "a.caveat", first)

    assert done.vkey == str(aisi.vkey) != str(first)


def test_a_rotation_is_followed_in_a_scale(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """What a stretch says of keys is vouched for by what was signed before it, or in it."""
    aisi.export(tmp_path / "a.caveat")
    read(lab, tmp_path / "a.caveat", aisi.vkey)
    rotate(aisi, 21)
    aisi.export(tmp_path / "b.caveat", since=7)
    second = read(lab, tmp_path / "b.caveat")
    aisi.add_claims(1)
    aisi.export(tmp_path / "c.caveat", since=8)

    assert (second.new, read(lab, tmp_path / "c.caveat").vkey) == (1, str(aisi.vkey))


def test_a_rotation_that_the_old_key_did_not_sign_is_not_followed(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """Who steals the database without the key can write a rotation, and sign with a key of their own; no one follows."""
    thief = make_next(aisi, 66)
    first = aisi.vkey
    with aisi.ledger.write(actor=aisi.code) as writer:
        rotate_key(writer, aisi.key, thief, reason="stolen")
    with aisi.ledger.connect() as connection:
        connection.exec_driver_sql("DROP TRIGGER checkpoint__delete")
        connection.exec_driver_sql("DELETE FROM checkpoint")
    aisi.key = thief
    aisi.add_claims(1)
    aisi.export(tmp_path / "stolen.caveat")

    assert find_code(lab, tmp_path / "stolen.caveat", first) == "wrong-key"


def test_a_replaced_key_signs_nothing_more(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """After its replacement a key's signature is refused by name."""
    old = rotate(aisi, 21)
    aisi.add_claims(1)
    aisi.seal(None, old)
    aisi.export(tmp_path / "a.caveat")

    assert find_code(lab, tmp_path / "a.caveat", parse_vkey(old.vkey or "", where="test")) == "key-not-in-force"


def test_a_revoked_key_is_not_believed(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """A log that revokes a key is not verified with it, nor with what it alone vouches for."""
    old = rotate(aisi, 21)
    with aisi.ledger.write(actor=aisi.code) as writer:
        state = find_key(writer, old.fingerprint)
        assert state is not None
        revoke_key(writer, state, reason="stolen")
    aisi.export(tmp_path / "a.caveat")
    first = parse_vkey(old.vkey or "", where="test")

    assert find_code(lab, tmp_path / "a.caveat", first) == "wrong-key"
    assert read(lab, tmp_path / "a.caveat", aisi.vkey).new == 9


def test_a_revocation_from_a_time_on_leaves_what_was_before(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """A key that is distrusted from later on still vouched for its successor."""
    old = rotate(aisi, 21)
    with aisi.ledger.write(actor=aisi.code) as writer:
        state = find_key(writer, old.fingerprint)
        assert state is not None
        revoke_key(writer, state, reason="lost", untrusted_from=builders.START + timedelta(days=1))
    aisi.export(tmp_path / "a.caveat")

    assert read(lab, tmp_path / "a.caveat", parse_vkey(old.vkey or "", where="test")).vkey == str(aisi.vkey)


def test_a_log_signed_against_quantum_computers_is_verified_with_either_key(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """A checkpoint may have a line of ML-DSA-44 beside Ed25519; one broken line of a believed key is a forgery."""
    second = make_next(aisi, 31, KeyAlgorithm.ML_DSA_44)
    aisi.seal(None, aisi.key, second)
    aisi.export(tmp_path / "a.caveat")

    assert read(lab, tmp_path / "a.caveat", parse_vkey(second.vkey or "", where="test")).vkey == second.vkey


def test_a_witness_key_is_no_key_of_the_log(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """A cosigner's key, given as the log's, verifies no checkpoint."""
    aisi.export(tmp_path / "a.caveat")

    assert find_code(lab, tmp_path / "a.caveat", aisi.vkey.as_cosigner()) == "wrong-key"
