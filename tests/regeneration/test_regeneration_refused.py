"""What a regeneration refuses or cannot draw: a clear error, the rest is done, and the exit code tells."""

import json
from pathlib import Path

import pytest

from registry.codec.canonical_documents import canonical_bytes
from tests.cli.conftest import Caveat
from tests.regeneration.folders import COVERT, REFUSAL, SCHEMING, Regenerated, bend_templates


def change_manifest(folder: Regenerated, **changes: object) -> None:
    (folder.path / "supplements.json").write_bytes(canonical_bytes(folder.manifest() | changes))


def test_a_change_of_template_draws_everything_once_and_says_why(folder: Regenerated, tmp_path: Path) -> None:
    """Drafts are rendered with the new ones."""
    with bend_templates(tmp_path / "bent", "screen.css", "font-size: 17px", "font-size: 18px"):
        told = folder.regenerate()
        again = folder.regenerate()

    assert "4 of 4 supplements were due: 4 × the templates, fonts or libraries that draw it changed" in told.err
    assert again.err.startswith("nothing is due")
    assert b"font-size: 18px" in folder.find(COVERT, "html").read_bytes()


def test_what_was_published_is_not_published_again_for_its_looks(folder: Regenerated, tmp_path: Path) -> None:
    """A published file says the same with other templates, and stays; once what it says changes, newer files get other names."""
    folder.regenerate("--publish", "--yes")
    before = folder.see()
    with bend_templates(tmp_path / "bent", "screen.css", "font-size: 17px", "font-size: 18px"):
        told = folder.regenerate("--publish", "--yes")
        same = folder.see() == before
        folder.withdraw()
        folder.regenerate("--publish", "--yes")
    folder.withdraw(REFUSAL)
    folder.regenerate("--publish", "--yes")

    after = folder.see()
    assert (told.err.startswith("nothing is due"), same) == (True, True)
    kept = [name for name in before if name[:3] in ("CLM", "CRD")]
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert len([name for name in after if name.startswith("CRD") and name.endswith(".html")]) == 3


def test_a_record_on_which_the_template_fails_keeps_its_old_file(folder: Regenerated, tmp_path: Path) -> None:
    """It is named with its error, the others are rendered, and it is due again the next time."""
    before = folder.read()
    name = folder.find(REFUSAL).stem
    failing = "{% block content %}{% if supplement.identifier.startswith('" + name + "') %}{{ nobody.knows }}{% endif %}"
    with bend_templates(tmp_path / "bent", "claim.html.j2", "{% block content %}", failing):
        told = folder.regenerate()
        again = folder.regenerate()
        after = folder.read()
    mended = folder.regenerate()

    assert (told.code, again.code) == (3, 3)
    assert "error[not-renderable]" in told.err
    assert f"  --> {name}" in told.err
    assert "nobody" in told.err
    assert "1 of 4 could not be rendered" in told.err
    assert "1 of 4 supplements were due" in again.err
    assert all(after[f"{name}.{one}"] == before[f"{name}.{one}"] for one in ("html", "json"))
    assert after[f"{folder.find(COVERT).stem}.html"] != before[f"{folder.find(COVERT).stem}.html"]
    assert mended.code == 0, mended.err


def test_a_claim_whose_statement_was_erased_is_named(folder: Regenerated) -> None:
    """Its old files stay and are said to tell what was so then; the others are rendered."""
    name = folder.find(COVERT).stem
    before = folder.read()
    entries = folder.caveat("admin", "log", "show", "--json").document["entries"]
    (seq,) = (one["entry"]["seq"] for one in entries if one["entry"]["kind"] == "claim_revision" and name[:-2] in json.dumps(one))
    assert folder.caveat("admin", "log", "erase", str(seq), "--reason", "a court order", "--yes").code == 0

    told = folder.regenerate()

    after = folder.read()
    assert told.code == 3
    assert "error[body-erased]" in told.err
    assert f"  --> {name}" in told.err
    assert "the files that were there still are" in told.err
    assert after[f"{name}.json"] == before[f"{name}.json"]
    assert folder.regenerate("--check").out.startswith(name)


