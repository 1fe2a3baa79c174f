"""Recordings found by their digest, and replays written again with another model: pure, and careful with what is not theirs."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.protocol.audit_lock import describe_replay
from audit.renew import renewal_replays as recording
from audit.renew.renewal_replays import REPLAY, find_changed_parts, find_recordings, name_folder, renew_replay, write_files
from audit.replay.replay_file import ReplayFile, digest_parts, read_replay
from registry.errors import ConflictError
from registry.records.replay_run import Arm, Policy, Replay, Task
from registry.records.specification import ContextItem, ContextSpec
from registry.store.registry_view import View
from tests.replay.replay_files import write_replay

NO_VIEW = cast("View", None)
texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\r"), min_size=1, max_size=40)
visible = texts.filter(lambda one: bool(one.strip()) and "{" not in one and "}" not in one)


def build_file(prompts: list[str], system: str, name: str) -> ReplayFile:
    """Return a replay of these prompts in two contexts."""
    contexts = {
        f"{side}.yaml": ContextSpec(name=side, description=system, contexts=(ContextItem(id=side, system=system, template="{task}"),))
        for side in ("test", "deploy")
    }
    replay = Replay(
        name=name,
        tasks="tasks.csv",
        policy=Policy(model="old", max_tokens=5, temperature=0.7, thinking={"type": "enabled", "budget_tokens": 2048}),
        arms=(Arm(arm="test", context="test.yaml"), Arm(arm="deploy", context="deploy.yaml", where={"n": ("1",)})),
        audit="AUD-EXAMPLE-2026-0001-9",
    )
    tasks = tuple(Task(id=f"t{number}", prompt=prompt, fields={"n": "1"}, note=prompt) for number, prompt in enumerate(prompts))
    return ReplayFile(replay=replay, tasks=tasks, contexts=contexts, sources={}, references={})


@given(prompts=st.lists(visible, min_size=1, max_size=3), system=visible, name=texts)
def test_a_replay_that_is_written_again_differs_in_its_policy_alone(prompts: list[str], system: str, name: str) -> None:
    """Whatever the texts hold, what is read back is the recorded replay with another model, answering to other audits."""
    before = build_file(prompts, system, name)
    renewed = renew_replay(before, NO_VIEW, ask="new", base_url=None, audits=["AUD-EXAMPLE-2026-0002-7"])
    with TemporaryDirectory() as place:
        folder = Path(place) / name_folder(before.replay, "0" * 64)
        write_files(folder, renewed.texts)
        read = read_replay(folder / REPLAY, None)

    assert find_changed_parts(before, read) == ["policy"]
    assert describe_replay(read) == describe_replay(renewed.file)
    assert read.replay.policy == replace(before.replay.policy, model="new")
    assert read.replay.audits == ("AUD-EXAMPLE-2026-0002-7",)


def test_writing_the_same_again_changes_nothing_and_another_replay_is_refused(tmp_path: Path) -> None:
    """The replay's own file may gain audits; tasks and contexts of a run that began must stay."""
    before = build_file(["a"], "be brief", "one")
    bare, named = (renew_replay(before, NO_VIEW, ask="new", base_url=None, audits=names) for names in ((), ("AUD-EXAMPLE-2026-0002-7",)))
    write_files(tmp_path, bare.texts)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    write_files(tmp_path, bare.texts)
    same = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == times
    write_files(tmp_path, named.texts)
    other = renew_replay(build_file(["b"], "be brief", "one"), NO_VIEW, ask="new", base_url=None, audits=())

    assert same
    assert "AUD-EXAMPLE-2026-0002-7" in (tmp_path / REPLAY).read_text(encoding="utf-8")
    with pytest.raises(ConflictError, match="renewal-differs"):
        write_files(tmp_path, other.texts)


def test_a_replay_is_found_by_what_it_is_and_not_by_its_name(tmp_path: Path) -> None:
    """Below a folder, under any name; one that asks another task is not it."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    wanted = digest_parts(describe_replay(read_replay(write_replay(deep, tasks=2), None)))
    (deep / "small.yaml").rename(deep / "other name.yml")
    write_replay(tmp_path, tasks=3)
    search = find_recordings([tmp_path], {wanted}, None, owner=None)
    found = search.find(wanted)

    assert found is not None
    assert (found.place, found.is_run) == (deep / "other name.yml", False)
    assert (search.folders, search.is_cut) == (3, False)
    assert find_recordings([tmp_path / "nowhere"], {wanted}, None, owner=None).folders == 0


def test_a_search_has_its_limits_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many folders, too deep, hidden or linked in a circle: the search ends, and tells that there was more."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "circle").symlink_to(tmp_path)
    (tmp_path / ".hidden").mkdir()
    write_replay(tmp_path / ".hidden")
    whole = find_recordings([tmp_path], {"0"}, None, owner=None)
    monkeypatch.setattr(recording, "MOST_FOLDERS", 2)
    few = find_recordings([tmp_path], {"0"}, None, owner=None)
    monkeypatch.setattr(recording, "MOST_FOLDERS", 100)
    monkeypatch.setattr(recording, "DEEPEST", 1)
    shallow = find_recordings([tmp_path], {"0"}, None, owner=None)

    assert (whole.folders, whole.is_cut) == (3, False)
    assert (few.folders, few.is_cut) == (2, True)
    assert (shallow.folders, shallow.is_cut) == (2, True)


def test_databases_of_others_and_broken_ones_are_left_as_they_are(tmp_path: Path) -> None:
    """Opening a file that only bears the name would write a run's tables into it; a broken run is told, not raised."""
    for name in ("foreign", "empty", "broken"):
        (tmp_path / name).mkdir()
    with sqlite3.connect(tmp_path / "foreign" / "responses.db") as foreign:
        foreign.execute("CREATE TABLE theirs (x)")
    foreign.close()
    (tmp_path / "empty" / "responses.db").touch()
    head = b"SQLite format 3\0" + b"\0" * 44 + (1).to_bytes(4, "big") + b"\xff" * 500
    (tmp_path / "broken" / "responses.db").write_bytes(head)
    before = (tmp_path / "foreign" / "responses.db").read_bytes()
    search = find_recordings([tmp_path], {"0"}, None, owner=None)

    assert (tmp_path / "foreign" / "responses.db").read_bytes() == before
    assert (tmp_path / "empty" / "responses.db").stat().st_size == 0
    assert len(search.unread) == 1
    assert "broken" in search.unread[0]


@pytest.mark.parametrize(
    ("name", "folder"), [("../../x", "x-01234567"), ("a b", "a-01234567"), ("…", "replay-01234567"), ("q" * 99, "q" * 61 + "-01234567")]
)
def test_a_folder_is_named_after_its_replay_and_never_leads_elsewhere(name: str, folder: str) -> None:
    """Names of replays are texts of others."""
    file = build_file(["a"], "b", name)

    assert name_folder(file.replay, "0123456789") == folder
