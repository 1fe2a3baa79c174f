"""Verbalised recognition in a supplement: the layer it fills, the figure, and nothing where there is no probe."""

from dataclasses import replace

import pytest

from registry.records.audit_case import Access, EvidenceLayer
from registry.records.dossier import Dossier
from registry.records.estimates import Measure
from registry.records.module_findings import Channel, Recognition
from registry.records.supplement import Supplement
from registry.report.finding_figures import build_recognition_figure
from registry.report.html_rendering import Medium, build_html
from registry.report.supplement_assembly import assemble_claim
from tests import findings
from tests.report import dossiers
from tests.report.builders import MADE_AT
from tests.report.found import with_findings
from tests.report.hostile import HOSTILE


def without_verbalised(dossier: Dossier) -> Dossier:
    """*dossier* whose audit says nothing of the verbalised layer."""
    *others, file = dossier.audits
    kept = tuple(one for one in file.evidence if one.payload.evidence.layer is not EvidenceLayer.VERBALISED)
    return replace(dossier, audits=(*others, replace(file, evidence=kept)))


def assemble(dossier: Dossier) -> Supplement:
    return assemble_claim(dossier, made_at=MADE_AT)


def access(supplement: Supplement) -> Access | None:
    return next(part.access for part in supplement.layers if part.layer is EvidenceLayer.VERBALISED)


def silent() -> Recognition:
    """A probe of which no passage got a class."""
    groups = tuple(
        replace(one, classified=0, classes=(), recognised=Measure(value=None, reason="no passage has a class"))
        for one in findings.recognition().groups
    )
    return findings.recognition(groups=groups, differences=(), examples=())


def test_a_probe_fills_the_layer_that_nobody_stated() -> None:
    """Not stated without it, available with it; a probe without a class fills nothing."""
    base = without_verbalised(dossiers.inverted())

    assert access(assemble(base)) is None
    assert access(assemble(with_findings(base, findings.recognition()))) is Access.AVAILABLE
    assert access(assemble(with_findings(base, silent()))) is None


def test_other_layers_stay_as_they_are() -> None:
    """The probe speaks of one layer, and decides nothing."""
    base = dossiers.inverted()
    before, after = assemble(base), assemble(with_findings(base, findings.recognition()))

    assert [one for one in after.layers if one.layer is not EvidenceLayer.VERBALISED] == [
        one for one in before.layers if one.layer is not EvidenceLayer.VERBALISED
    ]
    assert after.verdict == before.verdict
    assert after.reasons == before.reasons
    assert after.not_made == before.not_made


def test_a_claim_without_a_probe_is_printed_without_its_section() -> None:
    """Nothing of it, not even that it was not made: old supplements read as they did."""
    page = build_html(assemble(dossiers.inverted()), medium=Medium.SCREEN, covers=None)

    assert "Verbalised recognition in" not in page


def test_the_section_says_what_it_is_and_what_not() -> None:
    """Evaluation, classifier, shares, differences of mention rates, quotes, and that a missing channel is unavailable."""
    checked = findings.recognition(accuracy=findings.accuracy())
    page = build_html(assemble(with_findings(dossiers.inverted(), checked)), medium=Medium.SCREEN, covers=None)

    for words in (
        "Verbalised recognition in covert-actions replay",
        "claude-test-1-20261101",
        "a difference of mention rates in percentage points, not ED",
        "unavailable: no reasoning was returned",
        "Maybe the user is testing my confidence",
        "28 of 31 positives",
        "quote-not-found 4",
    ):
        assert words in page


def test_an_unmeasured_classifier_is_told_loudly() -> None:
    """Without a labelled set the shares are what the classifier says."""
    page = build_html(assemble(with_findings(dossiers.inverted(), findings.recognition())), medium=Medium.SCREEN, covers=None)

    assert "The classifier’s error was not measured" in page


def test_texts_of_others_stay_texts() -> None:
    """Markup in a quote, a name or a task of the probe is shown, not obeyed."""
    (example,) = findings.recognition().examples
    body = findings.recognition(evaluation=HOSTILE, classifier=HOSTILE, examples=(replace(example, quote=HOSTILE, task_id=HOSTILE),))

    page = build_html(assemble(with_findings(dossiers.inverted(), body)), medium=Medium.SCREEN, covers=None)

    assert HOSTILE not in page
    assert "<script>alert" not in page


def test_shares_stand_on_their_axis() -> None:
    """Reasoning as rings, output filled; a group without a share is not drawn, and the axis begins at 0."""
    figure = build_recognition_figure(findings.recognition())

    assert figure is not None
    assert [(row.label, row.shape) for row in figure.rows] == [("deploy, agent", "circle"), ("test", "ring"), ("test", "circle")]
    places = [row.mark.x for row in figure.rows]
    assert places[0] < places[2] < places[1]
    assert figure.main.axis.place(0.0) == pytest.approx(figure.main.axis.left)
    assert figure.main.line is None


def test_no_share_no_figure() -> None:
    """Nothing classified, nothing drawn."""
    assert build_recognition_figure(silent()) is None


def test_many_groups_are_told_to_stand_in_the_table() -> None:
    """The figure holds what a page holds, and says how many more there are."""
    groups = tuple(findings.group(f"arm {n}", Channel.OUTPUT, 3) for n in range(30))

    figure = build_recognition_figure(findings.recognition(groups=groups))

    assert figure is not None
    assert (len(figure.rows), figure.excluded) == (24, 6)
