"""The study read again as a whole: inventory, patterns, every skill, all skills, and the published figures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from audit.contamination.published_figures import StudyResults, compare_published, find_figure, list_changes
from audit.contamination.skill_contrasts import (
    CONTRASTS,
    MITIGATED,
    ContrastSettings,
    SkillSample,
    UnitRows,
    adjust_by_holm,
    build_aggregate,
    build_effect,
    build_mitigation,
    choose_seen_whole,
    contrast_patterns,
    estimate_contrast,
    find_differences,
    list_task_rows,
    read_composite,
    read_skill,
)
from audit.errors import DesignError
from audit.pattern_search import PatternKind, is_literal
from audit.sources.skill_run_folder import KINDS, SkillResponse, SkillRuns, SkillTaskRun, StudyRecording
from audit.sources.skill_study_records import (
    ARMS,
    HIGHEST,
    LOWEST,
    AbsentContrast,
    Aggregate,
    ArmCount,
    ContaminationStudy,
    EarlierState,
    Effect,
    ExcludedSkill,
    Exclusion,
    Inventory,
    Mitigation,
    PatternCount,
    PatternDifference,
    Published,
    Rematch,
    SkillContrasts,
    TaskPatterns,
    TaskRow,
    UnmatchedResponses,
)
from registry.errors import Fault, suggest
from registry.records.estimates import EstimateWarning, Measure

# Inventory of a recording, and differences from earlier states of its files.

_FOLLOWED = {"B−A": ("B", "A"), "D−A": ("D", "A")}


def build_inventory(recording: StudyRecording, skills: Sequence[SkillRuns]) -> Inventory:
    """Return the counts of *skills*, a selection of those in *recording*."""
    responses = [response for skill in skills for response in skill.responses]
    facts = recording.facts
    return Inventory(
        skills=len(skills),
        tasks=sum(len(skill.tasks) for skill in skills),
        responses=len(responses),
        generators=tuple(sorted({skill.generator for skill in skills if skill.generator})),
        judges=tuple(sorted({skill.judge for skill in skills if skill.judge})),
        visible_chars=facts.visible_chars,
        token_limit=facts.token_limit,
        arms=tuple(_count_arm(arm, skills, recording) for arm in ARMS if any(skill_response.arm == arm for skill_response in responses)),
        exclusions=tuple(
            Exclusion(
                skill=skill.name,
                task_id=skill_response.task_id,
                run=skill_response.run,
                arm=skill_response.arm,
                reason=skill_response.excluded,
            )
            for skill in skills
            for skill_response in skill.responses
            if skill_response.excluded is not None
        ),
        excluded=tuple(ExcludedSkill(skill=skill.name, reason=skill.excluded) for skill in skills if skill.excluded is not None),
        notes=recording.notes,
    )


def _count_arm(arm: str, skills: Sequence[SkillRuns], recording: StudyRecording) -> ArmCount:
    responses = [skill_response for skill in skills for skill_response in skill.find(arm)]
    scored = sum(response.excluded is None for response in responses)
    limit = recording.facts.token_limit
    return ArmCount(
        arm=arm,
        condition=ARMS[arm],
        skills=sum(bool(skill.find(arm)) for skill in skills),
        responses=len(responses),
        scored=scored,
        excluded=len(responses) - scored,
        beyond_judge=_count_beyond(responses, recording),
        at_token_limit=None
        if limit is None
        else _count(_reaches(skill_response, limit) for skill_response in responses if not skill_response.failed),
        cached=_count(skill_response.cached for skill_response in responses),
        judge_cached=_count(skill_response.judge_cached for skill_response in responses if skill_response.excluded is None),
    )


def _count_beyond(responses: Sequence[SkillResponse], recording: StudyRecording) -> int | None:
    visible = recording.facts.visible_chars
    # A judge that saw every response whole has none beyond its view, whatever the lengths.
    if recording.facts.is_seen_whole:
        return 0
    texts = [response for response in responses if not response.failed]
    return None if visible is None else _count(None if text.chars is None else text.chars > visible for text in texts)


def _is_changed(then: SkillResponse, now: SkillResponse) -> bool | None:
    """Whether the text is another one; None where one of the two is not known. A call without an answer has none."""
    # Without a digest on both sides a changed text cannot be told from the same text scored again.
    unknown = any(response.digest is None and not response.failed for response in (then, now))
    return None if unknown else then.digest != now.digest


def _reaches(response: SkillResponse, limit: int) -> bool | None:
    return None if response.output_tokens is None else response.output_tokens >= limit


def _count(known: Iterable[bool | None]) -> int | None:
    """Return how many are true; None as soon as one is not known."""
    listed = list(known)
    return None if any(flag is None for flag in listed) else sum(flag is True for flag in listed)


def compare_states(recording: StudyRecording, skills: Sequence[SkillRuns], settings: ContrastSettings) -> tuple[EarlierState, ...]:
    """Return one row per skill of *skills* and earlier state; states in the order of their folders' names."""
    present = {skill.name: skill for skill in skills}
    return tuple(
        _compare(state, earlier, present[earlier.name], settings)
        for state, group in sorted(recording.earlier.items())
        for earlier in group
        if earlier.name in present
    )


