"""Specifications registered by short name, or sealed by a commitment and revealed later."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from registry.codec.canonical_documents import from_document, to_document
from registry.codec.file_io import create_file, read_document, replace_private
from registry.codec.statement_encoding import commitment_of
from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.records.analysis_plan import Lock
from registry.records.claim import ClaimRevision
from registry.records.record import Kind, parse_identifier
from registry.records.specification import (
    BODIES,
    ContextSpec,
    Reveal,
    Scorer,
    ScoringSpec,
    SealFile,
    SpecBody,
    SpecKind,
    SpecOpening,
    SpecVersion,
)
from registry.records.statement import Entry
from registry.registration.context_specification import check_contexts
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Specifications by short name: registered once, then referred to by identifier and version.

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
        ConflictError: the short name means another body, and no reason for a new version is given.
        InputError: contexts that could not be composed.
    """
    # Short names belong to their owner: two authorities may use the same one.
    known = writer.find_spec_by_slug(owner, kind, slug)
    if known is None:
        identifier, version = writer.allocate(IDENTIFIERS[kind], owner)[0], 1
    # The same body again records nothing, so a claims file can be added repeatedly.
    elif known.payload.body == body:
        return known.payload, False
    elif why and why.strip():
        identifier, version = known.payload.spec, known.payload.version + 1
    else:
        # A definition changes only on purpose, because claims and locks refer to its versions.
        raise ConflictError(
            Fault(
                "spec-differs",
                f"{kind.value} {slug!r}",
                f"is registered as {format_reference(known.payload)} and differs in {_list_differences(known.payload.body, body)}",
                advice="give the reason for a new version (caveat spec add --reason …), or use another short name",
            )
        )
    # An invalid context would only show at the replay, when the plan is locked already.
    if isinstance(body, ContextSpec):
        check_contexts(body, where=f"{kind.value} {slug!r}")
    spec = SpecVersion(spec=identifier, kind=kind, slug=slug, version=version, owner=owner, body=body, why=why if version > 1 else None)
    writer.append(spec)
    return spec, True


def get_spec(view: View, kind: SpecKind, name: str, *, owner: str) -> SpecVersion:
    """Return the specification that *name* means: an identifier with or without version, or *owner*'s short name.

    Raises:
        NotFoundError: there is none, with the short names that there are.
    """
    version = None
    if name.startswith(f"{IDENTIFIERS[kind].value}-"):
        try:
            identifier = parse_identifier(name, IDENTIFIERS[kind])
        except ValueError as error:
            raise NotFoundError(Fault("bad-identifier", name, str(error))) from error
        version = view.find_spec(identifier.bare, identifier.revision)
    else:
        version = view.find_spec_by_slug(owner, kind, name)
    # A short name is often mistyped, so the message lists the existing ones.
    if version is None or version.payload.kind is not kind:
        known = ", ".join(sorted(spec.payload.slug for spec in view.list_specs(kind))) or "none"
        words = kind.value.replace("_", " ")
        raise NotFoundError(Fault("spec-not-found", name, f"no such {words} here; {words} names: {known}"))
    return version.payload


def find_procedure(view: View, claim: ClaimRevision) -> Scorer | None:
    """Return how exactly the claim's responses are scored; None where it names no scoring function, or one in words only."""
    if claim.scoring is None:
        return None
    # The version that the claim names, not the latest: the claim was made about that one.
    identifier = parse_identifier(claim.scoring, Kind.SCORING)
    body = view.find_opened(identifier.bare, identifier.revision)
    return body.procedure if isinstance(body, ScoringSpec) else None


def find_locked_procedure(view: View, lock: Lock) -> Scorer | None:
    """Return how exactly responses are scored under *lock*; None where it fixes no scoring, or one in words only."""
    version = None if lock.scoring is None else view.find_spec(lock.scoring.spec)
    body = None if version is None else version.payload.body
    return body.procedure if isinstance(body, ScoringSpec) else None


def _list_differences(old: SpecBody | None, new: SpecBody) -> str:
    if old is None:
        return "its body, which is sealed"
    before, after = to_document(old), to_document(new)
    return ", ".join(key for key in sorted({*before, *after}) if before.get(key) != after.get(key))


# Sealed specifications: a commitment in the log, its opening in a file that the owner keeps, and
# the reveal.
#
# The file is written before the commitment is recorded. A crash in between leaves a file without a
# record, which the same command picks up again. The other order could leave a commitment that can
# never be opened.

SALT_BYTES = 32
_OTHERS = 0o077


@dataclass(frozen=True, slots=True, kw_only=True)
class SealRequest:
    """What is to be sealed, and where its opening is kept."""

    kind: SpecKind
    slug: str
    body: SpecBody
    path: Path
    """The seal file; one that is there is gone on with if it is of the same body, and never written over otherwise."""
    why: str | None = None
    """Why there is a new version; required from the second."""


