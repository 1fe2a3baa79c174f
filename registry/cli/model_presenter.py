"""Model versions, their lineage, and what an update leaves behind, in a terminal and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from registry.cli.claim_presenter import shorten
from registry.cli.log_presenter import describe
from registry.codec.canonical_documents import to_document
from registry.present.answers import Answer
from registry.present.blocks import Block, Branch, Facts, Title, Verbatim
from registry.present.listings import Column
from registry.records.claim_status import Staleness
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
    find_endpoint_conflicts,
)
from registry.records.record import Record
from registry.records.verdict import RestrictionStatus
from registry.registration.claim_search import write_plain
from registry.registration.log_survey import ListedVersion
from registry.registration.model_lineage import ENDED, name_descent, require_model, write_model
from registry.report.number_format import format_range, format_signed
from registry.report.supplement_wording import get_words

if TYPE_CHECKING:
    from registry.cli.model_commands import Aftermath
    from registry.registration.model_lineage import EndpointStatement
    from registry.registration.stale_claims import KnownOutcome
    from registry.store.registry_view import View
    from registry.store.version_lineage import Lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation(Record):
    """Since when a model version is no longer offered, and why."""

    on: date | None
    reason: str | None
    entry: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionClaims(Record):
    """How many claims are about a model version."""

    current: int
    """Neither withdrawn, rejected nor superseded; the next three are among them."""
    audited: int
    needs_review: int
    stale: int
    """Confirmed by a person."""
    ended: int
    """Withdrawn, rejected or superseded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPage(Record):
    """One model version: the document of `caveat model show`."""

    model: ModelRef
    registered: ModelVersion | None
    """None for one that only claims name."""
    comes_from: tuple[ModelLink, ...]
    ancestors: tuple[ModelRef, ...]
    followed_by: tuple[ModelLink, ...]
    newest: tuple[ModelRef, ...]
    """What took its place in the end."""
    deprecation: Deprecation | None
    claims: VersionClaims
    endpoint_names: tuple[EndpointName, ...]
    """In force."""
    endpoint_conflicts: tuple[EndpointName, ...]
    """Of these, the names that are stated for other versions too."""
    endpoint_statements: tuple[Recorded[ModelEndpoint], ...]
    """In log order; also those that were retracted."""
    events: tuple[Recorded[ModelEvent], ...]
    """After its registration, on either side of a link, in log order; also those that were taken back."""
    schema: Literal["caveat/model/1"] = "caveat/model/1"


def collect_version(view: "View", model: ModelRef) -> VersionPage:
    """Return what is known of the version *model*; raises NotFoundError for one that is neither registered nor named by a claim."""
    require_model(view, model)
    version = view.find_model(model)
    claims = [claim.status for claim in view.list_claims(model=model)]
    lineage, names = view.lineage(), view.list_endpoint_names()
    # Withdrawn, rejected and superseded claims need no attention.
    current = [status for status in claims if status.lifecycle not in ENDED]
    return VersionPage(
        model=model,
        registered=version.payload if version else None,
        comes_from=tuple(lineage.preceding(model)),
        ancestors=tuple(lineage.ancestors(model)),
        followed_by=tuple(lineage.following(model)),
        newest=tuple(lineage.newest(model)),
        deprecation=find_deprecation(lineage, model),
        claims=VersionClaims(
            current=len(current),
            audited=sum(status.restriction is not RestrictionStatus.UNAUDITED for status in current),
            needs_review=sum(status.staleness is Staleness.NEEDS_REVIEW for status in current),
            stale=sum(status.staleness is Staleness.STALE for status in current),
            ended=len(claims) - len(current),
        ),
        endpoint_names=tuple(name for name in names if name.model == model),
        endpoint_conflicts=find_endpoint_conflicts(names, model),
        endpoint_statements=tuple(statement for statement in view.list_endpoint_statements() if statement.payload.model == model),
        events=view.list_model_events(model),
    )


