"""How often an interval that is looked at after every task leaves out the truth at some look, and what that safety costs in width.

Run from the repository root: `python -m benchmarks.sequential` (about half a minute on one core). For each kind of score tables are
drawn of up to 500 tasks with nested contexts, and looked at after every task from the 20th on: the confidence sequence of anytime
intervals, for ED and Φ_deploy, also read at another level than it was tuned for; and beside it the t interval of ED ± h at every look,
which is the narrower half of the closed form. Prints a Markdown table and one JSON line; exit 1 when a sequence errs more often than
its level allows by more than chance (2.6 standard errors).
"""

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from audit.statistics.mean_intervals import compute_sequence
from audit.statistics.responses import Floats

LEVEL, OTHER_LEVEL = 0.95, 1 - 0.05 / 3
TASKS, FIRST_LOOK = 500, 20
RUNS, BLOCK = 10_000, 500
CHANCE = 2.6
WIDTHS_AT = (50, 200, 500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of table: means of tasks on both sides, [run, task], and what they are drawn around."""

    name: str
    draw: Callable[[np.random.Generator, int], tuple[Floats, Floats]]
    deploy: float
    """Φ_deploy; Φ_test is lower by `gap`."""
    gap: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Shares of runs in which some look left out the truth, and median width beside that of t, by number of tasks."""

    kind: str
    sequence: float
    sequence_deploy: float
    sequence_other: float
    repeated: float
    once: float
    ratios: tuple[float, ...]


def draw_binary(rng: np.random.Generator, runs: int, *, samples: int, rate: float, alike: float, gap: float = 0.0) -> tuple[Floats, Floats]:
    """Task shares of so many responses a side, from a beta distribution of mean *rate*; deployment's own, test's lower by *gap*."""
    share = rng.beta(rate * alike, (1 - rate) * alike, (runs, TASKS))
    lower = share * (1 - gap / rate)
    return rng.binomial(samples, lower) / samples, rng.binomial(samples, share) / samples


def draw_judged(rng: np.random.Generator, runs: int, *, sd: float) -> tuple[Floats, Floats]:
    """Judged scores: an ease the sides share and a deviation of their own, symmetric about ½ so that cutting leaves the mean."""
    ease = rng.normal(0, 0.15, (runs, TASKS))
    first, second = (np.clip(0.5 + ease + rng.normal(0, sd, (runs, TASKS)), 0, 1) for _ in range(2))
    return first, second


KINDS = (
    Kind(name="binary, 1 sample", draw=lambda rng, runs: draw_binary(rng, runs, samples=1, rate=0.5, alike=4), deploy=0.5),
    Kind(name="binary, 5 samples", draw=lambda rng, runs: draw_binary(rng, runs, samples=5, rate=0.5, alike=4), deploy=0.5),
    Kind(name="binary, rare", draw=lambda rng, runs: draw_binary(rng, runs, samples=1, rate=0.02, alike=10), deploy=0.02),
    Kind(name="binary, ED −0.2", draw=lambda rng, runs: draw_binary(rng, runs, samples=1, rate=0.5, alike=4, gap=0.2), deploy=0.5, gap=0.2),
    Kind(name="judged, SD 0.3", draw=lambda rng, runs: draw_judged(rng, runs, sd=0.3), deploy=0.5),
    Kind(name="judged, SD 0.1", draw=lambda rng, runs: draw_judged(rng, runs, sd=0.1), deploy=0.5),
)


def look(kind: Kind, *, seed: int, runs: int) -> Row:
    """Return what *runs* tables of one kind came to."""
    rng = np.random.default_rng(seed)
    counts, ratios, drawn = np.zeros(5), [], 0
    while drawn < runs:
        number = min(BLOCK, runs - drawn)
        test, deploy = kind.draw(rng, number)
        errs, ratio = _look_once(test, deploy, kind)
        counts += errs
        ratios.append(ratio)
        drawn += number
    shares = (counts / runs).tolist()
    return Row(
        kind=kind.name,
        sequence=shares[0],
        sequence_deploy=shares[1],
        sequence_other=shares[2],
        repeated=shares[3],
        once=shares[4],
        ratios=tuple(np.median(np.concatenate(ratios), axis=0).tolist()),
    )


def _look_once(test: Floats, deploy: Floats, kind: Kind) -> tuple[Floats, Floats]:
    """How many runs each interval left out the truth in, and the ratios of widths at some numbers of tasks."""
    differences, looks = test - deploy, slice(FIRST_LOOK - 1, None)
    radius = _find_radius((differences + 1) / 2, LEVEL)
    centre = compute_sequence((differences + 1) / 2, level=LEVEL)[0]
    other = _find_radius((differences + 1) / 2, OTHER_LEVEL)
    side = np.abs(compute_sequence(deploy, level=LEVEL)[0] - kind.deploy) > _find_radius(deploy, LEVEL)
    off = np.abs(centre - (1 - kind.gap) / 2)
    steps = np.arange(1, TASKS + 1)
    mean = np.cumsum(differences, axis=1) / steps
    variance = np.maximum(0.0, np.cumsum(differences**2, axis=1) - steps * mean**2) / np.maximum(1, steps - 1)
    half_width = stdtrit(np.maximum(1, steps - 1), 0.5 + LEVEL / 2) * np.sqrt(variance / steps)
    fixed = np.abs(mean + kind.gap) > half_width
    errs = [one[:, looks].any(axis=1).sum() for one in (off > radius, side, off > other, fixed)]
    at = [tasks - 1 for tasks in WIDTHS_AT]
    return np.array([*errs, fixed[:, -1].sum()], dtype=float), 2 * radius[:, at] / np.maximum(half_width[:, at], 1e-12)


def _find_radius(values: Floats, level: float) -> Floats:
    """Half the width after each value, of the walk tuned at `LEVEL`."""
    _, penalty, weight = compute_sequence(values, level=LEVEL)
    return (math.log(2 / (1 - level)) + penalty) / weight


def main() -> int:
    start = time.perf_counter()
    rows = [look(kind, seed=place, runs=RUNS) for place, kind in enumerate(KINDS)]
    widths = " | ".join(f"width ÷ t at {tasks}" for tasks in WIDTHS_AT)
    sequences = f"sequence, ED | sequence, Φ_deploy | sequence, ED at {OTHER_LEVEL:.1%}"
    print(f"| scores | {sequences} | t at every look | t once, at {TASKS} | {widths} |")
    print("|---|" + "---|" * (5 + len(WIDTHS_AT)))
    for row in rows:
        shares = (row.sequence, row.sequence_deploy, row.sequence_other, row.repeated, row.once)
        print(
            f"| {row.kind} | " + " | ".join(f"{share:.2%}" for share in shares) + " | " + " | ".join(f"{r:.2f}" for r in row.ratios) + " |"
        )
    alphas = (1 - LEVEL, 1 - LEVEL, 1 - OTHER_LEVEL)
    slack = [CHANCE * math.sqrt(alpha * (1 - alpha) / RUNS) for alpha in alphas]
    failed = [
        row.kind
        for row in rows
        if any(
            share > alpha + more
            for share, alpha, more in zip((row.sequence, row.sequence_deploy, row.sequence_other), alphas, slack, strict=True)
        )
    ]
    figures = {"runs": RUNS, "tasks": TASKS, "looks_from": FIRST_LOOK, "failed": failed, "seconds": round(time.perf_counter() - start, 1)}
    print(json.dumps(figures))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
