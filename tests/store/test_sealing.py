"""Sealed specifications in the registry: committed, kept, revealed, and read by whoever needs the body."""

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from registry.codec.canonical_documents import to_document
from registry.codec.statement_encoding import commitment_of
from registry.errors import CaveatError
from registry.records.record import Kind
from registry.records.specification import ContextSpec, MethodSpec, SealFile, SpecKind, SpecVersion
from registry.registration.specification_registration import SealRequest, read_seal, register_spec, reveal_spec, seal_spec
from registry.store.ledger import Ledger
from tests.store import builders as make

BODY = ContextSpec(name="support", description="customer support, as the lab has it")
OTHER = ContextSpec(name="support", description="something else")


def draw(size: int) -> bytes:
    """Bytes that everyone can guess, for tests alone."""
    return bytes(range(size))


def sealing(
    path: Path, body: ContextSpec | MethodSpec = BODY, kind: SpecKind = SpecKind.DEPLOY_CONTEXT, why: str | None = None
) -> SealRequest:
    return SealRequest(kind=kind, slug="support", body=body, path=path, why=why)


def settle(ledger: Ledger) -> None:
    with ledger.write(actor="LAB") as writer:
        make.settle(writer)
        writer.append(make.authority("AISI"))


def seal(ledger: Ledger, seal_request: SealRequest) -> tuple[SpecVersion, bool]:
    """Seal in the lab's name."""
    with ledger.write(actor="LAB") as writer:
        return seal_spec(writer, seal_request, owner="LAB", draw=draw)


def crash(ledger: Ledger, seal_request: SealRequest, made: list[SpecVersion]) -> None:
    """Seal, and stop before anything is recorded."""
    with ledger.write(actor="LAB") as writer:
        made.append(seal_spec(writer, seal_request, owner="LAB", draw=draw)[0])
        raise RuntimeError("power cut")


def test_a_seal_tells_nothing_and_its_file_opens_it(ledger: Ledger, tmp_path: Path) -> None:
    """The log has the commitment, the file the rest, for its owner's eyes alone."""
    settle(ledger)
    path = tmp_path / "support.seal.yaml"

    sealed, is_new = seal(ledger, sealing(path))

    kept = read_seal(path)
    with ledger.view() as view:
        recorded = view.find_spec(sealed.spec, 1)
        assert recorded is not None
        assert (is_new, recorded.payload.body, recorded.payload.commitment) == (True, None, commitment_of(kept.opening))
        assert view.find_opened(f"{sealed.spec}@1") is None
    assert kept.opening.body == BODY
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["support.seal.yaml"]


