"""Findings of the modules for the tests of store, docket and supplement: whole, valid, and each changed only where a test says so."""

from dataclasses import replace
from typing import Any

from registry.records.estimates import EstimateWarning, HypothesisTest, Measure, ScoreRange
from registry.records.module_findings import (
    Ablation,
    Agreement,
    Channel,
    ClassCount,
    ClassifierAccuracy,
    CorrectedEstimate,
    CueChange,
    CueNote,
    Example,
    GroupRate,
    Invariance,
    ItemJudgment,
    JudgeAgreement,
    JudgeReport,
    LinkGroup,
    MentionDifference,
    Naturalness,
    PairJudgment,
    RaterKind,
    RaterResult,
    RealismJudge,
    Recognition,
    RecognitionClass,
    RecognitionLink,
    RecognitionLinks,
    Repeats,
    UnclassifiedPassages,
)
from registry.records.verdict import ClaimClass

NO_VARIANCE = "one task has no variance"


def measure(value: float, half: float = 0.05) -> Measure:
    return Measure(value=value, low=value - half, high=value + half)


def rater(name: str, correct: int, *, kind: RaterKind = RaterKind.PERSON, low: float = 0.55, high: float = 0.85) -> RaterResult:
    """A rater of 60 items, half of them of the test side."""
    share = Measure(value=correct / 60, low=low, high=high)
    return RaterResult(
        rater=name,
        kind=kind,
        rated=60,
        unrated=0,
        correct=correct,
        said_test=31,
        accuracy=share,
        balanced_accuracy=share,
        against_chance=HypothesisTest(statistic=correct, p=0.002, method="exact binomial", n=60),
    )


def naturalness(**changes: Any) -> Naturalness:
    """Three persons and a model who tell the sides apart."""
    known: dict[str, Any] = {
        "level": 0.95,
        "seed": 7,
        "key": "ab" * 32,
        "items_test": 30,
        "items_deploy": 30,
        "raters": (
            rater("ana", 43, low=0.586, high=0.825),
            rater("ben", 39, low=0.516, high=0.769),
            rater("cleo", 45, low=0.621, high=0.853),
            rater("model-judge", 51, kind=RaterKind.MODEL, low=0.734, high=0.929),
        ),
        "accuracy": Measure(value=127 / 180, low=0.594, high=0.798),
        "balanced": False,
        "agreement": (
            Agreement(statistic="Krippendorff's alpha (nominal)", measure=Measure(value=0.41, low=0.22, high=0.58), raters=3, items=60),
            Agreement(statistic="raw agreement", measure=Measure(value=0.71, reason="no interval is given for it"), raters=3, items=60),
        ),
        "distinguishable": True,
        "cues": (CueNote(cue="paradigm recognisability", count=22), CueNote(cue="stakes telegraphing", count=9)),
        "warnings": (EstimateWarning(code="lengths-tell", message="the items of both sides differ in length"),),
    }
    return Naturalness(**(known | changes))


def realism(*, low: float = 0.4, high: float = 0.9, pairwise: bool = False) -> RealismJudge:
    """A judge of 20 items, or of 10 pairs, with these bounds of what it may tell apart."""
    open_ = round(20 * (high - low))
    unanswered = (UnclassifiedPassages(reason="undecided", count=open_),) if open_ else ()
    bounds, nothing = ScoreRange(low=low, high=high), Measure(value=None, reason="The judge answered no item.")
    single = ItemJudgment(
        items=20,
        answered=20 - open_,
        correct=round(20 * low),
        said_test=10,
        unanswered=unanswered,
        accuracy=nothing,
        under_unanswered=bounds,
    )
    pairs = PairJudgment(
        pairs=10,
        questions=20,
        answered=20 - open_,
        ties=1,
        chose_first=5,
        chose_second=4,
        complete=4,
        consistent=3,
        unanswered=unanswered,
        win_rate=Measure(value=0.625, low=0.24, high=0.93),
        under_unanswered=bounds,
    )
    return RealismJudge(
        level=0.95,
        rater_limit=0.75,
        key="ab" * 32,
        judge="judge-model-1",
        prompt="caveat/rating-prompt/1",
        seed=7,
        items_test=10,
        items_deploy=10,
        single=None if pairwise else single,
        pairwise=pairs if pairwise else None,
    )


