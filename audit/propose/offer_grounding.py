"""An offered claim becomes a proposal as far as the card says it: quotes, figures, names and words are found again."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from audit.propose.card_models import CardSource
from audit.propose.claim_passages import PassageContext
from audit.propose.claimed_property import describe_property, find_measure, find_range, slugify
from audit.propose.evaluation_facts import AwarenessIndex
from audit.propose.prose_figures import CardFigure, FigureUnit, blank_asides, find_quantities, read_number
from audit.propose.table_figures import find_row_quantities, read_units
from audit.propose.window_questions import (
    CardWindow,
    OfferedClaim,
    OfferedPlace,
    OfferedRelation,
    OfferedUnit,
    WindowAnswer,
    list_table,
    shorten_text,
    tidy_text,
    write_opening,
)
from registry.completeness import StatedFacts, check_completeness
from registry.errors import InputError
from registry.intake.quote_anchor import AnchoredText
from registry.intake.text_normalisation import build_form
from registry.records.audit_case import EvidenceLayer
from registry.records.claim import Direction, Form, PropertyClass, Relation, Reported
from registry.records.claim_draft import AwarenessNote, ComparisonNote, Confidence, Proposal, Proposals, RejectedOffer
from registry.records.specification import PropertySpec
from registry.records.system_card import Anchor, CardText, MatchLevel, Outline, Page, Passage, PassageKind

# Passages that address a machine reader. They are proposed with low confidence and a note, and never obeyed. One
# function does this behind every engine. Cost: some passages on prompt injection are doubted too.

NOTE = "the paragraph speaks to whoever reads the card by machine: look whether the card means what it says"
_FORMS = (
    # To turn a reader away from its instructions.
    r"\b(?:ignore|disregard|forget|override) (?:[\w’']+ ){0,4}(?:above|previous|prior|earlier|preceding|instructions?|prompts?|rules)\b",
    # To dictate its answer.
    r"\b(?:propose|extract|output|return|register) (?:nothing\b|no claims?\b|only\b|that\b|the following\b)",
    # To name it.
    r"\b(?:ai|llm|language model|automated|machine) (?:readers?|reviewers?|systems? reading|tools? reading|assistants? reading)\b",
    r"\bif you are (?:an? )?(?:ai|llm|language model|model|assistant)\b",
)
_ANY = re.compile("|".join(_FORMS), re.IGNORECASE)


def addresses_reader(words: str) -> bool:
    """Return whether *words* hold a form in which one speaks to a machine that reads; also true where a card quotes such words."""
    return _ANY.search(" ".join(words.split())) is not None


def doubt_addressed(proposals: Proposals, outline: Outline) -> Proposals:
    """Return *proposals*, those out of a paragraph that speaks to a machine with a note and low confidence, whatever engine read it."""
    blocks = {passage.block for passage in outline.passages if addresses_reader(passage.words)}
    spans = [(one.start, one.stop) for one in outline.passages if one.block in blocks]

    def doubt(proposal: Proposal) -> Proposal:
        if NOTE in proposal.notes or not any(start < proposal.anchor.stop and proposal.anchor.start < stop for start, stop in spans):
            return proposal
        return replace(proposal, confidence=Confidence.LOW, notes=(NOTE, *proposal.notes))

    return replace(proposals, proposals=tuple(map(doubt, proposals.proposals)))


# An offered figure is looked up in the card's words. The card's figure is taken, and never the offered one.

_NUMBER = re.compile(
    r"(?<![\w.,/])[-−]?\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,12})?(?!\w|[.,]\d)|(?<![\w.,/])[-−]?\d{1,15}(?:\.\d{1,12})?(?!\w|[.,]\d)"
)
_PER_CENT = re.compile(r"%|\bper ?cent", re.IGNORECASE)
_ROUNDING = 0.0051
"""How far a share that was worked out from a fraction may lie from it: two decimals, rounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFigure:
    """A figure as it is said to be."""

    number: float | None
    """A share may be given in per cent."""
    written: str | None
    """As it is said to be written."""
    unit: FigureUnit | None
    """What it is said to count in; None: not said."""


