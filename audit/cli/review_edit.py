"""A person changes a proposed claim: in an editor, or field by field where there is none."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from audit.cli.keys import LEAVE, read_key
from audit.propose.proposal_review import check_claims
from audit.propose.proposed_claims_file import DraftEntry, render_drafts
from registry.cli.terminal_output import show
from registry.codec.canonical_documents import from_document, to_document
from registry.codec.file_io import parse_document
from registry.errors import CaveatError, Fault, InputError, format_faults
from registry.intake.quote_anchor import AnchoredText
from registry.records.claim_draft import ClaimDraft, ClaimsFile
from registry.records.specification import PropertySpec

_EDITORS = ("sensible-editor", "vim", "nano", "vi")
_EDIT = (
    "Change the claim, save, and leave the editor: it is then checked and accepted.",
    "The quote must stand in the card as you write it. An empty file gives up. The keys: docs/files.md, or caveat schema claims.",
)
_SPLIT = (
    "Two or more claims in the place of one: cut each quote to its part, set form and figures, save, and leave the editor.",
    "Every quote must stand in the card as you write it. An empty file gives up.",
)
_FIELDS = ("quote", "form", "relation", "theta", "reported", "evaluation", "grader", "elicitation", "note")
_NUMBERS = ("theta", "reported")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What editing needs beside the claim."""

    text: AnchoredText
    """The card, in which every quote must stand."""
    registered: Mapping[str, PropertySpec | None]
    """Short names of the registry's properties."""
    tell: Callable[[str], None]
    """Says something to the person."""


def edit(desk: Desk, entry: DraftEntry) -> ClaimsFile | None:
    """Let a person change the claim of *entry*; None where they gave up or changed nothing."""
    if not has_editor():
        return _ask(desk, lambda: (_prompt_fields(entry.draft),), entry, fewest=1)
    return _use_editor(desk, render_drafts((entry,), _EDIT), fewest=1)


def split(desk: Desk, entry: DraftEntry) -> ClaimsFile | None:
    """Let a person make two or more claims of *entry*; None where they gave up or changed nothing."""
    if not has_editor():
        return _ask(desk, lambda: _prompt_parts(entry.draft), entry, fewest=2)
    return _use_editor(desk, render_drafts((entry, entry), _SPLIT), fewest=2)


def has_editor() -> bool:
    """Whether there is an editor: named by $VISUAL or $EDITOR, or one of the usual ones."""
    return bool(os.environ.get("VISUAL") or os.environ.get("EDITOR")) or any(map(shutil.which, _EDITORS))


def _use_editor(desk: Desk, text: str, *, fewest: int) -> ClaimsFile | None:
    while True:
        try:
            changed = _open_editor(text)
            if changed is None or not changed.strip():
                return None
            text = changed
            file = from_document(ClaimsFile, parse_document(changed, where="your text"), where="your text")
            check_claims(file, desk.text, desk.registered, fewest=fewest, where="your text")
            return file
        except CaveatError as error:
            if not _wants_again(desk, error):
                return None


def _open_editor(text: str) -> str | None:
    """Return what a person made of *text*; None where nothing was saved.

    Raises:
        InputError: it is no text, or the file is gone.
    """
    try:
        return click.edit(text, extension=".yaml", require_save=True)
    except UnicodeDecodeError as error:
        found = f"is not in UTF-8: byte {error.object[error.start]:#04x} at {error.start}"
        raise InputError(Fault(code="not-valid", where="your text", found=found, advice="save it as text in UTF-8")) from error
    except OSError as error:
        found = f"cannot be read again: {error.strerror or error}"
        raise InputError(Fault(code="file-not-accessible", where="your text", found=found)) from error


def _ask(desk: Desk, prompt: Callable[[], Sequence[ClaimDraft]], entry: DraftEntry, *, fewest: int) -> ClaimsFile | None:
    while True:
        try:
            drafts = tuple(prompt())
            if not drafts or drafts == (entry.draft,):
                return None
            properties = {entry.draft.property: entry.spec} if entry.spec is not None else None
            file = ClaimsFile(claims=drafts, properties=properties)
            check_claims(file, desk.text, desk.registered, fewest=fewest, where="your answers")
            return file
        except click.Abort:
            return None
        except CaveatError as error:
            if not _wants_again(desk, error):
                return None


def _wants_again(desk: Desk, error: CaveatError) -> bool:
    desk.tell(f"\n{format_faults(error.faults)}")
    desk.tell("\nany key: try again; q: give up")
    return read_key() != LEAVE


def _prompt_fields(draft: ClaimDraft) -> ClaimDraft:
    """Ask for each field, with what is proposed as the default; a single `-` empties it."""
    click.echo("There is no editor ($VISUAL, $EDITOR). Enter keeps what stands in brackets, - empties it, Ctrl-C gives up.")
    document = to_document(draft)
    for name in _FIELDS:
        said = click.prompt(name, default=_shown(document.get(name)), show_default=True).strip()
        if said != _shown(document.get(name)):
            document[name] = None if said == "-" else _read(name, said)
    return from_document(ClaimDraft, {key: value for key, value in document.items() if value is not None}, where="your answers")


def _prompt_parts(draft: ClaimDraft) -> tuple[ClaimDraft, ...]:
    click.echo(f"There is no editor ($VISUAL, $EDITOR). The passage:\n\n{show(draft.quote)}\n")
    click.echo("Type or paste the quote of each claim on a line of its own; an empty line ends.")
    quotes: list[str] = []
    while said := click.prompt(f"quote {len(quotes) + 1}", default="", show_default=False).strip():
        quotes.append(said)
    return tuple(replace(draft, quote=one) for one in quotes)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        value = value["value"]
    return "" if value is None else show(" ".join(str(value).split()))


def _read(name: str, said: str) -> object:
    if name not in _NUMBERS:
        return said
    try:
        return float(said)
    except ValueError:
        return said
