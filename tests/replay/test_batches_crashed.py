"""Batches after a crash, a lost answer or an interruption: found again, never submitted twice, and never lost without a word."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from audit.replay.batch_requests import write_chunk
from audit.replay.call_engine import CallSettings, HaltRequest, run_calls
from audit.replay.run_store import Call, RunStore, open_store
from registry.errors import AnswerNoError
from registry.records.replay_run import Budget
from tests.endpoint.server import Asked, Broken, Endpoint, Outcome, Refusal
from tests.replay.batching import FAST, NOW, list_submitted, make_calls, on, run, stop_when
from tests.replay.calling import open_at


@pytest.mark.parametrize("answer", [Broken.CLOSE, Broken.HALF, Broken.PROSE, Refusal(status=500)])
def test_an_accepted_submission_whose_answer_is_lost_is_found_again(server: Endpoint, store: RunStore, answer: Outcome) -> None:
    """The batch runs though no one was told its identifier: it is adopted from the endpoint's list, and nothing is submitted twice."""
    server.after_batch = on("/batches", answer)

    summary = run(server, store, make_calls(3))

    assert list_submitted(server) == {f"q{n}": 1 for n in range(3)}
    assert summary.results == {"succeeded": 3}


@pytest.mark.parametrize("answer", [Broken.CLOSE, Refusal(status=500)])
def test_a_submission_that_never_arrived_is_made_again(server: Endpoint, store: RunStore, answer: Outcome) -> None:
    """After listing, it is known that the endpoint has no such batch; then submitting again pays nothing twice."""
    server.before_batch = on("/batches", answer)
    told: list[str] = []

    summary = run(server, store, make_calls(3), tell=told.append)

    assert list_submitted(server) == {f"q{n}": 1 for n in range(3)}
    assert summary.results == {"succeeded": 3}
    assert any("was never accepted" in line for line in told)


def test_a_young_submission_is_not_repeated_before_the_list_can_show_it(server: Endpoint, store: RunStore) -> None:
    """An endpoint's list may lag: only after the grace is a batch that is not on it believed not to be there."""
    server.before_batch = on("/batches", Broken.CLOSE)

    def read_clock() -> datetime:
        # Time passes with every look at the list.
        return NOW + timedelta(seconds=20 * sum(one.method == "GET" for one in server.asked))

    run(server, store, make_calls(2), batching=replace(FAST, grace_s=60.0), clock=read_clock)

    submissions = [number for number, one in enumerate(server.asked) if one.method == "POST"]
    assert len(submissions) == 2
    assert submissions[1] - submissions[0] == 4


def test_a_foreign_batch_of_the_same_size_is_not_adopted(server: Endpoint, store: RunStore, tmp_path: Path) -> None:
    """Another run of the very same calls in the same workspace keeps its batch; ours is submitted on its own."""
    other = open_store(tmp_path / "other", create=True)
    run(server, other, make_calls(3))
    other.close()
    server.before_batch = on("/batches", Broken.CLOSE)

    summary = run(server, store, make_calls(3))

    assert list_submitted(server) == {f"q{n}": 2 for n in range(3)}
    assert summary.results == {"succeeded": 3}


def test_a_batch_that_may_be_ours_is_waited_for_and_then_looked_at(server: Endpoint, store: RunStore) -> None:
    """Whose a running batch is shows only in its results: meanwhile nothing is submitted."""
    server.after_batch = on("/batches", Broken.CLOSE)
    server.batch_polls = 5

    summary = run(server, store, make_calls(2))

    lists = [one for one in server.asked if one.method == "GET" and one.path.endswith("/batches")]
    assert len(lists) == 6
    assert len(server.posts("/v1/messages/batches")) == 1
    assert summary.results == {"succeeded": 2}


