"""Rules for statements on model versions and endpoint names, and on keys, other logs, erasures and deviations."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from sqlalchemy import ColumnElement, Table, select

from registry.codec.statement_encoding import find_opening_faults
from registry.errors import Fault, find_near
from registry.records.analysis_plan import COMPUTED, Deviation, Exploration
from registry.records.claim_status import StaleCause, StalenessReview
from registry.records.log_seal import Equivocation, Erasure, KeyEvent, KeyEventKind, LogImport, Witnessing
from registry.records.model_version import REPLACING, EndpointEventKind, ModelEndpoint, ModelEvent, ModelEventKind, ModelRef, ModelVersion
from registry.records.specification import Reveal
from registry.store.claim_listing import get_head
from registry.store.database_tables import audit, entry, erasure, key_event, lock, log_import, model_version, reveal, witnessing
from registry.store.registry_view import View
from registry.store.statement_rows import split_reference
from registry.store.status_derivation import FactFinder
from registry.store.version_lineage import find_date, fold_model

# Rules for model versions and for reviews of possible staleness.

Lineage = ModelEvent | StalenessReview
_ALIKE = 0.8
"""Names that are less alike than this (`difflib`, of 1) were hardly meant."""


class LineageRules:
    """The rules, applied inside one transaction; names of registered versions are remembered, for nothing ever goes away."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._names: dict[str, list[ModelRef]] | None = None
        self._sound: set[ModelRef] = set()
        self._finder: FactFinder | None = None
        self._reviewed: set[str] = set()

    def forget(self) -> None:
        """Read anew what claims rest on: something was said that may have changed it."""
        self._finder = None

    def find_faults(self, lineage: Lineage) -> Iterator[Fault]:
        """Yield everything that keeps *said* from being recorded now."""
        match lineage:
            case ModelEvent():
                yield from self.event(lineage)
            case StalenessReview():
                yield from self.review(lineage)

    def version(self, said: ModelVersion) -> Iterator[Fault]:
        """A version is registered once, under a name that no other has but for its spelling, after its predecessor and not older."""
        faults = list(self._version(said))
        # A registered name must be known to the next statement of the same file.
        if not faults:
            self._list_names()[fold_model(said.model)].append(said.model)
        yield from faults

    def named(self, model: ModelRef, where: str) -> Iterator[Fault]:
        """Yield that *model* is the name of a registered version but for its spelling: its lineage would silently not apply."""
        if model in self._sound:
            return
        # Decision of 2026-11-22: names that differ only in case, Unicode form, white space or the
        # split into name and version are refused, because lineage would silently not apply. Claims
        # recorded before stay. The cost: a lab that means two different names must change one.
        alike = self._list_names().get(fold_model(model), [])
        if alike and model not in alike:
            there = alike[0]
            found = f"{model} is registered as {there} ({_tell_difference(model, there)})"
            advice = f"write it as developer {there.developer!r}, name {there.name!r}, version {there.version!r}"
            yield Fault("model-case-differs", where, found, advice=advice)
        else:
            self._sound.add(model)

    def event(self, model_event: ModelEvent) -> Iterator[Fault]:
        """The versions it names are registered; a link joins two that are not joined yet, without a circle and forward in time."""
        unknown = [
            model for model in (model_event.model, model_event.predecessor) if model is not None and self._view.find_model(model) is None
        ]
        yield from (self._unknown(model) for model in unknown)
        # Links between unknown versions cannot be checked for cycles or dates.
        if unknown:
            return
        match model_event.event:
            case ModelEventKind.FOLLOW if model_event.predecessor is not None:
                yield from self._follow(model_event, model_event.predecessor)
            case ModelEventKind.UNFOLLOW if model_event.predecessor is not None:
                if self._view.lineage().find_link(model_event.model, model_event.predecessor) is None:
                    found = f"nothing on record says that it comes from {model_event.predecessor}"
                    yield Fault("nothing-to-retract", str(model_event.model), found)
            case ModelEventKind.DEPRECATE:
                if (entry := self._view.lineage().deprecation_entry(model_event.model)) is not None:
                    found = f"entry {entry} says that it is deprecated"
                    yield Fault(
                        "already-recorded",
                        str(model_event.model),
                        found,
                        advice="to change it, reinstate it first: caveat model reinstate",
                    )
            case _:
                if self._view.lineage().deprecation_entry(model_event.model) is None:
                    yield Fault("nothing-to-retract", str(model_event.model), "it is not deprecated, so there is nothing to take back")

    def review(self, staleness_review: StalenessReview) -> Iterator[Fault]:
        """It is of a claim's current revision, and of causes that this has, or would have if no one had dismissed them."""
        head = self._view.find_claim(staleness_review.claim.partition("@")[0])
        name, revision = split_reference(staleness_review.claim)
        if head is None or revision > head.payload.revision:
            yield Fault(
                "not-registered", staleness_review.claim, "no such claim revision is registered here", advice=f"caveat claim show {name}"
            )
        # Reviews of an older revision would have no effect, and the author would not notice.
        elif revision < head.payload.revision:
            found = f"the claim has a newer revision, @{head.payload.revision}; what was decided of an earlier one changes nothing"
            yield Fault("changed-meanwhile", staleness_review.claim, found, advice=f"decide on {head.payload.reference}")
        else:
            causes = self._find_causes(name, head.entry.seq)
            known = {(cause.kind, cause.what) for cause in causes}
            # The valid causes are listed in the message, since their names are not obvious.
            listed = "; ".join(f"{one.kind.value} {one.what}" for one in causes) or "none"
            for one in dict.fromkeys(staleness_review.causes):
                if (one.kind, one.what) not in known:
                    found = f"{one.kind.value} {one.what} is not a cause for it to be stale; its causes: {listed}"
                    yield Fault("unknown-name", staleness_review.claim, found)
        for one, count in Counter(staleness_review.causes).items():
            if count > 1:
                yield Fault("duplicate", staleness_review.claim, f"{one.kind.value} {one.what} is named {count} times")

    def _find_causes(self, claim: str, entry: int) -> tuple[StaleCause, ...]:
        """Return what `View.list_causes` returns; many reviews one after the other read lineage and definitions once."""
        # A second review of one claim must see the first. Reviews of different claims share one
        # reading.
        if self._finder is None or claim in self._reviewed:
            self._finder, self._reviewed = FactFinder(self._view), set()
        self._reviewed.add(claim)
        return self._finder.candidates([get_head(self._view, entry)])[0]

    def _version(self, said: ModelVersion) -> Iterator[Fault]:
        if self._view.find_model(said.model):
            yield Fault("already-recorded", str(said.model), "this model version is registered already")
        else:
            yield from self.named(said.model, str(said.model))
        if said.predecessor is None:
            return
        if said.predecessor == said.model:
            yield Fault("self-reference", str(said.model), "a model version does not follow itself")
        elif (before := self._view.find_model(said.predecessor)) is None:
            yield self._unknown(said.predecessor)
        else:
            yield from self._taken(said.model, said.predecessor)
            yield from _check_dates(said, before.payload)

    def _follow(self, model_event: ModelEvent, predecessor: ModelRef) -> Iterator[Fault]:
        lineage = self._view.lineage()
        if model_event.model == predecessor:
            yield Fault("self-reference", str(model_event.model), "a model version does not follow itself")
            return
        link = lineage.find_link(model_event.model, predecessor)
        if link is not None and link.descent is model_event.descent:
            found = f"entry {link.entry} says that it is the {link.descent.value.replace('_', '-')} of {predecessor}"
            yield Fault("already-recorded", str(model_event.model), found)
        # A cycle would make each version the successor of the other, and every claim on them stale
        # forever.
        if path := lineage.find_path(model_event.model, predecessor):
            circle = " → ".join(str(one) for one in (*path, model_event.model))
            found = f"{predecessor} comes from it itself; that would close the circle {circle}"
            yield Fault("lineage-cycle", str(model_event.model), found)
        if model_event.descent in REPLACING:
            # Two successors need an explicit `branch` (decision of 2026-11-22). Otherwise claims
            # would follow one of two by chance.
            if not model_event.branch:
                yield from self._taken(model_event.model, predecessor)
            newer, older = self._view.find_model(model_event.model), self._view.find_model(predecessor)
            if newer is not None and older is not None:
                yield from _check_dates(newer.payload, older.payload)

    def _taken(self, model: ModelRef, predecessor: ModelRef) -> Iterator[Fault]:
        """A second version may take the place of one only where that is said on purpose: else claims would follow one of two by chance."""
        lineage = self._view.lineage()
        others = [one for one in lineage.replacing(predecessor) if one.model != model]
        if others:
            names = " and ".join(f"{one.model} (entry {one.entry})" for one in others)
            found = f"{names} took the place of {predecessor} already"
            # The usual intention is to continue the chain at its end, so this is suggested first.
            ends = [str(one) for one in lineage.newest(predecessor) if one != model]
            instead = f"let it follow {' or '.join(ends)}, " if ends else ""
            advice = f"{instead}or say that the lineage branches: caveat model update OLD NEW --branch"
            yield Fault("successor-exists", str(model), found, advice=advice)

    def _unknown(self, model: ModelRef) -> Fault:
        names = {fold_model(one): str(one) for listed in self._list_names().values() for one in listed}
        near = [names[close_match] for close_match in find_near(fold_model(model), names)[:3]]
        advice = f"did you mean {' or '.join(near)}?" if near else "register it first: caveat model add"
        return Fault("model-not-registered", str(model), "no model version of this name is registered", advice=advice)

    def _list_names(self) -> dict[str, list[ModelRef]]:
        """Return the registered versions by what their names have in common."""
        if self._names is None:
            table = model_version
            rows = self._view.rows(select(table.c.developer, table.c.name, table.c.version).where(self._view.visible(table)))
            self._names = defaultdict(list)
            for developer, name, version in rows:
                model = ModelRef(developer=developer, name=name, version=version)
                self._names[fold_model(model)].append(model)
        return self._names


