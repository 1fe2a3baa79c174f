"""What a supplement is assembled from, and what it says when something is not there."""

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from registry.codec.canonical_documents import from_document, to_document
from registry.errors import ConflictError
from registry.records.audit_case import Access, EvidenceLayer
from registry.records.claim_status import Dispute
from registry.records.model_version import ModelRef
from registry.records.supplement import CardSupplement, Section, SpecRole, Supplement
from registry.records.verdict import ClaimClass, RestrictionStatus, Standing
from registry.report.card_coverage import describe_audits
from registry.report.html_rendering import render_html
from registry.report.supplement_assembly import assemble_card, assemble_claim
from registry.report.supplement_wording import name_model
from tests import findings
from tests.report.builders import CLAIM, MADE_AT, ORIGIN, Log, card
from tests.report.dossiers import EVERY, degraded, inverted, several_judges, undetermined
from tests.report.found import adverse, reassuring, with_findings
from tests.report.ontological import ontological


@pytest.mark.parametrize("name", EVERY)
def test_a_supplement_reads_back_from_its_document(name: str, supplements: Mapping[str, Supplement]) -> None:
    """Nothing is lost between the record and its JSON."""
    document = to_document(supplements[name])

    assert from_document(Supplement, document, where="document") == supplements[name]


@pytest.mark.parametrize("name", EVERY)
def test_all_four_layers_and_a_short_page_one(name: str, supplements: Mapping[str, Supplement]) -> None:
    """Unknown layers are there as unknown, and page one stays short."""
    supplement = supplements[name]

    assert [part.layer for part in supplement.layers] == list(EvidenceLayer)
    assert len(supplement.reasons) <= 5
    assert re.search(r"locked plan|not as locked|plan locked", supplement.account)
    assert re.search(r"n = \d|n not stated|no replay|no responses scored", supplement.account)
    assert re.search(r"20\d\d", supplement.account)


def test_the_identifier_cites_revision_and_leaf() -> None:
    """A supplement always names the exact content that it is about."""
    dossier = ontological()
    supplement = assemble_claim(dossier, made_at=MADE_AT)

    assert supplement.identifier == f"{CLAIM}@2#{dossier.current.entry.leaf[:16]}"


def test_the_latest_outcome_leads_and_the_others_are_named(supplements: Mapping[str, Supplement]) -> None:
    """Two audits: the newer one is on page one, the older in the history."""
    supplement = supplements["inverted"]
    outcome = supplement.outcome

    assert outcome is not None
    assert outcome.classification.primary.class_ is ClaimClass.INVERTED
    assert [other.class_ for other in supplement.other_audits] == [ClaimClass.UNDETERMINED]


def test_an_audit_without_outcome_does_not_lead_before_one_with(supplements: Mapping[str, Supplement]) -> None:
    """Opening a second audit does not erase the outcome of the first."""
    dossier = inverted()
    opened = replace(
        dossier.audits[0], restrictions=(), audit=replace(dossier.audits[0].audit, entry=replace(dossier.audits[0].audit.entry, seq=900))
    )
    supplement = assemble_claim(replace(dossier, audits=(dossier.audits[1], opened)), made_at=MADE_AT)

    assert supplement.verdict == supplements["inverted"].verdict
    assert [other.class_ for other in supplement.other_audits] == [None]


def test_an_open_audit_alone_says_that_it_is_open() -> None:
    """Neither verdict nor silence."""
    dossier = inverted()
    opened = replace(dossier.audits[1], restrictions=())
    supplement = assemble_claim(replace(dossier, audits=(opened,)), made_at=MADE_AT)

    assert supplement.outcome is None
    assert "no outcome yet" in supplement.verdict


def test_the_estimate_is_the_one_the_outcome_names(supplements: Mapping[str, Supplement]) -> None:
    """A result leads in one step to its log entry."""
    audit = supplements["inverted"].audit

    assert audit is not None
    assert audit.result is not None
    assert audit.outcome is not None
    assert audit.outcome.payload.result == audit.result.entry.seq
    assert audit.estimate_entry == audit.result.entry


def test_an_unaudited_claim_has_no_audit_and_says_so(supplements: Mapping[str, Supplement]) -> None:
    """Unaudited is an answer."""
    supplement = supplements["unaudited"]

    assert supplement.audit is None
    assert supplement.verdict.startswith("Not audited")
    assert all(part.access is None for part in supplement.layers)