def _compare(state: str, earlier: SkillRuns, now: SkillRuns, settings: ContrastSettings) -> EarlierState:
    then = {(response.task_id, response.run, response.arm): response for response in earlier.responses}
    # Only responses of the same task, run and arm are comparable. Others are not counted as changed.
    pairs = [
        (then[key], skill_response)
        for skill_response in now.responses
        if (key := (skill_response.task_id, skill_response.run, skill_response.arm)) in then
    ]
    texts = [_is_changed(skill_response, other) for skill_response, other in pairs]
    scores = [skill_response.composite != other.composite for skill_response, other in pairs]
    return EarlierState(
        state=state,
        skill=now.name,
        scored_at=earlier.scored_at,
        scored_at_now=now.scored_at,
        compared=len(pairs),
        texts_changed=_count(texts),
        scores_changed=sum(scores),
        # A changed score on an unchanged text means that the judge scored it again.
        rescored=None if None in texts else sum(score and not text for score, text in zip(scores, texts, strict=True)),
        failed=sum(skill_response.excluded is not None for skill_response in earlier.responses),
        deltas={name: (_average(earlier, arms, settings), _average(now, arms, settings)) for name, arms in _FOLLOWED.items()},
    )


def _average(skill: SkillRuns, arms: tuple[str, str], settings: ContrastSettings) -> float | None:
    spec = estimate_contrast(list_task_rows(skill, read_composite), arms, settings, (LOWEST, HIGHEST))
    return None if isinstance(spec, str) else spec.ed.value


# The patterns that define a match, with their files, and the results of matching them again.

NOTHING_RECORDED = "no results are recorded apart from these"


def list_patterns(recording: StudyRecording, skills: Sequence[SkillRuns]) -> Iterator[TaskPatterns]:
    """Give the patterns of each task of *skills*, counted over its responses under all conditions."""
    for skill in skills:
        for task in skill.tasks:
            yield _describe_task(skill, task, recording.files)


def _describe_task(skill: SkillRuns, task: SkillTaskRun, files: Mapping[str, str]) -> TaskPatterns:
    searched: Counter[tuple[PatternKind, str]] = Counter()
    counter: Counter[tuple[PatternKind, str]] = Counter()
    for response in skill.responses:
        for kind, pattern, matched in _pair(response) if response.task_id == task.task_id else ():
            searched[kind, pattern] += 1
            counter[kind, pattern] += matched
    counts = tuple(
        PatternCount(kind=kind, pattern=pattern, literal=is_literal(pattern), responses=number, found=counter[kind, pattern])
        for (kind, pattern), number in searched.items()
    )
    reasons = sorted({response.unmatched for response in skill.responses if response.task_id == task.task_id and response.unmatched})
    return TaskPatterns(
        skill=skill.name,
        task_id=task.task_id,
        file=task.pattern_file,
        sha256=None if task.pattern_file is None else files.get(task.pattern_file),
        patterns=counts,
        sources=task.pattern_sources,
        # A task can have patterns that were not matched here, and the reasons then replace the counts.
        reason=None if counts else "; ".join(reasons) or "the task has no patterns",
    )


