"""Sealed contexts of a live replay: the texts stand in seal files beside it, and the record gets their salted commitments alone.

`chat.seal.yaml` beside `chat.yaml` makes that context a sealed one, for the lock and for the run. Each context file has a salt of its own,
so nobody can try short texts until one fits.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from audit.replay.parts import SIDES
from registry.codec.commitment import commitment_of
from registry.codec.documents import from_document
from registry.codec.files import read_document
from registry.errors import ConflictError, Fault, InputError
from registry.records.replay import Replay
from registry.records.spec import ContextSpec, SpecKind, SpecVersion
from registry.registration.context_file import find_beside, read_context_spec
from registry.registration.sealing import Sealing, read_seal, seal_spec
from registry.registration.specs import format_reference
from registry.store.view import View
from registry.store.writer import Writer

ENDING = ".seal.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedContexts:
    """A context specification that is known by its commitment, with the texts that its seal file holds."""

    spec: ContextSpec
    reference: str
    """`CTX-…@n`."""
    commitment: str


def name_seal(path: Path) -> Path:
    """Return where the seal file of the context file *path* stands: `chat.seal.yaml` beside `chat.yaml`."""
    return path.with_name(f"{path.stem}{ENDING}")


def open_seal(path: Path, view: View | None) -> SealedContexts:
    """Return what the seal file *path* holds, if it opens a commitment of the registry.

    Raises:
        InputError: it is no seal file of contexts, others can read it, or the registry has no commitment that it opens.
    """
    opening = read_seal(path).opening
    found = None if view is None else view.find_spec(opening.spec)
    commitment = commitment_of(opening)
    if found is None or (found.payload.kind, found.payload.commitment) != (opening.spec_kind, commitment):
        text = f"opens no commitment that the registry has for {opening.spec}: nothing shows that these texts were sealed"
        advice = "caveat audit run REPLAY --seal records the commitment before the first call"
        raise InputError(Fault(code="seal-not-recorded", where=str(path), found=text, advice=advice))
    if not isinstance(opening.body, ContextSpec):
        text = f"holds a {opening.spec_kind.value}, and a context is asked for"
        raise InputError(Fault(code="seal-not-opened", where=str(path), found=text, advice="name the seal file of the contexts"))
    return SealedContexts(spec=opening.body, reference=format_reference(found.payload), commitment=commitment)


def seal_contexts(
    writer: Writer, path: Path, *, owner: str, draw: Callable[[int], bytes] = secrets.token_bytes
) -> tuple[tuple[SpecVersion, Path], ...]:
    """Seal every context file of the replay *path*, and return the sealed versions that are new, each with its seal file.

    A context that is sealed already stays as it is.

    Raises:
        ConflictError: a context is registered with its texts, or another seal file stands in the way.
        InputError: the replay or a context file cannot be read.
    """
    replay = from_document(Replay, read_document(path), where=str(path))
    kinds = {one.context: _find_kind(one.arm) for one in reversed(replay.arms)}
    sealed = []
    for name, kind in reversed(kinds.items()):
        file = find_beside(path.parent, name, where=f"{path}, context {name!r}")
        seal = name_seal(file)
        if seal.is_file() and _is_recorded(writer, seal):
            continue
        if not file.is_file():
            _refuse_registered(writer, path, name)
            continue
        said = Sealing(kind=kind, slug=file.stem, body=read_context_spec(file)[0], path=seal)
        version, is_new = seal_spec(writer, said, owner=owner, draw=draw)
        sealed += [(version, seal)] if is_new else []
    return tuple(sealed)


def _find_kind(arm: str) -> SpecKind:
    return SpecKind.TEST_CONTEXT if arm == SIDES[0] else SpecKind.DEPLOY_CONTEXT


def _is_recorded(view: View, seal: Path) -> bool:
    try:
        open_seal(seal, view)
    except InputError as error:
        if error.code != "seal-not-recorded":
            raise
        return False
    return True


def _refuse_registered(view: View, path: Path, name: str) -> None:
    """A context that is registered with its texts is public: sealing it now hides nothing. One that is sealed needs its seal file."""
    found = [one.payload for kind in (SpecKind.TEST_CONTEXT, SpecKind.DEPLOY_CONTEXT) for one in view.list_specs(kind)]
    public = [one for one in found if name in (one.slug, one.spec, format_reference(one)) and one.body is not None]
    if public:
        text = f"{format_reference(public[0])} is registered with its texts, for everybody to read: a seal would hide nothing"
        advice = "leave --seal out, or name a context file that is not registered"
        raise ConflictError(Fault(code="seal-of-public", where=f"{path}, context {name!r}", found=text, advice=advice))
