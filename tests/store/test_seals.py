"""Roots, proofs and checkpoints of a log, on every engine."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from registry.errors import AlteredError, CaveatError, ConflictError, InputError, NotFoundError
from registry.records.log_seal import Checkpoint
from registry.seal import merkle_tree as tree
from registry.store import database_schema as schema
from registry.store import log_seals as seals
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_log
from registry.store.registry_rebuild import verify
from tests.store import builders as make
from tests.store import sealing

SIZES = (0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 272, 300)


@pytest.fixture
def long(ledger: Ledger) -> Ledger:
    """Three hundred entries, written in transactions of many sizes."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
    size, many = 2, 1
    while size < 300:
        many = min(many * 2, 300 - size)
        with ledger.write(actor="LAB") as writer:
            names = writer.allocate(make.Kind.CLAIM, "LAB", many)
            writer.append_many([make.claim(name, phi, quote=f"Claim {name}.") for name in names])
        size += many
    return ledger


def test_roots_are_those_of_the_leaves_at_every_size(long: Ledger) -> None:
    """Whether subtrees are complete or not; a view of an earlier entry has the root of then."""
    with long.view() as view:
        leaves = list(view.leaves())
        roots = [seals.find_root(view, size) for size in SIZES]

    assert roots == [tree.root_of(leaves[:size]).hex() for size in SIZES]
    with long.view(257) as earlier:
        assert seals.find_root(earlier) == tree.root_of(leaves[:257]).hex()
        with pytest.raises(NotFoundError, match="entry-not-found"):
            seals.find_root(earlier, 258)


