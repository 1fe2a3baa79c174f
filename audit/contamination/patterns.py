"""The patterns that define a match, with their files, and what became of them when they were matched anew."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from audit.matching import Kind, is_literal
from audit.sources.contamination import Recording, Response, Skill, Task
from audit.sources.contamination_patterns import KINDS
from registry.records.contamination import PatternCount, PatternDifference, Rematch, TaskPatterns, UnmatchedResponses

NOTHING_RECORDED = "no results are recorded apart from these"


def list_patterns(recording: Recording, skills: Sequence[Skill]) -> Iterator[TaskPatterns]:
    """Give the patterns of each task of *skills*, counted over its responses under all conditions."""
    for skill in skills:
        for task in skill.tasks:
            yield _describe_task(skill, task, recording.files)


def _describe_task(skill: Skill, task: Task, files: Mapping[str, str]) -> TaskPatterns:
    searched: Counter[tuple[Kind, str]] = Counter()
    found: Counter[tuple[Kind, str]] = Counter()
    for response in skill.responses:
        for kind, pattern, matched in _pair(response) if response.task_id == task.task_id else ():
            searched[kind, pattern] += 1
            found[kind, pattern] += matched
    counts = tuple(
        PatternCount(kind=kind, pattern=pattern, literal=is_literal(pattern), responses=number, found=found[kind, pattern])
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
        reason=None if counts else "; ".join(reasons) or "the task has no patterns",
    )


def _pair(response: Response) -> Iterator[tuple[Kind, str, bool]]:
    if response.patterns is None or response.pattern_texts is None:
        return
    for kind, texts, results in zip(KINDS, response.pattern_texts, response.patterns, strict=True):
        for pattern, matched in zip(texts, results, strict=True):
            yield kind, pattern, matched


def compare_matches(skills: Sequence[Skill]) -> Rematch:
    """Return what matching the patterns of *skills* anew gave, beside what the study records."""
    matched = [(skill, response) for skill in skills for response in skill.responses if response.is_matched]
    recorded = [(skill, response) for skill, response in matched if response.recorded is not None]
    compared = sum(len(list(_pair(response))) for _, response in recorded)
    return Rematch(
        responses=len(matched),
        searches=sum(len(list(_pair(response))) for _, response in matched),
        compared=compared if recorded else None,
        reason=None if recorded else NOTHING_RECORDED if matched else "no response was matched here",
        differ=tuple(difference for skill, response in recorded for difference in _list_differences(skill, response)),
        unmatched=tuple(_count_unmatched(skills)),
    )


def _list_differences(skill: Skill, response: Response) -> Iterator[PatternDifference]:
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


def _count_unmatched(skills: Sequence[Skill]) -> Iterator[UnmatchedResponses]:
    left = [response for skill in skills for response in skill.responses if response.unmatched is not None]
    for reason, number in Counter(str(response.unmatched) for response in left).items():
        copied = sum(response.patterns is not None for response in left if response.unmatched == reason)
        yield UnmatchedResponses(reason=reason, responses=number, copied=copied)
