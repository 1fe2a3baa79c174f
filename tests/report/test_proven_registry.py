"""Supplements of a registry prove their entries: of every kind, as of any entry, and not of what was erased or altered."""

import json
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.codec.statement_encoding import leaf_hash
from registry.errors import AlteredError, NotFoundError
from registry.folder.supplement_publishing import collect_coverage, collect_supplements
from registry.records.claim import Form
from registry.records.record import parse_identifier
from registry.records.supplement import CardSupplement, Supplement
from registry.records.system_card import Survey
from registry.records.verdict import Basis, ClaimClass
from registry.report.html_rendering import render_html, render_json
from registry.report.supplement_reading import read_supplement
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.log_seals import find_root
from registry.store.registry_view import View
from registry.verify.record_checks import check_inclusion
from tests.store import builders as make


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


def _open(tmp_path: Path) -> Ledger:
    """A registry with a card, a claim quoted from it, and a replay of the claim with its outcome."""
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.write(actor=make.LAB) as writer:
        phi = make.settle(writer)
        card = make.add_card(writer)
        claim = f"{make.add_quoted(writer, phi, f'{card}@1')}@1"
        audit = make.add_audit(writer, claim)
        writer.append(make.lock(audit, claim))
        started = writer.append(make.run(audit, writer.moment + timedelta(hours=1)))
        result = writer.append(make.result(audit, started.seq))
        writer.append(make.evidence(audit, claim))
        verdict = make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED, basis=Basis.REPLAY)
        writer.append(make.restriction(audit, claim, verdict, result=result.seq))
    return ledger


def _write_as_before(path: Path, seq: int, field: str) -> None:
    """Rewrite the statement at *seq* as a version of Caveat would have that did not know *field* yet, with its leaf."""
    with sqlite3.connect(path) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f'DROP TRIGGER "{name}"')
        (written,) = connection.execute("SELECT json FROM body WHERE seq = ?", (seq,)).fetchone()
        said = json.loads(written)
        del said["payload"][field]
        shorter = canonical_bytes(said)
        connection.execute("UPDATE body SET json = ? WHERE seq = ?", (shorter.decode(), seq))
        connection.execute("UPDATE entry SET leaf = ? WHERE seq = ?", (bytes.fromhex(leaf_hash(shorter)), seq))
        for _, sql in triggers:
            connection.execute(sql)
    connection.close()


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


def test_every_supplement_is_proven_by_what_was_written(tmp_path: Path) -> None:
    """Of claim and card: each names its entries under the root of the log, and the file alone is enough to check it."""
    with _open(tmp_path).view() as view:
        supplements = _collect(view)
        root = find_root(view)

    assert {type(one) for one in supplements} == {Supplement, CardSupplement}
    for supplement in supplements:
        again = read_supplement(render_json(supplement), where="file")
        found = check_inclusion(again, document=to_document(supplement))

        assert found.entries
        assert supplement.inclusion is not None
        assert supplement.inclusion.root == root


@pytest.mark.parametrize("is_older", [True, False])
def test_the_text_of_a_statement_is_given_only_where_it_is_needed(tmp_path: Path, *, is_older: bool) -> None:
    """A claim with fewer fields than today's, written again, is another: its text is given, and proven; else it is written again."""
    ledger = _open(tmp_path)
    with ledger.view() as view:
        (claim,) = view.list_claims()
        found = view.find_claim(claim.claim)
    assert found is not None
    if is_older:
        _write_as_before(tmp_path / "registry.db", found.entry.seq, "note")

    with ledger.view() as view:
        (supplement,) = (one for one in _collect(view) if isinstance(one, Supplement))

    assert supplement.inclusion is not None
    texts = {one.entry: one.text for one in supplement.inclusion.openings}
    assert (texts[found.entry.seq] is not None) == is_older
    again = read_supplement(render_json(supplement), where="file")
    assert found.entry.seq in check_inclusion(again, document=to_document(supplement)).entries


def test_a_supplement_as_of_an_entry_is_proven_under_the_root_of_then(tmp_path: Path) -> None:
    """What was published then, and what is made of the same entry now, name one root."""
    ledger = _open(tmp_path)
    with ledger.view() as view:
        size = next(one.entry.seq for one in view.entries() if one.entry.kind == "claim_revision")
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
    assert "1 more not listed: a statement was erased." in page
    assert f'so they are not listed: <span class="mono">{claims[1]}</span>.' in page


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
    assert (coverage.erased, coverage.total.proposed, coverage.total.excluded, untold) == (tuple(entries), None, 0, ())
    assert {one.seq for one in entries} <= set(check_inclusion(found).entries)
    page = " ".join(render_html(found).decode().split())
    assert f"Entries {entries[0].seq}, {entries[1].seq} on passages of this card were erased" in page


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
    with sqlite3.connect(tmp_path / "registry.db") as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE body SET json = replace(json, 'scheme', 'plot') WHERE seq = ?", (found.entry.seq,))
    connection.close()

    with ledger.view() as view, pytest.raises(AlteredError) as caught:
        list(collect_supplements(view, [parse_identifier(claim.claim)]))

    assert caught.value.faults[0].where == f"entry {found.entry.seq}"
