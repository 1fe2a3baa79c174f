"""Station 6: a claim, its evidence and its estimate become a class, a standing and a mode for each of its readings (method section 3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from audit.across import Adjusted, Decision, Joint, combine, combine_judges
from audit.conditions import Facts, build_facts, find_observations, find_possible, is_above_floor, is_not_met_in_test
from audit.demotion import OFF_LOCK, WITHOUT_LOCK, Demotion
from audit.phrases import Phrases, find_expected_sign, find_sign
from audit.statistics.reading import relevel
from audit.typology import JUDGES_DISAGREE, decide
from audit.wording import CONDITIONAL, NOT_MET, POST_HOC, join, say_off_lock
from registry.records.case import Case
from registry.records.claim import Form, Relation
from registry.records.classification import Basis, ChecklistItem, ClaimClass, Classification, ReadingVerdict, SpecVerdict, Standing
from registry.records.estimate import Estimate
from registry.records.evidence import Access, Sign

_LIMITS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A case with the scores that bear on it."""

    case: Case
    estimate: Estimate | None
    adjusted: Callable[[float], Estimate] | None
    basis: Basis
    post_hoc: bool
    off_lock: str | None


def classify(
    case: Case,
    estimate: Estimate | None,
    *,
    basis: Basis = Basis.REPLAY,
    adjusted: Callable[[float], Estimate] | None = None,
    post_hoc: bool = False,
    off_lock: str | None = None,
    checklist: tuple[ChecklistItem, ...] = (),
) -> Classification:
    """Give each reading of *case* its class, standing and mode; the claim's own form comes first, implied readings follow.

    The decision table of `audit.typology` is total: what no row names is undetermined, with what would resolve it.

    Args:
        estimate: of the scores, at the plan's level; None without scores. An estimate without specifications counts as none.
        basis: what the scores are. Scores that are no replay under a lock restrict a claim and never establish a class.
        adjusted: the same estimate at another level, for Holm's rule over several specifications of P_deploy. None means: from
            the variance in *estimate*; where that is not given either, several specifications establish nothing adverse.
        post_hoc: whether nothing shows that θ and the plan were fixed before the scores could be seen; every reading then says so.
        off_lock: what in the scores is not what the lock fixes (such as `tasks`), in words; None where nothing is. Every reading says so.
        checklist: kept as given; `audit.checklist` makes it.
    """
    usable = estimate if estimate is not None and estimate.specs else None
    again = adjusted or (build_adjusted(usable) if usable is not None else None)
    question = _Question(case=case, estimate=usable, adjusted=again, basis=basis, post_hoc=post_hoc, off_lock=off_lock)
    own, own_joint = _read(question, case.claim.form)
    implied = tuple(_read(question, form)[0] for form in _implied_forms(question, own_joint))
    return Classification(readings=(own, *implied), inversion_margin=find_inversion_margin(case, usable), checklist=checklist)


def build_adjusted(estimate: Estimate) -> Callable[[float], Estimate] | None:
    """Return *estimate* as a function of its level; None if it does not carry the variance that takes."""
    if any(spec.variance is None for spec in estimate.specs):
        return None

    @cache
    def at(level: float) -> Estimate:
        return replace(estimate, level=level, specs=tuple(relevel(estimate, spec, level=level) for spec in estimate.specs))

    return at


def find_inversion_margin(case: Case, estimate: Estimate | None) -> float | None:
    """Return Φ_test − θ, from the scores if there are any, otherwise from the card's figure; None without θ or figure."""
    if case.claim.theta is None:
        return None
    if estimate is not None and estimate.specs:
        return estimate.specs[0].phi_test.value - case.claim.theta
    return None if case.claim.reported is None else case.claim.reported.value - case.claim.theta


def _implied_forms(question: _Question, own: Joint) -> Iterator[Form]:
    claim = question.case.claim
    if claim.form in (Form.PREVALENCE, Form.THRESHOLD) and (find_observations(question.case) or _is_scored_above_floor(question)):
        yield Form.EXISTENCE
    if claim.form in _LIMITS:
        estimates = [one.facts.estimate for one in own.each]
        moved = any(spec is not None and not spec.equivalence.equivalent for spec in estimates)
        if claim.theta is None or (own.row.class_ is ClaimClass.STABLE and moved):
            yield Form.PREVALENCE


