"""Processes that can be killed, without the seconds of importing: each is forked from one that has imported everything."""

import asyncio
import faulthandler
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_PRELOADED = [
    "registry.cli.main",
    "audit.cli.replay_commands",
    "audit.cli.run_session",
    "audit.cli.replay_presenter",
    "audit.cli.renewal_session",
    "audit.replay.message_batches",
    "anthropic",
]
_PRELOADED += ["fleet.jobs.worker", "fleet.jobs.replay_run", "fleet.queue.procrastinate_engine", "fleet.queue.pgqueuer_engine"]
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(_PRELOADED)


class Started:
    """A process of its own, which speaks into two files."""

    def __init__(self, target: Callable[..., None], *arguments: Any, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self._streams = [folder / f"{id(self)}.{name}" for name in ("out", "err")]
        self._process = _CONTEXT.Process(target=_run, args=(target, arguments, [str(one) for one in self._streams], dict(environ or {})))
        self._process.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; minus the signal's number when one ended it, None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it the signal *number*."""
        os.kill(self.pid, number)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Return what it wrote to standard output and standard error, once it has ended."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            # Where each of its tasks and threads waits: such a case is rare, and cannot be repeated at will.
            os.kill(self.pid, signal.SIGUSR1)
            time.sleep(1)
            stacks = self._streams[1].read_text(encoding="utf-8") if self._streams[1].is_file() else ""
            raise AssertionError(f"the process did not end in time:\n{stacks}")
        # A process that was killed as soon as it was started has no streams yet.
        out, err = (one.read_text(encoding="utf-8") if one.is_file() else "" for one in self._streams)
        for one in self._streams:
            one.unlink(missing_ok=True)
        return out, err


def _run(target: Callable[..., None], arguments: tuple[Any, ...], streams: list[str], environ: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environ)
    for number, name in enumerate(streams, 1):
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (until the process ends)
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    signal.signal(signal.SIGUSR1, lambda *_: _print_tasks())
    faulthandler.register(signal.SIGUSR1, file=sys.stderr, all_threads=True, chain=True)
    try:
        target(*arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _print_tasks() -> None:
    """Write where each task of the running event loop waits; the stack of its thread shows only the loop."""
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return
    for task in tasks:
        sys.stderr.write(f"task {task.get_name()}, asked to end {task.cancelling()} times\n")
        waiting: Any = task.get_coro()
        while waiting is not None:
            frame = next((found for name in ("cr_frame", "gi_frame", "ag_frame") if (found := getattr(waiting, name, None))), None)
            if frame is not None:
                sys.stderr.write(f"  {frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}\n")
            waiting = next((found for name in ("cr_await", "gi_yieldfrom", "ag_await") if (found := getattr(waiting, name, None))), None)
