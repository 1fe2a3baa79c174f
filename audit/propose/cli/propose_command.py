"""`caveat claim propose`: claims proposed from a card, for a person to accept, change or leave out."""

import errno
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.analysis_options import FILE, api_option, send_key_option
from registry.cli.application import App, examples, pass_app
from registry.errors import ConflictError, Fault

if TYPE_CHECKING:
    from audit.propose.cli.proposal_session import KnownCard, ProposalAnswer
    from audit.propose.proposal_review import CardSelection, ReviewJournal
    from audit.propose.proposed_claims_file import KnownModels
    from registry.records.claim_draft import Proposals
    from registry.records.model_version import ModelRef
    from registry.records.system_card import Outline

_OUTPUT = click.Path(dir_okay=False, path_type=Path)
_NEW = click.Path(file_okay=False, path_type=Path)
_CHOICES = ("section", "page", "min_confidence", "model", "top")
_OF_MODELS = (
    *("with_model", "base_url", "api", "run", "dry_run", "max_tokens", "max_calls"),
    *("max_usd", "prices", "retry_failed", "repeat_lost", "batch"),
)


@examples(
    "claim propose CRD-LAB-2026-0001-J --review claims.yaml",
    "claim propose CRD-LAB-2026-0001-J --from results.json -o claims.yaml",
    "claim propose card.pdf --engine local --with MODEL --base-url http://localhost:8000",
)
@click.command()
@click.argument("card", metavar="CARD")
@click.option("--engine", type=click.Choice(["rules", "claude", "local"]), default="rules", show_default=True, help="What proposes.")
@click.option("--from", "sources", metavar="FILE", type=FILE, multiple=True,
              help="Propose the figures in FILE (Every Eval Ever, CycloneDX, Hugging Face), not the card's text.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", type=_OUTPUT, help="Write the claims file here; default: standard output.")
@click.option("--force", is_flag=True, help="Overwrite the file of -o.")
@click.option("--review", metavar="FILE", type=_OUTPUT, help="Review one by one in the terminal, and write FILE; the same command goes on.")
@click.option(
    "--model",
    metavar="DEV/NAME/VERSION",
    help="The model version that the card is about, where the card does not name it or its tables use another name.",
)
@click.option("--section", metavar="TEXT", help="Only sections that begin so, by number or title, with their subsections.")
@click.option("--page", metavar="A-B", help="Only these pages of the file, counted from 1.")
@click.option("--min-confidence", type=click.Choice(["high", "medium", "low"]), help="Only proposals that the engine is as sure of.")
@click.option("--top", metavar="N", type=click.IntRange(1), help="Only the N proposals that matter most; default: 40.")
@click.option("--all", "all_", is_flag=True, help="All proposals, not only those that matter most.")
@click.option("--with", "with_model", metavar="MODEL", help="model: the model to ask, as the endpoint knows it.")
@click.option("--base-url", metavar="URL", help="model: its endpoint; default: ANTHROPIC_BASE_URL.")
@api_option("model: what its endpoint speaks; default: messages for claude, openai-chat for local.")
@click.option("--run", metavar="DIR", type=_NEW, help="model: where answers are kept; default: DIGEST.proposing in this folder.")
@click.option("--dry-run", is_flag=True, help="model: say how many calls, tokens and dollars it would take, and make none.")
@click.option("--max-tokens", metavar="N", type=click.IntRange(16), help="model: output tokens of one call; default: 16000.")
@click.option("--max-calls", metavar="N", type=click.IntRange(1), help="model: calls to make now, at most; running again goes on.")
@click.option("--max-usd", metavar="USD", type=click.FloatRange(0, min_open=True), help="model: dollars to spend now; needs --prices.")
@click.option("--prices", metavar="FILE", type=FILE, help="model: prices of models, for dollars (caveat admin schema prices).")
@click.option("--concurrency", metavar="N", type=click.IntRange(1), default=64, show_default=True, help="model: calls at once, at most.")
@click.option(
    "--time-out", "timeout_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=600, show_default=True, help="model: of a call."
)
@send_key_option("model: a ")
@click.option("--retry-failed", is_flag=True, help="model: ask again where a call failed.")
@click.option("--batch", is_flag=True, help="model: by Message Batches, at half the price; run the same command again to collect.")
@click.option("--repeat-lost", is_flag=True, help="model: ask again what was in flight when it was killed; it may be billed twice.")
@pass_app
def propose(app: App, /, *, card: str, **options: Any) -> None:
    """Propose claims from the text of a card.

    CARD is a registered card (CRD-…[@n]) or a file. The answer is a claims file in the order of the card, with comments on what each
    claim lacks. Edit it and run caveat claim add FILE, or decide one by one with --review. Nothing is registered here, and every quote
    is from the card. Of a long card you get the 40 proposals that matter most, safety and bounds first; --all gives all of them.
    """
    _check_options(app, options)
    if options["sources"]:
        _propose_figures(app, card, options)
        return
    from audit.propose.cli.proposal_session import find_card, offer, read_passages

    choice = _build_choice(options)
    if options["review"] is not None:
        _review(app, card, choice, options)
        return
    known_card = _name_own(find_card(app, card), options)
    outline = read_passages(app, known_card)
    if options["dry_run"]:
        from audit.propose.cli.proposal_session import report_plan

        report_plan(app, known_card, choice.narrow(outline, known_card.text), options)
        return
    offered = offer(app, known_card, outline, choice, options)
    for line in offered.told:
        app.say(line)
    _answer(app, known_card, offered, options)


