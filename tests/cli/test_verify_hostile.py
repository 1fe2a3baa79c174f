"""Proofs that somebody made to break the reader: every one is refused or answered no, in words."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from registry.codec.canonical_documents import canonical_bytes
from registry.errors import CaveatError
from registry.records.statement import OutputFormat
from registry.report.published_file import enclose_proof, sign_pdf, split_file
from registry.seal.key_files import read_keys
from registry.seal.signed_notes import format_proof, parse_proof
from registry.verify.file_verification import check_file
from registry.verify.proof_checks import Check, CheckAnswer
from registry.verify.verification_keys import Trust, read_given
from tests.cli.given_out import NAME
from tests.cli.test_verify_published import read_vkey


def change(proof: bytes, **changes: Any) -> bytes:
    """Return the proof with *changes* in its extra data, in canonical JSON."""
    read = parse_proof(proof.decode(), where="test")
    extra = json.loads(read.extra or b"{}")
    return format_proof(read.index, read.path, read.note, canonical_bytes({**extra, **changes})).encode()


def ask(data: bytes, proof: bytes | None, trust: Trust) -> dict[str, CheckAnswer]:
    """Return the answers by name, without drawing."""
    return {one.name.value: one.answer for one in check_file(data, proof=proof, trust=trust)}


@pytest.mark.parametrize(
    "changes",
    [
        {"consistency": {"size": -1, "root": "00" * 32, "path": []}},
        {"consistency": {"size": 2**53 - 1, "root": "00" * 32, "path": []}},
        {"consistency": {"size": 15, "root": "no digest", "path": []}},
        {"consistency": {"size": 15, "root": "00" * 32, "path": ["AAAA"]}},
        {"consistency": {"size": 15, "root": "00" * 32, "path": ["A" * 43 + "="] * 100}},
        {"statement": "{}"},
        {"statement": "not JSON"},
        {"schema": "caveat/proof/2"},
        {"more": 1},
    ],
)
def test_extra_data_that_says_something_else_is_a_no(given_out: Path, changes: dict[str, Any]) -> None:
    """Sizes no log has, roots that are none, paths too long, statements that are none: never a yes, never a crash."""
    data = (given_out / "out" / f"{NAME}.json").read_bytes()
    proof = change((given_out / "out" / f"{NAME}.json.tlog-proof").read_bytes(), **changes)

    answers = ask(data, proof, read_given([read_vkey(given_out)]))

    assert CheckAnswer.NO in (answers["published"], answers["consistency"])


@pytest.mark.parametrize("entry", [-1, 0, 3, 10**9])
def test_a_signer_that_the_log_does_not_prove_is_nobody(given_out: Path, entry: int) -> None:
    """The place of the document key in the log is checked like any other; a wrong one makes the signature no one's."""
    data = (given_out / "out" / f"{NAME}.pdf").read_bytes()
    layers = split_file(data, OutputFormat.PDF)
    proof = layers.proof or b""
    signer = json.loads(parse_proof(proof.decode(), where="test").extra or b"{}")["signer"]
    key = read_keys(given_out / "caveat-keys", ask=lambda _name: None).document
    assert key is not None
    forged = change(proof, signer={**signer, "entry": entry, "path": signer["path"][:-1]})
    signed = sign_pdf(enclose_proof(layers.rendered, OutputFormat.PDF, forged), key, at=datetime(2026, 11, 22, tzinfo=UTC))
    trust = read_given([read_vkey(given_out)])

    answers = [ask(one, None, trust)["signature"] for one in (data, signed)]

    assert answers == [CheckAnswer.YES, CheckAnswer.NO]


def test_no_flipped_bit_of_a_proof_leaves_all_its_answers(given_out: Path) -> None:
    """Each is refused, or at least one answer that was yes is so no more; 400 places at random, seeded."""
    data = (given_out / "out" / f"{NAME}.json").read_bytes()
    proof = (given_out / "out" / f"{NAME}.json.tlog-proof").read_bytes()
    trust = read_given([read_vkey(given_out)])
    before = ask(data, proof, trust)
    chance = random.Random(6)

    def is_seen(place: int, bit: int) -> bool:
        flipped = bytearray(proof)
        flipped[place] ^= 1 << bit
        try:
            now = ask(data, bytes(flipped), trust)
        except CaveatError:
            return True
        return any(now[name] is not CheckAnswer.YES for name, answer in before.items() if answer is CheckAnswer.YES)

    places = [(chance.randrange(len(proof)), chance.randrange(8)) for _ in range(400)]
    assert [one for one in places if not is_seen(*one)] == []


def test_a_check_says_what_was_compared(given_out: Path) -> None:
    """No answer stands without its words, and the order is always the same."""
    data = (given_out / "out" / f"{NAME}.pdf").read_bytes()

    checks: tuple[Check, ...] = check_file(data, proof=None, trust=Trust())

    assert all(one.note for one in checks)
    assert [one.name.value for one in checks] == [
        "safe", "signature", "bytes", "record", "entries", "authors", "published", "inclusion", "checkpoint", "witnesses", "consistency",
        "lock", "registry", "current",
    ]  # fmt: skip
