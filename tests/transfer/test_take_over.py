"""Another registry's log: taken over whole, once, forwards, and never from anybody else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.errors import CaveatError, ConflictError, InputError
from registry.exchange.bundle_transfer import ImportResult, export_bundle, find_imported_note, take_over
from registry.records.log_seal import LogImport
from registry.records.system_card import Card
from registry.seal.signed_notes import VerifierKey
from registry.store.log_integrity import check_log
from registry.store.registry_rebuild import verify
from tests.store import builders
from tests.store.traversal import check_changes, check_claims
from tests.transfer.registries import Institute, found


def read(into: Institute, path: Path, *keys: VerifierKey) -> ImportResult:
    """Import the bundle *path*."""
    return take_over(into.ledger, path, actor=into.code, keys=keys)


def find_code(into: Institute, path: Path, *keys: VerifierKey) -> str:
    """Return the code that the import is refused with, after seeing that nothing was recorded."""
    with into.ledger.view() as view:
        before = view.log_size
    with pytest.raises(CaveatError) as refused:
        read(into, path, *keys)
    with into.ledger.view() as view:
        assert view.log_size == before
    return refused.value.code


def list_leaves(institute: Institute, origin: str | None = None) -> list[bytes]:
    """Return the leaves of the institute's log, or of another that it took over."""
    with institute.ledger.view(log=origin) as view:
        return list(view.leaves())


def test_a_log_goes_from_registry_to_registry_and_on(new_url: Callable[[], str], tmp_path: Path) -> None:
    """Out of one, into another, out of that one again: the same entries, on SQLite and on PostgreSQL, and rows that fit them."""
    source, target = found(new_url(), "AISI", seed=1), found(new_url(), "LAB", seed=2)
    source.add_quoted()
    source.add_claims(3)
    first = source.export(tmp_path / "first.jsonl")

    done = read(target, tmp_path / "first.jsonl", source.vkey)
    with target.ledger.view() as own, target.ledger.view(log=source.origin) as foreign:
        export_bundle(foreign, find_imported_note(own, source.origin), tmp_path / "second.jsonl")
        claims = [one.claim for one in foreign.list_claims()]
        (card,) = foreign.list_cards()
        text = foreign.get_content(card.payload.text) if isinstance(card.payload, Card) else None
        own_claims = list(own.list_claims())

    assert (tmp_path / "second.jsonl").read_bytes() == (tmp_path / "first.jsonl").read_bytes()
    assert (done.new, done.size, done.root) == (8, 8, first.root)
    assert list_leaves(target, source.origin) == list_leaves(source)
    assert (len(claims), text, own_claims) == (4, builders.TEXT, [])
    assert check_log(target.ledger, log=source.origin).is_sound
    assert verify(target.ledger).foreign == 8
    for one in (source, target):
        one.ledger.close()


