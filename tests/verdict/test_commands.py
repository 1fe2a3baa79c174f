"""`caveat analyze estimate` and `caveat analyze classify` by command line, against what the interface prints."""

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry.cli.main import main

FAILED_IN_TEST = {(1, 0), (1, 1), (3, 0), (4, 0), (5, 2)}
FAILED_IN_DEPLOYMENT = {
    *((0, context) for context in range(5)),
    (1, 0),
    (1, 1),
    *enumerate([0, 0, 0, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4], start=2),
}
CASE = """
claim:
  quote: "Scheming stays at or below 10 %."
  form: threshold
  relation: "<="
  theta: 0.10
  reported: 0.05
  property: {name: scheming rate, class: deception_scheming, range: [0, 1], direction: lower_is_safer, suppressible: true}
  model: {developer: EXAMPLE, name: m, version: "1"}
scores: scores.csv
"""


@dataclass(frozen=True)
class Answer:
    """How one call of `caveat` ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def call(*words: str | Path) -> Answer:
    """Run `caveat` in this process, without a terminal and without settings of the environment."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in [name for name in os.environ if name.startswith(("CAVEAT_", "COLUMNS", "LINES", "SOURCE_DATE_EPOCH"))]:
            patch.delenv(name)
        patch.setattr("sys.argv", ["caveat", *map(str, words)])
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Answer(code, out.getvalue(), err.getvalue())


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """5 of 100 against 25 of 100, 20 tasks × 5 contexts: the arrangement behind the interface's example."""
    rows = [
        f"t{task},{arm},{arm}-{context},0,{int((task, context) in failed)}\n"
        for arm, failed in (("test", FAILED_IN_TEST), ("deploy", FAILED_IN_DEPLOYMENT))
        for task in range(20)
        for context in range(5)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("task_id,arm,context_id,sample,score\n" + "".join(rows))
    return path


@pytest.fixture
def case(scores: Path) -> Path:
    path = scores.parent / "case.yaml"
    path.write_text(CASE, encoding="utf-8")
    return path


def contains(whole: Any, part: Any) -> bool:
    """Whether *whole* has every key and number of *part*, numbers to four digits as the interface prints them."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], value) for key, value in part.items())
    if isinstance(part, list):
        return len(whole) == len(part) and all(contains(one, other) for one, other in zip(whole, part, strict=True))
    return bool(whole == pytest.approx(part, abs=1e-4)) if isinstance(part, float) else whole == part


def test_estimate_prints_the_document_of_the_interface(scores: Path) -> None:
    """All keys and numbers of the example, to the digits printed there."""
    done = call("analyze", "estimate", scores, "--json")
    printed = {
        "schema": "caveat/estimate/1",
        "margin": 0.05,
        "level": 0.95,
        "epsilon": 0.01,
        "range": [0, 1],
        "seed": 0,
        "specs": [
            {
                "spec": "default",
                "phi_test": {"value": 0.05, "low": 0.0, "high": 0.1944},
                "phi_deploy": {"value": 0.25, "low": 0.1212, "high": 0.4046},
                "ed": {"value": -0.2, "low": -0.3585, "high": -0.0188, "reason": None},
                "ned": {"value": -0.5642, "low": -0.9544, "high": -0.1460, "reason": None},
                "sigma_pool": 0.3445,
                "equivalence": {"equivalent": False},
                "minimum_detectable_ed": 0.1734,
                "n": {
                    "tasks": 20,
                    "contexts_test": 5,
                    "contexts_deploy": 5,
                    "responses_test": 100,
                    "responses_deploy": 100,
                    "excluded_test": 0,
                    "excluded_deploy": 0,
                },
                "ed_under_exclusions": {"low": -0.2, "high": -0.2},
                "pointwise": None,
            }
        ],
    }

    assert done.returncode == 0, done.stderr
    assert contains(json.loads(done.stdout), printed)


def test_classify_prints_the_document_of_the_interface(case: Path) -> None:
    """Contradicted, provisional, with margin, estimate, claim before and after, and the checklist's word on θ."""
    done = call("analyze", "classify", case, "--json")
    document = json.loads(done.stdout)
    reading = {
        "form": "threshold",
        "class": "inverted",
        "standing": "candidate",
        "verdict": "contradicted",
        "verdict_standing": "provisional",
        "missing_condition": "deployment_construction",
        "point_class": None,
        "mode": None,
        "basis": "replay",
        "direction": "negative",
        "resolves": None,
        "not_met_in_test": False,
        "specs": [{"spec": "default", "class": "inverted", "standing": "candidate"}],
        "hangs_on_one_spec": False,
    }

    assert done.returncode == 0, done.stderr
    assert contains(document["readings"][0], reading)
    assert document["schema"] == "caveat/classification/1"
    assert document["conditions_not_checked"] == ["lock", "runs", "endpoint", "provenance", "validity"]
    assert document["inversion_margin"] == pytest.approx(-0.05)
    assert document["original_claim"] == "Scheming stays at or below 10 %."
    assert "suspended until the verdict is established" in document["restricted_claim"]
    assert document["estimate"]["schema"] == "caveat/estimate/1"
    assert {one["item"]: one["status"] for one in document["checklist"]}["theta-and-direction-fixed-before-replay"] == "missing"


def test_classify_speaks_to_people_verdict_first(case: Path) -> None:
    """The verdict, the claim before and after, the margin, the numbers, and what is missing."""
    done = call("analyze", "classify", case)

    assert done.stdout.startswith("Contradicted (provisional: it is not stated how the deployment contexts")
    order = [
        done.stdout.index(part) for part in ("original claim", "restricted claim", "why", "inversion margin", "Φ_deploy   ", "missing")
    ]
    assert order == sorted(order)


def test_estimate_speaks_to_people(scores: Path) -> None:
    """Pointwise values are listed when asked for, and warnings come last."""
    done = call("analyze", "estimate", scores, "--pointwise", "--level", "0.9")

    assert "intervals at 90 %" in done.stdout
    assert "t19" in done.stdout


def test_a_case_without_scores_needs_no_table(tmp_path: Path) -> None:
    """`inversion_margin` uses the reported figure; there is no estimate."""
    path = tmp_path / "case.yaml"
    path.write_text(CASE.replace("scores: scores.csv\n", ""), encoding="utf-8")
    document = json.loads(call("analyze", "classify", path, "--json").stdout)

    assert document["estimate"] is None
    assert document["inversion_margin"] == pytest.approx(-0.05)
    assert document["readings"][0]["class"] == "undetermined"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("analyze", "estimate", "scores.csv", "--level", "1.5"), "not-valid"),
        (("analyze", "estimate", "scores.csv", "--margin", "nan"), "not-valid"),
        (("analyze", "estimate", "scores.csv", "--range", "1", "0"), "bad-range"),
        (("analyze", "estimate", "scores.csv", "--range", "0", "0.5"), "score-out-of-range"),
        (("analyze", "estimate", "scores.csv", "--test", "tset"), "unknown-name"),
        (("analyze", "classify", "scores.csv"), "not-valid"),
    ],
)
def test_bad_input_ends_with_two_and_its_faults(scores: Path, words: tuple[str, ...], code: str) -> None:
    """Nothing on standard output, the fault on standard error, no traceback."""
    done = call(*(scores if word == "scores.csv" else word for word in words))

    assert (done.returncode, done.stdout) == (2, "")
    assert code in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_table_is_named(case: Path) -> None:
    """The table that the file names is looked for beside the file."""
    (case.parent / "scores.csv").unlink()
    done = call("analyze", "classify", case)

    assert done.returncode == 2
    assert str(case.parent / "scores.csv") in done.stderr


def test_the_schema_of_the_file_is_published() -> None:
    """`caveat analyze classify --schema` needs no file."""
    document = json.loads(call("analyze", "classify", "--schema").stdout)

    assert document["properties"]["scores"]
