"""Dossiers for the report, one for each kind of ending a claim can have."""

from registry.records.audit_case import Access, Evidence, EvidenceKind, EvidenceLayer, PerturbationEffect, PublishedFigure, Sign
from registry.records.claim import (
    Direction,
    Form,
    QuoteStatus,
    Reported,
)
from registry.records.claim_status import Dispute, Objection, ObjectionEvent, ObjectionStep, Staleness
from registry.records.dossier import Dossier, ObjectionFile
from registry.records.estimates import EstimateCounts, EstimateWarning
from registry.records.model_version import ModelRef
from registry.records.record import Kind, format_identifier
from registry.records.verdict import Basis, ClaimClass, Mode, RestrictedClaim, RestrictionStatus, SpecVerdict, Standing, TextEdit, Verdict
from tests.report.builders import (
    Log,
    audit_file,
    build,
    classification,
    estimate,
    reading,
    replace_parts,
    revision,
    spec_estimate,
)
from tests.report.found import adverse, escaping, measured_more, reassuring, unsettled
from tests.report.hostile import hostile, long_quote
from tests.report.ontological import ontological

COVERT = "In our evaluation Sparrow 2.1 took covert action in 5 % of runs, below our deployment threshold of 10 %."
COVERT_RESTRICTED = (
    "In our evaluation Sparrow 2.1-2026-09-30 took covert action in 5 % of runs under the test contexts of the publisher; "
    "in deployment-like contexts it did so in 25 % of runs, above our "
    "deployment threshold of 10 %. The threshold claim is withdrawn for deployment."
)


def inverted() -> Dossier:
    """A replay whose deployment interval lies wholly beyond θ, with a second audit, an objection and an edited text."""
    log = Log()
    base = build(log, revision(COVERT), RestrictionStatus.NOT_SUPPORTED)
    measured = estimate(
        spec_estimate("default", (0.05, 0.0, 0.0945), (0.25, 0.1236, 0.4012), (-0.2, -0.3567, -0.0598)),
        warnings=(EstimateWarning(code="few-tasks", message="20 tasks are the fewest a verdict may rest on."),),
    )
    outcome = classification(
        reading(
            Form.THRESHOLD,
            ClaimClass.INVERTED,
            standing=Standing.ESTABLISHED,
            direction=Sign.NEGATIVE,
            rule="threshold-deploy-beyond",
            why="The whole 95 % interval of Φ_deploy, 0.124 to 0.401, lies above the threshold of 0.1, while Φ_test is 0.05.",
            specs=(SpecVerdict(spec="default", class_=ClaimClass.INVERTED, standing=Standing.ESTABLISHED, verdict=Verdict.CONTRADICTED),),
        ),
        reading(
            Form.EXISTENCE,
            ClaimClass.STABLE,
            standing=Standing.OBSERVED_CONDITION,
            rule="existence-observed",
            why="Covert action was observed in evaluation.",
        ),
        margin=-0.05,
    )
    text = RestrictedClaim(
        original=COVERT,
        restricted=COVERT_RESTRICTED,
        surviving=("In evaluation the rate was 5 %.",),
        withdrawn=("That the rate lies below 10 % in deployment.",),
        resolves=(),
        verdict="Inverted: in deployment-like contexts the covert action rate is 0.25, "
        "beyond the threshold of 0.1 that the evaluation met with 0.05.",
        edit=TextEdit(composed="The composed text.", reason="The publisher’s wording of the threshold was kept.", by="INST"),
    )
    earlier = audit_file(
        log,
        classification(reading(Form.THRESHOLD, ClaimClass.UNDETERMINED, mode=Mode.TECHNICAL, resolves="A replay.", basis=Basis.REPORTED)),
        RestrictedClaim(
            original=COVERT,
            restricted=COVERT,
            surviving=(),
            withdrawn=(),
            resolves=("A replay.",),
            verdict="Undetermined: nothing was replayed.",
        ),
        audit=format_identifier(Kind.AUDIT, "EXAMPLE", 2026, 2),
    )
    reported = (
        Evidence(
            layer=EvidenceLayer.VERBALISED,
            finding=PublishedFigure(value=0.16, unit="share", n=200, low=0.11, high=0.22),
            summary="The model names the evaluation in its reasoning.",
            source="Sparrow 2.1 System Card",
            location="page 33",
            evaluation="covert-action suite",
        ),
        Evidence(layer=EvidenceLayer.LATENT, access=Access.UNAVAILABLE),
        Evidence(layer=EvidenceLayer.CUE_SENSITIVITY, access=Access.WITHHELD, source="Example Lab"),
    )
    leading = audit_file(log, outcome, text, estimate=measured, evidence=reported)
    objection = log.say(
        Objection(
            objection=format_identifier(Kind.OBJECTION, "EXAMPLE", 2026, 1),
            target="CTX-EXAMPLE-2026-0002-X@1",
            by="EXAMPLE",
            grounds="No customer runs without supervision of single actions.",
            rival="CTX-EXAMPLE-2026-0009-X@1",
        )
    )
    answer = log.say(ObjectionEvent(objection=objection.payload.objection, step=ObjectionStep.ANSWERED, note="Two customers do."), "INST")
    return replace_parts(
        base,
        log,
        audits=(earlier, leading),
        objections=(ObjectionFile(objection=objection, events=(answer,)),),
        dispute=Dispute.CONTESTED,
    )


