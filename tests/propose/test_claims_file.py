"""Proposals as the file that people edit and `caveat claim add` takes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.propose.proposed_claims_file import NOT_STATED, ClaimsSheet, DraftEntry, KnownModels, build_entries, build_survey, render_sheet
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import parse_document
from registry.records.claim import Form, Reported
from registry.records.claim_draft import ClaimDraft, ClaimsFile, OmissionDraft, Proposal, Proposals, RestatedFigure
from registry.records.model_version import ModelRef
from registry.records.system_card import CardText
from tests.examples import scale
from tests.propose.made import ACCURACY, CAUTIONS, MODEL, WORKING, propose_example, read_example

KNOWN = KnownModels(publisher="Example Lab")


@pytest.fixture(scope="module")
def card() -> CardText:
    return read_example()


@pytest.fixture(scope="module")
def proposals(card: CardText) -> Proposals:
    return propose_example(card)


def build(proposals: tuple[Proposal, ...], known: KnownModels = KNOWN, **fields: object) -> ClaimsSheet:
    default = known.choose_default(proposals)
    given = {"head": (), "card": "CRD-X", "model": default, "entries": build_entries(proposals, known, default), **fields}
    return ClaimsSheet(**given)  # type: ignore[arg-type]


def read(text: str) -> ClaimsFile:
    return from_document(ClaimsFile, parse_document(text, where="claims.yaml"), where="claims.yaml")


def test_the_claims_come_back_in_the_order_and_words_of_the_card(proposals: Proposals) -> None:
    """What is read from the file is what was proposed."""
    file = read(render_sheet(build(proposals.proposals)))

    assert [one.quote for one in file.claims] == [one.quote for one in proposals.proposals]
    assert [one.form for one in file.claims] == [one.form for one in proposals.proposals]
    assert file.claims[0].reported == Reported(value=0.573, low=0.44, high=0.706, n=96)
    assert file.claims[1].theta == 0.667
    assert file.model == ModelRef(developer="Example Lab", name=MODEL, version=NOT_STATED)
    assert file.properties is not None
    assert file.properties[file.claims[2].property] == WORKING


def test_equal_properties_stand_once_and_other_ones_get_a_number(proposals: Proposals) -> None:
    """One short name never stands for two properties, here or in the registry."""
    file = read(render_sheet(build(proposals.proposals, registered={"working": ACCURACY, "accuracy": ACCURACY})))

    assert file.properties is not None
    assert set(file.properties) == {"accuracy", "working-2", "cautions", "cautions-2"}
    assert file.properties["cautions"] == CAUTIONS


def test_nothing_in_a_card_breaks_out_of_a_comment(proposals: Proposals) -> None:
    """Line ends and signs in notes, titles and quotes nearby leave the claims as they are."""
    hostile = "x\nclaims: []\r\n\x85schema: y\u2028- z\x1b[31m"
    changed = tuple(
        replace(one, notes=(hostile,), written=hostile, anchor=replace(one.anchor, section=hostile)) for one in proposals.proposals
    )

    text = render_sheet(build(changed, head=(hostile,)))

    assert len(read(text).claims) == len(changed)
    assert "\x1b" not in text


@settings(max_examples=scale(40))
@given(hostile=st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_no_text_whatever_breaks_out_of_a_comment(proposals: Proposals, hostile: str) -> None:
    """A law, for comments of any characters."""
    sheet = build(proposals.proposals[:1])

    text = render_sheet(replace(sheet, head=(hostile,), entries=(replace(sheet.entries[0], comments=(hostile,)),)))

    assert [one.quote for one in read(text).claims] == [proposals.proposals[0].quote]


def test_the_comments_tell_what_a_person_needs(proposals: Proposals) -> None:
    """Place, confidence, what is missing, what stands nearby."""
    text = render_sheet(build(proposals.proposals))

    assert "# 1 · 3.1 Multiple-choice questions, letter only · confidence high" in text
    assert "# not stated: grader" in text
    assert "# compared with guessing: guessing alone would score 25 %" in text
    assert "# evaluation awareness nearby: “the contexts ask for the letter of the answer” (verbalised)" in text
    assert f"# the passage names no model; taken for {MODEL}" in text


def test_the_same_words_with_another_figure_make_another_claim(proposals: Proposals) -> None:
    """A registry holds one claim for quote, property, form and model; a second figure gets a property of its own, a repetition none."""
    first = proposals.proposals[0]
    second = replace(first, reported=Reported(value=0.25))

    file = read(render_sheet(build((first, second, first, second))))

    assert [one.reported for one in file.claims] == [first.reported, 0.25]
    assert file.properties is not None
    assert [file.properties[one.property].name for one in file.claims] == [ACCURACY.name, f"{ACCURACY.name} (figure 2 of the passage)"]


def test_what_a_field_cannot_hold_stands_in_the_note(proposals: Proposals) -> None:
    """A relative bound, a threshold without a value, a figure beyond the range."""
    bound = replace(proposals.proposals[1], theta=None, relative_to="half of\nClaude's rate")
    beyond = replace(proposals.proposals[0], reported=Reported(value=12))

    file = read(render_sheet(build((bound, proposals.proposals[3], beyond))))

    assert [one.note for one in file.claims] == [
        "The bound is relative to half of Claude's rate, so there is no θ.",
        "The card does not give the threshold's value.",
        "The card's reported is 12, outside the range 0 to 1 of the property.",
    ]
    assert file.claims[2].reported is None


def test_a_model_is_the_given_one_or_registered_or_as_the_card_names_it(proposals: Proposals) -> None:
    """A name fits one that contains it; what the card does not say is not invented."""
    given = ModelRef(developer="Lab", name="Claude Haiku 4.5", version="2025-10-01")
    known = KnownModels(publisher="Lab", given=given, registered=(ModelRef(developer="Lab", name="Llama 4 Scout", version="1"),))

    assert known.resolve("haiku-4.5", None) == given
    assert known.resolve("Llama 4 Scout", None) == known.registered[0]
    assert known.resolve("Llama 4 Scout", "2") == ModelRef(developer="Lab", name="Llama 4 Scout", version="2")
    assert known.resolve("Claude Haiku 3.5", None) == ModelRef(developer="Lab", name="Claude Haiku 3.5", version=NOT_STATED)
    assert known.resolve("Haiku 4", None) == ModelRef(developer="Lab", name="Haiku 4", version=NOT_STATED)
    assert known.resolve(None, "1") is None
    assert known.choose_default(()) == given
    assert KnownModels(publisher=None).choose_default(()) == ModelRef(developer=NOT_STATED, name=NOT_STATED, version=NOT_STATED)
    assert KNOWN.choose_default(proposals.proposals).name == MODEL


def test_a_claim_about_another_model_says_so(proposals: Proposals) -> None:
    """The file's model stands for those that are about it, and for no other."""
    other = replace(proposals.proposals[0], model="Other 2", version="2026-01-01", slug="accuracy")

    file = read(render_sheet(build((*proposals.proposals, other))))

    assert [one.model for one in file.claims] == [None] * 5 + [ModelRef(developer="Example Lab", name="Other 2", version="2026-01-01")]


