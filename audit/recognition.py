"""How much recognition evidence weighs: a published rate suspends a claim only above the floor of the plan.

A rate has the exact two-sided interval of C. J. Clopper & E. S. Pearson (Biometrika 26, 1934). A difference of two rates has the MOVER
interval from their exact limits (G. Y. Zou & A. Donner, Statistics in Medicine 27, 2008), the form of R. G. Newcombe (Statistics in
Medicine 17, 1998, method 10). Published rates are rounded, so the count behind one need not be whole. The two samples are taken to be
independent, and so are the responses in each.
"""

import math
from dataclasses import dataclass, replace

from audit.statistics.mean_intervals import ConfidenceLimits, clopper_pearson
from registry.records.audit_case import Access, Evidence, EvidenceKind, EvidenceLayer, PublishedFigure
from registry.report.numbers import format_exact, format_number

METHOD = "Clopper–Pearson; difference by MOVER"
_SHARES = frozenset({"share", "fraction", "proportion"})
_PERCENTS = frozenset({"percent", "per cent", "%", "percentage"})
_LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A published rate with what is known of its precision, as shares."""

    value: float
    n: int | None
    limits: ConfidenceLimits | None
    """At 95 %; None without n."""

    @property
    def least(self) -> float:
        """The lower limit; without n the rate itself."""
        # Rounding may put the limit of a tiny rate above the rate itself.
        return self.value if self.limits is None else min(self.value, self.limits.low)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionWeight:
    """What one piece of recognition evidence weighs against a claim."""

    suspends: bool
    """Whether it suspends a claim about a suppressible property."""
    rate: Rate | None
    """Of recognition in the evaluation; None where no rate is stated."""
    in_deployment: Rate | None
    """Of the same in deployment-like samples; None where it is not known."""
    difference: ConfidenceLimits | None
    """95 % limits of the rate less that in deployment-like samples; None unless both have their n."""
    floor: float
    text: str
    """The rate as a sentence has it, such as `26 % (n = 500, 95 % CI 22.2–30.1 %)`."""
    reason: str
    """Why it suspends, or does not, in words."""


def weigh_recognition(evidence: Evidence, floor: float) -> RecognitionWeight:
    """Return what *evidence* of recognition weighs.

    A statement without a rate suspends: a rate that is not known is not zero. So does a number that is no rate (a count without its base,
    a unit that is not known), and a perturbation against the claim that nobody verified, which has no rate of recognition.

    Args:
        evidence: available evidence that shows recognition (`audit.conditions.is_recognition`).
        floor: share of the samples that the lower 95 % limit of the rate must exceed.

    Raises:
        ValueError: *evidence* is of a layer that was not looked at, or *floor* does not lie in [0, 1).
    """
    if evidence.access is not Access.AVAILABLE:
        raise ValueError(f"a layer that is {evidence.access.value} shows no recognition")
    if not 0 <= floor < 1:
        raise ValueError(f"the floor must lie in [0, 1), got {floor}")
    if evidence.layer not in (EvidenceLayer.LATENT, EvidenceLayer.VERBALISED) or evidence.kind is EvidenceKind.PERTURBATION:
        return _weigh_unknown(floor, "no rate of recognition is stated")
    if evidence.finding is None:
        return _weigh_unknown(floor, "no rate is stated")
    rate = read_rate(evidence.finding)
    if isinstance(rate, str):
        return _weigh_unknown(floor, rate, suspends=evidence.finding.value != 0)
    other = None if evidence.in_deployment is None else read_rate(evidence.in_deployment)
    if isinstance(other, str):
        weight = _weigh(rate, None, floor)
        return replace(weight, reason=f"{weight.reason}; the rate in deployment-like samples is not usable: {other}")
    return _weigh(rate, other, floor)


def read_rate(finding: PublishedFigure) -> Rate | str:
    """Return a published number as a rate, or why it is none. A count with its n is the share that it comes to."""
    unit = finding.unit.strip().casefold()
    value = finding.value
    if finding.n is not None and finding.n < 1:
        return f"n = {finding.n} is no number of samples"
    if unit == "count" and finding.n is not None:
        value = value / finding.n
    elif unit in _PERCENTS:
        value = value / 100
    elif unit not in _SHARES:
        return "a count without n is no rate" if unit == "count" else f"a number in {finding.unit} is no rate"
    if not 0 <= value <= 1 or math.isnan(value):
        return f"{finding.value:g} {finding.unit} is no rate between 0 and 1"
    limits = None if finding.n is None else clopper_pearson(successes=value * finding.n, trials=finding.n, level=_LEVEL)
    return Rate(value=value, n=finding.n, limits=limits)


def _weigh_unknown(floor: float, reason: str, *, suspends: bool = True) -> RecognitionWeight:
    reason = f"{reason}; a rate that is not known is not zero" if suspends else reason
    return RecognitionWeight(
        suspends=suspends, rate=None, in_deployment=None, difference=None, floor=floor, text="no rate stated", reason=reason
    )


def _weigh(rate: Rate, other: Rate | None, floor: float) -> RecognitionWeight:
    difference = None if other is None else _subtract(rate, other)
    what = "the rate" if rate.limits is None else "the lower 95 % limit of the rate"
    if rate.least <= floor:
        suspends, reason = False, f"{what} does not exceed the floor of {_percent(floor)}"
    elif other is None:
        suspends, reason = True, f"{what} exceeds the floor of {_percent(floor)}"
    else:
        suspends = (rate.value - other.value if difference is None else difference.low) > 0
        measure = "the difference" if difference is None else "the lower 95 % limit of the difference"
        reason = f"{measure} from deployment-like samples {'exceeds' if suspends else 'does not exceed'} 0"
    text = _describe_rate(rate, floor)
    return RecognitionWeight(
        suspends=suspends,
        rate=rate,
        in_deployment=other,
        difference=difference,
        floor=floor,
        text=text if other is None else f"{text}, beside {_describe_rate(other, floor)} in deployment-like samples",
        reason=reason,
    )


def _subtract(first: Rate, second: Rate) -> ConfidenceLimits | None:
    """Return the limits of *first* less *second*; None unless both have limits."""
    if first.limits is None or second.limits is None:
        return None
    value = first.value - second.value
    down = math.hypot(first.value - first.limits.low, second.limits.high - second.value)
    up = math.hypot(first.limits.high - first.value, second.value - second.limits.low)
    return ConfidenceLimits(low=value - down, high=value + up)


def _describe_rate(rate: Rate, floor: float) -> str:
    """Write a rate with its limits, none rounded across the floor."""
    value = _percent(rate.value)
    if rate.limits is None:
        return f"{value} (n not stated)"
    low, high = (format_number(100 * end, decimals=1, against=(100 * floor,)) for end in (rate.limits.low, rate.limits.high))
    return f"{value} (n = {rate.n:,}, 95 % CI {low}–{high} %)"


def _percent(value: float) -> str:
    return f"{format_exact(float(f'{100 * value:.3g}'))} %"
