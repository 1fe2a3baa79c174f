"""Contrasts between arms of a score table beyond ED, and the link of ED to recognition of a test."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.errors import DesignError
from audit.modules.score_sides import (
    DEFAULT_SPEC,
    ScoredArm,
    build_arm_summaries,
    build_arms,
    check_contrast_requests,
    check_range,
    drop_ablations,
    find_arm,
    find_weights,
    name_files,
    split_judges,
    warn_of_arms,
    warn_of_clusters,
    warn_of_contrast,
    warn_of_rows,
)
from audit.records.contrast_result import ArmSummary, Contrast, ContrastKind, ContrastRequest, Contrasts, TaskContrast
from audit.statistics.contrast_intervals import (
    ArmScores,
    combine,
    compute_arms,
    compute_differences,
    double_difference_interval,
    find_obstacle,
    find_p,
    find_tasks_of_all,
    holm_p,
    ratio_of_differences,
    ratio_of_means,
    subtract,
)
from audit.statistics.design_remarks import has_equal_cells
from audit.statistics.estimate_intervals import METHOD, ScoreScale, name_units
from audit.statistics.mean_intervals import ConfidenceLimits, difference_interval
from audit.statistics.missing_responses import exclusion_bounds
from audit.statistics.paired_tests import cohens_d, paired_t, wilcoxon_signed_rank
from audit.statistics.responses import SCORED, Floats, ScoreTable, TextColumn, average_repeats, find_relative_weights, sum_all
from registry.errors import CaveatError, Fault
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.estimates import EstimateWarning, HypothesisTest, Measure, ScoreRange
from registry.records.module_findings import LinkGroup, RecognitionLink, RecognitionLinks

# Contrasts beyond ED between the arms of one score table (method section 9).
#
# A difference of two arms is estimated exactly as ED is. Differences in differences, ratios and
# mitigations use the same means, variance parts and limits, over the tasks that all of their arms have.
# A mitigation needs a baseline in the context of its first arm. Without the baseline it is not
# identified, and only a labelled description is reported.
#
# Holm's rule runs over all contrasts requested in one call, also over those without a p. Requesting
# more costs power.

_WEIGHTED = "tasks have weights, and this is for tasks that weigh the same"
_FAMILIES = "tasks are in families, and this is for tasks that are independent of each other"
_INVERTED = "Fieller and MOVER-R by inversion"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ContrastStudy:
    """One judge's scores with everything that is asked of them."""

    arms: Mapping[str, ScoredArm]
    plan: Plan
    scale: ScoreScale
    labels: tuple[str, ...]
    """Task ids by code."""
    weights: Floats | None
    """Of tasks, by their code; None when all weigh the same."""
    pointwise: bool
    files: str
    clusters: tuple[EstimateWarning, ...]
    """What is wrong with families and templates."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ContrastQuestion:
    """One contrast with the moments of its arms over the tasks that all of them have."""

    study: _ContrastStudy
    asked: ContrastRequest
    arms: ArmScores
    common: npt.NDArray[np.bool_]

    @property
    def dropped(self) -> int:
        """Tasks with a response in some arm of the contrast, and no score in all of them."""
        seen = np.zeros(len(self.common), dtype=bool)
        for name in self.arms.names:
            seen[self.study.arms[name].side.task] = True
        return int(np.count_nonzero(seen)) - self.tasks

    @property
    def tasks(self) -> int:
        """Tasks that all arms of the contrast have, whatever families they are in."""
        return int(np.count_nonzero(self.common))


def contrast(
    table: ScoreTable, plan: Plan, contrast_requests: Sequence[ContrastRequest], *, range_: tuple[float, float], pointwise: bool = False
) -> Contrasts:
    """Return the contrasts of *contrast_requests*, in that order, with p-values adjusted by Holm's rule over all of them.

    Rows with a cue taken out of the context, and arms that are not asked for, are excluded with a warning. With several judges every
    contrast is given for each, and Holm's rule runs within each. The bits of the result do not depend on the order of rows.

    Args:
        table: checked scores.
        plan: margin, level and what contexts are; None in it means the default for *range_*.
        asked: at least one contrast.
        range_: lowest and highest possible score.
        pointwise: whether the contrast of every task is given too.

    Raises:
        DesignError: nothing is asked, an arm is unknown, is compared with itself, has no scores or several specifications, arms share no
            task, weights are no weights, contexts contradict the plan, or the plan asks for other than closed-form intervals.
    """
    if plan.interval is not IntervalMethod.CLOSED_FORM:
        problem = f"the plan asks for {plan.interval.value} intervals; contrasts have closed-form ones"
        raise DesignError(Fault("interval-not-available", "plan, interval", problem, advice="ask for closed_form"))
    kept, ablated = drop_ablations(table)
    scale = ScoreScale(low=float(range_[0]), high=float(range_[1]))
    check_range(kept, scale)
    check_contrast_requests(kept, contrast_requests)
    arms, answers, warnings = _answer_each_judge(kept, plan, scale, contrast_requests, pointwise=pointwise)
    return Contrasts(
        level=plan.level,
        range=(scale.low, scale.high),
        margin=plan.margin_on(scale.width),
        contexts=plan.contexts.value,
        family=_name_family(contrast_requests, judges=len({answer.judge for answer in answers})),
        arms=arms,
        contrasts=tuple(answers),
        scores=table.content,
        warnings=(*warn_of_rows(kept, contrast_requests, ablated=ablated), *warnings),
    )


def name_contrast(contrast_request: ContrastRequest) -> str:
    """Return the formula of a contrast, such as `(B − A) − (D − C)`."""
    match contrast_request.kind:
        case ContrastKind.DIFFERENCE:
            return " − ".join(contrast_request.arms)
        case ContrastKind.DIFFERENCE_IN_DIFFERENCES:
            first, second, third, fourth = contrast_request.arms
            return f"({first} − {second}) − ({third} − {fourth})"
        case ContrastKind.RATIO:
            return " / ".join(contrast_request.arms)
        case ContrastKind.MITIGATION:
            treated, effect, baseline = contrast_request.arms[:3]
            return f"1 − ({treated} − {contrast_request.arms[3] if len(contrast_request.arms) == 4 else '?'}) / ({effect} − {baseline})"


def _answer_each_judge(
    table: ScoreTable, plan: Plan, scale: ScoreScale, contrast_requests: Sequence[ContrastRequest], *, pointwise: bool
) -> tuple[tuple[ArmSummary, ...], list[Contrast], list[EstimateWarning]]:
    """The arms as the first judge sees them, and every judge's answers and warnings; the faults of all judges are raised at once."""
    arms: tuple[ArmSummary, ...] = ()
    answers: list[Contrast] = []
    warnings: list[EstimateWarning] = []
    faults: list[Fault] = []
    for judge, scores in split_judges(table):
        try:
            study = _build_study(scores, plan, scale, contrast_requests, pointwise=pointwise)
            contrasts, judge_warnings = _answer_all(study, contrast_requests)
        except CaveatError as error:
            faults.extend(fault if judge is None else replace(fault, where=f"{fault.where}, judge {judge}") for fault in error.faults)
            continue
        # Arms are summarised once, by the scores of the first judge. Each contrast is reported for
        # every judge.
        arms = arms or build_arm_summaries(study.arms, scale, study.weights, tasks=len(study.labels))
        answers.extend(replace(answer, judge=judge) for answer in contrasts)
        warnings.extend(replace(warning, judge=judge) for warning in judge_warnings)
    if faults:
        raise DesignError(faults)
    return arms, answers, warnings


