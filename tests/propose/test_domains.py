"""Figures of different domains are figures of different properties."""

from collections import defaultdict
from pathlib import Path

import pytest

from audit.propose.claimed_property import find_domains
from tests.gold import SHARED, needs_shared
from tests.propose.test_hedges import propose, propose_from


def test_levels_of_two_domains_under_one_heading_are_two_properties(tmp_path: Path) -> None:
    """Biology and cybersecurity are named apart; a sentence without a domain keeps the heading's name."""
    words = (
        "The model reaches the High threshold in biology. The model does not reach the High threshold in cybersecurity. "
        "The model does not reach the Critical threshold."
    )

    names = [one.property.name for one in propose_from(tmp_path, words)]

    assert [find_domains(name) for name in names] == [("biology",), ("cybersecurity",), ()]
    assert len(set(names)) == 3


def test_figures_of_one_domain_stay_one_property(tmp_path: Path) -> None:
    """Nothing is parted where the heading's figures are all of one domain."""
    found = propose_from(tmp_path, "The model reaches the High threshold in biology. It did not cross the Critical threshold in biology.")

    assert not any("several domains" in note for one in found for note in one.notes)


@needs_shared
@pytest.mark.parametrize("name", ["openai-gpt-5.3-codex.pdf", "anthropic-claude-haiku-4.5.pdf", "anthropic-claude-fable-5.md"])
def test_no_property_of_a_real_card_spans_two_domains(name: str) -> None:
    """Whatever stands under one property name in a real card is of the same domains, or of none that its words name."""
    domains: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for one in propose(SHARED / "cards" / name):
        domains[one.property.name].add(find_domains(one.quote))

    assert {name: found for name, found in domains.items() if len(found - {()}) > 1} == {}
