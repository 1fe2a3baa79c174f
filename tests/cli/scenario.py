"""A small card with claims and score tables, made by us, for trying the command."""

import csv
import os
import random
import shutil
import tempfile
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


_made: list[tuple[tempfile.TemporaryDirectory[str], list[str]]] = []
"""The folder with the first registry that `register` made in this process, and the claims in it; removed when the process ends."""
_copied_by: set[str] = set()
"""The tests that have a copy of it: a second registry in one test is a log of its own."""


def register(caveat: Caveat, folder: Path) -> list[str]:
    """Make a registry with the card and its three claims; return their references.

    The commands run once in a process of the tests. Other tests get a copy of the folder they left, unless they set a time, an address
    or a configuration of their own.
    """
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    is_own = (
        any(name.startswith("CAVEAT_") and name not in ("CAVEAT_SHARED", "CAVEAT_SOAK") for name in os.environ)
        or "SOURCE_DATE_EPOCH" in os.environ
        or not getattr(caveat, "is_plain", False)
        or folder != Path.cwd()
        or any(folder.iterdir())
        or test in _copied_by
    )
    if is_own:
        return _register(caveat, folder)
    _copied_by.add(test)
    if not _made:
        claims = _register(caveat, folder)
        copy = tempfile.TemporaryDirectory(prefix="caveat-registered-")
        shutil.copytree(folder, copy.name, dirs_exist_ok=True)
        _made.append((copy, claims))
        return claims
    copy, claims = _made[0]
    shutil.copytree(copy.name, folder, dirs_exist_ok=True)
    return list(claims)


def _register(caveat: Caveat, folder: Path) -> list[str]:
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
