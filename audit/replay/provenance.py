"""Where the responses of a run folder came from, as the checklist and the supplement print it."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from audit.model import SAMPLING
from audit.replay.documents import get_replay, list_versions
from audit.replay.store import RunStore
from registry.records.replay import Policy
from registry.records.response import Purpose, Response
from registry.records.trial import Provenance

SESSION = "session"
CONTEXTS = "contexts"


def build_provenance(store: RunStore) -> Provenance:
    """Return what the run folder knows of where its responses came from; what it does not know is None.

    `transcripts` is the SHA-256 over the latest outcome of every replayed call as it is kept (canonical JSON), ordered by key, each
    followed by a line feed; failures are among them.

    Raises:
        NotFoundError: the folder holds no replay.
    """
    policy = get_replay(store).policy
    sessions = list_versions(store, SESSION)
    returned: set[str] = set()
    moments: set[str] = set()
    for response in store.list_responses(Purpose.REPLAY):
        if response.model_returned is not None:
            returned.add(response.model_returned)
        moments.update(_list_dates(response))
    return Provenance(
        endpoint=_join(f"{one['base_url']} (API version {one['api_version']}{_name_betas(one)})" for one in sessions),
        model_requested=policy.model,
        model_returned=_join(sorted(returned)),
        accessed=_span(moments),
        sampling=_describe_policy(policy, sessions[-1] if sessions else {}),
        tools=_describe_tools(store),
        budget_spent=_describe_spent(store),
        system_prompts="in full in the run folder, by the SHA-256 of each text; their digests stand in every request" if sessions else None,
        transcripts=digest_transcripts(store),
    )


def digest_transcripts(store: RunStore) -> str | None:
    """Return the SHA-256 of the stored outcomes of the replay, as `build_provenance` describes it; None when there are none."""
    total = hashlib.sha256()
    count = 0
    for document in store.list_documents(Purpose.REPLAY):
        total.update(document.encode() + b"\n")
        count += 1
    return total.hexdigest() if count else None


def _list_dates(response: Response) -> list[str]:
    moments = (response.sent_at, response.received_at) if response.attempts or response.batch else ()
    return [f"{moment:%Y-%m-%d}" for moment in moments if moment is not None]


def _span(moments: set[str]) -> str | None:
    if not moments:
        return None
    first, last = min(moments), max(moments)
    return first if first == last else f"{first}/{last}"


def _join(texts: Iterable[str]) -> str | None:
    return "; ".join(dict.fromkeys(texts)) or None


def _name_betas(session: Mapping[str, Any]) -> str:
    return f", betas {', '.join(session['betas'])}" if session.get("betas") else ""


def _describe_policy(policy: Policy, session: Mapping[str, Any]) -> str:
    """Say of each parameter whether it was set, left to the endpoint's default, or could not be set."""
    told: Mapping[str, str] = session.get("sampling", {})
    parts = [
        f"{name} {getattr(policy, name)} (set)" if getattr(policy, name) is not None else f"{name} {told.get(name, 'default')}"
        for name in SAMPLING
    ]
    parts.append(f"max_tokens {policy.max_tokens}")
    parts += [f"{name} {value}" for name in ("effort", "thinking", "service_tier") if (value := getattr(policy, name)) is not None]
    if policy.stop_sequences:
        parts.append(f"{len(policy.stop_sequences)} stop sequences")
    return ", ".join([*parts, "seed not settable"])


def _describe_tools(store: RunStore) -> str | None:
    versions = list_versions(store, CONTEXTS)
    if not versions:
        return None
    items = [item for spec in versions[-1].values() for item in spec["contexts"]]
    names = sorted({tool["name"] for item in items for tool in item.get("tools") or ()})
    scaffolds = sorted({item["scaffold"] for item in items if item.get("scaffold")})
    return "; ".join([f"tools: {', '.join(names)}" if names else "no tools", *scaffolds])


def _describe_spent(store: RunStore) -> str | None:
    spent = [one for one in store.sum_spent() if one.purpose is Purpose.REPLAY]
    if not spent:
        return None
    calls, untold = sum(one.calls for one in spent), sum(one.untold for one in spent)
    inputs, outputs = sum(one.input_tokens for one in spent), sum(one.output_tokens for one in spent)
    text = f"{calls} calls, {inputs} input tokens, {outputs} output tokens"
    return f"{text}; {untold} calls without a count of tokens" if untold else text
