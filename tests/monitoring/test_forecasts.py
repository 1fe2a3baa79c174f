"""`caveat forecast`: an audit's estimate is locked before release, and compared with what the monitor saw."""

import math
import re
from datetime import timedelta
from pathlib import Path

import pytest

from monitoring.statistics.observed_rate import estimate_rate, log_ratio, widen
from monitoring.statistics.stream_tally import StreamCell
from registry.records.monitor import Monitor
from registry.report.forecast_wording import describe_error
from tests.cli.conftest import Caveat
from tests.cli.scenario import write_audit, write_scores
from tests.monitoring import plans
from tests.monitoring.conftest import FIRST, LOCKED_AT, MONITOR, set_clock
from tests.monitoring.conftest import window as build_window
from tests.monitoring.test_monitor_commands import CLAIM, Write


def conclude(caveat: Caveat, folder: Path, monkeypatch: pytest.MonkeyPatch, *, deploy: float) -> str:
    """Conclude an audit of the watched claim before its stream begins; return it."""
    set_clock(monkeypatch, LOCKED_AT + timedelta(hours=2))
    scores = write_scores(folder / "scores.csv", test=0.03, deploy=deploy)
    audit = write_audit(folder, f"{CLAIM}@1", extra="plan: {replicates: 0}\n")
    done = caveat("audit", "conclude", audit, scores, "--json")
    assert done.code == 0, done.err
    return str(done.document["audit"])