def test_restated_claims_survey_and_omissions_are_in_the_file(proposals: Proposals) -> None:
    """What a claim restates, which passages were proposed, and what was left out come back as they were."""
    restated = replace(
        proposals.proposals[0], restates=(RestatedFigure(claim="CLM-LAB-2026-0001-J@2", value=0.5, why="same benchmark and model"),)
    )
    omission = OmissionDraft(quote="A title:\n  not a claim", reason="It claims # nothing")

    text = render_sheet(build((restated,), proposed=build_survey(proposals), excluded=(omission,)))
    file = read(text)

    assert file.claims[0].restates == ("CLM-LAB-2026-0001-J",)
    assert "may restate CLM-LAB-2026-0001-J@2, which says 0.5" in text
    assert file.excluded == (omission,)
    assert file.proposed == build_survey(proposals)
    assert file.proposed is not None
    assert len(file.proposed.passages) == 5


def test_a_file_without_claims_can_be_read() -> None:
    """Nothing proposed is a file too."""
    file = read(render_sheet(build(())))

    assert file.claims == ()
    assert file.properties is None


def test_what_a_person_added_is_kept(proposals: Proposals) -> None:
    """Fields that no engine fills stand in the file as well."""
    filled = {"scoring": "judge", "deploy_contexts": ("chat", "agent"), "why": "because"}
    draft = ClaimDraft(quote="x y z", form=Form.EXISTENCE, property="PRP-LAB-2026-0001-J@1", **filled)

    assert read(render_sheet(replace(build(()), entries=(DraftEntry(draft=draft, spec=None),)))).claims == (draft,)
