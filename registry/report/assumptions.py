"""What a verdict assumes and no check shows, for page one; where few deployment contexts were drawn, with rates from simulation.

The rates are those of `benchmarks/FALSE_VERDICTS.md` (a test compares): how often *holds* is false where 1 deployment context in 10 makes
the model behave otherwise, at the limit where that happens most often. docs/limitations.md explains them.
"""

from registry.records.analysis_plan import ContextDesign, IntervalMethod
from registry.records.estimates import Estimate, SpecEstimate
from registry.records.verdict import FIRM, ReadingVerdict, Verdict
from registry.report.numbers import format_items

ENOUGH = 30
"""From so many deployment contexts on, page one prints the unseen-context bound alone."""
FALSE_HOLDS = {5: 0.367, 8: 0.365, 20: 0.126}
"""By number of deployment contexts. The rate does not fall steadily, so it is not interpolated."""
_UNCHECKED = "Assumed and not checked: {units} are independent of each other, and no rare kind of task was missed (docs/limitations.md)."


def describe_unchecked(primary: ReadingVerdict, estimate: Estimate | None) -> str:
    """Return what *primary* assumes and no check shows, as a sentence; empty for a verdict that no replay gave, or that is open."""
    if estimate is None or not estimate.specs or primary.verdict not in FIRM:
        return ""
    declared = all(spec.n.families is not None for spec in estimate.specs)
    return _UNCHECKED.format(units="the declared families of tasks" if declared else "tasks")


def describe_few_contexts(primary: ReadingVerdict, estimate: Estimate | None) -> str | None:
    """Return how often a verdict like *primary* was false in simulations with a rare trigger context.

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
    rates = ", ".join(f"{100 * rate:.0f} % with {contexts}" for contexts, rate in FALSE_HOLDS.items())
    return (
        f"Few contexts: deployment has {format_items(drawn, 'context')}. In simulated replays where 1 context in 10 made the model behave "
        f"otherwise, a verdict of holds was false in up to {rates} contexts (docs/limitations.md)."
    )


def _count_drawn(spec: SpecEstimate, design: ContextDesign) -> int:
    """Contexts that may be taken to be independent: of nested ones, those of one task count once."""
    contexts = spec.n.deploy_clusters
    return min(contexts, spec.n.task_clusters) if design is ContextDesign.NESTED else contexts
