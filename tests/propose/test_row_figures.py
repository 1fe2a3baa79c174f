"""Figures of a table's row: cells with several labelled figures, and rows whose labels are many words."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from

from audit.propose.card_figures import FigureUnit
from audit.propose.card_models import CardSource
from audit.propose.row_figures import read_cell, read_labelled
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim import Direction, Form, Relation
from registry.records.claim_draft import Confidence, Proposal


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("7/8 easy, 10/28 medium, 3/20 hard", {"easy": 7 / 8, "medium": 10 / 28, "hard": 3 / 20}),
        ("easy: 7/8; medium: 10/28; hard: 3/20", {"easy": 7 / 8, "medium": 10 / 28, "hard": 3 / 20}),
        ("easy 88% medium 36% hard 15%", {"easy": 0.88, "medium": 0.36, "hard": 0.15}),
        ("88% easy 36% medium 15% hard", {"easy": 0.88, "medium": 0.36, "hard": 0.15}),
        ("12 of 40 short forms and 31 of 40 long forms", {"short forms": 12 / 40, "long forms": 31 / 40}),
        ("English (97.1%), Swahili (91.5%)", {"English": 0.971, "Swahili": 0.915}),
        ("97.1% (English, 400 prompts), 91.5% (Swahili, 90 prompts)", {"English, 400 prompts": 0.971, "Swahili, 90 prompts": 0.915}),
        ("Pass rate: 40% first try, 55% third try", {"Pass rate, first try": 0.4, "Pass rate, third try": 0.55}),
        ("Web range: 3/4 short. On host range: 1/9 long.", {"Web range, short": 3 / 4, "On host range, long": 1 / 9}),
        ("94.0% / 89.5% text / voice", {"text": 0.94, "voice": 0.895}),
        ("text / voice: 94.0% / 89.5%", {"text": 0.94, "voice": 0.895}),
        ("71.4% with tools", {"with tools": 0.714}),
        ("Mean normalised score is 0.73.", {"Mean normalised score": 0.73}),
        ("The agent finishes 2/5 covert tasks and 4/11 overt tasks.", {"covert tasks": 2 / 5, "overt tasks": 4 / 11}),
        ("<2% fraud, <1% malware", {"fraud": 0.02, "malware": 0.01}),
    ],
)
def test_each_figure_of_a_cell_has_its_label(text: str, labels: dict[str, float]) -> None:
    """In front or behind, with commas, semicolons, brackets, or nothing where lines broke."""
    figures = read_labelled(text)

    assert {figure.label: figure.value for figure in figures} == pytest.approx(labels)
    assert len(figures) == len(labels)


@pytest.mark.parametrize(
    "text",
    [
        "7/8, 10/28 and 3/20",
        "12% compared to 30% for the baseline",
        "up from 12% to 30%",
        "12% → 30%",
        "7/8 easy, short tasks, 3/20 hard",
        "Alert threshold of 50% not reached",
        "3 false alarms, 4 misses",
        "Not tested",
        "",
    ],
)
def test_a_cell_whose_figures_have_no_clear_label_gives_none(text: str) -> None:
    """Bare lists, comparisons, changes, thresholds, and counts: whose figure it is would be a guess."""
    assert read_labelled(text) == ()


@given(
    parts=lists(integers(0, 40), min_size=2, max_size=6),
    joint=sampled_from([", ", "; ", " | ", " ", ", and "]),
    is_first=sampled_from([True, False]),
)
def test_any_list_of_labelled_fractions_is_read_whole_or_not_at_all(parts: list[int], joint: str, is_first: bool) -> None:  # noqa: FBT001 - drawn
    """No figure gets the label of its neighbour."""
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"][: len(parts)]
    items = [f"{part}/40 {name}" if is_first else f"{name} {part}/40" for part, name in zip(parts, names, strict=True)]

    figures = read_labelled(joint.join(items))

    assert [(figure.label, figure.value) for figure in figures] == [(name, part / 40) for part, name in zip(parts, names, strict=True)]


@pytest.mark.parametrize("piece", ["1/2 ", "a: 1% ", "9% / ", "( 1% ", "x, 1%, ", "1% . ", "of 1/3 "])
def test_hostile_cells_take_linear_time(piece: str) -> None:
    """20,000 characters of anything the rule looks for are read at once."""
    assert isinstance(read_labelled(piece * (20_000 // len(piece))), tuple)


def propose(folder: Path, text: str) -> tuple[Proposal, ...]:
    (folder / "card.md").write_text(text, encoding="utf-8")
    card = read_card(folder / "card.md")
    source = CardSource(title=text.partition("\n")[0], publisher="Marsh Lab", card=None)
    return propose_by_rules(card, read_outline(card), source).proposals


LEVELS = """# Ibis 3 model card

## Frontier safety results

