"""An account of all figures that look like results: a person sees what is in no proposal, and where."""

from dataclasses import replace
from pathlib import Path

from audit.propose.candidate_spans import CardReading
from audit.propose.card_models import CardSource
from audit.propose.figure_account import account_for_figures, describe_account
from audit.propose.rule_engine import propose_by_rules
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim_draft import FigureAccount, UnexplainedFigure

CARD = """# Ibis 2

Ibis 2 is a model.

## Results

| Task | Ibis 2 | Heron 3 |
|---|---|---|
| MMLU | 71.2 | 71.2 |
| GSM8K | 80.1 | 77.7 |

## Authors

Of the team, 12.5% wrote code.
"""


def count(path: Path, text: str, *, is_read: bool = True) -> FigureAccount:
    """Return the account of a card of *text*, with the proposals of the rules or with none."""
    path.write_text(text, encoding="utf-8")
    card = read_card(path)
    outline, source = read_outline(card), CardSource(title=path.name, publisher=None, card=None)
    proposals = propose_by_rules(card, outline, source).proposals if is_read else ()
    return account_for_figures(CardReading(card, outline, source), proposals, outline.passages)


def test_each_figure_has_one_fate(tmp_path: Path) -> None:
    """Equal figures of two models too: one is proposed, the other is the other model's."""
    account = count(tmp_path / "ibis-2.md", CARD)

    assert account.own_models == ("Ibis 2",)
    assert (account.figures, account.proposed, account.other_models) == (5, 2, {"Heron 3": 2})
    assert sum(account.explained.values()) == 1
    assert account.unexplained == ()


def test_what_is_in_no_proposal_is_told_with_its_line(tmp_path: Path) -> None:
    """An engine that proposes nothing leaves the own model's figures without an explanation."""
    account = count(tmp_path / "ibis-2.md", CARD, is_read=False)

    assert [(one.written, one.line) for one in account.unexplained] == [("71.2", 9), ("80.1", 10)]
    told = list(describe_account(account))
    assert told[0] == "figures that look like results: 5 (0 in proposals, 2 of other models, 1 left out for a reason, 2 not explained)"
    assert told[1] == "the card's own: Ibis 2; other models: Heron 3 2"
    assert any(line.startswith("  line 9: 71.2 in “") for line in told)


def test_at_most_ten_lines_are_named_and_the_rest_is_counted(tmp_path: Path) -> None:
    """One message names all figures of a line, with its page where the card has pages."""
    account = count(tmp_path / "ibis-2.md", CARD)
    many = tuple(UnexplainedFigure(written=f"{line}.5", page=2, line=line // 2, words="a row") for line in range(2, 30))

    told = list(describe_account(replace(account, unexplained=many)))

    assert sum(line.startswith("  page 2, line ") for line in told) == 10
    assert any(line == "  page 2, line 1 of the text: 2.5, 3.5 in “a row”" for line in told)
    assert told[-1] == "  and on 4 more lines (--json lists all)"


def test_versions_and_counts_look_like_no_result(tmp_path: Path) -> None:
    """A card without figures has nothing to tell; nothing is invented."""
    account = count(tmp_path / "ibis-2.md", "# Ibis 2\n\nIbis 2 follows Heron 2.5 Pro and has 7B parameters, on port 8080.\n")

    assert (account.figures, list(describe_account(account))) == (0, [])


def test_figures_of_the_front_matter_are_counted_apart(tmp_path: Path) -> None:
    """They are read by --from, not from the text, and the account says so."""
    matter = "---\nmodel-index:\n- name: stoat-7b\n  results:\n  - metrics:\n    - type: accuracy\n      value: 71.2\n---\n"

    account = count(tmp_path / "stoat-7b.md", f"{matter}\n# stoat-7b\n\nStoat-7b is small.\n")

    assert (account.figures, account.indexed) == (0, 1)
    assert any("model-index" in line and "--from" in line for line in describe_account(account))


def test_a_card_that_names_no_own_model_says_so(tmp_path: Path) -> None:
    """Then whose the figures are is open, and not known to be right."""
    account = count(tmp_path / "readme.md", "# A comparison\n\nIt answers 61.0% of the questions.\n")

    assert account.own_models == ()
    assert any("does not say which model it is about" in line for line in describe_account(account))


def test_a_name_that_is_nearly_the_own_one_is_pointed_out(tmp_path: Path) -> None:
    """A card may misspell its model in a table; other digits are another model."""
    table = "| Model | MMLU |\n|---|---|\n| Quaggga-7B | 71.2 |\n| Quagga-9B | 68.1 |\n"
    text = f"# Quagga-7B\n\nQuagga-7B is a model.\n\n## Results\n\n{table}"

    lines = list(describe_account(count(tmp_path / "quagga-7b.md", text)))

    assert any("“Quaggga-7B” is nearly the card's own name" in line for line in lines)
    assert not any("Quagga-9B” is nearly" in line for line in lines)
