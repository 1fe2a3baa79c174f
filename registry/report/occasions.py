"""What set changes off between two entries of a log, a sentence each: read off what is known of one claim. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from registry.records.claim_status import CauseKind
from registry.records.dossier import Dossier, Recorded, Said
from registry.records.model_version import Descent, ModelEvent, ModelEventKind, ModelVersion
from registry.records.statement import Entry
from registry.records.supplement import Occasion, OccasionKind
from registry.report.moments import format_day
from registry.report.why import describe_class, quote, tell_review, tell_revision, tell_steps

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
    yield from _find_definitions(after, since, {one.seq: one for one in others})
    for file in after.audits:
        for one in _pick(file.restrictions, since):
            text = f"{one.payload.audit} of {one.payload.claim} came to {describe_class(one.payload.classification.primary)}."
            yield Occasion(kind=OccasionKind.AUDIT, text=text, entry=one.entry)
    for contested in after.contestations:
        for sentence, step in tell_steps(contested, since=since):
            yield Occasion(kind=OccasionKind.CONTESTATION, text=_end(sentence), entry=step)
    for earlier, later in zip(after.revisions, after.revisions[1:], strict=False):
        if later.entry.seq > since:
            text = _end(f"{after.claim}: {tell_revision(earlier.payload, later)}")
            yield Occasion(kind=OccasionKind.CLAIM, text=text, entry=later.entry)
    for review in _pick(after.reviews, since):
        yield Occasion(kind=OccasionKind.REVIEW, text=_end(f"{review.payload.claim}: {tell_review(review)}"), entry=review.entry)


def tell_model_event(said: ModelEvent) -> str:
    """Return a step in the lineage of model versions as a sentence."""
    reason = f": {quote(said.reason)}" if said.reason else ""
    match said.event:
        case ModelEventKind.FOLLOW:
            return _end(f"{said.model} {_DESCENT[said.descent or Descent.SUCCESSOR]} {said.predecessor}{reason}")
        case ModelEventKind.UNFOLLOW:
            return _end(f"{said.model} does not come from {said.predecessor} after all{reason}")
        case ModelEventKind.DEPRECATE:
            return _end(f"{said.model} is deprecated{f', offered until {format_day(said.on)}' if said.on else ''}{reason}")
        case ModelEventKind.REINSTATE:
            return _end(f"{said.model} is offered again{reason}")


def _find_models(after: Dossier, since: int) -> Iterator[Occasion]:
    for event in _pick(after.model_events, since):
        yield Occasion(kind=OccasionKind.MODEL, text=tell_model_event(event.payload), entry=event.entry)
    versions: list[Recorded[ModelVersion]] = [*([after.model] if after.model else []), *after.successors]
    for version in _pick(versions, since):
        if version.payload.predecessor is not None:
            text = f"{version.payload.model} was registered as the successor of {version.payload.predecessor}."
            yield Occasion(kind=OccasionKind.MODEL, text=text, entry=version.entry)


def _find_definitions(after: Dossier, since: int, others: Mapping[int, Entry]) -> Iterator[Occasion]:
    for card in _pick([*([after.card] if after.card else []), *after.newer_cards], since):
        if card.payload.revision > 1:
            text = f"Revision {card.payload.revision} of {card.payload.card}, {quote(card.payload.title)}."
            yield Occasion(kind=OccasionKind.CARD, text=text, entry=card.entry)
    for spec in _pick([*after.specs, *after.newer_specs], since):
        if spec.payload.version > 1:
            text = f"Version {spec.payload.version} of {spec.payload.spec}, by {spec.payload.owner}."
            yield Occasion(kind=OccasionKind.SPEC, text=text, entry=spec.entry)
    for cause in after.status.causes:
        if cause.kind is CauseKind.METHOD and cause.entry in others:
            text = f"{cause.text[:1].upper()}{cause.text[1:]}."
            yield Occasion(kind=OccasionKind.METHOD, text=text, entry=others[cause.entry])


def _pick(recorded: Iterable[Recorded[Said]], since: int) -> Iterator[Recorded[Said]]:
    return (one for one in recorded if one.entry.seq > since)


def _end(sentence: str) -> str:
    """Return *sentence* with its full stop; one that ends with somebody's own words may have it already."""
    return sentence if sentence.endswith((".”", "!”", "?”")) else f"{sentence}."
