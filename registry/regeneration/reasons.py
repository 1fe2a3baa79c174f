"""Why a supplement is drawn, in words: what was recorded since that concerns it, most important first."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.codec.canonical import canonical_bytes
from registry.codec.documents import to_document
from registry.records.claim import ClaimEvent, ClaimEventKind, ClaimRevision
from registry.records.dossier import Recorded
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelEventKind, ModelVersion
from registry.records.record import IDENTIFIER, Kind
from registry.records.statement import StatementKind
from registry.regeneration.folder_document import Folder
from registry.regeneration.plan import Due, DueKind
from registry.store.view import View

_WORDS: Mapping[StatementKind, str] = {
    StatementKind.RESTRICTION: "a new outcome",
    StatementKind.CONTESTATION_EVENT: "an objection was answered or decided",
    StatementKind.CONTESTATION: "an objection",
    StatementKind.CLAIM_REVISION: "a claim was registered or revised",
    StatementKind.CLAIM_EVENT: "an event of a claim",
    StatementKind.STALENESS_REVIEW: "somebody decided whether a change touches it",
    StatementKind.MODEL_EVENT: "an event of its model version",
    StatementKind.MODEL_VERSION: "another version of its model was registered",
    StatementKind.MODEL_ENDPOINT: "an endpoint name was stated or retracted",
    StatementKind.CARD: "its card was revised",
    StatementKind.SIGHTING: "its passage was looked for in another revision of its card",
    StatementKind.SPEC_VERSION: "a definition has a newer version",
    StatementKind.REVEAL: "a sealed definition was shown",
    StatementKind.ERASURE: "a text was erased",
    StatementKind.CLAIM_RELATION: "it was related to another claim",
    StatementKind.DEVIATION: "a deviation from a lock was stated",
    StatementKind.EXPLORATION: "an exploratory analysis was added",
    StatementKind.FINDING: "a module found something",
    StatementKind.EVIDENCE: "evidence was stated",
    StatementKind.RESULT: "an audit has a result",
    StatementKind.RUN: "an audit has a run",
    StatementKind.RUN_START: "a run under a lock was started",
    StatementKind.RUN_END: "a run under a lock ended",
    StatementKind.LOCK: "an audit was locked",
    StatementKind.AUDIT: "an audit was opened",
    StatementKind.SURVEY: "its card was searched for claims",
    StatementKind.OMISSION: "a passage of its card was left out",
    StatementKind.AUTHORITY: "who somebody is was stated",
}
"""By kind of statement, most important first."""
_BY_EVENT: Mapping[ClaimEventKind | ModelEventKind, str] = {
    ClaimEventKind.RESERVE: "a claim was reserved",
    ClaimEventKind.PUBLISH: "a claim was published",
    ClaimEventKind.SUPERSEDE: "a claim was superseded",
    ClaimEventKind.WITHDRAW: "a claim was withdrawn",
    ClaimEventKind.REJECT: "a claim was rejected",
    ModelEventKind.FOLLOW: "another version followed its model version",
    ModelEventKind.UNFOLLOW: "another version does not follow its model version after all",
    ModelEventKind.DEPRECATE: "its model version is no longer offered",
    ModelEventKind.REINSTATE: "its model version is offered again",
}
"""What an event says in place of its kind of statement."""
_RANKS = {kind: rank for rank, kind in enumerate(_WORDS)}
_SHARED = (StatementKind.SPEC_VERSION, StatementKind.REVEAL, StatementKind.CONTESTATION, StatementKind.CONTESTATION_EVENT)
"""What may concern claims that it does not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why one supplement is drawn."""

    words: str
    entry: int | None
    """That set it off; None where no entry did, or which one is not known."""

    def __str__(self) -> str:
        return self.words if self.entry is None else f"{self.words} (entry {self.entry})"


_PLAIN: Mapping[DueKind, str] = {
    DueKind.NEW: "new here",
    DueKind.MANIFEST: "the manifest of the folder said something else of it than the registry",
    DueKind.TEMPLATE: "the templates, fonts or libraries that draw it changed",
    DueKind.FORMAT: "not there in a format that is asked for",
    DueKind.GONE: "a file of it is gone",
    DueKind.UNPUBLISHED: "not published yet",
}


def find_reasons(view: View, due: Sequence[Due], folder: Folder | None) -> dict[str, Reason]:
    """Return why each of *due* is drawn, by name. Entries since the folder was last gone through are read if something changed."""
    changed = [one for one in due if one.kinds[0] is DueKind.STATE]
    since = _Since(view, folder) if changed and folder else None
    found = {one.name: Reason(words=_PLAIN[one.kinds[0]], entry=None) for one in due if one.kinds[0] is not DueKind.STATE}
    for one in changed:
        found[one.name] = since.explain(one) if since else Reason(words="what it says changed", entry=None)
    return found


def count_reasons(reasons: Iterable[Reason]) -> str:
    """Return how many supplements are due for what, in words: `18 because of a new outcome (entries 41 to 60), 2 new here`."""
    counts: Counter[str] = Counter()
    entries: dict[str, list[int]] = defaultdict(list)
    for one in reasons:
        counts[one.words] += 1
        entries[one.words] += [] if one.entry is None else [one.entry]
    return "; ".join(f"{count:,} × {words}{_name_entries(entries[words])}" for words, count in counts.most_common())


def _name_entries(entries: Sequence[int]) -> str:
    if not entries:
        return ""
    low, high = min(entries), max(entries)
    return f" (entry {low:,})" if low == high else f" (entries {low:,} to {high:,})"


_Noted = tuple[int, int, str]
"""Rank of a kind of statement, number of the entry, words."""


def _tell(payload: object, kind: StatementKind) -> str:
    if isinstance(payload, ClaimEvent | ModelEvent):
        return _BY_EVENT[payload.event]
    if isinstance(payload, ClaimRevision):
        return "a claim was registered" if payload.revision == 1 else "a claim was revised"
    return _WORDS[kind]


class _Since:
    """What was recorded since a folder was last gone through, by what it concerns."""

    def __init__(self, view: View, folder: Folder) -> None:
        self._by_name: dict[str, list[_Noted]] = defaultdict(list)
        self._by_card: dict[str, list[_Noted]] = defaultdict(list)
        """What concerns the claims of a card, and so the card itself, but not each of them."""
        self._by_model: dict[str, list[_Noted]] = defaultdict(list)
        self._shared: list[_Noted] = []
        told = {item.name.partition("@")[0]: item.told for item in folder.items if item.told is not None}
        self._models = {name: one.model for name, one in told.items()}
        self._cards = {name: one.card.partition("@")[0] for name, one in told.items() if one.card}
        self._claims: dict[str, str | None] = {}
        for one in view.entries(folder.log_size + 1):
            if one.entry.kind in _RANKS:
                self._note(view, one)

    def explain(self, due: Due) -> Reason:
        """Return the most important of what concerns *due*, of several the latest."""
        name = due.name.partition("@")[0]
        own = [*self._by_name[name], *self._by_card[name]]
        of_card = (one for one in self._by_name[self._cards.get(name, "")] if one[0] == _RANKS[StatementKind.CARD])
        for among in (own, [*of_card, *self._by_model[self._models.get(name) or ""]], self._shared):
            if among:
                _, seq, words = min(among, key=lambda one: (one[0], -one[1]))
                return Reason(words=words, entry=seq)
        return Reason(words="what it says changed", entry=None)

    def _note(self, view: View, one: Recorded[Any]) -> None:
        noted = (_RANKS[one.entry.kind], one.entry.seq, _tell(one.payload, one.entry.kind))
        named = set(IDENTIFIER.findall(canonical_bytes(to_document(one.payload)).decode()))
        named |= {claim for name in named if name.startswith(f"{Kind.AUDIT}-") and (claim := self._find_claim(view, name))}
        for name in named:
            self._by_name[name].append(noted)
        for card in {self._cards[name] for name in named if name in self._cards}:
            self._by_card[card].append(noted)
        if isinstance(one.payload, ModelVersion | ModelEvent):
            for model in {one.payload.model, one.payload.predecessor} - {None}:
                self._by_model[str(model)].append(noted)
        if isinstance(one.payload, ModelEndpoint):
            self._shared.append(noted)  # a name stated for another version may be one that was returned here
        if one.entry.kind in _SHARED:
            self._shared.append(noted)

    def _find_claim(self, view: View, audit: str) -> str | None:
        if audit not in self._claims:
            found = view.find_audit(audit)
            self._claims[audit] = found.audit.payload.claim.partition("@")[0] if found else None
        return self._claims[audit]
