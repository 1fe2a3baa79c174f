"""Screens of the terminal review: what they show, how they fit the terminal, and the keys that are read."""

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Table
from rich.text import Text

from audit.propose.proposal_review import ProposalDecision, ProposalReview, ProposalVerdict, QuoteSurroundings
from audit.propose.proposed_claims_file import DraftEntry, describe_awareness, describe_place, list_missing
from registry.present.answers import show
from registry.records.claim import Form, Reported
from registry.records.claim_draft import ClaimDraft, Proposal
from registry.records.model_version import ModelRef
from registry.records.specification import PropertySpec

# A screen that fits its terminal: parts of it give way in an order, so that what must be seen is seen at any height.

Lines = list[list[Segment]]
"""What a terminal shows, line by line."""
_CUTS = (
    # What stands around the quote, first to a line each, then whole.
    *(("after", 1), ("before", 1), ("caption", 1), ("after", 0), ("before", 0)),
    # The row's cells: its name and figure are enough.
    ("cells", 4),
    # Then from everything something.
    *(("quote", 8), ("message", 4), ("fields", 10), ("quote", 5), ("caption", 0), ("fields", 6), ("cells", 0), ("message", 2)),
    # A terminal of a few lines.
    *(("fields", 2), ("quote", 2), ("keys", 1), ("fields", 0), ("bar", 1), ("rule", 0), ("message", 1)),
)
"""Which part gives way, and how many lines it keeps then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenPart:
    """One part of a screen."""

    name: str
    """By which it gives way; parts of one name do so one after the other."""
    body: RenderableType
    brief: RenderableType | None = None
    """Stands for the body as soon as the screen does not hold everything; None: nothing shorter does."""
    is_end: bool = False
    """Whether its end counts, and it gives way from its beginning."""
    note: str = ""
    """Stands at the end of its last line where it is cut."""


def fit(console: Console, parts: Iterable[ScreenPart], height: int) -> Lines:
    """Return the lines of *parts*, as wide as *console*, *height* at most."""
    listed = tuple(parts)
    drawn = [_draw(console, part.body) for part in listed]
    if _count(drawn) > height:
        drawn = [lines if part.brief is None else _draw(console, part.brief) for part, lines in zip(listed, drawn, strict=True)]
    for name, least in _CUTS:
        for place, part in enumerate(listed):
            over = _count(drawn) - height
            if over > 0 and part.name == name and len(drawn[place]) > least:
                drawn[place] = _cut(drawn[place], max(least, len(drawn[place]) - over), part, console.width)
    return [line for lines in drawn for line in lines][:height]


def draw(console: Console, bodies: Iterable[RenderableType]) -> Lines:
    """Return all lines of *bodies*, as wide as *console*, whatever their number."""
    return [line for body in bodies for line in _draw(console, body)]


def print_lines(console: Console, lines: Sequence[Sequence[Segment]]) -> None:
    """Show *lines* on a cleared screen."""
    console.clear()
    console.print(Segments([one for line in lines for one in (*line, Segment.line())]), end="")


def _draw(console: Console, body: RenderableType) -> Lines:
    return console.render_lines(body, console.options.update(height=None), pad=False)


def _count(lineses: Iterable[Lines]) -> int:
    return sum(map(len, lineses))


def _cut(lines: Lines, keep: int, part: ScreenPart, width: int) -> Lines:
    if keep == 0:
        return []
    kept = lines[-keep:] if part.is_end else lines[:keep]
    if part.is_end:
        return kept
    mark = f" … {part.note}".rstrip()
    room = min(Segment.get_line_length(kept[-1]), width - len(mark))
    ending = [*Segment.adjust_line_length(kept[-1], room, pad=False), Segment(mark, Style(dim=True))]
    return [*kept[:-1], ending]


# What the terminal review shows: one proposal at a time, between its neighbours, with what is proposed and what is missing.

KEYS = (
    ("a", "accept", "register it as it is proposed"),
    ("e", "edit", "change the claim in your editor ($VISUAL or $EDITOR), then accept it"),
    ("s", "split", "make several claims of it, each with its part of the quote"),
    ("x", "leave out", "do not register it, with the reason, which stands in the card's coverage"),
    ("k", "skip", "decide later; it stays open"),
    ("b", "back", "undo the last decision, and return to it; again and again to the beginning"),
    ("g", "go to", "another proposal by its number"),
    ("/", "search", "the next proposal with these words in quote, property, model, evaluation or section"),
    ("f", "filter", "go through open proposals only, or through all"),
    ("F", "narrow", "filter by model (own, other), confidence, class, direction or form, such as: own high capability"),
    ("r t c", "many", "the next a, x or k decides on all open proposals of this row, this table or this section"),
    ("o", "open", "open a folded table of capabilities, and go through its rows one by one"),
    ("← →", "look", "at the one before or after, without deciding"),
    ("v", "view", "all of this one, page by page, where the terminal cannot hold it"),
    ("w", "write", "the claims file now; it is also written on leaving"),
    ("?", "help", "this page"),
    ("q", "leave", "write the claims file and leave; the same command goes on where you were"),
)
_SHOWN = ("model", "property", "direction")
"""Fields whose evidence is shown."""
_FORMS = {
    Form.EXISTENCE: "it happened (existence)",
    Form.UPPER_BOUND: "at most (upper bound)",
    Form.LOWER_BOUND: "at least (lower bound)",
    Form.PREVALENCE: "a rate or score (prevalence)",
    Form.THRESHOLD: "meets a threshold",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewScreen:
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


def print_scene(console: Console, scene: ReviewScreen) -> None:
    """Show *scene* on a cleared screen, cut to its height: what stands around the quote gives way first, then notices of less weight."""
    parts = (*_build_claim(console, scene), *_build_foot(console.width, scene.message))
    print_lines(console, fit(console, parts, console.height - 1))


def list_lines(console: Console, scene: ReviewScreen) -> Lines:
    """Return all that is known of the proposal, as lines as wide as *console*."""
    return draw(console, (part.body for part in _build_claim(console, scene)))


def print_end(console: Console, title: str, review: ProposalReview, total: int, message: str) -> None:
    """Show that nothing is left to decide."""
    done = f"Everything is decided, {total} of {total}: {_tell_counts(review)}." if total else "Nothing was proposed."
    keys = "w writes the file, q writes it and leaves, b goes back, g goes to."
    lines = (Text(show(title), style="bold"), _build_rule(console), Text(done), Text(keys))
    head = tuple(ScreenPart(name="head", body=item) for item in (*lines, _build_rule(console)))
    print_lines(console, fit(console, (*head, *_build_foot(console.width, message)), console.height - 1))


def list_told(console: Console, lines: Iterable[str]) -> Lines:
    """Return what is told of the proposals before the first of them."""
    return draw(console, (Text(show(line)) for line in lines))


def list_help(console: Console) -> Lines:
    """Return what each key does, as lines as wide as *console*."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for key, word, meaning in KEYS:
        table.add_row(Text(key, style="bold"), word, meaning)
    more = "Every decision is on the disk before the next screen. Nothing is registered here: caveat claim add does that."
    return draw(console, (Text("Keys", style="bold"), _build_rule(console), table, Text(f"\n{more}")))