def _name_family(contrast_requests: Sequence[ContrastRequest], *, judges: int) -> str:
    number = "the one contrast asked for" if len(contrast_requests) == 1 else f"all {len(contrast_requests)} contrasts asked for"
    return number + (", for each judge by itself" if judges > 1 else "")


def _build_study(
    table: ScoreTable, plan: Plan, scale: ScoreScale, contrast_requests: Sequence[ContrastRequest], *, pointwise: bool
) -> _ContrastStudy:
    table = average_repeats(table)
    names = tuple(dict.fromkeys(name for contrast_request in contrast_requests for name in contrast_request.arms))
    return _ContrastStudy(
        arms=build_arms(table, scale, names, nested=plan.contexts is ContextDesign.NESTED),
        plan=plan,
        scale=scale,
        labels=table.task.labels,
        weights=find_weights(table),
        pointwise=pointwise,
        files=name_files(table),
        clusters=tuple(warn_of_clusters(table, names)),
    )


def _answer_all(study: _ContrastStudy, contrast_requests: Sequence[ContrastRequest]) -> tuple[list[Contrast], list[EstimateWarning]]:
    cells = {name: arm.cells for name, arm in study.arms.items()}
    commons = [
        find_tasks_of_all([cells[name] for name in contrast_request.arms], tasks=len(study.labels))
        for contrast_request in contrast_requests
    ]
    disjoint = [_describe_disjoint(study, request) for request, common in zip(contrast_requests, commons, strict=True) if not common.any()]
    # All contrasts without a common task are reported at once, each with its formula.
    if disjoint:
        raise DesignError(dict.fromkeys(disjoint))
    questions = [_pose(study, request, common) for request, common in zip(contrast_requests, commons, strict=True)]
    answers = [_answer(question) for question in questions]
    # Holm's rule stays within one judge: judges are not choices over which a level is divided.
    adjusted = [replace(answer, p_holm=p) for answer, p in zip(answers, holm_p([answer.p for answer in answers]), strict=True)]
    warnings = [*study.clusters, *warn_of_arms(study.arms, study.plan.contexts)]
    for question, answer in zip(questions, answers, strict=True):
        warnings.extend(warn_of_contrast(answer, dropped=question.dropped))
    return adjusted, warnings


