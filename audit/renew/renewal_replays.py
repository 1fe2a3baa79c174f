"""Recordings of locked replays found by digest, grouped, and written again as replays for another model."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from audit.protocol.audit_lock import describe_replay, digest_spec
from audit.renew.renewal_choice import ClaimRenewal, SkippedClaim
from audit.replay.replay_file import ReplayFile, digest_parts, read_replay
from audit.replay.replay_provenance import CONTEXTS, SOURCES
from audit.replay.run_store import DATABASE, list_states, open_store
from registry.codec.canonical_documents import canonical_bytes, from_document, to_document
from registry.codec.file_io import read_text, write_file
from registry.codec.yaml_text import render_key
from registry.errors import CaveatError, ConflictError, Fault, InputError
from registry.records.replay_run import Replay, Task
from registry.records.specification import ContextSpec
from registry.store.registry_view import View

# Recordings of locked replays. A renewed replay comes from a recording whose parts digest to the lock's, under any name
# and in any folder that is searched. A recording that is gone is an error of its claim only.

# A search may be started in a home folder by mistake, so its breadth and depth are limited. `is_cut` reports when a
# limit was reached.
MOST_FOLDERS = 20_000
"""Folders of one search that are looked into."""
DEEPEST = 8
"""Levels of folders below those that are named."""
_LARGEST_REPLAY_BYTES = 1_000_000
_MOST_STATES = 64
"""Versions of one run folder that are compared."""
_REPLAY_ENDINGS = (".yaml", ".yml", ".json")
_KEYS = (b"arms", b"policy", b"tasks")
"""What every replay's file holds; others are not read to the end."""
_SQLITE, _VERSION_AT = b"SQLite format 3\0", slice(60, 64)
"""How a database begins, and where its `user_version` stands (SQLite file format, section 1.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRecording:
    """A replay as it was locked, with everything that it is made of."""

    file: ReplayFile
    place: Path
    """The run folder, or the replay's file."""
    is_run: bool
    """Whether it is a run folder, which holds responses and scores too."""


@dataclass(slots=True, kw_only=True)
class RecordingSearch:
    """What a search found, and where it looked."""

    places: tuple[Path, ...]
    found: dict[str, list[ReplayRecording]] = field(default_factory=dict)
    """By digest of the replay, run folders first."""
    folders: int = 0
    """Folders looked into."""
    is_cut: bool = False
    """Whether there were more folders than are looked into."""
    unread: list[str] = field(default_factory=list)
    """Run folders that could not be read, each with why."""

    def find(self, digest: str) -> ReplayRecording | None:
        """Return the recording of the replay with this *digest*, a run folder where there is one."""
        return next(iter(self.found.get(digest, ())), None)

    def list_runs(self, digest: str) -> list[Path]:
        """Return every run folder of the replay with this *digest*."""
        return [recording.place for recording in self.found.get(digest, ()) if recording.is_run]


def find_recordings(
    places: Sequence[Path],
    wanted: Collection[str],
    view: View | None,
    *,
    owner: str | None,
    advance: Callable[[int], None] = lambda _more: None,
) -> RecordingSearch:
    """Return the recordings below *places* of the replays with digests that are *wanted*.

    Links are not followed, hidden folders are excluded, and nothing that is found is changed. What is no replay is passed over.

    Args:
        places: folders; one that is not there holds nothing.
        wanted: as `Lock.replay` has them.
        view: the registry, for replays with contexts that are registered.
        owner: authority with the short names that are meant first.
        advance: receives how many more folders were looked into.
    """
    search = RecordingSearch(places=tuple(places))
    for folder, names in _walk(search):
        advance(1)
        # A run folder is preferred to a file: it also holds the responses and scores that a shift is measured from.
        if DATABASE in names:
            _add_run(search, folder, wanted)
        for name in names:
            path = folder / name
            if name.endswith(_REPLAY_ENDINGS) and _is_like_replay(path):
                _add_file(search, path, wanted, view, owner)
    for recordings in search.found.values():
        recordings.sort(key=lambda recording: not recording.is_run)
    return search


