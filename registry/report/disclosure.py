"""A record with sealed specifications opened for some: the confidential rendering of it."""

from collections.abc import Sequence
from dataclasses import replace

from registry.codec.statement_encoding import check_openings
from registry.errors import Fault, InputError
from registry.records.specification import SpecOpening
from registry.records.supplement import AnySupplement, Supplement


def add_openings(supplement: AnySupplement, openings: Sequence[SpecOpening]) -> Supplement:
    """Return *supplement* with *openings* beside those it has; without them it is the record that it was.

    Raises:
        InputError: it is not a claim's; or an opening is of a specification that the record does not refer to, is doubled, or does not open
            the commitment that the record states.
    """
    if not isinstance(supplement, Supplement):
        found = "is no claim's supplement, and shows no specification"
        advice = "name its claims (CLM-…) for the confidential rendering"
        raise InputError(Fault(code="card-not-confidential", where=supplement.identifier, found=found, advice=advice))
    opened = replace(supplement, openings=(*supplement.openings, *openings))
    faults = check_openings(opened)
    if faults:
        raise InputError(faults)
    return opened