def _describe_disjoint(study: _ContrastStudy, contrast_request: ContrastRequest) -> Fault:
    problem = f"no task is scored in all of the arms {', '.join(dict.fromkeys(contrast_request.arms))}"
    return Fault("no-common-task", f"{study.files}, {name_contrast(contrast_request)}", problem)


def _pose(study: _ContrastStudy, contrast_request: ContrastRequest, common: npt.NDArray[np.bool_]) -> _ContrastQuestion:
    named = {name: study.arms[name] for name in contrast_request.arms}
    arms = compute_arms(
        {name: arm.cells for name, arm in named.items()},
        common,
        # Fixed and nested contexts are not sampled, so they add no part to the variance.
        random=study.plan.contexts is ContextDesign.RANDOM,
        binary=all(arm.is_binary for arm in named.values()),
        weights=study.weights,
    )
    return _ContrastQuestion(study=study, asked=contrast_request, arms=arms, common=common)


def _answer(question: _ContrastQuestion) -> Contrast:
    arms, level = question.asked.arms, question.study.plan.level
    match question.asked.kind:
        case ContrastKind.DIFFERENCE:
            limits = difference_interval(question.arms.pair(arms[0], arms[1]), level=level)
            return _answer_sum(question, {arms[0]: 1.0, arms[1]: -1.0}, limits)
        case ContrastKind.DIFFERENCE_IN_DIFFERENCES:
            first, second = (arms[0], arms[1]), (arms[2], arms[3])
            limits = double_difference_interval(question.arms, first, second, level=level)
            return _answer_sum(question, subtract(_minus(*first), _minus(*second)), limits)
        case ContrastKind.RATIO:
            return _answer_ratio(question)
        case ContrastKind.MITIGATION:
            return _answer_mitigation(question)


def _minus(first: str, second: str) -> dict[str, float]:
    return {first: 1.0, second: -1.0}


