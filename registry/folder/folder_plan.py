"""Which supplements of a folder are due, and why; nothing is rendered or changed."""

import hashlib
import logging
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.errors import Fault, NotFoundError
from registry.folder import folder_manifest as names
from registry.folder.folder_document import Folder, FolderFile, FolderItem
from registry.folder.folder_manifest import (
    FileMark,
    FileState,
    FolderLog,
    check_root,
    compare,
    digest_file,
    find_mark,
    list_files,
    list_journaled,
    read_folder,
    read_seen,
)
from registry.records.dossier import Recorded
from registry.records.model_version import ModelEvent, ModelVersion
from registry.records.record import IDENTIFIER, Kind
from registry.records.statement import OutputFormat
from registry.records.system_card import Card
from registry.report.html_rendering import template_digest
from registry.report.published_file import split_file
from registry.store.log_seals import find_root
from registry.store.registry_view import View
from registry.store.statement_kind import KINDS, kind_of
from registry.store.supplement_states import find_states

# What is due, from the manifest, the files on disk and the registry. Nothing is read or changed
# here.

_LOG = logging.getLogger("caveat.cache")


class DueKind(StrEnum):
    """Why a supplement is rendered."""

    NEW = "new"
    """There is none of it in the folder."""
    STATE = "state"
    """What it says changed."""
    MANIFEST = "manifest"
    """The manifest says something else of it than the registry."""
    TEMPLATE = "template"
    """The templates, fonts or libraries changed."""
    FORMAT = "format"
    """It is there in other formats than asked for."""
    GONE = "gone"
    """A file of it is gone."""
    UNPUBLISHED = "unpublished"
    """A file of it is not published, and all are to be."""


