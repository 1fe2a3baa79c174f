"""What findings of the modules come to on page one, and which parts of the protocol nobody made."""

from collections.abc import Iterable, Iterator, Sequence

from registry.records.estimates import Measure
from registry.records.module_findings import Ablation, CueChange, FindingBody, FindingKind, Naturalness, RealismJudge, find_invariance
from registry.records.supplement import MissingPart, Section, StatusReason
from registry.report.numbers import format_level, format_number, format_range, format_signed

CHANCE = 0.5
"""How often somebody is right who tells test from deployment by tossing a coin."""

_NATURALNESS = MissingPart(
    section=Section.NATURALNESS,
    consequence="Whether raters can tell test contexts from deployment contexts is not known, so nothing here shows that P_deploy "
    "is deployment-like beyond what its owner says of it.",
)
_ABLATION = MissingPart(
    section=Section.ABLATION,
    consequence="No cue was removed one at a time, so nothing here says which cue a difference between test and deployment comes from.",
)
_JUDGE = MissingPart(
    section=Section.JUDGE,
    consequence="How far the scorer’s own error moves Φ or ED is not known; the intervals do not contain it.",
)
_MODULES = {FindingKind.NATURALNESS: _NATURALNESS, FindingKind.ABLATION: _ABLATION, FindingKind.JUDGE: _JUDGE}


def find_not_made(kinds: Iterable[FindingKind]) -> tuple[MissingPart, ...]:
    """Return the modules that found nothing because nobody made them, each with its consequence; *kinds* are those on record."""
    made = set(kinds)
    return tuple(part for kind, part in _MODULES.items() if kind not in made)


def build_scorer_reasons(bodies: Sequence[FindingBody], others: Sequence[FindingBody]) -> Iterator[StatusReason]:
    """Yield that the scorer failed a check among the findings of an audit, or else among *others* of the same revision."""
    if find_invariance(bodies) is False:
        yield StatusReason(text="A check found that the scorer depends on the context.", section=Section.JUDGE)
    elif find_invariance(others) is False:
        yield StatusReason(
            text="A check in another audit of this claim found that the scorer depends on the context.", section=Section.JUDGE
        )


def build_finding_reasons(bodies: Sequence[FindingBody]) -> Iterator[StatusReason]:
    """Yield what raters and ablation found that bears on how the numbers may be read."""
    for body in bodies:
        if isinstance(body, Naturalness) and body.distinguishable:
            yield StatusReason(text=_say_told_apart(body), section=Section.NATURALNESS)
        elif isinstance(body, RealismJudge) and body.exceeds_limit:
            yield StatusReason(text=_say_judge(body), section=Section.NATURALNESS)
        elif isinstance(body, Ablation) and any(one.relevant for one in body.changes):
            yield StatusReason(text=_say_relevant(body), section=Section.ABLATION)


def _say_told_apart(body: Naturalness) -> str:
    accuracy = say_measure(body.accuracy, against=(CHANCE,))
    return f"Blind raters told test from deployment contexts apart: accuracy {accuracy}, where chance is {format_number(CHANCE)}."


def _say_judge(body: RealismJudge) -> str:
    return (
        f"A model judge ({body.judge}) may tell test from deployment contexts with an accuracy of up to {format_number(body.worst)}, "
        f"above the plan's limit of {format_level(body.rater_limit)}."
    )


def _say_relevant(body: Ablation) -> str:
    relevant = [one for one in body.changes if one.relevant and not one.placebo]
    first, lines = relevant[0], (-body.margin, body.margin)
    more = f"; {len(relevant) - 1} more {'is' if len(relevant) == 2 else 'are'} audit-relevant" if len(relevant) > 1 else ""
    adds = say_measure(find_interval(first), against=lines, signed=True)
    return f"ED hangs on cues that can be taken out: “{first.cue}” adds {adds} to it{more}."


def say_measure(one: Measure, *, against: Sequence[float] = (), signed: bool = False) -> str:
    """Return a measure as a sentence has it: `0.706 [0.594, 0.798]`, or why there is nothing to print."""
    if one.value is None:
        return one.reason or "not defined"
    write = format_signed if signed else format_number
    value = write(one.value, against=against)
    if one.low is None or one.high is None:
        return f"{value} (no interval: {one.reason})"
    return f"{value} {format_range(one.low, one.high, against=against, signed=signed)}"


def find_interval(change: CueChange) -> Measure:
    """Return ΔED with the interval that decides: Holm's for a cue, its own for a placebo or where Holm gives none."""
    if change.holm is None:
        return change.change
    return Measure(value=change.change.value, low=change.holm.low, high=change.holm.high, reason=change.change.reason)


def is_immaterial(change: CueChange, margin: float) -> bool:
    """Whether the interval that decides excludes a change of *margin* or more: only then is it shown that a cue does not matter."""
    interval = find_interval(change)
    return interval.low is not None and interval.high is not None and -margin < interval.low and interval.high < margin
