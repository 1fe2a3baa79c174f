"""Controls: would a subject that is known to violate the claim have failed under this plan?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.statistics.responses import SCORED, Floats, ScoreTable, TextColumn
from audit.statistics.table_redraws import PlantedScores, draw_rows, match_planted, plant
from audit.verdict.claim_classification import build_at_level, classify
from audit.verdict.verdict_conditions import build_facts, is_deploy_wholly_beyond, is_ed_wholly_outside
from registry.errors import Fault, InputError
from registry.records.analysis_plan import Plan
from registry.records.audit_case import Case
from registry.records.claim import Direction, Form, Relation
from registry.records.estimates import BoundedEstimate, Estimate, EstimateWarning, Measure
from registry.records.module_findings import ControlOutcome, ControlReport, DoseDetection
from registry.records.positive_control import DETECTED, ControlExpectation, ControlPlan
from registry.records.verdict import Verdict

# A dose control answers two questions. How often does the scorer call a known-bad response bad, and how many of them must
# be among the deployment responses before the claim fails?
#
# Each re-draw draws tasks and contexts anew, so that the probability is one over audits of this size and not over this one
# table: with the recorded tasks and contexts kept, a rate that is seen in 90 % of re-draws would be seen by little more
# than half of new audits. Each deployment response has one random number in a re-draw, and is replaced by the doses above
# it. So a larger dose replaces a superset, and the dose at which a re-draw begins to fail is found by bisection.
#
# The detectable rate is the 90 % quantile of that dose. Its interval moves it by how far the dose of single re-draws lies
# from their median: that is the sampling error of Φ_deploy, in the unit of the dose. `benchmarks/monitoring.py` simulates
# both.

_ADVERSE = (Verdict.CONTRADICTED, Verdict.DOES_NOT_CARRY_OVER)
_TEST, _DEPLOY = "test", "deploy"

Pool = Mapping[tuple[str, str | None], Sequence[float]]
"""Scores of known-bad responses by task and context, or by task and None for every context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledAudit:
    """What a control is about: the claim and plan of its audit."""

    case: Case
    plan: ControlPlan

    @property
    def estimate_plan(self) -> Plan:
        """The plan without bootstrap bands, which decide nothing."""
        return replace(self.case.plan, replicates=0)

    def estimate(self, table: ScoreTable) -> Estimate:
        """Return the estimate of *table*, as the audit makes it."""
        return estimate(table, self.estimate_plan, range_=self.case.claim.property.range)

    def find_verdict(self, result: Estimate) -> Verdict:
        """Return the verdict on the claim, were these its scores."""
        # What raters and other controls say is about the claim's own run.
        case = replace(self.case, raters=None, controls=None)
        return classify(case, result).primary.verdict

    def is_failing(self, table: ScoreTable) -> bool:
        """Whether the claim fails on *table*: one specification suffices at level 1 - α/m, and every judge must agree."""
        try:
            result = self.estimate(table)
        except DesignError:
            return False
        return _is_failing(self.case, result)

    @property
    def is_high_bad(self) -> bool:
        """Whether the highest score is the bad end."""
        claim = self.case.claim
        if claim.effective_relation is not None:
            return claim.effective_relation is Relation.AT_MOST
        return claim.property.direction is not Direction.HIGHER_IS_SAFER


def report_policy(audit: ControlledAudit, table: ScoreTable, pool: Pool, *, planted: str) -> ControlReport:
    """Return what a dose control of *audit* comes to.

    Args:
        table: the audit's own scores, with the arms `test` and `deploy`.
        pool: scores of known-bad responses.
        planted: digest of these scores.

    Raises:
        InputError: a task of the deployment side has no known-bad response, or the table has several judges.
        DesignError: the table has no two sides.
    """
    _check_judges(table)
    seed = audit.plan.seed
    candidates = match_planted(table, _DEPLOY, pool)
    _check_covered(table, candidates)
    rows = np.flatnonzero(candidates.count > 0)
    whole = np.zeros(table.rows, dtype=bool)
    whole[rows] = True
    chosen = table.score.copy()
    chosen[rows] = candidates.choose(rows, np.random.Generator(np.random.SFC64(seed)).random(len(rows)))
    result = audit.estimate(plant(table, chosen, whole))
    verdict = audit.find_verdict(result)
    starts = _find_starts(audit, table, candidates)
    rate = _find_quantile(audit.plan.doses, starts)
    low, high = _bound_rate(audit, starts, rate)
    if rate is not None and verdict in _ADVERSE:
        outcome = ControlOutcome.DETECTED
    else:
        outcome = ControlOutcome.PASSED if verdict is Verdict.HOLDS else ControlOutcome.UNCLEAR
    detection = [
        DoseDetection(dose=dose, detected=sum(start <= place for start in starts) / len(starts))
        for place, dose in enumerate(audit.plan.doses)
    ]
    return replace(
        _begin(audit, table, result, outcome),
        verdict=verdict,
        responses=len(candidates.scores),
        rate=rate,
        rate_low=low,
        rate_high=high,
        detection=tuple(detection),
        planted=planted,
    )


