"""A replay's file with its tasks and contexts, sealed ones too, and the parts that a lock fixes."""

import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from audit.replay.replay_design import read_tasks
from registry.codec.canonical_documents import canonical_bytes, from_document, to_document
from registry.codec.file_io import read_document
from registry.codec.statement_encoding import commitment_of
from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.records.replay_run import Arm, Replay, Task, TasksFile
from registry.records.specification import ContextSpec, SpecKind, SpecVersion
from registry.registration.context_specification import digest_file, find_beside, read_context_spec
from registry.registration.specification_registration import SealRequest, format_reference, read_seal, seal_spec
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# The parts of a replay. A lock fixes them by digest, and a run folder is compared with them.
#
# The digest leaves out `audit:` and all file names: an audit's identifier is known only after its plan is locked, and
# names change nothing that is asked or scored. Short parts are written out so that a reader of the lock can read them.
# Task identifiers are in the lock, so that "the first tasks of the seeded order" can be told apart from a choice. Cost:
# locks of some kilobytes.

SIDES = ("test", "deploy")
"""What the two arms of a replay under a lock are called."""

_LONGEST = 300
"""Characters of canonical JSON that a part is written out in; of a longer one stands the digest."""


def list_parts(replay: Replay, tasks: Sequence[Task], contexts: Mapping[str, Any]) -> dict[str, str]:
    """Return each part of *replay* as canonical JSON, or as `sha256 …` of it where it is long.

    Name, file names and the audits that it answers to are no parts: they change nothing that is asked or scored, and an audit's
    identifier is known only once its plan is locked. Contexts are named by the SHA-256 of their canonical documents.

    Args:
        contexts: by `Arm.context`, the specification's document.
    """
    # A context is a part by its digest and not by its name: the same texts under another name are the same replay.
    digests = {name: _digest(document) for name, document in contexts.items()}
    document = to_document(replay)
    arms = {
        name if name in SIDES else f"arm {name}": [_describe_arm(arm, digests) for arm in replay.arms if arm.arm == name]
        for name in sorted({arm.arm for arm in replay.arms})
    }
    edits = [{"arm": arm.arm, "edits": list(arm.edits), "spec": arm.spec} for arm in replay.arms if arm.edits]
    parts = {
        "policy": _drop(document["policy"]),
        **arms,
        "tasks": describe_tasks(tasks),
        "samples": replay.samples,
        "budget": _drop(document["budget"]),
        # A part that is absent is left out and not written as null, so replays without it keep the digest that earlier
        # locks hold.
        **({"scoring": _drop(document["scoring"])} if document["scoring"] else {}),
        **({"cues": edits} if edits else {}),
        **({"probe": _drop(document["probe"])} if document["probe"] else {}),
        "order of calls": replay.seed,
    }
    # The tasks come as text already.
    return {name: part if isinstance(part, str) else _write(part) for name, part in parts.items()}


def describe_tasks(tasks: Sequence[Task]) -> str:
    """Return the part of a replay that its tasks are, as `list_parts` gives it."""
    # Words of users never enter the log, however short: of conversations only the digest does.
    return _write(to_document(TasksFile(tasks=tuple(tasks))), longest=-1 if any(task.prefix for task in tasks) else _LONGEST)


def digest_parts(parts: Mapping[str, str]) -> str:
    """Return the SHA-256 of the canonical JSON of *parts*, hexadecimal: the one digest of a replay with everything it refers to."""
    return _digest(dict(parts))


def digest_tasks(ids: Iterable[str]) -> str:
    """Return the SHA-256 of task identifiers, as `registry.records.analysis_plan.LockedTasks` defines it."""
    # Sorted: the digest is of the set of tasks, in whatever order a file lists them.
    return hashlib.sha256("".join(f"{identifier}\n" for identifier in sorted(ids)).encode()).hexdigest()


