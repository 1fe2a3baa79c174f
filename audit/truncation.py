"""Best and worst case of responses without a settled score: the estimates if each of them had the lowest, or the highest, score.

Truncated responses could have gone on to another score, and excluded ones have none. Where they are many, or more on one side, a verdict is
established only if it is the same at these extremes.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from audit.estimate import estimate
from audit.statistics.missing_responses import fill_scores, find_open
from audit.statistics.responses import ScoreTable
from registry.records.analysis_plan import Plan
from registry.records.estimates import Estimate


def bound_unresolved(
    table: ScoreTable, plan: Plan, *, range_: tuple[float, float], test: str = "test", deploy: str = "deploy"
) -> Iterator[Estimate]:
    """Yield the estimates at the ends of what excluded and truncated responses could have scored; none where every score is settled.

    Each side's unresolved responses have the lowest or the highest score, in all four combinations (two where only one side has any): among
    them are the extremes of Φ_test, Φ_deploy and ED. Settled responses keep their scores. Responses of which it is not stated whether
    they were truncated keep theirs too, and `TruncationCounts.not_stated` counts them. There are no bootstrap bands.

    A verdict that is the same at both ends can still differ between them where it takes no account of a sign: compare the sign of ED too.

    Args:
        table: checked scores; no response of an arm beside *test* and *deploy* is touched.
        plan: as for `estimate`.
        range_: lowest and highest possible score.
        test: name of the test-like arm.
        deploy: name of the deployment-like arm.

    Raises:
        DesignError: as `estimate`.
    """
    sides = [rows for rows in (find_open(table, arm) for arm in (test, deploy)) if rows.any()]
    for scores in product(range_, repeat=len(sides)) if sides else ():
        filled = table
        for rows, score in zip(sides, scores, strict=True):
            filled = fill_scores(filled, rows, float(score))
        yield estimate(filled, replace(plan, replicates=0), range_=range_, test=test, deploy=deploy)
