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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta as beta_law

from monitoring.statistics.average_sequence import AverageSequence
from monitoring.statistics.drift_detector import BETS as DRIFT_BETS
from monitoring.statistics.e_process import BETS, LABEL_BETS, find_lower_limit, log_evidence
from monitoring.statistics.stream_tally import StreamCell, StreamLabels, StreamTally

ALPHA = 0.05
ITEMS = 3_000
BLOCK = 100
Array = np.ndarray
Draw = Callable[[np.random.Generator, int], Array]
"""Draws values of some streams, [stream, item]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One set-up and what it gave."""

    name: str
    share: float
    """Share of streams with an alarm."""
    limit: float | None
    """The largest share that is allowed; None where an alarm is right."""
    note: str = ""


def trace_evidence(weighted: Array, theta: float, *, floor: float = 0.0) -> Array:
    """Return log M after each item of each stream, [stream, item], by the product over items; *floor* is the smallest score."""
    bets = LABEL_BETS if floor else BETS
    highest = np.full(weighted.shape, -np.inf)
    for share in bets:
        highest = np.logaddexp(highest, np.cumsum(np.log1p(share * (weighted - theta) / (theta - floor)), axis=1))
    return highest - math.log(len(bets))


def draw_blocks(draw: Draw, seed: int, draws: int) -> Iterator[Array]:
    rng = np.random.default_rng(seed)
    return (draw(rng, min(BLOCK, draws - start)) for start in range(0, draws, BLOCK))


def draw_plain(rate: float, items: int = ITEMS) -> Draw:
    return lambda rng, streams: (rng.random((streams, items)) < rate).astype(float)


def draw_flags(rng: np.random.Generator, streams: int, rate: float) -> tuple[Array, Array, Array]:
    """A flag that prefers bad items: flagged items are all reviewed, of the rest one in five. Return bad, flagged, reviewed."""
    bad = rng.random((streams, ITEMS)) < rate
    flagged = rng.random((streams, ITEMS)) < np.where(bad, 0.8, 0.1)
    return bad, flagged, rng.random((streams, ITEMS)) < np.where(flagged, 1.0, 0.2)


def draw_weighted(rate: float) -> Draw:
    def draw(rng: np.random.Generator, streams: int) -> Array:
        bad, flagged, reviewed = draw_flags(rng, streams, rate)
        return np.where(reviewed, bad / np.where(flagged, 1.0, 0.2), 0.0)

    return draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A judge with its errors, and the share of items that people label."""

    false_positive: float | Array
    """By item, or the same for all."""
    false_negative: float
    share: float
    inclusion: float = 1.0
    """The share of items that the judge sees."""

    @property
    def floor(self) -> float:
        """The smallest weighted score."""
        return (1 - 1 / self.share) / self.inclusion

    def draw(self, rng: np.random.Generator, streams: int, rate: float, items: int) -> tuple[Array, Array, Array]:
        """Return which items are bad, which the judge calls bad, and which people label."""
        bad = rng.random((streams, items)) < rate
        judged = rng.random((streams, items)) < np.where(bad, 1 - self.false_negative, self.false_positive)
        return bad, judged, rng.random((streams, items)) < self.share

    def weight(self, rate: float, items: int = ITEMS) -> Draw:
        """Return what draws the judge's scores, corrected by people's labels."""

        def draw(rng: np.random.Generator, streams: int) -> Array:
            bad, judged, labelled = self.draw(rng, streams, rate, items)
            weighted: Array = judged + (labelled / self.share) * (bad.astype(float) - judged)
            return weighted * (rng.random((streams, items)) < self.inclusion) / self.inclusion

        return draw

    def find_ratio(self, rate: float, theta: float, items: int) -> Draw:
        """Return what draws the log likelihood ratio of each item for a test that knows the rate and the judge's errors."""

        def draw(rng: np.random.Generator, streams: int) -> Array:
            bad, judged, labelled = self.draw(rng, streams, rate, items)
            called = [share * (1 - self.false_negative) + (1 - share) * self.false_positive for share in (rate, theta)]
            return np.where(labelled, compare_rates(bad, rate, theta), compare_rates(judged, *called))

        return draw


def compare_rates(events: Array, rate: float, theta: float) -> Array:
    """Return the log likelihood ratio of each item, known to be an event or none."""
    return np.where(events, math.log(rate / theta), math.log((1 - rate) / (1 - theta)))


def compare_flags(rate: float, theta: float) -> Draw:
    """Return what draws the log likelihood ratios for `draw_weighted`: of an item that is not reviewed, only the flag is seen."""

    def draw(rng: np.random.Generator, streams: int) -> Array:
        bad, _flagged, reviewed = draw_flags(rng, streams, rate)
        unseen = math.log((0.2 * rate + 0.9 * (1 - rate)) / (0.2 * theta + 0.9 * (1 - theta)))
        return np.where(reviewed, compare_rates(bad, rate, theta), unseen)

    return draw


