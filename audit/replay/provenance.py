"""Where the responses of a run folder came from, as the checklist and the supplement print it."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from audit.model import SAMPLING
from audit.replay.documents import find_name, get_replay, list_versions
from audit.replay.engine import UNSENT
from audit.replay.replayed import CONTEXTS, SOURCES, RequestTally, build_replayed, describe_budget
from audit.replay.served import describe_served_by
from audit.replay.store import RunStore, Spent
from registry.records.replay import Policy, Replay
from registry.records.response import Purpose, Response
from registry.records.trial import Provenance
from registry.report.numbers import format_items

SESSION = "session"
IN_RECORD = "in full in this record, with the contexts that were replayed"


def build_provenance(store: RunStore) -> Provenance:
    """Return what the run folder knows of where its responses came from; what it does not know is None.

    `transcripts` is the SHA-256 over the latest outcome of every replayed call as it is kept (canonical JSON), ordered by key, each
    followed by a line feed; failures are among them.

    Raises:
        NotFoundError: the folder holds no replay.
    """
    replay = get_replay(store)
    policy = replay.policy
    sessions = list_versions(store, SESSION)
    returned: set[str] = set()
    unnamed = 0
    moments: set[str] = set()
    requests = RequestTally()
    for response in store.list_responses(Purpose.REPLAY):
        if response.model_returned is not None:
            returned.add(response.model_returned)
        elif response.failure is None:
            unnamed += 1
        moments.update(_list_dates(response))
        requests.add(response)
    replayed = build_replayed(store, requests)
    return Provenance(
        endpoint=_join(f"{one['base_url']} (API version {one['api_version']}{_name_betas(one)}{_name_server(one)})" for one in sessions),
        model_requested=policy.model,
        model_returned=_join(sorted(returned)),
        models_returned=tuple(sorted(returned)),
        unnamed_responses=unnamed,
        accessed=_span(moments),
        sampling=_describe_policy(policy, sessions[-1] if sessions else {}),
        tools=_describe_tools(store, replay),
        budget_spent=_describe_spent(store),
        system_prompts=IN_RECORD if replayed and replayed.is_disclosed else None,
        transcripts=digest_transcripts(store),
        budget_planned=describe_budget(replay.budget),
        run=find_name(store),
        replayed=replayed,
    )


def withhold_prompts(provenance: Provenance) -> Provenance:
    """Return *provenance* with the digests of the contexts in the place of their texts, which are then not disclosed."""
    if provenance.replayed is None:
        return provenance
    contexts = tuple(replace(one, spec=None) for one in provenance.replayed.contexts)
    return replace(provenance, system_prompts=None, replayed=replace(provenance.replayed, contexts=contexts))


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


def _name_server(session: Mapping[str, Any]) -> str:
    told = describe_served_by(session)
    return f"; {told}" if told else ""


def _describe_policy(policy: Policy, session: Mapping[str, Any]) -> str:
    """Say of each parameter whether it was set, left to the endpoint's default, or could not be set."""
    told: Mapping[str, str] = session.get("sampling", {})
    parts = [
        f"{name} {getattr(policy, name)} (set)" if getattr(policy, name) is not None else f"{name} {told.get(name, 'default')}"
        for name in SAMPLING
    ]
    parts.append(f"max_tokens {policy.max_tokens}")
    # Left out of a request, they are the endpoint's to choose, and a reader has to know that too.
    parts += [
        f"{name} {'default' if (value := getattr(policy, name)) is None else value}" for name in ("effort", "thinking", "service_tier")
    ]
    if policy.stop_sequences:
        parts.append(f"{len(policy.stop_sequences)} stop sequences")
    return ", ".join([*parts, "seed not settable"])


def _describe_tools(store: RunStore, replay: Replay) -> str | None:
    """Say of every arm which tools its contexts offer and what surrounds them, for they may differ between the sides."""
    versions = list_versions(store, CONTEXTS)
    if not versions:
        return None
    said: dict[str, list[str]] = {}
    sources = list_versions(store, SOURCES)
    sealed = sources[-1].get("sealed", {}) if sources else {}
    for arm in replay.arms:
        if arm.context in sealed:
            said.setdefault("sealed", []).append(f"{arm.arm} ({arm.spec})" if arm.spec else arm.arm)
            continue
        items = versions[-1].get(arm.context, {}).get("contexts", [])
        tools = sorted({tool["name"] for item in items for tool in item.get("tools") or ()})
        scaffolds = sorted({item["scaffold"] for item in items if item.get("scaffold")})
        told = "; ".join([f"tools {', '.join(tools)}" if tools else "no tools", *(f"scaffold {one}" for one in scaffolds)])
        said.setdefault(told, []).append(f"{arm.arm} ({arm.spec})" if arm.spec else arm.arm)
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{', '.join(dict.fromkeys(arms))}: {told}" for told, arms in said.items())


def _describe_spent(store: RunStore) -> str | None:
    """Say what was spent on the replay, and apart from it on judge and probe."""
    spent = store.sum_spent(unsent=UNSENT)
    by_purpose = {purpose: [one for one in spent if one.purpose is purpose] for purpose in Purpose}
    if not by_purpose[Purpose.REPLAY]:
        return None
    told = (f"{purpose.value}: {_sum_up(found)}" for purpose, found in by_purpose.items() if found and purpose is not Purpose.REPLAY)
    return "; ".join([_sum_up(by_purpose[Purpose.REPLAY]), *told])


def _sum_up(spent: Sequence[Spent]) -> str:
    calls, untold = sum(one.calls for one in spent), sum(one.untold for one in spent)
    inputs, outputs = sum(one.input_tokens for one in spent), sum(one.output_tokens for one in spent)
    text = f"{format_items(calls, 'call')}, {inputs:,} input tokens, {outputs:,} output tokens"
    return f"{text} ({untold:,} calls without a count of tokens)" if untold else text
