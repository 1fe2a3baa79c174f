"""Contrasts of one skill by task and of many skills by skill, on score tables built from the recording."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from audit.contamination.published_figures import find_figure
from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.sources.skill_run_folder import SkillResponse, SkillRuns
from audit.sources.skill_study_records import (
    DIMENSIONS,
    HIGHEST,
    LOWEST,
    Aggregate,
    Correlation,
    Effect,
    Group,
    Mitigation,
    PatternEffect,
    PropertyEffect,
    Published,
)
from audit.statistics.contrast_intervals import fieller, holm_p
from audit.statistics.paired_tests import cohens_d, paired_t, pearson, spearman, wilcoxon_signed_rank
from audit.statistics.responses import Floats, ScoreTable, TableFile, TextColumn
from registry.errors import Fault
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Measure, SpecEstimate

# Responses of a recording as score tables: by task within a skill, and by skill, with one fixed context
# per arm.
#
# Runs of one task are not independent, so the task is the unit within a skill. For statements about
# skills the skill is the unit.

Arms = tuple[str, str]
Score = Callable[[SkillResponse], float | None]
"""A property of a response; None when it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """One row of a table."""

    unit: str
    """What is taken as independent: a task, or a skill."""
    arm: str
    sample: str
    score: float | None
    """None when the response is excluded."""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastSettings:
    """How every contrast of the study is made."""

    level: float
    margin: float
    """In points of the composite."""

    def plan(self, width: float) -> Plan:
        """Return the plan for a score with a range *width* wide; the margin keeps its share of the range."""
        # The margin is stated for the composite. Patterns have another range, and 1 point would be all
        # of it.
        margin = self.margin * width / (HIGHEST - LOWEST)
        # No bootstrap: no verdict depends on its bands.
        return Plan(level=self.level, margin=margin, contexts=ContextDesign.FIXED, replicates=0)


def read_composite(response: SkillResponse) -> float | None:
    """Return the mean of the four dimensions."""
    return response.composite


def read_seen_whole(visible_chars: int) -> Score:
    """Return the composite of a response that the judge saw whole, None for any other."""

    def read(response: SkillResponse) -> float | None:
        # A response of unknown length may have been cut, so it does not count as seen whole.
        return response.composite if response.chars is not None and response.chars <= visible_chars else None

    return read


def choose_seen_whole(visible_chars: int | None, *, is_whole: bool) -> Score | None:
    """Return the composite of what the judge saw whole; None if what it saw is not stated."""
    if is_whole:
        return read_composite
    return None if visible_chars is None else read_seen_whole(visible_chars)


def read_dimension(name: str) -> Score:
    """Return one dimension of the judge."""

    def read(response: SkillResponse) -> float | None:
        return response.dimensions.get(name)

    return read


def read_pattern_share(position: int) -> Score:
    """Return the share of expected patterns (0) or anti-patterns (1) that were found; None where none was looked for."""

    def read(response: SkillResponse) -> float | None:
        # A task without patterns has no share. Counting it as 0 would lower the mean.
        matches = () if response.patterns is None else response.patterns[position]
        return sum(matches) / len(matches) if matches else None

    return read


PATTERNS: Mapping[str, Score] = {"expected patterns found": read_pattern_share(0), "anti-patterns found": read_pattern_share(1)}
"""Shares of the patterns of a task that a response matches."""

PROPERTIES: Mapping[str, tuple[Score, tuple[float, float]]] = {
    **{name: (read_dimension(name), (LOWEST, HIGHEST)) for name in DIMENSIONS},
    **{name: (score, (0.0, 1.0)) for name, score in PATTERNS.items()},
}
"""What a response was scored on beside the composite, with its range."""


def list_task_rows(skill: SkillRuns, score: Score, *, tasks: frozenset[str] | None = None) -> list[ScoredRow]:
    """Return one row per response of *skill*; the task is the unit."""
    rows = []
    for response in skill.responses:
        if tasks is None or response.task_id in tasks:
            value = score(response)
            # Rows without a value stay in the table with a reason, so that the bounds under exclusions
            # see them.
            reason = None if value is not None else response.excluded or "excluded from this reading"
            rows.append(ScoredRow(unit=response.task_id, arm=response.arm, sample=str(response.run), score=value, reason=reason))
    return rows


