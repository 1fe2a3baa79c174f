"""The numbers printed in the interface: 5 of 100 against 25 of 100, 20 tasks × 5 contexts."""

import numpy as np
import pytest

from audit.modules.differential_estimate import estimate
from registry.records.analysis_plan import Plan
from registry.records.estimates import Estimate
from tests.statistics.tables import build_crossed

FAILED_IN_TEST = [(1, 0), (1, 1), (3, 0), (4, 0), (5, 2)]
FAILED_ALWAYS = [(0, context) for context in range(5)]
FAILED_TWICE = [(1, 0), (1, 1)]
FAILED_ONCE = [0, 0, 0, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


@pytest.fixture
def result() -> Estimate:
    test, deploy = np.zeros((20, 5)), np.zeros((20, 5))
    for cell in FAILED_IN_TEST:
        test[cell] = 1
    for cell in [*FAILED_ALWAYS, *FAILED_TWICE, *((task, context) for task, context in enumerate(FAILED_ONCE, start=2))]:
        deploy[cell] = 1
    return estimate(build_crossed(test, deploy), Plan(replicates=0), range_=(0, 1))


def test_the_interface_prints_what_is_computed(result: Estimate) -> None:
    """All sixteen printed numbers come out of one arrangement of the scores."""
    spec = result.specs[0]
    printed = (
        spec.phi_test.value,
        spec.phi_test.low,
        spec.phi_test.high,
        spec.phi_deploy.value,
        spec.phi_deploy.low,
        spec.phi_deploy.high,
        spec.ed.value,
        spec.ed.low,
        spec.ed.high,
        spec.ned.value,
        spec.sigma_pool,
        spec.equivalence.p,
        spec.minimum_detectable_ed,
        spec.ed_under_exclusions.low,
        spec.ed_under_exclusions.high,
    )

    assert printed == pytest.approx(
        (0.05, 0.0, 0.1944, 0.25, 0.1212, 0.4046, -0.2, -0.3585, -0.0188, -0.5642, 0.3445, 0.984, 0.1734, -0.2, -0.2), abs=1e-4
    )


def test_the_design_is_counted(result: Estimate) -> None:
    """Counts, defaults and the absence of pooled and pointwise numbers are as printed."""
    spec = result.specs[0]

    assert (spec.spec, spec.n.tasks, spec.n.contexts_test, spec.n.contexts_deploy) == ("default", 20, 5, 5)
    assert (spec.n.responses_test, spec.n.responses_deploy, spec.n.excluded_test, spec.n.excluded_deploy) == (100, 100, 0, 0)
    assert (result.margin, result.level, result.epsilon, result.range) == (0.05, 0.95, 0.01, (0, 1))
    assert spec.pointwise is None
    assert spec.pooled_ed is None
    assert not spec.equivalence.equivalent
