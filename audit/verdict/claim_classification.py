"""Station 6: evidence and estimate become a verdict, a class and a standing, over specifications and judges together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from audit.statistics.contrast_intervals import holm_levels
from audit.statistics.estimate_intervals import relevel
from audit.verdict.decision_table import JUDGES_DISAGREE, NOT_AFTER_HOLM, SPECS_DIFFER, WITH_ESTIMATE, DecisionRow, decide
from audit.verdict.verdict_conditions import (
    NO_FIGURE,
    ReadingFacts,
    build_facts,
    find_observations,
    find_point_class,
    find_possible,
    has_failing_report,
    is_shown_by_scores,
    is_test_wholly_failing,
)
from audit.verdict.verdict_phrases import (
    CONDITIONAL,
    NOT_MET,
    NOT_MET_BY_CARD,
    POST_HOC,
    VerdictPhrases,
    describe_verdicts,
    find_expected_sign,
    find_sign,
    format_off_lock,
)
from audit.verdict.verdict_standing import (
    NEEDS_LOG,
    AuditConduct,
    StandingBasis,
    check_conditions,
    find_missing,
    find_standing,
    find_trace_standing,
)
from registry.records.audit_case import Access, Case, Sign
from registry.records.claim import Form, Relation
from registry.records.estimates import Estimate
from registry.records.replay_run import ModelIdentityStatus
from registry.records.verdict import (
    FIRM,
    Basis,
    ClaimClass,
    Classification,
    Condition,
    ConditionCheck,
    ConditionStatus,
    Mode,
    ReadingVerdict,
    Reproduction,
    ReproductionStatus,
    SpecVerdict,
    Standing,
    Verdict,
    VerdictStanding,
)
from registry.report.control_wording import NO_CONTROL
from registry.report.number_format import join

# Several specifications of P_deploy, and several judges (docs/method.md, "Several specifications").
#
# A claim *holds* only if it holds against every specification, at the plan's level. It is
# *contradicted*, or *does not carry over*, if that is so against one specification after Holm's rule
# over Φ_deploy or ED. The interval of Φ_test stays at the plan's level, because it is one statement for
# all of them.
#
# Where specifications differ, each gets a statement at level 1 − α/m (Bonferroni), so that all
# statements together are wrong in at most α of replays. Adverse statements use the same level: Holm
# decides whether the claim as a whole is contradicted, while a sentence that names specifications makes
# m statements. So a specification that Holm rejects may be called inconclusive in that sentence.
#
# Holm orders the specifications by p and tests the k-th at level 1 − α/(m − k + 1). The p need not be
# computed. At each step every remaining interval at that level which excludes the limit counts as
# rejected, and the next step follows. By the duality of tests and intervals this rejects the same
# specifications.
#
# Judges are not choices over which a level could be divided. Holm stays within each judge, and class,
# standing and direction must be the same by the scores of each. The price: one bad judge leaves a claim
# undetermined.

ADVERSE = (Verdict.CONTRADICTED, Verdict.DOES_NOT_CARRY_OVER)
"""Verdicts that one of several specifications suffices for."""
_ORDER = {row.name: place for place, row in enumerate(WITH_ESTIMATE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecDecision:
    """The row that decided against one specification of P_deploy, or without an estimate."""

    spec: str | None
    """None without an estimate."""
    facts: ReadingFacts
    row: DecisionRow
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
class JointDecision:
    """The row that decided a reading, with the decisions it rests on."""

    row: DecisionRow
    mode: Mode | None
    point_class: ClaimClass | None
    deciding: tuple[SpecDecision, ...]
    """Those whose sentences explain the outcome: the adverse ones, or all."""
    each: tuple[SpecDecision, ...]
    """One for each specification, at the level at which something is said of it."""
    hangs_on_one_spec: bool = False


AtLevel = Callable[[float], tuple[SpecDecision, ...]]
"""The decisions of the same specifications with the intervals of Φ_deploy and ED at another level."""


def combine(nominal: tuple[SpecDecision, ...], at_level: AtLevel | None) -> JointDecision:
    """Return what the decisions *nominal*, at the plan's level, say together.

    Args:
        at_level: decisions at other levels; None means there are none, so several specifications establish nothing adverse.
    """
    joint = _join(nominal, at_level)
    if len(nominal) == 1:
        return joint
    # Leaving out each specification in turn shows whether the verdict rests on a single one. Page one
    # says so.
    others = (tuple(decision for decision in nominal if decision.spec != excluded.spec) for excluded in nominal)
    hangs = any(_join(rest, at_level).row.verdict is not joint.row.verdict for rest in others)
    return replace(joint, hangs_on_one_spec=hangs)


def combine_judges(joints: Sequence[JointDecision]) -> JointDecision:
    """Return what the outcomes by the scores of each judge say together, of which there must be at least one.

    Where verdict, class, standing and, for a figure that does not carry over, its direction are the same by all, that is the outcome;
    inconclusive by all for different reasons is inconclusive, technical where it is so by one. In all other cases the judges disagree.
    """
    if len(joints) == 1:
        return joints[0]
    deciding = tuple(decision for joint in joints for decision in joint.deciding)
    decisions = tuple(decision for joint in joints for decision in joint.each)
    hangs = any(joint.hangs_on_one_spec for joint in joints)
    if len({_find_outcome(joint) for joint in joints}) > 1:
        return JointDecision(
            row=JUDGES_DISAGREE, mode=JUDGES_DISAGREE.mode, point_class=_join_points(decisions), deciding=deciding, each=decisions
        )
    # Missing data come before noisy data, as for specifications.
    leading = next((joint for joint in joints if joint.mode is Mode.TECHNICAL), joints[0])
    points = {joint.point_class for joint in joints}
    point_class = leading.point_class if len(points) == 1 else None
    return replace(leading, point_class=point_class, deciding=deciding, each=decisions, hangs_on_one_spec=hangs)


def _find_outcome(joint: JointDecision) -> tuple[Verdict, ClaimClass, Standing | None, bool | None]:
    row = joint.row
    signs = {decision.facts.estimate.ed.value > 0 for decision in joint.deciding if decision.facts.estimate is not None}
    # "Deployment is higher" by one judge and "lower" by another is no agreement, although neither
    # carries over.
    direction = next(iter(signs)) if row.class_ is ClaimClass.DEGRADED and len(signs) == 1 else None
    return row.verdict, row.class_, row.standing, direction


def _join(nominal: tuple[SpecDecision, ...], at_level: AtLevel | None) -> JointDecision:
    if len(nominal) == 1:
        only = nominal[0]
        return JointDecision(row=only.row, mode=only.row.mode, point_class=only.point_class, deciding=nominal, each=nominal)
    after_holm = _reject_by_holm(nominal, at_level)
    # Unanimous verdicts need no stricter level: the statement is about all specifications at once.
    if len({decision.row.verdict for decision in after_holm}) == 1:
        return _agree(after_holm)
    together = _read_together(after_holm, at_level, plan_level=nominal[0].level)
    adverse = tuple(decision for decision in together if _is_adverse(decision))
    if adverse:
        row = _find_first(adverse)
        return JointDecision(row=row, mode=row.mode, point_class=None, deciding=adverse, each=together)
    # What Holm did not reject explains the outcome better than "the specifications differ".
    failed = tuple(decision for decision in after_holm if decision.row is NOT_AFTER_HOLM)
    row = NOT_AFTER_HOLM if failed else SPECS_DIFFER
    # Missing data come before noisy data: an interval that is not there cannot be narrowed.
    mode = Mode.TECHNICAL if any(decision.row.mode is Mode.TECHNICAL for decision in together) else row.mode
    return JointDecision(row=row, mode=mode, point_class=_join_points(after_holm), deciding=failed or together, each=together)


def _agree(spec_decisions: tuple[SpecDecision, ...]) -> JointDecision:
    """All specifications give one verdict; where different rows gave it, missing data come before noisy data."""
    rows = {spec_decision.row.name for spec_decision in spec_decisions}
    modes = {decision.row.mode for decision in spec_decisions}
    # Different reasons for *inconclusive* have no common row, so the reason given is that
    # specifications differ.
    row = _find_first(spec_decisions) if len(rows) == 1 or spec_decisions[0].row.verdict is not Verdict.INCONCLUSIVE else SPECS_DIFFER
    if NOT_AFTER_HOLM.name in rows:
        row = NOT_AFTER_HOLM
    mode = Mode.TECHNICAL if row.mode is not None and Mode.TECHNICAL in modes else row.mode
    return JointDecision(
        row=row,
        mode=mode,
        point_class=_join_points(spec_decisions) if row.point_class else None,
        deciding=spec_decisions,
        each=spec_decisions,
    )


def _find_first(spec_decisions: tuple[SpecDecision, ...]) -> DecisionRow:
    """The row that comes first in the decision table: any of them is shown, and one suffices."""
    return min((spec_decision.row for spec_decision in spec_decisions), key=lambda row: _ORDER.get(row.name, len(_ORDER)))


def _is_adverse(spec_decision: SpecDecision) -> bool:
    return spec_decision.row.verdict in ADVERSE


def _read_together(after_holm: tuple[SpecDecision, ...], at_level: AtLevel | None, *, plan_level: float | None) -> tuple[SpecDecision, ...]:
    """What can be said of each specification where they differ, at level 1 − α/m; *after_holm* where other levels are not known."""
    if at_level is None or plan_level is None:
        return after_holm
    stricter = {decision.spec: decision for decision in at_level(1 - (1 - plan_level) / len(after_holm))}
    return tuple(stricter[decision.spec] for decision in after_holm)


def _reject_by_holm(nominal: tuple[SpecDecision, ...], at_level: AtLevel | None) -> tuple[SpecDecision, ...]:
    """*nominal* after Holm's rule: an adverse decision is kept at the level of its step, or became `not-after-holm` there."""
    settled: dict[str | None, SpecDecision] = {
        spec_decision.spec: spec_decision for spec_decision in nominal if not _is_adverse(spec_decision)
    }
    waiting = {spec_decision.spec: spec_decision for spec_decision in nominal if _is_adverse(spec_decision)}
    rejected = 0
    plan_level = nominal[0].level
    while waiting and plan_level is not None:
        level = holm_levels(len(nominal) - rejected, level=plan_level)[0]
        # The last step is at the plan's own level, where the decisions are known.
        decisions = nominal if level == plan_level else at_level(level) if at_level else ()
        waiting |= {decision.spec: decision for decision in decisions if decision.spec in waiting}
        adverse = {spec: spec_decision for spec, spec_decision in waiting.items() if decisions and _is_adverse(spec_decision)}
        if not adverse:
            break
        settled |= adverse
        rejected += len(adverse)
        # The next step is less strict, so specifications that failed here are checked again.
        waiting = {spec: spec_decision for spec, spec_decision in waiting.items() if spec not in adverse}
    settled |= {spec: replace(spec_decision, row=NOT_AFTER_HOLM) for spec, spec_decision in waiting.items()}
    return tuple(settled[spec_decision.spec] for spec_decision in nominal)


