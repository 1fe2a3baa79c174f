"""What of a supplement a log proves: the entries that it names, and that it was given out."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.errors import CaveatError, InputError
from registry.records.dossier import Recorded
from registry.records.statement import Publication
from registry.seal.inclusion import check_inclusion as check_entries_of
from registry.verification import proof as proofs
from registry.verification.carried import Carried
from registry.verification.check import Answer, Check, Name, no, not_checked, yes
from registry.verification.composed import list_contradictions
from registry.verification.means import find_log
from registry.verification.notes import check_root
from registry.verification.proof import ReadProof
from registry.verification.signed import check_checkpoint, check_witnesses
from registry.verification.trust import Trust

if TYPE_CHECKING:
    from registry.store.ledger import Ledger

_MOST_TOLD = 3
_COMPOSED = (
    "not covered is what the supplement composes from them (reasons, names, a card's title and rows, what is missing, other audits): "
    "`published` with `checkpoint`, `signature` or `registry` vouch for that"
)
_OF_PROOF = (Name.PUBLISHED, Name.INCLUSION, Name.CHECKPOINT, Name.WITNESSES, Name.CONSISTENCY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What stands around a supplement."""

    proof: ReadProof | None
    """The proof of its publication; None where there is none, or none that can be read."""
    broken: InputError | None
    """Why the proof cannot be read; None where it can, or where there is none."""
    drawn: bytes
    """The file without its proof and signature, as far as Caveat wrote them; all of it where the signature is not intact."""


def check_entries(carried: Carried) -> Check:
    """Return whether every entry that the record quotes stands in the log, at the root that it names, and what copies one is its copy."""
    supplement = carried.supplement
    if supplement.inclusion is None:
        note = "IT PROVES NO ENTRY: the proof that its entries stand in the log was taken out; ask for the file as it was made"
        return no(Name.ENTRIES, note)
    try:
        proven = check_entries_of(supplement, document=carried.document)
    except CaveatError as error:
        told = list(dict.fromkeys(f"{one.where}: {one.found}" for one in error.faults))
        more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
        return no(Name.ENTRIES, "; ".join(told[:_MOST_TOLD]) + more)
    if contradictions := list_contradictions(supplement):
        more = f"; and {len(contradictions) - _MOST_TOLD} more" if len(contradictions) > _MOST_TOLD else ""
        return no(Name.ENTRIES, f"not what the statements beside it say: {'; '.join(contradictions[:_MOST_TOLD])}{more}")
    count, whole = len(proven.entries), len(proven.recomputed)
    hashed = f"of {whole} every word was hashed again" if whole else "what they say does not stand in it"
    note = f"{count} entries stand in {supplement.log_origin} at {supplement.log_size} entries, root {supplement.inclusion.root}; "
    return yes(Name.ENTRIES, f"{note}{hashed}; {_COMPOSED}")


def check_publication(carried: Carried, sealed: Sealed, ledger: "Ledger | None") -> Check:
    """Return whether this very file was given out, by its digest: as its proof says, or without one as the registry here says."""
    sha256 = hashlib.sha256(sealed.drawn).hexdigest()
    if sealed.broken is not None:
        fault = sealed.broken.faults[0]
        return no(Name.PUBLISHED, f"its proof cannot be read: {fault.where}: {fault.found}")
    if sealed.proof is None:
        return _ask_registry(carried, sha256, ledger)
    faults = _compare(sealed.proof.publication, carried, sealed, sha256)
    if faults:
        return no(Name.PUBLISHED, f"its proof is {faults[0]}{_tell_others(faults[1:])}")
    note = f"the statement proven is of this file: {len(sealed.drawn):,} bytes, sha256 {sha256}, and of its record"
    added = len(carried.data) - len(sealed.drawn)
    return yes(Name.PUBLISHED, note + (f"; the {added:,} bytes added to them are its proof and signature" if added else ""))


