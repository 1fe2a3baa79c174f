"""The three figures of a claim in one unit: as the card reports it, as its replayed evaluation gives it, and in deployment."""

from collections.abc import Sequence

from registry.records.claim import Reported
from registry.records.estimates import BoundedEstimate, SpecEstimate
from registry.records.supplement import ThreeFigures
from registry.report.units import Unit

_MOST_SPECS = 6


def build_three_figures(
    reported: Reported | None, specs: Sequence[SpecEstimate], *, range_: tuple[float, float] | None, theta: float | None
) -> ThreeFigures | None:
    """Return the figures as they are printed; None where neither card nor replay gives one.

    Args:
        reported: the card's figure, if it is of the claim's model version.
        specs: the estimate against each specification of P_deploy.
        range_: of the property; None where it is not known, and then [0, 1] is assumed for figures inside of it.
        theta: no number is rounded across it.
    """
    if reported is None and not specs:
        return None
    values = [*([reported.value] if reported else []), *(spec.phi_deploy.value for spec in specs)]
    low, high = range_ or (0.0, 1.0)
    unit = Unit(low=min(low, *values), high=max(high, *values))
    cuts = () if theta is None else (theta,)
    several = len(specs) > 1
    return ThreeFigures(
        card=None if reported is None else _describe_reported(reported, unit),
        evaluation=_describe(specs[0].phi_test, unit, cuts) if specs else None,
        deployment=tuple(
            f"{_name(spec)}: {_describe(spec.phi_deploy, unit, cuts)}" if several else _describe(spec.phi_deploy, unit, cuts)
            for spec in specs[:_MOST_SPECS]
        ),
        left_out=max(0, len(specs) - _MOST_SPECS),
    )


def describe_three_figures(figures: ThreeFigures) -> list[tuple[str, str]]:
    """Return the figures as rows of a table: a label and a number with its interval; what does not exist says so."""
    more = f"; {figures.left_out} more" if figures.left_out else ""
    return [
        ("card reports", figures.card or "no figure"),
        ("evaluation, replicated", figures.evaluation or "not replayed"),
        ("deployment-like", ("; ".join(figures.deployment) or "not replayed") + more),
    ]


def _describe(side: BoundedEstimate, unit: Unit, cuts: tuple[float, ...]) -> str:
    value = unit.score(side.value, *cuts)
    if side.low is None or side.high is None:
        return f"{value} (no interval)"
    return f"{value} ({unit.scores(side.low, side.high, *cuts)})"


def _describe_reported(reported: Reported, unit: Unit) -> str:
    parts = [f"n = {reported.n:,}"] if reported.n is not None else []
    if reported.low is not None and reported.high is not None:
        parts.insert(0, f"{unit.given(reported.low)} to {unit.given(reported.high)}")
    return f"{unit.given(reported.value)} ({', '.join(parts) or 'n not stated'})"


def _name(spec: SpecEstimate) -> str:
    return spec.spec if spec.judge is None else f"{spec.spec}, judge {spec.judge}"
