"""A folder of supplements by the command line: only what is due is rendered, and nothing that was there is lost."""

import json
from pathlib import Path

import pytest

from registry.records.statement import OutputFormat
from tests.cli.conftest import HERE, Caveat
from tests.cli.scenario import register
from tests.regeneration.folders import COVERT, REFUSAL, SCHEMING, Regenerated


def test_the_first_call_draws_every_claim_and_card(folder: Regenerated) -> None:
    """In the formats asked for, with a manifest, a page that lists all, and a feed; no change report, since nothing came before."""
    names = set(folder.read())

    assert len([name for name in names if name.startswith("CLM-")]) == 6
    assert len([name for name in names if name.startswith("CRD-")]) == 2
    assert names - {name for name in names if name[:3] in ("CLM", "CRD")} == {"supplements.json", "index.html", "feed.xml"}


def test_nothing_is_written_where_nothing_is_due(folder: Regenerated) -> None:
    """The answer says so, and every file is the very one."""
    before = folder.see()

    again = folder.regenerate()

    assert (again.code, again.out) == (0, "")
    assert "nothing is due: all 4 supplements are as the registry has them" in again.err
    assert folder.see() == before


def test_only_what_changed_is_drawn(folder: Regenerated) -> None:
    """The files of one claim and its card are replaced; those of the others are the very same files, not only the same bytes."""
    before = folder.see()
    folder.withdraw()

    told = folder.regenerate()

    after = folder.see()
    same = {name for name in before if after[name] == before[name]}
    assert told.code == 0
    assert "2 of 4 supplements were due: 2 × a claim was withdrawn (entry " in told.err
    assert {name[:17] for name in same} == {"CLM-AISI-2026-000"}
    assert len(same) == 4
    assert {path.rpartition("/")[2] for path in told.out.split()} >= {folder.find(COVERT).name, "index.html", "feed.xml"}


def test_a_draft_is_replaced_and_the_manifest_says_why(folder: Regenerated) -> None:
    """What was neither published nor signed is a draft: the newer file has its name, and `--as-of` draws the older one again."""
    name = folder.find(COVERT).stem
    before = folder.read()
    size = folder.manifest()["log_size"]
    folder.withdraw()
    folder.regenerate()

    after = folder.read()
    (item,) = (one for one in folder.manifest()["items"] if one["name"] == name)
    assert {one for one in after if one.startswith(name)} == {f"{name}.html", f"{name}.json"}
    assert all(after[f"{name}.{one}"] != before[f"{name}.{one}"] for one in ("html", "json"))
    assert (item["earlier"], item["why"]) == ([], f"a claim was withdrawn (entry {size + 1})")
    folder.caveat("report", name, "--as-of", str(size), "--json", "-o", folder.path)
    assert json.loads((folder.path / f"{name}.entry-{size}.json").read_bytes())["log_size"] == size


def test_a_claim_is_not_drawn_because_of_another_of_its_card(folder: Regenerated) -> None:
    """Outcome of one claim concerns the supplement of its card; the outcome of their model version concerns all of them."""
    folder.withdraw(COVERT)
    assert folder.caveat("model", "deprecate", "LAB/M/1", "--reason", "retired").code == 0

    told = dict(line.split("  ", 1) for line in folder.regenerate("--check").out.splitlines())

    assert "a claim was withdrawn" in told[folder.find(COVERT).stem]
    assert "a claim was withdrawn" in told[folder.find("CRD").stem]
    assert "its model version is no longer offered" in told[folder.find(REFUSAL).stem]
    assert "its model version is no longer offered" in told[folder.find(SCHEMING).stem]


def test_the_change_report_tells_what_changed_since_the_last_time(folder: Regenerated) -> None:
    """Its entries begin after those of the last time; where no claim changed there is none."""
    size = folder.manifest()["log_size"]
    folder.withdraw()

    folder.regenerate()

    report = json.loads((folder.path / f"changes-{size}-{size + 1}.json").read_bytes())
    assert [one["claim"] for one in report["changes"]] == [folder.find(COVERT).stem.partition("@")[0]]
    assert [one["name"] for one in folder.manifest()["reports"]] == [f"changes-{size}-{size + 1}"]


def test_check_lists_what_is_due_and_draws_nothing(folder: Regenerated) -> None:
    """With its reason, and the answer no; yes where nothing is due."""
    yes = folder.regenerate("--check")
    folder.withdraw()
    before = folder.see()

    no = folder.regenerate("--check")

    assert (yes.code, no.code) == (0, 1)
    assert [line.partition("@")[0][:3] for line in no.out.splitlines()] == ["CLM", "CRD"]
    assert "a claim was withdrawn (entry" in no.out
    assert folder.see() == before


