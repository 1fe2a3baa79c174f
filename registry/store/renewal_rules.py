"""What may be said of an audit that renews another: that it carries out a locked plan again is compared before it is recorded."""

from collections.abc import Iterator

from registry.errors import Fault
from registry.records.analysis_plan import Lock, list_plan_differences
from registry.records.audit_case import Audit
from registry.store.view import View


def find_renewal_faults(view: View, said: Audit) -> Iterator[Fault]:
    """Yield why *said* cannot renew the audit that it names: that is one of the same claim, with a lock."""
    if said.renews is None:
        return
    there = view.find_audit(said.renews)
    claim = said.claim.partition("@")[0]
    if there is None:
        found = f"renews {said.renews}, and no audit has this identifier here"
        yield Fault(code="audit-unknown", where=said.audit, found=found, advice="caveat audit list")
    elif there.audit.payload.claim.partition("@")[0] != claim:
        found = f"renews {said.renews}, which is of {there.audit.payload.claim}"
        yield Fault(code="other-claim", where=said.audit, found=found, advice="leave renews out: a plan is of one claim")
    elif there.lock is None:
        found = f"renews {said.renews}, which has no lock: there is no plan that could be carried out again"
        yield Fault(code="not-locked", where=said.audit, found=found, advice="leave renews out")


def find_plan_faults(view: View, said: Lock) -> Iterator[Fault]:
    """Yield in what *said*, the lock of an audit that renews another, is not the lock of that one."""
    there = view.find_audit(said.audit)
    renews = there.audit.payload.renews if there else None
    old = view.find_audit(renews) if renews else None
    if old is None or old.lock is None:
        return
    if differing := list_plan_differences(old.lock.payload, said):
        found = f"is to carry out the plan of {renews} again, and its own differs in {', '.join(differing)}"
        advice = "leave renews out: another plan is an audit of its own"
        yield Fault(code="renewal-differs", where=said.audit, found=found, advice=advice)
