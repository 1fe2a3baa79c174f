"""Calls made from the command line for judge and probe: one way to send them, to end at Ctrl-C, and to show how far they are."""

import asyncio
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from audit.model import open_endpoint
from audit.replay.call_engine import CallSettings, HaltRequest, RunSummary, run_calls
from audit.replay.message_batches import run_batches
from audit.replay.run_store import Call, RunStore
from registry.cli.application import App
from registry.records.replay_definition import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What all calls of one command have in common."""

    app: App
    store: RunStore
    policy: Policy
    settings: CallSettings
    timeout_s: float = 600.0
    """Seconds that one request may take."""

    def make(self, calls: Iterable[Call], show: Callable[[RunSummary], None], *, batch: bool = False) -> RunSummary:
        """Make *calls*; Ctrl-C ends with what is under way, a second one leaves that too.

        Args:
            show: told how things stand.
            batch: by Message Batches; what the endpoint still works on at the end counts as interrupted.
        """
        return asyncio.run(self._make(calls, show, batch=batch))

    async def _make(self, calls: Iterable[Call], show: Callable[[RunSummary], None], *, batch: bool) -> RunSummary:
        halt, loop = HaltRequest(), asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, lambda: self._request(halt))
        try:
            async with open_endpoint(self.policy, timeout_s=self.timeout_s) as endpoint:
                if not batch:
                    return await run_calls(self.store, calls, endpoint, self.settings, progress=show, stop=halt)
                done = await run_batches(self.store, calls, endpoint, self.settings, progress=show, tell=self.app.say, stop=halt)
                return replace(done.run, interrupted=True) if done.running else done.run
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _request(self, halt: HaltRequest) -> None:
        halt.request()
        self.app.say(
            "ending: waiting for the calls under way; Ctrl-C again leaves them" if halt.times == 1 else "leaving the calls under way"
        )


def count_up(advance: Callable[[int], None]) -> Callable[[RunSummary], None]:
    """Return what shows a run's summaries on a bar that *advance* moves: calls that are over, earlier ones included, never backwards."""
    shown = 0

    def show(summary: RunSummary) -> None:
        nonlocal shown
        done = summary.settled_before + summary.done
        advance(max(0, done - shown))
        shown = max(shown, done)

    return show
