"""Why a claim changed, in sentences: each tells one recorded thing with its entry, and no more than that says. Pure.

Whose words they are is shown by quotation marks: reasons and grounds are what somebody wrote.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from registry.records.claim import ClaimEventKind, ClaimRevision
from registry.records.claim_status import CauseKind, StaleCause, StalenessReview, StalenessVerdict
from registry.records.dossier import ContestationFile, Dossier, Recorded
from registry.records.statement import Entry
from registry.records.verdict import ReadingVerdict
from registry.report.contested import name_actor
from registry.report.leading import find_leading
from registry.report.moments import format_day
from registry.report.wording import get_words, name_model

_LONGEST = 300
_SAYS_SO = "carried from "
"""How the reason of a carried claim begins (`registry.registration.model_lineage`): both models stand in it."""
_MOST_KINDS = 6


def tell_why(before: Dossier | None, after: Dossier, entries: Sequence[Entry], *, since: int) -> tuple[str, ...]:
    """Return why the claim of *after* is told otherwise than in *before*, at least one sentence, the most important first.

    Args:
        before: None where the claim was not registered.
        entries: those in between that concern it.
        since: entries of the log that *before* was read from.
    """
    told = (
        *_tell_outcome(before, after, since),
        *_tell_revisions(after, since),
        *_tell_events(after, since),
        *(_cite(*one) for file in after.contestations for one in tell_steps(file, since=since)),
        *_tell_causes(before, after),
        *(_cite(tell_review(one), one.entry) for one in after.reviews if one.entry.seq > since),
    )
    return told or (_tell_rest(entries),)


def tell_steps(file: ContestationFile, *, since: int) -> Iterator[tuple[str, Entry]]:
    """Yield what was recorded of a contestation after entry *since*, a sentence without full stop each, with its entry."""
    said = file.contestation.payload
    if file.contestation.entry.seq > since:
        yield f"{said.contestation} was opened against {said.target} by {said.by}: {quote(said.grounds)}", file.contestation.entry
    for step in file.events:
        if step.entry.seq > since:
            who, to = name_actor(file, step.entry.actor), f", to {step.payload.to}" if step.payload.to else ""
            done = f"{said.contestation} against {said.target} was {get_words(step.payload.step)} by {who}{to}"
            yield f"{done}: {quote(step.payload.note)}", step.entry


def tell_review(one: Recorded[StalenessReview]) -> str:
    """Return what somebody decided of changes that a claim may not have survived, without full stop."""
    named = ", ".join(cause.what for cause in one.payload.causes)
    verb = "takes away what it rests on" if one.payload.verdict is StalenessVerdict.CONFIRMED else "does not touch it"
    return f"{one.entry.actor} decided that {named} {verb}: {quote(one.payload.why)}"


def tell_revision(before: ClaimRevision, after: Recorded[ClaimRevision]) -> str:
    """Return what a revision of a claim is about, with the reason that was given, without full stop."""
    said = after.payload
    if said.model == before.model or (said.why or "").startswith(_SAYS_SO):
        done = f"Revision {said.revision} was recorded"
    else:
        done = f"Revision {said.revision} carries it from {name_model(before.model)} to {name_model(said.model)}"
    if said.card != before.card and said.card is not None:
        done += f", and quotes {said.card}"
    return f"{done}: {quote(said.why or '')}"


def quote(text: str) -> str:
    """Return what somebody wrote in quotation marks, on one line; what is longer than a few lines is cut, which shows."""
    folded = " ".join(text.split())
    return f"“{folded}”" if len(folded) <= _LONGEST else f"“{folded[:_LONGEST].rstrip()} …”"


def describe_class(reading: ReadingVerdict) -> str:
    """Return class and how far it reaches, such as `undetermined, noisy, the point estimate suggests inverted`."""
    suggested = [f"the point estimate suggests {get_words(reading.printed_point_class)}"] if reading.printed_point_class else []
    return ", ".join([get_words(one) for one in (reading.class_, reading.standing, reading.mode) if one] + suggested)


def _tell_outcome(before: Dossier | None, after: Dossier, since: int) -> Iterator[str]:
    if before is None:
        yield f"It was registered in between, on {format_day(after.revisions[0].entry.at)} (entry {after.revisions[0].entry.seq})."
    then = find_leading(before)[1] if before else None
    file, now = find_leading(after)
    if now is None or file is None:
        if then is not None:
            reference = after.current.payload.reference
            yield f"No audit of {reference} has an outcome; what was found of {then.payload.claim} does not speak for it."
        return
    if then is not None and then.entry == now.entry:
        return
    primary, opening = now.payload.classification.primary, file.audit.payload
    came = f"to {describe_class(primary)}, by {get_words(primary.basis)}"
    if now.entry.seq > since:
        who = f"{opening.auditor} ({get_words(opening.independence)})"
        yield _cite(f"Audit {opening.audit} of {opening.claim} by {who} came {came}", now.entry)
    else:
        yield _cite(f"Audit {opening.audit} counts now; it had come {came} before", now.entry)


def _tell_revisions(after: Dossier, since: int) -> Iterator[str]:
    """Yield the revisions that came, the last first: that is the one which is told."""
    pairs = list(zip(after.revisions, after.revisions[1:], strict=False))
    for earlier, later in reversed(pairs):
        if later.entry.seq > since:
            yield _cite(tell_revision(earlier.payload, later), later.entry)


def _tell_causes(before: Dossier | None, after: Dossier) -> Iterator[str]:
    """Yield what may have taken away what the claim rests on since, then what no longer counts as that.

    That it was revised is told by its revisions; what a person dismissed, by the review.
    """
    known = {(one.kind, one.what): one for one in before.status.causes} if before else {}
    now = {(one.kind, one.what): one for one in after.status.causes}
    for name, cause in now.items():
        if name not in known and cause.kind is not CauseKind.REVISION:
            yield _tell_cause(cause)
    same = before is not None and before.current.entry == after.current.entry
    reviewed = {(cause.kind, cause.what) for one in after.reviews for cause in one.payload.causes}
    for name, cause in known.items():
        if same and name not in now and name not in reviewed and cause.kind is not CauseKind.REVISION:
            yield f"It no longer stands against it that {cause.text}."


def _tell_cause(cause: StaleCause) -> str:
    return f"{cause.text[:1].upper()}{cause.text[1:]} (entry {cause.entry})."


def _tell_events(after: Dossier, since: int) -> Iterator[str]:
    for one in after.events:
        if one.entry.seq > since and one.payload.event is not ClaimEventKind.RESERVE:
            by = f" by {one.payload.successor}" if one.payload.successor else ""
            reason = f": {quote(one.payload.reason)}" if one.payload.reason else ""
            yield _cite(f"It was {get_words(one.payload.event)}{by}{reason}", one.entry)


def _tell_rest(entries: Sequence[Entry]) -> str:
    """Name what was recorded by its kind alone: nothing of it changed where the claim stands."""
    if not entries:
        return "What its supplement is made from was told otherwise then; no entry of its own was added since."
    kinds = Counter(one.kind.value.replace("_", " ") for one in entries)
    listed = [f"{count} × {kind}" if count > 1 else kind for kind, count in kinds.items()]
    left = f" and {len(listed) - _MOST_KINDS} more kinds" if len(listed) > _MOST_KINDS else ""
    where = f"entry {entries[0].seq}" if len(entries) == 1 else f"entries {entries[0].seq} to {entries[-1].seq}"
    return f"Recorded of it since, in {where}: {', '.join(listed[:_MOST_KINDS])}{left}."


def _cite(sentence: str, entry: Entry) -> str:
    return f"{sentence} (entry {entry.seq})."
