"""Verdicts are wrong in at most 5 % of replays where the assumptions hold: a quick, seeded run of the benchmark, and its table."""

import re
from pathlib import Path

import pytest

from benchmarks.false_verdicts import HEADS, MOST, Question, is_wrong, list_questions, simulate
from benchmarks.verdict_worlds import World, build_layout, list_broken_worlds, list_sound_worlds
from registry.records.claim import Form, Relation
from registry.records.classification import Verdict
from registry.records.plan import IntervalMethod
from registry.report.assumptions import FALSE_HOLDS

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "benchmarks" / "FALSE_VERDICTS.md"
LIMITATIONS = ROOT / "docs" / "limitations.md"
SOUND = list(list_sound_worlds())
BROKEN = list(list_broken_worlds())


def find_world(worlds: list[World], *, design: str, contexts: tuple[int, int], starts: str = "") -> World:
    return next(world for world in worlds if (world.design.value, world.contexts) == (design, contexts) and world.name.startswith(starts))


def name_world(world: World) -> str:
    return f"{describe_design(world)}-{world.contexts[1]}-{world.tasks}-{world.name}"


def describe_design(world: World) -> str:
    return world.design.value if world.interval is IntervalMethod.CLOSED_FORM else f"{world.design.value}, guaranteed intervals"


def read_rows(world: World) -> list[str]:
    """The cells of the committed row of *world*."""
    size = f"{describe_design(world)} | {world.contexts[0]}/{world.contexts[1]} | {world.tasks} |"
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if f"| {world.name} | {size}" in line]
    assert len(lines) == 1, (world.name, size)
    return [cell.strip() for cell in lines[0].strip("|").split("|")]


@pytest.mark.parametrize(("design", "contexts"), [("random", (5, 5)), ("random", (20, 5)), ("fixed", (2, 2)), ("nested", (2, 2))], ids=str)
def test_verdicts_are_rarely_wrong_where_the_assumptions_hold(design: str, contexts: tuple[int, int]) -> None:
    """At most 5 % of each adverse verdict, of holds and of established inversions, at the limits where they are wrong most easily."""
    world = find_world(SOUND, design=design, contexts=contexts)

    result = simulate(world, draws=200, seed=(7, 1))

    assert result.missed == ()


def test_the_simulation_sees_a_broken_assumption() -> None:
    """With one trigger context in ten and five contexts, holds is wrong far more often than allowed: the check can fail."""
    world = find_world(BROKEN, design="random", contexts=(5, 5), starts="1 context in 10")

    result = simulate(world, draws=60, seed=(7, 2))

    assert result.wrong["Holds"] > 4 * MOST
    assert "Holds" in result.missed


def test_a_blocked_verdict_is_counted_as_wrong_and_not_as_established() -> None:
    """A judge that drifts, and was not checked, gives wrong verdicts; none of them is established."""
    world = find_world(BROKEN, design="random", contexts=(20, 20), starts="the judge adds 0.1")

    result = simulate(world, draws=30, seed=(7, 3))

    assert result.wrong["Contradicted"] > MOST
    assert set(result.firm.values()) == {0.0}


@pytest.mark.parametrize(
    ("verdict", "theta", "is_false"),
    [
        (Verdict.CONTRADICTED, 0.3, True),
        (Verdict.CONTRADICTED, 0.29, False),
        (Verdict.HOLDS, 0.29, True),
        (Verdict.HOLDS, 0.3, False),
        (Verdict.INCONCLUSIVE, 0.3, False),
    ],
)
def test_a_limit_at_the_truth_is_satisfied(verdict: Verdict, theta: float, *, is_false: bool) -> None:
    """Equality satisfies the claim; just beyond, holds is what is wrong."""
    world = next(world for world in SOUND if world.phi_deploy == (0.3,))
    question = Question(form=Form.THRESHOLD, margin=0.05, relation=Relation.AT_MOST, theta=theta, card_rate=world.phi_test)

    assert is_wrong(world, question, verdict, world.phi_deploy) is is_false


@pytest.mark.parametrize("world", [*SOUND, *BROKEN], ids=name_world)
def test_every_world_is_asked_at_its_truth_and_has_a_whole_table(world: World) -> None:
    """θ at each Φ for both relations, a margin at |ED|; one row for each task, context and side."""
    questions = list(list_questions(world))
    thetas = {question.theta for question in questions}
    rows = build_layout(world).table.rows

    assert {world.phi_test, *world.phi_deploy} <= thetas
    assert any(question.form is Form.PREVALENCE for question in questions)
    assert rows == world.tasks * (world.contexts[0] + len(world.phi_deploy) * world.contexts[1])


def test_the_committed_table_holds_the_demand() -> None:
    """Every world that keeps the assumptions is in the table, and none of its verdicts is wrong in more than 5 %."""
    for world in SOUND:
        cells = read_rows(world)
        shares = [float(cell.split(" ")[0]) for cell in cells[4 : 4 + len(HEADS)]]

        assert max(shares) <= 100 * MOST
        assert cells[-1] == "met"


def test_page_one_prints_the_measured_rate() -> None:
    """The rate of a false holds with a rare trigger context is that of the committed table."""
    measured = {}
    for world in BROKEN:
        if world.name.startswith("1 context in 10") and world.interval is IntervalMethod.CLOSED_FORM:
            measured[world.contexts[1]] = float(read_rows(world)[5 + HEADS.index("Holds")])

    assert measured == pytest.approx({contexts: 100 * rate for contexts, rate in FALSE_HOLDS.items()})


@pytest.mark.parametrize("world", BROKEN, ids=name_world)
def test_the_limitations_page_prints_the_measured_rates(world: World) -> None:
    """Each world that breaks an assumption stands on the page with the rates of the committed table."""
    cells = read_rows(world)
    size = f"{cells[2]}, C {cells[3].split('/')[1]}, T {cells[4]}"
    rates = [cells[5 + HEADS.index(head)] for head in ("Contradicted", "Does not carry over", "Holds", "Not reproduced", HEADS[-1])]
    line = f"| {world.name} | {size} | {' | '.join(rates)} |"

    assert re.sub(r"\s+", " ", line) in re.sub(r"[^\S\n]+", " ", LIMITATIONS.read_text(encoding="utf-8"))
