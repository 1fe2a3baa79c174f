"""What a monitor may say: an alarm counts only where nothing else explains it, and no alarm is no verdict by itself."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from monitoring.evidence import WindowData, read_evidence
from registry.records.claim import Relation
from registry.records.dossier import MonitorFile, Recorded
from registry.records.monitor import (
    AnchorCounts,
    Attribution,
    Evaluability,
    Monitor,
    MonitorDesign,
    MonitorEnd,
    MonitorState,
    MonitorStratum,
    MonitorVerdict,
    StreamUnit,
    is_chosen_as_planned,
)
from registry.records.statement import Entry
from registry.report.supplement_wording import describe_joint_error, describe_production
from tests.monitoring.plans import ANCHORS, START, WEEK, anchors, cell, plan, windows_of

MONITOR = "MON-LAB-2026-0001-C"
QUIET: WindowData = ([cell(1000, 20)], anchors(200, 2))
BAD: WindowData = ([cell(1000, 200)], anchors(200, 2))


def file_of(data: list[WindowData], *, ended: bool = False, **changes: Any) -> MonitorFile:
    """A monitor that reported *data*."""

    def recorded(payload: Any) -> Recorded[Any]:
        return Recorded(entry=Entry(seq=1, kind=payload.KIND, actor="LAB", at=START, leaf="ab" * 32), payload=payload)

    monitor = Monitor(monitor=MONITOR, claim="CLM-LAB-2026-0001-E@1", plan=plan(**({"anchors": ANCHORS} | changes)), by="LAB")
    end = recorded(MonitorEnd(monitor=MONITOR, claim=monitor.claim, reason="over")) if ended else None
    return MonitorFile(monitor=recorded(monitor), windows=tuple(map(recorded, windows_of(monitor, data))), ended=end)


def last_day(file: MonitorFile) -> date:
    return (file.current[-1].stop if file.windows else START).date()


def verdict_of(data: list[WindowData], **changes: Any) -> MonitorVerdict:
    file = file_of(data, **changes)
    return file.find_verdict(last_day(file))


def test_an_alarm_with_quiet_anchors_is_a_violation() -> None:
    file = file_of([QUIET, BAD, BAD, BAD, BAD, BAD])
    reading = file.reading
    assert reading is not None
    assert reading.alarm == 2
    assert reading.attribution is Attribution.SYSTEM
    assert file.find_verdict(last_day(file)) is MonitorVerdict.VIOLATED
    assert file.list_doubts() == ()


def test_a_limit_that_the_words_do_not_state_is_neither_violated_nor_kept() -> None:
    """The word "rarely" says nothing of a limit of 5 %."""
    file = file_of([QUIET, BAD, BAD, BAD, BAD, BAD], is_limit_stated=False)
    assert file.find_verdict(last_day(file)) is MonitorVerdict.IN_DOUBT
    assert file.list_doubts() == ("the words of the claim do not state the limit",)
    quiet: WindowData = ([cell(4000, 20)], anchors(400, 2))
    assert verdict_of([quiet] * 4) is MonitorVerdict.HOLDS_SO_FAR
    assert verdict_of([quiet] * 4, is_limit_stated=False) is MonitorVerdict.OPEN


def test_until_the_guard_is_over_an_alarm_is_in_doubt() -> None:
    file = file_of([QUIET, BAD])
    assert file.reading is not None
    assert file.reading.attribution is Attribution.OPEN
    assert file.find_verdict(last_day(file)) is MonitorVerdict.IN_DOUBT


def test_an_alarm_with_an_alarm_of_the_anchors_is_the_judge() -> None:
    wrong: WindowData = ([cell(1000, 200)], anchors(200, 60))
    assert verdict_of([QUIET, wrong, wrong]) is MonitorVerdict.JUDGE_CHANGED


def test_anchors_that_alarm_after_the_guard_speak_of_a_later_time() -> None:
    wrong: WindowData = ([cell(1000, 200)], anchors(200, 60))
    assert verdict_of([QUIET, BAD, BAD, BAD, BAD, BAD, wrong]) is MonitorVerdict.VIOLATED


def test_a_judge_that_changes_after_a_small_alarm_gives_no_violation() -> None:
    """The first alarm is one that tolerated errors explain; the evidence beyond them comes with the judge's change, and proves nothing."""
    slightly: WindowData = ([cell(4000, 320)], anchors(200, 2))
    broken: WindowData = ([cell(4000, 1600)], anchors(200, 70))
    file = file_of([slightly, slightly, slightly, slightly, broken])
    assert file.reading is not None
    assert (file.reading.attribution, file.reading.anchors_alarm) == (Attribution.SYSTEM, 5)
    assert file.find_verdict(last_day(file)) is MonitorVerdict.IN_DOUBT
    assert "after the evidence exceeded" in file.list_doubts()[0]


def test_evidence_needs_quiet_anchors_after_itself() -> None:
    """The guard of a small alarm is over, and the evidence beyond tolerated errors is new."""
    slightly: WindowData = ([cell(4000, 320)], anchors(200, 2))
    large: WindowData = ([cell(4000, 1600)], anchors(200, 2))
    assert verdict_of([slightly, slightly, slightly, slightly, large]) is MonitorVerdict.IN_DOUBT
    assert verdict_of([slightly, slightly, slightly, slightly, *([large] * 4)]) is MonitorVerdict.VIOLATED


