"""What of a folder is due, and why: from what is known of it, what stands there, and what the registry says. Nothing is read here."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from registry.records.statement import OutputFormat
from registry.regeneration.folder_document import Folder, FolderFile, FolderItem
from registry.regeneration.seen import FileState


class DueKind(StrEnum):
    """Why a supplement is drawn."""

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
"""For which all of its files are drawn, as of the last entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A supplement that is to be drawn."""

    name: str
    kinds: tuple[DueKind, ...]
    """At least one, in the order of `DueKind`."""
    formats: tuple[OutputFormat, ...]
    """Those to be drawn."""
    state: str
    """That it will have."""
    before: FolderItem | None
    """What is known of it; None for a new one."""
    fixed: frozenset[str] = frozenset()
    """Paths of its files that are published or signed, and stay as they are."""

    @property
    def log_size(self) -> int | None:
        """The entry it is drawn as of: that of its other files, where what it says did not change; None for the last one."""
        return None if self.is_anew or self.before is None else self.before.log_size

    @property
    def is_anew(self) -> bool:
        """Whether all of its files are drawn, as of the last entry."""
        return self.before is None or self.kinds[0] in _ANEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is due of what was asked for."""

    due: tuple[Due, ...]
    """By name."""
    total: int
    """Supplements that were asked for."""
    unknown: tuple[str, ...]
    """Of those in the folder, names of which the registry says nothing: a statement was erased."""
    current: tuple[str, ...] = ()
    """What was asked for and the registry knows, due or not, in order."""

    def count(self) -> dict[DueKind, int]:
        """Return how many are due for each first reason."""
        counts = Counter(one.kinds[0] for one in self.due)
        return {kind: counts[kind] for kind in DueKind if counts[kind]}


def list_wanted(states: Iterable[str], folder: Folder | None, asked: Collection[str] | None, *, newest_only: bool = False) -> list[str]:
    """Return the names that belong into the folder, in order: every revision of every claim and card, since others lead to them.

    Args:
        states: what the registry knows, `CLM-…@n` and `CRD-…@n`.
        folder: as it is known; None for a new one.
        asked: identifiers, with or without `@n`, that alone are asked for; None for all.
        newest_only: whether an identifier without `@n` asks for its newest revision only.
    """
    wanted = {*states, *(item.name for item in folder.items)} if folder else set(states)
    if newest_only:
        newest = {name.partition("@")[0]: name for name in sorted(wanted, key=order_names)}
        wanted = {name for name in wanted if newest[name.partition("@")[0]] == name or name in (asked or ())}
    if asked is not None:
        wanted = {name for name in wanted if name in asked or name.partition("@")[0] in asked}
    return sorted(wanted, key=order_names)


def order_names(name: str) -> tuple[str, int]:
    """Return what names are put in order by: identifier, then revision as a number."""
    bare, _, number = name.partition("@")
    return bare, int(number)


def build_plan(
    states: Mapping[str, str],
    folder: Folder | None,
    found: Mapping[str, FileState],
    *,
    wanted: Collection[str],
    formats: Collection[OutputFormat],
    template: str,
    misread: Collection[str] = (),
    published: Collection[str] = (),
    pending: Collection[FileState] = (),
) -> Plan:
    """Return what is due.

    A supplement is always there in all formats that it was ever drawn in, and all of them say the same.

    Args:
        states: digest of what each record depends on, by name.
        folder: as it is known; None for a new one.
        found: what became of the files of *folder*, by path.
        wanted: names, as `list_wanted` gives them.
        formats: those asked for.
        template: digest of the templates as they are now.
        misread: names of which the manifest says something else than the registry.
        published: paths of files that the log says were published, whether or not they have their proof.
        pending: what a file may have become that is due because it is to be published.
    """
    items = {item.name: item for item in folder.items} if folder else {}
    told = [name for name in wanted if name in states]
    judge = _Judge(states, found, formats, template, misread, published, pending)
    due = (judge.judge(name, items.get(name)) for name in told)
    return Plan(
        due=tuple(one for one in due if one is not None),
        total=len(told),
        unknown=tuple(name for name in wanted if name not in states),
        current=tuple(told),
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """What a supplement is held against."""

    states: Mapping[str, str]
    found: Mapping[str, FileState]
    formats: Collection[OutputFormat]
    template: str
    misread: Collection[str]
    published: Collection[str]
    pending: Collection[FileState]

    def judge(self, name: str, item: FolderItem | None) -> Due | None:
        """Return how the supplement *name* is due; None where it is not."""
        if item is None:
            return Due(name=name, kinds=(DueKind.NEW,), formats=_order(self.formats), state=self.states[name], before=None)
        kinds = tuple(self._list_kinds(item))
        if not kinds:
            return None
        chosen = {*self.formats, *(one.format for one in item.files)}
        if kinds[0] not in _ANEW:
            chosen -= {one.format for one in item.files if self.found[one.path].is_there and not self._is_redrawn(one)}
        fixed = frozenset(one.path for one in item.files if self._is_fixed(one.path))
        return Due(name=name, kinds=kinds, formats=_order(chosen), state=self.states[name], before=item, fixed=fixed)

    def _is_fixed(self, path: str) -> bool:
        return self.found[path].is_given_out or (path in self.published and self.found[path].is_there)

    def _is_redrawn(self, file: FolderFile) -> bool:
        """Whether *file* is signed without a proof, which cannot be added to it any more, and is to be published."""
        return FileState.SIGNED in self.pending and self.found[file.path] is FileState.SIGNED

    def _list_kinds(self, item: FolderItem) -> Iterator[DueKind]:
        if item.state != self.states[item.name]:
            yield DueKind.STATE
        if item.name in self.misread:
            yield DueKind.MANIFEST
        if item.template != self.template and not any(self._is_fixed(one.path) for one in item.files):
            yield DueKind.TEMPLATE  # what was given out says the same, and is not given out again for its looks
        if set(self.formats) - {one.format for one in item.files}:
            yield DueKind.FORMAT
        states = {self.found[one.path] for one in item.files}
        if FileState.GONE in states:
            yield DueKind.GONE
        if not states.isdisjoint(self.pending):
            yield DueKind.UNPUBLISHED


def _order(formats: Collection[OutputFormat]) -> tuple[OutputFormat, ...]:
    return tuple(one for one in OutputFormat if one in formats)
