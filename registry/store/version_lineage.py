"""The lineage of model versions: links in force, successors, retirement, and the names of endpoints."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import select

from registry.records.dossier import Recorded
from registry.records.model_version import REPLACING, Descent, ModelEndpoint, ModelEvent, ModelEventKind, ModelLink, ModelRef
from registry.store.database_tables import body
from registry.store.kinds.audit_kinds import asked_name, audit
from registry.store.kinds.definition_kinds import model_endpoint, model_event, model_version
from registry.store.log_reader import LogReader, has_text, seen

# The lineage of model versions: links in force, successors, retirement. Lineage cannot be erased,
# because it decides what is stale (decision of 2026-11-22).


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRegistration:
    """That a model version was registered."""

    entry: int
    model: ModelRef
    predecessor: ModelRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionHistory:
    """What was said of a registered version."""

    entry: int
    event: ModelEvent


class Lineage:
    """Links in force, and what follows from them; cycles, which only another registry's log could bring, end every walk.

    A link is in force if the last thing said of the two versions is that one follows the other. Naming a predecessor when a version is
    registered says that it is its successor.
    """

    def __init__(self, registrations: Iterable[VersionRegistration], events: Iterable[VersionHistory]) -> None:
        links: dict[tuple[ModelRef, ModelRef], ModelLink] = {}
        self._registered: dict[ModelRef, int] = {}
        self._deprecated: dict[ModelRef, VersionHistory] = {}
        self._events = sorted(events, key=lambda event: event.entry)
        for registration in registrations:
            self._registered[registration.model] = registration.entry
            # A predecessor named at registration counts as a successor link that later events can
            # take back.
            if registration.predecessor is not None:
                link = ModelLink(
                    model=registration.model, predecessor=registration.predecessor, descent=Descent.SUCCESSOR, entry=registration.entry
                )
                links[registration.model, registration.predecessor] = link
        for history in self._events:
            self._apply(history, links)
        self._links = tuple(sorted(links.values(), key=lambda link: link.entry))
        self._after: dict[ModelRef, list[ModelLink]] = defaultdict(list)
        self._before: dict[ModelRef, list[ModelLink]] = defaultdict(list)
        for link in self._links:
            self._after[link.predecessor].append(link)
            self._before[link.model].append(link)

    @property
    def links(self) -> tuple[ModelLink, ...]:
        """Every link in force, in the order of the entries that say so last."""
        return self._links

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """Every registered version, in log order."""
        return tuple(self._registered)

    def following(self, model: ModelRef) -> tuple[ModelLink, ...]:
        """Return the links from *model* to what comes directly from it, of every descent, in log order."""
        return tuple(self._after.get(model, ()))

    def preceding(self, model: ModelRef) -> tuple[ModelLink, ...]:
        """Return the links from *model* to what it directly comes from, of every descent, in log order."""
        return tuple(self._before.get(model, ()))

    def replacing(self, model: ModelRef) -> tuple[ModelLink, ...]:
        """Return the links to the versions that directly took the place of *model*, in log order."""
        return tuple(link for link in self.following(model) if link.descent in REPLACING)

    def find_link(self, model: ModelRef, predecessor: ModelRef) -> ModelLink | None:
        """Return the link in force that says that *model* comes from *predecessor*."""
        return next((link for link in self.preceding(model) if link.predecessor == predecessor), None)

    def successors(self, model: ModelRef) -> tuple[ModelRef, ...]:
        """Return every version that took the place of *model*, or of one that did, nearest first; without *model* itself."""
        return tuple(self._walk(model, lambda ref: [link.model for link in self.replacing(ref)]))

    def newest(self, model: ModelRef) -> tuple[ModelRef, ...]:
        """Return the versions that took the place of *model* in the end: none where nothing did, several where its lineage branches."""
        # Several results if the lineage branches. The caller must not choose one.
        return tuple(ref for ref in self.successors(model) if not self.replacing(ref))

    def ancestors(self, model: ModelRef) -> tuple[ModelRef, ...]:
        """Return every version that *model* replaced, or one that it replaced, nearest first; without *model* itself."""
        return tuple(
            self._walk(model, lambda ref: [link.predecessor for link in self.preceding(ref) if link.descent in REPLACING]),
        )

    def find_path(self, start: ModelRef, end: ModelRef) -> tuple[ModelRef, ...]:
        """Return how *end* comes from *start* over links of every descent, both included; empty where it does not."""
        paths: dict[ModelRef, tuple[ModelRef, ...]] = {start: (start,)}
        if start != end:
            # Breadth first, so the path in the message is the shortest.
            for before, after in self._steps(start):
                paths.setdefault(after, (*paths[before], after))
        return paths.get(end, ())

    def deprecation(self, model: ModelRef) -> ModelEvent | None:
        """Return what says that *model* is no longer offered; None while it is, or is again."""
        history = self._deprecated.get(model)
        return history.event if history else None

    def deprecation_entry(self, model: ModelRef) -> int | None:
        """Return the entry of `deprecation`."""
        history = self._deprecated.get(model)
        return history.entry if history else None

    def list_entries(self, models: Iterable[ModelRef]) -> list[int]:
        """Return the entries of the events of *models* and of what took their place, also where they were taken back, in log order."""
        known = set(models)
        # Also the events of successors: if a successor's own link is taken back, the claim's
        # staleness changes.
        known |= {after for ref in tuple(known) for after in self.successors(ref)}
        return [event.entry for event in self._events if event.event.model in known or event.event.predecessor in known]

    def registration(self, model: ModelRef) -> int | None:
        """Return the entry that registered *model*; None if there is none."""
        return self._registered.get(model)

    def _apply(self, version_history: VersionHistory, links: dict[tuple[ModelRef, ModelRef], ModelLink]) -> None:
        event = version_history.event
        match event.event:
            case ModelEventKind.FOLLOW if event.predecessor is not None and event.descent is not None:
                link = ModelLink(model=event.model, predecessor=event.predecessor, descent=event.descent, entry=version_history.entry)
                links[event.model, event.predecessor] = link
            case ModelEventKind.UNFOLLOW if event.predecessor is not None:
                links.pop((event.model, event.predecessor), None)
            case ModelEventKind.DEPRECATE:
                self._deprecated[event.model] = version_history
            case _:
                self._deprecated.pop(event.model, None)

    def _steps(self, start: ModelRef) -> Iterator[tuple[ModelRef, ModelRef]]:
        # Rules refuse cycles, but an imported log can contain one. `seen` ends the walk.
        seen, waiting = {start}, [start]
        while waiting:
            before = waiting.pop(0)
            for link in self.following(before):
                if link.model not in seen:
                    seen.add(link.model)
                    waiting.append(link.model)
                    yield before, link.model

    def _walk(self, start: ModelRef, step: Callable[[ModelRef], Sequence[ModelRef]]) -> list[ModelRef]:
        versions = dict.fromkeys((start,))
        waiting = [start]
        while waiting:
            for ref in step(waiting.pop(0)):
                if ref not in versions:
                    versions[ref] = None
                    waiting.append(ref)
        return list(versions)[1:]


def read_lineage(reader: LogReader) -> Lineage:
    """Return the lineage as *reader* sees it. What rows say counts also where a statement's text is gone."""
    rows = reader.plain_rows(_VERSIONS)
    registered = [VersionRegistration(entry=row[0], model=_model(*row[1:4]), predecessor=_find_model(*row[4:])) for row in rows]
    return Lineage(registered, _read_events(reader))


