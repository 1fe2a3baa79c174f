"""PDF files and bundles from somebody who means harm: every one is named, and none passes as anything else."""

import json
import shutil
from pathlib import Path

import pytest

from registry.codec.canonical_documents import canonical_bytes
from registry.records.statement import OutputFormat
from registry.report.published_file import split_file
from tests.cli.conftest import Caveat
from tests.cli.given_out import NAME, inside, run, take_copy
from tests.cli.test_verify_published import find_note, list_answers, read_vkey

PDF = f"{NAME}.pdf"


@pytest.fixture
def mail(given_out: Path, tmp_path: Path) -> Path:
    """The PDF and its proof alone."""
    shutil.copy(given_out / "out" / PDF, tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def bundle(given_out: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the registry, in plain lines."""
    folder = tmp_path_factory.mktemp("bundle")
    take_copy(given_out, folder)
    with inside(folder):
        run("admin", "bundle", "write", "-o", "log.jsonl")
        run("admin", "bundle", "write", "-o", "log.caveat")
    return folder / "log.jsonl"


def test_a_signature_that_was_cut_off_is_missed(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """What is left is what was drawn and its proof: that it was published is still shown, and that no one signed it is told."""
    from registry.report.published_file import check_signature

    path = mail / PDF
    path.write_bytes(check_signature(path.read_bytes()).unsigned)

    answers = list_answers(checked := caveat("verify", PDF, "--key", read_vkey(given_out), "--rerender", "--json"))

    assert (checked.code, answers["bytes"], answers["signature"], answers["published"]) == (0, "yes", "not_checked", "yes")


def test_what_is_appended_after_the_signature_is_seen_by_several_checks(caveat: Caveat, mail: Path) -> None:
    """A revision behind the signature changes what readers show and leaves what was signed."""
    path = mail / PDF
    data = path.read_bytes()
    table = data.rpartition(b"startxref\n")[2]
    path.write_bytes(data + b"1 0 obj\n<< /Type /Catalog >>\nendobj\nstartxref\n" + table)

    answers = list_answers(checked := caveat("verify", PDF, "--json"))

    assert checked.code == 1
    assert [answers[name] for name in ("safe", "signature", "bytes", "published")] == ["no"] * 4


def test_a_script_is_named_and_a_second_attachment_refused(caveat: Caveat, mail: Path) -> None:
    """A PDF that acts when it is opened is told as such; of one with two attachments no one knows which record is meant."""
    import pikepdf

    with pikepdf.open(mail / PDF) as pdf:
        pdf.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")
        pdf.save(mail / "script.pdf")
        pdf.attachments["invoice.exe"] = pikepdf.AttachedFileSpec(pdf, b"MZ", filename="invoice.exe")
        pdf.save(mail / "attached.pdf")

    script, attached = caveat("verify", "script.pdf", "--json"), caveat("verify", "attached.pdf", "--json")

    assert (script.code, list_answers(script)["safe"]) == (1, "no")
    assert "JavaScript" in find_note(script, "safe")
    assert (attached.code, list_answers(attached)["safe"], list_answers(attached)["record"]) == (1, "no", "no")
    assert "invoice.exe" in find_note(attached, "record")
    assert list_answers(attached)["bytes"] == "not_checked"


@pytest.mark.parametrize("damage", ["cut off", "encrypted"])
def test_a_pdf_whose_record_cannot_be_read_is_a_no_with_its_reason(caveat: Caveat, mail: Path, damage: str) -> None:
    """Who gets such a file is told what is wrong with it, check by check, and not that it is no supplement."""
    import pikepdf

    path = mail / PDF
    if damage == "cut off":
        path.write_bytes(path.read_bytes()[:50_000])
    else:
        with pikepdf.open(path) as pdf:
            pdf.save(mail / "locked.pdf", encryption=pikepdf.Encryption(owner="a", user="b"))
        path.write_bytes((mail / "locked.pdf").read_bytes())

    answers = list_answers(checked := caveat("verify", PDF, "--json"))

    assert (checked.code, answers["safe"], answers["record"], answers["published"]) == (1, "no", "no", "not_checked")
    assert {answers[name] for name in ("bytes", "entries", "lock")} == {"not_checked"}


def test_a_record_of_a_newer_schema_is_named_as_such(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """It cannot be read here, so the answer is neither yes nor no; the exit code says so."""
    document = json.loads((given_out / "out" / f"{NAME}.json").read_bytes())
    (mail / "later.json").write_bytes(canonical_bytes({**document, "schema": "caveat/supplement/2", "weather": "fair"}))

    answers = list_answers(checked := caveat("verify", "later.json", "--json"))

    assert (checked.code, answers["record"]) == (3, "not_checked")
    assert "a newer version of Caveat made it: its record has the schema caveat/supplement/2" in find_note(checked, "record")
    assert set(answers.values()) == {"not_checked"}
    assert "Nothing was found to be wrong" not in checked.document["files"][0]["summary"]


@pytest.mark.parametrize("change", [{"weather": "fair"}, {"log_size": "many"}, {"identifier": None}], ids=["unknown key", "value", "null"])
def test_one_key_that_does_not_fit_switches_no_check_off(
    caveat: Caveat, given_out: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    """A forged record with an unknown key or an unreadable value is a no, and its proof is held against its bytes all the same."""
    for name in (f"{NAME}.json", f"{NAME}.json.tlog-proof"):
        shutil.copy(given_out / "out" / name, tmp_path)
    path = tmp_path / f"{NAME}.json"
    path.write_bytes(canonical_bytes({**json.loads(path.read_bytes()), **change}))

    answers = list_answers(checked := caveat("verify", path, "--key", read_vkey(given_out), "--json"))

    assert (checked.code, answers["record"], answers["published"]) == (1, "no", "no")
    assert (answers["inclusion"], answers["checkpoint"], answers["consistency"]) == ("yes", "yes", "yes")
    assert next(iter(change)) in find_note(checked, "record")


def test_a_published_file_whose_record_cannot_be_read_is_incomplete(caveat: Caveat, given_out: Path, tmp_path: Path) -> None:
    """Its digest is in the log, so no one altered it; what it says was not checked, so it is no yes either."""
    import hashlib

    from registry.verify.file_verification import check_file
    from registry.verify.proof_checks import CheckAnswer
    from registry.verify.verification_keys import read_given
    from tests.cli.forged_proof import publish_bytes

    document = json.loads((given_out / "out" / f"{NAME}.json").read_bytes())
    data = canonical_bytes({**document, "weather": "fair"})
    proof, vkey = publish_bytes(data, document)

    checks = {one.name.value: one for one in check_file(data, proof=proof, trust=read_given([vkey]), where="later.json")}

    assert hashlib.sha256(data).hexdigest() in checks["published"].note
    assert {checks[name].answer for name in ("published", "inclusion", "checkpoint")} == {CheckAnswer.YES}
    assert checks["record"].answer is CheckAnswer.NOT_CHECKED
    assert "another version of Caveat made it" in checks["record"].note


@pytest.mark.parametrize("name", ["CLM-AISI-2026-0002-J@1", "CLM-AISI-2026-0001-S@2", "Copy of crd-aisi-2026-0001-a (final)"])
def test_a_supplement_under_the_name_of_another_claim_is_a_no(caveat: Caveat, given_out: Path, tmp_path: Path, name: str) -> None:
    """A file and its proof, renamed together, prove another claim than the name says."""
    for suffix in ("", ".tlog-proof"):
        shutil.copy(given_out / "out" / f"{NAME}.json{suffix}", tmp_path / f"{name}.json{suffix}")

    checked = caveat("verify", f"{name}.json", "--key", read_vkey(given_out), "--json")

    assert (checked.code, list_answers(checked)["record"]) == (1, "no")
    assert f"its record is of {NAME}" in find_note(checked, "record")


@pytest.mark.parametrize("name", ["supplement", "clm-aisi-2026-0001-s@1 (2)", "CLM-AISI-2026-0001-S"])
def test_names_that_name_nothing_else_are_the_users_affair(caveat: Caveat, given_out: Path, tmp_path: Path, name: str) -> None:
    """Copies, lower case and names of one's own change nothing."""
    for suffix in ("", ".tlog-proof"):
        shutil.copy(given_out / "out" / f"{NAME}.json{suffix}", tmp_path / f"{name}.json{suffix}")

    assert caveat("verify", f"{name}.json", "--key", read_vkey(given_out)).code == 0


def test_a_key_that_nothing_rests_on_is_no_success(caveat: Caveat, given_out: Path, tmp_path: Path) -> None:
    """Without the proof, or with the key of another log, exit code 0 would say more than was checked."""
    from registry.records.log_seal import KeyAlgorithm
    from registry.seal.signing_keys import make_key

    path = f"{NAME}.json"
    shutil.copy(given_out / "out" / path, tmp_path)
    alone = caveat("verify", path, "--key", read_vkey(given_out))
    shutil.copy(given_out / "out" / f"{path}.tlog-proof", tmp_path)
    stranger = make_key(KeyAlgorithm.ED25519, "caveat.log/OTHER/0123456789abcdef", seed=bytes(32)).vkey
    other = caveat("verify", path, "--key", str(stranger))
    right = caveat("verify", path, "--key", read_vkey(given_out))

    assert [one.code for one in (alone, other, right)] == [3, 3, 0]
    assert f"Your key was not used: the proof {path}.tlog-proof is missing." in " ".join(alone.out.split())
    assert "Your key was not used: signed by" in " ".join(other.out.split())
    assert "not used" not in right.out


def test_two_checkpoints_that_contradict_each_other_are_both_wrong(caveat: Caveat, given_out: Path, tmp_path: Path) -> None:
    """One log, one size, two roots, both signed: the log showed two histories, and neither file passes."""
    take_copy(given_out, tmp_path / "one")
    take_copy(given_out, tmp_path / "two")
    for name in ("one", "two"):
        with inside(tmp_path / name):
            run("model", "add", f"LAB/model/{name}")
            run("admin", "log", "checkpoint", "-o", "note")
    key = read_vkey(given_out)

    together = caveat("verify", "one/note", "two/note", "--key", key, "--json")
    apart = [caveat("verify", f"{name}/note", "--key", key).code for name in ("one", "two")]
    forged = (tmp_path / "two" / "note").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "forged").write_text("".join([*forged[:4], "\N{EM DASH} witness.example AAAAAAAAAA==\n"]), encoding="utf-8")
    mixed = caveat("verify", "one/note", "forged", "--key", key, "--json")

    assert (together.code, apart) == (1, [0, 0])
    assert [list_answers(together, place)["consistency"] for place in (0, 1)] == ["no", "no"]
    assert "two histories of" in find_note(together, "consistency")
    assert [list_answers(mixed, place)["consistency"] for place in (0, 1)] == ["not_checked", "no"]


def test_a_file_of_another_version_of_caveat_is_no_false_alarm(caveat: Caveat, mail: Path, given_out: Path, tmp_path: Path) -> None:
    """Templates change; a file that was published is then vouched for by its digest, and one that was not cannot be compared."""
    page = split_file((given_out / "out" / f"{NAME}.html").read_bytes(), OutputFormat.HTML).rendered.decode()
    here = page.partition("Caveat, templates ")[2][:64]
    (tmp_path / "older.html").write_text(
        page.replace(f"Caveat, templates {here}", f"Caveat, templates {'0' * 64}").replace("</main>", "<p></p></main>")
    )
    (tmp_path / "altered.html").write_text(page.replace("</main>", "<p>Approved.</p></main>"))

    older, altered = caveat("verify", "older.html", "--json"), caveat("verify", "altered.html", "--json")

    assert len(here) == 64
    assert (older.code, list_answers(older)["bytes"]) == (3, "not_checked")
    assert "another version of Caveat" in find_note(older, "bytes")
    assert "it may say anything" in older.document["files"][0]["summary"]
    assert (altered.code, list_answers(altered)["bytes"]) == (1, "no")


def test_the_signature_of_somebody_else_is_not_the_authoritys(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """Anybody can make a certificate of any name; its key is not one that the log records."""
    from datetime import UTC, datetime

    from registry.records.log_seal import KeyAlgorithm
    from registry.report.published_file import check_signature, sign_pdf
    from registry.seal.signing_keys import make_key

    path = mail / PDF
    stranger = make_key(KeyAlgorithm.ECDSA_P256, "AISI", seed=bytes(32), organisation="AISI")
    path.write_bytes(sign_pdf(check_signature(path.read_bytes()).unsigned, stranger, at=datetime(2026, 11, 22, tzinfo=UTC)))

    offline = caveat("verify", PDF, "--key", read_vkey(given_out), "--json")
    here = caveat("verify", PDF, "--registry", f"sqlite:///{given_out}/caveat.db", "--json")

    assert (offline.code, list_answers(offline)["signature"], list_answers(offline)["published"]) == (1, "no", "yes")
    assert "this key is none that the log recorded with it" in find_note(offline, "signature")
    assert (here.code, list_answers(here)["signature"]) == (1, "no")


def test_a_bundle_is_verified_whole_and_by_its_key(caveat: Caveat, bundle: Path, given_out: Path) -> None:
    """Plain or compressed; without the key its signer is no one that is known."""
    known = caveat("verify", bundle, "--key", read_vkey(given_out), "--json")
    packed = caveat("verify", bundle.with_suffix(".caveat"), "--json")

    assert (known.code, known.document["files"][0]["kind"]) == (0, "bundle")
    assert list_answers(known) == {
        "bundle": "yes", "checkpoint": "yes", "witnesses": "not_checked", "consistency": "not_checked",
    }  # fmt: skip
    assert (packed.code, list_answers(packed)["bundle"], list_answers(packed)["checkpoint"]) == (3, "yes", "not_checked")


@pytest.mark.parametrize("attack", ["truncated", "reordered", "altered", "replayed"])
def test_a_bundle_that_was_tampered_with_is_a_no_with_its_reason(
    caveat: Caveat, bundle: Path, given_out: Path, tmp_path: Path, attack: str
) -> None:
    """Truncated, reordered, altered or doubled lines: the check names what and where, and nothing else is concluded."""
    lines = bundle.read_bytes().splitlines(keepends=True)
    tampered = {
        "truncated": lines[:-3],
        "reordered": [*lines[:3], lines[4], lines[3], *lines[5:]],
        "altered": [line.replace(b"schemes in 5 %", b"schemes in 1 %") for line in lines],
        "replayed": [*lines[:5], lines[4], *lines[5:]],
    }[attack]
    (tmp_path / "log.jsonl").write_bytes(b"".join(tampered))

    checked = caveat("verify", "log.jsonl", "--key", read_vkey(given_out), "--json")

    assert (checked.code, list_answers(checked)["bundle"]) == (1, "no")
    assert {answer for name, answer in list_answers(checked).items() if name != "bundle"} == {"not_checked"}
    assert find_note(checked, "bundle").startswith("bundle-")


def test_a_growing_log_is_followed_from_the_checkpoint_that_somebody_kept(caveat: Caveat, given_out: Path, tmp_path: Path) -> None:
    """Who kept an old checkpoint holds a later one against it, without the registry; a proof of another size is refused."""
    take_copy(given_out, tmp_path)
    old = (tmp_path / "out" / f"{NAME}.json.tlog-proof").read_text(encoding="utf-8").partition("\n\n")[2]
    size = int(old.split("\n")[1])
    caveat("claim", "withdraw", NAME.partition("@")[0], "--reason", "retracted", "--yes")
    for since in (size, size - 1):
        caveat("admin", "log", "prove", "--since", str(since), "-o", f"since-{since}")
    desk = tmp_path / "desk"
    desk.mkdir()
    (desk / "old").write_text(old, encoding="utf-8")
    for since in (size, size - 1):
        shutil.move(tmp_path / f"since-{since}", desk)
    key = read_vkey(tmp_path)

    with inside(desk):
        right, wrong = (
            json.loads(run("verify", "old", "--proof", f"since-{since}", "--key", key, "--json"))["files"][0] for since in (size, size - 1)
        )

    assert {one["name"]: one["answer"] for one in right["checks"]}["consistency"] == "yes"
    assert (wrong["wrong"], right["wrong"]) == (["consistency"], [])


def test_an_opening_that_opens_nothing_is_a_fault_of_the_record(caveat: Caveat, given_out: Path, tmp_path: Path) -> None:
    """A confidential copy has the digest of the public record, so what it opens must be what was sealed."""
    document = json.loads((given_out / "out" / f"{NAME}.json").read_bytes())
    part = document["specs"][0]
    opening = {"spec": part["reference"], "spec_kind": "property", "salt": "00" * 32, "body": part["version"]["payload"]["body"]}
    (tmp_path / "copy.json").write_bytes(canonical_bytes({**document, "openings": [opening]}))

    checked = caveat("verify", "copy.json", "--json")

    assert (checked.code, list_answers(checked)["record"]) == (1, "no")
    assert "is public in the log" in find_note(checked, "record")
