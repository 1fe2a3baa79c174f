"""Outcome of a claim after its audit is told on page one, with what would settle it, and nothing that was decided is hidden."""

import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.codec.statement_encoding import list_entries
from registry.records.claim import ClaimRevision
from registry.records.claim_status import CauseKind, ReviewedCause, StaleCause, Staleness, StalenessReview, StalenessVerdict
from registry.records.dossier import AuditFile, Recorded
from registry.records.supplement import CardSupplement, Section, Supplement
from registry.report.claim_outcome import find_carry
from registry.report.html_rendering import render_html
from registry.report.number_format import format_day
from registry.report.preregistration import describe_locks
from registry.report.status_account import describe_remedy, list_causes
from registry.report.supplement_assembly import assemble_claim
from tests.report.builders import CLAIM, MADE_AT, MODEL
from tests.report.dossiers import degraded, inverted, undetermined
from tests.report.hostile import HOSTILE
from tests.report.updated import FIRST, NEXT, SECOND, WHY_CARRIED, WHY_DISMISSED, WHY_STALE, Update, draw, draw_card

Updated = Mapping[str, Supplement | CardSupplement]
BANS = "\u202e\u200b\x1b\ufeff"


def read(supplement: Supplement | CardSupplement) -> str:
    """The words of the page, on one line."""
    html = render_html(supplement).decode().partition('<script type="application/json"')[0]
    html = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    words = re.sub(r"<[^>]*>", " ", re.sub(r"</?(?:span|strong|em|a|sub)\b[^>]*>", "", html))
    return " ".join(unescape(words).split())


def read_first_page(supplement: Supplement | CardSupplement) -> str:
    page, *rest = re.split(r" 1 (?:Estimates|Readings of the claim|Contexts and definitions|Claim record) ", read(supplement))
    _, _, first = page.partition("Caveat claim supplement · ")
    # Both marks are there: else what is looked for and must be absent would be looked for in nothing, or everywhere.
    assert first
    assert rest
    return first


def test_what_may_be_stale_says_on_page_one_what_would_settle_it() -> None:
    """Each cause in its own words, with what takes it away."""
    supplement = draw(Update().potential())
    (reason,) = [one for one in supplement.reasons if "Needs review" in one.text]

    assert reason.text == (
        "Needs review: its model was followed by Sparrow 2.2-2026-11-02 (resolved by applying the claim to it, or by a dismissal)"
        "; its model was deprecated (resolved by a review)."
    )
    assert reason.section is Section.HISTORY


def test_what_a_person_confirmed_comes_first() -> None:
    """Who, when and why; what was not reviewed comes after it."""
    supplement = draw(Update().stale())
    first = supplement.reasons[0].text

    assert first.startswith(
        f"It is stale: confirmed by INST on 20 October 2026 because its model was followed by Sparrow 2.2-2026-11-02 (“{WHY_STALE}”)."
    )
    assert first.endswith("This has not been reviewed yet: its model was deprecated (resolved by a review).")
    assert "stale as of entry" in read_first_page(supplement)


@pytest.mark.parametrize("kind", [Staleness.STALE, Staleness.NEEDS_REVIEW])
def test_staleness_is_never_crowded_out_of_five_reasons(kind: Staleness) -> None:
    """A claim with more reasons than page one has room for is still told to be stale."""
    update = Update()
    told = update.stale() if kind is Staleness.STALE else update.potential()
    crowded = replace(told, audits=tuple(_crowd(one) for one in told.audits))

    supplement = draw(crowded)

    assert len(supplement.reasons) <= 5
    assert sum("stale" in one.text or "Needs review" in one.text for one in supplement.reasons) == 1


def _crowd(file: AuditFile) -> AuditFile:
    """An audit whose outcome gives four reasons of its own."""
    found = []
    for one in file.restrictions:
        primary, *rest = one.payload.classification.readings
        primary = replace(primary, hangs_on_one_spec=True)
        found.append(
            replace(
                one,
                payload=replace(one.payload, post_hoc=True, classification=replace(one.payload.classification, readings=(primary, *rest))),
            )
        )
    return replace(file, restrictions=tuple(found))


def test_a_dismissed_change_stays_in_the_history_and_nowhere_else() -> None:
    """It counts no longer, and who decided that, when and why is told."""
    update = Update()
    supplement = draw(update.potential())
    page = read(supplement)

    assert WHY_DISMISSED not in read_first_page(supplement)
    assert f"dismissed INST, {format_day(update.dismissed.entry.at)} entry {update.dismissed.entry.seq}" in page
    assert f"the card has a newer revision: CRD-EXAMPLE-2026-0007-7@2 {WHY_DISMISSED}" in page


