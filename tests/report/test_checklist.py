"""Minimum reporting: every item has an answer, and what is missing is called missing."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.records.analysis_plan import Lock, Plan
from registry.records.audit_case import Access, Case, Deployment, Evidence, EvidenceLayer, Infeasible, Scoring
from registry.records.claim import Direction, Form
from registry.records.estimates import Estimate, EstimateWarning
from registry.records.replay_run import NearDuplicates, Provenance
from registry.records.verdict import ChecklistItem, ItemStatus
from registry.report.minimum_reporting import ITEMS, AuditMaterial, build_items, count_items, format_missing
from tests import findings
from tests.examples import scale
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
    near_duplicates=NearDuplicates(compared=40, not_compared=0, found=0),
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
LAYERS = tuple(Evidence(layer=layer, access=Access.UNAVAILABLE) for layer in EvidenceLayer)


def build_checklist(
    case: Case, estimate: Estimate | None, *, provenance: Provenance | None = None, **known: object
) -> tuple[ChecklistItem, ...]:
    material = AuditMaterial(
        form=case.claim.form,
        infeasible=case.deployment.infeasible,
        evidence=case.evidence,
        invariant=case.scoring.invariant,
        estimate=estimate,
        provenance=provenance or Provenance(),
        **known,  # type: ignore[arg-type]
    )
    return build_items(material)


def find(items: object, slug: str) -> tuple[ItemStatus, str]:
    found = {one.item: (one.status, one.note) for one in items}  # type: ignore[attr-defined]
    return found[slug]


@settings(max_examples=scale(60), deadline=None)
@given(case=cases(), estimate=st.none() | estimates(), provenance=st.sampled_from([None, FULL]), lock=st.sampled_from([None, LOCK]))
def test_every_item_is_answered(case: Case, estimate: Estimate | None, provenance: Provenance | None, lock: Lock | None) -> None:
    """Whatever is known, each item has a status and a note, in the order of the table."""
    items = build_checklist(case, estimate, provenance=provenance, lock=lock)

    assert [one.item for one in items] == list(ITEMS)
    assert all(one.note for one in items)


def test_nothing_is_missing_when_all_is_stated() -> None:
    """A complete audit has a complete checklist."""
    case = build_case(theta=0.1, evidence=(*LAYERS[1:], Evidence(layer=EvidenceLayer.CUE_SENSITIVITY)), scoring=Scoring(invariant=True))
    items = build_checklist(case, build_estimate(), provenance=FULL, lock=LOCK, deploy_owner="EXAMPLE")

    assert {one.status for one in items} == {ItemStatus.REPORTED}


def test_without_a_lock_nothing_shows_that_theta_was_fixed() -> None:
    """The item that `classify` always reports as missing."""
    status, note = find(build_checklist(build_case(theta=0.1), build_estimate()), "theta-and-direction-fixed-before-replay")

    assert status is ItemStatus.MISSING
    assert "fixed before the replay" in note


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (build_case(theta=0.1), "no replay was made"),
        (build_case(Form.EXISTENCE), "an existence claim needs no Evaluation Differential"),
        (
            build_case(theta=0.1, deployment=Deployment(defensible=False, infeasible=Infeasible.ONTOLOGICAL)),
            "no defensible P_deploy can exist",
        ),
    ],
)
def test_items_about_a_replay_do_not_apply_without_one(case: Case, reason: str) -> None:
    """Markers, layers and latent evidence are all that can be reported of an audit without a replay."""
    items = build_checklist(case, None)

    assert find(items, "raw-ed") == (ItemStatus.NOT_APPLICABLE, reason)
    assert [one.item for one in items if one.status is not ItemStatus.NOT_APPLICABLE] == [
        "evaluator-specific-markers",
        "four-evidence-layers",
        "latent-evidence-stated",
    ]


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((6, 9, 23), "6 of 9 applicable items are missing (14 do not apply)"),
        ((1, 22, 23), "1 of 22 applicable items is missing (1 does not apply)"),
        ((0, 7, 7), "none of 7 applicable items is missing"),
    ],
)
def test_a_count_has_one_base(counts: tuple[int, int, int], text: str) -> None:
    """Missing items are counted among those that apply; the others are named apart."""
    missing, applying, total = counts

    assert format_missing(missing, applying=applying, total=total) == text


def test_missing_items_are_counted_among_those_that_apply() -> None:
    """Of an audit without a replay 21 of 24 items do not apply."""
    assert count_items(build_checklist(build_case(theta=0.1), None)) == "3 of 3 applicable items are missing (21 do not apply)"


def test_open_objections_are_named() -> None:
    """What stands against the claim is told with P_deploy's owner, and where no replay was made too."""
    replayed = build_checklist(build_case(theta=0.1), build_estimate(), deploy_owner="EXAMPLE (ctx)", objections=("CON-1",))
    bare = build_checklist(build_case(theta=0.1), None, objections=("CON-1",))

    note = "; objections to the claim or its other definitions: CON-1"
    assert find(replayed, "deployment-owner-and-objections") == (ItemStatus.REPORTED, f"EXAMPLE (ctx){note}")
    assert find(bare, "deployment-owner-and-objections") == (ItemStatus.NOT_APPLICABLE, f"no replay was made{note}")


def test_layers_that_are_not_stated_are_named() -> None:
    """Unavailable is a statement; silence is not."""
    items = build_checklist(build_case(theta=0.1, evidence=LAYERS[:2]), None)

    assert find(items, "four-evidence-layers") == (
        ItemStatus.MISSING,
        (
            "nothing is stated of: latent, cue sensitivity; behavioural: unavailable (access not stated); "
            "verbalised: unavailable (access not stated)"
        ),
    )


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
    """20 of 40 tasks, or 20 of no one knows."""
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
    items = build_checklist(build_case(theta=0.1, scoring=Scoring()), build_estimate(), findings=(undecided,))

    status, note = find(items, "scorer-invariance-check")

    assert status is ItemStatus.MISSING
    assert "does not settle it: person-judge (label) undecided" in note


def test_a_check_made_on_other_scores_is_still_missing() -> None:
    """It was passed, and yet the scores of the outcome were never checked."""
    items = build_checklist(build_case(theta=0.1, scoring=Scoring()), build_estimate(), findings=(findings.judge(invariant=True),))

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
