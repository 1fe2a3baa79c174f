"""A replay's file is read with its tasks and contexts: beside it, or from the registry."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit.replay.replay_design import build_design
from audit.replay.replay_file import read_replay
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import read_document
from registry.errors import InputError
from registry.records.record import Authority, AuthorityRole, Kind
from registry.records.specification import ContextSpec, SpecKind, SpecVersion
from registry.registration.specification_registration import register_spec
from registry.store import database_schema as schema
from registry.store.ledger import Ledger

REPLAY = """
name: r
tasks: {tasks}
policy: {{model: claude-example-1-20260101, max_tokens: 64}}
arms:
  - {{arm: test, context: {test}}}
  - {{arm: deploy, context: {deploy}}}
"""
CHAT = "name: chat\ndescription: d\ncontexts: [{id: c, system: '', template: '{task}'}]\n"
EXAM = "name: exam\ndescription: d\nblocks: {r: {file: rules.txt}}\ncontexts: [{id: e, system: [r], template: '{task}'}]\n"
"""Both as they stand in files; the exam's block names one more."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with tasks and two context files, one of them below it."""
    (tmp_path / "tasks.csv").write_text("id,prompt\na,x\n")
    (tmp_path / "chat.yaml").write_text(CHAT)
    (tmp_path / "exam").mkdir()
    (tmp_path / "exam" / "exam.yaml").write_text(EXAM)
    (tmp_path / "exam" / "rules.txt").write_text("Be brief.\n")
    return tmp_path


def write(folder: Path, *, tasks: str = "tasks.csv", test: str = "exam/exam.yaml", deploy: str = "chat.yaml") -> Path:
    """Write the replay's file."""
    path = folder / "replay.yaml"
    path.write_text(REPLAY.format(tasks=tasks, test=test, deploy=deploy))
    return path


def test_a_replay_is_read_with_all_that_it_names(folder: Path) -> None:
    """What comes back is ready for its design, and every file has its digest."""
    path = write(folder)

    found = read_replay(path, None)

    planned = build_design(found.replay, found.tasks, found.contexts)
    assert {one.call.body.get("system") for one in planned} == {"Be brief.", None}
    assert found.sources == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in ("replay.yaml", "tasks.csv", "exam/exam.yaml", "exam/rules.txt", "chat.yaml")
    }
    assert found.references == {}


def test_faults_of_tasks_and_contexts_are_told_together(folder: Path) -> None:
    """Each file is read, whatever is wrong with another."""
    (folder / "tasks.csv").write_text("id\n")
    (folder / "chat.yaml").write_text("name: chat\n")

    with pytest.raises(InputError) as caught:
        read_replay(write(folder, test="nowhere"), None)

    assert [fault.code for fault in caught.value.faults] == ["column-missing", "spec-not-found", "not-valid"]


@pytest.mark.parametrize("change", [{"tasks": "../tasks.csv"}, {"deploy": "../chat.yaml"}, {"deploy": "/etc/hostname"}])
def test_nothing_outside_the_folder_is_read(change: dict[str, str], folder: Path) -> None:
    """A replay from a stranger reads what it came with."""
    with pytest.raises(InputError) as caught:
        read_replay(write(folder, **change), None)

    assert caught.value.code == "path-outside-folder"


@pytest.fixture
def ledger(folder: Path) -> Iterator[Ledger]:
    """A registry with the chat under one short name for both kinds, another version of it, and a sealed specification."""
    url = f"sqlite:///{folder / 'caveat.db'}"
    schema.upgrade(url)
    opened = Ledger.open(url, clock=lambda: datetime(2026, 11, 21, tzinfo=UTC), salt=lambda: "0" * 32)
    chat = from_document(ContextSpec, read_document(folder / "chat.yaml"), where="chat")
    with opened.write(actor="LAB") as writer:
        writer.append(Authority(code="LAB", name="Lab", role=AuthorityRole.LAB))
        register_spec(writer, SpecKind.DEPLOY_CONTEXT, "consumer", chat, owner="LAB")
        register_spec(writer, SpecKind.DEPLOY_CONTEXT, "consumer", replace(chat, name="chat, later"), owner="LAB", why="renamed")
        for kind in (SpecKind.TEST_CONTEXT, SpecKind.DEPLOY_CONTEXT):
            register_spec(writer, kind, "both", replace(chat, name=kind.value), owner="LAB")
        sealed = writer.allocate(Kind.CONTEXT, "LAB")[0]
        writer.append(
            SpecVersion(
                spec=sealed, kind=SpecKind.TEST_CONTEXT, slug="secret", version=1, owner="LAB", commitment=hashlib.sha256(b"").hexdigest()
            )
        )
    yield opened
    opened.close()


def test_a_context_of_the_registry_is_found_by_name_and_by_version(folder: Path, ledger: Ledger) -> None:
    """A short name means the latest version, an identifier the one that it names; both are written down."""
    with ledger.view(None) as view:
        latest = read_replay(write(folder, deploy="consumer"), view)
        reference = latest.references["consumer"]
        first = read_replay(write(folder, deploy=reference.replace("@2", "@1")), view, owner="LAB")

    assert (latest.contexts["consumer"].name, reference.endswith("@2")) == ("chat, later", True)
    assert [one.name for one in first.contexts.values()] == ["exam", "chat"]


def test_a_file_is_preferred_to_a_name_of_the_registry(folder: Path, ledger: Ledger) -> None:
    """What lies beside the replay is what its author had before them."""
    (folder / "consumer").write_text(CHAT.replace("name: chat", "name: from the file"))

    with ledger.view(None) as view:
        found = read_replay(write(folder, deploy="consumer"), view)

    assert (found.contexts["consumer"].name, found.references) == ("from the file", {})


@pytest.mark.parametrize(
    ("name", "owner", "code"),
    [
        ("both", None, "choice-needed"),
        ("secret", None, "spec-sealed"),
        ("both", "OTHER", "choice-needed"),
        ("no one", None, "spec-not-found"),
        ("CTX-LAB-2026-0001-X@x", None, "spec-not-found"),
        ("CTX-LAB-2026-0001@7", None, "spec-not-found"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(name: str, owner: str | None, code: str, folder: Path, ledger: Ledger) -> None:
    """Ambiguous, sealed, unknown: each with what to do next."""
    with ledger.view(None) as view, pytest.raises(InputError) as caught:
        read_replay(write(folder, deploy=name), view, owner=owner)

    (fault,) = caught.value.faults
    assert fault.code == code
    assert fault.advice


def test_a_name_that_only_somebody_else_uses_is_theirs(folder: Path, ledger: Ledger) -> None:
    """One's own names come first, and where there is none, a name that one other authority uses is not ambiguous."""
    with ledger.view(None) as view:
        found = read_replay(write(folder, deploy="consumer"), view, owner="OTHER")

    assert set(found.references) == {"consumer"}