def test_without_a_list_of_batches_calls_in_doubt_are_lost_and_not_repeated(server: Endpoint, store: RunStore) -> None:
    """No one can say whether they were made: they are excluded as lost in flight, and repeated only when that is asked for."""
    server.after_batch = on("/batches", Broken.CLOSE)
    server.before_batch = on("/batches", Refusal(status=404), method="GET", times=99)

    summary = run(server, store, make_calls(2))
    again = run(server, store, make_calls(2))

    assert summary.run.lost == 2
    assert again.run.settled_before == 2
    assert list_submitted(server) == {"q0": 1, "q1": 1}
    repeated = run(server, store, make_calls(2), settings=CallSettings(repeat_lost=True))
    assert repeated.results == {"succeeded": 2}


def test_a_crash_before_the_intents_leaves_nothing_behind(server: Endpoint, store: RunStore) -> None:
    """A chunk that was written down and has no intents was never submitted; its calls are made in the ordinary way."""
    calls = make_calls(2)
    store.put_document("batch-000001", {"at": NOW.isoformat(), "endpoint": server.url, "keys": [call.key for call in calls]})

    summary = run(server, store, calls)

    assert list_submitted(server) == {"q0": 1, "q1": 1}
    assert summary.results == {"succeeded": 2}


def test_a_crash_between_intent_and_submission_submits_once(server: Endpoint, store: RunStore) -> None:
    """The endpoint has no such batch, so its calls are submitted, with the intents that they have."""
    write_chunk(store, make_calls(3), number=1, endpoint=server.url, at=NOW)

    summary = run(server, store, make_calls(3))

    assert list_submitted(server) == {f"q{n}": 1 for n in range(3)}
    assert summary.results == {"succeeded": 3}
    assert not store.list_lost()


def test_stopping_leaves_the_batch_running_and_coming_back_reads_it(server: Endpoint, store: RunStore) -> None:
    """Ctrl-C while a batch is worked on: its identifier is told, and the next run waits for it without submitting."""
    server.batch_polls = 10**9
    stop = HaltRequest()

    left = run(server, store, make_calls(2), stop=stop, tell=stop_when(stop, "submitted as"))
    server.batch_polls = 0
    summary = run(server, store, make_calls(2))

    assert left.running == tuple(server.batches)
    assert not left.results
    assert len(server.posts("/v1/messages/batches")) == 1
    assert summary.results == {"succeeded": 2}


def test_a_second_interruption_leaves_at_once_and_the_submission_is_found_again(server: Endpoint, store: RunStore) -> None:
    """Ctrl-C twice while a submission hangs: its calls stay written down, and the next run takes the batch over."""
    stop = HaltRequest()

    def press(_asked: Asked) -> Outcome | None:
        for _ in range(2):
            loops[0].call_soon_threadsafe(stop.request)
        return Broken.HANG

    loops: list[asyncio.AbstractEventLoop] = []
    server.after_batch = press

    def list_calls() -> Iterator[Call]:
        loops.append(asyncio.get_running_loop())
        yield from make_calls(2)

    left = run(server, store, list_calls(), stop=stop)  # type: ignore[arg-type]
    server.after_batch = None
    summary = run(server, store, make_calls(2))

    assert left.running == ("batch-000001",)
    assert left.run.interrupted
    assert list_submitted(server) == {"q0": 1, "q1": 1}
    assert summary.results == {"succeeded": 2}


def test_what_waits_in_a_batch_counts_against_the_budget_of_the_next_run(server: Endpoint, store: RunStore) -> None:
    """Three calls are allowed and three wait at the endpoint: coming back makes no fourth, in a batch or alone, before they are read."""
    server.batch_polls = 10**9
    stop, settings = HaltRequest(), CallSettings(budget=Budget(calls=3))
    run(server, store, make_calls(3), settings=settings, stop=stop, tell=stop_when(stop, "submitted as"))

    async def make_alone() -> object:
        async with open_at(server) as endpoint:
            return (await run_calls(store, make_calls(6), endpoint, settings)).stopped

    alone = asyncio.run(make_alone())
    server.batch_polls = 0
    summary = run(server, store, make_calls(6), settings=settings)

    assert isinstance(alone, AnswerNoError)
    assert list_submitted(server) == {f"q{n}": 1 for n in range(3)}
    assert server.posts() == []
    assert summary.results == {"succeeded": 3}
    assert summary.run.stopped is not None
    assert summary.run.stopped.code == "budget-spent"
