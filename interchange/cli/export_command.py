"""`caveat export`: a published claim or card in a format of others, with a list of what that format cannot hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.application import App, IdentifierType, as_of_option, examples, parse_as_of, pass_app, shorten, yes_option
from registry.errors import ConflictError, Fault, InputError
from registry.records.record import Identifier, Kind

if TYPE_CHECKING:
    from interchange.export.format_catalogue import ExportFormat
    from interchange.export.record_reading import FoundRecord
    from interchange.formats.export_record import ExportedFile, ExportRequest
    from registry.seal.signing_keys import SigningKey
    from registry.store.registry_view import View


@examples(
    "export --list",
    "export CLM-LAB-2026-0001-E --as cyclonedx -o exports",
    "export CRD-LAB-2026-0001-J --as cff",
)
@click.command()
@click.argument("subject", type=IdentifierType(Kind.CLAIM, Kind.CARD), required=False, metavar="ID")
@click.option("--as", "format_name", metavar="NAME", help="The format: caveat export --list.")
@click.option("--list", "is_list", is_flag=True, help="List the formats, their versions and validators, and what each loses.")
@click.option("--draft", is_flag=True, help="Write the draft of the format (in-toto: eval-result).")
@click.option("-o", "--output", "folder", type=click.Path(file_okay=False, path_type=Path), default=Path("exports"), show_default=True,
              help="The folder of the files.")  # fmt: skip
@click.option("--key", "key_file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Sign with this secret key; default: the log's key.")  # fmt: skip
@click.option("--field", "fields", multiple=True, metavar="NAME=VALUE", help="State what the format requires and the record lacks.")
@click.option("--replace", "is_replacing", is_flag=True, help="Replace files of the same names.")
@yes_option
@as_of_option
@pass_app
def export(
    app: App, *, subject: Identifier | None, format_name: str | None, is_list: bool, draft: bool, folder: Path,
    key_file: Path | None, fields: tuple[str, ...], is_replacing: bool, yes: bool,
) -> None:  # fmt: skip
    """Write a claim or card in a format of other tools.

    The export is made from the published record, and carries its digest. The command lists what the format cannot hold. A field that the
    format requires and the record does not state is a refusal: state it with --field.
    """
    if is_list:
        _list_formats(app)
        return
    if subject is None or format_name is None:
        raise click.UsageError("name the claim or card and the format: caveat export ID --as NAME")
    from interchange.export.format_catalogue import get_format, refuse_unfit
    from interchange.formats.export_record import ExportRequest, Program

    format_ = get_format(format_name, is_draft=draft)
    stated = _read_fields(fields)
    with app.view() as view:
        found = _read_record(app, view, subject)
        refuse_unfit(format_, found.record)
        request = ExportRequest(record=found.record, program=Program(version=find_version()), stated=stated)
        files = _run(app, view, format_, request, found=found, key_file=key_file)
    if format_.warning is not None:
        app.say(format_.warning)
        app.confirm("Write it?", yes=yes)
    _write(folder, files, is_replacing=is_replacing)
    _report(app, format_, found, folder, files)


def _list_formats(app: App) -> None:
    from interchange.cli.export_presenter import describe_formats

    app.report(describe_formats())


def _read_fields(fields: Sequence[str]) -> dict[str, str]:
    stated: dict[str, str] = {}
    for field in fields:
        name, separator, value = field.partition("=")
        if not separator or not name.strip() or not value.strip():
            raise InputError(Fault("bad-option", "--field", f"{field!r} is not NAME=VALUE"))
        if name.strip() in stated:
            raise InputError(Fault("bad-option", "--field", f"{name.strip()} is stated twice"))
        stated[name.strip()] = value.strip()
    return stated


def find_version() -> str:
    """Return the version of Caveat, as exports name it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("caveat")
    except PackageNotFoundError:
        # A checkout that was not installed has no version.
        return "unknown"


def _read_record(app: App, view: "View", subject: Identifier) -> "FoundRecord":
    from interchange.export.record_reading import read_published

    # As of an entry, a reader asked for an older state, and gets it whatever came later.
    today = app.config.today if parse_as_of(app.as_of) is None else None
    return read_published(view, subject, lambda size: app.ledger.view(size, log=app.log_origin), today=today)


def _run(
    app: App, view: "View", format_: "ExportFormat", request: "ExportRequest", *, found: "FoundRecord", key_file: Path | None
) -> "tuple[ExportedFile, ...]":
    """Return the files of the export, signed where the format is."""
    from interchange.export.format_catalogue import Seal
    from interchange.formats.in_toto import map_eval_result, map_svr

    if format_.seal is Seal.NONE:
        if key_file is not None:
            raise InputError(Fault("bad-option", "--key", f"{format_.name} is not signed"))
        if format_.mapper is None:
            raise ValueError(f"{format_.name} has no mapper")
        return format_.mapper(request)
    if format_.seal is Seal.LOG:
        return _write_receipts(app, view, found, key_file)
    from interchange.export.export_signing import build_signer

    signer = build_signer(_read_key(app, view, key_file))
    return map_eval_result(request, signer) if format_.is_draft else map_svr(request, signer)


def _read_key(app: App, view: "View", key_file: Path | None) -> "SigningKey":
    from interchange.export.export_signing import get_log_key, read_key_file

    return get_log_key(view, app.read_keys()) if key_file is None else read_key_file(key_file, app.ask_passphrase)


def _write_receipts(app: App, view: "View", found: "FoundRecord", key_file: Path | None) -> "tuple[ExportedFile, ...]":
    from interchange.export.export_signing import refuse_other_key
    from interchange.export.record_reading import build_receipt_facts
    from interchange.formats.scitt_receipt import build_receipt_files
    from registry.seal.signed_notes import parse_vkey

    key = _read_key(app, view, key_file)
    refuse_other_key(view, key)
    key_id = parse_vkey(key.vkey or "", where="--key").key_id
    files: dict[str, ExportedFile] = {}
    for publication in found.publications:
        name = f"{found.record.name}.{publication.payload.format}"
        receipts = build_receipt_files(name, build_receipt_facts(view, publication, key_id), key.sign)
        # Of two publications of one file the later one counts.
        files |= {file.path: file for file in receipts}
    return tuple(files.values())


def _write(folder: Path, files: "Sequence[ExportedFile]", *, is_replacing: bool) -> None:
    """Write all files or none; a file with other content is replaced only where that was asked for."""
    from registry.codec.file_io import replace_files

    new = []
    faults = []
    for file in files:
        path = folder / file.path
        if path.is_file() and path.read_bytes() == file.content:
            continue
        if path.exists() and not is_replacing:
            faults.append(
                Fault("file-exists", str(path), "another file of this name is there; nothing was written", advice="add --replace")
            )
        new.append((path, file.content))
    if faults:
        raise ConflictError(faults)
    for path, _ in new:
        path.parent.mkdir(parents=True, exist_ok=True)
    replace_files(new)


def _report(app: App, format_: "ExportFormat", found: "FoundRecord", folder: Path, files: "Sequence[ExportedFile]") -> None:
    from interchange.cli.export_presenter import describe_export

    paths = [(shorten((folder / file.path).absolute()), file.content) for file in files]
    app.report(describe_export(format_, found.record, paths))
