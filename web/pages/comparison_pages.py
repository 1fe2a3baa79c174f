"""Comparisons of this registry with logs of others that were imported, and of two of these: disagreements first."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from registry.exchange.claim_comparison import ClaimPair, MatchKind, compare_registries
from registry.present.blocks import Block, Facts
from registry.present.html_fragment import render_fragment
from registry.store.log_seals import list_imports
from registry.store.registry_view import View
from web.pages.addresses import Linker
from web.pages.layout import PageLink, PageText, render

INDEX = "/compare/"
_SCHEME = "caveat.log/"
MOST_CLAIMS = 20_000
"""Claims of one log that a page compares: of more, the command does."""
_SHOWN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedLog:
    """A log that can be compared."""

    origin: str
    size: int
    is_own: bool

    @property
    def short(self) -> str:
        """Its name without the scheme, as addresses have it."""
        return self.origin.removeprefix(_SCHEME)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRow:
    """A claim in a table of a comparison."""

    kind: str
    words: str
    model: str
    first: PageLink | None
    second: PageLink | None
    differences: tuple[tuple[str, str, str], ...]


def list_logs(view: View) -> list[ComparedLog]:
    """Return this registry's log, then each that was taken over, with its size as of the last import."""
    sizes = {recorded.payload.origin: recorded.payload.size for recorded in list_imports(view)}
    logs = [ComparedLog(origin=view.log_origin, size=view.log_size, is_own=True)]
    # A log that was imported may itself name imports of its registry, which are not here.
    others = {origin: size for origin, size in sizes.items() if origin != view.log_origin and view.open_import(origin, size) is not None}
    return [*logs, *(ComparedLog(origin=origin, size=size, is_own=False) for origin, size in others.items())]


def list_addresses(view: View) -> list[str]:
    """Return the pages that compare two logs, and their list; none where no log was imported."""
    logs = list_logs(view)
    pairs = [_find_address(first, second) for first, second in combinations(logs, 2)]
    return [INDEX, *pairs] if pairs else []


def _find_address(first: ComparedLog, second: ComparedLog) -> str:
    return f"{INDEX}{first.short}/{second.short}/"


def find_comparison(view: View, address: str, link: Linker) -> bytes | None:
    """Return the page at *address*, `/compare/` or `/compare/A/B/`; None where there is none. Either log may come first."""
    logs = list_logs(view)
    if address == INDEX:
        return _render_list(view, logs, link)
    for first in logs:
        for second in logs:
            if first.origin != second.origin and address == _find_address(first, second):
                return _render_pair(view, first, second, link)
    return None


def _render_list(view: View, logs: list[ComparedLog], link: Linker) -> bytes:
    links = [
        PageLink(
            text=f"{first.short} and {second.short}",
            href=link(_find_address(first, second)),
            note=f"{first.size:,} and {second.size:,} entries",
        )
        for first, second in combinations(logs, 2)
    ]
    note = None if links else "No log of another registry was imported."
    group = {"key": "pairs", "title": "Two logs", "note": note, "claims": (), "entries": (), "links": tuple(links), "caption": ""}
    text = PageText(title="Comparison of logs", origin=view.log_origin, state=f"As of entry {view.log_size:,}.")
    return render("blocks.html.j2", text, {"body": "", "redline": (), "groups": (group,)}, link)


def _open(view: View, log: ComparedLog) -> View:
    opened = view if log.is_own else view.open_import(log.origin, log.size)
    if opened is None:
        raise ValueError(f"the log {log.origin} is not here")
    return opened


def _render_pair(view: View, first: ComparedLog, second: ComparedLog, link: Linker) -> bytes:
    left, right = _open(view, first), _open(view, second)
    text = PageText(title="Two registries compared", origin=view.log_origin, state=f"As of entry {view.log_size:,}.")
    sides = [(letter, f"{log.origin}, {log.size:,} entries") for letter, log in (("A", first), ("B", second))]
    blocks: list[Block] = [Facts(sides)]
    if max(left.count_claims(), right.count_claims()) > MOST_CLAIMS:
        blocks.append(f"A log with more than {MOST_CLAIMS:,} claims is compared by the command: caveat compare A B")
        return render("comparison.html.j2", text, {"body": render_fragment(blocks), "counts": None, "tables": ()}, link)
    pairs = compare_registries(left, right)
    rows = [_build_row(pair, first, second, link) for pair in pairs]
    tables = [(_TITLES[kind], [row for row in rows if row.kind == kind.value]) for kind in MatchKind]
    facts = {
        "body": render_fragment(blocks),
        "counts": [_count(pairs, kind) for kind in MatchKind],
        "tables": [(title, listed[:_SHOWN], len(listed)) for title, listed in tables if listed],
    }
    return render("comparison.html.j2", text, facts, link)


def _count(pairs: Sequence[ClaimPair], kind: MatchKind) -> tuple[str, int, bool]:
    """Return words, number and whether red: of the claims of one kind."""
    number = sum(pair.kind is kind for pair in pairs)
    words = _TITLES[kind][:1].lower() + _TITLES[kind][1:]
    is_one = number == 1 and kind in (MatchKind.DISAGREEMENT, MatchKind.DIFFERENCE)
    return words.removesuffix("s") if is_one else words, number, kind is MatchKind.DISAGREEMENT


_TITLES = {
    MatchKind.DISAGREEMENT: "Disagreements",
    MatchKind.DIFFERENCE: "Other differences",
    MatchKind.ONLY_FIRST: "Only in A",
    MatchKind.ONLY_SECOND: "Only in B",
    MatchKind.SAME: "The same in both",
}


def _build_row(pair: ClaimPair, first: ComparedLog, second: ComparedLog, link: Linker) -> ComparedRow:
    def lead(name: str | None, log: ComparedLog) -> PageLink | None:
        # Claims of an imported log have no page here.
        return None if name is None else PageLink(text=name, href=link(f"/{name}/") if log.is_own else "", is_code=True)

    differences = tuple((one.field, _show(one.first), _show(one.second)) for one in pair.differences)
    # Where nothing differs, or one has it alone, the verdict is what a reader looks for.
    verdict = (("verdict", _show(pair.first_verdict), _show(pair.second_verdict)),)
    return ComparedRow(
        kind=pair.kind.value,
        words=pair.words,
        model=pair.model,
        first=lead(pair.first, first),
        second=lead(pair.second, second),
        differences=differences if any(name in ("verdict", "audited") for name, _, _ in differences) else verdict + differences,
    )


def _show(value: object) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")