def estimate_contrast(rows: Sequence[ScoredRow], arms: Arms, settings: ContrastSettings, range_: tuple[float, float]) -> SpecEstimate | str:
    """Return the contrast of *arms* estimated as ED is, with the differences of all units; the reason when there is none.

    Contexts are fixed: one harness per arm is all there is, and every statement is conditional on it.
    """
    table = build_table([row for row in rows if row.arm in arms], range_)
    if table is None:
        return "no response of either arm"
    try:
        plan = settings.plan(range_[1] - range_[0])
        # Contrasts use the estimator of ED itself, so that they have the same intervals and checks.
        result = estimate(table, plan, range_=range_, test=arms[0], deploy=arms[1], pointwise=True)
    except DesignError as error:
        # A design that allows no contrast is a result of the study, not an error of the user.
        return error.faults[0].found
    return result.specs[0]


def list_differences(spec: SpecEstimate) -> dict[str, float]:
    """Return the difference of each unit; noise of the arithmetic beyond 12 decimals is cut, so that ties are ties."""
    # Adding 0.0 turns −0.0 into 0.0.
    return {differential.task_id: round(differential.ed, 12) + 0.0 for differential in spec.pointwise or ()}


def average_units(spec: SpecEstimate, arms: Arms, unit: str) -> list[ScoredRow]:
    """Return both arms of a finished contrast as rows of one larger *unit*: the means over the units common to both."""
    means = (spec.phi_test.value, spec.phi_deploy.value)
    return [ScoredRow(unit=unit, arm=arm, sample="0", score=mean) for arm, mean in zip(arms, means, strict=True)]


def build_table(rows: Sequence[ScoredRow], range_: tuple[float, float]) -> ScoreTable | None:
    """Return the table of *rows*; None without any."""
    if not rows:
        return None
    scores: Floats = np.array([np.nan if row.score is None else row.score for row in rows])
    return ScoreTable(
        task=_label(scored_row.unit for scored_row in rows),
        arm=_label(scored_row.arm for scored_row in rows),
        # One fixed context per arm: the arm's name is its only context id.
        context=_label(scored_row.arm for scored_row in rows),
        spec=_label(None for _ in rows),
        sample=_label(scored_row.sample for scored_row in rows),
        excluded=_label(scored_row.reason if scored_row.score is None else None for scored_row in rows),
        score=scores,
        low=range_[0],
        high=range_[1],
        files=(TableFile(name="scores.csv", sha256="0" * 64, rows=len(rows)),),
    )


def _label(texts: Iterable[str | None]) -> TextColumn:
    listed = list(texts)
    labels = tuple(sorted({text for text in listed if text is not None}))
    place = {text: code for code, text in enumerate(labels)}
    codes = np.array([-1 if text is None else place[text] for text in listed], dtype=np.int32)
    return TextColumn(codes=codes, labels=labels)


def build_settings(*, level: float, margin: float) -> ContrastSettings:
    """Return the settings.

    Raises:
        DesignError: *level* or *margin* cannot be what they should be; both are reported at once.
    """
    faults = []
    # Both options are checked before the error is raised, so that one attempt shows all faults.
    if not 0.5 <= level < 1:
        faults.append(Fault("not-valid", "--level", f"expected at least 0.5 and below 1, found {level:g}"))
    if not 0 < margin < HIGHEST - LOWEST:
        faults.append(Fault("not-valid", "--margin", f"expected above 0 and below {HIGHEST - LOWEST:g} points, found {margin:g}"))
    if faults:
        raise DesignError(faults)
    return ContrastSettings(level=level, margin=margin)


# Contrasts of one skill by task, and of many skills by skill: interval, tests and effect size over
# independent units.

CONTRASTS: Mapping[str, Arms] = {
    "B−A": ("B", "A"),
    "D−A": ("D", "A"),
    "B−D": ("B", "D"),
    "C−A": ("C", "A"),
    "B−C": ("B", "C"),
    "D−E": ("D", "E"),
    "E−A": ("E", "A"),
}
"""What is compared: the skill, the skill in a realistic context, what this context changes; the skill's own text, its references; the
skill within the realistic context, and that context without it."""

MITIGATED = ("D−E", "D−A", "B−A")
"""The contrasts that a mitigation is made of."""

COMPOSITE = (LOWEST, HIGHEST)

# Arm E, the realistic context without the skill, identifies the mitigation. The published study has no
# such arm.
NO_BASELINE = "not identified: no baseline was run in the realistic context, so D−A changes the context together with the skill"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRows:
    """The rows of one set of units, and the same rows with only what the judge saw whole (None if what it saw is not stated)."""

    unit: str
    rows: Sequence[ScoredRow]
    seen_whole: Sequence[ScoredRow] | None


