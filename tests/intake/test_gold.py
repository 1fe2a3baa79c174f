"""Every quotation of the hand-made gold set is found in the card it was taken from."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from registry.intake.quote_anchor import AnchoredText
from tests.intake.gold_cards import read_gold_card

SHARED = Path(os.environ.get("CAVEAT_SHARED", Path(__file__).parents[2].parent / "shared"))
DATA = SHARED / "data" if (SHARED / "data").is_dir() else SHARED
GOLD = DATA / "claims_gold.jsonl"


def _claims() -> list[Any]:
    if not GOLD.exists():
        return []
    return [pytest.param(claim, id=claim["id"]) for claim in map(json.loads, GOLD.read_text(encoding="utf-8").splitlines())]


@cache
def anchored(name: str) -> AnchoredText:
    """The card as read from its source file."""
    return AnchoredText(read_gold_card(DATA / name))


@pytest.mark.parametrize("key", ["quote", "quote_display"])
@pytest.mark.parametrize("claim", _claims())
def test_a_gold_quotation_is_found_in_its_source(claim: dict[str, Any], key: str) -> None:
    """It stands on the recorded page and in the recorded section, at the recorded level of normalisation or a lower one."""
    source = claim["source_file"] or claim["text_file"]

    anchor = anchored(source).find(claim[key], page=claim["page"])

    assert anchor.level <= claim["match_level"]
    assert anchor.page == claim["page"]
    if claim["heading"]:
        assert anchor.section == claim["heading"]
    if key == "quote" and not claim["source_file"]:
        assert (anchor.start, anchor.stop) == (claim["char_start"], claim["char_end"])


@pytest.mark.skipif(not GOLD.exists(), reason="the cards of others are not shipped")
@pytest.mark.parametrize("name", ["cards/anthropic-claude-haiku-4.5.pdf", "cards/openai-gpt-5.3-codex.pdf"])
def test_the_extractors_agree_on_real_cards(name: str) -> None:
    """PDFium and pdfminer.six read nearly the same words."""
    card = read_gold_card(DATA / name)

    assert card.agreement is not None
    assert card.agreement > 0.99
    # Both have pages whose charts are images; nothing else may be noticed.
    assert [warning for warning in card.warnings if "a large image and little text" not in warning] == []