def seal_spec(writer: Writer, seal_request: SealRequest, *, owner: str, draw: Callable[[int], bytes]) -> tuple[SpecVersion, bool]:
    """Write the seal file, record the commitment, and return the sealed version and whether it is new.

    Args:
        draw: gives so many random bytes, that cannot be guessed.

    Raises:
        ConflictError: the seal file holds another opening; or the short name is in use, and no reason for a new version is given.
        InputError: contexts that could not be composed, or a seal file that is none.
        OSError: the file system refuses.
    """
    if isinstance(seal_request.body, ContextSpec):
        check_contexts(seal_request.body, where=f"{seal_request.kind.value} {seal_request.slug!r}")
    # Resumes after a crash: the file exists, but the commitment may be missing.
    kept = _find_kept(seal_request, owner)
    if kept is not None and (recorded := writer.find_spec(kept.opening.spec)) is not None and _is_opened(recorded.payload, kept.opening):
        return recorded.payload, False
    reference, version = _next_reference(writer, seal_request, owner)
    # The salt of the kept file is reused, so that the recorded commitment matches it.
    salt = draw(SALT_BYTES).hex() if kept is None else kept.opening.salt
    opening = SpecOpening(spec=reference, spec_kind=seal_request.kind, salt=salt, body=seal_request.body)
    _keep(seal_request.path, SealFile(slug=seal_request.slug, owner=owner, opening=opening), instead_of=kept)
    sealed = SpecVersion(
        spec=reference.partition("@")[0],
        kind=seal_request.kind,
        slug=seal_request.slug,
        version=version,
        owner=owner,
        # Computed from the file as read back, so that a file that cannot open the seal is never
        # relied on.
        commitment=commitment_of(read_seal(seal_request.path).opening),
        why=seal_request.why if version > 1 else None,
    )
    writer.append(sealed)
    return sealed, True


def read_seal(path: Path) -> SealFile:
    """Return what the seal file at *path* keeps.

    Raises:
        InputError: it is no seal file, its body is not one of its kind, or others than its owner can read it.
    """
    # The opening is as sensitive as a secret key until it is revealed.
    if path.is_file() and path.stat().st_mode & _OTHERS:
        problem = f"its mode is {path.stat().st_mode & 0o777:o}: others can read it, and who reads it can open the seal"
        raise InputError(Fault("file-open-to-others", str(path), problem, advice=f"chmod 600 {path}"))
    seal = from_document(SealFile, read_document(path), where=str(path))
    if not isinstance(seal.opening.body, BODIES[seal.opening.spec_kind]):
        problem = f"a {type(seal.opening.body).__name__} is not a specification of kind {seal.opening.spec_kind.value}"
        raise InputError(Fault("seal-not-opened", f"{path}, opening.body", problem))
    return seal


def reveal_spec(writer: Writer, seal: SealFile, *, why: str | None, actor: str) -> Entry:
    """Record the body and salt that *seal* keeps, in public, and return the entry.

    Raises:
        ConflictError: it is revealed already, or *actor* does not own it.
        InputError: it is not registered or not sealed, or the file does not open its commitment.
    """
    sealed = writer.find_spec(seal.opening.spec)
    # Only the owner decides when the text becomes public.
    if sealed is not None and sealed.payload.owner != actor:
        problem = f"belongs to {sealed.payload.owner}, and you act as {actor}"
        raise ConflictError(Fault("not-permitted", seal.opening.spec, problem, advice=f"ask {sealed.payload.owner} to reveal it"))
    return writer.append(Reveal(opening=seal.opening, why=why))


def _find_kept(seal_request: SealRequest, owner: str) -> SealFile | None:
    """Return what a file that is there already keeps, if it is of the same body; None where there is no file."""
    if not seal_request.path.exists():
        return None
    try:
        kept = read_seal(seal_request.path)
        is_same = (kept.owner, kept.slug, kept.opening.spec_kind, kept.opening.body) == (
            owner,
            seal_request.slug,
            seal_request.kind,
            seal_request.body,
        )
        problem = f"keeps the opening of {kept.opening.spec} ({kept.opening.spec_kind.value} {kept.slug!r} of {kept.owner}), another body"
    except InputError as error:
        if error.code == "file-open-to-others":
            raise
        kept, is_same, problem = None, False, "exists, and is not a seal file"
    if not is_same:
        raise ConflictError(Fault("file-exists", str(seal_request.path), problem))
    return kept


def _is_opened(version: SpecVersion, opening: SpecOpening) -> bool:
    return (version.kind, version.commitment) == (opening.spec_kind, commitment_of(opening))


def _next_reference(writer: Writer, seal_request: SealRequest, owner: str) -> tuple[str, int]:
    """Return identifier with version, and the version, under which the commitment is to be recorded."""
    spec = writer.find_spec_by_slug(owner, seal_request.kind, seal_request.slug)
    if spec is None:
        return f"{writer.allocate(IDENTIFIERS[seal_request.kind], owner)[0]}@1", 1
    where, reference = f"{seal_request.kind.value} {seal_request.slug!r}", format_reference(spec.payload)
    # A commitment to a text that is already public hides nothing.
    if writer.open_spec(spec.payload) == seal_request.body:
        problem = f"{reference} has the same content in public: a seal would hide nothing"
        raise ConflictError(Fault("already-public", where, problem))
    if not (seal_request.why and seal_request.why.strip()):
        hidden = ", and it is unknown whether it has this body: it is sealed" if spec.payload.body is None else ""
        advice = "give the reason for a new version (--reason), the seal file of this body (-o), or another short name"
        raise ConflictError(Fault("spec-differs", where, f"is registered as {reference}{hidden}", advice=advice))
    return f"{spec.payload.spec}@{spec.payload.version + 1}", spec.payload.version + 1


def _keep(path: Path, seal: SealFile, *, instead_of: SealFile | None) -> None:
    """Write *seal* to *path*, whole or not at all, for its owner's eyes; of *instead_of*, which is there, only the reference may change."""
    if instead_of is not None and replace(seal.opening, spec=instead_of.opening.spec) != instead_of.opening:
        raise ValueError("a seal file is never written over by another opening")
    if seal == instead_of:
        return
    text = json.dumps(to_document(seal), ensure_ascii=False, indent=2) + "\n"
    if instead_of is None:
        create_file(path, text.encode(), mode=0o600)
    else:
        replace_private(path, text.encode())
