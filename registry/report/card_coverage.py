"""How far the claims of a card are known, section by section, and the figure that shows it."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.records.audit_case import Independence
from registry.records.claim_status import find_gravest
from registry.records.dossier import Dossier, Recorded
from registry.records.statement import Entry
from registry.records.supplement import CardSupplement, Coverage, PassageCounts, SectionCoverage, UnreviewedPassage
from registry.records.system_card import Card, Omission, Survey
from registry.records.verdict import RestrictionStatus, Standing, find_restriction
from registry.report.interval_figures import WIDTH, shorten
from registry.report.number_format import format_items

Span = tuple[int, int]
"""First character and one past the last, in the text of the card revision."""

_RESTRICTING = (RestrictionStatus.NARROWED, RestrictionStatus.SUSPENDED, RestrictionStatus.NOT_SUPPORTED)
ReadWords = Callable[[int, int], str]
ReadRow = Callable[[int, int], str | None]
"""What the card says from one character to before another, as a person reads it."""

_NOWHERE = -2
"""The section of a claim that has no place in the card revision; -1 is what stands above the first heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageHistory:
    """What is recorded of a card's passages, of all its revisions, each in log order."""

    surveys: Sequence[Recorded[Survey]] = ()
    omissions: Sequence[Recorded[Omission]] = ()
    erased: Sequence[Entry] = ()
    """Surveys and omissions whose text was erased."""


def build_coverage(
    card: Recorded[Card], dossiers: Iterable[Dossier], passage_history: PassageHistory, *, text: str | None, read: ReadWords | None = None
) -> Coverage:
    """Return what of the card revision *card* was proposed, registered, audited, restricted, excluded, and not decided on.

    Two passages overlap if they have at least one character in common. A proposed passage is unreviewed if it overlaps neither the
    place of a registered claim nor a passage excluded. Of two proposed passages of which one lies within the other, the inner counts.
    Claims on the same words count once, as a family, in the section in which their passage begins. Where a claim quotes another revision of
    the card, that is where a recorded match found it in this one; without one, where its words are exactly once.
    An omission of another revision counts where its words are in this one exactly once.

    Args:
        dossiers: of the claims that quote the card in any of its revisions; those that are only reserved are passed over.
        text: of the card revision; None where it was erased.
        read: reads passages of this text; without it quotes are as they are in the file.
    """
    reference = f"{card.payload.card}@{card.payload.revision}"
    sections = _Sections(card.payload)
    surveys = [recorded.payload for recorded in passage_history.surveys if recorded.payload.card == reference]
    # Surveys add up: what one engine proposed stays proposed, whatever later surveys list.
    proposed = _keep_innermost({span for survey in surveys for span in survey.passages})
    omitted = sorted(_place_omissions(passage_history.omissions, reference, text), key=lambda omission: omission[0])
    families = [
        [(dossier, _find_place(dossier, card.payload, text)) for dossier in family]
        for family in group_families(member for member in dossiers if member.revisions)
    ]
    placed = [pair for family in families for pair in family]
    # One shared character with a claim or an omission decides a passage (decision of 2026-11-22).
    decided = _Spans([span for span, _ in omitted] + [place for _, place in placed if place is not None])
    unreviewed = [span for span in proposed if not decided.overlaps(span)]
    # Without a survey the number of proposed passages is unknown, which is not zero.
    tally = _Tally(is_surveyed=bool(surveys))
    for name, spans in (("proposed", proposed), ("excluded", [span for span, _ in omitted]), ("unreviewed", unreviewed)):
        for span in spans:
            tally.count(sections.find(span[0]), name)
    # A family counts once, in the section where its first passage begins. Otherwise the parts of a
    # bar would not add up to its claims.
    for family in families:
        starts = [place[0] for _, place in family if place is not None]
        for name in _list_states([dossier for dossier, _ in family]):
            tally.count(sections.find(min(starts)) if starts else _NOWHERE, name)
    return Coverage(
        surveyed_by=tuple(dict.fromkeys(survey.by for survey in surveys)),
        total=tally.sum_up(),
        sections=tuple(sections.describe(index, tally.get(index)) for index in tally.list_sections()),
        silent_sections=sections.count - sum(index >= 0 for index in tally.list_sections()),
        omissions=tuple(omission for _, omission in omitted),
        unreviewed=tuple(_describe_unreviewed(span, card.payload, sections, text=text, read=read) for span in unreviewed),
        erased=tuple(passage_history.erased),
        omitted=() if read is None else tuple(read(*span) for span, _ in omitted),
    )