def describe_counts(review: ProposalReview, total: int) -> str:
    """Return how far the review is, as a line: `12 accepted, 3 left out, 2 skipped, 173 open`."""
    left = sum(review.is_open(at) for at in range(total)) - review.count(ProposalVerdict.SKIPPED)
    return f"{_tell_counts(review)}, {left} not looked at" if left else _tell_counts(review)


def _tell_counts(review: ProposalReview) -> str:
    accepted = [decision for decision in review.decisions.values() if decision.verdict is ProposalVerdict.ACCEPTED]
    claims = sum(len(proposal_decision.claims) for proposal_decision in accepted)
    made = f" ({claims} claims)" if claims != len(accepted) else ""
    skipped = review.count(ProposalVerdict.SKIPPED)
    return f"{len(accepted)} accepted{made}, {review.count(ProposalVerdict.EXCLUDED)} left out" + (
        f", {skipped} skipped" if skipped else ""
    )


def _build_claim(console: Console, scene: ReviewScreen) -> Iterator[ScreenPart]:
    """Give the proposal's parts from the top of the screen down to the last of its fields."""
    rule = ScreenPart(name="rule", body=_build_rule(console))
    yield from (ScreenPart(name="bar", body=_build_bar(scene, console.width)), rule)
    yield from _build_passage(scene, is_ascii=console.options.ascii_only)
    fields = _build_grid((*_list_claim(scene), *_list_notices(scene.proposal, scene.model)))
    yield from (rule, ScreenPart(name="fields", body=fields, note="v shows all of it"), rule)


def _build_rule(console: Console) -> Rule:
    return Rule(style="dim", characters="-" if console.options.ascii_only else "─")


def _build_bar(scene: ReviewScreen, width: int) -> RenderableType:
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


def _build_passage(scene: ReviewScreen, *, is_ascii: bool) -> Iterator[ScreenPart]:
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
        yield ScreenPart(
            name="cells", body=Padding(_build_cells(around.cells), (0, 2)), brief=Padding(_build_cells(_choose(scene)), (0, 2))
        )