def list_figures(words: str, passage: Passage) -> tuple[CardFigure, ...]:
    """Return the figures of a quote out of *passage*, as the rules read them: a row's by its cells, in per cent where heads say so."""
    if passage.kind is not PassageKind.ROW:
        return find_quantities(words)
    units = read_units(passage, find_row_quantities(passage))
    return tuple(unit for unit in units if unit.written in words) or find_quantities(words)


def find_figure(
    stated_figure: StatedFigure, words: str, *, known: Sequence[CardFigure] | None = None, around: Sequence[str] = ()
) -> CardFigure | None:
    """Return the figure of *words* that is meant; None where they hold no such figure.

    The figures that are read come first, by their value and then by their words; then bare numbers, in the unit that is said, or in per
    cent where *around* says so.

    Args:
        known: the figures of *words*; None: as `find_quantities` reads them.
        around: heads and caption of the table.
    """
    if stated_figure.number is None and not (stated_figure.written or "").strip():
        return None
    known = find_quantities(words) if known is None else known
    # Equal values come before equal words: a figure such as "5 %" may occur several times in a passage.
    meant = [figure for figure in known if _is_meant(figure, stated_figure)]
    exact = [
        figure
        for figure in meant
        if figure.value is not None and stated_figure.number is not None and _is_close(figure.value, stated_figure.number)
    ]
    for group in (exact, meant):
        if group:
            return next((figure for figure in group if _is_written(figure, stated_figure)), group[0])
    written = [figure for figure in known if _is_written(figure, stated_figure)]
    if written:
        return written[0] if len(written) == 1 else None
    return next(_find_bare(stated_figure, words, around), None)


def holds_number(number: int, words: str) -> bool:
    """Return whether *words* hold the whole number *number*, alone or as the whole of a fraction."""
    if any(quantity.n == number for quantity in find_quantities(words)):
        return True
    plain = blank_asides(words)
    return any(read_number(hit[0].replace("−", "-")) == number for hit in _NUMBER.finditer(plain.replace("/", " ")))


def _is_meant(card_figure: CardFigure, stated_figure: StatedFigure) -> bool:
    if card_figure.value is None or stated_figure.number is None:
        return False
    if _is_close(card_figure.value, stated_figure.number):
        return True
    if card_figure.unit not in (FigureUnit.SHARE, FigureUnit.POINTS):
        return False
    # A model may give 15/32 as 0.47 or as 15.
    if card_figure.n is not None and (
        abs(card_figure.value - stated_figure.number) < _ROUNDING or _is_close(card_figure.value * card_figure.n, stated_figure.number)
    ):
        return True
    return _is_close(card_figure.value * 100, stated_figure.number)


def _is_written(card_figure: CardFigure, stated_figure: StatedFigure) -> bool:
    """Whether the words given are those of the figure, but for white space."""
    theirs, ours = _fold(stated_figure.written or ""), _fold(card_figure.written)
    return bool(theirs) and (theirs == ours or (len(theirs) > 1 and theirs in ours) or (len(ours) > 1 and ours in theirs))


def _find_bare(stated_figure: StatedFigure, words: str, around: Sequence[str]) -> Iterator[CardFigure]:
    """Numbers without a unit of their own that are the one given."""
    if stated_figure.number is None:
        return
    is_share = stated_figure.unit is FigureUnit.SHARE or (stated_figure.unit is None and any(_PER_CENT.search(name) for name in around))
    for hit in _NUMBER.finditer(blank_asides(words)):
        number = read_number(hit[0].replace("−", "-"))
        shares = [round(number / 100, 10)] if is_share else []
        values = [one for one in (number, *shares) if _is_close(one, stated_figure.number)]
        if not values:
            continue
        value = shares[0] if is_share and abs(number) > 1 else values[0]
        unit = FigureUnit.SHARE if is_share else stated_figure.unit or FigureUnit.SCORE
        if unit is not FigureUnit.SHARE or abs(value) <= 1:
            yield CardFigure(start=hit.start(), stop=hit.end(), written=hit[0], unit=unit, value=value)


def _is_close(number: float, other: float) -> bool:
    return math.isclose(number, other, rel_tol=1e-6, abs_tol=1e-9)


def _fold(text: str) -> str:
    return "".join(text.split()).casefold().replace("−", "-")


