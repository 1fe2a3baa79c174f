"""What families and templates do to a verdict: fewer than the minimum, blank cells, and what page one assumes."""

from dataclasses import replace
from typing import Any

from audit.verdict.claim_classification import classify
from registry.records.claim import Form
from registry.records.estimates import Estimate
from registry.records.verdict import ClaimClass, Condition, ConditionStatus, ReadingVerdict, Standing, VerdictStanding
from registry.report.page_one import describe_unchecked
from tests.report.builders import reading
from tests.verdict.cases import build_case, build_estimate, build_spec


def measure(**counts: Any) -> Estimate:
    spec = build_spec(tasks=60, contexts=12)
    return build_estimate(replace(spec, n=replace(spec.n, **counts)))


def decide(**counts: Any) -> ReadingVerdict:
    return classify(build_case(theta=0.1), measure(**counts)).primary


def test_fewer_than_twenty_families_allow_no_class() -> None:
    """Sixty tasks in twelve families are twelve; the verdict says both numbers and what is missing."""
    few, enough = decide(families=12), decide(families=20)

    assert few.class_ is ClaimClass.UNDETERMINED
    assert "12 families of tasks (60 tasks)" in few.why
    assert enough.class_ is not ClaimClass.UNDETERMINED


def test_fewer_than_five_templates_a_side_allow_no_class() -> None:
    """Twelve contexts from three templates are three."""
    few, enough = decide(templates_test=6, templates_deploy=3), decide(templates_test=6, templates_deploy=5)

    assert few.class_ is ClaimClass.UNDETERMINED
    assert "12 contexts from 3 templates" in few.why
    assert enough.class_ is not ClaimClass.UNDETERMINED


def test_tasks_without_a_family_beside_others_make_a_verdict_provisional() -> None:
    """Unknown is not independent; without the column nothing is asked."""
    declared, blank, silent = decide(families=60), decide(families=60, unnamed=3), decide()

    assert declared.verdict_standing is not VerdictStanding.PROVISIONAL
    assert blank.verdict_standing is VerdictStanding.PROVISIONAL
    found = {one.condition: one.status for one in blank.conditions}
    assert found[Condition.CLUSTERS] is ConditionStatus.MISSING
    assert Condition.CLUSTERS not in {one.condition for one in silent.conditions}


def test_page_one_assumes_what_is_not_declared() -> None:
    """With families it is these that are taken to be independent, without them the tasks."""
    holds = reading(Form.PREVALENCE, ClaimClass.STABLE, standing=Standing.ESTABLISHED)

    assert "checked: tasks are independent" in describe_unchecked(holds, measure())
    assert "the declared families of tasks are independent" in describe_unchecked(holds, measure(families=30))
