"""Specifications by short name: registered once, referred to by identifier and version."""

from registry.codec.documents import to_document
from registry.errors import ConflictError, Fault, NotFoundError
from registry.records.claim import ClaimRevision
from registry.records.identifier import Kind, parse_identifier
from registry.records.plan import Lock
from registry.records.scorer import Scorer
from registry.records.spec import ContextSpec, ScoringSpec, SpecBody, SpecKind, SpecVersion
from registry.registration.contexts import check_contexts
from registry.store.view import View
from registry.store.writer import Writer

IDENTIFIERS = {
    SpecKind.PROPERTY: Kind.PROPERTY,
    SpecKind.SCORING: Kind.SCORING,
    SpecKind.TEST_CONTEXT: Kind.CONTEXT,
    SpecKind.DEPLOY_CONTEXT: Kind.CONTEXT,
    SpecKind.CUE_INVENTORY: Kind.CUES,
    SpecKind.METHOD: Kind.METHOD,
}


def format_reference(spec: SpecVersion) -> str:
    """Return identifier and version, such as `PRP-AISI-2026-0003-E@2`."""
    return f"{spec.spec}@{spec.version}"


def register_spec(
    writer: Writer, kind: SpecKind, slug: str, body: SpecBody, *, owner: str, why: str | None = None
) -> tuple[SpecVersion, bool]:
    """Return the registered specification and whether it is new; the same body again changes nothing.

    Raises:
        ConflictError: the short name stands for another body, and no reason for a new version is given.
        InputError: contexts that could not be composed.
    """
    known = writer.find_spec_by_slug(owner, kind, slug)
    if known is None:
        identifier, version = writer.allocate(IDENTIFIERS[kind], owner)[0], 1
    elif known.payload.body == body:
        return known.payload, False
    elif why and why.strip():
        identifier, version = known.payload.spec, known.payload.version + 1
    else:
        raise ConflictError(
            Fault(
                code="spec-differs",
                where=f"{kind.value} {slug!r}",
                found=f"is registered as {format_reference(known.payload)} and differs in {_list_differences(known.payload.body, body)}",
                advice="give the reason for a new version (caveat spec add --why …), or use another short name",
            )
        )
    if isinstance(body, ContextSpec):
        check_contexts(body, where=f"{kind.value} {slug!r}")
    spec = SpecVersion(spec=identifier, kind=kind, slug=slug, version=version, owner=owner, body=body, why=why if version > 1 else None)
    writer.append(spec)
    return spec, True


def get_spec(view: View, kind: SpecKind, name: str, *, owner: str) -> SpecVersion:
    """Return the specification that *name* stands for: an identifier with or without version, or *owner*'s short name.

    Raises:
        NotFoundError: there is none, with the short names that there are.
    """
    found = None
    if name.startswith(f"{IDENTIFIERS[kind].value}-"):
        try:
            identifier = parse_identifier(name, IDENTIFIERS[kind])
        except ValueError as error:
            raise NotFoundError(Fault(code="bad-identifier", where=name, found=str(error))) from error
        found = view.find_spec(identifier.bare, identifier.revision)
    else:
        found = view.find_spec_by_slug(owner, kind, name)
    if found is None or found.payload.kind is not kind:
        known = ", ".join(sorted(one.payload.slug for one in view.list_specs(kind))) or "none"
        words = kind.value.replace("_", " ")
        raise NotFoundError(Fault(code="spec-not-found", where=name, found=f"no such {words} here; {words} names: {known}"))
    return found.payload


def find_procedure(view: View, claim: ClaimRevision) -> Scorer | None:
    """Return how exactly the claim's responses are scored; None where it names no scoring function, or one in words alone."""
    if claim.scoring is None:
        return None
    identifier = parse_identifier(claim.scoring, Kind.SCORING)
    body = view.find_opened(identifier.bare, identifier.revision)
    return body.procedure if isinstance(body, ScoringSpec) else None


def find_locked_procedure(view: View, lock: Lock) -> Scorer | None:
    """Return how exactly responses are scored under *lock*; None where it fixes no scoring, or one in words alone."""
    found = None if lock.scoring is None else view.find_spec(lock.scoring.spec)
    body = None if found is None else found.payload.body
    return body.procedure if isinstance(body, ScoringSpec) else None


def _list_differences(old: SpecBody | None, new: SpecBody) -> str:
    if old is None:
        return "its body, which is sealed"
    before, after = to_document(old), to_document(new)
    return ", ".join(key for key in sorted({*before, *after}) if before.get(key) != after.get(key))
