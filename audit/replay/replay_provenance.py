"""What a run folder states of its replay: outcomes by arm, contexts, who served the model, and provenance."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from audit.endpoints.messages_api import SAMPLING
from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import UNSENT, is_doubtful
from audit.replay.replay_design import find_field
from audit.replay.replay_file import describe_contexts, list_parts
from audit.replay.run_budget import format_usd
from audit.replay.run_store import ModelUsage, RunStore, find_name, get_replay, get_tasks, list_versions
from registry.codec.canonical_documents import canonical_bytes, from_document, to_document
from registry.codec.file_io import read_document
from registry.errors import Fault, InputError
from registry.records.record import Record
from registry.records.replay_run import (
    Arm,
    ArmOutcomes,
    Budget,
    Policy,
    Provenance,
    Replay,
    ReplayAccount,
    RequestedArm,
    RequestedContexts,
    Requests,
    Task,
)
from registry.records.specification import ContextSpec, ModelApi
from registry.report.number_format import format_items

# The outcomes of the design's cells by arm. Refusals, truncations and failures may differ between arms, and then the
# scores do not show the whole difference.

ANSWERED, REFUSED, TRUNCATED, EMPTY = "answered", "refused", "truncated", "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCellCounts:
    """The cells of one arm, specification and edit."""

    arm: str
    spec: str | None
    cue_removed: str | None
    cells: int
    answered: int
    """Answers of any kind; the next three are among them."""
    refused: int
    truncated: int
    """Cut by max_tokens or the context window."""
    empty: int
    """Without any text."""
    failures: dict[str, int] = field(default_factory=dict)
    """Cells without an answer, by code."""

    @property
    def open(self) -> int:
        """Cells without an outcome."""
        return self.cells - self.answered - sum(self.failures.values())


def count_arm_outcomes(store: RunStore) -> list[ArmCellCounts]:
    """Return the cells counted by arm, specification and edit, in the order of their names."""
    # Responses are read once and reduced to marks; a run's texts would not fit into memory.
    marks = {response.key: _mark(response) for response in store.list_responses(Purpose.REPLAY)}
    cells: Counter[tuple[str, str, str]] = Counter()
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    failures: dict[tuple[str, str, str], Counter[str]] = {}
    for cell, key in store.list_cells():
        place = (cell.arm, cell.spec or "", cell.cue_removed or "")
        cells[place] += 1
        # Cells with the same call share its outcome, and each cell counts.
        names, failure = marks.get(key, ((), None))
        counts.setdefault(place, Counter()).update(names)
        failures.setdefault(place, Counter()).update([failure] if failure else [])
    return [
        ArmCellCounts(
            arm=place[0],
            spec=place[1] or None,
            cue_removed=place[2] or None,
            cells=cells[place],
            answered=counts[place][ANSWERED],
            refused=counts[place][REFUSED],
            truncated=counts[place][TRUNCATED],
            empty=counts[place][EMPTY],
            failures=dict(failures[place]),
        )
        for place in sorted(cells)
    ]


def _mark(response: Response) -> tuple[tuple[str, ...], str | None]:
    if response.failure is not None:
        return (), response.failure.code
    marks = {
        ANSWERED: True,
        REFUSED: response.stop_reason == "refusal",
        TRUNCATED: response.stop_reason in ("max_tokens", "model_context_window_exceeded"),
        EMPTY: not (response.text or "").strip(),
    }
    return tuple(name for name, holds in marks.items() if holds), None


# The replay as the record of an audit holds it: contexts, arms and outcomes of calls.
#
# Contexts are kept whole in the provenance of the run's record, so that a supplement is self-contained and contexts
# need not be registered. A prompt counts as disclosed only if it is in the record; a run folder is not published. Cost:
# up to 100 kB a record, and prompts are public unless `--withhold-prompts` is given, which makes the item visibly
# missing.

CONTEXTS = "contexts"
SOURCES = "sources"
LONGEST_BYTES = 100_000
"""Of all contexts of a replay together, as documents; longer ones stand in the record by their digests alone."""


@dataclass(slots=True, kw_only=True)
class RequestTally:
    """HTTP requests, counted while responses are read; a call in a batch has none of its own."""

    sent: int = 0
    repeated: int = 0
    doubtful: int = 0
    calls: int = 0

    def add(self, response: Response) -> None:
        """Count those of one call."""
        self.calls += 1
        if response.batch is not None:
            return
        # Every attempt but the last was repeated. The last one gave the answer or ended the call.
        before = response.attempts[:-1]
        self.sent += len(response.attempts)
        self.repeated += len(before)
        self.doubtful += sum(map(is_doubtful, before))


def build_replayed(store: RunStore, requests: RequestTally) -> ReplayAccount | None:
    """Return what the folder says of its replay; None where it was written before contexts were kept.

    Raises:
        NotFoundError: the folder holds no replay.
    """
    versions, sources = list_versions(store, CONTEXTS), list_versions(store, SOURCES)
    if not versions:
        return None
    replay, tasks = get_replay(store), list(get_tasks(store).values())
    contexts = renew_contexts(versions[-1], where=str(store.path))
    named = sources[-1] if sources else {"files": {}, "specs": {}}
    file = named["files"].get(replay.tasks)
    spent = sum(usage.calls for usage in store.sum_spent(unsent=UNSENT) if usage.purpose is Purpose.REPLAY)
    return ReplayAccount(
        name=replay.name,
        tasks=len(tasks),
        tasks_file=f"{replay.tasks}, SHA-256 {file}" if file else None,
        samples=replay.samples,
        seed=replay.seed,
        contexts=_list_contexts(replay, contexts, named),
        arms=tuple(_build_arm(arm, tasks) for arm in replay.arms),
        outcomes=tuple(map(_build_outcomes, count_arm_outcomes(store))),
        requests=Requests(
            sent=requests.sent, repeated=requests.repeated, doubtful=requests.doubtful, calls_again=max(0, spent - requests.calls)
        ),
        parts=list_parts(replay, tasks, describe_contexts(contexts, named.get("sealed", {}))),
    )


def renew_contexts(kept: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Return the context specifications of a run folder as they are written today: keys that are new since then have their default."""
    return {name: to_document(from_document(ContextSpec, item, where=f"{where}, contexts {name}")) for name, item in kept.items()}


