"""From files to their checks: each told by what it begins with, never by its name; supplements are drawn again meanwhile."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from registry.errors import CaveatError, Fault, InputError
from registry.report.workers import Job, Made, PdfWorker, render_many
from registry.verification.check import Check

if TYPE_CHECKING:
    from registry.store.ledger import Ledger
    from registry.verification.carried import Carried
    from registry.verification.means import Means
    from registry.verification.trust import Trust

SUFFIX = ".tlog-proof"
_LARGEST_BYTES = 200_000_000
_HEAD_BYTES = 4_000
"""The text of a checkpoint is three short lines, of which its signatures follow."""
_SQLITE = b"SQLite format 3\0"
_BUNDLE = (b'{"cards":', b"\x28\xb5\x2f\xfd")
"""A bundle's first line is canonical JSON, whose keys are sorted; or it is compressed (RFC 8878, section 3.1.1)."""
_SIGNATURES = "\n\n\N{EM DASH} ".encode()
_PDF = b"%PDF-"


class FileKind(StrEnum):
    """What can be verified."""

    SUPPLEMENT = "supplement"
    """PDF, HTML or JSON; also whatever is none of the others, which reading it as a supplement refuses in words."""
    PROOF = "proof"
    """C2SP tlog-proof."""
    CHECKPOINT = "checkpoint"
    """A signed note of C2SP tlog-checkpoint."""
    CONSISTENCY = "consistency"
    """What `caveat log prove --since` writes."""
    BUNDLE = "bundle"
    """What `caveat export` writes."""
    REGISTRY = "registry"
    """A SQLite file."""
    UNREADABLE = "unreadable"
    """None of these, or nothing that can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A file to be verified."""

    path: Path
    kind: FileKind
    data: bytes = b""
    """Its bytes; empty for a bundle and a registry, which are read where they are."""
    proof: bytes | None = None
    """Those of the proof inside a supplement, or else beside it, or of one that a checkpoint begins; None where there is none."""
    error: InputError | None = None
    """Why it cannot be read at all; None where it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What the checks of one file came to."""

    name: str
    kind: FileKind
    checks: tuple[Check, ...]
    faults: tuple[Fault, ...] = ()
    """Why nothing of it could be checked; empty where something was."""


def tell_kind(data: bytes) -> FileKind:
    """Return what a file is that is, or begins with, *data*."""
    if data.startswith(_SQLITE):
        return FileKind.REGISTRY
    if data.startswith(_BUNDLE):
        return FileKind.BUNDLE
    if data.startswith(b"c2sp.org/tlog-proof@"):
        return FileKind.PROOF
    if data.startswith(b"old "):
        return FileKind.CONSISTENCY
    if data.lstrip()[:1] == b"{":
        return FileKind.SUPPLEMENT
    return FileKind.CHECKPOINT if _SIGNATURES in data[:_HEAD_BYTES] and not data.startswith(_PDF) else FileKind.SUPPLEMENT


def read_given(path: Path, proof: Path | None) -> Given:
    """Return the file at *path* with its proof.

    Args:
        proof: where its proof is; None for `NAME.tlog-proof` beside it, where that is there. One inside the file is taken before it.

    Raises:
        InputError: `file-too-large`, `file-not-readable`.
    """
    head = _read(path, _HEAD_BYTES, is_part=True)
    kind = tell_kind(head)
    if kind in (FileKind.BUNDLE, FileKind.REGISTRY):
        return Given(path=path, kind=kind)
    beside = proof or path.with_name(path.name + SUFFIX)
    data = _read(path, _LARGEST_BYTES)
    return Given(
        path=path, kind=kind, data=data, proof=_choose_proof(data, kind, _read(beside, _LARGEST_BYTES) if beside.is_file() else None)
    )