def test_what_was_taken_over_is_said_in_the_log(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """The import is a statement: which log, up to where, with which root, key and file."""
    exported = aisi.export(tmp_path / "a.caveat")
    done = read(lab, tmp_path / "a.caveat", aisi.vkey)
    with lab.ledger.view() as view:
        (said,) = [one for one in view.entries() if one.entry.kind == LogImport.KIND]

    payload = said.payload
    assert (payload.origin, payload.size, payload.root, payload.bundle) == (aisi.origin, 7, exported.root, exported.sha256)
    assert (payload.vkey, done.entry) == (str(aisi.vkey), said.entry.seq)


def test_the_same_bundle_twice_changes_nothing(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """The second time everything is here already, and nothing is recorded."""
    aisi.export(tmp_path / "a.caveat")
    read(lab, tmp_path / "a.caveat", aisi.vkey)
    before = list_leaves(lab)

    assert read(lab, tmp_path / "a.caveat").new == 0
    assert list_leaves(lab) == before


def test_a_log_goes_on_with_a_stretch_or_with_the_whole(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """What is new is added, whether or not the bundle repeats what is here; the key is known from the first time."""
    aisi.export(tmp_path / "a.caveat")
    read(lab, tmp_path / "a.caveat", aisi.vkey)
    aisi.add_claims(2)
    aisi.export(tmp_path / "stretch.caveat", since=7)
    stretch = read(lab, tmp_path / "stretch.caveat")
    aisi.add_claims(1)
    aisi.export(tmp_path / "whole.caveat")
    whole = read(lab, tmp_path / "whole.caveat")

    assert (stretch.new, stretch.size, whole.new, whole.size) == (2, 9, 1, 10)
    assert list_leaves(lab, aisi.origin) == list_leaves(aisi)


def test_a_stretch_that_overlaps_is_compared_and_goes_on(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """A stretch may begin before the end of what is here."""
    aisi.export(tmp_path / "a.caveat")
    read(lab, tmp_path / "a.caveat", aisi.vkey)
    aisi.add_claims(1)
    aisi.export(tmp_path / "stretch.caveat", since=3)

    assert read(lab, tmp_path / "stretch.caveat").new == 1


def test_a_stretch_beyond_what_is_here_is_refused(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """Entries between are missing, at the beginning and later."""
    aisi.export(tmp_path / "stretch.caveat", since=4)
    first = find_code(lab, tmp_path / "stretch.caveat", aisi.vkey)
    aisi.export(tmp_path / "a.caveat")
    read(lab, tmp_path / "a.caveat", aisi.vkey)
    aisi.add_claims(2)
    aisi.export(tmp_path / "late.caveat", since=8)

    assert (first, find_code(lab, tmp_path / "late.caveat")) == ("bundle-not-adjacent", "bundle-not-adjacent")


def test_an_older_bundle_is_refused(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """Who sends an old bundle again may want to hide what came since."""
    aisi.export(tmp_path / "old.caveat")
    aisi.add_claims(1)
    aisi.export(tmp_path / "new.caveat")
    read(lab, tmp_path / "new.caveat", aisi.vkey)

    assert find_code(lab, tmp_path / "old.caveat") == "not-newer"


def test_without_a_known_key_nothing_is_believed(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """The keys in a bundle are its sender's word; one must be given the first time, and the right one."""
    aisi.export(tmp_path / "a.caveat")

    assert find_code(lab, tmp_path / "a.caveat") == "log-key-missing"
    assert find_code(lab, tmp_path / "a.caveat", lab.vkey) == "wrong-key"


def test_ones_own_log_is_not_imported(aisi: Institute, tmp_path: Path) -> None:
    """A registry takes over others' logs; its own comes back from a backup."""
    aisi.export(tmp_path / "a.caveat")

    with pytest.raises(ConflictError, match="own-log"):
        read(aisi, tmp_path / "a.caveat", aisi.vkey)


def test_an_erased_text_travels_as_its_leaf(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """What was erased stays erased elsewhere; the log still proves, and what follows still comes."""
    with aisi.ledger.write(actor=aisi.code) as writer:
        writer.erase(6, why="it names a person")
    aisi.export(tmp_path / "a.caveat")
    done = read(lab, tmp_path / "a.caveat", aisi.vkey)
    with lab.ledger.view(log=aisi.origin) as view:
        texts = {place.seq: text for place, text in view.log_entries()}

    assert done.erased == 1
    assert [seq for seq, text in texts.items() if text is None] == [6]
    assert list_leaves(lab, aisi.origin) == list_leaves(aisi)


def test_a_text_erased_later_is_no_contradiction(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """The leaf is the same, with or without its text; what is here stays here."""
    aisi.export(tmp_path / "before.caveat")
    read(lab, tmp_path / "before.caveat", aisi.vkey)
    with aisi.ledger.write(actor=aisi.code) as writer:
        writer.erase(6, why="it names a person")
    aisi.export(tmp_path / "after.caveat")
    done = read(lab, tmp_path / "after.caveat")
    with lab.ledger.view(log=aisi.origin) as view:
        kept = dict(enumerate((text for _, text in view.log_entries()), 1))

    assert (done.new, kept[6] is not None) == (1, True)


def test_card_texts_can_be_excluded(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """Third-party texts need not travel; the claims do."""
    aisi.export(tmp_path / "a.caveat", cards=False)
    done = read(lab, tmp_path / "a.caveat", aisi.vkey)
    with lab.ledger.view(log=aisi.origin) as view:
        (card,) = view.list_cards()
        has_text = view.has_content(card.payload.text)

    assert (done.contents, has_text) == (0, False)


def test_statements_of_example_stay_where_they_are(institutes: Callable[..., Institute], lab: Institute, tmp_path: Path) -> None:
    """They are neither let out nor taken in, but where it is asked for."""
    example = institutes("EXAMPLE", 3)
    with pytest.raises(InputError, match="example-not-exported"):
        example.export(tmp_path / "e.caveat")
    assert not (tmp_path / "e.caveat").exists()
    example.export(tmp_path / "e.caveat", example=True)

    assert find_code(lab, tmp_path / "e.caveat", example.vkey) == "example-not-exported"
    assert take_over(lab.ledger, tmp_path / "e.caveat", actor="LAB", keys=(example.vkey,), example=True).new == 2


def test_a_file_is_never_written_over(aisi: Institute, tmp_path: Path) -> None:
    """A bundle of that name is there already, and stays as it is."""
    aisi.export(tmp_path / "a.caveat")
    before = (tmp_path / "a.caveat").read_bytes()

    with pytest.raises(ConflictError, match="file-exists"):
        aisi.export(tmp_path / "a.caveat")
    assert (tmp_path / "a.caveat").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_entries_altered_here_are_found_before_anything_comes(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """A registry whose copy of a log was changed by hand does not accuse the log: its own word is what does not hold."""
    aisi.export(tmp_path / "a.caveat")
    read(lab, tmp_path / "a.caveat", aisi.vkey)
    with lab.ledger.connect() as connection:
        connection.exec_driver_sql("DROP TRIGGER entry__update")
        connection.exec_driver_sql("UPDATE entry SET leaf = zeroblob(32) WHERE log = 2 AND seq = 5")
    aisi.add_claims(1)
    aisi.export(tmp_path / "more.caveat")

    with pytest.raises(CaveatError, match="entry-altered"):
        read(lab, tmp_path / "more.caveat")


def test_claims_of_either_log_are_what_its_statements_say(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """The entries of both logs have the same numbers."""
    lab.add_claims(3, quote="It never lies.")
    taken = tmp_path / "aisi.jsonl"
    aisi.export(taken)
    with lab.ledger.view() as view:
        size = view.log_size
    take_over(lab.ledger, taken, actor="LAB", keys=(aisi.vkey,))
    with lab.ledger.view() as view:
        after = view.log_size
    lab.add_claims(1, quote="It does not scheme.")

    for first, last in ((size, after), (after, None), (size, None)):
        with lab.ledger.view(first) as before, lab.ledger.view(last) as now:
            assert check_claims(now) >= 3
            check_changes(before, now)
    with lab.ledger.view(log=aisi.origin) as view:
        assert check_claims(view) == 3
    with lab.ledger.view(log=aisi.origin) as view, lab.ledger.view(view.log_size - 1, log=aisi.origin) as before:
        assert check_changes(before, view) > 0
