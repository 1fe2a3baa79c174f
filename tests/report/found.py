"""Dossiers with findings: adverse ones, quiet ones, some that could not tell anything, and some whose texts try to get out."""

from dataclasses import replace

from registry.records.analysis_plan import ContextDesign, IntervalMethod
from registry.records.dossier import Dossier
from registry.records.estimates import Bands, Bootstrap, EstimateWarning, HypothesisTest, Measure, Regression, ScoreRange
from registry.records.module_findings import CueNote, Finding, FindingBody, Repeats
from tests import findings
from tests.report.builders import Log
from tests.report.hostile import HOSTILE, hostile

NOTHING = "nothing can be said of it"


def with_findings(dossier: Dossier, *bodies: FindingBody, audit: int = -1) -> Dossier:
    """*dossier* with findings at the end of its log, in its audit number *audit*."""
    log = Log()
    log.size = dossier.log_size
    files = list(dossier.audits)
    opening = files[audit].audit.payload
    said = [log.say(Finding(audit=opening.audit, claim=opening.claim, body=body, source="cues.csv, raters.csv"), "INST") for body in bodies]
    files[audit] = replace(files[audit], findings=tuple(said))
    return replace(dossier, audits=tuple(files), log_size=log.size)


def adverse(base: Dossier) -> Dossier:
    """Everything that can speak against a measurement was found."""
    return with_findings(base, findings.naturalness(), findings.ablation(), findings.judge(invariant=False))


def reassuring(base: Dossier) -> Dossier:
    """Raters guess, no cue matters, the judge passed: and each sentence says what that does not show."""
    calm = findings.naturalness(
        distinguishable=False,
        accuracy=Measure(value=0.52, low=0.43, high=0.61),
        balanced=True,
        raters=(findings.rater("ana", 31, low=0.39, high=0.65),),
        agreement=(),
        cues=(),
        warnings=(),
    )
    none = findings.ablation(
        changes=(findings.change("task format", -0.02, p_holm=0.41, holm=ScoreRange(low=-0.04, high=0.01)),),
        family=1,
        warnings=(EstimateWarning(code="x", message="one cue alone"),),
    )
    passed = findings.judge(
        invariant=True,
        corrected=(
            *findings.judge().corrected,
            replace(findings.judge().corrected[0], method="rogan-gladen", lambda_test=None, lambda_deploy=None),
        ),
    )
    return with_findings(base, calm, none, passed)


def unsettled(base: Dossier) -> Dossier:
    """Nothing has a value or an interval, and each says why."""
    none = Measure(value=None, reason=NOTHING)
    rater = replace(
        findings.rater("ana", 0),
        accuracy=none,
        balanced_accuracy=none,
        against_chance=HypothesisTest(statistic=None, p=None, method="exact binomial", n=0, reason=NOTHING),
    )
    raters = findings.naturalness(distinguishable=None, accuracy=none, raters=(rater,), agreement=(), cues=())
    cue = replace(
        findings.change("task format", 0.0),
        change=none,
        holm=None,
        simultaneous=None,
        p=None,
        p_holm=None,
        beyond_placebo=None,
        relevant=None,
    )
    cues = findings.ablation(ed=none, changes=(replace(cue, class_after=None, material=False, reason=NOTHING),), class_before=None)
    repeats = Repeats(responses=0, scorings=0, deviation=None, identical=None, share=None, reason=NOTHING)
    check = findings.invariance(passed=None, difference=none, note=f"Undecided: {NOTHING}.")
    judge = findings.judge(
        judge=None, phi_test=none, phi_deploy=none, ed=none, repeats=repeats, labels=(), corrected=(), invariance=(check,)
    )
    return with_findings(base, raters, cues, judge, replace(judge, repeats=None))


def escaping() -> Dossier:
    """Markup, controls and direction overrides in every text of every finding."""
    raters = findings.naturalness(
        raters=(findings.rater(HOSTILE, 43),),
        cues=(CueNote(cue=HOSTILE, count=3),),
        warnings=(EstimateWarning(code="x", message=HOSTILE),),
        agreement=(),
    )
    cues = findings.ablation(
        spec=HOSTILE,
        changes=(findings.change(HOSTILE, 0.14, arm=HOSTILE, reason=HOSTILE),),
        warnings=(EstimateWarning(code="x", message=HOSTILE),),
        family=1,
    )
    check = findings.invariance(passed=False, note=HOSTILE, column=HOSTILE)
    judge = findings.judge(judge=HOSTILE, invariance=(check,), invariant=False, warnings=(EstimateWarning(code="x", message=HOSTILE),))
    return with_findings(hostile(), raters, cues, judge)


def measured_more(base: Dossier) -> Dossier:
    """Two judges, bootstrap bands, a regression estimate, anytime intervals, and a replay that was stopped early."""
    (file,) = base.audits[-1:]
    assert file.lock is not None
    (result,) = file.results
    estimate = result.payload.estimate
    bands = Bands(
        task=ScoreRange(low=-0.31, high=-0.09), context=ScoreRange(low=-0.33, high=-0.07), two_way=ScoreRange(low=-0.36, high=-0.04)
    )
    shares = Bands(task=ScoreRange(low=0.02, high=0.08), context=None, two_way=None)
    bootstrap = Bootstrap(
        replicates=10_000,
        seed=7,
        scale=1.081,
        standard_error=0.071,
        expected_standard_error=0.0712,
        ed=bands,
        phi_test=shares,
        phi_deploy=shares,
        ned=None,
    )
    regression = Regression(value=-0.18, low=-0.29, high=-0.07, slope=0.41, tasks_all=40, tasks_replayed=20)
    untold = Regression(value=None, low=None, high=None, slope=None, tasks_all=40, tasks_replayed=12, reason="a regression needs 20 tasks")
    first = replace(estimate.specs[0], judge="model-a", bootstrap=bootstrap, regression=regression)
    second = replace(estimate.specs[0], judge="model-b", bootstrap=bootstrap, regression=untold)
    warning = EstimateWarning(code="stopped-early", message="Deviation: only 20 of 60 planned tasks are scored on both sides.")
    more = replace(estimate, specs=(first, second), warnings=(warning,), interval="anytime", contexts="nested", replicates=10_000)
    plan = replace(
        file.lock.payload.plan, tasks=60, interval=IntervalMethod.ANYTIME, contexts=ContextDesign.NESTED, random_subset=True, seed=7
    )
    changed = replace(
        file,
        lock=replace(file.lock, payload=replace(file.lock.payload, plan=plan)),
        results=(replace(result, payload=replace(result.payload, estimate=more)),),
    )
    return replace(base, audits=(*base.audits[:-1], changed))
