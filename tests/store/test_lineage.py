"""Which model versions come from which: what follows from the links in force, and what may be said of them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import ConflictError, InputError
from registry.records.model_version import REPLACING, Descent, ModelEvent, ModelEventKind, ModelRef, ModelVersion, find_date, fold_model
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.version_lineage import Lineage, VersionHistory, VersionRegistration
from tests.store import builders as make

FOLLOW, UNFOLLOW = ModelEventKind.FOLLOW, ModelEventKind.UNFOLLOW


def version(number: object, name: str = "m") -> ModelRef:
    return ModelRef(developer="Example", name=name, version=str(number))


def follow(model: object, predecessor: object, descent: Descent = Descent.SUCCESSOR, **changes: Any) -> ModelEvent:
    return make.follow(version(model), version(predecessor), descent, **changes)


def unfollow(model: object, predecessor: object) -> ModelEvent:
    return ModelEvent(model=version(model), event=UNFOLLOW, predecessor=version(predecessor), reason="an error")


def say(model: object, kind: ModelEventKind, **changes: Any) -> ModelEvent:
    return ModelEvent(model=version(model), event=kind, reason="so", **changes)


def lineage(*events: ModelEvent, size: int = 6) -> Lineage:
    registered = [VersionRegistration(entry=number, model=version(number)) for number in range(1, size + 1)]
    return Lineage(registered, [VersionHistory(entry=size + number, event=event) for number, event in enumerate(events, 1)])


LINKS = st.lists(
    st.tuples(st.integers(1, 6), st.integers(1, 6), st.sampled_from(Descent)).filter(lambda pair: pair[0] != pair[1]), max_size=14
)


@given(LINKS)
def test_every_walk_ends_and_agrees_with_its_reverse(links: list[tuple[int, int, Descent]]) -> None:
    """Circles and branches included: what took the place of one has it among its ancestors; ends are successors that nothing replaced."""
    known = lineage(*(follow(*link) for link in links))
    every = [version(number) for number in range(1, 7)]

    for model in every:
        assert {other for other in every if model in known.ancestors(other)} == set(known.successors(model))
        assert set(known.newest(model)) == {other for other in known.successors(model) if not known.replacing(other)}
        assert model not in (*known.successors(model), *known.ancestors(model), *known.newest(model))
        assert all(link.descent in REPLACING for link in known.replacing(model))
        for other in every:
            path = known.find_path(model, other)
            assert bool(path) == (model == other or any(known.find_path(link.model, other) for link in known.following(model)))
            assert all(known.find_link(after, before) for before, after in pairwise(path))


@given(LINKS)
def test_the_last_word_on_two_versions_counts(links: list[tuple[int, int, Descent]]) -> None:
    """One link for each pair, with the descent and the entry of the last; taking all of them back leaves none."""
    events = [follow(*link) for link in links]
    known = lineage(*events)
    last = {(event.model, event.predecessor): (event.descent, 6 + number) for number, event in enumerate(events, 1)}

    assert {(link.model, link.predecessor): (link.descent, link.entry) for link in known.links} == last
    assert [link.entry for link in known.links] == sorted(link.entry for link in known.links)
    taken_back = [ModelEvent(model=a, event=UNFOLLOW, predecessor=b, reason="no") for a, b in last if b is not None]
    assert lineage(*events, *taken_back).links == ()


def test_versions_come_nearest_first() -> None:
    """A chain with a branch, and a fine-tune that takes no one's place."""
    known = lineage(follow(2, 1), follow(3, 2), follow(4, 2, Descent.SNAPSHOT), follow(5, 1, Descent.FINE_TUNE), follow(6, 5))

    assert known.successors(version(1)) == (version(2), version(3), version(4))
    assert known.newest(version(1)) == (version(3), version(4))
    assert known.newest(version(3)) == ()
    assert known.ancestors(version(4)) == (version(2), version(1))
    assert known.ancestors(version(6)) == (version(5),)
    assert [link.model for link in known.following(version(1))] == [version(2), version(5)]
    assert known.find_path(version(1), version(6)) == (version(1), version(5), version(6))
    assert known.list_entries([version(5)]) == [10, 11]


