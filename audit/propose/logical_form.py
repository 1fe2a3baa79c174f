"""The logical form of a claim, read off the words around its figure: thresholds, hedges and denials."""

import re
from dataclasses import dataclass, replace

from audit.propose.form_vocabulary import (
    ATTACKS,
    BARS,
    BY_YEAR,
    COMPARATORS,
    CONDITIONS,
    DENIED,
    DIRECTION_TOLD,
    FALLS,
    FALLS_SHORT,
    FINDS,
    GENERAL,
    GOALS,
    HEDGES,
    MEETS,
    RISES,
    RULE_OUT,
    RUNS,
    SATISFIES,
    WILL,
    WORDED,
)
from audit.propose.prose_figures import CardFigure, FigureUnit
from registry.records.claim import Form, Relation, Reported
from registry.records.claim_draft import Confidence

# The logical form of a claim (method, section 2), read from the words around its figure, or from its words where it has
# none.

_FORM_REACH = 90
"""Characters before a figure in which the verb of a threshold is looked for."""
_FAR = 400
"""Characters before a figure in which an attack is told: most of a long sentence."""
_FORM_CLAUSE_END = re.compile(
    r"[;:]\s|,\s(?=(?:and|but|while|whereas|although|though|with)\s)|\s(?=while\s|whereas\s|but\s)|[.!?]\s|\s—\s?|—"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdFigure:
    """A figure that the passage measures another one against."""

    quantity: CardFigure
    relation: Relation | None
    """None where the words leave open which side is claimed ("improving over"): the figures decide."""
    is_of_another: bool
    """Whether it is the result of something else ("improving over Model A (6 %)") and not a threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormReading:
    """What the words claim, without what it is about."""

    form: Form
    relation: Relation | None = None
    theta: float | None = None
    reported: Reported | None = None
    written: str | None = None
    """The figure or bound as the card writes it."""
    is_relative: bool = False
    """Whether the bound is a multiple of, or only set against, another figure."""
    is_clear: bool = True
    """False where the words alone leave room for doubt that this is a claim at all."""
    notes: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    """Where the words stand that claim it; None for a figure."""


def find_thetas(words: str, quantities: tuple[CardFigure, ...]) -> tuple[ThresholdFigure, ...]:
    """Return those of *quantities* that are thresholds or baselines, in their order."""
    thetas = (_read_theta(words, quantity) for quantity in quantities)
    return tuple(figure for figure in thetas if figure is not None)


def _read_theta(words: str, card_figure: CardFigure) -> ThresholdFigure | None:
    if card_figure.value is None or card_figure.unit not in (FigureUnit.SHARE, FigureUnit.SCORE):
        return None
    before, after = _clause_before(words, card_figure.start), words[card_figure.stop : card_figure.stop + 60]
    text = f"{before} {card_figure.written}"
    if COMPARATORS.search(before):
        relation = Relation.AT_MOST if re.search(r"underperform|short\sof|trail|lag|behind", before, re.IGNORECASE) else None
        return ThresholdFigure(quantity=card_figure, relation=relation, is_of_another=True)
    if not (BARS.after.search(after) or BARS.before.search(before)):
        return None
    relation = _relate(text, after)
    return ThresholdFigure(quantity=card_figure, relation=relation, is_of_another=False)


def is_only_defined(theta: ThresholdFigure) -> bool:
    """Whether the passage gives the line without saying that anything stands below or above it."""
    return theta.relation is None and not theta.is_of_another


def _relate(said: str, after: str) -> Relation | None:
    """Return the side of the line that is claimed: the last of the words that tell, before the figure first."""
    for text in (said, after):
        short, met = _last(FALLS_SHORT, text), _last(MEETS, text)
        if short >= 0 or met >= 0:
            is_below = short >= met
            # "Is not below the threshold" reverses the side. "Met the rule-out threshold" means below it.
            is_turned = _is_denied(FALLS_SHORT if is_below else MEETS, text) or (
                RULE_OUT.search(said + after) is not None and SATISFIES.search(text) is not None
            )
            return Relation.AT_MOST if is_below is not is_turned else Relation.AT_LEAST
    return None


def _is_denied(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a negation that is no part of it stands right before the last occurrence of *pattern*."""
    last = max(pattern.finditer(text), key=lambda match: match.end())
    return DENIED.search(text[: last.start()]) is not None


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Where the last occurrence ends: a negation and its verb end where the verb alone does."""
    return max((match.end() for match in pattern.finditer(text)), default=-1)


def _clause_before(words: str, stop: int) -> str:
    """The words of the clause before character *stop*, at most `_REACH`; a comma inside an enumeration does not end it."""
    text = words[max(0, stop - _FORM_REACH) : stop]
    ends = [match.end() for match in _FORM_CLAUSE_END.finditer(text)]
    return text[ends[-1] :] if ends else text


def is_condition(words: str, card_figure: CardFigure) -> bool:
    """Whether a bound says when something counts ("where at least 4/6 attempts …") or what would be needed, not what came out."""
    return card_figure.bound is not None and CONDITIONS.search(words[max(0, card_figure.start - 70) : card_figure.start]) is not None


def is_goal(words: str, card_figure: CardFigure) -> bool:
    """Whether a figure is an aim, expects or plans, not what came out."""
    before, after = words[max(0, card_figure.start - _FAR) : card_figure.start], words[card_figure.stop : card_figure.stop + _FORM_REACH]
    ends = [match.end() for match in _FORM_CLAUSE_END.finditer(before)]
    clause = before[ends[-1] :] if ends else before
    return GOALS.search(clause) is not None or (WILL.search(clause) is not None and BY_YEAR.search(f"{clause} {after}") is not None)


def is_number_run(words: str, card_figure: CardFigure) -> bool:
    """Whether a share says how much of a test was run, not what came out of it."""
    return card_figure.unit is FigureUnit.SHARE and RUNS.search(words[max(0, card_figure.start - 70) : card_figure.start]) is not None


def is_finding(words: str, card_figure: CardFigure) -> bool:
    """Whether a count is said to have been found."""
    return card_figure.unit is FigureUnit.COUNT and FINDS.search(words[max(0, card_figure.start - 40) : card_figure.start]) is not None


def read_figure(words: str, card_figure: CardFigure, theta: ThresholdFigure | None = None) -> FormReading | None:
    """Return what the passage claims with figure *one*, None where a figure of this kind makes no claim.

    Args:
        theta: the threshold or baseline that this figure is set against.
    """
    notes = _note_figure(card_figure)
    if theta is not None:
        if card_figure.unit in (FigureUnit.SHARE, FigureUnit.SCORE) and _is_failed(theta, card_figure):
            # The figure contradicts the reading of the words, so the reading is wrong. Only the figure is proposed.
            note = f"the figure stands on the other side of {theta.quantity.written} than the words seem to say, so no θ is proposed"
            return _share(words, card_figure, (*notes, note))
        return _against(theta, card_figure, notes)
    match card_figure.unit:
        case FigureUnit.MULTIPLE:
            return _multiple(card_figure, notes)
        case FigureUnit.POINTS:
            return _difference(words, card_figure, notes)
        case FigureUnit.COUNT:
            return FormReading(form=Form.EXISTENCE, reported=_report(card_figure), written=card_figure.written, notes=notes)
        case FigureUnit.SHARE | FigureUnit.SCORE:
            return _share(words, card_figure, notes)


def read_threshold(theta: ThresholdFigure) -> FormReading:
    """Return the claim that a threshold makes without a figure beside it."""
    return FormReading(
        form=Form.THRESHOLD,
        relation=theta.relation,
        theta=theta.quantity.value,
        written=theta.quantity.written,
        is_relative=theta.is_of_another,
    )


def _against(theta: ThresholdFigure, card_figure: CardFigure, notes: tuple[str, ...]) -> FormReading:
    limit, relation = theta.quantity.value, theta.relation
    is_below = card_figure.value is not None and limit is not None and card_figure.value <= limit
    if relation is None:
        # Words such as "improving over" leave the side open; the two figures decide it.
        relation = Relation.AT_MOST if is_below else Relation.AT_LEAST
    if theta.is_of_another:
        notes = (*notes, "the threshold is the result of something else, not a line the card draws")
    return FormReading(
        form=Form.THRESHOLD,
        relation=relation,
        theta=limit,
        reported=_report(card_figure),
        written=card_figure.written,
        is_relative=theta.is_of_another,
        notes=notes,
    )


def _is_failed(theta: ThresholdFigure, card_figure: CardFigure) -> bool:
    limit = theta.quantity.value
    if theta.relation is None or limit is None or card_figure.value is None:
        return False
    return card_figure.value > limit if theta.relation is Relation.AT_MOST else card_figure.value < limit


def _multiple(card_figure: CardFigure, notes: tuple[str, ...]) -> FormReading | None:
    if card_figure.value is None or card_figure.value == 1:
        return None
    relation = card_figure.bound or (Relation.AT_MOST if card_figure.value < 1 else Relation.AT_LEAST)
    form = Form.THRESHOLD if card_figure.bound is None else _bound_form(relation)
    note = "the figure is a multiple of another one, so there is no θ in the unit of the property"
    return FormReading(form=form, relation=relation, written=card_figure.written, is_relative=True, notes=(*notes, note))


def _difference(words: str, card_figure: CardFigure, notes: tuple[str, ...]) -> FormReading | None:
    """Set against something else, without a figure of its own; None where the words leave open which way."""
    near = words[max(0, card_figure.start - 60) : card_figure.stop + 30]
    is_less = card_figure.written[:1] in "-−" or FALLS.search(near) is not None
    if not is_less and not (card_figure.written[:1] == "+" or RISES.search(near)):
        return None
    relation = Relation.AT_MOST if is_less else Relation.AT_LEAST
    note = "the figure is a difference from another one, so there is no θ in the unit of the property"
    return FormReading(
        form=Form.THRESHOLD, relation=relation, written=card_figure.written, is_relative=True, is_clear=False, notes=(*notes, note)
    )


def _share(words: str, card_figure: CardFigure, notes: tuple[str, ...]) -> FormReading:
    if card_figure.bound is not None:
        return FormReading(
            form=_bound_form(card_figure.bound),
            relation=card_figure.bound,
            theta=card_figure.value,
            written=card_figure.written,
            notes=notes,
        )
    is_attack = ATTACKS.search(words[max(0, card_figure.start - _FAR) : card_figure.start]) is not None
    return FormReading(
        form=Form.EXISTENCE if is_attack else Form.PREVALENCE, reported=_report(card_figure), written=card_figure.written, notes=notes
    )


def _bound_form(relation: Relation) -> Form:
    return Form.UPPER_BOUND if relation is Relation.AT_MOST else Form.LOWER_BOUND


def _report(card_figure: CardFigure) -> Reported | None:
    """Return the figure as it is recorded; for a range its middle, with its ends; None where the words give no number."""
    if card_figure.value is not None:
        return Reported(value=card_figure.value, low=card_figure.low, high=card_figure.high, n=card_figure.n)
    if card_figure.low is None or card_figure.high is None:
        return None
    return Reported(value=round((card_figure.low + card_figure.high) / 2, 10), low=card_figure.low, high=card_figure.high, n=card_figure.n)


def _note_figure(card_figure: CardFigure) -> tuple[str, ...]:
    notes = []
    if card_figure.is_approximate and card_figure.value is not None:
        notes.append(f"the figure is hedged in the card: “{card_figure.written}”")
    if card_figure.value is None and card_figure.low is not None:
        notes.append(f"the card gives a range, “{card_figure.written}”; its middle stands as the figure")
    if card_figure.value is not None and card_figure.is_in_words:
        notes.append(f"the figure is given in words: “{card_figure.written}”")
    return tuple(notes)


def read_worded(words: str) -> FormReading | None:
    """Return what a sentence claims without a figure of its own; None where it does not look like a claim."""
    folded = words.lower()
    fitting = ((form, hit) for form in WORDED if _has_any(folded, form.needs) and (hit := form.pattern.search(words)))
    kind, hit = next(fitting, (None, None))
    if kind is None or hit is None or GENERAL.search(words):
        return None
    return FormReading(
        form=kind.form,
        relation=kind.relation,
        reported=Reported(value=0.0) if kind.is_none_seen else None,
        is_relative=kind.is_relative,
        is_clear=kind.is_clear,
        notes=(kind.note,) if kind.note else (),
        span=hit.span(),
    )


def _has_any(folded: str, pieces: tuple[str, ...]) -> bool:
    """Whether one of *pieces* stands in the words; without pieces there is nothing to look for first."""
    for piece in pieces:
        if piece in folded:
            return True
    return not pieces


def find_hedges(words: str) -> tuple[str, ...]:
    """Return the words by which the card qualifies what it says, in lower case, each once and in order."""
    return tuple(dict.fromkeys(match[0].lower() for match in HEDGES.finditer(words)))


def find_stated_direction(words: str) -> str | None:
    """Return where the card itself says which way is better ("lower numbers are better"); None where it does not."""
    match = DIRECTION_TOLD.search(words)
    return match[0] if match else None


# Hedges. What a card only believes, or cannot rule out, is no threshold and no bound that it claims.

_BOUNDS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)
_HEDGE_CLAUSE_END = re.compile(r"[;:]\s|[.!?]\s|,\s(?:and|but|while|whereas|although|because|since|as|so)\s", re.IGNORECASE)
_CERTAIN = r"(?:definitive|conclusive|sufficient|clear|strong)"
_DOUBT = (
    rf"\b(?:do|does|did)(?:\s?n[o’']t|\snot)\s(?:yet\s)?have\s(?:any\s)?{_CERTAIN}\s(?:evidence|proof)"
    rf"|\bno\s(?:definitive|conclusive)\s(?:evidence|proof)"
    r"|\b(?:cannot|can\s?not|can[’']t|could\snot|couldn[’']t|unable\sto|not\sable\sto)\s(?:\w+\s)?(?:rule|ruling)\sout\b"
    r"|\b(?:cannot|can\snot|can[’']t)\sbe\s(?:certain|sure)\b"
)
"""Doubt about a level, wherever it stands in a sentence without figures."""
_BELIEF = (
    r"\bwe\s(?:\w+ly\s)?(?:(?:do|did)(?:\s?n[o’']t|\snot)\s)?(?:believe|think|suspect)\b"
    r"|\b(?:may|might)\s(?!\d)(?:\w+ly\s)?[a-z]+"
)
_HEDGE = re.compile(f"{_DOUBT}|{_BELIEF}", re.IGNORECASE)
_DOUBTED = re.compile(_DOUBT, re.IGNORECASE)
_DISBELIEF = re.compile(r"(?:n[o’']t|\snot)\s(?:believe|think|suspect)", re.IGNORECASE)


def find_hedge(words: str, start: int, stop: int, *, has_figure: bool) -> str | None:
    """Return the hedge over the claim that *words* make in [start, stop), None where its clause has none before its end.

    Args:
        has_figure: whether the claim is a figure; a claim in words is hedged by doubt anywhere in its sentence.
    """
    if not has_figure and (doubt := _DOUBTED.search(words)):
        return doubt[0]
    clause = max((one.end() for one in _HEDGE_CLAUSE_END.finditer(words, 0, start)), default=0)
    match = _HEDGE.search(words, clause, stop)
    return match[0] if match else None


def drop_bound(reading: FormReading, hedge: str) -> FormReading:
    """Return what is left of *reading* when its threshold or bound is hedged; any other reading as it is.

    That something may reach a level leaves the possibility (existence); that it is believed to stay below leaves a rate without a bound.
    """
    if reading.form not in _BOUNDS:
        return reading
    is_reached = reading.relation is Relation.AT_LEAST and not _DISBELIEF.search(hedge)
    form = Form.EXISTENCE if is_reached else Form.PREVALENCE
    note = f"the card hedges (“{hedge}”), so it claims no threshold and no bound here"
    # Notes about a figure stay true. Notes about a line in words do not.
    notes = reading.notes if reading.span is None else ()
    return replace(reading, form=form, relation=None, theta=None, is_relative=False, notes=(*notes, note))


# Denials around a figure: "does not refuse more than 5 %", "was unable to finish in 92 %".
#
# A plain negation before a bound turns the bound, never at high confidence. Any other ("unable to", "never failed to")
# keeps the words, at low confidence, with a note. A wrongly inverted claim is the worst that proposing could produce.
# Cost: some plain claims drop to low.

_DENIAL_REACH = 140
"""Characters on either side of a figure in which a denial is looked for; the clause mostly ends before."""
_HALF = 0.5
_DENIAL_CLAUSE_END = re.compile(r"[;:]\s|,\s|[.!?]\s|\s?—\s?|\s(?:and|but|while|whereas|although|though|because|since)\s", re.IGNORECASE)
_ASIDE = re.compile(r",\s[^,;.]{1,40},\s")
_AUXILIARY = r"(?:do|does|did|is|are|was|were|has|have|had|can|could|would|will)"
# "Not only", "(not shown)" and "cannot rule out" deny nothing that a figure counts.
_NO_DENIAL = (
    r"(?!\s(?:only|just|merely|simply|shown|including|necessarily|applicable|limited|rule|surprising\w*|statistically|significant\w*)\b)"
)
_SENTENTIAL = re.compile(
    r"\bnot\s(?:the\scase|true|correct)\sthat\b|\bno\s(?:\w+\s){0,3}?models?\b|\b(?:none\sof\sthe|neither\sof\sthe|neither)\s(?:\w+\s){0,2}?models?\b",
    re.IGNORECASE,
)
# It may go on behind an "and", which leaves open how far.
_SENTENCE_WIDE = re.compile(r"(?:\bnot|n[’']t)\s(?:the\scase|true|correct)\sthat\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;]\s")
_VERBAL = re.compile(rf"(?:\b(?:not|never)|\b(?:ca|wo|{_AUXILIARY})\s?n[o’']t|\bcannot)\b{_NO_DENIAL}", re.IGNORECASE)
# Words that deny by themselves; whether a bound behind them bounds the success or the failure is open.
_LEXICAL = re.compile(
    r"\b(?:unable\sto|incapable\sof|fail(?:s|ed|ing)?\s(?:to|in|at)|refus(?:es?|ed|ing)\sto|declin(?:es?|ed|ing)\sto|neglect(?:s|ed|ing)?\sto"
    r"|omit(?:s|ted|ting)?\sto|rarely|seldom|hardly|barely"
    # What is doubted, avoided or not known is not claimed either.
    r"|no\slonger|no\s(?:clear\s|strong\s)?(?:evidence|indications?|signs?|reason)|cannot\srule\sout|(?:not|n[’']t|never)\srul(?:e|ed)\sout|unlikely|impossible|doubt(?:s|ed|ful)?"
    r"|lack(?:s|ed|ing)?\sthe\s(?:ability|capability|capacity|skills?)|clear\sof|rather\sthan|instead\sof"
    r"|(?:not|n[’']t|never|cannot)\s(?:be\s|yet\s|been\s){0,2}(?:shown?|confirm(?:ed)?|verif(?:y|ied)|establish(?:ed)?|determined?|known?|certain|clear|sure|demonstrated?))\b",
    re.IGNORECASE,
)
# “Requests that are not harmful” are a kind of requests; “found that it did not” has its own subject.
_RELATIVE = re.compile(rf"\b(?:that|which|who)\s(?:{_AUXILIARY}\s)?$", re.IGNORECASE)
# A figure that opens its clause counts what follows: “in 4 % of runs it did not …”, “at most 3 % of the answers were not …”.
_OPENS = re.compile(r"^\W*(?:(?:in|for|on|at|across|only|just|about|and|but|with|to|under)\s){0,3}\W*$", re.IGNORECASE)
_NOT_AFTER_NEVER = re.compile(r"^\s(?:\w+\s)?(?:fail\w{0,3}|unable|neglect\w{0,3}|without|not|omit\w{0,4})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureDenial:
    """What is denied about a figure."""

    words: str
    """The denying words as the card has them."""
    turns: bool
    """Whether a bound behind them means its opposite: “does not refuse more than 5 %” claims at most 5 %."""


def find_denial(words: str, card_figure: CardFigure) -> FigureDenial | None:
    """Return how the clause of figure *one* denies what the figure counts; None where nothing is denied.

    A denial inside the figure's own words (“no more than 5 %”, “never”) is read with the figure and is none here.
    """
    before = _before(words, card_figure.start)
    open_ = _find(_LEXICAL, before)
    hits = _drop_overlaps(sorted((*_find(_SENTENTIAL, before), *_find(_VERBAL, before), *open_)))
    if hits:
        # Two negations may cancel each other, so nothing is turned.
        turns = len(hits) == 1 and not open_
        return FigureDenial(words=", ".join(hit[2] for hit in hits), turns=turns)
    if hit := _SENTENCE_WIDE.search(_SENTENCE.split(words[max(0, card_figure.start - 2 * _DENIAL_REACH) : card_figure.start])[-1]):
        return FigureDenial(words=hit[0], turns=False)
    if card_figure.is_in_words and (hit := _NOT_AFTER_NEVER.match(words[card_figure.stop : card_figure.stop + 40])):
        return FigureDenial(words=f"{card_figure.written}{hit[0]}", turns=False)
    if _OPENS.match(before):
        after = _after(words, card_figure.stop)
        found = sorted((*_find(_VERBAL, after), *_find(_LEXICAL, after)))
        if found:
            return FigureDenial(words=found[0][2], turns=False)
    return None


def apply_denial(reading: FormReading, denial: FigureDenial, card_figure: CardFigure) -> tuple[FormReading, Confidence]:
    """Return what figure *one* claims under *denial*, and the most that one can be sure of it.

    A bound is turned round where a plain negation stands before it. On the far side of one half the words may as well bound the
    denied event (“did not comply in over 95 % of cases”), so that is never more than low; everything else keeps its words, and is low,
    without a figure where the figure itself is in words.
    """
    if not denial.turns or card_figure.bound is None or reading.relation is not card_figure.bound:
        # “Never failed to refuse” is no rate of 0: words that are denied give no figure.
        reading = replace(reading, reported=None) if card_figure.is_in_words else reading
        return replace(reading, notes=(*reading.notes, f"the card denies: “{denial.words}”; check whose rate this is")), Confidence.LOW
    is_most = card_figure.bound is Relation.AT_LEAST
    relation, form = (Relation.AT_MOST, Form.UPPER_BOUND) if is_most else (Relation.AT_LEAST, Form.LOWER_BOUND)
    is_near = (
        card_figure.unit is FigureUnit.SHARE
        and card_figure.value is not None
        and (card_figure.value <= _HALF if is_most else card_figure.value >= _HALF)
    )
    note = f"the card denies: “{denial.words}”; the bound “{card_figure.written}” is turned round: check it"
    return replace(reading, form=form, relation=relation, notes=(*reading.notes, note)), Confidence.MEDIUM if is_near else Confidence.LOW


def _find(pattern: re.Pattern[str], text: str) -> list[tuple[int, int, str]]:
    return [
        (hit.start(), hit.end(), hit[0])
        for hit in pattern.finditer(text)
        if not _RELATIVE.search(text[max(0, hit.start() - 24) : hit.start()])
    ]


def _drop_overlaps(hits: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    kept: list[tuple[int, int, str]] = []
    for hit in hits:
        if not kept or hit[0] >= kept[-1][1]:
            kept.append(hit)
    return kept


def _before(words: str, stop: int) -> str:
    """The clause before character *stop*, without what stands between commas inside it."""
    text = _ASIDE.sub(" ", words[max(0, stop - _DENIAL_REACH) : stop])
    return text[max((match.end() for match in _DENIAL_CLAUSE_END.finditer(text)), default=0) :]


def _after(words: str, start: int) -> str:
    """The clause behind character *start*; one comma may close an opening phrase (“in 4 % of runs, it did not …”)."""
    text = words[start : start + _DENIAL_REACH]
    ends = [match.start() for match in _DENIAL_CLAUSE_END.finditer(text)]
    commas = 1 if ends and text[ends[0]] == "," else 0
    return text[: ends[commas]] if len(ends) > commas else text