_VERSIONS = (
    select(
        model_version.c.seq,
        model_version.c.developer,
        model_version.c.name,
        model_version.c.version,
        model_version.c.predecessor_developer,
        model_version.c.predecessor_name,
        model_version.c.predecessor_version,
    )
    .where(seen(model_version))
    .order_by(model_version.c.seq)
)
_EVENTS = select(model_event).where(seen(model_event))
_EVENTS_WITH_TEXT = select(model_event.c.seq).join(body, has_text(model_event)).where(seen(model_event))


def _read_events(reader: LogReader) -> list[VersionHistory]:
    # The rows of an event survive if its text is lost, so lineage stays complete.
    rows = reader.rows(_EVENTS)
    events = {recorded.entry.seq: recorded.payload for recorded in reader.recorded_by(_EVENTS_WITH_TEXT)} if rows else {}
    return [VersionHistory(entry=row.seq, event=events[row.seq] if row.seq in events else _restore(row)) for row in rows]


def name_models(row: Any) -> tuple[ModelRef, ModelRef | None]:
    """Return the version that the row of an event is about, and the other one that it names, if any. For the store only."""
    before = _find_model(row.predecessor_developer, row.predecessor_name, row.predecessor_version)
    return _model(row.developer, row.name, row.version), before


def _restore(row: Any) -> ModelEvent:
    """Return what the row of an event says whose text is gone, though no one may erase it: what it decided still counts."""
    model, predecessor = name_models(row)
    return ModelEvent(
        model=model,
        event=ModelEventKind(row.event),
        predecessor=predecessor,
        descent=Descent(row.descent) if row.descent else None,
        reason="its text is gone" if row.has_reason else None,
    )


