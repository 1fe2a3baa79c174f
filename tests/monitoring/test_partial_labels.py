"""People label a random share of the judge's items: what they say corrects the judge, whichever way it errs."""

import json
import math
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.batch_file import WindowBatch, fit_batch
from monitoring.evidence import read_evidence
from monitoring.statistics.average_sequence import AverageSequence
from monitoring.statistics.e_process import LABEL_BETS, find_lower_limit, log_evidence
from monitoring.statistics.observed_rate import estimate_rate, widen
from monitoring.statistics.stream_tally import StreamCell, StreamLabels, StreamTally, find_rate
from registry.errors import CaveatError
from registry.records.claim import Relation
from registry.records.monitor import Attribution, LabelCounts, Monitor, MonitorPlan, MonitorStratum, MonitorVerdict, WindowCell
from tests.cli.conftest import Caveat
from tests.monitoring import plans
from tests.monitoring.conftest import FIRST, LOCKED_AT, PLAN, set_clock
from tests.monitoring.test_langfuse import export, observe, score
from tests.monitoring.test_monitor_commands import span, traces
from tests.monitoring.test_monitor_verdicts import file_of, last_day

Item = tuple[float, float | None]
"""The judge's score, and people's (None: not labelled)."""
SHARE = 0.25
FLOOR = 1 - 1 / SHARE
BINARY = st.tuples(st.sampled_from([0.0, 1.0]), st.none() | st.sampled_from([0.0, 1.0]))
GRADED = st.tuples(st.floats(0, 1), st.none() | st.floats(0, 1))
MONITOR = "MON-LAB-2026-0001-C"
STREAMS = 40


def cell_of(items: list[Item], *, inclusion: float = 1.0, share: float = SHARE) -> StreamCell:
    """Reviewed items as one cell with joint sums."""
    labelled = [(judge, people) for judge, people in items if people is not None]
    sums = {
        "both": sum(min(pair) for pair in labelled),
        "judge_only": sum(max(judge - people, 0) for judge, people in labelled),
        "people_only": sum(max(people - judge, 0) for judge, people in labelled),
    }
    total = min(sum(judge for judge, _ in items), len(items))
    labels = StreamLabels(share=share, items=len(labelled), **sums)
    return StreamCell(items=len(items), reviewed=len(items), total=total, inclusion=inclusion, labels=labels)


def correct(judge: float, people: float | None, share: float = SHARE) -> float:
    return judge if people is None else judge + (people - judge) / share


def multiply(items: list[Item], limit: float) -> float:
    """M by its definition."""
    return sum(
        math.prod(1 + bet * (correct(*item) - limit) / (limit - FLOOR) for item in items) / len(LABEL_BETS) for bet in LABEL_BETS
    )  # fmt: skip


def evidence(cells: list[StreamCell], limit: float, floor: float = FLOOR) -> float:
    return log_evidence(StreamTally(floor=floor).add(cells), limit, bets=LABEL_BETS)


@given(items=st.lists(BINARY, min_size=1, max_size=40), limit=st.floats(0.01, 0.9))
def test_evidence_from_joint_counts_is_exact(items: list[Item], limit: float) -> None:
    assert evidence([cell_of(items)], limit) == pytest.approx(math.log(multiply(items, limit)), abs=1e-9)


@given(items=st.lists(GRADED, min_size=1, max_size=40), limit=st.floats(0.01, 0.9))
def test_evidence_from_joint_sums_never_exceeds_that_from_items(items: list[Item], limit: float) -> None:
    assert evidence([cell_of(items)], limit) <= math.log(multiply(items, limit)) + 1e-9


@given(items=st.lists(GRADED, min_size=1, max_size=30), threshold=st.sampled_from([2.0, 20.0]), limit=st.floats(0.01, 0.9))
def test_the_lower_limit_is_where_the_evidence_reaches_the_threshold(items: list[Item], threshold: float, limit: float) -> None:
    tally = StreamTally(floor=FLOOR).add([cell_of(items)])
    low = find_lower_limit(tally, threshold, bets=LABEL_BETS)
    assert (low >= limit) == (log_evidence(tally, limit, bets=LABEL_BETS) >= math.log(threshold)) or abs(low - limit) < 1e-9


