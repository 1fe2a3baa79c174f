"""What findings of the modules say, in the words of minimum reporting."""

from collections.abc import Iterable

from registry.records.estimates import Measure
from registry.records.module_findings import Ablation, CorrectedEstimate, FindingBody, JudgeReport, Naturalness
from registry.report.units import Unit, share


def describe_markers(findings: Iterable[FindingBody]) -> str:
    """Return what ablation and naturalness say of evaluator-specific markers; empty when neither is on record."""
    parts = []
    for one in findings:
        if isinstance(one, Ablation):
            cues = [change for change in one.changes if not change.placebo]
            relevant = [change.cue for change in cues if change.relevant]
            unknown = sum(change.relevant is None for change in cues)
            parts.append(
                f"cue ablation of {_count(len(cues), 'cue')}, audit-relevant: {', '.join(relevant) or 'none shown'}"
                + (f"; of {unknown} it cannot be said" if unknown else "")
            )
        elif isinstance(one, Naturalness):
            named = ", ".join(f"{cue.cue} ({cue.count})" for cue in one.cues)
            parts.append(f"blind raters named {named}" if named else "blind raters named no cue")
    return "; ".join(parts)


def describe_uncertainty(findings: Iterable[FindingBody]) -> str:
    """Return how far judges vary and err, with numbers; empty when no report has repeats or a corrected estimate."""
    return "; ".join(filter(None, (_describe_judge(one) for one in findings if isinstance(one, JudgeReport))))


def list_checks(findings: Iterable[FindingBody]) -> str:
    """Return every invariance check with its outcome in a word; empty when none was made."""
    words = {True: "passed", False: "failed", None: "undecided"}
    checks = (check for one in findings if isinstance(one, JudgeReport) for check in one.invariance)
    return "; ".join(f"{check.check} ({check.column}) {words[check.passed]}" for check in checks)


def _describe_judge(one: JudgeReport) -> str:
    unit = Unit(low=one.range[0], high=one.range[1])
    parts = []
    if one.repeats is not None:
        said = f"{one.repeats.scorings} scorings of {_count(one.repeats.responses, 'response')}"
        if one.repeats.deviation is not None:
            said += f", standard deviation within a response {unit.difference(one.repeats.deviation)}"
        if one.repeats.share is not None:
            said += f", {share(round(one.repeats.share, 3))} of the variance of ED"
        parts.append(said)
    parts += [_describe_correction(unit, corrected) for corrected in one.corrected]
    if not parts:
        return ""
    if not one.corrected:
        parts.append("errors against a person's labels were not measured")
    return f"{one.judge or 'a judge that is not named'}: {'; '.join(parts)}"


def _describe_correction(unit: Unit, one: CorrectedEstimate) -> str:
    return f"{one.method} correction gives ED {_describe(unit, one.ed)}"


def _describe(unit: Unit, one: Measure) -> str:
    if one.value is None:
        return f"no value ({one.reason})"
    if one.low is None or one.high is None:
        return f"{unit.difference(one.value)} without an interval ({one.reason})"
    return f"{unit.difference(one.value)} ({unit.differences(one.low, one.high)})"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