def test_check_of_a_folder_that_is_not_there_makes_none(caveat: Caveat, tmp_path: Path) -> None:
    """Everything is due, and nothing appears."""
    register(caveat, tmp_path)

    told = caveat("report", "--stale", "--check", "-o", "nowhere")

    assert (told.code, len(told.out.splitlines())) == (1, 4)
    assert not (tmp_path / "nowhere").exists()


def test_earlier_revisions_are_in_the_folder_too(folder: Regenerated) -> None:
    """A claim that was revised is there twice, and the list has the earlier revision under the newer one."""
    name = folder.find(COVERT).stem
    claims = (folder.path.parent / "claims.yaml").read_text("utf-8")
    covert = "  - quote: We observed one case of covert action.\n"
    (folder.path.parent / "claims.yaml").write_text(claims.replace(covert, f"{covert}    note: seen once\n    why: noted\n"), "utf-8")
    assert folder.caveat("claim", "add", "claims.yaml").code == 0

    told = folder.regenerate()

    newer = f"{name.partition('@')[0]}@2"
    assert told.code == 0, told.err
    assert {f"{name}.html", f"{newer}.html"} <= set(folder.read())
    assert f"superseded by {newer}, because a newer revision was recorded" in (folder.path / "index.html").read_text("utf-8")


def test_a_file_that_is_gone_is_drawn_again(folder: Regenerated) -> None:
    """With the bytes it had."""
    path = folder.find(SCHEMING, "html")
    before = folder.read()
    path.unlink()

    told = folder.regenerate()

    assert told.code == 0, told.err
    assert folder.read()[path.name] == before[path.name]
    assert folder.regenerate().err.startswith("nothing is due")


@pytest.mark.parametrize("spoil", ["edit", "folder", "link"])
def test_a_file_that_is_not_the_one_drawn_is_in_the_way(folder: Regenerated, tmp_path: Path, spoil: str) -> None:
    """It is named, also by `--check`, and nothing of the folder is changed until it is moved away."""
    path = folder.find(SCHEMING, "html")
    sound = path.read_bytes()
    if spoil == "edit":
        path.write_bytes(sound.replace(b"candidate", b"confirmed"))
    else:
        path.unlink()
    if spoil == "folder":
        path.mkdir()
    elif spoil == "link":
        path.symlink_to(tmp_path / "claims.yaml")
    folder.withdraw()
    before = folder.see()

    checked, told = folder.regenerate("--check"), folder.regenerate()

    assert (checked.code, told.code) == (1, 2)
    assert f"{path.name}  it is in the way" in checked.out
    assert "file-in-the-way" in told.err
    assert path.name in told.err
    assert folder.see() == before
    path.rename(tmp_path / "elsewhere")
    assert folder.regenerate().code == 0
    assert folder.regenerate().err.startswith("nothing is due")


def test_an_edit_that_keeps_size_and_time_is_noticed(folder: Regenerated) -> None:
    """Whoever sets the time of the content back cannot set back that of the directory entry."""
    import os

    folder.withdraw()
    folder.regenerate()
    path = folder.find(SCHEMING)
    about, before = path.stat(), path.read_bytes()
    path.write_bytes(before.replace(b"5 %", b"1 %"))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))

    told = folder.regenerate()

    assert ("file-in-the-way" in told.err, path.name in told.err) == (True, True)


def test_files_of_others_are_left_alone_and_those_in_the_way_are_named(folder: Regenerated) -> None:
    """All of them at once, also where the manifest is gone; nothing is written, renamed or removed."""
    (folder.path / "notes.txt").write_text("mine")
    (folder.path / ".hidden.part").write_text("mine too")
    (folder.path / "supplements.json").unlink()
    folder.find(SCHEMING).write_text("not rendered here")
    before = folder.see()

    told = folder.regenerate()

    assert told.code == 2
    assert "error[file-in-the-way]" in told.err
    assert f"  --> {folder.find(SCHEMING).with_suffix('.html')}\n  --> " in told.err
    assert ", and 2 more places\n" in told.err
    assert folder.see() == before


def test_what_a_kill_left_behind_is_removed_where_nothing_else_is_due(folder: Regenerated) -> None:
    """The cache is written last, so a kill then leaves a part of it in a folder where nothing is due."""
    before = folder.see()
    part = folder.path / "..supplements.seen.part"
    part.write_text("{")

    told = folder.regenerate()

    assert told.code == 0, told.err
    assert not part.exists()
    assert {name: seen for name, seen in folder.see().items() if name.startswith("C")} == {
        name: seen for name, seen in before.items() if name.startswith("C")
    }