def _describe_arm(arm: Arm, digests: Mapping[str, str]) -> dict[str, Any]:
    where = {field: list(values) for field, values in (arm.where or {}).items()}
    return {"contexts": digests.get(arm.context), **({"spec": arm.spec} if arm.spec else {}), **({"where": where} if where else {})}


def _drop(document: Mapping[str, Any]) -> dict[str, Any]:
    """What is not set is the endpoint's default: it is left out, so that a later field changes no digest."""
    return {name: value for name, value in document.items() if value not in (None, [], False)}


def _write(part: Any, *, longest: int = _LONGEST) -> str:
    text = canonical_bytes(part)
    return text.decode() if len(text) <= longest else f"sha256 {hashlib.sha256(text).hexdigest()}"


def _digest(document: Any) -> str:
    return hashlib.sha256(canonical_bytes(document)).hexdigest()


# Sealed contexts of a live replay. The texts stay in seal files, and the record gets only their salted commitments.
#
# `chat.seal.yaml` beside `chat.yaml` makes that context a sealed one, for the lock and for the run. Each context file
# has its own salt; without one, a short text could be found by trying texts until one fits the commitment. The seal
# file is written before the commitment is recorded, because a commitment that cannot be opened is worthless.

ENDING = ".seal.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedContexts:
    """A context specification that is known by its commitment, with the texts that its seal file holds."""

    spec: ContextSpec
    reference: str
    """`CTX-…@n`."""
    commitment: str


def name_seal(path: Path) -> Path:
    """Return where the seal file of the context file *path* is: `chat.seal.yaml` next to `chat.yaml`."""
    return path.with_name(f"{path.stem}{ENDING}")


def open_seal(path: Path, view: View | None) -> SealedContexts:
    """Return what the seal file *path* holds, if it opens a commitment of the registry.

    Raises:
        InputError: it is no seal file of contexts, others can read it, or the registry has no commitment that it opens.
    """
    opening = read_seal(path).opening
    version = None if view is None else view.find_spec(opening.spec)
    commitment = commitment_of(opening)
    # The commitment must be in the log. Otherwise a seal file written after the run could claim to have been sealed
    # before it.
    if version is None or (version.payload.kind, version.payload.commitment) != (opening.spec_kind, commitment):
        text = f"opens no commitment that the registry has for {opening.spec}: nothing shows that these texts were sealed"
        raise InputError(Fault("seal-not-recorded", str(path), text))
    if not isinstance(opening.body, ContextSpec):
        text = f"holds a {opening.spec_kind.value}, and a context is asked for"
        raise InputError(Fault("seal-not-opened", str(path), text, advice="name the seal file of the contexts"))
    return SealedContexts(spec=opening.body, reference=format_reference(version.payload), commitment=commitment)


def seal_contexts(
    writer: Writer, path: Path, *, owner: str, draw: Callable[[int], bytes] = secrets.token_bytes
) -> tuple[tuple[SpecVersion, Path], ...]:
    """Seal every context file of the replay *path*, and return the sealed versions that are new, each with its seal file.

    A context that is sealed already stays as it is.

    Raises:
        ConflictError: a context is registered with its texts, or another seal file is in the way.
        InputError: the replay or a context file cannot be read.
    """
    replay = from_document(Replay, read_document(path), where=str(path))
    # A context that several arms use is sealed once, with the kind that its first arm gives it.
    kinds = {arm.context: (SpecKind.TEST_CONTEXT if arm.arm == SIDES[0] else SpecKind.DEPLOY_CONTEXT) for arm in reversed(replay.arms)}
    sealed = []
    for name, kind in reversed(kinds.items()):
        file = find_beside(path.parent, name, where=f"{path}, context {name!r}")
        seal = name_seal(file)
        # Sealing again would draw another salt, and the commitment that a lock holds would no longer be opened by the
        # file.
        if seal.is_file() and _is_recorded(writer, seal):
            continue
        if not file.is_file():
            _refuse_registered(writer, path, name)
            continue
        seal_request = SealRequest(kind=kind, slug=file.stem, body=read_context_spec(file)[0], path=seal)
        version, is_new = seal_spec(writer, seal_request, owner=owner, draw=draw)
        sealed += [(version, seal)] if is_new else []
    return tuple(sealed)


