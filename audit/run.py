"""The order of the stations, and nothing else: scores, estimate, classification, restriction."""

from dataclasses import dataclass

from audit.adherence import Departure
from audit.classify import classify
from audit.estimate import estimate
from audit.restrict import restrict
from audit.standing import Conduct
from audit.statistics.scores import ScoreTable
from registry.records.asked import Asked
from registry.records.case import Case
from registry.records.classification import Basis, Classification
from registry.records.estimate import Estimate
from registry.records.finding import FindingBody
from registry.records.plan import Lock
from registry.records.restriction import RestrictedClaim
from registry.records.trial import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the stations made of one case."""

    estimate: Estimate | None
    """None without scores."""
    classification: Classification
    restricted: RestrictedClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What the checklist reports beyond the case and its scores."""

    provenance: Provenance | None = None
    lock: Lock | None = None
    """The plan fixed before the run; None without."""
    deploy_owner: str | None = None
    """Who owns the specifications of P_deploy, and what is contested of them, in words."""
    findings: tuple[FindingBody, ...] = ()
    """What the modules found: recorded in the audit before its outcome."""
    departures: tuple[Departure, ...] = ()
    """In what the scores are not as the lock says."""
    off_lock: str | None = None
    """What of them was not the locked one (tasks, contexts, scoring, model), in words; None where nothing was."""
    conduct: Conduct | None = None
    """How the responses came to be, as log and data show it; None for a case file."""
    asked: Asked | None = None
    """Who was asked, as the names in the responses show it; None without scores."""


def run_case(
    case: Case,
    table: ScoreTable | None,
    *,
    basis: Basis = Basis.REPLAY,
    post_hoc: bool = False,
    arms: tuple[str, str] = ("test", "deploy"),
    circumstances: Circumstances | None = None,
) -> Outcome:
    """Return estimate, classification and restricted claim of *case*.

    Args:
        table: checked scores, in the range of the claim's property; None without scores.
        basis: what the scores are: `replay`, or `reported` if no lock preceded them.
        post_hoc: whether nothing shows that θ and the plan were fixed before the scores could be seen.
        arms: names of the test-like and the deployment-like arm in *table*.
        circumstances: what the checklist reports beyond case and scores; None means nothing is known.

    Raises:
        DesignError: the table has no two sides, or contradicts the plan.
    """
    known = circumstances or Circumstances()
    found = None if table is None else estimate(table, case.plan, range_=case.claim.property.range, test=arms[0], deploy=arms[1])
    classification = classify(case, found, basis=basis, conduct=known.conduct, post_hoc=post_hoc, off_lock=known.off_lock)
    restricted = restrict(case, classification, found, post_hoc=post_hoc, off_lock=known.off_lock)
    return Outcome(estimate=found, classification=classification, restricted=restricted)