def _join_points(spec_decisions: tuple[SpecDecision, ...]) -> ClaimClass | None:
    """The class that the point estimates alone suggest: one adverse suffices, stable needs all."""
    points = [find_point_class(spec_decision.facts) for spec_decision in spec_decisions]
    adverse = next((point for point in points if point in (ClaimClass.INVERTED, ClaimClass.DEGRADED)), None)
    if adverse is not None:
        return adverse
    return ClaimClass.STABLE if all(point is ClaimClass.STABLE for point in points) else None


# Station 6: a claim, its evidence and its estimate become a verdict, a class and a standing for each
# reading (method section 3).
#
# Verdict and class are separate. A contradicted claim fails in deployment; it is inverted only if its
# own evaluation passes.

_LIMITS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)
_NO_REPLAY = ConditionCheck(condition=Condition.REPLAY, status=ConditionStatus.MISSING, note="no replay was made")

Extremes = Callable[[], Iterable[Estimate]]
"""The estimates under which every truncated or excluded response of a side has the lowest, or the highest, possible score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClassifiedReading:
    """A case with the scores that bear on it."""

    case: Case
    estimate: Estimate | None
    at_level: Callable[[float], Estimate] | None
    extremes: Extremes | None
    basis: Basis
    post_hoc: bool
    off_lock: str | None
    conduct: AuditConduct | None

    @property
    def other_model(self) -> str | None:
        """Why the responses are not those of the claim's model version; None where nothing says so."""
        identity = self.conduct.asked if self.conduct else None
        return identity.text.rstrip(".") if identity is not None and identity.is_other else None

    @property
    def is_unidentified(self) -> bool:
        """Whether responses carry no model name, so that nothing shows which model gave them."""
        identity = self.conduct.asked if self.conduct else None
        return identity is not None and identity.status is ModelIdentityStatus.UNIDENTIFIED