def test_a_manifest_that_is_none_is_refused(folder: Regenerated) -> None:
    """With what is wrong in it, and nothing is rendered."""
    manifest = folder.path / "supplements.json"
    sound = manifest.read_bytes()
    answers = []
    for text in (b"", b"[]", b"{}", sound[:-20], sound.replace(b'"log_size"', b'"logsize"', 1), b"\xff"):
        manifest.write_bytes(text)
        answers.append(folder.regenerate())

    assert [one.code for one in answers] == [2] * 6
    assert all("supplements.json" in one.err for one in answers)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"log_origin": "caveat.log/OTHER/0000000000000000"}, "folder-of-another-log"),
        ({"root": "0" * 64}, "folder-of-another-log"),
        ({"log_size": 10_000}, "folder-ahead"),
    ],
)
def test_a_folder_of_another_registry_is_refused(folder: Regenerated, changes: dict[str, object], code: str) -> None:
    """Another log, another history under the same name, or a later state than this registry has."""
    change_manifest(folder, **changes)
    before = folder.see()

    told = folder.regenerate()

    assert (told.code, code in told.err) == (2, True)
    assert folder.see() == before


@pytest.mark.parametrize("path", ["../notes.json", "/etc/hosts", "superseded/x.json", "index.html"])
def test_a_manifest_that_names_other_files_is_refused(folder: Regenerated, path: str) -> None:
    """A manifest comes with the folder, perhaps from others: it cannot make us read, move or replace what is no supplement of it."""
    items = folder.manifest()["items"]
    items[0]["files"][0]["path"] = path
    change_manifest(folder, items=items)

    told = folder.regenerate()

    assert (told.code, "folder-name" in told.err) == (2, True)


def test_an_empty_registry_makes_an_empty_folder(caveat: Caveat, tmp_path: Path) -> None:
    """Nothing is registered, so nothing is due."""
    assert caveat("init", "--code", "AISI").code == 0

    told = caveat("report", "--stale", "--json", "-o", "out")

    assert told.code == 0
    assert "nothing is due" in told.err
    assert list((tmp_path / "out").iterdir()) == []


def test_where_every_record_fails_all_are_told_and_nothing_is_replaced(folder: Regenerated, tmp_path: Path) -> None:
    """Not one file changes."""
    before = folder.see()
    with bend_templates(tmp_path / "bent", "base.html.j2", "<!DOCTYPE html>", "<!DOCTYPE html>{{ nobody }}"):
        told = folder.regenerate()

    assert told.code == 3
    assert all(name in told.err for name in (SCHEMING, REFUSAL, COVERT, "CRD-"))
    assert "4 of 4 could not be rendered" in told.err
    assert {name: seen for name, seen in folder.see().items() if not name.endswith(".part")} == before


def test_an_earlier_file_that_is_altered_is_told(folder: Regenerated) -> None:
    """Also a change report; neither can be drawn again as it was. What is taken away is forgotten, and no link leads to it."""
    folder.regenerate("--publish", "--yes")
    first = folder.find(COVERT)
    folder.withdraw()
    folder.regenerate("--publish", "--yes")
    report = folder.find("changes-")
    for path in (first, report):
        path.write_bytes(path.read_bytes().replace(b"CLM", b"clm"))

    told = folder.regenerate()
    first.unlink()
    report.unlink()
    folder.withdraw(REFUSAL)
    after = folder.regenerate()

    assert (told.code, told.err.count("ALTERED: ")) == (1, 2)
    assert (after.code, after.err.count("ALTERED: ")) == (0, 0)
    assert f'"{first.name}"' not in (folder.path / "index.html").read_text("utf-8")
    assert folder.regenerate().code == 0


@pytest.mark.parametrize("name", ["index.html", "feed.xml"])
def test_a_page_that_was_edited_is_written_again(folder: Regenerated, name: str) -> None:
    """The list and the feed are held against the manifest."""
    sound = (folder.path / name).read_bytes()
    (folder.path / name).write_bytes(sound.replace(b"upplements", b"upplanters"))

    checked = folder.regenerate("--check")
    told = folder.regenerate()

    assert (checked.code, checked.out.partition(" ")[0]) == (1, name)
    assert (told.code, f"ALTERED: {name}" in told.err) == (0, True)
    assert (folder.path / name).read_bytes() == sound
    assert folder.regenerate().err.startswith("nothing is due")


def test_a_manifest_that_lies_about_a_claim_is_found_out(folder: Regenerated) -> None:
    """The status that the list shows is held against the registry; what differs is rendered anew."""
    items = folder.manifest()["items"]
    (item,) = (one for one in items if one["name"].startswith(SCHEMING))
    item["summary"]["status"]["restriction"] = "not_supported"
    change_manifest(folder, items=items)

    told = folder.regenerate()
    (mended,) = (one for one in folder.manifest()["items"] if one["name"].startswith(SCHEMING))

    assert "the folder's supplements.json differed from the registry" in told.err
    assert mended["summary"]["status"]["restriction"] != "not_supported"
    assert folder.regenerate().err.startswith("nothing is due")
