"""Minimum reporting: every item has an answer, and what is missing is called missing."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.checklist import ITEMS, build_checklist
from registry.records.case import Case, Deployment, Infeasible, Scoring
from registry.records.claim import Direction, Form
from registry.records.classification import ItemStatus
from registry.records.estimate import Estimate, EstimateWarning
from registry.records.evidence import Access, Evidence, Layer
from registry.records.plan import Lock, Plan
from registry.records.trial import Provenance
from tests import findings
from tests.verdict.cases import build_case, build_estimate, cases, estimates

FULL = Provenance(
    endpoint="local",
    model_requested="m",
    model_returned="m-1",
    accessed="2026-11-01",
    sampling="temperature 0",
    tools="none",
    budget_spent="200 calls",
    system_prompts="appendix A",
    judge="exact match",
    judge_uncertainty="two repeats: 1 % of scores differ",
    corpus_tasks=40,
)
LOCK = Lock(
    audit="AUD-1",
    claim="CLM-1@1",
    plan=Plan(margin=0.05),
    relation=None,
    theta=None,
    direction=Direction.LOWER_IS_SAFER,
    deploy_specs=("default",),
    budget="300 calls",
)
LAYERS = tuple(Evidence(layer=layer, access=Access.UNAVAILABLE) for layer in Layer)


def find(items: object, slug: str) -> tuple[ItemStatus, str]:
    found = {one.item: (one.status, one.note) for one in items}  # type: ignore[attr-defined]
    return found[slug]


@settings(max_examples=60, deadline=None)
@given(case=cases(), estimate=st.none() | estimates(), provenance=st.sampled_from([None, FULL]), lock=st.sampled_from([None, LOCK]))
def test_every_item_is_answered(case: Case, estimate: Estimate | None, provenance: Provenance | None, lock: Lock | None) -> None:
    """Whatever is known, each item has a status and a note, in the order of the table."""
    items = build_checklist(case, estimate, provenance=provenance, lock=lock)

    assert [one.item for one in items] == list(ITEMS)
    assert all(one.note for one in items)


def test_nothing_is_missing_when_all_is_stated() -> None:
    """A complete audit has a complete checklist."""
    case = build_case(theta=0.1, evidence=(*LAYERS, Evidence(layer=Layer.CUE_SENSITIVITY)), scoring=Scoring(invariant=True))
    items = build_checklist(case, build_estimate(), provenance=FULL, lock=LOCK, deploy_owner="EXAMPLE; nothing is contested")

    assert {one.status for one in items} == {ItemStatus.REPORTED}


def test_without_a_lock_nothing_shows_that_theta_was_fixed() -> None:
    """The item that `classify` always reports as missing."""
    status, note = find(build_checklist(build_case(theta=0.1), build_estimate()), "theta-and-direction-fixed-before-replay")

    assert status is ItemStatus.MISSING
    assert "fixed before the replay" in note


@pytest.mark.parametrize(
    ("case", "status"),
    [
        (build_case(theta=0.1), ItemStatus.MISSING),
        (build_case(Form.EXISTENCE), ItemStatus.NOT_APPLICABLE),
        (
            build_case(theta=0.1, deployment=Deployment(defensible=False, infeasible=Infeasible.ONTOLOGICAL)),
            ItemStatus.NOT_APPLICABLE,
        ),
    ],
)
def test_an_ed_that_nobody_estimated_is_missing_unless_none_is_needed(case: Case, status: ItemStatus) -> None:
    """Existence needs no ED, and where no P_deploy can exist there is none."""
    assert find(build_checklist(case, None), "raw-ed")[0] is status


def test_layers_that_are_not_stated_are_named() -> None:
    """Unavailable is a statement; silence is not."""
    items = build_checklist(build_case(theta=0.1, evidence=LAYERS[:2]), None)

    assert find(items, "four-evidence-layers") == (ItemStatus.MISSING, "nothing is stated of: latent, cue sensitivity")


@pytest.mark.parametrize(
    ("lock", "provenance", "note"),
    [
        (None, FULL, "the budget is not stated"),
        (LOCK, None, "what was spent is not stated"),
        (None, None, "neither budget nor what was spent is stated"),
    ],
)
def test_half_a_budget_is_missing(lock: Lock | None, provenance: Provenance | None, note: str) -> None:
    """Both what was allowed and what was spent are reported, or the item is missing."""
    items = build_checklist(build_case(theta=0.1), build_estimate(), provenance=provenance, lock=lock)

    assert find(items, "query-budget") == (ItemStatus.MISSING, note)


def test_coverage_needs_the_size_of_the_corpus() -> None:
    """20 of 40 tasks, or 20 of nobody knows."""
    known = build_checklist(build_case(theta=0.1), build_estimate(), provenance=FULL)
    unknown = build_checklist(build_case(theta=0.1), build_estimate())

    assert find(known, "replay-coverage") == (ItemStatus.REPORTED, "20 of 40 tasks")
    assert find(unknown, "replay-coverage")[0] is ItemStatus.MISSING


def test_cues_that_nobody_could_look_at_are_no_inventory() -> None:
    """The statement that cue sensitivity is unavailable states the layer, and no marker of the evaluation."""
    items = build_checklist(build_case(theta=0.1, evidence=LAYERS), None)

    assert find(items, "evaluator-specific-markers")[0] is ItemStatus.MISSING
    assert find(items, "four-evidence-layers")[0] is ItemStatus.REPORTED


def test_findings_are_reported_with_their_numbers() -> None:
    """Ablation and raters answer for markers, repeats and corrections for the judge, checks for invariance."""
    found = (findings.ablation(), findings.naturalness(), findings.judge(invariant=True))
    case = build_case(theta=0.1, scoring=Scoring(invariant=True))
    items = build_checklist(case, build_estimate(), findings=found)

    status, note = find(items, "evaluator-specific-markers")
    assert status is ItemStatus.REPORTED
    assert note.split("; ") == [
        "cue ablation of 3 cues, audit-relevant: explicit disclosure",
        "of 1 it cannot be said",
        "blind raters named paradigm recognisability (22), stakes telegraphing (9)",
    ]
    status, note = find(items, "judge-scoring-uncertainty")
    assert status is ItemStatus.REPORTED
    assert note.split("; ") == [
        "judge-model-1: 300 scorings of 100 responses, standard deviation within a response 12.0 percentage points, "  # noqa: ISC004
        "7 % of the variance of ED",
        "prediction-powered correction gives ED 4.0 percentage points (−6.0 to 14.0 percentage points)",
    ]
    assert find(items, "scorer-invariance-check") == (
        ItemStatus.REPORTED,
        "the scorer passed: person-judge (label) passed",
    )


def test_a_check_that_decides_nothing_is_still_missing() -> None:
    """A check on too few responses must not tick the box."""
    undecided = findings.judge(invariance=(findings.invariance(passed=None),))
    items = build_checklist(build_case(theta=0.1), build_estimate(), findings=(undecided,))

    status, note = find(items, "scorer-invariance-check")

    assert status is ItemStatus.MISSING
    assert "does not settle it: person-judge (label) undecided" in note


def test_a_check_made_on_other_scores_is_still_missing() -> None:
    """It was passed, and yet the scores of the outcome were never checked."""
    items = build_checklist(build_case(theta=0.1), build_estimate(), findings=(findings.judge(invariant=True),))

    assert find(items, "scorer-invariance-check") == (
        ItemStatus.MISSING,
        "what was checked does not settle it (made on other scores): person-judge (label) passed",
    )


def test_a_judge_without_repeats_and_labels_has_no_uncertainty() -> None:
    """A report that measured nothing of the judge's errors reports nothing of them."""
    bare = findings.judge(repeats=None, labels=(), corrected=())

    assert find(build_checklist(build_case(theta=0.1), build_estimate(), findings=(bare,)), "judge-scoring-uncertainty")[0] is (
        ItemStatus.MISSING
    )


def test_repeats_alone_say_what_they_leave_out() -> None:
    """Noise is measured by repeats, errors are not."""
    noisy = findings.judge(labels=(), corrected=())
    items = build_checklist(build_case(theta=0.1), build_estimate(), findings=(noisy,))

    assert "errors against a person's labels were not measured" in find(items, "judge-scoring-uncertainty")[1]


@pytest.mark.parametrize("code", ["order-not-followed", "stopped-early", "tasks-added"])
def test_a_deviation_from_the_plan_comes_before_the_sizes(code: str) -> None:
    """A replay of another size than planned is not reported as if it were the planned one."""
    deviating = replace(build_estimate(), warnings=(EstimateWarning(code=code, message="Deviation: 20 of 60 planned tasks."),))
    items = build_checklist(build_case(theta=0.1), deviating)

    assert find(items, "sample-sizes")[1].startswith("✗ Deviation: 20 of 60 planned tasks. default: 20 tasks")
