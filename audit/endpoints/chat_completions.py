"""The door to OpenAI's chat completions, through the `openai` SDK: requests in this API's words, and answers read from them."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import orjson

from audit.endpoints.model_answers import (
    EndpointAnswer,
    ModelFacts,
    ModelMessage,
    NotAMessageError,
    as_object,
    as_text,
    check_headers,
    check_storable,
    name_kind,
    read_count,
)
from audit.endpoints.model_endpoint import Endpoint, build_http_client
from audit.records.model_response import CompletionDetails, Usage
from registry.codec.canonical_documents import Json, canonical_bytes
from registry.errors import Fault, InputError, UnavailableError
from registry.records.replay_run import Policy
from registry.records.specification import ModelApi

# Requests are planned, stored and digested in one form, that of the Messages API, whatever endpoint they go to: one budget, one design
# and one judge serve both. This door writes them in the words of the other API, by a fixed rule that looks at nothing else, and keeps
# the digest of what it sent with each answer. Cost: the run folder shows the request in the words of the Messages API.

ADDRESS = "OPENAI_BASE_URL"
HEADERS = "OPENAI_CUSTOM_HEADERS"
"""Headers that the SDK adds to every request, one a line."""
_OWN_HOSTS = (".openai.com", ".openai.azure.com")
_ONLY_MESSAGES = ("api_version", "betas", "thinking")
"""What a policy can say to the other API alone."""
_SAME = ("model", "temperature", "top_p", "top_k", "service_tier", "seed")
"""Parameters that both forms have under one name; `top_k` is an addition of vLLM, llama.cpp and others."""
_MOST_LOGPROBS = 20
STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}
"""By the API's word for the end of an answer, that of the Messages API; an unknown word is kept as it is."""
_RESERVED = frozenset(
    {*_SAME, "messages", "max_tokens", "max_completion_tokens", "stop", "tools", "reasoning_effort", "response_format"}
    | {"logprobs", "top_logprobs", "stream", "n"}
)
"""What `policy.extra` cannot set: it has a key of its own, or would change what an answer is."""


class ChatEndpoint(Endpoint):
    """An address that speaks chat completions."""

    api = ModelApi.OPENAI_CHAT
    path = "/chat/completions"
    models_path = "/models"

    def __init__(
        self,
        open_client: Any,
        sdk: ModuleType,
        *,
        max_tokens_field: str,
        headers: Mapping[str, Any],
        unsettable: Mapping[str, str],
        **common: Any,
    ) -> None:
        super().__init__(open_client, sdk, **common)
        self.max_tokens_field = max_tokens_field
        self.headers = headers
        self.unsettable = unsettable

    async def _send(self, body: Mapping[str, Json]) -> EndpointAnswer:
        content = canonical_bytes(self.write_body(body))
        return await self._post(content, partial(read_completion, sent=hashlib.sha256(content).hexdigest()))

    def write_body(self, body: Mapping[str, Json]) -> dict[str, Json]:
        """Return *body* in the words of chat completions."""
        return write_chat_body(body, max_tokens_field=self.max_tokens_field)

    def read_answer(self, document: object, body: Mapping[str, Json]) -> ModelMessage:
        """Return the message in *document*, with the digest of *body* as a batch sent it; raises NotAMessageError."""
        return read_completion(document, sent=hashlib.sha256(canonical_bytes(self.write_body(body))).hexdigest())

    def _read_facts(self, document: Mapping[str, Any]) -> ModelFacts:
        # Gateways such as OpenRouter list what a model takes; OpenAI, vLLM, llama.cpp and Ollama do not.
        listed = document.get("supported_parameters")
        is_list = isinstance(listed, list) and all(isinstance(name, str) for name in listed)
        return ModelFacts(id=document["id"], parameters=tuple(listed) if isinstance(listed, list) and is_list else None)

    def _read_error(self, error: Any) -> object:
        """The SDK keeps only what is under `error`, and the form of the whole shows which API was spoken."""
        try:
            return orjson.loads(error.response.content)
        except orjson.JSONDecodeError:
            return error.response.text


