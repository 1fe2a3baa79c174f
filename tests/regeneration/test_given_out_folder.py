"""A folder that is given out: signed, recorded, proven; and what is replaced takes its proof with it."""

from registry.report.signature import find_signature
from tests.cli.conftest import HERE
from tests.regeneration.folders import COVERT, Regenerated


def test_giving_out_makes_nothing_due(folder: Regenerated) -> None:
    """The statement that files were given out is an entry of the log, and changes no supplement."""
    folder.withdraw()

    told = folder.regenerate("--publish")

    proofs = [name for name in folder.read() if name.endswith(".tlog-proof")]
    assert told.code == 0, told.err
    assert sorted(proofs) == sorted(f"{folder.find(name, one).name}.tlog-proof" for name in (COVERT, "CRD") for one in ("html", "json"))
    assert f"{folder.find(COVERT).name}.tlog-proof" in (folder.path / "index.html").read_text("utf-8")
    assert folder.regenerate().err.startswith("nothing is due")
    checked = folder.caveat("verify", *HERE, folder.find(COVERT), "--json").document["files"][0]["checks"]
    assert {one["name"]: one["answer"] for one in checked}["published"] == "yes"


def test_a_file_that_is_replaced_takes_its_proof_with_it(folder: Regenerated) -> None:
    """A proof beside another file would prove nothing; beside its own it still does."""
    folder.withdraw()
    folder.regenerate("--publish")
    size = folder.manifest()["log_size"]
    before = folder.read()
    name = folder.find("CRD").stem
    folder.withdraw("CLM-AISI-2026-0002")

    folder.regenerate()

    after = folder.read()
    kept = folder.find_kept(f"{name}.entry-{size}-").name
    assert f"{name}.json.tlog-proof" not in after
    assert after[kept] == before[f"{name}.json"]
    assert after[f"{kept}.tlog-proof"] == before[f"{name}.json.tlog-proof"]
    checked = folder.caveat("verify", *HERE, folder.path / kept, "--json").document["files"][0]["checks"]
    assert {one["name"]: one["answer"] for one in checked}["inclusion"] == "yes"


def test_what_a_killed_command_drew_is_given_out_by_the_next(folder: Regenerated, monkeypatch: object) -> None:
    """Drawn and not yet recorded as given out: the next call with `--publish` records that too."""
    import pytest

    from registry.cli import report

    folder.withdraw()

    def stop(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "_publish", stop)
        stopped = folder.regenerate("--publish")
    told = folder.regenerate("--publish")

    assert (stopped.code, told.code) == (130, 0)
    assert len([name for name in folder.read() if name.endswith(".tlog-proof")]) == 4
    assert folder.regenerate().err.startswith("nothing is due")


def test_a_signed_pdf_is_known_as_it_was_signed(folder: Regenerated) -> None:
    """It is not taken for an edited one the next time."""
    name = folder.find(COVERT).stem

    told = folder.regenerate(name, "--publish", formats=("--pdf",))
    again = folder.regenerate(name, formats=("--pdf",))

    signature = find_signature(folder.find(COVERT, "pdf").read_bytes())
    assert told.code == 0, told.err
    assert signature is not None
    assert signature.is_intact
    assert again.err.startswith("nothing is due")
    checked = folder.caveat("verify", *HERE, folder.find(COVERT, "pdf"), "--json").document["files"][0]["checks"]
    assert {one["name"]: one["answer"] for one in checked}["signature"] == "yes"
