"""Laws of the verdict, over any case and any valid estimate."""

import math

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from audit.verdict.claim_classification import classify
from audit.verdict.decision_table import ACROSS_JUDGES, ACROSS_SPECS, WITH_ESTIMATE, WITHOUT_ESTIMATE
from audit.verdict.restricted_claim import restrict
from audit.verdict.verdict_conditions import is_inverted_by_deployment, is_inverted_by_differential
from registry.codec.canonical_documents import from_document, to_document
from registry.records.audit_case import Case
from registry.records.claim import Form, Relation
from registry.records.estimates import Estimate
from registry.records.verdict import FIRM, Basis, ClaimClass, Classification, Standing, Verdict, VerdictStanding
from registry.report.number_format import SLACK, Unit
from tests.verdict.cases import LIMITS, SHARES, build_case, build_estimate, build_spec, cases, estimates

STRENGTH = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
RULES = {row.name for table in (WITH_ESTIMATE, WITHOUT_ESTIMATE, ACROSS_SPECS, ACROSS_JUDGES) for row in table}


@STRENGTH
@given(case=cases(), estimate=st.none() | estimates(), basis=st.sampled_from(list(Basis)), post_hoc=st.booleans())
def test_any_case_is_classified_and_restricted(case: Case, estimate: Estimate | None, basis: Basis, *, post_hoc: bool) -> None:
    """The method is total, and what it says keeps its own rules."""
    classification = classify(case, estimate, basis=basis, post_hoc=post_hoc)
    restricted = restrict(case, classification, estimate, post_hoc=post_hoc)

    assert classification.primary.form is case.claim.form
    assert len({reading.form for reading in classification.readings}) == len(classification.readings)
    for reading in classification.readings:
        assert reading.rule in RULES
        assert reading.why
        assert "{" not in reading.why
        assert (reading.class_ is ClaimClass.UNDETERMINED) == (reading.mode is not None)
        assert bool(reading.resolves) == (reading.mode is not None or reading.verdict is Verdict.INCONCLUSIVE)
        assert reading.class_ is not ClaimClass.INVERTED or reading.form in LIMITS
        assert reading.class_ is not ClaimClass.DEGRADED or reading.form is Form.PREVALENCE
        assert reading.point_class is None or reading.class_ is ClaimClass.UNDETERMINED
        assert basis is Basis.REPLAY or reading.standing is not Standing.ESTABLISHED
        assert all(basis is Basis.REPLAY or one.standing is not Standing.ESTABLISHED for one in reading.specs)
        assert not (estimate and reading.not_met_in_test and reading.class_ is ClaimClass.STABLE and reading.form in LIMITS)
        assert (reading.verdict_standing is None) == (reading.verdict not in FIRM)
        assert reading.standing is not Standing.ESTABLISHED or reading.verdict_standing is VerdictStanding.ESTABLISHED
    assert restricted.verdict
    assert restricted.restricted
    assert "{" not in restricted.restricted.replace(restricted.original.rstrip(), "")
    assert from_document(Classification, to_document(classification), where="classification") == classification


@STRENGTH
@given(phi_test=SHARES, phi_deploy=SHARES, theta=SHARES, relation=st.sampled_from(list(Relation)))
def test_both_forms_of_the_inversion_test_agree(phi_test: float, phi_deploy: float, theta: float, relation: Relation) -> None:
    """ED < Φ_test − θ exactly when Φ_deploy > θ, and mirrored; but for the last bit at the edge of the slack."""
    assume(abs(abs(phi_deploy - theta) - SLACK) > 1e-15)
    by_deployment = is_inverted_by_deployment(phi_deploy=phi_deploy, theta=theta, relation=relation)

    assert by_deployment == is_inverted_by_differential(ed=phi_test - phi_deploy, phi_test=phi_test, theta=theta, relation=relation)