class _Sections:
    """The sections of a card: its headings; where the file declares none, its pages."""

    def __init__(self, card: Card) -> None:
        self._card = card
        self._titles = [heading.title for heading in card.headings]
        # Pages stand in for headings, so that a card without any still has sections.
        self._starts = [heading.start for heading in card.headings] or [page.start for page in card.pages]

    @property
    def count(self) -> int:
        """How many there are, without what is above the first heading."""
        return len(self._starts)

    def find(self, position: int) -> int:
        """Return the section in which the character at *position* is; -1 above the first."""
        return bisect_right(self._starts, position) - 1

    def find_title(self, position: int) -> str | None:
        """Return the heading above *position*; None where there is none."""
        index = self.find(position)
        return self._titles[index] if self._titles and index >= 0 else None

    def describe(self, index: int, counts: PassageCounts) -> SectionCoverage:
        """Return the section *index* with its *counts*."""
        if index == _NOWHERE:
            return SectionCoverage(title=None, page=None, counts=counts, is_placed=False)
        start = self._starts[index] if index >= 0 else 0
        title = self._titles[index] if self._titles and index >= 0 else None
        return SectionCoverage(title=title, page=find_page(self._card, start), counts=counts)


class _Tally:
    """Counts by section."""

    def __init__(self, *, is_surveyed: bool) -> None:
        self._is_surveyed = is_surveyed
        self._counts: dict[int, Counter[str]] = defaultdict(Counter)

    def count(self, section: int, name: str) -> None:
        """Count one more of *name* in *section*."""
        self._counts[section][name] += 1

    def list_sections(self) -> list[int]:
        """Return the sections in which anything was counted, in the order of the card; what has no place comes last."""
        return sorted(self._counts, key=lambda index: (index == _NOWHERE, index))

    def get(self, section: int) -> PassageCounts:
        """Return what was counted in *section*."""
        return self._build(self._counts[section])

    def sum_up(self) -> PassageCounts:
        """Return what was counted in all sections."""
        return self._build(sum(self._counts.values(), Counter()))

    def _build(self, counter: Counter[str]) -> PassageCounts:
        return PassageCounts(
            # None, not 0: without a survey nothing is known of the unreviewed passages.
            proposed=counter["proposed"] if self._is_surveyed else None,
            registered=counter["registered"],
            audited=counter["audited"],
            restricted=counter["restricted"],
            excluded=counter["excluded"],
            unreviewed=counter["unreviewed"] if self._is_surveyed else None,
            undetermined=counter["undetermined"],
        )


class _Spans:
    """Spans that can be asked whether they overlap another, in a time that does not grow with their number."""

    def __init__(self, spans: Iterable[Span]) -> None:
        merged: list[Span] = []
        # Disjoint, sorted spans allow the bisection in `overlaps`.
        for start, stop in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
            else:
                merged.append((start, stop))
        self._starts = [start for start, _ in merged]
        self._stops = [stop for _, stop in merged]

    def overlaps(self, span: Span) -> bool:
        """Whether *span* has a character in common with one of them."""
        # Only the last span that begins before the end of *span* can overlap it, because the spans
        # are disjoint.
        last = bisect_right(self._starts, span[1] - 1) - 1
        return last >= 0 and self._stops[last] > span[0]


def find_page(card: Card, position: int) -> int | None:
    """Return the number of the page of *card* on which the character at *position* is; None for a card without pages."""
    if len(card.pages) < 2:
        return None
    return next((page.number for page in card.pages if position < page.stop), card.pages[-1].number)


def _keep_innermost(spans: set[Span]) -> list[Span]:
    """Return *spans* in order without those in which another lies: an engine that quotes a paragraph hides no sentence of another's."""
    kept: list[Span] = []
    nearest: int | None = None
    # From the end of the text to its beginning: a span that stops at or after the last kept one
    # contains that one.
    for start, stop in sorted(spans, key=lambda span: (-span[0], span[1])):
        if nearest is None or stop < nearest:
            kept.append((start, stop))
            nearest = stop
    return kept[::-1]


