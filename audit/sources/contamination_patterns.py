"""The patterns of one response of a skill-contamination run: as its file records them, and matched anew against its text."""

from dataclasses import dataclass

from audit.matching import Kind, search
from audit.sources.contamination_files import Place
from registry.records.skills import PatternSource

Patterns = tuple[tuple[bool, ...], tuple[bool, ...]]
"""Whether each expected pattern, and each anti-pattern, was found in the response."""

PatternTexts = tuple[tuple[str, ...], tuple[str, ...]]
"""The expected patterns and the anti-patterns themselves."""

KINDS: tuple[Kind, Kind] = ("expected", "anti")
MATCH_LIMIT_S = 1.0
"""Longest search for one pattern in one response."""

NO_TEXT = "the text of the response is not there"
NO_RESULT = "the study records no patterns for the response"
NOT_NAMED = "the study does not name the patterns that it matched"
TOO_SLOW = f"a pattern took longer than {MATCH_LIMIT_S:g} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """What is known of the patterns of one response."""

    patterns: Patterns | None
    """As they match the text where that could be tried, else as the file records them; None where the file records nothing."""
    recorded: Patterns | None
    """As the file records them."""
    texts: PatternTexts | None
    """The patterns; None where the file does not name them."""
    unmatched: str | None
    """Why they were not matched here; None where they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPatterns:
    """The patterns that tasks/ gives a task."""

    texts: PatternTexts | None
    """None where the file gives none."""
    sources: tuple[PatternSource, ...]


def match_patterns(place: Place, text: str | None) -> Matching:
    """Return the patterns that *place* records of a response, matched anew against its *text* where there is one."""
    if place.value is None:
        return Matching(patterns=None, recorded=None, texts=None, unmatched=NO_RESULT)
    recorded = _read_results(place)
    texts = _read_texts(place)
    if text is None or texts is None:
        return Matching(patterns=recorded, recorded=recorded, texts=texts, unmatched=NOT_NAMED if texts is None else NO_TEXT)
    found = _search(texts, text)
    return Matching(patterns=found or recorded, recorded=recorded, texts=texts, unmatched=None if found else TOO_SLOW)


def read_planned(task: Place) -> PlannedPatterns:
    """Return the patterns of one task of tasks/, with the sources that the file gives for them."""
    named = task.has("expected_patterns") or task.has("anti_patterns")
    expected, anti = (tuple(task.texts(f"{kind}_patterns")) for kind in KINDS)
    sources = tuple(
        PatternSource(url=source.text("url"), description=source.text("description", default="") or None)
        for source in (task.items("pattern_sources") if task.has("pattern_sources") else ())
    )
    return PlannedPatterns(texts=(expected, anti) if named else None, sources=sources)


def _read_results(place: Place) -> Patterns:
    """Pattern by pattern, not the totals beside them."""
    expected, anti = (tuple(result.flag("matched") is True for result in place.items(f"{kind}_results")) for kind in KINDS)
    return expected, anti


def _read_texts(place: Place) -> PatternTexts | None:
    written = {kind: [result.at("pattern").value for result in place.items(f"{kind}_results")] for kind in KINDS}
    expected, anti = (tuple(pattern for pattern in written[kind] if isinstance(pattern, str)) for kind in KINDS)
    return None if (len(expected), len(anti)) != (len(written["expected"]), len(written["anti"])) else (expected, anti)


def _search(texts: PatternTexts, text: str) -> Patterns | None:
    """Return what *text* matches; None where a pattern takes too long."""
    try:
        expected, anti = (
            tuple(search(pattern, text, kind=kind, time_limit_s=MATCH_LIMIT_S).matched for pattern in patterns)
            for kind, patterns in zip(KINDS, texts, strict=True)
        )
    except TimeoutError:
        return None
    return expected, anti