@given(items=st.lists(BINARY, min_size=1, max_size=30), late=st.integers(0, 30), limit=st.floats(0.01, 0.9))
def test_a_label_that_is_late_never_adds_evidence_on_either_side(items: list[Item], late: int, limit: float) -> None:
    """Whatever the labels will say, the evidence before they come is not above that after."""
    whole = cell_of(items)
    known = [item for item in items if item[1] is not None]
    waiting = known[:late]
    kept = cell_of([*known[late:], *(item for item in items if item[1] is None)])
    assert kept.labels is not None
    labels = replace(kept.labels, pending=len(waiting), pending_total=sum(judge for judge, _ in waiting))
    before = replace(whole, labels=labels)
    assert evidence([before], limit) <= evidence([whole], limit) + 1e-9
    assert evidence([before.complement()], limit) <= evidence([whole.complement()], limit) + 1e-9


def test_all_items_labelled_is_people_alone() -> None:
    items: list[Item] = [(1, 0), (0, 1), (1, 1), (0, 0), (0, 0), (1, 0)]
    people = StreamCell(items=6, reviewed=6, total=2)
    assert evidence([cell_of(items, share=1.0)], 0.2, floor=0.0) == pytest.approx(evidence([people], 0.2, floor=0.0), abs=1e-12)


@pytest.mark.parametrize("judge", [(1, 1, 1, 0), (0, 0, 0, 0), (1, 0, 1, 0), (0, 1, 1, 1)])
@pytest.mark.parametrize("people", [(0, 0, 0, 0), (1, 1, 0, 0), (0, 1, 0, 1)])
@pytest.mark.parametrize("fewest", [1, 2, 3])
def test_a_cell_suppressed_for_few_labels_adds_no_evidence_on_average(judge: tuple[int, ...], people: tuple[int, ...], fewest: int) -> None:
    """Over all choices of labels: the mean of M with such cells at 0 is at most its mean over complete cells."""
    limit = 0.3
    means = []
    for most in (0, fewest):
        mean = 0.0
        for chosen in product((False, True), repeat=4):
            probability = math.prod(SHARE if label else 1 - SHARE for label in chosen)
            items = [(score, truth if label else None) for score, truth, label in zip(judge, people, chosen, strict=True)]
            hidden = StreamCell(items=4, suppressed=True, labels=StreamLabels(share=SHARE, most=fewest - 1))
            mean += probability * math.exp(evidence([hidden if sum(chosen) < most else cell_of(items)], limit))  # type: ignore[arg-type]
        means.append(mean)
    assert means[1] <= means[0] + 1e-12


def draw(rng: np.random.Generator, rate: float, *, wrong: float, missed: float, items: int = 250, share: float = 0.2) -> StreamCell:
    """One window as a cell, by a judge that calls *wrong* of the good items bad, and *missed* of the bad good."""
    bad = rng.random(items) < rate
    judge = rng.random(items) < np.where(bad, 1 - missed, wrong)
    chosen = rng.random(items) < share
    joint = {"both": chosen & judge & bad, "judge_only": chosen & judge & ~bad, "people_only": chosen & ~judge & bad}
    labels = StreamLabels(share=share, items=int(chosen.sum()), **{name: float(which.sum()) for name, which in joint.items()})
    return StreamCell(items=items, reviewed=items, total=float(judge.sum()), labels=labels)