def _is_scored_above_floor(question: _Question) -> bool:
    specs = question.estimate.specs if question.estimate else ()
    return any(is_above_floor(question.case, spec.phi_test.value) for spec in specs)


def _read(question: _Question, form: Form) -> tuple[ReadingVerdict, Joint]:
    """One reading, and the decisions it rests on."""
    estimate = question.estimate
    if estimate is None:
        return _verdict(question, form, combine((_decide_without(question.case, form),), None))
    judges = dict.fromkeys(spec.judge for spec in estimate.specs)
    return _verdict(question, form, combine_judges([_read_judge(question, form, estimate, judge) for judge in judges]))


def _read_judge(question: _Question, form: Form, estimate: Estimate, judge: str | None) -> Joint:
    """One reading by the scores of one judge."""
    nominal = _decide_each(question.case, form, estimate, judge)
    if form is Form.EXISTENCE:
        # Existence never looks at deployment, so one specification speaks for all: one with an observation if there is one.
        observed = next((one for one in nominal if one.facts.observed), nominal[0])
        return combine((observed,), None)
    return combine(nominal, _adjust(question, form, judge), establishes=question.basis is Basis.REPLAY)


def _adjust(question: _Question, form: Form, judge: str | None) -> Adjusted | None:
    again = question.adjusted
    return None if again is None else lambda level: _decide_each(question.case, form, again(level), judge)


def _decide_without(case: Case, form: Form) -> Decision:
    facts = build_facts(case, form)
    return Decision(spec=None, facts=facts, row=decide(facts), whole=None)


def _decide_each(case: Case, form: Form, estimate: Estimate, judge: str | None) -> tuple[Decision, ...]:
    own = [spec for spec in estimate.specs if spec.judge == judge]
    each = [(spec.spec, build_facts(case, form, estimate=estimate, spec=spec)) for spec in own]
    return tuple(Decision(spec=name, facts=facts, row=decide(facts), whole=estimate, judge=judge) for name, facts in each)


def _verdict(question: _Question, form: Form, joint: Joint) -> tuple[ReadingVerdict, Joint]:
    basis = _find_basis(question, form)
    demotion = _find_demotion(joint.row.class_, joint.row.standing, basis, off_lock=question.off_lock is not None)
    mode = joint.mode if demotion is None else demotion.mode
    class_ = joint.row.class_ if demotion is None else demotion.becomes
    not_met = any(one.facts.form in _LIMITS and is_not_met_in_test(one.facts) for one in joint.each)
    verdict = ReadingVerdict(
        form=form,
        class_=class_,
        standing=joint.row.standing if demotion is None else demotion.standing,
        candidate=joint.candidate if demotion is None or mode is None else demotion.class_,
        mode=mode,
        basis=basis,
        direction=_find_direction(joint),
        why=_explain(question, joint, demotion, not_met=not_met),
        resolves=None if mode is None else _resolve(question, joint, demotion),
        not_met_in_test=not_met,
        possible=_find_possible(joint) if demotion is None and mode is not None else (),
        rule=joint.row.name,
        specs=() if form is Form.EXISTENCE else tuple(_spec_verdict(one, basis) for one in joint.each if one.spec is not None),
        hangs_on_one_spec=joint.hangs_on_one_spec,
    )
    return verdict, joint


def _find_basis(question: _Question, form: Form) -> Basis:
    """What decided: the scores where the form asks for them, otherwise what is reported, if anything is."""
    if question.estimate is not None and (form is not Form.EXISTENCE or _is_scored_above_floor(question)):
        return question.basis
    reported = question.case.claim.reported is not None or any(one.access is Access.AVAILABLE for one in question.case.evidence)
    return Basis.REPORTED if reported else Basis.NONE


def _find_demotion(class_: ClaimClass, standing: Standing | None, basis: Basis, *, off_lock: bool) -> Demotion | None:
    established = standing is Standing.ESTABLISHED and basis is not Basis.REPLAY
    return (OFF_LOCK if off_lock else WITHOUT_LOCK)[class_] if established else None