def test_every_path_leads_to_the_root(long: Ledger) -> None:
    """Inclusion of first, last and middle entries, and consistency of every two sizes."""
    with long.view() as view:
        leaves = list(view.leaves())
        roots = {size: tree.root_of(leaves[:size]) for size in SIZES}
        for size in SIZES[1:]:
            for seq in {1, (size + 1) // 2, size}:
                path = seals.inclusion_path(view, seq, size)
                assert tree.root_from_inclusion(leaves[seq - 1], seq - 1, size, path) == roots[size]
            for old in (smaller for smaller in SIZES if smaller <= size):
                path = seals.consistency_path(view, old, size)
                assert tree.is_consistent(old, roots[old], size, roots[size], path)


def test_one_proof_for_many_entries(long: Ledger) -> None:
    """With the leaves of the entries its nodes give the root, and its openings give the leaves."""
    with long.view(290) as view:
        proof = seals.prove(view, [2, 3, 150, 290], openings=[3, 2])
        leaves = {seq - 1: leaf for seq, leaf in enumerate(view.leaves(), 1) if seq in {2, 3, 150, 290}}
        root = seals.find_root(view)

    assert (proof.size, proof.root) == (290, root)
    assert tree.root_from_nodes(leaves, proof.nodes, 290).hex() == root
    assert [(opening.entry, len(opening.salt), opening.text) for opening in proof.openings] == [(2, 32, None), (3, 32, None)]


@pytest.mark.parametrize(("entries", "openings"), [([0], []), ([301], []), ([1], [301])])
def test_what_is_not_there_is_not_proven(long: Ledger, entries: list[int], openings: list[int]) -> None:
    """By number."""
    with long.view() as view, pytest.raises(NotFoundError, match="entry-not-found"):
        seals.prove(view, entries, openings=openings)


def test_an_erased_text_is_proven_and_cannot_be_opened(long: Ledger) -> None:
    """Its leaf stands in the tree as before."""
    with long.view() as view:
        before = seals.prove(view, [7])
    with long.write(actor="LAB") as writer:
        writer.erase(7, why="It named a person.")

    with long.view(300) as view:
        assert seals.prove(view, [7]) == before
        with pytest.raises(NotFoundError, match="body-erased"):
            seals.prove(view, [7], openings=[7])


def test_a_registry_without_subtrees_is_filled_up_by_its_first_writer(tmp_path: Path) -> None:
    """One that lost them reads roots from its leaves until then, the same ones."""
    path = tmp_path / "registry.db"
    url = f"sqlite:///{path}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=lambda: make.START + timedelta(days=3650), salt=make.salting())
    with ledger.write(actor="LAB") as writer:
        make.settle(writer)
    with ledger.write(actor="LAB") as writer:
        writer.append_many([make.authority(f"LAB{number}") for number in range(40)])
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.executescript("DROP TRIGGER node__delete; DELETE FROM node;")
    connection.close()
    with ledger.view() as view:
        size = view.log_size
        root = seals.find_root(view)
        assert root == tree.root_of(view.leaves()).hex()
    assert verify(ledger).entries == size

    with ledger.write(actor="LAB") as writer:
        writer.append(make.authority("ONEMORE"))

    with sqlite3.connect(path) as connection:
        kept = connection.execute("SELECT seq, level FROM node ORDER BY seq").fetchall()
    connection.close()
    assert kept == [(16 * number, 4) for number in range(1, (size + 1) // 16 + 1)]
    with ledger.view(size) as view:
        assert seals.find_root(view) == root
    assert [fault.code for fault in check_log(ledger).findings] == ["guard-missing"]
    ledger.close()


def test_checkpoints_are_kept_with_what_others_sign(long: Ledger) -> None:
    """By size, with cosignatures added to the note; what is there is not kept twice, and as of an earlier entry none is seen."""
    with long.write(actor="LAB") as writer:
        first = sealing.seal(writer, size=100, witnessed_at=make.START)
        sealing.seal(writer, size=100, witnessed_at=make.START)
        sealing.seal(writer)

    with long.view() as view:
        kept = seals.list_checkpoints(view)
        assert [stored.checkpoint.size for stored in kept] == [100, 300]
        assert kept[0].note.startswith(first)
        assert kept[0].note.count(sealing.WITNESS) == 1
        assert kept[0].checkpoint.root == seals.find_root(view, 100)
        assert seals.find_checkpoint(view, 100) == kept[0]
        assert seals.find_checkpoint(view, 99) is None
    with long.view(299) as view:
        assert [checkpoint.checkpoint.size for checkpoint in seals.list_checkpoints(view)] == [100]


def _of(**changes: object) -> Callable[[Checkpoint], Checkpoint]:
    return lambda checkpoint: Checkpoint(**({"origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root} | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_of(origin="other.example/log"), "wrong-log"),
        (_of(size=301), "entry-not-found"),
        (_of(size=0), "empty-registry"),
        (_of(root="ab" * 32), "history-differs"),
        (_of(size=299), "history-differs"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused(long: Ledger, change: Callable[[Checkpoint], Checkpoint], code: str) -> None:
    """Nothing that contradicts the log is kept."""
    with long.view() as view:
        checkpoint = change(Checkpoint(origin=view.log_origin, size=300, root=seals.find_root(view)))

    with pytest.raises((ConflictError, InputError), match=code), long.write(actor="LAB") as writer:
        seals.add_checkpoint(writer, sealing.note_of(checkpoint.origin, checkpoint.size, checkpoint.root), checkpoint)


def test_a_second_note_of_one_size_is_refused(long: Ledger) -> None:
    """Further signatures are cosignatures; a line that is none, or is of no checkpoint, is refused."""
    with long.write(actor="LAB") as writer:
        sealing.seal(writer)
        checkpoint = seals.list_checkpoints(writer)[0].checkpoint
        with pytest.raises(ConflictError, match="already-recorded"):
            seals.add_checkpoint(writer, "another note", checkpoint)
        with pytest.raises(InputError, match="not-a-signature"):
            seals.add_cosignature(writer, 300, "me", make.START)
        with pytest.raises(NotFoundError, match="checkpoint-not-found"):
            seals.add_cosignature(writer, 299, "\u2014 me AAAA", make.START)


def test_what_is_signed_rests_on_no_kept_subtree(long: Ledger) -> None:
    """A root that comes from an altered subtree is not the one that the leaves give, and is not kept."""
    with long.connect() as connection:
        engine = connection.dialect.name
        drop = "DROP TRIGGER node__update" if engine == "sqlite" else "DROP TRIGGER node__change ON node"
        connection.exec_driver_sql(drop)
        connection.exec_driver_sql("UPDATE node SET hash = (SELECT leaf FROM entry WHERE seq = 1) WHERE level = 8")
        connection.commit()

    with pytest.raises(CaveatError, match="history-differs"), long.write(actor="LAB") as writer:
        sealing.seal(writer)


def test_a_proof_over_missing_entries_is_refused(long: Ledger) -> None:
    """Rather than computed from the wrong leaves."""
    with long.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            connection.exec_driver_sql("DROP TRIGGER entry__delete")
        else:
            connection.exec_driver_sql("SET session_replication_role = replica")
        connection.exec_driver_sql("DELETE FROM entry WHERE seq = 291")
        connection.commit()
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA foreign_keys = ON")
        else:
            connection.exec_driver_sql("SET session_replication_role = DEFAULT")
            connection.commit()

    with long.view() as view, pytest.raises(AlteredError, match="entry-altered"):
        seals.inclusion_path(view, 290, 300)