_ANEW = (DueKind.STATE, DueKind.MANIFEST, DueKind.TEMPLATE)
"""For which all of its files are rendered, as of the last entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSupplement:
    """A supplement that is to be rendered."""

    name: str
    kinds: tuple[DueKind, ...]
    """At least one, in the order of `DueKind`."""
    formats: tuple[OutputFormat, ...]
    """Those to be rendered."""
    state: str
    """That it will have."""
    before: FolderItem | None
    """What is known of it; None for a new one."""
    fixed: frozenset[str] = frozenset()
    """Paths of its files that are published or signed, and stay as they are."""

    @property
    def log_size(self) -> int | None:
        """The entry it is rendered as of: that of its other files, where what it says did not change; None for the last one."""
        return None if self.is_anew or self.before is None else self.before.log_size

    @property
    def all_formats(self) -> frozenset[OutputFormat]:
        """Those to be rendered, and those that it was rendered in before: what its HTML links to."""
        return frozenset((*self.formats, *(file.format for file in self.before.files))) if self.before else frozenset(self.formats)

    @property
    def is_anew(self) -> bool:
        """Whether all of its files are rendered, as of the last entry."""
        return self.before is None or self.kinds[0] in _ANEW


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderPlan:
    """What is due of what was asked for."""

    due: tuple[DueSupplement, ...]
    """By name."""
    total: int
    """Supplements that were asked for."""
    unknown: tuple[str, ...]
    """Of those in the folder, names of which the registry says nothing: a statement was erased."""
    current: tuple[str, ...] = ()
    """What was asked for and the registry knows, due or not, in order."""

    def count(self) -> dict[DueKind, int]:
        """Return how many are due for each first reason."""
        counts = Counter(supplement.kinds[0] for supplement in self.due)
        return {kind: counts[kind] for kind in DueKind if counts[kind]}


def list_wanted(states: Iterable[str], folder: Folder | None, texts: Collection[str] | None, *, newest_only: bool = False) -> list[str]:
    """Return the names that belong into the folder, in order: every revision of every claim and card, since others lead to them.

    Args:
        states: what the registry knows, `CLM-…@n` and `CRD-…@n`.
        folder: as it is known; None for a new one.
        texts: identifiers, with or without `@n`, that are the only ones asked for; None for all.
        newest_only: whether an identifier without `@n` asks for its newest revision only.
    """
    # Names that only the manifest knows are included, so that an erased statement is reported and
    # not forgotten.
    wanted = {*states, *(item.name for item in folder.items)} if folder else set(states)
    if newest_only:
        # Sorted by revision, so that the last one of each identifier stays.
        newest = {name.partition("@")[0]: name for name in sorted(wanted, key=order_names)}
        wanted = {name for name in wanted if newest[name.partition("@")[0]] == name or name in (texts or ())}
    if texts is not None:
        wanted = {name for name in wanted if name in texts or name.partition("@")[0] in texts}
    return sorted(wanted, key=order_names)


def order_names(name: str) -> tuple[str, int]:
    """Return what names are put in order by: identifier, then revision as a number."""
    bare, _, number = name.partition("@")
    return bare, int(number)


def build_plan(
    states: Mapping[str, str],
    folder: Folder | None,
    file_states: Mapping[str, FileState],
    *,
    wanted: Collection[str],
    formats: Collection[OutputFormat],
    template: str,
    misread: Collection[str] = (),
    published: Collection[str] = (),
    pending: Collection[FileState] = (),
) -> FolderPlan:
    """Return what is due.

    A supplement is always there in all formats that it was ever rendered in, and all of them say the same.

    Args:
        states: digest of what each record depends on, by name.
        folder: as it is known; None for a new one.
        file_states: the outcome of the files of *folder*, by path.
        wanted: names, as `list_wanted` gives them.
        formats: those asked for.
        template: digest of the templates as they are now.
        misread: names of which the manifest says something else than the registry.
        published: paths of files that the log says were published, whether or not they have their proof.
        pending: what a file may have become that is due because it is to be published.
    """
    items = {item.name: item for item in folder.items} if folder else {}
    known = [name for name in wanted if name in states]
    judge = _Judge(states, file_states, formats, template, misread, published, pending)
    due = (judge.judge(name, items.get(name)) for name in known)
    return FolderPlan(
        due=tuple(supplement for supplement in due if supplement is not None),
        total=len(known),
        unknown=tuple(name for name in wanted if name not in states),
        current=tuple(known),
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """What a supplement is held against."""

    states: Mapping[str, str]
    file_states: Mapping[str, FileState]
    formats: Collection[OutputFormat]
    template: str
    misread: Collection[str]
    published: Collection[str]
    pending: Collection[FileState]

    def judge(self, name: str, item: FolderItem | None) -> DueSupplement | None:
        """Return how the supplement *name* is due; None where it is not."""
        if item is None:
            return DueSupplement(name=name, kinds=(DueKind.NEW,), formats=_order(self.formats), state=self.states[name], before=None)
        kinds = tuple(self._list_kinds(item))
        if not kinds:
            return None
        # A format that was rendered once is kept up: links of other supplements may lead to it.
        chosen = {*self.formats, *(file.format for file in item.files)}
        # What it says is unchanged, so only missing formats are rendered.
        if kinds[0] not in _ANEW:
            chosen -= {
                folder_file.format
                for folder_file in item.files
                if self.file_states[folder_file.path].is_there and not self._is_rendered_again(folder_file)
            }
        fixed = frozenset(folder_file.path for folder_file in item.files if self._is_fixed(folder_file.path))
        return DueSupplement(name=name, kinds=kinds, formats=_order(chosen), state=self.states[name], before=item, fixed=fixed)

    def _is_fixed(self, path: str) -> bool:
        # A file that the log calls published stays, even if a killed command did not add its proof.
        return self.file_states[path].is_given_out or (path in self.published and self.file_states[path].is_there)

    def _is_rendered_again(self, file: FolderFile) -> bool:
        """Whether *file* is signed without a proof, which cannot be added to it any more, and is to be published."""
        return FileState.SIGNED in self.pending and self.file_states[file.path] is FileState.SIGNED

    def _list_kinds(self, item: FolderItem) -> Iterator[DueKind]:
        if item.state != self.states[item.name]:
            # The first kind decides whether everything is rendered anew, so the order matters.
            yield DueKind.STATE
        if item.name in self.misread:
            yield DueKind.MANIFEST
        if item.template != self.template and not any(self._is_fixed(file.path) for file in item.files):
            yield DueKind.TEMPLATE  # what was published says the same, and is not published again for its looks
        if set(self.formats) - {file.format for file in item.files}:
            yield DueKind.FORMAT
        states = {self.file_states[file.path] for file in item.files}
        if FileState.GONE in states:
            yield DueKind.GONE
        if not states.isdisjoint(self.pending):
            yield DueKind.UNPUBLISHED


def _order(formats: Collection[OutputFormat]) -> tuple[OutputFormat, ...]:
    # One fixed order, whatever order was asked for.
    return tuple(output_format for output_format in OutputFormat if output_format in formats)


# Reasons in words: of all entries since the folder was completed, the most important one that
# concerns a supplement.


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderingReason:
    """Why one supplement is rendered."""

    words: str
    entry: int | None
    """That set it off; None where no entry did, or which one is not known."""

    def __str__(self) -> str:
        return self.words if self.entry is None else f"{self.words} (entry {self.entry})"


_PLAIN: Mapping[DueKind, str] = {
    DueKind.NEW: "new here",
    DueKind.MANIFEST: "the folder's supplements.json differed from the registry",
    DueKind.TEMPLATE: "the templates, fonts or libraries that draw it changed",
    DueKind.FORMAT: "not there in a format that is asked for",
    DueKind.GONE: "one of its files is gone",
    DueKind.UNPUBLISHED: "not published yet",
}


def find_reasons(view: View, due: Sequence[DueSupplement], folder: Folder | None) -> dict[str, RenderingReason]:
    """Return why each of *due* is rendered, by name. Entries since the folder was last gone through are read if something changed."""
    changed = [supplement for supplement in due if supplement.kinds[0] is DueKind.STATE]
    # Entries are read only if something changed, so an unchanged folder costs nothing more.
    since = _RecentEntries(view, folder) if changed and folder else None
    reasons = {
        supplement.name: RenderingReason(words=_PLAIN[supplement.kinds[0]], entry=None)
        for supplement in due
        if supplement.kinds[0] is not DueKind.STATE
    }
    for supplement in changed:
        reasons[supplement.name] = since.explain(supplement) if since else RenderingReason(words="what it says changed", entry=None)
    return reasons


def count_reasons(reasons: Iterable[RenderingReason]) -> str:
    """Return how many supplements are due for what, in words: `18 because of a new outcome (entries 41 to 60), 2 new here`."""
    counts: Counter[str] = Counter()
    entries: dict[str, list[int]] = defaultdict(list)
    for reason in reasons:
        counts[reason.words] += 1
        entries[reason.words] += [] if reason.entry is None else [reason.entry]
    return "; ".join(f"{count:,} × {words}{_name_entries(entries[words])}" for words, count in counts.most_common())


def _name_entries(entries: Sequence[int]) -> str:
    if not entries:
        return ""
    low, high = min(entries), max(entries)
    return f" (entry {low:,})" if low == high else f" (entries {low:,} to {high:,})"


_Noted = tuple[int, int, str]
"""Importance of a kind of statement, number of the entry, words."""


class _RecentEntries:
    """What was recorded since a folder was last gone through, by what it concerns."""

    def __init__(self, view: View, folder: Folder) -> None:
        self._by_name: dict[str, list[_Noted]] = defaultdict(list)
        self._by_card: dict[str, list[_Noted]] = defaultdict(list)
        """What concerns the claims of a card, and so the card itself, but not each of them."""
        self._by_model: dict[str, list[_Noted]] = defaultdict(list)
        self._shared: list[_Noted] = []
        # The manifest knows card and model of each claim, so no dossier is read for a reason.
        summaries = {item.name.partition("@")[0]: item.summary for item in folder.items}
        self._models = {name: digest.model for name, digest in summaries.items()}
        self._cards = {name: digest.card.partition("@")[0] for name, digest in summaries.items() if digest.card}
        self._claims: dict[str, str | None] = {}
        for recorded in view.entries(folder.log_size + 1):
            # Kinds without a reason change no supplement.
            kind = kind_of(recorded.payload)
            if (reason := kind.explain_change(recorded.payload)) is not None:
                self._note(view, recorded, (kind.importance, recorded.entry.seq, reason), is_shared=kind.is_shared)

    def explain(self, due: DueSupplement) -> RenderingReason:
        """Return the most important of what concerns *due*, of several the latest."""
        name = due.name.partition("@")[0]
        own = [*self._by_name[name], *self._by_card[name]]
        # A newer revision of the card concerns its claims, too.
        of_card = (noted for noted in self._by_name[self._cards.get(name, "")] if noted[0] == KINDS[Card.KIND].importance)
        # The nearest concern first: the claim itself, then its card and model, then definitions.
        for among in (own, [*of_card, *self._by_model[self._models.get(name) or ""]], self._shared):
            if among:
                # Lowest rank first; among equals the latest entry.
                _, seq, words = min(among, key=lambda noted: (noted[0], -noted[1]))
                return RenderingReason(words=words, entry=seq)
        return RenderingReason(words="what it says changed", entry=None)

    def _note(self, view: View, recorded: Recorded[Any], noted: _Noted, *, is_shared: bool) -> None:
        # Every identifier in the canonical text counts, so a new kind of statement needs no code
        # here.
        named = set(IDENTIFIER.findall(canonical_bytes(to_document(recorded.payload)).decode()))
        # An audit concerns the claim that it audits.
        named |= {claim for name in named if name.startswith(f"{Kind.AUDIT}-") and (claim := self._find_claim(view, name))}
        for name in named:
            self._by_name[name].append(noted)
        for card in {self._cards[name] for name in named if name in self._cards}:
            self._by_card[card].append(noted)
        if isinstance(recorded.payload, ModelVersion | ModelEvent):
            for model in {recorded.payload.model, recorded.payload.predecessor} - {None}:
                self._by_model[str(model)].append(noted)
        if is_shared:
            self._shared.append(noted)

    def _find_claim(self, view: View, audit: str) -> str | None:
        # Looked up once for each audit.
        if audit not in self._claims:
            file = view.find_audit(audit)
            self._claims[audit] = file.audit.payload.claim.partition("@")[0] if file else None
        return self._claims[audit]


# A folder is inspected. Nothing in it is changed.


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRequest:
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
class FolderState:
    """What was found."""

    log: FolderLog
    wish: FolderRequest
    known: Folder | None
    """What is known of the folder; None for a new one."""
    is_begun: bool
    """Whether a command that drew into it did not end; what that drew is part of `known`."""
    is_complete: bool
    """Whether it was ever gone through to the end."""
    plan: FolderPlan
    reasons: dict[str, RenderingReason]
    """Why each is due, by name."""
    states: dict[str, FileState]
    """Outcome of the files, by path."""
    marks: dict[str, FileMark]
    """As what the files that are there were seen, by path."""
    template: str
    """Digest of the templates."""
    pages: tuple[str, ...]
    """Paths of the list and the feed where they are not as they were written; they are written again."""
    damaged: tuple[str, ...]
    """Paths of change reports and of earlier files that were altered; they cannot be rendered again as they were."""
    in_the_way: tuple[str, ...]
    """Paths of files in the place of a supplement that were not rendered there; nothing is written before they are gone."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be done in the folder."""
        return not (self.plan.due or self.is_begun or self.pages or self.in_the_way)