def read_skill(skill: SkillRuns, composite: Score, seen_whole: Score | None, *, tasks: frozenset[str] | None = None) -> UnitRows:
    """Return the rows of one skill; the task is the unit."""
    return UnitRows(
        unit="task",
        rows=list_task_rows(skill, composite, tasks=tasks),
        seen_whole=None if seen_whole is None else list_task_rows(skill, seen_whole, tasks=tasks),
    )


def average_skills(
    readings: Mapping[str, UnitRows], arms: Arms, settings: ContrastSettings, range_: tuple[float, float] = COMPOSITE
) -> UnitRows:
    """Return one row per skill and arm of a contrast: means over the tasks that the skill has under both arms.

    A skill without such a task is excluded. The spread of these means holds that of tasks and runs too, so the skill is the only cluster.
    """
    whole = [reading.seen_whole for reading in readings.values()]
    return UnitRows(
        unit="skill",
        rows=_average({name: rows.rows for name, rows in readings.items()}, arms, settings, range_),
        # If one skill's view is unknown, a mean over the others would be about a different set of
        # skills.
        seen_whole=None
        if None in whole
        else _average({name: rows.seen_whole or () for name, rows in readings.items()}, arms, settings, range_),
    )


def _average(
    rows: Mapping[str, Sequence[ScoredRow]], arms: Arms, settings: ContrastSettings, range_: tuple[float, float]
) -> list[ScoredRow]:
    estimates = {name: estimate_contrast(row, arms, settings, range_) for name, row in rows.items()}
    return [row for name, spec in estimates.items() if not isinstance(spec, str) for row in average_units(spec, arms, name)]


def build_effect(name: str, reading: UnitRows, settings: ContrastSettings, published: Published | None) -> Effect:
    """Return the contrast *name* of one skill or of many, its place under Holm still open."""
    arms = CONTRASTS[name]
    spec = estimate_contrast(reading.rows, arms, settings, COMPOSITE)
    measure, units = measure_contrast(spec)
    # The tests take one difference per unit: runs of a task are already averaged.
    differences = np.array([] if isinstance(spec, str) else list(list_differences(spec).values()))
    seen, seen_units = _measure_seen_whole(reading, arms, settings)
    return Effect(
        name=name,
        arms=arms,
        unit="skill" if reading.unit == "skill" else "task",
        units=units,
        measure=measure,
        method="" if isinstance(spec, str) or measure.low is None else spec.ed.method,
        paired_t=paired_t(differences),
        wilcoxon=wilcoxon_signed_rank(differences),
        cohens_d=cohens_d(differences, level=settings.level),
        # Holm's rule runs over all skills of a contrast, in `adjust_by_holm`.
        p_holm=None,
        p_holm_all=None,
        within_margin=_is_within(measure, settings.margin),
        under_exclusions=None if isinstance(spec, str) else spec.ed_under_exclusions,
        seen_whole=seen,
        seen_whole_units=seen_units,
        published=published,
    )


def measure_contrast(spec: SpecEstimate | str) -> tuple[Measure, int]:
    """Return the contrast with its interval, and the units it rests on; without one, the reason."""
    if isinstance(spec, str):
        return Measure(value=None, reason=spec), 0
    ed = spec.ed
    reason = None if ed.low is not None else ed.reason or "no variance"
    return Measure(value=round(ed.value, 12) + 0.0, low=ed.low, high=ed.high, reason=reason), spec.n.tasks


def _measure_seen_whole(reading: UnitRows, arms: Arms, settings: ContrastSettings) -> tuple[Measure, int]:
    if reading.seen_whole is None:
        return Measure(value=None, reason="how much of a response the judge saw is not stated"), 0
    spec = estimate_contrast(reading.seen_whole, arms, settings, COMPOSITE)
    if isinstance(spec, str):
        return Measure(value=None, reason=f"no {reading.unit} has a response on both arms that the judge saw whole"), 0
    return measure_contrast(spec)


def _is_within(measure: Measure, margin: float) -> bool | None:
    if measure.low is None or measure.high is None:
        return None
    return -margin <= measure.low and measure.high <= margin


