"""Proposals from pages and reports as people save them: names and lists that differ from a tidy card."""

from pathlib import Path

import pytest

from registry.records.claim_draft import Confidence
from tests.propose.test_own_models import list_values, read

INTRO = "The results below were measured with the same prompts for all of the models."


def write_card(own: str, block: str, *, heading: str = "") -> str:
    """Return a card whose heading is *heading*, or the own model."""
    return f"# {heading or own}\n\n{own} is an open model.\n\n## Results\n\n{INTRO}\n\n{block}\n"


@pytest.mark.parametrize(
    ("file", "heading", "own", "label"),
    [
        pytest.param("acme-zebu-1.5-15b", "Zebu-1.5-15B: a report", "Zebu-1.5-15B", "Zebu-1.5-15B", id="maker in the name of the file"),
        pytest.param("acme-lynxcat-flash-chat", "Lynxcat-Flash-Chat", "Lynxcat-Flash-Chat", "Lynxcat-Flash", id="tuning left out"),
        pytest.param("step-3.5-flash", "Step 3.5 Flash", "Step 3.5 Flash", "Step 3.5 Flash", id="a common word"),
        pytest.param("acme-gecko2", "Gecko2", "Gecko2", "GeckoChat2-34B", id="tuning inside the name"),
        pytest.param("acme-manul-v1", "Manul-v1", "Manul-v1", "Manul-7B-Instruct", id="size of a first version"),
        pytest.param("acme-tayra-1.5", "Tayra 1.5", "Tayra 1.5", "Tayra-Nano-1.5-3B", id="a word before the version"),
        pytest.param("acme-urial", "Urial", "Urial", "Urial-13B-V1.2", id="a name without a figure"),
        pytest.param("acme-saiga2", "Saiga 2.7B", "Saiga 2.7B", "Saiga2.7B", id="no space before the size"),
        pytest.param("acme-koala-a13b", "Koala-A13B", "Koala-A13B", "Koala-A13B-Pretrain", id="active parameters"),
    ],
)
def test_figures_are_those_of_the_own_model_however_a_table_names_it(file: str, heading: str, own: str, label: str, tmp_path: Path) -> None:
    table = f"| Model | MMLU | GSM8K |\n|---|---|---|\n| Llama-3.1-8B | 68.1 | 77.7 |\n| {label} | 71.2 | 80.1 |\n"

    reading, proposals = read(tmp_path / f"{file}.md", write_card(own, table, heading=heading))

    assert list_values(proposals) == [71.2, 80.1]
    assert all(one.is_own for one in proposals)
    assert not any("acme" in name for name in reading.models.own)


def test_a_derivative_of_another_maker_is_another_model(tmp_path: Path) -> None:
    table = "| Model | MMLU |\n|---|---|\n| Saiga-7B | 71.2 |\n| chinese-saiga-7b | 68.1 |\n"

    _, proposals = read(tmp_path / "acme-saiga-7b.md", write_card("Saiga-7B", table))

    assert list_values(proposals) == [71.2]


def test_a_judge_that_the_card_names_most_is_not_its_model(tmp_path: Path) -> None:
    judged = "GPT-4 compared the answers. " * 9

    reading, proposals = read(
        tmp_path / "zorp-13b.md", f"# Zorp-13B\n\n{judged}\n\n## Results\n\nZorp-13B scored 61.3% on MMLU, and GPT-4 scored 86.4%.\n"
    )

    assert reading.models.own == ("Zorp-13B",)
    assert list_values(proposals) == [61.3]


def test_a_head_that_begins_like_a_count_is_the_name_of_a_model(tmp_path: Path) -> None:
    """A column "Seed" says with what a run began; "Seed-Gnu-36B" is a model."""
    table = "| Benchmark | Llama-3.1-8B | Seed-Gnu-36B |\n|---|---|---|\n| MMLU | 68.1 | 71.2 |\n"

    _, proposals = read(tmp_path / "seed-gnu.md", write_card("Seed-Gnu-36B", table))

    assert list_values(proposals) == [71.2]


def test_a_heading_that_lists_models_names_each_of_them(tmp_path: Path) -> None:
    """“Oryx Core, Flash, and Edge”; what only the name of the file says is no model."""
    table = "| Benchmark | Oryx Core | Oryx Edge | Llama-3.1-8B |\n|---|---|---|---|\n| MMLU | 83.2 | 65.7 | 68.1 |\n"

    reading, proposals = read(
        tmp_path / "oryx-core-flash-edge.md", f"# Oryx Core, Flash, and Edge: A Series of Models\n\n## Results\n\n{INTRO}\n\n{table}"
    )

    assert {"Oryx Core", "Oryx Edge"} <= set(reading.models.own)
    assert sorted((one.model, one.reported.value) for one in proposals if one.reported is not None) == [
        ("Oryx Core", 0.832),
        ("Oryx Edge", 0.657),
    ]


def test_a_short_name_is_that_of_one_own_model(tmp_path: Path) -> None:
    """“Opus scored …” in a card of Ibis 3 Opus and Ibis 3 Haiku."""
    text = "# Ibis 3\n\nIbis 3 Opus is larger than Ibis 3 Haiku.\n\n## Results\n\nOpus scored 73.7% on MMLU and Haiku scored 59.5%.\n"

    _, proposals = read(tmp_path / "ibis-3.md", text)

    assert sorted((one.model, one.reported.value) for one in proposals if one.reported is not None) == [
        ("Ibis 3 Haiku", 0.595),
        ("Ibis 3 Opus", 0.737),
    ]


