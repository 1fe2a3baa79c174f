"""A log that signs two histories: found, kept as evidence that a stranger can check, and told from what no one signed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from registry.errors import AnswerNoError, CaveatError, InputError
from registry.exchange.bundle_transfer import take_over
from registry.exchange.foreign_logs import find_equivocation, record_equivocation, verify_equivocation
from registry.records.log_seal import Checkpoint, Equivocation, KeyAlgorithm, Witnessing
from registry.registration.key_registration import rotate_key
from registry.seal.signed_notes import parse_vkey, sign_checkpoint
from registry.seal.signing_keys import make_key
from registry.store.log_seals import find_root
from tests.transfer.registries import Institute

Institutes = Callable[..., Institute]


@pytest.fixture
def fork(institutes: Institutes) -> Institute:
    """A registry with the same name and key as `aisi`, and another history from entry 3 on."""
    fork = institutes("AISI", 1, "fork")
    fork.add_claims(4, quote="It never schemes.")
    return fork


def accuse(lab: Institute, path: Path) -> Equivocation:
    """Import *path* into *lab*, where it is refused with evidence, and return that."""
    own, foreign = lab.ledger.list_logs()
    with pytest.raises(AnswerNoError) as refused:
        take_over(lab.ledger, path, actor=lab.code)
    assert refused.value.code == "equivocation"
    assert [one.size for one in lab.ledger.list_logs()] == [own.size + 1, foreign.size]
    with lab.ledger.view() as view:
        return find_equivocation(view, foreign.origin)[-1]


@pytest.fixture
def knowing(aisi: Institute, lab: Institute, tmp_path: Path) -> Institute:
    """A lab that took over seven entries of AISI."""
    aisi.export(tmp_path / "first.caveat")
    take_over(lab.ledger, tmp_path / "first.caveat", actor="LAB", keys=(aisi.vkey,))
    return lab


def test_two_histories_of_one_size_are_evidence_alone(knowing: Institute, fork: Institute, tmp_path: Path) -> None:
    """The two signed notes contradict each other; the first entry that differs is named; nothing of the second is imported."""
    fork.export(tmp_path / "fork.caveat", size=7)

    said = accuse(knowing, tmp_path / "fork.caveat")

    assert said.proof is None
    assert said.finding.startswith("entry 4 has the leaf ")
    verify_equivocation(said)


@pytest.mark.parametrize("size", [4, 5, 6, 8, 11])
def test_histories_of_different_sizes_are_evidence_with_a_proof(size: int, knowing: Institute, fork: Institute, tmp_path: Path) -> None:
    """The proof leads from two roots at one size to the two signed notes, whichever is longer."""
    fork.add_claims(4, quote="Never.")
    fork.export(tmp_path / "fork.caveat", size=size)

    said = accuse(knowing, tmp_path / "fork.caveat")

    assert said.proof is not None
    assert json.loads(said.proof)["size"] == min(size, 7)
    verify_equivocation(said)


@pytest.mark.parametrize("since", [4, 5, 6, 7])
def test_a_stretch_of_another_history_is_evidence(since: int, knowing: Institute, fork: Institute, tmp_path: Path) -> None:
    """The peaks of a stretch say what came before it, so they can contradict what is here."""
    fork.add_claims(4, quote="Never.")
    fork.export(tmp_path / "fork.caveat", since=since)

    said = accuse(knowing, tmp_path / "fork.caveat")

    assert json.loads(said.proof or "")["size"] == since
    assert f"its first {since} entries" in said.finding


def test_a_cosigned_checkpoint_holds_a_log_to_its_history(aisi: Institute, lab: Institute, fork: Institute, tmp_path: Path) -> None:
    """Who only witnessed a log finds out too."""
    note = aisi.seal(5)
    with aisi.ledger.view() as view:
        root = find_root(view, 5)
    with lab.ledger.write(actor="LAB") as writer:
        writer.append(Witnessing(origin=aisi.origin, size=5, root=root, vkey=str(aisi.vkey), note=note))
    fork.export(tmp_path / "fork.caveat")

    with pytest.raises(AnswerNoError) as refused:
        take_over(lab.ledger, tmp_path / "fork.caveat", actor="LAB")
    with lab.ledger.view() as view:
        (said,) = find_equivocation(view, aisi.origin)

    assert refused.value.code == "equivocation"
    assert (said.first, len(lab.ledger.list_logs())) == (note, 1)
    verify_equivocation(said)


def test_the_same_evidence_is_recorded_once(knowing: Institute, fork: Institute, tmp_path: Path) -> None:
    """Sending the second history again is refused again, and adds nothing."""
    fork.export(tmp_path / "fork.caveat")
    said = accuse(knowing, tmp_path / "fork.caveat")
    with knowing.ledger.view() as view:
        before = view.log_size

    with pytest.raises(AnswerNoError, match="recorded before"):
        take_over(knowing.ledger, tmp_path / "fork.caveat", actor="LAB")
    with knowing.ledger.write(actor="LAB") as writer:
        assert not record_equivocation(writer, said)
    with knowing.ledger.view() as view:
        assert view.log_size == before


def test_the_first_history_still_goes_on_with_a_warning(aisi: Institute, knowing: Institute, fork: Institute, tmp_path: Path) -> None:
    """What came first is not taken back; whoever imports more is told how often the log contradicted itself."""
    fork.export(tmp_path / "fork.caveat")
    accuse(knowing, tmp_path / "fork.caveat")
    aisi.add_claims(1)
    aisi.export(tmp_path / "more.caveat")

    done = take_over(knowing.ledger, tmp_path / "more.caveat", actor="LAB")

    assert (done.new, done.equivocations) == (1, 1)


def test_another_history_that_the_log_did_not_sign_is_no_evidence(
    knowing: Institute, fork: Institute, institutes: Institutes, tmp_path: Path
) -> None:
    """Anybody can write another history; only the log's key makes it the log's word."""
    other = institutes("AISI", 9, "other").key
    note = fork.seal(None, replace(other, name=fork.origin, vkey=None))
    assert fork.origin in note
    fork.export(tmp_path / "fork.caveat")
    with knowing.ledger.view() as view:
        before = view.log_size

    with pytest.raises(CaveatError) as refused:
        take_over(knowing.ledger, tmp_path / "fork.caveat", actor="LAB")
    with knowing.ledger.view() as view:
        assert (refused.value.code, view.log_size, find_equivocation(view, fork.origin)) == ("wrong-key", before, ())


def test_what_is_no_evidence_is_refused(knowing: Institute, fork: Institute, aisi: Institute, tmp_path: Path) -> None:
    """Notes that agree, that no one signed, of two logs, or with a proof that leads elsewhere accuse no one."""
    fork.export(tmp_path / "fork.caveat", size=5)
    said = accuse(knowing, tmp_path / "fork.caveat")
    proof = json.loads(said.proof or "")
    proof["first"]["root"] = proof["second"]["root"]
    foreign = sign_checkpoint(Checkpoint(origin="other", size=5, root="ab" * 32), [aisi.key])
    wrong = [
        replace(said, second=said.first, proof=None),
        replace(said, proof=None),
        replace(said, proof=json.dumps(proof)),
        replace(said, second=said.second[:-9] + "AAAAAAA=\n"),
        replace(said, second=foreign),
        replace(said, vkey=str(knowing.vkey), proof=None),
        replace(said, proof="{}"),
        replace(said, vkey=str(knowing.vkey)),
    ]

    for one in wrong:
        with pytest.raises(InputError, match="not-evidence"), knowing.ledger.write(actor="LAB") as writer:
            record_equivocation(writer, one)


def test_notes_signed_in_another_name_accuse_nobody(aisi: Institute, lab: Institute) -> None:
    """Anybody can put a line of their own under two notes of a log; only lines in the log's name are its word."""
    notes = [sign_checkpoint(Checkpoint(origin=aisi.origin, size=5, root=root * 32), [lab.key]) for root in ("ab", "cd")]
    said = Equivocation(origin=aisi.origin, vkey=str(lab.vkey), first=notes[0], second=notes[1], finding="two", proof=None)

    with pytest.raises(InputError, match="no key of this log"):
        verify_equivocation(said)


def test_evidence_by_a_key_that_was_replaced_says_so(aisi: Institute, lab: Institute, fork: Institute, tmp_path: Path) -> None:
    """Who steals a key that a log has left behind can sign for it; the evidence is kept, and says what speaks for a thief."""
    old, new = aisi.key, make_key(KeyAlgorithm.ED25519, aisi.origin, seed=b"\x07" * 32)
    with aisi.ledger.write(actor=aisi.code) as writer:
        rotate_key(writer, old, new, reason="a year is over")
    aisi.seal(None, old, new)
    aisi.key = new
    aisi.export(tmp_path / "first.caveat")
    take_over(lab.ledger, tmp_path / "first.caveat", actor="LAB", keys=(parse_vkey(new.vkey or "", where="test"),))
    fork.export(tmp_path / "fork.caveat", size=7)

    with pytest.raises(AnswerNoError) as refused:
        take_over(lab.ledger, tmp_path / "fork.caveat", actor="LAB", keys=(fork.vkey,))
    with lab.ledger.view() as view:
        (said,) = find_equivocation(view, aisi.origin)

    assert refused.value.code == "equivocation"
    assert "in the history here entry 8 put another key in the place of the one that signs it" in said.finding
    verify_equivocation(said)
