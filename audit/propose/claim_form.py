"""The logical form of a claim: of a figure by the words around it, or of a sentence without a figure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from audit.propose.card_figures import NUMBER, CardFigure, FigureUnit
from audit.propose.vocabulary import VocabularyRow, read_expression, read_expressions
from registry.intake.stated_bounds import read_bounds
from registry.records.claim import Form, Relation, Reported
from registry.registration.quote_checks import find_mismatches

MOST, LEAST = Relation.AT_MOST, Relation.AT_LEAST


@dataclass(frozen=True, slots=True, kw_only=True)
class FormReading:
    """What the words claim, without what it is about."""

    form: Form
    relation: Relation | None = None
    theta: float | None = None
    reported: Reported | None = None
    written: str | None = None
    """The figure or bound as the card writes it."""
    relative_to: str | None = None
    """What the claim is relative to, in the card's words; None for an absolute one."""
    certainty: float = 0.95
    notes: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    """Position of the words that claim it; None for a figure."""
    is_limit: bool = False
    """Whether it is a limit or risk in words, which says what a model may do and not how often."""


# Thresholds: lines that results are measured against. A line is never a result.

_BAR = r"(?:thresholds?|baselines?|limits?|cut-?offs?|bars?|criteri(?:on|a)|requirements?|ceilings?|floors?|rule-(?:in|out))"
_BAR_BEFORE = re.compile(
    rf"\b(?:{_BAR}|targets?)\s?(?:(?:score|level|value|accuracy|performance)\s)?(?:(?:for|on"
    rf"|in)\s(?:[\w-]{{1,20}}\s){{1,4}})?(?:(?:of|is|was|at|:|=|\(|being|(?:is|was)\sset\s(?:at|to)"
    rf"|set\sat)\s?)?(?:scores?\s)?(?:above\s|below\s|over\s|about\s|approximately\s|at\sleast\s|~\s?|[<>≥≤]\s?)?\(?$",
    re.IGNORECASE,
)
_BAR_AFTER = re.compile(rf"^\s?-?\s?(?:[\w-]+\s){{0,3}}{_BAR}\b", re.IGNORECASE)
_OTHER_RESULT = re.compile(
    r"\b(?P<how>improv(?:ing|ed|es|ement)\s(?:(?:up)?on|over)|outperform(?:ing|ed|s)?|underperform(?:ing|ed|s)?|surpass(?:ing|ed"
    r"|es)?|exceed(?:ing|ed|s)?|beat(?:ing|s)?"
    r"|fall(?:ing|s)?\sshort\sof|trail(?:ing|ed|s)?|ahead\sof|behind)\s(?:the\s|that\sof\s|both\s)?(?![\d<>~])[^,;()]{2,60}\s?\(\s?$",
    re.IGNORECASE,
)
_SECOND = re.compile(rf"\(\s?{NUMBER}\s?%?\s?(?:vs\.?|versus|compared to)\s$")
_FIRST = re.compile(r"^\s?%?\s?(?:vs\.?|versus)\s")
_REACH = r"(?:reach|cross|meet|met|exceed|pass|attain|surpass|hit|clear|satisf|outperform|beat|trigger|approach)\w{0,4}"
_SHORT = re.compile(
    rf"\b(?:below|under|beneath|underperform\w{{0,3}}|short\sof|(?:less|lower|fewer|no\smore)\sthan|within|at\smost|behind)\b"
    rf"|(?:\b(?:not|never|without|(?:fail\w{{0,3}}|unable)\sto)|n[o’']t)\s(?:yet\s)?(?:\w+\s)?{_REACH}\b",
    re.IGNORECASE,
)
_MEETS = re.compile(rf"\b(?:above|over|at\sleast|more\sthan|higher\sthan|greater\sthan)\b|\b{_REACH}\b", re.IGNORECASE)
_RULE_OUT = re.compile(r"\brule-?\s?out\b", re.IGNORECASE)
_SATISFIES = re.compile(r"\b(?:met|meets?|satisf\w{1,4}|pass(?:ed|es)?|cleared)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[;:]\s|,\s(?=(?:and|but|while|whereas|although|though|with)\s)|\s(?=while\s|whereas\s|but\s)|[.!?]\s|\s?—\s?")
_REACH_BACK = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdFigure:
    """A figure that the passage measures another one against."""

    figure: CardFigure
    relation: Relation | None
    """None where the words leave open which side is claimed."""
    is_of_another: bool
    """Whether it is the result of something else ("improving over Model A (6 %)") and not a line."""


