"""What a renewal moved, in words: a change of the class that the point estimate suggests is one."""

from dataclasses import replace

import pytest

from audit.renew.renewal_choice import NOT_AUDITED, count_transitions, describe_class
from registry.records.verdict import ClaimClass
from registry.report.claim_change import build_change, build_state, list_other, rank_change
from tests.report.dossiers import unaudited, undetermined


@pytest.mark.parametrize("point_class", [None, *ClaimClass])
def test_the_class_of_the_point_estimate_is_named_with_the_class(point_class: ClaimClass | None) -> None:
    """Two outcomes that differ in it alone are two kinds of outcome, in the table and in the count."""
    change = build_change(undetermined(), undetermined(), since=1)
    assert change.before is not None
    moved = replace(change, before=replace(change.before, point_class=point_class))
    is_other = point_class is not change.after.point_class

    ((before, after, count),) = count_transitions([moved])
    assert count == 1
    assert (before != after) is is_other
    assert ("the point estimate suggests" in before) is (point_class is not None)
    assert list_other(moved) == (("point_class",) if is_other else ())
    assert rank_change(moved)[0] == (2 if is_other else 4)


def test_what_has_no_outcome_is_not_audited() -> None:
    """Neither a claim without an audit, nor one that was not registered."""
    assert describe_class(build_state(unaudited())) == describe_class(None) == NOT_AUDITED
