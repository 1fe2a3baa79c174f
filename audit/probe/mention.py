"""Whether each response mentions a test, from the classes of its passages: what is not known is not a no."""

from collections.abc import Sequence
from dataclasses import dataclass

from audit.probe.classify import Classified
from audit.probe.passage import Passage
from audit.records.model_response import ReplayCell
from registry.records.module_findings import RECOGNITION


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One response."""

    cell: ReplayCell
    mentioned: bool | None
    """Whether its reasoning or its output verbalises recognition of being tested; None where *unknown* says why that is not known."""
    unknown: str | None = None


def list_mentions(passages: Sequence[Passage], found: Sequence[Classified]) -> list[Mention]:
    """Return one mention for each response, in the order of *passages*.

    One recognised channel is a mention. Without one, every channel that holds a text must have a class for a no: a text without a class
    may have been recognition, and a response without any text says nothing.
    """
    channels: dict[ReplayCell, list[Passage]] = {}
    for passage in passages:
        channels.setdefault(passage.cell, []).append(passage)
    readings = {(one.passage.cell, one.passage.channel): one for one in found}
    return [_read(cell, each, [readings.get((cell, one.channel)) for one in each]) for cell, each in channels.items()]


def _read(cell: ReplayCell, passages: Sequence[Passage], readings: Sequence[Classified | None]) -> Mention:
    if any(one is not None and one.class_ in RECOGNITION for one in readings):
        return Mention(cell=cell, mentioned=True)
    if all(one.absent is not None for one in passages):
        return Mention(cell=cell, mentioned=None, unknown=passages[-1].absent)
    for passage, reading in zip(passages, readings, strict=True):
        if passage.absent is None and (reading is None or reading.class_ is None):
            return Mention(cell=cell, mentioned=None, unknown=(reading.reading.excluded if reading else None) or "not-asked")
    return Mention(cell=cell, mentioned=False)
