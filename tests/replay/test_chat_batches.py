"""Batches of the OpenAI API, with the real client: every answer kept, none asked for twice, and each refusal with its reason."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.endpoints.chat_completions import write_chat_body
from audit.replay.call_engine import HaltRequest
from audit.replay.message_batches import BatchSummary
from audit.replay.run_store import Call, RunStore, open_store
from registry.codec.canonical_documents import canonical_bytes
from registry.errors import InputError, UnavailableError
from registry.records.replay_run import Policy
from registry.records.specification import ModelApi
from tests.endpoint.chat_server import CHAT, CHAT_MODEL, ChatServer, Completion
from tests.endpoint.server import KEY, Broken, Outcome, Refusal, run_endpoint
from tests.replay import batching
from tests.replay.batching import list_submitted, on, read_outcomes, stop_when
from tests.replay.conftest import Caveat
from tests.replay.test_chat_run import read_provenance, write


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """An endpoint that offers batches, each of which ends when it is looked at a second time."""
    with run_endpoint(ChatServer(script=lambda asked: Completion(text=f"answer to {asked.body['messages'][-1]['content']}"))) as running:
        assert isinstance(running, ChatServer)
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """An empty run folder."""
    opened = open_store(tmp_path / "run", create=True)
    yield opened
    opened.close()


def make_calls(count: int) -> list[Call]:
    return batching.make_calls(count, model=CHAT_MODEL)


def run(server: ChatServer, store: RunStore, calls: list[Call], **around: Any) -> BatchSummary:
    """Make *calls* by batches at *server*."""
    policy = Policy(model=CHAT_MODEL, max_tokens=9, base_url=f"{server.url}/v1", api=ModelApi.OPENAI_CHAT)
    return batching.run(server, store, calls, policy=policy, **around)


def count_batches(server: ChatServer) -> int:
    """How many submissions were made."""
    return len(server.posts("/v1/batches"))


def test_every_answer_of_a_batch_is_kept_with_what_was_sent(server: ChatServer, store: RunStore) -> None:
    """Requests in the words of the API, answers as outside a batch: fingerprint, finish reason and the digest of the request."""
    calls = make_calls(3)

    summary = run(server, store, calls)
    again = run(server, store, calls)

    outcomes = read_outcomes(store)
    first = outcomes[calls[0].key]
    sent = write_chat_body(calls[0].body, max_tokens_field="max_tokens")
    (file,) = server.posts("/v1/files")
    assert (summary.results, again.run.settled_before, count_batches(server)) == ({"succeeded": 3}, 3, 1)
    assert [outcomes[call.key].text for call in calls] == [f"answer to q{n}" for n in range(3)]
    assert json.loads(file.body["file"].splitlines()[0])["body"] == sent
    assert first.completion is not None
    assert (first.completion.sent, first.completion.system_fingerprint) == (hashlib.sha256(canonical_bytes(sent)).hexdigest(), "fp_1")
    assert (first.batch, first.model_returned) == (next(iter(server.batches)), CHAT_MODEL)
    assert server.posts(CHAT) == []


def test_what_a_batch_could_not_do_is_an_outcome_with_its_reason(server: ChatServer, store: RunStore) -> None:
    """Answers and errors lie in two files; each request has one outcome."""
    kinds: dict[str, Outcome | str] = {
        "q0": Completion(),
        "q1": Refusal(status=400, type="invalid_request_error", message=f"too many tokens for {KEY}"),
        "q2": Refusal(status=500, type="server_error", message="try later"),
        "q3": "expired",
        "q4": "cancelled",
    }
    server.batch_script = lambda _id, body: kinds[body["messages"][0]["content"]]
    calls = make_calls(5)

    summary = run(server, store, calls)

    failures = [read_outcomes(store)[call.key].failure for call in calls]
    assert [failure.code if failure else None for failure in failures] == [
        None, "not-accepted", "endpoint-error", "batch-expired", "batch-canceled",
    ]  # fmt: skip
    assert summary.results == {"succeeded": 1, "errored": 2, "expired": 1, "canceled": 1}
    assert failures[1] is not None
    assert failures[1].message == "invalid_request_error: too many tokens for [key]"
    assert not store.list_lost()


@pytest.mark.parametrize("keeps_metadata", [True, False])
def test_a_batch_whose_submission_got_no_answer_is_found_again(server: ChatServer, store: RunStore, *, keeps_metadata: bool) -> None:
    """By its mark, while the API still checks it and shows no size; a gateway that drops marks is waited for. Nothing is paid for twice."""
    server.after_batch = on("/batches", Broken.CLOSE)
    server.keeps_metadata = keeps_metadata
    server.batch_polls = 4
    told: list[str] = []

    summary = run(server, store, make_calls(2), tell=told.append)

    assert count_batches(server) == 1
    assert summary.results == {"succeeded": 2}
    assert any("found again as batch_" in text for text in told)


def test_a_lost_upload_is_repeated_and_makes_no_batch(server: ChatServer, store: RunStore) -> None:
    """A file without a batch is never worked on."""
    server.after_batch = on("/files", Broken.CLOSE)

    summary = run(server, store, make_calls(2))

    assert (len(server.posts("/v1/files")), count_batches(server), summary.results) == (2, 1, {"succeeded": 2})


def test_the_same_calls_of_another_folder_are_not_taken_over(server: ChatServer, store: RunStore, tmp_path: Path) -> None:
    """Their batch has another mark, so ours is submitted on its own."""
    other = open_store(tmp_path / "other", create=True)
    run(server, other, make_calls(2))
    other.close()
    server.before_batch = on("/batches", Broken.CLOSE)

    summary = run(server, store, make_calls(2))

    assert list_submitted(server) == {"q0": 2, "q1": 2}
    assert summary.results == {"succeeded": 2}


def test_stopping_leaves_the_batch_and_coming_back_reads_it(server: ChatServer, store: RunStore) -> None:
    """The identifier is told, and the next run waits for it without submitting."""
    server.batch_polls = 10**9
    stop = HaltRequest()

    left = run(server, store, make_calls(2), stop=stop, tell=stop_when(stop, "submitted as"))
    server.batch_polls = 0
    summary = run(server, store, make_calls(2))

    assert left.running == tuple(server.batches)
    assert (count_batches(server), summary.results) == (1, {"succeeded": 2})


def test_a_batch_that_is_refused_as_a_whole_says_why_and_can_be_submitted_again(server: ChatServer, store: RunStore) -> None:
    """Such as for a limit of the project: no request was worked on, so its calls stay to be made."""
    server.batch_refusal = "Enqueued token limit reached"

    with pytest.raises(InputError, match="Enqueued token limit reached") as refused:
        run(server, store, make_calls(2))
    server.batch_refusal = None
    summary = run(server, store, make_calls(2))

    assert refused.value.code == "batch-refused"
    assert (count_batches(server), summary.results) == (2, {"succeeded": 2})


def test_a_server_without_batches_is_one_error(server: ChatServer, store: RunStore) -> None:
    """vLLM, llama.cpp and Ollama have none; the calls can be made one by one."""
    server.has_batches = False
    with pytest.raises(InputError) as refused:
        run(server, store, make_calls(2))

    assert refused.value.code == "batch-refused"
    assert not store.list_lost()


@pytest.mark.parametrize("outcome", [Broken.PROSE, Refusal(status=200, body=b'{"id": 3}'), Refusal(status=200, body=b"[]")])
def test_an_answer_that_is_no_batch_never_becomes_one(server: ChatServer, store: RunStore, outcome: Outcome) -> None:
    """It is asked for again, a bounded number of times; the calls stay written down."""
    server.before_batch = on("/batches", outcome, method="GET", times=10**6)
    server.after_batch = on("/batches", Broken.CLOSE)

    with pytest.raises(UnavailableError):
        run(server, store, make_calls(2))

    assert count_batches(server) == 1
    assert len(store.list_lost()) == 2


def test_a_replay_by_batches_concludes_like_any_other(caveat: Caveat, server: ChatServer, tmp_path: Path, monkeypatch: Any) -> None:
    """`audit run --batch`: the provenance names API, client and fingerprint."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.batch_polls = 0
    write(tmp_path, server, tasks=2)

    ran = caveat("audit", "run", "small.yaml", "--batch", "--json", key=None)
    provenance = read_provenance(tmp_path / "small.run")

    assert (ran.code, ran.document["answered"]) == (0, 8)
    assert count_batches(server) == 1
    assert "fp_1" in str(provenance)
