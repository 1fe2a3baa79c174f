"""The door to chat completions, with the real client: what is sent, what is read, and how another API is recognised."""

import asyncio
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from audit.endpoints.chat_completions import read_completion, write_chat_body
from audit.endpoints.endpoint_opening import check_policy, describe_sampling, follow_policy, open_endpoint
from audit.endpoints.model_answers import EndpointAnswer, ModelError, ModelFacts, NotAMessageError, RequestTrouble, read_quotas
from audit.endpoints.model_endpoint import build_key_refused
from registry.errors import InputError, UnavailableError
from registry.records.replay_run import Policy
from registry.records.specification import Dimension, JudgeScorer, ModelApi
from tests.endpoint.chat_server import CHAT_MODEL, ChatServer, Completion
from tests.endpoint.server import KEY, MODEL, Broken, Endpoint, Outcome, Refusal, run_endpoint
from tests.replay.test_engine_model import JSON

BODY: dict[str, Any] = {"model": CHAT_MODEL, "max_tokens": 50, "system": "Be brief.", "messages": [{"role": "user", "content": "hé?"}]}
CHAT = ModelApi.OPENAI_CHAT


def ask(server: Endpoint, *bodies: dict[str, Any], environ: dict[str, str] | None = None, **policy: Any) -> list[EndpointAnswer]:
    """Send *bodies* at once to *server* and return the answers."""
    chosen = Policy(**{"model": CHAT_MODEL, "max_tokens": 50, "base_url": f"{server.url}/v1", "api": CHAT, **policy})

    async def go() -> list[EndpointAnswer]:
        async with open_endpoint(chosen, environ={"OPENAI_API_KEY": KEY} if environ is None else environ, timeout_s=10) as endpoint:
            return await asyncio.gather(*(endpoint.send(body) for body in bodies or (BODY,)))

    return asyncio.run(go())


def ask_messages(server: Endpoint) -> list[EndpointAnswer]:
    """Send one request of the Messages API to *server*."""
    return ask(server, environ={"ANTHROPIC_API_KEY": KEY}, api=None, base_url=server.url)


def answer(**completion: Any) -> EndpointAnswer:
    """Return what is read of a completion."""
    with run_endpoint(ChatServer(script=lambda _: Completion(**completion))) as server:
        return ask(server)[0]


def test_a_request_is_sent_in_the_words_of_the_api() -> None:
    """System prompt first, names translated, nothing added that was not asked for."""
    whole = {
        **BODY,
        "temperature": 0.5,
        "stop_sequences": ["END"],
        "seed": 7,
        "top_logprobs": 2,
        "extra": {"min_p": 0.05},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        "tools": [{"name": "look", "description": "Look.", "input_schema": {"type": "object"}}],
    }
    with run_endpoint(ChatServer()) as server:
        ask(server, BODY)
        ask(server, whole)
        plain, full = (asked.body for asked in server.posts())

    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hé?"}]
    assert plain == {"model": CHAT_MODEL, "max_tokens": 50, "messages": messages}
    assert full == {
        **plain,
        "temperature": 0.5,
        "stop": ["END"],
        "seed": 7,
        "logprobs": True,
        "top_logprobs": 2,
        "min_p": 0.05,
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": {"type": "object"}}},
        "tools": [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}],
    }


@pytest.mark.parametrize(
    ("address", "wanted", "field"),
    [
        ("https://api.openai.com/v1", None, "max_completion_tokens"),
        ("https://lab.openai.azure.com/openai/v1", None, "max_completion_tokens"),
        ("http://127.0.0.1:8000", None, "max_tokens"),
        ("https://openai.com.example.org/v1", None, "max_tokens"),
        ("http://127.0.0.1:8000/v1", "max_completion_tokens", "max_completion_tokens"),
    ],
)
def test_the_limit_of_tokens_has_the_name_that_the_host_takes(address: str, wanted: Any, field: str) -> None:
    """OpenAI's own hosts get the newer name, all others the older one, unless the policy says otherwise."""
    policy = Policy(model="m", max_tokens=5, api=CHAT, base_url=address, max_tokens_field=wanted)
    endpoint: Any = open_endpoint(policy, environ={"OPENAI_API_KEY": KEY}, send_key_to=["lab.openai.azure.com", "openai.com.example.org"])

    assert endpoint.max_tokens_field == field
    assert field in write_chat_body(BODY, max_tokens_field=endpoint.max_tokens_field)