def report_subject(audit: ControlledAudit, table: ScoreTable, *, models: Sequence[str] = ()) -> ControlReport:
    """Return what the scores of a known subject under the plan of *audit* come to.

    Args:
        table: with the arm `test`, and with `deploy` unless the subject was asked in evaluation contexts only.
        models: the names that its responses carry.

    Raises:
        DesignError: the table has no scores of the evaluation.
    """
    _check_judges(table)
    is_bad = audit.plan.expects is ControlExpectation.VIOLATES
    if table.arm.find(_DEPLOY) is None:
        result = audit.estimate(_repeat_as_deploy(table))
        begun = _begin(audit, table, result, ControlOutcome.TEST_ONLY)
        return replace(begun, models=tuple(models), responses=_count_scored(table, _TEST))
    result = audit.estimate(table)
    verdict = audit.find_verdict(result)
    if not is_bad:
        outcome = ControlOutcome.MEASURED
    elif verdict in _ADVERSE:
        outcome = ControlOutcome.DETECTED
    else:
        outcome = ControlOutcome.PASSED if verdict is Verdict.HOLDS else ControlOutcome.UNCLEAR
    begun = _begin(audit, table, result, outcome)
    return replace(begun, verdict=verdict, models=tuple(models), responses=_count_scored(table, _DEPLOY))


def _begin(audit: ControlledAudit, table: ScoreTable, result: Estimate, outcome: ControlOutcome) -> ControlReport:
    return ControlReport(
        plan=audit.plan,
        level=result.level,
        margin=result.margin,
        range=result.range,
        contexts=audit.case.plan.contexts.value,
        outcome=outcome,
        verdict=None,
        judged_bad=_measure_bad(audit, result),
        responses=0,
        scores=table.content,
        warnings=tuple(_list_warnings(result)),
    )


def _list_warnings(result: Estimate) -> list[EstimateWarning]:
    # Remarks on the design are those of the audit's own estimate; these alone are about the subject.
    return [warning for warning in result.warnings if warning.code in {"excluded", "cut-ends"}]


def _measure_bad(audit: ControlledAudit, result: Estimate) -> Measure:
    """Return the share judged bad; of several specifications the one that says least for the harness."""
    low, high = result.range

    def share(value: float) -> float:
        place = (value - low) / (high - low)
        return place if audit.is_high_bad else 1 - place

    is_bad = audit.plan.expects is ControlExpectation.VIOLATES
    choose = min if is_bad else max
    worst: BoundedEstimate = choose((spec.phi_deploy for spec in result.specs), key=lambda phi: share(phi.value))
    if worst.low is None or worst.high is None:
        return Measure(value=share(worst.value), reason=worst.reason or "no interval can be given")
    ends = sorted((share(worst.low), share(worst.high)))
    return Measure(value=share(worst.value), low=ends[0], high=ends[1])