def present_aftermath(aftermath: "Aftermath", *, dry_run: bool) -> Answer:
    """Present what `caveat model update` recorded, and the claims that need review since."""
    update, stale = aftermath.update, aftermath.stale
    document = {
        "schema": "caveat/model-update/1",
        **to_document(update.link),
        "new": update.is_new,
        "dry_run": dry_run,
        "registered": [to_document(ref) for ref in update.registered],
        "other_successors": [to_document(ref) for ref in update.beside],
        "claims_about_predecessor": aftermath.about_old,
        "stale_about_earlier": aftermath.earlier,
        "stale": {
            "claims": [f"{claim.claim}@{claim.revision}" for claim in stale.claims],
            "newly": aftermath.newly,
            "confirmed": stale.confirmed,
            "by_class": aftermath.classes,
            "by_card": aftermath.cards,
            "first": [_summarise_so_far(outcome) for outcome in aftermath.first],
        },
        "next": _list_next(aftermath),
    }
    return Answer(document, _list_aftermath_blocks(aftermath, dry_run=dry_run))


def _list_aftermath_blocks(aftermath: "Aftermath", *, dry_run: bool) -> Iterator[Block]:
    """Yield what `caveat model update` recorded, and what became stale."""
    update, link = aftermath.update, aftermath.update.link
    what = f"{link.model} as {name_descent(link.descent)} of {link.predecessor}"
    # The same sentence must not read as done when it was only tried.
    if dry_run:
        yield f"Nothing is recorded (--dry-run). {f'To be recorded: {what}.' if update.is_new else f'On record: {what}.'}"
    elif update.is_new:
        yield f"Recorded {what}, entry {link.entry}."
    else:
        yield f"Nothing changes: {what} is on record, entry {link.entry}."
    if update.registered:
        yield f"{'To be registered' if dry_run else 'Registered'} on the way: {', '.join(map(str, update.registered))}."
    if update.beside:
        # A branch is recorded on purpose, and everyone who follows the lineage must see it.
        yield f"The lineage branches: {', '.join(map(str, update.beside))} took the place of {link.predecessor} too."
    yield _describe_affected(aftermath)
    if aftermath.earlier:
        noun = "claim" if aftermath.earlier == 1 else "claims"
        yield f"{aftermath.earlier:,} {noun} about versions before {link.predecessor} may no longer hold, as before."
    if aftermath.stale.claims:
        yield from _present_stale(aftermath)
    following = _list_next(aftermath)
    if following:
        yield Verbatim("\nNext:\n" + "\n".join(f"  {name}" for name in following))


def present_forests(versions: Sequence[ListedVersion]) -> Iterator[Block]:
    """Present the lineage as trees, one for each version that comes from none.

    One with two origins is under each of them, and what follows from it under the first: branches that meet again and again
    would double the list each time.
    """
    lineage = versions[0].lineage
    forest = _Forest(by_model={version.model: version for version in versions}, lineage=lineage)
    for listed in versions:
        # Trees begin at versions without a predecessor.
        if not lineage.preceding(listed.model):
            yield forest.grow(listed.model)
    for listed in versions:
        if listed.model not in forest.grown:  # in a cycle, which only another registry's log could bring
            yield forest.grow(listed.model)


def summarise_version(listed: ListedVersion) -> dict[str, Any]:
    """Return a version of a listing as a document: as registered, with the links in force, its deprecation and its claims."""
    return {
        "log": listed.log,
        "model": to_document(listed.model),
        "registered": to_document(listed.registered) if listed.registered else None,
        "comes_from": [to_document(link) for link in listed.lineage.preceding(listed.model)],
        "deprecation": to_document(deprecation) if (deprecation := find_deprecation(listed.lineage, listed.model)) else None,
        "claims": listed.claims,
        "audited": listed.audited,
        "outcomes": {verdict.value: number for verdict, number in listed.outcomes.items()},
    }


def list_model_columns() -> tuple[Column[ListedVersion], ...]:
    """Return the columns of a list of model versions."""
    return (
        Column(name="log", read=lambda listed: listed.log),
        Column(name="model", read=lambda listed: write_plain(listed.model)),
        Column(name="registered", read=lambda listed: listed.registered is not None),
        Column(name="released", read=lambda listed: listed.registered.released if listed.registered else None),
        Column(
            name="comes_from", is_shown=False,
            read=lambda listed: ", ".join(write_plain(link.predecessor) for link in listed.lineage.preceding(listed.model)) or None,
        ),
        Column(name="deprecated", read=lambda listed: find_deprecation(listed.lineage, listed.model) is not None, is_shown=False),
        Column(name="claims", read=lambda listed: listed.claims, is_number=True),
        Column(name="audited", read=lambda listed: listed.audited, is_number=True),
        Column(name="outcomes", read=lambda listed: _count_outcomes(listed) or None),
    )  # fmt: skip


