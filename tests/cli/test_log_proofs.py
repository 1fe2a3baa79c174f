"""`caveat admin log prove`, `checkpoint` and `cosign`: what is checked without the registry, and witnesses who are not fooled."""

import hashlib
import shutil
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from registry.seal.key_files import read_keys
from registry.seal.signed_notes import cosign
from tests.cli.conftest import Answer, Caveat
from tests.cli.test_kill import start

At = Callable[..., Answer]


@pytest.fixture
def at(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> At:
    """Run `caveat` in a folder of its own for each name: a lab, a witness, a forger."""
    monkeypatch.setenv("CAVEAT_PASSPHRASE", "")

    def run(where: str, *arguments: str | Path) -> Answer:
        (tmp_path / where).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / where)
        return caveat(*arguments)

    return run


@pytest.fixture
def lab(at: At, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> At:
    """A lab with five entries and a witness with three; made once, and copied."""
    made = tmp_path_factory.getbasetemp() / "lab-and-witness"
    if not made.exists():
        assert at("lab", "init", "--code", "LAB", "--name", "Some Lab").code == 0
        assert at("wit", "init", "--code", "WIT", "--name", "A Witness").code == 0
        _grow(at, "lab", "1", "2")
        shutil.copytree(tmp_path, made)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return at


def _grow(at: At, where: str, *versions: str) -> None:
    for version in versions:
        assert at(where, "model", "add", f"LAB/m/{version}").code == 0


def _vkey(at: At, where: str) -> str:
    (own,) = (one for one in at(where, "admin", "log", "list", "--json").document["logs"] if one["own"])
    return str(own["vkeys"][0])


def _fork(at: At, tmp_path: Path, *versions: str) -> None:
    """A second history under the same key: the lab as it is, and other entries from here on."""
    shutil.copytree(tmp_path / "lab", tmp_path / "fork")
    _grow(at, "fork", *versions)


def _root_by_hand(proof: str) -> tuple[bytes, bytes]:
    """The root that a .tlog-proof leads to and the one that its checkpoint names, by RFC 9162 section 2.1.3.2 written out once more."""
    head, _, note = proof.partition("\n\n")
    magic, extra, index_line, *hashes = head.split("\n")
    assert magic == "c2sp.org/tlog-proof@v1"
    index, last = int(index_line.removeprefix("index ")), int(note.split("\n")[1]) - 1
    root = hashlib.sha256(b"\x00" + b64decode(extra.removeprefix("extra "))).digest()
    for step in map(b64decode, hashes):
        if index % 2 == 1 or index == last:
            root = hashlib.sha256(b"\x01" + step + root).digest()
            while index % 2 == 0 and index:
                index, last = index // 2, last // 2
        else:
            root = hashlib.sha256(b"\x01" + root + step).digest()
        index, last = index // 2, last // 2
    assert last == 0
    return root, b64decode(note.split("\n")[2])


def test_every_entry_is_proven_to_a_stranger(lab: At) -> None:
    """The file alone, by the RFC and SHA-256, leads from what was said to the root that was signed."""
    for entry in range(1, 6):
        root, signed = _root_by_hand(lab("lab", "admin", "log", "prove", str(entry)).out)

        assert root == signed


def test_a_proof_without_text_says_nothing_of_the_entry(lab: At) -> None:
    """What was said is left out where only its being there is to be shown."""
    bare = lab("lab", "admin", "log", "prove", "4", "--no-text").out

    assert "extra" not in bare
    assert bare.startswith("c2sp.org/tlog-proof@v1\nindex 3\n")


def test_an_erased_entry_is_proven_without_its_text(lab: At) -> None:
    """Its leaf still stands in the tree, and the words are gone for the proof too."""
    assert lab("lab", "admin", "log", "erase", "4", "--reason", "x", "--yes").code == 0

    assert "body-erased" in lab("lab", "admin", "log", "prove", "4").err
    assert lab("lab", "admin", "log", "prove", "4", "--no-text").code == 0


def test_a_proof_leads_to_the_checkpoint_that_is_asked_for(lab: At) -> None:
    """An older checkpoint serves, if it is kept and covers the entry; which are kept is said otherwise."""
    assert lab("lab", "admin", "log", "checkpoint").code == 0
    _grow(lab, "lab", "3")

    old = lab("lab", "admin", "log", "prove", "4", "--size", "5", "--json").document
    new = lab("lab", "admin", "log", "prove", "4", "--json").document

    assert (old["size"], new["size"]) == (5, 6)
    assert "kept are those of 5, 6" in lab("lab", "admin", "log", "prove", "4", "--size", "4").err
    assert "checkpoint-not-found" in lab("lab", "admin", "log", "prove", "6", "--size", "5").err


def test_without_a_key_the_last_checkpoint_serves_and_that_is_said(lab: At, tmp_path: Path) -> None:
    """Who has the registry and not its key can prove what was sealed, and nothing since."""
    shutil.move(tmp_path / "lab" / "caveat-keys", tmp_path / "elsewhere")
    nothing = lab("lab", "admin", "log", "checkpoint")
    shutil.move(tmp_path / "elsewhere", tmp_path / "lab" / "caveat-keys")
    assert lab("lab", "admin", "log", "checkpoint").code == 0
    _grow(lab, "lab", "3")
    shutil.move(tmp_path / "lab" / "caveat-keys", tmp_path / "elsewhere")

    last = lab("lab", "admin", "log", "prove", "5", "--json")

    assert (nothing.code, last.code) == (3, 0)
    assert "no-signing-key" in nothing.err
    assert last.document["size"] == 5
    assert "the last checkpoint is taken, of 5 of 6 entries" in last.err
    assert "checkpoint-not-found" in lab("lab", "admin", "log", "prove", "6").err


def test_an_empty_log_has_no_checkpoint(at: At) -> None:
    """There is nothing to sign, and that is said."""
    assert at("empty", "admin", "db", "upgrade").code == 0

    assert "empty-registry" in at("empty", "admin", "log", "checkpoint").err
    assert "entry-not-found" in at("empty", "admin", "log", "prove", "1").err


def test_one_thing_is_proven_at_a_time(lab: At) -> None:
    """An entry or growth, never both or neither."""
    assert lab("lab", "admin", "log", "prove").code == 2
    assert lab("lab", "admin", "log", "prove", "1", "--since", "1").code == 2
    assert lab("lab", "admin", "log", "checkpoint", "--trust", "x").code == 2


def test_a_witness_cosigns_what_goes_on_from_what_it_saw(lab: At) -> None:
    """The first checkpoint is taken as it is, the next ones by proof; each is recorded, and the lab keeps the cosignature."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    first = lab("wit", "admin", "log", "cosign", "../lab/first.note", "--vkey", _vkey(lab, "lab"), "-o", "back.note")
    _grow(lab, "lab", "3", "4")
    lab("lab", "admin", "log", "prove", "--since", "5", "-o", "grown")
    second = lab("wit", "admin", "log", "cosign", "../lab/grown", "--json")

    kept = lab("lab", "admin", "log", "checkpoint", "--attach", "../wit/back.note", "--trust", _vkey(lab, "wit"))

    assert (first.code, second.code, kept.code) == (0, 0, 0)
    assert "the first checkpoint" in first.err
    assert (second.document["seen"], second.document["size"], second.document["new"]) == (5, 7, True)
    assert [one["payload"]["size"] for one in lab("wit", "admin", "log", "show", "--kind", "witnessing", "--json").document["entries"]] == [
        5,
        7,
    ]
    assert kept.out.count("— ") == 2
    assert "cosigned by caveat.log/WIT/" in lab("lab", "admin", "log", "check", "--key", _vkey(lab, "wit")).out
    assert lab("lab", "admin", "log", "list", "--json").document["logs"][0]["cosigned_by"] == []


def test_the_same_checkpoint_is_cosigned_once(lab: At) -> None:
    """Asked again, the witness gives out the same note and records nothing."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    once = lab("wit", "admin", "log", "cosign", "../lab/first.note", "--vkey", _vkey(lab, "lab"))

    again = lab("wit", "admin", "log", "cosign", "../lab/first.note")

    assert again.out == once.out
    assert lab("wit", "admin", "log", "list", "--json").document["logs"][0]["entries"] == 4


def test_a_witness_asks_for_the_key_and_for_the_proof_it_needs(lab: At) -> None:
    """Nothing is signed on a stranger's word: not without the key, not with another's, not without the proof from what was seen."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    unknown = lab("wit", "admin", "log", "cosign", "../lab/first.note")
    wrong = lab("wit", "admin", "log", "cosign", "../lab/first.note", "--vkey", _vkey(lab, "wit"))
    assert lab("wit", "admin", "log", "cosign", "../lab/first.note", "--vkey", _vkey(lab, "lab")).code == 0
    _grow(lab, "lab", "3")
    lab("lab", "admin", "log", "checkpoint", "-o", "second.note")
    lab("lab", "admin", "log", "prove", "--since", "4", "-o", "other-start")
    lab("lab", "admin", "log", "prove", "--since", "5", "--size", "5", "-o", "other-end")

    bare = lab("wit", "admin", "log", "cosign", "../lab/second.note")
    start = lab("wit", "admin", "log", "cosign", "../lab/second.note", "--proof", "../lab/other-start")
    end = lab("wit", "admin", "log", "cosign", "../lab/second.note", "--proof", "../lab/other-end")

    assert {one.code for one in (unknown, wrong, bare, start, end)} == {2}
    assert "wrong-key" in unknown.err
    assert "wrong-key" in wrong.err
    assert "caveat admin log prove --since 5" in bare.err
    assert "begins with 4" in start.err
    assert "leads to another checkpoint" in end.err
    assert lab("wit", "admin", "log", "list", "--json").document["logs"][0]["entries"] == 4


def test_a_witness_does_not_go_back(lab: At) -> None:
    """An older checkpoint is refused: it may be published to hide what came since."""
    lab("lab", "admin", "log", "checkpoint", "-o", "old.note")
    _grow(lab, "lab", "3")
    lab("lab", "admin", "log", "checkpoint", "-o", "new.note")
    assert lab("wit", "admin", "log", "cosign", "../lab/new.note", "--vkey", _vkey(lab, "lab")).code == 0

    refused = lab("wit", "admin", "log", "cosign", "../lab/old.note")

    assert refused.code == 2
    assert "not-newer" in refused.err


def test_two_histories_of_one_size_are_evidence(lab: At, tmp_path: Path) -> None:
    """Both signed notes are recorded, once, and the exit code says no."""
    _fork(lab, tmp_path, "9")
    _grow(lab, "lab", "3")
    lab("lab", "admin", "log", "checkpoint", "-o", "one.note")
    lab("fork", "admin", "log", "checkpoint", "-o", "other.note")
    assert lab("wit", "admin", "log", "cosign", "../lab/one.note", "--vkey", _vkey(lab, "lab")).code == 0

    caught = lab("wit", "admin", "log", "cosign", "../fork/other.note")
    again = lab("wit", "admin", "log", "cosign", "../fork/other.note")

    (evidence,) = lab("wit", "admin", "log", "show", "--kind", "equivocation", "--json").document["entries"]
    assert (caught.code, again.code) == (1, 1)
    assert "equivocation" in caught.err
    assert evidence["payload"]["second"] == (tmp_path / "fork" / "other.note").read_text(encoding="utf-8")


def test_a_longer_history_that_is_another_is_evidence_by_its_own_proof(lab: At, tmp_path: Path) -> None:
    """The forger's consistency proof gives away that its log had another root at the size that was cosigned."""
    _fork(lab, tmp_path, "6", "7", "8", "9")
    _grow(lab, "lab", "3")
    lab("lab", "admin", "log", "checkpoint", "-o", "one.note")
    lab("fork", "admin", "log", "prove", "--since", "6", "-o", "grown")
    assert lab("wit", "admin", "log", "cosign", "../lab/one.note", "--vkey", _vkey(lab, "lab")).code == 0

    caught = lab("wit", "admin", "log", "cosign", "../fork/grown")

    (evidence,) = lab("wit", "admin", "log", "show", "--kind", "equivocation", "--json").document["entries"]
    assert caught.code == 1
    assert "the first 6 entries have the root" in evidence["payload"]["finding"]
    assert evidence["payload"]["proof"] is not None


def test_a_proof_that_leads_nowhere_is_not_cosigned_and_is_no_evidence(lab: At, tmp_path: Path) -> None:
    """A proof may be broken by accident: nothing is signed, and no one is accused."""
    _fork(lab, tmp_path, "6", "7", "8", "9", "10")
    _grow(lab, "lab", "3", "4", "5")
    lab("lab", "admin", "log", "checkpoint", "-o", "one.note")
    lab("fork", "admin", "log", "prove", "--since", "8", "-o", "grown")
    assert lab("wit", "admin", "log", "cosign", "../lab/one.note", "--vkey", _vkey(lab, "lab")).code == 0

    refused = lab("wit", "admin", "log", "cosign", "../fork/grown")

    assert refused.code == 1
    assert "not-consistent" in refused.err
    assert lab("wit", "admin", "log", "list", "--json").document["logs"][0]["entries"] == 4


def test_a_cosignature_is_kept_only_from_a_known_key_and_only_if_it_holds(lab: At, tmp_path: Path) -> None:
    """A stranger's line is left out and named; an altered one of a known witness refuses the note."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    assert lab("wit", "admin", "log", "cosign", "../lab/first.note", "--vkey", _vkey(lab, "lab"), "-o", "back.note").code == 0
    note = (tmp_path / "wit" / "back.note").read_text(encoding="utf-8")
    line = note.rstrip("\n").rsplit("\n", 1)[1]
    (tmp_path / "lab" / "bad.note").write_text(note.replace(line[-8:-4], "AAAA"), encoding="utf-8")

    stranger = lab("lab", "admin", "log", "checkpoint", "--attach", "../wit/back.note", "--json")
    broken = lab("lab", "admin", "log", "checkpoint", "--attach", "bad.note", "--trust", _vkey(lab, "wit"))

    assert stranger.document["note"].count("— ") == 1
    assert "its key is not known here" in stranger.document["excluded"][0]
    assert (broken.code, "signature-not-valid" in broken.err) == (2, True)
    assert lab("lab", "admin", "log", "checkpoint").out.count("— ") == 1


def test_a_false_line_beside_a_good_one_of_the_same_key_is_not_kept(lab: At, tmp_path: Path) -> None:
    """Each line is held against its key, wherever it stands: a good one does not speak for its neighbour."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    assert lab("wit", "admin", "log", "cosign", "../lab/first.note", "--vkey", _vkey(lab, "lab"), "-o", "back.note").code == 0
    text, blank, lines = (tmp_path / "wit" / "back.note").read_text(encoding="utf-8").partition("\n\n")
    own, line = lines.splitlines()
    (tmp_path / "lab" / "two.note").write_text(text + blank + f"{own}\n{_falsify(line)}\n{line}\n", encoding="utf-8")

    refused = lab("lab", "admin", "log", "checkpoint", "--attach", "two.note", "--trust", _vkey(lab, "wit"))

    assert (refused.code, "signature-not-valid" in refused.err) == (2, True)
    assert lab("lab", "admin", "log", "checkpoint").out.count("— ") == 1


def test_one_cosignature_of_each_key_is_kept(lab: At, tmp_path: Path) -> None:
    """A witness that signs again and again does not fill the checkpoint until no one can read it."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    note = (tmp_path / "lab" / "first.note").read_text(encoding="utf-8")
    (key,) = read_keys(tmp_path / "wit" / "caveat-keys", ask=lambda: None).log
    often = "".join(cosign(note, key, at=datetime(2026, 1, day, tzinfo=UTC)) for day in range(1, 4))
    (tmp_path / "lab" / "often.note").write_text(note + often, encoding="utf-8")

    kept = lab("lab", "admin", "log", "checkpoint", "--attach", "often.note", "--trust", str(key.vkey))
    again = lab("lab", "admin", "log", "checkpoint", "--attach", "often.note", "--trust", str(key.vkey))

    assert (kept.code, again.code) == (0, 0)
    assert kept.err == f"kept: {key.name}\n"
    assert again.out == kept.out == note + often.partition("\n")[0] + "\n"


def test_what_pretends_to_be_the_witness_own_line_is_dropped(lab: At, tmp_path: Path) -> None:
    """The note that is recorded and published has one line of the witness: the one it signs now."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    shutil.copytree(tmp_path / "wit", tmp_path / "twin")
    assert lab("twin", "admin", "log", "cosign", "../lab/first.note", "--vkey", _vkey(lab, "lab"), "-o", "back.note").code == 0
    text, blank, lines = (tmp_path / "twin" / "back.note").read_text(encoding="utf-8").partition("\n\n")
    own, line = lines.splitlines()
    (tmp_path / "lab" / "false.note").write_text(text + blank + f"{own}\n{_falsify(line)}\n", encoding="utf-8")

    once = lab("wit", "admin", "log", "cosign", "../lab/false.note", "--vkey", _vkey(lab, "lab"))
    again = lab("wit", "admin", "log", "cosign", "../lab/false.note")

    assert (once.code, again.code, again.out) == (0, 0, once.out)
    assert once.out.count("— ") == 2
    assert _falsify(line) not in once.out


def test_a_note_without_room_for_a_line_is_not_cosigned(lab: At, tmp_path: Path) -> None:
    """What could not be read again is not recorded: it could not be held against its log later."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    note = (tmp_path / "lab" / "first.note").read_text(encoding="utf-8")
    strangers = "".join(f"— stranger{number} AAAAAAAA\n" for number in range(63))
    (tmp_path / "lab" / "full.note").write_text(note + strangers, encoding="utf-8")

    refused = lab("wit", "admin", "log", "cosign", "../lab/full.note", "--vkey", _vkey(lab, "lab"))

    assert (refused.code, "bad-note" in refused.err) == (2, True)
    assert lab("wit", "admin", "log", "list", "--json").document["logs"][0]["entries"] == 3


def test_who_stops_listening_has_the_file_all_the_same(lab: At, tmp_path: Path) -> None:
    """What is recorded is also written, though no one reads what is said of it (`| head -1`)."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")
    vkey = _vkey(lab, "lab")

    process = start(tmp_path / "wit", "admin", "log", "cosign", "../lab/first.note", "--vkey", vkey, "-o", "back.note")
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    process.wait(timeout=120)

    assert (tmp_path / "wit" / "back.note").read_text(encoding="utf-8").count("— ") == 2


