"""Claims in a terminal and as JSON: lists, dossiers, objections, stale claims and drift over model versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from registry.cli.spec_presenter import compare_specs, present_changes
from registry.codec.canonical_documents import to_document
from registry.completeness import check_claim, count_missing
from registry.exchange.foreign_claims import ForeignClaim
from registry.present.answers import Answer
from registry.present.blocks import Block, Facts, Subtitle, Table, Title
from registry.present.listings import Column
from registry.records.claim import ClaimRevision, Origin
from registry.records.claim_status import ObjectionState, ReviewedCause, StaleCause, Staleness, StalenessReview, StalenessVerdict, Status
from registry.records.dossier import AuditFile, Dossier, ObjectionFile, Recorded
from registry.records.estimates import BoundedEstimate, Differential, SpecEstimate
from registry.records.model_version import ModelRef
from registry.records.replay_run import describe_runs
from registry.records.specification import PropertySpec
from registry.records.supplement import Drift, DriftStep, VersionPoint
from registry.records.system_card import MatchLevel, MatchResult, PassageMatch
from registry.records.verdict import ItemStatus, ReadingVerdict, Verdict
from registry.registration.claims_file_registration import RegistrationResult
from registry.registration.objections import get_objection
from registry.report.claim_outcome import (
    describe_counted_restricted,
    describe_counted_verdict,
    describe_identity,
    describe_outcome,
    describe_subject,
    describe_three_figures,
    find_claim_identity,
    find_leading,
)
from registry.report.minimum_reporting import format_missing
from registry.report.number_format import format_level, format_number, format_range, format_signed
from registry.report.quoted_text import strip_markup
from registry.report.status_account import describe_state, name_actor
from registry.report.supplement_assembly import assemble_claim
from registry.report.supplement_wording import DESIGN_RULE, FIXED_CONTEXTS_KEY, get_words
from registry.report.version_drift import name_versions
from registry.store.claim_listing import ClaimSummary

if TYPE_CHECKING:
    from registry.store.registry_view import View

# Claims in a terminal and as JSON.

_WIDEST_QUOTE = 70
_DIFFERENCES = {
    MatchLevel.N1: "white space",
    MatchLevel.N2: "quotation marks and dashes",
    MatchLevel.N3: "hyphens at line ends",
    MatchLevel.N4: "markup",
    MatchLevel.N5: "a footnote mark or page number",
    MatchLevel.N6: "letter spacing",
}
"""By level of a match, the last normalisation that it needed."""
_MARKS = {ItemStatus.REPORTED: "■", ItemStatus.MISSING: "☐", ItemStatus.NOT_APPLICABLE: "–"}


def build_claim_table(claims: Sequence[ClaimSummary], logs: Sequence[str] = (), *, alike: Sequence[str | None]) -> Table:
    """Return a listing of claims, one line each.

    Args:
        logs: the name of the log of each claim, which then comes first.
        alike: as `describe_alike` gives it, for each claim.
    """
    rows = [
        (
            name,
            claim.form.value,
            describe_short(claim.status, name),
            ": ".join(filter(None, (words, shorten(claim.quote or "(text erased)")))),
        )
        for claim, words, name in ((claim, words, f"{claim.claim}@{claim.revision}") for claim, words in zip(claims, alike, strict=True))
    ]
    columns = ("claim", "form", "verdict", "quote")
    return Table(("log", *columns), [(log, *row) for log, row in zip(logs, rows, strict=True)]) if logs else Table(columns, rows)


def describe_form(claim: ClaimRevision) -> str:
    """Return form, relation and threshold in a few words."""
    if claim.relation is None:
        return claim.form.value.replace("_", " ")
    theta = "θ not published" if claim.theta is None else f"θ = {claim.theta:g}"
    return f"{claim.form.value.replace('_', ' ')} {claim.relation.value} ({theta})"


def describe_status(status: Status) -> str:
    """Return the four axes in the order in which they are always shown."""
    axes = (status.lifecycle, status.dispute, status.staleness)
    return " · ".join([*(_words(axis.value) for axis in axes), get_words(status.restriction)])


def present_dossier(dossier: Dossier) -> Iterator[Block]:
    """Present one claim, its passage, and its outcome."""
    # A reserved identifier has nothing else to show, and one next step.
    if not dossier.revisions:
        yield f"{dossier.claim} is reserved and has no text yet. Next: caveat claim add FILE, with `id: {dossier.claim}`"
        return
    recorded = dossier.current
    claim, status = recorded.payload, dossier.status
    yield Title(f"{claim.reference}#{recorded.entry.leaf[:16]}")
    # Said before anything is planned; with a verdict there is nothing left to plan.
    if needs_verdict(dossier):
        yield f"{DESIGN_RULE} With one context on a side, plan `{FIXED_CONTEXTS_KEY}`: a verdict conditional on these contexts."
    # A quotation from a PDF has the line ends of its page.
    yield f"  {claim.quote_status.value}: “{' '.join(claim.quote.split())}”"
    rows = [
        ("model", str(claim.model)),
        ("form", describe_form(claim)),
        ("property", _describe_property(dossier)),
        *_list_figures(dossier),
        ("card", _describe_place(claim)),
        ("status", describe_status(status)),
        *(("outcome", line) for line in _list_outcomes(dossier)),
        *((("differs from its words", claim.mismatch_reason),) if claim.mismatch_reason else ()),
        *((("adopted from", _describe_origin(claim.origin)),) if claim.origin else ()),
        *_list_applied(dossier),
        *(("stale because", _describe_cause(dossier, cause)) for cause in status.causes),
        *(("dismissed", text) for text in _list_dismissed(dossier)),
        *(("contested", _describe_objection(objection)) for objection in dossier.objections),
        *((("superseded by", status.superseded_by),) if status.superseded_by else ()),
        ("revisions", str(len(dossier.revisions))),
    ]
    yield Facts(rows)
    yield from _present_completeness(dossier)
    yield from _present_passage_matches(dossier)
    models = {revision.payload.reference: revision.payload.model for revision in dossier.revisions}
    for file in dossier.audits:
        # An audit of an earlier model version says so: its outcome is not about the present one.
        earlier = models.get(file.audit.payload.claim, claim.model)
        yield from _present_audit(dossier, file, None if earlier == claim.model else earlier)
        yield from _present_identity(dossier, file)


def needs_verdict(dossier: Dossier) -> bool:
    """Whether the claim has no verdict, or an inconclusive one, so that another audit may be planned."""
    gravest = dossier.family.gravest
    return gravest is None or gravest.verdict is Verdict.INCONCLUSIVE


def _list_outcomes(dossier: Dossier) -> Iterator[str]:
    """Yield the outcomes of the claim's family, the one that leads first, then those of other claims on the same words."""
    family = dossier.family
    # Outcomes of other claims on the same words may follow, so this is said and not the end.
    if family.gravest is None:
        yield "not audited"
    for outcome in family.outcomes:
        history = f"; history: {outcome.other_words} has other words in this place" if outcome.other_words else ""
        yield f"{describe_outcome(outcome)}, {outcome.audit}{history}"
    for outcome in family.others:
        yield f"another claim on these words: {describe_outcome(outcome)}, about {describe_subject(outcome)}"