def inspect_folder(folder: Path, view: View, wish: FolderRequest) -> FolderState:
    """Return what of *folder* is due, as the registry is in *view*.

    Args:
        folder: may not exist.
        view: a reading of the registry.
        wish: what is asked for.

    Raises:
        InputError: as `registry.folder.folder_manifest.read_folder`.
        NotFoundError: `not-registered`, each of the identifiers asked for of which the registry knows no supplement.
    """
    log = FolderLog(origin=view.log_origin, size=view.log_size, root=find_root(view))
    known = read_folder(folder, log) if folder.is_dir() else None
    if known is not None:
        # Another history under the same name: its supplements are not this registry's.
        check_root(known, find_root(view, known.log_size), where=folder)
    # A digest of all that a supplement depends on, for every claim in one pass and without
    # assembling any (decision of 2026-11-22). The cost: it reports a change where an entry belongs
    # to a claim and is not printed.
    states = find_states(view)
    wanted = list_wanted(states, known, wish.asked, newest_only=wish.newest_only)
    _refuse_unknown(wish.asked or (), wanted)
    file_states, marks = _compare(folder, known)
    # By digest: a publication names no path.
    digests = view.list_published()
    published = {file.path for file in (list_files(known) if known else ()) if file.sha256 in digests}
    if wish.publishes and not wish.proves:  # without a log key no proof can be added, and what is recorded is done with
        file_states = {
            path: FileState.PROVEN if path in published and state is FileState.RENDERED else state for path, state in file_states.items()
        }
    template, is_begun = template_digest(), names.is_interrupted(folder)
    plan = build_plan(
        states,
        known,
        file_states,
        wanted=wanted,
        formats=wish.formats,
        template=template,
        misread=_find_misread(view, known) if known is not None else frozenset(),
        published=published,
        pending=(FileState.RENDERED, FileState.SIGNED) if wish.publishes else (),
    )
    _LOG.info("%s: %d of %d due, the others are as the registry has them", folder, len(plan.due), plan.total)
    return FolderState(
        log=log,
        known=known,
        wish=wish,
        is_begun=is_begun,
        is_complete=(folder / names.MANIFEST).exists(),
        plan=plan,
        reasons=find_reasons(view, plan.due, known),
        states=file_states,
        marks=marks,
        template=template,
        # A command that did not end writes them anyway.
        pages=() if known is None or is_begun else _list_altered_pages(folder, known),
        damaged=_list_damaged(known, file_states),
        in_the_way=_list_in_the_way(folder, known, file_states, plan, digests),
    )


