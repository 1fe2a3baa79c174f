"""The order of the stations, and nothing else: scores, estimate, classification, restriction."""

from dataclasses import dataclass
from functools import partial

from audit.classify import classify
from audit.estimate import estimate
from audit.restrict import restrict
from audit.standing import Conduct
from audit.statistics.responses import ScoreTable
from audit.truncation import bound_unresolved
from registry.records.audit_case import Case
from registry.records.estimates import Estimate
from registry.records.verdict import Basis, Classification, RestrictedClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
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
    conduct: Conduct | None = None,
    off_lock: str | None = None,
) -> Outcome:
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
    extremes = None if table is None else partial(bound_unresolved, table, case.plan, range_=range_, test=arms[0], deploy=arms[1])
    classification = classify(case, scores, basis=basis, conduct=conduct, extremes=extremes, post_hoc=post_hoc, off_lock=off_lock)
    restricted = restrict(case, classification, scores, post_hoc=post_hoc, off_lock=off_lock)
    return Outcome(estimate=scores, classification=classification, restricted=restricted)
