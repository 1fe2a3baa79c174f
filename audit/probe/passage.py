"""What the probe reads: a response's reasoning and its output, each as a passage of its own."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from audit.records.model_response import ReplayCell
from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.records.module_findings import Channel

NO_REASONING = "no-reasoning"
NO_OUTPUT = "no-output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One response as the probe reads it."""

    cell: ReplayCell
    reasoning: str | None
    """None when none was returned: then nothing is known of it."""
    output: str | None
    failure: str | None = None
    """Code of the failure, for a call without an answer; then there is neither reasoning nor output."""
    prompt: str | None = None
    """System prompt and messages as the model was given them; None when not known."""
    model: str | None = None
    """As the endpoint returned it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One channel of one response."""

    cell: ReplayCell
    channel: Channel
    text: str
    """Empty exactly when *absent* says why there is nothing to read."""
    absent: str | None
    """`no-reasoning`, `no-output`, or the code of the failed call."""
    prompt: str | None = None


def list_passages(said: Iterable[Said]) -> Iterator[Passage]:
    """Yield both channels of every response; a text of white space alone counts as nothing."""
    for one in said:
        for channel, text, code in ((Channel.REASONING, one.reasoning, NO_REASONING), (Channel.OUTPUT, one.output, NO_OUTPUT)):
            is_there = text is not None and bool(text.strip())
            yield Passage(
                cell=one.cell,
                channel=channel,
                text=text if text is not None and is_there else "",
                absent=None if is_there else one.failure or code,
                prompt=one.prompt,
            )


def draw(said: Iterable[Said], *, share: float, seed: int) -> Iterator[Said]:
    """Yield the responses that *seed* draws, each by itself with the probability *share*: what is drawn stays so when others are added.

    Args:
        share: in (0, 1]; 1 gives all.
    """
    for one in said:
        if share >= 1 or _place(one.cell, seed) < share:
            yield one


def digest_passages(said: Iterable[Said]) -> str:
    """Return the SHA-256 of cells and texts, hexadecimal; the same for any order."""
    lines = sorted(
        hashlib.sha256(canonical_bytes({"cell": to_document(one.cell), "reasoning": one.reasoning, "output": one.output})).hexdigest()
        for one in said
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _place(cell: ReplayCell, seed: int) -> float:
    """A number in [0, 1) that cell and seed determine."""
    digest = hashlib.sha256(f"{seed}:".encode() + canonical_bytes(to_document(cell))).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
