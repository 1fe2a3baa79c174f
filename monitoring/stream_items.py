"""Items of a stream, from traces or exports, as windows of a monitor: nothing of an item but the sums of its window is kept."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from monitoring.batch_file import WindowBatch
from registry.errors import Fault, InputError
from registry.records.claim import Relation
from registry.records.dossier import MonitorFile
from registry.records.monitor import AnchorCounts, LabelCounts, MonitorPlan, StreamUnit, WindowCell

YES = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
"""How exports write yes and no."""


class StreamItem(NamedTuple):
    """One answer of the model in the stream."""

    response: str
    unit: str
    stratum: str
    inclusion: float
    is_chosen: bool
    at: datetime
    is_labelled: bool = False
    """Whether chance chose it for a label of people."""
    label: float | None = None
    """People's score, mapped to [0, 1]; None where there is none yet."""


class StreamAnchor(NamedTuple):
    """An item with a label of people that the judge scored again; it is no item of the stream."""

    response: str
    is_bad: bool
    at: datetime


@dataclass(slots=True)
class _Unit:
    """The items of one unit in one window."""

    item: StreamItem
    """Its first item; all were sampled as this one."""
    scores: list[float] = field(default_factory=list)
    lacking: int = 0
    labels: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float | None:
        """The judge's mean score; None where it was not reviewed, or a score is missing."""
        return sum(self.scores) / len(self.scores) if self.item.is_chosen and self.scores and not self.lacking else None

    @property
    def label(self) -> float | None:
        """People's mean score; None where a label is missing."""
        return sum(self.labels) / len(self.labels) if self.labels and len(self.labels) == len(self.scores) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceReading:
    """The windows that traces fill, and what of the traces is not in them."""

    batches: list[WindowBatch]
    excluded: dict[str, int]
    """Numbers of items and results, by why they are not of the stream."""


def check_planned(file: MonitorFile) -> None:
    """Refuse traces under a plan that does not say by which names they call the model and the evaluation; raises InputError."""
    if not file.plan.models or file.plan.evaluation is None:
        problem = "the locked plan does not say by which names traces call the model, and which evaluation is the scorer's"
        raise InputError(Fault("traces-not-planned", file.monitor.payload.monitor, problem))


def read_anchor(label: object, response: object, at: datetime, where: str) -> StreamAnchor:
    """Return the anchor with the *label* `good` or `bad`; raises InputError for another label."""
    if label not in ("good", "bad"):
        raise InputError(Fault("not-valid", where, f"caveat.anchor is good or bad, found {str(label)[:20]!r}"))
    return StreamAnchor(str(response), label == "bad", at)


def read_label(attributes: Mapping[str, Any], plan: MonitorPlan, where: str, *, is_chosen: bool) -> tuple[bool, float | None]:
    """Return whether chance chose a reviewed item for a label of people, and the label mapped to [0, 1]; None where it is not in yet.

    Raises:
        InputError: under a plan with such labels it is not known whether the item was chosen, or one that was not chosen has a label.
    """
    if not plan.is_corrected or not is_chosen:
        return False, None
    is_labelled = YES.get(str(attributes.get("caveat.labelled")).casefold())
    if is_labelled is None:
        problem = "it has no caveat.labelled: whether chance chose it for a label of people is not known"
        raise InputError(Fault("inclusion-unknown", where, problem))
    label = attributes.get("caveat.label")
    if label is None:
        return is_labelled, None
    if not is_labelled:
        raise InputError(Fault("choice-not-random", where, "it has a label of people, and chance did not choose it for one"))
    try:
        return True, map_score(float(label), plan, where)
    except ValueError as error:
        raise InputError(Fault("not-valid", where, "caveat.label is not a number")) from error


def map_score(score: float, plan: MonitorPlan, where: str) -> float:
    """Return *score* mapped to [0, 1]; raises InputError for one outside the range of the property."""
    low, high = plan.range
    if not low <= score <= high:
        raise InputError(Fault("score-out-of-range", where, f"a score of {score:g} lies outside [{low:g}, {high:g}]"))
    return (score - low) / (high - low)