def group_families(dossiers: Iterable[Dossier]) -> list[list[Dossier]]:
    """Return *dossiers* by claim family, each family and its claims in their order."""
    listed = list(dossiers)
    # Union-find. Membership is recorded claim by claim, and the grouping must be transitive.
    above = list(range(len(listed)))
    numbers = {dossier.claim: number for number, dossier in enumerate(listed)}

    def find(number: int) -> int:
        while above[number] != number:
            number = above[number]
        return number

    for number, dossier in enumerate(listed):
        for claim in {member.partition("@")[0] for member in dossier.family.members} & (numbers.keys() - {dossier.claim}):
            # The earlier claim stays the root, so families keep the order of the claims.
            first, second = sorted((find(number), find(numbers[claim])))
            above[second] = first
    families: dict[int, list[Dossier]] = defaultdict(list)
    for number, dossier in enumerate(listed):
        families[find(number)].append(dossier)
    return list(families.values())


def _find_place(dossier: Dossier, card: Card, text: str | None) -> Span | None:
    """Return where the claim's passage stands in *card*: by its anchor, a recorded match, or its words; None where it does not."""
    claim = dossier.current.payload
    # The claim quotes this very text, so its anchor is the place.
    if claim.anchor is not None and claim.anchor.document == card.document:
        return claim.anchor.start, claim.anchor.stop
    reference = f"{card.card}@{card.revision}"
    sighted = [
        passage_match.payload
        for passage_match in dossier.passage_matches
        if passage_match.payload.card == reference and passage_match.payload.claim == claim.reference
    ]
    # Words that occur twice give no place: choosing one of them would be a guess.
    if not sighted and claim.anchor is not None and text is not None and text.count(claim.anchor.exact) == 1:
        start = text.index(claim.anchor.exact)
        return start, start + len(claim.anchor.exact)
    # A recorded match replaces the search, also when it says that the passage is gone.
    anchor = sighted[-1].anchor if sighted else None
    return (anchor.start, anchor.stop) if anchor else None


def _place_omissions(
    omissions: Iterable[Recorded[Omission]], reference: str, text: str | None
) -> Iterator[tuple[Span, Recorded[Omission]]]:
    for omission in omissions:
        anchor = omission.payload.anchor
        if omission.payload.card == reference:
            yield (anchor.start, anchor.stop), omission
        # The same rule as for claims: words of another revision count only where they occur once.
        elif text is not None and text.count(anchor.exact) == 1:
            start = text.index(anchor.exact)
            yield (start, start + len(anchor.exact)), omission


def _list_states(family: Sequence[Dossier]) -> Iterator[str]:
    """Yield under what a family counts: its gravest outcome decides."""
    yield "registered"
    gravest = find_gravest([dossier.status.gravest for dossier in family if dossier.status.gravest is not None])
    if gravest is None:
        return
    yield "audited"
    restriction = find_restriction(gravest.verdict, gravest.standing)
    # Undetermined is neither restricted nor cleared (decision of 2026-11-22), so it has a part of
    # its own.
    if restriction in _RESTRICTING:
        yield "restricted"
    elif restriction is not RestrictionStatus.SUPPORTED:
        yield "undetermined"


def _describe_unreviewed(span: Span, card: Card, sections: _Sections, *, text: str | None, read: ReadWords | None) -> UnreviewedPassage:
    start, stop = span
    return UnreviewedPassage(
        start=start,
        stop=stop,
        page=find_page(card, start),
        section=sections.find_title(start),
        quote="(the text of the card was erased)" if text is None else text[start:stop],
        readable=None if read is None else read(start, stop),
    )


_RESULTS = (
    (RestrictionStatus.SUPPORTED, "supported"),
    (RestrictionStatus.NARROWED, "narrowed"),
    (RestrictionStatus.NOT_SUPPORTED, "not supported"),
    (RestrictionStatus.SUSPENDED, "suspended"),
    (RestrictionStatus.EXISTENCE_ONLY, "existence only"),
    (RestrictionStatus.NOT_RESOLVED, "inconclusive"),
    (RestrictionStatus.UNAUDITED, "not audited"),
)
_ALWAYS = (RestrictionStatus.SUPPORTED, RestrictionStatus.NOT_RESOLVED, RestrictionStatus.UNAUDITED)


def describe_results(supplement: CardSupplement) -> str:
    """Return the results of a card in one sentence: `8 claims: 0 supported, 3 inconclusive, 5 not audited`."""
    erased = f" {len(supplement.erased):,} more not listed: a statement was erased." if supplement.erased else ""
    if not supplement.claims:
        return f"No claim of this card is {'listed' if erased else 'registered'}: nothing of it was audited.{erased}"
    return count_results([row.restriction for row in supplement.claims]) + erased


