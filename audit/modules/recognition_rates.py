"""Module 2: classified passages become rates of verbalised recognition, with the classifier's errors."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audit.modules.judge_error import correct_by_accuracy
from audit.modules.recognition_classifier import PROMPT, ClassifierAnswer, ask_passage, ask_prompt, read_class, read_prompt_answer
from audit.modules.recognition_passages import VERSION, ResponsePassage, is_candidate
from audit.records.model_response import ReplayCell, Response
from audit.replay.run_store import Call
from audit.statistics.contrast_intervals import ArmScores, compute_arms, find_obstacle, find_tasks_of_all
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.intervals import IntervalBasis, find_sides
from audit.statistics.judge_correction import HitCounts, JudgeAccuracy
from audit.statistics.mean_intervals import clopper_pearson, difference_interval
from audit.statistics.missing_responses import ResponseSide
from audit.statistics.side_moments import Moments, average_tasks, compute_task_means
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import EstimateWarning, Measure, ScoreRange
from registry.records.module_findings import (
    RECOGNITION,
    Channel,
    ClassCount,
    ClassifierAccuracy,
    CorrectedEstimate,
    Example,
    GroupRate,
    MentionDifference,
    Recognition,
    RecognitionClass,
    UnclassifiedPassages,
)
from registry.records.replay_run import Probe

# Shares of recognition with the intervals of every Φ: tasks and contexts are the units, not responses.
#
# A share is Φ of the scores 1 (recognised) and 0, so its interval, and that of a difference of two
# shares, is computed as `caveat analyze estimate` does. Passages without a class are excluded, and bounds
# report what they could have been.

_UNIT = ScoreScale(low=0.0, high=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageClass:
    """One passage that holds a text, with its class."""

    cell: ReplayCell
    class_: RecognitionClass | None
    """None when *excluded* says why there is none."""
    excluded: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassageGroup:
    """The passages of one channel of one arm."""

    name: str
    verdicts: Sequence[PassageClass]
    tasks: tuple[str, ...]
    """All task ids of the study, so that codes agree between groups."""
    contexts: tuple[str, ...]

    def score(self, holds: Callable[[RecognitionClass], bool], *, fill: float = float("nan")) -> ResponseSide:
        """Return 1 where the class *holds*, 0 where it does not, *fill* where there is no class."""
        task_codes = {label: code for code, label in enumerate(self.tasks)}
        context_codes = {label: code for code, label in enumerate(self.contexts)}
        scores = [fill if verdict.class_ is None else float(holds(verdict.class_)) for verdict in self.verdicts]
        return ResponseSide(
            task=np.array([task_codes[passage_class.cell.task_id] for passage_class in self.verdicts], dtype=np.int32),
            context=np.array([context_codes[passage_class.cell.context_id] for passage_class in self.verdicts], dtype=np.int32),
            score=np.array(scores, dtype=np.float64),
        )


def measure_share(group: PassageGroup, holds: Callable[[RecognitionClass], bool], plan: Plan) -> Measure:
    """Return the share of classified passages with a class that *holds*, over the group's own tasks; there must be one."""
    # A group compared with itself reuses the moments of a pair; only the first side is read.
    arms = _compare(group, group, holds, plan)
    if arms is None:
        return Measure(value=None, reason="no passage has a class")
    moments = arms.first
    limits = find_sides(IntervalBasis(moments=moments), level=plan.level)[0]
    if limits is None:
        return Measure(value=moments.test.mean, reason=_explain(arms, group))
    return Measure(value=moments.test.mean, low=limits.low, high=limits.high)


def measure_difference(
    test: PassageGroup, deploy: PassageGroup, holds: Callable[[RecognitionClass], bool], plan: Plan, accuracy: JudgeAccuracy | None
) -> tuple[Measure, Measure | None, int]:
    """Return share of *test* − share of *deploy* over their common tasks, the same corrected (None without *accuracy*), and the tasks."""
    arms = _compare(test, deploy, holds, plan)
    if arms is None:
        nothing = Measure(value=None, reason="no task has a classified passage on both sides")
        return nothing, None if accuracy is None else nothing, 0
    limits = difference_interval(arms.first, level=plan.level)
    value = arms.first.difference
    plain = (
        Measure(value=value, reason=_explain(arms, test, deploy))
        if limits is None
        else Measure(value=value, low=limits.low, high=limits.high)
    )
    corrected = None if accuracy is None else _correct(arms.first, accuracy, plan).ed
    return plain, corrected, arms.tasks


