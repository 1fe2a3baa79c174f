"""Responses of a recording as score tables: by task within a skill, and by skill; one fixed context per arm."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audit.errors import DesignError
from audit.estimate import estimate
from audit.sources.contamination import Response, Skill
from audit.statistics.scores import Floats, Labelled, ScoreTable, TableFile
from registry.errors import Fault
from registry.records.contamination import DIMENSIONS, HIGHEST, LOWEST
from registry.records.estimate import SpecEstimate
from registry.records.plan import ContextDesign, Plan

Arms = tuple[str, str]
Score = Callable[[Response], float | None]
"""A property of a response; None when it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One row of a table."""

    unit: str
    """What is taken as independent: a task, or a skill."""
    arm: str
    sample: str
    score: float | None
    """None when the response is excluded."""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How every contrast of the study is made."""

    level: float
    margin: float
    """In points of the composite."""

    def plan(self, width: float) -> Plan:
        """Return the plan for a score whose range is *width* wide; the margin keeps its share of the range."""
        margin = self.margin * width / (HIGHEST - LOWEST)
        return Plan(level=self.level, margin=margin, contexts=ContextDesign.FIXED, replicates=0)


def read_composite(response: Response) -> float | None:
    """Return the mean of the four dimensions."""
    return response.composite


def read_seen_whole(visible_chars: int) -> Score:
    """Return the composite of a response that the judge saw whole, None for any other."""

    def read(response: Response) -> float | None:
        return response.composite if response.chars is not None and response.chars <= visible_chars else None

    return read


def choose_seen_whole(visible_chars: int | None, *, is_whole: bool) -> Score | None:
    """Return the composite of what the judge saw whole; None when nobody says what it saw."""
    if is_whole:
        return read_composite
    return None if visible_chars is None else read_seen_whole(visible_chars)


def read_dimension(name: str) -> Score:
    """Return one dimension of the judge."""

    def read(response: Response) -> float | None:
        return response.dimensions.get(name)

    return read


def read_pattern_share(position: int) -> Score:
    """Return the share of expected patterns (0) or anti-patterns (1) that were found; None where none was looked for."""

    def read(response: Response) -> float | None:
        found = () if response.patterns is None else response.patterns[position]
        return sum(found) / len(found) if found else None

    return read


PATTERNS: Mapping[str, Score] = {"expected patterns found": read_pattern_share(0), "anti-patterns found": read_pattern_share(1)}
"""Shares of the patterns of a task that a response matches."""

PROPERTIES: Mapping[str, tuple[Score, tuple[float, float]]] = {
    **{name: (read_dimension(name), (LOWEST, HIGHEST)) for name in DIMENSIONS},
    **{name: (score, (0.0, 1.0)) for name, score in PATTERNS.items()},
}
"""What a response was scored on beside the composite, with its range."""


def list_task_rows(skill: Skill, score: Score, *, tasks: frozenset[str] | None = None) -> list[Scored]:
    """Return one row per response of *skill*; the task is the unit."""
    rows = []
    for one in skill.responses:
        if tasks is None or one.task_id in tasks:
            value = score(one)
            reason = None if value is not None else one.excluded or "left out of this reading"
            rows.append(Scored(unit=one.task_id, arm=one.arm, sample=str(one.run), score=value, reason=reason))
    return rows


def estimate_contrast(rows: Sequence[Scored], arms: Arms, settings: Settings, range_: tuple[float, float]) -> SpecEstimate | str:
    """Return the contrast of *arms* estimated as ED is, with the differences of all units; the reason when there is none.

    Contexts are fixed: one harness per arm is all there is, and every statement is conditional on it.
    """
    table = build_table([one for one in rows if one.arm in arms], range_)
    if table is None:
        return "no response of either arm"
    try:
        plan = settings.plan(range_[1] - range_[0])
        found = estimate(table, plan, range_=range_, test=arms[0], deploy=arms[1], pointwise=True)
    except DesignError as error:
        return error.faults[0].found
    return found.specs[0]


def list_differences(spec: SpecEstimate) -> dict[str, float]:
    """Return the difference of each unit; noise of the arithmetic beyond 12 decimals is cut, so that ties are ties."""
    return {one.task_id: round(one.ed, 12) + 0.0 for one in spec.pointwise or ()}


def average_units(spec: SpecEstimate, arms: Arms, unit: str) -> list[Scored]:
    """Return both arms of a finished contrast as rows of one larger *unit*: the means over the units common to both."""
    means = (spec.phi_test.value, spec.phi_deploy.value)
    return [Scored(unit=unit, arm=arm, sample="0", score=mean) for arm, mean in zip(arms, means, strict=True)]


def build_table(rows: Sequence[Scored], range_: tuple[float, float]) -> ScoreTable | None:
    """Return the table of *rows*; None without any."""
    if not rows:
        return None
    scores: Floats = np.array([np.nan if one.score is None else one.score for one in rows])
    return ScoreTable(
        task=_label(one.unit for one in rows),
        arm=_label(one.arm for one in rows),
        context=_label(one.arm for one in rows),
        spec=_label(None for _ in rows),
        sample=_label(one.sample for one in rows),
        excluded=_label(one.reason if one.score is None else None for one in rows),
        score=scores,
        low=range_[0],
        high=range_[1],
        files=(TableFile(name="scores.csv", sha256="0" * 64, rows=len(rows)),),
    )


def _label(texts: Iterable[str | None]) -> Labelled:
    listed = list(texts)
    labels = tuple(sorted({text for text in listed if text is not None}))
    place = {text: code for code, text in enumerate(labels)}
    codes = np.array([-1 if text is None else place[text] for text in listed], dtype=np.int32)
    return Labelled(codes=codes, labels=labels)


def build_settings(*, level: float, margin: float) -> Settings:
    """Return the settings.

    Raises:
        DesignError: *level* or *margin* cannot be what they should be; both are told at once.
    """
    faults = []
    if not 0.5 <= level < 1:
        faults.append(Fault(code="not-valid", where="--level", found=f"expected at least 0.5 and below 1, found {level:g}"))
    if not 0 < margin < HIGHEST - LOWEST:
        found = f"expected above 0 and below {HIGHEST - LOWEST:g} points, found {margin:g}"
        faults.append(Fault(code="not-valid", where="--margin", found=found))
    if faults:
        raise DesignError(faults)
    return Settings(level=level, margin=margin)
