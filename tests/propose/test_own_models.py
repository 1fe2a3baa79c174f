"""Which model a card is about, in the layouts of public cards: its name in the title, heading or front matter, or only in prose."""

from pathlib import Path

import pytest

from audit.propose.candidate_spans import CardReading
from audit.propose.card_models import CardSource
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim_draft import Proposal

OTHERS = {68.1, 77.7, 74.2, 85.4}
"""Figures of other models in the tables of `write_tables`."""


def read(path: Path, text: str) -> tuple[CardReading, list[Proposal]]:
    """Return a card of *text*, which is registered under the name of its file, and what the rules propose from it."""
    path.write_text(text, encoding="utf-8")
    card = read_card(path)
    outline, source = read_outline(card), CardSource(title=path.name, publisher=None, card=None)
    return CardReading(card, outline, source), list(propose_by_rules(card, outline, source).proposals)


def list_values(proposals: list[Proposal]) -> list[float]:
    """Return the figures that are proposed, in per cent."""
    stated = [
        (one.reported.value, one.property.range[1]) for one in proposals if one.reported is not None and one.reported.value is not None
    ]
    return sorted(round(value * 100 if highest == 1 else value, 1) for value, highest in stated)


def write_tables(own: str, other: str) -> dict[str, str]:
    """Return a table with a column for each model, and one with a row for each."""
    columns = (
        f"| Benchmark | {own} | {other} | Qwen2.5-7B |\n|---|---|---|---|\n| MMLU | 71.2 | 68.1 | 74.2 |\n| GSM8K | 80.1 | 77.7 | 85.4 |\n"
    )
    rows = f"| Model | MMLU | GSM8K |\n|---|---|---|\n| {other} | 68.1 | 77.7 |\n| {own} | 71.2 | 80.1 |\n"
    return {"columns": columns, "rows": rows}


@pytest.mark.parametrize("layout", ["columns", "rows"])
@pytest.mark.parametrize(
    ("file", "heading", "own", "intro", "other"),
    [
        ("acme-zorp-instruct", "Zorp Instruct", "Zorp Instruct", "Zorp Instruct is a model by Acme. Zorp was made in May.", "Llama-3.1-8B"),
        ("acme-quill-x5", "Quill X5", "Quill X5", "Quill X5 is our newest model.", "Llama-3.1-8B"),
        ("acme-tern-m1", "Tern-M1", "Tern-M1-80k", "We introduce Tern-M1, an open model.", "Llama-3.1-8B"),
        ("ibexus-8b", "Ibexus LLM", "Ibexus-8B-Instruct", "Ibexus is a family of open models with 8B and 70B parameters.", "Llama-3.1-8B"),
        ("vole-4.5", "VOLE-4.5-300B-A47B", "VOLE-4.5-300B-A47B-Base", "VOLE-4.5 is the newest family.", "Llama-3.1-8B"),
        ("hermit-4-70b", "Hermit 4 - Llama-3.1 70B", "Hermit 4 70B", "Hermit 4 70B is based on Llama-3.1-70B.", "Llama-3.1-70B"),
        ("nimbus-premier", "Acme Nimbus Premier service card", "Nimbus Premier", "Acme Nimbus Premier reads images.", "Llama-3.1-8B"),
        ("newt2-15b", "Newt2-15B", "Newt2-15B", "Newt2-15B is a code model.", "Llama-3.1-8B"),
        ("snowbird", "Snowbird", "Snowbird", "Snowbird is a dense model. Snowbird uses experts.", "Llama-3.1-8B"),
        (
            "acme-heron-o1",
            "News",
            "Heron-o1",
            "We release Heron-o1. The o1 model of another laboratory was the first of its kind.",
            "o1-mini",
        ),
        ("acme-plover3-4b-chat", "Summary", "plover3-4b-chat", "plover3-4b-chat is tuned to chats.", "Llama-3.1-8B"),
        ("acme-dots.ibis1", "Introduction", "dots.ibis1", "The model dots.ibis1 is large.", "Llama-3.1-8B"),
        ("grumpy-4", "Grumpy 4 Model Card", "Grumpy 4", "Grumpy 4 is a reasoning model.", "Grumpy 3"),
        (
            "solis-10.7b",
            "Meet 10.7B Solis: Elevating Performance",
            "SOLIS-10.7B-Instruct-v1.0",
            "We introduce SOLIS-10.7B.",
            "Llama-3.1-8B",
        ),
    ],
)
def test_a_card_of_an_unlisted_maker_is_about_the_model_of_its_title(
    file: str, *, heading: str, own: str, intro: str, other: str, layout: str, tmp_path: Path
) -> None:
    """In columns and in rows, the figures of its model are its own; those of its base model and of an earlier version are not."""
    reading, proposals = read(tmp_path / f"{file}.md", f"# {heading}\n\n{intro}\n\n## Evaluation\n\n{write_tables(own, other)[layout]}")

    assert list_values(proposals) == [71.2, 80.1]
    assert all(one.is_own for one in proposals if one.reported is not None)
    assert reading.models.own