def _model(developer: str, name: str, version: str) -> ModelRef:
    return ModelRef(developer=developer, name=name, version=version)


def _find_model(developer: str | None, name: str | None, version: str | None) -> ModelRef | None:
    return None if developer is None or name is None or version is None else _model(developer, name, version)


# Statements on endpoint names, as far as they concern a claim or a model version.


_ENDPOINTS = (
    select(model_endpoint.c.seq, model_endpoint.c.developer, model_endpoint.c.name, model_endpoint.c.version, model_endpoint.c.endpoint)
    .where(seen(model_endpoint))
    .order_by(model_endpoint.c.seq)
)


class EndpointIndex:
    """Which entries state or retract endpoint names, by version and name; each table is read once."""

    def __init__(self, reader: LogReader, claims: Collection[str] | None = None) -> None:
        """Answer for *claims*, `CLM-…`; None for any."""
        self._reader = reader
        self._claims = claims

    def list_entries(self, model: ModelRef, claim: str | None = None) -> list[int]:
        """Return the entries that concern who was asked for *model*, in log order.

        Those are of *model* itself, and of other versions under a name that was ever stated for *model*, or by which an audit of
        *claim* (`CLM-…`) decided who was asked.
        """
        if not self._statements:
            return []
        names = {name for _, of, name in self._statements if of == model}
        # An audit decided by these names which model was asked, so a later statement on one of them
        # concerns the claim.
        names |= self._returned_names.get(claim, set()) if claim is not None else set()
        return [seq for seq, of, name in self._statements if of == model or name in names]

    @cached_property
    def _statements(self) -> list[tuple[int, ModelRef, str]]:
        return self._reader.once("endpoint_statements", lambda: _list_statements(self._reader))

    @cached_property
    def _returned_names(self) -> dict[str, set[str]]:
        same = (asked_name.c.log == audit.c.log) & (asked_name.c.audit == audit.c.audit)
        wanted = select(audit.c.claim, asked_name.c.name).join(asked_name, same)
        names: dict[str, set[str]] = defaultdict(set)
        seen = wanted.where(self._reader.visible(audit), self._reader.visible(asked_name))
        rows = self._reader.plain_rows(seen) if self._claims is None else self._reader.rows_in(seen, audit.c.claim, self._claims)
        for claim, name in rows:
            names[claim].add(name)
        return names


def _list_statements(reader: LogReader) -> list[tuple[int, ModelRef, str]]:
    return [(row[0], ModelRef(developer=row[1], name=row[2], version=row[3]), row[4]) for row in reader.plain_rows(_ENDPOINTS)]


def read_endpoint_statements(reader: LogReader, entries: Iterable[int] | None = None) -> tuple[Recorded[ModelEndpoint], ...]:
    """Return the statements on endpoint names among *entries*, in log order; without *entries*, all of them."""
    if entries is not None:
        return reader.recorded(entries)
    return reader.recorded_by(select(model_endpoint.c.seq).where(reader.visible(model_endpoint)))