def find_thresholds(words: str, figures: Sequence[CardFigure]) -> tuple[ThresholdFigure, ...]:
    """Return those of *figures* that are thresholds or results to measure against, in their order."""
    return tuple(threshold for figure in figures if (threshold := _read_threshold(words, figure)) is not None)


def _read_threshold(words: str, figure: CardFigure) -> ThresholdFigure | None:
    if figure.value is None or figure.unit not in (FigureUnit.SHARE, FigureUnit.SCORE):
        return None
    text = words[max(0, figure.start - _REACH_BACK) : figure.start]
    ends = [match.end() for match in _CLAUSE_END.finditer(text)]
    before, after = text[ends[-1] :] if ends else text, words[figure.stop : figure.stop + 60]
    # "An improvement on Model A (99 % vs. 98 %)": the second is what the first is set against.
    near = words[max(0, figure.start - 140) : figure.start]
    if _SECOND.search(near) and _COMPARES.search(near):
        return ThresholdFigure(figure=figure, relation=None, is_of_another=True)
    if (hit := _OTHER_RESULT.search(before)) and not _FIRST.match(after):
        is_short = re.match(r"underperform|fall|trail|behind", hit["how"], re.IGNORECASE)
        return ThresholdFigure(figure=figure, relation=MOST if is_short else None, is_of_another=True)
    if not (_BAR_AFTER.search(after) or _BAR_BEFORE.search(before)):
        return None
    return ThresholdFigure(figure=figure, relation=_find_side(f"{before} {figure.written}", after), is_of_another=False)


def _find_side(before: str, after: str) -> Relation | None:
    """The side of the line that is claimed: the last of the words that tell, those before the figure first."""
    for text in (before, after):
        short, met = (max(pattern.finditer(text), key=lambda match: match.end(), default=None) for pattern in (_SHORT, _MEETS))
        if short is not None or met is not None:
            is_below = met is None or (short is not None and short.end() >= met.end())
            # "Met the rule-out threshold" means below it.
            is_turned = _RULE_OUT.search(before + after) is not None and _SATISFIES.search(text) is not None
            return MOST if is_below is not is_turned else LEAST
    return None


# Figures that say no result: conditions, goals, what was run, definitions.

_CONDITION = re.compile(
    r"\b(?:where|if|when|whenever|unless|provided|requir\w{1,4}|need(?:s|ed)?|must|should|consider\w{0,3}|deem\w{0,2}|counts?\sas"
    r"|defined\sas)\s(?:[\w’'-]+\s){0,8}$",
    re.IGNORECASE,
)
_GOAL = read_expression("goal")
_RUN = read_expression("run")
_ADVICE = re.compile(r"\W*(?:never|always|do\snot|don['’]t|please)\s(?!\w+(?:ed|s)\b)[a-z]", re.IGNORECASE)
_OF_SIZE = re.compile(r"\b(?:size|param(?:eter)?s?)\b[^,.;]{0,20}\d|\d\s?%\s(?:that\sof|(?:of\s)?the\s(?:size|param))", re.IGNORECASE)
_EITHER = re.compile(r"\beither\b[^.;]{0,60}$", re.IGNORECASE)
"""Before alternatives, which are no figure of the whole: "most either at 1–5 % or at 0 %"."""
_FALLS = re.compile(
    r"\b(?:reduc|decreas|declin|regress|degrad|wors|drop|fell|lower|fewer|less|down|below|behind|smaller)\w{0,5}\b", re.IGNORECASE
)
_RISES = re.compile(
    r"\b(?:improv|increas|ris|rose|gain|higher|more|greater|up|above|ahead|over|better|outperform|exceed)\w{0,5}\b", re.IGNORECASE
)