def test_a_predecessor_named_at_registration_is_a_successor_link() -> None:
    """Until it is taken back."""
    registered = [VersionRegistration(entry=1, model=version(1)), VersionRegistration(entry=2, model=version(2), predecessor=version(1))]
    known = Lineage(registered, [])

    assert [(link.descent, link.entry) for link in known.links] == [(Descent.SUCCESSOR, 2)]
    assert Lineage(registered, [VersionHistory(entry=3, event=unfollow(2, 1))]).links == ()


@pytest.mark.parametrize(
    ("released", "text", "expected"),
    [
        (date(2026, 1, 2), "20240101", (date(2026, 1, 2), "released")),
        (None, "2025-05-14", (date(2025, 5, 14), "by the date in its version")),
        (None, "sonnet-20250514-v1", (date(2025, 5, 14), "by the date in its version")),
        (None, "2025-05-14 (20250514)", (date(2025, 5, 14), "by the date in its version")),
        (None, "2025-05-14..2025-06-01", None),
        (None, "20251399", None),
        (None, "120250514", None),
        (None, "4.5", None),
    ],
)
def test_a_date_is_said_or_read_off_the_version(released: date | None, text: str, expected: tuple[date, str] | None) -> None:
    """ISO or eight digits; none is guessed of two, of no date, or of a part of a longer number."""
    assert find_date(ModelVersion(model=version(text), released=released)) == expected


@pytest.mark.parametrize(
    "other",
    [
        "Ex\u0430mple|m|1",
        "Example|\u041c|1",
        "Example|M|1",
        " Example |m|1",
        "Example|m\u00a0|1",
        "Example|m\u200b|1",
        "Example|\uff4d|1",
        "Example m||1",
        "Example||m 1",
    ],
)
def test_names_that_differ_in_spelling_alone_are_folded_together(other: str) -> None:
    """Case, white space, full-width and Cyrillic letters, what cannot be seen, and where the words part."""
    developer, name, number = other.split("|")

    assert fold_model(ModelRef(developer=developer, name=name, version=number)) == fold_model(version(1))
    assert fold_model(version(1)) != fold_model(version(2))


def test_a_claim_about_another_spelling_of_a_version_that_claims_are_about_is_refused(ledger: Ledger) -> None:
    """It would shed the outcomes of the first one, whether or not the version is registered; dashes that look alike are one."""
    first, other = (ModelRef(developer="Example", name=name, version="1") for name in ("m-one", "m\u2010one"))
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        make.add_claim(writer, phi, model=first)
        with pytest.raises(InputError, match="model-case-differs"):
            make.add_claim(writer, phi, model=other)
    with pytest.raises(InputError, match="earlier claims are about Example m-one 1"), ledger.write(actor="LAB") as writer:
        make.add_claim(writer, phi, model=other)


@pytest.fixture
def chained(ledger: Ledger) -> Ledger:
    """Versions 1 to 4; 2 follows 1, and 3 is a snapshot of 2."""
    with ledger.write(actor="LAB") as writer:
        make.settle(writer)
        writer.append_many([ModelVersion(model=version(number)) for number in range(1, 5)])
        writer.append_many([follow(2, 1), follow(3, 2, Descent.SNAPSHOT)])
    return ledger


