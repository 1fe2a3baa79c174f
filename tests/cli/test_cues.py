"""`caveat audit cues`: from raters and probe to the ablation, with cues that no one can read before they are revealed."""

import json
import sqlite3
from pathlib import Path

from tests.cli.conftest import Caveat

ANSWERS = """rater,key,item,answer,cue,confidence
ana,key-0,AAAA,test,task format; odd greeting,4
ben,key-0,AAAA,test,task fromat; stakes telegraphing,4
gpt,key-0,BBBB,test,explicit disclosure,
ben,key-0,BBBB,deploy,slang,2
"""
PASSAGES = """task_id,arm,families,class,quote
t1,test,test;named,aware,this is a classic benchmark
t2,test,test,task_content,unit tests
"""
TABLE = "task_id,arm,context_id,sample,score,cue_removed\n" + "".join(
    f"t{task},{arm},{arm}-{context},0,{(task + context) % 2},{cue}\n"
    for task in range(6)
    for context in range(3)
    for arm, cue in (("test", ""), ("test", "task format"), ("deploy", ""))
)


def collect(caveat: Caveat, folder: Path, *options: str) -> dict[str, object]:
    (folder / "answers.csv").write_text(ANSWERS)
    (folder / "passages.csv").write_text(PASSAGES)
    sources = ("--answers", "answers.csv", "--passages", "passages.csv", "--model-rater", "gpt")
    done = caveat("audit", "cues", *sources, *options, "--json")
    assert done.code == 0, done.err
    return dict(done.document)


def test_from_raters_and_probe_to_the_ablation(caveat: Caveat, tmp_path: Path) -> None:
    """Counted by source, registered as it was written, and read by the ablation, from the file and from the registry."""
    caveat("init", "--code", "AISI", "--name", "A", "--role", "institute")
    found = collect(caveat, tmp_path)
    (tmp_path / "scores.csv").write_text(TABLE)

    registered = caveat("spec", "add", "cue_inventory", "named", "cues.yaml", "--json")
    reference = registered.document["spec"]
    ablations = [caveat("analyze", "ablation", "scores.csv", "--cues", one, "--json").document for one in ("cues.yaml", reference)]
    text = caveat("analyze", "ablation", "scores.csv", "--cues", "cues.yaml").out

    by_name = {one["name"]: (one["category"], one["count"], one["sources"]) for one in found["cues"]}  # type: ignore[attr-defined]
    assert by_name["task format"] == ("task format", 2, ["raters: 2"])
    assert by_name["explicit disclosure"] == ("explicit disclosure", 1, ["model raters: 1"])
    assert by_name["this is a classic benchmark"] == ("paradigm recognisability", 1, ["probe: 1"])
    assert (len(by_name), found["named_for_other_items"]) == (5, 1)
    coverages = [one["inventories"][0] for one in ablations]
    assert coverages[0]["ablated"] == coverages[1]["ablated"] == ["task format"]
    assert coverages[0]["sha256"] == coverages[1]["sha256"]
    assert [one["source"] for one in coverages] == ["cues.yaml", reference]
    assert "1 of 5 cues ablated" in text


def test_held_out_cues_are_nowhere_to_be_read_before_they_are_revealed(caveat: Caveat, tmp_path: Path) -> None:
    """The log has a salted commitment alone; the seal file opens it, and the ablation reads the cues before and after."""
    caveat("init", "--code", "AISI", "--name", "A", "--role", "institute")
    found = collect(caveat, tmp_path, "--held-out", "2")
    (tmp_path / "scores.csv").write_text(TABLE)
    seal = tmp_path / "held-out-cues.seal.yaml"
    secret = [cue["name"] for cue in json.loads(seal.read_text())["opening"]["body"]["cues"]]
    reference = str(found["held_out"])

    public = (tmp_path / "cues.yaml").read_text() + json.dumps(found)
    database = sqlite3.connect(tmp_path / "caveat.db")
    dump = "\n".join(database.iterdump())
    database.close()
    refused = caveat("analyze", "ablation", "scores.csv", "--cues", reference)
    sealed = caveat("analyze", "ablation", "scores.csv", "--cues", str(seal), "--json")
    assert caveat("spec", "reveal", str(seal), "--reason", "The run is over.", "--yes").code == 0
    revealed = caveat("analyze", "ablation", "scores.csv", "--cues", reference, "--json")

    assert (len(secret), len(found["cues"]), seal.stat().st_mode & 0o777) == (2, 3, 0o600)  # type: ignore[arg-type]
    assert not any(name in public or name in dump for name in secret)
    assert json.loads((tmp_path / "cues.yaml").read_text())["held_out"] == reference
    assert (refused.code, refused.error) == (2, "spec-sealed")
    assert sealed.document["inventories"] == revealed.document["inventories"]


def test_what_cannot_be_held_out_is_refused(caveat: Caveat, tmp_path: Path) -> None:
    """All of the cues, or options without --held-out; nothing is written."""
    caveat("init", "--code", "AISI", "--name", "A", "--role", "institute")
    (tmp_path / "answers.csv").write_text(ANSWERS)

    refused = [
        caveat("audit", "cues", "--answers", "answers.csv", "--held-out", "9"),
        caveat("audit", "cues", "--answers", "answers.csv", "--seed", "9"),
        caveat("audit", "cues"),
    ]

    assert [one.code for one in refused] == [2, 2, 2]
    assert refused[0].error == "bad-option"
    assert not (tmp_path / "cues.yaml").exists()