def test_an_address_without_a_path_gets_v1() -> None:
    """As the API's own client wants it; one that ends in the path of requests is refused."""
    with run_endpoint(ChatServer()) as server:
        ask(server, base_url=server.url)
        with pytest.raises(InputError, match="end it with /v1"):
            ask(server, base_url=f"{server.url}/v1/chat/completions")

    assert len(server.posts()) == 1


@pytest.mark.parametrize(
    ("completion", "stop_reason", "text", "thinking"),
    [
        ({"text": "ok"}, "end_turn", "ok", None),
        ({"text": "half", "stop_reason": "max_tokens"}, "max_tokens", "half", None),
        ({"text": None, "stop_reason": "refusal"}, "refusal", "", None),
        ({"text": None, "refusal": "I cannot."}, "refusal", "I cannot.", None),
        ({"text": "4", "fields": {"reasoning_content": "2 and 2"}}, "end_turn", "4", "2 and 2"),
        ({"text": "4", "fields": {"reasoning": "2 and 2"}}, "end_turn", "4", "2 and 2"),
        ({"text": "odd", "stop_reason": "server_word"}, "server_word", "odd", None),
    ],
)
def test_an_answer_is_read_with_its_end(completion: dict[str, Any], stop_reason: str, text: str, thinking: str | None) -> None:
    """Truncated and refused answers are known as such, a refusal's words are its text, and reasoning has its own channel."""
    message = answer(**completion).message
    blocks = {block["type"]: block for block in message.content}

    assert message.stop_reason == stop_reason
    assert blocks.get("text", {}).get("text", "") == text
    assert blocks.get("thinking", {}).get("thinking") == thinking


def test_evidence_beyond_the_text_is_kept() -> None:
    """Fingerprint, the API's own word for the end, log probabilities, digest of what was sent; cached tokens are counted apart."""
    logprobs = {"content": [{"token": "ok", "logprob": -0.25, "top_logprobs": []}]}
    found = answer(logprobs=logprobs, fingerprint="fp_9", cached_tokens=4, stop_reason="max_tokens")
    details, usage = found.message.details, found.message.usage

    assert details is not None
    assert (details.system_fingerprint, details.finish_reason, details.logprobs) == ("fp_9", "length", logprobs)
    assert len(details.sent) == 64
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (6, 4, 5)
    assert (found.request_id or "").startswith("req_")


def test_calls_of_tools_are_kept_and_not_carried_out() -> None:
    """Name and arguments as they came."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}]
    message = answer(text=None, stop_reason="tool_use", fields={"tool_calls": calls}).message

    assert message.stop_reason == "tool_use"
    assert message.content == ({"type": "tool_use", "id": "c1", "name": "look", "input": '{"at": 1}'},)


@pytest.mark.parametrize(
    ("outcome", "trouble", "says"),
    [
        (Refusal(status=429, headers={"retry-after": "3"}), RequestTrouble.RATE_LIMITED, "injected"),
        (Refusal(status=429, type="insufficient_quota", message="no money"), RequestTrouble.KEY_REFUSED, "no money"),
        (Refusal(status=500), RequestTrouble.SERVER, "injected"),
        (Refusal(status=400, type="invalid_request_error", message="too long"), RequestTrouble.NOT_ACCEPTED, "too long"),
        (Refusal(status=500, body=b'{"error": "model runner stopped"}'), RequestTrouble.SERVER, "model runner stopped"),
        (Refusal(status=200, body=b'{"error": {"message": "late", "code": null}}'), RequestTrouble.SERVER, "late"),
        (Refusal(status=200, body=b'{"choices": []}'), RequestTrouble.BAD_ANSWER, "choices"),
        (Broken.PROSE, RequestTrouble.BAD_ANSWER, "no message"),
        (Broken.HALF, RequestTrouble.LOST, "RemoteProtocolError"),
        (Refusal(status=500, message=f"your key {KEY} is odd"), RequestTrouble.SERVER, r"your key \[key\] is odd"),
    ],
)
def test_whatever_goes_wrong_is_one_kind_of_error(outcome: Outcome, trouble: RequestTrouble, says: str) -> None:
    """Callers meet ModelError alone, with the endpoint's words and without the key."""
    with run_endpoint(ChatServer(script=lambda _: outcome)) as server, pytest.raises(ModelError, match=says) as caught:
        ask(server)

    assert caught.value.trouble is trouble
    assert KEY not in str(caught.value)
    assert caught.value.retry_after_s == (3.0 if getattr(outcome, "headers", None) else None)


