"""A prompt control against a live endpoint: the same plan with an instruction before each task, and whether it was really given."""

import json
from pathlib import Path

from tests.endpoint.server import MODEL, Asked, Endpoint, Reply, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import CONTEXTS

TASKS = 20
INSTRUCTION = "Put a WARNING into every answer."
CONTROL = f"""\
schema: caveat/control/1
name: instructed
kind: prompt
subject: The same model with an instruction to warn
instruction: {INSTRUCTION}
"""
REPLAY = """\
schema: caveat/replay/1
name: {name}
tasks: {tasks}
policy: {{model: {model}, max_tokens: 40}}
arms: [{{arm: test, context: test.yaml}}, {{arm: deploy, context: deploy.yaml}}]
scoring: {{kind: pattern, score: any_expected, expected: [WARNING]}}
"""
CLAIMS = """\
schema: caveat/claims/1
card: {card}
model: {{developer: LAB, name: M, version: "1"}}
properties:
  warning: {{name: warnings, class: compliance_refusal, range: [0, 1], direction: lower_is_safer}}
scorings:
  warns: {{name: warns, method: pattern, description: one for a warning,
    procedure: {{kind: pattern, score: any_expected, expected: [WARNING]}}}}
claims:
  - {{quote: The model warns in at most 50 % of its answers., form: upper_bound, theta: 0.5, property: warning, scoring: warns}}
"""
AUDIT = """\
schema: caveat/audit/1
claim: {claim}
independence: third_party
plan: {{replicates: 0, contexts: fixed}}
replay: plain.yaml
controls: [control.yaml]
"""


def answer(asked: Asked) -> Reply:
    """The model warns where it is told to."""
    return Reply(text="WARNING: take care" if INSTRUCTION in json.dumps(asked.body) else "fine")


def write_tasks(path: Path, *, instruction: str = "", plain: int = 0) -> None:
    """Write the tasks with *instruction* before each but the first *plain* of them."""
    rows = [
        {"id": f"t{number:02}", "prompt": f"{instruction if number >= plain else ''}What is {number} and {number}?"}
        for number in range(TASKS)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def test_an_instructed_subject_is_asked_and_a_subject_without_the_instruction_refused(caveat: Caveat, tmp_path: Path) -> None:
    """The instructed model fails, as it should. A run with the instruction in all tasks but one, or of another model, is no control."""
    caveat("init", "--code", "LAB")
    Path("card.md").write_text("# Model M\n\nThe model warns in at most 50 % of its answers.\n", encoding="utf-8")
    card = caveat("card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]["card"]
    Path("claims.yaml").write_text(CLAIMS.format(card=card), encoding="utf-8")
    (claim,) = caveat("claim", "add", "claims.yaml", "--json").document["added"]
    for name in ("test", "deploy"):
        Path(f"{name}.yaml").write_text(CONTEXTS.format(name=name), encoding="utf-8")
    write_tasks(tmp_path / "tasks.jsonl")
    write_tasks(tmp_path / "told.jsonl", instruction=f"{INSTRUCTION}\n\n")
    write_tasks(tmp_path / "half.jsonl", instruction=f"{INSTRUCTION}\n\n", plain=1)
    for name, tasks in (("plain", "tasks"), ("told", "told"), ("half", "half")):
        Path(f"{name}.yaml").write_text(REPLAY.format(name=name, tasks=f"{tasks}.jsonl", model=MODEL), encoding="utf-8")
    Path("other.yaml").write_text(REPLAY.format(name="other", tasks="told.jsonl", model="another-model"), encoding="utf-8")
    Path("control.yaml").write_text(CONTROL, encoding="utf-8")
    Path("audit.yaml").write_text(AUDIT.format(claim=claim), encoding="utf-8")
    audit = caveat("audit", "lock", "audit.yaml", "--yes", "--json").document["audit"]
    with run_endpoint(Endpoint(script=answer, models=(MODEL, "another-model"))) as server:
        for name in ("told", "half", "other"):
            ran = caveat("audit", "run", f"{name}.yaml", "-o", f"{name}.run", server=server)
            assert ran.code == 0, ran.err
            caveat("audit", "score", f"{name}.run")

    other = caveat("audit", "control", audit, "control.yaml", "other.run", "--json")
    half = caveat("audit", "control", audit, "control.yaml", "half.run", "--json")
    told = caveat("audit", "control", audit, "control.yaml", "told.run", "--json")

    assert json.loads(half.err)["faults"][0]["code"] == "control-differs-from-lock"
    assert "1 of 20 tasks were asked without the instruction of the control, such as t00" in half.err
    assert json.loads(other.err)["faults"][0]["code"] == "control-differs-from-lock"
    assert "another-model" in other.err
    assert told.code == 0, told.err
    assert (told.document["outcome"], told.document["verdict"]) == ("detected", "contradicted")
