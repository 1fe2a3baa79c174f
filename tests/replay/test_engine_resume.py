"""Running again: what has an outcome is not sent, what was lost is told, and two never work in one folder."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.records.model_response import Purpose
from audit.replay.call_engine import HaltRequest, RunSummary, hold_run
from audit.replay.run_store import build_call, open_store
from registry.errors import AnswerNoError, ConflictError
from registry.records.replay_run import Budget
from tests.endpoint.server import Asked, Endpoint, Reply, run_endpoint
from tests.replay.calling import make_calls, read_all, read_store, run


def test_more_samples_are_only_the_new_calls(tmp_path: Path) -> None:
    """Raising the number of samples reuses the earlier ones."""
    with run_endpoint() as server:
        run(server, tmp_path, make_calls(10, samples=2))
        summary = run(server, tmp_path, make_calls(10, samples=5))
        asked = len(server.posts())

    assert (summary.answered, summary.settled_before, asked) == (30, 20, 50)


def test_the_same_call_twice_is_one_call(tmp_path: Path) -> None:
    """Two cells with the same request and sample share one answer."""
    with run_endpoint() as server:
        summary = run(server, tmp_path, iter([*make_calls(150), *make_calls(150)]))
        asked = len(server.posts())

    assert (summary.answered, summary.settled_before, asked) == (150, 150, 150)


def test_a_call_lost_in_flight_is_told_and_not_repeated(tmp_path: Path) -> None:
    """An intent without an outcome may have been billed: it becomes a failure, and is sent again only when asked for."""
    lost = list(make_calls(3))
    store = open_store(tmp_path, create=True)
    store.intend(lost, at="2026-11-21T12:00:00+00:00")
    store.close()
    with run_endpoint() as server:
        first = run(server, tmp_path, make_calls(10))
        asked = len(server.posts())
        failed = run(server, tmp_path, make_calls(10), retry_failed=True)
        repeated = run(server, tmp_path, make_calls(10), repeat_lost=True)

    assert (first.lost, first.answered, asked) == (3, 7, 7)
    assert (failed.answered, failed.lost) == (0, 0)
    assert (repeated.answered, repeated.lost, len(server.posts())) == (3, 0, 10)
    assert all(one.failure is None for one in read_all(tmp_path))


def test_only_one_process_works_in_a_run_folder(tmp_path: Path) -> None:
    """A second one is refused before it takes the first one's calls for lost."""
    store = open_store(tmp_path, create=True)
    with run_endpoint() as server, hold_run(store), pytest.raises(ConflictError, match="in-use"):
        run(server, tmp_path, make_calls(3))

    assert server.posts() == []


def test_an_interrupted_run_keeps_what_was_under_way(tmp_path: Path) -> None:
    """Asked to end, a run begins nothing more, waits for its answers, and another one makes the rest."""
    halt = HaltRequest()

    def progress(summary: RunSummary) -> None:
        if summary.answered >= 10 and not halt.times:
            halt.request()

    with run_endpoint(Endpoint(script=lambda _: Reply(delay_s=0.02))) as server:
        summary = run(server, tmp_path, make_calls(2000), concurrency=4, progress=progress, stop=halt)
        asked = len(server.posts())
        rest = run(server, tmp_path, make_calls(200), concurrency=16)
    store = read_store(tmp_path)

    assert summary.interrupted
    assert summary.answered == asked < 2000
    assert rest.lost == 0
    assert store.list_lost() == []
    assert max(one.number for one in server.posts()) == 0
    store.close()


def test_a_run_that_is_asked_to_end_while_it_waits_for_its_budget_does_not_call_it_spent(tmp_path: Path) -> None:
    """The call under way may spend less than it could, so no one knows whether the next one would have fitted."""

    class Pressed(HaltRequest):
        def listen(self, listener: Callable[[], None]) -> None:
            self.loop = asyncio.get_running_loop()
            super().listen(listener)

    halt = Pressed()

    def script(_asked: Asked) -> Reply:
        halt.loop.call_soon_threadsafe(halt.request)
        return Reply(delay_s=0.3)

    with run_endpoint(Endpoint(script=script)) as server:
        summary = run(server, tmp_path, make_calls(4), budget=Budget(output_tokens=60), stop=halt)

    assert summary.interrupted
    assert (summary.answered, summary.stopped) == (1, None)


def test_asked_twice_a_run_leaves_its_calls(tmp_path: Path) -> None:
    """What was under way is then lost in flight, and the next run says so."""
    halt = HaltRequest()

    def progress(summary: RunSummary) -> None:
        if summary.answered:
            halt.request()
            halt.request()

    with run_endpoint(Endpoint(script=lambda asked: Reply(delay_s=0.5 if "task 0" in str(asked.body) else 30))) as server:
        summary = run(server, tmp_path, make_calls(4), progress=progress, stop=halt)
        server.script = lambda _: Reply()
        after = run(server, tmp_path, make_calls(4))

    assert summary.interrupted
    assert after.lost == 3


@pytest.mark.parametrize(
    ("budget", "made"),
    [(Budget(calls=7), 7), (Budget(output_tokens=5 * 9 + 50), 10), (Budget(calls=0), 0)],
)
def test_a_budget_is_not_exceeded(tmp_path: Path, budget: Budget, made: int) -> None:
    """The run ends before a call that could exceed it, runs again add to what was spent, and a larger budget goes on.

    Every answer takes 5 output tokens of the 50 it may: after 9 answers (45), a tenth may still take 50.
    """
    with run_endpoint() as server:
        first = run(server, tmp_path, make_calls(40), budget=budget, concurrency=3)
        again = run(server, tmp_path, make_calls(40), budget=budget)
        whole = run(server, tmp_path, make_calls(40))

    assert first.answered == made
    assert isinstance(first.stopped, AnswerNoError)
    assert first.stopped.code == "budget-spent"
    assert again.answered == 0
    assert (whole.answered, whole.stopped) == (40 - made, None)


def test_input_is_counted_as_the_endpoint_counts_it(tmp_path: Path) -> None:
    """A budget of input tokens holds although no one knows before how the endpoint counts."""
    with run_endpoint(Endpoint(script=lambda _: Reply(input_tokens=3))) as server:
        summary = run(server, tmp_path, make_calls(100), budget=Budget(input_tokens=60), concurrency=2)

    assert summary.stopped is not None
    assert 15 <= summary.answered <= 20
    assert summary.spent.input_tokens <= 60


def test_a_call_is_known_by_its_whole_request() -> None:
    """Another system prompt, message or parameter is another call; the order of keys is not."""
    body = {"model": "m", "max_tokens": 5, "system": "s", "messages": [{"role": "user", "content": "q"}]}
    key = build_call(body, index=0, purpose=Purpose.REPLAY).key
    others = [{**body, "system": "t"}, {**body, "temperature": 0.5}, {**body, "messages": [{"role": "user", "content": "r"}]}]

    assert build_call(dict(reversed(body.items())), index=0, purpose=Purpose.REPLAY).key == key
    assert key not in {build_call(one, index=0, purpose=Purpose.REPLAY).key for one in others}
    assert build_call(body, index=1, purpose=Purpose.REPLAY).key != key