def describe_budget(budget: Budget) -> str | None:
    """Return the limits that a replay set itself, in words; None when it set none."""
    limits = [
        f"{value:,} {name.replace('_', ' ')}"
        for name in ("calls", "input_tokens", "output_tokens")
        if (value := getattr(budget, name)) is not None
    ]
    limits += [format_usd(budget.usd)] if budget.usd is not None else []
    return ", ".join(limits) or None


def _list_contexts(replay: Replay, kept: Mapping[str, Any], named: Mapping[str, Any]) -> tuple[RequestedContexts, ...]:
    names = [name for name in dict.fromkeys(arm.context for arm in replay.arms) if name in kept]
    written = {name: canonical_bytes(kept[name]) for name in names}
    sealed = named.get("sealed", {})
    # All contexts or none: a record with some of them would look complete to a reader.
    fits = sum(len(text) for name, text in written.items() if name not in sealed) <= LONGEST_BYTES
    return tuple(
        RequestedContexts(
            name=name,
            reference=named["specs"].get(name),
            # A registered specification is identified by its reference; a file only by its digest.
            file=None if name in named["specs"] else named["files"].get(name),
            digest=sealed.get(name, hashlib.sha256(text).hexdigest()),
            spec=from_document(ContextSpec, kept[name], where=f"contexts, {name}") if fits and name not in sealed else None,
            is_sealed=name in sealed,
        )
        for name, text in written.items()
    )


def _build_arm(arm: Arm, tasks: Sequence[Task]) -> RequestedArm:
    chosen = [task for task in tasks if all(find_field(task, field) in values for field, values in (arm.where or {}).items())]
    return RequestedArm(arm=arm.arm, spec=arm.spec, contexts=arm.context, tasks=len(chosen), where=arm.where, edits=arm.edits or ())


def _build_outcomes(count: ArmCellCounts) -> ArmOutcomes:
    return ArmOutcomes(
        arm=count.arm,
        spec=count.spec,
        cue_removed=count.cue_removed,
        planned=count.cells,
        answered=count.answered,
        refused=count.refused,
        truncated=count.truncated,
        empty=count.empty,
        failures=dict(sorted(count.failures.items())),
    )


# Who serves a local model: a file by whoever serves it (`--served-by`) identifies weights and server, and is compared
# between sessions. It is a declaration and not a proof.

_PLACE = "base_url"
"""What may differ between two servings of the same model by the same server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedBy(Record):
    """A server and its model. None: not told."""

    server: str
    """Name and build, such as `llama.cpp in xllamacpp 2.0, build b7000`."""
    base_url: str | None = None
    model: str | None = None
    """The name that requests ask for."""
    weights: str | None = None
    """Name of the weights' file."""
    weights_sha256: str | None = None
    """Hexadecimal."""
    chat_template_sha256: str | None = None
    threads: int | None = None
    """How many compute one answer: another number can give another text."""
    slots: int | None = None
    """Answers made at the same time."""
    context_tokens_per_slot: int | None = None
    sampling_defaults: dict[str, float | None] | None = None
    """By parameter, what holds where a request sets none."""


def read_served_by(path: Path) -> ServedBy:
    """Return what the file *path* (JSON or YAML) says of the server; raises InputError with every fault."""
    return from_document(ServedBy, read_document(path), where=str(path))


