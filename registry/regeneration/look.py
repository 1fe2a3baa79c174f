"""A folder looked at: what is known of it, what stands there, what the registry says now, and so what is due. Nothing is changed."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from registry.errors import Fault, NotFoundError
from registry.records.folder import Folder
from registry.records.publication import OutputFormat
from registry.regeneration import names
from registry.regeneration.manifest import Log, check_root, list_files, list_journaled, read_folder
from registry.regeneration.plan import Plan, build_plan, list_wanted
from registry.regeneration.reasons import Reason, find_reasons
from registry.regeneration.seen import FileState, Mark, compare, digest_file, read_seen
from registry.report.html import template_digest
from registry.store.seals import find_root
from registry.store.states import find_states
from registry.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was found."""

    log: Log
    known: Folder | None
    """What is known of the folder; None for a new one."""
    is_begun: bool
    """Whether a command that drew into it did not end; what that drew is part of `known`."""
    is_complete: bool
    """Whether it was ever gone through to the end."""
    plan: Plan
    reasons: dict[str, Reason]
    """Why each is due, by name."""
    marks: dict[str, Mark]
    """As what the sound files were seen, by path."""
    template: str
    """Digest of the templates."""
    pages: tuple[str, ...]
    """Paths of the list and the feed where they are not as they were written; they are written again."""
    damaged: tuple[str, ...]
    """Paths of change reports and of what was replaced that were altered; they cannot be drawn again as they were."""


def look(folder: Path, view: View, *, formats: Collection[OutputFormat], asked: Collection[str] | None) -> Looked:
    """Return what of *folder* is due, as the registry stands in *view*.

    Args:
        folder: may not exist.
        view: a reading of the registry.
        formats: those asked for.
        asked: identifiers, with or without `@n`, that alone are asked for; None for all.

    Raises:
        InputError: as `registry.regeneration.manifest.read_folder`.
        NotFoundError: `not-registered`, each of *asked* of which the registry knows no supplement.
    """
    log = Log(origin=view.log_origin, size=view.log_size, root=find_root(view))
    known = read_folder(folder, log) if folder.is_dir() else None
    if known is not None:
        check_root(known, find_root(view, known.log_size), where=folder)
    states = find_states(view)
    wanted = list_wanted(states, known, asked)
    _refuse_unknown(asked or (), wanted)
    found, marks = _compare(folder, known)
    template, is_begun = template_digest(), (folder / names.JOURNAL).exists()
    misread = _find_misread(view, known) if known is not None else frozenset()
    plan = build_plan(states, known, found, wanted=wanted, formats=formats, template=template, misread=misread)
    return Looked(
        log=log,
        known=known,
        is_begun=is_begun,
        is_complete=(folder / names.MANIFEST).exists(),
        plan=plan,
        reasons=find_reasons(view, plan.due, known),
        marks=marks,
        template=template,
        pages=() if known is None or is_begun else _list_altered_pages(folder, known),
        damaged=_list_damaged(known, found),
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
        if states[path] is not FileState.SOUND and os.path.lexists(part) and digest_file(part) == sha256:
            states[path] = FileState.SOUND
    return states, marks
