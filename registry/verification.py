"""Whether a supplement says what its record says: drawn again from what it carries, and compared."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from registry.errors import InputError, NotFoundError, UnavailableError
from registry.publishing import collect_supplements, parse_subject
from registry.records.identifier import Identifier
from registry.records.supplement import CardSupplement, Supplement
from registry.report.html import render_html, render_json
from registry.report.read import read_supplement
from registry.report.workers import render_pdf
from registry.store.ledger import Ledger


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


def verify_supplement(data: bytes, *, where: str, ledger: Ledger | None, time_limit_s: float) -> Iterator[Check]:
    """Give the checks of the supplement in *data*, one after the other.

    Args:
        ledger: a registry to compare with; None to do without.

    Raises:
        InputError: nothing in it is a supplement.
    """
    supplement = read_supplement(data, where=where)
    subject = parse_subject(supplement, where=where)
    yield Check(name="record", answer=Answer.YES, note=f"carries the record of {supplement.identifier}")
    yield _check_bytes(data, supplement, time_limit_s)
    yield _check_registry(supplement, replace(subject, digest=None), ledger)


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


def _check_registry(supplement: Supplement | CardSupplement, named: Identifier, ledger: Ledger | None) -> Check:
    """Assemble the supplement anew from the registry as of the entry that it names, and compare the two."""
    if ledger is None:
        note = "no registry here; give one with --registry to compare what it says"
        return Check(name="registry", answer=Answer.NOT_CHECKED, note=note)
    with ledger.view() as now:
        if now.log_origin != supplement.log_origin:
            note = f"the registry here is {now.log_origin}, the supplement is of {supplement.log_origin}"
            return Check(name="registry", answer=Answer.NOT_CHECKED, note=note)
        if now.log_size < supplement.log_size:
            note = f"the supplement is of entry {supplement.log_size}, the registry has only {now.log_size}"
            return Check(name="registry", answer=Answer.NO, note=note)
        later = now.log_size - supplement.log_size
    try:
        with ledger.view(supplement.log_size) as then:
            (subject,) = collect_supplements(then, [named])
    except (NotFoundError, InputError) as error:
        note = f"as of entry {supplement.log_size} the registry has no {named}: {error.faults[0].found}"
        return Check(name="registry", answer=Answer.NO, note=note)
    if subject.supplement == supplement:
        note = f"as of entry {supplement.log_size} the registry says the same, word for word"
        note += f"; it has {later:,} later {'entry' if later == 1 else 'entries'}" if later else ""
        return Check(name="registry", answer=Answer.YES, note=note)
    note = f"as of entry {supplement.log_size} the registry says something else: "
    note += "the record was altered, or composed by another version of Caveat"
    return Check(name="registry", answer=Answer.NO, note=note)