def _spec_verdict(one: Decision, basis: Basis) -> SpecVerdict:
    demotion = _find_demotion(one.row.class_, one.row.standing, basis, off_lock=False)  # both tables demote alike
    if demotion is None:
        return SpecVerdict(
            spec=one.spec or "",
            class_=one.row.class_,
            standing=one.row.standing,
            candidate=one.candidate,
            mode=one.row.mode,
            judge=one.judge,
        )
    candidate = None if demotion.mode is None else demotion.class_
    return SpecVerdict(
        spec=one.spec or "",
        class_=demotion.becomes,
        standing=demotion.standing,
        candidate=candidate,
        mode=demotion.mode,
        judge=one.judge,
    )


def _find_direction(joint: Joint) -> Sign | None:
    """The sign of ED: what the class implies, else what its interval establishes, else what the evidence leads to expect."""
    signs = {_find_sign_of(one) for one in joint.deciding}
    return signs.pop() if len(signs) == 1 else None


def _find_sign_of(one: Decision) -> Sign | None:
    facts = one.facts
    if facts.form is Form.EXISTENCE:
        return None
    if one.row.class_ is ClaimClass.INVERTED:
        return Sign.NEGATIVE if facts.relation is Relation.AT_MOST else Sign.POSITIVE
    established = None if facts.estimate is None else find_sign(facts.estimate)
    return established or find_expected_sign(facts)


def _find_possible(joint: Joint) -> tuple[ClaimClass, ...]:
    found = [find_possible(one.facts) for one in joint.each]
    if not all(found):
        return ()
    return tuple(dict.fromkeys(class_ for possible in found for class_ in possible))


def _explain(question: _Question, joint: Joint, demotion: Demotion | None, *, not_met: bool) -> str:
    several = len(joint.each) > 1
    sentences = [NOT_MET] if not_met and joint.row.name != "not-met-in-test" else []
    if several and all(joint.row is not one.row for one in joint.deciding):
        sentences.append(joint.row.why)
    for one in joint.deciding:
        phrases = Phrases(question.case, one.facts, whole=one.whole)
        why = " ".join(one.row.why.format_map(phrases).split())
        sentences.append(_name_source(joint, one) + why if several and "{" in one.row.why else why)
    facts = joint.deciding[0].facts
    if _is_conditional(question, facts):
        sentences.append(CONDITIONAL)
    if joint.hangs_on_one_spec:
        sentences.append("The class hangs on one specification of P_deploy: without it, it would be another.")
    sentences.append(demotion.why if demotion else "")
    sentences.append(POST_HOC if question.post_hoc and question.estimate is not None else "")
    sentences.append(say_off_lock(question.off_lock) if question.off_lock and question.estimate is not None else "")
    return join(sentences)


def _name_source(joint: Joint, one: Decision) -> str:
    """Which of several specifications and judges a sentence speaks of."""
    spec = f"Against the specification {one.spec}: "
    if one.judge is None:
        return spec
    several = len({other.spec for other in joint.each}) > 1
    return f"By the scores of the judge {one.judge}{f', against the specification {one.spec}' if several else ''}: "


def _is_conditional(question: _Question, facts: Facts) -> bool:
    return question.estimate is not None and question.estimate.contexts == "fixed" and facts.form is not Form.EXISTENCE


def _resolve(question: _Question, joint: Joint, demotion: Demotion | None) -> str:
    if demotion is not None:
        return demotion.resolves or ""
    several = len(joint.each) > 1
    sentences = []
    if joint.row is JUDGES_DISAGREE:
        return join([JUDGES_DISAGREE.resolves or ""])
    for one in joint.each:
        if one.row.resolves is not None:
            text = one.row.resolves.format_map(Phrases(question.case, one.facts, whole=one.whole))
            name = one.spec if one.judge is None else f"{one.spec}, judge {one.judge}"
            sentences.append(f"{name}: {text}" if several and "{" in one.row.resolves else text)
    return join(sentences)
