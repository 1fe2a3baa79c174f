"""The pages of a change report: the summary in one sentence, verdicts before and after, groups of claims."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from registry.records.estimates import BoundedEstimate, Differential
from registry.records.supplement import ChangeReport, ClaimChange, ClaimState, DriftStep, Occasion, OccasionKind
from registry.records.verdict import Verdict
from registry.report.claim_change import has_changed_verdict, list_other, rank_change
from registry.report.number_format import Unit, format_count, format_level
from registry.report.quoted_text import RedlineRun, build_redline
from registry.report.supplement_wording import get_words

NOT_AUDITED = "not audited"
NEW = "not registered"
# Page one holds this many lines of occasions; the rest is counted.
_MOST_OCCASIONS = 7
_LISTED = frozenset({OccasionKind.MODEL, OccasionKind.CARD, OccasionKind.SPEC, OccasionKind.METHOD, OccasionKind.OBJECTION})
"""Each told in its own words; of the others, page one says how many there are."""
_COUNTED = {
    OccasionKind.AUDIT: ("outcome of an audit", "outcomes of audits"),
    OccasionKind.CLAIM: ("revision of a claim", "revisions of claims"),
    OccasionKind.REVIEW: ("decision on staleness", "decisions on staleness"),
}
_GROUPS = (
    "Newly contradicted or in doubt",
    "Other changes of verdict",
    "Same verdict, with another standing, TRACE label or point estimate",
    "Changes of model, status or text",
    "Other changes",
)
_LIGHT = 3
"""The first group whose claims kept their verdict and all that goes with it."""
_AXES = ("lifecycle", "dispute", "staleness", "restriction")


class DisplayLimit(StrEnum):
    """How much is shown, by medium: layout takes time, and a browser does not."""

    PRINT = "print"
    SCREEN = "screen"


_MOST_ROWS = {DisplayLimit.PRINT: 300, DisplayLimit.SCREEN: 5_000}
"""Claims in the table: a page of layout holds about ten."""
_MOST_SECTIONS = {DisplayLimit.PRINT: 40, DisplayLimit.SCREEN: 1_000}
"""Claims with a section: each takes most of a page, which costs a quarter of a second and four megabytes while it is laid out."""
_FEW = 40
"""Changed claims up to which the sections of those that weigh most show what stayed beside what changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """How many claims had one verdict before and one after."""

    count: int
    is_same: bool
    is_adverse: bool
    """Whether any of them is newly inverted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixHead:
    """A verdict that heads a row or column of the matrix, in words, with the name of its shape and colour."""

    words: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMatrix:
    """The changed claims by verdict before, in rows, and after, in columns; only verdicts that occur."""

    heads: tuple[MatrixHead, ...]
    rows: tuple[tuple[MatrixHead, tuple[MatrixCell, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAxis:
    """One axis of status before and after."""

    name: str
    before: str | None
    """In words; None for a claim that was not registered."""
    after: str
    is_other: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePart:
    """One changed claim as a page tells it."""

    number: int
    """Its place in the report, from 1; the anchor of its section."""
    change: ClaimChange
    axes: tuple[StatusAxis, ...]
    is_other_verdict: bool
    """Whether the verdict or what goes with it is another, or the claim is new: a reader sees both sides."""
    is_full: bool
    """Whether what stayed is shown beside what changed: only for what weighs most, in a report of few."""
    step: DriftStep | None
    """Against the first specification of P_deploy that both estimates have; None without one."""
    reworded: tuple[RedlineRun, ...]
    """From the claim as it was quoted to how it is; empty where the words are the same."""
    redline: tuple[RedlineRun, ...]
    """From the restricted claim before to that after; empty where there are not two, or they are the same."""

    @property
    def has_table(self) -> bool:
        """Whether there is a line to show next to what stayed."""
        before, after = self.change.before, self.change.after
        if before is None or self.is_full or self.is_other_verdict or any(axis.is_other for axis in self.axes):
            return True
        kept = ("identifier", "model", "outcome_entry", "theta", "relation")
        return any(getattr(before, name) != getattr(after, name) for name in kept)

    @property
    def is_in_table(self) -> bool:
        """Whether the row of the table has all that changed: a status, for one reason. A section would repeat it."""
        before, after = self.change.before, self.change.after
        if before is None or self.is_full or self.is_other_verdict or len(self.change.why) > 1:
            return False
        kept = ("identifier", "model", "quote", "restricted", "outcome_entry", "theta", "relation")
        moved = [axis.name for axis in self.axes if axis.is_other]
        return bool(moved) and "Restriction" not in moved and all(getattr(before, name) == getattr(after, name) for name in kept)

    @property
    def name(self) -> str:
        """`CLM-…@n`, also the name of the files of its supplement."""
        return self.change.after.identifier.partition("#")[0]

    @property
    def name_before(self) -> str | None:
        """The same of the state before; None for a claim that was not registered."""
        return self.change.before.identifier.partition("#")[0] if self.change.before else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGroup:
    """Changed claims of one weight."""

    title: str
    parts: tuple[ChangePart, ...]


def collect_change_facts(report: ChangeReport, *, medium: str) -> dict[str, Any]:
    """Return what the template of a change report needs next to the report.

    Args:
        medium: `print` or `screen`.
    """
    room = DisplayLimit(medium)
    rows, sections = _MOST_ROWS[room], _MOST_SECTIONS[room]
    # Each section takes most of a page, so only a short report also shows what stayed the same.
    is_short = len(report.changes) <= _FEW
    parts = tuple(_build_part(number, change, is_short=is_short) for number, change in enumerate(report.changes[:rows], start=1))
    # A report of one claim shows all of it.
    tabled = sum(part.is_in_table for part in parts) if len(parts) > 1 else 0
    detailed = tuple(part for part in parts if not (tabled and part.is_in_table))[:sections]
    return {
        "verdict": describe_change(report),
        "largest": describe_largest(report),
        "badge": _describe_badge(report),
        "verdict_class": _describe_badge(report)[0],
        "inverted": tuple(part for part in parts if part.change.newly_inverted),
        "matrix": build_matrix(report.changes),
        "inverted_words": describe_adverse(part.change for part in parts),
        "groups": tuple(_group(parts)),
        "parts": detailed,
        "detailed": frozenset(part.number for part in detailed),
        "tabled": tabled,
        "excluded": len(report.changes) - len(parts),
        "listed": _list_occasions(report.occasions),
        "counted": tuple(_count_occasions(report.occasions)),
        "total": count_claims(report),
        "lines_of": find_lines,
        "margins_of": find_margins,
    }


def find_lines(state: ClaimState) -> tuple[float, ...]:
    """Return the numbers that no Φ of *state* may seem to cross when it is rounded: the ends of the range, and θ."""
    # A score rounded onto θ or onto an end of the range would change what the number says.
    return (*(state.range or ()), *(() if state.theta is None else (state.theta,)))


def find_margins(state: ClaimState) -> tuple[float, ...]:
    """Return the numbers that no ED of *state* may seem to cross: ±δ."""
    return () if state.margin is None else (-state.margin, state.margin)


def count_claims(report: ChangeReport) -> int:
    """Return how many claims the report is about: those that changed, those that did not, those that are not shown."""
    return len(report.changes) + report.unchanged + len(report.erased)


def describe_change(report: ChangeReport) -> str:
    """Return the report in one sentence."""
    total = count_claims(report)
    if not total:
        return "There is no claim to compare."
    if not report.changes and not report.erased:
        return "Nothing changed in the one claim." if total == 1 else f"Nothing changed in {_all(total)}."
    return f"Of {format_count(total)} claim{'s' if total > 1 else ''} {'; '.join(_describe_parts(report))}."


_FIGURES = (("phi_deploy", "in deployment-like contexts"), ("phi_test", "in the evaluation"), ("ed", "in the difference (ED)"))


def describe_largest(report: ChangeReport) -> str | None:
    """Return the largest change of a figure with an interval that excludes zero, in one sentence; None where no figures were compared."""
    steps = [(change, step, name, where) for change in report.changes for step in change.steps for name, where in _FIGURES]
    if not steps:
        return None
    moved = [row for row in steps if _excludes_zero(getattr(row[1], row[2]))]
    if not moved:
        return "No figure changed by more than its interval: every interval of a change contains zero."
    change, step, name, where = max(moved, key=lambda row: abs(getattr(row[1], row[2]).value))
    figure, range_ = getattr(step, name), change.after.range or (0.0, 1.0)
    unit = Unit(low=range_[0], high=range_[1])
    higher = "higher" if figure.value > 0 else "lower"
    low, high = sorted((abs(figure.low), abs(figure.high)))
    interval = f"{f'{format_level(change.after.level)} CI ' if change.after.level else ''}{unit.numbers(low, high, 0.0)}"
    # Two versions of a model are compared then, not one that changed.
    version = "" if change.before is None or change.before.model == change.after.model else " on the newer model version"
    return (
        f"Largest change: the figure of {change.claim} is {unit.difference(abs(figure.value), 0.0)} {higher} {where}{version} ({interval})."
    )


def _excludes_zero(figure: BoundedEstimate | Differential) -> bool:
    return figure.low is not None and figure.high is not None and not figure.low <= 0 <= figure.high


def build_matrix(changes: Sequence[ClaimChange]) -> ChangeMatrix | None:
    """Return the changed claims by verdict before and after; None without a change."""
    # New claims have no verdict before. With a row of their own, every changed claim counts once.
    pairs = [(_head_of(change.before) if change.before else _NEW_HEAD, _head_of(change.after), change) for change in changes]
    befores = sorted({before for before, _, _ in pairs}, key=_rank_head)
    afters = sorted({after for _, after, _ in pairs}, key=_rank_head)
    rows = []
    for before in befores:
        cells = []
        for after in afters:
            members = [change for head, later, change in pairs if (head, later) == (before, after)]
            is_adverse = any(change.newly_inverted for change in members)
            cells.append(MatrixCell(count=len(members), is_same=before == after, is_adverse=is_adverse))
        rows.append((before, tuple(cells)))
    return ChangeMatrix(heads=tuple(afters), rows=tuple(rows)) if rows else None


_TONES = {
    Verdict.HOLDS: "stable",
    Verdict.DOES_NOT_CARRY_OVER: "degraded",
    Verdict.IN_DOUBT: "degraded",
    Verdict.CONTRADICTED: "inverted",
    Verdict.CONTRADICTED_IN_PRODUCTION: "inverted",
}
_NEW_HEAD, _UNAUDITED_HEAD = MatrixHead(words=NEW, tone="new"), MatrixHead(words=NOT_AUDITED, tone="unaudited")


def _head_of(state: ClaimState) -> MatrixHead:
    # A revision without an outcome of its own shows the gravest of its family, as on page one.
    verdict = state.outcome or (state.status.gravest.verdict if state.status.gravest else None)
    return MatrixHead(words=get_words(verdict), tone=_TONES.get(verdict, "undetermined")) if verdict else _UNAUDITED_HEAD


def _rank_head(head: MatrixHead) -> tuple[int, str]:
    return ("inverted", "degraded", "undetermined", "stable", "unaudited", "new").index(head.tone), head.words


def _describe_parts(report: ChangeReport) -> Iterator[str]:
    # New claims are counted in a part of their own below, so they never count as a change of class.
    known = [change for change in report.changes if change.before is not None]
    verdicts = sum(has_changed_verdict(claim_change) for claim_change in known)
    if known:
        yield f"{format_count(verdicts) if verdicts else 'none'} changed verdict{_describe_inverted(known)}{_describe_lost(known)}"
    within = [claim_change for claim_change in known if list_other(claim_change)]
    if within:
        yield f"{format_count(len(within))} kept {'its' if len(within) == 1 else 'their'} verdict with another {_name_other(within)}"
    if others := len(known) - verdicts - len(within):
        yield f"{format_count(others)} changed in other ways"
    if new := [claim_change for claim_change in report.changes if claim_change.before is None]:
        yield f"{format_count(len(new))} {_be(len(new))} new{_describe_inverted(new)}"
    if report.erased:
        yield f"{format_count(len(report.erased))} cannot be compared, because statements were erased"
    if report.unchanged:
        yield f"{format_count(report.unchanged)} {_be(report.unchanged)} unchanged"


def _name_other(within: Sequence[ClaimChange]) -> str:
    labels = dict.fromkeys(("class_", "standing", "mode"), "TRACE label")
    words = {"outcome_standing": "standing", **labels, "point_class": "point estimate"}
    changed = {name for change in within for name in list_other(change)}
    # Several fields make up the label, which is named once.
    names = list(dict.fromkeys(text for name, text in words.items() if name in changed))
    return " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _describe_inverted(changes: Sequence[ClaimChange]) -> str:
    inverted = sum(change.newly_inverted for change in changes)
    return f", {format_count(inverted)} of them newly {describe_adverse(changes)}" if inverted else ""


def describe_adverse(changes: Iterable[ClaimChange]) -> str:
    """Return the verdicts of the newly inverted of *changes* in words: `contradicted`, or `contradicted or in doubt`."""
    verdicts = {change.after.outcome for change in changes if change.newly_inverted and change.after.outcome}
    return " or ".join(get_words(verdict) for verdict in sorted(verdicts)) or "contradicted or in doubt"


def _describe_lost(claim_changes: Sequence[ClaimChange]) -> str:
    """Say how many have no outcome any more: they were carried or revised, and what was found before does not speak for them."""
    lost = sum(has_changed_verdict(claim_change) and claim_change.after.outcome is None for claim_change in claim_changes)
    return f", {format_count(lost)} of them not audited now" if lost else ""


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


def _all(total: int) -> str:
    return "both claims" if total == 2 else f"all {format_count(total)} claims"


def _describe_badge(report: ChangeReport) -> tuple[str, str]:
    """Return the shape's name and the words above the verdict."""
    # The badge takes the gravest news: newly inverted, then other verdicts, then what goes with them.
    inverted = sum(change.newly_inverted for change in report.changes)
    if inverted:
        return "inverted", f"{format_count(inverted)} newly {describe_adverse(report.changes)}"
    # Nothing can be said about an erased claim, so it does not count as unchanged.
    if not report.changes:
        return "unaudited" if report.erased else "stable", "not all can be compared" if report.erased else "nothing changed"
    verdicts = sum(has_changed_verdict(claim_change) for claim_change in report.changes if claim_change.before is not None)
    if verdicts:
        return "degraded", f"{format_count(verdicts)} changed verdict"
    # What changed with the same verdict is in the sentence below the badge.
    return "undetermined", "no change of verdict"