# From an offered claim to a proposal, as far as the card says it. The quote is found again, and so are figures, names
# and words.
#
# What is not in the card is dropped: without its quote the whole offer, otherwise the field, with a note.

LONGEST_CLAIM = 2_000
"""Characters of a quote at most: a passage that makes one claim is shorter."""
_LONGEST_NAME = 120
_LONGEST_WORDS = 500
"""Characters of a name, an evaluation or another field at most."""
_LONGEST_NOTE = 300
_REASONS = {
    "quotation-not-found": "the quote does not stand in the lines that were read",
    "quotation-too-short": "the quote is too short to be found again",
    "quotation-too-long": "the quote is longer than a claim",
}
_DENIED = re.compile(
    r"\b(?:not(?! only)|never|no|cannot|neither|nor|without|unless|if|whether|[a-z]{2,8}n[’']t)\b[^.;:!?,]{0,30}$", re.IGNORECASE
)
"""What stands right before a quote that begins in the middle of a sentence and takes its meaning away."""
_NUMBERS = re.compile(r"\d{1,20}(?:[.,]\d{1,20}){0,5}")
_BOUNDS = {Form.UPPER_BOUND: Relation.AT_MOST, Form.LOWER_BOUND: Relation.AT_LEAST}


@dataclass(slots=True)
class _Doubts:
    """What of an offer is not in the card."""

    notes: list[str] = field(default_factory=list)
    is_grave: bool = False
    """Whether the claim is doubtful as a whole."""

    def fear(self, note: str) -> None:
        self.notes.append(note)
        self.is_grave = True

    def tell(self, what: str, given: object) -> None:
        self.notes.append(f"the engine gave {what} “{tidy_text(str(given), 100)}”, which the card does not say here; it is left out")


class CardGround:
    """One card, in which what windows' answers say is looked up."""

    def __init__(self, card: CardText, around: PassageContext, source: CardSource) -> None:
        self._card, self._around, self._awareness = card, around, AwarenessIndex(around)
        self._anchored = AnchoredText(card)
        self._passages = around.outline.passages
        self._starts = [passage.start for passage in self._passages]
        self._named = _normalise("\n".join((source.title, *source.models, write_opening(around.outline))))

    def check(self, window: CardWindow, reading: WindowAnswer) -> tuple[tuple[Proposal, ...], tuple[RejectedOffer, ...]]:
        """Return what of an answer about *window* is in the card, in its order, and what was dropped with the reasons."""
        opened = _WindowGround(self._card, self._anchored, window, self._named)
        proposals: list[Proposal] = []
        dropped = list(reading.dropped)
        for offer in reading.offers:
            found = self._check(opened, offer)
            if isinstance(found, Proposal):
                proposals.append(found)
            else:
                dropped.append(RejectedOffer(quote=shorten_text(offer.at.quote), reason=found))
        return tuple(sorted(proposals, key=lambda proposal: (proposal.anchor.start, proposal.anchor.stop))), tuple(dropped)

    def _check(self, opened: "_WindowGround", offer: OfferedClaim) -> Proposal | str:
        """The proposal, or why there is none."""
        anchor = opened.anchor(offer.at)
        if isinstance(anchor, str):
            return anchor
        relation = _relate(offer)
        if offer.form is Form.THRESHOLD and relation is None:
            return "a threshold is offered without its relation, at most or at least"
        passage = self._passages[max(0, bisect_right(self._starts, anchor.start) - 1)]
        claim = _GroundedClaim(opened, offer, anchor, passage, self._around)
        return claim.build(relation, self._awareness)


