"""The digest of what a supplement depends on: it changes whenever the supplement would, and not for what is none of its business."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.errors import CaveatError
from registry.folder.supplement_publishing import collect_supplements
from registry.records.record import parse_identifier
from registry.records.supplement import CardSupplement, Supplement
from registry.report.supplement_assembly import assemble_claim
from registry.store.ledger import Ledger
from registry.store.registry_view import View
from registry.store.supplement_states import find_states
from tests.examples import scale
from tests.store import builders as make
from tests.store.growing import STEPS, World

Printed = Supplement | CardSupplement | str


@contextmanager
def _open(template: Path) -> Iterator[Ledger]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "registry.db")
        shutil.copy(template, path)
        ledger = Ledger.open(f"sqlite:///{path}", clock=make.ticking(), salt=make.salting())
        try:
            yield ledger
        finally:
            ledger.close()


def _print(view: View, world: World) -> dict[str, Printed]:
    """Return the supplement of everything, without what tells how long the log is; of what cannot be printed, why."""
    printed: dict[str, Printed] = {}
    for claim, last in world.claims.items():
        for number in range(1, last + 1):
            printed[f"{claim}@{number}"] = _print_claim(view, f"{claim}@{number}")
    for card, last in world.cards.items():
        for number in range(1, last + 1):
            printed[f"{card}@{number}"] = _print_card(view, f"{card}@{number}")
    return printed


def _print_claim(view: View, name: str) -> Printed:
    try:
        supplement = assemble_claim(view.dossier(name), made_at=make.START)
    except CaveatError as error:
        return error.code
    return replace(supplement, log_size=0)


def _print_card(view: View, name: str) -> Printed:
    try:
        (subject,) = collect_supplements(view, [parse_identifier(name)])
    except CaveatError as error:
        return error.code
    supplement = subject.supplement
    superseded = replace(supplement.superseded, log_size=0) if supplement.superseded else None
    return replace(supplement, log_size=0, made_at=make.START, inclusion=None, superseded=superseded)


def _look(world: World) -> tuple[dict[str, Printed], dict[str, str]]:
    with world.ledger.view() as view:
        return _print(view, world), find_states(view)


UNRELATED = ("publish", "authority")
DRAWN = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 40), st.integers(0, 40)), min_size=4, max_size=14)
BEGINNING = [("claim", 1, 1), ("claim", 2, 2), ("audit", 0, 1), ("lock", 0, 0), ("run", 0, 0), ("result", 0, 0), ("restrict", 0, 1)]


@settings(max_examples=scale(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN)
def test_a_supplement_that_changes_changes_its_state(sqlite_template: Path, steps: list[tuple[str, int, int]]) -> None:
    """Whatever is recorded: equal states mean equal supplements of every claim and card revision; a file published changes none."""
    with _open(sqlite_template) as ledger:
        world = World(ledger)
        for first in BEGINNING:
            world.grow(*first)
        before, then = _look(world)
        for step, a, b in steps:
            if world.grow(step, a, b) is not None:
                continue
            after, now = _look(world)

            assert after.keys() == now.keys()
            assert [name for name in before if before[name] != after[name] and then[name] == now[name]] == []
            if step in UNRELATED:
                assert then == now
            before, then = after, now


def test_what_is_said_of_one_claim_changes_no_other(ledger: Ledger) -> None:
    """Two claims share everything but their audits, reviews and history: each entry changes one state, and that of their card;
    what follows the words changes that of the other claim on these words too.
    """
    world = World(ledger)
    for step in (("claim", 0, 1), ("claim", 2, 1)):
        assert world.grow(*step) is None
    first, second = world.claims
    (card,) = world.cards
    seen = []
    for step in (
        ("event", 0, 0),
        ("audit", 0, 1),
        ("lock", 0, 0),
        ("evidence", 0, 0),
        ("restrict", 0, 0),
        ("contest", 0, 1),
        ("revise", 0, 0),
    ):
        with ledger.view() as view:
            before = find_states(view)
        assert world.grow(*step) is None
        with ledger.view() as view:
            after = find_states(view)
        seen.append({name for name in before if before[name] != after[name]})

    own = {f"{first}@1", f"{card}@1"}
    family = own | {f"{second}@1"}  # both quote the same passage: outcomes and revisions of one are of both
    assert seen == [own, own, own, own, family, own, family]
    assert f"{second}@1" in after


def test_what_is_shared_changes_everything_that_rests_on_it(ledger: Ledger) -> None:
    """A newer version of the property, a successor of the model; and only the claim that names the sealed context when that is opened."""
    world = World(ledger)
    for step in (("claim", 0, 1), ("claim", 1, 1)):
        assert world.grow(*step) is None
    names = {f"{name}@1" for name in (*world.claims, *world.cards)}
    seen = []
    for step in (("version", 0, 0), ("register", 1, 0), ("reveal", 0, 0)):
        with ledger.view() as view:
            before = find_states(view)
        assert world.grow(*step) is None
        with ledger.view() as view:
            after = find_states(view)
        seen.append({name for name in before if before[name] != after[name]})

    assert seen[:2] == [names, names]
    assert seen[2] == {f"{list(world.claims)[1]}@1", f"{next(iter(world.cards))}@1"}


def test_a_newer_revision_of_a_card_without_claims_changes_the_state_of_the_earlier(ledger: Ledger) -> None:
    """Its supplement names what took its place, though no claim of it became stale."""
    world = World(ledger)
    (card,) = world.cards
    with ledger.view() as view:
        before = find_states(view)
    assert world.grow("card", 0, 0) is None
    with ledger.view() as view:
        after, alone = find_states(view), find_states(view, [f"{card}@1"])

    assert (set(before), set(after)) == ({f"{card}@1"}, {f"{card}@1", f"{card}@2"})
    assert before[f"{card}@1"] != after[f"{card}@1"] == alone[f"{card}@1"]


def test_states_that_are_asked_for_are_those_of_all(ledger: Ledger) -> None:
    """By name, of claims and cards, in any revision; what is not registered is left out."""
    world = World(ledger)
    for step in (*BEGINNING, ("revise", 0, 1), ("card", 0, 0)):
        assert world.grow(*step) is None
    with ledger.view() as view:
        every = find_states(view)
        states = {name: find_states(view, [name]) for name in every}

        assert states == {name: {name: state} for name, state in every.items()}
        assert find_states(view, []) == find_states(view, ["CLM-LAB-2026-0999-X@1"]) == {}
        assert len(set(every.values())) == len(every) == 5


def test_the_state_of_a_card_follows_from_the_known_states_of_its_claims(ledger: Ledger) -> None:
    """The known states of claims that did not change are taken; those that are not known are derived."""
    world = World(ledger)
    for step in (*BEGINNING, ("revise", 0, 1), ("card", 0, 0)):
        assert world.grow(*step) is None
    with ledger.view() as view:
        every = find_states(view)
        cards = {name: state for name, state in every.items() if name.startswith("CRD-")}
        claims = {name: state for name, state in every.items() if name not in cards}

        assert cards == find_states(view, cards, claims) == find_states(view, cards, dict([*claims.items()][:1]))
        forged = find_states(view, cards, dict.fromkeys(claims, "00" * 32))
        assert forged.keys() == cards.keys()
        assert forged != cards


def test_an_earlier_entry_gives_the_state_of_then(ledger: Ledger) -> None:
    """As of each entry, the states are those that were found when it was the last."""
    world, seen = World(ledger), {}
    for step in (*BEGINNING, ("review", 0, 0), ("version", 0, 0), ("revise", 0, 1)):
        world.grow(*step)
        with ledger.view() as view:
            seen[view.log_size] = find_states(view)

    for size, states in seen.items():
        with ledger.view(size) as view:
            assert find_states(view) == states