def test_unknown_definitions_stay_in_their_place(supplements: Mapping[str, Supplement]) -> None:
    """A P_deploy that the registry does not know is listed as unknown, not left out."""
    unknown = [part for part in supplements["multi-spec"].specs if part.role is SpecRole.DEPLOY and part.version is None]

    assert [part.reference for part in unknown] == ["CTX-EXAMPLE-2026-0077-X@2"]


def test_access_is_the_best_that_is_stated(supplements: Mapping[str, Supplement]) -> None:
    """Available, withheld and unavailable are different things, and the audit's own replay makes the behavioural layer available."""
    access = {part.layer: part.access for part in supplements["inverted"].layers}

    assert access == {
        EvidenceLayer.BEHAVIOURAL: Access.AVAILABLE,
        EvidenceLayer.VERBALISED: Access.AVAILABLE,
        EvidenceLayer.LATENT: Access.UNAVAILABLE,
        EvidenceLayer.CUE_SENSITIVITY: Access.WITHHELD,
    }


def test_post_hoc_and_what_was_not_checked_reach_page_one(supplements: Mapping[str, Supplement]) -> None:
    """What weakens a verdict stands beside it."""
    limits = [limit.section for limit in supplements["undetermined"].limits]

    assert [reason.section for reason in supplements["undetermined"].reasons] == [Section.READINGS, Section.HISTORY]
    assert limits[:4] == [Section.EXCLUSIONS, Section.JUDGE, Section.NATURALNESS, Section.PREREGISTRATION]


def test_a_reserved_identifier_has_no_supplement() -> None:
    """There is nothing to print, and the message says what to do."""
    with pytest.raises(ConflictError) as caught:
        assemble_claim(replace(inverted(), revisions=()), made_at=MADE_AT)

    assert caught.value.code == "identifier-reserved"


def test_a_card_counts_what_nobody_audited(card_supplement: CardSupplement) -> None:
    """The rows without outcome are the unaudited ones, and only they."""
    assert [row.restriction for row in card_supplement.unaudited] == [RestrictionStatus.UNAUDITED]
    assert len(card_supplement.claims) == 3
    assert card_supplement.pages_with_claims == (31,)


@pytest.mark.parametrize(("firm", "wrong"), [(19, None), (20, "of 20 firm ones about 1"), (65, "of 65 firm ones about 3")])
def test_a_card_with_many_verdicts_says_that_some_are_wrong_by_chance(
    card_supplement: CardSupplement, firm: int, wrong: str | None
) -> None:
    """Each verdict has its own level, and nothing adjusts them for their number."""
    row = next(row for row in card_supplement.claims if row.independence is not None)
    rows = [replace(row, standing=Standing.ESTABLISHED)] * firm + [replace(row, standing=Standing.PROVISIONAL)] * 5

    sentence = describe_audits(replace(card_supplement, claims=tuple(rows)))

    assert (wrong in sentence) if wrong else "by chance" not in sentence


def test_an_outcome_leads_over_revisions_of_the_same_words() -> None:
    """A claim revised after its audit says what was found of the earlier revision, with that revision and the date."""
    dossier = ontological()
    audit = dossier.audits[0].audit
    of_first = replace(dossier.audits[0], audit=replace(audit, payload=replace(audit.payload, claim=f"{dossier.claim}@1")))

    supplement = assemble_claim(replace(dossier, audits=(of_first,)), made_at=audit.entry.at)

    assert supplement.outcome is None
    assert supplement.verdict.startswith("Not testable: audit AUD-")
    assert f"of {dossier.claim}@1, 2026-" in supplement.verdict
    assert [one.claim for one in supplement.other_audits] == [f"{dossier.claim}@1"]


def test_an_open_objection_leads_to_where_it_stands() -> None:
    """One of the claim itself stands in the history, one of a definition with the definition."""
    dossier = inverted()
    (file,) = dossier.objections
    contested = replace(dossier, status=replace(dossier.status, dispute=Dispute.CONTESTED))
    objection = replace(file.objection, payload=replace(file.objection.payload, target=f"{dossier.claim}@1"))
    of_claim = replace(contested, objections=(replace(file, objection=objection),))

    found = [
        next(one.section for one in assemble_claim(each, made_at=MADE_AT).reasons if "objection" in one.text)
        for each in (contested, of_claim)
    ]

    assert found == [Section.CONTEXTS, Section.HISTORY]


