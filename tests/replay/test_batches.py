"""Calls by Message Batches, against a real HTTP server: nothing is lost, nothing submitted twice, and every result is told."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audit.model import open_endpoint
from audit.replay.batch_chunks import count_bytes, list_open_chunks, split_calls, write_chunk
from audit.replay.batches import Batching, BatchSummary, cancel_batches, run_batches
from audit.replay.budget import count_spent
from audit.replay.engine import UNSENT, Halt, Settings, run_calls
from audit.replay.prices import Price
from audit.replay.store import Call, RunStore, build_call, open_store
from audit.replay.summary import RunSummary
from registry.errors import InputError, NotFoundError, UnavailableError
from registry.records.replay import Budget, Policy
from registry.records.response import Purpose, Response
from tests.endpoint.server import KEY, MODEL, Asked, Broken, Endpoint, Outcome, Refusal, Reply, run_endpoint

NOW = datetime.now(UTC)
FAST = Batching(first_wait_s=0.0, longest_wait_s=0.0, grace_s=0.0)


@pytest.fixture
def server() -> Iterator[Endpoint]:
    """A running endpoint."""
    with run_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """An empty run folder."""
    store = open_store(tmp_path / "run", create=True)
    yield store
    store.close()


def make_calls(count: int) -> list[Call]:
    bodies = ({"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": f"q{n}"}]} for n in range(count))
    return [build_call(body, index=0, purpose=Purpose.REPLAY) for body in bodies]


def run(
    server: Endpoint,
    store: RunStore,
    calls: list[Call],
    *,
    batching: Batching = FAST,
    settings: Settings | None = None,
    policy: Policy | None = None,
    **around: Any,
) -> BatchSummary:
    policy = policy or Policy(model=MODEL, max_tokens=9, base_url=server.url)

    async def go() -> BatchSummary:
        async with open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY}, timeout_s=5) as endpoint:
            return await run_batches(store, calls, endpoint, settings, batching=batching, **around)

    return asyncio.run(go())


def read_outcomes(store: RunStore) -> dict[str, Response]:
    return {one.key: one for one in store.list_responses(Purpose.REPLAY)}


def list_submitted(server: Endpoint) -> Counter[str]:
    """How often each question was accepted in a batch, whatever became of it."""
    return Counter(one["params"]["messages"][0]["content"] for batch in server.batches.values() for one in batch["requests"])


def stop_when(stop: Halt, text: str) -> Callable[[str], None]:
    """Press Ctrl-C when something is told that holds *text*."""
    return lambda told: stop.request() if text in told else None


def on(path_end: str, outcome: Outcome, *, method: str = "POST", times: int = 1) -> Callable[[Asked], Outcome | None]:
    """Give *outcome* to the first *times* requests whose path ends so."""
    left = [times]

    def script(asked: Asked) -> Outcome | None:
        if asked.method != method or not asked.path.endswith(path_end) or not left[0]:
            return None
        left[0] -= 1
        return outcome

    return script


def test_every_call_is_answered_in_batches_of_the_size_asked_for(server: Endpoint, store: RunStore) -> None:
    """Seven calls in batches of three: three batches, seven answers matched by custom id though results come in reverse."""
    server.script = lambda asked: Reply(text=f"answer to {asked.body['messages'][0]['content']}")
    calls = make_calls(7)

    summary = run(server, store, calls, batching=replace(FAST, requests=3))

    assert [len(batch["requests"]) for batch in server.batches.values()] == [3, 3, 1]
    outcomes = read_outcomes(store)
    assert {outcomes[call.key].text for call in calls} == {f"answer to q{n}" for n in range(7)}
    assert all(outcomes[call.key].text == f"answer to {call.body['messages'][0]['content']}" for call in calls)  # type: ignore[index,call-overload]
    assert all(one.batch in server.batches and one.model_returned == MODEL and one.usage.output_tokens == 5 for one in outcomes.values())
    assert summary.results == {"succeeded": 7}
    assert not summary.running


def test_running_again_asks_the_endpoint_for_nothing(server: Endpoint, store: RunStore) -> None:
    """What is settled is not submitted again, and closed batches are not looked at."""
    run(server, store, make_calls(4))
    before = len(server.asked)

    summary = run(server, store, make_calls(4))

    assert len(server.asked) == before
    assert summary.run.settled_before == 4


def test_more_samples_reuse_the_earlier_ones(server: Endpoint, store: RunStore) -> None:
    """Only calls that are new are submitted."""
    run(server, store, make_calls(3))

    run(server, store, make_calls(5))

    assert list_submitted(server) == {f"q{n}": 1 for n in range(5)}


def test_each_kind_of_result_is_an_outcome_of_its_own(server: Endpoint, store: RunStore) -> None:
    """Succeeded, refused by the API, failed at the endpoint, expired and canceled: five outcomes, none of them an answer but the first."""
    kinds: dict[str, Outcome | str] = {
        "q0": Reply(),
        "q1": Refusal(status=400, message="max_tokens: too many"),
        "q2": Refusal(status=529, message="Overloaded"),
        "q3": "expired",
        "q4": "canceled",
    }
    server.batch_script = lambda _id, params: kinds[params["messages"][0]["content"]]
    calls = make_calls(5)

    summary = run(server, store, calls)

    outcomes = read_outcomes(store)
    codes = [outcomes[call.key].failure.code if outcomes[call.key].failure else None for call in calls]  # type: ignore[union-attr]
    assert codes == [None, "not-accepted", "endpoint-error", "batch-expired", "batch-canceled"]
    assert summary.results == {"succeeded": 1, "errored": 2, "expired": 1, "canceled": 1}
    assert not store.list_lost()


def test_missing_unknown_repeated_and_unreadable_results_are_told_and_no_call_is_left_open(server: Endpoint, store: RunStore) -> None:
    """A results file with a line dropped, doubled, foreign and garbled still gives every call one outcome."""

    def edit(lines: list[str]) -> list[str]:
        foreign = json.dumps({**json.loads(lines[0]), "custom_id": "somebody-elses"})
        return [lines[1], lines[1], foreign, "{half a line", "[]", '{"custom_id": 7, "result": null}', *lines[2:]]

    server.edit_results = edit

    summary = run(server, store, make_calls(5))

    assert summary.results == {"succeeded": 4, "missing": 1, "unknown": 1, "repeated": 1, "unreadable": 3}
    failures = [one.failure.code for one in read_outcomes(store).values() if one.failure]
    assert failures == ["batch-missing"]
    assert count_spent(store, {}, UNSENT).output_tokens == 4 * Reply().output_tokens + 9
    assert len(read_outcomes(store)) == 5


def test_a_message_that_is_none_is_a_failure_not_an_answer(server: Endpoint, store: RunStore) -> None:
    """An endpoint that says `succeeded` with a message we cannot read gives an excluded row with the reason."""
    server.edit_results = lambda lines: [
        json.dumps({**json.loads(one), "result": {"type": "succeeded", "message": {"id": 1}}}) for one in lines
    ]

    run(server, store, make_calls(2))

    assert {one.failure.code for one in read_outcomes(store).values() if one.failure} == {"bad-answer"}


def test_line_separators_inside_an_answer_do_not_cut_its_line(server: Endpoint, store: RunStore) -> None:
    """Unicode line ends may stand unescaped in JSON text; results are split at line feeds alone."""
    server.script = lambda _asked: Reply(text="a\u2028b\x85c\u2029d")
    server.edit_results = lambda lines: [json.dumps(json.loads(one), ensure_ascii=False) for one in lines]

    summary = run(server, store, make_calls(2))

    assert summary.results == {"succeeded": 2}
    assert {one.text for one in read_outcomes(store).values()} == {"a\u2028b\x85c\u2029d"}


def test_another_model_than_the_one_asked_for_is_counted(server: Endpoint, store: RunStore) -> None:
    """The model that answered is kept beside the one that was asked."""
    server.script = lambda _asked: Reply(model="claude-other")

    summary = run(server, store, make_calls(2))

    assert summary.results["other_model"] == 2
    assert {one.model_returned for one in read_outcomes(store).values()} == {"claude-other"}


@pytest.mark.parametrize("answer", [Broken.CLOSE, Broken.HALF, Broken.PROSE, Refusal(status=500)])
def test_an_accepted_submission_whose_answer_is_lost_is_found_again(server: Endpoint, store: RunStore, answer: Outcome) -> None:
    """The batch runs though nobody was told its identifier: it is adopted from the endpoint's list, and nothing is submitted twice."""
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
    """Nobody can say whether they were made: they are excluded as lost in flight, and repeated only when that is asked for."""
    server.after_batch = on("/batches", Broken.CLOSE)
    server.before_batch = on("/batches", Refusal(status=404), method="GET", times=99)

    summary = run(server, store, make_calls(2))
    again = run(server, store, make_calls(2))

    assert summary.run.lost == 2
    assert again.run.settled_before == 2
    assert list_submitted(server) == {"q0": 1, "q1": 1}
    repeated = run(server, store, make_calls(2), settings=Settings(repeat_lost=True))
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
    stop = Halt()

    left = run(server, store, make_calls(2), stop=stop, tell=stop_when(stop, "submitted as"))
    server.batch_polls = 0
    summary = run(server, store, make_calls(2))

    assert left.running == tuple(server.batches)
    assert not left.results
    assert len(server.posts("/v1/messages/batches")) == 1
    assert summary.results == {"succeeded": 2}


