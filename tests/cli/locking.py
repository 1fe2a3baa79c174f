"""An audit whose lock fixes nearly everything, and scores brought to it, for trying what a lock is worth."""

from datetime import UTC, datetime
from pathlib import Path

from tests.cli.conftest import Answer, Caveat
from tests.cli.scenario import register, write_audit

_SPEC = """\
name: {name}
description: contexts of {name}
contexts:
{contexts}
"""


def now() -> str:
    """The moment, as `--run-date` takes it."""
    return datetime.now(UTC).isoformat()


def add_contexts(caveat: Caveat, folder: Path, kind: str, slug: str, *, ids: range = range(8), why: str | None = None) -> None:
    """Register contexts that are called as those of `write_scores`."""
    side = "test" if kind == "test_context" else "deploy"
    lines = "\n".join(f'  - {{id: {side}{number}, system: "{slug} {number}", template: "{{task}}"}}' for number in ids)
    (folder / f"{slug}.yaml").write_text(_SPEC.format(name=slug, contexts=lines), encoding="utf-8")
    added = caveat("spec", "add", kind, slug, f"{slug}.yaml", *(("--reason", why) if why else ()))
    assert added.code == 0, added.err


def lock_all(caveat: Caveat, folder: Path, *, more: str = "") -> str:
    """Lock an audit that fixes contexts, tasks, model, budget and rules; return its identifier."""
    claim = register(caveat, folder)[0]
    add_contexts(caveat, folder, "test_context", "exam")
    add_contexts(caveat, folder, "deploy_context", "office")
    (folder / "tasks.txt").write_text("".join(f"t{number}\n" for number in range(40)), encoding="utf-8")
    extra = "test_contexts: exam\ndeploy_contexts: {default: office}\ntasks: tasks.txt\nmodel: m-1\nbudget: 700 calls\n"
    locked = caveat("audit", "lock", "--yes", write_audit(folder, claim, extra=extra + more), "--json")
    assert locked.code == 0, locked.err
    return str(locked.document["audit"])


def import_scores(caveat: Caveat, audit: str, scores: Path, *options: str) -> Answer:
    """Import *scores* as those of a run that has just begun."""
    return caveat("audit", "conclude", audit, scores, "--run-date", now(), "--json", *options)


def find_basis(answer: Answer) -> str:
    """The basis of an imported outcome."""
    return str(answer.document["restriction"]["basis"])


def list_deviations(caveat: Caveat, audit: str) -> list[tuple[str, str | None, bool]]:
    """Item, reason, and whether it was found, of each deviation on record."""
    shown = caveat("audit", "show", audit, "--json").document["deviations"]
    return [(deviation["payload"]["item"], deviation["payload"]["reason"], deviation["payload"]["found"]) for deviation in shown]
