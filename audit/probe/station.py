"""Module 2, the evidence-layer probe: classified passages become rates of verbalised recognition (method sections 5 and 6).

A rate belongs to one evaluation. The difference of two rates is a difference of mention rates, never ED, and no outcome is decided here.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from audit.probe.classify import Classified
from audit.probe.labels import find_accuracy
from audit.probe.passage import Passage
from audit.probe.patterns import VERSION, is_candidate
from audit.probe.question import PROMPT
from audit.probe.rates import Group, bound_share, correct_share, measure_difference, measure_share
from audit.statistics.judge_correction import JudgeAccuracy
from registry.records.analysis_plan import Plan
from registry.records.estimates import EstimateWarning, Measure
from registry.records.module_findings import (
    RECOGNITION,
    Channel,
    ClassCount,
    ClassifierAccuracy,
    Example,
    GroupRate,
    MentionDifference,
    Recognition,
    RecognitionClass,
    UnclassifiedPassages,
)

_UNTOLD = "of {} recognised passages it is not known whether the prompt itself says that it is a test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What belongs to a probe beside its passages."""

    evaluation: str
    models: tuple[str, ...]
    classifier: str
    drawn: float
    seed: int
    passages: str
    """Digest of what was read."""
    test: str = "test"
    deploy: str = "deploy"
    examples: int = 3
    """Quotes of each class that are kept."""
    ablated: int = 0
    """Responses left out because a cue was taken out of their context."""


Place = tuple[str, str | None, Channel]


def recognise(
    passages: Sequence[Passage], found: Sequence[Classified], plan: Plan, circumstances: Circumstances, accuracy: ClassifierAccuracy | None
) -> Recognition:
    """Return rates, differences and examples; the bits do not depend on the order of *passages* and *found*.

    Args:
        passages: both channels of every response that was drawn, read or absent.
        found: those of them that hold a text, with their classes.
        plan: level, and what contexts are.
        circumstances: names, and how the responses were drawn.
        accuracy: of the classifier on a labelled set; None without one.
    """
    known = find_accuracy(accuracy)
    groups = _group(passages, found)
    return Recognition(
        evaluation=circumstances.evaluation,
        models=circumstances.models,
        classifier=circumstances.classifier,
        prompt=PROMPT,
        patterns=VERSION,
        level=plan.level,
        contexts=plan.contexts.value,
        drawn=circumstances.drawn,
        seed=circumstances.seed,
        test=circumstances.test,
        deploy=circumstances.deploy,
        groups=tuple(_rate(place, one, plan, accuracy, known) for place, one in groups.items()),
        differences=tuple(_compare(groups, circumstances, plan, accuracy, known)),
        accuracy=accuracy,
        examples=tuple(_pick(found, circumstances.examples)),
        passages=circumstances.passages,
        warnings=tuple(_warn(groups, circumstances)),
    )


def is_recognition(class_: RecognitionClass) -> bool:
    """Whether passages of this class verbalise recognition of being tested."""
    return class_ in RECOGNITION


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Members:
    """Everything of one channel of one arm."""

    passages: Sequence[Passage]
    found: Sequence[Classified]
    group: Group


def _group(passages: Sequence[Passage], found: Sequence[Classified]) -> dict[Place, _Members]:
    """By arm, specification and channel, in that order."""
    tasks = tuple(sorted({one.cell.task_id for one in passages}))
    contexts = tuple(sorted({one.cell.context_id for one in passages}))
    members: dict[Place, list[Passage]] = {}
    for one in passages:
        members.setdefault((one.cell.arm, one.cell.spec, one.channel), []).append(one)
    classified: dict[Place, list[Classified]] = {}
    for each in sorted(found, key=lambda one: _order(one.passage)):
        cell = each.passage.cell
        classified.setdefault((cell.arm, cell.spec, each.passage.channel), []).append(each)
    return {
        place: _Members(
            passages=members[place],
            found=classified.get(place, []),
            group=Group(name=place[0], verdicts=[one.verdict for one in classified.get(place, [])], tasks=tasks, contexts=contexts),
        )
        for place in sorted(members, key=lambda one: (one[0], one[1] or "", list(Channel).index(one[2])))
    }


def _order(one: Passage) -> tuple[str, ...]:
    cell = one.cell
    return cell.arm, cell.spec or "", one.channel.value, cell.task_id, cell.context_id, f"{cell.sample:09d}"


