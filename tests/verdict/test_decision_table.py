"""Every row of the decision table, by a case that it and no row before it decides."""

import string
from collections.abc import Callable
from dataclasses import replace

import pytest

from audit.statistics.design_remarks import ENOUGH_TASKS
from audit.statistics.estimate_intervals import relevel
from audit.statistics.side_moments import ENOUGH_CONTEXTS
from audit.verdict.claim_classification import classify
from audit.verdict.decision_table import ACROSS_JUDGES, ACROSS_SPECS, WITH_ESTIMATE, WITHOUT_ESTIMATE
from audit.verdict.restricted_claim import WORDINGS, restrict
from audit.verdict.verdict_phrases import VerdictPhrases
from audit.verdict.verdict_standing import AuditConduct
from registry.records.analysis_plan import FEWEST_CONTEXTS, FEWEST_TASKS
from registry.records.audit_case import (
    Case,
    ControlCheck,
    ControlStatus,
    Deployment,
    EvidenceKind,
    EvidenceLayer,
    Infeasible,
    PerturbationEffect,
    PublishedFigure,
    RaterCheck,
    RaterStatus,
    Scoring,
    Sign,
)
from registry.records.claim import Form, Relation, Reported
from registry.records.estimates import Estimate
from registry.records.replay_run import ModelIdentityStatus, Provenance
from registry.records.verdict import ClaimClass, Mode, Standing, Verdict, VerdictStanding
from registry.report.number_format import Unit
from tests.verdict.cases import OTHER_MODEL, build_asked, build_case, build_estimate, build_evidence, build_spec

STABLE, DEGRADED, INVERTED, UNDETERMINED = ClaimClass.STABLE, ClaimClass.DEGRADED, ClaimClass.INVERTED, ClaimClass.UNDETERMINED
LATENT = build_evidence(EvidenceLayer.LATENT, finding=PublishedFigure(value=0.16, unit="share"))
PERTURBED = build_evidence(kind=EvidenceKind.PERTURBATION, effect=PerturbationEffect.AGAINST_CLAIM, verified=True)
LIMIT = build_case(theta=0.10)
NONE_TECHNICAL = Deployment(defensible=False, infeasible=Infeasible.TECHNICAL)
NONE_ONTOLOGICAL = Deployment(defensible=False, infeasible=Infeasible.ONTOLOGICAL)
TOLD_APART = RaterCheck(status=RaterStatus.TOLD_APART, note="blind raters were right about nine items in ten")
PASSED = ControlCheck(status=ControlStatus.PASSED, note="the claim held on a known-bad subject (control a)", reach="")
INSIDE, BEYOND = (0.04, 0.01, 0.09), (0.25, 0.1236, 0.4012)

Expected = tuple[str, Verdict, ClaimClass, Standing | None, Mode | None, ClaimClass | None]
HOLDS, CONTRADICTED, CHANGED = Verdict.HOLDS, Verdict.CONTRADICTED, Verdict.DOES_NOT_CARRY_OVER
NOT_REPRODUCED, OPEN, IN_DOUBT = Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE, Verdict.IN_DOUBT
FAILING, UNCERTAIN = (0.2, 0.15, 0.25), (0.08, 0.02, 0.14)
"""Φ_test with an interval wholly beyond θ = 0.1, and with one that contains it."""
AGREED = build_spec(test=0.05, deploy=(0.06, 0.03, 0.09), ed=(-0.03, 0.01))
ASKED_ANOTHER = AuditConduct(no_lock=None, asked=build_asked(ModelIdentityStatus.OTHER), provenance=Provenance())

