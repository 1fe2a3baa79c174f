"""What a replay is made of, part by part: what a lock fixes of it, and what a run folder is compared by."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from registry.codec.canonical import canonical_bytes
from registry.codec.documents import to_document
from registry.records.replay import Arm, Replay, Task, TasksFile

SIDES = ("test", "deploy")
"""What the two arms of a replay under a lock are called."""

_LONGEST = 300
"""Characters of canonical JSON that a part is written out in; of a longer one stands the digest."""


def list_parts(replay: Replay, tasks: Sequence[Task], contexts: Mapping[str, Any]) -> dict[str, str]:
    """Return each part of *replay* as canonical JSON, or as `sha256 …` of it where it is long.

    Name, file names and the audits that it answers to are no parts: they change nothing that is asked or scored, and an audit's
    identifier is known only once its plan is locked. Contexts stand by the SHA-256 of their canonical documents.

    Args:
        contexts: by `Arm.context`, the specification's document.
    """
    digests = {name: _digest(document) for name, document in contexts.items()}
    document = to_document(replay)
    arms = {
        name if name in SIDES else f"arm {name}": [_describe_arm(arm, digests) for arm in replay.arms if arm.arm == name]
        for name in sorted({arm.arm for arm in replay.arms})
    }
    edits = [{"arm": arm.arm, "edits": list(arm.edits), "spec": arm.spec} for arm in replay.arms if arm.edits]
    said = {
        "policy": _drop(document["policy"]),
        **arms,
        "tasks": to_document(TasksFile(tasks=tuple(tasks))),
        "samples": replay.samples,
        "budget": _drop(document["budget"]),
        **({"scoring": _drop(document["scoring"])} if document["scoring"] else {}),
        **({"cues": edits} if edits else {}),
        **({"probe": _drop(document["probe"])} if document["probe"] else {}),
        "order of calls": replay.seed,
    }
    return {name: _write(part) for name, part in said.items()}


def digest_parts(parts: Mapping[str, str]) -> str:
    """Return the SHA-256 of the canonical JSON of *parts*, hexadecimal: the one digest of a replay with everything it refers to."""
    return _digest(dict(parts))


def digest_tasks(ids: Iterable[str]) -> str:
    """Return the SHA-256 of task identifiers, as `registry.records.plan.LockedTasks` defines it."""
    return hashlib.sha256("".join(f"{one}\n" for one in sorted(ids)).encode()).hexdigest()


def _describe_arm(arm: Arm, digests: Mapping[str, str]) -> dict[str, Any]:
    where = {field: list(values) for field, values in (arm.where or {}).items()}
    return {"contexts": digests.get(arm.context), **({"spec": arm.spec} if arm.spec else {}), **({"where": where} if where else {})}


def _drop(document: Mapping[str, Any]) -> dict[str, Any]:
    """What is not set is the endpoint's default: it is left out, so that a later field changes no digest."""
    return {name: value for name, value in document.items() if value not in (None, [], False)}


def _write(part: Any) -> str:
    text = canonical_bytes(part)
    return text.decode() if len(text) <= _LONGEST else f"sha256 {hashlib.sha256(text).hexdigest()}"


def _digest(document: Any) -> str:
    return hashlib.sha256(canonical_bytes(document)).hexdigest()
