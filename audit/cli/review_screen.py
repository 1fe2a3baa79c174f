"""What the terminal review shows: one proposal at a time, between its neighbours, with what is proposed and what is missing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from audit.cli.review_fit import Lines, Part, draw, fit, print_lines
from audit.propose.proposal_review import ProposalDecision, ProposalReview, ProposalVerdict, QuoteSurroundings
from audit.propose.proposed_claims_file import DraftEntry, describe_awareness, describe_comparison, describe_place, list_missing
from registry.cli.terminal_output import show
from registry.records.claim import Form, Reported
from registry.records.claim_draft import ClaimDraft, Proposal
from registry.records.model_version import ModelRef
from registry.records.specification import PropertySpec

KEYS = (
    ("a", "accept", "register it as it is proposed"),
    ("e", "edit", "change the claim in your editor ($VISUAL or $EDITOR), then accept it; without an editor, field by field"),
    ("s", "split", "make several claims of it, each with its part of the quote"),
    ("x", "leave out", "do not register it, with the reason, which stands in the card's coverage"),
    ("k", "skip", "decide later; it stays open"),
    ("b", "back", "undo the last decision, and return to it; again and again to the beginning"),
    ("g", "go to", "another proposal by its number"),
    ("/", "search", "the next proposal with these words in quote, property, model, evaluation or section"),
    ("f", "filter", "go through open proposals only, or through all"),
    ("← →", "look", "at the one before or after, without deciding"),
    ("v", "view", "all of this one, page by page, where the terminal cannot hold it"),
    ("w", "write", "the claims file now; it is also written on leaving"),
    ("?", "help", "this page"),
    ("q", "leave", "write the claims file and leave; the same command goes on where you were"),
)
_FORMS = {
    Form.EXISTENCE: "it happened (existence)",
    Form.UPPER_BOUND: "at most (upper bound)",
    Form.LOWER_BOUND: "at least (lower bound)",
    Form.PREVALENCE: "a rate or score (prevalence)",
    Form.THRESHOLD: "meets a threshold",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One screen."""

    title: str
    """Of the card."""
    at: int
    """Index of the proposal shown."""
    total: int
    proposal: Proposal
    entry: DraftEntry
    """The claim that accepting it makes."""
    model: ModelRef
    """What the claim is about."""
    around: QuoteSurroundings
    review: ProposalReview
    is_filtered: bool
    """Whether only open proposals are gone through."""
    message: str = ""
    """What the last key did, or why it did nothing."""


def print_scene(console: Console, scene: Scene) -> None:
    """Show *scene* on a cleared screen, cut to its height: what stands around the quote gives way first, then notices of less weight."""
    parts = (*_build_claim(console, scene), *_build_foot(console.width, scene.message))
    print_lines(console, fit(console, parts, console.height - 1))


def list_lines(console: Console, scene: Scene) -> Lines:
    """Return all that is known of the proposal, as lines as wide as *console*."""
    return draw(console, _build_claim(console, scene))


def print_end(console: Console, title: str, review: ProposalReview, total: int, message: str) -> None:
    """Show that nothing is left to decide."""
    done = f"Everything is decided, {total} of {total}: {_tell_counts(review)}." if total else "Nothing was proposed."
    keys = "w writes the file, q writes it and leaves, b goes back, g goes to."
    lines = (Text(show(title), style="bold"), _build_rule(console), Text(done), Text(keys))
    head = tuple(Part(name="head", body=one) for one in (*lines, _build_rule(console)))
    print_lines(console, fit(console, (*head, *_build_foot(console.width, message)), console.height - 1))


def list_told(console: Console, lines: Iterable[str]) -> Lines:
    """Return what is told of the proposals before the first of them."""
    return draw(console, (Part(name="told", body=Text(show(one))) for one in lines))


