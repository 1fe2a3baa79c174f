"""Passages written for the tests of what a figure is about."""

from collections.abc import Sequence

from audit.propose.card_models import CardModels, CardSource, read_models
from audit.propose.passage_context import PassageContext
from registry.records.system_card import Heading, Outline, Passage, PassageKind, TableCell

NAMED = "This card is about Aster 3 Pro. It names GPT-4.1, Claude Opus 4.7, Gemini 2.5 Flash and Llama 3.3 70B beside it."
OWN = "Gemini 3 Pro"
TITLE = f"{OWN} Model Card"


def sentence(words: str, at: int = 0, **fields: object) -> Passage:
    """Return a sentence that begins at character *at* of its card."""
    default: dict[str, object] = {"kind": PassageKind.SENTENCE, "page": None, "section": None, "block": at}
    return Passage(start=at, stop=at + len(words), words=words, **{**default, **fields})  # type: ignore[arg-type]


def row(texts: Sequence[str], columns: Sequence[str | None], at: int = 0, **fields: object) -> Passage:
    """Return a row of a table with its cells."""
    cells = tuple(TableCell(text=text, column=column) for text, column in zip(texts, columns, strict=True))
    return sentence(" ".join(texts), at, kind=PassageKind.ROW, cells=cells, **fields)


def lay_out(*passages: Passage, titles: Sequence[str] = (TITLE,), text: str | None = None) -> PassageContext:
    """Return what stands around the passages, under *titles*, of which the first begin the card."""
    body = text if text is not None else "".join(one.words for one in passages)
    headings = tuple(Heading(start=index, title=title) for index, title in enumerate(titles))
    return PassageContext(Outline(passages=passages, headings=headings), body)


def write(*words: str, titles: Sequence[str] = (TITLE,), section: int | None = 0) -> tuple[PassageContext, tuple[Passage, ...]]:
    """Return sentences one after the other, each a paragraph of its own, in one section."""
    passages, at = [], 0
    for one in words:
        passages.append(sentence(one, at, section=section))
        at += len(one)
    return lay_out(*passages, titles=titles), tuple(passages)


def name_models(around: PassageContext, *others: str, title: str = TITLE) -> CardModels:
    """Return the models of a card with this title that names the others too."""
    return read_models(around, CardSource(title=title, publisher=None, card=None, models=others)) if not others else _with(others, title)


def _with(others: Sequence[str], title: str) -> CardModels:
    around, _ = write(*(f"We also ran {other}." for other in others))
    return read_models(around, CardSource(title=title, publisher=None, card=None))
