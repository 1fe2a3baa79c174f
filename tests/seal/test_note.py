"""Signed notes: Go's and C2SP's own examples, an independent verifier, and that every flipped bit is found."""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from proofbundle.checkpoint import cosign_vkey, verify_checkpoint, verify_cosignature, verify_witnessed_checkpoint

from registry.errors import InputError
from registry.records.log_seal import Checkpoint, KeyAlgorithm
from registry.seal.signed_notes import (
    SignedNote,
    VerifierKey,
    checkpoint_text,
    cosign,
    encode_vkey,
    parse_note,
    parse_vkey,
    sign_checkpoint,
    verify_note,
)
from registry.seal.signing_keys import make_key

ORIGIN = "caveat.log/AISI/0123456789abcdef"
LOG = make_key(KeyAlgorithm.ED25519, ORIGIN, seed=b"1" * 32)
QUANTUM = make_key(KeyAlgorithm.ML_DSA_44, ORIGIN, seed=b"2" * 32)
WITNESS = make_key(KeyAlgorithm.ED25519, "caveat.log/W/fedcba9876543210", seed=b"3" * 32)
QUANTUM_WITNESS = make_key(KeyAlgorithm.ML_DSA_44, "caveat.log/W/fedcba9876543210", seed=b"4" * 32)
SAID = Checkpoint(origin=ORIGIN, size=20_852_163, root=hashlib.sha256(b"root").hexdigest())
AT = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
NOTE = sign_checkpoint(SAID, [LOG, QUANTUM])
COSIGNED = NOTE + cosign(NOTE, WITNESS, at=AT) + cosign(NOTE, QUANTUM_WITNESS, at=AT)
GO_VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_SEED = b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
GO_TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
GO_SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="
"""golang.org/x/mod/sumdb/note, note_test.go."""
C2SP_EXAMPLE = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    "— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
)
"""C2SP tlog-cosignature, the example at its top."""


def keys_of_all() -> list[VerifierKey]:
    """The four keys that sign `COSIGNED`, in its order."""
    logs = [parse_vkey(str(key.vkey), where="log") for key in (LOG, QUANTUM)]
    return logs + [parse_vkey(str(key.vkey), where="witness").as_cosigner() for key in (WITNESS, QUANTUM_WITNESS)]


def test_the_key_and_signature_of_go_come_out_to_the_byte() -> None:
    """From Go's secret key come Go's verifier key and the signature line of its example."""
    key = make_key(KeyAlgorithm.ED25519, "PeterNeumann", seed=GO_SEED)
    vkey = parse_vkey(GO_VKEY, where="Go")

    assert (key.vkey, str(vkey)) == (GO_VKEY, GO_VKEY)
    assert b64encode(vkey.key_id + key.sign(GO_TEXT.encode())).decode() == GO_SIGNATURE


def test_no_part_and_no_neighbour_of_a_key_is_a_key() -> None:
    """As in Go's test: every substring, every character raised by one, a wrong length and an unknown algorithm are refused."""
    length = len(GO_VKEY)
    parts = {GO_VKEY[start:stop] for start in range(length) for stop in range(start + 1, length + 1)} - {GO_VKEY}
    raised = {GO_VKEY[:at] + chr(ord(GO_VKEY[at]) + 1) + GO_VKEY[at + 1 :] for at in range(length)}
    other = {
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        GO_VKEY.replace("c74f20a3", "C74F20A3"),
        GO_VKEY + "\n",
        " " + GO_VKEY,
    }

    for text in parts | raised | other:
        with pytest.raises(InputError, match="bad-vkey"):
            parse_vkey(text, where="key")


@pytest.mark.parametrize("sign", [0, 1 << 255])
@pytest.mark.parametrize(
    "y",
    [
        0,
        1,
        2**255 - 20,
        2**255 - 19,
        2**255 - 18,
        2**255 - 1,
        int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"),
        int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"),
    ],
)
def test_keys_that_anybody_can_sign_under_are_refused(y: int, sign: int) -> None:
    """Points of low order, and encodings of a point that are not its canonical one."""
    vkey = encode_vkey("log.example", KeyAlgorithm.ED25519, (y | sign).to_bytes(32, "little"))

    with pytest.raises(InputError, match="low order"):
        parse_vkey(vkey, where="key")


