"""`caveat claim propose --from FILE`: figures of others become a claims file that a person edits, and nothing is registered."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import CARD

README = """\
---
model-index:
- name: Lumen
  results:
  - dataset: {name: MMLU}
    metrics:
    - {type: acc, value: 61.5, name: accuracy}
    - {type: acc, value: 0.4, name: error}
---
"""


@pytest.fixture
def card(caveat: Caveat) -> str:
    assert caveat("init", "--code", "AISI").code == 0
    Path("card.md").write_text(CARD, encoding="utf-8")
    Path("README.md").write_text(README, encoding="utf-8")
    return str(caveat("card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]["card"])


def test_figures_become_paraphrases_with_their_source_and_only_a_person_registers_them(caveat: Caveat, card: str) -> None:
    before = caveat("admin", "log", "show", "--json").document["size"]
    assert "warning: no version of the model is stated" in caveat("claim", "propose", card, "--from", "README.md").err
    made = caveat("claim", "propose", card, "--from", "README.md", "--model", "LAB/Lumen/1", "-o", "claims.yaml")
    assert (made.code, "warning" in made.err) == (0, False), made.err
    text = Path("claims.yaml").read_text(encoding="utf-8")

    assert caveat("admin", "log", "show", "--json").document["size"] == before
    assert "quote_status: paraphrase" in text
    assert "0 to 100 is a guess from the figure" in text
    assert "class and safer direction are not stated" in text
    added = caveat("claim", "add", "claims.yaml", "--json")
    assert added.code == 0, added.err
    claims = [caveat("claim", "show", claim, "--json").document for claim in added.document["added"]]
    revisions = [claim["revisions"][-1]["payload"] for claim in claims]
    assert [(revision["reported"]["value"], revision["quote_status"]) for revision in revisions] == [
        (61.5, "paraphrase"),
        (0.4, "paraphrase"),
    ]
    assert all("README.md (sha256 " in revision["note"] for revision in revisions)
    assert all(claim["status"]["restriction"] == "unaudited" for claim in claims)


def test_the_answer_lists_the_figures_and_what_was_not_read(caveat: Caveat, card: str) -> None:
    Path("results.yaml").write_text("- {dataset: {id: a/b, task_id: x}, value: 0.2, surprise: 1}\n", encoding="utf-8")
    answer = caveat("claim", "propose", card, "--from", "results.yaml", "--from", "README.md", "--json")

    assert answer.code == 0, answer.err
    assert [file["format"] for file in answer.document["files"]] == ["hugging-face-eval-results", "hugging-face-model-index"]
    assert answer.document["files"][0]["unread"] == ["[0].surprise"]
    assert "results.yaml: not read: [0].surprise" in answer.err


def test_options_of_the_text_and_other_files_are_refused(caveat: Caveat, card: str) -> None:
    Path("empty.json").write_text(json.dumps({"bomFormat": "CycloneDX"}), encoding="utf-8")

    assert caveat("claim", "propose", card, "--from", "README.md", "--page", "1-2").code == 2
    assert caveat("claim", "propose", card, "--from", "README.md", "--all").code == 2
    assert caveat("claim", "propose", card, "--from", "empty.json").error == "not-valid"
    assert caveat("claim", "propose", card, "--from", "card.md").error == "not-yaml"
