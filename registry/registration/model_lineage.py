"""Model updates and endpoint names recorded, and claims applied to newer model versions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from registry.errors import ConflictError, Fault, InputError, NotFoundError, find_near
from registry.records.claim import ClaimRevision, QuoteStatus
from registry.records.claim_status import Lifecycle
from registry.records.dossier import Recorded
from registry.records.model_version import (
    REPLACING,
    Descent,
    EndpointEventKind,
    EndpointName,
    ModelEndpoint,
    ModelEvent,
    ModelEventKind,
    ModelLink,
    ModelRef,
    ModelVersion,
    find_endpoint_conflicts,
    fold_model,
    fold_version,
)
from registry.records.statement import Entry
from registry.registration.passage_matching import check_numbers
from registry.registration.quote_checks import Quotes
from registry.store.kinds.claim_kinds import natural_key
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# The words in which a claim is applied to another model version.


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassage:
    """Where a newer card makes a claim of the new version in other words."""

    card: str
    """`CRD-…`, its newest revision, or `CRD-…@n`."""
    quote: str
    page: int | None = None
    """From 1; None means: wherever it stands."""


def carry_words(view: View, claim: ClaimRevision, to: ModelRef, passage: NewPassage) -> ClaimRevision:
    """Return *claim* as worded by *passage*, where it was found again; a paraphrase becomes the card's own words.

    What the versions are called may differ, and figures may not.

    Raises:
        InputError: the quote is not there; a number changed.
        NotFoundError: no such card.
    """
    quotes = Quotes(view, default=None, where="--card")
    card = quotes.get_card(passage.card, "--card")
    anchor = quotes.find(card, passage.quote, page=passage.page, where="--quote")
    # Model names may contain numbers ("Lumen 2"), so they are removed before the figures are
    # compared.
    before = claim.anchor.exact if claim.anchor else claim.quote
    check_numbers(claim, *(_leave_out_names(text, (claim.model, to)) for text in (before, anchor.exact)))
    return replace(
        claim, quote=anchor.exact, quote_status=QuoteStatus.VERBATIM, anchor=anchor, card=f"{card.card}@{card.revision}", source=None
    )


def write_model(model: ModelRef) -> str:
    """Return *model* as a command takes it, quoted for a shell where it must be."""
    import shlex  # noqa: PLC0415  (for messages alone)

    # Names may contain spaces, and advice must work when it is pasted into a shell.
    return shlex.quote(f"{model.developer}/{model.name}/{model.version}")


def _leave_out_names(text: str, models: Iterable[ModelRef]) -> str:
    """Return *text* without the names of *models* where the version stands behind, so that "Lumen 2" is no changed number."""
    for model in models:
        name, version = (r"[\s-]+".join(map(re.escape, part.split())) for part in (model.name, model.version))
        text = re.sub(rf"(?<!\w){name}[\s-]*{version}(?!\w|\.\d)", "", text, flags=re.IGNORECASE)
    return text


# Model updates: versions are linked, and claims are applied along the links.
#
# Decision of 2026-11-22: a claim applies to a new version only by a revision with a reason, inside
# the lineage. Outcomes do not come along. A limit is tested on the new version; a figure or an
# observation of the old one is never repeated. The cost: restricted texts of such figures keep none
# of the card's words.

ENDED = frozenset({Lifecycle.WITHDRAWN, Lifecycle.REJECTED, Lifecycle.SUPERSEDED})
"""A claim here is neither carried nor listed as stale: it is no longer in use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUpdateResult:
    """Outcome of one call of `update_model`."""

    link: ModelLink
    """As it is on record now."""
    is_new: bool
    """Whether this call recorded it; False where it was on record."""
    registered: tuple[ModelRef, ...] = ()
    """Versions that this call registered."""
    beside: tuple[ModelRef, ...] = ()
    """Other versions that took the predecessor's place too: the lineage branches there."""
    near: tuple[tuple[ModelRef, ModelRef], ...] = ()
    """Of `registered`, each that may be another version under a new name, with that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedClaim:
    """Outcome of one claim that was to be carried."""

    before: ClaimRevision
    after: Recorded[ClaimRevision]
    """`before`, where the claim was about the version already."""

    @property
    def is_new(self) -> bool:
        """Whether a revision was recorded."""
        return self.after.payload != self.before


def update_model(
    writer: Writer,
    old: ModelRef,
    new: ModelRef,
    *,
    descent: Descent = Descent.SUCCESSOR,
    released: date | None = None,
    note: str | None = None,
    branch: bool = False,
) -> ModelUpdateResult:
    """Record that *new* comes from *old*, and both versions where they are new; the same again records nothing.

    Args:
        released: the day *new* was first offered; None if it is not stated.
        note: what is to be said of the link; it stays in the record.
        branch: let *new* take the place of *old* although another version did.

    Raises:
        ConflictError: `lineage-differs`, it comes from *old* in another way; `model-differs`, *new* is registered with another
            release date; `model-case-differs`, claims spell a version differently.
        CaveatError: the store's rules: `successor-exists`, another version took the place of *old* and *branch* is not given;
            `lineage-cycle`; `model-case-differs`; `successor-older`; `self-reference`.
    """
    model = writer.find_model(new)
    # Collected before anything is written: wrong date, another descent and spelling in one message.
    faults = [] if model is None else list(_find_differences(model, released))
    link = writer.lineage().find_link(new, old)
    if link is not None and link.descent is not descent:
        faults.append(_differs(link, descent))
    faults += (fault for ref in (old, new) for fault in _find_spelling(writer, ref))
    if faults:
        raise ConflictError(faults)
    beside = (
        tuple(model_link.model for model_link in writer.lineage().replacing(old) if model_link.model != new) if descent in REPLACING else ()
    )
    if link is not None:
        return ModelUpdateResult(link=link, is_new=False, beside=beside)
    # An unregistered old version is registered on the way, because claims files name versions
    # without registering them.
    registered = [old] if writer.find_model(old) is None else []
    versions = [ModelVersion(model=old)] * len(registered)
    if model is None and new != old:
        registered.append(new)
        versions.append(ModelVersion(model=new, released=released))
    model_event = ModelEvent(
        model=new, event=ModelEventKind.FOLLOW, predecessor=old, descent=descent, branch=branch and bool(beside), reason=note
    )
    near = tuple((ref, other) for ref in registered for other in find_near_versions(writer, ref))
    writer.append_many(versions)
    entry = writer.append(model_event)
    link = ModelLink(model=new, predecessor=old, descent=descent, entry=entry.seq)
    return ModelUpdateResult(link=link, is_new=True, registered=tuple(registered), beside=beside, near=near)


def unlink_model(writer: Writer, model: ModelRef, predecessor: ModelRef, *, reason: str) -> Entry:
    """Record that *model* does not come from *predecessor* after all, and return the entry.

    Raises:
        ConflictError: `nothing-to-retract`, no link between them is on record.
    """
    if writer.lineage().find_link(model, predecessor) is None:
        there = ", ".join(f"{link.model} ({name_descent(link.descent)})" for link in writer.lineage().following(predecessor)) or "nothing"
        problem = f"is not on record as coming from {predecessor}; what comes from that: {there}"
        advice = f"caveat model show {write_model(model)} shows its origin"
        raise ConflictError(Fault("nothing-to-retract", str(model), problem, advice=advice))
    return writer.append(ModelEvent(model=model, event=ModelEventKind.UNFOLLOW, predecessor=predecessor, reason=reason))


def deprecate_model(writer: Writer, model: ModelRef, *, reason: str, on: date | None = None) -> tuple[int, bool]:
    """Record that *model* is no longer offered, or will not be from *on* on; return the entry that says so, and whether it is new.

    A version that claims are about is registered on the way. The same reason and day again record nothing.

    Raises:
        NotFoundError: it is not registered, and no claim is about it.
    """
    require_model(writer, model, register=True)
    there, entry = writer.lineage().deprecation(model), writer.lineage().deprecation_entry(model)
    # The same statement again records nothing. Another day or reason goes to the rules, which ask
    # for a reinstatement first.
    if there is not None and entry is not None and (there.on, there.reason) == (on, reason):
        return entry, False
    return writer.append(ModelEvent(model=model, event=ModelEventKind.DEPRECATE, on=on, reason=reason)).seq, True


def reinstate_model(writer: Writer, model: ModelRef, *, reason: str) -> Entry:
    """Record that *model* is offered again, or after all, and return the entry.

    Raises:
        NotFoundError: it is not registered.
        ConflictError: `nothing-to-retract`.
    """
    require_model(writer, model)
    if writer.lineage().deprecation(model) is None:
        problem, advice = "is not deprecated, so that there is nothing to take back", f"caveat model show {write_model(model)}"
        raise ConflictError(Fault("nothing-to-retract", str(model), problem, advice=advice))
    return writer.append(ModelEvent(model=model, event=ModelEventKind.REINSTATE, reason=reason))


def require_model(view: View, model: ModelRef, *, register: bool = False) -> None:
    """Refuse a version that is not registered, with what may have been meant.

    Args:
        register: register it where claims are about it already: a claims file names a version without registering it. Takes a Writer.

    Raises:
        NotFoundError: model-not-registered.
    """
    if view.find_model(model) is not None:
        return
    if model in view.list_claimed_models():
        if register and isinstance(view, Writer):
            view.append(ModelVersion(model=model))
        return
    near = " or ".join(map(write_model, suggest_models(view, model)))
    problem = "is not registered, and no claim is about it"
    raise NotFoundError(Fault("model-not-registered", str(model), problem, advice=f"did you mean {near}?" if near else "caveat model list"))


def suggest_models(view: View, model: ModelRef) -> list[ModelRef]:
    """Return at most three registered versions, or such as claims are about, that are called much like *model*."""
    named = (*view.lineage().models, *view.list_claimed_models())
    # Folded names: a wrong case or hyphen must not hide the right suggestion.
    known = {fold_model(ref): ref for ref in named if ref != model}
    return [known[name] for name in find_near(fold_model(model), known)[:3]]


def find_near_versions(view: View, model: ModelRef) -> tuple[ModelRef, ...]:
    """Return the versions, registered or claimed, that differ from *model* as 1, 1.0 and v1 do."""
    named = dict.fromkeys((*view.lineage().models, *view.list_claimed_models()))
    return tuple(ref for ref in named if ref != model and fold_version(ref) == fold_version(model))


def describe_near_version(model: ModelRef, near: ModelRef) -> str:
    """Return the warning that the new version *model* may be *near* under another name."""
    return f"warning: {model} and {near} are two model versions here, and claims of one have no outcomes of the other; is {near} meant?"


def find_target(view: View, model: ModelRef) -> ModelRef:
    """Return the one newest version of the lineage of *model*; that is *model* itself where it took another's place and none took its.

    Raises:
        InputError: `no-successor-version`, it has no successor; `choice-needed`, several took its place.
    """
    newest = view.lineage().newest(model)
    # Only an unambiguous end of the lineage is chosen without asking.
    if len(newest) == 1:
        return newest[0]
    if not newest and view.lineage().ancestors(model):
        return model
    if newest:
        problem = f"its lineage branches: {', '.join(map(str, newest))}"
        advice = " or ".join(f"--to {write_model(ref)}" for ref in newest)
        raise InputError(Fault("choice-needed", str(model), problem, advice=f"say which: {advice}"))
    tuned = [link.model for link in view.lineage().following(model)]
    problem = "no version took its place" + (f"; {', '.join(map(str, tuned))} is trained further from it" if tuned else "")
    raise InputError(
        Fault("no-successor-version", str(model), problem, advice=f"caveat model update {write_model(model)} DEV/NAME/VERSION")
    )


def carry_claim(writer: Writer, claim: str, to: ModelRef, *, why: str, card: NewPassage | None = None) -> Recorded[ClaimRevision]:
    """Record a revision of *claim*, `CLM-…`, about the version *to*, and return it; a claim that is about *to* is returned as it is.

    Everything else stays as it is, quote and anchor too: the card spoke of the earlier version, and the reason says so. The revision is
    unaudited, since outcomes belong to one revision.

    Args:
        why: why the claim is made of the new version; without it nothing but a change of names would be on record.
        card: where a newer card makes the same claim of the new version in other words; None keeps the passage.

    Raises:
        ConflictError: the claim is ended.
        InputError: no such claim, or it has no text; `claim-exists`, another claim says the same of *to*; `not-in-lineage`, *to* does not
            come from the claim's version; *why* is blank; the passage of *card* is not there, or its figures are others.
    """
    return carry_claims(writer, [claim], to, why=why, card=card)[0].after


def carry_claims(
    writer: Writer, claims: Iterable[str], to: ModelRef | None, *, why: str, card: NewPassage | None = None
) -> list[AppliedClaim]:
    """Carry each of *claims* as `carry_claim` does, to *to* or, without it, to the one newest version of its lineage; all or none.

    Raises:
        CaveatError: as `carry_claim` and `find_target`, with the faults of all claims.
    """
    built: list[tuple[Recorded[ClaimRevision], ClaimRevision]] = []
    faults: list[Fault] = []
    # All claims are built before any is recorded, so that one invalid claim stops the whole call.
    for claim in dict.fromkeys(claims):
        try:
            before = get_head(writer, claim)
            built.append((before, _build_applied(writer, before.payload, to or find_target(writer, before.payload.model), why, card)))
        except (InputError, NotFoundError) as error:
            faults += error.faults
    new = [after for before, after in built if after != before.payload]
    faults += _find_doubles(writer, new)
    if faults:
        raise InputError(dict.fromkeys(faults))
    entries = iter(writer.append_many(new))
    return [
        AppliedClaim(before=before.payload, after=before if after == before.payload else Recorded(entry=next(entries), payload=after))
        for before, after in built
    ]


def get_head(view: View, claim: str) -> Recorded[ClaimRevision]:
    """Return the current revision of *claim*, `CLM-…`; raises NotFoundError, also where it is only reserved."""
    revision = view.find_claim(claim.partition("@")[0])
    if revision is None:
        # Called for its error: it tells an unknown identifier from a reserved one and suggests
        # similar ones.
        view.dossier(claim)
        raise NotFoundError(Fault("not-registered", claim, "is reserved and has no text yet"))
    return revision


def name_descent(descent: Descent) -> str:
    """Return *descent* as people write it."""
    return descent.value.replace("_", "-")


def _find_differences(model_version: Recorded[ModelVersion], released: date | None) -> Iterator[Fault]:
    there = model_version.payload.released
    if released is not None and released != there:
        problem = f"is registered with {f'the release date {there}' if there else 'no release date'}, by entry {model_version.entry.seq}"
        yield Fault("model-differs", str(model_version.payload.model), problem)


def _differs(link: ModelLink, descent: Descent) -> Fault:
    problem = f"is recorded as {name_descent(link.descent)} of {link.predecessor}, by entry {link.entry}, not as {name_descent(descent)}"
    correct = f'caveat model unlink {write_model(link.model)} {write_model(link.predecessor)} --reason "…"'
    return Fault("lineage-differs", str(link.model), problem, advice=f"if that is wrong: {correct}, then again")


def _find_spelling(view: View, model: ModelRef) -> Iterator[Fault]:
    """Yield that claims spell *model*, which is not registered, otherwise: it would be another version, and none of them about it."""
    if view.find_model(model) is not None:
        return
    claimed = view.list_claimed_models()
    # A registered spelling that no claim uses would leave those claims without lineage.
    alike = [ref for ref in claimed if fold_model(ref) == fold_model(model)]
    if alike and model not in alike:
        problem = f"no claim is about it; claims are about {alike[0]}, which is the same but for its spelling"
        yield Fault("model-case-differs", str(model), problem, advice=f"write it as they do: {write_model(alike[0])}")


def _unrelated(view: View, head: ClaimRevision, to: ModelRef) -> Fault:
    problem = f"is about {head.model}, from which {to} does not come by any link on record"
    taken = view.lineage().newest(head.model)
    link = f"caveat model update {write_model(taken[0] if len(taken) == 1 else head.model)} {write_model(to)}"
    other = f'caveat claim revise {head.claim} FILE --reason "…"'
    # A mistyped target is more likely than a missing link, so names inside the lineage are
    # suggested.
    near = [ref for ref in suggest_models(view, to) if ref != head.model and view.lineage().find_path(head.model, ref)]
    meant = f"; did you mean {' or '.join(map(write_model, near))}?" if near else ""
    advice = f"record the link: {link}; if it is no successor, this is another claim: register it, or {other}{meant}"
    return Fault("not-in-lineage", head.reference, problem, advice=advice)


def _build_applied(view: View, head: ClaimRevision, to: ModelRef, why: str, card: NewPassage | None) -> ClaimRevision:
    """Return the revision of *head* about *to*; *head* itself where it is about that already."""
    if head.model == to:
        return head
    if not why.strip():
        raise InputError(
            Fault("reason-missing", head.reference, "applying a claim to another version needs a reason", advice='--reason "…"')
        )
    # Links of every descent count here, since a fine-tuned model also comes from its base.
    if not view.lineage().find_path(head.model, to):
        raise InputError(_unrelated(view, head, to))
    applied = head if card is None else carry_words(view, head, to, card)
    return replace(applied, revision=head.revision + 1, model=to, why=f"applied from {head.model} to {to}: {why.strip()}")


def _find_doubles(view: View, new: Sequence[ClaimRevision]) -> Iterator[Fault]:
    """Yield that another claim says the same of the same version, on record or among *new*."""
    keys = [natural_key(revision) for revision in new]
    # Two claims that become equal by the move must be merged by a person, with supersede.
    there = {key: revision.payload for key, revision in view.find_natural(keys).items()}
    for key, revision in zip(keys, new, strict=True):
        other = there.setdefault(key, revision)
        if other.claim != revision.claim:
            problem = f"{other.reference} is the same claim about {revision.model} (card, property, form, model and quote)"
            yield Fault(
                "claim-exists", revision.claim, problem, advice=f'caveat claim supersede {revision.claim} {other.claim} --reason "…"'
            )


# Endpoint names: an authority states under which names endpoints return a model version.


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointStatement:
    """Outcome of one statement."""

    entry: int
    """That says so."""
    is_new: bool
    """Whether this call recorded it; False where the authority said the same before."""
    conflicts: tuple[EndpointName, ...]
    """Other model versions for which the name is stated too; while it is, it does not show which of them was asked."""


def state_endpoint(writer: Writer, model: ModelRef, name: str, *, actor: str, reason: str, source: str | None = None) -> EndpointStatement:
    """Record that endpoints return *model* as *name*; the same again records nothing. A name of another version is recorded too.

    A version that claims are about is registered on the way.

    Args:
        actor: code of the authority that says so.
        reason: why it says so.
        source: where it can be looked up.

    Raises:
        InputError: `not-valid`, *name* or *reason* is blank, or *name* has letters that cannot be seen.
        NotFoundError: `model-not-registered`, it is not registered, and no claim is about it.
        ConflictError: `already-recorded`, the authority stated it with another reason or source.
    """
    endpoint = _build(model, EndpointEventKind.STATE, name, reason, source)
    require_model(writer, model, register=True)
    # Only the authority's own statement counts here. Others may state the same name.
    entry = next((seq for seq in _list_own(writer, model, name, actor)), None)
    if entry is None:
        recorded = writer.append(endpoint).seq
        return EndpointStatement(entry=recorded, is_new=True, conflicts=_find_conflicts(writer, model, name))
    before = next(
        endpoint_statement.payload for endpoint_statement in writer.list_endpoint_statements() if endpoint_statement.entry.seq == entry
    )
    if (before.reason, before.source) != (endpoint.reason, endpoint.source):
        problem = f"entry {entry} of {actor} states {name} for another reason or from another source"
        advice = "there is nothing to add; to change it, take it back first: caveat model endpoint … --retract"
        raise ConflictError(Fault("already-recorded", str(model), problem, advice=advice))
    return EndpointStatement(entry=entry, is_new=False, conflicts=_find_conflicts(writer, model, name))


def retract_endpoint(writer: Writer, model: ModelRef, name: str, *, reason: str, source: str | None = None) -> EndpointStatement:
    """Record that the authority no longer says that endpoints return *model* as *name*.

    Raises:
        InputError: `not-valid`, as `state_endpoint`.
        NotFoundError: `model-not-registered`.
        CaveatError: `nothing-to-retract`, the authority does not say so.
    """
    endpoint = _build(model, EndpointEventKind.RETRACT, name, reason, source)
    require_model(writer, model)
    entry = writer.append(endpoint).seq
    return EndpointStatement(entry=entry, is_new=True, conflicts=_find_conflicts(writer, model, name))


def _build(model: ModelRef, event: EndpointEventKind, name: str, reason: str, source: str | None) -> ModelEndpoint:
    try:
        return ModelEndpoint(model=model, event=event, name=name, reason=reason, source=source)
    except ValueError as error:
        raise InputError(Fault("not-valid", str(model), str(error))) from error


def _list_own(writer: Writer, model: ModelRef, name: str, actor: str) -> list[int]:
    """Return the entry by which *actor* states *name* for *model*, if any."""
    stated = (endpoint_name for endpoint_name in writer.list_endpoint_names(model) if endpoint_name.name == name)
    return [entry for endpoint in stated for code, entry in zip(endpoint.by, endpoint.entries, strict=True) if code == actor]


def _find_conflicts(writer: Writer, model: ModelRef, name: str) -> tuple[EndpointName, ...]:
    return tuple(
        endpoint_conflict
        for endpoint_conflict in find_endpoint_conflicts(writer.list_endpoint_names(), model)
        if endpoint_conflict.name == name
    )
