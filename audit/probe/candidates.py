"""What the recall filter marks, counted: never a rate of recognition."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from audit.probe.passage import Passage
from audit.probe.patterns import FAMILIES, TIMED_OUT, find_hits
from registry.records.module_findings import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateCount:
    """One channel of one arm."""

    arm: str
    spec: str | None
    channel: Channel
    responses: int
    present: int
    """Those whose channel holds a text; 0: the channel is unavailable."""
    candidates: int
    families: dict[str, int]
    """By family of patterns, the passages that it marks, in the order of `FAMILIES`; a passage may be marked by several."""


def find_families(text: str) -> tuple[str, ...]:
    """Return the families of patterns that mark *text*, in their order; empty when none does."""
    return tuple(dict.fromkeys(hit.family for hit in find_hits(text)))


def count_candidates(passages: Iterable[Passage]) -> tuple[CandidateCount, ...]:
    """Return the counts, by arm, specification and channel."""
    totals: Counter[tuple[str, str, Channel, str]] = Counter()
    places: dict[tuple[str, str, Channel], None] = {}
    for one in passages:
        place = (one.cell.arm, one.cell.spec or "", one.channel)
        places[place] = None
        families = find_families(one.text) if one.absent is None else ()
        marks = ["responses", *(["present"] if one.absent is None else []), *(["candidates"] if families else []), *families]
        totals.update((*place, mark) for mark in marks)
    names = (*FAMILIES, TIMED_OUT)
    return tuple(
        CandidateCount(
            arm=place[0],
            spec=place[1] or None,
            channel=place[2],
            responses=totals[*place, "responses"],
            present=totals[*place, "present"],
            candidates=totals[*place, "candidates"],
            families={name: totals[*place, name] for name in names if totals[*place, name]},
        )
        for place in sorted(places, key=lambda one: (one[0], one[1], list(Channel).index(one[2])))
    )