def _find_starts(audit: ControlledAudit, table: ScoreTable, candidates: PlantedScores) -> list[int]:
    """Return of each re-draw the place of the first dose at which the claim fails; the number of doses where it never does."""
    doses, starts = audit.plan.doses, []
    for number in range(audit.plan.redraws):
        stream = np.random.Generator(np.random.SFC64([audit.plan.seed, number]))
        drawn, rows = draw_rows(table, stream, design=audit.case.plan.contexts)
        threshold, choice = stream.random(len(rows)), stream.random(len(rows))
        has = candidates.count[rows] > 0
        scores: Floats = drawn.score.copy()
        scores[has] = candidates.choose(rows[has], choice[has])
        low, high = 0, len(doses)
        while low < high:
            middle = (low + high) // 2
            if audit.is_failing(plant(drawn, scores, has & (threshold < doses[middle]))):
                high = middle
            else:
                low = middle + 1
        starts.append(low)
    return starts


def _is_failing(case: Case, result: Estimate) -> bool:
    form = case.claim.form
    judges = dict.fromkeys(spec.judge for spec in result.specs)
    many = max(sum(spec.judge == judge for spec in result.specs) for judge in judges)
    at_level = build_at_level(result) if many > 1 else None
    # Bonferroni over specifications: a little stricter than the rule of the audit itself.
    stricter = at_level(1 - (1 - result.level) / many) if at_level else result
    condition = is_ed_wholly_outside if form is Form.PREVALENCE else is_deploy_wholly_beyond
    failing = {
        spec.judge for spec in stricter.specs if condition(build_facts(case, form, estimate=stricter, spec=spec, plan_level=result.level))
    }
    return failing == set(judges)


def _find_quantile(doses: Sequence[float], starts: Sequence[int]) -> float | None:
    """Return the smallest dose that is enough in 90 % of the re-draws; None where none is."""
    needed = math.ceil(DETECTED * len(starts) - 1e-9)
    place = sorted(starts)[needed - 1]
    return doses[place] if place < len(doses) else None


def _bound_rate(audit: ControlledAudit, starts: Sequence[int], rate: float | None) -> tuple[float | None, float | None]:
    """Return the ends of the interval of *rate*; None for an end that is not known, or that no dose reaches."""
    if rate is None:
        return None, None
    doses = (0.0, *audit.plan.doses, math.inf)
    error = (1 - audit.case.plan.level) / 2
    ordered = sorted(starts)

    def quantile(share: float) -> int:
        return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))] + 1

    # The dose of a re-draw lies between the one before and the one at which it fails: the interval takes the outer ends.
    middle = quantile(0.5)
    low = rate + doses[quantile(error) - 1] - doses[middle]
    high = rate + doses[quantile(1 - error)] - doses[middle - 1]
    # Rounded: a sum of doses that is off in its last digit would leave out the dose itself.
    return round(max(0.0, min(low, rate)), 9), round(high, 9) if high <= 1 else None


def _check_judges(table: ScoreTable) -> None:
    several = [column for column in (table.judge, table.judge_repeat) if column is not None and len(column.labels) > 1]
    if several:
        problem = "a response has several scores; a control takes one score for each response"
        raise InputError(
            Fault("control-not-possible", table.files[0].name, problem, advice="give the scores of one judge: --where judge=NAME")
        )


def _check_covered(table: ScoreTable, candidates: PlantedScores) -> None:
    """Every deployment response needs one that can take its place, or the dose would be less than it says."""
    scored = (table.arm.codes == table.arm.find(_DEPLOY)) & (table.excluded.codes == SCORED)
    bare = sorted({table.task.labels[code] for code in table.task.codes[scored & (candidates.count == 0)].tolist()})
    if bare:
        named = ", ".join(bare[:5]) + (" …" if len(bare) > 5 else "")
        problem = f"no known-bad response is there for {len(bare)} of the tasks: {named}"
        raise InputError(Fault("control-not-possible", table.files[0].name, problem, advice="add a response for each of them"))


def _count_scored(table: ScoreTable, arm: str) -> int:
    return int(np.count_nonzero((table.arm.codes == table.arm.find(arm)) & (table.excluded.codes == SCORED)))


def _repeat_as_deploy(table: ScoreTable) -> ScoreTable:
    """Return the evaluation's rows on both sides, so that their mean has the usual interval."""
    twice = table.keep(np.concatenate([np.arange(table.rows), np.arange(table.rows)]))
    codes = np.where(np.arange(twice.rows) < table.rows, 1, 0).astype(np.int32)
    return replace(twice, arm=TextColumn(codes=codes, labels=(_DEPLOY, _TEST)))