def _pair(response: SkillResponse) -> Iterator[tuple[PatternKind, str, bool]]:
    if response.patterns is None or response.pattern_texts is None:
        return
    for kind, texts, results in zip(KINDS, response.pattern_texts, response.patterns, strict=True):
        for pattern, matched in zip(texts, results, strict=True):
            yield kind, pattern, matched


def compare_matches(skills: Sequence[SkillRuns]) -> Rematch:
    """Return what matching the patterns of *skills* anew gave, next to what the study records."""
    matched = [(skill, response) for skill in skills for response in skill.responses if response.is_matched]
    recorded = [(skill, response) for skill, response in matched if response.recorded is not None]
    compared = sum(len(list(_pair(response))) for _, response in recorded)
    return Rematch(
        responses=len(matched),
        searches=sum(len(list(_pair(response))) for _, response in matched),
        # 0 differences out of nothing compared would read as agreement, so the count is None.
        compared=compared if recorded else None,
        reason=None if recorded else NOTHING_RECORDED if matched else "no response was matched here",
        differ=tuple(difference for skill, response in recorded for difference in _list_differences(skill, response)),
        unmatched=tuple(_count_unmatched(skills)),
    )


def _list_differences(skill: SkillRuns, response: SkillResponse) -> Iterator[PatternDifference]:
    before = [result for results in response.recorded or () for result in results]
    for (kind, pattern, matched), recorded in zip(_pair(response), before, strict=True):
        if matched is not recorded:
            yield PatternDifference(
                skill=skill.name,
                task_id=response.task_id,
                run=response.run,
                arm=response.arm,
                kind=kind,
                pattern=pattern,
                recorded=recorded,
                matched=matched,
            )


def _count_unmatched(skills: Sequence[SkillRuns]) -> Iterator[UnmatchedResponses]:
    left = [response for skill in skills for response in skill.responses if response.unmatched is not None]
    for reason, number in Counter(str(response.unmatched) for response in left).items():
        copied = sum(response.patterns is not None for response in left if response.unmatched == reason)
        yield UnmatchedResponses(reason=reason, responses=number, copied=copied)


# The whole study: each skill by task, all skills by skill, with the published figures for comparison.
#
# The unit is the task within a skill, and the skill for statements about skills. Every effect rests on
# the responses of the recording. The published statistics are recomputed in `published_figures` only
# for comparison, and nothing else uses them.

ENOUGH_TASKS = 20
"""Tasks below which no verdict is given (statistics.md section 3)."""

_TESTS = {"B−A": "statistics", "D−A": "statistics_realistic"}
_DELTAS = {
    "B−A": ("mean_delta_composite",),
    "D−A": ("mean_delta_composite_realistic",),
    "C−A": ("hidden_contamination", "skill_md_only_delta"),
    "B−C": ("hidden_contamination", "ref_attribution"),
}


def build_study(recording: StudyRecording, settings: ContrastSettings, *, names: Sequence[str] = ()) -> ContaminationStudy:
    """Return the study over the skills called *names*, over all without any.

    Published aggregates are printed next to ours only where both are made of the same skills. The figures of the compatibility column are
    always compared for the whole recording.

    Raises:
        DesignError: a name that no skill has.
    """
    # A misspelt name must fail before the study is computed, since a selection changes which figures
    # are compared.
    check_names(recording, names)
    skills = tuple(skill for skill in recording.skills if not names or skill.name in names)
    seen_whole = choose_seen_whole(recording.facts.visible_chars, is_whole=recording.facts.is_seen_whole)
    readings = {skill.name: read_skill(skill, read_composite, seen_whole) for skill in skills}
    contrasts = _contrast_skills(skills, readings, recording.published, settings)
    # Published aggregates cover all skills. A selection has no published counterpart.
    whole = len(skills) == len(recording.skills)
    aggregates = _aggregate(skills, readings, recording.published if whole else None, settings)
    study_results = StudyResults(
        inventory=build_inventory(recording, skills),
        skills=contrasts,
        aggregates=aggregates,
        states=compare_states(recording, skills, settings),
    )
    return ContaminationStudy(
        level=settings.level,
        margin=settings.margin,
        range=(LOWEST, HIGHEST),
        family=_name_family(contrasts),
        selected=tuple(names) or None,
        inventory=study_results.inventory,
        skills=contrasts,
        aggregates=aggregates,
        # Always over the whole recording, because the published file is one document.
        compatibility=compare_published(recording),
        changes=tuple(list_changes(study_results, recording.published if whole else None)),
        states=study_results.states,
        warnings=tuple(_list_warnings(contrasts, aggregates)),
        absent=tuple(_list_absent(skills, contrasts, aggregates)),
        patterns=tuple(list_patterns(recording, skills)),
        rematch=compare_matches(skills),
        files=recording.files,
    )