REFUSED: list[tuple[str, Callable[[], Any], str]] = [
    ("model-not-registered", lambda: follow(9, 1), r"did you mean Example m 1"),
    ("model-not-registered", lambda: ModelVersion(model=version(5), predecessor=version("0.7", "omega-large")), "caveat model add"),
    ("self-reference", lambda: follow(4, 4), "does not follow itself"),
    ("self-reference", lambda: ModelVersion(model=version(5), predecessor=version(5)), "does not follow itself"),
    ("lineage-cycle", lambda: follow(1, 3), "Example m 1 → Example m 2 → Example m 3 → Example m 1"),
    ("lineage-cycle", lambda: follow(1, 2, Descent.FINE_TUNE), "Example m 1 → Example m 2 → Example m 1"),
    ("successor-exists", lambda: follow(4, 1), r"let it follow Example m 3, .*--branch"),
    ("successor-exists", lambda: follow(4, 1, Descent.SNAPSHOT), r"Example m 2 \(entry 7\)"),
    ("successor-exists", lambda: ModelVersion(model=version(5), predecessor=version(1)), "took the place of Example m 1 already"),
    ("already-recorded", lambda: follow(2, 1), "entry 7 says"),
    ("nothing-to-retract", lambda: unfollow(3, 1), "caveat model show"),
    ("nothing-to-retract", lambda: say(1, ModelEventKind.REINSTATE), "not deprecated"),
    ("model-case-differs", lambda: ModelVersion(model=version(1, "M")), r"'m', version '1'"),
    ("model-case-differs", lambda: ModelVersion(model=ModelRef(developer="Example m", name="1", version="")), "in white space"),
    ("already-recorded", lambda: ModelVersion(model=version(1)), "registered already"),
]


def test_what_cannot_be_is_refused(chained: Ledger) -> None:
    """With what was found and what to do; nothing is recorded."""
    for code, make_statement, problem in REFUSED:
        with pytest.raises((ConflictError, InputError), match=problem) as refused, chained.write(actor="LAB") as writer:
            writer.append(make_statement())
        assert code in [fault.code for fault in refused.value.faults]

    with chained.view() as view:
        assert view.log_size == 8


ALLOWED: list[ModelEvent] = [
    follow(4, 1, branch=True),
    follow(4, 1, Descent.FINE_TUNE),
    follow(4, 3),
    follow(3, 2, Descent.SUCCESSOR),
    follow(3, 1, branch=True),
    unfollow(2, 1),
    say(1, ModelEventKind.DEPRECATE, on=date(2027, 1, 1)),
]


def _record_and_undo(ledger: Ledger, model_event: ModelEvent) -> list[list[ModelEvent]]:
    """Return what is seen of events, of all and of its model's, while *model_event* is recorded and not yet kept."""
    recorded: list[list[ModelEvent]] = []
    with suppress(InterruptedError), ledger.write(actor="LAB") as writer:
        writer.append(model_event)
        recorded = [[recorded_event.payload for recorded_event in writer.list_model_events(model)] for model in (None, model_event.model)]
        raise InterruptedError
    return recorded


def test_what_may_be_is_recorded(chained: Ledger) -> None:
    """A branch that is meant, a fine-tune beside a successor, another descent than was said, one version in the place of two."""
    for event in ALLOWED:
        recorded = _record_and_undo(chained, event)
        assert recorded[0][-1] == recorded[1][-1] == event

    with chained.view() as view:
        assert [recorded_event.payload.event for recorded_event in view.list_model_events()] == [FOLLOW, FOLLOW]
        assert view.list_model_events(version(9)) == ()
        assert [recorded_event.entry.seq for recorded_event in view.list_model_events(version(2))] == [7, 8]


def test_a_view_of_an_earlier_entry_knows_the_lineage_of_then(chained: Ledger) -> None:
    """And a writer what it has just recorded."""
    with chained.write(actor="LAB") as writer:
        writer.append(follow(4, 3))
        seen = writer.lineage()

    with chained.view() as view, chained.view(7) as before:
        assert view.lineage().links == seen.links
        assert [link.model for link in before.lineage().links] == [version(2)]
        assert before.lineage().newest(version(1)) == (version(2),)
        assert view.lineage().newest(version(1)) == (version(4),)