def list_help(console: Console) -> Lines:
    """Return what each key does, as lines as wide as *console*."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for key, word, meaning in KEYS:
        table.add_row(Text(key, style="bold"), word, meaning)
    more = "Every decision is on the disk before the next screen. Nothing is registered here: caveat claim add does that."
    parts = (Text("Keys", style="bold"), _build_rule(console), table, Text(f"\n{more}"))
    return draw(console, (Part(name="help", body=one) for one in parts))


def describe_counts(review: ProposalReview, total: int) -> str:
    """Return how far the review is, as a line: `12 accepted, 3 left out, 2 skipped, 173 open`."""
    left = sum(review.is_open(at) for at in range(total)) - review.count(ProposalVerdict.SKIPPED)
    return f"{_tell_counts(review)}, {left} not looked at" if left else _tell_counts(review)


def _tell_counts(review: ProposalReview) -> str:
    accepted = [one for one in review.decisions.values() if one.verdict is ProposalVerdict.ACCEPTED]
    claims = sum(len(one.claims) for one in accepted)
    made = f" ({claims} claims)" if claims != len(accepted) else ""
    skipped = review.count(ProposalVerdict.SKIPPED)
    return f"{len(accepted)} accepted{made}, {review.count(ProposalVerdict.LEFT_OUT)} left out" + (
        f", {skipped} skipped" if skipped else ""
    )


def _build_claim(console: Console, scene: Scene) -> Iterator[Part]:
    """Give the proposal's parts from the top of the screen down to the last of its fields."""
    rule = Part(name="rule", body=_build_rule(console))
    yield from (Part(name="bar", body=_build_bar(scene, console.width)), rule)
    yield from _build_passage(scene, is_ascii=console.options.ascii_only)
    yield from (rule, Part(name="fields", body=_build_grid(_list_fields(scene)), note="v shows all of it"), rule)


def _build_rule(console: Console) -> Rule:
    return Rule(style="dim", characters="-" if console.options.ascii_only else "─")


def _build_bar(scene: Scene, width: int) -> RenderableType:
    """How far the review is, and what is filtered; the card where there is room."""
    place, title = show(describe_place(scene.proposal)), show(scene.title)
    counts = f"{scene.at + 1} of {scene.total}, {_tell_counts(scene.review)}"
    table = Table.grid(expand=True)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True, overflow="ellipsis")
    table.add_row(Text(counts, style="bold"), Text("open only" if scene.is_filtered else "all", style="dim"))
    has_room = cell_len(place) + cell_len(title) + 2 <= width
    table.add_row(Text(place, overflow="ellipsis"), Text(title if has_room else "", style="dim"))
    return table


def _build_passage(scene: Scene, *, is_ascii: bool) -> Iterator[Part]:
    around = scene.around
    first, last = (">>", "<<") if is_ascii else ("▶", "◀")
    own = Text(f"{first} {around.quote} {last}", style="bold")
    yield from _list_part("caption", Text(around.caption or "", style="italic"))
    yield from _list_part("before", Text(around.before, style="dim"), is_end=True)
    yield from _list_part(
        "quote", Text.assemble((f"{around.lead} " if around.lead else "", "not bold"), own, f" {around.tail}".rstrip()), own
    )
    yield from _list_part("after", Text(around.after, style="dim"))
    if around.cells:
        yield Part(name="cells", body=Padding(_build_cells(around.cells), (0, 2)), brief=Padding(_build_cells(_choose(scene)), (0, 2)))


def _list_part(name: str, text: Text, brief: Text | None = None, *, is_end: bool = False) -> Iterator[Part]:
    if text:
        shorter = None if brief is None else Padding(brief, (0, 2))
        yield Part(name=name, body=Padding(text, (0, 2)), brief=shorter, is_end=is_end, note="v shows all of it" if name == "quote" else "")


def _choose(scene: Scene) -> tuple[tuple[str, str], ...]:
    """The cell that names the row, and the one that the figure was read from."""
    cells, written = scene.around.cells, " ".join((scene.proposal.written or "").split())
    figures = [one for one in cells[1:] if written and written in " ".join(one[1].split())]
    return (*cells[:1], *figures[:1])