def classify(
    case: Case,
    estimate: Estimate | None,
    *,
    basis: Basis = Basis.REPLAY,
    conduct: AuditConduct | None = None,
    at_level: Callable[[float], Estimate] | None = None,
    extremes: Extremes | None = None,
    post_hoc: bool = False,
    off_lock: str | None = None,
) -> Classification:
    """Give each reading of *case* its verdict, class and standing; the claim's own form comes first, implied readings follow.

    The decision table of `audit.verdict.decision_table` is total: what no row names is inconclusive, with what would resolve it.

    Args:
        estimate: of the scores, at the plan's level; None without scores. An estimate without specifications counts as none.
        basis: what the scores are: `replay` under a lock, or `reported`.
        conduct: how the responses came to be, as log and data show it. None for a case file, which has no log: the conditions that need one
            are then listed as not checked.
        at_level: the same estimate at another level, for several specifications of P_deploy. None means: from
            the variance in *estimate*; where that is not given either, several specifications establish nothing adverse.
        extremes: estimates for the extreme scores of truncated and excluded responses; None where they cannot be computed.
        post_hoc: whether nothing shows that θ and the plan were fixed before the scores could be seen; every reading then says so.
        off_lock: what in the scores is not what the lock fixes (such as `tasks`), in words; None where nothing is. Every reading says so.
    """
    # An estimate without specifications decides nothing and is treated as none.
    usable = estimate if estimate is not None and estimate.specs else None
    again = at_level or (build_at_level(usable) if usable is not None else None)
    question = _ClassifiedReading(
        case=case,
        estimate=usable,
        at_level=again,
        extremes=extremes,
        basis=basis,
        post_hoc=post_hoc,
        off_lock=off_lock,
        conduct=conduct,
    )
    own, own_joint = _read(question, case.claim.form)
    implied = tuple(_read(question, form)[0] for form in _implied_forms(question, own_joint))
    return Classification(
        readings=(own, *implied),
        inversion_margin=find_inversion_margin(case, None if question.other_model else usable),
        # A case file cannot show lock, endpoint or provenance. They are listed as not checked and do
        # not lower the standing, so "established" here is weaker than in a supplement.
        conditions_not_checked=NEEDS_LOG if conduct is None else (),
    )


