"""A recorded replay with another model: the same tasks, contexts, scoring and budget, written as the files of a replay of its own."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from audit.fixing import describe_replay, digest_spec
from audit.propose.proposed_claims_file import render_key
from audit.replay.replay_file import ReplayFile
from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.codec.file_io import read_text, write_file
from registry.errors import ConflictError, Fault, InputError
from registry.records.replay_definition import Replay, Task
from registry.records.specification import ContextSpec
from registry.store.view import View

REPLAY, TASKS, RUN = "replay.yaml", "tasks.jsonl", "replay.run"
"""Names of the replay's file, of its tasks, and of its run folder, as `caveat audit run` calls that by itself."""
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_HEAD = "# {name}, asked of another model: written by caveat audit renew. All but the model is as it was locked before.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """A replay with another model, and the files that it is written as."""

    file: ReplayFile
    texts: Mapping[str, str]
    """By name."""


def name_folder(replay: Replay, digest: str) -> str:
    """Return what the folder of a renewed replay is called: the replay's name as far as it fits a file name, and its locked digest."""
    found = _SAFE.search(replay.name)
    return f"{found[0] if found else 'replay'}-{digest[:8]}"


def renew_replay(file: ReplayFile, view: View, *, ask: str, base_url: str | None, audits: Collection[str]) -> Renewed:
    """Return the replay *file* with the model *ask*, answering to *audits*.

    A registered context is named by identifier and version, so that no newer version takes its place; every other one becomes a file.

    Args:
        base_url: the endpoint of the new model; None keeps what the replay says.
        audits: `AUD-…`; empty before they are locked.
    """
    texts: dict[str, str] = {TASKS: "".join(map(_write_line, file.tasks))}
    names: dict[str, str] = {}
    # In the order of the arms: a run folder keeps its contexts in another order than a file has them.
    for number, name in enumerate(dict.fromkeys(arm.context for arm in file.replay.arms), 1):
        spec = file.contexts[name]
        reference = file.references.get(name)
        is_known = name in file.sealed or (reference is not None and _is_registered(view, reference, spec))
        names[name] = reference if reference and is_known else f"contexts-{number}.json"
        if names[name] != reference:
            texts[names[name]] = json.dumps(to_document(spec), ensure_ascii=False, indent=1) + "\n"
    policy = replace(file.replay.policy, model=ask, base_url=base_url or file.replay.policy.base_url)
    arms = tuple(replace(one, context=names[one.context]) for one in file.replay.arms)
    replay = replace(file.replay, policy=policy, arms=arms, tasks=TASKS, audit=tuple(sorted(audits)) or None)
    texts[REPLAY] = _show(_HEAD.format(name=file.replay.name.replace("\n", " "))) + _write_replay(replay)
    contexts = {new: file.contexts[name] for name, new in names.items()}
    references = {one: one for one in contexts if one not in texts}
    sealed = {new: file.sealed[name] for name, new in names.items() if name in file.sealed}
    return Renewed(file=replace(file, replay=replay, contexts=contexts, sources={}, references=references, sealed=sealed), texts=texts)


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write *texts* into *folder*; files that say the same stay as they are.

    Raises:
        ConflictError: a file other than the replay's own says something else: the folder is for another replay.
        OSError: the file system refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        path = folder / name
        known = _read(path)
        if known == text:
            continue
        if known is not None and name != REPLAY:
            found = "is there already and says something else than the recorded replay"
            advice = "choose another folder with -o DIR"
            raise ConflictError(Fault(code="renewal-differs", where=str(path), found=found, advice=advice))
        part = path.with_name(f"{name}.part")
        write_file(part, text)
        part.replace(path)


def find_changed_parts(before: ReplayFile, after: ReplayFile) -> list[str]:
    """Return the names of the parts in which two replays differ, as a lock fixes them."""
    old, new = describe_replay(before), describe_replay(after)
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _is_registered(view: View, reference: str, spec: ContextSpec) -> bool:
    found = view.find_spec(reference)
    digest = hashlib.sha256(canonical_bytes(to_document(spec))).hexdigest()
    return found is not None and found.payload.body is not None and digest_spec(found.payload) == digest


def _write_line(task: Task) -> str:
    kept = {name: value for name, value in to_document(task).items() if value not in (None, [])}
    return json.dumps(kept, ensure_ascii=False) + "\n"


def _write_replay(replay: Replay) -> str:
    document = {name: value for name, value in to_document(replay).items() if value is not None}
    document["policy"] = {name: value for name, value in document["policy"].items() if value not in (None, [])}
    ordered = {"schema": document.pop("schema"), **document}
    return "".join(f"{line}\n" for name, value in ordered.items() for line in render_key(name, value, 0))


def _show(line: str) -> str:
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in line)


def _read(path: Path) -> str | None:
    try:
        return read_text(path, largest=200_000_000) if path.is_file() else None
    except InputError:
        return ""
