"""From files to their checks: each told by what it is, drawn again on all cores, and checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from registry.report.workers import Job, Made, render_many
from registry.store.ledger import Ledger
from registry.verification.carried import Carried, check_record, read_carried
from registry.verification.check import Check
from registry.verification.drawing import check_bytes
from registry.verification.kind import FileKind, tell_kind
from registry.verification.locked import check_lock
from registry.verification.recorded import check_current, check_registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A file to be verified."""

    name: str
    """As the user calls it."""
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What files are verified with."""

    ledger: Ledger | None = None
    """A registry to compare with; None to do without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What the checks of one file came to."""

    name: str
    kind: FileKind
    checks: tuple[Check, ...]


def verify_files(
    files: Sequence[Given], means: Means, *, time_limit_s: float, workers: int, progress: Callable[[int], None] | None = None
) -> list[Verified]:
    """Return the checks of each of *files*, in their order.

    Args:
        time_limit_s: seconds that drawing one of them may take.
        workers: how many processes draw at once.
        progress: told how many more files are checked.

    Raises:
        InputError: one of them is nothing that can be verified, or cannot be drawn.
    """
    kinds = [tell_kind(one.data) for one in files]
    carried = {at: read_carried(one.data, where=one.name) for at, one in enumerate(files) if kinds[at] is FileKind.SUPPLEMENT}
    jobs = [Job(key=str(at), supplement=one.supplement, format=one.format) for at, one in carried.items()]
    done: dict[int, tuple[Check, ...]] = {}
    for made in render_many(jobs, workers=workers, time_limit_s=time_limit_s):
        at = int(made.key)
        done[at] = check_carried(carried[at], means, made=made)
        if progress is not None:
            progress(1)
    return [Verified(name=one.name, kind=kinds[at], checks=done[at]) for at, one in enumerate(files)]


def check_carried(carried: Carried, means: Means, *, made: Made | None) -> tuple[Check, ...]:
    """Return the checks of a supplement, in order."""
    return (
        check_bytes(carried, made, unsigned=carried.data, published=None),
        check_record(carried),
        check_lock(carried.supplement),
        check_registry(carried, means.ledger),
        check_current(carried, means.ledger),
    )