@pytest.mark.parametrize(("wrong", "missed"), [(0.1, 0.1), (0.0, 0.6)], ids=["over-reports", "under-reports"])
def test_a_judge_that_errs_raises_no_wrong_alarm_and_hides_no_right_one(wrong: float, missed: float) -> None:
    """Without labels, the first judge always raises an alarm at the limit, and the second never does at three times the limit."""
    rng = np.random.default_rng(5)
    false = right = plain_false = plain_right = covered = 0
    for rate in (0.1, 0.3):
        for _ in range(STREAMS):
            tally, plain, average = StreamTally(floor=-4.0), StreamTally(), AverageSequence(bound=5.0, centre=0.1)
            alarms = [False, False]
            is_covered = True
            for _ in range(6):
                cell = draw(rng, rate, wrong=wrong, missed=missed)
                tally, plain, average = tally.add([cell]), plain.add([replace(cell, labels=None)]), average.add([cell])
                alarms[0] |= log_evidence(tally, 0.1, bets=LABEL_BETS) >= math.log(20)
                alarms[1] |= log_evidence(plain, 0.1) >= math.log(20)
                is_covered &= average.find_upper_limit(20) >= rate
            covered += is_covered
            false, plain_false = (false + alarms[0], plain_false + alarms[1]) if rate == 0.1 else (false, plain_false)
            right, plain_right = (right + alarms[0], plain_right + alarms[1]) if rate == 0.3 else (right, plain_right)
    assert false <= STREAMS * (0.05 + 3 * math.sqrt(0.05 * 0.95 / STREAMS))
    assert right >= 0.9 * STREAMS
    assert covered >= 2 * STREAMS * (0.95 - 3 * math.sqrt(0.05 * 0.95 / (2 * STREAMS)))
    assert plain_false == STREAMS if wrong else plain_right < 0.5 * STREAMS


def test_the_rate_is_corrected_and_its_interval_is_that_of_the_labels() -> None:
    """The judge calls 140 of 1,000 bad; of 100 labelled, it is wrong about 8 and misses 1: (140 - 70)/1,000."""
    labels = StreamLabels(share=0.1, items=100, both=6, judge_only=8, people_only=1)
    cell = StreamCell(items=1000, reviewed=1000, total=140, labels=labels)
    observed = estimate_rate([cell], level=0.95)
    plain = estimate_rate([replace(cell, labels=None)], level=0.95)
    assert observed is not None
    assert plain is not None
    assert observed.rate == find_rate([cell]) == pytest.approx(0.07)
    assert observed.high - observed.low > 1.5 * (plain.high - plain.low)
    waiting = replace(cell, labels=replace(labels, both=5, items=99, pending=1, pending_total=1.0))
    assert widen(observed, [waiting]).high > widen(observed, [cell]).high
    assert find_rate([replace(cell, labels=StreamLabels(share=0.1, pending=100, pending_total=14))]) is None