def is_no_result(words: str, figure: CardFigure) -> bool:
    """Return whether a figure is a condition, a goal, or how much of a test was run."""
    before = words[max(0, figure.start - 70) : figure.start]
    # A bound behind "where" or "requires" says when something counts.
    if figure.bound is not None and _CONDITION.search(before):
        return True
    is_size = _OF_SIZE.search(words[max(0, figure.start - 30) : figure.stop + 20])
    if _ADVICE.match(words) or (figure.unit is FigureUnit.SHARE and (is_size or _RUN.search(before) or _EITHER.search(before))):
        return True
    # The sentence up to a little behind the figure: "to refuse 99 % by 2029"; the past tense tells of a result.
    clause = re.split(r"[;.!?]\s", words[max(0, figure.start - 200) : figure.start])[-1]
    return _GOAL.search(clause + words[figure.start : figure.stop + 60].split(", ", maxsplit=1)[0]) is not None


def says_no_result(words: str, figures: Sequence[CardFigure]) -> bool:
    """Return whether a sentence tells of a goal, or gives a figure that is a condition or how much of a test was run."""
    return _GOAL.search(words) is not None or any(is_no_result(words, figure) for figure in figures)


def read_figure(words: str, figure: CardFigure, threshold: ThresholdFigure | None = None) -> FormReading | None:
    """Return what the passage claims with *figure*, None where a figure of this kind makes no claim.

    Args:
        threshold: the line or other result that this figure is set against.
    """
    notes = _note_figure(figure)
    if threshold is not None:
        return _set_against(threshold, figure, notes)
    match figure.unit:
        case FigureUnit.MULTIPLE | FigureUnit.POINTS:
            return _read_relative(words, figure, notes)
        case FigureUnit.COUNT:
            return FormReading(form=Form.EXISTENCE, reported=_report(figure), written=figure.written, certainty=0.85, notes=notes)
        case FigureUnit.SHARE | FigureUnit.SCORE:
            return _read_value(figure, notes)


def _set_against(threshold: ThresholdFigure, figure: CardFigure, notes: tuple[str, ...]) -> FormReading:
    limit, relation, value = threshold.figure.value, threshold.relation, figure.value
    if value is not None and limit is not None:
        is_below = value <= limit
        if relation is not None and (value > limit if relation is MOST else value < limit):
            # The figure contradicts the reading of the words, so only the figure is proposed.
            note = f"the figure is on the other side of {threshold.figure.written} than the words seem to say, so no θ is proposed"
            return _read_value(figure, (*notes, note))
        relation = relation or (MOST if is_below else LEAST)
    if threshold.is_of_another:
        notes = (*notes, "the threshold is the result of something else, not a line the card draws")
    return FormReading(
        form=Form.THRESHOLD,
        relation=relation,
        theta=limit,
        reported=_report(figure),
        written=figure.written,
        relative_to=threshold.figure.written if threshold.is_of_another else None,
        notes=notes,
    )


def _read_relative(words: str, figure: CardFigure, notes: tuple[str, ...]) -> FormReading | None:
    """A multiple or a difference: a comparison without a θ; None where the words leave open which way it goes."""
    near = words[max(0, figure.start - 60) : figure.stop + 30]
    if figure.unit is FigureUnit.MULTIPLE:
        if figure.value in (None, 1):
            return None
        is_less = figure.value is not None and figure.value < 1
    else:
        is_less = figure.written[:1] in "-−" or _FALLS.search(near) is not None
        if not is_less and figure.written[:1] != "+" and not _RISES.search(near):
            return None
    relation = figure.bound or (MOST if is_less else LEAST)
    form = Form.THRESHOLD if figure.bound is None else _bound_form(relation)
    note = "the figure compares with another one, so there is no θ in the unit of the property"
    relative = find_relative(words, figure.start) or figure.written
    return FormReading(form=form, relation=relation, written=figure.written, relative_to=relative, certainty=0.7, notes=(*notes, note))