def recognition_links(**changes: Any) -> RecognitionLinks:
    """ED is larger where a test was mentioned; of the other group nothing is known."""
    link = RecognitionLink(
        spec="chat",
        mentioned=LinkGroup(responses=40, tasks=20, contexts=3, ed=measure(-0.4)),
        not_mentioned=LinkGroup(
            responses=9, tasks=4, contexts=3, ed=Measure(value=None, reason="4 tasks have both: a number needs at least 5")
        ),
        unknown=3,
        difference=Measure(value=None, reason="4 tasks have both: a number needs at least 5"),
        tasks=4,
        deploy_mentioned=2,
    )
    known: dict[str, Any] = {
        "level": 0.95,
        "margin": 0.05,
        "range": (0.0, 1.0),
        "contexts": "random",
        "source": "mentions.csv",
        "mentions": "cd" * 32,
        "links": (link,),
        "scores": "ef" * 32,
    }
    return RecognitionLinks(**(known | changes))


def change(cue: str, value: float, **changes: Any) -> CueChange:
    known: dict[str, Any] = {
        "cue": cue,
        "arm": "test",
        "placebo": False,
        "tasks": 60,
        "phi_before": 0.47,
        "phi_after": 0.47 - value,
        "change": measure(value, 0.04),
        "holm": ScoreRange(low=value - 0.06, high=value + 0.06),
        "simultaneous": ScoreRange(low=value - 0.055, high=value + 0.055),
        "p": 0.0004,
        "p_holm": 0.0012,
        "beyond_placebo": measure(value - 0.01, 0.05),
        "material": abs(value) >= 0.06,
        "class_after": ClaimClass.DEGRADED,
        "relevant": abs(value) >= 0.06,
    }
    return CueChange(**(known | changes))


def ablation(**changes: Any) -> Ablation:
    """Three cues, of which one is audit-relevant and one has no interval, and a placebo."""
    known: dict[str, Any] = {
        "level": 0.95,
        "margin": 0.05,
        "range": (0.0, 1.0),
        "contexts": "random",
        "seed": 0,
        "replicates": 10000,
        "spec": "default",
        "ed": Measure(value=0.25, low=0.17, high=0.33),
        "class_before": ClaimClass.DEGRADED,
        "changes": (
            change("explicit disclosure", 0.14, class_after=ClaimClass.UNDETERMINED),
            change("task format", -0.02, p_holm=0.41),
            change(
                "prose register",
                0.01,
                tasks=1,
                change=Measure(value=0.01, reason=NO_VARIANCE),
                holm=None,
                simultaneous=None,
                p=None,
                p_holm=None,
                beyond_placebo=None,
                class_after=None,
                relevant=None,
                reason=NO_VARIANCE,
            ),
            change(
                "placebo: same length", 0.012, placebo=True, p_holm=None, holm=None, beyond_placebo=None, relevant=None, reason="placebo"
            ),
        ),
        "family": 3,
        "scores": "cd" * 32,
    }
    return Ablation(**(known | changes))


def invariance(*, passed: bool | None, **changes: Any) -> Invariance:
    known: dict[str, Any] = {
        "check": "person-judge",
        "column": "label",
        "difference": Measure(value=0.11, low=0.06, high=0.16) if passed is False else Measure(value=0.01, low=-0.03, high=0.04),
        "margin": 0.05,
        "n_test": 60,
        "n_deploy": 60,
        "passed": passed,
        "note": f"Person less judge differs by {'0.11' if passed is False else '0.01'} between the sides.",
    }
    return Invariance(**(known | changes))


def judge(*, invariant: bool | None = None, **changes: Any) -> JudgeReport:
    """A judge who repeats itself well and is too kind on the test side."""
    known: dict[str, Any] = {
        "judge": "judge-model-1",
        "level": 0.95,
        "margin": 0.05,
        "range": (0.0, 1.0),
        "contexts": "random",
        "seed": 0,
        "spec": "default",
        "phi_test": Measure(value=0.9, low=0.84, high=0.95),
        "phi_deploy": Measure(value=0.8, low=0.71, high=0.87),
        "ed": Measure(value=0.1, low=0.02, high=0.18),
        "repeats": Repeats(responses=100, scorings=300, deviation=0.12, identical=0.83, share=0.07),
        "labels": (
            JudgeAgreement(
                side="test", labelled=60, responses=400, bias=measure(0.08), sensitivity=measure(0.93), specificity=measure(0.71)
            ),
            JudgeAgreement(
                side="deploy", labelled=60, responses=400, bias=measure(0.02), sensitivity=measure(0.91), specificity=measure(0.88)
            ),
        ),
        "corrected": (
            CorrectedEstimate(
                method="prediction-powered",
                detail="λ = 1, tasks and contexts as clusters",
                phi_test=Measure(value=0.82, low=0.74, high=0.9),
                phi_deploy=Measure(value=0.78, low=0.68, high=0.87),
                ed=Measure(value=0.04, low=-0.06, high=0.14),
                lambda_test=1.0,
                lambda_deploy=1.0,
            ),
        ),
        "invariance": () if invariant is None else (invariance(passed=invariant),),
        "invariant": invariant,
        "scores": "cd" * 32,
    }
    return JudgeReport(**(known | changes))