def correct_share(group: PassageGroup, holds: Callable[[RecognitionClass], bool], plan: Plan, accuracy: JudgeAccuracy) -> Measure:
    """Return the share corrected for the classifier's errors (Rogan & Gladen); None with its reason where that cannot be."""
    arms = _compare(group, group, holds, plan)
    return Measure(value=None, reason="no passage has a class") if arms is None else _correct(arms.first, accuracy, plan).phi_test


def bound_share(group: PassageGroup, holds: Callable[[RecognitionClass], bool]) -> ScoreRange | None:
    """Return the lowest and the highest share that the passages without a class could give; None without a passage."""
    if not group.verdicts:
        return None
    low, high = (_average(group.score(holds, fill=fill), len(group.tasks)) for fill in (0.0, 1.0))
    return ScoreRange(low=low, high=high)


def _average(side: ResponseSide, tasks: int) -> float:
    cells = side.cells(fill=0.0)
    return average_tasks(compute_task_means(cells, find_tasks_of_all([cells], tasks=tasks)), None)


def _compare(first: PassageGroup, second: PassageGroup, holds: Callable[[RecognitionClass], bool], plan: Plan) -> ArmScores | None:
    """Moments of two groups, which may be one and the same, over the tasks that both have; None without one."""
    cells = [group.score(holds).scored().cells(fill=0.0) for group in (first, second)]
    common = find_tasks_of_all(cells, tasks=len(first.tasks))
    if not common.any():
        return None
    # Scores are 0 and 1, so the effective size is limited by the number of passages.
    random = plan.contexts is ContextDesign.RANDOM
    return compute_arms({"first": cells[0], "second": cells[1]}, common, random=random, binary=True)


def _correct(moments: Moments, accuracy: JudgeAccuracy, plan: Plan) -> CorrectedEstimate:
    judged = difference_interval(moments, level=plan.level)
    # The same object twice: one measurement of the classifier holds for both arms.
    return correct_by_accuracy(moments, (accuracy, accuracy), judged, _UNIT, level=plan.level)


def _explain(arms: ArmScores, *groups: PassageGroup) -> str:
    """Why there is no interval, in the words of contrasts, with the arms by their names."""
    reason = find_obstacle(arms) or "nothing says how the passages vary"
    if "context" not in reason:
        return reason
    alone = [group.name for group, side in zip(groups, ("first", "second"), strict=False) if arms.side(side).contexts < 2]
    return f"one context in arm {', '.join(dict.fromkeys(alone))}: nothing says how contexts vary"


# From passages to calls, and from answers to classes, in two rounds: every passage, then the prompts of
# recognised passages. A question depends on the text alone, so passages with the same words share a
# call, and the calls of an interrupted probe are found again.