def _count_outcomes(listed: ListedVersion) -> str:
    return ", ".join(f"{get_words(verdict)} {number:,}" for verdict, number in listed.outcomes.items())


def present_version(page: VersionPage) -> Answer:
    """Present one model version."""
    return Answer(to_document(page), _list_version_blocks(page))


def _list_version_blocks(page: VersionPage) -> Iterator[Block]:
    """Yield one model version as a person reads it."""
    model, version, counts = page.model, page.registered, page.claims
    yield Title(str(model))
    claims = f"{counts.current}, of which {counts.audited} audited, {counts.needs_review} to review, {counts.stale} stale"
    rows = [
        ("registered", "yes" if version else f"no; only claims name it. caveat model add {write_model(model)} registers it"),
        ("released", str(version.released) if version and version.released else "not stated"),
        *((("note", version.note),) if version and version.note else ()),
        *(("comes from", f"{link.predecessor}, {name_descent(link.descent)}, entry {link.entry}") for link in page.comes_from),
        # A single ancestor is the predecessor, which has its own row.
        *((("ancestors", ", ".join(map(str, page.ancestors))),) if len(page.ancestors) > 1 else ()),
        *(("followed by", f"{link.model}, {name_descent(link.descent)}, entry {link.entry}") for link in page.followed_by),
        *((("newest", ", ".join(map(str, page.newest))),) if page.newest else ()),
        ("deprecated", _describe_deprecation(page.deprecation)),
        *_list_endpoints(page),
        ("claims", claims + (f"; {counts.ended} more withdrawn, rejected or superseded" if counts.ended else "")),
    ]
    yield Facts(rows)
    statements: list[Recorded[Any]] = [*page.events, *page.endpoint_statements]
    # Events and endpoint statements in one order, that of the log.
    for recorded in sorted(statements, key=lambda recorded: recorded.entry.seq):
        payload, entry = recorded.payload, recorded.entry
        text = _describe_endpoint(payload) if isinstance(payload, ModelEndpoint) else describe(payload)
        yield f"  entry {entry.seq}, {entry.at:%Y-%m-%d}, {entry.actor}: {text}"
    if counts.needs_review + counts.stale:
        yield f"\nNext: caveat stale list --model {write_model(model)}"


def present_endpoint(
    model: ModelRef, name: str, done: "EndpointStatement", names: Sequence[EndpointName], *, is_retracted: bool
) -> Iterator[Block]:
    """Present what `caveat model endpoint` recorded, and which names the version has now."""
    sentence = f"Recorded, entry {done.entry}" if done.is_new else f"Nothing changes, it is on record as entry {done.entry}"
    what = f"{name} is no longer stated for {model}" if is_retracted else f"endpoints return {model} as {name}"
    yield f"{sentence}: {what}."
    yield f"Its endpoint names: {', '.join(endpoint_name.name for endpoint_name in names) or 'none'}."


def _describe_endpoint(endpoint: ModelEndpoint) -> str:
    verb = "states" if endpoint.event is EndpointEventKind.STATE else "retracts"
    return f"{verb} the endpoint name {endpoint.name}: {endpoint.reason}{f' ({endpoint.source})' if endpoint.source else ''}"


