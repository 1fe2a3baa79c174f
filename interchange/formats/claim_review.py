"""schema.org `ClaimReview`, as the HTML supplement has it, in a file of its own."""

from interchange.formats.export_record import ExportedFile, ExportRequest, write_json
from registry.report.claim_review import build_claim_review

LOST = (
    "θ and direction",
    "figures and intervals, beyond the sentence",
    "contexts",
    "model version, beyond the text",
    "plan and lock",
    "objections, beyond a word",
    "history",
    "proof",
)


def map_claim_review(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the review."""
    review = build_claim_review(request.record.claim, request.record.sha256)
    if review is None:
        raise ValueError("the catalogue of formats refuses a claim without an outcome")
    review["isBasedOn"]["name"] = request.record.file_name
    return (ExportedFile(path=f"{request.record.name}.jsonld", content=write_json(review)),)
