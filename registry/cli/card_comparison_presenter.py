"""Two revisions of a card compared, in a terminal and as JSON."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from registry.codec.canonical_documents import to_document
from registry.intake.revision.passage_changes import ChangedFigure, PassageEdit, RevisionChanges
from registry.intake.text_normalisation import INVISIBLE
from registry.present.blocks import Block, Subtitle, Title
from registry.records.system_card import Anchor, MatchResult
from registry.registration.passage_matching import ComparedPassage, RevisionComparison
from registry.report.quoted_text import RunChange, build_redline

_MOST = 20
"""Changes of each list that are shown without `--all`."""
_CONTEXT = 60
"""Characters of unchanged text that are shown on either side of an edit outside of claims."""
_LONGEST_EDIT = 300
"""Characters that are shown at either end of an edit outside of claims."""
_MARKS = {RunChange.REMOVED: ("[-", "-]"), RunChange.ADDED: ("{+", "+}"), RunChange.KEPT: ("", "")}
_SIGNS = re.compile(r"\[-|-\]|\{\+|\+\}")
"""The marks of a redline, where a card has them itself."""


def count_match_results(passages: Sequence[ComparedPassage]) -> dict[str, int]:
    """Return how many passages met each match_result."""
    counted = Counter(passage.found.match_result for passage in passages)
    return {match_result.value: counted[match_result] for match_result in MatchResult}


def describe_match_results(match_results: Counter[MatchResult], respelled: int) -> str:
    """Return the counts on one line, such as "18 unchanged, 2 reworded (only in spelling), 2 gone", without results that no passage has."""
    counts = []
    for match_result in MatchResult:
        alone = "" if match_result is not MatchResult.REWORDED or not respelled else " (only in spelling)"
        # All reworded passages differ in spelling, or only some of them do; then the number is
        # given.
        if alone and respelled < match_results[match_result]:
            alone = f" ({respelled} only in spelling)"
        counts += [f"{match_results[match_result]} {match_result.value}{alone}"] if match_results[match_result] else []
    return ", ".join(counts)


def render_redline(old: str, new: str, *, context: int | None = None) -> str:
    """Return the edits that lead from *old* to *new*, `[-taken out-]` and `{+put in+}`; of long unchanged runs only the ends, if asked.

    Where a text has these signs itself, a backslash is before them.
    """
    # Line breaks and signs without a shape come from the layout of a card and are no changes.
    runs = build_redline(*(" ".join(INVISIBLE.sub("", text).split()) for text in (old, new)))
    shown = []
    for at, run in enumerate(runs):
        before, after = _MARKS[run.change]
        # A card may contain these signs itself, so they are escaped.
        text = _SIGNS.sub(r"\\\g<0>", run.text)
        # Outside of claims only the ends next to an edit are shown: a paragraph would hide one
        # changed word.
        if context is not None and run.change is RunChange.KEPT:
            text = _clip(text, context, first=at == 0, last=at == len(runs) - 1)
        elif context is not None:
            text = _clip(text, _LONGEST_EDIT, first=False, last=False)
        # White space before an edit stands outside of its marks.
        lead = text[: len(text) - len(text.lstrip())] if before else ""
        # A replacement follows what it replaces directly.
        replaces = run.change is RunChange.ADDED and at > 0 and runs[at - 1].change is RunChange.REMOVED
        shown.append(f"{'' if replaces else lead}{before}{text.removeprefix(lead)}{after}" if text.strip() else "")
    return "".join(shown)


def summarise_comparison(revision_comparison: RevisionComparison) -> dict[str, Any]:
    """Return a comparison as a document, every claim in it."""
    quoting = revision_comparison.quoting
    return {
        "old": _summarise_side(revision_comparison, old=True),
        "new": _summarise_side(revision_comparison, old=False),
        "backwards": revision_comparison.is_backwards,
        "counts": count_match_results(revision_comparison.passages),
        "in_spelling_alone": _count_respelled(revision_comparison),
        "claims": [_summarise(passage) for passage in revision_comparison.passages],
        "quoting_newer": _list_quoting_newer(revision_comparison),
        "paraphrased": list(quoting.paraphrased) if quoting else [],
        "ended": list(quoting.ended) if quoting else [],
        "changes": to_document(revision_comparison.changes),
        "figures_without_claim": [to_document(figure) for figure in revision_comparison.figures],
        "passages_without_claim": [to_document(edit) for edit in revision_comparison.edits],
    }


def present_comparison(revision_comparison: RevisionComparison, *, whole: bool) -> Iterator[Block]:
    """Present the outcome of each claim, then what else changed: of each list the first, or the *whole*."""
    yield Title(f"{revision_comparison.old.name} → {revision_comparison.new.name}")
    if revision_comparison.is_backwards:
        yield "compared backwards: from the newer to the older"
    elif revision_comparison.new.card is not None and revision_comparison.new.card.why:
        yield f"why: {revision_comparison.new.card.why}"
    yield from _present_counts(revision_comparison)
    # Alarms first; sorting is stable, so the rest keeps the order of the card.
    for compared_passage in sorted(revision_comparison.passages, key=lambda passage: not passage.is_alarm):
        # An unchanged passage needs no line; it is counted.
        if compared_passage.found.match_result is not MatchResult.UNCHANGED:
            yield from _present_passage(
                compared_passage, None if compared_passage.quoted == revision_comparison.old.name else compared_passage.quoted
            )
    yield from _present_changes(revision_comparison.changes)
    most = None if whole else _MOST
    yield from _present_figures(revision_comparison.figures, most)
    # A passage with a changed figure was listed already.
    starts = {figure.start for figure in revision_comparison.figures if figure.old}
    yield from _present_edits([edit for edit in revision_comparison.edits if edit.start not in starts], most)
    # Only if every list is empty: otherwise this sentence would contradict what was printed.
    if not (
        revision_comparison.figures
        or revision_comparison.edits
        or revision_comparison.changes.removed
        or revision_comparison.changes.reworded
    ):
        yield "  No figure changed, and nothing was reworded or removed, where no claim is registered."


def _present_counts(revision_comparison: RevisionComparison) -> Iterator[Block]:
    if not revision_comparison.passages:
        none = f"No claim to follow quotes {revision_comparison.old.name} or a revision before it."
        yield f"\n{none if revision_comparison.quoting else 'No quotes were followed; --claims FILE names some.'}"
    else:
        noun = "claim" if len(revision_comparison.passages) == 1 else "claims"
        yield f"\n{len(revision_comparison.passages)} {noun} followed:"
        respelled = _count_respelled(revision_comparison)
        match_results = Counter(passage.found.match_result for passage in revision_comparison.passages)
        for match_result in MatchResult:
            note = f"   {respelled} only in spelling, no alarm" if respelled and match_result is MatchResult.REWORDED else ""
            yield f"  {match_result.value:<9}{match_results[match_result]:>5}{note}"
    quoting = revision_comparison.quoting
    if decided := _list_quoting_newer(revision_comparison):
        yield f"Not followed, for they quote {revision_comparison.new.name} itself: {', '.join(decided)}"
    if quoting and quoting.paraphrased:
        yield f"Not followed, for they quote no passage: {', '.join(quoting.paraphrased)}"
    if quoting and quoting.ended:
        yield f"Not followed, for they are withdrawn or superseded: {', '.join(quoting.ended)}"


def _present_passage(passage: ComparedPassage, quoted: str | None) -> Iterator[Block]:
    """*quoted*: the revision it is quoted from, if it is not the older of the two."""
    anchor = passage.found.anchor
    spelling = " only in spelling" if passage.found.differs else ""
    yield Subtitle(f"{passage.name}  {passage.found.match_result.value}{spelling}{f', quoted from {quoted}' if quoted else ''}")
    yield f"  {_describe_move(passage.old, anchor)}"
    old = passage.old.exact
    match passage.found.match_result:
        case MatchResult.GONE:
            yield f"  {render_redline(old, '')}"
        case MatchResult.REWORDED if anchor is not None:
            yield f"  {render_redline(old, anchor.exact)}"
        case _:
            yield f"  {' '.join(old.split())}"
    yield from (f"  {change}" for change in passage.found.heads)
    yield f"  {_advise(passage)}"


def _advise(passage: ComparedPassage) -> str:
    """Return what a person may do next about a passage that is not unchanged."""
    claim = passage.name.partition("@")[0]
    # A moved passage has the same words, so its audits stay valid.
    if passage.found.match_result is MatchResult.MOVED:
        return "Nothing to do: its audits still count."
    if passage.found.differs:
        return f"Nothing to do: {'; '.join(passage.found.differs)}"
    # A file that is not registered has no revision that a claim could be moved to.
    if passage.sighted is None:
        return f"{f'A number changed ({passage.numbers}). ' if passage.numbers else ''}Next: register the newer one, then decide."
    if passage.found.match_result is MatchResult.GONE:
        return f'Next: caveat claim withdraw {claim} --reason "…"; or leave it as it is: it needs review.'
    # A changed number is another claim, so rewording is not offered.
    if passage.numbers:
        return f'A number changed ({passage.numbers}). Next: caveat claim revise {claim} FILE --reason "…"'
    return f'Next: the same claim: caveat claim reword {claim}; another: caveat claim revise {claim} FILE --reason "…"'


def _describe_move(old: Anchor, new: Anchor | None) -> str:
    """Return page and section, old → new, each once where it is the same."""
    pages = None if old.page is None else f"page {old.page}"
    if new is None:
        # Without a page or a section the position in the text is all there is.
        return ", ".join(filter(None, (pages, old.section))) or f"character {old.start:,}"
    if old.page is not None and new.page is not None and new.page != old.page:
        pages = f"page {old.page} → {new.page}"
    sections = old.section if old.section == new.section else f"{old.section or 'no section'} → {new.section or 'no section'}"
    return ", ".join(filter(None, (pages, sections))) or f"character {old.start:,} → {new.start:,}"


def _present_changes(changes: RevisionChanges) -> Iterator[Block]:
    yield Subtitle("Both texts as wholes")
    yield (
        f"  passages: {changes.unchanged:,} unchanged ({changes.moved:,} moved, {changes.respelled:,} in another spelling), "
        f"{changes.reworded:,} reworded, {changes.removed:,} removed{_describe_with_figures(changes.removed_with_figures)}, "
        f"{changes.added:,} added{_describe_with_figures(changes.added_with_figures)}"
    )
    for sign, titles in (("added", changes.sections_added), ("removed", changes.sections_removed)):
        for title in titles:
            yield f"  section {sign}: {title}"
    for section in changes.sections_renamed:
        yield f"  section renamed: {render_redline(section.old, section.new)}"


def _describe_with_figures(count: int) -> str:
    return f" ({count:,} with figures)" if count else ""


def _present_figures(figures: Sequence[ChangedFigure], most: int | None) -> Iterator[Block]:
    if not figures:
        return
    noun = "passage" if len(figures) == 1 else "passages"
    yield Subtitle(f"{len(figures)} {noun} with changed figures of which no claim is registered")
    for figure in figures[:most]:
        match_result = " (removed)" if not figure.new else " (added)" if not figure.old else ""
        yield f"  {_place(figure.page, figure.section, figure.start)}: {figure.numbers}{match_result}"
        yield f"    {render_redline(figure.old, figure.new, context=_CONTEXT)}"
    yield from _present_rest(len(figures), most)


def _present_edits(edits: Sequence[PassageEdit], most: int | None) -> Iterator[Block]:
    """Present what was reworded or removed without a figure, changes of sense first."""
    if not edits:
        return
    noun = "passage" if len(edits) == 1 else "passages"
    yield Subtitle(f"{len(edits)} {noun} reworded or removed, without figures, of which no claim is registered")
    for edit in edits[:most]:
        changes = "; ".join(map(str, edit.turns)) or ("reworded" if edit.new else "removed")
        yield f"  {_place(edit.page, edit.section, edit.start)}: {changes}"
        yield f"    {render_redline(edit.old, edit.new, context=_CONTEXT)}"
    yield from _present_rest(len(edits), most)


def _present_rest(total: int, most: int | None) -> Iterator[Block]:
    if most is not None and total > most:
        yield f"  … and {total - most:,} more: --all"


def _place(page: int | None, section: str | None, start: int) -> str:
    return ", ".join(filter(None, (f"page {page}" if page else None, section))) or f"character {start:,}"


def _clip(text: str, most: int, *, first: bool, last: bool) -> str:
    """Return the ends of *text* next to an edit, cut at spaces."""
    if len(text) <= 2 * most:
        # A text that is hardly longer than its two ends is shown whole.
        return text
    # Cut at spaces, so that no number is halved.
    head = "" if first else text[:most].rpartition(" ")[0]
    tail = "" if last else text[-most:].partition(" ")[2]
    return f"{head} … {tail}" if head and tail else f"{head} …" if head else f"… {tail}"


def _list_quoting_newer(revision_comparison: RevisionComparison) -> list[str]:
    """Return the claims that quote the newer revision, such as those that were reworded into it."""
    return (
        [claim.reference for claim, _ in revision_comparison.quoting.anchored if claim.card == revision_comparison.new.name]
        if revision_comparison.quoting
        else []
    )


def _count_respelled(revision_comparison: RevisionComparison) -> int:
    return sum(bool(passage.found.differs) for passage in revision_comparison.passages)


def _summarise_side(revision_comparison: RevisionComparison, *, old: bool) -> dict[str, Any]:
    side = revision_comparison.old if old else revision_comparison.new
    registered = side.card
    return {
        "card": registered.card if registered else None,
        "revision": registered.revision if registered else None,
        "file": None if registered else side.name,
        "document": side.text.sha256,
    }


def _summarise(passage: ComparedPassage) -> dict[str, Any]:
    anchor = passage.found.anchor
    runs = build_redline(" ".join(passage.old.exact.split()), " ".join(anchor.exact.split())) if anchor else ()
    return {
        "claim": passage.name,
        "quoted": passage.quoted,
        "match": passage.found.match_result.value,
        "alarm": passage.is_alarm,
        "differs": list(passage.found.differs),
        "heads": list(passage.found.heads),
        "numbers": passage.numbers,
        "recorded": passage.sighted is not None and passage.sighted.is_recorded,
        "old": to_document(passage.old),
        "new": to_document(anchor) if anchor else None,
        "redline": [{"change": run.change.value, "text": run.text} for run in runs],
    }