def count_results(restrictions: Collection[RestrictionStatus]) -> str:
    """Return how many claims have which of *restrictions*, in one sentence."""
    counts = Counter(restrictions)
    # None supported and none resolved are results too, so these are printed when they are 0.
    parts = [f"{counts[status]:,} {words}" for status, words in _RESULTS if counts[status] or status in _ALWAYS]
    return f"{format_items(len(restrictions), 'claim')}: {', '.join(parts)}."


_ONE_IN = 20
"""A firm verdict may be wrong in one replay of this many: its plan has a level of at least 95 %."""


def describe_audits(supplement: CardSupplement) -> str:
    """Return on what the outcomes of a card rest: `3 outcomes: 2 with a locked plan, 3 self-audits`; empty without an outcome."""
    rows = [row for row in supplement.claims if row.independence is not None]
    if not rows:
        return ""
    locked = sum(row.is_locked is True for row in rows)
    counts = Counter(row.independence for row in rows)
    words = {Independence.SELF: "self-audit", Independence.COMMISSIONED: "commissioned", Independence.THIRD_PARTY: "independent"}
    parts = [
        f"{counts[kind]:,} {word}{'s' if kind is Independence.SELF and counts[kind] > 1 else ''}"
        for kind, word in words.items()
        if counts[kind]
    ]
    # Nothing adjusts the verdicts of different claims for their number.
    firm = sum(row.standing in (Standing.ESTABLISHED, Standing.CONDITIONAL) for row in rows)
    wrong = f" Each verdict may err by itself: of {firm:,} firm ones about {firm // _ONE_IN:,} may be wrong by chance."
    audited = f"{format_items(len(rows), 'outcome')}: {locked:,} with a locked plan, {', '.join(parts)}."
    return audited + (wrong if firm >= _ONE_IN else "")


# Geometry of the figure in CSS pixels: one bar for the whole card, and one for each section below
# it.

_LABEL, _TOTAL, _LEAST = 244, 34, 3
_TOP, _WHOLE, _ROW, _BAR = 26, 24, 18, 12
_DIGIT, _LONGEST_LABEL = 6.6, 44
_UNKNOWN, _SWATCH, _LETTER = 46, 16, 5.1

STATES: Mapping[str, str] = {
    "restricted": "restricted",
    "undetermined": "inconclusive",
    "unrestricted": "supported",
    "audited": "audited, not restricted",
    "registered": "not audited",
    "excluded": "excluded with reason",
    "unreviewed": "passages not reviewed",
    "unknown": "not surveyed: unknown",
}
"""The parts of a bar in their order, and what they are called: claims first, then passages.

An undetermined outcome has a part of its own: "not restricted" would read as cleared. "audited" stands only in supplements that do
not tell how many are undetermined.
"""
_CLAIMS = ("restricted", "undetermined", "unrestricted", "audited", "registered")


@dataclass(frozen=True, slots=True, kw_only=True)
class BarSegment:
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
    segments: tuple[BarSegment, ...]


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
    excluded: int
    """How many sections stand only in the table."""


def build_coverage_figure(coverage: Coverage, *, most: int = 24) -> CoverageFigure | None:
    """Return the figure of *coverage*; None where nothing is known of the card at all.

    Args:
        most: how many sections are rendered; of more, those with the most in them, in the order of the card.
    """
    parts = _split(coverage.total)
    # An empty bar would read as a result.
    if not sum(parts.values()):
        return None
    is_surveyed = coverage.total.proposed is not None
    # A single section would repeat the bar of the whole card.
    shown = _choose([section for section in coverage.sections if section.is_placed], most) if len(coverage.sections) > 1 else []
    # All sections share one scale, so that their lengths compare. The whole card has its own.
    widest = max((sum(_split(section_coverage.counts).values()) for section_coverage in shown), default=1)
    rows_top = _TOP + _WHOLE + 22
    unit, headed = (WIDTH - _LABEL - _TOTAL) / widest, coverage.has_headings
    bars = tuple(
        _build_section(section_coverage, rows_top + _ROW * place, unit, has_headings=headed) for place, section_coverage in enumerate(shown)
    )
    return CoverageFigure(
        height=rows_top + _ROW * len(bars) if bars else _TOP + _WHOLE + 4,
        whole=_build_whole(parts, is_surveyed=is_surveyed),
        legend=_build_legend(parts, is_surveyed=is_surveyed),
        sections=bars,
        title=_describe(parts, is_surveyed=is_surveyed),
        description=_describe_sections(bars),
        excluded=sum(section_coverage.is_placed for section_coverage in coverage.sections) - len(shown) if shown else 0,
    )


