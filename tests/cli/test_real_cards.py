"""Real cards with hand-coded claims, from the file to the registry by the command line."""

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat
from tests.gold import SHARED, card_path, needs_shared, read_gold, write_claims_file

CARDS = sorted({card_path(gold).name for gold in read_gold()}) if SHARED.is_dir() else ["absent"]


@needs_shared
@pytest.mark.parametrize("name", CARDS)
def test_every_gold_quote_is_anchored_at_its_level_or_better(name: str, caveat: Caveat, tmp_path: Path) -> None:
    """Intake, claims file and registry together find each quotation where it stands."""
    claims = [gold for gold in read_gold() if card_path(gold).name == name]
    caveat("init", "--code", "AISI")
    added = caveat("card", "add", card_path(claims[0]), "--publisher", claims[0]["vendor"], "--json")
    assert added.code == 0, added.err
    write_claims_file(tmp_path / "claims.yaml", added.document["card"]["card"], claims)

    registered = caveat("claim", "add", "claims.yaml", "--json")

    assert registered.code == 0, registered.err
    assert len(registered.document["added"]) == len(claims)
    for gold, reference in zip(claims, registered.document["added"], strict=True):
        shown = caveat("claim", "show", reference, "--json").document
        anchor = shown["revisions"][0]["payload"]["anchor"]
        assert anchor["level"] <= gold["match_level"], gold["id"]
        _check_page(gold, anchor)


def _check_page(gold: dict[str, Any], anchor: dict[str, Any]) -> None:
    if gold["source_file"]:
        assert anchor["page"] == gold["page"], gold["id"]


@needs_shared
def test_the_same_file_twice_changes_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Importing is idempotent, and says so."""
    key = card_path
    name, group = next(iter(groupby(sorted(read_gold(), key=lambda gold: key(gold).name), key=lambda gold: key(gold).name)))
    claims = list(group)
    caveat("init", "--example")
    card = caveat("card", "add", card_path(claims[0]), "--publisher", "x", "--json").document["card"]["card"]
    write_claims_file(tmp_path / "claims.yaml", card, claims)
    caveat("claim", "add", "claims.yaml")
    before = caveat("admin", "log", "show", "--json").document["size"]

    again = caveat("claim", "add", "claims.yaml", "--json")

    assert again.document["unchanged"] == len(claims), name
    assert caveat("admin", "log", "show", "--json").document["size"] == before
    assert caveat("card", "add", card_path(claims[0]), "--publisher", "x", "--json").document["new"] is False
