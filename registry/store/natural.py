"""What makes two claims the same claim, whoever numbered them."""

import hashlib
import json

from registry.records.claim import ClaimRevision

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def natural_key(claim: ClaimRevision) -> str:
    """Return the SHA-256 (hexadecimal) of what a claim says, apart from its number, revision and figures.

    That is: the card without its revision (the source, for a claim without a card), the property without its version, the form, the model,
    and the quote with white space folded. Where the quote begins is left out: it moves when the card is revised, and the claim does not.
    """
    parts = (
        claim.card.partition("@")[0] if claim.card else None,
        None if claim.card else claim.source,
        claim.property.partition("@")[0],
        claim.form.value,
        claim.model.developer,
        claim.model.name,
        claim.model.version,
        " ".join(claim.quote.split()),
    )
    return hashlib.sha256(_encode(parts).encode()).hexdigest()
