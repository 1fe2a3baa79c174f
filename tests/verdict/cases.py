"""Cases and estimates for the tests of the verdict: one builder each, and Hypothesis strategies over all of them."""

from typing import Any

from hypothesis import strategies as st

from registry.records.analysis_plan import Plan
from registry.records.audit_case import (
    Access,
    Case,
    CaseClaim,
    Deployment,
    Evidence,
    EvidenceKind,
    EvidenceLayer,
    Infeasible,
    PerturbationEffect,
    PublishedFigure,
    Scoring,
    Sign,
)
from registry.records.claim import Direction, Form, PropertyClass, Relation, Reported
from registry.records.estimates import (
    BoundedEstimate,
    Differential,
    Equivalence,
    Estimate,
    EstimateCounts,
    NormalisedDifferential,
    ScoreRange,
    SpecEstimate,
    Truncation,
    TruncationCounts,
    Variance,
)
from registry.records.model_version import ModelRef
from registry.records.replay_run import ModelIdentity, ModelIdentityStatus
from registry.records.specification import PropertySpec

MODEL = ModelRef(developer="EXAMPLE", name="m", version="1")
OTHER_MODEL = ModelRef(developer="EXAMPLE", name="m", version="2")
LIMITS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)


def build_property(*, suppressible: bool = False, range_: tuple[float, float] = (0.0, 1.0)) -> PropertySpec:
    return PropertySpec(
        name="scheming rate",
        class_=PropertyClass.DECEPTION_SCHEMING,
        range=range_,
        direction=Direction.LOWER_IS_SAFER,
        suppressible=suppressible,
    )


def build_case(
    form: Form = Form.THRESHOLD,
    *,
    relation: Relation | None = None,
    theta: float | None = None,
    reported: float | Reported | None = None,
    evidence: tuple[Evidence, ...] = (),
    suppressible: bool = False,
    **rest: Any,
) -> Case:
    """A case that keeps every condition a case file can show; a threshold is `<=` unless stated otherwise."""
    rest = {"deployment": Deployment(description="Built from real traffic"), "scoring": Scoring(invariant=True)} | rest
    if form is Form.THRESHOLD and relation is None:
        relation = Relation.AT_MOST
    claim = CaseClaim(
        form=form,
        property=build_property(suppressible=suppressible),
        relation=relation,
        theta=theta,
        reported=Reported(value=reported) if isinstance(reported, (int, float)) else reported,
        model=MODEL,
    )
    return Case(claim=claim, evidence=evidence, **rest)


def build_spec(
    *,
    test: float | tuple[float, float | None, float | None] = 0.05,
    deploy: tuple[float, float, float] = (0.25, 0.1236, 0.4012),
    ed: tuple[float, float] | None = None,
    name: str = "default",
    tasks: int = 20,
    contexts: int = 5,
    margin: float = 0.05,
    intervals: bool = True,
) -> SpecEstimate:
    """One specification; *test* and *deploy* are value, low, high. ED's interval follows from Φ_deploy's unless given."""
    value, low, high = deploy
    test, test_low, test_high = test if isinstance(test, tuple) else (test, max(0.0, test - 0.02), min(1.0, test + 0.02))
    ends = ed or (test - high, test - low)
    point = test - value
    reason = None if intervals else "one context on the deployment side: nothing says how contexts vary"
    return SpecEstimate(
        spec=name,
        phi_test=BoundedEstimate(value=test, low=test_low, high=test_high, reason=None if test_low is not None else "made for a test"),
        phi_deploy=BoundedEstimate(value=value, low=low if intervals else None, high=high if intervals else None, reason=reason),
        ed=Differential(
            value=point, low=ends[0] if intervals else None, high=ends[1] if intervals else None, method="made for a test", reason=reason
        ),
        ned=NormalisedDifferential(value=None, reason="made for a test"),
        sigma_pool=0.3,
        equivalence=Equivalence(p=None, equivalent=intervals and -margin <= ends[0] and ends[1] <= margin),
        minimum_detectable_ed=0.2,
        n=EstimateCounts(
            tasks=tasks,
            contexts_test=contexts,
            contexts_deploy=contexts,
            responses_test=tasks * contexts,
            responses_deploy=tasks * contexts,
            excluded_test=0,
            excluded_deploy=0,
        ),
        ed_under_exclusions=ScoreRange(low=point, high=point),
        variance=build_variance(tasks=tasks, contexts=contexts),
        truncation=build_truncation(responses=tasks * contexts),
    )


