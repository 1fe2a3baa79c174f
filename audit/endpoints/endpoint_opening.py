"""From a policy to its endpoint: which API, which key, and what is checked and recorded before anything is sent."""

import os
import re
from collections.abc import Collection, Mapping
from importlib.metadata import version
from urllib.parse import urlsplit

from audit.endpoints import chat_completions, messages_api
from audit.endpoints.chat_completions import ChatEndpoint, check_chat_policy, find_chat_address, open_chat
from audit.endpoints.messages_api import KEY, SAMPLING, WITHOUT_SAMPLING, choose_version, find_messages_address, open_messages
from audit.endpoints.model_answers import ModelFacts, check_address, is_loopback
from audit.endpoints.model_endpoint import OPENAI_KEY, Endpoint
from registry.errors import Fault, InputError, UnavailableError
from registry.records.replay_run import Policy, Probe
from registry.records.specification import NO_KEY, JudgeScorer, ModelApi

_KEY_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


_PROVIDERS = frozenset({"api.anthropic.com", "api.openai.com"})


def open_endpoint(
    policy: Policy, *, environ: Mapping[str, str] = os.environ, timeout_s: float = 600.0, send_key_to: Collection[str] = ()
) -> Endpoint:
    """Return the endpoint of *policy*; nothing is sent yet.

    Args:
        environ: where the key is (`policy.key`, else ANTHROPIC_API_KEY or OPENAI_API_KEY) and, when the policy names none, the address.
        timeout_s: seconds that one request may take; streamed ones: seconds without a byte.
        send_key_to: hosts (`gateway.example.org`, `10.0.0.7:8000`) that the user allows to get the key, where the policy names them.

    Raises:
        UnavailableError: there is no key, or the library of the API is not installed.
        InputError: the address is none, or the policy says what the API does not take; `key-not-allowed`, the policy names an address
            that the key may not go to.
    """
    check_policy(policy)
    key_name, key = _find_key(policy, environ)
    check_destination(policy, environ=environ, send_key_to=send_key_to)
    if get_api(policy) is ModelApi.OPENAI_CHAT:
        return open_chat(policy, environ, key=key, key_name=key_name, timeout_s=timeout_s)
    return open_messages(policy, environ, key=key, key_name=key_name, timeout_s=timeout_s)


def get_api(policy: Policy) -> ModelApi:
    """Return the API of *policy*."""
    return policy.api or ModelApi.MESSAGES


def follow_policy(policy: Policy, wanted: JudgeScorer | Probe) -> Policy:
    """Return how a judge or classifier is asked with *policy* in its replay."""
    # Transcripts go nowhere that the replay did not go, unless asked for. At the replay's own address its API and its key hold.
    is_there = wanted.base_url in (None, policy.base_url)
    return Policy(
        model=wanted.model,
        max_tokens=wanted.max_tokens,
        base_url=wanted.base_url or policy.base_url,
        api=wanted.api or (policy.api if is_there else None),
        key=wanted.key or (policy.key if is_there else None),
        max_tokens_field=policy.max_tokens_field if is_there else None,
    )


def check_policy(policy: Policy) -> None:
    """Return when the API can be asked as *policy* says; needs neither key nor endpoint.

    Raises:
        InputError: with every fault.
    """
    # A key in the file would be in every recording, so only the name of a variable is taken, and what was written is not repeated.
    if policy.key not in (None, NO_KEY) and not _KEY_NAME.fullmatch(policy.key or ""):
        problem = "is not the name of an environment variable; a key itself is never in a file"
        raise InputError(Fault("not-valid", "policy.key", problem, advice=f"write the variable's name, such as {OPENAI_KEY}, or {NO_KEY}"))
    match get_api(policy):
        case ModelApi.OPENAI_CHAT:
            check_chat_policy(policy)
        case ModelApi.MESSAGES:
            choose_version(policy)
            if policy.key == NO_KEY:
                problem = "the client of the Messages API sends no request without a key"
                raise InputError(Fault("not-valid", "policy.key", problem, advice=f"leave it out, and set {KEY}=any for a local server"))