def test_front_matter_tells_the_model_and_what_it_was_made_from(tmp_path: Path) -> None:
    """The model of the index is the card's own, whatever its heading says; the base model is another."""
    matter = "---\nbase_model: roe-labs/Roe-3-7B\nmodel-index:\n- name: stoat-7b\n  results: []\n---\n"
    table = "| Model | MMLU | GSM8K |\n|---|---|---|\n| roe-labs/Roe-3-7B | 68.1 | 77.7 |\n| acme/stoat-7b | 71.2 | 80.1 |\n"

    reading, proposals = read(
        tmp_path / "readme.md", f"{matter}\n# A small model\n\nStoat-7b is Roe-3-7B tuned to chats.\n\n## Results\n\n{table}"
    )

    assert list_values(proposals) == [71.2, 80.1]
    assert [mention.is_own for mention in reading.models.find("Stoat-7B and Roe-3-7B")] == [True, False]


def test_whose_a_model_is_stays_open_where_the_card_has_no_own_model(tmp_path: Path) -> None:
    """Not false: a figure is proposed, and a person sees that it is open."""
    reading, _ = read(tmp_path / "readme.md", "# A comparison\n\nIt answers 61.0% of the questions.\n")

    assert reading.models.own == ()
    assert [mention.is_own for mention in reading.models.find("Llama-3.1-8B")] == [None]


CARD = "# Ibis 2\n\nIbis 2 is a model. We compare Ibis 2 with Heron 3.\n\n## Results\n\n"


@pytest.mark.parametrize(
    ("block", "values"),
    [
        pytest.param("Ibis scores 61.3% on MMLU and 40.2% on GSM8K.", [40.2, 61.3], id="name without its version"),
        pytest.param(
            "| Task | Ibis 2 | MiniRoe-7B |\n|---|---|---|\n| MMLU | 71.2 | 68.1 |", [71.2], id="a column named Mini is no minute"
        ),
        pytest.param("| Task | Ibis 2 | <!-- 12.5 --> |\n|---|---|---|\n| MMLU | 71.2 | <!-- 68.1 --> |", [71.2], id="cells in a comment"),
        pytest.param("| Task | Ibis 2 |\n|---|---|\n| MMLU | 71.2^2 |", [71.2], id="footnote behind a figure"),
        pytest.param("| Base LLM | MMLU | GSM8K |\n|---|---|---|\n| Roe-7B | 71.2 | 80.1 |", [71.2, 80.1], id="made of another model"),
        pytest.param("Compared with Heron 3, it scores 61.3% on MMLU.", [61.3], id="pronoun behind a comparison"),
    ],
)
def test_figures_of_the_own_model_in_usual_layouts(block: str, values: list[float], tmp_path: Path) -> None:
    """Each is proposed as its own."""
    _, proposals = read(tmp_path / "ibis-2.md", f"{CARD}{block}\n")

    assert list_values(proposals) == values
    assert all(one.is_own is not False for one in proposals)


