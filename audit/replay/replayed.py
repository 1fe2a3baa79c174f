"""What a run folder says of its replay, as the record of an audit holds it: contexts, arms, and what became of the calls."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.replay.census import ArmCount, take_census
from audit.replay.compose import find_field
from audit.replay.documents import get_replay, get_tasks, list_versions
from audit.replay.engine import UNSENT
from audit.replay.outcomes import is_doubtful
from audit.replay.parts import list_parts
from audit.replay.prices import format_usd
from audit.replay.read import describe_contexts
from audit.replay.store import RunStore
from registry.codec.canonical import canonical_bytes
from registry.codec.documents import from_document, to_document
from registry.records.replay import Arm, Budget, Replay, Task
from registry.records.replayed import ArmOutcomes, AskedArm, AskedContexts, Replayed, Requests
from registry.records.response import Purpose, Response
from registry.records.spec import ContextSpec

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
        before = response.attempts[:-1]
        self.sent += len(response.attempts)
        self.repeated += len(before)
        self.doubtful += sum(map(is_doubtful, before))


def build_replayed(store: RunStore, requests: RequestTally) -> Replayed | None:
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
    spent = sum(one.calls for one in store.sum_spent(unsent=UNSENT) if one.purpose is Purpose.REPLAY)
    return Replayed(
        name=replay.name,
        tasks=len(tasks),
        tasks_file=f"{replay.tasks}, SHA-256 {file}" if file else None,
        samples=replay.samples,
        seed=replay.seed,
        contexts=_list_contexts(replay, contexts, named),
        arms=tuple(_build_arm(arm, tasks) for arm in replay.arms),
        outcomes=tuple(map(_build_outcomes, take_census(store))),
        requests=Requests(
            sent=requests.sent, repeated=requests.repeated, doubtful=requests.doubtful, calls_again=max(0, spent - requests.calls)
        ),
        parts=list_parts(replay, tasks, describe_contexts(contexts, named.get("sealed", {}))),
    )


def renew_contexts(kept: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Return the context specifications of a run folder as they are written today: keys that are new since then have their default."""
    return {name: to_document(from_document(ContextSpec, one, where=f"{where}, contexts {name}")) for name, one in kept.items()}


def describe_budget(budget: Budget) -> str | None:
    """Return the limits that a replay set itself, in words; None when it set none."""
    limits = [
        f"{value:,} {name.replace('_', ' ')}"
        for name in ("calls", "input_tokens", "output_tokens")
        if (value := getattr(budget, name)) is not None
    ]
    limits += [format_usd(budget.usd)] if budget.usd is not None else []
    return ", ".join(limits) or None


def _list_contexts(replay: Replay, kept: Mapping[str, Any], named: Mapping[str, Any]) -> tuple[AskedContexts, ...]:
    names = [name for name in dict.fromkeys(arm.context for arm in replay.arms) if name in kept]
    written = {name: canonical_bytes(kept[name]) for name in names}
    sealed = named.get("sealed", {})
    fits = sum(len(text) for name, text in written.items() if name not in sealed) <= LONGEST_BYTES
    return tuple(
        AskedContexts(
            name=name,
            reference=named["specs"].get(name),
            file=None if name in named["specs"] else named["files"].get(name),
            digest=sealed.get(name, hashlib.sha256(text).hexdigest()),
            spec=from_document(ContextSpec, kept[name], where=f"contexts, {name}") if fits and name not in sealed else None,
            is_sealed=name in sealed,
        )
        for name, text in written.items()
    )


def _build_arm(arm: Arm, tasks: Sequence[Task]) -> AskedArm:
    chosen = [task for task in tasks if all(find_field(task, field) in values for field, values in (arm.where or {}).items())]
    return AskedArm(arm=arm.arm, spec=arm.spec, contexts=arm.context, tasks=len(chosen), where=arm.where, edits=arm.edits or ())


def _build_outcomes(count: ArmCount) -> ArmOutcomes:
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
