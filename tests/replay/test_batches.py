"""Calls by Message Batches, against a real HTTP server: nothing is lost, nothing submitted twice, and every result is told."""

import asyncio
import json
from dataclasses import replace

import pytest

from audit.endpoints.endpoint_opening import open_endpoint
from audit.records.model_response import Purpose
from audit.replay.batch_requests import count_bytes, list_open_chunks, split_calls, write_chunk
from audit.replay.call_engine import UNSENT, CallSettings, HaltRequest, RunSummary, run_calls
from audit.replay.message_batches import BatchSettings, cancel_batches
from audit.replay.run_budget import TokenPrice, count_spent
from audit.replay.run_store import RunStore, build_call
from registry.errors import InputError, NotFoundError, UnavailableError
from registry.records.replay_run import Budget, Policy
from tests.endpoint.server import KEY, MODEL, Broken, Endpoint, Outcome, Refusal, Reply
from tests.replay.batching import FAST, NOW, list_submitted, make_calls, on, read_outcomes, run, stop_when


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


def test_an_error_in_a_batch_is_kept_without_the_key_and_without_half_a_character(server: Endpoint, store: RunStore) -> None:
    """What an endpoint echoes of the key is taken out, and a lone surrogate cannot keep a batch that is paid for from being read."""
    error = {"type": "error", "error": {"type": "api_error", "message": f"half \ud800 of {KEY}"}, "request_id": "req_\ud800"}
    server.edit_results = lambda lines: [json.dumps({**json.loads(one), "result": {"type": "errored", "error": error}}) for one in lines]

    run(server, store, make_calls(2))

    assert [one.failure.message for one in read_outcomes(store).values() if one.failure] == ["api_error: half ? of [key]"] * 2


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

    assert caught.value.code == "api-key-refused"
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

    given_up = run(server, store, make_calls(2), settings=CallSettings(repeat_lost=True))
    assert given_up.run.lost == 2
    summary = run(server, store, make_calls(2), settings=CallSettings(repeat_lost=True))

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
    stop = HaltRequest()
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
        BatchSettings(requests=requests, bytes=size)


def test_results_of_a_possible_batch_that_cannot_be_read_are_no_missing_list(server: Endpoint, store: RunStore) -> None:
    """Only a refused list says that no one can say; results that fail are asked for again, and nothing is lost."""
    server.after_batch = on("/batches", Broken.CLOSE)
    server.before_batch = on("/results", Refusal(status=404), method="GET", times=2)

    summary = run(server, store, make_calls(2))

    assert summary.run.lost == 0
    assert summary.results == {"succeeded": 2}


def test_a_spent_budget_submits_what_fits_and_says_so(server: Endpoint, store: RunStore) -> None:
    """A batch cannot be ended midway, so calls go in while the worst case of all of them fits."""
    settings = CallSettings(budget=Budget(output_tokens=9 * 3))

    summary = run(server, store, make_calls(5), settings=settings)

    assert summary.submitted == 3
    assert summary.run.stopped is not None
    assert summary.run.stopped.code == "budget-spent"
    assert summary.run.answered == 3


def test_a_batch_costs_the_share_that_the_price_table_says(server: Endpoint, store: RunStore) -> None:
    """A dollar pays for twice as many calls at half the price."""
    price = TokenPrice(input=0.0, output=1_000_000 / 9, batch_share=0.5)

    summary = run(server, store, make_calls(5), settings=CallSettings(budget=Budget(usd=2.0), prices={MODEL: price}))

    assert summary.submitted == 4


def test_spent_counts_batches_at_their_price(server: Endpoint, store: RunStore) -> None:
    """Five output tokens a call at one dollar each and half of it in batches."""
    price = TokenPrice(input=0.0, output=1_000_000, batch_share=0.5)

    summary = run(server, store, make_calls(2), settings=CallSettings(prices={MODEL: price}))

    assert summary.run.spent.usd == pytest.approx(5.0)


def test_a_run_of_single_calls_leaves_what_waits_in_a_batch_alone(server: Endpoint, store: RunStore) -> None:
    """A call that a batch holds is neither lost nor made again by the ordinary engine: it would be paid twice."""
    server.batch_polls = 10**9
    stop = HaltRequest()
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
