"""Laws that keep a verdict within its evidence, over any estimate: what the intervals leave open is never decided."""

import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from audit.protocol.case_outcome import run_case
from audit.protocol.evidence_basis import _READS_RESPONSE
from audit.verdict import decision_table as typology
from audit.verdict.claim_classification import classify
from audit.verdict.restricted_claim import restrict
from audit.verdict.verdict_conditions import ReadingFacts
from audit.verdict.verdict_standing import LEAST_LEVEL, MOST_MARGIN, MOST_RATERS, AuditConduct
from registry.records.analysis_plan import ContextDesign
from registry.records.audit_case import Case, Deployment, Scoring
from registry.records.claim import Form, Relation, Reported
from registry.records.estimates import Estimate
from registry.records.replay_run import ModelIdentityStatus, Provenance
from registry.records.verdict import FIRM, Condition, ReadingVerdict, Standing, Verdict, VerdictStanding
from tests.statistics.tables import build_crossed, label
from tests.verdict.cases import SHARES, build_asked, build_case, build_estimate, build_spec, build_truncation, estimates
from tests.verdict.test_decision_table import ROWS, widen

STRENGTH = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
OPEN = (Verdict.INCONCLUSIVE, Verdict.NOT_REPRODUCED)
CONDUCT = AuditConduct(
    reads_response_only=True,
    is_invariance_checked=True,
    no_lock=None,
    asked=build_asked(),
    provenance=Provenance(accessed="2026-11-21", sampling="temperature default", scorer_reads_response=True),
)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[float, float, float]:
    """Value, low, high."""
    low, value, high = sorted(draw(st.tuples(SHARES, SHARES, SHARES)))
    return value, low, high


@STRENGTH
@given(test=intervals(), deploy=intervals(), theta=SHARES, relation=st.sampled_from(list(Relation)))
def test_a_limit_inside_the_interval_is_never_decided(
    test: tuple[float, float, float], deploy: tuple[float, float, float], theta: float, relation: Relation
) -> None:
    """Where CI(Φ_deploy) has points on both sides of θ, the verdict is inconclusive or about the replay of the evaluation."""
    reading = classify(build_case(theta=theta, relation=relation), build_estimate(build_spec(test=test, deploy=deploy))).primary
    slack = 1e-9

    if deploy[1] < theta - slack and deploy[2] > theta + slack:
        assert reading.verdict in OPEN
    if test[1] < theta - slack and test[2] > theta + slack:
        assert reading.standing is not Standing.ESTABLISHED or reading.verdict is Verdict.HOLDS


@STRENGTH
@given(
    ends=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
    reported=st.none() | SHARES,
    trials=st.none() | st.integers(1, 5000),
    test=intervals(),
)
def test_a_margin_inside_the_interval_is_never_decided(
    ends: tuple[float, float], reported: float | None, trials: int | None, test: tuple[float, float, float]
) -> None:
    """Where CI(ED) has points inside and outside of ±δ, or the card's figure may be right or wrong, nothing is decided about the claim."""
    low, high = sorted(ends)
    figure = None if reported is None else Reported(value=reported, n=trials)
    reading = classify(
        build_case(Form.PREVALENCE, reported=figure), build_estimate(build_spec(test=test, deploy=(0.5, 0.0, 1.0), ed=(low, high)))
    ).primary
    check = reading.reproduction
    is_open = any(low < line < high for line in (-0.05, 0.05))

    if is_open:
        assert reading.verdict in OPEN
    if (
        check is not None
        and check.low is not None
        and check.high is not None
        and any(check.low < line < check.high for line in (-0.05, 0.05))
    ):
        assert reading.verdict is not Verdict.HOLDS