def test_a_decision_from_before_a_change_confirms_nothing() -> None:
    """The same version followed again later: somebody has to look again."""
    update = Update()
    later = replace(update.cause(CauseKind.SUCCESSOR), entry=update.confirmed.entry.seq + 1)
    told = update.stale()

    rows = list_causes(replace(told.status, causes=(later,)), told.reviews, (), claim=FIRST)

    assert [(row.confirmed, row.remedy is None) for row in rows] == [(None, False)]


def test_a_decision_on_another_revision_confirms_nothing() -> None:
    """What was decided of the first revision does not speak of the second."""
    update = Update()
    told = update.stale()

    assert list_causes(told.status, told.reviews, (), claim=SECOND)[0].confirmed is None


def test_the_last_decision_counts() -> None:
    """Confirmed and then dismissed: what remains in the status is not shown as confirmed."""
    update = Update()
    changed = ReviewedCause(kind=CauseKind.SUCCESSOR, what=str(NEXT))
    taken_back = update.log.say(
        StalenessReview(claim=FIRST, verdict=StalenessVerdict.DISMISSED, causes=(changed,), why="On second thought."), "INST"
    )
    told = update.stale()

    rows = list_causes(told.status, (*told.reviews, taken_back), (), claim=FIRST)

    assert [row.confirmed for row in rows] == [None, None]


@given(st.sampled_from(CauseKind), st.integers(1, 3))
def test_every_cause_says_what_would_settle_it(kind: CauseKind, revision: int) -> None:
    """A newer revision is settled by nothing: it is what stands."""
    cause = StaleCause(kind=kind, what=f"{CLAIM}@{revision}", entry=9, text="something came")
    said = describe_remedy(cause, FIRST)

    assert said.startswith("resolved by ") == (kind is not CauseKind.REVISION or revision == 1)


def test_the_entries_of_causes_are_named_and_so_proven(updated: Updated) -> None:
    """Their leaves stand in the history, and among the entries that the proof is of."""
    update = Update()
    supplement = updated["stale"]
    page = read(supplement)

    for one in (update.follow, update.end):
        assert list_entries(supplement)[one.entry.seq] == one.entry
        assert f"entry {one.entry.seq}" in page.replace("\u00a0", " ")


def test_the_lineage_of_the_model_is_told_with_who_said_it() -> None:
    """What was registered, what followed, and until when it is offered."""
    page = read(draw(Update().potential()))

    assert "Sparrow, 2.2-2026-11-02 registered; released 2 November 2026" in page
    assert "Sparrow, 2.2-2026-11-02 follows Sparrow, 2.1-2026-09-30 as a successor EXAMPLE, 19 October 2026" in page
    assert "Sparrow, 2.1-2026-09-30 deprecated; last offered 31 January 2027: replaced by 2.2" in page


def test_an_applied_claim_says_so_on_page_one() -> None:
    """Of what the card spoke, who applied it and when, and that no estimate came along; the history has the reason."""
    supplement = draw(Update().carried())
    page = read_first_page(supplement)

    assert (
        "Applied to a newer model version by INST on 20 October 2026. The card describes Sparrow, 2.1-2026-09-30. "
        "No estimate of an earlier version applies."
    ) in page
    assert WHY_CARRIED in read(supplement)
    assert "for Sparrow, 2.1-2026-09-30, an earlier version" in page
    assert "inversion margin" not in page
    assert supplement.outcome is None


def test_a_passage_of_a_newer_card_is_not_said_to_speak_of_the_earlier_version() -> None:
    """Carried to another version with another passage: that one speaks of it."""
    update = Update()
    told = update.carried()
    moved = replace(
        update.carrying, payload=replace(update.carrying.payload, card="CRD-EXAMPLE-2026-0007-7@2", quote="Sparrow 2.2 did so too.")
    )
    carry = find_carry((*told.revisions[:-1], moved))

    assert carry is not None
    assert carry.card_spoke_of is None


