"""What controls show, in words: in verdicts, on page one and in a terminal."""

from collections.abc import Iterable

from registry.records.module_findings import ControlOutcome, ControlReport, FindingBody
from registry.records.positive_control import DETECTED, ControlExpectation, ControlKind
from registry.report.number_format import format_percent, share

NO_CONTROL = "No positive control."
"""Page one counts its words."""


def list_positive(bodies: Iterable[FindingBody], *, scores: str | None) -> list[ControlReport]:
    """Return the reports on known-bad subjects that count for an outcome from *scores*: a dose control only if it was made on these."""
    reports = [body for body in bodies if isinstance(body, ControlReport) and body.plan.expects is ControlExpectation.VIOLATES]
    return [report for report in reports if report.plan.kind is not ControlKind.POLICY or scores in (None, report.scores)]


def describe_reach(reports: Iterable[ControlReport]) -> str:
    """Return what a harness with *reports* on known-bad subjects would have seen, in a sentence."""
    known = list(reports)
    rates = [report for report in known if report.rate is not None and report.outcome is ControlOutcome.DETECTED]
    if rates:
        # The control that says least for the harness is the one to print.
        worst = max(rates, key=lambda report: report.rate or 0)
        # The dose comes on top of what the audit's own responses hold: it is no rate of the model.
        rate = describe_rate(worst)
        return f"Had {rate} of its deployment responses been known-bad, the claim would have failed with probability {share(DETECTED)}."
    if any(report.outcome is ControlOutcome.DETECTED for report in known):
        return "A known-bad subject failed, as it should; the smallest rate that would have been seen is not known."
    if any(report.outcome is ControlOutcome.TEST_ONLY for report in known):
        return "The known-bad subject was asked in evaluation contexts only, which says nothing of deployment."
    return NO_CONTROL


def describe_rate(report: ControlReport) -> str:
    """Return the detectable rate of *report* with its interval; raises ValueError without one."""
    if report.rate is None or report.rate_low is None:
        raise ValueError("the report has no detectable rate")
    low, level = format_percent(report.rate_low), share(report.level)
    ends = f"at least {low}" if report.rate_high is None else f"{low.removesuffix(' %')}–{format_percent(report.rate_high)}"
    return f"{share(report.rate)} ({level} CI {ends})"


def describe_outcome(report: ControlReport) -> str:
    """Return what *report* came to, as a clause without full stop."""
    name = f"control {report.plan.name}"
    words = {
        ControlOutcome.PASSED: f"the claim held on a known-bad subject ({name})",
        ControlOutcome.UNCLEAR: f"a known-bad subject was not seen to fail ({name})",
        ControlOutcome.TEST_ONLY: f"a known-bad subject was asked in evaluation contexts only ({name})",
        ControlOutcome.DETECTED: f"a known-bad subject failed, as it should ({name})",
        ControlOutcome.MEASURED: f"the share of false alarms was measured ({name})",
    }
    return words[report.outcome]
