"""What an estimate or a verdict cannot say, whatever audit it is of: a number outside its interval, an outcome that its form lacks."""

from collections.abc import Iterator

from registry.errors import Fault
from registry.records.audit_case import Result
from registry.records.claim import Form
from registry.records.verdict import Basis, ClaimClass, Restriction, Standing, VerdictStanding
from registry.store.view import View

_WITH_THETA = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)


def find_interval_faults(said: Result) -> Iterator[Fault]:
    """Yield each ED that lies outside of its interval, or has half of one."""
    for one in said.estimate.specs:
        low, high = one.ed.low, one.ed.high
        if (low is None) != (high is None) or (low is not None and high is not None and not low <= one.ed.value <= high):
            yield Fault(code="not-in-interval", where=f"{said.audit}, {one.spec}", found=f"ED {one.ed.value} lies outside {low} to {high}")


def find_verdict_faults(view: View, said: Restriction) -> Iterator[Fault]:
    """Yield where readings do not fit the claim's form, or claim more than their basis gives."""
    claim, _, revision = said.claim.partition("@")
    about = view.find_revision(claim, int(revision)) if revision.isdigit() else None
    primary = said.classification.primary.form
    if about and about.payload.form is not primary:
        found = f"the claim is of form {about.payload.form}; the first reading is {primary}"
        yield Fault(code="form-disagrees", where=said.claim, found=found)
    for position, one in enumerate(said.classification.readings):
        where = f"{said.audit}, readings[{position}]"
        inverted = one.class_ is ClaimClass.INVERTED
        if inverted and one.form not in _WITH_THETA:
            yield Fault(code="cannot-invert", where=where, found=f"{one.form} cannot be inverted; only thresholds and bounds can")
        if inverted and one.standing is Standing.ESTABLISHED and one.basis is not Basis.REPLAY:
            yield Fault(code="inversion-not-replayed", where=where, found="an established inversion needs a replay")
        if one.verdict_standing is VerdictStanding.ESTABLISHED and one.basis is not Basis.REPLAY:
            yield Fault(code="inversion-not-replayed", where=where, found="an established verdict needs a replay under a lock")
        if one.basis is Basis.REPLAY and said.result is None:
            yield Fault(code="result-missing", where=where, found="a verdict from a replay names its result")