def open_chat(policy: Policy, environ: Mapping[str, str], *, key: str, key_name: str, timeout_s: float) -> ChatEndpoint:
    """Return the endpoint of *policy*; nothing is sent yet.

    Args:
        key: empty: none is sent.

    Raises:
        InputError: the address is none, or the policy says what this API does not know.
        UnavailableError: the `openai` library is not installed.
    """
    check_chat_policy(policy)
    advice = "take it out; policy.key names the variable with the key"
    check_headers(environ.get(HEADERS, ""), own=("openai-", "authorization"), advice=advice, where=HEADERS)
    address = find_chat_address(policy, environ)
    try:
        import openai
    except ModuleNotFoundError as error:
        problem = "`api: openai-chat` needs the library openai, which is not installed"
        raise UnavailableError(Fault("client-missing", "policy.api", problem, advice="pip install 'caveat[openai]'")) from error

    parts = urlsplit(address)
    base = address if parts.path.strip("/") else f"{address.rstrip('/')}/v1"
    is_own = _is_own_host(address)
    # The organisation and the project in the environment are names at OpenAI, and no other host needs to learn them.
    omitted = () if is_own else ("OpenAI-Organization", "OpenAI-Project")
    headers = {name: openai.Omit() for name in (*omitted, *(() if key else ("Authorization",)))}
    build_client = build_http_client(openai, base, timeout_s)

    def open_client() -> openai.AsyncOpenAI:
        # Without a text of some kind the SDK would read OPENAI_API_KEY by itself; the header is left out by `headers`.
        return openai.AsyncOpenAI(api_key=key or "not-sent", base_url=base, max_retries=0, http_client=build_client())

    field = policy.max_tokens_field or ("max_completion_tokens" if is_own else "max_tokens")
    common = {"key": key, "key_name": key_name, "timeout_s": timeout_s}
    unsettable = list_unsettable(policy) if is_own else {}
    return ChatEndpoint(open_client, openai, max_tokens_field=field, headers=headers, unsettable=unsettable, **common)


# OpenAI's reasoning models answer with an error to any temperature but 1 and to top_p
# (https://platform.openai.com/docs/guides/reasoning, 2026-11-26). From gpt-5.1 to gpt-5.9 they take both where the effort is `none`, which
# some of them use by default. Chat variants do not reason. Names that are not listed here say nothing, and count as models that take both.

_REASONING = re.compile(r"(?:o[1-9]|gpt-5|codex-mini|gpt-6(?:\.\d)?-astra)(?:-(?!chat)|$)|gpt-5(?:\.\d)?-(?!.*chat).*(?:pro|codex)")
_REASONING_BY_EFFORT = re.compile(r"gpt-5\.\d(?:-(?!.*chat)|$)")


def list_unsettable(policy: Policy) -> dict[str, str]:
    """Return the sampling parameters that cannot be set at OpenAI's own hosts with the model of *policy*, each with the reason."""
    # A fine-tuned model is called `ft:MODEL:…`.
    model = policy.model.removeprefix("ft:").partition(":")[0]
    is_reasoning = _REASONING.match(model) or (_REASONING_BY_EFFORT.match(model) and policy.effort not in (None, "none"))
    reason = "OpenAI's reasoning models refuse it"
    # `top_k` is an addition of other servers (`_SAME`).
    return {**({"temperature": reason, "top_p": reason} if is_reasoning else {}), "top_k": "OpenAI has no such parameter"}


def find_chat_address(policy: Policy, environ: Mapping[str, str]) -> str:
    """Return the address of *policy*, as it is written."""
    return policy.base_url or environ.get(ADDRESS) or "https://api.openai.com/v1"


def _is_own_host(address: str) -> bool:
    # OpenAI's newer models refuse `max_tokens`, and many other servers know nothing else. A server that ignores an unknown name
    # would answer without a limit, so the older name goes to every host that is not known to take the newer one.
    host = urlsplit(address).hostname or ""
    return f".{host}".endswith(_OWN_HOSTS)


def check_chat_policy(policy: Policy) -> None:
    """Return when this API can be asked as *policy* says; raises InputError with every fault."""
    faults = [
        Fault(
            "not-of-this-api",
            f"policy.{name}",
            "the OpenAI API does not know it",
            advice="leave it out; for reasoning, see effort and extra",
        )
        for name in _ONLY_MESSAGES
        if getattr(policy, name) not in (None, ())
    ]
    faults += [
        Fault("not-of-this-api", f"policy.extra.{name}", "has a key of its own, or is set by Caveat", advice="take it out of extra")
        for name in sorted(_RESERVED & set(policy.extra or {}))
    ]
    if policy.top_logprobs is not None and not 0 <= policy.top_logprobs <= _MOST_LOGPROBS:
        faults.append(Fault("not-valid", "policy.top_logprobs", f"is 0 to {_MOST_LOGPROBS}, found {policy.top_logprobs}"))
    if faults:
        raise InputError(faults)


# Requests: from the form of the Messages API to that of chat completions.


