"""The terminal review of proposals: one key, one decision, each on the disk before the next screen; and editing."""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path

import click
from rich.console import Console

from audit.propose.cli.review_screen import (
    LEAVE,
    LEFT,
    REDRAW,
    RIGHT,
    Lines,
    ReviewScreen,
    describe_counts,
    list_help,
    list_lines,
    list_told,
    print_end,
    print_lines,
    print_scene,
    read_key,
)
from audit.propose.proposal_ranking import find_folded
from audit.propose.proposal_review import (
    DecisionScope,
    PassageNeighbours,
    ProposalDecision,
    ProposalReview,
    ProposalVerdict,
    ReviewJournal,
    ReviewMove,
    ReviewStep,
    check_claims,
    digest_text,
    find_open,
    find_outside,
    find_scope,
    find_words,
    take_step,
)
from audit.propose.proposed_claims_file import ClaimsSheet, DraftEntry, KnownModels, build_entry, render_drafts, render_sheet
from registry.codec.canonical_documents import from_document
from registry.codec.file_io import parse_document, replace_file
from registry.errors import CaveatError, Fault, InputError, UnavailableError, format_faults
from registry.intake.quote_anchor import AnchoredText
from registry.records.claim import Direction
from registry.records.claim_draft import ClaimsFile, OmissionDraft, Proposal
from registry.records.specification import PropertySpec
from registry.records.system_card import CardText, Outline

# A person changes a proposed claim in an editor.