def build_at_level(estimate: Estimate) -> Callable[[float], Estimate] | None:
    """Return *estimate* as a function of its level; None if it does not carry the variance that takes.

    The interval of Φ_test keeps its level: it is one statement, whatever the number of specifications.
    """
    # Without the recorded variance the interval cannot be computed at another level.
    if any(spec.variance is None for spec in estimate.specs):
        return None

    # Holm's steps, the joint statement and the left-out specifications use the same few levels.
    @cache
    def at(level: float) -> Estimate:
        specs = (replace(relevel(estimate, spec, level=level), phi_test=spec.phi_test) for spec in estimate.specs)
        return replace(estimate, level=level, specs=tuple(specs))

    return at


def find_inversion_margin(case: Case, estimate: Estimate | None) -> float | None:
    """Return Φ_test − θ, from the scores if there are any, else from the card's figure; None without θ or figure."""
    if case.claim.theta is None:
        return None
    if estimate is not None and estimate.specs:
        return estimate.specs[0].phi_test.value - case.claim.theta
    return None if case.claim.reported is None else case.claim.reported.value - case.claim.theta


def _implied_forms(question: _ClassifiedReading, own: JointDecision) -> Iterator[Form]:
    claim = question.case.claim
    if claim.form in (Form.PREVALENCE, Form.THRESHOLD) and (find_observations(question.case) or _is_seen_in_scores(question)):
        # A figure above the floor of the range also shows that the behaviour exists, whatever its rate.
        yield Form.EXISTENCE
    if claim.form in _LIMITS:
        estimates = [decision.facts.estimate for decision in own.each]
        moved = any(spec is not None and not spec.equivalence.equivalent for spec in estimates)
        # A limit can hold while the figure changes by more than δ. The reading as a figure then says
        # what the limit hides.
        if claim.theta is None or (own.row.class_ is ClaimClass.STABLE and moved):
            yield Form.PREVALENCE