def test_the_family_of_the_own_model_claims_in_words_and_no_cell_of_a_table(tmp_path: Path) -> None:
    """Sizes that the card is not about are other models, and so is the family where a table names the own one."""
    table = "| Model | MMLU |\n|---|---|\n| Kudu2-350M | 43.4 |\n| Kudu2-700M | 49.9 |\n| Kudu2 | 51.0 |\n"

    _, proposals = read(
        tmp_path / "kudu2-350m.md", write_card("Kudu2-350M", f"Kudu2 outperforms models of similar size on knowledge tasks.\n\n{table}")
    )

    assert list_values(proposals) == [43.4]
    assert [one.model for one in proposals if one.reported is None] == ["Kudu2"]


@pytest.mark.parametrize(
    ("block", "values"),
    [
        pytest.param("- pass@1 on HumanEval self-reported 46.300\n- accuracy on GSM8K (PAL) self-reported 65.100", [46.3, 65.1], id="hub"),
        pytest.param("- Gnarl: 44.44\n- Crosswise: 20.48 chrF++", [20.5, 44.4], id="names of no known benchmark"),
        pytest.param("- Small engineering tasks: 0/10 trials", [0.0], id="fraction with its unit"),
        pytest.param("Ibis 2 obtains 66.1 on Tau2-Bench and 47.3 on SWE-Bench Multilingual.", [47.3, 66.1], id="decimals on benchmarks"),
        pytest.param("Ibis 2 was fine-tuned on code for 73.8% of the time.", [], id="control: training without a score"),
        pytest.param("- Checkpoint size: 329.5\n- Training throughput: 150.5", [], id="control: settings"),
        pytest.param("With a size of 21B (about 70% that of Heron 3), Ibis 2 is small.", [], id="control: a share of the size"),
        pytest.param("Ibis 2 performs on par with Heron 3 and Kite-7B (both at 13%).", [], id="control: figures of those compared with"),
        pytest.param("Never rely on Ibis 2 to produce correct results.", [], id="control: advice"),
        pytest.param("It comes in two distinct modes and was built for 10 Indic languages.", [], id="control: kinds that are counted"),
    ],
)
def test_figures_in_lists_and_sentences(block: str, values: list[float], tmp_path: Path) -> None:
    _, proposals = read(tmp_path / "ibis-2.md", write_card("Ibis 2", block))

    assert list_values(proposals) == values


@pytest.mark.parametrize(
    "row",
    ["GPQA (pass@1) 86.4% 83.0% 84.0% 83.3%", "Knowledge 90.4 84.3 22.0 81.6 and more", "(pass@1) — 75.6% 70.4% — — 70.6%"],
)
def test_a_row_whose_columns_were_lost_gives_no_figure_to_the_own_model(row: str, tmp_path: Path) -> None:
    """Four figures with nothing between them are those of four models."""
    _, proposals = read(tmp_path / "ibis-2.md", write_card("Ibis 2", f"Ibis 2 was compared.\n\n{row}"))

    assert list_values(proposals) == []


def test_a_row_that_begins_with_the_own_model_is_one_proposal_without_a_figure(tmp_path: Path) -> None:
    """A person adds its figures from the page."""
    _, proposals = read(tmp_path / "ibis-2-15b.txt", f"Ibis-2-15B\n\n{INTRO}\n\nIbis-2-15B 51.57 77.3 71.3 12 72.8 34.8\n\n{INTRO}\n")

    found = [one for one in proposals if "51.57" in one.quote]
    assert [(one.model, one.reported, one.confidence) for one in found] == [("Ibis-2-15B", None, Confidence.LOW)]


def test_rows_of_models_that_no_one_lists_are_no_proposals_beside_a_row_of_the_own_model(tmp_path: Path) -> None:
    """Their columns could not be read, and a person would only leave them out."""
    rows = "gnarl-7b 66.0 58.8 85.4 40.1\n\nIbis-2-15B 64.8 59.1 80.0 14.7\n\nyurt-7b 62.7 56.9 76.9 51.1"

    _, proposals = read(tmp_path / "ibis-2-15b.txt", f"Ibis-2-15B\n\n{INTRO}\n\n{rows}\n\n{INTRO}\n")

    assert [one.quote.split()[0] for one in proposals] == ["Ibis-2-15B"]


def test_a_comparison_counts_although_the_figures_beside_it_are_others(tmp_path: Path) -> None:
    _, proposals = read(
        tmp_path / "ibis-2.md", write_card("Ibis 2", "Ibis 2 surpasses larger systems such as Kite-49B (45) and Heron 3 (43%).")
    )

    assert [(one.reported, one.relative_to is not None) for one in proposals] == [(None, True)]


def test_tables_of_html_are_read_in_a_plain_text(tmp_path: Path) -> None:
    table = "<table><tr><td>Benchmark</td><td>Ibis 2</td><td>Heron 3</td></tr><tr><td>MMLU</td><td>71.2</td><td>68.1</td></tr></table>"

    _, proposals = read(tmp_path / "ibis-2.txt", f"# Ibis 2\n\nIbis 2 is a model.\n\n# Results\n\n{INTRO}\n\n{table}\n")

    assert list_values(proposals) == [71.2]


def test_a_limit_behind_a_comma_is_of_the_model_that_begins_the_sentence(tmp_path: Path) -> None:
    text = "The model has no filter, and may generate harmful responses. Some tools are old, and may generate harmful text."

    _, proposals = read(tmp_path / "ibis-2.md", write_card("Ibis 2", text))

    found = [one for one in proposals if "harmful" in one.quote]
    assert ["may generate harmful responses" in one.quote for one in found] == [True]
    # A rule read it, and not the classifier.
    assert not any("check every field" in note for note in found[0].notes)