def test_a_format_that_is_added_says_the_same_as_the_others(folder: Regenerated) -> None:
    """It is rendered as of their entry, though the log has gone on, and they stay the files they were."""
    before = folder.see()
    assert folder.caveat("model", "add", "LAB/other/1").code == 0

    told = folder.regenerate(folder.find(SCHEMING).stem, formats=())

    (item,) = (one for one in folder.manifest()["items"] if one["name"] == folder.find(SCHEMING).stem)
    after = folder.see()
    assert told.code == 0, told.err
    assert [file["format"] for file in item["files"]] == [one.value for one in OutputFormat]
    assert {name: after[name] for name in before if name[:3] in ("CLM", "CRD")} == {
        name: seen for name, seen in before.items() if name[:3] in ("CLM", "CRD")
    }
    pdf = folder.find(SCHEMING, "pdf")
    assert folder.caveat("verify", *HERE, pdf, "--json").document["files"][0]["checks"][0]["answer"] == "yes"
    carried = folder.caveat("report", "--from", pdf, "--json", "-o", folder.path.parent / "again")
    assert (folder.path.parent / "again" / folder.find(SCHEMING).name).read_bytes() == folder.find(SCHEMING).read_bytes(), carried.err


def test_identifiers_limit_what_is_drawn(folder: Regenerated) -> None:
    """The others stay due; the next report of what changed still begins where all was last gone through."""
    size = folder.manifest()["log_size"]
    folder.withdraw(COVERT)
    folder.withdraw(SCHEMING)
    name = folder.find(COVERT).stem.partition("@")[0]

    some = folder.regenerate(name)
    rest = folder.regenerate()

    assert "1 of 1 supplements were due" in some.err
    assert "2 of 4 supplements were due" in rest.err
    assert [one["since"] for one in folder.manifest()["reports"]] == [size]


def test_a_card_that_is_named_brings_its_claims(folder: Regenerated) -> None:
    """As without `--stale`."""
    told = folder.regenerate(folder.find("CRD").stem.partition("@")[0])

    assert told.err.startswith("nothing is due: all 4 supplements")


def test_one_folder_serves_report_and_stale(folder: Regenerated) -> None:
    """`report ID` over a folder that `--stale` keeps draws what is due of ID alone; `--stale` draws the rest."""
    name = folder.find(COVERT).stem
    before = folder.see()

    settled = folder.caveat("report", name.partition("@")[0], "--html", "--json", "-o", folder.path)
    same = folder.see() == before
    folder.withdraw()
    some = folder.caveat("report", name.partition("@")[0], "--html", "--json", "-o", folder.path)
    rest = folder.regenerate()

    files = [str(folder.find(COVERT, one)) for one in ("html", "json")]
    assert (settled.code, settled.out.split(), same) == (0, files, True)
    assert (some.code, some.out.split()) == (0, files)
    assert "1 of 4 supplements were due" in rest.err
    assert folder.regenerate().err.startswith("nothing is due")


def test_options_that_contradict_each_other_are_refused(folder: Regenerated) -> None:
    """A folder is kept as the registry is now."""
    before = folder.see()

    answers = [
        folder.regenerate("--as-of", "3"),
        folder.regenerate("--all"),
        folder.regenerate("--from", folder.find(SCHEMING)),
        folder.regenerate("--since", "1"),
        folder.regenerate("--check", "--sign"),
        folder.caveat("report", SCHEMING, "--check"),
        folder.caveat("report", SCHEMING, "--from", folder.find(SCHEMING)),
        folder.caveat("report", "--all", "--from", folder.find(SCHEMING)),
        folder.caveat("report", "--as-of", "3", "--from", folder.find(SCHEMING)),
    ]

    assert [one.code for one in answers] == [2] * 9
    assert all(option in answer.err for option, answer in zip(("--as-of", "--all", "--from", "--since", "--sign"), answers, strict=False))
    assert folder.see() == before


def test_a_change_report_is_not_recorded_as_given_out_and_says_so(folder: Regenerated) -> None:
    """A publication names a claim or a card; rendered again from its file, a change report is neither."""
    folder.withdraw()
    folder.regenerate()
    size = len(folder.caveat("admin", "log", "show", "--json").document["entries"])

    told = folder.caveat("report", "--from", folder.find("changes-"), "--json", "--publish", "--yes", "-o", folder.path.parent / "again")

    assert (told.code, "not recorded: changes-" in told.err) == (0, True)
    assert len(folder.caveat("admin", "log", "show", "--json").document["entries"]) == size


def test_an_unknown_identifier_is_told_with_the_others(folder: Regenerated) -> None:
    """All of them at once."""
    told = folder.regenerate("CLM-AISI-2026-0099-D", "CRD-AISI-2026-0099-L")

    assert told.code == 2
    assert told.err.count("not-registered") == 2
