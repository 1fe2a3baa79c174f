"""What may have been paid for is counted, in this run and the next; and another model that answers ends every run."""

import asyncio
import json
from pathlib import Path

import pytest

from audit.endpoints.endpoint_opening import open_endpoint
from audit.endpoints.model_answers import ModelError, RequestTrouble
from audit.records.model_response import Purpose
from audit.replay.call_engine import UNSENT, HaltRequest, RunSummary
from audit.replay.request_pacing import RetryLimits
from audit.replay.run_budget import count_spent
from audit.replay.run_store import open_store
from registry.errors import InputError
from registry.records.replay_run import Budget, Policy
from tests.endpoint.server import KEY, Asked, Broken, Endpoint, Outcome, Refusal, Reply, run_endpoint
from tests.replay.calling import make_calls, read_all, run, send

BODY = {"model": "claude-test-1-20261101", "max_tokens": 50, "messages": [{"role": "user", "content": "?"}]}
GOOD = {"id": "m", "type": "message", "role": "assistant", "model": BODY["model"], "stop_reason": "end_turn", "content": []}


def in_order(*outcomes: Outcome) -> Endpoint:
    """Return an endpoint that answers its requests with *outcomes*, and then well."""
    left = list(outcomes)
    return Endpoint(script=lambda _asked: left.pop(0) if left else Reply())


def test_what_may_be_billed_counts_in_the_next_run_as_in_this_one(tmp_path: Path) -> None:
    """Two broken connections before an answer: twice the worst case beside the tokens told, also when the folder is opened again."""
    with run_endpoint(in_order(Broken.CLOSE, Refusal(status=504), Reply(input_tokens=7, output_tokens=5))) as server:
        summary = run(server, tmp_path, make_calls(1))
    store = open_store(tmp_path)
    later = count_spent(store, {}, UNSENT)
    store.close()

    assert (summary.attempts, summary.maybe_billed_twice) == (3, 2)
    assert later.calls == summary.spent.calls == 1
    assert later.output_tokens == summary.spent.output_tokens == 5 + 2 * 50


def test_a_gateway_that_gave_up_counts_in_the_next_run(tmp_path: Path) -> None:
    """Six times 504 without an answer: each may have been billed, and a refusal (429) between them was not."""
    with run_endpoint(in_order(Refusal(status=429), *[Refusal(status=504)] * 5)) as server:
        summary = run(server, tmp_path, make_calls(1))
    store = open_store(tmp_path)
    later = count_spent(store, {}, UNSENT)
    store.close()

    assert summary.failures == {"endpoint-error": 1}
    assert later.output_tokens == summary.spent.output_tokens == 5 * 50


def test_a_call_that_may_be_billed_is_not_taken_for_one_never_made(tmp_path: Path) -> None:
    """A half answer, then a refusal, then Ctrl-C while it waits: the call is kept as lost on the way, and not sent again unasked."""
    halt = HaltRequest()

    def script(asked: Asked) -> Outcome:
        if "task 0" in str(asked.body):
            return Reply(delay_s=0.5)
        return Broken.HALF if asked.number == 0 else Refusal(status=429, headers={"retry-after": "30"})

    def progress(summary: RunSummary) -> None:
        if summary.answered:
            halt.request()

    patience = RetryLimits(first_wait_s=0.01, longest_wait_s=30)
    with run_endpoint(Endpoint(script=script)) as server:
        summary = run(server, tmp_path, make_calls(2), progress=progress, stop=halt, patience=patience)
        again = run(server, tmp_path, make_calls(2))

    assert (summary.answered, summary.failures, summary.attempts) == (1, {"connection-lost": 1}, 3)
    assert again.attempts == 0


@pytest.mark.parametrize("names", [["claude-b-2"], ["claude-b-2", "claude-b-3"]])
def test_a_changed_model_ends_the_next_run_before_its_first_call(tmp_path: Path, names: list[str]) -> None:
    """Running again is not agreeing: nothing more is sent into a folder in which another model answered."""
    allow_alias = len(names) > 1
    script = Endpoint(script=lambda asked: Reply(model=names[asked.number % len(names)]))
    with run_endpoint(script) as server:
        first = run(server, tmp_path, make_calls(30, samples=2), concurrency=2, allow_alias=allow_alias)
        sent = len(server.posts())
        second = run(server, tmp_path, make_calls(30, samples=2), concurrency=2, allow_alias=allow_alias)

    assert first.stopped is not None
    assert second.stopped is not None
    assert (first.stopped.code, second.stopped.code) == ("model-changed", "model-changed")
    assert len(server.posts()) == sent < 60