def test_modules_that_were_made_are_not_called_missing(supplements: Mapping[str, Supplement]) -> None:
    """Each module is either on record or said to be missing, with its consequence."""
    sections = {Section.NATURALNESS, Section.ABLATION, Section.JUDGE}
    ablated = assemble_claim(with_findings(inverted(), findings.ablation()), made_at=MADE_AT)

    assert {part.section for part in supplements["inverted"].not_made} == sections
    assert {part.section for part in supplements["unaudited"].not_made} == sections
    assert {part.section for part in ablated.not_made} == sections - {Section.ABLATION}
    assert supplements["found-against"].not_made == ()


def test_what_was_found_against_a_measurement_reaches_page_one() -> None:
    """Truncation, scorer, raters and cues come before what the lock leaves open: the order of harm."""
    found = [limit.section for limit in assemble_claim(adverse(degraded()), made_at=MADE_AT).limits]
    calm = [limit.section for limit in assemble_claim(reassuring(degraded()), made_at=MADE_AT).limits]

    order = [Section.EXCLUSIONS, Section.JUDGE, Section.NATURALNESS, Section.ABLATION, Section.PREREGISTRATION]
    assert found[:5] == order
    assert Section.JUDGE not in calm
    assert Section.ABLATION not in calm


def test_a_replay_that_did_not_keep_to_its_plan_says_so_on_page_one(supplements: Mapping[str, Supplement]) -> None:
    """Among the limits, in the words of the estimate."""
    limits = [(limit.section, limit.text) for limit in supplements["several-judges"].limits]

    assert (Section.EXCLUSIONS, "Deviation: only 20 of 60 planned tasks are scored on both sides.") in limits


def test_a_failed_check_in_another_audit_is_not_excluded() -> None:
    """No one clears a scorer by an audit of their own that did not look."""
    dossier = with_findings(inverted(), findings.judge(invariant=False), audit=0)
    supplement = assemble_claim(dossier, made_at=MADE_AT)

    assert supplement.audit is not None
    assert supplement.audit.findings == ()
    assert [one.payload.audit for one in supplement.other_findings] == [dossier.audits[0].audit.payload.audit]
    assert "The scorer failed an invariance check in another audit of this claim." in [limit.text for limit in supplement.limits]


def test_supplements_from_before_there_were_findings_still_parse(supplements: Mapping[str, Supplement]) -> None:
    """What an earlier Caveat gave out can be read, verified and drawn."""
    document = to_document(supplements["inverted"])
    assert document.pop("other_findings") == []
    assert document["audit"].pop("findings") == []

    assert from_document(Supplement, document, where="document") == supplements["inverted"]


def test_several_judges_are_no_several_specifications(card_supplement: CardSupplement) -> None:
    """A card counts specifications of P_deploy, whoever scored."""
    (row,) = assemble_card([several_judges()], card(Log()), log_origin=ORIGIN, log_size=40, made_at=MADE_AT).claims

    assert row.specs == 1
    assert {one.specs for one in card_supplement.claims} == {0, 1}


def test_the_row_that_says_that_the_scorer_failed_is_not_repeated() -> None:
    """The verdict states it; the reason says what would resolve it, and leads to the section of the scorer."""
    dossier = with_findings(undetermined(), findings.judge(invariant=False))
    (file,) = dossier.audits
    (outcome,) = file.restrictions
    (reading,) = outcome.payload.classification.readings
    decided = replace(reading, rule="scorer-not-invariant", why="The scorer failed its invariance check.")
    classified = replace(outcome.payload.classification, readings=(decided,))
    failed = replace(file, restrictions=(replace(outcome, payload=replace(outcome.payload, classification=classified)),))

    supplement = assemble_claim(replace(dossier, audits=(failed,)), made_at=MADE_AT)

    assert [reason.text[:14] for reason in supplement.reasons if reason.section is Section.JUDGE] == ["To resolve it:"]
    assert not [limit for limit in supplement.limits if limit.section is Section.JUDGE]


def test_an_open_audit_shows_what_was_found_so_far() -> None:
    """Findings do not wait for an outcome to be told."""
    dossier = adverse(degraded())
    opened = tuple(replace(file, restrictions=(), results=()) for file in dossier.audits)
    supplement = assemble_claim(replace(dossier, audits=opened), made_at=MADE_AT)

    assert supplement.outcome is None
    assert supplement.not_made == ()
    assert b"Distinguished." in render_html(supplement)


def test_a_model_without_a_version_is_told_so_in_words() -> None:
    """“Mallard not stated” is no name of a model."""
    names = [name_model(ModelRef(developer="Example", name="Mallard", version=version)) for version in ("2026-03-06", "not stated", "")]

    assert names == ["Mallard, 2026-03-06", "Mallard, version not stated", "Mallard, version not stated"]
