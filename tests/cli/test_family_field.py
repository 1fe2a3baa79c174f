"""`--family-field`: the families of tasks as a log itself names them, by the command line."""

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit
from tests.sources.eval_archive import build_sample, write_log
from tests.sources.log_fixtures import EVERY_EVAL_INSPECT, HARNESS, change_lines, copy_every_eval, copy_harness

QUESTIONS = {
    "harbour": "Who paid for wall {} of the new harbour?",
    "orchard": "Name the apples that grew in row {}.",
    "station": "How long did the train wait at platform {} during the strike?",
    "library": "Quote what a visitor wrote on page {}.",
}
"""By document."""
DOCUMENTS = tuple(QUESTIONS)
FIELD = ("--family-field", "sample.metadata.document")
SOURCES = ("test=one.eval", "deploy=two.eval")


def build(place: int, *, right: int, is_named: bool = True) -> dict[str, Any]:
    """The sample of one of eight questions, two on each document, that differ in a number; those before *right* are right."""
    document = DOCUMENTS[place // 2]
    asked = QUESTIONS[document].format(place)
    value = "C" if place < right else "I"
    return build_sample(f"q{place}", value, input=asked, metadata={"document": document} if is_named else {})


def write_pair(folder: Path, *, unnamed: dict[str, tuple[int, ...]] | None = None) -> None:
    """Write both logs; *unnamed* says of a log which tasks name no document in it."""
    for name, right in (("one.eval", 5), ("two.eval", 3)):
        without = (unnamed or {}).get(name, ())
        write_log(folder, *(build(place, right=right, is_named=place not in without) for place in range(8)), name=name)


def read_families(path: Path) -> list[tuple[str, str | None]]:
    """Return task and family of each row of a score table."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [(row["task_id"], row.get("family")) for row in csv.DictReader(stream)]


def test_a_log_of_inspect_names_the_family_in_its_samples(caveat: Caveat, tmp_path: Path) -> None:
    """The table of the logs has a column `family` with what stands in each sample; without the option it has none."""
    write_pair(tmp_path)

    plain = caveat("audit", "table", *SOURCES, "-o", "plain.csv")
    named = caveat("audit", "table", *SOURCES, *FIELD, "-o", "named.csv")

    assert (plain.code, named.code) == (0, 0), named.err
    assert {family for _, family in read_families(tmp_path / "plain.csv")} == {None}
    assert sorted(read_families(tmp_path / "named.csv")) == sorted(2 * [(f"q{place}", DOCUMENTS[place // 2]) for place in range(8)])


def test_an_audit_of_logs_counts_the_families(caveat: Caveat, tmp_path: Path) -> None:
    """Eight tasks are four families, too few for a class; near-duplicates are explained; by way of a table the estimate is the same."""
    claim, other, _ = register(caveat, tmp_path)
    write_pair(tmp_path)

    plain = caveat("audit", "table", *SOURCES, "-o", "plain.csv")
    named = caveat("audit", "table", *SOURCES, *FIELD, "-o", "named.csv")
    direct = caveat("audit", "conclude", write_audit(tmp_path, other), *SOURCES, *FIELD, "--json")
    by_table = caveat("audit", "conclude", write_audit(tmp_path, claim), "named.csv", "--json")

    assert (named.code, direct.code, by_table.code) == (0, 0, 0), direct.err
    estimate = direct.document["restriction"]["estimate"]
    counts = estimate["specs"][0]["n"]
    assert (counts["tasks"], counts["families"]) == (8, 4)
    assert "few-families" in {one["code"] for one in estimate["warnings"]}
    assert by_table.document["restriction"]["estimate"]["specs"] == estimate["specs"]
    assert ["no common family" in one.out + one.err for one in (plain, named, direct)] == [True, False, False]


@pytest.mark.parametrize(
    ("logs", "code", "families"), [(("one.eval", "two.eval"), "family-blank", 5), (("two.eval",), "family-one-side", 4)], ids=str
)
def test_samples_that_lack_the_field_are_told(caveat: Caveat, tmp_path: Path, logs: tuple[str, ...], code: str, families: int) -> None:
    """Tasks that name no family count one by one, with a warning; a family that one log names counts for both sides, with another."""
    _, claim, _ = register(caveat, tmp_path)
    write_pair(tmp_path, unnamed=dict.fromkeys(logs, (6, 7)))

    done = caveat("audit", "conclude", write_audit(tmp_path, claim), *SOURCES, *FIELD, "--json")

    assert done.code == 0, done.err
    estimate = done.document["restriction"]["estimate"]
    assert code in {one["code"] for one in estimate["warnings"]}
    assert estimate["specs"][0]["n"]["families"] == families


@pytest.mark.parametrize("field", ["sample.metadata.dokument", "metadata.document", "sample.metadata"])
def test_a_field_that_no_sample_has_is_refused(caveat: Caveat, tmp_path: Path, field: str) -> None:
    """A slip declares nothing in silence: no table is written, and the message names field and option."""
    write_pair(tmp_path)

    done = caveat("audit", "table", *SOURCES, "--family-field", field, "-o", "scores.csv")

    assert (done.code, "unknown-name" in done.err, field in done.err, "--family-field" in done.err) == (2, True, True, True)
    assert not (tmp_path / "scores.csv").exists()


def test_logs_of_the_harness_name_the_family_in_their_documents(caveat: Caveat, tmp_path: Path) -> None:
    """`doc.gold` is a field of each document; documents with the same value are one family."""
    sources = [f"{arm}={copy_harness(tmp_path, arm)}" for arm in HARNESS]

    done = caveat(
        "audit", "table", *sources, "--scorer", "exact_match", "--key", "strict-match", "--family-field", "doc.gold", "-o", "out.csv"
    )

    assert done.code == 0, done.err
    families = dict(read_families(tmp_path / "out.csv"))
    assert [families[f"sums_free/{place}"] for place in range(3)] == ["1", "0", "2"]


def test_converted_logs_name_the_family_in_their_metadata(caveat: Caveat, tmp_path: Path) -> None:
    """In every_eval's lines, metadata of the sample."""
    sources = []
    for arm, run in EVERY_EVAL_INSPECT.items():
        path = copy_every_eval(tmp_path, run)
        change_lines(path, lambda lines: [{**line, "metadata": {**line["metadata"], "document": line["sample_id"][0]}} for line in lines])
        sources.append(f"{arm}={path.name}")

    done = caveat("audit", "table", *sources, "--family-field", "metadata.document", "--unfinished", "-o", "out.csv")

    assert done.code == 0, done.err
    read = read_families(tmp_path / "out.csv")
    assert len(read) == 24
    assert all(task.partition("/")[2][0] == family for task, family in read)


def test_a_score_table_has_a_column_and_no_field(caveat: Caveat, tmp_path: Path) -> None:
    """The option would be without effect, so it is refused."""
    _, claim, _ = register(caveat, tmp_path)
    (tmp_path / "scores.csv").write_text("task_id,arm,context_id,sample,score,family\na,test,c,1,1,f\n", encoding="utf-8")

    done = caveat("audit", "conclude", write_audit(tmp_path, claim), "scores.csv", *FIELD)

    assert (done.code, "option-for-logs" in done.err, "--family-field" in done.err) == (2, True, True)