def test_an_error_document_under_200_is_that_error(tmp_path: Path) -> None:
    """An overload that a proxy hands on as 200 passes, and the endpoint's own words are kept."""
    document = b'{"type": "error", "error": {"type": "overloaded_error", "message": "busy today"}}'
    refusal = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "too long by 7"}}'
    with run_endpoint(in_order(Refusal(status=200, body=document))) as server:
        passing = run(server, tmp_path / "a", make_calls(1))
    with run_endpoint(Endpoint(script=lambda _asked: Refusal(status=200, body=refusal))) as server:
        run(server, tmp_path / "b", make_calls(1))
    store = open_store(tmp_path / "b")
    (kept,) = store.list_responses(Purpose.REPLAY)
    store.close()

    assert (passing.answered, passing.attempts) == (1, 2)
    assert kept.failure is not None
    assert (kept.failure.code, kept.failure.message) == ("not-accepted", "too long by 7")


@pytest.mark.parametrize("body", [b"<html>\n<body>\n" + b"<h1>Bad gateway</h1>\n" * 5000, b"\x1b[31mno\x00 " * 3000, b"\xff\xfe" * 900])
def test_a_page_instead_of_an_error_is_cut(body: bytes) -> None:
    """What a gateway says is kept in its beginning, on one line."""
    with run_endpoint(Endpoint(script=lambda _asked: Refusal(status=500, body=body))) as server, pytest.raises(ModelError) as error:
        send(server, BODY)

    assert error.value.trouble is RequestTrouble.SERVER
    assert 0 < len(error.value.message) <= 300
    assert "\n" not in error.value.message


def test_a_proxy_of_the_environment_is_not_asked_for_loopback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP_PROXY names a machine that is not there, and the answer comes all the same."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with run_endpoint() as server:
        summary = run(server, tmp_path, make_calls(2))

    assert summary.answered == 2


ADDRESSES = [
    ("https://user:hunter2@example.org", "login"),
    ("https://hunter2@example.org", "login"),
    ("https://example.org/?key=hunter2", "query"),
    ("https://example.org/#hunter2", "fragment"),
    ("https://example.org/v1", "/v1/messages is added"),
    ("https://example.org/proxy/v1/", "/v1/messages is added"),
    ("example.org:hunter2", "begins with https"),
    ("ftp://hunter2/x", "begins with https"),
    ("http://", "names a machine"),
    ("http://example.org:hunter2", "not a web address"),
]


@pytest.mark.parametrize(("address", "said"), ADDRESSES)
@pytest.mark.parametrize("place", ["policy", "environment"])
def test_an_address_that_cannot_be_kept_is_refused(address: str, said: str, place: str) -> None:
    """It would stand in every recording; nothing of it is printed either, where it may hold a secret."""
    policy = Policy(model="m", max_tokens=5, base_url=address if place == "policy" else None)
    environ = {"ANTHROPIC_API_KEY": KEY} | ({} if place == "policy" else {"ANTHROPIC_BASE_URL": address})
    with pytest.raises(InputError) as error:
        open_endpoint(policy, environ=environ)

    (fault,) = error.value.faults
    assert fault.where == ("policy.base_url" if place == "policy" else "ANTHROPIC_BASE_URL")
    assert said in str(fault)
    assert "hunter2" not in str(fault)


def test_an_address_may_end_with_a_stroke_or_a_path() -> None:
    """A gateway's path stays; the stroke at the end does not."""

    async def read(address: str) -> str:
        policy = Policy(model="m", max_tokens=5, base_url=address)
        async with open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY}, send_key_to=["example.org"]) as endpoint:
            return endpoint.base_url

    assert asyncio.run(read("https://example.org/")) == "https://example.org"
    assert asyncio.run(read("https://example.org/gateway/a/")) == "https://example.org/gateway/a"


def test_no_file_of_a_run_folder_holds_the_key(tmp_path: Path) -> None:
    """After answers, a refusal that repeats the key, and a broken connection."""
    outcomes = [Refusal(status=400, message=f"bad {KEY}"), Broken.CLOSE, Refusal(status=500, body=f"<p>{KEY}</p>".encode())]
    with run_endpoint(in_order(*outcomes)) as server:
        run(server, tmp_path, make_calls(6), concurrency=1, budget=Budget(calls=20))
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert b"[key]" in written
    assert KEY.encode() not in written


