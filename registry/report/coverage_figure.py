"""How much of a card is covered, as bars on paper, in CSS pixels: the whole card above, its sections below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.records.supplement import Coverage, PassageCounts, SectionCoverage
from registry.report.axis import WIDTH, shorten

_LABEL, _TOTAL, _LEAST = 244, 34, 3
_TOP, _WHOLE, _ROW, _BAR = 26, 24, 18, 12
_DIGIT, _LONGEST_LABEL = 6.6, 44
_UNKNOWN, _SWATCH, _LETTER = 46, 16, 5.1

STATES: Mapping[str, str] = {
    "restricted": "restricted",
    "undetermined": "audited, not settled",
    "unrestricted": "supported",
    "audited": "audited, not restricted",
    "registered": "not audited",
    "left_out": "left out with reason",
    "undecided": "undecided passages",
    "unknown": "not surveyed: unknown",
}
"""The parts of a bar in their order, and what they are called: claims first, then passages.

An undetermined outcome has a part of its own: "not restricted" would read as cleared. "audited" stands only in supplements that do
not tell how many are undetermined.
"""
_CLAIMS = ("restricted", "undetermined", "unrestricted", "audited", "registered")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """What of a bar has one state."""

    key: str
    count: int | None
    """None for what is not known."""
    x: float
    width: float
    text: str | None
    """The count, where there is room to print it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageBar:
    """The card, or one of its sections."""

    y: float
    label: str
    total: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageFigure:
    """A bar for the whole card over the whole width, and one for each section on a scale that they share."""

    height: float
    whole: CoverageBar
    legend: tuple[tuple[str, str, float], ...]
    """State, its words with the count, and where it begins."""
    sections: tuple[CoverageBar, ...]
    title: str
    description: str
    left_out: int
    """How many sections stand only in the table."""


def build_coverage_figure(coverage: Coverage, *, most: int = 24) -> CoverageFigure | None:
    """Return the figure of *coverage*; None where nothing is known of the card at all.

    Args:
        most: how many sections are drawn; of more, those with the most in them, in the order of the card.
    """
    parts = _split(coverage.total)
    if not sum(parts.values()):
        return None
    is_surveyed = coverage.total.proposed is not None
    shown = _choose([one for one in coverage.sections if one.is_placed], most) if len(coverage.sections) > 1 else []
    widest = max((sum(_split(one.counts).values()) for one in shown), default=1)
    rows_top = _TOP + _WHOLE + 22
    unit, headed = (WIDTH - _LABEL - _TOTAL) / widest, coverage.has_headings
    bars = tuple(_build_section(one, rows_top + _ROW * place, unit, has_headings=headed) for place, one in enumerate(shown))
    return CoverageFigure(
        height=rows_top + _ROW * len(bars) if bars else _TOP + _WHOLE + 4,
        whole=_build_whole(parts, is_surveyed=is_surveyed),
        legend=_build_legend(parts, is_surveyed=is_surveyed),
        sections=bars,
        title=_describe(parts, is_surveyed=is_surveyed),
        description=_describe_sections(bars),
        left_out=sum(one.is_placed for one in coverage.sections) - len(shown) if shown else 0,
    )


def _split(counts: PassageCounts) -> dict[str, int]:
    """Return the parts of a bar, each thing once: a claim by the furthest it came, and each passage of which there is no claim."""
    rest = counts.audited - counts.restricted
    told = (
        {"audited": rest}
        if counts.undetermined is None
        else {"undetermined": counts.undetermined, "unrestricted": rest - counts.undetermined}
    )
    return {
        "restricted": counts.restricted,
        **told,
        "registered": counts.registered - counts.audited,
        "left_out": counts.left_out,
        "undecided": counts.undecided or 0,
    }


def _choose(sections: Sequence[SectionCoverage], most: int) -> list[SectionCoverage]:
    largest = sorted(range(len(sections)), key=lambda place: -sum(_split(sections[place].counts).values()))[:most]
    return [sections[place] for place in sorted(largest)]


def _build_whole(parts: Mapping[str, int], *, is_surveyed: bool) -> CoverageBar:
    room = WIDTH if is_surveyed else WIDTH - _UNKNOWN
    segments = _lay_out(parts, left=0, width=room)
    if not is_surveyed:
        segments = (*segments, Segment(key="unknown", count=None, x=room, width=_UNKNOWN, text="?"))
    return CoverageBar(y=_TOP, label="", total=sum(parts.values()), segments=segments)


def _build_section(section: SectionCoverage, y: float, unit: float, *, has_headings: bool) -> CoverageBar:
    parts = _split(section.counts)
    total = sum(parts.values())
    label = section.title or ("above the first heading" if has_headings else f"page {section.page or 1}")
    segments = _lay_out(parts, left=_LABEL, width=total * unit)
    return CoverageBar(y=y, label=shorten(label, _LONGEST_LABEL), total=total, segments=segments)


def _lay_out(parts: Mapping[str, int], *, left: float, width: float) -> tuple[Segment, ...]:
    """Return the parts side by side; what is there is never too narrow to be seen."""
    total = sum(parts.values())
    wanted = {key: max(_LEAST, width * count / total) for key, count in parts.items() if count}
    factor = width / sum(wanted.values()) if width > _LEAST * len(wanted) else 1.0
    segments: list[Segment] = []
    x = float(left)
    for key, size in wanted.items():
        span, text = round(size * factor, 2), f"{parts[key]:,}"
        fits = span >= _DIGIT * len(text) + 4
        segments.append(Segment(key=key, count=parts[key], x=round(x, 2), width=span, text=text if fits else None))
        x += span
    return tuple(segments)


def _build_legend(parts: Mapping[str, int], *, is_surveyed: bool) -> tuple[tuple[str, str, float], ...]:
    keys = [key for key, count in parts.items() if count] + ([] if is_surveyed else ["unknown"])
    words = [f"{STATES[key]}{f' {parts[key]:,}' if key in parts else ''}" for key in keys]
    found, x = [], 0.0
    gap = (WIDTH - sum(_SWATCH + _LETTER * len(one) for one in words)) / max(len(words) - 1, 1)
    for key, text in zip(keys, words, strict=True):
        found.append((key, text, round(x, 2)))
        x += _SWATCH + _LETTER * len(text) + min(max(gap, 4), 26)
    return tuple(found)


def _describe(parts: Mapping[str, int], *, is_surveyed: bool) -> str:
    claims = "; ".join(f"{parts[key]:,} {STATES[key]}" for key in _CLAIMS if key in parts)
    passages = f"{parts['left_out']:,} left out with their reason"
    rest = (
        f"{parts['undecided']:,} proposed and undecided" if is_surveyed else "no survey is recorded, so how many are undecided is not known"
    )
    return f"Claims: {claims}. Passages: {passages}; {rest}."


def _describe_sections(bars: Sequence[CoverageBar]) -> str:
    if not bars:
        return "One bar for the whole card."
    words = (f"{bar.label}: " + ", ".join(f"{segment.count} {STATES[segment.key]}" for segment in bar.segments) for bar in bars)
    return "One bar for the whole card, and one for each section on a scale of their own. " + "; ".join(words) + "."