def check_served_by(served: ServedBy, *, model: str, base_url: str | None, where: str) -> None:
    """Return when *served* is about this *model* at this *base_url* (None: not known yet); raises InputError."""
    # One server may speak both APIs: at its address, and under /v1 of it.
    addresses = (address and address.rstrip("/").removesuffix("/v1") for address in (served.base_url, base_url))
    pairs = (("model", served.model, model), ("base_url", *addresses))
    faults = [
        Fault("not-valid", f"{where}, {name}", f"is {server_value}; the replay asks {replay_value}", advice="give the file of that server")
        for name, server_value, replay_value in pairs
        if server_value is not None and replay_value is not None and server_value != replay_value
    ]
    if faults:
        raise InputError(faults)


def find_differences(served: ServedBy, known: Mapping[str, Any]) -> list[str]:
    """Return the names of what *served* says differently than the document *known* of an earlier session: then it is another model."""
    now = to_document(served)
    # Another port or host serves the same model. Any other difference makes the answers those of another model.
    return sorted(name for name in {*now, *known} - {_PLACE} if now.get(name) != known.get(name))


def describe_served_by(document: Mapping[str, Any]) -> str:
    """Return in words what a session's document says of its server, for the provenance; empty where it says nothing."""
    return "; ".join(_describe(document.get("served_by") or {}))


def add_defaults(sampling: Mapping[str, str], served: ServedBy | None) -> dict[str, str]:
    """Return *sampling*, as `describe_sampling` of `audit/endpoints/` shows it, with the numbers that the server's defaults are."""
    defaults = (served.sampling_defaults if served else None) or {}
    return {
        name: f"{setting} ({value:g})" if setting == "default" and (value := defaults.get(name)) is not None else setting
        for name, setting in sampling.items()
    }


def _describe(document: Mapping[str, Any]) -> Iterator[str]:
    if "server" in document:
        yield str(document["server"])
    if document.get("weights_sha256"):
        yield f"weights {document.get('weights') or ''} SHA-256 {document['weights_sha256']}".replace("  ", " ")
    if document.get("chat_template_sha256"):
        yield f"chat template SHA-256 {document['chat_template_sha256']}"
    sizes = (("threads", "thread"), ("slots", "slot"), ("context_tokens_per_slot", "context token"))
    counts = [f"{document[name]} {word}{'' if document[name] == 1 else 's'}" for name, word in sizes if document.get(name) is not None]
    text = ", ".join(counts) + (" a slot" if document.get("context_tokens_per_slot") is not None else "")
    if text:
        yield text


# Provenance, as the checklist and the supplement print it.