def _split(counts: PassageCounts) -> dict[str, int]:
    """Return the parts of a bar, each thing once: a claim by the furthest it came, and each passage of which there is no claim."""
    # Supplements from before undetermined outcomes were counted keep the old part "audited".
    rest = counts.audited - counts.restricted
    audited_parts = (
        {"audited": rest}
        if counts.undetermined is None
        else {"undetermined": counts.undetermined, "unrestricted": rest - counts.undetermined}
    )
    return {
        "restricted": counts.restricted,
        **audited_parts,
        "registered": counts.registered - counts.audited,
        "excluded": counts.excluded,
        "unreviewed": counts.unreviewed or 0,
    }


def _choose(sections: Sequence[SectionCoverage], most: int) -> list[SectionCoverage]:
    # The fullest sections are chosen, and then put back into the order of the card.
    largest = sorted(range(len(sections)), key=lambda place: -sum(_split(sections[place].counts).values()))[:most]
    return [sections[place] for place in sorted(largest)]


def _build_whole(parts: Mapping[str, int], *, is_surveyed: bool) -> CoverageBar:
    # The unknown part has no count to scale by, so it takes a fixed width from the others.
    room = WIDTH if is_surveyed else WIDTH - _UNKNOWN
    segments = _lay_out(parts, left=0, width=room)
    if not is_surveyed:
        segments = (*segments, BarSegment(key="unknown", count=None, x=room, width=_UNKNOWN, text="?"))
    return CoverageBar(y=_TOP, label="", total=sum(parts.values()), segments=segments)


def _build_section(section: SectionCoverage, y: float, unit: float, *, has_headings: bool) -> CoverageBar:
    parts = _split(section.counts)
    total = sum(parts.values())
    label = section.title or ("above the first heading" if has_headings else f"page {section.page or 1}")
    segments = _lay_out(parts, left=_LABEL, width=total * unit)
    return CoverageBar(y=y, label=shorten(label, _LONGEST_LABEL), total=total, segments=segments)


def _lay_out(parts: Mapping[str, int], *, left: float, width: float) -> tuple[BarSegment, ...]:
    """Return the parts side by side; what is there is never too narrow to be seen."""
    total = sum(parts.values())
    # A part with one passage must stay visible in a bar of hundreds. The minimum widths are taken
    # from all parts alike, so that the bar keeps its length.
    wanted = {key: max(_LEAST, width * count / total) for key, count in parts.items() if count}
    factor = width / sum(wanted.values()) if width > _LEAST * len(wanted) else 1.0
    segments: list[BarSegment] = []
    x = float(left)
    for key, size in wanted.items():
        span, text = round(size * factor, 2), f"{parts[key]:,}"
        # A count that does not fit is left out of the bar; the legend has it.
        fits = span >= _DIGIT * len(text) + 4
        segments.append(BarSegment(key=key, count=parts[key], x=round(x, 2), width=span, text=text if fits else None))
        x += span
    return tuple(segments)


def _build_legend(parts: Mapping[str, int], *, is_surveyed: bool) -> tuple[tuple[str, str, float], ...]:
    keys = [key for key, count in parts.items() if count] + ([] if is_surveyed else ["unknown"])
    words = [f"{STATES[key]}{f' {parts[key]:,}' if key in parts else ''}" for key in keys]
    labels, x = [], 0.0
    gap = (WIDTH - sum(_SWATCH + _LETTER * len(word) for word in words)) / max(len(words) - 1, 1)
    for key, text in zip(keys, words, strict=True):
        labels.append((key, text, round(x, 2)))
        x += _SWATCH + _LETTER * len(text) + min(max(gap, 4), 26)
    return tuple(labels)


def _describe(parts: Mapping[str, int], *, is_surveyed: bool) -> str:
    claims = "; ".join(f"{parts[key]:,} {STATES[key]}" for key in _CLAIMS if key in parts)
    passages = f"{parts['excluded']:,} excluded with their reason"
    rest = (
        f"{parts['unreviewed']:,} proposed and unreviewed"
        if is_surveyed
        else "no survey is recorded, so how many are unreviewed is not known"
    )
    return f"Claims: {claims}. Passages: {passages}; {rest}."


def _describe_sections(bars: Sequence[CoverageBar]) -> str:
    if not bars:
        return "One bar for the whole card."
    words = (f"{bar.label}: " + ", ".join(f"{segment.count} {STATES[segment.key]}" for segment in bar.segments) for bar in bars)
    return "One bar for the whole card, and one for each section on a scale of their own. " + "; ".join(words) + "."
