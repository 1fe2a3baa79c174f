"""A folder looked at: what is known of it, what stands there, what the registry says now, and so what is due. Nothing is changed."""

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from registry.errors import Fault, NotFoundError
from registry.records.statement import OutputFormat
from registry.regeneration import names
from registry.regeneration.folder_document import Folder
from registry.regeneration.manifest import Log, check_root, list_files, list_journaled, read_folder
from registry.regeneration.plan import Plan, build_plan, list_wanted
from registry.regeneration.reasons import Reason, find_reasons
from registry.regeneration.seen import FileState, Mark, compare, digest_file, find_mark, read_seen
from registry.report.enclosed import split_file
from registry.report.html import template_digest
from registry.store.seals import find_root
from registry.store.states import find_states
from registry.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of a folder."""

    formats: tuple[OutputFormat, ...]
    asked: frozenset[str] | None = None
    """Identifiers, with or without `@n`, that alone are asked for; None for all."""
    newest_only: bool = False
    """Whether an identifier without `@n` asks for its newest revision only."""
    publishes: bool = False
    """Whether what is not published is due."""
    proves: bool = True
    """Whether there is a log key here, without which published files get no proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was found."""

    log: Log
    wish: Wish
    known: Folder | None
    """What is known of the folder; None for a new one."""
    is_begun: bool
    """Whether a command that drew into it did not end; what that drew is part of `known`."""
    is_complete: bool
    """Whether it was ever gone through to the end."""
    plan: Plan
    reasons: dict[str, Reason]
    """Why each is due, by name."""
    states: dict[str, FileState]
    """What became of the files, by path."""
    marks: dict[str, Mark]
    """As what the files that are there were seen, by path."""
    template: str
    """Digest of the templates."""
    pages: tuple[str, ...]
    """Paths of the list and the feed where they are not as they were written; they are written again."""
    damaged: tuple[str, ...]
    """Paths of change reports and of earlier files that were altered; they cannot be drawn again as they were."""
    in_the_way: tuple[str, ...]
    """Paths of files that stand where a supplement belongs and are none that was drawn there; nothing is written before they are gone."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be done in the folder."""
        return not (self.plan.due or self.is_begun or self.pages or self.in_the_way)


def look(folder: Path, view: View, wish: Wish) -> Looked:
    """Return what of *folder* is due, as the registry stands in *view*.

    Args:
        folder: may not exist.
        view: a reading of the registry.
        wish: what is asked for.

    Raises:
        InputError: as `registry.regeneration.manifest.read_folder`.
        NotFoundError: `not-registered`, each of the identifiers asked for of which the registry knows no supplement.
    """
    log = Log(origin=view.log_origin, size=view.log_size, root=find_root(view))
    known = read_folder(folder, log) if folder.is_dir() else None
    if known is not None:
        check_root(known, find_root(view, known.log_size), where=folder)
    states = find_states(view)
    wanted = list_wanted(states, known, wish.asked, newest_only=wish.newest_only)
    _refuse_unknown(wish.asked or (), wanted)
    found, marks = _compare(folder, known)
    digests = view.list_published()
    published = {one.path for one in (list_files(known) if known else ()) if one.sha256 in digests}
    if wish.publishes and not wish.proves:  # without a log key no proof can be added, and what is recorded is done with
        found = {path: FileState.PROVEN if path in published and one is FileState.DRAWN else one for path, one in found.items()}
    template, is_begun = template_digest(), (folder / names.JOURNAL).exists()
    plan = build_plan(
        states,
        known,
        found,
        wanted=wanted,
        formats=wish.formats,
        template=template,
        misread=_find_misread(view, known) if known is not None else frozenset(),
        published=published,
        pending=(FileState.DRAWN, FileState.SIGNED) if wish.publishes else (),
    )
    return Looked(
        log=log,
        known=known,
        wish=wish,
        is_begun=is_begun,
        is_complete=(folder / names.MANIFEST).exists(),
        plan=plan,
        reasons=find_reasons(view, plan.due, known),
        states=found,
        marks=marks,
        template=template,
        pages=() if known is None or is_begun else _list_altered_pages(folder, known),
        damaged=_list_damaged(known, found),
        in_the_way=_list_in_the_way(folder, known, found, plan, digests),
    )


def _refuse_unknown(asked: Collection[str], wanted: Collection[str]) -> None:
    there = {*wanted, *(name.partition("@")[0] for name in wanted)}
    found, advice = (
        "the registry knows no text of it, so there is nothing to draw",
        "caveat claim list and caveat card list show what there is",
    )
    faults = [Fault(code="not-registered", where=name, found=found, advice=advice) for name in sorted(asked) if name not in there]
    if faults:
        raise NotFoundError(faults)


def _find_misread(view: View, known: Folder) -> frozenset[str]:
    """Return the claims of which the manifest says another status, model or card than the registry: it lies where others may write."""
    told = {item.name: item.told for item in known.items if item.told is not None}
    found = set()
    for one in view.list_claims():
        said = told.get(name := f"{one.claim}@{one.revision}")
        if said is not None and (said.status, said.model, said.card) != (replace(one.status, causes=()), str(one.model), one.card):
            found.add(name)
    return frozenset(found)


def _list_altered_pages(folder: Path, known: Folder) -> tuple[str, ...]:
    written = {names.INDEX: known.index, names.FEED: known.feed}
    return tuple(
        path
        for path, sha256 in written.items()
        if sha256 is not None and not ((folder / path).is_file() and digest_file(folder / path) == sha256)
    )


def _list_damaged(known: Folder | None, found: Mapping[str, FileState]) -> tuple[str, ...]:
    """Return what was altered and is not drawn again. What is gone was taken away: somebody may have to, and the list has no link to it."""
    today = {file.path for item in known.items for file in item.files} if known else frozenset()
    return tuple(path for path, state in found.items() if state is FileState.ALTERED and path not in today)


def _compare(folder: Path, known: Folder | None) -> tuple[dict[str, FileState], dict[str, Mark]]:
    """Return what became of the files; those that a killed command drew and did not put in place are there."""
    if known is None:
        return {}, {}
    states, marks = compare(folder, list_files(known), read_seen(folder))
    journaled = {file.path: file.sha256 for item in list_journaled(folder) for file in item.files}
    for path, sha256 in journaled.items():
        part = folder / names.name_part(path)
        if not states[path].is_there and os.path.lexists(part) and digest_file(part) == sha256:
            states[path] = FileState.DRAWN
    return states, marks


def _list_in_the_way(
    folder: Path, known: Folder | None, found: Mapping[str, FileState], plan: Plan, digests: Collection[str]
) -> tuple[str, ...]:
    """Return what stands where a supplement belongs. A published file that the folder does not know stays, and is in nobody's way."""
    wanted = {*plan.current}
    altered = [file.path for item in (known.items if known else ()) if item.name in wanted for file in item.files]
    paths = [path for path in altered if found[path] is FileState.ALTERED]
    for due in plan.due:
        there = {one.format for one in due.before.files} if due.before else set()
        fresh = ((one, names.name_file(due.name, one)) for one in due.formats if one not in there)
        paths += [path for one, path in fresh if path not in found and _is_foreign(folder / path, one, digests)]
    if known is None:
        paths += [path for path in (names.INDEX, names.FEED) if os.path.lexists(folder / path)]
    return tuple(paths)


def _is_foreign(path: Path, format_: OutputFormat, digests: Collection[str]) -> bool:
    if not os.path.lexists(path):
        return False
    if find_mark(path) is None:
        return True
    return hashlib.sha256(split_file(path.read_bytes(), format_).drawn).hexdigest() not in digests
