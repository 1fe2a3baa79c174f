"""Contesting and sealing from the command line, by several authorities in one registry."""

from pathlib import Path

import pytest

from tests.cli.conftest import HERE, Answer, Caveat
from tests.cli.locking import import_scores, lock_all, now
from tests.cli.scenario import CARD, CLAIMS, write_audit, write_scores

SUPPORT = "name: support desk\ndescription: {told}\ncontexts:\n  - {{id: d1, system: {text}, template: '{{task}}'}}\n"


class Speaker:
    """The command, spoken by one authority or another."""

    def __init__(self, caveat: Caveat, monkeypatch: pytest.MonkeyPatch) -> None:
        self._caveat = caveat
        self._monkeypatch = monkeypatch

    def __call__(self, who: str, *arguments: str | Path) -> Answer:
        """Run the command in the name of *who*."""
        self._monkeypatch.setenv("CAVEAT_AUTHORITY", who)
        return self._caveat(*arguments)


@pytest.fixture
def say(caveat: Caveat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Speaker:
    """A registry of three authorities, with a sealed P_deploy of the lab and a claim that rests on it."""
    said = Speaker(caveat, monkeypatch)
    for code in ("LAB", "AISI", "REG"):
        assert said(code, "init", "--code", code, "--join").code == 0
    (tmp_path / "support.yaml").write_text(SUPPORT.format(told="as the lab has it", text="You help."), encoding="utf-8")
    (tmp_path / "rival.yaml").write_text(SUPPORT.format(told="with tools", text="You help with tools."), encoding="utf-8")
    assert said("LAB", "spec", "seal", "deploy_context", "support", "support.yaml").code == 0
    (tmp_path / "card.md").write_text(CARD, encoding="utf-8")
    card = said("LAB", "card", "add", "card.md", "--publisher", "LAB", "--json").document["card"]["card"]
    claims = CLAIMS.format(card=card).replace("    property: scheming\n", "    property: scheming\n    deploy_contexts: [support]\n", 1)
    (tmp_path / "claims.yaml").write_text(claims, encoding="utf-8")
    assert said("LAB", "claim", "add", "claims.yaml").code == 0
    return said


def test_a_objection_is_followed_from_the_command_line(say: Speaker) -> None:
    """Opened by an institute, rejected by its owner (which settles nothing), escalated, upheld; every step with who took it."""
    (spec,) = [one["spec"] for one in say("LAB", "spec", "list", "--json").document["specs"] if one["slug"] == "support"]
    say("AISI", "spec", "add", "deploy_context", "rival", "rival.yaml")
    (rival,) = [one["spec"] for one in say("LAB", "spec", "list", "--json").document["specs"] if one["slug"] == "rival"]
    opened = say("AISI", "contest", "open", spec, "--reason", "too narrow", "--rival", rival, "--json").document
    name, target = opened["objection"], opened["target"]

    own = say("LAB", "contest", "reject", "--yes", name, "--reason", "no")
    say("AISI", "contest", "escalate", name, "--reason", "please", "--to", "REG")
    late = say("LAB", "contest", "reject", "--yes", name, "--reason", "no")
    shown = " ".join(say("LAB", "contest", "show", name).out.split())
    still = say("LAB", "contest", "list", "--open", "--target", target, "--json").document["objections"]
    say("REG", "contest", "uphold", "--yes", name, "--reason", "right")
    settled = say("LAB", "contest", "list", "--open", "--json").document["objections"]
    told = say("LAB", "contest", "show", name, "--json").document

    assert "rejected by its owner only, which resolves nothing" in own.out
    assert (late.code, "not-permitted" in late.err) == (2, True)
    assert "rejected by its owner LAB" in shown
    assert "escalated by AISI, who contested it, to REG" in shown
    assert "is sealed: its text is not in the log" in shown
    assert [one["state"] for one in still] == ["escalated"]
    assert settled == []
    assert (told["state"], [one["by"] for one in told["steps"]]) == ("upheld", ["LAB", "AISI", "REG"])
    assert "upheld by REG" in say("LAB", "spec", "show", target).out


def test_what_is_contested_is_told_wherever_it_is_shown(say: Speaker, tmp_path: Path) -> None:
    """In `claim show`, `card coverage` and the supplement, public and confidential; the confidential one under another name."""
    claim = "CLM-LAB-2026-0001-E"
    (spec,) = [one["spec"] for one in say("LAB", "spec", "list", "--json").document["specs"] if one["slug"] == "support"]
    name = say("AISI", "contest", "open", spec, "--reason", "too narrow", "--json").document["objection"]
    card = say("LAB", "card", "list", "--json").document["cards"][0]["card"]

    shown = say("LAB", "claim", "show", claim).out
    covered = say("LAB", "card", "coverage", card, "--json").document["disputed"]
    public = say("LAB", "report", claim, "--html")
    secret = say("LAB", "report", claim, "--html", "--confidential", "support.seal.yaml")
    refused = say("LAB", "report", card, "--html", "--confidential", "support.seal.yaml")
    pages = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "supplements").glob("C*")}

    assert name in shown
    assert covered == [{"claim": f"{claim}@1", "dispute": "contested"}]
    assert (public.code, secret.code, refused.code) == (0, 0, 2)
    assert set(pages) == {f"{claim}@1.html", f"{claim}@1.confidential.html"}
    assert all(f"Contested: {name}" in page for page in pages.values())
    assert ["You help." in page for _, page in sorted(pages.items())] == [True, False]