def _check_dates(newer: ModelVersion, older: ModelVersion) -> Iterator[Fault]:
    """A version that takes the place of another is not the older one, where both have a date."""
    # Undated versions are common and are not refused.
    after, before = find_date(newer), find_date(older)
    if after is not None and before is not None and after[0] < before[0]:
        found = f"it is of {after[0]} ({after[1]}), {older.model} of {before[0]} ({before[1]}): a successor is not the older one"
        yield Fault("successor-older", str(newer.model), found)


def _tell_difference(model_ref: ModelRef, other: ModelRef) -> str:
    if str(model_ref) == str(other):
        return "the same words, but parted otherwise into developer, name and version"
    if str(model_ref).casefold() == str(other).casefold():
        return "they differ in upper and lower case"
    return "they differ in characters that look alike, in white space, or in upper and lower case"


# Rules for endpoint names. Each authority states a name once, and can take back only its own
# statement. A name that another version already has is recorded all the same, and the conflict is
# shown: either of the two authorities may be the one that is wrong.


def find_endpoint_faults(view: View, model_endpoint: ModelEndpoint, *, actor: str) -> Iterator[Fault]:
    """Yield everything that keeps *said* from being recorded now. A name that another version has is recorded: conflicts are shown.

    Args:
        actor: code of the authority that says it.
    """
    where = str(model_endpoint.model)
    if view.find_model(model_endpoint.model) is None:
        yield Fault("model-not-registered", where, "no model version of this name is registered")
        return
    known = next(
        (endpoint_name for endpoint_name in view.list_endpoint_names(model_endpoint.model) if endpoint_name.name == model_endpoint.name),
        None,
    )
    own = dict(zip(known.by, known.entries, strict=True)).get(actor) if known else None
    if model_endpoint.event is EndpointEventKind.STATE and own is not None:
        found = f"entry {own} of {actor} states that endpoints return it as {model_endpoint.name}"
        yield Fault("already-recorded", where, found)
    if model_endpoint.event is EndpointEventKind.RETRACT and own is None:
        others = f"; {', '.join(known.by)} does, and takes it back alone" if known else ""
        found = f"{actor} does not state that endpoints return it as {model_endpoint.name}{others}"
        yield Fault("nothing-to-retract", where, found)


