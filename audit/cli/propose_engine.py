"""From a card to the proposals that a person asked for: the engine, what stands of its answer, and what is told of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from audit.cli.propose_card import Found
from audit.cli.propose_text import tell_proposals
from audit.propose.offer_grounding import doubt_addressed
from audit.propose.proposal_review import CardSelection
from audit.propose.proposed_claims_file import build_survey, drop_left_out, drop_registered, drop_sighted, drop_unanchored
from registry.cli.application import App, track
from registry.records.claim_draft import Proposals, SurveyDraft
from registry.records.system_card import Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What a person gets to see."""

    proposals: Proposals
    survey: SurveyDraft
    """Everything that the engine proposed, whatever was chosen of it: the same for every file of one card and engine."""
    told: tuple[str, ...]
    """Lines about it: what was read, proposed, dropped and not read."""


def read_passages(app: App, found: Found) -> Outline:
    """Return the card's passages."""
    from registry.intake.outline.card_passages import read_outline

    pages = len(found.text.pages)
    with track(app, "reading passages", total=pages, unit="pages") as advance:
        outline = read_outline(found.text)
        advance(pages)
    return outline


def offer(app: App, found: Found, outline: Outline, choice: CardSelection, options: Mapping[str, Any]) -> Offered:
    """Return what the engine proposes, as far as it was asked for, stands in the card, and nobody has decided on yet."""
    from registry.registration.restated_values import add_restated

    narrowed = choice.narrow(outline, found.text)
    whole = doubt_addressed(drop_unanchored(_ask(app, found, outline, choice, options), found.text), outline)
    chosen, unsure = choice.keep(whole, narrowed)
    new, registered = drop_registered(chosen, found.claims)
    new, sighted = drop_sighted(new, found.sighted)
    still, left_out = drop_left_out(new, found.left_out)
    proposals = add_restated(still, found.figures)
    told = tell_proposals(proposals, unsure=unsure, registered=registered, sighted=sighted, left_out=left_out)
    warnings = (f"warning: {one}" for one in found.text.warnings)
    return Offered(proposals=proposals, survey=build_survey(whole), told=(*warnings, *told))


def _ask(app: App, found: Found, outline: Outline, choice: CardSelection, options: Mapping[str, Any]) -> Proposals:
    """The rules read the whole card, since what stands elsewhere tells whose a figure is; a model is asked about the chosen part alone."""
    if options["engine"] == "claude":
        from audit.cli.propose_calls import propose

        proposals = propose(app, found, choice.narrow(outline, found.text), options)
        part = choice.describe()
        return replace(proposals, by=f"{proposals.by}, {part}") if part else proposals
    from audit.propose.rule_engine import propose_by_rules

    with track(app, "proposing", total=len(outline.passages), unit="passages") as advance:
        return propose_by_rules(found.text, outline, found.source, _count_up(advance))


def _count_up(advance: Callable[[int], None]) -> Callable[[int], None]:
    """Return what shows how many passages are read on a bar that is told how many more."""
    shown = 0

    def show(count: int) -> None:
        nonlocal shown
        advance(count - shown)
        shown = count

    return show
