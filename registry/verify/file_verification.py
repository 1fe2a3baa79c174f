"""From files to their checks, bundles included, contradictions between files, and a verdict with an exit code."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from registry.codec.file_io import LOG
from registry.errors import CaveatError, Fault, InputError
from registry.exchange.bundle_check import Bundle, find_signer, read_whole
from registry.records.statement import OutputFormat
from registry.report.render_workers import PdfWorker, RenderedFile, RenderJob, has_layout, refuse_layout, render_many
from registry.seal.signed_notes import SignedNote, parse_consistency, parse_note, parse_proof, verify_note
from registry.seal.time_stamps import SUFFIX
from registry.verify.proof_checks import (
    MISSING,
    PROOF_SUFFIX,
    Check,
    CheckAnswer,
    CheckName,
    check_root,
    check_witnesses,
    no,
    not_checked,
    yes,
)
from registry.verify.verification_keys import Trust, VerificationMeans

if TYPE_CHECKING:
    from registry.store.ledger import Ledger
    from registry.verify.record_checks import SupplementInFile


def check_bundle(path: Path, means: VerificationMeans) -> tuple[Check, ...]:
    """Return the checks of the bundle at *path*, in order."""
    try:
        # Parsing checks every digest of the bundle, so a fault here is its answer.
        bundle = read_whole(path)
    except InputError as error:
        fault = error.faults[0]
        more = f"; and {len(error.faults) - 1} more" if len(error.faults) > 1 else ""
        broken = no(CheckName.BUNDLE, f"{fault.code}: {fault.where}: {fault.found}{more}")
        # Without a whole bundle there is no root to check these against.
        rest = (CheckName.CHECKPOINT, CheckName.WITNESSES, CheckName.CONSISTENCY)
        return (broken, *(not_checked(name, "the bundle is not whole") for name in rest))
    return (
        _describe_whole(bundle),
        _check_signer(bundle, means),
        check_witnesses(bundle.checkpoint, means.trust),
        check_root(bundle.checkpoint.checkpoint, means.ledger),
    )


def _describe_whole(bundle: Bundle) -> Check:
    header = bundle.header
    erased = f", {bundle.erased} of them without their text" if bundle.erased else ""
    # A bundle that begins later carries only what the earlier entries add to the root.
    note = f"whole: entries {header.since + 1} to {header.size} of {header.origin}{erased}; every text gives its leaf, the leaves the root"
    signed = f"; {bundle.signed} are signed by their authors" if bundle.signed else "; no entry is signed by its author"
    signed += f", {bundle.signed_unknown} more with keys named before it begins" if bundle.signed_unknown else ""
    before = "" if header.since == 0 else f"; of the {header.since} entries before, only what they add to the root"
    return yes(CheckName.BUNDLE, f"{note} {bundle.checkpoint.checkpoint.root}{before}{signed}")


def _check_signer(bundle: Bundle, means: VerificationMeans) -> Check:
    """Keys that the bundle names are its sender's word: one is believed only if a key that is known here vouches for it."""
    checkpoint = bundle.checkpoint.checkpoint
    if means.origin is not None and checkpoint.origin != means.origin:
        return no(CheckName.CHECKPOINT, f"it is of the log {checkpoint.origin}; expected was {means.origin}")
    # Without a known key the signatures cannot be judged.
    log_keys = means.trust.list_log_keys(checkpoint.origin)
    if not log_keys:
        signers = ", ".join(f"{line.name}+{line.key_id.hex()}" for line in bundle.checkpoint.lines[:6])
        return not_checked(CheckName.CHECKPOINT, f"signed by {signers}, and nothing here says who has that key; give it with --key")
    try:
        # Keys are believed for the log whose name they bear: the given one, and those that a
        # checkpoint of a believed key covers. The cost: a rotation that the old key did not sign
        # needs a person (decision of 2026-11-22).
        key = find_signer(bundle.checkpoint, log_keys, bundle.steps, bundle.notes)
    except InputError as error:
        return no(CheckName.CHECKPOINT, f"{error.faults[0].code}: {error.faults[0].found}")
    source = means.trust.find_vkey(str(key))
    how = f"known: {source.source}" if source else "which a key that is known here put in its place"
    # Evidence of two histories outweighs a valid signature.
    if fork := means.trust.forks.get(checkpoint.origin):
        return no(CheckName.CHECKPOINT, f"signed by {key.name}+{key.key_id.hex()}, {how}, and not to be believed: {fork}")
    note = f"{checkpoint.origin} at {checkpoint.size} entries, root {checkpoint.root}, signed by {key.name}+{key.key_id.hex()}, {how}"
    is_given = any(means.trust.is_given(str(log_key)) for log_key in log_keys)  # a key that another put in its place rests on the first
    return yes(CheckName.CHECKPOINT, note, rests_on_given_key=is_given)