def _is_seen_in_scores(question: _ClassifiedReading) -> bool:
    if question.other_model is not None or question.is_unidentified:
        return False
    specs = question.estimate.specs if question.estimate else ()
    return any(is_shown_by_scores(question.case, spec) for spec in specs)


def _read(question: _ClassifiedReading, form: Form) -> tuple[ReadingVerdict, JointDecision]:
    """One reading, and the decisions it rests on."""
    joint = _decide(question, form, question.estimate)
    return _build_verdict(question, form, joint), joint


def _decide(question: _ClassifiedReading, form: Form, estimate: Estimate | None) -> JointDecision:
    if estimate is None:
        return combine((_decide_without(question.case, form),), None)
    judges = dict.fromkeys(spec.judge for spec in estimate.specs)
    return combine_judges([_decide_by_judge(question, form, estimate, judge) for judge in judges])


def _decide_by_judge(question: _ClassifiedReading, form: Form, estimate: Estimate, judge: str | None) -> JointDecision:
    """One reading by the scores of one judge."""
    nominal = _decide_each(question, form, estimate, judge)
    if form is Form.EXISTENCE:
        # Existence does not depend on deployment, so one specification is enough: one with an
        # observation if there is one.
        observed = next((decision for decision in nominal if decision.facts.observed), nominal[0])
        return combine((observed,), None)
    return combine(nominal, _find_levels(question, form, estimate, judge))


def _find_levels(question: _ClassifiedReading, form: Form, estimate: Estimate, judge: str | None) -> AtLevel | None:
    at_level = question.at_level if estimate is question.estimate else build_at_level(estimate)
    return None if at_level is None else lambda level: _decide_each(question, form, at_level(level), judge)


def _decide_without(case: Case, form: Form) -> SpecDecision:
    facts = build_facts(case, form)
    return SpecDecision(spec=None, facts=facts, row=decide(facts), whole=None)


def _decide_each(question: _ClassifiedReading, form: Form, estimate: Estimate, judge: str | None) -> tuple[SpecDecision, ...]:
    # The reproduction check stays at the plan's level, whatever level Holm asks for.
    plan_level = question.estimate.level if question.estimate else None
    own = [spec for spec in estimate.specs if spec.judge == judge]
    all_facts = [
        build_facts(
            question.case,
            form,
            estimate=estimate,
            spec=spec,
            other_model=question.other_model,
            is_unidentified=question.is_unidentified,
            plan_level=plan_level,
        )
        for spec in own
    ]
    return tuple(
        SpecDecision(spec=spec.spec, facts=facts, row=decide(facts), whole=estimate, judge=judge)
        for spec, facts in zip(own, all_facts, strict=True)
    )


def _build_verdict(question: _ClassifiedReading, form: Form, joint: JointDecision) -> ReadingVerdict:
    checks = _check(question, form, joint)
    row = joint.row
    standing = find_standing(row.verdict, checks)
    missing = find_missing(checks)
    is_inversion = row.class_ is ClaimClass.INVERTED
    is_inconclusive = joint.mode is not None or row.verdict is Verdict.INCONCLUSIVE
    return ReadingVerdict(
        form=form,
        class_=row.class_,
        standing=find_trace_standing(row.standing, standing, is_inversion=is_inversion),
        verdict=row.verdict,
        verdict_standing=standing,
        missing_condition=missing.condition if missing and standing else None,
        conditions=checks if standing else (),
        reproduction=_find_reproduction(joint) if question.estimate is not None and form is not Form.EXISTENCE else None,
        # Kept in the record even where evidence is unusable; page one does not print it there.
        point_class=joint.point_class,
        mode=joint.mode,
        basis=_find_basis(question, form),
        direction=_find_direction(joint),
        why=_explain(question, joint, checks if standing else ()),
        resolves=_resolve(question, joint) if is_inconclusive else None,
        not_met_in_test=any(_is_not_met(decision.facts) for decision in joint.each),
        control=_describe_control(question) if row.class_ is ClaimClass.STABLE and form is not Form.EXISTENCE else None,
        possible=_find_possible(joint) if joint.mode is not None else (),
        rule=row.name,
        specs=()
        if form is Form.EXISTENCE
        else tuple(_build_spec(decision, standing) for decision in joint.each if decision.spec is not None),
        hangs_on_one_spec=joint.hangs_on_one_spec,
    )


def _describe_control(question: _ClassifiedReading) -> str:
    return NO_CONTROL if question.case.controls is None else question.case.controls.reach