def test_a_second_interruption_leaves_at_once_and_the_submission_is_found_again(server: Endpoint, store: RunStore) -> None:
    """Ctrl-C twice while a submission hangs: its calls stay written down, and the next run takes the batch over."""
    stop = Halt()

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


def test_results_that_break_off_are_read_again(server: Endpoint, store: RunStore) -> None:
    """What was settled before the connection broke is kept, and the rest comes with the next reading."""
    server.after_batch = on("/results", Broken.HALF, method="GET", times=2)

    summary = run(server, store, make_calls(4))

    assert summary.results == {"succeeded": 4}
    assert len(read_outcomes(store)) == 4


def test_a_busy_endpoint_is_asked_again(server: Endpoint, store: RunStore) -> None:
    """429 and 529 say that nothing was accepted, so the submission is repeated, and polling goes on."""
    server.before_batch = on("/batches", Refusal(status=429, headers={"retry-after": "0"}), times=3)

    summary = run(server, store, make_calls(2))

    assert list_submitted(server) == {"q0": 1, "q1": 1}
    assert summary.results == {"succeeded": 2}


def test_a_wrong_key_ends_the_run_and_costs_no_call(server: Endpoint, store: RunStore) -> None:
    """The error names the key's variable and never the key; with the right key the same calls are made."""
    server.key = "sk-another"
    with pytest.raises(UnavailableError) as caught:
        run(server, store, make_calls(2))
    server.key = KEY

    summary = run(server, store, make_calls(2))

    assert caught.value.code == "key-refused"
    assert KEY not in str(caught.value)
    assert summary.results == {"succeeded": 2}


