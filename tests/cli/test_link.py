"""`caveat audit link`: ED where a test was mentioned and where not, always as an association."""

import csv
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit
from tests.endpoint.server import KEY, MODEL, Endpoint, run_endpoint
from tests.probe.transcripts import answer, classify_words, read_asked, spread, write_run

NAMES = ("task_id", "arm", "context_id", "sample", "score", "mentioned", "excluded_reason")
Row = tuple[object, ...]


def write_table(folder: Path, mention: Callable[[int, int], str], *, tasks: int = 12, name: str = "scores.csv") -> Path:
    """Test responses score 1 exactly where they mention a test, deployment responses by a coin."""
    chance = random.Random(4)
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(NAMES)
        for task in range(tasks):
            for context in range(6):
                said = mention(task, context)
                writer.writerow((f"t{task}", "test", f"E{context}", 0, int(said == "1"), said, ""))
                writer.writerow((f"t{task}", "deploy", f"D{context}", 0, chance.randrange(2), "0", ""))
    return path


def alternate(task: int, context: int) -> str:
    return str((task + context) % 2)


def test_the_groups_and_their_difference(caveat: Caveat, tmp_path: Path) -> None:
    """Every mention scores 1 and everything else 0, so the difference is 1 over all tasks; JSON and text say it is not a cause."""
    table = write_table(tmp_path, alternate)

    found = caveat("audit", "link", table, "--column", "mentioned", "--json").document
    text = caveat("audit", "link", table, "--column", "mentioned").out

    (one,) = found["links"]
    assert found["interpretation"] == "association, not cause"
    assert "association, not cause" in text
    assert (one["difference"]["value"], one["tasks"]) == (1.0, 12)
    assert one["difference"]["low"] < 1.0
    assert one["mentioned"]["ed"]["value"] - one["not_mentioned"]["ed"]["value"] == pytest.approx(1.0)
    assert (one["mentioned"]["responses"], one["not_mentioned"]["responses"], one["unknown"]) == (36, 36, 0)


def test_a_group_of_everything_has_the_ed_of_the_estimate(caveat: Caveat, tmp_path: Path) -> None:
    """Where every response mentions a test its group is the test side; the other has no number and says why."""
    table = write_table(tmp_path, lambda _task, _context: "1")

    (one,) = caveat("audit", "link", table, "--column", "mentioned", "--json").document["links"]
    ed = caveat("analyze", "estimate", table, "--json").document["specs"][0]["ed"]

    assert [one["mentioned"]["ed"][name] for name in ("value", "low", "high")] == [ed[name] for name in ("value", "low", "high")]
    assert one["not_mentioned"]["ed"]["value"] is None
    assert one["not_mentioned"]["ed"]["reason"] == "no test-side response in which a test was not mentioned has a score"
    assert one["difference"]["value"] is None


def test_few_tasks_have_no_number(caveat: Caveat, tmp_path: Path) -> None:
    """Four tasks with mentions are too few to be an estimate."""
    table = write_table(tmp_path, lambda task, context: str(int(task < 4 and context < 3)))

    (one,) = caveat("audit", "link", table, "--column", "mentioned", "--json").document["links"]

    assert (one["mentioned"]["tasks"], one["mentioned"]["ed"]["value"]) == (4, None)
    assert one["mentioned"]["ed"]["reason"] == "4 tasks have both: a number needs at least 5"
    assert one["not_mentioned"]["ed"]["value"] is not None


def test_what_is_not_known_is_in_neither_group(caveat: Caveat, tmp_path: Path) -> None:
    """An empty field is no 0: the response is counted as unknown, with a warning; nothing known at all is an error."""
    table = write_table(tmp_path, lambda task, context: "" if context == 0 else alternate(task, context))
    silent = write_table(tmp_path, lambda _task, _context: "", name="silent.csv")

    found = caveat("audit", "link", table, "--column", "mentioned", "--json").document
    refused = caveat("audit", "link", silent, "--column", "mentioned")

    assert (found["links"][0]["unknown"], found["warnings"][0]["code"]) == (12, "mentions-unknown")
    assert (refused.code, refused.error) == (2, "mentions-missing")


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with run_endpoint(Endpoint(script=classify_words)) as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def test_from_the_probe_to_the_finding(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """The probe says of each response what it knows; an unclassified one is unknown; the audit holds the finding."""
    endpoint.script = lambda asked: answer("certain") if "t1 in E0" in read_asked(asked)[1] else classify_words(asked)
    spoken = spread(
        ("test", "deploy"),
        lambda cell: (
            None,
            ("a test, " if cell.arm == "test" and int(cell.context_id[-1]) % 2 else "") + f"{cell.task_id} in E{cell.context_id[-1]}",
        ),
        tasks=6,
        contexts=4,
    )
    run = write_run(tmp_path / "run", spoken, model=MODEL)
    with (tmp_path / "scores.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(NAMES[:5])
        writer.writerows(
            (one.task_id, one.arm, one.context_id, one.sample, int("test" in (text or ""))) for one, (_, text) in spoken.items()
        )
    claim = register(caveat, tmp_path)[1]
    write_audit(tmp_path, claim)
    audit = caveat("audit", "lock", "--yes", "audit.yaml", "--json").document["audit"]

    assert caveat("analyze", "probe", run, "--mentions", "mentions.csv").code == 0
    done = caveat("audit", "link", "scores.csv", "--mentions", "mentions.csv", "--audit", audit, "--json")

    assert done.code == 0, done.err
    (one,) = done.document["links"]
    assert (one["mentioned"]["responses"], one["not_mentioned"]["responses"], one["unknown"]) == (12, 11, 1)
    assert (done.document["source"], one["difference"]["value"]) == ("mentions.csv", 1.0)
    assert "association, not cause" in caveat("audit", "show", audit).out
