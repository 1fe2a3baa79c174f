"""The paper's own cases: Table 5, the worked example, Proposition 1."""

from pathlib import Path

import pytest

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.protocol.case_outcome import run_case
from audit.sources.score_table import read_table
from audit.verdict.claim_classification import classify
from registry.records.analysis_plan import Plan
from registry.records.audit_case import Evidence, EvidenceKind, EvidenceLayer, PerturbationEffect, PublishedFigure, Sign
from registry.records.claim import Form
from registry.records.verdict import Basis, ClaimClass, Mode, ReadingVerdict, Standing
from tests.verdict.cases import build_case, build_estimate, build_evidence, build_spec

VERBALISED = build_evidence(EvidenceLayer.VERBALISED)


def latent(value: float) -> Evidence:
    return build_evidence(EvidenceLayer.LATENT, finding=PublishedFigure(value=value, unit="share"))


def find(readings: tuple[ReadingVerdict, ...], form: Form) -> ReadingVerdict:
    return next(one for one in readings if one.form is form)


def test_browsecomp_is_stable_as_existence_and_degraded_as_prevalence() -> None:
    """Verbalised recognition and a behavioural departure on the affected items; expected sign positive."""
    departure = build_evidence(kind=EvidenceKind.DEPARTURE, expected_direction=Sign.POSITIVE)
    readings = classify(build_case(Form.PREVALENCE, reported=0.8657, evidence=(VERBALISED, departure)), None).readings

    assert readings[0].form is Form.PREVALENCE
    assert (readings[0].class_, readings[0].standing, readings[0].direction) == (ClaimClass.DEGRADED, None, Sign.POSITIVE)
    assert readings[0].basis is Basis.REPORTED
    assert find(readings, Form.EXISTENCE).class_ is ClaimClass.STABLE
    assert find(readings, Form.EXISTENCE).standing is Standing.OBSERVED_CONDITION


def test_latent_recognition_on_swe_bench_leaves_the_prevalence_undetermined() -> None:
    """NLA, SWE-bench Verified: latent 26 %."""
    verdict = classify(build_case(Form.PREVALENCE, evidence=(latent(0.26),)), None).primary

    assert (verdict.class_, verdict.mode) == (ClaimClass.UNDETERMINED, Mode.TECHNICAL)
    assert "26 %" in verdict.why


def test_latent_recognition_of_a_suppressible_property_is_a_candidate_for_inversion() -> None:
    """NLA, destructive coding: latent 16 %, θ unpublished."""
    verdict = classify(build_case(Form.THRESHOLD, evidence=(latent(0.16),), suppressible=True), None).primary

    assert (verdict.class_, verdict.standing) == (ClaimClass.INVERTED, Standing.CANDIDATE)


def test_covert_action_is_a_structural_risk() -> None:
    """OpenAI/Apollo: verbalised awareness up; awareness removed, the rate goes up; θ unpublished."""
    perturbed = build_evidence(kind=EvidenceKind.PERTURBATION, effect=PerturbationEffect.AGAINST_CLAIM, verified=True)
    verdict = classify(build_case(Form.THRESHOLD, evidence=(VERBALISED, perturbed), suppressible=True), None).primary

    assert (verdict.class_, verdict.standing) == (ClaimClass.INVERTED, Standing.STRUCTURAL_RISK)


def test_sycophancy_is_degraded_without_any_awareness() -> None:
    """AISI: question against non-question phrasing, 24 points; not awareness-mediated, and that does not matter."""
    moved = build_evidence(kind=EvidenceKind.DEPARTURE, finding=PublishedFigure(value=24, unit="percentage points"))
    verdict = classify(build_case(Form.PREVALENCE, evidence=(moved,)), None).primary

    assert verdict.class_ is ClaimClass.DEGRADED
    assert "24 percentage points" in verdict.why


def test_the_worked_example_is_inverted() -> None:
    """Φ_test = 0.05, Φ ≤ 0.10, ED = −0.20 < 0.05 − 0.10: inverted, Φ_deploy = 0.25."""
    classification = classify(build_case(theta=0.10, reported=0.05), build_estimate(build_spec()))

    assert classification.primary.class_ is ClaimClass.INVERTED
    assert classification.primary.direction is Sign.NEGATIVE
    assert classification.inversion_margin == pytest.approx(-0.05)
    assert "ED = −20.0 percentage points is below Φ_test − θ = −5.0 percentage points." in classification.primary.why


def write_policies(path: Path) -> tuple[Path, Path]:
    """π1 scores 1 on test and 0 on deploy, π2 scores ½ everywhere."""
    head = "task_id,arm,context_id,sample,score\n"
    for name, scores in (("pi1", {"test": 1.0, "deploy": 0.0}), ("pi2", {"test": 0.5, "deploy": 0.5})):
        rows = [f"t{task},{arm},{arm}-{context},0,{scores[arm]}\n" for arm in scores for task in range(20) for context in range(5)]
        (path / f"{name}.csv").write_text(head + "".join(rows))
    return path / "pi1.csv", path / "pi2.csv"


def test_equal_mixture_scores_have_unequal_differentials(tmp_path: Path) -> None:
    """Proposition 1: under ½P_test + ½P_deploy both policies score ½; their ED are 1 and 0."""
    tables = [read_table([path], low=0, high=1) for path in write_policies(tmp_path)]
    found = [estimate(table, Plan(), range_=(0.0, 1.0)).specs[0] for table in tables]

    assert [table.score.mean() for table in tables] == [0.5, 0.5]
    assert [spec.ed.value for spec in found] == [1.0, 0.0]


def test_the_policies_part_at_a_threshold(tmp_path: Path) -> None:
    """Φ ≥ 0.2 is inverted for π1 and stable for π2, though their mixture scores are equal."""
    case = build_case(Form.LOWER_BOUND, theta=0.2)
    first, second = (run_case(case, read_table([path], low=0, high=1)) for path in write_policies(tmp_path))

    assert first.classification.primary.class_ is ClaimClass.INVERTED
    assert second.classification.primary.class_ is ClaimClass.STABLE


def test_a_one_sided_table_is_refused(tmp_path: Path) -> None:
    """A marginal score never becomes an ED."""
    path = tmp_path / "one.csv"
    path.write_text("task_id,arm,context_id,sample,score\n" + "".join(f"t{task},test,c,0,0.5\n" for task in range(20)))
    table = read_table([path], low=0, high=1)

    with pytest.raises(DesignError, match="Proposition 1"):
        run_case(build_case(theta=0.1), table)
