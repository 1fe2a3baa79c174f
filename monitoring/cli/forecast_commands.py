"""`caveat forecast`: an audit's estimate as a forecast of production, and how it came true."""

from datetime import UTC, datetime
from typing import Any

import click

from monitoring.cli.monitor_commands import MONITOR
from registry.cli.application import AUDIT, App, examples, logs_option, pass_app, record, yes_option
from registry.cli.list_options import ListOutput, list_options
from registry.records.record import Identifier


@click.group()
def forecast() -> None:
    """Forecast production rates, and score the forecasts."""


def _parse_day(_ctx: click.Context, _parameter: click.Parameter, value: datetime | None) -> datetime | None:
    return None if value is None else value.replace(tzinfo=UTC)


@examples(
    "forecast lock AUD-LAB-2026-0004-W --monitor MON-LAB-2026-0003-8",
    "forecast lock AUD-LAB-2026-0004-W --due 2027-03-01 --baseline MON-LAB-2026-0001-C",
)
@forecast.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@click.option("--monitor", "monitor_id", metavar="MON-…", type=MONITOR, help="The monitor; default: the only one that has no window yet.")
@click.option("--spec", metavar="NAME", help="The specification of P_deploy, where the audit has several.")
@click.option(
    "--due", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), callback=_parse_day, help="End of its time; default: of the first window."
)
@click.option("--baseline", metavar="RATE|MON-…", help="The rate of the version before: the direction of the change is then scored too.")
@click.option("--dry-run", is_flag=True, help="Check everything and record nothing.")
@yes_option
@pass_app
def lock(app: App, /, *, audit_id: Identifier, monitor_id: Identifier | None, dry_run: bool, yes: bool, **options: Any) -> None:
    """Lock an audit's estimate as a forecast.

    The deployment rate of AUDIT, with its interval, is recorded as what MONITOR will see. Lock it before the monitor's stream begins;
    later it is refused. A forecast cannot be changed.
    """
    from monitoring.cli.forecast_presenter import present_forecast
    from monitoring.forecasting import ForecastRequest, lock_forecast

    request = ForecastRequest(audit=audit_id.bare, monitor=monitor_id.bare if monitor_id else None, **options)
    if not dry_run:
        app.confirm(f"Lock the estimate of {audit_id.bare} as a forecast for good?", yes=yes)
    recorded, is_new = record(
        app, lambda writer: lock_forecast(writer, request, by=app.config.authority, now=app.config.now()), dry_run=dry_run
    )
    app.report(present_forecast(recorded, is_new=is_new, dry_run=dry_run))


@examples("forecast score MON-LAB-2026-0003-8")
@forecast.command()
@click.argument("monitor_id", metavar="MONITOR", type=MONITOR)
@click.option("--dry-run", is_flag=True, help="Show the scores and record nothing.")
@pass_app
def score(app: App, *, monitor_id: Identifier, dry_run: bool) -> None:
    """Score the forecasts for a monitor that are due.

    The observed rate is that of all windows until the forecast's day. The same windows again change nothing; after a correction, a
    new score takes the place of the old one.
    """
    from monitoring.cli.forecast_presenter import present_scores
    from monitoring.forecasting import score_forecasts

    scored = record(app, lambda writer: score_forecasts(writer, monitor_id.bare), dry_run=dry_run)
    app.report(present_scores(scored, dry_run=dry_run))


@examples("forecast list", "forecast list --csv")
@forecast.command(name="list")
@logs_option
@pass_app
@list_options
def list_(app: App, /, *, output: ListOutput) -> None:
    """List all forecasts, hits and misses.

    Columns: entry, audit, monitor, developer, by, due, forecast, low, high, observed, held, within.
    """
    from monitoring.cli.forecast_presenter import describe_forecast, list_columns
    from monitoring.forecasting import list_track
    from registry.present.listings import Listing

    rows = [describe_forecast(recorded, last) for _, view in app.views(by_clock=True) for recorded, last in list_track(view)]
    output.report(
        Listing(
            document={"schema": "caveat/forecasts/1"},
            field="forecasts",
            rows=rows,
            describe=dict,
            columns=list_columns(),
            none="No forecasts. Next: caveat forecast lock AUD-… --monitor MON-…",
        )
    )