def _answer_sum(question: _ContrastQuestion, coefficients: Mapping[str, float], limits: ConfidenceLimits | None) -> Contrast:
    """A difference, or a difference of differences: value, interval, and tests on tasks."""
    study = question.study
    value = study.scale.stretch_difference(combine(question.arms, coefficients))
    band = None if limits is None else study.scale.stretch_limits(limits)
    cells = {name: study.arms[name].cells for name in question.arms.names}
    # The tests on tasks take one difference per task; contexts enter as they are.
    differences = study.scale.width * compute_differences(cells, question.common, coefficients)
    margin = study.plan.margin_on(study.scale.width)
    plain = _begin(
        question,
        Measure(
            value=value,
            low=None if band is None else band.low,
            high=None if band is None else band.high,
            reason=find_obstacle(question.arms) if band is None else None,
        ),
        null=0.0,
        p=find_p(question.arms, coefficients),
        interval="MOVER interval",
    )
    return replace(
        _test(question, plain, differences),
        pooled=_pool(question, lambda mean: sum(c * mean(name) for name, c in coefficients.items()) * study.scale.width),
        within_margin=None if band is None else -margin <= band.low and band.high <= margin,
        under_exclusions=_bound_exclusions(question),
        pointwise=_list_tasks(question, differences) if study.pointwise else None,
    )


def _test(question: _ContrastQuestion, answer: Contrast, differences: Floats) -> Contrast:
    """Add the tests on tasks; they know neither weights nor families."""
    # The t test, Wilcoxon and d assume independent tasks of equal weight. Where that fails they are
    # absent with the reason, and the interval, which handles both, remains.
    reason = _FAMILIES if question.arms.first.test.families else _WEIGHTED
    if reason is _WEIGHTED and find_relative_weights(question.study.weights, question.common) is None:
        level = question.study.plan.level
        t, ranks, d = paired_t(differences), wilcoxon_signed_rank(differences), cohens_d(differences, level=level)
        return replace(answer, paired_t=t, wilcoxon=ranks, cohens_d=d)
    t, ranks = (
        HypothesisTest(statistic=None, p=None, method=name, n=len(differences), reason=reason)
        for name in ("paired t test on tasks", "Wilcoxon signed-rank test on tasks")
    )
    return replace(answer, paired_t=t, wilcoxon=ranks, cohens_d=Measure(value=None, reason=reason))


def _answer_ratio(question: _ContrastQuestion) -> Contrast:
    scale, (first, second) = question.study.scale, question.asked.arms
    measure = ratio_of_means(question.arms, first, second, scale=scale, level=question.study.plan.level)
    answer = _begin(question, measure, null=1.0, p=_p_of_ratio(question, measure, _minus(first, second)), interval=_INVERTED)
    if measure.value is None:
        return answer
    return replace(answer, pooled=_pool(question, lambda mean: _quotient(scale.stretch(mean(first)), scale.stretch(mean(second)))))


def _answer_mitigation(question: _ContrastQuestion) -> Contrast:
    """1 − a ratio of differences; without the baseline of the treated arm's own context only what it would mix is shown."""
    treated, effect, baseline = question.asked.arms[:3]
    own = question.asked.arms[-1]
    ratio = ratio_of_differences(question.arms, (treated, own), (effect, baseline), level=question.study.plan.level)
    measure = _less_from_one(ratio)
    if len(question.asked.arms) == 3:
        reason = (
            f"not identified: no matching baseline in the context of {treated} is named, "
            f"and {treated} − {baseline} mixes what that context does with what the mitigation does"
        )
        answer = _begin(question, Measure(value=None, reason=reason), null=0.0, p=None, interval=_INVERTED)
        # The labelled description shows what a mitigation without its own baseline would mix, and never
        # becomes the value.
        return replace(answer, uncorrected=measure)
    # A mitigation is 0 exactly when both differences are equal.
    null = subtract(_minus(treated, own), _minus(effect, baseline))
    answer = _begin(question, measure, null=0.0, p=_p_of_ratio(question, measure, null), interval=_INVERTED)
    if measure.value is None:
        return answer

    def mitigate(mean: Callable[[str], float]) -> float | None:
        quotient = _quotient(mean(treated) - mean(own), mean(effect) - mean(baseline))
        return None if quotient is None else 1 - quotient

    return replace(answer, pooled=_pool(question, mitigate))


