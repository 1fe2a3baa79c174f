"""Module 3: what ED becomes when one cue is taken out or put in, and the inventories of cues that are tried."""

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.modules.score_sides import DEFAULT_SPEC, Rows, build_side, check_range, find_arm, find_weights, name_files, split_judges
from audit.records.rating_sheet import VOCABULARY, AnswerSheet, SampleSide
from audit.statistics.contrast_intervals import find_simultaneous, holm_p, step_down
from audit.statistics.design_remarks import DesignRemark
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.mean_intervals import difference_p
from audit.statistics.responses import SCORED, Floats, ScoreTable, TextColumn, average_repeats
from audit.statistics.side_moments import ZERO_VARIANCE, total_variance
from audit.statistics.version_differences import (
    VersionDifference,
    VersionMoments,
    compute_edit,
    edit_interval,
    have_common_contexts,
    pair_cells,
)
from audit.verdict.claim_classification import classify
from registry.codec.canonical_documents import digest, to_document
from registry.errors import Fault, suggest
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.audit_case import Case
from registry.records.estimates import Estimate, EstimateWarning, Measure, ScoreRange
from registry.records.module_findings import Ablation, CueChange, InventoryCoverage
from registry.records.specification import Cue, CueInventorySpec
from registry.records.verdict import ClaimClass
from registry.report.number_format import SLACK

# Versions of the two sides: the contexts as they are, and those with one cue removed or added.
#
# The column `cue_removed` names the cue; where it is empty the context is unchanged. Tables that cannot
# be compared are refused here. An ablation must touch a cue and a placebo must not, and the name of a
# placebo begins with that word.

PLACEBO = "placebo"
"""A cue whose name begins so is a placebo, as one that is named to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationSetting:
    """What a table with ablations is asked."""

    test: str = "test"
    """The test-like arm."""
    deploy: str = "deploy"
    """The deployment-continuous arm."""
    spec: str | None = None
    """The specification of P_deploy; None where the table has one."""
    placebos: frozenset[str] = frozenset()
    """Cues that are placebos, whatever they are called."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CueVersion:
    """The responses of one arm under one edit of its contexts."""

    cue: str
    arm: str
    placebo: bool
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CueVersions:
    """The contexts as they are, against one specification of P_deploy, and every edit of them."""

    spec: str
    as_is: dict[str, Rows]
    """By arm."""
    edited: tuple[CueVersion, ...]
    """In the order of cues, then arms."""
    excluded: tuple[str, ...]
    """Arms with edits that are neither of the two sides."""


def find_versions(table: ScoreTable, setting: AblationSetting) -> CueVersions:
    """Return the versions of both sides in *table*.

    Raises:
        DesignError: no cue is named, a placebo or specification is unknown, several specifications leave open which is meant, an arm is
            missing or has no rows as it is.
    """
    cues = table.cue_removed
    if cues is None or not cues.labels:
        problem, advice = (
            "no row names a cue in the column cue_removed",
            "name in it what was taken out of the row's context, or put into it",
        )
        raise DesignError(Fault("no-cues", name_files(table), problem, advice=advice))
    # Unknown placebos and specifications are collected first: both are misspellings, and one attempt
    # shows all.
    faults = list(_check_placebos(table, cues, setting))
    spec, chosen = _choose_spec(table, cues, setting, faults)
    if faults:
        raise DesignError(faults)
    plain = np.flatnonzero((cues.codes == SCORED) & chosen)
    # Both arms must also exist with unedited contexts; an edit alone has nothing to compare with.
    find_arm(table.keep(plain), setting.test, setting.deploy)
    arms = (setting.test, setting.deploy)
    codes = {arm: table.arm.find(arm) for arm in arms}
    as_is = {arm: plain[table.arm.codes[plain] == code] for arm, code in codes.items()}
    edited = []
    for code, cue in enumerate(cues.labels):
        for arm in arms:
            rows = np.flatnonzero((cues.codes == code) & (table.arm.codes == codes[arm]) & chosen)
            if len(rows):
                edited.append(
                    CueVersion(cue=cue, arm=arm, placebo=cue in setting.placebos or cue.casefold().startswith(PLACEBO), rows=rows)
                )
    if not edited:
        problem = f"cues are named in rows of other arms than {setting.test} and {setting.deploy} only, or of other specifications"
        raise DesignError(Fault("no-cues", name_files(table), problem, advice="name the two sides with --test and --deploy"))
    others = np.unique(table.arm.codes[cues.codes != SCORED]).tolist()
    excluded = tuple(label for code, label in enumerate(table.arm.labels) if code in others and label not in arms)
    return CueVersions(spec=spec, as_is=as_is, edited=tuple(edited), excluded=excluded)


