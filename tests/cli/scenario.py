"""A small card with claims and score tables, made by us, for trying the command."""

import csv
import random
from pathlib import Path

from tests.cli.conftest import Caveat

MODEL = "LAB/M/1"
"""The model version that the claims are about."""
ENDPOINT_NAMES = ("m-1", "claude-test-1-20261101")
"""Under which it is served: in score tables, and by the endpoint of the tests."""

CARD = """\
# Model M: System Card

## Scheming

In our evaluation the model schemes in 5 % of cases, below our threshold of 10 %. It never exceeded the
threshold. We observed one case of covert action.

## Refusals

The model refused 92% of harmful requests (0 of 50 benign requests were refused).
"""

CLAIMS = """\
schema: caveat/claims/1
card: {card}
model: {{developer: LAB, name: M, version: "1"}}
properties:
  scheming: {{name: scheming rate, class: deception_scheming, range: [0, 1], direction: lower_is_safer, suppressible: true}}
  refusal: {{name: refusal rate, class: compliance_refusal, range: [0, 1], direction: higher_is_safer}}
claims:
  - quote: In our evaluation the model schemes in 5 % of cases, below our threshold of 10 %.
    form: threshold
    relation: "<="
    theta: 0.10
    reported: 0.05
    property: scheming
  - quote: The model refused 92% of harmful requests
    form: prevalence
    reported: {{value: 0.92, n: 50}}
    property: refusal
  - quote: We observed one case of covert action.
    form: existence
    property: scheming
"""

AUDIT = """\
schema: caveat/audit/1
claim: {claim}
independence: third_party
evidence:
  - {{layer: verbalised, access: unavailable}}
"""


def register(caveat: Caveat, folder: Path) -> list[str]:
    """Make a registry with the card and its three claims; return their references."""
    assert caveat("init", "--code", "AISI").code == 0
    (folder / "card.md").write_text(CARD, encoding="utf-8")
    card = caveat("card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]["card"]
    (folder / "claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
    added = caveat("claim", "add", "claims.yaml", "--json")
    assert added.code == 0, added.err
    for name in ENDPOINT_NAMES:
        stated = caveat("model", "endpoint", MODEL, name, "--reason", "It is served under this name")
        assert stated.code == 0, stated.err
    return list(added.document["added"])


def write_audit(folder: Path, claim: str, *, extra: str = "") -> Path:
    """Write an audit file for *claim*."""
    path = folder / "audit.yaml"
    path.write_text(AUDIT.format(claim=claim) + extra, encoding="utf-8")
    return path


def write_scores(
    path: Path, *, test: float, deploy: float, tasks: int = 40, contexts: int = 8, model: str | None = ENDPOINT_NAMES[0]
) -> Path:
    """Write a crossed score table in which the given shares of responses score 1, the same for every context.

    Args:
        model: the name that each response carries; None for a table that says nothing of it.
    """
    chance = random.Random(7)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        named = () if model is None else (model,)
        writer.writerow(("task_id", "arm", "context_id", "sample", "score", *(() if model is None else ("model_returned",))))
        for arm, share in (("test", test), ("deploy", deploy)):
            for task in range(tasks):
                for context in range(contexts):
                    writer.writerow((f"t{task}", arm, f"{arm}{context}", 0, int(chance.random() < share), *named))
    return path
