"""What each published statement becomes, and why: one sentence each, composed from the numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from audit.contamination.published import find_figure
from registry.records.contamination import (
    Aggregate,
    Change,
    Correlation,
    EarlierState,
    Effect,
    Group,
    Inventory,
    SkillContrasts,
)
from registry.records.measure import Measure
from registry.report.numbers import format_number, format_range, format_signed

ALPHA = 0.05
"""The threshold below which the study calls a p significant."""

_NAMES = {"B−A": "the skill against the baseline (B−A)", "D−A": "the skill in a realistic context against the baseline (D−A)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the statements are about."""

    inventory: Inventory
    skills: Sequence[SkillContrasts]
    aggregates: Sequence[Aggregate]
    states: tuple[EarlierState, ...]


def list_changes(found: Found, published: Mapping[str, object] | None) -> Iterator[Change]:
    """Give the changes, the most far-reaching first; those that need a published figure only where there is one.

    Args:
        published: the publication; None when there is none, or it is not of these skills: then only what it says of single skills is
            compared.
    """
    inventory, aggregates = found.inventory, found.aggregates
    kept = [one for one in found.skills if one.left_out is None]
    yield from chain.from_iterable(_change_tests(kept, name) for name in _NAMES)
    yield from _change_references(kept)
    if not aggregates or published is None:
        return
    whole = aggregates[0]
    yield from _change_means(whole)
    yield from _change_mitigation(whole, kept)
    yield from _change_seen_whole(whole, inventory)
    yield from (_change_correlation(one) for one in whole.correlations if one.published is not None)
    yield from _change_groups(whole)
    yield from _change_left_out(aggregates, inventory)
    yield from _change_states(found.states)
    yield from _change_exclusions(inventory, published)


def measured(measure: Measure) -> str:
    """Return a contrast in points with its interval, or why there is none."""
    if measure.value is None:
        return str(measure.reason)
    return f"{format_signed(measure.value)} points{_bounded(measure, signed=True)}"


def plain(measure: Measure) -> str:
    """Return a number without a unit, with its interval, or why there is none."""
    if measure.value is None:
        return str(measure.reason)
    return f"{format_number(measure.value)}{_bounded(measure, signed=False)}"


def _bounded(measure: Measure, *, signed: bool) -> str:
    if measure.low is None or measure.high is None:
        return f", no interval: {measure.reason}"
    return f" {format_range(measure.low, measure.high, signed=signed)}"


def _find(skill: SkillContrasts, name: str) -> Effect | None:
    return next((one for one in skill.effects if one.name == name), None)


def _change_tests(kept: Sequence[SkillContrasts], name: str) -> Iterator[Change]:
    effects = [effect for one in kept if (effect := _find(one, name)) is not None]
    printed = [one.published for one in effects if one.published is not None and one.published.t_p is not None]
    if not printed:
        return
    by_t = sum(one.t_p is not None and one.t_p < ALPHA for one in printed)
    ranked = [one.wilcoxon_p for one in printed if one.wilcoxon_p is not None]
    also = f" by the paired t, {sum(p < ALPHA for p in ranked)} by Wilcoxon" if ranked else " by the paired t"
    before = sum(one.paired_t.p is not None and one.paired_t.p < ALPHA for one in effects)
    after = sum(one.p_holm is not None and one.p_holm < ALPHA for one in effects)
    floor = _find_floor(effects) if ranked else ""
    yield Change(
        about=f"skills that differ, {_NAMES[name]}",
        published=f"{by_t} of {len(printed)} with p < {ALPHA:g}{also}",
        ours=f"{after} of {len(effects)} after Holm by task ({before} before Holm)",
        why="Runs of one task are not independent, so the task is the unit; p comes from t with as many degrees of freedom as there are "
        f"tasks less one, not from the normal curve; {len(effects)} tests are one family.{floor}",
    )


def _change_references(kept: Sequence[SkillContrasts]) -> Iterator[Change]:
    pairs = [(one.skill, effect) for one in kept if (effect := _find(one, "B−C")) is not None and effect.published is not None]
    if not pairs:
        return
    apart = sum(_excludes_zero(effect.measure) for _, effect in pairs)
    yield Change(
        about="what the references add, B−C",
        published="; ".join(f"{name} {_print(effect)}" for name, effect in pairs),
        ours="; ".join(f"{name} {measured(effect.measure)}" for name, effect in pairs),
        why=f"{apart} of {len(pairs)} intervals exclude 0; they are by task, and not adjusted for their number.",
    )


def _print(effect: Effect) -> str:
    printed = None if effect.published is None else effect.published.delta
    return "–" if printed is None else format_signed(printed)


def _find_floor(effects: Sequence[Effect]) -> str:
    """The smallest p that signed ranks of few tasks can give."""
    fewest = min(one.units for one in effects)
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
            ours=measured(effect.measure),
            why="The two conditions are compared directly, skill by skill."
            if printed is None
            else f"The {effect.units} skills are the unit; the interval holds what varies among skills, tasks and runs.",
        )


def _change_mitigation(whole: Aggregate, kept: Sequence[SkillContrasts]) -> Iterator[Change]:
    if whole.mitigation is None:
        return
    printed = [(one.skill, one.mitigation.published) for one in kept if one.mitigation is not None and one.mitigation.published is not None]
    zeros = [one.skill for one in kept if _has_no_ratio(one)]
    worst = max(printed, key=lambda one: abs(one[1]), default=None)
    alone = f": {worst[0]} alone brings {format_number(worst[1])}" if worst is not None else ""
    why = [f"A mean of ratios is ruled by the smallest denominator{alone}"]
    if zeros:
        why.append(f"a ratio over 0 was written as 0 for {', '.join(zeros)}")
    why.append("D has no baseline of its own, so what the context does to the baseline stands in the numerator")
    ratio = whole.mitigation.descriptive
    also = f"a ratio of means does not exist either ({ratio.reason})" if ratio.value is None else f"the ratio of means is {plain(ratio)}"
    yield Change(
        about="mitigation 1 − (D−A)/(B−A)",
        published="not printed" if whole.mitigation.published is None else f"{format_number(whole.mitigation.published)}, a mean of ratios",
        ours=f"not identified: no baseline was run in the realistic context. Context and skill taken together, {also}",
        why="; ".join(why) + ".",
    )


