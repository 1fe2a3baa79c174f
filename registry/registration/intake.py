"""From a claims file on disk to an open transaction and back: the one way in for claims."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from registry.codec.canonical import Json
from registry.codec.documents import from_document, from_json
from registry.codec.files import check_line, read_document
from registry.errors import CaveatError, Fault, InputError
from registry.records.draft import ClaimDraft, ClaimsFile
from registry.registration.claims import Placed, Registered, Registrar, place_drafts, register_definitions
from registry.registration.omissions import OmissionRegistrar
from registry.registration.quotes import Quotes
from registry.registration.surveys import Surveyed, register_survey
from registry.store.ledger import Ledger
from registry.store.writer import Writer

_LONGEST_LINE = 1_000_000
MOST_CLAIMS = 10_000
"""Claims that one YAML or JSON file may have."""
Done = TypeVar("Done")


class _DryRunError(Exception):
    """Ends a transaction that was only a trial, so that nothing of it is recorded."""

    def __init__(self, outcome: Registered) -> None:
        super().__init__()
        self.outcome = outcome


def _end_if(dry_run: bool, outcome: Registered) -> None:  # noqa: FBT001  (read aloud it says what it does)
    if dry_run:
        raise _DryRunError(outcome)


def register_file(ledger: Ledger, path: Path, *, owner: str, dry_run: bool, progress: Callable[[int], None]) -> Registered:
    """Register the claims of *path* in one transaction: all of it or nothing.

    Raises:
        InputError: every fault of the file; nothing was recorded.
    """
    file, drafts = _read(path)
    try:
        with ledger.write(actor=owner) as writer:
            register_definitions(writer, file, owner=owner, where=str(path))
            outcome = _register(writer, file, drafts, owner=owner, where=str(path), progress=progress)
            _end_if(dry_run, outcome)
    except _DryRunError as trial:
        return trial.outcome
    return outcome


def revise_claim(ledger: Ledger, claim: str, path: Path, *, why: str, owner: str) -> Registered:
    """Record what the one claim in *path* says as a new revision of *claim*.

    Raises:
        InputError: not exactly one claim, or faults in it; nothing was recorded.
    """
    file, drafts = _read(path)
    placed = list(drafts)
    if len(placed) != 1:
        found = f"{len(placed)} claims; a revision takes exactly one"
        advice = "leave only this claim in the file; or give it its id and why in the claims file, and run: caveat claim add"
        raise InputError(Fault(code="not-one-claim", where=str(path), found=found, advice=advice))
    one = replace(placed[0], draft=replace(placed[0].draft, id=claim, why=why))
    with ledger.write(actor=owner) as writer:
        register_definitions(writer, file, owner=owner, where=str(path))
        return _register(writer, file, [one], owner=owner, where=str(path))


def _register(
    writer: Writer,
    file: ClaimsFile,
    drafts: Iterable[Placed],
    *,
    owner: str,
    where: str,
    progress: Callable[[int], None] = lambda _count: None,
) -> Registered:
    """Register claims, then what the file leaves out of its cards, then what was proposed; the faults of all three together, each once."""
    quotes = Quotes(writer, default=file.card, where=where)
    registrar = Registrar(writer, owner=owner, defaults=file, quotes=quotes)
    faults: list[Fault] = []
    outcome = _try(lambda: registrar.register(drafts, progress), faults)
    omitted = _try(lambda: OmissionRegistrar(writer, file, quotes, claimed=registrar.places).register(where=where), faults)
    surveyed = _try(lambda: _register_survey(writer, file, quotes, where), faults)
    if outcome is None or omitted is None or faults:
        raise InputError(dict.fromkeys(faults))
    told = replace(outcome, left_out=omitted.added, left_out_unchanged=omitted.unchanged)
    return told if surveyed is None else replace(told, proposed=surveyed.added, proposed_unchanged=surveyed.unchanged)


def _register_survey(writer: Writer, file: ClaimsFile, quotes: Quotes, where: str) -> Surveyed | None:
    return None if file.proposed is None else register_survey(writer, file.proposed, quotes, where=f"{where}, proposed")


def _try(step: Callable[[], Done], faults: list[Fault]) -> Done | None:
    """Return what *step* returns; None when it fails, its faults collected."""
    try:
        return step()
    except CaveatError as error:
        faults += error.faults
        return None


def _read(path: Path) -> tuple[ClaimsFile, Iterator[Placed]]:
    """Return the file's definitions and its drafts; those of a `.jsonl` file are read while they are registered."""
    if path.suffix.lower() == ".jsonl":
        return ClaimsFile(claims=()), _read_lines(path)
    document = read_document(path)
    _refuse_many(document, path)
    file = from_document(ClaimsFile, document, where=str(path))
    return file, place_drafts(file, where=str(path))


def _refuse_many(document: Json, path: Path) -> None:
    """A file of lines is read claim by claim; this one is held whole, and so are the faults of all its claims."""
    claims = document.get("claims") if isinstance(document, dict) else None
    if isinstance(claims, list) and len(claims) > MOST_CLAIMS:
        found = f"{len(claims):,} claims in one file; at most {MOST_CLAIMS:,} are read"
        raise InputError(
            Fault(code="file-too-large", where=str(path), found=found, advice="write them as JSON lines: NAME.jsonl, one claim a line")
        )


def _read_lines(path: Path) -> Iterator[Placed]:
    """Give the drafts of a `.jsonl` file line by line; the faults of up to 200 lines are raised together."""
    faults: list[Fault] = []
    with path.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_LONGEST_LINE + 1), b""), start=1):
            where = f"{path}, line {number}"
            if len(line) > _LONGEST_LINE:
                raise InputError(Fault(code="file-too-large", where=where, found=f"a line has over {_LONGEST_LINE:,} bytes"))
            written = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not written.strip():
                continue
            try:
                check_line(written, where=where)
                yield Placed(where=where, draft=from_json(ClaimDraft, written, where=where))
            except CaveatError as error:
                faults += error.faults
            if len(faults) >= 200:
                break
    if faults:
        raise InputError(faults)
