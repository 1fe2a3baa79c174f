"""Commitments to sealed specifications: what may be published now of a body that is shown later, or only to some."""

import hashlib

from registry.codec.canonical import canonical_bytes
from registry.codec.documents import to_document
from registry.records.specification import SpecOpening


def commitment_of(opening: SpecOpening) -> str:
    """Return SHA-256(salt ‖ JCS({"body": …, "kind": …})), hexadecimal: it binds to the body and, by its salt, hides it."""
    document = {"kind": opening.spec_kind.value, "body": to_document(opening.body)}
    return hashlib.sha256(bytes.fromhex(opening.salt) + canonical_bytes(document)).hexdigest()
