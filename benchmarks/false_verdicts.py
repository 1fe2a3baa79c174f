"""How often a verdict is wrong: replays are drawn from worlds whose truth is known, estimated and classified as an audit's are.

Run from the repository root: `python -m benchmarks.false_verdicts` (about twelve minutes of one core; `--draws` sets the replays a world).
`--table FILE` writes what is kept as FALSE_VERDICTS.md; with `--add`, only the worlds are drawn that this file has no row of, and its rows
are kept (to draw one anew, delete its row). Each replay goes through `audit.modules.differential_estimate.estimate` and
`audit.verdict.claim_classification.classify`, once for
every question of `list_questions`: limits at the truth and just beyond it, margins at the true |ED| and just below, card's figures that are
right and just not. Prints one JSON line; exit 1 when a verdict is wrong in more than 5 % of the replays of a world that keeps the
assumptions.
"""

import argparse
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from audit.modules.differential_estimate import estimate
from audit.protocol.case_outcome import bound_unresolved
from audit.verdict.claim_classification import classify
from audit.verdict.verdict_phrases import VerdictPhrases
from audit.verdict.verdict_standing import AuditConduct
from benchmarks.verdict_worlds import World, build_layout, list_broken_worlds, list_sound_worlds
from registry.records.analysis_plan import IntervalMethod, Plan
from registry.records.audit_case import Case, CaseClaim, Deployment, Scoring
from registry.records.claim import Direction, Form, PropertyClass, Relation, Reported
from registry.records.estimates import Estimate
from registry.records.model_version import ModelRef
from registry.records.replay_run import ModelIdentity, ModelIdentityStatus, Provenance
from registry.records.specification import PropertySpec
from registry.records.verdict import ClaimClass, ReadingVerdict, Standing, Verdict, VerdictStanding

DRAWS, AGAIN, NEAR, MOST = 1000, 4, 0.045, 0.05
"""Replays a world; how many times as many are drawn anew of a world that comes near the limit, and then only those count."""
TRIALS = 200
"""Of the card's own evaluation."""
STEP, ROOM = 1e-9, 0.2
"""How far just beyond is; by how much δ exceeds |ED| where the card's figure is what is asked about."""
AT_MORE = ", drawn again"
"""What the row of a world says that was drawn anew."""
INVERTED = "inverted · established"
VERDICTS = (Verdict.CONTRADICTED, Verdict.DOES_NOT_CARRY_OVER, Verdict.HOLDS, Verdict.NOT_REPRODUCED)
HEADS = ("Contradicted", "Does not carry over", "Holds", "Not reproduced", INVERTED)