def test_anchors_that_are_planned_and_never_scored_support_nothing() -> None:
    without: WindowData = ([cell(1000, 20)], None)
    assert verdict_of([without] * 6) is MonitorVerdict.OPEN
    assert verdict_of([*([QUIET] * 5), without]) is MonitorVerdict.OPEN
    assert verdict_of([without, *([BAD] * 6)]) is MonitorVerdict.IN_DOUBT


@pytest.mark.parametrize(
    "changes",
    [
        {"anchors": None},
        {"design": MonitorDesign.COUNTS},
        {"evaluability": Evaluability.SURROGATE_ONLY},
        {"evaluability": Evaluability.DELAYED_EVALUABLE},
        {"unit": StreamUnit.CONVERSATION},
    ],
)
def test_a_plan_that_leaves_an_explanation_never_gives_more_than_doubt(changes: dict[str, Any]) -> None:
    assert verdict_of([QUIET, BAD, BAD, BAD], **changes) is MonitorVerdict.IN_DOUBT
    assert verdict_of([QUIET] * 6, **changes) is MonitorVerdict.OPEN


def test_an_alarm_that_tolerated_judge_errors_would_explain_is_in_doubt() -> None:
    """The rate is above 5 %, and a judge that is wrong on 5 % of good items would give 10 % at a rate of 5 %."""
    slightly: WindowData = ([cell(4000, 320)], anchors(200, 2))
    file = file_of([slightly] * 4)
    assert file.reading is not None
    assert file.reading.alarm is not None
    assert file.reading.attribution is Attribution.SYSTEM
    assert file.find_verdict(last_day(file)) is MonitorVerdict.IN_DOUBT
    assert "would explain the alarm" in file.list_doubts()[0]


def test_a_low_average_holds_so_far_and_a_silence_withdraws_it() -> None:
    file = file_of([QUIET] * 6)
    assert file.find_verdict(last_day(file)) is MonitorVerdict.HOLDS_SO_FAR
    later = (file.current[-1].stop + 4 * WEEK).date()
    assert file.find_state(later) is MonitorState.SILENT
    assert file.find_verdict(later) is MonitorVerdict.OPEN
    assert "no window came for longer than planned" in describe_production(file, later)


def test_a_window_without_data_withdraws_holds_so_far() -> None:
    assert verdict_of([*([QUIET] * 6), ([], None)]) is MonitorVerdict.OPEN


def test_a_gap_and_the_end_of_a_silent_monitor_restore_nothing() -> None:
    assert verdict_of([QUIET, QUIET, ([], None), *([QUIET] * 6)]) is MonitorVerdict.OPEN
    assert verdict_of([*([QUIET] * 6), ([], None)], ended=True) is MonitorVerdict.OPEN
    assert "window 3 has no data" in file_of([QUIET, QUIET, ([], None), QUIET]).list_doubts()[0]
    file = file_of([QUIET] * 6)
    over = Recorded(
        entry=Entry(seq=9, kind="monitor_end", actor="LAB", at=file.current[-1].stop + 9 * WEEK, leaf="ab" * 32),
        payload=MonitorEnd(monitor=MONITOR, claim="CLM-LAB-2026-0001-E@1", reason="over"),
    )
    assert replace(file, ended=over).find_verdict(None) is MonitorVerdict.OPEN


def test_items_that_were_not_chosen_as_planned_settle_nothing() -> None:
    """Of 10,000 items 1,000 were reviewed, 8 % of them bad; the plan reviews all. And 3 % bad is no alarm because all were reviewed."""
    few: WindowData = ([cell(10_000, 80, reviewed=1000)], anchors(200, 2))
    assert verdict_of([few] * 6) is MonitorVerdict.OPEN
    strata = (MonitorStratum(name="all", inclusion=0.01),)
    many: WindowData = ([cell(1000, 30)], anchors(200, 2))
    file = file_of([many] * 6, strata=strata)
    assert file.find_verdict(last_day(file)) is MonitorVerdict.IN_DOUBT
    assert "6,000 of 6,000 items of all were chosen for review, where the plan chooses each with probability 0.01" in file.list_doubts()


@pytest.mark.parametrize(("chosen", "expected"), [(980, True), (1130, True), (870, True), (1200, False), (820, False), (0, False)])
def test_a_number_of_chosen_items_fits_its_probability_or_not(chosen: int, expected: bool) -> None:  # noqa: FBT001
    """Of 10,000 items with probability 0.1 about 1,000 are chosen, with a standard deviation of 30."""
    assert is_chosen_as_planned(items=10_000, chosen=chosen, inclusion=0.1) is expected


