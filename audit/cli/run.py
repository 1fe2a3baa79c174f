"""`caveat audit run`: the calls of a replay are made, each once, and every response is kept."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.options import FILE
from registry.cli.application import App, pass_app
from registry.errors import AnswerNoError, CaveatError, Fault

if TYPE_CHECKING:
    from audit.cli.run_session import Session
    from audit.replay.call_engine import RunSummary
    from audit.replay.replay_provenance import ArmCellCounts

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("replay", type=FILE)
@click.option("-o", "--output", "folder", metavar="DIR", type=_FOLDER, help="The run folder; default: REPLAY with the ending .run.")
@click.option("--dry-run", is_flag=True, help="Print calls, tokens and cost, and send nothing.")
@click.option("--concurrency", metavar="N", type=click.IntRange(1, 1000), default=256, show_default=True, help="Most requests at once.")
@click.option("--retry-failed", is_flag=True, help="Send calls again that failed.")
@click.option("--repeat-lost", is_flag=True, help="Send calls again that were in flight when a run was killed; they may be billed twice.")
@click.option("--prices", type=FILE, help="Prices by model (caveat schema prices); without them, cost is unknown.")
@click.option(
    "--time-out", "timeout_s", metavar="SECONDS", type=click.FloatRange(1, 3600), default=600, show_default=True, help="Of a request."
)
@click.option("--batch", is_flag=True, help="Use Message Batches: cheaper, and done within a day.")
@click.option("--served-by", type=FILE, help="What identifies a local server and its model, as tools/localmodel.py writes it.")
@click.option("--seal", is_flag=True, help="Seal the context files first: the record gets salted commitments, no texts.")
@click.option("--deviation", metavar="WHY", help="Go on where the replay is not the locked one, and record so with this reason.")
@pass_app
def run(app: App, /, *, replay: Path, folder: Path | None, **options: Any) -> None:
    """Make the calls of the replay in REPLAY, and keep every response in a run folder.

    Run again, it makes only the calls that have no outcome yet: after Ctrl-C, after a crash, after samples, arms or tasks were added.
    Refusals, cut and empty answers are kept as they are; failed calls are kept with their reason. The key is read from
    ANTHROPIC_API_KEY, and kept nowhere.

    A replay that answers to a lock (audit: AUD-…) is compared with it before the first call: tasks, contexts, scoring, model, budget,
    and the replay file with all it refers to, as far as they are locked. The run is entered in the log before its first call, and its end
    after the last one; a second run folder under one lock is a second run, and the outcome names it.

    With --seal, each context file is sealed first (NAME.seal.yaml beside it): the log and the supplement get a salted commitment, and
    the texts stay here until caveat spec reveal NAME.seal.yaml shows them.
    """
    from audit.cli.run_session import open_session
    from audit.cli.run_text import print_forecast, summarise_forecast

    session = open_session(app, replay, folder or replay.with_suffix(".run"), options)
    if options["dry_run"]:
        app.report(summarise_forecast(session), lambda console: print_forecast(console, session))
        return
    _record_deviations(app, session)
    carry_out(app, session)


def _record_deviations(app: App, session: "Session") -> None:
    """Record in what the replay departs from its locks, before anything is sent; the reason was given, or there is nothing."""
    from audit.deviating import add_departures

    departing = [one for one in session.bounds if one.departures]
    if not departing:
        return
    with app.ledger.write(actor=app.config.authority) as writer:
        for one in departing:
            count = add_departures(writer, one.audit, one.departures, why=session.options["deviation"])
            decisive = any(departure.is_decisive for departure in one.departures)
            app.say(f"recorded {count} deviation{'s' if count != 1 else ''} from the lock of {one.audit}")
            if decisive:
                app.say(f"warning: an outcome of {one.audit} from such scores will be reported, not established")


def carry_out(app: App, session: "Session") -> None:
    """Make the calls of *session* and report what came of them; raises what ended it early."""
    from audit.cli.run_text import print_run, summarise_run

    summary, arms = make_all_calls(app, session)
    app.report(summarise_run(session, summary, arms), lambda console: print_run(console, session, summary, arms))
    if (ended := find_early_end(session, summary)) is not None:
        raise ended


def make_all_calls(app: App, session: "Session") -> "tuple[RunSummary, list[ArmCellCounts]]":
    """Make the calls of *session* with its progress shown; return what this run came to, and what the folder holds by arm."""
    from audit.cli.run_progress import watch
    from audit.cli.run_session import make_calls
    from audit.cli.run_text import describe_plan
    from audit.replay.replay_provenance import count_arm_outcomes

    app.say(describe_plan(session))
    with session.open_store() as store:
        with watch(app, session.forecast) as progress:
            summary = make_calls(app, session, store, progress)
        return summary, count_arm_outcomes(store)


def find_early_end(session: "Session", summary: "RunSummary") -> CaveatError | None:
    """Return what ended the calls of *session* before the last one; None where all were made."""
    if summary.stopped is not None or not summary.interrupted:
        return summary.stopped
    found = "somebody ended it before its last call; everything that came is kept"
    return AnswerNoError(Fault(code="interrupted", where=str(session.folder), found=found, advice=session.resume_command))