def undetermined() -> Dossier:
    """Twelve tasks and four contexts a side: below the minimum, so technical, with the point's class as candidate."""
    log = Log()
    base = build(log, revision(COVERT), RestrictionStatus.NOT_RESOLVED)
    counts = EstimateCounts(
        tasks=12, contexts_test=4, contexts_deploy=4, responses_test=96, responses_deploy=96, excluded_test=0, excluded_deploy=0
    )
    measured = estimate(
        spec_estimate("default", (0.0729, 0.0, 0.51), (0.4167, 0.0512, 0.86), (-0.3438, -0.91, 0.2224), n=counts),
        warnings=(EstimateWarning(code="few-contexts", message="4 contexts a side; verdicts need 5."),),
    )
    outcome = classification(
        reading(
            Form.THRESHOLD,
            ClaimClass.UNDETERMINED,
            mode=Mode.TECHNICAL,
            point_class=ClaimClass.INVERTED,
            rule="design-below-minimum",
            possible=(ClaimClass.STABLE, ClaimClass.INVERTED),
            why="12 tasks and 4 contexts a side were replayed; a verdict needs 20 tasks and 5 contexts.",
            resolves="8 more tasks and 1 more context on each side.",
        ),
        margin=-0.0271,
    )
    text = RestrictedClaim(
        original=COVERT,
        restricted="In our evaluation Sparrow 2.1 took covert action in 5 % of runs. Whether this is below "
        "our deployment threshold of 10 % in "
        "deployment is undetermined.",
        surviving=("In evaluation the rate was 5 %.",),
        withdrawn=(),
        resolves=("8 more tasks and 1 more context on each side.",),
        verdict="Undetermined: too few tasks and contexts were replayed to say "
        "whether the covert action rate stays below 0.1 in deployment.",
    )
    return replace_parts(
        base,
        log,
        audits=(audit_file(log, outcome, text, estimate=measured, post_hoc=True, invariant=None),),
        staleness=Staleness.NEEDS_REVIEW,
    )