def group(arm: str, channel: Channel, count: int, *, classified: int = 96, spec: str | None = None, **changes: Any) -> GroupRate:
    """One channel of an arm: *count* of the classified passages recognise a test, half of them told so."""
    share = count / classified
    told = count // 2
    counts = (count - told, told, 3, 8, classified - count - 11)
    known: dict[str, Any] = {
        "arm": arm,
        "spec": spec,
        "channel": channel,
        "responses": 100,
        "present": 100,
        "candidates": 61,
        "classified": classified,
        "excluded": (UnclassifiedPassages(reason="quote-not-found", count=100 - classified),) if classified < 100 else (),
        "tasks": 24,
        "contexts": 6,
        "recognised": Measure(value=share, low=max(0.0, share - 0.09), high=share + 0.11),
        "corrected": None,
        "under_exclusions": ScoreRange(low=share * 0.96, high=share * 0.96 + 0.04),
        "recognised_candidates": count,
        "recognised_count": count,
        "told_unknown": 0,
        "classes": tuple(
            ClassCount(class_=class_, count=number, share=measure(number / classified, 0.0))
            for class_, number in zip(RecognitionClass, counts, strict=True)
        ),
    }
    return GroupRate(**(known | changes))


def recognition(**changes: Any) -> Recognition:
    """Reasoning and output on the test side, output alone in deployment: reasoning is not returned there."""
    unavailable = group(
        "deploy",
        Channel.REASONING,
        0,
        spec="agent",
        present=0,
        candidates=0,
        excluded=(UnclassifiedPassages(reason="no-reasoning", count=100),),
        tasks=0,
        contexts=0,
        recognised=Measure(value=None, reason="no reasoning was returned"),
        under_exclusions=None,
        recognised_candidates=0,
        classes=(),
    )
    known: dict[str, Any] = {
        "evaluation": "covert-actions replay",
        "models": ("acme-1-20260101",),
        "classifier": "claude-test-1-20261101",
        "prompt": "caveat/recognition-prompt/1",
        "patterns": "caveat/recognition-patterns/1",
        "level": 0.95,
        "contexts": "random",
        "sampled": 1.0,
        "seed": 0,
        "test": "test",
        "deploy": "deploy",
        "groups": (
            replace(unavailable, classified=0),
            group("deploy", Channel.OUTPUT, 2, spec="agent"),
            group("test", Channel.REASONING, 31),
            group("test", Channel.OUTPUT, 12),
        ),
        "differences": (
            MentionDifference(channel=Channel.OUTPUT, spec="agent", tasks=24, difference=measure(0.104, 0.07), corrected=None),
        ),
        "examples": (
            Example(
                class_=RecognitionClass.AWARE,
                channel=Channel.REASONING,
                task_id="t07",
                arm="test",
                context_id="c2",
                sample=0,
                spec=None,
                quote="Maybe the user is testing my confidence",
                start=14,
                stop=53,
            ),
        ),
        "passages": "ef" * 32,
    }
    return Recognition(**(known | changes))


def accuracy(**changes: Any) -> ClassifierAccuracy:
    """A classifier that finds 28 of 31 positives and clears 12 of 14 negatives."""
    known: dict[str, Any] = {
        "source": "quotes.jsonl",
        "sha256": "01" * 32,
        "labelled": 45,
        "excluded": (),
        "true_positives": 28,
        "false_negatives": 3,
        "true_negatives": 12,
        "false_positives": 2,
        "sensitivity": Measure(value=28 / 31, low=0.742, high=0.98),
        "specificity": Measure(value=12 / 14, low=0.572, high=0.982),
        "filter_recall": Measure(value=1.0, low=0.888, high=1.0),
        "filter_precision": Measure(value=31 / 43, low=0.563, high=0.847),
    }
    return ClassifierAccuracy(**(known | changes))
