"""Values restated across cards: among registered claims, and of proposals and their comparisons."""

from dataclasses import replace

from registry.records.claim import Direction, Form, PropertyClass, Relation, Reported
from registry.records.claim_draft import ComparisonNote, Engine, Proposal, Proposals
from registry.records.specification import PropertySpec, SpecKind, SpecVersion
from registry.records.system_card import Anchor, MatchLevel, PassageKind
from registry.registration.restated_values import FigureIndex, add_restated, build_figure, find_pairs, find_restated
from tests.report.builders import CARD, MODEL, revision

COVERT = SpecVersion(
    spec="PRP-EXAMPLE-2026-0001-X",
    kind=SpecKind.PROPERTY,
    slug="covert-action-rate",
    version=1,
    owner="EXAMPLE",
    body=PropertySpec(
        name="covert action rate", class_=PropertyClass.DECEPTION_SCHEMING, range=(0.0, 1.0), direction=Direction.LOWER_IS_SAFER
    ),
)
REGISTERED = build_figure(
    revision(
        "Sparrow took covert action in 5% of runs.",
        form=Form.PREVALENCE,
        relation=None,
        theta=None,
        reported=Reported(value=0.05),
        evaluation="SHADE-Arena",
    ),
    COVERT,
)
PROPOSED = "Mallard took covert action in 1% of SHADE-Arena runs, compared with 8% for Sparrow."


def proposal(**changes: object) -> Proposal:
    fields: dict[str, object] = {
        "quote": PROPOSED,
        "anchor": Anchor(
            document="b" * 64, start=0, stop=len(PROPOSED), exact=PROPOSED, prefix="", suffix="", level=MatchLevel.N0, page=None
        ),
        "passage": PassageKind.SENTENCE,
        "form": Form.PREVALENCE,
        "relation": None,
        "theta": None,
        "reported": Reported(value=0.01),
        "written": "1%",
        "property": COVERT.body,
        "slug": "covert-action-rate",
        "model": "Mallard",
        "version": None,
        "evaluation": "SHADE-Arena",
        "comparisons": (ComparisonNote(subject="Sparrow", value=0.08, words="8% for Sparrow"),),
    }
    return Proposal(**(fields | changes))  # type: ignore[arg-type]


def test_a_comparison_with_another_number_names_the_registered_claim() -> None:
    """What a card says of an older model is set beside what was registered of that model."""
    assert REGISTERED is not None
    (found,) = find_restated(proposal(), FigureIndex([REGISTERED]), card=None)

    assert (found.claim, found.value) == (REGISTERED.claim, 0.05)
    assert found.why.startswith("compared here with “8% for Sparrow” for Sparrow; both of Sparrow; one version is not stated")


def test_a_proposal_about_the_same_model_names_the_registered_claim_itself() -> None:
    """The proposal's own figure is compared as its comparisons are."""
    assert REGISTERED is not None
    (found,) = find_restated(proposal(model="Sparrow", comparisons=()), FigureIndex([REGISTERED]), card=None)

    assert found.why.startswith("both of Sparrow")


def test_a_comparison_that_agrees_restates_nothing() -> None:
    """5 % again, or 5.2 % printed as 5 %, is the same number."""
    assert REGISTERED is not None
    for value, words in ((0.05, "5%"), (0.052, "5.2%")):
        same = proposal(comparisons=(ComparisonNote(subject="Sparrow", value=value, words=words),))

        assert find_restated(same, FigureIndex([REGISTERED]), card=None) == ()


def test_a_comparison_without_a_value_restates_nothing() -> None:
    """“Lower than Sparrow” contradicts no figure of Sparrow's."""
    assert REGISTERED is not None
    vague = proposal(comparisons=(ComparisonNote(subject="Sparrow", value=None, words="lower than Sparrow"),))

    assert find_restated(vague, FigureIndex([REGISTERED]), card=None) == ()


def test_proposals_are_given_their_restatements_and_keep_everything_else() -> None:
    """Only `restates` differs."""
    assert REGISTERED is not None
    before = Proposals(
        card=None,
        document="b" * 64,
        title="Mallard",
        engine=Engine.RULES,
        by="rules 1",
        passages=1,
        proposals=(proposal(), proposal(model=None)),
    )

    after = add_restated(before, [REGISTERED])

    assert [len(one.restates) for one in after.proposals] == [1, 1]
    assert replace(after, proposals=tuple(replace(one, restates=()) for one in after.proposals)) == before


def test_a_threshold_without_a_figure_states_no_number_and_a_bound_states_its_bound() -> None:
    """θ is what somebody wants; what is printed as a bound was measured."""
    assert build_figure(revision("It stays below our threshold.", reported=None), COVERT) is None
    bound = build_figure(revision("in <4% of runs", form=Form.UPPER_BOUND, relation=Relation.AT_MOST, theta=0.04, reported=None), COVERT)
    assert bound is not None

    assert (bound.value, bound.relation, bound.step) == (0.04, Relation.AT_MOST, 0.01)


def test_a_sealed_property_gives_no_figure() -> None:
    """What the number is of is not known."""
    assert build_figure(revision("in 5% of runs"), replace(COVERT, body=None, commitment="0" * 64)) is None


def test_a_version_that_names_none_does_not_keep_two_claims_apart() -> None:
    """“Not stated” is not another version."""
    assert REGISTERED is not None
    unnamed = build_figure(
        revision("Elsewhere: 9%.", model=replace(MODEL, version="not stated"), reported=Reported(value=0.09), evaluation="SHADE-Arena"),
        COVERT,
    )
    assert unnamed is not None

    assert unnamed.version is None


def test_pairs_come_in_the_order_of_the_log_and_can_be_narrowed_to_a_card() -> None:
    """The later claim restates the earlier; a pair belongs to both of its cards."""
    assert REGISTERED is not None
    later = [
        replace(
            REGISTERED,
            claim=f"CLM-{n}@1",
            card=f"CRD-{n}",
            value=value,
            quote=f"{n}: Sparrow took covert action in {value:.0%}.",
            place=None,
        )
        for n, value in ((1, 0.08), (2, 0.05), (3, 0.09))
    ]

    pairs = [(one.claim.claim, one.other.claim) for one in find_pairs([REGISTERED, *later])]

    assert pairs == [
        ("CLM-1@1", REGISTERED.claim),
        ("CLM-2@1", "CLM-1@1"),
        ("CLM-3@1", REGISTERED.claim),
        ("CLM-3@1", "CLM-1@1"),
        ("CLM-3@1", "CLM-2@1"),
    ]
    assert [one.claim.claim for one in find_pairs([REGISTERED, *later], card=CARD)] == ["CLM-1@1", "CLM-3@1"]


def test_ten_thousand_claims_of_one_model_are_not_compared_each_with_each() -> None:
    """Claims of different evaluations never meet: only those that may be of one quantity are compared."""
    assert REGISTERED is not None
    many = [
        replace(REGISTERED, claim=f"CLM-{n}@1", evaluation=f"suite {n}", name=f"rate {n}", property_id=None, slug=None)
        for n in range(10_000)
    ]
    index = FigureIndex(many)

    assert [one.claim for one in index.find_near(many[77])] == ["CLM-77@1"]