def _list_part(name: str, text: Text, brief: Text | None = None, *, is_end: bool = False) -> Iterator[ScreenPart]:
    if text:
        shorter = None if brief is None else Padding(brief, (0, 2))
        yield ScreenPart(
            name=name, body=Padding(text, (0, 2)), brief=shorter, is_end=is_end, note="v shows all of it" if name == "quote" else ""
        )


def _choose(scene: ReviewScreen) -> tuple[tuple[str, str], ...]:
    """The cell that names the row, and the one that the figure was read from."""
    cells, written = scene.around.cells, " ".join((scene.proposal.written or "").split())
    figures = [cell for cell in cells[1:] if written and written in " ".join(cell[1].split())]
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


def _list_claim(scene: ReviewScreen) -> Iterator[tuple[str, str]]:
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
    yield from (("restates", f"{restate.claim}, which says {restate.value:g}: {restate.why}") for restate in proposal.restates)
    yield from (("look at", note) for note in proposal.notes)
    yield from (("awareness", describe_awareness(awareness_note)) for awareness_note in proposal.awareness[:3])
    yield from (("compared", f"{comparison.subject}: {comparison.words}") for comparison in proposal.comparisons)
    yield from (("read from", f"{field.field}: “{field.words}” ({field.place})") for field in proposal.evidence if field.field in _SHOWN)


def _describe_decision(decision: ProposalDecision) -> str:
    match decision.verdict:
        case ProposalVerdict.ACCEPTED:
            return "accepted" if len(decision.claims) == 1 else f"split into {len(decision.claims)} claims"
        case ProposalVerdict.EXCLUDED:
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


def _build_foot(width: int, message: str) -> Iterator[ScreenPart]:
    """Every key with its word, as many on a line as fit, and what the last key did."""
    lines = [Text()]
    for key, word, _ in KEYS:
        if lines[-1] and lines[-1].cell_len + len(f"   {key} {word}") > width:
            lines.append(Text())
        lines[-1].append("   " if lines[-1] else "")
        lines[-1].append(key, style="bold")
        lines[-1].append(f" {word}")
    yield ScreenPart(name="keys", body=Text("\n").join(lines))
    if message:
        yield ScreenPart(name="message", body=Text(f"\n{show(message)}", style="bold"))


# One key from the terminal. What is typed ahead waits for its turn: `click.getchar` would take up to 32 characters for one key.

LEFT, RIGHT = ("\x1b[D", "\x1bOD"), ("\x1b[C", "\x1bOC")
LEAVE = "q"
REDRAW = ""
"""No key: the terminal got another size, or the command was stopped and goes on."""
_ESCAPE_S = 0.05
"""How long the rest of an arrow key may take to follow its first byte; the escape key alone is followed by nothing."""
_LONGEST = 16


def read_key() -> str:
    """Wait for a key and return it: a character, or the sequence of an arrow key.

    Ctrl-C, Ctrl-D and a closed terminal are `q`; `REDRAW` where the terminal must be drawn again first.
    """
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)
        with _watch() as changed:
            if changed in select.select([terminal, changed], [], [])[0]:
                return REDRAW
        return _read(terminal)
    except KeyboardInterrupt:
        return LEAVE
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


@contextmanager
def _watch() -> Iterator[int]:
    """Give what can be read as soon as the terminal must be drawn again; a signal alone would not end a wait (PEP 475)."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    handlers = {item: signal.signal(item, lambda *_: None) for item in (signal.SIGWINCH, signal.SIGCONT)}
    try:
        yield reader
    finally:
        for signals, handler in handlers.items():
            signal.signal(signals, handler)
        signal.set_wakeup_fd(woken)
        os.close(reader)
        os.close(writer)


def _read(terminal: int) -> str:
    try:
        first = os.read(terminal, 1)
        if first in (b"", b"\x04"):
            return LEAVE
        rest = _read_sequence(terminal) if first == b"\x1b" else _read_character(terminal, first[0])
    except OSError:  # the terminal is gone
        return LEAVE
    return (first + rest).decode("utf-8", "replace")


def _read_sequence(terminal: int) -> bytes:
    """Return what follows the escape character: `[` or `O`, parameters, and one letter or `~`."""
    rest = b""
    while len(rest) < _LONGEST and select.select([terminal], [], [], _ESCAPE_S)[0]:
        byte = os.read(terminal, 1)
        rest += byte
        if not byte or (len(rest) > 1 and byte[0] >= 0x40) or (rest not in (b"[", b"O") and len(rest) == 1):
            break
    return rest


def _read_character(terminal: int, first: int) -> bytes:
    """Return the bytes of a character in UTF-8 after its first."""
    more = 3 if first >= 0xF0 else 2 if first >= 0xE0 else 1 if first >= 0xC0 else 0
    return b"".join(os.read(terminal, 1) for _ in range(more))