def test_the_checklist_names_what_is_contested_of_p_deploy(say: Speaker, tmp_path: Path) -> None:
    """Its item is of owner and open objections: the owner alone is half of it."""
    (spec,) = [one["spec"] for one in say("LAB", "spec", "list", "--json").document["specs"] if one["slug"] == "support"]
    name = say("AISI", "contest", "open", spec, "--reason", "too narrow", "--json").document["objection"]
    audit = say("AISI", "audit", "lock", "--yes", write_audit(tmp_path, "CLM-LAB-2026-0001-E"), "--json").document["audit"]

    done = say("AISI", "audit", "conclude", audit, write_scores(tmp_path / "s.csv", test=0.05, deploy=0.4), "--run-date", now(), "--json")
    items = done.document["checklist"]
    told = {one["item"]: one["note"] for one in items}

    assert told["deployment-owner-and-objections"] == f"LAB (support; contested: {name})"


def test_a_word_on_stopping_says_nothing_of_the_tasks(caveat: Caveat, tmp_path: Path) -> None:
    """All locked tasks are there: their row keeps its mark, and that of the stopping rule has the other."""
    audit = lock_all(caveat, tmp_path, more="stopping_rule: after the last task\n")
    assert import_scores(caveat, audit, write_scores(tmp_path / "s.csv", test=0.05, deploy=0.4)).code == 0
    assert caveat("audit", "deviate", audit, "stopping_rule", "--done", "on a whim", "--reason", "tired").code == 0

    assert caveat("report", caveat("claim", "list", "--json").document["claims"][0]["claim"], "--html").code == 0
    page = next((tmp_path / "supplements").glob("C*")).read_text(encoding="utf-8")
    fixed = page.rpartition("Locked plan and deviations</h2>")[2] or page
    tasks, stopping = (fixed.partition(f'data-label="Item">{name}</th>')[2].partition("</tr>")[0] for name in ("Tasks", "Stopping rule"))

    assert "✓ the scores are of the same identifiers" in tasks
    assert "✗ not as locked" in stopping


def test_an_erased_objection_silences_no_other(say: Speaker) -> None:
    """Lists and the page of a specification tell of the others, and name the one whose text is gone."""
    (spec,) = [one["spec"] for one in say("LAB", "spec", "list", "--json").document["specs"] if one["slug"] == "support"]
    name = say("AISI", "contest", "open", spec, "--reason", "too narrow", "--json").document["objection"]
    gone = say("REG", "contest", "open", spec, "--reason", "names a person", "--json").document["objection"]
    (entry,) = [one["entry"]["seq"] for one in say("REG", "admin", "log", "show", "--about", gone, "--json").document["entries"]]
    assert say("REG", "admin", "log", "erase", str(entry), "--reason", "names a person", "--yes").code == 0

    listed = say("LAB", "contest", "list", "--json")
    shown = say("LAB", "spec", "show", spec)
    lost = say("LAB", "contest", "show", gone)

    assert [one["objection"] for one in listed.document["objections"]] == [name]
    assert (listed.document["erased"], gone in listed.err) == ([gone], True)
    assert (name in shown.out, gone in shown.err) == (True, True)
    assert (lost.code, "body-erased" in lost.err) == (2, True)


