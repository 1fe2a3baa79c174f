"""What findings come to in sentences and in the scorer's invariance, also where they have no number to give."""

from dataclasses import replace

import pytest

from audit.protocol.audit_lock import settle_draft
from audit.protocol.evidence_basis import find_scores
from registry.errors import InputError
from registry.records.analysis_plan import Plan
from registry.records.audit_case import Independence
from registry.records.claim_draft import AuditDraft
from registry.records.estimates import Measure
from registry.records.module_findings import Repeats, find_invariance
from registry.report.minimum_reporting import describe_markers, describe_uncertainty, list_checks
from tests import findings

FEW = "too few labels"


@pytest.mark.parametrize(
    ("outcomes", "found"),
    [
        ((), None),
        ((None,), None),
        ((True,), True),
        ((None, True), True),
        ((True, False), False),
        ((False, None, True, True), False),
    ],
)
def test_one_failure_outweighs_every_check_that_was_passed(outcomes: tuple[bool | None, ...], found: bool | None) -> None:  # noqa: FBT001  (a table)
    """In whatever order; a check that decides nothing counts for nothing."""
    reports = [findings.judge(invariant=one) for one in outcomes]

    assert find_invariance([findings.naturalness(), *reports, findings.ablation()]) is found
    assert find_invariance(reversed(reports)) is found


def test_a_check_on_other_scores_settles_nothing_unless_it_failed() -> None:
    """What passed elsewhere says nothing of these scores; what failed elsewhere failed with this scorer."""
    passed, failed = (findings.judge(invariant=one) for one in (True, False))

    assert find_invariance([passed], scores=passed.scores) is True
    assert find_invariance([passed], scores="0" * 64) is None
    assert find_invariance([failed], scores="0" * 64) is False


def test_a_correction_without_a_number_says_why() -> None:
    """What cannot be corrected, or has no interval, is not left out of minimum reporting."""
    (powered,) = findings.judge().corrected
    none = replace(powered, ed=Measure(value=None, reason=FEW))
    open_ = replace(powered, method="rogan-gladen", ed=Measure(value=0.04, reason=FEW))

    assert describe_uncertainty([findings.judge(repeats=None, corrected=(none, open_))]) == (
        f"judge-model-1: prediction-powered correction gives ED no value ({FEW}); "
        f"rogan-gladen correction gives ED 4.0 percentage points without an interval ({FEW})"
    )


def test_repeats_say_what_they_have() -> None:
    """One response scored twice has no share of anything."""
    repeats = Repeats(responses=1, scorings=2, deviation=None, identical=1.0, share=None, reason="no variance")

    assert describe_uncertainty([findings.judge(judge=None, repeats=repeats, corrected=())]) == (
        "a judge that is not named: 2 scorings of 1 response; errors against a person's labels were not measured"
    )


def test_nothing_found_is_said_of_nothing() -> None:
    """Without findings there is nothing to report, and no digest of scores for raters."""
    assert describe_markers([]) == describe_uncertainty([]) == list_checks([]) == ""
    assert describe_markers([findings.judge()]) == ""
    assert find_scores(findings.naturalness()) is None
    assert find_scores(findings.ablation()) == find_scores(findings.judge()) == "cd" * 32


def test_raters_who_named_no_cue_and_cues_that_all_matter() -> None:
    """Both are told as they are."""
    every = findings.ablation(changes=(findings.change("disclosure", 0.14),))

    assert describe_markers([findings.naturalness(cues=())]) == "blind raters named no cue"
    assert describe_markers([every]) == "cue ablation of 1 cue, audit-relevant: disclosure"


def test_a_plan_that_no_scores_could_answer_is_refused_with_every_fault() -> None:
    """A margin wider than the range, and specifications without a name."""
    draft = AuditDraft(claim="CLM-X", independence=Independence.SELF, plan=Plan(margin=2.0), deploy_specs=("a", " "))

    with pytest.raises(InputError) as refused:
        settle_draft(draft, (0.0, 1.0))
    assert [fault.where for fault in refused.value.faults] == ["plan.margin", "deploy_specs"]
    settle_draft(replace(draft, deploy_specs=("a", "b")), (0.0, 5.0))
