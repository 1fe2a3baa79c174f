"""Estimates of many tables, each by itself: one that fails stops no other."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from audit.modules.differential_estimate import estimate
from audit.statistics.responses import ScoreTable
from registry.errors import CaveatError
from registry.records.analysis_plan import Plan
from registry.records.estimates import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRequest:
    """One table to be estimated from."""

    label: str
    """What people call it."""
    table: ScoreTable
    plan: Plan
    range: tuple[float, float]
    test: str
    deploy: str
    pointwise: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateOutcome:
    """The estimate of one table, or why there is none."""

    position: int
    """Of the request, from 0."""
    result: Estimate | CaveatError


EstimateAll = Callable[[Iterable[EstimateRequest]], Iterable[EstimateOutcome]]
"""Gives the outcome of each request, in any order: `estimate_here`, or the workers of a fleet."""


def estimate_here(requests: Iterable[EstimateRequest]) -> Iterator[EstimateOutcome]:
    """Give the outcome of each of *requests*, in their order."""
    for position, request in enumerate(requests):
        try:
            yield EstimateOutcome(position=position, result=estimate_request(request))
        except CaveatError as error:
            yield EstimateOutcome(position=position, result=error)


def get_estimate(outcome: EstimateOutcome) -> Estimate:
    """Return the estimate of *outcome*; raises the CaveatError that it has instead."""
    if isinstance(outcome.result, CaveatError):
        raise outcome.result
    return outcome.result


def estimate_request(request: EstimateRequest) -> Estimate:
    """Return the estimate of *request*; raises CaveatError as `estimate`."""
    return estimate(
        request.table, request.plan, range_=request.range, test=request.test, deploy=request.deploy, pointwise=request.pointwise
    )