def _rate(place: Place, one: _Members, plan: Plan, accuracy: ClassifierAccuracy | None, known: JudgeAccuracy | None) -> GroupRate:
    classified = [each for each in one.found if each.class_ is not None]
    recognised = [each for each in classified if each.class_ is not None and is_recognition(each.class_)]
    reasons = Counter(reason for each in one.passages if (reason := each.absent) is not None)
    reasons.update(each.reading.excluded for each in one.found if each.reading.excluded is not None)
    untold = sum(each.is_told is None for each in recognised)
    return GroupRate(
        arm=place[0],
        spec=place[1],
        channel=place[2],
        responses=len(one.passages),
        present=len(one.found),
        candidates=sum(is_candidate(each.passage.text) for each in one.found),
        classified=len(classified),
        excluded=tuple(UnclassifiedPassages(reason=reason, count=count) for reason, count in sorted(reasons.items())),
        tasks=len({each.passage.cell.task_id for each in classified}),
        contexts=len({each.passage.cell.context_id for each in classified}),
        recognised=_measure(one, is_recognition, plan, place[2]),
        corrected=_correct(one, plan, accuracy, known),
        under_exclusions=bound_share(one.group, is_recognition),
        recognised_candidates=sum(is_candidate(each.passage.text) for each in recognised),
        recognised_count=len(recognised),
        told_unknown=untold,
        classes=tuple(_count_class(one, class_, plan, untold=untold) for class_ in RecognitionClass) if classified else (),
    )


def _measure(one: _Members, holds: Callable[[RecognitionClass], bool], plan: Plan, channel: Channel) -> Measure:
    if not one.found:
        return Measure(value=None, reason=f"no {channel.value} was returned")
    return measure_share(one.group, holds, plan)


def _correct(one: _Members, plan: Plan, accuracy: ClassifierAccuracy | None, known: JudgeAccuracy | None) -> Measure | None:
    if accuracy is None:
        return None
    if known is None:
        return Measure(value=None, reason=_tell_one_kind(accuracy))
    return correct_share(one.group, is_recognition, plan, known)


def _tell_one_kind(accuracy: ClassifierAccuracy) -> str:
    return accuracy.sensitivity.reason or accuracy.specificity.reason or "the labelled set has passages of one kind only"


def _count_class(one: _Members, class_: RecognitionClass, plan: Plan, *, untold: int) -> ClassCount:
    if untold and is_recognition(class_):
        return ClassCount(class_=class_, count=None, share=Measure(value=None, reason=_UNTOLD.format(untold)))
    count = sum(each.class_ is class_ for each in one.found)
    return ClassCount(class_=class_, count=count, share=measure_share(one.group, lambda found: found is class_, plan))


def _compare(
    groups: Mapping[Place, _Members],
    circumstances: Circumstances,
    plan: Plan,
    accuracy: ClassifierAccuracy | None,
    known: JudgeAccuracy | None,
) -> Iterator[MentionDifference]:
    """Test less deployment, for each channel that either side has, and each specification."""
    for channel in Channel:
        tests = [one for place, one in groups.items() if place[0] == circumstances.test and place[2] is channel]
        for (arm, spec, where), deploy in groups.items():
            if arm != circumstances.deploy or where is not channel or not tests or not (tests[0].found or deploy.found):
                continue
            plain, corrected, tasks = measure_difference(tests[0].group, deploy.group, is_recognition, plan, known)
            if silent := [name for name, one in ((circumstances.test, tests[0]), (circumstances.deploy, deploy)) if not one.found]:
                plain = Measure(value=None, reason=f"no {channel.value} was returned in arm {silent[0]}")
                corrected = None if accuracy is None else plain
            elif accuracy is not None and known is None:
                corrected = Measure(value=None, reason=_tell_one_kind(accuracy))
            yield MentionDifference(channel=channel, spec=spec, tasks=tasks, difference=plain, corrected=corrected)


def _pick(found: Sequence[Classified], most: int) -> Iterator[Example]:
    """Up to *most* quotes of each class, spread over the responses by the digest of their words and not by their order."""
    for class_ in RecognitionClass:
        quoted = [one for one in found if one.class_ is class_ and one.reading.start is not None]
        quoted.sort(key=lambda one: (hashlib.sha256(one.passage.text.encode()).hexdigest(), _order(one.passage)))
        for one in quoted[:most]:
            start, stop, cell = one.reading.start or 0, one.reading.stop or 0, one.passage.cell
            yield Example(
                class_=class_,
                channel=one.passage.channel,
                task_id=cell.task_id,
                arm=cell.arm,
                context_id=cell.context_id,
                sample=cell.sample,
                spec=cell.spec,
                quote=one.passage.text[start:stop],
                start=start,
                stop=stop,
            )


def _warn(groups: Mapping[Place, _Members], circumstances: Circumstances) -> Iterator[EstimateWarning]:
    if circumstances.ablated:
        message = f"{circumstances.ablated} responses have a cue taken out of their context (cue_removed) and are left out."
        yield EstimateWarning(code="ablation-rows", message=message)
    if circumstances.classifier in circumstances.models:
        message = f"{circumstances.classifier} classified its own responses; another model would err in other places."
        yield EstimateWarning(code="classifier-is-model", message=message)
    for (arm, spec, channel), one in groups.items():
        classified = sum(each.class_ is not None for each in one.found)
        if one.found and classified < len(one.found):
            lost = len(one.found) - classified
            name = f"{arm}, {spec}" if spec else arm
            message = (
                f"{lost} of {len(one.found)} passages of {name}, {channel.value}, have no class; a quote that is not found makes a "
                "recognition void more easily than a none, so the share may be too low."
            )
            yield EstimateWarning(code="passages-without-class", message=message)