def test_the_same_command_again_goes_on_with_the_file(ledger: Ledger, tmp_path: Path) -> None:
    """After the record nothing changes; after a crash before it the salt is kept, also when somebody took the identifier since."""
    settle(ledger)
    path = tmp_path / "support.seal.yaml"
    crashed: list[SpecVersion] = []
    with pytest.raises(RuntimeError, match="power cut"):
        crash(ledger, sealing(path), crashed)
    before = read_seal(path)
    with ledger.write(actor="LAB") as writer:
        taken, _ = register_spec(writer, SpecKind.DEPLOY_CONTEXT, "another", OTHER, owner="LAB")

    sealed, is_new = seal(ledger, sealing(path))
    again, is_new_again = seal(ledger, sealing(path))

    after = read_seal(path)
    assert (crashed[0].spec, crashed[0].commitment) == (taken.spec, sealed.commitment)
    assert (is_new, is_new_again, again) == (True, False, sealed)
    assert (after.opening.salt, after.opening.spec) == (before.opening.salt, f"{sealed.spec}@1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_seal_file_is_never_written_over(ledger: Ledger, tmp_path: Path) -> None:
    """Neither by another body, nor where something else stands there."""
    settle(ledger)
    path, notes = tmp_path / "support.seal.yaml", tmp_path / "notes.yaml"
    notes.write_text("mine", encoding="utf-8")
    notes.chmod(0o600)
    seal(ledger, sealing(path))
    before = path.read_bytes()

    codes = []
    for request in (sealing(path, OTHER, why="new"), sealing(notes, OTHER, why="new")):
        with pytest.raises(CaveatError) as caught:
            seal(ledger, request)
        codes.append(caught.value.code)

    assert codes == ["file-exists", "file-exists"]
    assert (path.read_bytes(), notes.read_text(encoding="utf-8")) == (before, "mine")


def test_two_versions_with_one_body_have_different_commitments(ledger: Ledger, tmp_path: Path) -> None:
    """Without the salt no one can tell that a version says what the one before it said."""
    settle(ledger)
    salts = iter((b"a" * 32, b"b" * 32))
    made = []
    for number in (1, 2):
        with ledger.write(actor="LAB") as writer:
            request = sealing(tmp_path / f"{number}.seal.yaml", why="again" if number == 2 else None)
            made.append(seal_spec(writer, request, owner="LAB", draw=lambda _size: next(salts))[0])

    assert [version.version for version in made] == [1, 2]
    assert made[0].commitment != made[1].commitment


def test_what_is_public_cannot_be_sealed(ledger: Ledger, tmp_path: Path) -> None:
    """A seal over a body that stands in the log would hide nothing; a used short name needs the reason of a new version."""
    settle(ledger)
    with ledger.write(actor="LAB") as writer:
        register_spec(writer, SpecKind.DEPLOY_CONTEXT, "support", BODY, owner="LAB")

    codes = []
    for body in (BODY, OTHER):
        with pytest.raises(CaveatError) as caught:
            seal(ledger, sealing(tmp_path / "support.seal.yaml", body))
        codes.append(caught.value.code)

    assert codes == ["already-public", "spec-differs"]
    assert list(tmp_path.iterdir()) == []


def test_a_reveal_shows_the_body_to_everybody_from_then_on(ledger: Ledger, tmp_path: Path) -> None:
    """The version stays as recorded; before the reveal, and as of then, no one reads it; a claim's dossier has the reveal."""
    settle(ledger)
    path = tmp_path / "support.seal.yaml"
    sealed, _ = seal(ledger, sealing(path))
    reference = f"{sealed.spec}@1"
    with ledger.write(actor="LAB") as writer:
        claim = make.add_claim(writer, make.add_property(writer, slug="more"), deploy_contexts=(reference,))
        size = writer.log_size
    with ledger.write(actor="LAB") as writer:
        entry = reveal_spec(writer, read_seal(path), why="the audit is done", actor="LAB")

    with ledger.view() as view:
        recorded = view.find_spec(reference)
        assert recorded is not None
        assert (view.find_opened(reference), recorded.payload.body) == (BODY, None)
        assert [revealed.entry.seq for revealed in view.dossier(claim).reveals] == [entry.seq]
    with ledger.view(size) as earlier:
        assert earlier.find_opened(reference) is None
        assert earlier.dossier(claim).reveals == ()


def test_a_reveal_that_was_erased_shows_nothing_and_breaks_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """What was revealed by mistake can be erased: the claim is still shown, the version is sealed again, and stays revealed once."""
    settle(ledger)
    path = tmp_path / "support.seal.yaml"
    sealed, _ = seal(ledger, sealing(path))
    with ledger.write(actor="LAB") as writer:
        claim = make.add_claim(writer, make.add_property(writer, slug="more"), deploy_contexts=(f"{sealed.spec}@1",))
        entry = reveal_spec(writer, read_seal(path), why=None, actor="LAB")
    with ledger.write(actor="LAB") as writer:
        writer.erase(entry.seq, why="revealed by mistake")

    with ledger.view() as view:
        assert view.find_opened(f"{sealed.spec}@1") is None
        assert view.dossier(claim).reveals == ()
    with pytest.raises(CaveatError, match="already-recorded"), ledger.write(actor="LAB") as writer:
        reveal_spec(writer, read_seal(path), why=None, actor="LAB")


def forge(kept: SealFile, **changes: object) -> dict[str, object]:
    """Return the document of *kept* with other parts of its opening."""
    document = to_document(kept)
    return {**document, "opening": {**document["opening"], **changes}}


FORGED = [
    ({"salt": "0" * 64}, "seal-not-opened"),
    ({"salt": "0" * 62}, "not-valid"),
    ({"salt": "Z" * 64}, "not-valid"),
    ({"spec_kind": "test_context"}, "seal-not-opened"),
    ({"spec_kind": "method"}, "seal-not-opened"),
    ({"spec": "CTX-LAB-2026-0009-B@1"}, "not-registered"),
]


@pytest.mark.parametrize(("changes", "code"), FORGED)
def test_a_forged_opening_opens_nothing(ledger: Ledger, tmp_path: Path, changes: dict[str, object], code: str) -> None:
    """Another salt, kind, body or reference is refused, and nothing is recorded."""
    settle(ledger)
    path = tmp_path / "support.seal.yaml"
    seal(ledger, sealing(path))
    path.write_text(json.dumps(forge(read_seal(path), **changes)), encoding="utf-8")

    with pytest.raises(CaveatError) as caught, ledger.write(actor="LAB") as writer:
        reveal_spec(writer, read_seal(path), why=None, actor="LAB")

    assert caught.value.code == code


def test_a_reveal_is_made_once_and_by_the_owner(ledger: Ledger, tmp_path: Path) -> None:
    """Who was shown the seal file in confidence cannot publish it here."""
    settle(ledger)
    path = tmp_path / "support.seal.yaml"
    seal(ledger, sealing(path))
    kept = read_seal(path)
    codes = []
    for actor in ("AISI", "LAB", "LAB"):
        try:
            with ledger.write(actor=actor) as writer:
                reveal_spec(writer, kept, why=None, actor=actor)
            codes.append("done")
        except CaveatError as error:
            codes.append(error.code)

    assert codes == ["not-permitted", "done", "already-recorded"]


def test_a_body_that_was_never_sealed_is_not_revealed(ledger: Ledger, tmp_path: Path) -> None:
    """A seal file for an open version is refused."""
    settle(ledger)
    path = tmp_path / "support.seal.yaml"
    seal(ledger, sealing(path))
    kept = read_seal(path)
    with ledger.write(actor="LAB") as writer:
        spec = make.context_spec(make.allocate(writer, Kind.CONTEXT), slug="open")
        writer.append(spec)
        moved = replace(kept, opening=replace(kept.opening, spec=f"{spec.spec}@1"))
        with pytest.raises(CaveatError) as caught:
            reveal_spec(writer, moved, why=None, actor="LAB")

    assert caught.value.code == "seal-not-needed"


def test_a_seal_file_that_others_can_read_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    """Whoever reads it can open the seal; the message names the mode and the cure."""
    settle(ledger)
    path = tmp_path / "support.seal.yaml"
    seal(ledger, sealing(path))
    path.chmod(0o644)

    with pytest.raises(CaveatError) as caught:
        read_seal(path)

    assert caught.value.code == "file-open-to-others"
    assert "644" in caught.value.faults[0].found
