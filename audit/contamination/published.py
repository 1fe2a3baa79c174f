"""The compatibility column: the figures of behavioral-eval.json, recomputed the way the study made them, faults included.

A figure of which the files hold a copy and nothing to compute it from is compared with that copy, and counted apart.

Found out from the figures and the study's published analysis: pairs of runs with one index count as independent; p comes from the
normal curve; Wilcoxon drops zeros and breaks ties by their order, without a correction; Cohen's d takes every score of every dimension
as one more observation of two independent groups; means are taken of rounded means; what is undefined is 0 (or p = 1).
None of this is used anywhere else: the other columns are made from the responses anew.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from audit.sources.contamination import Recording, Response, Skill
from registry.records.contamination import ARMS, DIMENSIONS, Compatibility, FigureCount, FigureDifference

Figures = dict[str, Any]

_LARGEST = 1e15
_PARTS = {"baseline": "A", "skill": "B", "realistic": "D"}
_COPY_LENGTHS = (3, 5, 7)
"""Steps of the paths of `_list_copies`."""


def recompute(recording: Recording) -> Figures:
    """Return the figures in the layout of behavioral-eval.json, lists of skills and tasks as objects by name."""
    skills = {skill.name: _analyse_skill(skill) for skill in recording.skills}
    kept = {skill.name: skills[skill.name] for skill in recording.skills if skill.left_out is None}
    left_out = [skill for skill in recording.skills if skill.left_out is not None]
    return {
        "summary": {
            **_summarise([(skill, kept[skill.name]) for skill in recording.skills if skill.name in kept]),
            "excluded_from_aggregates": {skill.name: {"delta": skills[skill.name]["mean_delta_composite"]} for skill in left_out},
            "hidden_contamination": {name: one["hidden_contamination"] for name, one in skills.items() if "hidden_contamination" in one},
        },
        "skills": skills,
    }


def compare_published(recording: Recording) -> Compatibility | None:
    """Return how many published figures the files give, and which they do not; None when nothing was published."""
    if recording.published is None:
        return None
    ours = dict(_list_figures(recompute(recording), ()))
    copies = frozenset(_list_copies(recording))
    compared: dict[str, list[tuple[bool, bool]]] = {}
    differ = []
    for path, value in _list_figures(recording.published, ()):
        found = ours.get(path)
        agrees = found is not None and found == value
        is_copy = found is not None and any(path[:length] in copies for length in _COPY_LENGTHS)
        compared.setdefault(_name_part(path), []).append((is_copy, agrees))
        if not agrees:
            differ.append(FigureDifference(path=".".join(path), published=value, recomputed=found))
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


def _list_copies(recording: Recording) -> Iterable[tuple[str, ...]]:
    """Give the paths below which the files hold figures that nothing in them lets us compute: structural scores, patterns without texts."""
    for skill in recording.skills:
        yield "skills", skill.name, "contamination_score"
        for task in skill.tasks:
            below = ("skills", skill.name, "tasks", task.task_id)
            for part, arm in _PARTS.items():
                runs = [one for one in _list_runs(skill, task.task_id, arm) if one.patterns is not None]
                yield from ((*below, "pattern_results", ARMS[arm], str(at)) for at, one in enumerate(runs) if not one.is_matched)
                if not all(one.is_matched for one in runs):
                    yield (*below, f"anti_pattern_rate_{part}")


def find_figure(published: Mapping[str, Any] | None, *path: str) -> float | None:
    """Return one printed figure, lists of skills and tasks taken as objects by name; None when it is not printed."""
    if published is None:
        return None
    value: Any = published
    for step in path:
        value = _name_items(value)
        value = value.get(step) if isinstance(value, Mapping) else None
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
        named[next((name for name in names if isinstance(name, str)), str(position))] = item
    return named


def _name_part(path: Sequence[str]) -> str:
    if path[0] == "summary":
        return "summary"
    if "tasks" in path:
        return "tasks: patterns" if "pattern_results" in path else "tasks"
    return f"skills: {path[2]}" if len(path) > 3 else "skills"


def _analyse_skill(skill: Skill) -> Figures:
    tasks = {task.task_id: _analyse_task(skill, task.task_id) for task in skill.tasks}
    deltas = [one["delta_composite"] for one in tasks.values() if one["delta_composite"] is not None]
    realistic = [one["delta_composite_realistic"] for one in tasks.values() if one["delta_composite_realistic"] is not None]
    found: Figures = {
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
        found["statistics_realistic"] = {name: value for name, value in tests.items() if not name.startswith("wilcoxon")}
        found["statistics_realistic"]["mitigation_ratio"] = round(_ratio(skill), 3)
    if skill.hidden:
        found["hidden_contamination"] = _split_references(skill)
    return found


def _analyse_task(skill: Skill, task_id: str) -> Figures:
    means = {part: _average_dimensions(skill, task_id, arm) for part, arm in _PARTS.items()}
    deltas = _subtract(means["skill"], means["baseline"])
    realistic = _subtract(means["realistic"], means["baseline"])
    return {
        "deltas": deltas,
        "deltas_realistic": realistic,
        **{f"{part}_means": {name: _round(value) for name, value in one.items()} for part, one in means.items()},
        "pattern_results": {
            ARMS[arm]: [_describe_patterns(one) for one in _list_runs(skill, task_id, arm) if one.patterns is not None]
            for arm in _PARTS.values()
        },
        "delta_composite": _average_rounded(deltas),
        "delta_composite_realistic": _average_rounded(realistic),
        **{f"anti_pattern_rate_{part}": _average_anti(skill, task_id, arm) for part, arm in _PARTS.items()},
    }


def _list_runs(skill: Skill, task_id: str, arm: str) -> list[Response]:
    return [one for one in skill.responses if one.task_id == task_id and one.arm == arm]


def _average_dimensions(skill: Skill, task_id: str, arm: str) -> dict[str, float | None]:
    runs = _list_runs(skill, task_id, arm)
    values = {name: [one.dimensions[name] for one in runs if name in one.dimensions] for name in DIMENSIONS}
    return {name: _mean(one) if one else None for name, one in values.items()}


def _subtract(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in DIMENSIONS:
        one, other = first[name], second[name]
        found[name] = None if one is None or other is None else round(one - other, 3)
    return found


def _average_rounded(deltas: Mapping[str, float | None]) -> float | None:
    known = [value for value in deltas.values() if value is not None]
    return round(_mean(known), 3) if known else None


def _average_anti(skill: Skill, task_id: str, arm: str) -> float:
    rates = [_share(one.patterns[1]) for one in _list_runs(skill, task_id, arm) if one.patterns is not None]
    return round(_mean(rates), 3)


def _describe_patterns(response: Response) -> Figures:
    expected, anti = response.patterns or ((), ())
    return {
        "expected_results": [{"matched": one} for one in expected],
        "expected_hit_count": sum(expected),
        "expected_total": len(expected),
        "expected_hit_rate": _share(expected),
        "anti_results": [{"matched": one} for one in anti],
        "anti_pattern_hit_count": sum(anti),
        "anti_pattern_total": len(anti),
        "anti_pattern_hit_rate": _share(anti),
        "contamination_detected": any(anti),
    }


def _average_by_type(skill: Skill, tasks: Mapping[str, Figures], name: str) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for task in skill.tasks:
        value = tasks[task.task_id][name]
        if value is not None:
            groups.setdefault(task.type_, []).append(value)
    return {type_: round(_mean(values), 3) for type_, values in groups.items()}


def _pair_runs(skill: Skill, arm: str) -> list[float]:
    """Return the differences of the composites of runs with one index, arm less baseline."""
    composites = {(one.task_id, one.run, one.arm): _mean(list(one.dimensions.values())) for one in skill.responses if one.dimensions}
    runs = dict.fromkeys((one.task_id, one.run) for one in skill.responses)
    return [composites[*run, arm] - composites[*run, "A"] for run in runs if (*run, arm) in composites and (*run, "A") in composites]


def _test_runs(skill: Skill, arm: str) -> Figures:
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


def _flatten(skill: Skill, arm: str) -> list[float]:
    return [one.dimensions[name] for name in DIMENSIONS for one in skill.find(arm) if name in one.dimensions]


def _ratio(skill: Skill) -> float:
    with_skill, realistic = _mean(_pair_runs(skill, "B")), _mean(_pair_runs(skill, "D"))
    return 1 - realistic / with_skill if with_skill != 0 else 0.0


def _split_references(skill: Skill) -> Figures:
    without, whole = _pair_runs(skill, "C"), _pair_runs(skill, "B")
    return {
        "skill_md_only_delta": round(_mean(without), 3) if without else None,
        "skill_plus_refs_delta": round(_mean(whole), 3) if whole else None,
        "ref_attribution": round(_mean(whole) - _mean(without), 3) if without and whole else None,
    }


def _summarise(kept: Sequence[tuple[Skill, Figures]]) -> Figures:
    valid = [(skill, one) for skill, one in kept if one["mean_delta_composite"] is not None]
    net_negative = {skill.name: one["mean_delta_composite"] for skill, one in valid if skill.test_category == "net_negative"}
    return {
        "correlation_structural_behavioral": round(
            _correlate([(skill.structural_score, one["mean_delta_composite"]) for skill, one in valid]), 3
        ),
        "n_skills": len(valid),
        "by_risk_level": _group([(skill.risk_level, one["mean_delta_composite"]) for skill, one in valid]),
        "by_test_category": _group([(skill.test_category, one["mean_delta_composite"]) for skill, one in valid]),
        "by_task_type": _group(
            [
                (task.type_, one["tasks"][task.task_id]["delta_composite"])
                for skill, one in valid
                for task in skill.tasks
                if one["tasks"][task.task_id]["delta_composite"] is not None
            ]
        ),
        "net_negative": {
            "skills": {name: {"delta": delta} for name, delta in net_negative.items()},
            "mean_delta": round(_mean(list(net_negative.values())), 3) if net_negative else None,
        },
        "realistic_context": _summarise_realistic(valid),
    }


def _summarise_realistic(valid: Sequence[tuple[Skill, Figures]]) -> Figures:
    both = [(skill, one) for skill, one in valid if one["mean_delta_composite_realistic"] is not None]
    if not both:
        return {}
    ratios = [one["statistics_realistic"]["mitigation_ratio"] for _, one in both if "statistics_realistic" in one]
    return {
        "n_skills": len(both),
        "mean_delta_skill_only": round(_mean([one["mean_delta_composite"] for _, one in both]), 3),
        "mean_delta_realistic": round(_mean([one["mean_delta_composite_realistic"] for _, one in both]), 3),
        "mean_mitigation_ratio": round(_mean(ratios), 3) if ratios else None,
        "correlation_structural_realistic": round(
            _correlate([(skill.structural_score, one["mean_delta_composite_realistic"]) for skill, one in both]), 3
        ),
    }


def _group(values: Iterable[tuple[str, float]]) -> Figures:
    groups: dict[str, list[float]] = {}
    for name, value in values:
        groups.setdefault(name, []).append(value)
    return {name: {"mean_delta": round(_mean(one), 3), "n": len(one)} for name, one in groups.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


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
    t = _mean(differences) / (spread / math.sqrt(len(differences)))
    return t, _two_sided(t)


def _rank_signs(differences: Sequence[float]) -> tuple[float, float]:
    """Ties are ranked in the order in which they come."""
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
    pooled = math.sqrt(squares / freedom) if freedom > 0 else 1.0
    return (_mean(first) - _mean(second)) / pooled if pooled > 0 else 0.0


def _correlate(pairs: Sequence[tuple[float, float]]) -> float:
    if len(pairs) < 3:
        return 0.0
    x, y = _mean([one for one, _ in pairs]), _mean([other for _, other in pairs])
    across = sum((one - x) * (other - y) for one, other in pairs)
    spread = math.sqrt(sum((one - x) ** 2 for one, _ in pairs)) * math.sqrt(sum((other - y) ** 2 for _, other in pairs))
    return across / spread if spread else 0.0