| Area | Ibis 3 | Ibis 2 | Level reached? |
|---|---|---|---|
| Cybersecurity | Range challenges:<br>9/10 basic,<br>4/30 advanced. | Range challenges:<br>8/10 basic,<br>1/30 advanced. | no |
"""


def test_each_labelled_figure_is_a_claim_and_the_label_names_what_it_measures(tmp_path: Path) -> None:
    """Figures of the other model are comparisons, never claims of the card's own."""
    found = propose(tmp_path, LEVELS)

    assert [(one.model, one.written, one.reported and one.reported.n) for one in found] == [("Ibis 3", "9/10", 10), ("Ibis 3", "4/30", 30)]
    assert [one.property.name.rsplit(", ", 1)[1] for one in found] == ["basic", "advanced"]
    assert {(note.subject, note.words) for note in found[0].comparisons} == {("Ibis 2", "8/10"), ("Ibis 2", "1/30")}
    assert all(one.confidence is not Confidence.HIGH and "it calls" in " ".join(one.notes) for one in found)


def test_a_label_that_names_a_model_says_whose_figure_it_is(tmp_path: Path) -> None:
    """“77 % (Ibis 3), 20 % (other models)”: only the first is the card's own."""
    card = (
        "# Ibis 3 model card\n\n## Results\n\n| Question | Share that agreed |\n|---|---|\n| Values | 77% (Ibis 3), 20% (other models) |\n"
    )

    assert [(one.model, one.written) for one in propose(tmp_path, card)] == [("Ibis 3", "77%")]


def test_pairs_between_slashes_take_the_labels_of_their_row_or_head(tmp_path: Path) -> None:
    """“(Rating / Percentile)” names two figures; without such a list a pair gives none."""
    card = """# Ibis 3 model card

## Results

| Contest (Rating / Percentile) | Ibis 3 |
|---|---|
| Open round (Rating / Percentile) | 1812 / 96.1% |
| Closed round | 1790 / 95.2% |
"""
    found = propose(tmp_path, card)

    assert [(one.written, one.property.name.rsplit(", ", 1)[1]) for one in found] == [("1812", "Rating"), ("96.1%", "Percentile")]


def test_what_a_label_says_of_elicitation_holds_for_its_figure_alone(tmp_path: Path) -> None:
    """With and without tools are two conditions of one cell."""
    card = (
        "# Ibis 3 model card\n\n## Results\n\n| Benchmark | Ibis 3 |\n|---|---|\n| GPQA Diamond | 91.0% with tools, 84.5% without tools |\n"
    )

    assert [(one.written, one.elicitation) for one in propose(tmp_path, card)] == [("91.0%", "with tools"), ("84.5%", "without tools")]


@pytest.mark.parametrize(
    "label",
    [
        "Graduate physics chemistry biology questions, text subset, single attempt",
        "Código Programación Matemáticas Ciencias Historia Arte Música",
    ],
)
def test_a_row_whose_label_is_many_words_is_a_row_all_the_same(tmp_path: Path, label: str) -> None:
    """The words of a label are names and need no small words such as “of”, however many cells the row has."""
    head = "# Ibis 3 model card\n\n## Results\n\n| Benchmark | Setting | Ibis 3 | Ibis 2 |\n|---|---|---|---|\n"
    card = f"{head}| {label} | pass@1 | 61.0% | 55.1% |\n"

    assert [(one.model, one.written) for one in propose(tmp_path, card)] == [("Ibis 3", "61.0%")]


def test_a_row_of_an_area_is_not_about_what_the_caption_says_of_other_rows(tmp_path: Path) -> None:
    """A caption that also speaks of deception does not make a cyber score one of deception."""
    card = LEVELS + "\nTable 1: Results by area; deception and sabotage are in the next table.\n"

    assert {str(one.property.class_) for one in propose(tmp_path, card) if "/" in (one.written or "")} == {"capability"}


LIMITS = """# Ibis 3 model card

## Results

| Test | Result | Threshold |
|---|---|---|
| Biology uplift | 0.31 | < 0.50 |
| Cyber range | 62% | 50% |
"""


LIMITS = """# Ibis 3 model card

## Results

| Test | Result | Threshold |
|---|---|---|
| Biology uplift | 0.31 | < 0.50 |
| Cyber range | 62% | 50% |
"""


def test_a_column_of_thresholds_is_the_line_of_its_row_and_no_result(tmp_path: Path) -> None:
    """The side is read from the two figures; the line itself is never a figure of the model."""
    found = propose(tmp_path, LIMITS)

    assert [(one.form, one.relation, one.theta, one.reported and one.reported.value) for one in found] == [
        (Form.THRESHOLD, Relation.AT_MOST, 0.5, 0.31),
        (Form.THRESHOLD, Relation.AT_LEAST, 0.5, 0.62),
    ]