def _describe_origin(origin: Origin) -> str:
    return f"{origin.claim} in the log {origin.log}, entry {origin.seq}, entry hash {origin.leaf}"


def _present_completeness(dossier: Dossier) -> Iterator[Block]:
    """Present what the claim states of how its figure came about; what is missing is no fault of the registration."""
    items = check_claim(dossier)
    missing, applying = count_missing(items)
    count = format_missing(missing, applying=applying, total=len(items))
    yield Subtitle(f"stated of the figure: {count}")
    for item in items:
        yield f"  {_MARKS[item.status]} {item.item.value.replace('-', ' ')}: {item.note}"


def _present_passage_matches(dossier: Dossier) -> Iterator[Block]:
    current = dossier.current.payload.reference
    matches = [passage_match.payload for passage_match in dossier.passage_matches if passage_match.payload.claim == current]
    if matches:
        yield Subtitle("in other revisions of its card")
    for match in matches:
        place = ", ".join(
            part for part in (f"page {match.anchor.page}" if match.anchor and match.anchor.page else "", _quote(match)) if part
        )
        match_result = f"reworded only in spelling ({'; '.join(match.differs)})" if match.differs else match.match_result.value
        yield f"  {match.card}: {match_result}{f', {place}' if place else ''}"


def _quote(passage_match: PassageMatch) -> str:
    """Return the passage as it is worded there; empty where it has the same words, or is gone."""
    return (
        f"“{shorten(passage_match.anchor.exact)}”"
        if passage_match.anchor and passage_match.match_result is MatchResult.REWORDED and not passage_match.differs
        else ""
    )