@pytest.mark.parametrize("how", ["by the date in its version", "released"])
def test_a_successor_is_not_the_older_one(ledger: Ledger, how: str) -> None:
    """By the date that is recorded, else by the one in its version; a fine-tune may be, and where one date is missing nothing is said."""
    older = ModelVersion(model=version("a"), released=date(2024, 1, 1)) if how == "released" else ModelVersion(model=version("2024-01-01"))
    newer = ModelVersion(model=version("b"), released=date(2025, 1, 1))
    with ledger.write(actor="LAB") as writer:
        make.settle(writer)
        writer.append_many([older, newer, ModelVersion(model=version("c"))])
        for model_event in (
            follow("c", "b"),
            ModelEvent(model=older.model, event=FOLLOW, predecessor=newer.model, descent=Descent.FINE_TUNE),
        ):
            writer.append(model_event)

    wrong = ModelEvent(model=older.model, event=FOLLOW, predecessor=newer.model, descent=Descent.SUCCESSOR, branch=True)
    with (
        pytest.raises(InputError, match=rf"2024-01-01 \({how}\), Example m b of 2025-01-01 \(released\)") as refused,
        ledger.write(actor="LAB") as writer,
    ):
        writer.append(wrong)
    assert [fault.code for fault in refused.value.faults] == ["successor-older"]


def test_everything_wrong_is_told_at_once(chained: Ledger) -> None:
    """A circle, a second successor and the wrong age."""
    with chained.write(actor="LAB") as writer:
        writer.append(ModelVersion(model=version("x"), released=date(2020, 1, 1)))
        writer.append(ModelVersion(model=version("y"), released=date(2021, 1, 1)))
        writer.append_many([follow("y", "x"), follow("1", "y", branch=True)])

    with pytest.raises(ConflictError) as refused, chained.write(actor="LAB") as writer:
        writer.append(ModelEvent(model=version("x"), event=FOLLOW, predecessor=version("y"), descent=Descent.SUCCESSOR))

    assert [fault.code for fault in refused.value.faults] == ["lineage-cycle", "successor-exists", "successor-older"]


def test_a_version_is_deprecated_once_and_reinstated(chained: Ledger) -> None:
    """The second time is refused until it is offered again."""
    gone, back = say(1, ModelEventKind.DEPRECATE), say(1, ModelEventKind.REINSTATE)
    with chained.write(actor="LAB") as writer:
        writer.append(gone)
        with pytest.raises(ConflictError, match="entry 9 says that it is deprecated"):
            writer.append(gone)
        assert writer.lineage().deprecation(version(1)) == gone
        writer.append(back)
        assert writer.lineage().deprecation(version(1)) is None
        writer.append(gone)

    with chained.view() as view:
        assert view.lineage().deprecation_entry(version(1)) == 11


def _append_claim(writer: Writer, model: ModelRef) -> None:
    (phi,) = (spec.payload for spec in writer.list_specs())
    make.add_claim(writer, f"{phi.spec}@1", model=model)


def test_a_claim_about_a_version_in_another_spelling_is_refused(chained: Ledger) -> None:
    """Its lineage would silently not apply; also where the version is registered in the same breath. One that no one registered stays."""
    with chained.write(actor="LAB") as writer:
        _append_claim(writer, version(1))
        _append_claim(writer, version(1, "other"))
        for wrong in (version(1, "M"), version("1 ")):
            with pytest.raises(InputError, match="model-case-differs"):
                _append_claim(writer, wrong)
        (phi,) = (spec.payload for spec in writer.list_specs())
        claim = make.claim(make.allocate(writer, make.Kind.CLAIM), f"{phi.spec}@1", model=version(7, "new"))
    with pytest.raises(InputError, match="model-case-differs"), chained.write(actor="LAB") as writer:
        writer.append_many([ModelVersion(model=version(7, "New")), replace(claim, claim=make.allocate(writer, make.Kind.CLAIM))])

    with chained.view() as view:
        assert [summary.model.name for summary in view.list_claims()] == ["m", "other"]