@STRENGTH
@given(
    case=st.sampled_from(ROWS), drop=st.sampled_from(["lock", "asked", "accessed", "sampling", "description", "invariance", "truncation"])
)
def test_removing_a_condition_never_raises_the_standing(case: tuple[Case, Estimate | None, object], drop: str) -> None:
    """Each condition taken away leaves the verdict at most as firm, and names what is missing where a verdict can be firm."""
    order = [None, VerdictStanding.PROVISIONAL, VerdictStanding.CONDITIONAL, VerdictStanding.ESTABLISHED]
    before, estimate, conduct = case[0], case[1], CONDUCT
    # A failed check is no condition that is met: the log keeps it, so it cannot be taken away.
    assume(not (drop == "invariance" and before.scoring.invariant is False))
    whole = classify(before, estimate, conduct=conduct, at_level=widen(estimate)).primary
    if drop == "lock":
        conduct = replace(conduct, no_lock="no lock preceded the run")
    elif drop == "asked":
        conduct = replace(conduct, asked=build_asked(ModelIdentityStatus.UNIDENTIFIED))
    elif drop in ("accessed", "sampling"):
        conduct = replace(conduct, provenance=replace(conduct.provenance, **{drop: None}))
    elif drop == "description":
        before = replace(before, deployment=replace(before.deployment, description=None))
    elif drop == "invariance":
        before = replace(before, scoring=Scoring())
        conduct = replace(conduct, provenance=replace(conduct.provenance, scorer_reads_response=None), reads_response_only=None)
    elif estimate is not None:
        estimate = replace(estimate, specs=tuple(replace(spec, truncation=None) for spec in estimate.specs))
    reading = classify(before, estimate, conduct=conduct, at_level=widen(estimate)).primary

    assert order.index(reading.verdict_standing) <= order.index(whole.verdict_standing)
    if reading.verdict in FIRM and whole.rule != "scorer-not-invariant":
        assert reading.verdict_standing is VerdictStanding.PROVISIONAL
        assert reading.missing_condition is not None


@pytest.mark.parametrize("shown", [False, None])
def test_a_declared_reading_of_the_scorer_establishes_nothing_under_a_log(shown: bool | None) -> None:  # noqa: FBT001
    """An audit file may say that its judge reads only the response; the run shows that it is a judge."""
    case = replace(build_case(theta=0.5), scoring=Scoring(reads_response_only=True))
    estimate = build_estimate(build_spec(test=(0.2, 0.1, 0.3), deploy=(0.2, 0.1, 0.3)))
    conduct = replace(CONDUCT, reads_response_only=shown, is_invariance_checked=False)
    before, after = (classify(case, estimate, conduct=given).primary for given in (replace(conduct, reads_response_only=True), conduct))

    assert before.missing_condition is not Condition.INVARIANCE
    assert (after.verdict_standing, after.missing_condition) == (VerdictStanding.PROVISIONAL, Condition.INVARIANCE)


@pytest.mark.parametrize(
    ("scorer", "known"),
    [
        ("Inspect scorer match", True),
        ("exact_match of gsm8k 3", True),
        ("Inspect scorer my_judge", False),
        ("Inspect scorer match/judge", False),
        ("Inspect scorer choice; model in the role grader: m", True),
        ("acc, judged by 2 models", False),
        ("", False),
    ],
)
def test_only_known_scorers_of_logs_read_nothing_but_the_response(scorer: str, known: bool) -> None:  # noqa: FBT001
    assert (_READS_RESPONSE.match(scorer) is not None) is known


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"margin": 0.9}, "the plan's margin is 90 % of the range, more than 20 %"),
        ({"level": 0.5}, "the plan's level is 50 %, and an established verdict needs 95 %"),
    ],
)
def test_a_plan_under_which_nearly_anything_passes_establishes_nothing(changes: dict[str, float], note: str) -> None:
    """From 87 % to 29 % is within 90 points, and an interval at 50 % errs in half of replays."""
    estimate = build_estimate(build_spec(test=(0.87, 0.84, 0.9), deploy=(0.29, 0.2, 0.4), ed=(0.46, 0.67)), **{"margin": 0.9, **changes})
    reading = classify(build_case(Form.PREVALENCE, reported=Reported(value=0.88, n=2000)), estimate, conduct=CONDUCT).primary
    (check,) = [check for check in reading.conditions if check.condition is Condition.PLAN]

    assert (reading.verdict, reading.verdict_standing) == (Verdict.HOLDS, VerdictStanding.PROVISIONAL)
    assert note in check.note