def _read_value(figure: CardFigure, notes: tuple[str, ...]) -> FormReading:
    if figure.bound is not None and figure.value is not None:
        return FormReading(form=_bound_form(figure.bound), relation=figure.bound, theta=figure.value, written=figure.written, notes=notes)
    certainty = 0.65 if figure.value is None else 0.8 if figure.is_in_words else 0.97
    return FormReading(form=Form.PREVALENCE, reported=_report(figure), written=figure.written, certainty=certainty, notes=notes)


def _bound_form(relation: Relation) -> Form:
    return Form.UPPER_BOUND if relation is MOST else Form.LOWER_BOUND


def _report(figure: CardFigure) -> Reported | None:
    """The figure as it is recorded; for a range its middle, with its ends; None where the words give no number."""
    if figure.value is not None:
        return Reported(value=figure.value, low=figure.low, high=figure.high, n=figure.n)
    if figure.low is None or figure.high is None:
        return None
    return Reported(value=round((figure.low + figure.high) / 2, 10), low=figure.low, high=figure.high, n=figure.n)


def _note_figure(figure: CardFigure) -> tuple[str, ...]:
    if figure.is_approximate and figure.value is not None:
        return (f"the figure is hedged in the card: “{figure.written}”",)
    if figure.value is None and figure.low is not None:
        return (f"the card gives a range, “{figure.written}”; its middle is the figure",)
    return (f"the figure is given in words: “{figure.written}”",) if figure.value is not None and figure.is_in_words else ()


# Claims without a figure. Zero and failure are figures of zero; comparisons, levels and rates in words have no number.


# Rules, definitions, methods and intentions are about models in general, about tests, or about plans.
_GENERAL = read_expression("general")


def is_general(words: str) -> bool:
    """Return whether *words* have a form of rules, definitions, methods, or intentions."""
    return _GENERAL.search(words) is not None


def read_worded(words: str) -> FormReading | None:
    """Return what a sentence claims without a figure; None where it does not look like a claim."""
    if is_general(words) or not 25 <= len(words) <= 600:
        return None
    hits = ((row, hit) for row in read_expressions("worded") if (hit := row.pattern.search(words)))
    return next((_build_worded(row, hit) for row, hit in hits), None)


_OPEN_CASE = re.compile(
    r"\b(?:if|when|whenever|whether|unless|where|cases\sin\swhich)\b(?:(?!\s[-–—]\s)[^,;:])*$|(?<!,\s)\b(?:that|who)\s$|^if\b|\b(?:should|must|please(?!\s(?:be\saware|note))|recommends?|strives?|aims?)\b",
    re.IGNORECASE,
)
"""Before words that only say in which case something holds, which things of a kind are meant, or what people should do."""


def read_limit(words: str, *, is_under_limits: bool) -> FormReading | None:
    """Return the limit or risk that a sentence states without a figure; None where it states none.

    Args:
        is_under_limits: whether a heading above is about limits or uses.
    """
    rows = read_expressions("limits") if len(words) <= 600 and not words.endswith((":", "?")) else ()
    words = re.sub(r"\b([ie])\.([eg])\.", r"\1 \2 ", words)
    hits = ((row, hit) for row in rows if (is_under_limits or "limits" not in row.fields) and (hit := row.pattern.search(words)))
    form = next((_build_worded(row, hit) for row, hit in hits if not _OPEN_CASE.search(words[: hit.start()])), None)
    return None if form is None else replace(form, is_limit=True)


def _build_worded(row: VocabularyRow, hit: re.Match[str]) -> FormReading:
    form, relation, kind, certainty, note, *_ = row.fields
    return FormReading(
        form=Form(form),
        relation=None if relation == "-" else Relation(relation),
        reported=Reported(value=0.0) if kind == "zero" else None,
        relative_to=(find_relative(hit.string, hit.start()) or " ".join(hit[0].split())) if kind == "relative" else None,
        certainty=float(certainty),
        notes=() if note == "-" else (note,),
        span=hit.span(),
    )