def _refuse_unknown(texts: Collection[str], wanted: Collection[str]) -> None:
    there = {*wanted, *(name.partition("@")[0] for name in wanted)}
    problem = "the registry knows no text of it, so there is nothing to render"
    faults = [Fault("not-registered", name, problem) for name in sorted(texts) if name not in there]
    if faults:
        raise NotFoundError(faults)


def _find_misread(view: View, folder: Folder) -> frozenset[str]:
    """Return the claims of which the manifest says another status, model or card than the registry: it lies where others may write."""
    # The manifest is not trusted. What the registry can tell cheaply is compared: status, digests,
    # pages and reports. The rest is for `caveat verify` (decision of 2026-11-22). The cost: one
    # list of claims for each inspection, and a manifest forged together with its files is found by
    # `verify` only.
    summaries = {item.name: item.summary for item in folder.items}
    texts = set()
    for claim in view.list_claims():
        digest = summaries.get(name := f"{claim.claim}@{claim.revision}")
        # Causes are left out of the manifest, so they are left out here.
        if digest is not None and (digest.status, digest.model, digest.card) != (
            replace(claim.status, causes=()),
            str(claim.model),
            claim.card,
        ):
            texts.add(name)
    return frozenset(texts)


def _list_altered_pages(folder: Path, known: Folder) -> tuple[str, ...]:
    written = {names.INDEX: known.index, names.FEED: known.feed}
    return tuple(
        path
        for path, sha256 in written.items()
        # A run that was killed before the pages were written left no digest of them.
        if sha256 is not None and not ((folder / path).is_file() and digest_file(folder / path) == sha256)
    )