# Rules for keys, other logs, seals, erasures and protocol deviations.

Trust = KeyEvent | LogImport | Witnessing | Equivocation | Erasure | Reveal | Deviation | Exploration


class TrustRules:
    """The rules, applied inside one transaction."""

    def __init__(self, view: View) -> None:
        self._view = view

    def find_faults(self, trust: Trust) -> Iterator[Fault]:
        """Yield everything that keeps *said* from being recorded now."""
        match trust:
            case KeyEvent():
                yield from self.key(trust)
            case LogImport():
                yield from self.log_import(trust)
            case Witnessing():
                yield from self.witnessing(trust)
            case Equivocation():
                yield from self.equivocation(trust)
            case Erasure():
                yield from self.erasure(trust)
            case Reveal():
                yield from self.reveal(trust)
            case Deviation():
                yield from self.deviation(trust)
            case Exploration():
                yield from self.exploration(trust)

    def key(self, said: KeyEvent) -> Iterator[Fault]:
        """A key is added once; only one in force is replaced or revoked, and a new one takes the place of one for the same purpose."""
        events = self._events_of(said.key)
        # A revocation may come from a lost key, so it only requires that the key exists and is not
        # revoked yet.
        if said.event is KeyEventKind.REVOKE:
            if not events:
                yield Fault("key-unknown", said.key, "no such key was ever added")
            elif KeyEventKind.REVOKE in events:
                yield Fault(
                    "key-not-in-force", said.key, "it is revoked already", advice="a revocation is never taken back: add another key"
                )
            return
        # A revoked key must not come back. The holder of the stolen secret would be trusted again.
        if events:
            yield Fault("already-recorded", said.key, "it was added before; a key is never added twice")
        if said.replaces is not None:
            yield from self._replaced(said, said.replaces)

    def log_import(self, said: LogImport) -> Iterator[Fault]:
        """A foreign log only grows."""
        if said.origin == self._view.log_origin:
            yield Fault("own-log", said.origin, "it is this registry's own log")
        table = log_import
        largest = select(table.c.size).where(self._view.visible(table), table.c.origin == said.origin).order_by(table.c.size.desc())
        known = self._view.one_value(largest.limit(1))
        # An import of the same or a smaller size adds nothing. A shorter log can also be an attempt
        # to hide entries.
        if known is not None and said.size <= known:
            yield Fault("not-newer", said.origin, f"{known} of its entries are here already, the bundle has {said.size}")

    def witnessing(self, said: Witnessing) -> Iterator[Fault]:
        """A witness never goes back behind what it cosigned."""
        if said.origin == self._view.log_origin:
            yield Fault("own-log", said.origin, "it is this registry's own log")
        table = witnessing
        last = select(table.c.size).where(self._view.visible(table), table.c.origin == said.origin).order_by(table.c.size.desc())
        known = self._view.one_value(last.limit(1))
        # A witness that cosigns a smaller size after a larger one would help to present a shortened
        # log. The same size may be cosigned again.
        if known is not None and said.size < known:
            yield Fault("not-newer", said.origin, f"{known} entries were cosigned already, this checkpoint has {said.size}")

    def equivocation(self, equivocation: Equivocation) -> Iterator[Fault]:
        """Evidence needs two different notes."""
        if equivocation.first == equivocation.second:
            yield Fault("not-evidence", equivocation.origin, "the two notes are the same, word for word")

    def erasure(self, said: Erasure) -> Iterator[Fault]:
        """An entry is erased once, and its leaf must be the one that is named."""
        there = self._view.rows(select(entry.c.leaf).where(self._view.visible(entry), entry.c.seq == said.erased))
        if not there:
            yield Fault("entry-not-found", f"entry {said.erased}", f"the log has {self._view.log_size} entries")
        # The erasure repeats the leaf, so that the statement by itself says which text was
        # erased.
        elif bytes(there[0].leaf).hex() != said.leaf:
            yield Fault("history-differs", f"entry {said.erased}", f"its leaf is {bytes(there[0].leaf).hex()}, not {said.leaf}")
        elif seq := self._find(erasure, erasure.c.erased == said.erased):
            yield Fault("already-recorded", f"entry {said.erased}", f"entry {seq} says that its text was erased")

    def reveal(self, said: Reveal) -> Iterator[Fault]:
        """A reveal opens the commitment of a sealed version, once."""
        name, version = split_reference(said.opening.spec)
        sealed = self._view.find_spec(name, version)
        where = said.opening.spec
        if sealed is None:
            yield Fault("not-registered", where, "is not registered")
        # The revealed text must hash to the commitment. Otherwise a definition could be written
        # after the run.
        elif faults := list(find_opening_faults(sealed.payload, said.opening, where=where)):
            yield from faults
        elif seq := self._find(reveal, (reveal.c.spec == name) & (reveal.c.version == version)):
            yield Fault("already-recorded", where, f"entry {seq} reveals it")

    def deviation(self, deviation: Deviation) -> Iterator[Fault]:
        """Only from a lock can anything deviate."""
        if self._find(lock, lock.c.audit == deviation.audit) is None:
            yield Fault("not-locked", deviation.audit, "it has no lock to deviate from")
        # θ, direction, margin, ε and level are taken from the lock when the outcome is computed, so
        # no run can deviate from them (decision of 2026-11-22).
        if deviation.item in COMPUTED:
            found = f"{deviation.item.value}: every outcome under a lock is computed from it, so nothing can depart from it"
            yield Fault("deviation-not-possible", deviation.audit, found)

    def exploration(self, exploration: Exploration) -> Iterator[Fault]:
        """An exploration belongs to an audit, of the revision that is audited."""
        claim, revision = split_reference(exploration.claim)
        if self._find(audit, (audit.c.audit == exploration.audit) & (audit.c.claim == claim) & (audit.c.revision == revision)) is None:
            yield Fault("not-registered", exploration.audit, f"is not an audit of {exploration.claim}")

    def _replaced(self, said: KeyEvent, replaces: str) -> Iterator[Fault]:
        before = self._view.rows(
            select(key_event.c.purpose, key_event.c.algorithm, key_event.c.authority).where(
                self._view.visible(key_event), key_event.c.key == bytes.fromhex(replaces), key_event.c.event != KeyEventKind.REVOKE.value
            )
        )
        if not before:
            yield Fault("key-unknown", replaces, "no such key was ever added")
        elif before[0].purpose != said.purpose:
            yield Fault("wrong-kind", replaces, f"it is for the {before[0].purpose}, the new one for the {said.purpose}")
        elif KeyEventKind.REVOKE in self._events_of(replaces) or self._find(key_event, key_event.c.replaces == bytes.fromhex(replaces)):
            yield Fault(
                "key-not-in-force",
                replaces,
                "it is revoked, or another took its place",
                advice="caveat admin key list shows which are in force",
            )

    def _events_of(self, key: str) -> set[str]:
        named = select(key_event.c.event).where(self._view.visible(key_event), key_event.c.key == bytes.fromhex(key))
        return {row.event for row in self._view.rows(named)}

    def _find(self, table: Table, same: ColumnElement[bool]) -> int | None:
        found: int | None = self._view.one_value(select(table.c.seq).where(self._view.visible(table), same).limit(1))
        return found
