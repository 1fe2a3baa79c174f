"""Several specifications of P_deploy: a claim holds against every one; one suffices to contradict it, after Holm."""

from collections.abc import Callable

import pytest

from audit.verdict.claim_classification import build_at_level, classify
from audit.verdict.restricted_claim import restrict
from registry.records.claim import Form
from registry.records.estimates import Estimate, SpecEstimate
from registry.records.verdict import Basis, ClaimClass, Condition, Mode, Standing, Verdict, VerdictStanding
from tests.verdict.cases import build_case, build_estimate, build_spec

LIMIT = build_case(theta=0.10)
INSIDE = build_spec(name="inside", deploy=(0.04, 0.01, 0.09))


def at_levels(lows: dict[str, dict[float, float]]) -> tuple[Estimate, Callable[[float], Estimate]]:
    """An estimate whose lower ends of Φ_deploy are given by specification and level, and that estimate as a function of its level."""

    def at(level: float) -> Estimate:
        specs = [build_spec(name=name, deploy=(0.25, ends[round(level, 6)], 0.4)) for name, ends in lows.items()]
        return build_estimate(*specs, level=level)

    return at(0.95), at


def test_one_adverse_specification_suffices_when_it_holds_after_holm() -> None:
    """Inverted against one of two specifications at 97.5 % is inverted."""
    estimate, at = at_levels({"a": {0.95: 0.15, 0.975: 0.12}, "b": {0.95: 0.05, 0.975: 0.03}})
    verdict = classify(LIMIT, estimate, at_level=at).primary

    assert (verdict.class_, verdict.standing) == (ClaimClass.INVERTED, Standing.ESTABLISHED)
    assert "97.5 % interval 12.0" in verdict.why
    assert [(one.spec, one.class_, one.mode) for one in verdict.specs] == [
        ("a", ClaimClass.INVERTED, None),
        ("b", ClaimClass.UNDETERMINED, Mode.NOISY),
    ]


def test_one_adverse_specification_that_fails_at_its_level_is_a_candidate() -> None:
    """Inverted at 95 % and no longer at 97.5 % is undetermined."""
    estimate, at = at_levels({"a": {0.95: 0.11, 0.975: 0.09}, "b": {0.95: 0.05, 0.975: 0.03}})
    verdict = classify(LIMIT, estimate, at_level=at).primary

    assert (verdict.class_, verdict.mode, verdict.point_class) == (ClaimClass.UNDETERMINED, Mode.NOISY, ClaimClass.INVERTED)
    assert verdict.rule == "not-after-holm"
    assert "97.5 % interval of Φ_deploy" in verdict.why


def test_the_second_step_asks_for_less() -> None:
    """Holm goes on at a lower level once a specification is rejected, and no further than that."""
    steps = {"a": {0.95: 0.2, 0.975: 0.19, 0.983333: 0.18}, "b": {0.95: 0.12, 0.975: 0.105, 0.983333: 0.09}}
    estimate, at = at_levels({**steps, "c": {0.95: 0.105, 0.975: 0.09, 0.983333: 0.08}})
    verdict = classify(LIMIT, estimate, at_level=at).primary

    assert [one.class_ for one in verdict.specs] == [ClaimClass.INVERTED] * 3


def test_the_first_step_decides_for_all() -> None:
    """If no specification holds at the strictest level, none is adverse, whatever it is at 95 %."""
    row = {0.95: 0.2, 0.975: 0.19, 0.983333: 0.09}
    estimate, at = at_levels({"a": row, "b": row, "c": row})

    assert classify(LIMIT, estimate, at_level=at).primary.rule == "not-after-holm"


def test_the_intervals_at_other_levels_come_from_the_variance() -> None:
    """Without intervals given, they are made from the estimate's own variance: wider at a higher level, the same point."""
    estimate = build_estimate(build_spec(name="a"), INSIDE)
    at = build_at_level(estimate)

    assert at is not None
    first, second = at(0.95).specs[0].phi_deploy, at(0.99).specs[0].phi_deploy
    assert first.value == second.value == 0.25
    assert first.low is not None
    assert second.low is not None
    assert second.low < first.low


def test_without_other_levels_several_specifications_establish_nothing_adverse() -> None:
    """An estimate that carries no variance cannot be held to Holm's levels."""
    from dataclasses import replace

    bare = [replace(spec, variance=None) for spec in (build_spec(name="a"), INSIDE)]
    verdict = classify(LIMIT, build_estimate(*bare)).primary

    assert verdict.rule == "not-after-holm"
    assert verdict.resolves is not None
    assert "has no variance" in verdict.resolves


@pytest.mark.parametrize(
    ("specs", "hangs"),
    [
        ((build_spec(name="a", deploy=(0.5, 0.45, 0.55)), INSIDE), True),
        ((build_spec(name="a", deploy=(0.5, 0.45, 0.55)), build_spec(name="b", deploy=(0.5, 0.45, 0.55))), False),
        ((INSIDE, build_spec(name="b", deploy=(0.04, 0.01, 0.09))), False),
        ((INSIDE,), False),
    ],
)
def test_a_class_that_one_specification_makes_hangs_on_it(specs: tuple[SpecEstimate, ...], *, hangs: bool) -> None:
    """The report says whether leaving one specification out would change the class."""
    estimate = build_estimate(*specs)
    verdict = classify(LIMIT, estimate, at_level=lambda level: build_estimate(*specs, level=level)).primary

    assert verdict.hangs_on_one_spec == hangs
    assert ("hangs on one specification" in verdict.why) == hangs


