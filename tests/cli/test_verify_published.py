"""Files that were published, in the hands of somebody who trusts no one: what is proven, what is swapped, what cannot be known."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.codec.canonical_documents import canonical_bytes
from registry.records.statement import OutputFormat
from registry.report.published_file import split_file
from tests.cli.conftest import HERE, Answer, Caveat
from tests.cli.given_out import NAME, take_copy


def read_vkey(folder: Path) -> str:
    """Return the verifier key of the registry in *folder*, as its keeper shows it."""
    lines = (folder / "caveat-keys" / "log.pem").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line and not line.startswith(("#", "-")))


def list_answers(answer: Answer, place: int = 0) -> dict[str, str]:
    """Return the answers of one file, by the name of the check."""
    return {one["name"]: one["answer"] for one in answer.document["files"][place]["checks"]}


def find_note(answer: Answer, name: str) -> str:
    """Return what the first file's check *name* says."""
    return next(str(one["note"]) for one in answer.document["files"][0]["checks"] if one["name"] == name)


def rewrite(path: Path, **changes: Any) -> None:
    """Write the record in *path* again with *changes*, in canonical JSON."""
    path.write_bytes(canonical_bytes({**json.loads(path.read_bytes()), **changes}))


@pytest.fixture
def mail(given_out: Path, tmp_path: Path) -> Path:
    """What came by mail: the files alone, in the folder where `caveat` runs."""
    for path in (given_out / "out").iterdir():
        shutil.copy(path, tmp_path)
    return tmp_path