def fill_windows(
    items: Sequence[StreamItem],
    scores: Mapping[str, float],
    file: MonitorFile,
    *,
    anchors: Sequence[StreamAnchor],
    now: datetime,
    digest: str,
    where: str,
) -> list[WindowBatch]:
    """Return the windows that *items* fill, from the first that is not on record to the last that is over.

    Args:
        scores: by response, mapped to [0, 1].
        anchors: counted in the window in which the judge scored them; those without a score are not.
        digest: SHA-256 of what was read.

    Raises:
        InputError: items of a unit were sampled differently, or not as planned, or no window that is over has an item.
    """
    plan, length = file.plan, timedelta(days=file.plan.every_days)
    units: dict[int, dict[str, _Unit]] = defaultdict(dict)
    faults = []
    planned = {stratum.name: stratum.inclusion for stratum in plan.strata}
    for item in items:
        if item.at < plan.start:
            continue
        if planned.get(item.stratum) != item.inclusion:
            known = ", ".join(f"{name} with {inclusion:g}" for name, inclusion in planned.items())
            problem = f"items of {item.stratum} were chosen with probability {item.inclusion:g}; locked are {known}"
            faults.append(Fault("inclusion-differs", where, problem))
        number = (item.at - plan.start) // length + 1
        # A unit's items in a window are one item, so they must have been sampled together.
        name = item.unit
        unit = units[number].setdefault(name, _Unit(item))
        if _list_choices(unit.item) != _list_choices(item):
            faults.append(Fault("inclusion-differs", where, f"items of one {plan.unit.value} in window {number} were sampled differently"))
        score = scores.get(item.response)
        if score is None:
            unit.lacking += 1
        else:
            unit.scores.append(score)
            unit.labels += [] if item.label is None else [item.label]
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    delay = timedelta(days=plan.label_delay_days)
    numbers = [number for number in units if plan.start + number * length + delay <= now]
    first = len(file.current) + 1
    if numbers and max(numbers) < first:
        first = min(numbers)
    if not numbers:
        problem = f"no window of {file.monitor.payload.monitor} that is over has an item in it"
        raise InputError(Fault("not-matured", where, problem))
    counted = _count_anchors(anchors, scores, plan) if plan.anchors is not None else {}
    return [_build_batch(units.get(number, {}), file, number, digest, counted.get(number)) for number in range(first, max(numbers) + 1)]


def _list_choices(item: StreamItem) -> tuple[object, ...]:
    """Return how an item was sampled."""
    return item.stratum, item.inclusion, item.is_chosen, item.is_labelled


def _count_labels(units: Sequence[_Unit]) -> LabelCounts:
    """Return the joint sums of judge and people over reviewed *units* that chance chose for a label."""
    chosen = [(unit.mean or 0.0, unit.label) for unit in units if unit.item.is_labelled]
    pairs = [(judge, people) for judge, people in chosen if people is not None]
    waiting = [judge for judge, people in chosen if people is None]
    return LabelCounts(
        items=len(pairs),
        both=math.fsum(min(pair) for pair in pairs),
        judge_only=math.fsum(max(judge - people, 0.0) for judge, people in pairs),
        people_only=math.fsum(max(people - judge, 0.0) for judge, people in pairs),
        users=len(chosen),
        pending=len(waiting),
        pending_total=math.fsum(waiting),
    )


def _count_anchors(anchors: Sequence[StreamAnchor], scores: Mapping[str, float], plan: MonitorPlan) -> dict[int, AnchorCounts]:
    """Return by window what the judge said of anchors: it calls bad what it scores nearer to the bad end of the range."""
    is_upper, length = plan.relation is Relation.AT_MOST, timedelta(days=plan.every_days)
    verdicts: dict[int, list[tuple[bool, bool]]] = defaultdict(list)
    for anchor in anchors:
        score = scores.get(anchor.response)
        if score is not None and anchor.at >= plan.start:
            called_bad = score > 0.5 if is_upper else score < 0.5
            verdicts[(anchor.at - plan.start) // length + 1].append((anchor.is_bad, called_bad))
    return {
        number: AnchorCounts(
            good=sum(not is_bad for is_bad, _ in pairs),
            bad=sum(is_bad for is_bad, _ in pairs),
            false_positive=sum(called and not is_bad for is_bad, called in pairs),
            false_negative=sum(is_bad and not called for is_bad, called in pairs),
        )
        for number, pairs in verdicts.items()
    }


def _build_batch(units: Mapping[str, _Unit], file: MonitorFile, number: int, digest: str, anchors: AnchorCounts | None) -> WindowBatch:
    plan, length = file.plan, timedelta(days=file.plan.every_days)
    cells = []
    for stratum in plan.strata:
        own = [unit for unit in units.values() if unit.item.stratum == stratum.name]
        seen = [unit for unit in own if unit.mean is not None]
        means = [mean for unit in seen if (mean := unit.mean) is not None]
        labels = _count_labels(seen) if plan.is_corrected else None
        count = len(own)
        # With items that are conversations, users are not known: at least one a conversation is not, so few items are suppressed.
        users = count if plan.unit is StreamUnit.USER or plan.one_per_user else 0
        few_labels = labels is not None and bool(means) and labels.users < plan.min_users
        if 0 < users < plan.min_users or (count and not users) or few_labels:
            cells.append(WindowCell(stratum=stratum.name, items=count, suppressed=True))
            continue
        chosen = sum(unit.item.is_chosen for unit in own)
        cells.append(
            WindowCell(
                stratum=stratum.name,
                items=count,
                reviewed=len(means),
                total=sum(means),
                squares=sum(mean**2 for mean in means),
                users=users,
                inclusion=stratum.inclusion,
                pending=chosen - len(means),
                labels=labels,
            )
        )
    start = plan.start + (number - 1) * length
    return WindowBatch(
        monitor=file.monitor.payload.monitor,
        order=number,
        from_=start,
        to=start + length,
        cells=tuple(cells) if units else (),
        missing=None if units else "the traces have no item in this window",
        anchors=anchors,
        judge=plan.scored_by,
        source_sha256=digest,
    )
