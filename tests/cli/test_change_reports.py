"""The change report by the command line: drawn, limited, checked, refused."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from registry.codec.canonical_documents import canonical_bytes
from tests.cli.conftest import HERE, Answer, Caveat
from tests.cli.scenario import register, write_audit, write_scores


@dataclass(frozen=True)
class Told:
    """A registry in which a claim was carried to a new model version and audited again."""

    before: int
    """Entries before the new version."""
    linked: int
    """Entries when it was registered, and nothing else."""
    after: int
    claims: list[str]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("changed")


@pytest.fixture
def told(caveat: Caveat, tmp_path: Path, kept: Path) -> Told:
    """The registry in a folder of its own; made by the first test that asks, copied for the others."""
    if not (kept / "told.json").exists():
        (kept / "told.json").write_text(json.dumps(asdict(build(caveat, tmp_path))))
        shutil.copytree(tmp_path, kept, dirs_exist_ok=True)
    else:
        shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    return Told(**json.loads((kept / "told.json").read_text()))


def build(caveat: Caveat, folder: Path) -> Told:
    claims = register(caveat, folder)
    assert caveat("audit", "conclude", write_audit(folder, claims[0]), write_scores(folder / "one.csv", test=0.05, deploy=0.06)).code == 0
    before = size(caveat)
    assert caveat("model", "update", "LAB/M/1", "LAB/M/2").code == 0
    linked, bare = size(caveat), claims[0].partition("@")[0]
    carried = caveat("stale", "apply", bare, "--reason", "offered under the same card")
    assert carried.code == 0, carried.err
    # Responses of version 1 would be no point of version 2.
    scores = write_scores(folder / "two.csv", test=0.05, deploy=0.5, model="m-2")
    again = caveat("audit", "conclude", write_audit(folder, f"{bare}@2"), scores)
    assert again.code == 0, again.err
    return Told(before=before, linked=linked, after=size(caveat), claims=[one.partition("@")[0] for one in claims])


def size(caveat: Caveat) -> int:
    return int(caveat("admin", "log", "show", "--json").document["size"])


def checks(answer: Answer) -> list[dict[str, str]]:
    return [{one["name"]: one["answer"] for one in file["checks"]} for file in answer.document["files"]]


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_since_draws_the_change_report_and_nothing_else(caveat: Caveat, tmp_path: Path, told: Told) -> None:
    """Files named by their two entries; the carried claim comes with both models and what moved."""
    before, after, claims = told.before, told.after, told.claims

    answer = caveat("report", "--since", str(before), "--html", "--json", "-o", "out")

    assert answer.code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"changes-{before}-{after}.{end}" for end in ("html", "json")]
    document = read(tmp_path / "out" / f"changes-{before}-{after}.json")
    first = next(one for one in document["changes"] if one["claim"] == claims[0])
    assert (first["before"]["model"]["version"], first["after"]["model"]["version"]) == ("1", "2")
    assert first["steps"][0]["ed"]["value"] < -0.3
    assert document["occasions"][0]["kind"] == "model"


def test_every_form_is_verified_and_drawn_again(caveat: Caveat, tmp_path: Path, told: Told) -> None:
    """Bytes, record, entries and registry are in order; drawn from what one carries the same bytes come."""
    caveat("report", "--since", str(told.before), "-o", "out")
    files = sorted((tmp_path / "out").iterdir())

    verified = caveat("verify", *HERE, *files, "--json")
    rerendered = caveat("report", "--from", files[2], "--pdf", "--html", "--json", "-o", "again")

    assert verified.code == rerendered.code == 0
    for one in checks(verified):
        assert [one[name] for name in ("bytes", "record", "entries", "registry", "current")] == ["yes"] * 5
        assert one["lock"] == one["published"] == "not_checked"
    # The HTML page links to the other forms, so all of them are rendered again.
    assert [path.read_bytes() for path in files] == [path.read_bytes() for path in sorted((tmp_path / "again").iterdir())]


def test_an_altered_report_is_told_by_the_registry(caveat: Caveat, tmp_path: Path, told: Told) -> None:
    """A number that was changed in the record, and a claim that was left out, are not what the registry says."""
    caveat("report", "--since", str(told.before), "--json", "-o", "out")
    (path,) = (tmp_path / "out").iterdir()
    document = read(path)
    first = {**document["changes"][0], "why": ["Nothing happened."]}

    for altered in ({"unchanged": 7}, {"changes": [first, *document["changes"][1:]]}, {"changes": document["changes"][1:]}):
        path.write_bytes(canonical_bytes({**document, **altered}))
        answer = caveat("verify", *HERE, path, "--json")

        assert answer.code == 1
        assert checks(answer)[0]["registry"] == "no"


def test_what_came_later_is_told_as_newer(caveat: Caveat, tmp_path: Path, told: Told) -> None:
    """The report still holds; it is not the latest word."""
    before, claims = told.before, told.claims
    caveat("report", "--since", str(before), "--json", "-o", "out")
    (path,) = (tmp_path / "out").iterdir()
    caveat("claim", "withdraw", claims[1], "--reason", "retracted", "--yes")

    answer = caveat("verify", *HERE, path, "--json")

    assert answer.code == 0
    assert checks(answer)[0]["registry"] == "yes"
    (current,) = [one for one in answer.document["files"][0]["checks"] if one["name"] == "current"]
    assert current["answer"] == "no"
    assert f"{claims[1]} changed" in current["note"]


def test_claims_and_cards_limit_it(caveat: Caveat, tmp_path: Path, told: Told) -> None:
    """Its files have a name of their own, and say what they are limited to."""
    before, claims = told.before, told.claims
    card = caveat("card", "list", "--json").document["cards"][0]["card"]

    assert caveat("report", "--since", str(before), claims[0], "--json", "-o", "one").code == 0
    assert caveat("report", "--since", str(before), card, "--json", "-o", "card").code == 0

    (one,), (of_card,) = (list((tmp_path / name).iterdir()) for name in ("one", "card"))
    assert [change["claim"] for change in read(one)["changes"]] == [claims[0]]
    assert read(one)["scope"] == claims[0]
    assert read(of_card)["claims"] == sorted(claims)
    assert one.name != of_card.name
    assert checks(caveat("verify", *HERE, one, of_card, "--json"))[0]["registry"] == "yes"


def test_the_end_may_be_earlier_than_now(caveat: Caveat, tmp_path: Path, told: Told) -> None:
    """As of the entry of the new model, no one had carried anything."""
    before, linked = told.before, told.linked

    answer = caveat("report", "--since", str(before), "--as-of", str(linked), "--json", "-o", "out")

    assert answer.code == 0
    document = read(tmp_path / "out" / f"changes-{before}-{linked}.json")
    assert sorted(one["claim"] for one in document["changes"]) == sorted(told.claims)
    assert {one["after"]["status"]["staleness"] for one in document["changes"]} == {"needs_review"}
    assert not any(one["newly_inverted"] for one in document["changes"])


@pytest.mark.usefixtures("told")
def test_a_date_counts_from_the_beginning_of_its_day(caveat: Caveat, tmp_path: Path) -> None:
    """All of it was recorded on the day that is named, or after it; of a day to come nothing is."""
    assert caveat("report", "--since", "2020-01-01", "--json", "-o", "all").code == 0
    empty = caveat("report", "--since", "2200-01-01", "--json", "-o", "none")
    assert empty.code == 0

    ((everything,), (nothing,)) = (list((tmp_path / name).iterdir()) for name in ("all", "none"))
    assert (read(everything)["since"], read(everything)["since_at"]) == (0, None)
    assert all(one["before"] is None for one in read(everything)["changes"])
    assert read(nothing)["changes"] == []
    assert "--since 2200-01-01: nothing was recorded since" in empty.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--since", "1", "--publish", "--yes"), "--publish"),
        (("--since", "1", "--stale"), "--stale"),
        (("--since", "yesterday"), "--since"),
        (("--since", "99999"), "the log has"),
        (("--since", "9", "--as-of", "3"), "name an earlier entry"),
        (("--since", "1", "AUD-AISI-2026-0001-7"), ""),
        (("--since", "1", "CLM-AISI-2026-0099-X"), ""),
    ],
)
@pytest.mark.usefixtures("told")
def test_what_makes_no_report_is_refused(caveat: Caveat, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """With what to do instead, and without a file."""
    answer = caveat("report", *arguments, "-o", "out")

    assert answer.code == 2
    assert said in answer.err
    assert not (tmp_path / "out").exists()


def test_a_signed_report_is_verified_by_its_signature(caveat: Caveat, tmp_path: Path, told: Told) -> None:
    """No log says that it was published, so a signature is what vouches for it elsewhere."""
    assert caveat("report", "--since", str(told.before), "--pdf", "--sign", "-o", "out").code == 0
    (path,) = (tmp_path / "out").iterdir()

    answer = checks(caveat("verify", *HERE, path, "--json"))[0]

    assert (answer["signature"], answer["bytes"], answer["registry"]) == ("yes", "yes", "yes")


def test_its_schema_is_published(caveat: Caveat) -> None:
    """For whoever reads the JSON."""
    assert "changes" in caveat("admin", "schema", "change-report").document["properties"]


def test_what_a_person_decided_is_a_reason(caveat: Caveat, tmp_path: Path, told: Told) -> None:
    """Confirmed and dismissed, with the words that were given, and where that left the claim."""
    _, confirmed, dismissed = told.claims
    caveat("stale", "confirm", confirmed, "--reason", "M 2 was trained <i>otherwise</i>")
    caveat("stale", "dismiss", dismissed, "--reason", "It happened once, whatever came later")

    assert caveat("report", "--since", str(told.after), "--json", "--html", "-o", "out").code == 0

    html, record = sorted((tmp_path / "out").iterdir())
    changes = {one["claim"]: one for one in read(record)["changes"]}
    assert changes.keys() == {confirmed, dismissed}
    assert [changes[one]["after"]["status"]["staleness"] for one in (confirmed, dismissed)] == ["stale", "current"]
    assert "takes away what it rests on: “M 2 was trained <i>otherwise</i>”" in changes[confirmed]["why"][0]
    assert "does not touch it: “It happened once" in changes[dismissed]["why"][0]
    assert "<i>" not in html.read_text(encoding="utf-8").partition('<script type="application/json"')[0]