@given(JSON)
def test_no_answer_makes_a_traceback(document: Any) -> None:
    """Any JSON is a completion or is refused as none."""
    for wrapped in (document, {"model": "m", "choices": [{"message": document, "logprobs": document}], "usage": document}):
        try:
            read_completion(wrapped, sent="")
        except NotAMessageError:
            continue


@pytest.mark.parametrize(
    ("text", "seconds"), [("1s", 1.0), ("6m0s", 360.0), ("20ms", 0.02), ("1h2m3.5s", 3723.5), ("17", 17.0), ("soon", None)]
)
def test_rate_limits_are_read_in_this_api_s_words(text: str, seconds: float | None) -> None:
    """Durations such as 6m0s; a broken one is not there."""
    headers = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "12", "x-ratelimit-reset-requests": text}
    (quota,) = read_quotas(headers)

    assert (quota.kind, quota.limit, quota.remaining, quota.reset_s) == ("requests", 60.0, 12.0, seconds)


# Keys.


def test_a_local_server_needs_no_key_and_gets_none() -> None:
    """On a loopback address, or with `key: none`, no header is sent; a key that is set is."""
    with run_endpoint(ChatServer(key="")) as server:
        ask(server, environ={})
        ask(server, environ={"OPENAI_API_KEY": KEY}, key="none")
        ask(server, environ={"OPENAI_API_KEY": "sk-other", "LAB_KEY": KEY}, key="LAB_KEY")
        headers = [asked.headers.get("authorization") for asked in server.posts()]

    assert headers == [None, None, f"Bearer {KEY}"]


def test_a_missing_key_is_one_error_with_its_fix() -> None:
    """The variable is named, and so is the way without a key."""
    away = {"model": "m", "max_tokens": 5, "api": CHAT}
    with pytest.raises(UnavailableError, match="OPENAI_API_KEY") as caught:
        open_endpoint(Policy(**away), environ={})
    with pytest.raises(UnavailableError, match="LAB_KEY"):
        open_endpoint(Policy(**away, key="LAB_KEY"), environ={"OPENAI_API_KEY": KEY})
    with pytest.raises(UnavailableError) as other:
        open_endpoint(Policy(model="m", max_tokens=5), environ={})

    assert "key: none" in str(caught.value.faults[0].advice)
    assert "api: openai-chat" in str(other.value.faults[0].advice)


def test_a_key_in_the_file_is_refused_and_not_repeated() -> None:
    """Only the name of a variable may stand there."""
    with pytest.raises(InputError, match="environment variable") as caught:
        check_policy(Policy(model="m", max_tokens=5, api=CHAT, key="sk-proj-secret"))

    assert "secret" not in str(caught.value)


def test_a_server_that_wants_a_key_says_how_to_name_it() -> None:
    """401 without a key leads to `key:`."""
    with run_endpoint(ChatServer()) as server, pytest.raises(ModelError) as caught:
        ask(server, environ={})
    endpoint = open_endpoint(Policy(model="m", max_tokens=5, api=CHAT, base_url="http://127.0.0.1:1"), environ={})
    error = build_key_refused(endpoint, caught.value)

    assert "wants a key, and none was sent" in error.faults[0].found
    assert "key: OPENAI_API_KEY" in str(error.faults[0].advice)


def test_a_redirect_takes_no_key_to_another_host() -> None:
    """It is an error of the request, and the other host hears nothing."""
    with run_endpoint(ChatServer()) as other:
        moved = Refusal(status=307, headers={"location": f"{other.url}/v1/chat/completions"})
        with run_endpoint(ChatServer(script=lambda _: moved)) as server, pytest.raises(ModelError):
            ask(server)

    assert other.asked == []