@pytest.mark.parametrize(("text", "value", "is_share"), [("4.92 / 5", 4.92, False), ("3/5", 0.6, True), ("16.5/45", 16.5 / 45, True)])
def test_a_mark_out_of_its_scale_is_no_share(text: str, value: float, is_share: bool) -> None:  # noqa: FBT001 - drawn
    """Of five tasks three can be solved, and not 4.92."""
    figure = read_cell(text)

    assert figure is not None
    assert figure.value == pytest.approx(value)
    assert (figure.unit is FigureUnit.SHARE) is is_share


def test_a_list_item_of_a_benchmark_and_its_score_is_read_like_a_row(tmp_path: Path) -> None:
    """“MMLU: 84.8” in a list of results; “Layers: 40” is no benchmark."""
    found = propose(tmp_path, "# Ibis 3 model card\n\n## Results\n\n- MMLU: 84.8\n- **GPQA Diamond:** 56.1\n- Layers: 40\n")

    assert [one.written for one in found] == ["84.8", "56.1"]


TABLE = "| Benchmark | {own} | {other} |\n|---|---|---|\n| MMLU | 61.0 | 55.1 |\n"


@pytest.mark.parametrize(
    ("title", "own", "other"),
    [
        ("Ibis-3 14B Instruct", "Ibis-3", "Ibis-2"),
        ("Ibis-3 14B Instruct", "**Ibis-3**<br>14B-In", "Ibis-2-7B"),
        ("Ibis-3-Large-2607", "Ibis-3-Large", "Ibis-2-Large-2511"),
    ],
)
def test_a_shorter_name_of_the_own_model_is_the_own_model(tmp_path: Path, title: str, own: str, other: str) -> None:
    """Size, date and “instruct” are often left out in the head of a column."""
    found = propose(tmp_path, f"# {title}\n\n## Results\n\n{TABLE.format(own=own, other=other)}")

    assert [one.written for one in found if one.is_own] == ["61.0"]


@pytest.mark.parametrize("other", ["Ibis-3 70B Instruct", "Ibis-3-mini"])
def test_a_shorter_name_that_other_models_share_is_none_of_the_own_model(tmp_path: Path, other: str) -> None:
    """“Ibis-3” may be any of them."""
    found = propose(tmp_path, f"# Ibis-3 14B Instruct\n\n## Results\n\n{TABLE.format(own='Ibis-3', other=other)}")

    assert [one.written for one in found if one.is_own] == []


def test_a_head_that_names_measure_and_model_says_which_way_is_safer(tmp_path: Path) -> None:
    """The measure above the model counts, as in "Violation rate" over two models."""
    card = """# Ibis-3 model card

## Results

<table>
<tr><th rowspan="2">Category</th><th colspan="2">Violation rate</th></tr>
<tr><th>Ibis-3</th><th>Ibis-2</th></tr>
<tr><td>Hate</td><td>0.8%</td><td>1.9%</td></tr>
</table>
"""
    found = propose(tmp_path, card)

    assert [(one.written, one.property.direction) for one in found] == [("0.8%", Direction.LOWER_IS_SAFER)]


def test_two_lines_of_a_cell_are_the_two_benchmarks_of_its_row(tmp_path: Path) -> None:
    """“MGSM / MATH” with two figures each; words that are no benchmarks give nothing."""
    card = """# Ibis-3 model card

## Results

| Area | Benchmark | Ibis-3 | Ibis-2 |
|---|---|---|---|
| Mathematics | MGSM<br>MATH | 80.6<br>**80.4** | 53.5<br>44.6 |
| Mathematics | Other<br>tasks | 70.6<br>70.4 | 63.5<br>64.6 |
"""
    found = propose(tmp_path, card)

    assert [(one.written, one.property.name.rsplit(", ", 1)[1]) for one in found] == [("80.6", "MGSM"), ("80.4", "MATH")]


def test_a_family_that_is_a_word_is_a_name_in_small_letters_with_a_hyphen(tmp_path: Path) -> None:
    """“`nova-4`” is Nova 4, and “a nova 4 light years away” is none."""
    table = TABLE.format(own="nova-4 (14B)", other="nova-3 (14B)")
    card = f"# Nova-4 model card\n\nWe tested `nova-4`, not a nova 4 light years away.\n\n## Results\n\n{table}"

    assert [(one.written, one.is_own) for one in propose(tmp_path, card) if one.written] == [("61.0", True)]


def test_a_table_of_models_is_one_of_results_under_any_heading(tmp_path: Path) -> None:
    """The last heading may be about training; a table of one model below it stays apart."""
    several = "# Ibis-3 model card\n\n## Training data\n\n" + TABLE.format(own="Ibis-3", other="Ibis-2")
    single = "# Ibis-3 model card\n\n## Training data\n\n| Source | Share |\n|---|---|\n| Web pages | 61.0% |\n"

    assert [one.written for one in propose(tmp_path, several)] == ["61.0"]
    assert propose(tmp_path, single) == ()
