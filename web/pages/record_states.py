"""Which audits, objections and definitions have pages, and in which state each page is."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from registry.records.record import Identifier, Kind
from registry.store.dossiers import IN_HISTORY, OF_AUDIT, OF_OBJECTION, PARTS_IN_HISTORY, Concern, find_concerns
from registry.store.registry_view import View

DEFINITIONS = (Kind.CONTEXT, Kind.PROPERTY, Kind.SCORING, Kind.CUES, Kind.METHOD)
RECORDS = (Kind.AUDIT, Kind.OBJECTION, *DEFINITIONS)
"""What has pages besides claims and cards."""
PREFIXES = tuple(f"/{kind.value}-" for kind in RECORDS)

_ROLES = tuple(
    dict.fromkeys(
        (*IN_HISTORY[Kind.AUDIT], *OF_AUDIT, *PARTS_IN_HISTORY, *IN_HISTORY[Kind.OBJECTION], *OF_OBJECTION, *IN_HISTORY[Kind.PROPERTY])
    )
)


@dataclass(slots=True, kw_only=True)
class _RecordBasis:
    """What the pages of one audit, objection or definition depend on."""

    entries: set[int] = field(default_factory=set)
    """The entries about it."""
    claims: set[str] = field(default_factory=set)
    """Claims, `CLM-…@n`, of which its page shows status or outcome."""
    others: set[str] = field(default_factory=set)
    """Other records that its page shows."""


class RecordStates:
    """The records of *view*: some of them, or all when *names* is None. It reads them once, with few queries."""

    def __init__(self, view: View, names: Collection[str] | None = None) -> None:
        bare = None if names is None else {name.partition("@")[0] for name in names}
        self._erased = view.list_erased()
        self._basis: dict[str, _RecordBasis] = {}
        concerns = find_concerns(view, _ROLES, bare)
        self.audited = view.find_audited(None if bare is None else {*_pick(bare, Kind.AUDIT), *_list_replays(concerns)})
        self._add_concerns(concerns)
        for name, targets in view.find_contested(None if bare is None else _pick(bare, Kind.OBJECTION)).items():
            self._get(name).claims |= {target for target in targets if target.startswith(Kind.CLAIM)}
            self._get(name).others |= {target.partition("@")[0] for target in targets if not target.startswith(Kind.CLAIM)}
        self.versions = view.list_spec_versions(None if bare is None else [name for name in bare if name[:3] in set(DEFINITIONS)])
        # What these records show of others depends on entries about the others.
        if bare is not None and (rest := {other for basis in self._basis.values() for other in basis.others} - bare):
            self._add_concerns(find_concerns(view, _ROLES, rest))

    def _get(self, name: str) -> _RecordBasis:
        return self._basis.setdefault(name, _RecordBasis())

    def _add_concerns(self, concerns: Iterable[Concern]) -> None:
        for concern in concerns:
            # An objection of a claim names no definition.
            if not concern.name:
                continue
            basis = self._get(concern.name)
            basis.entries.add(concern.seq)
            if concern.own is None or concern.own == concern.name:
                continue
            if concern.own in self.audited:
                basis.claims.add(self.audited[concern.own])
            basis.others.add(concern.own)

    def list_addresses(self) -> Iterator[tuple[str, str]]:
        """Yield the address of every page and file of a record, with the name of the record, `AUD-…` or `CTX-…@n`."""
        for name in self.audited:
            yield f"/{name}/", name
        for name in self._basis:
            if name.startswith(Kind.OBJECTION):
                yield f"/{name}/", name
        newest = {version.partition("@")[0]: version for version in self.versions}
        for version in self.versions:
            yield f"/{version}/", version
            yield f"/{version}.json", version
            if newest[version.partition("@")[0]] == version:
                yield f"/{version.partition('@')[0]}/", version

    def find_state(self, name: str, find_claim_state: Callable[[str], str]) -> str:
        """Return a digest that differs where the pages of the record *name* may.

        Args:
            find_claim_state: returns the state of the page of a claim, `CLM-…@n`.
        """
        bare = name.partition("@")[0]
        basis = self._basis.get(bare, _RecordBasis())
        claims = {*basis.claims, *([self.audited[bare]] if bare in self.audited else [])}
        shared = (self._basis.get(other, _RecordBasis()).entries for other in basis.others)
        entries = sorted(basis.entries.union(*shared))
        marks = [f"{seq}{' erased' if seq in self._erased else ''}" for seq in entries]
        return hashlib.sha256("\n".join([name, *marks, *map(find_claim_state, sorted(claims))]).encode()).hexdigest()[:24]


def _pick(names: Iterable[str], kind: Kind) -> set[str]:
    return {name for name in names if name.startswith(f"{kind.value}-")}


def _list_replays(concerns: Iterable[Concern]) -> set[str]:
    return _pick((concern.own for concern in concerns if concern.own is not None), Kind.AUDIT)


def find_record(view: View, identifier: Identifier) -> str | None:
    """Return the name of the record *identifier* with pages, `AUD-…` or `CTX-…@n` (the newest version where none is named)."""
    known: Mapping[str, object]
    match identifier.kind:
        case Kind.AUDIT:
            known = view.find_audited([identifier.bare])
        case Kind.OBJECTION:
            known = view.find_contested([identifier.bare])
        case _:
            versions = view.list_spec_versions([identifier.bare])
            if identifier.revision is None:
                return versions[-1] if versions else None
            return str(identifier) if str(identifier) in versions else None
    return identifier.bare if identifier.bare in known and identifier.revision is None else None
