"""What an established class becomes when the scores are not those that a lock fixed before, as data.

Described in docs/method.md ("Without a lock") and docs/preregistration.md.
"""

from dataclasses import dataclass, replace

from registry.records.classification import ClaimClass, Mode, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Demotion:
    """What an established class becomes when no lock preceded the scores, or fixed others: they can restrict, never establish."""

    class_: ClaimClass
    """What would have been established."""
    becomes: ClaimClass
    standing: Standing | None = None
    mode: Mode | None = None
    why: str
    resolves: str | None = None


WITHOUT_LOCK = {
    ClaimClass.INVERTED: Demotion(
        class_=ClaimClass.INVERTED,
        becomes=ClaimClass.INVERTED,
        standing=Standing.CANDIDATE,
        why="No lock preceded these scores, so they can restrict the claim but not establish its inversion: candidate.",
    ),
    ClaimClass.DEGRADED: Demotion(
        class_=ClaimClass.DEGRADED,
        becomes=ClaimClass.DEGRADED,
        why="No lock preceded these scores, so they can restrict the claim but not establish how far it is degraded.",
    ),
    ClaimClass.STABLE: Demotion(
        class_=ClaimClass.STABLE,
        becomes=ClaimClass.UNDETERMINED,
        mode=Mode.TECHNICAL,
        why="No lock preceded these scores, so they can restrict the claim but not establish that it is stable.",
        resolves="A replay under a lock: the plan, θ and the direction fixed before the first response.",
    ),
}
"""By established class; a class that is not here needs no lock."""

_NO_LOCK, _OTHER = "No lock preceded these scores, so", "The lock fixes other scores than these, so"

OFF_LOCK = {
    class_: replace(
        one,
        why=one.why.replace(_NO_LOCK, _OTHER),
        resolves=one.resolves and "A replay of what is locked: its tasks, its contexts, its scoring and its model.",
    )
    for class_, one in WITHOUT_LOCK.items()
}
"""By established class, where the lock was there and other tasks, contexts, models or scoring were used."""