def _check(question: _ClassifiedReading, form: Form, joint: JointDecision) -> tuple[ConditionCheck, ...]:
    """The conditions of an established verdict; without an estimate there was no replay, and nothing else needs to be asked."""
    estimate = question.estimate
    # Only verdicts that can be established have conditions.
    if joint.row.verdict not in FIRM:
        return ()
    if estimate is None:
        return (_NO_REPLAY,)
    named = {(decision.spec, decision.judge) for decision in joint.deciding}
    return check_conditions(
        StandingBasis(
            form=form,
            verdict=joint.row.verdict,
            case=question.case,
            estimate=estimate,
            specs=tuple(spec for spec in estimate.specs if (spec.spec, spec.judge) in named),
            reproduction=_find_reproduction(joint),
            conduct=question.conduct,
            is_locked=question.basis is Basis.REPLAY,
            is_same_at_extremes=lambda: _is_same_at_extremes(question, form, joint),
        )
    )


def _is_same_at_extremes(question: _ClassifiedReading, form: Form, joint: JointDecision) -> bool | None:
    if question.extremes is None:
        return None
    joints = [joint, *(_decide(question, form, estimate) for estimate in question.extremes())]
    # A figure that is higher at one extreme and lower at the other fails to carry over at both, but for
    # opposite reasons.
    signs = {
        decision.facts.estimate.ed.value > 0 for extreme in joints for decision in extreme.deciding if decision.facts.estimate is not None
    }
    is_two_sided = joint.row.verdict is Verdict.DOES_NOT_CARRY_OVER and len(signs) > 1
    return not is_two_sided and len({(extreme.row.verdict, extreme.row.class_) for extreme in joints}) == 1


def _find_reproduction(joint: JointDecision) -> Reproduction:
    """The check of the decision that decided; where several did, one that contradicts the card comes first, then one that is unclear."""
    checks = [decision.facts.reproduction for decision in joint.deciding]
    order = (ReproductionStatus.NOT_REPRODUCED, ReproductionStatus.UNCLEAR, ReproductionStatus.REPRODUCED, ReproductionStatus.NO_FIGURE)
    return min(checks, key=lambda check: order.index(check.status), default=NO_FIGURE)


def _find_basis(question: _ClassifiedReading, form: Form) -> Basis:
    """What decided: the scores where the form asks for them, otherwise what is reported, if anything is."""
    if question.estimate is not None and (form is not Form.EXISTENCE or _is_seen_in_scores(question)):
        return question.basis
    reported = question.case.claim.reported is not None or any(evidence.access is Access.AVAILABLE for evidence in question.case.evidence)
    return Basis.REPORTED if reported else Basis.NONE


def _build_spec(spec_decision: SpecDecision, standing: VerdictStanding | None) -> SpecVerdict:
    """What is said of one specification: never more firmly than of all together."""
    # A statement about one specification cannot be firmer than the verdict on all of them.
    own = standing or VerdictStanding.PROVISIONAL
    return SpecVerdict(
        spec=spec_decision.spec or "",
        class_=spec_decision.row.class_,
        standing=find_trace_standing(spec_decision.row.standing, own, is_inversion=spec_decision.row.class_ is ClaimClass.INVERTED),
        verdict=spec_decision.row.verdict,
        point_class=spec_decision.point_class,
        mode=spec_decision.row.mode,
        level=spec_decision.level,
        judge=spec_decision.judge,
    )


def _find_direction(joint: JointDecision) -> Sign | None:
    """The sign of ED: what the class implies, else what its interval establishes, else what the evidence leads to expect."""
    signs = {_find_sign_of(decision) for decision in joint.deciding}
    return signs.pop() if len(signs) == 1 else None


def _find_sign_of(spec_decision: SpecDecision) -> Sign | None:
    facts = spec_decision.facts
    if facts.form is Form.EXISTENCE:
        return None
    established = None if facts.estimate is None else find_sign(facts.estimate)
    if facts.estimate is None and spec_decision.row.class_ is ClaimClass.INVERTED:
        return Sign.NEGATIVE if facts.relation is Relation.AT_MOST else Sign.POSITIVE
    return established or find_expected_sign(facts)


def _find_possible(joint: JointDecision) -> tuple[ClaimClass, ...]:
    possibles = [find_possible(decision.facts) for decision in joint.each]
    if not all(possibles):
        return ()
    return tuple(dict.fromkeys(class_ for possible in possibles for class_ in possible))