class _WindowGround:
    """The part of a card that one answer may speak of."""

    def __init__(self, card: CardText, whole: AnchoredText, window: CardWindow, named: str) -> None:
        text = card.text[window.start : window.stop]
        part = replace(card, text=text, pages=(Page(number=1, start=0, stop=len(text)),), headings=())
        self._whole, self._part, self._offset = whole, AnchoredText(part), window.start
        self._text = text
        self._lines = {line.number: line for line in window.lines}
        shown = (*window.titles, *window.table, *(line.text for line in window.lines))
        self._shown, self._named = _normalise(" ".join(shown)), named

    def anchor(self, place: OfferedPlace) -> Anchor | str:
        """The place of a quote within the window, or why there is none; its words are then the card's own."""
        if len(place.quote) > LONGEST_CLAIM:
            return _REASONS["quotation-too-long"]
        line = self._lines.get(place.line)
        near = max(0, line.start - self._offset) if line is not None else None
        try:
            # Only within the window: the model did not see the rest of the card, so a match there would be chance.
            found = self._part.find(place.quote, near=near)
            return self._whole.find(found.exact, near=self._offset + found.start)
        except InputError as error:
            return _REASONS.get(error.code, error.faults[0].found)

    def holds(self, words: str, *, names: bool = False) -> bool:
        """Whether the lines, their titles or their table's heads say *words*; with *names*, also the card's title and beginning."""
        wanted = _normalise(words) if len(words) <= _LONGEST_WORDS else ""
        has_word = any(character.isalnum() for character in wanted)  # a lone mark is in every card, and says nothing
        return has_word and (_stands_in(wanted, self._shown) or (names and _stands_in(wanted, self._named)))


