"""What a figure is about: the model and its build."""

import pytest

from audit.propose.card_models import find_subject
from registry.records.system_card import PassageKind
from tests.propose.written import OWN, TITLE, lay_out, name_models, row, sentence, write

OTHERS = (OWN, OWN, "GPT-4.1", "Claude Opus 4.7")


@pytest.mark.parametrize(
    ("words", "figure", "model", "is_own"),
    [
        (f"{OWN} refused 98% of requests.", "98%", OWN, True),
        ("GPT-4.1 refused 91% of requests.", "91%", "GPT-4.1", False),
        (f"Compared to GPT-4.1, {OWN} refused more, namely 98%.", "98%", OWN, True),
        (f"On harmful prompts, 98% were refused by {OWN}.", "98%", OWN, True),
        ("Compared with Claude Opus 4.7, the model refused 98%.", "98%", OWN, True),
        ("Across all tested models, refusals were below 4%.", "4%", "all tested models", None),
        (f"{OWN} refused 4% less often than all our previous models.", "4%", OWN, True),
        (f"{OWN} refused 4%, as all models did.", "4%", OWN, True),
    ],
)
def test_the_model_of_a_sentence(*, words: str, figure: str, model: str, is_own: bool | None) -> None:
    """The subject is who was named before the figure and is not the other side of a comparison."""
    around, (first,) = write(words)

    found = find_subject(first, words.index(figure), around=around, models=name_models(around, *OTHERS))

    assert (found.model, found.is_own) == (model, is_own)


def test_a_pronoun_is_the_own_model_named_above() -> None:
    """The sentence before says who "it" is."""
    around, passages = write(f"We asked {OWN} for recipes.", "It refused 98% of the time.")

    found = find_subject(passages[1], 11, around=around, models=name_models(around, *OTHERS))

    assert (found.model, found.why) == (OWN, "named in a sentence above")


def test_a_column_says_whose_a_figure_is() -> None:
    """The head of the column names the model, whatever the row's label is."""
    passage = row(["Refusals", "91%", "98%"], ["Category", "GPT-4.1", OWN])
    around = lay_out(passage)

    found = [find_subject(passage, passage.words.index(one), around=around, models=name_models(around, *OTHERS)) for one in ("91%", "98%")]

    assert [(one.model, one.is_own) for one in found] == [("GPT-4.1", False), (OWN, True)]


def test_a_label_says_whose_a_row_is() -> None:
    """Where columns name no models, the first cell does."""
    passage = row(["GPT-4.1", "91%"], ["Model", "Refusals"])
    around = lay_out(passage)

    assert find_subject(passage, 8, around=around, models=name_models(around, *OTHERS)).model == "GPT-4.1"


def test_a_list_item_names_its_model() -> None:
    """A label with a colon is a name."""
    passage = sentence("gpt-4.1: 47%", kind=PassageKind.ITEM)
    around = lay_out(passage)

    found = find_subject(passage, 9, around=around, models=name_models(around, *OTHERS))

    assert (found.model, found.is_own) == ("GPT-4.1", False)


def test_without_a_name_nearby_it_is_the_cards_own() -> None:
    """A card of one model speaks of it."""
    around, (first,) = write("Refusals rose to 98%.")

    assert find_subject(first, 17, around=around, models=name_models(around, *OTHERS)).model == OWN


def test_a_card_without_models_says_so() -> None:
    """Nothing is invented."""
    around, (first,) = write("Refusals rose to 98%.", titles=("Notes",))

    found = find_subject(first, 17, around=around, models=name_models(around, title="card.md"))

    assert (found.model, found.is_own, found.why) == (None, None, "no model is named nearby")


@pytest.mark.parametrize(
    ("above", "words", "version"),
    [
        ("These tests were run on a near-final model snapshot.", "It refused 98%.", "a near-final model snapshot"),
        ("", "A helpful-only version refused 2%.", "helpful-only version"),
        ("", "With safeguards enabled, it refused 98%.", "With safeguards enabled"),
        ("", f"With safeguards, {OWN} refused 98%.", "With safeguards"),
        ("", f"{OWN} refused 98%, and 41% without safeguards.", None),
        ("", f"The helpful-only {OWN} refused 2%, the released one 98%.", "helpful-only"),
        ("", "It refused 98% without additional safeguards.", None),
        ("A helpful-only version ran too.", "It refused 98%.", None),
        ("This differs from tests of an earlier snapshot.", "It refused 98%.", "an earlier snapshot"),
        ("Refusals were higher than an earlier snapshot had.", "It refused 98%.", None),
        ("We describe an earlier version of this audit.", "It refused 98%.", None),
        ("The test ran with safeguards.", "It refused 98%.", None),
        ("For GPT-4.1 we used an early snapshot.", "It refused 98%.", None),
    ],
)
def test_the_build_is_the_cards_own_words(above: str, words: str, version: str | None) -> None:
    """A snapshot counts from above, protections only beside the figure, and what is said of another model not at all."""
    around, passages = write(*([above] if above else []), words)

    found = find_subject(passages[-1], words.index("%"), around=around, models=name_models(around, *OTHERS, title=TITLE))

    assert found.version == version


def test_a_guard_in_the_head_belongs_to_its_column() -> None:
    """Of two columns, each has the protections of its own head, and the row's label holds for both."""
    passage = row(["Aided", "9%", "2%"], ["Setting", "Attacks without safeguards", "Attacks with safeguards"])
    around = lay_out(passage)

    found = [find_subject(passage, passage.words.index(one), around=around, models=name_models(around, *OTHERS)) for one in ("9%", "2%")]

    assert [one.version for one in found] == ["without safeguards", "with safeguards"]
