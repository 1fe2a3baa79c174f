"""Whether a supplement says what its record says: drawn again from what it carries, and compared."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from registry.errors import UnavailableError
from registry.records.statement import Entry
from registry.records.supplement import CardSupplement, Supplement
from registry.report.html import render_html, render_json
from registry.report.read import read_supplement
from registry.report.workers import render_pdf
from registry.store.view import View


class Answer(StrEnum):
    """What one check came to."""

    YES = "yes"
    NO = "no"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question put to a file."""

    name: str
    answer: Answer
    note: str
    """What was compared, or why it could not be."""


def verify_supplement(data: bytes, *, where: str, view: View | None, time_limit_s: float) -> Iterator[Check]:
    """Give the checks of the supplement in *data*, one after the other.

    Args:
        view: a registry to compare the log entries with; None to do without.

    Raises:
        InputError: nothing in it is a supplement.
    """
    supplement = read_supplement(data, where=where)
    yield Check(name="record", answer=Answer.YES, note=f"carries the record of {supplement.identifier}")
    yield _check_bytes(data, supplement, time_limit_s)
    if view is None:
        yield Check(name="log", answer=Answer.NOT_CHECKED, note="no registry here; give one with --registry to compare its log")
    elif view.log_origin != supplement.log_origin:
        note = f"the registry here is {view.log_origin}, the supplement is of {supplement.log_origin}"
        yield Check(name="log", answer=Answer.NOT_CHECKED, note=note)
    else:
        yield _check_log(supplement, view)


def _check_bytes(data: bytes, supplement: Supplement | CardSupplement, time_limit_s: float) -> Check:
    try:
        if data.startswith(b"%PDF-"):
            again = render_pdf(supplement, time_limit_s=time_limit_s)
        elif data.lstrip()[:1] == b"{":
            again = render_json(supplement)
        else:
            again = render_html(supplement)
    except UnavailableError as error:
        return Check(name="bytes", answer=Answer.NOT_CHECKED, note=error.faults[0].found)
    if again == data:
        return Check(name="bytes", answer=Answer.YES, note=f"drawn again from its record: the same {len(data):,} bytes")
    note = "drawn again from its record it is another file: it was altered, or drawn by another version of Caveat"
    return Check(name="bytes", answer=Answer.NO, note=note)


def _check_log(supplement: Supplement | CardSupplement, view: View) -> Check:
    claimed: Entry = supplement.claim.entry if isinstance(supplement, Supplement) else supplement.card.entry
    found = view.find_entry(claimed.seq)
    if found == claimed:
        return Check(name="log", answer=Answer.YES, note=f"entry {claimed.seq} of the registry has the leaf {claimed.leaf}")
    note = f"entry {claimed.seq} of the registry has the leaf {found.leaf if found else 'of nothing'}, the supplement says {claimed.leaf}"
    return Check(name="log", answer=Answer.NO, note=note)
