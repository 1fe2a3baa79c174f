"""The evidence of a monitor after each window, from its plan and its windows. The same windows give the same readings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from monitoring.statistics.average_sequence import AverageSequence
from monitoring.statistics.drift_detector import DriftDetector
from monitoring.statistics.e_process import find_lower_limit, log_evidence
from monitoring.statistics.stream_tally import StreamCell, StreamLabels, StreamTally, find_rate
from registry.records.claim import Relation
from registry.records.monitor import AnchorCounts, AnchorPlan, Attribution, MonitorPlan, MonitorReading, StreamUnit, WindowCell

DIGITS = 12
"""Significant digits of a reading, so that processors with another rounding of the last ones record the same."""

WindowData = tuple[Sequence[WindowCell], AnchorCounts | None]
"""The cells and anchors of one window; no cells where its data are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnchorState:
    """What the anchors have shown so far."""

    false_positive: DriftDetector
    false_negative: DriftDetector
    scored: int = 0
    """Good ones. Only these show that a judge calls good items bad, which is what could explain an alarm."""
    alarm: int | None = None
    """The first window in which they raised an alarm."""
    alarm_at: int = 0
    """Good anchors scored before that window."""

    def add(self, counts: AnchorCounts, plan: AnchorPlan, number: int) -> "_AnchorState":
        positive = self.false_positive.add([StreamCell(items=counts.good, reviewed=counts.good, total=counts.false_positive)])
        negative = self.false_negative.add([StreamCell(items=counts.bad, reviewed=counts.bad, total=counts.false_negative)])
        after = replace(self, false_positive=positive, false_negative=negative, scored=self.scored + counts.good)
        # Two detectors of run length 2A give one alarm in A windows at most.
        if self.alarm is None and (positive.has_alarmed(2 * plan.run_length) or negative.has_alarmed(2 * plan.run_length)):
            return replace(after, alarm=number, alarm_at=self.scored)
        return after


def read_evidence(plan: MonitorPlan, windows: Sequence[WindowData], *, raised: tuple[int, Attribution] | None = None) -> MonitorReading:
    """Return the evidence after *windows*, numbered from 1.

    Args:
        raised: the alarm that was recorded before, with its attribution. It stays, also where a correction takes its evidence away.
    """
    if plan.is_of_incidents:
        return _read_review(plan, windows)
    is_upper = plan.relation is Relation.AT_MOST
    limit = plan.theta if is_upper else 1 - plan.theta
    events = complement = StreamTally(floor=plan.floor)
    average = AverageSequence(bound=plan.bound, centre=limit)
    anchors = _start_anchors(plan.anchors) if plan.anchors else None
    drift = DriftDetector(tolerated=plan.drift.tolerated) if plan.drift else None
    has_drifted = False
    highest, lowest = 0.0, 1.0
    evidence = 0.0
    alarm = raised[0] if raised else None
    scored_at_alarm: int | None = None
    for number, (cells, counts) in enumerate(windows, start=1):
        stream = [read_cell(cell, plan) for cell in cells]
        turned = [cell.complement() for cell in stream]
        events, complement = events.add(stream), complement.add(turned)
        average = average.add(stream if is_upper else turned)
        highest = max(highest, find_lower_limit(events, plan.threshold, bets=plan.bets))
        lowest = min(lowest, 1 - find_lower_limit(complement, plan.threshold, bets=plan.bets))
        evidence = log_evidence(events if is_upper else complement, limit, bets=plan.bets)
        if alarm is None and (highest >= plan.theta if is_upper else lowest <= plan.theta):
            alarm = number
        if anchors is not None and plan.anchors is not None and counts is not None:
            anchors = anchors.add(counts, plan.anchors, number)
        if alarm == number:
            scored_at_alarm = anchors.scored if anchors else None
        if drift is not None and plan.drift is not None:
            drift = drift.add(stream if is_upper else turned)
            has_drifted = has_drifted or drift.has_alarmed(plan.drift.run_length)
    upper = average.find_upper_limit(plan.threshold)
    return MonitorReading(
        items=events.items,
        reviewed=sum(cell.reviewed for cells, _ in windows for cell in cells if not cell.suppressed),
        rate=_round(find_rate([read_cell(cell, plan) for cells, _ in windows for cell in cells])),
        log_evidence=_round(evidence) or 0.0,
        lower=_round(highest) or 0.0,
        upper=_round(lowest) or 0.0,
        average_limit=_round(upper if is_upper else 1 - upper) or 0.0,
        alarm=alarm,
        anchors_alarm=anchors.alarm if anchors else None,
        attribution=None if alarm is None else _attribute(plan, anchors, scored_at_alarm, raised),
        drift=has_drifted,
    )


