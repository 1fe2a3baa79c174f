"""How far a replay is, on standard error: a bar on a terminal, a line every half minute elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from audit.replay.call_engine import RunForecast, RunSummary
from registry.cli.application import App

_LINE_EVERY_S = 30.0


@contextmanager
def watch(app: App, forecast: RunForecast) -> Iterator[Callable[[RunSummary], None]]:
    """Give a function that is told how things stand."""
    total = forecast.total.calls
    if app.json or not sys.stderr.isatty():
        yield _LineTeller(app, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *times, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("first answers awaited", total=total)
        yield lambda summary: bar.update(task, completed=summary.done, description=describe(summary))


class _LineTeller:
    def __init__(self, app: App, total: int) -> None:
        self._app = app
        self._total = total
        self._next = time.monotonic() + _LINE_EVERY_S

    def __call__(self, summary: RunSummary) -> None:
        if self._app.json or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _LINE_EVERY_S
        rate = summary.done / max(summary.elapsed_s, 1e-9)
        left = f", about {(self._total - summary.done) / rate / 60:.0f} min left" if rate > 0 else ""
        self._app.say(f"{summary.done} of {self._total} calls, {describe(summary)}{left}")


def describe(summary: RunSummary) -> str:
    """Return rate, failures and cost so far in a few words."""
    parts = [f"{summary.done / max(summary.elapsed_s, 1e-9):.1f}/s"]
    failed = sum(summary.failures.values())
    parts += [f"{failed} failed"] if failed else []
    parts += [f"${summary.spent.usd:.2f}"] if summary.spent.usd else []
    return ", ".join(parts)