def _present_audit(dossier: Dossier, file: AuditFile, earlier: ModelRef | None) -> Iterator[Block]:
    """Present an audit; of one that is about an *earlier* version it says that it applies only to that."""
    audit = file.audit.payload
    locked = f"locked {file.lock.entry.at:%Y-%m-%d}" if file.lock else "no lock"
    locked += f", under the rival of {audit.objection}" if audit.objection else ""
    yield Subtitle(f"audit {audit.audit} of {audit.claim} by {audit.auditor} ({_words(audit.independence.value)}, {locked})")
    if earlier is not None:
        yield f"  it applies only to {earlier}"
    if file.lock and (runs := describe_runs(file.history)):
        yield f"  {runs}"
    if file.withdrawn:
        yield f"  withdrawn {file.withdrawn.entry.at:%Y-%m-%d}, entry {file.withdrawn.entry.seq}: {file.withdrawn.payload.reason}"
    if not file.restrictions:
        yield "  no outcome" if file.withdrawn else "  no outcome recorded yet"
        return
    outcome = file.restrictions[-1]
    yield f"  {describe_counted_verdict(dossier, outcome)}"
    yield f"  restricted claim: {describe_counted_restricted(dossier, outcome)}"


def _present_identity(dossier: Dossier, file: AuditFile) -> Iterator[Block]:
    """Present the caution on who was asked, where the outcome of *file* needs one."""
    then = file.restrictions[-1].payload.asked if file.restrictions else None
    if caution := describe_identity(find_claim_identity(dossier, file), then):
        yield f"  who was asked: {caution}"


def _list_applied(dossier: Dossier) -> Iterator[tuple[str, str]]:
    """Yield the last revision by which the claim came to another model version, with its reason."""
    pairs = list(pairwise(revision.payload for revision in dossier.revisions))
    # The last step counts: a claim may have been carried several times.
    applied = [after for before, after in pairs if before.model != after.model]
    if applied:
        yield "applied", f"@{applied[-1].revision}, {(applied[-1].why or '').removeprefix('applied ')}"


def _describe_cause(dossier: Dossier, cause: StaleCause) -> str:
    """Return a cause in its sentence, with the decision of a person that it counts."""
    review = _find_review(dossier, cause)
    # A decision from before the cause was recorded does not apply to it.
    is_confirmed = review is not None and review.entry.seq > cause.entry and review.payload.verdict is StalenessVerdict.CONFIRMED
    return cause.text + (f"; confirmed, entry {review.entry.seq}: {review.payload.why}" if review and is_confirmed else "")


def _list_dismissed(dossier: Dossier) -> Iterator[str]:
    """Yield the causes that a person dismissed last, each with the decision."""
    current = dossier.current.payload.reference
    # In log order, so the last decision on each cause stays.
    last = {cause: review for review in dossier.reviews if review.payload.claim == current for cause in review.payload.causes}
    counting = {(stale_cause.kind, stale_cause.what) for stale_cause in dossier.status.causes}
    for cause, staleness_review in last.items():
        # A dismissed cause that came back counts again, and is listed with the causes.
        if staleness_review.payload.verdict is StalenessVerdict.DISMISSED and (cause.kind, cause.what) not in counting:
            yield f"{cause.kind.value} {cause.what}, entry {staleness_review.entry.seq}: {staleness_review.payload.why}"


def _find_review(dossier: Dossier, cause: StaleCause) -> Recorded[StalenessReview] | None:
    named, current = ReviewedCause(kind=cause.kind, what=cause.what), dossier.current.payload.reference
    return next(
        (review for review in reversed(dossier.reviews) if review.payload.claim == current and named in review.payload.causes), None
    )


