"""What several specifications of P_deploy, and several judges, say together (method section 3).

`stable` needs every one of them; `inverted` and `degraded` need one that holds after Holm's rule; otherwise the reading is undetermined.

Holm orders the specifications by p and tests the k-th at level 1 − α/(m − k + 1). The p need not be computed: at each step every
remaining interval at that level which excludes the limit is counted as rejected, and the next step follows; by the duality of
tests and intervals this rejects the same specifications.

A judge is no choice of the auditor's that a level could be divided over: a class must hold by the scores of each (statistics section 3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from audit.conditions import Facts, find_point_class
from audit.demotion import WITHOUT_LOCK
from audit.statistics.multiplicity import holm_levels
from audit.typology import JUDGES_DISAGREE, NOT_AFTER_HOLM, SPECS_DIFFER, Row
from registry.records.classification import ClaimClass, Mode, Standing
from registry.records.estimate import Estimate

ADVERSE = (ClaimClass.INVERTED, ClaimClass.DEGRADED)


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
    def candidate(self) -> ClaimClass | None:
        """The class of the point estimate, where the row gives it."""
        return find_point_class(self.facts) if self.row.candidate else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The row that decided a reading, with the decisions it rests on."""

    row: Row
    mode: Mode | None
    candidate: ClaimClass | None
    deciding: tuple[Decision, ...]
    """Those whose sentences explain the outcome: the adverse ones, or all."""
    each: tuple[Decision, ...]
    """One per specification, after Holm's rule."""
    hangs_on_one_spec: bool = False


Adjusted = Callable[[float], tuple[Decision, ...]]
"""The decisions of the same specifications with intervals at another level."""


def combine(nominal: tuple[Decision, ...], adjusted: Adjusted | None, *, establishes: bool = True) -> Joint:
    """Return what the decisions *nominal*, at the plan's level, say together.

    Args:
        adjusted: decisions at the levels Holm's rule asks for; None means there are none, so nothing adverse can be established.
        establishes: whether a lock preceded the scores; without one, the class that a specification could change is the demoted one.
    """
    joint = _join(nominal, adjusted)
    if len(nominal) == 1:
        return joint
    others = (tuple(one for one in nominal if one.spec != left_out.spec) for left_out in nominal)
    class_ = _find_class(joint, establishes=establishes)
    hangs = any(_find_class(_join(rest, adjusted), establishes=establishes) is not class_ for rest in others)
    return replace(joint, hangs_on_one_spec=hangs)


def combine_judges(joints: Sequence[Joint]) -> Joint:
    """Return what the outcomes by the scores of each judge say together, of which there must be at least one.

    Where class, standing and, for a degraded figure, its direction are the same by all, that is the outcome; undetermined by all for
    different reasons is undetermined, technical where it is so by one. Otherwise the judges disagree.
    """
    if len(joints) == 1:
        return joints[0]
    deciding = tuple(one for joint in joints for one in joint.deciding)
    each = tuple(one for joint in joints for one in joint.each)
    hangs = any(joint.hangs_on_one_spec for joint in joints)
    if len({_find_outcome(joint) for joint in joints}) > 1:
        return Joint(row=JUDGES_DISAGREE, mode=JUDGES_DISAGREE.mode, candidate=_join_candidates(each), deciding=deciding, each=each)
    # Missing data come before noisy data, as among specifications.
    leading = next((joint for joint in joints if joint.mode is Mode.TECHNICAL), joints[0])
    candidates = {joint.candidate for joint in joints}
    candidate = leading.candidate if len(candidates) == 1 else None
    return replace(leading, candidate=candidate, deciding=deciding, each=each, hangs_on_one_spec=hangs)


def _find_outcome(joint: Joint) -> tuple[ClaimClass, Standing | None, bool | None]:
    row = joint.row
    signs = {one.facts.estimate.ed.value > 0 for one in joint.deciding if one.facts.estimate is not None}
    # Deployment higher by one judge and lower by another is no agreement, though both are degraded.
    direction = next(iter(signs)) if row.class_ is ClaimClass.DEGRADED and len(signs) == 1 else None
    return row.class_, row.standing, direction


def _find_class(joint: Joint, *, establishes: bool) -> ClaimClass:
    demoted = not establishes and joint.row.standing is Standing.ESTABLISHED
    return WITHOUT_LOCK[joint.row.class_].becomes if demoted else joint.row.class_


def _join(nominal: tuple[Decision, ...], adjusted: Adjusted | None) -> Joint:
    if len(nominal) == 1:
        only = nominal[0]
        return Joint(row=only.row, mode=only.row.mode, candidate=only.candidate, deciding=nominal, each=nominal)
    each = _reject_by_holm(nominal, adjusted)
    adverse = tuple(one for one in each if _is_adverse(one))
    if adverse:
        return Joint(row=adverse[0].row, mode=None, candidate=None, deciding=adverse, each=each)
    rows = {one.row.name: one.row for one in each}
    if len(rows) == 1:
        row = each[0].row
        return Joint(row=row, mode=row.mode, candidate=_join_candidates(each) if row.candidate else None, deciding=each, each=each)
    row = NOT_AFTER_HOLM if NOT_AFTER_HOLM.name in rows else SPECS_DIFFER
    modes = {one.row.mode for one in each}
    # Missing data come before noisy data: an interval that is not there cannot be narrowed.
    mode = Mode.TECHNICAL if Mode.TECHNICAL in modes else row.mode
    return Joint(row=row, mode=mode, candidate=_join_candidates(each), deciding=each, each=each)


def _is_adverse(one: Decision) -> bool:
    return one.row.class_ in ADVERSE and one.row.standing is Standing.ESTABLISHED


def _reject_by_holm(nominal: tuple[Decision, ...], adjusted: Adjusted | None) -> tuple[Decision, ...]:
    """*nominal* after Holm's rule: an adverse decision stands at the level of its step, or became `not-after-holm` there."""
    settled: dict[str | None, Decision] = {one.spec: one for one in nominal if not _is_adverse(one)}
    waiting = {one.spec: one for one in nominal if _is_adverse(one)}
    rejected = 0
    plan_level = nominal[0].level
    while waiting and plan_level is not None:
        level = holm_levels(len(nominal) - rejected, level=plan_level)[0]
        decisions = nominal if level == plan_level else adjusted(level) if adjusted else ()
        waiting |= {one.spec: one for one in decisions if one.spec in waiting}
        found = {spec: one for spec, one in waiting.items() if decisions and _is_adverse(one)}
        if not found:
            break
        settled |= found
        rejected += len(found)
        # The next step asks for less, so what failed here is looked at again.
        waiting = {spec: one for spec, one in waiting.items() if spec not in found}
    settled |= {spec: replace(one, row=NOT_AFTER_HOLM) for spec, one in waiting.items()}
    return tuple(settled[one.spec] for one in nominal)


def _join_candidates(each: tuple[Decision, ...]) -> ClaimClass | None:
    """The class that the point estimates alone would give: one adverse suffices, stable needs all."""
    points = [find_point_class(one.facts) for one in each]
    adverse = next((point for point in points if point in ADVERSE), None)
    if adverse is not None:
        return adverse
    return ClaimClass.STABLE if all(point is ClaimClass.STABLE for point in points) else None