MODEL = ModelRef(developer="EXAMPLE", name="m", version="1")
PROPERTY = PropertySpec(
    name="refusal rate", class_=PropertyClass.DECEPTION_SCHEMING, range=(0.0, 1.0), direction=Direction.LOWER_IS_SAFER, suppressible=False
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A claim about a world, with the figure that its card reports."""

    form: Form
    margin: float
    """δ of the plan."""
    relation: Relation | None = None
    theta: float | None = None
    card_rate: float
    """What the card's own evaluation measures: Φ_test where the card is right."""
    is_drawn: bool = True
    """Whether the card's figure is a share of `TRIALS` draws, with its n; otherwise it is the rate itself, without n."""

    def is_beyond(self, phi: float) -> bool:
        """Whether *phi* violates θ."""
        if self.theta is None or self.relation is None:
            return False
        return phi > self.theta + 1e-12 if self.relation is Relation.AT_MOST else phi < self.theta - 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Of one world: by head, the share of replays with a wrong verdict, for the question where it is most often wrong."""

    draws: int
    wrong: dict[str, float]
    firm: dict[str, float]
    """The same, of verdicts that are established or conditional."""

    @property
    def missed(self) -> tuple[str, ...]:
        """The heads that are wrong more often than is allowed."""
        return tuple(head for head in HEADS if self.wrong[head] > MOST)


# --- What is asked, and what is a wrong answer ---


def list_questions(world: World) -> Iterator[Question]:
    """Yield the claims at which a verdict on *world* is wrong most easily."""
    phis = dict.fromkeys((*world.phi_deploy, world.phi_test))
    for phi in phis:
        for relation, beyond in ((Relation.AT_MOST, -STEP), (Relation.AT_LEAST, STEP)):
            for theta in (phi, phi + beyond):
                yield Question(form=Form.THRESHOLD, margin=0.05, relation=relation, theta=theta, card_rate=world.phi_test)
    differential = max(abs(world.phi_test - phi) for phi in world.phi_deploy)
    yield Question(form=Form.PREVALENCE, margin=differential or 0.05, card_rate=world.phi_test)
    if differential > STEP:
        yield Question(form=Form.PREVALENCE, margin=differential - STEP, card_rate=world.phi_test)
    wide = differential + ROOM
    for sign in (-1, 1):
        outside, inside = (world.phi_test + sign * (wide + step) for step in (STEP, -STEP))
        if 0 <= outside <= 1:
            yield Question(form=Form.PREVALENCE, margin=wide, card_rate=outside, is_drawn=False)
            yield Question(form=Form.PREVALENCE, margin=wide, card_rate=inside, is_drawn=False)
            yield Question(form=Form.PREVALENCE, margin=wide, card_rate=outside)


def find_wrong(world: World, question: Question, reading: ReadingVerdict) -> Iterator[str]:
    """Yield the heads under which *reading*, or what it says of one specification, is false of *world*."""
    outcomes = [(reading.verdict, world.phi_deploy, reading.class_, reading.standing)]
    if len(world.phi_deploy) > 1:
        own = {f"spec-{number}": phi for number, phi in enumerate(world.phi_deploy)}
        outcomes += [(spec.verdict, (own[spec.spec],), spec.class_, spec.standing) for spec in reading.specs]
    for verdict, phis, class_, standing in outcomes:
        if is_wrong(world, question, verdict, phis):
            yield HEADS[VERDICTS.index(verdict)]
        if class_ is ClaimClass.INVERTED and standing is Standing.ESTABLISHED and is_wrong_inversion(world, question, phis):
            yield INVERTED


def is_wrong(world: World, question: Question, verdict: Verdict, phis: Sequence[float]) -> bool:
    """Whether *verdict* on the specifications with the true Φ_deploy *phis* is false."""
    differential = max(abs(world.phi_test - phi) for phi in phis)
    is_card_wrong = abs(question.card_rate - world.phi_test) > question.margin
    is_prevalence = question.form is Form.PREVALENCE
    is_any_beyond = any(map(question.is_beyond, phis))
    wrong = {
        Verdict.CONTRADICTED: not is_any_beyond,
        Verdict.DOES_NOT_CARRY_OVER: differential <= question.margin,
        Verdict.HOLDS: (differential > question.margin or is_card_wrong) if is_prevalence else is_any_beyond,
        Verdict.NOT_REPRODUCED: not (is_card_wrong if is_prevalence else question.is_beyond(world.phi_test)),
    }
    return wrong.get(verdict, False)


def is_wrong_inversion(world: World, question: Question, phis: Sequence[float]) -> bool:
    """Whether an established inversion is false: the evaluation fails θ in truth, or every deployment satisfies it."""
    return question.is_beyond(world.phi_test) or not any(map(question.is_beyond, phis))


# --- Drawing and classifying ---


def build_conduct(world: World) -> AuditConduct:
    """Return how an audit went in which every condition is met, but for a scorer that was not checked."""
    asked = ModelIdentity(
        model=MODEL, status=ModelIdentityStatus.BOUND, names_returned=("m-1",), names_expected=("m-1",), text="The endpoint returned m-1."
    )
    return AuditConduct(
        no_lock=None,
        asked=asked,
        provenance=Provenance(accessed="2026-11-21", sampling="temperature default"),
        is_invariance_checked=world.is_scorer_checked,
    )


def build_case(world: World, question: Question, plan: Plan, reported: Reported) -> Case:
    claim = CaseClaim(
        form=question.form, property=PROPERTY, relation=question.relation, theta=question.theta, reported=reported, model=MODEL
    )
    return Case(
        claim=claim,
        deployment=Deployment(description="drawn from the deployment contexts of this world"),
        plan=replace(plan, margin=question.margin),
        scoring=Scoring(invariant=True if world.is_scorer_checked else None),
    )


def draw_reported(question: Question, rng: np.random.Generator) -> Reported:
    """Return the figure that the card reports."""
    if not question.is_drawn:
        return Reported(value=question.card_rate)
    return Reported(value=int(rng.binomial(TRIALS, question.card_rate)) / TRIALS, n=TRIALS)


def simulate(world: World, *, draws: int, seed: Sequence[int]) -> Result:
    """Return how often the verdicts on *draws* replays of *world* are wrong."""
    rng = np.random.default_rng(seed)
    layout, plan, conduct = build_layout(world), Plan(contexts=world.design, interval=world.interval, replicates=0), build_conduct(world)
    questions = list(list_questions(world))
    wrong, firm = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for replay in world.draw(rng, draws):
        table = layout.fill(replay)
        result = estimate(table, plan, range_=(0.0, 1.0))
        unresolved = set_aside(lambda table=table: bound_unresolved(table, plan, range_=(0.0, 1.0)))  # type: ignore[misc]
        for number, question in enumerate(questions):
            case = build_case(world, question, plan, draw_reported(question, rng))
            extremes = None if replay.truncated is None else put_margin(unresolved, question.margin)
            reading = classify(case, replace(result, margin=question.margin), conduct=conduct, extremes=extremes).primary
            heads = set(find_wrong(world, question, reading))
            wrong.update((number, head) for head in heads)
            if reading.verdict_standing in (VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL):
                firm.update((number, head) for head in heads)
    return Result(draws=draws, wrong=find_highest(wrong, draws), firm=find_highest(firm, draws))


def set_aside(build: Callable[[], Iterator[Estimate]]) -> Callable[[], tuple[Estimate, ...]]:
    """Return *build* as a function that runs at most once: most verdicts do not ask for the extremes."""
    kept: list[tuple[Estimate, ...]] = []

    def get() -> tuple[Estimate, ...]:
        if not kept:
            kept.append(tuple(build()))
        return kept[0]

    return get


def put_margin(extremes: Callable[[], tuple[Estimate, ...]], margin: float) -> Callable[[], Iterator[Estimate]]:
    """Return the estimates of *extremes* with the margin of a question."""
    return lambda: (replace(one, margin=margin) for one in extremes())


def find_highest(counts: Counter[tuple[int, str]], draws: int) -> dict[str, float]:
    return {head: max((count for (_, name), count in counts.items() if name == head), default=0) / draws for head in HEADS}


def run(worlds: Sequence[World], *, draws: int, stage: int, kept: Mapping[World, Result]) -> dict[World, Result]:
    """Return the result of each world, *kept* or drawn; of one that comes near the limit, that of new and more replays alone."""
    results = dict[World, Result]()
    for place, world in enumerate(worlds):
        if world in kept:
            results[world] = kept[world]
            continue
        result = simulate(world, draws=draws, seed=(2611, stage, place))
        if world.broken is None and max(result.wrong.values()) > NEAR:
            result = simulate(world, draws=AGAIN * draws, seed=(2611, stage + 1, place))
        results[world] = result
    return results


# --- The table ---


def render(sound: dict[World, Result], broken: dict[World, Result], *, draws: int, made: str) -> Iterator[str]:
    again = sum(result.draws > draws for result in sound.values())
    yield f"""# Rates of wrong verdicts

{made}

**Replays.** {draws:,} a world, each estimated and classified by the functions that an audit uses, at the level 95 %. A world of the
first table above {NEAR:.1%} was simulated again, {AGAIN * draws:,} times, and only those count ({again} worlds). One standard error
at 5 %: {(0.05 * 0.95 / draws) ** 0.5:.1%}.

**Questions.** θ at the true Φ_deploy, at the true Φ_test, and just beyond each, for claims of at most and of at least; δ at the true |ED|
(0.05 where that is 0) and just below; a card's figure that is right, drawn with n = {TRIALS}; and, with δ = |ED| + {ROOM:g}, one that is
wrong by just more, or just less, than δ, exact and drawn. Each share is that of the question with the most wrong verdicts.

**Wrong** is *Contradicted* where Φ_deploy satisfies θ; *Does not carry over* where |ED| ≤ δ; *Holds* where Φ_deploy violates θ,
|ED| > δ, or the card's figure is off by more than δ; *Not reproduced* where Φ_test satisfies θ, or the card's figure is right within δ;
*inverted · established* where Φ_test violates θ or Φ_deploy satisfies it. With several specifications, what is said of each counts too.
"""
    yield f"## Worlds that keep the assumptions\n\nThe demand is at most {MOST:.0%}.\n"
    yield from render_summary(sound)
    yield "\nEach world, in %:\n"
    yield from render_worlds(sound)
    yield "\n## Worlds that break an assumption\n"
    yield "No demand applies. The figures are in %. Brackets give the share of established or conditional verdicts, if that is smaller.\n"
    yield from render_worlds(broken)


def describe_run(added: Sequence[World] | None, *, cpu_s: float) -> str:
    """Say when, where and how the rows were made: those *added* to a table, or all."""
    machine = f"{datetime.now(UTC):%Y-%m-%d}, 2 cores, 24 GiB, Debian 12, Python 3.11"
    if added is None:
        command = "`python -m benchmarks.false_verdicts --table benchmarks/FALSE_VERDICTS.md`"
        return f"{machine}; {cpu_s / 60:.0f} minutes of one core. Made by\n{command}. Seeded: a second run gives the same figures."
    head = f"Drawn by the same command with `--add`, {machine}; {cpu_s:.0f} seconds of one core:"
    return "\n".join([head, *(f"* {place_row(world).replace(' |', ',')}" for world in added)])


def render_summary(results: dict[World, Result]) -> Iterator[str]:
    yield f"| verdict | worlds | highest | median | worlds above {MOST:.0%} |"
    yield "|---|---|---|---|---|"
    for head in HEADS:
        shares = [result.wrong[head] for result in results.values()]
        above = sum(share > MOST for share in shares)
        yield f"| {head} | {len(shares)} | {max(shares):.1%} | {statistics.median(shares):.1%} | {above or 'none'} |"


def render_worlds(results: dict[World, Result]) -> Iterator[str]:
    is_broken = any(world.broken for world in results)
    first, last = ("assumption | ", "named by") if is_broken else ("", "demand")
    yield f"| {first}world | contexts | C test/deploy | T | {' | '.join(HEADS)} | {last} |"
    yield "|---" * (len(HEADS) + 5 + is_broken) + "|"
    for world, result in results.items():
        cells = " | ".join(describe_share(result, head) for head in HEADS)
        demand = f"{'**missed**' if result.missed else 'met'}{AT_MORE if result.draws > DRAWS else ''}"
        last = world.named_by if is_broken else demand
        first = f"{world.broken} | " if is_broken else ""
        yield f"| {first}{place_row(world)} | {cells} | {last} |"


def place_row(world: World) -> str:
    """Return the cells that say which world a row is about."""
    design = world.design.value if world.interval is IntervalMethod.CLOSED_FORM else f"{world.design.value}, guaranteed intervals"
    return f"{world.name} | {design} | {world.contexts[0]}/{world.contexts[1]} | {world.tasks}"


def describe_share(result: Result, head: str) -> str:
    wrong, firm = 100 * result.wrong[head], 100 * result.firm[head]
    return f"{wrong:.1f}" if f"{firm:.1f}" == f"{wrong:.1f}" else f"{wrong:.1f} ({firm:.1f})"


def read_results(lines: Sequence[str], worlds: Sequence[World]) -> dict[World, Result]:
    """Return the results of the worlds that have a row in *lines*, as exact as they are printed."""
    results = {}
    for world in worlds:
        for line in lines:
            _, is_row, cells = line.partition(f"| {place_row(world)} | ")
            if is_row:
                shares = [[float(share) / 100 for share in re.findall(r"[\d.]+", cell)] for cell in cells.split(" | ")[: len(HEADS)]]
                results[world] = Result(
                    draws=AGAIN * DRAWS if AT_MORE in cells else DRAWS,
                    wrong={head: share[0] for head, share in zip(HEADS, shares, strict=True)},
                    firm={head: share[-1] for head, share in zip(HEADS, shares, strict=True)},
                )
    return results


def read_made(text: str) -> str:
    """Return what a table says of when, where and how its rows were made."""
    return text.partition("\n\n")[2].partition("\n\n**Replays.**")[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--add", action="store_true")
    asked = parser.parse_args()
    if asked.add and (asked.table is None or not asked.table.is_file() or asked.draws != DRAWS):
        parser.error(f"--add needs --table with the file of an earlier run, and {DRAWS:,} draws")
    begun = time.process_time()
    # How large a replay would resolve a verdict bears on no verdict, and takes four fifths of the time.
    VerdictPhrases.more_data = property(lambda _: "")  # type: ignore[assignment,misc]
    sound, broken = list(list_sound_worlds()), list(list_broken_worlds())
    before = asked.table.read_text(encoding="utf-8") if asked.add else ""
    kept = read_results(before.splitlines(), [*sound, *broken])
    met = run(sound, draws=asked.draws, stage=0, kept=kept)
    reported = run(broken, draws=asked.draws, stage=2, kept=kept)
    cpu_s = time.process_time() - begun
    if asked.table:
        added = [world for world in (*sound, *broken) if world not in kept]
        made = f"{read_made(before)}\n\n{describe_run(added, cpu_s=cpu_s)}" if asked.add else describe_run(None, cpu_s=cpu_s)
        asked.table.write_text("\n".join(render(met, reported, draws=asked.draws, made=made)) + "\n", encoding="utf-8")
    highest = {head: round(max(result.wrong[head] for result in met.values()), 4) for head in HEADS}
    missed = [f"{world.design.value} {world.contexts} {world.tasks}: {world.name}" for world, result in met.items() if result.missed]
    print(json.dumps({"worlds": len(met), "highest": highest, "missed": missed, "cpu_s": round(cpu_s)}, ensure_ascii=False))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