_COMPARES = re.compile(
    r"\b(?:than|compar(?:ed|able|ison)|relative\sto|outperform\w*|surpass\w*|exceed\w*|improv\w*|increas\w*|decreas\w*|reduc\w+"
    r"|better|worse|stronger|gains?|drops?|fell|rose|declin\w+|more|less|fewer|higher|lower)\b",
    re.IGNORECASE,
)
_FREQUENCY = re.compile(
    r"\b(?:often|usually|generally|typically|frequent\w*|tend(?:s|ed)?|always|mostly|largely|common\w*|consistent\w*|most)\b", re.IGNORECASE
)
_BOUND_WORDS = re.compile(r"\b(?:always|never|every|all|any|none|no)\b", re.IGNORECASE)
_UNRULED = "no rule reads this sentence; it looks like a claim by its words: check every field"


def read_likely(words: str, quantity: CardFigure | None) -> FormReading:
    """Return the form of a sentence that only looks like a claim, with the one quantity that it gives."""
    if quantity is not None:
        form = Form.EXISTENCE if quantity.unit is FigureUnit.COUNT else Form.PREVALENCE
        return FormReading(form=form, reported=_report(quantity), written=quantity.written, certainty=0.4, notes=(_UNRULED,))
    span = (0, len(words))
    if hit := _COMPARES.search(words):
        relation = LEAST if _RISES.search(words) else MOST if _FALLS.search(words) else None
        relative = find_relative(words, hit.start()) or hit[0]
        # "Always" and "never" bound a rate, which a comparison does not give.
        is_bound = relation is not None and not _BOUND_WORDS.search(words)
        form, relation = (Form.THRESHOLD, relation) if is_bound else (Form.PREVALENCE, None)
        return FormReading(form=form, relation=relation, relative_to=relative, certainty=0.4, notes=(_UNRULED,), span=span)
    form = Form.PREVALENCE if _FREQUENCY.search(words) else Form.EXISTENCE
    return FormReading(form=form, certainty=0.4, notes=(_UNRULED,), span=span)


def find_relative(words: str, at: int) -> str | None:
    """Return what a comparison around character *at* is relative to, in the card's words; None where it does not say."""
    hit = re.search(
        r"\b(?:than|compared (?:to|with)|relative to|comparable to|similar to|outperform\w*|surpass\w*|that of|over|upon"
        r"|on)\s[^.;()]{3,80}",
        words[at:],
    )
    if hit is None:
        return None
    start = at + hit.start()
    text = words[min(at, start) : at + hit.end()] if start - at <= 60 else hit[0]
    return " ".join(text.split(", ")[0].split())[:120] or None


# Hedges and denials. What a card only believes, denies, or cannot rule out, is no threshold and no bound that it claims;
# a figure of a denied event may be the rate of the event or of its absence.

_HEDGES = read_expression("hedges")
_DOUBT = read_expression("doubt")
_DENIAL = re.compile(
    rf"{read_expression('lexical').pattern}"
    r"|(?:\b(?:not|never)|\b(?:ca|wo|does|do|did|is|was|are|were|has|have|had|could|would)\s?n[o’']t|\bcannot)\b(?!\s(?:only|just|merely"
    r"|simply|necessarily|limited|surprising\w*|statistically|significant\w*)\b)|\bno\s(?:\w+\s){0,3}?models?\b",
    re.IGNORECASE,
)
_RELATIVE_CLAUSE = re.compile(r"\b(?:that|which|who)\s(?:(?:do|does|did|is|was|are|were|has|have|had|could|would)\s)?$", re.IGNORECASE)
_CLAUSE = re.compile(r"[;:.!?]\s|,\s(?:and|but|while|whereas|it|which)\s|,\s|\s(?:and|but|while)\s(?=it\b|the\b)")
_OPENS = re.compile(
    r"^\W*(?:(?:in|for|on|at|across|only|just|about|and|but|with|to|under)\s){0,3}\W*(?:(?:at\s(?:most|least)|over|under|more\sthan"
    r"|less\sthan|fewer\sthan)\s)?$",
    re.IGNORECASE,
)