Find = Callable[[str], Response | None]
"""By key of a call, its latest outcome; None where it was not made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageAnswer:
    """A passage with what the classifier says of it."""

    passage: ResponsePassage
    reading: ClassifierAnswer
    is_told: bool | None = None
    """Whether the prompt itself says that it is a test; None where that is not known or was not asked."""

    @property
    def class_(self) -> RecognitionClass | None:
        """The class; None without one. A recognised passage is `aware` here if it is unknown whether the prompt informed the model."""
        if self.reading.value is None:
            return None
        recognition_class = RecognitionClass(self.reading.value)
        # The second class needs a known prompt; without it the count of both classes is withheld in
        # `_count_class`.
        return RecognitionClass.AWARE_BUT_INFORMED if recognition_class is RecognitionClass.AWARE and self.is_told else recognition_class

    @property
    def verdict(self) -> PassageClass:
        """What the rates are made from."""
        return PassageClass(cell=self.passage.cell, class_=self.class_, excluded=self.reading.excluded)


def plan_passages(passages: Iterable[ResponsePassage], probe: Probe) -> Iterator[Call]:
    """Give the calls of the first round in the order of the passages, made as they are needed; the same words may give one twice."""
    return (_ask(passage, probe) for passage in passages if passage.absent is None)


def read_passages(passages: Iterable[ResponsePassage], probe: Probe, find: Find) -> list[PassageAnswer]:
    """Return every passage that holds a text with what its answer says."""
    return [
        PassageAnswer(passage=passage, reading=read_class(find(_ask(passage, probe).key), passage.text))
        for passage in passages
        if passage.absent is None
    ]


def plan_prompts(passage_answers: Iterable[PassageAnswer], probe: Probe) -> list[Call]:
    """Return the calls of the second round: the prompts of recognised passages, each once."""
    return [ask_prompt(prompt, model=probe.model, max_tokens=probe.max_tokens) for prompt in _list_prompts(passage_answers)]


def read_prompts(passage_answers: Sequence[PassageAnswer], probe: Probe, find: Find) -> list[PassageAnswer]:
    """Return *passage_answers* with what is known of the prompts of recognised passages."""
    answers: dict[str, bool | None] = {}
    # Prompts are shared by many passages and asked once each.
    for prompt in _list_prompts(passage_answers):
        key = ask_prompt(prompt, model=probe.model, max_tokens=probe.max_tokens).key
        answers[prompt] = {"yes": True, "no": False, None: None}[read_prompt_answer(find(key), prompt).value]
    return [
        PassageAnswer(
            passage=passage_answer.passage,
            reading=passage_answer.reading,
            is_told=answers.get(passage_answer.passage.prompt or "") if _is_aware(passage_answer) else None,
        )
        for passage_answer in passage_answers
    ]


def ask_label(text: str, probe: Probe, channel: Channel = Channel.REASONING) -> Call:
    """Return the call that classifies a labelled passage, which names no channel of its own."""
    return ask_passage(text, channel, model=probe.model, max_tokens=probe.max_tokens)


def _list_prompts(passage_answers: Iterable[PassageAnswer]) -> list[str]:
    return list(
        dict.fromkeys(
            passage_answer.passage.prompt
            for passage_answer in passage_answers
            if _is_aware(passage_answer) and passage_answer.passage.prompt
        )
    )


def _is_aware(passage_answer: PassageAnswer) -> bool:
    return passage_answer.reading.value == RecognitionClass.AWARE.value


def _ask(response_passage: ResponsePassage, probe: Probe) -> Call:
    return ask_passage(response_passage.text, response_passage.channel, model=probe.model, max_tokens=probe.max_tokens)


# Errors of the classifier and of the recall filter on passages that people labelled.


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A passage with what a person says of it."""

    text: str
    is_recognition: bool


def assess_classifier(
    labelled: Sequence[LabelledText], readings: Sequence[ClassifierAnswer], *, source: tuple[str, str], level: float
) -> ClassifierAccuracy:
    """Return the errors of the classifier on *labelled* passages, with *readings* in the same order.

    A passage without a class is counted apart: it is neither right nor wrong, as in the rates that are corrected.

    Args:
        source: name and SHA-256 of the file of labels.
        level: nominal coverage of the intervals.
    """
    counts = Counter(
        (text.is_recognition, reading.value == RecognitionClass.AWARE.value)
        for text, reading in zip(labelled, readings, strict=True)
        # A passage without a class is neither right nor wrong, as in the rates that these errors
        # correct.
        if reading.value is not None
    )
    reasons = Counter(reading.excluded for reading in readings if reading.excluded is not None)
    # The filter reads the text itself, so voided classifications do not matter for it.
    marked = Counter((text.is_recognition, is_candidate(text.text)) for text in labelled)
    hit, missed, cleared, false = counts[True, True], counts[True, False], counts[False, False], counts[False, True]
    return ClassifierAccuracy(
        source=source[0],
        sha256=source[1],
        labelled=len(labelled),
        excluded=tuple(UnclassifiedPassages(reason=reason, count=count) for reason, count in sorted(reasons.items())),
        true_positives=hit,
        false_negatives=missed,
        true_negatives=cleared,
        false_positives=false,
        sensitivity=measure_rate(hit, hit + missed, level=level, of="labelled positive with a class"),
        specificity=measure_rate(cleared, cleared + false, level=level, of="labelled negative with a class"),
        filter_recall=measure_rate(marked[True, True], marked[True, True] + marked[True, False], level=level, of="labelled positive"),
        filter_precision=measure_rate(marked[True, True], marked[True, True] + marked[False, True], level=level, of="marked passage"),
    )


