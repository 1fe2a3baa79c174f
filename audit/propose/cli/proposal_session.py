"""What `caveat claim propose` works with: the card, the engine and its calls, and what is told of the proposals."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.cli.model_calls import CallPurpose, build_asker, describe_amount, find_prices
from audit.propose.candidate_spans import CardReading
from audit.propose.card_models import CardSource
from audit.propose.figure_account import account_for_figures, describe_account
from audit.propose.model_engine import AnswerSession, forecast_calls, plan_calls, propose_by_model
from audit.propose.model_questions import QuestionSettings
from audit.propose.proposal_building import combine_engines
from audit.propose.proposal_ranking import TOP, select_top
from audit.propose.proposal_review import CardSelection
from audit.propose.proposed_claims_file import build_survey, count_dropped, drop_excluded, drop_registered, drop_sighted, drop_unanchored
from audit.replay.call_engine import UNSENT
from audit.replay.run_budget import SpentAmount, count_spent, format_usd
from audit.replay.run_store import RunStore, open_store
from registry.cli.application import App, track
from registry.errors import CaveatError, Fault, NotFoundError
from registry.records.claim import ClaimRevision, Form
from registry.records.claim_draft import Confidence, Engine, Proposals, SurveyDraft
from registry.records.model_version import ModelRef
from registry.records.record import Kind, parse_identifier
from registry.records.replay_run import Probe
from registry.records.specification import ModelApi, PropertySpec, SpecKind
from registry.records.system_card import Anchor, Card, CardText, Omission, Outline
from registry.report.number_format import format_items

if TYPE_CHECKING:
    from registry.registration.restated_values import QuantityFigure
    from registry.store.registry_view import View

# The card that `caveat claim propose` reads: registered or a file, with what the registry knows beside its text.


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCard:
    """A card with what is known of it."""

    text: CardText
    source: CardSource
    models: tuple[ModelRef, ...] = ()
    """Registered model versions of this publisher."""
    registered: Mapping[str, PropertySpec | None]
    """Short names of registered properties; None for a sealed one."""
    claims: tuple[ClaimRevision, ...] = ()
    """Those that are registered of this card, whatever its revision."""
    sighted: tuple[tuple[ClaimRevision, Anchor], ...] = ()
    """Claims that quote another revision of the card, each with the place of its passage in this one, where it stands as it did."""
    excluded: tuple[Omission, ...] = ()
    """Passages of this card that are deliberately not registered."""
    figures: "tuple[QuantityFigure, ...]" = ()
    """Numbers of registered claims, to find what is restated; empty where there is no registry."""


def find_card(app: App, name: str) -> KnownCard:
    """Return the card called *name*: an identifier `CRD-…[@n]`, or the path of a file, which is known by its digest if it is registered.

    Raises:
        NotFoundError: neither a registered card nor a file.
        InputError: the file cannot be read as a card.
    """
    path = Path(name)
    if name.startswith("CRD-") and not path.exists():
        return _read_registered(app, name)
    if not path.exists():
        found = "neither a registered card nor a file"
        raise NotFoundError(Fault("card-not-found", name, found))
    registered = _find_registered(app, path)
    if registered is not None:
        return registered
    from registry.intake.card_reader import read_card

    text, source = read_card(path), CardSource(title=path.stem, publisher=None, card=None)
    if not _has_registry(app):
        return KnownCard(text=text, source=source, registered={})
    with app.view() as view:
        return KnownCard(text=text, source=source, registered=_list_properties(app, view), figures=_read_figures(view))


def _find_registered(app: App, path: Path) -> KnownCard | None:
    """Return the registered card that the file at *path* is, known by its digest; None for another file, and where there is no registry."""
    if not (path.is_file() and _has_registry(app)):
        return None
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    with app.view() as view:
        card = view.find_card_by_document(digest)
        if card is None:
            return None
        app.say(f"{path.name} is registered as {card.payload.card}@{card.payload.revision}")
        return _gather(app, view, card.payload)


def _read_registered(app: App, name: str) -> KnownCard:
    from registry.registration.card_registration import get_card

    try:
        identifier = parse_identifier(name, Kind.CARD)
    except ValueError as error:
        raise NotFoundError(Fault("bad-identifier", name, str(error))) from error
    with app.view() as view:
        return _gather(app, view, get_card(view, identifier.bare, identifier.revision))


def _gather(app: App, view: "View", card: Card) -> KnownCard:
    from registry.registration.card_registration import get_card_text

    known = tuple(model.payload.model for model in view.list_models() if model.payload.model.developer == card.publisher)
    names = tuple(dict.fromkeys(ref.name for ref in known))
    source = CardSource(title=card.title, publisher=card.publisher, card=f"{card.card}@{card.revision}", models=names)
    claims = tuple(_read_claims(view, card))
    return KnownCard(
        text=get_card_text(view, card),
        source=source,
        models=known,
        registered=_list_properties(app, view),
        claims=claims,
        sighted=tuple(_find_sighted(view, card, claims)),
        excluded=tuple(omission.payload for omission in view.list_omissions(card.card)),
        figures=_read_figures(view),
    )


def _read_claims(view: "View", card: Card) -> Iterator[ClaimRevision]:
    numbers = [claim.seq for claim in view.list_claims(card=card.card) if claim.quote is not None]  # None: reserved, or its text was erased
    yield from (one.payload for one in view.recorded(numbers))


def _find_sighted(view: "View", card: Card, claims: tuple[ClaimRevision, ...]) -> Iterator[tuple[ClaimRevision, Anchor]]:
    """Yield the claims whose passages were seen in *card* and need no decision there, as they are recorded."""
    current = {claim.reference: claim for claim in claims}
    for passage_match in view.list_passage_matches(card=f"{card.card}@{card.revision}"):
        seen = passage_match.payload
        if seen.anchor is not None and not seen.is_alarm and seen.claim in current:
            yield current[seen.claim], seen.anchor


def _list_properties(app: App, view: "View") -> dict[str, PropertySpec | None]:
    specs = (spec.payload for spec in view.list_specs(SpecKind.PROPERTY) if spec.payload.owner == app.config.authority)
    bodies = {version.slug: view.open_spec(version) for version in specs}
    return {slug: body if isinstance(body, PropertySpec) else None for slug, body in bodies.items()}


def _read_figures(view: "View") -> "tuple[QuantityFigure, ...]":
    from registry.registration.restated_values import read_figures

    return read_figures(view)


def _has_registry(app: App) -> bool:
    """Whether there is a registry here; without one a file is read all the same."""
    try:
        return app.ledger is not None
    except CaveatError as error:
        if error.code == "registry-not-found" and app.registry is None:
            return False
        raise


# The part of `caveat claim propose` that asks a language model: what it would take, its calls, and the limits on them.


_PLAN = "caveat/proposal-plan/1"


def report_plan(app: App, known_card: KnownCard, outline: Outline, options: Mapping[str, Any]) -> None:
    """Report what asking about the card would come to; nothing is sent, and no folder is made."""
    asking, prices, folder = _build_asking(options), find_prices(options), _name_folder(known_card, options)
    with closing(open_store(folder)) if (folder / "responses.db").is_file() else nullcontext() as store:
        plan = forecast_calls(plan_calls(known_card.text, outline, asking, store=store), prices, store)
    amount = plan.amount
    document = {
        "schema": _PLAN,
        "model": asking.model,
        "windows": plan.windows,
        "answered": plan.answered,
        "calls": amount.calls,
        "input_tokens": amount.input_tokens,
        "most_output_tokens": amount.output_tokens,
        "most_usd": amount.usd if amount.calls else 0.0,
    }
    message = describe_amount(amount, recipient=f" to {asking.model}") if amount.calls else "no call is to be made"
    heading = f"{plan.windows:,} windows, {plan.answered:,} of them answered in {folder}"
    app.answer(document, f"{heading}\n{message}")


def propose(app: App, known_card: KnownCard, outline: Outline, options: Mapping[str, Any]) -> Proposals:
    """Return what the language model proposes; answers are kept in the run folder, and never asked for twice.

    Raises:
        CaveatError: a limit was reached, the endpoint cannot be used, or it was ended by request: what was answered is kept.
    """
    asking = _build_asking(options)
    with closing(open_store(_name_folder(known_card, options), create=True)) as store:
        prices = find_prices(options)
        # A local model speaks the chat API that most servers have, unless --api says otherwise.
        api = options["api"] or (ModelApi.OPENAI_CHAT if options["engine"] == Engine.LOCAL else None)
        wanted = Probe(model=asking.model, max_tokens=asking.max_tokens, base_url=options["base_url"], api=api)
        purpose = CallPurpose(schema=_PLAN, doing=f"asking {asking.model}", open_="parts of the card are still to be read")
        ask, before = build_asker(app, store, wanted, options, purpose), count_spent(store, prices, UNSENT)
        session = AnswerSession(store=store, ask=ask, retry_failed=options["retry_failed"], repeat_lost=options["repeat_lost"])
        try:
            return propose_by_model(known_card.text, outline, known_card.source, asking, session, engine=Engine(options["engine"]))
        finally:
            app.say(_tell_spent(store, before, count_spent(store, prices, UNSENT)))


def _tell_spent(store: RunStore, before: SpentAmount, spent: SpentAmount) -> str:
    """Tell what was sent now, and what the run folder has cost in all."""
    cost = "cost unknown: no price for it (--prices FILE)" if spent.usd is None else format_usd(spent.usd)
    tokens = f"{spent.input_tokens:,} input, {spent.output_tokens:,} output"
    return f"{store.path.parent}: calls {spent.calls - before.calls:,} now, {spent.calls:,} in all; tokens in all {tokens}; {cost}"


def _build_asking(options: Mapping[str, Any]) -> QuestionSettings:
    asking = QuestionSettings(model=options["with_model"])
    return asking if options["max_tokens"] is None else replace(asking, max_tokens=options["max_tokens"])


def _name_folder(known_card: KnownCard, options: Mapping[str, Any]) -> Path:
    """Where answers are kept: a folder for each card, so that the same command goes on."""
    run: Path | None = options["run"]
    return run or Path(f"{known_card.text.sha256[:12]}.proposing")


# What `caveat claim propose` tells of its proposals, on standard error.

_MOST_REASONS = 8


def tell_proposals(proposals: Proposals, hidden: Mapping[str, int]) -> Iterator[str]:
    """Give, line by line, what was read, proposed, dropped and not read.

    Args:
        hidden: why proposals are not shown, in words, and how many.
    """
    found = proposals.proposals
    yield f"{proposals.by}: {format_items(len(found), 'claim')} proposed from {proposals.passages:,} passages of {proposals.title}"
    if found:
        forms, levels = Counter(proposal.form for proposal in found), Counter(proposal.confidence for proposal in found)
        yield f"  form: {', '.join(f'{form.value} {forms[form]}' for form in Form if forms[form])}"
        yield f"  confidence: {', '.join(f'{confidence.value} {levels[confidence]}' for confidence in Confidence if levels[confidence])}"
    yield from (f"  {reason.format(count=count)}" for reason, count in hidden.items() if count)
    yield from _tell_doubts(proposals)


def _tell_doubts(proposals: Proposals) -> Iterator[str]:
    """Give what of the proposals needs a look: restated claims, what was dropped, and what could not be read of the card."""
    found = proposals.proposals
    if unknown := sum(bool(proposal.unknown) for proposal in found):
        yield f"  direction not known, to be set in review: {unknown}"
    if restated := sum(bool(proposal.restates) for proposal in found):
        yield f"  may restate a registered claim with another number: {restated}"
    if proposals.dropped:
        reasons = count_dropped(proposals)
        yield f"  offered and dropped: {len(proposals.dropped)}"
        yield from (f"    {count} × {reason}" for reason, count in reasons[:_MOST_REASONS])
        if len(reasons) > _MOST_REASONS:
            yield f"    and {len(reasons) - _MOST_REASONS} more reasons (--json has them all)"
    yield from (f"note: {note}" for note in proposals.notes)
    if proposals.account is not None:
        yield from (f"  {line}" for line in describe_account(proposals.account))


# From a card to the proposals that a person asked for: the engine, what stands of its answer, and what is told of it.


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalAnswer:
    """What a person gets to see."""

    proposals: Proposals
    survey: SurveyDraft
    """Everything that the engine proposed, whatever was chosen of it: the same for every file of one card and engine."""
    told: tuple[str, ...]
    """Lines about it: what was read, proposed, dropped and not read."""


def read_passages(app: App, known_card: KnownCard) -> Outline:
    """Return the card's passages."""
    from registry.intake.outline.card_passages import read_outline

    pages = len(known_card.text.pages)
    with track(app, "reading passages", total=pages, unit="pages") as advance:
        outline = read_outline(known_card.text)
        advance(pages)
    return outline