def test_a_checkpoint_reads_as_it_was_written() -> None:
    """Text, lines and times come back, and every signature is valid."""
    note = parse_note(COSIGNED, where="note")
    lines = verify_note(note, keys_of_all())

    assert (note.checkpoint, note.text) == (SAID, checkpoint_text(SAID))
    assert [line.is_valid for line in lines] == [True] * 4
    assert [line.at for line in lines] == [None, None, AT, AT]
    assert [line.vkey for line in lines] == [str(key) for key in keys_of_all()]


def test_the_example_of_c2sp_is_read() -> None:
    """A note that others made parses, and its cosignature says when."""
    note = parse_note(C2SP_EXAMPLE, where="C2SP")

    assert (note.checkpoint.origin, note.checkpoint.size) == ("example.com/behind-the-sofa", 20_852_163)
    assert datetime.fromtimestamp(int.from_bytes(note.lines[1].signature[:8], "big"), UTC) == datetime(2023, 3, 20, 12, 25, 47, tzinfo=UTC)
    assert verify_note(note, keys_of_all()) == ()


def test_an_independent_verifier_accepts_what_we_sign() -> None:
    """The package proofbundle accepts the log's line, both kinds of cosignature, and both together; and refuses them over another size."""
    witnesses = [cosign_vkey(WITNESS.name, WITNESS.public), str(QUANTUM_WITNESS.vkey)]
    altered = COSIGNED.replace("20852163", "20852164")
    single = NOTE + cosign(NOTE, WITNESS, at=AT)

    assert witnesses[0] == str(keys_of_all()[2])
    assert verify_checkpoint(COSIGNED, str(LOG.vkey))["ok"]
    assert verify_cosignature(COSIGNED, str(QUANTUM.vkey))["ok"]
    assert [verify_cosignature(COSIGNED, one)["timestamp"] for one in witnesses] == [int(AT.timestamp())] * 2
    assert verify_witnessed_checkpoint(COSIGNED, str(LOG.vkey), witnesses, threshold=2, expected_origin=ORIGIN)["ok"]
    assert not verify_witnessed_checkpoint(single, str(LOG.vkey), witnesses, threshold=2)["ok"]
    assert not verify_checkpoint(altered, str(LOG.vkey))["ok"]
    assert not any(verify_cosignature(altered, one)["ok"] for one in witnesses)


def test_every_flipped_bit_of_a_note_is_found() -> None:
    """Exhaustive over an Ed25519 line and its cosignature: the note is refused, or a line that was valid is not valid any more."""
    whole = sign_checkpoint(SAID, [LOG])
    whole += cosign(whole, WITNESS, at=AT)
    data = whole.encode()
    keys = [keys_of_all()[0], keys_of_all()[2]]

    assert _count_valid(whole, keys) == 2
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytes([*data[:place], data[place] ^ 1 << bit, *data[place + 1 :]])
            assert _count_valid(flipped, keys) < 2, (place, bit)


def test_every_flipped_byte_of_a_quantum_safe_line_is_found() -> None:
    """One bit of each byte of a note with an ML-DSA-44 line."""
    data = sign_checkpoint(SAID, [QUANTUM]).encode()

    for place in range(len(data)):
        flipped = bytes([*data[:place], data[place] ^ 1 << place % 8, *data[place + 1 :]])
        assert _count_valid(flipped, keys_of_all()) == 0, place


