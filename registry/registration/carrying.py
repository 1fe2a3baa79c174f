"""In which words a claim is carried from one model version to another."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from registry.records.claim import ClaimRevision, QuoteStatus
from registry.records.model import ModelRef
from registry.registration.quotes import Quotes
from registry.registration.rewording import check_numbers
from registry.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassage:
    """Where a newer card makes a claim of the new version in other words."""

    card: str
    """`CRD-…`, its newest revision, or `CRD-…@n`."""
    quote: str
    page: int | None = None
    """From 1; None means: wherever it stands."""


def carry_words(view: View, claim: ClaimRevision, to: ModelRef, passage: NewPassage) -> ClaimRevision:
    """Return *claim* as worded by *passage*, where it was found again; a paraphrase becomes the card's own words.

    What the versions are called may differ, and figures may not.

    Raises:
        InputError: the quote does not stand there; a number changed.
        NotFoundError: no such card.
    """
    quotes = Quotes(view, default=None, where="--card")
    card = quotes.get_card(passage.card, "--card")
    anchor = quotes.find(card, passage.quote, page=passage.page, where="--quote")
    before = claim.anchor.exact if claim.anchor else claim.quote
    check_numbers(claim, *(_leave_out_names(text, (claim.model, to)) for text in (before, anchor.exact)))
    return replace(
        claim, quote=anchor.exact, quote_status=QuoteStatus.VERBATIM, anchor=anchor, card=f"{card.card}@{card.revision}", source=None
    )


def write_model(model: ModelRef) -> str:
    """Return *model* as a command takes it, quoted for a shell where it must be."""
    import shlex  # noqa: PLC0415  (for messages alone)

    return shlex.quote(f"{model.developer}/{model.name}/{model.version}")


def _leave_out_names(text: str, models: Iterable[ModelRef]) -> str:
    """Return *text* without the names of *models* where the version stands behind, so that "Lumen 2" is no changed number."""
    for model in models:
        name, version = (r"[\s-]+".join(map(re.escape, part.split())) for part in (model.name, model.version))
        text = re.sub(rf"(?<!\w){name}[\s-]*{version}(?!\w|\.\d)", "", text, flags=re.IGNORECASE)
    return text
