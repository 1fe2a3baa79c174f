"""Parts of `caveat claim` for claims that a change may have overtaken: stale, confirm, carry, reword, restated, drift."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import CARD, CLAIM, App, as_of_option, examples, parse_model, pass_app, reason_option, record
from registry.cli.list_options import ListOutput, list_options
from registry.cli.main import LazyGroup
from registry.errors import Fault, InputError, NotFoundError
from registry.present.blocks import Block
from registry.records.claim import ClaimRelationKind
from registry.records.claim_status import CauseKind, StalenessVerdict
from registry.records.model_version import ModelRef
from registry.records.record import Identifier

if TYPE_CHECKING:
    from registry.records.supplement import Drift
    from registry.registration.model_lineage import AppliedClaim, NewPassage
    from registry.registration.passage_matching import Rewording
    from registry.registration.restated_values import QuantityFigure, RestatedPair
    from registry.registration.stale_claims import NamedCause
    from registry.report.version_drift import DriftFigure
    from registry.store.log_writer import Writer
    from registry.store.registry_view import View

_FEW = 20


@click.group(cls=LazyGroup, entry_points="caveat.commands.stale")
def stale() -> None:
    """Review claims that a change may have overtaken."""


# `caveat stale list`.


@examples("stale list", "stale list --model Lab/Lumen/1 --check", "stale list --columns claim,causes --csv > stale.csv")
@click.command("list")
@click.option("--model", metavar="DEV/NAME/VERSION", help="Only claims about this model version.")
@click.option("--card", type=CARD, help="Only claims of this card, or of this revision of it.")
@click.option("--limit", type=click.IntRange(1), help=f"List at most this many; default: {_FEW} of a cause, and all for programs.")
@click.option("--check", is_flag=True, help="Exit with 1 if there is any.")
@as_of_option
@pass_app
@list_options
def list_stale(app: App, /, *, output: ListOutput, model: str | None, card: Identifier | None, limit: int | None, check: bool) -> None:
    """List stale claims by cause, with the next command.

    Each cause is listed once, with the claims it touches and the command that resolves it for all of them. Claims with a supported or
    narrowed verdict come first, then other verdicts, then unaudited claims. Within these: published before others, confirmed before
    potential, more causes before fewer. Withdrawn, rejected and superseded claims are not listed. Columns: claim, model, verdict,
    staleness, causes, commands, quote.
    """
    from registry.cli.stale_presenter import build_stale_listing
    from registry.registration.card_registration import get_card
    from registry.registration.model_lineage import require_model
    from registry.registration.stale_causes import group_causes
    from registry.registration.stale_claims import RemedyPlanner, find_stale

    wanted = parse_model(model, where="--model") if model else None
    # By the clock: an outcome that expired today makes its claim stale today.
    with app.view(by_clock=True) as view:
        if card is not None:
            # A misspelt card or model would find nothing and look like good news.
            get_card(view, card.bare, card.revision)
        if wanted is not None:
            require_model(view, wanted)
        claims = find_stale(view, model=wanted, card=str(card) if card else None)
        planner = RemedyPlanner(view)
        steps = [(claim, planner.find(claim)) for claim in claims.claims]
        groups, size = group_causes(view, steps), view.log_size
    output.report(build_stale_listing(claims, steps, groups, log_size=size, limit=limit), limit=limit)
    if check and claims.claims:
        click.get_current_context().exit(1)


# `caveat stale confirm` and `caveat stale dismiss`: a person's decision on a change.


def _review_options(function: Callable[..., None]) -> Callable[..., None]:
    options = (
        click.argument("claims", type=CLAIM, nargs=-1),
        reason_option("What the decision rests on; it stays in the record."),
        click.option(
            "--cause", "causes", multiple=True, metavar="KIND[:WHAT]", help="Only this cause, such as card or spec:CTX-…@2; default: all."
        ),
        click.option("--model", metavar="DEV/NAME/VERSION", help="All claims about this version that a newer one made stale."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@examples('stale confirm CLM-LAB-2026-0001-E -m "trained on other data"', 'stale confirm --model Lab/Lumen/1 -m "all weights are new"')
@click.command()
@_review_options
@pass_app
def confirm(app: App, *, claims: tuple[Identifier, ...], reason: str, causes: tuple[str, ...], model: str | None) -> None:
    """Confirm that a change makes claims stale.

    Several claims are decided in one transaction, all or none; the same again changes nothing. The last decision on each cause counts.
    Causes: successor, deprecation, card, spec, method, objection, expiry, revision. caveat stale list names those of a claim.
    """
    _review(app, StalenessVerdict.CONFIRMED, claims, why=reason, causes=causes, model=model)


@examples('stale dismiss CLM-LAB-2026-0001-E --cause deprecation -m "only the price changed"')
@click.command()
@_review_options
@pass_app
def dismiss(app: App, *, claims: tuple[Identifier, ...], reason: str, causes: tuple[str, ...], model: str | None) -> None:
    """Decide that a change does not affect claims.

    The cause no longer counts, and the history keeps it. Several claims are decided in one transaction, all or none; the same again
    changes nothing. The last decision on each cause counts, and a later change is another cause. To apply a claim to another model
    version, use caveat stale apply.
    """
    _review(app, StalenessVerdict.DISMISSED, claims, why=reason, causes=causes, model=model)


def _review(
    app: App, verdict: StalenessVerdict, claims: Sequence[Identifier], *, why: str, causes: Sequence[str], model: str | None
) -> None:
    from registry.cli.claim_presenter import describe_status

    if bool(claims) == (model is not None):
        raise click.UsageError("name claims (CLM-…), or the version that they are about with --model; one of the two.")
    about = parse_model(model, where="--model") if model else None
    named = _parse_causes(causes)

    def work(writer: "Writer") -> list[dict[str, Any]]:
        chosen = _list_claims(writer, claims) if about is None else _list_about(writer, about)
        # A model names claims by one cause, so only that cause is decided.
        kinds = _only_successor() if about is not None and not named else named
        return _review_each(writer, chosen, verdict, why, kinds)

    # One transaction: all claims or none.
    done = record(app, work)
    new = [review for review in done if review["entry"] is not None]

    def text() -> Iterator[Block]:
        for review in new[:_FEW]:
            status = describe_status(review["status"])
            yield f"{review['claim']}: {verdict.value} {'; '.join(review['causes'])}, entry {review['entry']}; it is {status}"
        if len(new) > _FEW:
            yield f"… and {len(new) - _FEW:,} more {verdict.value}."
        if len(new) < len(done):
            yield f"{len(done) - len(new):,} decided so already; nothing was recorded of {'it' if len(done) == 1 else 'them'}."

    document = [{**review, "status": _to_document(review["status"])} for review in done]
    app.answer({"schema": "caveat/stale-review/1", "verdict": verdict.value, "why": why, "claims": document}, text())


def _to_document(status: Any) -> Any:
    from registry.codec.canonical_documents import to_document

    return to_document(status)


def _review_each(
    writer: "Writer", claims: Sequence[str], verdict: StalenessVerdict, why: str, causes: "Sequence[NamedCause] | None"
) -> list[dict[str, Any]]:
    from registry.registration.stale_claims import name_cause, review_claims

    reviews = review_claims(writer, claims, verdict, why=why, causes=causes)
    statuses = writer.find_statuses(claims)
    return [
        {
            "claim": claim,
            "causes": [name_cause(cause) for cause in review.payload.causes] if review else [],
            "entry": review.entry.seq if review else None,
            "status": statuses[claim],
        }
        for claim, review in zip(claims, reviews, strict=True)
    ]


def _list_claims(writer: "Writer", claims: Sequence[Identifier]) -> list[str]:
    for identifier in claims:
        # A revision or digest must exist, though the decision is about the claim.
        if identifier.revision or identifier.digest:
            writer.dossier(str(identifier))
    return list(dict.fromkeys(claim.bare for claim in claims))


def _list_about(writer: "Writer", model: ModelRef) -> list[str]:
    """Return the claims about *model* that another version made stale."""
    from registry.registration.model_lineage import require_model
    from registry.registration.stale_claims import find_stale

    require_model(writer, model)
    claims = find_stale(writer, model=model).claims
    chosen = [claim.claim for claim in claims if any(cause.kind is CauseKind.SUCCESSOR for cause in claim.status.causes)]
    # Nothing to decide is an error: a script would take it for done.
    if not chosen:
        text = "no claim about it is stale because another version took its place"
        raise InputError(Fault("nothing-to-review", str(model), text))
    return chosen


def _only_successor() -> "list[NamedCause]":
    from registry.registration.stale_claims import NamedCause

    return [NamedCause(kind=CauseKind.SUCCESSOR)]


def _parse_causes(texts: Sequence[str]) -> "list[NamedCause] | None":
    """Return the causes as written, `KIND` or `KIND:WHAT`; None without any. A model version may be written with slashes."""
    from registry.registration.stale_claims import NamedCause

    faults, causes = [], []
    for text in texts:
        kind, _, what = text.partition(":")
        if kind not in set(CauseKind):
            advice = f"write one of {', '.join(CauseKind)}, or KIND:WHAT as caveat stale list names it"
            faults.append(Fault("unknown-name", "--cause", f"{text!r} is not a cause", advice=advice))
            continue
        # A model version in a cause is written as on the command line.
        is_model = kind == CauseKind.SUCCESSOR and what.count("/") > 1
        named = str(parse_model(what, where="--cause")) if is_model else what
        causes.append(NamedCause(kind=CauseKind(kind), what=named or None))
    if faults:
        raise InputError(faults)
    return causes or None


# `caveat stale apply`: a claim is applied to a newer model version.
#
# Only by a revision with a reason, and inside the lineage. Outcomes belong to one revision, so none
# comes along (decision of 2026-11-22).


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryResult:
    """Outcome of one claim."""

    before: str
    """`CLM-…@n` as it was."""
    after: str
    """`CLM-…@n` as it is now; the same where it was carried before."""
    model: ModelRef
    entry: int
    audits: int
    """Of the earlier revision: none of them speaks for this one."""
    is_locked: bool
    """Whether one has a locked plan, which can be carried out again."""
    is_tuned: bool
    """Whether *model* is trained further from the earlier version and did not take its place."""
    turns: tuple[str, ...]
    """What changed in the sense of the words, where a newer card words the claim otherwise."""

    @property
    def is_new(self) -> bool:
        """Whether a revision was recorded."""
        return self.before != self.after


@examples(
    'stale apply CLM-LAB-2026-0001-E -m "repeated in the announcement"',
    'stale apply --all-from Lab/Lumen/1 --to Lab/Lumen/2 -m "same card" --dry-run',
)
@click.command()
@click.argument("claims", type=CLAIM, nargs=-1)
@click.option("--to", metavar="DEV/NAME/VERSION", help="The version to carry to; default: the one newest of its lineage.")
@reason_option("Why the claim is made of that version too; it stays in the record.")
@click.option("--all-from", metavar="DEV/NAME/VERSION", help="Carry every claim about this version that is not at its end.")
@click.option("--card", type=CARD, help="A newer card that makes the claim of that version in other words; with --quote.")
@click.option("--quote", help="Its words there; they are found again in --card.")
@click.option("--page", type=click.IntRange(1), help="Their page in --card.")
@click.option("--dry-run", is_flag=True, help="Check everything, record nothing.")
@pass_app
def apply(
    app: App, /, *, claims: tuple[Identifier, ...], to: str | None, reason: str, all_from: str | None, dry_run: bool, **passage: Any
) -> None:
    """Apply claims to a newer model version.

    Each claim continues as a new revision about that version, with your reason. Estimates and outcomes are not applied: the revision is
    unaudited. Quote and card stay, unless --card and --quote name the passage of a newer card. Several claims are recorded in one
    transaction, all or none. A claim about that version already stays as it is.
    """
    from registry.registration.model_lineage import carry_claims

    # With both, it would be unclear which claims are meant.
    if bool(claims) == (all_from is not None):
        raise click.UsageError("name claims (CLM-…), or the version that they are about with --all-from; one of the two.")
    words = _read_passage(claims, **passage)
    about = parse_model(all_from, where="--all-from") if all_from else None
    target = parse_model(to, where="--to") if to else None

    def work(writer: "Writer") -> list[CarryResult]:
        names = _list_claims(writer, claims) if about is None else _list_carried_over(writer, about)
        # The description is read in the same transaction as the revision, so that both agree, also
        # in a dry run.
        return [_describe(writer, claim) for claim in carry_claims(writer, names, target, why=reason, card=words)]

    done = record(app, work, dry_run=dry_run)
    _report(app, done, reason, dry_run=dry_run)


def _read_passage(claims: Sequence[Identifier], *, card: Identifier | None, quote: str | None, page: int | None) -> "NewPassage | None":
    from registry.registration.model_lineage import NewPassage

    if card is None and quote is None and page is None:
        return None
    # One without the other would leave words without a place, or a place without words.
    if card is None or quote is None:
        raise click.UsageError("--card and --quote belong together: the newer card, and its words.")
    # One passage cannot be the wording of several claims.
    if len(claims) != 1:
        raise click.UsageError("--card and --quote are for one claim; name only that claim.")
    return NewPassage(card=str(card), quote=quote, page=page)


def _list_carried_over(writer: "Writer", model: ModelRef) -> list[str]:
    from registry.registration.model_lineage import ENDED, require_model

    require_model(writer, model)
    return [claim.claim for claim in writer.list_claims(model=model) if claim.status.lifecycle not in ENDED]


def _describe(writer: "Writer", applied_claim: "AppliedClaim") -> CarryResult:
    from registry.intake.revision.passage_changes import find_turns

    before, after = applied_claim.before, applied_claim.after.payload
    # Only a new revision leaves audits behind.
    audits = writer.list_audits(before.reference) if applied_claim.is_new else ()
    turns = find_turns(before.quote, after.quote) if before.quote != after.quote else ()
    return CarryResult(
        before=before.reference,
        after=after.reference,
        model=after.model,
        entry=applied_claim.after.entry.seq,
        audits=len(audits),
        is_locked=any(audit.lock is not None for audit in audits),
        # A fine-tune takes no version's place, so the claim was current without it.
        is_tuned=applied_claim.is_new and after.model not in writer.lineage().successors(before.model),
        turns=tuple(map(str, turns)),
    )


def _report(app: App, done: Sequence[CarryResult], why: str, *, dry_run: bool) -> None:
    from registry.codec.canonical_documents import to_document

    new = [result for result in done if result.is_new]
    for result in new:
        # Changes of sense are said on standard error, where also a script's user sees them.
        for turn in result.turns:
            app.say(f"ATTENTION: {result.after}: {turn}")
    for model in dict.fromkeys(result.model for result in new if result.is_tuned):
        app.say(f"ATTENTION: {model} is a fine-tune: it took no version's place, so that the claim was current without it.")
    document = {
        "schema": "caveat/stale-apply/1",
        "why": why,
        "dry_run": dry_run,
        "claims": [
            {"from": result.before, "to": result.after, "model": to_document(result.model), "entry": result.entry, "new": result.is_new,
             "audits_left_behind": result.audits, "fine_tune": result.is_tuned, "turns": list(result.turns)}
            for result in done
        ],
    }  # fmt: skip

    def text() -> Iterator[Block]:
        for result in new:
            prefix = "To be recorded: " if dry_run else ""
            yield f"{prefix}{result.after} about {result.model}, applied from {result.before}, entry {result.entry}."
        if len(new) > _FEW:
            yield f"… and {len(new) - _FEW:,} more."
        if new:
            yield from _describe_unaudited(new)
        if len(new) < len(done):
            known = [result for result in done if not result.is_new]
            yield f"Nothing changes: {', '.join(f'{result.after} is about {result.model}' for result in known[:_FEW])} already."
        if not done:
            yield "Nothing changes: no claim is about that version that is not withdrawn, rejected or superseded."

    app.answer(document, text())


def _describe_unaudited(new: Sequence[CarryResult]) -> Iterator[Block]:
    left, is_one = sum(result.audits for result in new), len(new) == 1
    behind = f"{left:,} {'audit stays' if left == 1 else 'audits stay'} with the earlier {'revision' if is_one else 'revisions'}, and no"
    yield f"{'It is' if is_one else 'They are'} unaudited: {behind if left else 'no'} estimate comes along."
    first = new[0].after.partition("@")[0]
    yield f"Next: caveat {f'stale renew {first} --ask NAME -o DIR' if new[0].is_locked else f'audit new {first} > audit.yaml'}"


# `caveat claim reword`: a claim in the newer wording of its card.


@examples("claim reword CLM-LAB-2026-0001-E", 'claim reword CLM-LAB-2026-0001-E -m "to exceed is to be above" --yes')
@click.command()
@click.argument("claim_id", type=CLAIM)
@click.option("--quote", help="The passage of the newer card; default: the reworded one that was found.")
@reason_option("Why it is the same claim, in your words; added to the reason.", required=False)
@click.option("--yes", is_flag=True, help="Record it without asking.")
@pass_app
def reword(app: App, *, claim_id: Identifier, quote: str | None, reason: str | None, yes: bool) -> None:
    """Record the newer wording of a claim's passage.

    You confirm that it is the same claim in other words. Refused if a number changed: use caveat claim revise. Needs --reason if a
    negation, a bound, a qualification, a name, or a column head or the caption of a table row changed. Unchanged, moved or respelled
    passages need nothing.
    """
    from registry.registration.passage_matching import check_turns, find_rewording, record_rewording

    with app.view() as view:
        if claim_id.revision or claim_id.digest:
            view.dossier(str(claim_id))
        rewording = find_rewording(view, claim_id.bare, quote)
        audits = [audit.audit.payload for audit in view.dossier(claim_id.bare).audits]
    # Unchanged, moved, or spelled otherwise: there is nothing to reword.
    if rewording.anchor is None:
        _report_rewording(app, rewording, None)
        return
    _show(app, rewording, sum(audit.claim == rewording.claim.reference for audit in audits))
    check_turns(rewording, reason)
    if not yes:
        app.require_yes("Is this the same claim?")
    # The matching was read before the question; recording checks it again.
    with app.ledger.write(actor=app.config.authority) as writer:
        revised = record_rewording(writer, rewording, reason)
    _report_rewording(app, rewording, revised.reference)


def _show(app: App, rewording: "Rewording", audits: int) -> None:
    from registry.cli.card_comparison_presenter import render_redline

    if rewording.anchor and rewording.claim.anchor:
        app.say(f"{rewording.claim.reference} in {rewording.card.card}@{rewording.card.revision}:")
        app.say(f"  {render_redline(rewording.claim.anchor.exact, rewording.anchor.exact)}")
        for turn in rewording.turns:
            app.say(f"ATTENTION: {turn}")
        if audits:
            noun, verb = ("audit", "speaks") if audits == 1 else ("audits", "speak")
            app.say(f"{audits} {noun} of {rewording.claim.reference} {verb} of the old wording only; their outcomes stay as history.")


def _report_rewording(app: App, rewording: "Rewording", revised: str | None) -> None:
    document = {
        "schema": "caveat/claim-reword/1",
        "claim": rewording.claim.reference,
        "match": rewording.passage_match.match_result.value,
        "card": f"{rewording.card.card}@{rewording.card.revision}",
        "revised": revised,
        "turns": [{"what": turn.what, "words": turn.words} for turn in rewording.turns],
    }
    spelling = " only in spelling" if rewording.passage_match.differs else ""
    card, match_result = rewording.card, rewording.passage_match.match_result
    nothing = f"{rewording.claim.reference} is {match_result.value}{spelling} in {card.card}@{card.revision}."
    done = f"Recorded {revised}. Audits of {rewording.claim.reference} are history: they are about the old words."
    done += f"\nNext: caveat audit new {rewording.claim.claim}"
    app.answer(document, done if revised else f"{nothing} Nothing needs doing: its audits still count.")


# `caveat claim restated`: claims that give different numbers for one quantity. Nothing is related
# without a person (decision of 2026-11-22).

_MOST_PAIRS = 50


@examples("claim restated", "claim restated --card CRD-LAB-2026-0001-J", "claim restated --csv > restated.csv")
@click.command()
@click.option("--card", type=CARD, help="Only where one of the two claims quotes this card.")
@click.option("--limit", type=click.IntRange(1), help=f"At most this many; default: {_MOST_PAIRS}, and all for programs or an order.")
@as_of_option
@pass_app
@list_options
def restated(app: App, /, *, output: ListOutput, card: Identifier | None, limit: int | None) -> None:
    """Find claims that give two numbers for one quantity.

    They have the same model, property and evaluation. Numbers are compared after rounding to the coarser of the two. Nothing is
    recorded: each pair comes with the command that records it, for you to run after reading both passages. Columns: claim, value,
    restates, stated, why, recorded, command, quote, restated_quote.
    """
    from registry.cli.application import track
    from registry.present.listings import Column, Listing
    from registry.registration.card_registration import get_card
    from registry.registration.restated_values import find_pairs, read_figures

    with app.view() as view:
        if card is not None:
            get_card(view, card.bare, card.revision)
        with track(app, "reading claims", unit="claims") as progress:
            figures = read_figures(view, progress=progress)
        most = limit if limit or output.is_for_programs or output.is_arranged else _MOST_PAIRS
        # One more than asked for shows that there are more.
        pairs = list(islice(find_pairs(figures, card=card.bare if card else None), most and most + 1))
        rows = [(pair, _is_recorded(view, pair)) for pair in pairs[:most]]
        size = view.log_size
    claims = f"{len(figures):,} {'claim' if len(figures) == 1 else 'claims'} with a number"

    def present(rows: "Sequence[tuple[RestatedPair, bool]]") -> Iterator[Block]:
        for pair, is_recorded in rows:
            yield from _present_pair(pair, recorded=is_recorded)
        number = f"{len(rows)} {'pair' if len(rows) == 1 else 'pairs'}"
        yield f"{number} among {claims}." + (" There are more: --limit." if len(pairs) > len(rows) else "")

    columns: tuple[Column[tuple[RestatedPair, bool]], ...] = (
        Column(name="claim", read=lambda row: row[0].claim.claim),
        Column(name="value", read=lambda row: row[0].claim.value, is_number=True),
        Column(name="restates", read=lambda row: row[0].other.claim),
        Column(name="stated", read=lambda row: row[0].other.value, is_number=True),
        Column(name="why", read=lambda row: row[0].why, is_spare=True),
        Column(name="recorded", read=lambda row: row[1]),
        Column(name="command", read=lambda row: _write_command(row[0]), is_shown=False),
        Column(name="quote", read=lambda row: row[0].claim.quote, is_shown=False),
        Column(name="restated_quote", read=lambda row: row[0].other.quote, is_shown=False),
    )
    document = {
        "schema": "caveat/restated/1", "log_size": size, "card": card.bare if card else None, "figures": len(figures),
        "has_more": len(pairs) > len(rows),
    }  # fmt: skip
    listing = Listing(
        document=document, field="pairs", rows=rows, describe=lambda row: _summarise(row[0], recorded=row[1]), columns=columns,
        none=f"0 pairs among {claims}.", present=None if output.is_arranged else present,
    )  # fmt: skip
    output.report(listing)


def _is_recorded(view: "View", pair: "RestatedPair") -> bool:
    # Relations have a direction, and either claim may have been named first.
    ends = {_bare(pair.claim), _bare(pair.other)}
    relations = (relation.payload for relation in view.list_relations(_bare(pair.claim)))
    return any(
        claim_relation.relation is ClaimRelationKind.RESTATES and {claim_relation.claim, claim_relation.other} == ends
        for claim_relation in relations
    )


def _bare(figure: "QuantityFigure") -> str:
    return (figure.claim or "").partition("@")[0]


def _write_command(pair: "RestatedPair") -> str:
    return f"caveat claim relate {_bare(pair.claim)} restates {_bare(pair.other)}"


def _summarise(pair: "RestatedPair", *, recorded: bool) -> dict[str, Any]:
    return {
        "claim": _summarise_figure(pair.claim),
        "restates": _summarise_figure(pair.other),
        "range": list(pair.claim.range),
        "why": pair.why,
        "recorded": recorded,
        "command": _write_command(pair),
    }


def _summarise_figure(figure: "QuantityFigure") -> dict[str, Any]:
    return {
        "claim": figure.claim,
        "card": figure.card,
        "value": figure.value,
        "relation": figure.relation.value if figure.relation else None,
        "quote": figure.quote,
    }


def _present_pair(pair: "RestatedPair", *, recorded: bool) -> Iterator[Block]:
    from registry.cli.claim_presenter import shorten

    for figure, says in ((pair.claim, "states"), (pair.other, "stated")):
        number = f"{figure.relation.value} {figure.value:g}" if figure.relation else f"{figure.value:g}"
        lead = "" if figure is pair.claim else "  where "
        yield f"{lead}{figure.claim} {says} {number} ({figure.card or 'no card'})"
        yield f"    “{shorten(figure.quote)}”"
    yield f"  why: {pair.why}"
    yield "  recorded already\n" if recorded else f"  {_write_command(pair)}\n"


# `caveat claim drift`: one claim over model versions.


@examples("claim drift CLM-LAB-2026-0001-E", "claim drift CLM-LAB-2026-0001-E --figure drift.svg")
@click.command()
@click.argument("claim_id", type=CLAIM)
@click.option("--figure", type=click.Path(path_type=Path, dir_okay=False), help="Draw it to this file too, as SVG.")
@click.option("--spec", help="With --figure: against this specification of P_deploy, not the first.")
@as_of_option
@pass_app
def drift(app: App, *, claim_id: Identifier, figure: Path | None, spec: str | None) -> None:
    """Show the results of a claim over model versions.

    Changes come from a recorded comparison task by task, if there is one. Else they are differences of the recorded estimates, with
    wider intervals.
    """
    from registry.cli.claim_presenter import present_drift
    from registry.cli.log_commands import write_whole
    from registry.codec.canonical_documents import to_document
    from registry.report.version_drift import build_points

    if spec is not None and figure is None:
        # Without a figure the option would be ignored.
        raise click.UsageError("--spec is for --figure")
    with app.view() as view:
        dossier = view.dossier(str(claim_id))
    if not dossier.revisions:
        problem = "is reserved and has no text yet, so it names no model version"
        raise NotFoundError(Fault("identifier-reserved", dossier.claim, problem))
    found_drift = build_points(dossier)
    if figure is not None:
        from registry.report.html_rendering import render_drift

        write_whole(figure, render_drift(_choose(found_drift, spec)))
    document = {**to_document(found_drift), "log_size": dossier.log_size, "figure": None if figure is None else str(figure)}
    app.answer(document, present_drift(found_drift))
    if figure is not None:
        app.say(f"Wrote {figure}")


def _choose(drift: "Drift", spec: str | None) -> "DriftFigure":
    """Return the figure that is asked for.

    Raises:
        NotFoundError: no revision has an estimate, or none against *spec*.
    """
    from registry.report.version_drift import build_drift_figures, count_keys

    # All specifications, so that any of them can be chosen.
    figures = build_drift_figures(drift, most=count_keys(drift))
    if not figures:
        problem, advice = "no revision has an estimate, so there is nothing to render", "see what there is without --figure"
        raise NotFoundError(Fault("nothing-to-draw", drift.claim, problem, advice=advice))
    if spec is None:
        return figures[0]
    chosen = next((figure for figure in figures if spec in (figure.spec, figure.name)), None)
    if chosen is None:
        problem = (
            f"no estimate is against {spec!r}; there are estimates against: {', '.join(drift_figure.name for drift_figure in figures[:10])}"
        )
        raise NotFoundError(Fault("nothing-to-draw", drift.claim, problem, advice="name one of these with --spec"))
    return chosen
