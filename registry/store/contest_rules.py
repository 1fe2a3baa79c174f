"""What may be said of contestations: which rival fits, and which step may follow."""

from collections.abc import Iterator

from registry.errors import Fault
from registry.records.claim_status import ContestationEvent, ContestationStep
from registry.records.record import Kind
from registry.store.view import View


def find_rival_faults(view: View, target: str, rival: str) -> Iterator[Fault]:
    """Yield why *rival* cannot take the place of *target*: it is another specification of the same kind; for a claim it can be any."""
    if rival == target:
        yield Fault(code="rival-is-target", where=rival, found="is what is contested; a rival is another specification, or another version")
    elif not target.startswith(f"{Kind.CLAIM}-"):
        kinds = [found.payload.kind for one in (target, rival) if (found := view.find_spec(one)) is not None]
        if len(set(kinds)) > 1:
            contested, offered = (kind.value.replace("_", " ") for kind in kinds)
            wrong = f"is a {offered}, and {target} is a {contested}: it cannot take its place"
            advice = f"caveat spec list --kind {kinds[0].value}"
            yield Fault(code="rival-of-other-kind", where=rival, found=wrong, advice=advice)


def find_step_faults(view: View, said: ContestationEvent) -> Iterator[Fault]:
    """Yield why *said* cannot follow: what somebody else than the owner decided is settled; only an escalation goes to somebody."""
    there = view.find_contestation(said.contestation)
    if there is not None and there.is_settled:
        last = there.events[-1].entry
        found = f"it was {there.state.value} by {last.actor} on {last.at:%Y-%m-%d}, entry {last.seq}; nothing follows that"
        advice = f"contest anew: caveat contest open {there.contestation.payload.target} --grounds …"
        yield Fault(code="contestation-settled", where=said.contestation, found=found, advice=advice)
    if said.to is not None and view.find_authority(said.to) is None:
        found = f"{said.to} is not registered, so it could never decide"
        yield Fault(code="authority-unknown", where=said.contestation, found=found, advice=f"run: caveat init --code {said.to} --join")
    if said.to is not None and said.step is not ContestationStep.ESCALATED:
        found = f"only an escalation goes to somebody; this step is {said.step.value}"
        yield Fault(code="not-escalated", where=said.contestation, found=found)