def _list_figures(dossier: Dossier) -> list[tuple[str, str]]:
    """The figures of card, replayed evaluation and deployment, in one unit; the card's alone without a replay."""
    # Figures come from the supplement itself, so that terminal and page one never differ.
    supplement = assemble_claim(dossier, made_at=dossier.current.entry.at)
    if supplement.figures is None:
        return [("card reports", "no figure")]
    return describe_three_figures(supplement.figures)


def _describe_property(dossier: Dossier) -> str:
    """Return name, identifier and safer direction of the claim's property; a row of a table says nothing without the name."""
    claim = dossier.current.payload
    versions = (recorded.payload for recorded in dossier.specs)
    body = next((version.body for version in versions if f"{version.spec}@{version.version}" == claim.property), None)
    name = f"{body.name} ({claim.property})" if isinstance(body, PropertySpec) else claim.property
    return f"{name}, {_words(claim.direction.value)}"


def _describe_place(claim: ClaimRevision) -> str:
    if claim.card is None:
        return f"none registered; source: {claim.source or 'not stated'}"
    if claim.anchor is None:
        return f"{claim.card}, not anchored (paraphrase)"
    page = f", page {claim.anchor.page}" if claim.anchor.page else ""
    level = claim.anchor.level
    match = f"the same but for {_DIFFERENCES[level]} ({level.value})" if level in _DIFFERENCES else "the same characters"
    return f"{claim.card}{page}, characters {claim.anchor.start} to {claim.anchor.stop}, {match}"


def _describe_objection(file: ObjectionFile) -> str:
    payload = file.objection.payload
    words = "answered" if file.state is ObjectionState.ANSWERED else describe_state(file)
    step = f"{words}: {file.events[-1].payload.note}" if file.events else "no answer yet"
    return f"{payload.objection} of {payload.target} by {payload.by}: {payload.grounds} ({step})"


def describe_short(status: Status, reference: str) -> str:
    """Return the outcome of the claim *reference* and what is unusual about its status, in a few words."""
    # Ordinary states are left out: a line shows what is unusual.
    flags = ["not audited" if status.gravest is None else describe_outcome(status.gravest, of=reference)]
    if status.beside is not None:
        flags.append(f"another claim on these words: {describe_outcome(status.beside)}")
    if status.lifecycle.value not in ("registered", "published"):
        flags.insert(0, status.lifecycle.value)
    if status.dispute.value != "undisputed":
        flags.append(status.dispute.value)
    if status.staleness.value != "current":
        flags.append("stale" if status.staleness is Staleness.STALE else "stale?")
    return ", ".join(flags)


def _words(text: str) -> str:
    return text.replace("_", " ")


def shorten(text: str) -> str:
    """Return *text* on one line and without markup, cut at 70 characters with an ellipsis."""
    line = " ".join(strip_markup(text).split())
    return line if len(line) <= _WIDEST_QUOTE else f"{line[: _WIDEST_QUOTE - 1]}…"


# A claims file that was registered.

_MOST = 20


def present_added(outcome: RegistrationResult, *, dry_run: bool) -> Answer:
    """Present a claims file that was registered: what was recorded, or would be."""
    document = {
        "schema": "caveat/claim-add/1",
        "dry_run": dry_run,
        "added": list(outcome.added),
        "revised": list(outcome.revised),
        "unchanged": outcome.unchanged,
        "restates": [{"claim": relation.claim, "other": relation.other} for relation in outcome.related],
        "excluded": {"added": outcome.excluded, "unchanged": outcome.excluded_unchanged},
        "proposed": None if outcome.proposed is None else {"added": outcome.proposed, "unchanged": outcome.proposed_unchanged},
    }
    return Answer(document, _list_added_blocks(outcome, dry_run=dry_run))


def _list_added_blocks(outcome: RegistrationResult, *, dry_run: bool) -> Iterator[Block]:
    """Yield what was recorded, or what would be, and the first references."""
    yield from _sentences(outcome, dry_run=dry_run)
    references = (*outcome.added, *outcome.revised)
    for reference in references[:_MOST]:
        yield f"  {reference}"
    if len(references) > _MOST:
        yield "  … caveat claim list shows them all"
    for relation in outcome.related[:_MOST]:
        yield f"  {relation.claim} restates {relation.other}"
    if len(outcome.related) > _MOST:
        yield f"  … and {len(outcome.related) - _MOST} more relations"


