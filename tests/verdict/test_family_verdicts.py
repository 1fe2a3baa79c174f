"""What families and templates do to a verdict: fewer than the minimum, blank cells, and what page one assumes."""

from dataclasses import replace
from typing import Any

import pytest

from audit.verdict.claim_classification import classify
from registry.records.claim import Form
from registry.records.estimates import Estimate
from registry.records.replay_run import NearDuplicates
from registry.records.verdict import ClaimClass, Condition, ConditionStatus, ReadingVerdict, Standing, VerdictStanding
from registry.report.page_one import describe_unchecked
from tests.report.builders import reading
from tests.verdict.cases import build_case, build_estimate, build_spec
from tests.verdict.test_evidence_laws import CONDUCT


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


REPEATED = NearDuplicates(compared=60, not_compared=0, found=1, pairs=(("a", "b"),), repeated=2, repeats=(("a", "b"), ("a", "c")))

ALIKE = NearDuplicates(compared=60, not_compared=0, found=3, pairs=(("a", "b"), ("a", "c"), ("b", "c")))


@pytest.mark.parametrize(
    ("provenance", "contexts", "note"),
    [
        ({"near_duplicates": REPEATED}, "random", "2 tasks repeat the words of another one"),
        ({"near_duplicates": REPEATED}, "fixed", "2 tasks repeat"),
        ({"near_duplicates": ALIKE}, "random", "3 pairs of tasks have nearly the same text and no common family, such as a and b"),
        ({"repeated_contexts": (("c1", "c2"),)}, "random", "a context repeats the words of another one without a common template"),
        ({"repeated_contexts": (("c1", "c2"),)}, "fixed", None),
        ({}, "random", None),
    ],
)
def test_repeated_tasks_or_contexts_make_a_verdict_provisional(provenance: dict[str, Any], contexts: str, note: str | None) -> None:
    """The stated n is larger than the number of independent tasks or contexts; of fixed contexts no sample is claimed."""
    conduct = replace(CONDUCT, provenance=replace(CONDUCT.provenance, **provenance))
    decided = classify(build_case(theta=0.1), replace(measure(), contexts=contexts), conduct=conduct).primary
    notes = [check.note for check in decided.conditions if check.condition is Condition.CLUSTERS]

    assert len(notes) == (note is not None)
    if note is not None:
        assert note in notes[0]
        assert decided.verdict_standing is VerdictStanding.PROVISIONAL
    else:
        assert decided.missing_condition is not Condition.CLUSTERS
