"""Proof files: an independent verifier accepts ours, and every flipped bit is found."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from proofbundle.checkpoint import cosign_vkey
from proofbundle.tlogproof import verify_tlog_proof

from registry.errors import InputError
from registry.records.log_seal import Checkpoint, KeyAlgorithm
from registry.seal.merkle_tree import inclusion_path, root_from_inclusion, root_of
from registry.seal.signed_notes import TlogProof, cosign, format_proof, parse_note, parse_proof, parse_vkey, sign_checkpoint, verify_note
from registry.seal.signing_keys import make_key
from tests.seal.trees import find_in

ENTRIES = [f"statement {number}".encode() for number in range(37)]
LEAVES = [hashlib.sha256(b"\0" + entry).digest() for entry in ENTRIES]
LOG = make_key(KeyAlgorithm.ED25519, "caveat.log/AISI/0123456789abcdef", seed=b"1" * 32)
WITNESS = make_key(KeyAlgorithm.ED25519, "caveat.log/W/fedcba9876543210", seed=b"3" * 32)
NOTE = sign_checkpoint(Checkpoint(origin=LOG.name, size=37, root=root_of(LEAVES).hex()), [LOG])
COSIGNED = NOTE + cosign(NOTE, WITNESS, at=datetime(2026, 11, 22, tzinfo=UTC))


def prove(index: int, extra: bytes | None = None) -> str:
    """The proof file of one entry."""
    return format_proof(index, inclusion_path(index, 37, find_in(LEAVES)), COSIGNED, extra)


@pytest.mark.parametrize("index", [0, 1, 31, 32, 35, 36])
def test_an_independent_verifier_accepts_our_proofs(index: int) -> None:
    """The package proofbundle recomputes leaf, path, root, log signature and cosignature; it refuses the proof for another entry."""
    witnesses = [cosign_vkey(WITNESS.name, WITNESS.public)]
    proof = prove(index, b'{"schema": "caveat/proof/1"}')

    verdict = verify_tlog_proof(proof, ENTRIES[index], str(LOG.vkey), witnesses, threshold=1, expected_origin=LOG.name)

    assert verdict["ok"], verdict
    assert not verify_tlog_proof(proof, ENTRIES[index - 1], str(LOG.vkey), witnesses, threshold=1)["ok"]
    assert not verify_tlog_proof(proof, ENTRIES[index], str(WITNESS.vkey), witnesses, threshold=1)["ok"]


def test_a_proof_reads_as_it_was_written() -> None:
    """Index, path, note and extra data come back; writing them again gives the same bytes."""
    text = prove(20, b"\x00extra")
    proof = parse_proof(text, where="proof")

    assert (proof.index, proof.extra, proof.note) == (20, b"\x00extra", COSIGNED)
    assert format_proof(proof.index, proof.path, proof.note, proof.extra) == text
    assert parse_proof(prove(20), where="proof").extra is None


def test_every_flipped_bit_of_a_proof_is_found() -> None:
    """Exhaustive, but for the extra data, which nothing signs: refused, another root, or a signature that is not valid."""
    data = prove(20).encode()

    assert _is_good(data)
    for place in range(len(data)):
        for bit in range(8):
            assert not _is_good(bytes([*data[:place], data[place] ^ 1 << bit, *data[place + 1 :]])), (place, bit)


@pytest.mark.parametrize(
    "change",
    [
        lambda proof: proof[:-1],
        lambda proof: proof + "\n",
        lambda proof: proof.replace("\n", "\r\n"),
        lambda proof: proof.replace("@v1", "@v2"),
        lambda proof: proof.replace("index 20", "index 020"),
        lambda proof: proof.replace("index 20", "index -1"),
        lambda proof: proof.replace("index 20", "index  20"),
        lambda proof: proof.replace("index 20", "index 37"),
        lambda proof: proof.replace("index 20", "index ２0"),
        lambda proof: proof.replace("index 20", "index " + "9" * 5_000),
        lambda proof: proof.replace("index 20\n", ""),
        lambda proof: proof.replace("index 20", "extra \nindex 20"),
        lambda proof: proof.replace("index 20", "extra AAB=\nindex 20"),
        lambda proof: proof.replace("index 20", "extra AA==\nextra AA==\nindex 20"),
        lambda proof: proof.replace("index 20\n", "index 20\nAA==\n"),
        lambda proof: proof.replace("index 20\n", "index 20\n" + "A" * 43 + "=\n" * 64),
        lambda proof: proof.replace("index 20\n", "index 20\n" + ("A" * 43 + "=\n") * 64),
        lambda proof: proof.partition("\n\n")[0],
        lambda proof: "\n" + proof,
        lambda proof: "x" * 17_000_000 + proof,
        lambda _: "",
    ],
)
def test_other_forms_of_a_proof_are_refused(change: Callable[[str], str]) -> None:
    """One form is read, and nothing that is too large is looked at."""
    with pytest.raises(InputError, match=r"bad-proof|bad-note"):
        parse_proof(change(prove(20)), where="proof")


def test_what_could_not_be_read_again_is_not_written() -> None:
    """An index that the log has not, a hash of another length, a note that is none."""
    for index, path, note in ((37, [], NOTE), (0, [b"short"], NOTE), (0, [], "no note")):
        with pytest.raises(InputError, match=r"bad-proof|bad-note"):
            format_proof(index, path, note)


def _is_good(data: bytes) -> bool:
    """What a verifier asks that knows entry 20, the log's key and the witness'."""
    try:
        proof: TlogProof = parse_proof(data.decode(), where="proof")
        note = parse_note(proof.note, where="note")
        root = root_from_inclusion(LEAVES[20], proof.index, note.checkpoint.size, proof.path)
    except (InputError, ValueError):
        return False
    keys = [parse_vkey(str(LOG.vkey), where="key"), parse_vkey(str(WITNESS.vkey), where="key").as_cosigner()]
    lines = verify_note(note, keys)
    return root.hex() == note.checkpoint.root and len(lines) == 2 and all(line.is_valid for line in lines)