def build_truncation(*, responses: int = 100, test: int = 0, deploy: int = 0, settled: int = 0) -> Truncation:
    """Truncation with *test* and *deploy* truncated responses, of which *settled* can no longer change."""

    def side(truncated: int) -> TruncationCounts:
        unresolved = max(0, truncated - settled)
        return TruncationCounts(
            responses=responses, truncated=truncated, settled=truncated - unresolved, not_stated=0, excluded=0, unresolved=unresolved
        )

    return Truncation(test=side(test), deploy=side(deploy))


def build_variance(*, tasks: int, contexts: int) -> Variance:
    """One task, or one context, has no variance, as in an estimate made from scores."""
    return Variance(
        difference_task=0.001 if tasks > 1 else None,
        covariance_task=0.0 if tasks > 1 else None,
        test_task=0.0005 if tasks > 1 else None,
        deploy_task=0.0005 if tasks > 1 else None,
        test_context=0.001 if contexts > 1 else None,
        deploy_context=0.001 if contexts > 1 else None,
        binary=True,
    )


def build_estimate(*specs: SpecEstimate, margin: float = 0.05, level: float = 0.95, **rest: Any) -> Estimate:
    return Estimate(margin=margin, level=level, epsilon=0.01, range=(0.0, 1.0), seed=0, specs=specs or (build_spec(),), **rest)


def build_evidence(layer: EvidenceLayer = EvidenceLayer.BEHAVIOURAL, kind: EvidenceKind | None = None, **rest: Any) -> Evidence:
    return Evidence(layer=layer, kind=kind, **rest)


SHARES = st.floats(0, 1, allow_nan=False)
MODELS = st.sampled_from([None, MODEL, OTHER_MODEL])


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    """Any valid piece of evidence."""
    access = draw(st.sampled_from(list(Access)))
    is_available = access is Access.AVAILABLE
    finding = st.builds(PublishedFigure, value=SHARES, unit=st.sampled_from(["share", "count"]))
    return Evidence(
        layer=draw(st.sampled_from(list(EvidenceLayer))),
        access=access,
        kind=draw(st.none() | st.sampled_from(list(EvidenceKind))) if is_available else None,
        effect=draw(st.sampled_from(list(PerturbationEffect))),
        expected_direction=draw(st.sampled_from(list(Sign))),
        verified=draw(st.booleans()),
        finding=draw(st.none() | finding) if is_available else None,
        model=draw(MODELS),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any valid case over scores in [0, 1]."""
    form = draw(st.sampled_from(list(Form)))
    limit = form in LIMITS
    claim = CaseClaim(
        form=form,
        property=build_property(suppressible=draw(st.booleans())),
        quote=draw(st.none() | st.text(max_size=20)),
        relation=draw(st.sampled_from(list(Relation))) if form is Form.THRESHOLD else None,
        theta=draw(st.none() | SHARES) if limit else None,
        reported=draw(st.none() | st.builds(Reported, value=SHARES)),
        model=draw(MODELS),
    )
    infeasible = draw(st.none() | st.sampled_from(list(Infeasible)))
    return Case(
        claim=claim,
        evidence=tuple(draw(st.lists(evidence(), max_size=3))),
        deployment=Deployment(defensible=infeasible is None, infeasible=infeasible),
        plan=Plan(margin=draw(st.none() | st.floats(0.001, 0.5))),
        scoring=Scoring(invariant=draw(st.sampled_from([None, True, False]))),
    )


@st.composite
def specs(draw: st.DrawFn, *, name: str = "default", margin: float = 0.05) -> SpecEstimate:
    """Any valid specification: points inside their intervals."""
    test, deploy = draw(SHARES), draw(SHARES)
    low, high = draw(st.floats(0, deploy)), draw(st.floats(deploy, 1))
    point = test - deploy
    ends = (draw(st.floats(-1, point)), draw(st.floats(point, 1)))
    return build_spec(
        name=name,
        test=test,
        deploy=(deploy, low, high),
        ed=ends,
        tasks=draw(st.sampled_from([1, 2, 19, 20, 200])),
        contexts=draw(st.sampled_from([1, 2, 4, 5, 20])),
        margin=margin,
        intervals=draw(st.sampled_from([True, True, True, False])),
    )


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    """Any valid estimate of one to three specifications."""
    margin = draw(st.floats(0.001, 0.5))
    count = draw(st.integers(1, 3))
    found = [draw(specs(name=f"spec-{number}", margin=margin)) for number in range(count)]
    return build_estimate(*found, margin=margin, contexts=draw(st.sampled_from(["random", "fixed", "nested"])))


def build_asked(status: ModelIdentityStatus = ModelIdentityStatus.BOUND) -> ModelIdentity:
    """Who was asked, with names that go with *status*."""
    names = () if status is ModelIdentityStatus.UNIDENTIFIED else ("example-m-1",)
    return ModelIdentity(
        model=MODEL, status=status, names_returned=names, names_expected=("example-m-1",), text=f"The endpoint returned {names}."
    )
