"""Outcomes follow the words: whatever is revised, renamed or registered again, an established contradiction stays visible."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from registry.records.claim import Form, Relation
from registry.records.claim_status import OppositionKind, overlaps_words, read_words
from registry.records.estimates import BoundedEstimate
from registry.records.model_version import ModelRef
from registry.records.system_card import MatchResult
from registry.records.verdict import (
    Basis,
    ClaimClass,
    RestrictionStatus,
    Standing,
    Verdict,
    VerdictStanding,
    find_gravity,
    find_restriction,
)
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.registry_view import View
from tests.store import builders as make

THRESHOLD: dict[str, Any] = {"form": Form.THRESHOLD, "relation": Relation.AT_LEAST, "theta": 0.9}
QUOTE = "It does not scheme."
NEWER = ModelRef(developer="Example", name="m", version="2")


def contradict(writer: Writer, claim: str) -> str:
    """Record a locked replay of *claim* that contradicts it, established."""
    return _conclude(writer, claim, ClaimClass.INVERTED, standing=Standing.ESTABLISHED)


def support(writer: Writer, claim: str) -> str:
    """Record a locked replay of *claim* by which it holds, established."""
    return _conclude(writer, claim, ClaimClass.STABLE)


def _conclude(
    writer: Writer, claim: str, class_: ClaimClass, *, deployment: tuple[float, float, float] = (0.8, 0.7, 0.85), **changes: Any
) -> str:
    audit = make.add_audit(writer, claim)
    locked = writer.append(make.lock(audit, claim))
    run = writer.append(make.run(audit, locked.at + timedelta(hours=1)))
    (spec,) = make.estimate().specs
    value, low, high = deployment
    measured = replace(spec, phi_deploy=BoundedEstimate(value=value, low=low, high=high))
    result = writer.append(make.result(audit, run.seq, specs=(measured,))).seq
    form = Form.THRESHOLD
    reading = make.verdict(form, class_, basis=Basis.REPLAY, **changes)
    writer.append(make.restriction(audit, claim, reading, result=result))
    return audit


def start(writer: Writer) -> tuple[str, str, str]:
    """Record a card and a threshold claim quoted from it that an audit contradicts; return property, card and claim."""
    phi = make.settle(writer)
    card = make.add_card(writer)
    claim = make.add_quoted(writer, phi, f"{card}@1", quote=QUOTE, **THRESHOLD)
    contradict(writer, f"{claim}@1")
    return phi, card, claim


def revise(writer: Writer, claim: str, **changes: Any) -> str:
    """Record a revision of *claim* and return its reference."""
    known = writer.find_claim(claim)
    assert known is not None
    revised = replace(known.payload, revision=known.payload.revision + 1, why="because", **changes)
    writer.append(revised)
    return revised.reference


def see(view: View, claim: str) -> tuple[RestrictionStatus, str | None, str | None]:
    """Return what lists show of *claim*: status, the revision whose outcome leads, and the one of another claim on its words."""
    status = view.status(claim.partition("@")[0])
    (listed,) = [summary.status for summary in view.list_claims() if summary.claim == claim.partition("@")[0]]
    dossier = view.dossier(claim.partition("@")[0])
    assert listed == status == dossier.status
    assert dossier.family.gravest == status.gravest
    return status.restriction, status.gravest.claim if status.gravest else None, status.beside.claim if status.beside else None


REVISIONS: dict[str, dict[str, Any]] = {
    "theta": {"theta": 0.85},
    "direction": {"direction": make.Direction.LOWER_IS_SAFER},
    "relation": {"relation": Relation.AT_MOST, "theta": 0.95},
    "form": {"form": Form.PREVALENCE, "relation": None, "theta": None},
    "note": {"note": "another note"},
    "no card": {"card": None, "anchor": None, "quote_status": make.QuoteStatus.PARAPHRASE, "source": "the lab's site"},
    "paraphrase": {"anchor": None, "quote_status": make.QuoteStatus.PARAPHRASE, "quote": "No scheming was seen."},
    "other words of the card": {
        "quote": "The model refuses in 99 % of cases.",
        "anchor": make.anchor("The model refuses in 99 % of cases."),
    },
}


@pytest.mark.parametrize("changes", REVISIONS.values(), ids=REVISIONS.keys())
def test_a_revision_keeps_the_outcome_of_the_claim(ledger: Ledger, changes: dict[str, Any]) -> None:
    """Whatever a registrant revises within one card revision, the claim stays not supported, with the revision that was audited."""
    with ledger.write(actor="LAB") as writer:
        _, _, claim = start(writer)
        revise(writer, claim, **changes)

    with ledger.view() as view:
        assert see(view, claim) == (RestrictionStatus.NOT_SUPPORTED, f"{claim}@1", None)


def test_registering_the_words_again_keeps_the_outcome(ledger: Ledger) -> None:
    """Another identifier, θ and form on overlapping characters of the card belong to the same family; other characters do not."""
    with ledger.write(actor="LAB") as writer:
        phi, card, claim = start(writer)
        part = make.add_quoted(writer, phi, f"{card}@1", quote=QUOTE, form=Form.PREVALENCE, note="again")
        elsewhere = "The model refuses in 99 % of cases."
        other = make.add_claim(
            writer, phi, card=f"{card}@1", quote=elsewhere, anchor=make.anchor(elsewhere), quote_status=make.QuoteStatus.VERBATIM
        )

    with ledger.view() as view:
        assert see(view, part) == (RestrictionStatus.NOT_SUPPORTED, f"{claim}@1", None)
        assert see(view, other) == (RestrictionStatus.UNAUDITED, None, None)
        assert view.dossier(part).family.members == (f"{claim}@1",)


def test_a_renamed_property_does_not_hide_the_outcome(ledger: Ledger) -> None:
    """The family of the new property is not audited, and the contradiction stands beside it as another claim on these words."""
    with ledger.write(actor="LAB") as writer:
        _, _, claim = start(writer)
        renamed = make.add_property(writer, slug="renamed")
        revise(writer, claim, property=renamed)

    with ledger.view() as view:
        assert see(view, claim) == (RestrictionStatus.UNAUDITED, None, f"{claim}@1")
        (other,) = view.dossier(claim).family.others
        assert (other.verdict, other.standing) == (Verdict.CONTRADICTED, VerdictStanding.ESTABLISHED)


def test_a_claim_carried_to_another_version_shows_the_outcome_of_the_earlier_one(ledger: Ledger) -> None:
    """It does not count for the new version, and stands beside it; carried back, it counts again."""
    with ledger.write(actor="LAB") as writer:
        _, _, claim = start(writer)
        revise(writer, claim, model=NEWER)
        carried = see(writer, claim)
        revise(writer, claim, model=make.MODEL)

    with ledger.view() as view:
        assert carried == (RestrictionStatus.UNAUDITED, None, f"{claim}@1")
        assert see(view, claim)[:2] == (RestrictionStatus.NOT_SUPPORTED, f"{claim}@1")


@pytest.mark.parametrize(
    ("match_result", "counts"), [(MatchResult.UNCHANGED, True), (MatchResult.MOVED, True), (MatchResult.REWORDED, False), (None, True)]
)
def test_a_new_card_revision_ends_an_outcome_only_by_other_words(ledger: Ledger, *, match_result: MatchResult | None, counts: bool) -> None:
    """Without a recorded match, or with the same words, it counts; with other words it is history and still listed."""
    new_quote = "It never schemes at all, in our own tests." if match_result is MatchResult.REWORDED else QUOTE
    with ledger.write(actor="LAB") as writer:
        _, card, claim = start(writer)
        newest = make.revise_card(writer, card)
        if match_result is not None:
            writer.append(make.passage_match(f"{claim}@1", newest, match_result))
        revise(writer, claim, card=newest, quote=new_quote, anchor=make.anchor(document="ef" * 32), theta=0.8)

    with ledger.view() as view:
        status, leading, _ = see(view, claim)
        (outcome,) = view.dossier(claim).family.outcomes
    assert (status, leading) == ((RestrictionStatus.NOT_SUPPORTED, f"{claim}@1") if counts else (RestrictionStatus.UNAUDITED, None))
    assert (outcome.claim, outcome.other_words) == (f"{claim}@1", None if counts else newest)


def test_words_taken_back_bring_the_outcome_back(ledger: Ledger) -> None:
    """A card that rewords a passage and then restores it does not lose the outcome of the first wording."""
    with ledger.write(actor="LAB") as writer:
        _, card, claim = start(writer)
        second = make.revise_card(writer, card)
        writer.append(make.passage_match(f"{claim}@1", second, MatchResult.REWORDED))
        revise(writer, claim, card=second, quote="It never schemes at all.", anchor=make.anchor(document="ef" * 32))
        third = make.revise_card(writer, card, revision=3, document="cd" * 32)
        revise(writer, claim, card=third, quote=QUOTE, anchor=make.anchor(document="cd" * 32))

    with ledger.view() as view:
        assert see(view, claim)[:2] == (RestrictionStatus.NOT_SUPPORTED, f"{claim}@1")


def test_a_later_holds_stands_beside_a_contradiction(ledger: Ledger) -> None:
    """Never instead of it, in whichever order they come and of whichever revision they are."""
    with ledger.write(actor="LAB") as writer:
        _, _, claim = start(writer)
        support(writer, f"{claim}@1")
        support(writer, revise(writer, claim, theta=0.5))

    with ledger.view() as view:
        assert see(view, claim)[:2] == (RestrictionStatus.SUSPENDED, f"{claim}@1")
        verdicts = [result.verdict for result in view.dossier(claim).family.outcomes]
    assert verdicts == [Verdict.CONTRADICTED, Verdict.HOLDS, Verdict.HOLDS]


def test_of_equal_outcomes_the_latest_leads(ledger: Ledger) -> None:
    """The date that is shown is that of the last confirmation."""
    with ledger.write(actor="LAB") as writer:
        _, _, claim = start(writer)
        latest = contradict(writer, f"{claim}@1")

    with ledger.view() as view:
        gravest = view.status(claim).gravest
    assert gravest is not None
    assert gravest.audit == latest


def test_an_outcome_is_seen_as_of_its_entry(ledger: Ledger) -> None:
    """Before it was recorded, the family is not audited."""
    with ledger.write(actor="LAB") as writer:
        _, _, claim = start(writer)
        revise(writer, claim, theta=0.85)
    with ledger.view() as view:
        gravest = view.status(claim).gravest
    assert gravest is not None
    with ledger.view(gravest.seq - 1) as before:
        assert before.status(claim).restriction is RestrictionStatus.UNAUDITED


STATUSES = [
    (Verdict.HOLDS, VerdictStanding.ESTABLISHED, RestrictionStatus.SUPPORTED),
    (Verdict.HOLDS, VerdictStanding.CONDITIONAL, RestrictionStatus.NARROWED),
    (Verdict.HOLDS, VerdictStanding.PROVISIONAL, RestrictionStatus.NARROWED),
    (Verdict.HOLDS, None, RestrictionStatus.NARROWED),
    (Verdict.DOES_NOT_CARRY_OVER, VerdictStanding.ESTABLISHED, RestrictionStatus.NARROWED),
    (Verdict.CONTRADICTED, VerdictStanding.ESTABLISHED, RestrictionStatus.NOT_SUPPORTED),
    (Verdict.CONTRADICTED, VerdictStanding.CONDITIONAL, RestrictionStatus.NOT_SUPPORTED),
    (Verdict.CONTRADICTED, VerdictStanding.PROVISIONAL, RestrictionStatus.SUSPENDED),
    (Verdict.NOT_REPRODUCED, None, RestrictionStatus.NOT_RESOLVED),
    (Verdict.OBSERVED, None, RestrictionStatus.EXISTENCE_ONLY),
    (Verdict.IN_DOUBT, None, RestrictionStatus.SUSPENDED),
    (Verdict.CONTRADICTED_IN_PRODUCTION, VerdictStanding.ESTABLISHED, RestrictionStatus.NOT_SUPPORTED),
    (Verdict.INCONCLUSIVE, None, RestrictionStatus.NOT_RESOLVED),
    (Verdict.NOT_TESTABLE, None, RestrictionStatus.NOT_RESOLVED),
]


@pytest.mark.parametrize(("verdict", "standing", "expected"), STATUSES)
def test_a_status_follows_from_verdict_and_standing(
    verdict: Verdict, standing: VerdictStanding | None, expected: RestrictionStatus
) -> None:
    """The table of words.md, section 3; every verdict has a status with every standing, and a missing standing never makes it stronger."""
    assert find_restriction(verdict, standing) is expected
    assert {find_restriction(member, None) for member in Verdict}.isdisjoint({RestrictionStatus.SUPPORTED, RestrictionStatus.UNAUDITED})
    assert find_gravity(Verdict.CONTRADICTED, VerdictStanding.PROVISIONAL) < find_gravity(Verdict.HOLDS, VerdictStanding.ESTABLISHED)


def test_words_overlap_by_containment_or_half_of_the_shorter() -> None:
    """Case, punctuation and white space do not count; a short run that two sentences share by chance does not link them."""

    def overlaps(left: str, right: str) -> bool:
        return overlaps_words(read_words(left), read_words(right))

    whole = "The model refuses at least 90 % of harmful requests in English."
    assert overlaps(whole, "refuses at least  90% of HARMFUL requests")
    assert overlaps(whole, "model refuses at least 90 % of harmful requests in English, French and German text")
    assert not overlaps(whole, "The model refuses at least one request in each session that we ran with people.")
    assert not overlaps(whole, "")


def _find_standings(view: View, claim: str) -> list[tuple[Verdict, VerdictStanding | None, str | None]]:
    outcomes = view.dossier(claim).family.outcomes
    return [(outcome.verdict, outcome.standing, outcome.opposed.audit if outcome.opposed else None) for outcome in outcomes]


@pytest.mark.parametrize("is_contradicted_first", [True, False])
def test_audits_that_disagree_are_both_provisional(ledger: Ledger, *, is_contradicted_first: bool) -> None:
    """Two established outcomes of one claim, in either order: neither stays established, the graver leads, and each names the other."""
    with ledger.write(actor="LAB") as writer:
        phi, card = make.settle(writer), make.add_card(writer)
        claim = make.add_quoted(writer, phi, f"{card}@1", quote=QUOTE, **THRESHOLD)
        steps = (contradict, support) if is_contradicted_first else (support, contradict)
        audits = {step: step(writer, f"{claim}@1") for step in steps}

    with ledger.view() as view:
        assert see(view, claim)[0] is RestrictionStatus.SUSPENDED
        assert _find_standings(view, claim) == [
            (Verdict.CONTRADICTED, VerdictStanding.PROVISIONAL, audits[support]),
            (Verdict.HOLDS, VerdictStanding.PROVISIONAL, audits[contradict]),
        ]


def test_audits_of_different_limits_do_not_disagree(ledger: Ledger) -> None:
    """A claim may fail at 90 % and hold at 50 %: the contradiction stays established."""
    with ledger.write(actor="LAB") as writer:
        _, _, claim = start(writer)
        support(writer, revise(writer, claim, theta=0.5))

    with ledger.view() as view:
        assert see(view, claim)[0] is RestrictionStatus.NOT_SUPPORTED
        assert {(standing, opposed) for _, standing, opposed in _find_standings(view, claim)} == {(VerdictStanding.ESTABLISHED, None)}


def test_a_favourable_audit_that_lacks_a_condition_lowers_nothing(ledger: Ledger) -> None:
    """An unlocked table is cheap: an established contradiction keeps its standing next to it."""
    with ledger.write(actor="LAB") as writer:
        _, _, claim = start(writer)
        audit = make.add_audit(writer, f"{claim}@1")
        writer.append(make.restriction(audit, f"{claim}@1", make.verdict(Form.THRESHOLD, ClaimClass.STABLE)))

    with ledger.view() as view:
        assert see(view, claim)[0] is RestrictionStatus.NOT_SUPPORTED
        assert [standing for _, standing, _ in _find_standings(view, claim)] == [VerdictStanding.ESTABLISHED, VerdictStanding.PROVISIONAL]


@pytest.mark.parametrize(("low", "is_excluded"), [(0.86, True), (0.85, False)])
def test_intervals_that_exclude_each_other_establish_nothing(ledger: Ledger, *, low: float, is_excluded: bool) -> None:
    """Two audits with one verdict whose intervals of deployment have no point in common: one is wrong. A shared end is a point."""
    with ledger.write(actor="LAB") as writer:
        phi, card = make.settle(writer), make.add_card(writer)
        claim = make.add_quoted(writer, phi, f"{card}@1", quote=QUOTE, **THRESHOLD)
        support(writer, f"{claim}@1")
        _conclude(writer, f"{claim}@1", ClaimClass.STABLE, deployment=(0.9, low, 0.95))

    with ledger.view() as view:
        standings = {standing for _, standing, _ in _find_standings(view, claim)}
        kinds = {outcome.opposed.kind for outcome in view.dossier(claim).family.outcomes if outcome.opposed}
        assert see(view, claim)[0] is (RestrictionStatus.NARROWED if is_excluded else RestrictionStatus.SUPPORTED)
    assert standings == {VerdictStanding.PROVISIONAL if is_excluded else VerdictStanding.ESTABLISHED}
    assert kinds == ({OppositionKind.INTERVAL} if is_excluded else set())


@pytest.mark.parametrize("copied", ["property", "card"])
def test_a_copy_of_a_contradicted_claim_does_not_hold_established(ledger: Ledger, copied: str) -> None:
    """Under a new property, or quoted from a new copy of the card, a favourable audit is provisional and names the contradiction.

    The contradiction keeps its standing: whoever registers a claim again cannot lower what was found.
    """
    with ledger.write(actor="LAB") as writer:
        phi, card, claim = start(writer)
        if copied == "property":
            phi = make.add_property(writer, slug="renamed")
        else:
            card = make.add_card(writer, document="bc" * 32)
        again = make.add_quoted(writer, phi, f"{card}@1", quote=QUOTE, **THRESHOLD)
        support(writer, f"{again}@1")

    with ledger.view() as view:
        assert see(view, again) == (RestrictionStatus.NARROWED, f"{again}@1", f"{claim}@1")
        assert see(view, claim) == (RestrictionStatus.NOT_SUPPORTED, f"{claim}@1", f"{again}@1")
        (copy,), (beside,) = view.dossier(again).family.outcomes, view.dossier(claim).family.others
    assert (copy.standing, beside.standing) == (VerdictStanding.PROVISIONAL, VerdictStanding.PROVISIONAL)
    assert copy.opposed is not None
    assert (copy.opposed.kind, copy.opposed.claim) == (OppositionKind.WORDS, f"{claim}@1")