def contrast_patterns(skill: SkillRuns, settings: ContrastSettings) -> Iterator[PatternEffect]:
    """Give every contrast of the shares of patterns found, for conditions under which they were looked for."""
    for name, score in PATTERNS.items():
        rows = list_task_rows(skill, score)
        known = {row.arm for row in rows if row.score is not None}
        for contrast, arms in CONTRASTS.items():
            if known.issuperset(arms):
                measure, tasks = measure_contrast(estimate_contrast(rows, arms, settings, (0.0, 1.0)))
                yield PatternEffect(property=name, contrast=contrast, tasks=tasks, measure=measure)


def adjust_by_holm(effects: Sequence[Effect], kept: Sequence[bool]) -> list[Effect]:
    """Return the effects of one contrast over all skills with p after Holm, over the skills *kept* and over all."""
    # Two families: all skills, and those that the study kept. Readers who doubt the exclusions can use
    # the first.
    every = dict(_adjust(enumerate(effects)))
    inner = dict(_adjust((place, effect) for place, effect in enumerate(effects) if kept[place]))
    return [replace(effect, p_holm=inner.get(place), p_holm_all=every.get(place)) for place, effect in enumerate(effects)]


def _adjust(effects: Iterable[tuple[int, Effect]]) -> Iterable[tuple[int, float | None]]:
    listed = list(effects)
    return zip([place for place, _ in listed], holm_p([effect.paired_t.p for _, effect in listed]), strict=True)


def build_mitigation(
    differences: Mapping[str, Mapping[str, float]], settings: ContrastSettings, published: float | None
) -> Mitigation | None:
    """Return how much of B−A is gone in the realistic context, from the differences by contrast and unit; None without one of both.

    Within that context the skill's effect is D−E; where no such baseline was run, D−A describes context and skill together.
    """
    descriptive = _divide(differences["D−A"], differences["B−A"], settings)
    if descriptive is None:
        return None
    # B−A is the effect without the context, D−E the effect within it. D−A also contains what the
    # context does by itself.
    identified = _divide(differences["D−E"], differences["B−A"], settings) or Measure(value=None, reason=NO_BASELINE)
    return Mitigation(identified=identified, descriptive=descriptive, published=published)


def _divide(numerators: Mapping[str, float], denominators: Mapping[str, float], settings: ContrastSettings) -> Measure | None:
    """Return 1 less the ratio of means over the units that have both; None when there is none."""
    # Fieller's interval needs numerator and denominator of the same units.
    common = [unit for unit in numerators if unit in denominators]
    if not common:
        return None
    numerator, denominator = (np.array([means[unit] for unit in common]) for means in (numerators, denominators))
    return _take_from_one(fieller(numerator, denominator, level=settings.level))


def find_differences(reading: UnitRows, name: str, settings: ContrastSettings) -> dict[str, float]:
    """Return the contrast *name* of each unit; empty without one."""
    spec = estimate_contrast(reading.rows, CONTRASTS[name], settings, COMPOSITE)
    return {} if isinstance(spec, str) else list_differences(spec)


def _take_from_one(ratio: Measure) -> Measure:
    value = None if ratio.value is None else 1 - ratio.value
    if ratio.low is None or ratio.high is None:
        return Measure(value=value, reason=ratio.reason)
    return Measure(value=value, low=1 - ratio.high, high=1 - ratio.low, reason=ratio.reason)


# Statements about skills: pooled contrasts, correlations and groups, with the skill as the unit.

ACROSS = ("B−A", "D−A", "B−D")
"""The contrasts that every skill can have."""