def test_a_card_is_drawn_without_a_claim_that_was_erased(say: Speaker, tmp_path: Path) -> None:
    """The card and its other claims are drawn; the one that cannot be is named, and the exit code says that something is missing."""
    card = say("LAB", "card", "list", "--json").document["cards"][0]["card"]
    claims = [one["claim"] for one in say("LAB", "claim", "list", "--json").document["claims"]]
    (entry,) = [one["entry"]["seq"] for one in say("LAB", "admin", "log", "show", "--about", claims[-1], "--json").document["entries"]]
    assert say("LAB", "admin", "log", "erase", str(entry), "--reason", "a court order", "--yes").code == 0

    drawn = say("LAB", "report", card, "--json")
    alone = say("LAB", "report", claims[-1], "--json")
    files = sorted(path.name for path in (tmp_path / "supplements").glob("C*"))

    assert (drawn.code, claims[-1].partition("@")[0] in drawn.err, alone.code) == (3, True, 3)
    assert [name[:3] for name in files] == ["CLM", "CLM", "CRD"]


def test_an_objection_that_came_later_is_told_of_a_file_given_out_before(say: Speaker) -> None:
    """Also where another one stood against the same specification already, so that no status changed; of claim and card alike."""
    claim = "CLM-LAB-2026-0001-E"
    (spec,) = [one["spec"] for one in say("LAB", "spec", "list", "--json").document["specs"] if one["slug"] == "support"]
    card = say("LAB", "card", "list", "--json").document["cards"][0]["card"]
    say("AISI", "contest", "open", spec, "--reason", "too narrow")
    assert say("LAB", "report", card, "--json").code == 0
    later = say("REG", "contest", "open", spec, "--reason", "too wide", "--json").document["objection"]

    notes = [
        next(one["note"] for one in say("LAB", "verify", *HERE, f"supplements/{name}@1.json", "--json").document["files"][0]["checks"]
             if one["name"] == "current")
        for name in (claim, card)
    ]  # fmt: skip

    assert all(f"{later} was opened against {spec}@1 by REG: “too wide” (entry" in note for note in notes)


def test_a_sealed_specification_is_compared_once_it_is_revealed(say: Speaker, tmp_path: Path) -> None:
    """Before that `spec diff` and `spec show` say what is missing."""
    (spec,) = [one["spec"] for one in say("LAB", "spec", "list", "--json").document["specs"] if one["slug"] == "support"]
    (tmp_path / "support.yaml").write_text(SUPPORT.format(told="as the lab has it", text="You help a lot."), encoding="utf-8")
    say("LAB", "spec", "add", "deploy_context", "support", "support.yaml", "--reason", "opened")

    before = say("LAB", "spec", "diff", spec, "--json").document
    hidden = say("LAB", "spec", "show", f"{spec}@1")
    other = say("AISI", "spec", "reveal", "support.seal.yaml", "--yes")
    say("LAB", "spec", "reveal", "support.seal.yaml", "--reason", "done", "--yes")
    after = say("LAB", "spec", "diff", spec)
    revealed = say("LAB", "spec", "show", f"{spec}@1", "--json").document

    assert (before["changes"], f"{spec}@1 is sealed" in before["not_compared"]) == (None, True)
    assert "You help" not in hidden.out
    assert (other.code, "not-permitted" in other.err) == (2, True)
    assert "{+ a lot+}" in after.out
    assert revealed["opening"]["body"]["contexts"][0]["system"] == "You help."
    assert say("LAB", "admin", "schema", "seal", "--json").document["title"] == "SealFile"