def check_seals(carried: Carried, sealed: Sealed, trust: Trust, ledger: "Ledger | None", *, origin: str | None) -> tuple[Check, ...]:
    """Return the checks of the proof, in order: publication, inclusion, checkpoint, witnesses, consistency.

    Args:
        origin: the log that the user expects; None takes the one that the supplement names.
    """
    publication = check_publication(carried, sealed, ledger)
    read = sealed.proof
    if read is None:
        why = _tell_lack(carried, is_broken=sealed.broken is not None)
        return (publication, *(not_checked(name, why) for name in _OF_PROOF[1:]))
    return (
        publication,
        proofs.check_inclusion(read),
        check_checkpoint(read.note, trust, origin=origin or carried.supplement.log_origin, at=read.at),
        check_witnesses(read.note, trust),
        _check_consistency(carried, read, ledger),
    )


def _tell_lack(carried: Carried, *, is_broken: bool) -> str:
    if is_broken:
        return "its proof cannot be read"
    if carried.subject is None:
        return "a change report has no proof of publication; a registry gives the root that it names, or another: see registry"
    return proofs.MISSING


def find_published(sealed: Sealed, checks: tuple[Check, ...]) -> Publication | None:
    """Return the publication, where all that leads to it was found in order."""
    wanted = (Name.PUBLISHED, Name.INCLUSION, Name.CHECKPOINT)
    in_order = {one.name for one in checks if one.answer is Answer.YES}
    return sealed.proof.publication if sealed.proof is not None and in_order.issuperset(wanted) else None


def _compare(said: Publication, carried: Carried, sealed: Sealed, sha256: str) -> list[str]:
    """Return everything in which a publication is not of this file."""
    supplement = carried.supplement
    pairs = [
        ("of another file: sha256", said.sha256, sha256),
        ("of a file of another length:", str(said.size_bytes), str(len(sealed.drawn))),
        ("of another record: sha256", said.record, carried.digest),
        ("of another subject:", said.subject, carried.name),
        ("of another form:", said.format.value, carried.format.value),
        ("of another size of the log:", str(said.log_size), str(supplement.log_size)),
    ]
    return [f"{what} {there}, here {here}" for what, there, here in pairs if there != here]


def _tell_others(faults: list[str]) -> str:
    """What else differs, without the digests: the first says enough."""
    return "".join(f", and {one.partition(':')[0]}" for one in faults)


def _ask_registry(carried: Carried, sha256: str, ledger: "Ledger | None") -> Check:
    if ledger is not None:
        place = find_log(ledger, carried.supplement.log_origin)
        found: tuple[Recorded[Publication], ...] = ()
        if place is not None:
            with ledger.view(log=place.log) as view:
                found = view.find_publications(sha256)
        if found:
            entry = found[0].entry
            note = f"no proof here; the registry recorded in entry {entry.seq} on {entry.at:%Y-%m-%d} that this file was given out"
            return yes(Name.PUBLISHED, note)
    if carried.subject is None:
        note = "a change report is about no one claim or card, so no log says that it was given out; see signature and registry"
        return not_checked(Name.PUBLISHED, note)
    note = "no proof that it was given out: ask for the file NAME.tlog-proof, and put it beside this one"
    return not_checked(Name.PUBLISHED, note)


def _check_consistency(carried: Carried, read: ReadProof, ledger: "Ledger | None") -> Check:
    """The supplement's own root and the registry's, where there is one here, are of the same history as the checkpoint's."""
    inclusion = carried.supplement.inclusion
    if inclusion is not None and (inclusion.size, inclusion.root) != (read.said.consistency.size, read.said.consistency.root):
        note = f"the supplement names the root {inclusion.root} at {inclusion.size} entries, its proof {read.said.consistency.root}"
        return no(Name.CONSISTENCY, f"{note} at {read.said.consistency.size}")
    check = proofs.check_consistency(read)
    if ledger is None or check.answer is not Answer.YES:
        return check
    return _compare_roots(check, read, ledger)


def _compare_roots(check: Check, read: ReadProof, ledger: "Ledger") -> Check:
    held = check_root(read.checkpoint, ledger)
    if held.answer is Answer.NOT_CHECKED:
        return check
    return held if held.answer is Answer.NO else yes(Name.CONSISTENCY, f"{check.note}, and of the registry here")
