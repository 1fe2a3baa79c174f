"""`caveat audit renew`: the audits of stale claims, carried out again from their locked plans on another model version."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import FILE
from registry.cli.application import CLAIM, App, parse_model, pass_app
from registry.errors import AnswerNoError, Fault, UnavailableError
from registry.records.record import Identifier
from registry.report.numbers import format_items

if TYPE_CHECKING:
    from audit.cli.renew_session import Renewal
    from audit.renewing.choice import Wish
    from registry.records.supplement import ClaimChange

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("claim_ids", metavar="[CLAIM…]", type=CLAIM, nargs=-1)
@click.option("--ask", metavar="NAME", required=True, help="The model to ask, as its endpoint returns it.")
@click.option("-o", "--output", "folder", metavar="DIR", type=_FOLDER, required=True, help="Where replays and run folders are written.")
@click.option("--model", metavar="DEV/NAME/VERSION", help="Of the stale claims, only those about this version.")
@click.option("--to", metavar="DEV/NAME/VERSION", help="The version to carry claims to; default: the newest that follows theirs.")
@click.option("--runs", metavar="DIR", type=_FOLDER, multiple=True,
              help="Where recorded replays are looked for; default: the registry's folder. May be repeated.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print what would be renewed, with calls, tokens and cost, and record nothing.")
@click.option("--prepare-only", is_flag=True, help="Carry the claims and lock the audits, and make no call.")
@click.option("--why", metavar="TEXT", help="Why the claims are carried; default: a sentence that names the update.")
@click.option("--prices", type=FILE, help="Prices by model (caveat schema prices); without them, cost is unknown.")
@click.option("--base-url", metavar="URL", help="The endpoint of the model; default: as the recorded replay says.")
@click.option("--concurrency", metavar="N", type=click.IntRange(1, 1000), default=256, show_default=True, help="Most requests at once.")
@click.option("--batch", is_flag=True, help="Use Message Batches: cheaper, and done within a day.")
@click.option("--retry-failed", is_flag=True, help="Send calls again that failed; what fails again is excluded with its reason.")
@click.option("--repeat-lost", is_flag=True, help="Send calls again that were in flight when a run was killed; they may be billed twice.")
@click.option(
    "--time-out", "timeout_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=600, show_default=True, help="Of a request."
)
@click.option("--served-by", type=FILE, help="What identifies a local server and its model, as tools/localmodel.py writes it.")
@pass_app
def renew(app: App, /, *, claim_ids: tuple[Identifier, ...], folder: Path, **options: Any) -> None:
    """Carry out the locked plans of stale claims again on another model version, and show what moved.

    Without CLAIM every stale claim is taken whose cause a new audit can settle. Tasks, contexts, scoring, margins and rules are those
    of the old lock, from its recorded replay; only the model is another. Each claim is carried to the new version, its audit locked,
    the replay run, scored and concluded. Run again it goes on where it was; at the end it changes nothing and shows the result.

    One replay that fails does not stop the others. The exit code is 3 when something could not be evaluated.
    """
    from audit.cli.renew_document import summarise_renewal
    from audit.cli.renew_session import plan_renewal, record_renewal
    from audit.cli.renew_text import print_plan, print_renewal

    renewal = plan_renewal(app, _read_wish(claim_ids, options), folder, options)
    if options["dry_run"]:
        document = summarise_renewal(renewal, [], log_size=_count_entries(app), is_forecast=True)
        app.report(document, lambda console: print_plan(console, renewal, is_forecast=True))
        _end(app, renewal)
        return
    if options["prepare_only"]:
        record_renewal(app, renewal, why=options["why"])
    else:
        _carry_out(app, renewal, why=options["why"])
    changes = _list_changes(app, renewal)
    document = summarise_renewal(renewal, changes, log_size=_count_entries(app), is_forecast=False)
    app.report(document, lambda console: print_renewal(console, renewal, changes))
    _end(app, renewal)


def _read_wish(claims: tuple[Identifier, ...], options: dict[str, Any]) -> "Wish":
    from audit.renewing.choice import Wish

    models = {name: parse_model(options[name], where=f"--{name}") if options[name] else None for name in ("model", "to")}
    return Wish(ask=options["ask"], claims=tuple(one.bare for one in claims), model=models["model"], to=models["to"])


def _carry_out(app: App, renewal: "Renewal", *, why: str | None) -> None:
    from audit.cli.renew_run import ask_endpoints, conclude_jobs, run_jobs
    from audit.cli.renew_session import record_renewal

    ask_endpoints(renewal)
    record_renewal(app, renewal, why=why)
    open_ = [job for job in renewal.jobs if job.is_open]
    if open_:
        app.say(
            f"{sum(len(job.group.chosen) for job in open_)} audits to carry out again, {format_items(renewal.total.calls, 'call')} to make"
        )
        run_jobs(app, renewal)
        if not renewal.interrupted:
            conclude_jobs(app, renewal)


def _list_changes(app: App, renewal: "Renewal") -> "list[ClaimChange]":
    from audit.renewing.movement import find_change, sort_changes

    found = [find_change(app.ledger, one) for one in renewal.chosen if one.is_concluded]
    return sort_changes(one for one in found if one is not None)


def _count_entries(app: App) -> int:
    with app.ledger.view() as view:
        return view.log_size


def _end(app: App, renewal: "Renewal") -> None:
    """End with what the exit code is for: interrupted, or something that could not be evaluated."""
    from audit.cli.renew_session import write_command

    if renewal.interrupted:
        found = "somebody ended it before its last call; everything that came is kept"
        raise AnswerNoError(Fault(code="interrupted", where=str(renewal.output), found=found, advice=write_command(renewal, app)))
    count = sum(1 for _ in renewal.list_faults())
    if count:
        app.say(f"{count} could not be re-audited here; the answer says why")
        click.get_current_context().exit(UnavailableError.exit_code)
