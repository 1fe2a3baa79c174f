"""Tables of safety sections: whose figures they are, what class they have, and which way is safer."""

from pathlib import Path

import pytest

from audit.propose.card_models import CardSource
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim import Direction, PropertyClass
from registry.records.claim_draft import Proposal

REFUSAL, CAPABILITY = PropertyClass.COMPLIANCE_REFUSAL, PropertyClass.CAPABILITY


def propose(path: Path, text: str) -> list[Proposal]:
    """Return what the rules propose with a figure from a card of *text*."""
    path.write_text(text, encoding="utf-8")
    card = read_card(path)
    source = CardSource(title=path.name, publisher=None, card=None)
    return [one for one in propose_by_rules(card, read_outline(card), source).proposals if one.reported is not None]


PLAIN = """Heron 5 System Card
Acme
4 Safety
4.1 Disallowed Content
The following evaluations check that the model does not comply with requests for disallowed content.
{metric}
Table 4: Production Benchmarks
Category Heron 5 Heron 5 mini OpenAI o4-mini GPT-4o
non-violent hate 0.895 0.901 0.832 0.882
harassment/threatening 0.832 0.819 0.695 0.745
personal-data 0.888 0.921 0.847 0.860
"""


def test_heads_of_plain_text_that_list_models_are_the_columns_of_their_table(tmp_path: Path) -> None:
    """Each figure has its model, although a name has several words and nothing separates the heads."""
    proposed = propose(tmp_path / "heron-5.txt", PLAIN.format(metric="We report not_unsafe."))

    assert {(one.model, one.reported.value) for one in proposed if one.reported} == {
        *(("Heron 5", value) for value in (0.895, 0.832, 0.888)),
        *(("Heron 5 mini", value) for value in (0.901, 0.819, 0.921)),
    }


@pytest.mark.parametrize(
    ("metric", "direction"),
    [
        ("We use the metric not_unsafe, which is the share of outputs that break no policy.", Direction.HIGHER_IS_SAFER),
        ("The metric is the rate of harmful responses.", Direction.LOWER_IS_SAFER),
        ("Two people read the responses.", None),
    ],
)
def test_the_sentence_on_the_metric_says_which_way_is_safer_and_the_topic_does_not(
    metric: str, direction: Direction | None, tmp_path: Path
) -> None:
    """A table on disallowed content may count the harmful answers or the harmless ones."""
    proposed = propose(tmp_path / "heron-5.txt", PLAIN.format(metric=metric))

    assert {one.property.class_ for one in proposed} == {REFUSAL}
    assert {None if "direction" in one.unknown else one.property.direction for one in proposed} == {direction}


GROUPED = """# Heron 5 model card

## Results

| Benchmark | Heron 5 | Stork 2 |
|---|---|---|
| **General** | | |
| MMLU | 71.0 | 70.1 |
| **{group}** | | |
| Criminal | 91.2 | 89.1 |
| MMLU-Pro | 61.2 | 59.1 |
"""


@pytest.mark.parametrize(("group", "class_"), [("Safety", REFUSAL), ("Alignment Tasks", CAPABILITY), ("Knowledge", CAPABILITY)])
def test_rows_of_a_group_on_safety_are_no_capabilities(group: str, class_: PropertyClass, tmp_path: Path) -> None:
    """Also where the row has a name that could be a benchmark's; alignment tasks are those of a chat model."""
    proposed = propose(tmp_path / "heron-5.md", GROUPED.format(group=group))

    assert [one.property.class_ for one in proposed] == [CAPABILITY, class_, class_]


def test_a_score_on_toxicity_is_no_rate_of_it(tmp_path: Path) -> None:
    """Its F1 is of a test in which the model finds toxic texts: more is not less safe."""
    rows = "| Model | Toxicity (F1) | Toxicity rate |\n|---|---|---|\n| Heron 5 | 24.5 | 3.1% |\n"
    proposed = propose(tmp_path / "heron-5.md", f"# Heron 5 model card\n\n## Results\n\n{rows}")

    assert ["direction" in one.unknown for one in proposed] == [True, False]
    assert proposed[1].property.direction is Direction.LOWER_IS_SAFER


SIZES = "# Heron model card\n\n## Results\n\n| Benchmark | 2B Params | 7B Params |\n|---|---|---|\n| MMLU | 42.3 | 64.3 |\n"


@pytest.mark.parametrize(("title", "own"), [("heron-2b", {"heron-2b": 0.423}), ("heron-7b", {"heron-7b": 0.643}), ("heron-1b", {})])
def test_a_head_that_is_a_size_names_the_model_of_that_size(title: str, own: dict[str, float], tmp_path: Path) -> None:
    """The other size is another model, and no number of parameters is a result."""
    text = SIZES.replace("# Heron", f"# {title}").replace("## Results", f"{title} is an open model.\n\n## Results")
    proposed = propose(tmp_path / f"{title}.md", text)

    assert {one.model: one.reported.value for one in proposed if one.reported} == own


def test_a_row_of_a_size_that_has_no_known_name_is_another_model(tmp_path: Path) -> None:
    """Its maker need not be listed; a row that begins like the own model may be another spelling of it."""
    rows = "Model JCS JNLI MARC\nHeron-7B 68.7 84.2 96.2\nelbow-base-7b 66.0 58.8 85.4\nyouth-7b-fast 62.7 56.9 76.9\n"
    proposed = propose(tmp_path / "heron-7b.txt", f"Heron-7B\nHeron-7B is an open model.\nTable 1: Results\n{rows}")

    assert {one.model for one in proposed} <= {"Heron-7B"}


def test_sizes_without_the_version_are_of_the_version_before(tmp_path: Path) -> None:
    """Where a table has several sizes both with and without the version of the title."""
    pairs = "".join(f"| Ibex-{kind} | 60.0 |\n| Ibex-{kind.replace('-', '-1.5-')} | 70.0 |\n" for kind in ("Nano-2B", "Flag-30B"))
    text = f"# Ibex 1.5\n\nIbex 1.5 is a family of models.\n\n## Results\n\n| Model | MMLU |\n|---|---|\n{pairs}"

    assert {(one.model, one.reported.value) for one in propose(tmp_path / "ibex-1.5.md", text) if one.reported} == {
        ("Ibex-Nano-1.5-2B", 0.7),
        ("Ibex-Flag-1.5-30B", 0.7),
    }