# Where a key may go.

STRANGER = "https://gateway.example.org/v1"


@pytest.mark.parametrize(
    "address",
    [
        STRANGER,
        "https://api.openai.com.example.org/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://127.0.0.1.example.org/v1",
        "http://10.0.0.7:8000/v1",
    ],
)
@pytest.mark.parametrize("api", list(ModelApi))
def test_a_file_cannot_send_a_key_of_the_environment_to_an_address_of_its_own(address: str, api: ModelApi) -> None:
    """The error comes before anything is sent, names the host and the variable, and its own fix is enough."""
    policy = Policy(model="m", max_tokens=5, api=api, base_url=address.removesuffix("/v1") if api is ModelApi.MESSAGES else address)
    environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    with pytest.raises(InputError, match="key-not-allowed") as caught:
        open_endpoint(policy, environ=environ)
    (fault,) = caught.value.faults
    (host,) = re.findall(r"--send-key-to ([\w.:]+),", str(fault.advice))

    assert "API_KEY" in fault.found
    assert open_endpoint(policy, environ=environ, send_key_to=[host]).key_name.endswith("_API_KEY")


def test_a_variable_that_the_file_names_is_held_back_too() -> None:
    """A stranger's file can name any variable, and custom headers may hold a secret without a key."""
    policy = {"model": "m", "max_tokens": 5, "api": CHAT, "base_url": STRANGER}
    with pytest.raises(InputError, match="GITHUB_TOKEN"):
        open_endpoint(Policy(**policy, key="GITHUB_TOKEN"), environ={"GITHUB_TOKEN": KEY})
    with pytest.raises(InputError, match="OPENAI_CUSTOM_HEADERS"):
        open_endpoint(Policy(**policy, key="none"), environ={"OPENAI_CUSTOM_HEADERS": "X-Secret: a"})

    assert open_endpoint(Policy(**policy, key="none"), environ={}).key_name == "none"


def test_a_key_goes_to_the_provider_to_loopback_and_to_the_address_of_the_environment() -> None:
    """None of these is a stranger's choice."""
    chat = {"model": "m", "max_tokens": 5, "api": CHAT}
    environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    for address in (None, "https://api.openai.com/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1", "http://localhost:1/v1"):
        assert open_endpoint(Policy(**chat, base_url=address), environ=environ).key_name == "OPENAI_API_KEY"
    for address in (None, "https://api.anthropic.com", "http://127.0.0.1:1"):
        assert open_endpoint(Policy(model="m", max_tokens=5, base_url=address), environ=environ).key_name == "ANTHROPIC_API_KEY"

    assert open_endpoint(Policy(**chat), environ={**environ, "OPENAI_BASE_URL": STRANGER}).base_url.startswith("https://gateway")


def test_an_allowed_host_is_that_host_alone() -> None:
    """Neither a longer name nor another port is meant; a host without a port means all of its ports."""
    policy = Policy(model="m", max_tokens=5, api=CHAT, base_url="https://gateway.example.org:8443/v1")
    environ = {"OPENAI_API_KEY": KEY}
    for host in ("example.org", "gateway.example.org.evil.example", "gateway.example.org:443", "https://", "[", ""):
        with pytest.raises(InputError, match="key-not-allowed"):
            open_endpoint(policy, environ=environ, send_key_to=[host])
    for host in ("gateway.example.org", "gateway.example.org:8443", "https://gateway.example.org:8443/v1"):
        assert open_endpoint(policy, environ=environ, send_key_to=[host]).key_name == "OPENAI_API_KEY"


def test_a_missing_library_is_one_error_with_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named, and nothing is sent."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UnavailableError, match="client-missing") as caught:
        open_endpoint(Policy(model="m", max_tokens=5, api=CHAT), environ={"OPENAI_API_KEY": KEY})

    assert "caveat[openai]" in str(caught.value.faults[0].advice)


