"""The published figures recomputed as the study made them, and what each statement becomes, with the reason."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from audit.sources.skill_run_folder import SkillResponse, SkillRuns, StudyRecording
from audit.sources.skill_study_records import (
    ARMS,
    DIMENSIONS,
    Aggregate,
    Change,
    Compatibility,
    Correlation,
    EarlierState,
    Effect,
    FigureCount,
    FigureDifference,
    Group,
    Inventory,
    SkillContrasts,
)
from registry.records.estimates import Measure
from registry.report.number_format import format_number, format_range, format_signed

# The compatibility column: the figures of behavioral-eval.json, recomputed by the study's own method,
# errors included.
#
# A figure that the files contain only as a copy, without data to compute it from, is compared with that
# copy and counted separately.
#
# The method was reconstructed from the figures and from the study's published analysis. Pairs of runs
# with one index count as independent. p comes from the normal curve. Wilcoxon drops zeros and breaks
# ties by their order, without a correction. Cohen's d treats every score of every dimension as another
# observation of two independent groups. Means are taken of rounded means. An undefined value becomes 0
# (or p = 1). These deliberately wrong statistics stay in this file: the other columns are computed from
# the responses.

Figures = dict[str, Any]

_LARGEST = 1e15
_PARTS = {"baseline": "A", "skill": "B", "realistic": "D"}
_COPY_LENGTHS = (3, 5, 7)
"""Steps of the paths of `_list_copies`."""


def recompute(recording: StudyRecording) -> Figures:
    """Return the figures in the layout of behavioral-eval.json, lists of skills and tasks as objects by name."""
    skills = {skill.name: _analyse_skill(skill) for skill in recording.skills}
    kept = {skill.name: skills[skill.name] for skill in recording.skills if skill.excluded is None}
    excluded = [skill for skill in recording.skills if skill.excluded is not None]
    return {
        "summary": {
            **_summarise([(skill, kept[skill.name]) for skill in recording.skills if skill.name in kept]),
            "excluded_from_aggregates": {skill.name: {"delta": skills[skill.name]["mean_delta_composite"]} for skill in excluded},
            "hidden_contamination": {
                name: figures["hidden_contamination"] for name, figures in skills.items() if "hidden_contamination" in figures
            },
        },
        "skills": skills,
    }


def compare_published(recording: StudyRecording) -> Compatibility | None:
    """Return how many published figures the files give, and which they do not; None when nothing was published."""
    if recording.published is None:
        return None
    ours = dict(_list_figures(recompute(recording), ()))
    copies = frozenset(_list_copies(recording))
    compared: dict[str, list[tuple[bool, bool]]] = {}
    differ = []
    for path, value in _list_figures(recording.published, ()):
        our = ours.get(path)
        # Exact equality: both sides are rounded by the same rule, so a tolerance would only hide a
        # difference.
        agrees = our is not None and our == value
        # Agreement of a copy shows only that the file was read correctly. It must not count as
        # reproduced.
        is_copy = our is not None and any(path[:length] in copies for length in _COPY_LENGTHS)
        compared.setdefault(_name_part(path), []).append((is_copy, agrees))
        if not agrees:
            differ.append(FigureDifference(path=".".join(path), published=value, recomputed=our))
    return Compatibility(
        total=_count_figures([figure for part in compared.values() for figure in part]),
        by_part={name: _count_figures(part) for name, part in compared.items()},
        differ=tuple(differ),
    )


def _count_figures(figures: Sequence[tuple[bool, bool]]) -> FigureCount:
    """Count figures given as: whether it is a copy, whether it agrees."""
    copies = [agrees for is_copy, agrees in figures if is_copy]
    recomputed = [agrees for is_copy, agrees in figures if not is_copy]
    return FigureCount(recomputed=len(recomputed), reproduced=sum(recomputed), copied=len(copies), copies_agree=sum(copies))


def _list_copies(recording: StudyRecording) -> Iterable[tuple[str, ...]]:
    """Give the paths below which the files hold figures that nothing in them lets us compute: structural scores, patterns without texts."""
    for skill in recording.skills:
        yield "skills", skill.name, "contamination_score"
        for task in skill.tasks:
            below = ("skills", skill.name, "tasks", task.task_id)
            for part, arm in _PARTS.items():
                runs = [run for run in _list_runs(skill, task.task_id, arm) if run.patterns is not None]
                yield from ((*below, "pattern_results", ARMS[arm], str(at)) for at, response in enumerate(runs) if not response.is_matched)
                if not all(response.is_matched for response in runs):
                    yield (*below, f"anti_pattern_rate_{part}")


def find_figure(published: Mapping[str, Any] | None, *path: str) -> float | None:
    """Return one printed figure, lists of skills and tasks taken as objects by name; None when it is not printed."""
    if published is None:
        return None
    value: Any = published
    for step in path:
        value = _name_items(value)
        value = value.get(step) if isinstance(value, Mapping) else None
    # Python's booleans are integers; a yes or no is not a figure to print.
    return float(value) if _is_number(value) and not isinstance(value, bool) else None


def _list_figures(value: Any, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], float]]:
    """Give every number and every yes or no with its path."""
    value = _name_items(value)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _list_figures(inner, (*path, str(name)))
    elif _is_number(value):
        yield path, float(value)


def _is_number(value: Any) -> bool:
    """JSON has whole numbers of any length; what no float holds is no figure of this study."""
    return isinstance(value, int | float) and abs(value) < _LARGEST


def _name_items(value: Any) -> Any:
    """A list of skills or tasks as an object by their names, any other by position."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    named = {}
    for position, item in enumerate(value):
        names = [item.get(key) for key in ("skill_name", "task_id", "name")] if isinstance(item, Mapping) else []
        # Names instead of positions, so that a different order of skills or tasks does not count as a
        # difference.
        named[next((name for name in names if isinstance(name, str)), str(position))] = item
    return named