@pytest.mark.parametrize(("lost", "standing"), [(0.04, VerdictStanding.PROVISIONAL), (0.002, VerdictStanding.ESTABLISHED)])
def test_a_tight_limit_is_not_established_where_a_few_responses_without_a_score_could_pass_it(
    lost: float, standing: VerdictStanding
) -> None:
    """No response with a score is bad, and 4 % have none: "at most 2 %" is not shown. 0.2 % could not pass the limit."""
    blocks = [np.where(np.random.default_rng(seed).random((300, 6)) < lost, np.nan, 0.0) for seed in (1, 2)]
    table = build_crossed(*blocks)
    table = replace(table, truncated=label(["no"] * table.rows))
    case = build_case(theta=0.02, relation=Relation.AT_MOST)
    case = replace(case, plan=replace(case.plan, replicates=0, contexts=ContextDesign.RANDOM))
    reading = run_case(case, table, conduct=CONDUCT).classification.primary

    assert (reading.verdict, reading.verdict_standing) == (Verdict.HOLDS, standing)
    assert (reading.missing_condition is Condition.ACCOUNTING) is (standing is VerdictStanding.PROVISIONAL)


@STRENGTH
@given(estimate=estimates(), theta=SHARES, reported=st.none() | SHARES, form=st.sampled_from([Form.THRESHOLD, Form.PREVALENCE]))
def test_every_percentage_of_a_verdict_is_one_of_the_record(estimate: Estimate, theta: float, reported: float | None, form: Form) -> None:
    """A number in the headline is a number of the estimate, the claim or the check of reproduction, rounded and never across a limit."""
    case = build_case(form, theta=theta if form is Form.THRESHOLD else None, reported=reported)
    classification = classify(case, estimate)
    reading = classification.primary
    known = {theta, estimate.margin, -estimate.margin, estimate.level, 0.05, *([reported] if reported is not None else [])}
    known |= _list_numbers(reading)
    # What a plan must keep to, where the headline says that it does not.
    known |= {LEAST_LEVEL, MOST_MARGIN, MOST_RATERS, estimate.margin / (estimate.range[1] - estimate.range[0])}
    for level in {estimate.level, *(one.level for one in reading.specs if one.level)}:
        from audit.verdict.claim_classification import build_at_level

        at_level = build_at_level(estimate)
        whole = at_level(level) if at_level and level != estimate.level else estimate
        known |= {level, *(number for spec in whole.specs for number in _list_ends(spec))}
    printed = re.findall(
        r"[−-]?\d+(?:\.\d+)?(?= %| to [−\d.]+ (?:%|percentage)| percentage)", restrict(case, classification, estimate).verdict
    )

    for text in printed:
        number = Decimal(text.replace("−", "-")) / 100
        digits = -number.as_tuple().exponent
        assert any(abs(Decimal(repr(value)) - number) <= Decimal(10) ** -digits for value in map(abs, known)) or any(
            abs(Decimal(repr(value)) - number) <= Decimal(10) ** -digits for value in known
        ), text


def _list_ends(spec: object) -> set[float]:
    parts = [getattr(spec, name) for name in ("phi_test", "phi_deploy", "ed")]
    return {value for part in parts for value in (part.value, part.low, part.high) if value is not None}


def _list_numbers(reading: ReadingVerdict) -> set[float]:
    check = reading.reproduction
    values = [] if check is None else [check.difference, check.low, check.high, check.reported, check.reported_low, check.reported_high]
    return {value for value in values if value is not None}


