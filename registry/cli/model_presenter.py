"""Model versions, their lineage, and what an update leaves behind, in a terminal and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from registry.cli.claim_presenter import shorten
from registry.cli.log_presenter import describe
from registry.cli.terminal_output import build_table, show
from registry.codec.canonical_documents import to_document
from registry.records.dossier import Recorded
from registry.records.estimates import Differential
from registry.records.model_version import (
    REPLACING,
    Descent,
    EndpointEventKind,
    EndpointName,
    ModelEndpoint,
    ModelEvent,
    ModelLink,
    ModelRef,
    ModelVersion,
)
from registry.registration.model_lineage import name_descent, write_model
from registry.report.number_format import format_range, format_signed

if TYPE_CHECKING:
    from registry.cli.model_commands import Aftermath
    from registry.registration.model_lineage import EndpointStatement
    from registry.registration.stale_claims import KnownOutcome
    from registry.store.version_lineage import Lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFile:
    """Everything there is to say of one model version."""

    model: ModelRef
    version: ModelVersion | None
    """As registered; None for one that only claims name."""
    lineage: "Lineage"
    claims: int
    """That are neither withdrawn, rejected nor superseded."""
    audited: int
    """Of those, with an outcome."""
    potential: int
    """Of those, potentially stale."""
    confirmed: int
    """Of those, stale because a person said so."""
    ended: int
    """Claims that are withdrawn, rejected or superseded."""
    said: tuple[Recorded[ModelEvent], ...]
    """What was said of it after its registration, on either side of a link, in log order; also what was taken back."""
    names: tuple[EndpointName, ...] = ()
    """Its endpoint names in force."""
    conflicts: tuple[EndpointName, ...] = ()
    """Of these, the names that are stated for other versions too."""
    statements: tuple[Recorded[ModelEndpoint], ...] = ()
    """On its endpoint names, in log order; also what was taken back."""


def summarise_aftermath(aftermath: "Aftermath", *, dry_run: bool) -> dict[str, Any]:
    """Return what `caveat model update --json` prints."""
    update, stale = aftermath.update, aftermath.stale
    return {
        "schema": "caveat/model-update/1",
        **to_document(update.link),
        "new": update.is_new,
        "dry_run": dry_run,
        "registered": [to_document(one) for one in update.registered],
        "beside": [to_document(one) for one in update.beside],
        "claims_about_predecessor": aftermath.about_old,
        "stale_about_earlier": aftermath.earlier,
        "stale": {
            "claims": [f"{claim.claim}@{claim.revision}" for claim in stale.claims],
            "newly": aftermath.newly,
            "confirmed": stale.confirmed,
            "by_class": aftermath.classes,
            "by_card": aftermath.cards,
            "first": [_summarise_so_far(one) for one in aftermath.first],
        },
        "next": _list_next(aftermath),
    }


def print_aftermath(console: Console, aftermath: "Aftermath", *, dry_run: bool) -> None:
    """Print what `caveat model update` recorded, and what became stale."""
    update, link = aftermath.update, aftermath.update.link
    what = f"{link.model} as {name_descent(link.descent)} of {link.predecessor}"
    # The same sentence must not read as done when it was only tried.
    if dry_run:
        console.print(f"Nothing is recorded (--dry-run). {f'To be recorded: {what}.' if update.is_new else f'On record: {what}.'}")
    elif update.is_new:
        console.print(f"Recorded {what}, entry {link.entry}.")
    else:
        console.print(f"Nothing changes: {what} is on record, entry {link.entry}.")
    if update.registered:
        console.print(f"{'To be registered' if dry_run else 'Registered'} on the way: {', '.join(map(str, update.registered))}.")
    if update.beside:
        # A branch is recorded on purpose, and everyone who follows the lineage must see it.
        console.print(f"The lineage branches: {', '.join(map(str, update.beside))} took the place of {link.predecessor} too.")
    console.print(_tell_claims(aftermath))
    if aftermath.earlier:
        noun = "claim" if aftermath.earlier == 1 else "claims"
        console.print(f"{aftermath.earlier:,} {noun} about versions before {link.predecessor} may no longer stand, as before.")
    if aftermath.stale.claims:
        _print_stale(console, aftermath)
    following = _list_next(aftermath)
    if following:
        console.print("\nNext:\n" + "\n".join(f"  {one}" for one in following), soft_wrap=True, no_wrap=True)


def print_forest(console: Console, versions: Sequence[ModelVersion], lineage: "Lineage", notes: Mapping[int, str]) -> None:
    """Print the lineage as trees, one for each version that comes from none.

    One with two origins stands under each of them, and what follows from it under the first: else branches that meet again and again
    would double the list each time.

    Args:
        notes: what was said of links, by entry.
    """
    if not versions:
        console.print("No model versions.")
    forest = _Forest(by_model={version.model: version for version in versions}, lineage=lineage, notes=notes)
    for one in versions:
        # Trees begin at versions without a predecessor.
        if not lineage.preceding(one.model):
            console.print(forest.grow(one.model))
    for one in versions:
        if one.model not in forest.grown:  # in a cycle, which only another registry's log could bring
            console.print(forest.grow(one.model))


def summarise_version(version: ModelVersion, lineage: "Lineage") -> dict[str, Any]:
    """Return a version of a listing as a document: as registered, with the links in force and its deprecation."""
    return {
        **to_document(version),
        "comes_from": [to_document(one) for one in lineage.preceding(version.model)],
        "deprecation": _summarise_deprecation(lineage, version.model),
    }


def summarise_file(file: VersionFile) -> dict[str, Any]:
    """Return what `caveat model show --json` prints."""
    lineage, model = file.lineage, file.model
    return {
        "schema": "caveat/model/1",
        "model": to_document(model),
        "registered": to_document(file.version) if file.version else None,
        "comes_from": [to_document(one) for one in lineage.preceding(model)],
        "ancestors": [to_document(one) for one in lineage.ancestors(model)],
        "followed_by": [to_document(one) for one in lineage.following(model)],
        "newest": [to_document(one) for one in lineage.newest(model)],
        "deprecation": _summarise_deprecation(lineage, model),
        "claims": {
            "standing": file.claims,
            "audited": file.audited,
            "potentially_stale": file.potential,
            "stale": file.confirmed,
            "ended": file.ended,
        },
        "endpoint_names": [to_document(one) for one in file.names],
        "endpoint_conflicts": [to_document(conflict) for conflict in file.conflicts],
        "endpoint_statements": [
            {"entry": statement.entry.seq, "by": statement.entry.actor, **to_document(statement.payload)} for statement in file.statements
        ],
        "events": [{"entry": one.entry.seq, "by": one.entry.actor, **to_document(one.payload)} for one in file.said],
    }


def print_file(console: Console, file: VersionFile) -> None:
    """Print one model version as a person reads it."""
    lineage, model = file.lineage, file.model
    version = file.version
    console.print(show(str(model)), style="bold")
    newest = lineage.newest(model)
    claims = f"{file.claims}, of which {file.audited} audited, {file.potential} potentially stale, {file.confirmed} stale"
    rows = [
        ("registered", "yes" if version else f"no; claims alone name it. caveat model add {write_model(model)} registers it"),
        ("released", str(version.released) if version and version.released else "not stated"),
        *((("note", version.note),) if version and version.note else ()),
        *(("comes from", f"{one.predecessor}, {name_descent(one.descent)}, entry {one.entry}") for one in lineage.preceding(model)),
        # A single ancestor is the predecessor, which has its own row.
        *((("ancestors", ", ".join(map(str, lineage.ancestors(model)))),) if len(lineage.ancestors(model)) > 1 else ()),
        *(("followed by", f"{one.model}, {name_descent(one.descent)}, entry {one.entry}") for one in lineage.following(model)),
        *((("newest", ", ".join(map(str, newest))),) if newest else ()),
        ("deprecated", _tell_deprecation(lineage, model)),
        *(_list_endpoints(file)),
        ("claims", claims + (f"; {file.ended} more withdrawn, rejected or superseded" if file.ended else "")),
    ]
    console.print(build_table(("", ""), rows))
    said: list[Recorded[Any]] = [*file.said, *file.statements]
    # Events and endpoint statements in one order, that of the log.
    for one in sorted(said, key=lambda one: one.entry.seq):
        told = _tell_endpoint(one.payload) if isinstance(one.payload, ModelEndpoint) else describe(one.payload)
        console.print(show(f"  entry {one.entry.seq}, {one.entry.at:%Y-%m-%d}, {one.entry.actor}: {told}"))
    if file.potential + file.confirmed:
        console.print(f"\nNext: caveat claim stale --model {write_model(model)}")


def print_endpoint(
    console: Console, model: ModelRef, name: str, done: "EndpointStatement", names: Sequence[EndpointName], *, is_retracted: bool
) -> None:
    """Print what `caveat model endpoint` recorded, and which names the version has now."""
    told = f"Recorded, entry {done.entry}" if done.is_new else f"Nothing changes, it is on record as entry {done.entry}"
    what = f"{name} is no longer stated for {model}" if is_retracted else f"endpoints return {model} as {name}"
    console.print(show(f"{told}: {what}."))
    console.print(show(f"Its endpoint names: {', '.join(one.name for one in names) or 'none'}."))


def _tell_endpoint(said: ModelEndpoint) -> str:
    verb = "states" if said.event is EndpointEventKind.STATE else "retracts"
    return f"{verb} the endpoint name {said.name}: {said.reason}{f' ({said.source})' if said.source else ''}"


def _list_endpoints(file: VersionFile) -> Iterator[tuple[str, str]]:
    """Give a row for each endpoint name in force, with who states it and which other version it is stated for."""
    if not file.names:
        # Without a stated name no response can be shown to come from this version.
        yield "endpoint name", "none stated: no outcome can show that it was asked"
    for name in file.names:
        others = [f"{one.model} (by {', '.join(one.by)})" for one in file.conflicts if one.name == name.name]
        conflict = f"; CONFLICT: also stated for {', '.join(others)}" if others else ""
        entries = ", ".join(map(str, name.entries))
        yield (
            "endpoint name",
            f"{name.name}, by {', '.join(name.by)}, {'entry' if len(name.entries) == 1 else 'entries'} {entries}{conflict}",
        )


def name_outcome(known_outcome: "KnownOutcome") -> str:
    """Return class, standing and mode of what is on record; `not audited` without an outcome."""
    if known_outcome.verdict is None:
        return "not audited"
    parts = (known_outcome.verdict.class_, known_outcome.verdict.standing, known_outcome.verdict.mode)
    return ", ".join(part.value.replace("_", " ") for part in parts if part)


def name_differential(ed: Differential) -> str:
    """Return ED with its interval, as far as there is one."""
    interval = "" if ed.low is None or ed.high is None else f" {format_range(ed.low, ed.high, signed=True)}"
    return f"{format_signed(ed.value)}{interval}"


@dataclass(slots=True)
class _Forest:
    by_model: Mapping[ModelRef, ModelVersion]
    lineage: "Lineage"
    notes: Mapping[int, str]
    grown: set[ModelRef] = field(default_factory=set)
    """Versions that stand in a tree."""

    def grow(self, root: ModelRef) -> Tree:
        """Return the tree of *root*; a version never stands below itself."""
        tree = Tree(self._label(root, None))
        self._branch_out(tree, (root,))
        return tree

    def _branch_out(self, tree: Tree, path: tuple[ModelRef, ...]) -> None:
        self.grown.add(path[-1])
        for link in self.lineage.following(path[-1]):
            # A cycle can only come with another registry's log; it must not loop for ever.
            if link.model in path:
                continue
            label = self._label(link.model, link)
            # What follows a version is printed once: branches that meet again would double the list
            # each time.
            if link.model not in self.grown:
                self._branch_out(tree.add(label), (*path, link.model))
            else:
                tree.add(label.append("  and what follows, as above", style="not bold") if self.lineage.following(link.model) else label)

    def _label(self, model: ModelRef, link: ModelLink | None) -> Text:
        version, deprecated = self.by_model.get(model), self.lineage.deprecation(model)
        parts = [
            f"  {name_descent(link.descent)}" if link else "",
            f"  released {version.released}" if version and version.released else "",
            f"  deprecated{f', offered until {deprecated.on}' if deprecated.on else ''}" if deprecated else "",
            *(f"  ({note})" for note in (version and version.note, link and self.notes.get(link.entry)) if note),
        ]
        return Text(show(str(model)), style="bold").append(show("".join(parts)), style="not bold")


def _summarise_deprecation(lineage: "Lineage", model: ModelRef) -> dict[str, Any] | None:
    said = lineage.deprecation(model)
    return {"on": _date(said), "reason": said.reason, "entry": lineage.deprecation_entry(model)} if said else None


def _date(model_event: ModelEvent) -> str | None:
    return model_event.on.isoformat() if model_event.on else None


def _tell_deprecation(lineage: "Lineage", model: ModelRef) -> str:
    said = lineage.deprecation(model)
    if said is None:
        return "no"
    until = f"offered until {said.on}: " if said.on else ""
    return f"yes, entry {lineage.deprecation_entry(model)}: {until}{said.reason}"


def _tell_claims(aftermath: "Aftermath") -> str:
    link, stale = aftermath.update.link, aftermath.stale
    nothing = f"No claim is about {link.predecessor}."
    if not aftermath.about_old:
        near = f" Claims are about {', '.join(map(str, aftermath.near))}: was that meant?" if aftermath.near else ""
        # Without a claim about the version its name may be a misspelling.
        return nothing + near
    claims = "1 claim" if aftermath.about_old == 1 else f"{aftermath.about_old:,} claims"
    # A fine-tune takes no version's place.
    if link.descent not in REPLACING:
        stays = "stays as it is" if aftermath.about_old == 1 else "stay as they are"
        none = "it does not speak" if aftermath.about_old == 1 else "none of them speaks"
        return f"{claims} about {link.predecessor} {stays}, and {none} for {link.model}: a fine-tune is another model."
    if not stale.claims:
        return f"{claims} about {link.predecessor}; for each of them a person decided that it stands all the same."
    number = "1 claim" if len(stale.claims) == 1 else f"{len(stale.claims):,} claims"
    before = len(stale.claims) - aftermath.newly
    them = "it" if len(stale.claims) == 1 else f"{before:,} of them"
    stood = f"; {them} had other reasons already" if before else ""
    return f"\n{number} about {link.predecessor} may no longer stand{stood}. None speaks for {link.model} until it is carried and audited."


def _print_stale(console: Console, aftermath: "Aftermath") -> None:
    console.print(f"  by property class: {_count(aftermath.classes)}\n  by card: {_count(aftermath.cards)}\n")
    for one in aftermath.first:
        console.print(f"{one.claim.claim}@{one.claim.revision}  {name_outcome(one)}; ED {_list_differentials(one)}")
        console.print(f"  “{shorten(one.claim.quote)}”" if one.claim.quote is not None else "  (text erased)")
    more = len(aftermath.stale.claims) - len(aftermath.first)
    if more:
        console.print(f"… and {more:,} more.")


def _count(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in numbers.items())


def _list_differentials(known_outcome: "KnownOutcome") -> str:
    return "; ".join(f"{name_differential(part.ed)} ({part.spec})" for part in known_outcome.estimates) or "none"


def _summarise_so_far(known_outcome: "KnownOutcome") -> dict[str, Any]:
    verdict = known_outcome.verdict
    return {
        "claim": f"{known_outcome.claim.claim}@{known_outcome.claim.revision}",
        "quote": known_outcome.claim.quote,
        "status": to_document(known_outcome.claim.status),
        "class": verdict.class_.value if verdict else None,
        "standing": verdict.standing.value if verdict and verdict.standing else None,
        "mode": verdict.mode.value if verdict and verdict.mode else None,
        "ed": [{"spec": part.spec, **to_document(part.ed)} for part in known_outcome.estimates],
    }


def _list_next(aftermath: "Aftermath") -> list[str]:
    """Return what is usually done after an update, each as it is typed."""
    link = aftermath.update.link
    if link.descent is Descent.FINE_TUNE or not aftermath.stale.claims:
        return []
    old, new = write_model(link.predecessor), write_model(aftermath.newest)
    return [
        f"caveat claim stale --model {old}",
        f'caveat claim carry --all-from {old} --to {new} --why "…"',
        f"caveat audit renew --model {new} --ask NAME -o DIR",
        "caveat report --stale -o DIR",
    ]