def _sentences(outcome: RegistrationResult, *, dry_run: bool) -> Iterator[str]:
    """Give a sentence for each thing that the file speaks of; claims always."""
    added = len(outcome.added)
    yield f"{_count(added, 'claim', dry_run=dry_run)} added, {len(outcome.revised)} revised, {outcome.unchanged} unchanged."
    if outcome.excluded or outcome.excluded_unchanged:
        yield f"{_count(outcome.excluded, 'passage', dry_run=dry_run)} excluded, {outcome.excluded_unchanged} unchanged."
    if outcome.proposed is not None:
        # Passages of a survey are counted apart from claims.
        count = _count(outcome.proposed, "proposed passage", dry_run=dry_run)
        yield f"{count} recorded, {outcome.proposed_unchanged} unchanged."


def _count(number: int, noun: str, *, dry_run: bool) -> str:
    verb = "would be" if dry_run else "was" if number == 1 else "were"
    return f"{number} {noun if number == 1 else f'{noun}s'} {verb}"


# Claims of other registries on the same passage.


def present_elsewhere(foreign_claims: Sequence[ForeignClaim]) -> Iterator[Block]:
    """Present one line for each claim of another log; nothing where there is none."""
    if foreign_claims:
        yield Subtitle("other registries on the same passage")
    for foreign_claim in foreign_claims:
        yield f"  {foreign_claim.origin}: {foreign_claim.claim} {_describe_foreign_claim(foreign_claim)}"
        # Two histories: what this log says here may not be what it says to others.
        if foreign_claim.is_doubtful:
            yield "    this log signed two histories: others may be shown another one (caveat admin log show)"


def _describe_foreign_claim(foreign_claim: ForeignClaim) -> str:
    if foreign_claim.status is None:
        return f"cannot be read here: {foreign_claim.problem}"
    if foreign_claim.outcome is None:
        return f"{foreign_claim.status.lifecycle.value} · no outcome recorded"
    flags = [] if foreign_claim.status.lifecycle.value in ("registered", "published") else [foreign_claim.status.lifecycle.value]
    flags += [] if foreign_claim.status.dispute.value == "undisputed" else [foreign_claim.status.dispute.value]
    suffix = "".join(f", {flag}" for flag in flags)
    return f"{describe_outcome(foreign_claim.outcome)}{suffix}, {foreign_claim.outcome.audit}"


# A claim over model versions.

_NUMBERS = ("Φ_test", "Φ_deploy", "ED")
_MOVED = ("ΔΦ_test", "ΔΦ_deploy", "ΔED")


def present_drift(drift: Drift) -> Iterator[Block]:
    """Present a line for each revision and specification, then how far the numbers moved."""
    names = dict(zip((point.claim for point in drift.points), name_versions(drift.points), strict=True))
    rows = [row for point in drift.points for row in _list_rows(point, names[point.claim])]
    yield Table(("version", "class", "against", *_NUMBERS), rows, numbers=_NUMBERS)
    levels = {point.level for point in drift.points if point.level is not None}
    if levels:
        yield f"intervals at {' and '.join(map(format_level, sorted(levels)))}"
    if len({point.model for point in drift.points}) == 1:
        yield "All outcomes are about one model version: there is nothing to compare."
    if drift.steps:
        yield from _present_steps(drift.steps, names)


def _list_rows(point: VersionPoint, name: str) -> Iterator[tuple[str, ...]]:
    version = f"{name}\n@{point.claim.rpartition('@')[2]}, entry {point.claim_entry.seq}"
    if not point.estimates:
        why = "not audited" if point.audit is None else "no estimate"
        yield (version, _describe_point(point), why, "–", "–", "–")
    for place, estimate in enumerate(point.estimates):
        first = ("", "") if place else (version, _describe_point(point))
        yield (*first, _name(estimate), *_write(point, estimate))