@given(theta=SHARES, relation=st.sampled_from(list(Relation)))
def test_equality_with_theta_is_no_inversion(theta: float, relation: Relation) -> None:
    """A score that equals θ satisfies the claim."""
    assert not is_inverted_by_deployment(phi_deploy=theta, theta=theta, relation=relation)
    assert not is_inverted_by_differential(ed=0.0, phi_test=theta, theta=theta, relation=relation)


@STRENGTH
@given(data=st.data(), low=SHARES, high=SHARES, form=st.sampled_from([Form.THRESHOLD, Form.PREVALENCE]))
def test_a_narrower_interval_never_unestablishes(data: st.DataObject, low: float, high: float, form: Form) -> None:
    """What every point of an interval gives, every point of a part of it gives."""
    low, high = sorted((low, high))
    value = data.draw(st.floats(low, high))
    inner = (data.draw(st.floats(low, value)), data.draw(st.floats(value, high)))
    case = build_case(form, theta=0.3 if form is Form.THRESHOLD else None)
    wide = classify(case, build_estimate(build_spec(deploy=(value, low, high)))).primary
    narrow = classify(case, build_estimate(build_spec(deploy=(value, *inner)))).primary

    assert wide.standing is not Standing.ESTABLISHED or (narrow.class_, narrow.standing) == (wide.class_, wide.standing)


@STRENGTH
@given(data=st.data(), ends=st.tuples(SHARES, SHARES), theta=SHARES, further=st.floats(0, 1), relation=st.sampled_from(list(Relation)))
def test_a_laxer_threshold_never_turns_stable_into_inverted(
    data: st.DataObject, ends: tuple[float, float], theta: float, further: float, relation: Relation
) -> None:
    """Moving θ away from the scores keeps a stable claim stable."""
    low, high = sorted(ends)
    value = data.draw(st.floats(low, high))
    estimate = build_estimate(build_spec(test=value, deploy=(value, low, high)))
    laxer = theta + further if relation is Relation.AT_MOST else theta - further
    before = classify(build_case(theta=theta, relation=relation), estimate).primary
    after = classify(build_case(theta=laxer, relation=relation), estimate).primary

    assert before.class_ is not ClaimClass.STABLE or after.class_ is ClaimClass.STABLE


@STRENGTH
@given(case=cases(), estimate=estimates())
def test_scores_without_a_lock_say_no_more_than_those_with_one(case: Case, estimate: Estimate) -> None:
    """Basis `reported` keeps the rule of every reading and takes its standing away."""
    locked, reported = classify(case, estimate), classify(case, estimate, basis=Basis.REPORTED)

    assert [one.rule for one in locked.readings] == [one.rule for one in reported.readings]
    assert locked.inversion_margin == reported.inversion_margin


@STRENGTH
@given(case=cases(), estimate=estimates())
def test_the_order_of_specifications_does_not_matter(case: Case, estimate: Estimate) -> None:
    """Specifications are named, not numbered."""
    turned = Estimate(
        margin=estimate.margin,
        level=estimate.level,
        epsilon=estimate.epsilon,
        range=estimate.range,
        seed=estimate.seed,
        contexts=estimate.contexts,
        specs=estimate.specs[::-1],
    )
    first, second = classify(case, estimate).primary, classify(case, turned).primary

    assert (first.class_, first.standing, first.mode, first.point_class) == (
        second.class_,
        second.standing,
        second.mode,
        second.point_class,
    )
    assert first.hangs_on_one_spec == second.hangs_on_one_spec


@STRENGTH
@given(value=SHARES, theta=SHARES, width=st.sampled_from([1.0, 4.0, 100.0]))
def test_a_written_number_stands_where_the_number_stands(value: float, theta: float, width: float) -> None:
    """Rounding never crosses θ, nor reaches it."""
    value, theta = value * width, theta * width
    assume(abs(value - theta) > SLACK * width * 10)
    unit = Unit(low=0.0, high=width)
    written = float(unit.score(value, theta).removesuffix(" %").replace("−", "-"))
    scaled = theta * 100 if unit.is_share else theta

    assert (written > scaled) == (value > theta)
    assert not math.isclose(written, scaled, rel_tol=0, abs_tol=1e-13)