def _walk(search: RecordingSearch) -> Iterator[tuple[Path, list[str]]]:
    seen: set[Path] = set()
    for place in search.places:
        depth = len(place.parts)
        for name, folders, files in os.walk(place):
            here = Path(name)
            # The user may name a folder and one inside it.
            if here.resolve() in seen:
                folders.clear()
                continue
            if len(seen) >= MOST_FOLDERS:
                search.is_cut = True
                return
            seen.add(here.resolve())
            search.folders += 1
            is_deepest = len(here.parts) - depth >= DEEPEST
            search.is_cut = search.is_cut or (is_deepest and bool(folders))
            folders[:] = [] if is_deepest else sorted(folder for folder in folders if not folder.startswith("."))
            yield here, sorted(files)


def _add_run(search: RecordingSearch, folder: Path, wanted: Collection[str]) -> None:
    if not _is_run_database(folder / DATABASE):
        return
    try:
        # A lock may fix an earlier state of a replay that has grown since.
        for file in islice(_list_run(folder), _MOST_STATES):
            if _add(search, ReplayRecording(file=file, place=folder, is_run=True), wanted):
                return
    except CaveatError as error:
        search.unread.append(f"{folder}: {error.faults[0].found}")


def _list_run(folder: Path) -> Iterator[ReplayFile]:
    """Give the replays that a run folder was for; none where it was written before contexts were kept."""
    with closing(open_store(folder)) as store:
        for replay, tasks, (contexts, sources) in list_states(store, CONTEXTS, SOURCES):
            yield ReplayFile(
                replay=replay,
                tasks=tasks,
                contexts={
                    name: from_document(ContextSpec, document, where=f"{folder}, contexts, {name}") for name, document in contexts.items()
                },
                sources=sources["files"],
                references=sources["specs"],
                sealed=sources.get("sealed", {}),
            )


def _is_run_database(path: Path) -> bool:
    """Tell whether *path* begins as the database of a run: opening a foreign one would write tables into it."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return False
    # `open_store` creates missing tables, so a foreign database must be recognised before it is opened.
    return head.startswith(_SQLITE) and int.from_bytes(head[_VERSION_AT], "big") > 0


def _is_like_replay(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_REPLAY_BYTES:
            return False
        text = path.read_bytes()
    except OSError:
        return False
    # Three words in the bytes rule out nearly all files before a YAML parser reads them.
    return all(key in text for key in _KEYS)


def _add_file(search: RecordingSearch, path: Path, wanted: Collection[str], view: View | None, owner: str | None) -> None:
    try:
        _add(search, ReplayRecording(file=read_replay(path, view, owner=owner), place=path, is_run=False), wanted)
    except CaveatError:  # a file that holds these words and is no replay, or one whose files are gone
        return


def _add(search: RecordingSearch, recording: ReplayRecording, wanted: Collection[str]) -> bool:
    # The digest decides, and not the name or place of the file.
    digest = digest_parts(describe_replay(recording.file))
    if digest in wanted:
        search.found.setdefault(digest, []).append(recording)
    return digest in wanted


# A recorded replay with another model, written as files of its own: the same tasks, contexts, scoring and budget.

REPLAY, TASKS, RUN = "replay.yaml", "tasks.jsonl", "replay.run"
"""Names of the replay's file, of its tasks, and of its run folder, as `caveat audit run` calls that by itself."""
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_HEAD = "# {name}, asked of another model: written by caveat stale renew. All but the model is as it was locked before.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewedReplay:
    """A replay with another model, and the files that it is written as."""

    file: ReplayFile
    texts: Mapping[str, str]
    """By name."""


def name_folder(replay: Replay, digest: str) -> str:
    """Return what the folder of a renewed replay is called: the replay's name as far as it fits a file name, and its locked digest."""
    match = _SAFE.search(replay.name)
    return f"{match[0] if match else 'replay'}-{digest[:8]}"


