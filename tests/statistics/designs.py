"""Two sides made for tests of the bootstrap, unbalanced on purpose, and what the estimate station makes of them first."""

from dataclasses import dataclass

import numpy as np

from audit.modules.score_sides import SidePair, build_pairs, find_arm
from audit.statistics.bootstrap import ScoredSide, build_bootstrap
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.responses import Floats, ScoreTable, normalise, pooled_deviation
from audit.statistics.side_moments import Moments, compute_moments
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Bootstrap
from tests.statistics.tables import build_crossed

UNIT = ScoreScale(low=0.0, high=1.0)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """One specification of a table, ready for the bootstrap."""

    pair: SidePair
    moments: Moments
    ned: float | None

    @property
    def sides(self) -> tuple[ScoredSide, ScoredSide]:
        """As the bootstrap takes them."""
        return (
            ScoredSide(responses=self.pair.test, cells=self.pair.test_cells),
            ScoredSide(responses=self.pair.deploy, cells=self.pair.deploy_cells),
        )


def prepare(table: ScoreTable, *, random: bool = True, weights: Floats | None = None) -> Prepared:
    """Sides and moments as the estimate station has them; *weights* by task code."""
    pair = build_pairs(table, UNIT, find_arm(table, "test", "deploy"), test="test", deploy="deploy")[0]
    scores = pair.test.scored().score, pair.deploy.scored().score
    binary = all(bool(((side == 0) | (side == 1)).all()) for side in scores)
    moments = compute_moments(pair.test_cells, pair.deploy_cells, pair.common, random=random, binary=binary, weights=weights)
    return Prepared(pair=pair, moments=moments, ned=normalise(moments.difference, pooled_deviation(*scores), epsilon=0.01))


def bootstrap(
    table: ScoreTable, *, contexts: ContextDesign = ContextDesign.RANDOM, replicates: int = 10_000, seed: int = 0, level: float = 0.95
) -> Bootstrap | None:
    """The bands of a table of scores in [0, 1]."""
    ready = prepare(table, random=contexts is ContextDesign.RANDOM)
    plan = Plan(contexts=contexts, replicates=replicates, seed=seed, level=level, epsilon=0.01)
    return build_bootstrap(ready.sides, ready.moments, plan, UNIT, ned=ready.ned, weights=None)


def make_scores(
    *, tasks: int, contexts: tuple[int, int], samples: int, binary: bool, missing: float = 0.0, seed: int = 0
) -> tuple[Floats, Floats]:
    """Scores [task, context, sample] of both sides with effects of tasks and contexts; a share of the cells is missing."""
    rng = np.random.default_rng(seed)
    easy = rng.normal(0, 1, tasks)
    blocks = []
    for count, shift in zip(contexts, (0.0, -0.8), strict=True):
        logit = shift + easy[:, None] + rng.normal(0, 0.5, (tasks, count)) + rng.normal(0, 0.6, count)
        share = np.repeat((1 / (1 + np.exp(-logit)))[:, :, None], samples, axis=2)
        block = (rng.random(share.shape) < share).astype(float) if binary else rng.beta(4 * share + 0.1, 4 * (1 - share) + 0.1)
        lost = rng.random((tasks, count)) < missing
        lost[:2, 0] = False
        block[lost] = np.nan
        # Cells of unequal size too.
        if missing:
            block[:, :, -1][rng.random((tasks, count)) < missing] = np.nan
        blocks.append(block)
    return blocks[0], blocks[1]


def make_table(*, tasks: int, contexts: tuple[int, int], samples: int, binary: bool, missing: float = 0.0, seed: int = 0) -> ScoreTable:
    """The same as a table."""
    return build_crossed(*make_scores(tasks=tasks, contexts=contexts, samples=samples, binary=binary, missing=missing, seed=seed))
