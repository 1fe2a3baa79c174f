"""How claims look in a terminal and as JSON; shared by the groups that show claims."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from rich.console import Console
from rich.table import Table

from registry.cli.output import build_table, show
from registry.codec.documents import to_document
from registry.completeness import check_claim, count_missing
from registry.records.claim import ClaimRevision, Origin
from registry.records.claim_status import ContestationState, ReviewedCause, StaleCause, Staleness, StalenessReview, StalenessVerdict, Status
from registry.records.dossier import AuditFile, ContestationFile, Dossier, Recorded
from registry.records.model_version import ModelRef
from registry.records.replay_run import describe_runs
from registry.records.system_card import MatchResult, PassageMatch
from registry.records.verdict import ItemStatus
from registry.report.asking import find_asked_of_claim, tell_asked
from registry.report.assemble import assemble_claim
from registry.report.checklist import format_missing
from registry.report.contested import describe_state
from registry.report.families import describe_outcome, describe_subject
from registry.report.three_figures import describe_three_figures
from registry.report.wording import get_words
from registry.store.summary import ClaimSummary

_WIDEST_QUOTE = 70
_MARKS = {ItemStatus.REPORTED: "■", ItemStatus.MISSING: "☐", ItemStatus.NOT_APPLICABLE: "–"}


def summarise_claim(one: ClaimSummary) -> dict[str, Any]:
    """Return a claim of a listing as a document."""
    return to_document(one)


def build_claim_table(claims: Sequence[ClaimSummary]) -> Table:
    """Return a listing of claims, one line each."""
    rows = [
        (name, one.form.value, _describe_short(one.status, name), shorten(one.quote or "(text erased)"))
        for name, one in ((f"{each.claim}@{each.revision}", each) for each in claims)
    ]
    return build_table(("claim", "form", "status", "quote"), rows)


def describe_form(claim: ClaimRevision) -> str:
    """Return form, relation and threshold in a few words."""
    if claim.relation is None:
        return claim.form.value.replace("_", " ")
    theta = "θ not published" if claim.theta is None else f"θ = {claim.theta:g}"
    return f"{claim.form.value.replace('_', ' ')} {claim.relation.value} ({theta})"


def describe_status(status: Status) -> str:
    """Return the four axes in the order in which they are always told."""
    axes = (status.lifecycle, status.dispute, status.staleness)
    return " · ".join([*(_words(one.value) for one in axes), get_words(status.restriction)])


def print_dossier(console: Console, dossier: Dossier) -> None:
    """Print one claim, its passage, and what became of it."""
    if not dossier.revisions:
        console.print(f"{dossier.claim} is reserved and has no text yet. Next: caveat claim add FILE, with `id: {dossier.claim}`")
        return
    recorded = dossier.current
    claim, status = recorded.payload, dossier.status
    console.print(show(f"{claim.reference}#{recorded.entry.leaf[:16]}"), style="bold")
    console.print(show(f"  {claim.quote_status.value}: “{claim.quote}”"))
    rows = [
        ("model", str(claim.model)),
        ("form", describe_form(claim)),
        ("property", f"{claim.property}  {claim.direction.value.replace('_', ' ')}"),
        *_list_figures(dossier),
        ("card", _describe_place(claim)),
        ("status", describe_status(status)),
        *(("outcome", line) for line in _list_outcomes(dossier)),
        *((("differs from its words", claim.mismatch_reason),) if claim.mismatch_reason else ()),
        *((("adopted from", _describe_origin(claim.origin)),) if claim.origin else ()),
        *_list_carried(dossier),
        *(("stale because", _describe_cause(dossier, one)) for one in status.causes),
        *(("dismissed", told) for told in _list_dismissed(dossier)),
        *(("contested", _describe_contestation(one)) for one in dossier.contestations),
        *((("superseded by", status.superseded_by),) if status.superseded_by else ()),
        ("revisions", str(len(dossier.revisions))),
    ]
    console.print(build_table(("", ""), rows))
    _print_completeness(console, dossier)
    _print_sightings(console, dossier)
    models = {one.payload.reference: one.payload.model for one in dossier.revisions}
    for file in dossier.audits:
        earlier = models.get(file.audit.payload.claim, claim.model)
        _print_audit(console, file, None if earlier == claim.model else earlier)
        _print_asked(console, dossier, file)


def _list_outcomes(dossier: Dossier) -> Iterator[str]:
    """Yield the outcomes of the claim's family, the one that leads first, then those of other claims on the same words."""
    family = dossier.family
    if family.gravest is None:
        yield "not audited"
    for one in family.outcomes:
        history = f"; history: {one.other_words} has other words in this place" if one.other_words else ""
        yield f"{describe_outcome(one)}, {one.audit}{history}"
    for one in family.others:
        yield f"another claim on these words: {describe_outcome(one)}, about {describe_subject(one)}"


def _describe_origin(origin: Origin) -> str:
    return f"{origin.claim} in the log {origin.log}, entry {origin.seq}, entry hash {origin.leaf}"


def _print_completeness(console: Console, dossier: Dossier) -> None:
    """Print what the claim states of how its figure came about; what is missing is no fault of the registration."""
    items = check_claim(dossier)
    missing, applying = count_missing(items)
    count = format_missing(missing, applying=applying, total=len(items))
    console.print(f"\nstated of the figure: {count}", style="bold")
    for one in items:
        console.print(f"  {_MARKS[one.status]} {one.item.value.replace('-', ' ')}: {one.note}")