def renew_replay(file: ReplayFile, view: View, *, ask: str, base_url: str | None, audits: Collection[str]) -> RenewedReplay:
    """Return the replay *file* with the model *ask*, answering to *audits*.

    A registered context is named by identifier and version, so that no newer version takes its place; every other one becomes a file.

    Args:
        base_url: the endpoint of the new model; None keeps what the replay says.
        audits: `AUD-…`; empty before they are locked.
    """
    texts: dict[str, str] = {TASKS: "".join(map(_write_line, file.tasks))}
    names: dict[str, str] = {}
    # In the order of the arms, because a run folder keeps its contexts in another order than a file. File names must
    # not depend on the source.
    for number, name in enumerate(dict.fromkeys(arm.context for arm in file.replay.arms), 1):
        spec = file.contexts[name]
        reference = file.references.get(name)
        # A sealed context is named and never written out: its text must not appear in a file.
        is_known = name in file.sealed or (reference is not None and _is_registered(view, reference, spec))
        names[name] = reference if reference and is_known else f"contexts-{number}.json"
        if names[name] != reference:
            texts[names[name]] = json.dumps(to_document(spec), ensure_ascii=False, indent=1) + "\n"
    policy = replace(file.replay.policy, model=ask, base_url=base_url or file.replay.policy.base_url)
    arms = tuple(replace(arm, context=names[arm.context]) for arm in file.replay.arms)
    replay = replace(file.replay, policy=policy, arms=arms, tasks=TASKS, audit=tuple(sorted(audits)) or None)
    # The name of a replay is foreign text in a comment: control characters could hide what follows.
    texts[REPLAY] = _show(_HEAD.format(name=file.replay.name.replace("\n", " "))) + _write_replay(replay)
    contexts = {new: file.contexts[name] for name, new in names.items()}
    references = {context: context for context in contexts if context not in texts}
    sealed = {new: file.sealed[name] for name, new in names.items() if name in file.sealed}
    return RenewedReplay(
        file=replace(file, replay=replay, contexts=contexts, sources={}, references=references, sealed=sealed), texts=texts
    )


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
        # The replay's file changes once, when its audits get their names. Any other difference means another replay in
        # this folder.
        if known is not None and name != REPLAY:
            raise ConflictError(Fault("renewal-differs", str(path), "exists, and is not the recorded replay"))
        part = path.with_name(f"{name}.part")
        write_file(part, text)
        part.replace(path)


def find_changed_parts(before: ReplayFile, after: ReplayFile) -> list[str]:
    """Return the names of the parts in which two replays differ, as a lock fixes them."""
    old, new = describe_replay(before), describe_replay(after)
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _is_registered(view: View, reference: str, spec: ContextSpec) -> bool:
    version = view.find_spec(reference)
    digest = hashlib.sha256(canonical_bytes(to_document(spec))).hexdigest()
    return version is not None and version.payload.body is not None and digest_spec(version.payload) == digest


def _write_line(task: Task) -> str:
    kept = {name: value for name, value in to_document(task).items() if value not in (None, [])}
    return json.dumps(kept, ensure_ascii=False) + "\n"


def _write_replay(replay: Replay) -> str:
    document = {name: value for name, value in to_document(replay).items() if value is not None}
    document["policy"] = {name: value for name, value in document["policy"].items() if value not in (None, [])}
    ordered = {"schema": document.pop("schema"), **document}
    return "".join(f"{line}\n" for name, value in ordered.items() for line in render_key(name, value, 0))


def _show(line: str) -> str:
    return "".join(name if name.isprintable() or name == "\n" else "?" for name in line)


def _read(path: Path) -> str | None:
    try:
        return read_text(path, largest=200_000_000) if path.is_file() else None
    except InputError:
        return ""


# Groups: renewals that share one recorded replay, as their audits shared it, so that its calls are made and paid once.

MODEL_PART = "policy"
"""The one part of a replay that a renewal changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalGroup:
    """Audits whose plans are carried out together."""

    folder: Path
    """Where its files stand, or will."""
    chosen: tuple[ClaimRenewal, ...]
    recording: ReplayRecording | None
    """None for runs that were made elsewhere, and then `chosen` is one alone."""

    @property
    def replay(self) -> Path:
        """The replay's file."""
        return self.folder / REPLAY

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.folder / RUN


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalGroups:
    """Everything that was chosen, parted by replay."""

    groups: tuple[RenewalGroup, ...]
    left: tuple[SkippedClaim, ...]
    search: RecordingSearch