def _name_part(path: Sequence[str]) -> str:
    if path[0] == "summary":
        return "summary"
    if "tasks" in path:
        return "tasks: patterns" if "pattern_results" in path else "tasks"
    return f"skills: {path[2]}" if len(path) > 3 else "skills"


def _analyse_skill(skill: SkillRuns) -> Figures:
    tasks = {task.task_id: _analyse_task(skill, task.task_id) for task in skill.tasks}
    deltas = [task["delta_composite"] for task in tasks.values() if task["delta_composite"] is not None]
    realistic = [task["delta_composite_realistic"] for task in tasks.values() if task["delta_composite_realistic"] is not None]
    figures: Figures = {
        "contamination_score": skill.structural_score,
        "tasks": tasks,
        "mean_delta_composite": round(_mean(deltas), 3) if deltas else None,
        "stdev_delta_composite": round(_deviation(deltas), 3) if deltas else None,
        "mean_delta_composite_realistic": round(_mean(realistic), 3) if realistic else None,
        "delta_by_task_type": _average_by_type(skill, tasks, "delta_composite"),
        "delta_by_task_type_realistic": _average_by_type(skill, tasks, "delta_composite_realistic"),
        "statistics": _test_runs(skill, "B"),
    }
    if _pair_runs(skill, "D"):
        tests = _test_runs(skill, "D")
        # The published file has no Wilcoxon figures for the realistic condition.
        figures["statistics_realistic"] = {name: value for name, value in tests.items() if not name.startswith("wilcoxon")}
        figures["statistics_realistic"]["mitigation_ratio"] = round(_ratio(skill), 3)
    if skill.hidden:
        figures["hidden_contamination"] = _split_references(skill)
    return figures


def _analyse_task(skill: SkillRuns, task_id: str) -> Figures:
    means = {part: _average_dimensions(skill, task_id, arm) for part, arm in _PARTS.items()}
    deltas = _subtract(means["skill"], means["baseline"])
    realistic = _subtract(means["realistic"], means["baseline"])
    return {
        "deltas": deltas,
        "deltas_realistic": realistic,
        **{
            f"{part}_means": {name: (None if value is None else round(value, 3)) for name, value in mean.items()}
            for part, mean in means.items()
        },
        "pattern_results": {
            ARMS[arm]: [_describe_patterns(run) for run in _list_runs(skill, task_id, arm) if run.patterns is not None]
            for arm in _PARTS.values()
        },
        "delta_composite": _average_rounded(deltas),
        "delta_composite_realistic": _average_rounded(realistic),
        **{f"anti_pattern_rate_{part}": _average_anti(skill, task_id, arm) for part, arm in _PARTS.items()},
    }


def _list_runs(skill: SkillRuns, task_id: str, arm: str) -> list[SkillResponse]:
    return [response for response in skill.responses if response.task_id == task_id and response.arm == arm]