# From files to their checks. A file's kind follows from its first bytes, never from its name. PDFs
# are rendered again while the other checks run.

PROOF_FILE_SUFFIX = ".tlog-proof"
_LARGEST_BYTES = 200_000_000
_HEAD_BYTES = 4_000
"""The text of a checkpoint is three short lines, of which its signatures follow."""
_SQLITE = b"SQLite format 3\0"
_BUNDLE = (b'{"cards":', b"\x28\xb5\x2f\xfd")
"""A bundle's first line is canonical JSON, whose keys are sorted; or it is compressed (RFC 8878, section 3.1.1)."""
_SIGNATURES = "\n\n\N{EM DASH} ".encode()
_PDF = b"%PDF-"


class FileKind(StrEnum):
    """What can be verified."""

    SUPPLEMENT = "supplement"
    """PDF, HTML or JSON; also whatever is none of the others, which reading it as a supplement refuses in words."""
    PROOF = "proof"
    """C2SP tlog-proof."""
    CHECKPOINT = "checkpoint"
    """A signed note of C2SP tlog-checkpoint."""
    CONSISTENCY = "consistency"
    """What `caveat admin log prove --since` writes."""
    BUNDLE = "bundle"
    """What `caveat admin bundle write` writes."""
    REGISTRY = "registry"
    """A SQLite file."""
    UNREADABLE = "unreadable"
    """None of these, or nothing that can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file to be verified."""

    path: Path
    kind: FileKind
    data: bytes = b""
    """Its bytes; empty for a bundle and a registry, which are read where they are."""
    proof: bytes | None = None
    """Those of the proof inside a supplement, or else beside it, or of one that a checkpoint begins; None where there is none."""
    stamp: bytes | None = None
    """The time stamp next to a checkpoint, `NAME.tsr`; None where there is none."""
    error: InputError | None = None
    """Why it cannot be read at all; None where it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVerification:
    """What the checks of one file came to."""

    name: str
    kind: FileKind
    checks: tuple[Check, ...]
    faults: tuple[Fault, ...] = ()
    """Why nothing of it could be checked; empty where something was."""


def detect_kind(data: bytes) -> FileKind:
    """Return what a file is that is, or begins with, *data*."""
    if data.startswith(_SQLITE):
        return FileKind.REGISTRY
    if data.startswith(_BUNDLE):
        return FileKind.BUNDLE
    if data.startswith(b"c2sp.org/tlog-proof@"):
        return FileKind.PROOF
    if data.startswith(b"old "):
        return FileKind.CONSISTENCY
    if data.lstrip()[:1] == b"{":
        return FileKind.SUPPLEMENT
    # A PDF may contain the text of a checkpoint, so it is excluded by its beginning.
    return FileKind.CHECKPOINT if _SIGNATURES in data[:_HEAD_BYTES] and not data.startswith(_PDF) else FileKind.SUPPLEMENT


def read_given(path: Path, proof: Path | None) -> InputFile:
    """Return the file at *path* with its proof.

    Args:
        proof: where its proof is; None for `NAME.tlog-proof` next to it, where that is there. One inside the file is taken before it.

    Raises:
        InputError: `file-too-large`, `file-not-readable`.
    """
    # The head decides; a bundle or a registry may be far too large to load.
    head = _read(path, _HEAD_BYTES, is_part=True)
    kind = detect_kind(head)
    if kind in (FileKind.BUNDLE, FileKind.REGISTRY):
        return InputFile(path=path, kind=kind)
    beside = proof or path.with_name(path.name + PROOF_FILE_SUFFIX)
    # A limit before anything is parsed.
    data = _read(path, _LARGEST_BYTES)
    stamp = path.with_name(path.name + SUFFIX) if kind is FileKind.CHECKPOINT else None
    return InputFile(
        path=path,
        kind=kind,
        data=data,
        proof=_choose_proof(data, kind, _read(beside, _LARGEST_BYTES) if beside.is_file() else None),
        stamp=_read(stamp, _LARGEST_BYTES) if stamp is not None and stamp.is_file() else None,
    )


def _choose_proof(data: bytes, kind: FileKind, beside: bytes | None) -> bytes | None:
    """Return the proof inside a supplement, which anybody can put there; else the one beside it."""
    from registry.report.published_file import split_file  # noqa: PLC0415
    from registry.verify.record_checks import detect_format  # noqa: PLC0415

    if kind is not FileKind.SUPPLEMENT:
        return beside
    # The proof inside belongs to the file itself and cannot be exchanged by mistake.
    inside = split_file(data, detect_format(data)).proof
    return beside if inside is None else inside


def read_all(paths: Sequence[Path], proof: Path | None) -> list[InputFile]:
    """Return the files at *paths*, as `read_given`; of several, one that cannot be read is given with its error.

    Raises:
        InputError: none of them can be read.
    """
    files: list[InputFile] = []
    for path in paths:
        try:
            files.append(read_given(path, proof))
        # One unreadable file does not stop the others.
        except InputError as error:
            files.append(InputFile(path=path, kind=FileKind.UNREADABLE, error=error))
    errors = [file.error for file in files if file.error is not None]
    _refuse_all(errors, among=files)
    return files


def _refuse_all(errors: Sequence[CaveatError], *, among: Sequence[InputFile]) -> None:
    """Of several files each is answered for itself; where there is none to answer, the command has nothing to say but why."""
    # Only if nothing can be answered does the command fail as a whole.
    if errors and len(errors) == len(among):
        raise errors[0] if len(errors) == 1 else InputError(fault for error in errors for fault in error.faults)


def verify_files(
    files: Sequence[InputFile],
    means: "VerificationMeans",
    *,
    rerender: bool = True,
    time_limit_s: float,
    workers: int,
    progress: Callable[[int], None] = lambda _more: None,
) -> list[FileVerification]:
    """Return the checks of each of *files*, in their order.

    Args:
        rerender: whether to render again also files with bytes that are proven to be published.
        time_limit_s: seconds that drawing one of them may take.
        workers: how many processes draw at once.
        progress: called with how many more files are checked.

    Raises:
        CaveatError: none of them is anything that can be verified; one that is not, among others that are, is answered by its faults.
    """
    from registry.report.published_file import read_neighbours  # noqa: PLC0415  (only where there are supplements)
    from registry.verify.supplement_checks import examine_supplement  # noqa: PLC0415

    failed: dict[int, CaveatError] = {at: file.error for at, file in enumerate(files) if file.error is not None}
    opened = _open_all(files, means, failed)
    embedded = {at: item for at, item in opened.items() if not isinstance(item, tuple)}
    done = {at: item for at, item in opened.items() if isinstance(item, tuple)}
    for at, file in enumerate(files):
        if file.kind not in (FileKind.SUPPLEMENT, FileKind.UNREADABLE):
            try:
                done[at] = _check_other(file, means)
            except CaveatError as error:
                failed[at] = error
    _refuse_all(list(failed.values()), among=files)
    progress(len(done) + len(failed))
    examined = {at: examine_supplement(file, means, proof=files[at].proof, where=_name_proof(files[at])) for at, file in embedded.items()}
    # Rendering takes longer than all other checks together. A proof that these very bytes were
    # published leaves one question to it: whether their authority published another page than its record gives.
    rendered = [
        at
        for at, examination in examined.items()
        if rerender or examination.published is None or examination.embedded.format is OutputFormat.JSON
    ]
    done |= {at: examined[at].finish(None) for at in examined.keys() - rendered}
    progress(len(examined) - len(rendered))
    # `caveat-verify` brings no layout: what it would compare stays unchecked, and JSON, which needs none, is compared.
    if not has_layout():
        lacking = [at for at in rendered if embedded[at].format is not OutputFormat.JSON]
        for at in lacking:
            done[at] = examined[at].finish(RenderedFile(key=str(at), format=embedded[at].format, data=None, error=refuse_layout()))
        rendered = [at for at in rendered if at not in lacking]
        progress(len(lacking))
    with ExitStack() as stack:
        pdfs = sum(embedded[at].format is OutputFormat.PDF for at in rendered)
        # One process for each PDF at most; HTML and JSON need none of their own.
        ready = [stack.enter_context(PdfWorker()) for _ in range(max(1, min(workers, pdfs)))]
        jobs = [
            RenderJob(
                key=str(at),
                supplement=embedded[at].supplement,
                format=embedded[at].format,
                neighbours=read_neighbours(embedded[at].data) if embedded[at].format is OutputFormat.HTML else (),
            )
            for at in rendered
        ]
        for made in render_many(jobs, workers=ready, time_limit_s=time_limit_s):
            done[int(made.key)] = examined[int(made.key)].finish(made)
            progress(1)
    # Contradictions show only when all files are known.
    contradicted = find_contradictions(files, means.trust)
    return [_describe(file, mark_contradiction(done.get(at, ()), contradicted.get(at)), failed.get(at)) for at, file in enumerate(files)]


def _describe(input_file: InputFile, checks: tuple[Check, ...], error: CaveatError | None) -> FileVerification:
    if error is None:
        return FileVerification(name=str(input_file.path), kind=input_file.kind, checks=checks)
    return FileVerification(name=str(input_file.path), kind=FileKind.UNREADABLE, checks=(), faults=error.faults)


def check_file(
    data: bytes,
    *,
    proof: bytes | None,
    trust: "Trust",
    ledger: "Ledger | None" = None,
    made: RenderedFile | None = None,
    where: str = "file",
) -> tuple[Check, ...]:
    """Return the checks of one file in memory, a supplement, proof or checkpoint, in order.

    Args:
        data: the file's bytes.
        proof: those of the proof next to a supplement; None where there is none.
        trust: the keys that are known.
        ledger: a registry to compare with; None to do without.
        made: what drawing the supplement again came to; None where it was not rendered, and then `bytes` was not checked.
        where: what the file is called, for messages.

    Raises:
        InputError: it is nothing that can be verified.
    """
    from registry.verify.supplement_checks import examine_supplement  # noqa: PLC0415
    from registry.verify.verification_keys import VerificationMeans  # noqa: PLC0415

    means = VerificationMeans(trust=trust, given=trust, ledger=ledger)
    # In memory a file has no neighbour; the proof is given.
    input_file = InputFile(path=Path(where), kind=detect_kind(data), data=data, proof=_choose_proof(data, detect_kind(data), proof))
    if input_file.kind is not FileKind.SUPPLEMENT:
        return _check_other(input_file, means)
    opened = _open(input_file, means)
    if isinstance(opened, tuple):
        return opened
    return examine_supplement(opened, means, proof=input_file.proof, where=_name_proof(input_file)).finish(made)


def _name_proof(input_file: InputFile) -> str:
    return f"proof of {input_file.path}"


def _open_all(
    files: Sequence[InputFile], means: "VerificationMeans", failed: dict[int, CaveatError]
) -> "dict[int, SupplementInFile | tuple[Check, ...]]":
    """What each supplement carries, or its checks where it carries nothing that can be read; what is none is added to *failed*."""
    opened: dict[int, SupplementInFile | tuple[Check, ...]] = {}
    for at, file in enumerate(files):
        if file.kind is FileKind.SUPPLEMENT:
            try:
                opened[at] = _open(file, means)
            except InputError as error:
                failed[at] = error
    return opened


def _open(input_file: InputFile, means: "VerificationMeans") -> "SupplementInFile | tuple[Check, ...]":
    from registry.verify.record_checks import read_carried  # noqa: PLC0415
    from registry.verify.supplement_checks import check_unreadable  # noqa: PLC0415

    try:
        return read_carried(input_file.data, where=str(input_file.path))
    except InputError as error:
        checks = check_unreadable(input_file.data, error, means, proof=input_file.proof, where=_name_proof(input_file))
        # Nothing that Caveat wrote: the command says so in words.
        if not checks:
            raise
        return checks


def _check_other(input_file: InputFile, means: "VerificationMeans") -> tuple[Check, ...]:
    from registry.verify import proof_checks as notes  # noqa: PLC0415

    match input_file.kind:
        case FileKind.PROOF:
            return notes.check_proof(input_file.data, means, where=str(input_file.path))
        case FileKind.CHECKPOINT:
            return notes.check_note(input_file.data, means, proof=input_file.proof, where=str(input_file.path), stamp=input_file.stamp)
        case FileKind.CONSISTENCY:
            return notes.check_consistency_note(input_file.data, means, where=str(input_file.path))
        case FileKind.BUNDLE:
            return check_bundle(input_file.path, means)
        case FileKind.REGISTRY:
            from registry.verify.ledger_checks import check_ledger, open_copy  # noqa: PLC0415

            # On a copy: evidence is not even opened for writing.
            with open_copy(input_file.path) as ledger:
                return check_ledger(ledger, means)
        case FileKind.SUPPLEMENT | FileKind.UNREADABLE:
            raise AssertionError("a supplement is checked with what it carries, what cannot be read not at all")


def _read(path: Path, most: int, *, is_part: bool = False) -> bytes:
    """The first *most* bytes; a larger file is refused, unless its beginning is all that is asked for."""
    # A pipe cannot be read twice, and several checks read the file.
    if not path.is_file():
        advice = "save what comes in as a file first"
        raise InputError(Fault("file-not-readable", str(path), "it is a pipe or device, and no file", advice=advice))
    try:
        with path.open("rb") as stream:
            data = stream.read(most if is_part else most + 1)
    except OSError as error:
        raise InputError(Fault("file-not-readable", str(path), error.strerror or str(error))) from error
    if not is_part:
        LOG.info("read %s (%s bytes)", path, f"{len(data):,}")
    if len(data) > most:
        raise InputError(Fault("file-too-large", str(path), f"it has more than {most:,} bytes, which no supplement has"))
    return data


# Contradictions between files: one log, one size, two roots.


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeenCheckpoint:
    """A checkpoint, and the file that brings it."""

    at: int
    """Place of the file among those that were given."""
    note: SignedNote
    is_signed: bool
    """Whether a key of the log that is known here signed it."""


def find_contradictions(files: Sequence[InputFile], trust: Trust) -> dict[int, str]:
    """Return the files with a checkpoint that contradicts that of another, by place, each with the words for it.

    Where a known key signed one side only, the other side proves nothing, and only its files are returned. Else all are: either the
    log signed two histories, or nothing here says which of them is forged.
    """
    groups: dict[tuple[str, int], list[_SeenCheckpoint]] = defaultdict(list)
    for at, file in enumerate(files):
        for note in _list_notes(file):
            checkpoint = note.checkpoint
            # Signatures are verified before they count as evidence.
            lines = verify_note(note, trust.list_log_keys(checkpoint.origin))
            seen_checkpoint = _SeenCheckpoint(at=at, note=note, is_signed=any(line.is_valid for line in lines))
            # Grouped by log and size: only there can two roots contradict each other.
            groups[checkpoint.origin, checkpoint.size].append(seen_checkpoint)
    contradictions: dict[int, str] = {}
    for seen_checkpoints in groups.values():
        contradictions |= _compare(seen_checkpoints, files)
    return contradictions


def mark_contradiction(checks: tuple[Check, ...], words: str | None) -> tuple[Check, ...]:
    """Return *checks* with `consistency` found wrong, where *words* say what the file contradicts."""
    if words is None:
        return checks
    wrong = no(CheckName.CONSISTENCY, words)
    return tuple(replace(wrong, note=f"{words}; {check.note}") if check.name is CheckName.CONSISTENCY else check for check in checks)


def _compare(seen_checkpoints: Sequence[_SeenCheckpoint], files: Sequence[InputFile]) -> Mapping[int, str]:
    roots = {seen_checkpoint.note.checkpoint.root for seen_checkpoint in seen_checkpoints}
    # One root: no contradiction.
    if len(roots) == 1:
        return {}
    # A root that a known key signed outweighs one without.
    signed = {seen_checkpoint.note.checkpoint.root for seen_checkpoint in seen_checkpoints if seen_checkpoint.is_signed}
    contradictions = {}
    for seen_checkpoint in seen_checkpoints:
        checkpoint = seen_checkpoint.note.checkpoint
        if signed == {checkpoint.root}:
            continue  # the others are not signed by a key that is known: they are no evidence against it
        other = next(rival for rival in seen_checkpoints if rival.note.checkpoint.root != checkpoint.root)
        contradictions[seen_checkpoint.at] = (
            f"two histories of {checkpoint.origin}: at {checkpoint.size} entries its root is {checkpoint.root} here, "
            f"and {other.note.checkpoint.root} in {files[other.at].path}"
        )
    return contradictions


def _list_notes(input_file: InputFile) -> list[SignedNote]:
    """The checkpoints that a file, or the proof that belongs to it, brings; what cannot be parsed is told by the file's own checks."""
    notes = []
    # A supplement brings its proof, a checkpoint the proof that leads on from it.
    for data in (input_file.data, input_file.proof or b""):
        try:
            text = data.decode()
            if text.startswith("c2sp.org/tlog-proof@"):
                notes.append(parse_note(parse_proof(text, where="proof").note, where="proof"))
            elif text.startswith("old "):
                notes.append(parse_note(parse_consistency(text, where="proof").note, where="proof"))
            elif input_file.kind is FileKind.CHECKPOINT and data is input_file.data:
                notes.append(parse_note(text, where="checkpoint"))
        except (CaveatError, UnicodeDecodeError):
            continue
    return notes


