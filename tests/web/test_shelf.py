"""The shelf counts as looking at every claim does, whatever it followed and whatever happened to its file."""

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from registry.registration.claim_search import ClaimQuery, search_claims
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from tests.cli.given_out import run
from tests.web.brute_force import ClaimTable, count_facets
from web.facets import FACETS, ClaimFilter, FacetValue
from web.shelf.bit_sets import ShelfRow, ShelfState, build_set, list_places
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
            assert [(one.claim, one.revision, one.seq) for one in found.claims] == [
                (one.claim, one.revision, one.seq) for one in expected.claims
            ]


@given(rows=_ROWS, chosen=_CHOSEN)
def test_counts_are_those_of_looking_at_every_claim(rows: Sequence[tuple[str, ...]], chosen: dict[str, list[str]]) -> None:
    state = ShelfState([ShelfRow(claim=f"CLM-{number}", revision=1, seq=number, facets=row) for number, row in enumerate(rows)], log_size=1)
    wanted = {facet: tuple(values) for facet, values in chosen.items()}
    facts = [dict(zip(FACETS, row, strict=True)) for row in rows]

    selection = state.select(ClaimFilter(chosen=wanted), found=None, limit=100)

    passing = [number for number, row in enumerate(facts) if all(row[facet] in values for facet, values in wanted.items())]
    assert [claim.seq for claim in selection.claims] == passing[::-1]
    assert selection.facets == count_facets(facts, wanted)
    for facet in FACETS:
        others = [row for row in facts if all(row[name] in values for name, values in wanted.items() if name != facet)]
        counted = {value.value: value.count for value in selection.facets[facet] if isinstance(value, FacetValue) and value.count}
        assert counted == {value: sum(row[facet] == value for row in others) for value in {row[facet] for row in others}}


@given(places=st.sets(st.integers(min_value=0, max_value=300)))
def test_a_set_has_the_places_that_it_was_made_of(places: set[int]) -> None:
    assert list(list_places(build_set(places, 301))) == sorted(places, reverse=True)


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


def test_a_damaged_file_is_made_again(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "shelf.db"
    with ledger.view() as view:
        compare(view, Shelf(ledger, path))
        path.write_bytes(b"no database at all" * 500)
        compare(view, Shelf(ledger, path))
        path.write_bytes(b"")
        compare(view, Shelf(ledger, path))
