"""The checks of one supplement, in order: all are made, whatever the others come to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.errors import InputError, UnavailableError
from registry.records.statement import OutputFormat, Publication
from registry.report.enclosed import split_file
from registry.report.signature import PdfSignature, find_signature
from registry.report.suspicious import list_threats
from registry.verification.authors import check_authors
from registry.verification.carried import Carried, check_record, find_template
from registry.verification.check import Answer, Check, Name, no, not_checked, yes
from registry.verification.locked import check_lock
from registry.verification.means import Means
from registry.verification.proof import ReadProof, read_proof
from registry.verification.proven import Sealed, check_entries, check_seals, find_published
from registry.verification.signed import check_signature
from registry.verification.unread import check_unread, is_foreign

if TYPE_CHECKING:
    from registry.report.workers import Made

_ORDER = tuple(Name)
_MOST_TOLD = 4
_AGAIN = "caveat report --from FILE draws its record here, to be read instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A supplement of which all is checked but whether it shows what its record says."""

    carried: Carried
    sealed: Sealed
    published: Publication | None
    """What is proven of it by a checkpoint that a known key signed; None where nothing is."""
    checks: tuple[Check, ...]

    def finish(self, made: "Made | None") -> tuple[Check, ...]:
        """Return all checks in order; *made* is what drawing it again came to, None where it was not drawn."""
        return _sort(*self.checks, _check_bytes(self, made))


def examine_supplement(carried: Carried, means: Means, *, proof: bytes | None, where: str) -> Examined:
    """Return every check of a supplement but `bytes`.

    Args:
        proof: the bytes of the `.tlog-proof` beside it; None where there is none.
        where: what the proof is called, for messages.
    """
    signature = find_signature(carried.data) if carried.format is OutputFormat.PDF else None
    sealed = _read_seal(carried, signature, proof, where)
    seals = check_seals(carried, sealed, means.trust, means.ledger, origin=means.origin)
    published = find_published(sealed, seals)
    entries, registry = check_entries(carried), _ask_registry(carried, means)
    of_pdf: tuple[Check, ...] = ()
    if carried.format is OutputFormat.PDF:
        of_pdf = (_check_threats(carried.data), check_signature(signature, means.trust, proof=sealed.proof if published else None))
    lock = check_lock(carried.supplement, is_proven=Answer.YES in (entries.answer, registry[0].answer))
    checks = (*of_pdf, check_record(carried), entries, check_authors(carried), *seals, lock, *registry)
    return Examined(carried=carried, sealed=sealed, published=published, checks=checks)


def check_unreadable(data: bytes, error: InputError, means: Means, *, proof: bytes | None, where: str) -> tuple[Check, ...]:
    """Return the checks of a file whose record cannot be read; none where Caveat wrote no such file and no proof is of it.

    Args:
        error: why it cannot be read.
        proof, where: as `examine_supplement` takes them.
    """
    if proof is None and is_foreign(data, error):
        return ()
    of_pdf = (_check_threats(data),) if data.startswith(b"%PDF-") else ()
    return _sort(*of_pdf, *check_unread(data, error, means, proof=proof, where=where))


def _sort(*checks: Check) -> tuple[Check, ...]:
    return tuple(sorted(checks, key=lambda one: _ORDER.index(one.name)))


def _ask_registry(carried: Carried, means: Means) -> tuple[Check, Check]:
    if means.ledger is None:
        return (
            not_checked(Name.REGISTRY, "no registry here; give one with --registry to compare what it says"),
            not_checked(Name.CURRENT, "no registry here: what was recorded since cannot be known from a file"),
        )
    from registry.verification.recorded import check_current, check_registry  # noqa: PLC0415  (SQLAlchemy, and all that assembles)

    return check_registry(carried, means.ledger), check_current(carried, means.ledger)


def _read_seal(carried: Carried, signature: PdfSignature | None, beside: bytes | None, where: str) -> Sealed:
    """Return the proof and what it is of. The one inside the file is taken before the one beside it."""
    unsigned = signature.unsigned if signature is not None and signature.is_intact else carried.data
    layers = split_file(carried.data, carried.format, unsigned=unsigned)
    proof = beside if layers.proof is None else layers.proof
    read: ReadProof | None = None
    try:
        read = None if proof is None else read_proof(proof, where=where)
    except InputError as error:
        return Sealed(proof=None, broken=error, drawn=layers.drawn)
    return Sealed(proof=read, broken=None, drawn=layers.drawn)


def _check_threats(data: bytes) -> Check:
    threats = list_threats(data)
    if threats:
        more = f"; and {len(threats) - _MOST_TOLD} more" if len(threats) > _MOST_TOLD else ""
        return no(Name.SAFE, "; ".join(one.found for one in threats[:_MOST_TOLD]) + more)
    return yes(
        Name.SAFE,
        "nothing that acts, hides, reaches outside or came later was found; what is attached is its record, and its proof where it has one",
    )


def _check_bytes(one: Examined, made: "Made | None") -> Check:
    """Whether the file shows what its record says: what was drawn from the record is the file, without its proof and signature."""
    drawn = one.sealed.drawn
    if made is None:
        return not_checked(Name.BYTES, "it was not drawn again")
    if isinstance(made.error, UnavailableError):
        return not_checked(Name.BYTES, made.error.faults[0].found)
    if made.data == drawn:
        before = "" if len(drawn) == len(one.carried.data) else ", to which proof and signature are added"
        return yes(Name.BYTES, f"drawn again from its record: the same {len(drawn):,} bytes{before}")
    what = "it is another file" if made.error is None else f"it cannot be: {made.error.faults[0].found}"
    if (who := _find_other_version(one)) is not None:
        note = f"{who} another version of Caveat, which alone draws these bytes: what is printed was not compared with the record; "
        return not_checked(Name.BYTES, note + _AGAIN)
    other = ", or laid out with other system libraries (Pango, HarfBuzz)" if one.carried.format is OutputFormat.PDF else ""
    return no(Name.BYTES, f"drawn again from its record, {what}: it was altered{other}")


def _find_other_version(one: Examined) -> str | None:
    """Who says that other templates drew the file, in words that “names” ends; None where nobody does.

    The log does, under a checkpoint that is trusted; or the proof beside it, or the file itself, of which neither is believed for more
    than this: that it cannot be compared here. So an altered file may escape a *no* by such words, and gets no *yes* by them.
    """
    from registry.report.html import template_digest  # noqa: PLC0415  (Jinja2: only a file that differs needs it)

    here = template_digest()
    if one.published is not None:
        return None if one.published.template == here else "its publication in the log names the templates of"
    said = None if one.sealed.proof is None else one.sealed.proof.publication.template
    if said is not None and said != here:
        return "its proof, for which nothing here vouches, names the templates of"
    if one.carried.format is OutputFormat.JSON:
        return None  # it is its record, whatever the templates
    inside = find_template(one.carried)
    return None if inside == here else "it says of itself that it was drawn by" if inside else "it does not say what drew it, as files of"
