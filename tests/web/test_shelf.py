"""The shelf counts as looking at every claim does, whatever it followed and whatever happened to its file."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.registration.claim_search import ClaimQuery, search_claims
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from tests.cli.given_out import run
from tests.web.brute_force import ClaimTable, count_facets
from web.facets import FACETS, ClaimFilter, split_words
from web.shelf.bit_sets import GROUPS, ShelfRow, build_set, build_state, find_places, list_places
from web.shelf.list_states import ListStates
from web.shelf.shelf_entries import list_shelf_entries, write_words
from web.shelf.shelf_file import Shelf

FILTERS = (
    ClaimFilter(),
    ClaimFilter(chosen={"verdict": ("contradicted",)}),
    ClaimFilter(chosen={"verdict": ("contradicted", "not_audited"), "form": ("existence",)}),
    ClaimFilter(words="the model"),
    ClaimFilter(words="model", chosen={"lifecycle": ("withdrawn",)}),
    ClaimFilter(words="שלום 模型从不说谎"),
    ClaimFilter(chosen={"developer": ("nobody at all",)}),
)

_ROWS = st.lists(st.tuples(*(st.sampled_from(("a", "b", "c")) for _ in FACETS)), max_size=40)
_CHOSEN = st.dictionaries(
    st.sampled_from(list(FACETS)), st.lists(st.sampled_from(("a", "b", "z")), min_size=1, max_size=2, unique=True), max_size=3
)


def compare(view: View, shelf: Shelf) -> None:
    table, reading = ClaimTable(search_claims(view, ClaimQuery(), log="")), shelf.read(view)
    for wanted in FILTERS:
        for limit, before in ((1, None), (10, None), (10, 9)):
            expected = table.select(wanted, limit=limit, before=before)
            found = reading.select(wanted, limit=limit, before=before)
            assert (found.total, found.facets) == (expected.total, expected.facets), wanted
            # The file has everything but the words, which come from the registry.
            assert list(found.claims) == [replace(claim, summary=None) for claim in expected.claims], wanted


@given(rows=_ROWS, chosen=_CHOSEN)
def test_counts_are_those_of_looking_at_every_claim(rows: Sequence[tuple[str, ...]], chosen: dict[str, list[str]]) -> None:
    state = build_state(
        [ShelfRow(claim=f"CLM-{number}", revision=1, seq=number, facets=row) for number, row in enumerate(rows)], log_size=1
    )
    wanted = {facet: tuple(values) for facet, values in chosen.items()}
    facts = [dict(zip(FACETS, row, strict=True)) for row in rows]

    selection = state.select(ClaimFilter(chosen=wanted), limit=100)

    passing = [number for number, row in enumerate(facts) if all(row[facet] in values for facet, values in wanted.items())]
    assert [claim.seq for claim in selection.claims] == passing[::-1]
    assert selection.facets == count_facets(facts, wanted)
    for facet in FACETS:
        others = [row for row in facts if all(row[name] in values for name, values in wanted.items() if name != facet)]
        counted = {value.value: value.count for value in selection.facets[facet] if value.count}
        assert counted == {value: sum(row[facet] == value for row in others) for value in {row[facet] for row in others}}


def test_every_facet_is_in_one_group_in_its_order() -> None:
    assert tuple(facet for group in GROUPS for facet in group) == tuple(FACETS)


@given(rows=_ROWS, changed=st.integers(0, 40), facet=st.sampled_from(list(FACETS)))
def test_the_state_of_a_list_changes_with_the_pages_of_its_claims_alone(rows: Sequence[tuple[str, ...]], changed: int, facet: str) -> None:
    """And with its counts: a list with the same claims and other counts is another one."""
    state = build_state(
        [ShelfRow(claim=f"CLM-{number}", revision=1, seq=number, facets=row) for number, row in enumerate(rows)], log_size=1
    )
    pages = {f"CLM-{number}": "a state" for number in range(len(rows))}
    before, after = ListStates(state, pages), ListStates(state, {**pages, f"CLM-{changed}": "another state"})
    place = list(FACETS).index(facet)
    for value in {row[place] for row in rows}:
        wanted = ClaimFilter(chosen={facet: (value,)})
        members = [number for number, row in enumerate(rows) if row[place] == value][::-1]
        for skip in (0, 3):
            is_shown = changed in members[skip : skip + 3]
            assert (before.find_state(wanted, skip=skip, limit=3) != after.find_state(wanted, skip=skip, limit=3)) == is_shown
        assert before.find_state(wanted, most=2) != before.find_state(wanted)
    # The same claims in a shelf that knows their values in another order.
    turned = build_state(
        [ShelfRow(claim=f"CLM-{number}", revision=1, seq=number, facets=row) for number, row in [*enumerate(rows)][::-1]], log_size=2
    )
    assert ListStates(turned, pages).find_state(ClaimFilter(), most=3) == before.find_state(ClaimFilter(), most=3)


@given(places=st.sets(st.integers(min_value=0, max_value=300)))
def test_a_set_has_the_places_that_it_was_made_of(places: set[int]) -> None:
    members = build_set(np.array(sorted(places), dtype=np.int64), 301)

    assert find_places(members).tolist() == sorted(places)
    for skip in (0, 1, 7, len(places)):
        assert list(list_places(members, skip=skip)) == sorted(places, reverse=True)[skip:]


@given(
    values=st.lists(st.integers(0, 150), min_size=1, max_size=400),
    chosen=st.sets(st.integers(0, 160), max_size=3),
    most=st.integers(1, 12),
    before=st.integers(0, 410),
)
def test_a_facet_of_many_values_is_counted_as_one_of_few(values: list[int], chosen: set[int], most: int, before: int) -> None:
    """Whether there are bits for each value, or numbers; and its most frequent values are the first of all."""
    rest = ("a",) * (len(FACETS) - 2)
    rows = [
        ShelfRow(claim=f"CLM-{number}", revision=1, seq=number, facets=(f"{value}", f"{value % 3}", *rest))
        for number, value in enumerate(values)
    ]
    first, second = list(FACETS)[:2]
    picked = tuple(map(str, sorted(chosen)))
    wanted = {first: picked, second: ("1",)} if picked else {second: ("1",)}
    facts = [dict(zip(FACETS, row.facets, strict=True)) for row in rows]

    selection = build_state(rows, log_size=1).select(ClaimFilter(chosen=wanted), before=before, limit=500)

    expected = count_facets(facts, wanted)
    assert selection.facets == expected
    passing = [number for number, row in enumerate(facts) if all(row[facet] in known for facet, known in wanted.items())]
    assert [claim.seq for claim in selection.claims] == [number for number in passing if number < before][::-1]
    listed, left = selection.facets.list_most(first, most)
    assert listed == tuple(value for place, value in enumerate(expected[first]) if place < most or value.is_chosen)
    assert left == len([value for value in expected[first] if value not in listed])


def test_a_shelf_that_followed_the_log_is_the_one_that_is_built_at_its_end(folder: Path, ledger: Ledger, tmp_path: Path) -> None:
    """Also as of the sizes of the log between."""
    followed = Shelf(ledger, tmp_path / "followed.db")
    with ledger.view() as view:
        last = view.log_size
    for size in range(4, last + 1):
        with ledger.view(size) as view:
            compare(view, followed)
    run("claim", "withdraw", "CLM-AISI-2026-0002-Q", "--reason", "retracted", "--yes")
    with ledger.view() as view:
        compare(view, followed)
        compare(view, Shelf(ledger, tmp_path / "anew.db"))
    # Another process that opens the file sees the earlier states, too.
    again = Shelf(ledger, tmp_path / "followed.db")
    for size in (last, 12):
        with ledger.view(size) as view:
            compare(view, again)


def test_two_processes_read_the_claims_that_one_reads(ledger: Ledger, tmp_path: Path) -> None:
    """Also if the other one cannot read the registry."""
    with ledger.view() as view:
        expected = [entry for stretch in list_shelf_entries(view, ledger.url) for entry in stretch]
        for database in (ledger.url, f"sqlite:///{tmp_path / 'nowhere.db'}"):
            assert [entry for stretch in list_shelf_entries(view, database, many=1) for entry in stretch] == expected
    assert len(expected) == 4


def test_a_damaged_file_is_made_again(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "shelf.db"
    with ledger.view() as view:
        compare(view, Shelf(ledger, path))
        path.write_bytes(b"no database at all" * 500)
        compare(view, Shelf(ledger, path))
        path.write_bytes(b"")
        compare(view, Shelf(ledger, path))


def test_an_earlier_state_that_the_file_never_held_is_found_from_the_entries_since(ledger: Ledger, tmp_path: Path) -> None:
    """Of a file that was built at the end, in any order of the questions."""
    shelf = Shelf(ledger, tmp_path / "shelf.db")
    with ledger.view() as view:
        last = view.log_size
        compare(view, shelf)
    for size in (*range(last, 3, -3), *range(4, last, 3)):
        with ledger.view(size) as view:
            compare(view, shelf)


@given(text=st.text(max_size=30))
def test_the_file_has_the_words_that_python_finds(text: str) -> None:
    """In any script, also where the text is written as it is."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, detail='none', tokenize=\"ascii tokenchars '_'\")")
        connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(words, row)")
        connection.execute("INSERT INTO words (text) VALUES (?)", (write_words(text),))
        assert {row[0] for row in connection.execute("SELECT term FROM terms")} == set(split_words(text))


