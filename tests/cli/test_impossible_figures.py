"""Figures of evidence on their way in by a file: converted once, or refused with the file's name."""

from pathlib import Path

from registry.configuration import find_resource
from tests.cli.conftest import Caveat

CLAIMS = """
properties:
  sycophancy: {name: sycophancy score, class: compliance_refusal, range: [0, 15], direction: lower_is_safer, description: Made up.}
claims:
  - {quote: Sycophancy is as low as measured with questions., quote_status: paraphrase, form: prevalence, property: sycophancy,
     model: {developer: LAB, name: M, version: "1"}, source: made up}
"""
AUDIT = """
schema: caveat/audit/1
claim: CLM-EXAMPLE-2026-0001-R
independence: third_party
evidence:
  - {layer: behavioural, kind: departure, finding: {value: 24, unit: UNIT}}
"""


def test_a_case_with_an_impossible_figure_is_not_classified(caveat: Caveat, tmp_path: Path) -> None:
    """`caveat analyze classify` ends with 2 and names the file and the place in it."""
    text = (find_resource("examples") / "reference" / "sycophancy.yaml").read_text(encoding="utf-8")
    (tmp_path / "case.yaml").write_text(text.replace("percentage points of the scale", "points"), encoding="utf-8")

    refused = caveat("analyze", "classify", "case.yaml")

    assert refused.code == 2
    assert "error[out-of-range]" in refused.err
    assert "  --> case.yaml, evidence[0].finding.value" in refused.err
    assert "expected -15 to 15 points for a property of the range [0, 15], found 24" in refused.err


def test_an_audit_records_the_converted_figure_once(caveat: Caveat, tmp_path: Path) -> None:
    """The same file again is the same audit; with an impossible figure nothing is recorded."""
    caveat("init", "--example", "--no-key")
    (tmp_path / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    added = caveat("claim", "add", "claims.yaml", "--json")
    assert added.code == 0, added.err
    claim = added.document["added"][0]
    for name, unit in (("good", "percentage points of the scale"), ("bad", "points")):
        text = AUDIT.replace("CLM-EXAMPLE-2026-0001-R", claim.partition("@")[0]).replace("UNIT", unit)
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")

    refused = caveat("audit", "conclude", "bad.yaml")
    first, second = (caveat("audit", "conclude", "good.yaml", "--json") for _ in range(2))

    assert refused.code == 2
    assert "error[out-of-range]" in refused.err
    assert "  --> evidence[0].finding.value" in refused.err
    assert first.code == second.code == 0, first.err
    assert first.document["audit"] == second.document["audit"]
    drawn = caveat("report", claim.partition("@")[0], "--json", "-o", "out")
    assert drawn.code == 0, drawn.err
    (supplement,) = (tmp_path / "out").rglob("CLM-*.json")
    assert '"stated":"24 percentage points of the scale"' in supplement.read_text(encoding="utf-8")
    assert '"value":3.6' in supplement.read_text(encoding="utf-8")