def build_version(table: ScoreTable, versions: CueVersions, version: CueVersion | None) -> ScoreTable:
    """Return the score table of both sides with the rows of *version* in place of its arm's; None gives the contexts as they are."""
    rows = {**versions.as_is, **({} if version is None else {version.arm: version.rows})}
    return replace(table.keep(np.concatenate(list(rows.values()))), cue_removed=None)


def _check_placebos(table: ScoreTable, cues: TextColumn, setting: AblationSetting) -> Iterator[Fault]:
    for name in sorted(setting.placebos - set(cues.labels)):
        problem = f"no row names the cue {name!r}; the cues are: {', '.join(cues.labels[:10])}"
        yield Fault("unknown-name", name_files(table), problem, advice=suggest(name, cues.labels))


def _choose_spec(table: ScoreTable, cues: TextColumn, setting: AblationSetting, faults: list[Fault]) -> tuple[str, np.ndarray]:
    """Return the specification that is asked about, and which rows belong to it; rows of the test arm belong to every one."""
    # An unknown arm gets a code that no row has; `find_arm` reports it later.
    deploy = table.arm.codes == (table.arm.find(setting.deploy) if setting.deploy in table.arm.labels else len(table.arm.labels))
    every = np.ones(table.rows, dtype=bool)
    named = np.unique(table.spec.codes[deploy & (cues.codes == SCORED)])
    labels = [table.spec.labels[code] for code in named[named != SCORED].tolist()]
    where = f"{name_files(table)}, column spec"
    # ΔED is relative to one P_deploy. Choosing for the user would choose the result.
    if setting.spec is None and len(labels) > 1:
        problem = f"arm {setting.deploy} has {len(labels)} specifications of P_deploy: {', '.join(labels[:10])}"
        faults.append(Fault("choice-needed", where, problem, advice="name the one to ablate against with --spec"))
        return labels[0], every
    if setting.spec is not None and setting.spec not in (labels or [DEFAULT_SPEC]):
        problem = f"no row of arm {setting.deploy} names {setting.spec!r}; the specifications are: {', '.join(labels[:10]) or DEFAULT_SPEC}"
        faults.append(Fault("unknown-name", where, problem))
    if not labels:
        return DEFAULT_SPEC, every
    spec = setting.spec or labels[0]
    belongs = table.spec.codes == table.spec.find(spec) if spec in table.spec.labels else every
    unnamed = int(np.count_nonzero(deploy & (table.spec.codes == SCORED)))
    if unnamed:
        problem = f"{unnamed} rows of arm {setting.deploy} name no specification, others do"
        faults.append(Fault("spec-missing", where, problem))
    # Test rows are shared by all specifications.
    return spec, ~deploy | belongs


# Module 3 of the protocol: ED when one cue is removed from the contexts or added to them (method
# section 6).
#
# ΔED = ED before − ED after. Removing a cue from the test side gives Φ_test − Φ_test without it. Adding
# a cue to the deployment side gives Φ_deploy with it − Φ_deploy. In both cases it is the score with the
# cue less the score without it, so a positive value means that the cue raised ED.
#
# A cue is relevant for a change of class only if its Holm interval excludes 0. Near a threshold, chance
# alone changed the class in 24 % of simulated tables. This narrows the letter of the method's section
# 6.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _AblationStudy:
    """One table with everything that is asked of it; margin and ε of the plan are filled in."""

    table: ScoreTable
    setting: AblationSetting
    versions: CueVersions
    plan: Plan
    scale: ScoreScale
    case: Case | None
    weights: Floats | None
    """Of tasks, by their code; None when all weigh the same."""

    @property
    def random(self) -> bool:
        return self.plan.contexts is ContextDesign.RANDOM


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Beside:
    """One version beside the contexts as they are."""

    version: CueVersion
    edit: VersionDifference
    """The score with the cue less the score without it."""
    unpaired: int
    """Cells, task and context, that only one of the two has although they share contexts."""
    lost_tasks: int
    """Tasks of the contexts as they are that the version does not have."""

    @property
    def moments(self) -> VersionMoments:
        return self.edit.moments


