"""Templates of contexts in a run folder: an interrupted run goes on with the `made_from` that it began with."""

import csv
import os
import signal
from itertools import count
from pathlib import Path
from typing import Any

from audit.replay.replay_provenance import CONTEXTS
from audit.replay.run_rows import read_clusters
from audit.replay.run_store import list_versions, open_store
from tests.endpoint.server import Asked, Endpoint, Reply, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import write_replay

RUN = ("audit", "run", "small.yaml", "--concurrency", "2", "--json")
SCORING = "scoring: {kind: pattern, score: any_expected, expected: [sum]}"
CELLS = [(arm, f"{arm}-{number}") for arm in ("test", "deploy") for number in (1, 2)]
"""Arms and contexts."""


def write_templates(folder: Path) -> None:
    """Write a replay of 40 calls, both contexts of a side made from one template."""
    write_replay(folder, more=SCORING)
    for name in ("test", "deploy"):
        path = folder / f"{name}.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace("{id:", f"{{made_from: {name} form, id:"), encoding="utf-8")


def read_folder(folder: Path) -> tuple[list[dict[str, Any]], dict[tuple[str, str], str]]:
    """Return the versions of the contexts in the run folder, and the templates of the contexts by arm and name."""
    store = open_store(folder / "small.run")
    versions, templates = list_versions(store, CONTEXTS), dict(read_clusters(store).templates)
    store.close()
    return versions, templates


def interrupt_at(number: int) -> Endpoint:
    """An endpoint at whose request *number* somebody presses Ctrl-C."""
    numbers = count(1)

    def answer(_asked: Asked) -> Reply:
        if next(numbers) == number:
            os.kill(os.getpid(), signal.SIGINT)
        return Reply(text="The sum.", delay_s=0.02)

    return Endpoint(script=answer)


def test_an_interrupted_run_goes_on_with_the_templates_it_began_with(tmp_path: Path, caveat: Caveat) -> None:
    """Nothing is asked twice, the contexts are one version, and every row of the table has its template."""
    write_templates(tmp_path)
    with run_endpoint(interrupt_at(6)) as server:
        first = caveat(*RUN, server=server)
        asked = len(server.posts())
        begun = read_folder(tmp_path)
        rest = caveat(*RUN, server=server)
        again = caveat(*RUN, server=server)
    assert caveat("audit", "score", "small.run").code == 0
    with (tmp_path / "small.run" / "scores.csv").open(encoding="utf-8", newline="") as stream:
        rows = [(row["arm"], row["context_id"], row["template"]) for row in csv.DictReader(stream)]

    assert (first.document["interrupted"], rest.code, again.code) == (True, 0, 0)
    assert 6 <= asked < 40
    assert (rest.document["settled_before"], rest.document["answered"], again.document["answered"]) == (asked, 40 - asked, 0)
    assert len({str(one.body) for one in server.posts()}) == len(server.posts()) == 40
    assert begun == read_folder(tmp_path)
    assert (len(begun[0]), begun[1]) == (1, {cell: f"{cell[0]} form" for cell in CELLS})
    assert sorted(rows) == sorted(10 * [(arm, context, f"{arm} form") for arm, context in CELLS])


def test_templates_that_are_renamed_after_an_interruption_are_a_new_version(tmp_path: Path, caveat: Caveat) -> None:
    """Requests are the same, so nothing is asked twice; the version that the run began with stays in the folder."""
    write_templates(tmp_path)
    with run_endpoint(interrupt_at(6)) as server:
        caveat(*RUN, server=server)
        (before,), _ = read_folder(tmp_path)
        path = tmp_path / "deploy.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace("deploy form, id: deploy-2", "other form, id: deploy-2"), encoding="utf-8")
        rest = caveat(*RUN, server=server)
    versions, templates = read_folder(tmp_path)

    assert rest.code == 0, rest.err
    assert len(server.posts()) == 40
    assert versions[0] == before != versions[1]
    assert (len(versions), templates["deploy", "deploy-1"], templates["deploy", "deploy-2"]) == (2, "deploy form", "other form")
