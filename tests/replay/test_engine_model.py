"""The door to a model: what is sent, what is read, and what is refused before anything is sent."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.endpoints.endpoint_opening import describe_sampling, open_endpoint
from audit.endpoints.messages_api import choose_version, read_message
from audit.endpoints.model_answers import ModelError, ModelFacts, NotAMessageError, RequestTrouble, read_quotas
from registry.codec.canonical_documents import canonical_bytes
from registry.errors import InputError, UnavailableError
from registry.records.replay_run import Policy
from tests.endpoint.server import KEY, MODEL, Broken, Endpoint, Refusal, Reply, run_endpoint
from tests.replay.calling import open_at, send

BODY: dict[str, Any] = {"model": MODEL, "max_tokens": 50, "messages": [{"role": "user", "content": "hé\u2028?"}]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "content", "model", "usage", "id"]), inner)
    ),
    max_leaves=8,
)


def describe(server: Endpoint, model: str, **options: Any) -> ModelFacts:
    """Ask *server* about *model*."""

    async def go() -> ModelFacts:
        async with open_at(server) as endpoint:
            return await endpoint.describe_model(model, **options)

    return asyncio.run(go())


def test_the_request_is_sent_as_its_digest_was_made() -> None:
    """The body that arrives is the one whose canonical bytes were digested: nothing is added."""
    with run_endpoint() as server:
        send(server, BODY)
        (asked,) = server.posts()

    assert canonical_bytes(asked.body) == canonical_bytes(BODY)


def test_sampling_parameters_go_by_the_version_that_takes_them() -> None:
    """Set under the old version, refused under the new one before anything is sent."""
    policy = Policy(model=MODEL, max_tokens=5, temperature=0.7)
    with run_endpoint() as server:
        answer = send(server, {**BODY, "temperature": 0.7}, temperature=0.7)
        version = server.posts()[0].headers["anthropic-version"]

    assert (answer.status, version) == (200, "2023-06-01")

    def describe(policy: Policy) -> dict[str, str]:
        return describe_sampling(policy, open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY}), ModelFacts(id="m"))

    assert describe(policy) == {"temperature": "0.7", "top_p": "default", "top_k": "default"}
    assert describe(Policy(model="m", max_tokens=5, api_version="2026-10-21"))["top_k"].startswith("not settable (version 2026-10-21 of")
    with pytest.raises(InputError, match=r"policy\.temperature"):
        choose_version(Policy(model=MODEL, max_tokens=5, temperature=0.7, api_version="2026-10-21"))


def test_without_a_key_nothing_can_be_made() -> None:
    """Exit code 3, and what to do."""
    with pytest.raises(UnavailableError, match="ANTHROPIC_API_KEY") as caught:
        open_endpoint(Policy(model=MODEL, max_tokens=5), environ={})

    assert caught.value.exit_code == 3


def test_a_long_call_is_streamed_and_put_together() -> None:
    """A call that may take longer than ten minutes arrives in pieces, and is the same message."""
    text = "The quick brown fox jumps over the lazy dog. " * 5
    with run_endpoint(Endpoint(script=lambda _: Reply(text=text, thinking="let me see", output_tokens=77))) as server:
        answer = send(server, {**BODY, "max_tokens": 30_000})
        streamed = server.posts()[0].body["stream"]

    assert streamed is True
    assert [block[block["type"]] for block in answer.message.content] == ["let me see", text]
    assert (answer.message.stop_reason, answer.message.usage.output_tokens, answer.message.usage.input_tokens) == ("end_turn", 77, 10)


def test_a_stream_that_breaks_off_is_no_answer() -> None:
    """Half of a message is an error, whatever it says so far."""
    with run_endpoint(Endpoint(script=lambda _: Reply(text="half " * 20, broken_off=True))) as server, pytest.raises(ModelError) as caught:
        send(server, {**BODY, "max_tokens": 30_000})

    assert caught.value.trouble is RequestTrouble.LOST
    assert caught.value.may_be_billed


def test_the_model_is_asked_about_before_the_replay() -> None:
    """Known, unknown, an alias, and an endpoint that lists none."""
    with run_endpoint() as server:
        known = describe(server, MODEL)
        with pytest.raises(InputError, match="endpoint-model-unknown"):
            describe(server, "claude-none")
        with pytest.raises(InputError, match="model-alias"):
            describe(server, "claude-test-latest")

    assert (known.lifecycle, known.note) == ("active", None)


def test_an_endpoint_that_does_not_answer_is_unavailable() -> None:
    """Refused connections are told with the address."""
    with run_endpoint() as server:
        pass

    with pytest.raises(UnavailableError, match="endpoint-unreachable"):
        describe(server, MODEL)


@pytest.mark.parametrize(
    "outcome", [Refusal(status=401), Refusal(status=400), Refusal(status=529), Broken.PROSE, Broken.CLOSE, Broken.HALF]
)
def test_whatever_goes_wrong_is_one_kind_of_error(outcome: Any) -> None:
    """Callers meet ModelError and nothing else."""
    with run_endpoint(Endpoint(script=lambda _: outcome)) as server, pytest.raises(ModelError):
        send(server, BODY, timeout_s=2)


@given(JSON)
def test_no_answer_makes_a_traceback(document: Any) -> None:
    """Any JSON is a message or is refused as none."""
    try:
        message = read_message(document)
    except NotAMessageError:
        return

    assert isinstance(message.content, tuple)


def test_blocks_of_unknown_kinds_are_kept() -> None:
    """What a later API adds is data; only what cannot be kept is refused."""
    block = {"type": "server_tool_use", "id": "x", "input": {"a": 1}}
    document = {"id": "m", "model": "m", "content": [block], "stop_reason": "pause_turn", "usage": {"input_tokens": 1}}
    too_large = json.loads(json.dumps(document))
    too_large["content"][0]["input"]["a"] = 2**60

    assert read_message(document).content == (block,)
    with pytest.raises(NotAMessageError, match="cannot be kept"):
        read_message(too_large)


@pytest.mark.parametrize("text", ["", "many", "-1", "nan", "inf", "1e400", "١"])
def test_rate_limits_that_cannot_be_read_are_not_there(text: str) -> None:
    """A broken header neither stops nor slows a run."""
    headers = {f"anthropic-ratelimit-requests-{name}": text for name in ("limit", "remaining", "reset")}

    assert all(quota.limit >= 0 for quota in read_quotas(headers))