def measure(name: str, draw: Draw, theta: float, *, seed: int, draws: int, null: bool, floor: float = 0.0) -> Row:
    paths = (trace_evidence(weighted, theta, floor=floor) for weighted in draw_blocks(draw, seed, draws))
    return count_alarms(name, paths, null=null)


def measure_oracle(name: str, draw: Draw, *, seed: int, draws: int) -> Row:
    """The likelihood-ratio test that knows the true rate: on average no test of this error is earlier (Wald 1945)."""
    return count_alarms(f"for comparison: {name}, a test that knows the rate", map(cumulate, draw_blocks(draw, seed, draws)), null=False)


def cumulate(steps: Array) -> Array:
    return np.cumsum(steps, axis=1)


def count_alarms(name: str, paths: Iterable[Array], *, null: bool) -> Row:
    """Return in how many streams the log evidence *paths* reach 1/α, and after how many items."""
    first: list[float] = []
    for path in paths:
        over = path >= math.log(1 / ALPHA)
        first.extend(np.where(over.any(axis=1), over.argmax(axis=1) + 1, np.inf))
    middle = float(np.median(first))
    delay = f"median items to the alarm {middle:.0f}" if math.isfinite(middle) else "fewer than half alarm"
    return Row(name=name, share=float(np.isfinite(first).mean()), limit=ALPHA if null else None, note="" if null else delay)


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
                events = {1.0: float((seen == 1).sum()), 5.0: float((seen == 5).sum())}
                tally = StreamTally(items=count, weights={weighted: total for weighted, total in events.items() if total})
                largest = max(largest, abs(log_evidence(tally, theta) - path[stream, count - 1]))
                low = find_lower_limit(tally, 1 / ALPHA)
                assert (low >= theta) == (log_evidence(tally, theta) >= math.log(1 / ALPHA))
        judge = Judge(false_positive=0.1, false_negative=0.3, share=0.2)
        bad, judged, labelled = judge.draw(rng, 1, theta, ITEMS)
        path = trace_evidence(judged + (labelled / 0.2) * (bad.astype(float) - judged), theta, floor=judge.floor)
        cell = build_cell(bad[0], judged[0], labelled[0], np.zeros(ITEMS, dtype=bool), 0.2)
        evidence = log_evidence(StreamTally(floor=judge.floor).add([cell]), theta, bets=LABEL_BETS)
        largest = max(largest, abs(evidence - path[0, -1]))
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
    alarms, earliest = [], []
    for _ in range(draws):
        bad = rng.random((30, 100)) < rate
        # A bad item waits for three windows on average, another one for one.
        arrives = np.arange(30)[:, None] + rng.geometric(np.where(bad, 1 / 4, 1 / 2)) - 1
        alarm = oracle = math.inf
        for now in range(30):
            seen = arrives[: now + 1] <= now
            # An event of "at most" is a bad item, of "at least" a good one; what is pending is none.
            events = float((seen & (bad[: now + 1] if is_upper else ~bad[: now + 1])).sum())
            tally = StreamTally(items=100 * (now + 1), weights={1.0: events} if events else {})
            if math.isinf(alarm) and log_evidence(tally, limit) >= math.log(1 / ALPHA):
                alarm = now + 1
            if rate > 0.05 and math.isinf(oracle) and compare_delayed(bad[: now + 1], seen, rate) >= math.log(1 / ALPHA):
                oracle = now + 1
        alarms.append(alarm)
        earliest.append(oracle)
    side = "at most 0.05" if is_upper else "at least 0.95 good"
    name = f"rate {rate:g}, limit {side}, labels windows late, bad ones later"
    note = f"median items to the alarm {100 * np.median(alarms):.0f}, of a test that knows the rate {100 * np.median(earliest):.0f}"
    is_null = rate == 0.05
    return Row(name=name, share=float(np.isfinite(alarms).mean()), limit=ALPHA if is_null else None, note="" if is_null else note)


def compare_delayed(bad: Array, seen: Array, rate: float) -> float:
    """Return the log likelihood ratio of the rate against 0.05 when it is known how long labels take: a late one suggests a bad item."""
    waited = np.arange(len(bad), 0, -1)
    late = [share * 0.75**waited + (1 - share) * 0.5**waited for share in (rate, 0.05)]
    unseen = np.log(late[0] / late[1])[:, None]
    return float(np.where(seen, compare_rates(bad, rate, 0.05), unseen).sum())


def measure_oracles(draws: int, *, seed: int) -> list[Row]:
    """Delays beside those of a test that knows the rate, on the same streams."""
    return [
        measure("rate 0.1, limit 0.05, all items", draw_plain(0.1), 0.05, seed=seed, draws=draws, null=False),
        measure_oracle(
            "rate 0.08, limit 0.05, all items", lambda rng, count: compare_rates(draw_plain(0.08)(rng, count) > 0, 0.08, 0.05), seed=4,
            draws=draws,
        ),
        measure_oracle(
            "rate 0.1, limit 0.05, all items", lambda rng, count: compare_rates(draw_plain(0.1)(rng, count) > 0, 0.1, 0.05), seed=seed,
            draws=draws,
        ),
        measure_oracle("rate 0.08, limit 0.05, flagged items and one in five", compare_flags(0.08, 0.05), seed=5, draws=draws),
    ]  # fmt: skip


