"""How often a monitor ever raises a wrong alarm, how late it raises a right one, and whether anchors tell judge from system.

Run from the repository root: `python -m benchmarks.monitoring` (some minutes on one core; `--draws 400` for a quick look). Each row is a
simulated stream. Evidence is computed at every item with the formula of `monitoring.statistics`, and compared with that module at chosen
items. Prints a Markdown table and one JSON line; exit 1 when wrong alarms are more frequent than α allows by more than chance (three
standard errors), when a run length is shorter than promised, or when the two computations differ.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta as beta_law

from monitoring.statistics.average_sequence import AverageSequence
from monitoring.statistics.drift_detector import BETS as DRIFT_BETS
from monitoring.statistics.e_process import BETS, find_lower_limit, log_evidence
from monitoring.statistics.stream_tally import StreamCell, StreamTally

ALPHA = 0.05
ITEMS = 3_000
BLOCK = 100
Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One set-up and what it gave."""

    name: str
    share: float
    """Share of streams with an alarm."""
    limit: float | None
    """The largest share that is allowed; None where an alarm is right."""
    note: str = ""


def trace_evidence(weighted: Array, theta: float) -> Array:
    """Return log M after each item of each stream, [stream, item], by the product over items."""
    paths = [np.cumsum(np.log1p(share * (weighted - theta) / theta), axis=1) for share in BETS]
    return np.logaddexp.reduce(paths, axis=0) - math.log(len(BETS))