def _choose_proof(data: bytes, kind: FileKind, beside: bytes | None) -> bytes | None:
    """Return the proof inside a supplement, which anybody can put there; else the one beside it."""
    from registry.report.enclosed import split_file  # noqa: PLC0415
    from registry.verification.carried import tell_format  # noqa: PLC0415

    if kind is not FileKind.SUPPLEMENT:
        return beside
    inside = split_file(data, tell_format(data)).proof
    return beside if inside is None else inside


def read_all(paths: Sequence[Path], proof: Path | None) -> list[Given]:
    """Return the files at *paths*, as `read_given`; of several, one that cannot be read is given with its error.

    Raises:
        InputError: none of them can be read.
    """
    given: list[Given] = []
    for path in paths:
        try:
            given.append(read_given(path, proof))
        except InputError as error:
            given.append(Given(path=path, kind=FileKind.UNREADABLE, error=error))
    errors = [one.error for one in given if one.error is not None]
    _refuse_all(errors, among=given)
    return given


def _refuse_all(errors: Sequence[CaveatError], *, among: Sequence[Given]) -> None:
    """Of several files each is answered for itself; where there is none to answer, the command has nothing to say but why."""
    if errors and len(errors) == len(among):
        raise errors[0] if len(errors) == 1 else InputError(fault for one in errors for fault in one.faults)


def verify_files(
    files: Sequence[Given], means: "Means", *, time_limit_s: float, workers: int, progress: Callable[[int], None] = lambda _more: None
) -> list[Verified]:
    """Return the checks of each of *files*, in their order.

    Args:
        time_limit_s: seconds that drawing one of them may take.
        workers: how many processes draw at once.
        progress: told how many more files are checked.

    Raises:
        CaveatError: none of them is anything that can be verified; one that is not, among others that are, is answered by its faults.
    """
    from registry.verification.contradictions import find_contradictions, mark_contradiction  # noqa: PLC0415
    from registry.verification.supplement import examine_supplement  # noqa: PLC0415  (the workers start first)

    with ExitStack() as stack:
        pdfs = sum(one.kind is FileKind.SUPPLEMENT and one.data.startswith(_PDF) for one in files)
        ready = [stack.enter_context(PdfWorker()) for _ in range(max(1, min(workers, pdfs)))]
        for worker in ready[:pdfs]:
            worker.start()  # it loads while the files are read
        failed: dict[int, CaveatError] = {at: one.error for at, one in enumerate(files) if one.error is not None}
        opened = _open_all(files, means, failed)
        carried = {at: one for at, one in opened.items() if not isinstance(one, tuple)}
        done = {at: one for at, one in opened.items() if isinstance(one, tuple)}
        jobs = [Job(key=str(at), supplement=one.supplement, format=one.format) for at, one in carried.items()]
        drawn = render_many(jobs, workers=ready, time_limit_s=time_limit_s)
        for at, one in enumerate(files):
            if one.kind not in (FileKind.SUPPLEMENT, FileKind.UNREADABLE):
                try:
                    done[at] = _check_other(one, means)
                except CaveatError as error:
                    failed[at] = error
        _refuse_all(list(failed.values()), among=files)
        progress(len(done) + len(failed))
        examined = {at: examine_supplement(one, means, proof=files[at].proof, where=_name_proof(files[at])) for at, one in carried.items()}
        for made in drawn:
            done[int(made.key)] = examined[int(made.key)].finish(made)
            progress(1)
    contradicted = find_contradictions(files, means.trust)
    return [_tell(one, mark_contradiction(done.get(at, ()), contradicted.get(at)), failed.get(at)) for at, one in enumerate(files)]


def _tell(given: Given, checks: tuple[Check, ...], error: CaveatError | None) -> Verified:
    if error is None:
        return Verified(name=str(given.path), kind=given.kind, checks=checks)
    return Verified(name=str(given.path), kind=FileKind.UNREADABLE, checks=(), faults=error.faults)