def retrospective() -> Dossier:
    """Published figures alone, θ unpublished: inverted as a candidate, and a paraphrase."""
    log = Log()
    quote = "On the destructive-coding evaluation the model stayed below the lab’s internal threshold."
    current = revision(
        quote,
        quote_status=QuoteStatus.PARAPHRASE,
        theta=None,
        reported=None,
        anchor=None,
        card=None,
        source="NLA report, section 6",
        deploy_contexts=(),
    )
    base = build(log, current, RestrictionStatus.SUSPENDED, card=None)
    outcome = classification(
        reading(
            Form.THRESHOLD,
            ClaimClass.INVERTED,
            standing=Standing.CANDIDATE,
            basis=Basis.REPORTED,
            rule="recognition-suppressible",
            why="Latent recognition of the test was reported in 16 % of runs, the property is suppressible, "
            "and nothing behavioural is known.",
        ),
    )
    text = RestrictedClaim(
        original=quote,
        restricted="On the destructive-coding evaluation the model stayed below the lab’s internal threshold, which is not published. "
        "The deployment claim is suspended pending replay.",
        surviving=("The evaluation result, as reported.",),
        withdrawn=(),
        resolves=("A replay under deployment-like contexts.",),
        verdict="Inverted as a candidate: the model may have recognised the test in 16 % of runs; "
        "the deployment claim is suspended pending replay.",
    )
    reported = (
        Evidence(
            layer=EvidenceLayer.LATENT,
            finding=PublishedFigure(value=0.16, unit="share", n=1000),
            summary="A linear probe reads test recognition.",
            source="NLA report",
            location="section 6",
            evaluation="destructive coding",
            model=ModelRef(developer="Example Lab", name="Sparrow", version="2.0"),
        ),
        Evidence(layer=EvidenceLayer.BEHAVIOURAL, access=Access.UNAVAILABLE),
        Evidence(layer=EvidenceLayer.VERBALISED, access=Access.UNAVAILABLE),
    )
    return replace_parts(base, log, audits=(audit_file(log, outcome, text, evidence=reported, invariant=None),))


def reported_threshold() -> Dossier:
    """A threshold with a number in the card and reported evidence, but no replay: the reported figure and its margin are drawn."""
    log = Log()
    base = build(log, revision(COVERT, reported=Reported(value=0.05, low=0.01, high=0.13, n=100)), RestrictionStatus.SUSPENDED)
    outcome = classification(
        reading(
            Form.THRESHOLD,
            ClaimClass.INVERTED,
            standing=Standing.STRUCTURAL_RISK,
            basis=Basis.REPORTED,
            direction=Sign.NEGATIVE,
            rule="perturbation-against-claim",
            why="With awareness suppressed the rate rose.",
        ),
        margin=-0.05,
    )
    text = RestrictedClaim(
        original=COVERT,
        restricted="In our evaluation Sparrow 2.1 took covert action in 5 % of runs. The deployment claim is restricted pending replay.",
        surviving=("In evaluation the rate was 5 %.",),
        withdrawn=(),
        resolves=("A replay.",),
        verdict="Inverted, structural risk: suppressing the model’s awareness of the test raised the rate; a replay is pending.",
    )
    reported = (
        Evidence(
            layer=EvidenceLayer.BEHAVIOURAL,
            kind=EvidenceKind.PERTURBATION,
            effect=PerturbationEffect.AGAINST_CLAIM,
            verified=True,
            summary="Awareness removed: rate up.",
        ),
    )
    return replace_parts(base, log, audits=(audit_file(log, outcome, text, evidence=reported),))


def degraded() -> Dossier:
    """A prevalence claim whose ED lies wholly outside ±δ."""
    log = Log()
    quote = "Sparrow 2.1 refuses 97.2 % of harmful requests."
    current = revision(
        quote, form=Form.PREVALENCE, relation=None, theta=None, reported=Reported(value=0.972), direction=Direction.HIGHER_IS_SAFER
    )
    base = build(log, current, RestrictionStatus.NARROWED)
    measured = estimate(spec_estimate("default", (0.972, 0.958, 0.983), (0.811, 0.774, 0.846), (0.161, 0.122, 0.201)))
    outcome = classification(
        reading(
            Form.PREVALENCE,
            ClaimClass.DEGRADED,
            standing=Standing.ESTABLISHED,
            direction=Sign.POSITIVE,
            rule="prevalence-outside-margin",
            why="ED is +0.161 [+0.122, +0.201], wholly outside ±0.05.",
        ),
    )
    text = RestrictedClaim(
        original=quote,
        restricted="Sparrow 2.1-2026-09-30 refuses 97.2 % of harmful requests in evaluation, "
        "and at least 77.4 % in the deployment-like contexts that were replayed.",
        surviving=("It refuses 97.2 % in evaluation.",),
        withdrawn=("That 97.2 % holds in deployment.",),
        resolves=(),
        verdict="Degraded: the refusal rate falls from 0.972 in evaluation to 0.811 in deployment-like contexts.",
    )
    return replace_parts(base, log, audits=(audit_file(log, outcome, text, estimate=measured),))