def test_anchors_of_the_other_kind_do_not_show_that_the_judge_is_right() -> None:
    """Bad anchors cannot show false positives, which could explain an alarm, and good ones no bad items that the judge misses."""
    only_bad = AnchorCounts(good=0, bad=200, false_positive=0, false_negative=0)
    assert verdict_of([QUIET, *([([cell(1000, 200)], only_bad)] * 6)]) is MonitorVerdict.IN_DOUBT
    only_good = AnchorCounts(good=200, bad=0, false_positive=0, false_negative=0)
    assert verdict_of([([cell(1000, 5)], only_good)] * 6) is MonitorVerdict.OPEN


def test_users_that_are_never_reviewed_count_as_bad() -> None:
    file = file_of([([cell(1000, 1)], anchors(200, 2))] * 6)
    assert file.find_verdict(last_day(file)) is MonitorVerdict.HOLDS_SO_FAR
    for share, verdict in ((0.01, MonitorVerdict.HOLDS_SO_FAR), (0.06, MonitorVerdict.OPEN)):
        windows = tuple(replace(recorded, payload=replace(recorded.payload, opted_out=share)) for recorded in file.windows)
        assert replace(file, windows=windows).find_verdict(last_day(file)) is verdict


def test_a_rate_that_a_blind_judge_would_hide_does_not_hold() -> None:
    """The judge may miss one bad item in five: an average of 4.3 % as judged can be 5.4 %."""
    close: WindowData = ([cell(20_000, 820)], anchors(200, 2))
    file = file_of([close] * 6)
    assert file.reading is not None
    assert 0.04 < file.reading.average_limit < 0.05
    assert file.find_verdict(last_day(file)) is MonitorVerdict.OPEN


def test_nothing_is_settled_before_the_first_window() -> None:
    file = file_of([])
    assert file.find_state(START.date()) is MonitorState.LOCKED
    assert file.find_verdict(START.date()) is MonitorVerdict.OPEN


def test_an_alarm_stays_whatever_comes() -> None:
    file = file_of([QUIET, BAD, *([QUIET] * 20)])
    assert file.reading is not None
    assert file.reading.alarm == 2
    assert file.find_state(None) is MonitorState.ALARM
    reading = read_evidence(file.plan, [QUIET, QUIET], raised=(2, Attribution.SYSTEM))
    assert (reading.alarm, reading.attribution) == (2, Attribution.SYSTEM)


def test_a_lower_limit_is_an_upper_limit_of_the_opposite() -> None:
    upper = read_evidence(plan(anchors=ANCHORS), [QUIET, BAD])
    turned = [([cell(1000, 980)], anchors(200, 2)), ([cell(1000, 800)], anchors(200, 2))]
    lower = read_evidence(plan(anchors=ANCHORS, relation=Relation.AT_LEAST, theta=0.95), turned)
    assert lower.log_evidence == pytest.approx(upper.log_evidence, abs=1e-9)
    assert lower.upper == pytest.approx(1 - upper.lower, abs=1e-9)
    assert lower.average_limit == pytest.approx(1 - upper.average_limit, abs=1e-9)
    assert (lower.alarm, lower.attribution) == (upper.alarm, upper.attribution)


def test_several_claims_need_more_evidence() -> None:
    one, twelve = (read_evidence(plan(family=family), [QUIET, ([cell(300, 30)], None)]) for family in (1, 12))
    assert one.log_evidence == twelve.log_evidence
    assert twelve.lower < one.lower
    assert twelve.average_limit > one.average_limit


def test_the_same_windows_give_the_same_reading_in_any_order_of_cells() -> None:
    strata = (MonitorStratum(name="flagged", inclusion=1.0), MonitorStratum(name="rest", inclusion=0.1))
    two = [cell(300, 20, stratum="flagged"), cell(3000, 9, stratum="rest", reviewed=300)]
    assert read_evidence(plan(strata=strata), [(two, None)]) == read_evidence(plan(strata=strata), [(two[::-1], None)])


@pytest.mark.parametrize(
    "changes",
    [
        {"theta": 0},
        {"theta": 1},
        {"alpha": 0.5},
        {"family": 0},
        {"every_days": 0},
        {"silent_after_days": 3},
        {"strata": ()},
        {"bets": (1.0,)},
        {"min_users": 0},
        {"start": START.replace(tzinfo=None)},
    ],
)
def test_a_plan_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        plan(**changes)


@pytest.mark.parametrize(
    ("families", "alpha", "error"),
    [((1,), 0.05, None), ((1, 1), 0.05, "at most 10.00 %"), ((1, 2, 4), 0.04, "at most 7.00 %"), ((1, 1, 1), 0.4, "that nothing bounds")],
)
def test_several_monitors_of_one_claim_have_the_sum_of_their_errors(families: tuple[int, ...], alpha: float, error: str | None) -> None:
    """Whatever family each plan states: whoever locks several looks for the one that suits. One of these contradicts the claim."""
    files = [file_of([QUIET, *[BAD] * 5], alpha=alpha, family=families[0])]
    files += [file_of([QUIET], alpha=alpha, family=family) for family in families[1:]]
    text = describe_joint_error(files, last_day(files[0]))

    if error is None:
        assert text is None
    else:
        assert text is not None
        assert text.startswith(f"{len(families)} monitors watch this claim, and 1 of them contradict")
        assert text.endswith(error)