SESSION = "session"
_AT = ("base_url", "api_version")
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
    fingerprints: set[str] = set()
    requests = RequestTally()
    for response in store.list_responses(Purpose.REPLAY):
        if response.completion is not None and response.completion.system_fingerprint:
            fingerprints.add(response.completion.system_fingerprint)
        if response.model_returned is not None:
            returned.add(response.model_returned)
        # Answers that name no model are counted apart: the verdict asks whether all responses are from the claimed
        # version.
        elif response.failure is None:
            unnamed += 1
        moments.update(_list_dates(response))
        requests.add(response)
    replayed = build_replayed(store, requests)
    return Provenance(
        endpoint=_join(
            f"{session['base_url']} ({_name_api(session)}{_name_betas(session)}{_name_server(session)})"
            for session in sessions
            # A session before the first answer may have been at another address; those after it are all at the last one's.
            if [session[name] for name in _AT] == [sessions[-1][name] for name in _AT]
        ),
        model_requested=policy.model,
        model_returned=_name_returned(returned, fingerprints),
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
    contexts = tuple(replace(context, spec=None) for context in provenance.replayed.contexts)
    return replace(provenance, system_prompts=None, replayed=replace(provenance.replayed, contexts=contexts))


def digest_transcripts(store: RunStore) -> str | None:
    """Return the SHA-256 of the stored outcomes of the replay, as `build_provenance` describes it; None when there are none."""
    total = hashlib.sha256()
    count = 0
    for document in store.list_documents(Purpose.REPLAY):
        # The stored text is hashed as it is. Reading and writing it again could change bytes after an update of Caveat.
        total.update(document.encode() + b"\n")
        count += 1
    return total.hexdigest() if count else None


def _list_dates(response: Response) -> list[str]:
    # A call that was never sent has no date of access.
    moments = (response.sent_at, response.received_at) if response.attempts or response.batch else ()
    return [f"{moment:%Y-%m-%d}" for moment in moments if moment is not None]


def _span(moments: set[str]) -> str | None:
    if not moments:
        return None
    first, last = min(moments), max(moments)
    return first if first == last else f"{first}/{last}"


def _join(texts: Iterable[str]) -> str | None:
    return "; ".join(dict.fromkeys(texts)) or None


def _name_returned(names: set[str], fingerprints: set[str]) -> str | None:
    """Name the models that answered, and the configurations of their servers where the endpoint told them."""
    models = _join(sorted(names))
    if models is None or not fingerprints:
        return models
    return f"{models} (system fingerprint{'s' if len(fingerprints) > 1 else ''} {', '.join(sorted(fingerprints))})"


def _name_api(session: Mapping[str, Any]) -> str:
    version = session["api_version"]
    return "OpenAI chat completions" if version == ModelApi.OPENAI_CHAT else f"API version {version}"


def _name_betas(session: Mapping[str, Any]) -> str:
    return f", betas {', '.join(session['betas'])}" if session.get("betas") else ""


def _name_server(session: Mapping[str, Any]) -> str:
    served = describe_served_by(session)
    return f"; {served}" if served else ""


def _describe_policy(policy: Policy, session: Mapping[str, Any]) -> str:
    """Say of each parameter whether it was set, left to the endpoint's default, or could not be set."""
    sampling: Mapping[str, str] = session.get("sampling", {})
    parts = [
        f"{name} {getattr(policy, name)} (set)" if getattr(policy, name) is not None else f"{name} {sampling.get(name, 'default')}"
        for name in SAMPLING
    ]
    parts.append(f"{session.get('max_tokens_field', 'max_tokens')} {policy.max_tokens}")
    # Parameters that a request leaves out are chosen by the endpoint. They can change the answers, so a reader must see
    # them.
    parts += [
        f"{name} {'default' if (value := getattr(policy, name)) is None else value}" for name in ("effort", "thinking", "service_tier")
    ]
    if policy.stop_sequences:
        parts.append(f"{len(policy.stop_sequences)} stop sequence{'s' if len(policy.stop_sequences) > 1 else ''}")
    if policy.extra:
        parts += [f"{name} {value}" for name, value in sorted(policy.extra.items())]
    if policy.api is not ModelApi.OPENAI_CHAT:
        seed = "not settable (the Messages API has none)"
    else:
        seed = "default" if policy.seed is None else f"{policy.seed} + number of the sample (set)"
    return ", ".join([*parts, f"seed {seed}"])


def _describe_tools(store: RunStore, replay: Replay) -> str | None:
    """Say of every arm which tools its contexts offer and what surrounds them, for they may differ between the sides."""
    versions = list_versions(store, CONTEXTS)
    if not versions:
        return None
    arms_by_text: dict[str, list[str]] = {}
    sources = list_versions(store, SOURCES)
    sealed = sources[-1].get("sealed", {}) if sources else {}
    for arm in replay.arms:
        # Names of tools would reveal part of a sealed context.
        if arm.context in sealed:
            arms_by_text.setdefault("sealed", []).append(f"{arm.arm} ({arm.spec})" if arm.spec else arm.arm)
            continue
        items = versions[-1].get(arm.context, {}).get("contexts", [])
        tools = sorted({tool["name"] for item in items for tool in item.get("tools") or ()})
        scaffolds = sorted({item["scaffold"] for item in items if item.get("scaffold")})
        description = "; ".join([f"tools {', '.join(tools)}" if tools else "no tools", *(f"scaffold {scaffold}" for scaffold in scaffolds)])
        arms_by_text.setdefault(description, []).append(f"{arm.arm} ({arm.spec})" if arm.spec else arm.arm)
    # All arms are alike, so the arms need no names.
    if len(arms_by_text) == 1:
        return next(iter(arms_by_text))
    return "; ".join(f"{', '.join(dict.fromkeys(arms))}: {text}" for text, arms in arms_by_text.items())


def _describe_spent(store: RunStore) -> str | None:
    """Say what was spent on the replay, and apart from it on judge and probe."""
    spent = store.sum_spent(unsent=UNSENT)
    by_purpose = {purpose: [usage for usage in spent if usage.purpose is purpose] for purpose in Purpose}
    if not by_purpose[Purpose.REPLAY]:
        return None
    other_purposes = (
        f"{purpose.value}: {_sum_up(usages)}" for purpose, usages in by_purpose.items() if usages and purpose is not Purpose.REPLAY
    )
    return "; ".join([_sum_up(by_purpose[Purpose.REPLAY]), *other_purposes])


def _sum_up(spent: Sequence[ModelUsage]) -> str:
    calls, untold = sum(usage.calls for usage in spent), sum(usage.untold for usage in spent)
    inputs, outputs = sum(usage.input_tokens for usage in spent), sum(usage.output_tokens for usage in spent)
    text = f"{format_items(calls, 'call')}, {inputs:,} input tokens, {outputs:,} output tokens"
    return f"{text} ({untold:,} calls without a count of tokens)" if untold else text