def measure_labels(draws: int) -> list[Row]:
    """People label a random share: wrong alarms with a judge that errs to either side, and delays against labels of all items."""
    rows = []
    over, under = {"false_positive": 0.04, "false_negative": 0.1}, {"false_positive": 0.0, "false_negative": 0.5}
    changed = {"false_positive": np.where(np.arange(ITEMS) < 1_000, 0.0, 0.15), "false_negative": 0.1}
    for name, errors in (
        ("calls 4 % of good items bad", over),
        ("misses half of the bad", under),
        ("calls 15 % bad from item 1,000", changed),
    ):
        for share in (0.05, 0.2):
            judge = Judge(**errors, share=share)
            row = f"rate 0.05, limit 0.05, people label {share:g}, the judge {name}"
            rows.append(measure(row, judge.weight(0.05), 0.05, seed=40, draws=draws, null=True, floor=judge.floor))
    sampled = Judge(**over, share=0.2, inclusion=0.2)
    row = "rate 0.05, limit 0.05, one item in five reviewed, people label 0.2 of these, the judge calls 4 % of good items bad"
    rows.append(measure(row, sampled.weight(0.05), 0.05, seed=40, draws=draws, null=True, floor=sampled.floor))
    judged = Judge(**over, share=1.0)
    uncorrected = lambda rng, count: judged.draw(rng, count, 0.05, ITEMS)[1].astype(float)  # noqa: E731
    rows.append(measure("for comparison: the first of these without labels", uncorrected, 0.05, seed=40, draws=draws, null=False))
    rows += [
        measure_label_windows(draws // 4, errors=errors, name=name) for errors, name in ((over, "over-reports"), (under, "under-reports"))
    ]
    for rate in (0.08, 0.1):
        for share in (1.0, 0.2, 0.05):
            for name, errors in (("calls 4 % of good items bad", over), ("misses half of the bad", under)):
                judge = Judge(**errors, share=share)
                row = f"rate {rate:g}, limit 0.05, people label {share:g}, the judge {name}"
                size = {"seed": 41, "draws": draws // 4}
                rows.append(measure(row, judge.weight(rate, 10_000), 0.05, **size, null=False, floor=judge.floor))
                rows.append(measure_oracle(row, judge.find_ratio(rate, 0.05, 10_000), **size))
    return rows


def measure_label_windows(draws: int, *, errors: dict[str, float], name: str) -> Row:
    """The alarm, and the limit of the average, where bad labels come late and windows with labels of fewer than 20 users are suppressed."""
    rng = np.random.default_rng(42)
    judge = Judge(**errors, share=0.2)
    wrong = missed = 0
    for _ in range(draws):
        tally, average = StreamTally(floor=judge.floor), AverageSequence(bound=1 / judge.share, centre=0.05)
        is_wrong = is_missed = False
        for _window in range(30):
            bad, judged, chosen = (part[0] for part in judge.draw(rng, 1, 0.05, 100))
            late = chosen & (rng.random(100) < np.where(bad, 0.3, 0.05))
            cell = build_cell(bad, judged, chosen, late, judge.share)
            tally, average = tally.add([cell]), average.add([cell])
            is_wrong = is_wrong or log_evidence(tally, 0.05, bets=LABEL_BETS) >= math.log(1 / ALPHA)
            is_missed = is_missed or average.find_upper_limit(1 / ALPHA) < 0.05
        wrong += is_wrong
        missed += is_missed
    row = f"rate 0.05, limit 0.05, people label 0.2, late labels, windows with fewer than 20 suppressed, the judge {name}"
    return Row(name=row, share=max(wrong, missed) / draws, limit=ALPHA, note="the larger of alarm and limit of the average")


def build_cell(bad: Array, judged: Array, chosen: Array, late: Array, share: float) -> StreamCell:
    """Return one window as a lab reports it."""
    if chosen.sum() < 20:
        return StreamCell(items=len(bad), labels=StreamLabels(share=share, most=19), suppressed=True)
    known = chosen & ~late
    labels = StreamLabels(
        share=share, items=int(known.sum()), both=float((known & judged & bad).sum()), judge_only=float((known & judged & ~bad).sum()),
        people_only=float((known & ~judged & bad).sum()), pending=int(late.sum()), pending_total=float((late & judged).sum()),
    )  # fmt: skip
    return StreamCell(items=len(bad), reviewed=len(bad), total=float(judged.sum()), labels=labels)


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
        tallies = (StreamTally(items=int(n), weights={1.0: float(k)} if k else {}) for n, k in zip(items, counts, strict=True))
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
    streams: list[tuple[str, Draw, float, bool]] = [
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
    rows += measure_oracles(draws, seed=len(streams) + 1)
    rows += measure_labels(draws)
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