def _less_from_one(ratio: Measure) -> Measure:
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return ratio
    return Measure(value=1 - ratio.value, low=1 - ratio.high, high=1 - ratio.low)


def _p_of_ratio(question: _ContrastQuestion, measure: Measure, null: Mapping[str, float]) -> float | None:
    """The ratio is 1 exactly when numerator − denominator is 0."""
    return None if measure.value is None else find_p(question.arms, null)


def _quotient(above: float, below: float) -> float | None:
    return above / below if below else None


def _begin(question: _ContrastQuestion, measure: Measure, *, null: float, p: float | None, interval: str) -> Contrast:
    reason = measure.reason if measure.value is None or measure.low is None else "no variance: a p-value from it does not exist"
    return Contrast(
        name=name_contrast(question.asked),
        kind=question.asked.kind,
        arms=question.asked.arms,
        measure=measure,
        null=null,
        tasks=question.tasks,
        effective_tasks=question.arms.first.test.kish,
        families=question.arms.tasks if question.arms.first.test.families else None,
        method=f"{METHOD}: {_name_form(question)}, {interval}",
        p=p,
        p_holm=p,
        reason=reason if p is None else None,
    )


def _name_form(question: _ContrastQuestion) -> str:
    tasks, drawn = name_units(question.arms.first)
    match question.study.plan.contexts:
        case ContextDesign.RANDOM:
            return f"{tasks} and random {drawn} crossed, {'Banerjee' if question.arms.banerjee else 'Satterthwaite'} t"
        case ContextDesign.FIXED:
            return f"{tasks}, conditional on these contexts, t"
        case ContextDesign.NESTED:
            return f"{tasks}, contexts nested in {tasks}, t"


def _pool(question: _ContrastQuestion, formula: Callable[[Callable[[str], float]], float | None]) -> float | None:
    """The same from means over all responses of each arm, each with the weight of its task; None where cells are equal."""
    study = question.study
    # With equal cells the pooled value equals the value over tasks, and printing it would only repeat
    # it.
    if all(has_equal_cells(study.arms[name].cells, dropped=question.dropped) for name in question.arms.names):
        return None

    def mean(name: str) -> float:
        cells = study.arms[name].cells
        counts = cells.count.astype(np.float64)
        weights = counts if study.weights is None else counts * (study.weights / study.weights.max())[cells.task]
        return sum_all(cells.mean * weights) / sum_all(weights)

    return formula(mean)


def _bound_exclusions(question: _ContrastQuestion) -> ScoreRange | None:
    # Extreme fills of the missing scores bound a difference of two arms. A ratio is not monotone in
    # them.
    if question.asked.kind is not ContrastKind.DIFFERENCE:
        return None
    study = question.study
    first, second = (study.arms[name].side for name in question.asked.arms)
    bounds = exclusion_bounds(first, second, tasks=len(study.labels), weights=study.weights)
    return None if bounds is None else study.scale.stretch_limits(bounds)


def _list_tasks(question: _ContrastQuestion, differences: Floats) -> tuple[TaskContrast, ...]:
    codes = np.flatnonzero(question.common).tolist()
    return tuple(
        TaskContrast(task_id=question.study.labels[code], value=value) for code, value in zip(codes, differences.tolist(), strict=True)
    )


# Recognition and ED (module 2): is ED different where the model mentioned a test (method section 5)?
#
# This is an association and not a cause. The responses of the test side are split by what they say.
# Each part is compared with all deployment responses to the same tasks, and both parts with each other
# over the tasks that have both. Means, variances and intervals are those of contrasts.

