"""The logical form of a claim, read off the words around its figure, or off its words where it has none (method section 2)."""

import re
from dataclasses import dataclass

from audit.propose.figures.quantity import Quantity, Unit
from audit.propose.form_words import (
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
    GOALS,
    HEDGES,
    MEETS,
    RISES,
    RULE_OUT,
    RUNS,
    SATISFIES,
    WILL,
)
from audit.propose.worded import GENERAL, WORDED
from registry.records.claim import Form, Relation, Reported

_REACH = 90
"""Characters before a figure in which the verb of a threshold is looked for."""
_FAR = 400
"""Characters before a figure in which an attack is told: most of a long sentence."""
_CLAUSE = re.compile(r"[;:]\s|,\s(?=(?:and|but|while|whereas|although|though|with)\s)|\s(?=while\s|whereas\s|but\s)|[.!?]\s|\s—\s?|—")


@dataclass(frozen=True, slots=True, kw_only=True)
class Theta:
    """A figure that the passage measures another one against."""

    quantity: Quantity
    relation: Relation | None
    """None where the words leave open which side is claimed ("improving over"): the figures decide."""
    is_of_another: bool
    """Whether it is the result of something else ("improving over Model A (6 %)") and not a line somebody drew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
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


def find_thetas(words: str, quantities: tuple[Quantity, ...]) -> tuple[Theta, ...]:
    """Return those of *quantities* that are thresholds or baselines, in their order."""
    found = (_read_theta(words, one) for one in quantities)
    return tuple(one for one in found if one is not None)


def _read_theta(words: str, one: Quantity) -> Theta | None:
    if one.value is None or one.unit not in (Unit.SHARE, Unit.SCORE):
        return None
    before, after = _clause_before(words, one.start), words[one.stop : one.stop + 60]
    said = f"{before} {one.written}"
    if COMPARATORS.search(before):
        relation = Relation.AT_MOST if re.search(r"underperform|short\sof|trail|lag|behind", before, re.IGNORECASE) else None
        return Theta(quantity=one, relation=relation, is_of_another=True)
    if not (BARS.after.search(after) or BARS.before.search(before)):
        return None
    relation = _relate(said, after)
    return Theta(quantity=one, relation=relation, is_of_another=False)


def is_only_defined(theta: Theta) -> bool:
    """Whether the passage gives the line without saying that anything stands below or above it."""
    return theta.relation is None and not theta.is_of_another


def _relate(said: str, after: str) -> Relation | None:
    """Return the side of the line that is claimed: the last of the words that tell, before the figure first."""
    for text in (said, after):
        short, met = _last(FALLS_SHORT, text), _last(MEETS, text)
        if short >= 0 or met >= 0:
            is_below = short >= met
            # “Is not below the threshold”; “met the rule-out threshold”, which is met from below.
            is_turned = _is_denied(FALLS_SHORT if is_below else MEETS, text) or (
                RULE_OUT.search(said + after) is not None and SATISFIES.search(text) is not None
            )
            return Relation.AT_MOST if is_below is not is_turned else Relation.AT_LEAST
    return None


def _is_denied(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a negation that is no part of it stands right before the last occurrence of *pattern*."""
    last = max(pattern.finditer(text), key=lambda found: found.end())
    return DENIED.search(text[: last.start()]) is not None


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Where the last occurrence ends: a negation and its verb end where the verb alone does."""
    return max((found.end() for found in pattern.finditer(text)), default=-1)


def _clause_before(words: str, stop: int) -> str:
    """The words of the clause before character *stop*, at most `_REACH`; a comma inside an enumeration does not end it."""
    text = words[max(0, stop - _REACH) : stop]
    ends = [found.end() for found in _CLAUSE.finditer(text)]
    return text[ends[-1] :] if ends else text


def is_condition(words: str, one: Quantity) -> bool:
    """Whether a bound says when something counts ("where at least 4/6 attempts …") or what would be needed, not what came out."""
    return one.bound is not None and CONDITIONS.search(words[max(0, one.start - 70) : one.start]) is not None


def is_goal(words: str, one: Quantity) -> bool:
    """Whether a figure is what somebody aims for, expects or plans, not what came out."""
    before, after = words[max(0, one.start - _FAR) : one.start], words[one.stop : one.stop + _REACH]
    ends = [found.end() for found in _CLAUSE.finditer(before)]
    clause = before[ends[-1] :] if ends else before
    return GOALS.search(clause) is not None or (WILL.search(clause) is not None and BY_YEAR.search(f"{clause} {after}") is not None)


def is_number_run(words: str, one: Quantity) -> bool:
    """Whether a share says how much of a test was run, not what came out of it."""
    return one.unit is Unit.SHARE and RUNS.search(words[max(0, one.start - 70) : one.start]) is not None


def is_finding(words: str, one: Quantity) -> bool:
    """Whether a count is said to have been found."""
    return one.unit is Unit.COUNT and FINDS.search(words[max(0, one.start - 40) : one.start]) is not None


def read_figure(words: str, one: Quantity, theta: Theta | None = None) -> Reading | None:
    """Return what the passage claims with figure *one*, None where a figure of this kind makes no claim.

    Args:
        theta: the threshold or baseline that this figure is set against.
    """
    notes = _note_figure(one)
    if theta is not None:
        if one.unit in (Unit.SHARE, Unit.SCORE) and _is_failed(theta, one):
            # A claim whose own figure fails its θ says something else than its words: only the figure is proposed.
            note = f"the figure stands on the other side of {theta.quantity.written} than the words seem to say, so no θ is proposed"
            return _share(words, one, (*notes, note))
        return _against(theta, one, notes)
    match one.unit:
        case Unit.MULTIPLE:
            return _multiple(one, notes)
        case Unit.POINTS:
            return _difference(words, one, notes)
        case Unit.COUNT:
            return Reading(form=Form.EXISTENCE, reported=_report(one), written=one.written, notes=notes)
        case Unit.SHARE | Unit.SCORE:
            return _share(words, one, notes)


def read_threshold(theta: Theta) -> Reading:
    """Return the claim that a threshold makes without a figure beside it."""
    return Reading(
        form=Form.THRESHOLD,
        relation=theta.relation,
        theta=theta.quantity.value,
        written=theta.quantity.written,
        is_relative=theta.is_of_another,
    )


def _against(theta: Theta, one: Quantity, notes: tuple[str, ...]) -> Reading:
    limit, relation = theta.quantity.value, theta.relation
    is_below = one.value is not None and limit is not None and one.value <= limit
    if relation is None:
        relation = Relation.AT_MOST if is_below else Relation.AT_LEAST
    if theta.is_of_another:
        notes = (*notes, "the threshold is the result of something else, not a line the card draws")
    return Reading(
        form=Form.THRESHOLD,
        relation=relation,
        theta=limit,
        reported=_report(one),
        written=one.written,
        is_relative=theta.is_of_another,
        notes=notes,
    )


def _is_failed(theta: Theta, one: Quantity) -> bool:
    limit = theta.quantity.value
    if theta.relation is None or limit is None or one.value is None:
        return False
    return one.value > limit if theta.relation is Relation.AT_MOST else one.value < limit


def _multiple(one: Quantity, notes: tuple[str, ...]) -> Reading | None:
    if one.value is None or one.value == 1:
        return None
    relation = one.bound or (Relation.AT_MOST if one.value < 1 else Relation.AT_LEAST)
    form = Form.THRESHOLD if one.bound is None else _bound_form(relation)
    note = "the figure is a multiple of another one, so there is no θ in the unit of the property"
    return Reading(form=form, relation=relation, written=one.written, is_relative=True, notes=(*notes, note))


def _difference(words: str, one: Quantity, notes: tuple[str, ...]) -> Reading | None:
    """Set against something else, without a figure of its own; None where the words leave open which way."""
    near = words[max(0, one.start - 60) : one.stop + 30]
    is_less = one.written[:1] in "-−" or FALLS.search(near) is not None
    if not is_less and not (one.written[:1] == "+" or RISES.search(near)):
        return None
    relation = Relation.AT_MOST if is_less else Relation.AT_LEAST
    note = "the figure is a difference from another one, so there is no θ in the unit of the property"
    return Reading(form=Form.THRESHOLD, relation=relation, written=one.written, is_relative=True, is_clear=False, notes=(*notes, note))


def _share(words: str, one: Quantity, notes: tuple[str, ...]) -> Reading:
    if one.bound is not None:
        return Reading(form=_bound_form(one.bound), relation=one.bound, theta=one.value, written=one.written, notes=notes)
    is_attack = ATTACKS.search(words[max(0, one.start - _FAR) : one.start]) is not None
    return Reading(form=Form.EXISTENCE if is_attack else Form.PREVALENCE, reported=_report(one), written=one.written, notes=notes)


def _bound_form(relation: Relation) -> Form:
    return Form.UPPER_BOUND if relation is Relation.AT_MOST else Form.LOWER_BOUND


def _report(one: Quantity) -> Reported | None:
    """Return the figure as it is recorded; for a range its middle, with its ends; None where the words give no number."""
    if one.value is not None:
        return Reported(value=one.value, low=one.low, high=one.high, n=one.n)
    if one.low is None or one.high is None:
        return None
    return Reported(value=round((one.low + one.high) / 2, 10), low=one.low, high=one.high, n=one.n)


def _note_figure(one: Quantity) -> tuple[str, ...]:
    notes = []
    if one.is_approximate and one.value is not None:
        notes.append(f"the figure is hedged in the card: “{one.written}”")
    if one.value is None and one.low is not None:
        notes.append(f"the card gives a range, “{one.written}”; its middle stands as the figure")
    if one.value is not None and one.is_in_words:
        notes.append(f"the figure is given in words: “{one.written}”")
    return tuple(notes)


def read_worded(words: str) -> Reading | None:
    """Return what a sentence claims without a figure of its own; None where it does not look like a claim."""
    folded = words.lower()
    fitting = ((one, hit) for one in WORDED if _has_any(folded, one.needs) and (hit := one.pattern.search(words)))
    kind, hit = next(fitting, (None, None))
    if kind is None or hit is None or GENERAL.search(words):
        return None
    return Reading(
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
    for one in pieces:
        if one in folded:
            return True
    return not pieces


def find_hedges(words: str) -> tuple[str, ...]:
    """Return the words by which the card qualifies what it says, in lower case, each once and in order."""
    return tuple(dict.fromkeys(found[0].lower() for found in HEDGES.finditer(words)))


def find_told_direction(words: str) -> str | None:
    """Return where the card itself says which way is better ("lower numbers are better"); None where it does not."""
    found = DIRECTION_TOLD.search(words)
    return found[0] if found else None