def find_accuracy(classifier_accuracy: ClassifierAccuracy | None) -> JudgeAccuracy | None:
    """Return what the correction needs; None where the labelled set has no positive, or no negative, with a class."""
    if classifier_accuracy is None:
        return None
    positives, negatives = (
        classifier_accuracy.true_positives + classifier_accuracy.false_negatives,
        classifier_accuracy.true_negatives + classifier_accuracy.false_positives,
    )
    # Rogan & Gladen needs both sensitivity and specificity.
    if not positives or not negatives:
        return None
    return JudgeAccuracy(
        sensitivity=HitCounts(right=classifier_accuracy.true_positives, cases=positives),
        specificity=HitCounts(right=classifier_accuracy.true_negatives, cases=negatives),
    )


def measure_rate(hits: int, cases: int, *, level: float, of: str) -> Measure:
    """Return the share with its exact binomial interval; None with its reason where there is no case *of* the kind."""
    if not cases:
        return Measure(value=None, reason=f"there is no {of}")
    limits = clopper_pearson(successes=hits, trials=cases, level=level)
    return Measure(value=hits / cases, low=limits.low, high=limits.high)


# Whether each response mentions a test, from the classes of its passages. Unknown is not "no".


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseMention:
    """One response."""

    cell: ReplayCell
    mentioned: bool | None
    """Whether its reasoning or its output verbalises recognition of being tested; None where *unknown* says why that is not known."""
    unknown: str | None = None


def list_mentions(passages: Sequence[ResponsePassage], passage_answers: Sequence[PassageAnswer]) -> list[ResponseMention]:
    """Return one mention for each response, in the order of *passages*.

    One recognised channel is a mention. Without one, every channel that holds a text must have a class for a no: a text without a class
    may have been recognition, and a response without any text says nothing.
    """
    channels: dict[ReplayCell, list[ResponsePassage]] = {}
    for passage in passages:
        channels.setdefault(passage.cell, []).append(passage)
    readings = {(passage_answer.passage.cell, passage_answer.passage.channel): passage_answer for passage_answer in passage_answers}
    return [
        _read(cell, channel, [readings.get((cell, response_passage.channel)) for response_passage in channel])
        for cell, channel in channels.items()
    ]


def _read(cell: ReplayCell, passages: Sequence[ResponsePassage], readings: Sequence[PassageAnswer | None]) -> ResponseMention:
    # One recognised channel is enough, even if the other has no class.
    if any(answer is not None and answer.class_ in RECOGNITION for answer in readings):
        return ResponseMention(cell=cell, mentioned=True)
    if all(response_passage.absent is not None for response_passage in passages):
        return ResponseMention(cell=cell, mentioned=None, unknown=passages[-1].absent)
    for passage, reading in zip(passages, readings, strict=True):
        # The unclassified text may have been the recognition, so the answer is unknown.
        if passage.absent is None and (reading is None or reading.class_ is None):
            return ResponseMention(cell=cell, mentioned=None, unknown=(reading.reading.excluded if reading else None) or "not-asked")
    return ResponseMention(cell=cell, mentioned=False)


# Module 2, the evidence-layer probe: classified passages become rates of verbalised recognition (method
# sections 5 and 6). A rate belongs to one evaluation. The difference of two rates is a difference of
# mention rates and never ED. No outcome is decided here.

_UNTOLD = "of {} recognised passages it is not known whether the prompt itself says that it is a test"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSetting:
    """What belongs to a probe beside its passages."""

    evaluation: str
    models: tuple[str, ...]
    classifier: str
    sampled: float
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
    passages: Sequence[ResponsePassage],
    passage_answers: Sequence[PassageAnswer],
    plan: Plan,
    circumstances: ProbeSetting,
    accuracy: ClassifierAccuracy | None,
) -> Recognition:
    """Return rates, differences and examples; the bits do not depend on the order of *passages* and *passage_answers*.

    Args:
        passages: both channels of every response that was sampled, read or absent.
        found: those of them that hold a text, with their classes.
        plan: level, and what contexts are.
        circumstances: names, and how the responses were sampled.
        accuracy: of the classifier on a labelled set; None without one.
    """
    known = find_accuracy(accuracy)
    groups = _group(passages, passage_answers)
    return Recognition(
        evaluation=circumstances.evaluation,
        models=circumstances.models,
        classifier=circumstances.classifier,
        prompt=PROMPT,
        patterns=VERSION,
        level=plan.level,
        contexts=plan.contexts.value,
        sampled=circumstances.sampled,
        seed=circumstances.seed,
        test=circumstances.test,
        deploy=circumstances.deploy,
        groups=tuple(_rate(place, group, plan, accuracy, known) for place, group in groups.items()),
        differences=tuple(_compare_arms(groups, circumstances, plan, accuracy, known)),
        accuracy=accuracy,
        examples=tuple(_pick(passage_answers, circumstances.examples)),
        passages=circumstances.passages,
        warnings=tuple(_warn(groups, circumstances)),
    )


