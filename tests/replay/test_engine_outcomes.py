"""What becomes of every kind of answer, and of none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from audit.replay.request_pacing import RetryLimits
from registry.errors import AnswerNoError, InputError, UnavailableError
from tests.endpoint.server import KEY, Broken, Endpoint, Outcome, Refusal, Reply, run_endpoint
from tests.replay.calling import make_calls, read_all, run


def test_every_call_is_made_once_and_kept(tmp_path: Path) -> None:
    """Each answer stands in the store with its model, tokens and request id."""
    with run_endpoint() as server:
        summary = run(server, tmp_path, make_calls(20, samples=3))
        asked = len(server.posts())
    found = read_all(tmp_path)

    assert (summary.answered, summary.settled_before, asked, len(found)) == (60, 0, 60, 60)
    assert {one.text for one in found} == {"ok"}
    assert all(one.attempts[0].request_id and one.latency_s and one.usage.output_tokens == 5 for one in found)


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        (Reply(text=None, stop_reason="refusal"), "refusals"),
        (Reply(text="", stop_reason="end_turn"), "empty"),
        (Reply(text="half a sen", stop_reason="max_tokens"), "truncated"),
    ],
)
def test_an_unwelcome_answer_is_an_answer(tmp_path: Path, reply: Reply, count: str) -> None:
    """Refusals, empty and cut answers are rows, not errors, and are not asked for again."""
    with run_endpoint(Endpoint(script=lambda _: reply)) as server:
        summary = run(server, tmp_path, make_calls(3))
        again = run(server, tmp_path, make_calls(3), retry_failed=True)

    assert (summary.answered, getattr(summary, count), again.settled_before) == (3, 3, 3)
    assert {one.stop_reason for one in read_all(tmp_path)} == {reply.stop_reason}


@pytest.mark.parametrize(
    ("first", "code"),
    [
        (Refusal(status=429, headers={"retry-after": "0"}), "rate_limit_error"),
        (Refusal(status=529), "overloaded_error"),
        (Refusal(status=500), "api_error"),
        (Refusal(status=503, body=b"<html>busy</html>"), "endpoint-error"),
        (Broken.CLOSE, "connection-lost"),
        (Broken.HALF, "connection-lost"),
    ],
)
def test_what_passes_is_tried_again(tmp_path: Path, first: Outcome, code: str) -> None:
    """A call that failed for a passing reason is answered in the end, and its failed attempts are kept."""
    with run_endpoint(Endpoint(script=lambda asked: first if asked.number == 0 else Reply())) as server:
        summary = run(server, tmp_path, make_calls(6))

    assert (summary.answered, summary.attempts) == (6, 12)
    assert {one.attempts[0].error for one in read_all(tmp_path)} == {code}


@pytest.mark.parametrize(("broken", "twice"), [(Broken.CLOSE, 4), (Broken.HALF, 4), (Broken.STALL, 4), (Broken.HANG, 4)])
def test_a_repetition_that_may_be_paid_twice_is_counted(tmp_path: Path, broken: Broken, twice: int) -> None:
    """After a connection that broke, or a request without an answer, no one knows whether the model worked."""
    with run_endpoint(Endpoint(script=lambda asked: broken if asked.number == 0 else Reply())) as server:
        summary = run(server, tmp_path, make_calls(4), timeout_s=3.0)

    assert (summary.answered, summary.maybe_billed_twice) == (4, twice)


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Broken.PROSE, "bad-answer"),
        (Broken.HANG, "time-out"),
        (Broken.CLOSE, "connection-lost"),
        (Refusal(status=500), "endpoint-error"),
        (Refusal(status=429), "rate-limited"),
        (Refusal(status=400, message="prompt is too long"), "not-accepted"),
        (Refusal(status=200, body=b'{"type": "message", "content": "text"}'), "bad-answer"),
        (Refusal(status=200, body=b'{"model": "m", "content": [{"text": "no type"}]}'), "bad-answer"),
        (Refusal(status=200, body=b"[]"), "bad-answer"),
        (Refusal(status=200, body=b""), "bad-answer"),
    ],
)
def test_a_call_without_an_answer_is_a_failure_with_its_reason(tmp_path: Path, outcome: Outcome, code: str) -> None:
    """One call that never succeeds is kept as failed; the others are answered all the same."""
    bad: Callable[[str], bool] = lambda text: text.endswith("task 3")  # noqa: E731
    with run_endpoint(Endpoint(script=lambda asked: outcome if bad(asked.body["messages"][0]["content"]) else Reply())) as server:
        patience = RetryLimits(max_attempts=2, first_wait_s=0.01)
        summary = run(server, tmp_path, make_calls(8), timeout_s=0.5, patience=patience)
        repeated = run(server, tmp_path, make_calls(8), timeout_s=0.5, patience=patience)
    failed = [one.failure.code for one in read_all(tmp_path) if one.failure]

    assert (summary.answered, dict(summary.failures), failed) == (7, {code: 1}, [code])
    assert (repeated.attempts, repeated.settled_before) == (0, 8)


def test_failed_calls_are_sent_again_when_somebody_asks(tmp_path: Path) -> None:
    """With retry_failed only the failed ones are sent, and the later outcome counts."""
    with run_endpoint(Endpoint(script=lambda asked: Broken.PROSE if asked.number == 0 else Reply())) as server:
        run(server, tmp_path, make_calls(2))
        run(server, tmp_path, make_calls(4))
        summary = run(server, tmp_path, make_calls(4), retry_failed=True)

    assert (summary.answered, len(server.posts())) == (4, 8)
    assert all(one.failure is None for one in read_all(tmp_path))


def test_a_wrong_key_ends_the_run_at_once(tmp_path: Path) -> None:
    """Nothing goes on after a refused key, which is told nowhere; with the right one the same calls are made."""
    wrong = "sk-wrong-key-4242"
    with run_endpoint() as server:
        summary = run(server, tmp_path, make_calls(500), key=wrong, concurrency=4)
        asked = len(server.posts())
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        after = run(server, tmp_path, make_calls(500), key=KEY)

    assert isinstance(summary.stopped, UnavailableError)
    assert (summary.stopped.code, summary.stopped.exit_code) == ("api-key-refused", 3)
    assert asked <= 8
    assert wrong not in str(summary.stopped)
    assert wrong.encode() not in kept
    assert (after.answered, after.stopped) == (500, None)


def test_a_key_that_the_endpoint_echoes_is_not_kept(tmp_path: Path) -> None:
    """An endpoint that repeats the key in its error cannot make us print or keep it."""
    with run_endpoint(Endpoint(script=lambda _: Refusal(status=400, message=f"you sent {KEY}"))) as server:
        summary = run(server, tmp_path, make_calls(8))
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert summary.stopped is not None
    assert "[key]" in str(summary.stopped)
    assert KEY not in str(summary.stopped)
    assert KEY.encode() not in kept


def test_an_unknown_model_ends_the_run(tmp_path: Path) -> None:
    """A model that the endpoint does not know is no property of single calls."""
    with run_endpoint() as server:
        summary = run(server, tmp_path, make_calls(300, model="claude-none-1"), concurrency=4)

    assert isinstance(summary.stopped, InputError)
    assert summary.stopped.code == "endpoint-model-unknown"
    assert "claude-none-1" in str(summary.stopped)
    assert summary.attempts <= 8


def test_when_none_of_the_first_calls_is_accepted_the_others_are_not_sent(tmp_path: Path) -> None:
    """A policy that the endpoint refuses is told in its words, and costs five calls, not all."""
    script = Endpoint(script=lambda _: Refusal(status=400, message="effort: not supported by this model"))
    with run_endpoint(script) as server:
        summary = run(server, tmp_path, make_calls(300), concurrency=4)

    assert isinstance(summary.stopped, InputError)
    assert "effort: not supported by this model" in str(summary.stopped)
    assert summary.attempts < 20


def test_an_endpoint_that_went_down_ends_the_run(tmp_path: Path) -> None:
    """After twenty calls in a row without an answer the rest is left for a better day."""
    with run_endpoint(Endpoint(script=lambda _: Refusal(status=502, body=b"bad gateway"))) as server:
        summary = run(server, tmp_path, make_calls(300), concurrency=4, patience=RetryLimits(max_attempts=1))

    assert isinstance(summary.stopped, UnavailableError)
    assert summary.stopped.code == "endpoint-unreachable"
    assert summary.attempts < 40


def test_another_model_ends_the_run_and_its_answer_is_kept(tmp_path: Path) -> None:
    """A change of the model that answers is never silent."""
    changing = Endpoint(script=lambda _: Reply(model=None if len(server.posts()) <= 10 else "claude-test-2"))
    with run_endpoint(changing) as server:
        summary = run(server, tmp_path, make_calls(300), concurrency=2)
        again = run(server, tmp_path, make_calls(300), concurrency=2, allow_alias=True)
    returned = {one.model_returned for one in read_all(tmp_path)}

    assert isinstance(summary.stopped, AnswerNoError)
    assert summary.stopped.code == "model-changed"
    assert "claude-test-2" in returned
    assert summary.answered < 20
    assert again.stopped is not None


def test_an_alias_may_answer_under_one_other_name(tmp_path: Path) -> None:
    """With allow_alias one other name is accepted, and stays the only one."""
    with run_endpoint(Endpoint(script=lambda _: Reply(model="claude-test-1-resolved"))) as server:
        refused = run(server, tmp_path / "a", make_calls(30), concurrency=2)
        allowed = run(server, tmp_path / "b", make_calls(30), allow_alias=True)

    assert refused.stopped is not None
    assert (allowed.answered, allowed.stopped) == (30, None)


def test_retry_after_is_obeyed_up_to_a_ceiling(tmp_path: Path) -> None:
    """An endpoint that asks for an hour is asked again after the ceiling."""
    hour = Refusal(status=429, headers={"retry-after": "3600"})
    with run_endpoint(Endpoint(script=lambda asked: hour if asked.number == 0 else Reply())) as server:
        summary = run(server, tmp_path, make_calls(3))

    assert summary.answered == 3
    assert summary.elapsed_s < 10