# The answer. A file passes only if something that the user trusts, a key or a registry, shows who
# made it. Otherwise it is INCOMPLETE, however many checks are in order, because anyone can make
# such a file.
#
# A file that is no longer current does not fail: it was right when it was made. `current` says no,
# and the exit code stays 0 unless `--current` asks (decision of 2026-11-22). The cost: scripts must
# ask.

_WRONG, _NOT_MADE, _FINE = 1, 3, 0


def find_wrong(checks: Sequence[Check], *, required: Collection[CheckName]) -> list[Check]:
    """Return what was found to be wrong; that something newer was recorded since is wrong only where `current` is required."""
    return [
        check
        for check in checks
        if check.answer is CheckAnswer.NO and (check.name is not CheckName.CURRENT or CheckName.CURRENT in required)
    ]


def find_missing(checks: Sequence[Check], *, required: Collection[CheckName]) -> list[CheckName]:
    """Return the required checks that were not made, also those that a file of this kind has not."""
    # A required check that a file of this kind does not have counts as missing.
    made = {check.name for check in checks if check.answer is not CheckAnswer.NOT_CHECKED}
    return [name for name in CheckName if name in required and name not in made]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What the user asks of the checks."""

    required: frozenset[CheckName] = frozenset()
    """Checks that must have been made."""
    everything: bool = False
    """Whether every check that a file of its kind has is required."""
    has_keys: bool = False
    """Whether the user gave a key, on which the answer must rest."""


class FileVerdict(StrEnum):
    """What the checks of a file come to."""

    PASS = "PASS"  # noqa: S105  (no password)
    FAIL = "FAIL"
    INCOMPLETE = "INCOMPLETE"
    """Nothing was found to be wrong, and what would show that the file is genuine could not be checked."""


def find_verdict(file_verification: FileVerification, demand: Demand) -> FileVerdict:
    """Return what the checks of one file come to."""
    checks = file_verification.checks
    # A wrong answer outweighs every missing one.
    if find_wrong(checks, required=demand.required):
        return FileVerdict.FAIL
    lacks = find_missing(checks, required=demand.required) or is_unseen(checks) or _is_nobodys(checks)
    # A user who gives a key wants the answer to rest on it.
    lacks = lacks or is_unread(checks) or (demand.has_keys and find_unused_key(file_verification) is not None)
    if demand.everything:
        lacks = lacks or any(check.answer is CheckAnswer.NOT_CHECKED for check in checks)
    return FileVerdict.INCOMPLETE if file_verification.faults or not checks or lacks else FileVerdict.PASS


def find_newer(checks: Sequence[Check]) -> str | None:
    """Return what superseded a file, in words that follow “superseded by”; None where nothing that is known here did."""
    note = next((check.note for check in checks if check.name is CheckName.CURRENT and check.answer is CheckAnswer.NO), None)
    if note is None:
        return None
    # The note of `registry_comparison.check_current` names both.
    name = re.search(r"((?:CLM|CRD)-\S+@\d+) stands in its place", note)
    entry = re.search(r"first changed by (entry \d+)", note)
    return name[1] if name else entry[1] if entry else "later entries"


def format_verdict(verdict: FileVerdict, checks: Sequence[Check]) -> str:
    """Return the verdict as the first line says it."""
    # Only a file that passes is called superseded: of others nothing is known.
    newer = find_newer(checks) if verdict is FileVerdict.PASS else None
    return verdict.value if newer is None else f"{verdict.value} (superseded by {newer})"


def find_exit_code(file_verifications: Sequence[FileVerification], demand: Demand) -> int:
    """Return 1 where a file fails, else 3 where one is incomplete, else 0."""
    verdicts = {find_verdict(file_verification, demand) for file_verification in file_verifications}
    # One failing file is graver than any number of incomplete ones.
    if FileVerdict.FAIL in verdicts:
        return _WRONG
    return _NOT_MADE if FileVerdict.INCOMPLETE in verdicts else _FINE


def describe_verification(file_verification: FileVerification, demand: Demand) -> str:
    """Return what the checks come to in a sentence or two."""
    if file_verification.faults:
        return f"Nothing of it was checked: {'; '.join(f'{fault.code}: {fault.found}' for fault in file_verification.faults[:4])}"
    checks = file_verification.checks
    wrong = find_wrong(checks, required=demand.required)
    missing = [check.name.value for check in checks if check.answer is CheckAnswer.NOT_CHECKED]
    if wrong:
        return f"Do not rely on this; not in order: {', '.join(check.name.value for check in wrong)}."
    summary = "Everything that was asked is in order."
    if is_unread(checks):
        summary = f"Its record cannot be read here, so what it says was not checked: see record. Not made: {', '.join(missing)}."
    elif missing:
        noun = "1 check" if len(missing) == 1 else f"{len(missing)} checks"
        summary = f"Nothing was found to be wrong; {noun} could not be made here: {', '.join(missing)}."
    if demand.has_keys and (unused := find_unused_key(file_verification)) is not None:
        summary += f" {unused}"
    # Said once: the sentence about the unused key says the same.
    elif _is_nobodys(checks):
        summary += f" Nothing here shows who made this file, and anyone can make one that passes all of this: {_advise(checks)}."
    # Reasons, names and titles are composed from statements. Only a publication, a registry or a
    # known signature vouches for them (decision of 2026-11-22).
    if _is_unvouched(checks):
        summary += " No signature covers what is composed in it, such as reasons and names: see entries."
    if is_unseen(checks):
        summary += " What is printed in it was held against nothing, so it may say anything: see bytes and record."
    return summary


def find_unused_key(file_verification: FileVerification) -> str | None:
    """Return that the keys given with `--key` decided nothing about a file, and why; None where one did. Only for calls with `--key`."""
    # One answer that rests on the key is enough.
    if any(check.rests_on_given_key for check in file_verification.checks):
        return None
    notes = {check.name: check.note for check in file_verification.checks}
    # A registry that keeps no checkpoint has nothing that a key could verify.
    if any(check.name is CheckName.CHECKPOINTS and check.answer is CheckAnswer.NOT_CHECKED for check in file_verification.checks):
        why = _advise(file_verification.checks)
    elif notes.get(CheckName.INCLUSION) != MISSING:
        why = notes.get(CheckName.CHECKPOINT) or notes.get(CheckName.SIGNATURE) or "nothing in it is signed"
    elif file_verification.name.lower().endswith((".pdf", ".html")):
        why = "the file has no proof in it"
    else:
        why = f"the proof {Path(file_verification.name).name}{PROOF_SUFFIX} is missing"
    return f"Your key was not used: {why}."


def is_unread(checks: Sequence[Check]) -> bool:
    """Whether a supplement's record cannot be read: then there is no answer, whatever its digest and its proof say."""
    return any(check.name is CheckName.RECORD and check.answer is CheckAnswer.NOT_CHECKED for check in checks)


