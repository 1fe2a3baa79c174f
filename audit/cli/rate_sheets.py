"""The files that raters are given, and the key that they are not."""

import base64
import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from audit.cli.spreadsheet import undo_cell, write_cell
from audit.rating.question import ANSWERS, TASK
from audit.records.rating_sheet import VOCABULARY, RatingKey, RatingSheet, SheetItem, tag_key
from audit.sources.rating_files import read_fields
from registry.cli.terminal_output import show
from registry.codec.canonical_documents import canonical_bytes, from_document, to_document
from registry.codec.file_io import read_document
from registry.errors import ConflictError, Fault, InputError

LARGEST_KEY_BYTES = 200_000_000
_KEY = "key.json"
_SHELL = Path(__file__).with_name("rating_sheet.html")
_INSTRUCTIONS = """\
Rating sheet of {rater} ({key})

{task}

Either open sheet.html in a browser (it needs no network), decide, press "Save answers" and send back the file that is saved.
Or fill in sheet.csv in a spreadsheet, and send it back as CSV:

{answers}

Leave the other columns as they are. Work alone. Do not search for the texts, and do not ask a language model.

Words for cues:
{cues}
"""


def write_sheets(folder: Path, key: RatingKey, sheets: tuple[RatingSheet, ...]) -> list[Path]:
    """Write `key.json`, readable by its owner alone, and a folder for each rater; return what was written, the key first.

    Raises:
        ConflictError: *folder* holds something already. Nothing was written.
        OSError: the file system refuses; what was written is removed.
    """
    if folder.is_dir() and any(folder.iterdir()):
        found = "holds files already; sheets of two draws in one folder would be mixed up"
        raise ConflictError(Fault(code="folder-not-empty", where=str(folder), found=found, advice="name another folder with -o"))
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for name, content in _render_files(key, sheets):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if path.name == _KEY else 0o666), "wb") as file:
                written.append(path)
                file.write(content)
    except BaseException:
        # Sheets without their key, or a key without all of its sheets, are of no use and bar the folder.
        for path in reversed(written):
            path.unlink(missing_ok=True)
        for rater in {path.parent for path in written} - {folder}:
            rater.rmdir()
        raise
    return written


def _render_files(key: RatingKey, sheets: tuple[RatingSheet, ...]) -> Iterator[tuple[str, bytes]]:
    """Give the names, relative to the folder, and the contents of all files, the key first."""
    yield _KEY, canonical_bytes(to_document(key))
    cues = "\n".join(f"  {cue}: {meaning}" for cue, meaning in VOCABULARY.items())
    for sheet in sheets:
        yield f"{sheet.rater}/sheet.html", render_html(sheet).encode()
        yield f"{sheet.rater}/sheet.csv", render_csv(sheet).encode()
        yield (
            f"{sheet.rater}/instructions.txt",
            _INSTRUCTIONS.format(rater=sheet.rater, key=sheet.key, task=TASK, answers=ANSWERS, cues=cues).encode(),
        )


def read_key(path: Path) -> RatingKey:
    """Return the key in *path*; raises InputError if it is none."""
    return from_document(RatingKey, read_document(path, largest=LARGEST_KEY_BYTES), where=str(path))


def read_sheet(folder: Path, key: RatingKey, *, digest: str, rater: str | None = None) -> RatingSheet:
    """Return the sheet of *rater*, by default of the first, in a folder that `write_sheets` wrote: the texts as raters see them.

    Raises:
        InputError: there is no such sheet, it belongs to another key, or its items or texts are not those of the key.
    """
    name = rater or key.raters[0]
    if name not in key.raters:
        found, advice = f"no sheet was made for {name[:40]!r}", f"name one of {', '.join(key.raters[:10])}"
        raise InputError(Fault(code="unknown-rater", where="--rater", found=found, advice=advice))
    path = folder / name / "sheet.csv"
    rows = read_fields(path, required=("rater", "key", "item", "text"), known=("answer", "cue", "confidence"))
    items = tuple(SheetItem(item=fields["item"].strip(), text=undo_cell(fields["text"])) for _, fields in rows)
    if strange := {fields["key"].strip() for _, fields in rows} - {tag_key(digest)}:
        found, advice = (
            f"belongs to {min(strange)[:40]}, the key is {tag_key(digest)}",
            "give the folder as caveat audit rate sheet wrote it",
        )
        raise InputError(Fault(code="other-key", where=str(path), found=found, advice=advice))
    known = {item.item: item.text for item in key.items}
    if {item.item for item in items} != set(known) or len(items) != len(known) or not all(_is_shown(one, known) for one in items):
        found = "its items or texts are not those that the key was made for"
        advice = "give the sheet unchanged, or draw another with caveat audit rate sheet"
        raise InputError(Fault(code="sheet-changed", where=str(path), found=found, advice=advice))
    return RatingSheet(rater=name, key=tag_key(digest), items=items)


def _is_shown(item: SheetItem, known: Mapping[str, str]) -> bool:
    """Whether a text is the key's; one whose hidden characters the sheet makes visible cannot be compared."""
    return hashlib.sha256(item.text.encode()).hexdigest() == known[item.item] or "[U+" in item.text


def render_csv(sheet: RatingSheet) -> str:
    """Return the sheet for a spreadsheet: with a byte order mark, and an apostrophe before a text that would be computed."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(("rater", "key", "item", "text", "answer", "cue", "confidence"))
    for one in sheet.items:
        writer.writerow((sheet.rater, sheet.key, one.item, write_cell(one.text), "", "", ""))
    return f"\ufeff{stream.getvalue()}"


def render_html(sheet: RatingSheet) -> str:
    """Return the sheet as one HTML file that needs no network; texts are data in it, and its policy lets nothing else run."""
    shell = _SHELL.read_text(encoding="utf-8")
    items = [{"item": one.item, "text": show(one.text)} for one in sheet.items]
    document = {"rater": sheet.rater, "key": sheet.key, "vocabulary": VOCABULARY, "items": items}
    # Inside a script element only "<" could end it; JSON may write it otherwise.
    data = json.dumps(document, ensure_ascii=False).replace("<", "\\u003c")
    return shell.replace("@POLICY@", _compose_policy(shell)).replace("@SHEET@", data)


def _compose_policy(shell: str) -> str:
    """Nothing is loaded, nothing is sent, and only the script and the style of the shell itself take effect."""
    digests = {name: _digest(re.search(rf"<{name}>(.*?)</{name}>", shell, re.DOTALL)) for name in ("script", "style")}
    return f"default-src 'none'; script-src {digests['script']}; style-src {digests['style']}; base-uri 'none'; form-action 'none'"


def _digest(found: re.Match[str] | None) -> str:
    text = found[1] if found else ""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