def offer(app: App, known_card: KnownCard, outline: Outline, choice: CardSelection, options: Mapping[str, Any]) -> ProposalAnswer:
    """Return what the engine proposes, as far as it was asked for, stands in the card, and is undecided."""
    from registry.registration.restated_values import add_restated

    reading = CardReading(known_card.text, outline, known_card.source)
    narrowed = choice.narrow(reading.outline, known_card.text)
    whole = drop_unanchored(_ask(app, known_card, outline, choice, options), known_card.text)
    chosen, unsure = choice.keep(whole, narrowed)
    new, registered = drop_registered(chosen, known_card.claims)
    new, elsewhere = drop_sighted(new, known_card.sighted)
    still, excluded = drop_excluded(new, known_card.excluded)
    account = account_for_figures(reading, whole.proposals, narrowed.passages)
    top = len(still.proposals) if options["all_"] else options["top"] or TOP
    kept = still.proposals if options["all_"] else select_top(still.proposals, top, with_rows=options["review"] is not None)
    proposals = add_restated(replace(still, proposals=kept, account=account), known_card.figures)
    lower = len(still.proposals) - len(proposals.proposals)
    rows = 0 if options["all_"] or options["review"] is not None else _count_rows(still, proposals)
    hidden = {
        "registered already, and not proposed again: {count}": registered,
        "registered of another revision of the card, whose passage is here too, and not proposed again: {count}": elsewhere,
        "left out before, and not proposed again: {count}": excluded,
        "not shown, because they matter less: {count:,} (--all shows them)": lower - rows,
        "folded into the first row of its table of capabilities: {count:,} (--all or --review shows them)": rows,
        "below --min-confidence: {count}": unsure,
    }
    warnings = (f"warning: {warning}" for warning in known_card.text.warnings)
    return ProposalAnswer(proposals=proposals, survey=build_survey(whole), told=(*warnings, *tell_proposals(proposals, hidden)))


def _ask(app: App, known_card: KnownCard, outline: Outline, choice: CardSelection, options: Mapping[str, Any]) -> Proposals:
    """The rules read the whole card, since what is elsewhere says whose a figure is; a model is asked about the chosen part only.

    The rules cost nothing, so they also read what a model reads: where both agree, confidence rises.
    """
    from audit.propose.rule_engine import propose_by_rules

    asked = None if options["engine"] == Engine.RULES else propose(app, known_card, choice.narrow(outline, known_card.text), options)
    with track(app, "proposing", total=len(outline.passages), unit="passages") as advance:
        ruled = propose_by_rules(known_card.text, outline, known_card.source, advance)
    if asked is None:
        return ruled
    part = choice.describe()
    combined = combine_engines(asked.proposals, ruled.proposals, by=ruled.by)
    return replace(asked, proposals=combined, by=f"{asked.by}, {part}" if part else asked.by)


def _count_rows(whole: Proposals, chosen: Proposals) -> int:
    """How many rows are folded into the tables whose first row was chosen."""
    shown = {proposal.table for proposal in chosen.proposals if proposal.table is not None}
    rows = sum(proposal.table in shown for proposal in whole.proposals)
    return rows - sum(proposal.table is not None for proposal in chosen.proposals)
