"""What the store finds of a claim by index is what all statements of the log say, read one after another."""

import random
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from registry.store.ledger import Ledger
from tests.store import builders as make
from tests.store.growing import STEPS, World
from tests.store.traversal import check_changes, check_claims


@pytest.mark.parametrize("seed", range(3))
def test_claims_are_what_all_statements_say(sqlite_template: Path, tmp_path: Path, seed: int) -> None:
    """History, status, audits and outcomes, as of several entries; and what changed between these."""
    path = shutil.copy(sqlite_template, tmp_path / "registry.db")
    ledger = Ledger.open(f"sqlite:///{path}", clock=make.ticking(), salt=make.salting())
    world, rng, sizes = World(ledger), random.Random(seed), []
    steps = sorted(STEPS.keys() - {"erase"})
    for step in ("claim", "claim", "audit", "lock", *rng.choices(steps, k=80)):
        world.grow(step, rng.randint(0, 40), rng.randint(0, 40))
        with ledger.view() as view:
            sizes.append(view.log_size)
    compared = changed = 0
    for first, last in pairwise(dict.fromkeys(sizes[3::10])):
        with ledger.view(first) as before, ledger.view(last) as after:
            compared += check_claims(after)
            changed += check_changes(before, after)
    ledger.close()

    assert compared > 50
    assert changed > 3