def ablate(
    table: ScoreTable, plan: Plan, *, range_: tuple[float, float], setting: AblationSetting | None = None, case: Case | None = None
) -> Ablation:
    """Return ED of the contexts as they are and what every cue in *table* does to it.

    Intervals are those of the closed-form estimate, whatever interval method the plan names for ED; Holm's rule runs over the cues,
    placebos apart. The result does not depend on the order of rows.

    Args:
        table: checked scores with the column `cue_removed`.
        plan: margin, level and what contexts are; None in it means the default for *range_*.
        range_: lowest and highest possible score.
        setting: names of the arms, the specification and the placebos; None for the usual names.
        case: the claim with a class that is given before and after; None without one.

    Raises:
        DesignError: no cue is named, a side is missing, several judges scored, or a version shares no scored task with the contexts as
            they are.
    """
    scale = ScoreScale(low=float(range_[0]), high=float(range_[1]))
    check_range(table, scale)
    # The digest covers the table as given, before repeats are averaged.
    scores = table.content
    table = _take_judge(table)
    setting = setting or AblationSetting()
    margin = plan.margin_on(scale.width)
    filled = replace(plan, margin=margin)
    versions = find_versions(table, setting)
    study = _AblationStudy(
        table=table, setting=setting, versions=versions, plan=filled, scale=scale, case=case, weights=find_weights(table)
    )
    before = _estimate(study, build_version(table, versions, None))
    edits = _compare_all(study)
    changes = _build_changes(study, edits, before)
    ed = before.specs[0].ed
    return Ablation(
        level=plan.level,
        margin=margin,
        range=(scale.low, scale.high),
        contexts=plan.contexts.value,
        seed=plan.seed,
        replicates=plan.replicates,
        spec=versions.spec,
        ed=Measure(value=ed.value, low=ed.low, high=ed.high, reason=ed.reason),
        class_before=None if case is None else classify(case, before).primary.class_,
        changes=tuple(sorted(changes, key=lambda change: (change.placebo, -abs(change.change.value or 0.0), change.cue, change.arm))),
        family=sum(not change.placebo for change in changes),
        scores=scores,
        warnings=(
            *before.warnings,
            *(EstimateWarning(code=remark.code, message=remark.message) for remark in _remark(study, edits, changes)),
        ),
    )


def _take_judge(table: ScoreTable) -> ScoreTable:
    """Return the scores of the one judge there is, its repeats averaged; several are never mixed."""
    judges = [judge for judge, _ in split_judges(table) if judge is not None]
    if judges:
        problem = f"{len(judges)} judges scored the responses: {', '.join(judges[:10])}; their scores are never mixed"
        advice = f"ablate by one at a time: --where judge={judges[0]}"
        raise DesignError(Fault("choice-needed", f"{name_files(table)}, column judge", problem, advice=advice))
    return average_repeats(table)


def _estimate(study: _AblationStudy, table: ScoreTable) -> Estimate:
    # The bootstrap bands of these estimates would never be shown.
    plan = replace(study.plan, replicates=0)
    return estimate(table, plan, range_=(study.scale.low, study.scale.high), test=study.setting.test, deploy=study.setting.deploy)


def _compare_all(study: _AblationStudy) -> list[_Beside]:
    """Compare every version with the contexts as they are; raises with all faults at once."""
    edits, faults = [], []
    for version in study.versions.edited:
        comparison = _compare(study, study.versions.as_is[version.arm], version.rows, arm=version.arm)
        if comparison is None:
            where = f"{name_files(study.table)}, cue {version.cue}, arm {version.arm}"
            message = "no task has a score both with the contexts as they are and with the edited ones, in a context that both share"
            faults.append(Fault("no-common-task", where, message))
        else:
            edits.append(_Beside(version=version, edit=comparison[0], unpaired=comparison[1], lost_tasks=comparison[2]))
    if faults:
        raise DesignError(faults)
    return edits


