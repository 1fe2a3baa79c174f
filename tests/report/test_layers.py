"""Evidence layers follow from what the audit did; a statement adds what others reported, and never takes away what was done."""

from dataclasses import replace

import pytest

from registry.records.audit_case import Access, AccessLevel, Evidence, EvidenceLayer, PublishedFigure
from registry.records.claim_status import ObjectionState
from registry.records.module_findings import FindingBody
from registry.records.supplement import LayerState, Supplement
from registry.records.verdict import ItemStatus
from registry.report.html_rendering import render_html
from registry.report.minimum_reporting import derive_layers, describe_layers, describe_levels
from registry.report.supplement_assembly import assemble_claim
from tests import findings
from tests.report.builders import MADE_AT
from tests.report.dossiers import inverted

UNAVAILABLE = tuple(Evidence(layer=layer, access=Access.UNAVAILABLE) for layer in EvidenceLayer)


def derive(
    *evidence: Evidence, bodies: tuple[FindingBody, ...] = (), replay: bool = False, endpoint: bool = False
) -> dict[EvidenceLayer, LayerState]:
    states = derive_layers(evidence, bodies, has_estimate=replay, through_endpoint=endpoint)
    return {one.layer: one for one in states}


def test_nothing_done_and_nothing_stated_is_no_access() -> None:
    """Silence is neither available nor unavailable."""
    assert {one.access for one in derive().values()} == {None}


@pytest.mark.parametrize(
    ("layer", "bodies", "replay"),
    [
        (EvidenceLayer.BEHAVIOURAL, (), True),
        (EvidenceLayer.CUE_SENSITIVITY, (findings.ablation(),), False),
        (EvidenceLayer.VERBALISED, (findings.recognition(),), False),
    ],
)
def test_work_of_the_audit_outweighs_a_statement_against_it(layer: EvidenceLayer, bodies: tuple[FindingBody, ...], *, replay: bool) -> None:
    """A replay, an ablation and a probe make their layer available, and only theirs; the statement is shown as contradicted."""
    states = derive(*UNAVAILABLE, bodies=bodies, replay=replay, endpoint=True)

    assert {one.layer for one in states.values() if one.access is Access.AVAILABLE} == {layer}
    assert states[layer].levels == (AccessLevel.API,)
    assert states[layer].contradiction is not None
    assert states[layer].contradiction.startswith("stated as unavailable; the audit itself ")
    assert all(one.contradiction is None for one in states.values() if one.layer is not layer)


def test_a_statement_that_agrees_is_no_contradiction() -> None:
    """Reported evidence stands beside the audit's own, each with its access."""
    state = derive(Evidence(layer=EvidenceLayer.BEHAVIOURAL, access_level=AccessLevel.LAB_TOOLS), replay=True, endpoint=True)[
        EvidenceLayer.BEHAVIOURAL
    ]

    assert state.contradiction is None
    assert describe_levels(state) == "API only and lab tools"


def test_access_of_scores_that_name_no_endpoint_is_not_stated() -> None:
    """Nothing shows how a bare table was made."""
    assert describe_levels(derive(replay=True)[EvidenceLayer.BEHAVIOURAL]) == "access not stated"


def test_a_contradiction_is_written_out() -> None:
    """In the words that the checklist prints."""
    states = derive(UNAVAILABLE[0], replay=True).values()

    assert describe_layers(states) == (
        "behavioural: available (access not stated); ✗ behavioural stated as unavailable; the audit itself replayed the evaluation "
        "and deployment-like contexts"
    )


@pytest.mark.parametrize("level", [one for one in AccessLevel if one is not AccessLevel.API] + [None])
def test_latent_evidence_takes_more_than_an_api(level: AccessLevel | None) -> None:
    """Activations cannot be read through an endpoint; that the layer is out of reach of one may well be said."""
    latent = Evidence(layer=EvidenceLayer.LATENT, access_level=level, finding=PublishedFigure(value=0.16, unit="share"))

    assert latent.access_level is level
    with pytest.raises(ValueError, match="cannot be read through an API; write access_level: internals"):
        replace(latent, access_level=AccessLevel.API)
    assert Evidence(layer=EvidenceLayer.LATENT, access=Access.UNAVAILABLE, access_level=AccessLevel.API)


def supplement_of(dossier: object) -> Supplement:
    return assemble_claim(dossier, made_at=MADE_AT)  # type: ignore[arg-type]


def test_a_supplement_shows_what_contradicts_a_statement() -> None:
    """Typed as unavailable, and replayed: the page says both."""
    dossier = inverted()
    file = dossier.audits[-1]
    said = file.evidence[0]
    typed = replace(said, payload=replace(said.payload, evidence=UNAVAILABLE[0]))
    shown = supplement_of(replace(dossier, audits=(*dossier.audits[:-1], replace(file, evidence=(typed, *file.evidence[1:])))))

    part = shown.layers[0]
    assert (part.layer, part.access) == (EvidenceLayer.BEHAVIOURAL, Access.AVAILABLE)
    assert "stated as unavailable; the audit itself replayed" in render_html(shown).decode()


def test_an_objection_after_the_outcome_reaches_the_checklist() -> None:
    """The checklist is computed when the document is rendered, so it names what stands against P_deploy now."""
    dossier = inverted()
    before = supplement_of(replace(dossier, objections=()))
    after = supplement_of(dossier)

    def note(one: Supplement) -> str:
        return next(item.note for item in one.checklist if item.item == "deployment-owner-and-objections")

    names = [one.objection.payload.objection for one in dossier.objections if one.state is not ObjectionState.REJECTED]
    assert names
    assert all(name in note(after) and name not in note(before) for name in names)
    assert ItemStatus.REPORTED in {item.status for item in after.checklist}


def test_the_same_record_gives_the_same_checklist() -> None:
    """It is a function of the record alone."""
    assert supplement_of(inverted()).checklist == supplement_of(inverted()).checklist
