"""Cards of a few lines, and a language model on loopback that answers about them as a test says."""

import asyncio
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.propose.card_models import CardSource
from audit.propose.model_engine import AnswerSession, propose_by_model
from audit.propose.model_questions import QuestionSettings
from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import CallSettings, run_calls
from audit.replay.run_store import Call, open_store
from registry.records.claim_draft import Proposals
from registry.records.system_card import CardText, Heading, MediaType, Outline, Page, Passage, PassageKind, TableCell
from tests.endpoint.server import MODEL, Asked, Endpoint, Outcome, Reply
from tests.replay.calling import QUICK, open_at

SOURCE = CardSource(title="Model A System Card", publisher="Laboratory", card="CRD-LAB-2026-0001@1")
ASKING = QuestionSettings(model=MODEL)


@dataclass(frozen=True)
class Table:
    """A table of a card."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass
class _Page:
    text: str = ""
    passages: list[Passage] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    block: int = 0

    def add(self, kind: PassageKind, words: str, **fields: Any) -> None:
        """Put one passage under the others."""
        start = len(self.text)
        section = len(self.headings) - 1 if self.headings else None
        known = {"page": None, "section": section, "block": self.block, "words": words}
        self.passages.append(Passage(**{"kind": kind, "start": start, "stop": start + len(words), **known, **fields}))
        self.text += words + "\n"

    def add_block(self, block: str | Table) -> None:
        """Put a heading, a paragraph with one sentence a line, or a table under the others."""
        self.block += 1
        if isinstance(block, Table):
            self.add(PassageKind.CAPTION, block.caption)
            self.block += 1
            self.add(PassageKind.HEAD, " | ".join(block.head))
            for row in block.rows:
                cells = tuple(TableCell(text=text, column=column) for text, column in zip(row, block.head, strict=True))
                self.add(PassageKind.ROW, " | ".join(row), cells=cells, caption=block.caption)
        elif block.startswith("# "):
            self.headings.append(Heading(start=len(self.text), title=block.removeprefix("# ")))
            self.add(PassageKind.HEADING, block.removeprefix("# "))
        else:
            for line in block.splitlines():
                self.add(PassageKind.SENTENCE, line)


def build_card(*blocks: str | Table) -> tuple[CardText, Outline]:
    """Return a card of headings ("# 1 Title"), paragraphs (a sentence a line) and tables."""
    page = _Page()
    for block in blocks:
        page.add_block(block)
    text = page.text
    card = CardText(
        sha256="ab" * 32,
        size_bytes=len(text),
        media_type=MediaType.PLAIN,
        text=text,
        pages=(Page(number=1, start=0, stop=len(text)),),
        extractor="by hand",
        headings=tuple(page.headings),
    )
    return card, Outline(passages=tuple(page.passages), headings=tuple(page.headings))


def offer(words: str, figure: str = "", **fields: Any) -> dict[str, Any]:
    """Return one claim of the line that has *words*, as a model offers it: a rate that is lower and safer, unless said otherwise."""
    texts = ("theta", "relative_to", "version", "evaluation", "grader", "elicitation", "caution")
    default: dict[str, Any] = {
        **dict.fromkeys(texts, ""),
        "words": words,
        "figure": figure,
        "form": "prevalence",
        "relation": "none",
        "model": {"value": "", "words": ""},
        "property": {"value": "violation rate", "words": ""},
        "class": "compliance_refusal",
        "direction": "lower_is_safer",
    }
    return {**default, **fields}


def answer(*claims: Any, shown: str = "") -> str:
    """Return the text of an answer with those of *claims* whose words are in a numbered line of *shown*."""
    lines = [(int(number), text) for number, _, text in (line.partition("| ") for line in shown.splitlines()) if number.isdigit()]
    placed = []
    for claim in claims:
        line = next((number for number, text in lines if claim["words"] in text), claim.get("line"))
        if line is not None:
            placed.append({**{name: value for name, value in claim.items() if name != "words"}, "line": line})
    return json.dumps({"claims": placed}, ensure_ascii=False)


def build_response(text: str) -> Response:
    """Return an answer as the run folder keeps it."""
    return Response(key="k", request="r", purpose=Purpose.PROPOSAL, model_requested="m", text=text, model_returned="m-1")


def read_shown(asked: Asked) -> str:
    """Return the lines of the card that a request shows, without their fence."""
    content = asked.body["messages"][0]["content"]
    found = re.search(r"<<<CARD ([0-9a-f]{24})\n(.*)\nCARD \1>>>", content, re.DOTALL)
    assert found is not None
    return found[2]


def always(*claims: Any) -> Callable[[Asked], Outcome]:
    """Return the script that offers those of *claims* whose words are in what is shown."""
    return lambda asked: Reply(text=answer(*claims, shown=read_shown(asked)))


@dataclass
class Asker:
    """Sends calls to a server and keeps what comes back in a folder."""

    server: Endpoint
    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)
    rounds: list[int] = field(default_factory=list)
    """How many calls were handed over at a time."""

    def propose(self, card: CardText, outline: Outline, asking: QuestionSettings = ASKING) -> Proposals:
        """Ask about *card*."""
        store = open_store(self.folder, create=True)
        again = {name: self.settings[name] for name in ("retry_failed", "repeat_lost") if name in self.settings}

        async def go(calls: Iterable[Call]) -> None:
            async with open_at(self.server) as endpoint:
                summary = await run_calls(store, calls, endpoint, CallSettings(patience=QUICK, **self.settings))
            if summary.stopped is not None:
                raise summary.stopped

        def ask(calls: Iterable[Call], count: int) -> None:
            self.rounds.append(count)
            asyncio.run(go(calls))

        try:
            return propose_by_model(card, outline, SOURCE, asking, AnswerSession(store=store, ask=ask, **again))
        finally:
            store.close()
