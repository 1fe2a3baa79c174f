"""What a probe means for an audit: one layer is stated, the plan is kept to, and no verdict moves."""

from dataclasses import replace

import pytest

from audit.modules.recognition_passages import ResponsePassage
from audit.modules.recognition_rates import ProbeSetting, recognise
from audit.protocol.evidence_basis import find_deviations, find_scores
from audit.records.model_response import ReplayCell
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.audit_case import Access, Evidence, EvidenceLayer
from registry.records.module_findings import Channel, FindingBody, Recognition
from registry.records.verdict import ItemStatus
from registry.report.minimum_reporting import AuditMaterial, build_items
from tests import findings
from tests.verdict.cases import build_case

LAYERS = tuple(Evidence(layer=layer, access=Access.UNAVAILABLE) for layer in EvidenceLayer if layer is not EvidenceLayer.VERBALISED)


def status(*bodies: FindingBody) -> ItemStatus:
    items = build_items(AuditMaterial(form=build_case(theta=0.1).claim.form, evidence=LAYERS, findings=bodies))
    return next(one.status for one in items if one.item == "four-evidence-layers")


def unread() -> Recognition:
    known = findings.recognition()
    return replace(known, groups=tuple(replace(one, classified=0) for one in known.groups))


def test_the_checklist_counts_the_layer_that_the_probe_read() -> None:
    """Missing without it, reported with it, still missing when no passage got a class."""
    assert status() is ItemStatus.MISSING
    assert status(findings.recognition()) is ItemStatus.REPORTED
    assert status(unread()) is ItemStatus.MISSING


@pytest.mark.parametrize(
    ("plan", "deviations"),
    [
        (Plan(), set()),
        (Plan(level=0.9), {"level"}),
        (Plan(contexts=ContextDesign.FIXED, margin=0.2), {"contexts"}),
    ],
)
def test_a_probe_keeps_to_the_level_and_contexts_of_the_plan(plan: Plan, deviations: set[str]) -> None:
    """It has no margin and no range to depart from."""
    assert set(find_deviations(findings.recognition(), plan, (0.0, 1.0))) == deviations


def test_a_probe_is_made_from_passages_and_not_from_scores() -> None:
    """Nothing of it can show that scores were seen before a lock."""
    assert find_scores(findings.recognition()) is None


def test_a_classifier_that_reads_itself_is_told() -> None:
    """By the name that answered."""
    passage = ResponsePassage(
        cell=ReplayCell(task_id="t", arm="test", context_id="c", sample=0), channel=Channel.OUTPUT, text="", absent="no-output"
    )
    circumstances = ProbeSetting(evaluation="e", models=("m-1",), classifier="m-1", sampled=1.0, seed=0, passages="00" * 32)

    own = recognise([passage], [], Plan(), circumstances, None)
    other = recognise([passage], [], Plan(), replace(circumstances, classifier="m-2"), None)

    assert [one.code for one in own.warnings] == ["classifier-is-model"]
    assert other.warnings == ()