def test_a_forecast_is_locked_and_scored(watched: Path, caveat: Caveat, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """What production showed is compared with the interval, the factor and the direction; supplement and list have hits and misses."""
    audit = conclude(caveat, watched, monkeypatch, deploy=0.04)
    locked = caveat("forecast", "lock", audit, "--baseline", "0.2", "--yes", "--json").document
    again = caveat("forecast", "lock", audit, "--baseline", "0.2", "--yes", "--json").document
    early = caveat("forecast", "score", MONITOR)
    set_clock(monkeypatch, FIRST + timedelta(days=90))
    caveat("monitor", "add", MONITOR, write(build_window(1, bad=0.03)))

    scored = caveat("forecast", "score", MONITOR, "--json").document["scores"]
    known = caveat("forecast", "score", MONITOR)
    listed = caveat("forecast", "list", "--json").document["forecasts"]
    caveat("monitor", "show", MONITOR, "--figure", "band.svg")
    page = caveat("report", CLAIM, "--html", "-o", "out")

    forecast = locked["forecast"]
    assert (locked["new"], again["new"], again["entry"]) == (True, False, locked["entry"])
    assert forecast["low"] < forecast["rate"] < forecast["high"]
    assert early.error == "forecast-not-due"
    (score,) = scored
    assert (score["held"], score["within"], score["distinguishable"], score["direction"]) == (True, True, False, True)
    assert score["observed"] == pytest.approx(0.03)
    assert score["log_ratio"] == pytest.approx(math.log10(forecast["rate"] / 0.03))
    assert [tracked["held"] for tracked in score["track"]] == [True]
    assert "not distinguishable (recorded already)" in " ".join(known.out.split())
    assert [(row["held"], row["within"]) for row in listed] == [(True, True)]
    assert page.code == 0, page.err
    html = next((watched / "out").glob("CLM-*.html")).read_text(encoding="utf-8")
    assert "EXAMPLE has made 1 forecast for LAB in this log: 1 scored, 1 with the observed rate in the interval" in html
    band = re.search(r'<polygon points="[^"]+"', Path("band.svg").read_text(encoding="utf-8"))
    assert band is not None
    assert band[0] in html
    assert caveat("admin", "log", "check").code == 0


def test_a_miss_stays_and_a_correction_is_scored_anew(watched: Path, caveat: Caveat, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval misses; after a correction of the window a second score takes the place of the first."""
    audit = conclude(caveat, watched, monkeypatch, deploy=0.5)
    caveat("forecast", "lock", audit, "--yes")
    set_clock(monkeypatch, FIRST + timedelta(days=90))
    caveat("monitor", "add", MONITOR, write(build_window(1, bad=0.0)))
    missed = caveat("forecast", "score", MONITOR, "--json").document["scores"][0]
    caveat("monitor", "add", MONITOR, write(build_window(1, bad=0.02)), "-m", "labels were late")
    corrected = caveat("forecast", "score", MONITOR, "--json").document["scores"][0]

    assert (missed["held"], missed["within"], missed["distinguishable"], missed["zeros"]) == (False, False, True, ["observed"])
    assert (corrected["new"], corrected["observed"]) == (True, pytest.approx(0.02))
    assert [row["observed"] for row in caveat("forecast", "list", "--json").document["forecasts"]] == [pytest.approx(0.02)]


def test_what_a_forecast_cannot_be(watched: Path, caveat: Caveat, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too late, a second one, an audit without an estimate, a monitor without a forecast: each by its code, and nothing is recorded."""
    audit = conclude(caveat, watched, monkeypatch, deploy=0.04)
    bare = str(caveat("audit", "open", write_audit(watched, f"{CLAIM}@1", extra="question: another\n"), "--json").document["audit"])
    empty = caveat("forecast", "score", MONITOR)
    without = caveat("forecast", "lock", bare, "--yes")
    unknown = caveat("forecast", "lock", audit, "--spec", "chat", "--yes")
    wrong = caveat("forecast", "lock", audit, "--baseline", "7", "--yes")
    tried = caveat("forecast", "lock", audit, "--dry-run", "--json").document
    caveat("forecast", "lock", audit, "--yes")
    second = caveat("forecast", "lock", audit, "--due", "2027-02-01", "--yes")
    set_clock(monkeypatch, FIRST + timedelta(hours=1))
    late = caveat("forecast", "lock", audit, "--due", "2027-02-02", "--yes")

    answers = (empty, without, unknown, wrong, second, late)
    assert [answer.error for answer in answers] == [
        "not-registered",
        "forecast-not-possible",
        "forecast-not-possible",
        "bad-option",
        "forecast-differs",
        "forecast-too-late",
    ]
    assert (tried["dry_run"], tried["entry"]) == (True, None)


def test_an_estimate_of_another_models_responses_is_no_forecast(watched: Path, caveat: Caveat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its figures are none of the claim's model, so nothing can be expected of that from them."""
    set_clock(monkeypatch, LOCKED_AT + timedelta(hours=2))
    caveat("model", "endpoint", "LAB/M/1", "m-1", "--reason", "The lab says so")
    scores = write_scores(watched / "scores.csv", test=0.03, deploy=0.04, model="rival-7")
    audit = write_audit(watched, f"{CLAIM}@1", extra="plan: {replicates: 0}\n")
    concluded = caveat("audit", "conclude", audit, scores, "--json")
    assert concluded.code == 0, concluded.err
    done = concluded.document

    answer = caveat("forecast", "lock", done["audit"], "--yes")

    assert done["restriction"]["asked"]["status"] == "other"
    assert answer.error == "forecast-not-possible"
    assert "another model version" in answer.err


def test_a_withdrawn_audit_is_no_forecast(watched: Path, caveat: Caveat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its auditor no longer stands by its figures."""
    set_clock(monkeypatch, LOCKED_AT + timedelta(hours=2))
    scores = write_scores(watched / "scores.csv", test=0.03, deploy=0.04)
    audit = caveat("audit", "conclude", write_audit(watched, f"{CLAIM}@1", extra="plan: {replicates: 0}\n"), scores, "--json")
    assert audit.code == 0, audit.err
    withdrawn = caveat("audit", "withdraw", audit.document["audit"], "-m", "the scorer was wrong", "--yes")
    assert withdrawn.code == 0, withdrawn.err

    answer = caveat("forecast", "lock", audit.document["audit"], "--yes")

    assert answer.error == "forecast-not-possible"
    assert "the scorer was wrong" in answer.err


def test_a_miss_says_where_the_observed_interval_reaches_into_the_forecast() -> None:
    """Of few items, a rate outside the interval is no clear miss."""
    monitor = Monitor(monitor=MONITOR, claim=f"{CLAIM}@1", plan=plans.plan(), by="EXAMPLE")
    made = plans.forecast(monitor, "AUD-EXAMPLE-2026-0001-H", by="EXAMPLE")
    few = plans.forecast_score(made, 9, observed=0.0, observed_low=0.0, observed_high=0.6, held=False)
    many = plans.forecast_score(made, 9, observed=0.01, observed_low=0.008, observed_high=0.012, held=False)

    assert describe_error(made, few).endswith("misses the observed rate (interval 0.00 % to 60.00 %, which overlaps it)")
    assert describe_error(made, many).endswith("its interval misses the observed rate")


def test_no_direction_is_scored_while_the_observed_interval_contains_the_baseline(
    watched: Path, caveat: Caveat, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rate 1.6 times the baseline may be no change at all."""
    audit = conclude(caveat, watched, monkeypatch, deploy=0.04)
    caveat("forecast", "lock", audit, "--baseline", "0.019", "--yes")
    set_clock(monkeypatch, FIRST + timedelta(days=90))
    caveat("monitor", "add", MONITOR, write(build_window(1, bad=0.03)))

    (score,) = caveat("forecast", "score", MONITOR, "--json").document["scores"]

    assert score["observed"] / 0.019 > 1.5
    assert score["observed_low"] < 0.019
    assert score["direction"] is None


def test_the_observed_rate_is_that_of_survey_sampling() -> None:
    """All reviewed: Clopper & Pearson's limits of 3 in 100, as R's binom.test gives them; one in ten reviewed: the same rate, wider."""
    whole = estimate_rate([StreamCell(items=100, reviewed=100, total=3, squares=3)], level=0.95)
    rest = StreamCell(items=500, reviewed=50, total=1.5, squares=1.5, inclusion=0.1)
    sampled = estimate_rate([StreamCell(items=50, reviewed=50, total=1.5, squares=1.5), rest], level=0.95)

    assert whole is not None
    assert sampled is not None
    assert (whole.rate, whole.low, whole.high) == pytest.approx((0.03, 0.006229972, 0.085176053))
    assert sampled.rate == pytest.approx(0.03)
    assert sampled.effective == pytest.approx(550**2 / (50 + 50 * 100))
    assert sampled.high > whole.high
    assert estimate_rate([StreamCell(items=9)], level=0.95) is None


def test_what_was_not_seen_widens_the_interval() -> None:
    """A suppressed cell may have no event, or only events; a rate of zero counts as half an event in the error."""
    cells = [StreamCell(items=100, reviewed=100, total=0, squares=0), StreamCell(items=25, suppressed=True)]
    observed = estimate_rate(cells, level=0.95)
    assert observed is not None
    wide = widen(observed, cells)

    assert (observed.rate, observed.low) == (0.0, 0.0)
    assert observed.high == pytest.approx(1 - 0.025 ** (1 / 100))
    assert (wide.low, wide.high) == pytest.approx((0.0, 0.8 * observed.high + 0.2))
    assert log_ratio(0.05, 0.0, forecast_items=200, observed_items=100) == pytest.approx(math.log10(0.05 / (0.5 / 101)))
    assert log_ratio(0.0, 0.01, forecast_items=199, observed_items=100) == pytest.approx(math.log10(0.5 / 200 / 0.01))
