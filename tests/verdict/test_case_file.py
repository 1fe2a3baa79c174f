"""The file that `caveat analyze classify` reads: short forms, defaults, and every fault with its path."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from audit.verdict.case_file import case_schema, read_case
from registry.errors import InputError
from registry.records.analysis_plan import ContextDesign
from registry.records.audit_case import Access, PerturbationEffect, Sign
from registry.records.claim import Form, QuoteStatus, Relation, Reported

PROPERTY = {"class": "deception_scheming", "range": [0, 1], "direction": "lower_is_safer"}
SHORTEST = {"claim": {"form": "prevalence", "property": PROPERTY}}
DOCUMENTED = """
claim:
  quote: "..."
  quote_status: verbatim            # or paraphrase
  form: threshold                   # existence | upper_bound | lower_bound | prevalence | threshold
  relation: "<="                    # for threshold; bounds imply theirs
  theta: 0.10                       # threshold value or bound; null = unpublished
  reported: 0.05                    # the card's figure, if any
  property: {name: scheming rate, class: deception_scheming, range: [0, 1], direction: lower_is_safer, suppressible: true}
  model: {developer: EXAMPLE, name: m, version: "1"}
evidence:                           # what is known without a replay; may be empty
  - {layer: latent, access: available, finding: {value: 0.16, unit: share}, source: "..."}
  - {layer: verbalised, access: unavailable}
  - {layer: behavioural, access: available, kind: perturbation, effect: against_claim, verified: true, model: {developer: EXAMPLE, name: m, version: "1"}}
deployment: {defensible: true}      # or {defensible: false, infeasible: technical | ontological}
plan: {margin: 0.05, level: 0.95, epsilon: 0.01, contexts: random, seed: 0, replicates: 10000}
scores: scores.csv                  # optional, relative to this file
scoring: {invariant: true}          # result of the invariance check, if made
"""  # noqa: E501  (as the interface prints it)


def write(folder: Path, document: Any) -> Path:
    path = folder / "case.yaml"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_the_documented_file_is_read(tmp_path: Path) -> None:
    """The example of the interface, with its comments."""
    case, scores = read_case(write(tmp_path, DOCUMENTED))

    assert case.claim.reported == Reported(value=0.05)
    assert case.claim.relation is Relation.AT_MOST
    assert case.scoring.invariant is True
    assert len(case.evidence) == 3
    assert scores == tmp_path / "scores.csv"


def test_what_is_excluded_has_its_default(tmp_path: Path) -> None:
    """Form and property suffice; `suppressible` is false, the quote a paraphrase, P_deploy defensible, the check not made."""
    case, scores = read_case(write(tmp_path, {**SHORTEST, "evidence": [{"layer": "latent"}]}))

    assert scores is None
    assert (case.claim.form, case.claim.quote_status) == (Form.PREVALENCE, QuoteStatus.PARAPHRASE)
    assert not case.claim.property.suppressible
    assert case.deployment.defensible
    assert case.scoring.invariant is None
    assert (case.plan.level, case.plan.contexts, case.plan.replicates, case.plan.margin) == (0.95, ContextDesign.RANDOM, 10000, None)
    one = case.evidence[0]
    assert (one.access, one.effect, one.expected_direction, one.verified) == (
        Access.AVAILABLE,
        PerturbationEffect.UNKNOWN,
        Sign.UNKNOWN,
        False,
    )


def test_null_means_absent(tmp_path: Path) -> None:
    """Every optional key may be null."""
    claim = {**SHORTEST["claim"], "quote": None, "quote_status": None, "theta": None, "reported": None, "model": None}
    rest = {"evidence": None, "deployment": None, "plan": None, "scores": None, "scoring": {"invariant": None}}

    assert read_case(write(tmp_path, {"claim": claim, **rest})) == read_case(write(tmp_path, SHORTEST))


def test_a_reported_figure_may_come_with_its_interval(tmp_path: Path) -> None:
    """A number, or a number with interval and n."""
    reported = {"value": 0.05, "low": 0.01, "high": 0.1, "n": 200}
    case, _ = read_case(write(tmp_path, {"claim": {**SHORTEST["claim"], "reported": reported}}))

    assert case.claim.reported == Reported(value=0.05, low=0.01, high=0.1, n=200)


def test_all_faults_are_told_at_once_with_their_paths(tmp_path: Path) -> None:
    """Three faults in three places make three faults."""
    document = {
        "claim": {"form": "treshold", "property": {"class": "deception_scheming", "range": [0, 1]}},
        "evidence": [{"layer": "latent", "access": "gone"}],
        "scores": 7,
    }
    with pytest.raises(InputError) as caught:
        read_case(write(tmp_path, document))
    places = [fault.where.partition(", ")[2] for fault in caught.value.faults]

    assert places == ["claim.form", "claim.property.direction", "evidence[0].access", "scores"]


@pytest.mark.parametrize(
    "document",
    [
        {"claim": {**SHORTEST["claim"], "form": "threshold"}},
        {"claim": {**SHORTEST["claim"], "theta": 0.1}},
        {"claim": {**SHORTEST["claim"], "form": "upper_bound", "relation": ">="}},
        {**SHORTEST, "deployment": {"defensible": False}},
        {**SHORTEST, "plan": {"level": 1.5}},
        {**SHORTEST, "plan": {"margin": 0}},
        {**SHORTEST, "evidence": [{"layer": "latent", "access": "withheld", "kind": "departure"}]},
        {**SHORTEST, "colour": "red"},
        {},
        [],
        "just words",
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, document: Any) -> None:
    """A file that does not fit never becomes a case."""
    with pytest.raises(InputError):
        read_case(write(tmp_path, document))


@pytest.mark.parametrize("numbers", [{"theta": 10}, {"reported": 5}, {"theta": 10, "reported": 5}])
def test_per_cent_where_shares_are_meant_is_refused(tmp_path: Path, numbers: dict[str, float]) -> None:
    """θ and the reported figure are in the unit of the range; each fault says how to write it."""
    claim = {"form": "threshold", "relation": "<=", "property": PROPERTY, **numbers}
    with pytest.raises(InputError) as caught:
        read_case(write(tmp_path, {"claim": claim}))

    assert [fault.code for fault in caught.value.faults] == ["out-of-range"] * len(numbers)


@pytest.mark.parametrize("document", [SHORTEST, {"claim": {**SHORTEST["claim"], "reported": 0.05, "quote": None}, "plan": None}])
def test_the_schema_accepts_what_is_read(document: dict[str, Any]) -> None:
    """Bare figures, nulls and a property without a name are in the published schema."""
    jsonschema.Draft202012Validator.check_schema(case_schema())

    jsonschema.validate(document, case_schema(), cls=jsonschema.Draft202012Validator)


def test_the_schema_accepts_the_documented_file() -> None:
    """The example of the interface fits the published schema."""
    from registry.codec.file_io import parse_document

    jsonschema.validate(parse_document(DOCUMENTED, where="example"), case_schema(), cls=jsonschema.Draft202012Validator)


def test_the_schema_refuses_what_is_refused() -> None:
    """A misspelt form fits neither."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"claim": {**SHORTEST["claim"], "form": "treshold"}}, case_schema(), cls=jsonschema.Draft202012Validator)