def test_a_card_says_which_figure_is_of_an_earlier_version() -> None:
    """The row of a carried claim is about the next version, its quote and figure are not."""
    told = Update().carried()
    supplement = draw_card(told, degraded())
    rows = {row.identifier.partition("#")[0]: row.spoken_of for row in supplement.claims}
    page = read(supplement)

    assert rows[SECOND] == "Sparrow, 2.1-2026-09-30"
    assert [one for name, one in rows.items() if name != SECOND] == [None]
    assert "(earlier version)" in page, "the rows of that version are under its name"
    assert "Sparrow, 2.1-2026-09-30" in page


def test_an_older_revision_is_not_told_to_be_carried_again() -> None:
    """Its newer one stands, whatever else may have made it stale."""
    update = Update()
    newer = StaleCause(kind=CauseKind.REVISION, what=SECOND, entry=update.carrying.entry.seq, text="the claim has a newer revision, @2")
    status = replace(update.potential().status, causes=(newer, update.cause(CauseKind.SUCCESSOR)))
    rows = list_causes(status, (), (), claim=FIRST)

    assert [one.remedy for one in rows] == ["read the newer revision", None]


def test_locks_about_another_model_version_are_no_choice() -> None:
    """Counted are locked audits of revisions about the same version, also of later ones than the one that is drawn."""
    other = inverted()
    file = other.audits[1]
    audit = replace(file.audit, payload=replace(file.audit.payload, audit="AUD-INST-2026-0099-X", claim=SECOND))
    revised = replace(other.current, payload=replace(other.current.payload, revision=2, why="again"))
    carried = replace(revised, payload=replace(revised.payload, model=NEXT))
    again = replace(file, audit=audit, restrictions=tuple(replace(one) for one in file.restrictions))

    def tell(*later: Recorded[ClaimRevision]) -> str | None:
        supplement = draw(replace(other, audits=(file, again), later=later))
        return describe_locks(supplement.audit, supplement.other_audits, supplement.claim.payload.model)

    assert tell(carried) is None
    assert (tell(revised) or "").startswith("One of 2 locked audits of this claim, each of the others with an outcome.")


def test_a_claim_about_one_version_was_not_carried() -> None:
    """However often it was revised."""
    update = Update()
    again = replace(update.carrying, payload=replace(update.carrying.payload, model=MODEL))

    assert find_carry((*update.base.revisions, again)) is None


def test_what_was_found_of_the_earlier_version_stands_in_the_history_alone() -> None:
    """With the file of the revision it is of."""
    page = read(draw(Update().carried()))
    history = page.partition("History and disputes Needs review")[2] or page.rpartition("History and disputes")[2]

    assert "Inverted: in deployment-like contexts" not in read_first_page(draw(Update().carried()))
    assert f"of {FIRST}" in history
    assert "inverted" in history


def test_a_renewed_audit_names_what_it_carries_out_again() -> None:
    """With the revision that was audited then, where the registry tells of it."""
    base = inverted()
    *others, last = base.audits
    renewed = others[0].audit.payload.audit
    opening = replace(last.audit, payload=replace(last.audit.payload, renews=renewed))

    page = read(assemble_claim(replace(base, audits=(*others, replace(last, audit=opening))), made_at=MADE_AT))

    assert f"A renewal. This audit repeats the locked plan of {renewed} again, which was of {FIRST}. The registry compared" in page
    assert "Rules, budget and notes are quoted from that plan" in page


def test_whatever_a_person_wrote_stays_text() -> None:
    """Markup, controls and direction overrides in reasons for decisions, carrying and deprecation are shown."""
    update = Update(why=HOSTILE)
    drawn = [draw(update.stale()), draw(update.carried()), draw_card(update.stale(), undetermined())]
    superseded = replace(drawn[0], superseded=replace(update.superseded(), why=(HOSTILE,)))

    for one in (*drawn, superseded):
        html = render_html(one).decode().partition('<script type="application/json"')[0]
        assert "<script>" not in html
        assert "<img" not in html
        assert not set(BANS) & set(html)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in render_html(superseded).decode()


def test_a_card_counts_what_is_stale() -> None:
    """In its head, and claim by claim with the reason."""
    update = Update()
    page = read(draw_card(update.stale(), undetermined(), update.potential()))

    assert "Needs review: 3 of 3 claims, 1 confirmed stale." in page
    assert f"{MODEL} was deprecated, and 1 more" in page


def test_a_card_without_stale_claims_says_that() -> None:
    """Nought of them, and no word of confirmed ones."""
    page = read(draw_card(inverted()))

    assert "Needs review" not in page
    assert "confirmed stale" not in page