def _describe_point(point: VersionPoint) -> str:
    """Class, standing or mode, then who says so and where."""
    if point.class_ is None or point.outcome_entry is None:
        return "–"
    words = [get_words(item) for item in (point.class_, point.standing, point.mode) if item is not None]
    suggested = f", the point estimate suggests {get_words(point.point_class)}" if point.point_class else ""
    return f"{' · '.join(words)}{suggested}\n{point.audit}\n{point.auditor}, entry {point.outcome_entry.seq}"


def _name(item: SpecEstimate | DriftStep) -> str:
    return item.spec if item.judge is None else f"{item.spec}, judge {item.judge}"


def _write(point: VersionPoint, spec_estimate: SpecEstimate) -> tuple[str, str, str]:
    # No score is rounded across θ or an end of the range.
    lines = (*(point.range or ()), *(() if point.theta is None else (point.theta,)))
    margins = () if point.margin is None else (-point.margin, point.margin)
    return (
        _write_number(spec_estimate.phi_test, lines, signed=False),
        _write_number(spec_estimate.phi_deploy, lines, signed=False),
        _write_number(spec_estimate.ed, margins, signed=True),
    )


def _write_number(item: BoundedEstimate | Differential, lines: Sequence[float], *, signed: bool) -> str:
    value = (format_signed if signed else format_number)(item.value, against=lines)
    if item.low is None or item.high is None:
        return f"{value}\nno interval"
    return f"{value}\n{format_range(item.low, item.high, against=lines, signed=signed)}"


def _present_steps(steps: Sequence[DriftStep], names: dict[str, str]) -> Iterator[Block]:
    yield Subtitle("how far that moved, after − before")
    rows = [
        (
            f"{names[step.before]} → {names[step.after]}",
            _name(step),
            *(_write_number(number, (), signed=True) for number in (step.phi_test, step.phi_deploy, step.ed)),
            f"task by task, entry {step.finding.seq}" if step.finding else "only the two estimates",
        )
        for step in steps
    ]
    yield Table(("from, to", "against", *_MOVED, "compared"), rows, numbers=_MOVED)
    # The method is printed once, and not in every row.
    for method in dict.fromkeys(drift_step.ed.method for drift_step in steps if drift_step.ed.low is not None):
        yield f"intervals: {method}"
    yield from dict.fromkeys(drift_step.ed.reason for drift_step in steps if drift_step.ed.reason)


# Claims that may be stale, with what resolves each cause.

# An objection, with its rival and the replays under it.


REPLAYS = "replays under the rival"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectionPage:
    """An objection with everything that its page shows."""

    file: ObjectionFile
    changes: Sequence[dict[str, Any]] | None
    """From what is contested to the rival, field by field; None without a rival, or where `obstacle` says why not."""
    obstacle: str | None
    replays: Sequence[AuditFile]
    """Under the rival, in log order."""
    leading: dict[str, ReadingVerdict | None]
    """By claim revision that was replayed, the outcome that counts for it; None without one."""


def collect_objection(view: "View", name: str) -> ObjectionPage:
    """Return the objection *name* with its rival's differences and replays; raises NotFoundError."""
    file = get_objection(view, name)
    payload = file.objection.payload
    changes, obstacle = None, None
    # Claims are no specifications; their difference is not shown field by field.
    if payload.rival is not None and not payload.target.startswith("CLM-"):
        changes, obstacle = compare_specs(view, payload.target, payload.rival)
    files = [audit for replay in file.replays if (audit := view.find_audit(replay.payload.audit)) is not None]
    leading: dict[str, ReadingVerdict | None] = {}
    for claim in dict.fromkeys(audit_file.audit.payload.claim for audit_file in files):
        # The outcome that counts, by the same rules as on the claim's own page.
        outcome = find_leading(view.dossier(claim))[1]
        leading[claim] = outcome.payload.classification.primary if outcome else None
    return ObjectionPage(file=file, changes=changes, obstacle=obstacle, replays=files, leading=leading)


