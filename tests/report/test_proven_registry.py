"""Supplements of a registry prove their entries: of registries of every age, as of any entry, and not of what was erased or altered."""

import sqlite3
from pathlib import Path

import pytest

from registry.codec.documents import to_document
from registry.errors import AlteredError, NotFoundError
from registry.publishing import collect_coverage, collect_supplements
from registry.records.identifier import parse_identifier
from registry.records.supplement import CardSupplement, Supplement
from registry.records.survey import Survey
from registry.report.html import render_html, render_json
from registry.report.read import read_supplement
from registry.seal.inclusion import check_inclusion
from registry.store import schema
from registry.store.ledger import Ledger
from registry.store.seals import find_root
from registry.store.view import View
from tests.store import builders as make

OLD = Path(__file__).parent.parent / "databases"
REVISIONS = sorted(path.stem for path in OLD.glob("*.sql"))


@pytest.fixture
def make_card(tmp_path: Path) -> tuple[Ledger, str, list[str]]:
    """A registry with a card and three claims of it."""
    url = f"sqlite:///{tmp_path / 'new.db'}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.write(actor=make.LAB) as writer:
        phi = make.settle(writer)
        card = make.add_card(writer)
        claims = [make.add_quoted(writer, phi, f"{card}@1") for _ in range(3)]
    return ledger, card, claims


def _open(tmp_path: Path, revision: str = REVISIONS[0]) -> Ledger:
    """The registry that an earlier version of Caveat left behind, upgraded."""
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.executescript((OLD / f"{revision}.sql").read_text(encoding="utf-8"))
    connection.close()
    schema.upgrade(f"sqlite:///{path}")
    return Ledger.open(f"sqlite:///{path}", clock=make.ticking(), salt=make.salting())


def _collect(view: View) -> list[Supplement | CardSupplement]:
    """The supplements of every claim and card that can be drawn."""
    names = [one.claim for one in view.list_claims()] + [one.payload.card for one in view.list_cards()]
    made = []
    for name in names:
        try:
            made += [one.supplement for one in collect_supplements(view, [parse_identifier(name)])]
        except NotFoundError as error:
            assert error.code == "body-erased"
    return made


@pytest.mark.parametrize("revision", REVISIONS)
def test_statements_of_every_age_are_proven_by_what_was_written(revision: str, tmp_path: Path) -> None:
    """An older statement, written again, is another; it is given as it was, and proven."""
    ledger = _open(tmp_path, revision)
    with ledger.view() as view:
        supplements = _collect(view)
        root = find_root(view)

    for supplement in supplements:
        again = read_supplement(render_json(supplement), where="file")
        found = check_inclusion(again, document=to_document(supplement))

        assert found.entries
        assert supplement.inclusion is not None
        assert supplement.inclusion.root == root


@pytest.mark.parametrize(("revision", "is_older"), [("0001", True), ("0004", False)])
def test_the_text_of_a_statement_is_given_only_where_it_is_needed(revision: str, tmp_path: Path, *, is_older: bool) -> None:
    """A claim of the first version has not all the fields of today, so its text is given; one of later on is written again."""
    with _open(tmp_path, revision).view() as view:
        (supplement,) = (one for one in _collect(view) if isinstance(one, Supplement))

    assert supplement.inclusion is not None
    texts = {one.entry: one.text for one in supplement.inclusion.openings}
    assert (texts[supplement.claim.entry.seq] is not None) == is_older


def test_a_supplement_as_of_an_entry_is_proven_under_the_root_of_then(tmp_path: Path) -> None:
    """What was given out then, and what is made of the same entry now, name one root."""
    ledger = _open(tmp_path)
    with ledger.view() as view:
        size = next(one.entry.seq for one in view.entries() if one.entry.kind.value == "claim_revision")
    with ledger.view(size) as then:
        (supplement,) = (one for one in _collect(then) if isinstance(one, Supplement))
        root = find_root(then)

    assert check_inclusion(supplement).entries[-1] <= size
    assert supplement.inclusion is not None
    assert (supplement.inclusion.size, supplement.inclusion.root) == (size, root)


