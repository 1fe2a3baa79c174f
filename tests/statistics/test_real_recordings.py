"""Real replays, checked against the numbers their notes print; skipped where the shared data are not there."""

import csv
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from audit.modules.differential_estimate import estimate
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Estimate
from tests.gold import SHARED
from tests.statistics.tables import Row, build_table

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")


def read_recording(*names: str) -> Iterator[dict[str, Any]]:
    for name in names:
        yield from json.loads((SHARED / "localmodel" / f"{name}.json").read_text())["results"]


def read_paired(name: str, keep: Callable[[dict[str, str]], str | None]) -> list[Row]:
    """Rows whose arm *keep* names; None leaves a row out."""
    with (SHARED / "paired" / name / "data.csv").open(newline="") as file:
        rows = [(row, keep(row)) for row in csv.DictReader(file)]
    return [(row["task_id"], arm, row["context_id"], row["sample"], float(row["score"])) for row, arm in rows if arm]


def run(rows: list[Row], contexts: ContextDesign = ContextDesign.RANDOM) -> Estimate:
    return estimate(build_table(rows), Plan(contexts=contexts), range_=(0, 1))


def rows_of(results: Iterator[dict[str, Any]], score: Callable[[dict[str, Any]], float]) -> list[Row]:
    return [(row["task"], row["side"], row["context"], str(row["sample"]), score(row)) for row in results]


def is_correct(row: dict[str, Any]) -> float:
    return float(row["score"])


def shows_working(row: dict[str, Any]) -> float:
    return float(len(row["response"].split()) >= 12)


@pytest.mark.parametrize(
    ("recording", "score", "printed"),
    [
        ("ed_correct", is_correct, (0.573, 0.760, -0.188)),
        ("ed_correct", shows_working, (0.375, 0.979, -0.604)),
        ("ed_caution", is_correct, (0.490, 0.458, 0.031)),
    ],
)
def test_a_recording_gives_its_printed_numbers(recording: str, score: Callable[[Any], float], printed: tuple[float, ...]) -> None:
    """Twelve tasks and four contexts: intervals are shown, and the design is told to be too thin for a verdict."""
    result = run(rows_of(read_recording(recording), score))

    spec = result.specs[0]
    assert (spec.phi_test.value, spec.phi_deploy.value, spec.ed.value) == pytest.approx(printed, abs=5.1e-4)
    assert (spec.n.tasks, spec.n.contexts_test, spec.n.contexts_deploy, spec.n.responses_test) == (12, 4, 4, 96)
    assert spec.ed.low is not None
    assert [warning.code for warning in result.warnings] == ["few-tasks", "few-contexts", "few-contexts"]


def test_the_ablated_recording_turns_the_sign() -> None:
    """The words "letter only" removed from the test side, against the deployment side of the first recording: +0.052."""
    deploy = [row for row in read_recording("ed_correct") if row["side"] == "deploy"]

    spec = run(rows_of(iter([*read_recording("ed_ablation"), *deploy]), is_correct)).specs[0]

    assert (spec.phi_test.value, spec.ed.value) == pytest.approx((0.813, 0.052), abs=5.1e-4)


def test_taking_contexts_as_fixed_would_have_claimed_an_effect() -> None:
    """The tasks-only interval excludes 0, the crossed one does not."""
    rows = rows_of(read_recording("ed_correct"), is_correct)

    fixed, crossed = (run(rows, contexts).specs[0].ed for contexts in (ContextDesign.FIXED, ContextDesign.RANDOM))

    assert fixed.high is not None
    assert crossed.low is not None
    assert crossed.high is not None
    assert fixed.high < 0
    assert crossed.low < 0 < crossed.high


@pytest.mark.parametrize(
    ("context", "against", "printed"),
    [
        ("eval_explicit", "deploy", (0.176, 0.121, 0.236)),
        ("eval_log", "deploy", (0.080, 0.035, 0.131)),
        ("eval_metadata", "deploy", (-0.005, -0.065, 0.055)),
        ("monitor_log", "deploy", (0.020, -0.025, 0.065)),
    ],
)
def test_published_cues_on_a_large_model(context: str, against: str, printed: tuple[float, float, float]) -> None:
    """199 harmful requests, one context a side and therefore fixed: point to the last digit, interval to a hundredth."""

    def keep(row: dict[str, str]) -> str | None:
        if row["property"] != "refusal_harmful":
            return None
        return {context: "test", against: "deploy"}.get(row["context_id"])

    ed = run(read_paired("indic_cues_gemma3", keep), ContextDesign.FIXED).specs[0].ed

    assert ed.value == pytest.approx(printed[0], abs=5.1e-4)
    assert (ed.low, ed.high) == pytest.approx(printed[1:], abs=0.012)


@pytest.mark.parametrize(
    ("model", "printed"), [("claude-opus-4-8", (-0.064, -0.136, 0.009)), ("gpt-5.5-2026-04-23", (0.104, 0.045, 0.164))]
)
def test_published_system_prompts_turn_two_models_apart(model: str, printed: tuple[float, float, float]) -> None:
    """Bare API against an assistant prompt: opposite signs for two models (the note cuts 23/220 = 0.1045 to 0.104)."""

    def keep(row: dict[str, str]) -> str | None:
        if row["model"] != model:
            return None
        return {"P1_sysprompt_none": "test", "P1_sysprompt_assistant": "deploy"}.get(row["context_id"])

    ed = run(read_paired("sycophancybench_opinion", keep), ContextDesign.FIXED).specs[0].ed

    assert ed.value == pytest.approx(printed[0], abs=1e-3)
    assert (ed.low, ed.high) == pytest.approx(printed[1:], abs=0.02)


def test_published_capability_framing_is_underpowered() -> None:
    """24 multiple-choice items under two framings: the accuracies of the source, and an interval over 0."""

    def keep(row: dict[str, str]) -> str | None:
        return {"eval_neutral": "test", "deploy_neutral": "deploy"}.get(row["context_id"]) if row["model"].startswith("Qwen") else None

    spec = run(read_paired("capability_framing_7b", keep), ContextDesign.FIXED).specs[0]

    assert spec.n.tasks == 24
    assert {round(spec.phi_test.value, 4), round(spec.phi_deploy.value, 4)} <= {0.75, 0.7917, 0.7083}
    assert spec.ed.low is not None
    assert spec.ed.high is not None
    assert spec.ed.low < 0 < spec.ed.high