def _falsify(line: str) -> str:
    """The same name and key, and another signature."""
    return line[:-8] + ("AAAA" if line[-8:-4] != "AAAA" else "BBBB") + line[-4:]


def test_a_note_of_another_log_or_size_is_not_attached(lab: At) -> None:
    """Cosignatures belong to one checkpoint of one log."""
    lab("lab", "admin", "log", "checkpoint", "-o", "lab.note")
    lab("wit", "admin", "log", "checkpoint", "-o", "wit.note")

    other = lab("lab", "admin", "log", "checkpoint", "--attach", "../wit/wit.note")

    assert (other.code, "wrong-log" in other.err) == (2, True)


def test_its_own_log_is_no_business_of_a_witness(lab: At) -> None:
    """A log cannot vouch for itself."""
    lab("lab", "admin", "log", "checkpoint", "-o", "first.note")

    refused = lab("lab", "admin", "log", "cosign", "first.note")

    assert (refused.code, "own-log" in refused.err) == (2, True)


@pytest.mark.parametrize("text", ["", "old 5\n", "old 05\n\nx\n1\nAA==\n", "hello\n", "old 5\nAA==\n\n" + "x" * 9, "\x00" * 100])
def test_what_is_no_note_is_refused(lab: At, tmp_path: Path, text: str) -> None:
    """Rubbish from elsewhere ends with what was expected."""
    (tmp_path / "wit" / "bad").write_text(text, encoding="utf-8")

    refused = lab("wit", "admin", "log", "cosign", "bad")

    assert refused.code == 2
    assert "bad-" in refused.err
