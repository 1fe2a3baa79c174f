"""One claim before and after: what changed, and the reasons and occasions of the change in sentences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from registry.codec.statement_encoding import list_entries
from registry.records.claim import ClaimEventKind, ClaimRevision
from registry.records.claim_status import CauseKind, StalenessReview, StalenessVerdict
from registry.records.dossier import AuditFile, Dossier, ObjectionFile, Recorded, Said
from registry.records.estimates import Estimate
from registry.records.model_version import Descent, ModelEvent, ModelEventKind, ModelVersion
from registry.records.statement import Entry
from registry.records.supplement import ClaimChange, ClaimState, Occasion, OccasionKind
from registry.records.verdict import ClaimClass, ReadingVerdict, Restriction, VerdictStanding
from registry.report.claim_outcome import (
    describe_counted_restricted,
    describe_counted_verdict,
    find_counted_standing,
    find_counted_trace,
    find_first_spec,
    find_leading,
    strip_models,
)
from registry.report.number_format import format_day
from registry.report.status_account import name_actor
from registry.report.supplement_wording import format_verdict, get_words, name_model
from registry.report.version_drift import build_steps

# Each sentence states one recorded fact and cites its entry. Reasons and grounds stand in quotation
# marks, because they are the words of whoever wrote them.

_LONGEST = 300
_MOST_KINDS = 6


def describe_change_reasons(before: Dossier | None, after: Dossier, entries: Sequence[Entry], *, since: int) -> tuple[str, ...]:
    """Return why the claim of *after* is described differently than in *before*, at least one sentence, the most important first.

    Args:
        before: None where the claim was not registered.
        entries: those in between that concern it.
        since: entries of the log that *before* was read from.
    """
    reasons = (
        *_describe_outcome(before, after, since),
        *_describe_revisions(after, since),
        *_describe_events(after, since),
        *(_cite(*step) for file in after.objections for step in describe_steps(file, since=since)),
        *_describe_causes(before, after),
        *(_cite(describe_review(review), review.entry) for review in after.reviews if review.entry.seq > since),
    )
    # Never empty: a claim listed as changed always has a reason, if only the kinds of its entries.
    return reasons or (_describe_rest(entries),)


def describe_steps(file: ObjectionFile, *, since: int) -> Iterator[tuple[str, Entry]]:
    """Yield what was recorded of an objection after entry *since*, a sentence without full stop each, with its entry."""
    payload = file.objection.payload
    if file.objection.entry.seq > since:
        yield (
            f"{payload.objection} was opened against {payload.target} by {payload.by}: {quote(payload.grounds)}",
            file.objection.entry,
        )
    for step in file.events:
        if step.entry.seq > since:
            who, to = name_actor(file, step.entry.actor), f", to {step.payload.to}" if step.payload.to else ""
            done = f"{payload.objection} against {payload.target} was {get_words(step.payload.step)} by {who}{to}"
            yield f"{done}: {quote(step.payload.note)}", step.entry


def describe_review(staleness_review: Recorded[StalenessReview]) -> str:
    """Return what was decided about changes that a claim may not have survived, without full stop."""
    # The causes are named as they were when the review was recorded; later ones are a new question.
    named = ", ".join(cause.what for cause in staleness_review.payload.causes)
    verb = "takes away what it rests on" if staleness_review.payload.verdict is StalenessVerdict.CONFIRMED else "does not touch it"
    return f"{staleness_review.entry.actor} decided that {named} {verb}: {quote(staleness_review.payload.why)}"


def describe_revision(before: ClaimRevision, after: Recorded[ClaimRevision], *, is_brief: bool = False) -> str:
    """Return what a revision of a claim is about, without full stop.

    Args:
        is_brief: of one about another model version, only that version; the supplement of *after* has the reason that was given.
    """
    payload = after.payload
    done, why = f"Revision {payload.revision} was recorded", payload.why or ""
    if payload.model != before.model and is_brief:
        return f"Applied to another version, {name_model(payload.model)}"
    if payload.model != before.model:
        done = f"Revision {payload.revision} applies it from {name_model(before.model)} to {name_model(payload.model)}"
        # The reason of an applied claim begins with both models, so they are not repeated.
        why = strip_models(why, before.model, payload.model)
    if payload.card != before.card and payload.card is not None:
        done += f", and quotes {payload.card}"
    return f"{done}: {quote(why)}"


def quote(text: str) -> str:
    """Return a written text in quotation marks, on one line; what is longer than a few lines is cut, which shows."""
    folded = " ".join(text.split())
    return f"“{folded}”" if len(folded) <= _LONGEST else f"“{folded[:_LONGEST].rstrip()} …”"


_SUGGESTS = {
    ClaimClass.STABLE: "that the claim holds",
    ClaimClass.DEGRADED: "that it does not carry over",
    ClaimClass.INVERTED: "that it is contradicted",
}


def describe_verdict_of(reading: ReadingVerdict, standing: VerdictStanding | None) -> str:
    """Return the verdict, how firm it is now (*standing*), and what the point estimate suggests, where that is printed."""
    suggested = _SUGGESTS.get(reading.printed_point_class) if reading.printed_point_class else None
    words = format_verdict(reading.verdict, standing)
    return f"{words} (the point estimate suggests {suggested})" if suggested else words


def _describe_outcome(before: Dossier | None, after: Dossier, since: int) -> Iterator[str]:
    if before is None:
        yield f"It was registered in between, on {format_day(after.revisions[0].entry.at)} (entry {after.revisions[0].entry.seq})."
    # Read from the older dossier, under the rules and the day of that reading.
    then = find_leading(before)[1] if before else None
    file, now = find_leading(after)
    if now is None or file is None:
        if then is not None:
            reference = after.current.payload.reference
            # An outcome belongs to the revision that was audited, so none comes along with a new
            # one.
            yield f"No audit of {reference} has an outcome; the outcome for {then.payload.claim} does not apply to it."
        return
    # The same entry leads as before, so the outcome is no reason.
    if then is not None and then.entry == now.entry:
        return
    primary, opening = now.payload.classification.primary, file.audit.payload
    came = f"to {describe_verdict_of(primary, find_counted_standing(after, now))}, by {get_words(primary.basis)}"
    if now.entry.seq > since:
        who = f"{opening.auditor} ({get_words(opening.independence)})"
        yield _cite(f"Audit {opening.audit} of {opening.claim} by {who} came {came}", now.entry)
    # An older outcome can begin to lead, for example when its objection was upheld or a graver
    # one expired.
    else:
        yield _cite(f"Audit {opening.audit} counts now; it had come {came} before", now.entry)


def _describe_revisions(after: Dossier, since: int) -> Iterator[str]:
    """Yield the revisions that came, the last first: that is the one which is told."""
    # A later revision replaces what an earlier one said, so it comes first.
    pairs = list(zip(after.revisions, after.revisions[1:], strict=False))
    for earlier, later in reversed(pairs):
        if later.entry.seq > since:
            yield _cite(describe_revision(earlier.payload, later), later.entry)


def _describe_causes(before: Dossier | None, after: Dossier) -> Iterator[str]:
    """Yield what may have taken away what the claim rests on since, then what no longer counts as that.

    That it was revised is told by its revisions; what a person dismissed, by the review.
    """
    known = {(stale_cause.kind, stale_cause.what): stale_cause for stale_cause in before.status.causes} if before else {}
    now = {(stale_cause.kind, stale_cause.what): stale_cause for stale_cause in after.status.causes}
    for name, cause in now.items():
        if name not in known and cause.kind is not CauseKind.REVISION:
            yield f"{cause.text[:1].upper()}{cause.text[1:]} (entry {cause.entry})."
    # A revision drops causes by itself. Only an unrevised claim can be said to have lost one.
    same = before is not None and before.current.entry == after.current.entry
    reviewed = {(cause.kind, cause.what) for review in after.reviews for cause in review.payload.causes}
    for name, cause in known.items():
        # A dismissed cause is explained by its review, which names the person.
        if same and name not in now and name not in reviewed and cause.kind is not CauseKind.REVISION:
            yield f"This reason against it no longer applies: {cause.text}."


def _describe_events(after: Dossier, since: int) -> Iterator[str]:
    for event in after.events:
        # A reservation comes before the first revision and changes nothing that a supplement
        # prints.
        if event.entry.seq > since and event.payload.event is not ClaimEventKind.RESERVE:
            by = f" by {event.payload.successor}" if event.payload.successor else ""
            reason = f": {quote(event.payload.reason)}" if event.payload.reason else ""
            yield _cite(f"It was {get_words(event.payload.event)}{by}{reason}", event.entry)


def _describe_rest(entries: Sequence[Entry]) -> str:
    """Name what was recorded by its kind alone: nothing of it changed where the claim stands."""
    if not entries:
        return "An earlier version of Caveat described the sources of its supplement differently; no entry of its own was added since."
    kinds = Counter(entry.kind.replace("_", " ") for entry in entries)
    listed = [f"{count} × {kind}" if count > 1 else kind for kind, count in kinds.items()]
    left = f" and {len(listed) - _MOST_KINDS} more kinds" if len(listed) > _MOST_KINDS else ""
    where = f"entry {entries[0].seq}" if len(entries) == 1 else f"entries {entries[0].seq} to {entries[-1].seq}"
    return f"Recorded of it since, in {where}: {', '.join(listed[:_MOST_KINDS])}{left}."


def _cite(sentence: str, entry: Entry) -> str:
    return f"{sentence} (entry {entry.seq})."


def build_change(before: Dossier | None, after: Dossier, *, since: int, others: Sequence[Entry] = ()) -> ClaimChange:
    """Return how the claim of *after* changed since *before*, each as read then.

    Args:
        before: None where the claim was not registered.
        after: has at least one revision.
        since: entries of the log that *before* was read from.
        others: entries in between that concern it and that no part of *after* names.
    """
    # A reserved identifier without a revision counts as a claim that was not registered.
    known = before if before is not None and before.revisions else None
    then, now = build_state(known) if known else None, build_state(after)
    entries = _sort_entries([*list_entries(after).values(), *others], since=since)
    return ClaimChange(
        claim=after.claim,
        before=then,
        after=now,
        why=describe_change_reasons(known, after, entries, since=since),
        entries=entries,
        steps=build_steps(known, after) if known else (),
        newly_inverted=is_newly_inverted(then, now),
    )


def build_state(dossier: Dossier) -> ClaimState:
    """Return the status of the claim of *dossier*; it has at least one revision."""
    claim = dossier.current.payload
    file, outcome = find_leading(dossier)
    primary = outcome.payload.classification.primary if outcome else None
    first, specs = find_first_spec(file, outcome.payload) if file and outcome else (None, 0)
    estimate = _find_estimate(file, outcome) if first else None
    return ClaimState(
        identifier=f"{claim.reference}#{dossier.current.entry.leaf[:16]}",
        claim_entry=dossier.current.entry,
        model=claim.model,
        quote=claim.quote,
        quote_status=claim.quote_status,
        form=claim.form,
        relation=claim.relation,
        card=claim.card,
        status=dossier.status,
        class_=primary.class_ if primary else None,
        standing=find_counted_trace(dossier, outcome) if outcome else None,
        mode=primary.mode if primary else None,
        point_class=primary.printed_point_class if primary else None,
        verdict=describe_counted_verdict(dossier, outcome) if outcome else None,
        restricted=describe_counted_restricted(dossier, outcome) if outcome else None,
        audit=outcome.payload.audit if outcome else None,
        outcome_entry=outcome.entry if outcome else None,
        estimate=None if first is None else replace(first, pointwise=None),
        specs=specs,
        theta=claim.theta,
        level=estimate.level if estimate else None,
        margin=estimate.margin if estimate else None,
        range=estimate.range if estimate else None,
        outcome=primary.verdict if primary else None,
        outcome_standing=find_counted_standing(dossier, outcome) if outcome else None,
    )


def is_newly_inverted(before: ClaimState | None, after: ClaimState) -> bool:
    """Return whether a claim is inverted, and was not."""
    return after.class_ is ClaimClass.INVERTED and (before is None or before.class_ is not ClaimClass.INVERTED)


def has_changed_verdict(change: ClaimChange) -> bool:
    """Return whether its verdict is another one; having none before, or none now, is one too."""
    return change.after.outcome is not (change.before.outcome if change.before else None)


_LABELS = ("outcome_standing", "class_", "standing", "mode", "point_class")


def list_other(change: ClaimChange) -> tuple[str, ...]:
    """Return which fields that go with a verdict are others for a claim of the same verdict, registered before; else nothing."""
    if change.before is None or has_changed_verdict(change):
        return ()
    return tuple(name for name in _LABELS if getattr(change.before, name) is not getattr(change.after, name))


def rank_change(change: ClaimChange) -> tuple[int, str]:
    """Return where *change* is in a report.

    Newly inverted, other changes of verdict, of what goes with the same verdict, of model, status or text, the rest; by identifier.
    """
    # First what can mislead most: a claim that reads the other way, then verdicts, then their labels.
    if change.newly_inverted:
        return 0, change.claim
    if has_changed_verdict(change):
        return 1, change.claim
    if list_other(change):
        return 2, change.claim
    return 3 if _has_changed_status(change) else 4, change.claim


def _has_changed_status(change: ClaimChange) -> bool:
    """Whether a reader has to take it for another than it was: its model, a status, what is left of it."""
    if change.before is None:
        return True
    before, after = change.before, change.after
    axes = ("lifecycle", "dispute", "staleness", "restriction")
    # Statuses are enumerations, compared by identity.
    if any(getattr(before.status, axis) is not getattr(after.status, axis) for axis in axes):
        return True
    return (before.model, before.restricted) != (after.model, after.restricted)


def _find_estimate(file: AuditFile | None, outcome: Recorded[Restriction] | None) -> Estimate | None:
    if file is None or outcome is None:
        return None
    return next(
        (result.payload.estimate for result in file.results if result.entry.seq == outcome.payload.result), outcome.payload.estimate
    )


def _sort_entries(entries: Iterable[Entry], *, since: int) -> tuple[Entry, ...]:
    by_number = {entry.seq: entry for entry in entries if entry.seq > since}
    return tuple(by_number[seq] for seq in sorted(by_number))


# Occasions are the recorded events between two entries that explain why claims changed.

_DESCENT: Mapping[Descent, str] = {
    Descent.SUCCESSOR: "is the successor of",
    Descent.SNAPSHOT: "is a later snapshot of",
    Descent.FINE_TUNE: "was fine-tuned from",
}


def find_occasions(after: Dossier, *, since: int, others: Iterable[Entry] = ()) -> Iterator[Occasion]:
    """Yield what was recorded after entry *since* that concerns the claim of *after*, in no order.

    Registrations, open audits and what belongs to them are none: they change no claim.

    Args:
        others: entries in between that no part of *after* names; of methods.
    """
    yield from _find_models(after, since)
    yield from _find_definitions(after, since, {other.seq: other for other in others})
    for file in after.audits:
        for restriction in _pick(file.restrictions, since):
            outcome = restriction.payload
            words = describe_verdict_of(outcome.classification.primary, find_counted_standing(after, restriction))
            text = f"{outcome.audit} of {outcome.claim} came to {words}."
            yield Occasion(kind=OccasionKind.AUDIT, text=text, entry=restriction.entry)
    # All steps of an objection count, not only its decision: an open objection is news too.
    for contested in after.objections:
        for sentence, step in describe_steps(contested, since=since):
            yield Occasion(kind=OccasionKind.OBJECTION, text=_end(sentence), entry=step)
    for earlier, later in zip(after.revisions, after.revisions[1:], strict=False):
        if later.entry.seq > since:
            text = _end(f"{after.claim}: {describe_revision(earlier.payload, later)}")
            yield Occasion(kind=OccasionKind.CLAIM, text=text, entry=later.entry)
    for review in _pick(after.reviews, since):
        yield Occasion(kind=OccasionKind.REVIEW, text=_end(f"{review.payload.claim}: {describe_review(review)}"), entry=review.entry)


def describe_model_event(model_event: ModelEvent) -> str:
    """Return a step in the lineage of model versions as a sentence."""
    reason = f": {quote(model_event.reason)}" if model_event.reason else ""
    # No default branch: a new kind of event must be given its own words.
    match model_event.event:
        case ModelEventKind.FOLLOW:
            return _end(f"{model_event.model} {_DESCENT[model_event.descent or Descent.SUCCESSOR]} {model_event.predecessor}{reason}")
        case ModelEventKind.UNFOLLOW:
            return _end(f"{model_event.model} does not come from {model_event.predecessor} after all{reason}")
        case ModelEventKind.DEPRECATE:
            return _end(
                f"{model_event.model} is deprecated{f', offered until {format_day(model_event.on)}' if model_event.on else ''}{reason}"
            )
        case ModelEventKind.REINSTATE:
            return _end(f"{model_event.model} is offered again{reason}")


def _find_models(after: Dossier, since: int) -> Iterator[Occasion]:
    for event in _pick(after.model_events, since):
        yield Occasion(kind=OccasionKind.MODEL, text=describe_model_event(event.payload), entry=event.entry)
    versions: list[Recorded[ModelVersion]] = [*([after.model] if after.model else []), *after.successors]
    for version in _pick(versions, since):
        # A version without a predecessor takes no part in a lineage.
        if version.payload.predecessor is not None:
            text = f"{version.payload.model} was registered as the successor of {version.payload.predecessor}."
            yield Occasion(kind=OccasionKind.MODEL, text=text, entry=version.entry)


def _find_definitions(after: Dossier, since: int, others: Mapping[int, Entry]) -> Iterator[Occasion]:
    for card in _pick([*([after.card] if after.card else []), *after.newer_cards], since):
        # The first revision is a registration, which changes no claim.
        if card.payload.revision > 1:
            text = f"Revision {card.payload.revision} of {card.payload.card}, {quote(card.payload.title)}."
            yield Occasion(kind=OccasionKind.CARD, text=text, entry=card.entry)
    for spec in _pick([*after.specs, *after.newer_specs], since):
        # As above: version 1 changes no claim that existed.
        if spec.payload.version > 1:
            text = f"Version {spec.payload.version} of {spec.payload.spec}, by {spec.payload.owner}."
            yield Occasion(kind=OccasionKind.SPEC, text=text, entry=spec.entry)
    for cause in after.status.causes:
        # The cause names its entry by number alone; without the entry there is nothing to cite.
        if cause.kind is CauseKind.METHOD and cause.entry in others:
            text = f"{cause.text[:1].upper()}{cause.text[1:]}."
            yield Occasion(kind=OccasionKind.METHOD, text=text, entry=others[cause.entry])


def _pick(recorded: Iterable[Recorded[Said]], since: int) -> Iterator[Recorded[Said]]:
    return (payload for payload in recorded if payload.entry.seq > since)


def _end(sentence: str) -> str:
    """Return *sentence* with its full stop; one that ends with quoted words may have it already."""
    return sentence if sentence.endswith((".”", "!”", "?”")) else f"{sentence}."
