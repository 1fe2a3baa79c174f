"""Claims about the same quantity that give another number, named in a claims file, become relations."""

from collections.abc import Iterator, Sequence

from registry.errors import Fault, InputError
from registry.records.claim import ClaimRelation, ClaimRelationKind
from registry.records.identifier import Identifier, Kind, parse_identifier
from registry.store.view import View


def check_restated(view: View, names: Sequence[str], where: str) -> None:
    """Refuse names of claims that are none or not registered; raises InputError with every fault."""
    faults = [fault for position, name in enumerate(names) for fault in _find_faults(view, name, f"{where}[{position}]")]
    if faults:
        raise InputError(faults)


def build_restated(view: View, claim: str, names: Sequence[str], where: str) -> list[ClaimRelation]:
    """Return the relations of *claim* to the claims *names* that are not recorded yet, each once; revisions in names are left out.

    Raises:
        InputError: a claim cannot restate itself.
    """
    if not names:
        return []
    others = dict.fromkeys(_parse(name).bare for name in names)
    if claim in others:
        found = f"{claim} is the claim itself"
        raise InputError(Fault(code="own-relation", where=where, found=found, advice="name the claim whose number it restates"))
    restates = ClaimRelationKind.RESTATES
    known = {one.payload.other for one in view.list_relations(claim) if one.payload.claim == claim and one.payload.relation is restates}
    return [ClaimRelation(claim=claim, relation=restates, other=other) for other in others if other not in known]


def _find_faults(view: View, name: str, where: str) -> Iterator[Fault]:
    try:
        named = _parse(name)
    except ValueError as error:
        yield Fault(code="bad-identifier", where=where, found=str(error))
        return
    exists = view.claim_exists(named.bare) if named.revision is None else view.find_revision(named.bare, named.revision) is not None
    if not exists:
        near = " or ".join(view.suggest(named.bare)) or "no claim with a similar number; run: caveat claim list"
        yield Fault(code="claim-unknown", where=where, found=f"{name} is not registered", advice=f"registered: {near}")


def _parse(name: str) -> Identifier:
    return parse_identifier(name, Kind.CLAIM)
