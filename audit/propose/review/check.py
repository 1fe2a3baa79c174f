"""Whether claims that a person changed can be registered: what `caveat claim add` would refuse, told while they are at it."""

from collections.abc import Iterator, Mapping

from registry.errors import CaveatError, Fault, InputError
from registry.intake.anchor import AnchoredText
from registry.records.claim import QuoteStatus
from registry.records.draft import ClaimDraft, ClaimsFile
from registry.records.spec import PropertySpec
from registry.registration.claims import check_figures


def check_claims(file: ClaimsFile, text: AnchoredText, registered: Mapping[str, PropertySpec | None], *, fewest: int, where: str) -> None:
    """Raise InputError unless every claim of *file* could be registered.

    Args:
        text: the card, in which every verbatim quote must stand.
        registered: short names of properties that the registry has.
        fewest: claims that are expected at least.
        where: what the file is, as the person knows it.
    """
    faults = list(_find_faults(file, text, registered, fewest=fewest, where=where))
    if faults:
        raise InputError(faults)


def _find_faults(
    file: ClaimsFile, text: AnchoredText, registered: Mapping[str, PropertySpec | None], *, fewest: int, where: str
) -> Iterator[Fault]:
    if len(file.claims) < fewest:
        found = f"{len(file.claims)} claims, expected {fewest} at least"
        yield Fault(code="not-valid", where=f"{where}, claims", found=found, advice="copy the claim, and cut each quote to its part")
    for name in ("scorings", "test_contexts", "deploy_contexts", "left_out"):
        if getattr(file, name):
            found = "is not kept by a review"
            yield Fault(code="not-valid", where=f"{where}, {name}", found=found, advice="write it into the claims file afterwards")
    for position, draft in enumerate(file.claims):
        yield from _check_claim(draft, text, {**registered, **(file.properties or {})}, f"{where}, claims[{position}]")


def _check_claim(draft: ClaimDraft, text: AnchoredText, specs: Mapping[str, PropertySpec | None], where: str) -> Iterator[Fault]:
    if draft.quote_status is QuoteStatus.VERBATIM:
        try:
            text.find(draft.quote, page=draft.page, where=f"{where}.quote")
        except CaveatError as error:
            yield from error.faults
    try:
        check_figures(draft, specs.get(draft.property), where)
    except CaveatError as error:
        yield from error.faults
    if draft.property not in specs and not draft.property.startswith("PRP-"):
        found = f"no property {draft.property!r} here; there are: {', '.join(sorted(specs)) or 'none'}"
        yield Fault(
            code="spec-not-found", where=f"{where}.property", found=found, advice="define it under properties:, or name one of these"
        )
