"""Objections to what is registered, and the steps that follow, each by an authority that may take it."""

from collections.abc import Iterator

from registry.errors import ConflictError, Fault, NotFoundError
from registry.records.claim_status import Objection, ObjectionEvent, ObjectionStep
from registry.records.dossier import ObjectionFile
from registry.records.record import Identifier, Kind
from registry.records.statement import Entry
from registry.store.log_writer import Writer
from registry.store.registry_view import View


def contest_target(writer: Writer, target: Identifier, *, grounds: str, rival: Identifier | None, by: str) -> Objection:
    """Record that *by* contests *target*, at its latest revision unless one is named.

    Raises:
        NotFoundError: the target or the rival is not registered.
        InputError: the rival is not of the target's kind, or is the target itself.
    """
    objection = Objection(
        objection=writer.allocate(Kind.OBJECTION, by)[0],
        target=_resolve(writer, target),
        by=by,
        grounds=grounds,
        rival=_resolve(writer, rival) if rival else None,
    )
    writer.append(objection)
    return objection


def record_step(writer: Writer, objection_event: ObjectionEvent, *, actor: str) -> Entry:
    """Record the step *objection_event* of *actor* with *writer*, and return its entry.

    Raises:
        ConflictError: it is not *actor* who may take this step, or the objection is settled.
        InputError: no such objection, or an escalation to no registered authority.
    """
    file = writer.find_objection(objection_event.objection)
    # An unknown or resolved objection is left to the store's rules, which have the message for it.
    faults = [] if file is None or file.is_settled else list(_find_faults(file, objection_event, actor))
    if faults:
        raise ConflictError(faults)
    return writer.append(objection_event)


def get_objection(view: View, identifier: str) -> ObjectionFile:
    """Return an objection with its steps; raises NotFoundError with what is near."""
    objection = view.find_objection(identifier)
    if objection is None:
        near = view.suggest(identifier) or "caveat contest list shows them all"
        raise NotFoundError(Fault("not-registered", identifier, "no such objection is registered", advice=near))
    return objection


def find_instance(file: ObjectionFile) -> str | None:
    """Return the authority that the objection was last escalated to; None where it was not, or to no named authority."""
    escalated = [event.payload.to for event in file.events if event.payload.step is ObjectionStep.ESCALATED]
    # Only the last escalation counts: it may be passed on.
    return escalated[-1] if escalated else None


def _find_faults(file: ObjectionFile, objection_event: ObjectionEvent, actor: str) -> Iterator[Fault]:
    """Yield why *actor* may not take the step."""
    owner, by, target = file.owner, file.objection.payload.by, file.objection.payload.target
    # Decision of 2026-11-22: anyone may decide except the objector, and a party may give way. So
    # the owner may uphold and the objector may reject without further conditions. The cost: in a
    # registry of one authority, it can only give way.
    match objection_event.step:
        case ObjectionStep.ANSWERED if actor != owner:
            problem = f"{target} is {owner}'s, and you act as {actor}"
            yield _fault("not-permitted", objection_event, problem, f"act as {owner} (CAVEAT_AUTHORITY), or decide: uphold, reject")
        case ObjectionStep.UPHELD if actor != owner:
            yield from _find_decider_faults(file, objection_event, actor, party=by)
        case ObjectionStep.REJECTED if actor != by:
            yield from _find_decider_faults(file, objection_event, actor, party=None)
        case ObjectionStep.ESCALATED:
            if actor not in (by, owner, find_instance(file)):
                problem = f"{actor} neither opened it ({by}) nor owns {target} ({owner}), and it was not escalated to {actor}"
                yield _fault("not-permitted", objection_event, problem)
            # A party could otherwise be made the judge of its own objection.
            if objection_event.to in (by, owner):
                yield _fault("bad-escalation", objection_event, f"{objection_event.to} is a party to it")
        case _:
            pass


def _find_decider_faults(file: ObjectionFile, objection_event: ObjectionEvent, actor: str, *, party: str | None) -> Iterator[Fault]:
    """Yield why *actor*, who does not give way, may not decide; *party* would decide that they were right themselves."""
    # After an escalation only the named authority decides. Anyone else would bypass it.
    instance = find_instance(file)
    if instance is not None and actor != instance:
        yield _fault("not-permitted", objection_event, f"it was escalated to {instance}, and you act as {actor}", f"{instance} decides it")
    elif actor == party:
        problem = f"{actor} opened it, and cannot decide that it was right"
        yield _fault(
            "not-permitted",
            objection_event,
            problem,
            f"caveat contest escalate {objection_event.objection} --to AUTHORITY --reason …",
        )


def _fault(code: str, objection_event: ObjectionEvent, text: str, advice: str | None = None) -> Fault:
    return Fault(code, objection_event.objection, text, advice=advice)


def _resolve(writer: Writer, identifier: Identifier) -> str:
    """Return identifier and revision of what is registered."""
    if identifier.kind is Kind.CLAIM:
        claim = writer.find_revision(identifier.bare, identifier.revision) if identifier.revision else writer.find_claim(identifier.bare)
        if claim is not None:
            return claim.payload.reference
    else:
        spec = writer.find_spec(identifier.bare, identifier.revision)
        if spec is not None:
            return f"{spec.payload.spec}@{spec.payload.version}"
    near = writer.suggest(identifier.bare)
    raise NotFoundError(Fault("not-registered", str(identifier), "is not registered", advice=near))