def check_file(
    data: bytes, *, proof: bytes | None, trust: "Trust", ledger: "Ledger | None" = None, made: Made | None = None, where: str = "file"
) -> tuple[Check, ...]:
    """Return the checks of one file in memory, a supplement, proof or checkpoint, in order.

    Args:
        data: the file's bytes.
        proof: those of the proof beside a supplement; None where there is none.
        trust: the keys that are known.
        ledger: a registry to compare with; None to do without.
        made: what drawing the supplement again came to; None where it was not drawn, and then `bytes` was not checked.
        where: what the file is called, for messages.

    Raises:
        InputError: it is nothing that can be verified.
    """
    from registry.verification.means import Means  # noqa: PLC0415
    from registry.verification.supplement import examine_supplement  # noqa: PLC0415

    means = Means(trust=trust, given=trust, ledger=ledger)
    given = Given(path=Path(where), kind=tell_kind(data), data=data, proof=_choose_proof(data, tell_kind(data), proof))
    if given.kind is not FileKind.SUPPLEMENT:
        return _check_other(given, means)
    opened = _open(given, means)
    if isinstance(opened, tuple):
        return opened
    return examine_supplement(opened, means, proof=given.proof, where=_name_proof(given)).finish(made)


def _name_proof(given: Given) -> str:
    return f"proof of {given.path}"


def _open_all(files: Sequence[Given], means: "Means", failed: dict[int, CaveatError]) -> "dict[int, Carried | tuple[Check, ...]]":
    """What each supplement carries, or its checks where it carries nothing that can be read; what is none is added to *failed*."""
    opened: dict[int, Carried | tuple[Check, ...]] = {}
    for at, one in enumerate(files):
        if one.kind is FileKind.SUPPLEMENT:
            try:
                opened[at] = _open(one, means)
            except InputError as error:
                failed[at] = error
    return opened


def _open(given: Given, means: "Means") -> "Carried | tuple[Check, ...]":
    from registry.verification.carried import read_carried  # noqa: PLC0415
    from registry.verification.supplement import check_unreadable  # noqa: PLC0415

    try:
        return read_carried(given.data, where=str(given.path))
    except InputError as error:
        checks = check_unreadable(given.data, error, means, proof=given.proof, where=_name_proof(given))
        if not checks:
            raise
        return checks


def _check_other(given: Given, means: "Means") -> tuple[Check, ...]:
    from registry.verification import notes  # noqa: PLC0415

    match given.kind:
        case FileKind.PROOF:
            return notes.check_proof(given.data, means, where=str(given.path))
        case FileKind.CHECKPOINT:
            return notes.check_note(given.data, means, proof=given.proof, where=str(given.path))
        case FileKind.CONSISTENCY:
            return notes.check_consistency(given.data, means, where=str(given.path))
        case FileKind.BUNDLE:
            from registry.verification.bundles import check_bundle  # noqa: PLC0415

            return check_bundle(given.path, means)
        case FileKind.REGISTRY:
            from registry.verification.ledgers import check_ledger, open_copy  # noqa: PLC0415

            with open_copy(given.path) as ledger:
                return check_ledger(ledger, means)
        case FileKind.SUPPLEMENT | FileKind.UNREADABLE:
            raise AssertionError("a supplement is checked with what it carries, what cannot be read not at all")


def _read(path: Path, most: int, *, is_part: bool = False) -> bytes:
    """The first *most* bytes; a larger file is refused, unless its beginning is all that is asked for."""
    if not path.is_file():
        advice = "save what comes in as a file first"
        raise InputError(Fault(code="file-not-readable", where=str(path), found="it is a pipe or device, and no file", advice=advice))
    try:
        with path.open("rb") as stream:
            data = stream.read(most if is_part else most + 1)
    except OSError as error:
        raise InputError(Fault(code="file-not-readable", where=str(path), found=error.strerror or str(error))) from error
    if len(data) > most:
        found = f"it has more than {most:,} bytes, which no supplement has"
        raise InputError(Fault(code="file-too-large", where=str(path), found=found))
    return data
