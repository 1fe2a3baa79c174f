"""Which models a card names, and which are its own."""

import pytest
from hypothesis import example, given
from hypothesis.strategies import lists, sampled_from, text

from audit.propose.card_models import CardSource, fold_name, looks_like_model, read_models
from tests.propose.written import lay_out, row, sentence, write

NAMES = (
    "GPT-4o", "GPT-5-mini", "gpt-oss-120b", "o3", "o4-mini", "Claude Opus 4.7", "Claude 3.5 Sonnet", "Claude Nova Preview",
    "Gemini 2.5 Flash-Lite", "Gemma 3 27B", "Llama 3.3 70B Instruct", "Llama 4 Maverick", "Qwen2.5-72B-Instruct", "Mistral Large 2",
    "Mixtral 8x7B", "Phi-4", "OLMo 2 13B", "DeepSeek-R1", "DeepSeek-V3", "DeepSeek-R1-Distill-Qwen-32B", "QwQ-32B-Preview", "Grok 4",
    "Kimi K2", "GLM-4.5",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_found_whole(name: str) -> None:
    """Names of all makers are read with their versions and variants, and end where the sentence goes on."""
    around, (first,) = write(f"We compared it with {name} in every test.")
    found = read_models(around, CardSource(title="Some card", publisher=None, card=None)).find(first.words)

    assert [one.written for one in found] == [name]


@pytest.mark.parametrize(
    "words", ["See Section 4 and Table 2.", "In May 2026 we met at Tier 3.", "It scored 4.7 of 5 on Step 2.", "A 5-shot prompt."]
)
def test_what_only_looks_like_a_name_is_none(words: str) -> None:
    """Numbers of sections, tables, months and steps name no model."""
    around, (first,) = write(words)

    assert read_models(around, CardSource(title="Some card", publisher=None, card=None)).find(first.words) == ()


def test_a_figure_after_a_name_is_not_part_of_it() -> None:
    """In a row without rules between its cells the number after a name is the next cell."""
    around, (first,) = write("Llama 4 Scout 57.2 Llama 4 Maverick 69.8%")
    found = read_models(around, CardSource(title="Some card", publisher=None, card=None)).find(first.words)

    assert [one.written for one in found] == ["Llama 4 Scout", "Llama 4 Maverick"]


def test_own_are_those_of_the_title_and_their_variants() -> None:
    """A name that only begins like the title's is another model; one that continues it is a variant."""
    around, _ = write("GPT-5.2 was compared with GPT-5, GPT-5.2-mini and o3.")

    assert set(read_models(around, CardSource(title="GPT-5.2 System Card", publisher=None, card=None)).own) == {"GPT-5.2", "GPT-5.2-mini"}


def test_a_file_name_is_a_title_too() -> None:
    """A card that is not registered has the name of its file."""
    around, _ = write("Gemini 2.5 Pro outperforms GPT-4.1.")

    assert read_models(around, CardSource(title="google-gemini-2.5-pro.pdf", publisher=None, card=None)).own == ("Gemini 2.5 Pro",)


def test_a_maker_not_listed_is_known_by_repetition() -> None:
    """A capitalised name with a number that the title holds and the card repeats is a model."""
    around, _ = write("Harbour Chat 2 is small.", "Harbour Chat 2 refuses.", "We asked Harbour Chat 2.", titles=("Harbour Chat 2",))

    assert read_models(around, CardSource(title="card.md", publisher=None, card=None)).own == ("Harbour Chat 2",)


def test_short_names_mean_the_full_one() -> None:
    """Where the card has "Claude Opus 4.7", its "Opus 4.7" is the same."""
    around, passages = write("Claude Opus 4.7 is new.", "Opus 4.7 refused.")
    found = read_models(around, CardSource(title="Claude Opus 4.7", publisher=None, card=None)).find(passages[1].words)

    assert [(one.name, one.written, one.is_own) for one in found] == [("Claude Opus 4.7", "Opus 4.7", True)]


def test_spellings_of_one_name_are_one_model() -> None:
    """Case and the hyphen between its parts do not make another model."""
    around, passages = write("GPT-5.2-Codex and GPT-5.2-Codex", "gpt-5.2-codex: 47%", "GPT-5.2 Codex")
    models = read_models(around, CardSource(title="x", publisher=None, card=None))

    assert {one.name for passage in passages for one in models.find(passage.words)} == {"GPT-5.2-Codex"}


def test_a_card_without_names_has_no_models() -> None:
    """Nothing is invented."""
    around, (first,) = write("The assistant refused 98% of requests.")
    models = read_models(around, CardSource(title="card.md", publisher=None, card=None))

    assert (models.own, models.find(first.words)) == ((), ())


def test_labels_are_told_from_names() -> None:
    """A row's label is a model or what was measured."""
    assert looks_like_model("**GPT-4o** (2024)")
    assert not looks_like_model("GPQA Diamond")


@given(lists(sampled_from([*NAMES, "and", "(", "4.7", "%", "-", "Pro", "\n"]), max_size=12), text(max_size=20))
def test_any_text_can_be_read(parts: list[str], more: str) -> None:
    """Whatever stands between names, each mention is a span of the text with a name."""
    words = " ".join(parts) + more
    around, (first,) = write(words)
    found = read_models(around, CardSource(title=more, publisher=None, card=None)).find(first.words)

    assert all(words[one.start : one.stop] == one.written and one.name for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)


@example("0[\x1f")
@example("meta-meta-llama")
@given(text(max_size=40))
def test_folding_is_idempotent(name: str) -> None:
    """A folded name folds to itself."""
    assert fold_name(fold_name(name)) == fold_name(name)


def test_a_table_of_models_names_those_of_unknown_makers() -> None:
    """What stands under a head such as Model is a model wherever else the card names it, and a row of another label is none."""
    rows = row(["Birch 2 (tuned)", "9%"], ["Model", "Refusals"]), row(["Phase 2", "9%"], ["Step", "Refusals"], at=20)
    said = sentence("Birch 2 refused less than in Phase 2.", at=40)
    around = lay_out(*rows, said)

    models = read_models(around, CardSource(title="Some card", publisher=None, card=None))

    assert [one.written for one in models.find(said.words)] == ["Birch 2"]