def _has_no_ratio(one: SkillContrasts) -> bool:
    effect = _find(one, "B−A")
    return effect is not None and effect.measure.value == 0 and one.mitigation is not None and one.mitigation.published == 0


def _change_seen_whole(whole: Aggregate, inventory: Inventory) -> Iterator[Change]:
    counts = [one.beyond_judge for one in inventory.arms]
    if inventory.visible_chars is None or None in counts:
        return
    beyond = sum(count for count in counts if count is not None)
    told = "; ".join(
        f"{one.name} {measured(one.seen_whole)}, {one.seen_whole_units} skills"
        for one in whole.effects
        if one.name in ("B−A", "D−A", "B−D")
    )
    yield Change(
        about="what the judge saw",
        published="not mentioned",
        ours=f"{beyond:,} of {inventory.responses:,} responses are longer than the {inventory.visible_chars:,} characters it was shown "
        f"({', '.join(f'{one.arm} {one.beyond_judge} of {one.responses}' for one in inventory.arms)}). "
        f"Over responses seen whole: {told}.",
        why="A response that is cut looks unfinished to a judge, and arms whose responses are longer are cut more often; "
        "which responses are short is no accident either, so this is a sensitivity reading, not a correction.",
    )


def _change_correlation(one: Correlation) -> Change:
    return Change(
        about=f"correlation of the structural score with {one.contrast}",
        published="not mentioned" if one.published is None else f"{format_number(one.published)}, no interval",
        ours=f"Pearson {plain(one.pearson)}; Spearman {plain(one.spearman)}",
        why=f"{one.skills} skills leave room for a correlation of either sign; that none was found does not show that there is none.",
    )


def _change_groups(whole: Aggregate) -> Iterator[Change]:
    for by, name in (("risk_level", "risk levels"), ("test_category", "test categories"), ("task_type", "task types")):
        groups = [one for one in whole.groups if one.by == by and one.contrast == "B−A"]
        printed = [f"{_spell(one)} {format_number(one.published)}" for one in groups if one.published is not None]
        if not printed:
            continue
        single = [_spell(one) for one in groups if one.skills == 1]
        shown = [one for one in groups if one.measure.low is not None and one.measure.high is not None]
        apart = [_spell(one) for one in shown if _excludes_zero(one.measure)]
        yield Change(
            about=f"{name}, B−A",
            published="; ".join(printed),
            ours=f"{len(apart)} of {len(shown)} intervals exclude 0"
            + (f": {', '.join(apart)}" if apart else "")
            + (f"; not groups, with one skill each: {', '.join(single)}" if single else ""),
            why="Each interval is over the skills of the group, and not adjusted for the number of groups."
            + (" With two skills it says next to nothing." if any(one.skills == 2 for one in groups) else ""),
        )


def _spell(group: Group) -> str:
    return group.name.replace("_", " ")


def _excludes_zero(measure: Measure) -> bool:
    return measure.low is not None and measure.high is not None and (measure.low > 0 or measure.high < 0)


def _change_left_out(aggregates: Sequence[Aggregate], inventory: Inventory) -> Iterator[Change]:
    if len(aggregates) < 2 or not inventory.left_out:
        return
    kept, every = ({one.name: one for one in aggregate.effects} for aggregate in aggregates)
    told = [
        f"{name} {measured(every[name].measure)} instead of {measured(kept[name].measure) if name in kept else 'none'}"
        for name in ("B−A", "D−A")
        if name in every
    ]
    yield Change(
        about="skills left out of the aggregates",
        published=", ".join(f"{one.skill} ({one.reason})" for one in inventory.left_out),
        ours=f"with them: {'; '.join(told)}",
        why="Nothing on record shows that this was decided before their results were seen, so both readings are shown.",
    )


def _change_states(states: Sequence[EarlierState]) -> Iterator[Change]:
    if not states:
        return
    moved = []
    for one in states:
        then, now = one.deltas["B−A"]
        if then is not None and now is not None:
            moved.append(f"{one.skill} {format_signed(then)} then, {format_signed(now)} now")
    yield Change(
        about="skills that were run or scored again",
        published="not mentioned",
        ours=f"{len(states)} have an earlier state on record. B−A: {'; '.join(moved)}",
        why="The later state counts, and nothing on record says why it replaced the earlier one. How far a contrast moves when it is "
        "made again shows how much of it is chance, or a changed set-up.",
    )


def _change_exclusions(inventory: Inventory, published: Mapping[str, object]) -> Iterator[Change]:
    if not inventory.exclusions:
        return
    counts = {
        one.skill: find_figure(published, "skills", one.skill, "statistics_realistic", "n_comparisons") for one in inventory.exclusions
    }
    seen = ", ".join(f"{one.skill} {one.task_id} run {one.run} arm {one.arm}: {one.reason}" for one in inventory.exclusions)
    yield Change(
        about="responses without a score",
        published="not mentioned; n of " + ", ".join(f"{name} is {count:.0f}" for name, count in counts.items() if count is not None),
        ours=f"{len(inventory.exclusions)} excluded: {seen}",
        why="Each contrast also carries its value for the worst and the best score that they could have had.",
    )
