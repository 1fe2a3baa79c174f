"""Which claims changed since an entry: found from the entries since, it is what the states of all claims say."""

import shutil
import tempfile
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.records.claim import ClaimEvent, ClaimEventKind, Form, QuoteStatus
from registry.records.model_version import ModelRef
from registry.records.verdict import Basis, ClaimClass
from registry.store.changed_claims import find_candidates, find_changed, find_newest_states
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.registry_view import View
from tests.examples import scale
from tests.store import builders as make
from tests.store.growing import STEPS, World

# Several claims with outcomes first, so that families and shared words are there from the beginning.
BEGINNING = [("claim", 1, 1), ("claim", 2, 2), ("claim", 0, 1), ("audit", 0, 1), ("lock", 0, 0), ("run", 0, 0), ("restrict", 0, 1)]
DRAWN = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 40), st.integers(0, 40)), min_size=4, max_size=16)


def _compare_all(before: View, after: View) -> tuple[list[str], int]:
    then, now = find_newest_states(before, None), find_newest_states(after, None)
    changed = sorted(claim for claim, state in now.items() if then.get(claim) != state)
    return changed, len(now) - len(changed)


@settings(max_examples=scale(4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN)
def test_what_changed_is_what_all_states_say(sqlite_template: Path, steps: list[tuple[str, int, int]]) -> None:
    """Whatever is recorded, step by step and over several steps, for all claims and for one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "registry.db")
        shutil.copy(sqlite_template, path)
        ledger = Ledger.open(f"sqlite:///{path}", clock=make.ticking(), salt=make.salting())
        world = World(ledger)
        sizes = []
        for step in (*BEGINNING, *steps):
            if world.grow(*step) is None:
                with ledger.view() as view:
                    sizes.append(view.log_size)
        for first, last in {*pairwise(sizes[len(BEGINNING) - 1 :]), (sizes[4], sizes[-1])}:
            with ledger.view(first) as before, ledger.view(last) as after:
                expected = _compare_all(before, after)

                assert find_changed(before, after, None) == expected
                claim = next(iter(world.claims))
                assert find_changed(before, after, [claim])[0] == [name for name in expected[0] if name == claim]
        ledger.close()


def test_one_entry_about_one_claim_leads_to_few_candidates(ledger: Ledger) -> None:
    """Of fifty claims, only the one that was withdrawn; none where nothing was recorded."""
    with ledger.write(actor="LAB") as writer:
        phi, card = make.settle(writer), make.add_card(writer)
        names = [_add(writer, phi, card, number) for number in range(50)]
    size = _read_size(ledger)
    with ledger.write(actor="LAB") as writer:
        writer.append(ClaimEvent(claim=names[7], event=ClaimEventKind.WITHDRAW, reason="retracted"))

    with ledger.view(size) as before, ledger.view() as after:
        assert find_candidates(before, after) == {names[7]}
        assert find_changed(before, after, None) == ([names[7]], 49)
        assert find_candidates(after, after) == set()


@pytest.mark.parametrize(
    ("audited", "other", "is_linked"),
    [
        ("It refuses every one of the harmful requests.", "We saw that it refuses every one of the harmful requests in English.", True),
        ("We saw that it refuses every one of the harmful requests in English.", "It refuses every one of the harmful requests.", True),
        ("It never lies.", "In all of our tests, as we said, it never lies.", True),
        ("In all of our tests, as we said, it never lies.", "It never lies.", False),
        ("It refuses every one of the harmful requests.", "It refuses some requests.", False),
    ],
)
def test_an_outcome_changes_claims_on_the_same_words_about_other_models(
    ledger: Ledger, audited: str, other: str, *, is_linked: bool
) -> None:
    """They name no card and share no property or model version, so only their words can lead from one to the other."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        first = make.add_claim(writer, phi, quote=audited)
        second = make.add_claim(writer, phi, quote=other, model=ModelRef(developer="Lab", name="another", version="2"))
        audit = make.add_audit(writer, f"{first}@1")
    size = _read_size(ledger)
    with ledger.write(actor="LAB") as writer:
        writer.append(make.restriction(audit, f"{first}@1", make.verdict(Form.PREVALENCE, ClaimClass.DEGRADED, basis=Basis.REPORTED)))

    with ledger.view(size) as before, ledger.view() as after:
        assert find_changed(before, after, None) == _compare_all(before, after)
        assert find_changed(before, after, None)[0] == sorted([first, second] if is_linked else [first])


def test_an_outcome_that_expires_changes_its_claim_without_an_entry_about_it(ledger: Ledger) -> None:
    """What is read counts outcomes by the day of the last entry, here by the days that are given."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = make.add_claim(writer, phi)
        audit = make.add_audit(writer, f"{claim}@1")
        verdict = make.verdict(Form.PREVALENCE, ClaimClass.STABLE, basis=Basis.REPORTED)
        writer.append(make.restriction(audit, f"{claim}@1", verdict, valid_until=date(2026, 12, 31)))

    for before_day, after_day, changed in ((30, 31, []), (31, 32, [claim])):
        first, last = (date(2026, 12, 1) + timedelta(days=day - 1) for day in (before_day, after_day))
        with ledger.view(today=first) as before, ledger.view(today=last) as after:
            assert find_changed(before, after, None) == _compare_all(before, after)
            assert find_changed(before, after, None)[0] == changed


def _add(writer: Writer, phi: str, card: str, place: int) -> str:
    quote = f"It does not scheme in case {place} of the suite."
    anchor = replace(make.anchor(), start=100 * place, stop=100 * place + len(quote), exact=quote)
    return make.add_claim(writer, phi, card=f"{card}@1", quote=quote, quote_status=QuoteStatus.VERBATIM, anchor=anchor)


def _read_size(ledger: Ledger) -> int:
    with ledger.view() as view:
        return view.log_size
