"""How far a study is: what was planned, answered and scored, by skill and condition."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from audit.skills.recording import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The cells of one condition of one skill that are in a run folder."""

    arm: str
    planned: int
    answered: int
    failed: int
    matched: int
    """With their patterns looked for."""
    judged: int
    """With a verdict."""

    @property
    def open(self) -> int:
        """Calls that were not made yet."""
        return self.planned - self.answered - self.failed


def take_stages(outcomes: Mapping[str, Iterable[Outcome]]) -> dict[str, list[Stage]]:
    """Return the stages by skill, in the order of arms."""
    found: dict[str, list[Stage]] = {}
    for name, each in outcomes.items():
        by_arm: dict[str, list[Outcome]] = {}
        for one in each:
            by_arm.setdefault(one.cell.arm, []).append(one)
        found[name] = [_count(arm, by_arm[arm]) for arm in sorted(by_arm)]
    return found


def _count(arm: str, outcomes: Sequence[Outcome]) -> Stage:
    responses = [one.response for one in outcomes if one.response is not None]
    failed = sum(one.failure is not None for one in responses)
    return Stage(
        arm=arm,
        planned=len(outcomes),
        answered=len(responses) - failed,
        failed=failed,
        matched=sum(one.patterns is not None for one in outcomes),
        judged=sum(one.excluded is None for one in outcomes),
    )
