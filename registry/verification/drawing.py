"""Whether a file shows what its record says: drawn again from what it carries, and compared."""

from registry.codec.canonical import canonical_bytes
from registry.codec.documents import to_document
from registry.errors import UnavailableError
from registry.records.publication import OutputFormat, Publication
from registry.report.html import template_digest
from registry.report.workers import Made
from registry.verification.carried import Carried, take_later, tell_later
from registry.verification.check import Check, Name, no, not_checked, yes


def check_bytes(carried: Carried, made: Made | None, *, unsigned: bytes, published: Publication | None) -> Check:
    """Return whether what was drawn from the record is the file.

    Args:
        made: what drawing it again came to; None where it was not drawn.
        unsigned: the file without the signature that a PDF ends with; the file itself where there is none.
        published: what its proof says of it, where that is proven; it names the templates that drew the file.

    Raises:
        InputError: the record cannot be drawn.
    """
    if made is None:
        return not_checked(Name.BYTES, "it was not drawn again")
    if isinstance(made.error, UnavailableError):
        return not_checked(Name.BYTES, made.error.faults[0].found)
    if made.error is not None:
        raise made.error
    if made.data == unsigned:
        before = "" if unsigned is carried.data else ", to which the signature is appended"
        return yes(Name.BYTES, f"drawn again from its record: the same {len(unsigned):,} bytes{before}")
    older, lacks = take_later(to_document(carried.supplement), carried.document)
    if lacks and older == carried.document:
        return not_checked(Name.BYTES, _tell_lack(carried, lacks))
    if published is not None and published.template != template_digest():
        note = "drawn again from its record it is another file; its publication in the log names the templates of another version of"
        return not_checked(Name.BYTES, f"{note} Caveat, which alone draws these bytes")
    note = "drawn again from its record it is another file: it was altered, or drawn by another version of Caveat"
    return no(Name.BYTES, note)


def _tell_lack(carried: Carried, lacks: frozenset[str]) -> str:
    if carried.format is OutputFormat.JSON and canonical_bytes(carried.document) == carried.data:
        return f"written again it is the same{tell_later(lacks)}"
    listed = ", ".join(sorted(lacks))
    note = f"its record lacks what this version of Caveat tells ({listed}), so an earlier one drew it, or they were taken out; "
    return note + "what is printed was not compared with the record"
