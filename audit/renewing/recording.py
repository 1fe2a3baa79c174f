"""Recordings of locked replays, found again by the digest that their locks hold: run folders, and replay files with all they name."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from audit.fixing import describe_replay
from audit.replay.replay_file import ReplayFile, digest_parts, read_replay
from audit.replay.replay_provenance import CONTEXTS, SOURCES
from audit.replay.run_store import DATABASE, list_states, open_store
from registry.codec.canonical_documents import from_document
from registry.errors import CaveatError
from registry.records.specification import ContextSpec
from registry.store.view import View

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
class Recording:
    """A replay as it was locked, with everything that it is made of."""

    file: ReplayFile
    place: Path
    """The run folder, or the replay's file."""
    is_run: bool
    """Whether it is a run folder, which holds responses and scores too."""


@dataclass(slots=True, kw_only=True)
class Search:
    """What a search found, and where it looked."""

    places: tuple[Path, ...]
    found: dict[str, list[Recording]] = field(default_factory=dict)
    """By digest of the replay, run folders first."""
    folders: int = 0
    """Folders looked into."""
    is_cut: bool = False
    """Whether there were more folders than are looked into."""
    unread: list[str] = field(default_factory=list)
    """Run folders that could not be read, each with why."""

    def find(self, digest: str) -> Recording | None:
        """Return the recording of the replay with this *digest*, a run folder where there is one."""
        return next(iter(self.found.get(digest, ())), None)

    def list_runs(self, digest: str) -> list[Path]:
        """Return every run folder of the replay with this *digest*."""
        return [one.place for one in self.found.get(digest, ()) if one.is_run]


def find_recordings(
    places: Sequence[Path],
    wanted: Collection[str],
    view: View | None,
    *,
    owner: str | None,
    advance: Callable[[int], None] = lambda _more: None,
) -> Search:
    """Return the recordings below *places* of the replays whose digests are *wanted*.

    Links are not followed, hidden folders are left out, and nothing that is found is changed. What is no replay is passed over.

    Args:
        places: folders; one that is not there holds nothing.
        wanted: as `Lock.replay` has them.
        view: the registry, for replays whose contexts are registered.
        owner: authority whose short names are meant first.
        advance: is told how many more folders were looked into.
    """
    search = Search(places=tuple(places))
    for folder, names in _walk(search):
        advance(1)
        if DATABASE in names:
            _add_run(search, folder, wanted)
        for name in names:
            path = folder / name
            if name.endswith(_REPLAY_ENDINGS) and _is_like_replay(path):
                _add_file(search, path, wanted, view, owner)
    for one in search.found.values():
        one.sort(key=lambda recording: not recording.is_run)
    return search


def _walk(search: Search) -> Iterator[tuple[Path, list[str]]]:
    seen: set[Path] = set()
    for place in search.places:
        depth = len(place.parts)
        for name, folders, files in os.walk(place):
            here = Path(name)
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
            folders[:] = [] if is_deepest else sorted(one for one in folders if not one.startswith("."))
            yield here, sorted(files)


def _add_run(search: Search, folder: Path, wanted: Collection[str]) -> None:
    if not _is_run_database(folder / DATABASE):
        return
    try:
        for file in islice(_list_run(folder), _MOST_STATES):
            if _add(search, Recording(file=file, place=folder, is_run=True), wanted):
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
                contexts=_read_contexts(contexts, folder),
                sources=sources["files"],
                references=sources["specs"],
                sealed=sources.get("sealed", {}),
            )


def _read_contexts(documents: Mapping[str, Any], folder: Path) -> dict[str, ContextSpec]:
    return {name: from_document(ContextSpec, one, where=f"{folder}, contexts, {name}") for name, one in documents.items()}


def _is_run_database(path: Path) -> bool:
    """Tell whether *path* begins as the database of a run: opening one of somebody else would write tables into it."""
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError:
        return False
    return head.startswith(_SQLITE) and int.from_bytes(head[_VERSION_AT], "big") > 0


def _is_like_replay(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_REPLAY_BYTES:
            return False
        text = path.read_bytes()
    except OSError:
        return False
    return all(key in text for key in _KEYS)


def _add_file(search: Search, path: Path, wanted: Collection[str], view: View | None, owner: str | None) -> None:
    try:
        _add(search, Recording(file=read_replay(path, view, owner=owner), place=path, is_run=False), wanted)
    except CaveatError:  # a file that holds these words and is no replay, or one whose files are gone
        return


def _add(search: Search, recording: Recording, wanted: Collection[str]) -> bool:
    digest = digest_parts(describe_replay(recording.file))
    if digest in wanted:
        search.found.setdefault(digest, []).append(recording)
    return digest in wanted
