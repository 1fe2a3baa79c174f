"""Erasing a text: what stays, what is said of it, and what is never erased."""

from pathlib import Path

import pytest
from sqlalchemy import text

from registry.errors import ConflictError, InputError, NotFoundError
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from tests.store import builders as make


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    """Somebody, a property and two claims."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        make.add_claim(writer, phi, quote="A secret name.")
        make.add_claim(writer, phi, quote="Nothing.")
    return ledger


@pytest.mark.parametrize(
    ("seq", "why", "code"),
    [
        (9, "There is none.", "entry-not-found"),
        (1, "We were never here.", "not-erasable"),
        (2, "It is ours.", "not-erasable"),
        (4, "  ", "reason-missing"),
    ],
)
def test_what_may_not_be_erased_stays(filled: Ledger, seq: int, why: str, code: str) -> None:
    """Entries that others rest on are refused with the reason; nothing is recorded."""
    with pytest.raises((InputError, NotFoundError), match=code), filled.write(actor="LAB") as writer:
        writer.erase(seq, why=why)

    with filled.view() as view:
        assert view.log_size == 4
        assert all(words is not None for _, words in view.log_entries())


def test_an_erasure_is_said_once_and_never_erased(filled: Ledger) -> None:
    """The second time is refused, and so is erasing what says it."""
    with filled.write(actor="LAB") as writer:
        by = writer.erase(3, why="It named a person.")

    with pytest.raises(ConflictError, match="already-recorded"), filled.write(actor="LAB") as writer:
        writer.erase(3, why="Once more.")
    with pytest.raises(InputError, match="not-erasable"), filled.write(actor="LAB") as writer:
        writer.erase(by.seq, why="No one need know.")


def test_a_text_that_came_back_goes_again_without_another_word(filled: Ledger) -> None:
    """As after a backup was put back: the entry that says it is there already."""
    with filled.view() as view:
        words = {entry.seq: text for entry, text in view.log_entries()}[3]
    with filled.write(actor="LAB") as writer:
        by = writer.erase(3, why="It named a person.")
    assert words is not None
    with filled.connect() as connection:
        connection.execute(text("INSERT INTO body VALUES (1, 3, :words)"), {"words": words.decode()})
        connection.commit()

    with filled.write(actor="LAB") as writer:
        again = writer.erase(3, why="It came back.")

    assert again == by
    with filled.view() as view:
        assert view.log_size == by.seq
        assert {entry.seq: text for entry, text in view.log_entries()}[3] is None


def test_an_erased_text_is_not_left_in_the_file(tmp_path: Path) -> None:
    """Neither in pages that SQLite has no more use for, nor in its write-ahead log."""
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        make.add_claim(writer, phi, quote="Unmistakable name of a person.")
        make.add_claim(writer, phi, quote="Another claim.")
    assert any(b"Unmistakable name" in path.read_bytes() for path in tmp_path.iterdir())

    with ledger.write(actor="LAB") as writer:
        writer.erase(3, why="It named a person.")

    assert not any(b"Unmistakable name" in path.read_bytes() for path in tmp_path.iterdir())
    assert any(b"Another claim." in path.read_bytes() for path in tmp_path.iterdir())
    ledger.close()