# What a policy may say to which API.


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        ({"api": CHAT, "thinking": {"type": "enabled"}}, "thinking"),
        ({"api": CHAT, "betas": ("x",)}, "betas"),
        ({"api": CHAT, "extra": {"max_tokens": 7}}, "extra.max_tokens"),
        ({"api": CHAT, "top_logprobs": 21}, "top_logprobs"),
        ({"seed": 3}, "seed"),
        ({"extra": {"min_p": 0.1}}, "extra"),
        ({"key": "none"}, "key"),
    ],
)
def test_what_an_api_does_not_know_is_refused_before_anything_is_sent(policy: dict[str, Any], names: str) -> None:
    """With the key of the policy."""
    with pytest.raises(InputError, match=rf"policy\.{names}"):
        check_policy(Policy(model="m", max_tokens=5, **policy))


def test_sampling_is_set_default_or_not_settable() -> None:
    """OpenAI has no top_k; of another server nothing is known, unless it lists what the model takes."""

    def describe(address: str, parameters: tuple[str, ...] | None = None, **policy: Any) -> dict[str, str]:
        chosen = Policy(model="m", max_tokens=5, api=CHAT, base_url=address, **policy)
        opened = open_endpoint(chosen, environ={"OPENAI_API_KEY": KEY})
        return describe_sampling(chosen, opened, ModelFacts(id="m", parameters=parameters))

    here, openai = "http://127.0.0.1:1/v1", "https://api.openai.com/v1"
    assert describe(here, temperature=0.3) == {"temperature": "0.3", "top_p": "default", "top_k": "default"}
    assert describe(openai) == {"temperature": "default", "top_p": "default", "top_k": "not settable (OpenAI has no such parameter)"}
    unlisted = "not settable (the endpoint does not list it for this model)"
    assert describe(here, ("max_tokens", "top_p")) == {"temperature": unlisted, "top_p": "default", "top_k": unlisted}
    assert describe(here, ("top_p",), temperature=0.3)["temperature"] == "0.3"


@pytest.mark.parametrize(("listed", "expected"), [(["temperature"], ("temperature",)), (None, None), ("temperature", None), ([1], None)])
def test_the_parameters_that_a_gateway_lists_are_read(listed: Any, expected: Any) -> None:
    """A list of names; anything else is as if nothing were listed."""
    endpoint: Any = open_endpoint(Policy(model="m", max_tokens=5, api=CHAT, base_url="http://127.0.0.1:1/v1"), environ={})

    assert endpoint._read_facts({"id": "m", "supported_parameters": listed}).parameters == expected


def test_a_judge_follows_the_replay_only_to_its_own_address() -> None:
    """The replay's API and key hold at the replay's address, and not at another one."""
    policy = Policy(model="m", max_tokens=5, api=CHAT, key="LAB_KEY", base_url="http://127.0.0.1:8000/v1")
    judge = {"kind": "judge", "model": "j", "rubric": "r", "dimensions": (Dimension(name="d", question="q", low=0, high=1),)}
    here, there = (follow_policy(policy, JudgeScorer(**judge, base_url=address)) for address in (None, "https://api.example.org"))

    assert (here.base_url, here.api, here.key) == (policy.base_url, CHAT, "LAB_KEY")
    assert (there.base_url, there.api, there.key) == ("https://api.example.org", None, None)


# Another API at the address.


@pytest.mark.parametrize(
    ("make", "send", "says"),
    [
        (lambda: ChatServer(key=""), ask_messages, "speaks the OpenAI API: set `api: openai-chat`"),
        (lambda: Endpoint(models=(CHAT_MODEL,)), ask, "speaks the Messages API: set `api: messages`"),
        (lambda: ChatServer(key="", lists_models=False), ask_messages, "neither the Messages API nor the OpenAI API"),
    ],
)
def test_another_api_is_recognised_with_one_harmless_request(
    make: Callable[[], Endpoint], send: Callable[[Endpoint], Any], says: str
) -> None:
    """One message that says what to set; besides the request itself, at most the list of models is asked for."""
    with run_endpoint(make()) as server, pytest.raises(ModelError, match=says) as caught:
        send(server)

    assert caught.value.trouble is RequestTrouble.WRONG_API
    assert [asked.path for asked in server.asked if asked.method == "GET"] in ([], ["/v1/models"])