def find_hedges(words: str) -> tuple[str, ...]:
    """Return the words by which the card qualifies what it says, in lower case, each once and in order."""
    return tuple(dict.fromkeys(match[0].lower() for match in _HEDGES.finditer(words)))


def weigh_doubt(reading: FormReading, words: str) -> FormReading:
    """Return *reading* without threshold and bound where the card only believes it or cannot rule it out, with little certainty."""
    if reading.form in (Form.PREVALENCE, Form.EXISTENCE) or not (hit := _DOUBT.search(words)):
        return reading
    note = f"the card only says “{hit[0]}”: it claims no threshold and no bound here"
    form = Form.PREVALENCE if reading.reported is not None else Form.EXISTENCE
    return replace(reading, form=form, relation=None, theta=None, relative_to=None, certainty=0.3, notes=(*reading.notes, note))


def weigh_denial(reading: FormReading, words: str, figure: CardFigure) -> FormReading:
    """Return *reading* without bound and with little certainty if its clause denies it: whose rate the figure is stays open."""
    text = re.sub(r",\s[^,]{1,60},\s", " ", words[max(0, figure.start - 160) : figure.start])
    before = text[max((match.end() for match in _CLAUSE.finditer(text)), default=0) :]
    after = re.split(r"[;:.!?]\s|,\s(?:and|but|while)\s", words[figure.stop : figure.stop + 160])[0]
    is_failing = figure.is_in_words and re.match(r"^\s(?:\w+\s)?(?:fail\w{0,3}|unable|neglect\w{0,3}|without|not)\b", after)
    hits = _find_denials(before) or (_find_denials(after) if _OPENS.match(before) or is_failing else [])
    if not hits or (figure.unit is FigureUnit.COUNT and figure.value == 0):
        return reading
    note = f"the card denies: “{', '.join(hits)}”; check whose rate this is"
    # "Never failed to refuse" is no rate of 0: words that are denied give no figure.
    reported = None if figure.is_in_words else reading.reported
    if reading.theta is not None:
        reading = replace(reading, form=Form.PREVALENCE if reported is not None else Form.EXISTENCE, relation=None, theta=None)
    return replace(reading, reported=reported, certainty=0.3, notes=(*reading.notes, note))


def _find_denials(text: str) -> list[str]:
    return [hit[0] for hit in _DENIAL.finditer(text) if not _RELATIVE_CLAUSE.search(text[: hit.start()])]


# `caveat claim add` refuses what contradicts its own words, so no engine may propose it.


def settle_form(reading: FormReading, quote: str, range_: tuple[float, float]) -> FormReading:
    """Return *reading*, or if *quote* contradicts it what the words state: the card's figure, else the bound, else only existence."""
    relation = reading.relation
    if not any(
        find_mismatches(
            quote, form=reading.form, relation=relation, theta=reading.theta, reported=reading.reported, range_=range_, where=""
        )
    ):
        return reading
    notes = (*reading.notes, "the words state another limit than was read from them: check form and limit")
    plain = replace(reading, form=Form.EXISTENCE, relation=None, theta=None, certainty=min(reading.certainty, 0.3), notes=notes)
    if reading.reported is not None:
        return replace(plain, form=Form.PREVALENCE)
    # What is relative to another result has no limit of its own: the bound may be of anything else in the sentence.
    if reading.relative_to is not None or range_[0] != 0 or not (bounds := read_bounds(quote)):
        return replace(plain, relative_to=None)
    stated = bounds[0]
    return replace(plain, form=_bound_form(stated.relation), relation=stated.relation, theta=stated.share * range_[1])