ROWS: list[tuple[Case, Estimate | None, Expected]] = [
    (
        build_case(theta=0.1, deployment=NONE_TECHNICAL),
        build_estimate(),
        ("no-deployment-technical", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (
        build_case(Form.PREVALENCE, deployment=NONE_ONTOLOGICAL),
        build_estimate(),
        ("no-deployment-ontological", Verdict.NOT_TESTABLE, UNDETERMINED, None, Mode.ONTOLOGICAL, None),
    ),
    (
        build_case(theta=0.1, raters=TOLD_APART),
        build_estimate(),
        ("sides-distinguished", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (
        build_case(theta=0.1, scoring=Scoring(invariant=False)),
        build_estimate(),
        ("scorer-not-invariant", OPEN, UNDETERMINED, None, Mode.TECHNICAL, INVERTED),
    ),
    (LIMIT, build_estimate(build_spec(tasks=19)), ("too-few-tasks", OPEN, UNDETERMINED, None, Mode.TECHNICAL, INVERTED)),
    (LIMIT, build_estimate(build_spec(contexts=4)), ("too-few-contexts", OPEN, UNDETERMINED, None, Mode.TECHNICAL, INVERTED)),
    (LIMIT, build_estimate(build_spec(intervals=False)), ("no-interval", OPEN, UNDETERMINED, None, Mode.TECHNICAL, INVERTED)),
    (build_case(theta=None), build_estimate(), ("theta-unpublished", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None)),
    (LIMIT, build_estimate(), ("contradicted", CONTRADICTED, INVERTED, Standing.ESTABLISHED, None, None)),
    (
        LIMIT,
        build_estimate(build_spec(test=UNCERTAIN)),
        ("contradicted-test-open", CONTRADICTED, INVERTED, Standing.CANDIDATE, None, None),
    ),
    (
        LIMIT,
        build_estimate(build_spec(test=(0.05, None, None))),
        ("contradicted-test-open", CONTRADICTED, INVERTED, Standing.CANDIDATE, None, None),
    ),
    (
        LIMIT,
        build_estimate(build_spec(test=FAILING)),
        ("contradicted-and-fails-in-test", CONTRADICTED, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (LIMIT, build_estimate(build_spec(deploy=(0.25, 0.1, 0.4))), ("deploy-point-beyond", OPEN, UNDETERMINED, None, Mode.NOISY, INVERTED)),
    (
        LIMIT,
        build_estimate(build_spec(test=FAILING, deploy=(0.25, 0.1, 0.4))),
        ("fails-in-test", NOT_REPRODUCED, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (
        LIMIT,
        build_estimate(build_spec(test=FAILING, deploy=INSIDE)),
        ("holds-but-fails-in-test", NOT_REPRODUCED, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (
        build_case(theta=0.1, controls=PASSED),
        build_estimate(build_spec(deploy=INSIDE)),
        ("holds-for-known-bad", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (
        build_case(Form.PREVALENCE, controls=PASSED),
        build_estimate(AGREED),
        ("agrees-for-known-bad", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    # A harness that misses a bad subject weakens nothing that it shows against a claim.
    (build_case(theta=0.1, controls=PASSED), build_estimate(), ("contradicted", CONTRADICTED, INVERTED, Standing.ESTABLISHED, None, None)),
    (LIMIT, build_estimate(build_spec(deploy=INSIDE)), ("holds", HOLDS, STABLE, Standing.ESTABLISHED, None, None)),
    (LIMIT, build_estimate(build_spec(test=UNCERTAIN, deploy=INSIDE)), ("holds", HOLDS, STABLE, Standing.ESTABLISHED, None, None)),
    (LIMIT, build_estimate(build_spec(deploy=(0.05, 0.01, 0.11))), ("deploy-point-inside", OPEN, UNDETERMINED, None, Mode.NOISY, STABLE)),
    (build_case(Form.PREVALENCE), build_estimate(AGREED), ("agrees", HOLDS, STABLE, Standing.ESTABLISHED, None, None)),
    (build_case(Form.PREVALENCE, reported=0.06), build_estimate(AGREED), ("agrees", HOLDS, STABLE, Standing.ESTABLISHED, None, None)),
    (
        build_case(Form.PREVALENCE, reported=0.5),
        build_estimate(AGREED),
        ("agrees-but-not-reproduced", NOT_REPRODUCED, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (
        build_case(Form.PREVALENCE, reported=Reported(value=0.06, n=20)),
        build_estimate(AGREED),
        ("agrees-reproduction-unclear", OPEN, STABLE, Standing.PROVISIONAL, None, None),
    ),
    (
        build_case(Form.PREVALENCE, reported=0.03),
        build_estimate(build_spec(test=0.05, deploy=(0.1, 0.09, 0.11), ed=(-0.05, -0.04))),
        ("agrees-outside-deployment", OPEN, UNDETERMINED, None, Mode.NOISY, None),
    ),
    (build_case(Form.PREVALENCE), build_estimate(), ("does-not-carry-over", CHANGED, DEGRADED, Standing.ESTABLISHED, None, None)),
    (
        build_case(Form.PREVALENCE),
        build_estimate(build_spec(deploy=(0.06, 0.01, 0.2))),
        ("ed-open", OPEN, UNDETERMINED, None, Mode.NOISY, STABLE),
    ),
    (
        build_case(Form.PREVALENCE, reported=0.9),
        build_estimate(build_spec(deploy=(0.06, 0.01, 0.2))),
        ("ed-open-not-reproduced", NOT_REPRODUCED, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (build_case(Form.EXISTENCE), build_estimate(), ("observed", Verdict.OBSERVED, STABLE, Standing.OBSERVED_CONDITION, None, None)),
    (
        build_case(Form.EXISTENCE),
        build_estimate(build_spec(test=0.0, deploy=(0.0, 0.0, 0.1))),
        ("not-observed", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (build_case(theta=0.1, raters=TOLD_APART), None, ("sides-distinguished", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None)),
    (build_case(theta=0.1, deployment=NONE_TECHNICAL), None, ("no-deployment-technical", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None)),
    (
        build_case(Form.PREVALENCE, deployment=NONE_ONTOLOGICAL, evidence=(build_evidence(kind=EvidenceKind.DEPARTURE),)),
        None,
        ("no-deployment-ontological", Verdict.NOT_TESTABLE, UNDETERMINED, None, Mode.ONTOLOGICAL, None),
    ),
    (
        build_case(Form.EXISTENCE, evidence=(build_evidence(kind=EvidenceKind.OBSERVATION),)),
        None,
        ("documented-observation", Verdict.OBSERVED, STABLE, Standing.OBSERVED_CONDITION, None, None),
    ),
    (build_case(Form.EXISTENCE), None, ("no-documented-observation", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None)),
    (
        build_case(Form.PREVALENCE, evidence=(build_evidence(kind=EvidenceKind.DEPARTURE),)),
        None,
        ("documented-departure", IN_DOUBT, DEGRADED, None, None, None),
    ),
    (build_case(Form.PREVALENCE, evidence=(LATENT,)), None, ("recognition-only", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None)),
    (build_case(Form.PREVALENCE), None, ("nothing-behavioural", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None)),
    (
        build_case(theta=0.1, evidence=(PERTURBED,)),
        None,
        ("verified-perturbation", IN_DOUBT, INVERTED, Standing.STRUCTURAL_RISK, None, None),
    ),
    (
        build_case(
            theta=0.1,
            evidence=(
                build_evidence(kind=EvidenceKind.PERTURBATION, effect=PerturbationEffect.AGAINST_CLAIM, verified=True, model=OTHER_MODEL),
            ),
        ),
        None,
        ("perturbation-on-another-model", IN_DOUBT, INVERTED, Standing.CANDIDATE, None, None),
    ),
    (
        build_case(theta=0.1, evidence=(LATENT,), suppressible=True),
        None,
        ("recognised-and-suppressible", IN_DOUBT, INVERTED, Standing.CANDIDATE, None, None),
    ),
    (
        build_case(
            Form.UPPER_BOUND,
            theta=0.5,
            reported=Reported(value=0.2, n=100),
            evidence=(build_evidence(kind=EvidenceKind.RISK_AMPLIFYING, verified=True),),
        ),
        None,
        ("verified-direction", HOLDS, STABLE, Standing.DIRECTION_VERIFIED, None, None),
    ),
    (
        build_case(
            Form.UPPER_BOUND, theta=0.5, evidence=(build_evidence(kind=EvidenceKind.RISK_AMPLIFYING, verified=True, model=OTHER_MODEL),)
        ),
        None,
        ("nothing-decides", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None),
    ),
    (build_case(theta=0.1, evidence=(LATENT,)), None, ("nothing-decides", OPEN, UNDETERMINED, None, Mode.TECHNICAL, None)),
    (
        LIMIT,
        build_estimate(build_spec(name="a", deploy=(0.25, 0.101, 0.4)), build_spec(name="b", deploy=INSIDE)),
        ("not-after-holm", OPEN, UNDETERMINED, None, Mode.NOISY, INVERTED),
    ),
    (
        LIMIT,
        build_estimate(build_spec(name="a", deploy=INSIDE), build_spec(name="b", deploy=(0.05, 0.01, 0.11))),
        ("specs-differ", OPEN, UNDETERMINED, None, Mode.NOISY, STABLE),
    ),
    (
        LIMIT,
        build_estimate(replace(build_spec(deploy=(0.5, 0.45, 0.55)), judge="a"), replace(build_spec(deploy=INSIDE), judge="b")),
        ("judges-disagree", OPEN, UNDETERMINED, None, Mode.TECHNICAL, INVERTED),
    ),
]


@pytest.mark.parametrize(("case", "estimate", "expected"), ROWS, ids=[f"{row[2][0]}-{number}" for number, row in enumerate(ROWS)])
def test_row_decides_the_case_made_for_it(case: Case, estimate: Estimate | None, expected: Expected) -> None:
    """Rule, verdict, class, standing, mode and class of the point are those of the row."""
    reading = classify(case, estimate, at_level=widen(estimate)).primary

    assert (reading.rule, reading.verdict, reading.class_, reading.standing, reading.mode, reading.point_class) == expected


def test_responses_of_another_model_decide_nothing() -> None:
    """Where the endpoint returned a name of another version, no interval counts for the claim, and no observation either."""
    reading = classify(build_case(theta=0.1), build_estimate(), conduct=ASKED_ANOTHER).primary
    existence = classify(build_case(Form.EXISTENCE), build_estimate(), conduct=ASKED_ANOTHER).primary

    assert (reading.rule, reading.verdict, reading.class_) == ("other-model-asked", OPEN, UNDETERMINED)
    assert reading.point_class is INVERTED
    assert reading.printed_point_class is None
    assert existence.rule == "observed-of-other-model"


def widen(estimate: Estimate | None) -> Callable[[float], Estimate] | None:
    """Intervals at another level for the made-up specifications: 0.02 wider at both ends."""
    if estimate is None or len(estimate.specs) == 1:
        return None

    def at(level: float) -> Estimate:
        wider = [
            build_spec(
                name=one.spec,
                test=one.phi_test.value,
                deploy=(one.phi_deploy.value, (one.phi_deploy.low or 0) - 0.02, (one.phi_deploy.high or 1) + 0.02),
            )
            for one in estimate.specs
        ]
        return build_estimate(*wider, level=level)

    return at


def test_every_row_is_reached() -> None:
    """No row of the tables is dead: each is the rule of at least one case above."""
    rows = {row.name for table in (WITH_ESTIMATE, WITHOUT_ESTIMATE, ACROSS_SPECS, ACROSS_JUDGES) for row in table}

    assert rows == {expected[0] for _, _, expected in ROWS} | {"other-model-asked", "observed-of-other-model", "observed-of-unidentified"}


def test_rows_of_one_table_have_names_of_their_own() -> None:
    """A rule in a record leads to one row."""
    for table in (WITH_ESTIMATE, WITHOUT_ESTIMATE, ACROSS_SPECS, ACROSS_JUDGES):
        names = [row.name for row in table]

        assert len(names) == len(set(names))


def test_rows_of_one_name_are_one_row() -> None:
    """Where a rule stands in both tables it means the same."""
    with_estimate = {row.name: row for row in WITH_ESTIMATE}

    assert all(with_estimate.get(row.name, row) is row for row in WITHOUT_ESTIMATE)


@pytest.mark.parametrize("table", [WITH_ESTIMATE, WITHOUT_ESTIMATE])
def test_each_form_ends_in_a_row_without_a_condition(table: tuple[object, ...]) -> None:
    """The table is total."""
    from audit.verdict.decision_table import DecisionRow
    from audit.verdict.verdict_conditions import always

    for form in Form:
        rows = [row for row in table if isinstance(row, DecisionRow) and form in row.forms]

        assert rows[-1].condition is always


def test_every_placeholder_of_a_row_is_a_phrase() -> None:
    """A sentence never asks for a phrase that does not exist."""
    known = {name for name in dir(VerdictPhrases) if not name.startswith("_")} | {"each_spec"}
    texts = [
        text
        for table in (WITH_ESTIMATE, WITHOUT_ESTIMATE, ACROSS_SPECS, ACROSS_JUDGES)
        for row in table
        for text in (row.why, row.resolves or "")
    ]
    asked = {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name}

    assert asked <= known


def test_every_rule_has_its_wording() -> None:
    """A restricted claim can be composed for whatever row decides."""
    rows = {row.name for table in (WITH_ESTIMATE, WITHOUT_ESTIMATE, ACROSS_SPECS, ACROSS_JUDGES) for row in table}

    assert sorted(rule for wording in WORDINGS for rule in wording.rules) == sorted(rows)


def test_the_table_and_the_statistics_ask_for_the_same_design() -> None:
    """The two rooms that name the minimum design name the same one."""
    assert (FEWEST_TASKS, FEWEST_CONTEXTS) == (ENOUGH_TASKS, ENOUGH_CONTEXTS)


@pytest.mark.parametrize("contexts", ["fixed", "nested"])
def test_few_contexts_block_nothing_where_contexts_are_no_sample(contexts: str) -> None:
    """Only random contexts need five a side."""
    verdict = classify(LIMIT, build_estimate(build_spec(contexts=1), contexts=contexts)).primary

    assert verdict.rule == "contradicted"


@pytest.mark.parametrize("case", [LIMIT, build_case(Form.PREVALENCE)])
@pytest.mark.parametrize(
    ("contexts", "bound"),
    [
        ("random", "up to 45.1 % of deployment contexts"),
        ("nested", "up to 45.1 % of deployment contexts"),
        ("fixed", "because none was tested"),
    ],
)
def test_a_claim_that_holds_carries_the_unseen_context_bound(case: Case, contexts: str, bound: str) -> None:
    """1 − 0.05^(1/5) = 45.1 % for limits and figures alike; of contexts beside fixed ones nothing is known."""
    reading = classify(case, build_estimate(AGREED, contexts=contexts)).primary

    assert reading.verdict is HOLDS
    assert bound in reading.why


def test_nested_contexts_of_one_task_count_once_as_unseen() -> None:
    """Twenty tasks with ten contexts each say no more of contexts that were not drawn than twenty contexts: 1 − 0.05^(1/20) = 13.9 %."""
    spec = build_spec(deploy=INSIDE, tasks=20, contexts=200)

    verdict = classify(LIMIT, build_estimate(spec, contexts="nested")).primary

    assert "those of one of the 20 tasks counted once, up to 14 % of deployment contexts" in verdict.why


def test_fixed_contexts_are_said_to_condition_the_verdict() -> None:
    """Every sentence on fixed contexts says so."""
    estimate = build_estimate(contexts="fixed")
    classification = classify(LIMIT, estimate)

    assert "Conditional on the contexts tested" in classification.primary.why
    text = restrict(LIMIT, classification, estimate)
    assert classification.primary.verdict_standing is VerdictStanding.CONDITIONAL
    assert text.verdict.startswith("Contradicted (conditional on the contexts tested).")
    assert "This applies to the 5 contexts tested only" in text.restricted


@pytest.mark.parametrize(
    ("evidence", "rule"),
    [
        ((build_evidence(kind=EvidenceKind.PERTURBATION, effect=PerturbationEffect.AGAINST_CLAIM),), "recognised-and-suppressible"),
        ((build_evidence(EvidenceLayer.LATENT, finding=PublishedFigure(value=0.0, unit="share")),), "nothing-decides"),
        ((LATENT, build_evidence(kind=EvidenceKind.PERTURBATION, effect=PerturbationEffect.WITH_CLAIM, verified=True)), "nothing-decides"),
        ((LATENT, build_evidence(kind=EvidenceKind.OBSERVATION)), "recognised-and-suppressible"),
        ((LATENT, PERTURBED), "verified-perturbation"),
    ],
)
def test_evidence_on_a_suppressible_property(evidence: tuple[object, ...], rule: str) -> None:
    """Unverified perturbations count as recognition, a rate of zero does not, verified behaviour ends the suspicion or sharpens it."""
    assert classify(build_case(theta=0.1, evidence=evidence, suppressible=True), None).primary.rule == rule  # type: ignore[arg-type]


def test_latent_evidence_with_a_kind_never_moves_a_prevalence_claim() -> None:
    """Only behaviour moves a prevalence claim off undetermined."""
    case = build_case(Form.PREVALENCE, evidence=(build_evidence(EvidenceLayer.LATENT, EvidenceKind.DEPARTURE),))

    assert classify(case, None).primary.class_ is UNDETERMINED


def test_a_bound_that_its_card_does_not_meet_is_not_stable() -> None:
    """A verified direction does not help a bound whose own figure breaks it; the reading says so first."""
    evidence = (build_evidence(kind=EvidenceKind.RISK_AMPLIFYING, verified=True),)
    verdict = classify(build_case(Form.UPPER_BOUND, theta=0.1, reported=0.2, evidence=evidence), None).primary

    assert verdict.class_ is UNDETERMINED
    assert verdict.not_met_in_test
    assert verdict.why.startswith("The figure that the card reports fails")


def test_a_lower_bound_is_inverted_from_above() -> None:
    """For `>=` the inversion has a positive ED."""
    case = build_case(Form.LOWER_BOUND, theta=0.8)
    verdict = classify(case, build_estimate(build_spec(test=0.9, deploy=(0.5, 0.4, 0.6)))).primary

    assert (verdict.rule, verdict.direction) == ("contradicted", Sign.POSITIVE)
    assert "above Φ_test − θ = 10.0 percentage points" in verdict.why


def test_a_perturbation_names_the_model_it_was_measured_on() -> None:
    """Where that is not the claim's, the sentence says which, and where it was read."""
    evidence = build_evidence(
        kind=EvidenceKind.PERTURBATION,
        effect=PerturbationEffect.AGAINST_CLAIM,
        verified=True,
        model=OTHER_MODEL,
        evaluation="sabotage tasks",
        source="a paper.",
    )
    verdict = classify(build_case(theta=0.1, evidence=(evidence,)), None).primary

    assert "behavioural evidence, in sabotage tasks, on EXAMPLE m 2, a paper" in verdict.why


def test_a_direction_that_is_established_is_said() -> None:
    """CI(ED) excludes 0 and still straddles the margin."""
    verdict = classify(build_case(Form.PREVALENCE), build_estimate(build_spec(deploy=(0.1, 0.06, 0.15)))).primary

    assert (verdict.rule, verdict.direction) == ("ed-open", Sign.NEGATIVE)
    assert "The direction is established: higher in deployment" in verdict.why


def test_a_figure_that_does_not_carry_over_leaves_a_one_sided_limit() -> None:
    """The limit is that of the two-sided interval at twice the error rate, named as one-sided: it is never wider than the two-sided end."""
    case = build_case(Form.PREVALENCE)
    lower = build_estimate(build_spec(test=0.9, deploy=(0.5, 0.4, 0.6)))
    one_sided = relevel(lower, lower.specs[0], level=0.9).phi_deploy
    fallen, risen = classify(case, lower).primary, classify(case, build_estimate()).primary

    assert one_sided.high is not None
    assert f"Φ_deploy is at most {Unit(low=0, high=1).at_most(one_sided.high)} (one-sided 95 % limit)" in fallen.why
    assert "Φ_deploy is at least" in risen.why
    assert "(one-sided 95 % limit)" in risen.why


def test_an_estimate_without_specifications_counts_as_none() -> None:
    """Nothing was estimated, so the evidence decides."""
    empty = Estimate(margin=0.05, level=0.95, epsilon=0.01, range=(0.0, 1.0), seed=0, specs=())

    assert classify(LIMIT, empty).primary.rule == "nothing-decides"
    assert restrict(LIMIT, classify(LIMIT, empty), empty).verdict


def test_an_unpublished_threshold_prints_what_would_be_inverted_and_stable() -> None:
    """θ unpublished with an estimate: both ranges of θ are printed, and the prevalence reading follows."""
    classification = classify(build_case(theta=None), build_estimate())

    assert "inverted, with any θ from 7.0 % to below 12.3 %" in classification.primary.why
    assert "would hold with any θ at or above 40.2 %" in classification.primary.why
    assert Form.PREVALENCE in [reading.form for reading in classification.readings]
    assert classification.inversion_margin is None


def test_an_unpublished_lower_threshold_prints_its_ranges() -> None:
    """For `>=` the ranges are mirrored; where no θ could be inverted, that is said."""
    case = build_case(theta=None, relation=Relation.AT_LEAST)
    inverted = classify(case, build_estimate(build_spec(test=0.9, deploy=(0.5, 0.4, 0.6)))).primary.why
    stable = classify(case, build_estimate(build_spec(test=0.5, deploy=(0.5, 0.4, 0.6)))).primary.why

    assert "inverted, with any θ from above 60.0 % to 88.0 %" in inverted
    assert "it would be inverted with none" in stable