def list_objection_columns(*, is_all: bool) -> "tuple[Column[tuple[str, ObjectionFile]], ...]":
    """Return the columns of a list of objections, each with the name of its log; with *is_all* the log is shown."""
    return (
        Column(name="log", read=lambda row: row[0], is_shown=is_all),
        Column(name="objection", read=lambda row: row[1].objection.payload.objection),
        Column(name="of", read=lambda row: row[1].objection.payload.target),
        Column(name="by", read=lambda row: row[1].objection.payload.by),
        Column(name="opened", read=lambda row: row[1].objection.entry.at.date()),
        Column(
            name="state", read=lambda row: row[1].state,
            show=lambda row: f"{describe_state(row[1])}{'; with a rival' if row[1].objection.payload.rival else ''}",
        ),
        Column(name="rival", read=lambda row: row[1].objection.payload.rival, is_shown=False),
        Column(name="reason", read=lambda row: row[1].objection.payload.grounds, is_shown=False),
    )  # fmt: skip


def summarise_objection(file: ObjectionFile) -> dict[str, Any]:
    """Return an objection of a listing as a document."""
    objection = file.objection
    return {
        **to_document(objection.payload),
        "opened": to_document(objection.entry)["at"],
        "owner": file.owner,
        "state": file.state.value,
    }


def present_objection(objection_page: ObjectionPage) -> Answer:
    """Present an objection with its steps, its rival, and the replays under it."""
    steps = [{**to_document(event.payload), "by": event.entry.actor, "at": to_document(event.entry)["at"], "entry": event.entry.seq}
             for event in objection_page.file.events]  # fmt: skip
    document = {
        "schema": "caveat/objection-file/1",
        **summarise_objection(objection_page.file),
        "steps": steps,
        "changes": objection_page.changes,
        "not_compared": objection_page.obstacle,
        "replays": [_summarise_replay(replay, objection_page) for replay in objection_page.replays],
    }
    return Answer(document, _list_objection_blocks(objection_page))


def _list_objection_blocks(objection_page: ObjectionPage) -> Iterator[Block]:
    """Yield an objection as a person reads it."""
    file, objection = objection_page.file, objection_page.file.objection.payload
    yield Title(f"{objection.objection} contests {objection.target}: {describe_state(file)}")
    rows = [("owner", file.owner), ("by", f"{objection.by}, {file.objection.entry.at:%Y-%m-%d}, entry {file.objection.entry.seq}")]
    yield Facts([*rows, ("grounds", objection.grounds), ("rival", objection.rival or "none offered")])
    for step in file.events:
        to = f", to {step.payload.to}" if step.payload.to else ""
        head = f"{step.entry.at:%Y-%m-%d} {step.payload.step.value} by {name_actor(file, step.entry.actor)}{to}, entry {step.entry.seq}"
        yield f"{head}: {step.payload.note}"
    if objection.rival:
        yield Subtitle(f"from {objection.target} to its rival {objection.rival}")
        if objection_page.changes is not None:
            yield from present_changes(objection_page.changes)
        else:
            yield objection_page.obstacle or f"what is contested is a claim; see caveat spec show {objection.rival}"
        yield Subtitle(REPLAYS)
        for replay in objection_page.replays:
            yield _describe_replay(replay, objection_page)
        if not objection_page.replays:
            yield f"none; an audit file with `objection: {objection.objection}` makes one"


def describe_primary_outcome(primary: ReadingVerdict | None) -> str:
    """Return class, standing and mode of an outcome; `no outcome` without one."""
    if primary is None:
        return "no outcome"
    return " · ".join(part.value.replace("_", " ") for part in (primary.class_, primary.standing, primary.mode) if part)


def _describe_replay(file: AuditFile, objection_page: ObjectionPage) -> str:
    claim = file.audit.payload.claim
    here, counts = _find_primary(file), objection_page.leading[claim]
    beside = f"; what counts for the claim: {describe_primary_outcome(counts)}"
    return f"{file.audit.payload.audit} of {claim} by {file.audit.payload.auditor}: {describe_primary_outcome(here)}{beside}"


def _summarise_replay(file: AuditFile, objection_page: ObjectionPage) -> dict[str, Any]:
    audit, here, counts = file.audit.payload, _find_primary(file), objection_page.leading[file.audit.payload.claim]
    outcomes = {"outcome": to_document(here) if here else None, "counts": to_document(counts) if counts else None}
    return {"audit": audit.audit, "claim": audit.claim, "auditor": audit.auditor, **outcomes}


def _find_primary(file: AuditFile) -> ReadingVerdict | None:
    return file.restrictions[-1].payload.classification.primary if file.restrictions else None