def list_terms(path: Path) -> set[bytes]:
    """Return every word that the index in the file has, as it is written there."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)")
        return {row[0].encode() for row in connection.execute("SELECT term FROM terms")}


@pytest.mark.parametrize("small", [1000, 0])
def test_erased_words_leave_all_searches_and_the_file(folder: Path, ledger: Ledger, tmp_path: Path, small: int) -> None:
    """At once, also where a thread builds the new file of many claims."""
    shelf, wanted = Shelf(ledger, tmp_path / "shelf.db", small=small), ClaimFilter(words="covert")
    with ledger.view() as view:
        claim = view.find_claim("CLM-AISI-2026-0003-O")
        before = [selected.claim for selected in shelf.read(view).select(wanted, limit=10).claims]
        size = view.log_size
    assert claim is not None
    assert before == [claim.payload.claim]
    assert b"covert" in list_terms(tmp_path / "shelf.db")
    # Held open, so that the system cannot give its number to the new file.
    held = (tmp_path / "shelf.db").open("rb")
    run("admin", "log", "erase", str(claim.entry.seq), "--reason", "a name", "--yes")

    with ledger.view() as view:
        reading = shelf.read(view)
        assert reading.select(wanted, limit=10).total == 0
        assert reading.log_size == (view.log_size if small else size)
        shelf.wait()
        assert shelf.read(view).log_size == view.log_size
        compare(view, shelf)
    shelf.close()
    assert [path.name for path in tmp_path.glob("shelf*")] == ["shelf.db"]
    assert (tmp_path / "shelf.db").stat().st_ino != os.fstat(held.fileno()).st_ino
    held.close()
    assert b"covert" not in list_terms(tmp_path / "shelf.db")