_MEANS = {"B−A": "mean_delta_skill_only", "D−A": "mean_delta_realistic"}
_CORRELATIONS = {
    "B−A": ("correlation_structural_behavioral",),
    "D−A": ("realistic_context", "correlation_structural_realistic"),
}
_GROUPED: tuple[tuple[Literal["risk_level", "test_category"], str], ...] = (
    ("risk_level", "by_risk_level"),
    ("test_category", "by_test_category"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSample:
    """Skills with their rows, and what was published of them."""

    name: Literal["kept", "all"]
    skills: Sequence[SkillRuns]
    readings: Mapping[str, UnitRows]
    """By skill."""
    published: Mapping[str, object] | None
    """None where the study's aggregates were made of other skills."""


def build_aggregate(sample: SkillSample, settings: ContrastSettings) -> Aggregate:
    """Return everything that is said of the skills of *sample* together."""
    pooled = {name: average_skills(sample.readings, CONTRASTS[name], settings) for name in CONTRASTS}
    differences = {name: find_differences(reading, name, settings) for name, reading in pooled.items()}
    return Aggregate(
        name=sample.name,
        skills=len(sample.skills),
        effects=tuple(
            # A mean over one skill has no spread between skills.
            build_effect(name, pooled[name], settings, _find_mean(sample, name))
            for name in CONTRASTS
            if len(differences[name]) > 1
        ),
        mitigation=build_mitigation(
            differences,
            settings,
            find_figure(sample.published, "summary", "realistic_context", "mean_mitigation_ratio"),
        ),
        correlations=tuple(_correlate(sample, name, differences[name], settings) for name in _CORRELATIONS),
        groups=(*_group_skills(sample, pooled, settings), *_group_tasks(sample, settings)),
        properties=tuple(_contrast_properties(sample, settings)),
    )


def _find_mean(sample: SkillSample, contrast: str) -> Published | None:
    if contrast not in _MEANS:
        return None
    delta = find_figure(sample.published, "summary", "realistic_context", _MEANS[contrast])
    return None if delta is None else Published(delta=delta)


def _correlate(sample: SkillSample, contrast: str, differences: Mapping[str, float], settings: ContrastSettings) -> Correlation:
    scores = {skill.name: skill.structural_score for skill in sample.skills}
    x = np.array([scores[name] for name in differences])
    y = np.array(list(differences.values()))
    linear, ranked = pearson(x, y, level=settings.level), spearman(x, y, level=settings.level)
    return Correlation(
        contrast=contrast,
        skills=len(differences),
        pearson=linear.measure,
        pearson_p=linear.test.p,
        spearman=ranked.measure,
        spearman_p=ranked.test.p,
        published=find_figure(sample.published, "summary", *_CORRELATIONS[contrast]),
    )


def _group_skills(sample: SkillSample, pooled: Mapping[str, UnitRows], settings: ContrastSettings) -> Iterator[Group]:
    for by, printed in _GROUPED:
        for group in dict.fromkeys(getattr(skill, by) for skill in sample.skills):
            names = {skill.name for skill in sample.skills if getattr(skill, by) == group}
            for contrast in ACROSS:
                rows = [row for row in pooled[contrast].rows if row.unit in names]
                # The study printed group means for B−A only.
                figure = find_figure(sample.published, "summary", printed, group, "mean_delta") if contrast == "B−A" else None
                measure, skills = _measure_group(rows, contrast, settings)
                yield Group(by=by, name=group, skills=skills, contrast=contrast, measure=measure, published=figure)


def _group_tasks(sample: SkillSample, settings: ContrastSettings) -> Iterator[Group]:
    for type_ in dict.fromkeys(task.type_ for skill in sample.skills for task in skill.tasks):
        readings = {}
        for skill in sample.skills:
            tasks = frozenset(task.task_id for task in skill.tasks if task.type_ == type_)
            if tasks:
                readings[skill.name] = read_skill(skill, read_composite, None, tasks=tasks)
        for contrast in ACROSS:
            rows = average_skills(readings, CONTRASTS[contrast], settings).rows
            figure = find_figure(sample.published, "summary", "by_task_type", type_, "mean_delta") if contrast == "B−A" else None
            measure, skills = _measure_group(rows, contrast, settings)
            yield Group(by="task_type", name=type_, skills=skills, contrast=contrast, measure=measure, published=figure)


def _measure_group(rows: Sequence[ScoredRow], contrast: str, settings: ContrastSettings) -> tuple[Measure, int]:
    measure, skills = _measure(rows, contrast, settings)
    # With one skill the value would describe the skill and not the group.
    return (Measure(value=None, reason="one skill is not a group"), 1) if skills == 1 else (measure, skills)


def _measure(
    rows: Sequence[ScoredRow], contrast: str, settings: ContrastSettings, range_: tuple[float, float] = COMPOSITE
) -> tuple[Measure, int]:
    return measure_contrast(estimate_contrast(rows, CONTRASTS[contrast], settings, range_))


def _contrast_properties(sample: SkillSample, settings: ContrastSettings) -> Iterator[PropertyEffect]:
    for name, (score, range_) in PROPERTIES.items():
        readings = {skill.name: UnitRows(unit="task", rows=list_task_rows(skill, score), seen_whole=None) for skill in sample.skills}
        for contrast in ACROSS:
            pooled = average_skills(readings, CONTRASTS[contrast], settings, range_)
            measure, skills = _measure(pooled.rows, contrast, settings, range_)
            yield PropertyEffect(property=name, contrast=contrast, range=range_, skills=skills, measure=measure)
