"""A registry written as a folder of files: only what changed is written, and an interrupted export leaves the old site or the new one.

The order: new files under other names and the new manifest in the journal, all on the disk; then the new names; then the old files go and
the journal with them. Killed before the journal is complete, nothing has changed; after it, the next export completes the renames.
"""

import hashlib
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from registry.codec.canonical_documents import parse_json, write_json
from registry.codec.file_io import name_part, replace_file, sync
from registry.configuration import EXAMPLE
from registry.errors import ConflictError, Fault, InputError
from registry.folder.folder_manifest import hold_folder
from registry.store.changed_claims import find_candidates
from registry.store.log_seals import find_root
from registry.store.registry_view import View
from web.pages.addresses import PageSettings, find_address, find_file_path
from web.pages.page_book import SUBJECTS, TOGETHER, EarlierPlan, PageBook, PlannedPage, name_templates
from web.pages.security import write_headers_file
from web.pages.supplement_files import SupplementFolder
from web.shelf.bit_sets import ShelfState
from web.shelf.list_states import ListStates
from web.shelf.shelf_file import read_state
from web.site import search_index
from web.site.page_files import HEADERS, PageFile, write_file, write_pages
from web.site.page_process import PageProcess, WritingTask

MANIFEST = "manifest.json"
JOURNAL = ".site-journal.json"
_MARKER = ".site-writing.part"
"""There while files are written under other names: looking for these in a hundred thousand folders takes seconds."""
_SPREADSHEET = "claims.csv"
MANY = 1_000
"""Pages for which a second process is worth its start, of more than a second."""
SCHEMA = "caveat/site/1"
_NAMES = re.compile(r"(?:CLM|CRD)-[A-Z0-9]+-\d{4}-\d+-[0-9A-Z]", re.ASCII)
_SUBJECT_FILES = tuple(address[1:] for address in SUBJECTS)
_HEADERS_STATE = hashlib.sha256(write_headers_file()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """Outcome of an export."""

    written: int
    unchanged: int
    removed: int
    log_size: int
    bytes_written: int
    settled: int
    """Files that an interrupted export had left to be renamed."""
    warnings: tuple[str, ...] = ()
    """What did not work as it should; the site is complete all the same."""


def build_book(
    view: View, settings: PageSettings, supplements: Path | None = None, *, claims: ShelfState | None = None, searches_texts: bool = True
) -> PageBook:
    """Return the pages of *view*; published files are taken from the folder *supplements*.

    Args:
        claims: all claims of *view*; None: they are read.
        searches_texts: as in `SupplementCollector`.
    """
    known = claims or read_state(view)
    files = SupplementFolder(supplements) if supplements else None
    return PageBook(view, settings, known, files, searches_texts=searches_texts, build_list_states=partial(ListStates, known))


OpenView = Callable[[int], AbstractContextManager[View]]
"""Gives the log as it was when the entry of this number was the last."""


def export_site(
    view: View,
    folder: Path,
    settings: PageSettings,
    *,
    open_view: OpenView,
    supplements: Path | None = None,
    database: str | None = None,
    claims: Callable[[View], AbstractContextManager[ShelfState]] | None = None,
    many: int = MANY,
    progress: Callable[[int], None] = lambda _done: None,
) -> ExportResult:
    """Write the site of *view* into *folder*, which is made if it is not there.

    A site that is made anew searches all texts for names of what its pages show, as `SupplementCollector` does; pages of a few new entries
    are made as a server makes them, and `check_site` makes up for it.

    Args:
        open_view: opens the log of *view* at an earlier entry, to find what changed since.
        supplements: the folder of published files that become downloads; None leaves those out that the site has.
        database: the URL at which another process can read the registry; None: only this one writes pages.
        claims: gives all claims, where they need not be read for this; see `hold_claims`.
        many: from so many pages on, another process helps.

    Raises:
        ConflictError: `in-use`, another process writes there; `file-in-the-way`, files are there that are no site of ours.
        InputError: `folder-of-another-log` or `folder-ahead`, it is the site of another registry, or of a later state of this one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with hold_folder(folder):
        known, settled = _open_folder(view, folder)
        files = known["files"]
        templates = f"{name_templates(settings)}{'-files' if supplements else ''}"
        # Then no claim needs to be read at all.
        is_same = known["log"]["size"] == view.log_size and known.get("templates") == templates
        if is_same and not _list_absent(folder, files):
            return ExportResult(written=0, unchanged=len(files), removed=0, log_size=view.log_size, bytes_written=0, settled=settled)
        # A site that is made anew looks at all texts; a few pages of it are made as the server makes them.
        is_anew = known.get("templates") != templates
        task = None if database is None else _build_task(view, database, settings, supplements, folder, searches_texts=is_anew)
        writer = _Writer(folder=folder, task=task, many=many, progress=progress)
        with nullcontext(None) if claims is None else claims(view) as at_hand:
            book = build_book(view, settings, supplements, claims=at_hand, searches_texts=is_anew)
            exported = _write_pages(book, _find_earlier(folder, known, view, open_view, templates), files, writer)
            if settings.has_index:
                _write_index(book, folder, files, exported)
        manifest = {
            "schema": SCHEMA,
            "log": {"origin": view.log_origin, "size": view.log_size, "root": find_root(view, view.log_size)},
            "settings": {
                "links": settings.links.value,
                "base": settings.base,
                "contact": settings.contact,
                "quorum": settings.quorum,
                "search": settings.has_index,
                "files": supplements is not None,
            },
            "templates": templates,
            # With these, the next export derives only those of claims and cards that may have changed.
            "states": dict(sorted(book.states.items())),
            "files": dict(sorted(exported.files.items())),
        }
        removed = sorted(set(files) - set(exported.files))
        if exported.parts or removed or manifest != known:
            _put_in_place(folder, manifest, exported.parts, removed)
        (folder / _MARKER).unlink(missing_ok=True)
    return ExportResult(
        written=len(exported.parts),
        unchanged=len(exported.files) - len(exported.parts),
        removed=len(removed),
        log_size=view.log_size,
        bytes_written=exported.bytes_written,
        settled=settled,
        warnings=tuple(writer.warnings),
    )


@dataclass(slots=True)
class _Exported:
    files: dict[str, dict[str, str]]
    parts: list[str]
    bytes_written: int = 0

    def add(self, file: PageFile) -> None:
        """Take in a file as it is now."""
        self.files[file.path] = {"sha256": file.sha256, "state": file.state}
        if file.bytes_written is not None:
            self.parts.append(file.path)
            self.bytes_written += file.bytes_written


def _build_task(
    view: View, database: str, settings: PageSettings, supplements: Path | None, folder: Path, *, searches_texts: bool
) -> WritingTask:
    return WritingTask(
        database=database,
        origin=view.log_origin,
        log_size=view.log_size,
        settings=settings,
        supplements=str(supplements.absolute()) if supplements else None,
        folder=str(folder.absolute()),
        searches_texts=searches_texts,
    )


def _find_earlier(folder: Path, known: Mapping[str, Any], view: View, open_view: OpenView, templates: str) -> EarlierPlan | None:
    """Return the states in the site *folder* of claims and cards that a few new entries cannot have changed; None where any may have."""
    if known.get("templates") != templates or not known["log"]["size"]:
        return None
    with open_view(known["log"]["size"]) as before:
        changed = find_changed_subjects(before, view)
    if changed is None:
        return None
    states = {name: state for name, state in known["states"].items() if name.partition("@")[0] not in changed}
    files = known["files"]

    def find_page(address: str) -> str | None:
        described = files.get(find_file_path(address))
        return None if described is None else str(described["state"])

    def read_spreadsheet() -> bytes | None:
        with suppress(OSError):
            data = (folder / _SPREADSHEET).read_bytes()
            return data if hashlib.sha256(data).hexdigest() == files.get(_SPREADSHEET, {}).get("sha256") else None
        return None

    return EarlierPlan(changed=changed, states=states, find_page=find_page, read_spreadsheet=read_spreadsheet)


def find_changed_subjects(before: View, after: View) -> set[str] | None:
    """Return every claim and card with pages that may differ between two readings of one log; None where any may."""
    claims = find_candidates(before, after)
    if claims is None:
        return None
    named: set[str] = set()
    for _, text in after.log_entries(before.log_size + 1, after.log_size + 1):
        if text is None:
            return None
        named |= set(_NAMES.findall(text.decode()))
    # Publications change no claim, but its page lists them.
    subjects = claims | named
    # The page of a card shows its claims, also those that quoted it once.
    for claim in sorted(name for name in subjects if name.startswith("CLM-")):
        for number in range(1, after.count_revisions(claim) + 1):
            revision = after.find_revision(claim, number)
            if revision is not None and revision.payload.card is not None:
                subjects.add(revision.payload.card.partition("@")[0])
    return subjects


def _list_absent(folder: Path, paths: Iterable[str]) -> list[str]:
    """Return those of *paths* that are not in *folder*. A site has a hundred thousand, and a `Path` for each would take seconds."""
    if os.access not in os.supports_dir_fd:
        return [path for path in paths if not os.path.exists(f"{folder}{os.sep}{path}")]  # noqa: PTH110
    place = os.open(folder, os.O_RDONLY)
    try:
        # From the open folder, so that the system does not look up its parents each time.
        return [path for path in paths if not os.access(path, os.F_OK, dir_fd=place)]
    finally:
        os.close(place)


def _write_pages(book: PageBook, earlier: EarlierPlan | None, known: Mapping[str, dict[str, str]], writer: "_Writer") -> _Exported:
    """Write every page that may have changed under its other name, and return what the manifest says of all."""
    kept: dict[str, dict[str, str]] = {}
    if earlier is not None:
        kept = {path: described for path, described in known.items() if (name := _find_subject(path)) and name not in earlier.changed}
    due: list[PlannedPage] = []
    for page in (PlannedPage(f"/{HEADERS}", _HEADERS_STATE), *book.plan(earlier)):
        path = find_file_path(page.address)
        if path in known and known[path]["state"] == page.state:
            kept[path] = known[path]
        else:
            due.append(page)
    due += [PlannedPage(find_address(path), kept.pop(path)["state"]) for path in _list_absent(writer.folder, kept)]
    exported = _Exported(files=kept, parts=[])
    (writer.folder / _MARKER).touch()
    for file in writer.write(book, due, {path: described["sha256"] for path, described in known.items()}):
        exported.add(file)
    return exported


def _find_subject(path: str) -> str | None:
    """Return the claim or card that a page or file at *path* is about; None for what lists several, or none."""
    if not path.startswith(_SUBJECT_FILES):
        return None
    match = _NAMES.search(path)
    return match and match[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """Writes pages, many of them with a second process."""

    folder: Path
    task: WritingTask | None
    """What a second process needs; None for a registry that no other process can read."""
    many: int
    progress: Callable[[int], None]
    warnings: list[str] = field(default_factory=list)

    def write(self, book: PageBook, due: Sequence[PlannedPage], known: Mapping[str, str]) -> Iterator[PageFile]:
        """Write the pages *due* and yield their files."""
        tasks = deque(_list_stretches(due))
        if self.task is None or len(due) < self.many or os.cpu_count() == 1:
            yield from self._write_rest(book, due, known)
            yield from self._work(book, tasks, known)
            return
        process, shared = PageProcess(self.task), list[PageFile]()
        thread = threading.Thread(target=_share, args=(process, tasks, known, shared))
        thread.start()
        try:
            yield from self._write_rest(book, due, known)
            yield from self._work(book, tasks, known)
            thread.join()
            self.progress(len(shared))
            if process.has_failed:
                self.warnings.append("a second process could not write pages, so this one wrote them all: it took up to twice as long")
            # What the other process could not write.
            yield from self._work(book, tasks, known)
        finally:
            process.close()
            thread.join()
        yield from shared

    def _work(self, book: PageBook, tasks: deque[list[PlannedPage]], known: Mapping[str, str]) -> Iterator[PageFile]:
        while True:
            try:
                pages = tasks.popleft()
            except IndexError:
                return
            yield from write_pages(book, pages, self.folder, known)
            self.progress(len(pages))

    def _write_rest(self, book: PageBook, due: Sequence[PlannedPage], known: Mapping[str, str]) -> Iterator[PageFile]:
        """Write what is no page of a claim or card."""
        rest = [page for page in due if not page.address.startswith(SUBJECTS)]
        yield from write_pages(book, rest, self.folder, known)
        self.progress(len(rest))


def _share(process: PageProcess, tasks: deque[list[PlannedPage]], known: Mapping[str, str], shared: list[PageFile]) -> None:
    """Let *process* write pages as long as there are any."""
    while True:
        try:
            pages = tasks.popleft()
        except IndexError:
            return
        paths = [find_file_path(page.address) for page in pages]
        files = process.write(pages, {path: known[path] for path in paths if path in known})
        if files is None:
            tasks.appendleft(pages)
            return
        shared += files


def _list_stretches(due: Iterable[PlannedPage]) -> list[list[PlannedPage]]:
    """Return the pages of claims and cards in stretches that are read together, cards first: one may have thousands of claims."""
    stretches: list[list[PlannedPage]] = []
    subjects: set[str] = set()
    pages = [page for page in due if page.address.startswith(SUBJECTS)]
    for page in sorted(pages, key=lambda page: "CRD-" not in page.address):
        name = _find_subject(find_file_path(page.address)) or ""
        if not stretches or (name not in subjects and len(subjects) >= TOGETHER):
            stretches.append([])
            subjects = set()
        subjects.add(name)
        stretches[-1].append(page)
    return stretches


def _write_index(book: PageBook, folder: Path, known: Mapping[str, Mapping[str, str]], exported: _Exported) -> None:
    """Write the index of the search page, unless the claims in it are the same."""
    records = search_index.list_records(book.view, book.settings)
    state = search_index.name_records(records)
    there = {path: described for path, described in known.items() if path.startswith(f"{search_index.FOLDER}/")}
    if there and all(described["state"] == state and (folder / path).is_file() for path, described in there.items()):
        exported.files |= {path: dict(described) for path, described in there.items()}
        return
    for path, data in search_index.build_index(records).items():
        before = known.get(path, {}).get("sha256")
        exported.add(write_file(path, data, state, folder=folder, before=before))


def _put_in_place(folder: Path, manifest: Mapping[str, Any], parts: list[str], removed: list[str]) -> None:
    name_part(folder / MANIFEST).write_bytes(_dump(manifest))
    # One sync for thousands of files, where one for each would take minutes.
    os.sync()
    replace_file(folder / JOURNAL, _dump({"parts": [*parts, MANIFEST], "removed": removed}))
    # Every part has a place in the journal now.
    (folder / _MARKER).unlink(missing_ok=True)
    settle(folder)


def settle(folder: Path) -> int:
    """Complete what an interrupted export left in a site, and return how many files it renamed; half-written files are removed."""
    path, marker = folder / JOURNAL, folder / _MARKER
    count = 0
    if path.is_file():
        journal = parse_json(path.read_bytes())
        for name in journal["parts"]:
            part = name_part(folder / name)
            # Renamed already, where the process was killed in between.
            if part.is_file():
                os.replace(part, folder / name)  # noqa: PTH105  (the point is that it is atomic)
                count += name != MANIFEST
        for name in journal["removed"]:
            (folder / name).unlink(missing_ok=True)
            _remove_empty(folder, (folder / name).parent)
        path.unlink()
        sync(folder)
    if marker.exists():
        for part in list(folder.rglob(".*.part")):
            if part.is_file() and part != marker:
                part.unlink()
        # Last, so that an interruption leaves no file that no one looks for.
        marker.unlink()
    return count


def _remove_empty(folder: Path, place: Path) -> None:
    with suppress(OSError):
        while place != folder and not any(place.iterdir()):
            place.rmdir()
            place = place.parent


def _dump(document: Mapping[str, Any]) -> bytes:
    return write_json(document) + b"\n"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of the site in *folder*; None where there is none. Raises ConflictError where the file is none of ours."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        manifest: dict[str, Any] = parse_json(path.read_bytes())
        is_ours = manifest["schema"] == SCHEMA and are_plain(manifest["files"])
        is_ours &= re.fullmatch(r"(?:[0-9a-f]{64})*", "".join(manifest["states"].values())) is not None
    except (ValueError, KeyError, TypeError, AttributeError):
        is_ours = False
    if not is_ours:
        raise ConflictError(Fault("file-in-the-way", str(path), "it is not the manifest of a site that Caveat wrote"))
    return manifest


def are_plain(names: Collection[str]) -> bool:
    """Whether all *names* stay inside the folder: a forged manifest must not make us remove files elsewhere."""
    return not any(name.startswith("/") or "\\" in name or "\0" in name or (".." in name and ".." in name.split("/")) for name in names)


def _open_folder(view: View, folder: Path) -> tuple[dict[str, Any], int]:
    """Return the manifest of *folder*, and how many files an interrupted export had left to be renamed.

    An empty folder becomes a site without files. One that has files and is no site is refused, as is the site of another registry, or of a
    later state of this one.
    """
    # First of all: nothing is touched in a folder that is none of ours.
    manifest = read_manifest(folder)
    if manifest is None:
        if any(folder.iterdir()):
            found = "the folder is not empty, and it is no site that Caveat wrote"
            raise ConflictError(Fault("file-in-the-way", str(folder), found))
        log = {"origin": view.log_origin, "size": 0, "root": find_root(view, 0)}
        manifest = {"schema": SCHEMA, "log": log, "states": {}, "files": {}}
        replace_file(folder / MANIFEST, _dump(manifest))
    is_interrupted = (folder / JOURNAL).is_file()
    settled = settle(folder)
    if is_interrupted:
        manifest = read_manifest(folder) or {}
    log = manifest["log"]
    if log["size"] > view.log_size and log["origin"] == view.log_origin:
        found = f"it was written from {log['size']:,} entries, and this one has {view.log_size:,}"
        raise InputError(Fault("folder-ahead", str(folder), found, advice="write this state into another folder"))
    if log["origin"] != view.log_origin or find_root(view, log["size"]) != log["root"]:
        raise InputError(Fault("folder-of-another-log", str(folder), f"it is a site of the log {log['origin']}"))
    return manifest, settled


def refuse_example(view: View, *, is_allowed: bool, where: str) -> None:
    """Refuse to publish statements of the authority EXAMPLE, unless they are meant to be seen."""
    if not is_allowed and view.find_authority(EXAMPLE) is not None:
        found = f"the registry has statements of {EXAMPLE}, which are for trying things out"
        raise ConflictError(Fault("example-not-exported", where, found, advice="add --example, if an example is what you publish"))