def _is_recorded(view: View, seal: Path) -> bool:
    try:
        open_seal(seal, view)
    except InputError as error:
        # Only a missing commitment means "not sealed yet". A broken or readable-by-others seal file is an error of its
        # own.
        if error.code != "seal-not-recorded":
            raise
        return False
    return True


def _refuse_registered(view: View, path: Path, name: str) -> None:
    """A context that is registered with its texts is public: sealing it now hides nothing. One that is sealed needs its seal file."""
    versions = [spec.payload for kind in (SpecKind.TEST_CONTEXT, SpecKind.DEPLOY_CONTEXT) for spec in view.list_specs(kind)]
    public = [
        version for version in versions if name in (version.slug, version.spec, format_reference(version)) and version.body is not None
    ]
    if public:
        text = f"{format_reference(public[0])} is registered with its texts in public: a seal would hide nothing"
        raise ConflictError(Fault("already-public", f"{path}, context {name!r}", text))


# The replay file with the tasks and contexts that it names. Everything is read before anything is reported, so that one
# run of the command shows all faults.

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
    return {name: {"commitment": sealed[name]} if name in sealed else document for name, document in documents.items()}


ReplayCheck: TypeAlias = Callable[[Replay, Sequence[Task]], None]
"""What else must hold of a replay and its tasks; raises InputError."""


def read_replay(path: Path, view: View | None, *, owner: str | None = None, check: ReplayCheck | None = None) -> ReplayFile:
    """Return the replay in *path* with its tasks and contexts, ready for `audit.replay.replay_design.build_design`.

    A context is the file of that name next to the replay, where there is one, else a specification of the registry. A seal file next to it
    (`audit.replay.replay_file`) makes it a sealed one.

    Args:
        view: the registry; None where there is none, and then every context is a file.
        owner: authority with the short names that come first; those of others are looked at where it has none of the name.
        check: what else must hold of the replay and its tasks, none of them where they cannot be read; its faults join the others.

    Raises:
        InputError: with every fault of the replay's file, of tasks, contexts and, where the replay can be read, *check*.
    """
    document = read_document(path)
    faults: list[Fault] = []
    try:
        replay = from_document(Replay, document, where=str(path))
    except InputError as error:
        # The files that it names are read all the same, so that a half-filled template shows all its blanks at once.
        faults.extend(error.faults)
        _read_parts(path, *_list_names(document), view=view, owner=owner, faults=faults)
        raise InputError(faults) from error
    tasks, contexts = _read_parts(path, replay.tasks, [arm.context for arm in replay.arms], view=view, owner=owner, faults=faults)
    try:
        if check is not None:
            check(replay, tasks)
    except InputError as error:
        faults.extend(error.faults)
    if faults:
        raise InputError(faults)
    return ReplayFile(
        replay=replay,
        tasks=tasks,
        contexts=contexts.bodies,
        sources={path.name: digest_file(path), **contexts.sources},
        references=contexts.references,
        sealed=contexts.sealed,
    )


@dataclass(frozen=True, slots=True)
class _NamedContexts:
    """The contexts that a replay names, and the files and specifications that they are from."""

    bodies: dict[str, ContextSpec] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    sealed: dict[str, str] = field(default_factory=dict)


def _list_names(document: Any) -> tuple[str, list[str]]:
    """Return the names of tasks and contexts in a replay that is not valid, as far as they are names."""
    named = document if isinstance(document, Mapping) else {}
    arms = named.get("arms")
    contexts = [arm.get("context") for arm in arms if isinstance(arm, Mapping)] if isinstance(arms, Sequence) else []
    tasks = named.get("tasks")
    return tasks if isinstance(tasks, str) else "", [name for name in contexts if isinstance(name, str)]


