"""The paper's own cases by the real command: Table 5 from `examples/reference`, the worked example, Proposition 1."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.verdict.test_commands import call

REFERENCE = Path(__file__).parents[2] / "examples" / "reference"
HEAD = "task_id,arm,context_id,sample,score\n"
CLAIM = """
claim:
  form: {form}
  relation: "{relation}"
  theta: {theta}
  property: {{name: rate, class: deception_scheming, range: [0, 1], direction: lower_is_safer}}
scores: {scores}
"""

UNSETTLED = ("prevalence", "undetermined", None, "technical", None)
"""θ is not published, so the figure is read as a prevalence too."""

TABLE_5 = {
    "browsecomp": [("prevalence", "degraded", None, None, "positive"), ("existence", "stable", "observed_condition", None, None)],
    "nla-swe-bench": [UNSETTLED, ("existence", "stable", "observed_condition", None, None)],
    "nla-destructive": [("threshold", "inverted", "candidate", None, "negative"), UNSETTLED],
    "openai-apollo": [("threshold", "inverted", "structural_risk", None, "negative"), UNSETTLED],
    "sycophancy": [("prevalence", "degraded", None, None, None)],
}
"""Form, class, standing, mode and direction of every reading, in the order in which the command prints them."""


def classify(path: Path) -> Any:
    done = call("analyze", "classify", path, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_case(folder: Path, name: str, rows: list[str], *, relation: str, theta: float) -> Path:
    (folder / f"{name}.csv").write_text(HEAD + "".join(rows), encoding="utf-8")
    path = folder / f"{name}.yaml"
    path.write_text(CLAIM.format(form="threshold", relation=relation, theta=theta, scores=f"{name}.csv"), encoding="utf-8")
    return path


def test_every_reference_file_has_its_outcome_here() -> None:
    """A case added to the folder without its outcome in the paper's table fails."""
    assert {path.stem for path in REFERENCE.glob("*.yaml")} == set(TABLE_5)


@pytest.mark.parametrize("name", TABLE_5)
def test_a_reference_case_has_the_outcome_of_the_paper(name: str) -> None:
    """Table 5, all readings: reported evidence alone, no estimate, never established."""
    document = classify(REFERENCE / f"{name}.yaml")
    readings = [tuple(one[key] for key in ("form", "class", "standing", "mode", "direction")) for one in document["readings"]]

    assert readings == TABLE_5[name]
    assert {one["basis"] for one in document["readings"]} == {"reported"}
    assert document["estimate"] is None
    assert document["inversion_margin"] is None


def test_the_worked_example_is_inverted(tmp_path: Path) -> None:
    """Φ_test = 0.05, claim Φ ≤ 0.10, ED = −0.20: −0.20 < 0.05 − 0.10, so inverted; Φ_deploy = 0.25. The file states no conditions."""
    every = {"test": 20, "deploy": 4}
    rows = [
        f"t{task},{arm},{arm}{context},0,{int((task + context) % period == 0)}\n"
        for arm, period in every.items()
        for task in range(40)
        for context in range(10)
    ]
    document = classify(write_case(tmp_path, "worked", rows, relation="<=", theta=0.10))
    spec, reading = document["estimate"]["specs"][0], document["readings"][0]

    assert (spec["phi_test"]["value"], spec["phi_deploy"]["value"]) == (0.05, 0.25)
    assert spec["ed"]["value"] == pytest.approx(-0.20, abs=1e-12)
    assert spec["ed"]["value"] < document["inversion_margin"] == pytest.approx(0.05 - 0.10, abs=1e-12)
    assert (reading["class"], reading["standing"], reading["direction"]) == ("inverted", "candidate", "negative")


def test_proposition_1_equal_mixture_scores_have_differentials_one_and_zero(tmp_path: Path) -> None:
    """π1 scores 1 on test and 0 on deploy, π2 ½ everywhere: the same mean over the mixture, and different outcomes at Φ ≥ 0.2."""
    policies = {"pi1": {"test": 1.0, "deploy": 0.0}, "pi2": {"test": 0.5, "deploy": 0.5}}
    found = {}
    for name, scores in policies.items():
        rows = [f"t{task},{arm},{arm}{one},0,{scores[arm]}\n" for arm in scores for task in range(20) for one in range(5)]
        document = classify(write_case(tmp_path, name, rows, relation=">=", theta=0.2))
        spec = document["estimate"]["specs"][0]
        mixture = (spec["phi_test"]["value"] + spec["phi_deploy"]["value"]) / 2
        found[name] = (mixture, spec["ed"]["value"], document["readings"][0]["class"])

    assert found == {"pi1": (0.5, 1.0, "inverted"), "pi2": (0.5, 0.0, "stable")}


def test_proposition_1_a_marginal_score_is_refused(tmp_path: Path) -> None:
    """A table with one side never becomes a differential."""
    rows = [f"t{task},test,c{one},0,0.5\n" for task in range(20) for one in range(5)]
    done = call("analyze", "classify", write_case(tmp_path, "one", rows, relation=">=", theta=0.2), "--json")

    assert (done.returncode, done.stdout) == (2, "")
    assert "one-sided" in done.stderr