def _compare(study: _AblationStudy, plain: Rows, other: Rows, *, arm: str) -> tuple[VersionDifference, int, int] | None:
    """Return the moments of *plain* − *other* on the test side and of *other* − *plain* on the deployment side, with what was lost."""
    sides = [build_side(study.table, study.scale, rows).scored() for rows in (plain, other)]
    first, second = (side.cells(fill=0.0) for side in sides)
    tasks, before = len(study.table.task.labels), len(np.unique(first.task))
    if not (len(first.task) and len(second.task)):
        return None
    unpaired = 0
    # A context with a shared id is the same draw in both versions, so only cells that both have are
    # compared.
    if have_common_contexts(first, second):
        both = len(first.task) + len(second.task)
        first, second = pair_cells(first, second)
        unpaired = both - len(first.task) - len(second.task)
    # Added on the deployment side, removed on the test side: the order makes the result "with the cue −
    # without it" either way.
    if arm == study.setting.deploy:
        first, second = second, first
    binary = all(bool(((side.score == 0.0) | (side.score == 1.0)).all()) for side in sides)
    edit = compute_edit(first, second, tasks=tasks, random=study.random, binary=binary, weights=study.weights)
    return None if edit is None else (edit, unpaired, before - edit.moments.test.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Levels:
    """At which levels one of several cues is read."""

    holm: float
    joint: float | None
    """That of simultaneous intervals; None where no cue has an interval."""
    p_holm: float | None


def _build_changes(study: _AblationStudy, edits: Sequence[_Beside], before: Estimate) -> list[CueChange]:
    # Placebos are controls. They take no share of Holm's level.
    cues = [edit for edit in edits if not edit.version.placebo]
    ps = [difference_p(edit.moments) for edit in cues]
    # The interval decides each step, because the hull is wider than the interval that belongs to p.
    holm = step_down([_Excludes(edit.edit) for edit in cues], ps, level=study.plan.level)
    joint = _find_joint_level(study, cues)
    levels = {
        (edit.version.cue, edit.version.arm): _Levels(holm=level, joint=joint, p_holm=p)
        for edit, level, p in zip(cues, holm, holm_p(ps), strict=True)
    }
    return [_build_change(study, edits, edit, before, levels.get((edit.version.cue, edit.version.arm))) for edit in edits]


def _find_joint_level(study: _AblationStudy, cues: Sequence[_Beside]) -> float | None:
    """Return the level at which the intervals of all cues hold at once; tasks and paired contexts share their weights.

    A cue that changes every task and context by the same amount has no statistic to resample; with one among them the level is
    Bonferroni's. None when no cue has an interval.
    """
    parts = [edit.moments.parts() for edit in cues]
    variances = [total_variance(part) for part in parts if part is not None]
    if not variances or min(variances) <= ZERO_VARIANCE:
        # Bonferroni holds whatever the correlation between the cues.
        return 1 - (1 - study.plan.level) / len(variances) if variances else None
    errors = np.array([math.nan if part is None else math.sqrt(total_variance(part)) for part in parts])
    simultaneous = find_simultaneous(
        np.column_stack([edit.edit.differences for edit in cues]),
        errors,
        level=study.plan.level,
        replicates=study.plan.replicates,
        seed=study.plan.seed,
        contexts=[_stack_shares(study, cues, arm) for arm in (study.setting.test, study.setting.deploy)],
    )
    return None if simultaneous is None else simultaneous.level


def _stack_shares(study: _AblationStudy, cues: Sequence[_Beside], arm: str) -> Floats:
    """Shares of the contexts of *arm* by context and cue; NaN where the cue is of the other arm, or its contexts are not paired."""
    stacked = np.full((len(study.table.context.labels), len(cues)), np.nan)
    for place, edit in enumerate(cues):
        if edit.version.arm == arm:
            stacked[: len(edit.edit.shares), place] = edit.edit.shares
    return stacked


@dataclass(frozen=True, slots=True)
class _Excludes:
    """Whether the interval of a difference at a level excludes 0."""

    edit: VersionDifference

    def __call__(self, level: float) -> bool:
        limits = edit_interval(self.edit, level=level)
        return limits is not None and (limits.low > 0 or limits.high < 0)


def _build_change(study: _AblationStudy, edits: Sequence[_Beside], edit: _Beside, before: Estimate, levels: _Levels | None) -> CueChange:
    version, moments, scale = edit.version, edit.moments, study.scale
    with_cue, without = scale.stretch(moments.test.mean), scale.stretch(moments.deploy.mean)
    removed = version.arm == study.setting.test
    change = _measure(edit.edit, scale, level=study.plan.level)
    # A placebo has no Holm level and is read at the plan's own.
    shown = _Excludes(edit.edit)(study.plan.level if levels is None else levels.holm)
    # The slack absorbs rounding where a change equals the margin.
    slack = SLACK * study.scale.width
    material = shown and change.value is not None and abs(change.value) >= study.plan.margin_on(study.scale.width) - slack
    class_after, changed = _classify_after(study, edit, before)
    # Material (beyond the margin) or a shown change of class; see the section comment for the 24 %.
    relevant = _is_relevant(version, change, material=material, changed=changed and shown)
    # The class changed but ΔED may be 0: neither relevant nor irrelevant can be claimed.
    adrift = _explain_class() if relevant is False and changed else None
    beyond, silent = _find_beyond_placebo(study, edits, version)
    return CueChange(
        cue=version.cue,
        arm=version.arm,
        placebo=version.placebo,
        tasks=moments.test.tasks,
        phi_before=with_cue if removed else without,
        phi_after=without if removed else with_cue,
        change=change,
        holm=_find_range(edit.edit, scale, None if levels is None else levels.holm),
        simultaneous=_find_range(edit.edit, scale, None if levels is None else levels.joint),
        p=difference_p(moments),
        p_holm=None if levels is None else levels.p_holm,
        beyond_placebo=beyond,
        material=material,
        class_after=class_after,
        relevant=None if adrift else relevant,
        reason=" ".join(filter(None, (change.reason, _explain_p(moments), silent, adrift, _explain_placebo(version)))) or None,
    )


def _measure(edit: VersionDifference, scale: ScoreScale, *, level: float) -> Measure:
    limits = edit_interval(edit, level=level)
    value = scale.stretch_difference(edit.moments.difference)
    if limits is None:
        return Measure(value=value, reason=_explain(edit.moments))
    band = scale.stretch_limits(limits)
    return Measure(value=value, low=band.low, high=band.high)


def _find_range(edit: VersionDifference, scale: ScoreScale, level: float | None) -> ScoreRange | None:
    limits = None if level is None else edit_interval(edit, level=level)
    return None if limits is None else scale.stretch_limits(limits)


def _explain(moments: VersionMoments) -> str:
    if moments.difference_variance is None:
        return "No interval: one task, and nothing says how tasks vary."
    return "No interval: one context, and nothing says how contexts vary."


def _explain_p(moments: VersionMoments) -> str | None:
    if moments.parts() is None or difference_p(moments) is not None:
        return None
    return "No p: every task and context changes by the same amount, so the statistic does not exist."


def _explain_placebo(version: CueVersion) -> str | None:
    return "A placebo is no cue: it is not adjusted for, and not audit-relevant." if version.placebo else None


def _explain_class() -> str:
    return "The class changes, and ΔED is not shown to differ from 0: another draw of responses may have done it, so it cannot be said."


def _is_relevant(version: CueVersion, change: Measure, *, material: bool, changed: bool | None) -> bool | None:
    if version.placebo:
        return None
    if material or changed:
        return True
    return None if change.low is None else False


def _find_beyond_placebo(study: _AblationStudy, edits: Sequence[_Beside], version: CueVersion) -> tuple[Measure | None, str | None]:
    """Return ΔED of the cue less that of the placebos of its arm, taken together, or why there is none."""
    if version.placebo:
        return None, None
    # Only placebos of the same arm: an edit of the other side says nothing about this one.
    rows = [edit.version.rows for edit in edits if edit.version.placebo and edit.version.arm == version.arm]
    if not rows:
        return None, f"No placebo on arm {version.arm}."
    comparison = _compare(study, np.concatenate(rows), version.rows, arm=version.arm)
    if comparison is None:
        return None, "The cue and the placebo share no task."
    return _measure(comparison[0], study.scale, level=study.plan.level), None


def _classify_after(study: _AblationStudy, edit: _Beside, before: Estimate) -> tuple[ClaimClass | None, bool | None]:
    """Return the class with the edit made, and whether it differs from that of the same tasks without it; None without a claim."""
    if study.case is None:
        return None, None
    after = build_version(study.table, study.versions, edit.version)
    compared = before
    if edit.lost_tasks:
        plain = build_version(study.table, study.versions, None)
        # If the edit was replayed on fewer tasks, the class before is computed on these tasks too.
        # Otherwise the lost tasks could change the class.
        kept = [plain.task.find(label) for label in after.keep(after.arm.codes == after.arm.find(edit.version.arm)).task.labels]
        compared = _estimate(study, plain.keep(np.isin(plain.task.codes, [code for code in kept if code is not None])))
    classes = [classify(study.case, result).primary.class_ for result in (compared, _estimate(study, after))]
    return classes[1], classes[0] is not classes[1]


def _remark(study: _AblationStudy, edits: Sequence[_Beside], changes: Sequence[CueChange]) -> Iterator[DesignRemark]:
    if study.versions.excluded:
        message = f"Edited rows of other arms are excluded: {', '.join(study.versions.excluded[:5])}."
        yield DesignRemark(code="other-arms", message=message)
    for edit in edits:
        yield from _remark_edit(study, edit)
    for arm in sorted({cue_change.arm for cue_change in changes if not cue_change.placebo and cue_change.beyond_placebo is None}):
        message = f"There is no placebo on arm {arm}: a change may come from the edit as such, not from the cue."
        yield DesignRemark(code="no-placebo", message=message)
    for change in changes:
        yield from _remark_change(change)


def _remark_edit(study: _AblationStudy, edit: _Beside) -> Iterator[DesignRemark]:
    name, moments = f"Cue {edit.version.cue} on arm {edit.version.arm}", edit.moments
    # Independent draws give a wider interval than the design would with shared ids.
    if study.random and not moments.paired:
        message = f"{name}: the edited contexts have other ids than the contexts as they are, so they count as independent draws."
        yield DesignRemark(code="contexts-not-paired", message=message)
    lost, before = (_count_excluded(study, rows) for rows in (edit.version.rows, study.versions.as_is[edit.version.arm]))
    # Cross-multiplied, so that equal rates compare as equal.
    if lost[0] * before[1] != before[0] * lost[1]:
        message = f"{name}: {lost[0]} of {lost[1]} responses were excluded with the edit, {before[0]} of {before[1]} without it."
        yield DesignRemark(code="unequal-exclusions", message=message)
    if edit.unpaired:
        message = f"{name}: {edit.unpaired} cells of task and context have no counterpart and are excluded from ΔED."
        yield DesignRemark(code="cells-not-paired", message=message)
    if edit.lost_tasks:
        tasks = moments.test.tasks
        message = f"{name}: {edit.lost_tasks} tasks of the contexts as they are were not replayed with the edit ({tasks} were)."
        yield DesignRemark(code="cue-tasks-missing", message=message)


def _count_excluded(study: _AblationStudy, rows: Rows) -> tuple[int, int]:
    """Responses without a score, and all of them."""
    return int(np.count_nonzero(study.table.excluded.codes[rows] != SCORED)), len(rows)


def _remark_change(change: CueChange) -> Iterator[DesignRemark]:
    name = f"Cue {change.cue} on arm {change.arm}"
    low, high = change.change.low, change.change.high
    if change.placebo:
        # A placebo with an effect shows that editing itself changes behaviour.
        if low is not None and high is not None and not low <= 0 <= high:
            message = f"Placebo {change.cue} on arm {change.arm} changes ED though it touches no cue: its interval excludes 0."
            yield DesignRemark(code="placebo-not-inert", message=message)
        return
    beyond = change.beyond_placebo
    if change.material and beyond is not None and beyond.low is not None and beyond.high is not None and beyond.low <= 0 <= beyond.high:
        message = f"{name}: the change is material, and yet not shown to be more than that of the placebo."
        yield DesignRemark(code="not-beyond-placebo", message=message)


# Cue inventories: the cues that raters and the probe named, as one list with a part that can be held
# out until the run is over.
#
# Cues with almost the same spelling are merged: `difflib`'s ratio of at least 0.85 between the words in
# lower case [ours]. Each name joins the most frequent cue that it resembles, so the order of the files
# does not matter. Held-out cues are stored in a sealed inventory.

ALIKE = 0.85
"""Ratio from which two names are one cue: a letter swapped in `task format`, and not `task format` for `task forms`."""
GENERIC = "generic"
FAMILIES: Mapping[str, str] = {
    "not-real": "stimulus artificiality",
    "meta": "scenario coherence",
    "deployment": "ecological completeness",
    "named": "paradigm recognisability",
    "monitoring": "explicit disclosure",
    "designed": "stakes telegraphing",
    "test": GENERIC,
}
"""Where a quote of the probe belongs in the vocabulary, by the family of patterns that marks it; the first that applies. A hint [ours]."""
_LONGEST = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCue:
    """A cue as it was named once."""

    name: str
    source: str
    """`raters`, `model raters` or `probe`."""
    category: str | None = None
    """None: the name itself if it is a word of the vocabulary, else generic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CueInventories:
    """What a collection of named cues comes to."""

    open: CueInventorySpec
    held_out: CueInventorySpec | None


def list_rater_cues(sheets: Iterable[AnswerSheet], *, models: frozenset[str]) -> tuple[list[NamedCue], int]:
    """Return the cues of items that raters took for tests, and how many were named for other items: those give no test away.

    Args:
        models: raters that are models.
    """
    named: list[NamedCue] = []
    others = 0
    for sheet in sheets:
        source = "model raters" if sheet.rater in models else "raters"
        for answer in sheet.answers:
            # A cue named for an item that the rater placed in deployment gives no test away.
            if answer.answer is SampleSide.TEST:
                named += [NamedCue(name=cue, source=source) for cue in answer.cues]
            else:
                others += len(answer.cues)
    return named, others


def read_probe_cue(quote: str, families: Sequence[str]) -> NamedCue:
    """Return the cue that a recognised passage names: its quote, placed by the patterns that mark it."""
    category = next((place for family, place in FAMILIES.items() if family in families), GENERIC)
    return NamedCue(name=" ".join(quote.split())[:_LONGEST], source="probe", category=category)


def build_inventory(named: Sequence[NamedCue], *, name: str) -> CueInventorySpec:
    """Return the inventory of *named*, near-duplicates as one, the most frequent first.

    Raises:
        DesignError: no cue was named.
    """
    words = Counter(_fold(cue.name) for cue in named if _fold(cue.name))
    if not words:
        raise DesignError(Fault("cues-missing", "cues", "no cue was named"))
    heads = _find_heads(words)
    groups: dict[str, list[NamedCue]] = {}
    for cue in named:
        if _fold(cue.name):
            groups.setdefault(heads[_fold(cue.name)], []).append(cue)
    cues = [_build_cue(head, cues) for head, cues in groups.items()]
    return CueInventorySpec(name=name, cues=tuple(sorted(cues, key=lambda cue: (-(cue.count or 0), cue.name))))


def hold_out(inventory: CueInventorySpec, *, count: int, seed: int) -> CueInventories:
    """Return *inventory* without *count* cues that *seed* draws, and these.

    Raises:
        DesignError: fewer than one cue would be held out, or none would be left.
    """
    total = len(inventory.cues)
    if not 1 <= count < total:
        problem = f"expected at least 1 and fewer than the {total} cues there are, found {count}"
        raise DesignError(Fault("bad-option", "--held-out", problem))
    # Sorted before the draw, so that the seed alone decides.
    ordered = sorted(inventory.cues, key=lambda cue: cue.name)
    drawn = {ordered[place].name for place in np.random.default_rng(seed).permutation(total)[:count].tolist()}
    kept = tuple(cue for cue in inventory.cues if cue.name not in drawn)
    secret = tuple(cue for cue in inventory.cues if cue.name in drawn)
    # The seed is recorded with the held-out part only, which is sealed until the run is over.
    held = CueInventorySpec(name=f"{inventory.name}, held out", cues=secret, seed=seed)
    return CueInventories(open=replace(inventory, cues=kept), held_out=held)


def cover_inventories(ablation: Ablation, listed: Sequence[tuple[str, CueInventorySpec]]) -> Ablation:
    """Return *ablation* with what it did of each inventory, and warnings of cues that were not ablated, or that none lists.

    Args:
        listed: the source and the body of each inventory.
    """
    if not listed:
        return ablation
    cues = list(dict.fromkeys(change.cue for change in ablation.changes if not change.placebo))
    coverages = tuple(_cover(source, body, cues) for source, body in listed)
    names = {name for _, body in listed for cue in body.cues for name in _list_names(cue)}
    warnings = []
    for coverage in coverages:
        if coverage.not_ablated:
            message = f"{coverage.name}: nothing is known of {len(coverage.not_ablated)} cues: {', '.join(coverage.not_ablated[:5])}."
            warnings.append(EstimateWarning(code="cues-not-ablated", message=message))
    # A cue that no inventory lists may have been chosen after seeing results.
    outside = [cue for cue in cues if not any(_is_alike(_fold(cue), name) for name in names)]
    if outside:
        message = f"No inventory lists {', '.join(outside[:5])}: whether they were chosen before the run, the inventories do not show."
        warnings.append(EstimateWarning(code="cue-outside-inventory", message=message))
    return replace(ablation, inventories=coverages, warnings=(*ablation.warnings, *warnings))


def _cover(source: str, body: CueInventorySpec, cues: Sequence[str]) -> InventoryCoverage:
    folded = [_fold(cue) for cue in cues]
    ablated = [cue.name for cue in body.cues if any(_is_alike(name, word) for name in _list_names(cue) for word in folded)]
    return InventoryCoverage(
        name=body.name,
        source=source,
        sha256=digest(to_document(body)),
        ablated=tuple(ablated),
        not_ablated=tuple(cue.name for cue in body.cues if cue.name not in ablated),
        held_out=body.held_out,
    )


def _list_names(cue: Cue) -> tuple[str, ...]:
    return tuple(_fold(name) for name in (cue.name, *cue.spellings))


def _fold(name: str) -> str:
    """The words of a name as they are compared: as the vocabulary spells them."""
    return " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()


def _find_heads(words: Counter[str]) -> dict[str, str]:
    """By name, the name of its group: vocabulary first, then the commonest, each taking in what is like it."""
    heads: dict[str, str] = {}
    for word in sorted(words, key=lambda word: (word not in VOCABULARY, -words[word], word)):
        like = next((head for head in dict.fromkeys((*VOCABULARY, *heads.values())) if _is_alike(word, head)), word)
        heads[word] = like
    return heads


def _is_alike(first: str, second: str) -> bool:
    if first == second:
        return True
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    # The quick ratios are upper bounds; they spare the full comparison for most pairs.
    return matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def _build_cue(head: str, cues: Sequence[NamedCue]) -> Cue:
    sources = Counter(cue.source for cue in cues)
    spellings = sorted({" ".join(cue.name.split()) for cue in cues if _fold(cue.name) != head})
    categories = Counter(cue.category for cue in cues if cue.category is not None)
    category = head if head in VOCABULARY else max(sorted(categories), key=lambda category: categories[category], default=GENERIC)
    name = head if head in VOCABULARY else min(" ".join(cue.name.split()) for cue in cues if _fold(cue.name) == head)
    return Cue(
        name=name,
        category=category,
        description=VOCABULARY.get(head),
        count=len(cues),
        sources=tuple(f"{source}: {count}" for source, count in sorted(sources.items())),
        spellings=tuple(spellings),
    )