def _list_endpoints(page: VersionPage) -> Iterator[tuple[str, str]]:
    """Give a row for each endpoint name in force, with who states it and which other version it is stated for."""
    if not page.endpoint_names:
        # Without a stated name no response can be shown to come from this version.
        yield "endpoint name", "none stated: no outcome can show that it was asked"
    for name in page.endpoint_names:
        others = [
            f"{endpoint_conflict.model} (by {', '.join(endpoint_conflict.by)})"
            for endpoint_conflict in page.endpoint_conflicts
            if endpoint_conflict.name == name.name
        ]
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
    by_model: Mapping[ModelRef, ListedVersion]
    lineage: "Lineage"
    grown: set[ModelRef] = field(default_factory=set)
    """Versions that stand in a tree."""

    def grow(self, root: ModelRef) -> Branch:
        """Return the tree of *root*; a version never is below itself."""
        return self._branch(root, None, ())

    def _branch(self, model: ModelRef, link: ModelLink | None, path: tuple[ModelRef, ...], *, is_repeated: bool = False) -> Branch:
        """Return *model* with what follows it; *path* is what it comes from, the root first."""
        note, following = self._describe(model, link), self.lineage.following(model)
        if is_repeated:
            return Branch(str(model), f"{note}  and what follows, as above" if following else note)
        self.grown.add(model)
        below = [
            # What follows a version is listed once: branches that meet again would double the list
            # each time.
            self._branch(next_link.model, next_link, (*path, model), is_repeated=next_link.model in self.grown)
            for next_link in following
            # A cycle can only come with another registry's log; it must not loop for ever.
            if next_link.model not in (*path, model)
        ]
        return Branch(str(model), note, tuple(below))

    def _describe(self, model: ModelRef, link: ModelLink | None) -> str:
        listed, deprecated = self.by_model.get(model), self.lineage.deprecation(model)
        version = listed.registered if listed else None
        remarks = (version and version.note, listed.notes.get(link.entry) if listed and link else None)
        parts = [
            f"  {name_descent(link.descent)}" if link else "",
            f"  released {version.released}" if version and version.released else "",
            f"  deprecated{f', offered until {deprecated.on}' if deprecated.on else ''}" if deprecated else "",
            *(f"  ({note})" for note in remarks if note),
            "" if version or listed is None else "  not registered",
            f"  {_describe_claims(listed)}" if listed else "",
        ]
        return "".join(parts)


def _describe_claims(listed: ListedVersion) -> str:
    """Return how many claims are about a version, and their outcomes."""
    if not listed.claims:
        return "no claims"
    number = "1 claim" if listed.claims == 1 else f"{listed.claims:,} claims"
    unaudited = listed.claims - listed.audited
    counts = [_count_outcomes(listed), f"not audited {unaudited:,}" if unaudited else ""]
    return f"{number}: {', '.join(filter(None, counts))}"


def find_deprecation(lineage: "Lineage", model: ModelRef) -> Deprecation | None:
    """Return the deprecation of *model* that is in force; None where it is offered."""
    event, entry = lineage.deprecation(model), lineage.deprecation_entry(model)
    return None if event is None or entry is None else Deprecation(on=event.on, reason=event.reason, entry=entry)


def _describe_deprecation(deprecation: Deprecation | None) -> str:
    if deprecation is None:
        return "no"
    until = f"offered until {deprecation.on}: " if deprecation.on else ""
    return f"yes, entry {deprecation.entry}: {until}{deprecation.reason}"


def _describe_affected(aftermath: "Aftermath") -> str:
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
        return f"{claims} about {link.predecessor}; for each of them a person decided that it still holds."
    number = "1 claim" if len(stale.claims) == 1 else f"{len(stale.claims):,} claims"
    before = len(stale.claims) - aftermath.newly
    them = "it" if len(stale.claims) == 1 else f"{before:,} of them"
    stood = f"; {them} had other reasons already" if before else ""
    until = f"None applies to {link.model} until you apply it to that version and audit it."
    return f"\n{number} about {link.predecessor} may no longer hold{stood}. {until}"


def _present_stale(aftermath: "Aftermath") -> Iterator[Block]:
    yield f"  by property class: {_count(aftermath.classes)}\n  by card: {_count(aftermath.cards)}\n"
    for outcome in aftermath.first:
        yield f"{outcome.claim.claim}@{outcome.claim.revision}  {name_outcome(outcome)}; ED {_list_differentials(outcome)}"
        yield f"  “{shorten(outcome.claim.quote)}”" if outcome.claim.quote is not None else "  (text erased)"
    more = len(aftermath.stale.claims) - len(aftermath.first)
    if more:
        yield f"… and {more:,} more."


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
        f"caveat stale list --model {old}",
        f'caveat stale apply --all-from {old} --to {new} --reason "…"',
        f"caveat stale renew --model {new} --ask NAME -o DIR",
        "caveat report --stale -o DIR",
    ]