@pytest.mark.parametrize(
    "change",
    [
        lambda note: note[:-1],
        lambda note: note + "\n",
        lambda note: note + note.splitlines(keepends=True)[-1],
        lambda note: note.replace("\n", "\r\n"),
        lambda note: note.replace("\n20852163", "\n020852163"),
        lambda note: note.replace("\n20852163", "\n+20852163"),
        lambda note: note.replace("\n20852163", "\n20_852_163"),
        lambda note: note.replace("\n20852163", "\n２0852163"),
        lambda note: note.replace("\n20852163", "\n9223372036854775808"),
        lambda note: note.replace("\n20852163", "\n" + "9" * 5_000),
        lambda note: note.replace("\n20852163", ""),
        lambda note: note.replace("=\n\n", "=\nextension\n\n"),
        lambda note: note.replace("=\n\n", "\n\n", 1),
        lambda note: note.replace(ORIGIN + "\n", "\n"),
        lambda note: note.replace(ORIGIN + "\n", "log\u202egol\n"),
        lambda note: note.replace(ORIGIN + "\n", "x" * 256 + "\n"),
        lambda note: note.replace("— ", "- "),
        lambda note: note.replace("— ", "—\u00a0"),
        lambda note: note.replace("— ", "—  "),
        lambda note: note.partition("\n\n")[0] + "\n",
        lambda note: note.partition("\n\n")[0] + "\n\n",
        lambda note: "\n" + note,
        lambda note: "\ufeff" + note,
        lambda note: note + "— w.example AAAAAA==\n" * 2,
        lambda note: note + "".join(f"— w{number}.example AAAAAAA=\n" for number in range(70)),
        lambda note: note + "— w.example AAAAAB==\n",
        lambda note: note + "— w+x AAAAAAA=\n",
        lambda note: note + "x" * 300_000 + "\n",
        lambda _: "",
    ],
)
def test_other_forms_of_a_note_are_refused(change: Callable[[str], str]) -> None:
    """Whatever could be written in two ways is read in one; what is not a checkpoint is none."""
    with pytest.raises(InputError, match="bad-note"):
        parse_note(change(COSIGNED), where="note")


def test_a_line_is_only_for_its_key_name_log_and_kind() -> None:
    """Neither the log's own line nor a witness' verifies as the other's, nor over another log's checkpoint, nor under another name."""
    log, _, witness, _ = keys_of_all()
    elsewhere = Checkpoint(origin="caveat.log/OTHER/0000000000000000", size=SAID.size, root=SAID.root)
    moved = checkpoint_text(elsewhere) + "\n" + COSIGNED.partition("\n\n")[2]
    renamed = make_key(KeyAlgorithm.ED25519, "caveat.log/X/0", seed=b"1" * 32)

    assert not any(line.is_valid for line in verify_note(parse_note(moved, where="note"), keys_of_all()))
    assert verify_note(parse_note(COSIGNED, where="note"), [log.as_cosigner()]) == ()
    assert verify_note(parse_note(COSIGNED, where="note"), [parse_vkey(str(WITNESS.vkey), where="key")]) == ()
    assert verify_note(parse_note(COSIGNED, where="note"), [parse_vkey(str(renamed.vkey), where="key")]) == ()
    assert [line.name for line in verify_note(parse_note(COSIGNED, where="note"), [witness])] == [WITNESS.name]


def test_a_cosignature_is_bound_to_its_time() -> None:
    """The time in a line cannot be moved, and a cosignature of time 0 says nothing."""
    note = parse_note(COSIGNED, where="note")
    for line, key in zip(note.lines[2:], keys_of_all()[2:], strict=True):
        for seconds in (0, int((AT + timedelta(seconds=1)).timestamp()), 2**63, 2**64 - 1):
            blob = line.key_id + seconds.to_bytes(8, "big") + line.signature[8:]
            forged = parse_note(note.text + f"\n— {line.name} {b64encode(blob).decode()}\n", where="note")

            assert [one.is_valid for one in verify_note(forged, [key])] == [False]


def test_what_no_note_can_say_is_not_signed() -> None:
    """An origin with a line feed, negative and enormous sizes, a root that is none, no key, a key for documents."""
    document = make_key(KeyAlgorithm.ECDSA_P256, "AISI", seed=b"5" * 32)
    for wrong in ({"origin": "a\nb"}, {"origin": ""}, {"origin": "é"}, {"size": -1}, {"size": 2**63}, {"root": "00"}, {"root": "Z" * 64}):
        said = Checkpoint(**{"origin": ORIGIN, "size": 1, "root": "0" * 64, **wrong})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"origin|no log|root"):
            sign_checkpoint(said, [LOG])
    with pytest.raises(ValueError, match="needs a signature"):
        sign_checkpoint(SAID, [])
    with pytest.raises(ValueError, match="documents"):
        sign_checkpoint(SAID, [document])
    with pytest.raises(ValueError, match="without space"):
        make_key(KeyAlgorithm.ED25519, "a b")


def _count_valid(data: bytes | str, keys: list[VerifierKey]) -> int:
    try:
        note: SignedNote = parse_note(data if isinstance(data, str) else data.decode(), where="note")
    except (InputError, UnicodeDecodeError):
        return 0
    return sum(line.is_valid for line in verify_note(note, keys))