def _check_options(app: App, options: dict[str, Any]) -> None:
    """Refuse options that do not go together, before anything is read."""
    if options["all_"] and options["top"] is not None:
        raise click.UsageError("--all and --top exclude each other: leave one out")
    if options["engine"] != "rules" and options["with_model"] is None:
        raise click.UsageError("name the model to ask with --with MODEL, or propose offline with --engine rules")
    given = [f"--{name.removesuffix('_model').replace('_', '-')}" for name in _OF_MODELS if options[name] not in (None, False)]
    if options["engine"] == "rules" and given:
        raise click.UsageError(f"only with --engine claude or local: {', '.join(given)}; the rules make no call")
    if options["review"] is not None:
        if app.json or options["output"] is not None or options["dry_run"]:
            raise click.UsageError("--review writes its own file: leave --json, -o and --dry-run out")
        from audit.propose.cli.review_session import check_terminal

        check_terminal()
    alone = [f"--{name.replace('_', '-')}" for name in (*_CHOICES, "review", "dry_run") if name != "model" and options[name]]
    if options["sources"] and (alone or options["engine"] != "rules" or options["all_"]):
        raise click.UsageError(f"--from reads figures and no text: leave {', '.join(alone) or '--engine and --all'} out")
    output = options["output"]
    if output is not None and output.exists() and not options["force"]:
        found = "this file exists already"
        raise ConflictError(Fault("file-exists", str(output), found, advice="give another name, or overwrite it with --force"))
    if output is not None and not os.access(output.parent, os.W_OK | os.X_OK):
        raise FileNotFoundError(errno.ENOENT, "its folder cannot be written to", str(output))  # told before a model is asked for money
    if output is None and sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")  # where the shell closed it (`>&-`)


def _propose_figures(app: App, card: str, options: dict[str, Any]) -> None:
    """Write the figures that files of others report as a claims file."""
    from audit.propose.cli.proposal_session import find_card
    from audit.propose.figure_drafts import build_figure_entries, find_default
    from audit.propose.proposed_claims_file import NOT_STATED, ClaimsSheet, render_sheet
    from audit.sources.reported_figures import read_figures
    from registry.codec.canonical_documents import to_document

    known_card = find_card(app, card)
    files = tuple(read_figures(path) for path in options["sources"])
    known = _know_models(known_card, _read_given(options))
    default = find_default(files, known)
    entries = tuple(entry for file in files for entry in build_figure_entries(file, known, default))
    unread = [f"{file.name}: not read: {', '.join(file.unread[:20])}" for file in files if file.unread]
    head = (
        f"Figures of {', '.join(file.name for file in files)}. Nothing is registered yet.",
        "Each is the word of its source. Read, change, delete; then run caveat claim add with this file.",
        *unread,
    )
    # A claim is about one version, and all that are "not stated" would be the same one.
    lacking = [name for name, text in (("name", default.name), ("version", default.version)) if text == NOT_STATED]
    if lacking:
        app.say(f"warning: no {' and no '.join(lacking)} of the model is stated: write it in the file, or give --model DEV/NAME/VERSION")
    reference = known_card.source.card
    sheet = ClaimsSheet(head=head, card=reference, model=default, entries=entries, registered=known_card.registered)
    for line in unread:
        app.say(line)
    document: dict[str, Any] = {"schema": "caveat/figure-proposals/1", "card": reference, "files": [to_document(file) for file in files]}
    _write(app, render_sheet(sheet), document, options["output"], is_empty=not entries)
    output = options["output"]
    app.say(
        f"Next: caveat claim add {output}" if output else "Next: write them to a file with -o FILE, read it, and run caveat claim add FILE"
    )


def _write(app: App, text: str, document: dict[str, Any], output: Path | None, *, is_empty: bool) -> None:
    """Write the claims file *text*, and print *document* with --json; without both the file is printed."""
    if output is not None:
        from registry.codec.file_io import replace_file

        replace_file(output, text.encode())
        app.say(f"{output} is written: {'it holds no claim' if is_empty else 'read it, change it, take claims out'}")
    if app.json:
        app.answer(document)
    elif output is None:
        click.echo(text.encode(), nl=False)  # YAML is in UTF-8, whatever the terminal is in


def _build_choice(options: dict[str, Any]) -> "CardSelection":
    from audit.propose.proposal_review import CardSelection, parse_pages
    from registry.records.claim_draft import Confidence

    try:
        pages = None if options["page"] is None else parse_pages(options["page"])
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--page") from error
    least = options["min_confidence"]
    return CardSelection(section=options["section"], pages=pages, confidence=None if least is None else Confidence(least))


