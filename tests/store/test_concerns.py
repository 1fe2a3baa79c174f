"""What concerns one claim is found by index, and is what reading everything finds."""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from registry.errors import CaveatError
from registry.records.claim import QuoteStatus
from registry.store import claim_families
from registry.store import dossiers as concerns
from registry.store.claim_listing import list_heads
from registry.store.dossiers import Role
from registry.store.ledger import Ledger
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


def test_a_passage_is_looked_up_by_an_index(sqlite_template: Path) -> None:
    """Each size class is one range of places, so passages elsewhere in the card are not read."""
    plan = [line for line in explain(sqlite_template, claim_families._OVERLAPPING) if "claim_place" in line]

    assert len(plan) == 31
    assert all("size=? AND start>? AND start<?" in line for line in plan)


@pytest.mark.parametrize("seed", range(2))
def test_a_family_alone_is_that_of_all(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Quotes of common words, places and cards, with outcomes: looked up one by one, families are what all quotes read at once give."""
    rng = random.Random(seed)
    world = World(ledger)
    steps = ("claim", "claim", "claim", "revise", "card", "sight", "audit", "audit", "restrict", "restrict", "contest", "erase")
    for step in rng.choices(steps, k=70):
        if step == "claim":
            _quote(world, rng)
        else:
            world.grow(step, rng.randint(0, 40), rng.randint(0, 40))

    with ledger.view() as view:
        heads = list_heads(view)
        alone = [FactFinder(view).find_families([head])[0] for head in heads]
        monkeypatch.setattr(claim_families, "_FEW", 0)
        together = FactFinder(view).find_families(heads)

    assert alone == together
    assert any(family.members and family.outcomes for family in together)


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