def test_an_answer_with_half_a_character_is_no_message(tmp_path: Path) -> None:
    """A lone surrogate, which JSON can write and Unicode has not, cannot be kept: the call is a failure that may have been billed."""
    document = (
        b'{"id": "m", "type": "message", "role": "assistant", "model": "claude-test-1-20261101", "stop_reason": "end_turn",'
        b' "content": [{"type": "text", "text": "half \\ud83d"}], "usage": {"input_tokens": 1, "output_tokens": 1}}'
    )
    with run_endpoint(Endpoint(script=lambda _asked: Refusal(status=200, body=document))) as server:
        summary = run(server, tmp_path, make_calls(1))

    assert summary.failures == {"bad-answer": 1}
    assert summary.spent.output_tokens == 50


@pytest.mark.parametrize(
    ("place", "code"), [("message", "not-accepted"), ("type", "not-accepted"), ("model", "bad-answer"), ("id", "bad-answer")]
)
def test_half_a_character_anywhere_in_an_answer_costs_no_other_call_its_answer(tmp_path: Path, place: str, code: str) -> None:
    """In the words of an error, or in the name of the model of a streamed answer: that call is a failure, and the others are kept."""
    half = "x \ud800"

    def script(asked: Asked) -> Outcome:
        if "task 1" not in str(asked.body):
            return Reply()
        if code == "bad-answer":
            return Reply(model=half) if place == "model" else Refusal(status=200, body=json.dumps({**GOOD, place: half}).encode())
        error = {"type": "invalid_request_error", "message": "no", place: half}
        return Refusal(status=400, body=json.dumps({"type": "error", "error": error}).encode())

    with run_endpoint(Endpoint(script=script)) as server:
        summary = run(server, tmp_path, make_calls(3, max_tokens=30_000 if place == "model" else 50))

    assert (summary.answered, summary.failures) == (2, {code: 1})


def test_a_request_for_a_tool_is_an_answer_without_text(tmp_path: Path) -> None:
    """Its content is kept as it came, and nothing is executed."""
    block = {"type": "tool_use", "id": "toolu_1", "name": "shell", "input": {"command": "rm -rf /"}}
    message = {"id": "m", "type": "message", "role": "assistant", "model": BODY["model"], "stop_reason": "tool_use", "content": [block]}
    body = json.dumps({**message, "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()
    with run_endpoint(Endpoint(script=lambda _asked: Refusal(status=200, body=body))) as server:
        summary = run(server, tmp_path, make_calls(1))
    (kept,) = read_all(tmp_path)

    assert (summary.answered, summary.empty) == (1, 1)
    assert (kept.text, kept.stop_reason, kept.content) == ("", "tool_use", (block,))


@pytest.mark.parametrize("before", [250, 290, 299, 1990, 1999])
def test_no_half_of_a_key_is_left_where_a_text_is_cut(before: int) -> None:
    """Wherever the cut falls, in a page or in an error document."""
    page = ("x" * before + KEY).encode()
    document = json.dumps({"type": "error", "error": {"type": "api_error", "message": page.decode()}}).encode()
    for body in (page, document):
        script = Endpoint(script=lambda _asked, body=body: Refusal(status=500, body=body))
        with run_endpoint(script) as server, pytest.raises(ModelError) as error:
            send(server, BODY)

        assert KEY[:4] not in error.value.message


def test_a_key_that_is_a_word_is_taken_out_as_a_word() -> None:
    """`any`, for an endpoint that looks at no key, leaves `company` whole."""
    policy = Policy(model="m", max_tokens=5, base_url="https://example.org")
    endpoint = open_endpoint(policy, environ={"ANTHROPIC_API_KEY": "any"}, send_key_to=["example.org"])

    assert endpoint.redact("the company got any: any.") == "the company got [key]: [key]."


def test_headers_of_the_environment_cannot_change_what_is_asked() -> None:
    """A beta that only the environment names would stand in no recording; a gateway's own header may pass."""
    policy = Policy(model="m", max_tokens=5, base_url="https://example.org")
    environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_CUSTOM_HEADERS": "X-Team: red"}
    open_endpoint(policy, environ=environ, send_key_to=["example.org"])
    environ["ANTHROPIC_CUSTOM_HEADERS"] += "\nAnthropic-Beta: secret-2026"

    with pytest.raises(InputError, match="anthropic-beta"):
        open_endpoint(policy, environ=environ, send_key_to=["example.org"])