def _build_cells(cells: Iterable[tuple[str, str]]) -> Table:
    return _build_grid((column or "–", cell) for column, cell in cells)


def _build_grid(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(min_width=10, max_width=30, style="dim")
    table.add_column(overflow="fold")
    for label, value in rows:
        table.add_row(Text(show(label)), Text(show(" ".join(value.split()))))
    return table


def _list_fields(scene: Scene) -> Iterator[tuple[str, str]]:
    yield from _list_claim(scene)
    yield from _list_notices(scene.proposal, scene.model)


def _list_claim(scene: Scene) -> Iterator[tuple[str, str]]:
    """Give what would be registered, or was accepted."""
    proposal, draft = scene.proposal, scene.entry.draft
    decision = scene.review.decisions.get(scene.at)
    if decision is not None:
        yield "decided", _describe_decision(decision)
    yield "claim", f"{_FORMS[draft.form]}{_describe_bound(draft, proposal)}"
    if draft.reported is not None:
        yield "figure", _describe_reported(draft.reported)
    if proposal.written:
        yield "written", proposal.written
    yield "property", draft.property if scene.entry.spec is None else _describe_property(scene.entry.spec)
    yield "about", f"{scene.model.name}, version {scene.model.version}" + ("" if proposal.model else " (the passage names none)")
    for name in ("evaluation", "grader", "elicitation", "note"):
        if value := getattr(draft, name):
            yield name, str(value)


def _list_notices(proposal: Proposal, model: ModelRef) -> Iterator[tuple[str, str]]:
    """Give what a person should look at before deciding, the weightiest first: a low terminal shows no more."""
    yield "confidence", proposal.confidence.value
    if missing := list_missing(proposal, model):
        yield "not stated", ", ".join(missing)
    yield from (("restates", f"{one.claim}, which says {one.value:g}: {one.why}") for one in proposal.restates)
    yield from (("look at", one) for one in proposal.notes)
    yield from (("awareness", describe_awareness(one)) for one in proposal.awareness[:3])
    yield from (("compared", describe_comparison(one)) for one in proposal.comparisons)


def _describe_decision(decision: ProposalDecision) -> str:
    match decision.verdict:
        case ProposalVerdict.ACCEPTED:
            return "accepted" if len(decision.claims) == 1 else f"split into {len(decision.claims)} claims"
        case ProposalVerdict.LEFT_OUT:
            return f"left out: {decision.reason}"
        case ProposalVerdict.SKIPPED:
            return "skipped"


def _describe_bound(draft: ClaimDraft, proposal: Proposal) -> str:
    if proposal.relation is None:
        return ""
    if draft.theta is not None:
        return f", θ {proposal.relation.value} {draft.theta:g}"
    return f", {proposal.relation.value} θ, which has no number here"


def _describe_reported(reported: float | Reported) -> str:
    if not isinstance(reported, Reported):
        return f"{reported:g}"
    parts = [f"{reported.value:g}"]
    if reported.low is not None or reported.high is not None:
        parts.append(f"interval {_show_end(reported.low)} to {_show_end(reported.high)}")
    if reported.n is not None:
        parts.append(f"n {reported.n}")
    return ", ".join(parts)


def _show_end(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"


def _describe_property(spec: PropertySpec) -> str:
    low, high = spec.range
    words = (spec.class_.value.replace("_", " "), f"{low:g} to {high:g}", spec.direction.value.replace("_", " "))
    return f"{spec.name} ({', '.join(words)})"


def _build_foot(width: int, message: str) -> Iterator[Part]:
    """Every key with its word, as many on a line as fit, and what the last key did."""
    lines = [Text()]
    for key, word, _ in KEYS:
        if lines[-1] and lines[-1].cell_len + len(f"   {key} {word}") > width:
            lines.append(Text())
        lines[-1].append("   " if lines[-1] else "")
        lines[-1].append(key, style="bold")
        lines[-1].append(f" {word}")
    yield Part(name="keys", body=Text("\n").join(lines))
    if message:
        yield Part(name="message", body=Text(f"\n{show(message)}", style="bold"))