def test_a_table_of_results_counts_where_the_last_heading_is_about_authors(tmp_path: Path) -> None:
    """An appendix often has no heading of its own; a table without such a caption stays out."""
    table = "| Task | Ibis 2 |\n|---|---|\n| MMLU | 71.2 |\n"

    _, counted = read(tmp_path / "ibis-2.md", f"{CARD}## Authors\n\nTable 9: Results of the benchmarks\n\n{table}")
    _, left = read(tmp_path / "ibis-2.md", f"{CARD}## Authors\n\n{table}")

    assert (list_values(counted), list_values(left)) == ([71.2], [])


def test_accents_are_no_other_name_and_a_stage_of_training_is_another_model(tmp_path: Path) -> None:
    """Törn 3 40B is the model of the title "Torn-3-40B" written otherwise; its checkpoint after one stage is not released."""
    table = "| Test | Törn 3 40B SFT | Törn 3 40B DPO | Törn 3 40B | Törn 3 8B |\n|-|-|-|-|-|\n| MMLU | 82.1 | 82.6 | 83.2 | 71.0 |\n"
    _, proposals = read(tmp_path / "acme-torn-3-40b.md", f"# Torn-3-40B\n\nTörn 3 is a family of open models.\n\n## Results\n\n{table}")

    assert list_values(proposals) == [83.2]


def test_a_table_of_benchmarks_is_one_of_results_under_release_notes(tmp_path: Path) -> None:
    """Where columns of several models and a sentence on benchmarks say so; what the table compares may have any name."""
    table = "| Task | Heron-4 | Llama-3.1-8B |\n|---|---|---|\n| Art Style | 87.2 | 62.4 |\n"
    text = f"# Heron-4\n\n## Release notes\n\nBelow are results on {{}}.\n\n{table}"
    _, benchmarks = read(tmp_path / "heron-4.md", text.format("multi-image benchmarks"))
    _, others = read(tmp_path / "heron-4-b.md", text.format("the new kernels").replace("results", "times"))

    assert (list_values(benchmarks), list_values(others)) == ([87.2], [])


def test_heads_below_a_row_of_stray_words_are_heads(tmp_path: Path) -> None:
    """A converter may write the end of the sentence above into the first row of the table."""
    table = "|is better.|||\n|---|---|---|\n|Suite|Heron 4.1|Heron 4.2|\n|Standard jailbreaks|0.73%|0.04%|\n|Long attacks|1.5%|3.9%|\n"
    _, proposals = read(tmp_path / "heron-4.2.md", f"# Heron 4.2 model card\n\n## Jailbreaks\n\nLower is better.\n\n{table}")

    assert {one.model for one in proposals} == {"Heron 4.2"}
    assert sorted(one.reported.value for one in proposals if one.reported) == [0.0004, 0.039]


def test_a_head_without_the_version_names_the_own_model_unless_another_has_that_name(tmp_path: Path) -> None:
    """The card's only own model is meant by "Heron" among other models, but not beside another Heron."""
    table = "| Test | Heron | {} |\n|---|---|---|\n| MMLU | 49.2 | 46.9 |\n"
    text = "# Heron-8B\n\nHeron-8B is an open model.\n\n## Results\n\n"
    _, alone = read(tmp_path / "heron-8b.md", text + table.format("LLaMA2"))
    _, beside = read(tmp_path / "heron-8b-b.md", text + table.format("Heron 2 70B"))

    assert (list_values(alone), list_values(beside)) == ([49.2], [])


def test_columns_of_several_builds_of_one_model_state_their_build(tmp_path: Path) -> None:
    """A result of an earlier build is none of the released one."""
    table = "| Test | Ibis 2.5 Pro GA | Ibis 2.5 Pro Experimental (03-25) |\n|---|---|---|\n| MMLU | 71.0 | 68.0 |\n"
    _, proposals = read(tmp_path / "ibis-2.5-pro.md", f"# Ibis 2.5 Pro model card\n\n## Results\n\n{table}")

    efforts = table.replace("GA", "(high)").replace("Experimental (03-25)", "(low)")
    _, conditions = read(tmp_path / "ibis-2.5-pro-b.md", f"# Ibis 2.5 Pro model card\n\n## Results\n\n{efforts}")

    assert [(one.written, one.version) for one in proposals] == [("71.0", "GA"), ("68.0", "Experimental (03-25)")]
    assert [one.version for one in conditions] == [None, None]
