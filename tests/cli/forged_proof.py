"""A log of two entries made in a test: a file of any bytes, published under a checkpoint that a key of the test signed."""

import hashlib
from datetime import UTC, datetime
from typing import Any

from registry.codec.statement_encoding import Consistency, PublicationExtra, encode_nodes, encode_published, encode_statement, leaf_hash
from registry.records.log_seal import Checkpoint, KeyAlgorithm
from registry.records.statement import OutputFormat, Publication, Statement
from registry.seal.merkle_tree import root_of
from registry.seal.signed_notes import format_proof, sign_checkpoint
from registry.seal.signing_keys import make_key

ORIGIN = "caveat.log/AISI/0123456789abcdef"


def publish_bytes(data: bytes, document: dict[str, Any]) -> tuple[bytes, str]:
    """Return the proof that the JSON file *data* was published, and the verifier key of the log."""
    publication = Publication(
        subject=str(document["identifier"]).partition("#")[0],
        format=OutputFormat.JSON,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        record="00" * 32,
        log_size=1,
        template="00" * 32,
    )
    statement = encode_statement(Statement(actor="AISI", at=datetime(2026, 11, 22, tzinfo=UTC), payload=publication, salt="11" * 16))
    first, second = hashlib.sha256(b"first").digest(), bytes.fromhex(leaf_hash(statement))
    key = make_key(KeyAlgorithm.ED25519, ORIGIN, seed=bytes(32))
    note = sign_checkpoint(Checkpoint(origin=ORIGIN, size=2, root=root_of([first, second]).hex()), [key])
    consistency = Consistency(size=1, root=first.hex(), path=encode_nodes([second]))
    extra = encode_published(PublicationExtra(statement=statement.decode(), consistency=consistency))
    return format_proof(1, [first], note, extra).encode(), str(key.vkey)