def test_one_key_is_enough_to_check_all_that_a_file_can_show(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """Offline, with the log's key from elsewhere: signature, bytes, record, entries, proof and lock are in order."""
    checked = caveat("verify", f"{NAME}.pdf", "--key", read_vkey(given_out), "--rerender", "--json")

    answers = list_answers(checked)
    assert checked.code == 0
    assert {name for name, answer in answers.items() if answer == "not_checked"} == {"authors", "witnesses", "registry", "current"}
    assert "no" not in answers.values()
    assert find_note(checked, "signature").endswith("a file cannot show whether it was revoked since")


def test_a_folder_stands_for_the_supplements_in_it(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """Not for its list and feed, which carry no record; a forged file among them fails the folder, and a folder without any is refused."""
    (mail / "index.html").write_text("<p>All claims are contradicted.</p>", encoding="utf-8")
    (mail / "empty").mkdir()
    key = read_vkey(given_out)
    named = sorted(str(path.name) for path in mail.glob(f"{NAME}.*") if path.suffix in (".pdf", ".html", ".json"))

    checked = caveat("verify", ".", "--key", key, "--json")
    forged = mail / "CLM-LAB-2026-0099-X@1.json"
    forged.write_bytes((mail / f"{NAME}.json").read_bytes())

    assert checked.code == 0, checked.err
    assert [one["file"] for one in checked.document["files"]] == named
    assert caveat("verify", ".", "--key", key).code == 1
    assert (caveat("verify", "empty").code, caveat("verify", "empty").error) == (2, "file-not-readable")


@pytest.mark.parametrize("more", [(), ("--require", "bytes"), ("--require", "all")], ids=["plain", "bytes", "all"])
@pytest.mark.parametrize("form", ["pdf", "html"])
def test_a_proven_file_is_rendered_again_where_that_is_asked_for(
    caveat: Caveat, mail: Path, given_out: Path, form: str, more: tuple[str, ...]
) -> None:
    """Its log proves the bytes, so rendering is left out and said to be; a requirement of that check brings it back."""
    checked = caveat("verify", f"{NAME}.{form}", "--key", read_vkey(given_out), *more, "--json")

    assert mail.is_dir()
    assert list_answers(checked)["bytes"] == ("yes" if more else "not_checked")
    assert ("--rerender" in find_note(checked, "bytes")) is (not more)
    assert checked.document["files"][0]["verdict"] == ("PASS" if not more or "bytes" in more else "INCOMPLETE")


def test_an_altered_file_is_always_rendered_again(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """No proof is of its bytes, so the comparison with its record is never left out."""
    path = mail / f"{NAME}.html"
    path.write_bytes(path.read_bytes().replace(b"</h1>", b"!</h1>", 1))

    checked = caveat("verify", path.name, "--key", read_vkey(given_out), "--json")

    answers = list_answers(checked)
    assert (checked.code, answers["bytes"], answers["published"]) == (1, "no", "no")


@pytest.mark.parametrize("form", ["pdf", "html"])
def test_one_file_and_one_key_line_are_enough(caveat: Caveat, given_out: Path, tmp_path: Path, form: str) -> None:
    """The file alone in an empty folder, and the line that the registry's keeper shows: PASS in the first line, exit code 0."""
    shutil.copy(given_out / "out" / f"{NAME}.{form}", tmp_path)

    checked = caveat("verify", f"{NAME}.{form}", "--key", read_vkey(given_out))
    without = caveat("verify", f"{NAME}.{form}")

    assert (checked.code, checked.out.splitlines()[0]) == (0, f"PASS  {NAME}.{form}")
    assert (without.code, without.out.splitlines()[0]) == (3, f"INCOMPLETE  {NAME}.{form}")
    assert "yes" not in checked.out
    assert " yes " in caveat("verify", f"{NAME}.{form}", "--key", read_vkey(given_out), "-v").out


def test_a_key_on_which_no_answer_rests_is_told(caveat: Caveat, given_out: Path, tmp_path: Path) -> None:
    """Without its proof a JSON file rests on nothing: exit code 3, and what is missing is named."""
    shutil.copy(given_out / "out" / f"{NAME}.json", tmp_path)

    checked = caveat("verify", f"{NAME}.json", "--key", read_vkey(given_out))

    assert (checked.code, checked.out.partition("  ")[0]) == (3, "INCOMPLETE")
    told = " ".join(checked.out.split())
    assert f"Your key was not used: the proof {NAME}.json.tlog-proof is missing" in told


def test_several_files_have_one_verdict_in_the_first_line(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """The worst of them, with the counts."""
    (mail / "bad.html").write_bytes((mail / f"{NAME}.html").read_bytes().replace(b"</title>", b"!</title>", 1))

    checked = caveat("verify", f"{NAME}.html", "bad.html", "--key", read_vkey(given_out))

    assert (checked.code, checked.out.splitlines()[0]) == (1, "FAIL  2 files: 1 PASS, 1 FAIL")


@pytest.mark.parametrize("form", ["pdf", "html"])
def test_any_byte_that_is_added_or_changed_fails(caveat: Caveat, given_out: Path, tmp_path: Path, form: str) -> None:
    """Before, in and after the proof: whatever is not what Caveat writes is no published file."""
    data, key = (given_out / "out" / f"{NAME}.{form}").read_bytes(), read_vkey(given_out)
    place = data.index(b"c2sp.org/tlog-proof")
    forged = {
        "appended": data + b"\n",
        "before": data[: place - 30] + b" " + data[place - 30 :],
        "inside": data[: place + 60] + bytes([data[place + 60] ^ 1]) + data[place + 61 :],
        "changed": data[:200] + bytes([data[200] ^ 1]) + data[201:],
    }
    for name, text in forged.items():
        (tmp_path / f"{name}.{form}").write_bytes(text)

    codes = {name: caveat("verify", f"{name}.{form}", "--key", key).code for name in forged}

    assert set(codes.values()) == {1}, codes


def test_without_a_key_nothing_says_who_made_it(caveat: Caveat, mail: Path) -> None:
    """All that the file itself can show is shown, and that it may be anybody's is said."""
    checked = caveat("verify", f"{NAME}.json", "--json")

    answers = list_answers(checked)
    assert (checked.code, answers["checkpoint"], answers["inclusion"]) == (3, "not_checked", "yes")
    assert checked.document["files"][0]["verdict"] == "INCOMPLETE"
    assert "nothing here says who has that key" in find_note(checked, "checkpoint")
    assert "Nothing here shows who made this file" in checked.document["files"][0]["summary"]


def test_a_required_check_that_cannot_be_made_is_told_by_the_exit_code(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """`--require checkpoint` without a key ends with 3, with it with 0; `--require all` asks for everything."""
    key = read_vkey(given_out)

    codes = [
        caveat("verify", f"{NAME}.json", "--require", "checkpoint").code,
        caveat("verify", f"{NAME}.json", "--require", "checkpoint", "--key", key).code,
        caveat("verify", f"{NAME}.json", "--require", "all", "--key", key).code,
        caveat("verify", f"{NAME}.json", "--require", "checkpiont").code,
    ]

    assert codes == [3, 0, 3, 2]


def test_a_swapped_file_is_not_the_one_that_was_published(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """The proof of one file does not speak for another, whatever the other's name."""
    proof = split_file((mail / f"{NAME}.html").read_bytes(), OutputFormat.HTML).proof
    (mail / f"{NAME}.json.tlog-proof").write_bytes(proof or b"")

    checked = caveat("verify", f"{NAME}.json", "--key", read_vkey(given_out), "--json")

    assert (checked.code, list_answers(checked)["published"]) == (1, "no")
    assert "of another file: sha256" in find_note(checked, "published")


def test_a_proof_elsewhere_is_named(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """`--proof` takes the place of the file beside; one proof is of one file."""
    (mail / f"{NAME}.json.tlog-proof").rename(mail / "elsewhere")
    key = read_vkey(given_out)

    named = caveat("verify", f"{NAME}.json", "--proof", "elsewhere", "--key", key, "--json")
    without = caveat("verify", f"{NAME}.json", "--key", key, "--json")
    two = caveat("verify", f"{NAME}.json", f"{NAME}.html", "--proof", "elsewhere")

    assert (list_answers(named)["published"], list_answers(without)["published"], two.code) == ("yes", "not_checked", 2)
    assert "ask for the file NAME.tlog-proof" in find_note(without, "published")


def test_a_record_forged_consistently_passes_bytes_and_nothing_that_rests_on_the_log(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """Somebody changes the figure in the record and draws the file again: it is whole, and not what was logged."""
    path = mail / f"{NAME}.json"
    document = json.loads(path.read_bytes())
    document["claim"]["payload"]["theta"] = 0.5
    rewrite(path, claim=document["claim"])

    answers = list_answers(checked := caveat("verify", path, "--key", read_vkey(given_out), "--json"))

    assert (checked.code, answers["bytes"], answers["record"]) == (1, "yes", "yes")
    assert {name for name, answer in answers.items() if answer == "no"} == {"entries", "published", "lock"}
    assert "θ is 0.5 in the claim, and 0.1 was locked" in find_note(checked, "lock")


@pytest.mark.parametrize(
    ("part", "forge"),
    [
        ("verdict", lambda record: record.update(verdict="The claim holds in deployment.")),
        ("property", lambda record: record["property"].update(name="Another property")),
        ("history", lambda record: record.update(history=[])),
        ("claimant", lambda record: record["claimant"].update(code="LAB")),
        ("identifier", lambda record: record.update(identifier=f"{NAME}#0000000000000000")),
        ("owner of", lambda record: record["specs"][0]["owner"].update(code="LAB")),
    ],
)
def test_a_part_that_copies_a_statement_and_says_otherwise_is_named(
    caveat: Caveat, mail: Path, part: str, forge: Callable[[dict[str, Any]], None]
) -> None:
    """Every leaf fits, and the words around them are another's: entries is no, with the part, without a key or a proof."""
    record = json.loads((mail / f"{NAME}.json").read_bytes())
    forge(record)
    (mail / "forged.json").write_bytes(canonical_bytes(record))

    checked = caveat("verify", "forged.json", "--json")

    assert (checked.code, list_answers(checked)["entries"]) == (1, "no")
    assert f"not what the statements given with it say: {part}" in find_note(checked, "entries")


def test_what_no_entry_settles_is_said_to_be_vouched_for_by_nobody(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """Reasons and names are composed: forged they pass entries, which says so; whoever has the key sees that it was never published."""
    record = json.loads((mail / f"{NAME}.json").read_bytes())
    record["claimant"]["name"] = "Somebody Else"
    record["limits"][0]["text"] = "Everything is well."
    (mail / "forged.json").write_bytes(canonical_bytes(record))
    shutil.copy(mail / f"{NAME}.json.tlog-proof", mail / "forged.json.tlog-proof")

    forged = caveat("verify", "forged.json", "--key", read_vkey(given_out), "--json")
    (mail / "forged.json.tlog-proof").unlink()
    alone = caveat("verify", "forged.json", "--json")
    sound = caveat("verify", f"{NAME}.json", "--key", read_vkey(given_out), "--json")

    told = "No signature covers what is composed in it"
    assert (forged.code, list_answers(forged)["entries"], list_answers(forged)["published"]) == (1, "yes", "no")
    assert (alone.code, list_answers(alone)["entries"]) == (3, "yes")
    assert "not covered is what the supplement composes from them (reasons, limits, names," in find_note(alone, "entries")
    assert told in alone.document["files"][0]["summary"]
    assert told not in sound.document["files"][0]["summary"]


def test_a_proof_taken_out_of_the_record_is_told_loudly(caveat: Caveat, mail: Path) -> None:
    """A downgrade: without its inclusion a record proves nothing of its entries, and that is never a yes."""
    (mail / f"{NAME}.json.tlog-proof").unlink()
    path = mail / f"{NAME}.json"
    document = json.loads(path.read_bytes())
    del document["inclusion"]
    path.write_bytes(canonical_bytes(document))

    checked = caveat("verify", path, "--json")

    answers = list_answers(checked)
    assert (checked.code, answers["record"], answers["entries"], answers["bytes"]) == (1, "no", "no", "no")
    assert "IT PROVES NO ENTRY" in find_note(checked, "entries")
    assert "inclusion is missing" in find_note(checked, "record")


def test_a_record_that_is_not_canonical_is_nobodys(caveat: Caveat, mail: Path) -> None:
    """The same record written otherwise has another digest, so Caveat wrote no such file."""
    path = mail / f"{NAME}.json"
    path.write_text(json.dumps(json.loads(path.read_bytes())), encoding="utf-8")

    answers = list_answers(checked := caveat("verify", path, "--json"))

    assert (checked.code, answers["record"], answers["bytes"]) == (1, "no", "no")


def test_a_checkpoint_of_another_log_is_not_taken(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """What the user expects is named beside what was found."""
    checked = caveat("verify", f"{NAME}.json", "--origin", "caveat.log/OTHER/1", "--key", read_vkey(given_out), "--json")

    assert (checked.code, list_answers(checked)["checkpoint"]) == (1, "no")
    assert "expected one of caveat.log/OTHER/1" in find_note(checked, "checkpoint")


def test_a_stranger_who_signs_in_the_logs_name_is_found_by_its_key(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """A known key of the log that did not sign is a no; a signature that does not fit its checkpoint too."""
    from registry.records.log_seal import KeyAlgorithm
    from registry.seal.signing_keys import make_key

    origin = read_vkey(given_out).split("+")[0]
    other = make_key(KeyAlgorithm.ED25519, origin, seed=bytes(32))

    foreign = caveat("verify", f"{NAME}.json", "--key", str(other.vkey), "--json")
    proof = mail / f"{NAME}.json.tlog-proof"
    text = proof.read_text(encoding="utf-8")
    size = text.partition("\n\n")[2].split("\n")[1]
    proof.write_text(text.replace(f"\n{size}\n", f"\n{int(size) + 1}\n"), encoding="utf-8")
    altered = caveat("verify", f"{NAME}.json", "--key", read_vkey(given_out), "--json")

    assert (foreign.code, list_answers(foreign)["checkpoint"]) == (1, "no")
    assert "no key of" in find_note(foreign, "checkpoint")
    assert (altered.code, list_answers(altered)["checkpoint"], list_answers(altered)["inclusion"]) == (1, "no", "no")


def test_a_proof_that_cannot_be_read_is_no_proof(caveat: Caveat, mail: Path) -> None:
    """Beside a file it is a no with the reason; given for itself it is refused."""
    proof = mail / f"{NAME}.json.tlog-proof"
    proof.write_text(proof.read_text(encoding="utf-8").replace("index ", "index 0"), encoding="utf-8")

    beside = caveat("verify", f"{NAME}.json", "--json")
    alone = caveat("verify", proof)

    assert (beside.code, list_answers(beside)["published"], list_answers(beside)["inclusion"]) == (1, "no", "not_checked")
    assert (alone.code, "bad-proof" in alone.err) == (2, True)


def test_a_proof_alone_says_of_which_file_it_is(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """Its inclusion, its checkpoint and its consistency are checked; the file is asked for."""
    checked = caveat("verify", f"{NAME}.json.tlog-proof", "--key", read_vkey(given_out), "--json")

    answers = list_answers(checked)
    assert (checked.code, checked.document["files"][0]["kind"]) == (0, "proof")
    assert answers == {
        "published": "not_checked", "inclusion": "yes", "checkpoint": "yes", "witnesses": "not_checked", "consistency": "yes",
    }  # fmt: skip


def test_a_witness_that_is_known_is_named(caveat: Caveat, mail: Path, given_out: Path) -> None:
    """A cosignature counts when its key is given; before that it is told and not believed."""
    from datetime import UTC, datetime

    from registry.records.log_seal import KeyAlgorithm
    from registry.seal.signed_notes import cosign
    from registry.seal.signing_keys import make_key

    witness = make_key(KeyAlgorithm.ED25519, "witness.example", seed=bytes(range(32)))
    proof = mail / f"{NAME}.json.tlog-proof"
    text = proof.read_text(encoding="utf-8")
    line = cosign(text.partition("\n\n")[2], witness, at=datetime(2026, 11, 22, 12, tzinfo=UTC))
    proof.write_text(text + line, encoding="utf-8")

    known = caveat("verify", f"{NAME}.json", "--key", str(witness.vkey), "--json")
    unknown = caveat("verify", f"{NAME}.json", "--json")

    assert (list_answers(known)["witnesses"], list_answers(unknown)["witnesses"]) == ("yes", "not_checked")
    assert "witness.example on 2026-11-22 12:00 UTC" in find_note(known, "witnesses")
    assert "in the name of witness.example; its keys are not known here" in find_note(unknown, "witnesses")


def test_keys_that_are_none_are_refused_together(caveat: Caveat, mail: Path) -> None:
    """Every key that cannot be read is named at once, and nothing is verified."""
    (mail / "empty.txt").write_text("# nothing\n", encoding="utf-8")

    refused = caveat("verify", f"{NAME}.json", "--key", "a+b+c", "--key", "missing.pem", "--key", "empty.txt")

    assert (refused.code, refused.out) == (2, "")
    assert [code in refused.err for code in ("bad-vkey", "file-not-readable", "empty.txt")] == [True] * 3


def test_publishing_the_same_files_again_changes_nothing(caveat: Caveat, given_out: Path, tmp_path: Path) -> None:
    """The same digests have one publication, and a proof that is there stays, however long the log has become."""
    out = take_copy(given_out, tmp_path)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    size = caveat("admin", "log", "show", "--json").document["size"]

    caveat("report", "--from", out / f"{NAME}.json", "--json", "--html", "-o", "out", "--publish", "--yes")
    same = {path.name: path.read_bytes() for path in out.iterdir()}
    caveat("claim", "withdraw", NAME.partition("@")[0], "--reason", "retracted", "--yes")
    caveat("report", "--from", out / f"{NAME}.json", "--json", "-o", "out", "--publish", "--yes")

    assert same == before
    assert caveat("admin", "log", "show", "--json").document["size"] == size + 1
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert caveat("verify", *HERE, out / f"{NAME}.json").out.startswith("PASS (superseded by entry ")


def test_without_a_key_a_publication_has_no_proof_and_says_how_to_get_one(caveat: Caveat, given_out: Path, tmp_path: Path) -> None:
    """The log records it all the same; nothing is left half done."""
    take_copy(given_out, tmp_path)
    shutil.rmtree(tmp_path / "caveat-keys")

    published = caveat("report", NAME.partition("@")[0], "--json", "-o", "new", "--publish", "--yes")

    assert (published.code, [path.suffix for path in (tmp_path / "new").glob("C*")]) == (0, [".json"])
    assert "published without proofs" in published.err
    answers = list_answers(caveat("verify", *HERE, tmp_path / "new" / f"{NAME}.json", "--json"))
    assert (answers["published"], answers["inclusion"]) == ("yes", "not_checked")