def _read_parts(
    path: Path, tasks_name: str, names: Sequence[str], *, view: View | None, owner: str | None, faults: list[Fault]
) -> tuple[tuple[Task, ...], _NamedContexts]:
    """Return tasks and contexts of the replay *path*; what cannot be read is missing, and its faults are added to *faults*."""
    parts = _NamedContexts()
    tasks: tuple[Task, ...] = ()
    try:
        if tasks_name:
            file = find_beside(path.parent, tasks_name, where=f"{path}, tasks")
            tasks = read_tasks(file)
            parts.sources[tasks_name] = digest_file(file)
    except InputError as error:
        faults.extend(error.faults)
    for name in dict.fromkeys(names):
        try:
            # The seal comes first: where a seal file exists, the plain file must not decide what is replayed.
            seal = _find_seal(path, name, view, parts.sources)
            if seal is None:
                # A file beside the replay wins over a registered specification of the same name: the file is what its
                # author sees and edits.
                known = (parts.references, parts.sealed)
                parts.bodies[name] = _read_context(path, name, parts.sources) or _find_registered(path, name, view, owner, known)
            else:
                parts.bodies[name], parts.references[name], parts.sealed[name] = seal.spec, seal.reference, seal.commitment
        except (ConflictError, InputError, NotFoundError) as error:
            faults.extend(error.faults)
    return tasks, parts


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
    contexts = open_seal(seal, view)
    # A plain file that was edited after sealing is refused. Replaying either version in silence would break the
    # commitment or the author's intention.
    if seal != file and file.is_file() and _read_context(path, name, sources) != contexts.spec:
        text = f"is not what {seal.name} holds and {contexts.reference} commits to"
        advice = f"replay what was sealed; a changed file is sealed under another name, or anew after {seal.name} was put away"
        raise ConflictError(Fault("sealed-context-differs", str(file), text, advice=advice))
    return contexts


def _find_registered(
    path: Path, name: str, view: View | None, owner: str | None, known: tuple[dict[str, str], dict[str, str]]
) -> ContextSpec:
    """Return the registered context *name*; its reference, and its commitment where it was sealed, are added to *known*."""
    where = f"{path}, context {name!r}"
    versions = [] if view is None else _list_named(view, name, owner)
    if not versions:
        place = (
            "next to it, and no registry is open" if view is None else "next to it, and no registered context specification has this name"
        )
        advice = "caveat spec list --kind test_context shows what is registered"
        raise NotFoundError(Fault("spec-not-found", where, f"there is no such file {place}", advice=advice))
    # A short name may exist under several owners or kinds. Choosing one could replay other texts than the author meant.
    if len(versions) > 1:
        listed = ", ".join(
            f"{format_reference(spec_version)} ({spec_version.kind.value} of {spec_version.owner})" for spec_version in versions
        )
        raise InputError(Fault("choice-needed", where, f"means {listed}", advice="name one by its identifier"))
    (version,) = versions
    body = view.open_spec(version) if view is not None else None
    if not isinstance(body, ContextSpec):
        text = f"{format_reference(version)} is sealed, and no seal file next to the replay opens it"
        advice = f"put its seal file there as {version.slug}{ENDING} and name the context {version.slug}{ENDING}, or reveal it first"
        raise InputError(Fault("spec-sealed", where, text, advice=advice))
    references, sealed = known
    references[name] = format_reference(version)
    if version.commitment is not None:
        sealed[name] = version.commitment
    return body


def _list_named(view: View, name: str, owner: str | None) -> list[SpecVersion]:
    """Return the context specifications that *name* can mean."""
    if name.startswith("CTX-"):
        version = view.find_spec(name)
        return [version.payload] if version is not None and version.payload.kind in _KINDS else []
    listed = [spec.payload for kind in _KINDS for spec in view.list_specs(kind)]
    named = [spec_version for spec_version in listed if spec_version.slug == name]
    return [spec_version for spec_version in named if spec_version.owner == owner] or named
