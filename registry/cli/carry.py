"""`caveat claim carry`: a claim goes on for the version that took the place of the one it is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, pass_app
from registry.cli.parameters import CARD, CLAIM, parse_model
from registry.cli.trial import record
from registry.records.model_version import ModelRef
from registry.records.record import Identifier

if TYPE_CHECKING:
    from rich.console import Console

    from registry.registration.model_lineage import CarriedClaim, NewPassage
    from registry.store.writer import Writer


_FEW = 20
"""As many are listed for a person; all of them with `--json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What became of one claim."""

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


@click.command()
@click.argument("claims", type=CLAIM, nargs=-1)
@click.option("--to", metavar="DEV/NAME/VERSION", help="The version to carry to; default: the one newest of its lineage.")
@click.option("--why", required=True, help="Why the claim is made of that version too; it stays in the record.")
@click.option("--all-from", metavar="DEV/NAME/VERSION", help="Carry every claim about this version that is not at its end.")
@click.option("--card", type=CARD, help="A newer card that makes the claim of that version in other words; with --quote.")
@click.option("--quote", help="Its words there; they are found again in --card.")
@click.option("--page", type=click.IntRange(1), help="The page of --card on which they stand.")
@click.option("--dry-run", is_flag=True, help="Check everything, record nothing.")
@pass_app
def carry(
    app: App, /, *, claims: tuple[Identifier, ...], to: str | None, why: str, all_from: str | None, dry_run: bool, **passage: Any
) -> None:
    """Say that claims are made of a newer model version too: each goes on as a new revision about it, with the reason.

    No estimate and no outcome comes along: the revision is unaudited until it is audited. Quote and card stay, so that the record
    says that the card spoke of the earlier version, unless --card and --quote name where a newer one makes the claim. Several
    claims are carried in one transaction, all or none; a claim that is about that version already stays as it is.
    """
    from registry.registration.model_lineage import carry_claims

    if bool(claims) == (all_from is not None):
        raise click.UsageError("name claims (CLM-…), or the version that they are about with --all-from; one of the two.")
    words = _read_passage(claims, **passage)
    about = parse_model(all_from, where="--all-from") if all_from else None
    target = parse_model(to, where="--to") if to else None

    def work(writer: "Writer") -> list[Carried]:
        names = _list_claims(writer, claims) if about is None else _list_about(writer, about)
        return [_describe(writer, one) for one in carry_claims(writer, names, target, why=why, card=words)]

    done = record(app, work, dry_run=dry_run)
    _report(app, done, why, dry_run=dry_run)


def _read_passage(claims: Sequence[Identifier], *, card: Identifier | None, quote: str | None, page: int | None) -> "NewPassage | None":
    from registry.registration.model_lineage import NewPassage

    if card is None and quote is None and page is None:
        return None
    if card is None or quote is None:
        raise click.UsageError("--card and --quote belong together: the newer card, and its words.")
    if len(claims) != 1:
        raise click.UsageError("--card words one claim; name that claim alone.")
    return NewPassage(card=str(card), quote=quote, page=page)


def _list_claims(writer: "Writer", claims: Sequence[Identifier]) -> list[str]:
    for one in claims:
        if one.revision or one.digest:
            writer.dossier(str(one))
    return list(dict.fromkeys(one.bare for one in claims))


def _list_about(writer: "Writer", model: ModelRef) -> list[str]:
    from registry.registration.model_lineage import ENDED, require_model

    require_model(writer, model)
    return [one.claim for one in writer.list_claims(model=model) if one.status.lifecycle not in ENDED]


def _describe(writer: "Writer", one: "CarriedClaim") -> Carried:
    from registry.intake.revision.passage_changes import find_turns

    before, after = one.before, one.after.payload
    audits = writer.list_audits(before.reference) if one.is_new else ()
    turns = find_turns(before.quote, after.quote) if before.quote != after.quote else ()
    return Carried(
        before=before.reference,
        after=after.reference,
        model=after.model,
        entry=one.after.entry.seq,
        audits=len(audits),
        is_locked=any(audit.lock is not None for audit in audits),
        is_tuned=one.is_new and after.model not in writer.lineage().successors(before.model),
        turns=tuple(map(str, turns)),
    )


def _report(app: App, done: Sequence[Carried], why: str, *, dry_run: bool) -> None:
    from registry.codec.documents import to_document

    new = [one for one in done if one.is_new]
    for one in new:
        for turn in one.turns:
            app.say(f"ATTENTION: {one.after}: {turn}")
    for model in dict.fromkeys(one.model for one in new if one.is_tuned):
        app.say(f"ATTENTION: {model} is a fine-tune: it took no version's place, so that the claim was current without it.")
    document = {
        "schema": "caveat/claim-carry/1",
        "why": why,
        "dry_run": dry_run,
        "claims": [
            {"from": one.before, "to": one.after, "model": to_document(one.model), "entry": one.entry, "new": one.is_new,
             "audits_left_behind": one.audits, "fine_tune": one.is_tuned, "turns": list(one.turns)}
            for one in done
        ],
    }  # fmt: skip

    def text(console: "Console") -> None:
        for one in new:
            console.print(
                f"{'To be recorded: ' if dry_run else ''}{one.after} about {one.model}, carried from {one.before}, entry {one.entry}."
            )
        if len(new) > _FEW:
            console.print(f"… and {len(new) - _FEW:,} more.")
        if new:
            _tell_unaudited(console, new)
        if len(new) < len(done):
            known = [one for one in done if not one.is_new]
            console.print(f"Nothing changes: {', '.join(f'{one.after} is about {one.model}' for one in known[:_FEW])} already.")
        if not done:
            console.print("Nothing changes: no claim is about that version that is not withdrawn, rejected or superseded.")

    app.report(document, text)


def _tell_unaudited(console: "Console", new: Sequence[Carried]) -> None:
    left, is_one = sum(one.audits for one in new), len(new) == 1
    behind = f"{left:,} {'audit stays' if left == 1 else 'audits stay'} with the earlier {'revision' if is_one else 'revisions'}, and no"
    console.print(f"{'It is' if is_one else 'They are'} unaudited: {behind if left else 'no'} estimate comes along.")
    first = new[0].after.partition("@")[0]
    console.print(f"Next: caveat audit {f'renew {first} --ask NAME -o DIR' if new[0].is_locked else f'new {first} > audit.yaml'}")
