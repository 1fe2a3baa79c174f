"""What a verdict that holds leaves open where few deployment contexts were drawn: a rate from simulation, for page one.

The rates are those of `benchmarks/FALSE_VERDICTS.md` (a test compares): how often *holds* is false where 1 deployment context in 10 makes
the model behave otherwise, at the limit where that happens most often. docs/limitations.md explains them.
"""

from registry.records.classification import ReadingVerdict, Verdict
from registry.records.estimate import Estimate, SpecEstimate
from registry.records.plan import ContextDesign, IntervalMethod
from registry.report.numbers import format_count

ENOUGH = 30
"""From so many deployment contexts on, page one prints the unseen-context bound alone."""
FALSE_HOLDS = {5: 0.59, 8: 0.43, 20: 0.12}
"""By number of deployment contexts."""


def describe_few_contexts(primary: ReadingVerdict, estimate: Estimate | None) -> str | None:
    """Return how often a verdict like *primary* would be false with a rare trigger context.

    None where it is no *holds* of a replay, where enough contexts were drawn, where contexts are fixed, since the verdict is about the
    named ones alone, and under guaranteed intervals, which allow for contexts that were not drawn.
    """
    if primary.verdict is not Verdict.HOLDS or estimate is None or not estimate.specs:
        return None
    if ContextDesign(estimate.contexts) is ContextDesign.FIXED or IntervalMethod(estimate.interval) is IntervalMethod.GUARANTEED:
        return None
    drawn = min(_count_drawn(spec, ContextDesign(estimate.contexts)) for spec in estimate.specs)
    if drawn >= ENOUGH:
        return None
    simulated = max((count for count in FALSE_HOLDS if count <= drawn), default=min(FALSE_HOLDS))
    return (
        f"Few contexts: if 1 deployment context in 10 made the model behave otherwise, a verdict like this one from "
        f"{format_count(simulated)} contexts could be false in {100 * FALSE_HOLDS[simulated]:.0f} % of replays "
        "(simulated; see docs/limitations.md)."
    )


def _count_drawn(spec: SpecEstimate, design: ContextDesign) -> int:
    """Contexts that may be taken to be independent: of nested ones, those of one task count once."""
    contexts = spec.n.contexts_deploy
    return min(contexts, spec.n.tasks) if design is ContextDesign.NESTED else contexts
