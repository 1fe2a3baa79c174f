"""What may be said of the lineage of model versions, and of changes that claims may not have survived."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from difflib import get_close_matches

from sqlalchemy import select

from registry.errors import Fault
from registry.records.claim_status import StaleCause, StalenessReview
from registry.records.model_version import REPLACING, ModelEvent, ModelEventKind, ModelRef, ModelVersion
from registry.store.claims import get_head
from registry.store.facts import FactFinder
from registry.store.lineage import find_date, fold_model
from registry.store.rows import split_reference
from registry.store.tables import model_version
from registry.store.view import View

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

    def find_faults(self, said: Lineage) -> Iterator[Fault]:
        """Yield everything that keeps *said* from being recorded now."""
        match said:
            case ModelEvent():
                yield from self.event(said)
            case StalenessReview():
                yield from self.review(said)

    def version(self, said: ModelVersion) -> Iterator[Fault]:
        """A version is registered once, under a name that no other has but for its spelling, after its predecessor and not older."""
        faults = list(self._version(said))
        if not faults:
            self._list_names()[fold_model(said.model)].append(said.model)
        yield from faults

    def named(self, model: ModelRef, where: str) -> Iterator[Fault]:
        """Yield that *model* is the name of a registered version but for its spelling: its lineage would silently not apply."""
        if model in self._sound:
            return
        alike = self._list_names().get(fold_model(model), [])
        if alike and model not in alike:
            there = alike[0]
            found = f"{model} is registered as {there} ({_tell_difference(model, there)})"
            advice = f"write it as developer {there.developer!r}, name {there.name!r}, version {there.version!r}"
            yield _fault("model-case-differs", where, found, advice)
        else:
            self._sound.add(model)

    def event(self, said: ModelEvent) -> Iterator[Fault]:
        """The versions it names are registered; a link joins two that are not joined yet, without a circle and forward in time."""
        unknown = [model for model in (said.model, said.predecessor) if model is not None and self._view.find_model(model) is None]
        yield from (self._unknown(model) for model in unknown)
        if unknown:
            return
        match said.event:
            case ModelEventKind.FOLLOW if said.predecessor is not None:
                yield from self._follow(said, said.predecessor)
            case ModelEventKind.UNFOLLOW if said.predecessor is not None:
                if self._view.lineage().find_link(said.model, said.predecessor) is None:
                    found = f"nothing on record says that it comes from {said.predecessor}"
                    yield _fault("not-linked", str(said.model), found, "caveat model show tells what does")
            case ModelEventKind.DEPRECATE:
                if (entry := self._view.lineage().deprecation_entry(said.model)) is not None:
                    found = f"entry {entry} says that it is deprecated"
                    yield _fault(
                        "deprecated-already", str(said.model), found, "to say it otherwise, reinstate it first: caveat model reinstate"
                    )
            case _:
                if self._view.lineage().deprecation_entry(said.model) is None:
                    yield _fault("not-deprecated", str(said.model), "it is not deprecated, so there is nothing to take back")

    def review(self, said: StalenessReview) -> Iterator[Fault]:
        """It is of a claim's current revision, and of causes that this has, or would have if nobody had dismissed them."""
        head = self._view.find_claim(said.claim.partition("@")[0])
        name, revision = split_reference(said.claim)
        if head is None or revision > head.payload.revision:
            yield _fault("claim-unknown", said.claim, "no such claim revision is registered here", f"caveat claim show {name}")
        elif revision < head.payload.revision:
            found = f"the claim has a newer revision, @{head.payload.revision}; what was decided of an earlier one changes nothing"
            yield _fault("revised-meanwhile", said.claim, found, f"decide on {head.payload.reference}")
        else:
            there = self._find_causes(name, head.entry.seq)
            known = {(one.kind, one.what) for one in there}
            listed = "; ".join(f"{one.kind.value} {one.what}" for one in there) or "none"
            for one in dict.fromkeys(said.causes):
                if (one.kind, one.what) not in known:
                    found = f"{one.kind.value} {one.what} is no cause for it to be stale; its causes: {listed}"
                    yield _fault("cause-unknown", said.claim, found, "caveat claim stale lists them")
        for one, count in Counter(said.causes).items():
            if count > 1:
                yield _fault("cause-twice", said.claim, f"{one.kind.value} {one.what} is named {count} times", "name it once")

    def _find_causes(self, claim: str, entry: int) -> tuple[StaleCause, ...]:
        """Return what `View.list_causes` returns; many reviews one after the other read lineage and definitions once."""
        if self._finder is None or claim in self._reviewed:
            self._finder, self._reviewed = FactFinder(self._view), set()
        self._reviewed.add(claim)
        return self._finder.candidates([get_head(self._view, entry)])[0]

    def _version(self, said: ModelVersion) -> Iterator[Fault]:
        if self._view.find_model(said.model):
            yield _fault("model-exists", str(said.model), "this model version is registered already")
        else:
            yield from self.named(said.model, str(said.model))
        if said.predecessor is None:
            return
        if said.predecessor == said.model:
            yield _fault("own-successor", str(said.model), "a model version does not follow itself")
        elif (before := self._view.find_model(said.predecessor)) is None:
            yield self._unknown(said.predecessor)
        else:
            yield from self._taken(said.model, said.predecessor)
            yield from _check_dates(said, before.payload)

    def _follow(self, said: ModelEvent, predecessor: ModelRef) -> Iterator[Fault]:
        lineage = self._view.lineage()
        if said.model == predecessor:
            yield _fault("own-successor", str(said.model), "a model version does not follow itself")
            return
        link = lineage.find_link(said.model, predecessor)
        if link is not None and link.descent is said.descent:
            found = f"entry {link.entry} says that it is the {link.descent.value.replace('_', '-')} of {predecessor}"
            yield _fault("link-exists", str(said.model), found, "there is nothing to add")
        if path := lineage.find_path(said.model, predecessor):
            circle = " → ".join(str(one) for one in (*path, said.model))
            found = f"{predecessor} comes from it itself; that would close the circle {circle}"
            yield _fault("lineage-cycle", str(said.model), found, "take the link back that is wrong: caveat model unlink")
        if said.descent in REPLACING:
            if not said.branch:
                yield from self._taken(said.model, predecessor)
            newer, older = self._view.find_model(said.model), self._view.find_model(predecessor)
            if newer is not None and older is not None:
                yield from _check_dates(newer.payload, older.payload)

    def _taken(self, model: ModelRef, predecessor: ModelRef) -> Iterator[Fault]:
        """A second version may take the place of one only where that is said on purpose: else claims would follow one of two by chance."""
        lineage = self._view.lineage()
        others = [one for one in lineage.replacing(predecessor) if one.model != model]
        if others:
            names = " and ".join(f"{one.model} (entry {one.entry})" for one in others)
            found = f"{names} took the place of {predecessor} already"
            ends = [str(one) for one in lineage.newest(predecessor) if one != model]
            instead = f"let it follow {' or '.join(ends)}, " if ends else ""
            advice = f"{instead}or say that the lineage branches: caveat model update OLD NEW --branch"
            yield _fault("successor-exists", str(model), found, advice)

    def _unknown(self, model: ModelRef) -> Fault:
        names = {fold_model(one): str(one) for listed in self._list_names().values() for one in listed}
        near = [names[one] for one in get_close_matches(fold_model(model), names, n=3, cutoff=_ALIKE)]
        advice = f"did you mean {' or '.join(near)}?" if near else "register it first: caveat model add"
        return _fault("model-unknown", str(model), "no model version of this name is registered", advice)

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
    after, before = find_date(newer), find_date(older)
    if after is not None and before is not None and after[0] < before[0]:
        found = f"it is of {after[0]} ({after[1]}), {older.model} of {before[0]} ({before[1]}): a successor is not the older one"
        yield _fault("successor-older", str(newer.model), found, "exchange the two, or give the dates right: --released")


def _tell_difference(one: ModelRef, other: ModelRef) -> str:
    if str(one) == str(other):
        return "the same words, but parted otherwise into developer, name and version"
    if str(one).casefold() == str(other).casefold():
        return "they differ in upper and lower case"
    return "they differ in characters that look alike, in white space, or in upper and lower case"


def _fault(code: str, where: str, found: str, advice: str | None = None) -> Fault:
    return Fault(code=code, where=where, found=found, advice=advice)
