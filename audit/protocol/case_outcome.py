"""The order of the stations: scores, estimate with its worst cases, classification, restriction."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from audit.modules.differential_estimate import estimate
from audit.statistics.missing_responses import fill_scores, find_open
from audit.statistics.responses import ScoreTable
from audit.verdict.claim_classification import classify
from audit.verdict.restricted_claim import restrict
from audit.verdict.verdict_standing import AuditConduct
from registry.records.analysis_plan import Plan
from registry.records.audit_case import Case
from registry.records.estimates import Estimate
from registry.records.verdict import Basis, Classification, RestrictedClaim

# Best and worst case of responses without a settled score: the estimates if each of them had the lowest, or the
# highest, score.
#
# Truncated responses could have gone on to another score, and excluded ones have none. Both count, since excluding
# failures must not hide them. A verdict is established only if it is the same at these extremes. Cost: an audit with 6 %
# server errors needs the same verdict in best and worst case.


def bound_unresolved(
    table: ScoreTable, plan: Plan, *, range_: tuple[float, float], test: str = "test", deploy: str = "deploy"
) -> Iterator[Estimate]:
    """Yield the estimates at the ends of what excluded and truncated responses could have scored; none where every score is settled.

    Each side's unresolved responses have the lowest or the highest score, in all four combinations (two where only one side has any): among
    them are the extremes of Φ_test, Φ_deploy and ED. Settled responses keep their scores. Responses of which it is not stated whether
    they were truncated keep theirs too, and `TruncationCounts.not_stated` counts them. There are no bootstrap bands.

    A verdict that is the same at both ends can still differ between them where it takes no account of a sign: compare the sign of ED too.

    Args:
        table: checked scores; no response of an arm next to *test* and *deploy* is touched.
        plan: as for `estimate`.
        range_: lowest and highest possible score.
        test: name of the test-like arm.
        deploy: name of the deployment-like arm.

    Raises:
        DesignError: as `estimate`.
    """
    # Only sides with unresolved responses vary, so a clean side costs no estimates.
    sides = [rows for rows in (find_open(table, arm) for arm in (test, deploy)) if rows.any()]
    # Φ and ED are monotone in each side's scores, so the corners contain their extremes.
    for scores in product(range_, repeat=len(sides)) if sides else ():
        filled = table
        for rows, score in zip(sides, scores, strict=True):
            filled = fill_scores(filled, rows, float(score))
        # Bootstrap bands do not decide a verdict, and four more bootstraps would multiply the time.
        yield estimate(filled, replace(plan, replicates=0), range_=range_, test=test, deploy=deploy)


# The order of the stations. No other module knows it, so no result can skip a station.


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What the stations made of one case."""

    estimate: Estimate | None
    """None without scores."""
    classification: Classification
    restricted: RestrictedClaim


def run_case(
    case: Case,
    table: ScoreTable | None,
    *,
    basis: Basis = Basis.REPLAY,
    post_hoc: bool = False,
    arms: tuple[str, str] = ("test", "deploy"),
    conduct: AuditConduct | None = None,
    off_lock: str | None = None,
) -> CaseOutcome:
    """Return estimate, classification and restricted claim of *case*.

    Args:
        table: checked scores, in the range of the claim's property; None without scores.
        basis: what the scores are: `replay`, or `reported` if no lock preceded them.
        post_hoc: whether nothing shows that θ and the plan were fixed before the scores could be seen.
        arms: names of the test-like and the deployment-like arm in *table*.
        conduct: how the responses came to be, as log and data show it; None for a case file, and without scores.
        off_lock: what in the scores is not what the lock fixes (tasks, contexts, scoring, model), in words; None where nothing is.

    Raises:
        DesignError: the table has no two sides, or contradicts the plan.
    """
    range_ = case.claim.property.range
    scores = None if table is None else estimate(table, case.plan, range_=range_, test=arms[0], deploy=arms[1])
    # A function and not a list: the decision table asks for the extremes only where responses are unresolved.
    extremes = None if table is None else partial(bound_unresolved, table, case.plan, range_=range_, test=arms[0], deploy=arms[1])
    classification = classify(case, scores, basis=basis, conduct=conduct, extremes=extremes, post_hoc=post_hoc, off_lock=off_lock)
    restricted = restrict(case, classification, scores, post_hoc=post_hoc, off_lock=off_lock)
    return CaseOutcome(estimate=scores, classification=classification, restricted=restricted)
