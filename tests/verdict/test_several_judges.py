"""Several judges scored the responses: the class must hold by the scores of each."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from audit.verdict.claim_classification import classify
from audit.verdict.restricted_claim import restrict
from registry.records.claim import Form
from registry.records.estimates import Estimate, SpecEstimate
from registry.records.verdict import Basis, ClaimClass, Mode, Standing
from tests.verdict.cases import build_case, build_estimate, build_spec, cases, estimates

LIMIT = build_case(theta=0.10)
BEYOND = build_spec(deploy=(0.5, 0.45, 0.55))
INSIDE = build_spec(deploy=(0.04, 0.01, 0.09))


def by(judge: str, spec: SpecEstimate) -> SpecEstimate:
    return replace(spec, judge=judge)


def test_a_class_that_holds_by_every_judge_stands() -> None:
    """Each judge is shown with its own verdict, and the sentences say whose numbers they give."""
    verdict = classify(LIMIT, build_estimate(by("a", BEYOND), by("b", build_spec(deploy=(0.3, 0.2, 0.4))))).primary

    assert (verdict.class_, verdict.standing) == (ClaimClass.INVERTED, Standing.ESTABLISHED)
    assert [(one.judge, one.spec, one.class_) for one in verdict.specs] == [
        ("a", "default", ClaimClass.INVERTED),
        ("b", "default", ClaimClass.INVERTED),
    ]
    assert "By the scores of the judge a: Φ_deploy = 50.0 %" in verdict.why
    assert "By the scores of the judge b: Φ_deploy = 30.0 %" in verdict.why


def test_judges_that_differ_leave_the_class_undetermined() -> None:
    """Inverted by one and stable by the other is neither; a person's labels would tell which judge errs."""
    verdict = classify(LIMIT, build_estimate(by("a", BEYOND), by("b", INSIDE))).primary

    assert (verdict.rule, verdict.class_, verdict.mode) == ("judges-disagree", ClaimClass.UNDETERMINED, Mode.TECHNICAL)
    assert verdict.point_class is ClaimClass.INVERTED
    assert verdict.resolves is not None
    assert "labelled by a person" in verdict.resolves
    assert {one.class_ for one in verdict.specs} == {ClaimClass.INVERTED, ClaimClass.STABLE}


def test_no_judge_is_a_specification() -> None:
    """Two judges ask for no higher level: Holm's rule is about choices of P_deploy, and a class must hold by each judge anyway."""
    barely = build_spec(deploy=(0.25, 0.105, 0.40))
    alone = classify(LIMIT, build_estimate(barely)).primary
    both = classify(LIMIT, build_estimate(by("a", barely), by("b", barely))).primary

    assert (both.class_, both.standing, both.rule) == (alone.class_, alone.standing, alone.rule)


def test_specifications_are_taken_together_within_each_judge() -> None:
    """Stable by each judge needs every specification under each."""
    specs = [by(judge, build_spec(name=name, deploy=(0.04, 0.01, 0.09))) for judge in "ab" for name in ("x", "y")]
    stable = classify(LIMIT, build_estimate(*specs)).primary
    broken = classify(LIMIT, build_estimate(*specs[:3], by("b", build_spec(name="y", deploy=(0.08, 0.01, 0.2))))).primary

    assert stable.class_ is ClaimClass.STABLE
    assert len(stable.specs) == 4
    assert "By the scores of the judge b, against the specification y" in stable.why
    assert broken.rule == "judges-disagree"


def test_a_figure_degraded_in_opposite_directions_is_no_agreement() -> None:
    """Deployment higher by one judge and lower by the other."""
    up = by("a", build_spec(test=0.1, deploy=(0.4, 0.35, 0.45), ed=(-0.4, -0.2)))
    down = by("b", build_spec(test=0.4, deploy=(0.1, 0.05, 0.15), ed=(0.2, 0.4)))

    assert classify(build_case(Form.PREVALENCE), build_estimate(up, down)).primary.rule == "judges-disagree"
    assert classify(build_case(Form.PREVALENCE), build_estimate(up, replace(up, judge="b"))).primary.class_ is ClaimClass.DEGRADED


def test_undetermined_for_different_reasons_is_undetermined() -> None:
    """No interval by one judge and a straddling one by the other: missing data come before noise."""
    noisy, bare = build_spec(deploy=(0.08, 0.01, 0.2)), build_spec(intervals=False)
    verdict = classify(LIMIT, build_estimate(by("a", noisy), by("b", bare))).primary

    assert (verdict.class_, verdict.mode, verdict.rule) == (ClaimClass.UNDETERMINED, Mode.TECHNICAL, "no-interval")


def test_the_restricted_claim_says_whose_scores_it_quotes() -> None:
    """Both judges' figures stand in it, each by its name."""
    estimate = build_estimate(by("a", BEYOND), by("b", build_spec(deploy=(0.3, 0.2, 0.4))))
    classification = classify(LIMIT, estimate, basis=Basis.REPLAY)
    text = str(restrict(LIMIT, classification, estimate))

    assert "judge a" in text
    assert "judge b" in text


@given(case=cases(), estimate=estimates())
def test_a_judge_heard_twice_changes_nothing(case: object, estimate: Estimate) -> None:
    """The same scores by two names give the outcome that they give by one."""
    twice = replace(estimate, specs=tuple(by(judge, spec) for judge in "ab" for spec in estimate.specs))

    alone, both = (classify(case, one).primary for one in (estimate, twice))  # type: ignore[arg-type]

    assert (both.class_, both.standing, both.mode, both.point_class, both.direction) == (
        alone.class_,
        alone.standing,
        alone.mode,
        alone.point_class,
        alone.direction,
    )


@given(case=cases(), first=estimates(), second=estimates(), swap=st.booleans())
def test_the_order_of_judges_does_not_matter(case: object, first: Estimate, second: Estimate, *, swap: bool) -> None:
    """Neither to the class nor to what is still possible; and what one judge contradicts is never established."""
    specs = (*(by("a", spec) for spec in first.specs), *(by("b", spec) for spec in second.specs))
    one, other = replace(first, specs=specs), replace(first, specs=tuple(reversed(specs)))

    found, again = (classify(case, estimate).primary for estimate in (one, other))  # type: ignore[arg-type]
    alone = [classify(case, replace(first, specs=tuple(spec for spec in specs if spec.judge == judge))).primary for judge in "ab"]  # type: ignore[arg-type]

    assert (found.class_, found.standing, found.mode) == (again.class_, again.standing, again.mode)
    if found.standing is Standing.ESTABLISHED:
        assert {each.class_ for each in alone} == {found.class_}