def draw_blocks(draw: Callable[[np.random.Generator, int], Array], seed: int, draws: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [draw(rng, min(BLOCK, draws - start)) for start in range(0, draws, BLOCK)]


def draw_plain(rate: float, items: int = ITEMS) -> Callable[[np.random.Generator, int], Array]:
    return lambda rng, streams: (rng.random((streams, items)) < rate).astype(float)


def draw_weighted(rate: float) -> Callable[[np.random.Generator, int], Array]:
    """A flag that prefers bad items: flagged items are all reviewed, of the rest one in five."""

    def draw(rng: np.random.Generator, streams: int) -> Array:
        bad = rng.random((streams, ITEMS)) < rate
        flagged = rng.random((streams, ITEMS)) < np.where(bad, 0.8, 0.1)
        inclusion = np.where(flagged, 1.0, 0.2)
        return np.where(rng.random((streams, ITEMS)) < inclusion, bad / inclusion, 0.0)

    return draw


def measure(name: str, draw: Callable[[np.random.Generator, int], Array], theta: float, *, seed: int, draws: int, null: bool) -> Row:
    first: list[float] = []
    for weighted in draw_blocks(draw, seed, draws):
        over = trace_evidence(weighted, theta) >= math.log(1 / ALPHA)
        first.extend(np.where(over.any(axis=1), over.argmax(axis=1) + 1, np.inf))
    share = float(np.isfinite(first).mean())
    note = f"median items to the alarm {np.median(first):.0f}" if not null else ""
    return Row(name=name, share=share, limit=ALPHA if null else None, note=note)


def compare_with_module() -> float:
    """Return the largest difference between the product over items and the module's sums, and check that limit and evidence agree."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for theta in (0.01, 0.05, 0.3):
        weighted = draw_weighted(theta)(rng, 3)
        path = trace_evidence(weighted, theta)
        for stream in range(3):
            for count in (1, 50, 700, ITEMS):
                seen = weighted[stream, :count]
                events = {1.0: float((seen == 1).sum()), 0.2: float((seen == 5).sum())}
                tally = StreamTally(items=count, events={pi: total for pi, total in events.items() if total})
                largest = max(largest, abs(log_evidence(tally, theta) - path[stream, count - 1]))
                low = find_lower_limit(tally, 1 / ALPHA)
                assert (low >= theta) == (log_evidence(tally, theta) >= math.log(1 / ALPHA))
    return largest


def repeat_fixed_limits(draws: int) -> Row:
    wrong = 0
    for scores in draw_blocks(draw_plain(0.05), 5, draws):
        counts = np.cumsum(scores, axis=1)[:, 99::100]
        sizes = np.arange(100, ITEMS + 1, 100)
        low = np.where(counts > 0, beta_law.ppf(ALPHA, np.maximum(counts, 1), sizes - counts + 1), 0)
        wrong += int((low > 0.05).any(axis=1).sum())
    return Row(name="for comparison: a one-sided 95 % limit for a fixed number, looked at every 100 items", share=wrong / draws, limit=None)


def draw_users(rng: np.random.Generator, streams: int, *, means: bool) -> Array:
    propensity = rng.beta(0.5, 9.5, (streams, ITEMS // 5))
    talks = rng.random((streams, ITEMS // 5, 5)) < propensity[:, :, None]
    return talks.mean(axis=2) if means else talks.reshape(streams, -1).astype(float)


def measure_windows(draws: int) -> tuple[Row, Row, float]:
    """Scores between 0 and 1 as sums of windows: evidence from sums is never above that from items."""
    wrong = exact_wrong = 0
    largest = -math.inf
    for scores in draw_blocks(lambda rng, streams: rng.beta(0.2, 3.8, (streams, ITEMS)), 8, draws):
        exact = trace_evidence(scores, 0.05)[:, 99::100]
        sums = np.cumsum(scores, axis=1)[:, 99::100]
        sizes = np.arange(100, ITEMS + 1, 100)
        paths = [sums * np.log1p(f * (1 / 0.05 - 1)) + (sizes - sums) * np.log1p(-f) for f in BETS]
        coarse = np.logaddexp.reduce(paths, axis=0) - math.log(len(BETS))
        largest = max(largest, float((coarse - exact).max()))
        wrong += int((coarse >= math.log(1 / ALPHA)).any(axis=1).sum())
        exact_wrong += int((exact >= math.log(1 / ALPHA)).any(axis=1).sum())
    name = "scores Beta(0.2, 3.8), rate 0.05: sums of windows of 100"
    return (
        Row(name=name, share=wrong / draws, limit=ALPHA),
        Row(name="the same, from items", share=exact_wrong / draws, limit=ALPHA),
        largest,
    )


def measure_incomplete(draws: int) -> Row:
    """Windows of 100 with late labels (bad items are late more often) and a suppressed stratum: null at the limit."""
    rng = np.random.default_rng(17)
    wrong = 0
    for _ in range(draws):
        tally = StreamTally()
        alarm = False
        for _window in range(30):
            bad = rng.random(100) < 0.05
            late = rng.random(100) < np.where(bad, 0.3, 0.05)
            hidden = rng.random(100) < 0.1
            seen = ~late & ~hidden
            counts = {"reviewed": int(seen.sum()), "total": float((bad & seen).sum()), "pending": int((late & ~hidden).sum())}
            tally = tally.add([StreamCell(items=int((~hidden).sum()), **counts), StreamCell(items=int(hidden.sum()), suppressed=True)])
            alarm = alarm or log_evidence(tally, 0.05) >= math.log(1 / ALPHA)
        wrong += alarm
    return Row(name="rate 0.05, late labels that depend on the score, a suppressed tenth", share=wrong / draws, limit=ALPHA)


def measure_delay(draws: int, *, is_upper: bool, rate: float = 0.05) -> Row:
    """Labels that arrive windows later, those of bad items later than others; each window is corrected until its labels are in."""
    rng = np.random.default_rng(18)
    limit = 0.05 if is_upper else 0.95
    wrong = 0
    for _ in range(draws):
        bad = rng.random((30, 100)) < rate
        # A bad item waits for three windows on average, another one for one.
        arrives = np.arange(30)[:, None] + rng.geometric(np.where(bad, 1 / 4, 1 / 2)) - 1
        alarm = False
        for now in range(30):
            seen = arrives[: now + 1] <= now
            # An event of "at most" is a bad item, of "at least" a good one; what is pending is none.
            events = float((seen & (bad[: now + 1] if is_upper else ~bad[: now + 1])).sum())
            tally = StreamTally(items=100 * (now + 1), events={1.0: events} if events else {})
            alarm = alarm or log_evidence(tally, limit) >= math.log(1 / ALPHA)
        wrong += alarm
    side = "at most 0.05" if is_upper else "at least 0.95 good"
    name = f"rate {rate:g}, limit {side}, labels windows late, bad ones later"
    return Row(name=name, share=wrong / draws, limit=ALPHA if rate == 0.05 else None)


def measure_suppressed(draws: int, *, is_upper: bool, rate: float = 0.05) -> Row:
    """Ten strata of about twenty users a window: half of the cells are below the margin of privacy, and give only their size."""
    rng = np.random.default_rng(19)
    limit = 0.05 if is_upper else 0.95
    wrong = 0
    for _ in range(draws):
        sizes = rng.poisson(20, (30, 10))
        bad = rng.binomial(sizes, rate)
        is_shown = sizes >= 20
        counts = np.cumsum(((bad if is_upper else sizes - bad) * is_shown).sum(axis=1))
        items = np.cumsum(sizes.sum(axis=1))
        tallies = (StreamTally(items=int(n), events={1.0: float(k)} if k else {}) for n, k in zip(items, counts, strict=True))
        wrong += any(log_evidence(tally, limit) >= math.log(1 / ALPHA) for tally in tallies)
    side = "at most 0.05" if is_upper else "at least 0.95 good"
    name = f"rate {rate:g}, limit {side}, half of the cells suppressed at 20 users"
    return Row(name=name, share=wrong / draws, limit=ALPHA if rate == 0.05 else None)


def measure_suppressed_average(draws: int) -> Row:
    """The upper limit of the average where labels are late and small cells are suppressed."""
    rng = np.random.default_rng(21)
    wrong, widths = 0, []
    for _ in range(draws):
        sequence, missed = AverageSequence(bound=1.0, centre=0.05), False
        for size in rng.poisson(20, 30):
            large = 100
            bad = rng.random(large) < 0.05
            late = rng.random(large) < np.where(bad, 0.3, 0.05)
            total = float((bad & ~late).sum())
            cells = [StreamCell(items=large, reviewed=int((~late).sum()), total=total, squares=total, pending=int(late.sum()))]
            hidden = float(rng.binomial(size, 0.05))
            is_shown = size >= 20
            cells.append(
                StreamCell(items=int(size), reviewed=int(size), total=hidden, squares=hidden)
                if is_shown
                else StreamCell(items=int(size), suppressed=True)
            )
            sequence = sequence.add(cells)
            missed = missed or sequence.find_upper_limit(1 / ALPHA) < 0.05
        widths.append(sequence.find_upper_limit(1 / ALPHA))
        wrong += missed
    note = f"median limit at the end {np.median(widths):.4f}, average 0.0500"
    name = "upper limit of the average, late labels and cells suppressed at 20 users"
    return Row(name=name, share=wrong / draws, limit=ALPHA, note=note)


def measure_review(draws: int, *, rates: Array, name: str) -> Row:
    """How often "none among n" ever bounds the average rate below what it is, looked at after each item."""
    rng = np.random.default_rng(22)
    averages = np.cumsum(rates) / np.arange(1, len(rates) + 1)
    bounds = 1 - ALPHA ** (1 / np.arange(1, len(rates) + 1))
    # Without an event so far, the bound is wrong where the average is above it.
    quiet = np.cumsum(rng.random((draws, len(rates))) < rates, axis=1) == 0
    wrong = (quiet & (averages > bounds)).any(axis=1)
    return Row(name=name, share=float(wrong.mean()), limit=ALPHA)


def measure_average(draws: int, *, rates: Array, name: str, inclusion: float = 1.0, seed: int = 20) -> Row:
    """How often the upper limit of the average so far is ever below that average; windows of 100."""
    rng = np.random.default_rng(seed)
    wrong = 0
    widths = []
    averages = np.cumsum(rates)[99::100] / np.arange(100, len(rates) + 1, 100)
    for _ in range(draws):
        sequence = AverageSequence(bound=1 / inclusion, centre=0.05)
        missed = False
        bad = rng.random(len(rates)) < rates
        chosen = rng.random(len(rates)) < inclusion
        for window in range(len(rates) // 100):
            place = slice(100 * window, 100 * window + 100)
            total = float((bad[place] & chosen[place]).sum())
            cell = StreamCell(items=100, reviewed=int(chosen[place].sum()), total=total, squares=total, inclusion=inclusion)
            sequence = sequence.add([cell])
            missed = missed or sequence.find_upper_limit(1 / ALPHA) < averages[window]
        widths.append(sequence.find_upper_limit(1 / ALPHA))
        wrong += missed
    return Row(
        name=name, share=wrong / draws, limit=ALPHA, note=f"median limit at the end {np.median(widths):.4f}, average {averages[-1]:.4f}"
    )


def trace_detector(scores: Array, tolerated: float) -> Array:
    """Return log R after each item, [stream, item]."""
    bets = np.array([bet for bet in DRIFT_BETS if bet * tolerated < 1])
    logs = np.full((len(scores), len(bets)), -np.inf)
    path = np.empty(scores.shape)
    for item in range(scores.shape[1]):
        logs = np.logaddexp(logs, 0) + np.log1p(bets[None, :] * (scores[:, item, None] - tolerated))
        path[:, item] = np.logaddexp.reduce(logs, axis=1) - math.log(len(bets))
    return path


def find_alarms(scores: Array, tolerated: float, run_length: float) -> Array:
    """Return the item of the first alarm of each stream, counted from 1; infinite where there is none."""
    over = trace_detector(scores, tolerated) >= math.log(run_length)
    return np.where(over.any(axis=1), over.argmax(axis=1) + 1, np.inf)


def measure_drift(draws: int) -> tuple[Row, Row, float]:
    rng = np.random.default_rng(9)
    streams = min(draws, 2_000)
    quiet = find_alarms((rng.random((streams, 6_000)) < 0.05).astype(float), 0.05, 500)
    mean_length = float(np.minimum(quiet, 6_000).mean())
    rates = np.where(np.arange(3_000) < 1_000, 0.02, 0.10)
    found = find_alarms((rng.random((streams, 3_000)) < rates).astype(float), 0.05, 500)
    delay = float(np.median(found[found > 1_000] - 1_000))
    quiet_row = Row(
        name="drift alarm, A = 500, rate at the tolerated 0.05",
        share=float(np.isfinite(quiet).mean()),
        limit=None,
        note=f"mean run length {mean_length:.0f}",
    )
    changed_row = Row(
        name="drift alarm, 0.02 to 0.10 at item 1,000",
        share=float((found <= 1_000).mean()),
        limit=None,
        note=f"share before the change; median delay {delay:.0f}",
    )
    return quiet_row, changed_row, mean_length


def measure_anchors(draws: int, per_item: float) -> list[Row]:
    """The main alarm is that of a drift detector, as is the anchors'; guard of 300 items."""
    streams = min(draws, 400)
    rows = []
    for seed, changes in ((30, "judge"), (31, "system"), (32, "nothing")):
        rng = np.random.default_rng(seed)
        after = np.arange(4_000) >= 1_500
        rate = np.where(after & (changes == "system"), 0.12, 0.05)
        false_positive = np.where(after & (changes == "judge"), 0.11, 0.03)
        bad = rng.random((streams, 4_000)) < rate
        judged = bad | (rng.random((streams, 4_000)) < false_positive)
        main = find_alarms(judged.astype(float), 0.10, 1_000)
        anchored = rng.random((streams, 4_000)) < per_item
        wrong = (rng.random((streams, 4_000)) < false_positive) & anchored
        # An item without an anchor leaves the detector as it is: it is a step of the stream, and none of the anchors.
        anchors = np.full(streams, np.inf)
        for stream in range(streams):
            places = np.flatnonzero(anchored[stream])
            step = find_alarms(wrong[stream, places][None, :].astype(float), 0.05, 1_000)[0]
            anchors[stream] = places[int(step) - 1] + 1 if np.isfinite(step) else np.inf
        alarmed = np.isfinite(main)
        says_judge = alarmed & (anchors <= main + 300)
        if changes == "nothing":
            share = float((alarmed | np.isfinite(anchors)).mean())
            rows.append(Row(name=f"anchors {per_item:g} an item, nothing changes: some alarm", share=share, limit=None))
            continue
        right = says_judge if changes == "judge" else alarmed & ~says_judge
        name = f"anchors {per_item:g} an item, the {changes} changes: attributed rightly"
        share = float(right.sum() / max(alarmed.sum(), 1))
        rows.append(Row(name=name, share=share, limit=None, note=f"{alarmed.mean():.0%} alarmed"))
    return rows


def simulate(draws: int) -> tuple[list[Row], list[str]]:
    failed = []
    falling = np.where(np.arange(2_000) < 500, 0.09, 0.02)
    # A week of 100 items a day: two days in seven have a higher rate, 0.0501 on average.
    weekly = np.where(np.arange(ITEMS) // 100 % 7 >= 5, 0.10, 0.032)
    streams: list[tuple[str, Callable[[np.random.Generator, int], Array], float, bool]] = [
        ("rate 0.05, limit 0.05, all items", draw_plain(0.05), 0.05, True),
        ("rate 0.01, limit 0.01, all items", draw_plain(0.01), 0.01, True),
        ("rate 0.05, limit 0.05, flagged items and one in five", draw_weighted(0.05), 0.05, True),
        ("rate 0.08, limit 0.05, all items", draw_plain(0.08), 0.05, False),
        ("rate 0.08, limit 0.05, flagged items and one in five", draw_weighted(0.08), 0.05, False),
        ("five conversations a user, conversations as items", lambda rng, count: draw_users(rng, count, means=False), 0.05, False),
        ("five conversations a user, users as items", lambda rng, count: draw_users(rng, count, means=True), 0.05, True),
        (
            "rate 0.09 for 500 items, then 0.02 (average 0.0375)",
            lambda rng, count: (rng.random((count, 2_000)) < falling).astype(float),
            0.05,
            False,
        ),
        (
            "a 7-day cycle, 0.032 and on two days 0.10; limit 0.10",
            lambda rng, count: (rng.random((count, ITEMS)) < weekly).astype(float),
            0.10,
            True,
        ),
        (
            "the same, limit 0.06: above it on two days, below it on average",
            lambda rng, count: (rng.random((count, ITEMS)) < weekly).astype(float),
            0.06,
            False,
        ),
    ]
    rows = [
        measure(name, draw, theta, seed=seed, draws=draws, null=null) for seed, (name, draw, theta, null) in enumerate(streams, start=1)
    ]
    rows.append(repeat_fixed_limits(draws))
    coarse, exact, excess = measure_windows(draws)
    rows += [coarse, exact, measure_incomplete(draws // 4)]
    rows += [measure_delay(draws, is_upper=is_upper) for is_upper in (True, False)]
    rows += [measure_suppressed(draws, is_upper=is_upper) for is_upper in (True, False)]
    # The price of caution: how often a rate of twice or four times the limit is still seen.
    rows += [measure_delay(draws // 4, is_upper=True, rate=rate) for rate in (0.1, 0.2)]
    rows += [measure_suppressed(draws // 4, is_upper=True, rate=rate) for rate in (0.1, 0.2)]
    if excess > 1e-9:
        failed.append(f"evidence from sums exceeds that from items by {excess}")
    steady, turning = np.full(3_000, 0.05), np.where(np.arange(3_000) < 1_500, 0.09, 0.02)
    rows += [
        measure_average(draws // 4, rates=steady, name="upper limit of the average, rate 0.05"),
        measure_average(draws // 4, rates=turning, name="upper limit of the average, 0.09 then 0.02"),
        measure_average(draws // 4, rates=weekly, name="upper limit of the average, a 7-day cycle"),
        measure_average(draws // 4, rates=steady, name="upper limit of the average, one item in five reviewed", inclusion=0.2),
    ]
    rows.append(measure_suppressed_average(draws // 4))
    rising = np.where(np.arange(1_000) < 300, 0.001, 0.02)
    rows += [
        measure_review(draws, rates=np.full(1_000, 0.01), name="incidents: the bound of none among n, rate 0.01"),
        measure_review(draws, rates=rising, name="incidents: the same, 0.001 then 0.02"),
    ]
    quiet, changed, mean_length = measure_drift(draws)
    rows += [quiet, changed]
    if mean_length < 500:
        failed.append(f"mean run length {mean_length:.0f} is below 500")
    for per_item in (1.0, 0.5, 0.25):
        rows += measure_anchors(draws, per_item)
    difference = compare_with_module()
    if difference > 1e-8:
        failed.append(f"module and simulation differ by {difference}")
    for row in rows:
        slack = 0.0 if row.limit is None else 3 * math.sqrt(row.limit * (1 - row.limit) / draws)
        failed += [row.name] if row.limit is not None and row.share > row.limit + slack else []
    return rows, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4_000)
    draws = parser.parse_args().draws
    start = time.perf_counter()
    rows, failed = simulate(draws)
    print("| stream | share with an alarm | allowed | |")
    print("|---|---|---|---|")
    for row in rows:
        print(f"| {row.name} | {row.share:.2%} | {'' if row.limit is None else f'{row.limit:.0%}'} | {row.note} |")
    print(json.dumps({"draws": draws, "failed": failed, "seconds": round(time.perf_counter() - start, 1)}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