def is_unseen(checks: Sequence[Check]) -> bool:
    """Whether neither drawing it again nor anyone known here says what the file shows: then there is no answer."""
    answers = {check.name: check.answer for check in checks}
    # The bytes were compared, or the record was: something was seen.
    if CheckAnswer.NOT_CHECKED not in (answers.get(CheckName.BYTES), answers.get(CheckName.RECORD)):
        return False
    return not _is_published(checks) and answers.get(CheckName.SIGNATURE) is not CheckAnswer.YES


def _is_nobodys(checks: Sequence[Check]) -> bool:
    """Whether nothing that was checked rests on a key or a registry that the user knows."""
    in_order = {check.name for check in checks if check.answer is CheckAnswer.YES}
    names = {check.name for check in checks}
    # A file without a checkpoint check asks for no key.
    return CheckName.CHECKPOINT in names and in_order.isdisjoint({CheckName.CHECKPOINT, CheckName.SIGNATURE, CheckName.REGISTRY})


def _advise(checks: Sequence[Check]) -> str:
    """A key helps nothing where a registry keeps no checkpoint that it could verify."""
    keeps_none = any(check.name is CheckName.CHECKPOINTS and check.answer is CheckAnswer.NOT_CHECKED for check in checks)
    return "ask for a checkpoint kept elsewhere" if keeps_none else "give a key that you trust"


def _is_unvouched(checks: Sequence[Check]) -> bool:
    """Whether a supplement rests on its entries alone: neither who published it nor a registry says the words around them."""
    answers = {check.name: check.answer for check in checks}
    return (
        CheckName.ENTRIES in answers
        and not _is_published(checks)
        and CheckAnswer.YES not in (answers.get(CheckName.SIGNATURE), answers.get(CheckName.REGISTRY))
    )


def _is_published(checks: Sequence[Check]) -> bool:
    answers = {check.name: check.answer for check in checks}
    # Both proven; or neither, and a registry said so. One without the other proves nothing.
    by_proof = {answers.get(name) for name in (CheckName.INCLUSION, CheckName.CHECKPOINT)}
    return answers.get(CheckName.PUBLISHED) is CheckAnswer.YES and len(by_proof) == 1  # both proven; or neither, and a registry said so
