"""The checks of a bundle that another registry exported."""

from pathlib import Path

from registry.errors import InputError
from registry.transfer.check import Bundle, read_whole
from registry.transfer.trust import find_signer
from registry.verification.check import Check, Name, no, not_checked, yes
from registry.verification.means import Means
from registry.verification.notes import check_root
from registry.verification.signed import check_witnesses


def check_bundle(path: Path, means: Means) -> tuple[Check, ...]:
    """Return the checks of the bundle at *path*, in order."""
    try:
        bundle = read_whole(path)
    except InputError as error:
        fault = error.faults[0]
        more = f"; and {len(error.faults) - 1} more" if len(error.faults) > 1 else ""
        broken = no(Name.BUNDLE, f"{fault.code}: {fault.where}: {fault.found}{more}")
        rest = (Name.CHECKPOINT, Name.WITNESSES, Name.CONSISTENCY)
        return (broken, *(not_checked(name, "the bundle is not whole") for name in rest))
    return (
        _tell_whole(bundle),
        _check_signer(bundle, means),
        check_witnesses(bundle.checkpoint, means.trust),
        check_root(bundle.checkpoint.checkpoint, means.ledger),
    )


def _tell_whole(bundle: Bundle) -> Check:
    header = bundle.header
    erased = f", {bundle.erased} of them without their text" if bundle.erased else ""
    note = f"whole: entries {header.since + 1} to {header.size} of {header.origin}{erased}; every text gives its leaf, the leaves the root"
    signed = f"; {bundle.signed} are signed by their authors" if bundle.signed else "; no entry is signed by its author"
    signed += f", {bundle.signed_unknown} more with keys named before it begins" if bundle.signed_unknown else ""
    before = "" if header.since == 0 else f"; of the {header.since} entries before, only what they add to the root"
    return yes(Name.BUNDLE, f"{note} {bundle.checkpoint.checkpoint.root}{before}{signed}")


def _check_signer(bundle: Bundle, means: Means) -> Check:
    """Keys that the bundle names are its sender's word: one is believed only if a key that is known here vouches for it."""
    said = bundle.checkpoint.checkpoint
    if means.origin is not None and said.origin != means.origin:
        return no(Name.CHECKPOINT, f"it is of the log {said.origin}; expected was {means.origin}")
    known = means.trust.list_log_keys(said.origin)
    if not known:
        signers = ", ".join(f"{line.name}+{line.key_id.hex()}" for line in bundle.checkpoint.lines[:6])
        return not_checked(Name.CHECKPOINT, f"signed by {signers}, and nothing here says whose key that is; give it with --key")
    try:
        key = find_signer(bundle.checkpoint, known, bundle.steps, bundle.notes)
    except InputError as error:
        return no(Name.CHECKPOINT, f"{error.faults[0].code}: {error.faults[0].found}")
    source = means.trust.find_vkey(str(key))
    how = f"known: {source.source}" if source else "which a key that is known here put in its place"
    if fork := means.trust.forks.get(said.origin):
        return no(Name.CHECKPOINT, f"signed by {key.name}+{key.key_id.hex()}, {how}, and not to be believed: {fork}")
    note = f"{said.origin} at {said.size} entries, root {said.root}, signed by {key.name}+{key.key_id.hex()}, {how}"
    given = any(means.trust.is_given(str(one)) for one in known)  # a key that another put in its place rests on the first
    return yes(Name.CHECKPOINT, note, rests_on_given_key=given)
