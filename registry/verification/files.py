"""From files to their checks: each told by what it is; supplements drawn again on all cores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from registry.report.workers import Job, Made, render_many
from registry.store.ledger import Ledger
from registry.verification.bundles import check_bundle
from registry.verification.carried import Carried, read_carried
from registry.verification.check import Check
from registry.verification.kind import FileKind, tell_kind
from registry.verification.ledgers import check_ledger, open_copy
from registry.verification.means import Means
from registry.verification.notes import check_consistency, check_note, check_proof
from registry.verification.supplement import check_supplement
from registry.verification.trust import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A file to be verified."""

    path: Path
    kind: FileKind
    data: bytes = b""
    """Its bytes; empty for a bundle and a registry, which are read where they are."""
    proof: bytes | None = None
    """Those of the proof beside a supplement, or of one that a checkpoint begins; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What the checks of one file came to."""

    name: str
    kind: FileKind
    checks: tuple[Check, ...]


def verify_files(
    files: Sequence[Given], means: Means, *, time_limit_s: float, workers: int, progress: Callable[[int], None] = lambda _more: None
) -> list[Verified]:
    """Return the checks of each of *files*, in their order.

    Args:
        time_limit_s: seconds that drawing one of them may take.
        workers: how many processes draw at once.
        progress: told how many more files are checked.

    Raises:
        InputError: one of them is nothing that can be verified, or cannot be drawn.
    """
    carried = {at: read_carried(one.data, where=str(one.path)) for at, one in enumerate(files) if one.kind is FileKind.SUPPLEMENT}
    done: dict[int, tuple[Check, ...]] = {}
    for at, one in enumerate(files):
        if at not in carried:
            done[at] = _check_other(one, means)
            progress(1)
    jobs = [Job(key=str(at), supplement=one.supplement, format=one.format) for at, one in carried.items()]
    for made in render_many(jobs, workers=workers, time_limit_s=time_limit_s):
        at = int(made.key)
        done[at] = _check(carried[at], means, proof=files[at].proof, made=made, where=str(files[at].path))
        progress(1)
    return [Verified(name=str(one.path), kind=one.kind, checks=done[at]) for at, one in enumerate(files)]


def check_file(
    data: bytes, *, proof: bytes | None, trust: Trust, ledger: Ledger | None = None, made: Made | None = None, where: str = "file"
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
        InputError: it is nothing that can be verified, or its record cannot be drawn.
    """
    means = Means(trust=trust, given=trust, ledger=ledger)
    kind = tell_kind(data)
    if kind is FileKind.SUPPLEMENT:
        return _check(read_carried(data, where=where), means, proof=proof, made=made, where=where)
    return _check_other(Given(path=Path(where), kind=kind, data=data, proof=proof), means)


def _check(carried: Carried, means: Means, *, proof: bytes | None, made: Made | None, where: str) -> tuple[Check, ...]:
    return check_supplement(carried, means, proof=proof, made=made, where=f"proof of {where}")


def _check_other(given: Given, means: Means) -> tuple[Check, ...]:
    match given.kind:
        case FileKind.PROOF:
            return check_proof(given.data, means, where=str(given.path))
        case FileKind.CHECKPOINT:
            return check_note(given.data, means, proof=given.proof, where=str(given.path))
        case FileKind.CONSISTENCY:
            return check_consistency(given.data, means, where=str(given.path))
        case FileKind.BUNDLE:
            return check_bundle(given.path, means)
        case FileKind.REGISTRY:
            with open_copy(given.path) as ledger:
                return check_ledger(ledger, means)
        case FileKind.SUPPLEMENT:
            raise AssertionError("a supplement is checked with what it carries")