def _list_damaged(folder: Folder | None, states: Mapping[str, FileState]) -> tuple[str, ...]:
    """Return what was altered and is not rendered again. What is gone was taken away: that may be necessary, and the list has no link to
    it.
    """
    today = {file.path for item in folder.items for file in item.files} if folder else frozenset()
    return tuple(path for path, state in states.items() if state is FileState.ALTERED and path not in today)


def _compare(folder: Path, known: Folder | None) -> tuple[dict[str, FileState], dict[str, FileMark]]:
    """Return the outcome of the files; those that a killed command drew and did not put in place are there."""
    if known is None:
        return {}, {}
    states, marks = compare(folder, list_files(known), read_seen(folder))
    # The journal knows files that a killed command rendered and did not rename.
    journaled = {file.path: file.sha256 for item in list_journaled(folder) for file in item.files}
    for path, sha256 in journaled.items():
        part = folder / names.name_part(path)
        # The digest decides: a part can be half written.
        if not states[path].is_there and os.path.lexists(part) and digest_file(part) == sha256:
            states[path] = FileState.RENDERED
    return states, marks


def _list_in_the_way(
    folder: Path, known: Folder | None, states: Mapping[str, FileState], plan: FolderPlan, digests: Collection[str]
) -> tuple[str, ...]:
    """Return what stands where a supplement belongs. A published file that the folder does not know stays, and is not in the way."""
    wanted = {*plan.current}
    altered = [file.path for item in (known.items if known else ()) if item.name in wanted for file in item.files]
    paths = [path for path in altered if states[path] is FileState.ALTERED]
    for due in plan.due:
        there = {folder_file.format for folder_file in due.before.files} if due.before else set()
        # Formats that the supplement never had here; their places may be taken.
        fresh = ((format_, names.name_file(due.name, format_)) for format_ in due.formats if format_ not in there)
        paths += [path for output_format, path in fresh if path not in states and _is_foreign(folder / path, output_format, digests)]
    # In a folder without a manifest, a list or feed of that name belongs to someone else.
    if known is None:
        paths += [path for path in (names.INDEX, names.FEED) if os.path.lexists(folder / path)]
    return tuple(paths)


def _is_foreign(path: Path, format_: OutputFormat, digests: Collection[str]) -> bool:
    if not os.path.lexists(path):
        return False
    # A link or a folder is never ours.
    if find_mark(path) is None:
        return True
    # A published file that the manifest does not know can be kept: the log vouches for it.
    return hashlib.sha256(split_file(path.read_bytes(), format_).rendered).hexdigest() not in digests