FEWEST_TASKS = 5
"""Below so many tasks a group, or the tasks of both, give no number [ours]: a few tasks are a few anecdotes."""

_MENTIONED, _NOT, _DEPLOY = "mentioned", "not mentioned", "deployment"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResponseMentions:
    """What is known of each response."""

    values: Floats
    """By row of the table: 1 where the response mentions a test, 0 where it does not, NaN where that is not known."""
    source: str
    """The column or file that they come from."""


def link(
    table: ScoreTable, mentions: ResponseMentions, plan: Plan, *, range_: tuple[float, float], test: str = "test", deploy: str = "deploy"
) -> RecognitionLinks:
    """Return ED where a test was mentioned and where it was not, for each specification of P_deploy and each judge.

    Args:
        table: checked scores; rows of edited contexts are excluded.
        mentions: row for row of *table*.
        plan: margin, level and what contexts are.
        range_: lowest and highest possible score.

    Raises:
        DesignError: an arm is missing, or of no test-side response it is known whether it mentions a test.
    """
    scale = ScoreScale(low=float(range_[0]), high=float(range_[1]))
    check_range(table, scale)
    kept = np.flatnonzero(table.cue_removed.codes < 0) if table.cue_removed is not None else np.arange(table.rows)
    plain, ablated = drop_ablations(table)
    # Mentions are by row of the whole table, so they lose the same rows as the table.
    values = mentions.values[kept]
    plain = replace(plain, cue_removed=None)
    find_arm(plain, test, deploy)
    is_test = plain.arm.codes == plain.arm.find(test)
    # Only the test side is split by mentions, so only there must they be known.
    _check_known(values[is_test], mentions.source)
    margin = plan.margin_on(scale.width)
    # Contrasts have closed-form intervals only, whatever the plan names for ED.
    filled = replace(plan, margin=margin, interval=IntervalMethod.CLOSED_FORM)
    links = [
        _link_one(plain, values, filled, scale, spec=spec, judge=judge, sides=(test, deploy))
        for judge, _ in split_judges(plain)
        for spec in _list_specs(plain, deploy)
    ]
    return RecognitionLinks(
        level=plan.level,
        margin=margin,
        range=(scale.low, scale.high),
        contexts=plan.contexts.value,
        source=mentions.source,
        mentions=_digest(plain, values),
        links=tuple(links),
        scores=table.content,
        warnings=tuple(_warn(links, ablated)),
    )


def _check_known(values: Floats, source: str) -> None:
    if not len(values) or np.isnan(values).all():
        raise DesignError(Fault("mentions-missing", source, "of no response of the test side it is known whether it mentions a test"))


def _list_specs(table: ScoreTable, deploy: str) -> list[str | None]:
    """The specifications of P_deploy that the deployment rows name; None alone where they name none."""
    codes = table.spec.codes[table.arm.codes == table.arm.find(deploy)]
    return [table.spec.labels[code] for code in np.unique(codes[codes != SCORED]).tolist()] or [None]


