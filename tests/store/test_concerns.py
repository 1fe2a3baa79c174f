"""What concerns one claim is found by index, and is what reading everything finds."""

import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.dialects import sqlite

from registry.errors import CaveatError
from registry.records.claim import Form, QuoteStatus
from registry.records.claim_status import SHORTEST_RUN, contains_words, list_phrases, read_words
from registry.records.verdict import ClaimClass
from registry.store import claim_families, claim_listing, log_integrity, status_derivation
from registry.store import dossiers as concerns
from registry.store.claim_families import Quote
from registry.store.claim_listing import get_heads, list_heads
from registry.store.dossiers import Role
from registry.store.kinds.audit_kinds import audit_rival, restriction
from registry.store.kinds.claim_kinds import audited_phrase, claim_origin, claim_revision, passage_match
from registry.store.ledger import Ledger
from registry.store.log_reader import seen
from registry.store.registry_rebuild import verify
from registry.store.status_derivation import FactFinder
from tests.store import builders as make
from tests.store.growing import World

ROLES = sorted(
    {
        *concerns.OF_CLAIM,
        *concerns.OF_AUDIT,
        *concerns.OF_OBJECTION,
        *concerns.OF_SPEC,
        *concerns.OF_CARD,
        *concerns.PARTS_IN_HISTORY,
        *(role for roles in concerns.IN_HISTORY.values() for role in roles),
    }
)
QUOTES = (
    "The model refuses at least 90 % of harmful requests in English and in French.",
    "refuses at least 90 % of harmful requests",
    "In our tests the model refuses at least 90 % of harmful requests in English and in French, and more.",
    "The model never schemes in any of the suites that we ran.",
    "It does not scheme.",
    "at least 90 %",
    "does not scheme in any of the suites",
)


def explain(database: Path, statement: str) -> list[str]:
    """Return how SQLite would answer *statement*, a line for each table."""
    with closing(sqlite3.connect(database)) as connection:
        return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", ["1"] * statement.count("?"))]


@pytest.mark.parametrize("role", ROLES, ids=[f"{role.table}.{role.column}" for role in ROLES])
def test_a_name_is_looked_up_by_an_index(sqlite_template: Path, role: Role) -> None:
    """However large the log: without the statistics that come with the schema, SQLite would read the table from its beginning."""
    (plan,) = explain(sqlite_template, concerns._write_query((role,), 1))

    assert f"log=? AND {role.column}=?" in plan


def test_the_rows_of_an_entry_are_looked_up_by_an_index(sqlite_template: Path) -> None:
    """In every table: they are compared with their statement before a page is shown."""
    for table, columns in log_integrity._COMPARED:
        (plan,) = explain(sqlite_template, f'SELECT {columns} FROM "{table}" WHERE log = ? AND seq IN (?)')
        assert "(log=? AND seq=?" in plan, table


def test_a_passage_is_looked_up_by_an_index(sqlite_template: Path) -> None:
    """Each size class is one range of places, so passages elsewhere in the card are not read."""
    plan = [line for line in explain(sqlite_template, claim_families._OVERLAPPING) if "claim_place" in line]

    assert len(plan) == 31
    assert all("size=? AND start>? AND start<?" in line for line in plan)


def test_words_are_looked_up_by_an_index(sqlite_template: Path) -> None:
    """Phrases by their number; quotes of one key by card and revision, by having no place, or by property: never by reading the log."""
    phrases = explain(sqlite_template, f"{claim_families._SHARING} = ? LIMIT 65")
    plans = {
        where: [explain(sqlite_template, str(statement.compile(dialect=sqlite.dialect())))[0] for statement in statements]
        for where, statements in claim_families._COMPARABLE.items()
    }

    assert phrases == ["SEARCH audited_phrase USING COVERING INDEX ix_audited_phrase_log_phrase_seq_quote (log=? AND phrase=? AND seq<?)"]
    assert [[line.partition("(")[2] for line in plans[where]] for where in ((False, False), (True, False), (True, True))] == [
        ["log=? AND property=? AND seq<?)"],
        ["log=? AND property=? AND card=? AND seq<?)", "log=? AND card=?)"],
        [
            "log=? AND property=? AND card=? AND seq<?)",
            "log=? AND property=? AND card=? AND seq<?)",
            "log=? AND card=? AND card_revision<?)",
            "log=? AND card=? AND card_revision>?)",
        ],
    ]