def test_every_stable_specification_makes_a_stable_claim() -> None:
    """Stable needs every one, and each is shown."""
    verdict = classify(LIMIT, build_estimate(INSIDE, build_spec(name="b", deploy=(0.04, 0.01, 0.0999)))).primary

    assert (verdict.class_, verdict.standing) == (ClaimClass.STABLE, Standing.ESTABLISHED)
    assert "Against the specification inside" in verdict.why
    assert "9.99 %" in verdict.why


def test_missing_data_come_before_noise() -> None:
    """One specification with too few tasks and one that straddles leave the claim undetermined for technical reasons."""
    verdict = classify(LIMIT, build_estimate(build_spec(name="a", tasks=10), build_spec(name="b", deploy=(0.05, 0.01, 0.11)))).primary

    assert (verdict.rule, verdict.mode) == ("specs-differ", Mode.TECHNICAL)


def test_the_stopping_rule_is_said_once() -> None:
    """Two specifications of an indefensible P_deploy make one sentence."""
    from registry.records.audit_case import Deployment, Infeasible

    case = build_case(theta=0.1, deployment=Deployment(defensible=False, infeasible=Infeasible.TECHNICAL))
    verdict = classify(case, build_estimate(build_spec(name="a"), INSIDE)).primary

    assert verdict.why.count("No defensible deployment distribution") == 1


def test_specifications_are_never_firmer_than_their_reading() -> None:
    """Without a lock no specification is established either."""
    reading = classify(LIMIT, build_estimate(INSIDE), basis=Basis.REPORTED).primary

    assert (reading.verdict, reading.verdict_standing) == (Verdict.HOLDS, VerdictStanding.PROVISIONAL)
    assert (reading.specs[0].class_, reading.specs[0].standing) == (ClaimClass.STABLE, Standing.PROVISIONAL)


def test_without_a_lock_an_inversion_is_a_candidate_and_a_change_provisional() -> None:
    """The verdict keeps its word and loses its standing; the missing lock is named."""
    inverted = classify(LIMIT, build_estimate(), basis=Basis.REPORTED).primary
    changed = classify(build_case(Form.PREVALENCE), build_estimate(), basis=Basis.REPORTED).primary

    assert (inverted.class_, inverted.standing, inverted.verdict) == (ClaimClass.INVERTED, Standing.CANDIDATE, Verdict.CONTRADICTED)
    assert (changed.class_, changed.standing, changed.missing_condition) == (ClaimClass.DEGRADED, Standing.PROVISIONAL, Condition.LOCK)
    assert "Provisional: no lock preceded the run." in changed.why


def test_a_mixed_result_names_each_specification_at_the_stricter_level() -> None:
    """“Fails for one; holds for the other” is said only where both hold at 1 − α/m together."""
    levels = {0.95: 0.15, 0.975: 0.12}

    def at(level: float) -> Estimate:
        high = {0.95: 0.09, 0.975: 0.095}[round(level, 6)]
        failing = build_spec(name="agent", deploy=(0.25, levels[round(level, 6)], 0.4))
        return build_estimate(failing, build_spec(name="chat", deploy=(0.04, 0.01, high)), level=level)

    estimate = at(0.95)
    classification = classify(LIMIT, estimate, at_level=at)
    reading, text = classification.primary, restrict(LIMIT, classification, estimate)

    assert reading.verdict is Verdict.CONTRADICTED
    assert [(one.spec, one.verdict, one.level) for one in reading.specs] == [
        ("agent", Verdict.CONTRADICTED, 0.975),
        ("chat", Verdict.HOLDS, 0.975),
    ]
    assert "The claim fails for “agent”; holds for “chat”." in text.verdict


def test_holm_widens_deployment_and_keeps_the_interval_of_the_evaluation() -> None:
    """Φ_test is one statement, whatever the number of specifications."""
    estimate = build_estimate(build_spec(name="a"), INSIDE)
    at = build_at_level(estimate)

    assert at is not None
    assert at(0.975).specs[0].phi_test == estimate.specs[0].phi_test


def test_specifications_that_move_apart_keep_a_bound_each() -> None:
    """One deploys higher, one lower: no bound may be said of both, and the verdict names the specification it quotes."""
    case = build_case(Form.PREVALENCE)
    higher = build_spec(name="a", test=0.5, deploy=(0.8, 0.7, 0.9), ed=(-0.4, -0.2))
    lower = build_spec(name="b", test=0.5, deploy=(0.2, 0.1, 0.3), ed=(0.2, 0.4))
    estimate = build_estimate(higher, lower)
    text = restrict(case, classify(case, estimate), estimate)

    assert "Φ_deploy against a is at least" in text.restricted
    assert "Φ_deploy against b is at most" in text.restricted
    assert "In deployment-like contexts (a) the scheming rate was 80.0 %, higher" in text.verdict
