"""A folder that is published: recorded, proven, signed; and what was published stays where it is and as it is."""

from pathlib import Path

import pytest

from registry.folder import folder_update as update
from registry.folder import supplement_publishing as proving
from registry.report.published_file import find_signature
from tests.cli.conftest import HERE
from tests.regeneration.folders import COVERT, REFUSAL, Regenerated


def verify(folder: Regenerated, path: Path) -> str:
    """Return the verdict of `verify` on the file at *path*."""
    return folder.caveat("verify", *HERE, path).out.partition("  ")[0]


def test_publishing_makes_nothing_due(folder: Regenerated) -> None:
    """The statement that files were published is an entry of the log, and changes no supplement; so are drafts that were there."""
    folder.withdraw()

    checked = folder.regenerate("--check", "--publish", "--yes")
    told = folder.regenerate("--publish", "--yes")

    proofs = [name for name in folder.read() if name.endswith(".tlog-proof")]
    assert (checked.code, checked.out.count("not published yet")) == (1, 2)
    assert told.code == 0, told.err
    assert sorted(proofs) == sorted(f"{path.name}.tlog-proof" for path in folder.path.glob("C*.json"))
    assert b'type="application/caveat-proof"' in folder.find(COVERT, "html").read_bytes()
    assert f"{folder.find(COVERT).name}.tlog-proof" in (folder.path / "index.html").read_text("utf-8")
    assert folder.regenerate().err.startswith("nothing is due")
    assert folder.regenerate("--publish", "--yes").err.startswith("nothing is due")
    assert {verify(folder, folder.find(COVERT, one)) for one in ("html", "json")} == {"PASS"}


def test_what_was_published_stays_where_it_is(folder: Regenerated) -> None:
    """Byte for byte, with its proof; the newer files have names with their entry, and the list of the folder leads to both."""
    folder.regenerate("--publish", "--yes")
    size = folder.manifest()["log_size"]
    before = folder.see()
    name = folder.find(COVERT).stem
    folder.withdraw()

    told = folder.regenerate("--publish", "--yes")

    after = folder.see()
    kept = [one for one in before if one[:3] in ("CLM", "CRD")]
    (item,) = (one for one in folder.manifest()["items"] if one["name"] == name)
    page = (folder.path / "index.html").read_text("utf-8")
    newer = folder.find_newer(COVERT).name
    assert told.code == 0, told.err
    assert {one: after[one] for one in kept} == {one: before[one] for one in kept}
    assert [file["path"] for file in item["files"]] == [folder.find_newer(COVERT, one).name for one in ("html", "json")]
    assert [(one["log_size"], len(one["files"])) for one in item["earlier"]] == [(size, 2)]
    assert (f'href="{newer}"' in page, f'href="{name}.json"' in page) == (True, True)
    assert verify(folder, folder.find(COVERT)).startswith("PASS (superseded by entry ")
    assert verify(folder, folder.find_newer(COVERT)) == "PASS"


def test_drafts_beside_published_files_are_replaced(folder: Regenerated) -> None:
    """Without `--publish` the newer file is a draft with a name of its own, and the next one takes its place."""
    folder.regenerate("--publish", "--yes")
    folder.withdraw()
    folder.regenerate()
    first = folder.find_newer("CRD").name
    folder.withdraw(REFUSAL)
    folder.regenerate()

    assert folder.find_newer("CRD").name == first
    assert len(list(folder.path.glob("CRD*.json"))) == 2
    assert folder.regenerate("--publish", "--yes").code == 0
    assert verify(folder, folder.find_newer("CRD")) == "PASS"


def test_a_published_file_is_known_without_the_manifest(folder: Regenerated) -> None:
    """The log says that it was published: a newer file gets another name, whoever wrote the older one into the folder."""
    folder.regenerate("--publish", "--yes")
    before = {name: data for name, data in folder.read().items() if name[:3] in ("CLM", "CRD")}
    for name in ("supplements.json", "index.html", "feed.xml"):
        (folder.path / name).unlink()

    told = folder.regenerate("--publish", "--yes")

    after = folder.read()
    assert told.code == 0, told.err
    assert {name: after[name] for name in before} == before
    assert len([name for name in after if ".entry-" in name and name.endswith(".json")]) == 4


def test_a_signed_file_stays_and_is_published_under_another_name(folder: Regenerated) -> None:
    """A proof cannot be put under a signature, so a signed file that is to be published is rendered again; the signed one stays valid."""
    name = folder.find(COVERT).stem

    signed = folder.regenerate(name, "--sign", formats=("--pdf",))
    before = folder.find(COVERT, "pdf").read_bytes()
    published = folder.regenerate(name, "--publish", "--yes", formats=("--pdf",))
    again = folder.regenerate(name, "--publish", "--yes", formats=("--pdf",))

    signature = find_signature(before)
    assert (signed.code, published.code) == (0, 0), published.err
    assert signature is not None
    assert signature.is_intact
    assert folder.find(COVERT, "pdf").read_bytes() == before
    assert again.err.startswith("nothing is due")
    assert verify(folder, folder.find(COVERT, "pdf")) == "PASS"
    assert verify(folder, folder.find_newer(COVERT, "pdf")) == "PASS"


def test_what_a_stopped_command_drew_is_published_by_the_next(folder: Regenerated) -> None:
    """Rendered and not yet recorded: the next call with `--publish` records that too."""
    folder.withdraw()

    def stop(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(update, "publish_files", stop)
        stopped = folder.regenerate("--publish", "--yes")
    told = folder.regenerate("--publish", "--yes")

    assert (stopped.code, told.code) == (130, 0)
    assert len([name for name in folder.read() if name.endswith(".tlog-proof")]) == 4
    assert folder.regenerate("--publish", "--yes").err.startswith("nothing is due")


def test_a_full_disk_while_proofs_are_written_is_told_by_name(folder: Regenerated) -> None:
    """No file is changed, none is left half written; the entries are there, and the next call completes them."""
    import resource

    before = {name: data for name, data in folder.read().items() if name[:3] in ("CLM", "CRD")}
    largest = max(len(data) for name, data in before.items())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    real = proving.replace_files

    def fill_up(files: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 100, limits[1]))
        try:
            real(files)  # type: ignore[arg-type]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proving, "replace_files", fill_up)
        told = folder.regenerate("--publish", "--yes")
    after = {name: data for name, data in folder.read().items() if name[:3] in ("CLM", "CRD")}
    again = folder.regenerate("--publish", "--yes")

    assert told.code == 3
    assert "file-not-accessible" in told.err
    assert ".html" in told.err
    assert after == before
    assert not list(folder.path.glob(".C*.part"))
    assert again.code == 0, again.err
    assert verify(folder, folder.find(COVERT)) == "PASS"
