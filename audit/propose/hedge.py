"""Whether the words of a claim are hedged: what a card only believes, or cannot rule out, is no threshold and no bound that it claims."""

import re
from dataclasses import replace

from audit.propose.form import Reading
from registry.records.claim import Form, Relation

_BOUNDS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)
_CLAUSE = re.compile(r"[;:]\s|[.!?]\s|,\s(?:and|but|while|whereas|although|because|since|as|so)\s", re.IGNORECASE)
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
    clause = max((one.end() for one in _CLAUSE.finditer(words, 0, start)), default=0)
    found = _HEDGE.search(words, clause, stop)
    return found[0] if found else None


def drop_bound(reading: Reading, hedge: str) -> Reading:
    """Return what is left of *reading* when its threshold or bound is hedged; any other reading as it is.

    That something may reach a level leaves the possibility (existence); that it is believed to stay below leaves a rate without a bound.
    """
    if reading.form not in _BOUNDS:
        return reading
    is_reached = reading.relation is Relation.AT_LEAST and not _DISBELIEF.search(hedge)
    form = Form.EXISTENCE if is_reached else Form.PREVALENCE
    note = f"the card hedges (“{hedge}”), so it claims no threshold and no bound here"
    # What is said of a figure stays true; what is said of a line in words does not.
    notes = reading.notes if reading.span is None else ()
    return replace(reading, form=form, relation=None, theta=None, is_relative=False, notes=(*notes, note))
