"""`caveat export`: files, digests, signatures and receipts of a registry, and what is refused."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import cbor2
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from proofbundle import intoto

from registry.seal.merkle_tree import root_from_inclusion
from tests.cli.given_out import ask
from tests.interchange.commands import run

CLAIM = "CLM-AISI-2026-0001-S"
UNAUDITED = "CLM-AISI-2026-0002-Q"


def read_log_key() -> bytes:
    """Return the raw Ed25519 key of the log, as a recipient takes it from the registry."""
    lines = run("admin", "key", "show", "--public").out.splitlines()
    return base64.b64decode(next(line for line in lines if line.startswith("caveat.log")).split("+", 2)[2])[1:]


def test_an_export_names_the_digest_of_the_published_file(folder: Path) -> None:
    answer = run("export", CLAIM, "--as", "cyclonedx", "-o", "out", "--json").document
    record = (folder / "out" / f"{CLAIM}@1.json").read_bytes()
    file = folder / answer["files"][0]["path"]

    assert answer["record_sha256"] == hashlib.sha256(record).hexdigest()
    assert answer["files"] == [{"path": f"out/{CLAIM}@1.cdx.json", "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}]
    assert "history" in answer["lost"]
    assert answer["record_sha256"] in file.read_text()


def test_two_runs_give_the_same_bytes_also_signed_and_after_later_entries(folder: Path) -> None:
    """Another claim is registered in between: the record is the one that was published."""
    formats = ("in-toto", "oscal", "scitt")
    for place in ("first", "second"):
        for name in formats:
            assert run("export", CLAIM, "--as", name, "-o", place).code == 0, name
        run("model", "add", "LAB/Other/1")
    first, second = ({path.name: path.read_bytes() for path in (folder / place).iterdir()} for place in ("first", "second"))

    assert first == second
    assert len(first) == 4


def test_the_attestation_verifies_with_the_key_of_the_registry_and_lists_only_checks_that_passed(folder: Path) -> None:
    run("export", CLAIM, "--as", "in-toto", "-o", "out")
    envelope = json.loads((folder / "out" / f"{CLAIM}@1.svr.dsse.json").read_bytes())

    result = intoto.verify_svr_dsse(envelope, read_log_key())
    assert result["ok"], result
    assert result["statement"]["predicate"]["properties"] == ["CAVEAT_BYTES", "CAVEAT_RECORD", "CAVEAT_ENTRIES", "CAVEAT_LOCK_BEFORE_RUN"]
    assert result["statement"]["subject"][0]["name"].startswith(f"{CLAIM}@1#")
    assert not intoto.verify_svr_dsse(envelope, bytes(31) + b"\x01")["ok"]


def test_a_key_from_a_file_signs_too(folder: Path) -> None:
    """The document key is ECDSA, and signs the same bytes each time (RFC 6979)."""
    key = folder / "caveat-keys" / "document.pem"
    contents = []
    for place in ("first", "second"):
        assert run("export", CLAIM, "--as", "in-toto", "--key", key, "-o", place).code == 0
        contents.append((folder / place / f"{CLAIM}@1.svr.dsse.json").read_bytes())

    assert contents[0] == contents[1]
    refused = run("export", CLAIM, "--as", "scitt", "--key", key, "--json")
    assert refused.faults == ["key-not-registered"]
    (folder / "nothing.pem").write_text("no key\n")
    assert run("export", CLAIM, "--as", "in-toto", "--key", "nothing.pem", "--json").faults == ["key-file-damaged"]
    (folder / "caveat-keys").rename(folder / "elsewhere")
    gone = run("export", CLAIM, "--as", "in-toto", "-o", "third", "--json")
    assert (gone.code, gone.faults) == (3, ["no-signing-key"])
    assert not (folder / "third").exists()


def read_receipt(path: Path) -> tuple[bytes, dict[int, Any], list[Any], bytes]:
    """Return protected bytes, protected header, inclusion proof and signature, read by CBOR alone."""
    tag = cbor2.loads(path.read_bytes())
    protected, unprotected, payload, signature = tag.value
    assert (tag.tag, payload) == (18, None)
    return protected, cbor2.loads(protected), cbor2.loads(unprotected[396][-1][0]), signature


def test_a_receipt_shows_that_the_log_contains_the_publication(folder: Path) -> None:
    """The root is computed from the statement beside it; another leaf, a changed byte or another key fail."""
    run("export", CLAIM, "--as", "scitt", "-o", "out")
    place = folder / "out" / f"{CLAIM}@1.json.receipt.cose"
    leaf = (folder / "out" / f"{CLAIM}@1.json.statement.json").read_bytes()
    protected, header, (size, index, path), signature = read_receipt(place)
    key = Ed25519PublicKey.from_public_bytes(read_log_key())

    def verify(entry: bytes, head: bytes = protected) -> None:
        root = root_from_inclusion(hashlib.sha256(b"\x00" + entry).digest(), index, size, path)
        key.verify(signature, cbor2.dumps(["Signature1", head, b"", root]))

    verify(leaf)
    assert (header[1], header[395], header[15][2]) == (-8, 1, f"{CLAIM}@1")
    assert json.loads(leaf)["payload"]["sha256"] == hashlib.sha256((folder / "out" / f"{CLAIM}@1.json").read_bytes()).hexdigest()
    for entry, head in ((leaf + b" ", protected), (leaf, protected[:-1] + b"\x02")):
        with pytest.raises(InvalidSignature):
            verify(entry, head)


def test_what_cannot_be_exported_truly_is_refused_and_nothing_is_written(folder: Path) -> None:
    for words, code, faults in (
        ((CLAIM, "--as", "cyclondx"), 2, ["export-format-unknown"]),
        ((CLAIM, "--as", "oscal", "--draft"), 2, ["export-is-draft"]),
        ((UNAUDITED, "--as", "oscal"), 2, ["export-without-record"]),
        ((CLAIM, "--as", "eee"), 2, ["export-field-missing"] * 4),
        ((CLAIM, "--as", "cff", "--field", "developer"), 2, ["bad-option"]),
        ((CLAIM, "--as", "cff", "--key", "caveat-keys/log.pem"), 2, ["bad-option"]),
    ):
        outcome = run("export", *words, "-o", "exports", "--json")
        assert (outcome.code, outcome.faults) == (code, faults), words
    run("report", UNAUDITED, "--json", "-o", "out", "--publish", "--yes")
    assert run("export", UNAUDITED, "--as", "oscal", "--json").faults == ["export-without-result"]
    assert run("export", UNAUDITED, "--as", "cyclonedx", "--json").code == 0
    card = ask("card", "list")["cards"][0]["card"]
    assert run("export", card, "--as", "cff", "--json").faults == ["export-without-record"]
    run("report", card, "--json", "-o", "out", "--publish", "--yes")
    assert run("export", card, "--as", "cyclonedx", "--json").faults == ["export-field-missing"]
    assert run("export", card, "--as", "cff", "--json").code == 0
    assert sorted(path.name for path in (folder / "exports").iterdir()) == ["CITATION.cff", f"{UNAUDITED}@1.cdx.json"]


def test_a_file_with_other_content_is_replaced_only_on_request(folder: Path) -> None:
    (folder / "CITATION.cff").write_text("mine\n")

    refused = run("export", CLAIM, "--as", "cff", "-o", ".", "--json")
    assert refused.faults == ["file-exists"]
    assert (folder / "CITATION.cff").read_text() == "mine\n"
    assert run("export", CLAIM, "--as", "cff", "-o", ".", "--replace").code == 0
    assert run("export", CLAIM, "--as", "cff", "-o", ".").code == 0


def test_a_record_that_the_registry_no_longer_says_is_refused_unless_asked_for_as_of_its_entry(folder: Path) -> None:
    """A withdrawn claim could otherwise be exported as it stood before."""
    size = ask("claim", "list")["log_size"]
    assert run("claim", "withdraw", CLAIM, "--reason", "An error in the evaluation", "--yes").code == 0

    refused = run("export", CLAIM, "--as", "cyclonedx", "--json")
    assert refused.faults == ["export-record-superseded"]
    older = run("export", CLAIM, "--as", "cyclonedx", "--as-of", str(size), "--json")
    assert older.code == 0, older.err
    run("report", CLAIM, "--json", "-o", "later", "--publish", "--yes")
    cited = run("export", CLAIM, "--as", "bibtex", "-o", "later")
    assert cited.code == 0, cited.err
    assert "Withdrawn claim" in (folder / "later" / f"{CLAIM}@1.bib").read_text()


def test_the_list_names_validator_and_losses_of_every_format(folder: Path) -> None:
    rows = run("export", "--list", "--json").document["formats"]

    assert [row["name"] for row in rows][:3] == ["in-toto", "in-toto --draft", "eee"]
    assert all(row["lost"] and row["validator"] and row["version"] for row in rows)
    assert "accepted by" in run("export", "--list").out
    assert run("export").code == 2


def test_an_erased_quotation_is_not_exported(folder: Path) -> None:
    """The published file still has the words; the log does not, and an export is made from the log."""
    entry = json.loads((folder / "out" / f"{CLAIM}@1.json").read_bytes())["claim"]["entry"]["seq"]
    assert run("admin", "log", "erase", str(entry), "--reason", "A court order", "--yes").code == 0

    for name in ("cyclonedx", "oscal", "bibtex"):
        refused = run("export", CLAIM, "--as", name, "-o", "exports", "--json")
        assert (refused.code, refused.faults) == (2, ["body-erased"])
    assert not (folder / "exports").exists()