def _average_dimensions(skill: SkillRuns, task_id: str, arm: str) -> dict[str, float | None]:
    runs = _list_runs(skill, task_id, arm)
    values = {name: [run.dimensions[name] for run in runs if name in run.dimensions] for name in DIMENSIONS}
    return {name: _mean(ratings) if ratings else None for name, ratings in values.items()}


def _subtract(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> dict[str, float | None]:
    differences: dict[str, float | None] = {}
    for name in DIMENSIONS:
        value, other = first[name], second[name]
        # Rounded here and averaged afterwards, as the published figures are.
        differences[name] = None if value is None or other is None else round(value - other, 3)
    return differences


def _average_rounded(deltas: Mapping[str, float | None]) -> float | None:
    known = [value for value in deltas.values() if value is not None]
    return round(_mean(known), 3) if known else None


def _average_anti(skill: SkillRuns, task_id: str, arm: str) -> float:
    rates = [_share(run.patterns[1]) for run in _list_runs(skill, task_id, arm) if run.patterns is not None]
    return round(_mean(rates), 3)


def _describe_patterns(response: SkillResponse) -> Figures:
    expected, anti = response.patterns or ((), ())
    return {
        "expected_results": [{"matched": is_match} for is_match in expected],
        "expected_hit_count": sum(expected),
        "expected_total": len(expected),
        "expected_hit_rate": _share(expected),
        "anti_results": [{"matched": is_match} for is_match in anti],
        "anti_pattern_hit_count": sum(anti),
        "anti_pattern_total": len(anti),
        "anti_pattern_hit_rate": _share(anti),
        "contamination_detected": any(anti),
    }


def _average_by_type(skill: SkillRuns, tasks: Mapping[str, Figures], name: str) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for task in skill.tasks:
        value = tasks[task.task_id][name]
        if value is not None:
            groups.setdefault(task.type_, []).append(value)
    return {type_: round(_mean(values), 3) for type_, values in groups.items()}


def _pair_runs(skill: SkillRuns, arm: str) -> list[float]:
    """Return the differences of the composites of runs with one index, arm less baseline."""
    # The composite is averaged again from the dimensions, as the study does.
    composites = {
        (response.task_id, response.run, response.arm): _mean(list(response.dimensions.values()))
        for response in skill.responses
        if response.dimensions
    }
    runs = dict.fromkeys((skill_response.task_id, skill_response.run) for skill_response in skill.responses)
    return [composites[*run, arm] - composites[*run, "A"] for run in runs if (*run, arm) in composites and (*run, "A") in composites]


def _test_runs(skill: SkillRuns, arm: str) -> Figures:
    differences = _pair_runs(skill, arm)
    t, t_p = _test_normal(differences)
    w, w_p = _rank_signs(differences)
    return {
        "n_comparisons": len(differences),
        "paired_t_stat": round(t, 3),
        "paired_t_p": round(t_p, 4),
        "wilcoxon_w": round(w, 3),
        "wilcoxon_p": round(w_p, 4),
        "cohens_d": round(_pool_groups(_flatten(skill, arm), _flatten(skill, "A")), 3),
    }


def _flatten(skill: SkillRuns, arm: str) -> list[float]:
    return [response.dimensions[name] for name in DIMENSIONS for response in skill.find(arm) if name in response.dimensions]


def _ratio(skill: SkillRuns) -> float:
    with_skill, realistic = _mean(_pair_runs(skill, "B")), _mean(_pair_runs(skill, "D"))
    # The study writes 0 where the denominator is 0. Our own column calls this not identified.
    return 1 - realistic / with_skill if with_skill != 0 else 0.0


def _split_references(skill: SkillRuns) -> Figures:
    without, whole = _pair_runs(skill, "C"), _pair_runs(skill, "B")
    return {
        "skill_md_only_delta": round(_mean(without), 3) if without else None,
        "skill_plus_refs_delta": round(_mean(whole), 3) if whole else None,
        "ref_attribution": round(_mean(whole) - _mean(without), 3) if without and whole else None,
    }


def _summarise(kept: Sequence[tuple[SkillRuns, Figures]]) -> Figures:
    valid = [(skill, figures) for skill, figures in kept if figures["mean_delta_composite"] is not None]
    net_negative = {skill.name: figures["mean_delta_composite"] for skill, figures in valid if skill.test_category == "net_negative"}
    return {
        "correlation_structural_behavioral": round(
            _correlate([(skill.structural_score, figures["mean_delta_composite"]) for skill, figures in valid]), 3
        ),
        "n_skills": len(valid),
        "by_risk_level": _group([(skill.risk_level, figures["mean_delta_composite"]) for skill, figures in valid]),
        "by_test_category": _group([(skill.test_category, figures["mean_delta_composite"]) for skill, figures in valid]),
        "by_task_type": _group(
            [
                (task.type_, figures["tasks"][task.task_id]["delta_composite"])
                for skill, figures in valid
                for task in skill.tasks
                if figures["tasks"][task.task_id]["delta_composite"] is not None
            ]
        ),
        "net_negative": {
            "skills": {name: {"delta": delta} for name, delta in net_negative.items()},
            "mean_delta": round(_mean(list(net_negative.values())), 3) if net_negative else None,
        },
        "realistic_context": _summarise_realistic(valid),
    }


def _summarise_realistic(valid: Sequence[tuple[SkillRuns, Figures]]) -> Figures:
    both = [(skill, figures) for skill, figures in valid if figures["mean_delta_composite_realistic"] is not None]
    if not both:
        return {}
    ratios = [figures["statistics_realistic"]["mitigation_ratio"] for _, figures in both if "statistics_realistic" in figures]
    return {
        "n_skills": len(both),
        "mean_delta_skill_only": round(_mean([figures["mean_delta_composite"] for _, figures in both]), 3),
        "mean_delta_realistic": round(_mean([figures["mean_delta_composite_realistic"] for _, figures in both]), 3),
        "mean_mitigation_ratio": round(_mean(ratios), 3) if ratios else None,
        "correlation_structural_realistic": round(
            _correlate([(skill.structural_score, figures["mean_delta_composite_realistic"]) for skill, figures in both]), 3
        ),
    }


def _group(values: Iterable[tuple[str, float]]) -> Figures:
    groups: dict[str, list[float]] = {}
    for name, value in values:
        groups.setdefault(name, []).append(value)
    return {name: {"mean_delta": round(_mean(group), 3), "n": len(group)} for name, group in groups.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _share(matches: Sequence[bool]) -> float:
    return sum(matches) / len(matches) if matches else 0.0


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = _mean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _two_sided(z: float) -> float:
    """P from the normal curve, by the error function."""
    return 2 * (1 - 0.5 * (1 + math.erf(abs(z) / math.sqrt(2))))


def _test_normal(differences: Sequence[float]) -> tuple[float, float]:
    spread = _deviation(differences)
    if spread == 0:
        return 0.0, 1.0
    # A t statistic with a normal p: the study's error, kept here. The correct test is in
    # `audit.statistics.paired_tests`.
    t = _mean(differences) / (spread / math.sqrt(len(differences)))
    return t, _two_sided(t)


def _rank_signs(differences: Sequence[float]) -> tuple[float, float]:
    """Ties are ranked in the order in which they come."""
    # Python's sort is stable, so ties keep the order in which the runs come; this is the study's rank
    # order.
    ordered = sorted((value for value in differences if value != 0), key=abs)
    n = len(ordered)
    if n < 2:
        return 0.0, 1.0
    positive = sum(rank for rank, value in enumerate(ordered, start=1) if value > 0)
    w = min(positive, n * (n + 1) // 2 - positive)
    return w, _two_sided((w - n * (n + 1) / 4) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24))


def _pool_groups(first: Sequence[float], second: Sequence[float]) -> float:
    if not first or not second:
        return 0.0
    freedom = len(first) + len(second) - 2
    squares = (len(first) - 1) * _deviation(first) ** 2 + (len(second) - 1) * _deviation(second) ** 2
    # Two independent groups, although the scores are paired by run.
    pooled = math.sqrt(squares / freedom) if freedom > 0 else 1.0
    return (_mean(first) - _mean(second)) / pooled if pooled > 0 else 0.0


def _correlate(pairs: Sequence[tuple[float, float]]) -> float:
    # The study writes 0 for a correlation of fewer than three skills.
    if len(pairs) < 3:
        return 0.0
    x, y = _mean([value for value, _ in pairs]), _mean([other for _, other in pairs])
    across = sum((value - x) * (other - y) for value, other in pairs)
    spread = math.sqrt(sum((value - x) ** 2 for value, _ in pairs)) * math.sqrt(sum((other - y) ** 2 for _, other in pairs))
    return across / spread if spread else 0.0


# What becomes of each published statement, in one sentence computed from the numbers: the published
# figure, our figure, the reason.

ALPHA = 0.05
"""The threshold below which the study calls a p significant."""

_NAMES = {"B−A": "the skill against the baseline (B−A)", "D−A": "the skill in a realistic context against the baseline (D−A)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResults:
    """What the statements are about."""

    inventory: Inventory
    skills: Sequence[SkillContrasts]
    aggregates: Sequence[Aggregate]
    states: tuple[EarlierState, ...]


def list_changes(study_results: StudyResults, published: Mapping[str, object] | None) -> Iterator[Change]:
    """Give the changes, the most far-reaching first; those that need a published figure only where there is one.

    Args:
        published: the publication; None when there is none, or it is not of these skills: then only what it says of single skills is
            compared.
    """
    inventory, aggregates = study_results.inventory, study_results.aggregates
    kept = [skill for skill in study_results.skills if skill.excluded is None]
    yield from chain.from_iterable(_change_tests(kept, name) for name in _NAMES)
    yield from _change_references(kept)
    # The changes above compare with figures of single skills. The rest compares aggregates.
    if not aggregates or published is None:
        return
    whole = aggregates[0]
    yield from _change_means(whole)
    yield from _change_mitigation(whole, kept)
    yield from _change_seen_whole(whole, inventory)
    yield from (_change_correlation(correlation) for correlation in whole.correlations if correlation.published is not None)
    yield from _change_groups(whole)
    yield from _change_excluded(aggregates, inventory)
    yield from _change_states(study_results.states)
    yield from _change_exclusions(inventory, published)


def format_measure(measure: Measure) -> str:
    """Return a contrast in points with its interval, or why there is none."""
    if measure.value is None:
        return str(measure.reason)
    return f"{format_signed(measure.value)} points{_bounded(measure, signed=True)}"


def format_plain(measure: Measure) -> str:
    """Return a number without a unit, with its interval, or why there is none."""
    if measure.value is None:
        return str(measure.reason)
    return f"{format_number(measure.value)}{_bounded(measure, signed=False)}"


def _bounded(measure: Measure, *, signed: bool) -> str:
    if measure.low is None or measure.high is None:
        return f", no interval: {measure.reason}"
    return f" {format_range(measure.low, measure.high, signed=signed)}"


def _find(skill: SkillContrasts, name: str) -> Effect | None:
    return next((effect for effect in skill.effects if effect.name == name), None)


def _change_tests(kept: Sequence[SkillContrasts], name: str) -> Iterator[Change]:
    effects = [effect for contrasts in kept if (effect := _find(contrasts, name)) is not None]
    printed = [effect.published for effect in effects if effect.published is not None and effect.published.t_p is not None]
    if not printed:
        return
    by_t = sum(published.t_p is not None and published.t_p < ALPHA for published in printed)
    ranked = [published.wilcoxon_p for published in printed if published.wilcoxon_p is not None]
    also = f" by the paired t, {sum(p < ALPHA for p in ranked)} by Wilcoxon" if ranked else " by the paired t"
    before = sum(effect.paired_t.p is not None and effect.paired_t.p < ALPHA for effect in effects)
    # Without a p a test is never rejected, but it still counts in the family.
    after = sum(effect.p_holm is not None and effect.p_holm < ALPHA for effect in effects)
    floor = _find_floor(effects) if ranked else ""
    yield Change(
        about=f"skills that differ, {_NAMES[name]}",
        published=f"{by_t} of {len(printed)} with p < {ALPHA:g}{also}",
        ours=f"{after} of {len(effects)} after Holm by task ({before} before Holm)",
        why="Runs of one task are not independent, so the task is the unit; p comes from t with as many degrees of freedom as there are "
        f"tasks less one, not from the normal curve; {len(effects)} tests are one family.{floor}",
    )


def _change_references(kept: Sequence[SkillContrasts]) -> Iterator[Change]:
    pairs = [
        (contrasts.skill, effect) for contrasts in kept if (effect := _find(contrasts, "B−C")) is not None and effect.published is not None
    ]
    if not pairs:
        return
    apart = sum(_excludes_zero(effect.measure) for _, effect in pairs)
    yield Change(
        about="what the references add, B−C",
        published="; ".join(f"{name} {_print(effect)}" for name, effect in pairs),
        ours="; ".join(f"{name} {format_measure(effect.measure)}" for name, effect in pairs),
        why=f"{apart} of {len(pairs)} intervals exclude 0; they are by task, and not adjusted for their number.",
    )


def _print(effect: Effect) -> str:
    printed = None if effect.published is None else effect.published.delta
    return "–" if printed is None else format_signed(printed)


def _find_floor(effects: Sequence[Effect]) -> str:
    """The smallest p that signed ranks of few tasks can give."""
    fewest = min(effect.units for effect in effects)
    # All n differences with one sign is the extreme case: 2 of 2ⁿ sign flips.
    smallest = 2.0 ** (1 - fewest) if fewest else 1.0
    return f" With {fewest} tasks Wilcoxon cannot give a p below {smallest:g}." if smallest >= ALPHA else ""


def _change_means(whole: Aggregate) -> Iterator[Change]:
    for effect in whole.effects:
        if effect.name not in ("B−A", "D−A", "B−D"):
            continue
        printed = effect.published.delta if effect.published is not None else None
        yield Change(
            about=f"mean over skills, {effect.name}",
            published="not printed" if printed is None else f"{format_number(printed)} points, no interval",
            ours=format_measure(effect.measure),
            why="The two conditions are compared directly, skill by skill."
            if printed is None
            else f"The {effect.units} skills are the unit; the interval holds what varies among skills, tasks and runs.",
        )


def _change_mitigation(whole: Aggregate, kept: Sequence[SkillContrasts]) -> Iterator[Change]:
    if whole.mitigation is None:
        return
    printed = [
        (contrasts.skill, contrasts.mitigation.published)
        for contrasts in kept
        if contrasts.mitigation is not None and contrasts.mitigation.published is not None
    ]
    zeros = [contrasts.skill for contrasts in kept if _has_no_ratio(contrasts)]
    # The skill with the largest ratio shows how one small denominator dominates a mean of ratios.
    worst = max(printed, key=lambda pair: abs(pair[1]), default=None)
    alone = f": {worst[0]} by itself brings {format_number(worst[1])}" if worst is not None else ""
    why = [f"A mean of ratios is ruled by the smallest denominator{alone}"]
    if zeros:
        why.append(f"a ratio over 0 was written as 0 for {', '.join(zeros)}")
    why.append("D has no baseline of its own, so the effect of the context on the baseline is part of the numerator")
    ratio = whole.mitigation.descriptive
    also = (
        f"a ratio of means does not exist either ({ratio.reason})"
        if ratio.value is None
        else f"the ratio of means is {format_plain(ratio)}"
    )
    yield Change(
        about="mitigation 1 − (D−A)/(B−A)",
        published="not printed" if whole.mitigation.published is None else f"{format_number(whole.mitigation.published)}, a mean of ratios",
        ours=f"not identified: no baseline was run in the realistic context. Context and skill taken together, {also}",
        why="; ".join(why) + ".",
    )


def _has_no_ratio(skill_contrasts: SkillContrasts) -> bool:
    effect = _find(skill_contrasts, "B−A")
    # A published 0 can be a real ratio. Only with B−A = 0 does it stand for an undefined one.
    return (
        effect is not None
        and effect.measure.value == 0
        and skill_contrasts.mitigation is not None
        and skill_contrasts.mitigation.published == 0
    )


def _change_seen_whole(whole: Aggregate, inventory: Inventory) -> Iterator[Change]:
    counts = [arm.beyond_judge for arm in inventory.arms]
    # An unknown length in any arm would make the total too low.
    if inventory.visible_chars is None or None in counts:
        return
    beyond = sum(count for count in counts if count is not None)
    effects = "; ".join(
        f"{effect.name} {format_measure(effect.seen_whole)}, {effect.seen_whole_units} skills"
        for effect in whole.effects
        if effect.name in ("B−A", "D−A", "B−D")
    )
    yield Change(
        about="what the judge saw",
        published="not mentioned",
        ours=f"{beyond:,} of {inventory.responses:,} responses are longer than the {inventory.visible_chars:,} characters it was shown "
        f"({', '.join(f'{arm_count.arm} {arm_count.beyond_judge} of {arm_count.responses}' for arm_count in inventory.arms)}). "
        f"Over responses seen whole: {effects}.",
        why="A truncated response looks unfinished to a judge, and arms with longer responses are truncated more often. "
        "Short responses are not a random sample either, so this is a sensitivity reading, not a correction.",
    )


def _change_correlation(correlation: Correlation) -> Change:
    return Change(
        about=f"correlation of the structural score with {correlation.contrast}",
        published="not mentioned" if correlation.published is None else f"{format_number(correlation.published)}, no interval",
        ours=f"Pearson {format_plain(correlation.pearson)}; Spearman {format_plain(correlation.spearman)}",
        why=f"{correlation.skills} skills are too few to show or to exclude a correlation of either sign.",
    )


def _change_groups(whole: Aggregate) -> Iterator[Change]:
    for by, name in (("risk_level", "risk levels"), ("test_category", "test categories"), ("task_type", "task types")):
        groups = [group for group in whole.groups if group.by == by and group.contrast == "B−A"]
        printed = [f"{_spell(group)} {format_number(group.published)}" for group in groups if group.published is not None]
        if not printed:
            continue
        # One skill has no spread between skills, so it is named and not counted as a group.
        single = [_spell(group) for group in groups if group.skills == 1]
        shown = [group for group in groups if group.measure.low is not None and group.measure.high is not None]
        apart = [_spell(group) for group in shown if _excludes_zero(group.measure)]
        yield Change(
            about=f"{name}, B−A",
            published="; ".join(printed),
            ours=f"{len(apart)} of {len(shown)} intervals exclude 0"
            + (f": {', '.join(apart)}" if apart else "")
            + (f"; not groups, with one skill each: {', '.join(single)}" if single else ""),
            why="Each interval is over the skills of the group, and not adjusted for the number of groups."
            + (" With two skills it says next to nothing." if any(group.skills == 2 for group in groups) else ""),
        )


def _spell(group: Group) -> str:
    return group.name.replace("_", " ")


def _excludes_zero(measure: Measure) -> bool:
    return measure.low is not None and measure.high is not None and (measure.low > 0 or measure.high < 0)


def _change_excluded(aggregates: Sequence[Aggregate], inventory: Inventory) -> Iterator[Change]:
    if len(aggregates) < 2 or not inventory.excluded:
        return
    kept, every = ({effect.name: effect for effect in aggregate.effects} for aggregate in aggregates)
    comparisons = [
        f"{name} {format_measure(every[name].measure)} instead of {format_measure(kept[name].measure) if name in kept else 'none'}"
        for name in ("B−A", "D−A")
        if name in every
    ]
    yield Change(
        about="skills excluded from the aggregates",
        published=", ".join(f"{out.skill} ({out.reason})" for out in inventory.excluded),
        ours=f"with them: {'; '.join(comparisons)}",
        why="Nothing on record shows that this was decided before their results were seen, so both readings are shown.",
    )


def _change_states(states: Sequence[EarlierState]) -> Iterator[Change]:
    if not states:
        return
    moved = []
    for state in states:
        then, now = state.deltas["B−A"]
        # Only a contrast that exists in both states can have moved.
        if then is not None and now is not None:
            moved.append(f"{state.skill} {format_signed(then)} then, {format_signed(now)} now")
    yield Change(
        about="skills that were run or scored again",
        published="not mentioned",
        ours=f"{len(states)} have an earlier state on record. B−A: {'; '.join(moved)}",
        why="The later state counts, and nothing on record says why it replaced the earlier one. How far a contrast moves in a new run "
        "shows how large the part of chance, or of a changed set-up, can be.",
    )


def _change_exclusions(inventory: Inventory, published: Mapping[str, object]) -> Iterator[Change]:
    if not inventory.exclusions:
        return
    counts = {
        exclusion.skill: find_figure(published, "skills", exclusion.skill, "statistics_realistic", "n_comparisons")
        for exclusion in inventory.exclusions
    }
    seen = ", ".join(
        f"{exclusion.skill} {exclusion.task_id} run {exclusion.run} arm {exclusion.arm}: {exclusion.reason}"
        for exclusion in inventory.exclusions
    )
    yield Change(
        about="responses without a score",
        published="not mentioned; n of " + ", ".join(f"{name} is {count:.0f}" for name, count in counts.items() if count is not None),
        ours=f"{len(inventory.exclusions)} excluded: {seen}",
        why="Each contrast also carries its value for the worst and the best score that they could have had.",
    )