def _explain(question: _ClassifiedReading, joint: JointDecision, checks: tuple[ConditionCheck, ...]) -> str:
    several = len(joint.each) > 1
    is_mixed = len({decision.row.verdict for decision in joint.each}) > 1
    sentences = []
    if question.estimate is None and _is_not_met(joint.deciding[0].facts):
        sentences.append(NOT_MET_BY_CARD)
    elif any(_is_not_met(decision.facts) for decision in joint.each) and "in-test" not in joint.row.name:
        sentences.append(NOT_MET)
    if several and is_mixed and joint.row is not SPECS_DIFFER:
        sentences.append(f"Of the specifications of P_deploy it {_describe_specs(joint)}.")
    if several and all(joint.row is not decision.row for decision in joint.deciding):
        sentences.append(joint.row.why.replace("{each_spec}", f"it {_describe_specs(joint)}"))
    for decision in joint.deciding:
        phrases = VerdictPhrases(
            question.case, decision.facts, whole=decision.whole, plan_level=question.estimate.level if question.estimate else None
        )
        why = " ".join(decision.row.why.format_map(phrases).split())
        # Only a sentence with numbers of its own needs to name the specification that they belong to.
        sentences.append(_name_source(joint, decision) + why if several and "{" in decision.row.why else why)
    facts = joint.deciding[0].facts
    if facts.form in _LIMITS and facts.reproduction.status is ReproductionStatus.NOT_REPRODUCED:
        sentences.append(VerdictPhrases(question.case, facts, whole=joint.deciding[0].whole).reproduction)
    if _is_conditional(question, facts):
        sentences.append(CONDITIONAL)
    else:
        sentences += [f"{check.note[0].upper()}{check.note[1:]}." for check in checks if check.status is ConditionStatus.FIXED_CONTEXTS]
    if joint.hangs_on_one_spec:
        sentences.append("The verdict hangs on one specification of P_deploy: without it, it would be another.")
    if (missing := find_missing(checks)) is not None:
        sentences.append(f"Provisional: {missing.note}.")
    sentences.append(POST_HOC if question.post_hoc and question.estimate is not None else "")
    sentences.append(format_off_lock(question.off_lock) if question.off_lock and question.estimate is not None else "")
    return join(sentences)


def _is_not_met(facts: ReadingFacts) -> bool:
    """Whether the claim's own evaluation fails its limit: the whole interval of Φ_test, or, without an estimate, the card's figure."""
    return facts.form in _LIMITS and (is_test_wholly_failing(facts) if facts.estimate is not None else has_failing_report(facts))


def _describe_specs(joint: JointDecision) -> str:
    return describe_verdicts((decision.spec or "", decision.row.verdict) for decision in joint.each)


def _name_source(joint: JointDecision, spec_decision: SpecDecision) -> str:
    """Which of several specifications and judges a sentence is about."""
    spec = f"Against the specification {spec_decision.spec}: "
    if spec_decision.judge is None:
        return spec
    several = len({other.spec for other in joint.each}) > 1
    return f"By the scores of the judge {spec_decision.judge}{f', against the specification {spec_decision.spec}' if several else ''}: "


def _is_conditional(question: _ClassifiedReading, facts: ReadingFacts) -> bool:
    return question.estimate is not None and question.estimate.contexts == "fixed" and facts.form is not Form.EXISTENCE


def _resolve(question: _ClassifiedReading, joint: JointDecision) -> str:
    several = len(joint.each) > 1
    sentences = []
    if joint.row is JUDGES_DISAGREE:
        return join([JUDGES_DISAGREE.resolves or ""])
    for decision in joint.each:
        if decision.row.resolves is not None and (decision.row.mode is not None or decision.row.verdict is Verdict.INCONCLUSIVE):
            text = decision.row.resolves.format_map(VerdictPhrases(question.case, decision.facts, whole=decision.whole))
            name = decision.spec if decision.judge is None else f"{decision.spec}, judge {decision.judge}"
            sentences.append(f"{name}: {text}" if several and "{" in decision.row.resolves else text)
    if not sentences:
        sentences = [f"A larger replay under each specification{'' if joint.mode is Mode.NOISY else ' that meets the minimum'}."]
    return join(sentences)
