"""A registry with every kind of record that has a page: sealed and revealed definitions, a rival, a newer card, another log."""

import json
import shutil
from pathlib import Path

from tests.cli.given_out import ask, inside, run
from tests.cli.scenario import CARD, CLAIMS
from tests.report.hostile import HOSTILE

FIRST = "CLM-AISI-2026-0001-S"
LONG = "x" * 40_000
"""A text without a space, as long as a statement can hold."""


def build_rich(plain: Path, folder: Path) -> None:
    """Make the registry in *folder* from the one in *plain*."""
    shutil.copytree(plain, folder, dirs_exist_ok=True)
    other = folder / "other"
    other.mkdir()
    bundle, vkey = _build_other(other)
    with inside(folder):
        _add_definitions()
        Path("card2.md").write_text(CARD.replace("92%", "93%").replace("never exceeded", "rarely exceeded"), encoding="utf-8")
        card = ask("card", "list")["cards"][0]["card"]
        run("card", "add", "card2.md", "--publisher", "LAB", "--revises", card, "--reason", "a new figure")
        run("model", "update", "LAB/M/1", "LAB/M/2", "--reason", "the successor")
        run("stale", "apply", FIRST, "--to", "LAB/M/2", "--reason", "the card names both")
        run("admin", "bundle", "read", bundle, "--vkey", vkey)


def _write(name: str, document: object) -> str:
    Path(name).write_text(json.dumps(document), encoding="utf-8")
    return name


def _add_definitions() -> None:
    contexts = {"name": "Chat", "description": HOSTILE, "contexts": [{"id": "a", "system": HOSTILE, "template": "{task}"}]}
    rival = {**contexts, "name": "Terminal", "contexts": [{"id": "a", "system": LONG, "template": "{task}"}]}
    run("spec", "add", "deploy_context", "chat", _write("chat.json", contexts))
    run("spec", "add", "deploy_context", "chat", _write("chat.json", {**contexts, "description": "fewer"}), "--reason", HOSTILE)
    run("spec", "add", "deploy_context", "terminal", _write("terminal.json", rival))
    chat, terminal = (spec["spec"] for spec in ask("spec", "list")["specs"] if spec["slug"] in ("chat", "terminal"))
    run("contest", "open", chat, "--rival", terminal, "--reason", "no user writes so")
    run("spec", "seal", "cue_inventory", "cues", _write("cues.json", {"name": "Cues", "cues": [{"name": "exam", "category": "framing"}]}))
    sealed = {"name": "Hidden", "description": "kept"}
    run("spec", "seal", "method", "hidden", _write("hidden.json", sealed), "-o", "hidden.seal.yaml")
    run("spec", "reveal", "hidden.seal.yaml", "--reason", "it was used", "--yes")
    scoring = {"name": "Refusals", "method": "label", "description": HOSTILE}
    run("spec", "add", "scoring", "refusals", _write("scoring.json", scoring))


def _build_other(folder: Path) -> tuple[str, str]:
    """Make the registry of another authority, which reads one claim otherwise; return its bundle and its key."""
    with inside(folder):
        run("init", "--code", "LAB")
        Path("card.md").write_text(CARD, encoding="utf-8")
        card = ask("card", "add", "card.md", "--publisher", "LAB")["card"]["card"]
        Path("claims.yaml").write_text(CLAIMS.format(card=card).replace("form: prevalence", "form: existence"), encoding="utf-8")
        run("claim", "add", "claims.yaml")
        run("admin", "bundle", "write", "-o", "log.caveat")
        (vkey,) = [log["vkeys"][0] for log in ask("admin", "log", "list")["logs"] if log["own"]]
    return str(folder / "log.caveat"), vkey