def test_a_supplement_of_an_erased_statement_is_refused_by_its_entry(tmp_path: Path) -> None:
    """Nothing is drawn around a gap: what was erased is named, and so is where it stood."""
    ledger = _open(tmp_path)
    with ledger.view() as view:
        (claim,) = (one for one in view.list_claims())
        found = view.find_claim(claim.claim)
        assert found is not None
    with ledger.write(actor=found.entry.actor) as writer:
        writer.erase(found.entry.seq, why="named a person")

    with ledger.view() as view, pytest.raises(NotFoundError) as caught:
        list(collect_supplements(view, [parse_identifier(claim.claim)]))

    assert caught.value.faults[0].where == f"entry {found.entry.seq}"
    assert caught.value.code == "body-erased"


def test_a_card_names_the_claims_of_which_a_statement_was_erased(make_card: tuple[Ledger, str, list[str]]) -> None:
    """One erased claim does not silence the others, and is not passed over: neither in the record nor on page one."""
    ledger, card, claims = make_card
    with ledger.view() as view:
        erased = view.find_claim(claims[1])
    assert erased is not None
    with ledger.write(actor=erased.entry.actor) as writer:
        writer.erase(erased.entry.seq, why="named a person")

    with ledger.view() as view:
        (subject,) = collect_supplements(view, [parse_identifier(card)])
    found = subject.supplement

    assert isinstance(found, CardSupplement)
    assert found.erased == (claims[1],)
    assert [row.identifier.partition("@")[0] for row in found.claims] == [claims[0], claims[2]]
    assert check_inclusion(found).entries
    page = " ".join(render_html(found).decode().split())
    assert "Of 1 more registered claim nothing is told: a statement was erased." in page
    assert f'nothing is told of it: <span class="mono">{claims[1]}</span>.' in page


def test_an_erased_survey_or_omission_silences_no_card(make_card: tuple[Ledger, str, list[str]]) -> None:
    """The rest is told and proven; that something was erased is told, and nothing is counted in its place."""
    ledger, card, _ = make_card
    with ledger.write(actor=make.LAB) as writer:
        said = (Survey(card=f"{card}@1", by="engine 1", passages=((0, 5),)), make.omission(f"{card}@1", "It names a person."))
        entries = [writer.append(one) for one in said]
        for one in entries:
            writer.erase(one.seq, why="named a person")

    with ledger.view() as view:
        (subject,) = collect_supplements(view, [parse_identifier(card)])
        _, coverage, untold = collect_coverage(view, parse_identifier(card))
    found = subject.supplement

    assert isinstance(found, CardSupplement)
    assert found.coverage == coverage
    assert (coverage.erased, coverage.total.proposed, coverage.total.left_out, untold) == (tuple(entries), None, 0, ())
    assert {one.seq for one in entries} <= set(check_inclusion(found).entries)
    page = " ".join(render_html(found).decode().split())
    assert f"What entries {entries[0].seq}, {entries[1].seq} of the log said of passages proposed or left out was erased" in page


def test_a_supplement_stays_proven_when_what_it_quotes_is_erased_later(tmp_path: Path) -> None:
    """The file keeps its words and its proof; only the registry has lost them."""
    ledger = _open(tmp_path)
    with ledger.view() as view:
        (supplement,) = (one for one in _collect(view) if isinstance(one, Supplement))
    with ledger.write(actor=supplement.claim.entry.actor) as writer:
        writer.erase(supplement.claim.entry.seq, why="named a person")
    with ledger.view(supplement.log_size) as view:
        root = find_root(view)

    assert check_inclusion(supplement).recomputed
    assert supplement.inclusion is not None
    assert supplement.inclusion.root == root


def test_nothing_is_drawn_from_an_altered_statement(tmp_path: Path) -> None:
    """A registry that was edited by hand gives no supplement of what was edited."""
    ledger = _open(tmp_path)
    with ledger.view() as view:
        (claim,) = (one for one in view.list_claims())
        found = view.find_claim(claim.claim)
        assert found is not None
    with sqlite3.connect(tmp_path / "old.db") as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE body SET json = replace(json, 'Better', 'Worse') WHERE seq = ?", (found.entry.seq,))
    connection.close()

    with ledger.view() as view, pytest.raises(AlteredError) as caught:
        list(collect_supplements(view, [parse_identifier(claim.claim)]))

    assert caught.value.faults[0].where == f"entry {found.entry.seq}"