def is_recognition(class_: RecognitionClass) -> bool:
    """Whether passages of this class verbalise recognition of being tested."""
    return class_ in RECOGNITION


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Members:
    """Everything of one channel of one arm."""

    passages: Sequence[ResponsePassage]
    found: Sequence[PassageAnswer]
    group: PassageGroup


def _group(passages: Sequence[ResponsePassage], passage_answers: Sequence[PassageAnswer]) -> dict[Place, _Members]:
    """By arm, specification and channel, in that order."""
    tasks = tuple(sorted({passage.cell.task_id for passage in passages}))
    contexts = tuple(sorted({response_passage.cell.context_id for response_passage in passages}))
    members: dict[Place, list[ResponsePassage]] = {}
    for response_passage in passages:
        members.setdefault((response_passage.cell.arm, response_passage.cell.spec, response_passage.channel), []).append(response_passage)
    classified: dict[Place, list[PassageAnswer]] = {}
    for answer in sorted(passage_answers, key=lambda passage_answer: _order(passage_answer.passage)):
        cell = answer.passage.cell
        classified.setdefault((cell.arm, cell.spec, answer.passage.channel), []).append(answer)
    return {
        place: _Members(
            passages=members[place],
            found=classified.get(place, []),
            group=PassageGroup(
                name=place[0], verdicts=[answer.verdict for answer in classified.get(place, [])], tasks=tasks, contexts=contexts
            ),
        )
        for place in sorted(members, key=lambda member: (member[0], member[1] or "", list(Channel).index(member[2])))
    }


def _order(response_passage: ResponsePassage) -> tuple[str, ...]:
    cell = response_passage.cell
    return cell.arm, cell.spec or "", response_passage.channel.value, cell.task_id, cell.context_id, f"{cell.sample:09d}"


def _rate(
    place: Place, members: _Members, plan: Plan, accuracy: ClassifierAccuracy | None, judge_accuracy: JudgeAccuracy | None
) -> GroupRate:
    classified = [answer for answer in members.found if answer.class_ is not None]
    recognised = [answer for answer in classified if answer.class_ is not None and is_recognition(answer.class_)]
    reasons = Counter(reason for passage in members.passages if (reason := passage.absent) is not None)
    reasons.update(answer.reading.excluded for answer in members.found if answer.reading.excluded is not None)
    untold = sum(answer.is_told is None for answer in recognised)
    return GroupRate(
        arm=place[0],
        spec=place[1],
        channel=place[2],
        responses=len(members.passages),
        present=len(members.found),
        candidates=sum(is_candidate(answer.passage.text) for answer in members.found),
        classified=len(classified),
        excluded=tuple(UnclassifiedPassages(reason=reason, count=count) for reason, count in sorted(reasons.items())),
        tasks=len({answer.passage.cell.task_id for answer in classified}),
        contexts=len({answer.passage.cell.context_id for answer in classified}),
        recognised=_measure(members, is_recognition, plan, place[2]),
        corrected=_correct_group(members, plan, accuracy, judge_accuracy),
        under_exclusions=bound_share(members.group, is_recognition),
        recognised_candidates=sum(is_candidate(answer.passage.text) for answer in recognised),
        recognised_count=len(recognised),
        told_unknown=untold,
        classes=tuple(_count_class(members, class_, plan, untold=untold) for class_ in RecognitionClass) if classified else (),
    )


def _measure(members: _Members, holds: Callable[[RecognitionClass], bool], plan: Plan, channel: Channel) -> Measure:
    if not members.found:
        return Measure(value=None, reason=f"no {channel.value} was returned")
    return measure_share(members.group, holds, plan)