_EDIT = (
    "Change the claim, save, and leave the editor: it is then checked and accepted.",
    "The quote must stand in the card as you write it. An empty file gives up. The keys: docs/files.md, or caveat admin schema claims.",
)
_SPLIT = (
    "Two or more claims in the place of one: cut each quote to its part, set form and figures, save, and leave the editor.",
    "Every quote must stand in the card as you write it. An empty file gives up.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditContext:
    """What editing needs beside the claim."""

    text: AnchoredText
    """The card, in which every quote must stand."""
    registered: Mapping[str, PropertySpec | None]
    """Short names of the registry's properties."""
    tell: Callable[[str], None]
    """Says something to the person."""


def change_entry(desk: EditContext, entry: DraftEntry, *, fewest: int) -> ClaimsFile | None:
    """Let a person change the claim of *entry*, or make *fewest* claims of it; None where they gave up or changed nothing."""
    text = render_drafts((entry,) * fewest, _EDIT if fewest == 1 else _SPLIT)
    while True:
        try:
            changed = _open_editor(text)
            if changed is None or not changed.strip():
                return None
            text = changed
            file = from_document(ClaimsFile, parse_document(changed, where="your text"), where="your text")
            check_claims(file, desk.text, desk.registered, fewest=fewest, where="your text")
        except CaveatError as error:
            desk.tell(f"\n{format_faults(error.faults)}\n\nany key: try again; q: give up")
            if read_key() == LEAVE:
                return None
        else:
            return file


def _open_editor(text: str) -> str | None:
    """Return what a person made of *text*; None where nothing was saved.

    Raises:
        InputError: it is no text, or the file is gone.
    """
    try:
        return click.edit(text, extension=".yaml", require_save=True)
    except UnicodeDecodeError as error:
        found = f"is not in UTF-8: byte {error.object[error.start]:#04x} at {error.start}"
        raise InputError(Fault("not-valid", "your text", found, advice="save it as text in UTF-8")) from error
    except OSError as error:
        raise InputError(Fault("file-not-accessible", "your text", f"cannot be read again: {error.strerror or error}")) from error


# The terminal review of proposals: one key, one decision, and every decision is on the disk before the next screen.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewBasis:
    """What a review stands on."""

    path: Path
    """The claims file that it writes."""
    card: CardText
    outline: Outline
    known: KnownModels
    registered: Mapping[str, PropertySpec | None]
    """Short names of the registry's properties."""


def check_terminal() -> None:
    """Refuse to review without a terminal; raises UnavailableError."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        found = "a review asks for keys, and this is not a terminal"
        advice = "run it in a terminal, or write the proposals into a file (-o claims.yaml) and edit that"
        raise UnavailableError(Fault("not-a-terminal", "--review", found, advice=advice))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that is not in UTF-8 shows what it can; the file is in UTF-8 all the same


class ReviewSession:
    """One sitting: from the first open proposal to the key that leaves."""

    def __init__(self, ground: ReviewBasis, journal: ReviewJournal, *, told: Sequence[str] = (), greeting: str = "") -> None:
        """Take what is reviewed, with what is told on a page before the first proposal, and what is told beside it."""
        self._ground = ground
        self._journal = journal
        self._proposals = journal.opening.proposals.proposals
        self._near = PassageNeighbours(ground.card, ground.outline)
        self._desk = EditContext(text=AnchoredText(ground.card), registered=ground.registered, tell=click.echo)
        self._is_filtered = True
        self._outside: frozenset[int] = frozenset()
        """Left out by a filter."""
        self._folded = find_folded(self._proposals)
        self._opened: set[int] = set()
        """First rows of the tables that were opened."""
        self._scope: DecisionScope | None = None
        """What the next decision covers; None: one proposal."""
        self._told, self._message = told, greeting
        self._reason = ""
        self.review = journal.review
        """Where it stands now."""
        self._at = self._find_open(self.review.last)

    def run(self) -> None:
        """Show proposals and take keys until the person leaves; then write the claims file, unless nothing was ever decided."""
        with suppress(KeyboardInterrupt):  # Ctrl-C anywhere leaves the review as `q` does
            if self._told:
                show_pages(lambda console: list_told(console, self._told))
            while (key := self._wait()) != LEAVE:
                self._message = ""
                self._press(key)
        with suppress(KeyboardInterrupt):
            if self.review.decisions or self.review.written:
                self._write()

    def describe(self) -> str:
        """Return how far the review is."""
        return describe_counts(self.review, len(self._proposals))

    def _wait(self) -> str:
        """Show where the review stands until a key is pressed; drawn again where the terminal changed."""
        while True:
            self._draw()
            if (key := read_key()) != REDRAW:
                return key

    def _draw(self) -> None:
        console = _open_console()
        if self._at is None:
            print_end(console, self._journal.opening.proposals.title, self.review, len(self._proposals), self._message)
        else:
            print_scene(console, self._build_scene(self._at))

    def _build_scene(self, at: int) -> ReviewScreen:
        entry = self._entry(at)
        return ReviewScreen(
            title=self._journal.opening.proposals.title,
            at=at,
            total=len(self._proposals),
            proposal=self._proposals[at],
            entry=entry,
            model=entry.draft.model or self._journal.opening.model,
            around=self._near.find(self._proposals[at].anchor),
            review=self.review,
            is_filtered=self._is_filtered,
            message=self._message,
        )

    def _press(self, key: str) -> None:
        match key:
            case "b":
                self._go_back()
            case "g":
                self._go_to()
            case "/":
                self._search()
            case "f":
                self._is_filtered = not self._is_filtered
                self._message = "only open proposals" if self._is_filtered else "all proposals"
            case "F":
                self._filter()
            case "w":
                self._write()
                self._message = f"written to {self._ground.path}: {self.describe()}"
            case "?" | "h":
                show_pages(list_help)
            case _ if self._at is not None:
                self._press_on(self._at, key)
            case _:
                self._message = "nothing is left to decide; b goes back, g goes to one, q leaves"

    def _press_on(self, at: int, key: str) -> None:
        """Take a key that speaks of the proposal shown."""
        match key:
            case "a":
                self._accept_all(at)
            case "r" | "t" | "c":
                self._scope = {"r": DecisionScope.ROW, "t": DecisionScope.TABLE, "c": DecisionScope.SECTION}[key]
                count = len(self._list_scope(at))
                self._message = f"the next a, x or k decides on {count} open proposals of this {self._scope.value}"
            case "o":
                self._opened |= {head for head, rows in self._folded.items() if at == head or at in rows}
                self._message = "the rows of this table follow one by one"
            case "e" | "s":
                self._change(at, fewest=1 if key == "e" else 2)
            case "x":
                self._leave_out(at)
            case "v":
                show_pages(lambda console: list_lines(console, self._build_scene(at)))
            case "k":
                self._decide(*(ProposalDecision(at=place, verdict=ProposalVerdict.SKIPPED) for place in self._list_scope(at)))
            case _ if key in LEFT:
                self._look(at, -1)
            case _ if key in RIGHT:
                self._look(at, 1)
            case _:
                self._message = f"no key {key!r}; ? tells them" if key.isprintable() else "no such key; ? tells them"

    def _change(self, at: int, *, fewest: int) -> None:
        try:
            entry = self._entry(at)
            # The model is shown in the editor, so that it can be changed there.
            model = entry.draft.model or self._journal.opening.model
            changed = change_entry(self._desk, replace(entry, draft=replace(entry.draft, model=model)), fewest=fewest)
        except click.ClickException as error:  # the editor cannot be started, or failed
            self._message = error.format_message()
            return
        if changed is None:
            self._message = "nothing changed, nothing accepted"
        else:
            model = self._journal.opening.model
            claims = tuple(replace(claim, model=None) if claim.model == model else claim for claim in changed.claims)
            self._decide(_accept(at, replace(changed, claims=claims)))

    def _accept_all(self, at: int) -> None:
        """Accept what the scope covers; where the safer direction is not known, one key says it for all of them."""
        places = self._list_scope(at)
        entries = {place: self._propose(place) for place in places}
        if any(self._proposals[place].unknown for place in places):
            direction = self._ask_direction()
            if direction is None:
                self._message = "not accepted: it needs a direction"
                return
            for place in places:
                spec = entries[place].spec
                if self._proposals[place].unknown and spec is not None:
                    entries[place] = replace(entries[place], spec=replace(spec, direction=direction))
        specs = {place: {} if entry.spec is None else {entry.draft.property: entry.spec} for place, entry in entries.items()}
        self._decide(*(_accept(place, ClaimsFile(claims=(entry.draft,), properties=specs[place])) for place, entry in entries.items()))

    def _ask_direction(self) -> Direction | None:
        click.echo("\nWhich way is safer?  h higher  l lower  n neither, it is no safety property  any other key: go back")
        keys = {"h": Direction.HIGHER_IS_SAFER, "l": Direction.LOWER_IS_SAFER, "n": Direction.NOT_SAFETY}
        return keys.get(read_key())

    def _list_scope(self, at: int) -> tuple[int, ...]:
        """The open proposals that the next decision covers, the one shown first."""
        if self._scope is None:
            return (at,)
        others = find_scope(self._proposals, at, self._scope)
        return (at, *(place for place in others if place != at and self.review.is_open(place) and place not in self._outside))

    def _leave_out(self, at: int) -> None:
        """Ask for the reason; the last one is offered again, since many passages are left out for one."""
        try:
            text = click.prompt("why is it left out", default=self._reason, show_default=bool(self._reason)).strip()
        except click.Abort:
            text = ""
        if not text:
            self._message = "not left out: it needs a reason"
            return
        self._reason = text
        places = self._list_scope(at)
        self._decide(*(ProposalDecision(at=place, verdict=ProposalVerdict.EXCLUDED, reason=text) for place in places))

    def _decide(self, *decisions: ProposalDecision) -> None:
        with hold_interrupt():
            for decision in decisions:
                self._step(ReviewStep(move=ReviewMove.DECIDE, decision=decision))
        at, self._scope = decisions[0].at, None
        if len(decisions) > 1:
            self._message = f"decided on {len(decisions)}; b undoes them one by one"
        is_next = not self._is_filtered and at + 1 < len(self._proposals)
        self._at = at + 1 if is_next else self._find_open(at)
        if self._at == at:
            self._message = "the last one that is open"

    def _find_open(self, after: int | None) -> int | None:
        return find_open(self.review, len(self._proposals), after=after, hidden=self._list_hidden())

    def _list_hidden(self) -> frozenset[int]:
        """What is not gone through: rows of tables that are folded, and what the filter leaves out."""
        rows = {row for head, folded in self._folded.items() if head not in self._opened for row in folded}
        return self._outside | rows

    def _filter(self) -> None:
        words = _ask_decision("filter (own, high, unknown, a class, a direction; nothing: no filter)").split()
        try:
            self._outside = find_outside(self._proposals, words)
        except ValueError as error:
            self._message = str(error)
            return
        self._at = self._find_open(None)
        self._message = f"{len(self._proposals) - len(self._outside)} proposals fit {' '.join(words)}" if words else "no filter"

    def _go_back(self) -> None:
        last = self.review.last
        if last is None:
            self._message = "nothing to undo"
            return
        with hold_interrupt():
            self._step(ReviewStep(move=ReviewMove.UNDO))
        self._at = last
        self._message = "undone"

    def _go_to(self) -> None:
        decision = _ask_decision(f"number, 1 to {len(self._proposals)}")
        if decision.isascii() and decision.isdecimal() and 1 <= int(decision[:9]) <= len(self._proposals):
            self._at = int(decision[:9]) - 1
        elif decision:
            self._message = f"no proposal {decision}; there are 1 to {len(self._proposals)}"

    def _search(self) -> None:
        words = _ask_decision("search for")
        if not words:
            return
        count = find_words(self._proposals, words, after=-1 if self._at is None else self._at)
        if count is None:
            self._message = f"no proposal has {words!r}"
        else:
            self._at = count

    def _look(self, at: int, way: int) -> None:
        places = range(at + way, len(self._proposals) if way > 0 else -1, way)
        hidden = self._list_hidden()
        shown = (place for place in places if place not in hidden)
        count = next((place for place in shown if not self._is_filtered or self.review.is_open(place)), None)
        if count is None:
            self._message = f"no{' open' if self._is_filtered else ''} proposal {'after' if way > 0 else 'before'} this one"
        else:
            self._at = count

    def _propose(self, at: int) -> DraftEntry:
        return build_entry(self._proposals[at], at + 1, self._ground.known, self._journal.opening.model)

    def _entry(self, at: int) -> DraftEntry:
        """Return the claim to show: as accepted where it was accepted as one, otherwise as proposed."""
        decided = list_entries(self.review, at, self._propose(at))
        return decided[0] if len(decided) == 1 else self._propose(at)

    def _step(self, step: ReviewStep) -> None:
        self._journal.append(step)
        self.review = take_step(self.review, step)

    def _write(self) -> None:
        """Write the claims file; the journal names its digest first, so that a kill in between is not taken for a change by hand."""
        with hold_interrupt():
            text = render_sheet(self._compose())
            self._step(ReviewStep(move=ReviewMove.WRITE, sha256=digest_text(text)))
            replace_file(self._ground.path, text.encode())

    def _compose(self) -> ClaimsSheet:
        opening = self._journal.opening
        head = (f"Claims of {opening.proposals.title}, proposed by {opening.proposals.by} and reviewed: {self.describe()}.",)
        hint = "caveat claim propose … --review goes on only while this file is as the review wrote it."
        order = sorted(self.review.decisions)
        return ClaimsSheet(
            head=(*head, f"Next: caveat claim add {self._ground.path.name}. {hint}"),
            card=opening.proposals.card,
            model=opening.model,
            entries=tuple(entry for at in order for entry in list_entries(self.review, at, self._propose(at))),
            excluded=list_omissions(self.review, self._proposals),
            proposed=opening.survey,
            registered=self._ground.registered,
        )


@contextmanager
def hold_interrupt() -> Iterator[None]:
    """Let Ctrl-C wait until the body has ended: half a line in the journal, or a decision without its file, would be damage."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def show_pages(build: Callable[[Console], Lines]) -> None:
    """Show lines, as many at once as the terminal holds, a key for each page; `q` ends it before the last.

    Args:
        build: gives the lines for the terminal as it is now: it may become wider or higher meanwhile.
    """
    first = 0
    while True:
        console = _open_console()
        lines, room = build(console), max(1, console.height - 3)
        is_last = first + room >= len(lines)
        print_lines(console, lines[first : first + room])
        click.echo("\nAny key goes on." if is_last else f"\n{len(lines) - first - room} more lines: any key; q leaves them out.")
        key = read_key()
        if key == REDRAW:
            continue
        if is_last or key == LEAVE:
            return
        first += room


def _open_console() -> Console:
    return Console(markup=False, highlight=False, emoji=False)


def list_omissions(review: ProposalReview, proposals: Sequence[Proposal]) -> tuple[OmissionDraft, ...]:
    """Return the passages that were left out, in the order of the card, each once.

    One of several proposals of a passage may be left out and another accepted: then the passage is registered, and not left out. Of a
    passage that was left out for several reasons, all are given.
    """
    claimed = {
        _place(proposals[at]) for at, proposal_decision in review.decisions.items() if proposal_decision.verdict is ProposalVerdict.ACCEPTED
    }
    reasons: dict[tuple[int, int], list[str]] = {}
    for at in sorted(review.decisions):
        decision = review.decisions[at]
        if decision.verdict is ProposalVerdict.EXCLUDED and decision.reason and _place(proposals[at]) not in claimed:
            reasons.setdefault(_place(proposals[at]), []).append(decision.reason)
    first = {_place(proposals[at]): proposals[at] for at in sorted(review.decisions, reverse=True)}
    return tuple(
        OmissionDraft(quote=first[place].quote, reason="; ".join(dict.fromkeys(reason)), page=first[place].anchor.page)
        for place, reason in reasons.items()
    )


def _place(proposal: Proposal) -> tuple[int, int]:
    return proposal.anchor.start, proposal.anchor.stop


def list_entries(review: ProposalReview, at: int, proposed: DraftEntry) -> tuple[DraftEntry, ...]:
    """Return the claims that were accepted for the proposal at *at*; none unless it was accepted.

    Args:
        proposed: what accepting it as it stands would make; its comments stay.
    """
    decision = review.decisions.get(at)
    if decision is None or decision.verdict is not ProposalVerdict.ACCEPTED:
        return ()
    specs, total = decision.properties or {}, len(decision.claims)
    entries = []
    for number, draft in enumerate(decision.claims, start=1):
        comments = (f"part {number} of {total} of:", *proposed.comments) if total > 1 else proposed.comments
        entries.append(replace(proposed, draft=draft, spec=specs.get(draft.property), comments=comments))
    return tuple(entries)


def _accept(at: int, file: ClaimsFile) -> ProposalDecision:
    used = {claim.property for claim in file.claims}
    properties = {name: spec for name, spec in (file.properties or {}).items() if name in used}
    return ProposalDecision(at=at, verdict=ProposalVerdict.ACCEPTED, claims=file.claims, properties=properties or None)


def _ask_decision(what: str) -> str:
    try:
        text: str = click.prompt(what, default="", show_default=False)
    except click.Abort:
        return ""
    return text.strip()
