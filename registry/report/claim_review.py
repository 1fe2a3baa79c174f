"""schema.org `ClaimReview` of an outcome: a courtesy to search engines and fact-check tools, inside the HTML supplement."""

from typing import Any

from registry.records.claim_status import Lifecycle
from registry.records.supplement import Supplement
from registry.report.claim_outcome import describe_restricted
from registry.report.supplement_wording import format_verdict, get_words

_OVER = (Lifecycle.SUPERSEDED, Lifecycle.WITHDRAWN, Lifecycle.REJECTED)


def build_claim_review(supplement: Supplement, record_digest: str) -> dict[str, Any] | None:
    """Return the review as JSON-LD; None for a claim without an outcome, which has not been reviewed, and for a superseded rendering.

    It has no `ratingValue`: a verdict is a word, and no point on a scale.
    """
    audit, outcome, status = supplement.audit, supplement.outcome, supplement.status
    if audit is None or audit.outcome is None or outcome is None or supplement.superseded is not None:
        return None
    leading = outcome.classification.primary
    # What leads for the family of the claim, as page one has it.
    verdict = (leading.verdict, leading.verdict_standing) if status.gravest is None else (status.gravest.verdict, status.gravest.standing)
    over = (status.lifecycle,) if status.lifecycle in _OVER else ()
    state = [get_words(word) for word in (*over, status.staleness, status.dispute)]
    return {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "identifier": supplement.identifier,
        "datePublished": f"{audit.outcome.entry.at:%Y-%m-%d}",
        "author": {"@type": "Organization", "name": audit.auditor.name or audit.auditor.code},
        "claimReviewed": supplement.attributed,
        "reviewBody": describe_restricted(audit),
        "reviewRating": {
            "@type": "Rating",
            "alternateName": "; ".join((format_verdict(*verdict), *state)),
            "ratingExplanation": supplement.verdict,
        },
        "itemReviewed": _describe_claim(supplement),
        "isBasedOn": {"@type": "MediaObject", "name": f"Canonical record of {supplement.identifier}", "sha256": record_digest},
    }


def _describe_claim(supplement: Supplement) -> dict[str, Any]:
    card = supplement.card
    claim: dict[str, Any] = {"@type": "Claim", "text": supplement.attributed}
    if card is not None:
        claim["author"] = {"@type": "Organization", "name": card.publisher}
        address = {"url": card.url} if card.url else {}
        claim["appearance"] = {"@type": "MediaObject", "name": card.title, "sha256": card.document, **address}
        if card.published is not None:
            claim["datePublished"] = card.published.isoformat()
    return claim
