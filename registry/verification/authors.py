"""Whether the signatures in a supplement are those of the authorities in whose names its statements were made."""

from registry.errors import CaveatError
from registry.report.backing import Backings
from registry.verification.carried import Carried
from registry.verification.check import Check, Name, no, not_checked, yes

_MOST_TOLD = 3
_KEYS = "the log names these keys, and the operator of the registry the first of each authority: compare fingerprints with the authority"


def check_authors(carried: Carried) -> Check:
    """Return whether every signature is its author's, and how many statements rest on the word of the registry's operator alone."""
    if carried.supplement.inclusion is None:
        return not_checked(Name.AUTHORS, "the proof that its entries stand in the log was taken out, and with it every signature")
    try:
        backings = Backings(carried.supplement)
        faults = list(backings.find_faults())
        groups = backings.list_groups()
    except CaveatError as error:
        return no(Name.AUTHORS, f"{error.faults[0].where}: {error.faults[0].found}")
    if faults:
        more = f"; and {len(faults) - _MOST_TOLD} more" if len(faults) > _MOST_TOLD else ""
        return no(Name.AUTHORS, "; ".join(f"{one.code}: {one.where}: {one.found}" for one in faults[:_MOST_TOLD]) + more)
    signed = [one for one in groups if one.is_signed]
    asserted = sum(one.count for one in groups if not one.is_signed)
    if not signed:
        return not_checked(Name.AUTHORS, f"no statement is signed: all {asserted} are asserted by the registry's operator")
    told = "; ".join(f"{one.count} of {one.authority} by key {', '.join(key[:16] for key in one.keys)}" for one in signed)
    rest = f"; {asserted} more asserted by the registry's operator" if asserted else ""
    return yes(Name.AUTHORS, f"signed by their authors: {told}{rest}; {_KEYS}")