@pytest.mark.parametrize(
    ("narrowed", "columns"),
    [
        ({"model": make.MODEL}, "log=? AND model=? AND model_version=? AND seq<?"),
        ({"property_": "PRP-LAB-2026-0001-X"}, "log=? AND property=? AND seq<?"),
        ({"card": "CRD-LAB-2026-0001-X"}, "log=? AND card=?"),
        ({}, "log=? AND seq<?"),
    ],
)
def test_a_filtered_list_reads_an_index_in_log_order(sqlite_template: Path, narrowed: dict[str, Any], columns: str) -> None:
    """So that a page of it costs the same at the end as at the beginning; without a filter it is the order of the table itself."""
    conditions = claim_listing.narrow(**({"card": None, "model": None, "property_": None} | narrowed))
    statement = select(claim_revision.c.seq).where(seen(claim_revision), *conditions).order_by(claim_revision.c.seq)

    assert f"({columns})" in explain(sqlite_template, str(statement.compile(dialect=sqlite.dialect())))[0]


@pytest.mark.parametrize("seed", range(2))
def test_a_family_alone_is_that_of_all(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Quotes of common words, places and cards, with outcomes: families and statuses one by one are those of all read at once."""
    _grow(World(ledger), random.Random(seed))

    with ledger.view() as view:
        heads = list_heads(view)
        alone = [FactFinder(view).find_families([head])[0] for head in heads]
        statuses = [FactFinder(view).statuses([head])[0] for head in heads]
        monkeypatch.setattr(claim_families, "_FEW", 0)
        together = FactFinder(view).find_families(heads)
        assert statuses == FactFinder(view).statuses(heads)

    assert alone == together
    assert any(family.members and family.outcomes for family in together)


def test_a_family_is_what_comparing_every_two_quotes_gives(sqlite_template: Path, tmp_path: Path) -> None:
    """By definition: one claim, one original, overlapping passages, or the same words where no common text has both passages."""
    outcomes = 0
    for seed in range(3):
        path = shutil.copy(sqlite_template, tmp_path / f"{seed}.db")
        ledger = Ledger.open(f"sqlite:///{path}", clock=make.ticking(), salt=make.salting())
        _grow(World(ledger), random.Random(seed))
        with ledger.view() as view:
            filled = view.find_filled(restriction, claim_origin, passage_match, audit_rival)
            quotes = list(claim_families._read_quotes(view, None, has_matches=passage_match.name in filled))
            ignored = status_derivation._list_ignored(view, {row[2] for row in claim_families._read_outcome_rows(view, None)})
            audited = {row[0]: row[2] for row in claim_families._read_outcome_rows(view, None) if row[2] not in ignored}
            for quote in quotes:
                (family,) = FactFinder(view).find_families(get_heads(view, [quote.seq]))
                near = [other for other in quotes if _is_linked(quote, other)]
                own = {other.reference for other in near if claim_families._is_family(quote, other)}
                assert set(family.members) == own - {quote.reference}
                assert {outcome.claim for outcome in family.outcomes} == {other.reference for other in near if other.seq in audited} & own
                assert {outcome.claim for outcome in family.others} == {other.reference for other in near if other.seq in audited} - own
                outcomes += len(family.outcomes) + len(family.others)
        ledger.close()
    assert outcomes > 20


def _is_linked(quote: Quote, other: Quote) -> bool:
    if quote.claim == other.claim or (quote.origin is not None and quote.origin == other.origin):
        return True
    for card, revision, start, stop in quote.places:
        if any(place[:2] == (card, revision) and place[2] < stop and start < place[3] for place in other.places):
            return True
    # A quote of less than five words is found inside a longer one, and not the longer one for it: three words are in many quotes.
    if len(other.words) < SHORTEST_RUN:
        is_near = contains_words(quote.words, other.words)
    else:
        is_near = len(quote.words) >= SHORTEST_RUN and not set(list_phrases(quote.words)).isdisjoint(list_phrases(other.words))
    return is_near and claim_families._is_worded_alike(quote, other)


def test_a_common_phrase_links_no_quotes(sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone and together: of a phrase that many audited quotes have, only what has every word of the quote is found."""
    path = shutil.copy(sqlite_template, tmp_path / "common.db")
    ledger = Ledger.open(f"sqlite:///{path}", clock=make.ticking(), salt=make.salting())
    world = World(ledger)
    common = "In our own evaluations the model"
    with ledger.write(actor="LAB") as writer:
        for words in ("refuses", "answers", "asks", "waits", "stops"):
            other = replace(make.MODEL, version=words)
            claim = make.add_claim(writer, f"{world.phi}@1", quote=f"{common} {words} at once and says why.", model=other)
            audit = make.add_audit(writer, f"{claim}@1")
            writer.append(make.restriction(audit, f"{claim}@1", make.verdict(Form.PREVALENCE, ClaimClass.STABLE)))
        claims = [
            make.add_claim(writer, f"{world.phi}@1", quote=quote)
            for quote in (common, f"{common} refuses at once and says why.", f"{common} refuses at once.")
        ]
    counts = []
    for few in (20, 0):
        monkeypatch.setattr(claim_families, "_FEW", few)
        monkeypatch.setattr(claim_families, "_MOST_SHARED", 3)
        with ledger.view() as view:
            heads = [head for head in list_heads(view) if head.claim in claims]
            counts.append([len(family.others) for family in FactFinder(view).find_families(heads)])
    ledger.close()

    assert counts == [[5, 1, 1], [5, 1, 1]]


def test_an_erased_quote_leaves_no_phrases(ledger: Ledger) -> None:
    """From their numbers its words could be guessed. Before, the first of two outcomes recorded them; a rebuild gives the same rows."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = make.add_claim(writer, phi, quote=QUOTES[0])
        entry = writer.last_seq()
        for _ in range(2):
            audit = make.add_audit(writer, f"{claim}@1")
            writer.append(make.restriction(audit, f"{claim}@1", make.verdict(Form.PREVALENCE, ClaimClass.STABLE)))
    with ledger.view() as view:
        kept = view.rows(select(audited_phrase.c.quote))
    with ledger.write(actor="LAB") as writer:
        writer.erase(entry, why="It named a person.")

    assert [tuple(row) for row in kept] == [(entry,)] * len(list_phrases(read_words(QUOTES[0])))
    with ledger.view() as view:
        assert view.rows(select(audited_phrase)) == []
    verify(ledger)


def _grow(world: World, rng: random.Random) -> None:
    steps = ("claim",) * 3 + (
        "audit",
        "audit",
        "restrict",
        "restrict",
        "revise",
        "card",
        "sight",
        "contest",
        "event",
        "version",
        "review",
        "erase",
    )
    for step in rng.choices(steps, k=70):
        if step == "claim":
            _quote(world, rng)
        else:
            world.grow(step, rng.randint(0, 40), rng.randint(0, 40))


def _quote(world: World, rng: random.Random) -> None:
    """Record a claim on one of `QUOTES`: placed in a card, paraphrased from it, or without a card."""
    quote, card, revision = rng.choice(QUOTES), next(iter(world.cards)), 1
    document = "ab" * 32
    start = rng.randint(0, 8)
    known = {"quote": quote, "note": str(len(world.claims))}
    match rng.choice(("placed", "paraphrased", "without")):
        case "placed":
            anchor = replace(make.anchor(document=document), exact=quote, start=start, stop=start + rng.randint(3, 20))
            known |= {"card": f"{card}@{revision}", "quote_status": QuoteStatus.VERBATIM, "anchor": anchor}
        case "paraphrased":
            known |= {"card": f"{card}@{revision}", "quote_status": QuoteStatus.PARAPHRASE}
        case _:
            pass
    try:
        with world.ledger.write(actor="LAB") as writer:
            world.claims[make.add_claim(writer, f"{world.phi}@1", **known)] = 1
    except CaveatError:
        pass  # such a claim is there already