def check_names(recording: StudyRecording, names: Sequence[str]) -> None:
    """Refuse names that no skill of *recording* has, all at once."""
    known = [skill.name for skill in recording.skills]
    faults = []
    for name in names:
        if name not in known:
            advice = suggest(name, known) or "leave --skill out to see all"
            faults.append(Fault("unknown-name", "--skill", f"no skill is called {name!r}", advice=advice))
    if faults:
        raise DesignError(faults)


def _contrast_skills(
    skills: Sequence[SkillRuns], readings: Mapping[str, UnitRows], published: Mapping[str, object] | None, settings: ContrastSettings
) -> tuple[SkillContrasts, ...]:
    effects: dict[str, list[Effect]] = {skill.name: [] for skill in skills}
    for name, arms in CONTRASTS.items():
        tried = [skill for skill in skills if all(skill.find(arm) for arm in arms)]
        # Holm's rule needs the p of every skill of a contrast, so the effects are built contrast by
        # contrast.
        made = [build_effect(name, readings[skill.name], settings, _find_tests(published, skill, name)) for skill in tried]
        for skill, effect in zip(tried, adjust_by_holm(made, [skill.excluded is None for skill in tried]), strict=True):
            effects[skill.name].append(effect)
    return tuple(
        SkillContrasts(
            skill=skill.name,
            structural_score=skill.structural_score,
            risk_level=skill.risk_level,
            test_category=skill.test_category,
            excluded=skill.excluded,
            tasks=tuple(_build_row(skill, task.task_id, published) for task in skill.tasks),
            effects=tuple(effects[skill.name]),
            mitigation=_mitigate(skill, readings[skill.name], published, settings),
            patterns=tuple(contrast_patterns(skill, settings)),
        )
        for skill in skills
    )


def _find_tests(published: Mapping[str, object] | None, skill: SkillRuns, contrast: str) -> Published | None:
    if contrast not in _DELTAS:
        return None
    delta = find_figure(published, "skills", skill.name, *_DELTAS[contrast])
    if delta is None:
        return None
    figures = {name: find_figure(published, "skills", skill.name, _TESTS.get(contrast, ""), name) for name in _FIGURES.values()}
    count = figures["n_comparisons"]
    return Published(
        delta=delta, n=None if count is None else int(count), **{ours: figures[name] for ours, name in _FIGURES.items() if ours != "n"}
    )


_FIGURES = {
    "n": "n_comparisons",
    "t": "paired_t_stat",
    "t_p": "paired_t_p",
    "wilcoxon_w": "wilcoxon_w",
    "wilcoxon_p": "wilcoxon_p",
    "cohens_d": "cohens_d",
}


def _build_row(skill: SkillRuns, task_id: str, published: Mapping[str, object] | None) -> TaskRow:
    task = next(run for run in skill.tasks if run.task_id == task_id)
    means: dict[str, float | None] = {}
    for arm in ARMS:
        scores = [response.composite for response in skill.find(arm) if response.task_id == task_id and response.composite is not None]
        if skill.find(arm):
            # An arm that was run without a score stays in the row as None; an arm that was not run has
            # no entry.
            means[arm] = sum(scores) / len(scores) if scores else None
    return TaskRow(
        task_id=task_id,
        task_type=task.type_,
        language=task.language,
        means=means,
        published_delta=find_figure(published, "skills", skill.name, "tasks", task_id, "delta_composite"),
    )


