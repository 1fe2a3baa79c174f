"""A replay's file, read together with the tasks and contexts that it names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.replay.sealed import ENDING, SealedContexts, name_seal, open_seal
from audit.replay.tasks import read_tasks
from registry.codec.documents import from_document, to_document
from registry.codec.files import read_document
from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.records.replay import Replay, Task
from registry.records.spec import ContextSpec, SpecKind, SpecVersion
from registry.registration.context_file import digest_file, find_beside, read_context_spec
from registry.registration.specs import format_reference
from registry.store.view import View

_KINDS = (SpecKind.TEST_CONTEXT, SpecKind.DEPLOY_CONTEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFile:
    """A replay with everything that it is made of."""

    replay: Replay
    tasks: tuple[Task, ...]
    contexts: Mapping[str, ContextSpec]
    """By `Arm.context`."""
    sources: Mapping[str, str]
    """What it was read from: by the name of a file, seen from the replay's folder, its SHA-256."""
    references: Mapping[str, str]
    """By `Arm.context`, the registered specification with its version, `CTX-…@n`; files have none."""
    sealed: Mapping[str, str] = field(default_factory=dict)
    """By `Arm.context`, the commitment of a specification that was sealed; its texts never enter the record."""

    def describe_contexts(self) -> dict[str, Any]:
        """Return by `Arm.context` what a record may know of it: the document, of a sealed one its commitment."""
        return describe_contexts({name: to_document(spec) for name, spec in self.contexts.items()}, self.sealed)


def describe_contexts(documents: Mapping[str, Any], sealed: Mapping[str, str]) -> dict[str, Any]:
    """Return the *documents* of contexts by name, with the commitment in place of each that is *sealed*."""
    return {name: {"commitment": sealed[name]} if name in sealed else one for name, one in documents.items()}


def read_replay(path: Path, view: View | None, *, owner: str | None = None) -> ReplayFile:
    """Return the replay in *path* with its tasks and contexts, ready for `audit.replay.design.build_design`.

    A context is the file of that name beside the replay, where there is one, else a specification of the registry. A seal file beside it
    (`audit.replay.sealed`) makes it a sealed one.

    Args:
        view: the registry; None where there is none, and then every context is a file.
        owner: authority whose short names come first; those of others are looked at where it has none of the name.

    Raises:
        InputError: with every fault of the replay's file; else of tasks and contexts together.
    """
    replay = from_document(Replay, read_document(path), where=str(path))
    sources = {path.name: digest_file(path)}
    faults: list[Fault] = []
    tasks: tuple[Task, ...] = ()
    try:
        file = find_beside(path.parent, replay.tasks, where=f"{path}, tasks")
        tasks = read_tasks(file)
        sources[replay.tasks] = digest_file(file)
    except InputError as error:
        faults.extend(error.faults)
    contexts: dict[str, ContextSpec] = {}
    references: dict[str, str] = {}
    sealed: dict[str, str] = {}
    for name in dict.fromkeys(arm.context for arm in replay.arms):
        try:
            seal = _find_seal(path, name, view, sources)
            if seal is None:
                contexts[name] = _read_context(path, name, sources) or _find_registered(path, name, view, owner, (references, sealed))
            else:
                contexts[name], references[name], sealed[name] = seal.spec, seal.reference, seal.commitment
        except (ConflictError, InputError, NotFoundError) as error:
            faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    return ReplayFile(replay=replay, tasks=tasks, contexts=contexts, sources=sources, references=references, sealed=sealed)


def _read_context(path: Path, name: str, sources: dict[str, str]) -> ContextSpec | None:
    """Return the context specification in the file *name* beside *path*; None where there is no such file."""
    file = find_beside(path.parent, name, where=f"{path}, context {name!r}")
    if not file.is_file():
        return None
    spec, digests = read_context_spec(file)
    sources[name] = digest_file(file)
    folder = Path(name).parent
    sources.update({(folder / text).as_posix(): digest for text, digest in digests.items()})
    return spec


def _find_seal(path: Path, name: str, view: View | None, sources: dict[str, str]) -> SealedContexts | None:
    """Return the context *name* as the seal file beside it holds it; None where there is no seal file.

    Raises:
        ConflictError: the context file says something else than what was sealed.
    """
    file = find_beside(path.parent, name, where=f"{path}, context {name!r}")
    seal = file if file.name.endswith(ENDING) else name_seal(file)
    if not seal.is_file():
        return None
    found = open_seal(seal, view)
    if seal != file and file.is_file() and _read_context(path, name, sources) != found.spec:
        text = f"is not what {seal.name} holds and {found.reference} commits to"
        advice = f"replay what was sealed; a changed file is sealed under another name, or anew after {seal.name} was put away"
        raise ConflictError(Fault(code="sealed-context-differs", where=str(file), found=text, advice=advice))
    return found


def _find_registered(
    path: Path, name: str, view: View | None, owner: str | None, known: tuple[dict[str, str], dict[str, str]]
) -> ContextSpec:
    """Return the registered context *name*; its reference, and its commitment where it was sealed, are added to *known*."""
    where = f"{path}, context {name!r}"
    found = [] if view is None else _list_named(view, name, owner)
    if not found:
        place = (
            "beside it, and no registry is open" if view is None else "beside it, and no context specification of the registry is called so"
        )
        advice = "caveat spec list --kind test_context shows what is registered"
        raise NotFoundError(Fault(code="spec-not-found", where=where, found=f"no such file stands {place}", advice=advice))
    if len(found) > 1:
        listed = ", ".join(f"{format_reference(one)} ({one.kind.value} of {one.owner})" for one in found)
        raise InputError(Fault(code="spec-ambiguous", where=where, found=f"stands for {listed}", advice="name one by its identifier"))
    (version,) = found
    body = view.open_spec(version) if view is not None else None
    if not isinstance(body, ContextSpec):
        text = f"{format_reference(version)} is sealed, and no seal file beside the replay opens it"
        advice = f"put its seal file there as {version.slug}{ENDING} and name the context {version.slug}{ENDING}, or reveal it first"
        raise InputError(Fault(code="spec-sealed", where=where, found=text, advice=advice))
    references, sealed = known
    references[name] = format_reference(version)
    if version.commitment is not None:
        sealed[name] = version.commitment
    return body


def _list_named(view: View, name: str, owner: str | None) -> list[SpecVersion]:
    """Return the context specifications that *name* can mean."""
    if name.startswith("CTX-"):
        found = view.find_spec(name)
        return [found.payload] if found is not None and found.payload.kind in _KINDS else []
    listed = [one.payload for kind in _KINDS for one in view.list_specs(kind)]
    named = [one for one in listed if one.slug == name]
    return [one for one in named if one.owner == owner] or named