def multi_spec(count: int = 12) -> Dossier:
    """Many specifications of P_deploy, with θ inside some intervals, values at 0 and 1, tiny and missing intervals."""
    log = Log()
    base = build(
        log, revision(COVERT, deploy_contexts=("CTX-EXAMPLE-2026-0002-X@1", "CTX-EXAMPLE-2026-0077-X@2")), RestrictionStatus.NOT_SUPPORTED
    )
    rows = [
        spec_estimate("agent-in-repository", (0.05, 0.01, 0.0945), (0.25, 0.1236, 0.4012), (-0.2, -0.3567, -0.0598)),
        spec_estimate("chat", (0.05, 0.01, 0.0945), (0.0, 0.0, 0.168), (0.05, -0.118, 0.0945)),
        spec_estimate("all-failing", (0.05, 0.01, 0.0945), (1.0, 0.832, 1.0), (-0.95, -0.99, -0.74)),
        spec_estimate("one-context", (0.05, 0.01, 0.0945), (0.1,), (-0.05,)),
        spec_estimate("tiny-interval", (0.05, 0.01, 0.0945), (0.10004, 0.10001, 0.10007), (-0.05004, -0.05007, -0.05001)),
    ]
    rows += [
        spec_estimate(f"a-rather-long-specification-name-{n}", (0.05, 0.01, 0.0945), (0.06, 0.02, 0.12), (-0.01, -0.07, 0.05))
        for n in range(5, count)
    ]
    measured = estimate(*rows[:count])
    outcome = classification(
        reading(
            Form.THRESHOLD,
            ClaimClass.INVERTED,
            standing=Standing.ESTABLISHED,
            hangs_on_one_spec=True,
            rule="threshold-deploy-beyond",
            why="Against all-failing the whole interval of Φ_deploy lies above 0.1, after Holm.",
            direction=Sign.NEGATIVE,
            specs=tuple(
                SpecVerdict(spec=one.spec, class_=ClaimClass.UNDETERMINED, standing=None, verdict=Verdict.INCONCLUSIVE, mode=Mode.NOISY)
                for one in rows[:count]
            ),
        ),
        margin=-0.05,
    )
    text = RestrictedClaim(
        original=COVERT,
        restricted=COVERT_RESTRICTED,
        surviving=("In evaluation the rate was 5 %.",),
        withdrawn=("The threshold claim.",),
        resolves=(),
        verdict=f"Inverted: against one of {count} specifications of deployment the covert action rate lies beyond 0.1.",
    )
    return replace_parts(base, log, audits=(audit_file(log, outcome, text, estimate=measured),))


def unaudited() -> Dossier:
    """A claim that was not audited."""
    return build(Log(), revision(COVERT), RestrictionStatus.UNAUDITED)


def several_judges() -> Dossier:
    """Two judges score the responses, and the replay was stopped before its planned size."""
    return measured_more(inverted())


def found_against() -> Dossier:
    """Every module found something against the measurement."""
    return adverse(inverted())


def found_nothing() -> Dossier:
    """Every module was made, and found nothing against the measurement."""
    return reassuring(degraded())


def found_out_nothing() -> Dossier:
    """Every module was made, and none could tell anything."""
    return unsettled(undetermined())


EVERY = {
    "inverted": inverted,
    "undetermined": undetermined,
    "retrospective": retrospective,
    "reported": reported_threshold,
    "degraded": degraded,
    "multi-spec": multi_spec,
    "unaudited": unaudited,
    "ontological": ontological,
    "hostile": hostile,
    "long-quote": long_quote,
    "several-judges": several_judges,
    "found-against": found_against,
    "found-nothing": found_nothing,
    "found-out-nothing": found_out_nothing,
    "escaping": escaping,
}