def _mitigate(skill: SkillRuns, reading: UnitRows, published: Mapping[str, object] | None, settings: ContrastSettings) -> Mitigation | None:
    return build_mitigation(
        {name: find_differences(reading, name, settings) for name in MITIGATED},
        settings,
        find_figure(published, "skills", skill.name, "statistics_realistic", "mitigation_ratio"),
    )


def _aggregate(
    skills: Sequence[SkillRuns],
    readings: Mapping[str, UnitRows],
    published: Mapping[str, object] | None,
    settings: ContrastSettings,
) -> tuple[Aggregate, ...]:
    kept = [skill for skill in skills if skill.excluded is None]
    samples = [SkillSample(name="kept", skills=kept, readings={runs.name: readings[runs.name] for runs in kept}, published=published)]
    # No record shows that skills were excluded before their results were known. So both samples are
    # reported.
    if len(kept) < len(skills):
        # The published aggregates exclude these skills, so there is nothing to compare with.
        samples.append(SkillSample(name="all", skills=skills, readings=readings, published=None))
    return tuple(build_aggregate(sample, settings) for sample in samples)


def _name_family(contrasts: Sequence[SkillContrasts]) -> str:
    kept = sum(contrast.excluded is None for contrast in contrasts)
    return f"one family per contrast: the paired t of each of the {kept} skills that the study kept (and, apart, of all {len(contrasts)})"


def _list_absent(
    skills: Sequence[SkillRuns], contrasts: Sequence[SkillContrasts], aggregates: Sequence[Aggregate]
) -> Iterator[AbsentContrast]:
    """Give each contrast that no skill has, or that has no mean over the kept skills, with the reason."""
    # A contrast that is simply missing would look like one without effect. So each absence gets a
    # reason.
    tried = {arm for skill in skills for arm in ARMS if skill.find(arm)}
    for name, arms in CONTRASTS.items():
        effects = [(skill, effect) for skill in contrasts for effect in skill.effects if effect.name == name]
        missing = [f"{arm} {ARMS[arm]}" for arm in arms if arm not in tried]
        if not effects:
            reason = f"no response under {' or '.join(missing)}" if missing else "no skill was tried under both conditions"
            yield AbsentContrast(contrast=name, of="skill", measure=Measure(value=None, reason=reason))
        elif not any(effect.name == name for effect in aggregates[0].effects):
            count = sum(skill.excluded is None and effect.measure.value is not None for skill, effect in effects)
            reason = (
                "no kept skill has a score under both conditions" if count == 0 else "one skill has it, and a mean over skills needs two"
            )
            yield AbsentContrast(contrast=name, of="mean", measure=Measure(value=None, reason=reason))


def _list_warnings(contrasts: Sequence[SkillContrasts], aggregates: Sequence[Aggregate]) -> Iterator[EstimateWarning]:
    # Contexts are fixed: each arm has one harness, so nothing shows how other harnesses would differ.
    message = "Every statement is conditional on these conditions: each is one fixed harness, and other harnesses were not sampled."
    yield EstimateWarning(code="conditions-fixed", message=message)
    tasks = [effect.units for contrast in contrasts for effect in contrast.effects if effect.units] or [
        len(skill_contrasts.tasks) for skill_contrasts in contrasts
    ]
    # The smallest skill decides, because the warning covers every skill.
    if tasks and min(tasks) < ENOUGH_TASKS:
        count = f"{min(tasks)}" if min(tasks) == max(tasks) else f"{min(tasks)} to {max(tasks)}"
        message = f"No verdict on a skill: each has {count} tasks, fewer than {ENOUGH_TASKS}; there are intervals only."
        yield EstimateWarning(code="few-tasks", message=message)
    if len(contrasts) == 1:
        message = "One skill: there is no mean over skills, no correlation and no group, and nothing here is a statement on other skills."
        yield EstimateWarning(code="one-skill", message=message)
    elif aggregates and aggregates[0].skills < ENOUGH_TASKS:
        message = f"No verdict on skills either: {aggregates[0].skills} of them, fewer than {ENOUGH_TASKS}."
        yield EstimateWarning(code="few-skills", message=message)
