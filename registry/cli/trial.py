"""A transaction that is told and, where that is asked for, not recorded."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from registry.cli.app import App

if TYPE_CHECKING:
    from registry.store.writer import Writer

Done = TypeVar("Done")


class _TrialError(Exception):
    """Ends a transaction that was only a trial, so that nothing of it is recorded."""


def record(app: App, work: Callable[["Writer"], Done], *, dry_run: bool = False) -> Done:
    """Return what *work* returns, done in one transaction; with *dry_run* everything is checked and nothing recorded."""
    done: list[Done] = []
    try:
        with app.ledger.write(actor=app.config.authority) as writer:
            done.append(work(writer))
            _end_if(dry_run)
    except _TrialError:
        pass
    return done[0]


def _end_if(dry_run: bool) -> None:  # noqa: FBT001  (read aloud it says what it does)
    if dry_run:
        raise _TrialError