def test_an_endpoint_without_batches_is_told_so(server: Endpoint, store: RunStore) -> None:
    """404 on submission is no lost call: the error says what to do instead."""
    server.before_batch = lambda _asked: Refusal(status=404, message="File Not Found")

    with pytest.raises(InputError) as caught:
        run(server, store, make_calls(2))

    assert caught.value.code == "batch-refused"


def test_a_batch_that_the_endpoint_no_longer_knows_is_an_error_and_can_be_given_up(server: Endpoint, store: RunStore) -> None:
    """Another workspace's key, or a deleted batch: nothing is repeated until somebody says that the calls are lost."""
    server.before_batch = on("", Refusal(status=404, message="message batch not found"), method="GET", times=2)
    with pytest.raises(NotFoundError) as caught:
        run(server, store, make_calls(2))

    given_up = run(server, store, make_calls(2), settings=Settings(repeat_lost=True))
    assert given_up.run.lost == 2
    summary = run(server, store, make_calls(2), settings=Settings(repeat_lost=True))

    assert caught.value.code == "batch-not-found"
    assert summary.results == {"succeeded": 2}


def test_sampling_parameters_are_refused_where_the_version_does_not_take_them(server: Endpoint, store: RunStore) -> None:
    """One version header holds for a whole batch: what it does not take is refused before anything is submitted."""
    body = {**make_calls(1)[0].body, "temperature": 0.5}
    call = build_call(body, index=0, purpose=Purpose.REPLAY)

    with pytest.raises(InputError) as caught:
        run(server, store, [call], policy=Policy(model=MODEL, max_tokens=9, base_url=server.url, api_version="2026-10-21"))

    assert caught.value.code == "sampling-not-settable"
    assert not server.asked
    run(server, store, [call], policy=Policy(model=MODEL, max_tokens=9, base_url=server.url, temperature=0.5))
    assert [one.text for one in read_outcomes(store).values()] == ["ok"]


def test_cancelling_settles_what_was_not_done(server: Endpoint, store: RunStore) -> None:
    """A batch that is cancelled at the endpoint comes back with its requests canceled; none is left open."""
    server.batch_polls = 10**9
    stop = Halt()
    run(server, store, make_calls(2), stop=stop, tell=stop_when(stop, "submitted as"))

    async def cancel() -> list[str]:
        policy = Policy(model=MODEL, max_tokens=9, base_url=server.url)
        async with open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY}, timeout_s=5) as endpoint:
            return await cancel_batches(store, endpoint)

    canceled = asyncio.run(cancel())

    assert canceled == list(server.batches)
    assert run(server, store, make_calls(2)).results == {"canceled": 2}


