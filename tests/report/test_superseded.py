"""What superseded a supplement: known when the registry has left what it said, told loudly, and proven by no one but the registry."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.codec.statement_encoding import list_named
from registry.errors import AlteredError, NotFoundError
from registry.folder.supplement_changes import find_superseded
from registry.folder.supplement_publishing import SupplementCollector, SupplementSubject, name_subject
from registry.records.dossier import EntrySupersession
from registry.records.model_version import Descent, ModelEvent, ModelEventKind, ModelVersion
from registry.records.record import Payload, parse_identifier
from registry.records.statement import OutputFormat
from registry.records.supplement import CardSupplement, Supplement
from registry.report.html_rendering import digest_record, render_html, render_json
from registry.report.pdf_rendering import render_pdf_in_process
from registry.report.render_workers import RenderedFile
from registry.report.supplement_reading import read_supplement
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.supplement_states import find_states
from registry.verify.file_verification import check_file
from registry.verify.proof_checks import Check, CheckAnswer, CheckName
from registry.verify.record_checks import read_carried
from registry.verify.verification_keys import Trust
from tests.examples import scale
from tests.report.updated import SECOND
from tests.store import builders as make
from tests.store.growing import MODELS, STEPS, World

Opener = Callable[[], World]


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("superseded") / "empty.db"
    schema.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def open_world(empty: Path, tmp_path: Path) -> Opener:
    """Give a registry with a card and two claims of it, a new one at each call."""
    opened: list[World] = []

    def open_() -> World:
        path = tmp_path / f"{len(opened)}.db"
        path.write_bytes(empty.read_bytes())
        world = World(Ledger.open(f"sqlite:///{path}", clock=make.ticking(), salt=make.salting()))
        for step in (("claim", 0, 1), ("claim", 2, 1)):
            assert world.grow(*step) is None
        opened.append(world)
        return world

    return open_


@pytest.fixture
def world(open_world: Opener) -> World:
    return open_world()


def say(world: World, *payloads: Payload) -> int:
    """Record *payloads*, and return how many entries there were before."""
    with world.ledger.view() as view:
        size = view.log_size
    with world.ledger.write(actor="LAB") as writer:
        for one in payloads:
            writer.append(one)
    return size


def follow() -> tuple[Payload, ...]:
    event = ModelEvent(model=MODELS[1], event=ModelEventKind.FOLLOW, predecessor=MODELS[0], descent=Descent.SUCCESSOR)
    return ModelVersion(model=MODELS[1]), event


def ask(world: World, name: str, size: int | None = None) -> EntrySupersession | None:
    with world.ledger.view(size) as then, world.ledger.view() as now:
        return find_superseded(then, now, name)


def collect(world: World, name: str, size: int | None = None) -> SupplementSubject:
    with world.ledger.view(size) as then, world.ledger.view() as now:
        return SupplementCollector(then, now=now).collect(parse_identifier(name))


def list_entries_of(world: World) -> int:
    with world.ledger.view() as view:
        return view.log_size


def test_what_was_given_out_supersedes_nothing(world: World) -> None:
    """A file that was published says what it said; nor does a party that was registered change it."""
    size = list_entries_of(world)
    for step in (("publish", 0, 0), ("authority", 1, 1)):
        assert world.grow(*step) is None

    assert {ask(world, name, size) for name in (*world.claims, *world.cards)} == {None}


def test_another_model_version_supersedes_by_the_same_name(world: World) -> None:
    """The claim now needs review, since the entry that says so, and the reason names both versions."""
    claim = next(iter(world.claims))
    size = say(world, *follow())

    superseded = ask(world, claim, size)

    assert superseded is not None
    assert (superseded.name, superseded.log_size) == (f"{claim}@1", size + 2)
    assert size < superseded.entry.seq <= size + 2
    assert any(f"{MODELS[0]} was followed by {MODELS[1]}" in one for one in superseded.why)


def test_a_newer_revision_supersedes_also_what_is_drawn_now(world: World) -> None:
    """As of an earlier entry since that entry; now, because the older revision was asked for."""
    claim = next(iter(world.claims))
    size = list_entries_of(world)
    assert world.grow("revise", 0, 0) is None

    earlier, plain, newest = ask(world, f"{claim}@1", size), ask(world, f"{claim}@1"), ask(world, claim)

    assert earlier is not None
    assert plain is not None
    assert newest is None
    assert (earlier.name, earlier.entry, earlier.log_size) == (plain.name, plain.entry, plain.log_size)
    assert plain.name == f"{claim}@2"
    assert "Revision 2 was recorded: “better”" in plain.why[0]


def test_only_a_state_that_was_left_has_a_name_of_its_own(world: World) -> None:
    """An older revision keeps its name, also as of an earlier entry since which nothing changed of it."""
    claim = next(iter(world.claims))
    size = list_entries_of(world)
    assert world.grow("revise", 0, 0) is None
    revised = list_entries_of(world)
    assert world.grow("publish", 0, 0) is None

    names = [collect(world, f"{claim}@1", seen).stem for seen in (None, revised, size)]

    assert names == [f"{claim}@1", f"{claim}@1", f"{claim}@1.entry-{size}"]


def test_a_card_is_superseded_by_what_became_of_its_claims(world: World) -> None:
    """Claims with the same reason are told together; a newer revision of the card takes its place."""
    (card,) = world.cards
    size = say(world, *follow())
    followed = ask(world, card, size)
    assert world.grow("card", 0, 0) is None
    revised, plain = ask(world, card, size), ask(world, f"{card}@1")

    assert followed is not None
    assert revised is not None
    assert plain is not None
    assert followed.name == f"{card}@1"
    assert followed.why == (f"{', '.join(world.claims)}: {MODELS[0]} was followed by {MODELS[1]} (entry {size + 2}).",)
    assert (revised.name, plain.name) == (f"{card}@2", f"{card}@2")
    assert revised.why[0] == plain.why[0] == f"Revision 2 of the card was registered: “erratum” (entry {plain.entry.seq})."


def test_what_is_not_registered_is_not_superseded(world: World) -> None:
    """It is an error, as it is to draw it."""
    with pytest.raises(NotFoundError):
        ask(world, make_unused(world))


def make_unused(world: World) -> str:
    name = next(iter(world.claims))
    return str(replace(parse_identifier(name), number=4711))


DRAWN = st.lists(st.tuples(st.sampled_from(sorted(STEPS.keys() - {"erase"})), st.integers(0, 40), st.integers(0, 40)), max_size=8)


@settings(max_examples=scale(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN)
def test_superseded_is_what_has_another_state_or_a_newer_revision(open_world: Opener, steps: list[tuple[str, int, int]]) -> None:
    """Whatever was recorded: with an entry that came since, where one did, and with a reason; the newest now is superseded by nothing."""
    world = open_world()
    for step in (("audit", 0, 1), ("restrict", 0, 1)):
        assert world.grow(*step) is None
    size, known = list_entries_of(world), {**world.claims, **world.cards}
    for step in steps:
        world.grow(*step)

    with world.ledger.view(size) as then, world.ledger.view() as now:
        before, after = find_states(then), find_states(now)
        found = {name: find_superseded(then, now, f"{name}@{number}") for name, number in known.items()}
        newest = {name: find_superseded(now, now, name) for name in known}

    for name, superseded in found.items():
        last = (world.claims | world.cards)[name]
        same = before[f"{name}@1"] == after[f"{name}@1"] and last == known[name]
        assert (superseded is None) == same
        if superseded is not None:
            assert superseded.name == f"{name}@{last}"
            assert size < superseded.entry.seq <= superseded.log_size
            assert all(superseded.why)
    assert set(newest.values()) == {None}


@pytest.mark.parametrize("name", ["superseded", "card-superseded"])
def test_the_record_digest_is_that_of_what_was_superseded(name: str, updated: Mapping[str, Supplement | CardSupplement]) -> None:
    """The notice stands outside the record, and outside its proof."""
    supplement = updated[name]
    before = replace(supplement, superseded=None)

    assert digest_record(supplement) == digest_record(before)
    assert render_json(supplement) != render_json(before)
    assert [one.entry for one in list_named(supplement)] == [one.entry for one in list_named(before)]
    assert digest_record(before) in render_html(supplement).decode().replace('</span><span class="group">', "")


@pytest.mark.parametrize("name", ["superseded", "card-superseded"])
def test_a_superseded_file_read_back_is_drawn_the_same(name: str, updated: Mapping[str, Supplement | CardSupplement]) -> None:
    """Notice included, and under the same name."""
    supplement = updated[name]
    for data in (render_json(supplement), render_html(supplement)):
        again = read_supplement(data, where="file")

        assert again == supplement
        assert (render_json(again), render_html(again)) == (render_json(supplement), render_html(supplement))
        assert name_subject(again).stem.endswith(f".entry-{supplement.log_size}")


def test_a_superseded_pdf_read_back_is_drawn_the_same(superseded_pdf: bytes) -> None:
    """The same bytes, with the notice in the record that is attached."""
    assert render_pdf_in_process(read_supplement(superseded_pdf, where="file")) == superseded_pdf


@pytest.mark.parametrize("name", ["superseded", "card-superseded"])
def test_the_banner_stands_before_everything_else(name: str, updated: Mapping[str, Supplement | CardSupplement]) -> None:
    """What took its place, with a link, since when, and why; then in the margin too."""
    supplement = updated[name]
    superseded = supplement.superseded
    assert isinstance(supplement, Supplement | CardSupplement)
    assert superseded is not None
    html = render_html(supplement).decode()
    banner = html.partition('<div class="loud superseded" role="note">')[2]

    assert f'<strong>Superseded by <a class="mono" href="{superseded.name}.html">{superseded.name}</a>.</strong>' in banner
    assert banner.index(superseded.why[0]) < banner.index("<h1")
    assert f"Superseded by {superseded.name}." in html.partition("<main")[0]
    assert html.count('class="loud superseded"') == 1


def check(world: World, supplement: Supplement | CardSupplement) -> dict[CheckName, Check]:
    """What verifying the HTML file of *supplement* beside the registry comes to."""
    data = render_html(supplement)
    again = read_carried(data, where="file").supplement
    made = RenderedFile(key="0", format=OutputFormat.HTML, data=render_html(again), error=None)
    found = check_file(data, proof=None, trust=Trust(), ledger=world.ledger, made=made)
    return {one.name: one for one in found}


@pytest.mark.parametrize("kind", ["claims", "cards"])
def test_a_superseded_file_verifies_and_is_not_current_for_its_own_reason(kind: str, world: World) -> None:
    """All that passes for the file without the notice passes for it; the registry says no to `current` in the words of the banner."""
    name = next(iter(getattr(world, kind)))
    size = say(world, *follow())
    supplement = collect(world, name, size).supplement
    assert isinstance(supplement, Supplement | CardSupplement)
    assert supplement.superseded is not None

    told, plain = check(world, supplement), check(world, replace(supplement, superseded=None))

    assert {key: one.answer for key, one in told.items()} == {key: one.answer for key, one in plain.items()}
    assert {told[key].answer for key in (CheckName.BYTES, CheckName.RECORD, CheckName.ENTRIES, CheckName.REGISTRY)} == {CheckAnswer.YES}
    assert told[CheckName.CURRENT].answer is CheckAnswer.NO
    assert all(one in told[CheckName.CURRENT].note for one in supplement.superseded.why)


def test_the_record_check_says_what_stands_outside_its_digest(updated: Mapping[str, Supplement | CardSupplement]) -> None:
    """Who has the file alone is told that the notice is no one's word but the sender's."""
    supplement = updated["superseded"]
    assert isinstance(supplement, Supplement)
    notes = {}
    for one in (supplement, replace(supplement, superseded=None)):
        data = render_json(one)
        made = RenderedFile(key="0", format=OutputFormat.JSON, data=data, error=None)
        notes[one.superseded is None] = check_file(data, proof=None, trust=Trust(), made=made)[1].note

    assert (
        notes[False] == f"{notes[True]}; a notice before it, outside that digest, says that {SECOND} superseded it: only a registry knows"
    )


def test_a_notice_is_not_read_off_rows_edited_by_hand(world: World, tmp_path: Path) -> None:
    """A link of lineage that was turned into another kind in the table alone is an error, and no reason."""
    size = say(world, *follow())
    with closing(sqlite3.connect(tmp_path / "0.db")) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute("UPDATE model_event SET descent = 'fine_tune'")
        database.commit()

    with pytest.raises(AlteredError, match="row-differs"):
        ask(world, next(iter(world.claims)), size)


def forge_name(said: EntrySupersession) -> EntrySupersession:
    return replace(said, name=said.name.replace("@1", "@7"))


def forge_reason(said: EntrySupersession) -> EntrySupersession:
    return replace(said, why=("The lab withdrew it.",))


def forge_time(said: EntrySupersession) -> EntrySupersession:
    return replace(said, log_size=said.log_size + 1000)


@pytest.mark.parametrize("forge", [forge_name, forge_reason, forge_time])
def test_a_forged_notice_is_a_no_of_the_registry(forge: Callable[[EntrySupersession], EntrySupersession], world: World) -> None:
    """The file alone cannot tell, as its page says; a registry can."""
    size = say(world, *follow())
    supplement = collect(world, next(iter(world.claims)), size).supplement
    assert isinstance(supplement, Supplement)
    assert supplement.superseded is not None

    told = check(world, replace(supplement, superseded=forge(supplement.superseded)))

    assert told[CheckName.REGISTRY].answer is CheckAnswer.NO
    assert "the notice that it is superseded is not what the registry says" in told[CheckName.REGISTRY].note
    assert told[CheckName.ENTRIES].answer is CheckAnswer.YES


def test_a_notice_on_what_still_stands_is_a_no_of_the_registry(world: World, updated: Mapping[str, Supplement | CardSupplement]) -> None:
    """Somebody marked a supplement as superseded that is not."""
    supplement = collect(world, next(iter(world.claims))).supplement
    assert isinstance(supplement, Supplement)
    forged = replace(updated["superseded"].superseded, log_size=supplement.log_size)

    told = check(world, replace(supplement, superseded=forged))

    assert told[CheckName.REGISTRY].answer is CheckAnswer.NO
    assert "nothing superseded it" in told[CheckName.REGISTRY].note
    assert told[CheckName.CURRENT].answer is CheckAnswer.YES