def _answer(app: App, known_card: "KnownCard", offered: "ProposalAnswer", options: dict[str, Any]) -> None:
    from registry.codec.canonical_documents import to_document

    proposals = offered.proposals
    document = to_document(proposals)
    _write(app, _render(known_card, offered, options), document, options["output"], is_empty=not proposals.proposals)
    app.say(_describe_next(proposals, options["output"]))


def _describe_next(proposals: "Proposals", path: Path | None) -> str:
    """Return the next step; *path* is the claims file, None if it was only printed."""
    if not proposals.proposals:
        looked = f" That the card was looked at is recorded by: caveat claim add {path}" if proposals.card and path else ""
        return f"Nothing is proposed, so there is nothing to register.{looked}"
    if path is None:
        return "Next: run the same command with -o FILE to write a claims file, or with --review FILE to decide one by one."
    card = "" if proposals.card else "first caveat card add CARD and put the identifier into the file, then "
    return f"Next: {card}caveat claim add {path}"


def _know_models(known_card: "KnownCard", model_ref: "ModelRef | None") -> "KnownModels":
    from audit.propose.proposed_claims_file import KnownModels

    return KnownModels(publisher=known_card.source.publisher, given=model_ref, registered=known_card.models)


def _name_own(known_card: "KnownCard", options: dict[str, Any]) -> "KnownCard":
    """Return the card with the name of --model among its own: its tables may call the model otherwise than its title."""
    given = _read_given(options)
    source = known_card.source
    return known_card if given is None else replace(known_card, source=replace(source, models=(given.name, *source.models)))


def _read_given(options: dict[str, Any]) -> "ModelRef | None":
    from registry.cli.application import parse_model

    return None if options["model"] is None else parse_model(options["model"], where="--model")


def _render(known_card: "KnownCard", offered: "ProposalAnswer", options: dict[str, Any]) -> str:
    from audit.propose.figure_account import describe_account
    from audit.propose.proposed_claims_file import ClaimsSheet, build_entries, render_sheet

    proposals, known = offered.proposals, _know_models(known_card, _read_given(options))
    default = known.choose_default(proposals.proposals)
    head = (
        f"Claims of {proposals.title}, proposed by {proposals.by}. Nothing is registered yet.",
        "Read, change, delete; then run caveat claim add with this file.",
        "Above each claim: number, page, section, how sure the engine is, and what the card does not state.",
        *(f"Note: {note}" for note in proposals.notes),
        *(describe_account(proposals.account) if proposals.account is not None else ()),
    )
    sheet = ClaimsSheet(
        head=head,
        card=proposals.card,
        model=default,
        entries=build_entries(proposals.proposals, known, default),
        # On a screen the offsets of all proposed passages would bury the claims; a file needs them for coverage.
        proposed=offered.survey if options["output"] is not None or not sys.stdout.isatty() else None,
        registered=known_card.registered,
    )
    return render_sheet(sheet)


def _review(app: App, card: str, choice: "CardSelection", options: dict[str, Any]) -> None:
    """Begin a review, or go on with the one that the journal beside the file holds."""
    from audit.propose.cli.proposal_session import find_card, read_passages
    from audit.propose.cli.review_session import ReviewBasis, ReviewSession
    from audit.propose.proposal_review import check_same, find_journal

    path: Path = options["review"]
    known_card = _name_own(find_card(app, card), options)
    journal = find_journal(path)
    if journal is not None:
        try:
            _check_resumed(options)
            check_same(journal, document=known_card.text.sha256, engine=options["engine"])
        except BaseException:
            journal.close()
            raise
    outline, greeting = read_passages(app, known_card), "this review goes on where it was left; ? tells the keys"
    told: tuple[str, ...] = ()
    if journal is None:
        journal, told = _begin(app, known_card, outline, choice, options)
        greeting = "? tells the keys"
    try:
        known = _know_models(known_card, journal.opening.given)
        ground = ReviewBasis(path=path, card=known_card.text, outline=outline, known=known, registered=known_card.registered)
        session = ReviewSession(ground, journal, told=told, greeting=greeting)
        session.run()
    finally:
        journal.close()
    app.say(f"{session.describe()}.")
    if session.review.written:
        app.say(f"{path} is written. Next: caveat claim add {path}; or the same command, to review on.")


def _check_resumed(options: dict[str, Any]) -> None:
    if any(options[name] is not None for name in _CHOICES):
        raise click.UsageError(
            "a review that has begun keeps its proposals: leave --model, --section, --page, --min-confidence and --top out"
        )


def _begin(
    app: App, known_card: "KnownCard", outline: "Outline", choice: "CardSelection", options: dict[str, Any]
) -> tuple["ReviewJournal", tuple[str, ...]]:
    """Return a new journal, and what is told of the proposals in it."""
    from audit.propose.cli.proposal_session import offer
    from audit.propose.proposal_review import JournalOpening, begin_journal, check_free

    check_free(options["review"])
    given = _read_given(options)
    offered = offer(app, known_card, outline, choice, options)
    default = _know_models(known_card, given).choose_default(offered.proposals.proposals)
    opening = JournalOpening(proposals=offered.proposals, survey=offered.survey, model=default, given=given)
    return begin_journal(options["review"], opening), offered.told