def _read_review(plan: MonitorPlan, windows: Sequence[WindowData]) -> MonitorReading:
    """Return what items show that were reviewed at random in addition to incidents: how often the event can be, if none was found.

    There is no rate and no alarm. "None among n" bounds the average probability by 1 - (alpha / m)^(1/n). This holds at all looks, also
    when the probability changes: the product of 1 - p over n items is at most (1 - average p)^n, and the bound can be wrong only after
    a run without an event that is less probable than alpha / m.
    """
    is_upper = plan.relation is Relation.AT_MOST
    cells = [read_cell(cell, plan) for cells, _ in windows for cell in cells]
    reviewed = sum(cell.reviewed for cell in cells)
    wrong = sum((cell if is_upper else cell.complement()).total for cell in cells)
    # What is pending or suppressed may be the event.
    is_known = reviewed > 0 and not any(cell.pending or cell.suppressed for cell in cells)
    bound = 1 - (1 / plan.threshold) ** (1 / reviewed) if is_known and not wrong else 1.0
    return MonitorReading(
        items=sum(cell.items for cell in cells),
        reviewed=reviewed,
        rate=None,
        log_evidence=0.0,
        lower=0.0,
        upper=1.0,
        average_limit=_round(bound if is_upper else 1 - bound) or 0.0,
    )


def _start_anchors(plan: AnchorPlan) -> _AnchorState:
    return _AnchorState(
        false_positive=DriftDetector(tolerated=plan.false_positive), false_negative=DriftDetector(tolerated=plan.false_negative)
    )


def _attribute(
    plan: MonitorPlan, anchors: _AnchorState | None, scored_at_alarm: int | None, raised: tuple[int, Attribution] | None
) -> Attribution:
    """Return what changed: the judge where anchors raised an alarm before the guard was over, else the system once it is over."""
    if plan.is_corrected:
        return Attribution.CORRECTED
    # What was settled stays settled: anchors that alarm later speak of a later time.
    if raised is not None and raised[1] in (Attribution.SYSTEM, Attribution.JUDGE):
        return raised[1]
    if plan.anchors is None or anchors is None:
        return Attribution.UNKNOWN
    guard, since = plan.anchors.guard, anchors.scored - (scored_at_alarm or 0)
    if anchors.alarm is not None and anchors.alarm_at <= (scored_at_alarm or 0) + guard:
        return Attribution.JUDGE
    return Attribution.SYSTEM if since >= guard else Attribution.OPEN


def read_cell(cell: WindowCell, plan: MonitorPlan) -> StreamCell:
    """Return a cell with the probabilities that *plan* gives its stratum."""
    stratum = next(stratum for stratum in plan.strata if stratum.name == cell.stratum)
    return StreamCell(
        items=cell.items,
        reviewed=cell.reviewed,
        total=cell.total,
        squares=cell.squares,
        inclusion=stratum.inclusion,
        pending=cell.pending,
        labels=None if stratum.label_share is None else _read_labels(cell, stratum.label_share, plan),
        suppressed=cell.suppressed,
    )


def _read_labels(cell: WindowCell, share: float, plan: MonitorPlan) -> StreamLabels:
    labels = cell.labels
    if labels is None:
        # A cell is suppressed where items of fewer users than that are labelled.
        is_user = plan.unit is StreamUnit.USER or plan.one_per_user
        return StreamLabels(share=share, most=plan.min_users - 1 if is_user else cell.items)
    return StreamLabels(
        share=share,
        items=labels.items,
        both=labels.both,
        judge_only=labels.judge_only,
        people_only=labels.people_only,
        pending=labels.pending,
        pending_total=labels.pending_total,
    )


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