def write_chat_body(body: Mapping[str, Any], *, max_tokens_field: str) -> dict[str, Json]:
    """Return *body* in the words of chat completions; what it does not say is not sent."""
    system = [{"role": "system", "content": _join(body["system"])}] if body.get("system") else []
    messages = [{"role": message["role"], "content": _join(message["content"])} for message in body["messages"]]
    chat: dict[str, Any] = {name: body[name] for name in _SAME if name in body}
    chat |= {"messages": [*system, *messages], max_tokens_field: body["max_tokens"]}
    output = body.get("output_config") or {}
    if "effort" in output:
        chat["reasoning_effort"] = output["effort"]
    if "format" in output:
        chat["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": output["format"]["schema"]},
        }
    if body.get("stop_sequences"):
        chat["stop"] = body["stop_sequences"]
    if body.get("tools"):
        chat["tools"] = [_write_tool(tool) for tool in body["tools"]]
    if "top_logprobs" in body:
        chat |= {"logprobs": True, "top_logprobs": body["top_logprobs"]}
    return {**chat, **(body.get("extra") or {})}


def _write_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]},
    }


def _join(content: str | Sequence[Mapping[str, Any]]) -> str:
    """Return a text, or the texts of blocks joined; requests of ours hold no other blocks."""
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


# Answers: from a chat completion to a message.


def read_completion(document: object, *, sent: str) -> ModelMessage:
    """Return the message in the first choice of *document*.

    Args:
        sent: SHA-256 of the request.

    Raises:
        NotAMessageError: it is no chat completion: no object, without model or choice, or with counts or texts that cannot be.
    """
    completion = as_object(document, "the answer")
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices:
        raise NotAMessageError(f"expected a list of choices, found {name_kind(choices)}")
    choice = as_object(choices[0], "choices[0]")
    message = as_object(choice.get("message"), "choices[0].message")
    finish = as_text(choice.get("finish_reason"), "finish_reason", required=False)
    blocks = list(_list_blocks(message))
    logprobs = choice.get("logprobs")
    check_storable([blocks, logprobs], "the message")
    return ModelMessage(
        id=as_text(completion.get("id"), "id", required=False),
        model=as_text(completion.get("model"), "model") or "",
        content=tuple(blocks),
        stop_reason="refusal" if message.get("refusal") else STOP_REASONS.get(finish or "", finish),
        usage=_read_usage(completion),
        details=CompletionDetails(
            sent=sent,
            finish_reason=finish,
            system_fingerprint=as_text(completion.get("system_fingerprint"), "system_fingerprint", required=False),
            logprobs=dict(logprobs) if isinstance(logprobs, Mapping) else None,
        ),
    )


def _list_blocks(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give what the message says as blocks: reasoning, text, refusal, calls of tools."""
    # `reasoning_content` is llama.cpp's and older vLLM's name, `reasoning` that of newer vLLM, Ollama and gateways.
    reasoning = next((text for name in ("reasoning_content", "reasoning") if (text := message.get(name))), None)
    if reasoning is not None:
        yield {"type": "thinking", "thinking": as_text(reasoning, "reasoning_content")}
    content = message.get("content")
    if isinstance(content, list):
        yield from (dict(as_object(part, "a part of the content")) for part in content)
    elif content:
        yield {"type": "text", "text": as_text(content, "content")}
    if message.get("refusal"):
        # What the user reads in place of an answer.
        yield {"type": "text", "text": as_text(message["refusal"], "refusal"), "refusal": True}
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise NotAMessageError(f"expected a list of calls as tool_calls, found {name_kind(calls)}")
    for call in calls:
        function = as_object(as_object(call, "tool_calls").get("function"), "tool_calls.function")
        yield {"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": function.get("arguments")}


def _read_usage(document: Mapping[str, Any]) -> Usage:
    tier = as_text(document.get("service_tier"), "service_tier", required=False)
    if document.get("usage") is None:
        return Usage(service_tier=tier)
    usage = as_object(document["usage"], "usage")
    prompt, output = (read_count(usage.get(name), f"usage.{name}") for name in ("prompt_tokens", "completion_tokens"))
    details = usage.get("prompt_tokens_details")
    cached = read_count(details.get("cached_tokens"), "cached_tokens") if isinstance(details, Mapping) else None
    # `prompt_tokens` counts the whole input; the records count what was read from a cache apart.
    fresh = prompt if prompt is None or cached is None else max(0, prompt - cached)
    return Usage(input_tokens=fresh, output_tokens=output, cache_read_input_tokens=cached, service_tier=tier)
