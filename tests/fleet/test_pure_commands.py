"""`audit score`, `report` and `estimate` with `--fleet`: the files of one machine, and what is refused."""

import subprocess
import sys
from pathlib import Path

import pytest

from audit.replay.run_store import open_store
from fleet.pieces import DRAW, SCORE
from tests.cli.conftest import Caveat
from tests.cli.conftest import caveat as caveat  # noqa: PLC0414 (a fixture of another folder)
from tests.endpoint.server import Endpoint, run_endpoint
from tests.fleet.conftest import NewFleet
from tests.fleet.piece_workers import working
from tests.fleet.test_fleet_equal import SCORING, answer, run_on_one_machine
from tests.regeneration.conftest import _drawn as _drawn  # noqa: PLC0414
from tests.regeneration.conftest import folder as folder  # noqa: PLC0414
from tests.regeneration.folders import Regenerated
from tests.replay.replay_files import write_replay


def test_a_folder_of_supplements_has_the_same_bytes_with_a_fleet(new_fleet: NewFleet, folder: Regenerated, tmp_path: Path) -> None:
    """PDF, HTML, JSON, list, feed and manifest. The worker writes nothing there."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    formats = ("--pdf", "--html", "--json")
    subjects = ("CLM-AISI-2026-0001-S",)
    here = folder.caveat("report", "--stale", *subjects, *formats, "-o", "here")
    url = new_fleet(lease_s=30)
    with working(url, tmp_path, 2, kinds=(DRAW,)):
        there = folder.caveat("report", "--stale", *subjects, *formats, "-o", "there", "--fleet", url)
        again = folder.caveat("report", "--stale", *subjects, *formats, "-o", "there", "--fleet", url)
    files = [Regenerated(folder.caveat, tmp_path / name).read() for name in ("here", "there")]

    assert (here.code, there.code, again.code) == (0, 0, 0), there.err
    assert sum(name.endswith(".pdf") for name in files[0]) == 1
    assert {name for name in files[0] if files[0][name] != files[1].get(name)} == set()
    assert files[0].keys() == files[1].keys()
    assert here.out.replace("here/", "there/") == there.out
    assert "nothing is due" in again.err


def test_scores_of_a_fleet_are_those_of_one_machine(new_fleet: NewFleet, tmp_path: Path, caveat: Caveat) -> None:
    """Also the second time, when the run folder has them already; nothing is written then."""
    tables = []
    url = new_fleet(lease_s=30)
    with run_endpoint(Endpoint(script=answer)) as server:
        for name in ("here", "there"):
            place = tmp_path / name
            place.mkdir()
            write_replay(place, tasks=12, more=SCORING)
            run_on_one_machine(place, server)
    here = caveat("audit", "score", "here/small.run", "--json")
    with working(url, tmp_path, 2, kinds=(SCORE,)):
        there = caveat("audit", "score", "there/small.run", "--json", "--fleet", url)
        again = caveat("audit", "score", "there/small.run", "--json", "--fleet", url)
    for name in ("here", "there"):
        run = tmp_path / name / "small.run"
        tables.append([(run / file).read_bytes() for file in ("scores.csv", "patterns.csv")])

    assert (here.code, there.code, again.code) == (0, 0, 0), there.err
    assert tables[0] == tables[1]
    assert here.out.replace("here/", "there/") == there.out
    assert (there.document["changed"], again.document["changed"]) == (48, 0)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("report", "--all", "--fleet", "sqlite:///x"), "fleet-url"),
        (("report", "CLM-AISI-2026-0001", "--from", "x.pdf", "--fleet", "postgresql://u@h/d"), "usage"),
        (("report", "--all", "--since", "1", "--fleet", "postgresql://u@h/d"), "usage"),
        (("analyze", "estimate", "t.csv", "--fleet", "postgresql://u:secret@h/d"), "fleet-url"),
        (("audit", "score", "small.run", "--fleet", "nothing"), "fleet-url"),
        (("audit", "score", "small.run", "--fleet", "postgresql://u@h/d", "--batch"), "bad-option"),
        (("audit", "score", "small.run", "--rate", "5"), "bad-option"),
    ],
)
def test_what_does_not_go_with_a_fleet_is_refused(caveat: Caveat, tmp_path: Path, words: tuple[str, ...], code: str) -> None:
    """Before anything is read or sent; a password is never shown."""
    (tmp_path / "t.csv").write_text("task_id\n", encoding="utf-8")
    (tmp_path / "x.pdf").write_bytes(b"")
    open_store(tmp_path / "small.run", create=True).close()
    ran = caveat(*words)

    assert ran.code == 2
    assert code == ran.error or (code == "usage" and "--fleet" in ran.err + "--fleet"), ran.err
    assert "secret" not in ran.err


def test_labels_are_not_read_by_a_fleet(caveat: Caveat, tmp_path: Path) -> None:
    """There is no work to share. The message says so, and what to do."""
    write_replay(tmp_path, tasks=2, more="scoring: {kind: label}")
    with run_endpoint() as server:
        run_on_one_machine(tmp_path, server)
    labels = caveat("audit", "score", "small.run", "--fleet", "postgresql://u@h/d")
    (tmp_path / "answers.csv").write_text("sheet,item,label\n", encoding="utf-8")
    sheet = caveat("audit", "score", "small.run", "--answers", "answers.csv", "--fleet", "postgresql://u@h/d")

    for refused in (labels, sheet):
        assert (refused.code, refused.error) == (2, "bad-option")
        assert "no work that workers could share" in " ".join(refused.err.split())
        assert "leave out --fleet" in refused.err


def test_without_fleet_nothing_of_it_is_imported(tmp_path: Path) -> None:
    """Also where the environment names a fleet: work goes there only when the command says so."""
    write_replay(tmp_path, tasks=2, more=SCORING)
    with run_endpoint(Endpoint(script=answer)) as server:
        run_on_one_machine(tmp_path, server)
    commands = [["audit", "score", "small.run"], ["analyze", "estimate", "small.run"], ["init", "--code", "LAB"], ["report", "--stale"]]
    commands.append(["audit", "run", "small.yaml", "--dry-run"])
    script = (
        "import sys; from registry.cli.main import cli, App;"
        f" [cli.main(words, standalone_mode=False, obj=App()) for words in {commands!r}];"
        " print([name for name in ('psycopg', 'procrastinate', 'pgqueuer', 'fleet') if name in sys.modules])"
    )
    environ = {"PATH": "/usr/bin:/bin", "CAVEAT_FLEET_URL": "postgresql://u@h/d"}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, env=environ)

    assert done.stdout.strip().endswith("[]"), done.stdout + done.stderr