TABLES = ("WITH_ESTIMATE", "WITHOUT_ESTIMATE")
MUTANTS = [(table, row.name) for table in TABLES for row in getattr(typology, table) if row.condition is not typology.always]


@pytest.mark.parametrize(("table", "name"), MUTANTS)
@pytest.mark.parametrize("mutation", ["never", "always"])
def test_a_mutant_of_the_decision_table_is_noticed(monkeypatch: pytest.MonkeyPatch, table: str, name: str, mutation: str) -> None:
    """A row that never applies, or always, changes the outcome of at least one of the cases that are tested."""
    rows = getattr(typology, table)
    conditions = {"never": lambda _: False, "always": lambda _: True}
    mutant = tuple(replace(row, condition=conditions[mutation]) if row.name == name else row for row in rows)
    decide_as_it_is = typology.decide

    def decide(facts: ReadingFacts) -> typology.DecisionRow:
        is_concerned = (facts.estimate is not None) == (table == "WITH_ESTIMATE")
        if not is_concerned:
            return decide_as_it_is(facts)
        return next(row for row in mutant if facts.form in row.forms and row.condition(facts))

    monkeypatch.setattr("audit.verdict.claim_classification.decide", decide)
    other = replace(CONDUCT, asked=build_asked(ModelIdentityStatus.OTHER))
    cases = [(case, estimate, CONDUCT, expected[0]) for case, estimate, expected in ROWS]
    cases.append((build_case(theta=0.1), build_estimate(), other, "other-model-asked"))
    cases.append((build_case(Form.EXISTENCE), build_estimate(), other, "observed-of-other-model"))
    unidentified = replace(CONDUCT, asked=build_asked(ModelIdentityStatus.UNIDENTIFIED))
    cases.append((build_case(Form.EXISTENCE), build_estimate(), unidentified, "observed-of-unidentified"))
    rules = [classify(case, one, conduct=conduct, at_level=widen(one)).primary.rule for case, one, conduct, _ in cases]

    assert rules != [expected for *_, expected in cases]


def test_fixed_contexts_are_at_most_conditional() -> None:
    """Whatever else is met; and no minimum of contexts applies."""
    case = build_case(theta=0.1, deployment=Deployment(description="The one harness that is deployed"))
    reading = classify(case, build_estimate(build_spec(contexts=1), contexts="fixed"), conduct=CONDUCT).primary

    assert (reading.verdict, reading.verdict_standing) == (Verdict.CONTRADICTED, VerdictStanding.CONDITIONAL)
    assert reading.standing is Standing.CONDITIONAL


@pytest.mark.parametrize(
    ("test", "deploy", "settled", "extremes", "standing"),
    [
        (0, 0, 0, None, VerdictStanding.ESTABLISHED),
        (5, 3, 0, None, VerdictStanding.ESTABLISHED),
        (5, 1, 0, None, VerdictStanding.PROVISIONAL),
        (6, 6, 0, None, VerdictStanding.PROVISIONAL),
        (6, 6, 6, None, VerdictStanding.ESTABLISHED),
        (6, 6, 0, (0.25, 0.1236, 0.4012), VerdictStanding.ESTABLISHED),
        (6, 6, 0, (0.12, 0.05, 0.3), VerdictStanding.PROVISIONAL),
    ],
)
def test_truncation_beyond_five_percent_or_three_points_needs_the_same_verdict_at_the_extremes(
    test: int, deploy: int, settled: int, extremes: tuple[float, float, float] | None, standing: VerdictStanding
) -> None:
    """Of 100 responses a side; a truncated response whose score can no longer change does not count."""
    spec = replace(build_spec(), truncation=build_truncation(test=test, deploy=deploy, settled=settled))
    bounds = None if extremes is None else lambda: [build_estimate(build_spec(deploy=extremes))]
    reading = classify(build_case(theta=0.1), build_estimate(spec), conduct=CONDUCT, extremes=bounds).primary

    assert reading.verdict_standing is standing