def _link_one(
    table: ScoreTable,
    values: Floats,
    plan: Plan,
    scale: ScoreScale,
    *,
    spec: str | None,
    judge: str | None,
    sides: tuple[str, str],
) -> RecognitionLink:
    rows = np.ones(table.rows, dtype=bool)
    if judge is not None and table.judge is not None:
        rows &= table.judge.codes == table.judge.find(judge)
    is_test, is_deploy = (table.arm.codes == table.arm.find(side) for side in sides)
    if spec is not None:
        is_deploy = is_deploy & (table.spec.codes == table.spec.find(spec))
    scored = table.excluded.codes == SCORED
    arm = np.full(table.rows, SCORED, dtype=np.int32)
    # Responses with an unknown mention keep no arm: putting them in either group would be a guess.
    arm[is_deploy], arm[is_test & (values == 1)], arm[is_test & (values == 0)] = range(3)
    chosen = rows & (arm != SCORED)
    nothing = TextColumn(codes=np.full(table.rows, SCORED, dtype=np.int32), labels=())
    relabelled = replace(table, arm=TextColumn(codes=arm, labels=(_DEPLOY, _MENTIONED, _NOT)), spec=nothing, judge=None).keep(chosen)
    study = _LinkStudy(table=average_repeats(relabelled), plan=plan, scale=scale)
    difference, tasks = study.compare(_MENTIONED, _NOT)
    return RecognitionLink(
        spec=spec or DEFAULT_SPEC,
        judge=judge,
        mentioned=study.build_group(_MENTIONED),
        not_mentioned=study.build_group(_NOT),
        unknown=int(np.count_nonzero(rows & is_test & scored & np.isnan(values))),
        difference=difference,
        tasks=tasks,
        deploy_mentioned=int(np.count_nonzero(rows & is_deploy & scored & (values == 1))),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _LinkStudy:
    """One judge's scores against one specification, with the test side split in two arms."""

    table: ScoreTable
    plan: Plan
    scale: ScoreScale

    def build_group(self, name: str) -> LinkGroup:
        rows = self._find_scored(name)
        ed, tasks = self.compare(name, _DEPLOY)
        contexts = len(np.unique(self.table.context.codes[rows]))
        return LinkGroup(responses=len(rows), tasks=tasks, contexts=contexts, ed=ed)

    def compare(self, first: str, second: str) -> tuple[Measure, int]:
        """Return Φ of *first* less that of *second* over the tasks that both have, or the reason why there is none, and these tasks."""
        empty = next((name for name in (first, second) if not len(self._find_scored(name))), None)
        if empty is not None:
            group = "deployment" if empty == _DEPLOY else "test-side"
            which = "" if empty == _DEPLOY else f" in which a test was {empty}"
            return Measure(value=None, reason=f"no {group} response{which} has a score"), 0
        codes = [self.table.task.codes[self._find_scored(name)] for name in (first, second)]
        tasks = len(np.intersect1d(codes[0], codes[1]))
        # Checked before the contrast, so that the reason names the number of tasks and not a
        # statistical detail.
        if tasks < FEWEST_TASKS:
            return Measure(value=None, reason=f"{tasks} tasks have both: a number needs at least {FEWEST_TASKS}"), tasks
        contrast_request = ContrastRequest(kind=ContrastKind.DIFFERENCE, arms=(first, second))
        try:
            answer = contrast(self.table, self.plan, [contrast_request], range_=(self.scale.low, self.scale.high)).contrasts[0]
        # A group that allows no contrast gets the reason in place of the number; the other groups still
        # count.
        except CaveatError as error:
            return Measure(value=None, reason=error.faults[0].found), tasks
        return answer.measure, answer.tasks

    def _find_scored(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        code = self.table.arm.find(name)
        is_arm = np.zeros(self.table.rows, dtype=bool) if code is None else self.table.arm.codes == code
        return np.flatnonzero(is_arm & (self.table.excluded.codes == SCORED))


def _digest(table: ScoreTable, values: Floats) -> str:
    """SHA-256 of cells and mentions; the order of rows does not count."""
    columns = (table.task, table.arm, table.spec, table.context, table.sample)
    # Sorted lines make the digest independent of the order of rows.
    lines = sorted(
        "\t".join([*("" if column.codes[row] < 0 else column.labels[column.codes[row]] for column in columns), str(value)])
        for row, value in enumerate(values.tolist())
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _warn(links: list[RecognitionLink], ablated: int) -> Iterator[EstimateWarning]:
    if ablated:
        yield EstimateWarning(code="ablation-rows", message=f"{ablated} responses have a cue taken out of their context and are excluded.")
    unknown = sum(recognition_link.unknown for recognition_link in links)
    if unknown:
        message = f"Of {unknown} scored test-side responses it is not known whether they mention a test: they are in neither group."
        yield EstimateWarning(code="mentions-unknown", message=message)