def group(
    chosen: Sequence[ClaimRenewal], places: Sequence[Path], view: View, output: Path, *, owner: str, advance: Callable[[int], None]
) -> RenewalGroups:
    """Return the *chosen* audits by the replay that they share, with its recording, in the order of their identifiers.

    Args:
        places: folders in which recordings are looked for.
        output: the folder of the renewal.
        owner: authority with the short names that are meant first.
        advance: receives how many more folders were looked into.
    """
    ordered = sorted(chosen, key=lambda renewal: renewal.lock.audit)
    wanted = {renewal.lock.replay for renewal in ordered if renewal.lock.replay}
    search = (
        find_recordings([output, *places], wanted, view, owner=owner, advance=advance) if wanted else RecordingSearch(places=tuple(places))
    )
    groups: list[RenewalGroup] = []
    left: list[SkippedClaim] = []
    for digest in dict.fromkeys(renewal.lock.replay for renewal in ordered):
        same = tuple(renewal for renewal in ordered if renewal.lock.replay == digest)
        # Without a locked replay nothing is shared: each run is made elsewhere.
        if digest is None:
            groups += (RenewalGroup(folder=output / renewal.lock.audit, chosen=(renewal,), recording=None) for renewal in same)
            continue
        recording = search.find(digest) or _find_renewed(same, digest, output, view, owner)
        if recording is not None:
            name = name_folder(recording.file.replay, digest)
            groups.append(RenewalGroup(folder=output / name, chosen=same, recording=recording))
        # Finished renewals need no recording any more.
        elif all(renewal.is_concluded for renewal in same):
            groups += (RenewalGroup(folder=output / renewal.lock.audit, chosen=(renewal,), recording=None) for renewal in same)
        else:
            left += (_miss(renewal, digest, search) for renewal in same)
    return RenewalGroups(groups=tuple(groups), left=tuple(left), search=search)


def _find_renewed(same: Sequence[ClaimRenewal], digest: str, output: Path, view: View, owner: str) -> ReplayRecording | None:
    """Return the replay that an earlier call wrote, where the recording is gone since: its own lock says that it is the one."""
    locked = {renewal.renewed.lock.payload.replay for renewal in same if renewal.renewed and renewal.renewed.lock}
    # The original recording may be deleted between two calls. The renewal's own files then serve, since its lock fixes
    # them.
    for path in sorted(output.glob(f"*-{digest[:8]}/{REPLAY}")):
        try:
            file = read_replay(path, view, owner=owner)
        except CaveatError:
            continue
        if digest_parts(describe_replay(file)) in locked:
            return ReplayRecording(file=file, place=path, is_run=False)
    return None


def list_runs(search: RecordingSearch, chosen: ClaimRenewal, *, but: Path) -> list[Path]:
    """Return the run folders that may hold the scores of the audit that is renewed, the new one's own *but* excluded."""
    paths = search.list_runs(chosen.lock.replay) if chosen.lock.replay else []
    return [path for path in paths if path.resolve() != but.resolve()]


def check_same(before: ReplayFile, after: ReplayFile) -> None:
    """Refuse a replay that is not the recorded one but for its model; raises ValueError, for it was written so."""
    # A ValueError and no fault: only a defect of this module could cause it.
    changed = set(find_changed_parts(before, after)) - {MODEL_PART}
    if changed:
        raise ValueError(f"the renewed replay differs in {', '.join(sorted(changed))}")


def _miss(claim_renewal: ClaimRenewal, digest: str, search: RecordingSearch) -> SkippedClaim:
    sources = ", ".join(_list_sources(claim_renewal)) or "no run on record"
    places = " and ".join("this folder" if place == Path() else str(place) for place in search.places)
    more = "; there are more folders than are searched" if search.is_cut else ""
    more += f"; {len(search.unread)} run folders could not be read: {'; '.join(search.unread[:3])}" if search.unread else ""
    problem = (
        f"the replay that {claim_renewal.lock.audit} locked (SHA-256 {digest}; scores once read from {sources}) is in none of the "
        f"{search.folders:,} folders below {places}{more}"
    )
    return SkippedClaim(
        claim=claim_renewal.claim.claim,
        audit=claim_renewal.lock.audit,
        fault=Fault("recording-missing", f"{claim_renewal.claim.reference}, {claim_renewal.lock.audit}", problem),
    )


def _list_sources(claim_renewal: ClaimRenewal) -> Iterator[str]:
    runs = [run.payload.source for run in claim_renewal.old.runs]
    texts = runs or [outcome.payload.source for outcome in claim_renewal.old.restrictions if outcome.payload.source]
    yield from dict.fromkeys(filter(None, texts))