def _find_key(policy: Policy, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the variable that the key is from (`none` for none) and the key; raises UnavailableError."""
    is_chat = get_api(policy) is ModelApi.OPENAI_CHAT
    if policy.key == NO_KEY:
        return NO_KEY, ""
    name = policy.key or (OPENAI_KEY if is_chat else KEY)
    key = environ.get(name, "").strip()
    if not key and is_chat and policy.key is None and is_loopback(find_chat_address(policy, environ)):
        return NO_KEY, ""
    if not key:
        advice = f"export {name}=… (Caveat reads it from the environment and stores it nowhere)"
        if is_chat:
            advice += f"; for a server without keys, set `key: {NO_KEY}` in the policy"
        elif policy.key is None:
            advice += "; for a server that speaks the OpenAI API, set `api: openai-chat` in the policy"
        raise UnavailableError(Fault("api-key-missing", name, "is not set, and no request can be made without it", advice=advice))
    if not key.isascii() or not key.isprintable():
        raise UnavailableError(Fault("api-key-missing", name, "holds characters that no key has"))
    return name, key


# A replay file may come from a stranger, and names both the address and the variable with the key. So a secret of the environment goes
# only to the provider itself, to this machine, to the address that the environment names too, and to hosts that the user allows for this
# call. `registry.cfg` cannot allow one: it lies in the current folder, and may come from the same stranger as the replay.


def check_destination(policy: Policy, *, environ: Mapping[str, str] = os.environ, send_key_to: Collection[str] = ()) -> None:
    """Return when the environment's secrets may go to the address of *policy*, or there are none; sends nothing.

    Raises:
        InputError: the address is none; `key-not-allowed`.
    """
    is_chat = get_api(policy) is ModelApi.OPENAI_CHAT
    key_name = policy.key or (OPENAI_KEY if is_chat else KEY)
    headers = chat_completions.HEADERS if is_chat else messages_api.HEADERS
    secrets = [name for name in (key_name, headers) if name != NO_KEY and environ.get(name, "").strip()]
    address = find_chat_address(policy, environ) if is_chat else find_messages_address(policy, environ)
    check_address(address, api=get_api(policy), where=_name_place(policy))
    if policy.base_url is None or not secrets or is_loopback(address):
        return
    parts = urlsplit(address)
    is_provider = parts.scheme == "https" and parts.hostname in _PROVIDERS and parts.port in (None, 443)
    if is_provider or any(_is_host_of(host, address) for host in send_key_to):
        return
    problem = f"names {parts.netloc}, and {' and '.join(secrets)} from your environment would be sent there; nothing was sent"
    advice = f"if you trust this server, add --send-key-to {parts.netloc}, or set CAVEAT_SEND_KEY_TO={parts.netloc}"
    if is_chat and headers not in secrets:
        advice += f"; if it needs no key, set `key: {NO_KEY}` in the policy"
    raise InputError(Fault("key-not-allowed", "policy.base_url", problem, advice=advice))


def _is_host_of(host: str, address: str) -> bool:
    """Return whether *host* (`name`, `name:port`, or an address) is where *address* leads; without a port, every port is meant."""
    try:
        wanted, parts = urlsplit(host if "://" in host else f"//{host}"), urlsplit(address)
        return wanted.hostname == parts.hostname and wanted.port in (None, parts.port)
    except ValueError:
        return False


def _name_place(policy: Policy) -> str:
    if policy.base_url:
        return "policy.base_url"
    return chat_completions.ADDRESS if get_api(policy) is ModelApi.OPENAI_CHAT else messages_api.ADDRESS


# What provenance says of the endpoint and of sampling.


def describe_sampling(policy: Policy, endpoint: Endpoint, facts: ModelFacts) -> dict[str, str]:
    """Return for each sampling parameter its value as set, `default`, or `not settable` with the reason, as provenance says it.

    A parameter that the policy does not set is not settable where the version of the Messages API refuses it, where the host has none of
    this name or its model refuses it, or where the endpoint lists what its model takes and this is not in the list. Other servers use
    their own default, and its value is not known.
    """
    refuses_all = endpoint.api is ModelApi.MESSAGES and endpoint.api_version >= WITHOUT_SAMPLING

    def describe(name: str) -> str:
        if (value := getattr(policy, name)) is not None:
            return str(value)
        reason = endpoint.unsettable.get(name)
        if refuses_all:
            reason = f"version {endpoint.api_version} of the API refuses it"
        elif reason is None and facts.parameters is not None and name not in facts.parameters:
            reason = "the endpoint does not list it for this model"
        return "default" if reason is None else f"not settable ({reason})"

    return {name: describe(name) for name in SAMPLING}


def describe_client(endpoint: Endpoint) -> dict[str, str]:
    """Return the library that the requests are made with, and the name under which the limit of tokens is sent."""
    if isinstance(endpoint, ChatEndpoint):
        return {"sdk": f"openai {version('openai')}", "max_tokens_field": endpoint.max_tokens_field}
    return {"sdk": f"anthropic {version('anthropic')}"}
