"""What holds of every outline, whatever the text: order, places, and linear work on hostile text."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.intake.outline.card_passages import read_outline
from registry.intake.quote_anchor import AnchoredText
from registry.records.system_card import MediaType
from tests.gold import SHARED, card_path, needs_shared, read_gold
from tests.intake.gold_cards import read_gold_card
from tests.intake.outlines import card_of

_PIECES = st.sampled_from(
    (
        *("Kestrel 2 ", "97.5% ", "0.88\n", "\n", "\n\n", "\f", "Table 1: ", "| a | 1 |\n", "|---|---|\n", "<table>", "<tr><td>"),
        *("</table>", "1 ", "1.1 Title\n", "- ", "• ", "[^1]", "<sup>1</sup>", "# ", "```\n", "\t", "x-\n", "e.g. ", "It is. "),
        *("(", "”", "&amp;", "<!-- p.2 -->", "ﬁ", "\u00ad", "…", "هذا "),
    )
)


@given(st.lists(_PIECES, max_size=60).map("".join).filter(str.strip), st.sampled_from(MediaType))
def test_passages_are_in_order_and_within_the_text(text: str, media_type: MediaType) -> None:
    """They do not overlap, are not empty, name a heading and a page that exist, and blocks are numbered as they come."""
    card = card_of(text, media_type)

    outline = read_outline(card)

    at, seen = 0, -1
    for passage in outline.passages:
        assert at <= passage.start < passage.stop <= len(text)
        assert passage.words == " ".join(passage.words.split())
        assert passage.words
        assert passage.section is None or outline.headings[passage.section].start <= passage.start
        assert passage.page is None or passage.page in {page.number for page in card.pages}
        assert passage.block <= seen + 1 or passage.block <= len(outline.passages)
        at, seen = passage.stop, max(seen, passage.block)
    assert read_outline(card) == outline


_HOSTILE: dict[str, Callable[[int], str]] = {
    "one line": lambda n: "word " * (n // 5),
    "figures": lambda n: "1.5% " * (n // 5),
    "dots": lambda n: "." * n,
    "spaces": lambda n: f"a{' ' * n}b",
    "nested tags": lambda n: "<div>" * (n // 5),
    "open tables": lambda n: "<table>" * (n // 7),
    "cells": lambda n: f"<table><tr>{'<td>1' * (n // 5)}",
    "comments": lambda n: "<!--" * (n // 4),
    "brackets": lambda n: "[" * n,
    "quotations": lambda n: "\u201c" * n,
    "letters": lambda n: "a " * (n // 2),
    "hyphens": lambda n: "a-\n" * (n // 3),
    "numbers alone": lambda n: "1\nTitle\n" * (n // 8),
    "notes": lambda n: "word1\n1 A note\n" * (n // 14),
    "bars": lambda n: f"{'|' * n}\n{'|-' * (n // 2)}",
}


@pytest.mark.parametrize("media_type", list(MediaType))
@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_text_is_read(name: str, media_type: MediaType) -> None:
    """A text of 60,000 characters made to mislead is read to its end; how long that takes is measured in benchmarks/intake.py."""
    text = _HOSTILE[name](60_000)

    outline = read_outline(card_of(text, media_type))

    assert all(passage.stop <= len(text) for passage in outline.passages)


@needs_shared
def test_every_gold_claim_lies_in_passages_of_one_sentence_or_row() -> None:
    """Its span is covered but for footnote marks at its end, and figures in tables have their column."""
    missed: list[str] = []
    by_card: dict[str, list[dict[str, object]]] = {}
    for gold in read_gold():
        by_card.setdefault(str(card_path(gold)), []).append(gold)
    for golds in by_card.values():
        card = read_gold_card(card_path(golds[0]))
        anchored, outline = AnchoredText(card), read_outline(card)
        for gold in golds:
            anchor = anchored.find(str(gold["quote"]), page=gold["page"])  # type: ignore[arg-type]
            over = [passage for passage in outline.passages if passage.start < anchor.stop and passage.stop > anchor.start]
            uncovered = anchor.exact[max(0, over[-1].stop - anchor.start) :] if over else anchor.exact
            if not over or over[0].start > anchor.start or uncovered.strip("0123456789*_"):
                missed.append(str(gold["id"]))
            elif over[0].cells and not all(cell.column for cell in over[0].cells):
                missed.append(f"{gold['id']} {json.dumps([cell.column for cell in over[0].cells])}")

    assert SHARED.is_dir()
    assert missed == []
