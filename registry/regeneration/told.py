"""What a folder's list says of a supplement, taken from the supplement when it is drawn."""

from dataclasses import replace

from registry.records.supplement import CardSupplement, Supplement
from registry.regeneration.folder_document import SupplementDigest

_LONGEST = 200
"""Characters of a quote or title that a list shows."""


def tell(supplement: Supplement | CardSupplement) -> SupplementDigest:
    """Return what is shown of *supplement*."""
    return _tell_claim(supplement) if isinstance(supplement, Supplement) else _tell_card(supplement)


def _tell_claim(supplement: Supplement) -> SupplementDigest:
    claim, outcome = supplement.claim.payload, supplement.outcome
    reading = outcome.classification.primary if outcome else None
    found = supplement.audit.estimate if supplement.audit and outcome else None
    ed = found.specs[0].ed if found and found.specs else None
    return SupplementDigest(
        made_at=supplement.made_at,
        title=_shorten(supplement.original),
        card=claim.card,
        model=str(claim.model),
        status=replace(supplement.status, causes=()),
        class_=reading.class_ if reading else None,
        standing=reading.standing if reading else None,
        mode=reading.mode if reading else None,
        point_class=reading.printed_point_class if reading else None,
        ed=ed.value if ed else None,
        low=ed.low if ed else None,
        high=ed.high if ed else None,
        level=found.level if found and ed else None,
    )


def _tell_card(supplement: CardSupplement) -> SupplementDigest:
    audited = len(supplement.claims) - len(supplement.unaudited)
    title = _shorten(supplement.card.title)
    return SupplementDigest(made_at=supplement.made_at, title=title, card=None, model=None, claims=len(supplement.claims), audited=audited)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