def _group(parts: Sequence[ChangePart]) -> Iterator[ChangeGroup]:
    # `groupby` joins neighbours only. The report lists its changes in the order of `rank_change`.
    for rank, members in groupby(parts, key=lambda part: rank_change(part.change)[0]):
        yield ChangeGroup(title=_GROUPS[rank], parts=tuple(members))


def _build_part(number: int, change: ClaimChange, *, is_short: bool) -> ChangePart:
    before, after = change.before, change.after
    # A redline of equal texts would be one unmarked run, and says less than no redline.
    is_reworded = before is not None and before.quote != after.quote
    is_restricted = before is not None and before.restricted and after.restricted and before.restricted != after.restricted
    return ChangePart(
        number=number,
        change=change,
        axes=tuple(_compare_axes(before, after)),
        is_other_verdict=before is None or has_changed_verdict(change) or bool(list_other(change)),
        is_full=is_short and rank_change(change)[0] < _LIGHT,
        step=change.steps[0] if change.steps else None,
        reworded=build_redline(before.quote, after.quote) if before and is_reworded else (),
        redline=build_redline(before.restricted or "", after.restricted or "") if before and is_restricted else (),
    )


def _compare_axes(before: ClaimState | None, after: ClaimState) -> Iterator[StatusAxis]:
    # All axes are compared, also those that stayed: a reader sees which statuses did not change.
    for name in _AXES:
        then, now = getattr(before.status, name) if before else None, getattr(after.status, name)
        yield StatusAxis(name=name.capitalize(), before=get_words(then) if then else None, after=get_words(now), is_other=then is not now)


def _list_occasions(occasions: Sequence[Occasion]) -> tuple[tuple[Occasion, ...], int]:
    """Return those that are told in their own words, and how many more there are."""
    listed = [occasion for occasion in occasions if occasion.kind in _LISTED]
    # Without an occasion that has words of its own, others are listed. `_count_occasions` then
    # counts none, so that nothing is printed twice.
    if not listed:
        listed = list(occasions[:_MOST_OCCASIONS])
    return tuple(listed[:_MOST_OCCASIONS]), max(0, len(listed) - _MOST_OCCASIONS)


def _count_occasions(occasions: Sequence[Occasion]) -> Iterator[str]:
    """Yield how many there are of the kinds that are only counted; nothing where they are told themselves, because there is no other."""
    for kind, (name, several) in _COUNTED.items():
        number = sum(occasion.kind is kind for occasion in occasions)
        if number and any(occasion.kind in _LISTED for occasion in occasions):
            yield f"{format_count(number)} {name if number == 1 else several}"