def _correct_group(
    members: _Members, plan: Plan, accuracy: ClassifierAccuracy | None, judge_accuracy: JudgeAccuracy | None
) -> Measure | None:
    if accuracy is None:
        return None
    if judge_accuracy is None:
        return Measure(value=None, reason=_describe_one_kind(accuracy))
    return correct_share(members.group, is_recognition, plan, judge_accuracy)


def _describe_one_kind(accuracy: ClassifierAccuracy) -> str:
    return accuracy.sensitivity.reason or accuracy.specificity.reason or "the labelled set has passages of one kind only"


def _count_class(members: _Members, class_: RecognitionClass, plan: Plan, *, untold: int) -> ClassCount:
    # Without the prompt `aware` and `aware_but_informed` cannot be separated. Their sum is still known.
    if untold and is_recognition(class_):
        return ClassCount(class_=class_, count=None, share=Measure(value=None, reason=_UNTOLD.format(untold)))
    count = sum(answer.class_ is class_ for answer in members.found)
    return ClassCount(
        class_=class_, count=count, share=measure_share(members.group, lambda recognition_class: recognition_class is class_, plan)
    )


def _compare_arms(
    groups: Mapping[Place, _Members],
    circumstances: ProbeSetting,
    plan: Plan,
    accuracy: ClassifierAccuracy | None,
    judge_accuracy: JudgeAccuracy | None,
) -> Iterator[MentionDifference]:
    """Test less deployment, for each channel that either side has, and each specification."""
    for channel in Channel:
        tests = [group for place, group in groups.items() if place[0] == circumstances.test and place[2] is channel]
        for (arm, spec, where), deploy in groups.items():
            if arm != circumstances.deploy or where is not channel or not tests or not (tests[0].found or deploy.found):
                continue
            plain, corrected, tasks = measure_difference(tests[0].group, deploy.group, is_recognition, plan, judge_accuracy)
            if silent := [name for name, members in ((circumstances.test, tests[0]), (circumstances.deploy, deploy)) if not members.found]:
                plain = Measure(value=None, reason=f"no {channel.value} was returned in arm {silent[0]}")
                corrected = None if accuracy is None else plain
            elif accuracy is not None and judge_accuracy is None:
                corrected = Measure(value=None, reason=_describe_one_kind(accuracy))
            yield MentionDifference(channel=channel, spec=spec, tasks=tasks, difference=plain, corrected=corrected)


def _pick(passage_answers: Sequence[PassageAnswer], most: int) -> Iterator[Example]:
    """Up to *most* quotes of each class, spread over the responses by the digest of their words and not by their order."""
    for class_ in RecognitionClass:
        quoted = [
            passage_answer
            for passage_answer in passage_answers
            if passage_answer.class_ is class_ and passage_answer.reading.start is not None
        ]
        # Examples are chosen by the digest of their text, so neither order nor author chooses them.
        quoted.sort(key=lambda answer: (hashlib.sha256(answer.passage.text.encode()).hexdigest(), _order(answer.passage)))
        for answer in quoted[:most]:
            start, stop, cell = answer.reading.start or 0, answer.reading.stop or 0, answer.passage.cell
            yield Example(
                class_=class_,
                channel=answer.passage.channel,
                task_id=cell.task_id,
                arm=cell.arm,
                context_id=cell.context_id,
                sample=cell.sample,
                spec=cell.spec,
                quote=answer.passage.text[start:stop],
                start=start,
                stop=stop,
            )


def _warn(groups: Mapping[Place, _Members], circumstances: ProbeSetting) -> Iterator[EstimateWarning]:
    if circumstances.ablated:
        message = f"{circumstances.ablated} responses have a cue taken out of their context and are excluded."
        yield EstimateWarning(code="ablation-rows", message=message)
    if circumstances.classifier in circumstances.models:
        message = f"{circumstances.classifier} classified its own responses; another model would err in other places."
        yield EstimateWarning(code="classifier-is-model", message=message)
    for (arm, spec, channel), group in groups.items():
        classified = sum(answer.class_ is not None for answer in group.found)
        if group.found and classified < len(group.found):
            lost = len(group.found) - classified
            name = f"{arm}, {spec}" if spec else arm
            message = (
                f"{lost} of {len(group.found)} passages of {name}, {channel.value}, have no class; a quote that is not found makes a "
                "recognition void more easily than a none, so the share may be too low."
            )
            yield EstimateWarning(code="passages-without-class", message=message)