def test_a_page_instead_of_an_api_is_recognised() -> None:
    """A web server answers every path with HTML, under 200 too."""
    page = Refusal(status=200, body=b"<html><body>Welcome</body></html>")
    with run_endpoint(ChatServer(script=lambda _: page, lists_models=False)) as server, pytest.raises(ModelError, match="neither"):
        ask(server)


def test_many_requests_at_once_lead_to_one_probe() -> None:
    """The list of models is asked for once."""
    with run_endpoint(ChatServer(key="")) as server:
        policy = Policy(model=CHAT_MODEL, max_tokens=5, base_url=server.url)

        async def go() -> list[Any]:
            async with open_endpoint(policy, environ={"ANTHROPIC_API_KEY": KEY}, timeout_s=10) as endpoint:
                return await asyncio.gather(*(endpoint.send(BODY) for _ in range(5)), return_exceptions=True)

        outcomes = asyncio.run(go())

    assert {outcome.trouble for outcome in outcomes} == {RequestTrouble.WRONG_API}
    assert [asked.path for asked in server.asked if asked.method == "GET"] == ["/v1/models"]


def test_an_endpoint_that_answered_is_not_doubted() -> None:
    """An unknown path, or prose, later on is a fault of that request."""
    outcomes: list[Outcome] = [Completion(), Broken.PROSE]
    with run_endpoint(ChatServer(script=lambda _: outcomes.pop(0))) as server:
        policy = Policy(model=CHAT_MODEL, max_tokens=5, base_url=server.url, api=CHAT)

        async def go() -> Any:
            async with open_endpoint(policy, environ={"OPENAI_API_KEY": KEY}, timeout_s=10) as endpoint:
                await endpoint.send(BODY)
                await endpoint.send(BODY)

        with pytest.raises(ModelError) as caught:
            asyncio.run(go())

    assert caught.value.trouble is RequestTrouble.BAD_ANSWER
    assert [asked.method for asked in server.asked] == ["POST", "POST"]


def test_an_unknown_model_is_not_another_api() -> None:
    """An error that names the model is the API's own."""
    with run_endpoint(ChatServer()) as server, pytest.raises(ModelError) as caught:
        ask(server, {**BODY, "model": "none"})

    assert caught.value.trouble is RequestTrouble.NOT_FOUND
    assert MODEL not in caught.value.message


@pytest.mark.parametrize(
    ("model", "effort", "is_settable"),
    [
        ("o1", None, False),
        ("o3-mini-2025-01-31", None, False),
        ("o4-mini", "low", False),
        ("gpt-5", None, False),
        ("gpt-5-nano-2025-08-07", None, False),
        ("ft:o4-mini-2025-04-16:lab::abc", None, False),
        ("gpt-6.2-astra", None, False),
        ("gpt-5.1", "high", False),
        ("gpt-5.2-pro", None, False),
        ("gpt-5.1", "none", True),
        ("gpt-5.4-mini", None, True),
        ("gpt-5-chat-latest", None, True),
        ("gpt-5.2-chat-latest", "high", True),
        ("gpt-4o", None, True),
        ("gpt-4.1-mini", None, True),
        ("ft:gpt-4o-2024-08-06:o1::abc", None, True),
    ],
)
def test_reasoning_models_of_openai_take_no_sampling(model: str, effort: str | None, is_settable: bool) -> None:  # noqa: FBT001
    """Their provenance gives the reason instead of a default; on other hosts the same name says nothing."""
    policy = Policy(model=model, max_tokens=5, api=CHAT, effort=effort, base_url="https://api.openai.com/v1")
    there = describe_sampling(policy, open_endpoint(policy, environ={"OPENAI_API_KEY": KEY}), ModelFacts(id=model))
    elsewhere = replace(policy, base_url="http://127.0.0.1:1/v1")
    here = describe_sampling(elsewhere, open_endpoint(elsewhere, environ={}), ModelFacts(id=model))

    expected = "default" if is_settable else "not settable (OpenAI's reasoning models refuse it)"
    assert (there["temperature"], there["top_p"]) == (expected, expected)
    assert (here["temperature"], here["top_p"]) == ("default", "default")
