"""What a passage says is its own: another model's figure and another passage's facts stay with them."""

from pathlib import Path

import pytest

from audit.propose.rules import propose_by_rules
from audit.propose.source import Source
from registry.intake.outline.passages import read_outline
from registry.intake.read import read_card
from registry.records.claim import Direction, PropertyClass
from registry.records.proposal import Proposal

TITLE = "Heron 4 System Card"
MADE = f"# {TITLE}\n\nHeron 4 is made by Pellinor Labs.\n\n## 1 Conduct\n\n"


def propose(tmp_path: Path, body: str) -> tuple[Proposal, ...]:
    """Return what the rules propose from a card on Heron 4 with *body* in its section on conduct."""
    path = tmp_path / "card.md"
    path.write_text(MADE + body + "\n", encoding="utf-8")
    card = read_card(path)
    return propose_by_rules(card, read_outline(card), Source(title=TITLE, publisher="Pellinor Labs", card=None)).proposals


@pytest.mark.parametrize(
    ("words", "own", "others"),
    [
        ("Unlike Heron 3, which lied in 31% of talks, Heron 4 lied in 6%.", [0.06], [("Heron 3", 0.31)]),
        ("Heron 3 sabotaged 22% of tasks; Heron 4 did so in 2%.", [0.02], [("Heron 3", 0.22)]),
        ("Heron 4 deceived users in 5% of talks, lower than Heron 2.5 (11%).", [0.05], [("Heron 2.5", 0.11)]),
        ("Heron 4 refused 92% of harmful requests, compared to 81% for Stork 7.", [0.92], [("Stork 7", 0.81)]),
    ],
)
def test_a_name_with_another_number_is_another_model(tmp_path: Path, words: str, own: list[float], others: list[tuple[str, float]]) -> None:
    """A predecessor or a rival that is named once, of no listed maker, keeps its figure."""
    found = propose(tmp_path, words)

    assert [one.reported.value for one in found if one.reported] == own
    assert [(beside.subject, beside.value) for one in found for beside in one.comparisons] == others
    assert {one.model for one in found} == {"Heron 4"}
