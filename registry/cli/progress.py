"""A progress bar on standard error for work that may take long; quiet where nobody looks."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from registry.cli.app import App


@contextmanager
def track(app: App, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Callable[[int], None]]:
    """Give a function that is told how much more is done.

    The bar shows after half a second, and only when standard error is a terminal and `--json` was not asked for.
    """
    if app.json or not sys.stderr.isatty():
        yield lambda _more: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn(unit, markup=False))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda more: bar.advance(task, more)


def count_up(advance: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that is told how much is done in all, for an *advance* that is told how much more; a smaller number begins anew."""
    done = 0

    def tell(total: int) -> None:
        nonlocal done
        advance(total - done if total >= done else 0)
        done = total

    return tell