@pytest.mark.parametrize(
    "parts",
    [
        {"share": 0},
        {"share": 1.5},
        {"share": 0.1, "items": 2, "both": 3},
        {"share": 0.1, "items": 2, "judge_only": -1},
        {"share": 0.1, "pending": 1, "pending_total": 2},
        {"share": 0.1, "items": 11},
        {"share": 0.1, "items": 5, "both": 5},
    ],
)
def test_labels_that_cannot_be_are_refused(parts: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        StreamCell(items=10, reviewed=10, total=3, labels=StreamLabels(**parts))  # type: ignore[arg-type]


def test_a_score_below_the_floor_is_refused() -> None:
    """A bet sized for a narrower range could lose more than there is, and the evidence would not be valid."""
    with pytest.raises(ValueError, match="below the floor"):
        StreamTally(floor=-1.0).add([cell_of([(1.0, 0.0)])])


def labelled_plan(share: float | None = 0.2, **changes: Any) -> MonitorPlan:
    """A plan for "at most 5 %" in which people label a share, without anchors."""
    return plans.plan(strata=(MonitorStratum(name="all", inclusion=1.0, label_share=share),), bets=LABEL_BETS, **changes)


def labelled_cell(items: int, total: float, *, both: float, judge_only: float, people_only: float = 0, **changes: Any) -> WindowCell:
    """A cell in which people labelled one item in five."""
    chosen = items // 5
    labels = LabelCounts(items=chosen, both=both, judge_only=judge_only, people_only=people_only, users=chosen)
    return plans.cell(items, total, labels=replace(labels, **changes))


def test_labels_make_an_alarm_count_and_a_low_average_hold_without_anchors() -> None:
    bad = ([labelled_cell(1000, 200, both=36, judge_only=4)], None)
    settings: dict[str, Any] = {"anchors": None, "strata": labelled_plan().strata, "bets": LABEL_BETS}
    loud = file_of([bad] * 6, **settings)
    assert (loud.find_verdict(last_day(loud)), loud.list_doubts()) == (MonitorVerdict.VIOLATED, ())
    assert loud.reading is not None
    assert loud.reading.attribution is Attribution.CORRECTED
    # The judge reports 20 %, and people agree with it in none of its cases.
    wrong = file_of([([labelled_cell(20_000, 4_000, both=0, judge_only=800)], None)] * 2, **settings)
    assert (wrong.find_verdict(last_day(wrong)), wrong.reading and wrong.reading.rate) == (MonitorVerdict.HOLDS_SO_FAR, 0.0)


def test_anchors_that_alarm_do_not_take_a_corrected_alarm_away() -> None:
    windows: list[Any] = [([labelled_cell(1000, 200, both=36, judge_only=4)], plans.anchors(200, 90))] * 6
    file = file_of(windows, strata=labelled_plan().strata, bets=LABEL_BETS)
    assert file.reading is not None
    assert file.reading.anchors_alarm == 1
    assert (file.find_verdict(last_day(file)), file.is_misled) == (MonitorVerdict.VIOLATED, False)


def test_a_lower_limit_mirrors_labels_as_it_mirrors_scores() -> None:
    cells = [labelled_cell(1000, 200, both=20, judge_only=11, people_only=3)]
    mirrored = [labelled_cell(1000, 800, both=166, judge_only=3, people_only=11)]
    upper = read_evidence(labelled_plan(), [(cells, None)])
    lower = read_evidence(labelled_plan(relation=Relation.AT_LEAST, theta=0.95), [(mirrored, None)])
    assert (upper.log_evidence, upper.lower, upper.average_limit) == pytest.approx(
        (lower.log_evidence, 1 - lower.upper, 1 - lower.average_limit)
    )


@given(items=st.lists(BINARY, min_size=1, max_size=30), late=st.integers(0, 30))
def test_a_label_that_is_late_never_lowers_the_limit_of_the_average(items: list[Item], late: int) -> None:
    """Nor does a suppressed cell, whatever it would have shown."""
    whole = cell_of(items)
    assert whole.labels is not None
    known = [item for item in items if item[1] is not None]
    waiting = known[:late]
    kept = cell_of([*known[late:], *(item for item in items if item[1] is None)]).labels
    assert kept is not None
    before = replace(whole, labels=replace(kept, pending=len(waiting), pending_total=sum(judge for judge, _ in waiting)))
    hidden = StreamCell(items=len(items), suppressed=True, labels=StreamLabels(share=SHARE, most=len(known)))
    start = AverageSequence(bound=1 / SHARE, centre=0.05).add([cell_of([(0.0, None)] * 900 + [(1.0, 1.0)] * 100)])
    limits = [start.add([cell]).find_upper_limit(20) for cell in (whole, before, hidden)]
    assert limits[0] <= limits[1] + 1e-9 <= limits[2] + 2e-9


def test_a_suppressed_cell_counts_against_both_conclusions() -> None:
    seen = ([labelled_cell(5000, 100, both=20, judge_only=0)], None)
    hidden = ([WindowCell(stratum="all", items=100, suppressed=True)], None)
    without, within = (read_evidence(labelled_plan(), data) for data in ([seen], [seen, hidden]))
    assert within.log_evidence < without.log_evidence
    assert within.average_limit > without.average_limit


@pytest.mark.parametrize(
    ("code", "labels"),
    [
        ("cell-impossible", None),
        ("cell-impossible", {"items": 1001}),
        ("cell-impossible", {"items": 190, "pending": 811}),
        ("cell-impossible", {"both": 205}),
        ("cell-impossible", {"people_only": -1}),
        ("cell-impossible", {"pending_total": 1}),
        ("cell-impossible", {"both": 60}),
        ("cell-impossible", {"users": 201}),
        ("cell-too-small", {"users": 19}),
        ("choice-not-random", {"items": 400}),
        ("choice-not-random", {"items": 60, "users": 60}),
    ],
)
def test_a_window_whose_labels_do_not_fit_is_refused(code: str, labels: dict[str, Any] | None) -> None:
    good = labelled_cell(1000, 50, both=8, judge_only=1)
    assert good.labels is not None
    cell = replace(good, labels=None if labels is None else replace(good.labels, **labels))
    monitor = Monitor(monitor=MONITOR, claim="CLM-LAB-2026-0001-E@1", plan=labelled_plan(), by="LAB")
    batch = WindowBatch(monitor=MONITOR, order=1, from_=plans.START, to=plans.START + plans.WEEK, cells=(good,))
    assert fit_batch(batch, monitor).cells == (good,)
    with pytest.raises(CaveatError) as refused:
        fit_batch(replace(batch, cells=(cell,)), monitor)
    assert refused.value.code == code


def test_labels_without_a_planned_share_are_refused() -> None:
    """Neither a window with labels under a plan without them, nor a plan with a share for some strata only."""
    monitor = Monitor(monitor=MONITOR, claim="CLM-LAB-2026-0001-E@1", plan=plans.plan(), by="LAB")
    batch = WindowBatch(monitor=MONITOR, order=1, from_=plans.START, to=plans.START + plans.WEEK)
    with pytest.raises(CaveatError) as refused:
        fit_batch(replace(batch, cells=(labelled_cell(1000, 50, both=8, judge_only=1),)), monitor)
    assert refused.value.code == "monitor-differs-from-lock"
    strata = (MonitorStratum(name="a", inclusion=1.0, label_share=0.2), MonitorStratum(name="b", inclusion=0.1))
    with pytest.raises(ValueError, match="labels lacks the share of b"):
        plans.plan(strata=strata)
    with pytest.raises(ValueError, match=r"must lie in \(0, 1\]"):
        MonitorStratum(name="a", inclusion=1.0, label_share=0.0)


LABELS = "labels: {chosen_at_random: true, share: {flagged: 1, rest: 0.25}}\n"


def test_a_plan_with_labels_is_locked_and_fed(watched: Path, caveat: Caveat, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON and CSV give the same reading; answer and supplement say that labels correct the judge."""
    set_clock(monkeypatch, LOCKED_AT)
    plan = "\n".join(line for line in PLAN.splitlines() if not line.startswith("anchors")).format(claim="CLM-EXAMPLE-2026-0001-T") + "\n"
    for change, code, words in (
        ("labels: {chosen_at_random: false, share: {flagged: 1, rest: 0.25}}", "choice-not-random", "people choose"),
        ("labels: {chosen_at_random: true}", "not-valid", "share"),
        ("labels: {chosen_at_random: true, share: {rest: 0.25}}", "not-valid", "inclusion has flagged, rest"),
        ("labels: {chosen_at_random: true, share: {flagged: 1, rest: 0}}", "not-valid", "must lie in (0, 1]"),
    ):
        Path("wrong.yaml").write_text(f"{plan}{change}\n", encoding="utf-8")
        refused = caveat("monitor", "lock", "wrong.yaml", "--yes")
        assert (refused.error, words in refused.err) == (code, True), refused.err
    Path("labels.yaml").write_text(plan + LABELS, encoding="utf-8")
    locked = caveat("monitor", "lock", "labels.yaml", "--yes", "--json").document["monitor"]
    assert [stratum["label_share"] for stratum in locked["plan"]["strata"]] == [1, 0.25]
    set_clock(monkeypatch, FIRST + timedelta(days=90))
    name, dates = locked["monitor"], ("2027-01-01T00:00:00Z", "2027-01-08T00:00:00Z")
    rows = [("flagged", 400, 400, 40, 390, 400, 30, 10, 2, 390, 0, 0), ("rest", 4000, 400, 20, 390, 97, 1, 4, 0, 99, 2, 1)]
    columns = "stratum,items,reviewed,total,users,labels_items,labels_both,labels_judge_only,labels_people_only,labels_users"
    head = f"monitor,order,from,to,{columns},labels_pending,labels_pending_total"
    lines = [head, *(",".join(map(str, (name, 1, *dates, *row))) for row in rows)]
    Path("week.csv").write_text("\n".join(lines), encoding="utf-8")
    added = caveat("monitor", "add", name, "week.csv", "--json")
    assert added.code == 0, added.err
    shown = caveat("monitor", "show", name)
    text = " ".join(shown.out.split())
    assert "800 reviewed, and people labelled 497 of these" in text
    assert "corrected by labels of people" in text
    assert "chosen at random among reviewed items: flagged with probability 1, rest with probability 0.25" in text
    assert "an alarm may show a change of the judge" not in text
    page = caveat("report", "CLM-EXAMPLE-2026-0001-T", "--html", "-o", "out")
    assert page.code == 0, page.err
    html = next(Path("out").glob("CLM-*.html")).read_text(encoding="utf-8")
    assert "800 of them reviewed and 497 of these labelled by people" in " ".join(html.split())


def test_labels_of_traces_and_exports_are_counted(watched: Path, caveat: Caveat, monkeypatch: pytest.MonkeyPatch) -> None:
    """A label that chance did not choose is refused, and so is an item of which the choice is not known."""
    set_clock(monkeypatch, LOCKED_AT)
    Path("labels.yaml").write_text(PLAN.format(claim="CLM-EXAMPLE-2026-0001-T") + LABELS, encoding="utf-8")
    name = caveat("monitor", "lock", "labels.yaml", "--yes", "--json").document["monitor"]["monitor"]
    set_clock(monkeypatch, FIRST + timedelta(days=90))

    def add(spans: list[dict[str, Any]], *options: str) -> Any:
        Path("traces.json").write_text(json.dumps(traces(spans)), encoding="utf-8")
        return caveat("monitor", "add", name, "traces.json", "--dry-run", *options)

    # The judge calls each tenth bad, and people also the ones after it. Two labels are pending.
    people = {number: {"caveat.label": float(number % 10 < 2)} for number in range(60) if number not in (1, 2)}
    spans = [
        span(number, score=float(number % 10 == 0), **{"caveat.labelled": True, **people.get(number, {})}) for number in range(60)
    ]  # fmt: skip
    read = add(spans, "--json")
    assert read.code == 0, read.err
    assert read.document["reading"]["rate"] == pytest.approx((6 + 60 / 58 * 5) / 60)
    unchosen = span(90, score=0.0, pi=0.1, stratum="rest", **{"caveat.chosen": True, "caveat.labelled": False, "caveat.label": 1.0})
    assert add([*spans, unchosen]).error == "choice-not-random"
    assert add([*spans, span(90, score=0.0)]).error == "inclusion-unknown"
    assert add([*spans, span(90, score=0.0, **{"caveat.labelled": True, "caveat.label": 7.0})]).error == "score-out-of-range"
    # Of each user all items are labelled, or none.
    mixed = span(91, score=0.0, **{"caveat.labelled": False, "caveat.unit": "user-3"})
    assert add([*spans, mixed]).error == "inclusion-differs"
    # Few labels: the cell is suppressed, and no score of it is counted.
    few = [
        span(number, score=1.0, pi=0.1, stratum="rest", **{"caveat.chosen": True, "caveat.labelled": number < 10}) for number in range(40)
    ]
    assert add(few, "--json").document["reading"]["reviewed"] == 0

    metadata = {"caveat.pi": "1", "caveat.stratum": "flagged", "caveat.labelled": "true", "caveat.label": "1"}
    observations = [observe(number, metadata=metadata) for number in range(30)]
    exported = export(Path(), observations, [score(number, 0.0) for number in range(30)])
    assert caveat("monitor", "add", name, exported, "--dry-run", "--json").document["reading"]["rate"] == 1.0