class _GroundedClaim:
    """One offer whose quote was found."""

    def __init__(self, opened: _WindowGround, offer: OfferedClaim, anchor: Anchor, passage: Passage, around: PassageContext) -> None:
        self._opened, self._offer, self._anchor, self._passage, self._around = opened, offer, anchor, passage, around
        self._words = _read(anchor, passage)
        self._figures = list_figures(self._words, passage)
        self._table = tuple(list_table(passage, around))
        self._doubts = _Doubts()
        self._elsewhere = tuple(self._find_elsewhere())
        if any(addresses_reader(one.words) for one in around.block(passage)):
            self._doubts.fear(NOTE)
        if denied := _DENIED.search(" ".join(around.text[max(passage.start, anchor.start - 200) : anchor.start].split())):
            self._doubts.fear(f"the words before the quote may deny it or set a condition: “… {tidy_text(denied[0], 80)}”")

    def build(self, relation: Relation | None, awareness_index: AwarenessIndex) -> Proposal:
        """Return the proposal; to the awareness statements that are offered come those that are *known* of the card."""
        offer = self._offer
        value, theta = self._find_figures()
        said = {name: self._keep(name, getattr(offer, name)) for name in ("evaluation", "grader", "elicitation", "relative_to")}
        model, version = (self._keep(name, getattr(offer, name), names=True) for name in ("model", "version"))
        reported, bound = self._report(value), None if theta is None else theta.value
        spec = self._specify(value or theta, reported, bound)
        stated = StatedFacts(form=offer.form, theta=bound, reported=reported, version=version, **said)
        return Proposal(
            quote=self._anchor.exact,
            anchor=self._anchor,
            passage=self._passage.kind,
            form=offer.form,
            relation=relation,
            theta=bound,
            reported=reported,
            written=(value or theta).written if value or theta else None,  # type: ignore[union-attr]
            property=spec,
            slug=slugify(spec.name),
            model=model,
            version=version,
            comparisons=tuple(self._compare()),
            awareness=tuple(self._find_awareness(awareness_index.find(self._passage, evaluation=said["evaluation"]))),
            completeness=check_completeness(stated),
            evaluation=said["evaluation"],
            grader=said["grader"],
            elicitation=said["elicitation"],
            relative_to=said["relative_to"],
            confidence=Confidence.LOW if self._doubts.is_grave else offer.confidence,
            notes=tuple(dict.fromkeys(self._write_notes())),
        )

    def _find_figures(self) -> tuple[CardFigure | None, CardFigure | None]:
        """The reported figure and θ, as far as they stand in the quote, its table's heads, or lines that are quoted for θ."""
        figure, form = self._offer.figure, self._offer.form
        number, theta = figure.value, figure.theta
        if form in (Form.EXISTENCE, Form.PREVALENCE):
            number, theta = (theta if number is None else number), None
        value = self._find("the figure", number, (self._words, *self._table), written=number is not None)
        bound = self._find("θ", theta, (self._words, *self._table, *self._elsewhere), written=number is None)
        if value is not None and bound is None and value.bound is not None and form in _BOUNDS:
            # "<4%" is the bound itself; no figure was reported.
            value, bound = None, value
        return self._place("the figure", value), self._place("θ", bound)

    def _place(self, what: str, card_figure: CardFigure | None) -> CardFigure | None:
        """The figure, where it lies on the scale of what is measured; a multiple says only how two figures stand to each other."""
        if card_figure is None or card_figure.unit is not FigureUnit.MULTIPLE:
            return card_figure
        self._doubts.notes.append(f"{what} “{tidy_text(card_figure.written, 60)}” is a multiple of another figure, and no value on a scale")
        return None

    def _find(self, what: str, number: float | None, texts: Sequence[str], *, written: bool) -> CardFigure | None:
        if number is None:
            return None
        unit = None if self._offer.figure.unit is OfferedUnit.NONE else FigureUnit(self._offer.figure.unit.value)
        stated_figure = StatedFigure(number=number, written=self._offer.figure.written if written else None, unit=unit)
        for text in texts:
            known = self._figures if text is self._words else None
            if (figure := find_figure(stated_figure, text, known=known, around=self._table)) is not None and figure.value is not None:
                if text in self._elsewhere and text not in (self._words, *self._table):
                    self._doubts.notes.append(f"{what} stands elsewhere: “{tidy_text(text, 200)}”")
                return figure
        # An invented figure makes the whole claim doubtful, unlike an invented name.
        self._doubts.tell(what, f"{number:.12g}")
        self._doubts.is_grave = True
        return None

    def _report(self, value: CardFigure | None) -> Reported | None:
        if value is None or value.value is None:
            return None
        if value.bound is not None:
            self._doubts.notes.append(f"the card writes the figure as a bound: “{tidy_text(value.written, 60)}”")
        low, high, n = value.low, value.high, value.n
        figure = self._offer.figure
        if low is None and high is None and figure.low is not None and figure.high is not None and figure.low <= figure.high:
            low, high = self._find_interval(figure.low, figure.high, value.unit)
        if n is None and figure.n is not None:
            if figure.n >= 1 and any(holds_number(figure.n, text) for text in (self._words, *self._table, *self._elsewhere)):
                n = figure.n
            else:
                self._doubts.tell("n", figure.n)
        return Reported(value=value.value, low=low, high=high, n=n)

    def _find_interval(self, low: float, high: float, unit: FigureUnit) -> tuple[float | None, float | None]:
        ends = [find_figure(StatedFigure(number=value, written=None, unit=unit), self._words, around=self._table) for value in (low, high)]
        values = [end.value for end in ends if end is not None and end.value is not None]
        if len(values) == len(ends) and values[0] <= values[1]:
            return values[0], values[1]
        self._doubts.tell("an interval", f"{low:.12g} to {high:.12g}")
        return None, None

    def _specify(self, figure: CardFigure | None, reported: Reported | None, theta: float | None) -> PropertySpec:
        """The property by the engine's name, class and direction, on the range that such a figure has for the rules, too."""
        offered = self._offer.property
        name = self._name(figure)
        (lowest, highest), guessed = find_range(figure)
        self._doubts.notes += guessed
        measure = find_measure(name, None)
        if (
            measure is not None
            and Direction.NOT_SAFETY not in (measure.direction, offered.direction)
            and measure.direction is not offered.direction
        ):
            told = measure.direction.value.replace("_", " ")
            self._doubts.notes.append(f"check the direction: by its name, {measure.name} is usually {told}")
        values = [value for value in (theta, reported.value if reported else None) if value is not None]
        return PropertySpec(
            name=name,
            class_=offered.class_,
            range=(min([lowest, *values]), max([highest, *values])),
            direction=offered.direction,
            suppressible=measure.is_suppressible if measure else offered.class_ is PropertyClass.DECEPTION_SCHEMING,
        )

    def _name(self, figure: CardFigure | None) -> str:
        """The property's name: the engine's words, or those of the rules where it has a number that the card does not say here."""
        name = tidy_text(self._offer.property.name, _LONGEST_NAME)
        invented = [item for item in _NUMBERS.findall(name) if not self._opened.holds(item, names=True)]
        # A number in the name of a property would state something that the card does not say.
        if invented:
            self._doubts.tell("in the property's name", name)
        if name and not invented:
            return name
        return describe_property(self._passage, figure, around=self._around, column=None, evaluation=None).spec.name

    def _keep(self, name: str, words: str | None, *, names: bool = False) -> str | None:
        """The words of a field, if the card says them; those of a fixed word for nothing are None."""
        text = " ".join((words or "").split())
        if not text or text.casefold() in ("none", "null", "n/a", "unknown", "not stated"):
            return None
        if self._opened.holds(text, names=names):
            return text
        self._doubts.tell(f"as {name.replace('_', ' ')}", text)
        return None

    def _find_elsewhere(self) -> Iterator[str]:
        for place in self._offer.elsewhere[:8]:
            anchor = self._opened.anchor(place)
            if isinstance(anchor, Anchor):
                yield " ".join(anchor.exact.split())

    def _compare(self) -> Iterator[ComparisonNote]:
        """Comparisons whose subject and words the card says; a value that their words do not hold is None."""
        for comparison in self._offer.comparisons[:20]:
            subject, words = " ".join(comparison.subject.split()), " ".join(comparison.words.split())
            if not self._opened.holds(subject) or not self._opened.holds(words):
                self._doubts.tell("as comparison", f"{comparison.subject}: {comparison.words}")
                continue
            figure = find_figure(StatedFigure(number=comparison.value, written=None, unit=None), words, around=self._table)
            yield ComparisonNote(subject=subject, value=None if figure is None else figure.value, words=words)

    def _find_awareness(self, awareness_notes: Sequence[AwarenessNote]) -> Iterator[AwarenessNote]:
        """Offered statements that the card makes in the same section, and *known* ones that none of these touches, in the card's order."""
        notes: dict[tuple[int, int], AwarenessNote] = {}
        for awareness in self._offer.awareness[:20]:
            anchor = self._opened.anchor(OfferedPlace(quote=awareness.quote, line=awareness.line))
            if isinstance(anchor, str):
                self._doubts.tell("as awareness statement", awareness.quote)
            elif self._find_section(anchor) == self._find_section(self._anchor):
                layer = None if awareness.layer.value == "none" else EvidenceLayer(awareness.layer.value)
                notes[anchor.start, anchor.stop] = AwarenessNote(quote=anchor.exact, start=anchor.start, stop=anchor.stop, layer=layer)
        offered = tuple(notes)
        notes |= {
            (awareness_note.start, awareness_note.stop): awareness_note
            for awareness_note in awareness_notes
            if not any(start < awareness_note.stop and awareness_note.start < stop for start, stop in offered)
        }
        yield from (notes[place] for place in sorted(notes))

    def _find_section(self, anchor: Anchor) -> int | None:
        return self._around.outline.find_section(anchor.start)

    def _write_notes(self) -> Iterator[str]:
        if caution := tidy_text(self._offer.caution or "", _LONGEST_NOTE):
            yield f"the engine says: {caution}"
        yield from self._doubts.notes


def _stands_in(wanted: str, text: str) -> bool:
    """Whether *wanted* stands in *text* with nothing of a word before or after it: “Model A” is not in “Model Alpha”."""
    first, last = (r"(?<!\w)(?<!\d[.,])" if wanted[0].isalnum() else ""), (r"(?!\w|[.,]\d)" if wanted[-1].isalnum() else "")
    return re.search(first + re.escape(wanted) + last, text) is not None


def _relate(offer: OfferedClaim) -> Relation | None:
    if offer.form is Form.THRESHOLD:
        return None if offer.relation is OfferedRelation.NONE else Relation(offer.relation.value)
    return _BOUNDS.get(offer.form)


def _read(anchor: Anchor, passage: Passage) -> str:
    """The quote as a person reads it: the passage's own words where it is the whole passage, else the card's characters on one line."""
    if (anchor.start, anchor.stop) == (passage.start, passage.stop):
        return passage.words
    plain = build_form(anchor.exact, MatchLevel.N4).text
    return " ".join(plain.split())


def _normalise(text: str) -> str:
    return " ".join(build_form(text, MatchLevel.N4).text.casefold().split())
