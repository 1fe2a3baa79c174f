"""`caveat audit run` and `caveat stale renew`: the calls of a replay, and locked plans carried out again."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.analysis_options import FILE, send_key_option
from registry.cli.application import CLAIM, App, examples, parse_model, pass_app, reason_option, yes_option
from registry.cli.fleet_parts import check_fleet, fleet_option, rate_option
from registry.errors import AnswerNoError, CaveatError, Fault, UnavailableError
from registry.records.record import Identifier
from registry.report.number_format import format_items

if TYPE_CHECKING:
    from audit.cli.renewal_session import Renewal
    from audit.cli.run_session import RunSession
    from audit.renew.renewal_choice import RenewalRequest
    from audit.replay.call_engine import RunSummary
    from audit.replay.replay_provenance import ArmCellCounts
    from registry.records.supplement import ClaimChange

# `caveat audit run`: the calls of a replay are made, each once, and every response is kept.

_FOLDER = click.Path(file_okay=False, path_type=Path)


@examples(
    "audit run replay.yaml --dry-run",
    "audit run replay.yaml --batch --prices prices.yaml",
    "audit run replay.yaml --fleet postgresql://fleet@db.example.org/fleet",
)
@click.command()
@click.argument("replay", type=FILE)
@click.option("-o", "--output", "folder", metavar="DIR", type=_FOLDER, help="The run folder; default: REPLAY with the ending .run.")
@click.option("--dry-run", is_flag=True, help="Print calls, tokens and cost, and send nothing.")
@click.option("--concurrency", metavar="N", type=click.IntRange(1, 1000), default=256, show_default=True, help="Most requests at once.")
@click.option("--retry-failed", is_flag=True, help="Send calls again that failed.")
@click.option("--repeat-lost", is_flag=True, help="Send calls again that were in flight when a run was killed; they may be billed twice.")
@click.option("--prices", type=FILE, help="Prices by model (caveat admin schema prices); without them, cost is unknown.")
@click.option(
    "--time-out", "timeout_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=600, show_default=True, help="Of a request."
)
@send_key_option()
@click.option("--batch", is_flag=True, help="Use batches: cheaper, and done within a day.")
@click.option("--cancel-batches", is_flag=True, help="Stop open batches at the endpoint, keep their answers, and make no new call.")
@fleet_option
@rate_option
@click.option("--served-by", type=FILE, help="What identifies a local server and its model, as tools/localmodel.py writes it.")
@click.option("--seal", is_flag=True, help="Seal the context files first: the record gets salted commitments, no texts.")
@click.option("--deviation", metavar="WHY", help="Go on where the replay is not the locked one, and record so with this reason.")
@pass_app
def run(app: App, /, *, replay: Path, folder: Path | None, **options: Any) -> None:
    """Make the model calls of a replay.

    Agentic evaluations are imported from Inspect logs instead: caveat audit logs test=a.eval deploy=b.eval --claim "…", or
    caveat audit conclude AUD-… test=a.eval deploy=b.eval.

    Every response is kept in a run folder. A second run makes only missing calls: after Ctrl-C, a crash, or more samples, arms or
    tasks. Refusals, truncated and empty answers are kept as they are; failed calls are kept with their reasons. The key is read from
    ANTHROPIC_API_KEY (OPENAI_API_KEY for api: openai-chat) and stored nowhere.

    A replay for a locked audit (audit: AUD-…) is compared with the lock before the first call. The log records the run before its first
    call and its end after the last. A second run folder under one lock is a second run, and the verdict names it.

    With --seal, each context file is sealed first (NAME.seal.yaml): log and supplement get a salted commitment, and the texts stay here
    until caveat spec reveal.

    Ctrl-C leaves a batch at the endpoint, which goes on working on it. --cancel-batches stops it; calls that were not answered by then
    count as failed, and --retry-failed makes them again.

    With --fleet, the workers of a fleet make the calls (caveat worker), and the answers come into the run folder. Such a folder is
    continued with --fleet only.
    """
    from audit.cli.replay_presenter import present_forecast
    from audit.cli.run_session import open_session, warn_of_alike_tasks

    check_fleet(options["fleet"], batch=options["batch"] or options["cancel_batches"], rate=options["rate"])
    session = open_session(app, replay, folder or replay.with_suffix(".run"), options)
    if options["dry_run"]:
        warn_of_alike_tasks(app, session)
        app.report(present_forecast(session))
        return
    _record_deviations(app, session)
    carry_out(app, session)


def _record_deviations(app: App, session: "RunSession") -> None:
    """Record in what the replay departs from its locks, before anything is sent; the reason was given, or there is nothing."""
    from audit.protocol.audit_record import add_deviations

    departing = [bound for bound in session.bounds if bound.deviations]
    if not departing:
        return
    with app.ledger.write(actor=app.config.authority) as writer:
        for lock in departing:
            count = add_deviations(writer, lock.audit, lock.deviations, why=session.options["deviation"])
            decisive = any(departure.is_decisive for departure in lock.deviations)
            app.say(f"recorded {count} deviation{'s' if count != 1 else ''} from the lock of {lock.audit}")
            if decisive:
                app.say(f"warning: an outcome of {lock.audit} from such scores will be reported, not established")


def carry_out(app: App, session: "RunSession") -> None:
    """Make the calls of *session* and report what came of them; raises what ended it early."""
    from audit.cli.replay_presenter import present_run

    summary, arms = make_all_calls(app, session)
    app.report(present_run(session, summary, arms))
    if (ended := find_early_end(session, summary)) is not None:
        raise ended


def make_all_calls(app: App, session: "RunSession") -> "tuple[RunSummary, list[ArmCellCounts]]":
    """Make the calls of *session* with its progress shown; return what this run came to, and what the folder holds by arm."""
    from audit.cli.replay_presenter import describe_plan
    from audit.cli.run_session import make_calls, watch
    from audit.replay.replay_provenance import count_arm_outcomes

    app.say(describe_plan(session))
    with session.open_store() as store:
        with watch(app, session.forecast) as progress:
            summary = make_calls(app, session, store, progress)
        return summary, count_arm_outcomes(store)


def find_early_end(session: "RunSession", summary: "RunSummary") -> CaveatError | None:
    """Return what ended the calls of *session* before the last one; None where all were made."""
    if summary.stopped is not None or not summary.interrupted:
        return summary.stopped
    problem = "it was ended before its last call; every response received is kept"
    return AnswerNoError(Fault("interrupted", str(session.folder), problem, advice=session.resume_command))


# `caveat stale renew`: the audits of stale claims, carried out again from their locked plans on another model version.


@examples("stale renew --ask lumen-2 -o renewed --dry-run", "stale renew CLM-LAB-2026-0001-E --ask lumen-2 -o renewed --yes")
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
@reason_option("Why the claims apply to the new version; default: a sentence that names the update.", required=False)
@yes_option
@click.option("--prices", type=FILE, help="Prices by model (caveat admin schema prices); without them, cost is unknown.")
@click.option("--base-url", metavar="URL", help="The endpoint of the model; default: as the recorded replay says.")
@click.option("--concurrency", metavar="N", type=click.IntRange(1, 1000), default=256, show_default=True, help="Most requests at once.")
@click.option("--batch", is_flag=True, help="Use batches: cheaper, and done within a day.")
@click.option("--retry-failed", is_flag=True, help="Send calls again that failed; what fails again is excluded with its reason.")
@click.option("--repeat-lost", is_flag=True, help="Send calls again that were in flight when a run was killed; they may be billed twice.")
@click.option(
    "--time-out", "timeout_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=600, show_default=True, help="Of a request."
)
@send_key_option()
@click.option("--served-by", type=FILE, help="What identifies a local server and its model, as tools/localmodel.py writes it.")
@pass_app
def renew(app: App, /, *, claim_ids: tuple[Identifier, ...], folder: Path, **options: Any) -> None:
    """Run the locked plans of stale claims again.

    Another model version is asked; tasks, contexts, scoring, margins and rules are those of the old lock, from its recorded replay.
    Each claim is applied to the new version, its audit locked, the replay run, scored and concluded, and the changes shown. Without
    CLAIM, Caveat takes every stale claim that a new audit can resolve. A second run continues; when all is done it changes nothing.
    On a terminal you are asked before claims are applied; scripts give --yes. Each claim that cannot be renewed is named with the reason.

    One replay that fails does not stop the others. The exit code is 3 if one could not be evaluated.
    """
    from audit.cli.renewal_session import plan_renewal, record_renewal
    from audit.cli.replay_presenter import present_plan, present_renewal, summarise_renewal

    renewal = plan_renewal(app, _read_wish(claim_ids, options), folder, options)
    if options["dry_run"]:
        document = summarise_renewal(renewal, [], log_size=_count_entries(app), is_forecast=True)
        app.answer(document, present_plan(renewal, is_forecast=True))
        _end(app, renewal)
        return
    _confirm(app, renewal, yes=options["yes"])
    if options["prepare_only"]:
        record_renewal(app, renewal, why=options["reason"])
    else:
        _carry_out(app, renewal, why=options["reason"])
    changes = _list_changes(app, renewal)
    document = summarise_renewal(renewal, changes, log_size=_count_entries(app), is_forecast=False)
    app.answer(document, present_renewal(renewal, changes))
    _end(app, renewal)


def _read_wish(claims: tuple[Identifier, ...], options: dict[str, Any]) -> "RenewalRequest":
    from audit.renew.renewal_choice import RenewalRequest

    models = {name: parse_model(options[name], where=f"--{name}") if options[name] else None for name in ("model", "to")}
    return RenewalRequest(ask=options["ask"], claims=tuple(claim.bare for claim in claims), model=models["model"], to=models["to"])


def _confirm(app: App, renewal: "Renewal", *, yes: bool) -> None:
    """Ask before claims are applied and audits locked; where all of that is on record, nothing is asked."""
    from audit.cli.model_calls import describe_amount

    pending = renewal.list_pending()
    if not pending:
        return
    for claim_renewal in pending:
        app.say(f"  {claim_renewal.claim.claim}: {claim_renewal.before} → {claim_renewal.target}, plan of {claim_renewal.lock.audit}")
    for claim in renewal.left:
        app.say(f"  {claim.claim}: not renewed: {claim.fault.found}")
    if renewal.total.calls and not renewal.options["prepare_only"]:
        app.say(f"  {describe_amount(renewal.total)}")
    targets = ", ".join(dict.fromkeys(str(claim_renewal.target) for claim_renewal in pending))
    app.confirm(f"Apply {format_items(len(pending), 'claim')} to {targets} and lock the plans for good?", yes=yes)


def _carry_out(app: App, renewal: "Renewal", *, why: str | None) -> None:
    from audit.cli.renewal_session import ask_endpoints, conclude_jobs, record_renewal, run_jobs

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
    from audit.renew.renewal_choice import find_change, sort_changes

    changes = [find_change(app.ledger, claim_renewal) for claim_renewal in renewal.chosen if claim_renewal.is_concluded]
    return sort_changes(change for change in changes if change is not None)


def _count_entries(app: App) -> int:
    with app.ledger.view() as view:
        return view.log_size


def _end(app: App, renewal: "Renewal") -> None:
    """End with what the exit code is for: interrupted, or something that could not be evaluated."""
    from audit.cli.renewal_session import write_command

    if renewal.interrupted:
        problem = "it was ended before its last call; every response received is kept"
        raise AnswerNoError(Fault("interrupted", str(renewal.output), problem, advice=write_command(renewal, app)))
    count = sum(1 for _ in renewal.list_faults())
    if count:
        app.say(f"{format_items(count, 'audit')} could not be repeated here, for the reasons given")
        click.get_current_context().exit(UnavailableError.exit_code)