def test_a_call_that_stands_twice_is_one_call() -> None:
    """Two cells may share a call; a batch holds it once."""
    calls = make_calls(3)

    chunks = list(split_calls([*calls, *calls], most=10, most_bytes=10**6))

    assert chunks == [calls]


def test_chunks_keep_to_both_limits() -> None:
    """No chunk holds more requests or bytes than allowed, except a single request that is larger alone; nothing is left out."""
    calls = make_calls(20)
    size = count_bytes(calls[0].body)

    by_size = list(split_calls(calls, most=100, most_bytes=size * 4 + 10))
    alone = list(split_calls(calls, most=100, most_bytes=1))

    assert [call for chunk in by_size for call in chunk] == calls
    assert max(len(chunk) for chunk in by_size) == 4
    assert [len(chunk) for chunk in alone] == [1] * 20


def test_what_is_counted_is_what_is_sent(server: Endpoint, store: RunStore) -> None:
    """The size of a submission is never above our count of it."""
    calls = make_calls(10)

    run(server, store, calls)

    sent = int(server.posts("/v1/messages/batches")[0].headers["content-length"])
    assert sent <= sum(count_bytes(call.body) for call in calls) + 20


def test_a_chunk_that_is_open_says_so(server: Endpoint, store: RunStore) -> None:
    """Open chunks are those that something may still come of; numbers go on where they ended."""
    write_chunk(store, make_calls(2), number=1, endpoint=server.url, at=NOW)

    chunks, number = list_open_chunks(store)

    assert [chunk.name for chunk in chunks] == ["batch-000001"]
    assert number == 1
    assert all(len(name) <= 64 for name in chunks[0].custom_ids)


@pytest.mark.parametrize(("requests", "size"), [(0, 10), (100_001, 10), (10, 0), (10, 2**30)])
def test_limits_of_the_api_cannot_be_passed(requests: int, size: int) -> None:
    """Settings beyond what a batch can hold are refused when they are made."""
    with pytest.raises(ValueError, match="a batch has"):
        Batching(requests=requests, bytes=size)


def test_results_of_a_possible_batch_that_cannot_be_read_are_no_missing_list(server: Endpoint, store: RunStore) -> None:
    """Only a refused list says that nobody can say; results that fail are asked for again, and nothing is lost."""
    server.after_batch = on("/batches", Broken.CLOSE)
    server.before_batch = on("/results", Refusal(status=404), method="GET", times=2)

    summary = run(server, store, make_calls(2))

    assert summary.run.lost == 0
    assert summary.results == {"succeeded": 2}


def test_a_spent_budget_submits_what_fits_and_says_so(server: Endpoint, store: RunStore) -> None:
    """A batch cannot be ended midway, so calls go in while the worst case of all of them fits."""
    settings = Settings(budget=Budget(output_tokens=9 * 3))

    summary = run(server, store, make_calls(5), settings=settings)

    assert summary.submitted == 3
    assert summary.run.stopped is not None
    assert summary.run.stopped.code == "budget-spent"
    assert summary.run.answered == 3


def test_a_batch_costs_the_share_that_the_price_table_says(server: Endpoint, store: RunStore) -> None:
    """A dollar pays for twice as many calls at half the price."""
    price = Price(input=0.0, output=1_000_000 / 9, batch_share=0.5)

    summary = run(server, store, make_calls(5), settings=Settings(budget=Budget(usd=2.0), prices={MODEL: price}))

    assert summary.submitted == 4


def test_spent_counts_batches_at_their_price(server: Endpoint, store: RunStore) -> None:
    """Five output tokens a call at one dollar each and half of it in batches."""
    price = Price(input=0.0, output=1_000_000, batch_share=0.5)

    summary = run(server, store, make_calls(2), settings=Settings(prices={MODEL: price}))

    assert summary.run.spent.usd == pytest.approx(5.0)


def test_a_run_of_single_calls_leaves_what_waits_in_a_batch_alone(server: Endpoint, store: RunStore) -> None:
    """A call that a batch holds is neither lost nor made again by the ordinary engine: it would be paid twice."""
    server.batch_polls = 10**9
    stop = Halt()
    run(server, store, make_calls(2), stop=stop, tell=stop_when(stop, "submitted as"))

    async def go() -> RunSummary:
        policy = Policy(model=MODEL, max_tokens=9, base_url=server.url)
        async with open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY}, timeout_s=5) as endpoint:
            return await run_calls(store, make_calls(3), endpoint)

    summary = asyncio.run(go())

    assert summary.answered == 1
    assert len(server.posts()) == 1
    server.batch_polls = 0
    assert run(server, store, make_calls(3)).results == {"succeeded": 2}