def _print_sightings(console: Console, dossier: Dossier) -> None:
    current = dossier.current.payload.reference
    found = [one.payload for one in dossier.sightings if one.payload.claim == current]
    if found:
        console.print("\nin other revisions of its card", style="bold")
    for one in found:
        place = ", ".join(part for part in (f"page {one.anchor.page}" if one.anchor and one.anchor.page else "", _quote(one)) if part)
        fate = f"reworded in spelling alone ({'; '.join(one.differs)})" if one.differs else one.fate.value
        console.print(f"  {one.card}: {fate}{f', {place}' if place else ''}")


def _quote(one: PassageMatch) -> str:
    """Return the passage as it is worded there; empty where it has the same words, or is gone."""
    return f"“{shorten(one.anchor.exact)}”" if one.anchor and one.fate is MatchResult.REWORDED and not one.differs else ""


def _print_audit(console: Console, file: AuditFile, earlier: ModelRef | None) -> None:
    """Print an audit; of one that is about an *earlier* version it is said that it speaks of that alone."""
    audit = file.audit.payload
    locked = f"locked {file.lock.entry.at:%Y-%m-%d}" if file.lock else "no lock"
    locked += f", under the rival of {audit.contestation}" if audit.contestation else ""
    console.print(
        show(f"\naudit {audit.audit} of {audit.claim} by {audit.auditor} ({_words(audit.independence.value)}, {locked})"), style="bold"
    )
    if earlier is not None:
        console.print(f"  it speaks of {earlier} alone")
    if file.lock and (told := describe_runs(file.history)):
        console.print(show(f"  {told}"))
    if not file.restrictions:
        console.print("  no outcome recorded yet")
        return
    outcome = file.restrictions[-1].payload
    console.print(show(f"  {outcome.text.verdict}"))
    console.print(show(f"  restricted claim: {outcome.text.restricted}"))


def _print_asked(console: Console, dossier: Dossier, file: AuditFile) -> None:
    """Print the caution on who was asked, where the outcome of *file* needs one."""
    then = file.restrictions[-1].payload.asked if file.restrictions else None
    if caution := tell_asked(find_asked_of_claim(dossier, file), then):
        console.print(show(f"  who was asked: {caution}"))


def _list_carried(dossier: Dossier) -> Iterator[tuple[str, str]]:
    """Yield the last revision by which the claim came to another model version, with its reason."""
    pairs = list(pairwise(one.payload for one in dossier.revisions))
    carried = [after for before, after in pairs if before.model != after.model]
    if carried:
        yield "carried", f"@{carried[-1].revision}, {(carried[-1].why or '').removeprefix('carried ')}"


def _describe_cause(dossier: Dossier, cause: StaleCause) -> str:
    """Return a cause in its sentence, with the decision of a person that it counts."""
    said = _find_review(dossier, cause)
    is_confirmed = said is not None and said.entry.seq > cause.entry and said.payload.verdict is StalenessVerdict.CONFIRMED
    return cause.text + (f"; confirmed, entry {said.entry.seq}: {said.payload.why}" if said and is_confirmed else "")


def _list_dismissed(dossier: Dossier) -> Iterator[str]:
    """Yield the causes that a person dismissed last, each with the decision."""
    current = dossier.current.payload.reference
    last = {cause: one for one in dossier.reviews if one.payload.claim == current for cause in one.payload.causes}
    counting = {(one.kind, one.what) for one in dossier.status.causes}
    for cause, one in last.items():
        if one.payload.verdict is StalenessVerdict.DISMISSED and (cause.kind, cause.what) not in counting:
            yield f"{cause.kind.value} {cause.what}, entry {one.entry.seq}: {one.payload.why}"


def _find_review(dossier: Dossier, cause: StaleCause) -> Recorded[StalenessReview] | None:
    named, current = ReviewedCause(kind=cause.kind, what=cause.what), dossier.current.payload.reference
    return next((one for one in reversed(dossier.reviews) if one.payload.claim == current and named in one.payload.causes), None)


def _list_figures(dossier: Dossier) -> list[tuple[str, str]]:
    """The figures of card, replayed evaluation and deployment, in one unit; the card's alone without a replay."""
    supplement = assemble_claim(dossier, made_at=dossier.current.entry.at)
    if supplement.figures is None:
        return [("card reports", "no figure")]
    return describe_three_figures(supplement.figures)


def _describe_place(claim: ClaimRevision) -> str:
    if claim.card is None:
        return f"none registered; source: {claim.source or 'not stated'}"
    if claim.anchor is None:
        return f"{claim.card}, not anchored (paraphrase)"
    page = f", page {claim.anchor.page}" if claim.anchor.page else ""
    return f"{claim.card}{page}, characters {claim.anchor.start} to {claim.anchor.stop}, found at {claim.anchor.level.value}"


def _describe_contestation(file: ContestationFile) -> str:
    said = file.contestation.payload
    words = "answered" if file.state is ContestationState.ANSWERED else describe_state(file)
    step = f"{words}: {file.events[-1].payload.note}" if file.events else "no answer yet"
    return f"{said.contestation} of {said.target} by {said.by}: {said.grounds} ({step})"


def _describe_short(status: Status, reference: str) -> str:
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
    """Return *text* on one line, cut at 70 characters with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST_QUOTE else f"{line[: _WIDEST_QUOTE - 1]}…"
