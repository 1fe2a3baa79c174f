"""COSE receipts (RFC 9942): that the log contains the statement of a publication. The one importer of cbor2."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from interchange.formats.export_record import ExportedFile
from registry.records.record import Record

LOST = (
    "everything that the record says: a receipt shows that the log contains the statement that it was published",
    "signatures of witnesses",
)
_ALGORITHM, _KEY_ID, _CLAIMS, _STRUCTURE, _PROOFS = 1, 4, 15, 395, 396
"""Labels of COSE headers: RFC 9052 section 3.1, RFC 9597, RFC 9942."""
_EDDSA = -8
_RFC9162_SHA256 = 1
_INCLUSION = -1
_ISSUER, _SUBJECT, _ISSUED = 1, 2, 6
"""CWT claims: RFC 8392 section 3.1."""
_COSE_SIGN1 = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptFacts(Record):
    """What a receipt states: the place of a statement in the log at one size."""

    subject: str
    """Identifier of the record that was published."""
    statement: bytes
    """The leaf: canonical JSON of the statement of the publication."""
    index: int
    """Of the leaf, from 0."""
    size: int
    root: bytes
    path: tuple[bytes, ...]
    origin: str
    at: datetime
    """When the checkpoint of this size was signed."""
    key_id: bytes
    """The four bytes of the log key's verifier key."""


def write_receipt(facts: ReceiptFacts, sign: Callable[[bytes], bytes]) -> bytes:
    """Return the receipt: COSE_Sign1 over the root, which is detached, with the audit path in the unprotected header.

    Args:
        sign: signs with the Ed25519 key of the log.
    """
    import cbor2  # noqa: PLC0415  (an optional part: only receipts need it)

    claims = {_ISSUER: f"https://{facts.origin}", _SUBJECT: facts.subject, _ISSUED: int(facts.at.timestamp())}
    protected = cbor2.dumps({_ALGORITHM: _EDDSA, _KEY_ID: facts.key_id, _CLAIMS: claims, _STRUCTURE: _RFC9162_SHA256}, canonical=True)
    proof = cbor2.dumps([facts.size, facts.index, list(facts.path)], canonical=True)
    signature = sign(cbor2.dumps(["Signature1", protected, b"", facts.root], canonical=True))
    return cbor2.dumps(cbor2.CBORTag(_COSE_SIGN1, [protected, {_PROOFS: {_INCLUSION: [proof]}}, None, signature]), canonical=True)


def build_receipt_files(name: str, facts: ReceiptFacts, sign: Callable[[bytes], bytes]) -> tuple[ExportedFile, ...]:
    """Return the receipt of a publication, and the statement that it is of, which a verifier hashes as the leaf.

    Args:
        name: of the published file: `NAME.json`, `NAME.pdf`.
    """
    receipt = ExportedFile(path=f"{name}.receipt.cose", content=write_receipt(facts, sign))
    return receipt, ExportedFile(path=f"{name}.statement.json", content=facts.statement)
