"""What a recording holds, before anything is computed of it; and how earlier states of its files differ from the present ones."""

from collections.abc import Iterable, Sequence

from audit.contamination.tables import Settings, estimate_contrast, list_task_rows, read_composite
from audit.sources.contamination import Recording, Response, Skill
from registry.records.contamination import (
    ARMS,
    HIGHEST,
    LOWEST,
    ArmCount,
    EarlierState,
    Exclusion,
    Inventory,
    LeftOut,
)

_FOLLOWED = {"B−A": ("B", "A"), "D−A": ("D", "A")}


def take_inventory(recording: Recording, skills: Sequence[Skill]) -> Inventory:
    """Return the counts of *skills*, a selection of those in *recording*."""
    responses = [one for skill in skills for one in skill.responses]
    facts = recording.facts
    return Inventory(
        skills=len(skills),
        tasks=sum(len(skill.tasks) for skill in skills),
        responses=len(responses),
        generators=tuple(sorted({skill.generator for skill in skills if skill.generator})),
        judges=tuple(sorted({skill.judge for skill in skills if skill.judge})),
        visible_chars=facts.visible_chars,
        token_limit=facts.token_limit,
        arms=tuple(_count_arm(arm, skills, recording) for arm in ARMS if any(one.arm == arm for one in responses)),
        exclusions=tuple(
            Exclusion(skill=skill.name, task_id=one.task_id, run=one.run, arm=one.arm, reason=one.excluded)
            for skill in skills
            for one in skill.responses
            if one.excluded is not None
        ),
        left_out=tuple(LeftOut(skill=skill.name, reason=skill.left_out) for skill in skills if skill.left_out is not None),
        notes=recording.notes,
    )


def _count_arm(arm: str, skills: Sequence[Skill], recording: Recording) -> ArmCount:
    responses = [one for skill in skills for one in skill.find(arm)]
    scored = sum(one.excluded is None for one in responses)
    limit = recording.facts.token_limit
    return ArmCount(
        arm=arm,
        condition=ARMS[arm],
        skills=sum(bool(skill.find(arm)) for skill in skills),
        responses=len(responses),
        scored=scored,
        excluded=len(responses) - scored,
        beyond_judge=_count_beyond(responses, recording),
        at_token_limit=None if limit is None else _count(_reaches(one, limit) for one in responses if not one.failed),
        cached=_count(one.cached for one in responses),
        judge_cached=_count(one.judge_cached for one in responses if one.excluded is None),
    )


def _count_beyond(responses: Sequence[Response], recording: Recording) -> int | None:
    visible = recording.facts.visible_chars
    if recording.facts.is_seen_whole:
        return 0
    texts = [one for one in responses if not one.failed]
    return None if visible is None else _count(None if one.chars is None else one.chars > visible for one in texts)


def _is_changed(then: Response, now: Response) -> bool | None:
    """Whether the text is another one; None where one of the two is not known. A call without an answer has none."""
    unknown = any(one.digest is None and not one.failed for one in (then, now))
    return None if unknown else then.digest != now.digest


def _reaches(response: Response, limit: int) -> bool | None:
    return None if response.output_tokens is None else response.output_tokens >= limit


def _count(known: Iterable[bool | None]) -> int | None:
    """Return how many are true; None as soon as one is not known."""
    listed = list(known)
    return None if any(one is None for one in listed) else sum(one is True for one in listed)


def compare_states(recording: Recording, skills: Sequence[Skill], settings: Settings) -> tuple[EarlierState, ...]:
    """Return one row per skill of *skills* and earlier state; states in the order of their folders' names."""
    present = {skill.name: skill for skill in skills}
    return tuple(
        _compare(state, earlier, present[earlier.name], settings)
        for state, group in sorted(recording.earlier.items())
        for earlier in group
        if earlier.name in present
    )


def _compare(state: str, earlier: Skill, now: Skill, settings: Settings) -> EarlierState:
    then = {(one.task_id, one.run, one.arm): one for one in earlier.responses}
    pairs = [(then[key], one) for one in now.responses if (key := (one.task_id, one.run, one.arm)) in then]
    texts = [_is_changed(one, other) for one, other in pairs]
    scores = [one.composite != other.composite for one, other in pairs]
    return EarlierState(
        state=state,
        skill=now.name,
        scored_at=earlier.scored_at,
        scored_at_now=now.scored_at,
        compared=len(pairs),
        texts_changed=_count(texts),
        scores_changed=sum(scores),
        rescored=None if None in texts else sum(score and not text for score, text in zip(scores, texts, strict=True)),
        failed=sum(one.excluded is not None for one in earlier.responses),
        deltas={name: (_average(earlier, arms, settings), _average(now, arms, settings)) for name, arms in _FOLLOWED.items()},
    )


def _average(skill: Skill, arms: tuple[str, str], settings: Settings) -> float | None:
    spec = estimate_contrast(list_task_rows(skill, read_composite), arms, settings, (LOWEST, HIGHEST))
    return None if isinstance(spec, str) else spec.ed.value
