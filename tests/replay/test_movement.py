"""What a renewal moved, in words: a change of candidate is one."""

from dataclasses import replace

import pytest

from audit.renewing.movement import NOT_AUDITED, count_transitions, describe_class
from registry.records.classification import ClaimClass
from registry.report.change import build_change, build_state, list_other, rank_change
from tests.report.dossiers import unaudited, undetermined


@pytest.mark.parametrize("candidate", [None, *ClaimClass])
def test_a_candidate_is_told_with_its_class(candidate: ClaimClass | None) -> None:
    """Two outcomes that differ in it alone are two kinds of outcome, in the table and in the count."""
    change = build_change(undetermined(), undetermined(), since=1)
    assert change.before is not None
    moved = replace(change, before=replace(change.before, point_class=candidate))
    is_other = candidate is not change.after.candidate

    ((before, after, count),) = count_transitions([moved])
    assert count == 1
    assert (before != after) is is_other
    assert ("candidate" in before) is (candidate is not None)
    assert list_other(moved) == (("candidate",) if is_other else ())
    assert rank_change(moved)[0] == (2 if is_other else 4)


def test_what_has_no_outcome_is_not_audited() -> None:
    """Neither a claim without an audit, nor one that was not registered."""
    assert describe_class(build_state(unaudited())) == describe_class(None) == NOT_AUDITED
