"""What several specifications of P_deploy, and several judges, say together (docs/method.md, "Several specifications").

A claim *holds* only against every specification, at the plan's level. It is *contradicted*, or *does not carry over*, if that is so
against one of them after Holm's rule over Φ_deploy or ED; the interval of Φ_test stays at the plan's level, because it is one statement for
all of them. Where specifications differ, what is said of each is at level 1 − α/m (Bonferroni), so that all statements together err in at
most α of replays.

Holm orders the specifications by p and tests the k-th at level 1 − α/(m − k + 1). The p need not be computed: at each step every
remaining interval at that level which excludes the limit is counted as rejected, and the next step follows; by the duality of
tests and intervals this rejects the same specifications.

A judge is no choice of the auditor's that a level could be divided over: a verdict must be the same by the scores of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from audit.conditions import Facts, find_point_class
from audit.statistics.contrast_intervals import holm_levels
from audit.typology import JUDGES_DISAGREE, NOT_AFTER_HOLM, SPECS_DIFFER, WITH_ESTIMATE, Row
from registry.records.estimates import Estimate
from registry.records.verdict import ClaimClass, Mode, Standing, Verdict

ADVERSE = (Verdict.CONTRADICTED, Verdict.DOES_NOT_CARRY_OVER)
"""Verdicts that one of several specifications suffices for."""
_ORDER = {row.name: place for place, row in enumerate(WITH_ESTIMATE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The row that decided against one specification of P_deploy, or without an estimate."""

    spec: str | None
    """None without an estimate."""
    facts: Facts
    row: Row
    whole: Estimate | None
    """The estimate that `facts` come from; None without one."""
    judge: str | None = None
    """Whose scores; None where the table has one judge, or names none."""

    @property
    def level(self) -> float | None:
        """Level of the intervals; None without an estimate."""
        return None if self.whole is None else self.whole.level

    @property
    def point_class(self) -> ClaimClass | None:
        """The class of the point estimate, where the row gives it."""
        return find_point_class(self.facts) if self.row.point_class else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The row that decided a reading, with the decisions it rests on."""

    row: Row
    mode: Mode | None
    point_class: ClaimClass | None
    deciding: tuple[Decision, ...]
    """Those whose sentences explain the outcome: the adverse ones, or all."""
    each: tuple[Decision, ...]
    """One for each specification, at the level at which something is said of it."""
    hangs_on_one_spec: bool = False


AtLevel = Callable[[float], tuple[Decision, ...]]
"""The decisions of the same specifications with the intervals of Φ_deploy and ED at another level."""


def combine(nominal: tuple[Decision, ...], at_level: AtLevel | None) -> Joint:
    """Return what the decisions *nominal*, at the plan's level, say together.

    Args:
        at_level: decisions at other levels; None means there are none, so several specifications establish nothing adverse.
    """
    joint = _join(nominal, at_level)
    if len(nominal) == 1:
        return joint
    others = (tuple(one for one in nominal if one.spec != left_out.spec) for left_out in nominal)
    hangs = any(_join(rest, at_level).row.verdict is not joint.row.verdict for rest in others)
    return replace(joint, hangs_on_one_spec=hangs)


def combine_judges(joints: Sequence[Joint]) -> Joint:
    """Return what the outcomes by the scores of each judge say together, of which there must be at least one.

    Where verdict, class, standing and, for a figure that does not carry over, its direction are the same by all, that is the outcome;
    inconclusive by all for different reasons is inconclusive, technical where it is so by one. Otherwise the judges disagree.
    """
    if len(joints) == 1:
        return joints[0]
    deciding = tuple(one for joint in joints for one in joint.deciding)
    each = tuple(one for joint in joints for one in joint.each)
    hangs = any(joint.hangs_on_one_spec for joint in joints)
    if len({_find_outcome(joint) for joint in joints}) > 1:
        return Joint(row=JUDGES_DISAGREE, mode=JUDGES_DISAGREE.mode, point_class=_join_points(each), deciding=deciding, each=each)
    # Missing data come before noisy data, as among specifications.
    leading = next((joint for joint in joints if joint.mode is Mode.TECHNICAL), joints[0])
    points = {joint.point_class for joint in joints}
    point_class = leading.point_class if len(points) == 1 else None
    return replace(leading, point_class=point_class, deciding=deciding, each=each, hangs_on_one_spec=hangs)


def _find_outcome(joint: Joint) -> tuple[Verdict, ClaimClass, Standing | None, bool | None]:
    row = joint.row
    signs = {one.facts.estimate.ed.value > 0 for one in joint.deciding if one.facts.estimate is not None}
    # Deployment higher by one judge and lower by another is no agreement, though neither carries over.
    direction = next(iter(signs)) if row.class_ is ClaimClass.DEGRADED and len(signs) == 1 else None
    return row.verdict, row.class_, row.standing, direction


def _join(nominal: tuple[Decision, ...], at_level: AtLevel | None) -> Joint:
    if len(nominal) == 1:
        only = nominal[0]
        return Joint(row=only.row, mode=only.row.mode, point_class=only.point_class, deciding=nominal, each=nominal)
    after_holm = _reject_by_holm(nominal, at_level)
    if len({one.row.verdict for one in after_holm}) == 1:
        return _agree(after_holm)
    each = _read_together(after_holm, at_level, plan_level=nominal[0].level)
    adverse = tuple(one for one in each if _is_adverse(one))
    if adverse:
        row = _find_first(adverse)
        return Joint(row=row, mode=row.mode, point_class=None, deciding=adverse, each=each)
    failed = tuple(one for one in after_holm if one.row is NOT_AFTER_HOLM)
    row = NOT_AFTER_HOLM if failed else SPECS_DIFFER
    # Missing data come before noisy data: an interval that is not there cannot be narrowed.
    mode = Mode.TECHNICAL if any(one.row.mode is Mode.TECHNICAL for one in each) else row.mode
    return Joint(row=row, mode=mode, point_class=_join_points(after_holm), deciding=failed or each, each=each)


def _agree(each: tuple[Decision, ...]) -> Joint:
    """All specifications give one verdict; where different rows gave it, missing data come before noisy data."""
    rows = {one.row.name for one in each}
    modes = {one.row.mode for one in each}
    row = _find_first(each) if len(rows) == 1 or each[0].row.verdict is not Verdict.INCONCLUSIVE else SPECS_DIFFER
    if NOT_AFTER_HOLM.name in rows:
        row = NOT_AFTER_HOLM
    mode = Mode.TECHNICAL if row.mode is not None and Mode.TECHNICAL in modes else row.mode
    return Joint(row=row, mode=mode, point_class=_join_points(each) if row.point_class else None, deciding=each, each=each)


def _find_first(each: tuple[Decision, ...]) -> Row:
    """The row that comes first in the decision table: any of them is shown, and one suffices."""
    return min((one.row for one in each), key=lambda row: _ORDER.get(row.name, len(_ORDER)))


def _is_adverse(one: Decision) -> bool:
    return one.row.verdict in ADVERSE


def _read_together(after_holm: tuple[Decision, ...], at_level: AtLevel | None, *, plan_level: float | None) -> tuple[Decision, ...]:
    """What can be said of each specification where they differ, at level 1 − α/m; *after_holm* where other levels are not known."""
    if at_level is None or plan_level is None:
        return after_holm
    stricter = {one.spec: one for one in at_level(1 - (1 - plan_level) / len(after_holm))}
    return tuple(stricter[one.spec] for one in after_holm)


def _reject_by_holm(nominal: tuple[Decision, ...], at_level: AtLevel | None) -> tuple[Decision, ...]:
    """*nominal* after Holm's rule: an adverse decision is kept at the level of its step, or became `not-after-holm` there."""
    settled: dict[str | None, Decision] = {one.spec: one for one in nominal if not _is_adverse(one)}
    waiting = {one.spec: one for one in nominal if _is_adverse(one)}
    rejected = 0
    plan_level = nominal[0].level
    while waiting and plan_level is not None:
        level = holm_levels(len(nominal) - rejected, level=plan_level)[0]
        decisions = nominal if level == plan_level else at_level(level) if at_level else ()
        waiting |= {one.spec: one for one in decisions if one.spec in waiting}
        adverse = {spec: one for spec, one in waiting.items() if decisions and _is_adverse(one)}
        if not adverse:
            break
        settled |= adverse
        rejected += len(adverse)
        # The next step asks for less, so what failed here is looked at again.
        waiting = {spec: one for spec, one in waiting.items() if spec not in adverse}
    settled |= {spec: replace(one, row=NOT_AFTER_HOLM) for spec, one in waiting.items()}
    return tuple(settled[one.spec] for one in nominal)


def _join_points(each: tuple[Decision, ...]) -> ClaimClass | None:
    """The class that the point estimates alone suggest: one adverse suffices, stable needs all."""
    points = [find_point_class(one.facts) for one in each]
    adverse = next((point for point in points if point in (ClaimClass.INVERTED, ClaimClass.DEGRADED)), None)
    if adverse is not None:
        return adverse
    return ClaimClass.STABLE if all(point is ClaimClass.STABLE for point in points) else None
