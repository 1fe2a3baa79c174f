"""`caveat audit evidence --key`: an attestation of others is reported evidence, after its signature was checked."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from audit.sources.attestation import EVAL_RESULT, TEST_RESULT
from tests.cli.conftest import Answer, Caveat
from tests.cli.scenario import CARD, CLAIMS

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PREDICATE: dict[str, Any] = {
    "evaluator": {"id": "https://evaluator.example"},
    "evaluatedAt": "2026-11-21T21:03:01Z",
    "suite": {"name": "Covert actions", "version": "3"},
    "sampleSize": 360,
    "assuranceLevel": "third_party",
    "model": {"name": "Lumen 1"},
    "claims": [{"metric": "phi_deploy", "comparator": "<=", "threshold": "0.1", "passed": True}],
    "preRegistration": {"alg": "sha256", "value": "ab"},
}


def _seal(predicate: object, kind: str = EVAL_RESULT, *, key: Any = KEY, payload_type: str = "application/vnd.in-toto+json") -> str:
    subject = {"name": "report", "digest": {"sha256": hashlib.sha256(b"the report").hexdigest()}}
    statement = {"_type": "https://in-toto.io/Statement/v1", "subject": [subject], "predicateType": kind, "predicate": predicate}
    body = json.dumps(statement).encode()
    signed = b"DSSEv1 %d %s %d %s" % (len(payload_type), payload_type.encode(), len(body), body)
    signature = key.sign(signed) if isinstance(key, Ed25519PrivateKey) else key.sign(signed, ECDSA(SHA256()))
    encoded = {"payload": base64.b64encode(body).decode(), "payloadType": payload_type}
    return json.dumps({**encoded, "signatures": [{"keyid": "x", "sig": base64.b64encode(signature).decode()}]})


def _write_key(path: str, key: Any = KEY) -> None:
    Path(path).write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


@pytest.fixture
def audit(caveat: Caveat) -> str:
    """An open audit without a lock."""
    assert caveat("init", "--code", "AISI").code == 0
    Path("card.md").write_text(CARD, encoding="utf-8")
    card = caveat("card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]["card"]
    Path("claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
    claim = caveat("claim", "add", "claims.yaml", "--json").document["added"][0]
    Path("audit.yaml").write_text(caveat("audit", "new", claim).out, encoding="utf-8")
    _write_key("key.pem")
    Path("result.json").write_text(_seal(PREDICATE), encoding="utf-8")
    Path("report").write_bytes(b"the report")
    opened = caveat("audit", "open", "audit.yaml", "--json")
    assert opened.code == 0, opened.err
    return str(opened.document["audit"])


def _add(caveat: Caveat, audit: str, *words: str) -> Answer:
    return caveat("audit", "evidence", audit, "result.json", *words, "--json")


def test_a_signed_result_is_recorded_in_words_and_says_nothing_on_behaviour(caveat: Caveat, audit: str) -> None:
    added = _add(caveat, audit, "--key", "key.pem", "--subject", "report")
    assert (added.code, len(added.document["entries"]), added.document["unread"]) == (0, 1, [])

    entry = caveat("admin", "log", "show", "--kind", "evidence", "--json").document["entries"][-1]
    evidence = entry["payload"]["evidence"]
    assert (evidence["kind"], evidence["verified"], evidence["finding"]) == (None, False, None)
    assert "https://evaluator.example states for Lumen 1: phi_deploy <= 0.1: passed" in evidence["summary"]
    assert "pre-registration of the signer sha256:ab, which this log did not see" in evidence["summary"]
    assert evidence["evaluation"] == "Covert actions 3"
    assert _add(caveat, audit, "--key", "key.pem").document["entries"] == []
    # A result that its signer calls passed is no verdict here.
    concluded = caveat("audit", "conclude", audit, "--json")
    reading = concluded.document["restriction"]["classification"]["readings"][0]
    assert reading["verdict"] != "holds"


def test_a_test_result_and_a_key_of_another_kind(caveat: Caveat, audit: str) -> None:
    key = generate_private_key(SECP256R1())
    _write_key("p256.pem", key)
    predicate = {"result": "FAILED", "configuration": [{"name": "suite.yaml"}], "failedTests": ["a", "b"], "mood": 1}
    Path("result.json").write_text(_seal(predicate, TEST_RESULT, key=key), encoding="utf-8")

    added = _add(caveat, audit, "--key", "p256.pem", "--key", "key.pem")
    assert (added.code, added.document["unread"]) == (0, ["mood"])
    entry = caveat("admin", "log", "show", "--kind", "evidence", "--json").document["entries"][-1]
    assert entry["payload"]["evidence"]["summary"] == "The signer states the result FAILED. 2 failed: a, b"


def test_what_cannot_be_trusted_or_read_is_refused_and_nothing_is_recorded(caveat: Caveat, audit: str) -> None:
    size = caveat("admin", "log", "show", "--json").document["size"]
    _write_key("other.pem", Ed25519PrivateKey.from_private_bytes(bytes(32)))
    Path("not-it").write_bytes(b"another report")
    envelope = json.loads(_seal(PREDICATE))
    changed = bytearray(base64.b64decode(envelope["payload"]))
    changed[-3] ^= 1
    cases: tuple[tuple[str, tuple[str, ...], str], ...] = (
        (_seal(PREDICATE), ("--key", "other.pem"), "signature-not-valid"),
        (json.dumps({**envelope, "payload": base64.b64encode(bytes(changed)).decode()}), ("--key", "key.pem"), "signature-not-valid"),
        (json.dumps({**envelope, "signatures": []}), ("--key", "key.pem"), "signature-not-valid"),
        (json.dumps({**envelope, "signatures": [{"sig": "?"}]}), ("--key", "key.pem"), "bad-envelope"),
        ("{}", ("--key", "key.pem"), "bad-envelope"),
        (_seal(PREDICATE, "https://b7n0de.com/attestation/eval-result/v0.3"), ("--key", "key.pem"), "attestation-unknown"),
        (_seal({"claims": []}), ("--key", "key.pem"), "attestation-unknown"),
        (_seal({"result": "GREAT"}, TEST_RESULT), ("--key", "key.pem"), "attestation-unknown"),
        (_seal(PREDICATE, payload_type="text/plain"), ("--key", "key.pem"), "attestation-unknown"),
        (_seal(PREDICATE), ("--key", "key.pem", "--subject", "not-it"), "subject-differs"),
        (_seal(PREDICATE), ("--key", "report"), "bad-vkey"),
    )
    for text, words, code in cases:
        Path("result.json").write_text(text, encoding="utf-8")
        refused = _add(caveat, audit, *words)
        assert (refused.code, json.loads(refused.err)["faults"][0]["code"]) == (2, code), words
    assert caveat("admin", "log", "show", "--json").document["size"] == size


def test_our_own_draft_export_is_read_back(caveat: Caveat, audit: str) -> None:
    """The same form in both directions; the key is that of the log that signed it."""
    from tests.interchange.records import KEY as LOG_KEY
    from tests.interchange.records import export_all

    files = export_all("inverted")["in-toto --draft"]
    assert not isinstance(files, str)
    Path("result.json").write_bytes(files[0].content)
    assert LOG_KEY.vkey is not None
    added = _add(caveat, audit, "--key", LOG_KEY.vkey)

    assert (added.code, added.document["unread"]) == (0, [])
